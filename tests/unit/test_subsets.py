"""Sums over random subsets of units."""

from __future__ import annotations

import numpy as np
import pytest

from inside import subset_sums


@pytest.mark.parametrize("size", [1, 6, 10, 19])
def test_all_subsets_of_a_size_are_equally_likely(size: int) -> None:
    """Each unit, and each two units, are in as many subsets as they should be; each subset has its size."""
    n, draws = 20, 20_000
    found = subset_sums(np.random.default_rng(0), np.eye(n), np.full(draws, size))
    assert set(np.unique(found)) == {0, 1}
    assert (found.sum(axis=1) == size).all()
    both = found.T @ found / draws
    expected = np.where(np.eye(n), size / n, size / n * (size - 1) / (n - 1))
    assert np.abs(both - expected).max() < 5 * (0.25 / draws) ** 0.5


def test_each_subset_has_a_size_of_its_own() -> None:
    """None of the units, all, and some; a number of units that is no multiple of eight."""
    sizes = np.array([0, 13, 5, 12, 1])
    found = subset_sums(np.random.default_rng(1), np.column_stack([np.ones(13), np.arange(13.0)]), sizes)
    assert found[:, 0].tolist() == sizes.tolist()
    assert found[1].tolist() == [13, 78]


def test_subsets_of_many_units_have_the_mean_and_the_variance_of_draws() -> None:
    """Of 10,000 units a third: the sums vary as those without replacement do."""
    rows = np.random.default_rng(2).normal(size=(10_000, 1))
    found = subset_sums(np.random.default_rng(3), rows, np.full(2000, 3333))[:, 0]
    spread = rows.std(ddof=1) * (3333 * (1 - 0.3333)) ** 0.5
    assert found.mean() == pytest.approx(3333 * rows.mean(), abs=4.5 * spread / 2000**0.5)
    assert found.std(ddof=1) == pytest.approx(spread, rel=0.08)
