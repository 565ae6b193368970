"""What simulations share: a line of their table, logs of values, and the second way that a trial is done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

import frame_metrics  # noqa: F401 - gives frames their accessor

HEAD = ("what", "setting", "trials", "rate", "standard error", "asked", "met")


@dataclass(frozen=True)
class Line:
    """How often something happened in independent trials.

    Parameters
    ----------
    asked : the least and the greatest share that will do; None where nothing is asked.
    """

    what: str
    setting: str
    trials: int
    happened: int
    asked: tuple[float, float] | None

    @property
    def cells(self) -> tuple[str, ...]:
        """The cells of the line in the table."""
        rate = self.happened / self.trials
        error = (rate * (1 - rate) / self.trials) ** 0.5
        cells = (self.what, self.setting, f"{self.trials:,}", f"{rate:.2%}", f"{error:.2%}")
        if self.asked is None:
            return (*cells, "", "")
        least, most = self.asked
        wanted = f"{least:.0%} to {most:.0%}" if least else f"at most {100 * most:g}%"
        return (*cells, wanted, "yes" if least <= rate <= most else "NO")


def as_log(values: Any) -> Any:
    """Return columns of values as systems, each query with one document, so that its dcg@1 is the value itself."""
    n, systems = values.shape
    names = [f"s{i}" for i in range(systems)]
    columns = {"system": np.repeat(names, n), "query": np.tile(np.arange(n), systems), "grade": values.T.ravel()}
    log = pl.DataFrame(columns).with_columns(score=1.0)
    return log.irm(query="query", system="system", score="score", grade="grade")


def ends(found: pl.DataFrame) -> list[tuple[float, float]]:
    """Return the intervals of a result."""
    return found.select("ci_low", "ci_high").rows()


def agree(ours: Any, theirs: Any, what: str) -> None:
    """Raise where a short way gives something else than the whole way, but for how floats are summed."""
    if not np.allclose(ours, theirs, rtol=0, atol=1e-12):
        raise AssertionError(f"{what}: {ours} is not {theirs}")
