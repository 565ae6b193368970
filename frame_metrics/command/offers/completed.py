"""Flags that a command lacks, as the columns of its files show."""

from __future__ import annotations

import os
from collections.abc import Sequence

import polars as pl

from frame_metrics.command.call import OF_FILES
from frame_metrics.command.commands import options_of
from frame_metrics.command.files.columns_there import columns_in, scan
from frame_metrics.command.offers.named_metrics import with_before
from frame_metrics.command.offers.our_flags import values_of
from frame_metrics.command.periods import FIRST_ROWS, has_times
from frame_metrics.roles.columns import ROLES

# Commands that print documents, or that say where others may be relevant.
WITH_DOCS = ("explain", "to-judge", "evaluate", "per-query")
OF_PAGES = ("report", "summary", "audit")  # commands that take rows without an order too


def completed(command: Sequence[str]) -> list[str]:
    """Return a command with the flags without which it would run, but take the rows for something else.

    Documents of several systems are judged for all of them only if ``--doc`` names them; results in order would be a
    set, and each time of the day a segment of its own.
    """
    name, *rest = command
    files = [one for one in rest if os.path.isfile(one)]
    there, options = [*dict.fromkeys(column for one in files for column in columns_in(one))], options_of(name)
    if "query" not in options or "--no-query" in rest or not ("query" in there or "--query" in rest):
        return [*command]
    named = {one for one, before in with_before(rest) if before.startswith("--")}
    free = [one for one in there if one not in named]
    several = "--system" in rest or (name in OF_FILES and len(files) > 1) or name in WITH_DOCS
    wanted = [("doc",)] * (several and "doc" in options) + [("rank", "score")] * (name in OF_PAGES)
    added = [word for roles in wanted for word in _likely(roles, rest, there, free)]
    by = rest[rest.index("--by") + 1] if "--by" in rest[:-1] else ""
    every = ["--every", "1d"] if "--every" not in rest and any(_has_times(one, by) for one in files) else []
    return [*command, *added, *every]


def with_whole_predictions(command: Sequence[str]) -> list[str]:
    """Return a command about two raters in which rows that one of them left out are dropped, as those of no label.

    A row without a prediction would count as one that is never right.
    """
    values, files = values_of(command), [one for one in command if os.path.isfile(one)]
    label, predicted = values.get("--label", ""), values.get("--predicted", "")
    if "--no-query" not in command or len(files) != 1 or not {label, predicted} <= {*columns_in(files[0])}:
        return [*command]
    lacking = scan(files[0]).select(pl.col(label, predicted).null_count()).collect().row(0)
    if (lacking[0] > 0) == (lacking[1] > 0) or not any(one.startswith("kappa") for one in command):
        return [*command]
    swapped = {label: predicted, predicted: label} if lacking[1] else {label: label, predicted: predicted}
    pairs = with_before(command)
    named = [swapped[one] if before in ("--label", "--predicted") else one for one, before in pairs]
    return [*named, *(["--unjudged", "drop"] if "--unjudged" not in named else [])]


def _likely(roles: Sequence[str], rest: Sequence[str], there: Sequence[str], free: Sequence[str]) -> list[str]:
    """Return the flag of the first of some roles with a column of a usual name; none if one of them is played."""
    if any({role, f"--{role}", f"--no-{role}"} & {*there, *rest} for role in roles):
        return []
    return next(([f"--{role}", known[0]] for role in roles if (known := ROLES[role].among(free))), [])


def _has_times(file: str, column: str) -> bool:
    """Return True for a column of a file that holds times of the day."""
    return column in columns_in(file) and has_times(scan(file).select(column).head(FIRST_ROWS).collect()[column])


def greatest_grade(arguments: Sequence[str]) -> str:
    """Return the greatest grade of the files of a call, as text: of judgments of TREC, or of a column; "" for none."""
    grades = [grade for one in arguments if os.path.isfile(one) for grade in _grades(one, arguments)]
    return f"{max(grades):g}" if grades else ""


def _grades(file: str, arguments: Sequence[str]) -> list[float]:
    """Return the grades in a file; none if it has none."""
    named = arguments[[*arguments].index("--grade") + 1] if "--grade" in arguments[:-1] else "grade"
    if named in columns_in(file):
        return (
            scan(file)
            .select(pl.col(named).cast(pl.Float64, strict=False).max())
            .collect()[named]
            .drop_nulls()
            .to_list()
        )
    if file.endswith((".csv", ".parquet")):
        return []
    with open(file, encoding="utf-8", errors="replace") as lines:
        rows = [line.split() for line in lines]
    is_qrels = bool(rows) and all(len(row) == 4 and row[3].lstrip("-").isdecimal() for row in rows)
    return [max(float(row[3]) for row in rows)] if is_qrels else []
