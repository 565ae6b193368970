"""Pictures: what is on which axis, the values that are drawn, names of any kind, frames of any kind."""

from __future__ import annotations

import inspect
import json
import pydoc
import re
import sys
import tomllib
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from importlib import import_module
from itertools import pairwise
from typing import Any

import altair
import numpy as np
import pandas as pd
import polars as pl
import pytest

import frame_metrics
from frame_metrics import BadValueError, ColumnError, UnknownNameError, metrics, plot
from frame_metrics.errors import PACKAGES
from frame_metrics.plot.charts import THEME
from helpers import KINDS, ROOT, as_kind, error, frame
from inside import for_phones

RUNS = frame(
    "system query score grade",
    *[("a", 1, 3.0, 1), ("a", 1, 2.0, 0), ("a", 2, 2.0, 0), ("a", 2, 1.0, 1)],
    *[("b", 1, 3.0, 0), ("b", 1, 2.0, 1), ("b", 2, 2.0, 0), ("b", 2, 1.0, 1)],
)
CASES = pl.DataFrame({"label": [1, 0, 1, 0], "score": [0.9, 0.6, 0.5, 0.1]})
READ: dict[int, tuple[Any, dict[str, Any]]] = {}  # charts, and what they are read as, which takes a while
runs, cases = RUNS.irm(system="system"), CASES.irm()


def parts(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """The charts that a specification is put together from, itself first."""
    inside = [part for name in ("layer", "hconcat", "vconcat", "concat") for part in spec.get(name, [])]
    inside += [spec["spec"]] if "spec" in spec else []
    return [spec, *(deeper for part in inside for deeper in parts(part))]


def specification(chart: Any) -> dict[str, Any]:
    """What Altair makes of a chart, read again as a browser would read it: NaN and infinity are errors."""
    if id(chart) not in READ:
        read = json.loads(json.dumps(chart.to_dict(validate=False), allow_nan=False))
        READ[id(chart)] = chart, read
    return READ[id(chart)][1]


def marks(chart: Any, kind: str) -> list[dict[str, Any]]:
    """The marks of one type."""
    return [part for part in drawn(chart) if part["mark"]["type"] == kind]


def drawn(chart: Any) -> list[dict[str, Any]]:
    """The marks of a picture: what stands on each of their channels, by field or value, and their titles."""
    return [part for part in parts(specification(chart)) if "encoding" in part]


def rows(chart: Any, *names: str) -> list[list[tuple[Any, ...]]]:
    """The rows of each data set in which some fields stand, those fields only."""
    sets = [part["data"]["values"] for part in parts(specification(chart)) if "data" in part]
    return [[tuple(row[name] for name in names) for row in data] for data in sets if set(names) <= set(data[0])]


def fields(mark: dict[str, Any]) -> dict[str, str]:
    """The fields that stand on the channels of a mark."""
    return {name: of["field"] for name, of in mark["encoding"].items() if isinstance(of, dict) and "field" in of}


def titles(chart: Any) -> set[str]:
    """The titles of axes, legends and small multiples."""
    found = set()
    for part in parts(specification(chart)):
        of = [*part.get("encoding", {}).values(), part.get("facet", {}), *part.get("facet", {}).values()]
        found |= {one["title"] for one in of if isinstance(one, dict) and isinstance(one.get("title"), str)}
    return found


def test_metrics_have_a_row_for_each_system() -> None:
    """Values stand beside the systems, the best on top, on an axis where they are, or as long as the metric's range."""
    chart = runs.plot.metrics("rr", ci=0.95)
    (points,) = marks(chart, "point")
    assert fields(points) == {"x": "value", "y": "color"}
    assert points["encoding"]["y"]["sort"] == ["a", "b"]
    near = marks(runs.plot.metrics("rr"), "point")[0]["encoding"]["x"]["scale"]["domain"]
    assert near == pytest.approx([0.4875, 0.7625])
    whole = runs.plot.metrics("rr", whole=True)
    assert marks(whole, "point")[0]["encoding"]["x"]["scale"]["domain"] == [0, 1]
    assert "subtitle" not in specification(whole)["title"]
    assert points["encoding"]["x"]["title"] == "rr (higher is better)"
    assert rows(chart, "color", "value") == [[("a", 0.75), ("b", 0.5)]]
    (lines,) = marks(chart, "rule")
    assert (fields(lines)["x"], fields(lines)["x2"]) == ("ci_low", "ci_high")
    assert titles(chart) >= {"system", "rr (higher is better)"}


def test_less_is_better_where_the_metric_says_so() -> None:
    """The row with the least value is on top, and its number in bold."""
    chart = plot.metrics(frame("system metric value", ("a", "brier", 0.3), ("b", "brier", 0.1)))
    assert drawn(chart)[0]["encoding"]["y"]["sort"] == ["b", "a"]
    assert rows(chart, "color", "best", "other") == [[("a", "", "0.300"), ("b", "0.100", "")]]
    assert titles(chart) == {"system", "brier (lower is better)"}


def test_rows_that_print_alike_as_the_best_are_all_bold() -> None:
    """A reader cannot tell them apart; each small multiple has its own best."""
    values = frame("run day metric value", ("a", 1, "rr", 0.7931), ("b", 1, "rr", 0.7934), ("c", 1, "rr", 0.5))
    more = frame("run day metric value", ("a", 2, "rr", 0.1), ("b", 2, "rr", 0.2), ("c", 2, "rr", None))
    assert rows(plot.metrics(values.drop("day")), "color", "best", "other") == [
        [("a", "0.793", ""), ("b", "0.793", ""), ("c", "", "0.500")]
    ]
    chart = plot.metrics(pl.concat([values, more]), facet="day")
    every = [row for part in rows(chart, "best", "other") for row in part]
    assert [best for best, _ in every if best] == ["0.793", "0.793", "0.200"]


def test_no_number_is_bold_where_all_print_alike() -> None:
    """As in the table beside it; a difference that is not 0 is not printed as 0."""
    alike = frame("run day metric value", ("a", 1, "rr", 0.3654), ("b", 1, "rr", 0.365), ("a", 2, "rr", 0.1))
    for chart in (plot.metrics(alike.head(2).drop("day")), plot.metrics(alike, facet="day")):
        assert {best for part in rows(chart, "best") for (best,) in part} == {""}
    found = runs.compare("rr", baseline="a").with_columns(difference=pl.lit(-0.00042))
    assert rows(plot.comparison(found), "other", "best") == [[("-0.00042", "")]]


def test_the_title_of_names_stands_above_them() -> None:
    """Beside them it would touch long ones in a wider font."""
    axis = marks(plot.metrics(runs.evaluate("rr")), "point")[0]["encoding"]["y"]["axis"]
    assert (axis["titleAngle"], axis["titleAnchor"], axis["titleAlign"]) == (0, "end", "right")


def test_names_beside_a_narrow_picture_are_longer_on_a_phone() -> None:
    """The pairs of classes that are confused are read to their end."""
    irm = pl.DataFrame({"label": [*"aabbc"], "predicted": [*"abbcc"]}).irm()
    spec = for_phones(irm.plot.confusion()).to_dict(validate=False)
    pairs = spec["vconcat"][1]
    assert pairs["width"] + pairs["layer"][0]["encoding"]["y"]["axis"]["labelLimit"] == 225 + 110


def test_titles_notes_and_legends_on_a_phone() -> None:
    """Lines fit, n stays with its number, names of parts are whole, and the legend is near to the picture."""
    two = pl.concat(CASES.with_columns(model=pl.lit(name)) for name in "ab").irm(system="model")
    spec = for_phones(two.plot.calibration(bins=2)).to_dict(validate=False)
    assert "on the dashed line, scores are the shares that" in spec["title"]["subtitle"]
    assert max(map(len, spec["title"]["subtitle"])) <= 48
    roc = for_phones(two.plot.roc()).to_dict(validate=False)
    assert [one["legend"]["offset"] for one in channels_with(roc, "legend")] == [8] * len(channels_with(roc, "legend"))
    pairs = for_phones(RUNS.irm(system="system").plot.differences("rr", baseline="a")).to_dict(validate=False)
    assert pairs["title"]["text"] == ["rr: differences (n = 2)"]
    means = runs.compare("rr", baseline="a")
    long = for_phones(plot.comparison(means.with_columns(baseline=pl.lit("x" * 20))))
    assert long.to_dict(validate=False)["title"]["text"][-1].endswith("(n = 2)")
    chart = plot.metrics(runs.evaluate("rr").with_columns(system=pl.lit("x" * 60)))
    assert THEME["padding"]["right"] > 10  # numbers in a wider font stay in the picture
    assert '"labelLimit": 110' in json.dumps(for_phones(chart).to_dict(validate=False))  # the numbers need the room


def channels_with(spec: Any, name: str) -> list[dict[str, Any]]:
    """The channels of a specification that have a legend, or another part."""
    inside = spec.values() if isinstance(spec, dict) else spec if isinstance(spec, list) else ()
    own = [spec] if isinstance(spec, dict) and isinstance(spec.get(name), dict) and "field" in spec else []
    return own + [found for one in inside for found in channels_with(one, name)]


def test_precision_stands_over_recall() -> None:
    """The points of the curve are joined in their own order, and lines of equal F go through equal F."""
    chart = cases.plot.pr(f=[0.5])
    curve = drawn(chart)[-1]
    assert (fields(curve)["x"], fields(curve)["y"], fields(curve)["order"]) == ("recall", "precision", "order")
    assert rows(chart, "order", "recall", "precision", "at")[0] == [
        (0, 0.0, 1.0, "nothing is predicted"),
        (1, 0.5, 1.0, "0.9"),
        (2, 0.5, 0.5, "0.6"),
        (3, 1.0, 2 / 3, "0.5"),
        (4, 1.0, 0.5, "0.1"),
    ]
    of_f = [point for data in rows(chart, "recall", "precision", "f") for point in data]
    assert {round(2 * r * p / (r + p), 12) for r, p, _ in of_f} == {0.5}
    assert {text for *_, text in of_f} == {"F1 = 0.5"}


def test_metrics_without_keys_are_the_rows() -> None:
    """Metrics of one range share a panel, and one of another range has its own; nothing is called the best."""
    chart = plot.metrics(RUNS.filter(system="a").drop("system").irm.evaluate("rr", "map", "num_q"))
    assert rows(chart, "color", "other") == [[("rr", "0.750"), ("map", "0.750")], [("num_q", "2")]]
    assert [data for data in rows(chart, "best") if any(text for (text,) in data)] == []


def test_averages_totals_and_undefined_values_have_names() -> None:
    """A metric with several averages is named with each, a total is called all, and an undefined value says so."""
    chart = runs.plot.metrics("rr", average=["median", "min"])
    assert titles(chart) == {"system", "rr, median (higher is better)", "rr, min (higher is better)"}
    both = RUNS.with_columns(day=pl.col("query").cast(pl.String)).irm(by="day", system="system")
    assert {row[0] for row in rows(both.plot.metrics("rr", margins=True), "facet")[0]} == {"1", "2", "all"}
    two = RUNS.with_columns(day=pl.col("query") % 2, part=pl.col("query") % 2).irm(by=["day", "part"], system=None)
    keys = {row[:2] for row in rows(two.plot.metrics("rr", margins=True), "color", "facet")[0]}
    assert {("all", "all"), ("0", "all"), ("all", "0")} <= keys
    one = pl.DataFrame({"label": [1, 1], "score": [0.5, 0.25]}).irm.plot.metrics("roc_auc")
    assert rows(one, "value", "other") == [[(None, "undefined")]]


def test_cutoffs_stand_on_the_axis() -> None:
    """Values stand over their cutoffs, whether a curve or an evaluation at several cutoffs gave them."""
    expected = runs.evaluate("recall@1..3").select("system", "k", "value").rows()
    of_curve = runs.plot.cutoffs("recall@k", cutoffs=3)
    of_evaluate = plot.cutoffs(runs.evaluate("recall@1..3", "recall"))
    for chart in (of_curve, of_evaluate):
        assert [sorted(data) for data in rows(chart, "color", "k", "value")] == [sorted(expected)]
        assert {fields(mark)["x"] for mark in drawn(chart)} == {"k"}
        assert "recall@k (higher is better)" in titles(chart)
    assert specification(of_evaluate)["title"]["subtitle"] == ["2 values without a cutoff are not drawn"]
    assert fields(marks(runs.plot.cutoffs("rr@k", "recall@k", ci=0.9), "area")[0])["y2"] == "ci_high"


def test_bounds_are_bars() -> None:
    """The bar goes from the lower bound to the upper one, and the point is the value."""
    chart = runs.plot.bounds("rr", of="ties")
    (bar,) = marks(chart, "rule")
    assert (fields(bar)["x"], fields(bar)["x2"]) == ("lower", "upper")
    assert fields(marks(chart, "point")[0])["x"] == "value"
    assert "equal scores in another order" in specification(chart)["title"]["subtitle"][1]


def test_roc_has_the_line_of_chance() -> None:
    """The true positive rate stands over the false positive rate."""
    chart = cases.plot.roc()
    assert rows(chart, "order", "fpr", "tpr") == [[(0, 0, 0), (1, 0, 0.5), (2, 0.5, 0.5), (3, 0.5, 1), (4, 1, 1)]]
    assert [(0.0, 0.0), (1.0, 1.0)] in rows(chart, "fpr", "tpr")


def test_lines_of_equal_cost_are_those_of_the_metric() -> None:
    """The ring stands where cost() is least, and a line joins points of the cost that is written beside it."""
    chart = cases.plot.roc(costs={"fp": 1, "fn": 3}, prevalence=0.5)
    best = cases.best_threshold("cost(fp=1, fn=3)").row(0, named=True)
    ((_, fpr, tpr),) = [row for row in rows(chart, "cheapest", "fpr", "tpr")[0] if row[0]]
    assert (fpr, tpr) == (best["fp"] / 2, best["tp"] / 2)
    for fpr, tpr, cost in next(data for data in rows(chart, "fpr", "tpr", "cost") if len(data) == 10):
        assert 0.5 * fpr + 1.5 * (1 - tpr) == pytest.approx(float(cost))
    assert "costs= needs prevalence=" in error(lambda: cases.plot.roc(costs={"fp": 1, "fn": 3}), BadValueError)
    assert "has not both" in error(lambda: cases.plot.roc(costs={"fp": 1}, prevalence=0.5), BadValueError)


def test_chosen_thresholds_are_marked() -> None:
    """The point of each curve where a threshold is reached is marked, a number or that of best_threshold."""
    two = pl.concat([CASES.with_columns(m=pl.lit("a")), CASES.with_columns(m=pl.lit("b"), score=1 - pl.col("score"))])
    irm = two.irm(system="m")
    best = irm.best_threshold("f1")
    for picture in (irm.plot.pr, irm.plot.roc, irm.plot.gain):
        found = [row for row in rows(picture(threshold=best), "marked", "color", "threshold")[0] if row[0]]
        names = [(row[1].partition(":")[0], row[2]) for row in found]
        assert names == best.select("m", "threshold").rows()
    number = rows(irm.plot.pr(threshold=0.55), "marked", "color", "at", "label")[0]
    assert [row[2:] for row in number if row[0]] == [("0.6", "0.55 (score 0.6)"), ("0.9", "0.55 (score 0.9)")]
    assert ("threshold 0.55 (score 0.6)",) in [
        row for data in rows(irm.plot.pr(threshold=0.55), "label") for row in data
    ]
    assert not marks(irm.plot.pr(), "point")
    assert "'m'" in error(lambda: irm.plot.pr(threshold=best.drop("m")), ColumnError)
    assert "several rows" in error(lambda: irm.plot.pr(threshold=pl.concat([best, best])), BadValueError)
    assert "is not a number" in error(lambda: irm.plot.pr(threshold="f1"), BadValueError)


@pytest.mark.slow
def test_the_marked_point_is_that_of_the_decision() -> None:
    """Of a long curve too, the point has the recall, precision and share of score >= threshold; the label says it."""
    random = np.random.default_rng(5)
    score = random.random(4000).round(5)
    long = pl.DataFrame({"label": random.random(4000) < score, "score": score}).irm()
    for threshold in (0.8203, 0.31, 0.0, 1.5):
        decided = long(threshold=threshold)
        found = dict(decided.evaluate("recall", "fpr", "precision").select("metric", "value").rows())
        found["precision"] = found["precision"] if threshold < 1 else 1.0  # as the curve has it where nothing is found
        ways = {"pr": ("recall", "precision"), "roc": ("fpr", "recall")}
        for kind, names in ways.items():
            axes = ("recall", "precision") if kind == "pr" else ("fpr", "tpr")
            for chart in (
                getattr(long.plot, kind)(threshold=threshold),
                getattr(plot, kind)(long.curve(kind), threshold=threshold),
            ):
                (marked,) = (row[1:] for row in rows(chart, "marked", *axes, "label")[0] if row[0])
                assert marked[:2] == pytest.approx([found[name] for name in names], abs=1e-12)
                assert marked[2].split(" ")[0] == f"{threshold:g}"
                assert len(rows(chart, "marked")[0]) < 1000
    assert marked[2] == "1.5 (no score here is as high)"
    thin = plot.roc(long.curve("roc", points=60), threshold=0.82)
    ((_, label, at),) = [row for row in rows(thin, "marked", "label", "at")[0] if row[0]]
    assert label == f"0.82 (score {at})"
    assert "leave points= out" in error(lambda: long.plot.pr(points=9, threshold=0.5), BadValueError)


def test_gain_has_the_ideal() -> None:
    """All relevant rows first: the line goes straight up to the share of relevant rows."""
    rare = pl.DataFrame({"label": [1, 0, 0, 0], "score": [0.9, 0.6, 0.5, 0.1]})
    ideal = [(0.0, 0.0), (0.25, 1.0), (1.0, 1.0)]
    for chart in (rare.irm.plot.gain(), plot.gain(rare.irm.curve("gain"), prevalence=0.25)):
        assert [row for row in rows(chart, "ideal_x", "ideal_y")[0] if row[0] is not None] == ideal
    assert "ideal_x" not in json.dumps(specification(plot.gain(rare.irm.curve("gain"))))
    ranked = rare.with_columns(query=1, rank=pl.Series([1, 2, 3, 4])).drop("score").irm()
    assert "ideal_x" not in json.dumps(specification(ranked.plot.gain()))


def test_calibration_has_points_of_the_size_of_their_rows() -> None:
    """The share of relevant rows stands over the mean score, beside the diagonal."""
    chart = cases.plot.calibration(bins=2)
    assert rows(chart, "predicted", "observed", "n")[0] == [(0.3, 0.5, 2.0), (0.75, 0.5, 2.0)]
    assert [fields(mark)["size"] for mark in marks(chart, "point")] == ["n", "n"]
    ((low, high), _) = rows(chart, "low", "high")[0]
    assert (low, high) == pytest.approx((0.0945, 0.9055), abs=1e-4)  # Wilson's of 1 in 2
    weighted = CASES.with_columns(w=0.5).irm(weight="w").plot.calibration(bins=2)
    assert {row for data in rows(weighted, "low") for row in data} == {(None,)}


def test_measures_stand_over_the_threshold_with_their_crossing() -> None:
    """Each metric is a line; precision and recall are equal at the ring; a line stands at the chosen threshold."""
    chart = cases.plot.thresholds("precision", "recall", threshold=0.5)
    (data,) = rows(chart, "color", "threshold", "value")
    expected = cases.thresholds("precision", "recall").slice(1)
    assert [row[1:] for row in data if row[0] == "recall"] == expected.select("threshold", "recall").rows()
    assert [row for row in rows(chart, "crosses", "color", "threshold", "crossing")[0] if row[0]] == [
        (True, "precision", 0.6, "0.5 at 0.6")
    ]
    (note,) = specification(chart)["title"]["subtitle"]
    assert note == "ring: precision and recall are equal, or nearest to that: 0.5 at 0.6"
    assert {row[0] for row in rows(chart, "chosen")[0]} == {0.5}
    assert "'threshold: '" in json.dumps(specification(chart)).replace('\\"', "'")
    best = cases.plot.scores(threshold=cases.best_threshold("f1"))
    assert "'best f1: '" in json.dumps(specification(best)).replace('\\"', "'")
    assert not marks(cases.plot.thresholds("f1"), "point")
    assert not marks(cases.plot.thresholds("precision", "recall", crossing=False), "point")
    assert "this frame has none" in error(lambda: cases.plot.thresholds(), BadValueError)
    wide = cases.plot.thresholds("cost(fp=1, fn=5)", "mcc")  # names that Vega would read as an expression
    assert {row[0] for row in rows(wide, "color")[0]} == {"cost(fp=1, fn=5)", "mcc"}


def test_the_matrix_has_the_shares_of_its_rows() -> None:
    """Counts stand in the cells, and shares of the true class, of the prediction or of all rows."""
    irm = pl.DataFrame({"label": [*"aaabbc"], "predicted": ["a", "a", "b", "b", "c", None]}).irm()
    chart = irm.plot.confusion()
    (data,) = [data for data in rows(chart, "actual", "predicted", "n", "share", "right", "percent") if len(data) > 9]
    assert ("a", "a", 2.0, 2 / 3, True, "67%") in data
    assert ("a", "b", 1.0, 1 / 3, False, "33%") in data
    assert ("c", "no decision", 1.0, 1.0, False, "100%") in data
    cells = marks(chart, "rect")[0]
    assert (fields(cells)["x"], fields(cells)["y"]) == ("predicted", "actual")
    assert cells["encoding"]["x"]["scale"]["domain"] == ["a", "b", "c", "no decision"]
    of_prediction = rows(irm.plot.confusion(normalize="predicted"), "actual", "predicted", "share")[0]
    assert ("a", "b", 0.5) in of_prediction
    assert ("a", "a", 2 / 6) in rows(irm.plot.confusion(normalize="all"), "actual", "predicted", "share")[0]
    assert {row[0] for row in rows(irm.plot.confusion(normalize=None), "percent")[0]} == {""}
    assert "normalize='rows'" in error(lambda: irm.plot.confusion(normalize="rows"), UnknownNameError)


def test_subtitles_say_what_is_drawn_in_plain_words() -> None:
    """The level of intervals where it is known; what colours and numbers are; what the dashed line means."""
    levels = [plot.metrics(runs.evaluate("rr", ci=0.9)), runs.plot.metrics("rr", ci=0.9), runs.plot.metrics("rr")]
    found = [specification(chart)["title"].get("subtitle") for chart in levels]
    axes = "axes show only a part of the scale"
    assert found == [["bars: intervals", axes], ["bars: 90 % intervals", axes], [axes]]
    assert "ci=95 is not a level" in error(lambda: plot.metrics(runs.evaluate("rr", ci=0.9), ci=95), BadValueError)
    irm = pl.DataFrame({"label": [*"aabc"], "predicted": [*"abbc"]}).irm()
    assert "colour: share of the true class; numbers: rows" in specification(irm.plot.confusion())["title"]["subtitle"]
    of_prediction = specification(irm.plot.confusion(normalize="predicted"))["title"]["subtitle"]
    assert "colour: share of the prediction; numbers: rows" in of_prediction
    said = "on the dashed line, scores are the shares that came true"
    assert said in specification(cases.plot.calibration(bins=2))["title"]["subtitle"]


def test_many_distributions_stand_side_by_side() -> None:
    """Nine systems have rows of three, two have one column; of several metrics each has a column."""
    one = RUNS.filter(system="a")
    nine = pl.concat(one.with_columns(system=pl.lit(f"s{i}")) for i in range(9)).irm(system="system")
    assert specification(nine.plot.queries("rr"))["columns"] == 3
    assert "columns" not in specification(runs.plot.queries("rr"))
    of_two = specification(nine.plot.queries("rr", "ap"))
    assert [list(panel["facet"]) for panel in of_two["concat"]] == [["row"]] * 2


def test_the_most_confused_pairs_come_first() -> None:
    """Of three classes and more the wrong pairs are listed, the most frequent first; totals are no pairs."""
    irm = pl.DataFrame({"label": [*"aaabbbc"], "predicted": [*"bbacaac"]}).irm()
    expected = [("b → a", 2.0), ("a → b", 2.0), ("b → c", 1.0)]
    assert rows(irm.plot.confusion(margins=True), "pair", "n") == [expected]
    assert rows(irm.plot.confusion(pairs=1), "pair", "n") == [expected[:1]]
    assert rows(irm.plot.confusion(pairs=0), "pair", "n") == []
    assert rows(cases(threshold=0.5).plot.confusion(), "pair", "n") == []


@pytest.mark.parametrize("k", [2, 10, 50])
def test_numbers_stand_in_the_cells_where_there_is_room(k: int) -> None:
    """A matrix of fifty classes has none, and every class has its label."""
    irm = pl.DataFrame({"label": range(k), "predicted": range(k)}).irm(classes=list(range(k)))
    chart = irm.plot.confusion()
    matrix = marks(chart, "rect")[0]["encoding"]
    assert matrix["x"]["scale"]["domain"] == [str(i) for i in range(k)]
    assert matrix["x"]["axis"]["labelOverlap"] is False
    assert any(mark["encoding"].get("x", {}).get("field") == "predicted" for mark in marks(chart, "text")) == (k < 50)


def test_scores_are_shares_of_their_label() -> None:
    """Bars stand from the lower edge to the upper one; rows without a score are counted in the note."""
    scored = pl.DataFrame({"label": [1, 0, 1, 0, None, 1], "score": [0.9, 0.6, 0.5, 0.1, 0.1, None]})
    chart = scored.irm.plot.scores(bins=2, threshold=0.7)
    assert rows(chart, "low", "high", "color", "share") == [
        [
            (0.1, 0.5, "not relevant", 0.5),
            (0.1, 0.5, "relevant", 0.5),
            (0.1, 0.5, "not judged", 1.0),
            (0.5, 0.9, "not relevant", 0.5),
            (0.5, 0.9, "relevant", 0.5),
            (0.5, 0.9, "not judged", 0.0),
        ]
    ]
    assert specification(chart)["title"]["subtitle"] == ["1 rows without a score are not drawn"]
    (bar,) = marks(chart, "bar")
    assert (fields(bar)["x"], fields(bar)["x2"], fields(bar)["y"], fields(bar)["y2"]) == (
        "low",
        "high",
        "share",
        "zero",
    )
    assert marks(chart, "rule")


def test_mean_differences_stand_beside_a_line_at_zero() -> None:
    """A row is a system, or a pair where there are several baselines; arms, and segments as small multiples, too."""
    chart = runs.plot.comparison("rr", baseline="a", ci=0.9)
    found = runs.compare("rr", baseline="a", ci=0.9).select("system", "difference", "ci_low", "ci_high").rows()
    assert rows(chart, "color", "value", "ci_low", "ci_high") == [found]
    assert specification(chart)["title"] == {
        "text": "rr: differences to a (n = 2)", "anchor": "start", "subtitle": ["bars: 90 % intervals"]
    }  # fmt: skip
    for said, options in ((", which hold together for 3 pairs", {}), ("", {"correction": "holm"})):
        three = pl.concat([RUNS, RUNS.filter(system="a").with_columns(system=pl.lit("c"))]).irm(system="system")
        assert (
            specification(three.plot.comparison("rr", **options))["title"]["subtitle"][0]
            == f"bars: 95 % intervals{said}"
        )
    zero, bar = marks(chart, "rule")
    assert (zero["encoding"]["x"], fields(bar)["x"], fields(bar)["x2"]) == ({"datum": 0}, "ci_low", "ci_high")
    assert rows(chart, "other", "best") == [[("-0.250", "")]]
    two = pl.concat(runs.compare("rr").with_columns(baseline=pl.lit(name)) for name in "ac")
    assert rows(plot.comparison(two), "color") == [[("b against a",), ("b against c",)]]
    arms = RUNS.with_columns(query=pl.col("query") + pl.col("system").rank("dense") * 10, day=pl.lit("mon"))
    each = arms.irm(arm="system", by="day").plot.comparison("rr", resamples=10)
    assert rows(each, "color", "facet", "value") == [[("b", "mon", -0.25)]]


def test_a_leaderboard_has_all_that_may_be_the_best_in_bold() -> None:
    """Systems stand in their order; numbers of those that may be the best are bold, with the ranks of each."""
    values = {"a": [0.9, 0.8, 1, 0.7, 0.9, 1], "b": [0.8, 0.9, 0.9, 0.8, 1, 0.8], "c": [0.1, 0.1, 0.3, 0.2, 0.2, 0.1]}
    table = pl.concat(
        [pl.DataFrame({"query": range(6), "run": run, "rr": map(float, own)}) for run, own in values.items()]
    )
    chart = table.irm(query="query", system="run", value="rr").plot.leaderboard(permutations=200)
    told = rows(chart, "color", "best", "other")[0]
    assert told == [("a", "0.883 (1 to 2)", ""), ("b", "0.867 (1 to 2)", ""), ("c", "", "0.167 (3)")]
    assert specification(chart)["title"]["subtitle"][:2] == [
        "bars: 95 % intervals of means",
        "in bold: may be the best",
    ]
    assert "there is no column 'ci_low'" in error(lambda: plot.leaderboard(runs.evaluate("rr")))


def test_teams_are_drawn_by_preference() -> None:
    """A row is a team, and more is better whatever the direction of the metric."""
    shown = {"query": [i // 2 for i in range(60)], "rank": [1, 2] * 30, "team": [*"abbaab" * 10]}
    lists = pl.DataFrame(shown | {"label": [int(team == "b") for team in shown["team"]]}).irm(team="team")
    chart = lists.plot.comparison("abandonment", baseline="a", resamples=10)
    assert specification(chart)["title"]["text"] == "abandonment: preference over a (n = 30)"
    assert rows(chart, "color", "value") == [[("b", 0.5)]]
    assert "(higher is better)" in str(specification(chart))
    found = lists.interleaving("clicks", resamples=10)
    assert rows(plot.comparison(found), "color", "value") == [[("b", 0.5)]]


def test_differences_are_sorted_and_counted() -> None:
    """The greatest difference is first, and its side is that of the metric's direction."""
    compared = frame(
        "query system baseline metric k value baseline_value difference",
        *[(i, "b", "a", "fdr", None, 0.0, 0.0, d) for i, d in enumerate([0.0, -0.5, 0.25])],
    )
    chart = plot.differences(compared)
    assert rows(chart, "color", "difference", "side", "low", "high") == [
        [("2", 0.25, "worse", 0, 1), ("0", 0.0, "equal", 1, 2), ("1", -0.5, "better", 2, 3)]
    ]
    assert specification(chart)["title"]["subtitle"] == ["b against a", "1 better, 1 equal, 1 worse"]
    of_irm = runs.plot.differences("rr", "recall@1", baseline="a")
    assert {row[0] for row in rows(of_irm, "facet")[0]} == {
        "rr, b against a\n0 better, 1 equal, 1 worse\nmean -0.250 (band: -1.000 to +1.000)",
        "recall@1, b against a\n0 better, 1 equal, 1 worse\nmean -0.500 (band: -0.905 to +0.273)",
    }
    means = runs.compare("rr", "recall@1", baseline="a").select("difference", "ci_low", "ci_high").rows()
    assert {*rows(of_irm, "mean", "mean_low", "mean_high")[0]} == {*means}
    assert not marks(plot.differences(compared), "rule")
    assert "query='q'" in error(lambda: plot.differences(compared, query="q"), ColumnError)


def test_values_of_queries_are_counted_in_bins() -> None:
    """Bins go over the metric's range, and undefined values are counted in the note."""
    found = frame("query metric k value", *[(i, "rr", None, v) for i, v in enumerate([0.0, 0.5, 0.5, 1.0, None])])
    chart = plot.queries(found, bins=4)
    assert sorted(rows(chart, "low", "high", "n")[0]) == [(0.0, 0.25, 1), (0.5, 0.75, 2), (0.75, 1.0, 1)]
    assert specification(chart)["title"]["subtitle"] == [
        "1 undefined values are not drawn",
        "line: the mean of the values shown, each query counted once",
    ]
    assert {row[0] for row in rows(chart, "mean")[0]} == {0.5}
    best = specification(plot.queries(runs.per_query("rr").reverse()))
    assert best["facet"]["row"]["sort"] == ["a", "b"]
    assert {row[0] for row in rows(runs.plot.queries("rr"), "facet")[0]} == {"a", "b"}


@pytest.mark.slow
@pytest.mark.parametrize("beta", [0.5, 1, 2])
def test_f_is_that_of_the_metric(beta: float) -> None:
    """The surface, its lines, and F against beta are values of fbeta."""
    decided = cases(threshold=0.4)
    chart = decided.plot.f_beta(betas=[beta, 8 * beta])
    expected = decided.evaluate(metrics.fbeta(beta=beta))["value"].item()
    assert rows(chart, "beta", "f")[0][0] == (beta, pytest.approx(expected))
    surface = decided.plot.f_surface(beta=beta)
    for left, right, low, high, f in rows(surface, "left", "right", "low", "high", "f")[0]:
        r, p = (left + right) / 2, (low + high) / 2
        assert f == pytest.approx((1 + beta**2) * p * r / (beta**2 * p + r))
    of_lines = [point for data in rows(surface, "recall", "precision", "f") for point in data]
    for r, p, text in of_lines:
        assert (1 + beta**2) * p * r / (beta**2 * p + r) == pytest.approx(float(text.partition(" = ")[2]))
    twice = pl.concat([decided.evaluate("precision", "recall"), decided.evaluate("precision")])
    assert "more than one precision" in error(lambda: plot.f_beta(twice), BadValueError)
    assert "no recall" in error(lambda: plot.f_surface(decided.evaluate("precision")), BadValueError)


# What all share

NAMES = [
    "a.b",
    "a['x']",
    'quo"te',
    "back\\slash",
    "new\nline",
    "datum.x",
    "x:Q",
    "facet",
    "color",
    "größe",
    "\u202eabc",
]


@pytest.mark.parametrize("name", NAMES)
def test_columns_of_any_name_are_keys(name: str) -> None:
    """Vega reads no name of the caller's: fields have names of our own, and titles are texts."""
    renamed = RUNS.rename({"system": name})
    chart = renamed.irm(system=name).plot.metrics("rr")
    assert rows(chart, "color", "value") == rows(runs.plot.metrics("rr"), "color", "value")
    assert name in titles(chart)
    assert fields(marks(chart, "point")[0]) == fields(marks(runs.plot.metrics("rr"), "point")[0])


VALUES = [
    (["x", None], {"x", "null"}),
    (["null", None], {"null", "(null)"}),
    ([2**63, 2**63 + 1], {"9223372036854775808", "9223372036854775809"}),
    ([Decimal("1.10"), Decimal("1.20")], {"1.10", "1.20"}),
    ([date(2026, 1, 2), date(2026, 1, 3)], {"2026-01-02", "2026-01-03"}),
    ([True, False], {"True", "False"}),
    ([{"period[M]": 648}, {"period[M]": 649}], {"2024-01", "2024-02"}),  # periods of pandas
    ([{"[left": 0, "right)": 3}, None], {"[0, 3)", "null"}),  # intervals of pandas
    (["<b>", "a.b['c']"], {"<b>", "a.b['c']"}),
]


@pytest.mark.parametrize(("values", "texts"), VALUES)
def test_keys_of_any_type_are_texts(values: list[Any], texts: set[str]) -> None:
    """Values that differ have texts that differ, whatever their type."""
    keys = pl.Series("system", values, dtype=pl.UInt64 if isinstance(values[0], int) and values[0] > 1 else None)
    found = pl.DataFrame({"system": keys, "metric": "rr", "value": [0.5, 1.0]})
    assert {row[0] for row in rows(plot.metrics(found), "color")[0]} == texts


def test_categories_and_decimals_are_read() -> None:
    """Categories are keys, and Decimals are numbers."""
    of_pandas = pd.DataFrame({"run": pd.Categorical(["b", "a"]), "metric": "rr", "value": [0.5, 0.25]})
    assert rows(plot.metrics(of_pandas), "color", "value") == [[("b", 0.5), ("a", 0.25)]]
    exact = pl.DataFrame({"metric": ["rr"], "value": [Decimal("0.5")]})
    assert rows(plot.metrics(exact), "value") == [[(0.5,)]]


def test_first_key_is_the_colour_and_the_others_are_facets() -> None:
    """color= and facet= say otherwise, and what they leave out is an error."""
    points = pl.concat([cases.curve("pr").with_columns(a=pl.lit(a), b=pl.lit(b)) for a in "xy" for b in "zw"])
    by = [(a, b) for a in "xy" for b in "zw"]
    assert set(rows(plot.pr(points), "color", "facet")[0]) == set(by)
    assert set(rows(plot.pr(points, color="b"), "color", "facet")[0]) == {(b, a) for a, b in by}
    assert {row[0] for row in rows(plot.pr(points, color=[]), "facet")[0]} == {f"{a}, {b}" for a, b in by}
    assert {row[0] for row in rows(plot.pr(points, color=["a", "b"]), "color")[0]} == {f"{a}, {b}" for a, b in by}
    assert "'b'" in error(lambda: plot.pr(points, color="a", facet=[]), ColumnError)
    assert "color='c' is no key column" in error(lambda: plot.pr(points, color="c"), ColumnError)


def test_more_lines_than_colours_have_dashes() -> None:
    """Twelve lines are told apart by colour and dash, and all are in the legend."""
    points = pl.concat([cases.curve("pr").with_columns(run=pl.lit(f"r{i:02}")) for i in range(12)])
    channels = marks(plot.pr(points), "line")[-1]["encoding"]
    shown = list(
        zip(channels["color"]["scale"]["range"], map(str, channels["strokeDash"]["scale"]["range"]), strict=True)
    )
    assert len(set(shown)) == 12
    assert channels["color"]["legend"]["symbolLimit"] == 0


def test_of_many_lines_the_best_and_those_chosen_are_in_colour() -> None:
    """The others are grey and drawn first; the legend, or the names at line ends, have those in colour."""
    names = [f"r{i:02}" for i in range(20)]
    points = pl.concat([cases.curve("pr").with_columns(run=pl.lit(name)) for name in names])
    values = pl.DataFrame({"run": names, "value": [i / 20 for i in range(20)], "n": 4})
    for options, lit in (
        ({}, names[:6]),
        ({"values": values}, [f"{name}: AP 0.{5 * int(name[1:]):02}0" for name in names[:13:-1]]),
        ({"chosen": ["r03"]}, ["r03"]),
        ({"values": values, "chosen": "r03"}, ["r19: AP 0.950", "r03: AP 0.150"]),
    ):
        chart = plot.pr(points, **options)
        color = marks(chart, "line")[-1]["encoding"]["color"]
        paint = dict(zip(color["scale"]["domain"], color["scale"]["range"], strict=True))
        assert color["legend"]["values"] == lit
        assert {paint[one] for one in paint.keys() - {*lit}} == {"#88888866"}
        assert {row[0] for row in rows(chart, "color")[0][-5:]} <= {*lit}
        assert any(
            param["name"] == "pointed" for part in parts(specification(chart)) for param in part.get("params", [])
        )
    assert "chosen='r3' is none of the lines" in error(lambda: plot.pr(points, chosen="r3"), BadValueError)
    ends = pl.DataFrame(
        {"run": names * 2, "k": [1] * 20 + [2] * 20, "metric": "rr", "value": [i / 20 for i in range(20)] * 2}
    )
    chart = plot.cutoffs(ends, chosen="r03")
    assert sorted(rows(chart, "color", "height")[0]) == [("r03", 0.15), ("r19", 0.95)]
    other = ends.with_columns(metric=pl.lit("ap"), value=1 - pl.col("value"))
    two = marks(plot.cutoffs(pl.concat([ends, other])), "line")
    assert two[0]["encoding"]["color"] == two[1]["encoding"]["color"]
    heights = [height for (height,) in rows(plot.cutoffs(ends.with_columns(value=0.5)), "height")[0]]
    assert np.diff(sorted(heights)).min() == pytest.approx(13 / 320)
    assert np.mean(heights) == pytest.approx(0.5)


def test_titles_name_the_metrics_and_how_many_queries_or_rows() -> None:
    """Where the frame says how many there are."""
    decided = pl.DataFrame({"label": [*"aab"], "predicted": [*"abb"]}).irm(positive="b")
    found = [
        runs.plot.metrics("rr", "ap"), runs.plot.differences("rr"), runs.plot.queries("rr"), runs.plot.cutoffs("rr@k"),
        cases.plot.pr(), cases.plot.roc(), cases.plot.gain(), cases.plot.calibration(), cases.plot.scores(),
        cases.plot.thresholds("f1"), decided.plot.confusion(), plot.metrics(runs.evaluate("rr", "ap", "p@1", "p@2")),
    ]  # fmt: skip
    assert [specification(chart)["title"]["text"] for chart in found] == [
        "rr, ap (n = 2)",
        "rr: differences (n = 2)",
        "rr over queries (n = 2)",
        "rr@k by cutoff",
        "Precision and recall (n = 4)",
        "ROC curve (n = 4)",
        "Cumulated gain (n = 4)",
        "Calibration (n = 4)",
        "Scores by label (n = 4)",
        "f1 by threshold (n = 4)",
        "Predicted and true classes (n = 3)",
        "rr, ap, p@1 and 1 more (n = 2)",
    ]


def test_panels_wrap_and_rows_have_their_names_once() -> None:
    """As many panels stand side by side as a notebook is wide; the first of each line names the rows."""
    found = frame(
        "system metric value",
        *[(s, m, v) for m in ("rr", "ap", "p@5", "ndcg", "err") for s, v in (("a", 0.5), ("b", 0.6))],
    )
    chart = specification(plot.metrics(found))
    assert chart["columns"] == 3
    named = [mark["encoding"]["y"]["axis"]["labels"] for mark in marks(plot.metrics(found), "point")]
    assert named == [True, False, False, True, False]
    long = plot.metrics(found.with_columns(system=pl.col("system") + "x" * 60))
    assert specification(long)["columns"] == 1


def test_the_line_of_chance_of_precision_is_the_share_of_relevant_rows() -> None:
    """It stands where all curves end at one share, and nowhere else."""
    (rule,) = marks(cases.plot.pr(positive="fraud"), "rule")
    assert fields(rule) == {"y": "precision"}
    assert "the share of fraud rows, 0.5" in specification(cases.plot.pr(positive="fraud"))["title"]["subtitle"][1]
    other = pl.concat([CASES.with_columns(m=1), CASES.head(3).with_columns(m=2)]).irm(system="m")
    assert not marks(other.plot.pr(), "rule")


def test_models_without_scores_are_points() -> None:
    """Each has its name, and the ring is around the one that costs least."""
    rates = frame(
        "m metric value",
        *[
            (m, n, v)
            for m, f, r in (("A", 0.28, 0.63), ("B", 0.77, 0.77), ("D", 0.12, 0.76))
            for n, v in (("fallout", f), ("recall", r))
        ],
    )
    chart = plot.roc(rates, costs={"fp": 1, "fn": 3}, prevalence=0.3)
    assert rows(chart, "color", "fpr", "tpr", "cheapest")[0] == [
        ("A", 0.28, 0.63, False),
        ("B", 0.77, 0.77, False),
        ("D", 0.12, 0.76, True),
    ]
    assert [fields(mark)["text"] for mark in marks(chart, "text")][-1] == "color"
    assert specification(chart)["title"]["subtitle"] == [
        "dotted: points of equal cost (false alarm 1, miss 3, 30 % relevant)",
        "ring: the cheapest decision",
        "grey: areas of rule-in (LR+ above 10) and rule-out (LR- below 0.1)",
    ]
    assert "there is no recall" in error(lambda: plot.roc(rates.filter(metric="fallout")), BadValueError)


def test_areas_of_rule_in_and_rule_out() -> None:
    """On the edge of an area a likelihood ratio is the factor, or its inverse; a curve has no areas."""
    rates = frame("metric value", ("fallout", 0.1), ("recall", 0.9))
    chart = plot.roc(rates, odds=5)
    areas = [data for data in rows(chart, "area", "fpr", "tpr", "top") if data]
    assert areas == [
        [("rule-in", 0, 0, 1), ("rule-in", 1 / 5, 1, 1)],
        [("rule-out", 0, pytest.approx(4 / 5), 1), ("rule-out", 1, 1, 1)],
    ]
    for fpr in (0.02, 0.1, 0.15):
        assert (fpr * 5) / fpr == pytest.approx(5)  # recall over fallout
        assert (1 - (4 / 5 + fpr / 5)) / (1 - fpr) == pytest.approx(1 / 5)
    assert len(marks(chart, "area")) == 2
    assert not marks(plot.roc(rates, odds=None), "area")
    assert not marks(cases.plot.roc(), "area")
    for odds in (1, 0.5, "10", float("inf"), True):
        assert "is not a factor above 1, as 10" in error(lambda odds=odds: plot.roc(rates, odds=odds), BadValueError)


@pytest.mark.parametrize("kind", KINDS)
def test_decisions_without_scores_are_points_of_their_rates(kind: str) -> None:
    """The method draws them: a point for each system, and none of a threshold; with scores it draws curves."""
    said = CASES.with_columns(predicted=pl.Series([1, 1, 1, 0]), model=pl.lit("a"))
    both = pl.concat([said, said.with_columns(predicted=pl.Series([1, 0, 0, 0]), model=pl.lit("b"))])
    made = as_kind(both, kind)
    irm = frame_metrics.IRM(made, score=None, system="model")
    assert sorted(rows(irm.plot.roc(), "color", "fpr", "tpr")[-1]) == [("a", 0.5, 1.0), ("b", 0.0, 0.5)]
    assert specification(irm.plot.roc())["title"]["text"].startswith("ROC points")
    assert len(marks(frame_metrics.IRM(made, system="model").plot.roc(), "line")) == 2
    alone = frame_metrics.IRM(as_kind(said, kind), score=None).plot.roc(costs={"fp": 1, "fn": 3}, prevalence=0.5)
    assert (0.5, 1.0, True) in [row for data in rows(alone, "fpr", "tpr", "cheapest") for row in data]
    assert "has no option 'points'" in error(lambda: irm.plot.roc(points=9))


@pytest.mark.parametrize("picture", ["pr", "roc", "gain"])
def test_long_lines_are_thinned(picture: str) -> None:
    """Of 20,000 points 500 are drawn, both ends among them, near to all others, and a note says so."""
    rng = np.random.default_rng(1)
    many = pl.DataFrame({"label": rng.integers(0, 2, 20_000), "score": rng.random(20_000)})
    curve = many.irm.curve(picture)
    x, y = curve.columns[1:]
    chart = getattr(plot, picture)(curve)
    data = max(rows(chart, x, y), key=len)
    assert len(data) <= 501
    assert (data[0], data[-1]) == (curve.row(0)[1:], curve.row(-1)[1:])
    kept, every = np.array(data), curve.select(x, y).to_numpy()[::37]
    far = np.abs(every[:, None, :] - kept[None]).sum(axis=2).min(axis=1)
    assert far.max() < (0.01 if picture != "pr" else 0.15)
    note = specification(chart)["title"]["subtitle"][0]
    assert re.fullmatch(r"\d+ of 20,001 points are drawn", note)


def test_many_queries_are_thinned() -> None:
    """Of many differences those at equal distances are drawn, the ends among them; all are counted."""
    n = 30_000
    compared = pl.DataFrame(
        {"query": range(n), "system": "b", "baseline": "a", "metric": "rr", "difference": np.linspace(-1, 1, n)}
    )
    chart = plot.differences(compared)
    (data,) = rows(chart, "difference")
    assert len(data) == 1000
    assert (data[0], data[-1]) == ((1.0,), (-1.0,))
    ends = rows(chart, "low", "high")[0]
    assert (ends[0][0], ends[-1][1]) == (0, n)
    assert all(one[1] == other[0] for one, other in pairwise(ends))
    assert specification(chart)["title"]["subtitle"] == [
        "b against a",
        "15,000 better, 0 equal, 15,000 worse",
        "shape from 1,000 of 30,000 queries",
    ]


def test_frames_that_are_no_picture_are_refused() -> None:
    """The error says what the picture draws, and what there is."""
    said = error(lambda: plot.roc(cases.curve("pr")), ColumnError)
    assert said.startswith("roc draws what curve('roc') returns; there is no column 'fpr', 'tpr' among 'threshold', ")
    assert "has no rows" in error(lambda: plot.pr(cases.curve("pr").head(0)), BadValueError)
    texts = cases.curve("pr").with_columns(recall=pl.lit("high"))
    assert error(lambda: plot.pr(texts), BadValueError).startswith("recall: the column holds String")
    assert "not a frame" in error(lambda: plot.pr([1, 2]))
    for f in ([1.5], ["x"]):
        assert "is not a value of F" in error(lambda f=f: plot.pr(cases.curve("pr"), f=f), BadValueError)


# Pictures of an irm


def test_every_picture_is_a_method() -> None:
    """irm.plot has the pictures of frame_metrics.plot, each with the options of its verb and its own."""
    pictures = set(plot.__all__) - {"svg", "png"}
    assert {name for name in dir(cases.plot) if not name.startswith("_")} - {"irm"} == pictures
    for name in pictures:
        own = [p for p in inspect.signature(getattr(plot, name)).parameters if p != "frame"]
        assert set(own) <= set(inspect.signature(getattr(cases.plot, name)).parameters)
        assert inspect.getdoc(getattr(cases.plot, name)) == inspect.getdoc(getattr(plot, name))
    assert {"points", "interpolated", "threshold"} <= set(inspect.signature(cases.plot.pr).parameters)
    assert "kind" not in inspect.signature(cases.plot.pr).parameters


def test_options_that_no_verb_has_are_refused() -> None:
    """The error is that of the verb."""
    assert "curve() has no option 'levles'" in error(lambda: cases.plot.pr(levles=3), UnknownNameError)
    assert "gives all queries" in error(lambda: runs.plot.metrics("rr", query="q"), ColumnError)


def test_a_plan_is_run() -> None:
    """Of a LazyFrame the verb's plan is run, and drawn."""
    lazy = CASES.lazy().irm().plot.pr()
    assert rows(lazy, "recall", "precision") == rows(cases.plot.pr(), "recall", "precision")


@pytest.mark.slow
def test_pictures_are_written_as_svg_and_png() -> None:
    """Text has the colour around it, places two decimals, and what the caller writes stays text."""
    hostile = '<script>alert("currentColor")</script> 1.23456789'
    chart = plot.metrics(frame("system metric value", (hostile, "rr", 1 / 3), ("b", "rr", 0.5)))
    text = plot.svg(chart)
    assert text.startswith("<svg")
    assert "&lt;script&gt;" in text
    assert "<script" not in text
    assert "1.23456789" in text
    assert 'fill="currentColor"' in text
    assert "prefers-color-scheme" in text
    assert not re.search(r' (?:d|transform)="[^"]*\d\.\d{3}', text)
    assert plot.svg(chart) == text
    own = chart.configure_axis(labelColor="var(--ink)").properties(background="#123456")
    assert 'fill="var(--ink)"' in plot.svg(own)
    assert "#123456" in plot.svg(own)
    for dark in (False, True):
        assert plot.png(chart, dark=dark).startswith(b"\x89PNG")
    assert plot.png(chart) != plot.png(chart, dark=True)
    faceted = RUNS.with_columns(day=pl.col("query")).irm(system="system", by="day")
    for each in (faceted.plot.metrics("rr"), runs.plot.differences("rr"), runs.plot.queries("rr")):
        assert plot.svg(each).count("<svg") == 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_pictures_of_all_kinds_of_frames_are_the_same(kind: str) -> None:
    """What a verb returned is drawn, whatever library it is of."""
    expected = specification(runs.plot.metrics("rr", "map", ci=0.95))
    found = as_kind(runs.evaluate("rr", "map", ci=0.95), kind)
    assert specification(plot.metrics(found, ci=0.95)) == expected
    of_kind = frame_metrics.IRM(as_kind(RUNS, kind), system="system")
    assert specification(of_kind.plot.metrics("rr", "map", ci=0.95)) == expected


@pytest.mark.slow
@pytest.mark.parametrize("sign", ["\x1b", "\x00", "\ufffe"])
def test_characters_that_no_svg_holds_are_shown_by_signs(sign: str) -> None:
    """In a system, a column name and a title: the converter would end the process."""
    chart = plot.metrics(frame(f"sys{sign}tem metric value", (f"a{sign}", "rr", 0.25), ("b", "rr", 0.5)))
    text = plot.svg(chart.properties(title=f"t{sign}"))
    assert sign not in text
    assert all(f"{word}{chr(0x2400 + ord(sign)) if sign < ' ' else chr(0xFFFD)}" in text for word in ("sys", "a", "t"))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: frame_metrics.plot(cases.evaluate("roc_auc")),
            "frame_metrics.plot.metrics(result); there are 'bounds', ",
        ),
        (lambda: cases.plot(), "irm.plot.metrics('ndcg@10'); there are 'metrics', 'bounds', "),
        (lambda: cases.plot("roc"), "irm.plot.roc('ndcg@10'); there are "),
    ],
)
def test_a_picture_is_called_by_its_name(call: Callable[[], Any], said: str) -> None:
    """All pictures together are no function; the error says which there are, and how one is called."""
    assert said in error(call, UnknownNameError)


def test_errors_name_the_packages_of_an_extra() -> None:
    """They stand in pyproject.toml; the package itself may be on no index, and has no extras there."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    for name, packages in PACKAGES.items():
        own = [re.split(r"[>=\[]", one)[0] for one in extras[name] if not one.startswith("frame_metrics")]
        inner = PACKAGES["plot"].split() if "frame_metrics[plot]" in extras[name] else []
        assert packages.split() == own + inner


def test_without_altair_the_error_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """Verbs do without Altair, and pictures say how to get it."""
    for name in [name for name in sys.modules if name.startswith("frame_metrics.plot")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "altair", None)
    said = "pictures need altair, which is not installed: pip install altair vl-convert-python"
    assert error(lambda: cases.plot.pr()) == said
    assert error(lambda: import_module("frame_metrics.plot")) == said
    assert "class IRM" in pydoc.render_doc(frame_metrics, renderer=pydoc.plaintext)


def test_without_the_converter_the_error_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chart is made without vl-convert, and written with it."""
    chart = cases.plot.pr()
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    said = "SVG and PNG need vl-convert, which is not installed: pip install altair vl-convert-python"
    assert error(lambda: plot.svg(chart)) == said
    assert error(lambda: plot.png(chart)) == said


def test_charts_can_be_built_on() -> None:
    """A picture can be put beside another one, given a title, and written by Altair itself."""
    both = altair.hconcat(cases.plot.pr(), runs.plot.metrics("rr")).properties(title="Both")
    assert both.to_dict()["title"] == "Both"


# What cannot be drawn


@pytest.mark.parametrize("given", [None, "x", 3, {"mark": "bar"}, pl.DataFrame({"a": [1]}), b"", []])
def test_what_is_no_chart_is_not_written(given: Any) -> None:
    """What SVG and PNG are made of is a chart of Altair; the error says where one comes from."""
    for write in (plot.svg, plot.png):
        with pytest.raises(BadValueError, match=r"^chart=.* is not a chart of Altair, as df\.irm\.plot\.metrics"):
            write(given)


@pytest.mark.parametrize("scale", [0, -1, float("nan"), float("inf"), "2", None, True, 1e6, 1e-9])
def test_a_scale_that_gives_no_picture(scale: Any) -> None:
    """A scale is a number above 0; one that gives too many pixels, or none, names those that do."""
    with pytest.raises(BadValueError, match=rf"^scale={scale!r}|^scale=1e[+-]\d+: the picture is .* units; pass"):
        plot.png(plot.metrics(pl.DataFrame({"metric": ["rr"], "value": [0.5]})), scale=scale)


def test_a_ground_that_is_neither_dark_nor_light() -> None:
    """dark= is True or False."""
    with pytest.raises(BadValueError, match="dark='x' is not True or False"):
        plot.png(plot.metrics(pl.DataFrame({"metric": ["rr"], "value": [0.5]})), dark="x")  # type: ignore[arg-type]


def test_a_chart_that_vega_cannot_draw() -> None:
    """Its reason stands in an error of this package."""
    with pytest.raises(BadValueError, match=r"^chart: it cannot be drawn \(Vega-Lite to SVG conversion failed"):
        plot.svg(altair.Chart())


def test_more_segments_than_can_be_drawn() -> None:
    """The error says how many there are, how many can be drawn, and how to choose."""
    n = 1500
    rows = pl.DataFrame({"segment": range(n), "metric": "rr", "value": [i / n for i in range(n)]})
    with pytest.raises(BadValueError, match=r"^segment: there are 1,500 values, and at most 1,000 can be drawn; keep"):
        plot.metrics(rows)
    assert plot.metrics(rows.top_k(1000, by="value"))


def test_twelve_panels_are_drawn() -> None:
    """Of more segments, or metrics, the first are drawn, and a note counts them."""
    found = pl.DataFrame({"segment": range(40), "metric": "rr", "value": [i / 40 for i in range(40)]})
    chart = plot.metrics(found, facet="segment")
    assert {row[0] for row in rows(chart, "facet")[0]} == {str(i) for i in range(12)}
    assert any("the first 12 of 40 values of segment" in note for note in specification(chart)["title"]["subtitle"])
    named = pl.DataFrame({"run": "a", "metric": [f"p@{k}" for k in range(1, 21)], "value": 0.5})
    chart = specification(plot.metrics(named))
    assert len(chart["concat"]) == 12
    assert any("the first 12 of 20 panels" in note for note in chart["title"]["subtitle"])


def test_names_of_pictures_are_offered() -> None:
    """What an editor offers behind ``irm.plot.`` are pictures."""
    assert {"pr", "roc", "metrics", "f_surface"} <= {*dir(runs.plot)}
    assert all(callable(getattr(runs.plot, name)) for name in dir(runs.plot))


def test_of_many_points_over_the_surface_the_best_have_colours() -> None:
    """The legend has six of sixty systems, those with the highest F."""
    names = [f"r{i:02}" for i in range(60)]
    rows = pl.DataFrame(
        {"run": names * 2, "metric": ["precision"] * 60 + ["recall"] * 60, "value": [i / 60 for i in range(60)] * 2}
    )
    chart = plot.f_surface(rows)
    assert marks(chart, "point")[-1]["encoding"]["color"]["legend"]["values"] == names[:53:-1]
    assert specification(chart)["title"]["subtitle"] == ["in colour: the best 6 of 60"]


def test_power_rises_with_the_number_of_queries() -> None:
    """A line for each system with a band between the ends of its numbers, and a dashed line at the goal."""
    chart = runs.plot.sample_size("rr", detect=0.5, baseline="a", resamples=20)
    band, line, goal = (marks(chart, kind)[0] for kind in ("area", "line", "rule"))
    assert fields(line) == {"x": "needed", "y": "power", "color": "color", "order": "power"}
    assert (fields(band)["x"], fields(band)["x2"], fields(band)["y"]) == ("needed_low", "needed_high", "power")
    assert "Queries, or clusters of them" in titles(chart)
    assert goal["encoding"]["y"]["field"] == "goal"
    (found,) = rows(chart, "color", "power", "needed", "goal")
    assert found[0][0] == "b"
    assert {row[3] for row in found} == {0.8}
    plan = runs.sample_size("rr", detect=0.5, baseline="a", resamples=20, power=[row[1] for row in found])
    assert plan["needed"].to_list() == [row[2] for row in found]
    assert specification(chart)["title"]["subtitle"] == ["rr, to see a difference of 0.5, against a"]
    own = pl.concat_str(pl.col("query").cast(pl.String), pl.col("system").cast(pl.String))
    arms = runs.frame.with_columns(query=own).irm(arm="system")
    unequal = plot.sample_size(arms.sample_size("rr", detect=0.5, power=[0.5, 0.9], split={"a": 0.9, "b": 0.1}))
    assert "Units of the arm; the baseline has others" in titles(unequal)
    several = arms.sample_size("rr", "ap", detect=[0.1, 0.5], power=[0.5, 0.9], resamples=20)
    assert {row[0] for row in rows(plot.sample_size(several, goal=0.9), "facet")[0]} == {
        f"{name}, {detect}" for name in ("rr", "ap") for detect in (0.1, 0.5)
    }
    assert "Units of each arm" in titles(plot.sample_size(several))
    plans = [several.filter(metric="ap", detect=0.5).with_columns(pilot=pl.lit(name)) for name in ("one", "other")]
    both = specification(plot.sample_size(pl.concat(plans), color="pilot"))
    assert "facet" not in both
    assert both["title"]["subtitle"] == ["ap, to see a difference of 0.5, against a, system b"]
    assert "goal=2 is not a chance" in error(lambda: plot.sample_size(several, goal=2))
    for key in ("reason", "n_all", "baseline_n"):  # columns of other plans, here keys
        one = runs.sample_size("rr", detect=0.5, power=[0.5, 0.9], baseline="a", resamples=20)
        plan = pl.concat([one.select(pl.lit(name).alias(key), pl.all()) for name in "01"])
        assert {row[0] for row in rows(plot.sample_size(plan), "color")[0]} == {"0", "1"}
    assert "a single chance" in error(lambda: plot.sample_size(runs.sample_size("rr", detect=0.5)))
    assert "there is no column 'power'" in error(lambda: plot.sample_size(runs.compare("rr")))


def test_a_value_without_an_interval_is_no_interval_of_width_0() -> None:
    """It is a diamond, which a note explains; where all have one, or nothing is drawn, no note does."""
    found = {"run": ["b", "c"], "baseline": "a", "metric": "rr", "difference": [0.2, 0.1]}
    frames = [pl.DataFrame({**found, "ci_low": [0.1, low], "ci_high": [0.3, low]}) for low in (None, 0.1)]
    frames.append(frames[0].with_columns(difference=pl.Series([0.2, None])))
    charts = [plot.comparison(one, ci=0.9) for one in frames]
    bars, note = "bars: 90 % intervals", "diamonds: no interval"
    assert [specification(one)["title"]["subtitle"] for one in charts] == [[bars, note], [bars], [bars]]
    (point,) = marks(charts[0], "point")
    assert point["encoding"]["shape"] == {
        "condition": {"test": "datum.ci_low === null", "value": "diamond"},
        "value": "circle",
    }
    means = pl.DataFrame({"run": ["b", "c"], "metric": "rr", "value": 0.5, "ci_low": [None, 0.4], "ci_high": 0.6})
    assert note in specification(plot.metrics(means))["title"]["subtitle"]


def test_power_that_all_queries_do_not_reach() -> None:
    """The band goes on to what there is in all, and a note says what is not reached; without a number is no picture."""
    plan = pl.DataFrame(
        {"power": [0.5, 0.7, 0.9], "n_all": 300, "needed": [90, 200, None], "needed_low": [40, 80, 150]}
    )
    plan = plan.with_columns(needed_high=pl.Series([180, None, None], dtype=pl.Int64), reason=pl.lit("all are too few"))
    chart = plot.sample_size(plan)
    (found,) = rows(chart, "needed_low", "needed_high", "to")
    assert found == [(40, 180, 180), (80, 300, None), (150, 300, None)]
    assert specification(chart)["title"]["subtitle"] == ["90 % or more is not reached where people judge all 300"]
    several = pl.concat([plan.with_columns(run=pl.lit(name)) for name in "ab"])
    assert specification(plot.sample_size(several))["title"]["subtitle"][0].startswith(
        "2 numbers are not drawn, which are "
    )
    (people,) = rows(plot.sample_size(plan.drop("n_all")), "needed_high")
    assert people == [(180,), (200,), (200,)]
    none = plan.with_columns(needed=pl.lit(None, pl.Int64))
    assert "no number is known, of any chance (all are too few)" in error(lambda: plot.sample_size(none), BadValueError)
    assert "(the queries of the pilot" in error(lambda: plot.sample_size(none.drop("reason")), BadValueError)


def test_pairs_without_a_difference_are_counted_and_not_drawn() -> None:
    """A system that is undefined wherever another one is defined has no place; where all are, there is no picture."""
    differences = pl.DataFrame(
        {"query": [1, 2, 1], "run": ["b", "b", "c"], "baseline": "a", "metric": "rr", "difference": [0.1, 0.2, None]}
    )
    title = specification(plot.differences(differences))["title"]
    assert title["subtitle"][-1] == "1 of 2 pairs have no difference that is defined, and no place"
    assert "all differences are undefined" in error(lambda: plot.differences(differences[2:]), BadValueError)


def test_keys_that_hold_a_comma_stay_apart() -> None:
    """Two segments whose values read the same, joined by commas, are two small multiples."""
    means = pl.DataFrame({"x": ["a, b", "a"], "y": ["c", "b, c"], "run": "r", "metric": "rr", "value": [0.1, 0.9]})
    (data,) = rows(plot.metrics(means, color="run", facet=["x", "y"]), "facet", "value")
    assert data == [("'a, b', 'c'", 0.1), ("'a', 'b, c'", 0.9)]
