"""Calls of the command line for tests, with a log and what was printed."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import polars as pl
import pytest

from frame_metrics.command import main

NAMES = {"query": "qid", "score": "bm25", "grade": "rating"}


def log() -> pl.DataFrame:
    """Four queries of two devices and two days, called otherwise than roles."""
    rows = [
        (f"q{q}", f"d{d}", 1 / (d + 1 + q % 2), (q + 2 * d) % 3, ("mobile", "desktop")[q % 2], f"2026-01-0{q // 2 + 1}")
        for q in range(4)
        for d in range(5)
    ]
    return pl.DataFrame(rows, schema=["qid", "docid", "bm25", "rating", "device", "day"], orient="row")


def named() -> pl.DataFrame:
    """The same log, whose columns are called as roles."""
    return log().rename({new: old for old, new in NAMES.items()})


def out(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    """What a call prints, that ends with a code."""
    got = main(list(arguments))
    printed = capsys.readouterr()
    told = [one for one in printed.err.splitlines() if ": gate passed: " not in one]
    assert (got, told if code == 0 else []) == (code, [])
    return printed.out


def error(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 2) -> str:
    """What a call that fails prints on standard error."""
    assert main(list(arguments)) == code
    printed = capsys.readouterr()
    assert "Traceback" not in printed.err
    return printed.err


def read(text: str) -> pl.DataFrame:
    """A result that was printed as CSV, with the types of ours."""
    frame = pl.read_csv(io.StringIO(text))
    whole = {name: pl.Int64 for name in ("k",) if name in frame.columns}
    return frame.cast(whole)


def write(frame: pl.DataFrame, name: str) -> str:
    """Write a frame in the format of a name, and return the name."""
    path, plain = Path(name), name.removesuffix(".gz")
    file = io.BytesIO()
    if plain.endswith((".csv", ".tsv")):
        frame.write_csv(file, separator="\t" if plain.endswith(".tsv") else ",")
    elif plain.endswith(".jsonl"):
        frame.write_ndjson(file)
    elif plain.endswith(".json"):
        frame.write_json(file)
    else:
        {".parquet": frame.write_parquet, ".arrow": frame.write_ipc, ".ipc": frame.write_ipc_stream}[path.suffix](file)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(file.getvalue()) if name.endswith(".gz") else file.getvalue())
    return name
