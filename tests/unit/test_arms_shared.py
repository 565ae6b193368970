"""Arms that share units: users before and after a change, or in both arms of a test."""

from __future__ import annotations

from math import comb, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from frame_metrics import IRM
from helpers import KINDS, as_kind, as_polars
from inside import Arms, studentised

TESTS = ("randomization", "t", "z", "bootstrap")
ENDS = ("ci_low", "ci_high", "relative_low", "relative_high")
Z = NormalDist().inv_cdf(0.975)


def made(seed: int, alone: tuple[int, int] = (7, 9), shared: int = 8, arms: str = "AB") -> pl.DataFrame:
    """Searches of users of one arm, and of all arms; what a user is worth is in each, and known before in part."""
    rng = np.random.default_rng(seed)
    own = [arms[0]] * alone[0] + [arms[1]] * alone[1] + [arms] * shared
    stands = [(user, arm) for user, mine in enumerate(own) for arm in mine for _ in range(rng.integers(1, 7))]
    worth, chance = rng.normal(size=len(own)), rng.normal(size=len(stands))
    user = np.array([one for one, _ in stands])
    value = np.abs(3 + worth[user] + chance / 2 + np.array([arm == "B" for _, arm in stands]) / 4).round(3)
    before = (worth + rng.normal(size=len(own))).round(3)[user]
    columns = {"arm": [arm for _, arm in stands], "user": user, "v": value, "before": before}
    frame = pl.DataFrame(columns).with_columns(w=pl.Series(rng.integers(1, 4, len(user)) / 2))
    return frame.sample(fraction=1, shuffle=True, seed=seed).with_columns(query=pl.int_range(pl.len()))


def versus(frame: pl.DataFrame, covariate: str | None = None, **said: Any) -> dict[str, Any]:
    """The one row of a comparison of two arms, over users."""
    roles = {"cluster": "user"} | {name: said.pop(name) for name in ("cluster", "weight") if name in said}
    irm = frame.irm(query="query", arm="arm", value="v", **roles)
    return irm.ab_test(covariate=covariate, **said).row(0, named=True)


# By hand, and by another way


def test_users_before_and_after_by_hand() -> None:
    """1 and 2 before, 2 and 4 after: the users rise by 1 and 2, so the rise is 1.5, and its error 1/2."""
    frame = pl.DataFrame({"arm": [*"AABB"], "user": [1, 2, 1, 2], "query": range(4), "v": [1.0, 2, 2, 4]})
    row = versus(frame, test="z")
    assert (row["difference"], row["n_units"], row["baseline_n_units"]) == (1.5, 2, 2)
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((1.5 - Z / 2, 1.5 + Z / 2))
    assert row["mde"] == pytest.approx((Z + NormalDist().inv_cdf(0.8)) / 2)
    spread = Z * sqrt(2 * 2 * (0.5 / 3 - 1 / 6) ** 2)  # psi / r: -1/6 and 1/6 in both arms, so that the ratio is sure
    assert (row["relative_low"], row["relative_high"]) == pytest.approx((2 * np.exp(-spread) - 1,) * 2)


def test_a_user_of_both_arms_among_others_by_hand() -> None:
    """A: 1 and 3; B: 3 and 7, the 3s of one user. psi is -1/2, 1/2 and -1, 1, and f is 2: 2 (1/2 + 2 + 1) = 7."""
    frame = pl.DataFrame({"arm": [*"AABB"], "user": [1, 2, 2, 3], "query": range(4), "v": [1.0, 3, 3, 7]})
    row = versus(frame, test="z")
    assert row["difference"] == 3
    assert row["ci_high"] - row["ci_low"] == pytest.approx(2 * Z * sqrt(7))


@pytest.mark.parametrize("seed", range(3))
def test_users_who_ask_once_on_each_side_are_pairs(seed: int) -> None:
    """The t-test, its interval and its degrees of freedom are then those of scipy's paired test."""
    rng = np.random.default_rng(seed)
    before, after = rng.normal(5, 1, 20), rng.normal(5.3, 2, 20)
    frame = pl.DataFrame({"arm": ["A"] * 20 + ["B"] * 20, "user": [*range(20)] * 2, "v": [*before, *after]})
    found = stats.ttest_rel(after, before)
    row = versus(frame.with_columns(query=pl.int_range(40)), test="t", ci=0.9)
    assert row["p_value"] == pytest.approx(found.pvalue, abs=1e-12)
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(tuple(found.confidence_interval(0.9)), abs=1e-10)


@pytest.mark.parametrize("covariate", [None, "before"])
@pytest.mark.parametrize("alone", [(2, 3), (0, 0), (3, 0)])
def test_drawn_exchanges_come_near_all(alone: tuple[int, int], covariate: str | None) -> None:
    """Where there are more exchanges than draws, p-values are (b + 1) / (n + 1), near that of all exchanges."""
    frame, ways = made(3, alone, shared=4), 2**4 * comb(sum(alone), alone[0])
    drawn = versus(frame, covariate, permutations=ways - 1)["p_value"]
    assert drawn * ways == pytest.approx(round(drawn * ways), abs=1e-9)
    assert drawn == pytest.approx(versus(frame, covariate, permutations=ways)["p_value"], abs=4.5 * sqrt(0.25 / ways))


def test_users_who_come_once_and_are_unlike_those_who_come_back() -> None:
    """Exchanges keep their numbers, and so the difference that they make; Welch's t tests the difference itself."""
    rng, parts = np.random.default_rng(3), []
    for arm, once in (("A", 200), ("B", 20)):
        loyal = pl.DataFrame({"user": [f"l{i}" for i in range(100)], "v": (rng.random(100) < 0.6).astype(float)})
        other = pl.DataFrame({"user": [f"{arm}{i}" for i in range(once)], "v": (rng.random(once) < 0.25).astype(float)})
        parts.append(pl.concat([loyal, other]).with_columns(arm=pl.lit(arm)))
    frame = pl.concat(parts).with_columns(query=pl.int_range(pl.len()))
    row = versus(frame)
    assert row["ci_low"] > 0.05
    assert row["test"] == "t"
    assert row["p_value"] == pytest.approx(versus(frame, test="t")["p_value"], rel=1e-9)
    assert row["p_value"] < 0.001
    alike = frame.filter(~pl.col("user").str.starts_with("A") | (pl.col("user").str.len_chars() < 3))
    alike = alike.filter(~pl.col("user").str.starts_with("B") | (pl.col("user").str.len_chars() < 3))
    assert versus(alike)["test"] == "randomization"  # as many others in both arms
    few = frame.filter(pl.col("user").str.len_chars() < 3)
    assert versus(few.filter(pl.col("user") != "A1"))["test"] == "randomization"  # below 20 users


@pytest.mark.parametrize("known", [False, True])
def test_the_distance_of_an_exchange_unit_by_unit(known: bool) -> None:
    """Means, errors and the slope of the covariate follow from sums of products, as if each exchange was the data."""
    rng, n, both = np.random.default_rng(8), 24, 7
    unit, mine = np.append(np.arange(n - both), np.arange(both)), np.arange(n) < 12
    size, x = rng.integers(1, 4, n).astype(float), rng.normal(size=n) if known else None
    y = rng.gamma(1.0, size=n) * size + (0 if x is None else x * size)
    arms = Arms(y[:, None], size, mine, x, unit)
    far, _ = studentised(arms)
    for _ in range(20):
        marks = np.zeros(n, bool)
        marks[rng.permutation(np.arange(both, n - both))[:5]] = True
        swapped = rng.random(both) < 0.5
        marks[:both], marks[n - both :] = swapped, ~swapped
        errors = []
        for v, w in ((y, size), *(() if x is None else ((x, np.ones(n)),))):
            error, ratio = np.zeros((2, n)), []
            for arm, some in enumerate((marks, ~marks)):
                ratio.append(v[some].sum() / w[some].sum())
                error[arm, unit[some]] = (v[some] - ratio[arm] * w[some]) / w[some].sum()
            errors.append((ratio[0] - ratio[1], error))
        more = [(many / (many - 1)) ** 0.5 for many in (marks.sum(), (~marks).sum())]
        (apart, psi), slope = errors[0], 0.0
        if known:
            xi = errors[1][1]
            slope = float(((psi[0] - psi[1]) @ (xi[0] - xi[1])) / ((xi[0] - xi[1]) @ (xi[0] - xi[1])))
            apart, psi = apart - slope * errors[1][0], psi - slope * xi
        error = float(np.sqrt(((more[0] * psi[0] - more[1] * psi[1]) ** 2).sum()))
        assert far(marks[None])[0, 0] == pytest.approx(abs(apart) / error, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("covariate", [None, "before"])
@pytest.mark.parametrize("alone", [(150, 250), (0, 0)])
def test_the_bootstrap_comes_near_the_delta_method(alone: tuple[int, int], covariate: str | None) -> None:
    """Users are drawn with what they have in both arms: with many the intervals of both ways are alike."""
    frame = made(4, alone, shared=400)
    drawn, told, by_t = (versus(frame, covariate, test=test, resamples=4000) for test in ("bootstrap", "z", "t"))
    width = told["ci_high"] - told["ci_low"]
    assert [drawn[name] for name in ENDS] == pytest.approx([told[name] for name in ENDS], abs=0.06 * width)
    assert drawn["p_value"] == pytest.approx(told["p_value"], abs=0.05)
    assert drawn["mde"] == by_t["mde"]


# Users who come back


def before_and_after() -> pl.DataFrame:
    """Five searches of each of 200 users before a change, and after it, which makes each .02 better."""
    rng = np.random.default_rng(24)
    user, after = np.repeat(np.arange(200), 10), np.tile(np.repeat([0, 1], 5), 200)
    value = 0.5 + 0.15 * rng.normal(size=200)[user] + 0.08 * rng.normal(size=2000) + 0.02 * after
    arm = np.where(after == 1, "after", "before")
    return pl.DataFrame({"arm": arm, "query": range(2000), "user": user, "v": value})


@pytest.mark.slow
@pytest.mark.parametrize("test", TESTS)
def test_a_rise_of_users_who_come_back_is_seen(test: str) -> None:
    """Users differ much, and each by little from before: as others in each arm (p was .2) they hide the rise."""
    frame = before_and_after()
    row = versus(frame, baseline="before", test=test)
    assert row["difference"] == pytest.approx(0.02, abs=0.006)
    assert row["p_value"] < {"randomization": 1.1e-4, "bootstrap": 1.1e-3}.get(test, 1e-5)
    others = frame.with_columns(user=pl.format("{}{}", "arm", "user"))
    apart = versus(others, baseline="before", test=test)
    assert apart["p_value"] > 0.1
    assert apart["mde"] > 3 * row["mde"]


def test_a_covariate_never_hides_what_users_of_both_arms_show() -> None:
    """What was known before explains nothing of users who are all in both arms: their slope is 0."""
    frame = made(5, (0, 0), shared=30)
    for test in TESTS:
        assert versus(frame, "before", test=test) == versus(frame, test=test)
    some = made(6, (200, 200), shared=200)
    wide = [versus(some, covariate, test="z")["mde"] for covariate in (None, "before")]
    assert wide[1] < 0.9 * wide[0]


# Units that are hard to compare


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("test", TESTS)
def test_users_who_all_rise_by_as_much(test: str, seed: int) -> None:
    """The rise is known, and no error of it; of users who do not change p is 1, and so it is where nothing is found."""
    value = np.random.default_rng(seed).normal(size=10)
    columns = {"arm": ["A"] * 10 + ["B"] * 10, "user": [*range(10)] * 2, "query": range(20)}
    rise = versus(pl.DataFrame(columns | {"v": [*value, *(value + 0.1)]}), test=test)
    assert (rise["difference"], rise["ci_low"], rise["ci_high"]) == pytest.approx((0.1, 0.1, 0.1))
    assert rise["p_value"] == {"randomization": 2 / 2**10, "bootstrap": 1 / 1001}.get(test)
    same = versus(pl.DataFrame(columns | {"v": [*value, *value]}), test=test)
    assert (same["difference"], same["ci_low"], same["ci_high"], same["p_value"], same["mde"]) == (0, 0, 0, 1, 0)
    assert versus(pl.DataFrame(columns | {"v": [0.0] * 20}), test=test)["p_value"] == 1


def test_a_query_of_both_arms_is_a_unit_of_both() -> None:
    """Without clusters units are queries, and the same one in both arms is one, as if it were named as the cluster."""
    frame = made(7).with_columns(query="user").unique(["query", "arm"], maintain_order=True)
    named = frame.with_columns(user="query")
    for test in TESTS:
        found, told = versus(frame, cluster=None, test=test), versus(named, test=test)
        notes = {"split_note": None}
        assert found | notes == told | notes


def test_a_user_who_weighs_nothing_in_an_arm_is_not_of_it() -> None:
    """He is a unit of the other only, so that all is as without those of his searches."""
    frame = made(8).with_columns(w=pl.when((pl.col("user") == 20) & (pl.col("arm") == "A")).then(0.0).otherwise("w"))
    told = versus(frame.filter(pl.col("w") > 0), weight="w", test="t")
    found = versus(frame, weight="w", test="t")
    other = ("baseline_n", "effect_size", "unit_share", "baseline_unit_share")  # of all who were assigned
    same = [name for name in told if name not in other]
    assert [found[name] for name in same] == [told[name] for name in same]


@pytest.mark.parametrize("test", TESTS)
def test_few_users_of_whom_a_draw_may_have_none_of_an_arm(test: str) -> None:
    """Two users in each arm, one of them in both: what can be told is told."""
    frame = pl.DataFrame({"arm": [*"AABB"], "user": [1, 2, 2, 3], "query": range(4), "v": [1.0, 3, 4, 7]})
    row = versus(frame, test=test)
    assert all(row[name] is not None for name in (*ENDS, "p_value"))
    assert (row["mde"] is None) == (test == "randomization")  # of eight exchanges none is as rare as .05
    assert row["ci_low"] <= row["difference"] <= row["ci_high"]


# What makes no difference


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("alone", [(7, 9), (9, 9), (3, 0)])
def test_the_other_arm_as_the_baseline(alone: tuple[int, int], test: str) -> None:
    """The difference changes its sign and its interval its ends; the p-value stays."""
    frame = made(9, alone)
    given: dict[str, Any] = {"test": test, "covariate": "before", "permutations": 500}
    one, other = (versus(frame, baseline=baseline, **given) for baseline in "AB")
    assert one["difference"] == pytest.approx(-other["difference"], abs=1e-14)
    assert (one["ci_low"], one["ci_high"]) == pytest.approx((-other["ci_high"], -other["ci_low"]), abs=1e-12)
    assert one["p_value"] == pytest.approx(other["p_value"], abs=1e-12)


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("kind", KINDS)
def test_neither_kind_nor_order_nor_names_matter(kind: str, test: str) -> None:
    """Shuffled rows and other names of users give the same numbers in every kind of frame, with weights too."""
    frame = made(10).with_columns(day=pl.col("query") % 2)
    roles: dict[str, Any] = {"arm": "arm", "value": "v", "query": "query", "weight": "w", "by": "day"}
    given: dict[str, Any] = {"test": test, "covariate": "before", "permutations": 300}
    told = frame.irm(cluster="user", **roles).ab_test(**given)
    other = frame.sample(fraction=1, shuffle=True, seed=1).with_columns(user=pl.format("u{}", 99 - pl.col("user")))
    found = as_polars(IRM(as_kind(other, kind), cluster="user", **roles).ab_test(**given))
    for name in ("difference", *ENDS, "p_value", "mde", "n_units"):
        assert found[name].to_list() == told[name].to_list()


def test_segments_and_pairs_of_arms_are_as_alone() -> None:
    """In each segment the users that both arms have there are shared, and other arms make no difference."""
    frame = made(11, arms="ABC").with_columns(day=pl.col("query") % 2)
    roles: dict[str, Any] = {"arm": "arm", "value": "v", "query": "query", "cluster": "user"}
    corrected = ("p_adjusted", "n_tests", "correction", "unit_share", "baseline_unit_share")  # which depend on all arms
    for test in TESTS:
        given: dict[str, Any] = {"test": test, "permutations": 200, "covariate": "before"}
        found = frame.irm(by="day", **roles).ab_test(**given).drop(corrected)
        assert len(found) == 6
        for row in found.rows(named=True):
            two = frame.filter(pl.col("arm").is_in([row["arm"], row["baseline"]]), day=row.pop("day"))
            alone = two.irm(**roles).ab_test(baseline=row["baseline"], **given).drop(corrected)
            assert alone.row(0, named=True) == row


# Arms without shared units

PINNED = ("difference", "ci_low", "ci_high", "relative_low", "p_value", "p_adjusted", "mde")
# Printed before units could stand in several arms; with weights, where the variance became that of weighted queries,
# but for t and z
OF_QUERIES: list[tuple[str, dict[str, str], str | None, str]] = [
    ("randomization", {}, None,
     "0.605230769230769 -0.139201386487966 1.349662924949505 -0.043977162103137 0.139303482587065 0.283582089552239 "
     "1.058806266050596"),
    ("randomization", {"cluster": "user", "weight": "w"}, None,
     "0.750069080949483 -0.725198756964273 2.22533691886324 -0.202631110677049 0.27363184079602 0.82089552238806 "
     "2.0588503088394"),
    ("randomization", {"cluster": "user", "by": "day"}, "before",
     "-0.134497560642659 -1.080934905730112 0.811939784444793 -0.310736533538955 0.791044776119403 0.791044776119403 "
     "1.327256742969225"),
    ("t", {"cluster": "user"}, "before",
     "-0.021949419593939 -1.130156559017194 1.086257719829316 -0.340477538331804 0.966226161412439 0.966226161412439"
     " 1.55136669869146"),
    ("z", {"cluster": "user", "weight": "w", "by": "day"}, None,
     "0.982239057239057 -0.220161477239019 2.184639591717133 -0.091309881460794 0.10935667280333 0.32807001840999 "
     "1.718719114338944"),
    ("bootstrap", {}, "before",
     "-0.292014847428792 -0.802248481724971 0.207921056170951 -0.275373952977603 0.316831683168317 0.861386138613861"
     " 0.758787384986939"),
    ("bootstrap", {"cluster": "user", "weight": "w"}, "before",
     "0.171701537594397 -0.928757050345418 0.934385094066321 -0.33730584581279 0.702970297029703 0.702970297029703 "
     "1.74719838289464"),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(OF_QUERIES)))
def test_without_shared_units_numbers_are_those_of_arms_by_themselves(case: int) -> None:
    """Users of one arm each: sums of variances, permutations and draws of each arm, as they were printed before."""
    test, roles, covariate, told = OF_QUERIES[case]
    arm, day = pl.col("user").map_elements(lambda user: "ABC"[user % 3], pl.String), pl.col("query") % 2
    frame = made(20, (30, 0), 0).with_columns(arm=arm, day=day)
    irm = frame.irm(arm="arm", value="v", query="query", **roles)
    given: dict[str, Any] = {"permutations": 200, "resamples": 100, "correction": "holm"}
    row = irm.ab_test(test=test, covariate=covariate, **given).row(-1, named=True)
    assert [row[name] for name in PINNED] == pytest.approx([float(one) for one in told.split()], rel=1e-12)


# Without a query


def of_rows(share: float) -> pl.DataFrame:
    """Four decisions about each of 200 users in an arm, of whom such a share is in both; how often they are right."""
    rng = np.random.default_rng(1)
    stands = [(u, arm) for u in range(200) for arm in ("AB" if u < 200 * share else "AB"[u % 2]) for _ in range(4)]
    user, arm = (np.array([one[i] for one in stands]) for i in (0, 1))
    ease = 0.7 + 0.2 * rng.normal(size=200)[user] + 0.03 * (arm == "B")
    label, right = rng.integers(0, 2, len(stands)), rng.random(len(stands)) < ease
    columns = {"arm": arm, "user": user, "label": label, "predicted": np.where(right, label, 1 - label)}
    return pl.DataFrame(columns).with_columns(right=right, score=label + pl.Series(rng.normal(size=len(stands)) + ease))


def test_rows_that_are_the_same_in_both_arms_do_not_differ() -> None:
    """Each draw has them in both, of tables and of scores, in each segment: without a draw that differs no interval.

    Shares have the interval of pairs, which is narrow, and holds 0.
    """
    one = of_rows(0).drop("arm").with_columns(day=pl.col("user") % 2)
    frame = pl.concat([one.with_columns(arm=pl.lit(arm)) for arm in "AB"])
    irm = frame.irm(arm="arm", cluster="user", by="day", threshold=0.5)
    found = irm.ab_test("accuracy", "precision")
    assert found["p_value"].to_list() == [1] * 4
    assert ((found["ci_low"] < 0) & (found["ci_low"] > -0.06) & (found["ci_high"] > 0)).all()
    found = irm.ab_test("accuracy", "precision", "roc_auc", resamples=50, test="bootstrap")
    assert found.select("ci_low", "ci_high", "relative_low", "mde", "p_value").unique().rows() == [
        (None, None, None, None, 1)
    ]
