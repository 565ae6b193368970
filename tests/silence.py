"""What says that a value is missing: a count of a result, a sentence, a finding of the audit, or an error."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import polars as pl

from frame_metrics.roles.columns import ROLES as DECLARED

# Columns of results that count, whatever their name begins with.
COUNTS = {"n", "support", "undefined", "answered", "tp", "fp", "fn", "tn", "pairs"}
# Words for a role in findings, besides its own name, its plural and the column's name.
WORDS = {"label": ["judg", "label"], "grade": ["judg", "grade"], "relevant": ["judg"], "predicted": ["prediction"]}
WORDS["doc"] = ["without results"]  # a row whose list is null found nothing


def names_it(text: str, role: str, column: str) -> bool:
    """Return True if a text names a role, its values or its column."""
    words = [column, role, *filter(None, [DECLARED[role].plural]), *WORDS.get(role, [])]
    return any(word in text for word in words)


def counts_of(table: pl.DataFrame) -> list[Any]:
    """Return the columns of a result that count, its length, and the nulls in its keys: a segment may be null."""
    names = [name for name in table.columns if name in COUNTS or name.startswith("n_") or name.endswith("_n")]
    nulls = [column.null_count() for column in table if not column.dtype.is_float()]
    return [len(table), *nulls, *(table[name].to_list() for name in names)]


def new_sentences(before: pl.DataFrame, after: pl.DataFrame) -> set[str]:
    """Return the sentences of a summary that another one has not; none of other results."""
    return {*after["sentence"]} - {*before["sentence"]} if "sentence" in after.columns else set()


def new_findings(before: pl.DataFrame | str, after: pl.DataFrame | str) -> Iterable[str]:
    """Return the findings of an audit that another one has not, or the error that it is."""
    if isinstance(after, str):
        return [after]
    rows = [Counter() if isinstance(one, str) else Counter(one.drop("example").rows()) for one in (before, after)]
    return [f"{row[0]} {row[-1]}" for row in rows[1] - rows[0]]
