"""The picture of the README: what examples/search_the_docs.py measured, with intervals, drawn for a phone too."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

OUTPUT = Path(__file__).parents[2] / "examples" / "output" / "search_the_docs.txt"
CONTROL = "control (leaks)"
SYSTEMS = {"names over text": "#0072b2", "text only": "#d55e00", "names only": "#009e73", CONTROL: "#6e7781"}
METRICS = {"ndcg@10": "nDCG@10", "success@1": "the right one first (success@1)", "recall@100": "recall@100"}
WIDTH, LEFT, RIGHT, ROW = 420, 144, 62, 25
LOW, HIGH, TICKS = 0.15, 0.95, (0.2, 0.4, 0.6, 0.8)
STYLE = (
    "svg{color:#1f2328;font:15px system-ui,sans-serif}@media(prefers-color-scheme:dark){svg{color:#e6edf3}}"
    "text{fill:currentColor}.b{font-weight:700}.s{font-size:13px;opacity:.8}.e{text-anchor:end}.m{text-anchor:middle}"
    "line{stroke-width:11;stroke-opacity:.5}path{stroke:currentColor;opacity:.25}"
)


def measured() -> tuple[dict[tuple[str, str], tuple[float, float, float]], int]:
    """Value and ends of the interval by metric and system, and the number of queries, as the example printed them."""
    lines = [re.split(r" {2,}", line.strip()) for line in OUTPUT.read_text(encoding="utf-8").splitlines()]
    head = next(line for line in lines if {"system", "metric", "value", "ci_low", "ci_high"} <= {*line})
    rows = [dict(zip(head, line, strict=True)) for line in lines if len(line) == len(head) and line[0] in SYSTEMS]
    values = {
        (row["metric"], row["system"]): (float(row["value"]), float(row["ci_low"]), float(row["ci_high"]))
        for row in rows
    }
    return values, int(rows[0]["n"])


def front() -> str:
    """The text of the SVG."""
    values, n = measured()
    parts = [
        text(0, 18, "Which search finds it?", "b"),
        text(0, 38, f"{n} queries, three searches and a control; bars: 95 % intervals.", "s"),
        text(0, 56, "The control finds the query itself in its text.", "s"),
    ]
    top = 84
    for metric, title in METRICS.items():
        parts.append(text(LEFT, top, title, "b"))
        best = max(values[metric, system][0] for system in SYSTEMS if system != CONTROL)
        parts += [f'<path d="M{x(one):g} {top + 8}v{ROW * len(SYSTEMS) - 2}"/>' for one in TICKS]
        for i, system in enumerate(sorted(SYSTEMS, key=lambda one: -values[metric, one][0])):
            parts += row(
                top + 20 + ROW * i,
                system,
                values[metric, system],
                system != CONTROL and values[metric, system][0] == best,
            )
        top += ROW * len(SYSTEMS) + 36
    parts += [text(x(one), top - 14, f"{one:g}", "s m") for one in TICKS]
    size = f'width="{WIDTH}" height="{top - 4}" viewBox="0 0 {WIDTH} {top - 4}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}><style>{STYLE}</style>\n' + "\n".join(parts) + "\n</svg>\n"


def row(y: float, system: str, ends: tuple[float, float, float], best: bool) -> list[str]:
    """The line of a system: its name, its interval and mean, and the number, bold for the best."""
    value, low, high = ends
    line = f'<line x1="{x(low):.1f}" x2="{x(high):.1f}" y1="{y}" y2="{y}" stroke="{SYSTEMS[system]}"/>'
    dot = f'<circle cx="{x(value):.1f}" cy="{y}" r="4" fill="{SYSTEMS[system]}"/>'
    number = text(WIDTH - 4, y + 5, f"{value:.3f}", "e b" if best else "e")
    return [text(LEFT - 12, y + 5, system, "e"), line, dot, number]


def x(value: float) -> float:
    return LEFT + (value - LOW) / (HIGH - LOW) * (WIDTH - LEFT - RIGHT)


def text(left: float, y: float, said: str, kind: str) -> str:
    return f'<text x="{left:g}" y="{y:g}" class="{kind}">{escape(said)}</text>'
