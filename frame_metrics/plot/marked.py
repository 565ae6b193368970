"""Thresholds that were chosen, and shares of relevant rows, for each line of a picture."""

from __future__ import annotations

from typing import Any

import polars as pl

from frame_metrics.border.frames import border_of
from frame_metrics.errors import BadValueError, ColumnError, listed, shown
from frame_metrics.metrics.parameters import is_number
from frame_metrics.plot.tidy import Tidy, read_tidy

TABLE = ("tp", "fp", "fn", "tn")


def with_threshold(tidy: Tidy, threshold: Any) -> Tidy:
    """Add the threshold that was chosen for each line as a column "chosen", null where there is none.

    Parameters
    ----------
    threshold : a number for all lines, what ``best_threshold`` returned of the same data, or None.
    """
    return tidy.with_columns(chosen=_for_each(tidy, threshold, "threshold", ("threshold",), pl.col("threshold")))


def with_prevalence(tidy: Tidy, prevalence: Any) -> Tidy:
    """Add the share of relevant rows for each line as a column "prevalence", null where nothing says it.

    Parameters
    ----------
    prevalence : a number for all lines, a frame with tables of the same data, as ``best_threshold`` returns, or None.
    """
    share = (pl.col("tp") + pl.col("fn")) / pl.sum_horizontal(TABLE)
    return tidy.with_columns(prevalence=_for_each(tidy, prevalence, "prevalence", TABLE, share))


def _for_each(tidy: Tidy, given: Any, option: str, needs: tuple[str, ...], value: pl.Expr) -> pl.Series:
    """A number for each row, that of its line."""
    if given is None or is_number(given):
        return pl.Series([None if given is None else float(given)] * len(tidy.table), dtype=pl.Float64)
    if isinstance(given, str | bool | list | tuple | dict):
        raise BadValueError(f"{option}={shown(given)} is not a number, or a frame that best_threshold() returned")
    color, facet = (() if key is None else key.columns for key in (tidy.color, tidy.facet))
    there = border_of(given).names()
    lacking = [name for name in (*color, *facet) if name not in there]
    if lacking:
        raise ColumnError(f"{option}: the frame has no column {listed(lacking)}, which tells lines apart here")
    others = [name for name in there if name not in (*needs, *color, *facet)]
    said = f"{option}= is a number, or what best_threshold() returns"
    read = read_tidy(given, said, needs, ignored=others, color=color, facet=facet)
    table = read.table.select(*tidy.series, value.fill_nan(None).alias("own"))
    if not tidy.series and len(table) != 1:
        raise BadValueError(f"{option}: the frame has {len(table)} rows, and there is one line")
    if tidy.series and table.select(tidy.series).is_duplicated().any():
        raise BadValueError(f"{option}: the frame has several rows for a line")
    how = {"on": tidy.series, "how": "left", "maintain_order": "left"} if tidy.series else {"how": "cross"}
    return tidy.table.join(table, **how)["own"]
