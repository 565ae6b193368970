"""Runs and judgments as dictionaries of dictionaries, the form of pytrec_eval, ranx and BEIR, made into frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import polars as pl

from frame_metrics.errors import BadValueError, class_name, listed, quote

SHAPES = {"score": "a run is {query: {document: score}}", "grade": "judgments are {query: {document: grade}}"}


def unnested(given: Any, value: str) -> Any:
    """Return a dictionary of dictionaries as a polars DataFrame with the columns query, doc and ``value``.

    Anything else is returned as it is. In a run with a query that found nothing, each row is a query, with lists.

    Parameters
    ----------
    given : {query: {document: value}}, or anything else.
    value : "score" for a run, "grade" for judgments.

    Raises
    ------
    BadValueError
        Some queries have no dictionary of their documents, a document has one, or ids or values have no common type.
    """
    if not isinstance(given, Mapping) or not any(isinstance(docs, Mapping) for docs in given.values()):
        return given
    for query, docs in given.items():
        if not isinstance(docs, Mapping):
            raise BadValueError(f"{SHAPES[value]}, and query {quote(query)} has {quote(docs)}; give it a dict, or none")
        if (deep := next((doc for doc, one in docs.items() if isinstance(one, Mapping)), None)) is not None:
            raise BadValueError(
                f"{SHAPES[value]}, and {quote(deep)} of {quote(query)} has a dict too; give one of them at a time, or "
                "a frame with a column for each level"
            )
    queries = _column("query", [*given])
    docs = _column("doc", [doc for docs in given.values() for doc in docs])
    each = queries.gather([at for at, docs in enumerate(given.values()) for _ in docs])
    table = pl.DataFrame([each, docs, _column(value, [one for docs in given.values() for one in docs.values()])])
    if value == "grade" or all(given.values()):
        return table
    lists = table.group_by("query").agg("doc", value)
    return pl.DataFrame([queries]).join(lists, on="query", how="left", maintain_order="left")


def _column(name: str, values: Sequence[Any]) -> pl.Series:
    """Return values as a column; raise if they have no common type."""
    kinds = sorted({class_name(one) for one in values if one is not None})
    try:
        if len(kinds) > 1 and all(isinstance(one, Real) for one in values if one is not None):
            whole = all(isinstance(one, Integral) for one in values if one is not None)
            values = [one if one is None else int(one) if whole else float(one) for one in values]
        elif len(kinds) > 1:
            raise TypeError
        return pl.Series(name, values)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        raise BadValueError(f"{name}: the values of the dict are {listed(kinds)}; give all of them one type") from None
