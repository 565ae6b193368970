"""Checks of texts that differ in case or spaces only: labels beside ``positive=``, segments, systems and classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from frame_metrics.data.cases import n_marked
from frame_metrics.inputs import Array
from frame_metrics.keys.index import Index
from frame_metrics.keys.spelling import (
    MOST_TEXTS,
    and_more,
    are_texts,
    difference_in_words,
    first_in_quotes,
    folded,
    quoted_values,
    spelled_like,
    spelling_codes,
    spelling_groups,
    unseen,
    variants,
    variants_text,
)
from frame_metrics.roles.columns import Columns
from frame_metrics.roles.conventions import Conventions
from frame_metrics.roles.series import is_one_of
from frame_metrics.verbs.audit.checks import About, Seen, check


class WithPositive(NamedTuple):
    """Labels and predictions, of which ``positive=`` names the relevant ones."""

    tables: Sequence[tuple[list[pl.Series], pl.Series | None]]  # columns of equal rows, and how many each stands for
    sides: Sequence[pl.Series | None]  # the labels and the predictions of rows that count
    conventions: Conventions

    @property
    def positive(self) -> Sequence[Any]:
        """The values that ``positive=`` names."""
        return self.conventions.positive or ()

    def count_rows(self, texts: Sequence[str] | None = None) -> int:
        """Return the number of rows, or of those in which a side is one of some texts."""
        n = 0
        for sides, times in self.tables:
            marks = None
            for side in sides if texts is not None else ():
                if are_texts(side):
                    own = is_one_of(side, list(texts or ()), side.name).fill_null(False)
                    marks = own if marks is None else marks | own
            if texts is None or marks is not None:
                n += n_marked(times, marks, len(sides[0]))
        return n


@check("error", "rows")
def positive_written_otherwise(sides: WithPositive) -> Seen:
    """{why}"""
    word = sides.conventions.positive_text
    lost = unseen(spelled_like(sides.sides, word), word)
    if lost is None:
        return Seen(0, sides.count_rows())
    return Seen(sides.count_rows(lost[0]), sides.count_rows(), lost[0][0], {"why": variants_text(*lost, str(word))})


@check("warning", "rows", only=lambda sides: not sides.conventions.positive_listed)
def labels_written_almost_as_positive(sides: WithPositive) -> Seen:
    """{n} of {of} rows {have} {like}, which {count} as no: {they} from positive={text} {apart};
    positive=[{text}] says that this is meant
    """
    return _almost(sides)


@check("info", "rows", only=lambda sides: sides.conventions.positive_listed)
def labels_written_almost_as_listed_ones(sides: WithPositive) -> Seen:
    """{n} of {of} rows {have} {like}, which {count} as no: {they} from {text}, of the list positive=, {apart}"""
    return _almost(sides)


def _almost(sides: WithPositive) -> Seen:
    """Count the rows with variants of texts that ``positive=`` names, of a single one if any row has it itself."""
    columns = [side for side in sides.sides if side is not None]
    each = {one: variants(columns, one) for one in sides.positive if isinstance(one, str)}
    if (word := sides.conventions.positive_text) is not None and not any(
        word in own for own in spelled_like(columns, word)
    ):
        each = {}
    texts = [(text, [one for one in like if one not in sides.positive]) for text, like in each.items()]
    found = [(text, like) for text, like in texts if like]
    if not found:
        return Seen(0, sides.count_rows())
    every = [*dict.fromkeys(one for _, like in found for one in like)]
    text, n = found[0][0], sides.count_rows(every)
    first, *like = quoted_values([text, *every[:MOST_TEXTS]])
    words = {"like": and_more(like, len(every)), "text": first, "have": "has" if n == 1 else "have"}
    words["apart"] = difference_in_words([[one, *group] for one, group in found])
    words["count"], words["they"] = ("counts", "it differs") if len(every) == 1 else ("count", "they differ")
    return Seen(n, sides.count_rows(), every[0], words)


def folded_segments(index: Index) -> Array:
    """Return the number of each segment, equal for those that differ in case or spaces only, shape (segments,)."""
    found = spelling_codes(index.segments.values, folded)
    return np.arange(len(index.segments)) if found is None else found


class SpelledNames(NamedTuple):
    """The names of segments, of systems or of classes."""

    what: str  # "segments", "systems" or "classes"
    column: str
    values: Sequence[Any]


@check("warning", "names", only=lambda names: names.what != "classes")
def names_that_differ_in_case_or_spaces_only(names: SpelledNames) -> Seen:
    """{said} of {names.column} differ {apart}, and count as different {names.what}: make them alike if
    they mean the same
    """
    return _similar_names(names)


@check("info", "classes", only=lambda names: names.what == "classes")
def classes_that_differ_in_case_or_spaces_only(names: SpelledNames) -> Seen:
    """{said} differ {apart}, and count as different classes: make them alike if they mean the same"""
    return _similar_names(names)


def _similar_names(names: SpelledNames) -> Seen:
    groups = spelling_groups(names.values)
    every = [one for group in groups for one in group]
    words = {"said": first_in_quotes(every), "names": names, "apart": difference_in_words(groups)}
    return Seen(len(every), len(names.values), first_in_quotes(groups[0]) if groups else None, words)


def about_positive(
    sides: list[pl.Series | None], times: pl.Series | None, judgment_labels: pl.Series | None, conventions: Conventions
) -> list[About]:
    """Return the subject of checks of ``positive=``, if there is one.

    Parameters
    ----------
    sides, times : the columns of labels and predictions, None for none, and how many rows each row stands for.
    judgment_labels : the labels of separate judgments, if there are any.
    """
    tables = [
        ([side for side in sides if side is not None], times),
        ([] if judgment_labels is None else [judgment_labels], None),
    ]
    known = [(columns, each) for columns, each in tables if columns]
    if not known or conventions.positive is None:
        return []
    label, predicted = (side if side is None or times is None else side.filter(times > 0) for side in sides)
    return [About(WithPositive(known, (judgment_labels if label is None else label, predicted), conventions))]


def about_names(columns: Columns, values: pl.DataFrame, classes: pl.Series | None = None) -> list[About]:
    """Return the subjects of checks of names.

    Parameters
    ----------
    values : the values of systems and segments, by the caller's names.
    classes : the classes, if there are several.
    """
    system = [("systems", columns.system)] if columns.system else []
    named = [*system, *(("segments", name) for name in columns.by)]
    found = [SpelledNames(what, name, values[name].unique(maintain_order=True).to_list()) for what, name in named]
    if classes is not None and columns.label:
        found.append(SpelledNames("classes", columns.label, classes.to_list()))
    return [About(one) for one in found]
