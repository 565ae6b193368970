"""Arms of an online test: systems that have each their own queries, compared without pairs."""

from __future__ import annotations

from itertools import combinations
from math import sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from frame_metrics import IRM

SEEDS = range(4)
COLUMNS = (
    ["baseline", "metric", "k", "value", "baseline_value", "difference", "relative", "relative_low", "relative_high"]
    + ["ci_low", "ci_high", "p_value", "p_adjusted", "effect_size", "n", "baseline_n", "n_units", "baseline_n_units"]
    + ["n_undefined", "mde", "test", "correction"]
)
TESTS = ("randomization", "t", "z", "bootstrap")
NEEDS_UNITS = ["relative_low", "relative_high", "ci_low", "ci_high", "p_value", "p_adjusted", "mde"]


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
    found = IRM(frame, system="arm", **roles).compare(metric, paired=False, covariate=covariate, **said)
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
    """Without clusters the t-test is that of scipy for unequal variances, with its interval."""
    frame = made(seed)
    found = stats.ttest_ind(*both(frame), equal_var=False)
    row = versus(frame, test="t", ci=0.9)
    assert row["p_value"] == pytest.approx(found.pvalue, abs=1e-12)
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(tuple(found.confidence_interval(0.9)), abs=1e-12)


@pytest.mark.parametrize("sizes", [(3, 5), (4, 4), (6, 2), (2, 9)])
def test_exact_permutation_is_brute_force_and_scipys(sizes: tuple[int, int]) -> None:
    """Every way to choose the units of an arm is counted, those with what was seen among them."""
    rng = np.random.default_rng(sum(sizes))
    a, b = (rng.integers(0, 4, n) + rng.random(n).round(1) for n in sizes)
    row, every = versus(log_of({"A": a, "B": b})), np.concatenate([a, b])
    seen, far = abs(b.mean() - a.mean()), []
    for chosen in combinations(range(len(every)), len(a)):
        there = np.isin(np.arange(len(every)), chosen)
        far.append(abs(every[there].mean() - every[~there].mean()) >= seen - 1e-9)
    assert row["p_value"] == pytest.approx(np.mean(far), abs=1e-12)
    run = stats.permutation_test((a, b), lambda x, y: abs(x.mean() - y.mean()), alternative="greater", vectorized=False)
    assert row["p_value"] == pytest.approx(run.pvalue, abs=1e-12)


def test_exact_permutation_of_users_is_brute_force() -> None:
    """Users move with all their queries, and a mean is over the queries of the users chosen, less the covariate."""
    frame = made(3, users=9)
    of = frame.group_by("user").agg(pl.col("grade").sum(), pl.len(), pl.col("before").first(), pl.col("arm").first())
    total, size, before, arm = (of[name].to_numpy() for name in ("grade", "len", "before", "arm"))
    linear = (total - size * total.sum() / size.sum()) / size.mean()

    def apart(there: Any, theta: float) -> float:
        means = (total[some].sum() / size[some].sum() - theta * before[some].mean() for some in (there, ~there))
        return float(abs(np.subtract(*means)))

    for covariate in (None, "before"):
        theta = 0.0 if covariate is None else np.cov(linear, before)[0, 1] / np.var(before, ddof=1)
        chosen = [np.isin(np.arange(9), some) for some in combinations(range(9), int((arm == "A").sum()))]
        p = np.mean([apart(there, theta) >= apart(arm == "A", theta) - 1e-9 for there in chosen])
        row = versus(frame, covariate=covariate, cluster="user")
        assert row["p_value"] == pytest.approx(p, abs=1e-12)
        assert abs(row["difference"]) == pytest.approx(apart(arm == "A", theta), abs=1e-12)


def test_drawn_permutations_come_near_all() -> None:
    """Drawn p-values are (b + 1) / (n + 1), near the exact one, and other for another seed."""
    frame = log_of({"A": [1, 2, 3, 4, 5, 6], "B": [3, 5, 6, 7, 8]})
    exact = versus(frame, permutations=1000)["p_value"]
    assert exact * 462 == pytest.approx(round(exact * 462), abs=1e-9)
    drawn = [versus(frame, permutations=461, seed=seed)["p_value"] for seed in range(20)]
    assert all(p * 462 == pytest.approx(round(p * 462), abs=1e-9) for p in drawn)
    assert np.mean(drawn) == pytest.approx(exact, abs=0.01)
    assert len(set(drawn)) > 5


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


@pytest.mark.parametrize("covariate", [None, "before"])
def test_the_bootstrap_comes_near_the_delta_method(covariate: str | None) -> None:
    """With many users the intervals and the p-values of both are alike, those of the relative difference too."""
    frame = made(5, users=800)
    drawn, told = (
        versus(frame, covariate=covariate, cluster="user", test=test, resamples=4000) for test in ("bootstrap", "z")
    )
    width = told["ci_high"] - told["ci_low"]
    for name in ("ci_low", "ci_high", "relative_low", "relative_high"):
        assert drawn[name] == pytest.approx(told[name], abs=0.06 * width)
    assert drawn["p_value"] == pytest.approx(told["p_value"], abs=0.05)
    assert drawn["mde"] == told["mde"]


def test_a_weight_is_a_cluster_of_as_many() -> None:
    """A query of weight 3 is a cluster with the query three times, but for the counts of queries and the effect size."""
    a, b, w = [1, 2, 4, 3], [2, 5, 3], [1, 3, 2, 1, 1, 2, 3]
    weighed = log_of({"A": a, "B": b}, weight=w)
    times = [a for a, n in zip([*a, *b], w, strict=True) for _ in range(n)]
    often = log_of({"A": times[:7], "B": times[7:]}, user=np.repeat(np.arange(7), w))
    for test in TESTS:
        one = versus(weighed, weight="weight", test=test)
        other = versus(often, cluster="user", test=test)
        same = {name: value for name, value in one.items() if name not in ("n", "baseline_n", "effect_size")}
        assert same == pytest.approx({name: other[name] for name in same}, abs=1e-12)
    assert (one["n"], one["n_units"]) == (3, 3)
    assert versus(weighed.with_columns(weight=7.0), weight="weight") == pytest.approx(versus(weighed), abs=1e-12)


# What is measured


def test_means_are_those_of_by() -> None:
    """Each arm has the mean and the counts that evaluate gives with the arm in by=, in each segment."""
    frame = made(1).with_columns(device=pl.col("query") % 3, grade=pl.col("grade").round(0).cast(pl.Int64))
    metrics = ("dcg@1", "rr", "precision@1")
    found = frame.irm(system="arm", by="device", cluster="user").compare(*metrics, paired=False)
    told = frame.irm(by=["device", "arm"], cluster="user").evaluate(*metrics, average="macro")
    means = {row[:3]: row[3:] for row in told.select("device", "arm", "metric", "value", "n").rows()}
    for row in found.rows(named=True):
        value, n = means[row["device"], "B", row["metric"]]
        base, baseline_n = means[row["device"], "A", row["metric"]]
        assert (row["value"], row["baseline_value"]) == pytest.approx((value, base), abs=1e-12)
        assert (row["n"], row["baseline_n"]) == (n, baseline_n)
    assert found["device"].to_list() == [0] * 3 + [1] * 3 + [2] * 3
