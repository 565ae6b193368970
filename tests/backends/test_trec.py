"""Reading and writing the files of TREC."""

from __future__ import annotations

import gzip
import math
import os
import resource
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import frame_metrics
from frame_metrics import BadRowsError, BadValueError, ColumnError, FrameMetricsError
from helpers import real
from inside import pieces_of, shown_in_errors

RUN_SCHEMA = {"query": pl.String, "doc": pl.String, "score": pl.Float64, "run": pl.String}
RUN_LINES = b"q1 Q0 d7 1 2.5 bm25\nq1 Q0 d3 2 0.5 bm25\nq2 Q0 d7 1 -1e-3 bm25\n"
RUN_ROWS = [("q1", "d7", 2.5, "bm25"), ("q1", "d3", 0.5, "bm25"), ("q2", "d7", -0.001, "bm25")]
QRELS_LINES = b"q1 0 d3 2\nq1 0 d5 0\nq2 0 d7 -1\n"
QRELS_ROWS = [("q1", "d3", 2), ("q1", "d5", 0), ("q2", "d7", -1)]


def packed(lines: bytes) -> bytes:
    """Return lines as gzip packs them, without the time: parameters are the same in every process."""
    return gzip.compress(lines, mtime=0)


ids = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"], exclude_characters="\ufeff"),
    min_size=1,
    max_size=8,
)
queries = ids.filter(lambda query: not query.startswith("#"))
finite = st.floats(allow_nan=False, allow_infinity=False)
int64 = st.integers(-(2**63), 2**63 - 1)


def rows_of(values: st.SearchStrategy[Any], least: int = 0) -> st.SearchStrategy[list[tuple[str, str, Any]]]:
    """Rows of query, document and value; no document stands twice in a query."""
    return st.lists(st.tuples(queries, ids, values), min_size=least, max_size=20, unique_by=lambda row: row[:2])


class StreamOnly:
    """A frame of no known library."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


KINDS = {
    "polars": lambda columns: pl.DataFrame(columns),
    "lazy": lambda columns: pl.LazyFrame(columns),
    "categories": lambda columns: pl.DataFrame(columns).with_columns(pl.col("query", "doc").cast(pl.Categorical)),
    "pandas": lambda columns: pd.DataFrame(columns),
    "pandas, odd index": lambda columns: pd.DataFrame(columns, index=[7] * len(columns["doc"])),
    "pyarrow": lambda columns: pa.table(columns),
    "arrow stream": lambda columns: StreamOnly(pa.table(columns)),
}


def file_of(folder: Path, content: bytes, name: str = "file.txt") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


# Reading


LAYOUTS = {
    "plain": RUN_LINES,
    "no final newline": RUN_LINES[:-1],
    "CRLF": RUN_LINES.replace(b"\n", b"\r\n"),
    "BOM": b"\xef\xbb\xbf" + RUN_LINES,
    "BOM and CRLF": b"\xef\xbb\xbf" + RUN_LINES.replace(b"\n", b"\r\n"),
    "tabs": RUN_LINES.replace(b" ", b"\t"),
    "runs of spaces and tabs": RUN_LINES.replace(b" ", b" \t  "),
    "indented": b"  \t" + RUN_LINES.replace(b"\n", b"\n "),
    "trailing spaces": RUN_LINES.replace(b"\n", b" \t\n"),
    "junk at the end of lines": RUN_LINES.replace(b"\n", b" more\tjunk  at the end\n"),
    "blank lines": b"\n\n" + RUN_LINES.replace(b"\n", b"\n \t \n\n") + b"\n\n",
    "blank lines, CRLF": b"\r\n\r\n" + RUN_LINES.replace(b"\n", b"\r\n\r\n"),
    "a rank that is no number": RUN_LINES.replace(b" 1 ", b" first "),
    "comment first": b"# made by us\n" + RUN_LINES,
    "comment after a BOM": b"\xef\xbb\xbf# made by us\n" + RUN_LINES,
    "comment last": RUN_LINES + b"# the end",
    "comments between": RUN_LINES.replace(b"\n", b"\n#\n# one\n \t# two\r\n\r\n"),
    "comments of six fields": RUN_LINES.replace(b"\n", b"\n# q1 Q0 d7 1 2.5 bm25\n#q9 Q0 d7 1 2.5 bm25\n"),
}


@pytest.mark.parametrize("content", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("pack", [bytes, packed], ids=["as is", "gzip"])
def test_read_run_layouts(tmp_path: Path, content: bytes, pack: Any) -> None:
    got = frame_metrics.read_run(file_of(tmp_path, pack(content)))
    assert got.schema == RUN_SCHEMA
    assert got.rows() == RUN_ROWS


@pytest.mark.parametrize(
    "content",
    [
        QRELS_LINES,
        QRELS_LINES.replace(b"\n", b" \t\r\n"),
        b"\xef\xbb\xbf" + QRELS_LINES,
        b"\n \n" + QRELS_LINES.replace(b" ", b"\t "),
        packed(QRELS_LINES),
        QRELS_LINES.replace(b" 2\n", b" 2.0\n"),
        QRELS_LINES.replace(b" 2\n", b" +2\n"),
        QRELS_LINES.replace(b" 2\n", b" 2e0\n"),
        b"# q9 0 d3\n" + QRELS_LINES.replace(b"\n", b"\n#q9 0 d3 2\n\t#\n") + b"# the end",
        packed(b"# one\n# two\n" + QRELS_LINES + b"#"),
    ],
)
def test_read_qrels_layouts(tmp_path: Path, content: bytes) -> None:
    got = frame_metrics.read_qrels(file_of(tmp_path, content))
    assert got.schema == {"query": pl.String, "doc": pl.String, "grade": pl.Int64}
    assert got.rows() == QRELS_ROWS


@pytest.mark.parametrize(
    ("written", "grades"),
    [
        ("1 0.5", [1.0, 0.5]),
        ("9007199254740993 2.0 9223372036854775807", [2**53 + 1, 2, 2**63 - 1]),
        ("1 9223372036854775808", [1.0, 2.0**63]),
    ],
)
def test_grades_are_floats_where_one_is_no_integer(tmp_path: Path, written: str, grades: list[float]) -> None:
    """One has a fraction, or is beyond 64 bits; integers that no float holds stay as they are."""
    lines = "".join(f"q 0 d{i} {grade}\n" for i, grade in enumerate(written.split()))
    got = frame_metrics.read_qrels(file_of(tmp_path, lines.encode()))
    assert got["grade"].equals(pl.Series(grades))


@pytest.mark.parametrize("content", [b"", b"\n", b" \t\n\r\n", b"\xef\xbb\xbf", packed(b""), b"# no line\n #"])
def test_empty_files_give_empty_frames(tmp_path: Path, content: bytes) -> None:
    path = file_of(tmp_path, content)
    run, qrels = frame_metrics.read_run(path), frame_metrics.read_qrels(path)
    assert (run.rows(), run.schema) == ([], RUN_SCHEMA)
    assert qrels.rows() == []
    assert qrels.schema == {"query": pl.String, "doc": pl.String, "grade": pl.Int64}


def test_ids_are_taken_as_they_stand(tmp_path: Path) -> None:
    odd = ['"', "1#", "'a", "1,2", "null", "NaN", "007", "d\u00a0e", "\x01", "\x1f", "ü", "日本", "🦜"]
    lines = "".join(f"{name} Q0 {name} 1 1 {name}\n" for name in odd)
    got = frame_metrics.read_run(file_of(tmp_path, lines.encode()))
    assert got.rows() == [(name, name, 1.0, name) for name in odd]


def test_only_a_query_makes_a_comment(tmp_path: Path) -> None:
    """Other ids begin with # as they begin with anything else."""
    lines = b"q #Q0 #d #1 2.5 #r # and more\n"
    assert frame_metrics.read_run(file_of(tmp_path, lines)).rows() == [("q", "#d", 2.5, "#r")]
    assert frame_metrics.read_qrels(file_of(tmp_path, b"q #0 #d 1\n")).rows() == [("q", "#d", 1)]
    frame_metrics.write_run(frame_metrics.read_run(file_of(tmp_path, lines)), tmp_path / "again.txt")
    assert (tmp_path / "again.txt").read_bytes() == b"q Q0 #d 1 2.5 #r\n"


@pytest.mark.parametrize(
    ("name", "content", "times"),
    [
        ("run.gz", RUN_LINES, 1),  # compression is told by the content and not by the name
        ("run.txt", packed(RUN_LINES), 1),
        ("members.gz", b"".join(packed(line) for line in RUN_LINES.splitlines(keepends=True)), 1),
        ("run[1].txt", RUN_LINES, 1),  # no pattern, of which run1.txt would be one
        ("twice.txt", RUN_LINES * 2, 2),
    ],
)
def test_files_of_runs_are_read_whole(tmp_path: Path, name: str, content: bytes, times: int) -> None:
    """Whatever they are called and however packed, by a text or a path; lines that stand twice are kept."""
    file_of(tmp_path, b"other Q0 d 1 1 r\n", "run1.txt")
    path = file_of(tmp_path, content, name)
    assert frame_metrics.read_run(path).rows() == frame_metrics.read_run(str(path)).rows() == RUN_ROWS * times


@pytest.mark.parametrize("kind", [pl.DataFrame, pd.DataFrame, pa.Table])
def test_library(tmp_path: Path, kind: type) -> None:
    library: Any = kind.__module__.split(".")[0] if kind is not pa.Table else "pyarrow"
    run = frame_metrics.read_run(file_of(tmp_path, RUN_LINES), library=library)
    qrels = frame_metrics.read_qrels(file_of(tmp_path, QRELS_LINES), library=library)
    assert (type(run), type(qrels)) == (kind, kind)
    assert pl.DataFrame(run).rows() == RUN_ROWS
    assert pl.DataFrame(qrels).rows() == QRELS_ROWS
    assert pl.DataFrame(run)["score"].dtype == pl.Float64
    assert pl.DataFrame(qrels)["grade"].dtype == pl.Int64


@pytest.mark.parametrize("read", [frame_metrics.read_run, frame_metrics.read_qrels])
def test_files_that_are_not_opened(tmp_path: Path, read: Any) -> None:
    """One is not there; another is to be of an unknown library, which is said first."""
    with pytest.raises(FrameMetricsError, match=r"^library='polar' is not one of 'polars', 'pandas', 'pyarrow'"):
        read(tmp_path / "absent.txt", library="polar")
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "absent.txt")


class BytesPath:
    """A path that is no text."""

    def __fspath__(self) -> bytes:
        return b"run.txt"

    def __repr__(self) -> str:
        return "BytesPath()"


@pytest.mark.parametrize("path", [None, 0, 1, True, 1.5, b"run.txt", "", "run\0.txt", ["run.txt"], BytesPath()])
def test_what_is_no_path(path: Any) -> None:
    """A number is no file either, so that nothing waits for the standard input, or writes to the standard output."""
    message = f"path={shown_in_errors(path)} is not the name of a file; give a path as text or os.PathLike"
    frame = pl.DataFrame({**RUN_COLUMNS, "grade": 1})
    for call in (
        lambda: frame_metrics.read_run(path),
        lambda: frame_metrics.read_qrels(path),
        lambda: frame_metrics.write_run(frame, path),
        lambda: frame_metrics.write_qrels(frame, path),
    ):
        with pytest.raises(BadValueError) as caught:
            call()
        assert str(caught.value) == message


def test_ranks_of_a_run(tmp_path: Path) -> None:
    """They are read where that is asked for, as whole numbers, and can be held against the scores."""
    path = file_of(tmp_path, b"# ranks\nq Q0 a 2 0.9 r\nq Q0 b 1 0.1 r\n")
    assert frame_metrics.read_run(path, rank=True).rows() == [("q", "a", 2, 0.9, "r"), ("q", "b", 1, 0.1, "r")]
    judged = (
        frame_metrics.read_run(path, rank=True)
        .irm(rank="rank", score="score")
        .judge(pl.DataFrame({"query": "q", "doc": "b", "grade": 1}))
    )
    assert judged.evaluate("rr")["value"].to_list() == [1.0]
    assert "scores out of rank order" in judged.audit()["check"].to_list()
    assert frame_metrics.read_run(file_of(tmp_path, b""), rank=True).schema["rank"] == pl.Int64
    for rank, line in {"1.5": 2, "first": 2}.items():
        path = file_of(tmp_path, f"q Q0 a 1 2 r\nq Q0 b {rank} 1 r\n".encode())
        with pytest.raises(
            FrameMetricsError, match=f"line {line}: expected a whole number as rank, got 'q Q0 b {rank} 1 r'"
        ):
            frame_metrics.read_run(path, rank=True)
    with pytest.raises(BadValueError, match="rank='rank' is not True or False"):
        frame_metrics.read_run(path, rank="rank")  # type: ignore[call-overload]


SIX = "expected 6 fields, 'query Q0 doc rank score run', got "
FOUR = "expected 4 fields, 'query iter doc grade', got "
SCORE = "expected a finite number as score, got "
GRADE = "expected a finite number as grade, got "


@pytest.mark.parametrize(
    ("read", "content", "message"),
    [
        ("run", b"q Q0 d 1 2.5\n", f"line 1: {SIX}'q Q0 d 1 2.5' (1 such line)"),
        ("run", RUN_LINES + b"\n\r\nq\r\nq Q0 d\n", f"line 6: {SIX}'q' (2 such lines)"),
        ("run", b"\xef\xbb\xbfq 0 d 1\n" * 3, f"line 1: {SIX}'q 0 d 1' (3 such lines)"),
        ("run", b"q Q0 d 1 2 r\rq Q0 e 2 1 r\r", f"line 1: {SIX}'q Q0 d 1 2 r\\rq Q0 e 2 1 r' (1 such line)"),
        ("run", b"query Q0 doc rank score run\n", f"line 1: {SCORE}'query Q0 doc rank score run' (1 such line)"),
        ("run", RUN_LINES + b"q Q0 d 1 nan r\nq Q0 d 1 inf r", f"line 4: {SCORE}'q Q0 d 1 nan r' (2 such lines)"),
        ("run", b"q Q0 d 1 -Infinity r", f"line 1: {SCORE}'q Q0 d 1 -Infinity r' (1 such line)"),
        ("run", b"q Q0 d 1 1e999 r", f"line 1: {SCORE}'q Q0 d 1 1e999 r' (1 such line)"),
        ("run", b"q Q0 d 1 1,5 r", f"line 1: {SCORE}'q Q0 d 1 1,5 r' (1 such line)"),
        ("run", b"q Q0 " + b"d" * 90, f"line 1: {SIX}'q Q0 {'d' * 72}...' (1 such line)"),
        ("run", b"q Q0 " + b"d" * 75, f"line 1: {SIX}'q Q0 {'d' * 75}' (1 such line)"),
        ("qrels", b"q 0 d 1\n\nq 0 d\n", f"line 3: {FOUR}'q 0 d' (1 such line)"),
        ("qrels", RUN_LINES, f"line 1: {FOUR}'q1 Q0 d7 1 2.5 bm25' (3 such lines)"),
        ("qrels", b"q 0 d yes\n", f"line 1: {GRADE}'q 0 d yes' (1 such line)"),
        ("qrels", b"q 0 d nan\n", f"line 1: {GRADE}'q 0 d nan' (1 such line)"),
        ("qrels", packed(b"q 0 d 1\nq 0 d -\n"), f"line 2: {GRADE}'q 0 d -' (1 such line)"),
        ("run", b"# q\n\n#\nq Q0 d\n# q Q0 d\nq\n", f"line 4: {SIX}'q Q0 d' (2 such lines)"),
        ("qrels", b"#\n# q 0 d -\nq 0 d 1\nq 0 d -\n", f"line 4: {GRADE}'q 0 d -' (1 such line)"),
    ],
)
def test_malformed_lines(tmp_path: Path, read: str, content: bytes, message: str) -> None:
    path = file_of(tmp_path, content)
    with pytest.raises(FrameMetricsError) as caught:
        getattr(frame_metrics, f"read_{read}")(path)
    assert str(caught.value) == f"{path}, {message}"


@pytest.mark.parametrize(
    "content",
    [
        "q Q0 größe 1 1 r\n".encode("latin-1"),
        "q Q0 d 1 1 r\n".encode("utf-16"),
        packed(RUN_LINES)[:-9],
        packed(RUN_LINES)[:12] + b"\xff" * 20,
        b"\x1f\x8b",
        bytes(range(32)),
    ],
    ids=["latin-1", "utf-16", "gzip cut short", "gzip damaged", "gzip without content", "binary"],
)
def test_files_that_are_no_text(tmp_path: Path, content: bytes) -> None:
    path = file_of(tmp_path, content)
    with pytest.raises(FrameMetricsError) as caught:
        frame_metrics.read_run(path)
    assert str(caught.value) == f"{path}: not UTF-8 text, plain or compressed by gzip"


@pytest.mark.parametrize("many", [30_000, pytest.param(300_000, marks=pytest.mark.slow)])
def test_many_lines_stay_in_order_and_are_counted_right(tmp_path: Path, many: int) -> None:
    lines = [f"q{i // 1000} Q0 d{i} {i % 1000 + 1} {i / 7} tag" for i in range(many)]
    got = frame_metrics.read_run(file_of(tmp_path, "\n".join(lines).encode()))
    assert got["doc"].to_list() == [f"d{i}" for i in range(many)]
    assert got["score"].to_list() == [i / 7 for i in range(many)]
    lines[many - 5000] = "bad"
    with pytest.raises(FrameMetricsError, match=f"line {many - 4999}: expected 6 fields"):
        frame_metrics.read_run(file_of(tmp_path, "\n".join(lines).encode()))


LONG = "expected at most 100,000 bytes, got "


@pytest.mark.parametrize("pack", [bytes, packed], ids=["as is", "gzip"])
@pytest.mark.parametrize("long", [b"x" * 1_000_000, b"q Q0 d 1 2.5 r " + "ü".encode() * 50_000, b"#" * 100_001])
@pytest.mark.parametrize("size", [None, 10, 100_000])
def test_a_line_that_is_too_long(tmp_path: Path, pack: Any, long: bytes, size: int | None) -> None:
    """The error names the line, wherever a piece of the file ends."""
    path = file_of(tmp_path, pack(RUN_LINES + b"\n" + long + b"\n" + RUN_LINES))
    with pytest.raises(FrameMetricsError) as caught, pieces_of(size):
        frame_metrics.read_run(path)
    assert str(caught.value) == f"{path}, line 5: {LONG}{long[:77].decode() + '...'!r}"


@pytest.mark.parametrize("size", [None, 1, 100_000])
@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_the_longest_line(tmp_path: Path, size: int | None, end: bytes) -> None:
    row = b"q Q0 d 1 2.5 r".ljust(100_000)
    with pieces_of(size):
        got = frame_metrics.read_run(file_of(tmp_path, RUN_LINES + row + (b"\r\n" + row) * 2 + end))
    assert got.rows() == RUN_ROWS + [("q", "d", 2.5, "r")] * 3


@pytest.mark.parametrize(
    ("size", "lines"), [(1, None), (7, None), (40, None), (64, None), (None, 1), (None, 3), (64, 2)]
)
@pytest.mark.parametrize("content", LAYOUTS.values(), ids=LAYOUTS)
def test_pieces_make_the_whole_file(tmp_path: Path, content: bytes, size: int | None, lines: int | None) -> None:
    """Wherever a piece ends, rows, numbers of lines and characters are those of the file."""
    with pieces_of(size, lines):
        assert frame_metrics.read_run(file_of(tmp_path, content)).rows() == RUN_ROWS
        path = file_of(tmp_path, content + b"\nq\n\n#\nq\n" + "\ufeffü Q0 d 1 - r\n".encode() * 2)
        at = content.count(b"\n") + 2
        with pytest.raises(FrameMetricsError) as caught:
            frame_metrics.read_run(path)
        assert str(caught.value) == f"{path}, line {at}: {SIX}'q' (2 such lines)"
        path = file_of(tmp_path, content + "\n\ufeffü Q0 d 1 2.5 r\n".encode() * 3)
        assert frame_metrics.read_run(path).rows() == RUN_ROWS + [("\ufeffü", "d", 2.5, "r")] * 3


@pytest.mark.slow
def test_memory_is_bounded_where_nothing_can_be_read(tmp_path: Path) -> None:
    """Files that unfold to 200 MB take less, and not the 1.6 GB that one took as a whole; one after the other."""
    wrong = [
        (gzip.compress(b"x" * 200_000_000, 1), "line 1: expected at most 100,000 bytes"),
        (b"q Q0 d 1 2.5 r\n" + b"x" * 200_000_000, "line 2: expected at most 100,000 bytes"),
        (gzip.compress((b"#" * 99 + b"\n") * 2_000_000 + b"q\n", 1), "line 2000001: expected 6 fields"),
        (b"\n" * 50_000_000 + b"q\n", "line 50000001: expected 6 fields"),
        (b" \n" * 5_000_000 + b"q\n", "line 5000001: expected 6 fields"),
    ]
    for i, (content, _) in enumerate(wrong):
        tmp_path.joinpath(str(i)).write_bytes(content)
    code = (
        "import resource, polars, frame_metrics\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024\n"
        "before = peak()\n"
        f"for i in range({len(wrong)}):\n"
        "    try:\n"
        f"        frame_metrics.read_run({str(tmp_path)!r} + f'/{{i}}')\n"
        "    except frame_metrics.FrameMetricsError as error:\n"
        "        print(peak() - before, error)\n"
    )
    # A shell starts it, since a process begins with the peak of the one that it comes from. Polars gives memory back at
    # once, so that what is held is measured, and not what is kept for later: up to 80 MB more, in some runs.
    command = ["sh", "-c", '"$0" -c "$1"; exit $?', sys.executable, code]
    at_once = {**os.environ, "_RJEM_MALLOC_CONF": "dirty_decay_ms:0,muzzy_decay_ms:0"}
    printed = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, env=at_once).stdout.splitlines()
    for line, (_, message) in zip(printed, wrong, strict=True):
        taken, error = line.split(" ", 1)
        assert message in error
        assert int(taken) < 120, f"{taken} MB"


def test_many_lines_packed_are_those_lines(tmp_path: Path) -> None:
    """What gzip packs has every byte in it; a U+FEFF before the first line is dropped from what was packed."""
    lines = "".join(f"q{i} Q0 d{i * 7919 % 5000} 1 {i / 7} tag\n" for i in range(5000))
    content = packed(f"\ufeff{lines}".encode())
    assert set(content) >= set(range(32))
    got = frame_metrics.read_run(file_of(tmp_path, content))
    assert got.equals(frame_metrics.read_run(file_of(tmp_path, lines.encode())))
    assert got["query"].to_list() == [f"q{i}" for i in range(5000)]


# Real files, and another reader


def named(name: str, folder: Path) -> Path:
    """A file of the real data, or one with these lines."""
    lines = {"our run": RUN_LINES, "our qrels": QRELS_LINES}
    return file_of(folder, lines[name]) if name in lines else real(name)


@pytest.mark.parametrize("name", ["our run", "trec_eval/results.test", "cacm/run.bm25.txt"])
def test_real_runs_read_as_pytrec_eval_reads_them(name: str, tmp_path: Path) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    path = named(name, tmp_path)
    got = frame_metrics.read_run(path)
    with path.open() as file:
        theirs = pytrec_eval.parse_run(file)
    assert nested(got, "score") == theirs
    assert len(got) == sum(map(len, theirs.values()))


@pytest.mark.parametrize(
    "name", ["our qrels", "trec_eval/qrels.test", "trec_eval/qrels.rel_level", "cacm/qrels.cacm.txt"]
)
def test_real_qrels_read_as_pytrec_eval_reads_them(name: str, tmp_path: Path) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    path = named(name, tmp_path)
    got = frame_metrics.read_qrels(path)
    with path.open() as file:
        assert nested(got, "grade") == pytrec_eval.parse_qrel(file)


def test_real_run_with_junk_at_the_end_of_lines() -> None:
    path = real("trec_eval", "results.trunc")
    fields = [line.split() for line in path.read_text().splitlines()]
    assert any(len(line) > 6 for line in fields)
    assert frame_metrics.read_run(path).rows() == [(f[0], f[2], float(f[4]), f[5]) for f in fields]


@pytest.mark.parametrize("name", ["our run", "trec_eval/results.test", "trec_eval/results.trunc", "cacm/run.bm25.txt"])
def test_real_runs_survive_a_round_trip(tmp_path: Path, name: str) -> None:
    run = frame_metrics.read_run(named(name, tmp_path))
    frame_metrics.write_run(run, tmp_path / "again.txt")
    assert frame_metrics.read_run(tmp_path / "again.txt").equals(run)


def nested(frame: pl.DataFrame, value: str) -> dict[str, dict[str, Any]]:
    out: dict[str, dict[str, Any]] = {}
    for query, doc, cell in frame.select("query", "doc", value).iter_rows():
        out.setdefault(query, {})[doc] = cell
    return out


# Writing


RUN_COLUMNS = {"query": ["q1", "q1", "q2"], "doc": ["d3", "d7", "d3"], "score": [0.5, 2.5, 1e-5], "run": ["r"] * 3}
RUN_WRITTEN = b"q1 Q0 d3 2 0.5 r\nq1 Q0 d7 1 2.5 r\nq2 Q0 d3 1 0.00001 r\n"
QRELS_COLUMNS = {"query": ["q1", "q1", "q2"], "doc": ["d3", "d7", "d3"], "grade": [2, 0, -1]}
QRELS_WRITTEN = b"q1 0 d3 2\nq1 0 d7 0\nq2 0 d3 -1\n"


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_write_from_every_kind_of_frame(tmp_path: Path, make: Any) -> None:
    frame_metrics.write_run(make(RUN_COLUMNS), tmp_path / "run.txt")
    frame_metrics.write_qrels(make(QRELS_COLUMNS), str(tmp_path / "qrels.txt"))
    assert (tmp_path / "run.txt").read_bytes() == RUN_WRITTEN
    assert (tmp_path / "qrels.txt").read_bytes() == QRELS_WRITTEN


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_nulls_are_not_written(tmp_path: Path, make: Any) -> None:
    frame_metrics.write_run(make({**RUN_COLUMNS, "score": [None, 2.5, 1.0]}), tmp_path / "run.txt")
    frame_metrics.write_qrels(make({**QRELS_COLUMNS, "grade": [2, None, 0]}), tmp_path / "qrels.txt")
    assert (tmp_path / "run.txt").read_bytes() == b"q1 Q0 d7 1 2.5 r\nq2 Q0 d3 1 1.0 r\n"
    assert (tmp_path / "qrels.txt").read_bytes() == b"q1 0 d3 2\nq2 0 d3 0\n"


def test_rows_that_are_not_written_may_hold_anything(tmp_path: Path) -> None:
    frame = pl.DataFrame({"query": ["q", None], "doc": ["d", "a b"], "score": [1.0, None], "run": ["r", "other"]})
    frame_metrics.write_run(frame, tmp_path / "run.txt")
    assert (tmp_path / "run.txt").read_bytes() == b"q Q0 d 1 1.0 r\n"


def test_pandas_columns_of_objects_and_categories(tmp_path: Path) -> None:
    frame = pd.DataFrame({"query": [1, 2, 2], "doc": ["a", "b", "c"], "grade": [3, None, 0.5]})
    frame = frame.astype({"query": "category", "doc": object})
    frame_metrics.write_qrels(frame, tmp_path / "qrels.txt")
    assert (tmp_path / "qrels.txt").read_bytes() == b"1 0 a 3\n2 0 c 0.5\n"


@pytest.mark.parametrize(
    ("column", "values", "plain"),
    [
        ("doc", pd.Series(["a", 7, "b"], dtype=object), ["a", "7", "b"]),
        ("query", pd.Series([30, 10, 20]).astype(pd.CategoricalDtype([10, 20, 30], ordered=True)), [30, 10, 20]),
        ("grade", pd.Series([1, 3, None]).astype(pd.CategoricalDtype([1, 2, 3], ordered=True)), [1, 3, None]),
    ],
)
def test_odd_pandas_columns_are_written_by_value(tmp_path: Path, column: str, values: Any, plain: list[Any]) -> None:
    """Objects and ordered categories are written as the values that they hold."""
    for name, column_values in (("odd", values), ("plain", pd.Series(plain))):
        frame_metrics.write_qrels(pd.DataFrame({**QRELS_COLUMNS, column: column_values}), tmp_path / name)
    assert (tmp_path / "odd").read_bytes() == (tmp_path / "plain").read_bytes()


def test_columns_by_other_names(tmp_path: Path) -> None:
    columns = {"rank": ["q", "q"], "number": ["a", "b"], "row": [1.0, 2.0], "query": ["tag", "tag"], "grade": [1, 0]}
    frame = pl.DataFrame(columns)
    frame_metrics.write_run(frame, tmp_path / "run.txt", query="rank", doc="number", score="row", run="query")
    frame_metrics.write_qrels(frame, tmp_path / "qrels.txt", query="rank", doc="number", grade="row")
    assert (tmp_path / "run.txt").read_bytes() == b"q Q0 a 2 1.0 tag\nq Q0 b 1 2.0 tag\n"
    assert (tmp_path / "qrels.txt").read_bytes() == b"q 0 a 1\nq 0 b 2\n"


def test_integer_ids_and_scores(tmp_path: Path) -> None:
    frame = pl.DataFrame({"query": [1, 1], "doc": [10, 9], "score": [3, 3]})
    frame_metrics.write_run(frame, tmp_path / "run.txt", run="tag")
    assert (tmp_path / "run.txt").read_bytes() == b"1 Q0 10 2 3 tag\n1 Q0 9 1 3 tag\n"


@pytest.mark.parametrize(
    ("grade", "written"),
    [
        (pl.Series([1.0, 0.5, -2.0]), ["1", "0.5", "-2"]),
        (pl.Series([1, 0, 2], dtype=pl.UInt8), ["1", "0", "2"]),
        (pl.Series([True, False, True]), ["1", "0", "1"]),
        (pl.Series([2**63 - 1, 2**53 + 1, 0]), ["9223372036854775807", "9007199254740993", "0"]),
        (pl.Series([2**64 - 1, 1, 0], dtype=pl.UInt64), ["18446744073709551615", "1", "0"]),
        (pl.Series(["1.50", "2.00", "0.00"]).cast(pl.Decimal(10, 2)), ["1.5", "2", "0"]),
    ],
)
def test_grades_are_written_as_integers_where_whole(tmp_path: Path, grade: pl.Series, written: list[str]) -> None:
    frame_metrics.write_qrels(pl.DataFrame({"query": "q", "doc": ["a", "b", "c"], "grade": grade}), tmp_path / "q.txt")
    assert [line.split()[3] for line in (tmp_path / "q.txt").read_text().splitlines()] == written


@pytest.mark.parametrize("write", [frame_metrics.write_run, frame_metrics.write_qrels])
def test_empty_frames_give_empty_files(tmp_path: Path, write: Any) -> None:
    columns = ["query", "doc", "score", "grade", "run"]
    for frame in (
        pl.DataFrame(schema=dict.fromkeys(columns, pl.Null)),
        pl.DataFrame(schema={**RUN_SCHEMA, "grade": int}),
    ):
        write(frame, tmp_path / "empty.txt")
        assert (tmp_path / "empty.txt").read_bytes() == b""
    frame_metrics.write_run(pl.DataFrame(schema=RUN_SCHEMA).drop("run"), tmp_path / "empty.txt", run="tag")
    assert (tmp_path / "empty.txt").read_bytes() == b""


def test_gzip_by_suffix_and_the_same_bytes_every_time(tmp_path: Path) -> None:
    frame = pl.DataFrame(RUN_COLUMNS)
    frame_metrics.write_run(frame, tmp_path / "run.txt.gz")
    first = (tmp_path / "run.txt.gz").read_bytes()
    frame_metrics.write_run(frame, str(tmp_path / "run.txt.gz"))
    assert first[:2] == b"\x1f\x8b"
    assert first[4:8] == bytes(4)
    assert (tmp_path / "run.txt.gz").read_bytes() == first
    assert gzip.decompress(first) == RUN_WRITTEN
    frame_metrics.write_qrels(pl.DataFrame(QRELS_COLUMNS), tmp_path / "qrels.gz")
    assert frame_metrics.read_qrels(tmp_path / "qrels.gz").rows() == list(zip(*QRELS_COLUMNS.values(), strict=True))


def test_rank_is_the_order_of_trec_eval(tmp_path: Path) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    scores = {
        "10": 1.0,
        "9": 1.0,
        "Z": 1.0,
        "a": 1.0,
        "é": 1.0,
        "日": 1.0,
        "low": -3.0,
        "top": 8.0,
        "n": -0.0,
        "m": 0.0,
    }
    frame = pl.DataFrame({"query": "q", "doc": list(scores), "score": list(scores.values())})
    frame_metrics.write_run(frame, tmp_path / "run.txt", run="tag")
    rank = {line.split()[2]: int(line.split()[3]) for line in (tmp_path / "run.txt").read_text("utf-8").splitlines()}
    for doc in scores:
        evaluator = pytrec_eval.RelevanceEvaluator({"q": {doc: 1}}, {"recip_rank"})
        assert evaluator.evaluate({"q": scores})["q"]["recip_rank"] == pytest.approx(1 / rank[doc])


@given(
    st.lists(st.tuples(queries, ids, finite), max_size=20, unique_by=lambda row: row[:2]),
    ids,
    st.sampled_from(["run.txt", "run.txt.gz"]),
)
def test_runs_survive_a_round_trip(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, float]], tag: str, name: str
) -> None:
    path = tmp_path_factory.getbasetemp() / name
    frame = pl.DataFrame(rows, schema=["query", "doc", "score"], orient="row", schema_overrides=RUN_SCHEMA)
    frame_metrics.write_run(frame.with_columns(run=pl.lit(tag)), path)
    got = frame_metrics.read_run(path)
    assert got.schema == RUN_SCHEMA
    assert got.rows() == [(*row, tag) for row in rows]
    assert [math.copysign(1, score) for score in got["score"]] == [math.copysign(1, row[2]) for row in rows]
    ranked = sorted(range(len(rows)), key=lambda i: (rows[i][2], rows[i][1].encode()), reverse=True)
    content = gzip.decompress(path.read_bytes()) if name.endswith("gz") else path.read_bytes()
    rank = [int(line.split(b" ")[3]) for line in content.split(b"\n")[:-1]]
    for query in {row[0] for row in rows}:
        mine = [i for i in ranked if rows[i][0] == query]
        assert sorted(rank[i] for i in mine) == list(range(1, len(mine) + 1))
        in_order = sorted(mine, key=lambda i: rank[i])
        assert [rows[i][1:] for i in in_order] == [rows[i][1:] for i in mine]


@given(rows_of(int64 | st.just(None)))
def test_qrels_survive_a_round_trip(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, Any]]) -> None:
    path = tmp_path_factory.getbasetemp() / "qrels.txt"
    schema = {"query": pl.String, "doc": pl.String, "grade": pl.Int64}
    frame_metrics.write_qrels(pl.DataFrame(rows, schema=schema, orient="row"), path)
    got = frame_metrics.read_qrels(path)
    assert got.schema == schema
    assert got.rows() == [row for row in rows if row[2] is not None]


@given(st.lists(finite, min_size=1, max_size=20))
def test_fractional_grades_survive_a_round_trip(tmp_path_factory: pytest.TempPathFactory, grades: list[float]) -> None:
    path = tmp_path_factory.getbasetemp() / "grades.txt"
    frame_metrics.write_qrels(pl.DataFrame({"query": "q", "doc": range(len(grades)), "grade": grades}), path)
    got = frame_metrics.read_qrels(path)["grade"]
    fits = all(grade.is_integer() and -(2**63) <= grade < 2**63 for grade in grades)
    assert got.dtype == (pl.Int64 if fits else pl.Float64)
    assert got.to_list() == grades


@given(rows_of(finite, least=1))
def test_pytrec_eval_reads_what_is_written(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, float]]
) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    folder = tmp_path_factory.getbasetemp()
    frame = pl.DataFrame(rows, schema=["query", "doc", "score"], orient="row").with_row_index("grade")
    frame_metrics.write_run(frame, folder / "theirs.txt", run="tag")
    frame_metrics.write_qrels(frame, folder / "their_qrels.txt")
    with open(folder / "theirs.txt", encoding="utf-8") as file:
        assert pytrec_eval.parse_run(file) == nested(frame, "score")
    with open(folder / "their_qrels.txt", encoding="utf-8") as file:
        assert pytrec_eval.parse_qrel(file) == nested(frame, "grade")


# The file that is written


@contextmanager
def no_file_above(size: int) -> Iterator[None]:
    """Refuse to write more into a file than these bytes, as a full disk does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


WRITERS = [(frame_metrics.write_run, RUN_WRITTEN), (frame_metrics.write_qrels, QRELS_WRITTEN)]
BOTH_COLUMNS = {**RUN_COLUMNS, **QRELS_COLUMNS}


@pytest.mark.parametrize("write", [frame_metrics.write_run, frame_metrics.write_qrels])
@pytest.mark.parametrize("name", ["file.txt", "file.gz"])
@pytest.mark.parametrize("old", [b"the old file", None])
def test_a_full_disk_leaves_the_old_file(tmp_path: Path, write: Any, name: str, old: bytes | None) -> None:
    """What cannot be written whole is not there at all, and what was there is there still."""
    if old is not None:
        file_of(tmp_path, old, name)
    docs = [f"{i * 7919 % 1_000_003:x}{i * 104_729 % 1_000_003:x}" for i in range(20_000)]
    frame = pl.DataFrame({"query": "q", "doc": docs, "score": 1.0, "grade": 1, "run": "r"})
    with pytest.raises(OSError, match="File too large"), no_file_above(20_000):
        write(frame, tmp_path / name)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == ({} if old is None else {name: old})


@pytest.mark.parametrize(("write", "written"), WRITERS)
def test_a_file_has_the_permissions_that_it_had(tmp_path: Path, write: Any, written: bytes) -> None:
    """A new file has those that the umask leaves."""
    old = file_of(tmp_path, b"the old file", "old.txt")
    old.chmod(0o604)
    umask = os.umask(0o027)
    try:
        for name in ("old.txt", "new.txt"):
            write(pl.DataFrame(BOTH_COLUMNS), tmp_path / name)
    finally:
        os.umask(umask)
    assert [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("old.txt", "new.txt")] == [0o604, 0o640]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.txt", "old.txt"]
    assert old.read_bytes() == (tmp_path / "new.txt").read_bytes() == written


@pytest.mark.parametrize(("write", "written"), WRITERS)
@pytest.mark.parametrize("there", [True, False])
def test_a_link_keeps_pointing_where_it_does(tmp_path: Path, write: Any, written: bytes, there: bool) -> None:
    (tmp_path / "far").mkdir()
    if there:
        file_of(tmp_path / "far", b"the old file", "run3.txt")
    link = tmp_path / "latest.txt"
    link.symlink_to("far/run3.txt")
    write(pl.DataFrame(BOTH_COLUMNS), link)
    assert os.readlink(link) == "far/run3.txt"
    assert (tmp_path / "far" / "run3.txt").read_bytes() == written


@pytest.mark.parametrize(("write", "written"), WRITERS)
def test_a_pipe_is_written_directly(tmp_path: Path, write: Any, written: bytes) -> None:
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor() as pool:
        got = pool.submit((tmp_path / "pipe").read_bytes)
        write(pl.DataFrame(BOTH_COLUMNS), tmp_path / "pipe")
        assert got.result() == written
    assert (tmp_path / "pipe").is_fifo()
    with ThreadPoolExecutor() as pool:
        pool.submit((tmp_path / "pipe").write_bytes, packed(RUN_LINES))
        assert frame_metrics.read_run(tmp_path / "pipe").rows() == RUN_ROWS


@pytest.mark.slow
def test_the_standard_output_is_written_directly(tmp_path: Path) -> None:
    """Into a pipe, and into a file, which what is printed later still reaches."""
    code = (
        "import os, sys, frame_metrics, polars as pl\n"
        "def write():\n"
        f"    frame_metrics.write_run(pl.DataFrame({RUN_COLUMNS!r}), '/dev/stdout')\n"
        "    print('printed later', flush=True)\n"
        "write()\n"
        "os.dup2(os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND), 1)\n"
        "write()\n"
    )
    path = tmp_path / "out.txt"
    piped = subprocess.run([sys.executable, "-c", code, path], stdout=subprocess.PIPE, check=True)
    assert piped.stdout == path.read_bytes() == RUN_WRITTEN + b"printed later\n"


def test_where_no_other_file_may_be_made_a_file_is_written_directly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = file_of(tmp_path, b"the old file")
    node = path.stat().st_ino
    monkeypatch.setattr(os, "access", lambda path, mode: not os.path.isdir(path))
    frame_metrics.write_run(pl.DataFrame(RUN_COLUMNS), path)
    assert (path.stat().st_ino, path.read_bytes()) == (node, RUN_WRITTEN)


@pytest.mark.parametrize(
    ("name", "error"),
    [("", IsADirectoryError), ("absent/", IsADirectoryError), ("absent/run.txt", FileNotFoundError)],
)
def test_where_no_file_can_be(tmp_path: Path, name: str, error: type[OSError]) -> None:
    """The error is the system's, of the path that was given."""
    with pytest.raises(error) as caught:
        frame_metrics.write_run(pl.DataFrame(RUN_COLUMNS), f"{tmp_path}/{name}")
    assert caught.value.filename == f"{tmp_path}/{name}"
    assert list(tmp_path.iterdir()) == []


# Frames that cannot be written


SPACED = "an id that is null, empty or has white space in it"
AGAIN = "a document of their query"
REFUSED = "trec_eval refuses a file with them; keep one of each"
COMMENT = "an id that begins with #"
GOOD: dict[str, list[Any]] = {"query": list("qqqqq"), "doc": list("abcde"), "score": [1.0] * 5, "run": ["r"] * 5}


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("query", [None, "q", "q", "q", "q"], f"query: 1 of 5 rows has {SPACED} (row 0); a TREC file cannot hold None"),
        (
            "doc",
            ["a", "", "a b", "c\td", "e\n"],
            f"doc: 4 of 5 rows have {SPACED} (rows 1, 2, 3); a TREC file cannot hold '', 'a b', 'c\\td'",
        ),
        (
            "run",
            ["r r"] * 5,
            f"run: 5 of 5 rows have {SPACED} (rows 0, 1, 2); a TREC file cannot hold 'r r', 'r r', 'r r'",
        ),
        (
            "score",
            [1.0, math.nan, None, math.inf, -math.inf],
            "score: 3 of 5 rows are not finite (rows 1, 3, 4); a TREC file cannot hold nan, inf, -inf",
        ),
        ("doc", list("abcba"), f"doc: 2 of 5 rows repeat {AGAIN} (rows 3, 4); {REFUSED}"),
        (
            "query",
            ["#1", "q", "#", "a#", "q"],
            f"query: 2 of 5 rows have {COMMENT} (rows 0, 2); in a TREC file that starts a comment: '#1', '#'",
        ),
        ("score", list("12345"), "score: a TREC file needs numbers here, not String; cast the column"),
        ("query", [1.0] * 5, "query: a TREC file needs text or integers here, not Float64; cast the column"),
        (
            "run",
            ["b", "a", "b", "c", "d"],
            "run: there are several runs ('b', 'a', 'c'), but a file holds one; write one file per run",
        ),
    ],
)
def test_runs_that_cannot_be_written(tmp_path: Path, column: str, values: list[Any], message: str) -> None:
    with pytest.raises(FrameMetricsError) as caught:
        frame_metrics.write_run(pl.DataFrame({**GOOD, column: values}), tmp_path / "run.txt")
    assert str(caught.value) == message
    assert not (tmp_path / "run.txt").exists()


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("doc", [None] * 5, f"doc: 5 of 5 rows have {SPACED} (rows 0, 1, 2); a TREC file cannot hold None, None, None"),
        ("doc", ["a", "b", "a", "a", "c"], f"doc: 2 of 5 rows repeat {AGAIN} (rows 2, 3); {REFUSED}"),
        (
            "query",
            ["q", "q", "#1", "q", "q"],
            f"query: 1 of 5 rows has {COMMENT} (row 2); in a TREC file that starts a comment: '#1'",
        ),
        ("score", [0, 0, 1, math.nan, None], "score: 1 of 5 rows is not finite (row 3); a TREC file cannot hold nan"),
    ],
)
def test_qrels_that_cannot_be_written(tmp_path: Path, column: str, values: list[Any], message: str) -> None:
    with pytest.raises(FrameMetricsError) as caught:
        frame_metrics.write_qrels(
            pl.DataFrame({**GOOD, column: values}, strict=False), tmp_path / "q.txt", grade="score"
        )
    assert str(caught.value) == message
    assert not (tmp_path / "q.txt").exists()


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_a_document_stands_once_in_a_query(tmp_path: Path, make: Any) -> None:
    """A document of two queries is none that stands twice, nor is one whose other row is not written."""
    columns = {
        "query": ["a"] * 4,
        "doc": ["b"] * 4,
        "topic": [7, 7, 8, 8],
        "id": [1, 1, 1, 2],
        "value": [0.5, None, 1.0, 2.0],
        "grade": [1, None, 0, 1],
    }
    names = {"query": "topic", "doc": "id"}
    frame_metrics.write_run(make(columns), tmp_path / "run.txt", **names, score="value", run="tag")
    assert (tmp_path / "run.txt").read_bytes() == b"7 Q0 1 1 0.5 tag\n8 Q0 1 2 1.0 tag\n8 Q0 2 1 2.0 tag\n"
    frame_metrics.write_qrels(make(columns), tmp_path / "qrels.txt", **names)
    assert (tmp_path / "qrels.txt").read_bytes() == b"7 0 1 1\n8 0 1 0\n8 0 2 1\n"
    again = make(columns | {"id": [1, 2, 1, 1]})
    for write, options in (
        (frame_metrics.write_run, {"score": "value", "run": "tag"}),
        (frame_metrics.write_qrels, {}),
    ):
        with pytest.raises(BadRowsError) as caught:
            write(again, tmp_path / "again.txt", **names, **options)
        assert str(caught.value) == f"id: 1 of 4 rows repeats a document of its query (row 3); {REFUSED}"
    assert not (tmp_path / "again.txt").exists()


@pytest.mark.parametrize(
    "space", [" ", "\t", "\n", "\r", "\x0b", "\x0c", "\x00", "\x1c", "\x85", "\u00a0", "\u2028", "\ufeff"]
)
@pytest.mark.parametrize("column", ["query", "doc", "run"])
@pytest.mark.parametrize("text", ["{}id", "i{}d", "id{}"])
def test_every_space_is_refused(tmp_path: Path, space: str, column: str, text: str) -> None:
    frame = pl.DataFrame({**GOOD, column: [text.format(space)] * 5})
    with pytest.raises(FrameMetricsError, match=f"^{column}: 5 of 5 rows have an id"):
        frame_metrics.write_run(frame, tmp_path / "run.txt")


@pytest.mark.parametrize("tag", ["", "my run", "tag\n"])
def test_names_of_runs_that_cannot_be_written(tmp_path: Path, tag: str) -> None:
    with pytest.raises(FrameMetricsError) as caught:
        frame_metrics.write_run(pl.DataFrame(GOOD), tmp_path / "run.txt", run=tag)
    assert str(caught.value) == f"run={tag!r}: the name of a run cannot be empty or have white space in it"


def test_a_run_without_a_name(tmp_path: Path) -> None:
    with pytest.raises(FrameMetricsError) as caught:
        frame_metrics.write_run(pl.DataFrame(GOOD).drop("run"), tmp_path / "run.txt")
    assert str(caught.value) == "the frame has no column 'run'; pass run= with the name of the run, or of its column"


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_missing_columns(tmp_path: Path, make: Any) -> None:
    with pytest.raises(FrameMetricsError, match="relevance"):
        frame_metrics.write_qrels(make(QRELS_COLUMNS), tmp_path / "qrels.txt", grade="relevance")
    with pytest.raises(FrameMetricsError, match="topic"):
        frame_metrics.write_run(make(RUN_COLUMNS), tmp_path / "run.txt", query="topic")


@pytest.mark.parametrize("value", [None, 3, True, b"query", ["query"], {"a": 1}, pl.col("query"), pl.Series(["query"])])
@pytest.mark.parametrize("option", ["query", "doc", "score", "grade", "run"])
def test_options_that_are_no_text(tmp_path: Path, option: str, value: Any) -> None:
    """Whatever else is given for a name is an error that says so."""
    what = "text: the name of the run, or of a column that holds it" if option == "run" else "the name of a column"
    write = frame_metrics.write_qrels if option == "grade" else frame_metrics.write_run
    with pytest.raises(BadValueError) as caught:
        write(pl.DataFrame(GOOD), tmp_path / "run.txt", **{option: value})
    assert str(caught.value) == f"{option}={shown_in_errors(value)} is not {what}"


def test_names_of_columns_that_are_numbers(tmp_path: Path) -> None:
    frame = pd.DataFrame({0: ["q"], 1: ["d"], 2: [1.0]})
    with pytest.raises(BadValueError, match=r"^query=0 is not the name of a column$"):
        frame_metrics.write_run(frame, tmp_path / "run.txt", query=0, doc=1, score=2, run="tag")


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_a_column_plays_one_part(tmp_path: Path, make: Any) -> None:
    frame = make({**RUN_COLUMNS, "grade": [1, 1, 1]})
    for write, options, message in (
        (frame_metrics.write_run, {"query": "doc"}, "doc='doc' is the query too; a column can have only one role"),
        (frame_metrics.write_run, {"run": "doc"}, "run='doc' is the doc too; a column can have only one role"),
        (
            frame_metrics.write_run,
            {"score": "query"},
            "score='query' is the query too; a column can have only one role",
        ),
        (frame_metrics.write_qrels, {"doc": "grade"}, "grade='grade' is the doc too; a column can have only one role"),
    ):
        with pytest.raises(ColumnError) as caught:
            write(frame, tmp_path / "file.txt", **options)
        assert str(caught.value) == message
