"""Errors of a call with the way out that its files and their columns lead to."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import combinations

import polars as pl

from frame_metrics.command.call import FILE, OF_ANNOTATORS
from frame_metrics.command.commands import options_of
from frame_metrics.command.files import reading
from frame_metrics.command.files.columns_there import column_for, likeness, words_of
from frame_metrics.command.files.rows_of_files import with_files
from frame_metrics.command.frames import Frames
from frame_metrics.command.offers.mixed_systems import SEVERAL_PLACES
from frame_metrics.command.offers.named_metrics import is_metric
from frame_metrics.command.offers.of_columns import of_columns
from frame_metrics.command.offers.of_files import of_files
from frame_metrics.command.periods import FIRST_ROWS, TIMES, holds_dates
from frame_metrics.errors import (
    BadRowsError,
    BadValueError,
    ColumnError,
    FrameMetricsError,
    UnknownNameError,
    listed,
    quote,
)
from frame_metrics.roles.columns import ROLES

NEEDS_SYSTEM = "rows of several systems need system="  # the part of an error by which a missing system= is recognised
NO_LABELS = ("query", "doc", "score", "rank", "system")  # columns that are not taken for labels
ANNOTATORS = ("annotator", "annotator_id", "rater", "judge", "assessor", "coder", "worker", "who")
OF_MEANS = ("evaluate", "ab-test", "change", "sample-size")  # commands of numbers that each row has
ONE_VALUE = "give each query one value"
ASKED_AGAIN = re.compile(r"pass \S+ the session's column\] if a query was asked several times")
ROWS_OF_SEARCHES = 1_000_000
SESSIONS = ["session", "session_id", "search_id", "impression", "impression_id", "request_id", "visit_id"]
NO_DAY = "by='day': there is no such column"
WEEKDAY = re.compile(r"(?:by|arm)='(?:week_?day|day_?of_?week|dow|weekend)s?': there is no such column", re.IGNORECASE)
NO_WEEKDAYS = "--every makes hours, days, weeks and longer periods of dates; a weekday is a column to be made before"
NO_COLUMN = "there is no such column"
SORTED = re.compile(r"--(?:sort|columns) -?(\S+): there is no such column")
OF_TEXT, MOST_NAMES = "a label is 0 or 1, and this column is text", 12
SEVERAL_CLASSES = "if these are classes of rows"
NO_GRADE = "the label or grade"
NO_SCORE = "the score is missing; name its column"
OF_ROWS = (
    "rows without a query have no values of queries: their gate reads the log of before, as "
    "--fail-if-worse-than old.csv"
)
# Errors that lists in a CSV file lead to.


@contextmanager
def errors_with_ways_out(frames: Frames) -> Iterator[None]:
    """Replace an error of another library by one that names the file and the line that cannot be read."""
    try:
        try:
            yield
        except UnknownNameError as error:
            raise _systems_as_column(frames, error) or _column_as_metric(frames, error) from None
        except ColumnError as error:
            if NO_COLUMN in str(error) and (instead := _systems_as_column(frames, error)):
                raise instead from None
            if (asked := SORTED.match(str(error))) and is_metric(asked[1]):
                raise _of_metrics(frames, asked[0]) from None
            if str(error).startswith(NO_SCORE) and isinstance(column := frames.call.roles.get("predicted"), str):
                way = f"pass --score {shlex.quote(column)} in the place of --predicted if these are scores"
                told = ColumnError(str(error).replace("; ", f"; {way}; or ", 1))
                raise told.offering({"predicted=": []}, score=column) from None
            if (asked := frames.call.roles.get("label")) and (query := _of_single_rows(frames, [asked])):
                gone: dict[str, list[str]] = {"metric=": [], **{one: [] for one in frames.call.metrics}}
                raise _of_means(error, [asked], query, {"label=": [], **gone}) from None
            if SEVERAL_PLACES in str(error):
                raise _asked_again(frames, error) from None
            unknown = frames.call.name in OF_ANNOTATORS and "annotator" not in frames.call.set_options
            if unknown and error.options:
                raise _who_judged(frames) from None
            if frames.call.name == "per-query" and "query" in error.options and frames.call.decides_rows:
                raise ColumnError(f"{error}; {OF_ROWS}").offering({"per-query": ["evaluate"]}) from None
            if NO_DAY in str(error) and (way := _of_time(frames)):
                raise ColumnError(f"{error}; pass --by {shlex.quote(way)}").offering({"day": [way]}) from None
            if WEEKDAY.match(str(error)):
                raise ColumnError(f"{error}; {NO_WEEKDAYS}") from None
            if str(error).startswith("proxy, whose columns") and NO_GRADE in str(error):
                machine = column_for("grade", [str(frames.call.set_options["proxy"])])
                raise error.offering(proxy_grade=machine or ...) from None
            if frames.call.judgments_alone:  # whose documents stand in the place of a log, with a score
                words = str(error).removeprefix("judge: ").replace(NO_GRADE, f"{NO_GRADE} of the judgments")
                error.args = (words.replace(f", {listed(frames.made)}", "").replace(f", {quote(FILE)}", ""),)
            raise
        except BadRowsError as error:
            if ONE_VALUE in str(error):
                raise BadRowsError(f"{error}; {_other_query(frames)}") from None
            if (again := ASKED_AGAIN.search(str(error))) and (way := _searches(frames)):
                raise BadRowsError(str(error).replace(again[0], f"{way} if a query was asked several times")) from None
            if NEEDS_SYSTEM in str(error) and len(frames.call.arguments[0]) > 1:
                message = str(error).replace(NEEDS_SYSTEM, f"pass system={FILE!r} if each file is a system")
                raise BadValueError(message).offering(system=FILE) from None
            raise
        except BadValueError as error:
            if OF_TEXT in str(error):
                raise _as_classes(frames, error) or _as_names(frames, error) from None
            raise
    except FrameMetricsError as error:
        raise with_files(frames, of_columns(frames, of_files(frames, error))) from None
    except (pl.exceptions.PolarsError, OSError):
        for file in frames.files:
            file.check()
        raise


def _systems_as_column(frames: Frames, error: FrameMetricsError) -> FrameMetricsError | None:
    """Return the error about systems that are named in the place of their column, with that column; None for others."""
    named, odd = frames.call.roles.get("system"), [name for name in frames.call.metrics if not is_metric(name)]
    there = _columns_of(frames) if isinstance(named, str) else []
    if not there or named in there:
        return None
    for column in ROLES["system"].among(there):
        values = frames.log.select(pl.col(column).cast(pl.String).unique()).collect()[column]
        if {named, *odd} <= {*values}:
            names, options = listed([named, *odd]), {"system": column}
            options |= {"baseline": named} if "baseline" in options_of(frames.call.name) else {}
            told = f"{column!r} is the column of {names}: pass --system {shlex.quote(column)}"
            return ColumnError(told).offering(dict.fromkeys(odd, ()), **options)
    return None


def _column_as_metric(frames: Frames, error: UnknownNameError) -> FrameMetricsError:
    """Return the error about a name, with what to do where a column of the input was named as a metric."""
    odd = [name for name in frames.call.metrics if not is_metric(name)] if frames.call.name != "curve" else []
    there = _columns_of(frames) if odd else []
    named = [name for one in odd for name in one.split(",") if name in there and name not in NO_LABELS]
    if not named:
        return error
    column = named[0]
    if len(named) == len(frames.call.metrics) and (query := _of_single_rows(frames, named)):
        gone: dict[str, list[str]] = {"metric=": [], **{one: [] for one in odd}}
        return _of_means(error, named, query, gone)
    said = f"{error}{'.' * (str(error)[-1] not in '.?')}"
    if "by" in frames.call.roles:
        by = [*reading.each(frames.call.roles["by"]), column]
        flags = " ".join(f"--by {shlex.quote(one)}" for one in by)
        return UnknownNameError(f"{said} For segments of {column} too, pass {flags}").offering({column: ()}, by=by)
    way = f"The column is named --label {shlex.quote(column)}, beside a metric, as clicks or ctr@10."
    return UnknownNameError(f"{said} {way}").offering({column: ["clicks", "ctr@10"]}, label=column)


def _columns_of(frames: Frames) -> list[str]:
    """Return the columns of the log; none if it cannot be read."""
    try:
        return frames.log.collect_schema().names()
    except (FrameMetricsError, pl.exceptions.PolarsError, OSError):
        return []


def _of_means(
    error: FrameMetricsError, columns: Sequence[str], query: str, instead: Mapping[str, Sequence[str]]
) -> FrameMetricsError:
    """Return the error with the way to the means of columns of numbers, of a log each of whose rows is a query."""
    flags = " ".join(f"--value {shlex.quote(one)}" for one in columns)
    told = f"{error}; as the means of columns of numbers, pass {flags} --query {shlex.quote(query)}"
    return type(error)(told).offering(instead, value=[*columns], query=query)


def _of_single_rows(frames: Frames, named: Sequence[str]) -> str:
    """Return the query of a log of numbers, each of whose rows is a query; "" if rows are results of lists."""
    roles, schema = frames.call.roles, frames.log.collect_schema()
    played = {"rank", "score", "grade", "doc"} & {*roles, *schema} or frames.call.name not in OF_MEANS
    if played or not all(one in schema and schema[one].is_numeric() for one in named):
        return ""
    likely = reading.each(roles.get("query")) or [
        one for one in schema if one == "query" or likeness("query", one) == 2
    ]
    rows = frames.log.select(likely).head(ROWS_OF_SEARCHES).collect()
    return next((one for one in likely if not rows[one].is_duplicated().any()), "")


def _other_query(frames: Frames) -> str:
    """Return which columns were taken as the query, and the columns that tell searches apart."""
    taken = frames.irm._plan.columns.query
    way = _searches(frames) or "name the column of single searches with --query"
    return f"the query is {listed(taken)}, and the same one may be asked again: {way}"


def _asked_again(frames: Frames, error: ColumnError) -> ColumnError:
    """Return the error about queries that were asked several times, with the columns that tell searches apart."""
    columns = _columns_of_searches(frames)
    way = f"pass {_flags_of(columns)}" if columns else "name the column of single searches with --query"
    told = ColumnError(f"{error}; {way}; --no-rank says that they are one list")
    return told.offering(query=list(columns)) if columns else told


def _flags_of(columns: Sequence[str]) -> str:
    return " ".join(f"--query {shlex.quote(column)}" for column in columns)


def _searches(frames: Frames) -> str:
    """Return the flags of the columns that tell searches apart, "" if none do."""
    columns = _columns_of_searches(frames)
    return f"pass {_flags_of(columns)}" if columns else ""


def _columns_of_searches(frames: Frames) -> Sequence[str]:
    """Return the fewest columns with usual names by which no search has a rank or document twice, or none.

    They are those of sessions, of the query and of times, in this order.
    """
    columns, first = frames.irm._plan.columns, frames.log.head(FIRST_ROWS).collect()
    there = first.columns
    usual = [one for names in (SESSIONS, TIMES) for one in there if one.lower() in names or words_of(one) & {*names}]
    usual += [one for one in there if holds_dates(first[one])]
    usual = [one for one in dict.fromkeys(usual) if one not in columns.query]
    order = [*dict.fromkeys([*(one for one in usual if one.lower() in SESSIONS), *columns.query, *usual])]
    likely = [*ROLES["rank"].among(there), *ROLES["doc"].among(there)]
    place = columns.rank or columns.doc or next(iter(likely), None)
    if not usual or place is None or place not in there:
        return ()
    each = [one for n in range(1, len(order) + 1) for one in combinations(order, n) if {*one} & {*usual}]
    keys = [*columns.cell_keys, *([columns.cluster] if columns.cluster else [])]
    rows = frames.log.select(*dict.fromkeys([*keys, *order, place])).head(ROWS_OF_SEARCHES).collect()
    for one in each:
        units = [column for column in keys if column not in one]
        if not rows.select(*one, place).is_duplicated().any() and _is_one(rows, one, units):
            return one
    return ()


def _is_one(rows: pl.DataFrame, key: Sequence[str], units: Sequence[str]) -> bool:
    """Return True if all rows of a key have one unit."""
    return not units or rows.select(*key).n_unique() == rows.select(*key, *units).n_unique()


def _of_time(frames: Frames) -> str:
    """Return the column of days that --by may mean; "" if none is called so."""
    known = [name for name in frames.log.collect_schema().names() if name.lower() in TIMES]
    return known[0] if known else ""


def _as_classes(frames: Frames, error: BadValueError) -> BadValueError | None:
    """Return the error about texts, where rows are decided about, and the query has their ids; None for others."""
    columns, there = reading.each(frames.call.roles.get("query")), frames.log.collect_schema()
    if not (frames.call.decides_rows and len(columns) == 1 and columns[0] in there and SEVERAL_CLASSES in str(error)):
        return None
    (column,), keys = columns, [one for one in frames.irm._plan.columns.keys if one in there]
    if frames.log.select(keys).head(ROWS_OF_SEARCHES).collect().is_duplicated().any():
        return None
    way = f"rows that are decided about have no query: pass --doc {shlex.quote(column)} in the place of --query"
    return BadValueError(f"{str(error).partition('; ')[0]}; {way}").offering({"query=": []}, doc=column)


def _as_names(frames: Frames, error: BadValueError) -> BadValueError:
    """Return the error about texts, with the flags by which they are names that are equal or not, if they are few."""
    column = str(frames.call.set_options.get("label") or "label")
    texts = frames._qrels[0].get_column(column, default=None) if frames.call.judgments_alone else None
    names = [] if texts is None else texts.drop_nulls().unique().sort().to_list()
    if not 2 < len(names) <= MOST_NAMES or any("=" in name for name in names):
        return error
    scale, typed = [f"{name}={at}" for at, name in enumerate(names)], "label" in frames.call.set_options
    level = {"level": "nominal"} if "level" in options_of(frames.call.name) else {}
    named = [word for name, value in level.items() for word in (f"--{name}", value)]
    flags = shlex.join(["--grade", column, *named, *(f"--scale={one}" for one in scale)])
    way = f"of names without an order pass {flags}{' in the place of --label' * typed}"
    gone: dict[str, list[str]] = {"label=": []} if typed else {}
    return BadValueError(f"{error}; {way}").offering(gone, grade=column, **level, scale=scale)


def _of_metrics(frames: Frames, problem: str) -> ColumnError:
    """Return the error about metrics in the place of columns of the result."""
    each = f"{problem}; each metric has rows of its own"
    if "layout" in options_of(frames.call.name):
        return ColumnError(f"{each}; pass --layout wide for a column of each").offering(layout="wide")
    way = "in the order in which they are asked for; leave out --sort"
    return ColumnError(f"{each}, {way}").offering({"sort=": []})


def _who_judged(frames: Frames) -> ColumnError:
    """Return the error about a file of judgments of which no option says who judged."""
    there = frames.log.collect_schema().names()
    likely = [name for name in there if name.lower() in ANNOTATORS]
    way = f"pass --annotator {shlex.quote(likely[0])}" if likely else f"name its column, one of {listed(there)}"
    return ColumnError(f"no option says who judged; {way}").offering(annotator=likely[0] if likely else ...)
