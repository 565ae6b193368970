"""The threshold at which a metric is best is chosen on rows, and less good on others."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import polars as pl
import pytest

import frame_metrics  # noqa: F401 - gives frames their accessor


@pytest.mark.parametrize(("n", "share", "more"), [(100, 0.5, 0.04), (300, 0.5, 0.02), (100, 0.1, 0.13)])
def test_a_threshold_is_better_on_the_rows_that_it_was_chosen_on(n: int, share: float, more: float) -> None:
    """By as much as the page says, for normal scores that are one deviation higher where rows are relevant."""
    rng, trials = np.random.default_rng(0), 200
    label = rng.random(trials * n) < share
    columns = {"trial": np.repeat(range(trials), n), "label": label, "score": rng.normal(size=trials * n) + label}
    found = pl.DataFrame(columns).irm(by="trial").best_threshold("f1").filter(pl.col("threshold").is_finite())
    at = [NormalDist().cdf(-one) for one in found["threshold"]]
    right = [share * NormalDist().cdf(1 - one) for one in found["threshold"]]
    on_others = [2 * tp / (tp + (1 - share) * fp + share) for tp, fp in zip(right, at, strict=True)]
    assert found["f1"].mean() - np.mean(on_others) == pytest.approx(more, abs=0.01)
