"""Lines of the simulation about rows with hardly a mistake, rows of arms, and two systems on weighted queries.

All trials of a line are segments of one call, as those of few units.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
from simulate_few import AGREE as AGAIN
from simulate_few import GIVEN, bell, ends_of, log_of, skewed, success, wanted
from trials import Line, agree

from frame_metrics.stats.significance import errors_away, spread_of_pairs

# Shares of true and false positives, false and true negatives.
TABLES = {".95 right": (0.38, 0.025, 0.025, 0.57), ".98 right": (0.392, 0.01, 0.01, 0.588)}
OF_ROWS = ("f2", "fbeta(beta=0.5)", "mcc", "kappa")
ROWS = (10, 20, 50)
HELD = "interval holds the truth, or is null"
IS_NULL = "interval is null"
OF_ARMS = ((20, 20), (10, 50))
ARMS = ("accuracy", "f1", "mcc")
RIGHT = (0.32, 0.12, 0.08, 0.48)
QUERIES = (20, 50)
SAME = 0.5  # how often both systems have the same success
SHAPES = {
    "bell": lambda rng, shape: bell(rng, shape) - bell(rng, shape),
    "success": lambda rng, shape: np.where(
        rng.random(shape) < SAME, 0, success(0.5)(rng, shape) - success(0.5)(rng, shape)
    ),
    "skewed": lambda rng, shape: skewed(rng, shape) - np.exp(0.5),
}


def truths(tp: float, fp: float, fn: float, tn: float) -> Any:
    """Return the measures of a table, in the order of ``OF_ROWS``."""
    both = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    by_chance = (tp + fp) * (tp + fn) + (tn + fp) * (tn + fn)
    f = [(1 + b) * tp / ((1 + b) * tp + b * fn + fp) for b in (4, 0.25)]
    return np.array([*f, (tp * tn - fp * fn) / both**0.5, (tp + tn - by_chance) / (1 - by_chance)])


def rows_of(rng: Any, trials: int, n: int, shares: Any, clusters: int = 0) -> pl.DataFrame:
    """Draw tables of ``n`` rows with both classes; ``clusters``: as many rows are in one user."""
    cell = rng.choice(4, (trials, n), p=shares)
    cell[:, 0], cell[:, 1] = (
        rng.choice([0, 2], trials, p=_part(shares, 0, 2)),
        rng.choice([1, 3], trials, p=_part(shares, 1, 3)),
    )
    at = {"trial": np.repeat(np.arange(trials), n), "user": np.tile(np.arange(n) // max(clusters, 1), trials)}
    label, said = np.isin(cell, (0, 2)), np.isin(cell, (0, 1))
    return pl.DataFrame(at | {"label": label.ravel() * 1, "predicted": said.ravel() * 1})


def _part(shares: Any, one: int, other: int) -> list[float]:
    both = shares[one] + shares[other]
    return [shares[one] / both, shares[other] / both]


def tables(trials: int) -> Iterator[Line]:
    """Yield the lines of measures of pooled rows that are no shares, of rows with hardly a mistake."""
    for at, (kind, shares) in enumerate(TABLES.items()):
        for n in ROWS:
            rows = rows_of(np.random.default_rng([161, at, n]), trials, n, shares)
            ends = ends_of(rows, {}, *OF_ROWS)
            for name, own, true in zip(OF_ROWS, ends.transpose(1, 0, 2), truths(*shares), strict=True):
                held = ((own[:, 0] <= true + 1e-12) & (true - 1e-12 <= own[:, 1])).sum()
                yield Line(HELD, f"{name}, {n} rows, {kind}", trials, int(held), wanted(n))
                null = int(np.isinf(own).all(axis=1).sum())
                yield Line(IS_NULL, f"{name}, {n} rows, {kind}", trials, null, None)


def of_arms(trials: int) -> Iterator[Line]:
    """Yield the lines of rows of two arms that do not differ."""
    for at, sizes in enumerate(OF_ARMS):
        rng = np.random.default_rng([162, at])
        log = pl.concat(
            rows_of(rng, trials, n, RIGHT).with_columns(arm=pl.lit(arm)) for n, arm in zip(sizes, "ab", strict=True)
        )
        found = _arms(log)
        agree(_arms(log.filter(pl.col("trial") < AGAIN)), found[:AGAIN], "intervals of some arms of rows")
        for name, own in zip(ARMS, found.transpose(1, 0, 2), strict=True):
            held = int(((own[:, 0] <= 0) & (own[:, 1] >= 0)).sum())
            setting = f"{name}, {sizes[0]} and {sizes[1]} rows of two arms"
            yield Line("interval holds the difference", setting, trials, held, wanted(min(sizes)))


def _arms(log: pl.DataFrame) -> Any:
    found = log.irm(by="trial", arm="arm", query=None, doc=None).ab_test(*ARMS, resamples=1000, seed=0)
    low, high = found["ci_low"].fill_null(-np.inf), found["ci_high"].fill_null(np.inf)
    return np.stack([low.to_numpy(), high.to_numpy()], axis=-1).reshape(-1, len(ARMS), 2)


def weighted_pairs(trials: int) -> Iterator[Line]:
    """Yield the lines of two systems on queries with lognormal weights, and of Student's t with their error."""
    for at, (shape, draw) in enumerate(SHAPES.items()):
        for n in QUERIES:
            rng = np.random.default_rng([163, at, n])
            apart, weight = draw(rng, (trials, n)), rng.lognormal(size=(trials, n))
            ends = _pairs(apart, weight)
            agree(_pairs(apart[:AGAIN], weight[:AGAIN]), ends[:AGAIN], "intervals of some pairs")
            setting, asked = f"{shape}, {n} queries with lognormal weights", None if shape == "skewed" else wanted(n)
            held = int(((ends[:, 0] <= 0) & (ends[:, 1] >= 0)).sum())
            yield Line("interval holds the difference", f"{setting}, two systems, compare", trials, held, asked)
            held = sum(_by_t(one, own) for one, own in zip(apart, weight, strict=True))
            yield Line("interval holds the difference", f"{setting}, two systems, Student's t", trials, held, None)


def _pairs(apart: Any, weight: Any) -> Any:
    both = [
        log_of(values, "revenue", often=weight).with_columns(system=pl.lit(name))
        for name, values in (("a", apart), ("b", np.zeros(apart.shape)))
    ]
    log = pl.concat(both).irm(by="trial", query="query", system="system", value="revenue", weight="often")
    found = log.compare(baseline="b", permutations=100, resamples=1000, seed=0)
    return found.select(pl.col("ci_low").fill_null(-np.inf), pl.col("ci_high").fill_null(np.inf)).to_numpy()


def _by_t(apart: Any, weight: Any) -> bool:
    spread = spread_of_pairs(apart[:, None], weight, None, None)
    far = errors_away(GIVEN["ci"], spread.units) * float(spread.error[0])
    return abs(float(np.average(apart, weights=weight))) <= far


def few_mistakes(_: pl.DataFrame, trials: int) -> Iterator[Line]:
    """Count the intervals of rows with hardly a mistake, of rows of arms, and of weighted pairs that hold the truth."""
    for part in (tables, of_arms, weighted_pairs):
        yield from part(trials)
