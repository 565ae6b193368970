"""Sentences of a summary about segments: where another system is best, and what stands out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

from frame_metrics.measuring.baseline import is_frame
from frame_metrics.measuring.courses import over_other_classes
from frame_metrics.measuring.same_classes import ACCURACY, BRIER
from frame_metrics.metrics.metric import BY_CHANCE
from frame_metrics.report.cells import ALPHA, plain_text, sign_of
from frame_metrics.report.difference_sentences import Difference, surely_too, the_greatest
from frame_metrics.report.of_periods import PeriodSentences
from frame_metrics.report.of_strata import in_segments
from frame_metrics.report.sentence_writer import SentenceWriter
from frame_metrics.report.sentences import Plain, Sentence
from frame_metrics.report.time_sentences import TimeChange
from frame_metrics.report.value_sentences import OutstandingSegment
from frame_metrics.report.words import name_of, names_in_words, p_words
from frame_metrics.stats.outstanding import MIN_COMPARED, MIN_FLIPPED
from frame_metrics.stats.periods import MIN_PERIODS
from frame_metrics.verbs.compare.farthest import farthest
from frame_metrics.verbs.compare.options import CompareOptions

SEGMENTS = 50  # the most segments of rows without a query; with more, none is searched
MIN_ROWS_OF_SEGMENT = 30  # the fewest rows of such a segment; with fewer, a bootstrap interval covers too rarely
SERIES = 500  # the most segments of all systems together in which systems are compared
HALF = 0.5  # how far off the other segments of a time are, as a share of all of it, if it is not one of them alone
DRAWS = 200  # resamples for each segment; so some of them lie outside its interval
OPPOSITE = 3  # the most segments that are named in which another system beats the best one


def _sides(one: Difference) -> tuple[Any, ...]:
    return one.segment, one.system, one.baseline


class SegmentSentences(SentenceWriter):
    """Sentences about segments."""

    def all(self, pairs: Sequence[Difference]) -> Iterator[Sentence]:
        """Yield what is found in segments or over time, and what was looked for and is not there."""
        opposite, unusual = [*self._opposite(pairs)], [*self._unusual_segment(pairs)]
        mentioned = [_sides(one) for one in unusual if isinstance(one, Difference)]
        opposite = [one for one in opposite if not isinstance(one, Difference) or _sides(one) not in mentioned]
        yield from (one for one in (*unusual, *opposite) if one.kind != "nothing")
        nothing = [one.of for one in (*opposite, *unusual) if isinstance(one, Plain) and one.kind == "nothing"]
        if nothing:
            yield self._plain("nothing", f"Looked for and not found: {', '.join(nothing)}")

    @cached_property
    def _in_segments(self) -> tuple[list[dict[str, Any]], str]:
        """The comparison with the best system, or with saved numbers, in each segment; else the reason."""
        named, name = self.compare_options["baseline"], self.content.first_compared
        baseline = named if is_frame(named) else self.work.as_baseline(self.content.best)
        options = in_segments(self.compare_options, self.content.by) | {"baseline": baseline, "over": "all"}
        call = partial(self.work.compare, self.work.irm, *self.work.metrics_to_pass(name), **options)
        found, reason = self.work.result_or_reason(call)
        return [] if found is None else found.to_dicts(), reason.removeprefix("baseline: ")

    def _opposite(self, pairs: Sequence[Difference]) -> Iterator[Sentence]:
        """Yield segments in which another system beats the best one; p-values are corrected for all tests together."""
        name, series = self.content.first_compared, self._series()
        if not pairs or not self.content.by:
            return
        if series > SERIES:
            why = f"{self._by} makes {series:,} segments of all systems together, and at most {SERIES} are compared"
            yield self._plain("absent", f"Nothing is compared in each segment: {why}", by=name)
            return
        rows, reason = self._in_segments
        if reason:
            yield self._plain("absent", f"Nothing is compared in each segment: {reason}", by=name)
            return
        yield from self._of_cells_alone(name)
        saved = is_frame(self.compare_options["baseline"])
        yield from self._new(rows) if saved else ()
        each = [self._of_row(Difference, row, by=name) for row in rows]
        each = [one.swapped() for one in each if one.system == self.content.best] if saved else each
        worse = sign_of(name)
        other = [one for one in each if one.is_significant and one.gap * worse > 0]
        other.sort(key=lambda one: one.p_adjusted or 0)
        better = "the saved numbers are" if saved else f"another {self.content.systems[:-1]} is"
        named = [] if saved or not self.content.has_baseline else self.content.compared.baselines
        # With the signs of the answer, which is minus the baseline.
        yield from (one.swapped() if saved or one.system in named else one for one in other[:OPPOSITE])
        if more := len({one.segment for one in other[OPPOSITE:]}):
            sentence = f"{better[0].upper()}{better[1:]} better in {more:,} more segment{'s' * (more > 1)}"
            yield self._plain("absent", sentence, by=name)
        if worse and not other and self._n > 1:
            yield self._plain("nothing", f"a segment in which {better} better")

    def _of_cells_alone(self, name: str) -> Iterator[Sentence]:
        """Yield what is not looked at, as columns of times beside others make a segment of each time."""
        others = [column for column in self.content.by if column not in self._times]
        if not (self._times and others):
            return
        own, over = (repr(some[0] if len(some) == 1 else some) for some in (others, self._times))
        both, alone = names_in_words(self.content.by), names_in_words(others)
        every = f"{self.content.systems[0].upper()}{self.content.systems[1:]} are compared in each segment of {both}"
        yield self._plain("absent", f"{every}, not in each {alone} alone; by={own} does that", by=name)
        if len(self._times) == 1 and self.content.has_baseline and self.content.arms:
            yield self._plain(
                "absent", f"No trend, break or outage is looked for beside {alone}; by={over} looks for one"
            )

    def _new(self, rows: Sequence[Mapping[str, Any]]) -> Iterator[Sentence]:
        """Yield the segments of the frame of which there are no saved numbers."""
        new = [*dict.fromkeys(self._of(row) for row in rows if not row["n"] and row["n_unpaired"])]
        if new:
            more = f" and {len(new) - OPPOSITE} more" if len(new) > OPPOSITE else ""
            some = f"{', '.join(new[:OPPOSITE])}{more}"
            name = self.content.first_compared
            yield self._plain("absent", f"Nothing is compared in {some}: there are no saved numbers", by=name)

    def _series(self) -> int:
        return 0 if self.content.segments is None else len(self.content.of_first(self.content.segments))

    @property
    def _by(self) -> str:
        return ", ".join(map(plain_text, self.content.by))

    @property
    def _n(self) -> int:
        return len(self.segments_of_best)

    def _unusual_segment(self, pairs: Sequence[Difference]) -> Iterator[Sentence]:
        """Yield the segment that is farthest from the rest, if that is no chance. Of periods yield their course."""
        if not self.segments_of_best:
            return
        found = [] if self._periods is None else [*self._over_time(self._periods)]
        yield from found
        if any(isinstance(one, TimeChange) for one in found):
            return
        if self._periods and (self._periods.are_enough_for_breaks or self._why_unlike()):
            return
        if self._n > 1:  # too few periods for a break are segments like others
            yield from self._segment_like_others(pairs)

    @cached_property
    def _periods(self) -> PeriodSentences | None:
        """The periods whose course is looked at; None without a single column of times, and of arms with a baseline."""
        content = self.content
        others = self._n < MIN_PERIODS if len(content.by) == 1 else content.has_baseline and content.arms
        if len(self._times) != 1 or others or content.asked[0][1].summed:
            return None
        return PeriodSentences(content, self.work, self.compare_options, self._times[0])

    def _segment_like_others(self, pairs: Sequence[Difference]) -> Iterator[Sentence]:
        """Yield the segment that is farthest from the rest, or that changed most, if that is no chance."""
        if self.content.has_baseline and self.content.arms:
            yield from self._greatest_change(pairs)
        elif why := self._why_not():
            yield self._not_looked_for(why)
        elif self.content.query:
            yield from self._of_queries_and_changes(pairs)
        elif self.content.has_baseline and any(one.is_significant for one in self._of_pair(pairs)):
            yield from self._greatest_change(pairs)
        elif self.content.ci is not None:  # without intervals nothing stands out
            yield from self._of_rows(self.content.ci)

    def _of_pair(self, pairs: Sequence[Difference]) -> list[Difference]:
        """Return the differences of the first pair in each segment."""
        frame, name = self.content.compared.in_segments, self.content.first_compared
        rows = [] if frame is None else self.content.of_compared(frame).to_dicts()
        each = [self._of_row(Difference, row, by=name, split_p_value=row.get("split_p_value")) for row in rows]
        sides = [(pair.system, pair.baseline) for pair in pairs[:1]]
        return [one for one in each if (one.system, one.baseline) in sides]

    def _greatest_change(self, pairs: Sequence[Difference]) -> Iterator[Sentence]:
        """Yield the segment in which the difference of a pair is greatest, of those with a significant one."""
        of_pair = self._of_pair(pairs)
        significant = [one for one in of_pair if one.is_significant]
        if significant:
            yield the_greatest(significant, pairs[0])
        elif of_pair:
            yield self._plain("nothing", "a segment that changed")

    def _over_time(self, periods: PeriodSentences) -> Iterator[Sentence]:
        """Yield the changes over time of all systems and segments together, the surest first."""
        if why := self._why_unlike():
            yield self._plain("absent", f"No trend, break or outage is looked for: {why}")
            return
        yield from periods.all()

    def _not_looked_for(self, why: str) -> Plain:
        return self._plain("absent", f"No segment that stands out is looked for: {why}")

    def _why_not(self) -> str:
        """Return the reason why segments are not searched; "" if they are."""
        content, unit = self.content, self.content.unit
        if content.asked[0][1].summed:
            return f"{content.first} is a sum, which depends on how many {unit} a segment has"
        if why := self._why_unlike():
            return why
        if len(self._times) > 1:
            hint = f"by={self._times[0]!r} alone looks for a trend, a break or an outage"
            return f"{self._by} makes {self._n:,} segments, and {' and '.join(self._times)} vary by themselves; {hint}"
        if not content.query:
            many = f"{self._by} makes {self._n:,} segments, and at most {SEGMENTS} are searched"
            return f"{many}; group them with by=" if self._n > SEGMENTS else ""
        roles = self.work.irm.roles
        weights = next((name for name in ("weight", "propensity") if roles.get(name) is not None), None)
        if content.weighted is not None or weights:
            return f"{unit} have weights, and the test for it applies to {unit} of equal weight"
        if self.content.queries_recur:
            return f"some {unit} are in several segments, so that these are not independent"
        if self.best_row["average"] != "macro":
            return f"{content.first} is no mean over {unit}"
        return ""

    def _why_unlike(self) -> str:
        """Return the reason why values of segments are not alike; "" if they are."""
        content = self.content
        if content.asked[0][1].drifts:
            return f"segments are not alike in {content.first}: {BY_CHANCE}"
        if content.query or not over_other_classes(content.asked[0][1], content.audit["check"]):
            return ""
        way = ACCURACY if self.work.columns.predicted else BRIER
        return f"{content.first} is an average over classes, and not all segments ({self._by}) have the same; {way}"

    def _of_queries_and_changes(self, pairs: Sequence[Difference]) -> Iterator[Sentence]:
        """Yield the segment that stands out, and which others surely changed; else the one that surely changed most."""
        if not (self.content.has_baseline and pairs):
            yield from self._of_queries(None)
            return
        sure = [one for one in self._of_pair(pairs) if one.is_significant]
        found = [*self._of_queries(pairs[0])]
        if sure and not any(isinstance(one, OutstandingSegment) for one in found):
            yield from self._greatest_change(pairs)
        else:
            for at, one in enumerate(found):
                if isinstance(one, OutstandingSegment) and not at:
                    others = [other for other in sure if other.segment != one.segment]
                    one = replace(one, more=surely_too(others, one.difference))
                yield one
        if self._times:  # what happens to all systems in a period is no difference of theirs
            yield from self._of_queries(None)

    def _of_queries(self, pair: Difference | None) -> Iterator[Sentence]:
        """Yield the segments whose means are farthest from those expected, with p-values below .05; else that none is.

        Parameters
        ----------
        pair : the difference from a baseline that is looked at; None for the values of the best system.
        """
        system, name, options = self.content.best, self.content.first, None
        if pair is not None:
            saved, system, name = is_frame(self.compare_options["baseline"]), pair.system, self.content.first_compared
            baseline = self.compare_options["baseline"] if saved else self.work.as_baseline(pair.baseline)
            options = CompareOptions(baseline=baseline)
        asked, system = self.work.metrics_to_pass(name), self.work.nested.get(system, system)
        call = partial(farthest, self.work.plan, asked, name, system, self.content.ci, options)
        found, reason = self.work.result_or_reason(call)
        if found is None:
            yield self._not_looked_for(reason)
            return
        for row in found.to_dicts():
            if not row["n_segments"]:
                yield self._not_looked_for(self._too_few())
            elif row["p_value"] >= ALPHA:
                what = "that" if pair is None else f"in which the difference from {name_of(pair.baseline)}"
                yield self._plain("nothing", f"a segment {what} stands out ({p_words(row['p_value'])})")
            else:
                left_out = {} if row["level_of"] is None else {*self.content.by} - {row["level_of"]}
                yield self._standing({name: value for name, value in row.items() if name not in left_out}, pair)

    def _too_few(self) -> str:
        """Return the reason why there is no segment that could be judged."""
        unit, cluster = self.content.unit, self.work.columns.cluster
        if cluster is None:
            return f"no segment has {MIN_COMPARED} {unit}, and as many outside it"
        of = plain_text(cluster)
        return f"clusters ({of}) are too few: a segment needs {MIN_COMPARED}, and {MIN_FLIPPED} if some are in several"

    def _standing(self, row: Mapping[str, Any], pair: Difference | None) -> OutstandingSegment:
        """Return the sentence about a segment that stands out; ``row``: of ``farthest``."""
        figures = {"baseline_value": row["whole"], "p_adjusted": row["p_value"], "correction": "max_t"}
        figures["reference"] = f"expected by {names_in_words(row['without'])}" if row["without"] else "over all"
        if pair is None:
            return self._of_row(OutstandingSegment, row, system=self.content.best, **figures)
        figures |= {"system": pair.system, "baseline": pair.baseline}
        return self._of_row(OutstandingSegment, row, by=self.content.first_compared, **figures)

    def _of_rows(self, ci: float) -> Iterator[Sentence]:
        """Yield the segment whose interval excludes the value of all rows; intervals hold for all segments together.

        Of several columns each level of one is one more. It comes first if its segments are off but for the farthest,
        too. A segment has to be apart from the others of its levels.
        """
        if self.content.asked[0][1].biased:
            yield self._not_looked_for(f"{self.content.first} has no interval")
            return
        irm, by = self.work.irm, self.content.by if len(self.content.by) > 1 else []
        n = self._n + sum(len({row[name] for row in self.segments_of_best}) for name in by)
        level, draws = 1 - (1 - ci) / n, max(1000, DRAWS * n)
        parts = [irm, *(irm(by=name) for name in by)]
        each = [partial(one.evaluate, self.content.first, ci=level, resamples=draws) for one in parts]
        found = [self.work.result_or_reason(call) for call in each]
        every = [row for some, _ in found if some is not None for row in some.to_dicts()]
        rows = [row for row in every if self._system(row) == self.content.best and row["n"] >= MIN_ROWS_OF_SEGMENT]
        rows = [row for row in rows if row["ci_low"] is not None and row["ci_high"] is not None]
        if not rows:
            _, reason = found[0]
            yield self._not_looked_for(reason or f"no segment has {MIN_ROWS_OF_SEGMENT} {self.content.unit}")
            return
        whole = self.best_row["value"]
        far = [] if whole is None else [row for row in rows if _excludes(row, whole)]
        far.sort(key=lambda row: -abs(row["value"] - whole))
        cells = [row for row in rows if {*self.content.by} <= {*row}]
        singles = [row for row in far if row in cells]
        wholes = [row for row in far if row not in cells]
        sure = [row for row in wholes if not singles or self._is_of_all(row, singles[0], cells, whole)]
        alone = [row for row in singles if all(_excludes(row, self._mean_of_others(row, name, cells)) for name in by)]
        for row in [*sure, *alone, *wholes][:1]:
            yield self._of_row(OutstandingSegment, row, baseline_value=whole, reference="over all")
        if not [*wholes, *alone]:
            yield self._plain("nothing", "a segment that stands out")

    def _mean_of_others(self, row: Mapping[str, Any], name: str, cells: Sequence[Mapping[str, Any]]) -> float:
        """Return the mean of the other segments with the same value of a column, NaN without one."""
        others = [one for one in cells if one[name] == row[name] and any(one[by] != row[by] for by in self.content.by)]
        n = sum(one["n"] for one in others)
        return sum(one["value"] * one["n"] for one in others) / n if n else float("nan")

    def _is_of_all(self, row: Mapping[str, Any], single: Mapping[str, Any], cells: Any, whole: float) -> bool:
        """Return True if the segments of a level, but for one, are half as far off as all of them on average."""
        (name,) = (name for name in self.content.by if name in row)
        within = single if single[name] == row[name] else dict.fromkeys(self.content.by) | {name: row[name]}
        return (self._mean_of_others(within, name, cells) - whole) / (row["value"] - whole) > HALF


def _excludes(row: Mapping[str, Any], value: float) -> bool:
    """Return True if an interval excludes a value."""
    return not row["ci_low"] <= value <= row["ci_high"]
