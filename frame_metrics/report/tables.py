"""Tables from result frames, as HTML, LaTeX and Markdown."""

from __future__ import annotations

from html import escape
from typing import Any

from frame_metrics.backends.tables import in_html, in_latex, in_markdown
from frame_metrics.report.cells import result_table

STYLE = (
    ".frame_metrics table { border-collapse: collapse; font-variant-numeric: tabular-nums } "
    ".frame_metrics caption { text-align: left; font-weight: bold } "
    ".frame_metrics :is(th, td) { padding: .3em .7em; border-bottom: 1px solid #8886; text-align: left } "
    ".frame_metrics tbody th { font-weight: normal } .frame_metrics .number { text-align: right } "
    ".frame_metrics .mark { display: inline-block; width: 0 }"
)


def html(
    frame: Any,
    *,
    caption: str | None = None,
    over: str | None = None,
    digits: int = 3,
    alpha: float = 0.05,
    intervals: bool = False,
) -> str:
    """Write the result of a verb as an HTML table.

    Parameters
    ----------
    frame : the result of ``evaluate``, ``compare``, ``per_class`` or another verb, of any kind, or some of its rows.
    caption : the title of the table.
    over : the column whose rows are compared, as "system": the best of them is bold for each metric, by the metric's
        direction, and so are others that print the same number. By default the first key column.
    digits : digits after the point.
    alpha : in a result of ``compare``, differences with a corrected p-value below it have a star.
    intervals : whether intervals stand behind their estimates, as "0.435 [0.402, 0.471]", in place of columns of their
        ends; a result of ``compare`` then has its main columns only.

    Returns
    -------
    The table as text, with its style. The values of the frame appear as text, whatever characters they contain.

    Raises
    ------
    FrameMetricsError
        There is no such column, or this is not a frame.

    Examples
    --------
    >>> import polars as pl, frame_metrics
    >>> runs = pl.DataFrame({"query": [1, 1], "run": ["a", "b"], "score": [1.0, 1.0], "grade": [1, 0]})
    >>> frame_metrics.report.html(runs.irm(system="run").evaluate("rr")).count("<strong>")
    1
    """
    table = result_table(frame, caption, over, digits, alpha, intervals)
    notes = "".join(f"<p>{escape(note)}</p>" for note in table.notes)
    return f'<div class="frame_metrics"><style>{STYLE}</style>{in_html(table)}{notes}</div>'


def latex(
    frame: Any,
    *,
    caption: str | None = None,
    over: str | None = None,
    digits: int = 3,
    alpha: float = 0.05,
    intervals: bool = False,
) -> str:
    r"""Write the result of a verb as a LaTeX table.

    It needs the package booktabs, and the font encoding T1 (or XeLaTeX, whose fonts cover more languages).

    Parameters
    ----------
    frame, caption, over, digits, alpha, intervals : as in ``html``.

    Raises
    ------
    FrameMetricsError
        There is no such column, or this is not a frame.

    Examples
    --------
    >>> import polars as pl, frame_metrics
    >>> runs = pl.DataFrame({"query": [1, 1], "run": ["a_1", "b"], "score": [1.0, 1.0], "grade": [1, 0]})
    >>> print(frame_metrics.report.latex(runs.irm(system="run").evaluate("rr", layout="wide")))
    \begin{tabular}{llrrr}
    \toprule
    run & average & n & rr & rr\_undefined \\
    \midrule
    a\_1 & macro & 1 & \textbf{1.000} & 0 \\
    b & macro & 1 & 0.000 & 1 \\
    \bottomrule
    \end{tabular}
    % Bold: the best run.
    <BLANKLINE>
    """
    return in_latex(result_table(frame, caption, over, digits, alpha, intervals))


def markdown(
    frame: Any,
    *,
    caption: str | None = None,
    over: str | None = None,
    digits: int = 3,
    alpha: float = 0.05,
    intervals: bool = False,
) -> str:
    """Write the result of a verb as a Markdown table, for example for a comment on a pull request.

    Parameters
    ----------
    frame, caption, over, digits, alpha, intervals : as in ``html``.

    Raises
    ------
    FrameMetricsError
        There is no such column, or this is not a frame.

    Examples
    --------
    >>> import polars as pl, frame_metrics
    >>> runs = pl.DataFrame({"query": [1, 1], "run": ["a", "b"], "score": [1.0, 1.0], "grade": [1, 0]})
    >>> print(frame_metrics.report.markdown(runs.irm(system="run").evaluate("rr", layout="wide")))
    | run | average | n | rr | rr_undefined |
    | :-- | :-- | --: | --: | --: |
    | a | macro | 1 | **1.000** | 0 |
    | b | macro | 1 | 0.000 | 1 |
    <BLANKLINE>
    Bold: the best run.
    """
    return in_markdown(result_table(frame, caption, over, digits, alpha, intervals))
