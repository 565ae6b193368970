"""Errors of columns that were named for another part than they have, with the part that their values show."""

from __future__ import annotations

import re

import polars as pl

from frame_metrics.command.commands import options_of
from frame_metrics.command.files import reading
from frame_metrics.command.files.columns_there import column_for, likeness
from frame_metrics.command.frames import Frames
from frame_metrics.command.offers.named_metrics import is_metric
from frame_metrics.command.periods import FIRST_ROWS, holds_dates
from frame_metrics.errors import FrameMetricsError
from frame_metrics.metrics.metric import TAKES_TOP
from frame_metrics.metrics.names import read

NO_PERIODS = re.compile(r"name the column of periods with arm=|--since requires the column of dates")
BY_RANK = "is the by, and a column can have only one role; name the rank"
OF_JUDGMENTS = re.compile(r"judge: (?=name the .*?columns? of the judgments with (.+); they have )")
IN_JUDGMENTS = re.compile(r"name it there, judge\(\.\.\., (query|doc)=('[^']*')\)")
MANY_DAYS = 7  # of which weeks are made
OF_TOP = "of the top tenth"  # the part of an error by which a cutoff of rows without a query is recognised
CLICK_RATES = ("ctr", "success", "precision")


def of_columns(frames: Frames, error: FrameMetricsError) -> FrameMetricsError:
    """Return an error with the part that a column likely has; another error as it is."""
    message, by = str(error), [one for one in reading.each(frames.call.roles.get("by")) if isinstance(one, str)]
    if NO_PERIODS.search(message):
        return _of_dates(frames, error, by)
    if named := OF_JUDGMENTS.match(message):
        return _of_judgments(frames, error, named[1])
    if there := IN_JUDGMENTS.search(message):
        error.args = (message.replace(there[0], f"pass qrels_{there[1]}={there[2]}"),)
        return error.offering({f"{there[1]}=": []}, **{f"qrels_{there[1]}": there[2][1:-1]})
    if OF_TOP in message:
        return _of_top_rows(frames, error)
    queries = next((few for degree in (2, 1) if (few := [one for one in by if likeness("query", one) >= degree])), [])
    if "query" in error.options and len(queries) == 1 and len(by) > 1:
        told = type(error)(f"{message}; pass --query {queries[0]} in the place of --by {queries[0]}")
        return told.offering(query=queries[0], by=[one for one in by if one != queries[0]])
    ranks, metrics = [one for one in by if likeness("rank", one) == 2], frames.call.metrics
    unranked = BY_RANK in message or {"rank", "score"} & {*error.options}
    of_clicks = {one.partition("@")[0] for one in metrics} <= {*CLICK_RATES}
    if ranks and unranked and of_clicks and frames.call.name in ("evaluate", "curve"):
        told = type(error)(f"{message}; the rate at each rank is curve ctr, with --rank {ranks[0]}")
        gone: dict[str, list[str]] = {"by=": [], "metric=": [], **{one: [] for one in metrics}}
        return told.offering(gone | {frames.call.name: ["curve"]}, rank=ranks[0], metric="ctr")
    return error


def _of_top_rows(frames: Frames, error: FrameMetricsError) -> FrameMetricsError:
    """Return the error about cutoffs of rows without a query with the share of the rows that so many are."""
    n, shares = frames.rows.select(pl.len()).collect().item(), dict[str, list[str]]()
    for name, metric in read([one for one in frames.call.metrics if is_metric(one)]):
        if metric.k and metric.k < n and metric.name in TAKES_TOP:
            shares[name] = [f"{metric.name}(top={metric.k / n})"]
    return error.offering(shares) if shares else error


def _of_judgments(frames: Frames, error: FrameMetricsError, lacking: str) -> FrameMetricsError:
    """Return the error about columns of judgments beside a log with the options that name them, not those of the log.

    ``lacking``: the options of ``judge`` that it names.
    """
    error.args = (re.sub(r"\b(query|doc)=", r"qrels_\1=", OF_JUDGMENTS.sub("--qrels: ", str(error))),)
    roles, files = [one for one in ("query", "doc") if f"{one}=" in lacking], frames.call.set_options["qrels"]
    columns = {f"qrels_{role}": column_for(role, files[:1]) or ... for role in roles}
    return error.offering(**columns, **({"grade": ...} if "grade=" in lacking else {}))


def _of_dates(frames: Frames, error: FrameMetricsError, by: list[str]) -> FrameMetricsError:
    """Return the error about periods without a column with the column of dates, and weeks if it has many days."""
    rows = frames.rows.head(FIRST_ROWS).collect()
    dates = [one for one in [*by, *rows.columns] if one in rows.columns and holds_dates(rows[one])]
    if not dates:
        return error
    others, gone = [one for one in by if one != dates[0]], dict[str, list[str]]()
    options = {"arm": dates[0]} | ({"by": others} if others and others != by else {})
    if by and not others:
        gone = {"by=": []}
    many = "every" in options_of(frames.call.name) and not {"since", "every"} & {*frames.call.set_options}
    if many and frames.rows.select(pl.col(dates[0]).n_unique()).collect().item() > MANY_DAYS:
        options["every"] = "1w"
        way = f"pass --arm {dates[0]} with --every 1w, or with --since and the first day of the later period"
        return type(error)(f"{error}; {way}").offering(gone, **options)
    return type(error)(f"{error}; {dates[0]} has dates").offering(gone, **options)
