"""The content of a report: what was asked, and the answers of verbs, by the part of the page that shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from functools import cached_property
from typing import Any

import polars as pl

from frame_metrics.inputs.records import record
from frame_metrics.metrics.metric import Metric
from frame_metrics.report.cells import ALPHA, BETTER, sign_of
from frame_metrics.report.chosen_rows import foremost, places_of
from frame_metrics.report.pairs import PAIRS, Pairs

SYSTEMS = 2  # the most systems whose queries are shown
NAMES = "name"  # the order of systems as verbs return them


def n_measured(row: Mapping[str, Any]) -> int:
    """Return the number of queries or rows of a row of results, with those that only a machine judged."""
    return (row["n"] or 0) + (row.get("n_proxy") or 0)


@record
class Question:
    """The question of a report: the metrics, the columns that name what is measured, and the caller's choices."""

    asked: Sequence[tuple[str, Metric]]
    ci: float | None
    system: str | None  # the column of systems; then the columns of segments and of queries
    by: tuple[str, ...]
    query: tuple[str, ...]
    arms: bool  # whether ``system`` is the column of arms
    clicks: bool  # whether the frame is a click log
    weighted: str | None  # the column of weights of queries or rows; None without, and with propensity=
    has_baseline: bool  # True if a baseline was named
    sort: str  # the metric by which systems are sorted in tables

    @property
    def first(self) -> str:
        """The metric that queries are ordered by."""
        return self.asked[0][0]

    @property
    def directions(self) -> list[dict[str, str | None]]:
        """A row for each metric, which says whether higher or lower values are better."""
        return [{"metric": name, "better": BETTER[metric.higher]} for name, metric in self.asked]

    def of_first(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of the first metric."""
        return frame.filter(pl.col("metric") == self.first)

    @property
    def unit(self) -> str:
        """The word for the things that are counted."""
        return "searches" if self.clicks else "queries" if self.query else "rows"

    @property
    def systems(self) -> str:
        """The word for systems."""
        return "arms" if self.arms else "systems"

    def undefined_in(self, average: str | None) -> str:
        """Return the word for the things that may be undefined, queries or classes; "" for a pooled value."""
        return "queries" if self.query else "" if average == "pooled" else "classes"

    @property
    def system_column(self) -> list[str]:
        """The column of systems; none without systems."""
        return [self.system] if self.system else []

    @property
    def system_and_segments(self) -> list[str]:
        """The columns of system and segment."""
        return [*self.system_column, *self.by]

    @property
    def keys(self) -> list[str]:
        """The columns that name a ranking."""
        return [*self.system_and_segments, *self.query]

    def keys_of(self, frame: pl.DataFrame) -> list[str]:
        """Return the columns of segment and query that a frame has."""
        return [name for name in (*self.by, *self.query) if name in frame.columns]

    def over_all(self, results: pl.DataFrame) -> pl.DataFrame:
        """Return the totals over all segments from ``evaluate(margins=True)``; all rows if there are no segments."""
        if not self.by:
            return results
        return results.filter(pl.col("total_over") == ", ".join(self.by)).drop("total_over", *self.by)

    def systems_of_rows(self, frame: pl.DataFrame) -> list[Any]:
        """Return the system of each row by which rows to show are chosen.

        Of two systems, of which none is a baseline that was named, it is the lower: so the first pairs are those of the
        best.
        """
        if self.system not in frame.columns:
            return [None] * len(frame)
        of_pairs = "baseline" in frame.columns and not self.has_baseline
        return frame["baseline" if of_pairs else str(self.system)].to_list()


@record
class Basis:
    """The basis of the figures, which stands under the title and among the conventions."""

    created: datetime
    kind: str  # the kind of the caller's frame, in words
    roles: list[dict[str, str]]
    conventions: list[dict[str, str]]
    versions: Mapping[str, str]


@record
class Compared:
    """The comparisons of systems, or of arms; what could not be compared is None."""

    differences: pl.DataFrame | None = None
    all_pairs: pl.DataFrame | None = None  # of systems with values of different queries, beside a named baseline
    leaderboard: pl.DataFrame | None = None  # of three systems or more, by the first metric, where no baseline is named
    in_segments: pl.DataFrame | None = None  # differences by the first metric, with a named baseline
    in_classes: pl.DataFrame | None = None  # differences of each class from one baseline, by the same metric or recall
    by_query: pl.DataFrame | None = None  # differences of each query, by the first metric
    metric: str | None = None  # the first metric by which systems are compared; None: the first of all
    adjusted: str | None = None  # the covariate, or the strata, by which means of arms are adjusted
    adjusted_by_strata: bool = False  # whether by strata, not by a covariate

    @property
    def baselines(self) -> list[Any]:
        """The baselines of the differences."""
        return [] if self.differences is None else [*dict.fromkeys(self.differences["baseline"])]


@record
class Ranked:
    """A query that a report shows, and its results."""

    system: Any  # None if the frame has no systems
    kind: str  # "worst", "best" or "moved"
    keys: dict[str, Any]  # the values of the columns of segment and query
    value: float
    results: pl.DataFrame | None = None  # the rows of explain() that are shown
    more: int = 0  # number of rows that are not shown
    explained: str = ""  # the metric that explain() took apart


@record
class SingleQueries:
    """The values of single queries, by the first metric."""

    values: pl.DataFrame | None = None
    quantiles: pl.DataFrame | None = None
    extremes: Sequence[Ranked] = ()  # the best and the worst
    duels: Sequence[tuple[Ranked, Ranked]] = ()  # queries on which two systems differ most
    undefined: int = 0  # number of rankings without a value, which are neither best nor worst


@record
class Decisions:
    """The decisions about rows without a query."""

    threshold: float | None = None  # the caller's
    positive: str = "relevant"  # a word for the positive label
    confusion: pl.DataFrame | None = None
    best_threshold: pl.DataFrame | None = None
    classes: pl.DataFrame | None = None  # the metrics of each of several classes

    @property
    def chosen(self) -> float | pl.DataFrame | None:
        """The threshold that was chosen: the caller's, else the best."""
        return self.best_threshold if self.threshold is None else self.threshold

    def in_words(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return a confusion matrix with words for true and false: the caller's word for the positive class, if any."""
        if frame.schema["actual"] != pl.Boolean:
            return frame
        own = self.positive not in ("relevant", "positive")
        words = {True: self.positive, False: f"not {self.positive}"} if own else {True: "True", False: "False"}
        return frame.with_columns(pl.col("predicted", "actual").replace_strict(words, return_dtype=pl.String))


@record
class Content(Question):
    """The question and all answers to it that a report shows. Frames are those of the verbs, as polars."""

    title: str
    basis: Basis
    results: pl.DataFrame
    audit: pl.DataFrame
    segments: pl.DataFrame | None = None
    totals: pl.DataFrame | None = None  # of several columns of segments: over all but one of these
    # The values of the first metric in segments in which changes are looked for: see ``is_measured``; None: in all.
    measured: pl.Series | None = None
    compared: Compared = field(default_factory=Compared)
    queries: SingleQueries = field(default_factory=SingleQueries)
    decisions: Decisions = field(default_factory=Decisions)
    curves: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    # Of metrics that are shares of some rows, the number of these by system and segment: see ``rows_of_shares``.
    share_rows: Mapping[str, Mapping[tuple[str, ...], int]] = field(default_factory=dict)
    agreement: pl.DataFrame | None = None  # of people and a machine that judge the same documents
    summary: pl.DataFrame = field(default_factory=pl.DataFrame)  # sentences, and their figures
    absent_sections: Sequence[Mapping[str, str]] = ()  # those that could not be computed, and the reasons

    @property
    def of_segments(self) -> pl.DataFrame:
        """The values of the first metric in segments; the column "measured" says in which changes are looked for."""
        frame = self.results.clear() if self.segments is None else self.of_first(self.segments)
        return frame.with_columns(measured=pl.lit(True) if self.measured is None else self.measured)

    @property
    def n_proxy(self) -> int:
        """The number of queries that only a machine judged; 0 where there is none."""
        return max([0, *self.results["n_proxy"].to_list()]) if "n_proxy" in self.results.columns else 0

    @property
    def n_systems(self) -> int:
        """The number of systems; 0 where there are none."""
        return 0 if self.system is None else self.results[self.system].n_unique()

    @property
    def n_pairs(self) -> int:
        """The number of pairs of systems."""
        return self.n_systems * (self.n_systems - 1) // 2

    @cached_property
    def places(self) -> dict[Any, int]:
        """The place of each system, by which those to show are chosen if there are too many."""
        baselines = self.compared.baselines if self.has_baseline else []
        return places_of(self.results, self.system, self.first, baselines, self.beaten_by)

    @property
    def best(self) -> Any:
        """The best system by the first metric; None if there are no systems."""
        return next(iter(self.places), None)

    def foremost_rows(self, frame: pl.DataFrame, most: int) -> pl.DataFrame:
        """Return at most so many rows of a frame, those of the best systems, in the order of the frame."""
        return frame[list(foremost(self.systems_of_rows(frame), self.places, most))]

    @cached_property
    def n_of_systems(self) -> dict[Any, int]:
        """The number of queries or rows that each system has a value of, by the first metric that is compared."""
        rows = self.of_compared(self.results).to_dicts()
        return {row[self.system] if self.system else None: n_measured(row) for row in rows}

    @property
    def differences_over_all(self) -> pl.DataFrame | None:
        """The differences of systems over all segments; None if there are none, or if they are in segments."""
        frame = self.compared.differences
        return None if frame is None or {*self.by} & {*frame.columns} else frame

    def are_unlike(self, row: Mapping[str, Any]) -> bool:
        """Return True if the two systems of a difference have values of different queries."""
        sides = () if self.arms else (row.get(str(self.system)), row["baseline"])
        return any(self.n_of_systems.get(one, 0) > n_measured(row) for one in sides)

    @cached_property
    def beaten_by(self) -> dict[Any, list[Any]]:
        """The systems that surely beat a system on the queries of both, of those with values of different queries."""
        frame = self.compared.differences if self.compared.all_pairs is None else self.compared.all_pairs
        if frame is None or self.first_compared != self.first or self.system not in frame.columns:
            return {}
        sure = self.of_compared(frame).filter(pl.col("p_adjusted") < ALPHA, pl.col("difference") != 0)
        found = dict[Any, list[Any]]()
        for row in filter(self.are_unlike, sure.to_dicts() if not {*self.by} & {*frame.columns} else ()):
            sides = row[str(self.system)], row["baseline"]
            better, worse = sides if row["difference"] * (sign_of(self.first) or 1) > 0 else sides[::-1]
            found.setdefault(worse, []).append(better)
        return found

    @property
    def first_compared(self) -> str:
        """The first metric by which systems are compared: the first of all, unless it could not be compared."""
        return self.compared.metric or self.first

    def of_compared(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of the first metric by which systems are compared."""
        return frame.filter(pl.col("metric") == self.first_compared)

    @cached_property
    def pairs(self) -> Pairs:
        """The pairs of systems whose queries are drawn and listed, those of the best systems, the best first."""
        pairs = [] if self.compared.by_query is None else self._each_pair(self.compared.by_query)
        systems, last = [self.systems_of_rows(pair)[0] for pair in pairs], len(self.places)
        chosen = foremost(systems, self.places, PAIRS)
        each = [pairs[at] for at in sorted(chosen, key=lambda at: self.places.get(systems[at], last))]
        return Pairs(each, self.first_compared, self.system, self.has_baseline)

    def _each_pair(self, frame: pl.DataFrame) -> list[pl.DataFrame]:
        """Return the differences of each query, a frame for each pair of systems."""
        keys = [name for name in self.system_and_segments if name in frame.columns]
        return frame.drop_nulls("difference").partition_by([*keys, "baseline"], maintain_order=True)

    @property
    def queries_recur(self) -> bool:
        """True if the audit found queries in several segments, which are then not independent."""
        return bool(self.audit.filter(check="queries in several segments")["n"].sum())

    @property
    def facts(self) -> pl.DataFrame:
        """The rows of the audit that are facts."""
        return self.audit.filter(pl.col("severity") == "fact")

    @property
    def findings(self) -> pl.DataFrame:
        """The other rows of the audit."""
        return self.audit.filter(pl.col("severity") != "fact")
