"""Lines of the simulation about winners: the best of several systems is told from the runner-up, or is not.

Systems on the same queries are drawn in three shapes and three worlds: all equal, the two best equal and others far
below, and one better by so many standard errors of a difference. The best by its mean is held against the next best, at
the corrected p of all pairs. An alarm is a p below 0.05 where the two best are equal. Beside a difference that is told
stands the near end of its interval, which all pairs have together; it says too much where it is above the true
difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from simulate_families import apart, around, away, flipped
from trials import Line, agree, as_log

LEVEL, AGREE, FLIPS = 0.05, 2, 199
SYSTEMS, QUERIES = (3, 5, 10), (20, 50, 200)
FAR = 10.0  # added to values, so that none is below 0
LOST, LOSSES, NOISE = 0.2, 0.05, 0.02  # what some queries lose, their share, and what others vary by
SHAPES = {"bell": 1.0, "skewed": 1.0, "rare losses": (LOST**2 * LOSSES * (1 - LOSSES) + NOISE**2) ** 0.5}  # deviation
BETTER = 4.0  # standard errors of a difference that the best is better by, or others are below
WORLDS = {"all equal": 0, "two equal, others below": 2, "one better": 1}  # and how many are better than the others
LONG = 200  # queries of which the second world is left out
AT_MOST = (0.0, 0.065)


class Winner(NamedTuple):
    """The best system by its mean, the next best, their corrected p, and the least that the best is better by."""

    best: int
    other: int
    p: float
    least: float


def drawn(shape: str, world: str, systems: int, queries: int, trial: int) -> tuple[Any, Any]:
    """Draw the values of systems, shape (queries, systems), and return them with their true means."""
    rng = np.random.default_rng([45, [*SHAPES].index(shape), [*WORLDS].index(world), systems, queries, trial])
    size = queries, systems
    if shape == "bell":
        noise = rng.normal(size=size)
    elif shape == "skewed":
        noise = rng.exponential(size=size) - 1
    else:
        noise = NOISE * rng.normal(size=size) - LOST * ((rng.random(size) < LOSSES) - LOSSES)
    mean = np.zeros(systems)
    mean[: WORLDS[world]] = BETTER * SHAPES[shape] * (2 / queries) ** 0.5
    return FAR + rng.normal(size=(queries, 1)) + noise + mean, mean


def winner(values: Any, seed: int) -> Winner:
    """Return what all pairs say of the best system and the runner-up."""
    best, other = np.argsort(-values.mean(axis=0))[:2].tolist()
    differences, n = apart(values), len(values)
    block, found = flipped(differences, FLIPS, seed, lambda done: None)
    high, low = max(best, other), min(best, other)
    at = high * (high - 1) // 2 + low
    p = max(float(found.adjusted(block)[at]), float(found.p_values(found.n_as_extreme[0])[at]))
    own = around(differences[:, at], away(found, 1 - LEVEL, n))
    return Winner(best, other, p, float(own["ci_low"] if best == high else -own["ci_high"]))


def same(ours: Winner, values: Any, seed: int) -> None:
    """Raise where compare() says something else."""
    found = as_log(values).compare("dcg@1", permutations=FLIPS, seed=seed)
    pair = {f"s{ours.best}", f"s{ours.other}"}
    (row,) = [row for row in found.to_dicts() if {row["system"], row["baseline"]} == pair]
    least = row["ci_low"] if row["system"] == f"s{ours.best}" else -row["ci_high"]
    agree(list(ours[2:]), [row["p_adjusted"], least], "the winner against the runner-up")


def winners(rows: Any, trials: int) -> Iterator[Line]:
    """Count how often the best is told from the runner-up, and where the least that it is better by is too much."""
    del rows
    for shape in SHAPES:
        for systems in SYSTEMS:
            for queries in QUERIES:
                setting = f"{shape}, {systems} systems on {queries} queries"
                for world in WORLDS if queries < LONG else ("all equal", "one better"):
                    told = right = much = 0
                    for trial in range(trials):
                        values, mean = drawn(shape, world, systems, queries, trial)
                        found = winner(values, trial)
                        if trial < AGREE:
                            same(found, values, trial)
                        told += found.p < LEVEL
                        right += found.p < LEVEL and found.best == 0
                        much += found.p < LEVEL and found.least > mean[found.best] - mean[found.other] + 1e-12
                    if world == "one better":
                        yield Line("the best is told from the next", f"{setting}, {world}", trials, right, None)
                        yield Line("'at least' says too much", f"{setting}, {world}", trials, much, AT_MOST)
                    else:
                        yield Line("false alarm: the best from the next", f"{setting}, {world}", trials, told, AT_MOST)
