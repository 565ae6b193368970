"""Own metrics in other processes: a function of a script or a notebook travels, a module is imported there."""

from __future__ import annotations

import copy
import pickle
import sys
import threading
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import cloudpickle
import dask.dataframe as dd
import polars as pl
import pytest

from frame_metrics import NotComputableError, UnknownNameError
from helpers import CELL, error, made_log
from inside import REGISTRY, Sent, in_another_process


@pytest.fixture
def cell() -> Iterator[dict[str, Any]]:
    """What a notebook knows after it ran ``CELL``; its metric is forgotten afterwards."""
    session: dict[str, Any] = {"__name__": "__main__"}
    exec(CELL, session)
    yield session
    REGISTRY.pop("found_below", None)


def log() -> pl.DataFrame:
    """A log of forty queries."""
    return made_log(queries=40).select("query", "doc", "score", "grade").drop_nulls("score")


def value_of(metric: Any, frame: pl.DataFrame) -> float:
    """Return the mean of a metric."""
    return float(frame.irm.evaluate(metric)["value"][0])


def sent(metric: Any) -> bytes:
    """Return work that asks for a metric, as it is sent to a worker."""
    return pickle.dumps(Sent(partial(value_of, metric), cloudpickle.dumps))


def test_a_metric_of_a_notebook_is_computed_in_another_process(cell: dict[str, Any]) -> None:
    """The function arrives with its annotations, its parameters and the names that it reads; no metric is replaced."""
    metric = cell["found_below"](after=2)
    want, work = value_of(metric, log()), sent(metric)
    with in_another_process("found_below"):
        assert pickle.loads(work)(log()) == want
        assert "found_below" not in REGISTRY
        exec(CELL.replace("FACTOR = 2.0", "FACTOR = 0.5"), {"__name__": "__main__"})  # another notebook's
        assert pickle.loads(work)(log()) == want
        assert value_of("found_below(after=2)", log()) == want / 4


def test_a_metric_of_a_notebook_is_itself_in_its_own_process(cell: dict[str, Any]) -> None:
    """A copy is equal to the metric, and reads the names of the session as they are now."""
    metric = cell["found_below"](after=2)
    assert copy.deepcopy(metric) == pickle.loads(pickle.dumps(metric)) == metric
    want, work = value_of(metric, log()), sent(metric)
    cell["FACTOR"] = 1.0
    assert pickle.loads(work)(log()) == want / 2


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A module with a metric, in ``tmp_path``; both are forgotten afterwards."""
    (tmp_path / "of_mine.py").write_text(CELL.replace("found_below", "found_under"), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield import_module("of_mine")
    REGISTRY.pop("found_under", None)
    sys.modules.pop("of_mine", None)


def test_a_metric_of_a_module_is_imported(module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process imports the module; one that cannot says how it gets the file, or what is wrong with it."""
    want, work = value_of(module.found_under, log()), sent(module.found_under)
    with in_another_process("found_under", "of_mine"):
        assert pickle.loads(work)(log()) == want
    monkeypatch.undo()
    with in_another_process("found_under", "of_mine"):
        said = error(lambda: pickle.loads(work)(log()), UnknownNameError)
        assert "session.addArtifact('of_mine.py', pyfile=True)" in said
        assert "client.upload_file('of_mine.py')" in said
        (tmp_path / "of_mine.py").write_text("", encoding="utf-8")
        monkeypatch.syspath_prepend(tmp_path)
        assert "define it at the top of the module" in error(lambda: pickle.loads(work)(log()), UnknownNameError)


def test_a_metric_of_a_module_that_travels(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that cloudpickle was told to send is not imported elsewhere."""
    want = value_of(module.found_under, log())
    cloudpickle.register_pickle_by_value(module)
    work = sent(module.found_under)
    cloudpickle.unregister_pickle_by_value(module)
    monkeypatch.undo()
    with in_another_process("found_under", "of_mine"):
        assert pickle.loads(work)(log()) == want


def test_a_metric_that_nothing_in_use_can_send(cell: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain pickle sends a name; a process that does not know it says how it gets to know it."""
    for name in ("cloudpickle", "joblib.externals.cloudpickle", "pyspark.cloudpickle"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    plain = pickle.dumps(cell["found_below"])
    assert pickle.loads(plain) == cell["found_below"]
    with in_another_process("found_below"):
        said = error(lambda: pickle.loads(plain), UnknownNameError)
    assert said.startswith("there is no metric 'found_below' here: its function was defined in a script or a notebook")
    monkeypatch.undo()
    followed = pickle.dumps(cell["found_below"])  # with cloudpickle, as the error says
    with in_another_process("found_below"):
        assert value_of(pickle.loads(followed), log()) > 0


def test_a_function_that_cannot_be_sent(cell: dict[str, Any]) -> None:
    """A function that reads a lock, or a session of Spark, names itself."""
    cell["FACTOR"] = threading.Lock()
    assert "found_below: its function cannot be sent to other processes, TypeError" in error(
        lambda: sent(cell["found_below"]), NotComputableError
    )


def test_a_function_that_reads_a_module_that_a_worker_has_not(
    cell: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error is of this package, and names the module."""
    (tmp_path / "of_theirs.py").write_text("def doubled(values): return 2 * values", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    cell["doubled"] = __import__("of_theirs").doubled
    work = sent(cell["found_below"])
    monkeypatch.undo()
    with in_another_process("found_below", "of_theirs"):
        said = error(lambda: pickle.loads(work)(log()), NotComputableError)
    assert said.startswith("a worker cannot import of_theirs, which a function that was sent to it reads")


@pytest.mark.slow
def test_a_metric_of_a_notebook_on_a_cluster_of_dask(cell: dict[str, Any]) -> None:
    """Processes of a cluster, and of Dask alone, compute what this process computes; what was redefined too."""
    distributed, dask = pytest.importorskip("distributed"), pytest.importorskip("dask")
    asked = ["found_below", cell["found_below"](after=2)]
    frame = dd.from_pandas(log().to_pandas(), npartitions=3)
    found = []
    with dask.config.set(scheduler="processes", num_workers=2):
        found.append(frame.irm.evaluate(*asked, ci=0.9).compute().to_dict("list"))
    cluster = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**cluster) as started, distributed.Client(started):
        found.append(frame.irm.evaluate(*asked, ci=0.9).compute().to_dict("list"))
        assert found == [log().irm.evaluate(*asked, ci=0.9).to_dict(as_series=False)] * 2
        exec(CELL.replace("FACTOR = 2.0", "FACTOR = 0.5"), cell)
        assert frame.irm.evaluate("found_below").compute()["value"][0] == found[0]["value"][0] / 4
