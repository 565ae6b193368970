"""Times as they were logged, of one query each: no course is told of them, and the offered day of each is taken."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pandas as pd
import polars as pl
import pytest

from frame_metrics import IRM
from helpers import as_polars

N = 400
BEGIN, STEP = datetime(2026, 9, 1), timedelta(hours=2, minutes=7, seconds=11)
VALUES = [float((at % 10 < 8) if at < N // 2 else (at % 10 < 4)) for at in range(N)]
LOG = pl.DataFrame(
    {"search": range(N), "ts": [BEGIN + at * STEP for at in range(N)], "found": VALUES, "device": ["a", "b"] * (N // 2)}
)
TEXTS = LOG.with_columns(pl.col("ts").dt.to_string("%Y-%m-%d %H:%M:%S"))
WHY = "No trend, break or outage is looked for: ts has {} times of day for {} queries; group them by day, as by="


def said(irm: Any) -> pl.DataFrame:
    return as_polars(irm.summary())


@pytest.mark.parametrize("by", ["ts", ["ts", "device"]])
@pytest.mark.parametrize("texts", [False, True])
@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_single_times_are_to_be_grouped_by_day(kind: str, texts: bool, by: Any) -> None:
    """No minute is called the begin of a change; by the day that the sentence offers, the change is found."""
    frame: Any = TEXTS if texts else LOG
    frame = frame if kind == "polars" else pd.DataFrame(frame.to_dict(as_series=False))
    irm = IRM(frame, query="search", value="found", by=by)
    found = said(irm)
    assert not {"trend", "break", "trend or break", "outage"} & {*found["kind"]}
    (way,) = [one for one in found["sentence"] if one.startswith(WHY.format(N, N))]
    code = way.partition(", as by=")[2].removesuffix(".")
    told = said(irm(by=eval(code, {"pl": pl})))
    assert any(" fell by 0.4" in one or " fell by 0.398 at or near 2026-09-19" in one for one in told["sentence"])


def test_hours_of_many_queries_are_looked_at() -> None:
    """They are periods like any others; other frames get no code."""
    hours = LOG.with_columns(ts=BEGIN + pl.duration(hours=pl.col("search") // 10))
    assert not any("times of day" in one for one in said(hours.irm(query="search", value="found", by="ts"))["sentence"])
    arrow = IRM(LOG.to_arrow(), query="search", value="found", by="ts")
    assert any(one.endswith("group them by day.") for one in said(arrow)["sentence"])
