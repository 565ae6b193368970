"""What results are measured against: judgments beside a log, in it, or counted."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from polars import testing as pl_testing

import frame_metrics
from frame_metrics import IRM, BadValueError, ColumnError, FrameMetricsError, NotComputableError
from helpers import as_kind, as_polars, error, frame
from inside import equal_hashes, in_pieces, small_blocks


def values(result: pl.DataFrame) -> list[Any]:
    return result["value"].to_list()


RUN = frame("query doc score", ("a", "x", 2.0), ("a", "y", 1.0), ("b", "x", 1.0))
QRELS = frame("query doc grade", ("a", "y", 1), ("a", "z", 2), ("b", "y", 1), ("c", "x", 1))


# Beside the log


def test_judgments_are_joined_by_query_and_document() -> None:
    """A document is judged for a query, not for all; a judged query without results has 0."""
    found = RUN.irm.judge(QRELS).per_query("rr", "recall", "num_ret", "num_rel", layout="wide").drop("answered")
    assert found.rows() == [("a", 0.5, 0.5, 2, 2), ("b", 0, 0, 1, 1), ("c", 0, 0, 0, 1)]


def test_judgments_may_have_roles() -> None:
    """Their columns are those of the roles, and their conventions those of the log, which may have others."""
    named = QRELS.rename({"grade": "rating"})
    asked = RUN.irm.judge(named, grade="rating"), RUN.irm.judge(named.irm(grade="rating"))
    assert asked[0].evaluate("ndcg", "recall").equals(asked[1].evaluate("ndcg", "recall"))
    strict = RUN.irm(scale=None).judge(named.irm(grade="rating", rel=2)).per_query("recall")
    assert strict.equals(RUN.irm(rel=2).judge(named, grade="rating").per_query("recall"))
    told = error(lambda: RUN.irm.judge(named.irm(grade="rating", score="rating")), ColumnError)
    assert told.startswith("judge: score='rating' is a role of results")


def test_judgments_are_never_rows() -> None:
    """Judged documents that were not retrieved count in R and the ideal, and nowhere else."""
    asked = ("num_ret", "precision", "judged", "fp", "rbp_residual", "num_nonrel_judged_ret", "rr")
    run = RUN.filter(pl.col("query") == "a")
    found = frame("query doc grade", ("a", "y", 1))
    more = frame("query doc grade", *(("a", f"missed {i}", i % 3) for i in range(20)))
    one, other = (run.irm.judge(qrels).evaluate(*asked, "num_rel") for qrels in (found, pl.concat([found, more])))
    assert values(one)[:-1] == values(other)[:-1] == [2, 0.5, 0.5, 1, pytest.approx(1 - 0.2 * 0.8), 0, 0.5]
    assert (values(one)[-1], values(other)[-1]) == (1, 14)


def test_results_without_judgments_are_not_evaluated() -> None:
    """A query that nobody judged is in no mean, and audit counts it."""
    run = pl.concat([RUN, frame("query doc score", ("d", "x", 1.0))]).irm.judge(QRELS)
    assert run.evaluate("num_q")["value"].item() == 3
    assert run.audit().filter(check="queries without judgments")["n"].item() == 1


def test_judgments_beside_judgments_are_an_error() -> None:
    """They would take the place of the first in silence; judge(None) takes these back, where there are any."""
    irm = RUN.irm.judge(QRELS)
    said = "judge: judgments are kept already; put all into one frame, or take those back first, with judge(None)"
    assert error(lambda: irm.judge(QRELS.head(1)), BadValueError) == said
    both = irm.judge(None).judge(QRELS.head(1))
    assert both.per_query("recall").equals(RUN.irm.judge(QRELS.head(1)).per_query("recall"))
    assert "kept" not in error(lambda: RUN.irm.judge(None), FrameMetricsError)
    assert "kept" not in error(lambda: irm.judge(None, query=["query"]), FrameMetricsError)


def systems() -> pl.DataFrame:
    """System p finds one relevant document of two for query a; system q finds none, and has nothing for b."""
    return frame(
        "run query doc score",
        ("p", "a", "r1", 2.0),
        ("p", "a", "n1", 1.0),
        ("p", "b", "r3", 1.0),
        ("q", "a", "n1", 2.0),
        ("q", "a", "n2", 1.0),
    )


JUDGED = frame("query doc grade", ("a", "r1", 1), ("a", "r2", 1), ("b", "r3", 1), ("c", "r4", 1))


def test_every_system_is_measured_on_every_judged_query_against_all_judgments() -> None:
    """A system without results for a judged query has 0 there, and n is the same for all."""
    irm = systems().irm(system="run").judge(JUDGED)
    found = irm.per_query("recall", "num_rel", layout="wide").drop("answered")
    assert found.rows() == [
        ("p", "a", 0.5, 2),
        ("p", "b", 1, 1),
        ("p", "c", 0, 1),
        ("q", "a", 0, 2),
        ("q", "b", 0, 1),
        ("q", "c", 0, 1),
    ]
    assert irm.evaluate("recall").select("run", "value", "n").rows() == [("p", 0.5, 3), ("q", 0, 3)]


def test_appended_rows_give_each_system_its_own_recall() -> None:
    """The trap that judge avoids: unretrieved rows appended to one system's results make R differ by system."""
    found = systems().join(JUDGED, on=["query", "doc"], how="left", maintain_order="left")
    own = found.irm(system="run")
    assert own.per_query("recall", layout="wide").drop("answered").rows()[0] == ("p", "a", 1)
    appended = pl.concat([found, frame("run query doc score grade", ("p", "a", "r2", None, 1)).cast(found.schema)])
    assert appended.irm(system="run").per_query("recall", layout="wide").drop("answered").rows()[0] == ("p", "a", 0.5)
    judged = systems().irm(system="run").judge(JUDGED)
    assert judged.per_query("recall", layout="wide").drop("answered").rows()[0] == ("p", "a", 0.5)


def test_a_query_may_be_several_columns() -> None:
    """The columns of a query are matched together, under other names too."""
    run = frame("user day doc score", (1, "mo", "x", 1.0), (1, "tu", "x", 1.0), (2, "mo", "y", 1.0))
    qrels = frame("who when doc grade", (1, "mo", "x", 0), (1, "tu", "x", 1), (2, "tu", "y", 1))
    found = run.irm(query=["user", "day"]).judge(qrels, query=["who", "when"]).per_query("rr", layout="wide")
    assert found.rows() == [(1, "mo", 0, True), (1, "tu", 1, True), (2, "tu", 0, False)]
    assert found.columns == ["user", "day", "rr", "answered"]
    same = run.irm(query=["user", "day"]).judge(qrels.rename({"who": "user", "when": "day"}))
    assert same.per_query("rr", layout="wide").equals(found)
    with pytest.raises(ColumnError, match="pass by='day' instead"):
        run.irm(query=["user", "day"]).judge(qrels, query="who")


# Segments


SEGMENTED = frame("query seg doc score", ("a", "u", "x", 1.0), ("b", "v", "x", 1.0))


def test_every_segment_of_a_query_gets_all_its_judgments() -> None:
    """A query that stands in two segments of the log is measured in both."""
    run = pl.concat([SEGMENTED, frame("query seg doc score", ("a", "v", "y", 1.0))])
    found = run.irm(by="seg").judge(frame("query doc grade", ("a", "x", 1), ("a", "y", 1), ("b", "x", 1)))
    assert found.per_query("recall", layout="wide").drop("answered").rows() == [
        ("u", "a", 0.5),
        ("v", "a", 0.5),
        ("v", "b", 1),
    ]


def test_judgments_may_say_the_segment_of_a_query() -> None:
    """A query without results counts as 0 in the segment that the judgments name for it, a new one too."""
    qrels = frame("query seg doc grade", ("a", "u", "x", 1), ("c", "u", "x", 1), ("d", "w", "x", 1))
    irm = SEGMENTED.irm(by="seg").judge(qrels)
    assert irm.per_query("rr", layout="wide").drop("answered").rows() == [("u", "a", 1), ("u", "c", 0), ("w", "d", 0)]
    found = irm.evaluate("rr", margins=True)
    assert found.select("seg", "total_over", "value", "n").rows() == [
        ("u", None, 0.5, 2),
        ("v", None, None, 0),
        ("w", None, 0, 1),
        (None, "seg", pytest.approx(1 / 3), 3),
    ]
    assert irm.audit().filter(check="judged queries of no known segment").is_empty()


def test_judgments_that_name_a_segment_belong_to_it() -> None:
    """A query that is judged in one segment is not judged by that in another."""
    qrels = frame("query seg doc grade", ("a", "v", "x", 1), ("b", "v", "x", 1))
    found = SEGMENTED.irm(by="seg").judge(qrels).per_query("rr", layout="wide").drop("answered")
    assert found.rows() == [("v", "a", 0), ("v", "b", 1)]


def test_judgments_may_name_one_of_the_columns_of_a_segment() -> None:
    """They belong to every segment with that value."""
    run = frame("query seg day doc score", ("a", "u", 1, "x", 1.0), ("a", "u", 2, "x", 1.0), ("a", "v", 1, "x", 1.0))
    qrels = frame("query seg doc grade", ("a", "u", "x", 1), ("a", "u", "y", 1), ("a", "v", "x", 0), ("b", "v", "x", 1))
    irm = run.irm(by=["seg", "day"]).judge(qrels)
    found = irm.per_query("recall", "precision", layout="wide").drop("answered")
    assert found.rows() == [("u", 1, "a", 0.5, 1), ("u", 2, "a", 0.5, 1), ("v", 1, "a", 0, 0)]
    lost = irm.audit().filter(check="judged queries of no known segment")
    assert lost.select("n", "share", "example").rows() == [(1, 1 / 2, "v, b")]


def test_a_document_may_be_judged_differently_in_two_segments() -> None:
    """Two grades are an error within a segment only."""
    run = frame("query seg doc score", ("a", "de", "x", 2.0), ("a", "en", "x", 2.0), ("a", "en", "y", 1.0))
    qrels = frame("query seg doc grade", ("a", "de", "x", 0), ("a", "en", "x", 1), ("a", "en", "y", 1))
    judged = run.irm(by="seg").judge(qrels)
    assert judged.per_query("precision", layout="wide").drop("answered").rows() == [("de", "a", 0), ("en", "a", 1)]
    log = run.join(qrels, on=["query", "seg", "doc"], how="left").with_columns(run=pl.lit("p"))
    own = log.irm(system="run", by="seg").per_query("precision", layout="wide").drop("answered")
    assert own.rows() == [("p", "de", "a", 0), ("p", "en", "a", 1)]
    with pytest.raises(BadValueError, match=r"2 pairs have two judgments \(query and document \(a, x\)"):
        run.irm.judge(pl.concat([qrels, qrels.with_columns(pl.col("grade") + 1)]).drop("seg")).evaluate("precision")
    with pytest.raises(BadValueError, match=r"segment, query and document \(de, a, x\), rows 0, 3\)"):
        run.irm(by="seg").judge(pl.concat([qrels, qrels.with_columns(pl.col("grade") + 1)])).evaluate("precision")


def test_a_constant_system_changes_nothing_in_segments() -> None:
    """Systems share the judgments of a query within its segment, and no others."""
    log = frame("query seg doc score grade", ("a", "u", "x", 2.0, 1), ("a", "v", "y", 1.0, 1))
    plain = log.irm(doc="doc", by="seg")
    named = log.with_columns(run=pl.lit("p")).irm(doc="doc", by="seg", system="run")
    assert plain.evaluate("recall")["value"].to_list() == [1.0, 1.0]
    assert named.evaluate("recall")["value"].to_list() == [1.0, 1.0]


def test_a_judged_query_whose_segment_nobody_knows_counts_in_totals_only() -> None:
    """It is in no segment, and audit counts it."""
    qrels = frame("query doc grade", ("a", "x", 1), ("b", "x", 0), ("nowhere", "x", 1))
    irm = SEGMENTED.irm(by="seg").judge(qrels)
    assert irm.evaluate("num_q", margins=True)["value"].to_list() == [1, 1, 3]
    assert "nowhere" not in irm.per_query("rr")["query"]
    (lost,) = irm.audit().filter(check="judged queries of no known segment").rows(named=True)
    assert (lost["n"], lost["share"], lost["example"]) == (1, pytest.approx(1 / 3), "nowhere")
    assert SEGMENTED.irm.judge(qrels).evaluate("num_q")["value"].item() == 3


def test_a_total_has_the_judged_queries_without_results() -> None:
    """With `by` or without, two of four judged queries were answered."""
    run = frame("query doc score device", ("a", "x", 1.0, "web"), ("b", "y", 1.0, "web"))
    qrels = frame("query doc grade", ("a", "x", 1), ("b", "y", 1), ("c", "z", 1), ("d", "w", 1))
    found = run.irm(by="device").judge(qrels).evaluate("rr", margins=True)
    assert found.select("device", "value", "n").rows() == [("web", 1, 2), (None, 0.5, 4)]
    assert run.irm.judge(qrels).evaluate("rr").select("value", "n").row(0) == (0.5, 4)
    more = pl.concat([qrels[:2], frame("query doc grade", ("c", "z", 0))])
    with pytest.raises(NotComputableError, match="rr is undefined for 1 of 3 queries"):
        run.irm(by="device", undefined="raise").judge(more).evaluate("rr", margins=True)


def test_a_query_of_a_half_known_segment_is_in_the_totals_over_the_other_half() -> None:
    """The judgments say on which device a query was, and not where."""
    run = frame("query doc score device place", ("a", "x", 1.0, "web", 1), ("b", "y", 1.0, "web", 2))
    qrels = frame(
        "query doc grade device", ("a", "x", 1, "web"), ("b", "y", 1, "web"), ("c", "z", 1, "web"), ("d", "w", 1, "tv")
    )
    found = run.irm(by=["device", "place"]).judge(qrels).evaluate("rr", margins=True)
    assert found.select("device", "place", "total_over", "value", "n").rows() == [
        ("web", 1, None, 1, 1),
        ("web", 2, None, 1, 1),
        ("tv", None, "place", 0, 1),
        ("web", None, "place", pytest.approx(2 / 3), 3),
        (None, 1, "device", 1, 1),
        (None, 2, "device", 1, 1),
        (None, None, "device, place", 0.5, 4),
    ]


def test_systems_are_measured_in_each_others_segments() -> None:
    """The segment of a query may be known from any system's results."""
    shared = (("p", "w", 3, "x", 1.0), ("q", "w", 3, "x", 1.0))  # nobody judged it
    run = frame("run seg query doc score", ("p", "u", 1, "x", 1.0), ("q", "v", 2, "x", 1.0), *shared)
    irm = run.irm(system="run", by="seg").judge(frame("query doc grade", (1, "x", 1), (2, "x", 1)))
    assert irm.per_query("rr", layout="wide").drop("answered").rows() == [
        ("p", "u", 1, 1),
        ("p", "v", 2, 0),
        ("q", "u", 1, 0),
        ("q", "v", 2, 1),
    ]


def plain_values(run: pl.DataFrame, qrels: pl.DataFrame, known: bool) -> dict[tuple[Any, ...], tuple[float, float]]:
    """rr and recall of every system on every (segment, query), one ranking at a time; 0 where nothing is relevant.

    Judgments are those of a query, or if their segments are ``known``, of a query in a segment.
    """
    grades = {
        ((seg if known else "any"), query, doc): grade
        for seg, query, doc, grade in qrels.select("seg", "query", "doc", "grade").iter_rows()
    }
    judged = {key[:2] for key, grade in grades.items() if grade is not None}
    pairs = set(run.select("seg", "query").iter_rows())
    pairs |= set(qrels.drop_nulls("grade").select("seg", "query").iter_rows()) if known else set()
    found = {}
    for system in run["run"].unique():
        for seg, query in pairs:
            mine = run.filter(
                pl.col("run").eq_missing(pl.lit(system)), pl.col("seg").eq_missing(pl.lit(seg)), query=query
            )
            ranked = sorted(mine.select("score", "doc").iter_rows(), key=lambda row: (row[0], row[1]), reverse=True)
            own = (seg if known else "any", query)
            hits = [rank for rank, (_, doc) in enumerate(ranked, 1) if (grades.get((*own, doc)) or 0) >= 1]
            relevant = sum((grade or 0) >= 1 for key, grade in grades.items() if key[:2] == own)
            if own in judged:
                found[system, seg, query] = (1 / hits[0] if hits else 0, len(hits) / relevant if relevant else 0)
    return found


@pytest.mark.parametrize("known", [False, True], ids=["segments of the log", "segments of both"])
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("block", [1, 1 << 18])
def test_systems_segments_and_judgments_together(seed: int, known: bool, block: int) -> None:
    """Every system on every (segment, query) pair, null segments too, against all judgments of the query there."""
    random = np.random.default_rng(seed)
    n = 150
    run = pl.DataFrame(
        {
            "run": random.choice(["p", "q", "r"], n),
            "seg": random.choice(["u", "v", "none"], n, p=[0.6, 0.2, 0.2]),
            "query": random.integers(0, 8, n),
            "doc": random.choice(list("abcdef"), n),
            "score": random.integers(0, 4, n).astype(float),
        }
    ).unique(["run", "seg", "query", "doc"], keep="first", maintain_order=True)
    qrels = pl.DataFrame(
        {
            "query": np.repeat(np.arange(2, 11), 6),
            "doc": list("abcdef") * 9,
            "grade": random.choice([0, 0, 1, 2], 54),
            "seg": np.repeat(random.choice(["u", "w", "none"], 9), 6),
        }
    )
    if known:  # judged again in another segment, by others
        grades = pl.Series("grade", random.choice([0, 0, 1, 2], len(qrels)))
        qrels = pl.concat([qrels, qrels.with_columns(grades, seg=pl.lit("v"))])
    qrels = qrels.sample(fraction=0.6, shuffle=True, seed=seed)
    run, qrels = (one.with_columns(pl.col("seg").replace("none", None)) for one in (run, qrels))
    irm = run.irm(system="run", by="seg").judge(qrels if known else qrels.drop("seg"))
    with small_blocks(block):
        table = irm.per_query("rr", "recall", layout="wide").drop("answered")
    found = {row[:3]: row[3:] for row in table.iter_rows()}
    expected = plain_values(run, qrels, known)
    assert found.keys() == expected.keys()
    for key, values in expected.items():
        assert found[key] == pytest.approx(values), key
    assert len(found) == len(table)
    assert table.select("run", "seg").equals(table.select("run", "seg").sort("run", "seg", nulls_last=True))
    with small_blocks(block):
        means = irm.evaluate("recall", margins=True).filter(run="q")
    # queries that nobody found are in no segment, unless the judgments say in which
    unplaced = set() if known else {*qrels.drop_nulls("grade")["query"]} - {*run["query"]}
    for seg, total, value, count in means.select("seg", "total_over", "value", "n").iter_rows():
        own = [values[1] for (of, at, _), values in expected.items() if of == "q" and (total or at == seg)]
        own += [0.0 for _ in unplaced] if total else []
        assert (count, value) == (len(own), pytest.approx(sum(own) / len(own)) if own else None)


# Columns of the judgments


def test_label_true_says_that_every_row_is_relevant() -> None:
    """A held-out set needs no column of judgments."""
    held_out = QRELS.select("query", "doc")
    found = RUN.irm.judge(held_out, label=True).evaluate("recall", "num_rel")
    assert values(found) == values(RUN.irm.judge(QRELS).evaluate("recall", "num_rel"))


def test_columns_of_the_judgments_are_called_as_in_the_log_or_as_the_role() -> None:
    """Each column that is not named has the log's name, then the role's; a named one is taken as named."""
    run = RUN.rename({"query": "qid", "doc": "url"})
    expected = RUN.irm.judge(QRELS).evaluate("rr", "ndcg")
    irm = run.irm(query="qid", doc="url")
    for names, given in (
        ({"query": "qid", "doc": "url"}, {}),
        ({}, {}),
        ({"query": "qid"}, {}),
        ({"doc": "url"}, {}),
        ({"query": "topic", "doc": "page", "grade": "stars"}, {"query": "topic", "doc": "page", "grade": "stars"}),
    ):
        assert irm.judge(QRELS.rename(names), **given).evaluate("rr", "ndcg").equals(expected)
    both = QRELS.rename({"doc": "url"}).with_columns(doc=pl.lit("nothing"))
    assert irm.judge(both).evaluate("rr", "ndcg").equals(expected)


def test_the_judgment_is_called_as_in_the_log_too() -> None:
    """`grade=` of the log names the column of the judgments where it is there."""
    qrels = QRELS.rename({"grade": "stars"})
    own = RUN.with_columns(stars=pl.lit(5))
    assert values(own.irm(grade="stars").judge(qrels).evaluate("ndcg")) == values(RUN.irm.judge(QRELS).evaluate("ndcg"))


def test_judgments_beside_take_the_place_of_those_in_the_log() -> None:
    """Grades in the log are not looked at once judgments are beside it."""
    own = RUN.with_columns(grade=pl.lit(1))
    assert own.irm.judge(QRELS).evaluate("ap", "ndcg").equals(RUN.irm.judge(QRELS).evaluate("ap", "ndcg"))


@pytest.mark.parametrize(
    ("qrels", "given", "words"),
    [
        (QRELS.rename({"query": "q"}), {}, "query="),
        (QRELS.rename({"doc": "d"}), {}, "doc="),
        (QRELS.rename({"grade": "g"}), {}, "grade="),
        (QRELS.with_columns(label=pl.lit(1)), {}, "both 'label' and 'grade'"),
        (QRELS, {"grade": "rating"}, "rating"),
        (QRELS, {"query": "qid"}, "qid"),
    ],
)
def test_a_column_of_the_judgments_that_is_not_there_is_an_error(qrels: Any, given: Any, words: str) -> None:
    """What is missing or ambiguous is said when judge is called."""
    with pytest.raises(ColumnError, match=words):
        RUN.irm.judge(qrels, **given)


# Values of the judgments


def test_a_judged_query_keeps_its_name_where_repeated_documents_are_left_out() -> None:
    """Rows that are left out move no query: those of the judgments alone have their own names."""
    run = frame("query doc score", ("a", "x", 2.0), ("a", "x", 1.0), ("a", "y", 0.5))
    qrels = frame("query doc grade", ("b", "x", 1), ("a", "y", 1), ("c", "y", 1))
    found = run.irm(duplicates="first").judge(qrels).per_query("rr", "num_ret", layout="wide").drop("answered")
    assert found.rows() == [("a", 0.5, 2), ("b", 0, 0), ("c", 0, 0)]


def test_weights_of_log_and_judgments_where_a_query_is_not_judged() -> None:
    """The weight of a query that nobody judged stands in the log alone, and contradicts nothing."""
    run = frame("query doc score w", ("a", "x", 2.0, 2.0), ("b", "x", 1.0, 3.0))
    qrels = frame("query doc grade w", ("a", "x", 1, 2.0), ("c", "x", 1, 5.0))
    found = run.irm(weight="w").judge(qrels).evaluate("rr").select("average", "value", "n")
    assert found.rows() == [("weighted", pytest.approx(2 / 7), 2)]


def test_two_grades_in_a_segment_that_is_null() -> None:
    """A null segment is a segment: judgments of a document there contradict each other as elsewhere."""
    run = frame("day query doc score", (None, "a", "x", 2.0), ("mo", "a", "x", 1.0))
    qrels = frame("day query doc grade", ("mo", "a", "x", 1), (None, "a", "x", 0), (None, "a", "x", 2))
    with pytest.raises(BadValueError, match=r"1 pair has two judgments \(.* \(None, a, x\), rows 1, 2\)"):
        run.irm(by="day").judge(qrels).evaluate("rr")
    assert values(run.irm(by="day").judge(qrels[:2]).evaluate("rr")) == [1, 0]


def test_systems_that_disagree_in_a_segment_that_is_null() -> None:
    """So do the systems of a log that judges itself."""
    run = frame("run day query doc score grade", ("p", None, "a", "x", 2.0, 1), ("o", None, "a", "x", 1.0, 0))
    with pytest.raises(BadValueError, match=r"1 pair has two judgments \(.* \(None, a, x\), rows 0, 1\)"):
        run.irm(system="run", by="day", doc="doc").evaluate("rr")


def test_null_grades_are_unjudged() -> None:
    """A row of the judgments without a grade judges nothing, and makes no query judged."""
    qrels = frame("query doc grade", ("a", "y", 1), ("a", "x", None), ("b", "x", None))
    irm = RUN.irm.judge(qrels)
    assert irm.per_query("judged", "rr", "num_rel", layout="wide").drop("answered").rows() == [("a", 0.5, 0.5, 1)]


def test_repeated_judgments_that_agree_are_one() -> None:
    """The same judgment twice counts once."""
    twice = pl.concat([QRELS, QRELS, QRELS[1:3]])
    asked = ("ndcg", "recall", "num_rel", "ap")
    assert RUN.irm.judge(twice).per_query(*asked).equals(RUN.irm.judge(QRELS).per_query(*asked))


def test_two_grades_for_one_pair_are_an_error() -> None:
    """Judgments that contradict each other are refused, with the pair and its rows."""
    twice = pl.concat([QRELS, frame("query doc grade", ("a", "z", 1))])
    with pytest.raises(BadValueError, match=r"\(a, z\), rows 1, 4"):
        RUN.irm.judge(twice).evaluate("rr")
    assert values(RUN.irm.judge(twice.filter(pl.col("doc") != "z")).evaluate("rr"))


@pytest.mark.parametrize(
    ("log", "qrels"),
    [
        (pl.Int64, pl.Int32),
        (pl.Int32, pl.Int64),
        (pl.UInt8, pl.Int64),
        (pl.Int64, pl.UInt64),
        (pl.String, pl.Categorical),
        (pl.Categorical, pl.String),
        (pl.Categorical, pl.Categorical),
        (pl.Enum(["1", "2", "3", "4"]), pl.String),
        (pl.String, pl.Enum(["4", "3", "2", "1"])),
        (pl.Enum(["1", "2", "3"]), pl.Enum(["3", "2", "1"])),
        (pl.Float32, pl.Float64),
    ],
    ids=str,
)
def test_ids_of_one_kind_match_whatever_their_width(log: Any, qrels: Any) -> None:
    """Integers match integers and text matches categories."""

    def cast(values: pl.DataFrame, dtype: Any) -> pl.DataFrame:
        text = (
            pl.col("query", "doc").cast(pl.String) if dtype not in (pl.Float32, pl.Float64) else pl.col("query", "doc")
        )
        return values.with_columns(text.cast(dtype))

    run = frame("query doc score", (1, 1, 2.0), (1, 2, 1.0), (2, 1, 1.0))
    judged = frame("query doc grade", (1, 2, 1), (1, 3, 1), (2, 1, 1), (3, 1, 1))
    found = cast(run, log).irm.judge(cast(judged, qrels)).per_query("rr", "recall", layout="wide").drop("answered")
    assert found.drop("query").rows() == [(0.5, 0.5), (1, 1), (0, 0)]
    assert found.schema["query"] == log


@pytest.mark.parametrize(
    ("log", "qrels"),
    [
        (pl.Series([1, 2], dtype=pl.Int8), pl.Series([2, 300])),
        (pl.Series(["a", "b"], dtype=pl.Enum(["a", "b"])), pl.Series(["b", "elsewhere"])),
    ],
    ids=["a small integer", "an enum"],
)
def test_a_judged_document_need_not_fit_the_type_of_the_log(log: pl.Series, qrels: pl.Series) -> None:
    """Documents that were not retrieved may have ids that the log's column cannot hold."""
    run = pl.DataFrame({"query": 1, "doc": log, "score": [2.0, 1.0]})
    judged = pl.DataFrame({"query": 1, "doc": qrels, "grade": [1, 1]})
    assert values(run.irm.judge(judged).per_query("rr", "recall")) == [0.5, 0.5]


@pytest.mark.parametrize("column", ["query", "doc"])
def test_ids_of_different_types_are_an_error(column: str) -> None:
    """Text and numbers never match in silence."""
    run = frame("query doc score", (1, 1, 1.0))
    qrels = frame("query doc grade", (1, 1, 1)).with_columns(pl.col(column).cast(pl.String))
    with pytest.raises(BadValueError, match=f"{column} of the judgments is text"):
        run.irm.judge(qrels).evaluate("rr")


def test_a_day_is_not_a_moment_of_it() -> None:
    """Dates and times of day are different ids."""
    day, moment = datetime.date(2024, 1, 1), datetime.datetime(2024, 1, 1, 5)
    run = frame("query doc score", (day, "x", 1.0), (datetime.date(2024, 1, 2), "x", 1.0))
    qrels = frame("query doc grade", (moment, "x", 1), (moment.replace(hour=7), "y", 1))
    with pytest.raises(FrameMetricsError):
        run.irm.judge(qrels).evaluate("rr")


@pytest.mark.parametrize(("column", "first"), [("query", "'a'"), ("doc", "'x'")])
def test_ids_of_which_none_matches_are_an_error(column: str, first: str) -> None:
    """Ids that are written in two ways are seen, and one of each is shown."""
    qrels = QRELS.with_columns(pl.lit("id-") + pl.col(column))
    with pytest.raises(BadValueError, match=f"{column}: no id.*{first}.*'id-"):
        RUN.irm.judge(qrels.with_columns(qrels["literal"].alias(column)).drop("literal")).evaluate("rr")


def test_systems_that_found_nothing_relevant_are_no_error() -> None:
    """Documents that match no judgment are unjudged, as long as ids are written the same way."""
    run = frame("query doc score", ("a", "n", 1.0), ("b", "x", 1.0))
    assert values(run.irm.judge(QRELS).per_query("rr")) == [0, 0, 0]


# Kinds of frames


KINDS: dict[str, Any] = {
    "polars": lambda f: f,
    "lazy": lambda f: f.lazy(),
    "pandas": lambda f: pd.DataFrame(f.to_dict(as_series=False)),
    "pyarrow": lambda f: f.to_arrow(),
}


@pytest.mark.parametrize("qrels", KINDS)
@pytest.mark.parametrize("log", KINDS)
def test_log_and_judgments_may_be_of_different_libraries(log: str, qrels: str) -> None:
    """The result is of the log's kind, and the same for every kind of judgments."""
    made = frame_metrics.IRM(KINDS[log](systems()), system="run").judge(KINDS[qrels](JUDGED)).evaluate("recall", "ap")
    assert type(made) is type(KINDS[log](systems()))
    expected = systems().irm(system="run").judge(JUDGED).evaluate("recall", "ap")
    found = made.collect() if log == "lazy" else pl.from_arrow(made) if log == "pyarrow" else made
    assert list(found["value"]) == values(expected)
    assert list(found["run"]) == expected["run"].to_list()


def test_lazy_judgments_are_not_read_before_the_result_is() -> None:
    """With a lazy log nothing runs until the result is collected, and then once."""
    ran = []

    def note(batch: pl.DataFrame) -> pl.DataFrame:
        ran.append(len(batch))
        return batch

    irm = RUN.lazy().map_batches(note).irm.judge(QRELS.lazy().map_batches(note))
    result = irm.per_query("rr", "recall")
    assert isinstance(result, pl.LazyFrame)
    assert result.collect_schema().names() == ["query", "metric", "k", "value", "undefined", "answered"]
    assert ran == []
    assert result.collect().equals(RUN.irm.judge(QRELS).per_query("rr", "recall"))
    assert sorted(ran)[0] == len(RUN)


# The object


def test_a_judged_object_can_be_used_again_and_judged_anew() -> None:
    """judge gives a new object and changes nothing; others take the place of judgments that are taken back."""
    bare = RUN.irm(query="query")
    one = bare.judge(QRELS)
    other = one.judge(None).judge(QRELS.with_columns(grade=pl.lit(0)))
    before = values(one.evaluate("rr"))
    assert values(other.evaluate("rr")) == [0]
    assert values(one.evaluate("rr")) == before == [pytest.approx(1 / 6)]
    with pytest.raises(ColumnError):
        bare.evaluate("rr")
    assert values(other.judge(None).judge(QRELS).evaluate("rr")) == before


def test_roles_may_change_after_judging() -> None:
    """A call with other conventions keeps the judgments."""
    irm = RUN.irm.judge(QRELS)
    assert values(irm(rel=2).evaluate("num_rel")) == [1]
    assert values(irm.evaluate("num_rel")) == [4]
    assert values(irm(rel=2)(rel=None).evaluate("num_rel")) == [4]
    assert values(irm(unjudged="drop").per_query("num_ret")) == [1, 0, 0]


# Judgments in the log


def test_rows_that_were_not_retrieved_count_in_r_and_in_the_ideal() -> None:
    """A judged row with a null score is known and not retrieved."""
    log = frame("query score grade", (1, 2.0, 1), (1, 1.0, 0), (1, None, 2), (1, None, 1), (1, None, 0))
    found = log.irm.per_query("recall", "ap", "num_rel", "num_ret", "rr", "ndcg", "precision", "bpref")
    ideal = 2 + 1 / math.log2(3) + 1 / 2
    assert values(found) == pytest.approx([1 / 3, 1 / 3, 3, 2, 1, 1 / ideal, 1 / 2, 1 / 3])


def test_a_query_of_which_nothing_was_retrieved_is_evaluated() -> None:
    """Judged rows alone make a query, with 0 where there is something to find; so do ranks that are null."""
    for column in ("score", "rank"):
        log = frame(f"query {column} grade", (1, None, 1), (2, 1.0, 1), (3, None, 0), (3, None, 1))
        log = log.with_columns(pl.col(column).cast(pl.Int64 if column == "rank" else pl.Float64))
        assert values(log.irm.per_query("rr", "num_ret")) == [0, 0, 1, 1, 0, 0]


def test_systems_share_the_judgments_of_a_document() -> None:
    """In a log with grades, `doc` and `system`, a document judged in one system's rows is judged in all."""
    log = frame(
        "run query doc score grade",
        ("p", 1, "x", 2.0, 1),
        ("p", 1, "y", 1.0, 0),
        ("q", 1, "y", 2.0, None),
        ("q", 1, "x", 1.0, None),
        ("q", 2, "z", 1.0, 2),
    )
    found = log.irm(system="run", doc="doc").per_query("rr", "num_rel", "judged", layout="wide").drop("answered")
    assert found.rows() == [("p", 1, 1, 1, 1), ("p", 2, 0, 1, 0), ("q", 1, 0.5, 1, 1), ("q", 2, 1, 1, 1)]


def test_systems_share_what_others_found() -> None:
    """R and the ideal rest on what all systems found, and not on each one's own rows."""
    log = frame("run query doc score grade", ("p", 1, "x", 1.0, 1), ("q", 1, "y", 1.0, 1), ("q", 1, "n", 2.0, 0))
    found = log.irm(system="run", doc="doc").per_query("recall", "num_rel", layout="wide").drop("answered")
    assert found.rows() == [("p", 1, 0.5, 2), ("q", 1, 0.5, 2)]


def test_systems_that_disagree_on_a_grade_are_an_error() -> None:
    """A document has one grade, whichever system found it."""
    log = frame("run query doc score grade", ("p", 1, "x", 1.0, 1), ("q", 1, "x", 1.0, 2))
    with pytest.raises(BadValueError, match="two judgments"):
        log.irm(system="run", doc="doc").evaluate("rr")


def test_without_documents_a_system_without_judged_rows_is_measured_against_who_found_most() -> None:
    """A system that has no judged row of a query misses what the best one found."""
    log = frame(
        "run query score grade",
        ("p", 1, 1.0, 1),
        ("q", 1, 3.0, 1),
        ("q", 1, 2.0, 1),
        ("q", 1, 1.0, 0),
        ("r", 1, 1.0, None),
        ("p", 2, 1.0, 2),
    )
    found = log.irm(system="run").per_query("recall", "num_rel", layout="wide").drop("answered")
    assert found.rows() == [
        ("p", 1, 1, 1),
        ("p", 2, 1, 1),
        ("q", 1, 1, 2),
        ("q", 2, 0, 1),
        ("r", 1, 0, 2),
        ("r", 2, 0, 1),
    ]


def test_who_found_most_is_who_found_most_relevant_documents() -> None:
    """A long list with one relevant document is less to be measured against than a short one with two."""
    log = frame(
        "run query score grade",
        *(("long", 1, float(-i), int(i == 0)) for i in range(5)),
        ("short", 1, 2.0, 1),
        ("short", 1, 1.0, 1),
        ("unjudged", 1, 1.0, None),
    )
    found = log.irm(system="run").per_query("num_rel", layout="wide").drop("answered")
    assert found.rows() == [("long", 1, 1), ("short", 1, 2), ("unjudged", 1, 2)]


# How many are relevant, when only results are listed


COUNTED = frame(
    "query score grade total", (1, 3.0, 0, 4), (1, 2.0, 1, 4), (1, 1.0, 1, 4), (2, 1.0, 0, 1), (3, 1.0, 0, 0)
)


def test_n_relevant_says_how_many_documents_are_relevant_in_all() -> None:
    """Recall, ap and R-precision divide by it, and a binary ideal has as many documents."""
    irm = COUNTED.irm(n_relevant="total")
    found = irm.per_query("recall", "ap", "rprec", "num_rel", "ndcg", layout="wide").drop("answered")
    discounts = [1 / math.log2(rank + 1) for rank in range(1, 5)]
    assert found.row(0) == pytest.approx(
        (1, 2 / 4, (1 / 2 + 2 / 3) / 4, 2 / 4, 4, sum(discounts[1:3]) / sum(discounts))
    )
    assert found.rows()[1:] == [(2, 0, 0, 0, 1, 0), (3, 0, 0, 0, 0, 0)]
    assert irm(undefined="null").evaluate("recall").select("n", "n_undefined").row(0) == (2, 1)


COUNTED_TWICE: dict[str, Any] = {
    "evaluate": lambda irm: irm.evaluate("recall"),
    "per_query": lambda irm: irm.per_query("ndcg"),
    "compare": lambda irm: irm(system="run").compare("rr"),
    "bounds": lambda irm: irm.bounds("rr", of="ties"),
    "explain": lambda irm: irm.explain("rr", query=1),
    "curve": lambda irm: irm.curve("recall@k"),
    "thresholds": lambda irm: irm.thresholds("recall"),
    "audit": lambda irm: irm.audit(),
}


@pytest.mark.parametrize("verb", COUNTED_TWICE)
@pytest.mark.parametrize("kind", KINDS)
def test_relevant_documents_are_listed_or_counted_and_not_both(kind: str, verb: str) -> None:
    """Beside judgments, or lists of relevant documents, n_relevant= is an error in every verb, whatever it says."""
    call = COUNTED_TWICE[verb]
    run = pl.DataFrame({"query": [1, 1], "doc": [*"xy"], "score": [2.0, 1.0], "run": [*"ab"], "n": [1, 1]})
    irm, qrels = IRM(as_kind(run, kind), n_relevant="n"), as_kind(run.select("query", "doc", grade=1), kind)
    assert error(lambda: call(irm.judge(qrels)), ColumnError) == (
        "n_relevant='n' counts the relevant documents of a query, and judge() lists them; leave one out: "
        "pass n_relevant=None to count those that are listed"
    )
    listed = run.with_columns(relevant=pl.Series([["x"], ["x"]]))
    for roles in ({}, {"relevant": "relevant"}):
        message = error(lambda roles=roles: call(IRM(as_kind(listed, kind), n_relevant="n", **roles)), ColumnError)
        assert message.startswith("n_relevant='n' counts the relevant documents of a query, and relevant='relevant' ")


def test_n_relevant_cannot_stand_for_grades() -> None:
    """An ideal of graded documents cannot be taken from their number."""
    graded = COUNTED.with_columns(grade=pl.col("grade") * 2)
    with pytest.raises(NotComputableError, match="n_relevant=None"):
        graded.irm(n_relevant="total").evaluate("ndcg")
    assert values(graded.irm(n_relevant="total").evaluate("recall")) == [pytest.approx(1 / 6)]
    for metric in ("ndcg", "q_measure"):  # a fraction is a grade too
        with pytest.raises(NotComputableError, match="n_relevant=None"):
            graded.with_columns(grade=pl.col("grade") / 8).irm(n_relevant="total", rel=0.25).per_query(metric)


def test_more_relevant_documents_than_can_be_rows() -> None:
    """Thresholds make rows of documents that are counted and not listed, and so many they cannot make."""
    vast = COUNTED.with_columns(total=pl.lit(2**52))
    with pytest.raises(BadValueError, match=r"^total: .* documents that are not listed are too many rows$"):
        vast.irm(n_relevant="total").thresholds("recall")


@pytest.mark.parametrize(
    ("total", "words"),
    [([1, 1, 1, 1, 0], "more relevant"), ([4, 5, 4, 1, 0], "differ"), ([-1, -1, -1, 1, 0], "negative")],
)
def test_an_n_relevant_that_cannot_be_is_an_error(total: list[int], words: str) -> None:
    """It is one number per query, and no less than the relevant documents that are listed."""
    with pytest.raises(BadValueError, match=words):
        COUNTED.with_columns(total=pl.Series(total)).irm(n_relevant="total").evaluate("recall")


# Ranks


def test_ranks_with_gaps_are_real_positions() -> None:
    """A position that the log does not list holds a document that is not relevant."""
    log = frame("query rank grade", (1, 7, 1), (1, 2, 1), (1, 4, 0))
    full = frame("query rank grade", *((1, rank, int(rank in (2, 7))) for rank in range(1, 8)))
    asked = [
        "rr",
        "ap",
        "ndcg",
        "ndcg@5",
        "precision@5",
        "recall@5",
        "rprec",
        "rbp",
        "success@1",
        "efficiency",
        "iprec_avg",
    ]
    assert values(log.irm.per_query(*asked)) == pytest.approx(values(full.irm.per_query(*asked)))
    assert values(log.irm.per_query("rr", "num_ret", "num_ret@4")) == [0.5, 3, 2]
    some = log.with_columns(grade=pl.Series([1, None, 0]))
    assert values(some.irm.per_query("judged@1", "judged@3", "judged@4", "judged@7")) == [0, 0, 1 / 2, 2 / 3]
    assert some.irm.evaluate("judged@1")["n_undefined"].item() == 1


@pytest.mark.parametrize("dtype", [pl.Int8, pl.Int32, pl.UInt32, pl.Int64, pl.UInt64, pl.Float64])
def test_ranks_are_whole_numbers_of_any_type(dtype: Any) -> None:
    """Small integers, as rank functions give them, are ranks too."""
    log = pl.DataFrame({"query": [1, 1], "rank": pl.Series([2, 1], dtype=dtype), "grade": [1, 0]})
    assert values(log.irm.per_query("rr")) == [0.5]


def test_rank_orders_where_score_is_named_too() -> None:
    """With both named, the rank is what was shown."""
    log = frame("query rank score grade", (1, 1, 0.1, 0), (1, 2, 0.9, 1))
    assert values(log.irm(rank="rank", score="score").per_query("rr")) == [0.5]
    assert values(log.irm(score="score").per_query("rr")) == [1]


def test_a_rank_of_nothing_is_not_retrieved() -> None:
    """A null rank is a judged document that was not shown."""
    log = frame("query rank grade", (1, None, 1), (1, 3, 1), (2, 1, 0), (2, None, 1))
    assert values(log.irm.per_query("rr", "recall")) == [1 / 3, 1 / 2, 0, 0]


# Condensed lists


def test_condensed_lists_leave_unjudged_documents_out() -> None:
    """`unjudged="drop"` closes the ranking up over unjudged documents, and so does `judged_only=True` in a name."""
    log = frame("query score grade", (1, 5.0, None), (1, 4.0, 0), (1, 3.0, None), (1, 2.0, 1), (1, None, 1))
    asked = ("rr", "ap", "num_ret", "judged", "precision@2", "ndcg", "recall")
    expected = [1 / 2, 1 / 4, 2, 1, 1 / 2, (1 / math.log2(3)) / (1 + 1 / math.log2(3)), 1 / 2]
    assert values(log.irm(unjudged="drop").per_query(*asked)) == pytest.approx(expected)
    inside = [f"{name}(judged_only=True)@{k}".removesuffix("@") for name, _, k in (a.partition("@") for a in asked)]
    assert values(log.irm.per_query(*inside)) == pytest.approx(expected)
    assert values(log.irm.per_query("rr", "num_ret")) == [1 / 4, 4]


def test_condensed_lists_leave_negative_grades_out() -> None:
    """A negative grade is in the pool and not judged, as in trec_eval -J."""
    log = frame("query score grade", (1, 2.0, -1), (1, 1.0, 1))
    assert values(log.irm(unjudged="drop").per_query("rr", "num_ret")) == [1, 1]


def test_condensed_lists_are_those_of_the_judgments_beside() -> None:
    """With judgments beside the log, what they do not name is left out; ranks close up over gaps."""
    assert values(RUN.irm(unjudged="drop").judge(QRELS).per_query("rr", "num_ret")) == [1, 1, 0, 0, 0, 0]
    log = frame("query rank doc", (1, 3, "x"), (1, 9, "y"))
    qrels = frame("query doc grade", (1, "y", 1))
    assert values(log.irm(unjudged="drop").judge(qrels).per_query("rr")) == [1]
    assert values(log.irm.judge(qrels).per_query("rr")) == [1 / 9]


def test_a_query_that_is_condensed_to_nothing_counts() -> None:
    """Where no result is judged but the query is, it has 0."""
    assert values(RUN.irm(unjudged="drop").judge(QRELS).evaluate("num_q", "num_ret")) == [3, 1]


NEGATIVE = frame(
    "query doc score grade",
    *((1, "a", 0.9, 1), (1, "b", 0.8, -1), (1, "c", 0.7, None), (1, "d", 0.6, 0), (1, "e", 0.5, 2)),
    *((2, "a", 0.9, -1), (2, "b", 0.1, -2), (3, "a", 0.9, None)),
)
ROUTES = {
    "the log": NEGATIVE.drop("doc").irm(query="query"),
    "documents": NEGATIVE.irm(query="query", doc="doc"),
    "judge": NEGATIVE.drop("grade").irm(query="query", doc="doc").judge(NEGATIVE.drop("score")),
    "a system": NEGATIVE.drop("doc").with_columns(run=pl.lit("x")).irm(query="query", system="run"),
    "a system's documents": NEGATIVE.with_columns(run=pl.lit("x")).irm(query="query", system="run", doc="doc"),
    "a segment": NEGATIVE.drop("doc").with_columns(day=pl.lit("mo")).irm(query="query", by="day"),
}


@pytest.mark.parametrize("route", ROUTES)
def test_a_query_with_negative_grades_alone_is_evaluated_however_it_is_judged(route: str) -> None:
    """Condensed lists leave its documents out, and it counts as a query without relevant documents."""
    irm = ROUTES[route]
    found = irm(unjudged="drop").evaluate("rr", "num_q").select("value", "n", "n_undefined")
    assert found.rows() == [(0.5, 2, 1), (2, 2, 0)]
    inside = "rr(judged_only=True)"
    for asked in ([inside], [inside, "rr"], ["rr", inside]):
        found = irm.evaluate(*asked).select("metric", "value", "n", "n_undefined")
        assert found.rows() == [(name, 0.5, 2, 1) for name in asked]


@pytest.mark.parametrize("more", [{}, {"threshold": 0.65}])
@pytest.mark.parametrize("route", ROUTES)
def test_condensed_lists_are_the_same_however_they_are_judged(route: str, more: Any) -> None:
    """A negative grade that is left out of the list is no document of it that was not retrieved, for any metric."""
    names = [*("ap", "ndcg", "bpref", "infap", "num_ret", "tp", "fp", "fn", "roc_auc", "average_precision", "brier")]
    names += ["tn", "accuracy"] if more else []
    expected = NEGATIVE.filter((pl.col("grade") >= 0) | (pl.col("query") == 2))
    expected = expected.filter(pl.col("query") == 1).irm(query="query", **more).per_query(*names)
    found = ROUTES[route](unjudged="drop", **more).per_query(*names).filter(query=1)
    assert values(found) == pytest.approx(values(expected))


# Grades and labels


def test_a_label_decides_what_is_relevant_and_the_grade_what_is_gained() -> None:
    """With both named, binary metrics read the label and gains the grade."""
    log = frame("query score label grade", (1, 2.0, 0, 3), (1, 1.0, 1, 0))
    found = values(log.irm(label="label", grade="grade").per_query("rr", "dcg", "num_rel"))
    assert found == [1 / 2, 3, 1]


def test_relevant_is_a_grade_from_rel_on() -> None:
    """`rel=` moves the least relevant grade; gains stay."""
    log = frame("query score grade", (1, 3.0, 1), (1, 2.0, 2), (1, 1.0, 0))
    assert values(log.irm.per_query("rr", "num_rel", "cg")) == [1, 2, 3]
    assert values(log.irm(rel=2).per_query("rr", "num_rel", "cg")) == [1 / 2, 1, 3]
    assert values(log.irm(rel=1.5).per_query("rr", "num_rel", "cg")) == [1 / 2, 1, 3]
    assert values(log.irm(rel=0).per_query("rr", "num_rel", "cg")) == [1, 3, 3]


def test_a_rel_that_no_grade_reaches_is_an_error() -> None:
    """Grades that are all below `rel` are said, with the largest; a log without any positive grade is not."""
    log = frame("query score grade", (1, 2.0, 0.5), (1, 1.0, 0.25))
    with pytest.raises(NotComputableError, match=r"rel=1.*0\.5"):
        log.irm.evaluate("rr")
    assert values(log.irm.evaluate("ndcg")) == [1]
    assert values(log.irm(rel=0.5).evaluate("rr")) == [1]
    assert values(log.with_columns(grade=pl.lit(0)).irm.evaluate("rr")) == [0]


def test_float_grades_stay_floats() -> None:
    """A fractional grade is gained as it is; the ideal ranking of fractions has nDCG 1."""
    log = frame("query score grade", (1, 2.0, 0.9), (1, 1.0, 0.2), (2, 2.0, 0.2), (2, 1.0, 0.9))
    found = values(log.irm.per_query("cg@1", "ndcg"))
    assert found == pytest.approx([0.9, 1, 0.2, (0.2 + 0.9 / math.log2(3)) / (0.9 + 0.2 / math.log2(3))])


def test_judgments_of_an_arrow_table_keep_their_nulls() -> None:
    """A null grade of a table is unjudged, as in any frame."""
    qrels = pa.table({"query": ["a", "a", "b"], "doc": ["y", "x", "x"], "grade": [1, None, None]})
    assert values(RUN.irm.judge(qrels).per_query("rr", "judged")) == [0.5, 0.5]


def test_a_hash_decides_nothing() -> None:
    """Where all hashes are equal, the ids alone match judgments and find what stands twice."""

    def expected() -> list[Any]:
        run = pl.DataFrame({"query": [1, 1, 2, 2], "doc": ["x", "y", "x", "z"], "score": [4.0, 3.0, 2.0, 1.0]})
        qrels = pl.DataFrame({"query": [1, 2, 2], "doc": ["y", "x", "w"], "grade": [1, 2, 1]})
        return run.irm.judge(qrels).per_query("rr", "recall", "ndcg")["value"].to_list()

    honest = expected()
    with equal_hashes():
        assert expected() == honest
        with small_blocks(10):  # as a large log
            assert expected() == honest
    assert honest[:2] == [0.5, 1.0]


@pytest.mark.parametrize("ids", [pl.Int64, pl.String])
def test_judgments_are_found_however_rows_stand(ids: Any) -> None:
    """Where a query's rows stand together, where they do not, and where the judgments do not, the same ones are."""
    random = np.random.default_rng(0)
    pairs = pl.DataFrame({"query": np.repeat(np.arange(300), 40), "doc": random.integers(0, 60, 12_000)}).unique()
    pairs = pairs.sort("query", "doc").cast({"doc": ids})
    pairs = pairs.with_columns(
        score=pl.Series(random.random(len(pairs))), grade=pl.Series(random.integers(0, 4, len(pairs)))
    )
    log, qrels = pairs.filter(pl.col("query") % 7 != 0).drop("grade"), pairs.drop("score").sample(fraction=0.5, seed=1)
    joined = log.join(qrels, on=["query", "doc"], how="left").irm()
    expected = joined.per_query("judged", "dcg").sort("query", "metric")
    for rows in (log, log.sample(fraction=1, shuffle=True, seed=2)):
        for judgments in (qrels, qrels.sort("query")):
            found = rows.irm().judge(judgments).per_query("judged", "dcg").sort("query", "metric")
            assert found.join(expected, on=["query", "metric"])["value"].to_list() == pytest.approx(
                expected["value"].to_list(), abs=1e-12
            )


def test_judged_queries_without_results_keep_their_names_where_repeated_documents_were_left_out(kind: str) -> None:
    """Leaving out repeated rows does not move the names of queries that only the judgments have."""
    log = pl.DataFrame(
        {"query": ["a", "a", "a", "b"], "doc": ["x", "x", "y", "x"], "score": [3.0, 2.0, 1.0, 1.0], "run": ["one"] * 4}
    )
    qrels = pl.DataFrame({"query": ["a", "c", "b", "d"], "doc": ["x", "x", "x", "y"], "grade": [1, 1, 1, 1]})
    irm = IRM(as_kind(log, kind), system="run", duplicates="first", doc="doc").judge(as_kind(qrels, kind))
    found = as_polars(irm.per_query("recall")).select("run", "query", "value").rows()
    assert found == [("one", "a", 1.0), ("one", "b", 1.0), ("one", "c", 0.0), ("one", "d", 0.0)]


def test_a_known_count_holds_for_systems_that_share_their_judgments() -> None:
    """Where the log has the judgments itself, `n_relevant` says how many there are; systems cannot differ in it."""
    log = pl.DataFrame(
        {
            "query": [1] * 4,
            "run": ["x", "x", "y", "y"],
            "doc": ["a", "b", "b", "c"],
            "score": [2.0, 1.0] * 2,
            "grade": [1, 0, 0, 1],
            "total": [4] * 4,
        }
    )
    irm = log.irm(query="query", doc="doc", system="run")
    assert irm.per_query("recall")["value"].to_list() == [1 / 2, 1 / 2]
    assert irm(n_relevant="total").per_query("recall")["value"].to_list() == [1 / 4, 1 / 4]
    with pytest.raises(BadValueError, match="differ from another system"):
        log.with_columns(total=pl.Series([4, 4, 5, 5])).irm(doc="doc", system="run", n_relevant="total").evaluate("rr")


def test_a_weight_that_is_said_twice_is_said_the_same() -> None:
    """In two rows of the judgments, or in log and judgments: two weights of one query are an error."""
    log = pl.DataFrame({"query": ["a"], "doc": ["x"], "score": [1.0], "visits": [2.0]})
    qrels = pl.DataFrame({"query": ["a", "a"], "doc": ["x", "y"], "grade": [1, 1], "visits": [2.0, 2.0]})
    assert log.irm(weight="visits").judge(qrels).evaluate("recall")["value"].item() == 0.5
    with pytest.raises(BadValueError, match=r"^visits \(of the judgments\): rows of one query differ"):
        log.irm(weight="visits").judge(qrels.with_columns(visits=pl.Series([2.0, 3.0]))).evaluate("recall")
    with pytest.raises(BadValueError, match=r"^visits: log and judgments differ"):
        log.irm(weight="visits").judge(qrels.with_columns(visits=pl.lit(3.0))).evaluate("recall")


OF_QUERIES = frame(
    "query doc grade topic visits user",
    *(("a", "y", 1, "T1", 3.0, "u"), ("a", "z", 2, "T1", 3.0, "u"), ("b", "y", 1, None, 1.0, "v")),
    ("c", "x", 1, "T2", 2.0, "u"),
)


@pytest.mark.parametrize("system", [None, "run"])
@pytest.mark.parametrize("roles", [{"by": "topic"}, {"weight": "visits"}, {"cluster": "user"}, {}], ids=str)
def test_what_is_said_of_queries_may_stand_in_the_judgments_alone(roles: dict[str, Any], system: str | None) -> None:
    """Values are those of a log that has the columns too; c has no results."""
    roles = roles or {"by": ["topic"], "weight": "visits", "cluster": "user"}
    log = pl.concat(
        [RUN.with_columns(run=pl.lit(run), score=pl.col("score") * sign) for run, sign in (("p", 1), ("q", -1))]
    )
    log = log if system else RUN
    said = OF_QUERIES.select("query", "topic", "visits", "user").unique(maintain_order=True)
    own = log.join(said, on="query", how="left", maintain_order="left")
    options: Any = {"ci": 0.8, "resamples": 20, "margins": "by" in roles}
    for duplicates in ("error", "first"):
        more = {"system": system, "duplicates": duplicates, **roles}
        here, there = (one.irm(**more).judge(OF_QUERIES) for one in (own, log))
        pl_testing.assert_frame_equal(
            there.evaluate("rr", "recall", **options), here.evaluate("rr", "recall", **options)
        )
        pl_testing.assert_frame_equal(there.per_query("rr"), here.per_query("rr"))


@pytest.mark.parametrize("qrels", KINDS)
@pytest.mark.parametrize("log", KINDS)
def test_segments_that_the_judgments_say_are_values_of_any_library(log: str, qrels: str) -> None:
    """A query without judgments is in no segment; one that is judged, and whose topic is null, is in that of null."""
    run = pl.concat([RUN, frame("query doc score", ("d", "x", 1.0))])
    irm = IRM(as_kind(run, log), by="topic").judge(as_kind(OF_QUERIES.drop_nulls(), qrels))
    found = as_polars(irm.evaluate("rr", margins=True)).select("topic", "total_over", "value", "n")
    assert found.rows() == [
        ("T1", None, 0.5, 1),
        ("T2", None, 0.0, 1),
        (None, "topic", 0.25, 2),
    ]
    assert as_polars(irm.per_query("rr"))["topic"].to_list() == ["T1", "T2"]


def test_a_segment_of_unjudged_queries_alone_is_none() -> None:
    """Where the judgments alone say the segment, a query that they lack makes no segment, in any verb."""
    run = pl.concat([RUN.with_columns(system=pl.lit("p")), RUN.with_columns(system=pl.lit("q"))])
    irm = (
        pl.concat([run, run[[0, len(RUN)]].with_columns(query=pl.lit("d"))])
        .irm(system="system", by="topic")
        .judge(OF_QUERIES)
    )
    found = (irm.evaluate("rr"), irm.compare("rr"), irm.bounds("rr", of="ties"), irm.curve("recall@k", cutoffs=2))
    for result in found:
        assert result["topic"].unique(maintain_order=True).to_list() == ["T1", "T2", None]
    assert irm.evaluate("rr").filter(pl.col("topic").is_null())["n"].to_list() == [1, 1]


@pytest.mark.parametrize("column", ["query", "doc", "seg"])
def test_nan_is_no_id_of_a_judgment(column: str) -> None:
    """In polars NaN is a value, and an error; in a numpy column of pandas it is the missing value."""
    run = pl.DataFrame({"query": [1.0, 1.0, 2.0], "doc": [1.0, 2.0, 1.0], "score": [2.0, 1.0, 1.0]})
    qrels = pl.DataFrame({"query": [1.0, 2.0, 2.0], "doc": [1.0, 1.0, 2.0], "grade": [1, 1, 1], "seg": [1.0, 2.0, 2.0]})
    nan = qrels.with_columns(pl.when(pl.int_range(3) < 2).then(column).otherwise(float("nan")))
    said = error(lambda: run.irm(by="seg").judge(nan).evaluate("recall"))
    assert said.startswith(f"{column} (of the judgments): 1 of 3 rows is NaN (row 2); drop them")


def test_nan_is_no_document() -> None:
    run = pl.DataFrame({"query": ["a", "a"], "doc": [1.0, float("nan")], "score": [2.0, 1.0], "grade": [1, 0]})
    assert error(lambda: run.irm.evaluate("rr")).startswith("doc: 1 of 2 rows is NaN (row 1); drop them")


def test_a_column_that_plays_another_part_is_not_found() -> None:
    assert error(lambda: RUN.irm(cluster="query").judge(QRELS).evaluate("rr")) == (
        "the column 'query' is the cluster, and a column can have only one role; name the query with query="
    )


def test_a_column_of_the_judgments_is_named_where_it_is() -> None:
    """An error says that the judgments have the column, or one of almost its name."""
    rated = QRELS.rename({"grade": "rating"}).with_columns(topic=pl.lit("T"))
    assert error(lambda: RUN.irm(grade="rating").judge(rated).evaluate("rr")).endswith(
        "; the judgments have it: name it there, judge(..., grade='rating')"
    )
    assert error(lambda: RUN.irm(by="topics").judge(rated, grade="rating").evaluate("rr")).endswith(
        "; did you mean 'topic'?"
    )


def test_a_weight_in_the_judgments_alone_need_not_be_there_for_queries_without_judgments() -> None:
    run = pl.concat([RUN, frame("query doc score", ("d", "x", 1.0))])
    found = run.irm(weight="visits", cluster="user").judge(OF_QUERIES).evaluate("rr")
    assert found.select("average", "value", "n").row(0) == ("weighted", (3 * 0.5 + 0 + 0) / 6, 3)


@pytest.mark.parametrize("role", ["by", "weight", "cluster"])
def test_a_column_of_the_judgments_alone_says_one_thing_of_a_query(role: str) -> None:
    column = {"by": "topic", "weight": "visits", "cluster": "user"}[role]
    more: Any = {role: column}
    two = OF_QUERIES.with_columns(topic=pl.col("doc"), visits=pl.Series([3.0, 4, 1, 2]), user=pl.col("doc"))
    with pytest.raises(BadValueError, match=rf"^{column} \(of the judgments\): rows of one query differ \(of 'a'\)"):
        RUN.irm(**more).judge(two).evaluate("rr")
    with pytest.raises(ColumnError, match="there is no such column among 'query', 'doc', 'score'"):
        RUN.irm(**more).judge(QRELS).evaluate("rr")


def test_a_grade_without_a_label_is_kept_wherever_judgments_stand() -> None:
    """In the log, shared between systems, or in a table of their own: the label decides what is relevant."""
    log = pl.DataFrame(
        {
            "query": [1, 1],
            "run": ["s", "s"],
            "doc": ["x", "y"],
            "score": [2.0, 1.0],
            "grade": [1, 3],
            "label": [1, None],
        }
    )
    roles: Any = {"query": "query", "score": "score", "label": "label", "grade": "grade"}
    asked = ("ndcg", "recall", "judged@2")
    alone = values(log.irm(**roles).evaluate(*asked))
    for more in ({"doc": "doc"}, {"system": "run"}, {"doc": "doc", "system": "run"}):
        assert values(log.irm(**roles, **more).evaluate(*asked)) == alone  # type: ignore[arg-type]
    beside = log.select("query", "doc", "score").irm(query="query").judge(log, grade="grade", label="label")
    assert values(beside.evaluate(*asked)) == alone
    two = pl.concat([log, log.with_columns(run=pl.lit("t"), grade=pl.Series([None, 3]), label=pl.Series([1, None]))])
    assert values(two.irm(**roles, doc="doc", system="run").evaluate("ndcg")) == alone[:1] * 2


def test_condensed_lists_have_condensed_ideals() -> None:
    """What `unjudged="drop"` leaves out of a list is out of its ideal too, whatever other systems found."""
    log = pl.DataFrame(
        {
            "run": ["A", "A", "B", "A", "B"],
            "query": [1, 1, 2, 3, 3],
            "score": [2.0, 1.0, 1.0, 1.0, 1.0],
            "grade": [1, 3, 1, None, None],
            "label": [1, None, 1, None, None],
        }
    )
    irm = log.irm(query="query", system="run", label="label", grade="grade", unjudged="drop")
    assert irm.per_query("ndcg").filter(run="A", query=1)["value"].item() == 1


SHORTENED: dict[str, Callable[[IRM[pl.DataFrame]], Any]] = {
    "evaluate": lambda irm: irm.evaluate("rr"),
    "per_query": lambda irm: irm.per_query("rr"),
    "confusion": lambda irm: irm(threshold=5).confusion(),
    "thresholds": lambda irm: irm.thresholds("recall"),
    "best_threshold": lambda irm: irm.best_threshold("recall"),
    "curve of scores": lambda irm: irm.curve("roc"),
    "curve over cutoffs": lambda irm: irm.curve("precision@k"),
    "bounds of ties": lambda irm: irm.bounds("ap", of="ties"),
    "bounds of unjudged rows": lambda irm: irm.bounds("ap", of="unjudged"),
    "explain": lambda irm: irm.explain("ap", query=1),
    "weight": lambda irm: irm(rank=None, weight="w").evaluate("rr"),
    "n_relevant": lambda irm: irm(rank=None, n_relevant="n").evaluate("rr"),
    "collection_size": lambda irm: irm(rank=None, collection_size="size").evaluate("accuracy"),
}


@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas"])
@pytest.mark.parametrize("name", SHORTENED)
def test_errors_name_the_rows_of_the_frame_where_repeated_documents_were_left_out(name: str, kind: str) -> None:
    """Rows are those of the frame in every verb, after the best place of each document was kept."""
    columns = {"rank": [5, 1, 2, 2, 1], "score": [1.0, 9, 8, 7, 1], "w": [1, 1, 1, 2, 1], "n": [2, 2, 2, 3, 1]}
    log = pl.DataFrame({"query": [1] * 4 + [2], "doc": [*"aabca"], "label": [1, 1, 0, 1, 1], **columns})
    frame = as_kind(log.with_columns(size=10 - pl.col("n")), kind)
    irm = IRM(frame, query="query", rank="rank", score="score", duplicates="first")
    expected = "1 of 5 rows repeats a rank of its query (row 3)"
    if name in ("weight", "n_relevant", "collection_size"):
        expected = "1 of 5 rows differs from another row of its query (row 3)"
    said = error(lambda: SHORTENED[name](irm), BadValueError)
    assert said.split(": ")[1].startswith(expected)


# Judgments that are read once


class InAnotherOrder:
    """Judgments that come in another order each time they are read, as of a plan that promises none."""

    def __init__(self, rows: pl.DataFrame) -> None:
        self.rows, self.times = rows, 0

    def read(self) -> pl.DataFrame:
        self.times += 1
        return self.rows.sample(fraction=1, shuffle=True, seed=self.times)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.read().to_arrow().__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("lazy", [False, True], ids=["log in memory", "lazy log"])
@pytest.mark.parametrize("kind", ["plan", "stream"])
def test_judgments_are_read_once(kind: str, lazy: bool) -> None:
    """Values stand under their own queries, whatever the order in which the judgments come."""
    clicks = pl.DataFrame({"query": [query for query in range(9) for _ in range(query)]})
    source = InAnotherOrder(clicks.with_columns(doc=pl.int_range(pl.len()), grade=pl.lit(1)))
    plan = source.rows.lazy().map_batches(lambda rows: source.read(), schema=source.rows.schema)
    run = pl.DataFrame({"query": [3], "doc": [3], "score": [1.0]})
    irm: Any = IRM(run.lazy() if lazy else run).judge(plan if kind == "plan" else source)
    found = as_polars(irm.per_query("num_rel", layout="wide")).drop("answered")
    assert dict(found.iter_rows()) == {query: query for query in range(1, 9)}


def test_judgments_from_duckdb_are_read_once() -> None:
    """A relation whose rows come in a random order gives the values of its queries."""
    rows = (
        "SELECT a AS query, b AS doc, 1 AS grade FROM range(1, 300) x(a), range(300) y(b) WHERE b < a ORDER BY random()"
    )
    run = pl.DataFrame({"query": [3], "doc": [3], "score": [1.0]})
    found = run.irm.judge(duckdb.sql(rows)).per_query("num_rel", layout="wide").drop("answered")
    assert dict(found.iter_rows()) == {query: query for query in range(1, 300)}


# Ids in other types


@pytest.mark.parametrize("role", ["query", "doc", "seg"])
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (pl.Series([Decimal("2.2")]), pl.Series([Decimal("2.25")])),
        (pl.Series([2.2], dtype=pl.Float32), pl.Series([2.2])),
        (pl.Series([1_000], dtype=pl.Datetime("ms")), pl.Series([1_000_001], dtype=pl.Datetime("us"))),
        (pl.Series([1_000], dtype=pl.Duration("ms")), pl.Series([1_000_001], dtype=pl.Duration("us"))),
        (pl.Series([1_000], dtype=pl.Datetime("us")), pl.Series([1_000_001], dtype=pl.Datetime("ns"))),
    ],
    ids=["decimal", "float32", "datetime", "duration", "nanoseconds"],
)
def test_ids_are_not_cut_to_match(role: str, ours: pl.Series, theirs: pl.Series) -> None:
    """Ids that differ in what the other type cannot hold are different ids: none matches, or the type is refused."""
    run = pl.DataFrame({"query": ["a"], "seg": ["u"], "doc": ["x"], "score": [1.0]}).with_columns(ours.alias(role))
    qrels = run.select("query", "seg", "doc", grade=pl.lit(1)).with_columns(theirs.alias(role))
    with pytest.raises(BadValueError, match=r"cannot hold|no id of the log"):
        run.irm(by="seg").judge(qrels).evaluate("precision")


@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (pl.Series([Decimal(2**53 + 1), Decimal(5)], dtype=pl.Decimal(38, 0)), pl.Series([2.0**53, 5.0])),
        (
            pl.Series([datetime.date(9999, 12, 31)]).cast(pl.Datetime("ms")),
            pl.Series([1], dtype=pl.Datetime("ns")),
        ),
        (pl.Series([2**62], dtype=pl.Duration("ms")), pl.Series([5], dtype=pl.Duration("ns"))),
        (pl.Series([2**127], dtype=pl.UInt128), pl.Series([5], dtype=pl.Int64)),
        (pl.Series([Decimal(10**37)], dtype=pl.Decimal(38, 0)), pl.Series([Decimal(5)], dtype=pl.Decimal(10, 5))),
    ],
    ids=["decimal beside float", "datetime", "duration", "integer", "decimal"],
)
def test_ids_that_no_common_type_holds_are_refused(ours: pl.Series, theirs: pl.Series, flip: bool) -> None:
    """Ids of the log, of judgments, of lists and of a baseline that fit no type beside the others are an error."""
    ours, theirs = (theirs, ours) if flip else (ours, theirs)
    run, qrels = (pl.DataFrame({"doc": ids}).with_columns(query=pl.lit("a"), grade=1) for ids in (ours, theirs))
    run = run.with_columns(score=pl.int_range(pl.len()))
    with pytest.raises(BadValueError, match="cannot hold"):
        run.drop("grade").irm.judge(qrels).evaluate("rr")
    lists = run.group_by("query").agg("doc").with_columns(theirs.implode().alias("relevant"))
    with pytest.raises(BadValueError, match="cannot hold"):
        lists.irm(relevant="relevant").evaluate("rr")
    of_ids, saved = (frame.rename({"doc": "query", "query": "doc"}) for frame in (run, qrels))
    with pytest.raises(BadValueError, match="cannot hold"):
        of_ids.irm.compare("rr", baseline=saved.with_columns(score=1).irm.per_query("rr"))


@pytest.mark.parametrize("role", ["query", "doc", "seg"])
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (pl.Series([Decimal("2.2")]), pl.Series([Decimal("2.20")])),
        (pl.Series([2.5], dtype=pl.Float32), pl.Series([2.5])),
        (pl.Series([1_000], dtype=pl.Datetime("ms")), pl.Series([1_000_000], dtype=pl.Datetime("us"))),
        (pl.Series([1_000_000], dtype=pl.Duration("us")), pl.Series([1_000], dtype=pl.Duration("ms"))),
        (pl.Series([7], dtype=pl.Int8), pl.Series([7], dtype=pl.UInt64)),
        (pl.Series(["x"], dtype=pl.Categorical), pl.Series(["x"])),
    ],
    ids=["decimal", "float32", "datetime", "duration", "integer", "text"],
)
def test_equal_ids_of_two_types_match(role: str, ours: pl.Series, theirs: pl.Series) -> None:
    """The same id in a wider or a finer type is the same id."""
    run = pl.DataFrame({"query": ["a"], "seg": ["u"], "doc": ["x"], "score": [1.0]}).with_columns(ours.alias(role))
    qrels = run.select("query", "seg", "doc", grade=pl.lit(1)).with_columns(theirs.alias(role))
    assert run.irm(by="seg").judge(qrels).evaluate("precision")["value"].to_list() == [1.0]


@pytest.mark.parametrize("system", [None, "run"])
def test_a_judgment_is_kept_where_its_row_is_left_out(system: str | None) -> None:
    """Of repeated documents the best place stays, with the judgment that any of them has."""
    log = pl.DataFrame(
        {"query": [1] * 3, "doc": ["x", "x", "y"], "score": [3.0, 2.0, 1.0], "grade": [None, 1, 0], "run": ["a"] * 3}
    )
    irm = log.irm(doc="doc", duplicates="first", system=system)
    assert values(irm.evaluate("num_rel", "rr", "num_ret")) == [1, 1, 2]


@pytest.mark.parametrize("key", ["system", "by"])
def test_a_document_of_two_systems_or_segments_is_not_repeated(key: str) -> None:
    """Of repeated documents the best place of each ranking stays: those of a system, a segment and a query."""
    log = pl.DataFrame(
        {"of": [*"aabb"], "query": 1, "doc": [*"xyyx"], "score": [2.0, 1.0, 2.0, 1.0], "grade": [1, 0, 0, 1]}
    )
    one = log.vstack(log[:1].with_columns(score=0.5))
    found = one.irm(doc="doc", duplicates="first", **{key: "of"}).evaluate("rr", "num_ret")  # type: ignore[arg-type]
    assert found.select("of", "value").rows() == [("a", 1), ("a", 2), ("b", 1 / 2), ("b", 2)]


def test_two_judgments_differ_also_where_one_row_has_no_label() -> None:
    """Grades of a repeated document that differ are an error, whichever rows have a label beside them."""
    log = pl.DataFrame({"query": [1] * 2, "doc": ["x"] * 2, "score": [3.0, 2.0], "grade": [1, 2], "label": [None, 1]})
    irm = log.irm(doc="doc", label="label", grade="grade", duplicates="first")
    with pytest.raises(BadValueError, match="another judgment"):
        irm.evaluate("rr")


# Null judgments, and ids in another Unicode form

FORMS: dict[str, Callable[[Any], Any]] = {"frame": lambda irm: irm, "pieces": in_pieces}
NONE_MATCHES = "doc: no id of the log is among those of the judgments"


@pytest.mark.parametrize("form", FORMS)
def test_ids_of_null_judgments_match(form: str) -> None:
    """A document in the pool that nobody has judged yet is known; its id is not written in another way."""
    run = frame("query doc score", ("a", "x", 1.0), ("a", "z", 0.5))
    pool = frame("query doc grade", ("a", "x", None), ("a", "y", 1))
    irm = FORMS[form](run.irm.judge(pool))
    assert values(as_polars(irm.evaluate("rr"))) == [0]
    assert as_polars(irm.audit()).filter(check="unjudged results")["n"].item() == 2
    other = FORMS[form](run.irm.judge(pool.with_columns(doc=pl.col("doc") + "!")))
    said = error(lambda: other.evaluate("rr"))
    assert said.startswith(NONE_MATCHES)
    assert as_polars(other.audit()).filter(severity="error")["message"].to_list() == [said]


@pytest.mark.parametrize("form", FORMS)
def test_ids_that_print_alike_are_shown_apart(form: str) -> None:
    """Ids that differ in Unicode form only are shown by their characters, with the way to bring them into one."""
    run = frame("query doc score", ("a", "caf\u00e9", 1.0))
    qrels = frame("query doc grade", ("a", "cafe\u0301", 1))
    said = error(lambda: FORMS[form](run.irm.judge(qrels)).evaluate("recall"))
    apart = r"(the log has 'caf\xe9', the judgments 'cafe\u0301')"
    way = "they print alike, and differ in Unicode form: bring both into one with .str.normalize('NFC')"
    assert said == f"{NONE_MATCHES} {apart}; {way}"
    same = run.with_columns(doc=pl.Series(["cafe\u0301"]))
    assert values(as_polars(FORMS[form](same.irm.judge(qrels)).evaluate("recall"))) == [1]


def test_saved_queries_that_print_alike_are_shown_apart() -> None:
    """So are the queries of saved numbers."""
    log = frame("query score grade", ("caf\u00e9", 1.0, 1), ("b\u00e9", 1.0, 0))
    saved = frame("query rr", ("cafe\u0301", 1.0))
    said = error(lambda: log.irm.compare("rr", baseline=saved))
    assert r"(the frame has ('caf\xe9'), the baseline ('cafe\u0301')); they print alike" in said
