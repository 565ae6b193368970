"""Randomization of arms: units exchanged between two of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations, islice, product
from math import comb

import numpy as np

from frame_metrics.inputs.rows import Array
from frame_metrics.stats.resampling import AT_ONCE, MANY, alike, sums_drawn
from frame_metrics.stats.significance import CLOSE, Tick
from frame_metrics.stats.units import Arms, linear
from frame_metrics.threads import in_threads

# From marks of the rows of one arm (or counts of its rows of each kind), shape (draws, rows), to the distance of the
# means, shape (draws, columns).
Distance = Callable[[Array], Array]
NEAR = 1e-9  # statistics that differ relatively by less are equal: their errors are roots of rounded sums
LEFT = 1e-14  # a variance below this share of both arms' variances is only rounding


def permuted(arms: Arms, permutations: int, seed: int, tick: Tick) -> Array:
    """Return the two-sided p-values of exchanging units between two arms at random, shape (columns,).

    If the arms do not differ, any other units could have been in an arm, and a unit in both arms could have had its
    values the other way round. If there are at most ``permutations`` ways to exchange, all are counted. Otherwise so
    many are drawn, and the observed one counts as one of them: (b + 1) / (n + 1), which is never 0. Units are chosen
    for the arm with fewer units of its own, so that it does not matter which arm is the baseline.

    If some units are in both arms, differences are studentised: divided by their standard errors. If there are few
    kinds of units, such as searches with and without a click, the number of each kind is drawn instead of units.
    """
    first, second, both = arms.n_parts
    less, seen = min(first, second), arms.mine if first <= second else ~arms.mine
    alone, pairs = np.flatnonzero(arms.alone), np.sort(arms.shared, axis=0)
    distance, enough, width = _studentised(arms, seen) if both else _by_difference(arms, arms.held, less)

    def reached(marks: Array) -> Array:
        return np.count_nonzero(distance(marks) >= enough, axis=0)

    if less + both < permutations.bit_length():  # there are at least 2 ** (less + both) ways
        ways = comb(len(alone), less) << both
        if ways <= permutations:
            return sum(map(reached, _every_choice(alone, less, pairs, width)), np.zeros(len(enough))) / ways
    draw: Callable[[np.random.Generator, int], Array] = partial(_drawn_choice, alone=alone, less=less, pairs=pairs)
    kinds, times = alike(list(arms.held.T), np.ones(len(seen), np.int64)) if not both else ([], np.empty(0))
    if 0 < MANY * len(times) <= len(seen):
        draw, width = partial(_drawn_kinds, times=times, less=less), len(times)
        distance, *_ = _by_difference(arms, np.column_stack(kinds), less)
    step = max(AT_ONCE // width, 1)
    counts: dict[int, Array] = {}

    def work(begin: int) -> None:
        some = min(step, permutations - begin)
        counts[begin] = reached(draw(np.random.default_rng([seed, begin]), some))
        tick(some)

    in_threads(range(0, permutations, step), work)
    return (np.sum(list(counts.values()), axis=0) + 1) / (permutations + 1)


def _drawn_kinds(random: np.random.Generator, draws: int, times: Array, less: int) -> Array:
    """Draw ``less`` rows, and count how many are of each kind, shape (draws, kinds); ``times``: rows of each kind."""
    return random.multivariate_hypergeometric(times, less, draws, method="marginals")


def _drawn_choice(random: np.random.Generator, draws: int, *, alone: Array, less: int, pairs: Array) -> Array:
    """Draw ``less`` of the rows ``alone``, and one row of each pair, as marks, shape (draws, rows)."""
    marks = np.zeros((draws, len(alone) + pairs.size), bool)
    if less:
        keys = random.random((draws, len(alone)))
        marks[:, alone] = keys <= np.partition(keys, less - 1, axis=1)[:, less - 1, None]
    if pairs.size:
        marks[:, pairs[0]] = random.random((draws, pairs.shape[1])) < 0.5
        marks[:, pairs[1]] = ~marks[:, pairs[0]]
    return marks


def _every_choice(alone: Array, less: int, pairs: Array, width: int) -> Iterator[Array]:
    """Yield all ways to choose ``less`` of the rows ``alone`` and one row of each pair, as marks, (ways, rows) each."""
    rows = len(alone) + pairs.size
    ways = product(combinations(alone.tolist(), less), *pairs.T.tolist())
    while some := list(islice(ways, max(AT_ONCE // width, 1))):
        marks = np.zeros((len(some), rows), bool)
        np.put_along_axis(marks, np.array([(*own, *of_pairs) for own, *of_pairs in some]), True, axis=1)
        yield marks


def _by_difference(arms: Arms, held: Array, less: int) -> tuple[Distance, Array, int]:
    """Return the distance of the means, the least distance that counts as observed, and the numbers for each draw.

    Parameters
    ----------
    arms : the units.
    held : the values of each row, or of each kind of rows, that are summed.
    less : the number of rows in the arm that is drawn.
    """
    total, more = arms.held.sum(axis=0), len(arms.mine) - less

    def distance(marks: Array) -> Array:
        here = sums_drawn(held.T, marks).T
        return np.abs(arms.mean(here, less) - arms.mean(total - here, more))

    return distance, np.abs(arms.apart) - CLOSE * arms.scale, len(arms.mine)


def _studentised(arms: Arms, seen: Array) -> tuple[Distance, Array, int]:
    """Return the same as ``_by_difference``, with the distance in standard errors.

    Difference, error and the slope of the covariate are computed anew in each draw. All follow from sums of products.
    The factors are what a row holds (value less mean, size, 1, covariate), and what its unit holds in the other arm.

    Source: A. Janssen, Studentized permutation tests for non-i.i.d. hypotheses and the generalized Behrens-Fisher
    problem, Statistics & Probability Letters 36(1), 1997.
    """
    beside = [arms.size / arms.size.mean(), np.ones(len(seen)), *([arms.centred] if arms.centred.any() else [])]
    holds = np.stack([np.column_stack([own, *beside]) for own in linear(arms.sums, arms.size).T], axis=1)
    opposite = np.zeros_like(holds)
    opposite[arms.shared] = holds[arms.shared[::-1]]
    products = np.stack([np.einsum("rci,rcj->rcij", holds, with_these) for with_these in (holds, opposite)], axis=1)
    total, shape, flat = products[:, 0].sum(axis=0), (-1, *products.shape[1:]), products.reshape(len(seen), -1)

    def distance(marks: Array) -> Array:
        here = sums_drawn(flat.T, marks).T.reshape(shape)
        return _in_errors(here[:, 0], total - here[:, 0], here[:, 1], arms.scale)

    return distance, distance(seen[None])[0] * (1 - NEAR), max(flat.shape)


def _in_errors(first: Array, second: Array, crossed: Array, scale: Array) -> Array:
    """Return the difference of two means in standard errors, from sums of products, shape (draws, columns).

    Parameters
    ----------
    first, second : sums, over the rows of an arm, of products of the k numbers that a row holds,
        shape (draws, columns, k, k).
    crossed : sums of products of what the rows of the first arm hold with what their units hold in the second, of the
        same shape.
    scale : the size of values, shape (columns,).
    """
    arms = (first, second)
    parts = [_parts(arm) for arm in arms]
    within = [np.einsum("pdci,dcij,qdcj->pqdc", part, arm, part) for part, arm in zip(parts, arms, strict=True)]
    across = np.einsum("pdci,dcij,qdcj->pqdc", parts[0], crossed, parts[1])
    across = across + across.swapaxes(0, 1)
    factor = [arm[..., 2, 2] / (arm[..., 2, 2] - 1) for arm in arms]
    spread = factor[0] * within[0] + factor[1] * within[1] - np.sqrt(factor[0] * factor[1]) * across
    apart, variance = first[..., 0, 2] / first[..., 1, 2] - second[..., 0, 2] / second[..., 1, 2], spread[0, 0]
    if first.shape[2] > 3:
        joint = within[0] + within[1] - across
        varies = joint[1, 1] > CLOSE * (within[0] + within[1])[1, 1]
        slope = np.where(varies, joint[0, 1] / np.where(varies, joint[1, 1], 1), 0)
        apart = apart - slope * (first[..., 3, 2] / first[..., 2, 2] - second[..., 3, 2] / second[..., 2, 2])
        variance = variance - 2 * slope * spread[0, 1] + slope**2 * spread[1, 1]
    apart = np.where(np.abs(apart) <= CLOSE * scale, 0, np.abs(apart))
    sure = variance <= (CLOSE * scale) ** 2 + LEFT * (within[0] + within[1])[0, 0]
    return np.where(sure, np.where(apart > 0, np.inf, 0), apart / np.sqrt(np.where(sure, 1, variance)))


def _parts(arm: Array) -> Array:
    """Return the coefficients of a unit's part in the mean of its arm, and in the mean covariate, (1 or 2, ..., k).

    The part is the sum of the coefficients times what the unit's row holds.
    """
    n, size = arm[..., 2, 2], arm[..., 1, 2]
    nothing = np.zeros_like(n)
    value = [1 / size, -arm[..., 0, 2] / size**2, nothing]
    if arm.shape[-1] == 3:
        return np.stack([np.stack(value, axis=-1)])
    covariate = [nothing, nothing, -arm[..., 3, 2] / n**2, 1 / n]
    return np.stack([np.stack([*value, nothing], axis=-1), np.stack(covariate, axis=-1)])
