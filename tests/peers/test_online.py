"""Online tests beside tea-tasting: means, ratios of users, CUPED, and the split between arms."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
import tea_tasting as tt

from frame_metrics import IRM
from inside import chi_square

SEEDS = range(3)
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
    found = IRM(log, system="arm", **roles).compare(metric, paired=False, baseline="A", covariate=covariate, test=test)
    row = found.row(0, named=True)
    assert {ours: row[ours] for ours in OURS.values()} == pytest.approx(
        {ours: their[name] for name, ours in OURS.items()}, abs=1e-10
    )


@pytest.mark.parametrize("metric", ["ndcg@5", "rr", "precision@2"])
@pytest.mark.parametrize("covariate", [None, "before"])
@pytest.mark.parametrize("test", ["t", "z"])
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.grid(12)
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
@pytest.mark.grid(2)
def test_the_split_of_two_arms(seed: int, ratio: float) -> None:
    """The chi-square test of two shares is their normal test of one."""
    users = searches(seed).unique("user").select("arm", "user")
    their = theirs(users, tt.SampleRatio(ratio, method="norm", correction=False))
    share = ratio / (1 + ratio)
    assert chi_square(np.array([their["control"], their["treatment"]]), np.array([1 - share, share])) == pytest.approx(
        their["pvalue"], abs=1e-10
    )
    log = searches(seed).irm(system="arm", cluster="user")
    told = log.audit(split={"A": 1 - share, "B": share}).filter(check="units split")["message"].item()
    assert f"A has {their['control']}, B has {their['treatment']} clusters (user)" in told
    assert f"p is {their['pvalue']:.2g} " in told
