"""Clusters: measures of the clusters themselves, and clusters taken for classes by what a bookmaker pays."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import polars as pl
import pytest
import sklearn.metrics as skl
from polars import testing as pl_testing

from frame_metrics import IRM, BadValueError
from helpers import KINDS, as_kind, as_polars, error

THEMSELVES = ("conditional_entropy", "perplexity", "mutual_information", "rand_index", "adjusted_rand_index")
MATCHES: list[Any] = [None, "best", "majority", "informedness", "payoff"]


def rows_of(table: Any, classes: str = "abcdefgh") -> pl.DataFrame:
    """Rows with these counts by class and cluster; classes are text, and clusters numbers."""
    table = np.asarray(table)
    rows = [(classes[c], f) for c, f in np.ndindex(*table.shape) for _ in range(table[c, f])]
    return pl.DataFrame(rows, schema=["label", "predicted"], orient="row")


def random_tables(n: int, seed: int = 0) -> list[np.ndarray]:
    """Return tables of 2 to 5 classes and 1 to 6 clusters, some empty."""
    rng = np.random.default_rng(seed)
    return [rng.integers(0, 5, (int(rng.integers(2, 6)), int(rng.integers(1, 7)))) for _ in range(n)]


def values(irm: IRM[pl.DataFrame], *names: str) -> list[float | None]:
    found: list[float | None] = irm.evaluate(*names)["value"].to_list()
    return found


# Of the clusters themselves


@pytest.mark.parametrize("match", MATCHES)
def test_the_entropy_that_clusters_leave_is_their_own(match: Any) -> None:
    """Cluster 0 of a and b leaves one bit for half of the rows, whatever it is taken for: best had 0, majority .689."""
    rows = pl.DataFrame({"label": [*"aabb"], "predicted": [0, 1, 0, 2]})
    assert values(rows.irm(match=match), "conditional_entropy") == [0.5]
    assert values(rows.irm(match=match), *THEMSELVES) == pytest.approx([0.5, 2**0.5, 0.5, 3 / 6, -2 / 7])


@pytest.mark.parametrize("match", MATCHES[1:])
def test_measures_of_clusters_are_those_without_a_match(match: Any) -> None:
    """Whatever clusters are taken for, and whether they are called by numbers or as the classes are."""
    for table in random_tables(20):
        rows = rows_of(table)
        if rows["label"].n_unique() > 1:
            own = values(IRM(rows), *THEMSELVES)
            assert values(IRM(rows, match=match), *THEMSELVES) == own
            named = rows.with_columns(pl.col("predicted").replace_strict(dict(enumerate("hgfedcba"))))
            assert values(IRM(named, classes=[*"abcdefgh"]), *THEMSELVES) == pytest.approx(own, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_of_clusters_beside_classes_that_are_text(kind: str) -> None:
    """They need no match, unless it is asked which class is meant; then the error says so, in every verb."""
    irm = IRM(
        as_kind(pl.DataFrame({"animal": [*"aabb"], "found": [7, 8, 7, 9]}), kind), label="animal", predicted="found"
    )
    assert as_polars(irm.evaluate(*THEMSELVES))["value"].to_list() == pytest.approx([0.5, 2**0.5, 0.5, 3 / 6, -2 / 7])
    said = "those of animal are text; give both one type, or pass match= if they are clusters"
    for verb in (
        lambda: irm.evaluate("accuracy"),
        lambda: irm.evaluate("rand_index", "recall"),
        lambda: irm.evaluate("accuracy", ci=0.9),
        lambda: irm.per_class("recall"),
        irm.confusion,
    ):
        assert said in error(verb, BadValueError)
    (message,) = as_polars(irm.audit()).filter(check="data that cannot be read")["message"]
    assert said in message


def test_one_class_and_one_cluster() -> None:
    """Two values of different types are no two classes of which one is relevant."""
    irm = pl.DataFrame({"label": ["a", "a"], "predicted": [1, 1]}).irm()
    assert values(irm, "rand_index", "conditional_entropy") == [1, 0]
    assert "pass match= if they are clusters" in error(lambda: irm.evaluate("accuracy"), BadValueError)


# The Rand index


@pytest.mark.parametrize("seed", range(3))
def test_rand_indices_are_those_of_scikit_learn(seed: int) -> None:
    """On random tables of as many clusters as classes, fewer and more; where there is nothing to tell apart, null."""
    for table in random_tables(25, seed):
        rows = rows_of(table)
        if len(rows) < 2 or rows["label"].n_unique() < 2:
            continue
        sides = rows["label"].to_list(), rows["predicted"].to_list()
        assert values(IRM(rows), "rand_index", "rand_score", "ARI", "adjusted_rand_score") == pytest.approx(
            [skl.rand_score(*sides)] * 2 + [skl.adjusted_rand_score(*sides)] * 2, abs=1e-12
        )


def test_rand_indices_by_hand() -> None:
    """Six rows, 15 pairs: 4 in one class, 3 in one cluster, 2 in both, so 15 - 4 - 3 + 2 apart in both."""
    rows = pl.DataFrame({"label": [*"aaabbc"], "predicted": [1, 1, 2, 3, 3, 2]})
    expected = [(2 + 10) / 15, (2 - 4 * 3 / 15) / (3.5 - 4 * 3 / 15)]
    assert values(rows.irm(), "rand_index", "adjusted_rand_index") == pytest.approx(expected)
    worst = pl.DataFrame({"label": [*"aabb"], "predicted": [1, 2, 1, 2]})
    assert values(worst.irm(), "adjusted_rand_index") == pytest.approx([-0.5])


def test_rand_indices_are_undefined_where_there_is_nothing_to_tell_apart() -> None:
    """One row makes no pair; and where both sides are one group, or each row its own, chance gets all pairs right."""
    both = ("rand_index", "adjusted_rand_index")
    assert values(pl.DataFrame({"label": ["a"], "predicted": [1]}).irm(), *both) == [None, None]
    assert values(pl.DataFrame({"label": [*"aaa"], "predicted": [1, 1, 1]}).irm(), *both) == [1, None]
    assert values(pl.DataFrame({"label": [*"abc"], "predicted": [3, 1, 2]}).irm(), *both) == [1, None]
    none = pl.DataFrame({"label": [*"abc"], "predicted": [1, None, None]})
    assert none.irm().evaluate(*both).select("value", "n_undefined").rows() == [(None, 1)] * 2
    assert values(none.irm(undefined="one"), *both) == [1, 1]


@pytest.mark.parametrize("match", MATCHES)
def test_no_segment_has_no_pair(match: Any) -> None:
    """A frame without rows has no segment and no error, and one without labels one that is undefined."""
    none = pl.DataFrame(schema={"label": pl.String, "predicted": pl.String, "day": pl.Int64})
    assert none.irm(match=match, by="day").evaluate(*THEMSELVES).is_empty()
    rows = pl.DataFrame({"label": [None], "predicted": ["x"]}, schema_overrides={"label": pl.String})
    assert values(rows.irm(match=match, classes=["x"], unjudged="drop"), *THEMSELVES) == [None] * 5


def test_pairs_are_of_rows_with_a_prediction() -> None:
    """What is in no cluster is in no pair."""
    rows = pl.DataFrame({"label": [*"aaabbcca"], "predicted": [1, 1, 2, 3, 3, 2, None, None]})
    for name in THEMSELVES:
        assert values(rows.irm(), name) == values(rows[:6].irm(), name)


def test_pairs_of_two_classes() -> None:
    """Of labels 0 and 1 the pairs are those of the same table as classes."""
    rows = pl.DataFrame({"label": [1, 1, 0, 0, 0], "predicted": [1, 0, 0, 0, None]})
    for name in THEMSELVES:
        assert values(rows.irm(), name) == values(rows.irm(classes=[0, 1]), name)


def test_pairs_of_rows_that_stand_for_several() -> None:
    """Counted rows make pairs of all they stand for, and so do weights; a group of less than one row makes no pair."""
    table = np.array([[3, 1, 1], [2, 2, 0]])
    cells = pl.DataFrame({"label": [*"aaabbb"], "predicted": [0, 1, 2] * 2, "n": table.ravel(), "w": [0.5] * 6})
    expected = values(rows_of(table).irm(), *THEMSELVES)
    assert values(cells.irm(count="n"), *THEMSELVES) == expected
    assert values(cells.irm(weight="n"), *THEMSELVES) == expected
    # Three rows of 2 classes by 3 clusters: 3 pairs, 2 * .375 in one class, none in one cluster.
    assert values(cells.irm(weight="w"), "rand_index") == pytest.approx([(3 - 0.75) / 3])
    assert values(cells[:2].irm(weight="w"), "rand_index") == [None]


@pytest.mark.parametrize("match", MATCHES[1:])
def test_intervals_of_clusters(match: Any) -> None:
    """Draws are of the clusters, which stay taken for what they are taken for; with weights and sessions too.

    Rows are drawn in the order of what they hold, which is another one where two clusters are taken for one class.
    """
    rng = np.random.default_rng(3)
    label = rng.integers(0, 3, 120)
    found = np.where(rng.random(120) < 0.6, label, rng.integers(0, 4, 120))
    rows = pl.DataFrame(
        {"label": pl.Series(label).cast(pl.String), "predicted": found, "w": rng.integers(1, 9, 120) / 8, "user": label}
    ).with_columns(user=pl.int_range(120) // 3)
    irm = IRM(rows, match=match)
    taken = dict(irm.confusion().select("predicted", "matched").iter_rows())
    said = IRM(rows.with_columns(pl.col("predicted").replace_strict(taken, return_dtype=pl.String)))
    for roles in ({"weight": "w"}, {"cluster": "user"}):
        given: Any = {"ci": 0.9}
        heavy = irm(weight=roles.get("weight")).confusion() if "weight" in roles else irm.confusion()
        assert dict(heavy.select("predicted", "matched").iter_rows()) == taken
        mine, theirs = (one(**roles).evaluate("accuracy", "f1", **given) for one in (irm, said))
        pl_testing.assert_frame_equal(mine, theirs, abs_tol=0.02)
    one = irm.evaluate("accuracy", "adjusted_rand_index", ci=0.9)
    assert (one["ci_low"] < one["value"]).all()
    assert (one["value"] < one["ci_high"]).all()
    own = IRM(rows).evaluate("adjusted_rand_index", ci=0.9).row(0)
    assert one.row(1) == own


# Taken for classes by what a bookmaker pays


def informedness(table: np.ndarray, taken: Any) -> float | None:
    """The informedness of clusters that are taken for classes, by its definition."""
    k = len(table)
    counts = np.zeros((k, k))
    for cluster, c in enumerate(taken):
        if c >= 0:
            counts[:, c] += table[:, cluster]
    decided = counts.sum(axis=1)
    if np.count_nonzero(decided) < 2:
        return None
    gain = 0.0
    for c in range(k):
        said, hit = counts[:, c].sum(), counts[c, c]
        gain += said * (hit / decided[c] if hit else 0) - said * (said - hit) / (decided.sum() - decided[c])
    return gain / table.sum()


def test_a_match_by_informedness_where_the_most_rows_mislead() -> None:
    """Both ways 11 of 22 rows are right; one has an informedness of .389, the other of -.389."""
    irm = rows_of([[4, 0], [11, 7]]).irm(match="informedness")
    assert values(irm, "informedness", "accuracy") == pytest.approx([1 - 11 / 18, 0.5])
    assert values(irm(match="best"), "accuracy") == [0.5]
    taken = dict(irm.confusion().select("predicted", "matched").iter_rows())
    assert taken == {0: "a", 1: "b"}
    turned = rows_of([[0, 4], [7, 11]])
    assert values(turned.irm(match="informedness"), "informedness") == pytest.approx([1 - 11 / 18])


@pytest.mark.slow
def test_a_match_by_informedness_is_the_best_of_all_where_there_are_no_more_clusters_than_classes() -> None:
    """Every one-to-one way is tried; with more clusters than classes it is never below the one of most rows."""
    tables = [table[:, table.any(axis=0)] for table in random_tables(150, 7)]
    tables = [table for table in tables if np.count_nonzero(table.any(axis=1)) > 1]
    rows = pl.concat(rows_of(table).with_columns(day=pl.lit(i)) for i, table in enumerate(tables))
    irm = IRM(rows, by="day", classes=[*"abcde"], undefined="null")
    mine, best = (values(irm(match=match), "informedness") for match in ("informedness", "best"))
    assert len(mine) == len(tables)
    below = 0
    for table, one, other in zip(tables, mine, best, strict=True):
        assert other is None or (one is not None and one >= other - 1e-12)
        below += one is not None and other is not None and other < one - 1e-9
        if table.shape[1] <= 5:
            wide = np.vstack([table, np.zeros((5 - len(table), table.shape[1]))])
            ways = [informedness(wide, way) for way in itertools.permutations(range(5), table.shape[1])]
            assert one == pytest.approx(max(way for way in ways if way is not None), abs=1e-12)
    assert below > 10


def test_a_match_by_informedness_leaves_clusters_over() -> None:
    """One to one: a cluster that no class is left for decides nothing, as with "best"."""
    irm = rows_of([[5, 1, 0], [0, 4, 5]]).irm(match="informedness")
    taken = dict(irm.confusion().select("predicted", "matched").iter_rows())
    assert taken == {0: "a", 1: None, 2: "b"}
    assert values(irm, "coverage", "informedness") == pytest.approx([10 / 15, 10 / 15])


def test_a_match_by_informedness_in_each_segment() -> None:
    """A cluster that a segment does not have takes no class there."""
    rows = pl.concat(
        [
            rows_of([[4, 0], [11, 7]]).with_columns(day=pl.lit("mo")),
            rows_of([[0, 0, 4], [0, 0, 11], [0, 0, 7]]).with_columns(day=pl.lit("tu")),
        ]
    )
    table = rows.irm(match="informedness", by="day").confusion()
    taken = (
        table.filter(pl.col("matched").is_not_null()).select("day", "predicted", "matched").unique(maintain_order=True)
    )
    assert taken.rows() == [("mo", 0, "a"), ("mo", 1, "b"), ("tu", 2, "a")]


def test_a_match_by_informedness_of_rows_of_one_class() -> None:
    """Where one class is there is nothing to be informed about, and the rows are matched all the same."""
    irm = rows_of([[3, 2]]).irm(match="informedness")
    assert values(irm, "informedness", "accuracy") == [None, 3 / 5]


def test_a_match_by_payoff_takes_several_clusters_for_one_class() -> None:
    """Each cluster for the class that it predicts best; of two classes no other way has a greater informedness."""
    irm = rows_of([[7, 6, 1, 0], [10, 9, 10, 6]]).irm(match="payoff")
    assert values(irm, "informedness", "coverage") == pytest.approx([13 / 14 - 19 / 35, 1])
    assert dict(irm.confusion().select("predicted", "matched").iter_rows()) == {0: "a", 1: "a", 2: "b", 3: "b"}
    for table in random_tables(60, 3):
        found = values(rows_of(table).irm(match="payoff", classes=[*"abcdefgh"]), "informedness")
        if len(table) == 2 and table.any(axis=1).all():
            ways = [informedness(table, way) for way in itertools.product(range(2), repeat=table.shape[1])]
            assert found == pytest.approx([max(way for way in ways if way is not None)], abs=1e-12)
        elif np.count_nonzero(table.any(axis=1)) > 1:
            n, of = table.sum(), table.sum(axis=1, keepdims=True)
            paid = np.where(of > 0, table / np.maximum(of, 1), 0) - (table.sum(axis=0) - table) / (n - of)
            assert found == pytest.approx([informedness(table, paid.argmax(axis=0))], abs=1e-12)


@pytest.mark.parametrize("rule", ["best", "informedness", "majority", "payoff"])
def test_a_segment_is_matched_by_its_own_rows(rule: str) -> None:
    """Classes of other segments are none of its own, though one without a row may win or draw."""
    rng = np.random.default_rng(7)
    for _ in range(20):
        days = [
            pl.DataFrame({"label": rng.choice([*"abcd"[: 3 + day]], 8), "found": rng.integers(1, 4, 8), "day": day})
            for day in range(2)
        ]
        both, alone = (pl.concat(some).irm(predicted="found", match=rule, by="day") for some in (days, days[:1]))
        metrics = "precision", "kappa", "informedness", "accuracy"
        assert both.evaluate(*metrics).filter(day=0).equals(alone.evaluate(*metrics))
        said = both.confusion().filter(pl.col("day") == 0, pl.col("n") > 0)
        assert said.equals(alone.confusion().filter(pl.col("n") > 0))
