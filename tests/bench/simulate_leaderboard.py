"""Lines of the simulation about leaderboards: which systems may be the best, and the ranks that each may have.

Systems on the same queries are drawn in three shapes: with means evenly apart, all equal, and apart with skewed noise.
The best is held if it is among those that may be the best; where all are equal, if the first system is. Ranks hold if
the interval of every system has its true rank; where all are equal, if no system is told from another.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from trials import Line, agree, as_log

from frame_metrics.stats.exact import t_quantile
from frame_metrics.stats.families import quantile_of_flips
from frame_metrics.stats.flips import every_flip, flipped
from frame_metrics.stats.significance import errors_away

LEVEL = 0.95
AGREE, FLIPS = 2, 1000
SYSTEMS, QUERIES = (3, 10, 40), (20, 50, 200)
SHAPES = {"evenly apart": 0.5, "equal": 0.0, "skewed": 0.5}  # and how much better the best is than the worst
FAR = 10.0  # added to values, so that none is below 0
HELD = (0.935, 1.0)


def drawn(shape: str, systems: int, queries: int, trial: int) -> Any:
    """Draw the values of systems, the best last, shape (queries, systems)."""
    rng = np.random.default_rng([44, [*SHAPES].index(shape), systems, queries, trial])
    noise = rng.normal(size=(queries, systems))
    noise = (np.exp(noise) - np.exp(0.5)) / 2 if shape == "skewed" else noise
    return FAR + rng.normal(size=(queries, 1)) + noise / 2 + np.linspace(0, SHAPES[shape], systems)


def board(values: Any, seed: int) -> tuple[Any, Any, Any]:
    """Return which systems may be the best, and the least and the greatest rank of each.

    The values of systems are flipped, not those of pairs: a flipped difference is that of two flipped values.
    """
    n, systems = values.shape
    away = values - values.mean(axis=0)
    flips = flipped(away, FLIPS, seed, lambda done: None, every=every_flip(n, FLIPS))
    norm = np.sqrt(((away[:, :, None] - away[:, None, :]) ** 2).sum(axis=0))
    np.fill_diagonal(norm, np.inf)
    u = (flips[:, :, None] - flips[:, None, :]) / norm
    against = u.max(axis=1)  # the greatest of the others less each system, shape (flips, systems)
    t = against * np.sqrt((n - 1) / (n - against**2))
    one = np.maximum(quantile_of_flips(t.T, LEVEL, every=every_flip(n, FLIPS)), t_quantile(LEVEL, n - 1))
    both = quantile_of_flips(t.max(axis=1)[None], LEVEL, every=every_flip(n, FLIPS))[0]
    both = max(float(both), errors_away(LEVEL, n))
    mean = values.mean(axis=0)
    better = (mean[:, None] - mean) / (norm / np.sqrt(n * (n - 1)))  # the row's system less the column's
    return ~(better.max(axis=0) > one), 1 + (better > both).sum(axis=0), systems - (better > both).sum(axis=1)


def same(ours: tuple[Any, Any, Any], values: Any, seed: int) -> None:
    """Raise where leaderboard() says something else."""
    names = {f"s{i}": i for i in range(values.shape[1])}
    found = as_log(values).leaderboard("dcg@1", permutations=FLIPS, resamples=10, seed=seed)
    at = np.argsort([names[name] for name in found["system"]])
    for name, own in zip(("may_be_best", "rank_low", "rank_high"), ours, strict=True):
        agree(own, found[name].to_numpy()[at], f"{name} of a leaderboard")


def leaderboards(rows: Any, trials: int) -> Iterator[Line]:
    """Count how often the best system is held, and all ranks together; and how many systems may be the best."""
    del rows
    for systems in SYSTEMS:
        for queries in QUERIES:
            for shape in SHAPES:
                held, size = np.zeros(2, np.int64), 0
                rank = np.arange(systems, 0, -1)
                for trial in range(trials):
                    values = drawn(shape, systems, queries, trial)
                    best, low, high = board(values, trial)
                    if trial < AGREE:
                        same((best, low, high), values, trial)
                    told = (low > 1) | (high < systems) if shape == "equal" else (rank < low) | (rank > high)
                    held += [best[-1], not told.any()]
                    size += int(best.sum())
                setting = f"{systems} systems on {queries} queries, {shape}"
                for name, happened in zip(("the best is held", "all ranks hold"), held.tolist(), strict=True):
                    yield Line(name, setting, trials, happened, HELD)
                yield Line("systems that may be the best", setting, trials * systems, size, None)
