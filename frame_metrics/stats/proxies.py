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
from frame_metrics.stats.shares import kish, wilson_on_range
from frame_metrics.stats.significance import CLOSE
from frame_metrics.stats.skewness import above, skewness, straightened

FEWEST = 5  # the fewest queries, or clusters, that people must have judged; with fewer there is no mean


@dataclass(frozen=True)
class PpiMean:
    """A prediction-powered mean; NaN if people judged too few queries."""

    value: float
    tuned: float  # lambda, the weight of the machine, from 0 to 1
    people: float  # the mean by people alone, over the queries that they judged
    proxy: float  # the mean by the machine alone, over all queries
    n: int  # number of queries that people judged
    n_proxy: int  # number of queries that only the machine judged
    # The standard error for the t distribution, which allows for the fit of lambda, and that for the normal one.
    errors: tuple[float, float]
    freedom: int  # degrees of freedom of t
    units: float  # number of queries, or clusters, that people judged, Kish's if they have weights
    skew: float = 0.0  # the skewness of what the queries, or clusters, that people judged add to the mean

    def error(self, distribution: str) -> float:
        """Return the standard error for a distribution, "t" or "normal"."""
        return self.errors[0] if distribution == "t" else self.errors[1]

    def ends(self, level: float, distribution: str) -> tuple[float, float]:
        """Return the ends of the interval by a distribution, "t" or "normal"; NaN where nothing varies."""
        if not self.error(distribution) > 0:
            return np.nan, np.nan
        is_t = distribution == "t"
        quantile = float(students_t().ppf((1 + level) / 2, self.freedom)) if is_t else normal_quantile(level)
        half = self.error(distribution) * quantile
        return self.value - half, self.value + half

    def ends_of_share(self, level: float, distribution: str) -> tuple[float, float]:
        """Return the ends of the interval of a share; where nothing varies, Wilson's of what people judged."""
        if self.error(distribution) > 0 or np.isnan(self.value):
            return self.ends(level, distribution)
        low, high = wilson_on_range(round(self.value), self.units, level).tolist()
        return low, high

    def p_value(self, distribution: str) -> float:
        """Return the two-sided p-value for a true mean of 0; NaN if the error is 0 and the mean is not."""
        error = self.error(distribution)
        if distribution != "t" or not error > 0:
            return normal(self.value, error**2)
        return 2 * float(students_t().sf(abs(self.value) / error, self.freedom))

    def p_of_skewed(self) -> float:
        """Return the two-sided p-value by t with and without the skewness, the greater; NaN if nothing varies."""
        error = self.error("t")
        if not error > 0:
            return np.nan
        t, skew = abs(self.value) / error, float(np.sign(self.value)) * self.skew
        return min(2 * max(above(one, self.freedom) for one in (t, straightened(t, skew))), 1.0)


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

    The value is lambda mean(U) + mean(Y - lambda F). U are the machine's values of the N queries that only it judged; Y
    and F are the values by people and by the machine of the n other queries. lambda is
    cov(Y, F) / ((1 + n / N) var(F and U)), within 0 and 1. With chances U are the machine's values of all queries, and
    queries that people judged are weighted by 1 / chance (Hajek).

    Parameters
    ----------
    human, proxy : the values of queries by people, NaN for unjudged ones, and by the machine, shape (queries,).
    weight, chance, cluster : of each query, shape (queries,); None if all are equal, or there are no clusters.
    tuned : lambda; None for the one above.

    Source: A. N. Angelopoulos, J. C. Duchi, T. Zrnic, PPI++: Efficient prediction-powered inference, arXiv 2311.01453,
    2023; J. Hajek, comment on a paper by D. Basu, in Foundations of statistical inference, 1971. The errors for t take
    for each unit the lambda of the other units, as the jackknife of J. G. MacKinnon, H. White, Some
    heteroskedasticity-consistent covariance matrix estimators with improved finite sample properties, Journal of
    Econometrics 29(3), 1985, with units - 1 - lambda degrees of freedom in the variance.
    """
    by_people, each = ~np.isnan(human), np.ones(len(human)) if weight is None else weight
    weighs = each > 0  # what weighs nothing is in no mean
    n, n_proxy = int((by_people & weighs).sum()), int((~by_people & weighs).sum())
    # The weight of each query in three means: over all queries; over those that people judged; and in mean(U).
    share = _shares(each)
    human_share = _shares(np.where(by_people, each if chance is None else ratio(each, chance), 0))
    proxy_share = _shares(np.where(by_people & (chance is None), 0, each)) if n_proxy else np.zeros(len(human))
    numbers = cluster_numbers(cluster)
    unit = np.arange(len(human)) if numbers is None else numbers
    n_units = len(np.unique(unit[by_people & weighs]))
    values, proxy_mean = np.where(by_people, human, 0), float(share @ proxy)
    means = float(human_share @ values) if n else np.nan, proxy_mean if weighs.any() else np.nan
    if n_units < FEWEST:
        return PpiMean(np.nan, np.nan, *means, n, n_proxy, (np.nan, np.nan), 0, 0)
    # The contributions of units to mean(Y), to mean(F), to their covariance, and to mean(U).
    deviations, proxy_deviations = values - human_share @ values, proxy - human_share @ proxy
    contributions = [
        human_share,
        human_share * deviations,
        human_share * proxy_deviations,
        human_share * deviations * proxy_deviations,
        proxy_share * (proxy - proxy_share @ proxy),
    ]
    shares, human_sums, proxy_sums, products, of_rest = sums_within(unit, int(unit.max()) + 1, contributions)
    others = np.maximum(1 - shares, CLOSE)
    without_unit = (products.sum() - products - human_sums * proxy_sums / others) / others  # covariance of the others
    # lambda without each unit, for the errors for t; then that of all units.
    if tuned is None:
        covariance = np.append(without_unit, products.sum())
        lambdas = _tuned(covariance, proxy - proxy_mean, share, human_share, proxy_share, pooled=chance is None)
    else:
        lambdas = np.full(len(shares) + 1, tuned)
    tuned, wider = float(lambdas[-1]), np.sqrt(n_units / (n_units - 1 - lambdas[-1]))
    sums = ((human_sums - lambdas[:-1] * proxy_sums) * wider, human_sums - tuned * proxy_sums)
    errors = [float(np.sqrt(((side + tuned * of_rest) ** 2).sum())) for side in sums]
    least = CLOSE * np.abs(values - offsets(values[by_people]))[by_people].max()  # a smaller error is only rounding
    for_t, for_normal = (0.0 if error < least else error for error in errors)
    value = float(human_share @ (values - tuned * proxy) + tuned * (proxy_share @ proxy))
    skew = float(skewness((human_sums - tuned * proxy_sums)[:, None])[0])
    return PpiMean(value, tuned, *means, n, n_proxy, (for_t, for_normal), n_units - 1, kish(shares), skew)


def bias_of(human: Array, proxy: Array, *of_queries: Array | None) -> PpiMean:
    """Return the mean difference of the machine's values from those of people, over the queries that people judged.

    ``human``, ``proxy``, ``of_queries``: as ``ppi_mean`` takes them. It is that mean with nothing known of the others.
    """
    return ppi_mean(proxy - human, np.zeros(len(proxy)), *of_queries)


def _shares(weight: Array) -> Array:
    """Return weights as shares of their sum; zeros if the sum is 0."""
    return np.asarray(weight / (weight.sum() or 1))


def _tuned(
    covariance: Array, deviations: Array, share: Array, human_share: Array, proxy_share: Array, *, pooled: bool
) -> Array:
    """Return the lambda with the least variance for each covariance, within 0 and 1; 0 if the machine never varies.

    Parameters
    ----------
    deviations : the machine's values less their mean, shape (queries,).
    share, human_share, proxy_share : the weight of each query in the mean over all queries, over those that people
        judged, and in mean(U), shape (queries,).
    pooled : whether U has no queries that people judged, so that its mean adds to the variance (1 + n / N).
    """
    n, variance = np.count_nonzero(share), float(share @ deviations**2)
    if not proxy_share.any() or variance <= (CLOSE * np.abs(deviations).max()) ** 2 or np.ptp(deviations) == 0:
        return np.zeros(len(covariance))
    factor = 1 + (proxy_share @ proxy_share) / (human_share @ human_share) if pooled else 1.0
    return np.asarray(np.clip(covariance / (factor * variance * n / (n - 1)), 0, 1))
