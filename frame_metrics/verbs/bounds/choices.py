"""The documents whose judgments narrow bounds most in the mean, found by trying all choices of so many.

The mean is that over all judgments that they could get, no gain and the highest. It adds up over queries, so that the
choices of each query are tried by themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import TypeAlias

import numpy as np
import polars as pl

from frame_metrics.inputs import Array
from frame_metrics.verbs.bounds.differences import Shared
from frame_metrics.verbs.bounds.unjudged import Given

SMALL_WORK = 1 << 20  # cells of ``_ways``, up to which all choices are tried: a second or two
QUERY_WORK = 64  # cells that take as long as what is done once for each document, whatever ``n`` is
# Some rankings, the place of each weight's document among those of its query, how many items each ranking has, and the
# numbers of these, end to end -> the values of the items.
Part: TypeAlias = Callable[[Shared, Array, Array, Array], Array]
# Documents ``of`` queries, the query of each item, ascending, and what gives the values of items in rankings -> the
# sums of these, by the share that each ranking has in the mean.
Summed: TypeAlias = Callable[[pl.DataFrame, Array, Part], Array]


def best_choice(table: pl.DataFrame, n: int, summed: Summed) -> pl.DataFrame | None:
    """Return the best choice of ``n`` documents; None where there are too many choices to try.

    Parameters
    ----------
    table : documents ``of`` queries; those of a query that are ``alike`` have the same number there.
    summed : gives sums over rankings, here of how wide the bounds are in each way to judge documents of a query.
    """
    table = table.sort("of", -pl.col("moved"), "alike", "rank", "row", nulls_last=True)
    queries = table.group_by("of", maintain_order=True).agg(pl.col("alike").rle().struct.field("len"))
    alike = [tuple(sizes) for sizes in queries["len"].to_list()]
    if len(table) * max(n, QUERY_WORK) > SMALL_WORK or sum(_cells(sizes, n) for sizes in alike) > SMALL_WORK:
        return None
    made = {sizes: _ways(sizes, n) for sizes in set(alike)}
    width, count = max(map(sum, alike)) + 1, [len(made[sizes][0]) for sizes in alike]
    given = np.concatenate([np.pad(made[sizes][0], ((0, 0), (0, width - sum(sizes)))) for sizes in alike])
    judged, highest = np.count_nonzero(given, axis=1), np.count_nonzero(given == 2, axis=1)

    def said(way: Array, place: Array) -> Given:
        return given[way, np.minimum(place, width - 1)], judged[way[:, 0]], highest[way[:, 0]]

    of = queries["of"].to_numpy().repeat(count)
    left = summed(table, of, lambda one, turn, count, ways: one.left(turn, count, ways, said))
    of_each = np.split(left, np.cumsum(count)[:-1])
    best = [_best(*made[sizes][1:], wide) for sizes, wide in zip(alike, of_each, strict=True)]
    return table.filter(_of_all(best, n))


def _cells(alike: tuple[int, ...], n: int) -> float:
    """Cells of what ``_ways`` returns first; if they are too many, a number that is too great as well."""
    ways = np.ones(1)
    for size in alike:  # as polynomials: of 0, 1, 2 ... judged documents that are alike one more number may be highest
        ways = np.convolve(ways, np.arange(1.0, min(size, n) + 2))[: n + 1].clip(max=SMALL_WORK)
    return float(ways.sum()) * sum(alike)


def _ways(alike: tuple[int, ...], n: int) -> tuple[Array, Array, Array, Array]:
    """All ways to judge up to ``n`` documents of a query: which are chosen, and what is said of each.

    Returns
    -------
    What is said in each way, 1 for no gain, 2 for the highest, 0 where nothing is, shape (ways, documents); the chance
    of that among all judgments of the chosen documents, and the number of the choice, shape (ways,) each; and the
    choices, shape (choices, documents), those of earlier documents first, and last the one of none.
    """
    given, chance = np.zeros((1, 0), np.int8), np.ones(1)
    for size in alike:  # the first of them are chosen, and of these the first have the highest gain
        counts = [(some, tops) for some in range(min(size, n) + 1) for tops in range(some + 1)]
        own = np.array([[2] * tops + [1] * (some - tops) + [0] * (size - some) for some, tops in counts], np.int8)
        one, other = np.nonzero(np.add.outer((given > 0).sum(axis=1), (own > 0).sum(axis=1)) <= n)
        given = np.column_stack([given[one], own[other]])
        chance = chance[one] * np.array([comb(some, tops) / 2**some for some, tops in counts])[other]
    out, choice = np.unique(given == 0, axis=0, return_inverse=True)
    return given, chance, choice.ravel(), ~out


def _best(chance: Array, choice: Array, chosen: Array, left: Array) -> tuple[Array, Array]:
    """Width that the best choice of 0, 1, 2 ... documents takes, and this choice; ``left``: that of each way."""
    mean, size = np.bincount(choice, chance * left), chosen.sum(axis=1)
    narrowed = np.rint((mean[-1] - mean) * 1e12).astype(np.int64)  # so that equal ones are, though sums are rounded
    order = np.lexsort((-narrowed, size))
    best = order[np.unique(size[order], return_index=True)[1]]
    return narrowed[best], chosen[best]


def _of_all(best: list[tuple[Array, Array]], n: int) -> Array:
    """The best choice of ``n`` documents of all queries, True for these; ``best``: of each query, as ``_best`` says.

    With each query the best choices of 0 up to ``n`` documents of the queries so far are found.
    """
    most, taken, chosen = np.zeros(n + 1, np.int64), [], []
    for narrowed, _ in best:
        every = [np.append(np.full(m, -1), most[: n + 1 - m] + more) for m, more in enumerate(narrowed.tolist())]
        taken.append(np.argmax(every, axis=0))
        most = np.max(every, axis=0)
    for (_, choices), m in zip(best[::-1], taken[::-1], strict=True):
        chosen.append(choices[m[n]])
        n -= m[n]
    return np.concatenate(chosen[::-1])
