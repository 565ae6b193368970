"""The verb evaluate: metrics averaged over queries, or of pooled rows, for each system and segment."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal, get_args

from frame_metrics.answer import Answer
from frame_metrics.errors import BadValueError, ColumnError, check_choice, check_level, check_whole
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import read
from frame_metrics.verbs import pooled
from frame_metrics.verbs.measure import check_asked, measure
from frame_metrics.verbs.request import Reading, Request, check_wide
from frame_metrics.verbs.tidy import averaged, schema

Average = Literal["macro", "weighted", "micro", "gmean", "predicted"]
Layout = Literal["long", "wide"]


def evaluate(
    request: Request,
    metrics: Sequence[str | Metric],
    *,
    average: Average,
    ci: float | None,
    margins: bool,
    layout: Layout,
    resamples: int,
    seed: int,
) -> Any:
    """Answer ``irm.evaluate``, which has the parameters."""
    check_choice("average", average, get_args(Average))
    check_choice("layout", layout, get_args(Layout))
    if ci is not None:
        check_level(ci)
    check_whole("resamples", resamples, 1)
    check_whole("seed", seed, 0)
    asked = read(metrics)
    plan = request.plan(request.needs(asked))
    if plan.columns.query:
        check_asked(asked, plan, average)
    else:
        pooled.check_pooled(asked, average, ci=ci is not None)
    if not isinstance(margins, bool):
        raise BadValueError(f"margins={margins!r} is not True or False")
    if margins and not plan.columns.by:
        raise ColumnError("margins=True adds the totals over segments; name the segments with by=")
    check_wide(asked, plan.columns, layout, ci is not None)
    given: Any = {"margins": margins, "ci": ci, "resamples": resamples, "seed": seed, "layout": layout}

    def compute(rows: Reading) -> Answer:
        if not plan.columns.query:
            return pooled.evaluated(rows.cases(), asked, average, **given)
        found = measure(rows.log(queries=False), asked, average)
        return averaged(found, average, **given)

    columns = partial(schema, asked, plan.columns.groups, layout=layout, ci=ci is not None, margins=margins)
    return plan.answer(compute, columns)
