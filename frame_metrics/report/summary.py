"""Summary of a report: one sentence for each decision that its tables support."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from frame_metrics.report.cells import ALPHA, EQUAL, number_text, plain_text
from frame_metrics.report.content import n_measured
from frame_metrics.report.data_sentences import (
    ColumnWeights,
    PropensityWeights,
    UnansweredQueries,
    UndefinedValues,
    UnjudgedResults,
)
from frame_metrics.report.difference_sentences import Difference, NotWorse
from frame_metrics.report.of_audit import NOTHING_RELEVANT, AuditSentences
from frame_metrics.report.of_best import BestSystemSentences, with_next_best
from frame_metrics.report.of_calibration import CalibrationSentences
from frame_metrics.report.of_classes import ClassSentences, with_class
from frame_metrics.report.of_mix import MixSentences
from frame_metrics.report.of_next import NextStepSentences
from frame_metrics.report.of_pairs import PairSentences
from frame_metrics.report.of_proxy import ProxySentences
from frame_metrics.report.of_segments import SegmentSentences
from frame_metrics.report.of_strata import StrataSentences
from frame_metrics.report.of_turning import TurningPairs
from frame_metrics.report.of_unpaired import UnpairedSentences
from frame_metrics.report.sentence_writer import SentenceWriter
from frame_metrics.report.sentences import ANSWER, DOUBT, FIGURES, WHEN, ErrorRates, Plain, Sentence
from frame_metrics.report.value_sentences import BestSystems, HighestSystem, ValueOverAll
from frame_metrics.report.words import LONGEST_NAME, first_of, name_of, names_in_words
from frame_metrics.verbs.audit.of_systems import SOME_QUERIES

if TYPE_CHECKING:
    from frame_metrics.report.calls import Calls
    from frame_metrics.report.content import Content

REPEATED = "queries of repeated terms"  # a check of the audit
NEARLY_EQUAL = 0.995  # weights are alike if they are worth more than this share of as many equal ones
RESULTS_LOOKED_AT = 10  # results of a ranking that are looked at, if the first metric has no cutoff
MOST_LACKING = 3  # the most systems that are named because they lack rows of queries
OF_MARGIN = ("margin", "p_not_worse")  # figures of differences that are compared with a margin


def summary_of(content: Content, work: Calls, compare_options: Mapping[str, Any]) -> pl.DataFrame:
    """Return a frame with a row for each sentence: its text, and the figures in it."""
    writer = SummarySentences(content, work, compare_options)
    sentences = [writer.with_condition(one) for one in writer.all() if one.sentence]
    sentences += writer.tests(sentences)
    system = content.system
    dtype = content.results.schema[system] if system else pl.String()
    other = dtype if content.compared.differences is None else content.compared.differences.schema["baseline"]
    left = {*([] if system else ["system"]), *([] if "margin" in compare_options else OF_MARGIN)}
    types = {"kind": pl.String(), "place": pl.Int64(), "sentence": pl.String(), **FIGURES}
    types |= {"system": dtype, "baseline": other}
    more = AuditSentences(content, work, compare_options).more()
    rows = [
        {"kind": one.kind, "place": place, "sentence": one.sentence, **one.figures}
        for place, one in placed(sentences, more)
    ]
    columns = {
        name: pl.Series([row[name] for row in rows], dtype=kind) for name, kind in types.items() if name not in left
    }
    return pl.DataFrame(columns)


def placed(sentences: Sequence[Sentence], more: str) -> list[tuple[int | None, Sentence]]:
    """Return sentences in the order of their places, each place with the first that may take it; others are notes.

    ``more``: what else may make the answer wrong, for the end of the first sentence that says so.
    """
    taken: dict[int, Sentence] = {}
    for one in _the_answer_first(sentences):
        if one.place is not None:
            taken.setdefault(one.place, one)
    first = {id(one) for one in taken.values()}
    notes: list[tuple[int | None, Sentence]] = [(None, one) for one in sentences if id(one) not in first]
    if ANSWER in taken and isinstance(taken[ANSWER], ValueOverAll) and WHEN in taken:
        # A value over all that changed is neither the one before nor the one now: the change is the answer.
        taken[ANSWER], taken[WHEN] = taken[WHEN], taken[ANSWER]
    if more and DOUBT in taken:
        taken[DOUBT] = replace(taken[DOUBT], more=more)
    return [*sorted(taken.items()), *notes]


def _the_answer_first(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Put significant differences first, unless several systems may be the best, or it is not known what is better."""
    pairs = [one for one in sentences if isinstance(one, Difference) and one.place == ANSWER]
    significant = [one for one in pairs if one.is_significant]
    boards = [one for one in sentences if isinstance(one, BestSystems | HighestSystem)]
    one_may_be_best = all(isinstance(one, BestSystems) and one.n_best == 1 for one in boards)
    return [*(significant if one_may_be_best else []), *sentences]


class SummarySentences(SentenceWriter):
    """Sentences of a summary, found in the content of a report."""

    def all(self) -> Iterator[Sentence]:
        """Yield all possible sentences; those whose figures are not enough are empty."""
        about = self.content, self.work, self.compare_options
        audit, best = AuditSentences(*about), BestSystemSentences(*about)
        if self.content.results.is_empty():  # a frame without rows has no system
            yield from self._absent()
            yield from [*audit.errors(), *audit.warnings()]
            return
        pairs, winner = TurningPairs(*about).looked_at([*PairSentences(*about).all()]), [*best.winner()]
        pairs = with_next_best(pairs, winner)
        # First what may make the answer wrong, then the answer.
        yield from self._doubts(audit, [*pairs, *winner])
        turn = any(one.can_turn for one in pairs)
        yield from [*(replace(one, can_turn=turn) for one in best.best_of(pairs)), *best.highest()]
        yield from pairs
        yield from [*best.more_that_differ(pairs), *winner]
        yield from self._losses(pairs)
        yield from MixSentences(*about).all(pairs)
        yield from StrataSentences(*about).reversed(pairs)
        if not pairs or self.content.first_compared != self.content.first:
            yield self._of_row(ValueOverAll, self.best_row, of_segments=bool(self.content.by), others=self._others)
        yield from self._other_metrics()
        # What the figures rest on.
        yield from self._weighted()
        yield from self._absent()
        sides = (pairs[0].system, pairs[0].baseline) if pairs else ()
        yield from self._unjudged(next((one for one in sides if one != self.content.best), None))
        yield from self._undefined()
        yield from audit.lacking()
        yield from audit.worse_than_chance()
        yield from audit.cut()
        yield from audit.rare_classes()
        yield from audit.warnings()
        # Where, and what to do next.
        of_segments, of_classes = [*SegmentSentences(*about).all(pairs)], [*ClassSentences(*about).all(pairs)]
        yield from [*with_class(of_segments, of_classes), *of_classes]
        yield from CalibrationSentences(*about).all()
        yield from [*ProxySentences(*about).favours(), *ProxySentences(*about).agreed()]
        labels = [*ProxySentences(*about).labels(pairs)]
        yield from labels or NextStepSentences(*about).next(pairs, of_segments)

    def _other_metrics(self) -> Iterator[Plain]:
        """Yield the values of the best or only system by named metrics that sentences are not about."""
        rows = self.content.results.to_dicts() if self.work.has_metrics else []
        rows = [row for row in rows if self._system(row) == self.content.best]
        values = {row["metric"]: row["value"] for row in rows if row["metric"] != self.content.first}
        if known := [f"{name} is {number_text(value)}" for name, value in values.items() if value is not None]:
            of = "" if self.content.best is None else f"Of {name_of(self.content.best)} "
            yield self._plain("others", f"{of}{names_in_words(known)}; sentences are about {self.content.first}")

    @property
    def _others(self) -> str:
        """Words for the values of the other systems, each with its number of rows or queries if that is another."""
        content, best = self.content, self.best_row
        rows = [row for row in content.of_first(content.results).to_dicts() if self._system(row) != self.content.best]
        rows.sort(key=lambda row: content.places[self._system(row)])
        texts = [f"that of {name_of(self._system(row))} is {number_text(row['value'])}" for row in rows]
        over = [f" (over {n:,})" if (n := n_measured(row)) != n_measured(best) else "" for row in rows]
        named = [f"{text}{n}" for text, n in zip(texts, over, strict=True)]
        return f"; {first_of(named)}" if named else ""

    def _doubts(self, audit: AuditSentences, pairs: Sequence[Difference]) -> Iterator[Sentence]:
        """Yield what a reader has to know before any figure: the split of arms, errors, and what is missing."""
        if self.content.arms:
            each = f"Each {plain_text(self.content.system, LONGEST_NAME)} has {self.content.unit} of its own"
            yield self._plain("arms", str(self.content.system), text=f"{each}, and is measured over these")
        yield from audit.split()
        yield from audit.errors()
        yield from audit.causes()
        yield from audit.other_classes()
        if not audit.segments_in_two_ways:
            yield from self._unanswered(audit.word_for_unasked)
        yield from UnpairedSentences(self.content, self.work, self.compare_options).all(pairs)

    def _weighted(self) -> Iterator[PropensityWeights | ColumnWeights]:
        """Yield how many values of equal weight are as informative as those of the best system."""
        effective = self.best_row.get("n_effective")
        if effective is not None and self.work.irm.roles.get("propensity") is not None:
            name, metric = self.content.asked[0]
            what = "lists" if metric.off_policy else "relevant results"
            yield PropensityWeights(metric=name, system=self.content.best, n_effective=effective, weighted=what)
        if self._weighs():
            yield self._of_row(ColumnWeights, self.best_row, n_effective=effective, weight=self.content.weighted)

    def tests(self, sentences: Sequence[Sentence]) -> Iterator[ErrorRates]:
        """Yield how often sentences that rest on tests are wrong, one and any of them, if there are several."""
        n = sum(one.claims and not one.provided for one in sentences)
        level = max(ALPHA, round(1 - self.compare_options["ci"], 12))
        if n > 1:  # whatever the tests have to do with each other (Bonferroni)
            yield ErrorRates(metric=None, n=n, each=level, some=min(n * level, 1.0))

    def with_condition(self, one: Sentence) -> Sentence:
        """Return a sentence; one that rests on a test says so where queries of one term count as independent."""
        if not one.claims or self.content.audit.filter(check=REPEATED).is_empty():
            return one
        return replace(one, provided=f"If {self.content.unit} of one term were independent", more="")

    def _weighs(self) -> bool:
        """Return True if queries, or rows, have weights that are not alike."""
        effective = self.best_row.get("n_effective")
        return (
            self.content.weighted is not None
            and effective is not None
            and effective < self.best_row["n"] * NEARLY_EQUAL
        )

    def _undefined(self) -> Iterator[UndefinedValues]:
        """Yield where the first metric is undefined, and what becomes of it."""
        results = self.content.of_first(self.content.results)
        rows = sorted(results.to_dicts(), key=lambda row: self._system(row) != self.content.best)
        # A pooled value that nothing fills may be there, as a debiased error, whose bins of one row are counted.
        filled = self._fill is not None
        rows = [
            row for row in rows if row["n_undefined"] and (filled or row["average"] != "pooled" or row["value"] is None)
        ]
        if not rows:
            return
        first, *others = rows
        n, unit, arms = first["n_undefined"], self.content.undefined_in(first["average"]), self.content.arms
        all_equal = results["n_undefined"].n_unique() == 1
        # n counts queries or rows; classes, or the value itself, are no part of it.
        every = first["n"] + (n if self._fill is None else 0) if unit == "queries" else None
        system = None if all_equal and not arms else self._system(first)
        named = system is not None and every is not None
        also = self._also_undefined(others) if named else ""
        most = self.content.of_first(self.content.results)["n_undefined"].sum() if arms else n  # each arm has its own
        some = pl.col("n").is_between(n, most)
        audit = self.content.audit.filter(some, check=NOTHING_RELEVANT, severity="info")
        word = "click" if self.content.clicks else "relevant row"
        yield UndefinedValues(
            metric=self.content.first,
            system=system,
            unit=self.content.unit if unit == "queries" else unit,
            n_undefined=n,
            n_queries=every,
            become=self._filled(n, unit),
            lack=word if len(audit) and every is not None else None,  # each row has a label, and none of these is 1
            also=also,
        )

    def _also_undefined(self, rows: Sequence[Mapping[str, Any]]) -> str:
        """Return words for the undefined values of other systems; of many how many systems have some."""
        if len(rows) > MOST_LACKING:
            return f"; {len(rows):,} other {self.content.systems} have some, too"
        lost = self._fill is None
        counts = [(row["n_undefined"], row["n"] + row["n_undefined"] * lost, self._system(row)) for row in rows]
        return "".join(f"; {n:,} of {every:,} for {name_of(one)}" for n, every, one in counts)

    def _filled(self, n: int, unit: str) -> str | None:
        """Return words for what happens to undefined values of the first metric; ``n``: how many there are."""
        fill, many = self._fill, n != 1
        if fill is None:
            return f"{'are' if many else 'is'} left out" if unit else None
        return f"count{'' if many else 's'} as {fill:g}"

    def _absent(self) -> Iterator[Sentence]:
        """Yield what the caller asked for and could not be computed."""
        for metric, reason in self.work.absent_metrics:
            nothing = metric is None and self.content.compared.differences is None
            yield self._plain("next" if nothing else "absent", reason, by=metric)

    def _losses(self, pairs: Sequence[Difference]) -> Iterator[NotWorse]:
        """Yield what is known of the loss of each pair with a sentence, in each metric with a margin."""
        frame, margins = self.content.compared.differences, self.compare_options.get("margin") or {}
        rows = [] if frame is None or not margins else frame.to_dicts()
        for pair in pairs:
            for row in rows:
                own = row["metric"] in margins and (self._system(row), row["baseline"]) == (pair.system, pair.baseline)
                if own:
                    yield self._of_row(NotWorse, row, by=row["metric"], margin=margins[row["metric"]])

    def _unjudged(self, other: Any) -> Iterator[UnjudgedResults]:
        """Yield the shares of unjudged results in the top of the rankings, of the best system and of another one."""
        if not self.content.query:
            return
        k = self.content.asked[0][1].k or RESULTS_LOOKED_AT
        irm = self.work.irm(undefined="null")
        judged = self.work.quietly(irm.evaluate, f"judged@{k}", margins=bool(self.content.by))
        if judged is not None:
            judged = self.content.over_all(judged)
            # Beside a machine it is the share that the machine did not judge, counted; a value would estimate it.
            value = "proxy_value" if "proxy_value" in judged.columns else "value"
            share = {self._system(row): None if row[value] is None else 1 - row[value] for row in judged.to_dicts()}
            sides = [self.content.best, *([other] if other is not None and other in share else [])]
            lack = any(row["n_undefined"] for row in judged.to_dicts() if self._system(row) in sides)
            sizes = {self._system(row): row["n"] for row in judged.to_dicts() if lack}  # of those with results
            yield UnjudgedResults(
                metric=self.content.first,
                system=self.content.best,
                cutoff=k,
                share=share[self.content.best],
                baseline=sides[1] if len(sides) > 1 else None,
                baseline_share=share[sides[1]] if len(sides) > 1 else None,
                n_with_results=sizes.get(self.content.best),
                baseline_n_with_results=sizes.get(sides[1]) if len(sides) > 1 else None,
                warned=not self._unjudged_warnings.is_empty(),
            )

    def _unanswered(self, word_for_unasked: str | None) -> Iterator[UnansweredQueries]:
        """Yield the systems that have no row of more than a few queries, those that lack most first.

        Saved numbers say it in the column "answered"; without it all numbers count as measured. ``word_for_unasked``:
        as in ``AuditSentences``.
        """
        results, columns = self.content.of_first(self.content.results), self.work.columns
        known = "n_unanswered" in results.columns and (not columns.value or columns.answered)
        if not known or not results["n_unanswered"].sum():
            return
        drops = self.work.irm.roles.get("unanswered") == "drop"
        over_answered = {} if drops else self._over_answered()
        for row in results.sort("n_unanswered", descending=True, maintain_order=True).head(MOST_LACKING).to_dicts():
            n, system = row["n_unanswered"], self._system(row)
            every = row["n"] + (row["n_undefined"] if self._fill is None else 0) + n * drops
            if n > SOME_QUERIES * every:
                value, n_answered = over_answered.get(system, (None, 0))
                zero = value is None or abs(row["value"] * row["n"] - value * n_answered) <= EQUAL * row["n"]
                count_as = "count as 0" if zero else "count as queries without results"
                yield UnansweredQueries(
                    metric=self.content.first,
                    system=system,
                    unit=self.content.unit,
                    n_unanswered=n,
                    n_queries=every,
                    count_as=None if drops else count_as,
                    value_of_others=value,
                    n_others=n_answered,
                    word_for_unasked=word_for_unasked,
                )

    def _over_answered(self) -> dict[Any, tuple[float | None, int]]:
        """Return, for each system, its value over the queries that it has rows of, and their number."""
        irm, by = self.work.irm(unanswered="drop"), bool(self.content.by)
        found = self.work.quietly(irm.evaluate, self.content.first, margins=by)
        rows = [] if found is None else self.content.over_all(found).to_dicts()
        return {self._system(row): (row["value"], row["n"]) for row in rows}
