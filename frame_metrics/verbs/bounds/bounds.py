"""The verb bounds: the least and the greatest value of a metric over all orders of ties, or over missing judgments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.data.log import Block, Log
from frame_metrics.data.sorting import RankOrder, SortedView
from frame_metrics.errors import NotComputableError, bad_rows, check_bool, check_choice, check_key_names
from frame_metrics.inputs import Array
from frame_metrics.inputs.records import record
from frame_metrics.measuring.all_pieces import measure_in_pieces
from frame_metrics.measuring.pieces import Measuring, work_of
from frame_metrics.measuring.queries import check_grades, lacks_scale, measure_rankings
from frame_metrics.measuring.results import averaged, query_rows
from frame_metrics.measuring.values import Values
from frame_metrics.metrics.names import Asked, Metrics, read
from frame_metrics.metrics.parameters import plain
from frame_metrics.plan.call import Call, bind
from frame_metrics.plan.checks import check_asked
from frame_metrics.plan.declared import BOUNDS
from frame_metrics.plan.needs import Needs, needs_of
from frame_metrics.plan.plan import Plan
from frame_metrics.plan.source import InPieces, Source, answer_of
from frame_metrics.roles.columns import judgment_columns_in
from frame_metrics.verbs.bounds.differences import (
    OF_PAIRS,
    base_ranking,
    check_baseline,
    n_unjudged_elsewhere,
    of_differences,
    rows_of_pairs,
)
from frame_metrics.verbs.bounds.unjudged import check_bounded, extremes

FOURTH_COLUMN = {"ties": "tied", "unjudged": "judged"}  # the column of the fourth value, see ``STACKED``
BoundsOf = Literal["ties", "unjudged"]
# Four values of each metric are stacked as if they were metrics: the value, the least, the greatest, and a fourth one.
# The fourth: with ties 1 if a tie lies across the cutoff, else 0; with unjudged rows the share of results that are
# judged. For differences from a baseline: the difference, the least, the greatest, and 1 if it is not known that some
# judgments reach these.
STACKED = 4


def bounds(
    plan: Plan, metrics: Sequence[Metrics], *, of: BoundsOf, baseline: Any, max_grade: float | None, per_query: bool
) -> Any:
    """Implement ``irm.bounds``, whose docstring has the parameters."""
    check_choice("of", of, get_args(BoundsOf))
    check_bool("per_query", per_query)
    asked, max_grade = read(metrics), plain(max_grade)
    call = bind(plan, needs_of(plan, asked) | Needs(verb=BOUNDS))
    check_asked(asked, call)
    result = _schema(of, per_query=per_query, differences=baseline is not None)
    check_key_names(call.columns.keys, ["baseline", *result] if baseline is not None else result)
    if of == "unjudged":
        check_unjudged(asked, call, max_grade)
    else:
        _check_ties(asked, max_grade, baseline)
    if baseline is not None:
        check_baseline(asked, call, baseline)
    asked = [*with_max_grade(asked, max_grade)]

    def compute(source: Source) -> Answer:
        if isinstance(source, InPieces):
            every = measure_in_pieces(
                work_of(Bounding, source, asked * STACKED, (None,), of, max_grade, baseline), source
            )
        else:
            log = source.log(keep_row_numbers=of == "unjudged")
            check_grades(asked, log)
            every = _bounded(log, asked, of, max_grade, baseline)
        return _answer(every, [*result], of, baseline, per_query=per_query)

    def schema(types: dict[str, Any]) -> dict[str, Any]:
        return result if baseline is None else {"baseline": types[str(call.columns.system)]} | result

    keys = call.columns.keys if per_query else call.columns.cell_keys
    return answer_of(call, compute, schema, keys=keys)


def _check_ties(asked: Asked, max_grade: float | None, baseline: Any) -> None:
    """Raise for metrics that the worst and the best order of ties do not bound, and for options of unjudged rows."""
    for name, metric in asked:
        if not metric.bounded:
            raise NotComputableError(f"{name} is not bounded by the worst and the best order of equal scores")
    for option, given in (("max_grade= is the scale", max_grade), ("baseline= is about judgments", baseline)):
        if given is not None:
            raise NotComputableError(f"{option} of unjudged rows; pass of='unjudged', or leave it out")


@record
class Bounding(Measuring):
    """The stacked values of each ranking of a piece, see ``STACKED``."""

    of: BoundsOf
    max_grade: float | None
    baseline: Any
    keep_row_numbers: ClassVar[bool] = True

    def measure(self, log: Log) -> Values:
        return _bounded(log, self.asked[: len(self.asked) // STACKED], self.of, self.max_grade, self.baseline)


def _bounded(log: Log, asked: Asked, of: BoundsOf, max_grade: float | None, baseline: Any) -> Values:
    """Compute values and bounds for every ranking, stacked, see ``STACKED``."""
    if of == "unjudged" and log.grid.pool is not None and log.separate_judgments is None:
        raise NotComputableError(
            "systems that list unjudged rows, and no document is named to tell which are the same; name doc="
        )
    values = measure_rankings(log, asked)
    ends = _of_ties(log, asked) if of == "ties" else _of_unjudged(log, asked, max_grade)
    each = [values.value, *ends] if baseline is None else of_differences(log, values, max_grade, baseline, ends[:2])
    if baseline is not None:
        values = replace(values, evaluated=values.evaluated & values.evaluated[base_ranking(log.index, baseline)])
    return replace(values, asked=[*asked] * STACKED, value=np.concatenate(each))


def _of_ties(log: Log, asked: Asked) -> tuple[Array, Array, Array]:
    """Return the least and the greatest values over the worst and the best order of ties; and as 0 or 1, if tied."""
    rules = (replace(log.conventions, ties=rule) for rule in ("worst", "best"))
    ends = [_values_by_order(replace(log, conventions=rule), asked) for rule in rules]
    for i, (name, _) in enumerate(asked):
        if (np.isnan(ends[0][i]) != np.isnan(ends[1][i])).any():
            raise NotComputableError(f"{name} is undefined in some orders of equal scores and has no bounds over them")
    return np.minimum(*ends), np.maximum(*ends), _tied(log, asked)


def _values_by_order(log: Log, asked: Asked) -> Array:
    """Return values with ``ties="worst"`` or "best"; ties are ordered by what a metric reads, grades or labels."""
    values = np.empty((len(asked), len(log.grid.segment_query)))
    graded = np.array([metric.graded for _, metric in asked], bool)
    for some, one in ((graded, log), (~graded, _without_grades(log))):
        at = np.flatnonzero(some).tolist()
        if at:
            values[at] = measure_rankings(one, [asked[i] for i in at]).value
    return values


def _without_grades(log: Log) -> Log:
    """Return the log without grades, if it has labels."""
    rankings = log.grid.rankings
    if "label" not in rankings.values:
        return log
    values = {name: column for name, column in rankings.values.items() if name != "grade"}
    return replace(log, grid=replace(log.grid, rankings=replace(rankings, values=values)))


def _tied(log: Log, asked: Asked) -> Array:
    """Return 1 where a tie lies across a metric's cutoff (without a cutoff: where there is any tie), else 0."""
    out = np.zeros((len(asked), len(log.grid.segment_query)))
    condensed = [log.conventions.variant(metric)[1] for _, metric in asked]

    def work(block: Block) -> None:
        if block.view.score is None or "rank" in block.view.values:
            return
        run = block.ranking(scored=True)
        runs = {kind: run.variant(run.rel, kind) for kind in set(condensed)}
        for i, (_, metric) in enumerate(asked):
            own = runs[condensed[i]]
            out[i, block.rankings] = own.tied_at(metric.k if metric.top is None else own.last_of(metric.top))

    log.for_each_sorted_block(work)
    return out


def with_max_grade(asked: Asked, max_grade: float | None) -> Asked:
    """Return metrics with ``max_grade`` set, where they need it and do not have it."""
    if max_grade is None:
        return asked
    return [(name, metric(max_grade=max_grade) if lacks_scale(metric) else metric) for name, metric in asked]


def check_unjudged(asked: Asked, call: Call, max_grade: float | None) -> None:
    """Raise for columns, conventions or metrics for which bounds of unjudged rows are not known; nothing is read."""
    columns, conventions = call.columns, call.conventions
    if conventions.unjudged == "drop":
        raise NotComputableError(
            "unjudged='drop' leaves out the rows that bounds(of='unjudged') is about; take it back"
        )
    if columns.n_relevant:
        raise NotComputableError(
            f"{columns.n_relevant} counts the relevant documents already, whichever they are; pass n_relevant=None to "
            "count those that are judged"
        )
    for name, metric in asked:
        check_bounded(name, metric, max_grade, conventions.highest_grade)
        if (fill := conventions.fill(metric)) not in ((0, 1) if metric.completes else (0,)):
            lost = "be an error" if conventions.undefined == "raise" else "be left out of the mean"
            raise NotComputableError(
                f"{name}: a query can be undefined under some judgments and not under others, and would then "
                f"{lost if fill is None else f'count as {fill:g}'}; pass undefined='zero'"
            )


def _of_unjudged(log: Log, asked: Asked, max_grade: float | None) -> tuple[Array, Array, Array]:
    """Return the least and greatest values over all judgments of unjudged rows, and the share of judged results."""
    lower, upper, seen = np.zeros((3, len(asked), len(log.grid.segment_query)))
    n_elsewhere, rels = n_unjudged_elsewhere(log), [log.conventions.variant(metric)[0] for _, metric in asked]
    scored = any("score" in metric.reads for _, metric in asked)

    def work(block: Block) -> None:
        at = block.rankings
        check_open_ties(block.view, log)
        whole = block.ranking(scored=scored)
        runs = {rel: whole.variant(rel, False) for rel in set(rels)}
        for i, (name, metric) in enumerate(asked):
            run = runs[rels[i]]
            fill = log.conventions.fill(metric) or 0
            lower[i, at], upper[i, at] = extremes(name, metric, run, n_elsewhere[at], max_grade, fill)
            known = ~np.isnan(run.grade) if metric.graded else run.judged
            seen[i, at] = run.count_of(known, metric.k) / np.maximum(run.retrieved(metric.k), 1)

    # With labels and grades, a row without a grade looks like one of grade 0 to the tie rule. But its bounds differ, so
    # that such tied rows are ordered too.
    order: RankOrder = "documents" if len(judgment_columns_in(log.table)) > 1 else "judgments"
    log.for_each_sorted_block(work, order=order)
    return lower, upper, seen


def check_open_ties(view: SortedView, log: Log) -> None:
    """Raise if the rank of an unjudged row depends on the judgment that it will get: a tie that judgments order."""
    if log.conventions.ties not in ("worst", "best", "expected") or view.score is None or "rank" in view.values:
        return
    grade, label = view.judgments()
    unjudged = np.isnan(grade) | (False if label is None else np.isnan(label))
    equal = view.equal_to_next() & (unjudged[1:] | unjudged[:-1])
    if equal.any():
        rows = view.log_rows(log.grid.rankings, np.flatnonzero(equal) + 1)
        raise bad_rows(
            str(log.columns.score),
            rows,
            len(log.table),
            "have the score of another row, one of the two has no judgment, and "
            f"ties={log.conventions.ties!r} orders by judgment",
            "name doc= to order equal scores by document, or pass ties='order'",
        )
    if view.tie is not None:
        raise NotComputableError(
            "ties='expected' is a mean over orders, and bounds of unjudged rows are those of one; name doc= to order "
            "equal scores by document, or pass ties='worst'"
        )


def _answer(every: Values, names: list[str], of: str, baseline: Any, *, per_query: bool) -> Answer:
    """Return the answer: a row for each group (or query) and metric.

    ``every``: the stacked values; ``names``: the columns of the result.
    """
    lay: Callable[[Values], Answer] = query_rows if per_query else averaged
    *each, fourth = np.split(every.value, STACKED)
    asked = every.asked[: len(fourth)]
    plain_means = [(name, replace(metric, summed=False, average=None)) for name, metric in asked]
    asked = asked if baseline is None else plain_means
    rows, lower, upper = (lay(replace(every, asked=asked, value=values)) for values in each)
    mean_of_fourth = lay(replace(every, asked=plain_means, value=fourth, weight=None)).columns["value"]
    columns = rows.columns | {"lower": lower.columns["value"], "upper": upper.columns["value"]}
    if baseline is None:
        columns[FOURTH_COLUMN[of]] = mean_of_fourth.cast(pl.Boolean) if per_query and of == "ties" else mean_of_fourth
    else:
        columns |= {"difference": columns["value"], "exact": mean_of_fourth == 0}
        columns, rows = rows_of_pairs(columns, rows, every.index, baseline)
    return replace(rows, columns={name: columns[name] for name in names})


def _schema(of: str, *, per_query: bool, differences: bool) -> dict[str, Any]:
    """Return the columns of a result that are not keys, and their types; ``differences``: if it has differences."""
    first: dict[str, Any] = {"metric": pl.String, "k": pl.Int64} | ({} if per_query else {"average": pl.String})
    if differences:
        return first | OF_PAIRS | ({} if per_query else {"n": pl.Int64})
    values = dict.fromkeys(("value", "lower", "upper"), pl.Float64)
    fourth = {FOURTH_COLUMN[of]: pl.Boolean if per_query and of == "ties" else pl.Float64}
    return first | values | fourth | ({} if per_query else {"n": pl.Int64, "n_undefined": pl.Int64})
