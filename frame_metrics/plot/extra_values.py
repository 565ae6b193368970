"""Values added to each line of a picture: a chosen threshold, the share of relevant rows, or a metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from frame_metrics.backends.frames import backend_of
from frame_metrics.errors import BadValueError, ColumnError, listed, quote
from frame_metrics.metrics.parameters import is_number
from frame_metrics.metrics.saved_names import metric_of
from frame_metrics.plot.tidy import OF_EVALUATE, Names, Tidy, highlight_lines, read_tidy

LONGEST = 30  # the most characters of a name before a value
TABLE = ("tp", "fp", "fn", "tn")
EXPECTED = dict.fromkeys(("threshold", "prevalence"), "a number, or what best_threshold() returns")
EXPECTED |= {"values": "what evaluate() returns of one metric"}


def threshold_name(threshold: Any) -> str:
    """Return a name for a threshold: "best f1" for the result of ``best_threshold("f1")``, else "threshold"."""
    names = [] if threshold is None or is_number(threshold) else backend_of(threshold).names()
    after = names[names.index(TABLE[-1]) + 1 :] if TABLE[-1] in names else []
    return f"best {after[0]}" if len(after) == 1 else "threshold"


def with_threshold(tidy: Tidy, threshold: Any) -> Tidy:
    """Add a column "chosen", the threshold of each line, null if there is none.

    Parameters
    ----------
    threshold : a number for all lines, the result of ``best_threshold`` on the same data, or None.
    """
    return tidy.with_columns(chosen=_for_each(tidy, threshold, "threshold", ("threshold",), pl.col("threshold")))


def with_prevalence(tidy: Tidy, prevalence: Any) -> Tidy:
    """Add a column "prevalence", the share of relevant rows of each line, null if it is unknown.

    Parameters
    ----------
    prevalence : a number for all lines, a frame with the 2x2 tables of the same data, as the result of
        ``best_threshold``, or None.
    """
    share = (pl.col("tp") + pl.col("fn")) / pl.sum_horizontal(TABLE)
    return tidy.with_columns(prevalence=_for_each(tidy, prevalence, "prevalence", TABLE, share))


def with_values(tidy: Tidy, given: Any, label: str, chosen: Names) -> Tidy:
    """Add the value of a metric to the name of each line; if there are many lines, only the best are in colour.

    Parameters
    ----------
    given : the result of ``evaluate`` for one metric on the same data, or None.
    label : a short name of the metric.
    chosen : lines in colour, besides the best one.
    """
    if given is None or tidy.facet is not None:
        return highlight_lines(tidy, None, chosen)
    names = [name for name in ("value", "ci_low", "ci_high") if name == "value" or name in backend_of(given).names()]
    each = [_for_each(tidy, given, "values", (name,), pl.col(name)).alias(name) for name in names]
    lines = tidy.table.select(*tidy.series, *each).unique(maintain_order=True)
    texts = [f"{label} {_number(value)}{_between(ends)}" for value, *ends in lines.select(names).iter_rows()]
    if (key := tidy.color) is None:
        return tidy.with_notes(*texts)
    best = lines.sort("value", descending=True, nulls_last=True, maintain_order=True)["color"].to_list()
    short = {name: name if len(name) <= LONGEST else f"{name[:LONGEST]}…" for name in key.values}
    short = short if len({*short.values()}) == len(short) else {name: name for name in short}
    new_names = {name: f"{short[name]}: {text}" for name, text in zip(lines["color"], texts, strict=True)}
    tidy = highlight_lines(tidy, best, chosen)
    highlighted = tidy.color.highlighted if tidy.color else None
    highlighted = highlighted and tuple(new_names[name] for name in highlighted)
    key = replace(
        key,
        values=[new_names[name] for name in key.values],
        highlighted=highlighted,
    )
    return replace(tidy.with_columns(pl.col("color").replace_strict(new_names)), color=key)


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"


def _between(ends: Sequence[float | None]) -> str:
    """Return the text of an interval, to follow its value; "" if there is none."""
    return "" if not ends or ends[0] is None else f" ({' to '.join(map(_number, ends))})"


def pairs_of(picture: str, frame: Any, pair: Sequence[str], color: Names) -> Tidy:
    """Return the values of two metrics as two columns, a row for each system; ``picture``: the start of errors."""
    tidy = read_tidy(frame, picture, ("metric", "value"), (*OF_EVALUATE, "ci_low", "ci_high"), color=color, colors=None)
    names = [metric_of(name).name for name in tidy.table["metric"].to_list()]
    table = tidy.table.with_columns(what=pl.Series(names, dtype=pl.String))
    parts = []
    for name in pair:
        of = table.filter(what=name).drop_nulls("value").select(*tidy.series, pl.col("value").alias(name))
        if len(of) != (of.select(tidy.series).n_unique() if tidy.series else 1):
            raise BadValueError(f"{picture}; there is {'more than one' if len(of) else 'no'} {name} of a system")
        if not len(of):
            raise BadValueError(f"{picture}; there is no {name}")
        parts.append(of)
    how: Any = {"on": tidy.series, "maintain_order": "left"} if tidy.series else {"how": "cross"}
    return replace(tidy, table=parts[0].join(parts[1], **how))


def _for_each(tidy: Tidy, given: Any, option: str, needs: tuple[str, ...], value: pl.Expr) -> pl.Series:
    """Return a number for each row, which is the same for all rows of a line."""
    if given is None or (option != "values" and is_number(given)):
        return pl.Series([None if given is None else float(given)] * len(tidy.table), dtype=pl.Float64)
    if isinstance(given, str | bool | list | tuple | dict):
        raise BadValueError(f"{option}={quote(given)} is not {EXPECTED[option]}")
    color, facet = (() if key is None else key.columns for key in (tidy.color, tidy.facet))
    there = backend_of(given).names()
    lacking = [name for name in (*color, *facet) if name not in there]
    if lacking:
        raise ColumnError(f"{option}: the frame has no column {listed(lacking)}, which tells lines apart here")
    others = [name for name in there if name not in (*needs, *color, *facet)]
    picture = f"{option}= is {EXPECTED[option]}"
    read = read_tidy(given, picture, needs, ignored=others, color=color, facet=facet)
    table = read.table.select(*tidy.series, value.fill_nan(None).alias("added"))
    if not tidy.series and len(table) != 1:
        raise BadValueError(f"{option}: the frame has {len(table)} rows, and there is one line")
    if tidy.series and table.select(tidy.series).is_duplicated().any():
        raise BadValueError(f"{option}: the frame has several rows for a line")
    how = {"on": tidy.series, "how": "left", "maintain_order": "left"} if tidy.series else {"how": "cross"}
    return tidy.table.join(table, **how)["added"]
