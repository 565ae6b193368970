"""Files: checking names, reading pieces of whole lines, and replacing a file only once the new one is complete."""

from __future__ import annotations

import gzip
import io
import os
import shutil
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import IO, Any

import polars as pl

from frame_metrics.errors import BadValueError, FrameMetricsError, quote

PIECE = 1 << 23  # bytes that are read at once, so that little is unpacked before an error
LONGEST = 100_000  # the most bytes of a line
LINES = 1 << 18  # about so many lines are split at once
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_ONE_COLUMN: Any = {"has_header": False, "quote_char": None, "schema": {"line": pl.String}, "raise_if_empty": False}


def file_name(path: Any) -> str:
    """Return a path as text; raise if it is not text or a path. A number would mean a file that is already open."""
    name = os.fspath(path) if isinstance(path, os.PathLike) else path
    if not isinstance(name, str) or not name or "\0" in name:
        raise BadValueError(f"path={quote(path)} is not the name of a file; give a path as text or os.PathLike")
    return name


class Unchanged:
    """Files with the sizes and the times of their last change when this object was made, to detect later changes.

    Parameters
    ----------
    names : names of files; a name without an existing file is left out.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._were = {name: _stamp(name) for name in names if os.path.isfile(name)}

    def check(self) -> None:
        """Raise for a file that has changed since then, or no longer exists."""
        for name, was in self._were.items():
            if not os.path.isfile(name) or _stamp(name) != was:
                raise FrameMetricsError(
                    f"{name}: the file was changed after it was first looked at, so that numbers would be of both; "
                    "scan it again, or run the command again, once it is whole"
                )

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Raise if a file changed before or during the block; that error then replaces any error from the block."""
        self.check()
        try:
            yield
        except Exception:
            self.check()
            raise
        self.check()


def _stamp(name: str) -> tuple[int, ...]:
    found = os.stat(name)
    return found.st_size, found.st_mtime_ns, found.st_ino


def lines_of(name: str) -> Iterator[tuple[int, pl.DataFrame]]:
    """Yield the lines of a UTF-8 text file, plain or compressed by gzip, many at once.

    Yields
    ------
    The number of lines before these, and these lines as a text column ``line``, null for an empty line.

    Raises
    ------
    FrameMetricsError
        The file is not UTF-8 text, or a line is longer than ``LONGEST``.
    """
    before = 0
    for data in (part for piece in _pieces(name) for part in _parts(piece)):
        if before and not data.strip(b"\r\n"):
            before += data.count(b"\n")
            continue
        try:
            lines = _split(data.removeprefix(BYTE_ORDER_MARK) if before == 0 else data)
        except (StopIteration, pl.exceptions.ComputeError) as error:
            _check_lengths(name, before, data)
            raise _no_text(name) from error
        if lines.select((pl.col("line").str.len_bytes() > LONGEST).any()).item():
            _check_lengths(name, before, data)
        yield before, lines
        before += len(lines)


def _pieces(name: str) -> Iterator[bytes]:
    """Yield the unpacked bytes of a file in pieces of whole lines; a piece may end inside a line that is too long."""
    try:
        with open(name, "rb") as file:
            source = gzip.GzipFile(fileobj=file) if file.peek(2).startswith(b"\x1f\x8b") else file
            read = partial(_whole_lines, source)
            yield read()  # an empty file gives one empty piece
            yield from iter(read, b"")
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise _no_text(name) from error


def _parts(data: bytes) -> Iterator[bytes]:
    """Yield parts of whole lines of a piece; a piece with so many lines that they could fill memory has several."""
    size, start = max(len(data) * LINES // max(data.count(b"\n"), LINES), 1), 0
    while start < len(data) or start == 0:
        end = data.find(b"\n", start + size - 1) + 1 or len(data)
        yield data[start:end]
        start = max(end, 1)


def _whole_lines(source: Any) -> bytes:
    return source.read(PIECE) + source.readline(LONGEST + len("\r\n"))


def _split(data: bytes) -> pl.DataFrame:
    """Return the lines of a piece of text, as a column ``line``."""
    # The fastest splitter of lines that polars has is its CSV reader, given a separator that no line contains. It
    # leaves out a byte order mark before the first line.
    separator = next(chr(code) for code in range(1, 32) if chr(code) not in "\t\n\r" and code not in data)
    data = BYTE_ORDER_MARK + data if data.startswith(BYTE_ORDER_MARK) else data
    return pl.read_csv(data, separator=separator, **_ONE_COLUMN)


def _check_lengths(name: str, before: int, data: bytes) -> None:
    """Raise for the first line that is too long."""
    for number, line in enumerate(io.BytesIO(data), before + 1):
        if len(line.rstrip(b"\r\n")) > LONGEST:
            start = line[:77].decode(errors="replace") + "..."
            raise FrameMetricsError(f"{name}, line {number}: expected at most {LONGEST:,} bytes, got {quote(start)}")


def _no_text(name: str) -> FrameMetricsError:
    return FrameMetricsError(f"{name}: not UTF-8 text, plain or compressed by gzip")


@contextmanager
def replacing(name: str) -> Iterator[IO[bytes]]:
    """Open a new file that replaces the named one once it is complete; after an error it is removed.

    A device, a pipe or a file that cannot be replaced is written directly. If the name is a link, the file that it
    points to is replaced.
    """
    if not _can_be_replaced(name):
        with open(name, "wb") as file:
            yield file
        return
    target = os.path.realpath(name)
    temporary = os.path.join(os.path.dirname(target), f".{os.urandom(8).hex()}.tmp")
    try:
        with open(temporary, "xb") as file:
            yield file
        if os.path.exists(target):
            _hand_over(target, temporary)
        os.replace(temporary, target)
    except BaseException as error:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        if isinstance(error, OSError) and error.filename == temporary:
            error.filename = name  # as the caller knows it
        raise


def _can_be_replaced(name: str) -> bool:
    """Return True for a regular file, or a new name, in a folder where files may be made."""
    is_folder = not os.path.basename(name)
    # A link to a file that this process has open: replacing it would lose what else the process writes to it.
    is_open = os.path.islink(name) and os.path.abspath(name).startswith(("/dev/", "/proc/"))
    may_write = not os.path.exists(name) or (os.path.isfile(name) and os.access(name, os.W_OK))
    folder = os.path.dirname(os.path.realpath(name))
    return not is_folder and not is_open and may_write and os.access(folder, os.W_OK | os.X_OK)


def _hand_over(old: str, new: str) -> None:
    """Give a new file the permissions of an old one, and its owner if that is allowed."""
    if hasattr(os, "chown"):
        with suppress(OSError):
            os.chown(new, os.stat(old).st_uid, os.stat(old).st_gid)
    shutil.copymode(old, new)
