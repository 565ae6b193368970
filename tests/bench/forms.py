"""One log in every form that is read, drawn at random, and its metrics in plain Python.

A row for each result, a row for each query with lists, a column for each system, judgments in the log, beside it or
as a list of what is relevant; each in memory and in pieces. All of them mean the same rankings.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

import polars as pl

from frame_metrics import IRM

METRICS = ("num_ret", "num_rel", "num_rel_ret", "rr", "ap", "ndcg", "ndcg@3", "precision@2", "recall@2", "success@1")
CLOSE = 1e-12
Scores = dict[Any, float]  # of the documents that a system retrieved
Grades = dict[Any, int | None]  # of the documents of a query, None for one that nobody judged


class Drawn(NamedTuple):
    """Rankings of several systems, and judgments."""

    runs: dict[str, dict[Any, Scores]]  # by system and query
    grades: dict[Any, Grades]  # by query


def drawn(rng: Random) -> Drawn:
    """Draw some queries with few documents, many of which have equal scores; a system may lack a query.

    Each system has found a document that is relevant, since ids of which none matches are an error. A document that
    nobody found or judged is none.
    """
    queries = rng.choice((range(4), range(1), ["q", "p", "é", ""]))
    docs = rng.choice((range(9), [*"abcdefghi"]))
    grades: dict[Any, Grades] = {}
    runs: dict[str, dict[Any, Scores]] = {name: {} for name in "ab"[: rng.choice((1, 2, 2))]}
    for i, query in enumerate(queries):
        pool = rng.sample(docs, rng.randrange(1, 8))
        judged = {doc: rng.choice((None, 0, 0, 1, 2, 3)) for doc in pool} | ({pool[0]: 1} if i == 0 else {})
        for run in runs.values():
            kept = {*rng.sample(pool, rng.randrange(len(pool) + 1)), *pool[: i == 0]}
            run[query] = {doc: rng.choice((1.0, 2.0, 2.5, -1.0, 0.0)) for doc in pool if doc in kept}
        found = {doc for run in runs.values() for doc in run[query]}
        grades[query] = {doc: grade for doc, grade in judged.items() if grade is not None or doc in found}
    return Drawn(runs, grades)


def plain(scores: Scores, grades: Grades) -> dict[str, float]:
    """Return the metrics of one ranking: equal scores by document, the last one first; undefined is 0."""
    ranked = sorted(sorted(scores, reverse=True), key=lambda doc: -scores[doc])
    gains = [max(grades.get(doc) or 0, 0) for doc in ranked]
    ideal = sorted((grade for grade in grades.values() if grade), reverse=True)
    hits = [gain > 0 for gain in gains]
    first = next((rank for rank, hit in enumerate(hits, 1) if hit), None)
    precisions = [sum(hits[:rank]) / rank for rank, hit in enumerate(hits, 1) if hit]
    found: dict[str, float] = {"num_ret": len(ranked), "num_rel": len(ideal), "num_rel_ret": sum(hits)}
    found |= {"rr": 1 / first if first else 0, "ap": sum(precisions) / len(ideal) if ideal else 0}
    for name, k in (("ndcg", None), ("ndcg@3", 3)):
        found[name] = _dcg(gains[:k]) / _dcg(ideal[:k]) if ideal else 0
    found |= {"precision@2": sum(hits[:2]) / 2, "recall@2": sum(hits[:2]) / len(ideal) if ideal else 0}
    return found | {"success@1": float(any(hits[:1]))}


def _dcg(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def expected(of: Drawn) -> dict[tuple[str, Any, str], float]:
    """Return every value by system, query and metric: of all queries that have a judgment and, in any run, a result."""
    return {
        (system, query, metric): value
        for system, run in of.runs.items()
        for query, grades in of.grades.items()
        if any(grade is not None for grade in grades.values())
        for metric, value in plain(run[query], grades).items()
    }


def binary(of: Drawn) -> Drawn:
    """Return the same as lists of relevant documents say it: others are judged too, and every query is."""
    grades: dict[Any, Grades] = {q: {doc: int(bool(g)) for doc, g in its.items()} for q, its in of.grades.items()}
    return Drawn(of.runs, grades)


def _results(of: Drawn) -> Iterator[dict[str, Any]]:
    for system, run in of.runs.items():
        for query, scores in run.items():
            for doc, score in scores.items():
                yield {"system": system, "query": query, "doc": doc, "score": score, "grade": of.grades[query][doc]}


def _pool(of: Drawn) -> Iterator[dict[str, Any]]:
    """A row for each document of each query, with the score that each system gave it."""
    for query, grades in of.grades.items():
        for doc, grade in grades.items():
            yield {"query": query, "doc": doc, "grade": grade} | {s: run[query].get(doc) for s, run in of.runs.items()}


def _table(rows: Iterator[dict[str, Any]], of: Drawn, *extra: str) -> pl.DataFrame:
    ids: Any = pl.Series([*of.grades]).dtype, pl.Series([next(iter(next(iter(of.grades.values()))))]).dtype
    types = {"query": ids[0], "doc": ids[1], "score": pl.Float64, "grade": pl.Int64, "system": pl.String}
    held = list(rows)
    names = list(held[0]) if held else list(extra)
    return pl.DataFrame(held, schema={name: types.get(name, pl.Float64) for name in names}, orient="row")


def columns(of: Drawn) -> tuple[pl.DataFrame, dict[str, Any], pl.DataFrame | None]:
    """A row for each document, a column for each system."""
    return _table(_pool(of), of), {"score": [*of.runs]}, None


def beside(of: Drawn) -> tuple[pl.DataFrame, dict[str, Any], pl.DataFrame | None]:
    """A row for each result, the judgments beside it."""
    rows = _table(_results(of), of, "system", "query", "doc", "score", "grade").drop("grade")
    return rows, {"system": "system"}, columns(of)[0].select("query", "doc", "grade")


def lists(of: Drawn) -> tuple[pl.DataFrame, dict[str, Any], pl.DataFrame | None]:
    """A row for each system and query, its results in lists, the judgments beside it."""
    rows, roles, qrels = beside(of)
    every = pl.DataFrame(
        [(s, q) for s in of.runs for q in of.grades], rows.select("system", "query").schema, orient="row"
    )
    folded = rows.group_by("system", "query", maintain_order=True).agg("doc", "score")
    return every.join(folded, ["system", "query"], "left", maintain_order="left"), roles, qrels


def one(of: Drawn) -> tuple[pl.DataFrame, dict[str, Any], pl.DataFrame | None]:
    """A row for each document of the only system, with score and grade."""
    (system,) = of.runs
    return columns(of)[0].rename({system: "score"}), {}, None


def one_in_lists(of: Drawn) -> tuple[pl.DataFrame, dict[str, Any], pl.DataFrame | None]:
    """A row for each query of the only system, its documents, scores and grades in lists."""
    return one(of)[0].group_by("query", maintain_order=True).agg(pl.all()), {}, None


def relevant(of: Drawn) -> tuple[pl.DataFrame, dict[str, Any], pl.DataFrame | None]:
    """A row for each system and query, its documents in a list, and those that are relevant."""
    rows, roles, _ = lists(of)
    held = columns(of)[0].group_by("query", maintain_order=True).agg(relevant=pl.col("doc").filter(pl.col("grade") > 0))
    return rows.join(held, "query", maintain_order="left"), roles, None


Form = Callable[[Drawn], tuple[pl.DataFrame, dict[str, Any], pl.DataFrame | None]]
FORMS: tuple[Form, ...] = (columns, beside, lists, relevant)
OF_ONE: tuple[Form, ...] = (one, one_in_lists)


def differences(rng: Random) -> Iterator[tuple[str, str]]:
    """Draw a log, and yield the forms in which a value is not that of plain Python, and what it is."""
    of = drawn(rng)
    for form in (*FORMS, *(OF_ONE if len(of.runs) == 1 else ())):
        meant = binary(of) if form is relevant else of
        values = expected(meant)
        frame, roles, qrels = form(meant)
        shuffled, pieces = rng.random() < 0.5, rng.random() < 0.3
        rows = frame.sample(fraction=1, shuffle=True, seed=rng.randrange(99)) if shuffled else frame
        if said := _differ(rows.lazy() if pieces else rows, roles, qrels, values, memory=1 if pieces else None):
            yield f"{form.__name__}{' shuffled' * shuffled}{' in pieces' * pieces}", said


def _differ(
    frame: Any, roles: Mapping[str, Any], qrels: Any, values: dict[tuple[str, Any, str], float], *, memory: int | None
) -> str:
    """Return how the values of a form differ from those expected; "" where they do not."""
    irm = IRM(frame, **roles, memory=memory)
    irm = irm if qrels is None else irm.judge(qrels)
    if not values:
        return ""
    each, means = (one.lazy().collect() for one in (irm.per_query(*METRICS), irm.evaluate(*METRICS)))
    only = next(iter(values))[0]
    found = {(row.get("system", only), row["query"], _asked(row)): row["value"] for row in each.iter_rows(named=True)}
    every: dict[tuple[str, str], list[float]] = {}
    for (system, _, metric), value in values.items():
        every.setdefault((system, metric), []).append(value)
    mean = {(row.get("system", only), _asked(row)): row["value"] for row in means.iter_rows(named=True)}
    wanted = {key: sum(its) / (1 if key[1].startswith("num_") else len(its)) for key, its in every.items()}
    return _unequal(found, values) or _unequal(mean, wanted)


def _asked(row: Mapping[str, Any]) -> str:
    return str(row["metric"] if row["k"] is None else f"{row['metric'].partition('@')[0]}@{row['k']}")


def _unequal(found: dict[Any, Any], wanted: dict[Any, float]) -> str:
    if lacking := found.keys() ^ wanted.keys():
        return f"{sorted(map(str, lacking))[:3]} in one of the two only"
    wrong = [key for key, value in wanted.items() if found[key] is None or abs(found[key] - value) > CLOSE]
    return f"{wrong[0]}: {found[wrong[0]]}, and plainly {wanted[wrong[0]]}" if wrong else ""
