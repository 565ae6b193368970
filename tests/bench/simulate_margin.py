"""Lines of the simulation about margins: how often a loss of the margin passes as none, and how often no loss passes.

A gate asks that a system is not worse by more than a margin. Systems, or arms, whose true loss is the margin may pass
in 5 % at most; those that do not differ shall pass as often as they can.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import polars as pl
from trials import Line, agree, as_log

from frame_metrics.stats.exact import wilson_interval
from frame_metrics.stats.margins import Shifted, margin_p_of_arms, margin_p_of_pairs, margin_p_of_shares
from frame_metrics.stats.shares import hybrid
from frame_metrics.stats.two_arms import Arms

LEVEL = 0.05
TEST = "randomization"
AGREE = 3  # trials of each kind that are done a second way
FLIPS, AT_ONCE = 1000, 50  # flips of a trial, and the trials that share them
SIZES = (10, 20, 50, 100, 200)
ASKED = 50  # units from which on a loss of the margin may pass in 6.5 %
AT_MOST = (0.0, 0.065)
FAR, SPREAD = 10.0, 0.05  # added to values, so that none is below 0; standard deviation of differences
LOST, LOSSES, NOISE = 0.2, 0.05, 0.02  # what some queries lose, their share, and what others vary by
SAME = 0.5  # how often two systems with shares share their luck
ARMS = ((50, 50), (100, 100), (200, 200), (50, 450))
Draw = Callable[[Any, tuple[int, ...], float], Any]  # draws differences with a mean, less the margin where it is lost


def rare(rng: Any, shape: tuple[int, ...], mean: float) -> Any:
    """Draw differences of which a few lose much."""
    return mean + LOST * LOSSES - LOST * (rng.random(shape) < LOSSES)


# The shapes of differences of two systems: the margin, and how they are drawn with a mean.
SHAPES: dict[str, tuple[float, Draw]] = {
    "bell": (0.02, lambda rng, shape, mean: mean + SPREAD * rng.normal(size=shape)),
    "rare losses, others as they were": (LOST * LOSSES, rare),
    "rare losses among noise": (
        LOST * LOSSES,
        lambda rng, shape, mean: rare(rng, shape, mean) + NOISE * rng.normal(size=shape),
    ),
    "skewed losses": (0.02, lambda rng, shape, mean: mean + SPREAD * (1 - rng.exponential(size=shape))),
    "skewed gains": (0.02, lambda rng, shape, mean: mean + SPREAD * (rng.exponential(size=shape) - 1)),
}
SHARES = {"shares of .5": (0.5, 0.1), "shares of .9": (0.9, 0.05)}  # of the baseline, and the margin
# The shapes of values of arms: the margin, how they are drawn, and how much more the first arm varies.
OF_ARMS: dict[str, tuple[float, Draw, float]] = {
    "bell": (0.02, SHAPES["bell"][1], 1.0),
    "first arm varies twice as much": (0.02, SHAPES["bell"][1], 2.0),
    "skewed": (0.02, SHAPES["skewed gains"][1], 1.0),
}


def shapes_of_pairs(trials: int) -> Iterator[Line]:
    """Yield the lines of differences of two systems that are no shares."""
    for name, (margin, draw) in SHAPES.items():
        for lost in (True, False):
            for n in SIZES:
                rng, passed = np.random.default_rng([41, n, lost]), 0
                for begin in range(0, trials, AT_ONCE):
                    # Others as they were: what is added to make up for losses is nothing where the margin is lost.
                    drawn = draw(rng, (n, min(AT_ONCE, trials - begin)), -margin if lost else 0.0)
                    drawn = np.where(np.abs(drawn) < 1e-15, 0, drawn)
                    shifted = Shifted(drawn, np.ones(n), np.full(drawn.shape[1], margin))
                    p = margin_p_of_pairs(shifted, FLIPS, 0, TEST)[0]
                    if begin == 0:
                        same(drawn, p, margin)
                    passed += int((p <= LEVEL).sum())
                yield line(lost, f"{name}, {n} queries", trials, passed, n)


def same(drawn: Any, p: Any, margin: float) -> None:
    """Raise where compare() says something else."""
    for trial in range(AGREE):
        both = np.column_stack([np.full(len(drawn), FAR), FAR + drawn[:, trial]])
        found = as_log(both).compare("dcg@1", baseline="s0", margin=margin, permutations=FLIPS, seed=0)
        agree(p[trial] if p[trial] == p[trial] else -1, found["p_not_worse"].fill_null(-1).item(), "p_not_worse")


def line(lost: bool, setting: str, trials: int, passed: int, n: int) -> Line:
    """Return the line of a setting."""
    what = "a loss of the margin passes" if lost else "no loss passes"
    return Line(what, setting, trials, passed, AT_MOST if lost and n >= ASKED else None)


def shares_of_pairs(trials: int) -> Iterator[Line]:
    """Yield the lines of paired shares."""
    for name, (share, margin) in SHARES.items():
        for lost in (True, False):
            for n in SIZES:
                rng, passed = np.random.default_rng([42, n, lost]), 0
                for trial in range(trials):
                    own, others = rng.random((2, n))
                    other = np.where(rng.random(n) < SAME, own, others)
                    base, value = (own < share), other < share - margin * lost
                    table = np.bincount(3 - 2 * value.astype(int) - base, minlength=4)
                    p = margin_p_of_shares(table, margin, 1)[0]
                    if trial < AGREE:
                        log = as_log(np.column_stack([base, value]).astype(float))
                        found = log.compare("success@1", baseline="s0", margin=margin, permutations=FLIPS)
                        agree(p if p == p else -1, found["p_not_worse"].fill_null(-1).item(), "p_not_worse of shares")
                    passed += p <= LEVEL
                yield line(lost, f"paired {name}, {n} queries", trials, int(passed), n)


def arms_of(values: Any, mine: Any) -> Arms:
    """Return the units of two arms with one query each."""
    return Arms(values[:, None], np.ones(len(values)), mine, limits=np.array([[0.0], [np.inf]]))


def line_of_arms(name: str, lost: bool, sizes: tuple[int, int], trials: int) -> Line:
    """Return the line of two arms of a shape, of so many units each."""
    (first, second), (margin, draw, more) = sizes, OF_ARMS[name]
    rng, passed, mine = np.random.default_rng([43, first, second, lost]), 0, np.arange(first + second) < first
    for trial in range(trials):
        values = FAR + draw(rng, (len(mine),), 0.0)
        values = np.where(mine, FAR - margin * lost + more * (values - FAR), values)
        # What Welch's t does not pass does not pass: exchanges, which take long, are left out.
        by_t = margin_p_of_arms(arms_of(values, mine), np.array([margin]), "t", (FLIPS, FLIPS, 0), np.ones(1))[0, 0]
        if by_t <= LEVEL or trial < AGREE:
            passed += of_one_trial(values, mine, margin, trial) <= LEVEL
    return line(lost, f"{name}, arms of {first} and {second} units", trials, int(passed), min(first, second))


def line_of_shares(name: str, lost: bool, sizes: tuple[int, int], trials: int) -> Line:
    """Return the line of shares of two arms of so many units each."""
    (first, second), (share, margin) = sizes, SHARES[name]
    rng, mine = np.random.default_rng([44, first, second, lost]), np.arange(first + second) < first
    found = []
    for trial in range(trials):
        values = (rng.random(len(mine)) < share - margin * lost * mine).astype(float)
        found.append((values[mine].mean(), values[~mine].mean()))
        if trial < AGREE:
            passes = bool(bound_of_shares(np.array(found[-1]), sizes) >= -margin)
            agree(passes, of_one_trial(values, mine, margin, trial) <= LEVEL, "what passes of shares")
    passed = int((bound_of_shares(np.array(found).T, sizes) >= -margin).sum())
    return line(lost, f"{name}, arms of {first} and {second} units", trials, passed, min(sizes))


def bound_of_shares(means: Any, sizes: tuple[int, int]) -> Any:
    """Return the lower bound of the differences of shares at the level of the p-value; it passes where p does."""
    ends = [wilson_interval(mean, n, 1 - 2 * LEVEL) for mean, n in zip(means, sizes, strict=True)]
    return hybrid(means, np.array(ends), 0.0, (1.0, -1.0))[0]


def shapes_of_arms(trials: int) -> Iterator[Line]:
    """Yield the lines of arms."""
    for name, lost, sizes in product(OF_ARMS, (True, False), ARMS):
        yield line_of_arms(name, lost, sizes, trials)
    for name, lost, sizes in product(SHARES, (True, False), ARMS):
        yield line_of_shares(name, lost, sizes, trials)


def of_one_trial(values: Any, mine: Any, margin: float, trial: int) -> float:
    """Return the p-value of two arms; the first ones are asked of ab_test() too."""
    p = margin_p_of_arms(arms_of(values, mine), np.array([margin]), TEST, (FLIPS, FLIPS, 0), np.ones(1))[0, 0]
    if trial < AGREE:
        log = pl.DataFrame({"query": np.arange(len(mine)), "arm": np.where(mine, "new", "old"), "grade": values})
        irm = log.with_columns(score=1.0).irm(query="query", arm="arm", score="score", grade="grade")
        found = irm.ab_test("dcg@1", baseline="old", margin=margin, permutations=FLIPS)
        agree(p, found["p_not_worse"].item(), "p_not_worse of arms")
    return float(p)


def margins(_: pl.DataFrame, trials: int) -> Iterator[Line]:
    """Yield the lines of margins of pairs."""
    yield from shapes_of_pairs(trials)
    yield from shares_of_pairs(trials)


def margins_of_arms(_: pl.DataFrame, trials: int) -> Iterator[Line]:
    """Yield the lines of margins of arms."""
    yield from shapes_of_arms(trials)
