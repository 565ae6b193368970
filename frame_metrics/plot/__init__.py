# ruff: noqa: E402  (Altair is asked for before the modules that import it)
"""Pictures of the frames that verbs return: the verbs compute, and these draw. Nothing here computes a metric.

Each function takes a tidy frame of any kind and returns a chart of Altair, which has to be installed.
``tidy`` reads frames, ``charts`` has what the pictures share, ``of_irm`` calls the verbs first.
"""

import sys
from types import ModuleType
from typing import Any, Never

from frame_metrics.errors import import_needed
from frame_metrics.plot.call_error import not_called

import_needed("altair", "pictures need altair", "plot")

from frame_metrics.plot.averages import bounds, comparison, cutoffs, leaderboard, metrics
from frame_metrics.plot.by_query import differences, queries
from frame_metrics.plot.charts import png, svg
from frame_metrics.plot.curves import gain, pr, roc
from frame_metrics.plot.decisions import confusion, scores, thresholds
from frame_metrics.plot.periods import over_time
from frame_metrics.plot.probabilities import calibration
from frame_metrics.plot.sizes import sample_size
from frame_metrics.plot.surfaces import f_beta, f_surface

__all__ = [
    "bounds",
    "calibration",
    "comparison",
    "confusion",
    "cutoffs",
    "differences",
    "f_beta",
    "f_surface",
    "gain",
    "leaderboard",
    "metrics",
    "over_time",
    "png",
    "pr",
    "queries",
    "roc",
    "sample_size",
    "scores",
    "svg",
    "thresholds",
]


class _Pictures(ModuleType):
    """This module, which is no function: the error of a call says which pictures there are."""

    def __call__(self, *args: Any, **options: Any) -> Never:
        pictures = [name for name in __all__ if name not in ("png", "svg")]
        raise not_called("frame_metrics.plot", pictures, args, "result")


sys.modules[__name__].__class__ = _Pictures
