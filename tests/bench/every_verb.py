"""A call of every verb on frames of any size, for the parts "growth" and "peaks" of the table of bench.py."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from frame_metrics import IRM

METRICS = ("ndcg@10", "ap", "rr")
Call: TypeAlias = Callable[[], Any]


@dataclass(frozen=True)
class Size:
    """The size of the frames of a call: a number of each thing that it is made of."""

    rows: int = 10  # in each query and system; for rows without a query, of each system
    queries: int = 200
    systems: int = 1
    segments: int = 1
    classes: int = 2
    annotators: int = 2
    units: int = 0  # clusters, or users; 0 for none
    ci: bool = False  # whether intervals are asked for, where the verb has them as an option

    @property
    def interval(self) -> dict[str, Any]:
        """The options of intervals."""
        return {"ci": 0.95, "resamples": 100} if self.ci else {}


def log_of(size: Size, *, doc: bool = False, judged: bool = True) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return a log of systems in rank order, with the roles that its names do not tell."""
    rng = np.random.default_rng(0)
    n = size.rows * size.queries
    query = np.repeat(np.arange(size.queries), size.rows)
    rank = np.tile(np.arange(size.rows), size.queries)
    grade = (rng.random(n) < 0.1) * rng.integers(1, 4, n)
    one = pl.DataFrame({"query": query, "doc": rank, "grade": grade.astype(np.int8)})
    scores = [size.rows - rank - 0.9 * rng.random(n) for _ in range(size.systems)]
    frame = pl.concat(
        one.with_columns(score=pl.Series(score), run=pl.lit(i, pl.Int32)) for i, score in enumerate(scores)
    )
    roles: dict[str, Any] = {}
    roles |= {"doc": "doc"} if doc else {"doc": None}
    frame = frame if doc else frame.drop("doc")
    if size.systems > 1:
        roles["system"] = "run"
    else:
        frame = frame.drop("run")
    if not judged:  # systems differ in what they list, and in their order
        frame = frame.with_columns(
            pl.when(pl.col("doc") % 3 > 0).then("grade").alias("grade"), score=pl.Series(rng.random(len(frame)))
        ).filter(pl.Series(rng.random(len(frame)) < 0.8))
    if size.segments > 1:
        frame, roles["by"] = frame.with_columns(segment=(pl.col("query") % size.segments).cast(pl.Int32)), "segment"
    if size.units:
        frame, roles["cluster"] = frame.with_columns(user=(pl.col("query") % size.units).cast(pl.Int32)), "user"
    return frame, roles


def cases_of(size: Size, *, score: bool) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return rows without a query, with scores or with predicted classes, and their roles."""
    rng, n, k = np.random.default_rng(0), size.rows, size.classes
    label = rng.integers(0, k, n)
    one = pl.DataFrame({"label": label.astype(np.int8 if k < 100 else np.int32)})
    frames = []
    for i in range(size.systems):
        said = np.where(rng.random(n) < 0.6, label, rng.integers(0, k, n)).astype(np.int8 if k < 100 else np.int32)
        own = {"score": label + rng.random(n) * 3} if score else {"predicted": said}
        frames.append(
            one.with_columns(**{name: pl.Series(values) for name, values in own.items()}, run=pl.lit(i, pl.Int8))
        )
    frame = pl.concat(frames)
    roles: dict[str, Any] = {"classes": list(range(k))} if k > 2 else {}
    if size.systems > 1:
        roles["system"] = "run"
        frame, roles["doc"] = frame.with_columns(doc=pl.Series(np.tile(np.arange(n), size.systems))), "doc"
    else:
        frame = frame.drop("run")
    if size.segments > 1:
        segment = pl.Series(rng.integers(0, size.segments, len(frame)).astype(np.int32))
        frame, roles["by"] = frame.with_columns(segment=segment), "segment"
    if size.units:
        frame = frame.with_columns(user=pl.Series((np.arange(len(frame)) % size.units).astype(np.int32)))
        roles["cluster"] = "user"
    return frame, roles


def read(frame: pl.DataFrame, *others: pl.DataFrame) -> int:
    """Return the bytes of the frames."""
    return int(sum(one.estimated_size() for one in (frame, *others)))


def of_log(size: Size, call: Callable[[Any], Any], *, doc: bool = False, judged: bool = True) -> tuple[Call, int]:
    """Return a call of a log, and the bytes that it reads; ``judged``: whether all documents are."""
    frame, own = log_of(size, doc=doc, judged=judged)
    return partial(call, IRM(frame, **own)), read(frame)


def of_cases(size: Size, call: Callable[[Any], Any], *, score: bool = False) -> tuple[Call, int]:
    """Return a call of rows without a query, and the bytes that it reads."""
    frame, own = cases_of(size, score=score)
    return partial(call, IRM(frame, **own)), read(frame)


def of_arms(size: Size, call: Callable[[Any], Any]) -> tuple[Call, int]:
    """Return a call of two arms, each query in one of them, and the bytes that it reads."""
    frame, own = log_of(size)
    if size.units:
        frame = frame.rename({"user": "person"})
        own = {name: column for name, column in own.items() if name != "cluster"} | {"cluster": "person"}
    frame = frame.with_columns(arm=(pl.col("person" if size.units else "query") % 2).cast(pl.Int8))
    return partial(call, IRM(frame, **own, arm="arm")), read(frame)


def of_judgments(size: Size, call: Callable[[Any], Any]) -> tuple[Call, int]:
    """Return a call of judgments of several annotators, each of all documents, and the bytes that it reads."""
    frame, own = log_of(size, doc=True)
    rng = np.random.default_rng(1)
    votes = pl.concat(
        frame.select("query", "doc").with_columns(
            grade=pl.Series(rng.integers(0, 3, len(frame)).astype(np.int8)), who=pl.lit(i, pl.Int32)
        )
        for i in range(size.annotators)
    )
    log = frame.drop("grade")
    return partial(call, IRM(log, **own).judge(votes, annotator="who")), read(log, votes)


def of_subtopics(size: Size, call: Callable[[Any], Any]) -> tuple[Call, int]:
    """Return a call of a log whose documents are judged for five subtopics each, and the bytes that it reads."""
    frame, own = log_of(size, doc=True)
    rng, run = np.random.default_rng(1), frame.drop("grade")
    pairs = frame.select("query", "doc").unique(maintain_order=True)
    judged = pl.concat(
        pairs.with_columns(subtopic=pl.lit(i), grade=pl.Series((rng.random(len(pairs)) < 0.1).astype(np.int8)))
        for i in range(5)
    )
    return partial(call, IRM(run, **own).judge(judged, subtopic="subtopic")), read(run, judged)


def of_clicks(size: Size, call: Callable[[Any], Any]) -> tuple[Call, int]:
    """Return a call of clicks on a few queries that were asked often, and the bytes that it reads."""
    rng = np.random.default_rng(0)
    n, search = size.rows * size.queries, np.repeat(np.arange(size.queries), size.rows)
    rank = np.tile(np.arange(1, size.rows + 1), size.queries)
    doc = np.lexsort((rank + 3 * rng.random(n), search)) % size.rows  # the same for each search, in other orders
    clicked = (rng.random(n) < (0.2 + 0.6 * (doc % 3 == 0)) / rank).astype(np.int8)
    frame = pl.DataFrame({"query": search, "text": search // 20, "doc": doc, "rank": rank, "label": clicked})
    return partial(call, IRM(frame, label="label")), read(frame)


def of_teams(size: Size, call: Callable[[Any], Any]) -> tuple[Call, int]:
    """Return a call of results that two teams interleave, and the bytes that it reads."""
    rng = np.random.default_rng(0)
    n = size.rows * size.queries
    frame = pl.DataFrame(
        {
            "query": np.repeat(np.arange(size.queries), size.rows),
            "rank": np.tile(np.arange(1, size.rows + 1), size.queries),
            "team": rng.integers(0, 2, n),
            "label": (rng.random(n) < 0.2).astype(np.int8),
        }
    )
    return partial(call, IRM(frame, team="team")), read(frame)


def of_saved(size: Size, call: Callable[[Any], Any]) -> tuple[Call, int]:
    """Return a call of numbers that were computed elsewhere, one of each query and system, and the bytes it reads."""
    rng, n = np.random.default_rng(0), size.queries * size.systems
    frame = pl.DataFrame(
        {
            "query": np.tile(np.arange(size.queries), size.systems),
            "run": np.repeat(np.arange(size.systems), size.queries),
            "saved": rng.random(n),
        }
    )
    return partial(call, IRM(frame, system="run", value="saved")), read(frame)


LACKING = {"doc": True, "judged": False}  # logs with documents that are not judged
VERBS: dict[str, Callable[[Size], tuple[Call, int]]] = {
    "evaluate": lambda size: of_log(size, lambda irm: irm.evaluate(*METRICS, **size.interval)),
    "per_query": lambda size: of_log(size, lambda irm: irm.per_query(*METRICS)),
    "compare": lambda size: of_log(size, lambda irm: irm.compare(*METRICS, baseline=0)),
    "leaderboard": lambda size: of_log(size, lambda irm: irm.leaderboard("ndcg@10")),
    "sample_size": lambda size: of_log(size, lambda irm: irm.sample_size("ndcg@10", detect=0.01, baseline=0)),
    "bounds": lambda size: of_log(size, lambda irm: irm.bounds("precision@10", "ap", of="ties")),
    "explain": lambda size: of_log(size, lambda irm: irm.explain("ndcg@10", query=0), doc=True),
    "similarity": lambda size: of_log(size, lambda irm: irm.similarity("overlap@10", "rbo", baseline=0), doc=True),
    "to_judge": lambda size: of_log(size, lambda irm: irm.to_judge(5, "precision@10", baseline=0), **LACKING),
    "to_judge, no cutoff": lambda size: of_log(
        size, lambda irm: irm.to_judge(5, "ndcg", max_grade=3, baseline=0), **LACKING
    ),
    "alpha_ndcg": lambda size: of_subtopics(size, lambda irm: irm.evaluate("alpha_ndcg")),
    "to_judge, by depth": lambda size: of_log(size, lambda irm: irm.to_judge(way="depth"), **LACKING),
    "curve of cutoffs": lambda size: of_log(size, lambda irm: irm.curve("ndcg@k", cutoffs=10, **size.interval)),
    "audit": lambda size: of_log(size, lambda irm: irm.audit(), doc=True),
    "summary": lambda size: of_log(size, lambda irm: irm.summary("ndcg@10")),
    "report": lambda size: of_log(size, lambda irm: irm.report(metrics="ndcg@10", format="md")),
    "ab_test": lambda size: of_arms(size, lambda irm: irm.ab_test("ndcg@10", baseline=0)),
    "change": lambda size: of_arms(size, lambda irm: irm.change("ndcg@10")),
    "compare of saved numbers": lambda size: of_saved(size, lambda irm: irm.compare(baseline=0)),
    "judge": lambda size: of_judgments(one_annotator(size), lambda irm: irm.evaluate(*METRICS)),
    "agreement": lambda size: of_judgments(size, lambda irm: irm.agreement()),
    "agreement with one": lambda size: of_judgments(size, lambda irm: irm.agreement(0)),
    "disagreements": lambda size: of_judgments(size, lambda irm: irm.disagreements()),
    "click_judgments": lambda size: of_clicks(size, lambda irm: irm.click_judgments("coec", query_text="text")),
    "propensities": lambda size: of_clicks(size, lambda irm: irm.propensities(k=2, query_text="text")),
    "interleaving": lambda size: of_teams(size, lambda irm: irm.interleaving("clicks", baseline=0)),
    "evaluate of decisions": lambda size: of_cases(size, lambda irm: irm.evaluate("f1", "mcc", **size.interval)),
    "per_class": lambda size: of_cases(size, lambda irm: irm.per_class("f1", "recall")),
    "confusion": lambda size: of_cases(size, lambda irm: irm.confusion()),
    "compare of rows": lambda size: of_cases(size, lambda irm: irm.compare("accuracy", baseline=0)),
    "audit of rows": lambda size: of_cases(size, lambda irm: irm.audit()),
    "evaluate of scores": lambda size: of_cases(size, lambda irm: irm.evaluate("roc_auc", **size.interval), score=True),
    "thresholds": lambda size: of_cases(size, lambda irm: irm.thresholds("f1"), score=True),
    "best_threshold": lambda size: of_cases(size, lambda irm: irm.best_threshold("f1"), score=True),
    "curve roc": lambda size: of_cases(size, lambda irm: irm.curve("roc"), score=True),
    "curve pr": lambda size: of_cases(size, lambda irm: irm.curve("pr"), score=True),
}


def one_annotator(size: Size) -> Size:
    """Return the size with one annotator."""
    return replace(size, annotators=1)


ROWS = (  # verbs whose frames have no queries
    "evaluate of decisions",
    "per_class",
    "confusion",
    "compare of rows",
    "audit of rows",
    "evaluate of scores",
    "thresholds",
    "best_threshold",
    "curve roc",
    "curve pr",
)
PAIRED = (  # verbs of several systems
    "compare",
    "leaderboard",
    "sample_size",
    "similarity",
    "to_judge",
    "to_judge, no cutoff",
    "to_judge, by depth",
    "summary",
    "compare of saved numbers",
    "compare of rows",
)
