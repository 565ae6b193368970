"""Pictures: what is on which axis, the values that are drawn, names of any kind, frames of any kind."""

from __future__ import annotations

import sys
from typing import Any

import altair
import polars as pl
import pytest

import frame_metrics
from frame_metrics import plot
from helpers import KINDS, as_kind, error, frame

RUNS = frame(
    "system query score grade",
    *[("a", 1, 3.0, 1), ("a", 1, 2.0, 0), ("a", 2, 2.0, 0), ("a", 2, 1.0, 1)],
    *[("b", 1, 3.0, 0), ("b", 1, 2.0, 1), ("b", 2, 2.0, 0), ("b", 2, 1.0, 1)],
)
CASES = pl.DataFrame({"label": [1, 0, 1, 0], "score": [0.9, 0.6, 0.5, 0.1]})
runs, cases = RUNS.irm(system="system"), CASES.irm()


def parts(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """The charts that a specification is put together from, itself first."""
    inside = [part for name in ("layer", "hconcat", "vconcat", "concat") for part in spec.get(name, [])]
    inside += [spec["spec"]] if "spec" in spec else []
    return [spec, *(deeper for part in inside for deeper in parts(part))]


def drawn(chart: Any) -> list[dict[str, Any]]:
    """The marks of a picture: what stands on each of their channels, by field or value, and their titles."""
    return [part for part in parts(chart.to_dict()) if "encoding" in part]


def rows(chart: Any, *names: str) -> list[list[tuple[Any, ...]]]:
    """The rows of each data set in which some fields stand, those fields only."""
    sets = [part["data"]["values"] for part in parts(chart.to_dict()) if "data" in part]
    return [[tuple(row[name] for name in names) for row in data] for data in sets if set(names) <= set(data[0])]


def fields(mark: dict[str, Any]) -> dict[str, str]:
    """The fields that stand on the channels of a mark."""
    return {name: of["field"] for name, of in mark["encoding"].items() if isinstance(of, dict) and "field" in of}


def titles(chart: Any) -> set[str]:
    """The titles of axes, legends and small multiples."""
    found = set()
    for part in parts(chart.to_dict()):
        of = [*part.get("encoding", {}).values(), part.get("facet", {}), *part.get("facet", {}).values()]
        found |= {one["title"] for one in of if isinstance(one, dict) and isinstance(one.get("title"), str)}
    return found


def test_metrics_have_a_row_for_each_system() -> None:
    """Values stand beside the systems, the best on top, on an axis as long as the metric's range."""
    chart = runs.plot.metrics("rr", ci=0.95)
    marks = drawn(chart)
    points = next(mark for mark in marks if mark["mark"]["type"] == "point")
    assert fields(points) | {"tooltip": ""} == {"x": "value", "y": "color", "color": "color", "tooltip": ""}
    assert points["encoding"]["y"]["sort"] == ["a", "b"]
    assert points["encoding"]["x"]["scale"]["domain"] == [0, 1]
    assert points["encoding"]["x"]["title"] == "rr (higher is better)"
    assert rows(chart, "color", "value") == [[("a", 0.75), ("b", 0.5)]]
    lines = next(mark for mark in marks if mark["mark"]["type"] == "rule")
    assert (fields(lines)["x"], fields(lines)["x2"]) == ("ci_low", "ci_high")
    assert titles(chart) >= {"system", "rr (higher is better)"}


def test_less_is_better_where_the_metric_says_so() -> None:
    """The row with the least value is on top, and its number in bold."""
    chart = plot.metrics(frame("system metric value", ("a", "brier", 0.3), ("b", "brier", 0.1)))
    assert drawn(chart)[0]["encoding"]["y"]["sort"] == ["b", "a"]
    assert rows(chart, "color", "best", "other") == [[("a", "", "0.300"), ("b", "0.100", "")]]
    assert titles(chart) == {"system", "brier (lower is better)"}


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
    assert {text for *_, text in of_f} == {"F1 0.5"}


@pytest.mark.border
@pytest.mark.parametrize("kind", KINDS)
def test_pictures_of_all_kinds_of_frames_are_the_same(kind: str) -> None:
    """What a verb returned is drawn, whatever library it is of."""
    found = as_kind(runs.evaluate("rr", "map", ci=0.95), kind)
    assert plot.metrics(found).to_dict() == plot.metrics(runs.evaluate("rr", "map", ci=0.95)).to_dict()
    of_irm = as_kind(RUNS, kind).irm if kind != "pyarrow" else frame_metrics.IRM(as_kind(RUNS, kind))
    assert of_irm(system="system").plot.metrics("rr").to_dict() == runs.plot.metrics("rr").to_dict()


def test_without_altair_the_error_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """Verbs do without Altair, and pictures say how to get it."""
    monkeypatch.setitem(sys.modules, "altair", None)
    said = "pictures need altair, which is not installed: pip install 'frame_metrics[plot]'"
    assert error(lambda: cases.plot.pr()) == said
    assert error(lambda: plot.metrics(runs.evaluate("rr"))) == said


def test_without_the_converter_the_error_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chart is made without vl-convert, and written with it."""
    chart = cases.plot.pr()
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    said = "SVG and PNG need vl-convert, which is not installed: pip install 'frame_metrics[plot]'"
    assert error(lambda: plot.svg(chart)) == said
    assert error(lambda: plot.png(chart)) == said


def test_charts_can_be_built_on() -> None:
    """A picture can be put beside another one, given a title, and written by Altair itself."""
    both = altair.hconcat(cases.plot.pr(), runs.plot.metrics("rr")).properties(title="Both")
    assert both.to_dict()["title"] == "Both"
