"""Pictures of curves: precision and recall, ROC, gain, calibration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from frame_metrics.plot.charts import HEIGHT, altair, colored, composed, tooltip, values
from frame_metrics.plot.tidy import Names, Tidy, read_tidy, thinned

if TYPE_CHECKING:
    import altair as alt

TITLES = {
    "recall": "Recall: share of the relevant that is found",
    "precision": "Precision: share of what is found that is relevant",
}


def pr(
    frame: Any,
    *,
    interpolated: bool = False,
    f: Sequence[float] = (0.2, 0.4, 0.6, 0.8),
    beta: float = 1,
    color: Names = None,
    facet: Names = None,
) -> alt.Chart:
    """Draw precision against recall, with lines of equal F.

    Parameters
    ----------
    frame : what ``curve("pr")`` returned, of any kind.
    interpolated : whether its precision is the greatest at that recall or a higher one, so that the curve has steps.
    f : values of F that have a line each.
    beta : of F, how much more recall counts than precision.
    color : the key columns that are told apart by colour; by default the first one.
    facet : the key columns of small multiples; by default all others.
    """
    tidy, (x, y) = _read("pr", ("recall", "precision"), frame, color, facet)
    layers = [*_equal_f(f, beta, x, y), _curve(tidy, x, y, interpolate="step-before" if interpolated else "linear")]
    return composed(tidy, layers, "Precision and recall", width=HEIGHT)


def _read(kind: str, columns: tuple[str, str], frame: Any, color: Names, facet: Names) -> tuple[Tidy, tuple[Any, Any]]:
    """The points of a curve, thinned and numbered, with the threshold or cutoff of each as a text, and its axes."""
    said = f"{kind} draws what curve({kind!r}) returns"
    tidy = thinned(read_tidy(frame, said, columns, ("threshold", "k"), color=color, facet=facet), columns)
    return tidy.with_columns(_reached(tidy.table)), (_axis("X", columns[0]), _axis("Y", columns[1]))


def _reached(table: pl.DataFrame) -> list[pl.Series]:
    """The order of points, and the threshold of each as a text, if it is known."""
    named = next((name for name in ("threshold", "k") if name in table.columns), None)
    texts = [] if named is None else [pl.Series("at", map(_written, table[named].to_list()), dtype=pl.String)]
    return [pl.Series("order", np.arange(len(table))), *texts]


def _written(threshold: float | None) -> str:
    return "all" if threshold is None else "nothing is predicted" if threshold == np.inf else f"{threshold:.6g}"


def _axis(channel: str, column: str) -> Any:
    """A share from 0 to 1 as an axis."""
    alt = altair()
    return getattr(alt, channel)(f"{column}:Q", title=TITLES[column], scale=alt.Scale(domain=[0, 1], nice=False))


def _curve(tidy: Tidy, x: Any, y: Any, interpolate: Any = "linear") -> Any:
    """The lines of a curve, whose points are joined in the order of the frame."""
    alt = altair()
    names = {"at": "k" if "k" in tidy.table.columns else "threshold"} if "at" in tidy.table.columns else {}
    shown = tooltip(tidy, names | {x.shorthand[:-2]: x.shorthand[:-2], y.shorthand[:-2]: y.shorthand[:-2]})
    line = alt.Chart().mark_line(interpolate=interpolate, clip=True)
    return line.encode(x=x, y=y, order="order:Q", tooltip=shown, **colored(tidy.color, dashes=True))


def _equal_f(f: Sequence[float], beta: float, x: Any, y: Any) -> list[Any]:
    """Lines of equal F, with its value at their right end."""
    alt = altair()
    if not f:
        return []
    square, rows = beta**2, []
    for level in f:
        recall = np.linspace(square * level / (1 + square - level), 1, 40)
        precision = level * recall / ((1 + square) * recall - square * level)
        text = f"F{beta:g} {level:g}"
        rows += [
            {"recall": r, "precision": p, "f": text} for r, p in zip(recall.tolist(), precision.tolist(), strict=True)
        ]
    table = pl.DataFrame(rows)
    line = alt.Chart(values(table)).mark_line(strokeDash=[3, 3], strokeWidth=1, opacity=0.6, clip=True)
    ends = alt.Chart(values(table.group_by("f", maintain_order=True).last()))
    label = ends.mark_text(align="left", dx=4, fontSize=9)
    return [line.encode(x=x, y=y, detail="f:N", color=alt.value("#888888")), label.encode(x=x, y=y, text="f:N")]
