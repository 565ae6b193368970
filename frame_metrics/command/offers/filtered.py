"""Commands that read the rows of a CSV file with one value, as awk prints them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence

from frame_metrics.command.files.columns_there import columns_in

FILTERS = ("--filter", "--where")
ONE_VALUE = re.compile(r"\s*([^=<>!'\"]+?)\s*==?\s*(['\"]?)([\w .:/-]+?)\2\s*")  # a column and its value
AND = re.compile(r"\s+(?:and|AND)\s+|\s*&&?\s*")
MOST_BYTES = 10_000_000  # of a file in which quotes are looked for


def is_filter(flag: str, value: str) -> bool:
    """Return True for a flag that names one value of a column."""
    return flag in FILTERS and bool(_conditions(value))


def _conditions(text: str) -> list[tuple[str, str]]:
    """Return the columns and values that a text names, with "and" between them; [] if it says something else."""
    found = [ONE_VALUE.fullmatch(one) for one in AND.split(text)]
    return [(one[1], one[3]) for one in found if one] if all(found) else []


def filtered(command: Sequence[str], file: str, values: Mapping[str, str]) -> str:
    """Return the shell's line in which a command reads the rows that are asked for; "" if awk cannot tell them.

    Parameters
    ----------
    command : the program, the command and its arguments, among them the file.
    values : what stands behind each flag that was typed.
    """
    each = [_conditions(values[flag]) for flag in FILTERS if flag in values]
    asked, there = each[0] if len(each) == 1 else [], columns_in(file) if file.endswith(".csv") else []
    known = asked and {column for column, _ in asked} <= {*there}
    if not known or sum(one == file for one in command) != 1 or _has_quotes(file):
        return ""
    wanted = " && ".join(f'${there.index(column) + 1} == "{value}"' for column, value in asked)
    wanted = f"NR == 1 || {wanted}"
    return _piped(["awk", "-F,", wanted, file], command, file)


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
