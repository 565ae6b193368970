"""Rows without a query compared: systems paired by document, and systems each with chance or the majority."""

from __future__ import annotations

import sys
from math import comb, erfc, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars import testing as pl_testing
from scipy import stats

from frame_metrics import IRM, NotComputableError
from helpers import KINDS, as_kind, as_polars, error, pairwise_cases, ready, same_rows
from inside import REGISTRY, Classes, FullConfusion, FullScores, fisher, mcnemar, share_of
from refusals import check

Z80 = 1.959963984540054 + 0.8416212335729143  # normal quantiles at .975 and .8, from tables of the normal distribution
SHARES = ("accuracy", "error_rate", "recall", "miss_rate", "specificity", "fallout", "coverage", "bias", "cost")
LESS = ("error_rate", "miss_rate", "fallout", "cost")  # of which less is better
RELEVANT, OTHERS = ("recall", "miss_rate"), ("specificity", "fallout")
SURE = ["ci_low", "ci_high", "p_value", "mde"]
FEW: dict[str, Any] = {"resamples": 200}


def drawn(n: int = 60, systems: int = 2, seed: int = 0, undecided: float = 0.0) -> pl.DataFrame:
    """Rows of systems about the same documents: true labels, decisions, scores with ties."""
    rng = np.random.default_rng(seed)
    label = rng.random(n) < 0.4
    frames = []
    for i in range(systems):
        score = np.round(label * (0.6 + 0.5 * i) + rng.normal(size=n), 1)
        said = pl.Series(score > 0.5).set(pl.Series(rng.random(n) < undecided), None)
        rows = {"label": label, "predicted": said, "score": score}
        frames.append(pl.DataFrame({"system": "abcdef"[i], "doc": np.arange(n), **rows}))
    return pl.concat(frames)


def irm_of(frame: Any, **roles: Any) -> IRM[Any]:
    """What compares the systems of such rows."""
    return IRM(frame, **{"system": "system", "doc": "doc", **roles})


def row_of(frame: Any, metric: str, roles: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
    """The only row of a comparison."""
    (row,) = irm_of(frame, **roles or {}).compare(metric, **FEW | options).iter_rows(named=True)
    return dict(row)


def sides(frame: pl.DataFrame, column: str, systems: str = "ba") -> list[Any]:
    """What two systems say of the rows, by document."""
    return [frame.filter(system=name).sort("doc")[column].to_numpy() for name in systems]


def shuffled(frame: pl.DataFrame) -> pl.DataFrame:
    """The same rows in another order."""
    return frame.sample(fraction=1, shuffle=True, seed=3)


# McNemar's test


@pytest.mark.parametrize(
    ("wins", "losses", "p"),
    [(0, 0, 1.0), (3, 3, 1.0), (1, 0, 1.0), (5, 0, 1 / 16), (1, 7, 9 / 128), (2, 8, 7 / 64), (12, 5, 9402 / 65536)],
)
def test_mcnemar_by_hand(wins: int, losses: int, p: float) -> None:
    """Rows that only one system decides rightly, and the p-value from the row of Pascal's triangle."""
    right = [[1, 0]] * wins + [[0, 1]] * losses + [[1, 1], [0, 0]]
    table = np.array(right, bool)
    n = len(table)
    ids = {"system": ["b"] * n + ["a"] * n, "doc": [*range(n)] * 2}
    frame = pl.DataFrame({**ids, "label": [True] * (2 * n), "predicted": table.T.ravel()})
    for metric in ("accuracy", "recall"):
        row, exact = row_of(frame, metric), row_of(frame, metric, test="mcnemar")
        assert (row["wins"], row["ties"], row["losses"], row["n"]) == (wins, 2, losses, n)
        assert exact["p_value"] == pytest.approx(p, rel=1e-12)
        same = comb(wins + losses, wins) / 2 ** (wins + losses) if wins + losses else 0  # as likely as what was seen
        assert row["p_value"] == pytest.approx(p - (same / 2 if wins == losses else same), rel=1e-10)
        assert row["difference"] == pytest.approx((wins - losses) / n, abs=1e-12)
        assert (row["test"], exact["test"]) == ("mcnemar_mid_p", "mcnemar")
    of_errors = row_of(frame, "error_rate")
    assert (of_errors["wins"], of_errors["losses"]) == (wins, losses)  # less of it is better


def in_share(metric: str, said: Any, label: Any) -> Any:
    """Mark the rows that are in a share, by what is said of them, None for nothing, and their labels."""
    none, one = (np.array([value is what for value in said.tolist()]) for what in (None, True))
    return {
        "accuracy": (one == label) & ~none,
        "error_rate": (one != label) | none,
        "cost": (one & ~label) | (~one & label),
        "coverage": ~none,
        "bias": one,
        "recall": one & label,
        "miss_rate": ~one & label,
        "specificity": ~one & ~none & ~label,
        "fallout": one & ~label,
    }[metric]


@pytest.mark.parametrize("metric", SHARES)
@pytest.mark.parametrize("undecided", [0.0, 0.3])
def test_shares_of_rows_get_mcnemars_test(metric: str, undecided: float) -> None:
    """The p-value is scipy's binomial test of the rows that only one of two systems has in the share."""
    for seed in range(3):
        frame = drawn(seed=seed, undecided=undecided)
        label = sides(frame, "label")[0]
        first, second = (in_share(metric, said, label) for said in sides(frame, "predicted"))
        about = label if metric in RELEVANT else ~label if metric in OTHERS else np.ones(60, bool)
        more, less = int((first & ~second).sum()), int((second & ~first).sum())
        wins, losses = (less, more) if metric in LESS else (more, less)
        row = row_of(frame, metric, test="mcnemar")
        assert row["test"] == "mcnemar"
        assert (row["wins"], row["losses"], row["ties"]) == (wins, losses, about.sum() - wins - losses)
        expected = stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1
        assert row["p_value"] == pytest.approx(expected, rel=1e-10)
        assert row["difference"] == pytest.approx((more - less) / about.sum(), abs=1e-12)
        differs = (first.astype(float) - second)[about]
        if differs.std():
            assert row["effect_size"] == pytest.approx(differs.mean() / differs.std(ddof=1), abs=1e-9)


@pytest.mark.parametrize("n", [1_000, 100_000, pytest.param(3_000_000, marks=pytest.mark.slow)])
def test_mcnemar_of_many_rows_is_scipys(n: int) -> None:
    """The p-value of many rows is right from 1 to what a float can hardly hold."""
    for share in (0.5, 0.499, 0.49, 0.45):
        losses = int(n * share)
        expected = stats.binomtest(losses, n).pvalue
        assert mcnemar(n - losses, losses) == pytest.approx(expected, rel=1e-7, abs=1e-300)


def test_exact_tests_of_ten_billion_rows() -> None:
    """Only outcomes near the mean are looked at; there the normal distribution says the same."""
    n = 5_000_000_000
    cases = pl.DataFrame({"doc": [*"abcd"], "label": [1, 1, 0, 0], "n": [n + 200_000, n, n, n]})
    irm = cases.with_columns(predicted=pl.Series([1, 0, 1, 0])).irm(count="n", query=None)
    (row,) = irm.compare("informedness", against="chance", resamples=2).to_dicts()
    assert row["p_value"] == pytest.approx(erfc(200_000 / sqrt(4 * n) / sqrt(2)), rel=1e-3)
    assert mcnemar(n + 100_000, n) == pytest.approx(erfc(100_000 / sqrt(2 * n) / sqrt(2)), rel=1e-3)
    assert mcnemar(3 * n, n) == 0


@pytest.mark.slow
def test_mcnemar_is_that_of_statsmodels() -> None:
    """The exact test of statsmodels has the same p-value; the default has half of what its own counts have."""
    from statsmodels.stats import contingency_tables

    for seed in range(5):
        frame = drawn(seed=seed)
        row = row_of(frame, "accuracy", test="mcnemar")
        table = [[0, row["wins"]], [row["losses"], 0]]
        assert row["p_value"] == pytest.approx(contingency_tables.mcnemar(table, exact=True).pvalue, rel=1e-12)
        few = stats.binom(row["wins"] + row["losses"], 0.5)
        fewer = min(row["wins"], row["losses"])
        assert row_of(frame, "accuracy")["p_value"] == pytest.approx(2 * few.cdf(fewer) - few.pmf(fewer), rel=1e-12)


def test_a_metric_is_a_share_of_rows_or_none() -> None:
    """The registry's shares of rows, of two classes and of several, and no other metric."""
    tables = [m for m in REGISTRY.values() if m.input.__name__ in ("FullConfusion", "Classes")]
    two = {metric.name for metric in tables if share_of(ready(metric), binary=True) is not None}
    assert two == {*SHARES, "prevalence"}
    several = {metric.name for metric in tables if share_of(ready(metric), binary=False) is not None}
    assert several == {"accuracy", "error_rate", "coverage"}
    assert share_of(REGISTRY["cost"](fp=2), binary=True) is None


def test_several_classes() -> None:
    """Accuracy of several classes has McNemar's test; a mean over classes has the bootstrap."""
    rng = np.random.default_rng(0)
    label = rng.choice(["x", "y", "z"], 90)
    said = [np.where(rng.random(90) < right, label, rng.choice(["x", "y", "z"], 90)) for right in (0.3, 0.6)]
    frame = pl.concat(
        pl.DataFrame({"system": name, "doc": np.arange(90), "label": label, "predicted": one})
        for name, one in zip("ab", said, strict=True)
    )
    row, recall = row_of(frame, "accuracy", test="mcnemar"), row_of(frame, "recall")
    wins, losses = ((said[1] == label) & (said[0] != label)).sum(), ((said[0] == label) & (said[1] != label)).sum()
    assert (row["wins"], row["losses"], row["test"]) == (wins, losses, "mcnemar")
    assert row["p_value"] == pytest.approx(stats.binomtest(int(wins), int(wins + losses)).pvalue, rel=1e-10)
    assert (recall["test"], recall["wins"], recall["effect_size"]) == ("bootstrap", None, None)
    means = IRM(frame, system="system").evaluate("recall")["value"]
    assert [recall["baseline_value"], recall["value"]] == pytest.approx(means.to_list(), rel=1e-12)


# DeLong's test


def by_delong(score: Any, label: Any) -> tuple[float, float]:
    """Difference of two areas and its variance, from all pairs of a relevant row and another."""
    good, bad = score[:, label], score[:, ~label]
    wins = (good[:, :, None] > bad[:, None]) + 0.5 * (good[:, :, None] == bad[:, None])
    covariance = np.cov(wins.mean(axis=2)) / good.shape[1] + np.cov(wins.mean(axis=1)) / bad.shape[1]
    area = wins.mean(axis=(1, 2))
    return area[0] - area[1], covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("metric", "slope"), [("roc_auc", 1), ("gini", 2)])
def test_areas_get_delongs_test(metric: str, slope: int, seed: int) -> None:
    """Interval, p-value and mde of a difference of areas are those of its variance, worked pair by pair."""
    frame = drawn(seed=seed)
    difference, variance = by_delong(np.stack(sides(frame, "score")), sides(frame, "label")[0])
    spread = slope * sqrt(variance)
    row = row_of(frame, metric)
    assert row["test"] == "delong"
    assert row["difference"] == pytest.approx(slope * difference, abs=1e-12)
    assert row["p_value"] == pytest.approx(erfc(abs(difference) / sqrt(2 * variance)), rel=1e-9)
    assert row["ci_low"] == pytest.approx(slope * difference - 1.959963984540054 * spread, abs=1e-9)
    assert row["ci_high"] == pytest.approx(slope * difference + 1.959963984540054 * spread, abs=1e-9)
    assert row["mde"] == pytest.approx(Z80 * spread, rel=1e-9)
    assert (row["wins"], row["effect_size"]) == (None, None)


def test_scores_that_order_rows_alike_have_no_interval() -> None:
    """Twice the scores make the same ranking: the interval of the difference has no width, as its variance is 0."""
    times = pl.when(system="b").then(2.0).otherwise(1.0)
    frame = drawn().with_columns(score=times * pl.col("score").first().over("doc"))
    row = row_of(frame, "roc_auc")
    assert (row["test"], row["difference"], row["ci_low"], row["ci_high"], row["p_value"]) == (
        "delong",
        0,
        None,
        None,
        1,
    )


def test_rows_without_a_score_are_below_all() -> None:
    """A row that one system gives no score is ranked last there, and stays in the pair."""
    frame = drawn(seed=1).with_columns(score=pl.when(pl.int_range(120) % 7 > 0).then("score"))
    low = frame.with_columns(pl.col("score").fill_null(-99))
    row = row_of(frame, "roc_auc")
    assert row["n"] == 60
    assert same_rows(row, row_of(low, "roc_auc"))


def test_scores_of_several_classes_get_the_bootstrap() -> None:
    """The mean area over classes is compared by the bootstrap, with the values of evaluate()."""
    rng = np.random.default_rng(0)
    label = rng.choice(list("xyz"), 60)
    frame = pl.concat(
        pl.DataFrame({"system": name, "doc": np.arange(60), "label": label}).with_columns(
            pl.Series(c, skill * (label == c) + rng.normal(size=60)) for c in "xyz"
        )
        for name, skill in (("a", 0.5), ("b", 1.5))
    )
    roles = {"score": {c: c for c in "xyz"}}
    asked = ("roc_auc", "roc_auc(multi='ovo')")
    found = irm_of(frame, **roles).compare(*asked, **FEW)
    means = IRM(frame, system="system", **roles).evaluate(*asked)  # type: ignore[arg-type]
    for row in found.iter_rows(named=True):
        values = means.filter(pl.col("metric") == row["metric"])["value"].to_list()
        assert [row["baseline_value"], row["value"]] == values
        assert row["test"] == "bootstrap"
        assert 0 < row["ci_low"] < row["difference"] < row["ci_high"]
        assert row["p_value"] < 0.02
    assert irm_of(shuffled(frame), **roles).compare(*asked, **FEW).equals(found)


def test_areas_that_do_not_vary() -> None:
    """Two perfect systems have p 1; a perfect one and its opposite have no variance, and so no p-value."""
    scores = {"a": [1, 2, 3, 4], "b": [10, 20, 30, 40], "c": [4, 3, 2, 1]}
    frame = pl.concat(
        pl.DataFrame({"system": name, "doc": [1, 2, 3, 4], "label": [0, 0, 1, 1], "score": score})
        for name, score in scores.items()
    )
    found = irm_of(frame).compare("roc_auc").select("system", "baseline", "difference", "p_value", "ci_low", "ci_high")
    assert found.rows() == [("b", "a", 0, 1, None, None), *(("c", one, -1, None, None, None) for one in "ab")]


def test_one_relevant_row_leaves_the_variance_unknown() -> None:
    """With one row of a kind there is a difference, and nothing sure of it."""
    frame = pl.DataFrame(
        {"system": list("aaabbb"), "doc": [1, 2, 3] * 2, "label": [1, 0, 0] * 2, "score": [1, 2, 3, 3, 2, 1]}
    )
    row = row_of(frame, "roc_auc")
    assert row["difference"] == 1
    assert [row[name] for name in SURE] == [None] * 4


# The bootstrap


def resampled(frame: pl.DataFrame, metric: str, draws: int, seed: int, unit: str | None = None) -> Any:
    """Differences of two systems by other draws of documents, or of the values of a column, each evaluated."""
    rng, name = np.random.default_rng(seed), unit or "doc"
    names = frame[name].unique(maintain_order=True)
    draw, chosen = np.repeat(np.arange(draws), len(names)), rng.choice(names.to_numpy(), draws * len(names))
    drawn = pl.DataFrame({"draw": draw, name: pl.Series(chosen, dtype=names.dtype)}).join(frame, on=name)
    values = IRM(drawn, system="system", by="draw", weight="weight", doc=None).evaluate(metric)
    return values.sort("draw", "system")["value"].to_numpy().reshape(draws, 2) @ [-1, 1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("metric", "unit", "weighted"),
    pairwise_cases(["f1", "roc_auc", "average_precision", "accuracy", "brier"], [None, "user"], [False, True]),
)
def test_rows_of_both_systems_are_drawn_together(metric: str, unit: str | None, weighted: bool) -> None:
    """Interval, p-value and mde are those of documents, or clusters, drawn otherwise, but for the error of drawing."""
    frame = drawn(80, seed=3).with_columns(
        user=pl.col("doc") // 5, weight=1 + weighted * (pl.col("doc") % 3), score=1 / (1 + (-pl.col("score")).exp())
    )
    expected = resampled(frame, metric, 200, 1, unit)
    expected = expected[~np.isnan(expected)]
    roles: dict[str, Any] = {"cluster": unit, "weight": "weight" if weighted else None}
    row = row_of(frame, metric, roles, test="bootstrap", resamples=2000)
    low, high = np.quantile(expected, [0.025, 0.975])
    assert row["ci_low"] == pytest.approx(low, abs=0.2 * (high - low))
    assert row["ci_high"] == pytest.approx(high, abs=0.2 * (high - low))
    assert row["mde"] == pytest.approx(Z80 * expected.std(), rel=0.2)
    p = (np.abs(expected - row["difference"]) >= abs(row["difference"])).mean()
    assert row["p_value"] == pytest.approx(p, abs=5 * sqrt(p * (1 - p) / 200 + 1 / 200**2))


def test_every_measure_has_the_bootstrap() -> None:
    """test="bootstrap" takes every measure of rows, at the least with an interval around the difference."""
    frame = drawn(80, undecided=0.1).with_columns(score=1 / (1 + (-pl.col("score")).exp()))
    kinds = FullConfusion, Classes, FullScores
    names = [m.name for m in REGISTRY.values() if m.input in kinds and not m.biased]
    asked = [ready(REGISTRY[name]) for name in names if name != "prevalence"]
    found = irm_of(frame).compare(*asked, test="bootstrap", **FEW)
    assert found["test"].to_list() == ["bootstrap"] * len(asked)
    means = IRM(frame, system="system").evaluate(*asked)
    for row in found.iter_rows(named=True):
        values = means.filter(pl.col("metric") == row["metric"])["value"].to_list()
        assert [row["baseline_value"], row["value"]] == values
        assert row["ci_low"] <= row["difference"] <= row["ci_high"] or not np.isfinite(row["difference"])
        assert 0 < row["p_value"] <= 1 or not np.isfinite(row["difference"])


def test_one_document_shows_nothing() -> None:
    """One pair of rows has a difference, no interval, and is never significant."""
    frame = drawn(1)
    for metric, p in (("accuracy", 1.0), ("f1", None)):
        row = row_of(frame, metric)
        assert (row["n"], row["ci_low"], row["mde"]) == (1, None, None)
        assert row["p_value"] == p


# Pairs


def test_rows_are_paired_by_document() -> None:
    """What only one of two systems has is left out and counted, whatever the order of the rows."""
    frame = drawn(40, systems=3).filter(~((pl.col("system") == "b") & (pl.col("doc") < 7)))
    found = irm_of(frame).compare("accuracy", "f1", "roc_auc", correction="none", **FEW)
    assert found["n_unpaired"].to_list() == [7, 0, 7] * 3
    assert found["n"].to_list() == [33, 40, 33] * 3
    shared = frame.filter(pl.col("doc") >= 7, pl.col("system") != "c")
    means = IRM(shared, system="system").evaluate("accuracy", "f1", "roc_auc", layout="wide")
    for row in found.filter(system="b", baseline="a").iter_rows(named=True):
        assert [row["baseline_value"], row["value"]] == means[row["metric"]].to_list()
    for one, other in ("ba", "ca", "cb"):
        alone = frame.filter(pl.col("system").is_in([one, other]))
        two = irm_of(alone).compare("accuracy", "f1", "roc_auc", correction="none", **FEW)
        assert (
            found.filter(system=one, baseline=other)
            .drop("n_tests", "correction")
            .equals(two.drop("n_tests", "correction"))
        )


ALL = ("accuracy", "f1", "roc_auc", "average_precision")


@pytest.mark.parametrize("more", [{}, {"by": "part"}, {"cluster": "user"}, {"weight": "weight"}], ids=str)
def test_shuffled_rows_give_the_same(more: dict[str, Any]) -> None:
    """The order of the rows, of documents' names and of the systems does not matter."""
    frame = drawn(30, systems=3).with_columns(
        part=pl.col("doc") % 2, user=pl.col("doc") // 3, weight=1.0 + pl.col("doc") % 4
    )
    expected = irm_of(frame, **more).compare(*ALL, **FEW)
    renamed = frame.with_columns(doc=pl.format("d{}", pl.col("doc") * 7 % 31)).pipe(shuffled)
    other = irm_of(renamed, **more).compare(*ALL, **FEW)
    assert other.select("p_value", "p_adjusted").equals(expected.select("p_value", "p_adjusted"))
    assert all(same_rows(*rows) for rows in zip(other.to_dicts(), expected.to_dicts(), strict=True))
    back = irm_of(frame, **more).compare(*ALL, baseline="c", **FEW).filter(system="a").iter_rows(named=True)
    there = expected.filter(system="c", baseline="a").iter_rows(named=True)
    for one, other in zip(there, back, strict=True):
        assert one["difference"] == pytest.approx(-other["difference"], abs=1e-12)
        assert (one["ci_low"] is None) == (other["ci_high"] is None)  # where no draw differs from another
        assert one["ci_low"] is None or one["ci_low"] == pytest.approx(-other["ci_high"], abs=1e-12)
        assert one["p_value"] == pytest.approx(other["p_value"], rel=1e-9)
        assert one["wins"] == other["losses"]
        assert one["mde"] == (None if other["mde"] is None else pytest.approx(other["mde"], rel=1e-9))


@pytest.mark.parametrize("kind", [*KINDS, "pieces"])
@pytest.mark.parametrize("roles", [{}, {"by": "part"}, {"threshold": 0.5}, {"count": "n"}, {"weight": "w"}])
def test_systems_that_are_columns_pair_by_row(roles: dict[str, Any], kind: str, tmp_path: Path) -> None:
    """They need no doc=: a comparison, and its summary, is the one with the numbers of the rows as documents."""
    long = drawn(60).with_columns(part=pl.col("doc") % 2, n=1 + pl.col("doc") % 3, w=1.0 + pl.col("doc") % 2)
    wide = long.filter(system="a").rename({"score": "a"}).drop("system", "predicted")
    wide = wide.with_columns(b=long.filter(system="b")["score"], row=pl.lit("a column of this name"))
    metric = "f1" if "threshold" in roles else "roc_auc"
    expected = irm_of(wide, system=None, score=["a", "b"], **roles).compare(metric, **FEW)
    bare = wide.drop("doc") if "by" in roles else wide.drop("doc", "row")
    bare.write_parquet(tmp_path / "log.parquet")
    pieces = pl.scan_parquet(tmp_path / "log.parquet")
    roles = roles | ({"memory": "1GB"} if kind == "pieces" else {})
    irm = IRM(pieces if kind == "pieces" else as_kind(bare, kind), score=["a", "b"], **roles)
    found = as_polars(irm.compare(metric, **FEW))
    for name in ("value", "baseline_value", "ci_low", "ci_high", "p_value", "n", "wins"):
        assert found[name].to_list() == pytest.approx(expected[name].to_list(), nan_ok=True)
    if roles.get("by") is None:
        assert as_polars(irm.summary(metric))["kind"][0] == "difference"


@pytest.mark.parametrize("roles", [{}, {"by": "part"}, {"against": "chance"}, {"against": "chance", "system": None}])
def test_the_schema_of_a_plan_is_that_of_its_result(roles: dict[str, Any]) -> None:
    """A lazy comparison knows its columns and types before anything is read."""
    frame = drawn(10).with_columns(part=pl.col("doc") % 2).lazy()
    against = roles.pop("against", None)
    plan = irm_of(frame, **roles).compare("informedness", against=against, **FEW)
    assert plan.collect_schema() == plan.collect().schema


def test_segments_are_compared_each_by_itself() -> None:
    """Every segment, null among them, has the rows that its part of the frame has alone; a document may be in two."""
    frame = drawn(30, systems=3).with_columns(part=pl.Series([None, "x", "y"] * 30))
    frame = pl.concat([frame, frame.filter(part="x").with_columns(part=pl.lit("z"))])
    found = irm_of(frame, by="part").compare(*ALL, **FEW)
    assert found["part"].unique(maintain_order=True).to_list() == ["x", "y", "z", None]
    for part in ("x", "y", "z", None):
        here = pl.col("part").eq_missing(pl.lit(part))
        alone = irm_of(frame.filter(here)).compare(*ALL, **FEW)
        assert found.filter(here).drop("part").equals(alone)


def test_a_segment_that_one_system_lacks() -> None:
    """A pair without a common document in a segment has a row of nulls, which is in no correction."""
    frame = (
        drawn(20, systems=3)
        .with_columns(part=pl.col("doc") // 10)
        .filter((pl.col("system") != "c") | (pl.col("part") == 0))
    )
    found = irm_of(frame, by="part").compare("accuracy", "roc_auc", over="all", **FEW)
    empty = found.filter(pl.col("part") == 1, (pl.col("system") == "c") | (pl.col("baseline") == "c"))
    assert (
        empty.select("n", "n_unpaired", "value", "p_value", "p_adjusted", "wins").rows() == [(0, 10) + (None,) * 4] * 4
    )
    known = found.filter(pl.col("n") > 0)
    assert known["p_adjusted"].max() <= 1
    assert len(known) == 8


def test_baselines_and_corrections_are_those_of_queries() -> None:
    """Baselines are named alike, and the pairs of a metric in a segment are corrected together."""
    frame = drawn(60, systems=4, seed=2)
    found = irm_of(frame).compare("accuracy", baseline=["d", "a"], **FEW)
    assert found.select("system", "baseline").rows() == [("b", "d"), ("b", "a"), ("c", "d"), ("c", "a")]
    p = sorted(found["p_value"].to_list())
    holm = [min(max((4 - i) * q for i, q in enumerate(p) if q <= one), 1) for one in found["p_value"]]
    assert found["p_adjusted"].to_list() == pytest.approx(holm, rel=1e-12)
    said = error(lambda: irm_of(frame).compare("accuracy", baseline="x"))
    assert said == "baseline='x' is not among the systems of system: 'a', 'b', 'c', 'd'"


@pytest.mark.parametrize("metrics", [("accuracy", "f1"), ("roc_auc", "average_precision")], ids=str)
def test_counted_rows_are_those_they_stand_for(metrics: tuple[str, ...]) -> None:
    """A row that stands for several has the numbers of as many documents, drawn ones included."""
    frame = drawn(25).with_columns(n=1 + pl.col("doc") % 4)
    expanded = frame.select(pl.exclude("n").repeat_by("n").explode()).with_columns(
        doc=pl.int_range(pl.len()).over("system")
    )
    found = irm_of(frame, count="n").compare(*metrics, **FEW)
    expected = irm_of(expanded).compare(*metrics, **FEW)
    for one, other in zip(found.iter_rows(named=True), expected.iter_rows(named=True), strict=True):
        assert same_rows(one, other)


def test_no_other_metric_moves_a_value() -> None:
    """A metric has the row that it has alone."""
    frame = drawn(40, systems=2)
    together = irm_of(frame).compare(*ALL, **FEW)
    apart = pl.concat([irm_of(frame).compare(metric, **FEW) for metric in ALL])
    assert together.equals(apart)
    every = irm_of(frame).compare(*ALL, test="bootstrap", **FEW)
    apart = pl.concat([irm_of(frame).compare(metric, test="bootstrap", **FEW) for metric in ALL])
    assert every.equals(apart)


def test_a_threshold_and_a_grade_decide_too() -> None:
    """Decisions at a threshold are paired as those that stand in the frame; a grade says what is relevant."""
    frame = drawn(40)
    expected = row_of(frame.drop("score"), "accuracy")
    assert row_of(frame.drop("predicted"), "accuracy", {"threshold": 0.51}) == expected
    graded = frame.with_columns(grade=pl.col("label") * 2).drop("label", "score")
    assert row_of(graded, "accuracy", {"rel": 2}) == expected


def test_unjudged_rows_may_be_dropped() -> None:
    """With unjudged="drop" a document without a label is in no pair, and no system has it."""
    frame = drawn(20).with_columns(label=pl.when(pl.col("doc") > 4).then("label"))
    assert row_of(frame, "accuracy", {"unjudged": "negative"})["n"] == 20
    row = row_of(frame, "accuracy", {"unjudged": "drop"})
    assert (row["n"], row["n_unpaired"]) == (15, 0)


def test_no_query_is_needed_where_one_is_set_aside() -> None:
    """A frame with a column of that name pairs rows where it is set aside, and queries where it is named."""
    frame = drawn(20).with_columns(query=pl.col("doc") // 5)
    assert row_of(frame, "accuracy", {"query": None})["test"] == "mcnemar_mid_p"
    row = row_of(frame, "accuracy", {"query": "query"})
    assert (row["test"], row["n"]) == ("randomization", 4)


# One system by itself


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("metric", ["informedness", "markedness", "mcc", "kappa", "balanced_accuracy", "odds_ratio"])
def test_decisions_against_chance_get_fishers_test(metric: str, seed: int) -> None:
    """The p-value is scipy's of the 2x2 table, for every measure that chance gives one value."""
    frame = drawn(60, systems=1, seed=seed).drop("system", "doc")
    (label, said) = frame["label"].to_numpy(), frame["predicted"].to_numpy()
    table = [
        [int((said[label] == c).sum()) for c in (True, False)],
        [int((said[~label] == c).sum()) for c in (True, False)],
    ]
    (row,) = IRM(frame).compare(metric, against="chance", **FEW).iter_rows(named=True)
    assert row["test"] == "fisher"
    assert row["p_value"] == pytest.approx(stats.fisher_exact(table).pvalue, rel=1e-9)
    assert row["baseline"] == "chance"
    assert row["baseline_value"] == {"balanced_accuracy": 0.5, "odds_ratio": 1}.get(metric, 0)
    assert row["difference"] == row["value"] - row["baseline_value"]


def test_fishers_tea_by_hand() -> None:
    """Of eight cups, four with the milk first, all but two are told: 34 of 70 ways are no likelier."""
    frame = pl.DataFrame({"label": [1] * 4 + [0] * 4, "predicted": [1, 1, 1, 0, 0, 0, 0, 1]})
    (row,) = IRM(frame).compare("informedness", against="chance", **FEW).iter_rows(named=True)
    assert (row["value"], row["p_value"]) == (0.5, pytest.approx(34 / 70, rel=1e-12))


@pytest.mark.parametrize("table", [(0, 0, 5, 7), (4, 0, 0, 0), (0, 3, 3, 0), (400, 300, 3500, 2500), (1, 9, 9000, 50)])
def test_fisher_of_any_table_is_scipys(table: tuple[int, int, int, int]) -> None:
    """Tables with empty sides, and large ones."""
    held = np.array(table).reshape(2, 2)
    assert fisher(held) == pytest.approx(stats.fisher_exact(held).pvalue, rel=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_an_area_against_chance_gets_delongs_test(seed: int) -> None:
    """The area is compared with one half, and the p-value is that of its variance."""
    frame = drawn(60, systems=2, seed=seed)
    label = sides(frame, "label")[0]
    found = irm_of(frame, doc=None).compare("roc_auc", "gini", against="chance", **FEW)
    assert found.select("system", "baseline", "metric", "test").rows() == [
        (system, "chance", metric, "delong") for metric in ("roc_auc", "gini") for system in "ab"
    ]
    for row in found.iter_rows(named=True):
        score = sides(frame, "score", row["system"])[0]
        _, variance = by_delong(np.stack([score, np.zeros(60)]), label)
        slope, level = (1, 0.5) if row["metric"] == "roc_auc" else (2, 0)
        assert row["difference"] == pytest.approx(row["value"] - level, abs=1e-12)
        assert row["p_value"] == pytest.approx(erfc(abs(row["difference"] / slope) / sqrt(2 * variance)), rel=1e-9)
        assert row["ci_high"] == pytest.approx(
            min(row["difference"] + slope * 1.959963984540054 * sqrt(variance), 1 - level), abs=1e-9
        )


def test_undecided_rows_leave_chance_to_the_decided() -> None:
    """Informedness of the decided rows is 0 by chance; what else depends on the undecided is an error."""
    frame = drawn(80, systems=1, undecided=0.3)
    decided = frame.drop_nulls("predicted")
    one, other = (row_of(rows, "informedness", against="chance") for rows in (frame, decided))
    assert one["p_value"] == other["p_value"]
    assert one["value"] == pytest.approx(other["value"] * len(decided) / 80, rel=1e-12)
    said = error(lambda: row_of(frame, "balanced_accuracy", against="chance"), NotComputableError)
    assert said == (
        "balanced_accuracy has no value by chance that is the same for all data and lies between its worst and its "
        "best; "
        "ask for informedness or roc_auc, or for accuracy against='majority'"
    )


def test_clusters_of_another_type_than_the_classes_are_drawn_as_they_are() -> None:
    """Numbers beside text, more clusters than classes: intervals and p-values are those of clusters that are text."""
    random = np.random.default_rng(0)
    true = random.integers(0, 3, 90)
    found = {
        name: np.where(random.random(90) < share, true, random.integers(0, 5, 90))
        for name, share in (("a", 0.9), ("b", 0.5))
    }
    each = [
        pl.DataFrame({"label": ["xyz"[c] for c in true], "predicted": own, "system": name, "id": range(90)})
        for name, own in found.items()
    ]
    numbers, metrics = pl.concat(each), ("adjusted_rand_index", "rand_index")
    texts = numbers.with_columns(pl.col("predicted").cast(pl.String))
    one, other = (frame.irm(system="system", doc="id").compare(*metrics, resamples=200) for frame in (numbers, texts))
    pl_testing.assert_frame_equal(one, other, abs_tol=1e-12)
    assert (one["ci_low"] <= one["difference"]).all()
    assert (one["difference"] <= one["ci_high"]).all()
    alone = [frame.irm(system="system").compare("rand_index", against="majority") for frame in (numbers, texts)]
    pl_testing.assert_frame_equal(*alone, abs_tol=1e-12)


def test_rows_that_a_share_is_not_about_are_no_ties() -> None:
    """Recall is about the relevant rows: of two, one system finds one and the other both."""
    each = [
        pl.DataFrame({"label": [1, 1, 0, 0, 0, 0], "predicted": found, "system": name, "id": range(6)})
        for name, found in (("a", [1, 0, 0, 0, 0, 0]), ("b", [1, 1, 0, 0, 0, 0]))
    ]
    told = pl.concat(each).irm(system="system", doc="id").compare("recall", "specificity", "accuracy", baseline="a")
    assert told.select("wins", "ties", "losses", "n").rows() == [(1, 1, 0, 6), (0, 4, 0, 6), (1, 5, 0, 6)]


def test_several_classes_against_chance_get_the_bootstrap() -> None:
    """Informedness of several classes has a bootstrap around 0; the mean of recalls depends on their number."""
    rng = np.random.default_rng(0)
    label = rng.choice(["x", "y", "z"], 90)
    said = np.where(rng.random(90) < 0.2, label, rng.choice(["x", "y", "z"], 90))
    irm = IRM(pl.DataFrame({"label": label, "predicted": said}))
    (row,) = irm.compare("informedness", against="chance", **FEW).iter_rows(named=True)
    assert (row["test"], row["baseline_value"]) == ("bootstrap", 0)
    assert row["ci_low"] < row["value"] < row["ci_high"]
    with pytest.raises(
        NotComputableError, match="balanced_accuracy has no value by chance that is the same for all data"
    ):
        irm.compare("balanced_accuracy", against="chance")


@pytest.mark.parametrize("seed", range(3))
def test_decisions_against_the_majority_class(seed: int) -> None:
    """Accuracy and the share of the most frequent class, by McNemar's test against always saying it."""
    frame = drawn(60, systems=2, seed=seed, undecided=0.1)
    found = irm_of(frame, doc=None).compare("accuracy", "error_rate", against="majority", test="mcnemar", **FEW)
    label = sides(frame, "label")[0]
    assert label.mean() < 0.5
    for row in found.iter_rows(named=True):
        said = sides(frame, "predicted", row["system"])[0]
        right = np.array([one is not None and one == true for one, true in zip(said, label, strict=True)])
        wins, losses = int((right & label).sum()), int((~right & ~label).sum())
        assert (row["wins"], row["losses"]) == (wins, losses)
        assert row["p_value"] == pytest.approx(stats.binomtest(wins, wins + losses).pvalue, rel=1e-10)
        share = 1 - label.mean()
        assert row["baseline_value"] == pytest.approx(share if row["metric"] == "accuracy" else 1 - share, abs=1e-12)
        assert (row["baseline"], row["test"]) == ("majority", "mcnemar")


def test_the_majority_of_several_classes_is_by_weight() -> None:
    """The class with most rows, or most weight, is the one that is always said; each segment has its own."""
    frame = pl.DataFrame(
        {
            "label": ["x", "x", "x", "y", "z", "z"],
            "predicted": ["x", "y", "x", "y", "z", "x"],
            "weight": [1, 1, 1, 9, 1, 1],
            "part": [1, 1, 1, 1, 2, 2],
        }
    )
    irm = IRM(frame)
    assert irm.compare("accuracy", against="majority", **FEW)["baseline_value"].to_list() == [0.5]
    row = irm(weight="weight").compare("accuracy", against="majority", **FEW).row(0, named=True)
    assert (row["baseline_value"], row["test"]) == (pytest.approx(9 / 14), "bootstrap")
    parts = irm(by="part").compare("accuracy", against="majority", **FEW)
    assert parts.select("part", "baseline_value").rows() == [(1, 0.75), (2, 1.0)]


def test_undefined_values_have_no_p_value() -> None:
    """Where a metric is undefined and stays null there is no difference, and no test of it."""
    frame = drawn(20).with_columns(label=pl.lit(False))
    for metric, roles in (("recall", {"undefined": "null"}), ("roc_auc", {})):
        row = row_of(frame, metric, roles)
        assert [row[name] for name in ("value", "difference", *SURE)] == [None] * 6
        assert row["n_undefined"] == 1
    found = irm_of(frame).compare("informedness", against="chance", **FEW)
    assert found.select("value", "p_value", "n_undefined").rows() == [(None, None, 1)] * 2


# What is independent


@pytest.mark.parametrize("metric", ["accuracy", "roc_auc", "f1"])
@pytest.mark.parametrize("role", ["weight", "cluster"])
def test_rows_with_weights_or_clusters_get_the_bootstrap(metric: str, role: str) -> None:
    """McNemar's and DeLong's tests count independent rows alike; where they are not, the bootstrap is what is left."""
    frame = drawn(40).with_columns(weight=1.0 + pl.col("doc") % 3, cluster=pl.col("doc") // 4)
    assert row_of(frame, metric, {role: role})["test"] == "bootstrap"
    test = "delong" if metric == "roc_auc" else "mcnemar"
    said = error(lambda: row_of(frame, metric, {role: role}, test=test), NotComputableError)
    why = {
        "weight": "counts every row alike, and weight is their weight",
        "cluster": "takes every row as independent, and cluster says which belong together",
    }
    assert said == f"test={test!r} {why[role]}; pass test='bootstrap', or {role}=None"


@pytest.mark.parametrize("clusters", [2, 3, 6, 9, 10])
def test_few_clusters_have_students_interval(clusters: int) -> None:
    """Of equal clusters it is that of the differences of each; from ten on percentiles, which stay among these."""
    frame = drawn(40 * clusters, seed=clusters + 1).with_columns(user=pl.col("doc") // 40)
    row = row_of(frame, "accuracy", {"cluster": "user"}, resamples=1000)
    right = [np.array(one) == sides(frame, "label")[0] for one in sides(frame, "predicted")]
    each = (right[0].astype(float) - right[1]).reshape(clusters, 40).mean(axis=1)
    mean, error = each.mean(), each.std(ddof=1) / sqrt(clusters)
    few = clusters < 10
    low, high = np.clip(stats.t.interval(0.95, clusters - 1, mean, error), -1, 1)
    if few:
        assert [row["ci_low"], row["ci_high"]] == pytest.approx([low, high], abs=0.03 * (high - low))
        p = max(2 * stats.t.sf(abs(mean / error), clusters - 1), 2 ** (1 - clusters))
        assert row["p_value"] == pytest.approx(p, rel=0.1)
        assert (row["mde"] is None) == (clusters < 6)  # of so few no p-value is below .05
    else:
        assert each.min() <= row["ci_low"] <= row["ci_high"] <= each.max()


def test_a_cluster_for_each_document_is_no_cluster() -> None:
    """Documents that are clusters of their own are drawn as without clusters."""
    frame = drawn(40).with_columns(user=pl.col("doc") * 3)
    plain = irm_of(frame).compare(*ALL, test="bootstrap", **FEW)
    assert irm_of(frame, cluster="user").compare(*ALL, test="bootstrap", **FEW).equals(plain)


def test_one_cluster_leaves_null() -> None:
    """Rows of one cluster have a difference, and nothing to draw."""
    row = row_of(drawn(20).with_columns(user=1), "accuracy", {"cluster": "user"})
    assert [row[name] for name in SURE] == [None] * 4
    assert row["difference"] is not None


@pytest.mark.parametrize("metric", ["accuracy", "recall", "f1"])
def test_weighted_values_are_those_of_evaluate(metric: str) -> None:
    """Weights of rows are in every value, and the effect size of a share is weighted too."""
    frame = drawn(40).with_columns(weight=0.5 + pl.col("doc") % 3)
    row = row_of(frame, metric, {"weight": "weight"})
    values = IRM(frame, system="system", weight="weight").evaluate(metric)["value"].to_list()
    assert [row["baseline_value"], row["value"]] == pytest.approx(values, rel=1e-12)
    assert (row["effect_size"] is None) == (metric == "f1")


# Errors


ROWS = drawn(6)
ONE = drawn(systems=1)
REFUSALS = r"""
irm_of(ROWS.with_columns(label=pl.col("label") ^ (pl.int_range(12) > 9))).compare("accuracy")
    BadRowsError: label: 2 of 12 rows differ from another row of their document (rows 10, 11); give each document one
        value for all systems
    but: irm_of(ROWS).compare("accuracy")
irm_of(ROWS.with_columns(w=pl.int_range(12)), weight="w").compare("accuracy")
    BadRowsError: w: 6 of 12 rows differ from another row of their document (rows 6, 7, 8); give each document one value
        for all systems
    but: irm_of(ROWS.with_columns(w=pl.col("doc")), weight="w").compare("accuracy")
irm_of(pl.concat([ROWS, ROWS[[3]]])).compare("accuracy")
    BadRowsError: doc: 1 of 13 rows repeats a document of its system (row 12); drop them, or name a doc= that tells rows
        apart
irm_of(ROWS.with_columns(doc=pl.when(pl.col("doc") > 0).then("doc"))).compare("accuracy")
    BadRowsError: doc: 2 of 12 rows have no document (rows 0, 6); drop them, or give them one
irm_of(ROWS.with_columns(doc=pl.int_range(12))).compare("accuracy")
    NotComputableError: doc: no document has rows of two systems, and compare() pairs rows by document; are its ids
        those of what the systems decide about?
IRM(ROWS, system="system").compare("accuracy")
    ColumnError: the query is missing; name its column with query=, one of 'doc', 'label', 'predicted', 'score'; to
        pair rows without a query, name the document they are about with doc=
IRM(ROWS, system="system", query=None).compare("accuracy")
    ColumnError: compare() without a query pairs rows by document; name their column with doc=; did you mean 'doc'?
    but: IRM(ROWS, system="system", doc="doc", query=None).compare("accuracy")
IRM(ROWS, doc="doc").compare("accuracy")
    ColumnError: compare() pairs the rows of systems by document; name their column with system='system', or pass
        against='chance' or 'majority' to test one by itself
    but: irm_of(ROWS[:6]).compare("informedness", against="chance")
irm_of(ROWS[:6]).compare("accuracy")
    NotComputableError: system has one system, 'a'; two are needed to compare
irm_of(ROWS[:0]).compare("accuracy")
    NotComputableError: system has no systems, as the frame has no rows; two are needed to compare
    but: irm_of(ROWS[:7]).compare("accuracy")
irm_of(ROWS).compare("accuracy", per_query=True)
    NotComputableError: per_query=True lists the differences of queries, and there is none; name query=
    but: irm_of(ROWS).compare("accuracy", per_query=False)
irm_of(ROWS).compare("accuracy", test="randomization")
    NotComputableError: test='randomization' applies to queries, and there is none; name query=, or pass test= as
        one of 'mcnemar_mid_p', 'mcnemar', 'delong', 'fisher', 'bootstrap'
IRM(ROWS, query="doc", system="system").compare("accuracy", test="mcnemar")
    NotComputableError: test='mcnemar' applies to rows without a query; pass query=None, or test= as one of
        'randomization', 't', 'wilcoxon', 'sign', 'bootstrap', 'mcnemar_mid_p'
    but: irm_of(ROWS).compare("accuracy", test="mcnemar")
    but: IRM(ROWS, query="doc", system="system").compare("accuracy", test="randomization")
irm_of(ROWS).compare("precision", test="mcnemar")
    NotComputableError: test='mcnemar' does not apply to precision here; pass test= as one of 'bootstrap', or
        test=None
irm_of(ROWS).compare("accuracy", test="delong")
    NotComputableError: test='delong' does not apply to accuracy here; pass test= as one of 'mcnemar_mid_p',
        'mcnemar', 'bootstrap', or test=None
irm_of(ROWS).compare("roc_auc", test="fisher")
    NotComputableError: test='fisher' does not apply to roc_auc here; pass test= as one of 'delong', 'bootstrap', or
        test=None
    but: irm_of(ROWS).compare("precision", "accuracy", test="bootstrap")
    but: irm_of(ROWS).compare("roc_auc", test="delong")
IRM(ROWS, query="doc", system="system").compare("accuracy", against="majority")
    NotComputableError: against='majority' tests rows that are counted together, and there is a query; pass query=None
        to pool them, or compare systems without against=
irm_of(ROWS).compare("informedness", against="chance", baseline="a")
    NotComputableError: against='chance' tests each system by itself; pass baseline=None
    but: irm_of(ROWS).compare("informedness", against="chance")
    but: irm_of(ROWS).compare("accuracy", baseline="a")
irm_of(ROWS, match="best", label="label").compare("accuracy")
    NotComputableError: match='best' chooses the classes of the clusters of each side anew; pass match=None, and name a
        column of classes
    but: irm_of(ROWS).compare("accuracy", "average_precision")
irm_of(ROWS, collection_size=100).compare("accuracy")
    ColumnError: collection_size=100: what is counted here are the rows; pass collection_size=None
irm_of(ROWS).compare("gm_map")
    ColumnError: gm_map is ap, of rankings, and the query is missing; name its column with query=, one of
        'label', 'predicted', 'score'; of rows without a query there is average_precision
irm_of(ROWS.rename({"system": "baseline"}), system="baseline").compare("accuracy")
    ColumnError: 'baseline' is a column of the result as well; rename the frame's column
    but: irm_of(ROWS.rename({"system": "run"}), system="run").compare("accuracy")
irm_of(ONE).compare(VALUE, against="chance")
    for: "accuracy", "f1", "precision", "average_precision", "adjusted_rand_index", "tp"
    NotComputableError: TEXT has no value by chance that is the same for all data and lies between its worst and its
        best; ask for informedness or roc_auc, or for accuracy against='majority'
irm_of(ONE).compare("roc_auc", against="majority")
    NotComputableError: roc_auc reads scores, and the majority is a decision; pass against='chance'
    but: irm_of(ONE).compare("roc_auc", "informedness", against="chance")
    but: irm_of(ONE).compare("accuracy", against="majority")
"""


def test_what_cannot_be_compared() -> None:
    """An error says what is there, what is needed and the way out."""
    check(REFUSALS, globals())


@pytest.mark.parametrize("metric", ["accuracy", "roc_auc", "f1"])
def test_tests_of_rows_need_no_scipy(metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """None of the tests of rows needs scipy, whose tests of queries do."""
    monkeypatch.setitem(sys.modules, "scipy", None)
    assert row_of(drawn(), metric)["p_value"] > 0


# Simulations


@pytest.mark.slow
@pytest.mark.parametrize(
    ("metric", "least", "most"), [("accuracy", 0.02, 0.12), ("roc_auc", 0.07, 0.14), ("f1", 0.07, 0.15)]
)
def test_p_values_are_fair_where_nothing_differs(metric: str, least: float, most: float) -> None:
    """Of systems that are equally good about one in ten comparisons has p up to .1, and fewer of an exact test."""
    rng, tries, n = np.random.default_rng(4), 400, 80
    label = rng.random(tries * n) < 0.4
    frame = pl.concat(
        pl.DataFrame({"system": name, "label": label, "score": label + rng.normal(size=tries * n)}).with_columns(
            doc=pl.int_range(pl.len()), predicted=pl.col("score") > 0.5, part=pl.int_range(pl.len()) // n
        )
        for name in "ab"
    )
    p = irm_of(frame, by="part").compare(metric, resamples=199)["p_value"]
    assert len(p) == tries
    assert least < (p <= 0.1).mean() < most  # type: ignore[operator]


@pytest.mark.slow
def test_the_more_systems_differ_the_smaller_the_p_value() -> None:
    """Every test finds a growing difference."""
    for metric in ("accuracy", "roc_auc", "f1"):
        p = []
        for shift in (0.0, 0.5, 2.0):
            rng = np.random.default_rng(6)
            label = rng.random(400) < 0.5
            frame = pl.concat(
                pl.DataFrame({"system": name, "doc": np.arange(400), "label": label}).with_columns(
                    score=pl.Series(label * (0.5 + gain) + rng.normal(size=400))
                )
                for name, gain in (("a", 0.0), ("b", shift))
            ).with_columns(predicted=pl.col("score") > 0.5)
            p.append(row_of(frame, metric)["p_value"])
        assert p[0] > p[1] >= p[2]
