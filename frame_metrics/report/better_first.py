"""The two sides of a difference: where no baseline is named, the better system comes first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

SIGNED = ("difference", "effect_size", "proxy_difference")
RATIOS = {"relative_low": "relative_high", "relative_high": "relative_low"}  # ends of ratios, and the other ends


def better_first(frame: pl.DataFrame, system: str, places: Mapping[Any, int]) -> pl.DataFrame:
    """Return differences with the sides of some pairs exchanged, so that no baseline is better than its system.

    Parameters
    ----------
    frame : the result of a comparison of systems, or its differences query by query.
    system : the column of systems.
    places : the place of each system, the best first.
    """
    last = len(places)
    sides = ([places.get(one, last) for one in frame[name]] for name in (system, "baseline"))
    turns = pl.Series([ours > theirs for ours, theirs in zip(*sides, strict=True)], dtype=pl.Boolean)
    turned = _turned(frame.columns, system)
    return frame.with_columns(pl.when(turns).then(of).otherwise(name).alias(name) for name, of in turned.items())


def _turned(columns: list[str], system: str) -> dict[str, pl.Expr]:
    """Return what the columns of a pair hold for the same pair the other way round; the others stay."""
    pairs = [(system, "baseline"), ("wins", "losses"), *((name, f"baseline_{name}") for name in columns)]
    found = {name: pl.col(other) for pair in pairs if {*pair} <= {*columns} for name, other in (pair, pair[::-1])}
    found |= {name: 0 - pl.col(name) for name in SIGNED}
    found |= {"ci_low": 0 - pl.col("ci_high"), "ci_high": 0 - pl.col("ci_low")}
    base = pl.col("value").abs()
    found["relative"] = pl.when(base > 0).then((pl.col("baseline_value") - pl.col("value")) / base)
    sign = pl.col("value").sign()  # ends are there if both means have the same sign, and are relative to its size
    for name, other in RATIOS.items():
        ratio = 1 + sign * pl.col(other)
        found[name] = pl.when(ratio > 0).then((1 / ratio - 1) * sign)
    return {name: of for name, of in found.items() if name in columns}
