"""Frames written to files and to standard output."""

from __future__ import annotations

import gzip
import io
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from textwrap import fill
from typing import Any

import polars as pl
import polars.selectors as cs

from frame_metrics.backends.display import DIGITS_IN_NOTEBOOK, ON_DEMAND, is_comparison, text_of, text_table
from frame_metrics.backends.files import file_name, replacing
from frame_metrics.backends.tables import in_html, in_markdown
from frame_metrics.backends.trec import write_qrels, write_run
from frame_metrics.command.files.formats import ENDINGS, MARKS, OF_CELLS, format_of
from frame_metrics.command.texts import in_lines, no_command, no_formula, on_github
from frame_metrics.errors import ColumnError, FrameMetricsError, listed, no_column

FOR_PEOPLE = {"table": (".txt",), "md": (".md",), "markdown": (".markdown",), "html": (".html",)}
NARROW = 80  # characters of a line if there is no terminal to ask
# Columns of a comparison that are left out of a narrow table, in this order.
LEAVING = (
    *(*ON_DEMAND, "mde", "ties", "baseline_n_units", "n_units", "baseline_n", "n"),
    *("losses", "wins", "baseline_value", "value"),
)
TREC = {kind: ENDINGS[kind] for kind in ("run", "qrels")}  # formats that --to does not take
WRITTEN: dict[str, tuple[str, ...]] = FOR_PEOPLE | {kind: e for kind, e in ENDINGS.items() if kind not in TREC}
PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>frame_metrics</title>
<style>:root {{ color-scheme: light dark; font-family: sans-serif }} td, th {{ padding: .2em .6em; text-align: left }}
tbody th {{ font-weight: normal }} td.number {{ text-align: right; font-variant-numeric: tabular-nums }}</style>
{}
</html>
"""


@dataclass(frozen=True)
class Look:
    """Options for writing a result."""

    formulas: str  # "text" puts an apostrophe before texts of CSV and TSV that a spreadsheet would run, "keep" does not
    digits: int | None = None  # significant digits of numbers in tables for people; None for all
    header: bool = True  # True for a line with the names of columns
    brief: bool = False  # True if columns of a comparison that do not fit in a line may be left out


def arranged(frame: pl.DataFrame, columns: Sequence[str], sort: Sequence[str], digits: int | None) -> pl.DataFrame:
    """Return a result with some of its columns, sorted and rounded.

    Parameters
    ----------
    columns : the columns to keep; [] for all.
    sort : the columns to sort by; a minus before a name sorts in descending order.
    digits : significant digits of numbers; None for all.
    """
    keys, wanted = _known("--sort", sort, frame.columns), _known("--columns", columns, frame.columns)
    if keys:
        down = [name not in frame.columns for name in keys]
        named = [name[least:] for name, least in zip(keys, down, strict=True)]
        frame = frame.sort(named, descending=down, nulls_last=True, maintain_order=True)
    frame = frame.select(wanted) if wanted else frame
    return frame if digits is None else frame.with_columns(cs.float().round_sig_figs(digits))


def _known(flag: str, texts: Sequence[str], there: Sequence[str]) -> list[str]:
    """Return the columns that a flag names, one by one or separated by commas; raise for an unknown one."""
    names = [name for text in texts for name in ([text] if text in there else map(str.strip, text.split(",")))]
    for name in names:
        if names.count(name) > 1:
            raise ColumnError(f"{flag} {name}: the column is named twice")
        if name not in there and not (flag == "--sort" and name.removeprefix("-") in there):
            raise no_column(f"{flag} {name}", name, there)
    return names


def format_to(name: str | None, format_name: str | None, *, header: bool = True, trec: bool = False) -> str:
    """Return the format of the output: the one that is asked for, or else that of the file's ending.

    Parameters
    ----------
    name : the file; None for standard output, where the format is a table for a terminal, and otherwise CSV.
    format_name : the format that is asked for, if any.
    header : True for a line with the names of columns.
    trec : True if TREC formats are allowed.
    """
    endings = WRITTEN | (TREC if trec else {})
    terminal = name is None and sys.stdout is not None and sys.stdout.isatty()
    kind = format_name or ("table" if terminal else "csv" if name is None else format_of(name, endings))
    if kind is None:
        every = listed([one for several in endings.values() for one in several])
        raise FrameMetricsError(f"-o {name}: the ending is not one of {every}; name one, or pass --to")
    if kind in MARKS and name is not None and is_packed(name):
        raise FrameMetricsError(f"-o {name}: {kind} is not packed by gzip; leave out .gz")
    if kind in MARKS and terminal:
        raise FrameMetricsError(f"--to {kind}: a terminal cannot show it; name a file with -o, or pipe it on")
    if not header and kind not in ("table", *OF_CELLS):
        raise FrameMetricsError(f"--no-header: {kind} has no line of names; pass --to csv, tsv or table")
    return kind


def is_packed(name: str) -> bool:
    """Return True for the name of a file that gzip packs."""
    return name.lower().endswith(".gz")


def as_bytes(frame: pl.DataFrame, kind: str, look: Look, width: int | None = None) -> bytes:
    """Return a frame as the bytes of a format; ``width``: characters of a line of the terminal, None without one."""
    if kind == "table":
        left: list[str] = []
        if look.brief and is_comparison(frame):
            width = width or NARROW
            frame, left = _fitted(frame, look, width)
        text = text_of(frame, digits=look.digits, width=width, header=look.header)
        note = fill(f"left out, as lines are narrow: {', '.join(left)}; --to csv has all", width or NARROW)
        return f"{text}\n{note}\n".encode() if left else f"{text}\n".encode()
    if kind in FOR_PEOPLE:
        text = (
            PAGE.format(in_html(text_table(frame, look.digits)))
            if kind == "html"
            else in_markdown_cells(frame, look.digits)
        )
        return text.encode()
    file = io.BytesIO()
    if kind in OF_CELLS:
        _check_flat(frame.schema, kind)
        safe = _changed(frame, no_formula) if look.formulas == "text" else frame
        safe.write_csv(file, separator=OF_CELLS[kind], include_header=look.header)
    elif kind in MARKS:
        (frame.write_parquet if kind == "parquet" else frame.write_ipc)(file)
    elif kind == "json":
        _finite(frame).write_json(file)
        file.write(b"\n")
    else:
        _finite(frame).write_ndjson(file)
    return file.getvalue()


def _fitted(frame: pl.DataFrame, look: Look, width: int) -> tuple[pl.DataFrame, list[str]]:
    """Return a comparison with few digits, without columns that do not fit, and the names of those left out."""
    from frame_metrics.report.cells import P_VALUES, p_text

    if look.digits is not None:
        ps = [
            pl.Series(name, [None if p is None else p_text(p) for p in frame[name]], pl.String)
            for name in P_VALUES
            if name in frame.columns
        ]
        frame = frame.with_columns(ps).with_columns(cs.float().round_sig_figs(DIGITS_IN_NOTEBOOK))
    left = []
    for name in LEAVING:
        if max(map(len, text_of(frame, digits=look.digits).split("\n"))) <= width:
            break
        left += [name] if name in frame.columns else []
        frame = frame.drop(name, strict=False)
    return frame, left


def write(frame: pl.DataFrame, name: str, kind: str, look: Look) -> None:
    """Write a frame to a file."""
    data = as_bytes(frame, kind, look)
    put_in(name, gzip.compress(data, mtime=0) if is_packed(name) else data)


def put_in(name: str, data: bytes) -> None:
    """Write bytes to a file; an existing file is replaced only once the new one is complete."""
    with replacing(file_name(name)) as file:
        file.write(data)


def print_frame(frame: pl.DataFrame, kind: str, look: Look) -> None:
    """Print a frame."""
    if on_github() and kind not in (*MARKS, "json", "jsonl"):
        frame = _changed(frame, no_command)
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    put(as_bytes(frame, kind, look, width))


def put(data: bytes) -> None:
    """Write bytes to standard output; a terminal gets them as text without control characters."""
    if sys.stdout.isatty():
        data = in_lines(data.decode()).encode(sys.stdout.encoding or "utf-8", "backslashreplace")
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.flush()


def convert(
    plan: pl.LazyFrame,
    name: str,
    kind: str,
    formulas: str,
    roles: Mapping[str, str],
    run: str,
    check: Callable[[], None],
) -> None:
    """Write all rows of a plan to a file, piece by piece if the format allows it.

    Parameters
    ----------
    roles : the columns that a TREC file needs: query, doc, score and grade.
    run : the name of a run, or of the column that has it.
    check : a function that is called when all rows were read, before the new file replaces an old one.
    """
    if kind in TREC:
        ids, frame = {role: roles[role] for role in ("query", "doc")}, plan.collect()
        check()
        if kind == "run":
            write_run(frame, name, **ids, score=roles["score"], run=run)
        else:
            write_qrels(frame, name, **ids, grade=roles["grade"])
        return
    if kind in OF_CELLS:
        _check_flat(plan.collect_schema(), kind)
    sinks: dict[str, Callable[[Any], Any]] = {"parquet": plan.sink_parquet, "arrow": plan.sink_ipc}
    if formulas == "keep" and not is_packed(name):
        sinks |= {one: partial(plan.sink_csv, separator=separator) for one, separator in OF_CELLS.items()}
    if kind not in sinks:
        frame = plan.collect()
        check()
        write(frame, name, kind, Look(formulas))
        return
    with replacing(name) as file:
        sinks[kind](file)
        check()


def _check_flat(types: Mapping[str, Any], kind: str) -> None:
    """Raise for a column of lists, objects or bytes, which CSV and TSV cannot hold."""
    if nested := [name for name, one in types.items() if one.is_nested()]:
        raise FrameMetricsError(f"{listed(nested)}: {kind} cannot hold lists and objects; pass --to parquet or json")
    if of_bytes := [name for name, one in types.items() if one == pl.Binary]:
        raise FrameMetricsError(f"{listed(of_bytes)}: {kind} cannot hold bytes; pass --to parquet")


def _changed(frame: pl.DataFrame, change: Callable[[str], str]) -> pl.DataFrame:
    """Return a frame with a function applied to its texts and to the names of its columns."""
    texts = frame.with_columns(cs.by_dtype(pl.Categorical, pl.Enum).cast(pl.String))
    return texts.with_columns(cs.string().map_elements(change, pl.String)).rename(change)


def _finite(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame for JSON: columns with NaN or infinite numbers, which JSON does not have, become texts."""
    odd = [one.name for one in frame.select(cs.float()) if (~one.is_finite()).any()]
    return frame.with_columns(pl.col(odd).cast(pl.String)) if odd else frame


def in_markdown_cells(frame: pl.DataFrame, digits: int | None) -> str:
    """Return a frame as a table of Markdown."""
    return f"{in_markdown(text_table(frame, digits))}\n"
