"""Comparisons in plain Python: of pairs and of arms, with weights, clusters and a covariate, one number at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, permutations, product
from math import comb, sqrt
from statistics import NormalDist, fmean
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

ROUNDING = 1e-9


def share(draws: Iterable[float], seen: float) -> float:
    """The share of numbers that are as far from 0 as what was seen."""
    far = [abs(one) >= abs(seen) - ROUNDING for one in draws]
    return sum(far) / len(far)


def quantile(values: Sequence[float], at: float) -> float:
    """A quantile, linear between two values."""
    up = sorted(values)
    place = at * (len(up) - 1)
    low = min(int(place), len(up) - 2)
    return up[low] + (place - low) * (up[low + 1] - up[low])


def detected(error: float, ci: float) -> float:
    """The difference that is found four times in five, by its standard error."""
    return (NormalDist().inv_cdf((1 + ci) / 2) + NormalDist().inv_cdf(0.8)) * error


def detected_by_t(error: float, free: float, ci: float) -> float:
    """The same of a t-test with these degrees of freedom."""
    return float(stats.t.ppf((1 + ci) / 2, free) + stats.t.ppf(0.8, free)) * error


# Pairs


class Pair(NamedTuple):
    """What a query gives to a comparison: the values of both systems, its weight, and the cluster it is of."""

    value: float
    base: float
    weight: float = 1
    unit: Any = None

    @property
    def apart(self) -> float:
        """The difference."""
        return self.value - self.base


def of_units(pairs: Sequence[Pair], give: Any) -> list[float]:
    """Sums over the clusters of pairs; a pair without a cluster is one of its own."""
    sums: dict[Any, float] = {}
    for place, pair in enumerate(pairs):
        unit = ("of its own", place) if pair.unit is None else pair.unit
        sums[unit] = sums.get(unit, 0) + give(pair)
    return list(sums.values())


def of_pairs(pairs: Sequence[Pair], ci: float = 0.95, resamples: int = 100, seed: int = 0) -> dict[str, Any]:
    """What a comparison says of pairs, whatever its test; clusters are drawn in the order of their queries."""
    weight = sum(pair.weight for pair in pairs)
    value, base = (sum(pair.weight * pair[side] for pair in pairs) / weight for side in (0, 1))
    mean = value - base
    parts = of_units([pair for pair in pairs if pair.weight], lambda pair: pair.weight * (pair.apart - mean))
    spread = sum(pair.weight * (pair.apart - mean) ** 2 for pair in pairs)
    spread /= weight - sum(pair.weight**2 for pair in pairs) / weight
    drawn = resampled(pairs, resamples, seed)
    return {
        "value": value,
        "baseline_value": base,
        "difference": mean,
        "relative": mean / base if base else None,
        "wins": sum(pair.apart > 0 for pair in pairs),
        "ties": sum(pair.apart == 0 for pair in pairs),
        "losses": sum(pair.apart < 0 for pair in pairs),
        "n": len(pairs),
        "mde": detected(robust_error(parts, weight), ci),
        "effect_size": mean / sqrt(spread) if spread > ROUNDING else None,
        "ci_low": quantile(drawn, (1 - ci) / 2),
        "ci_high": quantile(drawn, (1 + ci) / 2),
    }


def robust_error(parts: Sequence[float], weight: float) -> float:
    """The robust standard error of a weighted mean, of what each unit adds to it."""
    return sqrt(len(parts) / (len(parts) - 1) * sum(part**2 for part in parts)) / weight


def resampled(pairs: Sequence[Pair], resamples: int, seed: int) -> list[float]:
    """Weighted mean differences of resampled clusters, draw by draw."""
    rng = np.random.default_rng(seed)
    top = of_units(pairs, lambda pair: pair.weight * pair.apart)
    below = of_units(pairs, lambda pair: pair.weight)
    means = []
    for _ in range(resamples):
        at = rng.integers(0, len(top), len(top)).tolist()
        means.append(sum(top[i] for i in at) / sum(below[i] for i in at))
    return means


def p_of_pairs(test: str, pairs: Sequence[Pair], resamples: int = 100, seed: int = 0) -> float:
    """The p-value of pairs: every flip of clusters counted, scipy's, or of the same draws."""
    apart = [pair.apart for pair in pairs]
    if test == "randomization":
        return flipped(of_units(pairs, lambda pair: pair.weight * pair.apart))
    if test == "bootstrap":
        mean = of_pairs(pairs, resamples=2)["difference"]
        far = sum(abs(one - mean) >= abs(mean) - 1e-12 for one in resampled(pairs, resamples, seed))
        return (far + 1) / (resamples + 1)
    if not any(apart):
        return 1.0
    if test == "t":
        return float(stats.ttest_1samp(apart, 0).pvalue)
    if test == "wilcoxon":
        return float(stats.wilcoxon(apart).pvalue)
    wins, moved = sum(one > 0 for one in apart), sum(one != 0 for one in apart)
    return min(1.0, 2 * sum(comb(moved, i) for i in range(min(wins, moved - wins) + 1)) / 2**moved)


def flipped(parts: Sequence[float]) -> float:
    """The exact p-value of the randomization test: every way to flip the signs."""
    sums = [0.0]
    for part in parts:
        if part:
            sums = [one + sign * part for one in sums for sign in (1, -1)]
    return share(sums, sum(parts))


def exchanged(table: Sequence[Sequence[float]], one: int, other: int) -> float:
    """The exact p-value of two systems beside others: every exchange of what systems have in each unit."""
    sums = {(0.0,) * len(table[0])}
    ways: dict[tuple[float, ...], int] = dict.fromkeys(sums, 1)
    for row in table:
        more: dict[tuple[float, ...], int] = {}
        for sum_, n in ways.items():
            for order in permutations(row):
                key = tuple(round(a + b, 9) for a, b in zip(sum_, order, strict=True))
                more[key] = more.get(key, 0) + n
        ways = more
    gap = abs(sum(row[one] - row[other] for row in table))
    return sum(n for key, n in ways.items() if max(key) - min(key) >= gap - 1e-6) / sum(ways.values())


# Arms


class Stand(NamedTuple):
    """A query of an arm: the unit that it is of, its value and weight, and what was known of the unit before."""

    arm: str
    unit: Any
    value: float
    weight: float = 1
    before: float = 0


class Arm(NamedTuple):
    """The mean of an arm; what each unit adds to it, and to the mean of what was known before."""

    mean: float
    before: float
    psi: dict[Any, float]
    apart: dict[Any, float]
    queries: int


def arm_of(stands: Sequence[Stand], arm: str) -> Arm:
    """Return an arm, from its queries."""
    own = [one for one in stands if one.arm == arm and one.weight]
    weight = sum(one.weight for one in own)
    mean = sum(one.weight * one.value for one in own) / weight
    units = {one.unit: one.before for one in own}
    psi = {
        unit: sum(one.weight * (one.value - mean) for one in own if one.unit == unit) / weight for unit in sorted(units)
    }
    before = fmean(units.values())
    return Arm(mean, before, psi, {unit: (x - before) / len(units) for unit, x in units.items()}, len(own))


def theta_of(stands: Sequence[Stand], a: Arm, b: Arm) -> float:
    """How much of a value goes with what was known before: over units of both arms by what they add to each.

    Where no unit is of both, over all units, by what each adds to the mean of all.
    """
    units = sorted({*a.psi, *b.psi})
    if len(units) < len(a.psi) + len(b.psi):
        d = [b.psi.get(unit, 0) - a.psi.get(unit, 0) for unit in units]
        x = [b.apart.get(unit, 0) - a.apart.get(unit, 0) for unit in units]
    else:
        every = arm_of([one._replace(arm="") for one in stands], "")
        d, x = ([part[unit] for unit in units] for part in (every.psi, every.apart))
    return sum(map(float.__mul__, d, x)) / sum(one**2 for one in x) if max(map(abs, x)) > 1e-12 else 0.0


def linear(stands: Sequence[Stand], covariate: bool) -> tuple[float, list[float], list[float], list[float], float]:
    """The difference of arms B and A, what units of B alone, of A alone and of both add to it, and theta."""
    a, b = (arm_of(stands, arm) for arm in "AB")
    theta = theta_of(stands, a, b) if covariate else 0.0
    mine, base = (
        {u: sqrt(len(arm.psi) / (len(arm.psi) - 1)) * (arm.psi[u] - theta * arm.apart[u]) for u in arm.psi}
        for arm in (b, a)
    )
    only_b, only_a = ([one[u] for u in one if u not in other] for one, other in ((mine, base), (base, mine)))
    common = [mine[u] - base[u] for u in mine if u in base]
    return b.mean - a.mean - theta * (b.before - a.before), only_b, only_a, common, theta


def error_of(stands: Sequence[Stand], covariate: bool = False) -> tuple[float, float]:
    """The difference of arms B and A, and its standard error."""
    difference, *parts, _ = linear(stands, covariate)
    return difference, sqrt(sum(one**2 for part in parts for one in part))


def of_arms(stands: Sequence[Stand], test: str, *, covariate: bool = False, ci: float = 0.95) -> dict[str, Any]:
    """What a comparison says of arms B and A by the formulas: the difference, its error, interval and p-value."""
    difference, *parts, _ = linear(stands, covariate)
    variances = [sum(one**2 for one in part) for part in parts]
    error = sqrt(sum(variances))
    free = float("inf")
    if test != "z":
        free = error**4 / sum(v**2 / max(len(part) - 1, 1) for v, part in zip(variances, parts, strict=True) if v)
    wide = float(stats.t.ppf((1 + ci) / 2, free)) * error
    found: dict[str, Any] = {"difference": difference, "ci_low": difference - wide, "ci_high": difference + wide}
    arms = {arm: arm_of(stands, arm) for arm in "AB"}
    found |= {"n": arms["B"].queries, "baseline_n": arms["A"].queries, "mde": detected_by_t(error, free, ci)}
    found |= {"n_units": len(arms["B"].psi), "baseline_n_units": len(arms["A"].psi)}
    p = (
        every_exchange(stands, covariate)
        if test == "randomization"
        else 2 * float(stats.t.sf(abs(difference) / error, free))
    )
    return found | {"p_value": p}


def every_exchange(stands: Sequence[Stand], covariate: bool) -> float:
    """The exact p-value of arms: units of both exchange what they have in them, the others are permuted.

    Each draw has its own theta and error; where no unit is of both, theta is that of all units.
    """
    of = {unit: {one.arm for one in stands if one.unit == unit} for unit in sorted({one.unit for one in stands})}
    alone, both = [u for u in of if len(of[u]) == 1], [u for u in of if len(of[u]) == 2]

    def far(some: Sequence[Stand]) -> float:
        difference, error = error_of(some, covariate)
        return difference / error

    draws = []
    for chosen in combinations(alone, sum(of[u] == {"A"} for u in alone)):
        for swap in product([False, True], repeat=len(both)):
            swapped = {u for u, yes in zip(both, swap, strict=True) if yes}
            arms = [
                (
                    "AB"[one.arm == "A"]
                    if one.unit in swapped
                    else one.arm
                    if one.unit in both
                    else "BA"[one.unit in chosen]
                )
                for one in stands
            ]
            draws.append(far([one._replace(arm=arm) for one, arm in zip(stands, arms, strict=True)]))
    return share(draws, far(stands))
