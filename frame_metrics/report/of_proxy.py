"""People and a machine that judge the same documents: how far they agree, and how many more labels are needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl

from frame_metrics.backends.tables import Cell, Table
from frame_metrics.measuring.proxies import rests_on_others
from frame_metrics.measuring.values_of_source import planned
from frame_metrics.plan.call import Call
from frame_metrics.plan.declared import EVALUATE
from frame_metrics.plan.needs import Needs
from frame_metrics.report.calls import Calls
from frame_metrics.report.cells import ALPHA, EQUAL, cell_of, counted, number_text, sign_of, table_of
from frame_metrics.report.content import Content, n_measured
from frame_metrics.report.difference_sentences import Difference
from frame_metrics.report.frame_code import CODE
from frame_metrics.report.result_tables import ci_level, interval_cell, with_cells
from frame_metrics.report.sentence_writer import SentenceWriter
from frame_metrics.report.sentences import Plain
from frame_metrics.report.value_sentences import FavouredSystem
from frame_metrics.report.words import MACHINE, PEOPLE
from frame_metrics.roles.columns import role_columns
from frame_metrics.stats.proxies import FEWEST

JUDGE = "judge"  # the column of who judged
# Shares of the smallest difference that so many queries show, if the one that shows now is too small.
SHARES = (0.5, 0.75, 0.9)
MEASURES = ("n", "equal", "kappa", "weighted_kappa", "sensitivity", "specificity", "bias")
CALLED = {
    "n": "documents that both judged",
    "equal": "share with the same grade",
    "weighted_kappa": "weighted kappa",
    "sensitivity": f"share of those relevant to {PEOPLE} that it calls relevant",
    "specificity": "share of the others that it calls not relevant",
}

MEANING = "kappa: agreement beyond chance, 1 at most; bias: its grades minus those of people, on average."
# The columns of the means by each, their heads, and the column of the interval of those that have one.
MEANS = {
    "people_value": f"{PEOPLE} alone",
    "n": "n",
    "proxy_value": f"{MACHINE} alone",
    "value": "both together",
    "lambda": "weight",
    "proxy_bias": "bias",
}
ENDS_OF = {"value": "ci", "proxy_bias": "proxy_bias"}
MEANING_OF_MEANS = (
    f"{PEOPLE} alone: over the n queries that they judged; weight: that of the {MACHINE} in both together; bias: its "
    f"value minus that of {PEOPLE} on these queries. Both together are free of it."
)


def with_agreement(content: Content, work: Calls, call: Call | None) -> Content:
    """Add how far the machine's judgments agree with those of people, if there are both."""
    if call is None or call.proxy is None or call.judgment_columns is None:
        return content
    found = work.tried("agreement", partial(_agreement, type(work.irm), [call, call.proxy]))
    return replace(content, agreement=found)


def _agreement(irm: type[Any], calls: Sequence[Call]) -> pl.DataFrame:
    """Return the row of ``agreement`` that compares the machine with people, as the trusted annotator.

    ``calls``: with the judgments of each. Sides with a rel of their own are compared by what is relevant.
    """
    rel = {call.conventions.rel for call in calls}
    graded = all(call.judgment_columns and call.judgment_columns.grade for call in calls)
    value = "grade" if graded and len(rel) == 1 else "label"
    sides = [_judgments(call, who, value) for call, who in zip(calls, (PEOPLE, MACHINE), strict=True)]
    both = pl.concat(sides, how="vertical_relaxed")
    keys = [name for name in both.columns if name not in (JUDGE, value)]
    log = both.select(keys).unique(maintain_order=True).with_columns(score=pl.lit(0.0))
    queries = [name for name in keys if name != "doc"]
    judged = irm(log, query=queries, doc="doc", score="score", rel=min(rel) if value == "grade" else None)
    found = judged.judge(both, annotator=JUDGE, **{value: value}).agreement(PEOPLE).select(MEASURES)
    return found.with_columns(of=pl.lit(" whether they are relevant" if graded and value == "label" else ""))


def _judgments(call: Call, who: str, value: str) -> pl.DataFrame:
    """Return one set of judgments, as grades or labels, with a column that says who made them.

    Ids are texts, as their types may differ.
    """
    judged: Any = call.judgment_columns
    names = {f"query_{at}": name for at, name in enumerate(judged.query)} | {"doc": judged.doc}
    keys = [pl.col(name).cast(pl.String).alias(to) for to, name in names.items()]
    own = "grade" if judged.grade else "label"
    frame = call.judgments_in_memory().read([*names.values(), getattr(judged, own)])
    positive = None if judged.shape.made else call.conventions.positive
    read = role_columns(frame, judged, [own], positive=positive, scale=call.conventions.scale)[own]
    given = read >= call.conventions.rel if (own, value) == ("grade", "label") else read
    return frame.select(*keys, given.alias(value), pl.lit(who).alias(JUDGE)).drop_nulls()


def agreement_table(agreement: pl.DataFrame) -> Table:
    """Return the table of the agreement of people and the machine."""
    (row,) = agreement.head(1).to_dicts()
    cells = [[Cell(CALLED.get(name, name)), cell_of(name, row[name])] for name in MEASURES if row[name] is not None]
    caption = f"Agreement of the {MACHINE} with {PEOPLE}"
    return Table(["measure", "value"], cells, [False, True], caption, [MEANING])


def proxy_means(content: Content) -> Iterator[Table]:
    """Yield the table of the means by people alone, by the machine alone, and by both together."""
    if content.n_proxy:
        names = [*content.system_column, "metric", *MEANS]
        made = table_of(content.results, caption=f"Means by {PEOPLE} and by the {MACHINE}", only=names, called=MEANS)
        for name, of in ENDS_OF.items():
            ends = [interval_cell(row, of) for row in content.results.to_dicts()]
            made = with_cells(made, names.index(name), subtext=ends)
        under = f"the {ci_level(content)}" if content.ci else ""
        yield replace(made, notes=[MEANING_OF_MEANS], subtext=under)


class ProxySentences(SentenceWriter):
    """Sentences about people and a machine."""

    def agreed(self) -> Iterator[Plain]:
        """Yield how often the machine gives the grade that people give."""
        frame = self.content.agreement
        for row in () if frame is None else frame.head(1).to_dicts():
            name = "kappa" if row["weighted_kappa"] is None else "weighted_kappa"
            measure = f"{CALLED.get(name, name)} {number_text(row[name], 2)}"
            same = f"the {MACHINE} and {PEOPLE} agree on {row['equal']:.0%}{row['of']}".replace("%", " %")
            of = f"Of {counted(row['n'], 'documents')} that both judged, {same} ({measure})"
            yield self._plain("agreement", of, n=row["n"], share=row["equal"])

    def favours(self) -> Iterator[FavouredSystem]:
        """Yield the pair of systems whose biases by the machine differ most surely, if they surely do."""
        frame = self.content.compared.differences
        if frame is None or "p_proxy_bias" not in frame.columns or self.content.system not in frame.columns:
            return
        sure = self.content.of_compared(frame).filter(pl.col("p_proxy_bias") <= ALPHA)
        for row in sure.sort("p_proxy_bias", maintain_order=True).head(1).to_dicts():
            sides = (self._system(row), row["proxy_bias"]), (row["baseline"], row["baseline_proxy_bias"])
            turned = (sign_of(row["metric"]) or 1) * (row["proxy_bias"] - row["baseline_proxy_bias"]) < 0
            (own, value), (other, of_other) = sides[::-1] if turned else sides
            both = {"system": own, "baseline": other, "value": value, "baseline_value": of_other}
            yield self._of_row(FavouredSystem, row, by=row["metric"], p_adjusted=row["p_proxy_bias"], **both)

    def _whole(self) -> Iterator[Plain]:
        """Yield what to do where people judged too few queries whole: these alone count."""
        _, metric = self._asked(self.content.first_compared)
        which = f"every document that the {MACHINE} judged"
        if metric.k and not rests_on_others(metric, self._fill):
            which += f" of the first {counted(metric.k, 'results')} of each system"
        some = f"Let {PEOPLE} judge {FEWEST} {self.content.unit} or more, drawn at random, each with {which}"
        yield self._plain("next", f"{some}; labels of single documents count for none")
        if over := self._over():
            lay = f"Or lay the judgments of {PEOPLE} over those of the {MACHINE}: means are then mostly the {MACHINE}'s"
            yield self._plain("code", f"{lay}. In code: irm.judge(None).judge({over})")

    def _over(self) -> str:
        """Return the code for the judgments of both, "" if none is known or each side has a scale of its own."""
        call, _ = planned(self.work.plan, self.work.metrics_to_pass(self.content.first), Needs(verb=EVALUATE))
        ours, theirs = call.judgment_columns, None if call.proxy is None else call.proxy.judgment_columns
        words = CODE.get(self.content.basis.kind)
        if words is None or ours is None or theirs is None or ours.shape.made:
            return ""
        scales = {(one.conventions.rel, str(one.conventions.scale)) for one in (call, call.proxy) if one}
        if len(scales) > 1 or bool(ours.grade) != bool(theirs.grade):
            return ""
        value, keys = "grade" if ours.grade else "label", [*ours.query, str(ours.doc)]
        names = [(*one.query, one.doc, getattr(one, value)) for one in (theirs, ours)]
        other = {old: new for old, new in zip(*names, strict=True) if old != new}
        machine = words.renamed.format("machine", other) if other else "machine"
        known = {*call.columns.query, call.columns.doc, "query", "doc", value}
        roles: dict[str, list[Any]] = {"query": [*ours.query], "doc": [ours.doc], value: [getattr(ours, value)]}
        given = {role: some if some[1:] else some[0] for role, some in roles.items() if not {*some} <= known}
        named = "".join(f", {role}={some!r}" for role, some in given.items())
        return f"{words.first_of_each.format('people', machine, keys)}{named}"

    def labels(self, pairs: Sequence[Difference]) -> Iterator[Plain]:
        """Yield how many more queries people should judge to show the difference that shows now, or a larger one."""
        pair = pairs[0] if pairs else None
        if self.content.n_proxy and (self.best_row["value"] is None or (pair and pair.difference is None)):
            yield from self._whole()
        if pair is None or not self.content.n_proxy or not pair.mde or pair.is_significant:
            return
        seen, now = abs(pair.gap), pair.n or 0
        for detect in (seen, *(share * pair.mde for share in SHARES)):
            needed = self._needed(pair, detect) if detect > EQUAL else None
            if needed is not None and needed > now:
                some = f"Let {PEOPLE} judge {counted(needed, self.content.unit)}, {needed - now:,} more than now"
                between, every = self._between(pair, "a"), counted(n_measured(vars(pair)), self.content.unit)
                only = f"only if {between} of about {number_text(detect)} matters"
                small = f"one as small as it looks ({number_text(seen)}) takes more than the {every}"
                shows = f"{between} as large as it looks ({number_text(seen)}) is then likely to show"
                of = f"{some}: {shows}" if detect == seen else f"{some}, {only}: {small} that the {MACHINE} judged"
                yield self._plain("next", of, n=needed)
                return
