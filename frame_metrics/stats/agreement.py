"""Agreement of two annotators beyond chance, for many pairs of annotators at once."""

from __future__ import annotations

import numpy as np

from frame_metrics.inputs import Array, ratio


def kappa(pair: Array, one: Array, other: Array, n: int) -> Array:
    """Return Cohen's kappa of each pair of annotators, NaN where both said one and the same thing only, shape (n,).

    Parameters
    ----------
    pair : the pair of annotators, from 0, that each of the documents that both judged belongs to, shape (documents,).
    one, other : the judgments of the two, as numbers, shape (documents,) each.
    n : number of pairs of annotators.

    Source: J. Cohen, A coefficient of agreement for nominal scales, Educational and Psychological Measurement 20(1),
    1960.
    """
    values, codes = np.unique(np.concatenate([one, other]), return_inverse=True)
    k, size = len(values), np.bincount(pair, minlength=n)
    by_one, by_other = (np.bincount(pair * k + side, minlength=n * k).reshape(n, k) for side in np.split(codes, 2))
    by_chance = (by_one / np.maximum(size, 1)[:, None] * by_other).sum(axis=1)
    return ratio(np.bincount(pair, one == other, minlength=n) - by_chance, size - by_chance)


def weighted_kappa(pair: Array, one: Array, other: Array, n: int) -> Array:
    """Return kappa with a disagreement weighted by the squared difference of the grades; otherwise as ``kappa``.

    It is 1 less the mean squared difference over that of all judgments of the one with all of the other.

    Source: J. Cohen, Weighted kappa: nominal scale agreement with provision for scaled disagreement or partial credit,
    Psychological Bulletin 70(4), 1968.
    """
    size = np.maximum(np.bincount(pair, minlength=n), 1)

    def mean(values: Array) -> Array:
        return np.bincount(pair, values, minlength=n) / size

    means = [mean(side) for side in (one, other)]
    spread = sum(mean((side - of[pair]) ** 2) for side, of in zip((one, other), means, strict=True))
    by_chance = spread + (means[0] - means[1]) ** 2
    return ratio(by_chance - mean((one - other) ** 2), by_chance)
