"""Sentences of a summary about changes between periods: how much comes from the mix of segments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from frame_metrics.measuring.baseline import is_frame
from frame_metrics.report.cells import number_text, plain_text
from frame_metrics.report.difference_sentences import Difference
from frame_metrics.report.of_strata import STRATA
from frame_metrics.report.sentence_writer import SentenceWriter
from frame_metrics.report.time_sentences import ChangeInParts
from frame_metrics.report.words import LONGEST_NAME, name_of, signed_text

Row = Mapping[str, Any]


def is_sure(row: Row, part: str) -> bool:
    """Return True if the interval of a part excludes 0."""
    low, high = row[f"{part}_low"], row[f"{part}_high"]
    return low is not None and high is not None and (low > 0 or high < 0)


def most_of_mix(rows: Sequence[Row], total: Row) -> Row | None:
    """Return the segment that adds most to the mix, in the direction of the total, if its part is sure; else None.

    A segment that is new or gone has no interval, and is there or not. Of two segments, one grows as the other shrinks:
    the one that grew is returned.
    """
    sign = 1 if total["from_mix"] > 0 else -1
    some = [row for row in rows if sign * row["from_mix"] > 0 and (is_sure(row, "from_mix") or _is_on_one_side(row))]
    if len(rows) == 2:
        some = [row for row in rows if row["share"] > row["baseline_share"]]
    return max(some, key=lambda row: abs(row["from_mix"]), default=None)


def _is_on_one_side(row: Row) -> bool:
    return not row["share"] or not row["baseline_share"]


def shares_in_words(row: Row, unit: str, arms: tuple[Any, Any], *, in_time: bool) -> str:
    """Return both shares of a segment, as "grew from 40 to 55 % of queries", or "has 55 against 40 % of queries".

    A segment that only one side has is new or gone there, and its value is said.

    Parameters
    ----------
    arms : the arm and its baseline.
    """
    if _is_on_one_side(row):
        side, arm, words = ("", arms[0], "is new, with") if row["share"] else ("baseline_", arms[1], "is gone, with")
        value, share = row[f"{side}value"], f"{100 * row[f'{side}share']:.2g} % of {unit}"
        of = "" if value is None else f" and {row['metric']} {number_text(value)}"
        return f"{words if in_time else f'is only in {name_of(arm)}, with'} {share}{of}"
    sides = [100 * row["baseline_share"], 100 * row["share"]]
    digits = 2 if len({f"{side:.2g}" for side in sides}) == 2 else 3
    base, own = (f"{side:.{digits}g}" for side in sides)
    if not in_time:
        return f"has {own} against {base} % of {unit}"
    return f"{'grew' if sides[1] > sides[0] else 'shrank'} from {base} to {own} % of {unit}"


class MixSentences(SentenceWriter):
    """Sentences about the parts of a change."""

    def all(self, pairs: Sequence[Difference]) -> Iterator[ChangeInParts]:
        """Yield, for each pair of periods with a sentence, how much of its change comes from the mix of segments.

        A part is named as a reason only where its interval excludes 0.
        """
        content, work = self.content, self.work
        asked = content.arms and content.by and content.query and pairs and work.verb == "change"
        if not asked or is_frame(self.compare_options["baseline"]) or content.segments is None:
            return
        if len(content.of_first(content.segments).select(content.by).unique()) > STRATA:
            return
        for pair in pairs:
            earlier, later = self._periods_of(pair)
            options = {"baseline": work.as_baseline(earlier), "ci": self.compare_options["ci"]}
            found = work.quietly(partial(work.call, work.irm, "change"), content.first_compared, **options)
            rows = [] if found is None else content.of_compared(found).to_dicts()
            yield from self._of_pair([row for row in rows if self._system(row) == later])

    def _periods_of(self, pair: Difference) -> tuple[Any, Any]:
        """Return the periods of a pair: the baseline and the other one, or without a baseline in their own order."""
        sides = pair.baseline, pair.system
        if self.content.has_baseline:
            return sides
        first, last = sorted(sides, key=self._sorted_arms.index)
        return first, last

    def _of_pair(self, rows: Sequence[Row]) -> Iterator[ChangeInParts]:
        over = ", ".join(self.content.by)
        total = next((row for row in rows if row["total_over"] == over), None)
        if total is None or total["change"] is None or total["change_low"] is None:
            return
        sure = [is_sure(total, part) for part in ("change", "from_mix", "from_within")]
        if not sure[0] and not all(sure[1:]):
            return
        if not (sure[1] or self._order_of_arms.in_time):  # then the answer on two arms says as much
            return
        ends: dict[str, Any] = {
            "difference": total["change"],
            "ci_low": total["change_low"],
            "ci_high": total["change_high"],
            "are_periods": self._is_later(total),
        }
        parts = self._reasons([row for row in rows if row["total_over"] is None], total)
        yield self._of_row(ChangeInParts, total, by=self.content.first_compared, parts=parts, **ends)

    def _reasons(self, rows: Sequence[Row], total: Row) -> str:
        """Return the parts whose intervals exclude 0, the larger first, and what is known of the other."""
        columns = ", ".join(plain_text(name, LONGEST_NAME) for name in self.content.by)
        reasons = []
        for part in sorted(("from_mix", "from_within"), key=lambda one: -abs(total[one])):
            if is_sure(total, part):
                of = f"within {columns}" if part == "from_within" else self._mix(rows, total, columns)
                reasons.append(f"{self._size(total, part)} {of}")
        if not reasons:
            return f"how much of it comes from the mix of {columns} is not known"
        others = {"from_mix": f"the mix of {columns}", "from_within": f"what is within {columns}"}
        left = [words for part, words in others.items() if not is_sure(total, part)]
        return ", ".join(reasons) + "".join(f"; {words} has no sure part in it" for words in left)

    def _size(self, total: Row, part: str) -> str:
        """Return the size of a part of a change that rose or fell, or with its sign if it did neither."""
        if not is_sure(total, "change"):
            return signed_text(total[part])
        return f"{number_text(abs(total[part]))}{' the other way' if total[part] * total['change'] < 0 else ''}"

    def _mix(self, rows: Sequence[Row], total: Row, columns: str) -> str:
        """Return the reason that is in the mix."""
        most = most_of_mix(rows, total)
        if most is None:
            return f"because the mix of {columns} is another"
        of = ", ".join(plain_text(most[name], LONGEST_NAME) for name in self.content.by)
        arms = self._system(most), most["baseline"]
        unit = self.content.unit if self.content.weighted is None else "the weight"
        became = f"{of} {shares_in_words(most, unit, arms, in_time=self._is_later(total))}"
        if len(rows) == 2:
            return f"because {became}"
        return f"because the mix of {columns} is another, above all as {became}"

    def _is_later(self, row: Row) -> bool:
        """Return True if the period of a row is known to be later than the baseline."""
        sides = self._system(row), row["baseline"]
        if not self._order_of_arms.in_time or None in sides:
            return False
        later, earlier = map(self._sorted_arms.index, sides)
        return later > earlier
