"""Sentences of a summary about segments: where another system is best, and what stands out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from frame_metrics.measuring.baseline import is_frame
from frame_metrics.report.cells import plain_text, sign_of
from frame_metrics.report.of_periods import OfPeriods
from frame_metrics.report.of_strata import in_segments
from frame_metrics.report.sentences import Said
from frame_metrics.report.stated import Stated

SEGMENTS = 50  # the most segments; with more, none is searched
LEAST = 30  # the fewest queries of a segment; with fewer, its interval is too short to name the farthest of many
SERIES = 500  # the most segments of all systems together; with more, none is searched
DRAWS = 200  # resamples for each segment; so some of them lie outside its interval
OPPOSITE = 3  # the most segments that are named in which another system beats the best one


class OfSegments(Stated):
    """Sentences about segments."""

    def opposite(self, pairs: Sequence[Said]) -> Iterator[Said]:
        """Yield segments in which another system beats the best one; p-values are corrected for all tests together."""
        named, name = self.compared["baseline"], self.content.first_compared
        if not pairs or not self.content.by or self._series() > SERIES:
            return
        saved = is_frame(named)
        options = in_segments(self.compared, self.content.by)
        options |= {"baseline": named if saved else self.work.as_baseline(self.best), "over": "all"}
        calls = self.work.apart(self.work.irm)
        found = calls.tried("segments", partial(calls.compare, self.work.irm, name, **options))
        if found is None:
            reason = calls.absent[0]["reason"].removeprefix("baseline: ")
            yield self._said("absent", {}, by=name, of=f"Nothing is compared in each segment: {reason}")
            return
        rows = [*found.iter_rows(named=True)]
        yield from self._new(rows) if saved else ()
        each = [self._said("difference", row, by=name) for row in rows]
        each = [one.turned() for one in each if one.system == self.best] if saved else each
        worse = sign_of(name)
        other = [one for one in each if one.told and (one.difference or 0) * worse > 0]
        yield from sorted(other, key=lambda one: one.p_adjusted or 0)[:OPPOSITE]

    def _new(self, rows: Sequence[Mapping[str, Any]]) -> Iterator[Said]:
        """Yield the segments of the frame of which there are no saved numbers."""
        new = [*dict.fromkeys(self._of(row) for row in rows if not row["n"] and row["n_unpaired"])]
        if new:
            more = f" and {len(new) - OPPOSITE} more" if len(new) > OPPOSITE else ""
            some = f"{', '.join(new[:OPPOSITE])}{more}"
            name = self.content.first_compared
            yield self._said("absent", {}, by=name, of=f"Nothing is compared in {some}: there are no saved numbers")

    def _series(self) -> int:
        return 0 if self.content.segments is None else len(self.content.of_first(self.content.segments))

    def segments(self) -> Iterator[Said]:
        """Yield the segment that is farthest from the whole; intervals hold for all. Of periods yield their course."""
        frame, ci = self.content.segments, self.content.ci
        if frame is None or ci is None:  # without intervals nothing stands out
            return
        time = OfPeriods(self.content, self.work, self.compared)
        if time.rows and not self.content.asked[0][1].summed:
            yield from time.periods()
            return
        n = sum(self._system(row) == self.best for row in self.content.of_first(frame).iter_rows(named=True))
        if why := self._too_many(n):
            yield self._said("absent", {}, of=f"No segment that stands out is looked for: {why}")
        if n < 2 or why:
            return
        level, draws = 1 - (1 - ci) / n, max(1000, DRAWS * n)
        calls, irm = self.work.apart(self.work.irm), self.work.irm
        found = calls.tried("segments", partial(irm.evaluate, self.content.first, ci=level, resamples=draws))
        every = [] if found is None else found.iter_rows(named=True)
        sure = [row for row in every if self._system(row) == self.best]
        sure = [row for row in sure if row["ci_low"] is not None and row["ci_high"] is not None]
        rows = [row for row in sure if row["n"] >= LEAST]
        if not rows:
            why = calls.absent[0]["reason"] if found is None else f"no segment has {LEAST} {self.content.unit}"
            yield self._said("absent", {}, of=f"No segment that stands out is looked for: {why}")
            return
        whole = self.own["value"]
        if whole is not None:
            far = [row for row in rows if row["ci_high"] < whole or row["ci_low"] > whole]
            for row in sorted(far, key=lambda row: -abs(row["value"] - whole))[:1]:
                yield self._said("segment", row, baseline_value=whole, difference=row["value"] - whole)

    def _too_many(self, n: int) -> str:
        """Return the reason why segments are not searched; "" if they are. ``n``: the number of segments."""
        by, series = ", ".join(map(plain_text, self.content.by)), self._series()
        if self.content.asked[0][1].summed:
            return f"{self.content.first} is a sum, which depends on how many {self.content.unit} a segment has"
        if n > SEGMENTS:
            return (
                f"{by} makes {n:,} segments, and at most {SEGMENTS} are searched; group them with by=, such as days by "
                "week"
            )
        if series > SERIES:
            return f"{by} makes {series:,} segments of all systems together, and at most {SERIES} are searched"
        return ""
