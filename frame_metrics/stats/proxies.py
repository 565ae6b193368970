"""Prediction-powered means: the mean by a machine's judgments of all queries, corrected by people's of a few."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from frame_metrics.errors import NotComputableError, import_needed
from frame_metrics.inputs import Array, ratio
from frame_metrics.stats.averages import cluster_numbers, sums_within
from frame_metrics.stats.exact import normal, normal_quantile
from frame_metrics.stats.offsets import offsets
from frame_metrics.stats.significance import CLOSE

FEWEST = 5  # queries, or clusters, that people must have judged; with fewer there is no mean


@dataclass(frozen=True)
class PpiMean:
    """A prediction-powered mean; NaN where too few queries were judged by people."""

    value: float
    tuned: float  # lambda, the weight of the machine, from 0 to 1
    proxy: float  # the mean by the machine alone
    n: int  # number of queries that people judged
    n_proxy: int  # number of queries that only the machine judged
    errors: tuple[float, float]  # standard errors: for the t interval, which allows for the fit of lambda; for normal
    freedom: int  # degrees of freedom of the t interval

    def ends(self, level: float, way: str) -> tuple[float, float]:
        """Return the ends of the interval; ``way`` is "t" or "normal"."""
        if way == "t":
            wide = self.errors[0] * float(students_t().ppf((1 + level) / 2, self.freedom))
        else:
            wide = self.errors[1] * normal_quantile(level)
        return self.value - wide, self.value + wide

    def p_value(self, way: str) -> float:
        """Return the two-sided p-value for a true mean of 0; NaN if the error is 0 and the mean is not."""
        error = self.errors[way != "t"]
        if way != "t" or not error > 0:
            return normal(self.value, error**2)
        return 2 * float(students_t().sf(abs(self.value) / error, self.freedom))


def students_t() -> Any:
    """Return Student's t distribution of scipy; raise if scipy is not installed."""
    return import_needed("scipy.stats", "the t interval needs scipy", "stats", NotComputableError).t


def ppi_mean(
    human: Array,
    proxy: Array,
    weight: Array | None = None,
    chance: Array | None = None,
    cluster: Array | None = None,
    *,
    tuned: float | None = None,
) -> PpiMean:
    """Return the prediction-powered mean over all queries, of which people judged some and a machine all.

    The value is lambda mean(U) + mean(Y - lambda F), of the machine's values U of the queries that only it judged, and
    of the values Y by people and F by the machine of the others. lambda = cov(Y, F) / ((1 + n / N) var(F and U)),
    within 0 and 1. With chances the mean of U is that over all queries, and those of the others are weighted by
    1 / chance (Hajek).

    Parameters
    ----------
    human, proxy : the values of queries by people, NaN for unjudged ones, and by the machine, shape (queries,).
    weight, chance, cluster : of each query, shape (queries,); None if all are equal, or there are no clusters.
    tuned : lambda; None for the one above.

    Source: A. N. Angelopoulos, J. C. Duchi, T. Zrnic, PPI++: Efficient prediction-powered inference, arXiv 2311.01453,
    2023; J. Hajek, comment on a paper by D. Basu, in Foundations of statistical inference, 1971. The errors for t are
    made of what each unit would give by the lambda of the others, as the jackknife of J. G. MacKinnon, H. White, Some
    heteroskedasticity-consistent covariance matrix estimators with improved finite sample properties, Journal of
    Econometrics 29(3), 1985, with units - 1 - lambda degrees of freedom in the variance.
    """
    mine, each = ~np.isnan(human), np.ones(len(human)) if weight is None else weight
    some = each > 0  # what weighs nothing is in no mean
    n, every = int((mine & some).sum()), _shares(each)
    human_share = _shares(np.where(mine, each if chance is None else ratio(each, chance), 0))
    rest = _shares(np.where(mine & (chance is None), 0, each)) if (some & ~mine).any() else np.zeros(len(human))
    numbers = cluster_numbers(cluster)
    of = np.arange(len(human)) if numbers is None else numbers
    units = len(np.unique(of[mine & some]))
    machine, left = float(every @ proxy), int(some.sum()) - n
    if units < FEWEST:
        return PpiMean(np.nan, np.nan, machine if some.any() else np.nan, n, left, (np.nan, np.nan), 0)
    # The contributions of units to means by people, by the machine, and to their covariance.
    values = np.where(mine, human, 0)
    deviations, proxy_deviations = values - human_share @ values, proxy - human_share @ proxy
    each_of = [
        human_share,
        human_share * deviations,
        human_share * proxy_deviations,
        human_share * deviations * proxy_deviations,
        rest * (proxy - rest @ proxy),
    ]
    shares, human_sums, proxy_sums, products, drawn = sums_within(of, int(of.max()) + 1, each_of)
    others = np.maximum(1 - shares, CLOSE)
    without = (products.sum() - products - human_sums * proxy_sums / others) / others  # covariance of the other units
    # The weight of the machine (lambda): for the value by all units, for errors without the unit itself.
    if tuned is None:
        covariance = np.append(without, products.sum())
        left_out = _tuned(covariance, proxy - machine, every, human_share, rest, pooled=chance is None)
    else:
        left_out = np.full(len(shares) + 1, tuned)
    tuned, wider = float(left_out[-1]), np.sqrt(units / (units - 1 - left_out[-1]))
    sums = ((human_sums - left_out[:-1] * proxy_sums) * wider, human_sums - tuned * proxy_sums)
    errors = [float(np.sqrt(((side + tuned * drawn) ** 2).sum())) for side in sums]
    least = CLOSE * np.abs(values - offsets(values[mine]))[mine].max()  # what is nearer to 0 is left by adding floats
    for_t, for_normal = (0.0 if error < least else error for error in errors)
    value = float(human_share @ (values - tuned * proxy) + tuned * (rest @ proxy))
    return PpiMean(value, tuned, machine, n, left, (for_t, for_normal), units - 1)


def _shares(weight: Array) -> Array:
    """Return weights as shares of their sum; zeros if that is 0."""
    return np.asarray(weight / (weight.sum() or 1))


def _tuned(
    covariance: Array, deviations: Array, every: Array, human_shares: Array, rest: Array, *, pooled: bool
) -> Array:
    """Return the lambda with the least variance for each covariance, within 0 and 1; 0 if the machine never varies."""
    n, variance = np.count_nonzero(every), float(every @ deviations**2)
    if not rest.any() or variance <= (CLOSE * np.abs(deviations).max()) ** 2 or np.ptp(deviations) == 0:
        return np.zeros(len(covariance))
    alone = 1 + (rest @ rest) / (human_shares @ human_shares) if pooled else 1.0
    return np.asarray(np.clip(covariance / (alone * variance * n / (n - 1)), 0, 1))
