"""The class in which two classifiers of several classes differ most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from frame_metrics.report.cells import plain_text
from frame_metrics.report.difference_sentences import Difference
from frame_metrics.report.of_segments import also_changed
from frame_metrics.report.sentence_writer import SentenceWriter

OF_CLASS = "recall"  # what is compared in each class: the share of its rows that are found
MIN_CLASSES = 3  # of two one is relevant, and metrics are its own
CLASSES = 50  # the most classes that are told apart: of a confusion matrix, and in sentences


class ClassSentences(SentenceWriter):
    """Sentences about classes."""

    def all(self, pairs: Sequence[Difference]) -> Iterator[Difference]:
        """Yield the class whose recall differs most between the first pair, of those with a significant difference."""
        if not pairs or self.content.query or self.work.columns.predicted is None:
            return
        irm, pair = self.work.all_segments(self.content), pairs[0]
        calls = self.work.without_notes(irm)
        classes = calls.tried("classes", lambda: irm.per_class(OF_CLASS))
        if classes is None or not MIN_CLASSES <= classes["class"].n_unique() <= CLASSES:
            return
        verb = irm.ab_test if self.content.arms else irm.compare
        baseline = self.work.as_baseline(pair.baseline)
        found = calls.tried("classes", lambda: verb(OF_CLASS, baseline=baseline, per_class=True))
        rows = [] if found is None else found.to_dicts()
        support = {(self._system(row), row["class"]): int(row["support"]) for row in classes.to_dicts()}
        each = [self._of_row(Difference, row, **self._about(row, support)) for row in rows]
        sure = [one for one in each if one.system == pair.system and one.is_significant]
        if sure:
            most, *others = sorted(sure, key=lambda one: -abs(one.gap))
            yield replace(most, more=also_changed(others))

    def _about(self, row: Mapping[str, Any], support: Mapping[tuple[Any, Any], int]) -> dict[str, Any]:
        """Return the figures of a class; ``support``: its rows, by system and class, of which recall is a share."""
        name, system, baseline = plain_text(row["class"], 60), self._system(row), row["baseline"]
        n = {"n": support.get((system, row["class"]))}
        n |= {"baseline_n": support.get((baseline, row["class"]))} if self.content.arms else {}
        n |= {"n_units": None, "baseline_n_units": None}
        return {"metric": OF_CLASS, "segment": f"class = {name}", "segment_in_words": f"{name} (class)", **n}
