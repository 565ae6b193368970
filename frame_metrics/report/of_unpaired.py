"""Sentences of a summary about the queries or rows of one system that a comparison leaves out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from frame_metrics.measuring.baseline import is_frame
from frame_metrics.report.content import n_measured
from frame_metrics.report.data_sentences import UnpairedQueries
from frame_metrics.report.difference_sentences import Difference
from frame_metrics.report.sentence_writer import SentenceWriter
from frame_metrics.report.sentences import Sentence
from frame_metrics.verbs.audit.of_systems import SOME_QUERIES

MOST_NAMED = 3  # the most systems of which it is said


class UnpairedSentences(SentenceWriter):
    """Sentences about systems that have values of different queries, so that means are no order of them."""

    def all(self, pairs: Sequence[Difference]) -> Iterator[Sentence]:
        """Yield how many queries each system of a pair has alone, and its value over all of its own.

        Without pairs: how many queries systems have values of. ``pairs``: the differences that have sentences.
        """
        content, n_of = self.content, self.content.n_of_systems
        if content.arms:
            return
        if not pairs and len({*n_of.values()}) > 1:
            numbers = f"{min(n_of.values()):,} to {max(n_of.values()):,}"
            of = f"Systems have values of different {content.unit}, {numbers}, and each mean is over its own"
            yield self._plain("absent", of, by=content.first_compared)
        values = {self._system(row): row["value"] for row in content.of_compared(content.results).to_dicts()}
        n_of = self._n_of_saved(n_of) | n_of
        sides = [one for pair in pairs for one in (pair, pair.swapped()) if one.system in n_of]
        some = [(one, alone) for one in sides if (alone := n_of[one.system] - n_measured(vars(one))) > 0]
        for one, alone in some[:MOST_NAMED]:
            yield UnpairedQueries(
                metric=one.metric,
                system=one.system,
                baseline=one.baseline,
                unit=content.unit,
                n_alone=alone,
                n_of_system=n_of[one.system],
                value=values.get(one.system),
                warned=alone > SOME_QUERIES * n_of[one.system],
            )

    def _n_of_saved(self, n_of: Mapping[Any, int]) -> dict[Any, int]:
        """Return the number of queries, or rows, of saved numbers, by their name; ``n_of``: that of each system."""
        frame = self.content.compared.differences
        if frame is None or not is_frame(self.compare_options["baseline"]):
            return {}
        rows = self.content.of_compared(frame).to_dicts()
        return {row["baseline"]: 2 * row["n"] + row["n_unpaired"] - n_of.get(self._system(row), 0) for row in rows}
