"""Frames larger than memory: read as a stream, and cut into pieces of whole queries, which are measured one by one."""

from __future__ import annotations

import io
import os
import tempfile
from abc import abstractmethod
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from frame_metrics.backends.free_memory import memory_to_use
from frame_metrics.backends.progress import progress
from frame_metrics.backends.protocol import Backend, Gathering, Pieces, Request, same_keys
from frame_metrics.errors import FrameMetricsError, NotComputableError
from frame_metrics.hidden import ORDER, TIMES
from frame_metrics.inputs import Array
from frame_metrics.inputs.records import record

if TYPE_CHECKING:
    from frame_metrics.answer import Answer

MEMORY_FACTOR = 4  # measuring a frame takes about so many times the memory of its needed columns
PIECE = 1 << 20  # rows of a piece, if they are not too large
PARTS_OF_MEMORY = 16  # a piece takes one of these; the rest is for what is read ahead, copied and computed
CATEGORIES = (pl.Categorical, pl.Enum)  # types whose hash is not the hash of their text


class Streamed(Backend):
    """A frame that is read in batches, and whose rows are all held in memory only if they fit."""

    engine_memory = 0  # bytes that the engine which reads it holds by itself

    @abstractmethod
    def batches(self, columns: Sequence[str], memory: int | None = None) -> Generator[pl.DataFrame, None, None]:
        """Read the named columns in batches, in the order of the rows; a frame without rows gives an empty batch.

        Parameters
        ----------
        memory : bytes that are allowed; what is read ahead takes a small part of them. None for no limit.
        """

    @abstractmethod
    def with_rows(self, table: pl.DataFrame) -> Backend:
        """Return the backend of rows that fit in memory; it gives answers as frames of the caller's kind."""

    def counts(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Yield tables of distinct rows, with their counts in a last column ``TIMES``.

        Rows have the order of their first appearance. Several tables may have the same row, each with its part of the
        count.
        """
        yield from map(count_distinct_rows, self.batches(columns))

    def n_rows(self, column: str) -> int:
        """Count the rows; ``column`` is a column that may be read for that."""
        return sum(map(len, self.batches([column])))

    def known_rows(self) -> int | None:
        """Return the number of rows if that is known without reading them, else None."""
        return None

    def in_memory(self, columns: Sequence[str]) -> Backend:
        return self.with_rows(self.read(columns))

    def rows_of(self, columns: Sequence[str], keys: pl.DataFrame) -> pl.DataFrame:
        return pl.concat([same_keys(batch, keys) for batch in self.batches(columns)])

    def answer(self, request: Request) -> Any:
        self.check(request.columns)
        memory = request.limits.memory or memory_to_use()
        whole = _within(self.batches(request.columns, memory), memory // MEMORY_FACTOR)
        if whole is not None:
            return self.with_rows(whole).answer(request)
        if not request.in_pieces:
            raise NotComputableError(
                f"this is computed from the whole frame at once, whose needed columns take more than "
                f"{_in_words(memory // MEMORY_FACTOR)}, a quarter of the memory that is allowed; raise memory= if "
                "there is more, or give it the rows of some queries"
            )
        left = max(memory - self.engine_memory, memory // 2)
        return self.to_native(request.compute(Stream(self, left, request.limits.folder)))

    def to_native(self, answer: Answer) -> Any:
        return self.with_rows(pl.DataFrame() if answer.table is None else answer.table).to_native(answer)


@record
class Stream(Pieces):
    """A streamed frame, with the memory and the temporary folder that may be used to measure it."""

    backend: Streamed
    memory: int  # bytes
    folder: Any  # the path of a folder for temporary files; None for the folder of the system
    ordered: ClassVar[bool] = True

    def types(self, columns: Sequence[str]) -> dict[str, Any]:
        return self.backend.types(columns)

    def gathered(self, gathering: Gathering) -> pl.DataFrame:
        together = gathering.reduce
        # In order if queries are adjacent; else all over again, in buckets.
        for way in (self._ordered_pieces, self._in_buckets):
            done = [pl.DataFrame(schema=gathering.schema)]
            with suppress(QueryNotAdjacent), progress(self.backend.known_rows, " rows") as tick:
                for piece in way(gathering.columns, gathering.keys):
                    done.append(gathering.work(piece))
                    if together is not None and sum(map(len, done[1:])) > PIECE:
                        done = [together(pl.concat(done))]
                        self._check_fits(done[0])
                    tick(len(piece))
                break
        return pl.concat(done) if together is None else together(pl.concat(done))

    def counted(self, columns: Sequence[str]) -> pl.DataFrame:
        tables, new = list[pl.DataFrame](), 0
        for counts in self.backend.counts(columns):
            tables.append(counts)
            new += len(counts)
            if new > PIECE:
                tables, new = [summed(tables)], 0
                self._check_fits(tables[0])
        return summed(tables)

    def _check_fits(self, table: pl.DataFrame) -> None:
        if table.estimated_size() > self.memory // MEMORY_FACTOR:
            raise NotComputableError(
                f"the rows are counted here by their values, and more than {len(table):,} rows differ, which take more "
                f"than {_in_words(self.memory // MEMORY_FACTOR)}, a quarter of the memory that is allowed; round the "
                "scores, or raise memory= if there is more"
            )

    def _ordered_pieces(self, columns: Sequence[str], keys: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Yield pieces of whole queries, in order; raise ``QueryNotAdjacent`` if the rows of one are not."""
        seen = _Seen()
        with closing(self.backend.batches(columns, self.memory)) as batches:
            first = next(batches)
            for piece in _numbered(whole_queries(chain([first], batches), keys, self._rows(first))):
                if keys:
                    seen.add(piece, keys)
                yield piece

    def _rows(self, table: pl.DataFrame) -> int:
        """Return the number of rows that a piece should have, from the size of the rows of a table."""
        each = max(table.estimated_size() / max(len(table), 1), 1)
        return int(min(PIECE, max(self.memory / PARTS_OF_MEMORY / each, 1)))

    def _in_buckets(self, columns: Sequence[str], keys: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Yield pieces of whole queries: the rows are first written to a file, grouped by the hash of their query."""
        with closing(TemporaryFile(self.folder)) as file:
            n_rows = self.backend.n_rows(keys[0])  # counted first: a connection can read only one stream at a time
            batches = _numbered(self.backend.batches(columns, self.memory))
            first = next(batches)
            size = first.estimated_size() / max(len(first), 1) * n_rows
            buckets = Buckets(file, keys, int(size * PARTS_OF_MEMORY // self.memory) + 1, self._rows(first))
            for batch in chain([first], batches):
                buckets.add(batch)
            yield from buckets.pieces()


def _numbered(tables: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Yield the consecutive tables of a frame with a column ``ORDER``, the number of each row in the frame."""
    start = 0
    for table in tables:
        yield table.with_columns(pl.int_range(start, start + pl.len(), dtype=pl.Int64).alias(ORDER))
        start += len(table)


class QueryNotAdjacent(Exception):
    """The rows of a query are not adjacent: it came back after another query had begun."""


class _Seen:
    """The hashes of the queries that were read completely."""

    def __init__(self) -> None:
        self._sorted: list[Array] = []  # sorted arrays, each longer than the next, so that long ones are merged rarely

    def add(self, piece: pl.DataFrame, keys: Sequence[str]) -> None:
        """Add the queries of a piece; raise if one of them begins twice in it, or was added before."""
        new = np.sort(hashes(piece.filter(_begins(keys)), keys))
        if (new[1:] == new[:-1]).any() or any(_shares(known, new) for known in self._sorted):
            raise QueryNotAdjacent
        while self._sorted and len(self._sorted[-1]) <= len(new):
            new = np.sort(np.concatenate([self._sorted.pop(), new]), kind="stable")
        self._sorted.append(new)


def _shares(known: Array, new: Array) -> bool:
    """Return True if some value of ``new`` is in ``known``, a sorted array that is not empty."""
    return bool((known[np.minimum(np.searchsorted(known, new), len(known) - 1)] == new).any())


class Buckets:
    """Rows in a file, grouped into buckets by the hash of their query; the rows of a bucket keep their order.

    Parameters
    ----------
    keys : the columns that identify a query.
    n : number of buckets.
    rows : number of rows that are collected before they are written.
    """

    def __init__(self, file: TemporaryFile, keys: Sequence[str], n: int, rows: int) -> None:
        self._file, self._keys, self._n, self._rows = file, list(keys), n, rows
        self._parts: list[list[tuple[int, int]]] = [[] for _ in range(n)]  # begin and end of each bucket's parts
        self._waiting: list[pl.DataFrame] = []

    def add(self, batch: pl.DataFrame) -> None:
        """Add rows; whenever enough rows are collected, perhaps within a large batch, they are written."""
        for part in batch.iter_slices(self._rows):
            self._waiting.append(part)
            if sum(map(len, self._waiting)) >= self._rows:
                self._write()

    def _write(self) -> None:
        """Write the collected rows, bucket by bucket."""
        rows = pl.concat(self._waiting)
        self._waiting = []
        bucket = hashes(rows, self._keys) % np.uint64(self._n)
        rows, (filled, sizes) = rows[np.argsort(bucket, kind="stable")], np.unique(bucket, return_counts=True)
        ends = np.cumsum(sizes).tolist()
        for number, start, end in zip(filled.tolist(), [0, *ends[:-1]], ends, strict=True):
            part = io.BytesIO()
            rows[start:end].write_ipc_stream(part, compression="lz4")
            self._parts[number].append(self._file.write(part.getvalue()))

    def pieces(self) -> Iterator[pl.DataFrame]:
        """Yield the rows of each bucket that is not empty."""
        if self._waiting:
            self._write()
        for parts in self._parts:
            if parts:
                yield pl.concat([self._read(begin, end) for begin, end in parts])

    def _read(self, begin: int, end: int) -> pl.DataFrame:
        return pl.read_ipc_stream(io.BytesIO(self._file.read(begin, end)))


class TemporaryFile:
    """A file without a name, which disappears with the process, however that ends."""

    def __init__(self, folder: Any) -> None:
        self._folder = folder
        with self._disk_errors():
            self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115  (closed by close)

    def write(self, data: Any) -> tuple[int, int]:
        """Append bytes, and return the positions where they begin and end."""
        begin = self._file.tell()
        with self._disk_errors():
            self._file.write(data)
            self._file.flush()
        return begin, self._file.tell()

    def read(self, begin: int, end: int) -> bytes:
        """Return the bytes between two positions."""
        self._file.seek(begin)
        return self._file.read(end - begin)

    def close(self) -> None:
        """Close the file, which also deletes it."""
        with suppress(OSError):  # from bytes that could not be written
            self._file.close()

    @contextmanager
    def _disk_errors(self) -> Iterator[None]:
        """Replace an error of the system by one that names the folder and says what to do."""
        try:
            yield
        except OSError as error:
            folder = self._folder or tempfile.gettempdir()
            raise FrameMetricsError(
                f"temporary files cannot be written in {folder}: {os.strerror(error.errno or 0)}; "
                "name another folder, temporary=, or sort the frame by query, which then needs none"
            ) from None


def whole_queries(batches: Iterable[pl.DataFrame], keys: Sequence[str], rows: int) -> Iterator[pl.DataFrame]:
    """Cut a stream, in which the rows of a query are adjacent, into pieces of whole queries.

    Parameters
    ----------
    batches : the consecutive rows of the stream.
    keys : the columns that identify a query; none if each row is a query.
    rows : number of rows that a piece should have; a piece with a longer query has more.
    """
    waiting: list[pl.DataFrame] = []
    n = 0
    for batch in batches:
        for part in batch.iter_slices(rows):
            begin = _last_begin(waiting[-1] if waiting else part.clear(), part, keys) if n + len(part) >= rows else None
            if begin is not None and n + begin:
                yield pl.concat([*waiting, part[:begin]])
                waiting, part, n = [], part[begin:], 0
            waiting.append(part)
            n += len(part)
    if n:
        yield pl.concat(waiting)


def _last_begin(before: pl.DataFrame, part: pl.DataFrame, keys: Sequence[str]) -> int | None:
    """Return the row at which the last query of a part begins; None if it began before the part.

    Without keys each row is a query, and the result is the end of the part. ``before``: the rows before the part.
    """
    if not keys:
        return len(part)
    both = pl.concat([before.tail(1).select(keys), part.select(keys)])
    last = int(both.select(_begins(keys)).to_series().arg_true()[-1]) - (len(both) - len(part))
    return last if last >= 0 else None


def _begins(keys: Sequence[str]) -> pl.Expr:
    """Mark the rows at which a query begins: the first, and those whose keys differ from those of the row before."""
    differ = (pl.col(key).ne_missing(pl.col(key).shift()) for key in keys)
    return (pl.int_range(pl.len()) == 0) | pl.any_horizontal(differ)


def hashes(rows: pl.DataFrame, keys: Sequence[str]) -> Array:
    """Return a hash of the query of each row; equal queries have equal hashes in every batch."""
    held = (rows[key].cast(pl.String) if isinstance(rows[key].dtype, CATEGORIES) else rows[key] for key in keys)
    return pl.DataFrame(list(held)).hash_rows().to_numpy()


def count_distinct_rows(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the distinct rows, and their counts in a last column ``TIMES``."""
    return rows.group_by(pl.all(), maintain_order=True).agg(pl.len().cast(pl.Int64).alias(TIMES))


def summed(counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """Add up the counts of equal rows in several tables with a column ``TIMES``."""
    return pl.concat(counts).group_by(pl.exclude(TIMES), maintain_order=True).agg(pl.sum(TIMES))


def _within(batches: Generator[pl.DataFrame, None, None], most: int) -> pl.DataFrame | None:
    """Return all batches as one frame; None if they take more than ``most`` bytes."""
    batches_read: list[pl.DataFrame] = []
    size = 0.0
    with closing(batches):
        for batch in batches:
            batches_read.append(batch)
            size += batch.estimated_size()
            if size > most:
                return None
    return pl.concat(batches_read)


def _in_words(size: int) -> str:
    return f"{size / 1e9:.3g} GB" if size >= 1e9 else f"{size / 1e6:.3g} MB"
