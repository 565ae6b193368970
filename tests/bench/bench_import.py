"""What importing the package costs: the part "import" of the table that bench.py prints."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator

import numpy as np
from timing import row, show

CODE = """
import time
start = time.process_time()
import numpy, polars
others = time.process_time()
import frame_metrics
print(others - start, time.process_time() - others)
"""
AIM = 0.05  # seconds


def seconds(folder: str | None) -> list[float]:
    """Return the processor time of importing polars and numpy, and then the package, in a fresh interpreter."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    place = {"PYTHONPATH": os.pathsep.join(sys.path)} | ({"PYTHONPYCACHEPREFIX": folder} if folder else {})
    ran = subprocess.run([sys.executable, "-c", CODE], env=kept | place, capture_output=True, text=True, check=True)
    return [float(text) for text in ran.stdout.split()]


def imported(options: argparse.Namespace) -> Iterator[list[str]]:
    """Measure what the package adds to the import of polars and numpy, but not the first time, which compiles.

    A quick run takes what is compiled already.
    """
    with tempfile.TemporaryDirectory() as folder:
        runs = [seconds(None if options.quick else folder) for _ in range(options.runs + 1)]
    others, own = np.median(runs[1:], axis=0)
    figures = [f"{show(AIM)} (polars and numpy: {show(others)})", show(own)]
    yield row("import", "frame_metrics, after polars and numpy", 0, figures, own / AIM, 1)
