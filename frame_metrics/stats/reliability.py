"""The reliability of the order of systems: would other queries like these order them so?"""

from __future__ import annotations

import numpy as np

from frame_metrics.inputs.rows import Array


def reliability(values: Array) -> float:
    """Return 1 - MS_residual / MS_systems of values by query and system, 0 if that is below 0.

    MS_systems = n sum_s (mean_s - mean)^2 / (k - 1) for n queries and k systems. MS_residual is the mean square of what
    is left of the values after the means of queries and systems are subtracted, with (n - 1) (k - 1) degrees of
    freedom. The result is the share of the variance of means that is between systems, 1 if systems differ by the same
    in all queries. NaN for fewer than two queries or systems, for a missing value, and if nothing differs.

    ``values``: shape (queries, systems).

    Source: C. Hoyt, Test reliability estimated by analysis of variance, Psychometrika 6, 1941; D. Bodoff, P. Li, Test
    theory for assessing IR test collections, SIGIR 2007.
    """
    n, k = values.shape
    if min(n, k) < 2 or np.isnan(values).any():
        return np.nan
    means = values.mean(axis=0)
    of_systems = n * ((means - means.mean()) ** 2).sum() / (k - 1)
    residuals = values - values.mean(axis=1)[:, None] - (means - means.mean())
    residual = (residuals**2).sum() / (n - 1) / (k - 1)
    least = (1e-12 * np.abs(values).max()) ** 2
    if of_systems <= least:
        return np.nan if residual <= least else 0.0
    return float(max(1 - residual / of_systems, 0.0))
