"""Tables of comparisons: differences, leaderboards, and what moved in the rankings of queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from frame_metrics.backends.tables import NOTHING, Cell, Table
from frame_metrics.report.blocks import Block, Fold, Group
from frame_metrics.report.cells import ALPHA, cell_of, corrections, number_text, plain_text, sign_of, table_of
from frame_metrics.report.content import Content, Ranked
from frame_metrics.report.result_tables import (
    CALLED,
    LONGEST_CELL,
    TABLE_ROWS,
    ci_level,
    difference_interval,
    interval_cell,
    left_out_note,
    with_cells,
)
from frame_metrics.report.short_names import LONGEST
from frame_metrics.report.words import MACHINE, percent, side_text
from frame_metrics.verbs.compare.margins import OF_MARGIN

NOT_FOUND = 10**9  # the first place for relevant documents without a rank, after all others
OF_PAIRS = (
    f"Values differ a little from those of Results: here the {MACHINE} has the weight that is best for the difference."
)
NOT_OF_MEANS = f"Not the differences of the means in Results: here the {MACHINE} has the weight best for differences."
ALL_COLUMNS = "All columns of this table"
MDE = "mde: the smallest difference that so many would show in four of five tests."


def leaderboard_table(content: Content, board: pl.DataFrame, most: int) -> Block:
    """Return the table of systems in order, with the ranks that each may have, and which may be the best.

    ``most``: the most rows that are open; more are folded, as the picture has the best.
    """
    system = str(content.system)
    names = ["rank", plain_text(system), board["metric"][0], "possible ranks", "may be the best"]
    cells = [
        [
            cell_of("rank", row["rank"]),
            cell_of(system, row[system], longest=LONGEST_CELL),
            replace(cell_of("value", row["value"]), subtext=interval_cell(row)),
            Cell(_ranks(row)),
            Cell({True: "yes", False: "no"}.get(row["may_be_best"], NOTHING)),
        ]
        for row in board.head(TABLE_ROWS).iter_rows(named=True)
    ]
    notes = [f"The ranks of all hold together, and the best is among those that may be it, at {percent(content.ci)}."]
    if board["reliability"].count():
        known = number_text(board["reliability"].drop_nulls()[0])
        notes.append(
            f"Reliability {known}: 1 if all queries show the same differences of systems, 0 if they are due to chance."
        )
    notes += [left_out_note(len(board), content)] if len(board) > TABLE_ROWS else []
    under = f"the {ci_level(content)}" if content.ci else ""
    whole = Table(names, cells, [True, False, True, False, False], "Systems in order", notes, under)
    return whole if len(cells) <= most else Fold(Cell("All systems in order"), [whole])


def _ranks(row: Mapping[str, Any]) -> str:
    low, high = row["rank_low"], row["rank_high"]
    return NOTHING if low is None else str(low) if low == high else f"{low} to {high}"


def main_differences(content: Content, frame: pl.DataFrame, most: int) -> Table:
    """Return the differences by the first metric, or by all metrics of one pair, with few columns."""
    pair = [name for name in _sides(content, frame) if frame[name].n_unique() > 1]
    frame = content.of_compared(frame) if pair else frame
    some = content.foremost_rows(frame, most)
    made = _table_of_differences(content, frame, some, pair or ["metric"], _values(content))
    return replace(made, notes=[*made.notes, NOT_OF_MEANS]) if content.n_proxy else made


def _sides(content: Content, frame: pl.DataFrame) -> list[str]:
    """Return the columns of a pair that a comparison has."""
    return [name for name in (str(content.system), "baseline") if name in frame.columns]


def _table_of_differences(
    content: Content, frame: pl.DataFrame, some: pl.DataFrame, keys: Sequence[str], figures: Sequence[str]
) -> Table:
    """Return some rows of a comparison as a table, with the interval under each difference.

    What is the same in all rows of ``frame``, and no column, is in the title or the head of a column. ``keys``: the
    columns that say what is compared; ``figures``: those that stand after the p-value.
    """
    by = [name for name in content.by if name in frame.columns]
    only = [*by, *keys, "difference", "p_adjusted", *figures]
    same = {name: plain_text(frame[name][0], LONGEST_CELL) for name in ("metric", *_sides(content, frame))}
    same = {name: text for name, text in same.items() if name not in keys and frame[name].n_unique() == 1}
    heads = CALLED | ({} if corrections(frame) else {"p_adjusted": "p"}) | _heads(content, same)
    of = "".join(f" of {text}" for name, text in same.items() if name != "baseline")
    against = f" from {same['baseline']}" if "baseline" in same else ""
    caption = f"Differences{of}{against}"
    made = table_of(some, caption=caption, only=only, alpha=ALPHA, longest=LONGEST_CELL, called=heads)
    ends = [difference_interval(row, content.ci) for row in some.iter_rows(named=True)]
    made = with_cells(made, only.index("difference"), subtext=ends)
    return replace(made, subtext=f"the {ci_level(content)} of the difference")


def _heads(content: Content, same: Mapping[str, str]) -> dict[str, str]:
    """Return the heads of columns of one side, by its name where that is short; counts of both arms say so."""
    own, base = same.get(str(content.system), ""), same.get("baseline", "")
    heads = {"value": own} if 0 < len(own) <= LONGEST else {}
    heads |= {"baseline_value": base, "baseline_n": f"n of {base}"} if 0 < len(base) <= LONGEST else {}
    heads |= {"n": f"n of {own}"} if content.arms and 0 < len(own) <= LONGEST else {}
    return heads | ({"n_undefined": "undefined in both"} if content.arms else {})


def _values(content: Content) -> list[str]:
    """Return the columns of both values; none of people and a machine, whose pairs have other means than systems."""
    return [] if content.n_proxy else ["value", "baseline_value"]


def comparison_tables(content: Content, frame: pl.DataFrame) -> list[Block]:
    """Return the main columns of a comparison as a table, and a fold with all columns."""
    system = [content.system] if content.system in frame.columns else []
    first_rows = content.foremost_rows(frame, TABLE_ROWS)
    # The main columns: keys and figures, and counts that are not all 0.
    rare = ("n_proxy", "baseline_n", "n_unpaired", "n_undefined", "n_unanswered", "n_unjudged", "baseline_n_unjudged")
    counted: list[str] = [name for name in rare if name in frame.columns and frame[name].sum()]
    tests = frame["test"].drop_nulls().unique().sort().to_list()
    counted += ["test"] if len(tests) > 1 else []
    wins = [name for name in ("wins", "losses") if name in frame.columns and frame[name].count()]
    margin = [name for name in OF_MARGIN[:1] if name in frame.columns]
    keys = [name for name in ("metric", *_sides(content, frame)) if frame[name].n_unique() > 1]
    keys = keys or ([] if {*content.by} & {*frame.columns} else ["metric"])
    made = _table_of_differences(content, frame, first_rows, keys, [*margin, *_values(content), *wins, "n", *counted])
    caption = f"{made.caption}{f' ({tests[0]} test)' if len(tests) == 1 else ''}"
    notes = [*made.notes]
    if adjusted := content.compared.adjusted:
        how = "" if content.compared.adjusted_by_strata else " (CUPED)"
        notes.append(f"Means and differences are adjusted by {plain_text(adjusted)}{how}; Results are not.")
    notes += [left_out_note(len(frame), content if system else None)] if len(frame) > TABLE_ROWS else []
    every = table_of(first_rows, caption=ALL_COLUMNS, longest=LONGEST_CELL)
    notes_of_all = [MDE, *([OF_PAIRS] if content.n_proxy else [])]
    rest = Fold(Cell(ALL_COLUMNS), [replace(every, notes=notes_of_all)])
    return [replace(made, caption=caption, notes=notes), rest]


def rank_moves(content: Content) -> list[Block]:
    """Return the queries on which two systems differ most: a table, or their results rank by rank, for each pair."""
    blocks: list[Block] = []
    for at, part in enumerate(content.pairs.moved()):
        sign = sign_of(content.first_compared)
        if content.has_baseline and at == 0 and sign:  # those that lost are in the open part
            part = part.filter(pl.col("difference") * sign > 0)
        if part.is_empty():
            continue
        pair = (part[content.system][0] if content.system else None), part["baseline"][0]
        ours, theirs = (side_text(one, LONGEST_CELL) for one in pair)
        caption = f"{content.first}: queries on which {ours} and {theirs} differ most"
        own = {repr(list(row)) for row in part.select(*content.keys_of(part)).iter_rows()}
        duels = [duel for duel in content.queries.duels if (duel[0].system, duel[1].system) == pair]
        duels = [duel for duel in duels if repr([*duel[0].keys.values()]) in own]
        keys = content.keys_of(part)
        only = [*keys, "difference", "value", "baseline_value"]
        table = table_of(part, caption=caption, only=only, longest=LONGEST_CELL, called=CALLED)
        blocks.append(Group(caption, [rank_by_rank(duel) for duel in duels]) if duels else table)
    return blocks


def rank_by_rank(pair: Sequence[Ranked], name: str = "") -> Fold:
    """Return the results of two systems for a query side by side, and below them the documents that were not found."""
    names, rows = ["rank"], dict[int, list[list[Cell]]]()
    for at, (one, frame) in enumerate((one, one.results) for one in pair if one.results is not None):
        columns = [*frame.columns[: frame.columns.index("rank")], "gain"]
        names += [f"{plain_text(one.system, LONGEST_CELL)}: {name}" for name in columns]
        for place, row in enumerate(frame.iter_rows(named=True)):
            cells = [cell_of(name, row[name], longest=LONGEST_CELL) for name in columns]
            blank = [[Cell(NOTHING)] * len(columns)] * 2
            sides = rows.setdefault(row["rank"] or NOT_FOUND + place, blank.copy())
            sides[at] = cells if row["judged"] else [*cells[:-1], Cell("not judged")]
    text = ", ".join(plain_text(value, LONGEST_CELL) for value in pair[0].keys.values())
    values = " against ".join(number_text(one.value) for one in pair)
    numbers = [name == "rank" or name.endswith(": gain") for name in names]
    title = f"{text}: {values}"
    table = Table(names, [[_rank_cell(rank), *rows[rank][0], *rows[rank][1]] for rank in sorted(rows)], numbers, title)
    return Fold(Cell(title, subtext=f"{pair[0].value - pair[1].value:+.3f}"), [table], name)


def _rank_cell(rank: int) -> Cell:
    return cell_of("rank", rank) if rank < NOT_FOUND else Cell("not found")
