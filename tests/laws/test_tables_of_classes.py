"""Tables of several classes hold the cells that occur; what they give is what the whole grid gives."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import frame_metrics as fm
from inside import REGISTRY, Classes

K = 4
EACH = (form for metric in REGISTRY.values() for form in (metric, metric.form_for_classes) if form is not None)
OF_TABLES = {metric.name: metric for metric in EACH if metric.input is Classes}


def grids(*, whole: bool) -> np.ndarray:
    """Return tables of classes with empty cells, rows and columns, and one with a cell that outweighs all others."""
    random = np.random.default_rng(3)
    found = random.integers(0, 6, (40, K, K + 1)) * (random.random((40, K, K + 1)) < 0.4).astype(float)
    found *= 1 if whole else random.random(found.shape)
    found[0, 1, 2] += 1e12
    found[1] = 0
    found[2, :, -1] = 0
    return found


def occurring(found: np.ndarray) -> Classes:
    """Return tables of the cells that are not 0."""
    table, true, said = np.nonzero(found)
    shape = len(found), K, K
    return Classes(table, true, said, found[table, true, said][None], shape, np.ones(shape[:2], bool))


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("name", sorted(OF_TABLES))
def test_cells_without_rows_make_no_difference(name: str, whole: bool) -> None:
    """A measure of the cells that occur is that of all cells."""
    found = grids(whole=whole)
    every = OF_TABLES[name].compute(Classes.of_grid(found, np.ones(found.shape[:2], bool)))
    np.testing.assert_allclose(OF_TABLES[name].compute(occurring(found)), every, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_kappa_is_that_of_the_whole_grid(weights: str | None) -> None:
    """A weighted kappa, computed from sums along the classes, is the sum over all pairs of classes."""
    found = grids(whole=False)
    found[:, :, -1] = 0
    apart = np.abs(np.subtract.outer(np.arange(K), np.arange(K)))
    worth = {None: 1 - np.eye(K), "linear": apart, "quadratic": apart**2}[weights]
    rows = found[:, :, :-1]
    chance = np.einsum("na,nb,ab->n", rows.sum(axis=2), rows.sum(axis=1), worth)
    with np.errstate(invalid="ignore"):
        expected = 1 - (rows * worth).sum(axis=(1, 2)) * rows.sum(axis=(1, 2)) / np.where(chance == 0, np.nan, chance)
    kappa = replace(OF_TABLES["kappa"], params={"weights": weights})
    np.testing.assert_allclose(kappa.compute(occurring(found)), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("whole", [True, False])
def test_two_by_two_tables_are_those_of_the_whole_grid(whole: bool) -> None:
    """The cells of each class against the rest are sums over the grid, where one outweighs the others too."""
    found = grids(whole=whole)
    rest = occurring(found).against_rest
    rows = found[:, :, :-1]
    for c in range(K):
        others = [other for other in range(K) if other != c]
        at = slice(c * len(found), (c + 1) * len(found))
        expected = {
            "tp": rows[:, c, c],
            "fp": rows[:, others, c].sum(axis=1),
            "fn": rows[:, c, others].sum(axis=1),
            "tn": rows[:, others][:, :, others].sum(axis=(1, 2)),
            "up": found[:, c, -1],
            "un": found[:, others, -1].sum(axis=1),
        }
        for name, values in expected.items():
            np.testing.assert_allclose(getattr(rest, name)[at], values, rtol=1e-12, atol=0, err_msg=f"{name} of {c}")


def test_many_classes_cost_what_their_rows_cost() -> None:
    """Memory of measures of 3,000 classes, and of their intervals, is that of rows; a grid of them has 72 MB."""
    random = np.random.default_rng(0)
    label = random.integers(0, 3_000, 2_000)
    said = np.where(random.random(2_000) < 0.6, label, random.integers(0, 3_000, 2_000))
    irm = fm.IRM(pl.DataFrame({"label": label, "predicted": said}), classes=list(range(3_000)))
    tracemalloc.start()
    irm.evaluate("f1", "kappa(weights='linear')", "mutual_information")
    irm.evaluate("f1", ci=0.95, resamples=20)
    irm.per_class("f1")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40e6
