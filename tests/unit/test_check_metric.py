"""The laws for metrics of users: ours keep them, and each broken metric is caught by its law, with an example."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import frame_metrics
from frame_metrics import (
    BrokenLawError,
    Confusion,
    FrameMetricsError,
    KernelError,
    Metric,
    NotComputableError,
    Ranking,
    Scores,
    UnknownNameError,
    metric,
    metrics,
)
from frame_metrics.testing import check_metric
from helpers import ready
from inside import REGISTRY, ClassScores, FullRanking, Lists, TwoRankings

Array = np.ndarray[Any, Any]


@pytest.mark.parametrize(
    "own", [m for m in REGISTRY.values() if m.input not in (ClassScores, Lists, TwoRankings)], ids=str
)
def test_every_metric_of_ours_keeps_the_laws(own: Metric) -> None:
    """With what it cannot do without; on a scale so long that its highest grade satisfies."""
    check_metric(ready(own)(max_grade=20) if "max_grade" in own.options else ready(own))


@pytest.mark.parametrize(
    "text",
    [
        "ndcg@3",
        "ndcg(gain={0: 0, 1: 1, 3: 9})",
        "ap(rel=2)@2",
        "precision(judged_only=True)@3",
        "rr(judged_only=True)",
        "roc_auc(max_fpr=0.5)",
        "recall@1,2",
        "gm_ap",
    ],
)
def test_parameters_and_cutoffs_are_checked_too(text: str) -> None:
    """A name is read as in a verb."""
    check_metric(text)


# Broken on purpose


def as_a_list(run: Ranking) -> Any:
    return [0.5] * run.n_queries


def as_integers(run: Ranking) -> Array:
    return run.lengths


def of_one_query_only(run: Ranking) -> Array:
    return run.hits()[:1] * 0


def without_results(run: Ranking) -> Array:
    return run.grade[run.lengths.cumsum() - run.lengths] * 0.0


def above_one(run: Ranking) -> Array:
    return 2 * run.hits() / np.maximum(run.lengths, 1)


def adds_up_over_queries(run: Ranking) -> Array:
    return np.cumsum(run.hits()) / (1 + np.cumsum(run.hits()))


def by_the_best_query(run: Ranking) -> Array:
    return run.hits() / max(run.hits().max(initial=0), 1)


def drops_grades(run: Ranking) -> Array:
    hits = run.hits() / np.maximum(run.n_relevant, 1)
    run.grade[:] = 0
    return hits


def drops_queries(run: FullRanking) -> Array:
    hits = run.hits() / np.maximum(run.n_relevant, 1)
    run.n_ret = np.zeros_like(run.n_ret)
    return hits


def at_random(run: Ranking) -> Array:
    return np.random.default_rng().random(run.n_queries)


calls: list[int] = []


def counts_calls(run: Ranking) -> Array:
    calls.append(1)
    return np.full(run.n_queries, 1 / len(calls))


def half_at_best(run: Ranking) -> Array:
    return run.hits() / np.maximum(2 * run.n_relevant, 1)


def looks_past_the_cutoff(run: Ranking, k: int | None = None) -> Array:
    first = run.total(run.relevant / run.rank)
    return first / np.maximum(run.hits(), 1)


def wraps_round(run: FullRanking) -> Array:
    below = (run.grade - run.grade.dtype.type(1)) > 1  # 0 - 1 is 255
    return np.minimum(run.count_of(below, None), 1).astype(float)


def likes_even_ranks(run: Ranking) -> Array:
    return run.total(run.relevant * (1.0 - run.rank % 2))


def first_is_relevant_twice(run: Ranking) -> Array:
    both = run.hits(2)
    return both**2 / 4


def share_of_judged(run: Ranking) -> Array:
    return run.hits() / np.maximum(run.total(run.judged), 1)


def never_zero(run: Ranking) -> Array:
    return np.where(run.n_relevant > 0, 1 + run.hits(), np.nan)


def of_a_table(table: Confusion) -> Array:
    return (table.tp - table.fp) / np.maximum(table.tp + table.fp, 1)


def of_scores(scores: Scores) -> Array:
    return scores.area**2


def worst_scores(scores: Scores) -> Array:
    return 1 - scores.area


def sorted_tables(table: Confusion) -> Array:
    return np.sort(table.tp) / np.maximum(np.sort(table.tp).max(initial=1), 1)


BROKEN: dict[Callable[..., Any], tuple[str, dict[str, Any]]] = {
    as_a_list: ("result", {}),
    as_integers: ("result", {}),
    of_one_query_only: ("result", {}),
    without_results: ("result", {"best": None}),
    above_one: ("in range", {}),
    adds_up_over_queries: ("apart", {"best": None}),
    by_the_best_query: ("apart", {}),
    drops_grades: ("result", {}),
    drops_queries: ("unchanged", {}),
    at_random: ("repeated", {}),
    counts_calls: ("repeated", {}),
    half_at_best: ("best", {}),
    looks_past_the_cutoff: ("cutoff", {"best": None}),
    wraps_round: ("types of grades", {"best": None}),
    likes_even_ranks: ("monotone", {"best": None, "range": (0, math.inf), "monotone": True, "undefined": None}),
    first_is_relevant_twice: ("expected", {"best": None, "expected": True}),
    share_of_judged: ("monotone", {"best": None, "monotone": True}),
    of_a_table: ("in range", {}),
    of_scores: ("slope", {"slope": 1, "undefined": None}),
    worst_scores: ("best", {"undefined": None}),
    sorted_tables: ("apart", {"best": None}),
}
# One of these breaks no law, as it is declared: the share does not depend on the order.
HARMLESS = {share_of_judged}


@pytest.mark.parametrize("kernel", [one for one in BROKEN if one not in HARMLESS], ids=lambda one: one.__name__)
def test_a_broken_metric_is_caught_by_its_law_within_a_second(kernel: Callable[..., Any]) -> None:
    """The error names the metric, the law and an example; it is ours, and an AssertionError for test runners."""
    law, declared = BROKEN[kernel]
    own = metric(**declared)(kernel)
    begin = time.process_time()
    with pytest.raises(BrokenLawError) as found:
        check_metric(own)
    assert time.process_time() - begin < 2
    assert found.value.law == law
    assert isinstance(found.value, AssertionError)
    assert isinstance(found.value, FrameMetricsError)
    assert str(found.value).startswith(f"{kernel.__name__} breaks the law '{law}': ")
    assert found.value.example
    assert str(found.value).endswith(found.value.example)


EXAMPLES: dict[Callable[..., Any], str] = {
    as_integers: r"as_integers: its function as_integers\(\) gave an array of int64, shape \(1,\)",
    without_results: r"no query at all: .* raised IndexError|a query whose results have the grades \[\]: .*IndexError",
    above_one: r"a query whose results have the grades \[1\] has 2, and the range is \(0, 1\)",
    by_the_best_query: r"has 1 alone, and 0\.5 (before|after) a query whose results have the grades \[\d, \d\]",
    drops_grades: r"drops_grades\(\) raised ValueError: assignment destination is read-only; the other metrics read",
    drops_queries: r"a query whose results have the grades .*: n_ret was \[\d\], and is \[0\]",
    half_at_best: r"a ranking of 1000 documents with grade 2 has 0\.5, and the best is 1",
    looks_past_the_cutoff: r"a query whose results have the grades \[.*\] has .* at 1, and with what is below turned",
    likes_even_ranks: r"likes_even_ranks of a query whose results have the grades \[.*\].* is [01], and of a query",
    first_is_relevant_twice: r"in ties of \[.*\], is .*, and the mean over the orders is ",
    of_a_table: r"a table with tp=0, fp=1, fn=0, tn=0 has -1, and the range is \(0, 1\)",
}


@pytest.mark.parametrize("kernel", EXAMPLES, ids=lambda one: one.__name__)
def test_the_example_is_a_small_case_with_its_value(kernel: Callable[..., Any]) -> None:
    """What to look at first."""
    with pytest.raises(BrokenLawError) as found:
        check_metric(metric(**BROKEN[kernel][1])(kernel))
    assert re.search(EXAMPLES[kernel], found.value.example), found.value.example


@pytest.mark.parametrize("kernel", HARMLESS, ids=lambda one: one.__name__)
def test_a_declaration_that_holds_breaks_no_law(kernel: Callable[..., Any]) -> None:
    """The order makes no difference here."""
    check_metric(metric(**BROKEN[kernel][1])(kernel))


def test_what_stands_for_an_undefined_value_is_in_the_range() -> None:
    """The decorator refuses it where it is declared; the law is for metrics that are made otherwise."""
    own = replace(metric(range=(1, math.inf), best=None, undefined=None)(never_zero), undefined=0)
    said = r"a query whose results have the grades \[\] has no value, undefined=0 is put there, and the range is"
    with pytest.raises(BrokenLawError, match=said) as found:
        check_metric(own)
    assert found.value.law == "undefined"


@pytest.mark.parametrize("text", ["err(max_grade=3)@3", "err(max_grade=1)", "rbp(gain='exp', max_grade=3)@2"])
def test_the_best_value_is_that_of_a_long_scale(text: str) -> None:
    """A grade of 3 out of 3 satisfies 7 of 8 users: err comes near to 1 as the scale gets longer."""
    check_metric(text)


def test_a_metric_that_misses_its_best_value_on_a_long_scale_is_found() -> None:
    """With a highest grade, as without one."""

    @metric()
    def half_of_top(run: Ranking, max_grade: float = 3) -> Array:
        return run.total(run.gains() * (run.rank == 1)) / max_grade / 2

    with pytest.raises(BrokenLawError) as found:
        check_metric(half_of_top(max_grade=3))
    assert found.value.law == "best"


def test_unjudged_rows_that_lower_a_value_break_what_is_declared_of_them() -> None:
    """The share of the judged results that are not relevant falls."""

    @metric(best=0, unjudged="rises", undefined=None)
    def wrong_ones(run: Ranking) -> Array:
        return run.total(run.judged - run.relevant) / np.maximum(run.total(run.judged), 1)

    with pytest.raises(BrokenLawError, match=r"grades \[none, 0\] has 1, and a query .* \[2, 0\] 0\.5$") as found:
        check_metric(wrong_ones)
    assert found.value.law == "unjudged"


def test_a_metric_completes_what_it_adds_up_to_1_with() -> None:
    """It has the best and the undefined value that go with those of the other, from which it may not differ."""

    def lost(table: Confusion) -> Array:
        return (table.fn + table.up) / table.actual

    own = metric(completes="recall")(lost)
    assert (own.best, own.undefined, own.higher) == (0, 1, False)
    check_metric(own)
    with pytest.raises(FrameMetricsError, match="lost: completes='nothing' is no metric"):
        metric(completes="nothing")(lost)

    @metric(completes="recall")
    def half_lost(table: Confusion) -> Array:
        return lost(table) / 2

    with pytest.raises(BrokenLawError, match=r"has 0\.5, and recall is 0$") as found:
        check_metric(half_lost)
    assert found.value.law == "completes"


def test_the_exception_of_a_kernel_is_the_cause() -> None:
    """As it is where the metric is used."""

    @metric(best=None)
    def lost(run: Ranking) -> Array:
        if run.n_queries > 1:
            raise KeyError("gone")
        return np.zeros(run.n_queries)

    with pytest.raises(BrokenLawError, match="raised KeyError: 'gone'") as found:
        check_metric(lost)
    assert isinstance(found.value.__cause__, KernelError)
    assert isinstance(found.value.__cause__.__cause__, KeyError)


def test_columns_that_a_metric_reads_are_made_up() -> None:
    """A metric of extra= is tried as others are, and its mean over equal scores is taken at its word no more."""

    @metric(range=(0, math.inf), best=None, undefined=None)
    def mean_price(run: Ranking, k: int | None = None) -> Array:
        price = run.column("price")
        return run.total(price * run.within(k)) / run.total(run.within(k))

    check_metric(mean_price)
    check_metric(mean_price @ 2)

    @metric(range=(0, math.inf), best=None, expected=True)
    def bought(run: Ranking, k: int | None = None) -> Array:
        return run.total(run.column("price", relevant=True) * run.within(k))

    check_metric(bought)
    check_metric(bought @ 2)

    @metric(range=(0, math.inf), best=None, expected=True)
    def dearest(run: Ranking) -> Array:
        price = run.column("price")
        return run.total(price**2)

    with pytest.raises(BrokenLawError, match=r"column 0: \[.*in ties of") as found:
        check_metric(dearest)
    assert found.value.law == "expected"


def test_columns_of_flags_are_tried_with_0_and_1() -> None:
    """A share of clicked results is in its range where the column is said to hold flags; other columns are numbers."""

    @metric(best=None, undefined=None)
    def clicked(run: Ranking, k: int | None = None) -> Array:
        flag, price = run.column("click"), run.column("price")
        paid = run.total(flag * np.minimum(price, 1) * run.within(k))
        return paid / run.total(run.within(k))

    with pytest.raises(BrokenLawError, match=r"column 0: \[.*the range is \(0, 1\)") as found:
        check_metric(clicked)
    assert found.value.law == "in range"
    check_metric(clicked, flags="click")
    check_metric(clicked @ 2, flags=["click", "price"])
    with pytest.raises(UnknownNameError, match="flags: clicked reads no column 'clicks'; it reads 'click', 'price'"):
        check_metric(clicked, flags=["clicks"])
    with pytest.raises(UnknownNameError, match="flags: rr reads no column 'x'; it reads none"):
        check_metric("rr", flags="x")


def test_a_metric_that_was_defined_again_is_told_from_the_other() -> None:
    """By value it is the first, and its text reads as the second."""

    def cell(best: int) -> Metric:
        @metric(best=None)
        def share(run: Ranking) -> Array:
            return run.hits() / np.maximum(run.lengths, best)

        return share

    first = cell(1)
    check_metric(first)
    cell(2)
    with pytest.raises(BrokenLawError, match="'share' is another metric") as found:
        check_metric(first)
    assert found.value.law == "name"


def test_what_a_metric_cannot_do_without_is_asked_for() -> None:
    """As a verb asks for it."""
    for own, needed in ((metrics.iprec, "recall"), (metrics.err, "max_grade")):
        with pytest.raises(NotComputableError, match=f"{own} needs {needed}=; check it with one"):
            check_metric(own)


def test_the_laws_are_found_from_the_package() -> None:
    """Without an import of their own."""
    assert frame_metrics.testing.check_metric is check_metric
