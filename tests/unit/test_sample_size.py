"""How many queries show a difference: against statsmodels, compare's mde, and power that is counted."""

from __future__ import annotations

from math import ceil, comb
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy.stats import norm, ttest_ind
from statsmodels.stats.power import TTestIndPower, TTestPower

import frame_metrics
from frame_metrics import IRM
from frame_metrics.plot import sample_size
from helpers import KINDS, as_kind, as_polars, error, made_log
from inside import ppi_mean

PILOTS = pytest.mark.parametrize(
    ("n", "spread", "detect", "power", "tests"),
    [(50, 0.2, 0.05, 0.8, 1), (400, 0.3, 0.02, 0.9, 3), (30, 1, 0.9, 0.8, 1), (60, 0.1, 0.05, 0.5, 10)],
)


def of(differences: Any, **columns: Any) -> IRM[pl.DataFrame]:
    """Saved numbers of two systems that differ so."""
    n = len(differences)
    rows = {"query": [*range(n)] * 2, "run": ["a"] * n + ["b"] * n, "v": [*np.zeros(n), *differences]}
    frame = pl.DataFrame(rows | {name: [*values] * 2 for name, values in columns.items()})
    return frame.irm(system="run", value="v", **{name: name for name in columns})


@PILOTS
def test_needed_queries_are_those_of_statsmodels(
    n: int, spread: float, detect: float, power: float, tests: int
) -> None:
    """The paired t-test of theirs, rounded up; one query apart at most where few are needed."""
    differences = np.random.default_rng(n).normal(0, spread, n)
    (row,) = of(differences).sample_size(detect=detect, power=power, n_tests=tests).rows(named=True)
    effect = detect / differences.std(ddof=1)
    theirs = TTestPower().solve_power(effect_size=effect, alpha=0.05 / tests, power=power)
    assert abs(row["needed"] - ceil(theirs)) <= 1
    assert row["needed_low"] < row["needed"] < row["needed_high"]
    assert (row["n"], row["n_units"], row["detect"]) == (n, n, detect)


def test_the_power_is_reached() -> None:
    """Where the spread is known, the t-test sees the difference in 80 % of samples of that size, within 2 points."""
    random = np.random.default_rng(5)
    pilot = random.choice([-1, -0.5, 0, 0, 0.5, 1], 20_000)
    needed = of(pilot - pilot.mean()).sample_size(detect=0.1, resamples=1)["needed"].item()
    drawn = random.choice(pilot - pilot.mean(), (4000, needed)) + 0.1
    t = drawn.mean(axis=1) / drawn.std(axis=1, ddof=1) * np.sqrt(needed)
    assert np.mean(abs(t) > 1.96) == pytest.approx(0.8, abs=0.02)


def arms(*values: Any, each: int = 1, **roles: Any) -> IRM[pl.DataFrame]:
    """Numbers of arms with queries of their own, so many of each user."""
    arm = np.repeat(np.arange(len(values)), [len(one) for one in values])
    rows = {"user": np.arange(len(arm)), "arm": arm, "v": np.concatenate(values)}
    frame = pl.DataFrame(rows).select(pl.all().repeat_by(each).explode()).with_row_index("query")
    return frame.irm(query="query", arm="arm", value="v", **roles)


@PILOTS
def test_needed_users_of_an_arm_are_those_of_statsmodels(
    n: int, spread: float, detect: float, power: float, tests: int
) -> None:
    """The t-test of two samples, which counts those of one arm."""
    random = np.random.default_rng(n)
    one, other = random.normal(0, spread, n), random.normal(3, 2 * spread, 2 * n)
    irm = arms(one, other, each=3, cluster="user")
    (row,) = irm.sample_size(detect=detect, power=power, n_tests=tests).rows(named=True)
    effect = detect / ((one.var(ddof=1) + other.var(ddof=1)) / 2) ** 0.5
    theirs = TTestIndPower().solve_power(effect_size=effect, alpha=0.05 / tests, power=power)
    assert abs(row["needed"] - ceil(theirs)) <= 1
    assert row["needed_low"] < row["needed"] < row["needed_high"]
    counts = ("n", "baseline_n", "n_units", "baseline_n_units")
    assert tuple(row[name] for name in counts) == (6 * n, 3 * n, 2 * n, n)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
def test_arms_of_unequal_shares_are_those_of_the_formula(share: float) -> None:
    """Of s^2 / n of each arm, with Welch's degrees of freedom; the answer says the shares, also of three arms."""
    random = np.random.default_rng(3)
    one, other = random.normal(0, 1, 200), random.normal(0, 1.5, 300)
    factor = (norm.ppf(0.975) + norm.ppf(0.8)) ** 2 / 0.2**2
    every = factor * (one.var(ddof=1) / (1 - share) + other.var(ddof=1) / share)
    split = {0: 1 - share, 1: share}
    (row,) = arms(one, other).sample_size(detect=0.2, split=split).rows(named=True)
    beyond = norm.ppf(0.975) ** 2 / 2 * ((1 - share) ** 2 / share + share**2 / (1 - share))
    assert row["needed"] == ceil((every + beyond) * share)
    assert row["baseline_needed"] == ceil((every + beyond) * (1 - share))
    assert row["needed_low"] < row["needed"] < row["needed_high"]
    assert (row["share"], row["baseline_share"]) == pytest.approx((share, 1 - share))
    equal = arms(one, other).sample_size(detect=0.2)
    assert equal.select("share", "baseline_share").row(0) == (0.5, 0.5)
    assert equal["needed"].item() == equal["baseline_needed"].item()
    three = arms(one, other, other[:5]).sample_size(detect=0.2, split={0: 0.8 - 0.8 * share, 1: 0.8 * share, 2: 0.2})
    assert three.filter(arm=1).select("needed", "baseline_needed").row(0) == (row["needed"], row["baseline_needed"])
    assert three["share"].to_list() == pytest.approx([0.8 * share, 0.2, 0.2])


def test_the_power_of_unequal_arms_is_reached() -> None:
    """Welch's test sees the difference in 80 % of tests of that size, also where the small arm varies more."""
    random = np.random.default_rng(9)
    for spread in (1, 2):
        pilot = random.normal(size=(2, 4000))
        pilot = (pilot - pilot.mean(axis=1, keepdims=True)) / pilot.std(axis=1, ddof=1, keepdims=True)
        (row,) = (
            arms(pilot[0], spread * pilot[1])
            .sample_size(detect=0.5, split={0: 0.9, 1: 0.1}, resamples=1)
            .rows(named=True)
        )
        small = random.normal(0.5, spread, (4000, row["needed"]))
        large = random.normal(0, 1, (4000, row["baseline_needed"]))
        p = ttest_ind(small, large, axis=1, equal_var=False).pvalue
        assert np.mean(p < 0.05) == pytest.approx(0.8, abs=0.025)


def test_users_of_both_arms_need_no_more_than_pairs() -> None:
    """Where every user is in both arms, with one query in each, a number is needed that pairs need too, but for t."""
    random = np.random.default_rng(4)
    worth = random.normal(0, 1, 300)
    one, other = (worth + random.normal(0, 0.5, 300) for _ in range(2))
    shared = arms(one, other).frame.with_columns(user=pl.col("user") % 300)
    (joint,) = shared.irm(arm="arm", value="v", cluster="user").sample_size(detect=0.2)["needed"]
    (pairs,) = of(other - one).sample_size(detect=0.2)["needed"]
    (apart,) = arms(one, other).sample_size(detect=0.2)["needed"]
    assert abs(joint - pairs) <= 1
    assert apart > 3 * joint


def test_the_power_of_arms_is_reached() -> None:
    """Users who ask skewed numbers of queries: Welch's test of their means sees the difference four times of five."""
    random = np.random.default_rng(6)
    size = random.geometric(0.25, 40_000).astype(float)
    total = random.normal(size=40_000) * size * 0.5 + random.normal(size=40_000) * np.sqrt(size)
    user = np.repeat(np.arange(40_000), size.astype(int))
    rows = {"query": np.arange(len(user)), "user": user, "arm": user % 2, "v": (total / size)[user]}
    irm = pl.DataFrame(rows).irm(arm="arm", value="v", cluster="user")
    (needed,) = irm.sample_size(detect=0.1, resamples=1)["needed"]
    seen = np.zeros(1500)
    for i in range(len(seen)):
        drawn = random.integers(0, len(size), (2, needed))
        means = total[drawn].sum(axis=1) / size[drawn].sum(axis=1)
        apart = (total[drawn] - size[drawn] * means[:, None]) / size[drawn].mean(axis=1, keepdims=True)
        difference = means[1] - means[0] + 0.1
        seen[i] = abs(difference) > 1.96 * (apart.var(axis=1, ddof=1).sum() / needed) ** 0.5
    assert seen.mean() == pytest.approx(0.8, abs=0.03)


def judged(people: Any, machine: Any, kind: str = "polars", memory: int | None = None, **columns: Any) -> IRM[Any]:
    """Two systems that differ so on queries, the first of which people judged, and a machine all."""
    n = len(machine)
    keys = pl.DataFrame({"query": [*range(n)] * 2, "run": ["a"] * n + ["b"] * n})
    run = keys.with_columns(doc="run", score=1.0, **{name: pl.Series([*of] * 2) for name, of in columns.items()})
    sides = []
    for differences in (people, machine):
        some = keys.filter(pl.col("query") < len(differences))
        grade = pl.Series([9.0] * len(differences) + [9.0 + one for one in differences])
        sides.append(as_kind(some.select("query", doc="run", grade=grade), kind))
    irm = IRM(as_kind(run, kind), system="run", memory=memory, **{name: name for name in columns})
    return irm.judge(sides[0], proxy=sides[1])


def test_a_machine_that_says_the_same_of_all_needs_as_many_people() -> None:
    """Lambda is 0, and the number is that of people alone, with its interval, however many queries there are."""
    differences = np.random.default_rng(8).normal(0, 1, 40)
    plain = of(differences).sample_size(detect=[0.3, 0.6], n_tests=2, resamples=100)
    for n_all in (200, 5000):
        found = judged(differences, np.full(90, 0.3)).sample_size(
            "dcg@1", detect=[0.3, 0.6], n_tests=2, resamples=100, n_all=n_all
        )
        same = ("detect", "n", "n_units", "needed", "needed_low", "needed_high")
        assert_frame_equal(found.select(same), plain.select(same))
        assert found.select("n_all", "reason").unique().rows() == [(n_all, None)]


def test_a_machine_that_agrees_with_people_needs_few_of_them() -> None:
    """Of so many queries that they all show the difference, and few only, none where even all of them are too few."""
    differences = np.random.default_rng(9).normal(0, 1, 400)
    irm, (alone,) = judged(differences[:40], differences), of(differences).sample_size(detect=0.2)["needed"]
    found = [irm.sample_size("dcg@1", detect=0.2, n_all=n, resamples=50) for n in (alone * 4, alone + 60, alone - 60)]
    needed = [one["needed"].item() for one in found]
    assert 5 <= needed[0] < needed[1] < alone
    assert needed[2] is None
    reason = found[2]["reason"].item()
    assert reason.startswith(f"n_all={alone - 60}: where people judge all of them, 0.2")
    assert "seen with power=0.8; let the machine judge more" in reason
    assert irm.sample_size("dcg@1", detect=0.2, resamples=50)["n_all"].item() == 400


@pytest.mark.slow
@pytest.mark.parametrize(("agrees", "size"), [(0.9, 1), (0.5, 2)])
def test_the_power_of_few_labels_is_reached(agrees: float, size: float) -> None:
    """Where people judge as many queries as planned, the prediction-powered t-test sees the difference."""
    random = np.random.default_rng(10)

    def drawn(n: int) -> Any:
        return both(*random.normal(size=(2, n)))

    def both(people: Any, other: Any) -> Any:
        return people, size * (agrees * people + (1 - agrees**2) ** 0.5 * other)

    apart = np.linalg.qr(np.column_stack([np.ones(400), random.normal(size=(400, 2))]))[0][:, 1:]
    pilot = judged(*both(*apart.T * 399**0.5))  # of means 0, variances 1 and no covariance
    (needed,) = pilot.sample_size("dcg@1", detect=0.3, n_all=400, resamples=1)["needed"]
    seen = []
    for _ in range(1000):
        people, machine = drawn(400)
        found = ppi_mean(np.append(people[:needed] + 0.3, [np.nan] * (400 - needed)), machine)
        seen.append(found.p_value("t") <= 0.05)
    assert np.mean(seen) == pytest.approx(0.8, abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shares", "right", "detect"),
    [((0.1, 0.75, 0.15), 0.9, 0.175), ((0.04, 0.9, 0.06), 0.9, 0.1), ((0.02, 0.95, 0.03), 0.99, 0.08)],
)
def test_the_power_of_very_few_labels_is_reached(shares: tuple[float, ...], right: float, detect: float) -> None:
    """Where a good machine leaves little to people, and systems differ in few queries."""
    random = np.random.default_rng(13)

    def drawn(n: int) -> Any:
        people, other = random.choice([-1.0, 0, 1], (2, n), p=shares)
        return people, np.where(random.random(n) < right, people, other)

    people, machine = drawn(20_000)
    mean = people.mean()
    (needed,) = judged(people, machine).sample_size("dcg@1", detect=detect, n_all=2000, resamples=1)["needed"]
    alone = (1.96 + 0.84) ** 2 * people.var() / detect**2  # enough without a machine
    assert needed >= 0.97 * min(4 / (shares[0] + shares[2]), alone)  # four that differ, else so many
    seen = []
    for _ in range(400):
        people, machine = drawn(2000)
        found = ppi_mean(np.append(people[:needed] - mean + detect, [np.nan] * (2000 - needed)), machine)
        seen.append(found.p_value("t") <= 0.05)
    assert np.mean(seen) >= 0.78


def test_the_number_is_the_same_of_many_queries_and_of_more() -> None:
    """However many the machine judges, up to those that nobody can count."""
    people, other = np.random.default_rng(14).normal(0, 1, (2, 60))
    irm = judged(people, people + other)
    found = [
        irm.sample_size("dcg@1", detect=0.2, n_all=2**power, resamples=1)["needed"].item() for power in (50, 60, 62)
    ]
    assert len({*found}) == 1


@pytest.mark.parametrize("n_all", [10, 17, 48, 333])
def test_the_least_difference_that_is_said_is_seen(n_all: int) -> None:
    """The number that the reason says, given back as ``detect``, has a plan; where all are too few, none is said."""
    people, other = np.random.default_rng(15).normal(0, 1, (2, 10))
    irm = judged(people, people + other)
    reason = irm.sample_size("dcg@1", detect=0.01, n_all=n_all, resamples=1)["reason"].item()
    least = float(reason.partition("all of them, ")[2].partition(" is")[0])
    assert irm.sample_size("dcg@1", detect=least, n_all=n_all, resamples=1)["needed"].item() is not None
    (none,) = irm.sample_size("dcg@1", detect=0.01, n_all=5, n_tests=100_000, resamples=1)["reason"]
    assert none == "n_all=5: so few show no difference with n_tests=100000; let the machine judge more"


def test_clusters_and_weights_of_few_labels() -> None:
    """Clusters of three equal queries are one query each; a weight of 0 is none."""
    people, other = np.random.default_rng(11).normal(0, 1, (2, 90))
    machine, options = people + other, {"detect": 0.4, "resamples": 50}
    names = ("n_units", "n_all", "needed", "needed_low", "needed_high")
    once = judged(people[:30], machine).sample_size("dcg@1", **options).select(names)
    clusters = judged(people[:30].repeat(3), machine.repeat(3), cluster=np.arange(90).repeat(3))
    assert_frame_equal(clusters.sample_size("dcg@1", **options).select(names), once)
    more = judged(people[:30], np.append(machine, [9.0] * 10), weight=[2.0] * 90 + [0.0] * 10)
    assert_frame_equal(more.sample_size("dcg@1", **options).select(names), once)


@pytest.mark.parametrize("side", ["system", "arm"])
def test_a_difference_that_the_range_has_no_room_for_is_refused(side: Any) -> None:
    """As percent for a share, of numbers from elsewhere too; the whole range is not, nor a sum without end."""
    logs = [made_log().with_columns(run=pl.lit(run)) for run in (0, 1)]
    if side == "arm":
        logs[1] = logs[1].with_columns(pl.col("query") + "b")
    irm = pl.concat(logs).irm(**{side: "run"}, rank=None)
    said = "values of ndcg@5 are from 0 to 1, and no two are further apart than 1; give the difference in units of"
    assert f"detect=2: {said}" in error(lambda: irm.sample_size("dcg@5", "ndcg@5", detect=[0.1, 2]))
    saved = irm.per_query("ndcg@5").irm(value="value", **{side: "run"})
    assert said in error(lambda: saved.sample_size(detect=2))
    assert len(irm.sample_size("ndcg@5", "dcg@5", detect=1, resamples=5)) == 2
    assert len(irm.sample_size("dcg@5", detect=2, resamples=5)) == 1


@pytest.mark.parametrize("few", [0, 1, 4])
def test_too_few_labels_are_no_pilot(few: int) -> None:
    """Null, with the reason, as the means of ``compare`` are null."""
    found = judged(np.arange(few), np.arange(20.0)).sample_size("dcg@1", detect=0.1)
    assert found.select("n", "needed", "needed_low", "needed_high").row(0) == (few, None, None, None)
    assert found["reason"].item() == f"n_units={few}: people judged fewer than 5, which says nothing of the others"


def test_queries_that_people_judged_in_part_are_said_to_be_so() -> None:
    """The reason counts them where people judged enough queries, and few of them whole."""
    docs = pl.DataFrame({"query": np.repeat(np.arange(9), 2), "doc": [0, 1] * 9, "grade": [1, 2, 1, 1, 0, 1] * 3})
    first = docs.filter((pl.col("doc") == 0) | (pl.col("query") < 2))
    run = docs.join(pl.DataFrame({"run": ["a", "b"]}), how="cross").with_columns(score=pl.col("doc"))
    irm = run.drop("grade").irm(system="run").judge(first.filter(pl.col("query") < 7), proxy=docs)
    found = irm.sample_size("ndcg@2", detect=0.1)
    assert found.select("n", "needed").row(0) == (2, None)
    assert found["reason"].item() == (
        "n_units=2: people judged fewer than 5 with all that the metric reads: of 7 queries that they judged, 5 lack "
        "judgments of results, or of documents that the machine judged; audit() counts them"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_few_labels_in_every_kind_of_frame(kind: str) -> None:
    """The same rows, which a picture draws."""
    people, other = np.random.default_rng(12).normal(0, 1, (2, 60))
    options = {"detect": [0.4, 0.01], "power": [0.5, 0.8], "resamples": 20}
    expected = judged(people[:20], people + other).sample_size("dcg@1", **options)
    found = judged(people[:20], people + other, kind=kind).sample_size("dcg@1", **options)
    assert_frame_equal(as_polars(found), expected, check_dtypes=False)
    pieces = judged(people[:20], people + other, kind="lazy", memory=20_000).sample_size("dcg@1", **options)
    assert_frame_equal(as_polars(pieces), expected)
    assert "Queries that people judge" in str(sample_size(found, color="detect").to_dict())


def test_several_differences_and_chances_have_a_row_each() -> None:
    """In the order in which they are given, beside each other for each pair, and each as alone."""
    irm = arms(*np.random.default_rng(7).normal(size=(3, 40)))
    found = irm.sample_size(detect=[0.5, 0.2], power=(0.5, 0.9))
    assert found.select("arm", "baseline", "detect", "power").rows()[:5] == [
        *((1, 0, 0.5, 0.5), (1, 0, 0.5, 0.9), (1, 0, 0.2, 0.5), (1, 0, 0.2, 0.9)),
        (2, 0, 0.5, 0.5),
    ]
    alone = irm.sample_size(detect=0.2, power=0.9)
    assert_frame_equal(found.filter(detect=0.2, power=0.9), alone)
    assert irm.sample_size(detect=0.2, power=1e-9)["needed"].to_list() == [4] * 3


@pytest.mark.parametrize("sides", [([0.4], [0.1, 0.5, 0.9]), ([0.1, 0.5, 0.9], [0.4])])
def test_an_arm_of_one_unit_says_nothing(sides: tuple[list[float], list[float]]) -> None:
    """Neither the number nor its interval is there, though resamples draw the unit twice."""
    found = arms(*sides).sample_size(detect=0.1)
    assert found.select("needed", "needed_low", "needed_high").row(0) == (None, None, None)


def test_arms_of_one_user_are_no_pilot() -> None:
    """Null, as of pairs of one query."""
    found = arms([0.3], [0.1, 0.2]).sample_size(detect=0.1)
    assert found.select("n", "needed", "needed_low").row(0) == (2, None, None)


def test_a_pilot_that_has_enough_shows_the_difference() -> None:
    """Queries that were enough for ``mde``, which is that of a t-test, are those that are needed for it."""
    turned = [
        made_log().with_columns(run=pl.lit(run), score=pl.col("score") * sign) for run, sign in (("a", 1), ("b", -1))
    ]
    irm = pl.concat(turned).irm(system="run", rank=None)
    compared = irm.compare("ndcg@5", "rr", test="bootstrap")
    for metric, mde, n in compared.select("metric", "mde", "n").rows():
        (needed,) = irm.sample_size(metric, detect=mde)["needed"]
        assert needed == pytest.approx(n, abs=1)
        few, many = (irm.sample_size(metric, detect=mde * by)["needed"].item() for by in (2, 0.5))
        assert few == pytest.approx(n / 4, abs=3)
        assert many == pytest.approx(n * 4, abs=8)


@pytest.mark.parametrize(("ci", "least"), [(0.95, 6), (0.9, 5), (0.999, 11)])
def test_so_many_queries_that_the_test_can_reach_the_level(ci: float, least: int) -> None:
    """Of fewer, no flip of signs is rare enough, however alike the differences are; of arms fewer are enough."""
    runs = {"run": ["a", "b"] * 4, "query": [0, 0, 1, 1, 2, 2, 3, 3], "v": [0.1, 0.9, 0.2, 0.9, 0.1, 0.8, 0.2, 0.9]}
    frame = pl.DataFrame(runs)
    planned = {"detect": 0.7, "ci": ci, "n_tests": 3, "resamples": 50}
    found = frame.irm(system="run", value="v").sample_size(**planned)
    assert found.select("needed", "needed_low").row(0) == (least, least)
    assert frame.with_row_index("q").irm(query="q", arm="run", value="v").sample_size(**planned)["needed"][0] < least


def test_clusters_are_what_is_counted() -> None:
    """A pilot of 40 users with three equal queries each needs as many users as it would need queries of one each."""
    differences = np.random.default_rng(1).normal(0, 1, 40)
    alone = of(differences).sample_size(detect=0.3)
    thrice = of(np.repeat(differences, 3), cluster=np.repeat(np.arange(40), 3)).sample_size(detect=0.3)
    assert thrice.select("n", "n_units").row(0) == (120, 40)
    assert_frame_equal(thrice.select("^needed.*$"), alone.select("^needed.*$"))


@pytest.mark.parametrize("side", ["system", "arm"])
def test_a_number_that_nobody_can_count_to_is_null(side: str) -> None:
    """Of a difference next to 0."""
    irm = of([0.5, 0.1, 0.3])
    if side == "arm":
        irm = irm.frame.drop("query").with_row_index("query").irm(arm="run", value="v")
    found = irm.sample_size(detect=[1e-12, 1e-200], resamples=10)
    assert found.select("needed", "needed_high").rows()[1] == (None, None)


def test_a_weight_of_0_is_no_query() -> None:
    """Queries of weight 0 take no part; equal weights are none."""
    differences = np.random.default_rng(2).normal(0, 1, 40)
    plain = of(differences[:30]).sample_size(detect=0.3)
    weighted = of(differences, weight=[2.0] * 30 + [0.0] * 10).sample_size(detect=0.3)
    assert weighted.select("n_units", "needed").rows() == plain.select("n_units", "needed").rows()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_frame_gives_the_same(kind: str) -> None:
    """By segment, for every pair or a baseline, and for a frame that is larger than memory."""
    scores = {"a": pl.col("score"), "b": -pl.col("score"), "c": pl.col("score") % 3}
    log = pl.concat([made_log().with_columns(run=pl.lit(run), score=score) for run, score in scores.items()])
    log = log.with_columns(half=pl.col("query").str.slice(1).cast(pl.Int64) % 2)
    roles: dict[str, Any] = {"system": "run", "by": "half", "rank": None}
    expected = log.irm(**roles).sample_size("ndcg@5", "rr", detect=0.05, baseline="a", resamples=50)
    assert expected.columns[:6] == ["half", "run", "baseline", "metric", "k", "detect"]
    found = IRM(as_kind(log, kind), **roles).sample_size("ndcg@5", "rr", detect=0.05, baseline="a", resamples=50)
    assert_frame_equal(as_polars(found), expected, check_dtypes=False)
    pieces = log.lazy().irm(**roles, memory=20_000).sample_size("ndcg@5", "rr", detect=0.05, baseline="a", resamples=50)
    assert_frame_equal(pieces.collect(), expected)
    roles, options = roles | {"system": None, "arm": "run"}, {"detect": 0.05, "resamples": 50}
    log = log.with_columns(pl.concat_str("query", "run"))
    arms = log.irm(**roles).sample_size("ndcg@5", "rr", **options)
    assert_frame_equal(
        as_polars(IRM(as_kind(log, kind), **roles).sample_size("ndcg@5", "rr", **options)), arms, check_dtypes=False
    )
    assert_frame_equal(log.lazy().irm(**roles, memory=20_000).sample_size("ndcg@5", "rr", **options).collect(), arms)


def test_a_saved_baseline_is_a_pilot_too() -> None:
    """One side of the pairs may be what per_query() returned."""
    irm = of(np.random.default_rng(3).normal(0, 1, 30))
    saved = irm.frame.filter(run="a").drop("run")
    beside = irm.frame.filter(run="b").drop("run").irm(value="v").sample_size(detect=0.5, baseline=saved.irm(value="v"))
    assert beside["needed"].to_list() == irm.sample_size(detect=0.5)["needed"].to_list()


def test_what_says_nothing_of_a_spread_is_null() -> None:
    """One query has none, nor have queries, or units of arms, of which none differs."""
    assert of([0.5]).sample_size(detect=0.1).select("n", "needed", "needed_low").row(0) == (1, None, None)
    columns = ["needed", "needed_low", "needed_high"]
    assert of([0.5] * 5).sample_size(detect=0.1).select(columns).row(0) == (None,) * 3
    found = arms([0.0] * 20, [0.0] * 20).sample_size(detect=0.05)
    assert found.select(*columns, "baseline_needed").row(0) == (None,) * 4


@pytest.mark.parametrize("role", ["arm", "system"])
@pytest.mark.parametrize(("differ", "known"), [(3, False), (9, False), (10, True)])
def test_a_pilot_of_which_few_units_differ_has_no_upper_end(role: str, differ: int, known: bool) -> None:
    """Nine of forty queries that are not like the others say little of how much all vary."""
    base = [0.1 * (i % 4) for i in range(40)]
    moved = [0.2 + 0.01 * i for i in range(differ)]
    other = [0.5] * (40 - differ) + moved if role == "arm" else base[differ:] + moved
    base = base if role == "arm" else base[differ:] + [0.1] * differ
    rows = pl.DataFrame({"side": ["a"] * 40 + ["b"] * 40, "query": [*range(40)] * 2, "rr": base + other})
    rows = rows.with_columns(query=pl.int_range(pl.len())) if role == "arm" else rows
    found = rows.irm(value="rr", query="query", **{role: "side"}).sample_size(detect=0.05)
    assert found["needed"].item() > 0
    assert (found["needed_high"].item() is not None) is known


@pytest.mark.parametrize(("ci", "split", "least"), [(0.95, 0.5, (4, 4)), (0.99, 0.5, (5, 5)), (0.95, 0.9, (15, 2))])
def test_so_many_units_of_arms_that_the_test_can_reach_the_level(
    ci: float, split: float, least: tuple[int, int]
) -> None:
    """Of fewer, no exchange of units is rare enough, however alike the units of an arm are."""
    irm = arms([0.1, 0.11, 0.12], [0.1, 0.12, 0.11])
    one, other = sorted(irm.frame["arm"].unique())
    (row,) = irm.sample_size(detect=0.9, ci=ci, split={other: split, one: 1 - split}).rows(named=True)
    assert (row["needed"], row["baseline_needed"]) == least
    assert (1 + (least[0] == least[1])) / comb(sum(least), least[0]) <= 1 - ci


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"detect": 0}, "detect=0 is not a difference above 0"),
        ({"detect": "x"}, "detect='x' is not a difference above 0"),
        ({"detect": 0.1, "power": 1}, "power=1 is not a chance between 0 and 1"),
        ({"detect": [0.1, -1]}, "detect=-1 is not a difference above 0"),
        ({"detect": [0.1, 0.2, 0.1]}, "detect=0.1 is asked for twice"),
        ({"detect": 0.1, "power": (0.8, 0.8)}, "power=0.8 is asked for twice"),
        ({"detect": []}, "detect=[] is not a difference above 0"),
        ({"detect": 0.1, "power": [0.8, 2]}, "power=2 is not a chance between 0 and 1"),
        ({"detect": 0.1, "n_tests": 0}, "n_tests=0 is not a whole number from 1"),
        ({"detect": 0.1, "ci": 95}, "ci=95 is not a level"),
        ({"detect": 0.1, "ci": 1 - 1e-16}, "ci=0.9999999999999999 is so near to 1 that"),
        ({"detect": 0.1, "n_tests": 10**16}, "ci=0.95 for n_tests=10000000000000000 together is so near to 1 that"),
        (
            {"detect": 0.1, "n_tests": 10**400},
            f"n_tests=<an integer of 1329 bits> is not a whole number from 1 to {2**63 - 1}",
        ),
        ({"detect": 0.1, "n_all": 2**63}, f"n_all={2**63} is not a whole number from 5 to {2**63 - 1}"),
        ({"detect": 0.1, "n_all": 4}, "n_all=4 is not a whole number from 5"),
        ({"detect": 0.1, "n_all": 40}, "n_all=40 applies to judgments of a machine and of people"),
        ({}, "sample_size(): missing"),
    ],
)
def test_what_cannot_be_planned_is_refused(options: dict[str, Any], words: str) -> None:
    """Before anything is read."""
    assert words in error(lambda: of([0.0, 1.0]).sample_size(**options))
    rows = pl.DataFrame({"label": [1, 0], "score": [0.2, 0.3], "run": ["a", "b"], "doc": [1, 1]})
    drawn = judged([1.0, 2.0], [1.0, 2.0, 3.0])
    people = drawn.frame.select("query", "doc", grade=1.0, chance=0.5)
    chosen = drawn.frame.irm(system="run").judge(people, proxy=people.drop("chance"), sampling="chance")
    assert "sampling='chance' has a chance for each query" in error(lambda: chosen.sample_size("dcg@1", detect=0.1))
    log = pl.DataFrame({"query": [1, 2], "score": [2.0, 1.0], "grade": [1, 0], "run": ["a", "b"]})
    assert error(lambda: log.irm.sample_size("dcg@1", detect=0.1)).startswith(
        "sample_size() pairs systems query by query"
    )
    assert error(lambda: log.irm.sample_size("dcg@1", detect=0.1)).endswith(
        "for arms with queries of their own pass arm= in its place"
    )
    assert "no option 'paired'" in error(lambda: log.irm.sample_size("dcg@1", detect=0.1, paired=False))
    assert "it is irm.sample_size()" in error(lambda: log.irm.plan("dcg@1", detect=0.1))
    assert "and sample_size() needs metrics of single queries" in error(
        lambda: log.irm(system="run").sample_size("gm_map", detect=0.1)
    )
    assert "query=None was passed, but this call needs the query" in error(
        lambda: rows.irm(system="run", query=None).sample_size("roc_auc", detect=0.1)
    )


def test_a_log_of_one_arm_is_cut_in_two_at_random() -> None:
    """The error says how, by users if they are named, else by queries, and the call that it offers works."""
    rows = {"query": range(60), "user": [*range(30)] * 2, "arm": "old", "rank": 1, "label": [1, 0, 1, 1] * 15}
    irm = pl.DataFrame(rows).irm(rank="rank", arm="arm")
    for roles, unit in (({"cluster": "user"}, "user"), ({}, "query")):
        said = error(lambda roles=roles: irm(**roles).sample_size("rr", detect=0.1))
        assert said == (
            "arm has one arm, 'old'; two are needed to compare: cut those who ask in two at random, as with "
            f"arm=(pl.col({unit!r}).hash() % 2).alias('half') of polars"
        )
        halves = irm(**roles, arm=(pl.col(unit).hash() % 2).alias("half")).sample_size("rr", detect=0.1)
        assert halves.select(pl.col("n_units") + pl.col("baseline_n_units")).item() == len(irm.frame[unit].unique())


def test_the_package_says_where_verbs_are() -> None:
    """They are methods of a frame's accessor, and no functions."""
    with pytest.raises(AttributeError, match=r"it is a verb of a frame: df.irm\(...\).sample_size\(...\)"):
        frame_metrics.sample_size  # noqa: B018
    assert not hasattr(frame_metrics, "nothing_of_this_name")
    likely = pl.DataFrame({"user": [1], "qid": [1], "rank": [1], "clicked": [1]})
    assert "next: irm(query='qid', label='clicked', cluster='user')" in repr(likely.irm())
    assert "did you mean 'qid'?" in error(lambda: likely.irm().evaluate("rr"))
    arms = likely.irm(query="qid", rank="rank", label="clicked", arm="user")
    assert '.ab_test("ndcg@10"), .audit()' in repr(arms)
