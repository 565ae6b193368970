"""Files by their names."""

from __future__ import annotations

import os
from typing import Any

from frame_metrics.errors import BadValueError


def file_name(path: Any) -> str:
    """Return a path as text, or raise for what names no file: a number would be a file that is open already."""
    name = os.fspath(path) if isinstance(path, os.PathLike) else path
    if not isinstance(name, str) or not name or "\0" in name:
        raise BadValueError(f"path={path!r} is not the name of a file; give a path as text or os.PathLike")
    return name
