"""A loss held against a margin: p_not_worse and p_equivalent of pairs, rows and arms, and what is said of them."""

from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats
from scipy.optimize import brentq
from scipy.stats import norm

from frame_metrics import IRM
from frame_metrics.errors import BadValueError
from helpers import KINDS, as_kind, as_polars
from inside import margin_p_of_shares, newcombe, straightened
from refusals import check

NOT_WORSE = ["p_not_worse", "p_equivalent"]
MARGIN = 0.02


def pair(n: int = 40, seed: int = 0, loss: float = 0.0) -> tuple[Any, Any]:
    """The values of two systems on some queries, of which the second loses so much on average."""
    rng = np.random.default_rng(seed)
    base = 0.3 + 0.4 * rng.random(n)
    return base, base + 0.05 * rng.normal(size=n) - loss


def of_systems(*values: Any, metric: str = "ndcg", **more: Any) -> pl.DataFrame:
    """Saved numbers of systems a, b ... on the same queries."""
    each = [
        pl.DataFrame({"query": range(len(own)), "run": name, metric: own})
        for name, own in zip("abcd", values, strict=False)
    ]
    return pl.concat(each).with_columns(**more)


def held(
    frame: Any, *metrics: str, margin: Any = MARGIN, verb: str = "compare", **options: Any
) -> list[tuple[Any, ...]]:
    """The p-values of margins; keywords that are roles are those of the frame."""
    roles = {name: options.pop(name) for name in ("weight", "cluster", "by") if name in options}
    side = {"system": "run"} if verb == "compare" else {"arm": "run"}
    value = [name for name in ("ndcg", "brier", "speed") if name in as_polars(frame).columns]
    irm = IRM(frame, query="query", value=value, **side, **roles)
    found = getattr(irm, verb)(*metrics, **({"baseline": "a"} | options), margin=margin)
    return as_polars(found).select(NOT_WORSE).rows()


def by_t(gains: Any, margin: float) -> tuple[float, float]:
    """Scipy's p-values of one-sided t-tests of a loss, and of both sides."""
    first, second = (stats.ttest_1samp(way * gains + margin, 0, alternative="greater").pvalue for way in (1, -1))
    return float(first), float(max(first, second))


# Pairs


@pytest.mark.parametrize("kind", KINDS)
def test_t_is_scipys(kind: str) -> None:
    """With test="t" p_not_worse is the one-sided t-test of differences plus the margin, in every kind of frame."""
    base, value = pair()
    frame = as_kind(of_systems(base, value), kind)
    assert held(frame, test="t")[0] == pytest.approx(by_t(value - base, MARGIN), rel=1e-9)


@pytest.mark.parametrize("loss", [0.0, 0.03])
def test_less_is_better(loss: float) -> None:
    """Of a metric of which less is better a rise is the loss; the numbers are those of the mirrored metric."""
    base, value = pair(loss=loss)
    frame = of_systems(base, value).with_columns(brier=1 - pl.col("ndcg"))
    first, other = held(frame)
    assert first == pytest.approx(other, abs=1e-9)
    assert (first[0] < 0.05) == (loss == 0)


def test_no_known_direction() -> None:
    """Where nothing says whether more is better, nothing is a loss; two values may be equivalent all the same."""
    base, value = pair()
    ((worse, equivalent),) = held(of_systems(base, value, metric="speed"))
    assert worse is None
    assert equivalent == held(of_systems(base, value))[0][1]


def test_flips_and_t_and_skewness() -> None:
    """By default p_not_worse is the greatest of all flips, of t, and of t less the skewness."""
    rng = np.random.default_rng(3)
    for n, seed in product((10, 11), range(4)):
        base, value = pair(n, seed)
        value = value - 0.3 * (rng.random(n) < 0.2)
        gains = value - base
        expected = []
        for way in (1, -1):
            shifted = way * gains + 0.1
            flips = np.array([*product((1, -1), repeat=n)]) @ shifted
            t = stats.ttest_1samp(shifted, 0).statistic
            skew = way * stats.skew(gains) / np.sqrt(n)
            by = [(flips >= shifted.sum() - 1e-12).mean()]
            by += [stats.t.sf(one, n - 1) for one in (t, straightened(t, skew))]
            expected.append(max(by))
        found = held(of_systems(base, value), margin=0.1)[0]
        assert found == pytest.approx((expected[0], max(expected)), rel=1e-9)


@pytest.mark.parametrize(("n", "metric", "passes"), [(400, "ndcg", True), (100, "ndcg", False), (400, "success", True)])
def test_where_nothing_moved_a_loss_of_the_margin_would_have_shown(n: int, metric: str, passes: bool) -> None:
    """If the mean loss is .01 then at least one in a hundred loses; that none of 400 does is rare."""
    base = np.arange(n) % 2 * 1.0 if metric == "success" else pair(n)[0]
    frame = of_systems(base, base, metric=metric)
    row = frame.irm(system="run", value=metric).compare(baseline="a", margin=0.01).row(0, named=True)
    assert row["p_not_worse"] == row["p_equivalent"] == pytest.approx(0.99**n)
    assert (row["p_not_worse"] < 0.05) == passes
    wide = frame.with_columns(w=1.0 + pl.col("query") % 2).irm(system="run", value=metric, weight="w")
    assert wide.compare(baseline="a", margin=0.01)["p_not_worse"].to_list() == [None]


@pytest.mark.parametrize("moved", [3, 9, 10])
def test_too_few_moved(moved: int) -> None:
    """Fewer than ten queries that differ say nothing of a loss in rare ones, whatever the test."""
    base, value = pair(50)
    value = np.where(np.arange(50) < moved, value, base)
    for test in ("randomization", "t", "bootstrap"):
        assert (held(of_systems(base, value), test=test)[0] == (None, None)) == (moved < 10)


def test_all_moved_by_the_same() -> None:
    """Differences that are all equal show no variance."""
    assert held(of_systems(np.arange(16) / 32, np.arange(16) / 32 + 0.125))[0] == (None, None)


def test_shares_have_newcombes_bound() -> None:
    """p_not_worse of values of 0 and 1 is the level at which the bound of Newcombe's interval reaches the margin."""
    rng = np.random.default_rng(0)
    base = (rng.random(160) < 0.7).astype(float)
    value = np.where(rng.random(160) < 0.3, rng.random(160) < 0.7, base).astype(float)
    table = np.bincount((3 - 2 * value - base).astype(int), minlength=4)
    z = brentq(lambda z: newcombe(table, z)[0] + 0.05, 0, 6)
    ((worse, equivalent),) = held(of_systems(base, value), margin=0.05)
    assert worse == pytest.approx(norm.sf(z), rel=1e-9)
    assert held(of_systems(1 - base, 1 - value, metric="brier"), margin=0.05)[0] == pytest.approx((worse, equivalent))
    assert margin_p_of_shares(np.array([30, 4, 5, 30]), 0.1, 1) == pytest.approx((np.nan, np.nan), nan_ok=True)


def test_a_share_whose_loss_is_the_margin() -> None:
    """A loss that is the margin has a p-value of one half, a greater one more."""
    assert margin_p_of_shares(np.array([40, 5, 15, 40]), 0.1, 1)[0] == pytest.approx(0.5)
    assert margin_p_of_shares(np.array([40, 5, 15, 40]), 0.05, 1)[0] > 0.5
    assert margin_p_of_shares(np.array([400, 5, 15, 400]), 0.9, 1)[0] < 1e-8


def test_weights_and_clusters() -> None:
    """Equal weights and clusters of one change nothing, and queries that come ten times as clusters say no more."""
    base, value = pair(30)
    frame = of_systems(base, value)
    plain = held(frame)[0]
    assert held(frame.with_columns(w=2.0), weight="w")[0] == pytest.approx(plain)
    assert held(frame.with_columns(c=pl.col("query")), cluster="c")[0] == pytest.approx(plain)
    often = of_systems(np.repeat(base, 10), np.repeat(value, 10)).with_columns(c=pl.col("query") // 10)
    assert held(often, cluster="c")[0] == pytest.approx(plain)
    assert held(often)[0][0] < plain[0]
    few = frame.with_columns(c=pl.col("query") // 4)
    assert held(few, cluster="c")[0] == (None, None)  # eight clusters are too few to move


@pytest.mark.parametrize(("correction", "times"), [(None, 2), ("holm", 2), ("bonferroni", 2), ("none", 1)])
def test_candidates_are_corrected_and_metrics_are_not(correction: str | None, times: int) -> None:
    """Of several candidates the least p-value is multiplied by their number; another metric changes nothing."""
    base, value = pair()
    both = of_systems(base, value, value - 0.005)
    alone = [held(both.filter(pl.col("run") != other))[0] for other in "cb"]
    found = held(both, correction=correction)
    assert alone[0][0] < alone[1][0]
    assert found[0][0] == pytest.approx(times * alone[0][0])
    more = both.with_columns(brier=1 - pl.col("ndcg") ** 2)
    assert held(more, "ndcg", "brier", correction=correction, over="all")[:2] == found


def test_a_candidate_that_nothing_is_known_of_counts() -> None:
    """A candidate without a p-value could have passed, so it counts among them."""
    base, value = pair()
    alone = held(of_systems(base, value))[0]
    found = held(of_systems(base, value, np.where(np.arange(40) < 3, value, base)))
    assert found == [tuple(2 * one for one in alone), (None, None)]


def test_margins_by_metric() -> None:
    """Each metric has the margin that is named for it, by any of its names; one without has none."""
    base, value = pair()
    frame = of_systems(base, value).with_columns(brier=1 - pl.col("ndcg"))
    (one, _), (same, _) = (held(frame, margin=margin) for margin in (0.02, {"nDCG": 0.02, "brier": np.float32(0.5)}))
    assert one == same
    assert held(frame, margin={"brier": 0.02}) == [(None, None), one]


@pytest.mark.parametrize("verb", ["compare", "ab_test"])
def test_values_beyond_the_range_of_their_name(verb: str) -> None:
    """Values in percent have margins in percent, as nothing says how far they can be apart."""
    base, value = pair()
    frame = of_systems(base, value) if verb == "compare" else of_arms(base, value)
    percent = frame.with_columns(ndcg=100 * pl.col("ndcg"))
    assert held(percent, margin=8.0, verb=verb)[0] == pytest.approx(held(frame, margin=0.08, verb=verb)[0], rel=1e-6)
    with pytest.raises(BadValueError, match="no difference of ndcg is greater"):
        held(frame, margin=8.0, verb=verb)


@pytest.mark.parametrize("by", [None, "device"])
def test_segments_have_p_values_of_their_own(by: str | None) -> None:
    """A segment is held against the margin by its own queries."""
    base, value = pair(80)
    frame = of_systems(base, value).with_columns(device=pl.col("query") % 2)
    roles = {} if by is None else {"by": by}
    parts = [frame] if by is None else [frame.filter(pl.col("device") == at) for at in (0, 1)]
    assert held(frame, **roles) == [held(part)[0] for part in parts]


def test_saved_numbers_are_a_baseline() -> None:
    """The numbers of the baseline may be saved ones."""
    base, value = pair()
    frame = of_systems(base, value)
    saved = frame.filter(pl.col("run") == "a").select("query", metric=pl.lit("ndcg"), value="ndcg")
    now = frame.filter(pl.col("run") == "b").irm(query="query", value="ndcg")
    assert now.compare(baseline=saved, margin=MARGIN).select(NOT_WORSE).rows() == held(frame)


def test_a_margin_adds_two_columns_and_changes_no_other() -> None:
    """Beside the two columns the result is that without a margin, lazily too."""
    base, value = pair()
    irm = of_systems(base, value, value - 0.01).irm(query="query", system="run", value="ndcg")
    found = irm.compare(margin=MARGIN)
    assert found.drop(NOT_WORSE).equals(irm.compare())
    at = found.columns.index("p_adjusted") + 1
    assert found.columns[at : at + 2] == NOT_WORSE
    lazy = irm.frame.lazy().irm(query="query", system="run", value="ndcg").compare(margin=MARGIN)
    assert lazy.collect_schema() == found.schema


# Rows


def rows(n: int = 300, seed: int = 0, worse: float = 0.0) -> pl.DataFrame:
    """Decisions and scores of two classifiers on the same rows."""
    rng = np.random.default_rng(seed)
    label = rng.random(n) < 0.4
    each = []
    for name, noise in (("a", 0.5), ("b", 0.5 + worse)):
        score = label + noise * rng.normal(size=n)
        each.append(
            pl.DataFrame({"doc": range(n), "run": name, "label": label, "score": score, "predicted": score > 0.5})
        )
    return pl.concat(each)


@pytest.mark.parametrize("name", ["accuracy", "roc_auc", "f1"])
@pytest.mark.parametrize("way", ["pairs", "arms"])
def test_rows_without_a_query(name: str, way: str) -> None:
    """Shares, areas and other measures of rows are told from a great loss, and not from a small one."""
    for frame, passes in ((rows(), True), (rows(worse=1.0), False)):
        if way == "pairs":
            found = frame.irm(query=None, doc="doc", system="run").compare(name, baseline="a", margin=0.1)
        else:
            found = frame.irm(query=None, doc=None, arm="run").ab_test(name, baseline="a", margin=0.1)
        worse, equivalent = found.select(NOT_WORSE).row(0)
        assert (worse < 0.05) == passes
        assert equivalent >= worse


@pytest.mark.parametrize("name", ["accuracy", "error_rate", "recall"])
def test_shares_of_rows_of_arms(name: str) -> None:
    """p_not_worse of shares of rows of arms is the level at which the bound of their interval reaches the margin."""
    irm = rows(worse=0.2).irm(query=None, doc=None, arm="run")
    found = irm.ab_test(name, baseline="a", margin=0.1).to_dicts()[0]
    end, sign = ("ci_high", -1) if name == "error_rate" else ("ci_low", 1)
    ends = irm.ab_test(name, baseline="a", ci=abs(1 - 2 * found["p_not_worse"]))
    assert ends[end].item() == pytest.approx(-0.1 * sign, abs=1e-9)


def test_rows_of_which_few_are_decided_otherwise() -> None:
    """Two classifiers that part in three rows say nothing of a loss, by any measure."""
    frame = rows()
    same = frame.filter(pl.col("run") == "a").with_columns(run=pl.lit("b"))
    turned = pl.when(pl.col("doc") < 3).then(~pl.col("predicted")).otherwise("predicted")
    score = pl.when(pl.col("doc") < 3).then(1 - pl.col("score")).otherwise("score")
    both = pl.concat([frame.filter(pl.col("run") == "a"), same.with_columns(predicted=turned, score=score)])
    irm = both.irm(query=None, doc="doc", system="run")
    found = irm.compare("accuracy", "roc_auc", "f1", baseline="a", margin=0.1)
    assert found.select(NOT_WORSE).rows() == [(None, None)] * 3


def test_an_area_by_delong() -> None:
    """p_not_worse of an area is normal, with the standard error of the interval."""
    found = rows().irm(query=None, doc="doc", system="run").compare("roc_auc", baseline="a", margin=0.05).to_dicts()[0]
    error = (found["ci_high"] - found["ci_low"]) / 2 / norm.ppf(0.975)
    assert found["p_not_worse"] == pytest.approx(norm.sf((found["difference"] + 0.05) / error), rel=1e-6)


# Arms


def of_arms(first: Any, second: Any) -> pl.DataFrame:
    """Saved numbers of two arms with queries of their own."""
    frame = of_systems(first, second)
    return frame.with_columns(query=pl.int_range(pl.len()))


@pytest.mark.parametrize("verb", ["ab_test", "change"])
@pytest.mark.parametrize("test", ["t", "z"])
def test_t_and_z_of_arms(verb: str, test: str) -> None:
    """With test="t" p_not_worse is Welch's one-sided test of values plus the margin, with "z" the normal one."""
    base, value = pair(60)[0], pair(50, 1)[1]
    welch = stats.ttest_ind(value + MARGIN, base, equal_var=False, alternative="greater")
    expected = welch.pvalue if test == "t" else norm.sf(welch.statistic)
    assert held(of_arms(base, value), verb=verb, test=test)[0][0] == pytest.approx(expected, rel=1e-9)


def test_default_of_arms() -> None:
    """By default p_not_worse is no less than Welch's, nor than half of the exchange of values plus the margin."""
    for seed in range(4):
        base, value = pair(30, seed)[0], pair(25, seed + 9)[1]
        ((found, _),) = held(of_arms(base, value), verb="ab_test")
        welch = held(of_arms(base, value), verb="ab_test", test="t")[0][0]
        shifted = of_arms(base, value + MARGIN).irm(query="query", arm="run", value="ndcg").ab_test(baseline="a")
        p, apart = shifted["p_value"].item(), shifted["difference"].item()
        assert found >= max(welch, p / 2 if apart > 0 else 1 - p / 2) - 1e-12


def test_shares_of_arms() -> None:
    """p_not_worse of shares of arms is the level at which the bound of their interval reaches the margin."""
    rng = np.random.default_rng(1)
    frame = of_arms((rng.random(90) < 0.6).astype(float), (rng.random(80) < 0.6).astype(float))
    ((p, _),) = held(frame, verb="ab_test", margin=0.1)
    irm = frame.irm(query="query", arm="run", value="ndcg")
    assert irm.ab_test(baseline="a", ci=1 - 2 * p)["ci_low"].item() == pytest.approx(-0.1, abs=1e-9)


def test_few_units_of_arms_with_another_value() -> None:
    """Where few units of an arm do not have its commonest value, nothing is known but of shares."""
    few = np.where(np.arange(100) < 4, 0.5, 0.0)
    assert held(of_arms(few, few + np.where(few > 0, 0.1, 0)), verb="ab_test")[0] == (None, None)
    ones = np.where(np.arange(100) < 4, 1.0, 0.0)
    assert held(of_arms(ones, ones), verb="ab_test", margin=0.1)[0][0] < 0.05


def test_looks_at_arms() -> None:
    """At many looks p_not_worse is that of the sequence: 1 before the first look, less later."""
    base, value = pair(300)[0], pair(300, 1)[1]
    assert held(of_arms(base[:50], value[:50]), verb="ab_test", looks="any")[0] == (1, 1)
    ((worse, equivalent),) = held(of_arms(base, value), verb="ab_test", looks="any", margin=0.1)
    shifted = of_arms(base, value + 0.1).irm(query="query", arm="run", value="ndcg").ab_test(baseline="a", looks="any")
    assert worse == pytest.approx(shifted["p_value"].item(), rel=1e-6)
    assert worse <= equivalent < 0.05


@pytest.mark.parametrize("verb", ["compare", "ab_test"])
@pytest.mark.parametrize("shares", [False, True])
@pytest.mark.parametrize("test", [None, "bootstrap"])
def test_both_sides_and_greater_margins(verb: str, shares: bool, test: str | None) -> None:
    """Whether two are equivalent does not depend on which is the baseline, and a greater margin is excluded rather."""
    base, value = pair(120)
    if shares:
        base, value = (base > 0.5).astype(float), (pair(120, 7)[1] > 0.5).astype(float)
    frame = of_systems(base, value) if verb == "compare" else of_arms(base, value)
    if test == "bootstrap" and shares and verb == "compare":
        test = None
    each = [held(frame, margin=margin, verb=verb, test=test)[0] for margin in (0.05, 0.1, 0.2)]
    assert each == sorted(each, reverse=True)
    if test is None:
        turned = held(frame, margin=0.1, verb=verb, baseline="b")[0]
        assert turned[1] == pytest.approx(each[1][1], rel=1e-9)


@pytest.mark.parametrize("roles", [{"cluster": "c"}, {"weight": "w"}, {"cluster": "c", "weight": "w"}])
def test_units_of_arms(roles: dict[str, str]) -> None:
    """Arms of clusters, of which some are in both arms, and with weights: adding to an arm is a smaller loss."""
    base, value = pair(150)
    frame = of_arms(base, value).with_columns(c=pl.col("query") % 60, w=1.0 + pl.col("query") % 3)
    better = frame.with_columns(ndcg=pl.col("ndcg") + 0.02 * (pl.col("run") == "b"))
    for test in (None, "t", "bootstrap"):
        ((worse, equivalent),) = held(frame, margin=0.05, verb="ab_test", test=test, **roles)
        ((less, _),) = held(better, margin=0.05, verb="ab_test", test=test, **roles)
        assert 0 < less < worse <= equivalent < 1


@pytest.mark.parametrize("size", [1, 2, 10])
@pytest.mark.parametrize("margin", [0.01, 0.03, 0.2])
def test_a_loss_of_shares_of_clusters_is_excluded_by_their_interval(size: int, margin: float) -> None:
    """Users with several searches each: a loss is excluded at 5 % where the interval of 90 % is above it."""
    rng = np.random.default_rng(size)
    user = np.arange(800) // size
    frame = pl.DataFrame(
        {"query": range(800), "user": user, "run": np.where(user % 2, "b", "a"), "ndcg": rng.integers(0, 2, 800)}
    )
    irm = frame.irm(arm="run", value="ndcg", cluster="user")
    row = irm.ab_test(baseline="a", margin=margin, ci=0.9).row(0, named=True)
    assert (row["p_not_worse"] < 0.05) == (row["ci_low"] > -margin)
    assert row["p_not_worse"] == pytest.approx(
        held(frame, margin=margin, verb="ab_test", test="t", cluster="user")[0][0], abs=0.02
    )


# Words


REFUSED = """
irm.compare(margin=VALUE)
irm.compare(baseline="a", margin=VALUE)
arms.ab_test(margin=VALUE)
arms.change(margin=VALUE)
irm.summary("ndcg", baseline="a", margin=VALUE)
for: 0, -0.01, True, float("nan"), float("inf"), "0.01", [0.01]
    BadValueError: margin=VALUE is not a number above 0, as 0.01: the loss of a metric that would still be accepted
    but: irm.compare(margin=0.01)
irm.compare(margin={"ndcg": VALUE})
for: 0, -0.01, True, float("nan"), "0.01", None
    BadValueError: margin of 'ndcg': margin=VALUE is not a number above 0, as 0.01: the loss of a metric that would
        still be accepted
    but: irm.compare(margin={"ndcg": 0.01})
irm.compare(margin={})
    BadValueError: margin={} names no metric; pass a number for all metrics, or a number for each
irm.compare(margin={5: 0.1})
    BadValueError: margin: 5 is not the name of a metric, as 'ndcg@10'
irm.compare(margin={"ndgc": 0.01})
irm.summary("ndcg", baseline="a", margin={"ndgc": 0.01})
    UnknownNameError: margin: 'ndgc' is none of the metrics that are compared, 'ndcg'; did you mean 'ndcg'?
irm.compare(margin={"ndcg": 0.01, "NDCG": 0.02})
    BadValueError: margin: 'NDCG' is a metric that has a margin already; pass one
    but: irm.compare(margin={"NDCG": 0.02})
irm.compare(margin=VALUE)
for: 1, 2
    BadValueError: margin=VALUE: no difference of ndcg is greater, as its values are from 0 to 1; pass a smaller one
    but: irm.compare(margin=0.99)
irm.compare(margin=0.1, test=VALUE)
for: "wilcoxon", "sign"
    NotComputableError: margin=0.1 cannot be used with test=VALUE, which does not look at the size of a mean; pass
        another test
    but: irm.compare(margin=0.1, test="t")
irm.compare(delta=0.1)
    UnknownNameError: compare() has no option 'delta'; pass margin=, the loss that would still be accepted
    but: irm.compare(margin=0.1)
irm.sample_size("ndcg", detect=0.1, paired=False)
    UnknownNameError: sample_size() has no option 'paired'; name the column of arms, which have queries of their own,
        with arm= in the place of system=
    but: arms(arm="run").sample_size("ndcg", detect=0.1)
irm.evaluate(margin=0.1)
    UnknownNameError: evaluate() has no option 'margin'; it is an option of compare(), ab_test() and change(), the loss
        that would still be accepted
irm.compare(margin=0.1, per_query=True)
    NotComputableError: margin=0.1 cannot be used with per_query=True, which lists the differences of queries; pass one
        of them
rows.compare("accuracy", against="majority", margin=0.1)
    NotComputableError: margin=0.1 cannot be used with against='majority', which is no system that could lose; pass one
        of them
irm.summary("ndcg", margin=0.1)
irm.report(margin=0.1, format="md")
    BadValueError: margin=0.1 is the loss against a baseline that would still be accepted; pass it, as baseline=
    but: irm.summary("ndcg", baseline="a", margin=0.1)
log.compare("catalogue_coverage@1", margin=0.1)
    NotComputableError: margin= applies to means over queries, and catalogue_coverage@1 has one value for all lists
        together; leave catalogue_coverage@1 out, or name the metrics that have a margin, as margin={'ndcg@10': 0.01}
    but: log.compare("catalogue_coverage@1", "rr", margin={"rr": 0.1})
"""


def test_what_is_refused() -> None:
    """A margin is a number above 0 that a difference can reach, for metrics that are compared by their means."""
    frame = of_systems(*pair())
    irm = frame.irm(query="query", system="run", value="ndcg")
    arms = of_arms(*pair()).irm(query="query", arm="run", value="ndcg")
    log = pl.DataFrame({"query": [1, 1, 2, 2] * 2, "doc": list("abcd") * 2, "run": ["a"] * 4 + ["b"] * 4, "label": 1})
    ranked = log.with_columns(score=pl.int_range(8)).irm(
        query="query", doc="doc", system="run", score="score", catalogue=9
    )
    own = rows().filter(pl.col("run") == "a").irm(query=None, doc="doc")
    check(REFUSED, {"irm": irm, "arms": arms, "rows": own, "log": ranked})


def test_sentences() -> None:
    """The summary says that a loss of the margin is excluded, or up to which loss none is, or why nothing is known."""
    base, value = pair(60)
    few = np.where(np.arange(60) < 3, value, base)

    def said(*values: Any, margin: Any = MARGIN) -> list[str]:
        irm = of_systems(*values).irm(query="query", system="run", value="ndcg")
        return irm.summary(baseline="a", margin=margin).filter(kind="not worse")["sentence"].to_list()

    (told,) = said(base, value)
    assert told == "b is not worse than a by more than 0.02 in ndcg (p < 0.001)."
    (told,) = said(base, value - 0.03)
    assert told.startswith("It is not shown that b is not worse than a by more than 0.02 in ndcg (p = 0.")
    assert told.endswith("): a loss of up to 0.039 is not excluded.")
    (told,) = said(base, few)
    ending = "3 of 60 queries moved: too few to exclude a loss in rare ones."
    assert told == f"Whether b is not worse than a by more than 0.02 in ndcg cannot be told: {ending}"


def test_a_sentence_says_no_more_than_its_p_value() -> None:
    """The loss that is not excluded is no less than the margin, and none is excluded at a p-value of .05 or more."""
    for seed, loss in product(range(4), (0.0, 0.01, 0.02)):
        irm = of_systems(*pair(25, seed, loss)).irm(query="query", system="run", value="ndcg")
        said = irm.summary(baseline="a", margin=MARGIN)
        row = said.filter(kind="not worse").to_dicts()[0]
        assert row["sentence"].startswith("b is not worse") == (row["p_not_worse"] < 0.05)
        if "up to" in row["sentence"]:
            assert float(row["sentence"].split("up to ")[1].split()[0]) >= row["margin"]


def test_the_report_has_the_p_value() -> None:
    """The table of differences has p_not_worse, the other metrics of the report stay, and JSON has all columns."""
    base, value = pair(60)
    irm = (
        of_systems(base, value)
        .with_columns(brier=1 - pl.col("ndcg"))
        .irm(query="query", system="run", value=["ndcg", "brier"])
    )
    page = irm.report(baseline="a", margin={"ndcg": 0.02}, format="md")
    assert "p, not worse" in page
    assert "b is not worse than a by more than 0.02 in ndcg" in page
    assert "in brier" not in page
    assert '"p_equivalent"' in irm.report(baseline="a", margin=0.02, format="json")
    assert "not worse" not in irm.report(baseline="a", format="md")
