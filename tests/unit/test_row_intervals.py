"""Intervals of rows without a query: those of the area under the ROC curve, and the bootstrap of everything."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats
from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    cohen_kappa_score,
    f1_score,
    log_loss,
    matthews_corrcoef,
    precision_score,
    recall_score,
    roc_auc_score,
)

from frame_metrics import IRM
from helpers import KINDS, as_kind, as_polars, ready
from inside import REGISTRY, FallingRows, FullScores, delong, expanded_level, read, sorted_levels, wilson_interval
from refusals import check

ENDS = ("ci_low", "ci_high")
DRAWN: dict[str, Any] = {"ci": 0.9, "resamples": 20, "seed": 5}


def rows_of(seed: int, n: int = 40, classes: int = 2) -> pl.DataFrame:
    """Rows with a class, a score (of each class, where there are several), a weight, a user and a day."""
    random = np.random.default_rng(seed)
    label = random.integers(0, classes, n)
    merit = random.normal(size=(n, classes)) + 1.5 * (np.arange(classes) == label[:, None])
    share = np.exp(merit) / np.exp(merit).sum(axis=1, keepdims=True)
    frame = {"label": label if classes == 2 else np.array(["a", "b", "c"])[label]}
    frame |= {"score": share[:, 1].round(2)} if classes == 2 else {f"p{i}": share[:, i] for i in range(classes)}
    frame |= {"w": random.integers(0, 4, n) / 2, "user": random.integers(0, 9, n), "day": random.integers(0, 3, n)}
    return pl.DataFrame(frame).with_columns(predicted=pl.col("label").shuffle(seed=seed))


def ends(found: Any) -> Any:
    """The ends of intervals, shape (rows, 2), NaN for null."""
    return as_polars(found).select(ENDS).to_numpy()


def redrawn(
    rows: pl.DataFrame, read: list[str], values: Callable[[pl.DataFrame], list[float]], n: list[float], moved: bool
) -> Any:
    """Ends of the percentile bootstrap by drawing rows, sorted by what is read of them, one by one.

    The level is that of ``n`` rows for each value; ``moved``: the mean of the draws is the value.
    """
    rows, random = rows.sort(read), np.random.default_rng(DRAWN["seed"])
    drawn = np.array([values(rows[random.integers(0, len(rows), len(rows))]) for _ in range(DRAWN["resamples"])])
    drawn += moved * (np.array(values(rows)) - drawn.mean(axis=0))
    wide = [expanded_level(0.9, one) / 2 for one in n]
    return [np.quantile(one, [0.5 - half, 0.5 + half]) for one, half in zip(drawn.T, wide, strict=True)]


def kish(weight: Any) -> float:
    """Rows of equal weight that are as informative."""
    return float(weight.sum() ** 2 / (weight**2).sum())


@pytest.mark.parametrize("weight", [None, "w"])
def test_scores_of_two_classes_are_resampled_row_by_row(weight: str | None) -> None:
    """The bootstrap of pooled scores is that of scikit-learn's values on rows that are drawn one by one."""
    rows = rows_of(0)
    names = ["roc_auc", "roc_auc(max_fpr=0.3)", "average_precision", "brier", "log_loss"]
    irm = rows.irm(query=None, predicted=None, weight=weight)

    def by_hand(drawn: pl.DataFrame) -> list[float]:
        given = drawn["label"].to_numpy(), drawn["score"].to_numpy()
        mass = None if weight is None else drawn[weight].to_numpy()
        partial = roc_auc_score(*given, max_fpr=0.3, sample_weight=mass)
        others = [one(*given, sample_weight=mass) for one in (average_precision_score, brier_score_loss, log_loss)]
        return [roc_auc_score(*given, sample_weight=mass), partial, *others]

    mass = (rows["w"] if weight else rows["w"] * 0 + 1).to_numpy()
    every, rarest = kish(mass), min(kish(mass[(rows["label"] == side).to_numpy()]) for side in (0, 1))
    read, n = ["label", "score", "w"] if weight else ["label", "score"], [rarest] * 3 + [every] * 2
    expected = redrawn(rows, read, by_hand, n, moved=False)
    found = irm.evaluate(*names, method="bootstrap", **DRAWN)
    np.testing.assert_allclose(ends(found), expected, rtol=0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("average", ["macro", "weighted"])
def test_scores_of_several_classes_are_resampled_row_by_row(average: Any) -> None:
    """The bootstrap of several classes' scores is that of scikit-learn's values on rows drawn one by one."""
    rows = rows_of(1, n=80, classes=3)
    irm = rows.irm(query=None, predicted=None, score={"a": "p0", "b": "p1", "c": "p2"})

    def by_hand(drawn: pl.DataFrame) -> list[float]:
        label, share = drawn["label"].to_numpy(), drawn.select("p0", "p1", "p2").to_numpy()
        ovr = roc_auc_score(label, share, multi_class="ovr", average=average)
        ovo = roc_auc_score(label, share, multi_class="ovo")
        return [ovr, ovo, log_loss(label, share), average_precision_score(label, share, average=average)]

    expected = redrawn(rows, ["label", "p0", "p1", "p2"], by_hand, [len(rows)] * 4, moved=True)
    asked = ["roc_auc", "roc_auc(multi='ovo')", "log_loss", "average_precision"]
    found = irm.evaluate(*asked, average=average, **DRAWN)
    np.testing.assert_allclose(ends(found), expected, rtol=0, atol=1e-12)


def test_areas_have_an_interval_of_their_own() -> None:
    """Of pooled rows of two classes that count one each: Newcombe's, or DeLong's; gini's are twice as far apart."""
    rows = rows_of(2)
    irm = rows.irm(query=None, predicted=None)
    found = irm.evaluate("roc_auc", "gini", "average_precision", ci=0.9)
    area, covariance = delong.areas(rows["score"].to_numpy()[None], rows["label"].to_numpy())
    sides = [np.array([(rows["label"] == side).sum()]) for side in (1, 0)]
    expected = delong.area_between(area, covariance[0], *sides, 0.9)[:, 0]
    assert ends(found)[:2] == pytest.approx(np.array([expected, 2 * expected - 1]), abs=1e-12)
    expected = delong.around(area, covariance[0], 0.9)[:, 0]
    normal = irm.evaluate("roc_auc", "gini", ci=0.9, method="delong")
    assert ends(normal) == pytest.approx(np.array([expected, 2 * expected - 1]), abs=1e-12)
    drawn = irm.evaluate("roc_auc", "gini", "average_precision", ci=0.9, method="bootstrap")
    assert (np.abs(ends(drawn) - ends(found))[:, 0] > 1e-6).all()


@pytest.mark.parametrize("roles", [{}, {"weight": "w"}, {"cluster": "user"}])
def test_measures_of_order_have_the_interval_of_a_share(roles: dict[str, str]) -> None:
    """It is Wilson's, of as many rows as have the variance of the draws; gini's is twice that of the area."""
    names = ["average_precision", "roc_auc(max_fpr=0.5)", *(["roc_auc", "gini"] if roles else [])]
    irm = rows_of(2, n=400).with_columns(w=pl.col("w") + 1, user=pl.int_range(400) // 4).irm(query=None, **roles)
    found, drawn = (irm.evaluate(*names, ci=0.9, method=method) for method in (None, "bootstrap"))
    for row, (low, high), of_draws in zip(found.rows(named=True), ends(found), ends(drawn), strict=True):
        least = -1 if row["metric"] == "gini" else 0
        share, low, high = (np.array([row["value"], low, high]) - least) / (1 - least)
        assert low < share < high
        assert (high - share) / (share - low) < 1  # it is longer towards the middle
        assert (low * (1 - low)) / (share - low) ** 2 == pytest.approx((high * (1 - high)) / (high - share) ** 2)
        assert (high - low) * (1 - least) == pytest.approx(of_draws[1] - of_draws[0], rel=0.15)
    if roles:
        assert ends(found)[3] == pytest.approx(2 * ends(found)[2] - 1, abs=1e-12)


def test_delong_of_a_counted_table() -> None:
    """Hanley and McNeil's 109 tomographies as ten rows with counts, with the interval that Stata prints."""
    counted = {"label": [0] * 5 + [1] * 5, "score": [1, 2, 3, 4, 5] * 2, "n": [33, 6, 6, 11, 2, 3, 2, 2, 11, 33]}
    found = pl.DataFrame(counted).irm(count="n").evaluate("roc_auc", ci=0.95, method="delong")
    assert found.select(pl.col("value", *ENDS).round(5)).row(0) == (0.89317, 0.83295, 0.95339)
    assert found["n"].item() == 109


def test_a_perfect_order_is_not_certain() -> None:
    """Nothing varies where every relevant row is above every other, but few rows may be so by chance."""
    perfect = pl.DataFrame({"label": [1, 1, 0, 0], "score": [4, 3, 2, 1]})
    low, high = ends(perfect.irm.evaluate("roc_auc", ci=0.9))[0]
    assert (round(low, 4), high) == (0.4702, 1)
    assert ends(perfect.irm.evaluate("roc_auc", ci=0.9, method="delong")).tolist() == [[1, 1]]
    reversed_order = perfect.with_columns(pl.col("score") * -1).irm.evaluate("roc_auc", "gini", ci=0.9)
    np.testing.assert_allclose(ends(reversed_order), [[0, 1 - low], [-1, 1 - 2 * low]], rtol=0, atol=1e-12)
    wide = pl.DataFrame({"label": [1, 1, 0, 0], "score": [4, 1, 3, 0]})
    assert ends(wide.irm.evaluate("roc_auc", "gini", ci=0.99, method="delong")).tolist() == [[0, 1], [-1, 1]]
    for roles in ({}, {"weight": "one"}, {"cluster": "one"}):
        low, high = ends(
            perfect.with_columns(one="score").irm(score="score", **roles).evaluate("average_precision", ci=0.9)
        )[0]
        assert (high, low < 0.6) == (1, True)  # of two rows, which Wilson's interval has from 0.42


def test_fewer_than_two_have_no_interval() -> None:
    """One row, one cluster; for DeLong one relevant row, or one other."""
    rows = rows_of(3).with_columns(one=pl.lit("x"))
    irm = rows.irm(query=None)
    assert np.isnan(ends(irm(cluster="one").evaluate("roc_auc", "average_precision", "recall", ci=0.9))).all()
    first = rows[:1].irm(query=None)
    assert np.isnan(ends(first.evaluate("brier", "accuracy", ci=0.9))).all()
    for label, varies in (([1, 0, 0], False), ([1, 1, 0], True)):  # no draw puts the relevant row of the first higher
        few = pl.DataFrame({"label": label, "score": [0.1, 0.5, 0.3]}).irm
        assert np.isnan(ends(few.evaluate("roc_auc", ci=0.9))).all()
        drawn = ends(few.evaluate("roc_auc", ci=0.9, method="bootstrap"))
        assert (~np.isnan(drawn)).all() if varies else np.isnan(drawn).all()


ROLES: dict[str, dict[str, Any]] = {
    "plain": {},
    "weights": {"weight": "w"},
    "clusters": {"cluster": "user"},
    "both": {"weight": "w", "cluster": "user"},
    "counts": {"count": "day"},
    "segments": {"by": "day"},
}
KIND_OF_ROWS: dict[str, tuple[int, dict[str, Any], list[str]]] = {
    "two classes": (2, {}, ["roc_auc", "average_precision", "f1", "mcc", "brier"]),
    "several": (3, {"score": {"a": "p0", "b": "p1", "c": "p2"}}, ["roc_auc", "log_loss", "f1", "kappa", "accuracy"]),
}


@pytest.mark.parametrize("roles", ROLES)
@pytest.mark.parametrize("what", KIND_OF_ROWS)
def test_order_and_library_make_no_difference(what: str, roles: str) -> None:
    """Shuffled rows, other names of clusters and other kinds of frames leave the ends as they are, to 1e-12."""
    classes, given, names = KIND_OF_ROWS[what]
    rows = rows_of(4, n=60, classes=classes)
    named: dict[str, Any] = {"query": None, **given, **ROLES[roles]}
    expected = ends(IRM(rows, **named).evaluate(*names, method="bootstrap", **DRAWN))
    assert not np.isnan(expected).any()
    shuffled = rows.sample(fraction=1, shuffle=True, seed=1)
    renamed = shuffled.with_columns(user=pl.format("u{}", (pl.col("user") * 7) % 11))
    for other in (shuffled, renamed, *(as_kind(shuffled, kind) for kind in KINDS)):
        found = ends(IRM(other, **named).evaluate(*names, method="bootstrap", **DRAWN))
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("roles", ["plain", "weights", "clusters"])
@pytest.mark.parametrize("what", KIND_OF_ROWS)
@pytest.mark.parametrize("most", [4, 40])
def test_counted_rows_are_drawn_as_those_they_stand_for(what: str, roles: str, most: int) -> None:
    """A counted table has the interval of its rows one by one, drawn as cells where they are many."""
    classes, given, names = KIND_OF_ROWS[what]
    rows = rows_of(5, classes=classes).with_columns(n=pl.Series(np.random.default_rng(6).integers(0, most, 40)))
    rows = pl.concat([rows, rows[:10]])  # so that the same row is counted in two places
    expanded = rows.filter(pl.col("n") > 0).select(pl.all().repeat_by("n")).explode(pl.all())
    named: dict[str, Any] = {"query": None, **given, **ROLES[roles]}
    mine, many = (irm.evaluate(*names, **DRAWN) for irm in (IRM(rows, count="n", **named), IRM(expanded, **named)))
    np.testing.assert_allclose(ends(mine), ends(many), rtol=0, atol=1e-12)
    assert mine["n"].to_list() == many["n"].to_list()


def test_cells_that_stand_for_many_rows_are_drawn_as_cells() -> None:
    """A billion rows are drawn as fast as ten, and their interval is as wide as DeLong's."""
    counted = pl.DataFrame({"label": [0] * 3 + [1] * 3, "score": [1, 2, 3] * 2, "n": [3, 2, 1, 1, 2, 3]})
    irm = counted.with_columns(pl.col("n") * 10**8).irm(count="n")
    found = [ends(irm.evaluate("roc_auc", ci=0.9, resamples=4000, method=how))[0] for how in ("bootstrap", "delong")]
    width = [high - low for low, high in found]
    assert width[0] == pytest.approx(width[1], rel=0.05)
    assert sum(found[0]) == pytest.approx(sum(found[1]), abs=width[0] / 10)


def test_totals_are_those_of_the_call_without_the_column() -> None:
    """The ends of a total are those of all rows, whichever way they were found."""
    rows = rows_of(7, n=90)
    for roles in ({}, {"weight": "w"}, {"cluster": "user"}):
        irm, asked = IRM(rows, query=None, **roles), ("roc_auc", "average_precision", "f1")
        total = irm(by="day").evaluate(*asked, margins=True, **DRAWN).filter(total_over="day")
        expected = irm.evaluate(*asked, **DRAWN)
        assert total.select(expected.columns).equals(expected)
        segment = irm(by="day").evaluate(*asked, **DRAWN).filter(day=1).drop("day")
        alone = IRM(rows.filter(pl.col("day") == 1), query=None, **roles).evaluate(*asked, **DRAWN)
        assert segment.equals(alone)


def test_an_interval_is_the_one_that_a_metric_has_alone() -> None:
    """Neither the other metrics nor the columns that they read make a difference."""
    irm = rows_of(8).irm(query=None, threshold=0.5)
    names = ["roc_auc", "average_precision", "f1", "brier"]
    together = irm.evaluate(*names, **DRAWN)
    for i, name in enumerate(names):
        assert irm.evaluate(name, **DRAWN).equals(together[i : i + 1])


def test_rows_are_sorted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many resamples there are, each costs no more than a walk along the rows."""
    done: list[str] = []
    for name in ("argsort", "lexsort", "sort"):
        own = getattr(np, name)
        monkeypatch.setattr(np, name, lambda *args, own=own, **given: (done.append("sorted"), own(*args, **given))[1])
    for classes, given, names in KIND_OF_ROWS.values():
        irm = rows_of(9, classes=classes).irm(query=None, cluster="user", **given)
        sorts = []
        for resamples in (5, 50):
            done.clear()
            irm.evaluate(*names, ci=0.9, resamples=resamples)
            sorts.append(len(done))
        assert sorts[0] == sorts[1]


def with_rare_classes(rows: int = 3) -> pl.DataFrame:
    """Sixty classes of a few rows, of which one in nine is taken for the first."""
    label = [f"c{i % 60:02}" for i in range(60 * rows)]
    predicted = [c if i % 9 else "c00" for i, c in enumerate(label)]
    columns = {"label": label, "predicted": predicted, "w": [1 + i % 3 for i in range(len(label))]}
    return pl.DataFrame(
        columns | {"user": [i // 2 for i in range(len(label))], "day": [i // 60 % 2 for i in range(len(label))]}
    )


MACRO = ("recall", "balanced_accuracy", "precision", "f1", "jaccard", "fdr", "miss_rate")


@pytest.mark.parametrize("roles", [{}, {"weight": "w"}, {"cluster": "user"}, {"by": "day"}])
@pytest.mark.parametrize("rows", [1, 3, 8])
def test_a_class_that_a_draw_lacks_is_left_out(roles: dict[str, str], rows: int) -> None:
    """Intervals of macro averages hold their estimate, and say nothing else where undefined ones are left out.

    Recall and balanced accuracy are one number, and a complement has the complement of the interval.
    """
    irm = with_rare_classes(rows).irm(**roles)
    found = irm.evaluate(*MACRO, ci=0.9, resamples=200)
    assert (
        found.select((pl.col("ci_low") <= pl.col("value")) & (pl.col("value") <= pl.col("ci_high"))).to_series().all()
    )
    of = {name: found.filter(metric=name).select(*ENDS).to_numpy() for name in MACRO}
    np.testing.assert_allclose(of["recall"], of["balanced_accuracy"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(of["fdr"], 1 - of["precision"][:, ::-1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(of["miss_rate"], 1 - of["recall"][:, ::-1], rtol=0, atol=1e-12)
    left = irm(undefined="null").evaluate("recall", ci=0.9, resamples=200)
    np.testing.assert_allclose(of["recall"], left.select(*ENDS).to_numpy(), rtol=0, atol=1e-12)


OF_TABLES: dict[str, tuple[float, Callable[..., float]]] = {
    "recall": (0, partial(recall_score, average="macro")),
    "precision": (0, partial(precision_score, average="macro", zero_division=0)),
    "f1": (0, partial(f1_score, average="macro")),
    "f1(weighted)": (0, partial(f1_score, average="weighted")),
    "mcc": (-1, matthews_corrcoef),
    "kappa": (-1, cohen_kappa_score),
    "kappa(weights='linear')": (-1, partial(cohen_kappa_score, weights="linear")),
}


def one_by_one(rows: pl.DataFrame, name: str, weight: Any, cluster: Any) -> Any:
    """Ends of the interval of a measure of a table, from what each row adds to it when its weight changes a little.

    To each class two rows are added, at the size that it had: one that is right, and one that is taken for the next
    class in the order of their sizes. In clusters they are as heavy as independent rows, of which there are fewer by as
    much as right rows vary more. The variance is at least that of independent rows of Kish's number.
    """
    true, predicted, (least, score) = rows["label"].to_numpy(), rows["predicted"].to_numpy(), OF_TABLES[name]
    unit = np.arange(len(rows)) if cluster is None else cluster

    def share(*given: Any, mass: Any) -> float:
        return float((score(*given, sample_weight=mass) - least) / (1 - least))

    size = {c: weight[true == c].sum() for c in np.unique(true)}
    hits, said = ({c: weight[some & (predicted == c)].sum() for c in size} for some in (true == predicted, True))
    rest = weight * ((true == predicted) - np.average(true == predicted, weights=weight))
    varies = (rest**2).sum(), (np.bincount(unit, rest) ** 2).sum()  # of rows, of units
    apart = min(varies[0] / varies[1], 1.0) if varies[1] else 0.0
    n = {c: max(kish(weight[true == c]) * apart, kish(np.bincount(unit[true == c], weight[true == c]))) for c in size}
    order = sorted(size, key=lambda c: (size[c], hits[c], said[c]))
    both = [*true, *order, *order], [*predicted, *order, *order[1:], order[0]]
    left = np.array([n[c] / (n[c] + 2) for c in both[0]])
    mass, one = np.array([*weight, *[size[c] / n[c] for c in order] * 2]) * left, np.eye(len(left)) * 0.001
    adds = np.array([share(*both, mass=mass * (1 + at)) - share(*both, mass=mass * (1 - at)) for at in one]) / 0.002
    units = [*unit, *range(-len(order), 0), *range(-2 * len(order), -len(order))]
    sums = pl.DataFrame({"unit": units, "adds": adds / np.sqrt(left)}).group_by("unit").sum()["adds"]
    heavy = {c: (weight[true == c] ** 2).sum() / size[c] for c in size}
    variance = max((sums**2).sum(), (np.array([heavy[c] for c in both[0]]) / mass * adds**2).sum())
    grown = share(*both, mass=mass)
    amount = grown * (1 - grown) / variance
    if cluster is not None:
        units_of_rows = kish(np.bincount(cluster, weight))
        t = NormalDist().inv_cdf(0.95) / stats.t.ppf(0.95, units_of_rows - 1)
        amount *= (units_of_rows - 1) / units_of_rows * t**2
    return least + (1 - least) * np.array(wilson_interval(share(true, predicted, mass=weight), amount, 0.9))


@pytest.mark.parametrize("roles", [{}, {"weight": "w"}, {"cluster": "user"}, {"by": "day"}])
@pytest.mark.parametrize("name", OF_TABLES)
def test_measures_of_tables_have_wilsons_interval_of_as_many_rows(name: str, roles: dict[str, str]) -> None:
    """Computed with scikit-learn's values, one row after the other, also where all rows are right."""
    rows = rows_of(4, n=60, classes=3).with_columns(w=pl.col("w") + 1, user=pl.int_range(60) // 3)
    rows = rows.with_columns(predicted=pl.when(pl.int_range(60) % 4 > 0).then("label").otherwise("predicted"))
    for frame in (rows, rows.with_columns(predicted="label")):
        asked, average = name.removesuffix("(weighted)"), "weighted" if "(weighted)" in name else None
        irm = frame.irm(query=None, score=None, classes=["a", "b", "c"], **roles)
        found = irm.evaluate(asked, ci=0.9, average=average)
        parts = frame.sort("day").partition_by("day") if "by" in roles else [frame]
        for row, own in zip(ends(found), parts, strict=True):
            mass = own["w"].to_numpy() if "weight" in roles else np.ones(len(own))
            cluster = own["user"].to_numpy() if "cluster" in roles else None
            assert row == pytest.approx(one_by_one(own, name, mass, cluster), abs=1e-4)
            assert row[0] > OF_TABLES[name][0]


@pytest.mark.parametrize("wrong", [0, 1, 5])
def test_the_macro_recall_of_one_class_has_the_interval_of_the_accuracy(wrong: int) -> None:
    """It is the same share, and the other class has no row."""
    rows = pl.DataFrame({"label": ["a"] * 20, "predicted": ["b"] * wrong + ["a"] * (20 - wrong)})
    found = rows.irm(classes=["a", "b"], undefined="null").evaluate("recall", "accuracy", ci=0.9)
    np.testing.assert_allclose(ends(found)[0], ends(found)[1], rtol=0, atol=1e-4)


def test_a_draw_without_relevant_rows_is_left_out() -> None:
    """One relevant row of ten is in two draws of three; without it average precision is undefined, and not 0.

    All others are alike, so there is no interval.
    """
    rows = pl.DataFrame({"label": [1, *[0] * 9], "score": [0.9, *[0.5] * 9]})
    found = rows.irm.evaluate("average_precision", ci=0.9)
    assert found.select("value", *ENDS).row(0) == (1, None, None)


def test_what_no_draw_can_define_counts_as_it_does_in_the_data() -> None:
    """A class that is never predicted has a precision of 0 in every draw, as in the value."""
    rows = pl.DataFrame({"label": ["a", "b", "c"] * 20, "predicted": ["a", "b", "a"] * 20})
    zero, null = (
        rows.irm(undefined=undefined).evaluate("precision", ci=0.9, method="bootstrap")
        for undefined in ("zero", "null")
    )
    assert zero["value"].item() == pytest.approx(0.5)
    assert null["value"].item() == pytest.approx(0.75)
    assert zero["ci_high"].item() < 0.6 < null["ci_low"].item()


@pytest.mark.parametrize("weight", [None, "w"])
def test_tables_of_each_class_are_counted_at_once(weight: str | None) -> None:
    """The cells of each class against the rest, undecided rows among them, are those of its rows one by one."""
    rows = rows_of(11, n=90, classes=3).with_columns(
        predicted=pl.when(pl.col("user") > 6).then(None).otherwise("predicted")
    )
    names = ("tp", "fp", "fn", "tn", "up", "un")
    found = rows.irm(query=None, weight=weight, by="day").per_class(*names, layout="wide")
    mass = pl.col("w") if weight else pl.lit(1)
    for row in found.iter_rows(named=True):
        mine, said = pl.col("label") == row["class"], pl.col("predicted")
        said_it, none = (said == row["class"]).fill_null(False), said.is_null()
        cells = [
            mine & said_it,
            ~mine & said_it & ~none,
            mine & ~said_it & ~none,
            ~mine & ~said_it & ~none,
            mine & none,
            ~mine & none,
        ]
        by_hand = rows.filter(day=row["day"]).select(
            *(mass.filter(cell).sum().cast(pl.Float64).alias(name) for name, cell in zip(names, cells, strict=True))
        )
        assert [row[name] for name in names] == pytest.approx(list(by_hand.row(0)), abs=1e-12)


ORDINAL = [str(one) for one in map(ready, REGISTRY.values()) if one.input is FullScores and one.of_order]


@pytest.mark.parametrize("levels", [3, 8, 10**6])
@pytest.mark.parametrize(
    "name", [*ORDINAL, "roc_auc(max_fpr=0.3)", "roc_auc(tpr=[0.5, 1])", "max_precision(min_recall=0)"]
)
def test_successive_scores_of_other_rows_are_one_to_measures_of_the_order(name: str, levels: int) -> None:
    """Each resample has the same value, with equal scores, missing ones, weights, and rows of one kind only."""
    random = np.random.default_rng(levels)
    score = np.where(random.random(40) < 0.15, -np.inf, random.integers(0, levels, 40).astype(float))
    often = random.multinomial(40, np.full(40, 1 / 40), 30) * random.choice([0.5, 1, 2.25], 40)
    ((_, own),) = read([name])
    for share in (0.1, 0.5, 1.0):
        good = random.random(40) < share
        rows = FallingRows(score, good)
        merged = FallingRows(score, good, rows.order, merged=True)
        assert len(merged.score) <= len(rows.score)
        expected = own.compute(rows.drawn(often))
        np.testing.assert_allclose(own.compute(merged.drawn(often)), expected, rtol=0, atol=1e-12)
        draw, row = np.nonzero(often)
        mass = often[draw, row]
        every = sorted_levels(draw, score[row], good[row] * mass, mass, 30)
        np.testing.assert_allclose(own.compute(every), expected, rtol=0, atol=1e-12)


TWO = rows_of(0)
LOG = pl.DataFrame({"query": [1, 1], "score": [0.3, 0.1], "label": [1, 0]})
REFUSALS = r"""
TWO.irm.evaluate("roc_auc", "average_precision", ci=0.9, method="delong")
    NotComputableError: average_precision has no interval by DeLong, but roc_auc and gini have one; pass
        method='bootstrap'
TWO.irm.evaluate("roc_auc(max_fpr=0.1)", ci=0.9, method="delong")
    NotComputableError: roc_auc(max_fpr=0.1) has no interval by DeLong, but roc_auc and gini have one; pass
        method='bootstrap'
TWO.irm(weight="w").evaluate("auc", ci=0.9, method="delong")
    NotComputableError: w is the weight of rows, and method='delong' is for independent rows that count one each; pass
        weight=None, or method='bootstrap'
TWO.irm(cluster="user").evaluate("auc", ci=0.9, method="delong")
    NotComputableError: user is the cluster of rows, and method='delong' is for independent rows that count one each;
        pass cluster=None, or method='bootstrap'
LOG.irm.evaluate("roc_auc", ci=0.9, method="delong")
    NotComputableError: method='delong' applies to rows without a query, and these are means over queries; pass
        method='bootstrap', or leave it out
TWO.irm.evaluate("roc_auc", method="delong")
    BadValueError: method='delong' requires ci=; pass ci=0.95 too
TWO.irm.evaluate("roc_auc", ci=0.9, method="delon")
    UnknownNameError: method='delon' is not one of 'delong', 'bootstrap', 't', 'normal'; did you mean 'delong'?
    but: TWO.irm.evaluate("roc_auc", "gini", ci=0.9, method="delong")
    but: TWO.irm(weight="w").evaluate("auc", "average_precision", ci=0.9, method="bootstrap")
    but: LOG.irm.evaluate("roc_auc", ci=0.9)
"""


def test_where_delong_does_not_apply() -> None:
    """An error says why, and the way out."""
    check(REFUSALS, globals())
