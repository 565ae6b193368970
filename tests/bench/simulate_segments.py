"""Lines of the simulation about segments: whether one is said to stand out, where none differs and where one does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from trials import Line, agree

from frame_metrics.stats.averages import tally
from frame_metrics.stats.intervals import intervals
from frame_metrics.stats.outstanding import outstanding

AT_MOST = (0.0, 0.065)
ALPHA = 0.05
AGREE = 2  # trials of each kind that summary() is asked about too
SIZES = {2: 100, 5: 40, 20: 20, 100: 10}  # segments, and the queries of each
LATENT = {"success of .02": 0.02, "success of .10": 0.10, "success of .95": 0.95}  # and how many of the values are 1
SHAPES = ("like a bell", "lognormal", *LATENT)
SEEN, OF_SEEN = 10, {"success of .02": 0.08, "success of .10": 0.22, "success of .95": 0.86}  # of the segment apart
FURTHER = 0.6  # standard deviations of the normal numbers behind other shapes, of the segment apart
LEAST = 30  # queries of a segment that intervals speak about
USERS, OFTEN = 20, 10  # users of a segment; from 1 to 9 queries of a user
OWN, TASTE = 0.3, 0.2  # share of a user, and of a user in one segment, in the variance of what values are made of
MOVED = 0.05  # share of the queries on which two systems differ, where they rarely do


@dataclass(frozen=True, eq=False)
class World:
    """Queries of one trial.

    Parameters
    ----------
    baseline : what another system has of each query, where differences are looked at.
    """

    values: Any
    segment: Any
    cluster: Any = None
    baseline: Any = None

    @property
    def judged(self) -> Any:
        """The values, or differences, that are looked at."""
        return self.values if self.baseline is None else self.values - self.baseline


def shaped(latent: Any, shape: str, share: Any = None) -> Any:
    """Return values of a shape from normal numbers; ``share``: of those that are 1, for each."""
    if shape == "like a bell":
        return latent
    if shape == "lognormal":
        return np.exp(latent)
    cut = np.vectorize({one: _quantile(one) for one in np.unique(share).tolist()}.get)(share)
    return (latent < cut).astype(np.float64)


def _quantile(share: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(share))


def plain(sizes: Any, shape: str, rng: Any, apart: bool = False) -> World:
    """Draw queries of segments of these sizes; ``apart``: whether the last one has other values."""
    segment = np.repeat(np.arange(len(sizes)), sizes)
    last = apart & (segment == len(sizes) - 1)
    latent, share = rng.normal(size=len(segment)), None
    if shape in LATENT:
        share = np.where(last, OF_SEEN[shape], LATENT[shape])
    else:
        latent = latent + FURTHER * last
    return World(shaped(latent, shape, share), segment)


def of_users(users: int, segments: int, shape: str, rng: Any, *, across: bool, unlike: bool = False) -> World:
    """Draw queries of users, each in one segment, or each in several.

    ``unlike``: whether users of the first segment have three times as many queries.
    """
    often = rng.integers(1, OFTEN, users)
    home = np.arange(users) % segments
    often = np.where(unlike & (home == 0), 3 * often, often)
    user = np.repeat(np.arange(users), often)
    segment = rng.integers(0, segments, len(user)) if across else home[user]
    own = rng.normal(size=users)[user] * OWN**0.5 + rng.normal(size=(users, segments))[user, segment] * TASTE**0.5
    latent = own + rng.normal(size=len(user)) * (1 - OWN - TASTE) ** 0.5
    return World(shaped(latent, shape, np.full(len(user), LATENT.get(shape, 0.5))), segment, user)


def of_two(sizes: Any, shape: str, rng: Any) -> World:
    """Draw what two systems have of the same queries."""
    segment = np.repeat(np.arange(len(sizes)), sizes)
    n = len(segment)
    if shape == "success, 5 % moved":
        base = (rng.random(n) < 0.5).astype(np.float64)
        return World(np.where(rng.random(n) < MOVED, 1 - base, base), segment, baseline=base)
    base, ranks = rng.normal(size=n), np.array([0, 0, 1 / 3, 1 / 2, 1, 1])
    first, second = (np.searchsorted([-1, -0.4, 0, 0.4, 1.2], base + rng.normal(size=n) / 2) for _ in range(2))
    return World(ranks[first], segment, baseline=ranks[second])


def spread(size: int, rng: Any) -> World:
    """Draw queries of five segments, the last of which has so many, and varies three times as much as others."""
    segment = np.repeat(np.arange(5), [40, 40, 40, 40, size])
    return World(rng.normal(size=len(segment)) * np.where(segment == 4, 3, 1), segment)


def worlds() -> Iterator[tuple[str, Callable[[Any], World]]]:
    """Yield what no segment differs in, and a function that draws it."""
    for segments, size in SIZES.items():
        for shape in SHAPES:
            some = [size] * segments
            yield f"{segments} segments of {size}, {shape}", lambda rng, a=some, b=shape: plain(a, b, rng)
    for shape in SHAPES:
        some = [*[10] * 24, 360]
        yield f"24 segments of 10 and one of 360, {shape}", lambda rng, a=some, b=shape: plain(a, b, rng)
    for shape in ("like a bell", "lognormal", "success of .10"):
        yield (
            f"5 segments, {USERS} users in each, {shape}",
            lambda rng, a=shape: of_users(5 * USERS, 5, a, rng, across=False),
        )
    yield (
        f"5 segments, {USERS} users in each, three times as often in one, like a bell",
        lambda rng: of_users(5 * USERS, 5, "like a bell", rng, across=False, unlike=True),
    )
    for users in (40, 200):
        for shape in ("like a bell", "lognormal", "success of .10"):
            yield (
                f"5 segments, {users} users across them, {shape}",
                lambda rng, a=users, b=shape: of_users(a, 5, b, rng, across=True),
            )
    for segments in (5, 20):
        for shape in ("success, 5 % moved", "rr"):
            some = [SIZES[segments]] * segments
            yield (
                f"{segments} segments of {SIZES[segments]}, differences of {shape}",
                lambda rng, a=some, b=shape: of_two(a, b, rng),
            )
    for size in (10, 40):
        yield (
            f"4 segments of 40 and one of {size} that varies three times as much, like a bell",
            lambda rng, a=size: spread(a, rng),
        )


def told(world: World, *, again: bool = False) -> int:
    """Return the segment that is said to stand out, -1 for none; ``again``: whether summary() shall agree."""
    found = outstanding(world.judged, world.segment, world.cluster)
    which = found.segment if found.p < ALPHA else -1
    if again:
        agree([which, found.p if which >= 0 else 1.0], by_summary(world), "a segment that stands out")
    return which


def by_summary(world: World) -> list[float]:
    """Return the segment that summary() says stands out, and its p-value; -1 and 1 for none."""
    n = len(world.values)
    columns = {
        "query": np.arange(n),
        "of": world.segment,
        "user": np.arange(n) if world.cluster is None else world.cluster,
    }
    sides = {"new": world.values} | ({} if world.baseline is None else {"old": world.baseline})
    log = pl.concat(
        [pl.DataFrame(columns | {"gain": own}).with_columns(side=pl.lit(side)) for side, own in sides.items()]
    )
    roles = {"query": "query", "value": "gain", "by": "of"}
    roles |= {"cluster": "user"} if world.cluster is not None else {}
    beside = {} if world.baseline is None else {"baseline": "old"}
    irm = log.sample(fraction=1, shuffle=True, seed=1).irm(**roles, system="side" if beside else None)
    said = irm.summary(**beside).filter(kind="segment")
    if not len(said):
        return [-1, 1.0]
    return [int(said["of"][0].split("= ")[1]), said["p_adjusted"][0]]


def by_intervals(world: World) -> int:
    """Return the segment whose interval, at a level for all, is farthest from the whole without holding it; or -1."""
    n = int(world.segment.max()) + 1
    order = np.arange(len(world.values))
    every = order >= 0
    own = tally(None, world.values, "macro", None, (every, ~every), (-np.inf, np.inf))
    low, high = intervals([own], world.segment, n, 1 - ALPHA / n, max(1000, 200 * n), 0, drawing_order=order)[:, 0]
    whole, size = world.values.mean(), np.bincount(world.segment)
    own = np.bincount(world.segment, world.values) / size
    far = np.where(((low > whole) | (high < whole)) & (size >= LEAST), np.abs(own - whole), 0)
    return int(far.argmax()) if far.any() else -1


def of_segments(rows: Any, trials: int) -> Iterator[Line]:
    """Count how often a segment is said to stand out: where none differs, and where the last one does."""
    del rows
    for at, (setting, drawn) in enumerate(worlds()):
        happened = 0
        for trial in range(trials):
            world = drawn(np.random.default_rng([50, at, trial]))
            happened += told(world, again=trial < AGREE) >= 0
        yield Line("false alarm: a segment stands out", setting, trials, happened, AT_MOST)
    for at, shape in enumerate(SHAPES):
        size = 100 if shape in LATENT else 50
        for apart in (False, True):
            new, right, old = 0, 0, 0
            for trial in range(trials):
                world = plain([size] * SEEN, shape, np.random.default_rng([51, at, apart, trial]), apart)
                which = told(world)
                new, right, old = new + (which >= 0), right + (which == SEEN - 1), old + (by_intervals(world) >= 0)
            setting = f"{SEEN} segments of {size}, {shape}"
            if apart:
                yield Line("segment apart seen", setting, trials, new, None)
                yield Line("the right segment is named", setting, trials, right, None)
                yield Line("segment apart seen by intervals", setting, trials, old, None)
            else:
                yield Line("alarm by intervals: a segment stands out", setting, trials, old, None)
