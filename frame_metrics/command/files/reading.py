"""Frames from files, in the usual formats of logs; a verb reads only the columns that it needs."""

from __future__ import annotations

import glob
import os
import re
import shutil
import stat
import sys
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import polars as pl
import polars.selectors as cs

from frame_metrics.backends.files import Unchanged
from frame_metrics.backends.trec import read_qrels, read_run
from frame_metrics.command.files.columns_there import OF_LISTS, likeness
from frame_metrics.command.files.files import File, checked, file_errors, read_all
from frame_metrics.command.files.formats import (
    KNOWN,
    MARKS,
    OF_CELLS,
    OF_TEXT,
    READ,
    check_content,
    format_inside,
    format_of,
    packed_by_gzip,
    unpacked,
)
from frame_metrics.command.files.lists_in_cells import lists_in, with_lists
from frame_metrics.command.files.text_lines import SEPARATORS, PlainText
from frame_metrics.command.texts import say, with_formulas
from frame_metrics.errors import BadValueError, FrameMetricsError, listed, quote
from frame_metrics.metrics.names import read_text
from frame_metrics.roles.columns import FOUND, roles_where
from frame_metrics.roles.roles import Roles

ROWS_FOR_TYPES = 100_000  # number of first rows of a text file from which the types of its columns are inferred
# Roles whose columns in CSV are read as text, as numbers, or in the type that their values suggest; and keys, which
# stay as they are written.
IDS, NUMBERS = (
    roles_where(lambda role: role.file_type == "text"),
    roles_where(lambda role: role.file_type == "number"),
)
INFERRED, KEYS = (
    roles_where(lambda role: role.file_type == "inferred"),
    roles_where(lambda role: role.file_type == "key"),
)
NOT_CANONICAL = r"^\s*([+-]?0|\+)\d+\s*$"  # integers that would be printed differently, as 007
HERE = "file://"  # prefix of the name of a file of this machine
NO_PARTITION = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class InputFiles:
    """Files that hold one frame."""

    names: Sequence[str]  # files, folders, patterns, or - for what is piped in
    format_name: str | None  # the format, if an option names it
    option: str  # the flag for the format
    folder: Callable[[], str]  # makes a new folder for files that have to be unpacked before they can be read in pieces
    roles: Mapping[str, Any] = field(default_factory=dict)
    default_format: str | None = None  # the format of a file whose name has no known ending
    converts_only: bool = False  # True if rows are only converted; then texts in every column stay as they are written
    file_column: str | None = None  # a column to add, with the name of the file that a row is of
    option_names_it: bool = False  # whether an option names that column, which the files may have themselves
    renames: bool = False  # whether the only column that another file alone has is called as that of the first
    files: list[File] = field(default_factory=list)  # the files, once ``frame`` was called

    def frame(self) -> pl.LazyFrame:
        """Return the rows of all files, one below the other, as a plan that has not run."""
        for name, short in zip(self.names, file_names(self.names), strict=True):
            self.files.extend(self._named(file, short) for file in self._of_name(name))
        if self.renames:
            self.files[1:] = [_renamed(one, self.files[0]) for one in self.files[1:]]
        return self.files[0].plan if len(self.files) == 1 else read_all([*self._of_one_type()])

    def _of_one_type(self) -> Iterator[File]:
        """Yield the files; a key that is text in one CSV file, as 007, becomes text in all CSV files."""
        types = [file.plan.collect_schema() if file.kind in OF_CELLS else pl.Schema() for file in self.files]
        keys = dict.fromkeys(column for its in types for column in its) if self.converts_only else self._columns(KEYS)
        texts = [key for key in keys if any(its.get(key) == pl.String for its in types)]
        for file, its in zip(self.files, types, strict=True):
            numbers = [key for key in texts if key in its and its[key].is_integer()]
            yield replace(file, plan=file.plan.with_columns(pl.col(numbers).cast(pl.String)))

    def _named(self, file: File, name: str) -> File:
        """Return a file with a column of its name, if one is asked for."""
        if self.file_column is None:
            return file
        if self.file_column in file.plan.collect_schema():
            if self.option_names_it:
                return file
            raise FrameMetricsError(
                f"{file.name}: it has a column {self.file_column!r}; pass --system, the column of systems"
            )
        return replace(file, plan=file.plan.with_columns(pl.lit(name).alias(self.file_column)))

    def _of_name(self, name: str) -> Iterator[File]:
        if name == "-" or is_pipe(name):
            path, told = piped(self.folder(), name), "standard input" if name == "-" else name
            yield self._scan(told, path, self._format("what is piped in", format_inside(path)), {})
            return
        name = name.removeprefix(HERE)
        files = [name] if "://" in name else files_of(name, self.format_name)
        if not files:
            what = "is no file in a format that is read" if os.path.isdir(name) else "is no such file"
            raise FrameMetricsError(f"{name}: there {what}{_no_input(name)}")
        formats = sorted({self._format(one, format_inside(one)) for one in files})
        if len(formats) > 1:
            raise FrameMetricsError(f"{name}: the files have several formats, {listed(formats)}; name one kind")
        for one in files:
            yield self._scan(one, one, formats[0], _partition(name, one))

    def _format(self, name: str, known: str | None) -> str:
        chosen = self.format_name or known or self.default_format
        if chosen is None:
            way = (
                f"pass {self.option}, one of {listed(READ)}"
                if self.option
                else f"give it an ending, as {listed(KNOWN)}"
            )
            raise FrameMetricsError(f"{name}: the name does not say the format; {way}")
        return chosen

    def _plain(self, name: str, kind: str) -> str:
        """Return the path of a file without compression, and without a byte order mark, which JSON must not have.

        It is the file itself, or an unpacked copy in a temporary folder.
        """
        with unpacked(name) as file:
            marked = kind not in OF_CELLS and file.read(len(BOM_UTF8)) == BOM_UTF8
            if not marked and not packed_by_gzip(name):
                return name
            file.seek(len(BOM_UTF8) if marked else 0)
            plain = os.path.join(self.folder(), "plain")
            with open(plain, "wb") as copy:
                shutil.copyfileobj(file, copy)
        return plain

    def _scan(self, name: str, path: str, kind: str, partition: Mapping[str, str | None]) -> File:
        text, unchanged = None, Unchanged([path])
        if os.path.isfile(path):
            check_content(name, path, kind, self.option)
            if kind in OF_TEXT:
                text = PlainText(name, self._plain(path, kind), kind, OF_CELLS.get(kind, ","))
        with file_errors(name, kind, text):
            if kind in OF_TEXT:
                text = _separated(text) if text and kind in OF_CELLS else text
                plan = self._text(path, kind, text)
            else:
                plan = self._typed(name, path, kind)
        plan = plan.with_columns(pl.lit(value, pl.String).alias(key) for key, value in partition.items())
        return File(name, kind, plan, text, unchanged)

    def _text(self, path: str, kind: str, text: PlainText | None) -> pl.LazyFrame:
        """Return the plan of a text file; ``text``: the file for checks, None if it is not on this machine."""
        path = text.path if text else path
        if kind in OF_CELLS:
            plan = self._cells(path, text.separator if text else OF_CELLS[kind], text)
        elif kind == "jsonl":
            plan = pl.scan_ndjson(path, infer_schema_length=ROWS_FOR_TYPES)
        else:
            if text:
                text.check_list()
            plan = pl.read_json(path, infer_schema_length=ROWS_FOR_TYPES).lazy()
        if text is None:
            return plan
        if kind not in OF_CELLS:
            text.check_kinds(plan.collect_schema(), {*self._columns((*Roles.__annotations__, *FOUND))})
        return checked(plan, text.check_floats)

    def _cells(self, path: str, separator: str, text: PlainText | None) -> pl.LazyFrame:
        """Return the plan of a CSV or TSV file; columns of ids are texts, as 007, and those of scores are floats."""
        options: dict[str, Any] = {"separator": separator, "glob": False}
        if text is not None:
            text.check_lengths(text.header())
        raw = pl.scan_csv(path, infer_schema=False, **options)
        there = raw.collect_schema().names()
        types = dict.fromkeys(self._columns(IDS), pl.String) | dict.fromkeys(self._columns(NUMBERS), pl.Float64)
        lists = {} if self.converts_only else lists_in(raw, self._columns(OF_LISTS))
        types = {column: kind for column, kind in types.items() if column in there and column not in lists}
        empty = {column: "" for column in self._columns((*NUMBERS, *INFERRED)) if column in there}  # in quotes too
        options |= {"infer_schema_length": ROWS_FOR_TYPES, "null_values": empty or None}
        plan = pl.scan_csv(path, schema_overrides=types, **options)
        kinds = plan.collect_schema()
        keys = [*kinds] if self.converts_only else self._columns(KEYS)
        numbers = [column for column in keys if column not in types and column in kinds and kinds[column].is_numeric()]
        if numbers:
            written = raw.select(pl.col(numbers).str.contains(NOT_CANONICAL).any()).collect().row(0, named=True)
            types |= {column: pl.String for column, odd in written.items() if odd}
            plan = pl.scan_csv(path, schema_overrides=types, **options)
        texts = [column for column in self._columns(INFERRED) if kinds.get(column) == pl.String]
        plan = plan.with_columns(pl.lit(None).alias(column) for column in texts if _empty(plan.select(column)))
        return with_lists(plan, lists)

    def _typed(self, name: str, path: str, kind: str) -> pl.LazyFrame:
        """Return the plan of a file whose format has types, or of a TREC file.

        Of a TREC file, rank and subtopic are read only if their roles are named.
        """
        if kind == "run":
            return read_run(path, rank=True).lazy() if self.roles.get("rank") else self._run(name, path).lazy()
        if kind == "qrels":
            return read_qrels(path, subtopic=bool(self.roles.get("subtopic"))).lazy()
        if kind == "parquet":
            return pl.scan_parquet(path, glob=False, hive_partitioning=False)
        return _arrow(path)

    def _run(self, name: str, path: str) -> pl.DataFrame:
        """Read a TREC run without its ranks; if the ranks disagree with the scores, a note is printed."""
        try:
            run = read_run(path, rank=True)
        except FrameMetricsError:  # ranks are not numbers; any other error is raised again by the next line
            return read_run(path)
        keys = ["run", "query"]
        above = run.sort(*keys, "rank").with_columns(pl.all().shift().name.suffix(" above"))
        rises = [pl.col(name) > pl.col(f"{name} above") for name in ("rank", "score")]
        odd = above.filter(*(pl.col(key) == pl.col(f"{key} above") for key in keys), *rises).select(keys).n_unique()
        if odd:
            what = f"in {odd:,} of {run.select(keys).n_unique():,} queries the ranks are another order than the scores"
            way = "" if self.converts_only else "; --rank rank takes the ranks"
            say(f"{name}: {what}, which decide, as in trec_eval{way}")
        return run.drop("rank")

    def _columns(self, roles: Sequence[str]) -> list[str]:
        """Return the columns of some roles; without a flag, a role's column has the role's name."""
        said = [self.roles.get(role, role) for role in roles]
        return [*dict.fromkeys(str(column) for one in said for column in each(one))]


def file_names(names: Sequence[str]) -> list[str]:
    """Return names of files without folders and endings, or as they are, if these are equal otherwise."""
    short = [re.sub(r"(\.\w+)?(\.gz)?$", "", os.path.basename(name.rstrip("/"))) for name in names]
    return short if len({*short}) == len(short) else [*names]


def _renamed(file: File, first: File) -> File:
    """Return a file whose only column that the first one lacks is called as the first's own; a note is printed.

    Both have to be called as judgments are.
    """
    names, others = ({*one.plan.collect_schema()} for one in (first, file))
    if len(names - others) != 1 or len(others - names) != 1:
        return file
    (name,), (other,) = names - others, others - names
    if not (_is_of_judgments(name) and _is_of_judgments(other)):
        return file
    say(f"{file.name}: {other} is read as {name}, the column of {first.name}")
    return replace(file, plan=file.plan.rename({other: name}))


def _is_of_judgments(name: str) -> bool:
    """Return True for a name with a word that is usual for grades or labels."""
    return any(likeness(role, name) for role in ("grade", "label"))


def _separated(text: PlainText) -> PlainText:
    """Return a CSV or TSV file with the separator of its first line; if its name says another, a note is printed."""
    tried = [replace(text, separator=one) for one in (text.separator, *SEPARATORS)]
    found = next((one for one in tried if len(one.header()) > 1), text)
    if found.separator != text.separator:
        say(f"{text.name}: read with {SEPARATORS[found.separator]} between the columns, {listed(found.header())}")
    return found


def _empty(plan: pl.LazyFrame) -> bool:
    """Return True for a plan of one column without any value; its first rows are read before all others."""
    return all(part.select(pl.all().is_null().all()).collect().item() for part in (plan.head(ROWS_FOR_TYPES), plan))


def files_of(name: str, format_name: str | None) -> list[str]:
    """Return the files that a name stands for: one file, those that match a pattern, or those of a folder.

    Parameters
    ----------
    format_name : the format of all files of a folder; with None, only files with a known ending are taken.
    """
    name = name.removeprefix(HERE)
    folder = os.path.isdir(name)
    if os.path.exists(name) and not folder:
        return [name]
    found = glob.glob(os.path.join(glob.escape(name), "**", "*") if folder else name, recursive=True)
    files = sorted(filter(os.path.isfile, found))
    return [one for one in files if not folder or _is_of_frame(one, format_name)]


def _is_of_frame(file: str, format_name: str | None) -> bool:
    """Return False for a file of a folder that has no rows, as a marker that writing was finished."""
    return not os.path.basename(file).startswith(("_", ".")) and bool(format_name or format_of(file))


def is_pipe(name: str) -> bool:
    """Return True for a pipe that a shell names, as of <(zcat log.csv.gz)."""
    return os.path.exists(name) and stat.S_ISFIFO(os.stat(name).st_mode)


def piped(folder: str, name: str = "-") -> str:
    """Copy a pipe, or standard input, to a file, which can be read in pieces and more than once; return its name."""
    if name == "-" and sys.stdin is None:  # as after <&-
        raise FrameMetricsError("standard input is closed; name a file")
    copy = os.path.join(folder, "stdin")
    with open(copy, "wb") as file, nullcontext(sys.stdin.buffer) if name == "-" else open(name, "rb") as pipe:
        shutil.copyfileobj(pipe, file)
    return copy


def each(given: Any) -> list[Any]:
    """Return the columns of a role as a list."""
    if given is None:
        return []
    return [*given.values()] if isinstance(given, Mapping) else given if isinstance(given, list) else [given]


def _arrow(name: str) -> pl.LazyFrame:
    """Return the plan of an Arrow file, or of an Arrow stream in a file of this machine."""
    if os.path.isfile(name):
        with open(name, "rb") as file:
            if file.read(6) != MARKS["arrow"]:
                try:
                    return pl.read_ipc_stream(name).lazy()
                except pl.exceptions.PolarsError:
                    raise FrameMetricsError(f"{name}: it is no file of arrow, and no stream of it") from None
    return pl.scan_ipc(name, glob=False, hive_partitioning=False)


def _partition(name: str, file: str) -> dict[str, str | None]:
    """Return the columns that a file gets from folders in its path with names such as day=monday.

    Only folders below the named folder, or below the fixed part of a pattern, count.
    """
    fixed = name if os.path.isdir(name) else os.path.dirname(re.split(r"[*?\[]", name)[0])
    steps = Path(os.path.relpath(file, fixed or ".")).parts[:-1]
    named = [step.partition("=") for step in steps if "=" in step]
    return {unquote(key): None if value == NO_PARTITION else unquote(value) for key, _, value in named}


def saved(files: InputFiles, rows: pl.LazyFrame) -> pl.DataFrame:
    """Read saved numbers; apostrophes that protect texts in CSV and TSV from spreadsheets are removed."""
    frame = rows.collect()
    if format_of(files.names[0]) not in OF_CELLS:
        return frame
    return frame.with_columns(cs.string().map_elements(with_formulas, pl.String))


def checked_names(given: Any) -> list[str]:
    """Return the file names from a flag or a settings file, as a list; raise for anything else."""
    names = given if isinstance(given, list) else [given]
    if not names or not all(isinstance(name, str) and name for name in names):
        raise BadValueError(f"input: {quote(given)} is not the name of a file, or a list of names")
    return names


def _no_input(name: str) -> str:
    """Return the way out for a metric in the place of the input, as where the input is piped; "" for other names."""
    try:
        read_text(name)
    except FrameMetricsError:
        return ""
    return "; it is a metric: name the input before it, or - for what is piped"
