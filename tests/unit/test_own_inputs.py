"""The inputs of users' metrics: a few names, which are enough, and nothing else."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import polars as pl
import pytest

from frame_metrics import IRM, Confusion, FrameMetricsError, KernelError, Metric, Ranking, Scores, metric, metrics
from frame_metrics.testing import check_metric
from helpers import ROOT, error
from inside import FullRanking, Lists

Array = np.ndarray[Any, Any]
PAGE = ROOT / "docs" / "look_up" / "own_metrics.md"
NAMES = {
    Ranking: "n_queries lengths n_relevant rank grade relevant judged gains column within hits total running ideal",
    Confusion: "n_queries tp fp fn tn up un empty predicted actual negative population",
    Scores: "n_queries lengths score probability tp fp pos neg positives negatives area total",
}
MADE: dict[type, Any] = {
    Ranking: Ranking([2, math.nan, 1, 0], [3, 1], columns={"price": [1, 2, 3, 4]}),
    Confusion: Confusion([1], [2], [3], [4]),
    Scores: Scores([0.5, 0.25, 0.5], [1, 0, 0], [2, 1]),
}


# The names


@pytest.mark.parametrize("kind", NAMES)
def test_an_input_has_the_names_that_are_listed(kind: type) -> None:
    """Completion shows them and no others, on the object; on the class beside what Python needs."""
    names = NAMES[kind].split()
    assert dir(MADE[kind]) == sorted(names)
    assert {name for name in dir(kind) if not name.startswith("_")} == {*names}
    assert all(name in repr(MADE[kind]) for name in names)


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in NAMES.items() for name in names.split()])
def test_each_name_is_explained(kind: type, name: str) -> None:
    """By a docstring with an example, which runs where all docstrings do, and by a row of the page."""
    said = inspect.getdoc(getattr(kind, name)) or ""
    assert ">>> " in said
    page = PAGE.read_text(encoding="utf-8").partition("## What a kernel reads")[2]
    holder = {Ranking: "run", Confusion: "table", Scores: "scores"}[kind]
    assert f"`{holder}.{name}" in page.partition("## ")[0]


def test_the_page_names_nothing_else() -> None:
    """What it shows is there."""
    page = PAGE.read_text(encoding="utf-8").partition("## What a kernel reads")[2]
    for kind, holder in {Ranking: "run", Confusion: "table", Scores: "scores"}.items():
        found = {part.partition("`")[0] for part in page.partition("## ")[0].split(f"`{holder}.")[1:]}
        assert {name.partition("(")[0] for name in found} == {*NAMES[kind].split()}


@pytest.mark.parametrize(
    ("kind", "name", "why"),
    [
        (Ranking, "good", "a Ranking has no 'good'; it has lengths, "),
        (Ranking, "gain", ", n_queries; did you mean 'gains'?"),
        (Ranking, "tp", ", n_queries; annotate the first parameter as Confusion or Scores to read it"),
        (Confusion, "size", "a Confusion has no 'size'; it has tp, fp, fn"),
        (Scores, "column", "; annotate the first parameter as Ranking to read it"),
        (Scores, "_query", "'Scores' object has no attribute '_query'"),
    ],
)
def test_any_other_name_is_an_error(kind: type, name: str, why: str) -> None:
    """It lists what there is, and says where a name of another input belongs."""
    with pytest.raises(AttributeError) as found:
        getattr(MADE[kind], name)
    assert why in str(found.value)


def test_an_error_of_a_name_is_one_of_the_metric() -> None:
    """Before the log is read: the kernel is tried on one row."""

    @metric()
    def of_rows(run: Ranking) -> Array:
        return run.count_of(run.good, None)  # type: ignore[attr-defined]

    plan = pl.LazyFrame({"query": ["a"], "score": [1.0], "label": [1]}).irm
    said = error(lambda: plan.evaluate("of_rows"), KernelError)
    assert said.startswith("of_rows: its function of_rows() raised AttributeError: a Ranking has no 'count_of'; it has")


@pytest.mark.parametrize("kind", NAMES)
def test_no_name_can_be_put_in(kind: type) -> None:
    """Nor can an array be written in: other metrics read it too."""
    for name in (*NAMES[kind].split(), "other"):
        with pytest.raises(AttributeError):
            setattr(MADE[kind], name, 1)
        if isinstance(held := getattr(MADE[kind], name, None) if name != "other" else None, np.ndarray):
            assert not held.flags.writeable, name


# What a function is given


def test_the_annotation_says_what_a_function_is_given() -> None:
    """The public class under its name; the class behind it only where that is asked for; ours inside a user's."""
    given: dict[str, type] = {}

    @metric(best=None)
    def shown(run: Ranking) -> Array:
        given["shown"] = type(run)
        return np.asarray((metrics.ap(run) + metrics.rr(run)) / 2)

    @metric(best=None)
    def behind(run: FullRanking) -> Array:
        given["behind"] = type(run)
        return run.hits()

    log = pl.DataFrame({"query": ["a", "a"], "score": [2.0, 1.0], "label": [0, 1]}).irm
    assert log.evaluate("shown", "behind")["value"].to_list() == [0.5, 1]
    assert given == {"shown": Ranking, "behind": FullRanking}
    assert shown.input is behind.input is FullRanking
    assert shown(Ranking([0, 1], [2])).tolist() == [0.5]
    assert behind(Ranking([0, 1], [2])).tolist() == [1]


def test_a_metric_is_called_with_an_input_as_verbs_compute_it() -> None:
    """With its cutoff and its parameters: (ndcg @ 1)(run) was the ndcg of the whole list."""
    run = Ranking([1, 0, 2], [2, 1], rel=2)
    assert (metrics.dcg @ 1)(run).tolist() == metrics.dcg(run, k=1).tolist() == [1, 2]
    assert (metrics.dcg(gain="exp") @ 1)(run).tolist() == metrics.dcg(run, k=1, gain="exp").tolist() == [1, 3]
    assert (metrics.precision @ 2)(run).tolist() == [0, 0.5]
    assert metrics.precision(rel=1)(run).tolist() == metrics.precision(run, rel=1).tolist() == [0.5, 1]
    assert metrics.recall(Confusion([1], [2], [3])).tolist() == [0.25]
    assert math.isnan(metrics.rr(Ranking([0], [1]))[0])
    assert error(lambda: metrics.rr(MADE[Confusion])) == "rr: it is computed of Ranking, and this is a Confusion"
    assert "has no parameter 'x'" in error(lambda: metrics.rr(run, x=1))


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: Ranking([1, 2], [3]), "lengths=[3] do not add up to the number of grades, 2"),
        (lambda: Ranking([1], [1], columns={"price": []}), "columns: 'price' has 0 values, and there are 1 grades"),
        (lambda: Ranking([1], [1], n_relevant=[1, 2]), "n_relevant: 2 numbers, and there are 1 queries"),
        (lambda: Confusion([1], [2, 3], [1]), "tp, fp, fn and the other cells have one number for each table"),
        (lambda: Scores([1], [1, 0], [1]), "1 scores, 2 values of relevant, and lengths that add up to 1"),
        (lambda: MADE[Ranking].total([1, 2]), "total() takes one value for each of the 4 results, and was given shape"),
        (lambda: MADE[Ranking].running(1), "running() takes one value for each of the 4 results"),
        (lambda: MADE[Ranking].ideal(lambda rank: 1), "ideal() takes one value for each of the 2 ranks"),
        (lambda: MADE[Scores].total([]), "total() takes one value for each of the 3 distinct scores"),
        (lambda: Confusion([1], [2], [1]).tn, "true negatives need collection_size="),
    ],
)
def test_what_cannot_be_is_an_error(make: Callable[[], Any], why: str) -> None:
    """Arrays of other lengths, and true negatives that nobody knows."""
    assert why in error(make, FrameMetricsError)


# The names are enough: our metrics written with them


def _discount(rank: Array) -> Array:
    return 1 / np.log2(rank + 1)


def _precision(run: Ranking, k: int | None = None) -> Array:
    return run.hits(k) / (run.lengths if k is None else k)


def _recall(run: Ranking, k: int | None = None) -> Array:
    return run.total(run.relevant * run.within(k)) / run.n_relevant


def _dcg(run: Ranking, k: int | None = None) -> Array:
    return run.total(run.gains("exp") * _discount(run.rank) * run.within(k))


def _ndcg(run: Ranking, k: int | None = None) -> Array:
    return run.total(run.gains() * _discount(run.rank) * run.within(k)) / run.ideal(_discount, k)


def _judged(run: Ranking, k: int | None = None) -> Array:
    return run.total(run.judged * run.within(k)) / run.total(run.within(k))


def _ap(run: Ranking, k: int | None = None) -> Array:
    return run.total(run.relevant * run.running(run.relevant) / run.rank * run.within(k)) / run.n_relevant


def _rr(run: Ranking, k: int | None = None) -> Array:
    first = run.relevant * (run.running(run.relevant) == 1)
    return run.total(first / run.rank * run.within(k)) / (run.n_relevant > 0)


def _dcg_of_grades(run: Ranking, k: int | None = None) -> Array:
    return run.total(np.nan_to_num(run.grade) * _discount(run.rank) * run.within(k))


SUMS = {
    "precision": _precision,
    "recall": _recall,
    "dcg(gain='exp')": _dcg,
    "ndcg": _ndcg,
    "judged": _judged,
}
OTHERS = {"ap": _ap, "rr": _rr, "dcg": _dcg_of_grades}


def _own(kernel: Callable[..., Array], **declared: Any) -> Metric:
    """Put a kernel in the registry, under a name of its own."""
    kernel.__name__ = f"own{kernel.__name__.removeprefix('own')}"
    return metric(range=(0, math.inf), best=None, **declared)(kernel)


def _random(seed: int, *, n: int = 400) -> pl.DataFrame:
    """Results of some queries, with equal scores, unjudged rows, and judged ones that were not retrieved."""
    random = np.random.default_rng(seed)
    score = random.integers(0, 9, n).astype(float)
    return pl.DataFrame(
        {
            "query": random.integers(0, 60, n),
            "score": pl.Series([None if x == 0 else x for x in score], dtype=pl.Float64),
            "grade": pl.Series([None if x == 3 else int(x) for x in random.integers(0, 4, n)], dtype=pl.Int64),
            "row": np.arange(n),
            "price": random.integers(1, 9, n).astype(float),
            "chance": random.integers(1, 5, n) / 4,
        }
    )


def _logs() -> Iterator[tuple[str, Any]]:
    log = _random(1).filter(pl.col("score").is_not_null() | pl.col("grade").is_not_null())
    shown = log.drop_nulls("score").with_columns(rank=pl.col("row").rank("ordinal").over("query") * 2)
    irm = IRM(log, query="query", score="score", grade="grade")
    yield "order", irm(ties="order", rel=2)
    yield "condensed", irm(ties="order", unjudged="drop")
    yield "gaps", IRM(shown, query="query", rank="rank", grade="grade")
    judged = log.filter(pl.col("grade").is_not_null()).select("query", "row", "grade")
    yield "judged", IRM(log.drop("grade").drop_nulls("score"), query="query", score="score", doc="row").judge(judged)
    yield "expected", irm(ties="expected")


@pytest.mark.parametrize("case", [name for name, _ in _logs()])
def test_our_metrics_written_with_these_names_give_what_ours_give(case: str) -> None:
    """On lists with equal scores, gaps of ranks and missing judgments, with and without a cutoff."""
    irm = dict(_logs())[case]
    kernels = SUMS if case == "expected" else SUMS | OTHERS
    for name, kernel in kernels.items():
        own = _own(kernel, expected=name in SUMS)
        for k in (None, 1, 3):
            ours, theirs = (irm.per_query(one if k is None else one @ k) for one in (_ours(name), own))
            assert ours["query"].to_list() == theirs["query"].to_list()
            assert np.allclose(ours["value"].to_numpy(), theirs["value"].to_numpy(), rtol=1e-12, equal_nan=True), name


def _ours(text: str) -> Metric:
    name, _, rest = text.partition("(")
    found: Metric = getattr(metrics, name)
    return found(gain="exp") if rest else found


@pytest.mark.parametrize("kernel", [*SUMS.values()], ids=[*SUMS])
def test_sums_over_results_hold_what_they_declare(kernel: Callable[..., Array]) -> None:
    """Their means over equal scores are those of all orders, for relevance, gains and judgments."""
    check_metric(_own(kernel, expected=True))
    check_metric(_own(kernel, expected=True) @ 2)


def test_prices_of_relevant_results_are_a_mean_of_products() -> None:
    """With equal scores of 2 and 8 euros, the first relevant: 2 * 1/2 at each rank, not 5 * 1/2."""

    @metric(range=(0, math.inf), best=None, expected=True)
    def earned(run: Ranking, k: int | None = None) -> Array:
        return run.total(run.column("price", relevant=True) * run.within(k))

    log = pl.DataFrame({"query": ["a", "a"], "score": [1.0, 1.0], "label": [1, 0], "price": [2.0, 8.0]})
    assert log.irm(extra={"price": "price"}, ties="expected").evaluate("earned@1")["value"].to_list() == [1.0]
    check_metric("earned@1")


def test_a_grade_among_equal_scores_that_some_lack_is_refused() -> None:
    """There is no mean of it; where all have one, it is their mean."""

    @metric(range=(0, math.inf), best=None, expected=True)
    def first_grade(run: Ranking) -> Array:
        return run.total(np.where(run.rank == 1, run.grade, 0))

    log = pl.DataFrame({"query": ["a", "a"], "score": [1.0, 1.0], "grade": [1, 4]})
    assert log.irm(ties="expected").evaluate("first_grade")["value"].to_list() == [2.5]
    lacking = log.with_columns(grade=pl.Series([1, None], dtype=pl.Int64))
    assert "run.grade: of rows with equal scores some have no value" in error(
        lambda: lacking.irm(ties="expected").evaluate("first_grade"), FrameMetricsError
    )


def test_clicks_are_weighted_as_in_ours() -> None:
    """relevant, gains and hits have the weight of a click; ranks, lengths and prices have none."""
    log = _random(2).with_columns(grade=pl.col("grade").fill_null(0) > 1).drop_nulls("score")
    irm = IRM(log, query="query", score="score", label="grade", grade=None, propensity="chance", ties="order")
    irm = irm(extra={"price": "price"}, clip=3)

    @metric(range=(0, math.inf), best=None, adds=True)
    def earned_once(run: Ranking) -> Array:
        return run.total(run.relevant * run.column("price")) - run.total(run.column("price", relevant=True))

    for name, kernel in {"num_rel_ret": _hits, "dcg": _dcg_plain}.items():
        made = _own(kernel, adds=True)
        ours, theirs = (irm.per_query(one @ 3)["value"].to_numpy() for one in (getattr(metrics, name), made))
        assert np.allclose(ours, theirs, rtol=1e-12)
        assert ours.sum() > irm(propensity=None, clip=None).per_query(getattr(metrics, name) @ 3)["value"].sum()
    assert irm.per_query(earned_once)["value"].abs().max() < 1e-9


def _hits(run: Ranking, k: int | None = None) -> Array:
    return run.total(run.relevant * run.within(k))


def _dcg_plain(run: Ranking, k: int | None = None) -> Array:
    return run.total(run.gains() * _discount(run.rank) * run.within(k))


def test_tables_and_scores_written_with_these_names_give_what_ours_give() -> None:
    """Of rows, with undecided ones, and at a cutoff."""

    @metric()
    def own_recall(table: Confusion) -> Array:
        return table.tp / (table.tp + table.fn + table.up)

    @metric()
    def own_precision(table: Confusion) -> Array:
        return table.tp / table.predicted

    @metric(undefined=None)
    def own_specificity(table: Confusion) -> Array:
        return table.tn / (table.population - table.actual)

    @metric(undefined=None)
    def own_auc(scores: Scores) -> Array:
        above = scores.tp - scores.pos / 2
        return scores.total(scores.neg * above) / (scores.positives * scores.negatives)

    random = np.random.default_rng(3)
    frame = pl.DataFrame(
        {
            "label": random.integers(0, 2, 60),
            "predicted": pl.Series([None if x == 2 else int(x) for x in random.integers(0, 3, 60)], dtype=pl.Int64),
            "score": random.integers(0, 9, 60) / 8,
            "query": random.integers(0, 9, 60),
        }
    )
    pooled = frame.irm(query=None)
    asked = ["recall", "own_recall", "precision", "own_precision", "specificity", "own_specificity"]
    cut, at_3 = (
        frame.irm(query="query", predicted=None, collection_size=90, ties="order"),
        [f"{name}@3" for name in asked],
    )
    for found in (pooled.evaluate(asked), cut.evaluate(at_3), cut.evaluate(at_3, average="micro")):
        value = found["value"].to_list()
        assert value[::2] == pytest.approx(value[1::2], rel=1e-12)
    both = pooled.evaluate("roc_auc", "own_auc")["value"].to_list()
    assert both[0] == pytest.approx(both[1], rel=1e-12)
    assert check_metric("own_recall") is check_metric("own_auc") is None


def test_other_inputs_have_no_public_class() -> None:
    """Sets of lists are read by ours alone."""

    def of_lists(lists: Lists) -> Array:
        return np.ones(1)

    assert "frame_metrics.Ranking, Confusion or Scores" in error(lambda: metric()(of_lists))
