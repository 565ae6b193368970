"""Dask: frames in partitions of pandas. Queries are measured in the partitions; answers are frames of Dask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl

from frame_metrics.backends.arrow import DIGITS
from frame_metrics.backends.engine import Engine
from frame_metrics.backends.pandas import PandasFrame, in_pandas_type
from frame_metrics.backends.pieces import count_distinct_rows, hashes, summed
from frame_metrics.backends.protocol import Gathering, PieceFunction
from frame_metrics.backends.versioned import Sent
from frame_metrics.errors import BadValueError, ColumnError, listed
from frame_metrics.hidden import TIMES

if TYPE_CHECKING:
    from frame_metrics.answer import Answer

PLACE = "frame_metrics_place"  # the column by which Dask shuffles rows, so that each query is in one partition


class DaskFrame(Engine):
    """A DataFrame of Dask."""

    way_to_make_column = "make it one: frame.assign(score=-frame['distance'])"
    brought_here = "compute()"

    @cached_property
    def _empty(self) -> PandasFrame:
        return PandasFrame(self.frame._meta)

    def names(self) -> list[Any]:
        return self._empty.names()

    def check(self, columns: Sequence[str]) -> None:
        super().check(columns)
        for name in columns:
            if "__UNKNOWN_CATEGORIES__" in getattr(self._empty.column(name).dtype, "categories", ()):
                raise BadValueError(f"{name}: Dask does not know the column's categories; call categorize() first")

    def types(self, columns: Sequence[str]) -> dict[str, Any]:
        self.check(columns)
        types = self._empty.types(columns)
        return {name: pl.String if kind == pl.Null else kind for name, kind in types.items()}  # of objects, text

    def as_enums(self, rows: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
        return self._empty.as_enums(rows, columns)

    def in_memory(self, columns: Sequence[str]) -> PandasFrame:
        self.check(columns)
        return PandasFrame(self._computed(self._taken(columns)))

    def read(self, columns: Sequence[str]) -> pl.DataFrame:
        return self.in_memory(columns).read(columns)

    def mapped(self, gathering: Gathering) -> Any:
        from cloudpickle import dumps  # type: ignore[import-untyped]
        from dask.delayed import delayed

        types, taken, keys = self.types(gathering.columns), self._taken(gathering.columns), list(gathering.keys)
        if keys and taken.npartitions > 1:
            meta = _with_place(taken._meta, types, keys)
            taken = taken.map_partitions(_with_place, types, keys, meta=meta).shuffle(on=PLACE)
        meta = _as_pandas(pl.DataFrame(schema=pl.Schema(gathering.schema)))
        return taken.map_partitions(_worked, types, delayed(Sent(gathering.work, dumps), traverse=False), meta=meta)

    def counted(self, columns: Sequence[str]) -> pl.DataFrame:
        return summed(
            [self.gathered(Gathering(columns, [], count_distinct_rows, {**self.types(columns), TIMES: pl.Int64()}))]
        )

    def fetched(self, frame: Any) -> pl.DataFrame:
        return pl.from_pandas(self._computed(frame))

    def _computed(self, frame: Any) -> Any:
        """Run a frame of Dask; if a partition lacks a column, the error says so, in place of that of pandas."""
        try:
            return frame.compute()
        except KeyError as error:
            lacking = [name for name in self.names() if repr(self._empty.label(name)) in str(error)]
            if not lacking:
                raise
            raise _lacks(lacking) from None

    def to_native(self, answer: Answer) -> Any:
        from dask.dataframe import from_pandas

        sources = {answer.source_column(name) for name in answer.keys}.union(*answer.classes.values())
        read = answer.table.select(name for name in answer.table.columns if name in sources)
        keys = _as_pandas(read)
        for at, name in enumerate(read.columns):
            if name in self.names():
                keys.isetitem(at, in_pandas_type(keys[name], read[name], self._empty.column(name).dtype))
        keys.columns = [self._empty.label(name) for name in read.columns]
        return from_pandas(PandasFrame(keys).to_native(answer), npartitions=1)  # type: ignore[no-untyped-call]

    def _taken(self, columns: Sequence[str]) -> Any:
        return self.frame[[self._empty.label(name) for name in columns]]


def _lacks(names: Sequence[str]) -> ColumnError:
    problem = f"a partition has no column {listed(names)}, and the frame has; give every partition all columns"
    return ColumnError(problem)


def _read(part: Any, types: Mapping[str, Any]) -> pl.DataFrame:
    """Return a partition as polars, with the types of the whole frame."""
    backend = PandasFrame(part)
    if lacking := [name for name in types if name not in backend.names()]:
        raise _lacks(lacking)
    table = backend.read(list(types))
    for name, kind in types.items():
        dtype = table.schema[name]
        if dtype not in (kind, pl.Null) and not (dtype.is_numeric() and kind.is_numeric()):
            raise BadValueError(
                f"{name}: the column is {backend.column(name).dtype}, and a partition of it holds {dtype}; "
                "set its type with astype()"
            )
    return table.cast(pl.Schema(types))


def _with_place(part: Any, types: Mapping[str, Any], keys: Sequence[str]) -> Any:
    """Return a partition with a column ``PLACE``, the hash of each row's query."""
    return part.assign(**{PLACE: hashes(_read(part, types), keys)})


def _worked(part: Any, types: Mapping[str, Any], work: PieceFunction) -> Any:
    return _as_pandas(work(_read(part, types)))


def _as_pandas(table: pl.DataFrame) -> Any:
    """Return a table as pandas with Arrow types; integers of 128 bits, which Arrow does not have, become decimals."""
    decimal = pl.Decimal(DIGITS, 0)
    held: dict[Any, Any] = dict.fromkeys((pl.Int128, pl.UInt128), decimal)
    held |= {pl.List(kind): pl.List(decimal) for kind in held}
    return table.cast(held).to_pandas(use_pyarrow_extension_array=True)
