"""Pair the judgments of annotators: for each two of them, the documents that both judged, and how well they agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import polars as pl

from frame_metrics.fast.take_rows import INDEX
from frame_metrics.inputs import Array, ratio
from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import NONE, spans
from frame_metrics.keys.groups import as_text, drawing_ranks
from frame_metrics.stats.agreement import Judgments, codes_of_values, kappa, weighted_kappa

PAIR = ("annotator", "other")  # the columns that name a pair


@record
class Annotated:
    """The documents that each pair of annotators judged in common, pair after pair.

    A document that three annotators judged is here three times, once for each pair of them.
    """

    names: list[str]  # names of the annotators, sorted
    rows: Array  # one row of the judgments by each annotator, which holds the name, shape (annotators,)
    first: Array  # the number of the first annotator of each pair, shape (pairs,)
    second: Array  # the number of the second annotator, shape (pairs,)
    pair: Array  # the number of the pair for which a document is here, shape (documents,)
    document: Array  # the number of the document, shape (documents,)
    one: Array  # the judgment of the document by the first annotator of the pair, shape (documents,)
    other: Array  # that by the second annotator, shape (documents,)

    @property
    def n(self) -> int:
        """The number of pairs."""
        return len(self.first)

    @cached_property
    def codes(self) -> tuple[Array, Array]:
        """The judgments by the first annotator and by the second, numbered from 0 in the order of their values."""
        values = np.union1d(self.one, self.other)
        return codes_of_values(self.one, values), codes_of_values(self.other, values)


def pair_annotators(each: pl.DataFrame, document: Array, value: str, references: Sequence[str] = ()) -> Annotated:
    """Pair the judgments of each two annotators by document, or of each annotator and each reference.

    A reference is the second of its pairs, and two references are no pair.

    Parameters
    ----------
    each : judgments, at most one of a document by an annotator.
    document : the number of the document of each judgment, shape (judgments,).
    value : the column of the judgments to compare, "grade" or "label".
    references : names of annotators; those who judged none of the documents are left out.
    """
    annotator = drawing_ranks(each.select("annotator"))[0].astype(np.int32) - np.int32(1)
    first = np.unique(annotator, return_index=True)[1]
    names = [as_text(each.select("annotator"), int(row)) for row in first]
    # The number of each judgment's annotator as a reference, -1 for others.
    numbers = [names.index(name) for name in references if name in names]
    as_reference = [numbers.index(i) if i in numbers else -1 for i in range(len(names))]
    reference = np.array(as_reference, np.int32)[annotator]
    values = each[value].cast(pl.Float64).to_numpy()
    known = np.flatnonzero(~np.isnan(values)).astype(INDEX)
    ours, theirs = _paired(annotator, reference, document, known, references=bool(references))
    code = annotator[ours].astype(np.int64) * (len(numbers) + 1) + reference[theirs] + 1
    code = code * len(names) + annotator[theirs]
    # Sorted, so that sums do not depend on the order of the rows.
    order = np.lexsort((document[ours], values[theirs], values[ours], code))
    ours, theirs, code = ours[order], theirs[order], code[order]
    is_new = np.diff(code, prepend=-1) != 0
    one, other = annotator[ours[is_new]], annotator[theirs[is_new]]
    rows = each["row"].to_numpy()[first].astype(np.int64)
    pair = np.cumsum(is_new, dtype=np.int32) - np.int32(1)
    return Annotated(names, rows, one, other, pair, document[ours], values[ours], values[theirs])


def _paired(
    annotator: Array, reference: Array, document: Array, rows: Array, *, references: bool
) -> tuple[Array, Array]:
    """Return the two rows of each two judgments that are compared, shape (pairs,) each.

    Parameters
    ----------
    annotator, reference : the annotator of each row, and its number as a reference, -1 for none, shape (rows,) each.
    document : the number of the document of each row, shape (rows,).
    rows : the rows that have a judgment.
    references : whether there are references; the others are then compared with these only.
    """
    rows = rows[np.lexsort((annotator[rows], document[rows]))]
    ours, theirs = (rows[reference[rows] < 0], rows[reference[rows] >= 0]) if references else (rows, rows)
    begin = np.searchsorted(document[theirs], document[ours]) if references else np.arange(1, len(ours) + 1)
    many = np.searchsorted(document[theirs], document[ours], side="right") - begin
    return np.repeat(ours, many), theirs[spans(begin, many)]


@record
class AnnotatorPairs:
    """The pairs of annotators of a segment, and all annotators together: the rows of the result."""

    pairs: Annotated
    all_judgments: Judgments  # the judgments of all annotators
    query: Array  # the number of each document's query, from 0
    graded: bool  # whether values are grades, whose differences have a size
    rel: float  # the least relevant value
    with_reference: bool  # whether pairs are with a reference, so that there is no row for all annotators
    repeats: int = 1  # how often all judgments are here, one after the other, as for so many resamples

    def of_class(self, one: float) -> AnnotatorPairs:
        """Return these pairs with judgments of two classes: 1 for the class ``one``, 0 for any other."""
        sides = {side: (getattr(self.pairs, side) == one).astype(float) for side in ("one", "other")}
        of_all = replace(self.all_judgments, value=(self.all_judgments.value == one).astype(float))
        return replace(self, pairs=replace(self.pairs, **sides), all_judgments=of_all, graded=False, rel=1.0)

    @property
    def queries(self) -> int:
        """Number of judged queries."""
        return int(self.query.max(initial=-1)) + 1

    @property
    def size(self) -> int:
        """Number of judgments that are looked at."""
        return max(len(self.pairs.pair), len(self.all_judgments.document), 1)

    @property
    def units(self) -> Array:
        """Number of queries that each row of the result is about, shape (rows,)."""
        pairs, k = self.pairs, self.queries
        seen = np.unique(pairs.pair.astype(np.int64) * k + self.query[pairs.document]) // max(k, 1)
        n = np.bincount(seen, minlength=pairs.n)
        if self.with_reference:
            return n
        has_two = np.bincount(self.all_judgments.document, minlength=len(self.query)) > 1
        return np.append(n, len(np.unique(self.query[has_two])))

    def repeated(self, m: int) -> AnnotatorPairs:
        """Return these judgments m times, each time as those of other queries, documents and pairs."""
        pairs, judgments, at = self.pairs, self.all_judgments, np.arange(m)[:, None]

        def numbered(values: Array, n: int) -> Array:
            return (values + at * n).ravel()

        more = replace(
            pairs,
            first=np.tile(pairs.first, m),
            second=np.tile(pairs.second, m),
            pair=numbered(pairs.pair, pairs.n),
            document=numbered(pairs.document, len(self.query)),
            one=np.tile(pairs.one, m),
            other=np.tile(pairs.other, m),
        )
        document, value = numbered(judgments.document, len(judgments.group)), np.tile(judgments.value, m)
        every = replace(judgments, document=document, value=value, group=numbered(judgments.group, 1), n=m)
        return replace(self, pairs=more, all_judgments=every, query=numbered(self.query, self.queries), repeats=m)

    def named(self) -> dict[str, pl.Series]:
        """Return, for each row of the result, a row of the judgments by either annotator, and the number of documents.

        The row for all annotators together has none (-1), and counts documents with two judgments or more.
        """
        pairs = self.pairs
        sides = [pairs.rows[side] for side in (pairs.first, pairs.second)]
        both = np.bincount(pairs.pair, minlength=pairs.n)
        if not self.with_reference:
            sides = [np.append(side, NONE) for side in sides]
            judged = np.bincount(self.all_judgments.document, minlength=len(self.query))
            both = np.append(both, (judged > 1).sum())
        return dict(zip((*PAIR, "n"), map(pl.Series, (*sides, both)), strict=True))

    @cached_property
    def both(self) -> Judgments:
        """The judgments of all pairs; a document that two pairs judged is two documents here."""
        pairs, rows = self.pairs, np.arange(len(self.pairs.pair))
        value = np.concatenate([pairs.one, pairs.other])
        return Judgments(np.tile(rows, 2), value, pairs.pair, pairs.n, self.all_judgments.level)

    def measures(self, times: Array) -> dict[str, Array]:
        """Return every measure, by name, with a value for each row of the result, those of a repeat together.

        ``times``: how often each query counts, as in a resample.
        """
        pairs = self.pairs
        often = times[self.query[pairs.document]]
        two = (pairs.pair, pairs.one, pairs.other, pairs.n, often)
        found = self.both.measures(often)
        found["kappa"] = kappa(pairs.pair, *pairs.codes, pairs.n, often)
        found["weighted_kappa"] = weighted_kappa(*two) if self.graded else np.full(pairs.n, np.nan)
        if self.with_reference:
            return found | self._against_reference(often)
        of_all = self.all_judgments.measures(times[self.query])
        shape, nothing = (self.repeats, -1), np.full(self.repeats, np.nan)
        rows = {name: (values.reshape(shape), of_all.get(name, nothing)[:, None]) for name, values in found.items()}
        return {name: np.concatenate(each, axis=1).ravel() for name, each in rows.items()}

    def _against_reference(self, often: Array) -> dict[str, Array]:
        """Return the measures of the first annotator of each pair against the second, the reference.

        ``often``: how often each document counts.
        """
        pairs = self.pairs
        called, true = pairs.one >= self.rel, pairs.other >= self.rel

        def share(some: Array, whole: Array) -> Array:
            counts = [np.bincount(pairs.pair, often * one, minlength=pairs.n) for one in (some & whole, whole)]
            return ratio(*counts)

        size = np.bincount(pairs.pair, often, minlength=pairs.n)
        difference = np.bincount(pairs.pair, often * (pairs.one - pairs.other), minlength=pairs.n)
        bias = ratio(difference, size)
        return {"sensitivity": share(called, true), "specificity": share(~called, ~true), "bias": bias}
