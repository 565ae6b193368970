"""Lines of the simulation about families of arms: all pairs of 3, 5 and 10 arms, compared at once.

Arms do not differ, or the first one is better, or far better, than all others. A false alarm is any corrected p of
0.05 or less of arms that do not differ, or any interval that leaves out their difference. Holm's correction stands
beside it: of exact exchanges for values of 0 and 1, of Welch's t for others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy import stats
from trials import Line, agree

from frame_metrics.stats.arm_families import ArmUnits, exchange_families
from frame_metrics.stats.exact import wilson
from frame_metrics.stats.significance import adjusted

LEVEL = 0.05
AGREE = 3  # trials of each kind that are done a second way
DRAWN = 99  # exchanges: a p-value of 5 / 100 is .05
ARMS, UNITS = (3, 5, 10), (50, 200)
AT_MOST = (0.0, 0.065)
RARE = 0.05
FAR = 10.0  # by how much the first arm is far better
SMALL, LARGE = 0.2, 1.8  # sizes of unequal arms, as shares of the mean one: 1:9

Draw = Callable[[Any, int, int, float], Any]  # values of so many units of an arm, by how much it is better


class Shape(NamedTuple):
    """What values are drawn."""

    name: str
    draw: Draw
    better: dict[int, float]  # by how much the first arm is better, by the units of an arm
    far: float  # by how much it is far better
    unequal: bool = False
    shares: bool = False

    def sizes(self, arms: int, units: int) -> list[int]:
        """Return the number of units of each arm; of unequal ones every other, the first too, has few."""
        if not self.unequal:
            return [units] * arms
        return [round(units * (LARGE if arm % 2 else SMALL)) for arm in range(arms)]


def bell(small: float, large: float) -> Draw:
    """Draw normal values, whose deviation is one of two in every other arm."""
    return lambda rng, n, arm, better: rng.normal(FAR + better, large if arm % 2 else small, n)


def lognormal(rng: Any, n: int, arm: int, better: float) -> Any:
    """Draw lognormal values; those of a better arm are so many times as large."""
    return (1 + better) * rng.lognormal(size=n)


def converted(rng: Any, n: int, arm: int, better: float) -> Any:
    """Draw values of 0 and 1, few of which are 1."""
    return (rng.random(n) < RARE + better).astype(float)


SHAPES = (
    Shape("bell", bell(1, 1), {50: 0.65, 200: 0.33}, FAR),
    Shape("lognormal", lognormal, {50: 1.2, 200: 0.5}, FAR),
    Shape("5 % are 1", converted, {50: 0.22, 200: 0.09}, 0.85, shares=True),
    Shape("sizes 1:9, the small vary twice as much", bell(2, 1), {50: 2.4, 200: 1.1}, FAR, unequal=True),
    Shape("sizes 1:9, the small vary half as much", bell(1, 2), {50: 1.5, 200: 0.7}, FAR, unequal=True),
)


def drawn(shape: Shape, number: int, arms: int, units: int, trial: int, better: float) -> tuple[Any, Any]:
    """Draw the values of all arms, and the arm of each; the first arm may be better."""
    rng = np.random.default_rng([61, number, arms, units, trial])
    sizes = shape.sizes(arms, units)
    each = [shape.draw(rng, n, arm, 0.0 if arm else better) for arm, n in enumerate(sizes)]
    return np.concatenate(each), np.repeat(np.arange(arms), sizes)


def pairs_of(arms: int) -> Any:
    """Return all pairs of arms, each with one before it, in the order of ab_test()."""
    return np.array([(arm, base) for arm in range(arms) for base in range(arm)])


@cache
def exchanged(n: tuple[int, int], ones: int, apart: float) -> float:
    """Return the p-value of all exchanges of 0 and 1 between two arms of equal size."""
    first = np.arange(ones + 1)
    chance = stats.hypergeom.pmf(first, sum(n), ones, n[0])
    return float(chance[np.abs(first / n[0] - (ones - first) / n[1]) >= apart - 1e-9].sum())


class Told(NamedTuple):
    """What a family of arms is told, for each pair of arms."""

    p: Any  # together
    holm: Any
    joint: Any  # ends of intervals that hold together, shape (2, pairs)
    single: Any


def told(shape: Shape, values: Any, arm: Any, seed: int) -> Told:
    """Return corrected p-values and intervals of all pairs of arms."""
    arms = int(arm.max()) + 1
    pairs = pairs_of(arms)
    block = ArmUnits(values[:, None], np.ones(len(values)), arm, pairs, np.zeros(1, np.int64))
    found = exchange_families([block], 1, DRAWN, seed, 1 - LEVEL, lambda done: None)
    n = np.bincount(arm)
    means = np.bincount(arm, values) / n
    variance = np.array([values[arm == one].var(ddof=1) for one in range(arms)]) / n
    first, second = pairs.T
    apart, wide = means[first] - means[second], float(found.n_errors[0])
    if shape.shares:
        counts = np.bincount(arm, values).astype(int)
        alone = np.array(
            [
                exchanged((int(n[i]), int(n[j])), int(counts[i] + counts[j]), abs(float(means[i] - means[j])))
                for i, j in pairs
            ]
        )
        z = stats.norm.ppf(1 - LEVEL / 2)
        ends = [newcombe(means, n, pairs, one) for one in (max(wide, z), z)]
        return Told(found.adjusted[0][:, 0], adjusted(alone, "holm"), *ends)
    error = np.sqrt(variance[first] + variance[second])
    free = error**4 / (variance[first] ** 2 / (n[first] - 1) + variance[second] ** 2 / (n[second] - 1))
    alone = 2 * stats.t.sf(np.abs(apart) / error, free)
    t = stats.t.ppf(1 - LEVEL / 2, free)
    ends = [np.array([apart - far * error, apart + far * error]) for far in (np.maximum(wide, t), t)]
    return Told(found.adjusted[0][:, 0], adjusted(alone, "holm"), *ends)


def newcombe(means: Any, n: Any, pairs: Any, z: float) -> Any:
    """Return Newcombe's hybrid intervals of differences of shares, shape (2, pairs)."""
    low, high = wilson(means, n, z)
    first, second = pairs.T
    apart = means[first] - means[second]
    below = np.hypot(means[first] - low[first], high[second] - means[second])
    above = np.hypot(high[first] - means[first], means[second] - low[second])
    return np.array([apart - below, apart + above])


def same(ours: Told, shape: Shape, values: Any, arm: Any, seed: int) -> None:
    """Raise where ab_test() says something else."""
    log = pl.DataFrame({"arm": arm, "v": values}).with_row_index("query")
    irm = log.irm(query="query", arm="arm", value="v")
    joint = irm.ab_test(permutations=DRAWN, seed=seed)
    agree(np.maximum(ours.p, joint["p_value"].to_numpy()).tolist(), joint["p_adjusted"].to_list(), "p of arms")
    for ends, found in ((ours.joint, joint), (ours.single, irm.ab_test(test="t", correction="holm"))):
        if found is joint or not shape.shares:
            agree(ends[0].tolist(), found["ci_low"].to_list(), "lower ends of arms")
            agree(ends[1].tolist(), found["ci_high"].to_list(), "upper ends of arms")


def missed(ends: Any, true: Any) -> bool:
    """Return whether some interval leaves out a difference."""
    return bool(((ends[0] > true + 1e-12) | (ends[1] < true - 1e-12)).any())


def mean_of(shape: Shape, better: float) -> float:
    """Return by how much the mean of the first arm is greater."""
    return better * float(np.exp(0.5)) if shape.draw is lognormal else better


def of_family(shape: Shape, number: int, arms: int, units: int, trials: int) -> Iterator[Line]:
    """Count what is told of arms that do not differ, and of arms of which the first is better, and far better."""
    pairs = pairs_of(arms)
    others, first = pairs.min(axis=1) > 0, (pairs == [1, 0]).all(axis=1)
    counts = dict.fromkeys(
        (
            "false alarm: max_t",
            "false alarm: holm",
            "false alarm: some interval of max_t",
            "false alarm: some single interval",
            "difference seen: max_t",
            "difference seen: holm",
            "false alarm among the others: max_t",
            "some interval of max_t misses its difference",
            "false alarm among the others, far from it: max_t",
        ),
        0,
    )
    far_too = units == min(UNITS)
    for trial in range(trials):
        seen = []
        for better in (0.0, shape.better[units], *([shape.far] if far_too else [])):
            values, arm = drawn(shape, number, arms, units, trial, better)
            found = told(shape, values, arm, trial)
            if trial < AGREE and better < shape.far:
                same(found, shape, values, arm, trial)
            true = mean_of(shape, better) * ((pairs[:, 0] == 0).astype(float) - (pairs[:, 1] == 0))
            seen.append((found, true))
        (null, _), (one, true) = seen[:2]
        happened = (
            null.p.min() <= LEVEL,
            null.holm.min() <= LEVEL,
            missed(null.joint, 0.0),
            missed(null.single, 0.0),
            one.p[first][0] <= LEVEL,
            one.holm[first][0] <= LEVEL,
            one.p[others].min() <= LEVEL,
            missed(one.joint, true),
            far_too and seen[-1][0].p[others].min() <= LEVEL,
        )
        for name, now in zip(counts, happened, strict=True):
            counts[name] += int(now)
    asked = (AT_MOST, None, AT_MOST, None, None, None, AT_MOST, AT_MOST, AT_MOST)
    for (name, happened), wanted in zip(counts.items(), asked, strict=True):
        if "far from it" in name and not far_too:
            continue
        better = "" if name.startswith("false alarm: ") else ", the first better"
        yield Line(name, f"{arms} arms of {units} units, {shape.name}{better}", trials, happened, wanted)


def two_apart(trials: int) -> Iterator[Line]:
    """Count false alarms of two arms in which half are 1, beside eight in which few are."""
    alarms = 0
    for trial in range(trials):
        rng = np.random.default_rng([62, trial])
        values = np.concatenate([converted(rng, 50, arm, 0.45 if arm < 2 else 0.0) for arm in range(10)])
        found = told(SHAPES[2], values, np.repeat(np.arange(10), 50), trial)
        alarms += bool(found.p[0] <= LEVEL)
    yield Line("false alarm: max_t", "2 arms of 50 units, 50 % are 1, beside 8 of 5 %", trials, alarms, AT_MOST)


def each_of(trials: int, *, unequal: bool) -> Iterator[Line]:
    """Yield the lines of all shapes with arms of equal size, or of 1:9."""
    for number, shape in enumerate(SHAPES):
        for arms, units in product(ARMS, UNITS):
            if shape.unequal == unequal:
                yield from of_family(shape, number, arms, units, trials)


def arm_families(_: pl.DataFrame, trials: int) -> Iterator[Line]:
    """Yield the lines of families of arms of equal size."""
    yield from each_of(trials, unequal=False)
    yield from two_apart(trials)


def unequal_arm_families(_: pl.DataFrame, trials: int) -> Iterator[Line]:
    """Yield the lines of families of arms of 1:9."""
    yield from each_of(trials, unequal=True)
