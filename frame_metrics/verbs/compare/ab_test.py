"""The verbs ab_test and change: differences between arms that were assigned at random, and between periods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from frame_metrics.answer import Answer
from frame_metrics.errors import check_apart
from frame_metrics.measuring.baseline import plan_of
from frame_metrics.measuring.measured import measured_of, planned
from frame_metrics.metrics.names import Metrics
from frame_metrics.plan.needs import MEANS
from frame_metrics.plan.plan import Plan
from frame_metrics.plan.source import Source, answer_of
from frame_metrics.verbs.compare.arm_rows import arm_rows_compared
from frame_metrics.verbs.compare.arms import arms_compared, with_covariate
from frame_metrics.verbs.compare.differences import columns_of, schema_of
from frame_metrics.verbs.compare.options import TESTS, ArmOptions, ChangeOptions, check_compared, kind_of
from frame_metrics.verbs.compare.strata import with_strata


def ab_test(irm: Plan, metrics: Sequence[Metrics], options: ArmOptions | ChangeOptions) -> Any:
    """Implement ``irm.ab_test`` and ``irm.change``, whose docstrings have the parameters."""
    plan, asked = planned(irm, metrics, MEANS)
    options = replace(options, of=kind_of(plan, arms=True))
    check_compared(options.of, plan, asked or (), options)
    plan = with_covariate(plan, options.covariate)
    check_apart(plan.columns.keys, ("baseline", "metric", "k", *columns_of(options)))
    schema, plan = schema_of(plan.columns, options), with_strata(plan, options.strata)
    of_queries = options.of == "arms"
    saved = plan_of(options.baseline, plan.but(columns=plan.columns.without_arm()), asked) if options.saved else None
    if of_queries and options.looks is None:
        options = replace(options, test=options.test or next(iter(TESTS[options.of])))

    def compute(source: Source) -> Answer:
        if not of_queries:
            return arm_rows_compared(source, asked or (), options)
        return arms_compared(measured_of(source, asked), options, saved)

    return answer_of(plan, compute, schema, in_pieces=not irm.of_values)
