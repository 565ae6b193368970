"""Spark: frames on a cluster. Queries are measured where their rows are; answers are Spark DataFrames."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import polars as pl
from polars import selectors

from frame_metrics import errors
from frame_metrics.backends.arrow import as_polars
from frame_metrics.backends.engine import Engine
from frame_metrics.backends.pieces import whole_queries
from frame_metrics.backends.polars import PolarsFrame
from frame_metrics.backends.protocol import Backend, Gathering, PieceFunction
from frame_metrics.backends.versioned import Sent
from frame_metrics.errors import BadValueError, NotComputableError
from frame_metrics.hidden import HAS_ROW, TIMES

if TYPE_CHECKING:
    from frame_metrics.answer import Answer, DistributedAnswer

PIECE_ROWS = 200_000  # rows that a task works on at a time
DISTINCT = 10_000_000  # the most distinct rows that are counted and brought to the driver
# Types that Spark does not have, and the type that holds their values.
WIDER_TYPES: dict[Any, Any] = {
    pl.UInt8: pl.Int16,
    pl.UInt16: pl.Int32,
    pl.UInt32: pl.Int64,
    pl.UInt64: pl.Int64,
    pl.Int128: pl.Int64,
    pl.Categorical: pl.String,
    pl.Enum: pl.String,
}
PACKED = {"c0": pl.Binary()}
LIMIT = "spark.driver.maxResultSize"
UNSORTED = {"map", "variant"}  # types that Spark does not compare
PACKAGE_ERROR = r"(?ms).*^frame_metrics\.errors\.(\w+): (.*?)(?:\n SQLSTATE: \w+)?\s*\Z"  # compiled where there is one
LACKING = r"(?m)^ModuleNotFoundError: No module named '((?:frame_metrics|numpy|polars|pyarrow)[\w.]*)'"


class SparkFrame(Engine):
    """A Spark DataFrame, classic or of Connect."""

    way_to_make_column = "make it one: frame.selectExpr('*', '-distance as score')"
    brought_here = "toArrow()"
    distributes = True
    ignores_case = True

    @cached_property
    def _fields(self) -> list[Any]:
        return list(self.frame.schema.fields)

    def names(self) -> list[Any]:
        return [field.name for field in self._fields]

    def check(self, columns: Sequence[str]) -> None:
        super().check(columns)
        for field in self._fields:
            if field.name in columns and _kinds(field.dataType) & UNSORTED:
                raise _unreadable(field)

    def types(self, columns: Sequence[str]) -> dict[str, Any]:
        from pyspark.errors import PySparkException
        from pyspark.sql.types import StructType

        self.check(columns)
        fields, types = {field.name: field for field in self._fields}, dict[str, Any]()
        for name in columns:
            try:
                empty = _arrow_schema(StructType([fields[name]])).empty_table()
            except PySparkException:
                raise _unreadable(fields[name]) from None
            types[name] = as_polars(empty).dtypes[0]
        return types

    def read(self, columns: Sequence[str]) -> pl.DataFrame:
        return _named(self.fetched(self._taken(columns)), columns)

    def in_memory(self, columns: Sequence[str]) -> Backend:
        return PolarsFrame(self.read(columns))

    def to_native(self, answer: Answer) -> Any:
        return self.to_spark(PolarsFrame(None).to_native(answer))

    def mapped(self, gathering: Gathering, queries: pl.DataFrame | None = None) -> Any:
        """Run a function on all pieces, and return its tables as a frame of Spark that has not run.

        Parameters
        ----------
        gathering : the function, and the columns and keys of a piece.
        queries : keys of queries that get a row in a piece even if the frame has no rows of them; the column
            ``HAS_ROW`` says which rows are the frame's.
        """
        from pyspark.sql import functions

        taken, names = self._taken(gathering.columns), list(gathering.columns)
        places = [f"c{names.index(key)}" for key in gathering.keys]
        if queries is not None:
            taken = _with_queries(taken, self.to_spark(queries).toDF(*places))
            names.append(HAS_ROW)
        if places:
            # Ids that are equal but for leading zeros come together, so that a piece shows that they may be one query.
            texts = {field.name for field in taken.schema.fields if field.dataType.typeName() == "string"}
            like = [functions.regexp_replace(name, "^0+", "") if name in texts else taken[name] for name in places]
            taken = taken.repartition(*like).sortWithinPartitions(*like, *places)
        spark = _spark_schema(gathering.schema)
        work = partial(_measured, names, gathering.keys, PIECE_ROWS, gathering.work, _arrow_schema(spark))
        return _mapped(taken, work, spark)

    def distributed_frame(self, distributed: DistributedAnswer, types: Mapping[str, Any]) -> Any:
        from pyspark.sql import functions

        one = _spark_schema(PACKED)  # a table, in a row of its own
        asked = Gathering(distributed.columns, distributed.keys, partial(_packed_of, distributed.each), PACKED)
        each = self.mapped(asked, distributed.queries)
        each = each.repartition("c0")  # kept by Spark, so that what is read of it twice is computed once
        facts = _mapped(each, partial(_facts, distributed.facts), one).repartition(1)
        known = _mapped(facts, partial(_known, distributed.known), one).toDF("c1")
        read, made = self.types(distributed.columns), _spark_schema(types)
        kinds = {field.name: field.dataType for field in self._fields if field.name in read}
        for field in made.fields:  # a key is of the frame's own type; a value may be called as another column is
            if types[field.name] == read.get(field.name):
                field.dataType = kinds[field.name]
        both = each.crossJoin(functions.broadcast(known))
        return _mapped(both, partial(_rows, distributed.rows, _arrow_schema(made)), made)

    def counted(self, columns: Sequence[str]) -> pl.DataFrame:
        from pyspark.sql import functions

        taken = self._taken(columns)
        counted = taken.groupBy(*taken.columns).agg(functions.count(functions.lit(1)))
        table = self.fetched(counted.limit(DISTINCT + 1))
        if len(table) > DISTINCT:
            raise NotComputableError(
                f"the rows are counted here by their values, and more than {DISTINCT:,} rows differ, too many for one "
                "machine; round the scores, or name the queries' column, query="
            )
        return _named(table, [*columns, TIMES]).sort(columns)

    def fetched(self, frame: Any) -> pl.DataFrame:
        try:
            return _in_utc(frame.toArrow())
        except Exception as error:  # Spark's, or of what calls Java
            ours = _in_our_words(str(error))
            if ours is None:
                raise
            raise ours from None

    def to_spark(self, table: pl.DataFrame) -> Any:
        """Return a small table as a frame of Spark."""
        schema = _spark_schema(table.schema)
        return self.frame.sparkSession.createDataFrame(_as_arrow(table, _arrow_schema(schema)), schema)

    def _taken(self, columns: Sequence[str]) -> Any:
        """Return the named columns, renamed c0, c1 ...: Spark gives some names a meaning, as those with a dot."""
        self.check(columns)
        numbered = self.frame.toDF(*[f"of{i}" for i in range(len(self._fields))])
        at = [self.names().index(name) for name in columns]
        return numbered.select(*[numbered[f"of{i}"].alias(f"c{to}") for to, i in enumerate(at)])


def _named(table: pl.DataFrame, names: Iterable[str]) -> pl.DataFrame:
    return table.rename(dict(zip(table.columns, names, strict=True)))


def _stored_types(types: Mapping[str, Any]) -> dict[str, Any]:
    """Return for each column the type in which Spark holds its values."""
    return {name: WIDER_TYPES.get(kind.base_type(), kind) for name, kind in types.items()}


def _unreadable(field: Any) -> BadValueError:
    kind = field.dataType.simpleString()
    return BadValueError(f"{field.name}: the column is {kind}, which cannot be read; cast it to another type")


def _in_utc(table: Any) -> pl.DataFrame:
    """Return a table of Arrow from Spark as polars, with times in UTC: Spark gives the session's zone, or UTC."""
    return as_polars(table).with_columns(selectors.datetime(time_zone="*").dt.convert_time_zone("UTC"))


def _as_arrow(table: pl.DataFrame, schema: Any) -> Any:
    """Return a table as Arrow, with the names and types of a schema that Spark reads."""
    held = _named(table.cast(pl.Schema(_stored_types(table.schema))), schema.names)
    return held.to_arrow(compat_level=pl.CompatLevel.oldest()).cast(schema)


def _spark_schema(types: Mapping[str, Any]) -> Any:
    """Return the types of a table as Spark's."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(pl.DataFrame(schema=_stored_types(types)).to_arrow().schema, prefer_timestamp_ntz=True)


def _arrow_schema(schema: Any) -> Any:
    """Return a schema of Spark as one of Arrow, with times in UTC."""
    from pyspark.sql.pandas.types import to_arrow_schema

    return to_arrow_schema(schema, timezone="UTC")


def _mapped(frame: Any, function: Callable[[Iterable[Any]], Iterator[Any]], schema: Any) -> Any:
    """Return the frame of Spark that a function makes from the batches of each partition; it has not run."""
    from pyspark.cloudpickle import dumps

    sent = Sent(function, dumps)

    def task(batches: Iterable[Any]) -> Iterator[Any]:  # which Spark takes apart as it does no other object
        yield from sent(batches)

    return frame.mapInArrow(task, schema)


def _with_queries(rows: Any, queries: Any) -> Any:
    """Return rows, and below them queries without other columns; the last column is True for rows."""
    from pyspark.sql import functions

    marked = [frame.withColumn("row", functions.lit(mark)) for frame, mark in ((rows, True), (queries, False))]
    return marked[0].unionByName(marked[1], allowMissingColumns=True)


def _packed(table: pl.DataFrame) -> bytes:
    """Return a table as bytes."""
    held = io.BytesIO()
    table.write_ipc_stream(held, compression="lz4")
    return held.getvalue()


def _packed_of(work: PieceFunction, piece: pl.DataFrame) -> pl.DataFrame:
    return pl.DataFrame({"c0": [_packed(work(piece))]}, PACKED)


def _unpacked(batches: Iterable[Any]) -> Iterator[list[pl.DataFrame]]:
    """Yield for each row the tables that its cells hold."""
    for batch in batches:
        for row in zip(*batch.columns, strict=True):
            yield [pl.read_ipc_stream(io.BytesIO(value.as_py())) for value in row]


def _facts(work: PieceFunction, batches: Iterable[Any]) -> Iterator[Any]:
    for (table,) in _unpacked(batches):
        yield _batch(work(table))


def _known(known: PieceFunction, batches: Iterable[Any]) -> Iterator[Any]:
    every = [table for (table,) in _unpacked(batches)]
    if every:
        yield _batch(known(pl.concat(every)))


def _batch(table: pl.DataFrame) -> Any:
    """Return a batch of Arrow with one cell, which holds a table."""
    import pyarrow as pa

    return pa.RecordBatch.from_pydict({"c0": pa.array([_packed(table)], pa.binary())})


def _rows(
    rows: Callable[[pl.DataFrame, pl.DataFrame], pl.DataFrame], schema: Any, batches: Iterable[Any]
) -> Iterator[Any]:
    for table, known in _unpacked(batches):
        yield from _as_arrow(rows(table, known), schema).to_batches()


def _measured(
    columns: Sequence[str],
    keys: Sequence[str],
    rows: int,
    work: PieceFunction,
    schema: Any,
    batches: Iterable[Any],
) -> Iterator[Any]:
    """Yield the results of ``work`` on the pieces of one task, as batches of Arrow.

    Parameters
    ----------
    columns : the names of the columns of a batch.
    keys : the columns that identify a query.
    rows : the number of rows that a piece should have.
    work : from a piece to a table.
    schema : of the result, Arrow's.
    batches : the rows of the task, in which the rows of each query are adjacent.
    """
    tables = (_named(_in_utc(table), columns) for table in _tables(batches, rows))
    for piece in whole_queries(tables, keys, rows):
        yield from _as_arrow(work(piece), schema).to_batches()


def _tables(batches: Iterable[Any], rows: int) -> Iterator[Any]:
    """Join batches into tables of at least ``rows`` rows: Spark's are small, and each has the same cost to read."""
    import pyarrow as pa

    waiting: list[Any] = []
    for batch in batches:
        waiting.append(batch)
        if sum(one.num_rows for one in waiting) >= rows:
            yield pa.Table.from_batches(waiting)
            waiting = []
    if waiting:
        yield pa.Table.from_batches(waiting)


def _in_our_words(text: str) -> errors.FrameMetricsError | None:
    """Return an error of this package for the text of an error of Spark; None if there is no such error.

    It is the error of this package that a task raised, or one that explains what Spark refused.
    """
    if LIMIT in text:
        return NotComputableError(
            f"what comes to the driver takes more than {LIMIT} allows: a row for each query and system, or without "
            "queries for each row that differs; set it higher where the session is made, or give fewer queries"
        )
    if "Queries with streaming sources" in text:
        return NotComputableError(
            "a streaming DataFrame has no end to measure; write it to a table or to files, and give what is read there"
        )
    if lacking := re.search(LACKING, text):
        return NotComputableError(
            f"a worker of Spark cannot import {lacking[1]}: install frame_metrics for the Python of the workers, "
            "which PYSPARK_PYTHON names, in the version that is here"
        )
    ours = re.search(PACKAGE_ERROR, text)
    if ours is None or not hasattr(errors, ours[1]):
        return None
    made: errors.FrameMetricsError = getattr(errors, ours[1])(ours[2])
    return made


def _kinds(kind: Any) -> set[str]:
    """Return the names of a type of Spark and of the types inside it."""
    inner = [field.dataType for field in getattr(kind, "fields", ())] + [getattr(kind, "elementType", None)]
    return {kind.typeName()}.union(*(_kinds(one) for one in inner if one is not None))
