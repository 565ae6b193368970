"""The order of results: equal scores, and scores that are nearly equal."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frame_metrics import ColumnError, FrameMetricsError, Metric, NotComputableError, metrics
from frame_metrics.testing import check_metric
from helpers import examples, frame
from inside import REGISTRY, FullConfusion, FullRanking

RULES = ("doc", "worst", "best", "order")
REGISTERED = [
    metric(**dict.fromkeys(metric.missing, 0.5), **({"max_grade": 4} if "max_grade" in metric.options else {}))
    for metric in REGISTRY.values()
    if metric.input in (FullRanking, FullConfusion) and metric.judges and not (metric.off_policy or metric.of_subtopics)
]
CUT = [metric @ 2 for metric in REGISTERED if metric.at == "k"]
BOUNDED = [metric for metric in [*REGISTERED, *CUT] if metric.bounded]
BOUNDED += [metric(gain="exp") for metric in BOUNDED if "gain" in metric.options]


def rr(docs: Sequence[Any], relevant: Any, dtype: Any = None, **roles: Any) -> float:
    """The reciprocal rank of one relevant document among others of the same score."""
    doc = pl.Series(docs, dtype=dtype)
    log = pl.DataFrame({"doc": doc, "score": [1.0] * len(docs), "grade": [int(d == relevant) for d in docs]})
    found = log.with_columns(query=pl.lit(1)).irm(doc="doc", **roles).per_query("rr")["value"].item()
    assert isinstance(found, float)
    return found


# The rules


def one_tie() -> pl.DataFrame:
    """Two relevant documents, of grades 1 and 2, one that is not relevant and one unjudged, all of one score."""
    return pl.DataFrame({"query": 4 * [1], "doc": ["c", "d", "a", "b"], "score": 4 * [1.0], "grade": [1, None, 2, 0]})


@pytest.mark.parametrize(
    ("ties", "order"),
    [("doc", [None, 1, 0, 2]), ("worst", [0, None, 1, 2]), ("best", [2, 1, 0, None]), ("order", [1, None, 2, 0])],
)
def test_each_rule_orders_equal_scores_in_its_way(ties: str, order: list[int | None]) -> None:
    """By document from the last to the first, worst or best judgment first, or as in the frame."""
    asked = ["dcg", "rr", "dcg@2", "dcg@3", "bpref"] + (["judged@1", "judged@2"] if ties in ("doc", "order") else [])
    ranked = pl.DataFrame({"query": 4 * [1], "rank": [1, 2, 3, 4], "grade": order})
    found = one_tie().irm(doc="doc", ties=ties).per_query(*asked)["value"]
    assert found.to_list() == ranked.irm.per_query(*asked)["value"].to_list()


def test_the_default_is_by_document_where_it_is_played_and_the_worst_otherwise() -> None:
    """A `doc` chooses trec_eval's order; without it nothing is flattered."""
    log = one_tie()
    asked = ("dcg", "ap", "rr")
    assert log.irm.per_query(*asked).equals(log.irm(doc="doc", ties="doc").per_query(*asked))
    assert log.irm(doc=None).per_query(*asked).equals(log.irm(ties="worst").per_query(*asked))
    assert log.irm.per_query("dcg")["value"].item() != log.irm(doc=None).per_query("dcg")["value"].item()


def test_ties_by_document_need_the_document() -> None:
    """`ties="doc"` without a document is an error that says so."""
    with pytest.raises(ColumnError, match="doc="):
        one_tie().irm(ties="doc", doc=None).evaluate("rr")


def test_only_equal_scores_are_ordered_by_the_rule() -> None:
    """Rows of different scores stay where their scores put them, whatever the rule."""
    log = pl.DataFrame({"query": 4 * [1], "doc": list("abcd"), "score": [4.0, 3.0, 3.0, 1.0], "grade": [0, 0, 1, 1]})
    found = {ties: log.irm(doc="doc", ties=ties).per_query("rr")["value"].item() for ties in RULES}
    assert found == {"doc": 1 / 2, "worst": 1 / 3, "best": 1 / 2, "order": 1 / 3}


def test_equal_scores_of_different_queries_are_no_tie() -> None:
    """The last score of a query may equal the first of the next one."""
    log = pl.DataFrame({"query": [1, 1, 2, 2], "score": [2.0, 1.0, 1.0, 0.0], "grade": [0, 1, 0, 1]})
    for ties in ("worst", "best", "order"):
        assert log.irm(ties=ties).per_query("rr", "infap")["value"].to_list()[::2] == [0.5, 0.5]


@pytest.mark.parametrize("ties", ["worst", "best"])
@pytest.mark.parametrize("metric", [m for m in [*REGISTERED, *CUT] if not m.bounded], ids=str)
def test_a_metric_without_bounds_refuses_the_worst_and_the_best_order(metric: Metric, ties: str) -> None:
    """Where a metric is not monotone and a tie could change it, the worst order is refused, and a way out named."""
    log = one_tie().irm(ties=ties, collection_size=10, doc=None)
    with pytest.raises(NotComputableError, match=rf"{metric.name}.*doc=.*order"):
        log.per_query(metric)
    log(ties="order").per_query(metric)
    log(ties="doc", doc="doc").per_query(metric)


@pytest.mark.parametrize("ties", ["worst", "best", "expected"])
def test_a_divisor_that_the_order_changes_has_no_bounds(ties: Any) -> None:
    """Average precision over what was found falls if a relevant document moves up into the first k, so it refuses."""
    rows = {"query": 4 * [1], "score": [4.0, 3.0, 2.0, 1.0]}
    worse, better = (pl.DataFrame(rows | {"grade": grades}).irm for grades in ([1, 0, 0, 1], [1, 0, 1, 0]))
    values = [irm.per_query("ap(norm='found')@3")["value"].item() for irm in (worse, better)]
    assert values == [1, pytest.approx((1 + 2 / 3) / 2)]
    tied = pl.DataFrame({"query": 3 * [1], "score": [2.0, 1.0, 1.0], "grade": [1, 0, 1], "doc": [*"abc"]})
    with pytest.raises(NotComputableError, match=r"ap\(norm='found'\)@2.*doc=.*order"):
        tied.irm(doc=None, ties=ties).per_query("ap(norm='found')@2")
    assert tied.irm(ties="doc").per_query("ap(norm='found')@2")["value"].to_list() == [1]
    with pytest.raises(NotComputableError, match=r"has no bounds of unjudged rows"):
        tied.irm.bounds("ap(norm='found')", of="unjudged")


@pytest.mark.parametrize("k", [None, 1, 2])
def test_average_precision_over_what_was_found_keeps_its_laws(k: int | None) -> None:
    """It is 0 where nothing relevant was found, undefined where nothing is relevant, and 1 at best."""
    own = metrics.ap(norm="found") if k is None else metrics.ap(norm="found") @ k
    check_metric(own)
    log = pl.DataFrame({"query": [1, 1, 2, 3], "score": [2.0, None, 1.0, 1.0], "grade": [0, 1, 0, 1]})
    found = log.irm(undefined="null").per_query(own)
    assert found.select("value", "undefined").rows() == [(0, False), (None, True), (1, False)]


def test_a_tie_that_changes_nothing_is_not_refused() -> None:
    """Tied rows with equal judgments may stand in any order."""
    log = pl.DataFrame({"query": 3 * [1], "score": [2.0, 2.0, 1.0], "grade": [0, 0, 1]})
    assert log.irm(ties="worst").per_query("judged@2", "infap")["value"].to_list()[0] == 1


# Documents as text


def test_integer_ids_are_compared_as_text() -> None:
    """9 stands before 10 because "9" is the greater text."""
    assert rr([9, 10], 9) == 1
    assert rr([9, 10], 10) == 1 / 2
    assert rr([100, 11, 2], 100) == 1 / 3
    assert rr([-1, 1], 1) == 1


@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt64, pl.String, pl.Categorical])
def test_the_type_of_the_ids_does_not_matter(dtype: Any) -> None:
    """Integers of any width and categories are ordered as their text is."""
    ids: list[Any] = [9, 10, 100, 99, 1]
    if dtype in (pl.String, pl.Categorical):
        ids = [str(i) for i in ids]
    ranks = [round(1 / rr(ids, doc, dtype)) for doc in ids]
    assert ranks == [2, 4, 3, 1, 5]


def test_an_enum_is_ordered_by_its_text_and_not_by_its_levels() -> None:
    """The order in which categories were declared means nothing."""
    assert rr(["a", "b"], "b", pl.Enum(["b", "a"])) == 1
    assert rr(["a", "b"], "b", pl.Enum(["a", "b"])) == 1


@pytest.mark.parametrize(
    ("higher", "lower"),
    [
        ("é", "z"),
        ("a", "Z"),
        ("ab", "a"),
        ("a b", "a\tb"),
        ("\U0001f600", "\ufffd"),
        ("é", "e\u0301"),
        ("ß", "ss"),
        ("b", "a\u00ff"),
        ("a", ""),
    ],
)
def test_text_is_compared_byte_by_byte(higher: str, lower: str) -> None:
    """The order is that of the bytes in UTF-8, of no language and no case."""
    assert higher.encode() > lower.encode()
    assert rr([lower, higher], higher) == rr([higher, lower], higher) == 1
    assert rr([lower, higher], lower) == rr([higher, lower], lower) == 1 / 2


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=4), min_size=1, max_size=8, unique=True))
@examples(60)
def test_documents_fall_by_their_bytes(docs: list[str]) -> None:
    """Equal scores are ordered by the bytes of their documents, descending."""
    ordered = sorted(docs, key=str.encode, reverse=True)
    rows = [(query, doc, 1.0, int(doc == wanted)) for query, wanted in enumerate(ordered) for doc in docs]
    found = frame("query doc score label", *rows).irm.per_query("rr")["value"].to_list()
    assert found == [1 / rank for rank in range(1, len(docs) + 1)]


# Bounds


def tied_logs(n: int, levels: int) -> pl.DataFrame:
    """Rankings of 6 rows with few different scores; some not retrieved, some unjudged."""
    random = np.random.default_rng(levels)
    grade = random.choice([0.0, 0, 1, 1, 2, 4], (n, 6))
    grade[random.random((n, 6)) < 0.1] = np.nan
    score = random.integers(0, levels, (n, 6)).astype(float)
    score[(random.random((n, 6)) < 0.15) & ~np.isnan(grade)] = np.nan
    frame = pl.DataFrame({"query": np.repeat(np.arange(n), 6), "score": score.ravel(), "grade": grade.ravel()})
    docs = np.concatenate([random.permutation(6) for _ in range(n)])
    return frame.fill_nan(None).with_columns(pl.Series("doc", docs))


@pytest.mark.parametrize("levels", [1, 2, 4])
def test_the_worst_and_the_best_order_bound_every_other_order(levels: int) -> None:
    """No order of the tied rows gives a monotone metric less than the worst order or more than the best."""
    log = tied_logs(400, levels)
    roles: dict[str, Any] = {"doc": "doc", "collection_size": 50, "undefined": "null"}
    found = {ties: log.irm(ties=ties, **roles).per_query(*BOUNDED, layout="wide").drop("answered") for ties in RULES}
    wrong = set()
    for metric in BOUNDED:
        sign = -1 if metric.higher is False else 1
        low, high, *others = (sign * found[ties][str(metric)] for ties in ("worst", "best", "doc", "order"))
        if any(
            ((other - low).drop_nulls() < -1e-9).any() or ((high - other).drop_nulls() < -1e-9).any()
            for other in others
        ):
            wrong.add(str(metric))
    assert wrong == set()
    assert (found["worst"]["ap"] < found["best"]["ap"] - 0.1).any()


def test_the_worst_and_the_best_order_are_those_of_all_orders() -> None:
    """Among all orders of the tied rows, the worst gives the least value and the best the greatest."""
    random = np.random.default_rng(3)
    asked = [metrics.ap, metrics.ndcg, metrics.rr, metrics.bpref, metrics.rprec, metrics.ndcg @ 2, metrics.rbp]
    for _ in range(12):
        score = np.sort(random.integers(0, 3, 6))[::-1]
        grade = random.choice([0, 0, 1, 2], 6)
        groups = [grade[score == s] for s in np.unique(score)[::-1]]
        orders = {
            tuple(itertools.chain(*one)) for one in itertools.product(*(itertools.permutations(g) for g in groups))
        }
        each = pl.DataFrame(
            {
                "query": np.repeat(np.arange(len(orders)), 6),
                "rank": np.tile(np.arange(1, 7), len(orders)),
                "grade": np.array(sorted(orders)).ravel(),
            }
        ).irm.per_query(*asked, layout="wide")
        log = pl.DataFrame({"query": 6 * [0], "score": score, "grade": grade})
        worst, best = (
            log.irm(ties=ties).per_query(*asked, layout="wide").drop("answered") for ties in ("worst", "best")
        )
        for metric in map(str, asked):
            assert worst[metric].item() == pytest.approx(each[metric].min())
            assert best[metric].item() == pytest.approx(each[metric].max())


def test_a_constant_scorer_does_not_look_perfect() -> None:
    """A scorer that gives every document the same score gains nothing from rows with the relevant ones first."""
    log = pl.DataFrame({"query": np.repeat(np.arange(20), 5), "score": 100 * [0.5], "grade": 20 * [1, 1, 0, 0, 0]})
    means = log.irm.evaluate("rr@10", "ndcg@10", "ap", "precision@1", "precision@3", "success@1")["value"].to_list()
    ndcg = (1 / math.log2(5) + 1 / math.log2(6)) / (1 + 1 / math.log2(3))
    assert means == pytest.approx([1 / 4, ndcg, (1 / 4 + 2 / 5) / 2, 0, 0, 0])


# Exact sorting


def ranks_of(scores: Sequence[float], dtype: Any = pl.Float64) -> list[int]:
    """The rank that each row is given, ties by the frame's order."""
    n = len(scores)
    queries = np.repeat(np.arange(n), n)
    log = pl.DataFrame(
        {
            "query": queries,
            "score": pl.Series(list(scores) * n, dtype=dtype),
            "grade": np.eye(n, dtype=np.int64).ravel(),
        }
    )
    return [round(1 / value) for value in log.irm(ties="order").per_query("rr")["value"]]


TINY = 5e-324
NEAR = [
    pytest.param([1.0, np.nextafter(1.0, 2), np.nextafter(1.0, 0)], [2, 1, 3], id="the last bit"),
    pytest.param([0.3, 0.1 + 0.2, 0.3], [2, 1, 3], id="a sum and its decimal"),
    pytest.param([0.5, 0.5 + 1e-9, 0.5], [2, 1, 3], id="equal as float32"),
    pytest.param([-0.0, 0.0, -0.0], [1, 2, 3], id="both zeros tie"),
    pytest.param([0.0, TINY, -TINY, -0.0], [2, 1, 4, 3], id="denormals"),
    pytest.param([1e-310, 1.1e-310, 2.3e-308], [3, 2, 1], id="more denormals"),
    pytest.param([1e308, 1.7976931348623157e308, -1.7976931348623157e308], [2, 1, 3], id="huge"),
    pytest.param([-1.0, np.nextafter(-1.0, 0), np.nextafter(-1.0, -2)], [2, 1, 3], id="negative, the last bit"),
    pytest.param([1e16, 1e16 + 2, 1e-16, -1e16], [2, 1, 3, 4], id="all magnitudes"),
]


@pytest.mark.parametrize(("scores", "ranks"), NEAR)
@pytest.mark.parametrize("rows", [0, 100, 3000])
def test_scores_are_told_apart_to_the_last_bit(scores: list[float], ranks: list[int], rows: int) -> None:
    """The order is that of the full float64, in short rankings and in long ones."""
    assert ranks_of(scores) == ranks
    if rows:
        below = min(scores) - abs(min(scores)) * np.linspace(0.5, 0.9, rows) - 1 if min(scores) > -1e308 else []
        log = pl.DataFrame({"score": [*scores, *below]}).with_columns(query=pl.lit(1), grade=pl.lit(0))
        for row, rank in enumerate(ranks):
            one = log.with_row_index("row").with_columns(grade=(pl.col("row") == row).cast(pl.Int8))
            assert one.irm(ties="order").per_query("rr")["value"].item() == 1 / rank


@pytest.mark.parametrize(
    ("dtype", "scores", "ranks"),
    [
        (pl.Int64, [2**53, 2**53 - 1, -(2**53), 0], [1, 2, 4, 3]),
        (pl.Int8, [-128, 127, 0, 0], [4, 1, 2, 3]),
        (pl.UInt64, [0, 3, 2**53], [3, 2, 1]),
        (pl.UInt8, [0, 255, 254], [3, 1, 2]),
        (pl.Float32, [0.5, float(np.nextafter(np.float32(0.5), np.float32(1))), 0.5], [2, 1, 3]),
        (pl.Float32, [1e-45, 0.0, -1e-45], [1, 2, 3]),
        (pl.Boolean, [False, True, False], [2, 1, 3]),
    ],
)
def test_scores_of_any_numeric_type_are_ordered_exactly(dtype: Any, scores: list[Any], ranks: list[int]) -> None:
    """Integers, float32 and booleans are scores too."""
    assert ranks_of(scores, dtype) == ranks


finite = st.floats(allow_nan=False, allow_infinity=False)
close = st.integers(-40, 40).map(lambda i: 1.0 + i * 2.0**-52)


@given(st.lists(st.one_of(finite, close, st.sampled_from([0.0, -0.0, TINY])), min_size=1, max_size=25))
@examples(80)
def test_the_order_is_that_of_a_stable_sort(scores: list[float]) -> None:
    """Ranks are those that Python's stable sort gives, equal scores as in the frame."""
    order = sorted(range(len(scores)), key=lambda i: -scores[i])
    expected = {row: rank for rank, row in enumerate(order, start=1)}
    assert ranks_of(scores) == [expected[row] for row in range(len(scores))]


def test_what_was_not_retrieved_stands_below_the_least_score() -> None:
    """A null score is below every number, the least float included, and has no rank."""
    least = -1.7976931348623157e308
    log = pl.DataFrame({"query": [1, 1, 1], "score": [None, least, 0.0], "grade": [1, 1, 0]})
    assert log.irm.per_query("rr", "num_ret", "recall")["value"].to_list() == [0.5, 2, 0.5]


def test_every_query_may_hold_documents_that_were_not_retrieved() -> None:
    """Null scores are counted in each query: the first, the last and the only one."""
    for queries in (1, 2, 5):
        log = pl.DataFrame(
            {
                "query": np.repeat(np.arange(queries), 3),
                "score": queries * [2.0, 1.0, None],
                "grade": queries * [0, 1, 1],
            }
        )
        found = log.irm.per_query("num_ret", "recall", "ap")["value"].to_list()
        assert found == queries * [2, 1 / 2, 1 / 4]


# Long and ragged rankings


def plain(score: np.ndarray, grade: np.ndarray, k: int) -> list[float]:
    """ap, rr and ndcg@k of one ranking without ties, in plain numpy."""
    ranked = grade[np.argsort(-score, kind="stable")]
    hits = np.flatnonzero(ranked >= 1) + 1
    ap = (np.arange(1, len(hits) + 1) / hits).sum() / len(hits)
    discount = np.log2(np.arange(2, k + 2))
    ideal = (np.sort(grade)[::-1][:k] / discount[: len(grade)][:k]).sum()
    return [ap, 1 / hits[0], (ranked[:k] / discount[: len(ranked)][:k]).sum() / ideal]


@pytest.mark.parametrize("length", [65_535, 65_536, 65_537, 150_000])
def test_a_ranking_of_many_rows_is_sorted_like_a_short_one(length: int) -> None:
    """Past 65,536 rows another sort is used; its values are those of plain numpy."""
    random = np.random.default_rng(length)
    score, grade = random.permutation(length) / 7, (random.random(length) < 0.01) * random.integers(1, 4, length)
    log = pl.DataFrame({"query": np.ones(length, int), "score": score, "grade": grade})
    assert log.irm.per_query("ap", "rr", "ndcg@1000")["value"].to_list() == pytest.approx(plain(score, grade, 1000))


@pytest.mark.parametrize("ties", RULES)
def test_ties_of_a_long_ranking_are_ordered_by_the_rule(ties: str) -> None:
    """Past 65,536 rows, equal scores follow the rule as well."""
    n = 70_000
    random = np.random.default_rng(1)
    score, grade, doc = random.integers(0, 50, n), random.choice([0, 0, 0, 1, 2], n), random.permutation(n).astype(str)
    second = {
        "doc": -pl.Series(doc).rank("dense").to_numpy().astype(int),
        "worst": grade,
        "best": -grade,
        "order": np.arange(n),
    }[ties]
    order = np.lexsort((second, -score))
    log = pl.DataFrame({"query": np.ones(n, int), "score": score, "grade": grade, "doc": doc})
    expected = plain(-np.arange(n), grade[order], 100)
    assert log.irm(doc="doc", ties=ties).per_query("ap", "rr", "ndcg@100")["value"].to_list() == pytest.approx(expected)


def test_long_and_short_rankings_stand_side_by_side() -> None:
    """Rankings of very different lengths, from 1 row to 80,000, each have the values of plain numpy."""
    random = np.random.default_rng(5)
    lengths = [*(random.pareto(0.9, 300) * 3 + 1).astype(int).clip(1, 5000), 80_000, 1, 2]
    parts, expected = [], []
    for query, n in enumerate(lengths):
        score, grade = random.permutation(int(n)).astype(float), random.choice([0, 0, 1, 2], n)
        grade[random.integers(n)] = 1
        expected += plain(score, grade, 10)
        parts.append(pl.DataFrame({"query": np.full(n, query), "score": score, "grade": grade}))
    log = pl.concat(parts)
    for one in (log, log.sample(fraction=1, shuffle=True, seed=0)):
        found = one.irm.per_query("ap", "rr", "ndcg@10", layout="wide").drop("answered").sort("query")
        assert found.drop("query").to_numpy().ravel() == pytest.approx(expected)


# Against a plain reference


def reference(rows: list[tuple[str, float | None, int | None]], k: int) -> dict[str, float]:
    """ndcg, ap, rr and their cutoffs as their definitions say, one document at a time, ties by document."""
    shown = [row for row in rows if row[1] is not None]
    ranked = sorted(shown, key=lambda row: row[0].encode(), reverse=True)
    ranked.sort(key=lambda row: -(row[1] or 0.0))
    gains = [max(grade or 0, 0) for _, _, grade in ranked]
    ideal = sorted((max(grade or 0, 0) for _, _, grade in rows), reverse=True)
    relevant = sum(gain >= 1 for gain in ideal)
    found = {}
    for cut, at in ((len(rows), ""), (k, f"@{k}")):
        dcg, best = (sum(g / math.log2(r + 1) for r, g in enumerate(some[:cut], 1)) for some in (gains, ideal))
        found["ndcg" + at] = dcg / best if best else 0.0
        hits, ap, rr = 0, 0.0, 0.0
        for rank, gain in enumerate(gains[:cut], 1):
            if gain >= 1:
                hits += 1
                ap += hits / rank
                rr = rr or 1 / rank
        found["ap" + at] = ap / relevant if relevant else 0.0
        found["rr" + at] = rr
    return found


row = st.tuples(st.one_of(st.integers(0, 3).map(float), st.none()), st.sampled_from([None, -1, 0, 0, 1, 2, 5])).filter(
    lambda pair: pair != (None, None)
)


@pytest.mark.slow
@given(st.lists(st.lists(row, min_size=1, max_size=9), min_size=1, max_size=4), st.randoms(use_true_random=False))
@examples(150)
def test_values_are_those_of_the_definitions(queries: list[list[tuple[Any, Any]]], random: Any) -> None:
    """ndcg, ap and rr, whole and at 3, equal a reference that ranks one document at a time."""
    rows, expected = [], {}
    for query, pairs in enumerate(queries):
        docs = random.sample([str(i) for i in range(30)], len(pairs))
        own = [(doc, score, grade) for doc, (score, grade) in zip(docs, pairs, strict=True)]
        rows += [(query, *one) for one in own]
        if any(grade is not None for _, _, grade in own):
            expected[query] = reference(own, 3)
    random.shuffle(rows)
    schema = {"query": pl.Int64, "doc": pl.String, "score": pl.Float64, "grade": pl.Int64}
    log = pl.DataFrame(rows, schema=schema, orient="row")
    names = ["ndcg", "ap", "rr", "ndcg@3", "ap@3", "rr@3"]
    found = log.irm(doc="doc").per_query(*names, layout="wide").drop("answered")
    assert sorted(found["query"]) == sorted(expected)
    for line in found.iter_rows(named=True):
        assert [line[name] for name in names] == pytest.approx([expected[line["query"]][name] for name in names])


def test_documents_without_text_are_refused_in_ties() -> None:
    """Ids that have no text cannot order equal scores, and the error says what can."""
    log = pl.DataFrame({"query": [1, 1], "doc": [b"\xff", b"\xfe"], "score": [1.0, 1.0], "grade": [1, 0]})
    with pytest.raises(FrameMetricsError, match=r"have no text to order equal scores by; pass ties='worst' or 'order'"):
        log.irm(doc="doc").evaluate("rr")
    assert log.irm(doc="doc", ties="worst").evaluate("rr")["value"].to_list() == [0.5]
