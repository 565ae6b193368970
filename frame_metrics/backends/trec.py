"""Runs and relevance judgements (qrels) as the text files of TREC.

The formats are what trec_eval reads: get_trec_results.c and get_qrels.c of https://github.com/usnistgov/trec_eval.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import IO, TYPE_CHECKING, Any, Literal, TypeAlias, cast, overload

import polars as pl
import polars.selectors as cs

from frame_metrics.backends.files import file_name, lines_of, replacing
from frame_metrics.backends.forked import check_threads
from frame_metrics.backends.frames import LIBRARIES, backend_of, given_as
from frame_metrics.errors import (
    BadValueError,
    ColumnError,
    FrameMetricsError,
    bad_rows,
    check_bool,
    check_choice,
    check_one_role_each,
    listed,
    quote,
)

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from frame_metrics.backends.protocol import Backend

FilePath: TypeAlias = "str | os.PathLike[str]"
_RUN, _QRELS, _DIVERSE = "query Q0 doc rank score run", "query iter doc grade", "query subtopic doc grade"
_FIELD = r"[^ \t\r]+"
# As in trec_eval, anything may follow a run's name. Nothing may follow a grade, so that no run is read as judgments.
_LINE_END = {_RUN: r"(?:[ \t][^\r]*)?\r*$", **dict.fromkeys((_QRELS, _DIVERSE), r"[ \t]*\r*$")}
# Stricter than reading, as other readers split at any white space and drop a leading U+FEFF.
_UNFIT_ID = r"^$|[\s\p{Cc}\x{FEFF}]"
_HAS_ROW = r"^[ \t\r]*[^# \t\r]"  # the line is neither empty nor a comment


@overload
def read_run(path: FilePath, *, rank: bool = False, library: Literal["polars"] = "polars") -> pl.DataFrame: ...
@overload
def read_run(path: FilePath, *, rank: bool = False, library: Literal["pandas"]) -> pd.DataFrame: ...
@overload
def read_run(path: FilePath, *, rank: bool = False, library: Literal["pyarrow"]) -> pa.Table: ...
def read_run(path: FilePath, *, rank: bool = False, library: str = "polars") -> Any:
    r"""Read a TREC run file, lines of ``query Q0 doc rank score run``, as a frame.

    Its columns are ``query``, ``doc``, ``run`` (text) and ``score`` (float64), and its rows have the order of the file.
    The second field, fields after the sixth, and the rank are ignored, as in ``trec_eval``: if rank and score disagree,
    the scores decide. A line that begins with ``#`` is a comment, as in ``trec_eval`` 10, and is left out; so would be
    a query whose id begins with ``#``.

    Parameters
    ----------
    path : text or ``os.PathLike``; a UTF-8 text file, plain or compressed by gzip; an empty one gives an empty frame.
        A line has at most 100,000 bytes.
    rank : True to also read a column ``rank`` (int64). ``df.irm(rank="rank")`` ranks by it, and ``audit()`` then
        compares it with the scores.
    library : library of the frame, ``"polars"``, ``"pandas"`` or ``"pyarrow"``.

    Raises
    ------
    FrameMetricsError
        A line has too few fields, a score that is not finite, a rank that is read but not whole, or too many bytes, the
        file is not UTF-8 text, or ``path`` is not a path.

    Examples
    --------
    >>> import pathlib, tempfile, frame_metrics
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "run.txt").write_text("q1 Q0 d7 1 2.5 bm25\nq1 Q0 d3 2 0.5 bm25\n")
    ...     frame_metrics.read_run(f"{folder}/run.txt").rows()
    [('q1', 'd7', 2.5, 'bm25'), ('q1', 'd3', 0.5, 'bm25')]
    """
    check_choice("library", library, LIBRARIES)
    check_bool("rank", rank)
    rows = _read(file_name(path), _RUN, "score", whole="rank" if rank else None)
    ranks = [pl.col("rank").cast(pl.Int64)] if rank else []
    return given_as(library, rows.select("query", "doc", *ranks, pl.col("number").alias("score"), "run"))


@overload
def read_qrels(path: FilePath, *, subtopic: bool = False, library: Literal["polars"] = "polars") -> pl.DataFrame: ...
@overload
def read_qrels(path: FilePath, *, subtopic: bool = False, library: Literal["pandas"]) -> pd.DataFrame: ...
@overload
def read_qrels(path: FilePath, *, subtopic: bool = False, library: Literal["pyarrow"]) -> pa.Table: ...
def read_qrels(path: FilePath, *, subtopic: bool = False, library: str = "polars") -> Any:
    r"""Read a TREC file of relevance judgements, lines of ``query iter doc grade``, as a frame.

    Its columns are ``query``, ``doc`` (text) and ``grade`` (int64, or float64 if any grade has a fraction), and its
    rows have the order of the file. The second field is ignored, unless ``subtopic`` makes it a column. A line that
    begins with ``#`` is a comment, as in ``trec_eval`` 10, and is left out; so would be a query whose id begins with
    ``#``.

    Parameters
    ----------
    path : text or ``os.PathLike``; a UTF-8 text file, plain or compressed by gzip; an empty one gives an empty frame.
        A line has at most 100,000 bytes.
    subtopic : True for a file of a diversity task, whose second field is the subtopic; it is then the column
        ``subtopic`` (text), which ``judge(qrels, subtopic="subtopic")`` takes.
    library : library of the frame, ``"polars"``, ``"pandas"`` or ``"pyarrow"``.

    Raises
    ------
    FrameMetricsError
        A line does not have four fields, or has a grade that is not finite or too many bytes, the file is not UTF-8
        text, or ``path`` is not a path.

    Examples
    --------
    >>> import pathlib, tempfile, frame_metrics
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "qrels.txt").write_text("q1 0 d3 2\nq1 0 d5 0\n")
    ...     frame_metrics.read_qrels(f"{folder}/qrels.txt").rows()
    [('q1', 'd3', 2), ('q1', 'd5', 0)]
    """
    check_choice("library", library, LIBRARIES)
    rows = _read(file_name(path), _DIVERSE if subtopic else _QRELS, "grade")
    # The text first, as not every int64 survives being a float64.
    whole = pl.coalesce(pl.col("grade").cast(pl.Int64, strict=False), pl.col("number").cast(pl.Int64, strict=False))
    has_fraction = (pl.col("number") != pl.col("number").floor()) | whole.is_null()
    grade = pl.col("number") if rows.select(has_fraction.any()).item() else whole
    ids = [name for name in ("query", "subtopic", "doc") if name in rows.columns]
    return given_as(library, rows.select(*ids, grade.alias("grade")))


def write_run(
    frame: Any, path: FilePath, *, query: str = "query", doc: str = "doc", score: str = "score", run: str = "run"
) -> None:
    """Write a frame as a TREC run file, lines of ``query Q0 doc rank score run`` in the order of the frame.

    The rank counts the documents of a query from 1, by descending score and, for equal scores, by descending document
    id, as ``trec_eval`` does. Scores are written in full: reading them gives the same float64. A complete new file
    replaces an existing one; on failure the old file stays.

    Parameters
    ----------
    frame : a polars, pandas or pyarrow frame, or any other with ``__arrow_c_stream__``.
    path : text or ``os.PathLike``; the file, compressed by gzip if its name ends in ``.gz``.
    query, doc : columns of ids.
    score : column of scores. Rows with a null score (NaN in pandas) are not written: the document was not retrieved.
    run : column with the run's name or, if there is no such column, the name itself; the default is always a column.

    Raises
    ------
    FrameMetricsError
        An id is null, empty or has white space, a query id begins with ``#``, a document is repeated in its query, a
        score is not finite, or there are several runs; nothing is written.

    Examples
    --------
    >>> import pathlib, tempfile, frame_metrics, polars as pl
    >>> frame = pl.DataFrame({"query": ["q1", "q1"], "doc": ["d3", "d7"], "score": [0.5, 2.5]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     frame_metrics.write_run(frame, f"{folder}/run.txt", run="bm25")
    ...     print(pathlib.Path(folder, "run.txt").read_text(), end="")
    q1 Q0 d3 2 0.5 bm25
    q1 Q0 d7 1 2.5 bm25
    """
    check_threads("write_run()")
    name = file_name(path)
    if not isinstance(run, str):
        raise BadValueError(f"run={quote(run)} is not text: the name of the run, or of a column that holds it")
    _check_names(query=query, doc=doc, score=score)
    backend = backend_of(frame)
    has_run = run in backend.names()
    if run == "run" and not has_run:
        raise ColumnError("the frame has no column 'run'; pass run= with the name of the run, or of its column")
    rows = _rows_to_write(backend, {"query": query, "doc": doc} | ({"run": run} if has_run else {}), {"score": score})
    if not has_run:
        if pl.Series([run]).str.contains(_UNFIT_ID).item():
            raise FrameMetricsError(f"run={quote(run)}: the name of a run cannot be empty or have white space in it")
        rows = rows.with_columns(pl.lit(run).alias("run"))
    rank = pl.struct("number", "doc").rank("ordinal", descending=True).over("query")
    _write(name, rows.select("query", pl.lit("Q0"), "doc", rank.alias("rank"), "number", "run"))


def write_qrels(
    frame: Any,
    path: FilePath,
    *,
    query: str = "query",
    doc: str = "doc",
    grade: str = "grade",
    subtopic: str | None = None,
) -> None:
    """Write a frame as a TREC file of relevance judgements, lines of ``query 0 doc grade`` in the order of the frame.

    A complete new file replaces an existing one; on failure the old file stays.

    Parameters
    ----------
    frame : a polars, pandas or pyarrow frame, or any other with ``__arrow_c_stream__``.
    path : text or ``os.PathLike``; the file, compressed by gzip if its name ends in ``.gz``.
    query, doc : columns of ids.
    grade : column of grades, written as integers if whole. A null grade (NaN in pandas) is not judged, and not written.
    subtopic : column of subtopics, ids that are written instead of the 0; None for no subtopics.

    Raises
    ------
    FrameMetricsError
        An id is null, empty or has white space, a query id begins with ``#``, a document is repeated in its query (and
        subtopic), or a grade is not finite; nothing is written.

    Examples
    --------
    >>> import pathlib, tempfile, frame_metrics, polars as pl
    >>> frame = pl.DataFrame({"query": ["q1", "q1"], "doc": ["d3", "d5"], "grade": [2, None]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     frame_metrics.write_qrels(frame, f"{folder}/qrels.txt")
    ...     print(pathlib.Path(folder, "qrels.txt").read_text(), end="")
    q1 0 d3 2
    """
    check_threads("write_qrels()")
    name = file_name(path)
    second = {} if subtopic is None else {"subtopic": subtopic}
    _check_names(query=query, doc=doc, grade=grade, **second)
    rows = _rows_to_write(backend_of(frame), {"query": query, "doc": doc} | second, {"grade": grade})
    number = pl.col("number")
    whole = pl.when(number == number.floor()).then(number.cast(pl.Int64, strict=False))
    grades = pl.coalesce(whole.cast(pl.String), number.cast(pl.String))
    _write(name, rows.select("query", pl.col("subtopic") if second else pl.lit("0"), "doc", grades.alias("grade")))


def _read(name: str, layout: str, number: str, *, whole: str | None = None) -> pl.DataFrame:
    """Read the lines of a TREC file.

    Parameters
    ----------
    name : the file.
    layout : the names of the fields of a line.
    number : the field that has to be a finite number.
    whole : a field that has to be a whole number; without it, the field is ignored.

    Returns
    -------
    The fields as text columns, without the ignored ones, and ``number``, the values of that field as float64.
    """
    check_threads(f"reading {name}")
    ignored = {"Q0", "rank", "iter"} - {whole}
    groups = [_FIELD if field in ignored else f"(?P<{field}>{_FIELD})" for field in layout.split()]
    values = pl.col("line").str.extract_groups("^[ \t]*" + "[ \t]+".join(groups) + _LINE_END[layout])
    parsed = pl.col(number).cast(pl.Float64, strict=False).alias("number")
    is_number = pl.col("number").is_finite().fill_null(False)
    kinds = {f"{len(groups)} fields, {layout!r}": pl.col("query").is_null(), f"a finite number as {number}": ~is_number}
    if whole is not None:
        is_whole = pl.col(whole).cast(pl.Int64, strict=False).is_not_null()
        kinds[f"a whole number as {whole}"], is_number = ~is_whole, is_number & is_whole
    found, odd = list[pl.DataFrame](), list[pl.DataFrame]()
    for before, lines in lines_of(name):
        rows = lines.lazy().select(values).unnest("line").with_columns(parsed).collect(engine="streaming")
        if not rows.select((is_number & ~pl.col("query").str.starts_with("#")).all()).item():
            at = pl.int_range(before + 1, before + 1 + pl.len()).alias("at")
            rows = rows.with_columns(lines["line"], at).filter(pl.col("line").str.contains(_HAS_ROW))
            odd.append(rows.filter(pl.any_horizontal(kinds.values())))
        found.append(rows.select(cs.exclude("line", "at")))
    _check_lines(name, odd, kinds)
    return pl.concat(found)


def _check_lines(name: str, odd: Sequence[pl.DataFrame], kinds: Mapping[str, pl.Expr]) -> None:
    """Raise for malformed lines; the error is about the first kind of fault that occurs.

    Parameters
    ----------
    odd : malformed lines: the fields, the text of the line as ``line``, and its number as ``at``.
    kinds : an expression that marks the faulty lines, for each text that says what is expected of a line.
    """
    for expected, is_bad in kinds.items() if odd else ():
        bad = pl.concat(odd).filter(is_bad)
        if len(bad):
            at, line = bad.select("at", "line").row(0)
            text = line if len(line) <= 80 else line[:77] + "..."
            many = f"{len(bad)} such line{'s' if len(bad) > 1 else ''}"
            raise FrameMetricsError(f"{name}, line {at}: expected {expected}, got {text!r} ({many})")


def _check_names(**columns: Any) -> None:
    """Raise if the name of a column is not text."""
    for part, column in columns.items():
        if not isinstance(column, str):
            raise BadValueError(f"{part}={quote(column)} is not the name of a column")


def _rows_to_write(backend: Backend, ids: dict[str, str], values: dict[str, str]) -> pl.DataFrame:
    """Return the rows to write, checked; rows whose value is null are left out.

    Parameters
    ----------
    ids : the column of the frame for each id of the file, as ``{"query": "qid"}``.
    values : the column of the frame for the score or the grade.

    Returns
    -------
    ``row``, the number of the row in the frame, ``number``, its value, and the ids as text, named by the keys of
    ``ids``.
    """
    check_one_role_each((ids | values).items())
    (value,) = values.values()
    given = backend.read([*ids.values(), value])
    for column, kind in given.schema.items():
        is_number = kind.is_numeric() or kind == pl.Boolean
        is_text = isinstance(kind, pl.String | pl.Categorical | pl.Enum)
        if kind != pl.Null and not (is_number if column == value else is_text or kind.is_integer()):
            wanted = "numbers" if column == value else "text or integers"
            raise ColumnError(f"{column}: a TREC file needs {wanted} here, not {kind}; cast the column")
    number = pl.col(value) if given.schema[value].is_integer() else pl.col(value).cast(pl.Float64)
    texts = [pl.col(column).cast(pl.String).alias(part) for part, column in ids.items()]
    rows = given.select(number.alias("number"), *texts).with_row_index("row").drop_nulls("number")
    has_subtopics = "grade" in values and "subtopic" in {*backend.names()}.difference(ids, ids.values())
    _check_rows(rows, ids | {"number": value}, len(given), "pass subtopic='subtopic', or " if has_subtopics else "")
    return rows


def _check_rows(rows: pl.DataFrame, columns: dict[str, str], total: int, way: str) -> None:
    """Raise for rows that a TREC file cannot hold.

    Parameters
    ----------
    columns : the caller's column for each column of ``rows``, for the errors.
    total : the number of rows of the frame.
    way : the start of a hint about repeated documents: the option that would tell them apart; or "".
    """

    def check(part: str, is_bad: pl.Expr, what: str, remedy: str) -> None:
        bad = rows.filter(is_bad)
        if len(bad):
            remedy = remedy.format(listed(bad[part][:3]))
            raise bad_rows(columns[part], bad["row"].to_list(), total, what, remedy)

    what, remedy = "have an id that is null, empty or has white space in it", "a TREC file cannot hold {}"
    for part in [part for part in columns if part != "number"]:
        check(part, pl.col(part).str.contains(_UNFIT_ID).fill_null(True), what, remedy)
    check("number", ~pl.col("number").is_finite(), "are not finite", remedy)
    what, remedy = "have an id that begins with #", "in a TREC file that starts a comment: {}"
    check("query", pl.col("query").str.starts_with("#"), what, remedy)
    if "run" in columns and rows["run"].n_unique() > 1:
        runs = f"{columns['run']}: there are several runs ({listed(rows['run'].unique(maintain_order=True)[:3])})"
        raise FrameMetricsError(f"{runs}, but a file holds one; write one file per run")
    what, remedy = "repeat a document of their query", f"trec_eval refuses a file with them; {way}keep one of each"
    of = [part for part in ("query", "subtopic") if part in columns]
    check("doc", ~pl.col("doc").is_first_distinct().over(of), what, remedy)


def _write(name: str, rows: pl.DataFrame) -> None:
    # Without the time of writing in it, the same rows always give the same compressed file.
    with (
        replacing(name) as file,
        gzip.GzipFile(name, "wb", 6, file, mtime=0) if name.endswith(".gz") else nullcontext(file) as lines,
    ):
        rows.write_csv(cast("IO[bytes]", lines), separator=" ", include_header=False, quote_style="never")
