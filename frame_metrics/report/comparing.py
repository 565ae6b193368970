"""Comparisons of a report: with systems or saved numbers that the caller named, or of all pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl

from frame_metrics.backends.times import order_of_arms
from frame_metrics.errors import BadValueError, FrameMetricsError, quote
from frame_metrics.inputs import Lists
from frame_metrics.measuring.baseline import is_frame, saved_call
from frame_metrics.measuring.named import check_baselines, not_saved
from frame_metrics.measuring.rows import NotComparedError
from frame_metrics.metrics.names import Asked
from frame_metrics.report.better_first import better_first
from frame_metrics.report.calls import Calls
from frame_metrics.report.cells import plain_text, sign_of
from frame_metrics.report.content import Content
from frame_metrics.report.of_segments import SERIES
from frame_metrics.report.of_strata import in_segments, with_option
from frame_metrics.verbs.compare.arms import with_covariate
from frame_metrics.verbs.compare.margins import margin_read, margins_of
from frame_metrics.verbs.compare.options import CompareOptions
from frame_metrics.verbs.compare.strata import with_strata

ALL_PAIRS = 32  # the most systems of which all pairs are shown
# If there are too many differences for all permutations, but not 10 times too many, a leaderboard takes a tenth of the
# permutations: 1,000 are enough for it.
FEWER_PERMUTATIONS = 10
PERIODS = 2  # of so many periods the earlier is the baseline
MIN_SYSTEMS_FOR_LEADERBOARD = 3  # from so many systems on, a report has a leaderboard
# Pairs of more than ``ALL_PAIRS`` systems are tested together up to so many differences of queries: half a minute.
# With more, p-values are multiplied by all pairs, which lifts even the least one of 10,000 permutations above .05.
MOST_FLIPS = 4_000_000


def check_named(work: Calls, asked: Asked, compare_options: Mapping[str, Any]) -> None:
    """Raise for a baseline or a covariate that exists nowhere; nothing is computed, and only systems are read."""
    plan, columns, baseline = work.plan, work.columns, compare_options["baseline"]
    if "margin" in compare_options and baseline is None:
        raise BadValueError(
            f"margin={quote(compare_options['margin'])} is the loss against a baseline that would still be accepted; "
            "pass it, as baseline="
        )
    with_covariate(columns, plan.available, compare_options.get("covariate"))
    without_segments = columns.changed(by=columns.by[: 1 if columns.arm else 0])
    with_strata(without_segments, plan.available, compare_options.get("strata"))
    if baseline is None:
        return
    if is_frame(baseline):
        if asked:
            not_saved(plan, baseline, asked)
        else:
            saved_call(baseline, plan, None, audited=True)
    elif columns.side:
        check_baselines(plan, baseline)
    else:  # it is refused before anything is read: a system needs a column of systems
        work.compare(work.irm, *work.metrics_to_pass(*(name for name, _ in asked)), **compare_options)


def with_margins(compare_options: Mapping[str, Any], asked: Asked, *, bounded: bool) -> Mapping[str, Any]:
    """Return the options of comparisons with the margin of each metric that has one; lists together have none.

    ``bounded``: as ``margins_of`` takes it.
    """
    if "margin" not in compare_options:
        return compare_options
    some = [one for one in asked if one[1].input is not Lists]
    each = margins_of(margin_read(compare_options["margin"]), some, bounded=bounded).tolist()
    margins = {name: margin for (name, _), margin in zip(some, each, strict=True) if margin == margin}
    return {**compare_options, "margin": margins}


def _with_margins_of(compare_options: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return the options of a comparison of some metrics, with their margins alone."""
    margins = {name: margin for name, margin in compare_options.get("margin", {}).items() if name in names}
    return with_option(compare_options, "margin", margins)


def against_the_earlier(content: Content, work: Calls) -> list[Any] | None:
    """Return the earlier of two periods as the baseline that none is named for, as ``change`` takes it; else None."""
    if content.has_baseline or work.verb != "change":
        return None
    names = content.results[str(content.system)].drop_nulls().unique(maintain_order=True)
    if len(names) != PERIODS:
        return None
    order = order_of_arms(names)
    known = order.in_time and order.are_periods
    return work.as_baseline(names[order.places[0]]) if known else None


def against_the_best(content: Content, work: Calls, compare_options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the options of comparisons; without a baseline, and with too many pairs, the best system becomes it."""
    if content.has_baseline or content.n_systems <= ALL_PAIRS:
        return compare_options
    reason = (
        f"{content.n_systems:,} systems make {content.n_pairs:,} pairs; each system is compared with the best, and "
        "p-values are corrected for all pairs; pass baseline= to compare with another"
    )
    work.note("comparison of all pairs", reason)
    best = content.best
    return {**compare_options, "baseline": work.as_baseline(best)}


def _for_all_pairs(content: Content, comparison: pl.DataFrame) -> pl.DataFrame:
    """Correct the p-values of comparisons with the best system as if all pairs had been compared.

    The values themselves decided which system is the best.
    """
    p = (pl.col("p_value") * content.n_pairs).clip(upper_bound=1.0)
    return comparison.with_columns(
        p_adjusted=p, n_tests=pl.lit(content.n_pairs, pl.Int64), correction=pl.lit("bonferroni")
    )


def with_comparison(content: Content, work: Calls, compare_options: Mapping[str, Any]) -> Content:
    """Add the comparison of systems to the content of a report: what can be compared, by the metrics that allow it."""
    if not content.has_baseline and content.n_systems < 2:
        return content
    irm = work.all_segments(content)
    if content.by and irm is work.irm:
        reason = "some queries are in several segments, each with a ranking of its own"
        work.note("comparison over all segments", reason)
        sentence = "Systems are compared in each segment, and not over all: some queries are in several segments"
        work.absent_metrics.append((None, sentence))
    compare_options = compare_options if irm.roles.get("by") is None else in_segments(compare_options, content.by)
    names = [name for name, _ in content.asked]
    options = {**compare_options, "baseline": _without_segments(irm, compare_options)}
    if is_frame(compare_options["baseline"]):
        lacking = not_saved(work.plan, compare_options["baseline"], content.asked)
        for name, why in lacking.items():
            work.note(f"comparison of {name}", why, sentence=f"{name} is not compared", metric=name)
        names = [name for name in names if name not in lacking]
    if not names:
        return content
    best = None if content.has_baseline or compare_options["baseline"] is None else content.best
    only_best = best is not None and flips_few(content, work, len(names))
    options |= {"baseline": None} if only_best else {}
    options = _with_margins_of(options, names)
    found = _of_pairs(irm, work, names, options) if work.paired else _of_arms(irm, content, work, names, options)
    if found is None:
        return content
    if only_best:
        best = next(iter(_with_differences(content, found, names).places))
        found = found.filter([best in pair for pair in zip(found[str(content.system)], found["baseline"], strict=True)])
    elif best is not None:
        found = _for_all_pairs(content, found)
    content = _with_differences(content, found, names)
    rows = content.of_compared(found).to_dicts() if content.has_baseline and content.n_systems > PERIODS else []
    if any(map(content.are_unlike, rows)) and content.differences_over_all is not None:
        content = _added(content, all_pairs=all_pairs(content, work, compare_options))
    return _added(content, differences=_faced(content, found))


def _with_differences(content: Content, found: pl.DataFrame, names: Sequence[str]) -> Content:
    """Return the content with differences; ``names``: the metrics by which systems were to be compared."""
    there = {*found["metric"]}
    return _added(content, differences=found, metric=next((name for name in names if name in there), None))


def _added(content: Content, **found: Any) -> Content:
    """Return the content with more comparisons."""
    return replace(content, compared=replace(content.compared, **found))


def _faced(content: Content, frame: pl.DataFrame) -> pl.DataFrame:
    """Return differences as the sentences have them: of the better system from the other, unless one is a baseline.

    Without a direction the higher one comes first.
    """
    if content.has_baseline or content.system not in frame.columns:
        return frame
    return better_first(frame, str(content.system), content.places)


def flips_few(content: Content, work: Calls, metrics: float = 1) -> bool:
    """Return True if flips of all pairs of systems, by so many metrics, do not take long."""
    queries = int(content.results["n"].max() or 0)  # type: ignore[arg-type]
    return work.paired and bool(content.query) and content.n_pairs * metrics * queries <= MOST_FLIPS


def compared_in_pairs(content: Content, work: Calls) -> bool:
    """Return True if all pairs of systems are compared beside those with a named baseline."""
    if work.paired and content.query:
        return flips_few(content, work)
    return content.n_systems <= ALL_PAIRS


def all_pairs(content: Content, work: Calls, compare_options: Mapping[str, Any]) -> pl.DataFrame | None:
    """Compare all pairs of systems by the first metric that is compared; None if they are too many."""
    if not compared_in_pairs(content, work):
        return None
    options = {key: value for key, value in compare_options.items() if key not in ("margin", "baseline")}
    return work.quietly(partial(work.compare, work.all_segments(content)), content.first_compared, **options)


def with_leaderboard(content: Content, work: Calls, compare_options: Mapping[str, Any]) -> Content:
    """Add the leaderboard of three systems or more to the content of a report, where no baseline is named."""
    name = content.first_compared
    if (
        content.has_baseline
        or content.n_systems < MIN_SYSTEMS_FOR_LEADERBOARD
        or not sign_of(name)
        or not flips_few(content, work, 1 / FEWER_PERMUTATIONS)
    ):
        return content
    fewer = 1 if flips_few(content, work) else FEWER_PERMUTATIONS
    irm = work.all_segments(content)
    if content.by and irm is work.irm:  # some queries are in several segments
        return content
    options = {"ci": compare_options["ci"], "permutations": CompareOptions.permutations // fewer}
    board = work.quietly(irm.leaderboard, name, **options)
    return content if board is None else _added(content, leaderboard=content.of_compared(board))


def _without_segments(irm: Any, compare_options: Mapping[str, Any]) -> Any:
    """Return the baseline; saved numbers with roles lose their segments where the frame is compared without these."""
    baseline = compare_options["baseline"]
    if not is_frame(baseline) or not hasattr(baseline, "roles") or irm.roles.get("by") is not None:
        return baseline
    return replace(baseline, roles={**baseline.roles, "by": None})


def _of_arms(
    irm: Any, content: Content, work: Calls, names: Sequence[str], compare_options: Mapping[str, Any]
) -> pl.DataFrame | None:
    """Compare arms by the metrics that can be compared, and note the others; other errors are the caller's."""
    try:
        return work.here(work.compare(irm, *work.metrics_to_pass(*names), **compare_options))
    except NotComparedError:
        each = [_of_arms_by(name, irm, work, compare_options) for name in names]
    some = [one for one in each if one is not None]
    return pl.concat(some, how="diagonal_relaxed") if some else None


def _of_arms_by(name: str, irm: Any, work: Calls, compare_options: Mapping[str, Any]) -> pl.DataFrame | None:
    """Compare arms by one metric; note that it cannot be done."""
    call = partial(work.compare, irm, name, **_with_margins_of(compare_options, [name]))
    return work.tried(f"differences of {name}", call, sentence=f"{name} is not compared", metric=name)


def _of_pairs(irm: Any, work: Calls, names: Sequence[str], compare_options: Mapping[str, Any]) -> pl.DataFrame | None:
    """Compare systems, or this frame with saved numbers, by the metrics that can be compared; note the others."""
    try:
        return work.here(irm.compare(*work.metrics_to_pass(*names), **compare_options))
    except FrameMetricsError as error:
        reason = str(error)
    found, why = list[pl.DataFrame](), dict[str, str]()
    for name in names if len(names) > 1 else ():
        try:
            found.append(work.here(irm.compare(name, **_with_margins_of(compare_options, [name]))))
        except FrameMetricsError as error:
            why[name] = str(error)
    if not found and len({*why.values()}) < 2:  # it is not because of a metric
        work.note("comparison", reason, sentence=_nothing_compared(compare_options["baseline"]))
    elif not found:
        work.note("comparison", reason)
    for name, its in why.items() if found or len({*why.values()}) > 1 else ():
        work.note(f"comparison of {name}", its, sentence=f"{name} is not compared", metric=name)
    return pl.concat(found, how="diagonal_relaxed") if found else None


def _nothing_compared(baseline: Any) -> str:
    """Return the beginning of the sentence that there is no comparison."""
    if baseline is None:
        return "Systems are not compared"
    several = baseline if isinstance(baseline, list | tuple) else [baseline]
    names = "the saved numbers" if is_frame(baseline) else ", ".join(plain_text(one, 60) for one in several)
    return f"Nothing is compared with {names}"


def with_differences(content: Content, work: Calls, compare_options: Mapping[str, Any]) -> Content:
    """Add the differences of systems on each query to the content of a report."""
    if content.compared.differences is None or not content.query or not work.paired:
        return content
    irm, name = work.all_segments(content), content.first_compared
    call = partial(
        irm.compare, *work.metrics_to_pass(name), baseline=_without_segments(irm, compare_options), per_query=True
    )
    each = work.tried("differences", call)
    return _added(content, by_query=None if each is None else _faced(content, content.of_compared(each)))


def with_segments_compared(content: Content, work: Calls, compare_options: Mapping[str, Any]) -> Content:
    """Add the comparison with a baseline in each segment, by the first metric; all tests are corrected together."""
    if content.differences_over_all is None or not content.has_baseline or not content.by:
        return content
    if content.segments is None or len(content.of_first(content.segments)) > SERIES:
        return content
    options = in_segments(_with_margins_of(compare_options, [content.first_compared]), content.by)
    call = partial(work.compare, work.irm, *work.metrics_to_pass(content.first_compared), **options, over="all")
    found = work.tried("comparison in each segment", call)
    return _added(content, in_segments=None if found is None else content.of_compared(found))
