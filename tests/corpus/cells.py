"""Values of results as they stand in files."""

from __future__ import annotations

import math
from datetime import date, datetime, timedelta
from typing import Any

import polars as pl

SMALL = 1e-12  # what is smaller is rounding of 0


def cell(value: Any) -> Any:
    """Return a value as JSON holds it: numbers to twelve digits, others as text."""
    if isinstance(value, float):
        if not math.isfinite(value):
            return str(value)
        return 0.0 if abs(value) < SMALL else float(f"{value:.12g}")
    if isinstance(value, list | tuple | pl.Series):
        return [cell(one) for one in value]
    if isinstance(value, dict):
        return {name: cell(one) for name, one in value.items()}
    if isinstance(value, date | datetime | timedelta):
        return str(value)
    return value
