"""The next step, as a sentence of a summary: what to judge, how many more queries to ask, or which to look at."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import polars as pl

from frame_metrics.backends.frames import backend_of
from frame_metrics.backends.times import ordered_distinct, times_of
from frame_metrics.errors import FrameMetricsError
from frame_metrics.metrics.saved_names import metric_of
from frame_metrics.report.cells import EQUAL, number_text, plain_text, sign_of
from frame_metrics.report.difference_sentences import Difference
from frame_metrics.report.frame_code import CODE
from frame_metrics.report.sentence_writer import SentenceWriter
from frame_metrics.report.sentences import Plain, Sentence
from frame_metrics.report.time_sentences import LevelBreak, Outage, TimeChange, TrendOrBreak
from frame_metrics.report.words import MACHINE, name_of, names_in_words, roughly, signed_text, when_text
from frame_metrics.roles.list_columns import new_column_name

MOST_NAMED = 3  # the most queries that are named
MOST_TRIED, MOST_VALUES = 20, 20  # the most columns that are tried to explain a change, and their values
TIMES_MORE = 4  # times as many queries make an interval half as wide
MOST_TIMES = 10  # times as many queries are the most that somebody is likely to ask
MIN_QUERIES_TO_TEST = 6  # the fewest queries whose test can show a difference


class NextStepSentences(SentenceWriter):
    """The sentence about what to do next."""

    def next(self, pairs: Sequence[Difference], of_segments: Sequence[Sentence]) -> Iterator[Plain]:
        """Yield the first that applies: what to judge, a change to take apart, more queries, which lost most."""
        breaks = [one for one in of_segments if isinstance(one, LevelBreak | TrendOrBreak | Outage)]
        settled = [one for one in pairs if one.is_significant]
        if judged := [*self._judge(pairs[0] if pairs else None)]:
            yield from judged
        elif breaks and self.content.system is None:
            yield from self._before_and_after(breaks[0])
        elif settled and (settled[0] is pairs[0] or self.content.has_baseline):
            yield from self._lost(settled[0])
        elif self.work.plan.proxy is not None:
            return  # people judge no more queries than the machine did, which sample_size() alone knows
        elif not pairs:
            yield from self._narrower()
        else:  # the first question is which of the best two is better
            yield from self._more(pairs[0])

    def _judge(self, pair: Difference | None) -> Iterator[Plain]:
        """Yield that results should be judged, if those at the top that are not can be as much as the difference."""
        for share in self._unjudged_warnings["share"].head(1):
            low, high = metric_of(self.content.first_compared).range
            limit = 0.0 if pair is None or (low, high) != (0, 1) else abs(pair.gap)
            if (share is None or share > limit) and (pair is None or pair.can_turn is not False):
                which, could = "unjudged documents at the top", self._could(pair, limit)
                some = f"Judge some of the {which}{could}; to_judge() lists those that matter most first"
                beside_machine = f"Let the {MACHINE} also grade the {which}{could}"
                yield self._plain("next", some if self.work.plan.proxy is None else beside_machine)

    def _could(self, pair: Difference | None, difference: float) -> str:
        """Return words for what judgments could do to a difference."""
        if pair is None or difference <= EQUAL:
            return ""
        if not pair.can_turn:
            return f", which may outweigh a difference of {number_text(difference)}"
        ahead = sign_of(pair.metric) * pair.gap > 0
        return f", which could put {name_of(pair.baseline if ahead else pair.system)} ahead"

    def _more(self, pair: Difference) -> Iterator[Plain]:
        """Yield how many more queries would show a difference like the one that shows now, or that they will not."""
        unit, sides = self.content.unit, f"{name_of(pair.system)} and {name_of(pair.baseline)}"
        if pair.p_adjusted is not None and pair.wins == pair.losses == 0:
            of = (
                f"More {unit} are unlikely to tell {sides} apart by {pair.metric}; choose by another metric, or by cost"
            )
            yield self._plain("next", of)
        elif pair.mde and pair.correction in (None, "max_t"):
            seen = abs(pair.gap)
            times = (pair.mde / seen) ** 2 if seen > EQUAL else math.inf
            text = self._seen(pair, times) if times <= MOST_TIMES else self._smaller(pair, times)
            yield self._plain("next", text, n=pair.n)
        elif pair.few_units_text is not None and pair.difference and self._counts_queries:
            needed = self._needed(pair, abs(pair.difference))
            if needed is not None and pair.n:
                yield self._plain("next", self._seen(pair, needed / pair.n), n=pair.n)

    def _seen(self, pair: Difference, times: float) -> str:
        """Return how many queries would show a difference as large as the one that shows now."""
        times = max(
            times,
            MIN_QUERIES_TO_TEST / min(pair.n or MIN_QUERIES_TO_TEST, pair.baseline_n or pair.n or MIN_QUERIES_TO_TEST),
        )
        large = f"If {self._between(pair)} is as large as it looks ({number_text(abs(pair.gap))})"
        return f"{large}, about {self._many(pair, times)} are likely to show it"

    def _smaller(self, pair: Difference, times: float) -> str:
        """Return up to which difference more queries are worth it, and how many the one that shows now would need."""
        end, seen = max(abs(pair.ci_low or 0.0), abs(pair.ci_high or 0.0)), abs(pair.gap)
        worth = f"More {self.content.unit} are worth it only if {self._between(pair, 'a')} of up to"
        only = f"{worth} {number_text(end)} matters"
        half = number_text((pair.mde or 0.0) / 2)
        some = f"{self._many(pair, TIMES_MORE)} are likely to show one above about {half}"
        if math.isinf(times):
            return f"{only}: {some}"
        return (
            f"{only}: {some}, and one as small as it looks ({number_text(seen)}) takes about "
            f"{' and '.join(self._numbers(pair, times))}"
        )

    def _before_and_after(self, found: TimeChange) -> Iterator[Plain]:
        """Yield what to compare after a break, or an outage, and that as code."""
        by = [name for name in self.content.by if name != self._times[0]] or self._explaining()
        sides = f"the time before {found.when.split(' to ')[0]} with that from then on"
        sides = f"{found.when} with the rest" if isinstance(found, Outage) else sides
        whose = f"by {names_in_words(by)}" if by else "by a column that may explain it"
        yield self._plain("next", f"Compare {sides}, {whose}, to see what changed")
        yield self._plain("code", self._code_of_change(found, by))

    def _code_of_change(self, found: TimeChange, by: Sequence[str]) -> str:
        """Return the code that compares both sides of a break or an outage, or words for it; ``by``: the segments."""
        time, words = self._times[0], CODE.get(self.content.basis.kind)
        values = pl.Series(time, [row[time] for row in self.segments_of_best], strict=False)
        has_nulls = values.null_count() > 0
        texts = [*map(when_text, ordered_distinct(values.drop_nulls()) or [])]
        if texts != sorted(texts) or words is None:  # as 11.01.2026 and W9, which are in another order as texts
            of = "That is change() with arm= a column that is true then, and false before or at all other times"
            return of + f"; leave out the {self.content.unit} without a {plain_text(time)}" * has_nulls
        # The column of arms: before and after a break, or an outage and the rest.
        arm, (first, *later) = words.as_text.format(repr(time)), found.when.split(" to ")
        if isinstance(found, Outage):
            arm += words.between.format(len(first), first, later[0] if later else first)
            names = ("rest", "outage" if found.difference < 0 else "peak")
        else:
            arm, names = f"({arm} >= {first!r})", ("before", "after")
        column = new_column_name("period", backend_of(self.work.irm.frame).names())
        arm += words.named.format(*map(repr, (*names, column)))
        # Rows without a time are in no period: they have no name of one, and no row of the result.
        arm = words.column + arm + words.where_known.format(repr(time)) * has_nulls
        # The call of change().
        log, named = "irm", by[0] if len(by) == 1 else [*by] or None
        if self.content.queries_recur:  # then the queries are those of each time
            log, query = f"irm.per_query({self.content.first!r}).irm", [*self.content.query]
            own = {"query": [*query, time], "value": "value", "cluster": query[0]}
            arm += "".join(f", {role}={value!r}" for role, value in own.items())
            named = named if {*by} <= {*self.content.by} else None
        code = f"{log}(arm={arm}, by={named!r}).change({self.content.first!r}, baseline={names[0]!r})"
        return f"In code: {code}{words.without_nulls.format(repr(column)) * has_nulls}"

    def _explaining(self) -> list[str]:
        """Return the first column of the frame that has no role and may explain a change: a few words, one a query."""
        backend, query = backend_of(self.work.irm.frame), [*self.content.query]
        played = {name for row in self.content.basis.roles for name in row["column"].split(", ")}
        names = [name for name in backend.names() if isinstance(name, str) and name not in played]
        for name in names[:MOST_TRIED] if backend.n_rows_in_memory is not None else []:
            try:
                table = backend.read([*(one for one in query if one in backend.names()), name])
            except FrameMetricsError:  # values of another kind
                continue
            values = table[name].drop_nulls().unique()
            is_word = values.dtype in (pl.String, pl.Categorical, pl.Enum, pl.Boolean)
            if not is_word or not 2 <= len(values) <= MOST_VALUES or times_of(values.to_list(), name) is not None:
                continue
            if len(table.columns) == 1 or table.n_unique() == table.drop(name).n_unique():
                return [name]
        return []

    def _narrower(self) -> Iterator[Plain]:
        """Yield how many more queries would make the interval of the only system half as wide."""
        low, high, n = self.best_row.get("ci_low"), self.best_row.get("ci_high"), self.best_row["n"]
        if low is None or high is None or high - low <= 0 or self.content.asked[0][1].summed:  # sums grow with rows
            return
        half = number_text((high - low) / 4)
        more = f"{TIMES_MORE} times as many {self.content.unit} ({TIMES_MORE * n:,})"
        of = f"With {more} the interval of {self.content.first} is about ±{half}"
        yield self._plain("next", of, n=n)

    def _many(self, pair: Difference, times: float) -> str:
        """Return so many times the queries of a pair in words; of arms those of each."""
        numbers = self._numbers(pair, times)
        of_arms = f" in each {plain_text(self.content.system)}" if len(numbers) == 1 and pair.baseline_n else ""
        return f"{' and '.join(numbers)} {self.content.unit}{of_arms}"

    def _numbers(self, pair: Difference, times: float) -> list[str]:
        """Return so many times the numbers of queries, rounded, of arms once if they are alike."""
        return [*dict.fromkeys(roughly(n * times) for n in (pair.n, pair.baseline_n) if n is not None)]

    @property
    def _counts_queries(self) -> bool:
        """True if ``sample_size`` counts the queries of all systems, and no units of arms and no clusters."""
        return not self.content.arms and self.work.columns.cluster is None

    def _lost(self, pair: Difference) -> Iterator[Plain]:
        """Yield the queries that lost most against the baseline, or another system."""
        rows = self.content.pairs.worst_changes(pair.system, pair.baseline, MOST_NAMED).to_dicts()
        some = ", ".join(f"{self._query(row)} ({signed_text(row['difference'])})" for row in rows)
        against = f" against {name_of(pair.baseline)}" if self.content.n_systems > 2 else ""
        if rows:
            of = f"Look at the {self.content.unit} that {self.content.pairs.lost_most}{against}: {some}"
            yield self._plain("next", of, n=len(rows))

    def _query(self, row: dict[str, object]) -> str:
        return ", ".join(plain_text(row[name], 60) for name in self.content.query)
