"""What the calls of the corpus know: the frames, kinds of frames, charts, reports and the command line."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import dask.dataframe as dask
import duckdb
import pandas as pd
import polars as pl
from frames import FRAMES

import frame_metrics
from frame_metrics import IRM, metrics

sys.path.insert(0, str(Path(__file__).parents[1]))
from helpers import KINDS, as_kind

FOLDER = tempfile.TemporaryDirectory()  # of files that are read in pieces


def kind(name: str, frame: pl.DataFrame) -> Any:
    """Return a frame of polars as a frame of another library, or a file of it that is read in pieces."""
    if name in KINDS:
        return as_kind(frame, name)
    if name == "dask":
        return dask.from_pandas(frame.to_pandas(), npartitions=2)
    if name == "duckdb":
        return duckdb.connect().from_arrow(frame.to_arrow())
    path = Path(FOLDER.name) / f"{len([*Path(FOLDER.name).iterdir()])}.parquet"
    frame.write_parquet(path)
    return pl.scan_parquet(path)


NAMES: dict[str, Any] = {name: made() for name, made in FRAMES.items()}
NAMES |= {"IRM": IRM, "m": metrics, "fm": frame_metrics, "pl": pl, "pd": pd, "kind": kind}
