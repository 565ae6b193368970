"""Lines of the simulation about arms with strata: false alarms, intervals and power, and sentences about a reversal.

Each arm has its own mix of strata, and strata differ. Where arms do not differ within strata the plain difference is
that of their mixes. The numbers of units are fixed, so that no stratum is empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from trials import Line, agree

from frame_metrics.report.of_strata import opposed
from frame_metrics.stats.arms import compared, newcombe_intervals
from frame_metrics.stats.strata import Strata
from frame_metrics.stats.two_arms import Arms

LEVEL = 0.05
NAMES = ("difference", "ci_low", "ci_high", "p_value", "mde")
AGREE = 3  # trials of each kind that are done a second way
DRAWN = 99  # exchanges: a p-value of 5 / 100 is .05
AT_MOST, HOLDS = (0.0, 0.065), (0.92, 1.0)
MIXES = {2: ((0.7, 0.3), (0.3, 0.7)), 5: ((0.4, 0.3, 0.1, 0.1, 0.1), (0.1, 0.1, 0.1, 0.3, 0.4))}
SIZES = ((100, 100), (40, 360))
MANY = {100: (100, 100), 500: (500, 500)}  # units of each arm of which a reversal is told
OFTEN = 9  # the most queries of a user
BATCH = 20  # trials that share how many queries users have, and the exchanges, but no value

# Values of so many units of a stratum, in so many trials: of which level it is, how much better they are, and whether
# they are of the first arm.
Size = tuple[int, int]
Draw = Callable[[Any, Size, float, float, bool], Any]


class Shape(NamedTuple):
    """What values are drawn."""

    name: str
    draw: Draw
    better: dict[int, float]  # by how much the first arm is better, by its number of units
    held: tuple[float, float] | None = HOLDS  # what is asked of intervals
    users: bool = False


def bell(spread: float) -> Draw:
    """Draw normal values; those of the first arm have another deviation."""
    return lambda rng, n, level, better, first: level + better + rng.normal(size=n) * (spread if first else 1.0)


def lognormal(rng: Any, n: Size, level: float, better: float, first: bool) -> Any:
    """Draw lognormal values, to which the level of a stratum is added."""
    return level + better + rng.lognormal(size=n)


def share(least: float, apart: float) -> Draw:
    """Draw values of 0 and 1; the share of 1 is that of the stratum."""
    return lambda rng, n, level, better, first: (rng.random(n) < least + apart * level + better).astype(float)


SHAPES = (
    Shape("bell", bell(1.0), {100: 0.4, 40: 0.5}),
    Shape("bell, the first arm varies twice as much", bell(2.0), {100: 0.7, 40: 1.0}),
    Shape("lognormal", lognormal, {100: 0.7, 40: 1.0}, held=None),
    Shape("shares of .2 to .8", share(0.2, 0.6), {100: 0.19, 40: 0.2}),
    Shape("shares of .02 to .1", share(0.02, 0.08), {100: 0.12, 40: 0.13}),
    Shape("users with 1 to 9 queries", bell(1.0), {100: 0.4, 40: 0.5}, users=True),
)
SMALL = {  # strata, units of each arm in each: values, and by how much the first arm is better
    (20, 2): {"bell": (bell(1.0), 0.6), "shares of .2 to .8": (share(0.2, 0.6), 0.19)},
    (20, 5): {"shares of .02 to .1": (share(0.02, 0.08), 0.12)},
}
CANCELS = {"bell": (bell(1.0), 0.6), "shares of .2 to .8": (share(0.2, 0.6), 0.15)}


class World(NamedTuple):
    """Units of two arms in strata, in several trials."""

    values: Any  # the mean of each unit, shape (units, trials)
    size: Any  # how many queries it has
    stratum: Any
    in_first: Any

    def parts(self) -> Strata:
        """Return the units by stratum."""
        return Strata([self.arms(self.stratum == one) for one in np.unique(self.stratum)])

    def arms(self, some: Any) -> Arms:
        """Return some of the units, as if there were no strata."""
        size = self.size[some]
        return Arms(self.values[some] * size[:, None], size, self.in_first[some], clustered=bool((size > 1).any()))


def levels(strata: int) -> Any:
    """Return how much the values of each stratum are above those of the first, from 0 to 1."""
    return np.linspace(0, 1, strata)


def counts(sizes: tuple[int, int], mixes: Any) -> Any:
    """Return the number of units of each arm in each stratum, shape (2, strata)."""
    found = np.array([np.round(np.array(mix) * n).astype(int) for mix, n in zip(mixes, sizes, strict=True)])
    found[:, 0] += np.array(sizes) - found.sum(axis=1)
    return found


def drawn(rng: Any, shape: Shape, many: Any, better: Any, trials: int, far: float = 1.0) -> World:
    """Draw a world, in so many trials.

    Parameters
    ----------
    many : the number of units of each arm in each stratum, shape (2, strata).
    better : by how much the first arm is better in each stratum, shape (strata,).
    far : how far strata are apart.
    """
    each, sizes = [], []
    for arm, (level, more, n) in product((0, 1), zip(far * levels(many.shape[1]), better, many.T, strict=True)):
        sizes.append(rng.integers(1, OFTEN + 1, n[arm]) if shape.users else np.ones(n[arm]))
        each.append(shape.draw(rng, (n[arm], trials), level, 0.0 if arm else float(more), arm == 0))
    stratum = np.concatenate([np.repeat(np.arange(many.shape[1]), n) for n in many])
    mine = np.arange(len(stratum)) < many[0].sum()
    return World(np.concatenate(each), np.concatenate(sizes).astype(float), stratum, mine)


def batches(trials: int) -> Iterator[tuple[int, int]]:
    """Yield the number of each batch of trials, and how many it has."""
    for number, begin in enumerate(range(0, trials, BATCH)):
        yield number, min(BATCH, trials - begin)


def interval(strata: Strata) -> Any:
    """Return the ends of the intervals that ``told`` has too, without exchanges, shape (2, trials)."""
    if strata.of_shares.all():
        return newcombe_intervals(strata, strata.variances(), 1 - LEVEL)
    found = compared(strata, "t", 1 - LEVEL, (1, 1, 0), lambda done: None)
    return np.array([found["ci_low"], found["ci_high"]])


def told(units: Arms | Strata, seed: int) -> dict[str, Any]:
    """Return what the arms are told to differ by, from the functions behind ab_test(), shape (trials,) each."""
    found = compared(units, "randomization", 1 - LEVEL, (DRAWN, DRAWN, seed), lambda done: None)
    return {name: found[name] for name in NAMES}


def as_arms(world: World) -> Any:
    """Return a world as saved values of arms, each trial as a metric."""
    many = world.size.astype(int)
    unit = np.repeat(np.arange(len(many)), many)
    arm = np.where(world.in_first, "a", "b")
    log = pl.DataFrame({"user": unit, "arm": arm[unit], "device": world.stratum[unit]})
    each = {f"v{trial}": own[unit] for trial, own in enumerate(world.values.T)}
    log = log.with_columns(**{name: pl.Series(own) for name, own in each.items()}).with_row_index("query")
    return log.irm(query="query", arm="arm", value=[*each], cluster="user")


def same(ours: dict[str, Any], world: World, seed: int) -> None:
    """Raise where ab_test(strata=) says something else in one of the first trials."""
    log = as_arms(world).ab_test(baseline="b", strata="device", permutations=DRAWN, seed=seed)
    theirs = log.select(NAMES).head(AGREE).to_numpy().T
    mine = np.array([ours[name][:AGREE] for name in NAMES])
    agree(np.nan_to_num(mine), np.nan_to_num(theirs), "arms with strata")


def of_shape(shape: Shape, number: int, strata: int, sizes: tuple[int, int], trials: int) -> Iterator[Line]:
    """Count what is said of one shape."""
    unlike, nothing = counts(sizes, MIXES[strata]), np.zeros(strata)
    alike = counts(sizes, [np.mean(MIXES[strata], axis=0)] * 2)
    more = shape.better[sizes[0]]
    names = ("false alarm: with strata", "false alarm: without strata", "interval holds the difference: with strata")
    names += ("difference seen, arms alike: with strata", "difference seen, arms alike: without strata")
    happened = dict.fromkeys(names, 0)
    for batch, n in batches(trials):
        rng = np.random.default_rng([71, number, strata, sizes[0], batch])
        null = drawn(rng, shape, unlike, nothing, n)
        one, every = told(null.parts(), batch), np.ones(len(null.in_first), bool)
        if batch == 0:
            same(one, null, batch)
        low, high = interval(drawn(rng, shape, unlike, nothing + more, n).parts())
        seen = drawn(rng, shape, alike, nothing + more, n)
        each = (
            one["p_value"] <= LEVEL,
            told(null.arms(every), batch)["p_value"] <= LEVEL,
            ~((low > more) | (high < more)),
            told(seen.parts(), batch)["p_value"] <= LEVEL,
            told(seen.arms(every), batch)["p_value"] <= LEVEL,
        )
        for name, now in zip(names, each, strict=True):
            happened[name] += int(now.sum())
    setting = f"{strata} strata, arms of {sizes[0]} and {sizes[1]} units, {shape.name}"
    for name, asked in zip(names, (AT_MOST, None, shape.held, None, None), strict=True):
        yield Line(name, setting, trials, happened[name], asked)


def of_small(trials: int) -> Iterator[Line]:
    """Count what is said of many strata of few units each, as many of either arm."""
    for number, ((strata, units), shapes) in enumerate(SMALL.items()):
        many = np.full((2, strata), units)
        for at, (name, (draw, more)) in enumerate(shapes.items()):
            shape, alarms, held = Shape(name, draw, {}), 0, 0
            for batch, n in batches(trials):
                rng = np.random.default_rng([74, number, at, batch])
                null, better = (drawn(rng, shape, many, np.full(strata, one), n) for one in (0.0, more))
                alarms += int((told(null.parts(), batch)["p_value"] <= LEVEL).sum())
                low, high = interval(better.parts())
                held += int((~((low > more) | (high < more))).sum())
            setting = f"{strata} strata of {units} and {units} units, {name}"
            yield Line("false alarm: with strata", setting, trials, alarms, AT_MOST)
            yield Line("interval holds the difference: with strata", setting, trials, held, HOLDS)


def that_cancel(trials: int) -> Iterator[Line]:
    """Count false alarms where an arm is better in one stratum and worse in the other, and equal over all."""
    for (number, (name, (draw, more))), sizes in product(enumerate(CANCELS.items()), SIZES):
        shape, many = Shape(name, draw, {}), counts(sizes, MIXES[2])
        pooled = many.sum(axis=0) / many.sum()
        better, raised = more * np.array([1.0, -pooled[0] / pooled[1]]), 0
        for batch, n in batches(trials):
            rng = np.random.default_rng([72, number, sizes[0], batch])
            world = drawn(rng, shape, many, better, n)
            raised += int((told(world.parts(), batch)["p_value"] <= LEVEL).sum())
        setting = f"2 strata, arms of {sizes[0]} and {sizes[1]} units, {name}, better in one and worse in the other"
        yield Line("false alarm: with strata", setting, trials, raised, AT_MOST)


REVERSALS: dict[str, tuple[bool, float, float]] = {  # whether mixes are unlike, how much better, how far strata are
    "arms that do not differ": (False, 0.0, 1.0),
    "arms of unlike mixes that do not differ within segments": (True, 0.0, 1.0),
    "an arm that is better within segments and over all": (True, 0.3, 0.2),
    "an arm that is better within segments and worse over all": (True, 0.3, 2.0),
}


def of_reversals(trials: int) -> Iterator[Line]:
    """Count sentences about a reversal, false and true."""
    for (number, (name, (unlike, more, far))), strata, n in product(enumerate(REVERSALS.items()), MIXES, MANY):
        mixes = MIXES[strata] if unlike else [np.mean(MIXES[strata], axis=0)] * 2
        many, seen = counts(MANY[n], mixes), 0
        for batch, some in batches(trials):
            rng = np.random.default_rng([73, number, strata, n, batch])
            world = drawn(rng, SHAPES[0], many, np.full(strata, more), some, far)
            plain = world.arms(np.ones(len(world.in_first), bool)).raw_difference
            one = told(world.parts(), batch)
            seen += sum(map(opposed, plain.tolist(), one["difference"].tolist(), one["p_value"].tolist()))
        what, asked = ("reversal seen", None) if "worse" in name else ("false alarm: reversal", AT_MOST)
        yield Line(what, f"{strata} segments, arms of {n} units, {name}", trials, int(seen), asked)


def of_strata(_: pl.DataFrame, trials: int) -> Iterator[Line]:
    """Yield the lines of arms with strata, and of sentences about a reversal."""
    for (number, shape), strata, sizes in product(enumerate(SHAPES), MIXES, SIZES):
        yield from of_shape(shape, number, strata, sizes, trials)
    yield from that_cancel(trials)
    yield from of_reversals(trials)
    yield from of_small(trials)
