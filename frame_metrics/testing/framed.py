"""The law that a metric has the same values in frames of every kind as on arrays."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.accessor import IRM
from frame_metrics.backends.frames import LIBRARIES, given_as
from frame_metrics.inputs import FullConfusion, FullScores
from frame_metrics.testing.cases import SIZE, Rankings
from frame_metrics.testing.trial import Trial, law, same, shortened


@law("frames of every kind have the values of the arrays, whatever the order of their rows")
def frames(trial: Trial) -> Iterator[str]:
    made = _framed(trial)
    if made is None:
        return
    frame, roles, known = made
    shuffled = frame.sample(fraction=1, shuffle=True, seed=0)
    loaded = [library for library in LIBRARIES if library in sys.modules]
    kinds = {"lazy": shuffled.lazy(), **{library: given_as(library, shuffled) for library in loaded}}
    for kind, one in kinds.items():
        irm: Any = IRM(one, undefined="null", **roles)
        found = irm.per_query(trial.metric) if roles["query"] else irm.evaluate(trial.metric)
        found = found.collect() if kind == "lazy" else found
        values = dict(zip(np.array(found["case"]).tolist(), np.array(found["value"], np.float64), strict=True))
        for i in known:
            if not same(trial.values[[i]], values[i]).all():
                found_here = f"{shortened(values[i])} in a frame of {kind}"
                yield f"{trial.cases[i]} has {shortened(trial.values[i])}, and {found_here}"


def _framed(trial: Trial) -> tuple[pl.DataFrame, dict[str, Any], list[int]] | None:
    """Return the cases as a frame, the roles of its columns, and the numbers of the cases that have a value in it.

    None for metrics whose cases are not made into frames.
    """
    own, family = trial.metric, trial.family
    if own.input is FullConfusion and own.k is None:
        cells = ((1, 1), (0, 1), (1, 0), (0, 0))  # the label and the prediction of each
        every = [(i, *pair) for i, case in enumerate(trial.cases) for pair in zip(cells, case.cells, strict=True)]
        return _of_segments([(i, *cell, int(n)) for i, cell, n in every if n], ["label", "predicted", "count"])
    if own.input is FullScores:
        return _of_segments([(i, *row) for i, case in enumerate(trial.cases) for row in case.rows], ["score", "label"])
    judged = own.judges and not own.of_subtopics
    return _of_queries(trial) if isinstance(family, Rankings) and judged else None


def _of_queries(trial: Trial) -> tuple[pl.DataFrame, dict[str, Any], list[int]]:
    """Return rankings as a frame, as ``_framed`` does; cases with a judgment have a value."""
    metric, rows = trial.metric, []
    for i, case in enumerate(trial.cases):
        for place, grade in enumerate(case.grades):
            score = 1 / (place + 2) if place < case.n_ret else None
            known = None if math.isnan(grade) else grade
            rows.append((i, score, known, *(values[place] for values in case.columns)))
    columns = [f"column {i}" for i, _ in enumerate(metric.columns)]
    frame = pl.DataFrame(rows, schema=["case", "score", "grade", *columns], orient="row")
    judged = frame.filter(pl.col("grade").is_not_null())["case"].unique().sort().to_list()
    roles: dict[str, Any] = {"query": "case", "score": "score", "grade": "grade", "collection_size": SIZE}
    if metric.off_policy:  # of the policy that was logged, so that each result counts once
        chances = ("propensity", "target_propensity")
        frame = frame.with_columns(pl.lit(0.5).alias(name) for name in chances)
        roles |= {name: name for name in chances}
    if columns:
        roles["extra"] = dict(zip(metric.columns, columns, strict=True))
    return frame, roles, judged


def _of_segments(rows: list[Any], names: list[str]) -> tuple[pl.DataFrame, dict[str, Any], list[int]]:
    """Return rows without a query as a frame, as ``_framed`` does.

    Each case is a segment, and columns have the names of their roles.
    """
    frame = pl.DataFrame(rows, schema=["case", *names], orient="row")
    roles = {"query": None, "by": "case", **{name: name for name in names}}
    return frame, roles, frame["case"].unique().sort().to_list()
