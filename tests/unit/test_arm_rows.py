"""Arms without a query: systems that have each their own rows, which are counted together."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from frame_metrics import IRM
from helpers import as_polars, made_classes
from inside import always_a_progress_bar, delong
from refusals import check

METRICS = ("accuracy", "recall", "precision", "f1", "informedness", "roc_auc")


def made(seed: int, n: int = 400) -> pl.DataFrame:
    """Rows of two arms, of users of theirs, with labels, scores and days; arm B has the better scores."""
    rng = np.random.default_rng(seed)
    user = rng.integers(0, n // 5, n)
    arm = np.where(user % 5 < 2, "A", "B")
    label = (rng.random(n) < 0.3).astype(int)
    score = rng.normal(size=n) + label * np.where(arm == "B", 1.5, 1)
    columns = {"arm": arm, "label": label, "score": score, "user": user, "day": rng.integers(0, 2, n)}
    return pl.DataFrame(columns | {"n": rng.integers(1, 4, n), "w": rng.integers(1, 4, n) / 2})


def rows(frame: Any, *metrics: str, **options: Any) -> pl.DataFrame:
    roles = {name: options.pop(name) for name in ("by", "weight", "count", "cluster") if name in options}
    return as_polars(IRM(frame, arm="arm", threshold=0.5, **roles).ab_test(*metrics, **options))


@pytest.mark.parametrize("roles", [{}, {"weight": "w"}, {"count": "n"}, {"cluster": "user"}])
def test_values_are_those_of_by(roles: dict[str, str]) -> None:
    """Each arm has the value and the rows that evaluate gives with the arm in by=, in each segment."""
    frame = made(0)
    found = rows(frame, *METRICS, by="day", **roles)
    told = frame.irm(by=["day", "arm"], threshold=0.5, **roles).evaluate(*METRICS)
    values = {row[:3]: row[3:] for row in told.select("day", "arm", "metric", "value", "n").rows()}
    assert len(found) == 2 * len(METRICS)
    for row in found.rows(named=True):
        mine, base = (values[row["day"], arm, row["metric"]] for arm in "BA")
        assert (row["value"], row["n"]) == mine
        assert (row["baseline_value"], row["baseline_n"]) == base
        assert row["difference"] == mine[0] - base[0]


def test_a_progress_bar_is_shown(capsys: Any) -> None:
    """It changes nothing, and counts the resamples of each arm; of an interval too."""
    pytest.importorskip("tqdm", reason="the progress bar is optional")
    told = rows(made(8), "f1", resamples=500, test="bootstrap")
    with always_a_progress_bar():
        assert rows(made(8), "f1", resamples=500, test="bootstrap").equals(told)
    assert capsys.readouterr().err.count("500/500") == 2
    with always_a_progress_bar():
        made(8).irm(threshold=0.5).evaluate("average_precision", ci=0.95, resamples=300)
    assert "300/300" in capsys.readouterr().err


@pytest.mark.parametrize("metric", ["roc_auc", "gini"])
def test_areas_of_arms_are_newcombes(metric: str) -> None:
    """The interval is made of those of both areas, and p is the level at which it ends at 0; DeLong's is asked for."""
    frame, slope = made(1), 1 if metric == "roc_auc" else 2
    row = rows(frame, metric, ci=0.9).row(0, named=True)
    each = frame.irm(query=None, arm="arm", label="label", score="score").evaluate(metric, ci=0.9).sort("arm")
    (low, high), (base_low, base_high) = each.select("ci_low", "ci_high").rows()[:: 1 if row["arm"] == "A" else -1]
    value, base = row["value"], row["baseline_value"]
    lower = row["difference"] - sqrt((value - low) ** 2 + (base_high - base) ** 2)
    upper = row["difference"] + sqrt((high - value) ** 2 + (base - base_low) ** 2)
    assert (row["test"], row["ci_low"], row["ci_high"]) == ("newcombe", pytest.approx(lower), pytest.approx(upper))
    at_zero = rows(frame, metric, ci=1 - row["p_value"]).row(0, named=True)
    assert min(abs(at_zero["ci_low"]), abs(at_zero["ci_high"])) < 1e-6
    row = rows(frame, metric, ci=0.9, test="delong").row(0, named=True)
    variance = 0.0
    for arm in "AB":
        own = frame.filter(arm=arm)
        variance += float(delong.areas(own["score"].to_numpy()[None], own["label"].to_numpy())[1][0, 0])
    error = slope * sqrt(variance)
    z = NormalDist().inv_cdf(0.95)
    assert row["test"] == "delong"
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(
        (row["difference"] - z * error, row["difference"] + z * error), abs=1e-12
    )
    assert row["p_value"] == pytest.approx(2 * stats.norm.sf(row["difference"] / error), abs=1e-12)
    assert row["mde"] == pytest.approx((z + NormalDist().inv_cdf(0.8)) * error)


def test_a_shared_user_changes_little() -> None:
    """A small side that is all right is not surely better, if one user of many is on both sides, or if none is."""
    columns = {"arm": ["A"] * 300 + ["B"] * 30, "label": [1, 0] * 165}
    frame = pl.DataFrame(columns).with_columns(score=pl.col("label") * 1.0, user=pl.int_range(330))
    frame = frame.with_columns(score=pl.when(pl.col("user") % 33 == 0).then(1 - pl.col("score")).otherwise("score"))
    frame = frame.with_columns(score=pl.when(arm="B").then(pl.col("label") * 1.0).otherwise("score"))
    one = frame.with_columns(user=pl.when(user=329).then(1).otherwise("user"))
    found = [rows(some, "accuracy", "mcc", cluster="user") for some in (frame, one)]
    assert [table["n_shared"].to_list() for table in found] == [[0, 0], [1, 1]]
    assert found[1]["test"].to_list() == ["newcombe"] * 2
    assert min(found[1]["p_value"]) > 0.2
    assert found[1]["p_value"].to_list() == pytest.approx(found[0]["p_value"].to_list(), abs=0.05)
    by_draws = rows(one, "accuracy", cluster="user", test="bootstrap").row(0, named=True)
    assert by_draws["p_value"] < 0.01  # which is what this is about


@pytest.mark.parametrize("classes", [2, 3])
def test_users_with_a_row_in_each_arm_are_pairs(classes: int) -> None:
    """The interval of a share is that of pairs but for Student's t; that of others knows what users have in common."""
    rng, n = np.random.default_rng(classes), 400
    label, hard = np.tile(rng.integers(0, classes, n), 2), np.tile(rng.random(n) < 0.3, 2)
    predicted = (label + (rng.random(2 * n) < np.where(hard, 0.8, 0.02))) % classes
    columns = {"arm": ["A"] * n + ["B"] * n, "user": [*range(n)] * 2, "label": label, "predicted": predicted}
    frame, metrics = pl.DataFrame(columns), ("accuracy", "f1", "recall", "mcc", "kappa")
    pairs = frame.irm(system="arm", doc="user").compare(*metrics)
    arms, alone = (
        frame.with_columns(user=user).irm(arm="arm", cluster="user").ab_test(*metrics)
        for user in (pl.col("user"), pl.int_range(2 * n))
    )
    width, of_pairs, of_others = (table["ci_high"] - table["ci_low"] for table in (arms, pairs, alone))
    assert (width / of_pairs).to_list() == pytest.approx([1] * 5, abs=0.12)
    assert width[0] / of_pairs[0] == pytest.approx(1, abs=0.01)
    assert (width / of_others).to_list() == pytest.approx([0.6] * 5, abs=0.15)


@pytest.mark.parametrize("roles", [{}, {"weight": "w"}, {"cluster": "user"}])
@pytest.mark.parametrize("right", [0, 3, 17, 20])
def test_a_relative_difference_is_sure_where_the_difference_is(right: int, roles: dict[str, str]) -> None:
    """Both intervals exclude 0, or both hold it; they are those of one rule, and know an arm that does not vary."""
    columns = {"arm": ["A"] * 300 + ["B"] * 20, "label": [1, 0] * 160, "user": [i % 250 for i in range(320)]}
    wrong = [i % 15 == 0 for i in range(300)] + [i >= right for i in range(20)]
    frame = pl.DataFrame(columns).with_columns(wrong=pl.Series(wrong), w=1 + pl.int_range(320) % 2)
    frame = frame.with_columns(score=pl.when("wrong").then(1 - pl.col("label")).otherwise("label") * 1.0)
    for baseline in "AB":
        for row in rows(frame, "accuracy", "recall", "f1", "mcc", baseline=baseline, **roles).rows(named=True):
            if row["relative_low"] is not None:
                ends = row["ci_low"], row["ci_high"], row["relative_low"], row["relative_high"]
                assert np.sign(ends[:2]).tolist() == np.sign(ends[2:]).tolist()
                assert row["relative_low"] <= row["relative"] < row["relative_high"]
            else:  # where what it is divided by may be 0
                assert row["baseline_value"] < 0.3


def test_arms_that_are_all_right_do_not_differ() -> None:
    """Not by what rounding leaves."""
    frame = pl.DataFrame({"arm": ["A"] * 20 + ["B"] * 301}).with_columns(label=pl.int_range(321) % 3)
    row = frame.with_columns(predicted="label").irm(arm="arm").ab_test("mcc").row(0, named=True)
    assert (row["difference"], row["relative"], row["p_value"]) == (0, 0, 1)


@pytest.mark.parametrize("roles", [{}, {"weight": "w"}, {"cluster": "user"}])
def test_a_small_arm_in_perfect_order_is_not_surely_better(roles: dict[str, str]) -> None:
    """Measures of order are tested by the intervals that ``evaluate`` gives, and know what users have in common."""
    frame = pl.concat([made(1).with_columns(arm=pl.lit("A")), made(2, 20).with_columns(arm=pl.lit("B"))])
    frame = frame.with_columns(score=pl.when(arm="B").then("label").otherwise(pl.col("score") + 3 * pl.col("label")))
    frame = frame.with_columns(user=pl.int_range(420))
    metrics = "average_precision", *(["roc_auc", "gini"] if roles else [])
    found = rows(frame, *metrics, ci=0.9, **roles)
    told = frame.irm(by="arm", **roles).evaluate(*metrics, ci=0.9)
    for metric, row in zip(metrics, found.rows(named=True), strict=True):
        (base, low, _), (value, _, high) = (
            told.filter(arm=arm, metric=metric).select("value", "ci_low", "ci_high").row(0) for arm in "AB"
        )
        assert (row["test"], value, row["p_value"] > 0.2) == ("newcombe", 1, True)
        assert row["ci_high"] == pytest.approx(value - base + np.hypot(high - value, base - low), abs=1e-12)


@pytest.mark.parametrize("metric", ["average_precision", "roc_auc", "gini"])
def test_measures_of_order_know_what_users_have_in_common(metric: str) -> None:
    """The same rows in both arms, each of one user: their interval is far narrower than that of other users."""
    one = made(3).with_columns(user=pl.int_range(400))
    same = pl.concat([one.with_columns(arm=pl.lit(arm)) for arm in "AB"])
    narrow, wide = (
        rows(frame, metric, cluster="user").row(0, named=True)
        for frame in (same, same.with_columns(user=pl.int_range(800)))
    )
    assert (narrow["difference"], narrow["p_value"], narrow["n_shared"]) == (0, 1, 400)
    assert narrow["ci_low"] < 0 < narrow["ci_high"]
    assert narrow["ci_high"] - narrow["ci_low"] < 0.3 * (wide["ci_high"] - wide["ci_low"])


@pytest.mark.parametrize("roles", [{}, {"weight": "w"}, {"cluster": "user"}])
@pytest.mark.parametrize("metric", ["brier", "log_loss"])
def test_losses_of_rows_are_tested_as_values_of_queries(metric: str, roles: dict[str, str]) -> None:
    """The mean of a loss over rows is one over queries of a row each: units are exchanged, and ends are Welch's."""
    frame = made(4).with_columns(score=1 / (1 + (-pl.col("score")).exp()), number=pl.int_range(400))
    right = pl.when(label=1).then("score").otherwise(1 - pl.col("score"))
    frame = frame.with_columns(loss=(1 - right) ** 2 if metric == "brier" else -right.log())
    row, other = (
        rows(frame, metric, margin=0.02, baseline=arm, **roles).row(0, named=True)
        for arm in frame["arm"].unique().sort()
    )
    irm = frame.irm(query="number", arm="arm", value="loss", **roles)
    told = irm.ab_test().row(0, named=True)
    same = "test", "difference", "n_units", "ci_low", "ci_high", "relative_low", "relative_high", "mde"
    assert [row[name] for name in same] == [pytest.approx(told[name], abs=1e-9) for name in same]
    assert row["p_value"] == pytest.approx(told["p_value"], abs=0.02)
    assert row["p_value"] == other["p_value"]  # whichever arm is the baseline
    assert row["difference"] < 0  # which is better
    assert row["p_not_worse"] < 0.15 < 0.4 < other["p_not_worse"]


def test_what_does_not_vary_in_one_arm_has_no_test() -> None:
    """Where ``evaluate`` has no interval of an arm there is none of the difference, and no p-value."""
    n = [12, 300]
    label = [i % 3 for size in n for i in range(size)]
    wrong = [False] * 12 + [i % 7 == 0 for i in range(300)]
    scores = {
        f"s{c}": [float(c == (y + 1) % 3 if w else c == y) for y, w in zip(label, wrong, strict=True)] for c in range(3)
    }
    frame = pl.DataFrame({"arm": ["A"] * 12 + ["B"] * 300, "label": label, **scores})
    roles: dict[str, Any] = {"score": {c: f"s{c}" for c in range(3)}}
    assert frame.irm(by="arm", **roles).evaluate("roc_auc", ci=0.95)["ci_low"].is_null().to_list() == [True, False]
    row = frame.irm(arm="arm", **roles).ab_test("roc_auc").row(0, named=True)
    assert (row["p_value"], row["ci_low"], row["relative_low"], row["mde"]) == (None,) * 4
    assert row["difference"] < 0


@pytest.mark.parametrize("seed", range(3))
def test_a_rate_comes_near_the_test_of_two_proportions(seed: int) -> None:
    """Of many rows the bootstrap is near the normal test of two shares: quantiles of 4,000 draws err by .04 errors."""
    frame = made(seed, n=4000)
    row = rows(frame, "accuracy", resamples=4000).row(0, named=True)
    shares = [(row["value"], row["n"]), (row["baseline_value"], row["baseline_n"])]
    error = sqrt(sum(p * (1 - p) / n for p, n in shares))
    ends = [row["difference"] - 1.96 * error, row["difference"] + 1.96 * error]
    assert [row["ci_low"], row["ci_high"]] == pytest.approx(ends, abs=0.16 * error)
    assert row["p_value"] == pytest.approx(2 * stats.norm.sf(abs(row["difference"]) / error), abs=0.03)
    assert row["mde"] == pytest.approx(2.8016 * error, rel=0.05)
    spread = 1.96 * sqrt(sum((1 - p) / p / n for p, n in shares))
    ratio = row["value"] / row["baseline_value"]
    ends = [ratio * np.exp(-spread) - 1, ratio * np.exp(spread) - 1]
    assert [row["relative_low"], row["relative_high"]] == pytest.approx(ends, abs=0.16 * error / row["baseline_value"])


@pytest.mark.slow
def test_arms_are_drawn_apart() -> None:
    """Arms with the same rows are resampled by other draws: their difference varies as that of two samples does."""
    one = made(2).drop("arm")
    frame = pl.concat([one.with_columns(arm=pl.lit(arm)) for arm in "AB"])
    found = rows(frame, "accuracy", "roc_auc", test="bootstrap", resamples=4000)
    alone = one.irm(threshold=0.5).evaluate("accuracy", "roc_auc", ci=0.95, method="bootstrap", resamples=4000)
    width, own = (table["ci_high"] - table["ci_low"] for table in (found, alone))
    assert (width / own).to_list() == pytest.approx([sqrt(2)] * 2, rel=0.08)
    assert found["difference"].to_list() == [0, 0]
    assert min(found["p_value"]) > 0.9


def test_users_widen_the_interval() -> None:
    """Rows logged four times within their user tell no more; as rows they would seem to."""
    frame = made(3)
    four = pl.concat([frame.with_columns(user=pl.int_range(pl.len()))] * 4)
    once, users, alone = (
        rows(one, "accuracy", resamples=2000, **roles).row(0, named=True)
        for one, roles in ((frame, {}), (four, {"cluster": "user"}), (four, {}))
    )
    wide = [row["ci_high"] - row["ci_low"] for row in (once, users, alone)]
    assert wide[1] == pytest.approx(wide[0], rel=0.08)
    assert wide[2] == pytest.approx(wide[0] / 2, rel=0.08)
    assert (users["n_units"], users["n"]) == (once["n_units"], 4 * once["n"])


def test_several_classes_and_more_arms() -> None:
    """Classes as in evaluate, and every pair of arms."""
    frame = made_classes(n=300).with_columns(arm=pl.Series(np.arange(300) % 3))
    found = frame.irm(arm="arm").ab_test("f1", "accuracy", "kappa")
    told = frame.irm(by="arm").evaluate("f1", "accuracy", "kappa")
    assert found.select("arm", "baseline").rows() == [(1, 0), (2, 0), (2, 1)] * 3
    for row in found.rows(named=True):
        mine = told.filter(arm=row["arm"], metric=row["metric"])["value"].item()
        assert row["value"] == pytest.approx(mine, abs=1e-12)
        assert row["ci_low"] < row["difference"] < row["ci_high"]


@pytest.mark.parametrize("wrong", range(10, 61, 10))
@pytest.mark.parametrize("roles", [{}, {"weight": "w"}, {"cluster": "user"}])
def test_an_arm_without_a_mistake_is_not_certain(wrong: int, roles: dict[str, str]) -> None:
    """Thirty rows may all be right by chance; measures of several classes are tested by the interval that they have."""
    n = [30, 300]
    label = [i % 3 for size in n for i in range(size)]
    predicted = label[:30] + [(c + 1) % 3 if i < wrong else c for i, c in enumerate(label[30:])]
    columns = {"arm": ["A"] * 30 + ["B"] * 300, "label": label, "predicted": predicted, "user": range(330)}
    frame = pl.DataFrame(columns | {"w": [1 + i % 2 for i in range(330)]})
    found = frame.irm(arm="arm", classes=[0, 1, 2], **roles).ab_test("f1", "recall", "mcc", "kappa")
    assert found["test"].to_list() == ["newcombe"] * 4
    assert (found["ci_high"] < 0).to_list() == (found["p_value"] < 0.05).to_list()
    assert (found["p_value"] > 0.05).to_list() == [wrong < 40] * 4
    told = frame.irm(by="arm", classes=[0, 1, 2], **roles).evaluate("f1", "recall", "mcc", "kappa", ci=0.95)
    for at, row in enumerate(found.rows(named=True)):
        mine, base = (told.filter(arm=arm)[at] for arm in "BA")
        far = [mine["value"] - mine["ci_low"], base["ci_high"] - base["value"]]
        assert row["ci_low"] == pytest.approx(row["difference"] - np.hypot(*far).item(), abs=1e-12)


def test_an_arm_of_one_row_and_a_segment_without_an_arm() -> None:
    """Values are there as far as they are known; intervals, p-value and mde are not."""
    frame = pl.DataFrame({"arm": [*"AAB" + "A"], "label": [1, 0, 1, 1], "predicted": 1, "day": [1, 1, 1, 2]})
    found = frame.irm(arm="arm", by="day").ab_test("accuracy")
    told = found.select("day", "value", "baseline_value", "difference", "n", "baseline_n", "p_value", "ci_low", "mde")
    assert told.rows() == [(1, 1, 0.5, 0.5, 1, 2, None, None, None), (2, None, 1, None, 0, 1, None, None, None)]


REFUSALS = r"""
rows(made(0), "roc_auc", "recall", covariate="w")
    NotComputableError: covariate='w' requires query=; name the column of queries
rows(made(0), "roc_auc", "recall", test="randomization")
    NotComputableError: test='randomization' applies to queries, and there is none; name query=, or pass test= as
        one of 'delong', 'bootstrap'
rows(made(0), "roc_auc", "recall", test="delong", cluster="user")
    NotComputableError: test='delong' takes every row as independent, and user says which belong together; pass
        test='bootstrap', or cluster=None
rows(made(0), "roc_auc", "recall", test="delong")
    NotComputableError: recall has no test by DeLong, which applies to roc_auc and gini of two classes; pass
        test='bootstrap'
    but: rows(made(0), "roc_auc", test="delong")
    but: rows(made(0), "roc_auc", "recall", test="bootstrap", cluster="user")
rows(made(0), "roc_auc", "recall", against="chance")
    UnknownNameError: ab_test() has no option 'against'
rows(made(0).filter(arm="A"), "roc_auc", "recall")
    NotComputableError: arm has one arm, 'A'; two are needed to compare
    but: rows(made(0), "roc_auc", "recall")
made_classes().irm(arm="place", match="best").ab_test("accuracy")
    NotComputableError: match='best' chooses the classes of the clusters of each side anew;[...]
    but: made_classes().irm(arm="place").ab_test("accuracy")
"""


def test_bad_input() -> None:
    """Each is an error in the caller's words, with the way out."""
    check(REFUSALS, globals())


PINNED = ("difference", "ci_low", "ci_high", "relative_low", "p_value", "p_adjusted", "mde")
# Printed before clusters could stand in several arms, but for p-values and the ends of intervals, which are expanded
OF_ROWS: list[tuple[dict[str, str], str, str]] = [
    ({"cluster": "user"}, "f1",
     "0.144194282823172 0.012604436626607 0.293804021936520 0.020871044136364 0.051000411788660 0.051000411788660 "
     "0.207708271551854"),
    ({"cluster": "user"}, "roc_auc",
     "0.097117775966103 0.008098770969024 0.192684302646105 0.010267330539429 0.078698290771913 0.078698290771913 "
     "0.141267940241648"),
    ({"cluster": "user", "weight": "w", "by": "day"}, "f1",
     "0.177595628415301 -0.050069664897620 0.360781184222606 -0.081368244893541 0.156182672200480 0.156182672200480 "
     "0.303477796641622"),
    ({"cluster": "user", "weight": "w", "by": "day"}, "roc_auc",
     "0.12669187025704 -0.076533863091905 0.244171136891536 -0.089816246867997 0.209567941351556 0.209567941351556 "
     "0.216994465783305"),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(OF_ROWS)))
def test_without_shared_users_draws_are_those_of_arms_by_themselves(case: int) -> None:
    """Users of one arm each: the numbers are those that were printed before users could stand in several."""
    roles, metric, told = OF_ROWS[case]
    row = (
        rows(made(5), "f1", "roc_auc", test="bootstrap", resamples=100, **roles)
        .filter(metric=metric)
        .row(-1, named=True)
    )
    assert [row[name] for name in PINNED] == pytest.approx([float(one) for one in told.split()], rel=1e-12)
