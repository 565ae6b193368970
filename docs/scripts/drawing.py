"""Draw the house of contributing.md: each room of the package stands above those that it imports."""

from __future__ import annotations

import textwrap
from functools import cache

# What is in each room.
ROOMS = {
    "errors": "the classes of errors, in the caller's words",
    "threads": "blocks worked on side by side",
    "hidden": "names of the columns that the package makes",
    "inputs": "what kernels read: rankings, tables, scores; arrays only",
    "metrics": "the decorator, names, and the kernels: one function each",
    "answer": "what a verb returns, before the backend makes a frame of it",
    "roles": "what each column is used for; conventions; checked values",
    "stats": "averages, intervals, tests, corrections; arrays only",
    "backends": "frames in and out, one class for each kind; files of TREC",
    "fast": "equal rows found, numbered, sorted and joined, fast",
    "keys": "systems, segments and queries: numbers and values",
    "data": "queries, segments, judgments joined, blocks in rank order",
    "plan": "what is asked of which columns, checked before a value is read",
    "measuring": "queries and rows measured, at once or in pieces, and joined",
    "verbs": "one file or folder for each verb, from a plan to tidy rows",
    "plot": "pictures of the frames that verbs return",
    "report": "reports and tables, laid out from what verbs return",
    "misuse": "errors of calls with what a verb does not take",
    "accessor": "IRM: each verb's signature and documentation, and one call",
    "register": "df.irm on every kind of frame",
    "typing": "the types in signatures, under one roof",
    "testing": "laws that a metric of your own can be checked by",
    "command": "the command line",
    "__init__": "public names only",
    "__main__": "python -m frame_metrics",
}
WIDTH, HEIGHT, ACROSS, DOWN = 235, 62, 20, 34  # of a room, and the space between two
STYLE = """\
text { font: 12px system-ui, sans-serif; fill: #1f2933; }
.name { font: bold 14px ui-monospace, monospace; }
rect { fill: #eef2f7; stroke: #7b8794; rx: 6px; }
.arrays { fill: #e3f1e5; }
path { fill: none; stroke: #7b8794; stroke-width: 1.4; }
"""


def drawing(house: dict[str, set[str]], without_frames: tuple[str, ...]) -> str:
    """Return the rooms as SVG, with a line to each that is imported and not reached through another."""
    floors = list(reversed(floors_of(house)))
    widest = max(map(len, floors)) * (WIDTH + ACROSS) + ACROSS
    tall = len(floors) * (HEIGHT + DOWN)
    places = {
        room: ((widest + ACROSS) / 2 + (i - len(floor) / 2) * (WIDTH + ACROSS), j * (HEIGHT + DOWN) + 8.0)
        for j, floor in enumerate(floors)
        for i, room in enumerate(floor)
    }
    lines = [line(places[room], places[low]) for room in house for low in sorted(nearest(house, room))]
    boxes = [box(room, *places[room], room in without_frames) for room in house]
    size = f'viewBox="0 0 {widest} {tall}" width="{widest}" height="{tall}"'
    title = "<title>Which part of the package imports which</title>"
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">\n{title}\n<style>\n{STYLE}</style>'
    return "\n".join([opening, *lines, *boxes, "</svg>", ""])


def floors_of(house: dict[str, set[str]]) -> list[list[str]]:
    """The rooms floor by floor, the lowest first; each stands on the floor above the highest that it imports."""

    @cache
    def floor(room: str) -> int:
        return max((floor(low) + 1 for low in house[room]), default=0)

    return [[room for room in house if floor(room) == level] for level in range(max(map(floor, house)) + 1)]


def nearest(house: dict[str, set[str]], room: str) -> set[str]:
    """The rooms that a room imports, without those that these import."""

    def below(one: str) -> set[str]:
        return house[one].union(*map(below, house[one]))

    return house[room].difference(*map(below, house[room]))


def line(high: tuple[float, float], low: tuple[float, float]) -> str:
    """A line from the foot of a room to the roof of another."""
    (x, y), (to_x, to_y) = (high[0] + WIDTH / 2, high[1] + HEIGHT), (low[0] + WIDTH / 2, low[1])
    return f'<path d="M{x:g} {y:g} C{x:g} {y + DOWN:g} {to_x:g} {to_y - DOWN:g} {to_x:g} {to_y:g}"/>'


def box(room: str, x: float, y: float, arrays: bool) -> str:
    """A room with its name and what is in it; green where no frame library is known."""
    rows = textwrap.wrap(ROOMS[room], 33)
    said = "".join(f'<text x="{x + 10:g}" y="{y + 37 + 15 * i:g}">{row}</text>' for i, row in enumerate(rows))
    kind = ' class="arrays"' if arrays else ""
    name = f'<text class="name" x="{x + 10:g}" y="{y + 19:g}">{room}</text>'
    return f'<rect{kind} x="{x:g}" y="{y:g}" width="{WIDTH}" height="{HEIGHT}"/>{name}{said}'
