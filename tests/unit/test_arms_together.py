"""Families of arms that are tested together: p-values and intervals of all pairs, by permutations of all units."""

from itertools import pairwise, permutations
from math import sqrt
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

from frame_metrics import report
from frame_metrics.stats.exact import wilson
from inside import arms_together_by
from refusals import check


def arms_of(values: Any, arm: Any, **columns: Any) -> pl.DataFrame:
    """Saved numbers of queries, each of one arm."""
    return pl.DataFrame({"arm": arm, "v": values} | columns).with_row_index("query")


def drawn(*sizes: int, seed: int = 0, spread: float = 1.0) -> pl.DataFrame:
    """Normal values of arms a, b, ..., of which the last one varies otherwise."""
    rng = np.random.default_rng(seed)
    arm = np.repeat([*"abcdefghij"][: len(sizes)], sizes)
    return arms_of(rng.normal(size=sum(sizes)) * np.where(arm == arm[-1], spread, 1), arm)


def compared(frame: pl.DataFrame, *metrics: str, **options: Any) -> pl.DataFrame:
    """Compare arms."""
    return frame.irm(query="query", arm="arm", value=[*metrics] or "v").ab_test(**options)


def distance(one: Any, other: Any, *, plain: bool) -> float:
    """The distance of two means: over Welch's standard error, or where it is plain over that of both together."""
    apart = abs(one.mean() - other.mean())
    if plain:
        both = np.concatenate([one, other]).var(ddof=1) * (1 / len(one) + 1 / len(other))
        return 0.0 if apart < 1e-12 else float(apart / sqrt(both))
    error = one.var(ddof=1) / len(one) + other.var(ddof=1) / len(other)
    return 0.0 if apart < 1e-12 else float("inf") if error < 1e-24 else float(apart / sqrt(error))


PAIRS = [(1, 0), (2, 0), (2, 1)]


@pytest.mark.parametrize("values", [[1.0, 2.5, 4.0, 3.0, 7.0, 11.0, 12.5], [0, 0, 1, 0, 1, 1, 1]])
def test_p_values_by_all_permutations(values: list[float]) -> None:
    """The share of permutations in which some pair is as far apart; by 10,000 random ones nearly that of all."""
    plain, ends = len(set(values)) == 2, [0, 2, 4, 7]

    def far(order: Any) -> list[float]:
        parts = [order[begin:end] for begin, end in pairwise(ends)]
        return [distance(parts[one], parts[other], plain=plain) for one, other in PAIRS]

    most = np.array([max(far(order)) for order in np.array([*permutations(values)])])
    expected = [(most >= seen * (1 - 1e-9)).mean() if seen else 1.0 for seen in far(np.array(values))]
    found = compared(arms_of(values, [*"aabbccc"]))
    expected = np.maximum(expected, found["p_value"].to_numpy()).tolist()
    assert found["p_adjusted"].to_list() == pytest.approx(expected, abs=0.02)
    assert found["correction"].to_list() == ["max_t"] * 3


def test_intervals_have_one_width_in_standard_errors() -> None:
    """It is that of the family, greater than that of a pair by itself; mde and the relative interval have it too."""
    frame = drawn(30, 30, 40, 50, spread=2).with_columns(pl.col("v") + 10)
    joint, alone = compared(frame), compared(frame, correction="holm")
    values = dict(frame.group_by("arm").agg("v").iter_rows())
    wide = []
    for row, single in zip(joint.rows(named=True), alone.rows(named=True), strict=True):
        error = sqrt(sum(np.var(values[row[side]], ddof=1) / len(values[row[side]]) for side in ("arm", "baseline")))
        wide.append((row["ci_high"] - row["difference"]) / error)
        assert row["difference"] - row["ci_low"] == pytest.approx(wide[-1] * error)
        assert row["mde"] - single["mde"] == pytest.approx(row["ci_high"] - single["ci_high"])
        assert row["relative_low"] < single["relative_low"] < single["relative_high"] < row["relative_high"]
    assert wide == pytest.approx([wide[0]] * 6)
    assert 2.5 < wide[0] < 2.9  # the quantile of the studentised range of four means of many units is 2.57
    assert joint["p_value"].equals(alone["p_value"])
    assert (joint["p_adjusted"] >= joint["p_value"]).all()


def test_shares_have_newcombes_interval_of_that_width() -> None:
    """Both shares have Wilson's interval with the width of the family in place of z."""
    ones = np.array([1] * 8 + [0] * 32 + [1] * 15 + [0] * 25 + [1] * 21 + [0] * 19)
    first, *_ = compared(arms_of(ones, np.repeat([*"abc"], 40))).rows(named=True)
    z = 2.34  # of the studentised range of three

    def ends(z: float) -> tuple[float, float]:
        (low, high), (base_low, base_high) = wilson(15 / 40, 40, z), wilson(8 / 40, 40, z)
        apart = 7 / 40
        below, above = np.hypot(15 / 40 - low, base_high - 8 / 40), np.hypot(high - 15 / 40, 8 / 40 - base_low)
        return apart - below, apart + above

    assert ends(z + 0.1)[0] < first["ci_low"] < ends(z - 0.1)[0]
    assert ends(z - 0.1)[1] < first["ci_high"] < ends(z + 0.1)[1]


def test_neither_names_nor_other_arms_matter() -> None:
    """Arms with other names have the same numbers; so has a metric beside others, and a segment beside others."""
    frame = drawn(9, 14, 11)
    joint, named = compared(frame), compared(frame.with_columns(pl.col("arm").replace({"a": "c", "c": "a"})))
    swapped = {(row["arm"], row["baseline"]): row["p_adjusted"] for row in named.rows(named=True)}
    turned = [swapped[pair] for pair in (("b", "a"), ("c", "a"), ("c", "b"))]
    assert [turned[2], turned[1], turned[0]] == joint["p_adjusted"].to_list()
    both = compared(frame.with_columns(w=pl.col("v") ** 2), "v", "w")
    assert_frame_equal(both.filter(metric="v"), joint)
    two = pl.concat([frame.with_columns(day=1), frame.with_columns(day=2, query=pl.col("query") + 99, v=-pl.col("v"))])
    by = two.irm(query="query", arm="arm", value="v", by="day").ab_test()
    assert by["p_adjusted"].to_list()[:3] == joint["p_adjusted"].to_list()


@pytest.mark.parametrize(
    ("sizes", "metrics", "options", "expected"),
    [
        ((9, 9), ("v",), {}, (1, None)),
        ((9, 9), ("v", "w"), {}, (1, None)),
        ((9, 9), ("v", "w"), {"over": "all"}, (2, "max_t")),
        ((9, 9, 9), ("v", "w"), {}, (3, "max_t")),
        ((9, 9, 9), ("v", "w"), {"over": "all"}, (6, "max_t")),
        ((9, 9, 9), ("v",), {"baseline": "a"}, (2, "max_t")),
        ((9, 9, 1), ("v",), {}, (1, None)),
        ((9, 9, 9), ("v",), {"test": "t"}, (3, "holm")),
        ((9, 9, 9), ("v",), {"correction": "bh"}, (3, "bh")),
        ((9, 9, 9), ("v",), {"covariate": "x"}, (3, "holm")),
        ((150, 150, 150), ("v",), {"looks": "any"}, (3, "holm")),
    ],
)
def test_what_is_corrected_together(sizes: Any, metrics: Any, options: Any, expected: Any) -> None:
    """All pairs of a metric, or all rows; those of other tests by Holm, and one p-value not at all."""
    frame = drawn(*sizes).with_columns(w=pl.col("v") ** 2 + pl.col("query") % 3, x=pl.col("query") % 5)
    found = compared(frame, *metrics, **options)
    assert set(found.select("n_tests", "correction").rows()) == {expected}


def test_units_of_several_arms_leave_it_to_holm() -> None:
    """A user of two arms cannot be permuted as one of a single arm."""
    frame = drawn(9, 9, 9).with_columns(user=pl.col("query") % 14)
    irm = frame.irm(query="query", arm="arm", value="v", cluster="user")
    assert irm.ab_test()["correction"].to_list() == ["holm"] * 3
    alone = frame.with_columns(user=pl.col("query") // 2).filter(pl.col("query") // 2 != 4, pl.col("query") // 2 != 13)
    clustered = alone.irm(query="query", arm="arm", value="v", cluster="user").ab_test()
    assert clustered["correction"].to_list() == ["max_t"] * 3
    assert (clustered["ci_high"] > clustered["difference"]).all()


def test_metrics_of_other_queries_in_one_family() -> None:
    """A metric without a value of some queries is permuted over its own ones; segments over theirs."""
    some = pl.when(pl.col("query") % 4 > 0).then(pl.col("v"))
    frame = drawn(12, 12, 12).with_columns(day=pl.col("query") % 2, w=some)
    found = frame.irm(query="query", arm="arm", value=["v", "w"], by="day").ab_test(over="all")
    assert set(found["correction"]) == {"max_t"}
    assert set(found["n_tests"]) == {12}
    alone = frame.irm(query="query", arm="arm", value=["v", "w"], by="day").ab_test()
    assert (found["p_adjusted"] >= alone["p_adjusted"] - 0.02).all()
    assert (found["ci_high"] > alone["ci_high"]).all()


def test_too_few_permutations_for_the_level() -> None:
    """No interval holds together at 0.95 by ten permutations: it is null, as mde is."""
    found = compared(drawn(9, 9, 9), permutations=10)
    assert found.select("ci_low", "ci_high", "relative_low", "mde").rows() == [(None,) * 4] * 3
    assert found["p_adjusted"].min() >= 1 / 11


@pytest.mark.parametrize("ways", ["normal", "kinds", "first"])
def test_ways_of_large_arms(ways: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Normal numbers, numbers of each kind and few permutations first say what permutations of units say."""
    frame = drawn(150, 150, 150, 300, seed=4)
    if ways == "kinds":
        frame = frame.with_columns(v=(pl.col("v") * 2).round().clip(-3, 3) + 0.3 * (pl.col("arm") == "c"))
    with monkeypatch.context() as patch:
        arms_together_by(patch, "units")
        units = compared(frame)
    arms_together_by(monkeypatch, ways)
    found = compared(frame)
    assert found["p_adjusted"].to_list() == pytest.approx(units["p_adjusted"].to_list(), abs=0.04)
    assert found["ci_high"].to_list() == pytest.approx(units["ci_high"].to_list(), abs=0.02)
    assert (found["p_adjusted"].to_list() == units["p_adjusted"].to_list()) is False


def test_memory_and_blocks_change_nothing_that_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Permutations in blocks of other sizes are others, and say nearly the same."""
    found = compared(drawn(20, 20, 20, seed=2))
    arms_together_by(monkeypatch, "blocks")
    again = compared(drawn(20, 20, 20, seed=2))
    assert again["p_adjusted"].to_list() == pytest.approx(found["p_adjusted"].to_list(), abs=0.03)


def test_equal_values() -> None:
    """Arms of which all values are equal do not differ; if one is apart from others, that is as far as can be."""
    found = compared(arms_of([1.0] * 12, [*"abc"] * 4))
    assert found.select("p_value", "p_adjusted", "difference").rows() == [(1, 1, 0)] * 3
    values = np.repeat([1.0, 1.0, 2.0], 6)
    apart = compared(arms_of(values, np.repeat([*"abc"], 6)))
    assert apart["p_adjusted"].to_list()[0] == 1
    assert max(apart["p_adjusted"].to_list()[1:]) < 0.01


def test_periods_too() -> None:
    """Periods with queries of their own are permuted as arms are."""
    frame = drawn(9, 9, 9)
    found = frame.irm(query="query", arm="arm", value="v").change()
    assert found["p_adjusted"].to_list() == compared(frame)["p_adjusted"].to_list()


def test_tables_say_that_intervals_of_arms_hold_together() -> None:
    """Below a table of arms."""
    assert "Intervals hold together for 3 pairs." in report.markdown(compared(drawn(9, 9, 9)))


def test_level() -> None:
    """The least corrected p of six arms that do not differ is below 0.05 in about 5 % of draws."""
    alarms = sum(
        compared(drawn(*[8] * 6, seed=seed), permutations=199)["p_adjusted"].min() <= 0.05 for seed in range(30)
    )
    assert stats.binom.sf(alarms - 1, 30, 0.05) > 0.001


REFUSED = """
ARMS.ab_test(correction="max_t", test="t")
    NotComputableError: correction='max_t' applies to tests that flip the signs of differences of queries, or
        exchange the units of arms, and test='t' exchanges none; pass test='randomization', or pass correction='holm'
    but: ARMS.ab_test(correction="max_t", test="randomization")
    but: ARMS.ab_test(correction="holm", test="t")
ARMS.ab_test(correction="max_t", looks="any")
    NotComputableError: correction='max_t' applies to tests that flip the signs of differences of queries, or
        exchange the units of arms, and looks='any' exchanges none; pass correction='holm'
    but: ARMS.ab_test(correction="holm", looks="any")
ARMS.ab_test(correction="max_t", covariate="x")
    NotComputableError: correction='max_t' permutes units over all arms, which covariate='x' cannot be used with; pass
        correction='holm', or covariate=None
    but: ARMS.ab_test(correction="holm", covariate="x")
    but: ARMS.ab_test(correction="max_t")
ARMS(cluster="user").ab_test(correction="max_t")
    NotComputableError: correction='max_t' permutes units over all arms, and 9 units are in several; pass
        correction='holm'
    but: ARMS(cluster="user").ab_test(correction="holm")
ARMS(cluster="user").change(correction="max_t")
    NotComputableError: correction='max_t' permutes units over all periods, and 9 units are in several; pass
        correction='holm'
    but: ARMS(cluster="user").change(correction="holm")
ROWS.ab_test("accuracy", correction="max_t")
    NotComputableError: correction='max_t' applies to tests that flip the signs of differences of queries, or
        exchange the units of arms, and ab_test() exchanges none here; pass correction='holm'
    but: ROWS.ab_test("accuracy", correction="holm")
"""


def test_refused() -> None:
    """Other tests, looks, a covariate and shared units cannot be tested together."""
    frame = drawn(6, 6, 6).with_columns(x=pl.col("query") % 5, user=pl.col("query") % 9)
    rows = pl.DataFrame({"arm": ["a", "b", "c"] * 4, "label": [0, 1] * 6, "predicted": [0, 0, 1] * 4})
    arms = frame.irm(query="query", arm="arm", value="v")
    check(REFUSED, {"ARMS": arms, "ROWS": rows.irm(arm="arm", label="label", predicted="predicted")})
