"""Calls of verbs that compute the content of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import polars as pl

from frame_metrics.errors import ColumnError, NotComputableError, check_choice
from frame_metrics.inputs import Lists
from frame_metrics.measuring.baseline import is_frame
from frame_metrics.measuring.courses import PREVALENCE, is_comparable, is_measured
from frame_metrics.metrics.metric import BY_CHANCE, Metric
from frame_metrics.metrics.names import read
from frame_metrics.metrics.saved_names import metric_of, read_elsewhere
from frame_metrics.plan.call import bind
from frame_metrics.plan.declared import REPORT
from frame_metrics.plan.needs import Needs, needs_of
from frame_metrics.report.basis import basis_of
from frame_metrics.report.calls import Calls
from frame_metrics.report.cells import naming_nulls, plain_text
from frame_metrics.report.comparing import (
    against_the_best,
    against_the_earlier,
    check_named,
    with_comparison,
    with_differences,
    with_leaderboard,
    with_margins,
    with_segments_compared,
)
from frame_metrics.report.content import NAMES, Compared, Content, Decisions
from frame_metrics.report.defaults import curve_cutoffs, default_metrics, depth_of, is_click_log
from frame_metrics.report.extreme_queries import queries_added
from frame_metrics.report.of_classes import CLASSES, with_classes_compared
from frame_metrics.report.of_proxy import with_agreement
from frame_metrics.report.rows_of_shares import rows_of_shares
from frame_metrics.report.sentence_writer import fill_of
from frame_metrics.report.summary import summary_of
from frame_metrics.report.title import title_of
from frame_metrics.report.units import with_units
from frame_metrics.report.words import MACHINE, PEOPLE
from frame_metrics.roles.columns import Columns

BINS = 30  # of scores
OF_SINGLE_QUERIES = ("differences", "queries", "curves")
POINTS = 200  # of a curve of scores

Asked: TypeAlias = list[tuple[str, Metric]]


def gathered(
    irm: Any,
    plan: Any,
    metrics: Sequence[Any],
    *,
    compare_options: Mapping[str, Any],
    title: str | None,
    ci: float | None,
    queries: int | None,
    sort: str | None = None,
    split: Mapping[Any, float] | None = None,
) -> Content:
    """Call verbs for everything that a report shows.

    Parameters
    ----------
    irm : the object whose verbs are called.
    plan : the plan of the irm: its columns and conventions.
    metrics : as a verb takes them; if there are none, those that suit the roles.
    compare_options, ci : options of ``compare``, the baseline among them, and of ``evaluate``.
    title : of the report; None for one that names the metrics.
    queries : how many of the best and of the worst queries of a system are shown; None for the summary alone.
    sort : the metric by which systems are sorted in tables; None for the first, "name" for the order of their names.
    split : the share of the units that each arm should have.
    """
    columns, baseline = plan.columns, compare_options["baseline"]
    verb = verb_of_comparison(columns, compare_options, split)
    work = Calls(irm, plan, verb, has_metrics=bool(metrics))
    asked, call = planned_call(plan, metrics, None)
    check_named(work, asked, compare_options)
    # Without metrics= the depth of the rankings decides which are computed, and at which cutoffs.
    depth = depth_of(irm, columns)
    if not metrics and call is not None:
        asked, call = planned_call(plan, metrics, depth)
    if sort is not None and asked:
        check_choice("sort", sort, [*(name for name, _ in asked), NAMES])
    asked, results = _evaluated(work, asked, ci=ci, margins=bool(columns.segments))
    asked = asked or _metrics_in(results)
    results = _of_arms(results, work, baseline, split)
    # The content: results, audit, and what the caller's call and roles say.
    audit = _audited(work, baseline, split)
    content = Content(
        title=title or "",
        asked=asked,
        ci=ci,
        system=columns.side,
        weighted=None if irm.roles.get("propensity") is not None else columns.weight,
        clicks=is_click_log(plan),
        arms=not work.paired,
        by=columns.segments,
        query=columns.query,
        results=results,
        audit=audit,
        basis=basis_of(irm, plan, call),
        has_baseline=baseline is not None,
        sort=sort or asked[0][0],
        decisions=Decisions(_threshold(call), _word(irm.roles.get("positive"), columns.query)),
        compared=_adjusted(compare_options),
    )
    content = _with_segments(content)
    with naming_nulls(content.system):
        is_filled = fill_of(irm, asked[0][1]) is not None
        content = content if title else replace(content, title=title_of(content, is_filled))
    shares = {} if split is None else {"split": split}  # which only arms have
    content = _with_comparisons(content, work, call, {**compare_options, **shares, "ci": ci or 0.95})
    if queries is None:
        return content
    # What only a report has, and no summary: single queries, decisions and curves.
    content = queries_added(content, work, queries, call)
    content = _of_decisions(content, work, call)
    return replace(content, curves=_curves(content, work, call, depth), absent_sections=_absent(content, work))


def _of_arms(results: pl.DataFrame, work: Calls, baseline: Any, split: Any) -> pl.DataFrame:
    """Return results without those of what has no arm, which then is in no other, unless null is named as one."""
    arm, named = work.columns.arm, [*(baseline if isinstance(baseline, list | tuple) else []), *(split or ())]
    if arm is None or None in named or results[arm].null_count() in (0, len(results)):
        return results
    some = results.filter(pl.col(arm).is_null())
    work.in_no_arm = some.filter(total_over=", ".join(work.columns.segments)) if work.columns.segments else some
    return results.drop_nulls(arm)


def _absent(content: Content, work: Calls) -> list[dict[str, str]]:
    """Return what could not be computed and why; of people and a machine in one row what needs single queries."""
    if not content.n_proxy:
        return work.absent_sections
    reason = f"only means are known of {PEOPLE} and an {MACHINE} together: {PEOPLE} judged no other {content.unit}"
    every = {"section": "single queries and curves", "reason": reason}
    return [every, *(one for one in work.absent_sections if one["section"] not in OF_SINGLE_QUERIES)]


def _with_comparisons(content: Content, work: Calls, call: Any, options: Mapping[str, Any]) -> Content:
    """Return the content with comparisons, by the options of the caller and those that a report adds, and a summary."""
    options = with_margins(options, content.asked, bounded=not work.columns.value)
    if (earlier := against_the_earlier(content, work)) is not None:
        content, options = replace(content, has_baseline=True), {**options, "baseline": earlier}
    options = against_the_best(content, work, options)
    content = with_leaderboard(with_comparison(content, work, options), work, options)
    content = with_segments_compared(with_differences(content, work, options), work, options)
    content = with_classes_compared(content, work, options)
    content = replace(with_agreement(content, work, call), share_rows=rows_of_shares(content, work))
    content = replace(content, measured=_measured(content, work))
    with naming_nulls(content.system):
        return replace(content, summary=summary_of(content, work, options))


def _measured(content: Content, work: Calls) -> pl.Series | None:
    """Return in which values of the first metric changes over segments are looked for; None for in all."""
    if content.segments is None or content.asked[0][1].summed:
        return None
    if content.query:
        return is_comparable(content.of_first(content.segments))
    shares = partial(work.quietly, work.irm.evaluate, PREVALENCE)
    return is_measured(content.of_first(content.segments), lambda: content.audit["check"], shares)


def _with_segments(content: Content) -> Content:
    """Return the content with the results of segments separate from those of all, if there are segments."""
    if not content.by:
        return content
    over, results = pl.col("total_over"), content.results
    segments = results.filter(over.is_null()).drop("total_over")
    totals = results.filter(over.is_not_null() & (over != ", ".join(content.by)))
    return replace(content, results=content.over_all(results), segments=segments, totals=totals)


def _adjusted(compare_options: Mapping[str, Any]) -> Compared:
    """Return what is known of comparisons before they are made: by what their means are adjusted."""
    strata = compare_options.get("strata", ())
    return Compared(adjusted=", ".join(strata) or compare_options.get("covariate"), adjusted_by_strata=bool(strata))


def _audited(work: Calls, baseline: Any, split: Any) -> pl.DataFrame:
    """Return the findings of the audit; of arms whose shares are not given, note that their split is not known."""
    saved = {"baseline": baseline} if is_frame(baseline) else {}
    audit = with_units(work.here(work.irm.audit(**saved, split=split)), work.columns)
    if not work.paired and split is None:
        arm = work.columns.arm
        reason = f"whether each {arm} has the share of the units that it should have is not known; pass split="
        work.note("sample ratio", reason)
    return audit


def _threshold(call: Any) -> float | None:
    """Return the caller's threshold if it is a number, with -0 as 0; else None."""
    threshold = None if call is None else call.conventions.threshold
    return None if threshold is None or isinstance(threshold, str) else 0.0 + threshold


def verb_of_comparison(columns: Columns, compare_options: Mapping[str, Any], split: Any) -> str:
    """Return the verb of comparisons: of systems, of arms that were assigned at random, or of other arms."""
    if columns.arm is None:
        return "compare"
    return "change" if split is None and not {"covariate", "strata"} & {*compare_options} else "ab_test"


def _evaluated(work: Calls, asked: Asked, **options: Any) -> tuple[Asked, pl.DataFrame]:
    """Return the metrics that can be computed, and their values; note the reasons for the others."""
    irm = work.irm
    try:
        return asked, _valued(work, asked, **options)
    except NotComputableError:
        some = []
        for name, metric in asked:
            sentence = f"{name} is not computed" if work.has_metrics else ""
            if work.tried(name, partial(irm.evaluate, name), sentence=sentence, metric=name) is not None:
                some.append((name, metric))
        if not some:
            for name, _ in asked:  # an error of the rows comes before one of a metric that they are not for
                with suppress(NotComputableError):
                    work.here(irm.evaluate(name))
            raise
        return some, _valued(work, some, **options)


def _metrics_in(results: pl.DataFrame) -> Asked:
    """Return the metrics of a table of values, of which only the rows tell the names."""
    names = results["metric"].unique(maintain_order=True)
    if not len(names):
        raise ColumnError("the frame has no rows, so its metrics have no names")
    return [(name, metric_of(name)) for name in names]


def _valued(work: Calls, asked: Asked, *, ci: float | None, margins: bool) -> pl.DataFrame:
    """Return the values of metrics with intervals; those that have none are noted."""
    irm, names = work.irm, [name for name, _ in asked]
    why = {
        "metrics of all lists together have none: of queries that are drawn again some come twice": [
            name for name, metric in asked if metric.input is Lists
        ],
    }
    for name, metric in asked:
        if metric.biased:
            beside = "; look at if_calibrated" if "calibrated" in metric.companions else ""
            why.setdefault(BY_CHANCE + beside, []).append(name)
    lists = [name for some in why.values() for name in some]
    if ci is None or not lists:
        return work.here(irm.evaluate(*names, ci=ci, margins=margins))
    parts = [
        (some, work.here(irm.evaluate(*some, margins=margins, ci=level)))
        for some, level in (([name for name in names if name not in lists], ci), (lists, None))
        if some
    ]
    places = [(at // len(some), names.index(name)) for some, part in parts for at, name in enumerate(part["metric"])]
    every = pl.concat([part for _, part in parts], how="diagonal")[sorted(range(len(places)), key=places.__getitem__)]
    if len(parts) == 1:
        every = every.with_columns(ci_low=pl.lit(None, pl.Float64), ci_high=pl.lit(None, pl.Float64))
    for reason, some in why.items():
        if some:
            work.note(f"intervals of {', '.join(some)}", reason)
    return every


def planned_call(plan: Any, metrics: Sequence[Any], depth: int | None) -> tuple[Asked, Any]:
    """Return the metrics to compute, and the call for them.

    If the frame holds values there is no call, and without ``metrics`` there are none: their names are data.
    """
    if plan.columns.value:
        return read_elsewhere(metrics) if metrics else [], None
    asked = read([*(metrics or default_metrics(plan, depth))])
    return asked, bind(plan, needs_of(plan, asked) | Needs(verb=REPORT))


def _word(positive: Any, query: Sequence[str]) -> str:
    """Return the word for the positive class: the caller's, if it is text, else "relevant" or "positive"."""
    return plain_text(positive) if isinstance(positive, str) else "relevant" if query else "positive"


def _curves(content: Content, work: Calls, call: Any, depth: int | None) -> dict[str, pl.DataFrame]:
    """Return curves by kind: metrics by cutoff or, for rows without a query, curves of the scores."""
    if call is None:
        return {}
    columns = call.plan.columns
    if content.query:
        return _by_cutoff(content, work, depth) if columns.score or columns.rank else {}
    if columns.class_scores:
        reason = "these require the scores of one class; name their column with score=, and the class with positive="
        work.note("curves and the best threshold", reason)
    if columns.score is None or columns.class_scores:
        return {}
    irm = work.irm(by=None, threshold=None)
    options = {"roc": {"points": POINTS}, "pr": {"points": POINTS}, "calibration": {}, "distribution": {"bins": BINS}}
    curves = {kind: work.tried(f"curve {kind}", partial(irm.curve, kind, **thin)) for kind, thin in options.items()}
    return {kind: curve for kind, curve in curves.items() if curve is not None}


def _by_cutoff(content: Content, work: Calls, depth: int | None) -> dict[str, pl.DataFrame]:
    """Return the curves of metrics by cutoff, as "cutoffs"; nothing if no metric has a cutoff."""
    cut = [metric for _, metric in content.asked if metric.k is not None and metric.input is not Lists]
    kinds = [*dict.fromkeys(f"{replace(metric, cutoff=None)}@k" for metric in cut)]
    if not kinds:
        return {}
    top = max(10, *(int(metric.k or 0) for metric in cut))
    irm, cutoffs = work.all_segments(content), curve_cutoffs(top, depth)
    curve = work.tried("curves", lambda: irm.curve(kinds, cutoffs=cutoffs))
    if curve is None:
        return {}
    return {"cutoffs": curve if len(kinds) > 1 else curve.with_columns(metric=pl.lit(kinds[0]))}


def _of_decisions(content: Content, work: Calls, call: Any) -> Content:
    """Add the best threshold, the confusion matrix and, for several classes, the metrics of each class.

    Only rows without a query have them.
    """
    if call is None or content.query:
        return content
    columns, irm, decisions = call.plan.columns, work.irm(by=None), content.decisions
    if columns.score and not columns.class_scores:
        best, _ = work.result_or_reason(lambda: irm(threshold=None, predicted=None).best_threshold("f1"))
        decisions = replace(decisions, best_threshold=best)
    confusion, several = None, bool(columns.class_scores)
    if columns.predicted is not None or call.conventions.threshold is not None:
        confusion = work.tried("confusion matrix", irm.confusion)
    if confusion is not None:
        n = confusion["actual"].n_unique()
        several = several or n > 2
        if n > CLASSES:
            reason = f"there are {n:,} classes, and at most {CLASSES} can be told apart; confusion() returns all"
            work.note("confusion matrix", reason)
            confusion = None
    names = [name for name, _ in content.asked]
    classes = work.tried("classes", lambda: irm.per_class(*names, layout="wide")) if several else None
    return replace(content, decisions=replace(decisions, confusion=confusion, classes=classes))
