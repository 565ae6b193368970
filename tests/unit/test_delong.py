"""Variances of areas under ROC curves, and how those of two systems vary together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from inside import FullRanking, delong, sorted_levels


def pair_by_pair(score: Any, relevant: Any) -> tuple[Any, Any]:
    """Areas and covariances from all pairs of a relevant row and another, as DeLong and others write them."""
    good, bad = score[:, relevant == 1], score[:, relevant == 0]
    wins = (good[:, :, None] > bad[:, None]) + 0.5 * (good[:, :, None] == bad[:, None])
    of_good, of_bad = np.cov(wins.mean(axis=2)), np.cov(wins.mean(axis=1))
    return wins.mean(axis=(1, 2)), of_good / good.shape[1] + of_bad / bad.shape[1]


@pytest.mark.parametrize("levels", [2, 5, 10**6])
@pytest.mark.parametrize("rows", [4, 9, 60])
def test_covariances_are_those_of_all_pairs(levels: int, rows: int) -> None:
    """The covariances of three systems are those of all pairs of rows, with many equal scores and with none."""
    random = np.random.default_rng([levels, rows])
    relevant = np.array([1, 1, 0, 0, *random.integers(0, 2, rows - 4)])
    score = random.integers(0, levels, (3, rows)) + random.integers(0, 2, rows) * (levels // 3)
    score = np.where(random.random(score.shape) < 0.1, -np.inf, score)
    area, covariance = delong.areas(score, relevant)
    other_area, other_covariance = pair_by_pair(score, relevant)
    np.testing.assert_allclose(area, other_area, rtol=0, atol=1e-12)
    np.testing.assert_allclose(covariance, other_covariance, rtol=0, atol=1e-12)


def test_variance_of_sorted_scores_is_on_the_diagonal() -> None:
    """The variance that several segments' levels give is the one that their rows give."""
    random = np.random.default_rng(0)
    segment, relevant = np.repeat(np.arange(5), 30), random.integers(0, 2, 150)
    score = random.integers(0, 9, 150).astype(float)
    found = delong.area_variance(sorted_levels(segment, score, relevant * 1.0, np.ones(150), 6))
    for one in range(5):
        _, covariance = pair_by_pair(score[None, segment == one].repeat(2, axis=0), relevant[segment == one])
        assert found[one] == pytest.approx(covariance[0, 1], abs=1e-12)
    assert np.isnan(found[5])


def test_rows_that_stand_for_several() -> None:
    """A row that stands for several counts as they do."""
    random = np.random.default_rng(1)
    times, relevant = random.integers(0, 4, 40), random.integers(0, 2, 40)
    score = random.integers(0, 9, (2, 40))
    several = delong.areas(np.repeat(score, times, axis=1), np.repeat(relevant, times))
    for found, one_by_one in zip(delong.areas(score, relevant, times), several, strict=True):
        np.testing.assert_allclose(found, one_by_one, rtol=0, atol=1e-12)


@pytest.mark.parametrize("relevant", [[1, 0, 0], [0, 1, 1], [1], [0, 0], [1, 0]])
def test_too_few_rows_have_no_variance(relevant: list[int]) -> None:
    """Fewer than two rows of either kind leave the variance unknown."""
    score = np.arange(len(relevant), dtype=float)
    _, covariance = delong.areas(score[None], np.array(relevant))
    level = sorted_levels(np.zeros(len(score), int), score, np.array(relevant) * 1.0, np.ones(len(score)), 1)
    assert np.isnan(covariance).all()
    assert np.isnan(delong.area_variance(level)).all()


def test_figures_from_the_literature() -> None:
    """109 computed tomographies (Hanley and McNeil, 1982), with the standard error and the ends that Stata prints."""
    rating = np.array([[1.0, 2, 3, 4, 5] * 2])
    counted = np.array([33, 6, 6, 11, 2, 3, 2, 2, 11, 33])
    area, covariance = delong.areas(rating, np.repeat([0, 1], 5), counted)
    assert (round(area[0], 4), round(covariance[0, 0] ** 0.5, 4)) == (0.8932, 0.0307)
    assert delong.around(area, covariance[0], 0.95).ravel().round(5).tolist() == [0.83295, 0.95339]


@pytest.mark.parametrize(
    "score", [[0.9, 0.7, 0.3, 0.8, 0.2, 0.5], [0.9, 0.9, 0.3, 0.8, 0.2, 0.5]], ids=["apart", "equal"]
)
def test_levels_of_rows_in_rank_order_are_those_of_rows_in_any(score: list[float]) -> None:
    """Where no two scores of a query are equal each row is a level, to the bit that of levels found by sorting."""
    label, lengths = np.array([1, 0, 1, 0, 0, 1]), np.array([3, 0, 2, 1])
    query = np.repeat(np.arange(4), lengths)
    mine = FullRanking(label, lengths, lengths, label=label, score=np.array(score)).scores
    other = sorted_levels(query, np.array(score), label * 1.0, np.ones(6), 4)
    for name in ("query", "score", "tp", "fp", "pos", "neg", "positives", "negatives", "area", "steps", "retrieved"):
        np.testing.assert_array_equal(getattr(mine, name), getattr(other, name), err_msg=name)


def by_newcombe(area: float, variance: float, m: int, n: int, level: float) -> list[float]:
    """The ends as roots of the equation, on either side of the area."""
    half, z = (m + n) / 2, norm.ppf((1 + level) / 2)

    def assumed(t: float) -> float:
        return t * (1 - t) / (m * n) * (2 * half - 1 - (3 * half - 3) / ((2 - t) * (1 + t)))

    wider = max(1.0, variance / assumed(area)) if 0 < area < 1 else 1.0

    def apart(t: float) -> float:
        return (area - t) ** 2 - z**2 * wider * assumed(t)

    low = brentq(apart, 0, min(area, 1 - 1e-9), xtol=1e-15) if area > 0 else 0.0
    return [low, brentq(apart, max(area, 1e-9), 1, xtol=1e-15) if area < 1 else 1.0]


@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
@pytest.mark.parametrize(("m", "n"), [(2, 2), (3, 90), (20, 200), (500, 20)])
def test_the_interval_of_an_area_solves_newcombe_s_equation(m: int, n: int, level: float) -> None:
    """Each end is a root; a greater variance of DeLong widens the interval, a smaller one does not narrow it."""
    area = np.array([0, 0.02, 0.3, 0.5, 0.5, 0.97, 1])
    variance = np.array([0, 1e-4, 0, 1e-6, 0.2, 1e-2, 0])
    found = delong.area_between(area, variance, np.full(7, m), np.full(7, n), level)
    expected = [by_newcombe(*one, m, n, level) for one in zip(area, variance, strict=True)]
    np.testing.assert_allclose(found.T, expected, rtol=0, atol=1e-9)
    assert (found[0] <= area).all()
    assert (area <= found[1]).all()
    turned = delong.area_between(1 - area, variance, np.full(7, n), np.full(7, m), level)
    np.testing.assert_allclose(found, 1 - turned[::-1], rtol=0, atol=1e-12)


def test_an_unknown_variance_or_area_gives_no_interval() -> None:
    """With one row of a kind nothing shows how much it varies."""
    held = np.array([[0.5, np.nan, 0.5], [np.nan, 0.1, 0.1], [1, 3, 3], [3, 3, 3]])
    assert np.isnan(delong.area_between(*held, 0.95)).tolist() == [[True, True, False]] * 2
