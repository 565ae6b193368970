"""The content of a report: the frames that verbs return, and what else is said of the call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

import polars as pl

from frame_metrics.border.frames import here
from frame_metrics.errors import FrameMetricsError
from frame_metrics.metrics.metric import Metric
from frame_metrics.report.cells import plain_text
from frame_metrics.report.foremost import foremost, places_of
from frame_metrics.roles.columns import Columns

SYSTEMS = 4  # whose queries are shown
NAMES = "name"  # the order of systems as verbs return them
PAIRS, MOVED = 3, 5  # whose queries are shown that differ most; how many of them, either way


@dataclass(frozen=True, eq=False)
class Ranked:
    """One of the best or worst queries, and its results."""

    system: Any  # None where the frame has no systems
    place: str  # "worst" or "best"
    keys: dict[str, Any]  # of segment and query, by the caller's columns
    value: float
    results: pl.DataFrame | None = None  # those that are shown, as explain() gives them
    more: int = 0  # results that are not shown
    explained: str = ""  # the metric that they contribute to


@dataclass(frozen=True, eq=False)
class Content:
    """Everything that a report shows. Frames are those of the verbs, as polars."""

    title: str
    created: datetime
    kind: str  # of the caller's frame
    asked: Sequence[tuple[str, Metric]]
    ci: float | None
    system: str | None  # the columns of the keys
    by: tuple[str, ...]
    query: tuple[str, ...]
    roles: list[dict[str, str]]
    conventions: list[dict[str, str]]
    results: pl.DataFrame
    audit: pl.DataFrame
    versions: Mapping[str, str]
    named: bool = False  # whether a baseline was
    sort: str = NAMES  # the metric that systems are sorted by in tables
    summary: pl.DataFrame = field(default_factory=pl.DataFrame)  # sentences, and their figures
    segments: pl.DataFrame | None = None
    comparison: pl.DataFrame | None = None
    segments_compared: pl.DataFrame | None = None  # by the first metric, with a baseline that was named
    differences: pl.DataFrame | None = None  # of each query, by the first metric
    values: pl.DataFrame | None = None  # of each query, by the first metric
    quantiles: pl.DataFrame | None = None
    confusion: pl.DataFrame | None = None
    threshold: float | None = None  # that was said
    adjusted: str | None = None  # the column that means of arms are adjusted by
    best_threshold: pl.DataFrame | None = None
    positive: str = "relevant"  # a word for the label that is to be found
    classes: pl.DataFrame | None = None  # metrics of each of several
    curves: dict[str, pl.DataFrame] = field(default_factory=dict)
    queries: list[Ranked] = field(default_factory=list)
    duels: list[tuple[Ranked, Ranked]] = field(default_factory=list)  # queries on which two systems differ most
    undefined: int = 0  # queries, of each system, without a value of the first metric: neither best nor worst
    absent: list[dict[str, str]] = field(default_factory=list)  # what could not be computed, and why

    @property
    def groups(self) -> list[str]:
        """The columns of system and segment."""
        return [*([self.system] if self.system else []), *self.by]

    @property
    def keys(self) -> list[str]:
        """The columns that name a ranking."""
        return [*self.groups, *self.query]

    def in_words(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The confusion matrix with words for true and false: the caller's, where two classes were made of several."""
        if frame.schema["actual"] != pl.Boolean:
            return frame
        own = self.positive not in ("relevant", "positive")
        words = {True: self.positive, False: f"not {self.positive}"} if own else {True: "True", False: "False"}
        return frame.with_columns(pl.col("predicted", "actual").replace_strict(words, return_dtype=pl.String))

    @property
    def unit(self) -> str:
        """A word for what is counted."""
        return "queries" if self.query else "rows"

    def undefined_in(self, average: str | None) -> str:
        """A word for what is undefined of a metric: queries, classes, or nothing where it is the value itself."""
        return "queries" if self.query else "" if average == "pooled" else "classes"

    def over_all(self, results: pl.DataFrame) -> pl.DataFrame:
        """The rows of ``evaluate(margins=True)`` that are over all segments; all where there are none."""
        if not self.by:
            return results
        return results.filter(pl.col("total_over") == ", ".join(self.by)).drop("total_over", *self.by)

    @property
    def first(self) -> str:
        """The metric that queries are ordered by."""
        return self.asked[0][0]

    def of_first(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The rows of that metric."""
        return frame.filter(pl.col("metric") == self.first)

    @cached_property
    def places(self) -> dict[Any, int]:
        """The place of each system where not all can be shown."""
        compared = [] if self.comparison is None or not self.named else [*dict.fromkeys(self.comparison["baseline"])]
        return places_of(self.results, self.system, self.first, compared)

    @property
    def n_systems(self) -> int:
        """The number of systems; 0 where there are none."""
        return 0 if self.system is None else self.results[self.system].n_unique()

    @property
    def n_pairs(self) -> int:
        """The number of pairs of systems."""
        return self.n_systems * (self.n_systems - 1) // 2

    def foremost_pairs(self) -> list[pl.DataFrame]:
        """Return differences of the pairs that are drawn and listed, those of the foremost systems."""
        if self.differences is None:
            return []
        keys = [name for name in self.groups if name in self.differences.columns]
        pairs = self.differences.drop_nulls("difference").partition_by([*keys, "baseline"], maintain_order=True)
        systems = [pair[self.system][0] if self.system in pair.columns else None for pair in pairs]
        return [pairs[at] for at in foremost(systems, self.places, PAIRS)]

    def moved(self) -> list[pl.DataFrame]:
        """Return the queries on which the systems of each of these pairs differ most, the greatest difference first."""
        pairs = [pair.filter(pl.col("difference") != 0) for pair in self.foremost_pairs()]
        pairs = [pair.sort("difference", descending=True, maintain_order=True) for pair in pairs if len(pair)]
        ends = [(pair.head(MOVED), pair.tail(MOVED)) for pair in pairs]
        return [pair if len(pair) <= 2 * MOVED else pl.concat(end) for pair, end in zip(pairs, ends, strict=True)]

    @property
    def facts(self) -> pl.DataFrame:
        """The rows of the audit that say how much was counted."""
        return self.audit.filter(pl.col("severity") == "fact")

    @property
    def findings(self) -> pl.DataFrame:
        """The other rows of the audit."""
        return self.audit.filter(pl.col("severity") != "fact")


@dataclass
class Calls:
    """Calls of verbs, one after the other; those that cannot be computed are noted and left out."""

    irm: Any
    columns: Columns  # that the irm plays
    arm: str | None = None  # the column of systems that have each their own queries
    absent: list[dict[str, str]] = field(default_factory=list)
    nested: dict[Any, Any] = field(default_factory=dict)  # systems that are structs or lists, by their texts

    def named(self, *names: str) -> Sequence[str]:
        """Return the metrics that a verb is asked for; none where the frame has numbers, which are of its own."""
        return () if self.columns.value else names

    def as_baseline(self, system: Any) -> list[Any]:
        """Return a system that rows are looked up by as the one baseline of ``compare``; null is one too."""
        return [self.nested.get(system, system)]

    def each(self, irm: Any) -> Any:
        """Return what is asked for values: each arm is measured on the queries that it has, as a segment."""
        by = irm.roles.get("by") or []
        own = [by] if isinstance(by, str) else [*by]
        return irm if self.arm is None else irm(system=None, by=[*own, self.arm])

    def here(self, frame: Any) -> pl.DataFrame:
        """Return what a verb returned as polars, nested systems as text, since rows are looked up by them."""
        told = here(frame)
        for name in {*told.columns} & {self.columns.system, "baseline"}:
            if told.schema[name].is_nested():
                texts = [*map(plain_text, told[name].to_list())]
                self.nested |= zip(texts, told[name].to_list(), strict=True)
                told = told.with_columns(pl.Series(name, texts))
        return told

    def apart(self, irm: Any) -> Calls:
        """Return another gathering, whose notes nobody reads."""
        return Calls(irm, self.columns)

    def tried(self, section: str, call: Callable[[], Any]) -> pl.DataFrame | None:
        """Return what a verb returns; None where it says why it cannot."""
        try:
            return self.here(call())
        except FrameMetricsError as error:
            self.absent.append({"section": section, "reason": str(error)})
            return None

    def whole(self, content: Content) -> Any:
        """The irm without segments, unless a query stands in several, whose rankings would then be one."""
        several = content.audit.filter(pl.col("check") == "queries in several segments")["n"].sum()
        if not content.by:
            return self.irm
        if several:
            reason = "some queries stand in several segments, each with a ranking of its own"
            self.absent.append({"section": "comparison over all segments", "reason": reason})
            return self.irm
        return self.irm(by=None)

    def all_segments(self, content: Content) -> Any:
        """The irm that gives values of all segments together, of each arm by itself."""
        return self.each(self.apart(self.irm).whole(content))
