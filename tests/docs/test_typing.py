"""What a type checker sees: the frame that went in comes out, and a role that is not there is an error."""

import importlib.util
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_type_hints

import polars as pl
import pytest

from frame_metrics import IRM
from inside import CHOICES, COLUMNS, Roles

PROGRAM = '''\
# pyright: strict
"""Uses of the package; a type checker is to refuse the lines marked as wrong, and no other."""

from typing import Any, assert_type

import dask.dataframe as dd
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds

import frame_metrics
from frame_metrics import IRM, FrameMetricsError, Metric, metrics


class Exporter:
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


def of_pandas(frame: pd.DataFrame, qrels: pl.DataFrame) -> None:
    log = IRM(frame, query=["day", "text"], score="bm25", grade="rating", by="device", rel=2, collection_size=True)
    assert_type(log(weight="visits", cluster="user"), IRM[pd.DataFrame])
    assert_type(log, IRM[pd.DataFrame])
    assert_type(log(rel=2), IRM[pd.DataFrame])
    assert_type(log(by=None, ties="worst", collection_size="docs"), IRM[pd.DataFrame])
    assert_type(log.judge(qrels, doc="docid", label=True), IRM[pd.DataFrame])
    assert_type(log.evaluate("ndcg@10", metrics.ndcg(gain="exp") @ 10), pd.DataFrame)
    assert_type(log.evaluate("rr", average="micro", ci=0.95, margins=True, layout="wide", seed=1), pd.DataFrame)
    assert_type(log.evaluate(["rr", metrics.ndcg @ 10], ("map",), average=["macro", "median", "q0.9"]), pd.DataFrame)
    names = ["rr", "map"]
    assert_type(log.per_query(names, layout="wide"), pd.DataFrame)
    assert_type(log.compare(names), pd.DataFrame)
    assert_type(log.bounds(names, of="ties"), pd.DataFrame)
    assert_type(log.per_class(names, average=["macro", "weighted"], layout="wide"), pd.DataFrame)
    assert_type(log.confusion(margins=True, shares=True), pd.DataFrame)
    assert_type(log.thresholds(names), pd.DataFrame)
    assert_type(log.audit(), pd.DataFrame)
    assert_type(log.audit(split={"A": 0.5, "B": 0.5}), pd.DataFrame)
    assert_type(log.compare("rr", paired=False, test="z", covariate="before"), pd.DataFrame)
    assert_type(log.judge(qrels)(rel=1).evaluate("rr"), pd.DataFrame)
    assert_type(log(scale={"good": 2, "bad": None}, rel="good"), IRM[pd.DataFrame])
    assert_type(log.judge(qrels, annotator="who", several="median"), IRM[pd.DataFrame])
    log.evaluate("rr").groupby("metric")


def of_polars(frame: pl.DataFrame, qrels: pd.DataFrame) -> None:
    log = IRM(frame)
    assert_type(log, IRM[pl.DataFrame])
    assert_type(log(query="q", score=None).judge(qrels).evaluate("rr"), pl.DataFrame)
    assert_type(log.per_query("rr"), pl.DataFrame)
    assert_type(log.audit(), pl.DataFrame)


def of_plans(frame: pl.LazyFrame) -> None:
    assert_type(IRM(frame, query="q"), IRM[pl.LazyFrame])
    assert_type(IRM(frame)(rel=2).evaluate("rr"), pl.LazyFrame)
    assert_type(IRM(frame).per_query("rr").collect(), pl.DataFrame)


def of_arrow(table: pa.Table, other: Exporter, logs: ds.Dataset) -> None:
    assert_type(IRM(table).evaluate("rr"), pa.Table)
    assert_type(IRM(logs).evaluate("rr"), pa.Table)
    assert_type(IRM(logs.scanner()).evaluate("rr"), pa.Table)
    assert_type(IRM(other, query="q")(rel=2).per_query("rr"), pa.Table)


def of_duckdb(log: duckdb.DuckDBPyRelation) -> None:
    assert_type(IRM(log, query="q")(rel=2).per_query("rr"), duckdb.DuckDBPyRelation)


def of_dask(log: dd.DataFrame) -> None:
    assert_type(IRM(log, query="q")(rel=2).per_query("rr"), dd.DataFrame)


def of_metrics() -> None:
    assert_type(metrics.ndcg, Metric)
    assert_type(metrics.rbp(p=0.8) @ 10, Metric)
    assert_type(str(metrics.ndcg @ 10), str)
    assert issubclass(FrameMetricsError, ValueError)
    assert frame_metrics.IRM is IRM


def wrong(frame: pd.DataFrame, table: pa.Table, qrels: pl.DataFrame, log: IRM[pl.DataFrame]) -> None:
    IRM(frame, querry="q")  # wrong
    IRM(table, grades="g")  # wrong
    IRM(frame, score=5.5)  # wrong
    IRM(frame, score=["a", 5.5])  # wrong
    IRM(frame, rel=["good"])  # wrong
    IRM(frame, scale=["good"])  # wrong
    IRM(frame, scale={"good": "2"})  # wrong
    log.judge(qrels, several="most")  # wrong
    IRM(frame, "q")  # wrong
    IRM({"query": [1]})  # wrong
    IRM(np.zeros(2))  # wrong
    log(querry="q")  # wrong
    log(by=5.5)  # wrong
    log.judge(qrels, dok="d")  # wrong
    log.judge(qrels, "q")  # wrong
    log.evaluate(5)  # wrong
    log.evaluate("rr", average="marco")  # wrong
    log.evaluate("rr", average=["macro", "q9"])  # wrong
    log.evaluate(["rr", 5])  # wrong
    log.per_class("f1", average="median")  # wrong
    log.evaluate("rr", layout="wid")  # wrong
    log.evaluate("rr", ci="0.95")  # wrong
    log.evaluate("rr").groupby("metric")  # wrong
    log.per_query("rr", margins=True)  # wrong
    log.frame = qrels  # wrong
    metrics.ndcg @ "10"  # wrong
    metrics.no_such_metric  # wrong
'''
WRONG = [number for number, line in enumerate(PROGRAM.splitlines(), start=1) if line.endswith("# wrong")]


def _checked(tmp_path: Path, tool: str, *options: str) -> str:
    """What a type checker prints on the program."""
    if importlib.util.find_spec(tool) is None:
        pytest.skip(f"{tool} is not installed")
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    command = [sys.executable, "-m", tool, *options, "program.py"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    return ran.stdout


@pytest.mark.slow
def test_mypy(tmp_path: Path) -> None:
    """mypy --strict sees the frame that went in come out, and refuses what is wrong."""
    if any(importlib.util.find_spec(stubs) is None for stubs in ("pandas-stubs", "pyarrow-stubs")):
        pytest.skip("the type stubs of pandas and pyarrow are not installed")
    printed = _checked(tmp_path, "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"))
    errors = {int(number): text for number, text in re.findall(r"program\.py:(\d+): error: (.*)", printed)}
    assert sorted(errors) == WRONG, printed
    assert 'Unexpected keyword argument "querry" for "__call__"' in errors[_line('log(querry="q")')]


@pytest.mark.slow
def test_pyright(tmp_path: Path) -> None:
    """pyright, strict, sees the frame that went in come out, and refuses what is wrong."""
    printed = _checked(tmp_path, "pyright", "--outputjson", "--pythonpath", sys.executable)
    found = json.loads(printed)["generalDiagnostics"]
    errors = {one["range"]["start"]["line"] + 1: one["message"] for one in found if one["severity"] == "error"}
    assert sorted(errors) == WRONG, printed
    assert 'No parameter named "querry"' in errors[_line('log(querry="q")')]


def _line(text: str) -> int:
    return next(number for number, line in enumerate(PROGRAM.splitlines(), start=1) if text in line)


# The roles, written down once


def _documented() -> dict[str, str]:
    """The parameters that the docstring of IRM lists, with what it says of them."""
    section = re.search(r"Parameters\n-+\n(.*?)\n\n", inspect.getdoc(IRM) or "", re.DOTALL)
    assert section is not None
    entries = re.findall(r"^(\S[^:\n]*) : (.*(?:\n    .*)*)", section[1], re.MULTILINE)
    return {name: text for names, text in entries for name in names.split(", ")}


def test_every_role_is_documented() -> None:
    """The docstring of IRM lists the frame and the roles, all of them and nothing else, in one order."""
    assert list(_documented()) == ["frame", *Roles.__annotations__]


@pytest.mark.parametrize("option", CHOICES)
def test_every_choice_is_documented(option: str) -> None:
    """What an option may be is said where it is documented."""
    assert set(re.findall(r'"(\w+)"', _documented()[option])) == set(CHOICES[option])


def test_every_role_can_be_taken_back() -> None:
    """Any role may be None, and every column role is a text, but for those that have several columns by name."""
    hints: dict[str, Any] = get_type_hints(Roles)
    assert all(NoneType in get_args(hint) for hint in hints.values())
    assert [name for name in hints if name in COLUMNS and str not in get_args(hints[name])] == ["extra"]
    assert set(COLUMNS) <= set(hints)
    assert Roles.__total__ is False


def test_the_accessor_takes_the_same_roles() -> None:
    """A frame's accessor is called with the roles that IRM is made with."""
    made, called = inspect.signature(IRM), inspect.signature(IRM(pl.DataFrame()))
    assert list(made.parameters) == ["frame", *get_type_hints(Roles)]
    assert list(called.parameters) == [*get_type_hints(Roles)]
    assert called.parameters["query"].kind is inspect.Parameter.KEYWORD_ONLY
    assert "str | int | collections.abc.Sequence[str | int] | None" in str(called.parameters["query"])
