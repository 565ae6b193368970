"""Between which values a metric lies, whatever the order of equal scores or the judgments that are missing."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import frame_metrics
from frame_metrics import BadRowsError, BadValueError, ColumnError, FrameMetricsError, NotComputableError, metrics

ORDERED = (
    "precision@2",
    "recall@2",
    "ap",
    "rr@2",
    "ndcg@3",
    "dcg",
    "success@1",
    "rprec",
    "bpref",
    "fdr@2",
    "jaccard@2",
)
OPEN = (
    "precision@2",
    "precision",
    "recall@2",
    "recall",
    "f1@2",
    "ap",
    "ap@2",
    "rr",
    "success@1",
    "rprec",
    "rbp(p=0.5)",
)
OPEN += ("jaccard@2", "num_rel_ret@2", "dcg@2", "ndcg", "ndcg@2", "ndcg(gain='exp')@2", "err(max_grade=2)@2", "cg@2")
TOP = 2
SCHEMA = {"query": pl.Int64, "score": pl.Float64, "grade": pl.Int64}


def column(found: pl.DataFrame, name: str) -> list[Any]:
    return found[name].to_list()


# Equal scores


def test_by_hand_of_ties() -> None:
    """One of two tied documents is relevant, across the cutoff of the first metric and below that of the second."""
    log = pl.DataFrame({"query": [1, 1, 1], "score": [2.0, 1.0, 1.0], "grade": [1, 1, 0]})
    found = log.irm(ties="best").bounds("precision@2", "precision@1", "ap", of="ties")
    assert found.columns == ["metric", "k", "average", "value", "lower", "upper", "tied", "n", "n_undefined"]
    assert column(found, "value") == [1, 1, 1]
    assert column(found, "lower") == pytest.approx([1 / 2, 1, (1 + 2 / 3) / 2])
    assert column(found, "upper") == [1, 1, 1]
    assert column(found, "tied") == [1, 0, 1]


@pytest.mark.parametrize("queries", [50, pytest.param(300, marks=pytest.mark.slow)])
def test_the_bounds_of_ties_are_reached_and_hold_for_every_order(queries: int) -> None:
    """On random queries of up to five results, for every order of equal scores."""
    rng = np.random.default_rng(0)
    logs, orders = [], []
    for query in range(queries):
        n = int(rng.integers(1, 6))
        score, grade = rng.integers(0, 3, n).astype(float), rng.integers(0, 3, n).tolist()
        grade = [0, *(None if g == 0 and rng.random() < 0.3 else g for g in grade[1:])]
        log = pl.DataFrame({"query": [query] * n, "score": score, "grade": grade}, SCHEMA)
        logs.append(log)
        every = [*itertools.permutations(range(n))]
        orders.append(log[np.ravel(every)].with_columns(order=pl.Series(np.repeat(np.arange(len(every)), n))))
    each = pl.concat(orders).irm(query=["query", "order"], ties="order").per_query(*ORDERED)
    ends = each.group_by("query", "metric").agg(least=pl.min("value"), greatest=pl.max("value"))
    found = pl.concat(logs).irm(query="query", ties="order").bounds(*ORDERED, of="ties", per_query=True)
    both = found.join(ends, on=["query", "metric"])
    assert len(both) == len(found) == queries * len(ORDERED)
    assert both["lower"].to_list() == pytest.approx(both["least"].to_list(), abs=1e-12, nan_ok=True)
    assert both["upper"].to_list() == pytest.approx(both["greatest"].to_list(), abs=1e-12, nan_ok=True)
    wide = both.filter(pl.col("lower") < pl.col("upper"))
    assert len(wide) > queries
    assert wide.filter(pl.col("k").is_null())["tied"].all()


def test_the_share_tied_is_of_queries_with_equal_scores_on_both_sides_of_the_cutoff() -> None:
    """The metric's own cutoff; without one, of queries with any equal scores. Rows without a score are no results."""
    log = pl.DataFrame(
        {
            "query": [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4],
            "score": [3.0, 2.0, 2.0, 3.0, 3.0, 1.0, 3.0, None, None, None, None],
            "grade": [1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0],
        }
    )
    found = log.irm(query="query").bounds("precision@1", "precision@2", "precision@3", "ap", of="ties")
    assert column(found, "tied") == [1 / 4, 1 / 4, 0, 1 / 2]
    each = log.irm(query="query").bounds("precision@1", "ap", of="ties", per_query=True)
    assert each.schema["tied"] == pl.Boolean
    assert column(each, "tied") == [False, True, True, True, False, False, False, False]


def test_shown_ranks_leave_nothing_open() -> None:
    """Where a rank orders the results, equal scores are no tie."""
    log = pl.DataFrame({"query": [1, 1], "rank": [1, 2], "score": [1.0, 1.0], "grade": [0, 1]})
    found = log.irm(query="query", rank="rank", score="score").bounds("rr", of="ties")
    assert found.select("value", "lower", "upper", "tied").row(0) == (0.5, 0.5, 0.5, 0)


def test_ties_of_condensed_lists_are_those_of_the_judged_rows() -> None:
    """What is left out stands on no side of a cutoff."""
    log = pl.DataFrame({"query": [1] * 4, "score": [3.0, 2.0, 2.0, 2.0], "grade": [1, None, 1, 0]})
    found = log.irm(query="query", unjudged="drop").bounds("precision@1", "precision@2", of="ties")
    assert column(found, "tied") == [0, 1]
    assert column(found, "lower") == [1, 0.5]
    assert column(found, "upper") == [1, 1]


def test_labels_and_grades_are_bounded_each_by_themselves() -> None:
    """Where a label contradicts its grade, the worst order for what is relevant is not the worst for the gain."""
    log = pl.DataFrame({"query": [1, 1], "score": [1.0, 1.0], "label": [1, 0], "grade": [0, 2]})
    found = log.irm(query="query", label="label", grade="grade").bounds("precision@1", "cg@1", "rr", "idcg", of="ties")
    assert column(found, "lower") == [0, 0, 0.5, 2]
    assert column(found, "upper") == [1, 2, 1, 2]


def test_a_metric_without_bounds_refuses() -> None:
    """What the worst and the best order do not bound is not bounded here."""
    log = pl.DataFrame({"query": [1, 1], "doc": ["a", "b"], "score": [1.0, 1.0], "grade": [0, 1]})
    with pytest.raises(NotComputableError, match="infap is not bounded"):
        log.irm(query="query", doc="doc").bounds("infap", of="ties")


def test_a_metric_that_some_orders_leave_undefined_has_no_bounds() -> None:
    """Or its mean would be over other queries in each order."""
    log = pl.DataFrame({"query": [1, 1, 1], "score": [3.0, 1.0, 1.0], "grade": [1, 1, 0]})
    with pytest.raises(NotComputableError, match="lr_positive@2 is undefined in some orders"):
        log.irm(query="query", collection_size=6).bounds("lr_positive@2", of="ties")


# Unjudged rows


def completions(log: pl.DataFrame, top: int = TOP) -> pl.DataFrame:
    """The log with every judgment of its unjudged documents, one after another, as queries of their own."""
    open_rows = log["grade"].is_null()
    docs = log["doc"].filter(open_rows).unique(maintain_order=True).to_list()
    given = np.array([*itertools.product(range(top + 1), repeat=len(docs))], np.int64)
    grade = np.tile(log["grade"].fill_null(0).to_numpy(), (len(given), 1))
    for doc, one in zip(docs, given.T, strict=True):
        grade[:, (open_rows & (log["doc"] == doc)).to_numpy()] = one[:, None]
    every, query = np.tile(np.arange(len(log)), len(given)), np.repeat(np.arange(len(given)), len(log))
    return log[every].with_columns(query=pl.Series(query), grade=pl.Series(grade.ravel()))


def least_and_greatest(every: Any, keys: list[str]) -> dict[tuple[Any, ...], tuple[float, float]]:
    values = every.per_query(*OPEN).group_by(*keys, "metric").agg(least=pl.min("value"), greatest=pl.max("value"))
    return {tuple(row[:-2]): (row[-2], row[-1]) for row in values.rows()}


def random_rows(rng: np.random.Generator, docs: str) -> pl.DataFrame:
    """Results of one system; some not retrieved, of which the grade is known."""
    n = int(rng.integers(1, len(docs) + 1))
    doc = rng.permutation(list(docs))[:n].tolist()
    score = [None if rng.random() < 0.15 else float(s) for s in rng.permutation(n)]
    grade = [None if s is not None and rng.random() < 0.5 else int(rng.integers(0, TOP + 1)) for s in score]
    schema = {"query": pl.Int64, "doc": pl.String, "score": pl.Float64, "grade": pl.Int64}
    return pl.DataFrame({"query": [0] * n, "doc": doc, "score": score, "grade": grade}, schema)


@pytest.mark.slow
def test_the_bounds_of_unjudged_rows_are_reached_and_hold_for_every_judgment() -> None:
    """On random queries, against each frame with all judgments filled in."""
    rng = np.random.default_rng(0)
    queries, wide = 150, 0
    for _ in range(queries):
        log = random_rows(rng, "abcdef")
        if not log["grade"].drop_nulls().len():
            continue
        found = log.irm(query="query").bounds(*OPEN, of="unjudged", max_grade=TOP, per_query=True)
        plain = log.irm(query="query").per_query(*OPEN)
        assert column(found, "value") == column(plain, "value")
        ends = least_and_greatest(completions(log).irm(query="query"), [])
        for name, lower, upper in found.select("metric", "lower", "upper").rows():
            assert (lower, upper) == pytest.approx(ends[(name,)], abs=1e-9), (name, log)
            wide += lower < upper
    assert wide > 6 * queries


@pytest.mark.slow
def test_systems_share_the_judgments_that_are_missing() -> None:
    """A document that only another system found, once judged relevant, is one that this system missed."""
    rng = np.random.default_rng(1)
    for _ in range(40):
        runs = pl.concat([random_rows(rng, "abcde").with_columns(run=pl.lit(run)) for run in "xy"])
        known = runs.filter(pl.col("grade").is_not_null()).group_by("doc").agg(pl.first("grade"))
        runs = runs.drop("grade").join(known, on="doc", how="left", maintain_order="left")
        runs = runs.filter(pl.col("score").is_not_null() | pl.col("grade").is_not_null())
        if not len(known) or runs["run"].n_unique() < 2 or runs.filter(pl.col("grade").is_null())["doc"].n_unique() > 4:
            continue
        roles: Any = {"query": "query", "doc": "doc", "system": "run"}
        found = runs.irm(**roles).bounds(*OPEN, of="unjudged", max_grade=TOP, per_query=True)
        ends = least_and_greatest(completions(runs).irm(**roles), ["run"])
        for run, name, lower, upper in found.select("run", "metric", "lower", "upper").rows():
            assert (lower, upper) == pytest.approx(ends[run, name], abs=1e-9), (run, name, runs)
        beside = runs.drop("grade").filter(pl.col("score").is_not_null())
        qrels = runs.select("query", "doc", "grade").drop_nulls().unique(maintain_order=True)
        if beside["run"].n_unique() == 2 and set(beside["doc"]) & set(qrels["doc"]):
            judged = beside.irm(query="query", system="run").judge(qrels)
            again = judged.bounds(*OPEN, of="unjudged", max_grade=TOP, per_query=True)
            columns = ["run", "metric", "lower", "upper"]
            assert_frame_equal(again.select(columns), found.select(columns))


def test_labels_leave_their_documents_open_and_grades_theirs() -> None:
    """A metric of what is relevant looks at the label, one of gains at the grade."""
    log = pl.DataFrame({"query": [1] * 3, "score": [3.0, 2.0, 1.0], "label": [None, 1, 0], "grade": [1, None, 0]})
    irm = log.irm(query="query", label="label", grade="grade")
    found = irm.bounds("precision@2", "cg@2", of="unjudged", max_grade=3)
    assert found.select("value", "lower", "upper").rows() == [(0.5, 0.5, 1), (1, 1, 4)]
    alone = log.irm(query="query", label="label").bounds("precision@2", "cg@2", of="unjudged", max_grade=1)
    assert alone.select("value", "lower", "upper").rows() == [(0.5, 0.5, 1), (1, 1, 2)]


@pytest.mark.parametrize("first", [0, 1])
def test_equal_scores_are_ordered_by_document_where_a_grade_is_missing_beside_a_label(first: int) -> None:
    """Whatever the order of the rows: b, of grade 0, stands before a, which has a label and no grade."""
    log = pl.DataFrame(
        {"query": [1] * 3, "doc": [*"abc"], "score": [1, 1, 0], "label": [0, 0, 1], "grade": [None, 0, 1]}
    )[[first, 1 - first, 2]]
    found = log.irm(label="label", grade="grade").bounds("ndcg@1", "err@1", of="unjudged", max_grade=3)
    assert found.select("lower", "upper", "judged").rows() == [(0, 0, 1)] * 2


def test_a_document_with_a_label_and_no_grade_is_open_once() -> None:
    """To metrics of gains, in every system; so is one with a grade and no label to metrics of what is relevant."""
    log = pl.DataFrame(
        {"run": ["A", "B", "B"], "query": [1] * 3, "doc": ["x", "z", "y"], "score": [1.0, 1.0, 0.5]}
    ).with_columns(grade=pl.Series([3, None, 2]), label=pl.Series([1, 1, None]))
    roles: Any = {"query": "query", "doc": "doc", "system": "run", "label": "label", "grade": "grade"}
    asked = ("ndcg", "recall", "ap", "ndcg@1")
    found = log.irm(**roles).bounds(*asked, of="unjudged", max_grade=3, per_query=True)
    every = []
    for i, (grade, label) in enumerate(itertools.product(range(4), range(2))):
        filled = {"grade": pl.col("grade").fill_null(grade), "label": pl.col("label").fill_null(label)}
        every.append(log.with_columns(**filled, query=pl.lit(i)))
    values = pl.concat(every).irm(**roles).per_query(*asked)
    ends = {
        tuple(row[:2]): row[2:]
        for row in values.group_by("run", "metric").agg(least=pl.min("value"), greatest=pl.max("value")).rows()
    }
    for run, name, lower, upper in found.select("run", "metric", "lower", "upper").rows():
        assert (lower, upper) == pytest.approx(ends[run, name]), (run, name)
    assert column(found.filter(metric="ndcg"), "judged") == [1, 0.5]
    assert column(found.filter(metric="recall"), "judged") == [1, 0.5]


def test_a_mapping_of_gains_is_the_scale_up_to_the_highest_grade() -> None:
    """All its grades, or those that max_grade= leaves."""
    log = pl.DataFrame({"query": [1, 1], "score": [2.0, 1.0], "grade": [1, None]})
    asked = ("cg(gain={1: 1, 2: 5, 3: 9})", "ndcg(gain={1: 1, 2: 5, 3: 9})")
    whole = log.irm.bounds(*asked, of="unjudged")
    assert column(whole, "upper") == [10, 1]
    assert column(whole, "lower") == pytest.approx([1, (1 + 9 / np.log2(3)) / (9 + 1 / np.log2(3))])
    assert column(log.irm.bounds(asked[0], of="unjudged", max_grade=2), "upper") == [6]


def test_what_is_judged_stands_beside() -> None:
    """The share of judged results up to the metric's cutoff, of each query and on average."""
    log = pl.DataFrame({"query": [1, 1, 1, 2], "score": [3.0, 2.0, 1.0, 1.0], "grade": [None, 1, None, 0]})
    irm = log.irm(query="query")
    assert column(irm.bounds("rr@2", "rr", of="unjudged"), "judged") == pytest.approx([3 / 4, (1 / 3 + 1) / 2])
    assert column(irm.bounds("rr@1", of="unjudged", per_query=True), "judged") == [0, 1]


def test_rbp_has_its_residual() -> None:
    """Of a list that is so long that nothing beyond it counts, the bounds of rbp are its residual apart."""
    rng = np.random.default_rng(2)
    grade = [None if rng.random() < 0.5 else int(rng.integers(0, 2)) for _ in range(300)]
    log = pl.DataFrame({"query": [1] * 300, "rank": range(1, 301), "grade": grade})
    found = log.irm.bounds("rbp", of="unjudged")
    residual = log.irm.per_query("rbp_residual")["value"].item()
    assert found["upper"].item() - found["lower"].item() == pytest.approx(residual)


def test_a_metric_that_needs_a_scale_has_it_from_the_verb_or_its_own() -> None:
    """max_grade= of the verb is that of err, ncg and rbp too."""
    log = pl.DataFrame({"query": [1, 1], "score": [2.0, 1.0], "grade": [1, None]})
    own = log.irm.bounds("err(max_grade=2)", "ncg(max_grade=2)@2", of="unjudged")
    given = log.irm.bounds("err", "ncg@2", of="unjudged", max_grade=2)
    assert own.drop("metric").equals(given.drop("metric"))
    with pytest.raises(NotComputableError, match="max_grade="):
        log.irm.bounds("ndcg", of="unjudged")
    with pytest.raises(BadValueError, match="max_grade=1, but a grade is 3"):
        log.with_columns(grade=pl.Series([3, None])).irm.bounds("dcg", of="unjudged", max_grade=1)
    with pytest.raises(BadValueError, match="whole number"):
        log.irm.bounds("dcg", of="unjudged", max_grade=1.5)


def test_an_order_that_rests_on_missing_judgments_refuses() -> None:
    """Where an unjudged row ties with another, its judgment would move it; other orders do not."""
    log = pl.DataFrame({"query": [1, 1, 2], "doc": ["a", "b", "a"], "score": [1.0, 1.0, 1.0], "grade": [1, None, 0]})
    for ties in ("worst", "best", "expected"):
        with pytest.raises(BadValueError, match=r"score: 1 of 3 rows has.*doc=.*order"):
            log.irm(query="query", ties=ties).bounds("rr", of="unjudged")
    assert log.irm(query="query", ties="order").bounds("rr", of="unjudged")["lower"].item() == 0.5
    assert log.irm(query="query", doc="doc").bounds("rr", of="unjudged")["lower"].item() == 0.25


@pytest.mark.parametrize(
    ("roles", "asked", "match"),
    [
        ({"unjudged": "drop"}, "rr", "unjudged='drop'"),
        ({"n_relevant": "total"}, "rr", "total counts the relevant documents"),
        ({"undefined": "null"}, "rr", "would then be left out of the mean; pass undefined='zero'"),
        ({"undefined": "one"}, "ap", "would then count as 1; pass undefined='zero'"),
        ({"undefined": "raise"}, "ap", "would then be an error; pass undefined='zero'"),
        ({}, "bpref", "bpref has no bounds"),
        ({}, "infap", "infap has no bounds"),
        ({}, "rr(judged_only=True)", "judged_only"),
        ({"collection_size": 10}, "fallout@1", "fallout@1 has no bounds"),
    ],
)
def test_what_has_no_bounds_says_so(roles: Any, asked: str, match: str) -> None:
    """Before anything is read."""
    log = pl.DataFrame({"query": [1, 1], "score": [2.0, 1.0], "grade": [1, None], "total": [3, 3]})
    with pytest.raises(NotComputableError, match=match):
        log.irm(query="query", **roles).bounds(asked, of="unjudged")


def test_the_row_whose_place_is_open_is_named() -> None:
    """It is the later of the two rows, in the order that the rule gives them."""
    log = pl.DataFrame({"query": [2, 2, 1, 1], "score": [1.0, 2.0, 1.0, 1.0], "grade": [0, 0, 1, None]})
    with pytest.raises(BadValueError, match=r"score: 1 of 4 rows has .* \(row 2\); name doc="):
        log.irm(query="query", ties="worst").bounds("rr", of="unjudged")  # the unjudged row stands first
    with pytest.raises(BadValueError, match=r"score: 1 of 4 rows has .* \(row 3\); name doc="):
        log.irm(query="query", ties="best").bounds("rr", of="unjudged")


def test_systems_without_documents_cannot_share_what_is_missing() -> None:
    """Which rows are the same document has to be known where one system's judgments measure another."""
    log = pl.DataFrame(
        {"query": [1, 1, 1, 1], "run": list("aabb"), "score": [2.0, 1.0, 2.0, 1.0], "grade": [1, 0, None, None]}
    )
    with pytest.raises(NotComputableError, match="doc="):
        log.irm(query="query", system="run").bounds("rr", of="unjudged")


# Both


def test_weights_and_segments_weigh_the_bounds_too() -> None:
    """The mean of the bounds is weighted as the mean of the values is."""
    log = pl.DataFrame({"query": [1, 1, 2, 2], "score": [1.0] * 4, "grade": [1, 0, 0, 0], "w": [3.0, 3.0, 1.0, 1.0]})
    found = log.irm(query="query", weight="w").bounds("precision@1", of="ties")
    assert found.select("average", "value", "lower", "upper", "tied", "n").row(0) == ("weighted", 0, 0, 0.75, 1, 2)


def test_counts_are_summed_and_undefined_queries_are_counted() -> None:
    """As evaluate() does."""
    log = pl.DataFrame({"query": [1, 1, 2, 2], "score": [1.0] * 4, "grade": [1, 0, 0, 0]})
    found = log.irm(query="query").bounds("num_rel_ret@1", "rr", "gm_rr", of="ties")
    assert found.select("average", "lower", "upper", "n_undefined").rows()[:2] == [
        ("sum", 0, 1, 0),
        ("macro", 0.25, 0.5, 1),
    ]
    assert column(found, "average")[2] == "gmean"


def test_an_empty_log_has_no_bounds() -> None:
    """The columns are there."""
    log = pl.DataFrame(schema={"query": pl.Int64, "score": pl.Float64, "grade": pl.Int64})
    for of in ("ties", "unjudged"):
        found = log.irm.bounds("rr", of=of)
        assert found.select("value", "lower", "upper", "n").row(0) == (None, None, None, 0)
        assert log.irm.bounds("rr", of=of, per_query=True).is_empty()


def test_wrong_options_are_refused() -> None:
    """In the caller's words."""
    log = pl.DataFrame({"query": [1], "score": [1.0], "grade": [1], "lower": ["a"]})
    with pytest.raises(FrameMetricsError, match="of='judgments' is not one of 'ties', 'unjudged'"):
        log.irm.bounds("rr", of="judgments")  # type: ignore[arg-type]
    with pytest.raises(NotComputableError, match="of='unjudged'"):
        log.irm.bounds("rr", of="ties", max_grade=3)
    with pytest.raises(ColumnError, match="'lower' is a column of the result"):
        log.irm(by="lower").bounds("rr", of="ties")
    assert frame_metrics.IRM(log).bounds(metrics.rr @ 3, of="ties")["k"].item() == 3


@pytest.mark.parametrize("more", [{}, {"doc": "doc", "duplicates": "first"}])
def test_rows_in_an_error_are_those_of_the_frame(more: dict[str, Any]) -> None:
    """Where queries alternate, or repeated documents are left out, the row that is named is one of those that tie."""
    log = pl.DataFrame({"query": [2, 1, 2, 1], "score": [2.0, 1.0, 1.0, 1.0], "grade": [0, 1, 0, None]})
    if more:
        log = pl.concat([log, log.head(1)]).with_columns(doc=pl.Series([*"abcda"])).select(pl.all().reverse())
    row = 3 if more else 1
    with pytest.raises(BadRowsError, match=rf"^score: 1 of {len(log)} rows has .* \(row {row}\)") as error:
        log.irm(ties="worst", **more).bounds("precision@1", of="unjudged")
    assert list(error.value.rows) == [row]
