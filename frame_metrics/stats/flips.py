"""Signs of differences flipped at random: Fisher's randomization test, and the flipped sums behind it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from frame_metrics.inputs.rows import Array
from frame_metrics.stats.byte_sums import BITS, chosen_sums
from frame_metrics.stats.significance import CLOSE, Tick
from frame_metrics.threads import in_threads

BYTES = 1 << 22  # random bytes that are drawn at a time: a block
BLOCKS_AT_ONCE = 16  # blocks that are processed before their sums are added up
PARTS_OF_STEP = 16  # parts into which the draws of a step are split, so that each stays in the cache
MOST_NUMBERED = 62  # the most units of which all flips can be numbered by a 64-bit integer
SIGNS = 1 - 2 * BITS  # the signs of eight rows for each byte, of which each bit of 1 flips a row, shape (256, 8)


def every_flip(units: int, permutations: int) -> bool:
    """Return True if there are no more ways to flip the signs of units than ``permutations``: each is then counted."""
    return units <= min(np.log2(permutations), MOST_NUMBERED)


def least_p(test: str, units: int, permutations: int) -> float:
    """Return the least p-value that a test can give with so many units; 0 for a test without such a limit."""
    if test in ("randomization", "wilcoxon", "sign", "mcnemar", "mcnemar_mid_p"):
        is_random = test == "randomization" and not every_flip(units, permutations)
        if is_random:
            return 1 / (permutations + 1)
        # Of all 2**units flips one is the most extreme, in a two-sided test two are; mid-p counts half of them.
        return 2.0**-units if test == "mcnemar_mid_p" else 2.0 ** (1 - units)
    return 0.0


def p_value_of_count(count: Array, flips: int, *, every: bool) -> Array:
    """Return p-values from the number of flips at least as extreme as the data.

    Unless ``every`` flip is counted, the data count as one more of the random flips.
    """
    return count / flips if every else (count + 1) / (flips + 1)


def randomization(differences: Array, permutations: int, seed: int, tick: Tick) -> Array:
    """Return the p-values of flipping the signs of paired differences at random (Fisher's test), two-sided.

    If two systems do not differ, a query's difference is as likely to be positive as negative. If there are no more
    ways to flip than ``permutations``, each is counted. Else n = ``permutations`` flips are drawn, and the data count
    as one more: p is (b + 1) / (n + 1), where b flips are as extreme as the data. It is never 0.

    Parameters
    ----------
    differences : shape (queries, columns), or their sums within clusters; all columns are tested by the same flips.
    tick : called with how many queries are done.
    """
    p = p_values_of_all_flips(differences, permutations)
    rest = np.flatnonzero(np.isnan(p))
    if len(rest):
        extreme = np.abs(flipped(differences[:, rest], permutations, seed, tick)) >= extreme_from(differences[:, rest])
        p[rest] = p_value_of_count(extreme.sum(axis=0), permutations, every=False)
    return p


def p_values_of_all_flips(differences: Array, permutations: int) -> Array:
    """Return the p-values of columns with so few differences that all flips are counted; NaN for others, (columns,)."""
    p = np.full(differences.shape[1], np.nan)
    n_differing = (differences != 0).sum(axis=0)
    for column in np.flatnonzero([every_flip(n, permutations) for n in n_differing]):
        p[column] = _of_all(differences[differences[:, column] != 0, column])
    return p


def extreme_from(differences: Array) -> Array:
    """Return the distance from 0 from which on a flipped sum counts as extreme: that of the data, less rounding."""
    return np.abs(differences.sum(axis=0)) - CLOSE * np.abs(differences).sum(axis=0)


def _of_all(moved: Array) -> float:
    """Return the p-value over all ways to flip signs: the share of sums at least as far from 0 as the observed one."""
    sums = np.zeros(1)
    for difference in moved:
        sums = np.concatenate([sums + difference, sums - difference])
    return float((np.abs(sums) >= extreme_from(moved)).mean())


def exchanged(
    differences: Callable[[Array], Array],
    seen: Array,
    units: int,
    permutations: int,
    seed: int,
    step: int,
    tick: Tick,
) -> Array:
    """Return the p-values of exchanging the values of two systems in units chosen at random, two-sided.

    They are counted as in ``randomization``.

    Parameters
    ----------
    differences : a function. It takes for each draw the units whose values are exchanged (1, others 0), shape (draws,
        units), and returns the differences of the systems in each draw, shape (draws, columns).
    seen : the differences if nothing is exchanged, shape (columns,).
    step : how many draws are made at a time.
    tick : called with how many units are done, as many in all as there are.
    """
    every = every_flip(units, permutations)
    n, least = 1 << units if every else permutations, np.abs(seen) - CLOSE * np.maximum(np.abs(seen), 1)
    n_extreme: list[Array] = []

    def work(begin: int) -> None:
        draws = np.arange(begin, min(begin + step, n))
        if every:
            exchange = draws[:, None] >> np.arange(units) & 1
        else:
            exchange = np.random.default_rng([seed, begin // step]).integers(0, 2, (len(draws), units))
        n_in_part = max(step // PARTS_OF_STEP, 1)
        for some in np.split(exchange, range(n_in_part, len(draws), n_in_part)):
            n_extreme.append((~(np.abs(differences(some)) < least)).sum(axis=0))  # undefined ones count as extreme
        tick((begin + len(draws)) * units // n - begin * units // n)

    in_threads(range(0, n, step), work)
    return p_value_of_count(np.sum(n_extreme, axis=0), n, every=every)


def flipped(rows: Array, flips: int, seed: int, tick: Tick, unit: Array | None = None, *, every: bool = False) -> Array:
    """Return the sums of rows with random signs, shape (flips, columns).

    Eight rows (an eight) are flipped at a time: a table has their sum for each of the 256 combinations of signs, and a
    random byte chooses one. Blocks are added up in their order, so that the number of threads does not change the last
    digit.

    Parameters
    ----------
    rows : shape (rows, columns).
    flips : how many flips there are.
    tick : called with how many rows are done.
    unit : the number of each row's unit, ascending; a unit has the same signs in calls with other rows. None: the rows
        are the units.
    every : whether the flips are all combinations of signs, and not random ones.
    """
    eight, at = (np.arange(-(-len(rows) // 8)), slice(len(rows))) if unit is None else _eights_of(unit)
    eights = np.zeros((len(eight) * 8, rows.shape[1]))
    eights[at] = rows
    eights = eights.reshape(len(eight), 8, -1)
    step = max(BYTES // flips, 1)
    blocks = np.unique(eight // step).tolist()
    pieces: dict[int, Array] = {}

    def work(block: int) -> None:
        here = slice(*np.searchsorted(eight, [block * step, (block + 1) * step]))
        some, chosen = eights[here], _chosen(eight[here] - block * step, flips, [seed, block], every=every)
        pieces[block] = chosen_sums(some, chosen, SIGNS)
        tick(8 * len(some))

    whole = np.zeros((flips, rows.shape[1]))
    for begin in range(0, len(blocks), BLOCKS_AT_ONCE):  # a few blocks at a time, so that few sums are in memory
        these = blocks[begin : begin + BLOCKS_AT_ONCE]
        in_threads(these, work)
        for block in these:
            whole += pieces.pop(block)
    return whole


def _eights_of(unit: Array) -> tuple[Array, Array]:
    """Return the numbers of the eights that the units of some rows are in, and the position of each row in these."""
    eight, at = np.unique(unit >> 3, return_inverse=True)
    return eight, at * 8 + (unit & 7)


def numbers_at_once(rows: int, flips: int) -> int:
    """Return how many numbers ``flipped`` has in memory for each flip and column of so many rows."""
    return 1 + min(BLOCKS_AT_ONCE, -(-rows // (8 * max(BYTES // flips, 1)))) + 4


def _chosen(eight: Array, flips: int, seed: list[int], *, every: bool) -> Array:
    """Return the combination of signs of some eights in each flip, as a byte, shape (eights, flips).

    Parameters
    ----------
    eight : the number of each eight in its block, ascending.
    seed : of the block.
    every : whether flip i has the i-th combination of signs of all rows, instead of a random one.
    """
    if every:
        return (np.arange(flips) >> 8 * eight[:, None] & 255).astype(np.uint8)
    n = int(eight[-1]) + 1
    drawn = np.frombuffer(np.random.default_rng(seed).bytes(n * flips), np.uint8).reshape(n, flips)
    return drawn if n == len(eight) else drawn[eight]
