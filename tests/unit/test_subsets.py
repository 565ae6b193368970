"""Sums over random subsets of units."""

from __future__ import annotations

import numpy as np
import pytest

from inside import NormalSums, large_units, subset_sums


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


@pytest.mark.parametrize("size", [1, 5_000, 12_000])
def test_sums_drawn_as_normal_vary_as_those_of_subsets(size: int) -> None:
    """Their means, variances and covariances are those of sums over units that are drawn without replacement."""
    held = np.random.default_rng(4).exponential(size=20_000)
    rows, draws = np.column_stack([held, held**2, np.full(20_000, 3.0)]), 50_000
    found = NormalSums.of(rows).draw(np.random.default_rng(5), np.full(draws, size))
    expected = np.cov(rows.T) * size * (1 - size / 20_000)
    spread = np.sqrt(np.diag(expected))
    assert np.abs(found.mean(axis=0) - size * rows.mean(axis=0)).max() < 4.5 * spread.max() / draws**0.5
    assert found[:, 2].tolist() == pytest.approx([3.0 * size] * draws)
    assert np.abs(np.cov(found.T)[:2, :2] - expected[:2, :2]).max() < 0.03 * spread.max() ** 2


def test_large_units_are_those_without_which_a_sum_is_normal() -> None:
    """Among units of the lognormal distribution the largest are large; more of them in a smaller share of all."""
    held = np.exp(2 * np.random.default_rng(6).normal(size=(100_000, 1)))
    large = [each for share in (0.5, 0.2, 0.1) if (each := large_units(held, share)) is not None]
    counts = [int(each.sum()) for each in large]
    assert 10 < counts[0] < counts[1] < counts[2] < 6250
    assert all(held[each].min() > held[~each].max() for each in large)


@pytest.mark.parametrize("columns", [2, 1])
def test_no_unit_is_large_where_none_varies(columns: int) -> None:
    """Equal units have a sum that does not vary; beside a column that varies they decide nothing."""
    held = np.column_stack([np.full(1_000, 0.3), np.random.default_rng(7).random(1_000)])[:, :columns]
    large = large_units(held, 0.5)
    assert large is not None
    assert not large.any()
