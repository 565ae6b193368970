"""Lists in the cells of text files, as JSON or Python writes them."""

from __future__ import annotations

import ast
import json
from collections.abc import Collection, Mapping
from functools import partial
from typing import Any

import polars as pl
import polars.selectors as cs

from frame_metrics.errors import BadValueError, quote
from frame_metrics.roles.series import is_bracketed

FIRST_ROWS, FIRST_CELLS = 1000, 20  # first rows, and their first cells with a value, which show if a column has lists


def lists_in(plan: pl.LazyFrame, ids: Collection[str] = ()) -> dict[str, bool]:
    """Return the columns whose first cells are texts of lists, each with True if the lists have texts.

    Parameters
    ----------
    plan : the rows of a file, whose cells are texts in all or in some columns.
    ids : columns of ids, which are texts if they are written as numbers too.

    Raises
    ------
    BadValueError
        Cells of ids are in brackets, and no lists, as ``"['a' 'b']"``.
    """
    first = {
        cells.name: cells.drop_nulls().head(FIRST_CELLS)
        for cells in plan.select(cs.string()).head(FIRST_ROWS).collect()
    }
    have_texts = {}
    for name, cells in first.items():
        lists = [*map(_list_of, cells)]
        if None not in lists and lists:
            have_texts[name] = name in ids or any(isinstance(one, str) for its in lists for one in its or ())
        elif name in ids and len(cells) and all(map(is_bracketed, cells)):
            raise _no_list(name, cells[lists.index(None)])
    return have_texts


def with_lists(plan: pl.LazyFrame, have_texts: Mapping[str, bool]) -> pl.LazyFrame:
    """Return a plan in which columns of texts of lists are columns of lists; an empty cell is null.

    ``have_texts``: the columns, each with True for lists of texts and False for lists of numbers.
    """
    if not have_texts:
        return plan
    types = {name: pl.List(pl.String if texts else pl.Float64) for name, texts in have_texts.items()}
    schema = pl.Schema({**plan.collect_schema(), **types})
    return plan.map_batches(partial(_parsed, have_texts), schema=schema, streamable=True, validate_output_schema=False)


def _parsed(have_texts: Mapping[str, bool], frame: pl.DataFrame) -> pl.DataFrame:
    """Return rows with lists in the place of their texts; ``have_texts``: as in ``with_lists``."""
    return frame.with_columns(
        _column(frame[name], texts) for name, texts in have_texts.items() if name in frame.columns
    )


def _column(cells: pl.Series, of_texts: bool) -> pl.Series:
    """Return a column of lists of its texts; ``of_texts``: whether they are lists of texts, or of numbers."""
    lists = [_list_of(cell) if cell else [] for cell in cells]
    for cell, its in zip(cells, lists, strict=True):
        if its is None or not (of_texts or all(isinstance(one, int | float) for one in its)):
            raise _no_list(cells.name, cell, "texts" if of_texts else "numbers")
    values = [its and [_text_of(one) for one in its] if of_texts else its for its in lists]
    kind = pl.List(pl.String if of_texts else pl.Float64)
    return pl.Series(cells.name, [its if cell else None for cell, its in zip(cells, values, strict=True)], dtype=kind)


def _text_of(value: Any) -> str:
    """Return the text of an id; a float without a fraction is a whole number, as pandas writes 7.0 beside a null."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _no_list(name: str, cell: str, kind: str = "texts") -> BadValueError:
    """Return the error for a cell that is no list; ``kind``: what the lists of its column hold."""
    example = '["a", "b"]' if kind == "texts" else "[1, 2]"
    return BadValueError(f"{name}: {quote(cell)} is no list of {kind}, as {example}; an empty cell would be none")


def _list_of(cell: str) -> list[Any] | None:
    """Return the list of texts or numbers that JSON or Python has written in a cell; None if it has none."""
    if not is_bracketed(cell):
        return None
    try:
        value = json.loads(cell)
    except ValueError:
        try:
            value = ast.literal_eval(cell.strip())
        except (ValueError, SyntaxError):
            return None
        if repr(value).replace(" ", "") != cell.replace(" ", "").strip():  # as 'ab' of ['a' 'b'], which numpy writes
            return None
    return value if all(isinstance(one, str | int | float) for one in value) else None
