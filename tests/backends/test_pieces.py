"""Frames that are larger than the memory allowed: the same numbers, piece by piece, whatever the order of the rows."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from frame_metrics import (
    IRM,
    BadRowsError,
    BadValueError,
    ColumnError,
    FrameMetricsError,
    NotComputableError,
    UnknownNameError,
)
from helpers import pairwise_cases
from inside import LazyPolars, always_a_progress_bar

SMALL = 100_000  # bytes, of which pieces have a sixteenth; the log below has more than a quarter, in any two columns
FEW_PIECES = 250_000  # the same where four columns are needed
METRICS = ("ndcg@5", "map", "rr", "precision@3", "recall", "num_rel")
ROLES: dict[str, Any] = {"query": "q", "score": "score", "grade": "grade", "doc": "doc"}
Call = Callable[[IRM[Any]], Any]


def _log(n: int = 3000) -> pl.DataFrame:
    """Results of three systems on 60 queries, some of them without a judgment; some queries of a system alone."""
    draw = np.random.default_rng(3)
    rows = pl.DataFrame({"q": draw.integers(0, 60, n), "system": draw.choice(["a", "b", "c"], n)})
    rows = rows.filter((pl.col("q") > 5) | (pl.col("system") == "b"))
    rows = rows.with_columns(doc=pl.int_range(pl.len()).over("q", "system"), score=draw.random(len(rows)).round(2))
    grade = (pl.col("q") * 31 + pl.col("doc") * 7) % 5 - 2
    device = pl.when(pl.col("q") % 3 > 0).then(pl.format("d{}", pl.col("q") % 3))
    rows = rows.with_columns(said=pl.when(pl.col("score") > 0.5).then(pl.lit("good")).otherwise(pl.lit("bad")))
    return rows.with_columns(
        grade=pl.when((grade >= 0) & (pl.col("q") != 20)).then(grade),
        device=device,
        user=pl.format("u{}", pl.col("q") // 4),
        traffic=(pl.col("q") % 7) + 0.5,
    )


def _saved() -> pl.DataFrame:
    """Numbers of some of the queries, and of one that the log has not."""
    return pl.DataFrame({"q": [*range(7, 50), 200], "rr": 0.5})


def _qrels(log: pl.DataFrame) -> pl.DataFrame:
    """Judgments of some documents, and of two queries that no system answered."""
    found = log.select("q", "doc").unique(maintain_order=True).filter((pl.col("q") * 7 + pl.col("doc")) % 4 == 0)
    found = found.with_columns(rating=pl.col("doc") % 3)
    return pl.concat([found, pl.DataFrame({"q": [100, 101], "doc": [1, 1], "rating": [2, 0]}, schema=found.schema)])


ORDERS = ("in order", "shuffled")


@pytest.fixture(params=ORDERS)
def stored(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[pl.DataFrame], tuple[Any, Any]]:
    """Returns a log in memory, and the same in a file of many row groups; its queries together, or not."""

    def store(log: pl.DataFrame) -> tuple[pl.DataFrame, pl.LazyFrame]:
        log = log.sort("q", maintain_order=True) if request.param == "in order" else log
        log.write_parquet(tmp_path / "log.parquet", row_group_size=200)
        return log, pl.scan_parquet(tmp_path / "log.parquet")

    return store


def _same(call: Call, both: tuple[Any, Any], memory: int = SMALL, **roles: Any) -> None:
    """A verb gives the same of a file that is larger than memory as of a frame in memory."""
    whole, file = both
    found = call(file.irm(**roles, memory=memory)).collect()
    assert_frame_equal(found, call(whole.irm(**roles)), rel_tol=1e-12, abs_tol=1e-12)


def _same_error(call: Call, both: tuple[Any, Any], **roles: Any) -> str:
    """A verb raises the same of a file that is larger than memory as of a frame in memory, and says it."""
    said = []
    for frame in both:
        with pytest.raises(FrameMetricsError) as raised:
            call(frame.irm(**roles, memory=SMALL)).lazy().collect()
        said.append((type(raised.value), str(raised.value)))
    assert said[0] == said[1]
    return said[0][1]


OF_QUERIES: dict[str, tuple[Call, dict[str, Any]]] = {
    "evaluate": (lambda irm: irm.evaluate(METRICS, ci=0.9, resamples=50), {"system": "system"}),
    "by": (lambda irm: irm.evaluate(METRICS, ci=0.9, resamples=50, margins=True), {"system": "system", "by": "device"}),
    "weight": (lambda irm: irm.evaluate(METRICS), {"system": "system", "weight": "traffic"}),
    "cluster": (lambda irm: irm.evaluate(METRICS, ci=0.9, resamples=50), {"system": "system", "cluster": "user"}),
    "wide": (lambda irm: irm.evaluate(METRICS, layout="wide"), {"system": "system", "by": ["device", "traffic"]}),
    "micro": (lambda irm: irm.evaluate("recall", "precision@3", average=["macro", "micro", "rows"]), {"by": "system"}),
    "median": (lambda irm: irm.evaluate(METRICS, average=["median", "q0.9", "min"]), {"system": "system"}),
    "per_query": (lambda irm: irm.per_query(METRICS), {"system": "system", "by": "device"}),
    "per_query wide": (lambda irm: irm.per_query(METRICS, layout="wide"), {"by": ["system", "device"]}),
    "compare": (lambda irm: irm.compare(METRICS, permutations=50), {"system": "system", "by": "device"}),
    "compare clusters": (lambda irm: irm.compare("rr", permutations=50), {"system": "system", "cluster": "user"}),
    "leaderboard": (lambda irm: irm.leaderboard(METRICS, permutations=50), {"system": "system", "by": "device"}),
    "similarity": (lambda irm: irm.similarity("rbo", "tau_ap", baseline="a"), {"system": "system", "by": "device"}),
    "similarity of all": (lambda irm: irm.similarity("jaccard@3", per_query=True), {"system": "system"}),
    "compare per query": (lambda irm: irm.compare("rr", baseline="a", per_query=True), {"system": "system"}),
    "curve of cutoffs": (lambda irm: irm.curve("ndcg@k", "recall@k", cutoffs=[1, 5]), {"system": "system"}),
    "thresholds": (lambda irm: irm.thresholds("f1"), {"system": "system", "by": "device"}),
    "best_threshold": (lambda irm: irm.best_threshold("f1"), {"system": "system"}),
    "confusion": (lambda irm: irm(threshold=0.5).confusion(margins=True), {"system": "system", "by": "device"}),
    "per_class": (lambda irm: irm(threshold=0.5).per_class("f1", "precision"), {"system": "system"}),
    "curve": (lambda irm: irm.curve("roc"), {"system": "system", "by": "device"}),
    "distribution": (lambda irm: irm.curve("distribution"), {"system": "system", "by": "device"}),
    "curve per query": (lambda irm: irm.curve("pr", per="query"), {"system": "system"}),
    "ties": (lambda irm: irm.evaluate("ndcg@5"), {"system": "system", "ties": "order"}),
    "explain": (lambda irm: irm.explain("ndcg@5", query=33), {"system": "system", "by": "device"}),
    "explain of one system alone": (lambda irm: irm.explain("ap", query=3), {"system": "system"}),
    "bounds": (lambda irm: irm.bounds("ndcg@5", "ap", "rr", of="ties"), {"by": ["system", "device"]}),
    "bounds per query": (lambda irm: irm.bounds("precision@3", "rr", of="ties", per_query=True), {"system": "system"}),
    "bounds unjudged": (
        lambda irm: irm.bounds("ndcg@5", "precision@3", "err@5", of="unjudged", max_grade=4),
        {"system": "system", "by": "device"},
    ),
    "bounds of differences": (
        lambda irm: irm.bounds("ndcg@5", "precision@3", "ap", of="unjudged", baseline="a", max_grade=4),
        {"system": "system", "by": "device"},
    ),
    "audit": (lambda irm: irm.audit(), {"system": "system", "by": "device"}),
    "audit of decisions": (lambda irm: irm(threshold=0.5, collection_size=5000).audit(), {"system": "system"}),
    "audit of positives": (lambda irm: irm(positive=["good"], predicted="said").audit(), {"by": ["system", "device"]}),
    "audit of a split": (
        lambda irm: irm.audit(split={"a": 0.3, "b": 0.4, "c": 0.3}),
        {"arm": "system", "by": "device", "cluster": "user"},
    ),
    "evaluate arms": (lambda irm: irm.evaluate(METRICS, ci=0.9, margins=True, resamples=50), {"arm": "system"}),
    "per query of arms": (lambda irm: irm.per_query(METRICS), {"arm": "system", "by": "device"}),
    "change": (lambda irm: irm.change(METRICS, permutations=50), {"arm": "system", "by": "device"}),
    "sample size of arms": (lambda irm: irm.sample_size("rr", detect=0.1, resamples=20), {"arm": "system"}),
    "audit beside a baseline": (lambda irm: irm.audit(baseline=_saved()), {"system": "system"}),
}


@pytest.mark.parametrize(
    ("name", "judged", "stored"), pairwise_cases(OF_QUERIES, [False, True], ORDERS), indirect=["stored"]
)
def test_queries_in_pieces(name: str, judged: bool, stored: Any) -> None:
    """Verbs about queries give the same, intervals and p-values too, with grades in the log or beside it."""
    call, more = OF_QUERIES[name]
    log = _log()
    if not judged:
        _same(call, stored(log), FEW_PIECES, **ROLES, **more)
        return
    qrels, roles = _qrels(log), {**ROLES, **more, "grade": None}
    if {"weight", "cluster"} & set(more):  # which nobody knows of queries without results
        qrels = qrels.filter(pl.col("q") < 100)
    _same(lambda irm: call(irm.judge(qrels, grade="rating")), stored(log.drop("grade")), FEW_PIECES, **roles)


LENT = [{"by": "place"}, {"cluster": "place"}, {"weight": "size"}, {"collection_size": "size"}]


@pytest.mark.parametrize("lent", LENT, ids=str)
def test_what_judgments_say_in_pieces(lent: dict[str, Any], stored: Any) -> None:
    """Segments, clusters, weights and sizes that only the judgments have are those of their queries."""
    log = _log()
    qrels = _qrels(log).with_columns(place=pl.format("p{}", pl.col("q") % 4), size=pl.col("q") + 10_000)
    metrics = (*METRICS, *["tn", "fallout"] * ("collection_size" in lent))
    _same(
        lambda irm: irm.judge(qrels, grade="rating").evaluate(metrics, ci=0.9, resamples=50, margins="by" in lent),
        stored(log.drop("grade")),
        **{**ROLES, "grade": None, "system": "system", **lent},
    )


@pytest.mark.slow
def test_a_collection_size_that_nobody_says_in_pieces(stored: Any) -> None:
    """Of judged queries in no piece too it is an error where true negatives are read, and a finding."""
    log = _log().with_columns(size=pl.col("q") + 10_000)
    both, roles = stored(log.drop("grade")), {**ROLES, "grade": None, "system": "system", "collection_size": "size"}
    _same_error(lambda irm: irm.judge(_qrels(log), grade="rating").evaluate("fallout"), both, **roles)
    _same(lambda irm: irm.judge(_qrels(log), grade="rating").evaluate("recall"), both, **roles)
    _same(lambda irm: irm.judge(_qrels(log), grade="rating").audit(), both, **roles)


@pytest.mark.slow
@pytest.mark.parametrize("judged", [False, True], ids=["", "judged"])
def test_bad_rows_are_found_in_pieces(judged: bool, stored: Any) -> None:
    """An audit counts the rows of every piece that are bad in one way, and names the first of them all."""
    log = _log().with_row_index("at")
    score = pl.when(pl.col("at") % 311 == 5).then(np.inf).when(pl.col("at") % 417 == 7).then(None).otherwise("score")
    query = pl.when(pl.col("at") % 701 == 9).then(None).otherwise("q")
    alone = pl.when(pl.col("at") % 311 == 5).then(pl.lit("d")).otherwise("system")
    log = log.with_columns(score, query.alias("q"), alone.alias("system"), user=pl.col("at") % 997 // 996 + pl.col("q"))
    log = pl.concat([log, log.filter(pl.col("at") % 501 == 3)])
    roles = {**ROLES, "system": "system", "cluster": "user"}
    if not judged:
        _same(lambda irm: irm.audit(), stored(log), **roles)
        _same(lambda irm: irm(duplicates="first").audit(), stored(log), **roles)
        return
    qrels = _qrels(_log()).with_columns(who=pl.format("w{}", pl.col("doc") % 3))
    qrels = pl.concat([qrels, qrels[::7].with_columns(pl.col("rating") + 1, who=pl.lit("w9"))])
    _same(
        lambda irm: irm.judge(qrels, grade="rating", annotator="who").audit(),
        stored(log.drop("grade")),
        **{**roles, "grade": None},
    )


@pytest.mark.slow
@pytest.mark.parametrize("systems", [0, 1, 3])
def test_judged_queries_of_bad_rows_are_counted_once_in_pieces(systems: int, stored: Any) -> None:
    """A judged query whose rows are all bad was in a piece, and is none of those that are in no piece."""
    score = pl.when(pl.col("q") % 20 == 13).then(np.inf).otherwise("score")
    log = _log().with_columns(score=score, by=pl.col("q") % 2).filter((pl.col("system") == "b") | (systems == 3))
    qrels = _qrels(log)
    roles = {**ROLES, "grade": None, "by": "by"} | ({"system": "system"} if systems else {})
    both = stored(log.drop("grade"))
    _same(lambda irm: irm.judge(qrels, grade="rating").audit(), both, **roles)
    (row,) = (
        both[1]
        .irm(**roles, memory=SMALL)
        .judge(qrels, grade="rating")
        .audit()
        .collect()
        .filter(check="judged queries of no known segment")
        .rows(named=True)
    )
    lost = qrels["q"].filter(qrels["q"].is_in([13, 33, 53, 100, 101])).n_unique()
    assert (row["n"], row["share"]) == (lost, lost / qrels["q"].n_unique())


def test_a_row_longer_than_a_piece(stored: Any) -> None:
    """A piece has a row at least, however little memory there is."""
    log = _log(300).with_columns(pl.format("{}{}", "doc", pl.lit("x" * 1000)).alias("doc"))
    _same(lambda irm: irm.evaluate("rr", "ndcg@5"), stored(log), memory=5000, **ROLES, system="system")


@pytest.mark.parametrize("judged", [False, True], ids=["", "judged"])
def test_an_example_is_the_first_of_the_frame_not_of_a_piece(judged: bool, stored: Any) -> None:
    """What several pieces have has the example that comes first in the log, or in the judgments beside it."""
    place = pl.when(pl.col("q") != 53).then(pl.col("q") % 4)
    log, lost = _log().with_columns(place=place, by=pl.col("q") % 2), pl.col("q") % 20 == 13
    if not judged:
        log = log.with_columns(grade=pl.when(lost).then(-1 - (pl.col("doc") > 4)).otherwise(1))
        _same(lambda irm: irm.audit(), stored(log), **ROLES, system="system")
        return
    qrels = _qrels(log).with_columns(place=place).sort(pl.col("q") != 13, maintain_order=True)
    both = stored(log.drop("grade").with_columns(score=pl.when(lost).then(np.inf).otherwise("score")))
    roles = {**ROLES, "grade": None, "by": ["by", "place"]}
    _same(lambda irm: irm.judge(qrels, grade="rating").audit(), both, **roles)


@pytest.mark.parametrize("query", ["q", None])
def test_a_split_of_a_system_without_a_share_in_pieces(query: str | None, stored: Any) -> None:
    """An arm without a share is an error, beside rows that are bad too."""
    arm = pl.when(pl.col("q") % 8 > 0).then(pl.format("arm {}", pl.col("q") % 2)).otherwise(pl.lit("none"))
    log = _log().filter(pl.col("system") == "b").with_columns(system=arm, label=pl.col("grade").fill_null(0) > 0)
    log = pl.concat(
        [log.drop("grade", "said")] * 4 if query is None else [log.with_columns(pl.col("grade").fill_null(0))]
    )
    roles = {"query": query, "score": "score", "label": "label", "arm": "system", "grade": None}
    roles |= {"threshold": 0.5} if query is None else {"doc": "doc"}
    split = {"arm 0": 0.5, "arm 1": 0.5}
    assert "'none' of system has no share" in _same_error(lambda irm: irm.audit(split=split), stored(log), **roles)
    bad = log.with_columns(score=pl.when(pl.col("score") == 0.4).then(np.inf).otherwise("score"))
    assert "'none' of system has no share" in _same_error(lambda irm: irm.audit(split=split), stored(bad), **roles)


@pytest.mark.slow
def test_a_gate_on_a_file_in_pieces(stored: Any) -> None:
    """What is as grave as said is raised at once, with the words of a frame in memory."""
    log, file = stored(_log().with_columns(pl.col("score").replace(0.5, np.inf)))
    said = []
    for one in (log, file):
        with pytest.raises(BadValueError, match="scores that are infinite") as raised:
            one.irm(**ROLES, system="system", memory=SMALL).audit("error")
        said.append(str(raised.value))
    assert said[0] == said[1]


@pytest.mark.parametrize("stored", ORDERS, indirect=True)
def test_queries_that_stand_together_need_no_temporary_file(stored: Any, tmp_path: Path) -> None:
    """A folder that went is missed where rows of a query stand apart, and only there."""
    log, file = stored(_log())
    (folder := tmp_path / "gone").mkdir()
    roles = {**ROLES, "system": "system"}
    large = file.irm(**roles, memory=SMALL, temporary=str(folder))
    folder.rmdir()
    if log["q"].is_sorted():
        found = large.evaluate("rr").collect()
        assert_frame_equal(found, log.irm(**roles).evaluate("rr"), rel_tol=1e-12, abs_tol=1e-12)
    else:
        with pytest.raises(FrameMetricsError, match=r"temporary files cannot be written in .*gone"):
            large.evaluate("rr").collect()


@pytest.mark.slow
def test_columns_are_read_in_the_order_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever part a column plays: polars holds twice as much ahead where columns are to change places."""
    seen, read = [], pl.LazyFrame.collect_batches

    def noted(plan: pl.LazyFrame, **options: Any) -> Any:
        seen.append(plan.collect_schema().names())
        return read(plan, **options)

    monkeypatch.setattr(pl.LazyFrame, "collect_batches", noted)
    monkeypatch.setattr("frame_metrics.backends.polars.AHEAD", 0)  # else a file is read in slices
    log = _log()
    _scanned(log, tmp_path).irm(**ROLES, by="device", system="system", memory=SMALL).evaluate("rr").collect()
    assert {"q", "doc", "score", "grade", "device", "system"} in map(set, seen)
    assert all(names == [name for name in log.columns if name in names] for names in seen)


def test_clusters_that_only_judgments_say_in_pieces(stored: Any) -> None:
    """Units of a split that only the judgments know are those of the judged queries."""
    log = _log().with_columns(arm=pl.format("arm {}", pl.col("q") // 4 % 2)).filter(pl.col("system") == "b")
    qrels = _qrels(log).filter(pl.col("q") < 40).with_columns(who=pl.col("q") // 3)
    _same(
        lambda irm: irm.judge(qrels, grade="rating").audit(split={"arm 0": 0.5, "arm 1": 0.5}),
        stored(log.drop("grade")),
        **{**ROLES, "grade": None, "arm": "arm", "cluster": "who"},
    )


def test_grades_of_rows_of_which_none_is_relevant_in_pieces(stored: Any) -> None:
    """Rows that are counted have no numbers; how many there are is told all the same."""
    log, file = stored(_log())
    one, other = (of.irm(query=None, grade="grade", rel=5, score="score", memory=SMALL).audit() for of in (log, file))
    assert_frame_equal(other.collect(), one.with_columns(example=pl.lit(None, pl.String)))


OF_ROWS: dict[str, tuple[Call, dict[str, Any]]] = {
    "evaluate": (lambda irm: irm.evaluate("f1", "mcc", ci=0.9, resamples=50), {"by": "device", "threshold": 0.5}),
    "scores": (lambda irm: irm.evaluate("roc_auc", "average_precision", "brier", "lift(top=0.1)"), {"by": "device"}),
    "weight": (lambda irm: irm.evaluate("recall"), {"weight": "traffic", "threshold": 0.5}),
    "count": (lambda irm: irm.evaluate("recall"), {"count": "times", "threshold": 0.5}),
    "clusters": (lambda irm: irm.evaluate("recall", ci=0.9, resamples=50), {"cluster": "user", "threshold": 0.5}),
    "thresholds": (lambda irm: irm.thresholds("recall"), {}),
    "confusion": (lambda irm: irm.confusion(), {"threshold": 0.5, "system": "system"}),
    "curve": (lambda irm: irm.curve("roc"), {"by": "system"}),
    "per_class": (lambda irm: irm.per_class("f1"), {"label": "place", "predicted": "guess", "grade": None}),
    "audit": (lambda irm: irm.audit(), {"by": "device", "threshold": 0.9}),
    "audit of counts": (lambda irm: irm.audit(), {"count": "times"}),
    "audit of classes": (lambda irm: irm.audit(), {"label": "place", "predicted": "guess", "grade": None}),
    "audit of a split": (lambda irm: irm.audit(split={"a": 0.5, "b": 0.4, "c": 0.1}), {"arm": "system"}),
    "audit of no positive": (
        lambda irm: irm.audit(),
        {"label": "place", "predicted": "guess", "grade": None, "positive": "p7", "count": "times"},
    ),
}


PAIRED: dict[str, tuple[Call, dict[str, Any]]] = {
    "mcnemar": (lambda irm: irm.compare("accuracy", "f1", resamples=50), {"threshold": 0.5}),
    "by": (lambda irm: irm.compare("accuracy", "mcc", resamples=50), {"threshold": 0.5, "by": "device"}),
    "delong": (lambda irm: irm.compare("roc_auc", "average_precision", resamples=50), {"by": "device"}),
    "weight": (lambda irm: irm.compare("recall", resamples=50), {"threshold": 0.5, "weight": "traffic"}),
    "cluster": (lambda irm: irm.compare("recall", resamples=50), {"threshold": 0.5, "cluster": "user"}),
    "count": (lambda irm: irm.compare("recall", resamples=50), {"threshold": 0.5, "count": "times"}),
    "classes": (
        lambda irm: irm.compare("accuracy", "f1", baseline="a", resamples=50),
        {"label": "place", "predicted": "guess", "grade": None, "score": None},
    ),
    "chance": (lambda irm: irm.compare("informedness", "roc_auc", against="chance", resamples=50), {"threshold": 0.5}),
    "majority": (lambda irm: irm.compare("accuracy", against="majority"), {"threshold": 0.5, "by": "device"}),
    "arms": (
        lambda irm: irm.ab_test("recall", "roc_auc", baseline="a", resamples=50, split="equal"),
        {"threshold": 0.5, "by": "device", "system": None, "arm": "system"},
    ),
    "arms of users": (
        lambda irm: irm.ab_test("f1", baseline="a", resamples=50),
        {"threshold": 0.5, "cluster": "user", "system": None, "arm": "system"},
    ),
}


@pytest.mark.parametrize("name", PAIRED)
def test_systems_of_rows_compared_in_pieces(name: str, stored: Any) -> None:
    """Rows of a document come together, and documents whose rows are alike are counted: the numbers are the same."""
    call, more = PAIRED[name]
    log = _log().with_columns(
        id=pl.col("q") * 1000 + pl.col("doc"),
        times=pl.col("doc") % 3,
        place=pl.format("p{}", pl.col("q") % 4),
        guess=pl.format("p{}", pl.col("score") * 1000 % 4 // 1),
    )
    log = log.with_columns(pl.col("guess").str.strip_suffix(".0"), pl.col("grade").fill_null(0))
    roles = {"query": None, "score": "score", "grade": "grade", "doc": "id", "system": "system", **more}
    _same(call, stored(log), **roles)


@pytest.mark.parametrize("name", OF_ROWS)
def test_rows_in_pieces(name: str, stored: Any) -> None:
    """Rows without a query are counted by their values, and give the same."""
    call, more = OF_ROWS[name]
    log = _log().with_columns(
        times=pl.col("doc") % 3, place=pl.format("p{}", pl.col("q") % 4), guess=pl.format("p{}", pl.col("doc") % 4)
    )
    score = None if "label" in more else "score"
    _same(call, stored(log), **{"query": None, "score": score, "grade": "grade", "unjudged": "negative", **more})


@pytest.mark.parametrize("users", [4, 1])
def test_arms_in_pieces(users: int, stored: Any) -> None:
    """Arms, each with queries of its own, are compared with the covariate of their users, who may be of both."""
    log = _log().with_columns(arm=pl.format("arm {}", pl.col("q") // users % 2), before=pl.col("q") // 4 * 0.5)
    log = log.filter(pl.col("system") == "b")
    _same(
        lambda irm: irm.ab_test(METRICS, baseline="arm 0", covariate="before", permutations=50, split="equal"),
        stored(log),
        **{**ROLES, "doc": None, "system": None, "arm": "arm", "cluster": "user"},
    )


def test_a_column_for_each_system_in_pieces(stored: Any) -> None:
    """Systems that are columns are measured on the rows of each piece."""
    log = _log().filter(pl.col("system") == "b").with_columns(other=1 - pl.col("score") ** 2)
    _same(lambda irm: irm.evaluate(METRICS), stored(log), **{**ROLES, "score": ["score", "other"]})
    roles, qrels = {**ROLES, "score": ["score", "other"], "grade": None}, _qrels(log)
    _same(lambda irm: irm.judge(qrels, grade="rating").per_query("rr"), stored(log.drop("grade")), **roles)


@pytest.mark.slow
def _numbers(metrics: list[str] | None = None) -> pl.DataFrame:
    """Numbers of two systems on 400 queries, some not answered; with names a row for each metric, else two columns."""
    draw = np.random.default_rng(5)
    rows = pl.DataFrame({"q": np.repeat(np.arange(400), 2), "system": ["a", "b"] * 400, "rr": draw.random(800)})
    rows = rows.with_columns(ap=pl.when(pl.col("rr") > 0.1).then(1 - pl.col("rr")), answered=pl.col("rr") > 0.2)
    rows = rows.filter(pl.Series(draw.random(800) < 0.9)).sample(fraction=1, shuffle=True, seed=1)
    if metrics is None:
        return rows
    keys = ["q", "system", "answered"]
    return rows.rename({"rr": metrics[0], "ap": metrics[1]}).unpivot(
        metrics, index=keys, variable_name="metric", value_name="value"
    )


@pytest.mark.parametrize("unanswered", [None, "drop"])
@pytest.mark.parametrize("form", ["columns", "rows", "rows of no metric of ours"])
def test_saved_numbers_in_pieces(form: str, unanswered: str | None, stored: Any) -> None:
    """Numbers that were computed elsewhere are read piece by piece, of metrics that are a name and no more too."""
    names = {"columns": None, "rows": ["rr", "ap"], "rows of no metric of ours": ["mine", "yours@5"]}[form]
    both = stored(_numbers(names).sort("q", maintain_order=True))
    roles: dict[str, Any] = {"value": ["rr", "ap"] if names is None else "value", "system": "system", "query": "q"}
    _same(lambda irm: irm.evaluate(ci=0.9, resamples=20), both, 15_000, **roles, unanswered=unanswered)
    _same(lambda irm: irm.per_query(), both, 15_000, **roles, unanswered=unanswered)
    asked = names or ["rr", "ap"]
    _same(lambda irm: irm.per_query(*asked[::-1], layout="wide"), both, 15_000, **roles, unanswered=unanswered)
    _same(lambda irm: irm.compare(asked[1], permutations=20), both, 15_000, **roles, unanswered=unanswered)


def _spoilt() -> dict[str, tuple[pl.DataFrame, str]]:
    """Numbers that are refused, and a part of the error."""
    rows = _numbers(["rr", "ap"]).sort("q", maintain_order=True)
    first = pl.int_range(pl.len()) == 400
    return {
        "twice": (pl.concat([rows, rows[300:301]]), "a metric of "),
        "no metric": (rows.with_columns(metric=pl.when(~first).then("metric")), "no metric .row 400.; drop them"),
        "infinite": (rows.with_columns(value=pl.when(first).then(float("inf")).otherwise("value")), "infinite"),
        "no rows": (rows.head(0), "the frame has no rows"),
        "apart": (rows.filter((pl.col("q") < 200) == (pl.col("system") == "a")), "and no other system has"),
        "cutoffs": (rows.with_columns(k=7), "is in a row with k = 7"),
    }


@pytest.mark.parametrize("name", _spoilt())
def test_saved_numbers_that_are_refused_in_pieces(name: str, stored: Any) -> None:
    """What is wrong with numbers in memory is wrong with them in pieces."""
    rows, said = _spoilt()[name]
    for frame in stored(rows):
        with pytest.raises(FrameMetricsError, match=said):
            frame.irm(query="q", value="value", system="system", memory=15_000).evaluate("rr").lazy().collect()


def test_saved_numbers_of_another_metric_in_pieces(stored: Any) -> None:
    """A metric without numbers is an error that names those that there are."""
    _, file = stored(_numbers(["rr", "ap"]))
    with pytest.raises(UnknownNameError, match="has no numbers of 'f1'; it has"):
        file.irm(query="q", value="value", system="system", memory=15_000).evaluate("f1").collect()


def test_systems_of_an_enum_in_pieces(stored: Any) -> None:
    """A piece knows the systems by their texts, whatever numbers their type gives them."""
    log = _log().with_columns(pl.col("system").cast(pl.Enum(["c", "x", "a", "b"])))
    _same(lambda irm: irm.evaluate(METRICS), stored(log), **ROLES, system="system")


def test_lists_in_pieces(stored: Any) -> None:
    """Rows that hold the results of a query are whole queries; without an id they have their numbers."""
    log = _log(12_000).filter(pl.col("system") == "b").group_by("q", maintain_order=True)
    lists = log.agg("doc", "score", relevant=pl.col("doc").filter(pl.col("grade") > 0))
    assert lists.estimated_size() > SMALL // 4
    _same(lambda irm: irm.per_query("rr", "recall"), stored(lists), query="q")


def test_lists_without_an_id_in_pieces(stored: Any) -> None:
    """Rows that are queries of their own have the numbers of the whole frame, whatever piece they are in."""
    log = _log(12_000).filter(pl.col("system") == "b").group_by("q", maintain_order=True)
    lists = (
        log.agg("doc", "score", "grade").drop("q").with_columns(pl.col("grade").list.eval(pl.element().fill_null(0)))
    )
    assert lists.estimated_size() > SMALL // 4
    _same(lambda irm: irm.per_query("rr", "ndcg@5"), stored(pl.concat([lists] * 3).with_columns(q=1)), score="score")
    _same(lambda irm: irm.explain("ndcg@5", query=57), stored(lists.with_columns(q=1)), score="score")


@pytest.mark.parametrize("memory", [None, SMALL])
def test_a_file_without_rows(memory: int | None, tmp_path: Path) -> None:
    """A file without rows, or of which a filter leaves none, is measured as a frame without rows is."""
    log = _scanned(_log(), tmp_path).filter(pl.col("q") < 0)
    found = log.irm(**ROLES, memory=memory).evaluate(METRICS, layout="wide").collect()
    assert_frame_equal(found, _log()[:0].irm(**ROLES).evaluate(METRICS, layout="wide"))


def test_rows_of_a_column_for_each_system_in_pieces(stored: Any) -> None:
    """Scores of systems beside each other are counted together, and then taken apart."""
    log = _log().with_columns(other=1 - pl.col("score"))
    roles = {"query": None, "score": ["score", "other"], "grade": "grade", "unjudged": "negative"}
    _same(lambda irm: irm(threshold=0.5).evaluate("f1"), stored(log), **roles)
    _same(lambda irm: irm.evaluate("roc_auc"), stored(log), **roles)


@pytest.mark.parametrize("memory", [pytest.param(20_000, marks=pytest.mark.slow), 400_000], ids=["many", "few"])
def test_the_number_of_pieces_changes_nothing(memory: int, stored: Any) -> None:
    """Values and interval ends are the same of about a hundred pieces as of five."""
    log, file = stored(_log())
    found = file.irm(**ROLES, system="system", by="device", memory=memory).evaluate(METRICS, ci=0.9, resamples=50)
    expected = log.irm(**ROLES, system="system", by="device").evaluate(METRICS, ci=0.9, resamples=50)
    assert_frame_equal(found.collect(), expected, rel_tol=1e-12, abs_tol=1e-12)


@pytest.mark.parametrize("memory", [None, SMALL])
def test_a_file_that_cannot_be_read_to_its_end(memory: int | None, tmp_path: Path) -> None:
    """What polars cannot read is an error, and never the result of the rows before it."""
    rows = [f"q{row // 10},{row % 10},1" for row in range(50_000)]
    (tmp_path / "log.csv").write_text("\n".join(["query,score,grade", *rows, "q,high,1"]))
    log = pl.scan_csv(tmp_path / "log.csv", schema_overrides={"score": pl.Float64})
    with pytest.raises(pl.exceptions.ComputeError, match="could not parse `high`"):
        log.irm(memory=memory).evaluate("rr").collect()


REPLACED: dict[str, tuple[Callable[[Any], Any], Callable[[pl.DataFrame, Any], Any]]] = {
    "parquet": (pl.scan_parquet, pl.DataFrame.write_parquet),
    "arrow": (pl.scan_ipc, pl.DataFrame.write_ipc),
    "csv": (pl.scan_csv, pl.DataFrame.write_csv),
    "jsonl": (pl.scan_ndjson, pl.DataFrame.write_ndjson),
}


@pytest.mark.parametrize("when", ["after a verb", "after its plan", "between two passes"])
@pytest.mark.parametrize("kind", REPLACED)
def test_a_file_that_is_replaced(kind: str, when: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that another one takes the place of is an error that names it, until it is scanned again."""
    scan, write = REPLACED[kind]
    log, name = _log(), str(tmp_path / f"log.{kind}")

    def replace(*_: Any) -> int:
        write(log[::-1].with_columns(score=-pl.col("score")), tmp_path / "new")
        os.replace(tmp_path / "new", name)
        return len(log)

    write(log, name)
    irm = scan(name).irm(**ROLES, system="system", memory=SMALL)
    if when == "after a verb":
        irm.evaluate("rr").collect()
    plan = irm.evaluate("rr")
    if when == "between two passes":
        monkeypatch.setattr(LazyPolars, "n_rows", replace)  # which is asked before the second
    else:
        replace()
    told = f"{name}: the file was changed after it was first looked at, so that numbers would be of both; scan it again"
    with pytest.raises(FrameMetricsError, match=re.escape(told)):
        (irm.evaluate("rr") if when == "after a verb" else plan).collect()
    monkeypatch.undo()
    expected = scan(name).collect().irm(**ROLES, system="system").evaluate("rr")
    found = scan(name).irm(**ROLES, system="system", memory=SMALL).evaluate("rr").collect()
    assert_frame_equal(found, expected, rel_tol=1e-12)


def test_one_of_several_files_that_is_replaced(tmp_path: Path) -> None:
    """Every file that a plan reads is remembered, and one that is gone is told as well."""
    for part in "abc":
        _log().write_parquet(tmp_path / f"{part}.parquet")
    log = pl.scan_parquet(tmp_path / "*.parquet").join(
        pl.scan_parquet(tmp_path / "a.parquet").select("q"), on="q", how="semi"
    )
    for gone in (False, True):
        irm = log.irm(**ROLES, duplicates="first")
        plan = irm.evaluate("rr")
        (tmp_path / "c.parquet").unlink() if gone else _log(50).write_parquet(tmp_path / "c.parquet")
        with pytest.raises(FrameMetricsError, match=re.escape(f"{tmp_path / 'c.parquet'}: the file was changed")):
            plan.collect()
        log = log.select(pl.all())  # another plan of what is there now


@pytest.mark.slow
def test_a_progress_bar_over_pieces(stored: Any, capsys: Any) -> None:
    """On a terminal a bar counts the rows, and changes nothing."""
    with always_a_progress_bar():
        _same(lambda irm: irm.evaluate(METRICS), stored(_log()), **ROLES, system="system")
    said = capsys.readouterr().err
    assert " rows" in said
    assert re.search(r"100%.*<00:00", said)  # the time that is left


@pytest.mark.parametrize("rows", [150, 300, 7])
def test_a_file_is_read_in_slices_where_memory_is_small(
    stored: Any, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Polars reads whole row groups ahead; slices of one file give the same, whether or not the last one is whole."""
    monkeypatch.setattr("frame_metrics.backends.polars.SLICE", rows)
    both = stored(_log()[:600])
    assert [len(batch) for batch in LazyPolars(both[1]).batches(["q"], 1)][:2] == [rows, rows]
    _same(lambda irm: irm.evaluate(METRICS), both, **ROLES, system="system")
    assert [len(batch) for batch in LazyPolars(both[1].head(0)).batches(["q"], 1)] == [0]


def test_a_query_that_comes_back(tmp_path: Path) -> None:
    """A log whose last query began it too is not taken for one in order."""
    log = _log().filter(pl.col("system") == "b").sort("q")
    log = pl.concat([log[5:], log[:5]])
    log.write_parquet(tmp_path / "log.parquet", row_group_size=100)
    _same(lambda irm: irm.per_query(METRICS), (log, pl.scan_parquet(tmp_path / "log.parquet")), **ROLES)


def test_one_query_that_is_larger_than_a_piece(tmp_path: Path) -> None:
    """A query is never divided."""
    log = _log().with_columns(q=pl.lit(7)).unique("doc", maintain_order=True).with_columns(pl.lit(1).alias("doc"))
    log = pl.concat([log.with_columns(doc=pl.int_range(pl.len()) + 1000 * i) for i in range(60)])
    log.write_parquet(tmp_path / "log.parquet", row_group_size=100)
    _same(lambda irm: irm.per_query(METRICS), (log, pl.scan_parquet(tmp_path / "log.parquet")), **ROLES)


@pytest.mark.slow
def test_grades_of_other_queries_in_pieces(stored: Any) -> None:
    """Of one query that has no relevant document, its grades are those of the frame, which has some that are."""
    low = pl.when(pl.col("q") == 33).then(pl.col("grade") / 4).otherwise("grade")
    log = _log().with_columns(grade=low, words=pl.format("g{}", pl.col("grade")))
    scale = {"g0": 0, "g1": 0.5, "g2": 1}
    _same(lambda irm: irm.explain("recall", query=33), stored(log), **ROLES, system="system", rel=1)
    _same(
        lambda irm: irm.explain("recall", query=33),
        stored(log),
        **{**ROLES, "grade": "words"},
        system="system",
        scale=scale,
        rel="g2",
    )
    with pytest.raises(BadValueError, match="max_grade=1, but the largest grade in grade is 2"):
        stored(log)[1].irm(**ROLES, memory=SMALL, system="system").explain("err(max_grade=1)@5", query=33).collect()


def test_explain_beside_pieces_of_which_no_grade_is_above_0(stored: Any) -> None:
    """Pieces, or all of them, may have grades of 0 alone, or none above it; the largest grade is that of all."""
    log = _log()
    for grade in (pl.when(pl.col("q") > 30).then("grade").otherwise(0), pl.lit(0), pl.lit(-1)):
        one = log.with_columns(grade.alias("grade"))
        _same(lambda irm: irm.explain("ndcg@5", query=33), stored(one), **ROLES, system="system")
        _same_error(lambda irm: irm.explain("err@5", query=33), stored(one), **ROLES, system="system")


def test_a_query_that_is_not_there_in_pieces(stored: Any) -> None:
    """To explain a query that no row has is an error, as where ids of judgments match none of the log's."""
    large = stored(_log().drop("grade"))[1].irm(**{**ROLES, "grade": None}, memory=SMALL, system="system")
    qrels = _qrels(_log())
    with pytest.raises(BadValueError, match=r"query=77: no row of the frame has it, and no judgment"):
        large.judge(qrels, grade="rating").explain("rr", query=77).collect()
    with pytest.raises(BadValueError, match="no id of the log is among those of the judgments"):
        large.judge(qrels.with_columns(pl.col("doc") + 1000), grade="rating").explain("rr", query=33).collect()
    assert large.judge(qrels, grade="rating").explain("rr", query=101).collect().is_empty()


@pytest.mark.slow
def test_lists_of_flags_in_pieces(stored: Any) -> None:
    """Lists hold flags where those of all pieces do: ids that are 0 and 1 in one piece may be others in the next."""
    each = pl.DataFrame({"q": range(4000)}).with_columns(doc=pl.lit([0, 1, 2]), relevant=pl.lit([0, 1, 1]))
    ids = each.with_columns(relevant=pl.when(pl.col("q") < 3000).then("relevant").otherwise(pl.lit([1, 2, 3])))
    _same(lambda irm: irm.evaluate("rr", "recall"), stored(ids), query="q")
    _same(lambda irm: irm.audit(), stored(ids), query="q")
    few = pl.col("q") > 9
    flags = each.with_columns(
        doc=pl.when(few).then(pl.lit([4, 5])).otherwise("doc"),
        relevant=pl.when(few).then(pl.lit([1, 0])).otherwise("relevant"),
    )
    for one in stored(flags):
        with pytest.raises(BadValueError, match=r"^relevant: its lists hold flags"):
            one.irm(query="q", doc="doc", memory=SMALL).evaluate("rr").lazy().collect()


def test_a_query_without_judged_results_in_lists_in_pieces(stored: Any) -> None:
    """Of one query no result may be judged, where those of others are."""
    lists = pl.DataFrame({"q": range(4000)}).with_columns(doc=pl.lit([0, 1, 2]), rank=pl.lit([1, 2, 3]))
    qrels = pl.DataFrame({"q": [7, 8], "doc": [[5, 6], [1, 2]], "grade": [[1, 0], [1, 1]]})
    _same(lambda irm: irm.judge(qrels).explain("ndcg", query=7), stored(lists), query="q")


@pytest.mark.slow
def test_rows_that_cannot_be_taken_apart_in_pieces(stored: Any) -> None:
    """Lists of different lengths are a finding, by a row of the frame; reading stops there."""
    each = pl.DataFrame({"q": range(4000)}).with_columns(doc=pl.lit([0, 1, 2]), grade=pl.lit([0, 1, 1]))
    odd = each.with_columns(grade=pl.when(pl.col("q") == 3210).then(pl.lit([1])).otherwise("grade"))
    odd = pl.concat([odd[2000:], odd[:2000]])
    memory, file = stored(odd)
    at = memory.with_row_index().filter(q=3210)["index"].item()
    (row,) = file.irm(query="q", memory=SMALL).audit().collect().rows(named=True)
    assert (row["check"], row["n"], row["example"]) == ("rows that have lists of different lengths", 1, f"row {at}")
    assert f"row {at} has 3 in doc and 1 in grade" in row["message"]


# What is refused


def _scanned(log: pl.DataFrame, folder: Path) -> Any:
    log.write_parquet(folder / "log.parquet", row_group_size=200)
    return pl.scan_parquet(folder / "log.parquet")


def test_bad_rows_in_pieces(tmp_path: Path) -> None:
    """An error names rows of the frame, and says that there may be more of them."""
    log = (
        _log()
        .with_row_index()
        .with_columns(pl.when(pl.col("index") == 2345).then(np.inf).otherwise("score").alias("score"))
    )
    with pytest.raises(BadRowsError, match=r"^score: at least 1 row is infinite \(row 2345\); drop them"):
        _scanned(log, tmp_path).irm(**ROLES, system="system", memory=SMALL).evaluate("rr").collect()


def test_bad_pooled_rows_in_pieces(tmp_path: Path) -> None:
    """Rows that are counted have no numbers, and the error counts them."""
    log = (
        _log()
        .with_row_index()
        .with_columns(pl.when(pl.col("index") > 2700).then(np.inf).otherwise("score").alias("score"))
    )
    with pytest.raises(BadRowsError, match=rf"^score: {len(log) - 2701} of {len(log):,} rows are infinite; drop them"):
        _scanned(log, tmp_path).irm(query=None, score="score", grade="grade", memory=SMALL).evaluate(
            "roc_auc"
        ).collect()


@pytest.mark.slow
def test_bad_rows_of_documents_in_pieces(tmp_path: Path) -> None:
    """Documents that a system has twice, and labels that differ between systems, are counted in all pieces."""
    log = _log().with_columns(id=pl.col("q") * 1000 + pl.col("doc"))
    roles = {"query": None, "score": "score", "grade": "grade", "doc": "id", "system": "system", "memory": SMALL}
    roles["unjudged"] = "negative"
    twice = pl.concat([log, log[:7]])
    with pytest.raises(BadRowsError, match=rf"^id: 7 of {len(twice):,} rows repeat a document of their system; drop"):
        _scanned(twice, tmp_path).irm(**roles).compare("roc_auc").collect()
    differ = log.with_columns(grade=pl.when(pl.col("id") == 11_007).then(pl.col("score") > 0.5).otherwise("grade"))
    with pytest.raises(BadRowsError, match=r"^grade: .* rows differ from another row of their document"):
        _scanned(differ.with_columns(pl.col("grade").fill_null(0)), tmp_path).irm(**roles).compare("roc_auc").collect()
    apart = log.with_columns(pl.format("{} {}", "id", "system").alias("id"))
    with pytest.raises(NotComputableError, match="no document has rows of two systems"):
        _scanned(apart, tmp_path).irm(**roles).compare("roc_auc").collect()


def test_counts_that_are_bad_in_pieces(tmp_path: Path) -> None:
    """An error about counts names the caller's column."""
    log = _log().with_columns(times=pl.when(pl.col("doc") == 3).then(-1).otherwise(2))
    large = _scanned(log, tmp_path).irm(query=None, score="score", grade="grade", count="times", memory=SMALL)
    n = (log["times"] < 0).sum()
    with pytest.raises(BadRowsError, match=rf"^times: {n} of {len(log):,} rows are negative"):
        large.evaluate("roc_auc").collect()


@pytest.mark.slow
def test_facts_of_the_whole_frame_in_pieces(tmp_path: Path) -> None:
    """What only the whole log shows is refused: no grade that is relevant, systems apart, ids of which none matches."""
    log = _log()
    low = _scanned(log.with_columns(pl.col("grade") / 4), tmp_path).irm(**ROLES, system="system", memory=SMALL)
    with pytest.raises(NotComputableError, match=r"no grade in grade reaches rel=1; the largest is 0\.5"):
        low.evaluate("map").collect()
    apart = log.with_columns(system=pl.when(pl.col("q") > 30).then(pl.lit("x")).otherwise("system"))
    with pytest.raises(ColumnError, match="no other system has results of any of them"):
        _scanned(apart, tmp_path).irm(**{**ROLES, "doc": None}, system="system", memory=SMALL).evaluate("map").collect()
    qrels = _qrels(log)
    for other, column in (
        (qrels.with_columns(pl.col("q") + 1000), "q"),
        (qrels.with_columns(pl.col("doc") + 1000), "doc"),
    ):
        bare = _scanned(log.drop("grade"), tmp_path).irm(**{**ROLES, "grade": None}, system="system", memory=SMALL)
        with pytest.raises(BadValueError, match=rf"^{column}: no id of the log is among those of the judgments"):
            bare.judge(other, grade="rating").evaluate("map").collect()


def test_bad_judgments_beside_pieces(tmp_path: Path) -> None:
    """An error about judgments names their rows, before anything is measured."""
    log = _log()
    twice = pl.concat([_qrels(log), _qrels(log)[7:8].with_columns(pl.col("rating") + 5)])
    bare = _scanned(log.drop("grade"), tmp_path).irm(**{**ROLES, "grade": None}, system="system", memory=SMALL)
    with pytest.raises(
        BadValueError, match=rf"^rating: 1 pair has two judgments .*, rows 7, {len(twice) - 1}\); keep one"
    ):
        bare.judge(twice, grade="rating").evaluate("rr").collect()


@pytest.mark.parametrize("judged", [False, True])
def test_a_metric_without_its_largest_grade_in_pieces(judged: bool, stored: Any) -> None:
    """A metric that needs the highest grade is named, with the largest grade of all pieces."""
    log = _log()
    both, qrels = stored(log.drop("grade") if judged else log), _qrels(log)
    roles = {**ROLES, "system": "system"} | ({"grade": None} if judged else {})
    calls: list[Call] = [lambda irm: irm.bounds("rr", "err@5", of="ties"), lambda irm: irm.evaluate("err@5")]
    for call in calls:
        one = (lambda irm, call=call: call(irm.judge(qrels, grade="rating"))) if judged else call
        said = _same_error(one, both, **roles)
        assert said.startswith("err@5 needs max_grade=")
        assert said.endswith("is 2; if 2 is the highest, ask for 'err(max_grade=2)@5'")


def test_what_needs_the_whole_frame(tmp_path: Path) -> None:
    """A verb that reads all rows at once says how much is allowed, and the way out."""
    large = _scanned(_log(), tmp_path).irm(query="q", system="system", value="score", by="doc", memory=SMALL)
    with pytest.raises(NotComputableError, match=r"whole frame at once.*a quarter of the memory.*memory="):
        large.audit().collect()


@pytest.mark.parametrize("memory", ["2 gigs", "", 0, -5, True, 1.5, "GB"])
def test_memory_that_is_none(memory: Any) -> None:
    """What says no number of bytes is refused."""
    with pytest.raises(BadValueError, match=r"^memory=.* is not a number of bytes, or a text as '2GB'"):
        pl.DataFrame({"query": [1], "score": [1.0], "grade": [1]}).irm(memory=memory)


@pytest.mark.parametrize("memory", ["2GB", "1.5 GiB", "300mb", "4G", "512 Mi", 10**9, "1000000"])
def test_memory_changes_no_number(memory: Any) -> None:
    """A frame in memory is measured at once, whatever is allowed."""
    log = pl.DataFrame({"query": [1, 1], "score": [2.0, 1.0], "grade": [0, 1]})
    assert log.irm(memory=memory).evaluate("rr").equals(log.irm.evaluate("rr"))


def test_a_folder_that_is_not_there() -> None:
    """Temporary files need a folder."""
    with pytest.raises(BadValueError, match=r"^temporary='/no/such' is not the path of a folder"):
        pl.DataFrame({"query": [1], "score": [1.0], "grade": [1]}).irm(temporary="/no/such")


def test_a_folder_without_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk is told with the folder and the ways out; nothing is left in it."""
    import tempfile

    folder, made = tmp_path / "small", tempfile.TemporaryFile

    def full(*args: Any, **options: Any) -> Any:
        file = made(*args, **options)

        def fail(*data: Any) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

        file.flush = fail
        return file

    folder.mkdir()
    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    large = _scanned(_log(), tmp_path).irm(**ROLES, system="system", memory=SMALL, temporary=str(folder))
    with pytest.raises(FrameMetricsError, match=rf"temporary files cannot be written in {folder}: No space left"):
        large.evaluate("rr").collect()
    assert not list(folder.iterdir())


@pytest.mark.slow
def test_a_run_that_is_killed_leaves_nothing(tmp_path: Path) -> None:
    """A temporary file has no name, so that it is gone with the process, however that ends."""
    _scanned(_log(), tmp_path)
    folder = tmp_path / "temporary"
    folder.mkdir()
    code = f"""
import os, signal, polars as pl, frame_metrics
from frame_metrics.backends.pieces import Buckets
def kill(self):
    os.kill(os.getpid(), signal.SIGKILL)
Buckets.pieces = kill
log = pl.scan_parquet({str(tmp_path / "log.parquet")!r})
large = log.irm(query="q", score="score", grade="grade", memory={SMALL}, temporary={str(folder)!r})
large.evaluate("rr").collect()
"""
    ended = subprocess.run([sys.executable, "-c", code], check=False)
    assert ended.returncode == -9
    assert not list(folder.iterdir())


@pytest.mark.parametrize("whole", [0, 1])
def test_a_parquet_file_that_is_cut_short_is_named(whole: int, tmp_path: Path) -> None:
    """Also among other files: polars says that some file has no end, and the error says which."""
    log = pl.DataFrame({"query": [1, 1], "score": [2.0, 1.0], "grade": [0, 1]})
    paths = [tmp_path / f"{i}.parquet" for i in range(whole + 1)]
    for path in paths:
        log.write_parquet(path)
    paths[-1].write_bytes(paths[-1].read_bytes()[:-20])
    with pytest.raises(
        FrameMetricsError, match=f"{re.escape(str(paths[-1]))}: the file is cut short, or is no Parquet"
    ):
        pl.scan_parquet(paths).irm.evaluate("rr").collect()


def test_saved_undefined_values_in_pieces(tmp_path: Path) -> None:
    """Marks of undefined values are read piece by piece as in memory."""
    saved = pl.DataFrame({"query": range(3000), "rr": [i % 4 / 4 for i in range(3000)]})
    saved = saved.rename({"rr": "value"}).with_columns(metric=pl.lit("rr"), undefined=pl.col("query") % 5 == 0)
    for given in ({}, {"undefined": "null"}, {"undefined": "one"}):
        roles: Any = {"query": "query", "value": "value"} | given
        ours, theirs = IRM(_scanned(saved, tmp_path), memory=20_000, **roles), IRM(saved, **roles)
        for options in ({}, {"ci": 0.9, "resamples": 20}):
            expected = theirs.evaluate("rr", **options)
            assert_frame_equal(ours.evaluate("rr", **options).collect(), expected)
            assert expected["n_undefined"].to_list() == [600]


def test_annotators_have_the_ids_of_the_log(tmp_path: Path) -> None:
    """Ids of judgments that are of another type come back in that of the log, in pieces as in memory."""
    log = _scanned(pl.select(query=pl.int_range(3000) % 50, doc=pl.int_range(3000), score=1.0), tmp_path)
    rows = {"query": [1, 1], "doc": [1, 1], "who": ["u", "v"], "grade": [0, 1]}
    judged = pl.DataFrame(rows, schema_overrides={"query": pl.Int16})
    for memory in ("1GB", "20KB"):
        irm = log.irm(memory=memory).judge(judged, annotator="who")
        assert irm.disagreements().collect().schema["query"] == pl.Int64
        assert irm.agreement(by="query").collect()["query"].to_list() == [1, 1]
