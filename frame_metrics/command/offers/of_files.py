"""Errors of two files, or of a log and that of before, that another command compares: other rows, or the same."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence

import polars as pl

from frame_metrics.command.call import FILE, OF_FILES, OF_PAGES, CommandLine
from frame_metrics.command.commands import options_of
from frame_metrics.command.files import reading
from frame_metrics.command.files.columns_there import likeness
from frame_metrics.command.frames import Frames
from frame_metrics.command.front import PROGRAM
from frame_metrics.command.offers.whole import unused
from frame_metrics.errors import FrameMetricsError, listed, quote
from frame_metrics.roles.columns import ROLES

# Errors of what is paired, and has nothing in common; behind it they have the ways of one frame with a column.
OTHER_ROWS = re.compile(
    r".*(no document has rows of two systems"
    r"|no other system has results of any of them|to pair rows without a query, name .* with (--doc|doc=))"
)
SAME_QUERIES = re.compile(r".* in every \w+ of (.+), as if systems had answered the same queries")
# Errors of rows without a query, which the ids that both files have would pair.
NO_IDS = re.compile(
    r"to pair rows without a query|pairs rows by document; name|compares classes of rows without a query"
    r"|(?:--query \S+|query=\S+) is the doc too"
)
LACKING = re.compile(r"the query is missing; [^;]*; (?=to pair)|; leave it out, or pass (?:--no-query|query=None) .*")
MOST_ROWS = 1_000_000  # of a file, in which ids are looked for
ROW = "__frame_metrics_row"  # the place of a row in its file
OF_ONE_FRAME = re.compile(r", with system='file' in the place of arm=")
TWICE = re.compile("ha(s|ve) two judgments")  # the part of an error by which lists with a document twice are recognised
GATED_BY = ("max_drop", "margin", "alpha")  # options of gates on a file
ONE_LIST = re.compile(r"differ from another row of their query .*; give each query one list of relevant documents")
MEANS_APART = "takes a change of means apart, and rows without a query"


def of_files(frames: Frames, error: FrameMetricsError) -> FrameMetricsError:
    """Return an error with the command that compares files of other rows, or of the same; another error as it is."""
    message, call = str(error), frames.call
    if NO_IDS.search(message) and (columns := _ids_of_rows(frames)):
        asked = bool(reading.each(call.roles.get("query")))
        typed: dict[str, list[str]] = {"query=": []} if asked else {}
        if len(columns) > 1:
            pairs = f"{listed(columns)} have the same ids in both files each, and pair rows otherwise"
            return type(error)(f"{LACKING.sub('', message)}; {pairs}: --doc is the one that names a row")
        flag = f"pass --doc {shlex.quote(columns[0])}{' in the place of --query' * asked}"
        paired = f"{LACKING.sub('', message)}; {quote(columns[0])} has the same ids in both files: {flag}"
        return type(error)(paired).offering(typed, doc=columns[0])
    if TWICE.search(message) and frames.joins_logs and "doc" not in call.roles and frames.irm._plan.columns.rank:
        return type(error)(f"{message}, or pass --no-doc, as rows have ranks").offering(doc=None)
    before = [call.set_options[frames.before.flag]] if frames.before else []
    if ONE_LIST.search(message) and call.name == "compare" and len(files := [*before, *call.arguments[0]]) == 2:
        gate = frames.before.flag if frames.before else "saved"
        return type(error)(f"{message}; the two files have other lists\n{_each_by_its_lists(call, files, gate)}")
    other, same = OTHER_ROWS.match(message), SAME_QUERIES.match(message)
    if call.name == "change" and MEANS_APART in message:
        return _of_segments(frames, error)
    if same and call.name == "change" and same[1] != FILE:
        return _of_units(frames, error)
    of_files_alone = call.compares_files or (call.name in OF_FILES and call.file_column)
    if not (other or same) or not (of_files_alone or frames.joins_logs):
        return error
    if same:
        return type(error)(OF_ONE_FRAME.sub("", message)).offering({"change": ["compare"]})
    kind, alike = type(error), _of_ids(frames)
    gone: dict[str, list[str]] = {"system=": []} if call.roles.get("system") == FILE else {}
    problem = f"{other[0] if other else message}{alike}"
    if alike.endswith("--by"):
        return kind(problem).offering({"by=": [], "every=": []})
    if call.name == "leaderboard":
        way = kind(f"{problem}; pass --arm file to measure each over its own queries")
        return way.offering({call.name: ["evaluate"]} | gone, arm=FILE)
    if call.name in OF_PAGES and frames.before is not None and not call.has_gates:
        names = [*frames.before.input.names, *call.arguments[0]]
        first = reading.file_names(names)[0]
        way = kind(f"{problem}; logs of other rows are two inputs: pass --arm file --baseline {first}")
        return way.offering({f"{frames.before.flag}=": []}, input=names[:1], arm=FILE, baseline=first)
    return kind(f"{problem}; change compares logs of other queries or rows").offering(
        {call.name: ["change"], "system=": []}
    )


def _each_by_its_lists(call: CommandLine, files: Sequence[str], gate: str) -> str:
    """Return the line that measures the first of two files by itself, and compares the other with its numbers.

    ``gate``: the option that names these.
    """
    metrics, (first, other) = call.metrics, files
    options = [
        one for one in options_of("per-query").values() if one.name in call.given and one.kind.metavar == "COLUMN"
    ]
    flags = [word for one in options for value in reading.each(call.given[one.name]) for word in (one.flag, value)]
    flag_of = {name: option.flag for name, option in options_of("compare").items()}
    losses = [
        word for one in GATED_BY for given in reading.each(call.given.get(one)) for word in (flag_of[one], str(given))
    ]
    saved = unused(f"{os.path.splitext(os.path.basename(first))[0]}_values.csv")
    commands = [
        ["per-query", first, *metrics, *flags, "-o", saved],
        ["compare", other, *metrics, *flags, flag_of[gate], saved, *losses],
    ]
    return " && ".join(shlex.join([PROGRAM, *one]) for one in commands)


def _of_segments(frames: Frames, error: FrameMetricsError) -> FrameMetricsError:
    """Return the error about segments of rows with the column that is likely the query, or as arms that are compared.

    Without ``by`` the answer would be another.
    """
    call, there = frames.call, frames.log.collect_schema().names()
    taken = [one for role in call.roles.values() for one in reading.each(role)]
    for degree in (2, 1):
        likely = [one for one in there if one not in taken and likeness("query", one) >= degree]
        if len(likely) == 1:
            return error.offering(query=likely[0])
    if call.compares_files:
        return error.offering({"change": ["ab-test"]}, arm=FILE, baseline=reading.file_names(call.arguments[0])[0])
    usual = ROLES["query"].among([one for one in there if one not in taken])
    return error.offering(query=usual[0] if usual else ...)


def _of_units(frames: Frames, error: FrameMetricsError) -> FrameMetricsError:
    """Return the error about queries that were asked again in a later period, each of which may be one unit."""
    query = frames.irm._plan.columns.query
    if len(query) != 1:
        return error
    return type(error)(f"{error}; pass --cluster {query[0]} to draw the queries anew").offering(cluster=query[0])


def _ids_of_rows(frames: Frames) -> list[str]:
    """Return the column of ids of two files whose rows are one each, and have the same label in both; [] for none.

    There are several if they pair rows in different ways. Numbers of rows that nobody named are taken only without
    others, and where labels are in no order by which those of other rows could be equal.
    """
    call, logs = frames.call, [frames.log_input, *([frames.before.input] if frames.before else [])]
    plans = [one.plan for log in logs for one in log.files]
    if len(plans) != 2:
        return []
    one, other = plans
    types, there = one.collect_schema(), other.collect_schema()
    label = call.roles.get("label") or next((name for name in ("label", "grade") if name in types), "")
    taken = [name for role, its in call.roles.items() if role not in ("query", "doc") for name in reading.each(its)]
    asked = [name for role in ("query", "doc") for name in reading.each(call.roles.get(role))]
    free = [name for name in types if name not in taken and types[name] == there.get(name) and name != label]
    free = [name for name in free if (types[name].is_integer() or types[name] == pl.String) and name in (asked or free)]
    if label not in types or label not in there or not free:
        return []
    rows = [plan.select(*free, label).head(MOST_ROWS).with_row_index(ROW).collect() for plan in plans]
    ids = {name: pairs for name in free if (pairs := _paired(rows, name, label)) is not None}
    numbers = [name for name in ids if name not in asked and all(_counts_rows(its[name]) for its in rows)]
    named = [name for name in ids if name not in numbers] or (
        numbers if numbers and _changes_often(rows[0], label) else []
    )
    named.sort(key=lambda name: -likeness("doc", name))
    return [name for at, name in enumerate(named) if not any(ids[name].equals(ids[one]) for one in named[:at])]


def _paired(rows: Sequence[pl.DataFrame], name: str, label: str) -> pl.DataFrame | None:
    """Return the places of rows that a column pairs; None if it does not pair at least half, each with its label."""
    if any(its[name].is_duplicated().any() for its in rows):
        return None
    pairs = rows[0].join(rows[1], on=name).sort(ROW)
    same = pairs.select((pl.col(label) == pl.col(f"{label}_right")).all() & (pl.col(label).n_unique() > 1)).item()
    return pairs.select(ROW, f"{ROW}_right") if same and 2 * len(pairs) >= max(map(len, rows)) else None


def _counts_rows(ids: pl.Series) -> bool:
    """Return True for numbers that count rows, from 0 or 1, which a file of other rows has too."""
    steps = ids.cast(pl.Int64, strict=False) - pl.int_range(len(ids), eager=True)
    return bool(steps.n_unique() == 1 and steps[0] in (0, 1))


def _changes_often(rows: pl.DataFrame, label: str) -> bool:
    """Return True for labels that change from row to row at least half as often as in an order by chance."""
    changes = pl.col(label).ne_missing(pl.col(label).shift()).slice(1).mean()
    by_chance = 1 - ((pl.len().over(label) / pl.len()).mean())
    return bool(rows.select(2 * changes >= by_chance).item())


def _of_ids(frames: Frames) -> str:
    """Return how the ids of two logs differ that have no row in common, in words; "" if they have none, or equal ones.

    Equal ids may be in other segments.
    """
    columns, before = frames.irm._plan.columns, frames.before
    logs = [frames.log_input, before.input] if before else [frames.log_input]
    each = [one.plan for log in logs for one in log.files]
    doc = columns.doc
    if doc is None or columns.query or len(each) != 2 or not all(doc in one.collect_schema() for one in each):
        return ""
    one, other = (plan.select(pl.col(doc).cast(pl.String)).drop_nulls().unique().sort(doc).collect() for plan in each)
    if one.join(other, on=doc).is_empty():
        return (
            f": none of their ids is in both, as {' and '.join(quote(ids[doc][0]) for ids in (one, other) if len(ids))}"
        )
    return "; ids are in both, but in other segments: leave out --by" if frames.call.roles.get("by") else ""
