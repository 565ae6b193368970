"""What goes wrong, word for word: what was given, what was expected, the way out, in the caller's own names."""

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import partial
from typing import Any

import pandas as pd
import polars as pl
import pytest

from frame_metrics import (
    IRM,
    BadRowsError,
    BadValueError,
    ColumnError,
    FrameMetricsError,
    NotComputableError,
    UnknownNameError,
    metrics,
    write_run,
)
from frame_metrics.errors import type_name as told
from helpers import as_kind, as_polars, error, odd
from inside import COLUMNS as COLUMN_ROLES
from inside import reads, small_blocks, threads
from refusals import check, refusals_of, run

NAN, INF = float("nan"), float("inf")
COLUMNS: dict[str, Any] = {"qid": [1, 1, 2, 2], "bm25": [2.0, 1.0, 3.0, 2.5], "rating": [0, 3, 1, 0]}
ROLES: dict[str, Any] = {"query": "qid", "score": "bm25", "grade": "rating"}


def _log(columns: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame({name: pl.Series(values, strict=False) for name, values in (COLUMNS | columns).items()})


def _read(frame: pl.DataFrame) -> pl.DataFrame:
    raise AssertionError("the frame was read")


def _plan(columns: dict[str, Any]) -> pl.LazyFrame:
    """A frame that cannot be collected."""
    frame = _log(columns)
    return frame.lazy().map_batches(_read, schema=frame.schema)


def log(columns: dict[str, Any] | None = None, /, kind: str = "polars", **named: Any) -> IRM[Any]:
    """Return a log in a kind of frame; one that is unread is a plan that cannot be run; a role of ... is not named."""
    frame = _plan(columns or {}) if kind == "unread" else as_kind(_log(columns or {}), kind)
    return IRM(frame, **{role: column for role, column in (ROLES | named).items() if column is not ...})


def made_of(kind: str) -> dict[str, Any]:
    """Return the names of a table, its logs being of a kind."""
    return globals() | {"log": partial(log, kind=kind)}


# Values

BAD_VALUES = r"""
log({"qid": [None, 1, 2, None]}).evaluate("recall", "rr")
    BadRowsError: qid: 2 of 4 rows have no query (rows 0, 3); drop them, or give them one
log({"part": ["a", None, "b", "c"]}, query=["qid", "part"]).evaluate("recall", "rr")
    BadRowsError: part: 1 of 4 rows has no query (row 1); drop them, or give them one
log({"sku": ["a", None, "b", "c"]}, doc="sku").evaluate("recall", "rr")
    BadRowsError: sku: 1 of 4 rows has no document (row 1); pass doc=None where a search showed nothing; else drop them,
        or give them one
    but: log({"sku": ["a", None, "b", "c"], "bm25": [2.0, None, 3.0, 2.5]}, doc=None).evaluate("recall", "rr")
    but: log({"sku": [*"abca"]}, doc="sku").evaluate("recall", "rr")
log({"bm25": [2.0, INF, -INF, 2.0]}).evaluate("recall", "rr")
    BadRowsError: bm25: 2 of 4 rows are infinite (rows 1, 2); drop them, or give them finite values: inf one above all
        others, -inf one below
log({"bm25": [2 ** 60, 1, 2, 3]}).evaluate("recall", "rr")
    BadRowsError: bm25: 1 of 4 rows is past 2**53, where float64 cannot tell integers apart (row 0); rescale them
    but: log({"bm25": [2**53, 1, None, 3]}).evaluate("recall", "rr")
log({"bm25": ["2", "1", "3", "2.5"]}).evaluate("recall", "rr")
    BadValueError: bm25: a score is a number, and this column is text; convert it
log({"bm25": ["2", "?", "n/a", "n/a"]}).evaluate("recall", "rr")
    BadRowsError: bm25: 3 of 4 rows are not numeric (rows 1, 2, 3); 'n/a' (2 times), '?' (once): mend them or make them
        null, and convert the column
log({"bm25": ["2", "x", "2,5", None]}).evaluate("recall", "rr")
    BadRowsError: bm25: 1 of 4 rows is not numeric (row 1); 'x' (once): mend them or make them null, and convert the
        column, with points in the place of commas
log({"bm25": ["a", "b", "c", "b"]}).evaluate("recall", "rr")
    BadValueError: bm25: a score is a number, and this column is text, as 'a'; convert it
    but: log({"bm25": [2.0, None, 2.5, None]}).evaluate("recall", "rr")
log({"rating": [INF, 1.0, 2.0, 0.0]}).evaluate("recall", "rr")
    BadRowsError: rating: 1 of 4 rows is infinite (row 0); drop them, or give them finite values: inf one above all
        others, -inf one below
log({"rating": ["0", "3", "1", "0"]}).evaluate("recall", "rr")
    BadValueError: rating: a grade is a number, and this column is text; convert it
    but: log({"rating": [0.5, None, 2.0, -1.0]}, rel=1).evaluate("rr")
log(grade=None, label="rating").evaluate("recall", "rr")
    BadRowsError: rating: 1 of 4 rows is neither 0 nor 1 (row 1); pass label=None, grade='rating' if these are grades,
        or name the relevant one with positive=
log({"clicked": [0, 0.5, -1, 2]}, grade=None, label="clicked").evaluate("recall", "rr")
    BadRowsError: clicked: 3 of 4 rows are neither 0 nor 1 (rows 1, 2, 3); pass label=None, grade='clicked' if these are
        grades, or name the relevant one with positive=
log({"clicked": ["yes", "no", "yes", "no"]}, grade=None, label="clicked").evaluate("recall", "rr")
    BadValueError: clicked: a label is 0 or 1, and this column is text; name the one with positive=
    but: log({"clicked": [0, True, None, 1.0]}, grade=None, label="clicked").evaluate("recall", "rr")
log({"pos": [0, 1, 0, 1]}, score=None, rank="pos").evaluate("recall", "rr")
    BadRowsError: pos: 2 of 4 rows are below 1 (rows 0, 2); ranks count from 1: add 1 if these count from 0
log({"pos": [True, None, True, False]}, score=None, rank="pos").evaluate("recall", "rr")
    BadRowsError: pos: 1 of 4 rows is below 1 (row 3); ranks count from 1: add 1 if these count from 0
log({"pos": [1, 1.5, 1, 2]}, score=None, rank="pos").evaluate("recall", "rr")
    BadRowsError: pos: 1 of 4 rows is not whole (row 1); a rank is a position: 1, 2, 3 ...
log({"pos": pl.Series([1, 1.5, 1, 2], dtype=pl.Float16)}, score=None, rank="pos").evaluate("recall", "rr")
    BadRowsError: pos: 1 of 4 rows is not whole (row 1); a rank is a position: 1, 2, 3 ...
log({"pos": [1.0, 2.0 ** 60, 1e+300, 2.0]}, score=None, rank="pos").evaluate("recall", "rr")
    BadRowsError: pos: 2 of 4 rows are past 2**53 (rows 1, 2); a rank is a position: 1, 2, 3 ...
log({"pos": [1, INF, 1, 2]}, score=None, rank="pos").evaluate("recall", "rr")
    BadRowsError: pos: 1 of 4 rows is infinite (row 1); drop them, or make them null
    but: log({"pos": [1, 2.0**53, 1, 2]}, score=None, rank="pos").evaluate("recall", "rr")
log({"pos": [True, True, True, True]}, score=None, rank="pos").evaluate("recall", "rr")
    BadRowsError: pos: 2 of 4 rows repeat a rank of their query (rows 1, 3); a query has each rank once: name system= if
        several systems gave them, pass query=['qid', the session's column] if a query was asked several times, pass
        score= with the negative of pos if equal places are meant
log({"pos": [1, 1, 1, 2]}, rank="pos").evaluate("recall", "rr")
    BadRowsError: pos: 1 of 4 rows repeats a rank of its query (row 1); a query has each rank once: name system= if
        several systems gave them, pass query=['qid', the session's column] if a query was asked several times, pass
        score= with the negative of pos if equal places are meant
log({"pos": ["1", "2", "1", "2"]}, score=None, rank="pos").evaluate("recall", "rr")
    BadValueError: pos: a rank is a number, and this column is text; convert it
    but: log({"pos": [True, None, True, None]}, score=None, rank="pos").evaluate("recall", "rr")
    but: log({"pos": [1, 3, 1, 2]}, rank="pos").evaluate("recall", "rr")
log({"bm25": [2.0, None, 3.0, None], "rating": [0, None, 1, None]}).evaluate("recall", "rr")
    BadRowsError: bm25 and rating: 2 of 4 rows have neither a score nor a judgment (rows 1, 3); drop them, or write
        grade 0 where the query found nothing
log({"pos": [1, None, 1, 2], "clicked": [0, None, 1, 1]}, score=None, rank="pos", grade=None,
        label="clicked").evaluate("recall", "rr")
    BadRowsError: pos and clicked: 1 of 4 rows has neither a rank nor a judgment (row 1); drop them, or write label 0
        where the query found nothing
    but: log({"bm25": [2.0, None, 3.0, None], "rating": [0, 1, None, 0]}).evaluate("recall", "rr")
log({"sku": ["a", "a", "b", "b"]}, doc="sku").evaluate("recall", "rr")
    BadRowsError: sku: 2 of 4 rows repeat a document of their query (rows 1, 3); rows of several systems need system=;
        pass query=['qid', the session's column] if a query was asked several times; else keep one row of each, or pass
        doc=None; their judgments differ, so duplicates='first' takes none
log({"sku": ["a", "a", "b", "b"], "Run": [*"xyxy"], "rating": [1, 1, 0, 0]}, doc="sku").evaluate("recall", "rr")
    BadRowsError: sku: 2 of 4 rows repeat a document of their query (rows 1, 3); pass system='Run' for rows of several
        systems; pass query=['qid', the session's column] if a query was asked several times; else drop them, or pass
        duplicates='first' to keep the best place of each, or doc=None
    but: log({"sku": ["a", "a", "b", "b"], "Run": [*"xyxy"], "rating": [1, 1, 0, 0]}, doc="sku",
        system="Run").evaluate("recall", "rr")
log({"sku": ["a", "b", "b", "a"], "pos": [1, 2, 1, 2], "qid": [1, 1, 1, 1]}, doc="sku", rank="pos",
        score=None).evaluate("recall", "rr")
    BadRowsError: sku: 2 of 4 rows repeat a document of their query (rows 1, 3); ranks repeat too: name system= if
        several systems gave them, pass query=['qid', the session's column] if a query was asked several times, else
        drop them, or pass duplicates='first'
    but: log({"sku": ["a", "b", "b", "a"], "pos": [1, 2, 1, 2]}, doc="sku", rank="pos", score=None).evaluate("rr")
log({"sku": ["a", "a", "b", "b"], "run": ["x", "x", "x", "y"], "rating": [1, 1, 0, 0]}, doc="sku",
        system="run").evaluate("recall", "rr")
    BadRowsError: sku: 1 of 4 rows repeats a document of its query (row 1); pass query=['qid', the session's column]
        if a query was asked several times; else drop them, or pass duplicates='first' to keep the best place of each,
        or doc=None
log({"sku": ["a", "a", "b", "c"]}, doc="sku").evaluate("recall", "rr")
    BadRowsError: sku: 1 of 4 rows repeats a document of its query (row 1); rows of several systems need system=; pass
        query=['qid', the session's column] if a query was asked several times; else keep one row of each, or pass
        doc=None; their judgments differ, so duplicates='first' takes none
log({"sku": [*"aabc"], "pos": [1, 2, 1, 2], "rating": [1] * 4}, doc="sku", rank="pos", score=None).evaluate("rr")
    BadRowsError: sku: 1 of 4 rows repeats a document of its query (row 1); no rank repeats, so lists showed a document
        twice; pass doc=None, or duplicates='first' to keep the best place of each
    but: log({"sku": [*"aabc"], "pos": [1, 2, 1, 2]}, doc=None, rank="pos", score=None).evaluate("rr")
log({"sku": ["a", "a", "b", "c"]}, doc="sku", duplicates="first").evaluate("recall", "rr")
    BadRowsError: sku: 2 of 4 rows repeat a document of their query with another judgment (rows 0, 1); keep one of each
log({"sku": ["a", "a", "b", "c"], "run": ["x", "y", "x", "x"]}, doc="sku", system="run").evaluate("recall", "rr")
    BadRowsError: rating: 1 pair has two judgments (query and document (1, a), rows 0, 1); keep one of each
    but: log({"sku": [*"aabb"], "rating": [1, 1, 0, 0]}, doc="sku", duplicates="first").evaluate("rr")
    but: log({"sku": [*"aabb"], "run": [*"xyxy"], "rating": [1, 1, 0, 0]}, doc="sku", system="run").evaluate("rr")
log({"visits": [1, 1, -1, -1]}, weight="visits").evaluate("recall", "rr")
    BadRowsError: visits: 2 of 4 rows are negative (rows 2, 3); 0 is the least, and leaves them out of means
log({"visits": [1, 1, None, 2]}, weight="visits").evaluate("recall", "rr")
    BadRowsError: visits: 1 of 4 rows has no weight (row 2); give every row one
log({"visits": [1, 2, 1, 1]}, weight="visits").evaluate("recall", "rr")
    BadRowsError: visits: 1 of 4 rows differs from another row of its query (row 1); give each query one value
log({"visits": ["1", "1", "1", "1"]}, weight="visits").evaluate("recall", "rr")
    BadValueError: visits: a weight is a number, and this column is text; convert it
log({"visits": [INF, INF, 1, 1]}, weight="visits").evaluate("recall", "rr")
    BadRowsError: visits: 2 of 4 rows are infinite (rows 0, 1); give every row one
log({"qid": [1, 1, 2, 2], "run": ["x", "y", "x", "y"], "sku": list("abcd"), "visits": [1, 2, 1, 1]}, weight="visits",
        system="run", doc="sku").evaluate("recall", "rr")
    BadRowsError: visits: 1 of 4 rows differs from another system in the value of its query (row 1); give each query one
        value
    but: log({"visits": [0, 0, 1.5, 1.5]}, weight="visits").evaluate("recall", "rr")
log({"total": [1, 1, -1, -1]}, n_relevant="total").evaluate("recall", "rr")
    BadRowsError: total: 2 of 4 rows are negative (rows 2, 3); 0 is the least
log({"total": [1, 1, 1.5, 1.5]}, n_relevant="total").evaluate("recall", "rr")
    BadRowsError: total: 2 of 4 rows are not whole (rows 2, 3); rows and documents are counted
log({"total": [1, 1, None, None]}, n_relevant="total").evaluate("recall", "rr")
    BadRowsError: total: 2 of 4 rows have no n_relevant (rows 2, 3); give every row one
log({"total": [3, 2, 1, 1]}, n_relevant="total").evaluate("recall", "rr")
    BadRowsError: total: 1 of 4 rows differs from another row of its query (row 1); give each query one value
log({"total": [0, 0, 1, 1]}, n_relevant="total").evaluate("recall", "rr")
    BadValueError: total: a query lists more relevant documents than it is said to have
    but: log({"total": [1, 1, 3, 3]}, n_relevant="total").evaluate("recall", "rr")
log({"docs": [9, 8, 9, 9]}, collection_size="docs").evaluate("accuracy", "rr")
    BadRowsError: docs: 1 of 4 rows differs from another row of its query (row 1); give each query one value
log({"docs": [-1, -1, 9, 9]}, collection_size="docs").evaluate("accuracy", "rr")
    BadRowsError: docs: 2 of 4 rows are negative (rows 0, 1); 0 is the least
log({"docs": [1, 1, 9, 9]}, collection_size="docs").evaluate("accuracy", "rr")
    BadValueError: collection_size: 1 documents are fewer than the 2 that are known of a query, retrieved or judged
    but: log({"docs": [2, 2, 9, 9]}, collection_size="docs").evaluate("accuracy", "rr")
"""


def test_bad_values(kind: str) -> None:
    """A bad value is an error that counts its rows, shows three and names the way out, in every kind of frame."""
    names = made_of(kind)
    check(BAD_VALUES, names)
    for row in refusals_of(BAD_VALUES, names):
        assert row._replace(call=row.call.replace(".evaluate", ".per_query")).fault(names) is None


# Bad values found by audit()


def of_rows(names: dict[str, Any]) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the messages about bad rows, each with what makes the irm that has them."""
    for row in refusals_of(BAD_VALUES, names):
        if re.search(r": \d+ of \d+ rows ", row.words):
            yield row.words, partial(run, row.irm, names)


def test_what_evaluate_refuses_of_rows_is_a_finding(kind: str) -> None:
    """Bad values that are an error elsewhere are a finding of severity error here, in the same words."""
    for message, irm in of_rows(made_of(kind)):
        audit = as_polars(irm().audit())
        errors = audit.filter(severity="error")
        (bad,) = errors.filter(message=message).rows(named=True)
        beside = ["rows that cannot be read"] * ("not numeric" in message)  # text
        beside += ["rows that repeat a rank of their query"] * ("ranks repeat too" in message)
        assert errors.filter(pl.col("message") != message)["check"].to_list() == beside
        count, total, first = re.match(r".*?: (\d+) of (\d+) rows .* \(rows? (\d+)", message).groups()  # type: ignore[union-attr]
        assert (bad["n"], bad["share"], bad["example"]) == (int(count), int(count) / int(total), f"row {first}")
        left = 4 - errors.filter(pl.col("check") != "rows that cannot be read")["n"].sum()
        assert audit.filter(check="rows").select("n", "share").rows() == [(left, left / 4)]


OF_QUERIES = ("weights", "counts of relevant documents", "collection sizes")


def test_what_bad_values_are_called() -> None:
    """The name of a finding says the part that the column plays, not what the column is called."""
    called = set()
    for _, irm in of_rows(globals()):
        called |= set(odd(irm()).filter(severity="error")["check"])
    assert called == {
        *(f"rows that have no {part}" for part in ("query", "document")),
        *(f"rows that have neither a {place} nor a judgment" for place in ("score", "rank")),
        *(f"rows that repeat a {part} of their query" for part in ("document", "rank")),
        "rows that repeat a document of their query with another judgment",
        *(f"scores that are {what}" for what in ("infinite", "past 2**53", "not numeric")),
        "rows that cannot be read",
        *(f"ranks that are {what}" for what in ("infinite", "past 2**53", "below 1", "not whole")),
        "grades that are infinite",
        "labels that are neither 0 nor 1",
        *(f"{what} that differ from another row of their query" for what in OF_QUERIES),
        "weights that differ from another system in the value of their query",
        *(f"weights that are {what}" for what in ("infinite", "negative")),
        *(f"counts of relevant documents that are {what}" for what in ("negative", "not whole")),
        *("rows that have no weight", "rows that have no n_relevant"),
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
        what, remedy = ("NaN", "make them null") if value != value else ("infinite", "give them finite values")
        message = f"bm25: 1 of 4 rows is {what} (row {place}); drop them, or {remedy}"
        assert error(lambda: frame.irm(**ROLES).evaluate("rr")).startswith(message)  # noqa: B023
        assert error(lambda: frame.irm(**ROLES).evaluate("precision")).startswith(message)  # noqa: B023
        found = frame.irm(**ROLES).audit().filter(severity="error")["message"].item()
        assert found.startswith(message)


def test_rows_are_those_of_the_callers_frame() -> None:
    """The rows that a message shows are rows of the frame, wherever the queries' rows lie."""
    frame = _log({"qid": [2, 1, 2, 1], "sku": ["a", "b", "c", "b"], "pos": [1, 2, 1, 1]})
    assert error(lambda: frame.irm(**ROLES, doc="sku").evaluate("rr")).startswith(
        "sku: 1 of 4 rows repeats a document of its query (row 1); "  # row 3 has the better score
    )
    assert error(lambda: frame.irm(**ROLES, rank="pos").evaluate("rr")).startswith(
        "pos: 1 of 4 rows repeats a rank of its query (row 2); "
    )


def test_a_name_that_prints_alike_is_shown_by_its_characters() -> None:
    """A column whose name differs in Unicode form only is offered by its characters."""
    log = pl.DataFrame({"caf\u00e9": [1], "score": [1.0], "grade": [1]})
    said = error(lambda: log.irm(query="cafe\u0301").evaluate("rr"))
    assert said.endswith(r"; did you mean 'caf\xe9', which prints alike?")


def test_three_rows_are_shown() -> None:
    """A message counts all bad rows and shows the first three."""
    frame = pl.DataFrame({"query": [1] * 120, "score": [INF] * 100 + [1.0] * 20, "grade": [1] * 120})
    assert error(lambda: frame.irm.evaluate("rr")) == (
        "score: 100 of 120 rows are infinite (rows 0, 1, 2); "
        "drop them, or give them finite values: inf one above all others, -inf one below"
    )


OF_ALL_BLOCKS: dict[str, tuple[dict[str, pl.Expr], dict[str, Any], str]] = {
    "ranks": ({"rank": pl.lit(1)}, {}, "rank: 7,910 of 8,000 rows repeat a rank of their query (rows 1, 2, 3)"),
    "scores": (
        {"score": pl.when(pl.int_range(pl.len()) > 0).then(INF).otherwise(1.0)},
        {},
        "score: 7,999 of 8,000 rows are infinite (rows 1, 2, 3)",
    ),
    "weights": (
        {"score": pl.int_range(pl.len()), "w": pl.int_range(pl.len())},
        {"weight": "w"},
        "w: 7,910 of 8,000 rows differ from another row of their query (rows 1, 2, 3)",
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
    assert "name system='run' if" in said
    assert "pass query=['query', the session's column] if" in said
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
    assert as_polars(first.per_query("rr", "num_ret", layout="wide")).drop("answered").rows() == [(1, rr, n)]


def test_first_duplicates_without_a_place() -> None:
    """Where nothing orders the results, duplicates='first' keeps the row that stands first."""
    log = pl.DataFrame({"qid": [1] * 4, "sku": [*"aabb"], "said": [1, 0, 0, 1], "clicked": [1, 1, 0, 0]})
    roles: Any = {"query": "qid", "doc": "sku", "predicted": "said", "label": "clicked", "duplicates": "first"}
    asked = ("tp", "fp", "fn")
    assert log.irm(**roles).per_query(*asked, layout="wide").drop("answered").rows() == [(1, 1, 0, 0)]
    assert log.reverse().irm(**roles).per_query(*asked, layout="wide").drop("answered").rows() == [(1, 0, 1, 1)]


# Names of metrics, their parameters and cutoffs

BAD_METRICS = r"""
log().evaluate("ndgc@10")
    UnknownNameError: there is no metric 'ndgc'; did you mean 'ndcg'?
log().evaluate("recal")
    UnknownNameError: there is no metric 'recal'; did you mean 'recall'?
log().evaluate("guac")
    UnknownNameError: there is no metric 'guac'; did you mean 'gauc'?
log().evaluate("gm_foo")
    UnknownNameError: there is no metric 'foo'; frame_metrics.list_metrics() lists them
    but: log().evaluate("ndcg@10", "recall", "gm_map")
log().evaluate("G")
    UnknownNameError: 'G' means two things: g_measure (the mean of precision and recall), or g_trec (trec_eval's gain
        measure); write the one you mean
log().evaluate(VALUE)
    for: "LR", "lr@5", "likelihood ratio"
    UnknownNameError: '[...]' means two things: lr_positive (LR+), or lr_negative (LR-); write the one you mean
log().evaluate(VALUE)
    for: "g", " G "
    UnknownNameError: '[...]' means two things: g_measure ([...]), or g_trec ([...]); write the one you mean
log().evaluate("CTR")
    UnknownNameError: 'CTR' means two things: success (the share of searches with a click; so is ctr@10), or precision
        (clicks over results shown, of a query); write the one you mean
log().evaluate("gm_gm_map")
    UnknownNameError: 'gm_gm_map': 'gm_map' is an average already
log().evaluate("gm_gauc")
    UnknownNameError: 'gm_gauc': 'gauc' is an average already
log().evaluate("gm_" * 1000 + "ap")
    UnknownNameError: 'gm_gm_[...]... is an average already
log().evaluate(VALUE)
    for: "f1_macro", "macro_f1", "macro-averaged F1", "f1 macro avg"
    UnknownNameError: there is no metric VALUE; ask for 'f1' with average='macro'
log().evaluate("f1_weighted")
    UnknownNameError: there is no metric 'f1_weighted'; ask for 'f1' with average='weighted'
log().evaluate("roc_auc_macro")
    UnknownNameError: there is no metric 'roc_auc_macro'; ask for 'roc_auc' with average='macro'
log().evaluate("macro_accuracy")
    UnknownNameError: there is no metric 'macro_accuracy'; did you mean 'balanced_accuracy'?
log().evaluate(VALUE)
    for: "weighted_kappa", "QWK", "quadratic_weighted_kappa"
    UnknownNameError: there is no metric VALUE; did you mean "kappa(weights='quadratic')"?
log().evaluate("linear_kappa")
    UnknownNameError: there is no metric 'linear_kappa'; did you mean "kappa(weights='linear')"?
log().evaluate("precision_micro@5")
    UnknownNameError: there is no metric 'precision_micro'; ask for 'precision' with average='micro'
log().evaluate(VALUE)
    for: "recall_cap@2", "R_cap@2"
    UnknownNameError: there is no metric '[...]'; did you mean 'relative_precision'?
log().evaluate("matthews_corrcoef")
    UnknownNameError: there is no metric 'matthews_corrcoef'; did you mean 'mcc'?
log().evaluate("context_recall@5")
    UnknownNameError: there is no metric 'context_recall'; did you mean 'recall'?
log().evaluate("context_precision@5")
    UnknownNameError: there is no metric 'context_precision'; ask for "ap(norm='found')" ([...]), 'ap' ([...]) or
        'precision@5' ([...])
log().evaluate(VALUE)
    for: "lrap", "label_ranking_average_precision_score"
    UnknownNameError: there is no metric VALUE; ask for 'ap' with a query for each row of labels, and a result for each
        of its labels: query=, score=, label=
log().evaluate(VALUE)
    for: "top_k_categorical_accuracy@5", "top_5_categorical_accuracy", "top5accuracy"
    UnknownNameError: there is no metric '[...]'; did you mean 'top_k_accuracy@5'?
log().evaluate("top_5_accuracy")
    NotComputableError: top_5_accuracy has one value for the rows of a segment, and none for a query; pass query=None,
        or name its column with by=
    but: log().evaluate("f1", average="macro")
    but: log().evaluate("f1", "precision@5", average="micro")
    but: log(collection_size=9).evaluate("relative_precision@2", "mcc@2", "recall@5", "ap", "precision@5", "success@5")
log().evaluate("ndcg(gain=exp)@10")
    BadValueError: 'ndcg(gain=exp)@10': the parameters do not read as (name=value, ...); a text needs quotes:
        ndcg(gain='exp')@10
log().evaluate(max)
    BadValueError: a metric is a name or a frame_metrics.metrics value, not the function <max>; a function of yours
        becomes one with the decorator @frame_metrics.metric(range=(0, 1)), as def name(run: frame_metrics.Ranking),
        [...]
log().evaluate("coverage")
    UnknownNameError: 'coverage': coverage is the share of rows with a prediction, and has no cutoff; of what lists show
        there are catalogue_coverage, distributional_coverage and catalogue_gini
    but: log().evaluate("ndcg(gain='exp')@10")
    but: log().evaluate("g_measure", "g_trec", "success", "gauc")
log().evaluate("")
    UnknownNameError: '' does not read as a metric: name(parameter=value)@cutoff
log().evaluate("@5")
    UnknownNameError: '@5' does not read as a metric: name(parameter=value)@cutoff
    but: log().evaluate("P@5")
log().evaluate(VALUE)
    for: "ndcg@0", "ndcg@-1", "ndcg@1.5", "ndcg@nan", "ndcg@inf"
    BadValueError: TEXT: the cutoff is not a whole number from 1
log().evaluate("ndcg@ten")
    BadValueError: 'ndcg@ten': the cutoff 'ten' is not a number
log().evaluate("ndcg@10,")
    BadValueError: 'ndcg@10,': the cutoff '' is not a number
log().evaluate("ndcg@10@5")
    BadValueError: 'ndcg@10@5': the cutoff '10@5' is not a number
log().evaluate("precision(rel=1)@5@10")
    BadValueError: 'precision(rel=1)@5@10': the cutoff '5@10' is not a number
log().evaluate("set_F.x")
    BadValueError: 'set_F.x': the cutoff 'x' is not a number
log().evaluate("ndcg@5,5")
    BadValueError: 'ndcg@5' is asked for twice
log().evaluate("ndcg@5(gain='exp')")
    BadValueError: "ndcg@5(gain='exp')": the cutoff comes last, as in ndcg(gain='exp')@10
    but: log().evaluate("ndcg@5,10", "precision(rel=1)@5", "ndcg(gain='exp')@5", "set_F.2")
log().evaluate("iprec(recall=0.1)@0.2")
    BadValueError: iprec@0.2: recall= and @ mean the same; pass one of them
log().evaluate("iprec@2")
    BadValueError: iprec@2: the recall level is not between 0 and 1
log().evaluate("iprec")
    NotComputableError: iprec needs recall=, as in iprec(recall=0.5)
    but: log().evaluate("iprec@0.2", "iprec(recall=0.1)")
log().evaluate("gauc@5")
    BadValueError: roc_auc takes no cutoff: roc_auc@5
log().evaluate("rprec@5")
    BadValueError: rprec takes no cutoff: rprec@5
    but: log().evaluate("rprec")
log().evaluate(VALUE)
    for: "rbp(p=0.5)(p=0.9)", "rbp(p=0.5).x(p=0.9)", "ndcg(exp)", "ndcg(gain=expo)"
    BadValueError: VALUE: the parameters do not read as (name=value, ...)
log().evaluate("rbp(p=0.5,p=0.9)")
    BadValueError: 'rbp(p=0.5,p=0.9)': p= is given twice
log().evaluate("rbp(p=2)")
    BadValueError: rbp: p=2 is not between 0 and 1
log().evaluate("rbp(p='0.8')")
    BadValueError: rbp: p='0.8' is not between 0 and 1
    but: log().evaluate("rbp(p=0.5)")
log().evaluate("ndcg(gain='exp', gains='linear')")
    BadValueError: "ndcg(gain='exp', gains='linear')": gain= and gains= mean the same; pass one of them
log().evaluate("ndcg(gian='exp')")
    UnknownNameError: ndcg has no parameter 'gian'; it has 'gain', 'discount', 'base', 'rel', 'judged_only'; did you
        mean 'gain'?
log().evaluate("success(k=3)")
    UnknownNameError: success has no parameter 'k'; it has 'rel', 'judged_only'; write the cutoff as success@3
log().evaluate("ndcg(gain='expo')")
    BadValueError: ndcg: gain='expo' is not 'linear', 'exp', a mapping from grades to gains, a list for 0, 1, 2
        ..., or a function of one grade
log().evaluate("ndcg(gain={})")
    BadValueError: ndcg: gain={} is not 'linear', 'exp', a mapping from grades to gains, a list for 0, 1, 2
        ..., or a function of one grade
log().evaluate("ndcg(judged_only=3)")
    BadValueError: ndcg: judged_only=3 is not True or False
    but: log().evaluate("ndcg(gain={0: 0, 1: 1, 3: 2}, judged_only=True)", "success@3")
log().evaluate("fbeta(beta=-1)")
    BadValueError: fbeta: beta=-1 is not 0 or more
log().evaluate("err(max_grade=0)")
    BadValueError: err: max_grade=0 is not above 0
log().evaluate("precision(rel='a')")
    BadValueError: precision: rel='a' is not a grade
log().evaluate(metrics.precision(rel=NAN))
    BadValueError: precision: rel=nan is not a grade
    but: log().evaluate("fbeta(beta=0)", "err(max_grade=3)", "precision(rel=0.5)")
"""


def test_bad_metrics() -> None:
    """A metric that does not exist, or has a parameter or cutoff it cannot have, is an error with the closest match."""
    check(BAD_METRICS, globals())
    for row in refusals_of(BAD_METRICS, globals()):
        assert row._replace(call=row.call.replace(".evaluate", ".per_query")).fault(globals()) is None


ASKING = r"""
log().evaluate()
    BadValueError: no metric was asked for; name one, as 'ndcg@10'
log().evaluate(5)
    BadValueError: a metric is a name or a frame_metrics.metrics value, not 5
log().evaluate([["rr"]])
    BadValueError: a metric is a name or a frame_metrics.metrics value, not ['rr']
log().evaluate([None])
    BadValueError: a metric is a name or a frame_metrics.metrics value, not None
log().evaluate("p@1,1")
    BadValueError: 'p@1' is asked for twice
log().evaluate([])
    BadValueError: no metric was asked for; name one, as 'ndcg@10'
log().evaluate("rr", "rr")
    BadValueError: 'rr' is asked for twice
log().evaluate("ndcg@5,10", "ndcg@10")
    BadValueError: 'ndcg@10' is asked for twice
log().evaluate(metrics.rr, "rr")
    BadValueError: 'rr' is asked for twice
    but: log().evaluate(["rr", "ndcg@5,10"])
metrics.ndcg @ VALUE
    for: 0, -1, 1.5, True, "10", None, NAN, INF
    BadValueError: ndcg@VALUE: the cutoff is not a whole number from 1
metrics.rprec @ 5
    BadValueError: rprec takes no cutoff: rprec@5
metrics.ndcg(gain="exp") @ 10 @ 5
    BadValueError: ndcg(gain='exp')@10@5: it has a cutoff already; use ndcg(gain='exp')@5 for that one
metrics.iprec @ 0.5 @ 0.1
    BadValueError: iprec@0.5@0.1: it has a cutoff already; use iprec@0.1 for that one
    but: (metrics.ndcg @ 10)(gain="exp")
metrics.iprec @ 1.5
    BadValueError: iprec@1.5: the recall level is not between 0 and 1
metrics.iprec(recall=0.1) @ 0.2
(metrics.iprec @ 0.2)(recall=0.1)
    BadValueError: iprec@0.2: recall= and @ mean the same; pass one of them
metrics.dcg(gain={1: 10**400})
    BadValueError: dcg: gain=[...] is not 'linear', 'exp', a mapping from grades to gains, a list for 0, 1, 2
        ..., or a function of one grade
    but: metrics.ndcg @ 10
    but: metrics.iprec @ 0.5
metrics.ndcg(gain=VALUE)
    for: {0: "none", 1: "some"}, {0: 0, 1: NAN}, {0: 0, 1: INF}
    BadValueError: ndcg: gain=VALUE is not 'linear', 'exp', a mapping from grades to gains, a list for 0, 1, 2
        ..., or a function of one grade
    but: metrics.ndcg(gain={0: 0, 1: 2.5})
"""


def test_bad_asking() -> None:
    """One metric at least is asked for, each once, as text or as a value, which refuses bad parameters itself."""
    check(ASKING, globals())


# Roles and options

BAD_ROLES = r"""
named(querry="qid")
    UnknownNameError: there is no role or option 'querry'; did you mean 'query'?
named(grades="rating")
    UnknownNameError: there is no role or option 'grades'; did you mean 'grade'?
named(query=VALUE)
    for: 5.0, True, []
    BadValueError: query=VALUE is not the name of a column, or a list of names
named(by=["a", 5.0])
    BadValueError: by=['a', 5.0] is not the name of a column, or a list of names
named(score=[])
    BadValueError: score=[] is not the name of a column, or a list of names, each of a system
named(score=pl.Series([1]))
    BadValueError: score=<polars.Series> is not the name of a column, or a list of names, each of a system; make it a
        column of the frame, and give its name
named(by=["a", pd.Series([1])])
    BadValueError: by=['a', <pandas.Series>] is not the name of a column, or a list of names; make it a column of the
        frame, and give its name
    but: named(query=["qid", "rating"], grade=None, score=["bm25"], by=["a"])
named(ties="docs")
    UnknownNameError: ties='docs' is not one of 'doc', 'worst', 'best', 'order', 'expected'; did you mean 'doc'?
named(undefined="nul")
    UnknownNameError: undefined='nul' is not one of 'zero', 'one', 'null', 'raise'; did you mean 'null'?
named(undefined=0)
    UnknownNameError: undefined=0 is not one of 'zero', 'one', 'null', 'raise'
named(unjudged="drpo")
    UnknownNameError: unjudged='drpo' is not one of 'drop', 'negative'; did you mean 'drop'?
named(duplicates="fist")
    UnknownNameError: duplicates='fist' is not one of 'error', 'first'; did you mean 'first'?
    but: named(ties="doc", undefined="null", unjudged="drop", duplicates="first")
named(rel="2")
    BadValueError: rel='2' is not a grade; a word needs scale= too, with the grade of each
named(rel=True)
    BadValueError: rel=True is not a grade
named(rel=NAN)
    BadValueError: rel=nan is not a grade
    but: named(rel=2.5)
named(collection_size=VALUE)
    for: -1, 1.5, NAN, INF
    BadValueError: collection_size=VALUE is not a number of documents, a column, or True
    but: named(collection_size=0)
"""
NAMED: dict[str, Callable[..., Any]] = {
    "IRM": lambda **named: IRM(_log({}), **named),
    "frame": lambda **named: _log({}).irm(**named),
    "irm": lambda **named: _log({}).irm(**ROLES)(**named),
}


@pytest.mark.parametrize("way", NAMED)
def test_bad_roles(way: str) -> None:
    """A role or option that does not exist, or has a value it cannot have, is an error when it is named."""
    check(BAD_ROLES, globals() | {"named": NAMED[way]})


BAD_OPTIONS = r"""
log().evaluate("rr", average=VALUE)
    for: "q90", "q1.5", "q", "q-1", "qnan", "q1e-3", "q 0.9", "quantile"
    BadValueError: average=VALUE is no quantile from q0 to q1, as q0.9
log().evaluate("rr", average="p95")
    UnknownNameError: average='p95' is the name of no average; did you mean 'q0.95'?
log().evaluate("rr", average="P50")
    UnknownNameError: average='P50' is the name of no average; did you mean 'q0.5'?
log().evaluate("rr", average="p99.9")
    UnknownNameError: average='p99.9' is the name of no average; did you mean 'q0.999'?
log().evaluate("rr", average="p5")
    UnknownNameError: average='p5' is the name of no average; did you mean 'q0.05'?
log().evaluate("rr", average="p0.95")
    UnknownNameError: average='p0.95' is the name of no average; did you mean 'q0.95'?
log().evaluate("rr", average=["macro", "p101"])
    UnknownNameError: average='p101' is the name of no average; a quantile is from q0 to q1, as q0.9
    but: log().evaluate("rr", average=["q0.9", "q.5", "q1"])
log().evaluate("rr", average="marco")
    UnknownNameError: average='marco' is not one of 'macro', 'weighted', 'micro', 'gmean', 'median', 'min', 'max',
        'rows', 'predicted', 'q0.9'; did you mean 'macro'?
log().evaluate("rr", average=[None])
    UnknownNameError: average=None is not one of 'macro', 'weighted', 'micro', 'gmean', 'median', 'min', 'max', 'rows',
        'predicted', 'q0.9'
log().evaluate("rr", average=[["macro"]])
    UnknownNameError: average=['macro'] is not one of 'macro', 'weighted', 'micro', 'gmean', 'median', 'min', 'max',
        'rows', 'predicted', 'q0.9'
log().evaluate("rr", average=["macro", "mid"])
    UnknownNameError: average='mid' is not one of 'macro', 'weighted', 'micro', 'gmean', 'median', 'min', 'max', 'rows',
        'predicted', 'q0.9'; did you mean 'min'?
log().evaluate("rr", average="mean")
    UnknownNameError: average='mean' is called 'macro', or 'weighted' where queries or classes have weights
log().evaluate("rr", average=[])
    BadValueError: average=[] names no average; name one, or pass average=None
log().evaluate("rr", average=["macro", "macro"])
    BadValueError: average='macro' is asked for twice
    but: log().evaluate("rr", average=["macro", "min"])
log().evaluate("rr", average="weighted")
    ColumnError: average='weighted' needs the weights of the queries; name their column with weight=
log().evaluate("rr", average="predicted")
    NotComputableError: average='predicted' is over several classes, and the mean here is over queries
    but: log({"visits": [1, 1, 2, 2]}, weight="visits").evaluate("rr", average="weighted")
log().evaluate("rr", layout="wid")
    UnknownNameError: layout='wid' is not one of 'long', 'wide'; did you mean 'wide'?
    but: log().evaluate("rr", layout="wide")
log().evaluate("rr", ci=VALUE)
    for: 0, 1, 95, NAN, True, "0.95"
    BadValueError: ci=VALUE is not a level between 0 and 1, as 0.95
log().evaluate("rr", resamples=VALUE)
    for: 0, 1.5
    BadValueError: resamples=VALUE is not a whole number from 1
log().evaluate("rr", seed=VALUE)
    for: -1, None
    BadValueError: seed=VALUE is not a whole number from 0
    but: log().evaluate("rr", ci=0.5, resamples=2, seed=0)
log().evaluate("rr", margins=True)
    ColumnError: margins=True adds the totals over segments; name the segments with by=
    but: log({"day": [1, 1, 2, 2]}, by="day").evaluate("rr", margins=True)
"""


def test_bad_options() -> None:
    """An option of a verb that has a value it cannot have is an error."""
    check(BAD_OPTIONS, globals())


# Columns


BAD_COLUMNS = r"""
log(query="qdi").evaluate("rr")
    ColumnError: query='qdi': there is no such column among 'qid', 'bm25', 'rating'; did you mean 'qid'?
log(by="device").evaluate("rr")
    ColumnError: by='device': there is no such column among 'qid', 'bm25', 'rating'
log(collection_size="docs").evaluate("rr")
    ColumnError: collection_size='docs': there is no such column among 'qid', 'bm25', 'rating'
    but: log({"docs": [5] * 4}, collection_size="docs").evaluate("rr")
log(query=...).evaluate("rr")
    ColumnError: the query is missing; name its column with query=, one of 'qid'; did you mean 'qid'?
log({"Query": [1, 1, 2, 2]}, query=...).evaluate("rr")
    ColumnError: the query is missing; name its column with query=, one of 'qid', 'Query'; did you mean 'Query'?
log({"Score": [1, 2, 1, 2]}, score=...).evaluate("rr")
    ColumnError: the score or rank is missing; name its column with score= or rank=, one of 'bm25', 'Score'; did you
        mean 'Score'?
log(grade=...).evaluate("rr")
    ColumnError: the label or grade is missing; name its column with label= or grade=, one of 'rating'; did you mean
        'rating'?
log(grade=None).evaluate("rr")
    ColumnError: grade=None was passed, but this call needs the grade; leave grade=None out, or name its column,
        one of 'qid', 'bm25', 'rating'
    but: log({"query": [1] * 4, "score": [1, 2, 1, 2], "grade": [1] * 4}, query=..., score=...,
        grade=...).evaluate("rr")
log({"score": [1, 2, 1, 2], "rank": [1, 2, 1, 2]}, score=...).evaluate("rr")
    ColumnError: both 'score' and 'rank' are columns; pass score='score', rank='rank' to use both (ranks order the
        results), or name one
    but: log({"score": [4, 3, 2, 1], "rank": [1, 2, 1, 2]}, score="score", rank="rank").evaluate("rr")
log({"label": [1, 0, 1, 0], "grade": [1, 2, 1, 2], "rank": [1, 2, 1, 2], "score": [4, 3, 2, 1],
        "run": ["a"] * 4},
        grade=..., score=...).evaluate("rr")
    ColumnError: both 'score' and 'rank' are columns, and both 'label' and 'grade'; pass score='score', rank='rank',
        label='label', grade='grade' to use all (ranks order the results; grades are the gains, and labels say what is
        relevant), or name one of each; add system='run' if that column names the systems
    but: log({"label": [1, 0, 1, 0], "grade": [1, 2, 1, 2], "rank": [1, 2, 1, 2], "score": [4, 3, 2, 1],
        "run": ["a"] * 4},
        score="score", rank="rank", label="label", grade="grade", system="run").evaluate("rr")
log({"label": [1, 0, 1, 0], "grade": [1, 2, 1, 2]}, grade=...).evaluate("rr")
    ColumnError: both 'label' and 'grade' are columns; pass label='label', grade='grade' to use both (grades are the
        gains, and labels say what is relevant), or name one
    but: log({"label": [1, 0, 1, 0], "grade": [1, 2, 1, 2]}, grade="grade", label="label").evaluate("rr")
log(ties="doc").evaluate("rr")
    ColumnError: ties='doc' orders equal scores by document; name the document column with doc=
    but: log({"sku": [*"abab"]}, ties="doc", doc="sku").evaluate("rr")
log(by="qid").evaluate("rr")
    ColumnError: by='qid' is the query too; a column can have only one role
log(by="bm25").evaluate("rr")
    ColumnError: by='bm25' is the score too; a column can have only one role
log(by=["rating"]).evaluate("rr")
    ColumnError: by='rating' is the grade too; a column can have only one role
log({"run": [1] * 4}, by="run", system="run").evaluate("rr")
    ColumnError: by='run' is the system too; a column can have only one role
log(system="qid").evaluate("rr")
    ColumnError: system='qid' is the query too; a column can have only one role
log(query=["qid", "qid"]).evaluate("rr")
    ColumnError: query='qid' is named twice; a column can have only one role
log(score="rating").evaluate("rr")
    ColumnError: grade='rating' is the score too; a column can have only one role
log(doc="bm25").evaluate("rr")
    ColumnError: doc='bm25' is the score too; a column can have only one role
    but: log({"run": [1] * 4, "day": [1] * 4}, by="day", system="run").evaluate("rr")
log({VALUE: [1] * 4}, by=VALUE).evaluate("rr")
    for: "metric", "k", "value", "average", "n", "n_undefined", "ci_low", "ci_high", "total_over"
    ColumnError: VALUE is a column of the result as well; rename the frame's column
log({"k": [1] * 4}, system="k").evaluate("rr")
    ColumnError: 'k' is a column of the result as well; rename the frame's column
log({"value": [1] * 4}, query="value").evaluate("rr")
    ColumnError: 'value' is a column of the result as well; rename the frame's column
    but: log({"difference": [1] * 4}, by="difference").evaluate("rr")
"""


def test_bad_columns(kind: str) -> None:
    """A column that is missing, ambiguous, or plays two parts is an error that names the columns there are."""
    check(BAD_COLUMNS, made_of(kind))


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
    way = "frame.columns = ['_'.join(map(str, one)) for one in frame.columns]"
    assert message.endswith(f"; its columns have several levels, of which this makes one: {way}")
    exec(way)
    assert len(frame.irm(query="top_qid", score="top_bm25", grade="top_rating").evaluate("rr")) == 1


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
        f"a column {column!r} for the metric would be twice in the wide result; rename the frame's column"
    )
    assert log.evaluate(*asked, **options)[column].to_list() == [value for value in (1, 2) for _ in asked]
    if column in asked:
        assert error(lambda: log.per_query(*asked, layout="wide"), ColumnError) == (
            f"a column {column!r} for the metric would be twice in the wide result; rename the frame's column"
        )


# What cannot be computed

NOT_COMPUTABLE = r"""
wild().evaluate("err")
    NotComputableError: err needs max_grade=, the highest grade of the scale; the largest grade in rating is 3[...]
wild().evaluate("ncg@5")
    NotComputableError: ncg@5 needs max_grade=, the highest grade of the scale; the largest grade in rating is 3[...]
wild().evaluate("err(max_grade=2)")
    BadValueError: err(max_grade=2): max_grade=2, but the largest grade in rating is 3[...]
    but: wild().evaluate("err(max_grade=3)", "ncg(max_grade=4)@5")
wild().evaluate("precision(rel=5)")
    NotComputableError: precision(rel=5): no grade in rating reaches rel=5; the largest is 3[...]
wild().evaluate("ndcg(rel=2)@5")
    NotComputableError: ndcg(rel=2)@5: rel= says what is relevant, and this metric reads gains; leave rel= out, or give
        gain= a mapping, as gain={1: 0, 2: 1, ...}
wild().evaluate("judged(rel=2)@5")
    NotComputableError: judged(rel=2)@5: rel= says what is relevant, and this metric reads nothing of that; leave rel=
        out
wild(rel=9).evaluate("rr")
    NotComputableError: rr: no grade in rating reaches rel=9; the largest is 3[...]
    but: wild(rel=3).evaluate("precision", "rr(rel=2)", "ndcg@5")
wild().evaluate("specificity")
    NotComputableError: specificity counts true negatives, and so needs collection_size=: a number, a column, or True if
        the frame lists all, set before, as search(collection_size=1000)
wild().evaluate("tn@2")
    NotComputableError: tn@2 counts true negatives, and so needs collection_size=: a number, a column, or True if the
        frame lists all, set before, as search(collection_size=1000)
wild(collection_size=1).evaluate("accuracy")
    BadValueError: collection_size: 1 documents are fewer than the 2 that are known of a query, retrieved or judged
    but: wild(collection_size=9).evaluate("specificity", "tn@2", "accuracy")
wild().evaluate("rr", average="micro")
    NotComputableError: rr has no micro average; measures of the 2x2 table have one, as precision or recall@10
    but: wild().evaluate("precision", "recall@10", average="micro")
wild().evaluate("brier")
    BadRowsError: bm25: 3 of 5 rows are not between 0 and 1 (rows 0, 2, 3); brier needs probabilities
wild(score="half").evaluate("log_loss")
    BadRowsError: half: 1 of 5 rows has no score (row 1); log_loss needs one for every row
    but: wild(score="half", unjudged="drop").evaluate("rr")
wild(undefined="raise").evaluate("rr")
    NotComputableError: rr is undefined for 1 of 3 queries
    but: wild(undefined="raise").evaluate("num_rel")
wild(grade=None, label="clicked").evaluate("rr(rel=2)")
    NotComputableError: rr(rel=2): rel= is a grade, and clicked says already what is relevant
wild(n_relevant="known").evaluate("recall(rel=2)")
    NotComputableError: recall(rel=2): known counts what is relevant at rel=1 only
wild(n_relevant="known").evaluate("ndcg@5")
    NotComputableError: ndcg@5 needs the grades of all relevant documents, and known only counts them; list them, or
        pass n_relevant=None to take the ideal from the listed rows
    but: wild(n_relevant="known").evaluate("recall", "rr")
wild(grade="clicked", n_relevant="known", rel=VALUE).evaluate("q_measure")
    for: 0, 2
    NotComputableError: q_measure needs the grades of all relevant documents, and known only counts them; list them, or
        pass n_relevant=None to take the ideal from the listed rows
    but: wild(grade="clicked", n_relevant="known", rel=0.5).evaluate("q_measure")
wild().evaluate("ncg(gain={2: 5, 3: 9})@2")
    NotComputableError: ncg(gain={2: 5, 3: 9})@2 needs max_grade=, the highest grade of the scale; the largest grade in
        rating is 3[...]
wild().evaluate("ndcg(gain={0: 0, 1: 1})")
    BadValueError: gain: there is none for the grades 3; add them
wild(grade="wild").evaluate("ndcg(gain='exp')")
    BadValueError: the gain of grade 2000 with gain='exp' overflows where gains are added; rescale it
    but: wild().evaluate("ndcg(gain={0: 0, 1: 1, 3: 3})")
    but: wild().evaluate("ndcg(gain='exp')")
wild(score="flat", ties="best").evaluate("infap")
    NotComputableError: infap is not bounded by ties='best', and rows with equal scores have different judgments; name
        doc= to order equal scores by document, or pass ties='order' to take the frame's order
wild(score="flat", grade="some").evaluate("judged@1")
    NotComputableError: judged@1 is not bounded by ties='worst', and rows with equal scores have different judgments;
        name doc= to order equal scores by document, or pass ties='order' to take the frame's order
wild(score="flat", grade="some", doc="sku", ties="worst").evaluate("judged@1")
    NotComputableError: judged@1 is not bounded by ties='worst', and rows with equal scores have different judgments;
        pass ties='order' to take the frame's order
    but: wild(score="flat", doc="sku").evaluate("infap", "judged@1")
    but: wild(score="flat", grade="some", ties="order").evaluate("judged@1")
"""


WILD = {
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
wild = partial(log, WILD)


def test_not_computable(kind: str) -> None:
    """What the data and conventions do not determine is an error that says what would."""
    check(NOT_COMPUTABLE, globals() | {"wild": partial(wild, kind=kind)})


@pytest.mark.parametrize("asked", ["rr", "precision", "roc_auc"])
def test_values_of_queries_need_a_query(asked: str) -> None:
    """Where no column is the query per_query() has nothing to give a row to, whatever the metric could do without."""
    frame = _log({"clicked": [0, 1, 1, 0]})
    irm = frame.irm(score="bm25", label="clicked", predicted="rating" if asked == "precision" else None)
    said = "the query is missing; name its column with query=, one of 'qid'"
    assert error(lambda: irm.per_query(asked), ColumnError).startswith(said)


@pytest.mark.parametrize("roles", [{"label": "clicked"}, {"value": "clicked"}])
def test_a_column_with_a_role_is_not_offered_for_another(roles: dict[str, str]) -> None:
    """What is missing is looked for among the columns that are left."""
    frame = pl.DataFrame({"user": [1, 2], "clicked": [0, 1], "variant": ["a", "b"]})
    for kind in ("polars", "pandas"):
        irm = IRM(as_kind(frame, kind), arm="variant", **roles)
        assert "did you mean 'user'?" in error(lambda irm=irm: irm.ab_test("success"), ColumnError)
        asked = irm(cluster="user")
        assert "did you mean" not in error(lambda asked=asked: asked.ab_test("success"), ColumnError)


@pytest.mark.parametrize("asked", ["infap", "bpref", "judged@2", "num_nonrel_judged_ret"])
def test_settled_ties_are_no_hindrance(asked: str) -> None:
    """A metric that ties='worst' does not bound is computed where no tie changes it."""
    log = _log({"bm25": [2.0, 1.0, 1.0, 1.0], "rating": [1, 0, 0, 0]}).irm(**ROLES)
    assert log.evaluate(asked)["n"].to_list() == [2]


# Judgments

QRELS = {"qid": [1, 2], "sku": ["a", "b"], "grade": [1, 0]}
LOG = {"sku": ["a", "b", "a", "b"]}


def judged(columns: dict[str, Any] | None = None, /, kind: str = "polars", **named: Any) -> IRM[Any]:
    """Return a log with judgments beside, which are of a kind; in one of its columns None is no column."""
    held = {name: values for name, values in (QRELS | (columns or {})).items() if values is not None}
    qrels = pl.DataFrame({name: pl.Series(values, strict=False) for name, values in held.items()})
    beside = qrels.lazy().map_batches(_read, schema=qrels.schema) if kind == "unread" else as_kind(qrels, kind)
    bare = _plan(LOG) if kind == "unread" else _log(LOG)
    return bare.drop("rating").irm(query="qid", score="bm25", doc="sku").judge(beside, **named)


BAD_JUDGMENTS = r"""
judged({"grade": None}).evaluate("rr")
    ColumnError: judge: the label or grade is missing; name its column with label= or grade=, one of 'qid', 'sku'
judged({"label": [1, 0]}).evaluate("rr")
    ColumnError: both 'label' and 'grade' are columns; pass label='label', grade='grade' to use both (grades are the
        gains, and labels say what is relevant), or name one
judged({"sku": None}).evaluate("rr")
    ColumnError: judge: name the doc column of the judgments with doc=; they have 'qid', 'grade'
judged({"qid": None}).evaluate("rr")
    ColumnError: judge: name the query column of the judgments with query=; they have 'sku', 'grade'
judged(doc="skuu").evaluate("rr")
    ColumnError: judge: doc='skuu' is not among 'qid', 'sku', 'grade'; did you mean 'sku'?
judged(query="qdi").evaluate("rr")
    ColumnError: judge: query='qdi' is not among 'qid', 'sku', 'grade'; did you mean 'qid'?
judged(grade="grades").evaluate("rr")
    ColumnError: judge: grade='grades' is not among 'qid', 'sku', 'grade'; did you mean 'grade'?
judged(label="labels").evaluate("rr")
    ColumnError: judge: label='labels' is not among 'qid', 'sku', 'grade'
judged(label=False).evaluate("rr")
    ColumnError: judge: label=False is not among 'qid', 'sku', 'grade'
judged(grade=5).evaluate("rr")
    ColumnError: judge: grade='5' is not among 'qid', 'sku', 'grade'
judged(query=["qid", "sku"]).evaluate("rr")
    ColumnError: judge: the query is 'qid' in the log and 'qid', 'sku' in the judgments
    but: judged(query="qid", doc="sku", grade="grade").evaluate("rr")
    but: judged({"grade": None, "label": [1, 0]}).evaluate("rr")
judged({"qid": ["1", "2"]}).evaluate("rr")
    BadValueError: qid of the judgments is text, and qid of the log is Int64; give both one type, integers if
        the texts have leading zeros
judged({"qid": [1.0, 2.0]}).evaluate("rr")
    BadValueError: qid of the judgments is Float64, and qid of the log is Int64; give both one type
judged({"sku": [1, 2]}).evaluate("rr")
    BadValueError: sku of the judgments is Int64, and sku of the log is text; give both one type, integers if
        the texts have leading zeros
judged({"sku": ["0a", "0b"]}).evaluate("rr")
    StrangeIdsError: sku: no id of the log is among those of the judgments (the log has 'a', the judgments '0a'); do
        both write ids the same way?
judged({"qid": [11, 12]}).evaluate("rr")
    StrangeIdsError: qid: no id of the log is among those of the judgments (the log has 1, the judgments 11); do both
        write ids the same way?
judged({"sku": [None, "a"]}).evaluate("rr")
    BadValueError: sku (of the judgments): 1 of 2 rows has no document (row 0); drop them
judged({"grade": ["1", "2"]}).evaluate("rr")
    BadValueError: grade: a grade is a number, and this column is text; convert it
judged({"grade": [INF, 2]}).evaluate("rr")
    BadValueError: grade (of the judgments): 1 of 2 rows is infinite (row 0); drop them, or give them finite
        values: inf one above all others, -inf one below
judged({"grade": [1, 2]}, label="grade").evaluate("rr")
    BadValueError: grade (of the judgments): 1 of 2 rows is neither 0 nor 1 (row 1); pass label=None, grade='grade' if
        these are grades, or name the relevant one with positive=
judged({"qid": [1, 2, 1, 2, 1], "sku": ["a", "b", "a", "b", "a"], "grade": [1, 0, 2, 0, 2]}).evaluate("rr")
    BadValueError: grade: 1 pair has two judgments (query and document (1, a), rows 0, 2, 4); keep one of each, or use
        judge(..., several=) if several people judged: 'mean', 'median', 'max' or 'majority'
    but: judged({"qid": [1, 2, 1, 2, 1], "sku": [*"abcdb"], "grade": [1, 0, 2, 0, 1]}).evaluate("rr")
"""


def test_bad_judgments(kind: str) -> None:
    """Judgments that cannot be read or joined are an error in the names of their columns."""
    check(BAD_JUDGMENTS, globals() | {"judged": partial(judged, kind=kind)})


def test_a_judgment_without_a_query(kind: str) -> None:
    """A judgment is of a query: a null there is an error."""
    qrels = as_kind(pl.DataFrame({"query": ["q", None], "doc": ["a", "b"], "grade": [1, 1]}), kind)
    log = pl.DataFrame({"query": ["q"], "doc": ["a"], "score": [1.0]}).irm
    assert error(lambda: log.judge(qrels).evaluate("rr"), BadValueError) == (
        "query (of the judgments): 1 of 2 rows has no query (row 1); drop them"
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
        f"query of the judgments is {told(qrels.dtype)}, and query of the log is {told(log.dtype)}; give both one type"
    )


def test_judgments_about_a_text_that_was_asked_on_several_days() -> None:
    """What tells the searches of a text apart is their segment, and each of them is judged."""
    rows = {"text": [*"aabb"], "day": [1, 2, 1, 2], "place": [0, 0, 0, 0], "doc": [*"dede"], "rank": [1] * 4}
    log, qrels = pl.DataFrame(rows), pl.DataFrame({"text": [*"ab"], "doc": [*"de"], "grade": [1, 1]})
    for others, by in ((["day"], "'day'"), (["day", "place"], "['day', 'place']")):
        assert error(
            lambda others=others: log.irm(query=["text", *others]).judge(qrels).evaluate("rr"), ColumnError
        ) == (
            f"judge: the query is {str(['text', *others])[1:-1]} in the log and 'text' in the judgments; pass by={by} "
            "instead, to judge a query by its text"
        )
    assert log.irm(query="text", by="day").judge(qrels).evaluate("rr")["value"].to_list() == [0.5, 0.5]


def test_judging_without_documents() -> None:
    """Judgments need a document column in the log."""
    log = _log(LOG).drop("rating").irm(query="qid", score="bm25")
    assert error(lambda: log.judge(pl.DataFrame(QRELS)), ColumnError) == (
        "the doc is missing; name its column with doc=, one of 'sku'; did you mean 'sku'?"
    )


@pytest.mark.parametrize("kind", ["polars", "unread"])
def test_columns_of_judgments_are_looked_for_at_once(kind: str) -> None:
    """What is wrong with the columns of judgments is said by judge itself, before anything is read."""
    names = globals() | {"judged": partial(judged, kind=kind)}
    rows = [row for row in refusals_of(BAD_JUDGMENTS, names) if row.cause == "ColumnError"]
    assert {row._replace(call=row.irm).fault(names) for row in rows} == {None}


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
        "rr(rel=3): no grade in relevance reaches rel=3; the largest is 2: set rel= lower"
    )
    assert error(lambda: judged.evaluate("err")) == (
        "err needs max_grade=, the highest grade of the scale; the largest grade in relevance is 2; if 2 is the "
        "highest, ask for 'err(max_grade=2)'"
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
    assert error(lambda: log.evaluate("err")) == (
        f"err needs max_grade=, the highest grade of the scale{largest}"
        + "; if 3 is the highest, ask for 'err(max_grade=3)'" * bool(largest)
    )
    if largest:
        message = error(lambda: log.evaluate("err(max_grade=2)"))
        assert message == "err(max_grade=2): max_grade=2, but the largest grade in rating is 3"


def test_a_label_for_all_and_a_grade() -> None:
    """label=True says that every row is relevant, and leaves no room for a grade."""
    log = _log(LOG).drop("rating").irm(query="qid", score="bm25", doc="sku")
    assert "label=True" in error(lambda: log.judge(pl.DataFrame(QRELS), label=True, grade="grade").evaluate("rr"))


# Before any work


BEFORE = r"""
log(query="qdi").evaluate("rr")
    ColumnError: query='qdi': there is no such column among 'qid', 'bm25', 'rating'; did you mean 'qid'?
log(grade=None).evaluate("rr")
    ColumnError: grade=None was passed, but this call needs the grade; leave grade=None out, or name its column,
        one of 'qid', 'bm25', 'rating'
log(by="bm25").evaluate("rr")
    ColumnError: by='bm25' is the score too; a column can have only one role
log(ties="doc").evaluate("rr")
    ColumnError: ties='doc' orders equal scores by document; name the document column with doc=
log({"rr": [1] * 4}, system="rr").evaluate("rr", layout="wide")
    ColumnError: a column 'rr' for the metric would be twice in the wide result; rename the frame's column
log().evaluate("rr", average="micro")
    NotComputableError: rr has no micro average; measures of the 2x2 table have one, as precision or recall@10
log().evaluate("specificity")
    NotComputableError: specificity counts true negatives, and so needs collection_size=: a number, a column, or True if
        the frame lists all, set before, as search(collection_size=1000)
log().evaluate("tn@2")
    NotComputableError: tn@2 counts true negatives, and so needs collection_size=: a number, a column, or True if the
        frame lists all, set before, as search(collection_size=1000)
log({"clicked": [0, 1, 1, 0]}, grade=None, label="clicked").evaluate("rr(rel=2)")
    NotComputableError: rr(rel=2): rel= is a grade, and clicked says already what is relevant
log({"known": [2, 2, 3, 3]}, n_relevant="known").evaluate("recall(rel=2)")
    NotComputableError: recall(rel=2): known counts what is relevant at rel=1 only
    but: log().evaluate("rr")
"""


@pytest.mark.parametrize("table", [BAD_METRICS, BAD_OPTIONS, BEFORE], ids=["metrics", "options", "columns"])
def test_errors_come_before_the_frame_is_read(table: str) -> None:
    """What can be known to be wrong without the rows is said when it is asked, before a plan is collected."""
    check(table, made_of("unread"), neighbours=False)


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
    assert error(lambda: frame.irm(**{role: ""}).evaluate("num_ret"), ColumnError).startswith(
        f"{role}='': column names must not be empty"
    )
    if role in ("query", "doc", "grade", "label"):
        given: Any = {role: ""}
        log = frame.with_columns(doc=pl.Series(["x", "y"]))
        assert error(lambda: log.irm.judge(log, **given), ColumnError).startswith(
            f"judge: {role}='': column names must not be empty"
        )


@pytest.mark.parametrize("far", [1e299, 1e101, 1e-101, 5e-324])
def test_weights_whose_squares_are_no_numbers_are_refused(far: float) -> None:
    """A sum would be infinite, or the product of two sums 0: so that mcc was 0, and kappa and roc_auc null."""
    rows = pl.DataFrame({"query": [1, 2, 3], "score": [1.0, 1.0, 0.5], "label": [1, 0, 1], "w": [far, far, 0.0]})
    said = error(lambda: rows.irm(weight="w", query=None, threshold=0.75).evaluate("precision"), BadRowsError)
    told = "their squares would be infinite or 0: rescale them, or set them to 0"
    assert said == f"w: 2 of 3 rows are past 1e100 or below 1e-100 (rows 0, 1); {told}"


def test_weights_that_overflow_are_refused() -> None:
    """Their sum would be infinite, and the mean 0."""
    rows = pl.DataFrame({"query": [1, 2], "score": [1.0, 1.0], "label": [1, 0], "w": [1e308, 1e308]})
    said = error(lambda: rows.irm(query="query", weight="w").evaluate("precision"), BadValueError)
    assert said == "w: the weights add up to inf, which overflows in sums; rescale them"
    small = rows.with_columns(w=pl.col("w") / 1e10)
    assert small.irm(query="query", weight="w").evaluate("precision")["value"].item() == 0.5


@pytest.mark.parametrize("scale", [2.0**320, 2.0**-320])
def test_weights_may_be_far_from_one(scale: float) -> None:
    """Up to there the measures of rows, and their intervals, are to the bit what weights near 1 give."""
    rows = pl.DataFrame(
        {"label": [1, 0, 1, 0, 1, 0] * 3, "predicted": [1, 1, 0, 0, 1, 0] * 3, "w": [1.0, 2.0, 3.0] * 6}
    )
    rows = rows.with_columns(score=pl.Series(range(18)) % 7 / 8)
    names = ("precision", "mcc", "kappa", "informedness", "roc_auc", "average_precision", "brier")
    near, far = (
        frame.irm(query=None, weight="w").evaluate(*names, ci=0.9, resamples=20)
        for frame in (rows, rows.with_columns(pl.col("w") * scale))
    )
    assert near.equals(far)


def test_what_was_named_cannot_be_changed_from_outside() -> None:
    """Neither by the list that was given, nor by what `roles` returns."""
    by = ["seg"]
    irm = _log({"seg": [1, 1, 2, 2]}).irm(**ROLES, by=by)
    by.append("bm25")
    irm.roles["by"] = "bm25"
    irm.roles["by"].append("bm25")
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
    assert "'colour'; there are 'query', 'doc'" in error(lambda: _log({}).irm(colour="qid"))  # type: ignore[call-arg]


HUGE = 10**400
LISTS = pl.DataFrame({"query": [1, 2], "a": [["x", "y"], ["z"]], "b": [["y"], ["z", "x"]]})
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


CALLS = r"""
metrics.ndcg("exp")
    BadValueError: ndcg('exp'): name the parameter, as ndcg(gain='exp')
metrics.rbp(0.8)
    BadValueError: rbp(0.8): name the parameter, as rbp(p=0.8)
metrics.ndcg(10)
    BadValueError: ndcg(10): write the cutoff as ndcg@10, or name the parameter, as ndcg(base=10)
metrics.num_ret(3)
    BadValueError: num_ret(3): write the cutoff as num_ret@3
metrics.ndcg(True)
    BadValueError: ndcg(True): none of 'gain', 'discount', 'base' takes that; name one, as ndcg(gain='linear')
metrics.rprec(3)
    BadValueError: rprec(3): it has no parameters
    but: metrics.ndcg(gain="exp")
LOG_OF_TWO.irm("query", "score")
    ColumnError: irm('query', 'score'): name the role of each column, as irm(query='query')
IRM(LOG_OF_TWO, "query")
    ColumnError: irm('query'): name the role of each column, as irm(query='query')
    but: LOG_OF_TWO.irm(query="query")
LOG_OF_TWO.irm.evaluate("rr", by="device")
    ColumnError: by= is set before evaluate(): search(by='device').evaluate(...), with your object for search
LOG_OF_TWO.irm.explain("rr", query=1, rel=2)
    ColumnError: rel= is set before explain(): search(rel=2).explain(...), with your object for search
    but: LOG_OF_TWO.irm(rel=0.5).explain("rr", query=1)
LOG_OF_TWO.irm.evaluate("rr", avrage="macro")
    UnknownNameError: evaluate() has no option 'avrage'; did you mean 'average'?
LOG_OF_TWO.irm.evaluate("ndcg", k=10)
    UnknownNameError: evaluate() has no option 'k'; a cutoff is part of a metric's name, as 'ndcg@10'
LOG_OF_TWO.irm.compare("rr", margins=True)
    UnknownNameError: compare() has no option 'margins'; leave out by= to take all segments together
LOG_OF_TWO.irm.compare("rr", average="q0.95")
    UnknownNameError: compare() has no option 'average'; other averages are those of evaluate(), side by side with by=
LOG_OF_TWO.irm(query=None, label="grade", score="score").confusion(layout="wide")
    UnknownNameError: confusion() has no option 'layout'; pivot() the result
LOG_OF_TWO.irm.evaluate("rr", groupby="device")
    UnknownNameError: evaluate() has no option 'groupby'; set by= before: search(by='device').evaluate(...), with
        your object for search
LOG_OF_TWO.irm.per_query("rr", position="shown")
    UnknownNameError: per_query() has no option 'position'; set rank= before: search(rank='shown').per_query(...), with
        your object for search
LOG_OF_TWO.irm.evaluate("rr", wide=True)
    UnknownNameError: evaluate() has no option 'wide'; did you mean layout='wide'?
LOG_OF_TWO.irm(wide=True)
    UnknownNameError: there is no role or option 'wide'; did you mean layout='wide' of evaluate()?
LOG_OF_TWO.irm.compare("rr", cuped="before")
    UnknownNameError: compare() has no option 'cuped'; did you mean covariate= of ab_test()?
LOG_OF_TWO.irm.evaluate("rr", cuped="before")
    UnknownNameError: evaluate() has no option 'cuped'; did you mean covariate= of ab_test()?
LOG_OF_TWO.irm(query="query", user="who")
    UnknownNameError: there is no role or option 'user'; did you mean cluster=, who asks, or query= where each user has
        one list?
LOG_OF_TWO.irm(query="query", week="who")
    UnknownNameError: there is no role or option 'week'; did you mean arm=?
LOG_OF_TWO.irm(query="query", ranker="who")
    UnknownNameError: there is no role or option 'ranker'; did you mean system=, or team= of interleaved lists?
LOG_OF_TWO.irm(query="query", baseline="who")
    UnknownNameError: there is no role or option 'baseline'; it is an option of compare(), ab_test(), change() and
        others
LOG_OF_TWO.irm.ab_test("rr", control="old")
    UnknownNameError: ab_test() has no option 'control'; did you mean baseline=, the old arm?
LOG_OF_TWO.irm.ab_test("rr", alpha=0.05)
    UnknownNameError: ab_test() has no option 'alpha'; did you mean ci=, which is 1 - alpha?
LOG_OF_TWO.irm.ab_test("rr", ratio=0.5)
    UnknownNameError: ab_test() has no option 'ratio'; did you mean split=?
LOG_OF_TWO.irm.ab_test("rr", sequential=True)
    UnknownNameError: ab_test() has no option 'sequential'; did you mean looks='any'?
LOG_OF_TWO.irm.ab_test("rr", test="welch")
    UnknownNameError: test='welch' is called 't' here
LOG_OF_TWO.irm.compare("rr", test="permutation")
    UnknownNameError: test='permutation' is called 'randomization' here
LOG_OF_TWO.irm.sample_size("rr", mde=0.02)
    UnknownNameError: sample_size() has no option 'mde'; did you mean detect=?
LOG_OF_TWO.irm.sample_size("rr", target=0.02)
    UnknownNameError: sample_size() has no option 'target'; pass detect=
    but: pl.concat([LOG_OF_TWO] * 2).with_columns(s=pl.Series([*"aabb"])).irm(system="s").sample_size("rr", detect=1)
LOG_OF_TWO.irm.compare("rr", unpaired=True)
    UnknownNameError: compare() has no option 'unpaired'; it pairs, and arms with queries of their own are compared by
        ab_test() and change(), of arm=
LOG_OF_TWO.irm.click_judgments(text="query")
    UnknownNameError: click_judgments() has no option 'text'; pass the column of the search text as query_text=
LOG_OF_TWO.irm.srm()
    UnknownVerbError: there is no irm.srm; it is irm.audit(split=...)
LOG_OF_TWO.irm.to_trec("run.txt")
    UnknownVerbError: there is no irm.to_trec; it is frame_metrics.write_run(frame, path)
write_run(LOG_OF_TWO.irm, "run.txt")
    BadValueError: a frame_metrics.IRM is not a frame: its .frame makes it one; frames are DataFrames of [...]
LOG_OF_TWO.irm.power_analysis()
    UnknownVerbError: there is no irm.power_analysis; it is irm.sample_size()
LOG_OF_TWO.irm.trend()
    UnknownVerbError: there is no irm.trend; it is irm.change()
LOG_OF_TWO.irm.evaluate("wins")
    UnknownNameError: there is no metric 'wins'; it is a column of interleaving(), whose metric credits the teams: ask
        for 'clicks'
LOG_OF_TWO.irm.judge(LOG_OF_TWO, relevance="rel")
    UnknownNameError: judge() has no option 'relevance'; did you mean 'grade'?
LOG_OF_TWO.irm.report("page.html", "rr", "map")
    BadValueError: report(): too many positional arguments; pass metrics=['rr', 'map']
    but: LOG_OF_TWO.irm.report(metrics=["rr", "map"])
LOG_OF_TWO.irm.evaluate(metrics=["rr"])
    BadValueError: evaluate(): give metrics without a name, one by one or in a list, as evaluate('f1')
LOG_OF_TWO.irm.judge(LOG_OF_TWO, scale={"a": 1, "b": 0})
    ColumnError: scale= is set before judge(): search(scale={'a': 1, 'b': 0}).judge(...), with your object for search,
        which reads the judgments too
LOG_OF_TWO.irm.explain("rr")
    BadValueError: explain(): missing a required argument: 'query'; query: the query's value, or a tuple of a value for
        each of its columns; a list of these for several queries
LOG_OF_TWO.irm.bounds("map")
    BadValueError: bounds(): missing a required argument: 'of'; of: "ties", [...]; "unjudged", [...]
LOG_OF_TWO.irm.evaluate("rr", proxy="grade")
    UnknownNameError: evaluate() has no option 'proxy'; it is an option of judge(), as irm.judge(qrels, proxy=machine);
        an answer with one label is a query with one document
LOG_OF_TWO.irm.thresholds("precision", at=[0.5])
    UnknownNameError: thresholds() has no option 'at'; it has a row for each score: irm(threshold=0.5).evaluate(...) is
        that of one threshold
LOG_OF_TWO.irm.evaluate("rr", annotator="grade")
    UnknownNameError: evaluate() has no option 'annotator'; it is an option of judge(), as irm.judge(qrels,
        annotator=...)
LOG_OF_TWO.irm(annotator="grade")
    UnknownNameError: there is no role or option 'annotator'; it is an option of judge(), as irm.judge(qrels,
        annotator=...)
LOG_OF_TWO.irm(covariate="grade")
    UnknownNameError: there is no role or option 'covariate'; it is an option of ab_test(), of arms:
        irm(arm=...).ab_test(..., covariate=...)
LOG_OF_TWO.irm(doc=["a", "b"])
    BadValueError: doc=['a', 'b'] is not the name of a column; make one column of them, and name the other one too,
        irm(doc='doc', system='system'): frame.unpivot(['a', 'b'], index=..., variable_name='system', value_name='doc')
        in polars, melt() in pandas
    but: LISTS.unpivot(["a", "b"], index="query", variable_name="system", value_name="doc").irm(doc="doc",
        system="system").judge(LISTS.select("query", doc=pl.col("a").list.first()), label=True).evaluate("rr")
LOG_OF_TWO.irm.judge(LOG_OF_TWO, doc=pl.Series([1]))
    BadValueError: judge: doc=<polars.Series> is not the name of a column; make it a column of the frame, and give its
        name
    but: LOG_OF_TWO.irm.evaluate("rr", layout="wide", average="macro")
    but: LOG_OF_TWO.with_columns(doc=1).irm(scale=None).judge(LOG_OF_TWO.with_columns(doc=1), grade="grade")
"""


def test_what_a_call_does_not_take() -> None:
    """A column, role or parameter in the wrong place is an error that says where it belongs."""
    check(CALLS, globals() | {"write_run": write_run})


@pytest.mark.parametrize("role", ["label", "grade"])
@pytest.mark.parametrize("place", ["rank", "score"])
def test_a_search_that_found_nothing_counts(place: str, role: str) -> None:
    """Its row has no place and no judgment, an error that offers 0 for it; so it is a query with 0, in every mean."""
    columns: dict[str, Any] = {place: [1, 2, None, 1], role: [0, 1, None, 1], "arm": ["a", "a", "a", "b"]}
    frame = pl.DataFrame({"query": [1, 1, 2, 3], "doc": ["x", "y", "none", "x"], **columns})
    roles: dict[str, Any] = {place: place, role: role, "arm": "arm"}
    said = error(lambda: frame.irm(**roles).ab_test("rr", test="z"))
    assert said.endswith(f"(row 2); drop them, or write {role} 0 where the query found nothing")
    assert frame.irm(**roles).audit().filter(severity="error")["message"][0] == said
    irm = frame.with_columns(pl.col(role).fill_null(0)).irm(**roles)
    found = irm.ab_test("success@5", baseline="b", test="z")
    assert found.select("value", "n").row(0) == (0.5, 2)
    assert irm(arm=None).evaluate("success@5")["value"][0] == pytest.approx(2 / 3)


IN_WORDS: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "a word of the scale": ("Exact", {"scale": {"Exact": 1, "Bad": 0}}, "'Bad', whose grade is 0,", "Bad"),
    "no word of grade 0": ("Exact", {"scale": {"Exact": 1}}, "a word with the grade 0 in scale=", "None"),
    "a label of two words": ("yes", {"positive": "yes"}, "a label other than 'yes'", "no"),
}


@pytest.mark.parametrize("name", IN_WORDS)
def test_what_a_search_that_found_nothing_says_in_words(name: str) -> None:
    """Where judgments are words, the error offers a word, and with it the query counts as 0."""
    word, roles, said, other = IN_WORDS[name]
    role = "label" if "positive" in roles else "grade"
    frame = pl.DataFrame({"query": ["a", "b"], "rank": [1, None], role: [word, None]})
    assert error(lambda: frame.irm(**roles).evaluate("rr")).endswith(
        f"drop them, or write {said} where the query found nothing"
    )
    roles = roles if other != "None" else {"scale": roles["scale"] | {other: 0}}
    mended = frame.with_columns(pl.col(role).fill_null(other)).irm(**roles)
    assert mended.evaluate("success@5").select("value", "n").row(0) == (0.5, 2)


def test_rows_without_a_document_where_documents_are_needed() -> None:
    """The error offers doc=None only where the call works without documents; without these rows it does."""
    rows = {"query": ["a", "b"], "doc": ["x", None], "rank": [1, None], "label": ["yes", "no"]}
    irm = pl.DataFrame(rows).irm(positive="yes")
    told = "doc: 1 of 2 rows has no document (row 1); "
    assert error(lambda: irm.evaluate("rr")).startswith(f"{told}pass doc=None where a search showed nothing")
    assert irm(doc=None).evaluate("rr")["n"][0] == 2
    for call in (
        lambda irm: irm.click_judgments("ctr", query_text="query"),
        lambda irm: irm.propensities(query_text="query"),
    ):
        assert error(lambda call=call: call(irm)) == f"{told}drop them, or give them one"
    left = pl.concat([pl.DataFrame(rows).drop_nulls("doc")] * 2).with_columns(search=pl.Series([1, 2]))
    found = left.irm(query="search", positive="yes").click_judgments("ctr", query_text="query")
    assert found["impressions"].to_list() == [2]


RUNS = pl.DataFrame({"query": [1, 1], "doc": ["x", "x"], "run": ["a", "b"], "score": [2.0, 1.0], "grade": [1, 1]})
BESIDE = pl.DataFrame({"query": [1, 1], "doc": ["x", "y"], "a": [2.0, 1.0], "b": [1.0, 2.0], "grade": [1, 0]})
ONE_SYSTEM = r"""
RUNS.irm(system="run").explain("rr", query=1, system="a")
    ColumnError: explain() takes no system, and 'a' is no column of the frame but a value; keep the rows in which run is
        'a' of the result
RUNS.irm(system="run").per_query("rr", system=3)
    ColumnError: per_query() takes no system, and 3 is no column of the frame but a value; keep the rows in which run is
        3 of the result
RUNS.irm(system="run").audit(system="a")
    ColumnError: audit() takes no system, and 'a' is no column of the frame but a value; keep the rows in which run is
        'a' of the frame before .irm
RUNS.lazy().irm.explain("rr", query=1, system="a")
    ColumnError: explain() takes no system, and 'a' is no column of the frame but a value; keep its rows of the frame
        before .irm
BESIDE.irm(score=["a", "b"]).explain("rr", query=1, system="b")
    ColumnError: explain() takes no system; for 'b' alone use irm(score='b').explain(...)
RUNS.irm.explain("rr", query=1, system="run")
    ColumnError: system= is set before explain(): search(system='run').explain(...), with your object for search
RUNS.irm(system="run").explain("rr", query=1, system=pl.col("run"))
    ColumnError: system= is set before explain(): search(system=<polars.Expr>).explain(...), with your object for search
    but: RUNS.irm(system="run").explain("rr", query=1)
    but: BESIDE.irm(score="b").explain("rr", query=1)
"""


def test_one_system_is_asked_of_a_verb() -> None:
    """Its name is a value of a column, or a column of scores, and the error says how to have its rows."""
    check(ONE_SYSTEM, globals())


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
    assert reads(irm, query=True, judgments_optional=True) == ["qid", "bm25"]
    assert "the label or grade is missing" in error(lambda: reads(irm, query=True), ColumnError)


def test_names_of_columns_are_made_texts_once() -> None:
    """Of columns that pandas calls by integers too; what a role holds beside names stays as it is."""
    frame = pd.DataFrame({0: [1, 1], 1: [2.0, 1.0], 2: [0, 1]})
    irm = IRM(frame, query=[0], score=1, label=2, collection_size=10, positive=1)
    assert irm.roles == {"query": ["0"], "score": "1", "label": "2", "collection_size": 10, "positive": 1}
    assert IRM(frame, **irm.roles).evaluate("rr")["value"].tolist() == [0.5]


def test_an_error_has_its_way_out_as_data() -> None:
    """The options to pass are those of the message; a misspelt word, and a name with two meanings, have others."""
    frame = pl.DataFrame({"qid": [1, 1], "docid": ["a", "b"], "sim": [1.0, 2.0], "relevance": [1, 0]})
    with pytest.raises(ColumnError) as lacking:
        frame.irm().evaluate("ndcg@10")
    assert lacking.value.options == {"query": "qid", "score": "sim", "grade": "relevance"}
    assert frame.irm(**lacking.value.options).evaluate("ndcg@10")["n"].to_list() == [1]
    with pytest.raises(ColumnError, match=re.escape("pass by=['qid', 'docid']")) as several:
        frame.irm(**lacking.value.options | {"by": "qid,docid"}).evaluate("rr")
    assert several.value.options == {"by": ["qid", "docid"]}
    with pytest.raises(ColumnError) as misspelt:
        frame.irm(query="qidd").evaluate("rr")
    assert misspelt.value.instead == {"qidd": ["qid"]}
    with pytest.raises(UnknownNameError) as two:
        frame.irm(**lacking.value.options).evaluate("ctr")
    assert two.value.instead == {"ctr": ["success", "precision"]}


@pytest.mark.parametrize("backend", [pl.DataFrame, pd.DataFrame])
def test_decimals_that_floats_cannot_tell_apart_are_refused(backend: Any) -> None:
    """They would be ties in silence; rounded ones are ties, and others keep their order."""
    close = [Decimal("1.00000000000000000001"), Decimal(1), Decimal("0.5"), None]
    frame = backend({"query": [1] * 4, "label": [0, 1, 0, 0], "score": close})
    for irm in (frame.irm(), frame[:3].irm(query=None)):
        said = error(partial(irm.evaluate, "roc_auc"), BadRowsError)
        n = len(irm.frame)
        assert said == (
            f"score: 2 of {n} rows are so close to others that float64 cannot tell them apart (rows 0, 1); round them "
            "to 15 digits, as ties"
        )
    for digits, area in ((15, 0.75), (None, 1.0)):
        scores = [one if one is None or digits is None else round(one, digits) for one in close]
        scores = scores if digits else [Decimal("0.75"), *scores[1:]]
        frame = backend({"label": [0, 1, 0], "score": scores[:3]})
        assert list(frame.irm(query=None).evaluate("roc_auc")["value"]) == [area]
