"""Sizes of samples: how many units show a difference, by how much those of a pilot vary."""

from __future__ import annotations

import numpy as np

from frame_metrics.inputs import Array
from frame_metrics.stats.exact import detectable, normal_quantile
from frame_metrics.stats.resampling import resampled


def spreads(sums: Array, sizes: Array, resamples: int, seed: int) -> Array:
    """Return n times the variance of a difference of means by n units an arm: what was seen first, then resamples.

    The mean of an arm is r = sum S / sum m over its G units, and a unit has the part psi = (S - m r) / sum m of it. The
    number is the sum of (g psi - g' psi')^2 over the units of both arms, with g = G / sqrt(G - 1); NaN where an arm has
    fewer than two. Of one arm, whose units have a difference each, it is the variance of these, where all weigh alike.

    Parameters
    ----------
    sums, sizes : S and m of each unit in each of one or two arms, shape (arms, units); 0 where it is not of the arm.

    Returns
    -------
    Shape (1 + resamples,).
    """
    arms = len(sums)
    if not sizes.sum(axis=1).all():
        return np.full(1 + resamples, np.nan)
    apart = sums - sizes * (sums.sum(axis=1) / sizes.sum(axis=1))[:, None]  # so that squares are of small numbers
    each = np.concatenate([apart, sizes])
    one, other = np.triu_indices(2 * arms)
    columns = np.concatenate([each, sizes > 0, each[one] * each[other]])
    drawn = np.column_stack([columns.sum(axis=1), resampled(columns, resamples, seed)])
    total, size, units, products = np.split(drawn, [arms, 2 * arms, 3 * arms])
    with np.errstate(divide="ignore", invalid="ignore"):
        pull = units / np.sqrt(units - 1) / size * np.array([[1], [-1]])[:arms]
        parts = np.concatenate([pull, -pull * total / size])
        twice = np.where(one == other, 1, 2)[:, None]
        found = np.maximum((parts[one] * parts[other] * products * twice).sum(axis=0), 0)
    return np.where(np.isfinite(found[0]), found, np.nan)  # though a unit that is drawn twice counts as two


def needed(spread: Array, arms: int, detect: float, power: float, level: float) -> Array:
    """Return how many units of each arm show a difference, at least two.

    Parameters
    ----------
    spread : as ``spreads`` returns it.
    arms : 1 where each unit has a difference, else 2.

    Source: W. C. Guenther, Sample size formulas for normal theory t tests, The American Statistician 35(4), 1981.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # of a difference next to 0
        many = spread * np.square(np.float64(max(detectable(level, power), 0)) / detect)
    many = np.where(np.isfinite(many), many, np.nan) + normal_quantile(level) ** 2 / (2 * arms)
    return np.maximum(np.ceil(many - 1e-9), 2)
