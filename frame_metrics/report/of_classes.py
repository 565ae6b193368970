"""Classes that two classifiers of several classes, or two arms, find more or less often: a sentence and a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from frame_metrics.backends.tables import Cell, Table
from frame_metrics.inputs import FullConfusion, FullScores
from frame_metrics.measuring.baseline import is_frame
from frame_metrics.measuring.rows import average_of
from frame_metrics.metrics.saved_names import metric_of
from frame_metrics.metrics.shares import share_of
from frame_metrics.report.calls import Calls
from frame_metrics.report.cells import ALPHA, corrections, number_text, plain_text, sign_of, table_of
from frame_metrics.report.content import Content
from frame_metrics.report.difference_sentences import Difference, the_greatest
from frame_metrics.report.result_tables import CALLED, LONGEST_CELL, ci_level, difference_interval
from frame_metrics.report.sentence_writer import SentenceWriter
from frame_metrics.report.sentences import WHERE, Sentence
from frame_metrics.report.short_names import LONGEST
from frame_metrics.report.words import LONGEST_NAME, capital, side_text

OF_CLASS = "recall"  # compared in each class, where the metric that was asked for has no value of a class
MIN_CLASSES = 3  # of two one is relevant, and metrics are its own
CLASSES = 50  # the most classes that are told apart in a table, as in a confusion matrix
MOST_COMPARED = 200  # the most classes of which a sentence names the one that changed
BASELINE_ROWS = "baseline_n", "baseline_support"
ROWS = {"support": "rows", "baseline_support": "rows of the baseline"}  # of the class


def with_classes_compared(content: Content, work: Calls, compare_options: Mapping[str, Any]) -> Content:
    """Add the differences of each class from a baseline; where none is named, of the best from the next best.

    They are those of the first metric that is compared if it is an average over classes, else of the recall.
    """
    unnamed = is_frame(compare_options["baseline"]) or content.compared.differences is None
    if unnamed or content.query or work.columns.predicted is None or content.system is None:
        return content
    if not any(MIN_CLASSES <= n <= MOST_COMPARED for n in content.facts.filter(check="classes")["n"]):
        return content
    best = [*content.places][:2]
    options: dict[str, Any] = {
        "baseline": work.as_baseline(content.compared.baselines[0] if content.has_baseline else best[1])
    }
    options |= {"ci": compare_options["ci"], "per_class": True}
    irm = work.all_segments(content)
    call = partial(work.call, irm, "ab_test" if content.arms else "compare")
    name, metric = next(one for one in content.asked if one[0] == content.first_compared)
    is_average = metric.input in (FullConfusion, FullScores) and average_of(metric, None, binary=False) == "macro"
    found = work.quietly(call, name if is_average else OF_CLASS, **options)
    if found is not None and not content.has_baseline:
        found = found.filter([one == best[0] for one in found[content.system]])
    return replace(content, compared=replace(content.compared, in_classes=found))


def table_of_classes(content: Content) -> Table | None:
    """Return the table of the differences of each class, what was lost first; None where classes are not compared."""
    frame = content.compared.in_classes
    if frame is None or content.system is None or not 0 < frame["class"].n_unique() <= CLASSES:
        return None
    metric = frame["metric"][0]
    frame = frame.sort("difference", descending=sign_of(metric) < 0, nulls_last=True, maintain_order=True)
    one = frame[content.system].n_unique() == 1
    sides = [side_text(frame[name][0], LONGEST_CELL) for name in (content.system, "baseline")]
    rows = {name: called for name, called in ROWS.items() if name in frame.columns}
    only = ["class", *([] if one else [content.system]), "difference", "p_adjusted", "value", "baseline_value", *rows]
    called = CALLED | rows | ({"value": sides[0]} if one else {}) | {"baseline_value": sides[1]}
    if one and "baseline_support" in rows and max(map(len, sides)) <= LONGEST:
        called |= {name: f"rows in {side}" for name, side in zip(rows, sides, strict=True)}
    called |= {} if corrections(frame) else {"p_adjusted": "p"}
    against = f"{sides[0]} against {sides[1]}" if one else f"each {plain_text(content.system)} against {sides[1]}"
    caption = f"{capital(metric)} of each class: {against}"
    made = table_of(frame, caption=caption, only=only, alpha=ALPHA, longest=LONGEST_CELL, called=called)
    at = only.index("difference")
    cells = [
        [*row[:at], _difference_cell(row[at], values, content.ci), *row[at + 1 :]]
        for values, row in zip(frame.iter_rows(named=True), made.rows, strict=True)
    ]
    return replace(made, rows=cells, subtext=f"the {ci_level(content)} of the difference")


def _difference_cell(cell: Cell, row: Mapping[str, Any], level: float | None) -> Cell:
    """Return a difference with its interval, or that the class has no row."""
    if any(row.get(name) == 0 for name in ROWS):
        return Cell("no row of the class")
    return replace(cell, subtext=difference_interval(row, level))


class ClassSentences(SentenceWriter):
    """Sentences about classes."""

    def all(self, pairs: Sequence[Difference]) -> Iterator[Difference]:
        """Yield the class that differs most between the first pair, of those with a significant difference."""
        frame = self.content.compared.in_classes
        rows = [] if frame is None else frame.to_dicts()
        each = [self._of_row(Difference, row, **self._about(row)) for row in rows]
        of_pair = [(pair.system, pair.baseline) for pair in pairs[:1]]
        sure = [one for one in each if (one.system, one.baseline) in of_pair and one.is_significant]
        if sure:
            yield the_greatest(sure, pairs[0])

    def _about(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return the figures of a class, and the rows that the metric is a share of: those of the class, or the others.

        No side is called the better one by another metric than the one that was asked for: who says a class far too
        often has its recall.
        """
        name, metric = plain_text(row["class"], LONGEST_NAME), row["metric"]
        about = {"metric": metric, "segment": f"class = {name}", "segment_in_words": f"{name} (class)"}
        about |= {"has_winner": metric == self.content.first_compared and not self._are_periods}
        about |= {"n_units": None, "baseline_n_units": None}
        marks = share_of(metric_of(metric), binary=True)
        about_rows = [True, True] if marks is None else [not np.isnan(one).any() for one in marks]
        if all(about_rows):
            return about
        n = [(row.get(all_rows, 0), row.get(support)) for all_rows, support in (("n", "support"), BASELINE_ROWS)]
        own = [support if about_rows[1] else every - support for every, support in n if support is not None]
        return about | dict(zip(("n", "baseline_n"), [*own, None], strict=False))


def with_class(of_segments: Sequence[Sentence], of_classes: Sequence[Difference]) -> list[Sentence]:
    """Add to the segment that is named in the first block the class that surely changed most, which is a note then."""
    at = next((at for at, one in enumerate(of_segments) if one.place == WHERE), None)
    if at is None or not of_classes:
        return [*of_segments]
    one, named = of_classes[0], of_segments[at]
    side = "lower" if one.gap < 0 else "higher"
    by = f"by {number_text(abs(one.gap))}"
    change = f"Of the classes, {one.metric} of {one.segment_in_words.removesuffix(' (class)')} is surely {side}, {by}"
    more = ". ".join(filter(None, [named.more, change]))
    return [*of_segments[:at], replace(named, more=more), *of_segments[at + 1 :]]
