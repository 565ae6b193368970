"""Columns of the files of a call, and the roles that their names and first values let them have."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

import numpy as np
import polars as pl

from frame_metrics.command.files.formats import format_inside
from frame_metrics.command.files.lists_in_cells import lists_in, with_lists
from frame_metrics.errors import BadValueError, FrameMetricsError
from frame_metrics.roles.columns import FOUND, ROLES

FIRST_ROWS = 2_000  # rows that show what a column holds
MOST_GRADES, MOST_CLASSES, MOST_GROUPS = 12, 50, 100  # different values of judgments, of classes and of groups
READ_AS = {".csv": ",", ".tsv": "\t"}  # endings of files of cells, and what is between these
OF_IDS, OF_GROUPS = ("query", "doc", "cluster"), ("system", "arm", "by", "annotator", "team")
OF_LISTS = ("doc", "relevant")
PLAIN_WORDS = {"id", "is", "y", "text", "product", "class", "label", "score"}  # of usual names, that name no role
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def columns_in(file: str) -> list[str]:
    """Return the columns of a file of cells or a Parquet file; none of another, or of one that cannot be read."""
    try:
        return scan(file).collect_schema().names() if file.endswith((*READ_AS, ".parquet", ".jsonl")) else []
    except (pl.exceptions.PolarsError, OSError):
        return []


def scan(file: str, infer: bool = False) -> pl.LazyFrame:
    """Return the plan of a file; ``infer``: whether columns of text files have the types of their values."""
    if file.endswith(".jsonl"):
        return pl.scan_ndjson(file)
    separator = READ_AS.get(os.path.splitext(file)[1])
    return pl.scan_csv(file, infer_schema=infer, separator=separator) if separator else pl.scan_parquet(file)


def has_judgments(file: str) -> bool:
    """Return True for a file of judgments of TREC."""
    try:
        return format_inside(file) == "qrels"
    except FrameMetricsError:  # which cannot be read
        return False


def first_rows(arguments: Iterable[str]) -> pl.DataFrame:
    """Return the first rows of the first file among arguments that has columns; without columns if none has."""
    for one in arguments:
        if os.path.isfile(one) and columns_in(one):
            try:
                rows = scan(one, infer=True).head(FIRST_ROWS)
                return with_lists(rows, lists_in(rows)).collect()
            except (pl.exceptions.PolarsError, OSError, BadValueError):
                continue
    return pl.DataFrame()


def may_hold(role: str, values: pl.Series) -> bool:
    """Return True for values that a column of a role may have."""
    known, kind = values.drop_nulls(), values.dtype
    if isinstance(kind, pl.List):
        return role in OF_LISTS
    n = known.n_unique()
    least, most = (float(one(known.to_numpy())) if n and kind.is_numeric() else 0 for one in (np.min, np.max))
    if role in OF_IDS:
        return not kind.is_float() and n > 1
    if role in OF_GROUPS:
        return not kind.is_float() and 1 < n <= MOST_GROUPS
    if role in ("label", "predicted"):
        return not kind.is_float() and 0 < n <= MOST_CLASSES if kind == pl.String else {*known} <= {0, 1}
    if role == "rank":
        return bool(kind.is_integer() and n > 1 and least == 1 and most == n)
    if role == "grade":
        return bool(kind.is_numeric() and 0 < n <= MOST_GRADES and least >= 0)
    return ROLES[role].file_type != "number" or bool(kind.is_numeric() and n > 1 and not may_hold("rank", values))


def words_of(name: str) -> set[str]:
    """Return the words of a name, in small letters: of is_relevant, SearchPhrase or --rel-col."""
    return {one.lower() for one in WORD.findall(name)}


def likeness(role: str, name: str) -> int:
    """Return 2 for a name that is usual for a role, 1 for one with a word of such a name, else 0."""
    plain = "_".join(one.lower() for one in WORD.findall(name))
    usual = {role, *ROLES[role].names}
    if {plain, plain.replace("_", "")} & usual:
        return 2
    return int(bool(words_of(name) & ({word for one in usual for word in one.split("_")} - PLAIN_WORDS | {role})))


def judgments_in(arguments: Sequence[str]) -> list[tuple[str, str]]:
    """Return the flags of the one column of grades and the one of 0 and 1 of a file; [] if it has not one of each."""
    rows = first_rows(arguments)
    numbers = [one for one in rows.columns if one not in {*arguments, *FOUND} and rows[one].dtype.is_integer()]
    graded = [one for one in numbers if may_hold("grade", rows[one]) and not may_hold("rank", rows[one])]
    labels = [one for one in graded if {*rows[one].drop_nulls()} == {0, 1}]
    grades = [one for one in graded if one not in labels]
    return [("--grade", grades[0]), ("--label", labels[0])] if len(labels) == len(grades) == 1 else []


def column_for(role: str, arguments: Sequence[str], holding: str = "") -> str:
    """Return the one column of the files of a call that may have a role, by its values, or also by its name; else "".

    Parameters
    ----------
    holding : a value that the column has; "" for any.
    """
    if role in ("grade", "label") and "--qrels" in arguments[:-1]:
        arguments = [arguments[arguments.index("--qrels") + 1]]
    rows = first_rows(arguments)
    taken = {*arguments, *FOUND} - {role}
    free = [one for one in rows.columns if one not in taken and may_hold(role, rows[one])]
    held = [one for one in free if holding and holding in rows[one].cast(pl.String)]
    for degree in (2, 1) if role == "score" else (0, 2, 1):  # any number would do as a score
        likely = [one for one in held or free if likeness(role, one) >= degree]
        if len(likely) == 1:
            return likely[0]
    return ""
