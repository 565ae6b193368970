"""Checks of click logs: lists that compare no teams, and clicks that positions may explain."""

from __future__ import annotations

import polars as pl

from frame_metrics.data.log import Log
from frame_metrics.inputs import Array
from frame_metrics.keys.groups import as_text
from frame_metrics.measuring.impressions import FEWEST
from frame_metrics.roles.columns import Columns, order_column_in
from frame_metrics.verbs.audit.checks import Counted, RankedBlock, Seen, check


@check("warning", "queries")
def lists_without_two_teams(log: Log) -> Seen:
    """{columns.team} says which system contributed a row, and these lists show rows of at most one system:
    interleaving() leaves them out
    """
    if not log.columns.team:
        return Seen(0)
    teams = pl.col("team").filter(pl.col(order_column_in(log.table) or "team").is_not_null()).drop_nulls()
    grouped = log.table.with_row_index("row").group_by(_keys_of_lists(log), maintain_order=True)
    lists = grouped.agg(pl.first("row"), teams.n_unique().alias("teams"))
    return _seen_lists(lists.filter(pl.col("teams") < 2), lists, log)


@check("info", "rows")
def rows_of_no_team(log: Log) -> Seen | None:
    """{columns.team} is null: they count for no team"""
    return Seen(log.table["team"].null_count(), len(log.table)) if log.columns.team else None


@check("info", "clicks", of="hits")
def clicks_at_the_first_rank(block: RankedBlock) -> Array | None:
    """clicks at rank 1, where users look first, and where a good ranker puts the best result. click_judgments("coec")
    takes the whole difference between ranks for an effect of position, so it is biased if better results stand higher
    """
    return block.run.hits(1) if _of_clicks(block.log.columns) else None


@check("warning", "results")
def clicks_without_what_was_shown(counts: Counted) -> Seen:
    """every result is relevant, and ranks are missing: if the log has only what was clicked, add what was shown, with
    label 0, and the searches without a click; until then values are far too high
    """
    columns, results = counts.log.columns, int(counts["results"].sum())
    if not (columns.rank and columns.label) or columns.grade or columns.n_relevant:
        return Seen(0, results)
    clicked = results >= FEWEST and counts["hits"].sum() == results
    missing = counts["ranks with gaps"].any() or counts["ranks that begin late"].any()
    return Seen(results if clicked and missing else 0, results)


@check("info", "queries", rises=(0.5, "warning"))
def systems_that_share_no_rank(log: Log) -> Seen:
    """each rank is of one value of {columns.system}, as in interleaved lists, whose rows are those of teams: name this
    column with team= in the place of system=, and interleaving() says which team users prefer
    """
    if not log.columns.systems_have_rows or "rank" not in log.table.columns:
        return Seen(0)
    rows = log.table.with_row_index("row").filter(pl.col("rank").is_not_null())
    places = rows.group_by(_keys_of_lists(log), maintain_order=True).agg(
        pl.first("row"), several=pl.n_unique("system") > 1, apart=pl.n_unique("rank") == pl.len()
    )
    lists = places.filter("several")
    return _seen_lists(lists.filter("apart"), lists, log)


def _keys_of_lists(log: Log) -> list[str]:
    """Return the columns that identify a list, which rows of several systems may share."""
    _, by, query = log.columns.internal_by_role
    return [*by, *query]


def _seen_lists(found: pl.DataFrame, lists: pl.DataFrame, log: Log) -> Seen:
    """Count what was found of all ``lists``, of which each has its first row of the log in the column "row"."""
    at = int(log.rows(found["row"][:1].to_numpy().astype("int64")).max(initial=-1))
    return Seen(len(found), len(lists), as_text(found.select(_keys_of_lists(log))), at=at)


def _of_clicks(columns: Columns) -> bool:
    """Return True for a log of clicks: it has queries, documents and ranks, and its judgments are called clicks."""
    judgment = str(columns.label or columns.grade).lower()
    return bool(columns.rank and columns.doc and columns.query and "click" in judgment)
