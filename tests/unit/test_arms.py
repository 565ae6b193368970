"""Arms of an online test: systems that have each their own queries, compared without pairs."""

from __future__ import annotations

from functools import partial
from itertools import combinations, product
from math import comb, exp, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from comparisons import Stand, of_arms
from frame_metrics import IRM, BadValueError, NotComputableError
from helpers import KINDS, as_kind, as_polars, error
from inside import always_a_progress_bar, threads
from refusals import check

SEEDS = range(4)
COLUMNS = (
    ["baseline", "metric", "k", "value", "baseline_value", "difference", "relative", "relative_low", "relative_high"]
    + ["ci_low", "ci_high", "p_value", "p_adjusted", "effect_size", "n", "baseline_n", "n_units", "baseline_n_units"]
    + ["n_shared", "n_undefined", "n_unjudged", "baseline_n_unjudged", "mde", "test", "n_tests", "correction"]
    + ["unit_share", "baseline_unit_share", "split_p_value", "split_note"]
)
TESTS = ("randomization", "t", "z", "bootstrap")
NEEDS_UNITS = ["relative_low", "relative_high", "ci_low", "ci_high", "p_value", "p_adjusted", "mde", "correction"]


def log_of(values: dict[str, Any], **columns: Any) -> pl.DataFrame:
    """A log whose dcg@1 is the values themselves, by arm; queries are numbered from 0, through all arms."""
    arm = [name for name, own in values.items() for _ in own]
    every = [float(value) for own in values.values() for value in own]
    frame = pl.DataFrame({"arm": arm, "query": range(len(arm)), "grade": every, "score": 1.0})
    return frame.with_columns(pl.Series(name, column) for name, column in columns.items())


def made(seed: int, users: int = 30, arms: str = "AB") -> pl.DataFrame:
    """Users of one arm each, with 1 to 6 queries; what they were worth before says something of what they are."""
    rng = np.random.default_rng(seed)
    worth, arm = rng.normal(size=users), rng.permutation(np.resize([*arms], users))
    user = np.repeat(np.arange(users), rng.integers(1, 7, users))
    value = np.abs(2 + worth[user] + rng.normal(size=len(user)) + (arm[user] == "B") / 4).round(3)
    columns = {"user": user, "before": (worth + rng.normal(size=users) / 2).round(3)[user]}
    frame = pl.DataFrame({"arm": arm[user], "query": np.arange(len(user)), "grade": value, "score": 1.0, **columns})
    return frame.with_columns(weight=pl.Series(rng.integers(1, 4, len(user)) / 2))


def versus(frame: pl.DataFrame, covariate: str | None = None, metric: str = "dcg@1", **said: Any) -> dict[str, Any]:
    """The one row of a comparison of two arms."""
    roles = {name: said.pop(name) for name in ("cluster", "weight", "by", "doc", "label") if name in said}
    found = IRM(frame, arm="arm", **roles).ab_test(metric, covariate=covariate, **said)
    return found.row(0, named=True)


def both(frame: pl.DataFrame) -> tuple[Any, Any]:
    """The values of B, and of A, which is the baseline."""
    return tuple(frame.filter(arm=arm)["grade"].to_numpy() for arm in "BA")


# By hand


def test_two_arms_by_hand() -> None:
    """A has 1, 2, 3, 4, and B 2, 4, 6: variances of the means 5/12 and 4/3."""
    row = versus(log_of({"A": [1, 2, 3, 4], "B": [2, 4, 6]}), test="z")
    error, z = sqrt(5 / 12 + 4 / 3), NormalDist().inv_cdf(0.975)
    assert (row["arm"], row["baseline"], row["value"], row["baseline_value"]) == ("B", "A", 4, 2.5)
    assert (row["n"], row["baseline_n"], row["n_units"], row["baseline_n_units"]) == (3, 4, 3, 4)
    assert row["difference"] == 1.5
    assert row["relative"] == pytest.approx(0.6)
    assert [row["ci_low"], row["ci_high"]] == pytest.approx([1.5 - z * error, 1.5 + z * error])
    assert row["p_value"] == pytest.approx(2 * (1 - NormalDist().cdf(1.5 / error)))
    assert row["mde"] == pytest.approx((z + NormalDist().inv_cdf(0.8)) * error)
    assert row["effect_size"] == pytest.approx(1.5 / sqrt((5 + 8) / 5))  # sums of squares over 3 + 2
    spread = z * sqrt(5 / 12 / 2.5**2 + 4 / 3 / 4**2)  # of the logarithm of the ratio
    ends = [1.6 * np.exp(-spread) - 1, 1.6 * np.exp(spread) - 1]
    assert [row["relative_low"], row["relative_high"]] == pytest.approx(ends)


def test_users_by_hand() -> None:
    """A: users with 1, 1 and 0; B: users with 1 and 0, 0, so r is 2/3 and 1/3, SE^2 is 2 (4/9 + 4/9) / 9 twice.

    A: S - m r of the users is 2 - 4/3 and 0 - 2/3; B: 1 - 1/3 and 0 - 2/3; all are 2/3 from 0.
    """
    frame = log_of({"A": [1, 1, 0], "B": [1, 0, 0]}, user=[1, 1, 2, 3, 4, 4])
    row = versus(frame, cluster="user", test="z")
    error = sqrt(2 * 2 * (4 / 9 + 4 / 9) / 9)
    assert row["difference"] == pytest.approx(-1 / 3)
    assert row["ci_high"] - row["ci_low"] == pytest.approx(2 * NormalDist().inv_cdf(0.975) * error)
    assert (row["n"], row["n_units"]) == (3, 2)
    alone = versus(frame, test="z")
    assert alone["ci_high"] - alone["ci_low"] == pytest.approx(2 * NormalDist().inv_cdf(0.975) * sqrt(2 * 2 / 3 / 6))


def test_a_covariate_by_hand() -> None:
    """A has 1, 2 and B 3, 5 with 0, 2 and 1, 1 before: theta is .25, both means of before are 1, errors change.

    Over all four: mean 2.75, covariances (-1)(-1.75) + (1)(-.75) = 1 of squares 2, so theta is 1/2; the residuals of A
    are -.5 + .5 and .5 - .5, those of B -1 and 1.
    """
    row = versus(log_of({"A": [1, 2], "B": [3, 5]}, before=[0, 2, 1, 1]), covariate="before", test="z")
    assert (row["value"], row["baseline_value"], row["difference"]) == (4, 1.5, 2.5)
    assert row["ci_high"] - row["ci_low"] == pytest.approx(2 * NormalDist().inv_cdf(0.975))
    moved = versus(log_of({"A": [1, 2], "B": [3, 5]}, before=[0, 1, 2, 3]), covariate="before", test="z")
    # theta = (1.5 * 1.75 + .5 * .75 + .5 * .25 + 1.5 * 2.25) / 5 = 1.3; the means of before are 1 below and above 1.5
    assert moved["value"] == pytest.approx(4 - 1.3)
    assert moved["baseline_value"] == pytest.approx(1.5 + 1.3)
    assert moved["difference"] == pytest.approx(2.5 - 2.6)


# By another way


@pytest.mark.parametrize("seed", SEEDS)
def test_welchs_t_is_scipys(seed: int) -> None:
    """Without clusters the t-test is that of scipy for unequal variances; quantiles of older scipy err by 1e-11."""
    frame = made(seed)
    found = stats.ttest_ind(*both(frame), equal_var=False)
    row = versus(frame, test="t", ci=0.9)
    assert row["p_value"] == pytest.approx(found.pvalue, abs=1e-12)
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(tuple(found.confidence_interval(0.9)), abs=1e-10)


def test_drawn_permutations_come_near_all() -> None:
    """Drawn p-values are (b + 1) / (n + 1), near the exact one, and other for another seed."""
    frame = log_of({"A": [1, 2, 3, 4, 5, 6], "B": [3, 5, 6, 7, 8]})
    exact = versus(frame, permutations=1000)["p_value"]
    assert exact * 462 == pytest.approx(round(exact * 462), abs=1e-9)
    drawn = [versus(frame, permutations=461, seed=seed)["p_value"] for seed in range(20)]
    assert all(p * 462 == pytest.approx(round(p * 462), abs=1e-9) for p in drawn)
    assert np.mean(drawn) == pytest.approx(exact, abs=0.01)
    assert len(set(drawn)) > 5


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_a_drawn_p_value_is_scipys(seed: int) -> None:
    """Of many units, 20,000 draws come within their error of what scipy draws."""
    frame = made(seed, users=60)
    x, y = both(frame)
    run = stats.permutation_test(
        (x, y), lambda x, y, axis: np.abs(x.mean(axis) - y.mean(axis)), alternative="greater", n_resamples=20_000, rng=1
    )
    p = versus(frame, permutations=20_000)["p_value"]
    assert p == pytest.approx(run.pvalue, abs=4.5 * sqrt(2 * p * (1 - p) / 20_000))


@pytest.mark.slow
@pytest.mark.parametrize("covariate", [None, "before"])
def test_the_bootstrap_comes_near_the_delta_method(covariate: str | None) -> None:
    """With many users the intervals and the p-values of both are alike, those of the relative difference too."""
    frame = made(5, users=800)
    drawn, told, by_t = (
        versus(frame, covariate=covariate, cluster="user", test=test, resamples=4000)
        for test in ("bootstrap", "z", "t")
    )
    width = told["ci_high"] - told["ci_low"]
    for name in ("ci_low", "ci_high", "relative_low", "relative_high"):
        assert drawn[name] == pytest.approx(told[name], abs=0.06 * width)
    assert drawn["p_value"] == pytest.approx(told["p_value"], abs=0.05)
    assert drawn["mde"] == by_t["mde"]


def test_a_weight_is_a_cluster_of_as_many() -> None:
    """A query of weight 3 is a cluster that has it three times, but for the counts of queries and the effect size.

    Where weights differ, intervals and mde have the variance of weighted queries, but for t and z.
    """
    a, b, w = [1, 2, 4, 3], [2, 5, 3], [1, 3, 2, 1, 1, 2, 3]
    stands = [Stand(arm, i, x, w[i]) for i, (arm, x) in enumerate(zip("AAAABBB", [*a, *b], strict=True))]
    means = {"A": np.average(a, weights=w[:4]), "B": np.average(b, weights=w[4:])}
    for each, test in product((w, [3] * 7), TESTS):
        times = [x for x, n in zip([*a, *b], each, strict=True) for _ in range(n)]
        often = log_of({"A": times[: sum(each[:4])], "B": times[sum(each[:4]) :]}, user=np.repeat(np.arange(7), each))
        one = versus(log_of({"A": a, "B": b}, weight=each), weight="weight", test=test)
        told = versus(often, cluster="user", test=test)
        beside = ["n", "baseline_n", "effect_size", "split_note"]
        if each is w and test not in ("t", "z"):
            formula = of_arms(stands, test)
            of_logarithm = of_arms([one._replace(value=one.value / means[one.arm]) for one in stands], test)
            ends = {
                f"relative_{end}": exp(of_logarithm[f"ci_{end}"]) * means["B"] / means["A"] - 1
                for end in ("low", "high")
            }
            told |= (
                {"mde": formula["mde"]} if test == "bootstrap" else formula | ends | {"p_adjusted": formula["p_value"]}
            )
        same = {name: value for name, value in one.items() if name not in beside}
        assert same == pytest.approx({name: told[name] for name in same}, abs=1e-12)
        assert (one["n"], one["n_units"]) == (3, 3)
    weighed = log_of({"A": a, "B": b}, weight=w)
    assert versus(weighed.with_columns(weight=7.0), weight="weight") == pytest.approx(versus(weighed), abs=1e-12)


# What is measured


def test_means_are_those_of_by() -> None:
    """Each arm has the mean and the counts that evaluate gives with the arm in by=, in each segment."""
    frame = made(1).with_columns(device=pl.col("query") % 3, grade=pl.col("grade").round(0).cast(pl.Int64))
    metrics = ("dcg@1", "rr", "precision@1")
    found = frame.irm(arm="arm", by="device", cluster="user").ab_test(*metrics)
    told = frame.irm(by=["device", "arm"], cluster="user").evaluate(*metrics, average="macro")
    means = {row[:3]: row[3:] for row in told.select("device", "arm", "metric", "value", "n").rows()}
    for row in found.rows(named=True):
        value, n = means[row["device"], "B", row["metric"]]
        base, baseline_n = means[row["device"], "A", row["metric"]]
        assert (row["value"], row["baseline_value"]) == pytest.approx((value, base), abs=1e-12)
        assert (row["n"], row["baseline_n"]) == (n, baseline_n)
    assert found["device"].to_list() == [0] * 3 + [1] * 3 + [2] * 3


def test_judgments_beside_are_of_each_arms_own_queries() -> None:
    """A judged query counts in the arm that has rows of it; a judged query without rows counts in none."""
    log = pl.DataFrame({"arm": [*"AAB"], "query": [1, 2, 3], "doc": [*"xyx"], "score": 1.0})
    qrels = pl.DataFrame({"query": [1, 2, 3, 4], "doc": [*"xzxx"], "grade": 1})
    irm = log.irm(query="query", arm="arm").judge(qrels)
    found = irm.ab_test("recall", baseline="A")
    assert found.select("value", "baseline_value", "n", "baseline_n").rows() == [(1.0, 0.5, 1, 2)]
    of_arms = qrels.with_columns(arm=pl.Series([*"AABB"]))
    irm = log.irm(query="query", arm="arm").judge(of_arms)
    found = irm.ab_test("recall", baseline="A")
    assert found.select("value", "baseline_value", "n", "baseline_n").rows() == [(0.5, 0.5, 2, 2)]
    assert_frame_equal(irm.evaluate("recall"), irm(arm=None, by="arm").evaluate("recall"))


def test_a_query_without_results_counts_and_one_without_judgments_does_not() -> None:
    """A row without a score says that the arm found nothing of it: 0. A query of unjudged rows is not evaluated."""
    columns = {"arm": [*"AABBB"], "query": range(5), "score": [1.0, 1.0, 1.0, None, 1.0], "label": [1, 0, 1, 1, None]}
    found = pl.DataFrame(columns).irm(query="query", arm="arm").ab_test("recall")
    assert found.select("value", "baseline_value", "n", "baseline_n").rows() == [(0.5, 0.5, 2, 2)]


def test_arms_do_not_share_the_judgments_of_a_query() -> None:
    """The same query in both arms is two queries: neither its judgments, nor its user and weight are shared."""
    columns = {"arm": [*"AAB"], "query": [1, 1, 1], "doc": [*"xyx"], "score": [2.0, 1.0, 1.0], "label": [1, 1, 1]}
    frame = pl.DataFrame(columns | {"user": [1, 1, 2], "weight": [1, 1, 3]})
    systems = frame.drop("user", "weight").irm(query="query", system="arm")
    assert systems.compare("recall").select("value").item() == 0.5
    row = versus(frame, metric="recall", cluster="user", weight="weight")
    assert (row["value"], row["baseline_value"]) == (1, 1)


def test_undefined_values_are_left_out_and_counted() -> None:
    """A query without a value is in no mean, and its arm has one query less; zero counts it."""
    columns = {"arm": [*"AAABBB"], "query": range(6), "score": 1.0, "label": [1, 0, 1, 1, 0, 0]}
    irm = pl.DataFrame(columns).irm(query="query", arm="arm", undefined="null")
    row = irm.ab_test("recall").row(0, named=True)
    assert (row["n"], row["baseline_n"], row["n_undefined"], row["value"]) == (1, 2, 3, 1)
    assert row["p_value"] is None
    row = irm(undefined="zero").ab_test("recall").row(0, named=True)
    assert (row["n"], row["baseline_n"], row["n_undefined"]) == (3, 3, 3)
    assert row["value"] == pytest.approx(1 / 3)


def test_metrics_with_other_queries_are_as_alone() -> None:
    """Metrics that are undefined elsewhere are compared each on its own queries, and share no draws."""
    frame = made(2).with_columns(label=(pl.col("grade") > 1.5).cast(pl.Int64)).drop("grade")
    irm = frame.irm(query="query", arm="arm", cluster="user", undefined="null")
    given: dict[str, Any] = {"permutations": 300}
    many = irm.ab_test("recall", "precision@1", "rr", **given)
    alone = pl.concat(irm.ab_test(metric, **given) for metric in ("recall", "precision@1", "rr"))
    assert many.equals(alone)
    assert many["n"].n_unique() > 1


# Arms that are hard to compare


@pytest.mark.parametrize("test", TESTS)
def test_an_arm_of_one_user_has_means_and_no_more(test: str) -> None:
    """One user says nothing of how users differ: intervals, p-value and mde are null, in either direction."""
    frame = log_of({"A": [1, 2, 3, 4], "B": [2, 4, 3]}, user=[1, 2, 3, 3, 4, 4, 4])
    for baseline, n in (("A", (1, 3)), ("B", (3, 1))):
        row = versus(frame, cluster="user", test=test, baseline=baseline)
        assert (row["n_units"], row["baseline_n_units"]) == n
        assert [name for name, value in row.items() if value is None] == [*NEEDS_UNITS, "split_p_value", "split_note"]
        assert abs(row["difference"]) == 0.5
        assert row["effect_size"] is not None


@pytest.mark.parametrize("test", TESTS)
def test_arms_that_are_alike_do_not_differ(test: str) -> None:
    """The same values in both arms have a difference of 0, in the middle of its interval, and p is 1."""
    row = versus(log_of({"A": [0.1, 0.7, 0.3] * 4, "B": [0.3, 0.1, 0.7] * 4}), test=test)
    assert (row["difference"], row["relative"], row["effect_size"]) == pytest.approx((0, 0, 0), abs=1e-12)
    assert row["p_value"] == 1
    assert row["ci_low"] < 0 < row["ci_high"]


@pytest.mark.parametrize("test", TESTS)
def test_values_that_do_not_vary(test: str) -> None:
    """One value everywhere: no difference, and p is 1. Two values: the difference is known, and no error of it.

    The default has no interval then: nothing is known of how values vary that have no known range.
    """
    default, names = test == "randomization", ("ci_low", "ci_high", "mde")
    same = versus(log_of({"A": [0.1] * 7, "B": [0.1] * 9}), test=test)
    assert same["p_value"] == 1
    assert [same[name] for name in names] == ([None] * 3 if default else pytest.approx([0] * 3, abs=1e-15))
    apart = versus(log_of({"A": [0.1] * 7, "B": [0.3] * 9}), test=test)
    ends = [apart[name] for name in ("ci_low", "ci_high", "relative_low", "relative_high")]
    assert ends == ([None] * 4 if default else pytest.approx([0.2, 0.2, 2, 2]))
    known = {"randomization": 1 / 11440, "bootstrap": 1 / 1001}  # exact, of 16 over 7; the draws are all at 0.2
    p = versus(log_of({"A": [0.1] * 7, "B": [0.3] * 9}), test=test, permutations=20_000)["p_value"]
    assert p == (pytest.approx(known[test]) if test in known else None)
    assert apart["effect_size"] is None


def test_a_segment_without_an_arm_keeps_its_row() -> None:
    """Where an arm has no query its value is null and its count 0; so it is where nothing is judged."""
    frame = pl.DataFrame(
        {"arm": [*"AAABB"], "query": range(5), "day": [1, 1, 2, 1, 3], "score": 1.0, "label": [1, 0, 1, 1, None]}
    )
    found = frame.irm(query="query", arm="arm", by="day").ab_test("rr")
    shown = found.select("day", "value", "baseline_value", "difference", "n", "baseline_n").rows()
    assert shown == [(1, 1.0, 0.5, 0.5, 1, 2), (2, None, 1.0, None, 0, 1), (3, None, None, None, 0, 0)]
    assert found["p_value"].null_count() == 3


def test_a_relative_difference_has_an_interval_where_both_means_have_one_sign() -> None:
    """Below 0 as above; where the baseline is 0, or the signs differ, it is null."""

    def utility(wrong: dict[str, list[int]]) -> dict[str, Any]:
        rows = [(arm, arm + str(q), i) for arm, own in wrong.items() for q, n in enumerate(own) for i in range(n + 1)]
        log = pl.DataFrame(rows, schema=["arm", "query", "at"], orient="row").with_columns(
            label=(pl.col("at") == 0), score=-pl.col("at")
        )
        return versus(log, metric="utility", test="z")  # relevant results less those that are not: 1 - n

    low, high = utility({"A": [5, 3, 4], "B": [2, 3, 3]}), versus(log_of({"A": [4, 2, 3], "B": [1, 2, 2]}), test="z")
    assert (low["value"], low["baseline_value"]) == pytest.approx((-5 / 3, -3))
    assert low["relative"] == pytest.approx(4 / 9)
    ends = [low["relative_low"], low["relative_high"]]
    assert ends == pytest.approx([-high["relative_high"], -high["relative_low"]])
    mixed = utility({"A": [2, 3, 2], "B": [0, 0, 1]})
    assert mixed["relative"] > 0
    assert (mixed["relative_low"], mixed["relative_high"]) == (None, None)
    zero = versus(log_of({"A": [0, 0, 0], "B": [1, 2, 3]}), test="z")
    assert (zero["relative"], zero["relative_low"]) == (None, None)


def test_a_baseline_that_is_0_but_for_rounding_has_no_relative_difference() -> None:
    """The covariate explains all of the baseline's mean, .1 - .1, which floats leave 3e-17 of: relative was 7e15."""
    frame = pl.DataFrame({"query": [0, 1, 2, 3], "arm": [2, 2, 1, 1], "x": [0.0, 1, 0, 0], "v": [0.3, 0.1, 0, 0]})
    for test in TESTS:
        found = frame.irm(arm="arm", value="v").ab_test(covariate="x", test=test).row(0, named=True)
        assert (found["value"], found["baseline_value"]) == (pytest.approx(0.2), 0)
        assert [found[name] for name in ("relative", "relative_low", "relative_high")] == [None] * 3


def test_a_relative_end_that_floats_do_not_reach_is_null() -> None:
    """A baseline whose mean is .0005, and its error 1: the upper end is e to the 3921st; exp warned of it."""
    frame = pl.DataFrame({"query": [*"abcd"], "arm": [*"xxyy"], "v": [-1.0, 1.001, 1.0, 2.0]})
    found = frame.irm(arm="arm", value="v").ab_test(test="z").row(0, named=True)
    assert found["relative"] == pytest.approx(2999)
    assert (found["relative_low"], found["relative_high"]) == (-1, None)


def test_more_arms_and_several_baselines() -> None:
    """Every pair, or each arm with each baseline, as alone; p-values are corrected over the pairs of a metric."""
    frame = made(7, users=60, arms="ABC")
    given: dict[str, Any] = {"test": "z"}
    irm = frame.irm(query="query", arm="arm", cluster="user")
    found = irm.ab_test("dcg@1", **given)
    assert found.select("arm", "baseline").rows() == [("B", "A"), ("C", "A"), ("C", "B")]
    family = ("p_adjusted", "n_tests", "correction", "unit_share", "baseline_unit_share")  # all of all arms
    for row in found.drop(family).rows(named=True):
        two = frame.filter(pl.col("arm").is_in([row["arm"], row["baseline"]])).irm(
            query="query", arm="arm", cluster="user"
        )
        alone = two.ab_test("dcg@1", baseline=row["baseline"], **given).drop(family)
        assert alone.row(0, named=True) == row
    p = sorted(found["p_value"])
    holm = [min(3 * p[0], 1), max(2 * p[1], 3 * p[0]), max(p[2], 2 * p[1], 3 * p[0])]
    assert sorted(found["p_adjusted"]) == pytest.approx([min(one, 1) for one in holm])
    both = irm.ab_test("dcg@1", baseline=["C", "A"], **given)
    assert both.select("arm", "baseline").rows() == [("B", "C"), ("B", "A")]
    assert irm.ab_test("dcg@1", correction="none", **given)["p_adjusted"].equals(found["p_value"].rename("p_adjusted"))


# What makes no difference


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("seed", SEEDS[:2])
def test_the_other_arm_as_the_baseline(seed: int, test: str) -> None:
    """The difference changes its sign and its interval its ends; the p-value stays."""
    frame = made(seed)
    given: dict[str, Any] = {"test": test, "cluster": "user", "covariate": "before", "permutations": 500}
    one, other = (versus(frame, baseline=baseline, **given) for baseline in "AB")
    assert one["difference"] == pytest.approx(-other["difference"], abs=1e-15)
    assert (one["ci_low"], one["ci_high"]) == pytest.approx((-other["ci_high"], -other["ci_low"]), abs=1e-12)
    assert one["p_value"] == pytest.approx(other["p_value"], abs=1e-12)
    assert (one["n"], one["n_units"]) == (other["baseline_n"], other["baseline_n_units"])


@pytest.mark.parametrize("test", TESTS)
def test_neither_the_order_of_rows_nor_names_matter(test: str) -> None:
    """Shuffled rows, users and arms of other names give the same numbers to the last bit."""
    frame = made(4)
    given: dict[str, Any] = {"test": test, "cluster": "user", "weight": "weight", "covariate": "before"}
    given |= {"permutations": 300, "resamples": 300}
    told = versus(frame, **given)
    assert versus(frame.sample(fraction=1, shuffle=True, seed=1), **given) == told
    renamed = frame.with_columns(user=pl.format("u{}", 99 - pl.col("user")), arm=pl.col("arm").replace({"A": "Z"}))
    said = versus(renamed, baseline="Z", **given)
    assert said | {"baseline": "A"} == told


@pytest.mark.slow
def test_threads_change_nothing() -> None:
    """Draws in one thread and in four give one p-value, and so does a progress bar."""
    frame = made(8, users=200)
    told = versus(frame, cluster="user", permutations=9_000)
    for n in (1, 4):
        with threads(n):
            assert versus(frame, cluster="user", permutations=9_000) == told


@pytest.mark.parametrize("notebook", [False, True])
def test_a_progress_bar_is_shown(notebook: bool, capsys: Any) -> None:
    """It changes nothing, and counts the permutations, on a terminal and in a notebook."""
    pytest.importorskip("tqdm", reason="the progress bar is optional")
    told = versus(made(8), permutations=500)
    with always_a_progress_bar(notebook):
        assert versus(made(8), permutations=500) == told
    said = capsys.readouterr().err
    assert "500/500" in said
    assert "draw/s" in said


# Bad input


ARMS = made(0)
SAME = pl.DataFrame({"arm": [*"ABAB"], "query": [1, 1, 2, 2], "score": 1.0, "label": [1, 0, 1, 1], "user": range(4)})
TWICE = pl.DataFrame({"arm": [*"AAB"], "query": [1, 1, 2], "doc": [*"xxx"], "score": [2.0, 1, 1], "label": 1})


def arms(frame: pl.DataFrame = ARMS, metric: str = "dcg@1", **given: Any) -> Any:
    """Compare two arms; some roles and options being others."""
    named = ("system", "arm", "by", "cluster", "score")
    roles = {"arm": "arm", "cluster": "user"} | {role: given.pop(role) for role in named if role in given}
    return frame.irm(**roles).ab_test(metric, **given)


SHARED = pl.DataFrame({"query": [1, 2] * 2, "arm": [*"AABB"], "user": range(4), "v": [0.1, 0.2, 0.4, 0.3]}).irm(
    arm="arm", value="v"
)
CLICKS = {"query": [0, 1, 2, 3], "arm": [*"ABAB"], "doc": [*"xyxy"], "rank": 1}
CLICKED = pl.DataFrame(CLICKS | {"clicked": [1, 1, None, None]}).irm(arm="arm", rank="rank", label="clicked")
JUDGED = pl.DataFrame(CLICKS | {"clicked": [1, 0, None, None]}).irm(arm="arm", rank="rank", label="clicked")


@pytest.mark.parametrize("kind", KINDS)
def test_queries_without_a_judgment_are_counted_for_each_arm(kind: str) -> None:
    """They are left out, by convention, and each row says how many; in pieces too, where null alone is an error."""
    frame = pl.concat([JUDGED.frame, JUDGED.frame.with_columns(pl.col("query") + 4)])[:-1]
    irm = IRM(as_kind(frame, kind), arm="arm", rank="rank", label="clicked")
    calls = (irm.ab_test, irm.change, partial(irm.sample_size, detect=0.1))
    for call in calls:
        found = as_polars(call("rr")).select("n", "baseline_n", "n_unjudged", "baseline_n_unjudged")
        assert found.row(0) == (2, 2, 1, 2)
    every = as_polars(irm(unjudged_queries="count").ab_test("rr", split="equal"))
    assert every.select("n", "baseline_n", "n_unjudged").row(0) == (3, 4, 0)
    saved = JUDGED.frame.filter(arm="A").irm(rank="rank", label="clicked").per_query("rr")
    found = as_polars(irm.change("rr", baseline=saved)).select("n", "n_unjudged", "baseline_n_unjudged")
    assert found.rows() == [(2, 2, None), (2, 1, None)]
    said = error(lambda: as_polars(IRM(as_kind(CLICKED.frame, kind), **CLICKED.roles).ab_test("rr")))
    assert said.startswith("clicked: no row has a 0, and in 2 of 4 queries every row is null")


REFUSALS = r"""
SHARED.change("v")
    NotComputableError: every query ('query') is in every period of arm, as if systems had answered the same queries:
        compare() pairs these, with system='arm' in the place of arm=. If several users asked them, name the users with
        cluster=
    but: SHARED(arm=None, system="arm").compare("v")
pl.DataFrame({"query": [1, 2], "old": [0.1, 0.2], "new": [0.2, 0.4]}).irm(value=["old", "new"]).compare()
    ColumnError: compare() pairs systems query by query; name their column with system=, or give what per_query()
        returned of another one, as baseline=saved; if ['old', 'new'] are systems of one metric, make them rows of one
        column: unpivot() in polars, melt() in pandas
    but: pl.DataFrame({"query": [1, 2], "old": [0.1, 0.2], "new": [0.2, 0.4]}).unpivot(["old", "new"], index="query",
        variable_name="system").irm(system="system", value="value").compare()
SHARED.sample_size(detect=0.1)
    NotComputableError: every query ('query') is in every arm of arm, as if systems had answered the same queries:
        compare() pairs these, with system='arm' in the place of arm=. If several users asked them, name the users with
        cluster=
    but: SHARED(arm=None, system="arm").sample_size(detect=0.1)
    but: SHARED(cluster="user").sample_size(detect=0.1)
SHARED(arm=None, system="arm").sample_size(detect=0.1, split="equal")
    ColumnError: split= requires arm=, the arms of a test; name their column with arm= in the place of system='arm'
    but: SHARED(cluster="user").sample_size(detect=0.1, split="equal")
SHARED(cluster="user").sample_size(detect=0.1, split={"A": 0.9})
    BadValueError: split={'A': 0.9} is not a share for each of two arms, as {'A': 0.5, 'B': 0.5}, nor 'equal'
SHARED(cluster="user").sample_size(detect=0.1, split={"A": 0.9, "C": 0.1})
    BadValueError: split: 'C' is not among the arms of arm: 'A', 'B'
    but: SHARED(cluster="user").sample_size(detect=0.1, split={"A": 0.9, "B": 0.1})
CLICKED.ab_test("rr")
CLICKED.change("rr")
CLICKED.sample_size("rr", detect=0.1)
    BadValueError: clicked: no row has a 0, and in 2 of 4 queries every row is null, which means not judged: these would
        be left out. If null means no click, make it 0, or pass unjudged_queries='count'; else drop their rows
    but: CLICKED(unjudged_queries="count").ab_test("rr")
    but: CLICKED(label=pl.col("clicked").fill_null(0)).ab_test("rr")
    but: JUDGED.ab_test("rr")
    but: CLICKED.frame.filter(pl.col("query") < 2).irm(**CLICKED.roles).ab_test("rr")
arms(arm=None)
    ColumnError: ab_test() compares each arm over its own queries; name the column of arms with arm=
    but: arms()
arms(arm=None, system="arm")
    ColumnError: ab_test() compares each arm over its own queries; name the column of arms with arm= in the place of
        system='arm'
    but: arms(arm="arm", system=None)
arms(arm=None, score=["score", "before"])
    ColumnError: ab_test() compares each arm over its own queries; name the column of arms with arm=
ARMS.irm(arm=None).change("dcg@1")
    ColumnError: change() compares each period over its own queries; name the column of periods with arm=
    but: ARMS.irm(arm="arm").change("dcg@1")
arms(system="user", cluster=None)
    ColumnError: arm='arm' beside system='user': an arm is a part of the traffic with queries of its own, and systems
        share their queries; name one of the two, or pass by='arm' in the place of arm= for the systems within each
    but: arms(system=None)
arms(score=["score", "before"])
    ColumnError: arm='arm' beside a list of columns, ['score', 'before'], each of a system: an arm is a part of the
        traffic with queries of its own, and systems share their queries; name one of the two, or pass by='arm' in the
        place of arm= for the systems within each
    but: arms(score="score")
arms(by="arm")
    ColumnError: by='arm' is the arm too; a column can have only one role
arms(arm=["arm", "user"])
    BadValueError: arm=['arm', 'user'] is not the name of a column
    but: arms(arm="arm", by="weight")
ARMS.irm(arm="arm").compare("dcg@1")
    ColumnError: arm='arm' requires queries of each arm's own, and compare() pairs what systems did for the same
        ones; use ab_test() for units that were assigned to arms at random, or change() for two periods
    but: ARMS.irm(arm="arm").ab_test("dcg@1")
    but: ARMS.irm(arm="arm").change("dcg@1")
arms(paired=False)
    UnknownNameError: ab_test() has no option 'paired'
ARMS.irm(system="arm").compare("dcg@1", paired=False)
    UnknownNameError: compare() has no option 'paired'; it pairs, and arms with queries of their own are compared by
        ab_test() and change(), of arm=
    but: ARMS.irm(arm="arm").ab_test("dcg@1")
ARMS.irm(system="arm").compare("dcg@1", covariate="before")
    UnknownNameError: compare() has no option 'covariate'; it is an option of ab_test(), of arms:
        irm(arm=...).ab_test(..., covariate=...)
    but: ARMS.irm(arm="arm").ab_test("dcg@1", covariate="before")
ARMS.irm(system="arm").compare("dcg@1", looks="any")
    UnknownNameError: compare() has no option 'looks'; it is an option of ab_test(), of arms:
        irm(arm=...).ab_test(..., looks=...)
    but: ARMS.irm(arm="arm").ab_test("dcg@1", looks="any")
ARMS.irm(arm="arm").change("dcg@1", split="equal")
    UnknownNameError: change() has no option 'split'; it is an option of ab_test(), of arms:
        irm(arm=...).ab_test(..., split=...)
    but: arms(split="equal")
ARMS.irm(arm="arm").change("dcg@1", baseline="C")
    BadValueError: baseline='C' is not among the periods of arm: 'A', 'B'
ARMS.irm(arm="arm").change("dcg@1", baseline=["A", "B"])
    BadValueError: baseline=['A', 'B'] names every period of arm; leave one out, or pass baseline=None for all pairs
ARMS.filter(arm="A").irm(arm="arm").change("dcg@1")
    NotComputableError: arm has one period, 'A'; two are needed to compare
    but: ARMS.irm(arm="arm").change("dcg@1", baseline="A")
arms(split={"A": 1})
    BadValueError: split={'A': 1} is not a share for each of two arms, as {'A': 0.5, 'B': 0.5}, nor 'equal'
arms(split="even")
    BadValueError: split='even' is not a share for each of two arms, as {'A': 0.5, 'B': 0.5}, nor 'equal'
arms(split={"A": 0.5, "C": 0.5})
    BadValueError: split: 'C' is not among the arms of arm: 'A', 'B'
arms(split={"A": 0.5, "B": 0.6})
    BadValueError: split: shares add up to 1.1, and should add up to 1
    but: arms(split={"A": 0.9, "B": 0.1})
SAME.irm(query="query", arm="arm").ab_test("rr")
    NotComputableError: every query ('query') is in every arm of arm, as if systems had answered the same queries:
        compare() pairs these, with system='arm' in the place of arm=. If several users asked them, name the users with
        cluster=
    but: SAME.irm(query="query", system="arm").compare("rr")
    but: SAME.irm(query="query", arm="arm", cluster="user").ab_test("rr")
    but: SAME[1:].irm(query="query", arm="arm").ab_test("rr")
arms(per_query=True)
    UnknownNameError: ab_test() has no option 'per_query'
arms(test="wilcoxon")
    NotComputableError: test='wilcoxon' applies to pairs, and ab_test() pairs none; pass test= as one of
        'randomization', 't', 'z', 'bootstrap'
ARMS.irm(arm="arm").change("dcg@1", test="tukey")
    UnknownNameError: test='tukey' is no test any more: correction='max_t', the default, tests all pairs together, with
        intervals that hold together; leave test= out
    but: ARMS.irm(arm="arm").change("dcg@1")
arms(test="welch")
    UnknownNameError: test='welch' is called 't' here
    but: arms(test="t")
arms(test="welsh")
    UnknownNameError: test='welsh' is not one of 'randomization', 't', 'z', 'wilcoxon', 'sign', 'bootstrap',
        'mcnemar_mid_p', 'mcnemar', 'delong', 'fisher'
ARMS.irm(system="arm").compare("dcg@1", test="z")
    NotComputableError: test='z' applies to arms, whose verb is ab_test(); pass test= as one of 'randomization',
        't', 'wilcoxon', 'sign', 'bootstrap', 'mcnemar_mid_p'
    but: arms(test="z")
arms(covariate="befor")
    ColumnError: covariate='befor': there is no such column among 'arm', 'query', 'grade', 'score', 'user', 'before',
        'weight'; did you mean 'before'?
arms(covariate="user")
    ColumnError: covariate='user' is the cluster too; a column can have only one role
arms(covariate="arm")
    ColumnError: covariate='arm' is the arm too; a column can have only one role
arms(ARMS.with_columns(before=pl.lit(None, pl.Float64)), covariate="before")
    BadRowsError: before: 116 of 116 rows have no covariate (rows 0, 1, 2); give every row one, as the mean where there
        is none
arms(ARMS.with_columns(before=pl.lit("much")), covariate="before")
    BadValueError: before: a covariate is a number, and this column is text, as 'much'; convert it
arms(ARMS.with_columns(before=pl.lit(np.inf)), covariate="before")
    BadRowsError: before: 116 of 116 rows are infinite (rows 0, 1, 2); give every row one, as the mean where there is
        none
arms(ARMS.with_columns(before=pl.col("query").cast(pl.Float64)), covariate="before")
    BadValueError: before: 25 of 30 clusters (user) have several values; give each one, as its mean before the test
arms(pl.concat([ARMS, ARMS[:1].with_columns(score=0.5, before=9.0)]), cluster=None, covariate="before")
    BadRowsError: before: 1 of 117 rows differs from another row of its query (row 116); give each query one value
    but: arms(covariate="before")
    but: arms(ARMS.with_columns(before=pl.col("query").cast(pl.Float64)), cluster=None, covariate="before")
arms(baseline="C")
    BadValueError: baseline='C' is not among the arms of arm: 'A', 'B'
arms(ARMS.filter(arm="A"))
    NotComputableError: arm has one arm, 'A'; two are needed to compare
arms(ARMS.clear())
    NotComputableError: arm has no arms, as the frame has no rows; two are needed to compare
    but: arms(baseline="B")
arms(metric="gm_map")
    NotComputableError: gm_map is an average, and ab_test() needs metrics of single queries
arms(ARMS.rename({"arm": "n_units"}), arm="n_units")
    ColumnError: 'n_units' is a column of the result as well; rename the frame's column
    but: arms(ARMS.rename({"arm": "variant"}), arm="variant", metric="cg")
TWICE.irm(query="query", arm="arm").ab_test("rr")
    BadRowsError: doc: 1 of 3 rows repeats a document of its query (row 1);[...]
    but: TWICE[1:].irm(query="query", arm="arm").ab_test("rr")
ARMS.irm(query="query", arm="arm").ab_test("dcg", baseline=ARMS.irm.per_query("dcg"))
    NotComputableError: baseline= as a frame has no units that were assigned to an arm of this test; with value= the
        saved numbers of another arm are rows of the same frame, and arm= tells them apart
    but: ARMS.irm(arm="arm").per_query("dcg").irm(value="value", arm="arm").ab_test(baseline="A")
    but: ARMS.irm(query="query", system=None).compare("dcg", baseline=ARMS.irm.per_query("dcg"))
ARMS.irm(query="query", system="arm").audit(split={"A": 0.5, "B": 0.5})
    ColumnError: split= requires arm=, the arms of a test; name their column with arm= in the place of system='arm'
    but: ARMS.irm(query="query", arm="arm").audit(split={"A": 0.5, "B": 0.5})
    but: ARMS.irm(arm="arm").audit(split="equal", baseline=ARMS.irm(arm="arm").per_query("dcg"))
ARMS.irm(system="arm").report(metrics="dcg", split="equal")
    ColumnError: split= requires arm=, the arms of a test; name their column with arm= in the place of system='arm'
ARMS.irm(system="arm").summary("dcg", covariate="before")
    BadValueError: covariate='before' requires arms with queries of their own; name their column with arm= in the
        place of system='arm'
    but: ARMS.irm(arm="arm").summary("dcg", covariate="before")
"""


def test_bad_input() -> None:
    """Each is an error in the caller's words, with the way out."""
    check(REFUSALS, globals())


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_covariate_is_an_error_in_every_kind(kind: str) -> None:
    """NaN of pandas is missing, as null is elsewhere."""
    frame = ARMS.with_columns(before=pl.when(pl.col("query") > 0).then("before"))
    irm = IRM(as_kind(frame, kind), arm="arm")
    said = error(lambda: irm.ab_test("dcg@1", covariate="before"), BadValueError)
    assert said.startswith(f"before: 1 of {len(frame)} rows has no covariate (row 0); give every row one")


def test_a_covariate_that_is_constant_explains_nothing() -> None:
    """It leaves every number as it is without one."""
    frame = ARMS.with_columns(before=pl.lit(0.1))
    assert versus(frame, cluster="user", covariate="before") == versus(frame, cluster="user")


def test_what_is_drawn_and_z_need_no_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only Welch's test does, and says how to install it."""
    monkeypatch.setitem(__import__("sys").modules, "scipy", None)
    for test in ("randomization", "z", "bootstrap"):
        assert versus(ARMS, test=test, permutations=50)["p_value"] is not None
    said = error(lambda: ARMS.irm(arm="arm").ab_test("dcg@1", test="t"), NotComputableError)
    assert said == "test='t' needs scipy, which is not installed: pip install scipy"


@pytest.mark.parametrize("rho", [0.3, 0.6, 0.9])
def test_a_covariate_makes_intervals_shorter_as_theory_says(rho: float) -> None:
    """By sqrt(1 - rho^2), with queries as units, and with users by the correlation of what is linear in them."""
    rng = np.random.default_rng(int(10 * rho))
    n = 20_000
    before = rng.normal(size=n)
    value = 8 + rho * before + sqrt(1 - rho**2) * rng.normal(size=n)
    frame = log_of({"A": value[: n // 2], "B": value[n // 2 :]}, before=before)
    plain, shorter = (versus(frame, covariate=covariate, test="z") for covariate in (None, "before"))
    for name in ("ci", "relative"):
        width = [row[f"{name}_high"] - row[f"{name}_low"] for row in (plain, shorter)]
        assert width[1] / width[0] == pytest.approx(sqrt(1 - rho**2), rel=0.01)
    user = np.sort(rng.integers(0, 4000, n))
    of = frame.with_columns(user=pl.Series(user)).with_columns(
        before=pl.col("before").mean().over("user"), arm=pl.col("arm").first().over("user")
    )
    units = of.group_by("user").agg(pl.col("grade").sum(), pl.len(), pl.col("before").first())
    linear = units["grade"] - units["len"] * (units["grade"].sum() / units["len"].sum())
    known = np.corrcoef(linear, units["before"])[0, 1]
    rows = [versus(of, covariate=covariate, cluster="user", test="z") for covariate in (None, "before")]
    width = [row["ci_high"] - row["ci_low"] for row in rows]
    assert width[1] / width[0] == pytest.approx(sqrt(1 - known**2), rel=0.01)
    assert known > rho - 0.15


@pytest.mark.parametrize("kind", ["polars", "pandas", "pyarrow", "lazy"])
def test_a_row_per_search_with_lists(kind: str) -> None:
    """Nested rows are as flat ones; a search whose list is empty counts in its own arm, and says its user too."""
    columns = {"query": range(5), "arm": [*"AABBB"], "user": [1, 1, 2, 2, 3], "before": [1.0, 1, 0, 0, 2]}
    docs = [["x", "y"], ["z"], ["x"], [], ["q", "x"]]
    nested = pl.DataFrame(columns | {"doc": docs, "relevant": [["x"]] * 5})
    flat = pl.DataFrame(columns | {"doc": [own or ["none"] for own in docs]}).explode("doc")
    flat = flat.with_columns(score=pl.when(pl.col("doc") != "none").then(-pl.int_range(pl.len())))
    qrels = pl.DataFrame({"query": range(5), "doc": "x", "label": 1})
    roles: dict[str, Any] = {"arm": "arm", "cluster": "user"}
    given: dict[str, Any] = {"covariate": "before", "test": "z"}
    told = flat.irm(**roles).judge(qrels).ab_test("rr", "precision@2", **given)
    found = as_polars(IRM(as_kind(nested, kind), **roles).ab_test("rr", "precision@2", **given))
    assert found.rows() == told.rows()
    assert found["n"].to_list() == [3, 3]
    split = as_polars(IRM(as_kind(nested, kind), **roles).audit(split={"A": 0.5, "B": 0.5}))
    assert split.filter(check="units split")["message"][0].startswith("A has 1, B has 2 clusters (user)")


def test_most_queries_in_both_periods() -> None:
    """Each of these is a unit of both, so that the difference is nearly that of pairs; the note says compare()."""
    rng = np.random.default_rng(0)
    wide = pl.DataFrame({"query": np.repeat(range(20), 3), "old": rng.random(60), "new": rng.random(60)})
    wide = wide.with_columns(label=pl.Series(rng.integers(0, 2, 60)), doc=pl.int_range(60))
    long = wide.unpivot(["old", "new"], index=["query", "label", "doc"], variable_name="week", value_name="score")
    pairs = long.irm(system="week").compare("rr", baseline="old")
    assert "every query ('query') is in every period of week" in error(lambda: long.irm(arm="week").change("rr"))
    arms = long.vstack(long[-1:].with_columns(query=pl.lit(20, pl.Int64))).irm(arm="week").change("rr", baseline="old")
    assert arms.select("week", "baseline", "n", "n_shared").rows() == [("new", "old", 21, 20)]
    shared = long.with_columns(text="query").irm(arm="week", cluster="text").change("rr", baseline="old")
    assert shared.select("n_shared", "split_note").rows() == [(20, None)]
    assert shared["difference"].item() == pytest.approx(pairs["difference"].item(), abs=1e-12)
    assert arms["split_note"].item() == (
        "units are queries; name the users who have several with cluster=; 20 of 20 queries are in both periods, as if "
        "systems had answered the same ones: compare() pairs these, with system='week' in the place of arm="
    )


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_from_elsewhere(kind: str) -> None:
    """A number per search, as a saved value or its latency, is compared as the metric it stands for."""
    frame = made(9).rename({"grade": "latency"}).with_columns(cost=pl.col("weight")).drop("score")
    roles: dict[str, Any] = {"arm": "arm", "cluster": "user"}
    given: dict[str, Any] = {"covariate": "before", "permutations": 200}
    value = IRM(as_kind(frame, kind), value=["latency", "cost"], **roles)
    found = as_polars(value.ab_test(**given))
    for column in ("latency", "cost"):
        log = frame.with_columns(grade=pl.col(column), score=1.0).drop("latency", "cost")
        told = log.irm(**roles).ab_test("dcg@1", **given)
        mine = found.filter(metric=column)
        assert mine.drop("metric", "k").rows() == told.drop("metric", "k").rows()
    split = as_polars(value.audit(split={"A": 0.5, "B": 0.5}))
    assert split.filter(check="units split")["message"][0].startswith("A has 15, B has 15 clusters (user)")
    assert "systems that share almost no query" not in split["check"].to_list()


def test_arms_may_be_periods_of_pandas() -> None:
    """Months are drawn in their order, as their numbers are, in intervals of queries too."""
    frame = made(3).to_pandas()
    months = pd.period_range("2026-01", periods=2, freq="M")
    by_month = frame.assign(arm=[months["AB".index(arm)] for arm in frame["arm"]])
    by_number = frame.assign(arm=["AB".index(arm) for arm in frame["arm"]])
    given: dict[str, Any] = {"permutations": 100}
    found, told = (one.irm(arm="arm").ab_test("dcg@1", **given) for one in (by_month, by_number))
    assert found["arm"].tolist() == [months[1]]
    assert found.drop(columns=["arm", "baseline"]).equals(told.drop(columns=["arm", "baseline"]))
    found, told = (one.irm(by="arm").evaluate("dcg@1", ci=0.9) for one in (by_month, by_number))
    assert found.drop(columns="arm").equals(told.drop(columns="arm"))


def test_arms_of_few_kinds_of_units_are_exchanged_kind_by_kind() -> None:
    """The share of draws is that of the hypergeometric distribution, within the error of so many draws."""
    found = versus(log_of({"A": [0] * 150 + [1] * 50, "B": [0] * 100 + [1] * 60}), permutations=20_000)
    drawn, more = stats.hypergeom(360, 110, 160), np.arange(111)
    distance = np.abs(more / 160 - (110 - more) / 200)
    exact = drawn.pmf(more)[distance >= found["difference"] - 1e-12].sum()
    assert found["p_value"] == pytest.approx(exact, abs=4 * sqrt(exact * (1 - exact) / 20_000))
    assert exact > 0.01


# Arms of unlike sizes and spreads, rare values, few units


def valued(**values: Any) -> IRM[pl.DataFrame]:
    """Arms with one number for each query."""
    arm = [name for name, own in values.items() for _ in own]
    every = [float(one) for own in values.values() for one in own]
    return pl.DataFrame({"arm": arm, "v": every}).with_row_index("query").irm(query="query", arm="arm", value="v")


def test_a_small_arm_that_varies_more_keeps_the_level() -> None:
    """Means are equal, and 50 of 500 units vary twice as much: 23 % saw a difference; if half as much, none."""
    seen = np.zeros(2)
    for seed in range(100):
        rng = np.random.default_rng(seed)
        for i, spread in enumerate((2, 0.5)):
            irm = valued(old=rng.normal(10, 1, 450), new=rng.normal(10, spread, 50))
            seen[i] += irm.ab_test(baseline="old", permutations=199)["p_value"].item() <= 0.05
    assert (seen >= 1).all()
    assert (seen <= 11).all()


def test_shares_are_exchanged_as_they_are() -> None:
    """Of 0 and 1, or two other numbers, p is that of all tables with as many, those as far apart as this one."""
    irm = valued(A=[1, 0, 0, 0, 0], B=[1] * 6 + [0] * 6)
    n, less, many = 17, 5, 7
    apart = [abs(x / less - (many - x) / (n - less)) for x in range(less + 1)]
    chance = stats.hypergeom(n, many, less).pmf(range(less + 1))
    expected = sum(p for p, far in zip(chance, apart, strict=True) if far >= apart[1] - 1e-12)
    row = irm.ab_test().row(0, named=True)
    assert row["p_value"] == pytest.approx(expected, abs=1e-12)
    other = valued(A=[7, 3, 3, 3, 3], B=[7] * 6 + [3] * 6).ab_test().row(0, named=True)
    assert other["p_value"] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("amount", [1.0, 8.5], ids=["alike", "of several sizes"])
def test_rare_values_are_exchanged_as_they_are(amount: float) -> None:
    """Of 18 units two or three pay: with errors of their own a draw without any would be no difference at all."""
    paid = [3.0, amount, 1.0]
    values = [*paid[:2], *[0.0] * 4, paid[2], *[0.0] * 11]
    row = valued(A=values[:6], B=values[6:]).ab_test(permutations=20_000).row(0, named=True)
    seen, n = abs(sum(paid[:2]) / 6 - paid[2] / 12), 0
    for chosen in combinations(range(18), 6):
        own = sum(values[i] for i in chosen)
        n += abs(own / 6 - (sum(values) - own) / 12) >= seen - 1e-12
    assert row["p_value"] == pytest.approx(n / comb(18, 6), abs=1e-12)


@pytest.mark.parametrize("pays", [[4.0, 2.0, 1.0, 1.0, 3.0], [2.0] * 5], ids=["several", "one"])
def test_kinds_of_units_are_drawn_as_units_are(pays: list[float]) -> None:
    """Where most have the same value, the number of each kind is drawn: p is near that of all exchanges."""
    irm = valued(A=[*pays[:3], *[0.0] * 3], B=[*pays[3:], *[0.0] * 16])
    ways = comb(24, 6)
    exact, drawn = (irm.ab_test(permutations=n)["p_value"].item() for n in (ways, ways - 1))
    assert drawn != exact
    assert drawn == pytest.approx(exact, abs=4.5 * sqrt(exact * (1 - exact) / ways))


def test_a_metric_has_its_p_value_in_any_company() -> None:
    """Whether a metric of many values is asked beside one of few, or alone."""
    rng = np.random.default_rng(0)
    columns = {"arm": rng.choice([*"AB"], 300), "v": rng.normal(size=300), "w": rng.random(300) < 0.3}
    frame = pl.DataFrame(columns).with_columns(pl.col("w").cast(pl.Float64)).with_row_index("query")
    both = frame.irm(query="query", arm="arm", value=["v", "w"]).ab_test(permutations=500)["p_value"].to_list()
    alone = [frame.irm(query="query", arm="arm", value=one).ab_test(permutations=500)["p_value"][0] for one in "vw"]
    assert both == alone


@pytest.mark.parametrize(
    ("a", "b"), [((1, 20), (9, 30)), ((0, 25), (0, 40)), ((12, 12), (30, 31)), ((3, 200), (9, 1800))]
)
def test_shares_have_newcombes_interval(a: tuple[int, int], b: tuple[int, int]) -> None:
    """The hybrid of two of Wilson's is that of statsmodels, also of shares of 0 and 1."""
    irm = valued(A=[1] * a[0] + [0] * (a[1] - a[0]), B=[1] * b[0] + [0] * (b[1] - b[0]))
    of_shares = irm.frame.rename({"v": "success@1"}).irm(query="query", arm="arm", value="success@1")
    row = of_shares.ab_test(ci=0.9, permutations=100).row(0, named=True)
    low, high = confint_proportions_2indep(*b, *a, method="newcomb", compare="diff", alpha=0.1)
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((low, high), abs=1e-9)


def test_shares_of_users_have_the_interval_of_their_variance() -> None:
    """With users of many searches n is p (1 - p) over the variance, less by t; of shares of 0 and 1 it is the users."""
    user = [u for u in range(60) for _ in range(4)]
    rng = np.random.default_rng(1)
    right = (rng.random(240) < np.repeat(rng.random(60), 4)).astype(float)
    frame = pl.DataFrame({"user": user, "v": right, "arm": [*"AB"[0] * 96, *"B" * 144]}).with_row_index("query")
    irm = frame.irm(query="query", arm="arm", value="v", cluster="user")
    row = irm.ab_test(permutations=100).row(0, named=True)
    ends, shares = [], []
    for arm in "BA":
        own = frame.filter(arm=arm)
        share, means = float(own["v"].mean()), own.group_by("user").agg(pl.col("v").mean())["v"]  # type: ignore[arg-type]
        n = share * (1 - share) / (float(means.var()) / len(means))  # type: ignore[arg-type]
        n *= (stats.norm.ppf(0.975) / stats.t.ppf(0.975, len(means) - 1)) ** 2
        ends.append(proportion_confint(share * n, n, method="wilson"))
        shares.append(share)
    (low, high), (base_low, base_high) = ends
    apart = shares[0] - shares[1]
    assert row["ci_low"] == pytest.approx(apart - sqrt((shares[0] - low) ** 2 + (base_high - shares[1]) ** 2))
    assert row["ci_high"] == pytest.approx(apart + sqrt((high - shares[0]) ** 2 + (shares[1] - base_low) ** 2))
    ones = frame.with_columns(pl.lit(1.0).alias("success@1"))
    all_right = ones.irm(query="query", arm="arm", value="success@1", cluster="user")
    row = all_right.ab_test(permutations=100).row(0, named=True)
    low, high = confint_proportions_2indep(36, 36, 24, 24, method="newcomb", compare="diff")
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((low, high), abs=1e-9)


def test_few_units_that_differ_have_the_interval_of_the_range() -> None:
    """Ranks from 0 to 1 of which nearly all are 1: each mean as a share of so many queries; without a range, null."""
    ranks = {"A": [1.0] * 19 + [0.5], "B": [1.0] * 28 + [0.5, 0.25]}
    arm = [name for name, own in ranks.items() for _ in own]
    place = [round(1 / one) for own in ranks.values() for one in own]
    frame = pl.DataFrame({"arm": arm, "rank": place}).with_row_index("query").with_columns(label=1)
    row = frame.irm(query="query", arm="arm", rank="rank").ab_test("rr").row(0, named=True)
    means = [float(np.mean(ranks[arm])) for arm in "BA"]
    low, high = confint_proportions_2indep(means[0] * 30, 30, means[1] * 20, 20, method="newcomb", compare="diff")
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((low, high), abs=1e-9)
    assert row["relative_low"] is None
    row = valued(**ranks).ab_test().row(0, named=True)
    assert [row[name] for name in ("ci_low", "ci_high", "relative_low", "mde")] == [None] * 4
    assert row["p_value"] is not None


@pytest.mark.parametrize(("sizes", "known"), [((3, 3), False), ((4, 4), True), ((2, 4), False), ((2, 6), True)])
def test_mde_is_null_where_no_exchange_is_rare_enough(sizes: tuple[int, int], known: bool) -> None:
    """Of arms of 3 and 3 two of 20 ways are as far apart as any: p is never below .1; of 2 and 6 one of 28."""
    rng = np.random.default_rng(0)
    irm = valued(A=rng.normal(size=sizes[0]), B=rng.normal(size=sizes[1]))
    row, by_t = (irm.ab_test(test=test).row(0, named=True) for test in ("randomization", "t"))
    assert row["mde"] == (by_t["mde"] if known else None)
    assert by_t["mde"] is not None
    assert irm.ab_test(permutations=10)["mde"].item() is None  # of ten draws and the observed one


def test_mde_has_the_quantiles_of_t() -> None:
    """By Welch's degrees of freedom; of z those of the normal distribution."""
    irm = valued(A=[1, 2, 3, 4, 6], B=[2, 4, 6, 9])
    by_t, by_z = (irm.ab_test(test=test).row(0, named=True) for test in ("t", "z"))
    v, w = np.var([2, 4, 6, 9], ddof=1) / 4, np.var([1, 2, 3, 4, 6], ddof=1) / 5
    df = (v + w) ** 2 / (v**2 / 3 + w**2 / 4)
    assert by_t["mde"] == pytest.approx(sqrt(v + w) * (stats.t.ppf(0.975, df) + stats.t.ppf(0.8, df)))
    assert by_z["mde"] == pytest.approx(sqrt(v + w) * (stats.norm.ppf(0.975) + stats.norm.ppf(0.8)))


def test_intervals_of_weighted_arms_hold_the_truth() -> None:
    """A unit of great weight draws the mean of its arm to itself; of fewer than two by Kish nothing is known."""
    rng, held = np.random.default_rng(7), 0
    for heavy in (30.0, 1e6):
        weight = np.tile(np.r_[heavy, np.ones(14)], 2)
        for _ in range(40):
            frame = pl.DataFrame({"query": range(30), "arm": ["a"] * 15 + ["b"] * 15, "v": rng.random(30), "w": weight})
            (row,) = frame.irm(arm="arm", value="v", weight="w").ab_test(permutations=99).rows(named=True)
            if heavy > 100:
                assert (row["ci_low"], row["relative_low"], row["mde"]) == (None, None, None)
            else:
                held += row["ci_low"] <= 0 <= row["ci_high"]
    assert held >= 37


def test_values_beyond_the_range_of_their_name_have_no_interval_on_it() -> None:
    """Few numbers above 1 in a column precision@5 have no interval on the range of shares; nor has mde its limit."""
    values = [0.0] * 30 + [50.0] + [0.0] * 30 + [80.0, 90.0]
    frame = pl.DataFrame({"query": range(63), "arm": ["a"] * 31 + ["b"] * 32, "precision@5": values})
    (row,) = frame.irm(arm="arm", value="precision@5").ab_test(permutations=99).rows(named=True)
    assert (row["ci_low"], row["ci_high"]) == (None, None)


def test_an_mde_beyond_all_differences_of_arms_is_null() -> None:
    """Of a few units of 0 and 1 the least difference that would be detected is above all that there can be."""
    values = [0.0, 1.0, 0.2, 0.9, 0.0, 0.8, 1.0, 0.1]
    frame = pl.DataFrame({"query": range(8), "arm": ["a"] * 4 + ["b"] * 4, "rr": values})
    (row,) = frame.irm(arm="arm", value="rr").ab_test(test="t").rows(named=True)
    assert row["mde"] is None
