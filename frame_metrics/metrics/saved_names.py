"""Metrics whose values were computed elsewhere: ours, by any of their names, and those that are a name and no more."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import nan

from frame_metrics.errors import FrameMetricsError, NotComputableError
from frame_metrics.inputs import Array, FullRanking, Lists
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import Metrics, read, read_text


def read_elsewhere(asked: Sequence[Metrics]) -> list[tuple[str, Metric]]:
    """Read metrics as the caller wrote them; a text that names none of ours becomes a metric with this name."""
    items = [one for item in asked for one in (item if isinstance(item, list | tuple) else [item])]
    return read([_unknown(item) if isinstance(item, str) and not _read(item) else item for item in items])


def metric_of(text: str, *, of_result: bool = False) -> Metric:
    """Return the one metric that the text of a column means.

    Parameters
    ----------
    of_result : whether a verb returned it, and it may be of all lists together; no query has such a number.
    """
    found = _read(text, of_result=of_result)
    return found[0][1] if len(found) == 1 else _unknown(text)


def to_pass(name: str) -> str | Metric:
    """Return what a verb reads as the metric with this name: the name, or the metric if the name means several."""
    return metric_of(name) if len(_read(name)) > 1 else name


def is_known(metric: Metric) -> bool:
    """Return True for one of our metrics."""
    return metric.kernel is not _computed_elsewhere


def _read(text: str, *, of_result: bool = False) -> Sequence[tuple[str, Metric]]:
    """The metrics of ours that a text means, or none."""
    try:
        found = read_text(text)
    except FrameMetricsError:
        return ()
    return () if found[0][1].input is Lists and not of_result else found


def _unknown(text: str) -> Metric:
    """A metric without range and direction, with the cutoff that stands in its name."""
    parts = re.fullmatch(r"(.+)@([1-9]\d*)", text)
    name, cutoff = (parts[1], int(parts[2])) if parts else (text, None)
    return Metric(name, _computed_elsewhere, range=(nan, nan), best=None, undefined=None, cutoff=cutoff)


def _computed_elsewhere(run: FullRanking, k: int | None = None) -> Array:
    """Number that was computed elsewhere."""
    raise NotComputableError("the values of this metric were computed elsewhere")
