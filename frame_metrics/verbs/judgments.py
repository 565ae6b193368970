"""The verb judgments: a grade for each query and document from what users clicked, by closed forms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.errors import BadValueError, ColumnError, check_choice, check_whole, shown
from frame_metrics.measuring.impressions import ARM, CHANCE, CLICKED, EXAMINED, LAST, RANK, ROW, plan_of, rows_of
from frame_metrics.metrics.parameters import is_number
from frame_metrics.plan.needs import RANKED, WEIGHS
from frame_metrics.plan.plan import Plan
from frame_metrics.plan.source import Source, answer_of

EXPOSED = "\0exposed"  # what clicks are counted against
Model = Literal["ctr", "coec", "sdbn"]
RESULT = {"grade": pl.Float64, "impressions": pl.Int64, "clicks": pl.Int64}


def judgments(irm: Plan, model: str, *, of: str | Sequence[str] | None, smoothing: float, min_impressions: int) -> Any:
    """Answer ``irm.judgments``, which has the parameters."""
    check_choice("model", model, get_args(Model))
    check_whole("min_impressions", min_impressions, 1)
    if not is_number(smoothing) or not 0 <= smoothing < np.inf:
        raise BadValueError(f"smoothing={shown(smoothing)} is not a number from 0")
    plan = plan_of(irm.asking(RANKED | WEIGHS), "judgments", of, RESULT)
    columns, weighed = plan.columns, plan.conventions
    if weighed.propensity is not None and (model != "ctr" or weighed.target_propensity is not None or weighed.clip):
        raise ColumnError(
            f"judgments({model!r}): propensity= alone, and model='ctr', count clicks against the chances that results "
            "were looked at; say propensity=None, target_propensity=None and clip=None for the rest"
        )
    queries = columns.of or columns.query
    keys = (*columns.by, *queries, str(columns.doc))

    def compute(source: Source) -> Answer:
        log, rows = rows_of(source)
        each = _graded(rows, model, keys, columns.by, smoothing)
        if columns.of in ((), columns.query) and each["impressions"].max() == 1:
            raise ColumnError(
                f"{', '.join(columns.query)}: no document stands twice in one query, so that no rate can be "
                "counted; if each value is one impression, name the column of what was searched with of="
            )
        rare = pl.col("impressions") < min_impressions
        each = each.with_columns(grade=pl.when(~rare).then("grade"))
        each = each.with_columns(pl.min(ROW).over(*columns.by, *queries).alias(ARM))
        each = each.sort(*columns.by, ARM, ROW, nulls_last=True)
        at = log.rows(each[ROW].to_numpy().astype(np.int64))
        return Answer(dict.fromkeys(keys, at), {name: each[name].cast(kind) for name, kind in RESULT.items()})

    return answer_of(plan, compute, lambda types: {key: types[key] for key in keys} | RESULT)


def _graded(rows: pl.DataFrame, model: str, keys: Sequence[str], by: Sequence[str], smoothing: float) -> pl.DataFrame:
    """Return a row for each query and document of a segment, with its grade, impressions, clicks and first row."""
    exposed = {
        "ctr": pl.col(CHANCE) if CHANCE in rows.columns else pl.lit(1.0),
        "coec": pl.col(CLICKED).mean().over(ARM, RANK),
        "sdbn": pl.col(EXAMINED).cast(pl.Float64),
    }[model]
    sums = [pl.len().alias("impressions"), pl.sum(CLICKED).alias("clicks"), pl.sum(LAST, EXPOSED)]
    each = rows.with_columns(exposed.alias(EXPOSED)).group_by(*keys, maintain_order=True).agg(*sums, pl.min(ROW))

    def rate(some: str, whole: str) -> pl.Expr:
        mean = pl.sum(some) / pl.sum(whole)
        more = smoothing * (mean.over(*by) if by else mean) if smoothing else 0.0
        return (pl.col(some) + more) / (pl.col(whole) + smoothing)

    grade = rate("clicks", EXPOSED)
    if model == "sdbn":  # where nothing was clicked, nothing is known of satisfaction, and nothing is needed
        grade = grade * rate(LAST, "clicks").fill_nan(0.0)
    return each.with_columns(grade=pl.when(pl.col(EXPOSED) > 0).then(grade))
