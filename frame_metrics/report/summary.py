"""Summary of a report: one sentence for each decision that its tables support."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import polars as pl

from frame_metrics.border.shown import value_text
from frame_metrics.inputs import Confusion
from frame_metrics.measuring.baseline import is_frame
from frame_metrics.metrics.elsewhere import is_known
from frame_metrics.report.cells import EQUAL, counted, plain_text, sign_of
from frame_metrics.report.sentences import Said
from frame_metrics.roles.conventions import Conventions
from frame_metrics.stats.exact import share_between
from frame_metrics.verbs.audit.of_systems import SOME

if TYPE_CHECKING:
    from frame_metrics.report.content import Calls, Content

TOP = 10  # results of a ranking that are looked at, if the first metric has no cutoff
SEGMENTS = 50  # the most segments; with more, none is searched
LEAST = 30  # the fewest queries of a segment; with fewer, its interval is too short to name the farthest of many
TIMES = 3  # the fewest times of a trend
EXPECTED = 10  # the fewest rows of each label that a bin should have by its mean score; else its interval is too short
LACKING = 3  # the most systems that are named because they lack rows of queries
SERIES = 500  # the most segments of all systems together; with more, none is searched
DRAWS = 200  # resamples for each segment; so some of them lie outside its interval
OPPOSITE = 3  # the most segments that are named in which another system beats the best one
NOTHING_RELEVANT = "queries without relevant documents"  # a note, not a warning, where each row has its own label
MISMATCH = "sample ratio mismatch"
CUT = "searches cut by segments"
MISSING = ("rows left out without a label", "many rows without a score")
TURNED = "scores worse than chance in rankings"
# Checks of the audit that have sentences of their own. "query found by name" is an error of metrics that are not among
# those of the report, which would have raised it.
SAID_ELSEWHERE = (
    *("unjudged in the top", "unjudged results", "systems without rows for", MISMATCH, CUT, TURNED),
    *("query found by name", *MISSING),
)
OF_RELEVANT = (  # checks of what is relevant, which metrics of gains alone do not read
    *("grades between 0 and 1", "grades that do not reach rel", "no grade below rel"),
    *("nothing found that is relevant", NOTHING_RELEVANT),
)
# Days and longer times as text: 2026-01-05, 2026-01, 2026-W02, 2026Q1, 2026-01-05/2026-01-11; they sort as times do.
TIME = re.compile(r"(19|20)\d\d(-(0[1-9]|1[0-2]|W\d\d)|-?Q[1-4])(?!\d)[-\dT:/ .+Z]*")
TYPES = {"str": pl.String(), "int": pl.Int64(), "float": pl.Float64()}
INSIDE = ("unit", "threshold", "adjusted", "clicks")  # fields of a sentence that are no columns
FIGURES = {field.name: str(field.type).split(" ")[0] for field in fields(Said) if field.name not in INSIDE}


def summary_of(content: Content, work: Calls, compared: Mapping[str, Any]) -> pl.DataFrame:
    """Return a frame with a row for each sentence: its text, and the figures in it.

    Parameters
    ----------
    compared : the options with which ``compare`` was called.
    """
    said = [one for one in Decisions(content, work, compared).all() if one.sentence]
    system = content.system
    own = content.results.schema[system] if system else pl.String()
    other = own if content.comparison is None else content.comparison.schema["baseline"]
    named = {"system": own, "baseline": other, "sentence": pl.String()}
    names = ["about", "sentence", *(one for one in FIGURES if one != "system" or system)]
    kinds = {name: named[name] if name in named else TYPES[FIGURES[name]] for name in names}
    columns = {name: pl.Series([getattr(one, name) for one in said], dtype=kind) for name, kind in kinds.items()}
    return pl.DataFrame(columns)


@dataclass(frozen=True)
class Decisions:
    """Sentences of a summary, found in the content of a report.

    ``compared`` holds the options with which ``compare`` was called.
    """

    content: Content
    work: Calls
    compared: Mapping[str, Any]

    def all(self) -> Iterator[Said]:
        """Yield all possible sentences; those whose figures are not enough are empty."""
        if self.content.results.is_empty():  # a frame without rows has no system
            yield from self._missing()
            yield from self._audited()
            return
        pairs = [*self._pairs()]
        yield from self._split()
        yield from self._unanswered()
        yield from pairs
        if not pairs or self.content.first_compared != self.content.first:
            yield self._said("value", self.own)
        if self.own.get("n_effective") is not None:
            yield self._said("weighted", {}, system=self.best, value=self.own["n_effective"])
        yield from self._missing()
        sides = (pairs[0].system, pairs[0].baseline) if pairs else ()
        yield from self._unjudged(next((one for one in sides if one != self.best), None))
        yield from self._undefined()
        yield from self._lacking()
        yield from self._calibrated()
        yield from self._turned()
        yield from self._cut()
        yield from self._audited()
        yield from self._opposite(pairs)
        yield from self._segments()

    @cached_property
    def best(self) -> Any:
        """The best system by the first metric; None if there are no systems."""
        return next(iter(self.content.places), None)

    @cached_property
    def own(self) -> dict[str, Any]:
        """The row of the best or only system in the results of the first metric."""
        rows = self.content.of_first(self.content.results).to_dicts()
        return next(row for row in rows if self._system(row) == self.best)

    def _system(self, row: Mapping[str, Any]) -> Any:
        return row.get(self.content.system) if self.content.system else None

    def _of(self, row: Mapping[str, Any]) -> str:
        """Return the segment of a row as text, as "column = value"."""
        return ", ".join(f"{plain_text(name)} = {plain_text(row[name], 60)}" for name in self.content.by if name in row)

    @property
    def _fill(self) -> float | None:
        """The number that replaces undefined values of the first metric; None if they are left out."""
        roles, metric = self.work.irm.roles, self.content.asked[0][1]
        metric = metric if roles.get("value") is None else replace(metric, undefined=None)
        return Conventions(undefined=roles.get("undefined")).fill(metric)

    def _filled(self, n: int, unit: str) -> str | None:
        """Return words for what happens to undefined values of the first metric; ``n``: how many there are."""
        fill, many = self._fill, n != 1
        if fill is None:
            return f"{'are' if many else 'is'} left out" if unit else None
        return f"count{'' if many else 's'} as {fill:g}"

    def _undefined(self) -> Iterator[Said]:
        """Yield where the first metric is undefined, and what becomes of it."""
        n, unit = self.own["n_undefined"], self.content.undefined_in(self.own["average"])
        if not n:
            return
        alike = self.content.of_first(self.content.results)["n_undefined"].n_unique() == 1
        # n counts queries or rows; classes, or the value itself, are no part of it.
        every = self.own["n"] + (n if self._fill is None else 0) if unit == "queries" else None
        system = None if alike else self.best
        audit = self.content.audit.filter(pl.col("check") == NOTHING_RELEVANT, pl.col("severity") == "info", n=n)
        clicks = True if len(audit) and every is not None else None  # each row has a label, and none of these is 1
        figures = {"n": n, "baseline_n": every, "of": self._filled(n, unit), "unit": unit, "clicks": clicks}
        yield self._said("undefined", {}, system=system, **figures)

    def _said(self, about: str, row: Mapping[str, Any], *, by: str | None = None, **more: Any) -> Said:
        """Return a sentence with the figures of a row.

        Parameters
        ----------
        by : the metric of the figures; None for the first.
        more : figures to add or to replace.
        """
        figures = {name: value for name, value in row.items() if name in FIGURES and name != self.content.system}
        of = self._of(row) or None
        name, metric = next((one for one in self.content.asked if one[0] == by), self.content.asked[0])
        fixed = {"metric": name, "unit": self.content.unit, "of": of, "system": self._system(row)}
        at = self.content.threshold if metric.input is Confusion else None
        return Said(**{**figures, "about": about, **fixed, "threshold": at, "adjusted": self.content.adjusted, **more})

    def _missing(self) -> Iterator[Said]:
        """Yield what the caller named and could not be made."""
        for metric, told in self.work.missing:
            yield self._said("absent", {}, by=metric, of=told)

    def _pairs(self) -> Iterator[Said]:
        """Yield the differences of the best system from some others.

        With baselines there is one sentence for each, about the best system that is no baseline itself. Without
        baselines the others are the next best system, and the first one with a difference that is sure. Only without
        baselines is a row of ``compare`` turned round.
        """
        frame = self.content.comparison
        if frame is None or {*self.content.by} & {*frame.columns}:
            return
        frame, name = self.content.of_compared(frame), self.content.first_compared
        rows = [self._said("difference", row, by=name) for row in frame.iter_rows(named=True)]
        if self.content.named:
            named = [*dict.fromkeys(frame["baseline"])]
            own = [] if is_frame(self.compared["baseline"]) else named
            one = next((system for system in self.content.places if system not in own), None)
            yield from filter(None, (self._pair(rows, one, other) for other in named))
            return
        if sign_of(name) != 0:
            rows = [one.turned() if one.baseline == self.best else one for one in rows]
        others = [one for one in self.content.places if one != self.best]
        for at, pair in enumerate(self._pair(rows, self.best, other) for other in others):
            if pair and (at == 0 or pair.told):
                yield pair
            if pair and pair.told:
                return

    def _pair(self, rows: Sequence[Said], system: Any, other: Any) -> Said | None:
        """Return the first row about a system and another one that makes a sentence; None if there is none."""
        sides = {system, other}
        return next((one for one in rows if {one.system, one.baseline} == sides and one.sentence), None)

    def _unjudged(self, other: Any) -> Iterator[Said]:
        """Yield the shares of unjudged results in the top of the rankings, of the best system and of another one."""
        if not self.content.query:
            return
        k = self.content.asked[0][1].k or TOP
        irm = self.work.each(self.work.irm)(undefined="null")
        judged = self._quietly(irm.evaluate, f"judged@{k}", margins=bool(self.content.by))
        if judged is not None:
            judged = self.content.over_all(judged)
            share = {self._system(row): None if row["value"] is None else 1 - row["value"] for row in judged.to_dicts()}
            beside = other is not None and other in share
            figures = {"baseline": other, "baseline_value": share[other]} if beside else {}
            yield self._said("unjudged", figures, system=self.best, share=share[self.best], n=k)

    def _unanswered(self) -> Iterator[Said]:
        """Yield the systems that have no row of more than a few queries, those that lack most first.

        Saved numbers say it in the column "answered"; without it all numbers count as measured.
        """
        results, columns = self.content.of_first(self.content.results), self.work.columns
        known = "n_unanswered" in results.columns and (not columns.value or columns.answered)
        if not known or not results["n_unanswered"].sum():
            return
        drops = self.work.irm.roles.get("unanswered") == "drop"
        own = {} if drops else self._over_answered()
        for row in results.sort("n_unanswered", descending=True, maintain_order=True).head(LACKING).to_dicts():
            n, system = row["n_unanswered"], self._system(row)
            every = row["n"] + (row["n_undefined"] if self._fill is None else 0) + n * drops
            if n > SOME * every:
                value, has = own.get(system, (None, 0))
                zero = value is None or abs(row["value"] * row["n"] - value * has) <= EQUAL * row["n"]
                of = None if drops else "count as 0" if zero else "count as queries without results"
                figures = {"n": n, "baseline_n": every, "value": value, "n_units": has, "of": of}
                yield self._said("unanswered", {}, system=system, **figures)

    def _over_answered(self) -> dict[Any, tuple[float | None, int]]:
        """Return, for each system, its value over the queries that it has rows of, and their number."""
        irm, by = self.work.irm(unanswered="drop"), bool(self.content.by)
        found = self._quietly(irm.evaluate, self.content.first, margins=by)
        rows = [] if found is None else self.content.over_all(found).to_dicts()
        return {self._system(row): (row["value"], row["n"]) for row in rows}

    def _quietly(self, verb: Callable[..., Any], *asked: str, **options: Any) -> pl.DataFrame | None:
        """Return the result of a verb; None if it cannot be computed, which the report does not mention."""
        return self.work.apart(self.work.irm).tried(verb.__name__, partial(verb, *asked, **options))

    def _split(self) -> Iterator[Said]:
        """Yield a warning if units are not split between arms as they should be; it stands before any difference."""
        for message in self.content.audit.filter(pl.col("check") == MISMATCH)["message"]:
            yield self._said("split", {}, of=message.partition(";")[0])

    def _turned(self) -> Iterator[Said]:
        """Yield a note if scores order results worse than chance does, as distances do."""
        for message in self.content.audit.filter(pl.col("check") == TURNED)["message"]:
            yield self._said("distance", {}, of=message.partition(" (n counts")[0])

    def _cut(self) -> Iterator[Said]:
        """Yield which searches stand in several segments, if they are many enough for a warning."""
        cut = self.content.audit.filter(pl.col("check") == CUT, pl.col("severity") == "warning")
        for n, message in cut.select("n", "message").iter_rows():
            yield self._said("cut", {}, of=message.partition("; each part counts")[0], n=n)

    def _lacking(self) -> Iterator[Said]:
        """Yield how many rows have no label and are left out, and how many have no score."""
        for row in self.content.audit.filter(pl.col("check").is_in(MISSING)).iter_rows(named=True):
            yield self._said("missing", {}, of=row["message"], n=row["n"], share=row["share"])

    def _audited(self) -> Iterator[Said]:
        """Yield the gravest findings of the audit that matter for the metrics of the report."""
        relevant = any(not is_known(one) or "relevant" in one.reads for _, one in self.content.asked)
        elsewhere = SAID_ELSEWHERE if relevant else (*SAID_ELSEWHERE, *OF_RELEVANT)
        for severity in ("error", "warning"):
            found = self.content.audit.filter(pl.col("severity") == severity)
            rows = [row for row in found.iter_rows(named=True) if not row["check"].startswith(elsewhere)]
            if rows:
                text = ", ".join(map(_found, rows))
                other = "other " if any(one.startswith(SAID_ELSEWHERE) for one in found["check"]) else ""
                many = f"{len(rows)} {other}{severity}{'s' if len(rows) > 1 else ''}"
                yield self._said("audit", {}, of=f"{many}: {text}", n=len(rows))
                return

    def _calibrated(self) -> Iterator[Said]:
        """Yield how far scores are from the shares that came true, and the bin where this is surest.

        That is the bin whose interval is farthest from its mean score. The intervals hold for all bins together, at
        the caller's level. Bins with too few rows are left out. If rows have weights or clusters, there is no sentence.
        """
        columns = self.work.columns
        if columns.query or not columns.score or columns.class_scores or columns.weight or columns.cluster:
            return
        irm = self.work.irm(by=None, threshold=None)
        off, bins = self._quietly(irm.evaluate, "ece"), self._quietly(irm.curve, "calibration")
        if off is None or bins is None:  # scores outside 0 to 1 are no probabilities
            return
        rows = [row for row in bins.to_dicts() if self._system(row) == self.best]
        rows = [row for row in rows if row["n"] * min(row["predicted"], 1 - row["predicted"]) >= EXPECTED]
        for row in rows:
            ends = share_between(row["observed"], row["n"], 1 - (1 - self.compared["ci"]) / len(rows))
            row |= dict(zip(("ci_low", "ci_high"), ends, strict=True))
        if rows:
            far = max(rows, key=lambda row: max(row["ci_low"] - row["predicted"], row["predicted"] - row["ci_high"]))
            value = next(row["value"] for row in off.to_dicts() if self._system(row) == self.best)
            figures = {"value": value, "baseline_value": far["predicted"], "share": far["observed"]}
            yield self._said("calibration", far, system=self.best, metric="ece", of=self.content.positive, **figures)

    def _opposite(self, pairs: Sequence[Said]) -> Iterator[Said]:
        """Yield segments in which another system beats the best one; p-values are corrected for all tests together."""
        named, name = self.compared["baseline"], self.content.first_compared
        if not pairs or not self.content.by or self._series() > SERIES:
            return
        saved = is_frame(named)
        options = {**self.compared, "baseline": named if saved else self.work.as_baseline(self.best), "over": "all"}
        calls = self.work.apart(self.work.irm)
        found = calls.tried("segments", partial(self.work.irm.compare, name, **options))
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

    def _segments(self) -> Iterator[Said]:
        """Yield the segment that is farthest from the whole, and a trend; intervals hold for all segments together."""
        frame, ci = self.content.segments, self.content.ci
        if frame is None or ci is None:  # without intervals nothing stands out
            return
        n = sum(self._system(row) == self.best for row in self.content.of_first(frame).iter_rows(named=True))
        if why := self._too_many(n):
            yield self._said("absent", {}, of=f"No segment that stands out and no trend is looked for: {why}")
        if n < 2 or why:
            return
        level, draws = 1 - (1 - ci) / n, max(1000, DRAWS * n)
        calls, irm = self.work.apart(self.work.irm), self.work.each(self.work.irm)
        found = calls.tried("segments", partial(irm.evaluate, self.content.first, ci=level, resamples=draws))
        every = [] if found is None else [row for row in found.iter_rows(named=True) if self._system(row) == self.best]
        rows = [self._widened(row, level) for row in every if row["ci_low"] is not None and row["n"] >= LEAST]
        if not rows:
            why = calls.absent[0]["reason"] if found is None else f"no segment has {LEAST} {self.content.unit}"
            yield self._said("absent", {}, of=f"No segment that stands out and no trend is looked for: {why}")
            return
        whole = self.own["value"]
        if whole is not None:
            far = [row for row in rows if row["ci_high"] < whole or row["ci_low"] > whole]
            for row in sorted(far, key=lambda row: -abs(row["value"] - whole))[:1]:
                yield self._said("segment", row, baseline_value=whole, difference=row["value"] - whole)
        yield from self._trend(every, rows)

    def _trend(self, every: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]) -> Iterator[Said]:
        """Yield the change from the first time to the last, if their intervals do not overlap.

        Parameters
        ----------
        every : the rows of all segments; if these are no times, or fewer than three, there is no trend.
        rows : those with enough queries for an interval.
        """
        by = self.content.by[0]
        texts = [value_text(row[by]) for row in every if row[by] is not None]
        if len(self.content.by) > 1 or len(texts) < TIMES or not all(map(TIME.fullmatch, texts)):
            return
        times = {value_text(row[by]): row for row in rows if row[by] is not None}
        if len(times) < TIMES:
            why = f"fewer than {TIMES} segments have {LEAST} {self.content.unit}"
            yield self._said("absent", {}, of=f"No trend is looked for: {why}")
            return
        first, last = times[min(times)], times[max(times)]
        if last["ci_low"] > first["ci_high"] or last["ci_high"] < first["ci_low"]:
            change = last["value"] - first["value"]
            of = f"{self._of(first)} to {self._of(last)}"
            yield self._said("trend", last, of=of, baseline_value=first["value"], difference=change)

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

    def _widened(self, row: dict[str, Any], level: float) -> dict[str, Any]:
        """Return the row of a segment; an interval without width is widened by what the sample may have missed.

        Such an interval comes from n queries with the same value. Of all queries, a share of up to
        1 - (a / 2)^(1 / n) may still have another value (Clopper and Pearson), from the least to the greatest of the
        metric; a is 1 - ``level``. If there are weights, clusters or rows without a query, n is unknown, and the share
        is 1.
        """
        if row["ci_low"] < row["ci_high"]:
            return row
        columns, (least, most), value = self.work.columns, self.content.asked[0][1].range, row["value"]
        known = columns.query and not columns.weight and not columns.cluster
        unseen = 1 - ((1 - level) / 2) ** (1 / row["n"]) if known else 1
        return row | {"ci_low": value - unseen * (value - least), "ci_high": value + unseen * (most - value)}


def _found(row: Mapping[str, Any]) -> str:
    """Return a finding of the audit as text, with its count unless it is about the whole frame."""
    return f"{row['check']} ({counted(row['n'], row['unit'])})" if row["unit"] else str(row["check"])
