"""What goes wrong, word for word: what was given, what was expected, the way out, in the caller's own names."""

import re
from collections.abc import Callable
from typing import Any

import pandas as pd
import polars as pl
import pytest

from frame_metrics import (
    IRM,
    BadValueError,
    ColumnError,
    FrameMetricsError,
    Metric,
    NotComputableError,
    UnknownNameError,
    metrics,
)
from helpers import as_kind, as_polars, error, facts, odd
from inside import COLUMNS as COLUMN_ROLES
from inside import reads, small_blocks, threads

NAN, INF = float("nan"), float("inf")
COLUMNS: dict[str, Any] = {"qid": [1, 1, 2, 2], "bm25": [2.0, 1.0, 3.0, 2.5], "rating": [0, 3, 1, 0]}
ROLES: dict[str, Any] = {"query": "qid", "score": "bm25", "grade": "rating"}


def _log(columns: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame({name: pl.Series(values, strict=False) for name, values in (COLUMNS | columns).items()})


# Values

BAD_VALUES: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "null query": (
        {"qid": [None, 1, 2, None]},
        {},
        "qid: 2 of 4 rows have no query (rows 0, 3); drop them, or give them one",
    ),
    "null in one of the query's columns": (
        {"part": ["a", None, "b", "c"]},
        {"query": ["qid", "part"]},
        "part: 1 of 4 rows has no query (row 1); drop them, or give them one",
    ),
    "null document": (
        {"sku": ["a", None, "b", "c"]},
        {"doc": "sku"},
        "sku: 1 of 4 rows has no document (row 1); drop them, or give them one",
    ),
    "infinite score": (
        {"bm25": [2.0, INF, -INF, 2.0]},
        {},
        "bm25: 2 of 4 rows are infinite (rows 1, 2); drop them, or make them null if the document was not retrieved",
    ),
    "huge score": (
        {"bm25": [2**60, 1, 2, 3]},
        {},
        "bm25: 1 of 4 rows is past 2**53, where float64 cannot tell integers apart (row 0); rescale them",
    ),
    "text for a score": (
        {"bm25": ["2", "1", "3", "2.5"]},
        {},
        "bm25: a score is a number, and this column is String; convert it",
    ),
    "infinite grade": (
        {"rating": [INF, 1.0, 2.0, 0.0]},
        {},
        "rating: 1 of 4 rows is infinite (row 0); drop them, or make them null",
    ),
    "text for a grade": (
        {"rating": ["0", "3", "1", "0"]},
        {},
        "rating: a grade is a number, and this column is String; convert it",
    ),
    "grades for a label": (
        {},
        {"grade": None, "label": "rating"},
        "rating: 1 of 4 rows is neither 0 nor 1 (row 1); say label=None, grade='rating' if these are grades, "
        "or name the relevant one with positive=",
    ),
    "half a label": (
        {"clicked": [0, 0.5, -1, 2]},
        {"grade": None, "label": "clicked"},
        "clicked: 3 of 4 rows are neither 0 nor 1 (rows 1, 2, 3); say label=None, grade='clicked' if these are "
        "grades, or name the relevant one with positive=",
    ),
    "text for a label": (
        {"clicked": ["yes", "no", "yes", "no"]},
        {"grade": None, "label": "clicked"},
        "clicked: a label is 0 or 1, and this column is String; name the one with positive=",
    ),
    "rank from 0": (
        {"pos": [0, 1, 0, 1]},
        {"score": None, "rank": "pos"},
        "pos: 2 of 4 rows are below 1 (rows 0, 2); ranks count from 1: add 1 if these count from 0",
    ),
    "boolean rank": (
        {"pos": [True, None, True, False]},
        {"score": None, "rank": "pos"},
        "pos: 1 of 4 rows is below 1 (row 3); ranks count from 1: add 1 if these count from 0",
    ),
    "rank not whole": (
        {"pos": [1, 1.5, 1, 2]},
        {"score": None, "rank": "pos"},
        "pos: 1 of 4 rows is not whole (row 1); a rank is a position: 1, 2, 3 ...",
    ),
    "huge rank": (
        {"pos": [1.0, 2.0**60, 1e300, 2.0]},
        {"score": None, "rank": "pos"},
        "pos: 2 of 4 rows are past 2**53 (rows 1, 2); a rank is a position: 1, 2, 3 ...",
    ),
    "infinite rank": (
        {"pos": [1, INF, 1, 2]},
        {"score": None, "rank": "pos"},
        "pos: 1 of 4 rows is infinite (row 1); drop them, or make them null",
    ),
    "boolean rank twice": (
        {"pos": [True, True, True, True]},
        {"score": None, "rank": "pos"},
        "pos: 2 of 4 rows repeat a rank of their query (rows 1, 3); "
        "a query has each rank once: name system= if several systems gave them, "
        "say query=['qid', the session's column] if a query was asked several times, "
        "name score= if equal places are meant",
    ),
    "rank twice": (
        {"pos": [1, 1, 1, 2]},
        {"rank": "pos"},
        "pos: 1 of 4 rows repeats a rank of its query (row 1); "
        "a query has each rank once: name system= if several systems gave them, "
        "say query=['qid', the session's column] if a query was asked several times, "
        "name score= if equal places are meant",
    ),
    "text for a rank": (
        {"pos": ["1", "2", "1", "2"]},
        {"score": None, "rank": "pos"},
        "pos: a rank is a number, and this column is String; convert it",
    ),
    "neither score nor grade": (
        {"bm25": [2.0, None, 3.0, None], "rating": [0, None, 1, None]},
        {},
        "bm25 and rating: 2 of 4 rows have neither a score nor a judgment (rows 1, 3); drop them, or say grade 0 "
        "where the query found nothing",
    ),
    "neither rank nor label": (
        {"pos": [1, None, 1, 2], "clicked": [0, None, 1, 1]},
        {"score": None, "rank": "pos", "grade": None, "label": "clicked"},
        "pos and clicked: 1 of 4 rows has neither a rank nor a judgment (row 1); drop them, or say label 0 where "
        "the query found nothing",
    ),
    "document twice": (
        {"sku": ["a", "a", "b", "b"]},
        {"doc": "sku"},
        "sku: 2 of 4 rows repeat a document of their query (rows 1, 3); drop them, or say duplicates='first' "
        "to keep the best place of each, or doc=None; rows of several systems need system=",
    ),
    "document twice in a system": (
        {"sku": ["a", "a", "b", "b"], "run": ["x", "x", "x", "y"], "rating": [1, 1, 0, 0]},
        {"doc": "sku", "system": "run"},
        "sku: 1 of 4 rows repeats a document of its query (row 1); drop them, or say duplicates='first' "
        "to keep the best place of each, or doc=None",
    ),
    "document twice with two grades": (
        {"sku": ["a", "a", "b", "c"]},
        {"doc": "sku", "duplicates": "first"},
        "sku: 2 of 4 rows repeat a document of their query with another judgment (rows 0, 1); keep one of each",
    ),
    "systems that differ in a grade": (
        {"sku": ["a", "a", "b", "c"], "run": ["x", "y", "x", "x"]},
        {"doc": "sku", "system": "run"},
        "rating: 1 pair has two judgments (query and document (1, a), rows 0, 1); keep one of each",
    ),
    "negative weight": (
        {"visits": [1, 1, -1, -1]},
        {"weight": "visits"},
        "visits: 2 of 4 rows are negative (rows 2, 3); 0 is the least",
    ),
    "missing weight": (
        {"visits": [1, 1, None, 2]},
        {"weight": "visits"},
        "visits: 1 of 4 rows is missing (row 2); give every row one",
    ),
    "two weights for one query": (
        {"visits": [1, 2, 1, 1]},
        {"weight": "visits"},
        "visits: 1 of 4 rows differs from another row of its query (row 1); give each query one value",
    ),
    "text for a weight": (
        {"visits": ["1", "1", "1", "1"]},
        {"weight": "visits"},
        "visits: a weight is a number, and this column is String; convert it",
    ),
    "infinite weight": (
        {"visits": [INF, INF, 1, 1]},
        {"weight": "visits"},
        "visits: 2 of 4 rows are infinite (rows 0, 1); give every row one",
    ),
    "two weights for one query in two systems": (
        {"qid": [1, 1, 2, 2], "run": ["x", "y", "x", "y"], "sku": list("abcd"), "visits": [1, 2, 1, 1]},
        {"weight": "visits", "system": "run", "doc": "sku"},
        "visits: 1 of 4 rows differs from another system in the value of its query (row 1); give each query one value",
    ),
    "negative n_relevant": (
        {"total": [1, 1, -1, -1]},
        {"n_relevant": "total"},
        "total: 2 of 4 rows are negative (rows 2, 3); 0 is the least",
    ),
    "n_relevant not whole": (
        {"total": [1, 1, 1.5, 1.5]},
        {"n_relevant": "total"},
        "total: 2 of 4 rows are not whole (rows 2, 3); rows and documents are counted",
    ),
    "missing n_relevant": (
        {"total": [1, 1, None, None]},
        {"n_relevant": "total"},
        "total: 2 of 4 rows are missing (rows 2, 3); give every row one",
    ),
    "two n_relevant for one query": (
        {"total": [3, 2, 1, 1]},
        {"n_relevant": "total"},
        "total: 1 of 4 rows differs from another row of its query (row 1); give each query one value",
    ),
    "n_relevant smaller than what is listed": (
        {"total": [0, 0, 1, 1]},
        {"n_relevant": "total"},
        "total: a query lists more relevant documents than it is said to have",
    ),
    "two collection sizes for one query": (
        {"docs": [9, 8, 9, 9]},
        {"collection_size": "docs"},
        "docs: 1 of 4 rows differs from another row of its query (row 1); give each query one value",
    ),
    "negative collection size": (
        {"docs": [-1, -1, 9, 9]},
        {"collection_size": "docs"},
        "docs: 2 of 4 rows are negative (rows 0, 1); 0 is the least",
    ),
    "collection smaller than a query": (
        {"docs": [1, 1, 9, 9]},
        {"collection_size": "docs"},
        "collection_size: 1 documents are fewer than the 2 that are known of a query, retrieved or judged",
    ),
}


@pytest.mark.parametrize("name", BAD_VALUES)
def test_bad_values(name: str, kind: str) -> None:
    """A bad value is an error that counts its rows, shows three and names the way out, in every kind of frame."""
    columns, named, message = BAD_VALUES[name]
    frame = as_kind(_log(columns), kind)
    metric = "recall" if "collection_size" not in named else "accuracy"
    assert error(lambda: IRM(frame, **{**ROLES, **named}).evaluate(metric, "rr"), BadValueError) == message
    assert error(lambda: IRM(frame, **{**ROLES, **named}).per_query(metric, "rr"), BadValueError) == message


# Bad values found by audit()

OF_ROWS = [name for name, (_, _, message) in BAD_VALUES.items() if re.search(r": \d+ of \d+ rows ", message)]


@pytest.mark.parametrize("name", OF_ROWS)
def test_what_evaluate_refuses_of_rows_is_a_finding(name: str, kind: str) -> None:
    """Bad values that are an error elsewhere are a finding of severity error here, in the same words."""
    columns, named, message = BAD_VALUES[name]
    irm = IRM(as_kind(_log(columns), kind), **{**ROLES, **named})
    (bad,) = as_polars(irm.audit()).filter(pl.col("severity") == "error").rows(named=True)
    assert bad["message"] == message
    count, total, first = re.match(r".*?: (\d+) of (\d+) rows .* \(rows? (\d+)", message).groups()  # type: ignore[union-attr]
    assert (bad["n"], bad["share"], bad["example"]) == (int(count), int(count) / int(total), f"row {first}")
    assert facts(IRM(_log(columns), **{**ROLES, **named}))["rows"] == (4 - bad["n"], 1 - bad["share"])


OF_QUERIES = ("weights", "counts of relevant documents", "collection sizes")


def test_what_bad_values_are_called() -> None:
    """The name of a finding says the part that the column plays, not what the column is called."""
    called = set()
    for name in OF_ROWS:
        columns, named, _ = BAD_VALUES[name]
        called |= set(odd(IRM(_log(columns), **{**ROLES, **named})).filter(severity="error")["check"])
    assert called == {
        *(f"rows that have no {part}" for part in ("query", "document")),
        *(f"rows that have neither a {place} nor a judgment" for place in ("score", "rank")),
        *(f"rows that repeat a {part} of their query" for part in ("document", "rank")),
        "rows that repeat a document of their query with another judgment",
        *(f"scores that are {what}" for what in ("infinite", "past 2**53")),
        *(f"ranks that are {what}" for what in ("infinite", "past 2**53", "below 1", "not whole")),
        "grades that are infinite",
        "labels that are neither 0 nor 1",
        *(f"{what} that differ from another row of their query" for what in OF_QUERIES),
        "weights that differ from another system in the value of their query",
        *(f"weights that are {what}" for what in ("infinite", "missing", "negative")),
        *(f"counts of relevant documents that are {what}" for what in ("missing", "negative", "not whole")),
        "collection sizes that are negative",
    }


@pytest.mark.parametrize(
    ("columns", "named", "message"),
    [
        (
            {"bm25": [NAN, 1.0, NAN, INF]},
            {},
            "bm25: 2 of 4 rows are NaN (rows 0, 2); drop them, or make them null if the document was not retrieved",
        ),
        ({"rating": [0.0, NAN, 1.0, 2.0]}, {}, "rating: 1 of 4 rows is NaN (row 1); drop them, or make them null"),
        (
            {"clicked": [0.0, NAN, 1.0, 1.0]},
            {"grade": None, "label": "clicked"},
            "clicked: 1 of 4 rows is NaN (row 1); drop them, or make them null",
        ),
        (
            {"pos": [1.0, NAN, 1.0, 2.0]},
            {"score": None, "rank": "pos"},
            "pos: 1 of 4 rows is NaN (row 1); drop them, or make them null",
        ),
        (
            {"visits": [1.0, NAN, 1.0, 2.0]},
            {"weight": "visits"},
            "visits: 1 of 4 rows is NaN (row 1); give every row one",
        ),
    ],
)
@pytest.mark.parametrize("kind", ["polars", "lazy", "pyarrow"])
def test_nan(kind: str, columns: dict[str, Any], named: dict[str, Any], message: str) -> None:
    """NaN is no number of anything."""
    frame = as_kind(_log(columns), kind)
    assert error(lambda: IRM(frame, **{**ROLES, **named}).evaluate("rr"), BadValueError) == message


@pytest.mark.parametrize(("value", "what"), [(NAN, "NaN"), (INF, "infinite")])
def test_a_score_that_is_null_is_not_counted_among_the_bad_ones(value: float, what: str) -> None:
    """A document that was not retrieved has no bad score."""
    frame = _log({"bm25": [None, value, 3.0, None]})
    message = error(lambda: frame.irm(**ROLES).evaluate("rr"), BadValueError)
    assert message.startswith(f"bm25: 1 of 4 rows is {what} (row 1); ")


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("value", [NAN, INF, -INF])
@pytest.mark.parametrize("ordered", [True, False])
def test_a_bad_score_is_found_wherever_it_stands(ordered: bool, value: float, place: int) -> None:
    """A score that is not finite is an error at any place of a ranking, whether or not it lies in rank order."""
    scores = [4.0, 3.0, 2.0, 1.0] if ordered else [1.0, 4.0, 2.0, 3.0]
    for query in ([1, 1, 1, 1], [1, 1, 2, 2], [1, 2, 1, 2], [1, 2, 3, 4]):
        frame = _log({"qid": query, "bm25": [*scores[:place], value, *scores[place + 1 :]]})
        what, remedy = ("NaN", "make them null") if value != value else ("infinite", "make them null if the document")
        message = f"bm25: 1 of 4 rows is {what} (row {place}); drop them, or {remedy}"
        assert error(lambda: frame.irm(**ROLES).evaluate("rr")).startswith(message)  # noqa: B023
        assert error(lambda: frame.irm(**ROLES).evaluate("precision")).startswith(message)  # noqa: B023
        found = frame.irm(**ROLES).audit().filter(severity="error")["message"].item()
        assert found.startswith(message)


def test_rows_are_those_of_the_callers_frame() -> None:
    """The rows that a message shows are rows of the frame, wherever the queries' rows lie."""
    frame = _log({"qid": [2, 1, 2, 1], "sku": ["a", "b", "c", "b"], "pos": [1, 2, 1, 1]})
    assert error(lambda: frame.irm(**ROLES, doc="sku").evaluate("rr")).startswith(
        "sku: 1 of 4 rows repeats a document of its query (row 3); "
    )
    assert error(lambda: frame.irm(**ROLES, rank="pos").evaluate("rr")).startswith(
        "pos: 1 of 4 rows repeats a rank of its query (row 2); "
    )


def test_three_rows_are_shown() -> None:
    """A message counts all bad rows and shows the first three."""
    frame = pl.DataFrame({"query": [1] * 120, "score": [INF] * 100 + [1.0] * 20, "grade": [1] * 120})
    assert error(lambda: frame.irm.evaluate("rr")) == (
        "score: 100 of 120 rows are infinite (rows 0, 1, 2); "
        "drop them, or make them null if the document was not retrieved"
    )


OF_ALL_BLOCKS: dict[str, tuple[dict[str, pl.Expr], dict[str, Any], str]] = {
    "ranks": ({"rank": pl.lit(1)}, {}, "rank: 7910 of 8000 rows repeat a rank of their query (rows 1, 2, 3)"),
    "scores": (
        {"score": pl.when(pl.int_range(pl.len()) > 0).then(INF).otherwise(1.0)},
        {},
        "score: 7999 of 8000 rows are infinite (rows 1, 2, 3)",
    ),
    "weights": (
        {"score": pl.int_range(pl.len()), "w": pl.int_range(pl.len())},
        {"weight": "w"},
        "w: 7910 of 8000 rows differ from another row of their query (rows 1, 2, 3)",
    ),
}


@pytest.mark.parametrize("verb", ["evaluate", "per_query", "bounds", "explain", "audit"])
@pytest.mark.parametrize("name", OF_ALL_BLOCKS)
def test_bad_rows_of_all_blocks_are_counted(name: str, verb: str) -> None:
    """An error counts the bad rows of the frame, not those of one block, and shows the first three."""
    columns, named, message = OF_ALL_BLOCKS[name]
    shrinking = pl.int_range(7999, -1, -1, eager=True).sqrt().floor().cast(pl.Int64)  # 89 down to 0
    frame = pl.DataFrame({"query": shrinking}).with_columns(grade=pl.int_range(pl.len()) % 2, **columns)
    irm = frame.irm(**named)
    calls: dict[str, Callable[[], Any]] = {
        "bounds": lambda: irm.bounds("precision@5", of="ties"),
        "explain": lambda: irm.explain("rr", query=7),
        "evaluate": lambda: irm.evaluate("rr"),
        "per_query": lambda: irm.per_query("rr"),
    }
    if name == "weights" and verb == "explain":  # whose values have no weight
        calls["explain"] = calls["evaluate"]
    with small_blocks(100):
        if verb == "audit":
            assert irm.audit().filter(severity="error")["message"][0].startswith(message)
        else:
            assert error(calls[verb], BadValueError).startswith(message)


def test_the_way_out_of_repeated_ranks() -> None:
    """A repeated rank offers the roles that are likely missing, and not those that are there."""
    runs = pl.DataFrame({"query": [1, 1], "rank": [1, 1], "label": [1, 0], "run": ["a", "b"]})
    said = error(lambda: runs.irm.evaluate("rr"))
    assert "name system= if" in said
    assert "say query=['query', the session's column] if" in said
    twice = pl.concat([runs, runs]).irm(system="run")
    assert "system=" not in error(lambda: twice.evaluate("rr"))
    assert "session" in error(lambda: twice.evaluate("rr"))


@pytest.mark.parametrize(
    ("place", "values", "rr", "n"),
    [
        ("score", [1.0, 3.0, 2.0, 4.0], 1 / 2, 3),
        ("score", [1.0, 3.0, 2.0, None], 1.0, 2),
        ("rank", [3, 1, 2, 4], 1.0, 3),
    ],
)
def test_first_duplicates(place: str, values: list[Any], rr: float, n: int, kind: str) -> None:
    """duplicates='first' keeps the best place of a document that stands twice."""
    log = pl.DataFrame({"query": [1] * 4, place: values, "sku": ["a", "a", "b", "c"], "rating": [1, 1, 0, 0]})
    first = IRM(as_kind(log, kind), doc="sku", grade="rating", duplicates="first")
    assert as_polars(first.per_query("rr", "num_ret", layout="wide")).rows() == [(1, rr, n)]


def test_first_duplicates_without_a_place() -> None:
    """Where nothing orders the results, duplicates='first' keeps the row that stands first."""
    log = pl.DataFrame({"qid": [1] * 4, "sku": [*"aabb"], "said": [1, 0, 0, 1], "clicked": [1, 1, 0, 0]})
    roles: Any = {"query": "qid", "doc": "sku", "predicted": "said", "label": "clicked", "duplicates": "first"}
    asked = ("tp", "fp", "fn")
    assert log.irm(**roles).per_query(*asked, layout="wide").rows() == [(1, 1, 0, 0)]
    assert log.reverse().irm(**roles).per_query(*asked, layout="wide").rows() == [(1, 0, 1, 1)]


# Names of metrics, their parameters and cutoffs

BAD_METRICS: dict[str, tuple[type[FrameMetricsError], str]] = {
    "ndgc@10": (UnknownNameError, "there is no metric 'ndgc'; did you mean 'ndcg'?"),
    "recal": (UnknownNameError, "there is no metric 'recal'; did you mean 'recall'?"),
    "gm_foo": (
        UnknownNameError,
        "there is no metric 'foo'; frame_metrics.list_metrics() lists them",
    ),
    "G": (
        UnknownNameError,
        "'G' means two things: g_measure (the mean of precision and recall), or g_trec (trec_eval's gain measure); "
        "write the one you mean",
    ),
    "LR": (
        UnknownNameError,
        "'LR' means two things: lr_positive (LR+), or lr_negative (LR-); write the one you mean",
    ),
    "CTR": (
        UnknownNameError,
        "'CTR' means two things: success (the share of searches with a click; so is ctr@10), or precision (clicks over "
        "results shown, of a query); write the one you mean",
    ),
    "": (UnknownNameError, "'' does not read as a metric: name(parameter=value)@cutoff"),
    "@5": (UnknownNameError, "'@5' does not read as a metric: name(parameter=value)@cutoff"),
    "ndcg@0": (BadValueError, "ndcg@0: the cutoff is not a whole number from 1"),
    "ndcg@-1": (BadValueError, "ndcg@-1: the cutoff is not a whole number from 1"),
    "ndcg@1.5": (BadValueError, "ndcg@1.5: the cutoff is not a whole number from 1"),
    "ndcg@nan": (BadValueError, "ndcg@nan: the cutoff is not a whole number from 1"),
    "ndcg@inf": (BadValueError, "ndcg@inf: the cutoff is not a whole number from 1"),
    "ndcg@ten": (BadValueError, "'ndcg@ten': the cutoff 'ten' is not a number"),
    "ndcg@10,": (BadValueError, "'ndcg@10,': the cutoff '' is not a number"),
    "ndcg@10@5": (BadValueError, "'ndcg@10@5': the cutoff '10@5' is not a number"),
    "ndcg@5,5": (BadValueError, "'ndcg@5' is asked for twice"),
    "precision(rel=1)@5@10": (BadValueError, "'precision(rel=1)@5@10': the cutoff '5@10' is not a number"),
    "ndcg@5(gain='exp')": (
        BadValueError,
        "\"ndcg@5(gain='exp')\": the cutoff comes last, as in ndcg(gain='exp')@10",
    ),
    "rbp(p=0.5)(p=0.9)": (
        BadValueError,
        "'rbp(p=0.5)(p=0.9)': the parameters do not read as (name=value, ...)",
    ),
    "rbp(p=0.5).x(p=0.9)": (
        BadValueError,
        "'rbp(p=0.5).x(p=0.9)': the parameters do not read as (name=value, ...)",
    ),
    "rbp(p=0.5,p=0.9)": (BadValueError, "'rbp(p=0.5,p=0.9)': p= is given twice"),
    "ndcg(gain='exp', gains='linear')": (
        BadValueError,
        "\"ndcg(gain='exp', gains='linear')\": gain= and gains= say the same; give one of them",
    ),
    "iprec(recall=0.1)@0.2": (BadValueError, "iprec@0.2: recall= and @ say the same; give one of them"),
    "gm_gm_map": (UnknownNameError, "'gm_gm_map': 'gm_map' is an average already"),
    "gm_gauc": (UnknownNameError, "'gm_gauc': 'gauc' is an average already"),
    "guac": (UnknownNameError, "there is no metric 'guac'; did you mean 'gauc'?"),
    "gauc@5": (BadValueError, "roc_auc takes no cutoff: roc_auc@5"),
    "rprec@5": (BadValueError, "rprec takes no cutoff: rprec@5"),
    "iprec@2": (BadValueError, "iprec@2: the recall level is not between 0 and 1"),
    "ndcg(gian='exp')": (
        UnknownNameError,
        "ndcg has no parameter 'gian'; it has 'gain', 'discount', 'base', 'rel', 'judged_only'; did you mean 'gain'?",
    ),
    "success(k=3)": (
        UnknownNameError,
        "success has no parameter 'k'; it has 'rel', 'judged_only'; write the cutoff as success@3",
    ),
    "ndcg(gain='expo')": (
        BadValueError,
        "ndcg: gain='expo' is not 'linear', 'exp', a mapping from grades to gains, or a function of one grade",
    ),
    "ndcg(gain={})": (
        BadValueError,
        "ndcg: gain={} is not 'linear', 'exp', a mapping from grades to gains, or a function of one grade",
    ),
    "ndcg(exp)": (BadValueError, "'ndcg(exp)': the parameters do not read as (name=value, ...)"),
    "ndcg(gain=exp)": (BadValueError, "'ndcg(gain=exp)': the parameters do not read as (name=value, ...)"),
    "rbp(p=2)": (BadValueError, "rbp: p=2 is not between 0 and 1"),
    "rbp(p='0.8')": (BadValueError, "rbp: p='0.8' is not between 0 and 1"),
    "fbeta(beta=-1)": (BadValueError, "fbeta: beta=-1 is not 0 or more"),
    "err(max_grade=0)": (BadValueError, "err: max_grade=0 is not above 0"),
    "precision(rel='a')": (BadValueError, "precision: rel='a' is not a grade"),
    "ndcg(judged_only=3)": (BadValueError, "ndcg: judged_only=3 is not True or False"),
    "set_F.x": (BadValueError, "'set_F.x': the cutoff 'x' is not a number"),
    "iprec": (NotComputableError, "iprec needs recall=, as in iprec(recall=0.5)"),
}


@pytest.mark.parametrize("verb", ["evaluate", "per_query"])
@pytest.mark.parametrize("name", BAD_METRICS)
def test_bad_metrics(name: str, verb: str) -> None:
    """A metric that does not exist, or has a parameter or cutoff it cannot have, is an error with the closest match."""
    cause, message = BAD_METRICS[name]
    assert error(lambda: getattr(_log({}).irm(**ROLES), verb)(name), cause) == message


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ((), "no metric was asked for; name one, as in evaluate('ndcg@10')"),
        ((5,), "a metric is a name or a frame_metrics.metrics value, not 5"),
        (([["rr"]],), "a metric is a name or a frame_metrics.metrics value, not ['rr']"),
        (([],), "no metric was asked for; name one, as in evaluate('ndcg@10')"),
        (("rr", "rr"), "'rr' is asked for twice"),
        (("ndcg@5,10", "ndcg@10"), "'ndcg@10' is asked for twice"),
        ((metrics.rr, "rr"), "'rr' is asked for twice"),
    ],
)
def test_bad_asking(asked: Any, message: str) -> None:
    """At least one metric is asked for, each once, as text or as a value."""
    assert error(lambda: _log({}).irm(**ROLES).evaluate(*asked), BadValueError) == message


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: metrics.ndcg @ 0, "ndcg@0: the cutoff is not a whole number from 1"),
        (lambda: metrics.ndcg @ 1.5, "ndcg@1.5: the cutoff is not a whole number from 1"),
        (lambda: metrics.ndcg @ True, "ndcg@True: the cutoff is not a whole number from 1"),
        (lambda: metrics.ndcg @ "10", "ndcg@'10': the cutoff is not a whole number from 1"),
        (lambda: metrics.ndcg @ NAN, "ndcg@nan: the cutoff is not a whole number from 1"),
        (lambda: metrics.rprec @ 5, "rprec takes no cutoff: rprec@5"),
        (lambda: metrics.iprec @ 1.5, "iprec@1.5: the recall level is not between 0 and 1"),
        (
            lambda: metrics.ndcg(gain={0: "none", 1: "some"}),
            "ndcg: gain={0: 'none', 1: 'some'} is not 'linear', 'exp', a mapping from grades to gains, "
            "or a function of one grade",
        ),
        (
            lambda: metrics.ndcg(gain={0: 0, 1: NAN}),
            "ndcg: gain={0: 0, 1: nan} is not 'linear', 'exp', a mapping from grades to gains, "
            "or a function of one grade",
        ),
        (
            lambda: metrics.ndcg(gain={0: 0, 1: INF}),
            "ndcg: gain={0: 0, 1: inf} is not 'linear', 'exp', a mapping from grades to gains, "
            "or a function of one grade",
        ),
    ],
)
def test_bad_metric_values(make: Callable[[], Metric], message: str) -> None:
    """A metric as a value refuses bad parameters and cutoffs when it is made."""
    with pytest.raises(BadValueError) as caught:
        make()
    assert str(caught.value) == message


# Roles and options

BAD_ROLES: list[tuple[dict[str, Any], type[FrameMetricsError], str]] = [
    ({"querry": "qid"}, UnknownNameError, "there is no role or option 'querry'; did you mean 'query'?"),
    ({"grades": "rating"}, UnknownNameError, "there is no role or option 'grades'; did you mean 'grade'?"),
    ({"query": 5.0}, BadValueError, "query=5.0 is not the name of a column, or a list of names"),
    ({"query": True}, BadValueError, "query=True is not the name of a column, or a list of names"),
    ({"query": []}, BadValueError, "query=[] is not the name of a column, or a list of names"),
    ({"by": ["a", 5.0]}, BadValueError, "by=['a', 5.0] is not the name of a column, or a list of names"),
    ({"score": []}, BadValueError, "score=[] is not the name of a column, or a list of names, each of a system"),
    (
        {"ties": "docs"},
        UnknownNameError,
        "ties='docs' is not one of 'doc', 'worst', 'best', 'order', 'expected'; did you mean 'doc'?",
    ),
    (
        {"undefined": "nul"},
        UnknownNameError,
        "undefined='nul' is not one of 'zero', 'one', 'null', 'raise'; did you mean 'null'?",
    ),
    ({"undefined": 0}, UnknownNameError, "undefined=0 is not one of 'zero', 'one', 'null', 'raise'"),
    ({"unjudged": "drpo"}, UnknownNameError, "unjudged='drpo' is not one of 'drop'; did you mean 'drop'?"),
    (
        {"duplicates": "fist"},
        UnknownNameError,
        "duplicates='fist' is not one of 'error', 'first'; did you mean 'first'?",
    ),
    ({"rel": "2"}, BadValueError, "rel='2' is not a grade; a word needs scale= too, with the grade of each"),
    ({"rel": True}, BadValueError, "rel=True is not a grade"),
    ({"rel": NAN}, BadValueError, "rel=nan is not a grade"),
    (
        {"score": pl.Series([1])},
        BadValueError,
        "score=<polars.Series> is not the name of a column, or a list of names, each of a system; make it a column of "
        "the frame, and give its name",
    ),
    (
        {"by": ["a", pd.Series([1])]},
        BadValueError,
        "by=['a', <pandas.Series>] is not the name of a column, or a list of names; "
        "make it a column of the frame, and give its name",
    ),
    ({"collection_size": -1}, BadValueError, "collection_size=-1 is not a number of documents, a column, or True"),
    ({"collection_size": 1.5}, BadValueError, "collection_size=1.5 is not a number of documents, a column, or True"),
    ({"collection_size": NAN}, BadValueError, "collection_size=nan is not a number of documents, a column, or True"),
    ({"collection_size": INF}, BadValueError, "collection_size=inf is not a number of documents, a column, or True"),
]


@pytest.mark.parametrize(("named", "cause", "message"), BAD_ROLES, ids=[said[:40] for _, _, said in BAD_ROLES])
def test_bad_roles(named: dict[str, Any], cause: type[FrameMetricsError], message: str) -> None:
    """A role or option that does not exist, or has a value it cannot have, is an error when it is named."""
    frame = _log({})
    log = frame.irm(**ROLES)
    for name in (lambda: IRM(frame, **named), lambda: frame.irm(**named), lambda: log(**named)):
        assert error(name, cause) == message


AVERAGES = "'macro', 'weighted', 'micro', 'gmean', 'median', 'min', 'max', 'rows', 'predicted', 'q0.9'"
BAD_OPTIONS: list[tuple[dict[str, Any], type[FrameMetricsError], str]] = [
    (
        {"average": "marco"},
        UnknownNameError,
        f"average='marco' is not one of {AVERAGES}; did you mean 'macro'?",
    ),
    (
        {"average": "weighted"},
        ColumnError,
        "average='weighted' needs the weights of the queries; name their column with weight=",
    ),
    (
        {"average": "predicted"},
        NotComputableError,
        "average='predicted' is over several classes, and the mean here is over queries",
    ),
    *(
        ({"average": said}, BadValueError, f"average={said!r} is no quantile from q0 to q1, as q0.9")
        for said in ("q90", "q1.5", "q", "q-1", "qnan", "q1e-3", "q 0.9", "quantile")
    ),
    *(
        ({"average": said}, UnknownNameError, f"average={said!r} is the name of no average; did you mean {level!r}?")
        for said, level in {"p95": "q0.95", "P50": "q0.5", "p99.9": "q0.999", "p5": "q0.05", "p0.95": "q0.95"}.items()
    ),
    (
        {"average": ["macro", "p101"]},
        UnknownNameError,
        "average='p101' is the name of no average; a quantile is from q0 to q1, as q0.9",
    ),
    (
        {"average": "mean"},
        UnknownNameError,
        "average='mean' is called 'macro', or 'weighted' where queries or classes have weights",
    ),
    ({"average": []}, BadValueError, "average=[] names no average; name one, or say average=None"),
    ({"average": ["macro", "macro"]}, BadValueError, "average='macro' is asked for twice"),
    ({"average": [None]}, UnknownNameError, f"average=None is not one of {AVERAGES}"),
    ({"average": [["macro"]]}, UnknownNameError, f"average=['macro'] is not one of {AVERAGES}"),
    ({"average": ["macro", "mid"]}, UnknownNameError, f"average='mid' is not one of {AVERAGES}; did you mean 'min'?"),
    ({"layout": "wid"}, UnknownNameError, "layout='wid' is not one of 'long', 'wide'; did you mean 'wide'?"),
    ({"ci": 0}, BadValueError, "ci=0 is not a level between 0 and 1, as 0.95"),
    ({"ci": 1}, BadValueError, "ci=1 is not a level between 0 and 1, as 0.95"),
    ({"ci": 95}, BadValueError, "ci=95 is not a level between 0 and 1, as 0.95"),
    ({"ci": NAN}, BadValueError, "ci=nan is not a level between 0 and 1, as 0.95"),
    ({"ci": True}, BadValueError, "ci=True is not a level between 0 and 1, as 0.95"),
    ({"ci": "0.95"}, BadValueError, "ci='0.95' is not a level between 0 and 1, as 0.95"),
    ({"resamples": 0}, BadValueError, "resamples=0 is not a whole number from 1"),
    ({"resamples": 1.5}, BadValueError, "resamples=1.5 is not a whole number from 1"),
    ({"seed": -1}, BadValueError, "seed=-1 is not a whole number from 0"),
    ({"seed": None}, BadValueError, "seed=None is not a whole number from 0"),
    ({"margins": True}, ColumnError, "margins=True adds the totals over segments; name the segments with by="),
]


@pytest.mark.parametrize(("options", "cause", "message"), BAD_OPTIONS, ids=lambda value: str(value)[:40])
def test_bad_options(options: dict[str, Any], cause: type[FrameMetricsError], message: str) -> None:
    """An option of a verb that has a value it cannot have is an error."""
    assert error(lambda: _log({}).irm(**ROLES).evaluate("rr", **options), cause) == message


# Columns


@pytest.mark.parametrize(
    ("columns", "named", "message"),
    [
        (
            {},
            {"query": "qdi"},
            "query='qdi': there is no such column among 'qid', 'bm25', 'rating'; did you mean 'qid'?",
        ),
        ({}, {"by": "device"}, "by='device': there is no such column among 'qid', 'bm25', 'rating'"),
        (
            {},
            {"collection_size": "docs"},
            "collection_size='docs': there is no such column among 'qid', 'bm25', 'rating'",
        ),
        (
            {},
            {"query": ...},
            "no column is named as the query with query=, and none of 'qid', 'bm25', 'rating' has that name; "
            "did you mean 'qid'?",
        ),
        (
            {"Query": [1, 1, 2, 2]},
            {"query": ...},
            "no column is named as the query with query=, and none of 'qid', 'bm25', 'rating', 'Query' has that name; "
            "did you mean 'Query'?",
        ),
        (
            {"Score": [1, 2, 1, 2]},
            {"score": ...},
            "no column is named with score= or rank=, and none of 'qid', 'bm25', 'rating', 'Score' has such a name; "
            "did you mean 'Score'?",
        ),
        (
            {},
            {"grade": ...},
            "no column is named with label= or grade=, and none of 'qid', 'bm25', 'rating' has such a name; "
            "did you mean 'rating'?",
        ),
        (
            {"score": [1, 2, 1, 2], "rank": [1, 2, 1, 2]},
            {"score": ...},
            "both 'score' and 'rank' are columns; name the one that is meant, or both",
        ),
        (
            {"label": [1, 0, 1, 0], "grade": [1, 2, 1, 2]},
            {"grade": ...},
            "both 'label' and 'grade' are columns; name the one that is meant, or both",
        ),
        (
            {},
            {"grade": None},
            "grade=None sets the grade aside, and it is needed; name its column among 'qid', 'bm25', 'rating'",
        ),
        ({}, {"ties": "doc"}, "ties='doc' orders equal scores by document; name the document column with doc="),
        ({}, {"by": "qid"}, "by='qid' is the query too; a column plays one part"),
        ({}, {"by": "bm25"}, "by='bm25' is the score too; a column plays one part"),
        ({}, {"by": ["rating"]}, "by='rating' is the grade too; a column plays one part"),
        ({"run": [1] * 4}, {"by": "run", "system": "run"}, "by='run' is the system too; a column plays one part"),
        ({}, {"system": "qid"}, "system='qid' is the query too; a column plays one part"),
        ({}, {"query": ["qid", "qid"]}, "query='qid' is named twice; a column plays one part"),
        ({}, {"score": "rating"}, "grade='rating' is the score too; a column plays one part"),
        ({}, {"doc": "bm25"}, "doc='bm25' is the score too; a column plays one part"),
        *(
            ({name: [1] * 4}, {"by": name}, f"{name!r} is a column of the result as well; rename the frame's column")
            for name in ("metric", "k", "value", "average", "n", "n_undefined", "ci_low", "ci_high", "total_over")
        ),
        ({"k": [1] * 4}, {"system": "k"}, "'k' is a column of the result as well; rename the frame's column"),
        (
            {"value": [1] * 4},
            {"query": "value"},
            "'value' is a column of the result as well; rename the frame's column",
        ),
    ],
)
def test_bad_columns(columns: dict[str, Any], named: dict[str, Any], message: str, kind: str) -> None:
    """A column that is missing, ambiguous, or plays two parts is an error that names the columns there are."""
    frame = as_kind(_log(columns), kind)
    roles: Any = {role: column for role, column in (ROLES | named).items() if column is not ...}
    assert error(lambda: IRM(frame, **roles).evaluate("rr"), ColumnError) == message


@pytest.mark.parametrize("levels", [["qid"], ["other", "qid"]])
@pytest.mark.parametrize("named", ["query", "by", "doc"])
def test_a_column_in_the_index(named: str, levels: list[str]) -> None:
    """A name that is a level of a pandas index is an error that says how to make it a column."""
    frame = _log({"other": [1, 2, 3, 4], "query": [1, 1, 2, 2]}).to_pandas().set_index(levels)
    assert error(lambda: frame.irm(**{**ROLES, "query": "query", named: "qid"}).evaluate("rr"), ColumnError) == (
        f"{named}='qid': there is no such column among {', '.join(map(repr, frame.columns))}; "
        "it is a level of the index: reset_index() makes it a column"
    )


def test_columns_of_several_levels() -> None:
    """A pandas frame whose columns have levels is refused by name."""
    frame = pd.concat([_log({}).to_pandas()], axis=1, keys=["top"])
    message = error(lambda: frame.irm(query="qid").evaluate("rr"), ColumnError)
    assert message.startswith("query='qid': there is no such column among ('top', 'qid'), ")


@pytest.mark.parametrize(
    ("column", "asked", "options"),
    [
        ("rr", ("rr",), {}),
        ("ndcg@5", ("rr", "ndcg@5"), {}),
        ("rr_low", ("rr",), {"ci": 0.9}),
        ("rr_high", ("rr",), {"ci": 0.9}),
        ("roc_auc_n", ("rr", "roc_auc"), {}),
    ],
)
def test_a_metric_called_as_a_key_column(column: str, asked: Any, options: dict[str, Any]) -> None:
    """In the wide layout a segment cannot be called as a column of a metric; in the long layout it can."""
    log = _log({column: [1, 1, 2, 2]}).irm(**ROLES, by=column)
    assert error(lambda: log.evaluate(*asked, layout="wide", **options), ColumnError) == (
        f"a column {column!r} for the metric would stand twice in the wide result; rename the frame's column"
    )
    assert log.evaluate(*asked, **options)[column].to_list() == [value for value in (1, 2) for _ in asked]
    if column in asked:
        assert error(lambda: log.per_query(*asked, layout="wide"), ColumnError) == (
            f"a column {column!r} for the metric would stand twice in the wide result; rename the frame's column"
        )


# What cannot be computed

NOT_COMPUTABLE: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("err", {}, {}, "err needs max_grade=, the highest grade of the scale; the largest grade in rating is 3"),
    ("ncg@5", {}, {}, "ncg@5 needs max_grade=, the highest grade of the scale; the largest grade in rating is 3"),
    ("err(max_grade=2)", {}, {}, "err(max_grade=2): max_grade=2, but the largest grade in rating is 3"),
    ("precision(rel=5)", {}, {}, "precision(rel=5): no grade in rating reaches rel=5; the largest is 3"),
    (
        "ndcg(rel=2)@5",
        {},
        {},
        "ndcg(rel=2)@5: rel= says what is relevant, and this metric reads gains; leave rel= out, or give gain= a "
        "mapping, as gain={1: 0, 2: 1, ...}",
    ),
    (
        "judged(rel=2)@5",
        {},
        {},
        "judged(rel=2)@5: rel= says what is relevant, and this metric reads nothing of that; leave rel= out",
    ),
    ("rr", {"rel": 9}, {}, "rr: no grade in rating reaches rel=9; the largest is 3"),
    (
        "specificity",
        {},
        {},
        "specificity counts true negatives, and so needs collection_size=: a number, a column, or True if the frame "
        "lists all",
    ),
    (
        "tn@2",
        {},
        {},
        "tn@2 counts true negatives, and so needs collection_size=: a number, a column, or True if the frame lists all",
    ),
    (
        "accuracy",
        {"collection_size": 1},
        {},
        "collection_size: 1 documents are fewer than the 2 that are known of a query, retrieved or judged",
    ),
    (
        "rr",
        {},
        {"average": "micro"},
        "rr has no micro average: only what the 2x2 table gives has, as precision or recall@10",
    ),
    ("brier", {}, {}, "bm25: 3 of 5 rows are not between 0 and 1 (rows 0, 2, 3); brier needs probabilities"),
    ("log_loss", {"score": "half"}, {}, "half: 1 of 5 rows has no score (row 1); log_loss needs one for every row"),
    ("rr", {"undefined": "raise"}, {}, "rr is undefined for 1 of 3 queries"),
    (
        "rr(rel=2)",
        {"grade": None, "label": "clicked"},
        {},
        "rr(rel=2): rel= is a grade, and clicked says already what is relevant",
    ),
    ("recall(rel=2)", {"n_relevant": "known"}, {}, "recall(rel=2): known counts what is relevant at rel=1 only"),
    (
        "ndcg@5",
        {"n_relevant": "known"},
        {},
        "ndcg@5 needs the grades of all relevant documents, and known only counts them; list them, or say "
        "n_relevant=None to take the ideal from the listed rows",
    ),
    (
        "ncg(gain={2: 5, 3: 9})@2",
        {},
        {},
        "ncg(gain={2: 5, 3: 9})@2 needs max_grade=, the highest grade of the scale; the largest grade in rating is 3",
    ),
    ("ndcg(gain={0: 0, 1: 1})", {}, {}, "gain: the mapping has no gain for the grades 3; add them"),
    (
        "ndcg(gain='exp')",
        {"grade": "wild"},
        {},
        "the gain of grade 2000 with gain='exp' overflows where gains are added; rescale it",
    ),
    (
        "infap",
        {"score": "flat", "ties": "best"},
        {},
        "infap is not bounded by ties='best', and rows with equal scores have different judgments; "
        "name doc= to order equal scores by document, or say ties='order' to take the frame's order",
    ),
    (
        "judged@1",
        {"score": "flat", "grade": "some"},
        {},
        "judged@1 is not bounded by ties='worst', and rows with equal scores have different judgments; "
        "name doc= to order equal scores by document, or say ties='order' to take the frame's order",
    ),
    (
        "judged@1",
        {"score": "flat", "grade": "some", "doc": "sku", "ties": "worst"},
        {},
        "judged@1 is not bounded by ties='worst', and rows with equal scores have different judgments; "
        "say ties='order' to take the frame's order",
    ),
]


@pytest.mark.parametrize(("asked", "named", "options", "message"), NOT_COMPUTABLE, ids=lambda value: str(value)[:30])
def test_not_computable(asked: str, named: Any, options: Any, message: str, kind: str) -> None:
    """What the data and conventions do not determine is an error that says what would."""
    frame = _log(
        {
            "qid": [1, 1, 2, 2, 3],
            "bm25": [2.0, 1.0, 3.0, 2.5, 1.0],
            "flat": [1.0] * 5,
            "half": [0.5, None, 0.5, 0.25, 0.5],
            "rating": [0, 3, 1, 0, 0],
            "some": [0, None, 1, 0, 0],
            "wild": [0, 2000, 1, 0, 0],
            "clicked": [0, 1, 1, 0, 0],
            "known": [2, 2, 3, 3, 0],
            "sku": list("abcde"),
        }
    )
    assert error(lambda: IRM(as_kind(frame, kind), **{**ROLES, **named}).evaluate(asked, **options)) == message


@pytest.mark.parametrize("asked", ["rr", "precision", "roc_auc"])
def test_values_of_queries_need_a_query(asked: str) -> None:
    """Where no column is the query per_query() has nothing to give a row to, whatever the metric could do without."""
    frame = _log({"clicked": [0, 1, 1, 0]})
    irm = frame.irm(score="bm25", label="clicked", predicted="rating" if asked == "precision" else None)
    said = "no column is named as the query with query=, and none of 'qid', 'bm25', 'rating', 'clicked' has that name"
    assert error(lambda: irm.per_query(asked), ColumnError).startswith(said)


@pytest.mark.parametrize("asked", ["infap", "bpref", "judged@2", "num_nonrel_judged_ret"])
def test_settled_ties_are_no_hindrance(asked: str) -> None:
    """A metric that ties='worst' does not bound is computed where no tie changes it."""
    log = _log({"bm25": [2.0, 1.0, 1.0, 1.0], "rating": [1, 0, 0, 0]}).irm(**ROLES)
    assert log.evaluate(asked)["n"].to_list() == [2]


# Judgments

QRELS = {"qid": [1, 2], "sku": ["a", "b"], "grade": [1, 0]}
LOG = {"sku": ["a", "b", "a", "b"]}

BAD_JUDGMENTS: list[tuple[dict[str, Any], dict[str, Any], type[FrameMetricsError], str]] = [
    (
        {"grade": None},
        {},
        ColumnError,
        "no column is named with label= or grade=, and none of 'qid', 'sku' has such a name",
    ),
    (
        {"label": [1, 0]},
        {},
        ColumnError,
        "both 'label' and 'grade' are columns; name the one that is meant, or both",
    ),
    ({"sku": None}, {}, ColumnError, "judge: name the doc column of the judgments with doc=; they have 'qid', 'grade'"),
    (
        {"qid": None},
        {},
        ColumnError,
        "judge: name the query column of the judgments with query=; they have 'sku', 'grade'",
    ),
    ({}, {"doc": "skuu"}, ColumnError, "judge: doc='skuu' is not among 'qid', 'sku', 'grade'; did you mean 'sku'?"),
    ({}, {"query": "qdi"}, ColumnError, "judge: query='qdi' is not among 'qid', 'sku', 'grade'; did you mean 'qid'?"),
    (
        {},
        {"grade": "grades"},
        ColumnError,
        "judge: grade='grades' is not among 'qid', 'sku', 'grade'; did you mean 'grade'?",
    ),
    ({}, {"label": "labels"}, ColumnError, "judge: label='labels' is not among 'qid', 'sku', 'grade'"),
    ({}, {"label": False}, ColumnError, "judge: label=False is not among 'qid', 'sku', 'grade'"),
    ({}, {"grade": 5}, ColumnError, "judge: grade='5' is not among 'qid', 'sku', 'grade'"),
    ({}, {"query": ["qid", "sku"]}, ColumnError, "judge: the query is 1 columns in the log and 2 in the judgments"),
    (
        {"qid": ["1", "2"]},
        {},
        BadValueError,
        "qid of the judgments is String, and qid of the log is Int64; give both one type",
    ),
    (
        {"qid": [1.0, 2.0]},
        {},
        BadValueError,
        "qid of the judgments is Float64, and qid of the log is Int64; give both one type",
    ),
    (
        {"sku": [1, 2]},
        {},
        BadValueError,
        "sku of the judgments is Int64, and sku of the log is String; give both one type",
    ),
    (
        {"sku": ["0a", "0b"]},
        {},
        BadValueError,
        "sku: no id of the log is among those of the judgments (the log has 'a', the judgments '0a'); "
        "do both write ids the same way?",
    ),
    (
        {"qid": [11, 12]},
        {},
        BadValueError,
        "qid: no id of the log is among those of the judgments (the log has 1, the judgments 11); "
        "do both write ids the same way?",
    ),
    ({"sku": [None, "a"]}, {}, BadValueError, "sku (of the judgments): 1 of 2 rows is missing (row 0); drop them"),
    ({"grade": ["1", "2"]}, {}, BadValueError, "grade: a grade is a number, and this column is String; convert it"),
    (
        {"grade": [INF, 2]},
        {},
        BadValueError,
        "grade (of the judgments): 1 of 2 rows is infinite (row 0); drop them, or make them null",
    ),
    (
        {"grade": [1, 2]},
        {"label": "grade"},
        BadValueError,
        "grade (of the judgments): 1 of 2 rows is neither 0 nor 1 (row 1); say label=None, grade='grade' if these are "
        "grades, or name the relevant one with positive=",
    ),
    (
        {"qid": [1, 2, 1, 2, 1], "sku": ["a", "b", "a", "b", "a"], "grade": [1, 0, 2, 0, 2]},
        {},
        BadValueError,
        "grade: 1 pair has two judgments (query and document (1, a), rows 0, 2, 4); keep one of each, or say "
        "judge(..., several=) if several people judged: 'mean', 'median', 'max' or 'majority'",
    ),
]


@pytest.mark.parametrize(("columns", "named", "cause", "message"), BAD_JUDGMENTS)
def test_bad_judgments(
    columns: dict[str, Any], named: dict[str, Any], cause: type[FrameMetricsError], message: str, kind: str
) -> None:
    """Judgments that cannot be read or joined are an error in the names of their columns."""
    held = {name: values for name, values in (QRELS | columns).items() if values is not None}
    qrels = as_kind(pl.DataFrame({name: pl.Series(values, strict=False) for name, values in held.items()}), kind)
    log = _log(LOG).drop("rating").irm(query="qid", score="bm25", doc="sku")
    assert error(lambda: log.judge(qrels, **named).evaluate("rr"), cause) == message


def test_a_judgment_without_a_query(kind: str) -> None:
    """A judgment is of a query: a null there is an error."""
    qrels = as_kind(pl.DataFrame({"query": ["q", None], "doc": ["a", "b"], "grade": [1, 1]}), kind)
    log = pl.DataFrame({"query": ["q"], "doc": ["a"], "score": [1.0]}).irm
    assert error(lambda: log.judge(qrels).evaluate("rr"), BadValueError) == (
        "query (of the judgments): 1 of 2 rows is missing (row 1); drop them"
    )


@pytest.mark.parametrize(
    ("log", "qrels"),
    [
        (pl.Series([1, 2], dtype=pl.Date), pl.Series([90_000_000_000, 172_800_000_000], dtype=pl.Datetime("us"))),
        (pl.Series([1, 2], dtype=pl.Date), pl.Series([1, 2], dtype=pl.Time)),
        (pl.Series([1, 2], dtype=pl.Duration("us")), pl.Series([1, 2], dtype=pl.Datetime("us"))),
        (pl.Series([True, False]), pl.Series([1, 0])),
        (pl.Series([b"1", b"2"]), pl.Series(["1", "2"])),
    ],
    ids=["day and moment", "day and time", "span and moment", "bool and int", "bytes and text"],
)
def test_ids_of_different_types(log: pl.Series, qrels: pl.Series) -> None:
    """Ids that mean different things are never joined, even if one can be cast to the other."""
    run = pl.DataFrame({"query": log, "doc": ["a", "a"], "score": [1.0, 1.0]})
    judged = pl.DataFrame({"query": qrels, "doc": ["a", "a"], "grade": [1, 1]})
    assert error(lambda: run.irm.judge(judged).evaluate("rr"), BadValueError) == (
        f"query of the judgments is {qrels.dtype}, and query of the log is {log.dtype}; give both one type"
    )


def test_judging_without_documents() -> None:
    """Judgments need a document column in the log."""
    log = _log(LOG).drop("rating").irm(query="qid", score="bm25")
    assert error(lambda: log.judge(pl.DataFrame(QRELS)), ColumnError) == (
        "no column is named as the doc with doc=, and none of 'qid', 'bm25', 'sku' has that name"
    )


def test_columns_of_judgments_are_looked_for_at_once() -> None:
    """What is wrong with the columns of judgments is said by judge itself."""
    log = _log(LOG).drop("rating").irm(query="qid", score="bm25", doc="sku")
    for columns, named, cause, message in BAD_JUDGMENTS:
        if cause is ColumnError:
            held = {name: values for name, values in (QRELS | columns).items() if values is not None}
            assert error(lambda: log.judge(pl.DataFrame(held), **named), cause) == message  # noqa: B023


def test_weights_of_judged_queries() -> None:
    """A judged query without results needs its weight from the judgments."""
    log = (
        _log({**LOG, "visits": [1, 1, 2, 2]}).drop("rating").irm(query="qid", score="bm25", doc="sku", weight="visits")
    )
    qrels = pl.DataFrame({"qid": [1, 2, 3], "sku": ["a", "b", "z"], "grade": [1, 1, 1]})
    assert error(lambda: log.judge(qrels).evaluate("rr"), BadValueError) == (
        "visits: 1 judged queries without results have no weight; give the judgments a column 'visits' too"
    )
    weighted = log.judge(qrels.with_columns(visits=pl.Series([1, 2, 5]))).evaluate("rr")
    assert weighted["value"].to_list() == [(1 * 1.0 + 2 * 0.5 + 5 * 0.0) / 8]


def test_levels_in_judgments() -> None:
    """A relevance level that no judgment reaches names the column of the judgments."""
    log = _log(LOG).drop("rating").irm(query="qid", score="bm25", doc="sku")
    qrels = pl.DataFrame({"qid": [1, 2], "sku": ["a", "b"], "relevance": [1, 2]})
    judged = log.judge(qrels, grade="relevance")
    assert error(lambda: judged.evaluate("rr(rel=3)")) == (
        "rr(rel=3): no grade in relevance reaches rel=3; the largest is 2"
    )
    assert error(lambda: judged.evaluate("err")) == (
        "err needs max_grade=, the highest grade of the scale; the largest grade in relevance is 2"
    )


@pytest.mark.parametrize(
    ("named", "largest"),
    [
        ({"label": "clicked", "grade": "rating"}, "; the largest grade in rating is 3"),
        ({"label": "clicked"}, ""),
    ],
)
def test_the_largest_grade_is_of_the_column_of_grades(named: dict[str, str], largest: str) -> None:
    """An error of the scale names the column of grades, also beside a label; labels alone have no grade to tell."""
    log = _log({"clicked": [0, 1, 1, 0]}).irm(query="qid", score="bm25", **named)
    assert error(lambda: log.evaluate("err")) == f"err needs max_grade=, the highest grade of the scale{largest}"
    if largest:
        message = error(lambda: log.evaluate("err(max_grade=2)"))
        assert message == "err(max_grade=2): max_grade=2, but the largest grade in rating is 3"


def test_a_label_for_all_and_a_grade() -> None:
    """label=True says that every row is relevant, and leaves no room for a grade."""
    log = _log(LOG).drop("rating").irm(query="qid", score="bm25", doc="sku")
    assert "label=True" in error(lambda: log.judge(pl.DataFrame(QRELS), label=True, grade="grade").evaluate("rr"))


# Before any work


def _read(frame: pl.DataFrame) -> pl.DataFrame:
    raise AssertionError("the frame was read")


def _plan(columns: dict[str, Any]) -> pl.LazyFrame:
    """A frame that cannot be collected."""
    frame = _log(columns)
    return frame.lazy().map_batches(_read, schema=frame.schema)


@pytest.mark.parametrize(
    ("asked", "named", "options"),
    [
        *((name, {}, {}) for name in BAD_METRICS),
        *(("rr", {}, options) for options, _, _ in BAD_OPTIONS),
        ("rr", {"query": "qdi"}, {}),
        ("rr", {"grade": None}, {}),
        ("rr", {"by": "bm25"}, {}),
        ("rr", {"ties": "doc"}, {}),
        ("rr", {"system": "rr"}, {"layout": "wide"}),
        ("rr", {}, {"average": "micro"}),
        ("specificity", {}, {}),
        ("tn@2", {}, {}),
        ("rr(rel=2)", {"grade": None, "label": "clicked"}, {}),
        ("recall(rel=2)", {"n_relevant": "known"}, {}),
    ],
    ids=lambda value: str(value)[:40],
)
def test_errors_come_before_the_frame_is_read(asked: str, named: Any, options: Any) -> None:
    """What can be known to be wrong without the rows is said when it is asked, before a plan is collected."""
    plan = _plan({"clicked": [0, 1, 1, 0], "known": [2, 2, 3, 3], "rr": [1, 1, 1, 1]})
    with pytest.raises(FrameMetricsError):
        IRM(plan, **{**ROLES, **named}).evaluate(asked, **options)


@pytest.mark.parametrize(
    ("columns", "named", "cause", "message"), [case for case in BAD_JUDGMENTS if case[2] is ColumnError]
)
def test_columns_of_judgments_come_before_they_are_read(columns: Any, named: Any, cause: Any, message: str) -> None:
    """Judgments are not read before a metric is computed."""
    held = {name: values for name, values in (QRELS | columns).items() if values is not None}
    qrels = pl.DataFrame(held)
    plan = qrels.lazy().map_batches(_read, schema=qrels.schema)
    log = _plan({**LOG}).drop("rating").irm(query="qid", score="bm25", doc="sku")
    with pytest.raises(cause) as caught:
        log.judge(plan, **named)
    assert str(caught.value) == message


def test_errors_of_eager_frames_come_before_conversion() -> None:
    """A misspelt metric is an error before a pandas frame's columns are converted."""

    class Unreadable:
        def __str__(self) -> str:
            raise AssertionError("the frame was read")

        __repr__ = __hash__ = __str__  # type: ignore[assignment]

    frame = pd.DataFrame({**COLUMNS, "qid": pd.Series([Unreadable() for _ in range(4)], dtype=object)})
    assert error(lambda: IRM(frame, **ROLES).evaluate("ndgc")) == "there is no metric 'ndgc'; did you mean 'ndcg'?"


# The classes


def test_one_class_catches_all() -> None:
    """Every error is a FrameMetricsError, and a ValueError."""
    assert issubclass(FrameMetricsError, ValueError)
    for cause in (BadValueError, ColumnError, NotComputableError, UnknownNameError):
        assert issubclass(cause, FrameMetricsError)


def test_an_irm_is_frozen() -> None:
    """The object that names the roles cannot be changed, only made anew."""
    log = _log({}).irm(**ROLES)
    with pytest.raises(AttributeError):
        log.roles = {}
    with pytest.raises(AttributeError):
        del log.frame
    assert log(score=None).roles == ROLES | {"score": None}
    assert log(by="bm25")(by=None).roles == ROLES
    assert log.roles == ROLES


@pytest.mark.parametrize("role", [role for role in COLUMN_ROLES if role not in ("score", "extra")])
def test_a_column_without_a_name_is_refused(role: str) -> None:
    """pandas writes its index under such a name; taken for nothing, it would play no part in silence."""
    frame = pl.DataFrame({"": ["u", "v"], "query": [1, 1], "score": [2.0, 1.0], "label": [1, 0]})
    assert error(lambda: frame.irm(**{role: ""}).evaluate("num_ret"), ColumnError).startswith(f"{role}='': a column")
    if role in ("query", "doc", "grade", "label"):
        given: Any = {role: ""}
        log = frame.with_columns(doc=pl.Series(["x", "y"]))
        assert error(lambda: log.irm.judge(log, **given), ColumnError).startswith(f"judge: {role}='': a column")


def test_weights_that_overflow_are_refused() -> None:
    """Their sum would be infinite, and the mean 0."""
    rows = pl.DataFrame({"query": [1, 2], "score": [1.0, 1.0], "label": [1, 0], "w": [1e308, 1e308]})
    for roles in ({}, {"query": None, "threshold": 0.5}):
        said = error(lambda roles=roles: rows.irm(weight="w", **roles).evaluate("precision"), BadValueError)
        assert said == "w: the weights add up to inf, which overflows in sums; rescale them"
    small = rows.with_columns(w=pl.col("w") / 1e10)
    assert small.irm(weight="w").evaluate("precision")["value"].item() == 0.5


def test_what_was_named_cannot_be_changed_from_outside() -> None:
    """Neither by the list that was given, nor by what `roles` returns."""
    by = ["seg"]
    irm = _log({"seg": [1, 1, 2, 2]}).irm(**ROLES, by=by)
    by.append("bm25")
    irm.roles["by"] = "bm25"
    assert irm.roles == ROLES | {"by": ["seg"]}


def test_a_query_in_the_index_is_no_column() -> None:
    """The error says so where it was not named too."""
    frame = _log({}).rename({"qid": "query"}).to_pandas().set_index("query")
    assert "it is a level of the index" in error(lambda: frame.irm(score="bm25", grade="rating").evaluate("rr"))


@pytest.mark.parametrize(
    ("role", "meant"),
    [("relevance", "grade"), ("docid", "doc"), ("prediction", "predicted"), ("qeury", "query"), ("Position", "rank")]
    + [("clicked", "label"), ("groupby", "by"), ("group_by", "by")],
)
def test_an_unknown_role_gets_the_one_that_was_meant(role: str, meant: str) -> None:
    """By what it is called elsewhere, or by its spelling."""
    assert (
        error(lambda: _log({}).irm(**{role: "qid"})) == f"there is no role or option {role!r}; did you mean {meant!r}?"
    )


def test_an_unknown_role_that_is_near_to_none_gets_the_list() -> None:
    """And no guess."""
    assert "'colour'; there are 'query', 'score'" in error(lambda: _log({}).irm(colour="qid"))  # type: ignore[call-arg]


HUGE = 10**400
LOG_OF_TWO = pl.DataFrame({"query": [1, 1], "score": [2.0, 1.0], "grade": [1, 0]})


@pytest.mark.parametrize(
    "call",
    [
        lambda: metrics.ndcg @ HUGE,
        lambda: LOG_OF_TWO.irm.evaluate(f"ndcg@{HUGE}"),
        lambda: LOG_OF_TWO.irm(rel=HUGE),
        lambda: LOG_OF_TWO.irm(rel=10**5000),
        lambda: LOG_OF_TWO.irm(threshold=-HUGE),
        lambda: LOG_OF_TWO.irm.evaluate(f"rr(rel={HUGE})"),
        lambda: LOG_OF_TWO.irm.evaluate("rr", ci=HUGE),
        lambda: LOG_OF_TWO.irm.curve("ndcg@k", cutoffs=[HUGE]),
        lambda: LOG_OF_TWO.irm.curve("ndcg@k", cutoffs=HUGE),
        lambda: LOG_OF_TWO.irm(query=None).curve("pr", levels=HUGE),
        lambda: LOG_OF_TWO.irm(query=None).curve("pr", levels=[HUGE]),
        lambda: LOG_OF_TWO.irm(query=None).best_threshold("f1", subject_to={"recall": HUGE}),
        lambda: LOG_OF_TWO.irm(collection_size=HUGE).evaluate("accuracy@2"),
        lambda: LOG_OF_TWO.irm.bounds("ndcg", of="unjudged", max_grade=HUGE),
    ],
)
def test_numbers_that_no_float_reaches(call: Callable[[], Any]) -> None:
    """An integer past every float is no grade, score, cutoff or share, and is not written out."""
    assert len(error(call, BadValueError)) < 400


@pytest.mark.parametrize("grades", [pl.UInt8, pl.Int8, pl.UInt64, pl.Int64, pl.Float32])
@pytest.mark.parametrize("rel", [-1, -1.5, 0])
def test_any_rel_is_compared_with_grades_of_any_type(grades: Any, rel: float) -> None:
    """A least grade below what a type of integers holds makes every row relevant."""
    rows = LOG_OF_TWO.with_columns(pl.col("grade").cast(grades))
    assert rows.irm(query=None, rel=rel, threshold=0).evaluate("recall", "tp")["value"].to_list() == [1, 2]
    assert rows.irm(rel=rel).evaluate("num_rel")["value"].to_list() == [2]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: metrics.ndcg("exp"), "ndcg('exp'): name the parameter, as ndcg(gain='exp')"),
        (lambda: metrics.rbp(0.8), "rbp(0.8): name the parameter, as rbp(p=0.8)"),
        (lambda: metrics.num_ret(3), "num_ret(3): it has no parameters"),
        (
            lambda: LOG_OF_TWO.irm("query", "score"),
            "irm('query', 'score'): say which part each column plays, as irm(query='query')",
        ),
        (
            lambda: IRM(LOG_OF_TWO, "query"),  # type: ignore[call-overload]
            "irm('query'): say which part each column plays, as irm(query='query')",
        ),
        (
            lambda: LOG_OF_TWO.irm.evaluate("rr", by="device"),
            "evaluate() takes no roles; say irm(by='device').evaluate(...)",
        ),
        (
            lambda: LOG_OF_TWO.irm.explain("rr", query=1, rel=2),
            "explain() takes no roles; say irm(rel=2).explain(...)",
        ),
        (
            lambda: LOG_OF_TWO.irm.evaluate("rr", avrage="macro"),
            "evaluate() has no option 'avrage'; did you mean 'average'?",
        ),
        (
            lambda: LOG_OF_TWO.irm.compare("rr", margins=True),  # type: ignore[call-arg]
            "compare() has no option 'margins'; leave out by= to take all segments together",
        ),
        (
            lambda: LOG_OF_TWO.irm.compare("rr", average="q0.95"),  # type: ignore[call-arg]
            "compare() has no option 'average'; other averages are those of evaluate(), side by side with by=",
        ),
        (
            lambda: LOG_OF_TWO.irm.evaluate("rr", groupby="device"),  # type: ignore[call-arg]
            "evaluate() has no option 'groupby'; say irm(by='device').evaluate(...)",
        ),
        (
            lambda: LOG_OF_TWO.irm.per_query("rr", position="shown"),  # type: ignore[call-arg]
            "per_query() has no option 'position'; say irm(rank='shown').per_query(...)",
        ),
        (
            lambda: LOG_OF_TWO.irm.evaluate("rr", wide=True),  # type: ignore[call-arg]
            "evaluate() has no option 'wide'; did you mean layout='wide'?",
        ),
        (
            lambda: LOG_OF_TWO.irm(wide=True),  # type: ignore[call-arg]
            "there is no role or option 'wide'; did you mean layout='wide' of evaluate()?",
        ),
        (
            lambda: LOG_OF_TWO.irm.compare("rr", cuped="before"),  # type: ignore[call-arg]
            "compare() has no option 'cuped'; did you mean covariate=?",
        ),
        (
            lambda: LOG_OF_TWO.irm.evaluate("rr", cuped="before"),  # type: ignore[call-arg]
            "evaluate() has no option 'cuped'; did you mean covariate= of compare()?",
        ),
        (
            lambda: LOG_OF_TWO.irm.judge(LOG_OF_TWO, relevance="rel"),  # type: ignore[call-arg]
            "judge() has no option 'relevance'; did you mean 'grade'?",
        ),
        (
            lambda: LOG_OF_TWO.irm.evaluate(metrics=["rr"]),
            "evaluate(): give metrics without a name, one by one or in a list, as evaluate('f1')",
        ),
        (
            lambda: LOG_OF_TWO.irm.judge(LOG_OF_TWO, scale={"a": 1, "b": 0}),
            "judge() takes no roles; say irm(scale={'a': 1, 'b': 0}).judge(...), which reads the judgments too",
        ),
        (lambda: LOG_OF_TWO.irm.explain("rr"), "explain(): missing a required argument: 'query'"),
        (
            lambda: LOG_OF_TWO.irm.judge(LOG_OF_TWO, doc=pl.Series([1])),  # type: ignore[arg-type]
            "judge: doc=<polars.Series> is not the name of a column; make it a column of the frame, and give its name",
        ),
    ],
)
def test_what_a_call_does_not_take(call: Callable[[], Any], message: str) -> None:
    """A column, role or parameter in the wrong place is an error that says where it belongs."""
    assert error(call) == message


@pytest.mark.parametrize("role", ["label", "grade"])
@pytest.mark.parametrize("place", ["rank", "score"])
def test_a_search_that_found_nothing_counts(place: str, role: str) -> None:
    """Its row has no place and no judgment, an error that offers 0 for it; so it is a query with 0, in every mean."""
    columns: dict[str, Any] = {place: [1, 2, None, 1], role: [0, 1, None, 1], "arm": ["a", "a", "a", "b"]}
    frame = pl.DataFrame({"query": [1, 1, 2, 3], "doc": ["x", "y", "none", "x"], **columns})
    roles: dict[str, Any] = {place: place, role: role, "system": "arm"}
    said = error(lambda: frame.irm(**roles).compare("rr", paired=False, test="z"))
    assert said.endswith(f"(row 2); drop them, or say {role} 0 where the query found nothing")
    assert frame.irm(**roles).audit().filter(severity="error")["message"][0] == said
    irm = frame.with_columns(pl.col(role).fill_null(0)).irm(**roles)
    found = irm.compare("success@5", baseline="b", paired=False, test="z")
    assert found.select("value", "n").row(0) == (0.5, 2)
    assert irm(system=None).evaluate("success@5")["value"][0] == pytest.approx(2 / 3)


RUNS = pl.DataFrame({"query": [1, 1], "doc": ["x", "x"], "run": ["a", "b"], "score": [2.0, 1.0], "grade": [1, 1]})
BESIDE = pl.DataFrame({"query": [1, 1], "doc": ["x", "y"], "a": [2.0, 1.0], "b": [1.0, 2.0], "grade": [1, 0]})
ONE_SYSTEM: dict[str, tuple[Callable[[], Any], str]] = {
    "a value": (
        lambda: RUNS.irm(system="run").explain("rr", query=1, system="a"),
        "explain() takes no system, and 'a' is no column of the frame but a value; keep the rows in which run is 'a' "
        "of the result",
    ),
    "a number": (
        lambda: RUNS.irm(system="run").per_query("rr", system=3),
        "per_query() takes no system, and 3 is no column of the frame but a value; keep the rows in which run is 3 "
        "of the result",
    ),
    "of what has no row per system": (
        lambda: RUNS.irm(system="run").audit(system="a"),
        "audit() takes no system, and 'a' is no column of the frame but a value; keep the rows in which run is 'a' "
        "of the frame before .irm",
    ),
    "of no system": (
        lambda: RUNS.lazy().irm.explain("rr", query=1, system="a"),
        "explain() takes no system, and 'a' is no column of the frame but a value; keep its rows of the frame before "
        ".irm",
    ),
    "a column of scores": (
        lambda: BESIDE.irm(score=["a", "b"]).explain("rr", query=1, system="b"),
        "explain() takes no system; for 'b' alone say irm(score='b').explain(...)",
    ),
    "a column": (
        lambda: RUNS.irm.explain("rr", query=1, system="run"),
        "explain() takes no roles; say irm(system='run').explain(...)",
    ),
    "an expression": (
        lambda: RUNS.irm(system="run").explain("rr", query=1, system=pl.col("run")),
        "explain() takes no roles; say irm(system=<polars.Expr>).explain(...)",
    ),
}


@pytest.mark.parametrize("case", ONE_SYSTEM)
def test_one_system_is_asked_of_a_verb(case: str) -> None:
    """Its name is a value of a column, or a column of scores, and the error says how to have its rows."""
    call, says = ONE_SYSTEM[case]
    assert error(call, ColumnError) == says


def test_the_ways_to_one_system_give_the_same() -> None:
    """The rows kept of the result, and the column of scores alone."""
    kept = BESIDE.irm(score=["a", "b"]).explain("rr", query=1).filter(system="b").drop("system")
    assert kept.equals(BESIDE.irm(score="b").explain("rr", query=1))
    assert RUNS.irm(system="run").explain("rr", query=1).filter(run="a")["contribution"].to_list() == [1.0]


def test_blocks_where_no_thread_can_be_started() -> None:
    """A pool that takes no more work, as at exit, leaves the work to the caller's thread."""
    log = pl.DataFrame(
        {"query": [i // 4 for i in range(40)], "score": [1.0, 2.0, 3.0, 4.0] * 10, "label": [0, 0, 1, 0] * 10}
    )
    with small_blocks(4), threads(2) as pool:
        pool.shutdown()
        assert log.irm.evaluate("rr")["value"].to_list() == [0.5]


@pytest.mark.parametrize("unjudged", [None, "drop"])
@pytest.mark.parametrize("grade", [0, 1])
@pytest.mark.parametrize("size", [True, 2, "docs"])
def test_a_collection_has_all_documents_that_are_known(size: Any, grade: int, unjudged: Any) -> None:
    """A judged document that was not retrieved counts, relevant or not, also of a query without rows."""
    log = pl.DataFrame({"query": ["q"] * 2, "score": [3, 2], "doc": ["x", "y"], "docs": [2, 2]})
    irm = log.irm(query="query", doc="doc", collection_size=size, unjudged=unjudged)
    judgments = pl.DataFrame({"query": ["q"] * 2, "doc": ["x", "z"], "grade": [1, grade]})
    said = "collection_size: 2 documents are fewer than the 3 that are known of a query, retrieved or judged"
    for verb in ("evaluate", "per_query"):
        assert error(lambda verb=verb: getattr(irm.judge(judgments), verb)("specificity"), BadValueError) == said
    assert error(lambda: irm.judge(judgments).evaluate("specificity", average="micro"), BadValueError) == said
    if size is True and grade:
        bare = pl.DataFrame({"query": ["q", "q", "r"], "doc": ["x", "y", "z"], "grade": [1, 0, grade]})
        assert error(lambda: irm.judge(bare).evaluate("tn"), BadValueError).startswith("collection_size: 0 documents")


def test_numbers_past_what_floats_tell_apart() -> None:
    """A threshold and a level past 2**53 are refused as scores past it are; infinity is a threshold."""
    frame = pl.DataFrame({"label": [1, 0], "score": [2**53, 1]})
    for name in ("threshold", "rel"):
        said = error(lambda name=name: frame.irm(**{name: 2**53 + 1}).evaluate("tp"), BadValueError)
        assert said.startswith(f"{name}={2**53 + 1} is past 2**53, where float64 cannot tell integers apart")
    assert frame.irm(threshold=float("inf")).evaluate("tp")["value"].item() == 0


def test_booleans_are_no_numbers() -> None:
    """A column of True and False is no threshold and no collection size, as True by itself is no threshold."""
    frame = pl.DataFrame({"query": [1, 1], "label": [1, 0], "score": [2, 1], "flag": [True, False]})
    said = "flag: a {} is a number, and this column is Boolean; convert it"
    pooled, ranked = frame.irm(query=None, threshold="flag"), frame.irm(query="query", collection_size="flag")
    assert error(lambda: pooled.evaluate("tp"), BadValueError) == said.format("threshold")
    assert error(lambda: ranked.evaluate("tn"), BadValueError) == said.format("collection size")


def test_a_verb_may_do_without_judgments() -> None:
    """Its needs say so; all others ask for a label or a grade."""
    irm = IRM(_log({}).drop("rating"), query="qid", score="bm25")
    assert reads(irm, query=True, judgment=False) == ["qid", "bm25"]
    assert "no column is named with label= or grade=" in error(lambda: reads(irm, query=True), ColumnError)


def test_names_of_columns_are_made_texts_once() -> None:
    """Of columns that pandas calls by integers too; what a role holds beside names stays as it is."""
    frame = pd.DataFrame({0: [1, 1], 1: [2.0, 1.0], 2: [0, 1]})
    irm = IRM(frame, query=[0], score=1, label=2, collection_size=10, positive=1)
    assert irm.roles == {"query": ["0"], "score": "1", "label": "2", "collection_size": 10, "positive": 1}
    assert IRM(frame, **irm.roles).evaluate("rr")["value"].tolist() == [0.5]
