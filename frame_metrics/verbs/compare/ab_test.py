"""The verbs ab_test and change: differences between arms that were assigned at random, and between periods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from frame_metrics.answer import Answer
from frame_metrics.errors import check_key_names
from frame_metrics.measuring.baseline import saved_call
from frame_metrics.measuring.values_of_source import planned, values_of_source
from frame_metrics.metrics.names import Metrics
from frame_metrics.plan.compared import TESTS
from frame_metrics.plan.declared import VERBS
from frame_metrics.plan.needs import Needs
from frame_metrics.plan.plan import Plan
from frame_metrics.plan.source import Source, answer_of
from frame_metrics.verbs.compare.arm_rows import arm_rows_compared
from frame_metrics.verbs.compare.arms import arms_compared, with_covariate
from frame_metrics.verbs.compare.differences import columns_of, keys_of_pairs, schema_of
from frame_metrics.verbs.compare.mix import OF_PARTS, TOTAL_AND_METRIC, changes_by_part, schema_of_parts
from frame_metrics.verbs.compare.options import ArmOptions, ChangeOptions, check_compared, kind_of_comparison
from frame_metrics.verbs.compare.strata import with_strata


def ab_test(plan: Plan, metrics: Sequence[Metrics], options: ArmOptions | ChangeOptions) -> Any:
    """Implement ``irm.ab_test`` and ``irm.change``, whose docstrings have the parameters."""
    call, asked = planned(plan, metrics, Needs(verb=VERBS[options.verb]))
    options = replace(options, kind=kind_of_comparison(call, arms=True))
    if isinstance(options, ChangeOptions) and call.columns.segments:
        options = replace(options, by=call.columns.segments)
    check_compared(options.kind, call, asked or (), options)
    # The columns that are read, of the covariate and strata too, and those of the result.
    available = call.plan.available
    columns = with_covariate(call.columns, available, options.covariate)
    by_part = isinstance(options, ChangeOptions) and bool(options.by)
    parts = ("baseline", *TOTAL_AND_METRIC, *OF_PARTS)
    check_key_names(columns.keys, parts if by_part else (*keys_of_pairs(options), *columns_of(options)))
    schema = schema_of_parts(columns, saved=options.saved) if by_part else schema_of(columns, options, call=call)
    call = replace(call, columns=with_strata(columns, available, options.strata))
    # Saved numbers are those of another arm, so their columns are read as those of one arm.
    of_queries = options.kind == "arms"
    of_one_arm = replace(call, columns=call.columns.without_arm())
    saved = saved_call(options.baseline, of_one_arm, asked) if options.saved else None
    if of_queries and options.looks is None:
        options = replace(options, test=options.test or next(iter(TESTS[options.kind])))

    def compute(source: Source) -> Answer:
        if not of_queries:
            return arm_rows_compared(source, asked or (), options)
        if isinstance(options, ChangeOptions) and options.by:
            return changes_by_part(values_of_source(source, asked), options, saved)
        return arms_compared(values_of_source(source, asked), options, saved)

    return answer_of(call, compute, schema)
