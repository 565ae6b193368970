"""Checks of what weighs a log: chances of another policy that the logging policy seldom took, and few heavy results."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from frame_metrics.inputs import Array, ratio
from frame_metrics.inputs.weighted import of_the_list
from frame_metrics.keys.groups import as_text
from frame_metrics.verbs.audit.checks import SURE, Counted, RankedBlock, Seen, check

MIN_RESULTS = 30  # the fewest results, or lists, of equal weight that an interval rests on

# What is added up in each ranking of a block whose results have chances.
MASSES: dict[str, Callable[[RankedBlock], Array]] = {
    "weight of the list": lambda block: _last(block, of_the_list(block.run)),
    "weights of results": lambda block: _sum(block, _weights(block), retrieved=True),
    "squares of results": lambda block: _sum(block, _weights(block) ** 2, retrieved=True),
    "weights of hits": lambda block: _sum(block, _clipped(block)),
    "squares of hits": lambda block: _sum(block, _clipped(block) ** 2),
}


def masses(block: RankedBlock) -> dict[str, Array]:
    """Return the sums of weights in each ranking of a block; none if results have no chances."""
    return {} if block.run.ratio is None else {name: mass(block) for name, mass in MASSES.items()}


def _weights(block: RankedBlock) -> Array:
    return np.asarray(block.run.ratio, np.float64)


def _clipped(block: RankedBlock) -> Array:
    clip = block.run.clip
    return _weights(block) if clip is None else np.minimum(_weights(block), clip)


def _sum(block: RankedBlock, values: Array, *, retrieved: bool = False) -> Array:
    """Sum values over the relevant results of each ranking, or over all of its results."""
    run = block.run
    rank = np.arange(len(values)) - np.repeat(run.starts, run.lengths)
    some = (rank < np.repeat(run.n_ret, run.lengths)) & (True if retrieved else run.good)
    return np.bincount(run.query_of(np.flatnonzero(some)), values[some], minlength=run.n_queries)


def _last(block: RankedBlock, of_rows: Array) -> Array:
    """Return the value of the last row of each ranking, 1 for one without rows."""
    run, out = block.run, np.ones(block.run.n_queries)
    some = run.lengths > 0
    out[some] = of_rows[(np.cumsum(run.lengths) - 1)[some]]
    return out


class Weighed(NamedTuple):
    """Weights of the lists of a system, or of their results."""

    system: str | None
    mean: float
    error: float  # the standard error of the mean over lists
    effective: float
    n: int  # lists

    @property
    def far(self) -> bool:
        """True if the mean is surely not 1."""
        return abs(self.mean - 1) > max(SURE * self.error, 1e-9)


def _weighed(counts: Counted, *, by_list: bool) -> list[Weighed]:
    """Return the weights of each system's lists, or of their results; none unless another policy is evaluated."""
    index, log, places = counts.index, counts.log, counts["results"]
    if log.conventions.target_propensity is None or "weight of the list" not in counts.amounts:
        return []
    found = []
    for system in np.unique(index.system).tolist():
        at = np.flatnonzero((index.system == system) & (places > 0))
        if len(at) < 2:
            continue
        if by_list:
            mass, size = counts["weight of the list"][at], np.ones(len(at))
            sums, squares = mass, mass**2
        else:
            mass, size = counts["weights of results"][at], places[at]
            sums, squares = mass / size, counts["squares of results"][at] / size
        mean = mass.sum() / size.sum()
        spread = ((mass - mean * size) ** 2).sum() * len(at) / (len(at) - 1)
        name = as_text(index.keys_of(log.columns.internal_by_role[0], at[:1])) if log.columns.system else None
        effective = float(ratio(sums.sum() ** 2, squares.sum()))
        found.append(Weighed(name, float(mean), float(spread**0.5 / size.sum()), effective, len(at)))
    return found


def _seen(every: list[Weighed], found: list[Weighed]) -> Seen | None:
    """Count the lists of the systems that were found; the message is about the first."""
    if not every:
        return None
    words = found[0]._asdict() if found else {}
    return Seen(sum(one.n for one in found), sum(one.n for one in every), words.get("system"), words)


@check("warning", "lists")
def weights_of_lists_far_from_1(counts: Counted) -> Seen | None:
    """target_propensity / propensity, multiplied over the results of a list, is {mean:.3g} in the mean of lists, with a
    standard error of {error:.2g}, and would be 1: the logging policy seldom placed what the other one would, or the
    chances are not those of the two policies. sips and its interval cannot be trusted; iips and rips read fewer results
    """
    every = _weighed(counts, by_list=True)
    return _seen(every, [one for one in every if one.far])


@check("warning", "lists")
def weights_of_results_far_from_1(counts: Counted) -> Seen | None:
    """target_propensity / propensity is {mean:.3g} in the mean of results, with a standard error of {error:.2g}, and
    would be 1: the logging policy seldom placed what the other one would, or the chances are not those of the two
    policies. iips and its interval cannot be trusted
    """
    every = _weighed(counts, by_list=False)
    return _seen(every, [one for one in every if one.far])


@check("warning", "lists")
def few_effective_lists(counts: Counted) -> Seen | None:
    """a few heavy lists decide: {n} lists are as informative as {effective:.1f} of equal weight, and fewer than 30 are
    too few for an interval of sips (n_effective)
    """
    every = _weighed(counts, by_list=True)
    return _seen(every, [one for one in every if one.effective < MIN_RESULTS])


@check("warning", "results")
def few_effective_results(counts: Counted) -> Seen | None:
    """a few heavy results decide: the {n} relevant ones are as informative as {effective:.1f} of equal weight, and
    fewer than 30 are too few for an interval (n_effective); clip= limits the weights, with a bias
    """
    log, hits = counts.log, counts["hits"]
    if "weights of hits" not in counts.amounts or log.conventions.target_propensity is not None or not hits.any():
        return None
    effective = float(ratio(counts["weights of hits"].sum() ** 2, counts["squares of hits"].sum()))
    return Seen(int(hits.sum()) if effective < MIN_RESULTS else 0, int(hits.sum()), None, {"effective": effective})
