"""Pictures of decisions: measures by threshold, the confusion matrix, scores by label."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

import altair as alt
import polars as pl

from frame_metrics.backends.frames import backend_of
from frame_metrics.errors import BadValueError, check_choice, check_whole
from frame_metrics.metrics.saved_names import metric_of
from frame_metrics.plot.charts import (
    BAD,
    GOOD,
    LIMIT,
    NEITHER,
    SIDE_OF_SMALL,
    colored,
    composed,
    has_ends,
    in_facets,
    tooltip,
    values,
    with_title,
)
from frame_metrics.plot.curves import ring
from frame_metrics.plot.extra_values import threshold_name, with_threshold
from frame_metrics.plot.panels import NAMED
from frame_metrics.plot.tidy import Key, Names, Tidy, n_text, only_at, read_tidy, thinned, unused_name

COUNTS = ("threshold", "tp", "fp", "fn", "tn")
NOTHING = "no decision"
MOST_CLASSES_WITH_ZEROS = 4  # the most classes of a matrix that shows zeros
MATRIX = 420  # width of a matrix, in pixels
MAX_CELL = 56  # the greatest width of a cell
MIN_CELL = 20  # the least width of a cell with a number
DARKEST = 0.75  # the greatest opacity of a cell; a number in it is readable on light and on dark
Share = Literal["actual", "predicted", "all"]


def thresholds(frame: Any, *, crossing: bool = True, threshold: Any = None, facet: Names = None) -> alt.Chart:
    """Draw measures of decisions against the threshold, and where precision and recall are equal.

    Parameters
    ----------
    frame : the result of ``thresholds("precision", "recall")``, of any kind: the keys, threshold, tp, fp, fn, tn, and
        then a column per metric. Its first row, with an infinite threshold, is not drawn.
    crossing : whether to mark the threshold at which precision and recall, if both are there, are nearest to equal.
    threshold : a number, or the result of ``best_threshold``: it is drawn as a line.
    facet : the key columns of small multiples; by default all.
    """
    names = backend_of(frame).names()
    after = names[names.index("threshold") :] if "threshold" in names else []
    asked = [name for name in after if name not in COUNTS]
    picture = "thresholds draws what thresholds('precision', 'recall') returns, with a column for each metric"
    if not asked:
        raise BadValueError(f"{picture}; this frame has none")
    tidy = read_tidy(frame, picture, ("threshold", *asked), COUNTS, facet=facet, colors=0)
    tidy = with_threshold(replace(tidy, table=tidy.table.filter(pl.col("threshold").is_finite())), threshold)
    counted = {*COUNTS} <= {*tidy.table.columns}
    n = n_text(tidy.table.select(pl.sum_horizontal(COUNTS[1:])).to_series()) if counted else ""
    tidy = _with_crossing(tidy, asked) if crossing else tidy.with_columns(crosses=False)
    tidy = thinned(tidy, ["threshold", *asked], kept="crosses")
    tidy = _unpivoted(tidy, asked)
    title = ["Threshold:", "scores from here on are predicted positive"]
    x = alt.X("threshold:Q", title=title, scale=alt.Scale(zero=False, nice=False))
    y = alt.Y("value:Q", title=asked[0] if len(asked) == 1 else "value", scale=_shared_scale(asked))
    tips = tooltip(tidy, {"threshold": "threshold", "value": "value"})
    layers = [alt.Chart().mark_line().encode(x=x, y=y, tooltip=tips, **colored(tidy.color, dashes=True))]
    if tidy.table["crosses"].any():
        layers.append(ring(x, y, "crosses", 120))
        at = f": {tidy.table.filter('crosses')['crossing'][0]}" if tidy.facet is None else ""
        tidy = tidy.with_notes(f"ring: precision and recall are equal, or nearest to that{at}")
    return composed(tidy, [*layers, *_rules(tidy, threshold)], f"{', '.join(asked[:NAMED])} by threshold{n}")


def _shared_scale(asked: Sequence[str]) -> Any:
    """Return a scale that covers the ranges of all metrics; a usual one if a range has no ends."""
    meant = [metric_of(name) for name in asked]
    if not all(map(has_ends, meant)):
        return alt.Scale()
    return alt.Scale(domain=[min(one.range[0] for one in meant), max(one.range[1] for one in meant)], nice=False)


def _with_crossing(tidy: Tidy, asked: Sequence[str]) -> Tidy:
    """Add a column "crosses": true at the row of each small multiple where precision and recall differ least."""
    pair = [name for wanted in ("precision", "recall") for name in asked if metric_of(name).name == wanted]
    if len(pair) != 2:
        return tidy.with_columns(crosses=False)
    far = (pl.col(pair[0]) - pl.col(pair[1])).abs()
    return tidy.per_line(crosses=only_at(pl.when(pl.col(pair[0]) > 0).then(far).arg_min()))


def _unpivoted(tidy: Tidy, asked: Sequence[str]) -> Tidy:
    """Return a row for each threshold and metric; only rows of precision keep the mark of the crossing."""
    kept = ["threshold", "chosen", "crosses", *tidy.series]
    table = tidy.table.unpivot(asked, index=kept, variable_name="color", value_name="value")
    of_precision = pl.col("color").is_in([name for name in asked if metric_of(name).name == "precision"])
    text = pl.format("{} at {}", pl.col("value").round(3), pl.col("threshold").round_sig_figs(3))
    table = table.with_columns(crosses=pl.col("crosses") & of_precision, crossing=text)
    return replace(tidy, table=table, color=Key(("metric",), list(asked)))


def _rules(tidy: Tidy, threshold: Any) -> list[Any]:
    """Return layers with a line at the chosen threshold of each small multiple, and its name."""
    if tidy.table["chosen"].is_null().all():
        return []
    name = json.dumps(f"{threshold_name(threshold)}: ")
    one = alt.Chart().transform_filter("datum.chosen != null").transform_aggregate(chosen="mean(chosen)")
    at = one.transform_calculate(named=f"{name} + format(datum.chosen, '.4~g')")
    x = alt.X("chosen:Q", title="")
    return [
        at.mark_rule(strokeDash=[6, 3], strokeWidth=1.5).encode(x=x),
        at.mark_text(baseline="bottom").encode(x=x, y=alt.value(-3), text=alt.Text("named:N")),
    ]


def confusion(frame: Any, *, normalize: Share | None = "actual", pairs: int = 10, facet: Names = None) -> alt.Chart:
    """Draw how often each true class was predicted as each class, right ones in blue, and the most confused pairs.

    Up to 20 classes have numbers in their cells; with more, the colour shows the share, and pointing at a cell its
    number.

    Parameters
    ----------
    frame : the result of ``confusion``, of any kind; totals in it are not drawn.
    normalize : the base of the shares in colours and cells: the rows of the same true class ("actual": right ones are
        the recall), of the same prediction ("predicted": the precision), "all" rows; None: no shares.
    pairs : how many of the most confused pairs are listed beside the matrix, for three or more classes without facets.
    facet : the key columns of small multiples; by default all.
    """
    if normalize is not None:
        check_choice("normalize", normalize, get_args(Share))
    check_whole("pairs", pairs, 0)
    picture = "confusion draws what confusion() returns"
    texts = ("predicted", "actual", "matched", "total_over")
    also = ("matched", "total_over", "share", "share_of_predicted", "share_of_actual", "odds", "payoff")
    needs = ("predicted", "actual", "n")
    tidy = read_tidy(frame, picture, needs, also, facet=facet, texts=texts, colors=0)
    tidy, actual, predicted = _cells(tidy, normalize)
    size = min(MAX_CELL, (MATRIX if tidy.facet is None else SIDE_OF_SMALL) / max(len(actual), len(predicted)))
    width, height = round(size * len(predicted)), round(size * len(actual))
    chart = in_facets(tidy, _matrix(tidy, actual, predicted, size, normalize), width=width, height=height, small=False)
    if pairs and len(actual) > 2 and tidy.facet is None:
        chart = alt.hconcat(chart, _pairs(tidy, pairs), spacing=40)
    of = {"actual": "share of the true class", "predicted": "share of the prediction", "all": "share of all rows"}
    notes = (f"colour: {of.get(str(normalize), 'rows')}; numbers: rows", "blue: right")
    return with_title(chart, f"Predicted and true classes{_each_n(tidy)}", (*tidy.notes, *notes))


def _each_n(tidy: Tidy) -> str:
    """Return for a title the number of rows in each small multiple."""
    parts = tidy.table.partition_by("facet") if tidy.facet is not None else [tidy.table]
    return n_text(pl.Series([part["n"].sum() for part in parts]))


def _cells(tidy: Tidy, normalize: Share | None) -> tuple[Tidy, list[str], list[str]]:
    """Return the cells without totals, with their shares and texts, and the true and the predicted classes in order."""
    table = tidy.table
    table = table.filter(pl.col("total_over").is_null()) if "total_over" in table.columns else table
    classes = table["actual"].drop_nulls().unique(maintain_order=True).to_list()
    predictions = table["predicted"].unique(maintain_order=True).to_list()
    nothing = unused_name(NOTHING, {*classes, *predictions})
    others = [one for one in predictions if one is not None and one not in classes]
    order = [*(one for one in classes if one in predictions), *others, *([nothing] if None in predictions else [])]
    right = (pl.col("matched") if "matched" in table.columns else pl.col("predicted")) == pl.col("actual")
    keys = ["facet"] if tidy.facet is not None else []
    over = {"actual": [*keys, "actual"], "predicted": [*keys, "predicted"], "all": keys, None: []}[normalize]
    whole = pl.col("n").sum().over(over) if over else pl.col("n").sum()
    whole = pl.col("n").max() if normalize is None else whole
    share = pl.when(whole > 0).then(pl.col("n") / whole)
    prediction = pl.col("predicted").fill_null(nothing)
    table = table.with_columns(right=right.fill_null(False), share=share, predicted=prediction)
    blank = len(classes) > MOST_CLASSES_WITH_ZEROS  # many zeros would hide the other numbers
    counts = ["" if blank and not n else f"{n:,.0f}" if n == round(n) else f"{n:,.3g}" for n in table["n"].to_list()]
    shares = ["" if not one or normalize is None else f"{one:.0%}" for one in table["share"].to_list()]
    texts = [pl.Series("count", counts, dtype=pl.String), pl.Series("percent", shares, dtype=pl.String)]
    table = table.with_columns(texts)
    return replace(tidy, table=table.filter(pl.col("n") > 0) if blank else table), classes, order


def _matrix(tidy: Tidy, actual: list[str], predicted: list[str], size: float, normalize: Share | None) -> list[Any]:
    """Return the layers of a matrix: its cells and, where there is room, their numbers."""
    axis: dict[str, Any] = {"labelLimit": 140, "grid": False, "labelOverlap": False}
    small: dict[str, Any] = {"labelFontSize": max(5, min(10, size - 1))} if size < MIN_CELL else {}
    orient: Any = "bottom" if tidy.facet else "top"  # at the top stand the names of small multiples
    turned = 0 if size == MAX_CELL and max(map(len, predicted)) < 9 else -90 if size < MIN_CELL else -45
    above = alt.Axis(orient=orient, labelAngle=turned, **axis, **small)
    x = alt.X("predicted:N", title="Predicted", scale=alt.Scale(domain=predicted), axis=above)
    y = alt.Y("actual:N", title="True class", scale=alt.Scale(domain=actual), axis=alt.Axis(**axis, **small))
    columns = {"actual": "true class", "predicted": "predicted", "n": "rows", "share": "share"}
    color = alt.Color("right:N", scale=alt.Scale(domain=[True, False], range=[GOOD, BAD]), legend=None)
    scale = alt.Scale(type="sqrt", domain=[0, 1], range=[0, DARKEST])  # so that rare mistakes are seen
    opacity = alt.Opacity("share:Q", scale=scale, legend=None)
    cells = alt.Chart().mark_rect(aria=False)
    layers = [cells.encode(x=x, y=y, color=color, opacity=opacity, tooltip=tooltip(tidy, columns))]
    if size >= MIN_CELL:
        both = normalize is not None and size > 2 * MIN_CELL
        text = alt.Chart().mark_text(dy=-6 if both else 0, fontSize=11 if size > 2 * MIN_CELL else 8)
        layers.append(text.encode(x=x, y=y, text=alt.Text("count:N")))
        below = alt.Chart().mark_text(dy=8, fontSize=10).encode(x=x, y=y, text=alt.Text("percent:N"))
        layers += [below] if both else []
    return layers


def _pairs(tidy: Tidy, most: int) -> Any:
    """Return bars for the pairs of classes that are confused most often; ``most``: how many pairs."""
    wrong = tidy.table.filter(~pl.col("right") & (pl.col("n") > 0)).sort("n", descending=True, maintain_order=True)
    wrong = wrong.head(most).with_columns(pair=pl.concat_str("actual", "predicted", separator=" → "))
    y = alt.Y("pair:N", sort=wrong["pair"].to_list(), title=None, axis=alt.Axis(labelLimit=LIMIT, maxExtent=LIMIT + 20))
    bars = alt.Chart(values(wrong))
    bar = bars.mark_bar(color=BAD, opacity=DARKEST).encode(x=alt.X("n:Q", title="Rows"), y=y)
    number = bars.mark_text(align="left", dx=4).encode(x=alt.X("n:Q"), y=y, text=alt.Text("count:N"))
    return alt.layer(bar, number).properties(
        width=160, height=alt.Step(20), title=["Most confused pairs:", "true class → predicted"]
    )


def scores(frame: Any, *, threshold: Any = None, facet: Names = None, positive: str = "relevant") -> alt.Chart:
    """Draw the distribution of scores of each label, and the threshold between them.

    Parameters
    ----------
    frame : the result of ``curve("distribution")``, of any kind.
    threshold : a number, or the result of ``best_threshold``: it is drawn as a line.
    facet : the key columns of small multiples; by default all.
    positive : a word for the positive label.
    """
    words = {True: positive, False: f"not {positive}", None: "not judged"}
    picture = "scores draws what curve('distribution') returns"
    tidy = read_tidy(frame, picture, ("bin", "low", "high", "label", "n"), facet=facet, colors=0)
    lacking = tidy.table.filter(pl.col("bin").is_null())["n"].sum()
    table = tidy.table.filter(pl.col("bin").is_not_null())
    each = ["label", *tidy.series]
    share = pl.when(pl.col("n").sum().over(each) > 0).then(pl.col("n") / pl.col("n").sum().over(each))
    labels = [words[None if one is None else bool(one)] for one in table["label"].to_list()]
    table = table.with_columns(zero=0.0, share=share.fill_null(0.0), color=pl.Series(labels, dtype=pl.String))
    there = [one for one in words.values() if one in labels]
    tidy = replace(with_threshold(replace(tidy, table=table), threshold), color=Key(("label",), there))
    tidy = tidy.with_notes(f"{lacking:,.0f} rows without a score are not drawn" if lacking else "")
    x = alt.X("low:Q", title="Score", scale=alt.Scale(zero=False, nice=False))
    y = alt.Y("share:Q", title="Share of the rows of each label", stack=None)
    paint = [color for one, color in zip(words.values(), (GOOD, BAD, NEITHER), strict=True) if one in there]
    color = alt.Color("color:N", scale=alt.Scale(domain=there, range=paint), title=None)
    tips = tooltip(tidy, {"low": "from", "high": "to", "share": "share", "n": "rows"})
    bars = (
        alt.Chart()
        .mark_bar(opacity=0.5, binSpacing=0)
        .encode(x=x, x2=alt.X2("high:Q"), y=y, y2=alt.Y2("zero:Q"), color=color, tooltip=tips)
    )
    return composed(tidy, [bars, *_rules(tidy, threshold)], f"Scores by label{_each_n(tidy)}")
