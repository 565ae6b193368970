"""Judgments that are kept beside a log: checked, matched to its rows by query and document, laid out by query."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from frame_metrics import threads
from frame_metrics.data.annotators import made_one, once_each
from frame_metrics.data.blocks import (
    Pools,
    codes,
    differ,
    find_duplicates,
    find_rankings,
    numbers,
    places,
    rows_at,
    run_starts,
    to_array,
)
from frame_metrics.data.groups import drawing_places
from frame_metrics.errors import BadRowsError, BadValueError, listed
from frame_metrics.inputs import Array, Subtopics
from frame_metrics.roles.columns import BESIDE, OF_JUDGMENTS, OF_QUERIES, Columns, judging, role_columns
from frame_metrics.roles.conventions import Conventions
from frame_metrics.roles.scale import Scale
from frame_metrics.roles.series import TEXTS, refuse, refuse_nan, refuse_null

ONCE = "keep one of each"
TWO_JUDGMENTS = "differ from another row of their query and document"
COMBINE = f"{ONCE}, or say judge(..., several=) if several people judged: 'mean', 'median', 'max' or 'majority'"
ONE_EACH = {"annotator": "the one who gave it", "subtopic": "its subtopic"}
SAID_BESIDE = [role for role in BESIDE if role in OF_QUERIES]  # one value of each query
UNITS = ("ms", "us", "ns")  # of time, the finest last


@dataclass(frozen=True, eq=False)
class Judged:
    """Judgments ready to be joined."""

    pairs: pl.DataFrame  # segment, query and document of every judgment, with its grade or label, laid query by query
    keys: list[str]  # what a judgment belongs to: the query, and the columns of the segment that judgments carry
    names: pl.DataFrame  # the distinct values of the keys, with what the judgments say of a query
    pool: Pools  # the judgments of each row of ``names``
    row: Array  # row of the judgments' frame for each row of ``names``
    order: Array | None  # the row of ``pairs`` at each place of ``pool``; None where they are the same
    each: pl.DataFrame | None = None  # the single judgments, where several of one document may have become one
    subtopics: Subtopics | None = None  # what the documents of ``pairs`` were judged for; None where nothing says it

    @property
    def single(self) -> list[str]:
        """The columns that a single judgment belongs to: its query, document and subtopic."""
        there = () if self.each is None else self.each.columns
        return [*self.keys, "doc", *(name for name in there if name == "subtopic")]


def read_judgments(
    frame: pl.DataFrame,
    columns: Columns,
    log: pl.DataFrame,
    log_columns: Columns,
    conventions: Conventions,
    *,
    few: bool = False,
) -> Judged:
    """Check judgments, in the log's types of queries and segments, and lay them out by query; ``few``: see ``id_hash``.

    A bad value is no ``BadRowsError``, which is about rows of the log.
    """
    names = log_columns.key_names
    by = [inside for inside, name in zip(names[1], log_columns.by, strict=True) if name in columns.by]
    with of_the_judgments():
        table = _judged_rows(frame, columns, log, log_columns, by, conventions.scale)
    keys, each = [*by, *names[2]], None
    pair = [*keys, "doc"]
    single = [*pair, "subtopic"] if columns.subtopic else pair
    if columns.annotator:
        _refuse_two_grades(table, [*single, "annotator"], columns, ONCE)
        table = each = once_each(table, single)
    if conventions.several:
        table, each = made_one(table, single, conventions.several), table
    laid = _with_subtopics if columns.subtopic else laid_out
    return replace(laid(table, keys, columns, few=few), each=each)


def _with_subtopics(table: pl.DataFrame, keys: list[str], columns: Columns, *, few: bool) -> Judged:
    """Lay out judgments for subtopics: a document has the greatest of its own, and keeps each of them beside."""
    document, first = codes(table, [*keys, "doc"])
    place = drawing_places(table.select("subtopic"))[0].astype(np.int64)
    width = int(place.max(initial=0)) + 1
    order = np.argsort(single := document * width + place, kind="stable")
    if (np.diff(single[order]) == 0).any():
        of = [*keys, "doc", "subtopic"]
        _refuse_two_grades(table, of, columns, COMBINE)
        return _with_subtopics(made_one(table, of, "max"), keys, columns, few=few)
    lengths = np.bincount(document)
    starts = np.cumsum(lengths) - lengths
    values = {name: to_array(table[name])[order] for name in judging(table)}
    greatest = (pl.Series(name, np.fmax.reduceat(held, starts), nan_to_null=True) for name, held in values.items())
    judged = laid_out(rows_at(table, first).drop("subtopic").with_columns(greatest), keys, columns, few=few)
    query = codes(judged.pairs, keys)[0][document]
    each, at = np.unique(query * width + place, return_inverse=True)
    number = (at - np.searchsorted(each // width, query))[order]
    ids = judged.pairs["doc"]
    name = drawing_places(pl.DataFrame({"doc": ids.cast(pl.String) if ids.dtype.is_numeric() else ids}))[0]
    grade, label = next(iter(values.values())), values.get("label")
    subtopics = Subtopics(starts, lengths, number, grade, label, name)
    held_at = np.arange(len(judged.pairs)) if judged.order is None else judged.order
    return replace(judged, subtopics=subtopics, pool=replace(judged.pool, document=held_at))


@contextmanager
def of_the_judgments() -> Iterator[None]:
    """Let errors about rows say that these are of the judgments: they are no ``BadRowsError``, of rows of the log."""
    try:
        yield
    except BadRowsError as bad:
        raise BadValueError(f"{bad.column} (of the judgments){str(bad).removeprefix(bad.column)}") from None


def _judged_rows(
    frame: pl.DataFrame,
    columns: Columns,
    log: pl.DataFrame,
    log_columns: Columns,
    by: list[str],
    scale: Scale | None,
) -> pl.DataFrame:
    """The rows of the judgments that judge, checked, under the names of their roles."""
    query = columns.key_names[2]
    out: dict[str, pl.Series] = {}
    _refuse_chosen(frame, columns)
    for inside, name, own in zip(
        (*by, *query), (*columns.by, *columns.query), (*columns.by, *log_columns.query), strict=True
    ):
        refuse_nan(frame[name], name, "drop them")
        if inside in query:
            refuse_null(name, frame[name], "are missing", "drop them")
        dtype = frame[name].dtype if own in log_columns.from_judgments else log[inside].dtype
        out[inside] = _like(frame[name], dtype, name, own, dtype)
    if columns.doc is None:
        raise BadValueError("the judgments have no document column; name it with doc=")
    docs, ours = frame[columns.doc], log["doc"].dtype
    refuse_null(columns.doc, docs, "are missing", "drop them")
    refuse_nan(docs, columns.doc, "drop them")
    out["doc"] = _like(docs, wider(ours, docs.dtype), columns.doc, str(log_columns.doc), ours)
    out |= role_columns(frame, columns, ("grade", "label", *SAID_BESIDE), scale=scale)
    if columns.cluster and "cluster" in log.columns:
        clusters, ours = out["cluster"], log["cluster"].dtype
        out["cluster"] = _like(clusters, wider(ours, clusters.dtype), columns.cluster, columns.cluster, ours)
    table = pl.DataFrame(out).with_row_index("row")
    judges = pl.any_horizontal(pl.col(name).is_not_null() for name in judging(table))
    every = any(not table[name].null_count() for name in judging(table))
    table = _with_roles(table, frame, columns, judges)
    table = table if every else table.filter(judges)
    alone = {inside: name for inside, name in zip(by, columns.by, strict=True) if name in log_columns.from_judgments}
    keys = [key for key in (*by, *query) if key not in alone]
    for said, column in (alone | {role: getattr(columns, role) for role in SAID_BESIDE}).items():
        if column and table.select(*keys, said).n_unique() > table.select(keys).n_unique():
            odd = table.filter(pl.col(said).n_unique().over(keys) > 1).select(query).row(0)
            raise BadValueError(
                f"{column} (of the judgments): rows of one query differ (of {listed(odd)}); give each query one value"
            )
    return table


def _refuse_chosen(frame: pl.DataFrame, columns: Columns) -> None:
    """Raise for judgments of people whose documents were chosen by what they can move."""
    flags = frame[columns.chosen] if columns.chosen else pl.Series()
    if flags.dtype == pl.Boolean and (chosen := flags.sum()):
        raise BadValueError(
            f"{columns.chosen}: {chosen} of {len(frame)} judgments were chosen by what they can move, and queries with "
            "such are no random sample, nor is what is left without them: judge all documents of a random sample of "
            f"queries and drop {columns.chosen!r}, or name the chance of each query, as judge(..., sampling='chance')"
        )


def _with_roles(table: pl.DataFrame, frame: pl.DataFrame, columns: Columns, judges: pl.Expr) -> pl.DataFrame:
    """The rows with what only judgments have, which every row that judges needs."""
    for role in OF_JUDGMENTS:
        if column := getattr(columns, role):
            remedy = f"give every judgment {ONE_EACH[role]}"
            refuse_nan(frame[column], column, remedy)
            refuse(
                column,
                frame[column].is_null() & table.select(judges).to_series(),
                f"have a judgment and no {role}",
                remedy,
            )
            table = table.with_columns(frame[column].alias(role))
    return table


def check_held(docs: pl.Series, kind: Any, column: str, what: str) -> None:
    """Raise for documents of the judgments that a column of the caller's type cannot show; ``what``: they are."""
    if not len(docs):
        return
    held = pl.Series([None] * len(docs)) if kind == pl.Null else docs.cast(kind, strict=False)
    if held.null_count() or not (held.cast(docs.dtype) == docs).all():
        raise BadValueError(f"{column}: {what} of the judgments do not fit its type, {kind}; give both one type")


def laid_out(table: pl.DataFrame, keys: list[str], columns: Columns, own: Array | None = None, *, few: bool) -> Judged:
    """Lay checked judgments out by their keys, once each document has one grade there.

    ``own``: the row of the caller's frame of each row, where the judgments stand in the log itself; ``few``: see
    ``id_hash``.
    """
    values = judging(table)
    pairs = table.hstack([id_hash(table["doc"], few=few).alias("hash")])
    queries = find_rankings(pairs, keys, [*values, "hash"], rows=True)
    again = find_duplicates(queries, pairs["doc"])
    if len(again):
        repeated = pairs[again].select(*keys, "doc").unique()
        same = pairs.join(repeated, on=[*keys, "doc"], how="semi", nulls_equal=True)
        _refuse_two_grades(same, [*keys, "doc"], columns, COMBINE if own is None else ONCE, own)
        if pairs.select(values).null_count().sum_horizontal().item():  # one row may have the grade, another the label
            pairs = pairs.with_columns(pl.col(values).drop_nulls().first().over(*keys, "doc"))
        once = np.ones(len(pairs), bool)
        once[again] = False
        pairs = pairs.filter(once)
        queries = find_rankings(pairs, keys, values, rows=True)
    of_queries = [name for name in pairs.columns if name not in ("doc", "hash", *values)]
    names = rows_at(pairs[of_queries], queries.first_row)
    pool = Pools(queries.starts, queries.lengths, queries.values[values[0]], queries.values.get("label"))
    return Judged(pairs, keys, names, pool, names["row"].to_numpy().astype(np.int64), queries.row)


def _refuse_two_grades(
    table: pl.DataFrame, keys: list[str], columns: Columns, remedy: str, own: Array | None = None
) -> None:
    """Raise if any document, or any of an annotator, has two judgments; of the log's own rows if they are given."""
    if own is not None:
        table = table.with_columns(pl.Series("row", own[table["row"].to_numpy()]))
    differ = (
        table.group_by(keys, maintain_order=True)
        .agg(
            pl.any_horizontal(pl.col(value).drop_nulls().n_unique() > 1 for value in judging(table)).alias("differ"),
            pl.col("row"),
        )
        .filter("differ")
    )
    if len(differ):
        shown = ", ".join(str(differ[name][0]) for name in keys)
        rows = ", ".join(str(row) for row in differ["row"][0].to_list()[:3])
        of_whom = f" of one {columns.annotator}" if "annotator" in keys else ""
        more = [getattr(columns, role) for role in OF_JUDGMENTS if role in keys]
        parts = ["segment"] * any(key.startswith("by:") for key in keys) + ["query", "document", *more]
        what = f"{', '.join(parts[:-1])} and {parts[-1]}"
        how_many = "1 pair has" if len(differ) == 1 else f"{len(differ)} pairs have"
        column = str(columns.grade or columns.label)
        ways = "".join(f"; or name the column {role!r} too, judge(..., {role}={role!r})" for role in columns.unsaid)
        message = f"{column}: {how_many} two judgments{of_whom} ({what} ({shown}), rows {rows}); {remedy}{ways}"
        if own is None:
            raise BadValueError(message)
        every = np.sort(differ["row"].explode().to_numpy())
        raise BadRowsError(message, column=column, rows=every, what=TWO_JUDGMENTS, remedy=remedy)


def number_clusters(log: pl.DataFrame, judged: Judged | None) -> tuple[pl.DataFrame, Judged | None]:
    """Put numbers for the clusters of a log and of its judgments."""
    if judged is None or "cluster" not in judged.names.columns:
        return log.with_columns(numbers(log["cluster"])), judged
    theirs = judged.names["cluster"]
    if "cluster" not in log.columns:
        return log, replace(judged, names=judged.names.with_columns(numbers(theirs)))
    number = numbers(pl.concat([log["cluster"].cast(theirs.dtype), theirs]))
    names = judged.names.with_columns(number[len(log) :])
    return log.with_columns(number[: len(log)]), replace(judged, names=names)


def wider(ours: pl.DataType, theirs: pl.DataType) -> pl.DataType:
    """The type that holds ids of both types, if they are of one kind; else the first."""
    if ours == theirs or kind_of_ids(ours) != kind_of_ids(theirs):
        return ours
    if ours in TEXTS:
        return pl.String()
    if ours.is_integer():
        return pl.Int128()
    if isinstance(ours, pl.Decimal) and isinstance(theirs, pl.Decimal):
        return pl.Decimal(38, max(ours.scale, theirs.scale))
    if ours.is_numeric():
        return pl.Float64()
    if isinstance(ours, pl.Datetime | pl.Duration) and isinstance(theirs, pl.Datetime | pl.Duration):
        return ours if UNITS.index(ours.time_unit) >= UNITS.index(theirs.time_unit) else theirs
    return ours


def kind_of_ids(dtype: pl.DataType) -> Any:
    """A name for ids of a type: those of two kinds are never equal."""
    if dtype in TEXTS:
        return "text"
    if dtype.is_numeric():
        return "integer" if dtype.is_integer() else "number"
    if isinstance(dtype, pl.Datetime):
        return "moment", dtype.time_zone
    if isinstance(dtype, pl.Struct):
        return "fields", [field.name for field in dtype.fields]
    return type(dtype)


def _like(values: pl.Series, dtype: pl.DataType, name: str, own: str, shown: pl.DataType) -> pl.Series:
    """Ids of the judgments in a type of the log's kind of ids, unchanged, or an error if the type cannot hold them.

    ``name`` and ``own`` are what the caller calls the columns of judgments and log, ``shown`` is the log's own type.
    """
    if values.dtype == dtype:
        return values
    if pl.Null not in (values.dtype, dtype) and kind_of_ids(values.dtype) != kind_of_ids(dtype):
        raise BadValueError(
            f"{name} of the judgments is {values.dtype}, and {own} of the log is {shown}; give both one type"
        )
    if dtype == pl.Null:
        return values
    try:
        held = values.cast(dtype)
        exact = dtype in TEXTS or bool(held.cast(values.dtype).eq_missing(values).all())
    except pl.exceptions.InvalidOperationError:
        exact = False
    if not exact:
        raise BadValueError(f"{name} of the judgments has ids that {own} of the log ({shown}) cannot hold")
    return held


def lend(log: pl.DataFrame, judged: Judged) -> pl.DataFrame:
    """Return the log with those keys of its queries that only the judgments have, null for a query without any."""
    own = [key for key in judged.keys if key in log.columns]
    if len(own) == len(judged.keys):
        return log
    return log.join(judged.names.select(judged.keys), on=own, how="left", nulls_equal=True, maintain_order="left")


def match(
    log: pl.DataFrame, judged: Judged, query: list[str], columns: Columns, *, whole: bool, few: bool
) -> pl.DataFrame:
    """Return the log with the judgments' grade and label of each row, NaN where it has none.

    ``whole``: whether log and judgments are all there are, so that ids of which none matches are an error; ``few``:
    see ``id_hash``.

    Rows and judgments with equal hashes of keys and document are held side by side, and match if the ids are equal.
    """
    values = judging(judged.pairs)
    keys = [*judged.keys, "doc"]
    log = log[[name for name in log.columns if name not in ("grade", "label")]]
    at, judgment = (None if few else _in_runs(log, judged)) or _by_hash(log, judged, few=few)
    rows, theirs = places(at), places(judgment)
    odd = np.any([differ(log[key][rows], judged.pairs[key][theirs]) for key in keys], axis=0)
    if odd.any():
        at, judgment = at[~odd], judgment[~odd]
    if whole and not len(at) and not columns.relevant:  # which a log may not have found
        refuse_strangers(log, judged.pairs, query, ", ".join(columns.query))
        refuse_strangers(log, judged.pairs, ["doc"], str(columns.doc))
    out = {name: np.full(len(log), np.nan) for name in values}
    for name, column in out.items():
        column[at] = judged.pairs[name].to_numpy()[judgment]
    if judged.subtopics is not None:
        out["document"] = np.full(len(log), -1)
        out["document"][at] = judgment
    return log.hstack([pl.Series(name, column) for name, column in out.items()])


def _by_hash(log: pl.DataFrame, judged: Judged, *, few: bool) -> tuple[Array, Array]:
    """Rows of the log, and the judgments of equal hashes."""
    ours, theirs = (_pair_hash(table, judged.keys, few=few) for table in (log, judged.pairs))
    if few:
        return _joined(ours, theirs)
    row = _likely(ours, theirs)
    at, judgment = _joined(ours[row], theirs)
    return row[at], judgment


def _in_runs(log: pl.DataFrame, judged: Judged) -> tuple[Array, Array] | None:
    """The same where the rows of a query stand together; None where they do not, or where two judgments have one hash.

    A table has four slots for each judgment, those of a query side by side, and the bits of a document's hash choose
    one of them. What is looked up is then near what was looked up before, and in the cache, as it is not where one
    table has the hashes of all: finding the judgments of a million rows takes a half of the time.
    """
    starts, pool = run_starts(log, judged.keys), judged.pool
    if starts is None or not len(log) or 2 * len(starts) > len(log) or not len(judged.pairs):
        return None
    named = judged.names[judged.keys].with_row_index("judged")
    runs = rows_at(log[judged.keys], starts).join(
        named, on=judged.keys, how="left", nulls_equal=True, maintain_order="left"
    )
    query = np.nan_to_num(runs["judged"].to_numpy(), nan=len(named)).astype(np.int64)
    begin, many = np.append(pool.starts, 0), np.append(pool.lengths, 0)
    ours, theirs = log["hash"].to_numpy(), judged.pairs["hash"].to_numpy()
    theirs = theirs if judged.order is None else theirs[judged.order]
    of = np.repeat(np.arange(len(named)), pool.lengths)  # the query of each judgment
    each, slot = np.arange(len(of)), _slots(theirs, 4 * begin[of], 4 * many[of])
    table, held = np.full(4 * len(of), -1), np.zeros(4 * len(of), np.uint64)
    table[slot] = each
    held[slot] = theirs
    lost = np.flatnonzero(table[slot] != each)  # of several in one slot only the last is found there
    if (held[slot[lost]] == theirs[lost]).any() or not theirs.all():  # a slot of 0 is taken for free
        return None
    found, unsure = [np.zeros((2, 0), np.int64)], [np.zeros((2, 0), np.int64)]

    def work(some: slice) -> None:
        length = np.diff(np.append(starts[some], starts[some.stop] if some.stop < len(starts) else len(log)))
        first, own = int(starts[some.start]), np.repeat(query[some], length)
        mine = ours[first : first + len(own)]
        slot = _slots(mine, np.repeat(4 * begin[query[some]], length), np.repeat(4 * many[query[some]], length))
        there = held[slot]
        row = np.flatnonzero(there == mine)
        place = table[slot[row]]
        row, place = (values[(place >= 0) & (of[place] == own[row])] for values in (row, place))
        found.append(np.stack([row + first, place]))
        if len(lost):
            rest = np.flatnonzero((there != mine) & (there > 0))
            unsure.append(np.stack([rest + first, own[rest]]))

    step = max(len(starts) * (threads.BLOCK >> 2) // max(len(log), 1), 1)
    threads.in_threads((slice(a, min(a + step, len(starts))) for a in range(0, len(starts), step)), work)
    row, own = np.concatenate(unsure, axis=1)
    if len(row):
        mixed, others = ours[row] ^ _mixed(own), theirs[lost] ^ _mixed(of[lost])
        few = _likely(mixed, others)
        at, judgment = _joined(mixed[few], others)
        same = own[few[at]] == of[lost[judgment]]
        found.append(np.stack([row[few[at]], lost[judgment]])[:, same])
    at, place = np.concatenate(found, axis=1)
    return at, place if judged.order is None else judged.order[place]


def _slots(hashes: Array, begin: Array, many: Array) -> Array:
    """The slot of each hash, among ``many`` from ``begin`` on."""
    slot = hashes & np.uint64(0xFFFFFFFF)
    slot *= many.view(np.uint64)
    slot >>= np.uint64(32)
    return slot.view(np.int64) + begin


def _mixed(number: Array) -> Array:
    """Numbers as bits that are far apart."""
    return number.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)


def are_few(log: pl.DataFrame, judgments: pl.DataFrame | None) -> bool:
    """Return True where each row of the log may be compared with each judgment, whose ids Python can hash."""
    both = [log, log if judgments is None else judgments]
    nested = any(kind.is_nested() for table in both for kind in table.dtypes)
    return len(both[0]) * len(both[1]) <= threads.SMALL and not nested


def id_hash(ids: pl.Series, seed: int = 0, *, few: bool = False) -> pl.Series:
    """Return a hash of ids, the same in every frame: of categories by their text.

    ``few``: whether it is that of Python; polars starts threads, which costs a small call more.
    """
    if few:
        return pl.Series(np.array([hash((seed, one)) for one in ids.to_list()], np.int64).view(np.uint64))
    ids = ids if ids.dtype == pl.String or ids.dtype not in TEXTS else ids.cast(pl.String)
    return ids.to_frame().hash_rows(seed)  # the same as hash(), which is a plan of polars


def _pair_hash(frame: pl.DataFrame, keys: list[str], *, few: bool) -> Array:
    """A hash of the keys and the document of each row."""
    mixed = frame["hash"]
    for seed, key in enumerate(keys, start=1):
        mixed = mixed ^ id_hash(frame[key], seed, few=few)
    return mixed.to_numpy()


def _likely(ours: Array, theirs: Array) -> Array:
    """Rows whose hash may be among the others': its low bits are marked in a table."""
    low = np.uint64((1 << max(16 * len(theirs), 1024).bit_length()) - 1)
    marked = np.zeros(int(low) + 1, bool)
    marked[theirs & low] = True
    rows: list[Array] = [np.zeros(0, np.int64)] * (len(ours) // threads.BLOCK + 1)

    def work(block: int) -> None:
        begin = block * threads.BLOCK
        rows[block] = np.flatnonzero(marked[ours[begin : begin + threads.BLOCK] & low]) + begin

    threads.in_threads(range(len(rows)), work)
    return np.concatenate(rows)


def _joined(ours: Array, theirs: Array) -> tuple[Array, Array]:
    """Places of equal hashes in two arrays, where several may be equal in each."""
    if len(ours) * len(theirs) <= threads.SMALL:
        at, at_theirs = np.nonzero(ours[:, None] == theirs)
        return at, at_theirs
    both = (pl.DataFrame({"hash": hashes}).with_row_index("at") for hashes in (ours, theirs))
    pairs = next(both).join(next(both), on="hash", how="inner", suffix="_theirs")
    return pairs["at"].to_numpy(), pairs["at_theirs"].to_numpy()


def refuse_strangers(log: pl.DataFrame, judgments: pl.DataFrame, keys: list[str], name: str) -> None:
    """Raise if log and judgments, which have rows, have no id in common: then the ids are written in two ways."""
    if not len(log) or not len(judgments):
        return
    ours, theirs = log.select(keys).unique(maintain_order=True), judgments.select(keys).unique(maintain_order=True)
    if not len(ours.join(theirs, on=keys, how="semi", nulls_equal=True)):
        raise BadValueError(
            f"{name}: no id of the log is among those of the judgments (the log has {ours[keys[0]][0]!r}, "
            f"the judgments {theirs[keys[0]][0]!r}); do both write ids the same way?"
        )
