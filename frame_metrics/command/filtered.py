"""Commands that read the rows of a CSV file with one value, as awk prints them."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence

import polars as pl

from frame_metrics.command.columns_there import columns_in, texts_in

FILTERS = ("--filter", "--where")
ONE_VALUE = re.compile(r"\s*([^=<>!'\"]+?)\s*==?\s*(['\"]?)([\w .:/-]+?)\2\s*")  # a column and its value
MOST_BYTES = 10_000_000  # of a file in which quotes are looked for


def is_filter(flag: str, value: str) -> bool:
    """Return True for a flag that names one value of a column."""
    return flag in FILTERS and ONE_VALUE.fullmatch(value) is not None


def filtered(command: Sequence[str], file: str, values: Mapping[str, str]) -> str:
    """Return the shell's line in which a command reads the rows that are asked for; "" if awk cannot tell them.

    Parameters
    ----------
    command : the program, the command and its arguments, among them the file.
    values : what stands behind each flag that was typed.
    """
    asked = [found for flag in FILTERS if flag in values and (found := ONE_VALUE.fullmatch(values[flag]))]
    there = columns_in(file) if file.endswith(".csv") else []
    if len(asked) != 1 or asked[0][1] not in there or sum(one == file for one in command) != 1 or _has_quotes(file):
        return ""
    wanted = f'NR == 1 || ${there.index(asked[0][1]) + 1} == "{asked[0][3]}"'
    return _piped(["awk", "-F,", wanted, file], command, file)


def with_space(file: str, columns: Sequence[str]) -> list[str]:
    """Return those of some columns of ids of a file that have white space; none of a large file."""
    if not columns or os.path.getsize(file) > MOST_BYTES:
        return []
    rows = texts_in(file, columns)
    return [one for one in columns if rows[one].str.contains(r"\s").any()]


def underscored(command: Sequence[str], file: str, columns: Sequence[str]) -> str:
    """Return the shell's line in which a command reads ids with _ for each space; "" if two would become one."""
    there, rows = columns_in(file), texts_in(file, columns)
    ids = rows.select(pl.all().str.replace_all("[ \t]", "_"))
    odd = ids.select(pl.any_horizontal(pl.all().str.contains(r"\s|^$").fill_null(True)).any()).item()
    same = any(ids[one].n_unique() < rows[one].n_unique() for one in columns)
    if not file.endswith(".csv") or odd or same or _has_quotes(file):
        return ""
    each = "; ".join(f'gsub(/[ \\t]/, "_", ${there.index(one) + 1})' for one in columns)
    return _piped(["awk", "-F,", "-v", "OFS=,", f"NR > 1 {{ {each} }} 1", file], command, file)


def _piped(before: Sequence[str], command: Sequence[str], file: str) -> str:
    """Return the line in which a command reads what another prints, in the place of a file."""
    program, name, *rest = (word for one in command for word in (["-"] if one == file else [one]))
    at = rest.index("-") + 1
    return f"{shlex.join(before)} | {shlex.join([program, name, *rest[:at], '--from', 'csv', *rest[at:]])}"


def _has_quotes(file: str) -> bool:
    """Return True for a file that has quotes, within which a comma is no separator, or is too large to see."""
    with open(file, "rb") as content:
        first = content.read(MOST_BYTES + 1)
    return len(first) > MOST_BYTES or b'"' in first
