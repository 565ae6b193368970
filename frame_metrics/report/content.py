"""The content of a report: the frames that verbs return, and facts about the call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

import polars as pl

from frame_metrics.backends.frames import here
from frame_metrics.errors import FrameMetricsError
from frame_metrics.metrics.metric import Metric
from frame_metrics.report.cells import plain_text, sign_of
from frame_metrics.report.chosen_rows import foremost, places_of
from frame_metrics.roles.columns import Columns

SYSTEMS = 2  # the most systems whose queries are shown
NAMES = "name"  # the order of systems as verbs return them
PAIRS, MOST_MOVED = 3, 5  # the most pairs of systems whose moved queries are shown; and queries in each direction
MOST_LOSERS = 10  # the most queries that are listed as those that lost most


@dataclass(frozen=True, eq=False)
class Ranked:
    """A query that a report shows, and its results."""

    system: Any  # None if the frame has no systems
    kind: str  # "worst", "best" or "moved"
    keys: dict[str, Any]  # the values of the columns of segment and query
    value: float
    results: pl.DataFrame | None = None  # the rows of explain() that are shown
    more: int = 0  # number of rows that are not shown
    explained: str = ""  # the metric that explain() took apart


@dataclass(frozen=True, eq=False)
class Content:
    """Everything that a report shows. Frames are those of the verbs, as polars."""

    title: str
    created: datetime
    kind: str  # the kind of the caller's frame, in words
    asked: Sequence[tuple[str, Metric]]
    ci: float | None
    system: str | None  # the column of systems; then the columns of segments and of queries
    by: tuple[str, ...]
    query: tuple[str, ...]
    roles: list[dict[str, str]]
    conventions: list[dict[str, str]]
    results: pl.DataFrame
    audit: pl.DataFrame
    versions: Mapping[str, str]
    has_baseline: bool = False  # True if a baseline was named
    sort: str = NAMES  # the metric by which systems are sorted in tables
    summary: pl.DataFrame = field(default_factory=pl.DataFrame)  # sentences, and their figures
    segments: pl.DataFrame | None = None
    comparison: pl.DataFrame | None = None
    leaderboard: pl.DataFrame | None = None  # of three systems or more, by the first metric, where no baseline is named
    segments_compared: pl.DataFrame | None = None  # by the first metric, with a named baseline
    differences: pl.DataFrame | None = None  # of each query, by the first metric
    values: pl.DataFrame | None = None  # of each query, by the first metric
    quantiles: pl.DataFrame | None = None
    confusion: pl.DataFrame | None = None
    threshold: float | None = None  # the caller's
    weighted: str | None = None  # the column of weights of queries or rows; None without, and with propensity=
    clicks: bool = False  # whether the frame is a click log
    fills: bool = True  # whether undefined values of the first metric count as a number
    arms: bool = False  # whether ``system`` is the column of arms
    adjusted: str | None = None  # the covariate, or the strata, by which means of arms are adjusted
    adjusted_by_strata: bool = False  # whether by strata, not by a covariate
    best_threshold: pl.DataFrame | None = None
    positive: str = "relevant"  # a word for the positive label
    classes: pl.DataFrame | None = None  # the metrics of each of several classes
    agreement: pl.DataFrame | None = None  # of people and a machine that judge the same documents
    curves: dict[str, pl.DataFrame] = field(default_factory=dict)
    queries: list[Ranked] = field(default_factory=list)
    duels: list[tuple[Ranked, Ranked]] = field(default_factory=list)  # queries on which two systems differ most
    undefined: int = 0  # number of rankings without a value of the first metric, which are neither best nor worst
    absent: list[dict[str, str]] = field(default_factory=list)  # parts that could not be computed, and the reasons
    compared_by: str | None = None  # the first metric by which systems are compared; None: the first of all

    @property
    def n_proxy(self) -> int:
        """The number of queries that only a machine judged; 0 where there is none."""
        return max([0, *self.results["n_proxy"].to_list()]) if "n_proxy" in self.results.columns else 0

    @property
    def system_and_segments(self) -> list[str]:
        """The columns of system and segment."""
        return [*([self.system] if self.system else []), *self.by]

    @property
    def keys(self) -> list[str]:
        """The columns that name a ranking."""
        return [*self.system_and_segments, *self.query]

    def in_words(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return a confusion matrix with words for true and false: the caller's word for the positive class, if any."""
        if frame.schema["actual"] != pl.Boolean:
            return frame
        own = self.positive not in ("relevant", "positive")
        words = {True: self.positive, False: f"not {self.positive}"} if own else {True: "True", False: "False"}
        return frame.with_columns(pl.col("predicted", "actual").replace_strict(words, return_dtype=pl.String))

    @property
    def unit(self) -> str:
        """The word for the things that are counted."""
        return "searches" if self.clicks else "queries" if self.query else "rows"

    def undefined_in(self, average: str | None) -> str:
        """Return the word for the things that may be undefined, queries or classes; "" for a pooled value."""
        return "queries" if self.query else "" if average == "pooled" else "classes"

    def over_all(self, results: pl.DataFrame) -> pl.DataFrame:
        """Return the totals over all segments from ``evaluate(margins=True)``; all rows if there are no segments."""
        if not self.by:
            return results
        return results.filter(pl.col("total_over") == ", ".join(self.by)).drop("total_over", *self.by)

    @property
    def first(self) -> str:
        """The metric that queries are ordered by."""
        return self.asked[0][0]

    def of_first(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of the first metric."""
        return frame.filter(pl.col("metric") == self.first)

    @property
    def first_compared(self) -> str:
        """The first metric by which systems are compared: the first of all, unless it could not be compared."""
        return self.compared_by or self.first

    def of_compared(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of the first metric by which systems are compared."""
        return frame.filter(pl.col("metric") == self.first_compared)

    @cached_property
    def places(self) -> dict[Any, int]:
        """The place of each system, by which those to show are chosen if there are too many."""
        return places_of(self.results, self.system, self.first, self.baselines if self.has_baseline else [])

    @property
    def baselines(self) -> list[Any]:
        """The baselines of the comparison."""
        return [] if self.comparison is None else [*dict.fromkeys(self.comparison["baseline"])]

    @property
    def n_systems(self) -> int:
        """The number of systems; 0 where there are none."""
        return 0 if self.system is None else self.results[self.system].n_unique()

    @property
    def n_pairs(self) -> int:
        """The number of pairs of systems."""
        return self.n_systems * (self.n_systems - 1) // 2

    @cached_property
    def foremost_pairs(self) -> list[pl.DataFrame]:
        """The differences of the pairs that are drawn and listed, those of the best systems, the best first."""
        if self.differences is None:
            return []
        keys = [name for name in self.system_and_segments if name in self.differences.columns]
        pairs = self.differences.drop_nulls("difference").partition_by([*keys, "baseline"], maintain_order=True)
        systems = [self.systems_of_rows(pair)[0] for pair in pairs]
        chosen, last = foremost(systems, self.places, PAIRS), len(self.places)
        return [pairs[at] for at in sorted(chosen, key=lambda at: self.places.get(systems[at], last))]

    def systems_of_rows(self, frame: pl.DataFrame) -> list[Any]:
        """Return the system of each row by which rows to show are chosen.

        Of two systems, of which none is a baseline that was named, it is the lower: so the first pairs are those of the
        best.
        """
        if self.system not in frame.columns:
            return [None] * len(frame)
        of_pairs = "baseline" in frame.columns and not self.has_baseline
        return frame["baseline" if of_pairs else str(self.system)].to_list()

    def moved(self) -> list[pl.DataFrame]:
        """Return the queries on which the systems of each of these pairs differ most, the greatest difference first.

        Of the first pair there are more of those that lost.
        """
        pairs = [pair.filter(pl.col("difference") != 0) for pair in self.foremost_pairs]
        pairs = [pair.sort("difference", descending=True, maintain_order=True) for pair in pairs if len(pair)]
        lost = (MOST_LOSERS, MOST_MOVED) if sign_of(self.first_compared) < 0 else (MOST_MOVED, MOST_LOSERS)
        found = []
        for at, pair in enumerate(pairs):
            top, low = lost if at == 0 else (MOST_MOVED, MOST_MOVED)
            found.append(pair if len(pair) <= top + low else pl.concat([pair.head(top), pair.tail(low)]))
        return found

    def worst_changes(self, system: Any, baseline: Any, n: int) -> pl.DataFrame:
        """Return the queries on which a system lost most against a baseline, by the first metric that is compared."""
        frame, sign = self.differences, sign_of(self.first_compared) or 1
        if frame is None:
            return pl.DataFrame()
        pairs = [part for part in self.foremost_pairs if {*self.sides(part)} == {system, baseline}]
        if not pairs:
            return frame.head(0)
        part = pairs[0]
        if self.sides(part) != (system, baseline):
            part = part.with_columns(-pl.col("difference"), value="baseline_value", baseline_value="value")
        loss = pl.col("difference") * sign
        return part.filter(loss < 0).sort(loss, maintain_order=True).head(n)

    def has_losses(self) -> bool:
        """Return True if some query of the first pair lost against a baseline that the caller named."""
        pairs = self.foremost_pairs if self.has_baseline else []
        return bool(pairs) and len(self.worst_changes(*self.sides(pairs[0]), 1)) > 0

    def keys_of(self, frame: pl.DataFrame) -> list[str]:
        """Return the columns of segment and query that a frame has."""
        return [name for name in (*self.by, *self.query) if name in frame.columns]

    def sides(self, part: pl.DataFrame) -> tuple[Any, Any]:
        """Return the system and the baseline of differences of one pair."""
        return (part[self.system][0] if self.system in part.columns else None), part["baseline"][0]

    @property
    def facts(self) -> pl.DataFrame:
        """The rows of the audit that are facts."""
        return self.audit.filter(pl.col("severity") == "fact")

    @property
    def findings(self) -> pl.DataFrame:
        """The other rows of the audit."""
        return self.audit.filter(pl.col("severity") != "fact")


@dataclass
class Calls:
    """Calls of verbs for a report; a call that fails is noted with its reason, and left out."""

    irm: Any
    columns: Columns  # of the irm
    verb: str = "compare"  # the verb of comparisons
    has_metrics: bool = True  # False if the caller named no metrics
    absent: list[dict[str, str]] = field(default_factory=list)
    # What the caller named and could not be made: the metric, or None for the first, and a sentence without its end.
    missing: list[tuple[str | None, str]] = field(default_factory=list)
    nested: dict[Any, Any] = field(default_factory=dict)  # systems that are structs or lists, by their texts
    plan: Any = None  # the plan of the irm

    def metrics_to_pass(self, *names: str) -> Sequence[str]:
        """Return the metrics to give to a verb; () for all that the frame holds, if it holds values."""
        return () if self.columns.value and not self.has_metrics else names

    def as_baseline(self, system: Any) -> list[Any]:
        """Return a system of a result as the value of ``baseline=``: a list, so that null can be a baseline too."""
        return [self.nested.get(system, system)]

    def compare(self, irm: Any, *metrics: str, **options: Any) -> Any:
        """Call the verb of comparisons; of periods in segments ``ab_test``, as ``change`` takes these apart."""
        verb = "ab_test" if self.verb == "change" and irm.roles.get("by") is not None else self.verb
        return getattr(irm, verb)(*metrics, **options)

    @property
    def paired(self) -> bool:
        """True if the values of systems are paired, False for arms."""
        return self.columns.arm is None

    def here(self, frame: Any) -> pl.DataFrame:
        """Return a result as polars; systems that are structs or lists become texts, by which rows can be looked up."""
        result = here(frame)
        for name in {*result.columns} & {self.columns.side, "baseline"}:
            if result.schema[name].is_nested():
                texts = [*map(plain_text, result[name].to_list())]
                self.nested |= zip(texts, result[name].to_list(), strict=True)
                result = result.with_columns(pl.Series(name, texts))
        return result

    def without_notes(self, irm: Any) -> Calls:
        """Return calls of another irm, whose notes are not part of the report."""
        return Calls(irm, self.columns, self.verb, plan=self.plan)

    def tried(
        self, section: str, call: Callable[[], Any], *, sentence: str = "", metric: str | None = None
    ) -> pl.DataFrame | None:
        """Return the result of a call; after an error of this package note the reason and return None.

        Parameters
        ----------
        sentence : how a sentence begins that says so in the summary, if the caller named what is not there.
        metric : the metric of that sentence; None for the first one.
        """
        try:
            return self.here(call())
        except FrameMetricsError as error:
            self.note(section, str(error), sentence=sentence, metric=metric)
            return None

    def note(self, section: str, reason: str, *, sentence: str = "", metric: str | None = None) -> None:
        """Note that a part is not in the report; the parameters are those of ``tried``."""
        self.absent.append({"section": section, "reason": reason})
        if sentence:
            self.missing.append((metric, f"{sentence}: {reason.removeprefix('baseline: ').rstrip('.')}"))

    def whole(self, content: Content) -> Any:
        """Return the irm without segments; with them if some query is in several, as its rankings would be joined."""
        several = content.audit.filter(pl.col("check") == "queries in several segments")["n"].sum()
        if not content.by:
            return self.irm
        if several:
            reason = "some queries are in several segments, each with a ranking of its own"
            self.absent.append({"section": "comparison over all segments", "reason": reason})
            return self.irm
        return self.irm(by=None)

    def all_segments(self, content: Content) -> Any:
        """Return the irm for values over all segments together; arms stay separate."""
        return self.without_notes(self.irm).whole(content)
