"""Choose the n documents whose judgments narrow the bounds most, by trying all choices.

A choice is rated by the mean over all judgments that its documents could get: each no gain, or the highest gain. The
mean is a sum over queries, so that the choices within each query are tried separately, and then combined.
"""

from __future__ import annotations

from math import comb
from typing import Protocol

import numpy as np
import polars as pl

from frame_metrics.inputs import Array
from frame_metrics.verbs.bounds.differences import WeightsOfUnjudged
from frame_metrics.verbs.bounds.unjudged import TrialJudgments

SMALL_WORK = 1 << 20  # limit of cells of ``_ways`` for trying all choices, which then takes a second or two
QUERY_WORK = 64  # the fixed work for each document, in cells


class ItemValues(Protocol):
    """A function that scores items; an item is one thing to score for a query: a document, or a way to judge some."""

    def __call__(self, weights: WeightsOfUnjudged, position: Array, n_items: Array, items: Array, /) -> Array:
        """Return the value of each item of some rankings, ranking by ranking.

        Parameters
        ----------
        weights : those of the rankings' documents.
        position : the position of each weight's document among those of its query.
        n_items : the number of items of each ranking.
        items : the numbers of these items, ranking by ranking.
        """


class SumsOfItems(Protocol):
    """A function that sums the values of items over rankings, weighted by the share of each ranking in the mean."""

    def __call__(self, table: pl.DataFrame, query: Array, values: ItemValues, /) -> Array:
        """Return the sum of each item.

        Parameters
        ----------
        table : documents with their query, the column "of".
        query : the query of each item, ascending.
        values : the values of items in some rankings.
        """


def best_choice(table: pl.DataFrame, n: int, summed: SumsOfItems) -> pl.DataFrame | None:
    """Return the best choice of ``n`` documents; None if there are too many choices to try.

    Parameters
    ----------
    table : documents with their query, the column "of". Documents of a query with equal "alike" are exchangeable.
    summed : returns weighted sums over rankings, here of the width of the bounds after each way to judge documents.
    """
    table = table.sort("of", -pl.col("moves_rounded"), "alike", "rank", "row", nulls_last=True)
    queries = table.group_by("of", maintain_order=True).agg(pl.col("alike").rle().struct.field("len"))
    group_sizes = [tuple(sizes) for sizes in queries["len"].to_list()]
    if len(table) * max(n, QUERY_WORK) > SMALL_WORK or sum(_cells(sizes, n) for sizes in group_sizes) > SMALL_WORK:
        return None
    made = {sizes: _ways(sizes, n) for sizes in set(group_sizes)}
    width, count = max(map(sum, group_sizes)) + 1, [len(made[sizes][0]) for sizes in group_sizes]
    judgments = np.concatenate([np.pad(made[sizes][0], ((0, 0), (0, width - sum(sizes)))) for sizes in group_sizes])
    judged, highest = np.count_nonzero(judgments, axis=1), np.count_nonzero(judgments == 2, axis=1)

    def judgments_of(way: Array, place: Array) -> TrialJudgments:
        return judgments[way, np.minimum(place, width - 1)], judged[way[:, 0]], highest[way[:, 0]]

    of = queries["of"].to_numpy().repeat(count)
    widths = summed(table, of, lambda one, position, count, ways: one.width_after(position, count, ways, judgments_of))
    of_each = np.split(widths, np.cumsum(count)[:-1])
    best = [_best(*made[sizes][1:], wide) for sizes, wide in zip(group_sizes, of_each, strict=True)]
    return table.filter(_of_all(best, n))


def _cells(group_sizes: tuple[int, ...], n: int) -> float:
    """Return the number of cells of the first result of ``_ways``, or some number above ``SMALL_WORK`` if too many."""
    ways = np.ones(1)
    # As a product of polynomials: of m judged exchangeable documents 0 to m may have the highest gain, m + 1 ways.
    for size in group_sizes:
        ways = np.convolve(ways, np.arange(1.0, min(size, n) + 2))[: n + 1].clip(max=SMALL_WORK)
    return float(ways.sum()) * sum(group_sizes)


def _ways(group_sizes: tuple[int, ...], n: int) -> tuple[Array, Array, Array, Array]:
    """Return all ways to choose and judge up to ``n`` documents of a query.

    ``group_sizes``: the sizes of the groups of exchangeable documents.

    Returns
    -------
    The judgments of each way, 1 for no gain, 2 for the highest, 0 for an unjudged document, shape (ways, documents);
    the chance of each way among all judgments of the chosen documents, and the number of its choice, shape (ways,);
    and the choices as marks, shape (choices, documents): those of earlier documents first, and last the empty choice.
    """
    judgments, chance = np.zeros((1, 0), np.int8), np.ones(1)
    for size in group_sizes:  # the first of them are chosen, and of these the first have the highest gain
        counts = [(some, tops) for some in range(min(size, n) + 1) for tops in range(some + 1)]
        of_group = np.array([[2] * tops + [1] * (some - tops) + [0] * (size - some) for some, tops in counts], np.int8)
        one, other = np.nonzero(np.add.outer((judgments > 0).sum(axis=1), (of_group > 0).sum(axis=1)) <= n)
        judgments = np.column_stack([judgments[one], of_group[other]])
        chance = chance[one] * np.array([comb(some, tops) / 2**some for some, tops in counts])[other]
    out, choice = np.unique(judgments == 0, axis=0, return_inverse=True)
    return judgments, chance, choice.ravel(), ~out


def _best(chance: Array, choice: Array, chosen: Array, widths: Array) -> tuple[Array, Array]:
    """Return how much the best choice of 0, 1, 2 ... documents narrows the bounds, and these choices.

    ``chance``, ``choice``, ``chosen``: as ``_ways`` returns them; ``widths``: those of the bounds after each way.
    """
    mean, size = np.bincount(choice, chance * widths), chosen.sum(axis=1)
    narrowed = np.rint((mean[-1] - mean) * 1e12).astype(np.int64)  # whole numbers, so that rounding breaks no ties
    order = np.lexsort((-narrowed, size))
    best = order[np.unique(size[order], return_index=True)[1]]
    return narrowed[best], chosen[best]


def _of_all(best: list[tuple[Array, Array]], n: int) -> Array:
    """Combine the best choices of all queries into the best choice of ``n`` documents, as marks.

    By dynamic programming: after each query, the best choices of 0 to ``n`` documents of the queries so far are known.
    ``best``: the result of ``_best`` for each query.
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
