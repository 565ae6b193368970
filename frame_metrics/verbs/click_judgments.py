"""The verb click_judgments: a grade for each query and document from clicks, by click models with closed forms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.errors import BadValueError, ColumnError, check_choice, check_whole, quote
from frame_metrics.hidden import EXPOSED
from frame_metrics.measuring.impressions import (
    ARM,
    CHANCE,
    CLICKED,
    EXAMINED,
    LAST,
    RANK,
    ROW,
    SHOWN,
    SUMMED,
    check_unclicked,
    impression_results,
    impressions_call,
)
from frame_metrics.metrics.parameters import is_number, plain
from frame_metrics.plan.call import bind
from frame_metrics.plan.declared import CLICK_JUDGMENTS
from frame_metrics.plan.needs import RANKED, Needs
from frame_metrics.plan.plan import Plan
from frame_metrics.plan.source import Source, answer_of

ClickModel = Literal["ctr", "coec", "sdbn"]
RESULT = {"grade": pl.Float64, "impressions": pl.Int64, "clicks": pl.Int64}


def click_judgments(
    plan: Plan, model: str, *, query_text: str | Sequence[str] | None, smoothing: float, min_impressions: int
) -> Any:
    """Implement ``irm.click_judgments``, whose docstring has the parameters."""
    check_choice("model", model, get_args(ClickModel))
    check_whole("min_impressions", min_impressions, 1)
    smoothing = plain(smoothing)
    if not is_number(smoothing) or not 0 <= smoothing < np.inf:
        raise BadValueError(f"smoothing={quote(smoothing)} is not a number from 0")
    call = impressions_call(bind(plan, RANKED | Needs(verb=CLICK_JUDGMENTS)), "click_judgments", query_text, RESULT)
    columns, weighed = call.columns, call.conventions
    if weighed.propensity is not None and (model != "ctr" or weighed.target_propensity is not None or weighed.clip):
        raise ColumnError(
            f"click_judgments({model!r}): only model='ctr' takes propensity=, and neither target_propensity= nor "
            "clip=; pass None for what is too much"
        )
    queries = columns.query_text or columns.query
    keys = (*columns.by, *queries, str(columns.doc))
    per_system = replace(call, columns=columns.as_segments())  # each system has impressions of its own

    def compute(source: Source) -> Answer:
        rows, at_rows, table = impression_results(source, keys)
        check_unclicked(rows, columns)
        each = _graded(rows, model, keys, columns.by, smoothing)
        if columns.query_text in ((), columns.query) and each["impressions"].max() == 1:
            raise ColumnError(
                f"{', '.join(columns.query)}: no document occurs twice in one query, so that no rate can be "
                "counted; if each value is one impression, pass the column of the search text as query_text="
            )
        each = each.with_columns(grade=pl.when(pl.col("impressions") >= min_impressions).then("grade"))
        each = each.with_columns(pl.min(ROW).over(*columns.by, *queries).alias(ARM))
        each = each.sort(*columns.by, ARM, ROW, nulls_last=True)
        at = each[ROW].to_numpy().astype(np.int64)
        counts = {name: each[name].cast(kind) for name, kind in RESULT.items()}
        return Answer(dict.fromkeys(keys, at_rows(at)), counts, table=table)

    return answer_of(per_system, compute, lambda _: RESULT, keys=keys)


def _graded(rows: pl.DataFrame, model: str, keys: Sequence[str], by: Sequence[str], smoothing: float) -> pl.DataFrame:
    """Compute the grades: a row for each query and document of a segment, with impressions, clicks and first row.

    What is expected is summed in ascending order, so that no order of the rows changes a digit.
    """
    if model == "coec":  # whose impressions at a rank have one number
        rows = rows.group_by(*keys, ARM, RANK, maintain_order=True).agg(pl.sum(*SUMMED), pl.min(ROW))
    exposed = {
        "ctr": pl.col(CHANCE) if CHANCE in rows.columns else pl.col(SHOWN).cast(pl.Float64),
        "coec": pl.col(SHOWN) * (pl.sum(CLICKED) / pl.sum(SHOWN)).over(ARM, RANK),
        "sdbn": pl.col(EXAMINED).cast(pl.Float64),
    }[model]
    sums = [pl.sum(SHOWN).alias("impressions"), pl.sum(CLICKED).alias("clicks"), pl.sum(LAST)]
    sums.append(pl.col(EXPOSED).sort().sum())
    each = rows.with_columns(exposed.alias(EXPOSED)).group_by(*keys, maintain_order=True).agg(*sums, pl.min(ROW))

    def rate(some: str, whole: str) -> pl.Expr:
        mean = pl.sum(some) / pl.col(whole).sort().sum()
        more = smoothing * (mean.over(*by) if by else mean) if smoothing else 0.0
        return (pl.col(some) + more) / (pl.col(whole) + smoothing)

    grade = rate("clicks", EXPOSED)
    if model == "sdbn":  # a document without a click has the attractiveness 0, whatever its unknown satisfaction
        grade = grade * rate(LAST, "clicks").fill_nan(0.0)
    return each.with_columns(grade=pl.when(pl.col(EXPOSED) > 0).then(grade))
