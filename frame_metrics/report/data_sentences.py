"""Sentences of a summary about the data that figures rest on: what is missing, left out, or weighted."""

from __future__ import annotations

from typing import Any

from frame_metrics.report.cells import counted, number_text
from frame_metrics.report.sentences import DOUBT, Sentence, column, declared
from frame_metrics.report.words import name_of, of_system, share_text
from frame_metrics.verbs.audit.of_weights import MIN_RESULTS

LEAST_SHARE = 0.0005  # shares below it are written as 0.0 %


@declared(kind="unanswered", place=DOUBT)
class UnansweredQueries(Sentence):
    """The queries that a system has no row for."""

    unit: str  # the word for queries
    n_unanswered: int = column("n")  # queries without a row
    n_queries: int = column("baseline_n")  # all queries
    count_as: str | None = column("of")  # what they do, as "count as 0", or nothing if they are left out
    value_of_others: float | None = column("value")  # the value over the queries that the system has
    n_others: int = column("n_units")  # the number of these
    word_for_unasked: str | None  # "them" or "the others", see ``AuditSentences``; or None

    def words(self) -> str:
        lacks = f"{name_of(self.system)} has no rows for {self.n_unanswered:,} of {counted(self.n_queries, self.unit)}"
        if self.count_as is None:
            return f"{lacks}, which are left out."
        has = self.value_of_others is not None
        others = f"Over the {self.n_others:,} that it has, {self.metric} is {number_text(self.value_of_others)}. "
        way = f"If it was not asked {self.word_for_unasked}: unanswered='drop'." if self.word_for_unasked else ""
        return f"{lacks}; they {self.count_as}. {others if has else ''}{way}".strip()


@declared(kind="left out")
class UnpairedQueries(Sentence):
    """The queries or rows of a system that a comparison leaves out, as the other system has no value of them."""

    baseline: Any  # the other system
    unit: str
    n_alone: int = column("n")  # queries or rows that are left out
    n_of_system: int = column("baseline_n")  # all of the system
    value: float | None  # the value over these
    warned: bool  # whether they are so many that means are no order

    @property
    def share(self) -> float:
        return self.n_alone / self.n_of_system

    @property
    def place(self) -> int | None:
        return DOUBT if self.warned else None

    def words(self) -> str:
        own, does = name_of(self.system), "has" if self.n_alone == 1 else "have"
        what = "row" if self.unit == "rows" else self.metric
        some = f"{self.n_alone:,} of {counted(self.n_of_system, self.unit)} of {own}"
        over = f"; over all {self.n_of_system:,} {self.metric} of {own} is {number_text(self.value)}"
        over = "" if self.value is None else over
        return f"{some} {does} no {what} of {name_of(self.baseline)}, and the comparison leaves them out{over}."


@declared(kind="unjudged")
class UnjudgedResults(Sentence):
    """The share of results at the top of rankings that nobody judged, of a system and perhaps of another one."""

    cutoff: int = column("n")  # the last rank that is looked at
    share: float | None  # the share of results up to there that nobody judged
    baseline: Any = None  # the other system
    baseline_share: float | None = column("baseline_value", default=None)  # its share
    n_with_results: int | None = column("n_units", default=None)  # queries with results, where some have none
    baseline_n_with_results: int | None = column("baseline_n_units", default=None)  # those of the other system
    warned: bool  # whether the audit warns of it

    @property
    def place(self) -> int | None:
        return DOUBT if self.warned else None

    def words(self) -> str:
        if max(self.share or 0, self.baseline_share or 0) < LEAST_SHARE:  # a mean of weights may be 1e-16
            return ""
        of, other = of_system(self.system), ""
        if self.baseline_share is not None:
            other = f", and {self.baseline_share:.1%} of {name_of(self.baseline)}'s"
        sizes = [f"{n:,}" for n in (self.n_with_results, self.baseline_n_with_results) if n is not None]
        over = f"the {' and '.join(sizes)} queries with results" if sizes else "queries"
        some = f"{self.share:.1%} of the top {self.cutoff}{of} are unjudged{other}, on average over {over}."
        return some.replace("%", " %")


@declared(kind="undefined")
class UndefinedValues(Sentence):
    """The queries or classes in which the metric is undefined, or the value itself."""

    unit: str  # the word for queries or classes; "" for the value itself
    n_undefined: int = column("n")  # queries, rows or classes in which the metric is undefined
    n_queries: int | None = column("baseline_n")  # all queries or rows, or nothing for classes
    become: str | None = column("of")  # what happens to them, as "are left out"
    lack: str | None  # what they have not, "relevant row" or "click"; None where it is not known
    also: str  # words for those of other systems

    def words(self) -> str:
        of, what = of_system(self.system), "" if self.become is None else f", which {self.become}"
        if not self.unit:
            return f"{self.metric}{of} is undefined{what}."
        of_all = f"{self.n_undefined:,} of {self.n_queries or 0:,} {self.unit}"
        some = of_all if self.n_queries else counted(self.n_undefined, self.unit)
        if self.lack:  # they are no fault of the data
            does = "has" if self.n_undefined == 1 else "have"
            become = "" if self.become is None else f" and {self.become}"
            return f"{some} {does} no {self.lack}{become}{of and f', for{of[3:]}'}{self.also}."
        return f"{self.metric}{of} is undefined in {some}{what}{self.also}."


@declared(kind="weighted")
class PropensityWeights(Sentence):
    """The effective number of results or lists that are weighted by propensity."""

    n_effective: float = column("value")  # as many of equal weight are as informative
    weighted: str = column("of")  # what is weighted, lists or results

    def words(self) -> str:
        few = f"; fewer than {MIN_RESULTS} are too few for an interval" if self.n_effective < MIN_RESULTS else ""
        return (
            f"Values are weighted by propensity: the {self.weighted} behind {self.metric}{of_system(self.system)} are "
            f"as informative as {number_text(self.n_effective, 1)} of equal weight{few}."
        )


@declared(kind="weights")
class ColumnWeights(Sentence):
    """The effective number of queries or rows whose weights are not alike."""

    n_effective: float = column("value")  # as many of equal weight are as informative
    weight: str = column("of")  # the column of weights
    unit: str
    n: int
    share_rows: tuple[int | None, ...] = ()

    def words(self) -> str:
        behind = f"the {share_text(self.share_rows)}{counted(self.n, self.unit)} behind {self.metric}"
        return (
            f"{self.unit.capitalize()} are weighted by {self.weight}: {behind}{of_system(self.system)} are as "
            f"informative as {number_text(self.n_effective, 1)} of equal weight."
        )
