"""Confidence sequences: p-values and intervals that hold at all looks at growing data together."""

from __future__ import annotations

from math import erfc, exp, log, pi, sqrt

MOST_BOUND = 1400.0  # the greatest bound; the chance to cross it is 0 in floats


def ever_left(bound: float) -> float:
    """Return the chance that a Wiener process W has W(t)^2 / t >= bound + log(t) at some t from 1 on.

    With the bound b it is 2 (1 - Phi(sqrt(b)) + sqrt(b) phi(sqrt(b))), and 1 if b is not above 0. If z is the
    difference in standard errors, and t how many times as much is known as at the first look, the chance for the bound
    z^2 - log(t) is a p-value that holds at all looks.

    Source: H. Robbins, D. Siegmund, Boundary crossing probabilities for the Wiener process and sample sums, Annals of
    Mathematical Statistics 41(5), 1970; I. Waudby-Smith, D. Arbour, R. Sinha, E. H. Kennedy, A. Ramdas, Time-uniform
    central limit theory and asymptotic confidence sequences, Annals of Statistics 52(6), 2024.
    """
    root = sqrt(max(bound, 0))
    return min(1.0, erfc(root / sqrt(2)) + root * sqrt(2 / pi) * exp(-(root**2) / 2))


def as_level(level: float, information: float) -> float:
    """Return the level of the normal interval that is as long as that of a confidence sequence of this level.

    Parameters
    ----------
    information : how many times as much is known as at the first look, at least 1.
    """
    low, high = 0.0, MOST_BOUND
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if ever_left(middle) > 1 - level else (low, middle)
    return level_of_errors(sqrt(high + log(information)))


def level_of_errors(z: float) -> float:
    """Return the level of the normal interval whose ends are ``z`` standard errors from the mean; below 1."""
    return min(1 - erfc(z / sqrt(2)), 1 - 1e-15)
