"""polars: DataFrames, and LazyFrames, whose answers are plans that have not run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from frame_metrics.border.protocol import Beside, Border, Compute, Schema
from frame_metrics.inputs import Array

if TYPE_CHECKING:
    from frame_metrics.answer import Answer


class PolarsFrame(Border):
    """A polars DataFrame."""

    def names(self) -> list[Any]:
        return list(self.frame.columns)

    def read(self, columns: Sequence[str]) -> pl.DataFrame:
        self.check(columns)
        return self.frame.select(columns)

    def answer(
        self, columns: Sequence[str], compute: Compute, schema: Schema, judgments: Callable[[], Beside]
    ) -> pl.DataFrame:
        table, beside = self.read(columns), judgments()
        return _as_polars(compute(table, beside), table, beside)


class LazyPolars(Border):
    """A polars LazyFrame."""

    def names(self) -> list[Any]:
        return self.frame.collect_schema().names()

    def read(self, columns: Sequence[str]) -> pl.DataFrame:
        self.check(columns)
        return self.frame.select(columns).collect()

    def in_memory(self, columns: Sequence[str]) -> PolarsFrame:
        return PolarsFrame(self.read(columns))

    def at_once(self, answer: pl.LazyFrame) -> pl.LazyFrame:
        return answer.collect().lazy()

    def answer(
        self, columns: Sequence[str], compute: Compute, schema: Schema, judgments: Callable[[], Beside]
    ) -> pl.LazyFrame:
        self.check(columns)
        types = self.frame.select(columns).collect_schema()
        return self.frame.select(columns).map_batches(
            lambda table: _as_polars(compute(table, beside := judgments()), table, beside),
            predicate_pushdown=False,
            projection_pushdown=False,
            slice_pushdown=False,
            schema=pl.Schema(schema(dict(types))),
        )


def _as_polars(answer: Answer, table: pl.DataFrame, beside: Beside) -> pl.DataFrame:
    """Return an answer as a DataFrame.

    Parameters
    ----------
    table : the columns that were read.
    beside : the judgments, for keys of rows past the table's end.
    """
    keys = {n: key_values(answer.source(n), rows, table[answer.source(n)], beside) for n, rows in answer.keys.items()}
    return pl.DataFrame({name: values.rename(name) for name, values in (keys | answer.columns).items()})


def key_values(name: str, rows: Array, own: pl.Series, beside: Beside) -> pl.Series:
    """Return the values of a key column at rows of the frame, or of the judgments past its end; -1 is null.

    Parameters
    ----------
    name : of the column in the frame.
    rows : shape (rows of the result,).
    own : the column.
    """
    if len(rows) and int(rows.max()) >= len(own):
        later = beside.key(name)
        later = later if own.dtype == pl.Null else later.cast(own.dtype)
        own = pl.concat([own.cast(later.dtype), later])
    at = pl.Series(rows)
    return own.gather(at.set(at < 0, None) if len(rows) and int(rows.min()) < 0 else at)
