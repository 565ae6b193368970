"""Curves, thresholds and the choice of one: by hand, by brute force, and against scikit-learn."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import polars as pl
import polars.testing
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.calibration import calibration_curve

from frame_metrics import IRM, ColumnError, NotComputableError
from helpers import KINDS, as_kind, as_polars, error, examples
from inside import FullConfusion, metrics_of
from refusals import check

Array: TypeAlias = NDArray[Any]
Point: TypeAlias = tuple[float, ...]

INF = math.inf
CLOSE = 1e-12
CURVES = {
    "roc": ["threshold", "fpr", "tpr"],
    "pr": ["threshold", "recall", "precision"],
    "gain": ["threshold", "share", "gain"],
    "calibration": ["predicted", "observed", "n"],
}
COUNTS = ["threshold", "tp", "fp", "fn", "tn"]
ASIDE = ("tp", "fp", "fn", "tn")  # which every result of thresholds() has
PRECISION = next(m for m in metrics_of(FullConfusion) if m.name == "precision")
MEASURES = [m.name for m in metrics_of(FullConfusion) if m.name not in ASIDE]
# Five rows: the best is relevant, then a tie of a relevant row and another, then one of each kind.
ROWS = pl.DataFrame({"label": [0, 1, 0, 1, 1], "score": [0.5, 0.5, 0.125, 0.75, 0.25]})
# The same with a row that was not retrieved of each kind.
UNSCORED = pl.concat([ROWS, pl.DataFrame({"label": [1, 0], "score": [None, None]})], how="vertical_relaxed")


def area(y: Any, x: Any) -> float:
    """The area under a polyline, by trapezoids."""
    y, x = np.asarray(y), np.asarray(x)
    return float(((y[1:] + y[:-1]) * np.diff(x) / 2).sum())


def cases(seed: int, n: int = 60, *, values: int = 25) -> pl.DataFrame:
    """Return rows with ties, probabilities for scores, and weights that add up exactly."""
    rng = np.random.default_rng(seed)
    score = rng.integers(0, values + 1, n) / values
    label = (rng.random(n) < 0.2 + 0.6 * score).astype(int)
    return pl.DataFrame({"label": label, "score": score, "w": rng.integers(1, 40, n) / 8})


def steps(label: Sequence[int], score: Sequence[float | None], weight: Sequence[float] | None = None) -> list[Point]:
    """Return every threshold with tp, fp, fn and tn, counted one threshold at a time."""
    weight = [1] * len(label) if weight is None else weight
    found = []
    for threshold in [INF, *sorted({s for s in score if s is not None}, reverse=True)]:
        cells = dict.fromkeys([(1, True), (0, True), (1, False), (0, False)], 0.0)
        for y, s, w in zip(label, score, weight, strict=True):
            cells[y, s is not None and s >= threshold] += w
        found.append((threshold, *cells.values()))
    return found


def close(mine: pl.DataFrame, expected: Sequence[Sequence[Any]]) -> None:
    """Assert that the rows of a frame are those, up to rounding."""
    assert len(mine) == len(expected)
    for row, other in zip(mine.rows(), expected, strict=True):
        assert row == pytest.approx(tuple(other), abs=CLOSE)


# Points, by hand


@pytest.mark.parametrize(
    ("kind", "points"),
    [
        ("roc", [(INF, 0, 0), (0.75, 0, 1 / 3), (0.5, 1 / 2, 2 / 3), (0.25, 1 / 2, 1), (0.125, 1, 1)]),
        ("pr", [(INF, 0, 1), (0.75, 1 / 3, 1), (0.5, 2 / 3, 2 / 3), (0.25, 1, 3 / 4), (0.125, 1, 3 / 5)]),
        ("gain", [(INF, 0, 0), (0.75, 1 / 5, 1 / 3), (0.5, 3 / 5, 2 / 3), (0.25, 4 / 5, 1), (0.125, 1, 1)]),
        ("calibration", [(0.125, 0, 1), (0.25, 1, 1), (0.5, 1 / 2, 2), (0.75, 1, 1)]),
    ],
)
def test_the_points_of_a_curve(kind: str, points: list[Point]) -> None:
    """A curve begins where nothing is predicted and ends where all rows are; equal scores are one point."""
    mine = ROWS.irm.curve(kind)
    assert mine.columns == CURVES[kind]
    close(mine, points)


def test_a_score_on_the_edge_of_a_bin_is_in_the_lower_one() -> None:
    """Bins are of equal width, and empty ones are left out."""
    close(ROWS.irm.curve("calibration", bins=2), [(0.34375, 1 / 2, 4), (0.75, 1, 1)])
    close(ROWS.irm.curve("calibration", bins=1), [(0.425, 3 / 5, 5)])


def test_a_row_without_a_score_is_below_every_threshold() -> None:
    """Rows that were not retrieved are the last point of ROC and gain, at minus infinity; of PR they are none."""
    close(
        UNSCORED.irm.curve("roc"),
        [(INF, 0, 0), (0.75, 0, 1 / 4), (0.5, 1 / 3, 2 / 4), (0.25, 1 / 3, 3 / 4), (0.125, 2 / 3, 3 / 4), (-INF, 1, 1)],
    )
    close(UNSCORED.irm.curve("gain").tail(2), [(0.125, 5 / 7, 3 / 4), (-INF, 1, 1)])
    close(UNSCORED.irm.curve("pr").tail(2), [(0.25, 3 / 4, 3 / 4), (0.125, 3 / 4, 3 / 5)])
    close(UNSCORED.irm.thresholds().tail(1), [(0.125, 3, 2, 1, 1)])
    only = UNSCORED.tail(2)
    assert only.irm.curve("roc").rows() == [(INF, 0, 0), (-INF, 1, 1)]
    assert only.irm.curve("pr").rows() == [(INF, 0, 1)]
    assert only.irm.thresholds("f1").rows() == [(INF, 0, 0, 1, 1, 0)]


@pytest.mark.parametrize(
    ("label", "kind", "points"),
    [
        (1, "roc", [(INF, None, 0), (0.75, None, 1 / 2), (0.25, None, 1)]),
        (0, "roc", [(INF, 0, None), (0.75, 1 / 2, None), (0.25, 1, None)]),
        (1, "pr", [(INF, 0, 1), (0.75, 1 / 2, 1), (0.25, 1, 1)]),
        (0, "pr", [(INF, None, 1), (0.75, None, 0), (0.25, None, 0)]),
        (1, "gain", [(INF, 0, 0), (0.75, 1 / 2, 1 / 2), (0.25, 1, 1)]),
        (0, "gain", [(INF, 0, None), (0.75, 1 / 2, None), (0.25, 1, None)]),
        (1, "calibration", [(0.25, 1, 1), (0.75, 1, 1)]),
        (0, "calibration", [(0.25, 0, 1), (0.75, 0, 1)]),
    ],
)
def test_a_share_of_nothing_is_null(label: int, kind: str, points: list[Point]) -> None:
    """Of one class only, the share of the other is null, and the rest of the curve stands."""
    rows = pl.DataFrame({"label": [label, label], "score": [0.25, 0.75]})
    assert rows.irm.curve(kind).rows() == points


@pytest.mark.parametrize("by", [None, "day"])
@pytest.mark.parametrize("kind", CURVES)
def test_no_rows_have_the_first_point(kind: str, by: str | None) -> None:
    """A frame without rows has no segment, or is one without rows: its curve has the first point, where it has one."""
    rows = ROWS.with_columns(day=pl.lit("x"))
    mine = IRM(rows.clear(), by=by).curve(kind)
    assert mine.schema == IRM(rows, by=by).curve(kind).schema
    first = {"roc": (INF, None, None), "pr": (INF, None, 1), "gain": (INF, None, None)}
    assert mine.rows() == ([] if by or kind == "calibration" else [first[kind]])


@pytest.mark.parametrize("by", [None, "day"])
def test_no_rows_have_the_first_threshold(by: str | None) -> None:
    """A frame without rows has the threshold at which nothing is predicted, no best one, and no recall to read at."""
    rows = ROWS.with_columns(day=pl.lit("x"))
    whole, none = IRM(rows, by=by), IRM(rows.clear(), by=by)
    counts = (0, 0, 0, 0)
    for read, row in (
        (lambda irm: irm.thresholds("f1"), (INF, *counts, None)),
        (lambda irm: irm.best_threshold("f1"), (None, *counts, None)),
        (lambda irm: irm.best_threshold("f1", subject_to={"recall": 0.5}), (None, *counts, None, None)),
    ):
        assert read(none).rows() == ([] if by else [row])
        assert read(none).schema == read(whole).schema
    levels = none.curve("pr", levels=3)
    assert levels.schema == whole.curve("pr", levels=3).schema
    assert levels["precision"].null_count() == len(levels)


EMPTY: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "unjudged": ({"label": [1, 0, None]}, {"unjudged": "drop"}),
    "weigh nothing": ({"label": [1, 0, 1], "w": [1.0, 1.0, 0.0]}, {"weight": "w"}),
    "queries that are not judged": ({"label": [1, 0, None], "query": [1, 1, 2]}, {"query": "query"}),
    "queries of which nothing is left": (
        {"label": [1, 0, None], "query": [1, 1, 2]},
        {"query": "query", "unjudged": "drop"},
    ),
}


@pytest.mark.parametrize("name", EMPTY)
def test_a_segment_in_which_nothing_counts_keeps_its_row(name: str) -> None:
    """A segment of which no row counts has its first point, no best threshold, and a row as in evaluate()."""
    columns, named = EMPTY[name]
    rows = pl.DataFrame({"score": [0.75, 0.5, 0.5], "day": ["a", "a", "b"], **columns})
    irm = IRM(rows, by="day", **named)
    assert irm.evaluate("roc_auc")["day"].to_list() == ["a", "b"]
    for kind, first in (("roc", (None, None)), ("pr", (None, 1)), ("gain", (None, None))):
        for found in (irm.curve(kind), irm.curve(kind, points=3)):
            assert found.filter(day="b").rows() == [("b", INF, *first)]
            assert found["day"].to_list() == ["a", "a", "a", "b"]
    assert irm.thresholds("f1", "lr_positive").filter(day="b").rows() == [("b", INF, 0, 0, 0, 0, None, None)]
    for limits in ({}, {"precision": 0.9}):
        best = irm.best_threshold("f1", subject_to=limits)
        assert best.select("day", "threshold", "tp", "fp", "fn", "tn", "f1").rows() == [
            ("a", 0.75, 1, 0, 0, 1, 1),
            ("b", None, 0, 0, 0, 0, None),
        ]
    levels = irm.curve("pr", levels=2)
    assert levels.select("day", "precision").rows() == [("a", 1), ("a", 1), ("b", None), ("b", None)]


# Against scikit-learn


@pytest.mark.parametrize("bins", [1, 3, 10, 25])
def test_calibration_is_that_of_scikit_learn(bins: int) -> None:
    """Mean score and share of relevant rows of each bin are those of calibration_curve; weights are of rows."""
    rows = cases(9, 200)
    mine = rows.irm.curve("calibration", bins=bins)
    observed, predicted = calibration_curve(rows["label"], rows["score"], n_bins=bins)
    close(mine.select("predicted", "observed"), list(zip(predicted.tolist(), observed.tolist(), strict=True)))
    assert mine["n"].sum() == 200
    assert mine["n"].dtype == pl.Int64
    twice = IRM(rows.with_columns(w=pl.lit(2.0)), weight="w").curve("calibration", bins=bins)
    close(twice, [(p, o, 2 * n) for p, o, n in mine.rows()])
    weighted = IRM(rows, weight="w").curve("calibration", bins=1)
    expected = [np.average(rows[name], weights=rows["w"]) for name in ("score", "label")]
    close(weighted, [(*expected, rows["w"].sum())])


# The distribution of scores


def test_rows_are_counted_by_bins_of_their_score_and_by_label() -> None:
    """Bins go from the least score to the greatest, a score on an edge is in the lower one, and zeros are there."""
    mine = ROWS.irm.curve("distribution", bins=5)
    assert mine.schema == {"bin": pl.Int64, "low": pl.Float64, "high": pl.Float64, "label": pl.Boolean, "n": pl.Int64}
    counts = [(1, 1), (0, 0), (1, 1), (0, 0), (0, 1)]
    assert mine.select("bin", "label", "n").rows() == [
        (i + 1, label, counts[i][label]) for i in range(5) for label in (False, True)
    ]
    edges = [0.125, 0.25, 0.375, 0.5, 0.625, 0.75]
    assert mine.filter("label").select("low", "high").rows() == list(itertools.pairwise(edges))
    assert ROWS.irm.curve("distribution").equals(ROWS.irm.curve("distribution", bins=10))


def test_rows_without_a_score_have_no_bin() -> None:
    """They stand after the bins, by label, and are not lost."""
    mine = UNSCORED.irm.curve("distribution", bins=1)
    assert mine.rows() == [
        (1, 0.125, 0.75, False, 2),
        (1, 0.125, 0.75, True, 3),
        (None, None, None, False, 1),
        (None, None, None, True, 1),
    ]


def test_rows_without_a_judgment_have_no_label() -> None:
    """The label null stands in every bin where some row of the frame is not judged; dropped rows are in no bin."""
    rows = pl.DataFrame({"label": [1, None, 0, None], "score": [1.0, 3.0, 2.0, None], "day": ["a", "a", "b", "b"]})
    mine = rows.irm(by="day").curve("distribution", bins=1)
    assert mine.rows() == [
        ("a", 1, 1.0, 3.0, False, 0),
        ("a", 1, 1.0, 3.0, True, 1),
        ("a", 1, 1.0, 3.0, None, 1),
        ("b", 1, 1.0, 3.0, False, 1),
        ("b", 1, 1.0, 3.0, True, 0),
        ("b", 1, 1.0, 3.0, None, 0),
        ("b", None, None, None, None, 1),
    ]
    log = rows.head(3).with_columns(query=pl.lit(1), grade="label").drop("label", "day").irm()
    assert log.curve("distribution", bins=1).rows() == [
        (1, 1.0, 3.0, False, 1),
        (1, 1.0, 3.0, True, 1),
        (1, 1.0, 3.0, None, 1),
    ]
    for irm in (rows.irm, log):
        dropped = irm(unjudged="drop").curve("distribution", bins=1)
        assert dropped.select("label", "n").rows() == [(False, 1), (True, 1)]


@pytest.mark.parametrize("seed", range(3))
def test_bins_are_those_of_numpy(seed: int) -> None:
    """Counts and sums of weights are those of numpy's histogram, where no score is on an edge."""
    rng = np.random.default_rng(seed)
    rows = pl.DataFrame({"score": rng.normal(size=200), "label": rng.integers(0, 2, 200), "w": rng.random(200)})
    for weight in (None, "w"):
        mine = IRM(rows, weight=weight).curve("distribution", bins=7)
        for label in (0, 1):
            part, theirs = rows.filter(label=label), mine.filter(label=bool(label))
            ends = rows["score"].min(), rows["score"].max()
            n, edges = np.histogram(part["score"], 7, range=ends, weights=part["w"] if weight else None)
            assert theirs["n"].to_list() == pytest.approx(n.tolist())
            assert [*theirs["low"], theirs["high"][-1]] == pytest.approx(edges.tolist())


@pytest.mark.parametrize(
    ("scores", "edges"),
    [([2.0, 2.0], [1.5, 2.5]), ([], [0.0, 1.0]), ([-1e308, 1e308], [-1e308, 1e308]), ([None, None], [0.0, 1.0])],
)
def test_bins_of_any_scores(scores: list[float | None], edges: list[float]) -> None:
    """One score stands in the middle, none has bins from 0 to 1, and the width of all floats is no overflow."""
    rows = pl.DataFrame({"label": [1] * len(scores), "score": scores}, schema={"label": pl.Int64, "score": pl.Float64})
    mine = rows.irm.curve("distribution", bins=2).drop_nulls("bin")
    assert [mine["low"][0], mine["high"][-1]] == edges
    assert mine["n"].sum() == len(scores) - scores.count(None)


def test_distributions_of_systems_have_the_same_bins() -> None:
    """Systems, segments and queries share the bins, so that they can be drawn side by side."""
    rows = pl.concat(
        [ROWS.with_columns(model=pl.lit("a")), ROWS.with_columns(model=pl.lit("b"), score=9 * pl.col.score)]
    )
    mine = rows.irm(system="model").curve("distribution", bins=3)
    assert mine.group_by("model", maintain_order=True).agg("low")["low"].n_unique() == 1
    assert mine.group_by("model", maintain_order=True).agg(pl.sum("n")).rows() == [("a", 5), ("b", 5)]
    of_queries = rows.irm(query="model").curve("distribution", per="query", bins=3)
    assert of_queries.select("model", "low", "n").equals(mine.select("model", "low", "n"))


@pytest.mark.parametrize("weighted", [False, True])
def test_areas_of_curves_are_the_metrics(weighted: bool) -> None:
    """The area under ROC is roc_auc, precision by the recall it adds is average_precision, the widest gap is ks."""
    rows = cases(3)
    irm = IRM(rows, weight="w" if weighted else None)
    auc, average, ks = irm.evaluate("roc_auc", "average_precision", "ks")["value"]
    fpr, tpr = (irm.curve("roc")[name].to_numpy() for name in ("fpr", "tpr"))
    recall, precision = (irm.curve("pr")[name].to_numpy() for name in ("recall", "precision"))
    assert area(tpr, fpr) == pytest.approx(auc, abs=CLOSE)
    assert (np.diff(recall) * precision[1:]).sum() == pytest.approx(average, abs=CLOSE)
    assert (tpr - fpr).max() == pytest.approx(ks, abs=CLOSE)


# Segments, systems, queries, judgments


def segmented() -> pl.DataFrame:
    """Rows of two systems in three segments, one of which is null, shuffled."""
    rng = np.random.default_rng(5)
    parts = [
        cases(10 * i + j, 20).with_columns(run=pl.lit(run), day=pl.lit(day, dtype=pl.String))
        for (i, run), (j, day) in itertools.product(enumerate(["b", "a"]), enumerate(["mo", None, "di"]))
    ]
    whole = pl.concat(parts)
    return whole[rng.permutation(len(whole))]


@pytest.mark.parametrize(
    "verb",
    [
        *[(lambda irm, kind=kind: irm.curve(kind)) for kind in CURVES],
        lambda irm: irm.curve("pr", levels=5),
        lambda irm: irm.curve("pr", interpolated=True),
        lambda irm: irm.curve("roc", points=6),
        lambda irm: irm.thresholds("f1", "kappa"),
        lambda irm: irm.best_threshold("f1", subject_to={"fallout": 0.5}),
    ],
    ids=[*CURVES, "levels", "interpolated", "points", "thresholds", "best"],
)
@pytest.mark.parametrize("weight", [None, "w"])
def test_every_segment_stands_by_itself(verb: Any, weight: str | None) -> None:
    """Each system and segment has the points that it has alone, sorted, a null segment last."""
    rows = segmented()
    mine = verb(IRM(rows, system="run", by="day", weight=weight))
    pairs = [("a", "di"), ("a", "mo"), ("a", None), ("b", "di"), ("b", "mo"), ("b", None)]
    assert mine.select("run", "day").unique(maintain_order=True).rows() == pairs
    for run, day in pairs:
        own = rows.filter(pl.col("run") == run, pl.col("day").eq_missing(pl.lit(day, dtype=pl.String)))
        here = mine.filter(pl.col("run") == run, pl.col("day").eq_missing(pl.lit(day, dtype=pl.String)))
        assert here.drop("run", "day").equals(verb(IRM(own, weight=weight)))


LOG = pl.DataFrame(
    {
        "qid": ["b", "a", "b", "a", "b", "c", "c"],
        "score": [0.75, 0.5, 0.25, 0.25, 0.25, 0.5, None],
        "grade": [1, 0, 0, 2, 1, None, 1],
    }
)


def test_rows_of_queries_without_a_judgment_are_left_out_wherever_they_stand() -> None:
    """Queries whose rows do not stand together are counted as those whose rows do."""
    log = pl.DataFrame({"query": ["b", "a", "b", "a", "c"], "score": [0.9, 0.5, 0.3, 0.25, 0.1]})
    log = log.with_columns(label=pl.Series([1, None, 0, None, 1]))
    apart, together = log.irm(query="query", threshold=0.4), log.sort("query").irm(query="query", threshold=0.4)
    assert apart.confusion()["n"].to_list() == together.confusion()["n"].to_list() == [1, 1, 0, 1]
    assert apart.audit().select("check", "n").equals(together.audit().select("check", "n"))
    judged = log.drop_nulls("label").irm(query=None).curve("roc")
    assert apart(threshold=None).curve("roc").equals(judged)


@pytest.mark.parametrize("kind", ["roc", "pr", "gain"])
def test_each_query_has_its_curve(kind: str) -> None:
    """`per="query"` gives each query the curve of its rows, queries as they first appear; else they are pooled."""
    mine = IRM(LOG, query="qid").curve(kind, per="query")
    assert mine.columns == ["qid", *CURVES[kind]]
    assert mine["qid"].unique(maintain_order=True).to_list() == ["b", "a", "c"]
    for query in "abc":
        own = LOG.filter(qid=query)
        assert mine.filter(qid=query).drop("qid").equals(own.irm(unjudged="negative").curve(kind))
    assert IRM(LOG, query="qid").curve(kind).equals(LOG.irm(unjudged="negative").curve(kind))


def test_calibration_of_each_query() -> None:
    """`per="query"` gives each query its bins."""
    scored = LOG.drop_nulls("score")
    mine = IRM(scored, query="qid").curve("calibration", per="query", bins=2)
    assert mine.rows() == [("b", 0.25, 0.5, 2), ("b", 0.75, 1, 1), ("a", 0.375, 0.5, 2)]


RUN = pl.DataFrame({"query": [1, 1, 1, 2, 9], "doc": ["a", "b", "u", "a", "z"], "score": [0.5, 0.75, 0.625, 0.25, 0.5]})
QRELS = pl.DataFrame({"query": [1, 1, 1, 2, 2, 3], "doc": ["a", "b", "x", "a", "n", "m"], "grade": [1, 0, 1, 1, 0, 1]})
# What that comes to: unjudged results are not relevant, unlisted judgments have no score, query 9 is not judged.
JOINED = pl.DataFrame(
    {
        "query": [1, 1, 1, 1, 2, 2, 3],
        "score": [0.5, 0.75, 0.625, None, 0.25, None, None],
        "label": [1, 0, 0, 1, 1, 0, 1],
    }
)


@pytest.mark.parametrize(
    "verb",
    [
        *[(lambda irm, kind=kind: irm.curve(kind)) for kind in ("roc", "pr", "gain")],
        lambda irm: irm.curve("pr", levels=11),
        lambda irm: irm.thresholds("f1", "accuracy"),
        lambda irm: irm.best_threshold("informedness"),
    ],
    ids=["roc", "pr", "gain", "levels", "thresholds", "best"],
)
def test_judged_documents_that_are_not_listed_count(verb: Any) -> None:
    """Judgments beside the frame are rows without a score; results of queries that nobody judged are left out."""
    mine = verb(IRM(RUN).judge(QRELS))
    assert mine.equals(verb(IRM(JOINED)))
    two = pl.concat([RUN.with_columns(system=pl.lit("x")), RUN.head(1).with_columns(system=pl.lit("y"))])
    both = verb(IRM(two, system="system").judge(QRELS))
    assert both.filter(system="x").drop("system").equals(mine)
    lone = JOINED.with_columns(score=pl.Series([0.5, *[None] * 6], dtype=pl.Float64)).filter(
        pl.int_range(pl.len()) != 2  # the unjudged result of the other system is no row of this one
    )
    assert both.filter(system="y").drop("system").equals(verb(IRM(lone)))


def test_unjudged_results_are_not_relevant_at_any_threshold() -> None:
    """A result that the judgments do not list is a false positive from its score down, or left out if that is said."""
    run = pl.DataFrame({"query": [1, 1], "doc": ["a", "u"], "score": [1, 2]})
    qrels = pl.DataFrame({"query": [1, 1], "doc": ["a", "b"], "grade": [1, 0]})
    irm = run.irm.judge(qrels)
    assert irm.thresholds().rows() == [(INF, 0, 0, 1, 2), (2, 0, 1, 1, 1), (1, 1, 1, 0, 1)]
    assert irm.curve("roc").rows() == [(INF, 0, 0), (2, 0.5, 0), (1, 0.5, 1), (-INF, 1, 1)]
    assert irm.curve("pr").rows() == [(INF, 0, 1), (2, 0, 0), (1, 1, 0.5)]
    left_out = irm(unjudged="drop")
    assert left_out.thresholds().rows() == [(INF, 0, 0, 1, 1), (1, 1, 0, 0, 1)]
    assert left_out.curve("roc").rows() == [(INF, 0, 0), (1, 0, 1), (-INF, 1, 1)]


def test_judged_documents_count_in_their_query() -> None:
    """A judged query without results has a curve too: one step, at minus infinity."""
    mine = IRM(RUN).judge(QRELS).curve("roc", per="query")
    for query in (1, 2, 3):
        own = JOINED.filter(query=query).select("label", "score").irm.curve("roc")
        assert mine.filter(query=query).drop("query").equals(own)
    assert mine.filter(query=3).rows() == [(3, INF, None, 0), (3, -INF, None, 1)]
    assert set(mine["query"]) == {1, 2, 3}


def test_areas_of_judged_queries_are_the_metric() -> None:
    """The area under the curve of a query with judgments beside the frame is its roc_auc."""
    irm = IRM(RUN).judge(QRELS)
    auc = dict(irm.per_query("roc_auc").select("query", "value").rows())
    curves = irm.curve("roc", per="query")
    for query in (1, 2):
        own = curves.filter(query=query)
        assert area(own["tpr"], own["fpr"]) == pytest.approx(auc[query], abs=CLOSE)
    assert auc == {1: 0, 2: 1, 3: None}


# Recall levels, interpolation


def test_precision_at_recall_levels() -> None:
    """`levels=` gives the greatest precision at that recall or a higher one, and the threshold that has it."""
    close(
        ROWS.irm.curve("pr", levels=[0, 1 / 3, 0.5, 1]),
        [(0.75, 0, 1), (0.75, 1 / 3, 1), (0.25, 0.5, 3 / 4), (0.25, 1, 3 / 4)],
    )
    eleven = ROWS.irm.curve("pr", levels=11)
    assert eleven["recall"].to_list() == pytest.approx([i / 10 for i in range(11)], abs=CLOSE)
    assert eleven["precision"].to_list() == [1, 1, 1, 1, 0.75, 0.75, 0.75, 0.75, 0.75, 0.75, 0.75]
    assert UNSCORED.irm.curve("pr", levels=[0.75, 0.76]).rows() == [(0.25, 0.75, 0.75), (None, 0.76, 0)]


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("seed", range(3))
def test_levels_are_the_greatest_precision_to_the_right(seed: int, weight: str | None) -> None:
    """Levels and interpolation are the running maximum of the curve, taken from its end."""
    rows = cases(seed)
    irm = IRM(rows, weight=weight)
    plain, smooth = irm.curve("pr"), irm.curve("pr", interpolated=True)
    assert smooth.select("threshold", "recall").equals(plain.select("threshold", "recall"))
    best = [max(plain["precision"][i:]) for i in range(len(plain))]
    assert smooth["precision"].to_list() == best
    levels = [0.0, 0.1, 0.25, 1 / 3, 0.5, 0.9, 1.0]
    mine = irm.curve("pr", levels=levels)
    assert mine["recall"].to_list() == levels
    later = plain.tail(-1)
    for threshold, level, precision in mine.rows():
        assert precision == max(later.filter(pl.col("recall") >= level - 1e-9)["precision"])
        at = later.filter(pl.col("threshold") == threshold)
        assert at["precision"].item() == precision
        assert at["recall"].item() >= level - 1e-9


def test_levels_of_queries_are_the_mean_of_iprec() -> None:
    """Averaged over queries the levels are trec_eval's interpolated precisions, where no scores are equal."""
    rng = np.random.default_rng(4)
    queries = []
    for query, relevant in enumerate([1, 2, 4, 5, 5]):
        label = rng.permutation([1] * relevant + [0] * 12)
        score = rng.permutation(len(label)) + 1.0
        score = [None if s < 3 else s for s in score.tolist()]
        queries.append(pl.DataFrame({"query": query, "label": label, "score": score, "day": ["x", "y"][query % 2]}))
        for i in range(11):  # its cut, int(r R + 0.9), is the textbook's for these
            assert int(i / 10 * relevant + 0.9) == math.ceil(i / 10 * relevant - 1e-9)
    log = pl.concat(queries, how="vertical_relaxed")
    names = [f"iprec@{i / 10}" for i in range(11)]
    for by in (None, "day"):
        mine = IRM(log, by=by).curve("pr", per="query", levels=11)
        theirs = IRM(log, query="query", by=by).evaluate(*names)
        assert mine["precision"].to_list() == pytest.approx(theirs["value"].to_list(), abs=CLOSE)
        assert mine["threshold"].null_count() == len(mine)
        assert mine.columns == [*([by] if by else []), *CURVES["pr"]]


# Few points


def dense(x: Array, y: Array) -> Array:
    """Return points along a curve, its vertices and some between them."""
    share = np.linspace(0, 1, 9)[:, None]
    line = np.stack([x, y])
    between = line[:, None, :-1] * (1 - share) + line[:, None, 1:] * share
    return between.reshape(2, -1)


def apart(points: Array, x: Array, y: Array, *, each_axis: bool) -> float:
    """Return how far the farthest of some points is from a curve: the sum over the axes, or the greater of both.

    Along a piece the distance falls and rises in straight lines: it is least at an end, where an axis has no gap, or
    where the gaps of both axes are equal.
    """
    line = np.stack([x, y])[:, None]
    step = np.diff(line)
    worst = 0.0
    for begin in range(0, points.shape[1], 64):
        gap = points[:, begin : begin + 64, None] - line[..., :-1]
        with np.errstate(all="ignore"):
            turns = [*gap / step, (gap[0] - gap[1]) / (step[0] - step[1]), (gap[0] + gap[1]) / (step[0] + step[1])]
        at = np.nan_to_num(np.clip([*turns, np.zeros_like(gap[0]), np.ones_like(gap[0])], 0, 1))
        left = np.abs(gap[:, None] - at * step[:, None])
        least = (left.max(axis=0) if each_axis else left.sum(axis=0)).min(axis=(0, 2))
        worst = max(worst, float(least.max()))
    return worst


LABELS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 40)), min_size=2, max_size=60)
QUICK = examples(60)


def check_thinned(
    rows: pl.DataFrame, kind: str, most: int, *, interpolated: bool = False, weight: str | None = None
) -> None:
    """Assert that a curve of few points is near the whole one."""
    options = {"interpolated": True} if interpolated else {}
    irm = IRM(rows, weight=weight)
    whole, few = irm.curve(kind, **options), irm.curve(kind, points=most, **options)
    assert len(few) <= most
    assert few.rows()[0] == whole.rows()[0]
    assert few.rows()[-1] == whole.rows()[-1]
    assert set(few.rows()) <= set(whole.rows())
    assert few["threshold"].is_sorted(descending=True)
    if len(whole) <= most:
        assert few.equals(whole)
    names = CURVES[kind][1:]
    if whole.select(names).null_count().sum_horizontal().item():
        return
    (x, y), (u, v) = (tuple(frame[name].to_numpy() for name in names) for frame in (whole, few))
    bound = (1 + math.log(1 + len(rows))) / (most - 2) if kind == "pr" else 2 / (most - 2)
    for one, other in (((x, y), (u, v)), ((u, v), (x, y))):
        assert apart(dense(*one), *other, each_axis=kind == "pr") <= bound + CLOSE


@pytest.mark.parametrize("kind", ["roc", "gain", "pr"])
@given(rows=LABELS, most=st.integers(3, 30))
@QUICK
def test_few_points_keep_the_curve(kind: str, rows: list[tuple[int, int]], most: int) -> None:
    """`points=` keeps at most so many, both ends, and moves the curve by no more than is said."""
    label, score = zip(*rows, strict=True)
    check_thinned(pl.DataFrame({"label": label, "score": np.array(score, float)}), kind, most)


@pytest.mark.parametrize("most", [3, 10, 50])
@pytest.mark.parametrize("kind", ["roc", "gain", "pr"])
def test_few_points_of_many(kind: str, most: int) -> None:
    """A long curve keeps about as many points as are asked for, and its shape."""
    rng = np.random.default_rng(6)
    score = rng.random(3000)
    rows = pl.DataFrame({"label": (rng.random(3000) < score**3).astype(int), "score": score})
    whole = rows.irm.curve(kind)
    few = rows.irm.curve(kind, points=most)
    assert most / 2 - 1 <= len(few) <= most
    x, y = CURVES[kind][1:]
    bound = (1 + math.log(3001)) / (most - 2) if kind == "pr" else 2 / (most - 2)
    order = few.sort(x)
    if kind != "pr":  # a function of its first axis, but for steps
        near = np.interp(whole[x].to_numpy(), order[x].to_numpy(), order[y].to_numpy())
        assert np.abs(near - whole[y].to_numpy()).max() <= bound
    check_thinned(rows[:120], kind, most)


def test_few_points_of_an_interpolated_curve() -> None:
    """`points=` and `interpolated=` go together."""
    check_thinned(cases(2, 200, values=90), "pr", 12, interpolated=True)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("kind", ["roc", "gain", "pr"])
def test_few_points_do_not_depend_on_the_unit_of_weights(kind: str, scale: float) -> None:
    """A curve of weighted rows moves by no more than is said, whether weights are small or great."""
    rows = cases(2, 200, values=150).with_columns(w=pl.lit(scale))
    for most in (12, 100):
        check_thinned(rows, kind, most, weight="w")


def test_each_query_has_few_points() -> None:
    """The number of points is of each curve."""
    log = pl.concat([cases(seed, 80).with_columns(query=pl.lit(seed)) for seed in range(3)])
    mine = IRM(log).curve("roc", per="query", points=7)
    for seed in range(3):
        own = log.filter(query=seed).drop("query").irm.curve("roc", points=7)
        assert mine.filter(query=seed).drop("query").equals(own)


# Metrics of a ranking at every cutoff


@pytest.mark.parametrize("name", ["ndcg", "precision", "recall", "rr", "ndcg(gain='exp')", "num_rel_ret", "gm_ap"])
def test_a_metric_at_every_cutoff(name: str) -> None:
    """`"ndcg@k"` is evaluate() or per_query() at each cutoff."""
    irm = IRM(LOG, query="qid")
    ks = [1, 2, 3, 7]
    mine = irm.curve(f"{name}@k", cutoffs=ks)
    theirs = irm.evaluate(*(f"{name}@{k}" for k in ks))
    assert mine.columns == ["k", "value"]
    assert mine.rows() == theirs.select("k", "value").rows()
    assert irm.curve(f"{name}@k")["k"].to_list() == list(range(1, 11))
    assert irm.curve(f"{name}@k", cutoffs=3)["k"].to_list() == [1, 2, 3]
    each = irm.curve(f"{name}@k", per="query", cutoffs=ks)
    assert each.rows() == irm.per_query(*(f"{name}@{k}" for k in ks)).select("qid", "k", "value").rows()


def test_a_metric_at_every_cutoff_of_every_segment() -> None:
    """Segments and systems have their rows, weights of queries enter, and judgments beside the frame count."""
    log = LOG.with_columns(run=pl.lit("x"), day=pl.Series(["u", "v", "u", "v", "u", None, None]), w=pl.lit(2))
    irm = IRM(log, query="qid", system="run", by="day", weight="w")
    theirs = irm.evaluate("ndcg@1", "ndcg@2").select("run", "day", "k", "value")
    assert irm.curve("ndcg@k", cutoffs=[1, 2]).rows() == theirs.rows()
    judged = IRM(RUN).judge(QRELS)
    assert judged.curve("recall@k", cutoffs=[3]).rows() == judged.evaluate("recall@3").select("k", "value").rows()


def test_several_metrics_at_every_cutoff() -> None:
    """One call gives a row for each metric and cutoff, named as they were asked for, one by one or in a list."""
    irm = IRM(LOG.with_columns(day=pl.col("qid") == "a"), query="qid", by="day")
    ks = [1, 3, 7]
    mine = irm.curve("ndcg@k", "recall@k", "P@k", cutoffs=ks)
    assert mine.columns == ["day", "metric", "k", "value"]
    assert mine.rows() == irm.curve(["ndcg@k", "recall@k", "P@k"], cutoffs=ks).rows()
    for name in ("ndcg@k", "recall@k", "P@k"):
        assert mine.filter(metric=name).drop("metric").equals(irm.curve(name, cutoffs=ks))
    each = irm.curve("ndcg@k", "recall@k", per="query", cutoffs=ks)
    assert each.columns == ["day", "qid", "metric", "k", "value"]
    assert each.filter(metric="recall@k").drop("metric").equals(irm.curve("recall@k", per="query", cutoffs=ks))


@pytest.mark.parametrize("roles", [{}, {"weight": "w"}, {"cluster": "user"}, {"by": "day"}])
def test_intervals_at_every_cutoff(roles: dict[str, Any]) -> None:
    """The intervals of a curve are those of evaluate(), in any order of the rows and in every kind of frame."""
    random = np.random.default_rng(0)
    query = np.repeat(np.arange(12), 5)
    log = pl.DataFrame({"query": query, "score": random.random(60), "grade": random.integers(0, 3, 60)})
    log = log.with_columns(w=pl.col("query") % 3 + 1, user=pl.col("query") % 4, day=pl.col("query") % 2)
    given: dict[str, Any] = {"ci": 0.9, "resamples": 50, "seed": 3}
    mine = IRM(log, **roles).curve("ndcg@k", "recall@k", cutoffs=[1, 4], **given)
    theirs = IRM(log, **roles).evaluate("ndcg@1", "ndcg@4", "recall@1", "recall@4", **given)
    assert mine.drop("metric").rows() == theirs.select(mine.drop("metric").columns).rows()
    assert mine.columns[-4:] == ["k", "value", "ci_low", "ci_high"]
    assert mine["ci_low"].null_count() == 0
    shuffled = log.sample(fraction=1, shuffle=True, seed=1)
    for kind in KINDS:
        found = as_polars(IRM(as_kind(shuffled, kind), **roles).curve("ndcg@k", "recall@k", cutoffs=[1, 4], **given))
        pl.testing.assert_frame_equal(found, mine, abs_tol=1e-12, check_dtypes=False)


# Logs with ranks and no scores

RANKED = pl.DataFrame(
    {"query": ["a"] * 3 + ["b"] * 3, "rank": [1, 2, 4, 1, 2, None], "label": [1, 0, 1, 0, 1, 1], "day": list("xxxyyy")}
)


def test_precision_and_recall_by_rank() -> None:
    """By hand: at rank 1 one of two results is relevant, of four relevant rows; at rank 4 three of five are."""
    assert RANKED.irm.curve("pr").rows() == [(0, 0, 1), (1, 1 / 4, 1 / 2), (2, 2 / 4, 2 / 4), (4, 3 / 4, 3 / 5)]
    assert RANKED.irm.curve("roc").rows()[-2:] == [(4, 1, 3 / 4), (None, 1, 1)]
    assert RANKED.irm.curve("gain").rows()[:2] == [(0, 0, 0), (1, 2 / 6, 1 / 4)]
    assert RANKED.irm.curve("pr", per="query").filter(query="b").rows()[1:] == [("b", 1, 0, 0), ("b", 2, 1 / 2, 1 / 2)]


@pytest.mark.parametrize("options", [{}, {"per": "query"}, {"levels": 5}, {"levels": 5, "per": "query"}, {"points": 4}])
@pytest.mark.parametrize("kind", ["pr", "roc", "gain"])
@pytest.mark.parametrize("roles", [{}, {"by": "day"}])
def test_ranks_are_scores_that_fall(kind: str, options: dict[str, Any], roles: dict[str, Any]) -> None:
    """A curve by rank is the one of scores that fall with the rank, in every kind of frame."""
    if kind != "pr" and "levels" in options:
        assert "levels= is not for" in error(lambda: RANKED.irm.curve(kind, **options))
        return
    scored = RANKED.select("query", "label", "day", score=-pl.col("rank"))
    theirs = IRM(scored, **roles).curve(kind, **options)
    mine = IRM(RANKED, **roles).curve(kind, **options)
    assert mine["k"].dtype == pl.Int64
    assert mine.drop("k").equals(theirs.drop("threshold"))
    falling = theirs["threshold"].replace(np.inf, 0).replace(-np.inf, None)
    assert mine["k"].to_list() == (0 - falling).to_list()
    for one in KINDS:
        pl.testing.assert_frame_equal(
            as_polars(IRM(as_kind(RANKED, one), **roles).curve(kind, **options)), mine, check_dtypes=False
        )


def test_judgments_beside_a_ranked_log() -> None:
    """Relevant documents that no result is are never reached."""
    run = pl.DataFrame({"query": ["a", "a"], "doc": ["x", "y"], "rank": [1, 3]})
    qrels = pl.DataFrame({"query": ["a", "a"], "doc": ["y", "z"], "label": [1, 1]})
    assert run.irm.judge(qrels).curve("pr").rows() == [(0, 0, 1), (1, 0, 0), (3, 1 / 2, 1 / 2)]


def test_scores_go_before_ranks_in_curves() -> None:
    """Where both are named thresholds are scores, and calibration needs them."""
    both = RANKED.with_columns(score=pl.col("rank") * 1.0)
    assert both.irm(score="score", rank="rank").curve("pr").columns == ["threshold", "recall", "precision"]
    assert "score" in error(lambda: RANKED.irm.curve("calibration"), ColumnError)
    assert "score" in error(lambda: RANKED.irm.curve("distribution"), ColumnError)


# Options


def reached(days: str, **limits: float) -> pl.DataFrame:
    """Return the best threshold of each day, of which the first alone has its relevant row above the other."""
    labels = [(day, label) for day in days for label in ([1, 0] if day == "a" else [0, 1])]
    rows = pl.DataFrame(labels, schema=["day", "label"], orient="row").with_columns(
        score=pl.Series([2.0, 1.0] * len(days))
    )
    return rows.irm(by="day").best_threshold("f1", subject_to=limits)


REFUSALS = r"""
RANKED.irm.curve(["pr", "roc"])
    BadValueError: curve: ['pr', 'roc'] have columns of their own; ask for one, or for metrics at cutoffs as 'ndcg@k',
        'recall@k'
RANKED.irm.curve(["ndcg@k", "roc"])
    BadValueError: curve: 'roc' has columns of its own; ask for it apart from 'ndcg@k'
RANKED.irm.curve(["ndcg@k", "ndcg@k"])
    BadValueError: curve='ndcg@k' is asked for twice
RANKED.irm.curve([])
    BadValueError: curve: no curve is named; ask for one, or for metrics at cutoffs as 'ndcg@k', 'recall@k'
    but: RANKED.irm.curve(["ndcg@k", "rr@k"])
RANKED.irm.curve(["pr"], ci=0.9)
    BadValueError: ci= is not for the curve 'pr'
RANKED.irm.curve(["ndcg@k"], ci=95)
    BadValueError: ci=95 is not a level between 0 and 1, as 0.95
RANKED.irm.curve(["ndcg@k"], ci=0.9, per="query")
    BadValueError: ci=0.9 applies to the mean over queries, and per='query' gives each its own; pass one of them
RANKED.irm.curve(["ndcg@k"], ci=0.9, resamples=0)
    BadValueError: resamples=0 is not a whole number from 1
RANKED.irm.curve(["ndcg@k"], ci=0.9, seed=-1)
    BadValueError: seed=-1 is not a whole number from 0
    but: RANKED.irm.curve(["ndcg@k"], ci=0.9, resamples=2, seed=3)
LOG.irm(query="qid").curve(VALUE, levels=11)
    for: "roc", "gain", "ndcg@k"
    BadValueError: levels= is not for the curve VALUE
LOG.irm(query="qid").curve(VALUE, interpolated=True)
    for: "roc", "ndcg@k"
    BadValueError: interpolated= is not for the curve VALUE
LOG.irm(query="qid").curve(VALUE, points=9)
    for: "calibration", "ndcg@k", "distribution"
    BadValueError: points= is not for the curve VALUE
LOG.irm(query="qid").curve(VALUE, bins=9)
    for: "roc", "pr", "ndcg@k"
    BadValueError: bins= is not for the curve VALUE
LOG.irm(query="qid").curve("pr", cutoffs=10)
    BadValueError: cutoffs= is not for the curve 'pr'
    but: LOG.irm(query="qid").curve("pr", levels=11)
    but: LOG.irm(query="qid").curve("pr", interpolated=True, points=9)
    but: LOG.irm(query="qid").curve("distribution", bins=9)
    but: LOG.irm(query="qid").curve("ndcg@k", cutoffs=10)
LOG.irm(query="qid").curve("roc", points=VALUE)
    for: 0, 2, 10.0, True
    BadValueError: points=VALUE is not a whole number from 3
LOG.irm(query="qid").curve("calibration", bins=VALUE)
    for: 0, 2.5
    BadValueError: bins=VALUE is not a whole number from 1
LOG.irm(query="qid").curve("pr", levels=VALUE)
    for: 1, 0.5, [], [0.5, 2], [True]
    BadValueError: levels=VALUE is not a number of recall levels from 2, or a list of some between 0 and 1
LOG.irm(query="qid").curve("pr", levels=[0, 0.5, 1, 0.5])
    BadValueError: levels=0.5 is asked for twice
LOG.irm(query="qid").curve("pr", levels=11, interpolated=pl.Series([True, False]))
    BadValueError: interpolated=<polars.Series> is not True or False
LOG.irm(query="qid").curve("pr", levels=11, points=9)
LOG.irm(query="qid").curve("pr", levels=11, interpolated=True)
    BadValueError: levels=11 reads off an interpolated curve, and leaves nothing to [...]; pass one of them
LOG.irm(query="qid").curve("pr", interpolated="yes")
    BadValueError: interpolated='yes' is not True or False
    but: LOG.irm(query="qid").curve("roc", points=3)
    but: LOG.irm(query="qid").curve("pr", levels=[0.5, 1])
LOG.irm(query="qid").curve("ndcg@k", cutoffs=VALUE)
    for: 0, []
    BadValueError: cutoffs=VALUE names no cutoff
LOG.irm(query="qid").curve("ndcg@k", cutoffs=[0])
    BadValueError: ndcg@0: the cutoff is not a whole number from 1
LOG.irm(query="qid").curve("ndcg@k", cutoffs=[1.5])
    BadValueError: ndcg@1.5: the cutoff is not a whole number from 1
LOG.irm(query="qid").curve("ndcg@k", cutoffs=1.5)
    BadValueError: cutoffs=1.5 is not a cutoff, or a list of them
LOG.irm(query="qid").curve("ndcg@k", cutoffs=True)
    BadValueError: cutoffs=True is not a cutoff, or a list of them
LOG.irm(query="qid").curve("ndcg@k", cutoffs=[1, 1])
    BadValueError: cutoffs=1 is asked for twice
LOG.irm(query="qid").curve("rprec@k")
    BadValueError: rprec takes no cutoff: rprec@1
LOG.irm(query="qid").curve("roc_auc@k")
    BadValueError: roc_auc takes no cutoff: roc_auc@1
LOG.irm(query="qid").curve("ndcg@5@k")
    BadValueError: curve('ndcg@5@k'): it has a cutoff already; k is each cutoff in ranks, as in 'ndcg@k'
LOG.irm(query="qid").curve("iprec@k", cutoffs=1)
    BadValueError: curve('iprec@k'): @ sets its recall level; k is each cutoff in ranks, as in 'ndcg@k'
    but: LOG.irm(query="qid").curve("ndcg@k", cutoffs=[1, 3])
    but: LOG.irm(query="qid").curve("ndcg@k", cutoffs=np.int64(3))
IRM(LOG.filter(pl.col("grade") < 2), query="qid", undefined="raise").curve("pr", per="query", levels=3)
    NotComputableError: curve('pr') is undefined for 1 of 3 queries
    but: IRM(LOG.filter(pl.col("grade") < 2), query="qid", undefined="null").curve("pr", per="query", levels=3)
    but: IRM(LOG, query="qid", undefined="raise").curve("pr", per="query", levels=np.int64(3))
LOG.irm(query="qid").curve("rok")
    UnknownNameError: curve='rok' is not one of 'roc', 'pr', 'gain', 'calibration', 'distribution', 'ctr', 'ndcg@k'; did
        you mean 'roc'?
LOG.irm(query="qid").curve(5)
    UnknownNameError: curve=5 is not one of 'roc', 'pr', 'gain', 'calibration', 'distribution', 'ctr', 'ndcg@k'
LOG.irm(query="qid").curve("ndcg@10")
    UnknownNameError: curve='ndcg@10' is not one of 'roc', 'pr', 'gain', 'calibration', 'distribution', 'ctr', 'ndcg@k';
        did you mean 'ndcg@k'?
LOG.irm(query="qid").curve("ndgc@k")
    UnknownNameError: there is no metric 'ndgc'; did you mean 'ndcg'?
LOG.irm(query="qid").curve("roc", per="day")
    UnknownNameError: per='day' is not one of 'query'
    but: LOG.irm(query="qid").curve("roc", per="query")
reached("ab", precision=0.9, recall=0.5)
    NotComputableError: 1 segment has no such threshold (b: no threshold meets precision >= 0.9 (the best that can be
        had is 0.5) and recall >= 0.5 (the best that can be had is 1), each where the others hold)
reached("abcde", precision=0.9, recall=0.5)
    NotComputableError: 4 of 5 segments have no such threshold (b: no threshold meets precision >= 0.9 (the best that
        can be had is 0.5) and recall >= 0.5 (the best that can be had is 1), each where the others hold; c: no
        threshold meets precision >= 0.9 (the best that can be had is 0.5) and recall >= 0.5 (the best that can be had
        is 1), each where the others hold; d: no threshold meets precision >= 0.9 (the best that can be had is 0.5) and
        recall >= 0.5 (the best that can be had is 1), each where the others hold; ...)
    but: reached("a", precision=0.9, recall=0.5)
    but: reached("abcde", precision=0.5, recall=0.5)
ROWS.irm.best_threshold("f1", subject_to={"precision": 0.5, PRECISION: 0.9})
    BadValueError: subject_to= names 'precision' twice
    but: ROWS.irm.best_threshold("f1", subject_to={"recall": 0.5, PRECISION: 0.5})
pl.DataFrame({"label": [1, 1], "score": [2.0, 2.0]}).irm.best_threshold(VALUE)
    for: "informedness", "closest"
    NotComputableError: TEXT is undefined at every threshold
pl.DataFrame({"label": [1, 0], "score": [2.0, 2.0]}).irm.best_threshold("markedness")
    NotComputableError: markedness is undefined at every threshold
pl.DataFrame({"label": [0, 1], "score": [2.0, 1.0]}).irm.best_threshold("markedness", subject_to={"fallout": 0})
    NotComputableError: markedness is undefined at every threshold that meets fallout
    but: pl.DataFrame({"label": [0, 1], "score": [2.0, 1.0]}).irm.best_threshold("markedness", subject_to={"fallout":
        1})
"""


def test_curves_and_thresholds_that_there_are_not() -> None:
    """What a curve or a threshold cannot have is refused; limits out of reach are named with their segments."""
    check(REFUSALS, globals())


# Every threshold


@pytest.mark.parametrize("undefined", [None, "null", "zero", "one"])
@pytest.mark.parametrize("rows", [ROWS, UNSCORED, cases(7, 30, values=8), ROWS.filter(label=1), ROWS.filter(label=0)])
def test_thresholds_are_decisions(rows: pl.DataFrame, undefined: Any) -> None:
    """Every measure of the 2x2 table at every threshold is that of evaluate() with that threshold."""
    irm = IRM(rows, undefined=undefined)
    mine = irm.thresholds(*MEASURES)
    assert mine.columns == [*COUNTS, *MEASURES]
    close(mine.select(COUNTS), steps(rows["label"].to_list(), rows["score"].to_list()))
    assert set(mine.select(COUNTS[1:]).dtypes) == {pl.Int64}
    for row in mine.iter_rows(named=True):
        decided = irm(threshold=row["threshold"]).evaluate(*MEASURES)
        for name, value in decided.select("metric", "value").rows():
            assert row[name] == pytest.approx(value, abs=CLOSE), name


def test_every_measure_is_among_those() -> None:
    """The measures that are tried are many, and the new ones are among them."""
    assert len(MEASURES) > 30
    assert {"cost", "corner_distance", "balanced_accuracy", "payoff", "utility"} <= set(MEASURES)


def test_weights_make_counts_sums() -> None:
    """With weights of rows counts are sums of them, floats; a weight of 0 counts nothing."""
    rows = cases(8, 40).with_columns(pl.when(pl.int_range(pl.len()) % 5 > 0).then("w").otherwise(0.0))
    mine = IRM(rows, weight="w").thresholds("precision", "accuracy")
    rows = rows.filter(pl.col("w") > 0)  # the others make no threshold either, as with scikit-learn's curves
    close(mine.select(COUNTS), steps(rows["label"].to_list(), rows["score"].to_list(), rows["w"].to_list()))
    assert set(mine.select(COUNTS[1:]).dtypes) == {pl.Float64}
    for row in mine.iter_rows(named=True):
        decided = IRM(rows, weight="w", threshold=row["threshold"]).evaluate("precision", "accuracy")
        assert [row["precision"], row["accuracy"]] == pytest.approx(decided["value"].to_list(), abs=CLOSE)


def test_scores_that_differ_by_little_are_two_thresholds() -> None:
    """Scores are compared as they are; 0 and -0 are one."""
    rows = pl.DataFrame({"label": [1, 0, 1, 0], "score": [0.5, 0.5 + 2**-53, 0.0, -0.0]})
    assert rows.irm.thresholds()["threshold"].to_list() == [INF, 0.5 + 2**-53, 0.5, 0.0]
    huge = pl.DataFrame({"label": [1, 0, 1], "score": [1e308, -1e308, 5e-324]})
    assert huge.irm.thresholds().rows() == [
        (INF, 0, 0, 2, 1),
        (1e308, 1, 0, 1, 1),
        (5e-324, 2, 0, 0, 1),
        (-1e308, 2, 1, 0, 0),
    ]


@pytest.mark.parametrize("by", [None, "day"])
@pytest.mark.parametrize("far", [0.5, 3.0, 1e300])
def test_a_threshold_of_zero_has_no_sign(far: float, by: str | None) -> None:
    """Scores of 0.0 and -0.0 are one threshold, 0.0, however far apart other scores are, and in each segment."""
    scores = [far, -0.0, 0.0, -far]
    rows = pl.DataFrame({"day": [1] * 4 + [2] * 4, "label": [1, 0, 1, 0] * 2, "score": [*scores, *scores[::-1]]})
    mine = rows.irm(by=by).thresholds()["threshold"]
    assert {str(threshold) for threshold in mine if threshold == 0} == {"0.0"}


@pytest.mark.parametrize("dtype", [pl.Float32, pl.Int64, pl.Int8, pl.UInt16, pl.Boolean])
def test_scores_of_any_type(dtype: Any) -> None:
    """A threshold is a float, whatever the type of the scores."""
    rows = pl.DataFrame({"label": [1, 0, 1], "score": pl.Series([1, 0, 1]).cast(dtype)})
    mine = rows.irm.thresholds()
    assert mine["threshold"].dtype == pl.Float64
    assert mine.rows() == [(INF, 0, 0, 2, 1), (1, 2, 0, 0, 1), (0, 2, 1, 0, 0)]


# The best threshold

CHOICES: dict[str, bool] = {
    "f1": True,
    "fbeta(beta=2)": True,
    "accuracy": True,
    "informedness": True,
    "mcc": True,
    "kappa": True,
    "balanced_accuracy(sensitivity=0.8)": True,
    "payoff(tp=2, fp=-1)": True,
    "payoff": True,
    "jaccard": True,
    "utility": True,
    "lr_positive": True,
    "odds_ratio": True,
    "cost(fp=1, fn=5)": False,
    "closest": False,
    "error_rate": False,
    "fdr": False,
    "miss_rate": False,
}


def best_of(rows: pl.DataFrame, name: str, higher: bool, limits: dict[str, float], up: dict[str, bool]) -> Any:
    """Return the row of thresholds() that is best, looked for one after the other; None if there is none."""
    best = None
    for row in rows.iter_rows(named=True):
        value = row[name]
        met = all(
            row[other] is not None and (row[other] >= bound - 1e-12 if up[other] else row[other] <= bound + 1e-12)
            for other, bound in limits.items()
        )
        if value is None or not met:
            continue
        gain = 0 if best is None else (value - best[name]) * (1 if higher else -1)
        if best is None or gain > 1e-12:
            best = row
    return best


LIMITS: list[dict[str, float]] = [{}, {"recall": 0.5}, {"fallout": 0.25}, {"specificity": 0.5, "miss_rate": 0.5}]
UP = {"recall": True, "specificity": True, "fallout": False, "miss_rate": False}


@pytest.mark.parametrize("limits", LIMITS, ids=["none", "recall", "fallout", "two"])
@pytest.mark.parametrize("name", CHOICES)
def test_the_best_threshold_is_best(name: str, limits: dict[str, float]) -> None:
    """Of the thresholds that meet what they are subject to the best is chosen, of equal ones the highest."""
    for seed in range(4):
        rows = cases(seed, 40, values=12)
        every = rows.irm.thresholds(*dict.fromkeys([name, *limits]))
        expected = best_of(every, name, CHOICES[name], limits, UP)
        mine = rows.irm.best_threshold(name, subject_to=limits)
        assert mine.columns == [*COUNTS, *dict.fromkeys([name, *limits])]
        assert mine.rows(named=True) == [expected]


def test_of_equal_thresholds_the_highest_is_chosen() -> None:
    """Values that differ by rounding alone are equal."""
    rows = pl.DataFrame({"label": [1, 0, 1, 0], "score": [4.0, 3.0, 2.0, 1.0]})
    assert rows.irm.best_threshold("accuracy")["threshold"].to_list() == [4]
    assert rows.irm.best_threshold("cost(fp=0, fn=0)")["threshold"].to_list() == [INF]
    # 0.1 + 0.2 is more than 0.3, by rounding: (3, 0.3) and (2, 0.1 + 0.2) have the same cost
    weights = pl.DataFrame(
        {"label": [1, 0, 1], "score": [3.0, 2.0, 1.0], "w": [1.0, 0.3, 0.1 + 0.2]},
    )
    mine = IRM(weights, weight="w").best_threshold("error_rate", subject_to={"recall": 0.5})
    assert mine["threshold"].to_list() == [3]


@pytest.mark.parametrize("higher", [True, False])
def test_a_limit_is_met_at_its_value(higher: bool) -> None:
    """Metrics of which more is better have to reach the limit, others not to pass it; equality will do."""
    rows = pl.DataFrame({"label": [1, 0, 1, 0], "score": [4.0, 3.0, 2.0, 1.0]})
    limits = {"recall": 1.0} if higher else {"fallout": 0.0}
    mine = rows.irm.best_threshold("precision", subject_to=limits)
    assert mine.select("threshold", "precision").rows() == [(2, 2 / 3) if higher else (4, 1)]


@pytest.mark.parametrize(
    ("limits", "bests"),
    [
        ({"recall": 1.5}, {"recall": 1.0}),
        ({"precision": 0.99}, {"precision": 0.75}),
        ({"fallout": -0.5}, {"fallout": 0.0}),
        ({"precision": 0.7, "recall": 0.9}, {"precision": 4 / 7, "recall": 0.75}),
        ({"precision": 0.7, "recall": 0.9, "fallout": 0.8}, {"precision": 4 / 7, "recall": 0.75, "fallout": 0.0}),
        ({"kappa": 0.9, "fallout": 0.1}, {"kappa": 0.0, "fallout": 0.0}),
    ],
)
def test_what_is_out_of_reach(limits: dict[str, float], bests: dict[str, float]) -> None:
    """Where no threshold meets the limits, the error says of each the best that can be had where the others hold."""
    rows = pl.DataFrame({"label": [0, 1, 1, 1, 0, 0, 1, 0], "score": [8.0, 8.0, 8.0, 8.0, 4.0, 3.0, 2.0, 1.0]})
    every = rows.irm.thresholds(*limits)
    with pytest.raises(NotComputableError) as caught:
        rows.irm.best_threshold("f1", subject_to=limits)
    said = str(caught.value)
    for name, bound in limits.items():
        better = "<=" if name == "fallout" else ">="
        rest = [other for other in limits if other != name]
        beside = every.filter(*(pl.col(x) <= limits[x] if x == "fallout" else pl.col(x) >= limits[x] for x in rest))
        own = (beside if len(beside) else every)[name].drop_nulls()  # none meets the others: of all thresholds
        best = own.min() if better == "<=" else own.max()
        assert best == pytest.approx(bests[name], abs=CLOSE)
        assert f"{name} {better} {bound:g} (the best that can be had is {best:.6g})" in said


def test_the_best_of_pooled_queries() -> None:
    """With a query named its rows are pooled; a metric may be limited by itself."""
    named = IRM(LOG, query="qid").best_threshold("f1", subject_to={"f1": 0.5})
    assert named.columns == [*COUNTS, "f1"]
    assert named.equals(LOG.irm(unjudged="negative").best_threshold("f1"))
