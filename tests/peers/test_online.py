"""Online tests beside tea-tasting: means, ratios of users, CUPED, and the split between arms.

Users of both arms are beside statsmodels: a regression whose errors are clustered by user.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
import tea_tasting as tt
from scipy import stats
from statsmodels.regression.linear_model import OLS, WLS

from frame_metrics import IRM
from inside import chi_square

SEEDS = range(3)
Z = stats.norm.isf(0.025)
OURS = {
    "control": "baseline_value",
    "treatment": "value",
    "effect_size": "difference",
    "effect_size_ci_lower": "ci_low",
    "effect_size_ci_upper": "ci_high",
    "rel_effect_size": "relative",
    "rel_effect_size_ci_lower": "relative_low",
    "rel_effect_size_ci_upper": "relative_high",
    "pvalue": "p_value",
}


def searches(seed: int) -> pl.DataFrame:
    """Five results of each search of 300 users, two thirds of them in A, and what each user had before."""
    rng = np.random.default_rng(seed)
    users = 300
    worth, arm = rng.normal(size=users), np.where(rng.random(users) < 2 / 3, "A", "B")
    user = np.repeat(np.arange(users), 1 + rng.poisson(np.exp(worth / 3)))
    query = np.repeat(np.arange(len(user)), 5)
    score, ease = rng.normal(size=len(query)), worth[user] + (arm[user] == "B") / 10
    grade = np.clip(score + ease[query] + rng.normal(size=len(query)), 0, 3).astype(int)
    before = (worth + rng.normal(size=users)).round(3)
    held = {"user": user[query], "arm": arm[user][query], "before": before[user][query]}
    return pl.DataFrame({"query": query, "score": score, "grade": grade, **held})


def theirs(units: pl.DataFrame, metric: Any) -> dict[str, Any]:
    """The result of tea-tasting, of B against A."""
    return dict(tt.Experiment({"metric": metric}, variant="arm").analyze(units, control="A")["metric"]._asdict())


def agree(
    log: pl.DataFrame, metric: str, their: dict[str, Any], covariate: str | None, test: Any, **roles: Any
) -> None:
    """Compare all that both tell."""
    found = IRM(log, arm="arm", **roles).ab_test(metric, baseline="A", covariate=covariate, test=test)
    row = found.row(0, named=True)
    assert {ours: row[ours] for ours in OURS.values()} == pytest.approx(
        {ours: their[name] for name, ours in OURS.items()}, abs=1e-10
    )


@pytest.mark.parametrize("metric", ["ndcg@5", "rr", "precision@2"])
@pytest.mark.parametrize("covariate", [None, "before"])
@pytest.mark.parametrize("test", ["t", "z"])
@pytest.mark.parametrize("seed", SEEDS)
def test_ratios_of_users(seed: int, test: str, covariate: str | None, metric: str) -> None:
    """A mean over the searches of users is their RatioOfMeans, the difference, the relative one, intervals and p."""
    log = searches(seed)
    each = log.irm.per_query(metric).join(log.unique("query").select("query", "user", "arm", "before"), on="query")
    users = each.group_by("user", "arm").agg(pl.col("value").sum(), size=pl.len(), before=pl.col("before").first())
    their = theirs(users, tt.RatioOfMeans("value", "size", covariate, use_t=test == "t"))
    agree(log, metric, their, covariate, test, cluster="user")


@pytest.mark.parametrize("covariate", [None, "before"])
@pytest.mark.parametrize("seed", SEEDS)
def test_means_of_queries(seed: int, covariate: str | None) -> None:
    """Without users each search is a unit, and the mean is their Mean."""
    log = searches(seed)
    each = log.irm.per_query("ndcg@5").join(log.unique("query").select("query", "arm", "before"), on="query")
    agree(log, "ndcg@5", theirs(each, tt.Mean("value", covariate)), covariate, "t")


@pytest.mark.parametrize("seed", SEEDS)
def test_weights_are_ratios_too(seed: int) -> None:
    """A weighted mean is the ratio of the weighted sum and the weight."""
    log = searches(seed).with_columns(weight=1 + pl.col("query") % 4)
    each = log.irm.per_query("rr").join(log.unique("query").select("query", "user", "arm", "weight"), on="query")
    weighed = each.with_columns(value=pl.col("value") * pl.col("weight"))
    users = weighed.group_by("user", "arm").agg(pl.col("value", "weight").sum())
    agree(log, "rr", theirs(users, tt.RatioOfMeans("value", "weight")), None, "t", cluster="user", weight="weight")


@pytest.mark.parametrize("ratio", [1, 0.5, 3])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_split_of_two_arms(seed: int, ratio: float) -> None:
    """The chi-square test of two shares is their normal test of one."""
    users = searches(seed).unique("user").select("arm", "user")
    their = theirs(users, tt.SampleRatio(ratio, method="norm", correction=False))
    share = ratio / (1 + ratio)
    assert chi_square(np.array([their["control"], their["treatment"]]), np.array([1 - share, share])) == pytest.approx(
        their["pvalue"], abs=1e-10
    )
    log = searches(seed).irm(arm="arm", cluster="user")
    told = log.audit(split={"A": 1 - share, "B": share}).filter(check="units split")["message"].item()
    assert f"A has {their['control']}, B has {their['treatment']} clusters (user)" in told
    assert f"p is {their['pvalue']:.2g} " in told


def in_both(seed: int, share: float) -> pl.DataFrame:
    """Searches of 80 users, of whom such a share is in both arms, each with 1 to 29 searches in an arm, in two days."""
    rng = np.random.default_rng([seed, int(100 * share)])
    users, worth = np.arange(80), rng.normal(size=80)
    stands = [(u, arm) for u in users for arm in ("AB" if u < 80 * share else "AB"[u % 2])]
    rows = [one for one in stands for _ in range(rng.integers(1, 30))]
    user, arm = (np.array([row[i] for row in rows]) for i in (0, 1))
    value = 5 + worth[user] + rng.normal(size=len(rows)) + (arm == "B") / 10
    columns = {"user": user, "arm": arm, "v": value, "before": (worth + rng.normal(size=80))[user]}
    frame = pl.DataFrame(columns | {"w": rng.integers(1, 4, len(rows)), "day": rng.integers(0, 2, len(rows))})
    return frame.with_columns(query=pl.int_range(pl.len()))


def clustered(frame: pl.DataFrame, value: str, weight: str | None) -> tuple[Any, Any]:
    """The means of B and A and their covariance by statsmodels, each arm's units n with the factor n / (n - 1)."""
    arms = np.column_stack([frame["arm"] == arm for arm in "BA"]).astype(float)
    model = WLS(frame[value].to_numpy(), arms, weights=np.ones(len(frame)) if weight is None else frame[weight])
    user = frame["user"].to_numpy()
    found = model.fit(cov_type="cluster", cov_kwds={"groups": user, "use_correction": False})
    n = np.array([frame.filter(arm=arm)["user"].n_unique() for arm in "BA"])
    factor = np.sqrt(n / (n - 1))
    return np.asarray(found.params), np.asarray(found.cov_params()) * np.outer(factor, factor)


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("share", [0, 0.4, 1])
@pytest.mark.parametrize("seed", SEEDS)
def test_users_of_both_arms_are_clusters_of_a_regression(seed: int, share: float, weight: str | None) -> None:
    """The difference, its error and that of the logarithm of the ratio follow from their covariance of both means."""
    frame = in_both(seed, share)
    irm = IRM(frame, query="query", arm="arm", value="v", cluster="user", weight=weight, by="day")
    found = irm.ab_test(baseline="A", test="z")
    for row in found.rows(named=True):
        means, covariance = clustered(frame.filter(day=row["day"]), "v", weight)
        assert (row["value"], row["baseline_value"]) == pytest.approx(tuple(means), abs=1e-9)
        contrast, ratio = np.array([1, -1]), means[0] / means[1]
        error, relative = (np.sqrt(one @ covariance @ one) for one in (contrast, contrast / means))
        assert row["ci_high"] - row["difference"] == pytest.approx(Z * error, abs=1e-9)
        assert row["p_value"] == pytest.approx(2 * stats.norm.sf(abs(means[0] - means[1]) / error), abs=1e-9)
        assert row["relative_high"] == pytest.approx(ratio * np.exp(Z * relative) - 1, abs=1e-9)


@pytest.mark.parametrize("share", [0.4, 1])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_covariate_of_users_of_both_arms(seed: int, share: float) -> None:
    """Of users with one search in an arm, it is a regression of what the slope leaves; the slope is that of parts."""
    frame = in_both(seed, share).unique(["user", "arm"], maintain_order=True)
    irm = IRM(frame, query="query", arm="arm", value="v", cluster="user")
    plain, row = (irm.ab_test(baseline="A", test="z", covariate=one) for one in (None, "before"))
    if share == 1:  # the mean covariates are the same, and explain no difference
        assert row.equals(plain)
        return
    centred = frame.with_columns(pl.col("v", "before") - pl.col("v", "before").mean().over("arm"))
    sign = pl.when(arm="B").then(1.0).otherwise(-1.0) / pl.len().over("arm")
    parts = centred.with_columns(pl.col("v", "before") * sign).group_by("user").agg(pl.col("v", "before").sum())
    theta = float(OLS(parts["v"].to_numpy(), parts["before"].to_numpy()).fit().params[0])
    means, covariance = clustered(frame.with_columns(left=pl.col("v") - theta * pl.col("before")), "left", None)
    error = np.sqrt(np.array([1, -1]) @ covariance @ np.array([1, -1]))
    assert row["difference"].item() == pytest.approx(means[0] - means[1], abs=1e-9)
    assert (row["ci_high"] - row["difference"]).item() == pytest.approx(Z * error, abs=1e-9)
    assert row["mde"].item() < plain["mde"].item()
