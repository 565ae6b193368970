"""Lines of the simulation about pairs of systems: families of many pairs, and two systems on few queries.

Families: systems that do not differ, or of which the first is better, are compared pair by pair; all pairs are one
family. A false alarm is any corrected p of 0.05 or less, or any interval that leaves out 0.
Two systems: their values on few queries are drawn with equal means, in five shapes, and compare() is asked for an
interval and a p-value; Student's t stands beside those shapes of which no method holds what it says.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
from scipy import stats
from scipy.stats import norm
from trials import Line, agree, as_log

from frame_metrics.stats.families import FlipBlock, maxima
from frame_metrics.stats.flips import randomization
from frame_metrics.stats.paired_shares import mid_p, newcombe
from frame_metrics.stats.significance import adjusted, errors_away, interval_and_p_value

LEVEL = 0.05
AGREE = 3  # trials of each kind that are done a second way
FLIPS, RESAMPLES = 1000, 1000
SIZES = [(3, 6), *((systems, queries) for systems in (5, 10, 40) for queries in (8, 20, 50))]
BETTER = {6: 4.0, 8: 3.0, 20: 1.8, 50: 1.1}  # how much better the first system is, by queries; its noise is 1
AT_MOST = (0.0, 0.065)
QUERIES = {5: (0.90, 1.0), 10: (0.92, 1.0), 20: (0.92, 1.0), 50: (0.92, 1.0)}  # and the share that intervals shall hold
SUCCESS, RARE, SAME = 0.95, 0.05, 0.5  # shares of ones; how often both systems have the same value
LOST, LOSSES, NOISE = 0.2, 0.05, 0.02  # what some queries lose, their share, and what others vary by
FAR = 10.0  # added to values, so that none is below 0
DRAWN = 10  # queries from which on the interval is made by draws
BESIDE_T = ("skewed values", "rare losses")


def drawn(systems: int, queries: int, trial: int, better: float) -> Any:
    """Draw systems on the same queries, shape (queries, systems); the first one may be better."""
    rng = np.random.default_rng([31, systems, queries, trial])
    values = FAR + rng.normal(size=(queries, 1)) + rng.normal(size=(queries, systems))
    values[:, 0] += better
    return values


def apart(values: Any) -> Any:
    """Return the differences of all pairs of systems, in the order of compare(), shape (queries, pairs)."""
    pairs = [(system, base) for system in range(values.shape[1]) for base in range(system)]
    return np.column_stack([values[:, system] - values[:, base] for system, base in pairs])


def flipped(differences: Any, flips: int, seed: int, tick: Any) -> tuple[Any, Any]:
    """Return the pairs of a family, and what their flips say."""
    n, pairs = differences.shape
    every = np.zeros(pairs, np.int64)
    block = FlipBlock(np.arange(n), differences, np.ones((n, 1)), every, np.zeros(pairs), every, np.zeros(1, bool))
    return block, maxima([block], n, 1, flips, seed, tick)


def away(found: Any, level: float, queries: int) -> float:
    """Return how many standard errors the ends of intervals are away: no less than those of a single pair."""
    return max(float(found.n_errors(level)[0]), errors_away(level, queries))


def around(differences: Any, wide: float) -> dict[str, Any]:
    """Return intervals whose ends are so many standard errors away."""
    mean, far = differences.mean(axis=0), wide * differences.std(axis=0, ddof=1) / np.sqrt(len(differences))
    return {"ci_low": mean - far, "ci_high": mean + far}


def of_family(differences: Any, level: float, flips: int, seed: int, tick: Any) -> dict[str, Any]:
    """Return what a family of pairs is told: corrected p-values, and intervals."""
    block, found = flipped(differences, flips, seed, tick)
    return {"p_adjusted": found.adjusted(block)} | around(differences, away(found, level, len(differences)))


def both(differences: Any, seed: int) -> tuple[Any, Any, float]:
    """Return the corrected p-values of all pairs together, and by Holm, and how wide intervals are."""
    block, found = flipped(differences, FLIPS, seed, lambda done: None)
    alone = adjusted(found.p_values(found.n_as_extreme[0]), "holm")
    return found.adjusted(block), alone, away(found, 1 - LEVEL, len(differences))


def single(differences: Any, seed: int) -> dict[str, Any]:
    """Return the intervals of pairs by themselves."""
    n = len(differences)
    if n < DRAWN:
        return around(differences, stats.t.ppf(1 - LEVEL / 2, n - 1))
    found = interval_and_p_value(differences, None, None, 1 - LEVEL, RESAMPLES, seed)
    return {name: found[name] for name in ("ci_low", "ci_high")}


def of_compare(values: Any, seed: int, **options: Any) -> dict[str, Any]:
    """Return the same from compare()."""
    found = as_log(values).compare("dcg@1", permutations=FLIPS, resamples=RESAMPLES, seed=seed, **options)
    return {name: found[name].to_numpy() for name in ("p_adjusted", "ci_low", "ci_high")}


def same(ours: dict[str, Any], values: Any, seed: int, **options: Any) -> None:
    """Raise where compare() says something else."""
    theirs = of_compare(values, seed, **options)
    for name, found in ours.items():
        agree(found, theirs[name], f"{name} of pairs")


def excludes(found: dict[str, Any]) -> Any:
    """Return whether some interval leaves out 0."""
    return ((found["ci_low"] > 0) | (found["ci_high"] < 0)).any()


def of_families(trials: int) -> Iterator[Line]:
    """Count the false alarms of families of pairs, and how often a better system is told from another."""
    for systems, queries in SIZES:
        alarms, seen = np.zeros(3, np.int64), np.zeros(2, np.int64)
        for trial in range(trials):
            values = drawn(systems, queries, trial, 0.0)
            differences = apart(values)
            p, holm, wide = both(differences, trial)
            joint, alone = around(differences, wide), single(differences, trial)
            if trial < AGREE and systems <= 10:
                same({"p_adjusted": p} | joint, values, trial)
                same({"p_adjusted": holm} | alone, values, trial, correction="holm")
            alarms += [p.min() <= LEVEL, excludes(joint), excludes(alone)]
            p, holm, _ = both(apart(drawn(systems, queries, trial, BETTER[queries])), trial)
            seen += [one[0] <= LEVEL for one in (p, holm)]
        setting = f"{systems} systems on {queries} queries, all pairs"
        names = ("false alarm: max_t", "false alarm: some interval of max_t", "false alarm: some single interval")
        for name, happened, asked in zip(names, alarms.tolist(), (AT_MOST, AT_MOST, None), strict=True):
            yield Line(name, setting, trials, happened, asked)
        for name, happened in zip(("max_t", "randomization, holm"), seen.tolist(), strict=True):
            yield Line(f"difference seen: {name}", f"{setting}, one better", trials, happened, None)


def of_ones(share: float, n: int, rng: Any) -> Any:
    """Draw values of 0 and 1 of two systems, which often have the same value, shape (n, 2)."""
    own = rng.random((n, 2)) < share
    return np.where(rng.random((n, 1)) < SAME, own[:, :1], own).astype(float)


def two_systems(shape: str, n: int, trial: int) -> Any:
    """Draw the values of two systems with equal means, shape (n, 2)."""
    rng = np.random.default_rng([32, n, trial])
    if shape == "success of .95":
        return of_ones(SUCCESS, n, rng)
    if shape == "rare 0/1":
        return of_ones(RARE, n, rng)
    base = FAR + rng.normal(size=n)
    if shape == "bell":
        return np.column_stack([base, base + rng.normal(size=n)])
    if shape == "skewed values":
        return np.column_stack([base, base + rng.exponential(size=n) - 1])
    lost = LOST * (rng.random(n) < LOSSES)
    return np.column_stack([base, base + LOST * LOSSES + NOISE * rng.normal(size=n) - lost])


SHAPES = ("bell", "success of .95", "rare 0/1", *BESIDE_T)


def told(values: Any, seed: int) -> dict[str, float]:
    """Return what compare() tells of two systems by default, from the functions behind it."""
    differences = values[:, 1:] - values[:, :1]
    if np.isin(values, (0, 1)).all():
        table = np.bincount((3 - 2 * values[:, 1] - values[:, 0]).astype(np.int64), minlength=4)
        low, high = newcombe(table, norm.ppf(1 - LEVEL / 2))
        return {"p_value": mid_p(int(table[1]), int(table[2])), "ci_low": low, "ci_high": high}
    p = randomization(differences, FLIPS, seed, lambda done: None)
    if len(values) < DRAWN:
        return by_t(values) | {"p_value": float(p[0])}
    found = interval_and_p_value(differences, None, None, 1 - LEVEL, RESAMPLES, seed)
    return {"p_value": float(p[0]), "ci_low": float(found["ci_low"][0]), "ci_high": float(found["ci_high"][0])}


def by_t(values: Any) -> dict[str, float]:
    """Return the same by Student's t."""
    differences = values[:, 1] - values[:, 0]
    run = stats.ttest_1samp(differences, 0)
    low, high = run.confidence_interval(1 - LEVEL)
    return {"p_value": float(run.pvalue), "ci_low": float(low), "ci_high": float(high)}


def of_two(trials: int) -> Iterator[Line]:
    """Count the intervals of two systems that hold 0, and the tests that see a difference, where means are equal."""
    for shape in SHAPES:
        ways = ("compare", "Student's t") if shape in BESIDE_T else ("compare",)
        for n, asked in QUERIES.items():
            held, raised = np.zeros(len(ways), np.int64), np.zeros(len(ways), np.int64)
            for trial in range(trials):
                values = two_systems(shape, n, trial)
                found = told(values, trial)
                if trial < AGREE and np.ptp(values):  # gains that are all 0 or 1 are not known to be shares
                    (row,) = as_log(values).compare("dcg@1", permutations=FLIPS, seed=trial).rows(named=True)
                    agree(list(found.values()), [row[name] for name in found], "two systems")
                each = [found, by_t(values)][: len(ways)]
                held += [one["ci_low"] <= 1e-12 and one["ci_high"] >= -1e-12 for one in each]
                raised += [one["p_value"] <= LEVEL for one in each]
            wanted = (None, None) if shape in BESIDE_T else (asked, AT_MOST)
            for at, way in enumerate(ways):
                setting = f"{shape}, {n} queries, two systems, {way}"
                yield Line("interval holds the difference", setting, trials, int(held[at]), wanted[0])
                yield Line("false alarm", setting, trials, int(raised[at]), wanted[1])


def families(_: pl.DataFrame, trials: int) -> Iterator[Line]:
    """Yield the lines of families, and of two systems."""
    yield from of_two(trials)
    yield from of_families(trials)
