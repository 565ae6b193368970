"""Check the separate judgments, in the log's types, and lay them out query by query."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import reduce
from operator import or_

import numpy as np
import polars as pl

from frame_metrics.answer import frame_of
from frame_metrics.data.annotators import combine_judgments
from frame_metrics.data.ranking_rows import Pools, RankingRows, find_duplicates
from frame_metrics.errors import BadRowsError, BadValueError, listed
from frame_metrics.fast.codes import codes, sparse_codes
from frame_metrics.fast.equal_rows import all_differ
from frame_metrics.fast.group_rows import group_rows
from frame_metrics.fast.join_ids import ByQuery, id_hash
from frame_metrics.fast.take_rows import rows_at, to_array
from frame_metrics.inputs import Array, Subtopics
from frame_metrics.inputs.records import record
from frame_metrics.keys.groups import drawing_ranks
from frame_metrics.keys.ids import in_common_type, in_type_of
from frame_metrics.roles.columns import (
    IN_JUDGMENTS,
    OF_JUDGMENTS,
    QUERY_ROLES,
    Columns,
    judgment_columns_in,
    role_columns,
)
from frame_metrics.roles.conventions import Conventions
from frame_metrics.roles.series import refuse, refuse_nan, refuse_null

# Remedies in errors, and what errors say of rows.
ONCE = "keep one of each"
TWO_JUDGMENTS = "differ from another row of their query and document"
COMBINE = f"{ONCE}, or use judge(..., several=) if several people judged: 'mean', 'median', 'max' or 'majority'"
ONE_EACH = {"annotator": "the one who gave it", "subtopic": "its subtopic"}
VALUES_OF_QUERIES = [role for role in IN_JUDGMENTS if role in QUERY_ROLES]  # roles of queries that judgments may have


@record
class JudgmentTable:
    """Judgments ready to be joined, one for each document of a query."""

    documents: pl.DataFrame  # a row for each judged document: its segment, query and id, with grade and label
    keys: list[str]  # internal names of the columns that identify a judged query: the judgments' ``by``, and the query
    queries: pl.DataFrame  # a row for each judged query: its keys, and its values of other roles (weight, cluster ...)
    pool: Pools  # the judged documents of each row of ``queries``
    row: Array  # a row of the judgments' frame for each row of ``queries``
    order: Array | None  # the row of ``documents`` at each position of ``pool``; None where they are the same
    by_annotator: pl.DataFrame | None = None  # the judgments before those of several annotators were combined, or None
    unjudged: pl.DataFrame | None = None  # the ids of documents without a grade or label; None: there are none
    subtopics: Subtopics | None = None  # the judgments of each document by subtopic; None without subtopics

    @property
    def listed(self) -> pl.DataFrame:
        """The ids of all documents in the judgments, also of those that have no grade and no label yet."""
        documents = self.documents.select(*self.keys, "doc")
        return documents if self.unjudged is None else pl.concat([documents, self.unjudged.select(documents.columns)])

    @property
    def by_query(self) -> ByQuery:
        """The rows of ``documents``, query by query."""
        return ByQuery(self.queries.select(self.keys), self.pool.starts, self.pool.lengths, self.order)

    @property
    def judgment_keys(self) -> list[str]:
        """The columns that identify what an annotator judged: query, document and, if there are any, subtopic."""
        available = () if self.by_annotator is None else self.by_annotator.columns
        return [*self.keys, "doc", *(name for name in available if name == "subtopic")]


def read_judgments(
    frame: pl.DataFrame,
    columns: Columns,
    log: pl.DataFrame,
    log_columns: Columns,
    conventions: Conventions,
    *,
    in_python: bool = False,
) -> JudgmentTable:
    """Check separate judgments, combine those of several annotators, and lay them out by query.

    Parameters
    ----------
    frame, columns : the judgments, and the roles of their columns.
    log, log_columns : the log, whose types ids and segments get, and the roles of its columns.
    conventions : those of the call.
    in_python : whether ids are compared as Python values, see ``can_compare_in_python``.

    Raises
    ------
    BadValueError
        A judgment is bad. Not a ``BadRowsError``: its row numbers would be taken for rows of the log.
    """
    _, internal_by, internal_query = log_columns.internal_by_role
    by = [internal for internal, name in zip(internal_by, log_columns.by, strict=True) if name in columns.by]
    with errors_name_judgments():
        table, unjudged = _judged_rows(frame, columns, log, log_columns, by, conventions)
    keys, by_annotator = [*by, *internal_query], None
    judged_keys = [*keys, "doc", "subtopic"] if columns.subtopic else [*keys, "doc"]
    if columns.annotator:
        keys_of_annotators = [*judged_keys, "annotator"]
        if not all_differ(table, keys_of_annotators):
            _refuse_two_grades(table, keys_of_annotators, columns, ONCE)
            table = combine_judgments(table, keys_of_annotators, "max")
        by_annotator = table
    if conventions.several:
        table, by_annotator = combine_judgments(table, judged_keys, conventions.several), table
    lay = _with_subtopics if columns.subtopic else lay_out
    return replace(lay(table, keys, columns, in_python=in_python), by_annotator=by_annotator, unjudged=unjudged)


def _with_subtopics(table: pl.DataFrame, keys: list[str], columns: Columns, *, in_python: bool) -> JudgmentTable:
    """Lay out judgments by subtopic.

    The judgments of all subtopics are in ``subtopics``. For metrics without subtopics, the judgment of a document is
    the greatest of its subtopics.
    """
    # Sort by document, then by the value of the subtopic, so that sums do not depend on the order of the rows.
    document, first = codes(table, [*keys, "doc"])
    subtopic_rank = drawing_ranks(table.select("subtopic"))[0].astype(np.int64)
    n_subtopics = int(subtopic_rank.max(initial=0)) + 1
    order = np.argsort(code := document * n_subtopics + subtopic_rank, kind="stable")
    if (np.diff(code[order]) == 0).any():  # equal judgments of one document and subtopic become one
        judged_keys = [*keys, "doc", "subtopic"]
        _refuse_two_grades(table, judged_keys, columns, COMBINE)
        return _with_subtopics(combine_judgments(table, judged_keys, "max"), keys, columns, in_python=in_python)
    lengths = np.bincount(document)
    starts = np.cumsum(lengths) - lengths
    values = {name: to_array(table[name])[order] for name in judgment_columns_in(table)}
    # One judgment for each document, for metrics without subtopics: its greatest grade, and relevant if it is for one.
    greatest = (pl.Series(name, np.fmax.reduceat(each, starts), nan_to_null=True) for name, each in values.items())
    kept = rows_at(table, (name for name in table.columns if name != "subtopic"), first)
    judged = lay_out(kept.with_columns(greatest), keys, columns, in_python=in_python)
    # The codes of the subtopics of a query are 0, 1, 2 ...
    query = codes(judged.documents, keys)[0][document]
    query_subtopic, at = np.unique(query * n_subtopics + subtopic_rank, return_inverse=True)
    subtopic = (at - np.searchsorted(query_subtopic // n_subtopics, query))[order]
    ids = judged.documents["doc"]
    id_rank = drawing_ranks(pl.DataFrame({"doc": ids.cast(pl.String) if ids.dtype.is_numeric() else ids}))[0]
    grade, label = next(iter(values.values())), values.get("label")
    subtopics = Subtopics(starts, lengths, subtopic, grade, label, id_rank)
    document_at_place = np.arange(len(judged.documents)) if judged.order is None else judged.order
    return replace(judged, subtopics=subtopics, pool=replace(judged.pool, document=document_at_place))


@contextmanager
def errors_name_judgments() -> Iterator[None]:
    """Turn a ``BadRowsError``, which is about rows of the log, into an error that names the judgments."""
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
    conventions: Conventions,
) -> tuple[pl.DataFrame, pl.DataFrame | None]:
    """Return the rows with a grade or a label, checked, and the others; columns have the names of their roles."""
    query = columns.internal_by_role[2]
    out: dict[str, pl.Series] = {}
    _refuse_chosen(frame, columns)
    # Ids and segments, in the types of the log. A column that only the judgments have keeps its type.
    for internal, name, log_name in zip(
        (*by, *query), (*columns.by, *columns.query), (*columns.by, *log_columns.query), strict=True
    ):
        refuse_nan(frame[name], name, "drop them")
        if internal in query:
            refuse_null(name, frame[name], "have no query", "drop them")
        dtype = frame[name].dtype if log_name in log_columns.shape.from_judgments else log[internal].dtype
        out[internal] = in_type_of(frame[name], dtype, *_names_for_errors(name, log_name), dtype)
    doc = str(columns.doc)
    refuse_null(doc, frame[doc], "have no document", "drop them")
    refuse_nan(frame[doc], doc, "drop them")
    out["doc"] = _in_common_type(frame[doc], doc, log["doc"], str(log_columns.doc))
    roles, positive = ("grade", "label", *VALUES_OF_QUERIES), None if columns.shape.made else conventions.positive
    out |= role_columns(frame, columns, roles, positive=positive, scale=conventions.scale)
    if columns.cluster and "cluster" in log.columns:
        out["cluster"] = _in_common_type(out["cluster"], columns.cluster, log["cluster"], columns.cluster)
    table = frame_of(out).with_row_index("row")
    # A row with neither a grade nor a label judges nothing; it still names a document (``unjudged``).
    all_judge = any(not table[name].null_count() for name in judgment_columns_in(table))
    judges = None if all_judge else reduce(or_, (table[name].is_not_null() for name in judgment_columns_in(table)))
    table = _with_roles(table, frame, columns, judges)
    table, unjudged = (table, None) if judges is None else (table.filter(judges), table.filter(~judges))
    # What has one value for a query (weight, cluster, a segment that only judgments have) must be the same in its rows.
    only_in_judgments = log_columns.shape.from_judgments
    pairs = zip(by, columns.by, strict=True)
    segments = {internal: name for internal, name in pairs if name in only_in_judgments}
    keys = [key for key in (*by, *query) if key not in segments]
    for internal, column in {**segments, **{role: columns.by_role.get(role) for role in VALUES_OF_QUERIES}}.items():
        if column and table.select(*keys, internal).n_unique() > table.select(keys).n_unique():
            example = table.filter(pl.col(internal).n_unique().over(keys) > 1).select(query).row(0)
            raise BadValueError(
                f"{column} (of the judgments): rows of one query differ (of {listed(example)}); "
                "give each query one value"
            )
    return table, unjudged


def _in_common_type(values: pl.Series, name: str, ours: pl.Series, log_name: str) -> pl.Series:
    """Cast ids of the judgments to a type that also holds the log's ids, ``ours``; raise if there is none."""
    if values.dtype == ours.dtype:
        return values
    return in_common_type(ours, values, *reversed(_names_for_errors(name, log_name)))[1]


def _names_for_errors(name: str, log_name: str) -> tuple[str, str]:
    """Return the names of a column of the judgments and of one of the log, for errors."""
    return f"{name} of the judgments", f"{log_name} of the log"


def _refuse_chosen(frame: pl.DataFrame, columns: Columns) -> None:
    """Raise if ``to_judge`` chose some documents for judging: prediction-powered means need a random sample."""
    flags = frame[columns.chosen] if columns.chosen else None
    if flags is not None and flags.dtype == pl.Boolean and (chosen := flags.sum()):
        raise BadValueError(
            f"{columns.chosen}: {chosen} of {len(frame)} judgments were chosen by to_judge(), so that neither their "
            "queries nor the others are a random sample: judge all documents of a random sample of "
            f"queries and drop {columns.chosen!r}, or name the chance of each query, as judge(..., sampling='chance')"
        )


def _with_roles(table: pl.DataFrame, frame: pl.DataFrame, columns: Columns, judges: pl.Series | None) -> pl.DataFrame:
    """Add the roles that only judgments have (annotator, subtopic); each judgment needs their values.

    ``judges``: True for rows with a grade or a label; None: all have one.
    """
    for role in OF_JUDGMENTS:
        if column := columns.by_role.get(role):
            remedy = f"give every judgment {ONE_EACH[role]}"
            refuse_nan(frame[column], column, remedy)
            lacking = frame[column].is_null()
            lacking = lacking if judges is None else lacking & judges
            refuse(column, lacking, f"have a judgment and no {role}", remedy)
            table = table.with_columns(frame[column].alias(role))
    return table


def lay_out(
    table: pl.DataFrame, keys: list[str], columns: Columns, frame_row: Array | None = None, *, in_python: bool
) -> JudgmentTable:
    """Lay checked judgments out query by query; equal judgments of one document become one.

    Parameters
    ----------
    table : the judgments.
    keys : columns that identify a judged query.
    columns : the roles of the columns.
    frame_row : if the judgments are in the log itself, the row of the caller's frame of each row of the log; else None.
    in_python : see ``can_compare_in_python``.

    Raises
    ------
    BadValueError, BadRowsError
        A document has two different judgments. ``BadRowsError`` if they are in the log.
    """
    values = judgment_columns_in(table)
    pairs = table if in_python else table.hstack([id_hash(table["doc"]).alias("hash")])
    queries = RankingRows(*group_rows(pairs, keys, values if in_python else [*values, "hash"], rows=True))
    again = find_duplicates(queries, pairs, keys)
    if len(again):
        may_differ = pairs
        if not in_python:  # of many rows, those of documents that do not repeat are left out: they cannot differ
            repeated = pairs[again].select(*keys, "doc").unique()
            may_differ = pairs.join(repeated, on=[*keys, "doc"], how="semi", nulls_equal=True)
        _refuse_two_grades(may_differ, [*keys, "doc"], columns, COMBINE if frame_row is None else ONCE, frame_row)
        # One row may have the grade, and another one the label.
        if any(pairs.get_column(value).null_count() for value in values):
            pairs = pairs.with_columns(pl.col(values).drop_nulls().first().over(*keys, "doc"))
        is_first = np.ones(len(pairs), bool)
        is_first[again] = False
        pairs = rows_at(pairs, pairs.columns, np.flatnonzero(is_first)) if in_python else pairs.filter(is_first)
        queries = RankingRows(*group_rows(pairs, keys, values, rows=True))
    of_queries = [name for name in pairs.columns if name not in ("doc", "hash", *values)]
    query_table = rows_at(pairs, of_queries, queries.first_row)
    pool = Pools(queries.starts, queries.lengths, queries.values[values[0]], queries.values.get("label"))
    return JudgmentTable(pairs, keys, query_table, pool, query_table["row"].to_numpy().astype(np.int64), queries.row)


def _refuse_two_grades(
    table: pl.DataFrame, keys: list[str], columns: Columns, remedy: str, frame_row: Array | None = None
) -> None:
    """Raise if rows with equal ``keys`` have different judgments; ``frame_row``: as in ``lay_out``."""
    values, code = judgment_columns_in(table), codes(table, keys)[0]
    if not any(_values_differ(to_array(table.get_column(value)), code) for value in values):
        return
    if frame_row is not None:
        table = table.with_columns(pl.Series("row", frame_row[table["row"].to_numpy()]))
    differ = (
        table.group_by(keys, maintain_order=True)
        .agg(
            pl.any_horizontal(pl.col(value).drop_nulls().n_unique() > 1 for value in values).alias("differ"),
            pl.col("row"),
        )
        .filter("differ")
    )
    if len(differ):
        example = ", ".join(str(differ[name][0]) for name in keys)
        rows = ", ".join(str(row) for row in differ["row"][0].to_list()[:3])
        of_whom = f" of one {columns.annotator}" if "annotator" in keys else ""
        more = [columns.by_role[role] for role in OF_JUDGMENTS if role in keys]
        words = ["segment"] * any(key.startswith("by:") for key in keys) + ["query", "document", *more]
        what = f"{', '.join(words[:-1])} and {words[-1]}"
        how_many = "1 pair has" if len(differ) == 1 else f"{len(differ)} pairs have"
        column = str(columns.grade or columns.label)
        unnamed_roles = columns.shape.unnamed_roles
        ways = "".join(f"; or name the column {role!r} too, judge(..., {role}={role!r})" for role in unnamed_roles)
        message = f"{column}: {how_many} two judgments{of_whom} ({what} ({example}), rows {rows}); {remedy}{ways}"
        if frame_row is None:
            raise BadValueError(message)
        bad = np.sort(differ["row"].explode().to_numpy())
        raise BadRowsError(message, column=column, rows=bad, what=TWO_JUDGMENTS, remedy=remedy)


def _values_differ(values: Array, group: Array) -> bool:
    """Return True if two values of one group differ, NaN aside; ``group``: the code of each value's group."""
    known = ~np.isnan(values)
    values, group = values[known], group[known]
    last_of_group = np.zeros(int(group.max(initial=-1)) + 1, values.dtype)
    last_of_group[group] = values
    return bool((last_of_group[group] != values).any())


def number_clusters(log: pl.DataFrame, judgments: JudgmentTable | None) -> tuple[pl.DataFrame, JudgmentTable | None]:
    """Replace the clusters in the log and in its judgments by codes, equal for equal clusters of both."""
    if judgments is None or "cluster" not in judgments.queries.columns:
        return log.with_columns(sparse_codes(log["cluster"])), judgments
    theirs = judgments.queries["cluster"]
    if "cluster" not in log.columns:
        return log, replace(judgments, queries=judgments.queries.with_columns(sparse_codes(theirs)))
    code = sparse_codes(pl.concat([log["cluster"].cast(theirs.dtype), theirs]))
    queries = judgments.queries.with_columns(code[len(log) :])
    return log.with_columns(code[: len(log)]), replace(judgments, queries=queries)
