"""Systems compared where queries have weights: weighted means, what is drawn of them, and tests that take none."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from comparisons import robust_error
from frame_metrics import IRM, NotComputableError
from helpers import error

DRAWN = ("randomization", "bootstrap")
FEW: dict[str, Any] = {"permutations": 500, "resamples": 400}


def drawn(seed: int, n: int = 24, systems: int = 2) -> tuple[Any, Any]:
    """Values of queries by system, and their weights, some of them 0."""
    rng = np.random.default_rng(seed)
    values = np.round(rng.random((n, systems)) * 5 + np.arange(systems) / 2 + 1, 2)
    return values, np.where(rng.random(n) < 0.2, 0, np.round(rng.random(n) * 9, 1))


def frame_of(values: Any, weight: Any, **columns: Any) -> pl.DataFrame:
    """A log whose cg@1 is the values themselves."""
    n, systems = values.shape
    more = {"visits": weight, **columns}
    return pl.DataFrame(
        {
            "system": np.repeat([f"s{i}" for i in range(systems)], n),
            "query": np.tile(np.arange(n), systems),
            "grade": values.T.ravel(),
            "score": np.ones(n * systems),
            **{name: np.tile(column, systems) for name, column in more.items()},
        }
    )


def row_of(values: Any, weight: Any, **options: Any) -> dict[str, Any]:
    """The only row of a comparison; ``cluster`` is the cluster of each query."""
    cluster = options.pop("cluster", None)
    more = {} if cluster is None else {"user": cluster}
    irm = IRM(frame_of(values, weight, **more), system="system", weight="visits", cluster="user" if more else None)
    found = irm.compare("cg@1", **FEW | options)
    assert len(found) == 1
    return found.row(0, named=True)


@pytest.mark.parametrize("test", DRAWN)
@pytest.mark.parametrize("cluster", [None, np.arange(24) // 3], ids=["queries", "clusters"])
def test_equal_weights_are_none(test: str, cluster: Any) -> None:
    """Where all queries weigh the same nothing changes, whatever they weigh, up to the greatest numbers."""
    values, _ = drawn(5)
    more = {} if cluster is None else {"user": cluster}
    frame = frame_of(values, np.ones(24), **more)
    plain = IRM(frame, system="system", cluster="user" if more else None).compare("cg@1", test=test, **FEW)  # type: ignore[arg-type]
    for size in (1.0, 0.3, 1e-300, 1e150):
        row = row_of(values, np.full(24, size), test=test, cluster=cluster)
        for name, value in plain.row(0, named=True).items():
            assert row[name] == (pytest.approx(value, rel=1e-9) if isinstance(value, float) else value), name


@pytest.mark.slow
@pytest.mark.parametrize("cluster", [np.arange(30), np.arange(30) // 3], ids=["queries", "clusters"])
def test_the_definition_of_a_robust_error_is_that_of_statsmodels(cluster: Any) -> None:
    """It is what a weighted regression on a constant has, with robust errors or by clusters."""
    from statsmodels.api import WLS

    values, _ = drawn(1, n=30)
    apart, weight = values[:, 1] - values[:, 0], np.random.default_rng(1).random(30) + 0.1
    theirs = WLS(apart, np.ones(30), weights=weight).fit(cov_type="cluster", cov_kwds={"groups": cluster}).bse[0]
    parts = np.bincount(cluster, weight * (apart - np.average(apart, weights=weight)))
    ours = robust_error(parts.tolist(), weight.sum())
    assert ours == pytest.approx(theirs, rel=1e-9)
    if len(set(cluster)) == 30:
        theirs = WLS(apart, np.ones(30), weights=weight).fit(cov_type="HC1").bse[0]
        assert ours == pytest.approx(theirs, rel=1e-9)


def test_effect_size_divides_by_the_weighted_deviation() -> None:
    """Queries of whole weights have, but for what is lost to their own mean, the deviation of repeated ones."""
    values, _ = drawn(2, n=10)
    weight = np.array([1, 2, 3, 1, 2, 3, 1, 2, 3, 0.0])
    apart = values[:, 1] - values[:, 0]
    often = np.repeat(apart, weight.astype(int))
    spread = np.sqrt(((often - often.mean()) ** 2).sum() / (18 - (weight**2).sum() / 18))
    assert row_of(values, weight)["effect_size"] == pytest.approx(often.mean() / spread, rel=1e-9)


@pytest.mark.parametrize("test", DRAWN)
def test_fewer_than_two_queries_that_weigh(test: str) -> None:
    """One query that weighs has a difference and nothing sure of it; none that does leaves null."""
    values, _ = drawn(4, n=6)
    one = row_of(values, np.array([0, 0, 2.0, 0, 0, 0]), test=test)
    assert one["difference"] == pytest.approx(values[2, 1] - values[2, 0], rel=1e-12)
    assert [one[name] for name in ("ci_low", "ci_high", "mde", "effect_size")] == [None] * 4
    assert one["p_value"] == 1
    none = row_of(values, np.zeros(6), test=test)
    assert [none[name] for name in ("value", "difference", "ci_low", "p_value", "p_adjusted", "mde")] == [None] * 6
    assert none["n"] == 6


@pytest.mark.parametrize("test", DRAWN)
def test_one_cluster_that_weighs_leaves_null(test: str) -> None:
    """Where only the queries of one cluster weigh there is nothing to draw."""
    values, _ = drawn(4, n=6)
    row = row_of(values, np.array([1, 2, 3.0, 0, 0, 0]), test=test, cluster=np.array([0, 0, 0, 1, 1, 2]))
    assert [row[name] for name in ("ci_low", "ci_high", "p_value", "mde")] == [None] * 4
    assert row["difference"] is not None
    assert row["effect_size"] is not None


@pytest.mark.parametrize("test", ["t", "wilcoxon", "sign"])
def test_tests_without_a_weighted_form_refuse(test: str) -> None:
    """The t-test, Wilcoxon's and the sign test count every query alike, and say what to do."""
    values, weight = drawn(0)
    said = error(lambda: row_of(values, weight, test=test), NotComputableError)
    assert said == (
        f"test={test!r} counts every query alike, and visits is their weight; "
        "pass test= as one of 'randomization', 'bootstrap', or weight=None"
    )
    frame = frame_of(values, weight)
    assert len(IRM(frame, system="system", weight="visits")(weight=None).compare("cg@1", test=test)) == 1  # type: ignore[arg-type]


def test_segments_and_systems_have_their_own_weights() -> None:
    """A pair has in each segment the row that it has alone."""
    values, weight = drawn(6, n=30, systems=3)
    frame = frame_of(values, weight, day=np.arange(30) % 2)
    irm = IRM(frame, system="system", weight="visits", by="day")
    found = irm.compare("cg@1", "rr", correction="none", **FEW)
    assert len(found) == 12
    for row in found.iter_rows(named=True):
        here = frame.filter(pl.col("day") == row["day"], pl.col("system").is_in([row["system"], row["baseline"]]))
        alone = IRM(here, system="system", weight="visits").compare("cg@1", "rr", correction="none", **FEW)
        (other,) = alone.filter(pl.col("metric") == row["metric"]).iter_rows(named=True)
        for name, value in (other | {"n_tests": 3, "correction": "none"}).items():
            assert row[name] == (pytest.approx(value, rel=1e-9) if isinstance(value, float) else value), name


@pytest.mark.parametrize("test", DRAWN)
@pytest.mark.slow
def test_weighted_p_values_are_fair_where_nothing_differs(test: str) -> None:
    """Of systems that are equally good about one in ten has a p-value up to 0.1, where great weights vary more too."""
    rng, n, each = np.random.default_rng(8), 600, 40
    weight = rng.gamma(2.0, size=n * each) + 0.1
    values = 5 + rng.normal(size=(n * each, 2)) * np.sqrt(weight)[:, None] / 4
    frame = frame_of(values, weight, day=np.repeat(np.arange(n), each))
    irm = IRM(frame, system="system", weight="visits", by="day")
    p = irm.compare("cg@1", test=test, permutations=199, resamples=199)["p_value"].to_numpy()  # type: ignore[arg-type]
    assert 0.07 < (p <= 0.1).mean() < 0.15
    assert 0.4 < p.mean() < 0.6


@pytest.mark.slow
def test_mde_is_found_four_times_in_five() -> None:
    """A shift of the size of mde is significant in about 80 % of the samples, where great weights vary more too."""
    rng, n, each = np.random.default_rng(9), 400, 200
    weight = rng.gamma(2.0, size=n * each) + 0.1
    noise = rng.normal(size=n * each) * np.sqrt(weight)
    values = np.column_stack([np.full(n * each, 20.0), 20 + noise])
    days = np.repeat(np.arange(n), each)
    irm = IRM(frame_of(values, weight, day=days), system="system", weight="visits", by="day")
    shift = irm.compare("cg@1", permutations=99, resamples=1)["mde"].mean()
    moved = IRM(frame_of(values + [0, shift], weight, day=days), system="system", weight="visits", by="day").compare(
        "cg@1", permutations=999, resamples=1
    )
    assert 0.74 < (moved["p_value"] < 0.05).mean() < 0.86
