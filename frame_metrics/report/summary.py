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
from frame_metrics.report.cells import counted, plain_text, sign_of
from frame_metrics.report.sentences import Said
from frame_metrics.roles.conventions import Conventions
from frame_metrics.stats.exact import share_between

if TYPE_CHECKING:
    from frame_metrics.report.content import Calls, Content

TOP = 10  # results of a ranking that are looked at, if the first metric has no cutoff
SEGMENTS = 50  # the most segments; with more, none is searched
LEAST = 30  # the fewest queries of a segment; with fewer, its interval is too short to name the farthest of many
EXPECTED = 10  # the fewest rows of each label that a bin should have by its mean score; else its interval is too short
SERIES = 500  # the most segments of all systems together; with more, none is searched
DRAWS = 200  # resamples for each segment; so some of them lie outside its interval
OPPOSITE = 3  # the most segments that are named in which another system beats the best one
MISMATCH = "sample ratio mismatch"
# Checks of the audit that have sentences of their own.
SAID_ELSEWHERE = ("unjudged in the top", "unjudged results", MISMATCH)
OF_RELEVANT = (  # checks of what is relevant, which metrics of gains alone do not read
    *("grades between 0 and 1", "grades that do not reach rel", "no grade below rel"),
    *("nothing found that is relevant", "queries without relevant documents"),
)
# Days and longer times as text: 2026-01-05, 2026-01, 2026-W02, 2026Q1, 2026-01-05/2026-01-11; they sort as times do.
TIME = re.compile(r"(19|20)\d\d(-(0[1-9]|1[0-2]|W\d\d)|-?Q[1-4])(?!\d)[-\dT:/ .+Z]*")
TYPES = {"str": pl.String(), "int": pl.Int64(), "float": pl.Float64()}
INSIDE = ("unit", "threshold", "adjusted")  # fields of a sentence that are no columns
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
            yield from self._audited()
            return
        pairs = [*self._pairs()]
        yield from self._split()
        yield from pairs
        if not pairs:
            yield self._said("value", self.own)
        sides = (pairs[0].system, pairs[0].baseline) if pairs else ()
        yield from self._unjudged(next((one for one in sides if one != self.best), None))
        if self.own["n_undefined"]:
            alike = self.content.of_first(self.content.results)["n_undefined"].n_unique() == 1
            n, unit = self.own["n_undefined"], self.content.undefined_in(self.own["average"])
            # n counts queries or rows; classes, or the value itself, are no part of it.
            every = self.own["n"] + (n if self._fill is None else 0) if unit == "queries" else None
            system = None if alike else self.best
            yield self._said("undefined", {}, system=system, n=n, baseline_n=every, of=self._filled(n, unit), unit=unit)
        yield from self._calibrated()
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

    def _said(self, about: str, row: Mapping[str, Any], **more: Any) -> Said:
        """Return a sentence with the figures of a row; ``more``: figures to add or to replace."""
        figures = {name: value for name, value in row.items() if name in FIGURES and name != self.content.system}
        of = self._of(row) or None
        first, metric = self.content.asked[0]
        fixed = {"metric": first, "unit": self.content.unit, "of": of, "system": self._system(row)}
        at = self.content.threshold if metric.input is Confusion else None
        return Said(**{**figures, "about": about, **fixed, "threshold": at, "adjusted": self.content.adjusted, **more})

    def _pairs(self) -> Iterator[Said]:
        """Yield the differences of the best system from some others.

        The others are the baselines; if the best system is one of them, then also the next best system. Without
        baselines they are the next best system, and the first one with a difference that is sure. Only without
        baselines is a row of ``compare`` turned round.
        """
        frame = self.content.comparison
        if frame is None or {*self.content.by} & {*frame.columns}:
            return
        frame = self.content.of_first(frame)
        named = [*dict.fromkeys(frame["baseline"])] if self.content.named else []
        rows = self._differences(frame, turned=not named and sign_of(self.content.first) != 0)
        pairs = [self._pair(rows, other) for other in self._beside_best(named)]
        if named:
            yield from filter(None, pairs)
            return
        for at, pair in enumerate(pairs):
            if pair and (at == 0 or pair.told):
                yield pair
            if pair and pair.told:
                return

    def _differences(self, frame: pl.DataFrame, *, turned: bool) -> list[Said]:
        """Return the rows of a comparison as sentences.

        Parameters
        ----------
        turned : whether rows whose baseline is the best system are turned round.
        """
        rows = [self._said("difference", row) for row in frame.iter_rows(named=True)]
        return [one.turned() if turned and one.baseline == self.best else one for one in rows]

    def _pair(self, rows: Sequence[Said], other: Any) -> Said | None:
        """Return the first row about the best system and another one that makes a sentence; None if there is none."""
        sides = {self.best, other}
        return next((one for one in rows if {one.system, one.baseline} == sides and one.sentence), None)

    def _beside_best(self, named: Sequence[Any]) -> list[Any]:
        """Return the systems to compare with the best one, as ``_pairs`` says; without baselines, all others."""
        others = [one for one in named if one != self.best]
        if named and self.best not in named:
            return others
        rest = [one for one in self.content.places if one not in (self.best, *others)]
        return others + rest[: 1 if named else None]

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

    def _quietly(self, verb: Callable[..., Any], *asked: str, **options: Any) -> pl.DataFrame | None:
        """Return the result of a verb; None if it cannot be computed, which the report does not mention."""
        return self.work.apart(self.work.irm).tried(verb.__name__, partial(verb, *asked, **options))

    def _split(self) -> Iterator[Said]:
        """Yield a warning if units are not split between arms as they should be; it stands before any difference."""
        for message in self.content.audit.filter(pl.col("check") == MISMATCH)["message"]:
            yield self._said("split", {}, of=message.partition(";")[0])

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
        named = self.compared["baseline"]
        if not pairs or not self.content.by or self._series() > SERIES:
            return
        saved = is_frame(named)
        options = {**self.compared, "baseline": named if saved else self.work.as_baseline(self.best), "over": "all"}
        found = self._quietly(self.work.irm.compare, self.content.first, **options)
        rows = [] if found is None else found.iter_rows(named=True)
        each = [self._said("difference", row) for row in rows]
        each = [one.turned() for one in each if one.system == self.best] if saved else each
        worse = sign_of(self.content.first)
        other = [one for one in each if one.told and (one.difference or 0) * worse > 0]
        yield from sorted(other, key=lambda one: one.p_adjusted or 0)[:OPPOSITE]

    def _series(self) -> int:
        return 0 if self.content.segments is None else len(self.content.of_first(self.content.segments))

    def _segments(self) -> Iterator[Said]:
        """Yield the segment that is farthest from the whole, and a trend; intervals hold for all segments together."""
        frame, ci = self.content.segments, self.content.ci
        if frame is None or ci is None or self.content.asked[0][1].summed or self._series() > SERIES:
            return  # a sum over queries depends on how many a segment has
        n = sum(self._system(row) == self.best for row in self.content.of_first(frame).iter_rows(named=True))
        if not 2 <= n <= SEGMENTS:
            return
        level, draws = 1 - (1 - ci) / n, max(1000, DRAWS * n)
        found = self._quietly(self.work.each(self.work.irm).evaluate, self.content.first, ci=level, resamples=draws)
        rows = [] if found is None else [row for row in found.iter_rows(named=True) if self._system(row) == self.best]
        rows = [self._widened(row, level) for row in rows if row["ci_low"] is not None and row["n"] >= LEAST]
        whole = self.own["value"]
        if whole is not None:
            far = [row for row in rows if row["ci_high"] < whole or row["ci_low"] > whole]
            for row in sorted(far, key=lambda row: -abs(row["value"] - whole))[:1]:
                yield self._said("segment", row, baseline_value=whole, difference=row["value"] - whole)
        if len(self.content.by) == 1 and len(rows) > 2:
            by = self.content.by[0]
            times = {value_text(row[by]): row for row in rows if row[by] is not None}
            if all(map(TIME.fullmatch, times)):
                yield from self._trend([times[text] for text in sorted(times)])

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

    def _trend(self, rows: Sequence[Mapping[str, Any]]) -> Iterator[Said]:
        """Yield the change from the first time to the last, if their intervals do not overlap."""
        first, last = rows[0], rows[-1]  # there are two times at least
        if last["ci_low"] > first["ci_high"] or last["ci_high"] < first["ci_low"]:
            change = last["value"] - first["value"]
            of = f"{self._of(first)} to {self._of(last)}"
            yield self._said("trend", last, of=of, baseline_value=first["value"], difference=change)


def _found(row: Mapping[str, Any]) -> str:
    """Return a finding of the audit as text, with its count unless it is about the whole frame."""
    return f"{row['check']} ({counted(row['n'], row['unit'])})" if row["unit"] else str(row["check"])
