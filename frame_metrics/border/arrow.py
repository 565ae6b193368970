"""Arrow: whatever exports a stream of it, read to its end; answers are pyarrow Tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from frame_metrics.border.polars import key_values
from frame_metrics.border.protocol import Beside, Border

if TYPE_CHECKING:
    from frame_metrics.answer import Answer


class ArrowFrame(Border):
    """A pyarrow Table, or anything that exports Arrow."""

    def names(self) -> list[Any]:
        return list(self._source().schema.names)

    def read(self, columns: Sequence[str]) -> pl.DataFrame:
        self.check(columns)
        read = pl.from_arrow(self._table(columns))
        return read if isinstance(read, pl.DataFrame) else read.to_frame()

    def in_memory(self, columns: Sequence[str]) -> Border:
        self.check(columns)
        return ArrowFrame(self._table(columns))

    def given_back(self, answer: Answer, table: pl.DataFrame, beside: Beside) -> Any:
        import pyarrow as pa

        out = {}
        for name, rows in answer.keys.items():
            source = answer.source(name)
            column = self.frame.column(source)
            if len(rows) and int(rows.max()) >= len(column):
                out[name] = key_values(table[source], rows, beside).to_arrow().cast(column.type)
            elif pa.types.is_string_view(column.type) or pa.types.is_binary_view(column.type):
                # which Arrow cannot take rows of
                out[name] = pa.array(key_values(table[source], rows, beside).to_list(), type=column.type)
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
