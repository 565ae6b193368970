"""Laws that hold for every metric because it is in the registry, and laws between metrics."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs
import polars.testing as pl_testing
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frame_metrics import IRM, Metric, NotComputableError, metrics
from helpers import KINDS as FRAMES
from helpers import ROLES, as_kind, as_polars, examples, irm, made_log, ready
from inside import (
    REGISTRY,
    Array,
    Classes,
    ClassScores,
    FullConfusion,
    FullRanking,
    FullScores,
    TwoRankings,
    metrics_of,
    read_text,
    registered,
    small_blocks,
    threads,
)

CUTOFFS = (1, 3, 25)  # 25 is past the end of every ranking of the logs below
# Values of parameters; of those that are not here, the one that their annotation has for an example.
VALUES: dict[str, list[Any]] = {
    "gain": ["exp", {-1: 0, 0: 0, 1: 1, 2: 3, 3: 3.5, 4: 10}],
    "discount": ["jk"],
    "base": [10.0],
    "norm": ["min(k, R)", "found"],
    "beta": [0.5, math.inf],
    "nrbp beta": [0.0, 1.0],
    "nnrbp beta": [0.0, 1.0],
    "alpha": [0.0, 0.25],
    "recall": [0.0, 1.0],
    "recalls": [[0.25, 1.0]],
    "multiple": [2.0],
    "max_grade": [],
    "tp": [2.0],
    "fp": [-0.5],
    "fn": [-1.0],
    "tn": [1.0],
    "cost fp": [5.0],
    "cost fn": [2.5],
    "weights": ["linear", "quadratic"],
    "sensitivity": [0.75],
    "max_fpr": [0.25, 1.0],
    "fpr": [[0.125, 0.5]],
    "tpr": [[0.5, 1.0]],
    "correction": [None],
    "area": ["trapezoid"],
    "multi": ["ovo"],
    "bins": [3],
    "min_recall": [0.0, 1.0],
    "min_precision": [0.0, 1.0],
    "variant": ["b"],
    "normalize": [False],
    "ece norm": [2, "max"],
    "debiased": [],
}


JUDGING = [metric for metric in REGISTRY.values() if metric.judges]  # test_catalogue.py has the others


def variants() -> Iterator[Metric]:
    """Every metric, with each of its options and with cutoffs."""
    for metric in map(ready, JUDGING):
        yield metric
        for name in metric.options:
            values = VALUES.get(f"{metric.name} {name}") or VALUES.get(name, [metric.examples[name]])
            yield from (metric(**{name: value}) for value in values)
        yield from (metric @ k for k in (CUTOFFS if metric.at == "k" else ()))


EVERY = [*dict.fromkeys(variants())]
PROBABLE = [metric for metric in EVERY if "probability" in metric.reads]
# Those of any log.
ALL = [
    m
    for m in EVERY
    if m.input not in (Classes, ClassScores, TwoRankings) and m not in PROBABLE and not (m.off_policy or m.of_subtopics)
]
EACH = pytest.mark.parametrize("metric", ALL, ids=str)
REGISTERED = pytest.mark.parametrize("metric", REGISTRY.values(), ids=str)


KINDS = pytest.mark.parametrize("kind", ROLES)


def wide(of: IRM[pl.DataFrame], asked: list[Metric], **options: Any) -> pl.DataFrame:
    return of.per_query(*asked, layout="wide", **options).drop("answered").sort("query")


def probable(log: pl.DataFrame) -> pl.DataFrame:
    """The same rows, each retrieved with a probability for a score."""
    sure = log.with_columns(pl.col("score").fill_null(0) / 5)
    position = pl.struct("score", "doc").rank("ordinal", descending=True).over("query")
    return sure.with_columns((position + position // 3).alias("rank"))


def everything(log: pl.DataFrame, kind: str, **roles: Any) -> pl.DataFrame:
    """Every metric of queries; those that read probabilities on rows that have one."""
    one = wide(irm(log, kind, **roles), ALL)
    other = wide(irm(probable(log), kind, elsewhere=False, **roles), PROBABLE)
    assert one["query"].equals(other["query"])
    return pl.concat([one, other.drop("query")], how="horizontal")


@cache
def everything_made(kind: str) -> pl.DataFrame:
    """The values that laws below compare with."""
    return everything(made_log(), kind)


# The registry


def test_every_option_has_a_value() -> None:
    """Every option of every metric takes part in the laws below."""
    tried = {(metric.name, name) for metric in EVERY for name in metric.params}
    alone = {("ece", "debiased")}  # takes another option, and no weights: tests/unit/test_calibration_error.py
    assert {(metric.name, name) for metric in JUDGING for name in metric.options} - alone <= tried
    inputs = {FullRanking, FullConfusion, FullScores, Classes, ClassScores, TwoRankings}
    assert {metric.input for metric in EVERY} == inputs
    assert PROBABLE


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


@pytest.mark.parametrize("metric", EVERY, ids=str)
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


@pytest.fixture
def undeclared() -> Iterator[str]:
    """The name of a metric that declares nothing, in the registry for one test."""

    @registered()
    def bare(run: FullRanking, k: int | None = None) -> Array:
        return run.relevant.total_within(k, 1 / run.rank)

    yield bare.name
    del REGISTRY[bare.name]
    read_text.cache_clear()


@pytest.mark.parametrize("cutoff", ["", "@2"])
def test_a_metric_that_declares_nothing_is_refused_where_a_declaration_is_needed(undeclared: str, cutoff: str) -> None:
    """It has values; what ties and missing judgments make of them is not known until it is said."""
    name = undeclared + cutoff
    log = pl.DataFrame({"query": [1, 1, 1], "score": [2.0, 2.0, 1.0], "grade": [1, 0, None]})
    assert log.irm(ties="order").per_query(name)["value"].to_list() == [1]
    assert log.irm(ties="order").explain(name, query=1)["discount"].null_count() == (2 if cutoff else 3)
    with pytest.raises(NotComputableError, match=f"^{name} is not bounded by the worst and the best order of equal sc"):
        log.irm.bounds(name, of="ties")
    with pytest.raises(
        NotComputableError,
        match=f"^{name} has no bounds of unjudged rows; these have: abandonment, ap, .*tp, u_measure, un, up$",
    ):
        log.irm.bounds(name, of="unjudged")
    for ties in ("worst", "best", "expected"):
        why = "has no closed form for" if ties == "expected" else "is not bounded by"
        with pytest.raises(
            NotComputableError, match=f"^{name} {why} ties='{ties}', and rows with equal scores have di"
        ):
            log.irm(ties=ties).per_query(name)


@pytest.mark.parametrize("query", ["case", None])
def test_a_metric_may_divide_by_0_in_silence(query: str | None) -> None:
    """0/0 is undefined, 1/0 and what overflows is infinite; none of them warns, and warnings are errors here."""

    @registered(undefined=None)
    def far(table: FullConfusion) -> Array:
        return np.exp2(1e4 * table.tp / table.fp)

    try:
        rows = {"label": [0, 1, 1, 0], "predicted": [0, 1, 1, 1], "case": [1, 2, 3, 3], "seg": [1, 2, 3, 3]}
        cases = pl.DataFrame(rows).irm(query=query, label="label", predicted="predicted", by="seg")
        assert cases.evaluate("far")["value"].to_list() == [None, math.inf, math.inf]
    finally:
        del REGISTRY["far"]
        read_text.cache_clear()


# Values


@KINDS
def test_values_are_in_the_declared_range(kind: str) -> None:
    """No value is outside of the range that its metric declares, and none is NaN."""
    found = everything(made_log(), kind, undefined="null")
    for metric in [*ALL, *PROBABLE]:
        values = found[str(metric)].drop_nulls()
        low, high = metric.range
        assert len(values) or metric.name == "position_ctr", metric  # of a rank that no result may have
        assert values.is_between(low - 1e-12, high + 1e-12).all(), metric


@KINDS
def test_row_order_does_not_matter(kind: str) -> None:
    """Shuffled rows give the same values to the last bit, equal scores ordered by document."""
    log = made_log()
    expected = everything(log, kind)
    for seed in range(3):
        shuffled = log.sample(fraction=1, shuffle=True, seed=seed)
        assert everything(shuffled, kind).equals(expected)


def test_row_order_does_not_matter_without_documents() -> None:
    """Shuffled rows give the same values where equal scores are ordered by the worst case."""
    bounded = [metric for metric in ALL if metric.bounded]
    log = made_log().drop("doc")
    expected = wide(log.irm(collection_size=100, score="score"), bounded)
    for seed in range(3):
        shuffled = log.sample(fraction=1, shuffle=True, seed=seed)
        assert wide(shuffled.irm(collection_size=100, score="score"), bounded).equals(expected)


@pytest.mark.slow
def test_rows_of_a_query_need_not_stand_together() -> None:
    """A long log whose queries stand together but for one row has the values of a sorted one."""
    log = pl.concat(
        [made_log(seed, queries=40).with_columns(pl.lit(f"{seed} ") + pl.col("query")) for seed in range(8)]
    )
    log = log.with_columns(query=log["literal"]).drop("literal")
    assert len(log) > 1500
    expected = everything(log, "grades in the log")
    for split in (pl.concat([log[1:], log[:1]]), pl.concat([log[:700], log[710:], log[700:710]]), log[::-1]):
        assert everything(split, "grades in the log").equals(expected)


@KINDS
def test_queries_do_not_touch_each_other(kind: str) -> None:
    """A query has the same values, to the last bit, whichever other queries stand beside it."""
    log = made_log()
    whole = everything(log, kind)
    names = log["query"].unique(maintain_order=True)
    for part in (names[:1], names[3:5], names[::2], names[7:]):
        some = everything(log.filter(pl.col("query").is_in(part.to_list())), kind)
        assert some.equals(whole.filter(pl.col("query").is_in(part.to_list())))


@pytest.mark.parametrize("average", ["macro", "weighted", "micro", "gmean"])
def test_segments_do_not_touch_each_other(average: str) -> None:
    """A segment has the same averages, to the last bit, whichever other segments stand beside it."""
    log = made_log(queries=120)
    asked = ["ndcg", "ap@5", "rr", "bpref", "roc_auc"] if average != "micro" else ["precision@5", "recall", "f1@3"]
    more: Any = {"by": "segment", "weight": "weight" if average == "weighted" else None}
    whole = irm(log, "grades in the log", **more).evaluate(*asked, average=average)
    for segment in "abc":
        alone = irm(log.filter(pl.col("segment") == segment), "grades in the log", **more)
        assert alone.evaluate(*asked, average=average).equals(whole.filter(pl.col("segment") == segment))


@pytest.mark.parametrize("block", [1, 7])
@KINDS
def test_the_size_of_blocks_does_not_matter(kind: str, block: int) -> None:
    """Values are the same to the last bit however the queries are cut into blocks."""
    expected = everything_made(kind)
    with small_blocks(block):
        assert everything(made_log(), kind).equals(expected)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 5])
def test_the_number_of_threads_does_not_matter(workers: int) -> None:
    """Values are the same to the last bit however many threads compute them."""
    expected = everything_made("judgments beside")
    with small_blocks(10), threads(workers):
        assert everything(made_log(), "judgments beside").equals(expected)


@pytest.mark.parametrize(
    "metric",
    [m for m in ALL if m.best is not None and m.params.get("multiple", 1) <= 1 and m.input is not FullScores],
    ids=str,
)
def test_a_perfect_ranking_is_the_best(metric: Metric) -> None:
    """All relevant documents, all of the highest grade, and nothing else: the value is the metric's best."""
    n = 1000  # so many that what lies past the end of the ranking is nothing to a patient reader either
    score = np.tile(np.arange(n, 0.0, -1), 2)
    log = pl.DataFrame({"query": np.repeat([1, 2], n), "score": score, "grade": np.full(2 * n, 20)})
    asked = metric(max_grade=20) if "max_grade" in metric.options else metric
    if isinstance(asked.params.get("gain"), dict):
        asked = asked(gain={0: 0, 20: 7})
    if metric.k is not None:
        asked = replace(asked, cutoff=n)
    found = log.irm(collection_size=10 * n, undefined="null").per_query(asked)["value"].to_list()
    if metric.best is not None and math.isinf(metric.best):
        at_most = [10.0, 10.0] if metric.name == "lift" else [None, None]  # N / R; else the odds are n / 0
        assert found == at_most
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


@KINDS
def test_a_metric_does_not_depend_on_the_other_cutoffs_that_are_asked_for(kind: str) -> None:
    """At eight cutoffs, which are counted and summed together, each value is to the last bit that of one cutoff."""
    of, each = irm(made_log(), kind), [metric for metric in map(ready, JUDGING) if metric.at == "k"]
    each = [m for m in each if m.input not in (ClassScores, TwoRankings) and not (m.off_policy or m.of_subtopics)]
    together = wide(of, [metric @ k for metric in each for k in range(1, 9)])
    for k in range(1, 9):
        alone = wide(of, [metric @ k for metric in each])
        assert together.select(alone.columns).equals(alone)


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
    null = undefined_as_null()
    found = undefined_log(undefined=option).per_query(*ALL, layout="wide").drop("answered")
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
    null = undefined_as_null()[str(metric)]
    if null.null_count():
        with pytest.raises(NotComputableError, match="undefined"):
            undefined_log(undefined="raise").evaluate(metric)
    else:
        assert undefined_log(undefined="raise").per_query(metric)["value"].equals(null)


def test_a_metric_is_undefined_only_if_its_page_says_so() -> None:
    """`Undefined: never.` is kept, and every other metric is undefined somewhere in a log that has every odd case."""
    found = undefined_as_null()
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
    return pl.concat([frame, nowhere]).irm(query="query", collection_size="size", **roles)


@cache
def undefined_as_null() -> pl.DataFrame:
    """Every metric of every query, null where it is undefined."""
    return undefined_log(undefined="null").per_query(*ALL, layout="wide").drop("answered")


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
    return (
        log.irm(**{"collection_size": 40, "undefined": "null", **roles})
        .per_query(*asked, layout="wide")
        .drop("answered")
    )


def same(one: pl.Series | pl.Expr, other: pl.Series | pl.Expr, of: pl.DataFrame) -> bool:
    """Whether two columns are equal but for rounding, undefined for the same queries."""
    a, b = of.select(one.alias("a"), other.alias("b"))
    return a.is_null().equals(b.is_null(), check_names=False) and bool(((a - b).abs().drop_nulls() < 1e-12).all())


at_each = pytest.mark.parametrize("at", ["", "@1", "@3", "@20"])


@at_each
@examples(40)
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
@examples(40)
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
        "balanced_accuracy": pl.mean_horizontal("recall", "specificity"),
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


@examples(40)
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
@examples(40)
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


@examples(40)
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


@pytest.mark.slow
@examples(40)
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
    moved = [metric for metric in ALL if metric.monotone and not metric.excepted]
    before, after = (table_of(log, *moved) for log in pairs_of_logs(1000, grades, unjudged))
    gained = {str(m): (after[str(m)] - before[str(m)]) * (-1 if m.higher is False else 1) for m in moved}
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
    found = irm(log, "grades in the log").per_query(*ALL, layout="wide").drop("answered")
    assert found["query"].to_list() == [name for name in log["query"].unique(maintain_order=True) if name in judged]
    assert set(found.dtypes[1:]) == {pl.Float64}


@pytest.mark.parametrize("metric", [one for one in REGISTRY.values() if one.input in (FullRanking, FullConfusion)])
def test_a_metric_says_whether_it_counts_documents_that_were_not_found(metric: Metric) -> None:
    """A relevant document that was not retrieved changes such a metric of a list, and no other."""
    found = pl.DataFrame({"query": "q", "doc": ["a", "b"], "score": [2.0, 1.0], "grade": [1, 0]})
    unfound = pl.DataFrame({"query": "q", "doc": ["c"], "score": [None], "grade": [2]}, schema=found.schema)
    if metric.of_subtopics or metric.off_policy or metric.columns:
        assert not metric.counts_unfound
        return
    asked = ready(metric)
    one, other = (
        rows.irm(collection_size=9).evaluate(asked)["value"].item() for rows in (found, found.vstack(unfound))
    )
    assert metric.counts_unfound == (one != other)


def test_a_metric_that_counts_is_summed_and_no_other() -> None:
    """The average column says sum for counts and only for them, and the sum is that of the queries."""
    of = irm(made_log(), "grades in the log")
    whole = of.evaluate(*ALL)
    assert whole["average"].to_list() == ["sum" if m.summed else "macro" for m in ALL]
    for metric in ALL:
        if metric.summed:
            row = whole.filter(pl.col("metric") == str(metric))
            assert row["value"].item() == of.per_query(metric)["value"].sum()


# Rows without a query


APART = (FullRanking, ClassScores, TwoRankings)  # tests/unit/test_top_k.py has those of class scores
# What takes a share of the rows takes no weights and two classes alone; tests/unit/test_top_share.py is about it.
POOLED = [m for m in EVERY if m.input not in APART and m.cutoff is None and m.top is None]
CLASSES = "abcd"
BY_CLASS = {"label": "actual", "predicted": "said", "score": {name: f"p_{name}" for name in CLASSES}, "classes": None}
WAYS: dict[str, dict[str, Any]] = {
    "two classes": {"predicted": "predicted", "score": "score"},
    "at a threshold": {"score": "score", "threshold": 0.5},
    "named classes": {"label": "truth", "predicted": "claim", "positive": "yes", "score": "score", "abstain": ["?"]},
    "weighted rows": {"predicted": "predicted", "score": "score", "weight": "weight"},
    "in a collection": {"predicted": "predicted", "score": "score", "collection_size": 10_000},
    "several classes": BY_CLASS,
    "several, some undecided": BY_CLASS | {"abstain": ["d"]},
    "several, weighted": BY_CLASS | {"weight": "weight", "classes": list(CLASSES)},
}
LABELLED: dict[str, Any] = {"label": "label", "unjudged": "negative"}  # some labels are null
EACH_WAY = pytest.mark.parametrize("way", WAYS)


@cache
def made_cases(seed: int = 0, n: int = 600) -> pl.DataFrame:
    """Rows in three segments: scores that are often equal, no judgment here, no decision there, four classes."""
    random = np.random.default_rng(seed)
    label = random.random(n) < 0.4
    score = np.clip(np.round(random.normal(0.4 + 0.2 * label, 0.2) * 16), 0, 16) / 16
    said = (score > 0.5) ^ (random.random(n) < 0.1)
    actual = random.integers(0, 4, n)
    guessed = np.where(random.random(n) < 0.6, actual, random.integers(0, 4, n))
    chance = random.multinomial(64, random.dirichlet([0.5] * 4, n)) / 64  # each row adds up to 1 exactly
    silent, unjudged = random.random(n) < 0.05, random.random(n) < 0.05
    letters = np.array(list(CLASSES))
    return pl.DataFrame(
        {
            "label": pl.Series(label).set(pl.Series(unjudged), None).cast(pl.Int8),
            "score": score,
            "predicted": pl.Series(said).set(pl.Series(silent), None),
            "truth": np.where(label, "yes", "no"),
            "claim": np.where(silent, "?", np.where(said, "yes", "no")),
            "actual": pl.Series(letters[actual], dtype=pl.Enum(CLASSES)),
            "said": pl.Series(letters[guessed], dtype=pl.Enum(CLASSES)),
            **{f"p_{name}": chance[:, i] for i, name in enumerate(CLASSES)},
            "weight": random.choice([0.0, 0.5, 1, 2, 3], n),
            "segment": random.choice(list("xyz"), n),
        }
    )


def fitting(way: str) -> list[Metric]:
    """The metrics that rows of a kind determine."""
    if "actual" not in WAYS[way].values():
        return POOLED
    own = [(metric, metric.form_for_classes) for metric in POOLED]
    fit = [metric for metric, form in own if form is None or set(metric.params) <= set(form.options)]
    return [metric for metric in fit if "undecided" not in way or metric.params.get("weights") is None]


def pooled(frame: pl.DataFrame, way: str, *asked: str | Metric, **roles: Any) -> pl.DataFrame:
    """A row per segment, a column per metric."""
    return frame.irm(**{**LABELLED, **WAYS[way], **roles}).evaluate(*(asked or fitting(way)), layout="wide")


def alike(one: pl.DataFrame, other: pl.DataFrame, tolerance: float = 1e-12) -> bool:
    """Whether two frames hold the same, numbers but for rounding."""
    pl_testing.assert_frame_equal(one, other, rel_tol=tolerance, abs_tol=tolerance)
    return True


@EACH_WAY
def test_values_of_pooled_rows_are_in_the_declared_range(way: str) -> None:
    """No value is outside of its metric's range, and none is NaN; the Brier score of several classes goes up to 2."""
    found = pooled(made_cases(), way, by="segment", undefined="null")
    for metric in fitting(way):
        values = found[str(metric)].drop_nulls()
        low, high = metric.range
        both = metric.name == "brier" and "several" in way
        assert len(values), metric
        assert values.is_between(low - 1e-12, high * (1 + both) + 1e-12).all(), metric


@EACH_WAY
def test_order_of_pooled_rows_does_not_matter(way: str) -> None:
    """Shuffled rows give the same values."""
    rows = made_cases()
    expected = pooled(rows, way, by="segment")
    for seed in range(3):
        shuffled = rows.sample(fraction=1, shuffle=True, seed=seed)
        assert alike(pooled(shuffled, way, by="segment"), expected)


@EACH_WAY
def test_segments_of_pooled_rows_do_not_touch_each_other(way: str) -> None:
    """A segment has the same values whichever others stand beside it, and alone."""
    rows = made_cases()
    whole = pooled(rows, way, by="segment")
    assert whole["segment"].to_list() == ["x", "y", "z"]
    for segment in "xyz":
        mine, some = whole.filter(pl.col("segment") == segment), rows.filter(pl.col("segment") == segment)
        assert alike(pooled(some, way, by="segment"), mine)
        assert alike(pooled(some, way), mine.drop("segment"))


def test_classes_of_a_segment_are_those_seen_in_it() -> None:
    """A segment in which no row is, or is said to be, of a class has the values that it has alone."""
    rows = made_cases().filter((pl.col("segment") != "y") | ((pl.col("actual") != "b") & (pl.col("said") != "b")))
    roles = {"label": "actual", "predicted": "said"}
    asked = [
        m
        for m in POOLED
        if m.input is not FullScores and (m.form_for_classes is None or not m.params or "weights" in m.params)
    ]
    whole = rows.irm(**roles, by="segment").evaluate(*asked)
    alone = rows.filter(pl.col("segment") == "y").irm(**roles, by="segment").evaluate(*asked)
    assert alike(alone, whole.filter(pl.col("segment") == "y"))


@EACH_WAY
def test_the_total_of_segments_is_that_of_all_rows(way: str) -> None:
    """The grand total pools all rows, and a system is measured like a segment."""
    rows = made_cases()
    whole = rows.irm(**{**LABELLED, **WAYS[way]}, by="segment").evaluate(*fitting(way), margins=True)
    total = whole.filter(total_over="segment").drop("segment", "total_over")
    assert alike(total, rows.irm(**{**LABELLED, **WAYS[way]}).evaluate(*fitting(way)))
    by_system = rows.irm(**{**LABELLED, **WAYS[way]}, system="segment").evaluate(*fitting(way))
    assert alike(by_system, whole.filter(pl.col("total_over").is_null()).drop("total_over"))


@EACH_WAY
def test_pooled_rows_in_threads_and_blocks(way: str) -> None:
    """Values are the same however the rows are cut into blocks, and however many threads compute them."""
    expected = pooled(made_cases(), way, by="segment")
    for block, workers in ((1, 1), (70, 5)):
        with small_blocks(block), threads(workers):
            assert alike(pooled(made_cases(), way, by="segment"), expected)


@pytest.mark.parametrize(("way", "twice"), [("weighted rows", "two classes"), ("several, weighted", "several classes")])
def test_a_weight_of_two_is_two_rows(way: str, twice: str) -> None:
    """Rows with a weight of 2 are rows that stand twice, and rows of weight 0 are none."""
    rows = made_cases().with_columns(weight=pl.when(pl.int_range(pl.len()) % 5 == 0).then(0.0).otherwise(2.0))
    doubled = rows.filter(pl.col("weight") > 0)
    expected = pooled(pl.concat([doubled, doubled]), twice, by="segment").drop("n")
    asked = fitting(twice)
    found = pooled(rows, way, *asked, by="segment").drop("n", cs.ends_with("n_effective", "if_calibrated"))
    assert alike(found, expected.drop(cs.ends_with("n_effective", "if_calibrated")))


# The lift of decisions that are the truth is 1 / prevalence, which may be any number.
PERFECT = [metric for metric in POOLED if metric.best is not None and metric.name != "lift"]


@pytest.mark.parametrize("metric", PERFECT, ids=str)
def test_decisions_and_scores_that_are_the_truth_are_the_best(metric: Metric) -> None:
    """Where what is predicted is what is true, the value is the metric's best, of two classes and of several."""
    two = pl.DataFrame({"label": [1, 0, 0, 1, 0], "predicted": [1, 0, 0, 1, 0], "score": [1.0, 0, 0, 1, 0]})
    letters = pl.DataFrame({"label": list("abcacb"), "predicted": list("abcacb")})
    letters = letters.cast(pl.Enum(list("abc")))  # in order, for weights of mistakes
    letters = letters.with_columns((pl.col("label") == c).cast(pl.Float64).alias(f"is_{c}") for c in "abc")
    best = None if math.isinf(float(metric.best or 0)) else pytest.approx(metric.best, abs=1e-12)
    found = two.irm(label="label", predicted="predicted", score="score", undefined="null").evaluate(metric)
    assert found["value"].to_list() == [best]
    form = metric.form_for_classes
    if form is None or set(metric.params) <= set(form.options):
        several = letters.irm(predicted="predicted", score={c: f"is_{c}" for c in "abc"}, undefined="null")
        assert several.evaluate(metric)["value"].to_list() == [best]


UNDEFINED: dict[str, list[tuple[int, bool | None, float, float]]] = {
    "plain": [(1, True, 0.75, 1), (0, True, 0.5, 1), (0, False, 0.25, 1), (1, False, 0.125, 1)],
    "nothing relevant": [(0, True, 0.75, 1), (0, False, 0.25, 1)],
    "everything relevant": [(1, True, 0.75, 1), (1, False, 0.25, 1)],
    "nothing predicted": [(1, False, 0.75, 1), (0, False, 0.25, 1)],
    "everything predicted": [(1, True, 0.75, 1), (0, True, 0.25, 1)],
    "perfect": [(1, True, 0.75, 1), (0, False, 0.25, 1)],
    "nothing relevant or predicted": [(0, False, 0.75, 1), (0, False, 0.25, 1)],
    "everything relevant and predicted": [(1, True, 0.75, 1), (1, True, 0.25, 1)],
    "undecided": [(1, None, 0.75, 1), (0, None, 0.25, 1)],
    "without weight": [(1, True, 0.75, 0), (0, False, 0.25, 0)],
}


def undefined_cases(**roles: Any) -> IRM[pl.DataFrame]:
    """Segments in which something is a/0."""
    flat = [(segment, *row) for segment, rows in UNDEFINED.items() for row in rows]
    frame = pl.DataFrame(flat, schema=["segment", "label", "predicted", "score", "weight"], orient="row")
    return frame.irm(by="segment", weight="weight", predicted="predicted", score="score", **roles)


def test_a_metric_of_pooled_rows_is_undefined_only_if_its_page_says_so() -> None:
    """`Undefined: never.` is kept, and every other metric is undefined in some segment and defined in another."""
    found = undefined_cases(undefined="null").evaluate(*POOLED, layout="wide")
    for metric in POOLED:
        undefined = found[str(metric)].is_null()
        assert undefined.any() != ("Undefined: never." in metric.doc), metric
        assert not undefined.all(), metric


@pytest.mark.parametrize("option", ["zero", "one", "null", None])
def test_an_undefined_value_of_pooled_rows_is_what_is_asked_for(option: str | None) -> None:
    """`undefined=` decides what a/0 becomes in a segment and touches nothing else; n_undefined counts it."""
    null = undefined_cases(undefined="null").evaluate(*POOLED)
    found = undefined_cases(undefined=option).evaluate(*POOLED)
    asked = POOLED * len(UNDEFINED)
    for metric, raw, value, counted in zip(asked, null["value"], found["value"], found["n_undefined"], strict=True):
        fill = {"zero": 0.0, "one": 1.0, "null": None, None: metric.undefined}[option]
        assert value == (fill if raw is None else raw), metric
        assert counted == (raw is None), metric


@pytest.mark.parametrize("metric", POOLED, ids=str)
def test_an_undefined_value_of_pooled_rows_can_be_an_error(metric: Metric) -> None:
    """`undefined="raise"` raises for a metric that is a/0 in any segment."""
    if "Undefined: never." in metric.doc:
        assert undefined_cases(undefined="raise").evaluate(metric)["n_undefined"].sum() == 0
    else:
        with pytest.raises(NotComputableError, match="undefined"):
            undefined_cases(undefined="raise").evaluate(metric)


def test_what_is_pooled_says_so() -> None:
    """The average column says pooled, or sum for counts; of several classes, how they are averaged."""
    for way, roles in WAYS.items():
        asked = fitting(way)
        found = made_cases().irm(**{**LABELLED, **roles}).evaluate(*asked)
        whole = "several" not in way
        expected = [
            "sum" if m.summed else "pooled" if whole or m.form_for_classes is not None else "macro" for m in asked
        ]
        assert found["average"].to_list() == expected
        assert found["n"].to_list() == [len(made_cases())] * len(asked)


@pytest.mark.parametrize("way", ["several classes", "several, some undecided", "several, weighted"])
def test_the_average_over_classes_is_that_of_per_class(way: str) -> None:
    """Macro is the mean over the classes, weighted that by their rows; a class that is undefined leaves the mean."""
    asked = [m for m in fitting(way) if m.form_for_classes is None and not m.summed]
    counts = [m for m in fitting(way) if m.summed]
    rows = made_cases().irm(**WAYS[way], undefined="null")
    each = rows.per_class(*asked, *counts).pivot("metric", index="class", values="value")
    support = each["tp"] + each["fn"] + each["up"]
    macro, weighted = (rows.evaluate(*asked, average=average, layout="wide") for average in ("macro", "weighted"))
    for name in map(str, asked):
        some = each[name].is_not_null()
        assert macro[name].item() == pytest.approx(each[name].mean(), abs=1e-12), name
        value = (each[name] * support).sum() / support.filter(some).sum()
        assert weighted[name].item() == pytest.approx(value, abs=1e-12), name
    sums = rows.evaluate(*counts, layout="wide")
    assert [sums[str(m)].item() for m in counts] == pytest.approx([each[str(m)].sum() for m in counts])


def test_classes_of_queries_are_refused() -> None:
    """What is of the rows of a segment is an error with a query, which names the way out."""
    log = made_cases().with_columns(query=pl.lit(1))
    for metric in metrics_of(Classes):
        for verb in ("evaluate", "per_query"):
            with pytest.raises(NotComputableError, match=f"{metric.name} .*query=None"):
                getattr(log.irm(query="query", label="label", predicted="predicted", score="score"), verb)(metric)


# Between what is predicted, scored and chosen


@st.composite
def decided(draw: st.DrawFn, *, both: bool = True, known: bool = True, classes: int = 2) -> pl.DataFrame:
    """Some rows with a class, a prediction, a score of a few values and a group."""
    scores = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0] + ([] if known else [None]))
    one = st.integers(0, classes - 1)
    rows = draw(st.lists(st.tuples(one, one, scores, st.integers(0, 2)), min_size=1, max_size=25))
    if both:
        rows += [(i, i, 0.5, i % 3) for i in range(classes)]
    schema = {"label": pl.Int64, "predicted": pl.Int64, "score": pl.Float64, "group": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def value_of(irm: IRM[pl.DataFrame], *asked: str | Metric, **options: Any) -> list[float | None]:
    found: list[float | None] = irm.evaluate(*asked, **options)["value"].to_list()
    return found


few = examples(40)


@few
@given(rows=decided())
def test_average_precision_is_the_sum_over_the_curve(rows: pl.DataFrame) -> None:
    """It is the sum over the points of the precision-recall curve of precision times the rise of recall."""
    points = rows.irm.curve("pr")
    area = (points["precision"] * points["recall"].diff()).sum()
    assert value_of(rows.irm, "average_precision") == [pytest.approx(area, abs=1e-12)]


@few
@given(rows=decided(known=False))
def test_roc_auc_is_the_area_under_the_curve(rows: pl.DataFrame) -> None:
    """By trapezoids, rows without a score making the last step; gini is twice that less one, ks its greatest height."""
    points = rows.irm.curve("roc")
    x, y = points["fpr"].to_numpy(), points["tpr"].to_numpy()
    area = ((x[1:] - x[:-1]) * (y[1:] + y[:-1]) / 2).sum()
    expected = [area, 2 * area - 1, abs(y - x).max(), area]
    assert value_of(rows.irm, "roc_auc", "gini", "ks", "roc_auc(max_fpr=1)") == pytest.approx(expected, abs=1e-12)


@few
@given(rows=decided(known=False), limit=st.sampled_from([0.0, 0.1, 1 / 3, 0.5, 2 / 3, 0.9, 1.0]))
def test_what_is_the_most_at_a_limit_is_so_over_all_thresholds(rows: pl.DataFrame, limit: float) -> None:
    """max_precision and max_recall are the greatest values among the thresholds that keep to the limit."""
    points = rows.irm.thresholds("precision", "recall")[1:]
    high = [p for p, r in points.select("precision", "recall").iter_rows() if r >= limit - 1e-9]
    full = [r for p, r in points.select("precision", "recall").iter_rows() if p >= limit - 1e-9]
    asked = (metrics.max_precision(min_recall=limit), metrics.max_recall(min_precision=limit))
    assert value_of(rows.irm, *asked) == pytest.approx([max(high, default=0), max(full, default=0)], abs=1e-12)


TABLE = [metric for metric in POOLED if metric.input is FullConfusion]


@few
@given(rows=decided(known=False, both=False))
def test_every_threshold_is_the_decision_at_it(rows: pl.DataFrame) -> None:
    """A row of thresholds() has the counts and the metrics that evaluate gives at that threshold."""
    found = rows.irm.thresholds(*(m for m in TABLE if not m.summed))
    scores = rows["score"].drop_nulls().unique().sort(descending=True).to_list()
    assert found["threshold"].to_list() == [math.inf, *scores]
    for row in found.iter_rows(named=True):
        at = rows.irm(threshold=row.pop("threshold")).evaluate(*row, layout="wide").select(*row)
        assert list(row.values()) == [None if v is None else pytest.approx(v, abs=1e-12) for v in at.row(0)]


@few
@given(rows=decided(known=False), metric=st.sampled_from([m for m in TABLE if m.higher is not None and not m.summed]))
def test_the_best_threshold_is_the_first_of_the_best(rows: pl.DataFrame, metric: Metric) -> None:
    """It is the row of thresholds() with the best value, of equal ones that with the highest threshold."""
    irm = rows.irm(undefined="null")
    every = irm.thresholds(metric)
    values = every[str(metric)].drop_nulls()
    if not len(values):
        with pytest.raises(NotComputableError, match="undefined"):
            irm.best_threshold(metric)
        return
    best = values.max() if metric.higher else values.min()
    first = every.filter((pl.col(str(metric)) - best).abs() <= 1e-12).head(1)
    assert irm.best_threshold(metric).equals(first)


@few
@given(rows=decided(both=False))
def test_means_of_precision_and_recall_of_a_prediction(rows: pl.DataFrame) -> None:
    """F1 <= G <= the mean of precision and recall, and all are equal where precision is recall."""
    asked = ("precision", "recall", "f1", "g_measure")
    p, r, f, g = value_of(rows.irm(predicted="predicted", undefined="null"), *asked)
    if p is None or r is None:
        assert g is None
        return
    assert f is not None
    assert g is not None
    assert f <= g + 1e-12
    assert g <= (p + r) / 2 + 1e-12
    if p == r:
        assert [f, g] == pytest.approx([p, p], abs=1e-12)


@few
@given(rows=decided(both=False, classes=4))
def test_precision_by_prediction_is_recall_by_class_is_accuracy(rows: pl.DataFrame) -> None:
    """Each weighted by how often its class is predicted, or true; so is every micro average of both."""
    irm = rows.irm(predicted="predicted", classes=[0, 1, 2, 3])
    (accuracy,) = value_of(irm, "accuracy")
    assert accuracy == pytest.approx((rows["label"] == rows["predicted"]).mean())
    assert value_of(irm, "precision", average="predicted") == [pytest.approx(accuracy, abs=1e-12)]
    assert value_of(irm, "recall", average="weighted") == [pytest.approx(accuracy, abs=1e-12)]
    assert value_of(irm, "precision", "recall", "f1", average="micro") == pytest.approx([accuracy] * 3, abs=1e-12)


@few
@given(rows=decided())
def test_informedness_of_a_prediction(rows: pl.DataFrame) -> None:
    """It is recall + specificity - 1, the payoff at fair odds, and the same of two classes taken as several."""
    asked = ("recall", "specificity", "informedness", "payoff", "balanced_accuracy", "mcc", "kappa", "accuracy")
    of_two = value_of(rows.irm(predicted="predicted"), *asked)
    recall, specificity, informedness, payoff, balanced, *_ = of_two
    assert recall is not None
    assert specificity is not None
    assert informedness == pytest.approx(recall + specificity - 1, abs=1e-12)
    assert payoff == pytest.approx(informedness, abs=1e-12)
    assert balanced == pytest.approx((recall + specificity) / 2, abs=1e-12)
    of_several = value_of(rows.irm(predicted="predicted", classes=[0, 1]), *asked[2:])
    assert of_several == pytest.approx(of_two[2:], abs=1e-12)


@few
@given(rows=decided(both=False, classes=3))
def test_what_is_known_and_what_remains_unknown(rows: pl.DataFrame) -> None:
    """Perplexity is 2 to the entropy that remains; what a prediction says is the entropy of the classes less that."""
    irm = rows.irm(predicted="predicted", classes=[0, 1, 2])
    remains, perplexity, says = value_of(irm, "conditional_entropy", "perplexity", "mutual_information")
    assert remains is not None
    share = rows["label"].value_counts()["count"].to_numpy() / len(rows)
    assert perplexity == pytest.approx(2**remains, abs=1e-12)
    assert says == pytest.approx(-(share * np.log2(share)).sum() - remains, abs=1e-12)


@few
@given(rows=decided(both=False, classes=3))
def test_the_table_of_classes_adds_up(rows: pl.DataFrame) -> None:
    """confusion() counts every row once, and per_class() of counts is read off it."""
    irm = rows.irm(predicted="predicted", classes=[0, 1, 2])
    table = irm.confusion()
    assert table["n"].sum() == len(rows)
    assert len(table) == 9
    for name, of in irm.per_class("tp", "fp", "fn", "tn").group_by("class"):
        (c,) = name
        yes, right = pl.col("predicted") == c, pl.col("actual") == c
        cells = [yes & right, yes & ~right, ~yes & right, ~yes & ~right]
        assert of["value"].to_list() == [table.filter(cell)["n"].sum() for cell in cells]


@few
@given(rows=decided(both=False))
def test_rows_that_are_pooled_are_the_micro_average_over_queries(rows: pl.DataFrame) -> None:
    """A prediction of rows in queries, averaged over summed counts, is that of the rows without queries."""
    asked = [m for m in TABLE if not m.summed]
    micro = rows.irm(query="group", predicted="predicted").evaluate(*asked, average="micro")
    whole = rows.irm(predicted="predicted").evaluate(*asked)
    assert micro["average"].unique().to_list() == ["micro"]
    for metric, one, other in zip(asked, micro["value"], whole["value"], strict=True):
        assert (one is None) == (other is None), metric
        assert one is None or one == pytest.approx(other, abs=1e-12), metric


@few
@given(rows=decided(both=False))
def test_a_query_is_what_a_segment_of_its_rows_is(rows: pl.DataFrame) -> None:
    """Per query, a prediction and its scores have the values that a segment of the same rows has."""
    asked = [m for m in POOLED if m.input is not Classes]
    each = (
        rows.irm(query="group", predicted="predicted", score="score")
        .per_query(*asked, layout="wide")
        .drop("answered")
        .sort("group")
    )
    pooled = rows.irm(by="group", predicted="predicted", score="score").evaluate(*asked, layout="wide")
    assert alike(each, pooled.select(each.columns).sort("group"))


# Kinds of frames


@pytest.mark.parametrize("kind", FRAMES)
@EACH_WAY
def test_decisions_are_the_same_in_every_kind_of_frame(kind: str, way: str) -> None:
    """Each verb gives the values that it gives on polars, in a frame of the caller's kind."""
    rows = made_cases(n=60)
    several = "several" in way
    roles: dict[str, Any] = {**LABELLED, **WAYS[way], "by": "segment"}
    texts = {value for value in roles.values() if isinstance(value, str)} | {f"p_{c}" for c in CLASSES if several}
    kept = rows.select(sorted(texts & set(rows.columns)))
    mine, theirs = IRM(kept, **roles), IRM(as_kind(kept, kind), **roles)
    pairs = [(mine.evaluate(*fitting(way)), theirs.evaluate(*fitting(way)))]
    if several:
        pairs.append((mine.per_class("recall", "f1", "roc_auc"), theirs.per_class("recall", "f1", "roc_auc")))
    else:
        every: dict[str, Any] = {"threshold": None, "collection_size": None}
        one, other = mine(**every), theirs(**every)
        pairs.append((one.thresholds("f1"), other.thresholds("f1")))
        pairs.append((one.best_threshold("f1"), other.best_threshold("f1")))
        pairs.extend(
            (one.curve(name), other.curve(name)) for name in ("roc", "pr", "gain", "calibration", "distribution")
        )
    pairs.append((mine(collection_size=None).confusion(), theirs(collection_size=None).confusion()))
    for one, other in pairs:
        assert type(other) is type(theirs.frame)
        read = as_polars(other)
        assert read.columns == one.columns
        assert alike(one, read.cast({name: kind for name, kind in one.schema.items() if read.schema[name] != kind}))
