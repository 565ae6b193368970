"""Lines of the simulation about a change that is taken apart: the intervals of its parts, of totals and of segments.

Queries of two periods are drawn, each of a segment by the shares of its period, with values by its segment and period.
What is true follows from the shares and means that are drawn from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from trials import Line, agree

from frame_metrics.stats.mix import MIX_PARTS, Grouping, TwoMixes, decompose

LEVEL, RESAMPLES = 0.95, 1000
AGREE = 2  # trials of each kind that change() is asked about too
OF_TOTALS, OF_SEGMENTS = (0.93, 0.97), (0.90, 1.0)
OFTEN = 6  # the most queries of a user in a period
OWN = 0.5  # share of the user in the variance of what a value is made of
MANY = (400, 400)
FOUR = ((0.55, 0.25, 0.12, 0.08), (0.40, 0.35, 0.15, 0.10))  # shares of segments now, and before
ALIKE = (FOUR[1], FOUR[1])
LEVELS = np.array([[0.30, 0.55, 0.40, 0.65], [0.35, 0.55, 0.50, 0.60]])
SMALL = 8  # segments of so few queries that of rare values hardly any is seen
OF_SMALL = ((*[0.07] * SMALL, 0.14, 0.30), (*[0.07] * SMALL, 0.24, 0.20))
RARE_OF_SMALL = np.array([[0.02, 0.03, 0.02, 0.05] * 2 + [0.20, 0.10], [0.03, 0.02, 0.05, 0.02] * 2 + [0.25, 0.10]])
TWO = ((0.5, 0.5), (0.45, 0.55))
CLOSE_BY = np.array([[0.30, 0.35], [0.30, 0.35]])
RARE = np.array([[0.02, 0.08, 0.05, 0.15], [0.03, 0.06, 0.05, 0.10]])
TEN = (np.linspace(0.14, 0.06, 10), np.linspace(0.06, 0.14, 10))
OF_TEN = np.array([np.linspace(0.2, 0.7, 10), np.linspace(0.25, 0.6, 10)])


class Setting(NamedTuple):
    """What is drawn."""

    name: str
    shares: Sequence[Any]  # of segments, now and before
    level: Any  # the mean of each segment, now and before
    draw: Callable[[Any, Any], Any] | None  # values of these means; None for those of users, who are alike
    n: tuple[int, int] = MANY  # queries, or users, of each period
    users: bool = False  # whether users have several queries
    both: float = 0.0  # the share of users who are in both periods
    totals: tuple[float, float] | None = OF_TOTALS
    segments: bool = True  # whether some segment has 20 queries in each period in every trial
    small: int = 0  # the number of segments whose intervals are counted together


def success(rng: Any, mean: Any) -> Any:
    """Draw values of 0 and 1."""
    return (rng.random(len(mean)) < mean).astype(np.float64)


def skewed(rng: Any, mean: Any) -> Any:
    """Draw lognormal values."""
    return mean * rng.lognormal(-0.5, 1.0, len(mean))


def ranks(rng: Any, mean: Any) -> Any:
    """Draw reciprocal ranks, of which some are 0."""
    held = np.array([1, 1 / 2, 1 / 3, 1 / 5])
    return np.where(rng.random(len(mean)) < mean / held.mean(), rng.choice(held, len(mean)), 0.0)


SETTINGS = (
    Setting("like a bell", FOUR, LEVELS, lambda rng, mean: mean + rng.normal(size=len(mean))),
    Setting("rr", FOUR, LEVELS * 0.7, ranks),
    Setting("rr, the same shares and means", ALIKE, np.full((2, 4), 0.4), ranks, totals=None),
    Setting("lognormal", FOUR, LEVELS, skewed),
    Setting("success", FOUR, LEVELS, success),
    Setting("success of .02 to .15", FOUR, RARE, success),
    Setting("10 segments of 24 to 56, rr", TEN, OF_TEN * 0.7, ranks),
    Setting("60 queries of each period, rr", FOUR, LEVELS * 0.7, ranks, (60, 60), totals=None, segments=False),
    Setting("1,600 queries and 400 before, rr", FOUR, LEVELS * 0.7, ranks, (1600, 400)),
    Setting("a segment that is new, and one that is gone, rr", (FOUR[0], (0.4, 0.35, 0.25, 0)), LEVELS * 0.7, ranks),
    Setting("users with 1 to 6 queries", FOUR, LEVELS, None, (130, 130), users=True),
    Setting("users with 1 to 6 queries, half of them in both periods", FOUR, LEVELS, None, (130, 130), True, 0.5),
    Setting("queries of which half are in both periods", FOUR, LEVELS, None, MANY, both=0.5),
    Setting("users with 1 to 6 queries, all of them in both periods", FOUR, LEVELS, None, (130, 130), True, 1.0),
    Setting("570 users with 1 to 6 queries", FOUR, LEVELS, None, (570, 570), users=True),
    Setting("2 segments, both differences small, rr", TWO, CLOSE_BY, ranks),
    Setting("8 segments of 28, success of .02 to .05", OF_SMALL, RARE_OF_SMALL, success, segments=False, small=SMALL),
)


def drawn(setting: Setting, rng: Any) -> TwoMixes:
    """Draw the queries of two periods."""
    each: list[list[Any]] = []
    of = [rng.random(n) for n in setting.n]
    same = int(setting.both * min(setting.n))
    of[1][:same] = of[0][:same]
    own = [rng.normal(size=n) for n in setting.n]
    own[1][:same] = own[0][:same]
    for period in range(2):
        n = setting.n[period]
        often = rng.integers(1, OFTEN + 1, n) if setting.users else np.ones(n, np.int64)
        user = np.repeat(np.arange(n), often)
        edges = np.cumsum(setting.shares[period])
        segment = np.minimum(np.searchsorted(edges / edges[-1], of[period]), len(edges) - 1)[user]
        mean = setting.level[period][segment]
        if setting.users or setting.both:
            values = mean + OWN**0.5 * own[period][user] + (1 - OWN) ** 0.5 * rng.normal(size=len(user))
        elif setting.draw is not None:
            values = setting.draw(rng, mean)
        unit = np.where(user < same, user, user + period * max(setting.n))
        each.append([values, np.full(len(user), period == 0), segment, unit])
    values, mine, segment, unit = (np.concatenate(one) for one in zip(*each, strict=True))
    order = np.argsort(segment, kind="stable")
    values, mine, segment, unit = (one[order] for one in (values, mine, segment, unit))
    return TwoMixes(values, np.ones(len(values)), mine, segment, unit, len(setting.shares[0]))


def true_parts(setting: Setting) -> Any:
    """Return the change, and its parts, of each segment and of all, shape (3, segments + 1)."""
    share = np.array([np.array(one) / np.sum(one) for one in setting.shares])
    parts = decompose(share, share * setting.level)
    return np.column_stack([parts, parts.sum(axis=1)])


def found(mixes: TwoMixes, *, again: bool) -> Any:
    """Return the ends of the parts of each segment and of all, shape (3, 2, segments + 1).

    ``again``: whether change() shall agree.
    """
    n = mixes.segments
    groupings = [Grouping(np.arange(n), n), Grouping(np.zeros(n, np.int64), 1)]
    told = mixes.columns_of(groupings, LEVEL, RESAMPLES, 0)
    if again:
        names = [*MIX_PARTS, *(f"{part}{end}" for part in MIX_PARTS for end in ("_low", "_high")), "n", "baseline_n"]
        theirs = by_change(mixes).select(pl.col(names).cast(pl.Float64).fill_null(np.nan))
        ours = np.array([told[name] for name in names])
        agree(np.nan_to_num(ours, nan=-9), np.nan_to_num(theirs.to_numpy().T, nan=-9), "a change that is taken apart")
    return np.array([[told[f"{part}_low"], told[f"{part}_high"]] for part in MIX_PARTS])


def by_change(mixes: TwoMixes) -> pl.DataFrame:
    """Return the same by the verb."""
    columns = {"week": mixes.in_first, "of": mixes.segment, "user": mixes.unit, "v": mixes.values}
    log = pl.DataFrame(columns).with_row_index("query").sample(fraction=1, shuffle=True, seed=1)
    irm = log.irm(query="query", value="v", arm="week", by="of", cluster="user")
    return irm.change(baseline=False, ci=LEVEL, resamples=RESAMPLES)


def parts_of_change(rows: Any, trials: int) -> Iterator[Line]:
    """Count intervals that hold the part of a segment, or of all."""
    del rows
    for at, setting in enumerate(SETTINGS):
        yield from of_setting(at, setting, trials)


def of_setting(at: int, setting: Setting, trials: int) -> Iterator[Line]:
    """Count those of a setting; of segments, those that have an interval in every trial, the one with the fewest."""
    true = true_parts(setting)
    held, given = np.zeros(true.shape, int), np.zeros(true.shape, int)
    for trial in range(trials):
        mixes = drawn(setting, np.random.default_rng([52, at, trial]))
        ends = found(mixes, again=trial < AGREE)
        known = ~np.isnan(ends).any(axis=1)
        held += known & (ends[:, 0] <= true) & (true <= ends[:, 1])
        given += known
    for part, name in enumerate(MIX_PARTS):
        yield Line(f"coverage of {name}, total", setting.name, trials, int(held[part, -1]), setting.totals)
        every = held[part, :-1][given[part, :-1] == trials]
        if setting.segments:
            yield Line(f"coverage of {name}, the lowest segment", setting.name, trials, int(every.min()), OF_SEGMENTS)
        if setting.small:
            some, n = held[part, : setting.small].sum(), given[part, : setting.small].sum()
            yield Line(f"coverage of {name}, small segments", setting.name, int(n), int(some), OF_SEGMENTS)
