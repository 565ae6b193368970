"""Rows without a query take little memory beside what is read, and are computed part by part."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

from frame_metrics import IRM
from inside import small_parts

N = 1_000_000
CALLS: dict[str, tuple[Callable[[IRM], Any], int]] = {  # a call, and the bytes a row that it may hold, its result too
    "thresholds": (lambda irm: irm.thresholds("f1"), 64),
    "best_threshold": (lambda irm: irm.best_threshold("f1"), 44),
    "curve of roc": (lambda irm: irm.curve("roc"), 40),
    "curve of precision and recall": (lambda irm: irm.curve("pr"), 44),
    "area with an interval": (lambda irm: irm.evaluate("roc_auc", ci=0.95), 40),
}


def scored(n: int, distinct: int = 1 << 60) -> pl.DataFrame:
    """Return rows with labels and scores, of so many different values."""
    random = np.random.default_rng(0)
    label = random.integers(0, 2, n).astype(np.int8)
    return pl.DataFrame({"label": label, "score": (label + random.random(n) * 3) * distinct // 1 / distinct})


@pytest.mark.parametrize("name", CALLS)
def test_scores_take_little_memory(name: str) -> None:
    """Arrays take at most so many bytes a row, with what the result has; it was up to 93."""
    call, most = CALLS[name]
    call(scored(100).irm())  # what is made once is made
    irm = scored(N).irm()
    tracemalloc.start()
    call(irm)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak / N < most


@pytest.mark.parametrize("distinct", [4, 1 << 40])
@pytest.mark.parametrize("name", CALLS)
def test_parts_make_no_difference(name: str, distinct: int) -> None:
    """Scores that are computed seven at a time give what all at once give."""
    call, _ = CALLS[name]
    irm = scored(500, distinct).irm()
    with small_parts(7):
        found = call(irm)
    for one, other in zip(found.iter_columns(), call(irm).iter_columns(), strict=True):
        if one.dtype == pl.Float64:
            np.testing.assert_allclose(one, other, rtol=1e-13)
        else:
            assert one.equals(other)
