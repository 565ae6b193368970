"""Intervals of few units: levels of draws, shares, quantiles, what hardly varies; and the checks that units are few."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

from frame_metrics import IRM, BadValueError
from frame_metrics.inputs import Classes, FullConfusion, FullScores
from frame_metrics.metrics.metric import REGISTRY
from frame_metrics.stats.exact import expanded_level, normal_quantile, t_quantile
from frame_metrics.stats.quantiles import order_statistics
from frame_metrics.stats.shares import hybrid, wilson_on_range
from frame_metrics.verbs.compare.differences import _effective_n
from helpers import as_polars
from inside import in_pieces

# Of the table of R. A. Fisher and F. Yates, Statistical tables, 1938 (to its last digit): the degrees of freedom, the
# probability below the quantile, and the quantile.
OF_T = [
    (1, 0.975, 12.706),
    (2, 0.975, 4.303),
    (3, 0.95, 2.353),
    (4, 0.975, 2.776),
    (9, 0.975, 2.262),
    (19, 0.995, 2.861),
    (29, 0.975, 2.045),
    (120, 0.975, 1.980),
]


@pytest.mark.parametrize(("df", "p", "quantile"), OF_T)
def test_quantiles_of_t_are_those_of_the_printed_table(df: float, p: float, quantile: float) -> None:
    """Quantiles of t have the digits of the table, and those below the middle the other sign."""
    assert t_quantile(p, df) == pytest.approx(quantile, abs=0.0006)
    assert t_quantile(1 - p, df) == pytest.approx(-quantile, abs=0.0006)


@pytest.mark.parametrize("df", [0.3, 1, 1.5, 2, 3.25, 4, 9, 29.5, 300, 999.5, 1000, 5000, 1e9])
@pytest.mark.parametrize("p", [0.6, 0.75, 0.9, 0.975, 0.9995, 1 - 1e-9])
def test_quantiles_of_t_are_those_of_scipy(df: float, p: float) -> None:
    """Quantiles of t agree with scipy's to twelve digits, for degrees of freedom that are no whole numbers too."""
    t = pytest.importorskip("scipy.stats").t
    assert t_quantile(p, df) == pytest.approx(t.ppf(p, df), rel=1e-11)


def test_quantiles_of_t_at_the_ends() -> None:
    """The median of t is 0, its greatest value infinite, and without degrees of freedom there is none."""
    assert [t_quantile(0.5, 3), t_quantile(1, 3), t_quantile(0, 3)] == [0, math.inf, -math.inf]
    assert t_quantile(0.9, 1e-3) == math.inf
    assert math.isnan(t_quantile(0.9, 0))
    assert t_quantile(0.975, 1e12) == pytest.approx(normal_quantile(0.95), rel=1e-9)


@pytest.mark.parametrize(("n", "level"), [(1, 1), (2, 1), (5, 0.99809), (10, 0.98290), (20, 0.96824), (50, 0.95764)])
def test_the_level_of_few_units(n: int, level: float) -> None:
    """The level of five units is 2 Phi(sqrt(5 / 4) 2.7764) - 1 = .99809, and of many units it is that of the call."""
    assert expanded_level(0.95, n) == pytest.approx(level, abs=1e-5)
    assert 0.95 <= expanded_level(0.95, 1e7) < 0.95001


def saved(name: str, values: Any, **columns: Any) -> pl.DataFrame:
    """A number of each query."""
    return pl.DataFrame({"query": range(len(values)), name: pl.Series(values, dtype=pl.Float64)} | columns)


def ends(frame: Any, *metrics: Any, ci: float = 0.95, roles: Any = None, **options: Any) -> list[tuple[Any, ...]]:
    """The intervals of metrics, rounded to four digits."""
    found = as_polars(IRM(frame, **(roles or {})).evaluate(*metrics, ci=ci, **options))
    return found.select(pl.col("ci_low", "ci_high").round(4)).rows()


# Wilson's interval, of R. G. Newcombe, Two-sided confidence intervals for the single proportion, Statistics in Medicine
# 17, 1998, table I: how many of n, and the ends.
WILSON = [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)]


@pytest.mark.parametrize(("hits", "n", "low", "high"), WILSON)
def test_shares_have_the_interval_of_wilson(hits: int, n: int, low: float, high: float) -> None:
    """Published intervals: of queries that succeed, and of rows that are found, right, or predicted rightly."""
    values = [1.0] * hits + [0.0] * (n - hits)
    assert ends(saved("success", values), roles={"value": "success"}) == [(low, high)]
    rows = pl.DataFrame({"label": [1] * n + [0, 0], "predicted": [*map(int, values), 0, 0]})
    assert ends(rows, "recall") == [(low, high)]
    turned = rows.rename({"label": "predicted", "predicted": "label"})
    assert ends(turned, "precision") == [(low, high)]


def test_informedness_has_the_interval_of_two_shares() -> None:
    """Newcombe (1998), table II: 56/70 less 48/80 is 0.2 (0.0524 to 0.3339); balanced accuracy: half of it + .5."""
    rows = pl.DataFrame({"label": [1] * 70 + [0] * 80, "predicted": [1] * 56 + [0] * 14 + [1] * 48 + [0] * 32})
    assert ends(rows, "informedness", "balanced_accuracy") == [(0.0524, 0.3339), (0.5262, 0.6669)]


def test_shares_that_fail_together_widen_the_interval_of_their_sum() -> None:
    """Recall and specificity of clusters that fail as a whole are one share twice: its interval, not a shorter one."""
    fails = [1] * 3 + [0] * 9
    rows = [(label, label ^ fail, user) for user, fail in enumerate(fails) for label in (0, 0, 1, 1)]
    irm = pl.DataFrame(rows, schema=["label", "predicted", "user"], orient="row").irm(cluster="user")
    found = irm.evaluate("recall", "specificity", "balanced_accuracy", ci=0.9).select("ci_low", "ci_high").rows()
    assert found[0] == pytest.approx(found[1])
    assert found[2] == pytest.approx(found[0])


def test_f1_has_the_interval_of_jaccard() -> None:
    """Of 6 true positives among 9 rows that are true or predicted, jaccard is Wilson's, and f1 2 J / (1 + J)."""
    rows = pl.DataFrame({"label": [1] * 8 + [0] * 5, "predicted": [1] * 6 + [0, 0, 1] + [0] * 4})
    ((low, high),) = ends(rows, "jaccard")
    assert (low, high) == (0.3542, 0.8794)
    assert ends(rows, "f1") == [(pytest.approx(2 * low / (1 + low), abs=1e-4), pytest.approx(0.9358, abs=1e-4))]


def test_fbeta_has_the_interval_of_jaccard_and_of_the_kinds_of_mistakes() -> None:
    """Equal costs give that of f1; without a mistake each costs as much as the worst, .8 of f2 and f0.5."""
    rows = pl.DataFrame({"label": [1] * 8 + [0] * 5, "predicted": [1] * 6 + [0, 0, 1] + [0] * 4})
    assert ends(rows, "fbeta(beta=1)", "inverse_fbeta(beta=1)") == ends(rows, "f1", "inverse_f1")
    turned = rows.rename({"label": "predicted", "predicted": "label"})
    both = ends(rows, "f2", "fbeta(beta=0.5)")
    assert both == [*reversed(ends(turned, "f2", "fbeta(beta=0.5)"))]
    assert both[0] != both[1]
    right = pl.DataFrame({"label": [1] * 12 + [0] * 5, "predicted": [1] * 12 + [0] * 5})
    ((low, _),) = ends(right, "jaccard")
    assert ends(right, "f2", "fbeta(beta=0.5)") == [(pytest.approx(low / (low + 0.8 * (1 - low)), abs=1e-4), 1.0)] * 2
    none = pl.DataFrame({"label": [1] * 4 + [0] * 4, "predicted": [0] * 4 + [1] * 4})
    assert all(low == 0 < high < 1 for low, high in ends(none, "f2", "fbeta(beta=0.5)"))


@pytest.mark.parametrize("roles", [{}, {"weight": "w"}, {"cluster": "user"}, {"cluster": "user", "weight": "w"}])
@pytest.mark.parametrize("method", [None, "bootstrap"])
def test_rows_that_are_all_right_have_no_interval_without_width(roles: dict[str, str], method: Any) -> None:
    """Measures of tables, and of scores that separate the classes: an interval has a width, or is null; so by class."""
    label = [1, 0, 1, 1, 0, 1]
    columns = {"label": label, "predicted": label, "score": [0.9 * one for one in label]}
    rows = pl.DataFrame(columns | {"user": [*"aabbcc"], "w": [1.0, 1, 2, 1, 1, 2]})
    of_rows = [one for one in REGISTRY.values() if one.input in (FullConfusion, Classes, FullScores)]
    asked = [one.name for one in of_rows if not (one.biased or one.missing)]
    given = {} if method is None else {"method": method}
    found = rows.irm(**roles, query=None).evaluate(*dict.fromkeys([*asked, "f2", "mcc", "kappa"]), ci=0.95, **given)
    by_class = rows.irm(**roles, query=None).per_class("f2", "mcc", "kappa", ci=0.95)
    for one in (found, by_class):
        assert not one.filter(pl.col("ci_low") == pl.col("ci_high")).height
    kinds = {name: found.filter(metric=name)["ci_low"].is_null().item() for name in ("mcc", "kappa", "f2", "accuracy")}
    few = method == "bootstrap"
    assert kinds == dict.fromkeys(kinds, few)


def test_differences_of_rows_that_never_vary_have_no_interval() -> None:
    """Of three rows no exchange of two systems has a p-value below 1/4; of two rows of each arm none below 1/3."""
    rows = pl.DataFrame(
        {"s": [*"aaabbb"], "doc": [0, 1, 2] * 2, "label": [1, 1, 0] * 2, "predicted": [1, 1, 0, 0, 0, 1]}
    )
    found = rows.irm(system="s", doc="doc").compare("precision", "informedness", "kappa")
    assert found.select("ci_low", "ci_high", "relative_low", "mde").null_count().row(0) == (3, 3, 3, 3)
    assert found["p_value"].to_list() == [0.25] * 3
    same = rows.with_columns(predicted=pl.col("label")).irm(system="s", doc="doc").compare("f1")
    assert same.select("difference", "ci_low", "ci_high", "p_value", "mde").row(0) == (0, None, None, 1, None)
    arms = rows.filter(pl.col("doc") > 0).irm(arm="s", query=None, doc=None).ab_test("mcc", "accuracy")
    assert arms.select("difference", "ci_low", "mde").row(0) == (pytest.approx(-2), pytest.approx(-2), None)
    assert arms.select("difference", "ci_low", "mde").row(1) == (-1, -1, None)
    assert arms["ci_high"][1] == pytest.approx(
        hybrid(np.array([0.0, 1]), wilson_on_range(np.array([0.0, 1]), 2, 0.95).T, 0, (1, -1))[1]
    )
    assert arms["p_value"].to_list() == [pytest.approx(1 / 3)] * 2


def test_few_rows_of_arms_have_longer_intervals() -> None:
    """The level is that of the arm that varies, or of Welch's degrees of freedom; there are more draws than asked."""
    rng = np.random.default_rng(4)
    label, n = rng.random(20) < 0.5, 20
    rows = pl.DataFrame({"arm": [*"ab"] * 10, "label": label * 1, "predicted": (label ^ (rng.random(n) < 0.3)) * 1})
    irm = rows.irm(arm="arm", query=None, doc=None)
    few, many = (
        irm.ab_test("f1", test="bootstrap", resamples=one).select("ci_low", "ci_high").row(0) for one in (100, 10_000)
    )
    assert few == many
    uneven = pl.concat([rows, rows.filter(arm="b"), rows.filter(arm="b")]).irm(arm="arm", query=None, doc=None)
    assert uneven.ab_test("kappa", resamples=100)["ci_low"].item() < 1
    assert _effective_n(np.array([[0.1, 0.3], [0.5, 0.5]]), [10, 50]) == (pytest.approx(10), pytest.approx(9))
    evenly = np.array([[0.1, 0.3], [0.7, 0.5]])
    assert _effective_n(evenly, [10, 10]) == (pytest.approx(10), pytest.approx(18))


def test_averages_of_classes_that_are_accuracy_have_its_interval() -> None:
    """Micro recall, precision and f1, and weighted recall, of rows with one class each."""
    label, predicted = [*"aaabbbccc"], [*"aabbbaccc"]
    irm = pl.DataFrame({"label": label, "predicted": predicted}).irm
    (accuracy,) = irm.evaluate("accuracy", ci=0.95).select("ci_low", "ci_high").rows()
    for average, names in (("micro", ["recall", "precision", "f1"]), ("weighted", ["recall"])):
        given: Any = average
        found = irm.evaluate(*names, average=given, ci=0.95)
        assert found.select("ci_low", "ci_high").rows() == [accuracy] * len(names)
    open_row = pl.DataFrame({"label": [*label, "a"], "predicted": [*predicted, None]}).irm
    found = open_row.evaluate("accuracy", ci=0.95).vstack(open_row.evaluate("recall", average="micro", ci=0.95))
    assert found["ci_low"].n_unique() == 1


def test_the_mean_of_classes_is_no_wider_than_each_where_one_user_has_many_rows() -> None:
    """Independent rows, a third of them of one user: two more rows of a class are rows, not users."""
    r = np.random.default_rng(0)
    n, users = 450, np.concatenate([np.zeros(150, np.int64), 1 + np.arange(300) // 6])
    label = r.integers(0, 4, n)
    found = np.where(r.random(n) < 0.85, label, (label + 1) % 4)
    texts = {"label": label.astype(str), "predicted": found.astype(str)}
    irm = pl.DataFrame(texts | {"user": users}).irm(cluster="user")
    mean, each = irm.evaluate("recall", ci=0.95), irm.per_class("recall", ci=0.95)
    width = [(one["ci_high"] - one["ci_low"]).to_numpy() for one in (mean, each)]
    assert width[0].item() < width[1].min()


def test_each_class_has_an_interval() -> None:
    """That of the class against the rest; wide beside its value; of averages that of evaluate()."""
    rows = pl.DataFrame({"label": [*"aaaaabbbbbcc"], "predicted": [*"aaaabbbbbacc"]})
    found = rows.irm.per_class("recall", "mcc", average="macro", ci=0.95)
    assert found.columns[-2:] == ["ci_low", "ci_high"]
    against = rows.with_columns(pl.all() == "a").irm.evaluate("recall", "mcc", ci=0.95)
    assert found.filter(pl.col("class") == "a")["ci_low", "ci_high"].equals(against["ci_low", "ci_high"])
    macro = rows.irm.evaluate("recall", ci=0.95).select("ci_low", "ci_high").row(0)
    assert found.filter(average="macro").select("ci_low", "ci_high").row(0) == macro
    wide = rows.irm.per_class("recall", ci=0.95, layout="wide")
    assert wide.columns == ["class", "support", "n", "recall", "recall_low", "recall_high"]
    assert (
        wide["recall_low"].to_list() == found.filter(pl.col("average").is_null(), metric="recall")["ci_low"].to_list()
    )
    with pytest.raises(BadValueError, match=r"^ci=1\.5 is not a level between 0 and 1"):
        rows.irm.per_class("recall", ci=1.5)


def test_the_ends_of_a_quantile_are_values() -> None:
    """Of 20 values the median lies between the 6th and the 15th (Conover, Practical nonparametric statistics, 1999)."""
    values = np.random.default_rng(0).permutation(np.arange(20.0))
    frame, roles = saved("latency", values), {"value": "latency"}
    for average, expected in (("median", (5, 14)), ("max", (19, None)), ("min", (None, 0)), ("q0.9", (14, None))):
        assert ends(frame, average=average, roles=roles) == [expected]
    assert order_statistics(35, 0.9, 0.95)[1] is None
    assert order_statistics(36, 0.9, 0.95)[1] == 35
    assert ends(saved("latency", values[:5]), average="median", roles=roles) == [(None, None)]


def test_values_that_hardly_vary_have_an_interval_on_the_range() -> None:
    """Four of twenty differ from the commonest: Wilson's formula at the mean; null if the metric has no bounds."""
    values = [0.0] * 16 + [0.2, 0.4, 0.6, 0.8]
    z, mean = 1.959964, 0.1
    centre, half = (
        (mean + z * z / 40) / (1 + z * z / 20),
        z * (mean * 0.9 / 20 + z * z / 1600) ** 0.5 / (1 + z * z / 20),
    )
    ((low, high),) = ends(saved("ap", values), roles={"value": "ap"})
    assert (low, high) == (pytest.approx(centre - half, abs=1e-4), pytest.approx(centre + half, abs=1e-4))
    assert ends(saved("latency", values), roles={"value": "latency"}) == [(None, None)]
    assert ends(saved("ap", [*values[:-1], 9.0]), roles={"value": "ap"}) == [(None, None)]  # no ap is 9
    more = ends(saved("latency", [*values, 1.0]), roles={"value": "latency"})
    assert more[0][0] is not None
    turned = ends(saved("informedness", [2 * x - 1 for x in values]), roles={"value": "informedness"})
    assert turned == [(pytest.approx(2 * low - 1, abs=2e-4), pytest.approx(2 * high - 1, abs=2e-4))]


def test_shares_of_clusters_and_of_weights() -> None:
    """n* = p (1 - p) / v: 16 of 20 in four clusters of five, by hand, and weights that are alike change nothing."""
    values, cluster = [1.0] * 5 + [1.0] * 5 + [1.0] * 4 + [0.0] + [1.0, 1.0] + [0.0] * 3, np.repeat(range(4), 5)
    rest = np.array([1.0, 1.0, 0.0, -2.0])  # of each cluster: how many succeed, less 4
    n = 0.8 * 0.2 / ((rest**2).sum() / 400 * 4 / 3) * (1.959964 / 3.182446) ** 2
    z = 1.959964
    centre, half = (0.8 + z * z / 2 / n) / (1 + z * z / n), z * (0.16 / n + z * z / 4 / n**2) ** 0.5 / (1 + z * z / n)
    given = saved("success", values, user=cluster, w=[2.5] * 20)
    expected = [(pytest.approx(centre - half, abs=1e-4), pytest.approx(centre + half, abs=1e-4))]
    assert ends(given, roles={"value": "success", "cluster": "user"}) == expected
    plain = ends(given, roles={"value": "success"})
    assert ends(given, roles={"value": "success", "weight": "w"}) == plain
    rows = pl.DataFrame({"label": [1] * 20, "predicted": [*map(int, values)], "user": cluster, "w": [2.5] * 20})
    assert ends(rows, "recall", roles={"cluster": "user"}) == expected
    assert ends(rows, "recall", roles={"weight": "w"}) == plain == ends(rows, "accuracy")


def test_few_units_are_findings() -> None:
    """Fewer than ten queries, and fewer than thirty clusters, of logs, of saved numbers, of rows and in pieces."""
    log = pl.DataFrame({"query": range(9), "score": 1.0, "grade": 1, "user": [0, 1] * 4 + [0]})
    irm = log.irm(cluster="user")
    for one in (irm, in_pieces(irm), saved("rr", [1.0] * 9, user=log["user"]).irm(value="rr", cluster="user")):
        found = as_polars(one.audit()).filter(severity="warning").select("check", "n")
        assert found.rows() == [("few queries", 9), ("few clusters", 2)]
    rows = pl.DataFrame({"label": [1, 0] * 9, "predicted": [1, 0] * 9, "user": range(18)})
    (message,) = rows.irm(cluster="user").audit().filter(check="few clusters of rows")["message"]
    assert message.startswith("18 values of user, fewer than 30: ")
    many = pl.DataFrame({"query": range(30), "score": 1.0, "grade": 1, "user": range(30)}).irm(cluster="user")
    assert not many.audit()["check"].str.contains("few").any()


def test_kishs_number_stands_beside_weighted_means() -> None:
    """(1 + 1 + 2)^2 / (1 + 1 + 4) = 16 / 6, of defined queries; of rows too, and in pieces; else there is none."""
    log = pl.DataFrame({"query": [1, 2, 3], "score": [1.0] * 3, "grade": [1, 1, 1], "w": [1.0, 1.0, 2.0]})
    irm = log.irm(weight="w")
    assert irm.evaluate("rr", average=["weighted", "macro"])["n_effective"].to_list() == pytest.approx([16 / 6, 3])
    assert as_polars(in_pieces(irm).evaluate("rr"))["n_effective"].to_list() == pytest.approx([16 / 6])
    assert irm.evaluate("rr", layout="wide")["rr_n_effective"].to_list() == pytest.approx([16 / 6])
    assert "n_effective" not in irm(weight=None).evaluate("rr").columns
    rows = pl.DataFrame({"label": [1, 0, 1], "predicted": [1, 0, 0], "w": [1.0, 1.0, 2.0]})
    assert rows.irm(weight="w").evaluate("accuracy")["n_effective"].to_list() == pytest.approx([16 / 6])
    lacking = log.with_columns(grade=pl.Series([1, 1, 0])).irm(weight="w", undefined="null")
    assert lacking.evaluate("recall")["n_effective"].to_list() == [2]
    # Lists are weighed where it counts how often a document is shown, and only there; an empty one shows nothing.
    names = {"query": [1, 2, 3], "doc": [["a", "b"], ["a"], []], "w": [3.0, 1.0, 5.0]}
    lists = pl.DataFrame(names).irm(doc="doc", query="query", weight="w", relevant=None, catalogue=4)
    found = lists.evaluate("catalogue_coverage", "catalogue_gini")
    assert found.select("n", "n_effective").rows() == [(2, 2), (2, pytest.approx(16 / 10))]
