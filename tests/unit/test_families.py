"""Families of pairs that are tested together, and differences of paired shares."""

from math import comb, inf, sqrt
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from comparisons import Column, Pair, max_t
from frame_metrics import report
from helpers import as_kind, as_polars
from inside import mid_p, newcombe, small_families

BENTUR = (1, 1, 7, 12)  # children with airway trouble before and after a transplantation: both, after, before, neither
CAVO = (59, 6, 16, 80)  # complete response before and after a therapy


def saved(values: Any, **columns: Any) -> pl.DataFrame:
    """Saved numbers of systems, shape (queries, systems)."""
    n, systems = values.shape
    frame = pl.DataFrame({"query": np.tile(np.arange(n), systems), "run": np.repeat(np.arange(systems), n)})
    more = {name: np.tile(column, systems) for name, column in columns.items()}
    return frame.with_columns(v=pl.Series(values.T.ravel()), **{name: pl.Series(one) for name, one in more.items()})


def drawn(queries: int, systems: int, seed: int = 0, better: float = 0.0) -> Any:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(queries, 1)) + rng.normal(size=(queries, systems))
    values[:, 0] += better
    return values


# Shares


def test_paired_shares_of_the_papers() -> None:
    """Newcombe's interval and the mid-p value are those that Fagerland, Lydersen and Laake print for their examples."""
    assert newcombe(np.array(BENTUR), 1.959963985) == pytest.approx((-0.507, -0.026), abs=0.0006)
    for table, p in ((BENTUR, 0.0391), (CAVO, 0.0347)):
        assert mid_p(table[1], table[2]) == pytest.approx(p, abs=0.00006)


@pytest.mark.parametrize("z", [0.5, 1.96, 4.0, inf])
def test_an_interval_of_paired_shares(z: float) -> None:
    """It holds the estimate, is within -1 and 1, has a width, and turns with the systems and with what counts."""
    for a, b, c, d in [
        (0, 0, 0, 5),
        (5, 0, 0, 0),
        (0, 5, 0, 0),
        (3, 0, 0, 3),
        (2, 1, 3, 4),
        (0, 2, 2, 0),
        (40, 1, 0, 9),
    ]:
        low, high = newcombe(np.array([a, b, c, d]), z)
        assert -1 <= low <= (b - c) / (a + b + c + d) <= high <= 1
        assert high - low > 0.01
        assert newcombe(np.array([a, c, b, d]), z) == pytest.approx((-high, -low))
        assert newcombe(np.array([d, c, b, a]), z) == pytest.approx((-high, -low))


def test_mid_p_is_the_exact_value_less_half_of_what_is_as_likely() -> None:
    """As statsmodels has the exact one."""
    tables = pytest.importorskip("statsmodels.stats.contingency_tables", reason="statsmodels is not installed")
    for wins, losses in [(0, 0), (1, 0), (5, 2), (2, 5), (30, 30), (400, 350)]:
        exact = tables.mcnemar([[3, wins], [losses, 2]], exact=True).pvalue if wins + losses else 1.0
        same = comb(wins + losses, wins) / 2 ** (wins + losses) if wins + losses else 0.0
        assert mid_p(wins, losses) == pytest.approx(exact - (same / 2 if wins == losses else same), rel=1e-9)


@pytest.mark.parametrize("kind", ["polars", "pandas", "lazy", "arrow"])
def test_shares_of_queries(kind: Any) -> None:
    """Values of 0 and 1 alone get McNemar's mid-p and Newcombe's interval, in a family with c in the place of z."""
    rng = np.random.default_rng(1)
    values = (rng.random((12, 3)) < [0.2, 0.5, 0.9]).astype(float)
    frame = saved(values)
    found = as_polars(as_kind(frame, kind).irm(system="run", value="v").compare(ci=0.9, permutations=5000))
    columns = [
        Column.of([(query, Pair(values[query, one], values[query, other])) for query in range(12)])
        for one, other in ((1, 0), (2, 0), (2, 1))
    ]
    p, wide = max_t(columns, 0.9)
    for row, joint in zip(found.iter_rows(named=True), p, strict=True):
        one, other = values[:, row["run"]], values[:, row["baseline"]]
        table = np.array([one @ other, one @ (1 - other), (1 - one) @ other, (1 - one) @ (1 - other)])
        assert (row["test"], row["correction"]) == ("mcnemar_mid_p", "max_t")
        assert row["p_value"] == pytest.approx(mid_p(row["wins"], row["losses"]))
        assert row["p_adjusted"] == pytest.approx(max(joint, row["p_value"]))
        assert (row["ci_low"], row["ci_high"]) == pytest.approx(newcombe(table, wide))
    (single,) = frame.filter(pl.col("run") < 2).irm(system="run", value="v").compare().rows(named=True)
    one, other = values[:, 1], values[:, 0]
    table = np.array([one @ other, one @ (1 - other), (1 - one) @ other, (1 - one) @ (1 - other)])
    assert (single["ci_low"], single["ci_high"]) == pytest.approx(newcombe(table, 1.959963985))


@pytest.mark.parametrize("roles", [{"weight": "w"}, {"cluster": "w"}, {"more": True}], ids=str)
def test_shares_with_other_values_weights_or_clusters_are_flipped(roles: dict[str, Any]) -> None:
    """One value between 0 and 1 of any system, a weight or a cluster, and the test is that of flips."""
    values = (np.random.default_rng(2).random((12, 3)) < 0.5).astype(float)
    if roles.pop("more", False):
        values[0, 0] = 0.5
    found = saved(values, w=np.arange(12) // 2 + 1).irm(system="run", value="v", **roles).compare()
    assert found["test"].to_list() == ["randomization"] * 3


# Families


def test_many_systems_on_few_queries() -> None:
    """The best of forty systems is told from all others, though no p-value could be by Holm's correction."""
    found = saved(drawn(30, 40, better=4.0)).irm(system="run", value="v").compare(permutations=2000)
    best = found.filter(pl.col("baseline") == 0)
    assert len(best) == 39
    assert best["p_adjusted"].max() < 0.05
    assert (best["ci_high"] < 0).all()
    others = found.filter(pl.col("baseline") > 0)
    assert (others["p_adjusted"] < 0.05).mean() < 0.1
    assert (found["p_adjusted"] >= found["p_value"]).all()


@pytest.mark.parametrize("missing", [False, True])
def test_columns_in_small_parts_give_the_same(missing: bool) -> None:
    """Flipped sums that are held a few at a time change nothing, whatever queries pairs lack."""
    frame = saved(drawn(40, 6)).filter((pl.col("query") + pl.col("run")) % (7 if missing else 1000) > 0)
    irm = frame.irm(system="run", value="v")
    expected = irm.compare(permutations=300)
    with small_families(8 * 300 * 20):
        assert_frame_equal(irm.compare(permutations=300), expected, rel_tol=1e-12)


def test_a_pair_without_any_difference_takes_no_part() -> None:
    """Its p-values are 1 and it has no interval; the others are as without it."""
    values = drawn(10, 3)
    alike = np.column_stack([values, values[:, 0]])
    found, without = (saved(one).irm(system="run", value="v").compare(baseline=0) for one in (alike, values))
    (same,) = found.filter(run=3).rows(named=True)
    assert (same["p_value"], same["p_adjusted"], same["ci_low"], same["ci_high"]) == (1, 1, None, None)
    joint = ["p_value", "p_adjusted", "ci_low", "ci_high", "mde"]
    assert_frame_equal(found.filter(pl.col("run") < 3).select(joint), without.select(joint))


def test_few_units_say_nothing() -> None:
    """Of two queries every flip is as rare as another: the interval is all that the metric allows, or null."""
    frame = pl.DataFrame({"query": [1, 2] * 3, "run": [0, 0, 1, 1, 2, 2], "v": [0.1, 0.2, 0.5, 0.3, 0.9, 0.4]})
    for name, ends in (("v", (None, None)), ("rr", (-1.0, 1.0))):
        found = frame.rename({"v": name}).irm(system="run", value=name).compare()
        assert set(found.select("ci_low", "ci_high").rows()) == {ends}
        assert found["mde"].to_list() == [None] * 3


def test_the_interval_of_a_relative_difference() -> None:
    """By the delta method on the logarithm of the ratio of the means; null unless both have the same sign."""
    values = np.abs(drawn(30, 2)) + 1
    (row,) = saved(values).irm(system="run", value="v").compare().rows(named=True)
    value, base = values[:, 1], values[:, 0]
    error = (value / value.mean() - base / base.mean()).std(ddof=1) / sqrt(30)
    share = value.mean() / base.mean()
    factor = np.exp(2.0452296 * error)  # the quantile of Student's t with 29 degrees of freedom
    ends = (share / factor - 1, share * factor - 1)
    assert (row["relative_low"], row["relative_high"]) == pytest.approx(ends, rel=1e-6)
    (row,) = saved(values * [1, -1]).irm(system="run", value="v").compare().rows(named=True)
    assert (row["relative_low"], row["relative_high"]) == (None, None)


def test_tables_say_that_intervals_hold_together() -> None:
    """Below a table of a comparison; not where they are single."""
    irm = saved(drawn(12, 4)).irm(system="run", value="v")
    assert "Intervals hold together for 6 pairs." in report.markdown(irm.compare())
    assert "Intervals hold" not in report.markdown(irm.compare(correction="holm"))
    assert "Intervals hold together for 6 pairs." in str(irm.report(format="md"))


def test_lists_in_a_family_leave_it_to_holm() -> None:
    """Lists are exchanged and computed anew, so that no statistic is shared by all."""
    rows = {"run": [0, 0, 1, 1] * 6, "doc": [0, 1, 2, 0, 1, 3, 0, 2] * 3, "score": [2.0, 1.0] * 12}
    log = pl.DataFrame(rows).with_columns(query=pl.int_range(24) // 4, grade=pl.col("doc") % 2)
    irm = log.irm(system="run", doc="doc", catalogue=9)
    assert irm.compare("rr", "item_coverage", over="all")["correction"].to_list() == ["holm"] * 2


# Weights

HEAVY = {"one of 15": np.r_[30.0, np.ones(14)], "by rank": 1 / np.arange(1, 51)}


@pytest.mark.parametrize("weight", HEAVY.values(), ids=HEAVY)
def test_intervals_of_weighted_queries_hold_together(weight: Any) -> None:
    """A query of great weight draws the mean to itself, which makes no interval short."""
    rng, held = np.random.default_rng(7), 0
    for _ in range(40):
        found = saved(rng.random((len(weight), 3)), w=weight).irm(system="run", value="v", weight="w")
        ends = found.compare(permutations=299).select("ci_low", "ci_high")
        held += ((ends["ci_low"] <= 0) & (ends["ci_high"] >= 0)).all()
    assert held >= 35


def test_one_query_with_nearly_all_the_weight_says_nothing() -> None:
    """Below two units by Kish the interval of a pair, alone or not, is all that the metric allows, and mde is null."""
    frame = saved(np.random.default_rng(1).random((15, 3)), w=np.r_[1e6, np.ones(14)]).rename({"v": "rr"})
    for some in (frame, frame.filter(pl.col("run") < 2)):
        found = some.irm(system="run", value="rr", weight="w").compare()
        assert set(found.select("ci_low", "ci_high", "mde").rows()) == {(-1.0, 1.0, None)}


def test_a_family_of_alike_shares_is_no_surer_than_a_pair() -> None:
    """Where few queries differ c is at least the quantile of a single interval: other systems make none shorter."""
    one, less = np.ones(9), np.r_[0.0, np.ones(8)]
    single, *families = (
        saved(np.column_stack(each))
        .rename({"v": "success"})
        .irm(system="run", value="success")
        .compare()
        .row(0, named=True)
        for each in ((one, one), (one, one, less), (one, one, one))
    )
    for row in families:
        assert row["ci_low"] <= single["ci_low"] < single["ci_high"] <= row["ci_high"]
    values = np.zeros((30, 3))
    values[0, 1], values[1, 2] = 0.5, 0.3
    ends = [saved(some).irm(system="run", value="v").compare(baseline=0).row(0, named=True) for some in (values,)]
    error = values[:, 1].std(ddof=1) / sqrt(30)
    assert ends[0]["ci_high"] - ends[0]["difference"] >= 2.045 * error
