"""A Python without its global lock, in which polars and what is remembered between calls are not safe."""

from __future__ import annotations

import sys

from frame_metrics.errors import FrameMetricsError


def check_lock() -> None:
    """Raise where Python runs without its lock.

    A free-threaded build turns the lock on when a module is imported that was not made for it, as polars was not.
    ``PYTHON_GIL=0`` prevents this.
    """
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        raise FrameMetricsError(
            "Python runs without its global lock, as free-threaded builds do with PYTHON_GIL=0, and polars is not made "
            "for it; run Python with PYTHON_GIL=1, or with -X gil=1. The threads of frame_metrics and polars need no "
            "free-threaded build"
        )
