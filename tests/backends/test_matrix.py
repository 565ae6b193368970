"""Each verb on each kind of frame: equal to the frame in memory, or refused with a way out that is followed here.

``pytest -s tests/backends/test_matrix.py -m ""`` prints the table.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import duckdb
import narwhals
import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from frame_metrics import IRM, FrameMetricsError
from helpers import KINDS, as_kind, as_polars, spark_session

MEMORY = 12_000  # bytes, of which the needed columns of each frame below take more than a quarter
Call = Callable[[Any], Any]


@cache
def frames() -> dict[str, pl.DataFrame]:
    """The frames that calls read, by name; their rows in no order."""
    draw = np.random.default_rng(7)
    n = 3 * 60 * 8
    log = pl.DataFrame({"query": np.arange(n) // 8 % 60, "system": [*"abc"] * (n // 3)})
    log = log.with_columns(doc=pl.int_range(pl.len()).over("query", "system") * 3 % 11, score=draw.random(n))
    log = log.unique(["query", "system", "doc"], maintain_order=True)
    grade = (pl.col("query") * 31 + pl.col("doc") * 7) % 5 - 1
    log = log.with_columns(
        grade=pl.when((grade >= 0) & (pl.col("doc") != 9)).then(grade),
        segment=pl.format("s{}", pl.col("query") % 3),
        user=pl.col("query") // 3,
        weight=pl.col("query") % 4 + 1.0,
        price=pl.col("doc") + 0.5,
        half=pl.col("query") % 2,
    )
    clicks = pl.DataFrame({"visit": np.arange(3000) // 5, "rank": np.arange(3000) % 5 + 1})
    clicks = clicks.with_columns(text=pl.format("t{}", pl.col("visit") % 15))
    clicks = clicks.with_columns(doc=(pl.col("rank") + pl.col("visit") // 15) % 5, segment=pl.col("visit") % 15 % 2)
    clicks = clicks.with_columns(click=pl.Series((draw.random(3000) < 0.6 / clicks["rank"].to_numpy()).astype(int)))
    rows = pl.DataFrame(
        {"score": (draw.random(900) * 50).round() / 50, "case": np.arange(900) // 2, "run": [0, 1] * 450}
    )
    label = (draw.random(900) < rows["score"].to_numpy()).astype(int)[rows["case"].to_numpy() * 2]
    rows = rows.with_columns(label=label, day=pl.Series([*"xyz"])[rows["case"].to_numpy() % 3])
    rows = rows.with_columns(predicted=(pl.col("score") > 0.5).cast(pl.Int64))
    kept = log.select("query", "system", "segment", "user", "weight").unique(maintain_order=True)
    numbers = draw.random((2, len(kept)))
    saved = kept.with_columns(rr=numbers[0], mine=numbers[1]).filter(pl.Series(draw.random(len(kept)) < 0.95))
    long = saved.unpivot(["rr", "mine"], index=kept.columns, variable_name="metric", value_name="value")
    made = {"log": log, "clicks": clicks, "rows": rows, "saved": saved, "long": long}
    return {name: frame.sample(fraction=1, shuffle=True, seed=5) for name, frame in made.items()}


def qrels() -> pl.DataFrame:
    """Judgments of some documents of the log, and of a query that no system answered."""
    found = frames()["log"].select("query", "doc").unique().sort("query", "doc")
    some = found.filter((pl.col("query") + pl.col("doc")) % 3 > 0).with_columns(rating=pl.col("doc") % 4)
    return pl.concat([some, pl.DataFrame({"query": [99], "doc": [1], "rating": [2]}, schema=some.schema)])


def annotated() -> pl.DataFrame:
    """Judgments of three annotators."""
    one = qrels().head(200)
    others = [
        one.with_columns(rating=(pl.col("rating") + pl.col("doc") * k) % 4, annotator=pl.lit(k)) for k in range(3)
    ]
    return pl.concat(others)


@dataclass(frozen=True)
class Asked:
    """A call on a frame; ``ways``: other calls to which an error leads, by a part of its text."""

    frame: str
    call: Call
    roles: dict[str, Any] = field(default_factory=dict)
    ways: dict[str, Call] = field(default_factory=dict)


SYSTEMS: dict[str, Any] = {"doc": "doc", "system": "system"}
OF_ROWS: dict[str, Any] = {"query": None, "doc": None}
VALUES: dict[str, Any] = {"value": ["rr", "mine"], "system": "system"}
LONG: dict[str, Any] = {"value": "value", "system": "system"}
FEW: dict[str, Any] = {"ci": 0.9, "resamples": 30}
DRAWN: dict[str, Any] = {"permutations": 30}
M = ("ndcg@5", "rr", "precision@3", "ap")


def log(call: Call, ways: dict[str, Call] | None = None, **roles: Any) -> Asked:
    """A call on the log of three systems."""
    return Asked("log", call, SYSTEMS | roles, ways or {})


def one(call: Call, ways: dict[str, Call] | None = None, **roles: Any) -> Asked:
    """A call on the log, of which systems are segments."""
    return Asked("log", call, {"doc": "doc", "by": "system"} | roles, ways or {})


def of(frame: str, roles: dict[str, Any], call: Call, **more: Any) -> Asked:
    """A call on another frame."""
    return Asked(frame, call, roles | more)


CALLS: dict[str, Asked] = {
    "evaluate": log(lambda i: i.evaluate(*M)),
    "evaluate ci": log(lambda i: i.evaluate(*M, **FEW)),
    "evaluate by margins": log(lambda i: i.evaluate(*M, margins=True), by="segment"),
    "evaluate weight": log(lambda i: i.evaluate(*M), weight="weight"),
    "evaluate cluster ci": log(lambda i: i.evaluate("rr", **FEW), cluster="user"),
    "evaluate micro": log(lambda i: i.evaluate("precision@3", "recall", average=["macro", "micro"])),
    "evaluate median": log(lambda i: i.evaluate("rr", average=["median", "q0.9"])),
    "evaluate wide": log(lambda i: i.evaluate(*M, layout="wide")),
    "evaluate judged": log(lambda i: i.judge(qrels(), grade="rating").evaluate(*M), grade=None),
    "evaluate arms": log(lambda i: i.evaluate("rr", **FEW), system=None, arm="system"),
    "evaluate lists": one(lambda i: i.evaluate("catalogue_coverage@5", "catalogue_gini@5"), catalogue=11),
    "evaluate ties": log(lambda i: i.evaluate("ndcg@5"), ties="worst"),
    "evaluate order": log(
        lambda i: i.evaluate("ndcg@5"),
        {"leave ties= out": lambda i: i(ties=None).evaluate("ndcg@5")},
        ties="order",
    ),
    "per_query": log(lambda i: i.per_query(*M)),
    "per_query wide": log(lambda i: i.per_query(*M, layout="wide"), by="segment"),
    "compare": log(lambda i: i.compare(*M, **FEW, **DRAWN)),
    "compare by": log(lambda i: i.compare("rr", **DRAWN), by="segment"),
    "compare clusters": log(lambda i: i.compare("rr", **FEW, **DRAWN), cluster="user"),
    "compare lists": log(lambda i: i.compare("catalogue_gini@5", **DRAWN), catalogue=11),
    "leaderboard": log(lambda i: i.leaderboard("rr", "ap", **DRAWN)),
    "per query of compare": log(lambda i: i.compare("rr", baseline="a", per_query=True)),
    "ab_test": log(lambda i: i.ab_test("rr", **FEW, **DRAWN), system=None, arm="half", query=["query", "system"]),
    "change by": log(
        lambda i: i.change("rr", resamples=30), system=None, arm="half", by="segment", query=["query", "system"]
    ),
    "change": log(lambda i: i.change("rr", **DRAWN), system=None, arm="half", query=["query", "system"]),
    "sample_size": log(lambda i: i.sample_size("rr", detect=0.1, resamples=20)),
    "similarity": log(lambda i: i.similarity("rbo", "jaccard@3", baseline="a")),
    "similarity of all": log(lambda i: i.similarity("rbo", "kendall_tau", **FEW)),
    "similarity by query": log(lambda i: i.similarity("jaccard@3", per_query=True), by="segment"),
    "explain": log(lambda i: i.explain("ndcg@5", query=33)),
    "bounds ties": log(lambda i: i.bounds("ndcg@5", "rr", of="ties")),
    "bounds unjudged": one(lambda i: i.bounds("ndcg@5", "precision@3", of="unjudged", max_grade=4)),
    "to_judge depth": log(lambda i: i.to_judge(500, way="depth")),
    "to_judge depth all": log(
        lambda i: i.to_judge(way="depth"),
        {"the rows are not all here; pass n=": lambda i: i.to_judge(n=500, way="depth")},
    ),
    "to_judge": log(
        lambda i: i.to_judge(20, "precision@5"), {"pass way='depth' and n=": lambda i: i.to_judge(500, way="depth")}
    ),
    "audit": log(lambda i: i.audit()),
    "audit rows": of("rows", OF_ROWS, lambda i: i.audit(), doc="case", system="run"),
    "curve of cutoffs": log(lambda i: i.curve("ndcg@k", cutoffs=[1, 5])),
    "agreement": log(lambda i: i.judge(annotated(), grade="rating", annotator="annotator").agreement(), grade=None),
    "agreement reference": log(
        lambda i: i.judge(annotated(), grade="rating", annotator="annotator").agreement(
            reference=0, per_class=True, **FEW
        ),
        grade=None,
    ),
    "disagreements": log(
        lambda i: i.judge(annotated(), grade="rating", annotator="annotator").disagreements(), grade=None
    ),
    "click_judgments": of(
        "clicks",
        {"query": "visit", "doc": "doc", "label": "click", "rank": "rank"},
        lambda i: i.click_judgments(query_text="text"),
    ),
    "propensities": of(
        "clicks",
        {"query": "visit", "doc": "doc", "label": "click", "rank": "rank"},
        lambda i: i.propensities(query_text="text", **FEW),
    ),
    "propensities by": of(
        "clicks",
        {"query": "visit", "doc": "doc", "label": "click", "rank": "rank", "by": "segment"},
        lambda i: i.propensities("all_pairs", query_text="text", k=4),
    ),
    "rows evaluate": of("rows", OF_ROWS, lambda i: i.evaluate("accuracy", "f1", ci=0.9), score=None, by="day"),
    "rows area": of("rows", OF_ROWS, lambda i: i.evaluate("roc_auc", "brier", ci=0.9), predicted=None),
    "confusion": of("rows", OF_ROWS, lambda i: i.confusion(margins=True), score=None, by="day"),
    "per_class": of("rows", OF_ROWS, lambda i: i.per_class("precision", "f1"), score=None),
    "thresholds": of("rows", OF_ROWS, lambda i: i.thresholds("f1", "recall"), predicted=None),
    "best_threshold": of("rows", OF_ROWS, lambda i: i.best_threshold("f1"), predicted=None, by="day"),
    "curve": of("rows", OF_ROWS, lambda i: i.curve("roc"), predicted=None),
    "compare rows": of("rows", OF_ROWS, lambda i: i.compare("accuracy"), score=None, doc="case", system="run"),
    "saved": of("saved", VALUES, lambda i: i.evaluate("rr", average=["macro", "median"], **FEW), by="segment"),
    "saved per_query": of("saved", VALUES, lambda i: i.per_query()),
    "saved compare": of("saved", VALUES, lambda i: i.compare("mine", **FEW, **DRAWN), cluster="user"),
    "saved leaderboard": of("saved", VALUES, lambda i: i.leaderboard("rr", "mine", **DRAWN), weight="weight"),
    "saved sample_size": of("saved", VALUES, lambda i: i.sample_size("rr", detect=0.1, resamples=20)),
    "saved audit": of("saved", VALUES, lambda i: i.audit()),
    "saved long": of("long", LONG, lambda i: i.evaluate(), by="segment"),
    "saved long per_query": of("long", LONG, lambda i: i.per_query("mine", "rr", layout="wide")),
    "saved long compare": of("long", LONG, lambda i: i.compare("rr", "mine", **DRAWN)),
}


# Kinds of frames: from a polars frame and a folder to a frame of the kind, and the arguments of ``IRM`` for it.

Made = tuple[Any, dict[str, Any]]


def file_of(table: pl.DataFrame, folder: Path, *, shuffled: bool) -> Path:
    """Write a frame into a file of many row groups; its queries together, or not."""
    path = folder / f"{len(os.listdir(folder))}.parquet"
    keys = [name for name in ("query", "visit") if name in table.columns]
    (table if shuffled or not keys else table.sort(keys, maintain_order=True)).write_parquet(path, row_group_size=100)
    return path


def scanned(table: pl.DataFrame, folder: Path, *, shuffled: bool = True) -> Made:
    """A file that is larger than memory."""
    return pl.scan_parquet(file_of(table, folder, shuffled=shuffled)), {"memory": MEMORY}


def relation(table: pl.DataFrame, folder: Path, **more: Any) -> Made:
    """A relation of DuckDB."""
    return duckdb.connect().read_parquet(str(file_of(table, folder, shuffled=True))), more


def of_dask(table: pl.DataFrame, partitions: int) -> Made:
    """Partitions of Dask."""
    return dd.from_pandas(table.to_pandas(use_pyarrow_extension_array=True), npartitions=partitions, sort=False), {}


KINDS_OF_FRAMES: dict[str, Callable[[pl.DataFrame, Path], Made]] = {
    **{kind: (lambda table, _, kind=kind: (as_kind(table, kind), {})) for kind in KINDS},
    "arrow stream": lambda table, _: (as_kind(table, "pyarrow").to_reader(), {}),
    "narwhals": lambda table, _: (narwhals.from_native(table), {}),
    "narwhals of pandas": lambda table, _: (narwhals.from_native(as_kind(table, "pandas-arrow")), {}),
    "file in pieces": partial(scanned, shuffled=False),
    "shuffled file in pieces": scanned,
    "duckdb": relation,
    "duckdb in pieces": partial(relation, memory=MEMORY),
    "dask of one": lambda table, _: of_dask(table, 1),
    "dask of five": lambda table, _: of_dask(table, 5),
}
SPARK = ("classic", "connect")
# Ways out that an error names whatever the call: the words, and the same frame as they say.
ELSEWHERE: dict[str, Callable[[Any, dict[str, Any]], Made]] = {
    "give what its compute() returns": lambda frame, more: (frame.compute(), more),
    "give what its toArrow() returns": lambda frame, more: (frame.toArrow(), more),
    "raise memory=": lambda frame, more: (frame, {"memory": "1GB"}),
}


def in_memory(found: Any) -> pl.DataFrame:
    """Return a result of any kind as polars."""
    for way in ("toArrow", "compute", "pl", "to_native"):
        if hasattr(found, way) and not isinstance(found, pl.DataFrame | pl.LazyFrame):
            found = getattr(found, way)()
    return as_polars(found)


def check_equal(found: Any, wanted: pl.DataFrame) -> None:
    """Raise unless a result has the rows of the one in memory, numbers within 1e-11; examples depend on the order."""
    wanted = wanted.drop("example", "message", strict=False) if "check" in wanted.columns else wanted
    keys = [name for name, kind in wanted.schema.items() if not kind.is_float()]
    both = [table.select(wanted.columns).sort(keys, nulls_last=True) for table in (in_memory(found), wanted)]
    options: Any = {"check_dtypes": False, "rel_tol": 1e-11, "abs_tol": 1e-11, "categorical_as_str": True}
    assert_frame_equal(*both, **options)


def asked_of(asked: Asked, frame: Any, more: dict[str, Any], call: Call | None = None) -> Any:
    """Ask a frame; an audit that says that it could not be computed is an error."""
    found = (call or asked.call)(IRM(frame, **asked.roles, **more))
    if call is None and asked.frame in ("saved", "rows") and not isinstance(frame, pl.DataFrame):
        table = in_memory(found)
        if "check" in table.columns and (
            said := table.filter(pl.col("message").str.contains("not here|whole frame"))["message"].to_list()
        ):
            raise FrameMetricsError(said[0])
        return table
    return in_memory(found)


@cache
def wanted(name: str, way: str | None = None) -> pl.DataFrame:
    """Return what a call gives in memory, or a way out of its error."""
    asked = CALLS[name]
    call = asked.call if way is None else asked.ways[way]
    return in_memory(call(IRM(frames()[asked.frame], **asked.roles)))


def cell(name: str, made: Callable[[], Made]) -> str:
    """Return "=" for a result that is equal to that in memory, "r" for an error whose way out gives one."""
    asked = CALLS[name]
    try:
        check_equal(asked_of(asked, *made()), wanted(name))
    except FrameMetricsError as error:
        said = str(error)
    else:
        return "="
    frame, more = made()
    for words, call in asked.ways.items():
        if words in said:
            check_equal(asked_of(asked, frame, more, call), wanted(name, words))
            return "r"
    for words, way in ELSEWHERE.items():
        if words in said:
            check_equal(asked_of(asked, *way(frame, more)), wanted(name))
            return "r"
    raise AssertionError(f"an error without a way out that is tried here: {said}")


def check_cells(kind: str, make: Callable[[pl.DataFrame], Made], capsys: pytest.CaptureFixture[str]) -> None:
    """Raise for cells that are wrong, all at once; print the cells of a kind."""
    cells, wrong = {}, []
    for name, asked in CALLS.items():
        try:
            cells[name] = cell(name, partial(make, frames()[asked.frame]))
        except Exception as error:
            cells[name] = "!"
            wrong.append(f"{name}: {type(error).__name__}: {error}")
    with capsys.disabled():
        refused = [name for name, found in cells.items() if found == "r"]
        print(f"\n{kind:>24} {''.join(cells.values())} {', '.join(refused)}", end="")
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS_OF_FRAMES)
def test_verbs_on_kinds_of_frames(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What memory gives, every kind gives, or says what to do instead."""
    check_cells(kind, lambda table: KINDS_OF_FRAMES[kind](table, tmp_path), capsys)


@pytest.mark.slow
@pytest.mark.parametrize("kind", SPARK)
def test_verbs_on_spark(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What memory gives, both kinds of sessions give, or say what to do instead."""
    with spark_session(kind) as session:
        check_cells(
            f"spark {kind}", lambda table: (session.createDataFrame(table.to_arrow()).repartition(3), {}), capsys
        )
