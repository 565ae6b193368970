"""Lines of the simulation about arms that some users are in both of, and that unlike numbers of others are in.

In two weeks some users come back, and the others come once: more of them in one week than in the other. They may be
unlike those who come back. The default test of ab_test() is counted beside exchanges of units, which it replaces here,
and the interval of the difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import polars as pl
from trials import Line, agree

from frame_metrics.stats.arms import compared
from frame_metrics.stats.exchange import permuted
from frame_metrics.stats.two_arms import Arms

AGREE = 2  # trials of each kind that ab_test() is asked about too
LEVEL, DRAWN = 0.05, 199
AT_MOST, HOLDS = (0.0, 0.065), (0.92, 1.0)
SIZES = (
    (500, 100, 1000),
    (50, 10, 100),
    (100, 5, 40),
    (200, 200, 200),
)  # users of both, of the first alone, of the other alone
MEAN = 0.4  # where all users are alike
BACK, FEWEST = 0.46, 0.22  # of those who come back, and of the others in the arm that has fewest
BETTER = {500: 0.06, 50: 0.15, 100: 0.12, 200: 0.08}  # how much better all are in the first arm, where they are
CONCENTRATION = 4.0  # of the beta distribution of users, so that one user's queries are alike

Draw = Callable[[Any, Any], Any]  # values of queries, by the means of their users


def success(rng: Any, mean: Any) -> Any:
    """Draw values of 0 and 1."""
    return (rng.random(len(mean)) < mean).astype(np.float64)


def skewed(rng: Any, mean: Any) -> Any:
    """Draw lognormal values."""
    return mean * rng.lognormal(-0.5, 1.0, len(mean))


SHAPES: dict[str, tuple[Draw, int]] = {  # how values are drawn, and the most queries of a user
    "success of one query": (success, 1),
    "success of 1 to 6 queries": (success, 6),
    "lognormal values of 1 to 6 queries": (skewed, 6),
}


def means_of(sizes: tuple[int, int, int], *, unlike: bool) -> tuple[float, float, float]:
    """Return the means of users of both arms, and of the others of each, with which the arms have one mean."""
    both, *others = sizes
    if not unlike:
        return MEAN, MEAN, MEAN
    arm = (BACK * both + FEWEST * min(others)) / (both + min(others))
    first, other = (arm + (arm - BACK) * both / n for n in others)
    return BACK, first, other


def drawn_users(
    sizes: tuple[int, int, int], means: tuple[float, ...], shape: str, better: float, rng: Any
) -> tuple[Any, Arms]:
    """Draw users with their queries; return the value of each query, and the users of each arm, in this order."""
    both, first, _ = sizes
    draw, most = SHAPES[shape]
    of = np.repeat(means, sizes)
    worth = rng.beta(of * CONCENTRATION, (1 - of) * CONCENTRATION)
    every = np.arange(sum(sizes))
    unit = np.concatenate([every[: both + first], every[:both], every[both + first :]])
    mine = np.arange(len(unit)) < both + first
    often = rng.integers(1, most + 1, len(unit))
    user = np.repeat(np.arange(len(unit)), often)
    value = draw(rng, np.clip(worth[unit] + better * mine, 0, 1)[user])
    return value, Arms(np.bincount(user, value)[:, None], often.astype(float), mine, unit=unit)


def exchanged(arms: Arms, trial: int) -> float:
    """Return the p-value of exchanges, whatever users are in one arm alone."""
    return float(permuted(arms, DRAWN, trial, lambda done: None, np.zeros(1, bool))[0])


def same_arms(found: dict[str, float], value: Any, arms: Arms, trial: int) -> None:
    """Raise where ab_test() tells something else."""
    user = np.repeat(np.arange(len(arms.in_first)), arms.size.astype(np.int64))
    arm = np.where(arms.in_first, "new", "old")[user]
    log = pl.DataFrame({"query": np.arange(len(value)), "v": value, "arm": arm, "user": np.asarray(arms.unit)[user]})
    irm = log.irm(query="query", value="v", arm="arm", cluster="user")
    row = irm.ab_test(baseline="old", permutations=DRAWN, resamples=DRAWN, seed=trial).row(0, named=True)
    names = ("difference", "p_value", "ci_low", "ci_high")
    agree([found[name] for name in names], [row[name] for name in names], "arms that users come back to")


def arms_of_returning(_: pl.DataFrame, trials: int) -> Iterator[Line]:
    """Count false alarms, differences that are seen and intervals that hold the difference."""
    kinds = (
        ("others alike", False, False),
        ("others unlike", True, False),
        ("others unlike, the first arm better", True, True),
    )
    for number, (sizes, shape, (kind, unlike, differ)) in enumerate(product(SIZES, SHAPES, kinds)):
        means, better = means_of(sizes, unlike=unlike), BETTER[sizes[0]] * differ
        raised, held = {"randomization": 0, "exchanges": 0}, 0
        for trial in range(trials):
            value, arms = drawn_users(sizes, means, shape, better, np.random.default_rng([31, number, trial]))
            told = compared(arms, "randomization", 0.95, (DRAWN, DRAWN, trial), lambda done: None)
            found = {name: one[0] for name, one in told.items()}
            if trial < AGREE:
                same_arms(found, value, arms, trial)
            raised["randomization"] += found["p_value"] <= LEVEL
            raised["exchanges"] += exchanged(arms, trial) <= LEVEL
            held += not (found["ci_low"] > better or found["ci_high"] < better)
        name = f"{sizes[0]} users of both arms, {sizes[1]} and {sizes[2]:,} of one, {shape}, {kind}"
        for test, happened in raised.items():
            asked = AT_MOST if test == "randomization" and not differ else None
            yield Line(f"{'difference seen' if differ else 'false alarm'}: {test}", name, trials, int(happened), asked)
        yield Line("interval holds the difference", name, trials, int(held), None if differ else HOLDS)
