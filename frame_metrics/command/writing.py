"""Frames as files, and as what standard output shows."""

from __future__ import annotations

import html
import io
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl
import polars.selectors as cs

from frame_metrics.border.files import replacing
from frame_metrics.border.trec import write_qrels, write_run
from frame_metrics.command.reading import format_of
from frame_metrics.command.texts import columns_of, in_markdown, no_formula, of_value, visible
from frame_metrics.errors import FrameMetricsError, check_choice, listed

ENDINGS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".md": "md",
    ".html": "html",
}
WRITTEN = ("table", *dict.fromkeys(ENDINGS.values()))
DIGITS = 6  # of numbers in a table, where nothing is gated
PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>frame_metrics</title>
<style>:root {{ color-scheme: light dark; font-family: sans-serif }} td, th {{ padding: .2em .6em; text-align: left }}
td.number {{ text-align: right; font-variant-numeric: tabular-nums }}</style>
<table>
{}
</table>
</html>
"""


def format_to(name: str, said: str | None) -> str:
    """Return the format of a file that is written, by its ending where none is said."""
    if said is not None:
        check_choice("to", said, WRITTEN)
        return said
    known = next((kind for ending, kind in ENDINGS.items() if name.lower().endswith(ending)), None)
    if known is None:
        raise FrameMetricsError(f"-o {name}: the ending is not one of {listed(ENDINGS)}; name one, or say --to")
    return known


def as_bytes(frame: pl.DataFrame, kind: str, *, formulas: str = "text", digits: int | None = DIGITS) -> bytes:
    """Return a frame in a format.

    Parameters
    ----------
    formulas : "text" puts an apostrophe before texts of CSV and TSV that a spreadsheet would run, "keep" leaves them.
    digits : of numbers in tables for people to read; None for all that they have.
    """
    if kind in ("table", "md", "html"):
        text = {"table": table, "md": markdown, "html": page}[kind](frame, digits)
        return text.encode("utf-8", "backslashreplace")
    file = io.BytesIO()
    write_to(file, frame, kind, formulas)
    return file.getvalue()


def write_to(file: Any, frame: pl.DataFrame, kind: str, formulas: str) -> None:
    """Write a frame to an open file, in a format that is read back."""
    if kind in ("csv", "tsv"):
        frame = _no_formulas(frame) if formulas == "text" else frame
        frame.write_csv(file, separator="," if kind == "csv" else "\t")
    elif kind == "parquet":
        frame.write_parquet(file)
    elif kind == "arrow":
        frame.write_ipc(file)
    elif kind == "json":
        _finite(frame).write_json(file)
    else:
        _finite(frame).write_ndjson(file)


def write(frame: pl.DataFrame, name: str, kind: str, formulas: str, digits: int | None) -> None:
    """Write a frame to a file, which takes its place once it is whole."""
    with replacing(name) as file:
        file.write(as_bytes(frame, kind, formulas=formulas, digits=digits))


def show(frame: pl.DataFrame, kind: str | None, formulas: str, digits: int | None) -> None:
    """Print a frame: a table where standard output is a terminal, else CSV, if nothing else is said."""
    terminal = sys.stdout.isatty()
    kind = kind or ("table" if terminal else "csv")
    if terminal and kind in ("parquet", "arrow"):
        raise FrameMetricsError(f"--to {kind}: a terminal cannot show it; name a file with -o, or pipe it on")
    data = as_bytes(frame, kind, formulas=formulas, digits=digits)
    if terminal:
        text = data.decode() if kind == "table" else visible(data.decode(), keep="\n\t")
        data = text.encode(sys.stdout.encoding or "utf-8", "backslashreplace")
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.flush()


def convert(
    plan: pl.LazyFrame, name: str, kind: str | None, formulas: str, roles: Mapping[str, str], run_name: str | None
) -> None:
    """Write all rows of a plan to a file, piece by piece where the format takes them so.

    Parameters
    ----------
    roles : the columns that a file of TREC needs: query, doc, score and grade.
    run_name : the name of a run where no column has it.
    """
    if kind is None and format_of(name) in ("run", "qrels"):
        ids = {role: roles[role] for role in ("query", "doc")}
        if format_of(name) == "run":
            write_run(plan.collect(), name, **ids, score=roles["score"], run=run_name or "run")
        else:
            write_qrels(plan.collect(), name, **ids, grade=roles["grade"])
        return
    kind = format_to(name, kind)
    with replacing(name) as file:
        if kind == "parquet":
            plan.sink_parquet(file)
        elif kind == "arrow":
            plan.sink_ipc(file)
        elif kind in ("csv", "tsv") and formulas == "keep":
            plan.sink_csv(file, separator="," if kind == "csv" else "\t")
        else:
            file.write(as_bytes(plan.collect(), kind, formulas=formulas, digits=None))


def _no_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame without texts, and names of columns, that a spreadsheet would run."""
    texts = frame.with_columns(cs.by_dtype(pl.Categorical, pl.Enum).cast(pl.String))
    safe = [pl.col(name).map_elements(no_formula, pl.String) for name in texts.select(cs.string()).columns]
    return texts.with_columns(safe).rename({name: no_formula(name) for name in frame.columns})


def _finite(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame for JSON, which has no infinite numbers: a column that holds one is of texts there, as "inf"."""
    odd = [one.name for one in frame.select(cs.float()) if (~one.is_finite()).any()]
    return frame.with_columns(pl.col(odd).cast(pl.String)) if odd else frame


def cells(frame: pl.DataFrame, digits: int | None, shown: Callable[[str], str]) -> tuple[list[str], list[list[str]]]:
    """Return the names of columns, and the cells of each row, as texts."""
    rows = [[shown(of_value(value, digits)) for value in row] for row in frame.iter_rows()]
    return [shown(name) for name in frame.columns], rows


def numeric(frame: pl.DataFrame) -> list[bool]:
    """Return which columns hold numbers."""
    return [kind.is_numeric() for kind in frame.schema.values()]


def table(frame: pl.DataFrame, digits: int | None = DIGITS) -> str:
    """Return a frame as a table for a terminal; one that is too wide for it has a block of lines for each row."""
    head, rows = cells(frame, digits, visible)
    widths = [max(map(columns_of, column)) for column in zip(head, *rows, strict=True)]
    if sum(widths) + 2 * (len(widths) - 1) > shutil.get_terminal_size((100, 24)).columns and rows:
        return _blocks(head, rows)
    right = numeric(frame)
    lines = [head, ["-" * width for width in widths], *rows]
    return "".join(_line(line, widths, right) for line in lines)


def _line(line: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    """A line of a table, with numbers at the right of their columns."""
    spaces = [" " * (width - columns_of(cell)) for cell, width in zip(line, widths, strict=True)]
    padded = [space + cell if ends else cell + space for cell, space, ends in zip(line, spaces, right, strict=True)]
    return "  ".join(padded).rstrip() + os.linesep


def _blocks(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A block of lines for each row: a column and its value."""
    width = max(map(columns_of, head))
    blocks = [
        [f"{name}{' ' * (width - columns_of(name))}  {cell}" for name, cell in zip(head, row, strict=True)]
        for row in rows
    ]
    return "\n\n".join("\n".join(line.rstrip() for line in block) for block in blocks) + "\n"


def markdown(frame: pl.DataFrame, digits: int | None = DIGITS) -> str:
    """Return a frame as a table of Markdown."""
    head, rows = cells(frame, digits, in_markdown)
    rule = ["---:" if number else "---" for number in numeric(frame)]
    return "".join(f"| {' | '.join(line)} |\n" for line in (head, rule, *rows))


def page(frame: pl.DataFrame, digits: int | None = DIGITS) -> str:
    """Return a frame as a page of HTML with a table."""
    head, rows = cells(frame, digits, lambda text: html.escape(visible(text)))
    classes = [' class="number"' if number else "" for number in numeric(frame)]
    lines = ["".join(f"<th>{name}</th>" for name in head)]
    lines += ["".join(f"<td{kind}>{cell}</td>" for kind, cell in zip(classes, row, strict=True)) for row in rows]
    return PAGE.format("\n".join(f"<tr>{line}</tr>" for line in lines))
