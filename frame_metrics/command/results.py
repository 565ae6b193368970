"""The result of a call, and the outcomes of gates on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import compress
from math import ceil
from typing import Any, TypeAlias

import polars as pl

from frame_metrics.command.call import FILE
from frame_metrics.command.commands import LIMITS, options_of, takes_one_metric
from frame_metrics.command.files.reading import each
from frame_metrics.command.frames import Frames
from frame_metrics.command.front import PROGRAM
from frame_metrics.command.gates import gates
from frame_metrics.command.gates.of_audit import grave
from frame_metrics.command.gates.one_sided import NOT_ALONE, Unpaired, far_fewer, in_one_log, unpaired
from frame_metrics.command.gates.outcomes import Outcome
from frame_metrics.command.saved import each_with_itself, has_column, single_tests, system_column
from frame_metrics.command.texts import column_with_flags, say
from frame_metrics.command.verb_options import FEW_RESAMPLES, options_of_verb
from frame_metrics.errors import BadValueError, FrameMetricsError

MIN_BEYOND = 50  # resamples beyond an interval's ends, 1,000 in all at .05
NOTE = "split_note"  # a column of messages
Checked: TypeAlias = tuple[pl.DataFrame, list[Outcome]]  # the result, and the outcomes of gates on it


def result_of(frames: Frames) -> Checked:
    """Call the verb, and return its result and the outcomes of gates."""
    gated = {"evaluate": _evaluate, "compare": _compare, "audit": _audit}
    if frames.call.name in ("change", "ab-test") and frames.call.has_gates:
        return _gated_arms(frames)
    return gated.get(frames.call.name, _called)(frames)


def _called(frames: Frames) -> Checked:
    """Call a verb, and return its result, and the outcomes of limits."""
    name, metrics = frames.call.name, frames.call.gated_metrics
    verb, one = getattr(frames.against(), name.replace("-", "_")), takes_one_metric(name)
    options = options_of_verb(frames) | ({"metric": metrics[0]} if one and metrics else {})
    with frames.baseline() as baseline:
        result = frames.collected(verb(*([] if one else metrics), **options, **baseline))
    if name == "agreement":
        _check_agreement(frames, result)
    return _with_notes(frames, result), _limits(frames, result)


def _limits(frames: Frames, result: pl.DataFrame) -> list[Outcome]:
    """Return the outcomes of limits of values."""
    least, most = (frames.call.set_options.get(name) or {} for name in LIMITS)
    return list(gates.limits(result, least, most))


def _with_notes(frames: Frames, result: pl.DataFrame) -> pl.DataFrame:
    """Return a result whose notes, if it has any, are in the words of the command line."""
    return column_with_flags(result, options_of(frames.call.name), NOTE) if NOTE in result.columns else result


def _check_agreement(frames: Frames, result: pl.DataFrame) -> None:
    """Raise if no document has two judgments, so that there is nothing to agree on."""
    if not result["n"].sum():
        who = frames.call.set_options.get("annotator")
        raise BadValueError(
            f"--annotator {who}: no document has judgments of two annotators; the column has who judged, in a row "
            f"per judgment. For two columns of judgments it is {PROGRAM} evaluate FILE kappa --label grade "
            f"--predicted {who} --no-query"
        )


def _evaluate(frames: Frames) -> Checked:
    options = options_of_verb(frames)
    return evaluated_with_gates(frames, options.pop("margin", None), options)


def evaluated_with_gates(frames: Frames, margin: Any, options: Mapping[str, Any]) -> Checked:
    """Evaluate the metrics that are asked for, and those of gates; return the result and the outcomes of gates."""
    metrics = frames.call.gated_metrics
    result = frames.collected(frames.irm.evaluate(*metrics, **options))
    return result, _limits(frames, result) + _against_before(frames, metrics, margin, result, options)


def _against_before(
    frames: Frames, metrics: list[str], margin: Any, result: pl.DataFrame, options: Mapping[str, Any]
) -> list[Outcome]:
    """Return the outcomes of a gate on the log of before, or on what was saved of it; none without one.

    ``options``: those of evaluate, whose ``result`` it is.
    """
    before, drop = frames.before, frames.call.set_options.get("max_drop")
    if before is None:
        return []
    of_queries = bool(frames.irm._plan.columns.query)
    limited = before.is_log and drop is not None and of_queries
    if not limited and (before.is_log or not before.saved.has_means):
        _check_average(frames, options.get("average"), of_queries=of_queries)
        return _against_saved(frames, metrics, margin, result)
    saved = before.means(_of_means(options)) if limited else before.saved
    with saved.errors_name_file():
        means = saved.means(drop, of_queries=of_queries)
        if "saved_system" in frames.call.set_options:  # with which every system is compared
            means = _of_each(means, str(saved.column), result)
        return list(gates.dropped_means(result, means, drop))


def _check_average(frames: Frames, average: Any, *, of_queries: bool) -> None:
    """Raise if averages are asked for that a comparison with what was before does not make."""
    compared = "weighted" if of_queries and frames.irm._plan.columns.weight else "macro"
    if average is None or compared in each(average):
        return
    worse = bool(frames.call.set_options.get("fail_if_worse_than"))
    gate = "--fail-if-worse-than" if worse else "--not-worse-than"
    limit = ", or pass --max-drop with the greatest loss of it and the log of before" * (of_queries and worse)
    problem = f"{gate} compares the {compared} mean, and not --average {' '.join(each(average))}"
    raise BadValueError(f"{problem}; leave out --average{limit}").offering({"average=": []})


def _of_each(means: pl.DataFrame, system: str, result: pl.DataFrame) -> pl.DataFrame:
    """Return the means of one system as those of each system of a result."""
    if system not in result.columns:
        return means.drop(system)
    systems = result.select(pl.col(system).unique(maintain_order=True))
    return systems.join(means.drop(system), how="cross")


def _of_means(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of evaluate without those of intervals, which limits of means do not read."""
    return {name: given for name, given in options.items() if name in ("average", "margins")}


def _against_saved(frames: Frames, metrics: list[str], margin: Any, result: pl.DataFrame) -> list[Outcome]:
    """Return the outcomes of a gate on saved numbers of queries: of segments, then of the totals that are printed.

    Of p-values, those of all segments are corrected together, and so are those of each kind of total.
    """
    set_options, by = frames.call.set_options, each(frames.call.roles.get("by"))
    options = {"over": "all"} if by and set_options.get("fail_if_worse_than") else {}
    options |= {} if margin is None else {"margin": margin}
    outcomes = _worse(frames, _at_level(frames, partial(_compared, frames, {}, metrics), options), metrics)
    for over in result["total_over"].unique(maintain_order=True).drop_nulls() if "total_over" in result.columns else ():
        total_over = over.split(", ")
        roles: dict[str, Any] = {"by": [name for name in by if name not in total_over] or None}
        total = result.filter(pl.col("total_over") == over)
        without = _without_segments(frames, frames.irm(**roles), metrics, total)
        if without is None:
            outcomes.append(gates.not_total(over))
            continue
        compared = _at_level(frames, partial(_compared, frames, roles, metrics, total_over), options)
        compared = compared.select(pl.lit(over).alias("total_over"), pl.all())
        outcomes += _worse(frames, compared, metrics, without)
    return outcomes


def _without_segments(frames: Frames, irm: Any, metrics: list[str], total: pl.DataFrame) -> pl.DataFrame | None:
    """Return what the log gives without segments; None if totals are another thing: a query is in several of them."""
    try:
        without = frames.collected(irm.evaluate(*metrics))
    except FrameMetricsError:  # its rows repeat a query, as they do not where segments tell them apart
        return None
    names = [name for name in without.columns if name in total.columns and name not in ("value", "n_unanswered")]
    both = without.join(total, on=names, suffix="_total", nulls_equal=True)
    gap = pl.col("value") - pl.col("value_total")
    same = len(both) == len(without) and both.filter(gap.abs() > gates.CLOSE).is_empty()
    return without if same else None


def _compare(frames: Frames) -> Checked:
    options, metrics, set_options = options_of_verb(frames), frames.call.metrics, frames.call.set_options
    result = _compared(frames, {}, metrics, **options)
    if not (set_options.get("fail_if_worse_than") or set_options.get("not_worse_than")):
        return result, []
    return result, _worse(frames, _at_level(frames, partial(_compared, frames, {}, metrics), options), metrics)


def _gated_arms(frames: Frames) -> Checked:
    """Compare arms, or periods, as a gate reads them: each segment by itself, and then the total."""
    by, options = each(frames.call.roles.get("by")), options_of_verb(frames)
    if by and not _are_arms(frames):
        raise BadValueError(
            "--by: a gate on each segment reads the log of before, and not numbers that were saved of it; pass --no-by"
        ).offering({"by=": []})
    several = by or "system" in frames.call.roles
    options = ({"over": "all"} if several else {}) | options
    parts = [_at_level(frames, partial(_of_periods, frames), options)]
    if by:
        total = _at_level(frames, partial(_of_periods, frames, by=None), options)
        parts.append(total.with_columns(pl.lit(", ".join(by)).alias("total_over")))
        result = pl.concat(parts, how="diagonal_relaxed")
        parts = [result.select(*by, "total_over", pl.all().exclude(*by, "total_over"))]
    return _with_notes(frames, parts[0]), _worse(frames, parts[0], frames.call.metrics)


def _of_periods(frames: Frames, **options: Any) -> pl.DataFrame:
    """Compare a log with that of before, or with its saved numbers, each over its own queries or rows.

    ``options``: of the verb, and ``by`` in the place of that of the call.
    """
    irm = frames.against(**{name: options.pop(name) for name in ("by",) if name in options})
    with frames.baseline() as baseline:  # which only change takes as numbers
        verb = irm.ab_test if _are_arms(frames) else irm.change
        return frames.collected(verb(*frames.call.metrics, **options, **baseline))


def _are_arms(frames: Frames) -> bool:
    """Return True if what is compared are rows of two logs, or arms of one, and no saved numbers."""
    return frames.joins_logs or bool(frames.call.gate_on_arm)


def _at_level(frames: Frames, compare: Callable[..., Any], options: Mapping[str, Any]) -> pl.DataFrame:
    """Compare with intervals at the level of a gate that reads them, for a loss beyond a margin.

    Those of a family hold together, but for other corrections: single ones are at the level of one of so many tests.
    """
    compared: Any = compare(**options)
    if "margin" not in options or not frames.call.set_options.get("fail_if_worse_than"):
        return compared
    alpha, single = frames.call.set_options.get("alpha", gates.ALPHA), ~pl.col("correction").is_in(("max_t", "none"))
    n_tests = compared.filter(single)["n_tests"].max() or 1
    level = {"ci": 1 - alpha / n_tests, "resamples": ceil(MIN_BEYOND * n_tests / alpha)}
    return compare(**{**options, **level})


def _compared(
    frames: Frames, roles: Mapping[str, Any], metrics: list[str], total_over: Sequence[str] = (), **options: Any
) -> Any:
    """Compare systems with each other, or with what was before; if that has several systems, each with its own.

    Parameters
    ----------
    roles : in the place of those of the call.
    total_over : the columns of segments that totals are over, which saved numbers may have.
    """
    saved, system = frames.saved, frames.call.roles.get("system")
    if saved is not None and len(saved.systems) > 1 and has_column(frames.call.roles, saved.column):
        saved = replace(saved, rows=saved.rows.drop(total_over, strict=False))
        with saved.errors_name_file():
            return each_with_itself(frames.irm(**roles) if roles else frames.irm, metrics, saved, options)
    if frames.before is not None and frames.joins_logs and _limits_means(frames):
        arms = frames.before.both("arm", **roles)
        return frames.collected(arms.ab_test(*metrics, baseline=frames.before.name, resamples=FEW_RESAMPLES))
    with frames.baseline(total_over) as baseline:
        irm = frames.against(**roles)
        if not (frames.joins_logs and isinstance(system, str)) or options.get("per_query"):
            return frames.collected(irm.compare(*metrics, **options, **baseline))
        from frame_metrics.verbs.compare.differences import corrected_over  # as in ``each_with_itself``

        alone = single_tests(options)
        return corrected_over(frames.collected(irm.compare(*metrics, **alone, **baseline)), (system, FILE), options)


def _limits_means(frames: Frames) -> bool:
    """Return True for a gate of evaluate on means, of which no test is made."""
    return "max_drop" in frames.call.set_options and frames.call.name != "compare"


def _worse(
    frames: Frames, compared: pl.DataFrame, metrics: Sequence[str], evaluated: pl.DataFrame | None = None
) -> list[Outcome]:
    """Return the outcomes of gates on a log of before, or on saved numbers; they take account of what is not in both.

    ``evaluated``: the means of the log, if they are known; else they are computed where a query has no saved number.
    """
    unpaired, some = _unpaired(frames, compared, metrics, evaluated), _others(frames, compared)
    one_file = frames.joins_logs and compared[FILE].n_unique() < 2  # which nobody takes for another
    compared = compared.drop(FILE) if one_file else compared
    compared, unpaired = compared.filter(some), [*compress(unpaired, some)]
    set_options = frames.call.set_options
    alpha, margin = set_options.get("alpha", gates.ALPHA), set_options.get("margin")
    if set_options.get("not_worse_than"):
        return list(gates.not_worse(compared, alpha, unpaired, margin))
    if "max_drop" in set_options:
        return list(gates.dropped(compared, set_options["max_drop"], unpaired))
    from frame_metrics.verbs.compare.options import CompareOptions  # which takes a while, and other gates do without

    least_p = 1 / (set_options.get("permutations", CompareOptions.permutations) + 1)
    return list(gates.worse(compared, alpha, unpaired, margin, least_p))


def _unpaired(
    frames: Frames, compared: pl.DataFrame, metrics: Sequence[str], evaluated: pl.DataFrame | None
) -> list[Unpaired]:
    """Return words for what each row of a comparison leaves out, or counts as 0, as it is on one side alone."""
    if "baseline_n" in compared.columns and frames.call.gate_on_arm:  # arms may have other shares
        return [NOT_ALONE] * len(compared)
    if "baseline_n" in compared.columns:  # other rows, or queries, than before: fewer may be all that there are
        same = frames.call.name != "change"
        return [far_fewer(row["n"], row["baseline_n"], are_too_few=same) for row in compared.iter_rows(named=True)]
    if _are_arms(frames):
        sides = "logs" if frames.joins_logs else "systems"
        return [in_one_log(row, sides) for row in compared.iter_rows(named=True)]
    if "n_unpaired" not in compared.columns:
        return [NOT_ALONE] * len(compared)
    if compared.is_empty() or not (compared["n_unpaired"] > 0).any():
        evaluated = pl.DataFrame()
    elif evaluated is None:
        evaluated = frames.collected(frames.irm.evaluate(*metrics))
    if frames.call.roles.get("unanswered") == "drop":  # they are left out
        evaluated = evaluated.drop("n_unanswered", strict=False)
    return [unpaired(row, evaluated) for row in compared.iter_rows(named=True)]


def _others(frames: Frames, compared: pl.DataFrame) -> pl.Series:
    """Return False for the system whose own saved numbers it is compared with, if there are others: it cannot lose."""
    own, column = frames.call.set_options.get("saved_system"), system_column(frames.call.roles)
    if own is None or column not in compared.columns:
        return pl.Series([True] * len(compared), dtype=pl.Boolean)
    others = compared[column].cast(pl.String) != own
    return others if others.any() else ~others


def _audit(frames: Frames) -> Checked:
    fail_on = frames.call.set_options.get("fail_on")
    with frames.baseline() as baseline:
        options = options_of_verb(frames) | ({} if frames.joins_logs else baseline)
        result = frames.collected(frames.against().audit(**options))
    result = column_with_flags(result, options_of(frames.call.name))
    if fail_on is None and "error" in result["severity"]:
        first = result.filter(severity="error")["message"][0]
        say(f"a finding is an error, and the exit code is 0: pass --fail-on error to fail\n{first}")
    return result, [] if fail_on is None else list(grave(result, fail_on))
