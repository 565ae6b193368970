"""The verb per_query: metrics of every judged query."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, get_args

from frame_metrics.answer import Answer
from frame_metrics.errors import check_choice
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import read
from frame_metrics.roles.needs import Needs
from frame_metrics.verbs.evaluate import Layout
from frame_metrics.verbs.measure import check_asked, measure
from frame_metrics.verbs.request import Reading, Request, check_wide
from frame_metrics.verbs.tidy import each_query, schema


def per_query(request: Request, metrics: Sequence[str | Metric], *, layout: Layout) -> Any:
    """Answer ``irm.per_query``, which has the parameters."""
    check_choice("layout", layout, get_args(Layout))
    asked = read(metrics)
    plan = request.plan(request.needs(asked) | Needs(query=True))
    check_asked(asked, plan)
    check_wide(asked, plan.columns, layout)

    def compute(rows: Reading) -> Answer:
        return each_query(measure(rows.log(), asked), layout)

    return plan.answer(compute, partial(schema, asked, plan.columns.keys, layout=layout, each_query=True))
