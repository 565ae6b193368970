"""Sentences of a summary about the best of several systems: which it may be, and if it is better than the next.

Of a metric without a direction none is best: the highest and the lowest are named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from frame_metrics.measuring.baseline import is_frame
from frame_metrics.report.cells import ALPHA, number_text, sign_of
from frame_metrics.report.chosen_rows import after_betters, places_of
from frame_metrics.report.comparing import all_pairs
from frame_metrics.report.difference_sentences import Difference, Winner
from frame_metrics.report.sentence_writer import SentenceWriter
from frame_metrics.report.sentences import Plain
from frame_metrics.report.value_sentences import BestSystems, HighestSystem
from frame_metrics.report.words import first_of, name_of, names_in_words

NAMED, LETTERS = 5, 100  # the most systems that are named as those that may be the best, and of their letters
MIN_SYSTEMS = 3  # from so many on, the best, or the highest and the lowest, are named


class BestSystemSentences(SentenceWriter):
    """Sentences about the best of several systems."""

    def best_of(self, pairs: Sequence[Difference]) -> Iterator[BestSystems]:
        """Yield which systems may be the best, as ``leaderboard`` returns them, else by the differences of all pairs.

        The tests of a leaderboard have one side. It is said if the test of a pair, which has both, does not tell the
        best from another.
        """
        board, content = self.content.compared.leaderboard, self.content
        if self._has_no_best:
            return
        known = self._by_pairs() if board is None else board.drop_nulls("may_be_best").to_dicts()
        may = [row for row in known if row["may_be_best"]]
        if not may or len(known) < MIN_SYSTEMS:
            return
        names = _first_names([name_of(self._system(row)) for row in may])
        many: dict[str, Any] = {"names": names, "n_best": len(may), "n_systems": len(known)}
        alike = [pair for pair in pairs if len(may) == 1 and pair.p_adjusted is not None and not pair.is_significant]
        others = [one for pair in alike for one in (pair.system, pair.baseline) if one != self._system(may[0])]
        untold = f"; a stricter test does not tell it from {names_in_words([*map(name_of, others)])}" if others else ""
        yield self._of_row(BestSystems, may[0], by=content.first_compared, untold=untold, **many)

    def _by_pairs(self) -> list[dict[str, Any]]:
        """Return the results of systems, with those that no other surely beats as "may_be_best"; none without tests.

        All pairs are tested together, so that the best is among these as surely as p-values are small.
        """
        content, frame, name = self.content, self.content.differences_over_all, self.content.first_compared
        if frame is None or content.has_baseline or not sign_of(name):
            return []
        tested = content.of_compared(frame).drop_nulls("p_adjusted")
        if len(tested) < content.n_pairs or any(map(content.are_unlike, tested.to_dicts())):
            return []
        each = self._differences(tested.to_dicts(), name)
        ahead = {pair.baseline if sign_of(name) * pair.gap > 0 else pair.system for pair in each if pair.is_significant}
        rows = sorted(
            content.of_compared(content.results).to_dicts(), key=lambda row: content.places[self._system(row)]
        )
        return [row | {"may_be_best": self._system(row) not in ahead} for row in rows]

    def highest(self) -> Iterator[HighestSystem]:
        """Yield the highest and the lowest of three systems or more, by a metric without a direction, or of periods."""
        content, frame, name = self.content, self.content.differences_over_all, self.content.first_compared
        if frame is None or content.has_baseline or not self._has_no_best:
            return
        pairs = self._differences(content.of_compared(frame).to_dicts(), name)
        sides = sorted((one for pair in pairs for one in (pair, pair.swapped())), key=lambda one: one.n or 0)
        values = {one.system: one.value for one in sides if one.value is not None}  # over most queries
        order = sorted(values, key=lambda one: -values[one])  # sums of different lengths are no order
        values = {one: values[one] for one in after_betters(order, content.beaten_by)}
        if len(values) < MIN_SYSTEMS:
            return
        top, *others, low = values
        of_ends = [
            _differences_of(pairs, one, others) for one, others in ((top, [*others, low]), (low, [*others[::-1], top]))
        ]
        above, below = (_surely(*one) for one in zip(("above", "below"), of_ends, strict=True))
        around = f"{above}; {name_of(low)} has the lowest, {number_text(values[low])}{below}"
        sure = {one.baseline for some in of_ends for one in some if one.is_significant}
        called = "periods" if self._are_periods else content.systems
        many = {"called": called, "n_systems": len(values), "n_differing": len(sure), "around": around}
        ends = {"system": top, "value": values[top], "lowest": low, "value_of_lowest": values[low]}
        yield self._of_row(HighestSystem, {}, by=name, **many, **ends)

    def more_that_differ(self, pairs: Sequence[Difference]) -> Iterator[Plain]:
        """Yield how many more systems differ from a baseline than sentences name, by a metric without a direction."""
        content, frame = self.content, self.content.compared.differences
        if frame is None or not pairs or not content.has_baseline or sign_of(content.first_compared):
            return
        differ = content.of_compared(frame).filter(pl.col("p_adjusted") < ALPHA, pl.col("difference") != 0)
        more = {self._system(row) for row in differ.to_dicts()} - {pair.system for pair in pairs}
        if more:
            bases = names_in_words([*map(name_of, content.compared.baselines)])
            verb = "differ" if len(more) > 1 else "differs"
            systems = content.systems if len(more) > 1 else content.systems[:-1]
            of = f"{len(more):,} more {systems} surely {verb} from {bases}"
            yield self._plain("absent", of, by=content.first_compared)

    @property
    def _has_no_best(self) -> bool:
        """True for periods, and for a metric of which it is not known what is better."""
        return not sign_of(self.content.first_compared) or self._are_periods

    def winner(self) -> Iterator[Winner]:
        """Yield the best system that is no baseline against the next best, by the p-value of all pairs of systems."""
        frame, name = self.content.differences_over_all, self.content.first_compared
        if frame is None or not self.content.has_baseline or self._has_no_best:
            return
        baselines = [] if is_frame(self.compare_options["baseline"]) else [*dict.fromkeys(frame["baseline"])]
        order = [*places_of(self.content.results, self.content.system, name, [], self.content.beaten_by)]
        two = [one for one in order if one not in baselines][:2]
        if len(two) < 2 or order[0] in baselines:
            return
        found = self.content.compared.all_pairs
        found = all_pairs(self.content, self.work, self.compare_options) if found is None else found
        rows = [] if found is None else self._differences(found.to_dicts(), name)
        for pair in rows:
            if {pair.system, pair.baseline} == {*two} and pair.p_adjusted is not None:
                words = f"the baseline{'s' * (len(baselines) > 1)} {names_in_words([*map(name_of, baselines)])}"
                best = pair if pair.system == two[0] else pair.swapped()
                yield Winner(**vars(best), baselines=words if baselines else None)


def with_next_best(pairs: Sequence[Difference], winner: Sequence[Difference]) -> list[Difference]:
    """Add to the first difference, if it is significant and of the best system, whether that beats the next best too.

    ``winner``: the difference of these two, or nothing.
    """
    if not pairs or not winner:
        return [*pairs]
    (first, *others), two = pairs, winner[0]
    if first.system != two.system or two.p_floor or not first.has_winner or not first.is_significant:
        return [*pairs]
    far = " so far" if first.can_turn else ""
    best, next_best = name_of(two.system), f"the next best{far}, {name_of(two.baseline)}"
    by = number_text(abs(two.gap))
    also = f"It also beats {next_best}, by {by}" if two.is_significant else ""
    also = also or f"{best} and {next_best}, cannot be told apart"
    return [replace(first, more=". ".join(filter(None, [also, first.more]))), *others]


def _differences_of(pairs: Sequence[Difference], system: Any, others: Sequence[Any]) -> list[Difference]:
    """Return the differences of a system from some others, as far as they were compared, in the order of these."""
    each = [one if one.system == system else one.swapped() for one in pairs if system in (one.system, one.baseline)]
    return sorted((one for one in each if one.baseline in others), key=lambda one: others.index(one.baseline))


def _surely(side: str, differences: Sequence[Difference]) -> str:
    """Return words for the others that a system is surely above, or below, and those that it is not."""
    sign = 1 if side == "above" else -1
    sure = [one for one in differences if one.is_significant and sign * one.gap > 0]
    unsure = [name_of(one.baseline) for one in differences if one not in sure]
    if not sure:
        return f", not surely {side} any other"
    by = first_of([one.swapped().name_and_size for one in sure])
    return f", surely {side} {by}{f', not surely {side} {first_of(unsure)}' if unsure else ''}"


def _first_names(names: Sequence[str]) -> str:
    """Return the first names in words, two or more, and how many more there are; of long ones fewer are named."""
    lengths = [sum(map(len, names[: at + 1])) for at in range(min(len(names), NAMED))]
    return first_of(names, max(2, sum(length <= LETTERS for length in lengths)))
