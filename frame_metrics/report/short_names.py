"""Long names cut in the middle: in tables of few systems of many, and in sentences after the first that has them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from frame_metrics.backends.tables import Cell, Table

LONGEST = 24  # the most letters of a name that is not cut


def cut_in_the_middle(name: str) -> str:
    """Return a name with its begin and its end, if it is long."""
    half = LONGEST // 2
    return name if len(name) <= LONGEST else f"{name[:half]}…{name[1 - half :]}"


def short_table(table: Table) -> Table:
    """Return a table of few systems of many: long names are cut, and only the first number has a range."""
    rows, first = [], table.numbers.index(True) if True in table.numbers else 0
    first += table.names[first] == "n"  # a count has no interval
    for row in table.rows:
        cells = [cell if at <= first else replace(cell, subtext="") for at, cell in enumerate(row)]
        rows.append([_cut(cell) if cell.value is None else cell for cell in cells])
    return replace(table, rows=rows if _differ(rows) >= _differ(table.rows) else table.rows)


def _cut(cell: Cell) -> Cell:
    """Return a cell whose text is not long, with the whole text as its title."""
    short = cut_in_the_middle(cell.text)
    return cell if short == cell.text else replace(cell, text=short, whole=cell.text)


def _differ(rows: Sequence[Sequence[Cell]]) -> int:
    """Return how many rows have other texts than all others."""
    return len({tuple(cell.text for cell in row if cell.value is None) for row in rows})


def in_full_once(sentences: Sequence[str], names: Iterable[str]) -> list[str]:
    """Return sentences in which each long name is in full the first time, and cut later, if all stay different."""
    short = {name: cut_in_the_middle(name) for name in dict.fromkeys(names)}
    long = sorted((name for name, cut in short.items() if cut != name), key=len, reverse=True)
    if not long or len({*short.values()}) < len(short):
        return [*sentences]
    each, seen = re.compile("|".join(map(re.escape, long))), set[str]()

    def written(found: re.Match[str]) -> str:
        first = found[0] not in seen
        seen.add(found[0])
        return found[0] if first else short[found[0]]

    return [each.sub(written, sentence) for sentence in sentences]
