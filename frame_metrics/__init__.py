"""Metrics of ranked retrieval on pandas and polars frames. Importing this makes ``df.irm`` exist."""

from frame_metrics import metrics
from frame_metrics.accessor import IRM
from frame_metrics.border.catalogue import list_goals, list_metrics
from frame_metrics.border.shown import show, show_versions
from frame_metrics.border.trec import read_qrels, read_run, write_qrels, write_run
from frame_metrics.errors import (
    BadRowsError,
    BadValueError,
    BrokenLawError,
    ColumnError,
    FrameMetricsError,
    KernelError,
    NotComputableError,
    UnknownNameError,
)
from frame_metrics.inputs import Confusion, Ranking, Scores
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.registry import metric
from frame_metrics.register import register as _register

__version__: str

__all__ = [
    "IRM",
    "BadRowsError",
    "BadValueError",
    "BrokenLawError",
    "ColumnError",
    "Confusion",
    "FrameMetricsError",
    "KernelError",
    "Metric",
    "NotComputableError",
    "Ranking",
    "Scores",
    "UnknownNameError",
    "list_goals",
    "list_metrics",
    "metric",
    "metrics",
    "read_qrels",
    "read_run",
    "show",
    "show_versions",
    "write_qrels",
    "write_run",
]


def __getattr__(name: str) -> object:
    """Return the version, or a module; they are read when somebody asks, since that takes milliseconds."""
    if name in ("plot", "report", "testing"):
        from importlib import import_module

        return import_module(f"frame_metrics.{name}")
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import version

    return version(__name__)


def __dir__() -> list[str]:
    """Return the public names, and those that Python itself needs; modules of the inside are none of them."""
    pythons = [name for name in globals() if name.startswith("__")]
    return sorted({*__all__, *pythons, "plot", "report", "testing", "__version__"})


_register()
