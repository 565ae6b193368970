"""A value taken apart: what each result adds."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from frame_metrics import IRM, BadValueError, Metric, NotComputableError
from helpers import KINDS, ROLES, as_kind, as_polars, error, irm, made_log, ready
from inside import REGISTRY, FullConfusion, FullRanking, in_pieces
from refusals import check

LOG = pl.DataFrame({"query": ["a"] * 3 + ["b"], "doc": [*"xyzx"], "score": [3.0, 2.0, 1.0, 1.0], "grade": [1, 0, 3, 1]})
EMPTY_IS_NOT_ZERO = {
    *("fn", "tn", "accuracy", "error_rate", "specificity", "npv", "miss_rate", "fomr", "prevalence", "inverse_f1"),
    "inverse_fbeta",
    *(
        "balanced_accuracy",
        "corner_distance",
        "cost",
        "lr_negative",
        "avg_f",
        "rbp_residual",
        "abandonment",
        "num_q",
        "num_rel",
        "idcg",
    ),
    *("inverse_g", "avg_g", "markedness", "fdr", "abandonment"),
}
TAKEN_APART = [
    one
    for metric in REGISTRY.values()
    if metric.input in (FullRanking, FullConfusion) and metric.judges and not (metric.off_policy or metric.of_subtopics)
    for one in ([ready(metric), ready(metric) @ 3] if metric.at == "k" else [ready(metric)])
]


EXPLAINED = [kind for kind in ROLES if kind != "condensed lists"]


@cache
def values_of_queries(kind: str) -> dict[tuple[str, str], float | None]:
    """Every value of per_query() that is taken apart below, by query and metric."""
    found = irm(made_log(), kind, undefined="null").per_query(*TAKEN_APART)
    return {(query, metric): value for query, metric, value in found.select("query", "metric", "value").iter_rows()}


@pytest.mark.parametrize("kind", EXPLAINED)
@pytest.mark.parametrize("metric", TAKEN_APART, ids=str)
def test_contributions_add_up_to_the_value(metric: Metric, kind: str) -> None:
    """What the results of a query add is what per_query() gives, for every metric that begins at 0.

    Two queries of five for each kind: the four kinds look at all of them.
    """
    whole, values, at = irm(made_log(), kind, undefined="null"), values_of_queries(kind), EXPLAINED.index(kind)
    for query in np.roll(("q00", "q03", "q04", "q07", "q16"), at)[::3].tolist():
        try:
            found = whole.explain(metric, query=query)["contribution"]
        except NotComputableError:
            assert metric.name in EMPTY_IS_NOT_ZERO
            return
        if values[query, str(metric)] is None:
            assert found.null_count() == len(found)
        else:
            assert found.sum() == pytest.approx(values[query, str(metric)], abs=1e-12)


def test_ndcg_by_hand() -> None:
    """A gain, the discount of its rank, and their product over the ideal."""
    found = LOG.irm(doc="doc").explain("ndcg", query="a")
    ideal = 3 + 1 / math.log2(3)
    assert found.columns == ["query", "doc", "rank", "gain", "discount", "contribution", "judged", "undefined"]
    expected = [
        ("a", "x", 1, 1, 1, 1 / ideal),
        ("a", "y", 2, 0, 1 / math.log2(3), 0),
        ("a", "z", 3, 3, 0.5, 1.5 / ideal),
    ]
    for row, wanted in zip(found.rows(), expected, strict=True):
        assert row[:3] == wanted[:3]
        assert row[3:6] == pytest.approx(wanted[3:])
        assert row[6] is True


@pytest.mark.parametrize(
    ("metric", "contributions", "discounts"),
    [
        ("ap", [1 / 2, 0, 2 / 3 / 2], [None] * 3),
        ("precision@2", [1 / 2, 0, 0], [None] * 3),  # z is relevant, and past the cutoff
        ("recall", [1 / 2, 0, 1 / 2], [None] * 3),
        ("rr", [1, 0, 0], [None] * 3),
        ("rbp", [0.2, 0, 0.2 * 0.64], [0.2, 0.2 * 0.8, 0.2 * 0.64]),
        ("cg", [1, 0, 3], [1, 1, 1]),
        ("dcg(gain='exp')", [1, 0, 7 / 2], [1, 1 / math.log2(3), 1 / 2]),
    ],
)
def test_what_each_rank_adds(metric: str, contributions: list[float], discounts: list[Any]) -> None:
    """Contributions and discounts are the terms of the metric's sum."""
    found = LOG.irm(doc="doc").explain(metric, query="a")
    assert found["contribution"].to_list() == pytest.approx(contributions)
    assert found["discount"].to_list() == pytest.approx(discounts)


def test_the_gain_is_what_the_metric_takes_for_the_grade() -> None:
    """The column of gains is 2^grade - 1 where the metric says so, and 1 or 0 where it counts what is relevant."""
    irm = LOG.irm(doc="doc")
    assert irm.explain("dcg(gain='exp')", query="a")["gain"].to_list() == [1, 0, 7]
    assert irm.explain("dcg", query="a")["gain"].to_list() == [1, 0, 3]
    assert irm.explain("ap", query="a")["gain"].to_list() == [1, 0, 1]


def test_relevant_documents_that_are_only_counted() -> None:
    """Each result adds its share of all relevant documents that the query is said to have."""
    log = LOG.with_columns(total=pl.Series([4, 4, 4, 2]))
    irm = log.irm(doc="doc", n_relevant="total")
    assert irm.explain("recall", query="a")["contribution"].to_list() == [1 / 4, 0, 1 / 4]
    assert irm.explain("ap", query="a")["contribution"].to_list() == pytest.approx([1 / 4, 0, 2 / 3 / 4])
    assert irm.explain("recall", query="b")["contribution"].to_list() == [1 / 2]
    twice = pl.concat([log.with_columns(day=pl.lit(1)), log.with_columns(day=pl.lit(2), total=pl.lit(8, pl.Int64))])
    found = twice.irm(doc="doc", n_relevant="total", by="day").explain("recall", query="a")
    assert found["contribution"].to_list() == [1 / 4, 0, 1 / 4, 1 / 8, 0, 1 / 8]


def test_systems_and_segments_of_a_query() -> None:
    """Each ranking of the query is taken apart, under the caller's names; shown ranks are the ranks."""
    log = pl.DataFrame(
        {
            "run": ["p", "p", "o", "p"],
            "day": ["u", "u", "u", "v"],
            "qid": [7, 7, 7, 7],
            "rank": [2, 5, 1, 1],
            "grade": [1, 1, 0, 1],
        }
    )
    found = log.irm(query="qid", system="run", by="day").explain("rr", query=7)
    assert found.columns == ["run", "day", "qid", "rank", "gain", "discount", "contribution", "judged", "undefined"]
    rows = found.filter(pl.col("run") == "p").select("day", "rank", "contribution").rows()
    assert rows == [("u", 2, 0.5), ("u", 5, 0.0), ("v", 1, 1.0)]


def test_kinds_of_frames(kind: str) -> None:
    """A frame of the caller's kind comes back, its judgments beside it or not."""
    expected = LOG.irm(doc="doc").explain("ap@2", query="a")
    assert as_polars(IRM(as_kind(LOG, kind), doc="doc").explain("ap@2", query="a")).equals(expected)
    run, qrels = LOG.drop("grade"), LOG.drop("score")
    beside = IRM(as_kind(run, kind)).judge(as_kind(qrels, kind)).explain("ap@2", query="a")
    assert as_polars(beside).equals(expected)


def test_a_plan_knows_its_columns() -> None:
    """The declared types are those of the result."""
    plan = LOG.lazy().irm(doc="doc").explain("ndcg@2", query="b")
    assert dict(plan.collect_schema()) == dict(plan.collect().schema)


def test_a_plan_of_systems_knows_its_columns() -> None:
    """The columns of systems and segments are among those that a plan declares."""
    log = LOG.with_columns(run=pl.lit("r"), day=pl.lit(3))
    plan = log.lazy().irm(doc="doc", system="run", by="day").explain("ap", query="a")
    assert list(plan.collect_schema())[:4] == ["run", "day", "query", "doc"]
    assert dict(plan.collect_schema()) == dict(plan.collect().schema)
    assert plan.collect()["contribution"].to_list() == pytest.approx([1 / 2, 0, 2 / 3 / 2])


def test_a_query_of_two_columns() -> None:
    """A query that is two columns is asked for by a value of each."""
    log = LOG.with_columns(day=pl.lit("u"))
    assert len(log.irm(query=["day", "query"]).explain("ap", query=("u", "a"))) == 3
    with pytest.raises(BadValueError, match="query='a' is not a value for each of day, query"):
        log.irm(query=["day", "query"]).explain("ap", query="a")


LESS = pl.DataFrame({"query": ["a", "a"], "doc": ["x", "y"], "score": [1.0, None], "label": [0, 1], "n": [0, 0]})
UNJUDGED = pl.DataFrame({"query": ["a", "u"], "score": [1.0, 1.0], "grade": [1, None]})
REFUSALS = r"""
LOG.irm.explain("ap", query="c")
    BadValueError: query='c': no row of the frame has it
LOG.irm.explain("ap", query=3)
    BadValueError: query: 3 cannot be one of its values, which are text
LOG.irm.explain("roc_auc", query="a")
    NotComputableError: roc_auc: explain() is about the results of a ranking
LOG.irm.explain("ap@1,2", query="a")
    BadValueError: 'ap@1' and 'ap@2' are two metrics; name one
LOG.irm(unjudged="drop").explain("ap", query="a")
    NotComputableError: ap: explain() is about whole rankings, and these are condensed; pass unjudged=None
LOG.rename({"doc": "gain"}).irm(doc="gain").explain("ap", query="a")
    ColumnError: 'gain' is a column of the result as well; rename the frame's column
LOG.irm(collection_size=9).explain("accuracy", query="a")
    NotComputableError: accuracy is 0.777778 where nothing is retrieved;[...]
    but: LOG.irm.explain("ap", query="a")
    but: LOG.irm(collection_size=9).explain("precision@2", query="a")
LESS.irm(n_relevant="n").explain(VALUE, query="a")
    for: "recall@1", "q_measure", "ndcg"
    BadValueError: n: a query lists more relevant documents than it is said to have
    but: LESS.with_columns(n=1).irm(n_relevant="n").explain("recall@1", query="a")
UNJUDGED.irm.explain("rr", query="u")
    BadValueError: query='u': none of its documents is judged
    but: UNJUDGED.irm.explain("rr", query="a")
"""


def test_what_cannot_be_explained() -> None:
    """What is asked of no ranking, or of a query that is not there, is an error."""
    check(REFUSALS, globals())


@pytest.mark.parametrize("query", [date(2024, 1, 1), timedelta(0), 7, datetime(2024, 1, 1, tzinfo=UTC)])
def test_a_query_that_is_no_moment(query: Any) -> None:
    """Of a query that is a moment, another kind of value is an error in the caller's words."""
    log = pl.DataFrame({"query": [datetime(2024, 1, 1)], "score": [1.0], "label": [1]})
    assert log.irm.explain("ap", query=datetime(2024, 1, 1)).height == 1
    with pytest.raises(BadValueError, match=r"query: .* cannot be one of its values, which are Datetime"):
        log.irm.explain("ap", query=query)


def test_other_queries_are_not_looked_at() -> None:
    """What is judged of another query does not keep a query without a relevant document from being explained."""
    run = pl.DataFrame({"query": [1, 1], "doc": ["a", "b"], "score": [2.0, 1.0]})
    qrels = pl.DataFrame({"query": [1, 2], "doc": ["a", "c"], "grade": [0, 1]})
    found = run.irm.judge(qrels).explain("num_rel", query=1)
    assert found["contribution"].to_list() == [0, 0]


QUERIES = {
    "binary": ([b"x", b"y"], b"x", [b"z"], ["x", 3, None]),
    "struct": ([{"a": 1}, {"a": 2}], {"a": 1}, [{"a": 3}], [{"b": 1}, {"a": "x"}, {"a": 1.5}, {}, 1]),
    "list": ([[1], [2]], [1], [[3], []], [[1.5], 1, "x"]),
    "decimal": ([Decimal("1.5"), Decimal("2")], Decimal("1.5"), [Decimal("1.55"), 1], ["x", b"x", None]),
    "number": ([1, 2], 1, [3, 1.5], ["x", b"x", (1,), {"a": 1}, 10**30, None]),
    "text": (["x", "y"], "x", ["z"], [b"x", 3, None]),
}


@pytest.mark.parametrize("kind", ["polars", "lazy", "pyarrow"])
@pytest.mark.parametrize("name", QUERIES)
def test_a_query_of_any_type(name: str, kind: str) -> None:
    """A query is found by a value of its type; another value is absent, or one that the column cannot have."""
    values, one, absent, impossible = QUERIES[name]
    log = as_kind(pl.DataFrame({"query": pl.Series(values), "score": [2.0, 1.0], "label": [1, 1]}), kind)
    found = as_polars(IRM(log).explain("rr", query=one))
    assert found["query"].to_list() == [one]
    assert found["contribution"].to_list() == [1]
    for value in absent:
        assert error(lambda: IRM(log).explain("rr", query=value)) == f"query={value!r}: no row of the frame has it"  # noqa: B023
    for value in impossible:
        said = error(lambda: IRM(log).explain("rr", query=value), BadValueError)  # noqa: B023
        assert said.startswith(f"query: {value!r} cannot be one of its values, which are ")


@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas", "pyarrow"])
def test_a_judged_query_without_results(kind: str) -> None:
    """A judged query that nothing was retrieved for has what was missed, and one that is not judged is an error."""
    run = pl.DataFrame({"query": ["a", "u"], "doc": ["x", "y"], "score": [1.0, 1.0]})
    qrels = pl.DataFrame({"query": ["a", "b", "c"], "doc": ["x", "x", "x"], "grade": [1, 1, 0]})
    judged = IRM(as_kind(run, kind)).judge(as_kind(qrels, kind))
    full, missed, none = (as_polars(judged.explain("recall", query=query)) for query in ("a", "b", "c"))
    assert full["contribution"].to_list() == [1]
    assert missed.rows() == [("b", "x", None, 1, None, 0, True, False)]
    assert none.columns == full.columns
    assert none.is_empty()
    assert error(lambda: judged.explain("recall", query="u")) == "query='u': none of its documents is judged"
    assert error(lambda: judged.explain("recall", query="d")) == (
        "query='d': no row of the frame has it, and no judgment"
    )


# What was missed, and what is not judged


RUN = pl.DataFrame({"query": ["a"] * 4 + ["b"], "doc": [*"xyzwx"], "score": [4.0, 3.0, 2.0, 1.0, 1.0]})
QRELS = pl.DataFrame({"query": ["a"] * 5 + ["b"], "doc": [*"xzmnox"], "grade": [0, 2, 1, 3, 0, 1]})


def of(found: Any, *columns: str) -> list[tuple[Any, ...]]:
    return as_polars(found).select(*(columns or ("doc", "rank", "gain", "contribution", "judged"))).rows()


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_missed_stands_last(kind: str) -> None:
    """Relevant documents past the cutoff have a rank, those not retrieved none; the greatest gain first; they add 0."""
    irm = IRM(as_kind(RUN, kind)).judge(as_kind(QRELS, kind))
    assert of(irm.explain("ndcg@2", query="a")) == [
        ("x", 1, 0, 0, True),
        ("y", 2, 0, 0, False),
        ("z", 3, 2, 0, True),
        ("n", None, 3, 0, True),
        ("m", None, 1, 0, True),
    ]
    found = as_polars(irm.explain("ap", query="a"))
    assert of(found, "doc", "gain", "judged")[2:] == [("z", 1, True), ("w", 0, False), ("m", 1, True), ("n", 1, True)]
    assert found["contribution"].to_list() == pytest.approx([0, 0, 1 / 9, 0, 0, 0])
    assert found["contribution"].sum() == as_polars(irm.per_query("ap"))["value"][0]
    strict = irm(rel=2).explain("ap", query="a")
    assert of(strict, "doc") == [("x",), ("y",), ("z",), ("w",), ("n",)]
    assert as_polars(strict)["contribution"].sum() == as_polars(irm(rel=2).per_query("ap"))["value"][0]


def test_what_was_missed_in_the_log_itself() -> None:
    """Rows without a score are what was missed; with and without a document's name, with ranks, with a label alone."""
    log = pl.DataFrame(
        {
            "query": "a",
            "doc": [*"xyzw"],
            "score": [4.0, None, 2.0, None],
            "rank": [2, None, 5, None],
            "label": [1, 1, None, 0],
        }
    )
    expected = [("x", 1, 1, 1 / 2, True), ("z", 2, 0, 0, False), ("y", None, 1, 0, True)]
    assert of(log.irm(score="score").explain("recall", query="a")) == expected
    assert of(log.irm(score="score", doc=None).explain("recall", query="a"), "rank", "judged") == [
        (1, True),
        (2, False),
        (None, True),
    ]
    assert of(log.irm(rank="rank").explain("recall@2", query="a"), "doc", "rank") == [("x", 2), ("y", None)]


def test_what_was_missed_where_the_value_is_undefined() -> None:
    """Where a metric is undefined nothing adds anything, and no NaN is shown."""
    log = pl.DataFrame({"query": ["a", "a"], "doc": ["x", "y"], "score": [None, None], "label": [0, 1]})
    found = log.irm(undefined="null").explain("precision", query="a")
    assert of(found, "doc", "gain", "contribution") == [("y", 1, None)]


def test_what_a_system_missed() -> None:
    """In each segment a system lacks the relevant documents that the others found there."""
    log = pl.DataFrame(
        {
            "query": ["a"] * 6,
            "day": [1, 1, 1, 1, 2, 2],
            "run": [*"AABBAB"],
            "doc": [*"xyxzvw"],
            "score": [2.0, 1.0, 2.0, 1.0, 1.0, 1.0],
            "grade": [1, 0, 1, 2, 0, 1],
        }
    )
    found = log.irm(system="run", by="day").explain("ndcg", query="a")
    assert of(found, "run", "day", "doc", "rank") == [
        ("A", 1, "x", 1),
        ("A", 1, "y", 2),
        ("A", 1, "z", None),
        ("B", 1, "x", 1),
        ("B", 1, "z", 2),
        ("A", 2, "v", 1),
        ("A", 2, "w", None),
        ("B", 2, "w", 1),
    ]
    judged = log.drop("grade").irm(system="run").judge(log.select("query", "doc", "grade").unique())
    assert of(judged(by="day").explain("ndcg", query="a").filter(run="B", day=2), "doc", "rank") == [
        ("w", 1),
        ("z", None),
        ("x", None),
    ]


def test_missed_documents_are_those_of_the_judgments_where_rows_were_left_out() -> None:
    """A log that lost repeated documents still names the documents of the judgments."""
    twice = pl.concat([RUN, RUN[:1].with_columns(score=9.0)])
    found = twice.irm(duplicates="first").judge(QRELS).explain("recall", query="a")
    assert of(found, "doc") == [("x",), ("y",), ("z",), ("w",), ("m",), ("n",)]
    held = pl.DataFrame({"topic": ["a", "a"], "item": ["z", "n"]})
    beside = RUN.irm.judge(held, query="topic", doc="item", label=True)
    assert of(beside.explain("recall", query="a"), "doc", "judged")[2:] == [("z", True), ("w", False), ("n", True)]


@pytest.mark.parametrize("kind", KINDS)
def test_missed_documents_have_the_type_of_the_log(kind: str) -> None:
    """Ids of a wider type are shown where they fit, and are an error where they do not."""
    run = pl.DataFrame({"query": [1, 1], "doc": pl.Series([1, 2], dtype=pl.Int8), "score": [2.0, 1.0]})
    qrels = pl.DataFrame({"query": [1, 1], "doc": [2, 100], "grade": [1, 1]})
    found = IRM(as_kind(run, kind)).judge(as_kind(qrels, kind)).explain("recall", query=1)
    assert of(found, "doc") == [(1,), (2,), (100,)]
    wide = qrels.with_columns(doc=pl.Series([2, 300]))
    said = error(lambda: IRM(as_kind(run, kind)).judge(as_kind(wide, kind)).explain("recall", query=1), BadValueError)
    assert said == "doc: relevant documents of the judgments do not fit its type, Int8; give both one type"


def test_missed_documents_of_categories() -> None:
    """A category that only the judgments have is one of the result's."""
    run, qrels = RUN.to_pandas(), QRELS.to_pandas()
    found = IRM(run.astype({"doc": "category"})).judge(qrels).explain("recall", query="a")
    assert found["doc"].tolist() == [*"xyzwmn"]
    assert found["doc"].dtype == "category"
    theirs = RUN.with_columns(pl.col("doc").cast(pl.Categorical))
    mine = theirs.irm.judge(QRELS.with_columns(pl.col("doc").cast(pl.Categorical))).explain("recall", query="a")
    assert mine["doc"].dtype == pl.Categorical
    assert of(mine, "doc")[4:] == [("m",), ("n",)]


def test_the_whole_log_says_what_can_be_relevant() -> None:
    """That no grade reaches rel is about the log, and not about one query of it."""
    log = pl.DataFrame({"query": ["a", "b"], "score": [1.0, 1.0], "grade": [1, 3]})
    assert log.irm(rel=2).explain("rr", query="a")["gain"].to_list() == [0]
    assert "no grade in grade reaches rel=4" in error(lambda: log.irm(rel=4).explain("rr", query="a"))


def test_equal_scores_stand_in_the_order_of_their_documents() -> None:
    """Also of documents with equal judgments, which no metric tells apart; the order of the rows changes nothing."""
    log = pl.DataFrame({"query": ["a"] * 3, "doc": ["x", "z", "y"], "score": [1.0] * 3, "grade": [1, 1, 1]})
    for rows in (log, log.reverse()):
        assert rows.irm.explain("ndcg", query="a")["doc"].to_list() == ["z", "y", "x"]


def test_bad_rows_are_those_of_the_frame() -> None:
    """An error about rows names those of the frame, and not those of the query."""
    log = pl.DataFrame({"query": ["a", "b", "b"], "rank": [1, 2, 2], "label": [1, 1, 0]})
    assert error(lambda: log.irm.explain("rr", query="b")).startswith(
        "rank: 1 of 3 rows repeats a rank of its query (row 2)"
    )
    twice = pl.DataFrame({"query": ["a", "b", "b"], "doc": ["x", "y", "y"], "score": [1.0] * 3, "label": [1, 1, 1]})
    assert error(lambda: twice.irm.explain("rr", query="b")).startswith("doc: 1 of 3 rows repeats a document")
    assert twice.irm(duplicates="first").explain("rr", query="b")["doc"].to_list() == ["y"]


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical, pl.Int64])
def test_documents_of_a_log_that_has_no_type_for_them(dtype: Any) -> None:
    """Missed documents that a column without a type cannot show are an error of the package."""
    log = pl.DataFrame({"query": pl.Series([], dtype=pl.String), "doc": [], "score": pl.Series([], dtype=pl.Float64)})
    docs = pl.Series(["1", "2"]).cast(dtype)
    irm = log.irm.judge(pl.DataFrame({"query": ["a", "a"], "doc": docs, "grade": [1, 0]}))
    with pytest.raises(BadValueError, match="do not fit its type, Null"):
        irm.explain("rr", query="a")


@pytest.mark.parametrize("small", [False, True])
def test_several_queries_at_once(small: bool) -> None:
    """A list asks for several queries; each has the rows that it has alone, in the order of the frame."""
    irm = LOG.with_columns(day=pl.lit("u")).irm(doc="doc")
    irm = in_pieces(irm) if small else irm
    alone = [as_polars(irm.explain("ap", query=query)) for query in "ab"]
    both = as_polars(irm.explain("ap", query=["b", "a"]))
    assert_frame_equal(both, pl.concat(alone))
    pairs = irm(query=["day", "query"])
    assert len(as_polars(pairs.explain("ap", query=[("u", "a"), ("u", "b")]))) == len(both)
    with pytest.raises(BadValueError, match="query='z': no row of the frame has it"):
        as_polars(irm.explain("ap", query=["a", "z"]))
    with pytest.raises(BadValueError, match="names no query"):
        irm.explain("ap", query=[])
