"""What audit finds, and that it finds nothing where there is nothing."""

from __future__ import annotations

import ast
import pickle
import re
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pandas as pd
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import frame_metrics
from frame_metrics import IRM, BadRowsError, BadValueError, ColumnError, FrameMetricsError, UnknownNameError
from helpers import KINDS, as_kind, as_polars, error, facts, odd, real
from inside import OF_ROWS, OF_VALUES, TIE_ORDERS, Seen, Ties, in_pieces, log_checks, of_few, small_blocks
from refusals import check as check_refusals

COLUMNS = {
    "check": pl.String,
    "severity": pl.String,
    "n": pl.Int64,
    "share": pl.Float64,
    "example": pl.String,
    "message": pl.String,
}


def log(*rows: tuple[Any, ...], columns: str = "query doc score grade") -> pl.DataFrame:
    return pl.DataFrame(rows, schema=columns.split(), orient="row")


CLEAN = log(
    ("q1", "a", 2.0, 1),
    ("q1", "b", 1.0, 0),
    ("q1", "c", None, 1),
    ("q2", "a", 1.0, 0),
    ("q2", "b", 2.0, 1),
    ("q2", "c", None, 0),
)
RUN = CLEAN.drop("grade").drop_nulls("score")
QRELS = CLEAN.drop("score")


@pytest.fixture(autouse=True)
def _few_queries_are_enough(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Logs of these tests have few queries, which is found only where the case is about that."""
    if "few" not in str(getattr(getattr(request.node, "callspec", None), "params", "")):
        monkeypatch.setattr(of_few, "_few", lambda *_: Seen(0))


def six(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame six times, each with queries of its own."""
    return pl.concat([frame.with_columns(query=pl.col("query") + f" {i}") for i in range(6)])


def found(irm: frame_metrics.IRM[pl.DataFrame], check: str) -> dict[str, Any]:
    """The one finding whose check has a word in it."""
    (row,) = irm.audit().filter(pl.col("check").str.contains(check, literal=True)).rows(named=True)
    return dict(row)


def checks(irm: frame_metrics.IRM[pl.DataFrame]) -> list[str]:
    return odd(irm)["check"].to_list()


def test_a_clean_log_has_no_finding() -> None:
    """Nothing is said where everything is judged, ordered, relevant somewhere, and known beyond the results."""
    for irm in (
        CLEAN.irm(query="query"),
        CLEAN.irm(doc="doc", by="doc")(by=None),
        RUN.irm.judge(QRELS),
        RUN.with_columns(run=pl.lit("p")).irm(system="run").judge(QRELS),
        six(RUN).with_columns(seg=pl.lit("u")).irm(by="seg").judge(six(QRELS)),
        CLEAN.with_columns(label=pl.col("grade") > 0).irm(query="query", label="label", grade="grade"),
        CLEAN.with_columns(pl.col("grade").cast(pl.Float64)).irm(query="query", collection_size=3),
    ):
        assert checks(irm) == []
        assert set(irm.audit()["severity"]) == {"fact"}
        assert irm.audit().schema == COLUMNS


def test_an_empty_log_has_nothing_to_evaluate() -> None:
    """No rows, no other finding; the columns are there, and facts of which there are none, and so no share."""
    empty = CLEAN.clear().with_columns(seg="query", run="query").irm(by="seg", system="run")
    for irm in (CLEAN.clear().irm, empty):
        assert irm.audit().schema == COLUMNS
        assert checks(irm) == ["nothing to evaluate"]
        assert irm.audit()["message"][0] == "the frame has no rows and no query, so every mean is null, and n is 0"
        assert list(facts(irm)) == [name for name in FACTS if irm is empty or name not in ("systems", "segments")]
        assert set(facts(irm).values()) == {(0, None)}


def test_the_columns_are_the_same_whatever_is_found() -> None:
    """A finding has a check, its severity, how many, their share, an example and a message."""
    table = pl.concat([CLEAN, log(("q3", "a", 1.0, None)).cast(CLEAN.schema)]).irm.audit()
    assert table.schema == COLUMNS
    assert table.null_count().drop("example").sum_horizontal().item() == 0
    assert table.filter(pl.col("example").is_null())["severity"].unique().to_list() == ["fact"]


# Each check, fired


def unjudged_query() -> frame_metrics.IRM[pl.DataFrame]:
    more = log(("q3", "a", 1.0, None), ("q3", "b", 2.0, None)).cast(CLEAN.schema)
    return pl.concat([CLEAN, more]).irm(query="query")


def no_results(*more: str) -> frame_metrics.IRM[pl.DataFrame]:
    rows = [(query, "a", 1) for query in ("q3", "q4", *more)]
    return RUN.irm.judge(pl.concat([QRELS, log(*rows, columns="query doc grade")]))


def partly_judged(*docs: str) -> frame_metrics.IRM[pl.DataFrame]:
    """Judgments of the second query that are not in yet; a third document was found."""
    empty = (pl.col("query") == "q2") & pl.col("doc").is_in(docs)
    return RUN.irm.judge(QRELS.with_columns(grade=pl.when(empty).then(None).otherwise("grade")))


def shouted() -> frame_metrics.IRM[pl.DataFrame]:
    """Days, one of which is written in two ways."""
    more = six(CLEAN).with_columns(query=pl.col("query") + " once more", day=pl.lit("Mo "))
    return pl.concat([two_days(), more]).irm(by="day")


def half_placed() -> frame_metrics.IRM[pl.DataFrame]:
    """A judgment without the segment of its query."""
    run, here = six(RUN).with_columns(day=pl.lit("mo")), (pl.col("query") == "q2 3") & (pl.col("doc") == "a")
    return run.irm(by="day").judge(six(QRELS).with_columns(day=pl.when(here).then(None).otherwise(pl.lit("mo"))))


def spelled(query: str = "q1", doc: str = "a") -> frame_metrics.IRM[pl.DataFrame]:
    """The first query, or its first document, in another spelling."""
    here = pl.col("query") == "q1"
    doc_of = pl.when(here).then(pl.col("doc").replace("a", doc)).otherwise("doc")
    return RUN.irm.judge(QRELS.with_columns(doc=doc_of, query=pl.col("query").replace("q1", query)))


def numbered(query: str = "1", doc: str = "2") -> frame_metrics.IRM[pl.DataFrame]:
    """A log with ids of digits, and judgments that write its first query, or the document of that, as told."""
    digits = pl.col("query").str.tail(1), pl.col("doc").replace("a", "2")
    first = pl.col("query") == "1"
    other = pl.when(first).then(pl.col("doc").replace("2", doc)).otherwise("doc"), pl.col("query").replace("1", query)
    return RUN.with_columns(digits).irm.judge(QRELS.with_columns(digits).with_columns(doc=other[0], query=other[1]))


def two_runs() -> frame_metrics.IRM[pl.DataFrame]:
    """A column that is called as one of systems is, and is not named, with two values for the first query."""
    run = pl.when(query="q1", doc="a").then(pl.lit("dense")).otherwise(pl.lit("bm25"))
    return RUN.with_columns(run=run).irm.judge(QRELS)


def asked_twice() -> frame_metrics.IRM[pl.DataFrame]:
    """The first query was asked on two days, whose ranks are no order, since the scores are named."""
    other_day = RUN.filter(query="q1").with_columns(doc=pl.Series(["c", "d"]), day=pl.lit(2))
    days = pl.concat([RUN.with_columns(day=pl.lit(1)), other_day])
    place = pl.int_range(1, pl.len() + 1).over("query", "day")
    qrels = pl.concat([QRELS, QRELS.head(1).with_columns(doc=pl.lit("d"))])
    return days.with_columns(rank=place).irm(score="score").judge(qrels)


def asked_every_day(days: int) -> frame_metrics.IRM[pl.DataFrame]:
    """Three terms, of which the first was asked on five days, and the others on some."""
    asked = [(day, term) for term in "abc" for day in range(days if term != "a" else 5)]
    rows = pl.DataFrame(asked, schema={"day": pl.Int32, "term": pl.String}, orient="row")
    both = pl.concat([rows.with_columns(rank=1, label=1), rows.with_columns(rank=None, label=0)])
    return both.with_columns(pl.col("day").cast(pl.Date)).irm(query=["day", "term"])


def nothing_relevant() -> frame_metrics.IRM[pl.DataFrame]:
    return CLEAN.with_columns(grade=pl.when(pl.col("query") == "q1").then("grade").otherwise(0)).irm(query="query")


def unjudged_results() -> frame_metrics.IRM[pl.DataFrame]:
    return RUN.irm.judge(QRELS.filter(~((pl.col("query") == "q2") & (pl.col("doc") == "a"))))


def tied(ranks: tuple[int, ...] = (10, 11)) -> frame_metrics.IRM[pl.DataFrame]:
    """A query of 15 results of which those at the given ranks have one score, and a clean one."""
    score = [float(100 - min(ranks) if rank in ranks else 100 - rank) for rank in range(1, 16)]
    deep = pl.DataFrame(
        {"query": "deep", "doc": [f"d{i:02}" for i in range(15)], "score": score, "grade": 5 * [1, 0, 0]}
    )
    missed = log(("deep", "missed", None, 1)).cast(CLEAN.schema)
    return pl.concat([CLEAN, deep, missed]).irm(query="query")


def only_results() -> frame_metrics.IRM[pl.DataFrame]:
    return CLEAN.filter((pl.col("query") == "q1") | pl.col("score").is_not_null()).irm(query="query")


def gaps() -> frame_metrics.IRM[pl.DataFrame]:
    ranked = CLEAN.with_columns(rank=pl.col("score").rank("ordinal", descending=True).over("query"))
    return ranked.with_columns(pl.when(pl.col("query") == "q2").then(pl.col("rank") * 2 - 1).otherwise("rank")).irm(
        rank="rank"
    )


def repeated() -> frame_metrics.IRM[pl.DataFrame]:
    again = log(("q2", "b", 0.5, 1)).cast(CLEAN.schema)
    return pl.concat([CLEAN, again]).irm(doc="doc", duplicates="first")


def listed_twice(**roles: Any) -> frame_metrics.IRM[pl.DataFrame]:
    """A list that shows a document twice, at ranks of their own; the column of documents is found by name."""
    twice = pl.when(query="q2").then(pl.col("doc").replace("b", "a")).otherwise("doc")
    return CLEAN.select("query", "grade", rank="score", doc=twice).irm(**roles)


def lost_segment() -> frame_metrics.IRM[pl.DataFrame]:
    judged = pl.concat([six(QRELS), log(("q9", "a", 1), columns="query doc grade")])
    return six(RUN).with_columns(seg=pl.lit("u")).irm(by="seg").judge(judged)


def late() -> frame_metrics.IRM[pl.DataFrame]:
    return (
        gaps()
        .frame.with_columns(rank=pl.col("score").rank("ordinal", descending=True).over("query") + 1)
        .irm(rank="rank")
    )


def disordered() -> frame_metrics.IRM[pl.DataFrame]:
    rank = pl.col("score").rank("ordinal", descending=True).over("query")
    turned = pl.when(pl.col("query") == "q2").then(3 - rank).otherwise(rank)
    return CLEAN.with_columns(rank=turned).irm(rank="rank", score="score")


def contradicted() -> frame_metrics.IRM[pl.DataFrame]:
    label = pl.when(pl.col("doc") == "b").then(1 - pl.col("grade")).otherwise("grade")
    one = pl.when(pl.col("query") == "q1").then(label).otherwise("grade") > 0
    return CLEAN.with_columns(label=one).irm(query="query", label="label", grade="grade")


def few() -> frame_metrics.IRM[pl.DataFrame]:
    much, little = six(CLEAN).with_columns(seg=pl.lit("much")), CLEAN.with_columns(seg=pl.lit("little"))
    return pl.concat([much, little]).irm(by="seg")


def constant() -> frame_metrics.IRM[pl.DataFrame]:
    same = log(("q3", "a", 1.0, 1), ("q3", "b", 1.0, 0), ("q3", "c", None, 0)).cast(CLEAN.schema)
    return pl.concat([CLEAN, same]).irm(query="query")


def rounded() -> frame_metrics.IRM[pl.DataFrame]:
    below = log(("q1", "d", 1.0, 0), ("q2", "d", 1.0, 0)).cast(CLEAN.schema)
    return pl.concat([CLEAN.with_columns(pl.col("score") + 2.0**60), below]).irm(query="query")


def too_few_relevant() -> frame_metrics.IRM[pl.DataFrame]:
    return CLEAN.with_columns(total=1).irm(n_relevant="total")


def too_small() -> frame_metrics.IRM[pl.DataFrame]:
    size = pl.when(pl.col("query") == "q1").then(2).otherwise(3)
    return CLEAN.with_columns(docs=size).irm(query="query", collection_size="docs")


def unweighted() -> frame_metrics.IRM[pl.DataFrame]:
    return RUN.with_columns(visits=2).irm(weight="visits").judge(no_results()._judgments[0])  # type: ignore[index]


def unsized() -> frame_metrics.IRM[pl.DataFrame]:
    return RUN.with_columns(docs=9).irm(collection_size="docs").judge(no_results()._judgments[0])  # type: ignore[index]


def out_of_reach() -> frame_metrics.IRM[pl.DataFrame]:
    return CLEAN.irm(query="query", rel=2)


def graded(grade: float) -> frame_metrics.IRM[pl.DataFrame]:
    here = (pl.col("query") == "q2") & (pl.col("doc") == "a")
    return CLEAN.with_columns(grade=pl.when(here).then(grade).otherwise("grade")).irm(query="query")


def rated() -> frame_metrics.IRM[pl.DataFrame]:
    return CLEAN.with_columns(grade=pl.int_range(pl.len()).over("query") + 1).irm(query="query")


def positions() -> frame_metrics.IRM[pl.DataFrame]:
    position = pl.col("score").rank("ordinal", descending=True).over("query")
    return CLEAN.with_columns(Place=position).irm(query="query", score="Place")


def turned(sign: int = 1) -> frame_metrics.IRM[pl.DataFrame]:
    """Scores from 1 to 6 in each ranking, of which the lowest two are those of relevant documents; one is missed."""
    rows = [(q, f"d{n}", float(n if sign > 0 else 7 - n), int(n < 3)) for q in range(12) for n in range(1, 7)]
    return log(*rows, *((q, "missed", None, 1) for q in range(12))).irm(query="query")


def otherwise() -> frame_metrics.IRM[pl.DataFrame]:
    return six(RUN).with_columns(seg=pl.lit("u")).irm(by="seg").judge(six(QRELS).with_columns(seg=pl.lit("U")))


def half_found(found: int = 1, judged: int = 4, size: int = 1000) -> frame_metrics.IRM[pl.DataFrame]:
    """The results of two queries, of four relevant documents each, in a collection; the others were not retrieved."""
    rows = [(q, f"d{i}", 9.0 - i if i < found else None, 1) for q in ("q1", "q2") for i in range(judged)]
    return log(*rows).irm(query="query", collection_size=size)


def more_wrong_than_right() -> frame_metrics.IRM[pl.DataFrame]:
    """Of 100,000 documents 150 are relevant: 75 are found, beside 150 others."""
    rows = [("q", f"d{i:03}", 300.0 - i if i < 225 else None, int(i < 75 or i >= 225)) for i in range(300)]
    return log(*rows).irm(query="query", collection_size=100_000)


def as_many_wrong_as_right() -> frame_metrics.IRM[pl.DataFrame]:
    """Of 100 documents 4 are relevant: 2 are found, beside 2 others."""
    rows = [("q", f"d{i}", 9.0 - i if i < 4 else None, int(i not in (1, 2))) for i in range(6)]
    return log(*rows).irm(query="query", collection_size=100)


def single_answers(n: int = 6) -> frame_metrics.IRM[pl.DataFrame]:
    """Of twelve queries some have one relevant document, which is found, and the others ten, of which two are."""
    rows = [
        (f"q{q:02}", f"d{i}", 9.0 - i if i < 3 else None, int(i < 1 or (q >= n and i != 1)))
        for q in range(12)
        for i in range(3 if q < n else 11)
    ]
    return log(*rows).irm(query="query")


def one_grade() -> frame_metrics.IRM[pl.DataFrame]:
    """Both results of the second query have grade 2; of the first one differs."""
    return log(*[("q1", "a", 2.0, 2), ("q1", "b", 1.0, 1), ("q2", "a", 2.0, 2), ("q2", "b", 1.0, 2)]).irm(query="query")


def cut(n: int = 20) -> frame_metrics.IRM[pl.DataFrame]:
    """Three rankings of so many results, and one of two; a relevant document of each was not retrieved."""
    rows = [(f"q{q}", f"d{i:02}", float(-i), int(i == q)) for q in range(4) for i in range(n if q < 3 else 2)]
    return log(*rows, *((f"q{q}", "missed", None, 1) for q in range(4))).irm(query="query")


def two_days() -> pl.DataFrame:
    """Twelve queries on each of two days, no query on both."""
    other = six(CLEAN).with_columns(query=pl.col("query") + " again", day=pl.lit("tu"))
    return pl.concat([six(CLEAN).with_columns(day=pl.lit("mo")), other])


def undated(**roles: Any) -> frame_metrics.IRM[pl.DataFrame]:
    """Two days of 12 searches each, of which the first of each day has lost it."""
    day = pl.col("day").replace({"mo": "2026-01-05", "tu": "2026-01-06"})
    lost = pl.col("query").is_in(["q1 0", "q2 3"])
    return two_days().with_columns(day=pl.when(~lost).then(day)).irm(**(roles or {"by": "day"}))


def asked_again() -> frame_metrics.IRM[pl.DataFrame]:
    return two_days().with_columns(pl.col("query").replace("q2 3 again", "q2 3")).irm(by="day")


def split(torn: str = "b") -> frame_metrics.IRM[pl.DataFrame]:
    """One ranking of which a document is of the other day, and one that was not retrieved."""
    ranked = two_days().with_columns(rank=pl.col("score").rank("ordinal", descending=True).over("query"))
    here = (pl.col("query") == "q1 0") & (pl.col("doc") == torn)
    more = [("q1 0", "y", -9.0, 1, "mo", 3), ("q1 0", "z", None, 0, "tu", None)]
    missed = log(*more, columns=" ".join(ranked.columns)).cast(dict(ranked.schema))
    torn = ranked.with_columns(day=pl.when(here).then(pl.lit("tu")).otherwise("day"))
    return pl.concat([torn, missed]).irm(query="query", rank="rank", by="day")


def clicked(**roles: Any) -> frame_metrics.IRM[pl.DataFrame]:
    """Clicks on what was shown at ranks, and teams, of which the second query has one."""
    ranked = CLEAN.with_columns(rank=pl.col("score").rank("ordinal", descending=True).over("query"))
    team = pl.when(pl.col("query") + pl.col("doc") == "q1b").then(pl.lit("B")).otherwise(pl.lit("A"))
    return ranked.with_columns(team=team).rename({"grade": "clicked"}).irm(rank="rank", grade="clicked", **roles)


def clicks_alone() -> frame_metrics.IRM[pl.DataFrame]:
    """Ten searches of whose results only the one that was clicked is there."""
    rows = {"query": [f"q{i}" for i in range(10)], "doc": "a", "rank": [1, 2] * 5, "label": 1}
    return pl.DataFrame(rows).irm(rank="rank")


def teams_as_systems() -> frame_metrics.IRM[pl.DataFrame]:
    """Interleaved lists, whose teams are named as systems."""
    rows = {
        "query": ["q1"] * 4 + ["q2"] * 4,
        "rank": [1, 2, 3, 4] * 2,
        "team": [*"abba"] * 2,
        "label": [1, 0, 1, 0] * 2,
    }
    return pl.DataFrame(rows).irm(rank="rank", system="team")


def clipped() -> frame_metrics.IRM[pl.DataFrame]:
    return CLEAN.with_columns(chance=pl.Series([1.0, 0.5, None, 0.5, 0.25, None])).irm(propensity="chance", clip=2)


FIRED: dict[str, tuple[Any, str, int, float, str]] = {
    "queries without judgments": (unjudged_query, "warning", 1, 1 / 3, "q3"),
    "queries without results": (no_results, "warning", 2, 2 / 4, "q3"),
    "queries without relevant documents": (nothing_relevant, "warning", 1, 1 / 2, "q2"),
    "unjudged in the top 10": (unjudged_results, "warning", 1, 1 / 4, "q2"),
    "unjudged results": (unjudged_results, "info", 1, 1 / 4, "q2"),
    "ties across rank 10": (tied, "warning", 1, 1 / 3, "deep"),
    "equal scores past 2**53": (rounded, "warning", 2, 2 / 6, "q1"),
    "only results are judged": (only_results, "info", 1, 1 / 2, "q2"),
    "ranks with gaps": (gaps, "info", 1, 1 / 2, "q2"),
    "repeated documents": (repeated, "warning", 1, 1 / 7, "q2"),
    "documents listed twice": (listed_twice, "info", 1, 1 / 6, "q2"),
    "ranks that begin late": (late, "info", 2, 1, "q1"),
    "scores out of rank order": (disordered, "warning", 1, 1 / 2, "q2"),
    "labels and grades that contradict": (contradicted, "warning", 1, 1 / 6, "q1"),
    "segments of few queries": (few, "warning", 1, 1 / 2, "little"),
    "few queries": (lambda: CLEAN.irm(query="query"), "warning", 2, None, ""),
    "segments of few clusters": (
        lambda: few().frame.with_columns(u=1).irm(by="seg", cluster="u"),
        "warning",
        2,
        1,
        "much",
    ),
    "few clusters": (lambda: CLEAN.with_columns(u=1).irm(cluster="u"), "warning", 1, None, ""),
    "judged queries of no known segment": (lost_segment, "warning", 1, 1 / 13, "q9"),
    "clipped weights": (clipped, "warning", 1, 1 / 2, "q2"),
    "constant scores": (constant, "warning", 1, 1 / 3, "q3"),
    "more relevant documents than n_relevant": (too_few_relevant, "error", 1, 1 / 2, "q1"),
    "more documents than collection_size": (too_small, "error", 1, 1 / 2, "q1"),
    "queries without a weight": (unweighted, "error", 2, 2 / 4, "q3"),
    "queries without a cluster": (lambda: unweighted()(weight=None, cluster="visits"), "error", 2, 2 / 4, "q3"),
    "queries without a collection size": (unsized, "error", 2, 2 / 4, "q3"),
    "grades that do not reach rel": (out_of_reach, "error", 3, 3 / 6, "q1"),
    "nothing to evaluate": (lambda: RUN.with_columns(grade=None).irm, "error", 1, None, ""),
    "accuracy that hides the recall": (half_found, "warning", 1, 1, ""),
    "accuracy below that of retrieving nothing": (more_wrong_than_right, "warning", 1, 1, ""),
    "accuracy that only equals that of retrieving nothing": (as_many_wrong_as_right, "warning", 1, 1, ""),
    "averages that part by queries with one relevant document": (single_answers, "info", 1, 1, ""),
    "queries whose documents have one grade": (one_grade, "info", 1, 1 / 2, "q2"),
    "rankings cut at one length": (cut, "info", 3, 3 / 4, "q0"),
    "rankings split over segments": (split, "warning", 1, 1 / 24, "q1 0"),
    "searches cut by segments": (lambda: split("a"), "warning", 1, 1 / 24, "q1 0"),
    "nulls among periods": (undated, "warning", 2, 2 / 24, ""),
    "queries in several segments": (asked_again, "info", 1, 1 / 23, "q2 3"),
    "grades below 0": (lambda: graded(-1.0), "warning", 1, 1 / 6, "q2"),
    "grades with a fraction": (lambda: graded(1.5), "info", 1, 1 / 6, "q2"),
    "grades between 0 and 1": (lambda: graded(0.5), "error", 1, 1 / 6, "q2"),
    "no grade below rel": (rated, "warning", 6, 1, "q1"),
    "positions given as scores": (positions, "error", 2, 1, ""),
    "scores that count from 1": (turned, "warning", 12, 1, ""),
    "segments that judgments name otherwise": (otherwise, "warning", 12, 1, "q1 0"),
    "names that differ in case or spaces only": (shouted, "warning", 2, 2 / 3, "'mo', 'Mo '"),
    "judgments without a grade": (lambda: partly_judged("a"), "info", 1, 1 / 6, "q2, a"),
    "queries without a grade": (lambda: partly_judged(*"abc"), "warning", 1, 1 / 2, "q2"),
    "judgments without a segment": (half_placed, "warning", 1, 1 / 36, "q2 3, a"),
    "queries judged with other leading zeros": (lambda: numbered(query="01"), "error", 1, 1 / 2, "'1' and '01'"),
    "queries with rows of several systems": (two_runs, "warning", 1, 1 / 2, "q1"),
    "rankings that seem to be of several searches": (asked_twice, "warning", 1, 1 / 2, "q1"),
    "queries of repeated terms": (lambda: asked_every_day(4), "warning", 13, 1, ""),
    "results judged with other leading zeros": (lambda: numbered(doc="02"), "error", 1, 1 / 4, "'2' and '02'"),
    "queries written otherwise in the judgments": (lambda: spelled(query="Q1 "), "warning", 1, 1 / 2, "'q1' and 'Q1 '"),
    "documents written otherwise in the judgments": (lambda: spelled(doc="A"), "warning", 1, 1 / 4, "'a' and 'A'"),
    "systems without rows for some queries": (no_results, "warning", 2, 2 / 4, ""),
    "systems without rows for most queries": (lambda: no_results("q5"), "error", 3, 3 / 5, ""),
    "clicks at the first rank": (clicked, "info", 2, 1, "q1"),
    "clicks without what was shown": (clicks_alone, "warning", 10, 1, ""),
    "systems that share no rank": (teams_as_systems, "warning", 2, 1, "q1"),
    "lists without two teams": (lambda: clicked(team="team", doc=None), "warning", 1, 1 / 2, "q2"),
}


def test_every_check_is_made_to_fire() -> None:
    """There is a case here for each check, and none for what is no check."""
    irm = CLEAN.with_columns(pl.col("grade").cast(pl.Float64), rank=pl.lit(None, pl.Int64), day=1)
    assert log_checks(irm.irm(query="query", rank="rank", by="day", collection_size=9)) == set(FIRED)


LACKED = "systems without rows for some queries"
# What else is found where a log is odd in two ways.
WITH_IT = {
    "averages that part by queries with one relevant document": {"only results are judged"},
    "queries whose documents have one grade": {"only results are judged"},
    "few clusters": {"few queries"},
    "segments of few clusters": {"segments of few queries"},
    "clipped weights": {"few effective results"},
    "nothing to evaluate": {"queries without judgments"},
    "queries without results": {LACKED},
    "queries without a weight": {"queries without results", LACKED},
    "queries without a cluster": {"queries without results", LACKED},
    "queries without a collection size": {"queries without results", LACKED},
    LACKED: {"queries without results"},
    "systems without rows for most queries": {"queries without results"},
    "judgments without a grade": {"unjudged in the top 10", "unjudged results"},
    "queries without a grade": {"judgments without a grade", "queries without judgments"},
    "judgments without a segment": {
        *("unjudged in the top 10", "unjudged results", "queries in several segments"),
        *("queries without results", "segments of few queries", "queries without relevant documents"),
    },
    "queries judged with other leading zeros": {"queries without judgments", "queries without results", LACKED},
    "results judged with other leading zeros": {"unjudged in the top 10", "unjudged results"},
    "queries written otherwise in the judgments": {"queries without judgments", "queries without results", LACKED},
    "documents written otherwise in the judgments": {"unjudged in the top 10", "unjudged results"},
    "grades that do not reach rel": {"queries without relevant documents"},
    "unjudged in the top 10": {"unjudged results"},
    "unjudged results": {"unjudged in the top 10"},
    "ranks that begin late": {"ranks with gaps"},
    "clicks without what was shown": {"only results are judged", "ranks that begin late", "ranks with gaps"},
    "systems that share no rank": {"only results are judged", "ranks that begin late", "ranks with gaps"},
    "grades between 0 and 1": {"grades with a fraction"},
    "scores that count from 1": {"rankings cut at one length", "scores worse than chance in rankings"},
    "segments that judgments name otherwise": {
        "queries without judgments",
        "queries without results",
        "queries in several segments",
        "names that differ in case or spaces only",
        "segments of few queries",
    },
    "rankings split over segments": {
        "queries whose documents have one grade",
        "queries in several segments",
        "queries without relevant documents",
        "ranks with gaps",
        "ranks that begin late",
    },
    "nulls among periods": {"segments of few queries"},
    "searches cut by segments": {"queries in several segments", "ranks with gaps", "ranks that begin late"},
}


@pytest.mark.parametrize("check", FIRED)
def test_a_check_counts_what_it_finds(check: str) -> None:
    """How many, their share of what was looked at, and the first of them under the caller's own ids; no other fires.

    A gate knows the names of all that is found.
    """
    make, severity, n, share, example = FIRED[check]
    table = make().audit()
    odd = table.filter(pl.col("severity") != "fact")
    (row,) = odd.filter(check=check).rows(named=True)
    assert (row["severity"], row["n"], row["share"]) == (severity, n, pytest.approx(share))
    assert (row["example"] is None) == (not example)
    assert example in (row["example"] or "")
    assert len(row["message"]) > 20
    assert set(odd["check"]) - {check} <= WITH_IT.get(check, set())
    if check != "nothing to evaluate":  # which no bound lets pass
        assert make().audit(dict.fromkeys(table["check"], 10**6)).equals(table)


@pytest.mark.parametrize(
    ("roles", "check", "n", "unit"),
    [
        ({"by": "day"}, "nulls among periods", 2, "24 queries"),
        ({"by": ["day", "doc"], "query": None}, "nulls among periods", 6, "72 rows"),
        ({"arm": "day"}, "nulls among arms", 2, "24 queries"),
        ({"arm": "day", "query": None}, "nulls among arms", 6, "72 rows"),
        ({"by": "site"}, None, 0, ""),
    ],
)
def test_what_is_in_no_period_or_arm_is_counted(roles: dict[str, Any], check: str | None, n: int, unit: str) -> None:
    """A null among other segments says nothing; few nulls are no warning."""
    frame = undated().frame.with_columns(site=pl.when(pl.col("day") < "2026-01-06").then(pl.lit("a")))
    for lost in (
        frame,
        pl.concat(
            [
                frame,
                *[
                    frame.drop_nulls("day").with_columns(query=pl.format("{} {}", "query", pl.lit(at)))
                    for at in range(9)
                ],
            ]
        ),
    ):
        audit = lost.irm(**roles).audit().filter(pl.col("check").str.starts_with("nulls"))
        assert audit["check"].to_list() == [check] * bool(check)
        if check:
            assert audit["n"].item() == n
            assert audit["severity"].item() == ("warning" if lost is frame else "info")
            assert (f"{n} of {unit} (8.33 %) have no day, " in audit["message"].item()) == (lost is frame)


@pytest.mark.parametrize("check", FIRED)
def test_a_check_finds_the_same_in_pieces_and_in_any_order(check: str) -> None:
    """Query by query, of a plan that memory does not hold, every finding is the same, its example and message too."""
    irm = FIRED[check][0]()
    table = irm.audit()
    assert_frame_equal(in_pieces(irm).audit().collect(), table)
    if irm._judgments is None:
        shuffled = frame_metrics.IRM(irm.frame.sample(fraction=1, shuffle=True, seed=4), **irm.roles)
        assert shuffled.audit().drop("example").equals(table.drop("example"))


@pytest.mark.parametrize("kind", [pl.DataFrame, pl.LazyFrame, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow])
def test_judgments_that_were_chosen_are_counted(kind: Any) -> None:
    """Where a column of the judgments, true or false, says so; whatever kind of frame they are."""
    check = "judgments that were chosen"
    known = CLEAN.select("query", "doc", "grade").with_columns(chosen=pl.col("doc") == "a")
    n = known["chosen"].sum()
    run = CLEAN.drop("grade")
    of = kind if isinstance(kind, type) else lambda frame: kind(frame)
    row = found(run.irm.judge(of(known)), check)
    assert in_pieces(run.irm.judge(of(known))).audit().collect().filter(check=check).rows(named=True) == [row]
    assert (row["severity"], row["n"], row["share"]) == ("warning", n, n / len(known))
    assert row["message"].startswith("chosen says that their documents were chosen because they can change the result")
    for other in (known.with_columns(chosen=False), known.with_columns(chosen=1), known.drop("chosen")):
        assert check not in run.irm.judge(of(other)).audit()["check"]
    labels = known.select("query", "doc", "chosen")
    assert check not in run.irm.judge(of(labels), label="chosen").audit()["check"]
    lists = known.group_by("query", maintain_order=True).agg("doc", "grade", "chosen")
    assert check not in run.irm.judge(of(lists)).audit()["check"]


ASIDE = "judgments of the log set aside"


@pytest.mark.parametrize("kind", KINDS)
def test_judgments_of_the_log_beside_others_are_set_aside(kind: str) -> None:
    """Columns that would be found by name as judgments, were there none of judge(), are named, in pieces too."""
    own = RUN.with_columns(grade=3, label=True, relevant=pl.lit("no list"))
    irm = own.irm.judge(QRELS)
    (row,) = odd(irm).rows(named=True)
    assert (row["check"], row["severity"], row["n"], row["share"]) == (ASIDE, "info", 2, None)
    assert row["example"] == "label, grade"
    assert_frame_equal(as_polars(IRM(as_kind(own, kind)).judge(QRELS).audit()), irm.audit(), check_dtypes=False)
    assert_frame_equal(in_pieces(irm).audit().collect(), irm.audit())


@pytest.mark.parametrize("kind", KINDS)
def test_a_named_grade_that_judge_replaces_is_a_warning(kind: str) -> None:
    """And repr shows no value of it; grade=None says that this is meant."""
    own = RUN.with_columns(rating=3)
    irm = IRM(as_kind(own, kind), grade="rating").judge(QRELS)
    row = as_polars(irm.audit()).row(by_predicate=pl.col("check") == "named judgments not used", named=True)
    assert (row["severity"], row["n"], row["example"]) == ("warning", 1, "grade='rating'")
    assert row["message"].startswith("grade='rating' of the frame is not used: judge() gave the judgments")
    assert row["message"].endswith(
        "If this is meant, pass grade=None; if the columns of the frame are right, leave judge() out"
    )
    (line,) = (line for line in repr(irm).splitlines() if "rating" in line)
    assert " ".join(line.split()) == "grade rating not used: judge() gave the judgments"
    assert row["check"] not in as_polars(irm(grade=None).audit())["check"]
    assert "not used" not in repr(irm(grade=None))


@pytest.mark.parametrize(("label", "which"), [(1, "relevant"), (0, "not relevant")])
def test_rows_of_one_class_leave_areas_undefined(label: int, which: str) -> None:
    """The audit says why roc_auc is empty; of two classes it says nothing."""
    of = pl.DataFrame({"label": [label] * 3, "score": [0.1, 0.5, 0.9]})
    assert of.irm.evaluate("roc_auc")["value"].to_list() == [None]
    assert f"every row with a label is {which}: " in found(of.irm, "only one class")["message"]
    assert "only one class" not in checks(of.with_columns(label=pl.Series([0, 1, 1])).irm)


def test_a_threshold_outside_the_scores_is_a_warning() -> None:
    """Above all scores, or below all; of a ranking, one below all takes every result."""
    of = pl.DataFrame({"label": [0, 1, 1], "score": [0.1, 0.5, 0.9], "query": 1})
    name, rows = "threshold outside the scores", of.irm(query=None)
    assert found(rows(threshold=50), name)["message"].startswith(
        "threshold=50 is above all values of score, 0.1 to 0.9"
    )
    assert found(rows(threshold=-1), name)["message"].startswith("threshold=-1 is below all values of score")
    assert all(name not in checks(rows(threshold=at)) for at in (0.1, 0.9))
    assert [name in checks(of.irm(query="query", threshold=at)) for at in (-1, 1)] == [False, True]


def test_lists_of_relevant_documents_beside_judgments_are_set_aside() -> None:
    """A list of what is relevant is not read beside judge(), nor grades that are lists; what is no list never was."""
    lists = {"query": ["q1"], "doc": [["a", "b"]], "relevant": [["a"]], "grade": [[1, 0]], "label": [1]}
    assert found(pl.DataFrame(lists).irm.judge(QRELS), ASIDE)["example"] == "grade, relevant"


def test_what_is_no_judgment_of_the_log_is_not_set_aside() -> None:
    """Columns of another part, those that the caller sets aside, and those of a log without judge()."""
    own = RUN.with_columns(grade=3, label=pl.lit("u"))
    assert ASIDE not in checks(own.irm(by="label", grade=None).judge(QRELS))
    assert ASIDE not in checks(own.irm(label=None))
    assert found(own.irm(by="label").judge(QRELS), ASIDE)["example"] == "grade"


def test_findings_come_by_severity() -> None:
    """Errors stand before warnings, warnings before what is only worth knowing, and plain facts last."""
    more = log(("q3", "a", 1.0, None), ("q4", "a", 1.0, 0), ("q1", "z", 0.5, None), ("q1", "y", float("inf"), 0))
    severities = pl.concat([CLEAN.drop_nulls(), more.cast(CLEAN.schema)]).irm.audit()["severity"].to_list()
    assert severities == sorted(severities, key=["error", "warning", "info", "fact"].index)
    assert set(severities) == {"error", "warning", "info", "fact"}


# What each check looks at


def test_results_past_rank_10_are_not_in_the_top() -> None:
    """Unjudged results are counted apart up to rank 10 and in all."""
    deep = pl.DataFrame({"query": 1, "score": np.arange(30.0), "grade": 10 * [1, 0, None]})
    irm = deep.irm(query="query")
    assert found(irm, "unjudged in the top")["n"] == 4
    assert found(irm, "unjudged in the top")["share"] == pytest.approx(0.4)
    assert (found(irm, "unjudged results")["n"], found(irm, "unjudged results")["share"]) == (10, pytest.approx(1 / 3))


def test_a_message_says_what_becomes_of_it() -> None:
    """Unjudged results are counted as not relevant or left out, as the conventions say."""
    assert "not relevant" in found(unjudged_results(), "unjudged in the top")["message"]
    dropped = unjudged_results()(unjudged="drop")
    assert "left out" in found(dropped, "unjudged in the top")["message"]
    assert found(dropped, "unjudged in the top")["n"] == 1
    equal = "rankings whose results at ranks 10 and 11 have equal scores; ties= orders them "
    assert found(tied()(doc=None), "ties across")["message"] == equal + "with the worst judgment first"
    assert found(tied(), "ties across")["message"] == equal + "by document, descending"
    assert found(tied()(ties="order"), "ties across")["message"] == equal + "as in the frame"
    assert set(get_args(Ties)) <= set(TIE_ORDERS)
    one = "rankings whose results all have the same score; "
    assert (
        found(constant()(ties="best"), "constant")["message"] == one + "ties= orders them with the best judgment first"
    )
    ranked = constant().frame.with_columns(rank=pl.col("score").rank("ordinal").over("query"))
    assert found(ranked.irm(rank="rank", score="score"), "constant")["message"] == one + "rank orders them"


@pytest.mark.parametrize("ranks", [(9, 10), (11, 12), (1, 2)])
def test_ties_that_do_not_cross_rank_10_change_nothing_there(ranks: tuple[int, ...]) -> None:
    """A tie above or below the line is not one across it."""
    assert "ties across rank 10" not in checks(tied(ranks))


def test_a_count_of_relevant_documents_makes_the_ideal_known() -> None:
    """With `n_relevant` or judgments beside, the ideal does not rest on the results alone."""
    results = CLEAN.drop_nulls()
    assert checks(results.irm(query="query")) == ["only results are judged"]
    assert checks(results.with_columns(total=pl.lit(2)).irm(n_relevant="total")) == []
    assert checks(results.irm(collection_size=True)) == []
    assert (
        checks(
            pl.concat([results.with_columns(run=run) for run in (pl.lit("a"), pl.lit("b"))]).irm(
                system="run", collection_size=True
            )
        )
        == []
    )
    assert checks(RUN.irm.judge(QRELS.join(RUN, on=["query", "doc"], how="semi"))) == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_judgments_that_systems_share_are_those_of_their_results(kind: str) -> None:
    """What no system retrieved is unknown, unless the log has a judged document that none of them retrieved."""
    check = "only results are judged"
    both = pl.concat(
        [
            log(("q1", "a", 2.0, 1), ("q1", "b", 1.0, 0), ("q2", "a", 1.0, 1)).with_columns(run=pl.lit("A")),
            log(("q1", "b", 2.0, 0), ("q1", "c", 1.0, 1), ("q2", "b", 1.0, 0)).with_columns(run=pl.lit("B")),
        ]
    )

    def looked(frame: pl.DataFrame, **roles: Any) -> tuple[Any, ...] | None:
        audit = as_polars(IRM(as_kind(frame, kind), system="run", **roles).audit()).filter(check=check)
        return audit.select("severity", "n", "share", "example", "message").row(0) if len(audit) else None

    message = (
        "rankings in which only documents that some system found are judged, so recall, ap and ndcg may be too "
        "high; judge() adds other judgments, and n_relevant the number of relevant documents"
    )
    assert looked(both) == ("info", 4, 1.0, "A, q1", message)
    missed = log(("q1", "d", None, 1)).with_columns(run=pl.lit("B")).cast(dict(both.schema))
    assert looked(pl.concat([both, missed])) == ("info", 2, 0.5, "A, q2", message)
    known = missed.with_columns(doc=pl.lit("a"))  # A retrieved it
    assert looked(pl.concat([both, known])) == ("info", 4, 1.0, "A, q1", message)
    assert looked(both.with_columns(total=2), n_relevant="total") is None
    segments = pl.concat([both, missed]).with_columns(day=1)
    assert looked(segments, by="day") == ("info", 2, 0.5, "A, 1, q2", message)
    ranked = pl.concat([both, missed]).with_columns(pl.col("score").rank(descending=True).over("run", "query"))
    assert looked(ranked.rename({"score": "rank"})) == ("info", 2, 0.5, "A, q2", message)


# Queries that tell no order from another


def test_a_query_whose_documents_have_one_grade() -> None:
    """Its ndcg is 1 in any order; not so where a result is unjudged, or not relevant, or where grades differ."""
    check = "queries whose documents have one grade"
    irm = one_grade()
    assert irm.per_query("ndcg")["value"][1] == 1
    assert irm(score=-pl.col("score")).per_query("ndcg")["value"].to_list() == [pytest.approx(0.86, abs=0.005), 1]
    for grade in (None, 0, 1):
        second = (pl.col("query") == "q2") & (pl.col("doc") == "b")
        other = irm.frame.with_columns(grade=pl.when(second).then(grade).otherwise("grade"))
        assert check not in checks(other.irm(query="query"))
    run, qrels = irm.frame.drop("grade"), irm.frame.drop("score")
    missed = pl.concat([qrels, qrels[-1:].with_columns(doc=pl.lit("z"))])
    assert check in checks(run.irm(query="query").judge(qrels))
    assert check in checks(run.irm(query="query").judge(missed))
    assert check not in checks(
        run.irm(query="query").judge(missed.with_columns(grade=pl.col("grade") - (pl.col("doc") == "z")))
    )
    assert check not in checks(run.irm(query="query").judge(qrels[:-1]))


def test_averages_that_part() -> None:
    """Half of the queries have one relevant document: macro recall is .6, micro .27, and .2 without them."""
    irm = single_answers()
    row = found(irm, "averages that part")
    values = irm.evaluate("recall", average=["macro", "micro"])["value"].to_list()
    assert values == pytest.approx([(6 + 6 * 0.2) / 12, (6 + 6 * 2) / (6 + 60)])
    assert row["message"].startswith("macro recall is 60.0 % and micro recall 27.3 %, as 50 % of the queries have one")
    assert row["message"].endswith("without them they are 20.0 % and 20.0 %")
    for n in (0, 12):  # all alike
        assert row["check"] not in checks(single_answers(n))


# Accuracy and recall in a collection


def test_an_accuracy_that_equals_that_of_retrieving_nothing() -> None:
    """Two of four results are right, as many as are wrong; one more or fewer, and it is better or worse."""
    irm = as_many_wrong_as_right()
    row = found(irm, "accuracy that only equals")
    assert row["message"].startswith(
        "accuracy is 96 % with collection_size=, as that of retrieving nothing, because few"
    )
    assert irm.evaluate("accuracy")["value"].to_list() == pytest.approx([0.96])
    better = irm.frame.with_columns(grade=pl.when(pl.col("doc") == "d2").then(1).otherwise("grade"))
    worse = irm.frame.with_columns(grade=pl.when(pl.col("doc") == "d3").then(0).otherwise("grade"))
    for other in (better, worse, irm.frame.with_columns(score=pl.lit(None, pl.Float64))):
        assert row["check"] not in checks(other.irm(query="query", collection_size=100))


def test_an_accuracy_that_hides_a_recall_of_a_fifth() -> None:
    """Of 99,128 documents 125 are relevant, and 25 of the 28 retrieved: 99.9 % are right, and 100 are missed."""
    rows = [("q", f"d{i:03}", 200.0 - i if i < 28 else None, int(i < 25 or i >= 28)) for i in range(128)]
    irm = log(*rows).irm(query="query", collection_size=99128)
    row = found(irm, "accuracy that hides")
    assert row == {
        "check": "accuracy that hides the recall",
        "severity": "warning",
        "n": 1,
        "share": 1.0,
        "example": None,
        "message": "accuracy is 99.90 % with collection_size=, and recall 20.0 %: retrieving nothing has an accuracy "
        "of 99.87 %, because few documents are relevant; look at recall, precision and informedness",
    }
    values = irm.evaluate("accuracy", "recall")["value"].to_list()
    assert values == pytest.approx([1 - 103 / 99128, 0.2])
    assert "accuracy that hides the recall" not in checks(irm(collection_size=None))


def test_an_accuracy_that_hides_nothing() -> None:
    """Where half of what is relevant was found, or the accuracy is no better than nine in ten, nothing is said."""
    check = "accuracy that hides the recall"
    assert check in checks(half_found(1))
    assert check not in checks(half_found(2))
    assert check in checks(half_found(1, size=31))
    assert check not in checks(half_found(1, size=30))
    assert check not in checks(half_found(1)(threshold=5.0, collection_size=None))
    more = CLEAN.with_columns(pl.col("query") + " more")  # a recall of 1/2 and of 1
    assert check not in checks(pl.concat([half_found(1).frame, more]).irm(query="query", collection_size=1000))


def test_an_accuracy_that_hides_the_recall_of_queries_that_weigh() -> None:
    """The means are those of evaluate(): a recall of (9 * 1/5 + 1) / 10, which is .6 without weights."""
    found_of = {"q": 1, "r": 5}
    rows = [
        (q, f"d{i}", 9.0 - i if i < n else None, 1, 9 if q == "q" else 1) for q, n in found_of.items() for i in range(5)
    ]
    irm = log(*rows, columns="query doc score grade weight").irm(collection_size=1000)
    check = "accuracy that hides the recall"
    assert check not in checks(irm)
    assert irm(weight="weight").evaluate("recall")["value"].item() == pytest.approx(0.28)
    for each in (irm(weight="weight"), in_pieces(irm(weight="weight"))):
        (message,) = as_polars(each.audit()).filter(check=check)["message"]
        assert message.startswith("accuracy is 99.64 % with collection_size=, and recall 28.0 %")


def test_an_accuracy_of_a_query_that_the_frame_does_not_list() -> None:
    """Where the frame lists all, a judged query that it does not list has no accuracy, and nothing is divided by 0."""
    run = pl.DataFrame({"query": ["q"], "doc": ["d"], "score": [1.0]})
    qrels = pl.DataFrame({"query": ["q", "r"], "doc": ["d", "d"], "grade": [1, 1]})
    named = checks(run.irm(collection_size=True).judge(qrels))
    assert "accuracy that hides the recall" not in named
    assert "queries without results" in named


def test_an_accuracy_that_hides_the_recall_of_a_segment() -> None:
    """Systems and segments are looked at one by one, with the sizes that a column says; the first is named."""
    parts = [
        half_found(found).frame.with_columns(day=pl.lit(day), run=pl.lit(run), size=size)
        for day, run, found, size in (("mo", "x", 2, 1000), ("mo", "y", 1, 1000), ("tu", "x", 1, 9), ("tu", "y", 1, 9))
    ]
    irm = pl.concat(parts).irm(query="query", by="day", system="run", doc=None, collection_size="size")
    row = found(irm, "accuracy that hides")
    assert (row["n"], row["share"], row["example"]) == (1, 1 / 4, "y, mo")
    assert row["message"].startswith("accuracy is 99.70 % with collection_size=, and recall 25.0 %")


# Queries and segments


def test_a_query_that_stands_in_several_segments() -> None:
    """By day it is asked again; whoever of the systems answers, it is one query, and without by= there is nothing."""
    check = "queries in several segments"
    irm = asked_again()
    assert checks(irm) == [check]
    assert "If day describes documents" in found(irm, check)["message"]
    assert check not in checks(irm(by=None, doc=None, duplicates=None))
    systems = irm.frame.with_columns(run=pl.when(pl.col("day") == "mo").then(pl.lit("A")).otherwise(pl.lit("B")))
    row = found(systems.irm(by="day", system="run"), check)
    assert (row["n"], row["share"], row["example"]) == (1, 1 / 23, "q2 3")
    two = pl.concat([systems, systems.with_columns(run=pl.lit("C"))]).irm(by=["day", "run"], doc=None)
    assert found(two, check)["n"] == 23


def test_a_ranking_that_by_cuts_in_parts() -> None:
    """Ranks that stand once in all segments are of one ranking; a query asked again has its first rank twice."""
    check = "rankings split over segments"
    assert check in checks(split())
    assert check not in checks(split()(by=None))
    assert check not in checks(split("a"))  # whose first document is a part of its own
    whole = split().frame.drop_nulls("rank").with_columns(run=pl.lit("A"))
    two = pl.concat([whole.with_columns(run=pl.lit("B"), day=pl.lit("mo")), whole])
    row = found(two.irm(query="query", rank="rank", by="day", system="run"), check)
    assert (row["n"], row["share"], row["example"]) == (1, 1 / 48, "A, q1 0")
    again = asked_again().frame.with_columns(rank=pl.col("score").rank("ordinal", descending=True).over("query", "day"))
    assert "queries in several segments" in checks(again.irm(query="query", rank="rank", by="day"))
    assert check not in checks(again.irm(query="query", rank="rank", by="day"))


def test_nothing_relevant_means_at_the_level_asked_for() -> None:
    """`rel=` and labels decide what relevant is."""
    graded = CLEAN.with_columns(grade=pl.when(pl.col("query") == "q1").then(pl.col("grade") * 3).otherwise("grade"))
    assert checks(graded.irm(rel=1)) == []
    assert found(graded.irm(rel=2), "queries without relevant")["example"] == "q2"
    labelled = CLEAN.with_columns(label=pl.col("query") == "q1")
    assert found(labelled.irm(label="label"), "queries without relevant")["example"] == "q2"


def test_weights_of_queries_without_results_are_those_of_the_judgments() -> None:
    """Where the judgments have the column of weights, no query is without one."""
    irm = unweighted()
    qrels = irm._judgments[0].with_columns(visits=2)  # type: ignore[index]
    assert checks(irm.judge(None).judge(qrels)) == ["queries without results", LACKED]
    assert irm.judge(None).judge(qrels).evaluate("num_q", average="weighted").select("value", "n").row(0) == (1, 4)


# Who is named


def test_only_results_are_judged_whether_or_not_these_are_all_judged() -> None:
    """Three of four rankings have all that is judged of their query; the fourth has no results."""
    rows = ("a", 1, 2.0, 1), ("a", 1, 1.0, None), ("b", 1, 2.0, 1), ("b", 1, 1.0, 0), ("a", 2, 1.0, 1)
    irm = log(*rows, columns="run query score grade").irm(system="run")
    for each in (irm, in_pieces(irm)):
        table = as_polars(each.audit()).filter(check="only results are judged")
        assert table.select("n", "share", "example").rows() == [(3, 0.75, "a, 1")]


def test_an_example_names_system_segment_and_query() -> None:
    """Every key that makes a ranking stands in the example, with the caller's values."""
    run = log(
        ("p", "u", 7, "mo", "x", 1.0),
        ("q", "u", 7, "mo", "x", 1.0),
        ("p", "v", 8, "tu", "x", 1.0),
        columns="run seg user day doc score",
    )
    qrels = log((7, "mo", "x", 1), (8, "tu", "x", 1), columns="user day doc grade")
    irm = run.irm(system="run", by="seg", query=["user", "day"]).judge(qrels)
    row = found(irm, "queries without results")
    assert (row["example"], row["n"], row["share"]) == ("q, v, 8, tu", 1, 1 / 2)


def test_an_example_may_be_a_query_of_the_judgments_alone() -> None:
    """A query that no system answered is named from the judgments."""
    qrels = pl.concat([QRELS, log(("only judged", "a", 1), columns="query doc grade")])
    named = qrels.rename({"query": "topic"})
    irm = RUN.with_columns(run=pl.lit("p")).irm(system="run").judge(named, query="topic")
    assert found(irm, "queries without results")["example"] == "p, only judged"


def test_a_query_that_one_system_lacks_is_found() -> None:
    """The example names the system; what is counted are queries, however many systems there are."""
    both = pl.concat([RUN.with_columns(run=pl.lit("p")), RUN.filter(query="q1").with_columns(run=pl.lit("q"))])
    row = found(both.irm(system="run").judge(QRELS), "queries without results")
    assert (row["n"], row["share"], row["example"]) == (1, 1 / 2, "q, q2")


def test_a_query_that_nobody_judged_is_not_missed_by_a_system() -> None:
    """Only judged queries can be without results."""
    extra = log(("p", "q3", "a", 1.0), columns="run query doc score")
    both = [RUN.with_columns(run=pl.lit(run)).select(extra.columns) for run in "pq"]
    irm = pl.concat([*both, extra]).irm(system="run").judge(QRELS)
    assert checks(irm) == ["queries without judgments"]


# Kinds of frames


def test_audit_gives_back_the_callers_kind_of_frame() -> None:
    """pandas in, pandas out; a lazy frame is not run before it is collected."""
    table = pl.concat([CLEAN, log(("q3", "a", 1.0, None)).cast(CLEAN.schema)])
    expected = table.irm.audit()
    as_pandas = pd.DataFrame(table.to_dict(as_series=False)).irm.audit()
    assert isinstance(as_pandas, pd.DataFrame)
    assert as_polars(as_pandas).rows() == expected.rows()
    ran = []
    lazy = table.lazy().map_batches(lambda batch: (ran.append(1), batch)[1]).irm.audit()
    assert isinstance(lazy, pl.LazyFrame)
    assert lazy.collect_schema() == COLUMNS
    assert ran == []
    assert lazy.collect().equals(expected)
    arrow = frame_metrics.IRM(table.to_arrow()).audit()
    assert pl.DataFrame(arrow).equals(expected)


def test_audit_needs_no_metric_and_no_order() -> None:
    """Judgments alone can be looked at, without a score or a rank."""
    assert found(nothing_relevant()(score=None), "queries without relevant")["n"] == 1
    unordered = log((1, 0), (2, 1), columns="query grade")
    assert found(unordered.irm(query="query"), "queries without relevant")["example"] == "1"


def test_a_label_without_a_grade_contradicts_nothing() -> None:
    """Neither of the two is odd where only one of them is known."""
    rows = ("q1", "a", 3.0, 1, 1), ("q1", "b", 2.0, 0, None), ("q1", "c", 1.0, 1, None), ("q1", "d", 0.0, None, 1)
    alone = log(*rows, columns="query doc score label grade")
    irm = alone.irm(query="query", label="label", grade="grade")
    assert "labels and grades that contradict" not in irm.audit()["check"].to_list()


def test_labels_that_contradict_grades_are_counted_whoever_found_the_document() -> None:
    """Two of four judgments, each found by another system; or by none, where judgments stand beside the log."""
    rows = (1, "A", "x", 1, 1, 0), (1, "A", "y", 2, 1, 1), (1, "B", "z", 1, 1, 0), (1, "B", "w", 2, 0, 0)
    own = log(*rows, columns="query run doc rank label grade")
    beside = own.drop("label", "grade").irm(system="run").judge(own, label="label", grade="grade")
    last = own.drop("label", "grade").filter(doc="w").irm(system="run").judge(own, label="label", grade="grade")
    for irm in (own.irm(system="run", label="label", grade="grade"), beside, last):
        for each in (irm, in_pieces(irm)):
            (one,) = as_polars(each.audit()).filter(check="labels and grades that contradict").rows(named=True)
            assert (one["n"], one["share"], one["example"]) == (2, 0.5, "1, x")


@pytest.mark.parametrize("seventh", [0, None])
def test_shares_of_rankings_are_of_those_that_are_evaluated(seventh: int | None) -> None:
    """A query without a judged document is not among the queries of which a check tells a share."""
    deep = pl.DataFrame({"query": "q7", "doc": [f"d{i}" for i in range(12)], "score": 1.0, "grade": seventh})
    irm = pl.concat([CLEAN, deep.cast(CLEAN.schema)]).irm(query="query", doc="doc")  # type: ignore[arg-type]
    ties = irm.audit().filter(check="ties across rank 10").select("n", "share").rows()
    assert ties == ([] if seventh is None else [(1, pytest.approx(1 / 3))])
    lacking = irm.audit().filter(check="queries without relevant documents").select("n", "share").rows()
    assert lacking == ([] if seventh is None else [(1, pytest.approx(1 / 3))])


# Repeated documents


def test_repeated_documents_keep_their_best_place() -> None:
    """`duplicates="first"` keeps the greatest score or the least rank of a document, and audit counts the others."""
    twice = log(("q", "a", 1.0, 1), ("q", "b", 2.0, 0), ("q", "a", 3.0, 1), ("q", "a", None, 1), ("q", "b", 0.5, 0))
    irm = twice.irm(doc="doc", duplicates="first")
    assert irm.per_query("rr", "num_ret", "num_rel")["value"].to_list() == [1, 2, 1]
    assert found(irm, "repeated documents")["n"] == 3
    assert found(irm, "repeated documents")["share"] == pytest.approx(3 / 5)
    ranked = log(("q", "a", 4, 1), ("q", "b", 2, 0), ("q", "a", 3, 1), columns="query doc rank grade")
    assert ranked.irm(doc="doc", duplicates="first").per_query("rr")["value"].to_list() == [1 / 3]


def test_a_document_that_is_shown_again_counts_at_each_rank() -> None:
    """Where ranks order the rows, a column that is only called doc changes nothing, unless roles or systems need it."""
    metrics = ("rr", "recall@1", "ndcg", "num_rel")
    assert listed_twice().evaluate(*metrics).equals(listed_twice(doc=None).evaluate(*metrics))
    two = pl.concat(listed_twice().frame.with_columns(run=pl.lit(name)) for name in "pq")
    for irm in (
        listed_twice(doc="doc"),
        listed_twice().judge(QRELS),
        listed_twice(rank=None, score="rank"),
    ):
        with pytest.raises(BadRowsError, match=r"doc: 1 of \d rows repeats a document"):
            irm.evaluate("rr")
    with pytest.raises(BadRowsError, match="1 pair has two judgments"):  # systems share the judgments of a document
        two.irm(system="run").evaluate("rr")


# Plain facts

FACTS = (
    "rows",
    "systems",
    "segments",
    "queries",
    "results judged",
    "judged in the top 10",
    "relevant documents",
    "rows not retrieved",
)


def test_facts_are_counted() -> None:
    """Rows, queries, results and judgments, and the share of each."""
    more = log(("q3", "a", 1.0, None), ("q3", "b", 2.0, None), ("q1", "d", 0.5, None)).cast(CLEAN.schema)
    assert facts(pl.concat([CLEAN, more]).irm(query="query")) == {
        "rows": (9, 1),
        "queries": (2, 2 / 3),
        "results judged": (4, 4 / 5),
        "judged in the top 10": (4, 4 / 5),
        "relevant documents": (3, 3 / 6),
        "rows not retrieved": (2, 2 / 9),
    }


def test_a_segment_has_few_queries_however_many_systems_answer_them() -> None:
    """Six queries in twelve rankings are few, and ten in twenty are not."""
    rows = [
        (run, day, query, 1.0, 1)
        for day, count in (("few", 6), ("enough", 10))
        for query in range(count)
        for run in ("p", "o")
    ]
    irm = log(*rows, columns="run day query score grade").irm(query="query", system="run", by="day")
    found = irm.audit().filter(check="segments of few queries").select("n", "share", "example")
    assert found.rows() == [(1, 0.5, "few")]


def test_a_query_is_a_fact_once_whatever_the_systems() -> None:
    """Queries are counted once, relevant documents in each segment and not for each system; results are."""
    run = pl.concat([RUN.with_columns(run=pl.lit(run), seg=pl.lit(seg)) for run in "pq" for seg in "uv"])
    qrels = pl.concat([QRELS, log(("q3", "z", 1), columns="query doc grade")])
    irm = run.irm(system="run", by="seg").judge(qrels.with_columns(seg=pl.lit("v")))
    assert facts(irm) == {  # of the queries in v; those in u have no judgments
        "rows": (16, 1),
        "systems": (2, None),
        "segments": (2, None),
        "queries": (3, 1),
        "results judged": (8, 1),
        "judged in the top 10": (8, 1),
        "relevant documents": (4, 4 / 7),
        "rows not retrieved": (0, 0),
    }


def test_the_top_of_the_results_is_a_fact_of_its_own() -> None:
    """Only results at ranks up to 10 are in it."""
    deep = pl.DataFrame({"query": 1, "score": np.arange(30.0)[::-1], "grade": 10 * [1] + 20 * [None]})
    told = facts(deep.irm(query="query"))
    assert (told["judged in the top 10"], told["results judged"]) == ((10, 1), (10, 1 / 3))


def test_facts_that_need_an_order_are_not_told_without_one() -> None:
    """Judgments alone have queries and relevant documents."""
    assert list(facts(CLEAN.drop("score").irm(query="query"))) == ["rows", "queries", "relevant documents"]


def test_a_count_of_relevant_documents_is_the_fact() -> None:
    """With `n_relevant` the relevant documents are those that are counted, which are no share of the judged ones."""
    assert facts(CLEAN.with_columns(total=5).irm(n_relevant="total"))["relevant documents"] == (10, None)


# Bad values


def random_log(rng: np.random.Generator) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Up to a dozen rows with a few bad values, and roles for them."""
    n, often = int(rng.integers(1, 13)), rng.choice([0, 0.1, 0.3])

    def column(good: list[Any], bad: list[Any]) -> list[Any]:
        return [
            bad[rng.integers(len(bad))] if rng.random() < often else good[rng.integers(len(good))] for _ in range(n)
        ]

    place = ["score", "rank"][rng.integers(2)]
    columns: dict[str, Any] = {
        "query": column([1, 1, 2, 2, 3, 3], [None, 1]),
        "doc": [f"d{0 if rng.random() < often else i}" for i in range(n)],
        "grade": column([0.0, 1.0, 2.0], [float("nan"), float("inf"), None, -1.0, 0.5]),
        "score": column([1.0, 2.0, 3.0], [float("nan"), float("inf"), None]),
        "rank": [column([1.0 + i], [0.0, 1.0, 1.5, None])[0] for i in range(n)],
        "run": column(["a", "b"], [None]),
        "seg": column([1.0, 2.0], [None, float("nan")]),
    }
    columns["visits"] = [7.0 if rng.random() < often else float(query or 1) for query in columns["query"]]
    columns["total"] = [None if rng.random() < often / 4 else 6 for _ in range(n)]
    roles: dict[str, Any] = {"query": "query", "grade": "grade", place: place}
    more = {"doc": "doc", "system": "run", "by": "seg", "weight": "visits", "n_relevant": "total", "rel": 2}
    roles |= {role: column for role, column in more.items() if rng.random() < 0.3}
    if "doc" in roles and rng.random() < 0.3:
        roles["duplicates"] = "first"
    return pl.DataFrame(columns, strict=False), roles


SLOW = pytest.mark.slow


@pytest.mark.parametrize(("size", "logs"), [(2, 25), *(pytest.param(n, 75, marks=SLOW) for n in (2, 1 << 18))])
def test_evaluate_refuses_what_has_an_error(size: int, logs: int) -> None:
    """A log has a finding of severity error just where it cannot be evaluated; each bad row is counted once."""
    outcomes = []
    for seed in range(logs):
        frame, roles = random_log(np.random.default_rng(seed))
        irm = frame.irm(**roles)
        refused = ""
        try:
            with small_blocks(size):
                irm.evaluate("recall", "rr")
        except FrameMetricsError as error:
            refused = str(error)
        if "judgments" in refused:  # which contradict each other, and are an error of audit() too
            continue
        with small_blocks(size):
            table = irm.audit()
        errors = table.filter(severity="error")
        assert bool(refused) == bool(len(errors)), (seed, refused, errors.rows())
        bad = errors.filter(pl.col("example").str.starts_with("row "))["n"].sum()
        assert table.filter(severity="fact", check="rows")["n"].item() == len(frame) - bad
        outcomes.append(bool(refused))
    assert logs < 5 * sum(outcomes) < 5 * len(outcomes) - logs


BAD_LOG = pl.DataFrame(
    {
        "qid": ["a", "a", "a", "a", None, "b", "b", "b", "b", "b", "a", "b", "c"],
        "sku": ["u", "v", "w", "u", "x", "x", "y", None, "w", "v", "t", "s", "r"],
        "bm25": [3.0, 2.0, float("nan"), 1.0, 1.0, float("inf"), 2.0, 3.0, None, 1.5, -float("inf"), 0.5, 1.0],
        "rating": [1.0, 0, 1, 1, 1, 1, float("nan"), 1, None, 0, 2, float("-inf"), 1],
        "visits": [1.0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 1, 2, -1],
    }
)
BAD_FOUND = {
    "rows that have no query": "qid: 1 of 13 rows has no query (row 4);",
    "scores that are NaN": "bm25: 1 of 13 rows is NaN (row 2);",
    "scores that are infinite": "bm25: 2 of 13 rows are infinite (rows 5, 10);",
    "grades that are NaN": "rating: 1 of 13 rows is NaN (row 6);",
    "grades that are infinite": "rating: 1 of 13 rows is infinite (row 11);",
    "rows that have no document": "sku: 1 of 13 rows has no document (row 7);",
    "rows that have neither a score nor a judgment": "bm25 and rating: 1 of 13 rows has neither a score nor a "
    "judgment (row 8); drop them, or write grade 0 where the query found nothing",
    "rows that repeat a document of their query": "sku: 1 of 13 rows repeats a document of its query (row 3);",
    "weights that are negative": "visits: 1 of 13 rows is negative (row 12);",
}


MESSY = pl.DataFrame(
    {
        "query": [1, 1, 1, 1, 2, 2, 2, 3, 3, 3],
        "doc": ["a", "a", "b", "c", "a", "b", "b", "a", "a", "a"],
        "score": [2.0, 1.0, 2.0, 0.5, 1.0, 3.0, 3.0, 0.0, 2.0, 1.0],
        "rank": [2, 1, 3, 4, 1, 2, 2, 1, 2, 3],
        "grade": [0, 1, 0, 2, 0, 1, 0, 0, 1, 1],
    }
)


@pytest.mark.parametrize("place", [{"rank": None}, {"score": None, "rank": "rank"}], ids=str)
@pytest.mark.parametrize("pieces", [False, True])
def test_which_repeated_rows_are_bad_depends_on_no_order_of_rows(place: dict[str, Any], pieces: bool) -> None:
    """Of a repeated document the row with the best place, then judgment, stays, so all other findings are equal."""
    found = []
    for seed in range(5):
        irm = MESSY.sample(fraction=1, shuffle=seed > 0, seed=seed).irm(**place)
        audit = as_polars((in_pieces(irm, 20_000) if pieces else irm).audit())
        found.append(audit.select("check", "severity", "n", "share").rows())
    assert all(one == found[0] for one in found)
    assert any(severity == "error" for _, severity, *_ in found[0])


def test_everything_that_is_bad_is_found_at_once(kind: str) -> None:
    """A log with bad values of every sort has a finding for each, with the rows as they stand in the frame."""
    irm = IRM(as_kind(BAD_LOG, kind), query="qid", doc="sku", score="bm25", grade="rating", weight="visits")
    table = as_polars(irm.audit())
    bad = dict(table.filter(severity="error").select("check", "message").rows())
    nulls = {"scores that are NaN", "grades that are NaN"} if kind == "pandas" else set()
    assert set(bad) == set(BAD_FOUND) - nulls
    assert all(bad[check].startswith(BAD_FOUND[check]) for check in bad)
    left = 5 if kind == "pandas" else 3
    assert table.filter(severity="fact", check="rows").select("n", "share").row(0) == (left, left / 13)
    assert as_polars(irm.audit(dict.fromkeys(table["check"], 10**6))).equals(table)  # a gate knows their names


def test_missing_values_of_pandas_are_no_bad_values() -> None:
    """In a numpy column of pandas NaN is a document that was not retrieved, which a fact counts."""
    frame = pd.DataFrame({"query": [1, 1], "score": [1.0, float("nan")], "grade": [1, 0]})
    table = as_polars(frame.irm.audit())
    assert table.filter(severity="error").is_empty()
    assert table.filter(check="rows not retrieved").select("n", "share").row(0) == (1, 0.5)


@pytest.mark.parametrize("duplicates", [None, "first"])
@pytest.mark.parametrize("step", [1, -1])
def test_repeated_ranks_are_found_in_every_block(duplicates: Any, step: int) -> None:
    """All of them stand in one finding, under their rows in the frame, which repeated documents do not move."""
    rows = [(0, "a", 1), (0, "b", 2)] + [(0, "a", 9)] * (duplicates == "first")
    rows += [(q, doc, rank) for q in range(1, 9) for doc, rank in [("a", 1), ("b", 2), ("c", 1 if q % 2 else 3)]]
    frame = log(*rows, columns="query doc rank").with_columns(grade=1)[::step]
    with small_blocks(4):
        found = odd(frame.irm(doc="doc", rank="rank", duplicates=duplicates))
    (bad,) = found.filter(severity="error").rows(named=True)
    assert (bad["check"], bad["n"]) == ("rows that repeat a rank of their query", 4)
    again = frame.with_row_index("row").filter(pl.struct("query", "rank").is_duplicated())["row"].to_list()
    shown = [int(row) for row in re.search(r"\(rows (.*)\)", bad["message"]).group(1).split(", ")]  # type: ignore[union-attr]
    assert len(shown) == 3
    assert set(shown) < set(again)
    assert f"4 of {len(rows)} rows" in bad["message"]


@pytest.mark.parametrize("column", ["weight", "n_relevant", "collection_size"])
def test_two_values_for_a_query(column: str) -> None:
    """Rows that differ from the others of their query, or of another system, are a finding."""
    rows = [("q", "a", 3.0, 9), ("r", "a", 2.0, 9), ("q", "b", 2.0, 8), ("r", "b", 1.0, 9), ("q", "c", 1.0, 9)]
    frame = log(*rows, columns="query doc score value").with_columns(grade=pl.lit(1))
    named: Any = {column: "value"}
    row = found(frame.irm(query="query", **named), "differ from another row")
    assert (row["severity"], row["n"], row["share"], row["example"]) == ("error", 1, 1 / 5, "row 2")
    assert row["message"] == (
        "value: 1 of 5 rows differs from another row of its query (row 2); give each query one value"
    )
    two = pl.concat([frame.with_columns(value=pl.lit(n), run=pl.lit(run)) for run, n in (("p", 7), ("q", 5))])
    two = two.with_columns(value=pl.when(pl.col("query") == "q").then("value").otherwise(9))
    row = found(two.irm(query="query", system="run", **named), "differ from another system")
    assert (row["n"], row["example"]) == (3, "row 5")
    assert "rows 5, 7, 9" in row["message"]


UNREAD = "data that cannot be read"


def test_what_the_call_is_to_blame_for_is_raised() -> None:
    """A column that is not there, a name that is nowhere, an option or a baseline that cannot be are raised."""
    with pytest.raises(ColumnError, match="there is no such column"):
        CLEAN.irm(query="topic").audit()
    with pytest.raises(ColumnError, match="the label or grade is missing"):
        CLEAN.drop("grade").irm.audit()
    with pytest.raises(UnknownNameError, match="is neither a severity"):
        CLEAN.irm.audit({"data that can not be read": 1})
    with pytest.raises(ColumnError, match="baseline: it has no column"):
        CLEAN.irm.audit(baseline=pl.DataFrame({"value": [1.0]}))


UNREADABLE: dict[str, tuple[dict[str, list[Any]], dict[str, Any], str]] = {
    "numbers as text": ({"label": [1, 0], "score": ["0.9", "0.1"]}, {}, "score: a score is a number, and this col"),
    "words as scores": ({"query": [1, 2], "label": [1, 0], "score": ["a", "b"]}, {}, "score: a score is a number"),
    "labels of two words": ({"label": ["yes", "no"], "score": [0.9, 0.1]}, {}, "label has the values 'no', 'yes'"),
    "words as grades": ({"query": [1, 2], "grade": ["a", "b"], "score": [0.9, 0.1]}, {}, "grade: a grade is a number"),
    "a word that no number is": ({"label": [2, 1], "score": [0.9, 0.1]}, {"positive": "yes"}, "label: 'yes' cannot be"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_columns_that_cannot_be_read_are_a_finding(kind: str, name: str) -> None:
    """Where a whole column is wrong the audit lists the error that other verbs raise, and gates fail."""
    columns, roles, said = UNREADABLE[name]
    irm = IRM(as_kind(pl.DataFrame(columns), kind))(**roles)
    found = as_polars(irm.audit())
    assert found.filter(pl.col("severity") == "error").select("check", "n", "share").rows() == [(UNREAD, 1, None)]
    assert found["message"][0].startswith(said)
    for gate in ("error", {UNREAD: 1}, {"duplicates": 1}):
        with pytest.raises(BadValueError, match=rf"1 finding\n{UNREAD}: 1; "):
            irm.audit(gate)


def test_ids_of_several_types_are_a_finding() -> None:
    """Ids that a column mixes, or that differ in type between log and judgments, are listed."""
    mixed = pd.DataFrame({"query": [1, "1"], "label": [1, 0], "score": [0.9, 0.1]}).irm
    assert mixed.audit()[["check", "severity", "n", "message"]].to_numpy().tolist() == [
        [
            UNREAD,
            "error",
            1,
            "query: the column mixes types, and 1 and '1' read the same as text; give it one type, with "
            ".astype('string') if they are the same",
        ]
    ]
    with pytest.raises(BadValueError, match="1 finding"):
        mixed.audit("error")
    for own in ("query", "doc"):
        found = odd(RUN.irm.judge(QRELS.with_columns(pl.lit(5).alias(own))))
        assert found.select("check", "n").rows() == [(UNREAD, 1)]
        assert found["message"][0].startswith(f"{own} of the judgments is Int32, and {own} of the log is text")


def test_objects_that_cannot_be_read_are_a_finding_of_a_plan_too() -> None:
    """The audit of a lazy frame stays lazy where a column holds objects of Python."""
    frame = pl.DataFrame({"query": [1], "metric": pl.Series([object()], dtype=pl.Object), "value": [1.0]})
    found = frame.lazy().irm(value="value").audit()
    assert isinstance(found, pl.LazyFrame)
    assert found.collect().equals(frame.irm(value="value").audit())
    assert found.collect()["check"].to_list() == [UNREAD]


def test_texts_that_are_no_numbers_are_counted(kind: str) -> None:
    """Among numbers that are text the audit counts the others, and says that the rest has to be converted."""
    frame = pl.DataFrame({"query": [1, 1, 2], "score": ["2", "n/a", "1"], "label": [1, 0, 1]})
    found = as_polars(IRM(as_kind(frame, kind)).audit()).filter(pl.col("severity") == "error")
    assert found.select("check", "n", "example").rows()[0] == ("scores that are not numeric", 1, "row 1")
    assert found["message"].to_list() == [
        "score: 1 of 3 rows is not numeric (row 1); 'n/a' (once): mend them or make them null, and convert the column",
        "score: a score is a number, and this column is text; convert it",
    ]


def test_bad_judgments_are_a_finding() -> None:
    """Bad rows of separate judgments are listed, never as rows of the log."""
    for bad in (float("nan"), None):
        qrels = QRELS.with_columns(pl.col("grade").cast(pl.Float64)).extend(
            log(("q1" if bad else None, "n", bad or 1.0), columns="query doc grade").cast({"grade": pl.Float64})
        )
        found = odd(RUN.irm.judge(qrels))
        assert found.select("check", "severity", "n").rows() == [(UNREAD, "error", 1)]
        said = r"^(grade|query) \(of the judgments\): 1 of 7 rows (is NaN|has no query) \(row 6\)"
        assert found["message"].str.contains(said).all()


def test_ids_that_no_judgment_has_are_a_finding() -> None:
    """Where no id matches, the audit says so, beside the rows that are left out."""
    frame = CLEAN.drop("grade").with_columns(query=pl.Series([None, *["q"] * 5]))
    irm = frame.irm.judge(QRELS.with_columns(doc=pl.col("doc") + "!"))
    assert odd(irm).select("check", "severity", "n").rows() == [
        ("rows that have no query", "error", 1),
        ("ids that no judgment has", "error", 1),
    ]
    assert facts(irm) == {"rows": (5, 5 / 6)}
    with pytest.raises(BadValueError, match=r"ids that no judgment has: 1; query: no id of the log is among"):
        irm.audit(fail_on="error")
    clean = frame[1:].irm.judge(QRELS.with_columns(doc=pl.col("doc") + "!"))
    said = error(lambda: clean.evaluate("rr"), BadValueError)
    assert odd(clean).select("check", "message").rows() == [("ids that no judgment has", said)]


def test_errors_about_rows_can_be_sent_to_another_process() -> None:
    """Such an error is the same after pickling."""
    with pytest.raises(BadRowsError) as caught:
        CLEAN.with_columns(score=float("inf")).irm.evaluate("rr")
    error = pickle.loads(pickle.dumps(caught.value))
    assert str(error) == str(caught.value)
    assert (error.column, error.what, list(error.rows)) == ("score", "are infinite", list(range(6)))


def test_several_documents_that_were_not_retrieved() -> None:
    """Documents without a score have no scores that are equal."""
    absent = CLEAN.with_columns(score=pl.when(pl.col("doc") == "a").then("score"))
    assert checks(absent.irm(query="query")) == []


# A gate


@pytest.mark.parametrize(("fail_on", "raised"), [("error", False), ("warning", True), ("info", True)])
def test_an_audit_can_be_a_gate(fail_on: Any, raised: bool) -> None:
    """`fail_on=` raises what is found of that severity or a graver one, and else returns the findings."""
    irm = unjudged_query()
    if not raised:
        assert irm.audit(fail_on=fail_on).equals(irm.audit())
        return
    with pytest.raises(BadValueError) as caught:
        irm.audit(fail_on=fail_on)
    assert str(caught.value) == (
        f"audit(fail_on={fail_on!r}): 1 finding\n"
        "queries without judgments: 1 (q3); not evaluated: none of their documents is judged"
    )
    with pytest.raises(BadValueError, match=r"queries without results: 2 \(q3, \.\.\.\); evaluated as if"):
        no_results().audit(fail_on=fail_on)


@pytest.mark.parametrize("roles", [{}, {"query": None}], ids=["queries", "pooled"])
@pytest.mark.parametrize("empty", [CLEAN.clear(), CLEAN.with_columns(grade=None)], ids=["no row", "no judgment"])
def test_a_gate_does_not_let_nothing_pass(empty: pl.DataFrame, roles: Any) -> None:
    """A frame without rows, or without a judgment, fails at every severity."""
    with pytest.raises(FrameMetricsError, match=r"nothing to evaluate: 1; (no |the frame has no rows)"):
        empty.irm(**roles).audit(fail_on="error")


def test_a_gate_runs_a_lazy_frame_at_once() -> None:
    """It is an action: nobody has to collect what it returns."""
    bad = CLEAN.with_columns(score=float("nan")).lazy()
    assert isinstance(bad.irm(query="query").audit(), pl.LazyFrame)
    with pytest.raises(BadValueError, match=r"audit\(fail_on='error'\): "):
        bad.irm(query="query").audit(fail_on="error")
    passed = CLEAN.lazy().irm(query="query").audit(fail_on="info")
    assert isinstance(passed, pl.LazyFrame)
    assert passed.collect().equals(CLEAN.irm(query="query").audit())


@pytest.mark.parametrize("fail_on", ["error", "warning", "info"])
def test_facts_are_no_reason_to_fail(fail_on: Any) -> None:
    """A clean log passes every gate, and comes back with its facts."""
    irm = CLEAN.irm(query="query")
    assert irm.audit(fail_on=fail_on).equals(irm.audit())


def test_a_gate_shows_the_rows_of_bad_values() -> None:
    """An error that a gate raises counts the bad rows and shows three, for each finding."""
    bad = CLEAN.with_columns(score=pl.Series([1.0, float("inf"), 2.0, float("-inf"), float("nan"), 3.0]))
    with pytest.raises(BadValueError) as caught:
        bad.irm(query="query").audit(fail_on="error")
    assert str(caught.value) == (
        "audit(fail_on='error'): 2 findings\n"
        "scores that are NaN: 1 (row 4); score: 1 of 6 rows is NaN (row 4); drop them, or make them null if the "
        "document was not retrieved\n"
        "scores that are infinite: 2 (row 1, ...); score: 2 of 6 rows are infinite (rows 1, 3); drop them, or give "
        "them finite values: inf one above all others, -inf one below"
    )


def test_a_gate_counts_only_what_is_grave_enough() -> None:
    """A finding that is less grave is not in the message."""
    irm = only_results()
    assert odd(irm)["severity"].to_list() == ["info"]
    assert irm.audit(fail_on="warning").equals(irm.audit())
    for wrong in ("bad", "fact"):
        with pytest.raises(FrameMetricsError, match=f"fail_on='{wrong}' is not one of 'error', 'warning', 'info'"):
            irm.audit(fail_on=wrong)  # type: ignore[arg-type]


def product_search(source: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Results of three systems, of which "no-vector" alone is in the order of its scores, and judgments."""
    if source == "real":
        qrels = pl.read_csv(real("haystack_products", "judgments.csv")).unique(["query_id", "doc_id"])
        return pl.read_csv(real("haystack_products", "runs.csv")), qrels
    scores = {
        "no-vector": [3.0, 2.0, 1.0] * 5,
        "one": [1.0] * 3 + [2.0, 3.0, 1.0] * 4,
        "two": [1.0, 2.0, 3.0] * 4 + [2.0] * 3,
    }
    key = {"query_id": [*"aaabbbcccdddeee"], "doc_id": [*range(3)] * 5}
    runs = [pl.DataFrame({**key, "run": [run] * 15, "rank": [1, 2, 3] * 5, "score": of}) for run, of in scores.items()]
    return pl.concat(runs), pl.DataFrame({**key, "rating": [0, 1, 2] * 5})


@pytest.mark.parametrize("source", ["made up", "real"])
def test_scores_of_product_search(source: str) -> None:
    """Two of the three systems have scores in another order than what was shown, or one score for a query."""
    runs, qrels = product_search(source)
    roles: Any = {"query": "query_id", "doc": "doc_id", "duplicates": "first"}
    for run, systems in runs.group_by("run"):
        irm = systems.irm(rank="rank", score="score", **roles).judge(
            qrels, query="query_id", doc="doc_id", grade="rating"
        )
        fired = set(irm.audit()["check"])
        odd = run[0] != "no-vector"
        assert ("scores out of rank order" in fired) == odd, run
        assert ("constant scores" in fired) == odd, run


# Gates of single checks

BOUNDS: dict[
    str, tuple[dict[str, Any], list[str]]
] = {  # of one of three queries without judgments, and one document twice
    "a share that is kept": ({"queries without judgments": 0.34}, []),
    "a share": ({"queries without judgments": 0.33}, ["queries without judgments"]),
    "a count that is kept": ({"queries without judgments": 1}, []),
    "a count": ({"queries without judgments": 0}, ["queries without judgments"]),
    "all as a share": ({"queries without judgments": 1.0}, []),
    "any": ({"queries without judgments": True}, ["queries without judgments"]),
    "any, of numpy": ({"queries without judgments": np.True_}, ["queries without judgments"]),
    "a count of numpy": ({"queries without judgments": np.int64(1)}, []),
    "a severity": ({"warning": True}, ["queries without judgments", "repeated documents"]),
    "a severity but for a check": ({"warning": True, "queries without judgments": 0.5}, ["repeated documents"]),
    "a count of each finding": ({"warning": 1}, []),
    "graver ones": ({"info": 1}, ["queries without judgments", "repeated documents"]),
    "the convention": ({"duplicates": 0}, ["repeated documents"]),
    "what was not found": ({"constant scores": 0, "scores that are NaN": 0, "segments of few queries": True}, []),
    "a fact": ({"rows not retrieved": 0.1}, ["rows not retrieved"]),
}


def one_unjudged() -> frame_metrics.IRM[pl.DataFrame]:
    more = log(("q3", "a", 1.0, None), ("q2", "b", 0.5, 1)).cast(CLEAN.schema)
    return pl.concat([CLEAN, more]).irm(doc="doc", duplicates="first")


@pytest.mark.parametrize("case", BOUNDS)
def test_a_gate_of_single_checks(case: str) -> None:
    """A float is a share, an int a count, and True any; a check's own bound goes before that of its severity."""
    fail_on, failed = BOUNDS[case]
    for irm in (one_unjudged(), in_pieces(one_unjudged())):
        if not failed:
            assert as_polars(irm.audit(fail_on)).equals(one_unjudged().audit())
            continue
        with pytest.raises(BadValueError) as caught:  # a lazy frame too runs at once
            irm.audit(fail_on)
        first, *lines = str(caught.value).splitlines()
        assert first == f"audit(fail_on={fail_on!r}): {len(failed)} finding{'s' * (len(failed) > 1)}"
        assert [line.split(":")[0] for line in lines] == failed


def test_what_a_gate_says_of_a_bound() -> None:
    """The number, of how many, and the most that there may be."""
    with pytest.raises(
        BadValueError, match=r"\nqueries without judgments: 1 of 3, and at most 0.02 of all may be \(q3\)"
    ):
        one_unjudged().audit({"queries without judgments": 0.02})
    with pytest.raises(BadValueError, match=r"\nrepeated documents: 1, and at most 0 may be \(q2\); rows that"):
        one_unjudged().audit({"duplicates": 0})


def test_repeated_documents_are_duplicates_where_they_are_errors() -> None:
    """The same name is read whatever the convention; nothing else has to be wrong."""
    with pytest.raises(BadValueError, match="rows that repeat a document of their query: 1, and at most 0 may be"):
        one_unjudged()(duplicates=None).audit({"duplicates": 0})
    assert len(one_unjudged()(duplicates=None).audit({"duplicates": 1}))


@pytest.mark.parametrize("fail_on", [{"duplicates": 0}, {"queries without judgments": 1.0}, {"error": 5}])
def test_a_gate_of_a_check_does_not_let_nothing_pass(fail_on: Any) -> None:
    """Where nothing could be looked at, no check has found anything, and that is no reason to pass."""
    frames = {
        "nothing to evaluate: 1": CLEAN.clear().irm,
        "rows that have no query: 1": CLEAN.drop("grade")
        .with_columns(query=pl.Series([None, *["q"] * 5]))
        .irm.judge(QRELS.with_columns(doc=pl.col("doc") + "!")),
        "ids that no judgment has: 2": RUN.irm.judge(QRELS.with_columns(doc=pl.col("doc") + "!")),
        "grades that do not reach rel: 3": CLEAN.irm(query=None, rel=2, score=None),
        "have lists of different lengths": pl.DataFrame({"query": [1], "score": [[1.0]], "grade": [[1, 0]]}).irm,
    }
    for found, irm in frames.items():
        with pytest.raises(BadValueError, match=found):
            irm.audit(fail_on)


@pytest.mark.parametrize(
    ("fail_on", "error"),
    [
        ({"queries without judgment": 0}, "did you mean 'queries without judgments'"),
        (
            {"rows that repaet a document of their query": 0},
            "did you mean 'rows that repeat a document of their query'",
        ),
        ({"fact": True}, "neither a severity .* nor a check of the audit; the column check of audit"),
        ({1: True}, "fail_on: 1 is neither a severity"),
        ({"warning": False}, "has False, and True means any"),
        ({"warning": -1}, "'warning' has -1, and should have the most"),
        ({"warning": 2.5}, "'warning' has 2.5, and should have the most"),
        ({"warning": float("nan")}, "'warning' has nan, and should have the most"),
        ({"warning": "2%"}, "'warning' has '2%', and should have the most"),
        ({}, "fail_on={} names nothing"),
        (["warning"], r"fail_on=\['warning'\] is not one of 'error'"),
    ],
)
def test_what_is_no_gate_is_refused_before_anything_is_read(fail_on: Any, error: str) -> None:
    """An unknown name has the nearest; a bound is a share, a count or True."""
    lazy = CLEAN.lazy().map_batches(lambda batch: pytest.fail("read"))
    with pytest.raises(FrameMetricsError, match=error):
        lazy.irm(query="query", score="score", grade="grade").audit(fail_on)


def test_every_error_about_rows_has_a_name_that_a_gate_knows() -> None:
    """Texts about bad rows in the folders that check values are known by what they begin with."""
    said = set()
    for path in (
        *Path(frame_metrics.__file__).parent.glob("roles/*.py"),
        *Path(frame_metrics.__file__).parent.glob("data/*.py"),
    ):
        for call in ast.walk(ast.parse(path.read_text())):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") in ("refuse", "refuse_null", "bad_rows"):
                texts = [
                    one.value for one in call.args[2:] if isinstance(one, ast.Constant) and isinstance(one.value, str)
                ]
                said |= {
                    text.split(",")[0] for text in texts if text.startswith(("are ", "have ", "repeat ", "differ "))
                }
    assert len(said) > 15
    judgments = {"have a judgment and no annotator"}  # are no rows of the frame
    assert said - judgments <= {*OF_ROWS, *OF_VALUES}


@pytest.mark.parametrize("roles", [{}, {"duplicates": "first"}])
def test_judgments_of_systems_that_differ_are_a_finding(roles: Any, tmp_path: Path) -> None:
    """Rows of one query and document with two judgments are told, and the rest is looked at; in pieces too."""
    rows = [("s", "a", "y", 3, 0), ("s", "a", "x", 1, 1), ("t", "a", "x", 2, 0), ("s", "b", "z", 1, 1)]
    log = pl.DataFrame([*rows, ("t", "b", "w", 2, 0)], ["system", "query", "doc", "rank", "label"], orient="row")
    log.write_parquet(tmp_path / "log.parquet")
    for frame in (log, pl.scan_parquet(tmp_path / "log.parquet")):
        found = frame.irm(system="system", **roles).audit()
        found = found.collect() if isinstance(found, pl.LazyFrame) else found
        said = {row["check"]: row for row in found.to_dicts()}
        bad = said["labels that differ from another row of their query and document"]
        assert (bad["severity"], bad["n"], bad["example"]) == ("error", 2, "row 1")
        assert said["rows"]["n"] == 3
        assert said["relevant documents"]["n"] == 1


def test_rows_of_several_systems_in_one_list_are_a_warning_unless_they_are_meant() -> None:
    """Of a column that is called as one of systems is; not where it names systems, or arms, or has one value."""
    frame, check = two_runs().frame, "queries with rows of several systems"
    for irm in (frame.irm, in_pieces(frame.irm), frame.lazy().irm):
        (row,) = as_polars(irm.judge(QRELS).audit()).filter(check=check).rows(named=True)
        assert row["message"] == (
            "1 of 2 queries have rows of several systems in one list, as 'bm25' and 'dense' in the column 'run'. Pass "
            "system= to measure each system, or system=None if the rows of a query are one list"
        )
    assert frame.irm.judge(QRELS).summary()["sentence"][0].startswith("Queries with rows of several systems (1 query)")
    one = frame.with_columns(run=pl.lit("bm25"))
    for irm in (frame.irm(system=None), frame.irm(system="run"), frame.irm(by="run"), one.irm, frame.drop("run").irm):
        assert check not in as_polars(irm.judge(QRELS).audit())["check"].to_list()


def test_a_query_that_was_asked_several_times_is_a_warning_unless_the_column_has_no_places() -> None:
    """The way out measures each search; a column of other names, or of text, is not looked at."""
    irm = asked_twice()
    frame, check = irm.frame, "rankings that seem to be of several searches"
    for one in (irm, in_pieces(irm)):
        (row,) = as_polars(one.audit()).filter(check=check).rows(named=True)
        assert row["message"].endswith("as query=[query, date], or pass rank=None, doc=None if one list is meant")
    graded = frame.with_columns(grade=1).irm(query=["query", "day"], score="score")
    for one in (
        graded,
        irm(by="day"),
        irm(rank=None),
        frame.rename({"rank": "weight"}).irm(score="score").judge(QRELS),
    ):
        assert check not in as_polars(one.audit())["check"].to_list()


def test_terms_that_are_asked_every_day_are_no_queries_of_their_own() -> None:
    """It is a warning unless they are clusters; terms of users are asked more or less often."""
    irm, check = asked_every_day(4), "queries of repeated terms"
    for one in (irm, in_pieces(irm)):
        (row,) = as_polars(one.audit()).filter(check=check).rows(named=True)
        assert row["message"].endswith("Pass 'term' as cluster= too")
    for one in (irm(cluster="term"), asked_every_day(1)):
        assert check not in as_polars(one.audit())["check"].to_list()


def test_every_column_that_is_called_as_one_of_systems_is_looked_at() -> None:
    """One value hides no other column; no text, NaN, and rows that were not retrieved are no system."""
    check, rows = (
        "queries with rows of several systems",
        {"query": [*"pppqqq"], "doc": [*"abcabc"], "label": [1, 0, 0] * 2},
    )
    nothing: Any = {"run": ["r"] * 6, "system": [[1]] * 6, "score": [3.0, 2.0, 1.0] * 2}
    for more, said in (
        ({"model": ["A", "B", "A"] * 2}, (2, "p", "'A' and 'B' in the column 'model'")),
        ({"model": [*"AAAAAB"], "run": [*"rrsrrr"]}, (2, "p", "'r' and 's' in the column 'run'")),
        ({"model": [*"ABBAAA"], "run": [*"rrrrrs"]}, (2, "p", "'A' and 'B' in the column 'model'")),
        ({"model": ["A", "", " "] * 2}, None),
        ({"model": [1.0, float("nan"), 1.0] * 2}, None),
        ({"model": ["A", "A", "qrels"] * 2, "score": [2.0, 1.0, None] * 2}, None),
    ):
        irm = pl.DataFrame(rows | nothing | more).irm
        for one in (irm, in_pieces(irm)):
            found = as_polars(one.audit()).filter(check=check).rows(named=True)
            assert len(found) == (said is not None)
            if said is not None:
                assert (found[0]["n"], found[0]["example"]) == said[:2]
                assert said[2] in found[0]["message"]


def test_documents_with_several_rows_are_a_warning_where_no_query_is_named() -> None:
    """What it offers works; of a system, or a day, each has one; a count stands for several."""
    rows = {"doc": [*"xyxyz"], "score": [0.9, 0.1, 0.1, 0.9, 0.5], "label": [1, 0, 1, 0, 1], "run": [*"aabba"]}
    frame, check = pl.DataFrame(rows), "documents that have several rows"
    for irm in (frame.irm(doc="doc"), in_pieces(frame.irm(doc="doc"))):
        (row,) = as_polars(irm.audit()).filter(check=check).rows(named=True)
        assert (row["severity"], row["n"], row["share"], row["example"]) == ("warning", 2, 2 / 3, "x")
        assert row["message"] == (
            "2 of 3 documents have several rows, as 'x', and all of them count: drop them, or pass system= if several "
            "systems decided about each document"
        )
    for name in ("run", "times"):
        twice = pl.concat([frame, frame]).rename({"run": name}).irm(doc="doc", system=name)
        for irm in (twice, in_pieces(twice)):
            (row,) = as_polars(irm.audit()).filter(check=check).rows(named=True)
            assert (row["n"], row["share"]) == (5, 1)
            assert row["message"].endswith(f"with the same {name}, as 'x', and all of them count: drop them")
    once = frame.unique("doc").irm(doc="doc")
    ways: Any = {"system": "run"}, {"system": None}, {"by": "run"}, {"doc": None}, {"count": "n"}
    for irm in (once, *(frame.with_columns(n=2).irm(**{"doc": "doc"} | way) for way in ways)):
        assert check not in as_polars(irm.audit())["check"].to_list()


@pytest.mark.parametrize("doc", ["name", "doc", "moved"])
@pytest.mark.parametrize(("n", "severity"), [(0, None), (1, "info"), (3, "warning")])
def test_documents_that_systems_have_in_other_segments_are_told(n: int, severity: str | None, doc: str) -> None:
    """Of 40 documents so many have another language with b, also where each stands in both languages."""
    rows = pl.DataFrame(
        {doc: [f"d{at:02}" for at in range(40)] * 2, "model": ["a"] * 40 + ["b"] * 40, "label": [1, 0] * 40}
    )
    lang = ["de"] * 80
    lang[40 : 40 + n] = ["en"] * n
    frame = rows.with_columns(predicted="label", lang=pl.Series(lang))
    roles = {"system": "model", "doc": doc, "by": "lang"}
    check = "documents in other segments"
    for irm in (frame.irm(**roles), in_pieces(frame.irm(**roles))):
        found = as_polars(irm.audit()).filter(check=check)
        assert found.select("severity", "n", "share").rows() == ([(severity, n, n / 40)] if n else [])
        assert not n or "have another lang with another model" in found["message"][0].replace("has", "have")
    compared = frame.irm(**roles).compare("accuracy")
    assert 40 - compared["n"].sum() == n
    told = frame.irm(**roles).summary("accuracy", baseline="a").filter(kind="audit")["sentence"]
    assert told.str.starts_with("Documents in other segments (3 documents)").any() == (severity == "warning")
    both = pl.concat([frame, frame.with_columns(lang=pl.lit("fr"))])
    assert as_polars(both.irm(**roles).audit()).filter(check=check)["n"].to_list() == ([n] if n else [])
    for way in ({"by": None}, {"system": None, "arm": "model"}, {"doc": None}):
        assert check not in frame.irm(**roles | way).audit()["check"].to_list()


@pytest.mark.parametrize("role", ["system", "arm"])
def test_rows_that_one_side_predicts_nothing_of_are_a_warning(role: str) -> None:
    """Where shares differ by 1 % or more, of systems and of arms, whatever the order; a count stands for several."""
    rows = pl.DataFrame({"doc": [*range(200)] * 2, "side": ["a"] * 200 + ["b"] * 200, "label": [1, 0] * 200})
    check = "rows without a prediction"

    def told(*lost: int, **roles: Any) -> list[tuple[Any, ...]]:
        """The findings, where so many rows of each side have no prediction."""
        lacks = (pl.col("side") == "a") & (pl.col("doc") < lost[0]) | (pl.col("side") == "b") & (
            pl.col("doc") < lost[1]
        )
        frame = rows.with_columns(predicted=pl.when(~lacks).then("label"), n=2)
        doc = {"doc": "doc"} if role == "system" else {}
        irm = frame.irm(query=None, **{role: "side"} | doc | roles)
        audit = irm.audit().filter(check=check)
        sentence = irm.summary("accuracy")["sentence"].str.starts_with("Rows without a prediction (").any()
        assert sentence == bool(len(audit))
        return audit.select("severity", "n", "share", "example").rows()

    assert told(0, 0) == told(50, 50) == told(1, 2) == told(1, 1) == []
    assert told(0, 2) == [("warning", 2, 0.01, "b")]
    assert told(60, 40) == [("warning", 60, 0.3, "a")]
    assert told(60, 40, count="n") == [("warning", 120, 0.3, "a")]
    assert told(60, 40, **{role: None, "by": "side", "doc": None}) == []


def test_rows_of_queries_without_a_query_are_a_warning_unless_they_are_meant() -> None:
    """Of a column that is plainly called as a query is and repeats; not if it is named, set aside, or each is alone."""
    frame, check = CLEAN.rename({"query": "query_id"}).drop_nulls(), "rows of queries measured as one list"
    for one in (frame.irm, frame.lazy().irm):
        (row,) = as_polars(one.audit()).filter(check=check).rows(named=True)
        assert (row["severity"], row["n"], row["example"]) == ("warning", 4, "q1")
        assert "query='query_id' to measure each query, or query=None if one list is meant" in row["message"]
    assert frame.irm.summary()["sentence"][0].startswith("Rows of queries measured as one list (4 rows)")
    with pytest.raises(frame_metrics.ColumnError, match="; the query is missing too; add query='query_id'"):
        frame.drop("grade").irm.audit()
    alone, users = frame.unique("query_id"), frame.rename({"query_id": "user_id"})
    for one in (frame.irm(query="query_id"), frame.irm(query=None), frame.irm(by="query_id"), alone.irm, users.irm):
        assert not as_polars(one.audit()).filter(pl.col("check") == check, pl.col("n") > 0).height


OWN = "systems whose documents are not named"


def test_systems_that_have_relevant_documents_of_their_own_are_a_warning() -> None:
    """Two systems, no column of documents: in one query one has two relevant rows, and the other has one."""
    grade = [2, 1, 2, 0, 0, 1, 1, 0]
    rows = {"query": ["q1"] * 4 + ["q2"] * 4, "rank": [1, 2] * 4, "run": [*"aabb"] * 2, "grade": grade}
    irm = pl.DataFrame(rows).with_columns(document=pl.Series([*"abacabab"])).irm(rank="rank", system="run")
    found = irm.audit().filter(check=OWN)
    assert found.select("severity", "n", "share", "example").rows() == [("warning", 1, 1 / 2, "a, q1")]
    assert "name the column of documents with doc=" in found["message"].item().lower()
    assert OWN not in checks(irm(doc="document"))
    assert OWN not in checks(irm(collection_size=True))
    # Only metrics that a relevant document changes which was not found are concerned.
    assert ["ystems whose documents" in " ".join(irm.summary(one)["sentence"]) for one in ("ap", "rr")] == [True, False]


SETS = "queries read as sets"
TWICE = {"query": [1, 1, 2, 2], "position": [1, 2, 1, 2], "sim": [0.9, 0.5, 0.8, 0.7], "label": [1, 0, 0, 1]}
ORDERS = """
ordered().irm().summary()
ordered().irm().report(format="md")
    ColumnError: no column is named that orders the results of a query, and 'position' is called as a rank is; pass
        rank='position', or rank=None if the rows of a query are a set
    but: ordered().irm(rank="position").summary()
    but: ordered().irm(rank=None).summary()
ordered("position").irm().summary()
    ColumnError: no column is named that orders the results of a query, and 'sim' is called as a score is; pass
        score='sim', or score=None if the rows of a query are a set
    but: ordered("position").irm(score="sim").summary()
    but: ordered("position").irm(score=None).summary()
    but: ordered("position", "sim").irm().summary()
    but: ordered().irm().summary("precision")
of_systems().irm(system="run").summary()
    ColumnError: no query is named, and 'qid' is called as one is; pass query='qid', or query=None if all rows are one
        list, as those of a classifier
    but: of_systems().irm(system="run", query="qid").summary()
    but: of_systems().irm(system="run", query=None).summary()
    but: of_systems().irm(system="run").summary("roc_auc")
"""


def of_systems() -> pl.DataFrame:
    return pl.DataFrame({"qid": [1, 1] * 2, "run": [*"aabb"], "score": [0.9, 0.5, 0.8, 0.7], "label": [1, 0, 0, 1]})


def ordered(*without: str) -> pl.DataFrame:
    return pl.DataFrame(TWICE).drop(without)


def test_rows_with_a_column_that_is_called_as_a_rank_is_are_no_set_by_default() -> None:
    """A report does not choose metrics of sets then; with metrics that are named the audit warns, until a role is."""
    check_refusals(ORDERS, {"ordered": ordered, "of_systems": of_systems})
    found = ordered().irm().audit().filter(check=SETS)
    assert found.select("severity", "n", "share").rows() == [("warning", 2, 1.0)]
    assert "'position' is called as a rank is: pass rank='position'" in found["message"].item()
    assert ordered().irm().summary("recall")["sentence"][0].startswith("Queries read as sets (2 queries): ")
    for irm in (ordered().irm(rank="position"), ordered().irm(rank=None), ordered("position", "sim").irm()):
        assert SETS not in checks(irm)
