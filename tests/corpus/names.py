"""What the calls of the corpus know: the frames, kinds of frames, charts, reports and the command line."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask.dataframe as dask
import duckdb
import pandas as pd
import polars as pl
import pytest
from cells import cell
from frames import FRAMES

import frame_metrics
from frame_metrics import IRM, metrics
from frame_metrics.command import main

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


def files() -> None:
    """Write the files that commands read into the folder where they run."""
    for name in ("log", "one", "run", "qrels", "arms", "cases", "clicks"):
        FRAMES[name]().write_csv(f"{name}.csv")
    log = FRAMES["log"]()
    log.write_parquet("log.parquet")
    log.write_ndjson("log.jsonl")
    log.write_ipc("log.arrow")
    log.write_csv("log.tsv", separator="\t")
    Path("log.json").write_text(json.dumps(log.to_dicts()), encoding="utf-8")
    Path("log.csv.gz").write_bytes(gzip.compress(Path("log.csv").read_bytes()))
    Path("bad.csv").write_text("query,score,grade\nq1,2.5,1\nq1,high,0\n", encoding="utf-8")
    frame_metrics.write_run(FRAMES["one"]().with_columns(run=pl.lit("a")), "web.run")
    frame_metrics.write_qrels(FRAMES["qrels"](), "web.qrels")
    FRAMES["one"]().irm.per_query("ndcg@3").write_csv("saved.csv")


def command(arguments: str) -> str:
    """Return what the command line prints, its exit code, and what it says on standard error."""
    said, beside = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.chdir(FOLDER.name):
        patch.setenv("COLUMNS", "100")  # the width of help
        for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
            patch.delenv(name, raising=False)
        if not Path("log.csv").exists():
            files()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(beside):
            code = main(shlex.split(arguments))
    assert code != 3, beside.getvalue()  # a fault of ours
    said.seek(0)
    printed = page(said.read()) if arguments.startswith("report ") else short(said.read())
    return f"{printed.rstrip()}\n[{code}] {beside.getvalue()}".strip()


def chart(drawn: Any) -> str:
    """Return what a chart shows, without what Altair adds: a line for each value of its specification."""
    made = drawn.to_dict()
    made = {name: value for name, value in made.items() if name not in ("$schema", "config", "datasets")}
    return short("\n".join(leaves(made)))


def leaves(value: Any, path: str = "") -> Iterator[str]:
    """Yield the path of each value inside of others, and the value; data are in the frames of verbs."""
    if isinstance(value, dict):
        for name in sorted(value):
            if name not in ("data", "name", "views"):
                yield from leaves(value[name], f"{path}.{name}")
    elif isinstance(value, list) and any(isinstance(one, dict | list) for one in value):
        for i, one in enumerate(value):
            yield from leaves(one, f"{path}[{i}]")
    else:
        yield f"{path[1:]} {value}"


def page(text: str) -> str:
    """Return a report without its time, and without the versions of libraries."""
    text = re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\+00:00|Z| UTC)?", "(time)", text)
    lines = (line for line in text.splitlines() if not re.search(r"[ \"]v?\d+\.\d+\.\d+", line))
    return short("\n".join(lines))


def short(text: str) -> str:
    """Return a text with the numbers of its long decimals to twelve digits."""
    return re.sub(r"-?\d+\.\d{12,}(e-?\d+)?", lambda found: f"{cell(float(found[0])):.12g}", text)


NAMES: dict[str, Any] = {name: made() for name, made in FRAMES.items()}
NAMES |= {"IRM": IRM, "m": metrics, "fm": frame_metrics, "pl": pl, "pd": pd}
NAMES |= {made.__name__: made for made in (kind, command, chart, page)}
