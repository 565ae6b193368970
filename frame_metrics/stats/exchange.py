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

# which rows, or how many of each kind, are of an arm, shape (draws, rows), to how far apart the means are
Distance = Callable[[Array], Array]
NEAR = 1e-9  # statistics that are nearer to each other than this share of them are equal: errors are roots of sums
LEFT = 1e-14  # share of the variances of both arms that adding floats leaves where their difference does not vary


def permuted(arms: Arms, permutations: int, seed: int, tick: Tick) -> Array:
    """Return the p-values of exchanging units between two arms at random, two-sided, shape (columns,).

    If an arm makes no difference, any other units could just as well have been in it, and a unit of both arms could
    just as well have had in one what it had in the other. Where there are no more ways to exchange than
    ``permutations``, each is counted; else so many are drawn, and what was seen counts as one of them: (b + 1) /
    (n + 1), which is never 0. Chosen are units of the arm that has fewer alone, so that it makes no difference which
    arm is the baseline.

    Where units stand in both arms, differences are divided by their errors. Where few units are unlike each other, as
    searches with or without a click, it is drawn how many of each kind are chosen.
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
    """Draw so many rows, and count how many of them are of each kind, shape (draws, kinds)."""
    return random.multivariate_hypergeometric(times, less, draws, method="marginals")


def _drawn_choice(random: np.random.Generator, draws: int, *, alone: Array, less: int, pairs: Array) -> Array:
    """Draw so many of the rows that are alone, and one of each pair, shape (draws, rows)."""
    marks = np.zeros((draws, len(alone) + pairs.size), bool)
    if less:
        keys = random.random((draws, len(alone)))
        marks[:, alone] = keys <= np.partition(keys, less - 1, axis=1)[:, less - 1, None]
    if pairs.size:
        marks[:, pairs[0]] = random.random((draws, pairs.shape[1])) < 0.5
        marks[:, pairs[1]] = ~marks[:, pairs[0]]
    return marks


def _every_choice(alone: Array, less: int, pairs: Array, width: int) -> Iterator[Array]:
    """Give every way to choose so many of the rows that are alone, and one of each pair, shape (ways, rows) each."""
    rows = len(alone) + pairs.size
    ways = product(combinations(alone.tolist(), less), *pairs.T.tolist())
    while some := list(islice(ways, max(AT_ONCE // width, 1))):
        marks = np.zeros((len(some), rows), bool)
        np.put_along_axis(marks, np.array([(*own, *of_pairs) for own, *of_pairs in some]), True, axis=1)
        yield marks


def _by_difference(arms: Arms, held: Array, less: int) -> tuple[Distance, Array, int]:
    """The distance of the means, what was seen of it, and how many numbers each draw needs.

    Parameters
    ----------
    held : what is summed of each row, or of each kind of rows.
    """
    total, more = arms.held.sum(axis=0), len(arms.mine) - less

    def distance(marks: Array) -> Array:
        here = sums_drawn(held.T, marks).T
        return np.abs(arms.mean(here, less) - arms.mean(total - here, more))

    return distance, np.abs(arms.means[0] - arms.means[1]) - CLOSE * arms.scale, len(arms.mine)


def _studentised(arms: Arms, seen: Array) -> tuple[Distance, Array, int]:
    """The distance of the means in standard errors, what was seen of it, and how many numbers each draw needs.

    Both are computed anew in each draw, and so is the slope of the covariate. What the parts of units add up to follows
    from sums of products of what their rows hold (the value less its mean, the size, 1 and the covariate) with each
    other, and with what the unit holds in the other arm.

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
    """The difference of two means in standard errors, by sums of products, shape (draws, columns, k, k) each.

    Parameters
    ----------
    first, second : what the rows of an arm hold, times what they hold.
    crossed : what the rows of the first arm hold, times what their units hold in the second.
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
    """The terms of a unit's part in the mean of its arm, and in the mean covariate, shape (1 or 2, ..., k)."""
    n, size = arm[..., 2, 2], arm[..., 1, 2]
    nothing = np.zeros_like(n)
    value = [1 / size, -arm[..., 0, 2] / size**2, nothing]
    if arm.shape[-1] == 3:
        return np.stack([np.stack(value, axis=-1)])
    covariate = [nothing, nothing, -arm[..., 3, 2] / n**2, 1 / n]
    return np.stack([np.stack([*value, nothing], axis=-1), np.stack(covariate, axis=-1)])
