"""One log has one result, whatever its form: a row per result, lists in a row per query, a column per system."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from polars import testing as pl_testing

from frame_metrics import IRM
from helpers import KINDS, as_kind, as_polars, made_log, pairwise_cases

DRAWS: dict[str, Any] = {"ci": 0.8, "resamples": 30}
OF_QUERIES = ("query", "segment", "user", "visits")


def wide() -> pl.DataFrame:
    """A log of two systems, each of them a column of scores, null where it did not retrieve the document."""
    log = made_log(4, 20).drop("rank", "weight").rename({"score": "p"})
    q = (pl.col("p") * 7 + pl.col("doc").str.len_chars()) % 5
    user, visits = (pl.col("query").str.slice(1).cast(pl.Int64) % m for m in (6, 4))
    log = log.with_columns(
        q=pl.when(pl.col("doc").str.ends_with("3")).then(None).otherwise(q), user=user, visits=visits + 1
    )
    log = log.filter(
        pl.any_horizontal(pl.col("p", "grade").is_not_null()), pl.any_horizontal(pl.col("q", "grade").is_not_null())
    )
    return log.with_columns(said=(pl.col("p") > 2).cast(pl.Int8))


def flat() -> pl.DataFrame:
    """The same log, a row per system, query and document."""
    log = wide()
    return pl.concat(log.drop("p", "q").with_columns(log[name].alias("score"), system=pl.lit(name)) for name in "pq")


def nested(log: pl.DataFrame, *keys: str) -> pl.DataFrame:
    """A row per query, or per system and query, with lists of what it has of each result."""
    return log.group_by(*keys, *OF_QUERIES, maintain_order=True).agg(pl.all())


KEYS: dict[str, Any] = {"query": "query", "doc": "doc", "grade": "grade"}
LONG = KEYS | {"score": "score", "system": "system"}
WIDE = KEYS | {"score": ["p", "q"]}
FORMS: dict[str, tuple[Callable[[], pl.DataFrame], dict[str, Any]]] = {
    "a column per system": (wide, WIDE),
    "lists of each system": (lambda: nested(flat(), "system"), LONG),
    "lists, and a column of them per system": (lambda: nested(wide()), WIDE),
}


def found(audit: Any) -> pl.DataFrame:
    """Findings and facts, but how many rows a frame has, which is a matter of its form."""
    return as_polars(audit).filter(pl.col("check") != "rows").drop("example", "message")


CALLS: dict[str, Callable[[IRM[Any]], Any]] = {
    "averages": lambda irm: irm(by="segment").evaluate("rr", "ndcg@3", "precision", margins=True, **DRAWS),
    "weights and clusters": lambda irm: irm(weight="visits", cluster="user").evaluate(
        "rr", "ndcg", layout="wide", **DRAWS
    ),
    "queries": lambda irm: irm.per_query("rr", "ndcg@3", "recall@5"),
    "condensed lists": lambda irm: irm(unjudged="drop").per_query("ap", "bpref"),
    "worst ties": lambda irm: irm(ties="worst").per_query("rr", "ndcg@3"),
    "bounds": lambda irm: irm.bounds("rr", of="ties"),
    "bounds of differences": lambda irm: irm.bounds("ap", "ndcg@3", of="unjudged", baseline="q", max_grade=4),
    "what to judge next": lambda irm: irm.to_judge(metric="ndcg@3", baseline="q", max_grade=4),
    "a comparison": lambda irm: irm(by="segment").compare("rr", "ndcg@3", baseline="q", permutations=100),
    "arms": lambda irm: IRM(
        irm(by="segment").per_query("rr", "ndcg@3"),
        query="query",
        value="value",
        arm="system",
        by="segment",
        cluster="query",
    ).change(permutations=100),
    "what made a value": lambda irm: irm.explain("ndcg@3", query="q02"),
    "micro averages": lambda irm: irm(threshold=2.0).evaluate("recall", "f1", average="micro"),
    "the table": lambda irm: irm(threshold=2.0).confusion(),
    "classes": lambda irm: irm(threshold=2.0).per_class("precision", "recall"),
    "thresholds": lambda irm: irm.thresholds("f1"),
    "the best threshold": lambda irm: irm.best_threshold("f1"),
    "a curve of scores": lambda irm: irm.curve("roc"),
    "a curve of ranks": lambda irm: irm.curve("ndcg@k", cutoffs=4),
    "findings": lambda irm: found(irm(by="segment").audit()),
    "all rows together": lambda irm: irm(query=None, doc=None, unjudged="drop").evaluate(
        "roc_auc", "average_precision", **DRAWS
    ),
}


@pytest.mark.parametrize(("call", "form", "kind"), pairwise_cases(CALLS, FORMS, KINDS))
def test_forms_of_a_log_give_equal_results(call: str, form: str, kind: str) -> None:
    frame, roles = FORMS[form]
    found = as_polars(CALLS[call](IRM(as_kind(frame(), kind), **roles)))
    expected = as_polars(CALLS[call](IRM(as_kind(flat(), "polars"), **LONG)))
    assert found.columns == expected.columns
    pl_testing.assert_frame_equal(found, expected, abs_tol=1e-12, check_dtypes=kind in ("polars", "lazy"))
