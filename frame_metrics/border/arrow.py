"""Arrow: whatever exports a stream of it, read to its end; answers are pyarrow Tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import polars as pl

from frame_metrics.border.polars import key_values
from frame_metrics.border.protocol import Beside, Border, Compute, Schema


class ArrowFrame(Border):
    """A pyarrow Table, or anything that exports Arrow."""

    def names(self) -> list[Any]:
        return list(self._source().schema.names)

    def read(self, columns: Sequence[str]) -> pl.DataFrame:
        self.check(columns)
        return _as_polars(self._table(columns))

    def in_memory(self, columns: Sequence[str]) -> Border:
        self.check(columns)
        return ArrowFrame(self._table(columns))

    def answer(self, columns: Sequence[str], compute: Compute, schema: Schema, judgments: Callable[[], Beside]) -> Any:
        import pyarrow as pa

        self.check(columns)
        beside, own = judgments(), self._table(columns)
        table = _as_polars(own)
        answer = compute(table, beside)
        out = {}
        for name, rows in answer.keys.items():
            source = answer.source(name)
            column = own.column(source)
            if len(rows) and int(rows.max()) >= len(column):
                out[name] = key_values(source, rows, table[source], beside).to_arrow().cast(column.type)
            elif pa.types.is_string_view(column.type) or pa.types.is_binary_view(column.type):
                # which Arrow cannot take rows of
                values = key_values(source, rows, table[source], beside).to_list()
                out[name] = pa.array(values, type=column.type)
            else:
                out[name] = column.take(pa.array(rows, mask=rows < 0))
        return pa.table(out | {name: values.to_arrow() for name, values in answer.columns.items()})

    def _source(self) -> Any:
        import pyarrow as pa

        return self.frame if isinstance(self.frame, pa.Table) else pa.RecordBatchReader.from_stream(self.frame)

    def _table(self, columns: Sequence[str]) -> Any:
        source = self._source()
        table = source if hasattr(source, "select") else source.read_all()
        return table.select(list(columns))


def _as_polars(table: Any) -> pl.DataFrame:
    read = pl.from_arrow(table)
    return read if isinstance(read, pl.DataFrame) else read.to_frame()
