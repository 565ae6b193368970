"""The expected calibration error: its norms, what chance adds to it, and what stands beside it."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from sklearn.calibration import calibration_curve

from frame_metrics import IRM
from helpers import KINDS, as_kind, as_polars
from refusals import check

SCORE = [0.05, 0.05, 0.15, 0.15, 0.15, 0.95]
LABEL = [0, 1, 0, 0, 1, 1]
ROWS = pl.DataFrame({"label": LABEL, "score": SCORE}).with_columns(w=pl.lit(2.0), n=pl.lit(3))
BOTH = pl.concat([ROWS] * 4).with_columns(row=pl.Series([*range(12)] * 2), side=pl.Series(["a"] * 12 + ["b"] * 12))
BOTH = BOTH.with_columns(late=pl.Series([0, 1] * 12))
ARMS, PAIRED = BOTH.irm(arm="side"), BOTH.irm(system="side", doc="row")
DECIDED = ROWS.irm(predicted="n")
CLASSES = IRM(ROWS.with_columns(other=1 - pl.col("score"), predicted="label"), score={1: "score", 0: "other"})


def by_hand(rows: pl.DataFrame, bins: int = 10) -> dict[str, float]:
    """The errors, bin by bin, and what calibrated scores would have."""
    edges = np.linspace(0, 1, bins + 1)[1:-1]
    place, found = (
        np.searchsorted(edges, rows["score"].to_numpy()),
        dict.fromkeys(("one", "two", "chance", "root"), 0.0),
    )
    square, some = 0.0, 0
    for b in np.unique(place):
        mine = rows.filter(pl.Series(place == b))
        n, p, o = len(mine), mine["score"].mean(), mine["label"].mean()
        found["one"] += n / len(rows) * abs(p - o)
        found["two"] += n / len(rows) * (p - o) ** 2
        found["chance"] += n / len(rows) * (2 / np.pi) ** 0.5 * (p * (1 - p) / n) ** 0.5
        found["root"] += n / len(rows) * p * (1 - p) / n
        if n > 1:
            square, some = square + n * ((p - o) ** 2 - o * (1 - o) / (n - 1)), some + n
    return found | {"two": found["two"] ** 0.5, "root": found["root"] ** 0.5, "less": max(0, square / some) ** 0.5}


def deciles(rows: pl.DataFrame, bins: int = 10) -> pl.DataFrame:
    """The rows of each bin of scikit-learn's quantiles, with their mean score and the share of relevant ones."""
    score = rows["score"].to_numpy()
    place = np.searchsorted(np.percentile(score, np.linspace(0, 100, bins + 1))[1:-1], score)
    binned = rows.with_columns(bin=pl.Series(place)).group_by("bin").agg(pl.mean("score", "label"), n=pl.len())
    return binned.sort("bin")


@pytest.mark.parametrize("bins", [10, 3])
def test_errors_are_those_of_the_bins(bins: int) -> None:
    """The mean distance, the root of the mean square, and that without what chance adds, beside those by chance."""
    rng = np.random.default_rng(0)
    score = rng.random(60).round(2)
    for rows in (ROWS, pl.DataFrame({"score": score, "label": (rng.random(60) < score**2).astype(int)})):
        names = [f"ece(bins={bins})", f"ece(bins={bins}, norm=2)", f"ece(bins={bins}, norm=2, debiased=True)"]
        found, expected = rows.irm(query=None).evaluate(*names), by_hand(rows, bins)
        assert found["value"].to_list() == pytest.approx([expected[name] for name in ("one", "two", "less")], abs=1e-12)
        assert found["if_calibrated"].to_list()[:2] == pytest.approx([expected["chance"], expected["root"]], abs=1e-12)
        assert found["if_calibrated"][2] is None


@pytest.mark.parametrize("n", [7, 24, 200])
@pytest.mark.parametrize("digits", [1, 2, 12])
def test_bins_of_equally_many_rows(n: int, digits: int) -> None:
    """They are scikit-learn's: equal scores share a bin, so that some may be empty; the curve has the same bins."""
    rng = np.random.default_rng(n)
    score = rng.random(n).round(digits)
    rows = pl.DataFrame({"score": score, "label": (rng.random(n) < score).astype(int)})
    true, said = calibration_curve(rows["label"], rows["score"], n_bins=10, strategy="quantile")
    binned = deciles(rows)
    assert binned["label"].to_list() == pytest.approx(true.tolist(), abs=1e-12)
    drawn = rows.irm.curve("calibration", bins="quantile")
    assert drawn["predicted"].to_list() == pytest.approx(said.tolist(), abs=1e-12)
    assert drawn["observed"].to_list() == pytest.approx(true.tolist(), abs=1e-12)
    assert drawn["n"].to_list() == binned["n"].to_list()
    off, share = np.abs(said - true), binned["n"].to_numpy() / n
    names = ["ece(bins='quantile')", "ece(bins='quantile', norm=2)", "ece(bins='quantile', norm='max')"]
    expected = [(share * off).sum(), (share * off**2).sum() ** 0.5, off.max()]
    assert rows.irm.evaluate(*names)["value"].to_list() == pytest.approx(expected, abs=1e-12)
    many = pl.concat([rows.with_columns(pl.col("score") * 0.1, part=pl.lit("a")), rows.with_columns(part=pl.lit("b"))])
    parts = many.irm(by="part").evaluate(names[0])
    assert parts["value"][1] == pytest.approx(expected[0], abs=1e-12)
    queries = many.with_columns(query=pl.col("part")).irm(query="query").per_query(names[0])
    assert queries["value"].to_list() == pytest.approx(parts["value"].to_list(), abs=1e-12)


def test_the_greatest_distance_of_a_bin() -> None:
    """Of bins around 0.1, 0.15 and 0.95 the middle one is off most; by its own names, and with a number of bins."""
    off = max(abs(0.05 - 1 / 2), abs(0.15 - 1 / 3), abs(0.95 - 1))
    names = ["ece(norm='max')", "max_calibration_error", "Maximum Calibration Error(bins=10)"]
    found = ROWS.irm.evaluate(*names)
    assert found["value"].to_list() == pytest.approx([off] * 3, abs=1e-12)
    assert found["metric"].to_list() == names
    empty = ROWS[:0].irm(query=None).evaluate("ece(norm='max')", "ece(bins='quantile')")
    assert empty.select("value", "if_calibrated").rows() == [(None, None)] * 2
    one = ROWS[:1].irm(query=None).evaluate("ece(norm='max', bins='quantile')")
    assert one.select("value", "if_calibrated").row(0) == pytest.approx(
        (0.05, (2 / np.pi * 0.05 * 0.95) ** 0.5), abs=1e-4
    )


@pytest.mark.parametrize(("n", "close"), [(300, 0.06), (5_000, 0.03)])
def test_the_greatest_distance_that_calibrated_scores_have(n: int, close: float) -> None:
    """Where bins have many rows, the mean over drawn outcomes is near what stands beside the value."""
    rng = np.random.default_rng(5)
    score = rng.random(n)
    rows = pl.concat(
        pl.DataFrame({"draw": draw, "score": score, "label": (rng.random(n) < score).astype(int)})
        for draw in range(300)
    )
    found = rows.irm(query=None, by="draw").evaluate("ece(norm='max', bins='quantile')")
    assert found["value"].mean() == pytest.approx(found["if_calibrated"].mean(), rel=close)


def test_bins_of_one_row_are_left_out_and_counted() -> None:
    """One of three bins has one row; alone it has no debiased error."""
    names = ("ece", "ece(norm=2, debiased=True)")
    assert ROWS.irm.evaluate(*names)["n_undefined"].to_list() == [0, 1]
    found = ROWS[-1:].irm.evaluate(*names)
    assert found.select("value", "n_undefined").rows() == [(pytest.approx(0.05), 0), (None, 2)]


def test_a_counted_row_stands_for_several_and_a_weighted_one_has_no_error_by_chance() -> None:
    """A row that counts three times is as three; by chance weights say nothing."""
    counted, three = ROWS.irm(count="n"), pl.concat([ROWS] * 3).irm
    names = ("ece", "ece(norm=2)", "ece(norm=2, debiased=True)", "ece(norm='max')", "ece(bins='quantile')")
    columns = ["value", "if_calibrated", "n_undefined"]
    mine, other = (irm.evaluate(*names).select(columns) for irm in (counted, three))
    np.testing.assert_allclose(mine.to_numpy().astype(float), other.to_numpy().astype(float), rtol=0, atol=1e-12)
    assert ROWS.irm(weight="w").evaluate("ece")["if_calibrated"].to_list() == [None]


def test_the_column_stands_where_an_error_is_asked_for() -> None:
    """Long and wide, known before a lazy frame is read, and not beside other metrics or averages over queries."""
    assert "if_calibrated" not in ROWS.irm.evaluate("brier").columns
    assert ROWS.irm.evaluate("brier", "ece")["if_calibrated"].is_null().to_list() == [True, False]
    wide = ROWS.irm.evaluate("brier", "ece", layout="wide")
    assert wide.columns == ["average", "n", "brier", "brier_undefined", "ece", "ece_undefined", "ece_if_calibrated"]
    for layout in ("long", "wide"):
        lazy = ROWS.lazy().irm.evaluate("brier", "ece", layout=layout)
        assert lazy.collect_schema() == lazy.collect().schema
    log = ROWS.with_columns(query=pl.lit(1)).irm(query="query")
    assert "if_calibrated" not in log.evaluate("ece").columns
    margins = ROWS.with_columns(day=pl.Series([1, 1, 1, 2, 2, 2])).irm(by="day").evaluate("ece", margins=True)
    assert margins["if_calibrated"].null_count() == 0


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_frames_and_several_classes(kind: str) -> None:
    """Each kind of frame has the same columns; of several classes it is the greatest score that is calibrated."""
    assert as_polars(IRM(as_kind(ROWS, kind)).evaluate("ece"))["if_calibrated"].item() == pytest.approx(
        by_hand(ROWS)["chance"]
    )
    rng = np.random.default_rng(1)
    p = rng.dirichlet([1, 1, 1], 80)
    rows = pl.DataFrame({"label": rng.integers(0, 3, 80), "a": p[:, 0], "b": p[:, 1], "c": p[:, 2]})
    found = IRM(as_kind(rows, kind), score={0: "a", 1: "b", 2: "c"}).evaluate("ece", "ece(norm=2)")
    top = pl.DataFrame({"score": p.max(axis=1), "label": (p.argmax(axis=1) == rows["label"].to_numpy()).astype(int)})
    expected = by_hand(top)
    columns = as_polars(found).select("value", "if_calibrated").to_numpy()
    assert columns.ravel() == pytest.approx([expected[one] for one in ("one", "chance", "two", "root")], abs=1e-12)


def test_a_report_leaves_the_interval_out() -> None:
    """It says so, and shows the value by chance; other metrics keep their intervals."""
    page: Any = ROWS.irm.report(metrics=["brier", "ece"], format="md")
    assert "intervals of ece" in page
    assert "if calibrated" in page or "if_calibrated" in page


@pytest.mark.parametrize(("metric", "drifts"), [("ece", True), ("ks", True), ("ece(norm=2,debiased=True)", False)])
def test_a_summary_looks_for_no_change_in_what_chance_moves(metric: str, drifts: bool) -> None:
    """Traffic grows from 20 to 900 rows a day, and the scores are calibrated: ece falls, which is told of no day."""
    rng, day = np.random.default_rng(3), np.repeat(np.arange(20), np.linspace(20, 900, 20).astype(int))
    score = rng.beta(2, 3, len(day))
    rows = pl.DataFrame({"label": (rng.random(len(day)) < score) * 1, "score": score})
    rows = rows.with_columns(day=np.datetime64("2026-09-01") + day, side=pl.Series(day < 3))
    told = [*rows.irm(by="day").summary(metric)["sentence"], *rows.irm(arm="side").summary(metric)["sentence"]]
    assert not any("undefined" in sentence or "ci=None" in sentence for sentence in told)
    if drifts:  # where arms are not compared, the value of each stands there
        (small, n), (large, m) = rows.irm(arm="side").evaluate(metric).sort("side").select("value", "n").rows()
        each = (("false", small, n), ("true", large, m))
        both = {
            f"{metric} of {one} is {value:.3f}, over {rows:,} rows; that of {other} is {its:.3f} (over {its_rows:,})."
            for (one, value, rows), (other, its, its_rows) in (each, each[::-1])
        }
        assert both & {sentence.lower() for sentence in told}
    by_chance = "chance moves it one way, and further the fewer rows there are"
    for why in (
        f"No trend, break or outage is looked for: segments are not alike in {metric}: {by_chance}.",
        f"{metric} is not compared: {metric} has no test of a difference: {by_chance};",
    ):
        assert any(sentence.startswith(why) for sentence in told) is drifts
    assert "break at or near" not in str(rows.irm(by="day").plot.over_time(metric, ci=None).to_dict())


@pytest.mark.parametrize("options", [{}, {"method": "bootstrap", "resamples": 50}, {"by": "side", "margins": True}])
def test_metrics_without_an_interval_have_null_ends_beside_others(options: dict[str, Any]) -> None:
    """The ends of the others are those that they have alone."""
    roles = {"by": options.pop("by")} if "by" in options else {}
    rows = pl.DataFrame({"label": [0, 1, 1] * 20, "score": np.linspace(0.1, 0.9, 60), "side": [1, 2] * 30})
    found = rows.irm(**roles).evaluate("ece", "brier", "roc_auc", ci=0.9, **options)
    alone = rows.irm(**roles).evaluate("brier", "roc_auc", ci=0.9, **options)
    ends = found.filter(pl.col("metric") == "ece").select("ci_low", "ci_high")
    assert ends.null_count().row(0) == (len(ends), len(ends))
    of_others = found.filter(pl.col("metric") != "ece").drop("if_calibrated")
    assert_frame_equal(of_others, alone)
    wide = rows.irm(**roles).evaluate("ece", "brier", ci=0.9, layout="wide", **options)
    assert wide["ece_low"].null_count() == len(wide)
    assert wide["brier_low"].null_count() == 0


REFUSALS = r"""
ROWS.irm.evaluate("ece(bins=5)", ci=0.9)
ROWS.irm.evaluate("ece(bins=5)", "ks", ci=0.9)
    NotComputableError: ece(bins=5) has no interval: chance moves it one way, and further the fewer rows there are; pass
        ci=None, and compare the value with the column if_calibrated
    but: ROWS.irm.evaluate("ece(bins=5)", ci=None)
    but: ROWS.irm.evaluate("brier", "ece(bins=5)", ci=0.9)
    but: ROWS.irm.evaluate("ece(norm=2, debiased=True)")
DECIDED.evaluate(VALUE, ci=0.9)
CLASSES.per_class(VALUE, ci=0.9)
    for: "ece(norm=2, debiased=True)", "ks", "mutual_information", "conditional_entropy", "perplexity"
    NotComputableError: TEXT has no interval: chance moves it one way, and further the fewer rows there are; pass
        ci=None
ARMS.ab_test("brier", "ece(bins=5)")
PAIRED.compare("brier", "ece(bins=5)")
ARMS(arm=None, system="side", query="w").compare("ece(bins=5)")
    NotComparedError: ece(bins=5) has no test of a difference: chance moves it one way, and further the fewer rows there
        are; compare ece(norm=2, debiased=True) or brier, or ask evaluate() for the value of each
    but: ARMS.ab_test("brier", "ece(norm=2, debiased=True)", resamples=20)
    but: PAIRED.compare("brier", "ece(norm=2, debiased=True)", resamples=20)
ARMS.change("ks")
    NotComparedError: ks has no test of a difference: chance moves it one way, and further the fewer rows there are;
        compare roc_auc, or ask evaluate() for the value of each
    but: ARMS.change("roc_auc")
ARMS(arm=None, system="side", query="w").leaderboard("brier", "ks")
    NotComparedError: ks has no test of a difference: chance moves it one way, and further the fewer rows there are;
        compare roc_auc, or ask evaluate() for the value of each
    but: ARMS(arm=None, system="side", query="w").leaderboard("brier", "roc_auc")
ARMS(predicted="late").ab_test(VALUE)
    for: "mutual_information", "conditional_entropy", "perplexity"
    NotComparedError: TEXT has no test of a difference: chance moves it one way, and further the fewer rows there are;
        compare a mean or a share of rows, as brier or accuracy, or ask evaluate() for the value of each
    but: ARMS(predicted="late").ab_test("accuracy")
ARMS(predicted="late").ab_test(VALUE)
    for: "tp", "fn", "utility"
    NotComparedError: TEXT is a sum, which depends on how many rows an arm has; compare a share of them, as recall or
        precision, or ask evaluate() for the value of each
    but: ARMS(predicted="late").ab_test("recall", "precision")
    but: PAIRED(predicted="late").compare("tp", "fn", "utility", resamples=20)
ROWS.irm.evaluate("ece(debiased=True)")
    BadValueError: ece: debiased=True is for squared distances; pass norm=2 too
    but: ROWS.irm.evaluate("ece(norm=2, debiased=True)")
ROWS.irm(weight="w").evaluate("ece(norm=2, debiased=True)")
    NotComputableError: ece(norm=2, debiased=True) counts the rows of each bin, and w weighs them; pass weight=None, or
        leave debiased= out
    but: ROWS.irm(weight=None).evaluate("ece(norm=2, debiased=True)")
    but: ROWS.irm(weight="w").evaluate("ece(norm=2)")
ROWS.irm.evaluate("ece(norm=3)")
    BadValueError: ece: norm=3 is not one of 1, 2, 'max'
    but: ROWS.irm.evaluate("ece(norm=1)")
ROWS.irm.evaluate("ece(bins='quantiles')")
    BadValueError: ece: bins='quantiles' is not a whole number from 1, or 'quantile'
ROWS.irm.evaluate("ece(bins=2.5)")
    BadValueError: ece: bins=2.5 is not a whole number from 1, or 'quantile'
    but: ROWS.irm.evaluate("ece(bins='quantile')", "ece(bins=2.0)")
ROWS.irm(weight="w").evaluate("ece(bins='quantile')")
    NotComputableError: ece(bins='quantile') counts the rows of each bin, and w weighs them; pass weight=None, or leave
        bins= out
    but: ROWS.irm(weight="w").evaluate("ece")
    but: ROWS.irm(weight=None).evaluate("ece(bins='quantile')")
ROWS.irm(weight="w").curve("calibration", bins="quantile")
    NotComputableError: bins='quantile' counts rows, and w weighs them; pass weight=None, or bins=10
    but: ROWS.irm(weight="w").curve("calibration", bins=10)
    but: ROWS.irm(weight=None).curve("calibration", bins="quantile")
ROWS.irm.curve("distribution", bins="quantile")
    BadValueError: bins='quantile' is for the curve 'calibration'; give 'distribution' a number of bins
    but: ROWS.irm.curve("distribution", bins=3)
ROWS.irm.curve("calibration", bins="tenths")
    BadValueError: bins='tenths' is not a whole number from 1
    but: ROWS.irm.curve("calibration", bins="quantile")
"""


def test_what_is_refused() -> None:
    """An error says why, and the way out."""
    check(REFUSALS, globals())
