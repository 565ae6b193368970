"""Libraries that reports need and the package does without."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from frame_metrics.errors import FrameMetricsError


def needed(library: str) -> Any:
    """Return a library, or raise with the command that installs it."""
    try:
        return import_module(library)
    except ImportError:
        raise FrameMetricsError(
            f"reports and tables need {library}, which is not installed: pip install 'frame_metrics[report]'"
        ) from None
