"""Formats of files: by the ending of a name, or by the first bytes."""

from __future__ import annotations

import gzip
import os
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from frame_metrics.errors import FrameMetricsError

# The file name endings of each format; those of text formats may be followed by .gz.
ENDINGS = {
    "parquet": (".parquet", ".pq"),
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "jsonl": (".jsonl", ".ndjson"),
    "json": (".json",),
    "arrow": (".arrow", ".feather", ".ipc"),
    "run": (".run", ".trec"),
    "qrels": (".qrels", ".qrel"),
}
READ = tuple(ENDINGS)
KNOWN = tuple(endings[0] for endings in ENDINGS.values())
OF_CELLS = {"csv": ",", "tsv": "\t"}
OF_TEXT = (*OF_CELLS, "jsonl", "json")
OF_TREC = ("run", "qrels")
MARKS = {"parquet": b"PAR1", "arrow": b"ARROW1"}  # the first bytes of files of these formats
UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # the first bytes of text in UTF-16
PACKED = b"\x1f\x8b"  # the first bytes of files that gzip packed
PACKED_BY = {"zstd": b"(\xb5/\xfd", "bzip2": b"BZh", "xz": b"\xfd7zXZ", "zip": b"PK\x03\x04"}
FIRST_BYTES = 4096  # first bytes of a file that are looked at


def format_inside(name: str) -> str | None:
    """Return the format of a file: that of its ending, else that which its first bytes or its first line shows.

    Of the two formats of TREC the first line decides, as files of both are called .trec.
    """
    known = format_of(name)
    if known not in (None, *OF_TREC) or not os.path.isfile(name):
        return known
    with unpacked(name) as file:
        first = file.read(FIRST_BYTES).removeprefix(BOM_UTF8).lstrip()
    line = first.partition(b"\n")[0]
    fields = line.split()
    marks = {**MARKS, "json": b"[", "jsonl": b"{"}
    if len(fields) == 6 and fields[3].isdigit():
        return "run"
    if len(fields) == 4 and fields[3].lstrip(b"-").isdigit():
        return "qrels"
    if known:
        return known
    if marked := next((kind for kind, mark in marks.items() if first.startswith(mark)), None):
        return marked
    return next((kind for kind, between in OF_CELLS.items() if between.encode() in line), None)


def packed_by_gzip(name: str) -> bool:
    """Return True for a file that gzip packed, by its first bytes."""
    with open(name, "rb") as file:
        return file.read(len(PACKED)) == PACKED


@contextmanager
def unpacked(name: str) -> Iterator[Any]:
    """Open a file for its bytes, without the packing of gzip; raise if that cannot be read."""
    try:
        with (gzip.open if packed_by_gzip(name) else open)(name, "rb") as file:
            yield file
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise FrameMetricsError(f"{name}: what gzip packed cannot be read: {error}") from None


def format_of(name: str, endings: Mapping[str, tuple[str, ...]] = ENDINGS) -> str | None:
    """Return the format that belongs to the ending of a file name; None if there is none."""
    plain = name.lower().removesuffix(".gz")
    return next((one for one, its in endings.items() if plain.endswith(its)), None)


def check_content(name: str, path: str, kind: str, option: str) -> None:
    """Raise for a file whose content is clearly not of the format in which it would be read."""
    with open(path, "rb") as file:
        first = file.read(FIRST_BYTES)
        file.seek(max(0, os.path.getsize(path) - 4))
        last = file.read()
    found = next((one for one, mark in MARKS.items() if first.startswith(mark)), None)
    if found not in (None, kind):
        way = f"{option} {found}" if option else f"an ending as {ENDINGS[str(found)][0]}"
        raise FrameMetricsError(f"{name}: it is a file of {found}, and cannot be read as {kind}; pass {way}")
    if kind == "parquet" and not (found and last == MARKS["parquet"]):
        raise FrameMetricsError(f"{name}: it is no whole file of parquet, which begins and ends with PAR1")
    if packed := next((program for program, mark in PACKED_BY.items() if first.startswith(mark)), None):
        raise FrameMetricsError(f"{name}: {packed} packed it, and gzip alone is read; unpack it first")
    if kind not in MARKS and first.startswith(UTF_16):
        raise FrameMetricsError(f"{name}: it is not text in UTF-8, and cannot be read as {kind}")
    if kind in OF_TEXT and not first.strip():
        raise FrameMetricsError(f"{name}: the file is empty")
