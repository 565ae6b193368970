"""What tests of more than one file use: kinds of frames, logs made at random, the real data, scripts, findings."""

from __future__ import annotations

import importlib.util
import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import combinations, product
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import settings

import frame_metrics
from frame_metrics import IRM, FrameMetricsError, Metric

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data"


def real(*parts: str) -> Path:
    """Return a path of the real data, or skip the test where it is absent."""
    path = DATA.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{'/'.join(parts)} is absent: it is real data that is not part of the project")
    return path


def script(path: Path) -> ModuleType:
    """Return a script that stands outside of the package, imported."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclass looks its annotations up
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(path.parent)  # as where the script is run
        spec.loader.exec_module(module)
    return module


def output_of(example: str) -> str:
    """Return what the page of an example shows as its output: what the script printed, redirected to that file."""
    return (ROOT / "examples" / "output" / f"{example}.txt").read_text(encoding="utf-8")


def cells(text: str) -> list[list[str]]:
    """Return the cells of a printed table, its head first."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]


SEARCH = os.environ.get("HYPOTHESIS_PROFILE") == "search"
LONG = SEARCH or os.environ.get("HYPOTHESIS_PROFILE") == "long"


def examples(n: int) -> settings:
    """Return how many examples a property has: a fifth of these; at length a half, in a search five times as many."""
    return settings(max_examples=5 * n if SEARCH else max(n // (2 if LONG else 5), 5))


def pairwise_cases(*lists: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Return few cases of a product, in which any two values of two lists meet: the one that meets most, and so on."""
    values = [list(one) for one in lists]
    places = [[(i, j) for j in range(len(one))] for i, one in enumerate(values)]
    apart = {pair for one, other in combinations(places, 2) for pair in product(one, other)}
    cases, found = list(product(*places)), []
    while apart:
        found.append(max(cases, key=lambda case: len(apart.intersection(combinations(case, 2)))))
        apart.difference_update(combinations(found[-1], 2))
    return [tuple(values[i][j] for i, j in case) for case in sorted(found)]


# Kinds of frames

KINDS = ("polars", "lazy", "pandas", "pandas-arrow", "pyarrow")


def as_kind(frame: pl.DataFrame, kind: str) -> Any:
    """Return a polars frame as a frame of a kind."""
    if kind == "lazy":
        return frame.lazy()
    if kind in ("pandas", "pandas-arrow"):
        return frame.to_pandas(use_pyarrow_extension_array=kind == "pandas-arrow")
    return frame.to_arrow() if kind == "pyarrow" else frame


def as_polars(frame: Any) -> pl.DataFrame:
    """Return a frame of any kind as polars, NaN of pandas' numpy columns as null."""
    if isinstance(frame, pl.LazyFrame):
        return frame.collect()
    if isinstance(frame, pl.DataFrame):
        return frame
    read = pl.from_pandas(frame) if hasattr(frame, "iloc") else pl.from_arrow(frame)
    return read.struct.unnest() if isinstance(read, pl.Series) else read  # as it reads a stream


def frame(columns: str, *rows: tuple[Any, ...]) -> pl.DataFrame:
    """Return rows as a polars frame, whose columns are named in one text."""
    return pl.DataFrame(rows, schema=columns.split(), orient="row")


# All verbs, each with a small frame

RANKED = {
    "query": [1, 1, 2, 2, 1, 2],
    "doc": ["a", "b", "a", "b", "c", "c"],
    "score": [2.5, 1.5, 0.5, 0.25, 0.75, 3.0],
    "grade": [1, 0, 2, 0, 0, 1],
    "text": ["wide"] * 6,
}
_RUNS = RANKED | {"run": ["x"] * 4 + ["y"] * 2}
_SHOWN = {
    "query": [1] * 4,
    "doc": [*"abba"],
    "rank": [1, 2] * 2,
    "grade": [1, 0, 0, 1],
    "run": [*"xxyy"],
    "text": [*"abcd"],
}
_CASES = {"label": [1, 0, 1, 0], "score": [0.9, 0.6, 0.5, 0.1], "predicted": [1, 1, 0, 0], "text": ["wide"] * 4}
# What each verb is asked, and the columns that it needs.
VERBS: dict[str, tuple[dict[str, Any], Callable[[Any], Any], list[str]]] = {
    "evaluate": (RANKED, lambda irm: irm.evaluate("rr", "ndcg"), ["query", "score", "grade", "doc"]),
    "evaluate rows": (_CASES, lambda irm: irm(predicted=None).evaluate("roc_auc"), ["score", "label"]),
    "per_query": (RANKED, lambda irm: irm(doc=None).per_query("rr"), ["query", "score", "grade"]),
    "per_class": (_CASES, lambda irm: irm(score=None).per_class("precision"), ["label", "predicted"]),
    "confusion": (_CASES, lambda irm: irm(score=None).confusion(), ["label", "predicted"]),
    "curve": (_CASES, lambda irm: irm(predicted=None).curve("roc"), ["score", "label"]),
    "thresholds": (_CASES, lambda irm: irm(predicted=None).thresholds("f1"), ["score", "label"]),
    "best_threshold": (_CASES, lambda irm: irm(predicted=None).best_threshold("f1"), ["score", "label"]),
    "compare": (_RUNS, lambda irm: irm(system="run").compare("rr"), ["query", "score", "grade", "doc", "run"]),
    "leaderboard": (_RUNS, lambda irm: irm(system="run").leaderboard("rr"), ["query", "score", "grade", "doc", "run"]),
    "interleaving": (
        _SHOWN | {"query": [1, 1, 2, 2], "run": [*"xyyx"]},
        lambda irm: irm(team="run").interleaving("clicks"),
        ["query", "rank", "grade", "doc", "run"],
    ),
    "similarity": (_RUNS, lambda irm: irm(system="run").similarity("rbo"), ["query", "score", "doc", "run"]),
    "bounds": (RANKED, lambda irm: irm(doc=None).bounds("rr", of="ties"), ["query", "score", "grade"]),
    "explain": (RANKED, lambda irm: irm.explain("rr", query=1), ["query", "score", "grade", "doc"]),
    "click_judgments": (
        _SHOWN,
        lambda irm: irm(system="run").click_judgments("coec"),
        ["query", "rank", "grade", "doc", "run"],
    ),
    "propensities": (_SHOWN, lambda irm: irm(system="run").propensities(), ["query", "rank", "grade", "doc", "run"]),
    "audit": (RANKED, lambda irm: irm.audit(), ["query", "score", "grade", "doc"]),
    "audit that fails": (RANKED, lambda irm: irm.audit(fail_on="error"), ["query", "score", "grade", "doc"]),
}


# Errors, and findings of audit()


def error(call: Callable[[], Any], cause: type[FrameMetricsError] = FrameMetricsError) -> str:
    """Return the message of the error that a call raises, a plan when it is collected."""
    with pytest.raises(cause) as caught:
        as_polars(call())
    return str(caught.value)


def called(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, list[str]]:
    """The exit code of a call of the command, what it prints, and the lines on standard error."""
    from frame_metrics.command import main

    code = main(list(arguments))
    printed = capsys.readouterr()
    return code, printed.out, printed.err.splitlines()


def same_rows(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two rows are the same but for rounding."""
    close = {name: pytest.approx(v, rel=1e-9, abs=1e-12) if isinstance(v, float) else v for name, v in other.items()}
    return one == close


def found_by_name(irm: Any) -> list[str]:
    """The roles whose columns were found by name, as the repr shows them."""
    return [line.split()[0] for line in repr(irm).splitlines() if line.endswith("  found by name")]


def odd(irm: IRM[pl.DataFrame]) -> pl.DataFrame:
    """Return all findings but the plain facts."""
    return irm.audit().filter(pl.col("severity") != "fact")


def facts(irm: IRM[pl.DataFrame]) -> dict[str, tuple[int, float | None]]:
    """Return n and share of every plain fact."""
    told = irm.audit().filter(severity="fact").select("check", "n", "share")
    return {check: (n, share) for check, n, share in told.rows()}


# Classes made at random


def made_classes(seed: int = 0, n: int = 60) -> pl.DataFrame:
    """Rows of four classes and predictions of five, on days, of which one is null, and in places, with weights."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, 4, n)
    said = np.where(random.random(n) < 0.5, truth, random.integers(0, 5, n))
    names = np.array([*"abcde"])
    return pl.DataFrame(
        {
            "label": names[truth],
            "predicted": names[said],
            "day": [["mo", "tu", None][i] for i in random.integers(0, 3, n)],
            "place": random.integers(0, 2, n),
            "w": random.integers(1, 9, n) / 4,
        }
    )


# Logs made at random

TOP = 4  # their highest grade


def ready(metric: Metric) -> Metric:
    """A metric with what it cannot do without."""
    needed = {name: metric.examples[name] for name in metric.missing}
    return metric(**needed, **({"max_grade": TOP} if "max_grade" in metric.options else {}))


# What a cell of a notebook says: annotations are texts, and names of the session are read.
CELL = """
from __future__ import annotations
import numpy as np
import frame_metrics
from frame_metrics import Ranking

FACTOR = 2.0

def doubled(values: np.ndarray) -> np.ndarray:
    return values * FACTOR

@frame_metrics.metric(range=(0, 2), best=None)
def found_below(run: Ranking, after: int = 3) -> np.ndarray:
    '''Twice the share of the relevant results that stand below a rank.'''
    return doubled(run.total(run.relevant * (run.rank > after)) / run.hits())
"""


@cache
def made_log(seed: int = 0, queries: int = 30) -> pl.DataFrame:
    """Rankings of 1 to 12 documents with many equal scores, unjudged and negative grades, documents not retrieved."""
    random = np.random.default_rng(seed)
    parts = []
    for query in range(queries):
        n = int(random.integers(1, 13))
        grade = random.choice([-1, 0, 0, 1, 1, 2, 3, 4], n).astype(float)
        if query % 7 == 3:
            grade = np.minimum(grade, 0)
        grade[random.random(n) < 0.2] = np.nan
        score = random.integers(0, 6, n).astype(float)
        score[(random.random(n) < 0.2) & ~np.isnan(grade)] = np.nan
        if query % 9 == 5:
            score[~np.isnan(grade)] = np.nan
        parts.append(
            pl.DataFrame(
                {
                    "query": np.repeat(f"q{query:02}", n),
                    "doc": [f"d{i}" for i in random.permutation(30)[:n]],
                    "score": score,
                    "grade": grade,
                    "segment": np.repeat("abc"[query % 3], n),
                    "weight": np.repeat(float(query % 4), n),
                }
            )
        )
    whole = pl.concat(parts).with_columns(pl.col("score", "grade").fill_nan(None))
    position = pl.col("score").rank("ordinal", descending=True).over("query")
    return whole.with_columns((position + position // 3).alias("rank"))


ROLES: dict[str, dict[str, Any]] = {
    "grades in the log": {"score": "score", "grade": "grade"},
    "condensed lists": {"score": "score", "grade": "grade", "unjudged": "drop"},
    "ranks with gaps": {"rank": "rank", "score": "score", "grade": "grade"},
    "relevant from 2": {"score": "score", "grade": "grade", "rel": 2},
    "judgments beside": {"score": "score"},
}


def irm(log: pl.DataFrame, kind: str, *, elsewhere: bool = True, **more: Any) -> IRM[pl.DataFrame]:
    """A log with its roles; in one kind its judgments and a tenth of other ones are kept beside it."""
    roles = {"query": "query", "doc": "doc", "collection_size": 100, **ROLES[kind], **more}
    if kind != "judgments beside":
        return log.irm(**roles)
    beside = log.select("query", "doc", "grade").drop_nulls().sort("query", "doc")
    extra = beside.unique("query", keep="first", maintain_order=True).with_columns(doc=pl.lit("elsewhere"))
    both = pl.concat([beside, extra]) if elsewhere else beside
    return log.drop("grade").drop_nulls("score").irm(**roles).judge(both)


class Terminal(io.TextIOWrapper):
    """A terminal."""

    def isatty(self) -> bool:
        return True


# Spark

SPARK_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.maxResultSize": "1m",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "3",
    "spark.sql.session.timeZone": "Europe/Paris",
}
STARTS_FAST = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # of a machine that runs for a minute


@contextmanager
def spark_session(kind: str) -> Iterator[Any]:
    """A session of Spark on this machine, "classic" or of "connect", whose tasks may fail once."""
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("PYTHONPATH", str(Path(frame_metrics.__file__).parents[1]))
        settings = " ".join(f"--conf {name}={value}" for name, value in SPARK_SETTINGS.items())
        patch.setenv("PYSPARK_SUBMIT_ARGS", f"{settings} --driver-java-options '{STARTS_FAST}' pyspark-shell")
        builder = SparkSession.builder
        named = builder.master("local[2, 2]") if kind == "classic" else builder.remote("local[2, 2]")
        session = named.getOrCreate()
        yield session
        session.stop()
