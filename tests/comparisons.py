"""Comparisons in plain Python: of pairs and of arms, with weights, clusters and a covariate, one number at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, product
from math import ceil, comb, sqrt
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


def of_pairs(
    pairs: Sequence[Pair],
    ci: float = 0.95,
    resamples: int = 100,
    seed: int = 0,
    *,
    flips: bool = True,
    draws: bool = False,
) -> dict[str, Any]:
    """What a comparison says of pairs, whatever its test; clusters are drawn in the order of their queries."""
    weight = sum(pair.weight for pair in pairs)
    n = kish(pairs)
    value, base = (sum(pair.weight * pair[side] for pair in pairs) / weight for side in (0, 1))
    mean = value - base
    parts = of_units([pair for pair in pairs if pair.weight], lambda pair: pair.weight * (pair.apart - mean))
    spread = sum(pair.weight * (pair.apart - mean) ** 2 for pair in pairs)
    spread /= weight - sum(pair.weight**2 for pair in pairs) / weight
    drawn = resampled(pairs, max(resamples, 10_000) if n < 20 else resamples, seed)
    tail = NormalDist().cdf(-sqrt(n / (n - 1)) * float(stats.t.ppf((1 + ci) / 2, n - 1)))
    far = float(stats.t.ppf((1 + ci) / 2, n - 1) + stats.t.ppf(0.8, n - 1))
    sizes = of_units([pair for pair in pairs if pair.weight], lambda pair: pair.weight)
    error = robust_error(parts, weight, sizes if uneven(pairs) else None)
    ends = {"ci_low": quantile(drawn, tail), "ci_high": quantile(drawn, 1 - tail)}
    if not draws and n < 10:
        half = float(stats.t.ppf((1 + ci) / 2, n - 1)) * error
        ends = {"ci_low": mean - half, "ci_high": mean + half}
    return ends | {
        "value": value,
        "baseline_value": base,
        "difference": mean,
        "relative": mean / base if base else None,
        "wins": sum(pair.apart > 0 for pair in pairs),
        "ties": sum(pair.apart == 0 for pair in pairs),
        "losses": sum(pair.apart < 0 for pair in pairs),
        "n": len(pairs),
        "mde": far * error if not flips or 2 ** (1 - len(parts)) <= 1 - ci + ROUNDING else None,
        "effect_size": mean / sqrt(spread) if spread > ROUNDING else None,
    }


def kish(pairs: Sequence[Pair]) -> float:
    """The number of units, or where weights differ from 1 Kish's."""
    sizes = of_units(pairs, lambda pair: pair.weight)
    return of_sizes(sizes) if any(pair.weight != 1 for pair in pairs) else len(sizes)


def of_sizes(sizes: Iterable[float]) -> float:
    """Kish's number of units of some sizes; 0 of none."""
    each = [*sizes]
    return sum(each) ** 2 / sum(size**2 for size in each) if each else 0.0


def uneven(pairs: Iterable[Any]) -> bool:
    """Whether pairs, or queries of an arm, have several weights."""
    return len({pair.weight for pair in pairs if pair.weight}) > 1


def left_of(sizes: Sequence[float]) -> list[float]:
    """What is left of the variance of each unit in its squared distance from the mean: with h = w / W, E e^2 / s^2."""
    part = [size / sum(sizes) for size in sizes]
    return [1 - 2 * h + sum(other**2 for other in part) for h in part]


def robust_error(parts: Sequence[float], weight: float, sizes: Sequence[float] | None = None) -> float:
    """The robust standard error of a weighted mean, of what each unit adds to it; ``sizes``: unequal weights."""
    if sizes is not None:
        return sqrt(sum(part**2 / left for part, left in zip(parts, left_of(sizes), strict=True))) / weight
    return sqrt(len(parts) / (len(parts) - 1) * sum(part**2 for part in parts)) / weight


def resampled(pairs: Sequence[Pair], resamples: int, seed: int) -> list[float]:
    """Weighted mean differences of resampled clusters, draw by draw."""
    rng = np.random.default_rng(seed)
    top = of_units(pairs, lambda pair: pair.weight * pair.apart)
    below = of_units(pairs, lambda pair: pair.weight)
    means = []
    for _ in range(resamples):
        at = rng.integers(0, len(top), len(top)).tolist()
        if size := sum(below[i] for i in at):  # a draw without weights has no mean
            means.append(sum(top[i] for i in at) / size)
    return means


def p_of_pairs(test: str, pairs: Sequence[Pair], resamples: int = 100, seed: int = 0) -> float:
    """The p-value of pairs: every flip of clusters counted, scipy's, or of the same draws."""
    apart = [pair.apart for pair in pairs]
    if test == "randomization":
        return flipped(of_units(pairs, lambda pair: pair.weight * pair.apart))
    if test == "bootstrap":
        mean = of_pairs(pairs, resamples=2)["difference"]
        drawn = resampled(pairs, max(resamples, 10_000) if kish(pairs) < 20 else resamples, seed)
        return (sum(abs(one - mean) >= abs(mean) - 1e-12 for one in drawn) + 1) / (len(drawn) + 1)
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


class Column(NamedTuple):
    """What each unit gives to a pair of systems, by its name: its weighted difference, and its weight."""

    sums: dict[Any, float]
    sizes: dict[Any, float]
    uneven: bool

    @classmethod
    def of(cls, pairs: Sequence[tuple[Any, Pair]]) -> Column:
        """Make a column of pairs, each with the name of its unit."""
        units = dict.fromkeys(unit for unit, _ in pairs)
        return cls(
            {unit: sum(pair.weight * pair.apart for one, pair in pairs if one == unit) for unit in units},
            {unit: sum(pair.weight for one, pair in pairs if one == unit) for unit in units},
            uneven(pair for _, pair in pairs),
        )

    @property
    def mean(self) -> float:
        """The mean difference."""
        return sum(self.sums.values()) / sum(self.sizes.values())

    @property
    def left(self) -> dict[Any, float]:
        """The sums of distances from the mean."""
        return {unit: one - self.sizes[unit] * self.mean for unit, one in self.sums.items()}

    @property
    def units(self) -> int:
        """The number of units that weigh."""
        return sum(size > 0 for size in self.sizes.values())

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        if self.units < 2:
            return float("inf")
        sizes = [size for size in self.sizes.values() if size]
        parts = [one for unit, one in self.left.items() if self.sizes[unit]]
        return robust_error(parts, sum(sizes), sizes if self.uneven else None)

    @property
    def n(self) -> float:
        """The number of units, by Kish if they have unequal weights."""
        return of_sizes(self.sizes.values()) if self.uneven else self.units

    def away(self, ci: float) -> float:
        """How many standard errors the ends of the interval of this pair alone are away."""
        return float(stats.t.ppf((1 + ci) / 2, self.n - 1)) if self.n >= 2 else float("inf")

    def t(self, signs: dict[Any, int]) -> float:
        """The t of flipped distances from the mean; -1 if all are 0."""
        u, n = statistic(self.left, signs), self.units
        if u < 0 or not self.uneven:
            return u if u < 0 else u * sqrt((n - 1) / (n - u**2)) if n - u**2 > ROUNDING else float("inf")
        parts = {unit: signs[unit] * one for unit, one in self.left.items() if self.sizes[unit]}
        sizes = [self.sizes[unit] for unit in parts]
        mean = sum(parts.values()) / sum(sizes)
        left = [one - self.sizes[unit] * mean for unit, one in parts.items()]
        error = robust_error(left, sum(sizes), sizes)
        return abs(mean) / error if error > ROUNDING else float("inf")


def statistic(sums: dict[Any, float], signs: dict[Any, int]) -> float:
    """The size of the sum with some signs over the root of the sum of squares; -1 if all are 0."""
    below = sqrt(sum(one**2 for one in sums.values()))
    return abs(sum(signs[unit] * one for unit, one in sums.items())) / below if below > ROUNDING else -1.0


def max_t(columns: Sequence[Column], ci: float) -> tuple[list[float], float]:
    """The corrected p-values of a family of pairs, and how many standard errors the ends of its intervals are away.

    Every flip of the signs of all units is tried, and the greatest statistic of each is kept. Flips of which two, the
    fewest that are as extreme as what is seen, are more than twice 1 - ``ci`` of all are too few for an interval.
    """
    units = sorted({unit for column in columns for unit in column.sums}, key=str)
    greatest, wide = [], []
    for each in product((1, -1), repeat=len(units)):
        signs = dict(zip(units, each, strict=True))
        greatest.append(max(statistic(column.sums, signs) for column in columns))
        wide.append(max(column.t(signs) for column in columns))
    seen = [statistic(column.sums, dict.fromkeys(units, 1)) for column in columns]
    p = [share(greatest, one) if one >= 0 else 1.0 for one in seen]
    enough = 2 / len(wide) <= 2 * (1 - ci) + ROUNDING
    return p, sorted(wide)[ceil(ci * (len(wide) - 1) - ROUNDING)] if enough else float("inf")


# Arms


class Stand(NamedTuple):
    """A query of an arm: the unit that it is of, its value and weight, and what was known of the unit before."""

    arm: str
    unit: Any
    value: float
    weight: float = 1
    before: float = 0
    stratum: str = ""


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


def linear(
    stands: Sequence[Stand], covariate: bool, *, weighted: bool = False
) -> tuple[float, list[float], list[float], list[float], float]:
    """The difference of arms B and A, what units of B alone, of A alone and of both add to it, and theta."""
    a, b = (arm_of(stands, arm) for arm in "AB")
    theta = theta_of(stands, a, b) if covariate else 0.0
    mine, base = (
        {u: factor * (arm.psi[u] - theta * arm.apart[u]) for (u, factor) in factors(stands, name, weighted).items()}
        for arm, name in ((b, "B"), (a, "A"))
    )
    only_b, only_a = ([one[u] for u in one if u not in other] for one, other in ((mine, base), (base, mine)))
    common = [mine[u] - base[u] for u in mine if u in base]
    return b.mean - a.mean - theta * (b.before - a.before), only_b, only_a, common, theta


def weights_of(stands: Sequence[Stand], arm: str) -> dict[Any, float]:
    """The weight of each unit of an arm."""
    own = [one for one in stands if one.arm == arm and one.weight]
    return {unit: sum(one.weight for one in own if one.unit == unit) for unit in sorted({one.unit for one in own})}


def factors(stands: Sequence[Stand], arm: str, weighted: bool) -> dict[Any, float]:
    """By what the distances of units of an arm are multiplied, as they draw the mean to themselves."""
    sizes = weights_of(stands, arm)
    n = len(sizes)
    left = left_of([*sizes.values()]) if weighted else [(n - 1) / n] * n
    return {unit: 1 / sqrt(one) for unit, one in zip(sizes, left, strict=True)}


def error_of(stands: Sequence[Stand], covariate: bool = False) -> tuple[float, float]:
    """The difference of arms B and A, and its standard error."""
    difference, *parts, _ = linear(stands, covariate)
    return difference, sqrt(sum(one**2 for part in parts for one in part))


def of_arms(stands: Sequence[Stand], test: str, *, covariate: bool = False, ci: float = 0.95) -> dict[str, Any]:
    """What a comparison says of arms B and A by the formulas: the difference, its error, interval and p-value."""
    weighted = uneven(stands) and test not in ("t", "z")
    difference, *parts, _ = linear(stands, covariate, weighted=weighted)
    variances = [sum(one**2 for one in part) for part in parts]
    error = sqrt(sum(variances))
    free = float("inf")
    if test != "z":
        n = [float(len(part)) for part in parts]
        if weighted:
            a, b = (weights_of(stands, arm) for arm in "AB")
            n = [of_sizes(b[u] for u in b if u not in a), of_sizes(a[u] for u in a if u not in b)]
            n += [min(of_sizes(arm[u] for u in a if u in b) for arm in (a, b))]
        free = error**4 / sum(v**2 / max(units - 1, 1) for v, units in zip(variances, n, strict=True) if v)
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


def within_strata(stands: Sequence[Stand], weighted: bool = False) -> tuple[float, list[float], list[float]]:
    """The difference within strata, by the share of each in the weight of all, and the variances of B and of A in each.

    The last: how many units each variance is of, by Kish if queries have unlike weights.
    """
    every, difference, variances, n = sum(one.weight for one in stands), 0.0, [], []
    for stratum in sorted({one.stratum for one in stands}):
        own = [one for one in stands if one.stratum == stratum]
        share_of = sum(one.weight for one in own) / every
        apart, b, a, _, _ = linear(own, False, weighted=weighted)
        difference += share_of * apart
        variances += [share_of**2 * sum(one**2 for one in part) for part in (b, a)]
        n += [of_sizes(weights_of(own, arm).values()) if weighted else float(len(weights_of(own, arm))) for arm in "BA"]
    return difference, variances, n


def of_strata(stands: Sequence[Stand], test: str, ci: float = 0.95) -> dict[str, Any]:
    """What a comparison within strata says of arms B and A by the formulas, as ``of_arms`` does without strata."""
    difference, variances, n = within_strata(stands, uneven(stands) and test not in ("t", "z"))
    error = sqrt(sum(variances))
    free = error**4 / sum(v**2 / max(units - 1, 1) for v, units in zip(variances, n, strict=True) if v)
    free = float("inf") if test == "z" else free
    wide = float(stats.t.ppf((1 + ci) / 2, free)) * error
    found = {"difference": difference, "ci_low": difference - wide, "ci_high": difference + wide}
    found |= {"mde": detected_by_t(error, free, ci), "p_value": 2 * float(stats.t.sf(abs(difference) / error, free))}
    return found | ({"p_value": every_exchange_within(stands)} if test == "randomization" else {})


def every_exchange_within(stands: Sequence[Stand]) -> float:
    """The exact p-value of arms with strata, whose units are permuted within each."""
    strata = sorted({one.stratum for one in stands})
    units = [{one.unit: one.arm for one in stands if one.stratum == stratum} for stratum in strata]

    def far(some: Sequence[Stand]) -> float:
        difference, variances, _ = within_strata(some)
        return difference / sqrt(sum(variances))

    ways = [combinations(sorted(own), [*own.values()].count("A")) for own in units]
    draws = []
    for way in product(*ways):
        chosen = {unit for own in way for unit in own}
        draws.append(far([one._replace(arm="BA"[one.unit in chosen]) for one in stands]))
    return share(draws, far(stands))
