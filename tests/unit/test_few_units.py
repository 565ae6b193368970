"""Intervals of few units: the quantile of Student's t, and the level of percentile intervals."""

from __future__ import annotations

import math

import pytest

from frame_metrics.stats.exact import expanded_level, normal_quantile, t_quantile

# Of the table of R. A. Fisher and F. Yates, Statistical tables, 1938 (to its last digit): the degrees of freedom, the
# probability below the quantile, and the quantile.
OF_T = [
    (1, 0.975, 12.706),
    (2, 0.975, 4.303),
    (3, 0.95, 2.353),
    (4, 0.975, 2.776),
    (9, 0.975, 2.262),
    (19, 0.995, 2.861),
    (29, 0.975, 2.045),
    (120, 0.975, 1.980),
]


@pytest.mark.parametrize(("df", "p", "quantile"), OF_T)
def test_quantiles_of_t_are_those_of_the_printed_table(df: float, p: float, quantile: float) -> None:
    """Quantiles of t have the digits of the table, and those below the middle the other sign."""
    assert t_quantile(p, df) == pytest.approx(quantile, abs=0.0006)
    assert t_quantile(1 - p, df) == pytest.approx(-quantile, abs=0.0006)


@pytest.mark.parametrize("df", [0.3, 1, 1.5, 2, 3.25, 4, 9, 29.5, 300, 999.5, 1000, 5000, 1e9])
@pytest.mark.parametrize("p", [0.6, 0.75, 0.9, 0.975, 0.9995, 1 - 1e-9])
def test_quantiles_of_t_are_those_of_scipy(df: float, p: float) -> None:
    """Quantiles of t agree with scipy's to twelve digits, for degrees of freedom that are no whole numbers too."""
    t = pytest.importorskip("scipy.stats").t
    assert t_quantile(p, df) == pytest.approx(t.ppf(p, df), rel=1e-11)


def test_quantiles_of_t_at_the_ends() -> None:
    """The median of t is 0, its greatest value infinite, and without degrees of freedom there is none."""
    assert [t_quantile(0.5, 3), t_quantile(1, 3), t_quantile(0, 3)] == [0, math.inf, -math.inf]
    assert t_quantile(0.9, 1e-3) == math.inf
    assert math.isnan(t_quantile(0.9, 0))
    assert t_quantile(0.975, 1e12) == pytest.approx(normal_quantile(0.95), rel=1e-9)


@pytest.mark.parametrize(("n", "level"), [(1, 1), (2, 1), (5, 0.99809), (10, 0.98290), (20, 0.96824), (50, 0.95764)])
def test_the_level_of_few_units(n: int, level: float) -> None:
    """The level of five units is 2 Phi(sqrt(5 / 4) 2.7764) - 1 = .99809, and of many units it is that of the call."""
    assert expanded_level(0.95, n) == pytest.approx(level, abs=1e-5)
    assert 0.95 <= expanded_level(0.95, 1e7) < 0.95001
