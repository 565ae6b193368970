"""Sections of a report that a reader unfolds: segments, curves, other queries, conventions, and what is left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from frame_metrics.backends.tables import Cell, Table
from frame_metrics.report.blocks import Block, Fold, Group, Picture
from frame_metrics.report.cells import cell_of, counted, number_text, plain_text, table_of
from frame_metrics.report.comparison_tables import comparison_tables, rank_moves
from frame_metrics.report.content import SYSTEMS, Content, Ranked
from frame_metrics.report.of_breaks import lost_across
from frame_metrics.report.result_tables import LONGEST_CELL, crossed_table, grouped_rows, wide_table

USUAL = {"discount": None, "judged": True, "undefined": False}  # columns of results that say nothing but this


def drawn_of(pictures: Mapping[str, Picture], *names: str) -> list[Block]:
    return [pictures[name] for name in names if name in pictures]


def folds_of_segments(content: Content, pictures: Mapping[str, Picture]) -> Iterator[Block]:
    """Yield the averages in segments."""
    yield from drawn_of(pictures, *(["segments"] if content.system else []))
    if content.segments is not None:
        frame, title = grouped_rows(content.segments, content.by), f"By {', '.join(map(plain_text, content.by))}"
        yield wide_table(content, frame, segment_and_system_columns(content, frame), title)
    if content.compared.in_segments is not None:
        yield from comparison_tables(content, grouped_rows(content.compared.in_segments, content.by))


def all_differences(content: Content, pictures: Mapping[str, Picture]) -> Iterator[Block]:
    """Yield all differences of systems, and the queries on which others differ most."""
    frame = content.compared.differences
    if frame is not None and len(frame):
        yield from drawn_of(pictures, "all differences")
        yield from [*comparison_tables(content, frame), *drawn_of(pictures, "other differences"), *rank_moves(content)]


def curves(content: Content, pictures: Mapping[str, Picture]) -> Iterator[Block]:
    """Yield the curves."""
    yield from drawn_of(pictures, *(name for name in pictures if name.startswith("curve")))
    if "cutoffs" in content.curves:
        curve = grouped_rows(content.curves["cutoffs"], ["metric"])
        yield crossed_table(
            content, curve, ["metric", *segment_and_system_columns(content, curve)], "k", "Metrics at cutoffs"
        )


def queries(content: Content, pictures: Mapping[str, Picture]) -> Iterator[Block]:
    """Yield the values over queries, and the best and the worst queries of some systems."""
    yield from drawn_of(pictures, "queries")
    frame, extremes = content.queries.quantiles, content.queries.extremes
    if frame is not None and len(frame):
        caption = f"{content.first} over {content.unit}"
        yield crossed_table(content, frame, segment_and_system_columns(content, frame), "average", caption)
    unlisted = dict[str, None]()
    groups = dict.fromkeys((one.system, one.kind) for one in extremes)
    opened = open_queries(content) if groups else None
    for system, kind in groups:
        if (system, kind) == opened:
            continue
        some = [one for one in extremes if (one.system, one.kind) == (system, kind)]
        of = f": {plain_text(system, LONGEST_CELL)}" if content.system else ""
        title = f"{kind.capitalize()} {content.unit} by {content.first}{of}"
        if alike := _note_of_equal_values(content, some):
            unlisted.setdefault(alike)
            continue
        explained = any(one.results is not None for one in some)
        yield Group(
            title, [explained_fold(one) for one in some] if explained else [table_of_rankings(content, some, title)]
        )
    yield from [*unlisted, *(_not_listed(content) if extremes else [])]


def _note_of_equal_values(content: Content, some: Sequence[Ranked]) -> str:
    """Return words for queries that have the same value as more than are shown, so that none is worse; else ""."""
    values, (first, *others) = content.queries.values, some
    if values is None or not others or any(one.value != first.value for one in others):
        return ""
    own = values if content.system is None else values.filter(pl.col(content.system).eq_missing(pl.lit(first.system)))
    n = len(own.filter(pl.col("value") == first.value, ~pl.col("undefined")))
    of = f" of {plain_text(first.system, LONGEST_CELL)}" if content.system else ""
    unit, has = (content.unit, "have") if n > 1 else (counted(1, content.unit), "has")
    same = f"{n:,} {unit}{of} {has} {content.first} {number_text(first.value)}, and none is listed."
    return same if n > len(some) else ""


def open_queries(content: Content) -> tuple[Any, str] | None:
    """Return whose queries stand in the open part, and which: none where those are that lost most."""
    other = lost_across(content) is not None or content.pairs.has_losses()
    return None if other else (content.best, "worst")


def _not_listed(content: Content) -> Iterator[str]:
    """Yield notes about queries that are not listed: those with undefined values, and those of other systems."""
    values, undefined = content.queries.values, content.queries.undefined
    systems = values[content.system].n_unique() if values is not None and content.system else 0
    if undefined:
        what = "a click" if content.clicks else f"a value of {content.first}"
        yield f"{counted(undefined, content.unit)} without {what} {'is' if undefined == 1 else 'are'} not listed."
    if systems > SYSTEMS:
        yield (
            f"Queries of {SYSTEMS} of {systems:,} systems, the best by {content.first} and the baseline among them; "
            "per_query() returns those of all."
        )


def segment_and_system_columns(content: Content, frame: pl.DataFrame) -> list[str]:
    """Return the columns of segments and systems that a frame has."""
    return [name for name in (*content.by, content.system) if name in frame.columns]


def table_of_rankings(content: Content, some: Sequence[Ranked], caption: str) -> Table:
    keys = [*content.by, *content.query]
    rows = [
        [*(cell_of(key, one.keys[key], longest=LONGEST_CELL) for key in keys), cell_of("value", one.value)]
        for one in some
    ]
    return Table([*map(plain_text, keys), "value"], rows, [*[False] * len(keys), True], caption)


def explained_fold(one: Ranked, name: str = "") -> Fold:
    text = ", ".join(plain_text(value, LONGEST_CELL) for value in one.keys.values())
    summary = Cell(text, subtext=number_text(one.value))
    if one.results is None:
        return Fold(summary, ["Its results cannot be taken apart by these metrics."], name)
    frame = one.results.drop(name for name, usual in USUAL.items() if (one.results[name].eq_missing(usual)).all())
    table = table_of(frame, caption=text, longest=LONGEST_CELL)
    notes = [f"contribution: to {one.explained}; without a rank: relevant, and not found."]
    notes += [f"{one.more:,} more {'is' if one.more == 1 else 'are'} not shown."] if one.more else []
    return Fold(summary, [replace(table, notes=notes)], name)


def folded_conventions(content: Content, pictures: Mapping[str, Picture]) -> Iterator[Block]:
    """Yield the conventions of the call, and the versions of the libraries."""
    basis = content.basis
    for caption, rows in (
        (f"Roles of the columns of a {basis.kind}", basis.roles),
        ("Conventions in force", basis.conventions),
        ("Metrics", content.directions),
        ("Versions", [{"library": name, "version": version} for name, version in basis.versions.items()]),
    ):
        if rows:
            yield table_of(pl.DataFrame(rows), caption=caption)


def folded_absent(content: Content, pictures: Mapping[str, Picture]) -> Iterator[Block]:
    """Yield what the report leaves out, and why."""
    if content.absent_sections:
        yield table_of(pl.DataFrame(content.absent_sections), caption="What could not be computed, and why")
