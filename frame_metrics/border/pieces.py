"""Frames larger than memory: read as a stream, cut into pieces of whole queries, which are worked on one by one."""

from __future__ import annotations

import io
import os
import tempfile
from abc import abstractmethod
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from frame_metrics.border.machine import memory_to_use
from frame_metrics.border.progress import progress
from frame_metrics.border.protocol import Border, Gathering, Pieces, Request, same_keys
from frame_metrics.errors import FrameMetricsError, NotComputableError
from frame_metrics.inputs import Array

if TYPE_CHECKING:
    from frame_metrics.answer import Answer

TIMES = "\0times"  # how often a row stands in a frame
HAS_ROW = "\0has row"  # whether it is a row of the frame, in pieces that have queries without any
ORDER = "\0order"  # the number of each row in the whole frame, in pieces of a frame whose rows have an order
HELD = 4  # to work on a frame takes about so many times the memory of its needed columns
PIECE = 1 << 20  # rows of a piece, if they are not too large
PARTS = 16  # of the memory allowed, that pieces may have: what is read ahead, copied and computed is beside them
CATEGORIES = (pl.Categorical, pl.Enum)  # whose hash is not that of their text


class Streamed(Border):
    """A frame that is read in batches, and whose rows are held together only where memory allows it."""

    @abstractmethod
    def batches(self, columns: Sequence[str], memory: int | None = None) -> Generator[pl.DataFrame, None, None]:
        """Read some columns, batch after batch, in the order of the rows; one at least, also of no rows.

        Parameters
        ----------
        memory : bytes that are allowed, of which what is read ahead takes a small part; None for any.
        """

    @abstractmethod
    def held(self, table: pl.DataFrame) -> Border:
        """Return rows that fit in memory as a frame of the kind in which answers are given back."""

    def counts(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Yield rows that differ, and how often each stands; the same may come again.

        In the order of their first appearance; how often is said by the last column, ``TIMES``.
        """
        yield from map(counted, self.batches(columns))

    def n_rows(self, column: str) -> int:
        """Count the rows; ``column`` is one that may be read for it."""
        return sum(map(len, self.batches([column])))

    def known_rows(self) -> int | None:
        """Count the rows where that takes no time beside reading them; None elsewhere."""
        return None

    def in_memory(self, columns: Sequence[str]) -> Border:
        return self.held(self.read(columns))

    def rows_of(self, columns: Sequence[str], keys: pl.DataFrame) -> pl.DataFrame:
        return pl.concat([same_keys(batch, keys) for batch in self.batches(columns)])

    def answer(self, request: Request) -> Any:
        self.check(request.columns)
        memory = request.limits.memory or memory_to_use()
        whole = _within(self.batches(request.columns, memory), memory // HELD)
        if whole is not None:
            return self.held(whole).answer(request)
        if not request.in_pieces:
            raise NotComputableError(
                f"this is computed from the whole frame at once, whose needed columns take more than "
                f"{_in_words(memory // HELD)}, a quarter of the memory that is allowed; raise memory= if there is "
                "more, or give it the rows of some queries"
            )
        return self.given_back(request.compute(Stream(self, memory, request.limits.folder)))

    def given_back(self, answer: Answer) -> Any:
        return self.held(pl.DataFrame() if answer.table is None else answer.table).given_back(answer)


@dataclass(frozen=True, eq=False)
class Stream(Pieces):
    """A streamed frame, and what may be used to work on it."""

    border: Streamed
    memory: int  # bytes
    folder: Any  # the path of one for temporary files; None for the system's own
    ordered: ClassVar[bool] = True

    def types(self, columns: Sequence[str]) -> dict[str, Any]:
        return self.border.types(columns)

    def gathered(self, asked: Gathering) -> pl.DataFrame:
        together = asked.together
        for way in (self._in_order, self._in_buckets):
            done = [pl.DataFrame(schema=asked.schema)]
            with suppress(Returned), progress(self.border.known_rows, " rows") as tick:
                for piece in way(asked.columns, asked.keys):
                    done.append(asked.work(piece))
                    if together is not None and sum(map(len, done[1:])) > PIECE:
                        done = [together(pl.concat(done))]
                        self._check_fits(done[0])
                    tick(len(piece))
                break
        return pl.concat(done) if together is None else together(pl.concat(done))

    def counted(self, columns: Sequence[str]) -> pl.DataFrame:
        held, new = list[pl.DataFrame](), 0
        for counts in self.border.counts(columns):
            held.append(counts)
            new += len(counts)
            if new > PIECE:
                held, new = [summed(held)], 0
                self._check_fits(held[0])
        return summed(held)

    def _check_fits(self, table: pl.DataFrame) -> None:
        if table.estimated_size() > self.memory // HELD:
            raise NotComputableError(
                f"the rows are counted here by their values, and more than {len(table):,} rows differ, which take more "
                f"than {_in_words(self.memory // HELD)}, a quarter of the memory that is allowed; round the scores, or "
                "raise memory= if there is more"
            )

    def _in_order(self, columns: Sequence[str], keys: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Yield the frame in pieces of whole queries; raise where a query returns after others had begun."""
        seen = _Seen()
        with closing(self.border.batches(columns, self.memory)) as batches:
            first = next(batches)
            for piece in _numbered(whole_queries(chain([first], batches), keys, self._rows(first))):
                if keys:
                    seen.add(piece, keys)
                yield piece

    def _rows(self, table: pl.DataFrame) -> int:
        """The number of rows that a piece is to have, by the size of some."""
        each = max(table.estimated_size() / max(len(table), 1), 1)
        return int(min(PIECE, max(self.memory / PARTS / each, 1)))

    def _in_buckets(self, columns: Sequence[str], keys: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Yield the frame in pieces of whole queries, by writing it once in parts."""
        with closing(TemporaryFile(self.folder)) as file:
            n_rows = self.border.n_rows(keys[0])  # counted first: a connection has one stream
            batches = _numbered(self.border.batches(columns, self.memory))
            first = next(batches)
            size = first.estimated_size() / max(len(first), 1) * n_rows
            buckets = Buckets(file, keys, int(size * PARTS // self.memory) + 1, self._rows(first))
            for batch in chain([first], batches):
                buckets.add(batch)
            yield from buckets.pieces()


def _numbered(tables: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Yield tables, one below the other in a frame, with the numbers of their rows there."""
    start = 0
    for table in tables:
        yield table.with_columns(pl.int_range(start, start + pl.len(), dtype=pl.Int64).alias(ORDER))
        start += len(table)


class Returned(Exception):
    """A query came back after other queries had begun: its rows do not stand together."""


class _Seen:
    """The queries that have ended."""

    def __init__(self) -> None:
        self._sorted: list[Array] = []  # their hashes, each array longer than the next, so that few are merged often

    def add(self, piece: pl.DataFrame, keys: Sequence[str]) -> None:
        """Note the queries of a piece; raise where one stands in it twice, or was noted before."""
        new = np.sort(hashes(piece.filter(_begins(keys)), keys))
        if (new[1:] == new[:-1]).any() or any(_shares(known, new) for known in self._sorted):
            raise Returned
        while self._sorted and len(self._sorted[-1]) <= len(new):
            new = np.sort(np.concatenate([self._sorted.pop(), new]), kind="stable")
        self._sorted.append(new)


def _shares(known: Array, new: Array) -> bool:
    """Return True where a value of one sorted array is in another, which has some."""
    return bool((known[np.minimum(np.searchsorted(known, new), len(known) - 1)] == new).any())


class Buckets:
    """Rows by the hash of their query, in a file; rows of a bucket keep their order."""

    def __init__(self, file: TemporaryFile, keys: Sequence[str], n: int, rows: int) -> None:
        self._file, self._keys, self._n, self._rows = file, list(keys), n, rows
        self._parts: list[list[tuple[int, int]]] = [[] for _ in range(n)]  # where those of each bucket stand
        self._held: list[pl.DataFrame] = []

    def add(self, batch: pl.DataFrame) -> None:
        """Add rows; what has gathered is written once there is enough of it, which may be a part of a large batch."""
        for part in batch.iter_slices(self._rows):
            self._held.append(part)
            if sum(map(len, self._held)) >= self._rows:
                self._write()

    def _write(self) -> None:
        """Write what has gathered, bucket by bucket."""
        rows = pl.concat(self._held)
        self._held = []
        bucket = hashes(rows, self._keys) % np.uint64(self._n)
        rows, (filled, sizes) = rows[np.argsort(bucket, kind="stable")], np.unique(bucket, return_counts=True)
        ends = np.cumsum(sizes).tolist()
        for number, start, end in zip(filled.tolist(), [0, *ends[:-1]], ends, strict=True):
            part = io.BytesIO()
            rows[start:end].write_ipc_stream(part, compression="lz4")
            self._parts[number].append(self._file.write(part.getvalue()))

    def pieces(self) -> Iterator[pl.DataFrame]:
        """Yield the rows of each bucket."""
        if self._held:
            self._write()
        for parts in self._parts:
            if parts:
                yield pl.concat([self._read(begin, end) for begin, end in parts])

    def _read(self, begin: int, end: int) -> pl.DataFrame:
        return pl.read_ipc_stream(io.BytesIO(self._file.read(begin, end)))


class TemporaryFile:
    """A file without a name, which is gone with the process however it ends."""

    def __init__(self, folder: Any) -> None:
        self._folder = folder
        with self._told():
            self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115  (closed by close)

    def write(self, data: Any) -> tuple[int, int]:
        """Add some bytes, and return where they begin and end."""
        begin = self._file.tell()
        with self._told():
            self._file.write(data)
            self._file.flush()
        return begin, self._file.tell()

    def read(self, begin: int, end: int) -> bytes:
        """Return the bytes that stand at a place."""
        self._file.seek(begin)
        return self._file.read(end - begin)

    def close(self) -> None:
        """Take the file away."""
        with suppress(OSError):  # of what could not be written
            self._file.close()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Raise an error of the system as one that says where, and the way out."""
        try:
            yield
        except OSError as error:
            folder = self._folder or tempfile.gettempdir()
            raise FrameMetricsError(
                f"temporary files cannot be written in {folder}: {os.strerror(error.errno or 0)}; "
                "name another folder, temporary=, or sort the frame by query, which then needs none"
            ) from None


def whole_queries(batches: Iterable[pl.DataFrame], keys: Sequence[str], rows: int) -> Iterator[pl.DataFrame]:
    """Cut a stream in which the rows of a query stand together into pieces of whole queries.

    Parameters
    ----------
    batches : some rows each.
    keys : the columns that rows of one query agree in; none where each row is a query.
    rows : how many rows a piece is to have; one of a longer query has more.
    """
    held: list[pl.DataFrame] = []
    n = 0
    for batch in batches:
        for part in batch.iter_slices(rows):
            begin = _last_begin(held[-1] if held else part.clear(), part, keys) if n + len(part) >= rows else None
            if begin is not None and n + begin:
                yield pl.concat([*held, part[:begin]])
                held, part, n = [], part[begin:], 0
            held.append(part)
            n += len(part)
    if n:
        yield pl.concat(held)


def _last_begin(before: pl.DataFrame, part: pl.DataFrame, keys: Sequence[str]) -> int | None:
    """The row at which the last query of a part begins, the end where each row is one; None if it began before."""
    if not keys:
        return len(part)
    both = pl.concat([before.tail(1).select(keys), part.select(keys)])
    last = int(both.select(_begins(keys)).to_series().arg_true()[-1]) - (len(both) - len(part))
    return last if last >= 0 else None


def _begins(keys: Sequence[str]) -> pl.Expr:
    """Mark the first row, and those whose query differs from that of the row before."""
    differ = (pl.col(key).ne_missing(pl.col(key).shift()) for key in keys)
    return (pl.int_range(pl.len()) == 0) | pl.any_horizontal(differ)


def hashes(rows: pl.DataFrame, keys: Sequence[str]) -> Array:
    """A hash of the query of each row, the same in every batch."""
    held = (rows[key].cast(pl.String) if isinstance(rows[key].dtype, CATEGORIES) else rows[key] for key in keys)
    return pl.DataFrame(list(held)).hash_rows().to_numpy()


def counted(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the distinct rows, and in a last column, ``TIMES``, how often each stands."""
    return rows.group_by(pl.all(), maintain_order=True).agg(pl.len().cast(pl.Int64).alias(TIMES))


def summed(counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """Return counts added up."""
    return pl.concat(counts).group_by(pl.exclude(TIMES), maintain_order=True).agg(pl.sum(TIMES))


def _within(batches: Generator[pl.DataFrame, None, None], most: int) -> pl.DataFrame | None:
    """All batches in one frame; None where they take more than so many bytes."""
    held: list[pl.DataFrame] = []
    size = 0.0
    with closing(batches):
        for batch in batches:
            held.append(batch)
            size += batch.estimated_size()
            if size > most:
                return None
    return pl.concat(held)


def _in_words(size: int) -> str:
    return f"{size / 1e9:.3g} GB" if size >= 1e9 else f"{size / 1e6:.3g} MB"
