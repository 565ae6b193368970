"""A frame has one meaning: what a column is, and so every value, never depends on what else is asked."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import polars as pl
import pytest

from frame_metrics import IRM, ColumnError, FrameMetricsError
from helpers import KINDS, as_kind, as_polars, error, found_by_name, made_log, ready
from inside import REGISTRY

ASKED = ("map", "average_precision", "ndcg@3", "precision", "recall@2", "roc_auc", "gini", "ks", "log_loss", "brier")
ASKED += ("accuracy", "mcc", "f1", "rr", "judged@2", "tp")


def log(**more: Any) -> pl.DataFrame:
    """Two queries; pooled, their rows would give other values."""
    rows = {"query": [1, 1, 2, 2, 2], "score": [0.9, 0.1, 0.3, 0.2, 0.1], "label": [0, 1, 1, 0, 1]}
    return pl.DataFrame(rows | more)


def value(of: IRM[Any], *metrics: str) -> list[float]:
    """Return the values of some metrics."""
    return as_polars(of.evaluate(*metrics))["value"].to_list()


def alone(of: IRM[Any], metric: str) -> list[float] | None:
    """Return what a metric is alone, None where it is an error."""
    try:
        return value(of, metric)
    except FrameMetricsError:
        return None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("logs", [4, pytest.param(8, marks=pytest.mark.slow)])
def test_each_value_is_the_one_that_the_metric_has_alone(kind: str, logs: int) -> None:
    """Whatever stands beside it, whichever columns are found by name, with a query or without."""
    random = np.random.default_rng(KINDS.index(kind))
    frame = made_log(5).with_columns(score=pl.col("score") / 6, label=(pl.col("grade") >= 1).cast(pl.Int8))
    frame = frame.filter(pl.col("score").is_not_null()).with_columns(
        predicted=(pl.col("score") > 0.3).cast(pl.Int8), rank=pl.int_range(1, pl.len() + 1).over("query")
    )
    compared = 0
    for _ in range(logs):
        judgment, place = random.choice(["label", "grade"]), random.choice(["score", "rank"], p=[0.8, 0.2])
        some = [name for name in ("query", "doc", "predicted") if random.random() < 0.6]
        roles = [{"query": "query"}, {"query": None}][random.integers(2)] if {"query", "predicted"} <= {*some} else {}
        irm = IRM(as_kind(frame.select(place, judgment, *some), kind), unjudged="negative", **roles)
        values = {metric: alone(irm, metric) for metric in ASKED}
        there = [metric for metric, held in values.items() if held is not None]
        for size in (2, 3, len(there)):
            several = [str(metric) for metric in random.permutation(there)[:size]]
            if several:
                together = [held for metric in several for held in values[metric] or []]
                assert value(irm, *several) == pytest.approx(together, abs=0, nan_ok=True), (irm, several)
                compared += len(several)
        refused = [metric for metric, held in values.items() if held is None]
        for metric in refused[:1]:
            with pytest.raises(FrameMetricsError):
                value(irm, *there[:1], metric)
    assert compared > 8 * logs


SCORES = [0.9, 0.1, 0.3, 0.25, 0.2]


@pytest.mark.parametrize("roles", [{"query": "query"}, {"query": None}], ids=str)
@pytest.mark.parametrize("kind", ["polars", "pandas"])
def test_each_metric_of_the_registry_has_the_value_that_it_has_alone(kind: str, roles: dict[str, Any]) -> None:
    """Whatever else of the registry is asked for in the same call, in any order."""
    frame = made_log(3).filter(pl.col("score").is_not_null()).drop("rank", "doc", "segment", "weight")
    frame = frame.with_columns(score=pl.col("score") / 6, predicted=(pl.col("score") > 2).cast(pl.Int8))
    irm = IRM(as_kind(frame, kind), **roles, **({"collection_size": 100} if roles["query"] else {"unjudged": "drop"}))
    values = {str(metric): alone(irm, str(metric)) for metric in map(ready, REGISTRY.values())}
    there = [name for name, held in values.items() if held is not None]
    assert len(there) > 30
    for order in (there, there[::-1]):
        assert value(irm, *order) == pytest.approx([held for name in order for held in values[name] or []], nan_ok=True)


@pytest.mark.parametrize(
    ("metric", "of_queries", "of_rows"),
    [("average_precision", (1 / 2 + 5 / 6) / 2, (1 / 2 + 2 / 4 + 3 / 5) / 3), ("roc_auc", (0 + 1 / 2) / 2, 1 / 6)],
)
def test_a_query_that_is_found_is_a_query_for_every_metric(metric: str, of_queries: float, of_rows: float) -> None:
    """By hand. `query=None` takes all rows together. Whether rows are rankings has to be said for means of scores."""
    found = log(score=SCORES).irm
    irm = found(query="query")
    assert error(lambda: found.evaluate("rr", metric), ColumnError).startswith(f"{metric}: 'query' was found by name.")
    assert found.per_query(metric).equals(irm.per_query(metric))
    assert value(irm, metric) == value(irm, "rr", metric)[1:] == pytest.approx([of_queries])
    assert irm.per_query(metric)["value"].mean() == pytest.approx(of_queries)
    assert value(irm(query=None), metric) == pytest.approx([of_rows])


def test_documents_that_are_found_are_played() -> None:
    """Equal scores are ordered by document, and a document that stands twice is an error that offers the way out."""
    frame = pl.DataFrame({"query": [1, 1], "doc": ["a", "b"], "score": [1.0, 1.0], "label": [0, 1]})
    assert value(frame.irm, "rr") == value(frame.irm(doc="doc"), "rr") == [1]
    assert value(frame.irm(doc=None), "rr") == [0.5]
    twice = frame.with_columns(doc=pl.lit("a"))
    assert "doc=None" in error(lambda: twice.irm.evaluate("rr"))
    assert value(twice.irm(doc=None), "rr") == [0.5]
    assert value(twice.irm(query=None), "roc_auc") == [0.5]


def test_a_prediction_that_is_found_is_one_with_a_query_too() -> None:
    """Not the retrieved set, whose precision would be 3/5."""
    frame = log(predicted=[1, 0, 1, 0, 0])
    assert (
        value(frame.irm(query="query"), "precision")
        == value(frame.irm(query="query", predicted="predicted"), "precision")
        == [0.5]
    )
    assert value(frame.irm(query="query", predicted=None), "precision") == pytest.approx([(1 / 2 + 2 / 3) / 2])


@pytest.mark.parametrize("asked", ["precision", "roc_auc", "rr"])
@pytest.mark.parametrize("roles", [{"threshold": 0.5}, {"predicted": "decision"}, {}])
def test_decisions_beside_a_query_that_was_not_named(asked: str, roles: dict[str, Any]) -> None:
    """Each query's own table, or one of all rows: the error offers both, whatever is asked."""
    frame = log(decision=[1, 0, 1, 0, 0]) if roles else log(predicted=[1, 0, 1, 0, 0])
    said = error(lambda: frame.irm(**roles).evaluate(asked), ColumnError)
    assert "query='query'" in said
    assert "query=None" in said
    assert error(lambda: frame.irm(**roles).per_query(asked), ColumnError) == said
    assert frame.irm(**roles).audit().select("severity", "message").rows() == [("error", said)]


@pytest.mark.parametrize("pair", [("score", "rank"), ("label", "grade")])
def test_of_a_pair_the_other_is_not_found_where_one_is_named(pair: tuple[str, str]) -> None:
    """Both found are an error, either named or set aside is none."""
    frame = log(rank=[2, 1, 1, 2, 3], grade=[0, 1, 1, 0, 1])
    other = {"score": "score"} if pair[0] == "label" else {"label": "label"}
    assert f"both {pair[0]!r} and {pair[1]!r}" in error(lambda: frame.irm(**other).evaluate("rr"), ColumnError)
    for one, two in itertools.permutations(pair):
        assert value(frame.irm(**other, **{one: one}), "rr") == value(frame.irm(**other, **{two: None}), "rr")


def test_a_column_that_plays_another_part_is_not_found() -> None:
    """The query is a segment here, and rows are pooled in it."""
    assert log(score=SCORES).irm(by="query").evaluate("roc_auc")["average"].to_list() == ["pooled", "pooled"]


def test_judgments_beside_take_the_place_of_those_in_the_log() -> None:
    """The log's label is not found then, though it is called so."""
    frame = log(doc=list("abcde"))
    qrels = pl.DataFrame({"query": [1, 2], "doc": ["b", "c"], "grade": [1, 1]})
    irm = frame.irm.judge(qrels)
    assert value(irm, "rr") == [0.75]
    assert repr(irm).startswith("IRM of a polars.DataFrame, 5 rows, with judgments\n")
    assert found_by_name(irm) == ["query", "doc", "score"]


@pytest.mark.parametrize(
    ("role", "likely"), [("query", "qid"), ("doc", "docno"), ("grade", "relevance"), ("score", "sim")]
)
def test_a_role_that_is_not_there_is_an_error_that_names_the_likely_column(role: str, likely: str) -> None:
    """Also where the names have nothing in common."""
    frame = log(doc=list("abcde")).rename({"label": "grade"}).rename({role: likely})
    qrels = log(doc=list("abcde"))
    said = error(lambda: frame.irm.judge(qrels) if role == "doc" else frame.irm.evaluate("rr"), ColumnError)
    assert f"did you mean {likely!r}?" in said
    assert role in said


def test_a_role_that_is_set_aside_and_needed_is_an_error() -> None:
    """It says so, and not that there is no such column."""
    assert error(lambda: log().irm(query=None).evaluate("rr")).startswith(
        "query=None was passed, but this call needs the query"
    )
    assert value(log().irm(query=None)(query="query"), "rr") == value(log().irm, "rr")


@pytest.mark.parametrize("roles", [{"threshold": 0.5}, {"predicted": "decision"}, {"query": None}])
def test_what_is_found_stands_in_the_repr(roles: dict[str, Any]) -> None:
    """The parts that were named, those that were set aside, and those that were found."""
    frame = log(doc=list("abcde"), decision=[0, 1, 1, 0, 0])
    irm = frame.irm(**{"query": "query"} | roles)
    for name, held in roles.items():
        assert (f"{name}={held!r}" if name != "predicted" else "predicted  decision") in repr(irm)
    assert found_by_name(irm) == ([] if "query" in roles else ["doc"]) + ["score", "label"]


def test_a_repr_is_no_error() -> None:
    """Nor where a frame has two columns for one part, or cannot be planned."""
    both = (
        "not ready: both 'label' and 'grade' are columns; pass label='label', grade='grade' to use both (grades are "
        "the gains, and labels say what is relevant), or name one"
    )
    assert repr(log(grade=1).irm) == f"IRM of a polars.DataFrame\n{both}"
    assert repr(log().lazy().select("nothing").irm).startswith("IRM of a polars.LazyFrame\nnot ready: ")


@pytest.mark.parametrize("ties", ["worst", "expected"])
@pytest.mark.parametrize("longest", [12, 60])
def test_a_value_is_the_same_to_the_last_bit_among_many_cutoffs(ties: str, longest: int) -> None:
    """Sums up to many cutoffs are had together, and yet added up in the same order; past the end there is no cutoff."""
    random = np.random.default_rng(longest)
    length = random.integers(1, longest + 1, 20)
    n = int(length.sum())
    rows = pl.DataFrame({"query": np.repeat(np.arange(20), length), "grade": random.integers(0, 4, n)})
    irm = rows.with_columns(score=pl.Series(random.integers(0, 40, n) / 7)).irm(ties=ties)
    names = ("ndcg", "dcg(gain='exp')", "ap", "rr", "success", "rbp", "cg", "precision", "recall")

    def values(*asked: str) -> list[float]:
        return as_polars(irm.per_query(*asked))["value"].to_list()

    for name in names:
        many = np.array(values(f"{name}@1..{longest + 5}")).reshape(20, -1)
        for k in (1, 2, 7, longest, longest + 5):
            assert many[:, k - 1].tolist() == values(f"{name}@{k}"), (name, k)
        if name not in ("precision", "success"):
            assert many[:, -1].tolist() == values(name), name
