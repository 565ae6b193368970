"""Lines of the simulation about scores as probabilities: whether some are called off, where none are and where some."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
from trials import Line

AT_MOST = (0.0, 0.065)
SIZES = ((3, 200), (10, 500))  # segments, and the rows of each
TIMES = 0.85  # shares of the first segment, that is off, over its scores


def called_off(segments: int, size: int, times: float, seed: list[int]) -> str | None:
    """Return the first sentence that calls scores off; ``times``: the shares of the first segment over its scores."""
    rng = np.random.default_rng(seed)
    score, segment = rng.beta(1, 1, segments * size), np.repeat(np.arange(segments), size)
    share = np.where(segment == 0, np.minimum(times * score, 1), score)
    cases = pl.DataFrame({"score": score, "label": rng.random(len(score)) < share, "segment": segment})
    found = cases.irm(by="segment").summary("ece").filter(pl.col("sentence").str.contains("scores are off"))
    return found["sentence"][0] if len(found) else None


def calibration(rows: Any, trials: int) -> Iterator[Line]:
    """Count sentences that call scores off."""
    del rows
    for segments, size in SIZES:
        setting, of = f"{segments} segments of {size:,} rows, scores from 0 to 1", [51, segments, size]
        some = [called_off(segments, size, 1, [*of, trial]) for trial in range(trials)]
        n = sum(one is not None for one in some)
        yield Line("false alarm: scores are off", setting, trials, n, AT_MOST)
        some = [called_off(segments, size, TIMES, [*of, 1, trial]) for trial in range(trials)]
        n = sum(one is not None and one.startswith("For 0 (segment), ") for one in some)
        yield Line("segment seen whose scores are off", f"{setting}, {TIMES:g} times", trials, n, None)
