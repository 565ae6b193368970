"""Metrics of ranked retrieval on pandas and polars frames. Importing this makes ``df.irm`` exist."""

import importlib.util
import sys
import threading

from frame_metrics.errors import (
    BadRowsError,
    BadValueError,
    BrokenLawError,
    ColumnError,
    FrameMetricsError,
    KernelError,
    MistakenColumnError,
    NotComputableError,
    StrangeIdsError,
    UnknownNameError,
)
from frame_metrics.register import register as _register

if "polars" in sys.modules:  # which takes a while, and is not imported to say the version; see __getattr__
    from frame_metrics import metrics
    from frame_metrics.accessor import IRM
    from frame_metrics.backends.catalogue import list_goals, list_metrics
    from frame_metrics.backends.display import show, show_versions
    from frame_metrics.backends.trec import read_qrels, read_run, write_qrels, write_run
    from frame_metrics.inputs.public import Confusion, Ranking, Scores
    from frame_metrics.metrics.metric import Metric
    from frame_metrics.metrics.registry import metric

_LOCK = threading.RLock()  # one thread imports the names
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
    "MistakenColumnError",
    "NotComputableError",
    "Ranking",
    "Scores",
    "StrangeIdsError",
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
    """Return what is imported when somebody asks for it: the version, a module, or all public names."""
    if name in ("metrics", "plot", "report", "testing", "typing"):
        return importlib.import_module(f"frame_metrics.{name}")
    if name == "__version__":
        from importlib.metadata import version

        return version(__name__)
    if name not in __all__:
        way = ""
        if not name.startswith("_") and not importlib.util.find_spec(f"{__name__}.{name}"):  # a module is imported next
            from frame_metrics.accessor import IRM

            way = f"; it is a verb of a frame: df.irm(...).{name}(...)" if callable(getattr(IRM, name, None)) else ""
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{way}")
    importlib.import_module("polars")
    with _LOCK:
        return vars(sys.modules[__name__] if name in globals() else importlib.reload(sys.modules[__name__]))[name]


def __dir__() -> list[str]:
    """Return the public names, and those that Python itself needs; modules of the inside are none of them."""
    pythons = [name for name in globals() if name.startswith("__")]
    pictures = ["plot"] if importlib.util.find_spec("altair") else []  # else help() would end in its error
    return sorted({*__all__, *pythons, *pictures, "report", "testing", "typing", "__version__"})


_register()
