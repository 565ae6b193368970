"""polars: DataFrames, and LazyFrames, whose answers are plans that have not run."""

from __future__ import annotations

import os
import re
import weakref
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cached_property, partial
from itertools import count
from typing import TYPE_CHECKING, Any

import polars as pl

from frame_metrics.answer import frame_of
from frame_metrics.backends.files import Unchanged
from frame_metrics.backends.pieces import Streamed
from frame_metrics.backends.protocol import Backend, Limits, Request, SeparateJudgments
from frame_metrics.errors import BadValueError, FrameMetricsError, listed, quote
from frame_metrics.hidden import COMPUTED
from frame_metrics.inputs import Array

if TYPE_CHECKING:
    from frame_metrics.answer import Answer


AHEAD = 1 << 30  # bytes that polars may read ahead
FIRST_ROWS = 1000  # rows in which a value is looked for
SLICE = 1 << 18  # rows of a slice, where less than ``AHEAD`` is allowed
SCAN = re.compile(r"(?m)^ *\w+ SCAN\b")  # a node of a plan that reads files, not the name of a column
ENDS = b"PAR1", b"PARE"  # of a Parquet file
PARQUETS = re.compile(r"Parquet SCAN ")  # a plan of Parquet files, which store their number of rows
PARQUET = re.compile(r"Parquet SCAN \[[^,\n]*\]\n")  # a plan of one Parquet file, which can be read in slices


class PolarsFrame(Backend):
    """A polars DataFrame."""

    as_lists = "pl.concat_list({})"

    @property
    def n_rows_in_memory(self) -> int | None:
        return len(self.frame) if isinstance(self.frame, pl.DataFrame) else None

    @cached_property
    def _types(self) -> dict[str, Any]:
        return self._found

    @property
    def _found(self) -> dict[str, Any]:
        return dict(zip(self.frame.columns, self.frame.dtypes, strict=True))

    def names(self) -> list[Any]:
        return [*self._types]

    def check(self, columns: Sequence[str]) -> None:
        super().check(columns)
        for column in columns:
            kind = self._types[column]
            if type(kind).__name__ in ("Object", "Extension"):
                raise BadValueError(
                    f"{column}: the column is {kind}, whose values cannot be compared; make them text or numbers"
                )

    @property
    def unchanged(self) -> bool:
        return self._found == self._types

    def read(self, columns: Sequence[str]) -> pl.DataFrame:
        self.check(columns)
        return frame_of({name: self.frame.get_column(name) for name in columns})  # one by one: select() takes longer

    def types(self, columns: Sequence[str]) -> dict[str, Any]:
        return {name: self._types[name] for name in columns}

    def first_of(self, column: str) -> Any:
        return next(iter(self.frame.get_column(column).head(FIRST_ROWS).drop_nulls()), None)

    def with_columns(self, columns: dict[str, Any]) -> PolarsFrame:
        held = [(one if isinstance(one, pl.Expr) else pl.Series(one)).alias(name) for name, one in columns.items()]
        return replace(self, frame=self.frame.with_columns(held))

    def head_and_height(self, n: int) -> tuple[Backend, int] | None:
        return PolarsFrame(self.frame.head(n)), len(self.frame)

    def to_native(self, answer: Answer) -> pl.DataFrame:
        read = partial(key_values, answer.table, judgments=answer.judgments)
        return frame_of(
            {name: read(answer.source_column(name), at) for name, at in answer.keys.items()} | answer.columns
        )


class LazyPolars(Streamed, PolarsFrame):
    """A polars LazyFrame."""

    _made: Sequence[str] = ()  # the columns that expressions make

    @cached_property
    def _types(self) -> dict[str, Any]:
        """The types of the columns.

        To find them, polars reads parts of the files and remembers them. So the state of the files is noted first.
        """
        with _cut_files_named(self.frame):
            _files_of(self.frame)
            return dict(self.frame.collect_schema())

    @property
    def unchanged(self) -> bool:
        return True

    def read(self, columns: Sequence[str]) -> pl.DataFrame:
        self.check(columns)
        try:
            return self.frame.select(columns).collect()
        except pl.exceptions.ShapeError as error:
            if not self._made:
                raise
            raise BadValueError(
                f"{listed(self._made)}: an expression gives neither a value for each row nor one for all rows"
            ) from error

    def call_function(self, function: Any) -> pl.Expr:
        made = function(self.frame)
        if not isinstance(made, pl.Expr):
            raise BadValueError(
                f"it gives {quote(made)}; of a LazyFrame it has to be an expression, as pl.col('a') > 0"
            )
        return made

    def computed(self, expression: pl.Expr, limits: Limits) -> pl.Expr:
        roots = list(dict.fromkeys(expression.meta.root_names()))
        self.check(roots)
        sample = pl.LazyFrame(schema=self.types(roots)).select(expression.alias(COMPUTED))
        sample.collect_schema()
        if (limits.memory or self._scans) and sample.head(1).explain().startswith("SLICE"):  # which waits for all rows
            raise BadValueError(
                "it looks at other rows too, and those of the frame are read in batches; make it a column of a frame "
                "that was collected, or of the file"
            )
        return expression

    def with_columns(self, columns: dict[str, Any]) -> PolarsFrame:
        made = super().with_columns(columns)
        # The text of the plan as given says how files are read.
        vars(made).update(_plan_text=self._plan_text, _made=[*columns])
        return made

    def head_and_height(self, n: int) -> None:
        return None

    def first_of(self, column: str) -> None:
        return None

    def collected(self, answer: pl.LazyFrame | pl.DataFrame) -> pl.LazyFrame:
        return answer.lazy().collect().lazy()

    def batches(self, columns: Sequence[str], memory: int | None = None) -> Generator[pl.DataFrame, None, None]:
        plan = self.frame.select(columns)
        as_read = self.frame.select(name for name in self._types if name in columns)  # else polars holds twice as much
        if memory is not None and memory < AHEAD and PARQUET.match(self._plan_text):
            yield from _slices(as_read, columns)
            return
        batch, batches = None, as_read.collect_batches(maintain_order=True, engine="streaming")
        for batch in batches:
            yield batch.select(columns)
        _raise_what_ended(batches)
        if batch is None:
            yield plan.collect_schema().to_frame()

    def n_rows(self, column: str) -> int:
        return int(self.frame.select(pl.len()).collect(engine="streaming").item())

    def known_rows(self) -> int | None:
        return self.n_rows("") if PARQUETS.match(self._plan_text) else None

    def with_rows(self, table: pl.DataFrame) -> PolarsFrame:
        return PolarsFrame(table)

    @property
    def _scans(self) -> bool:
        """True if the plan reads files, which may have more rows than fit in memory."""
        return SCAN.search(self._plan_text) is not None

    @cached_property
    def _plan_text(self) -> str:
        """The text in which polars shows the plan before it is optimized."""
        return self.frame.explain(optimized=False)

    def answer(self, request: Request) -> pl.LazyFrame:
        columns = request.columns
        self.check(columns)
        plan, streamed, files = self.frame.select(columns), request.limits.memory or self._scans, _files_of(self.frame)

        def run(table: pl.DataFrame) -> pl.DataFrame:
            with files.kept():
                if streamed:
                    with _cut_files_named(self.frame):
                        return super(LazyPolars, self).answer(request)
                return PolarsFrame(self.read(columns) if self._made else table).answer(request)

        # ``run`` reads the frame itself then: map_batches only needs something to call it once.
        return (pl.LazyFrame({"": [0]}) if streamed or self._made else plan).map_batches(
            run,
            predicate_pushdown=False,
            projection_pushdown=False,
            slice_pushdown=False,
            schema=pl.Schema(request.schema(self.types(columns))),
        )


# The files of each plan, by the plan's id, as plans have no hash. An entry is removed when its plan is deleted.
_FILES: dict[int, tuple[weakref.ref[pl.LazyFrame], Unchanged]] = {}


def _files_of(plan: pl.LazyFrame) -> Unchanged:
    """Return the files that a plan reads, as they were at the first call for this plan."""
    key = id(plan)
    if key not in _FILES or _FILES[key][0]() is not plan:
        scans = re.findall(r"SCAN \[(.*)\]", plan.explain(optimized=False))  # the first of each scan, if there are many
        files = Unchanged([*_paths(plan._ldf.visit()), *(name for names in scans for name in names.split(", "))])
        _FILES[key] = weakref.ref(plan, lambda _: _FILES.pop(key, None)), files
    return _FILES[key][1]


def _paths(nodes: Any) -> Iterator[str]:
    """Yield the paths of the files that a node of a plan, and the nodes below it, scan."""
    with suppress(NotImplementedError):  # of nodes that polars does not show, as scans of Arrow
        yield from map(str, getattr(nodes.view_current_node(), "paths", ()))
    for node in nodes.get_inputs():
        nodes.set_node(node)
        yield from _paths(nodes)


@contextmanager
def _cut_files_named(plan: pl.LazyFrame) -> Iterator[None]:
    """Let an error of polars about a Parquet file that is cut short name the file."""
    try:
        yield
    except pl.exceptions.ComputeError as error:
        if name := _cut_short(plan):
            raise FrameMetricsError(f"{name}: the file is cut short, or is no Parquet; write it again") from error
        raise


def _cut_short(plan: pl.LazyFrame) -> str | None:
    """Return the name of a Parquet file of a plan that has no end, which polars does not name."""
    candidates = (found.decode() for found in re.findall(rb"[\x20-\x7e]+\.(?:parquet|pq)", plan.serialize()))
    # The name may have its length, a byte, in front of it.
    for name in (one for found in candidates for one in (found, found[1:]) if os.path.isfile(one)):
        with open(name, "rb") as file:
            file.seek(-min(len(ENDS[0]), os.path.getsize(name)), os.SEEK_END)
            if file.read() not in ENDS:
                return name
    return None


def _slices(plan: pl.LazyFrame, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
    """Read a Parquet file slice by slice; otherwise polars reads several whole row groups ahead, however large."""
    for start in count(step=SLICE):
        batch = plan.slice(start, SLICE).collect(engine="streaming")
        if len(batch) or not start:
            yield batch.select(columns)
        if len(batch) < SLICE:
            return


def _raise_what_ended(batches: Any) -> None:
    """Raise the error at which batches ended; polars before 2 only prints it when they are deleted."""
    if (reading := getattr(batches, "_fut", None)) is not None:
        batches._fut = None
        reading.result()


def key_values(table: pl.DataFrame, name: str, rows: Array | pl.Series, judgments: SeparateJudgments) -> pl.Series:
    """Return the values of a key column at some rows.

    Parameters
    ----------
    table : the columns of the frame that were read.
    name : the key column.
    rows : row numbers; those past the end of ``table`` are rows of the judgments, and -1 gives null. A Series is
        returned as it is: it holds the values themselves.
    """
    if isinstance(rows, pl.Series):
        return rows
    if name in table.columns:
        values = table[name]
    else:
        values, rows = judgments.key(name), judgments.rows(rows, len(table))
    if values.dtype == pl.Null and name in judgments.columns:
        values = values.cast(judgments.key(name).dtype)
    if len(rows) and int(rows.max()) >= len(values):
        values = pl.concat([values, judgments.key(name).cast(values.dtype)])
    at = pl.Series(rows)
    return values.gather(at.set(at < 0, None)) if len(rows) and int(rows.min()) < 0 else values[at]  # which is faster
