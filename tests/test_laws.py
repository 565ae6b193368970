"""Laws that hold for every metric because it is in the registry, and laws between metrics."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frame_metrics import IRM, blocks, judgments, metrics
from frame_metrics.errors import NotComputableError
from frame_metrics.metric import REGISTRY, Metric
from frame_metrics.names import read_text

TOP = 4  # the highest grade of the logs below
CUTOFFS = (1, 3, 25)  # 25 is past the end of every ranking of the logs below
VALUES: dict[str, list[Any]] = {
    "gain": ["exp", {-1: 0, 0: 0, 1: 1, 2: 3, 3: 3.5, 4: 10}],
    "discount": ["jk"],
    "base": [10.0],
    "norm": ["min(k, R)"],
    "p": [0.5],
    "beta": [0.5, math.inf],
    "recall": [0.0, 1.0],
    "multiple": [2.0],
    "max_grade": [],
    "tp": [2.0],
    "fp": [-0.5],
    "fn": [-1.0],
    "tn": [1.0],
}


def ready(metric: Metric) -> Metric:
    """A metric with what it cannot do without."""
    needed: dict[str, Any] = dict.fromkeys(metric.missing, 0.5)
    return metric(**needed, **({"max_grade": TOP} if "max_grade" in metric.options else {}))


def variants() -> Iterator[Metric]:
    """Every metric, with each of its options and with cutoffs."""
    for metric in map(ready, REGISTRY.values()):
        yield metric
        for name in metric.options:
            yield from (metric(**{name: value}) for value in VALUES[name])
        yield from (metric @ k for k in (CUTOFFS if metric.at == "k" else ()))


ALL = list(variants())
EACH = pytest.mark.parametrize("metric", ALL, ids=str)
REGISTERED = pytest.mark.parametrize("metric", REGISTRY.values(), ids=str)


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
    "ranks with gaps": {"rank": "rank", "grade": "grade"},
    "relevant from 2": {"score": "score", "grade": "grade", "rel": 2},
    "judgments beside": {"score": "score"},
}
KINDS = pytest.mark.parametrize("kind", ROLES)


def irm(log: pl.DataFrame, kind: str, **more: Any) -> IRM[pl.DataFrame]:
    """A log with its roles; in one kind its judgments and a tenth of other ones are kept beside it."""
    roles = {"query": "query", "doc": "doc", "collection_size": 100, **ROLES[kind], **more}
    if kind != "judgments beside":
        return log.irm(**roles)
    beside = log.select("query", "doc", "grade").drop_nulls().sort("query", "doc")
    extra = beside.unique("query", keep="first", maintain_order=True).with_columns(doc=pl.lit("elsewhere"))
    return log.drop("grade").drop_nulls("score").irm(**roles).judge(pl.concat([beside, extra]))


def wide(of: IRM[pl.DataFrame], asked: list[Metric], **options: Any) -> pl.DataFrame:
    return of.per_query(*asked, layout="wide", **options).sort("query")


# The registry


def test_a_new_option_is_given_a_value_here() -> None:
    """Every option of every metric takes part in the laws below."""
    assert {name for metric in REGISTRY.values() for name in metric.options} <= set(VALUES)


@REGISTERED
def test_every_docstring_has_a_definition_a_formula_and_when_it_is_undefined(metric: Metric) -> None:
    """A metric's page has a sentence that defines it, `Formula:`, `Undefined:` and, with options, `Parameters:`."""
    lines = metric.doc.splitlines()
    assert lines[0].endswith(".")
    assert lines[1] == ""
    starts = [found[1] for line in lines if (found := re.match(r"([A-Z]\w+): \S", line))]
    assert {"Formula", "Undefined"} <= set(starts)
    assert ("Parameters" in starts) == bool(metric.options)
    assert len(starts) == len(set(starts))


@REGISTERED
def test_the_page_of_a_metric_says_what_every_option_is(metric: Metric) -> None:
    """The `Parameters:` line names each option, or the metric where it is explained."""
    text = metric.doc.partition("Parameters:")[2].partition("\n\n")[0]
    if not text.strip().startswith("as in"):
        assert [name for name in metric.options if not re.search(rf"\b{name}\b", text)] == []


def test_no_name_means_two_metrics() -> None:
    """No alias is taken twice, and none is another metric's name."""
    taken = [alias for metric in REGISTRY.values() for alias in (metric.name, *metric.also)]
    assert len(taken) == len(set(taken))
    assert [name for name in taken if name != name.lower()] == []


@REGISTERED
def test_every_alias_reads_in_any_case(metric: Metric) -> None:
    """Every name and alias reads as its metric, in capitals too."""
    for alias in (metric.name, *metric.also):
        for text in (alias, alias.upper(), alias.title()):
            if text not in ("G", "Accuracy"):  # these mean two things
                assert read_text(text) == ((text, metric),)


@REGISTERED
def test_every_metric_is_a_value_of_the_module(metric: Metric) -> None:
    """`frame_metrics.metrics` has every registered metric under its name."""
    assert getattr(metrics, metric.name) is metric


@EACH
def test_the_printed_name_reads_back(metric: Metric) -> None:
    """The text of a metric reads back to an equal metric that computes the same."""
    geometric = [] if metric.summed else [replace(metric, average="gmean")]  # counts are summed
    for one in (metric, metric(rel=2), metric(judged_only=True), *geometric):
        text = str(one)
        ((name, other),) = read_text(text)
        assert name == text
        assert other == one
        assert hash(other) == hash(one)
        assert (dict(other.params), other.cutoff, other.average) == (dict(one.params), one.cutoff, one.average)


# Values


@KINDS
def test_values_are_in_the_declared_range(kind: str) -> None:
    """No value is outside of the range that its metric declares, and none is NaN."""
    found = wide(irm(made_log(), kind, undefined="null"), ALL)
    for metric in ALL:
        values = found[str(metric)].drop_nulls()
        low, high = metric.range
        assert len(values), metric
        assert values.is_between(low - 1e-12, high + 1e-12).all(), metric


@KINDS
def test_row_order_does_not_matter(kind: str) -> None:
    """Shuffled rows give the same values to the last bit, equal scores ordered by document."""
    log = made_log()
    expected = wide(irm(log, kind), ALL)
    for seed in range(3):
        shuffled = log.sample(fraction=1, shuffle=True, seed=seed)
        assert wide(irm(shuffled, kind), ALL).equals(expected)


def test_row_order_does_not_matter_without_documents() -> None:
    """Shuffled rows give the same values where equal scores are ordered by the worst case."""
    bounded = [metric for metric in ALL if metric.bounded]
    log = made_log().drop("doc")
    expected = wide(log.irm(collection_size=100, score="score"), bounded)
    for seed in range(3):
        shuffled = log.sample(fraction=1, shuffle=True, seed=seed)
        assert wide(shuffled.irm(collection_size=100, score="score"), bounded).equals(expected)


def test_rows_of_a_query_need_not_stand_together() -> None:
    """A long log whose queries stand together but for one row has the values of a sorted one."""
    log = pl.concat(
        [made_log(seed, queries=40).with_columns(pl.lit(f"{seed} ") + pl.col("query")) for seed in range(8)]
    )
    log = log.with_columns(query=log["literal"]).drop("literal")
    assert len(log) > 1500
    expected = wide(irm(log, "grades in the log"), ALL)
    for split in (pl.concat([log[1:], log[:1]]), pl.concat([log[:700], log[710:], log[700:710]]), log[::-1]):
        assert wide(irm(split, "grades in the log"), ALL).equals(expected)


@KINDS
def test_queries_do_not_touch_each_other(kind: str) -> None:
    """A query has the same values, to the last bit, whichever other queries stand beside it."""
    log = made_log()
    whole = wide(irm(log, kind), ALL)
    names = log["query"].unique(maintain_order=True)
    for part in (names[:1], names[3:5], names[::2], names[7:]):
        some = wide(irm(log.filter(pl.col("query").is_in(part.to_list())), kind), ALL)
        assert some.equals(whole.filter(pl.col("query").is_in(part.to_list())))


@pytest.mark.parametrize("average", ["macro", "weighted", "micro", "gmean"])
def test_segments_do_not_touch_each_other(average: str) -> None:
    """A segment has the same averages, to the last bit, whichever other segments stand beside it."""
    log = made_log(queries=120)
    asked = ["ndcg", "ap@5", "rr", "bpref"] if average != "micro" else ["precision@5", "recall", "f1@3"]
    more: Any = {"by": "segment", "weight": "weight" if average == "weighted" else None}
    whole = irm(log, "grades in the log", **more).evaluate(*asked, average=average)
    for segment in "abc":
        alone = irm(log.filter(pl.col("segment") == segment), "grades in the log", **more)
        assert alone.evaluate(*asked, average=average).equals(whole.filter(pl.col("segment") == segment))


@pytest.mark.parametrize("block", [1, 7, 64])
@KINDS
def test_the_size_of_blocks_does_not_matter(kind: str, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values are the same to the last bit however the queries are cut into blocks."""
    expected = wide(irm(made_log(), kind), ALL)
    for module in (blocks, judgments):
        monkeypatch.setattr(module, "BLOCK", block)
    assert wide(irm(made_log(), kind), ALL).equals(expected)


@pytest.mark.parametrize("workers", [1, 5])
def test_the_number_of_threads_does_not_matter(workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values are the same to the last bit however many threads compute them."""
    expected = wide(irm(made_log(), "judgments beside"), ALL)
    for module in (blocks, judgments):
        monkeypatch.setattr(module, "BLOCK", 10)
    with ThreadPoolExecutor(workers) as pool:
        monkeypatch.setattr(blocks, "_threads", lambda: pool)
        assert wide(irm(made_log(), "judgments beside"), ALL).equals(expected)


@pytest.mark.parametrize("metric", [m for m in ALL if m.best is not None and m.params.get("multiple", 1) <= 1], ids=str)
def test_a_perfect_ranking_is_the_best(metric: Metric) -> None:
    """All relevant documents, all of the highest grade, and nothing else: the value is the metric's best."""
    n = 300  # so many that what lies past the end of the ranking is nothing to a patient reader either
    score = np.tile(np.arange(n, 0.0, -1), 2)
    log = pl.DataFrame({"query": np.repeat([1, 2], n), "score": score, "grade": np.full(2 * n, 20)})
    asked = metric(max_grade=20) if "max_grade" in metric.options else metric
    if isinstance(asked.params.get("gain"), dict):
        asked = asked(gain={0: 0, 20: 7})
    if metric.k is not None:
        asked = asked @ n
    found = log.irm(collection_size=10 * n, undefined="null").per_query(asked)["value"].to_list()
    if metric.best is not None and math.isinf(metric.best):
        assert found == [None, None]  # nothing is wrong: the odds are n / 0
    else:
        assert found == pytest.approx([metric.best] * 2, abs=1e-6)


def test_a_document_of_the_highest_grade_satisfies_on_a_long_scale() -> None:
    """Expected reciprocal rank holds where 2 to the power of the grade is past what a float tells from 2^grade - 1."""
    log = pl.DataFrame({"query": [1, 1], "score": [2.0, 1.0], "grade": [100, 50]})
    assert log.irm.per_query("err(max_grade=100)", "err(max_grade=100)@1")["value"].to_list() == pytest.approx([1, 1])


def test_gains_are_needed_for_the_grades_that_there_are() -> None:
    """A mapping from grades to gains need not name a grade that no document has."""
    log = pl.DataFrame({"query": [1, 1, 1], "score": [3.0, 2.0, 1.0], "grade": [0, 4, 2]})
    (value,) = log.irm.per_query(metrics.ndcg(gain={0: 0, 2: 1, 4: 3}))["value"]
    assert value == pytest.approx((3 / np.log2(3) + 1 / 2) / (3 + 1 / np.log2(3)))


def test_with_at_most_as_many_places_as_relevant_documents_a_perfect_ranking_is_the_best_at_each_cutoff() -> None:
    """Measures that are cut where a perfect ranking still goes on are 1 at each cutoff."""
    log = pl.DataFrame({"query": 8 * [1], "score": np.arange(8.0, 0, -1), "grade": [4, 4, 3, 2, 2, 1, 0, 0]})
    asked = [
        f"{name}@{k}" for k in range(1, 7) for name in ("ndcg", "precision", "rr", "success", "relative_precision")
    ]
    assert log.irm.per_query(*asked)["value"].to_list() == [1] * len(asked)
    assert log.irm.per_query("ap(norm='min(k, R)')@3", "rprec", "bpref", "iprec_avg")["value"].to_list() == [1] * 4


@pytest.mark.parametrize("option", ["zero", "one", "null", None])
def test_an_undefined_value_is_what_is_asked_for(option: str | None) -> None:
    """`undefined=` decides what a/0 becomes and touches nothing else; n_undefined counts it whichever it is."""
    null = undefined_log(undefined="null").per_query(*ALL, layout="wide")
    found = undefined_log(undefined=option).per_query(*ALL, layout="wide")
    means = undefined_log(undefined=option).evaluate(*ALL)
    for metric, (n, n_undefined) in zip(ALL, means.select("n", "n_undefined").iter_rows(), strict=True):
        fill = {"zero": 0.0, "one": 1.0, "null": None, None: metric.undefined}[option]
        values = null[str(metric)]
        expected = values if fill is None else values.fill_null(fill)
        assert found[str(metric)].equals(expected), metric
        assert (n, n_undefined) == (expected.count(), values.null_count()), metric


@EACH
def test_an_undefined_value_can_be_an_error(metric: Metric) -> None:
    """`undefined="raise"` raises for a metric that is a/0 for any query, and changes no other."""
    null = undefined_log(undefined="null").per_query(metric)["value"]
    if null.null_count():
        with pytest.raises(NotComputableError, match="undefined"):
            undefined_log(undefined="raise").evaluate(metric)
    else:
        assert undefined_log(undefined="raise").per_query(metric)["value"].equals(null)


def test_a_metric_is_undefined_only_if_its_page_says_so() -> None:
    """`Undefined: never.` is kept, and every other metric is undefined somewhere in a log that has every odd case."""
    found = undefined_log(undefined="null").per_query(*ALL, layout="wide")
    for metric in ALL:
        never = "Undefined: never." in metric.doc
        if never or metric.cutoff is None:
            assert found[str(metric)].is_null().any() != never, metric


def undefined_log(**roles: Any) -> IRM[pl.DataFrame]:
    """Queries for which something is a/0: nothing relevant, nothing retrieved, the whole collection relevant ..."""
    rows: dict[str, list[tuple[float | None, int]]] = {
        "plain": [(3.0, 0), (2.0, 2), (1.0, 0), (None, 1)],
        "nothing relevant": [(2.0, 0), (1.0, 0)],
        "nothing retrieved": [(None, 1), (None, 0)],
        "nothing relevant or retrieved": [(None, 0)],
        "perfect": [(2.0, 3), (1.0, 1), (None, 0)],
        "all relevant": [(2.0, 1), (1.0, 2), (None, 1)],
        "all relevant, all retrieved": [(2.0, 1)],
        "all retrieved": [(2.0, 1), (1.0, 0)],
        "nothing relevant, all retrieved": [(2.0, 0)],
    }
    flat = [(query, score, grade, len(of)) for query, of in rows.items() for score, grade in of]
    frame = pl.DataFrame(flat, schema=["query", "score", "grade", "size"], orient="row")
    nowhere = pl.DataFrame({"query": "nothing is there", "score": None, "grade": 0, "size": 0}, schema=frame.schema)
    return pl.concat([frame, nowhere]).irm(collection_size="size", **roles)


# Between metrics


@st.composite
def logs(draw: st.DrawFn, grades: tuple[int | None, ...] = (None, -1, 0, 0, 1, 2, 3)) -> pl.DataFrame:
    """Small logs without ties, of one query or a few, some documents not retrieved."""
    parts = []
    for query in range(draw(st.integers(1, 3))):
        judged = draw(st.lists(st.sampled_from(grades), min_size=1, max_size=9))
        retrieved = draw(st.integers(0, len(judged)))
        score = [float(100 - i) if i < retrieved or grade is None else None for i, grade in enumerate(judged)]
        parts += [(query, f"d{i}", s, g) for i, (s, g) in enumerate(zip(score, judged, strict=True))]
    schema = {"query": pl.Int64, "doc": pl.String, "score": pl.Float64, "grade": pl.Int64}
    return pl.DataFrame(parts, schema=schema, orient="row")


def table_of(log: pl.DataFrame, *asked: str | Metric, **roles: Any) -> pl.DataFrame:
    """A row per query, a column per metric, in the order asked for; undefined values are null."""
    return log.irm(**{"collection_size": 40, "undefined": "null", **roles}).per_query(*asked, layout="wide")


def same(one: pl.Series | pl.Expr, other: pl.Series | pl.Expr, of: pl.DataFrame) -> bool:
    """Whether two columns are equal but for rounding, undefined for the same queries."""
    a, b = of.select(one.alias("a"), other.alias("b"))
    return a.is_null().equals(b.is_null(), check_names=False) and bool(((a - b).abs().drop_nulls() < 1e-12).all())


at_each = pytest.mark.parametrize("at", ["", "@1", "@3", "@20"])


@at_each
@settings(deadline=None, max_examples=40)
@given(log=logs())
def test_fbeta_goes_from_precision_to_recall(at: str, log: pl.DataFrame) -> None:
    """F is precision for beta 0, recall for infinity, F1 for 1; F1 <= G <= the mean of precision and recall."""
    names = ["precision", "recall", "f1", "g_measure", "jaccard", "fbeta(beta=0)", "fbeta(beta=inf)", "fbeta(beta=1)"]
    found = table_of(log, *(name + at for name in names)).rename(lambda name: name.removesuffix(at))
    assert same(pl.col("fbeta(beta=0)"), pl.col("precision"), found)
    assert same(pl.col("fbeta(beta=inf)"), pl.col("recall"), found)
    assert same(pl.col("fbeta(beta=1)"), pl.col("f1"), found)
    both = found.drop_nulls(["precision", "recall"])
    assert (both["f1"] <= both["g_measure"] + 1e-12).all()
    assert (both["g_measure"] <= (both["precision"] + both["recall"]) / 2 + 1e-12).all()
    if not at:  # with k places, F counts those that are not filled as well
        assert same(pl.col("jaccard"), pl.col("f1") / (2 - pl.col("f1")), found)


@at_each
@settings(deadline=None, max_examples=40)
@given(log=logs())
def test_complements_and_sums_of_the_table(at: str, log: pl.DataFrame) -> None:
    """What is one minus, a sum or a difference of other measures is so for every query."""
    pairs = {
        "fallout": 1 - pl.col("specificity"),
        "miss_rate": 1 - pl.col("recall"),
        "fdr": 1 - pl.col("precision"),
        "fomr": 1 - pl.col("npv"),
        "error_rate": 1 - pl.col("accuracy"),
        "informedness": pl.col("recall") - pl.col("fallout"),
        "markedness": pl.col("precision") + pl.col("npv") - 1,
        "balanced_accuracy": (1 + pl.col("informedness")) / 2,
        "payoff": pl.col("informedness"),
        "prevalence": (pl.col("tp") + pl.col("fn")) / 40,
        "bias": (pl.col("tp") + pl.col("fp")) / 40,
        "tn": 40 - pl.col("tp") - pl.col("fp") - pl.col("fn"),
        "num_rel_ret": pl.col("tp"),
        "num_ret": pl.col("tp") + pl.col("fp"),
        "payoff(tp=1, tn=1)": pl.col("accuracy"),
        "utility": pl.col("tp") - pl.col("fp"),
        "set_ap": pl.col("precision") * pl.col("recall"),
    }
    read = ["specificity", "recall", "precision", "npv", "accuracy", "tp", "fp", "fn"]
    found = table_of(log, *(name + at for name in [*pairs, *read])).rename(lambda name: name.removesuffix(at))
    for name, expected in pairs.items():
        assert same(pl.col(name), expected, found), name


@settings(deadline=None, max_examples=40)
@given(log=logs())
def test_average_precision_is_the_area_of_its_steps(log: pl.DataFrame) -> None:
    """ap is the sum over the cutoffs of precision times the rise of recall, also where it is cut itself."""
    ks = range(1, 10)
    found = table_of(log, "ap", "ap@4", *(f"{name}@{k}" for k in ks for name in ("precision", "recall")))
    steps = [
        pl.col(f"precision@{k}") * (pl.col(f"recall@{k}") - (pl.col(f"recall@{k - 1}") if k > 1 else 0)) for k in ks
    ]
    assert same(pl.col("ap"), sum(steps[1:], steps[0]), found)
    assert same(pl.col("ap@4"), sum(steps[1:4], steps[0]), found)


@at_each
@settings(deadline=None, max_examples=40)
@given(log=logs())
def test_bounds_between_metrics(at: str, log: pl.DataFrame) -> None:
    """nDCG is a share, RBP and what it may still gain are at most 1, and no precision beats relative precision."""
    names = [
        "ndcg",
        "ndcg(gain='exp')",
        "rbp",
        "rbp_residual",
        "precision",
        "relative_precision",
        "rr",
        "success",
        "ap",
    ]
    found = table_of(log, *(name + at for name in names)).rename(lambda name: name.removesuffix(at))
    for name in ("ndcg", "ndcg(gain='exp')"):
        assert found[name].drop_nulls().is_between(0, 1 + 1e-12).all()
    assert (found["rbp"] + found["rbp_residual"] <= 1 + 1e-12).all()
    both = found.drop_nulls(["precision", "relative_precision"])
    assert (both["relative_precision"] >= both["precision"]).all()
    assert (found["rr"].drop_nulls() <= found["success"].drop_nulls()).all()


@settings(deadline=None, max_examples=40)
@given(log=logs((0, 0, 1, 2, 3)))
def test_where_all_is_judged_what_rbp_may_still_gain_lies_past_the_end(log: pl.DataFrame) -> None:
    """With every result judged, the residual is the weight of the ranks that were not filled, or not looked at."""
    found = table_of(log, "rbp_residual(p=0.5)", "rbp_residual(p=0.5)@2", "num_ret", "num_ret@2")
    assert same(pl.col("rbp_residual(p=0.5)"), 0.5 ** pl.col("num_ret"), found)
    assert same(pl.col("rbp_residual(p=0.5)@2"), 0.5 ** pl.col("num_ret@2"), found)


@pytest.mark.parametrize("level", [0, 0.1, 0.25, 1 / 3, 0.5, 0.7, 0.75, 0.9, 1])
def test_precision_at_a_recall_level_is_that_of_the_first_rank_that_reaches_it(level: float) -> None:
    """precision_at_recall is precision at the first cutoff with that recall; iprec the greatest from its place on."""
    log, _ = pairs_of_logs(200, [0, 1, 1], unjudged=0)
    ks = range(1, 9)
    at = metrics.precision_at_recall(recall=level)
    found = table_of(log, at, metrics.iprec @ level, "num_rel", *(f"{n}@{k}" for k in ks for n in ("precision", "tp")))
    for row in found.drop_nulls().iter_rows(named=True):
        steps = [(row[f"precision@{k}"], row[f"tp@{k}"]) for k in ks]
        needed = max(math.ceil(level * row["num_rel"] - 1e-9), 1)
        assert row[str(at)] == next((precision for precision, hits in steps if hits >= needed), 0)
        start = max(math.floor(level * row["num_rel"] + 0.9), 1)
        assert row[f"iprec@{level}"] == max((precision for precision, hits in steps if hits >= start), default=0)


@settings(deadline=None, max_examples=40)
@given(log=logs())
def test_a_higher_cutoff_finds_no_less(log: pl.DataFrame) -> None:
    """Recall, success, reciprocal rank, average precision and cumulated gain grow with the cutoff, up to no cutoff."""
    for name in ("recall", "success", "rr", "ap", "dcg", "cg", "rbp", "err(max_grade=3)", "efficiency", "num_rel_ret"):
        found = table_of(log, *(f"{name}@{k}" for k in range(1, 11)), name).drop("query").drop_nulls()
        for row in found.iter_rows():
            assert all(a <= b + 1e-12 for a, b in pairwise(row)), name
            assert row[-1] == pytest.approx(row[-2])


def pairs_of_logs(n: int, grades: list[float], unjudged: float) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Rankings without ties, and the same with a better document moved up, to the place of a worse one."""
    random = np.random.default_rng(7)
    length = 8
    before = random.choice(np.array(grades, float), (n, length))
    before[random.random((n, length)) < unjudged] = np.nan
    score = np.tile(np.arange(length, 0.0, -1), (n, 1))
    score[(np.arange(length) >= random.integers(1, length + 1, n)[:, None]) & ~np.isnan(before)] = np.nan
    after = before.copy()
    for query in range(n):
        high, low = np.sort(random.choice(length, 2, replace=False))
        worse, better = np.nan_to_num(before[query, [high, low]])
        if better > worse and not (np.isnan(before[query, high]) and np.isnan(score[query, low])):
            after[query, [high, low]] = before[query, [low, high]]
    frames = [
        pl.DataFrame({"query": np.repeat(np.arange(n), length), "score": score.ravel(), "grade": grade.ravel()})
        for grade in (before, after)
    ]
    return frames[0].fill_nan(None), frames[1].fill_nan(None)


@pytest.mark.parametrize(("grades", "unjudged"), [([0, 0, 1, 2, 3], 0.2), ([0, 0, 0, 1, 4], 0), ([0, 1], 0.3)])
def test_a_better_document_moved_up_makes_no_monotone_metric_worse(grades: list[float], unjudged: float) -> None:
    """Swapping two judgments so that the better stands higher is never worse in the direction of a monotone metric."""
    moved = [metric for metric in ALL if metric.monotone]
    before, after = (table_of(log, *moved) for log in pairs_of_logs(3000, grades, unjudged))
    gained = {str(m): (after[str(m)] - before[str(m)]) * (-1 if m.best == 0 else 1) for m in moved}
    assert {name for name, by in gained.items() if (by.drop_nulls() < -1e-9).any()} == set()
    assert gained["ndcg"].max() > 0.1


# Judgments and grades


def test_binary_metrics_see_only_what_is_relevant() -> None:
    """A metric of relevance has the same values on grades and on the labels that they give."""
    asked = [m for m in ALL if not {"gains", "ideal"} & m.reads]
    log = made_log().filter(pl.col("grade").is_null() | (pl.col("grade") >= 0))
    label = log.with_columns((pl.col("grade") >= 1).alias("label")).drop("grade")
    one = wide(log.irm(doc="doc", score="score", collection_size=100), asked)
    assert wide(label.irm(doc="doc", score="score", collection_size=100), asked).equals(one)
    assert len(asked) > 60


def test_a_metric_gives_every_judged_query_a_number() -> None:
    """The result has one row per judged query, in the order of their first appearance."""
    log = made_log()
    judged = log.filter(pl.col("grade").is_not_null())["query"].unique()
    found = irm(log, "grades in the log").per_query(*ALL, layout="wide")
    assert found["query"].to_list() == [name for name in log["query"].unique(maintain_order=True) if name in judged]
    assert set(found.dtypes[1:]) == {pl.Float64}


def test_a_metric_that_counts_is_summed_and_no_other() -> None:
    """The average column says sum for counts and only for them, and the sum is that of the queries."""
    of = irm(made_log(), "grades in the log")
    whole = of.evaluate(*ALL)
    assert whole["average"].to_list() == ["sum" if m.summed else "macro" for m in ALL]
    for metric in ALL:
        if metric.summed:
            row = whole.filter(pl.col("metric") == str(metric))
            assert row["value"].item() == of.per_query(metric)["value"].sum()
