"""Sentences of a summary about differences: which pairs are told, and which others surely differ from a baseline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from frame_metrics.measuring.baseline import is_frame
from frame_metrics.report.cells import sign_of
from frame_metrics.report.difference_sentences import Difference, surely
from frame_metrics.report.of_audit import AuditSentences
from frame_metrics.report.sentence_writer import SentenceWriter
from frame_metrics.report.words import first_of, name_of

MOST_SYSTEMS = 3  # the most that are named as other than a baseline, where it is not known whether more is better


class PairSentences(SentenceWriter):
    """Sentences about differences of pairs."""

    def all(self) -> Iterator[Difference]:
        """Yield the differences of the best system from some others.

        With baselines there is one sentence for each, about the best system that is no baseline itself, or the latest
        period, and what else surely differs. Without baselines the others are the next best system, and the first one
        with a difference that is sure.
        """
        frame = self.content.differences_over_all
        if frame is None:
            return
        frame, name = self.content.of_compared(frame), self.content.first_compared
        if self.content.compared.leaderboard is not None and "bonferroni" in frame["correction"]:
            return  # of so many pairs no p-value can be low enough; the leaderboard says who may be the best
        rows = self._differences(frame.to_dicts(), name)
        if not AuditSentences(self.content, self.work, self.compare_options).split_holds_in_segments:
            # as if p were 0: some segment has a mismatch
            rows = [replace(one, split_p_value=0.0) for one in rows]
        most = max(rows, key=lambda one: one.n or 0, default=None)
        if most and most.few_units_text and all(one.difference is None for one in rows):
            yield replace(most, all_names=first_of([name_of(one) for one in self.content.places]))
        elif self.content.has_baseline:
            yield from self._with_baselines(rows, [*dict.fromkeys(frame["baseline"])])
        else:
            yield from self._of_the_best(rows)

    def _of_the_best(self, rows: Sequence[Difference]) -> Iterator[Difference]:
        """Yield the differences of the best system from the next best, and from the first that is surely worse."""
        others = [one for one in self.content.places if one != self.content.best]
        for at, pair in enumerate(self._pair(rows, self.content.best, other) for other in others):
            if pair and (at == 0 or pair.is_significant):
                yield pair
            if pair and pair.is_significant:
                return

    def _with_baselines(self, rows: Sequence[Difference], named: Sequence[Any]) -> Iterator[Difference]:
        """Yield the sentences of the systems that are told, each with what else surely differs from the baseline."""
        baselines = [] if is_frame(self.compare_options["baseline"]) else named
        others = [system for system in self._latest_first() if system not in baselines] or [None]
        sure = [one for one in others if any((p := self._pair(rows, one, base)) and p.is_significant for base in named)]
        # Without a direction none is the best: all that differ are named. What is in no period is none of them.
        has_direction = bool(sign_of(self.content.first_compared))
        known = [one for one in sure if one is not None] if self._are_periods else sure
        some = others[:1] if has_direction or not known else known[:MOST_SYSTEMS]
        some = [others[0], *known][:MOST_SYSTEMS] if self._are_periods and others[0] not in some else some
        for one in some:
            for base in named:
                if pair := self._pair(rows, one, base):
                    left = [self._pair(rows, other, base) for other in sure if other not in some]
                    yield replace(pair, more=_also([*filter(None, left)])) if has_direction else pair

    def _latest_first(self) -> list[Any]:
        """Return the systems, the best first; or the periods, the latest first, and what is in none last."""
        if not self._are_periods:
            return [*self.content.places]
        arms = self._sorted_arms[::-1]
        return [*arms[1:], None] if arms[0] is None else arms

    def _pair(self, rows: Sequence[Difference], system: Any, other: Any) -> Difference | None:
        """Return the first row about a system and another one that makes a sentence; None if there is none."""
        sides = {system, other}
        return next((one for one in rows if {one.system, one.baseline} == sides and one.sentence), None)


def _also(pairs: Sequence[Difference]) -> str:
    """Return words for those that surely differ from a baseline, the worse or lower ones first; "" for none."""
    if not pairs:
        return ""
    base, win = name_of(pairs[0].baseline), pairs[0].has_winner
    lower, higher = ("worse than", "better than") if win else ("below", "above")
    return surely(pairs, f"surely {lower} {base}", f"surely {higher} {base}", sign_of(pairs[0].metric) if win else 1)
