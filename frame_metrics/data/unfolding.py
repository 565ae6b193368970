"""Make a row for each result of each system: unfold lists, and stack the columns of several systems."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.backends.polars import PolarsFrame, key_values
from frame_metrics.backends.protocol import Backend, SeparateJudgments
from frame_metrics.data.judgments import errors_name_judgments
from frame_metrics.data.row_map import Origin
from frame_metrics.errors import BadValueError, bad_rows, listed, type_name
from frame_metrics.fast.codes import codes
from frame_metrics.hidden import ANNOTATOR, LABEL, ORDER, ORIGIN, RELEVANCE_KNOWN, SOURCE_ROW, WITHOUT_RESULTS
from frame_metrics.inputs import Array
from frame_metrics.inputs.records import record
from frame_metrics.keys.ids import cast_exactly, kind_of_ids, wider_type
from frame_metrics.roles.columns import Columns
from frame_metrics.roles.resolve import ROW, SYSTEM
from frame_metrics.roles.series import TEXTS, number_column, refuse

# Whether ``relevant=`` holds 0/1 flags by mistake, the less likely first, see ``_flags``.
NO_FLAGS, MAY_BE_IDS, PROBABLY_FLAGS, FLAGS = range(4)


@record
class Unfolded:
    """A table with a row for each result of each system, and the source row of each."""

    table: pl.DataFrame
    frame: pl.DataFrame  # the caller's frame, of which the table was made
    columns: Columns
    origin: Origin  # maps rows to rows of the frame; past the end of the table, to rows of the judgments' frame
    judgments: SeparateJudgments  # the judgments, a row for each
    judgment_columns: Columns | None  # the roles of their columns
    to_read: list[str]  # the columns of ``judgments`` to read
    judgments_unfolded: bool  # whether the judgments were made of lists too
    flags: int | None = None  # whether ``relevant=`` holds flags by mistake, see ``_flags``

    def check_flags(self) -> None:
        """Raise if the lists of ``relevant=`` hold a flag for each result, not ids."""
        if are_flags([self.flags]):
            raise flags_for_ids(str(self.columns.relevant))

    def folded(self, answer: Answer) -> Answer:
        """Return an answer with key rows of the caller's frame; keys that the frame does not have become values."""
        keys = {name: self._key(answer.source_column(name), at) for name, at in answer.keys.items()}
        return self.origin.answer(replace(answer, keys=keys))

    def _key(self, name: str, at: Array | pl.Series) -> Array | pl.Series:
        """Return the values of a key that only the table has (unfolded or made here), else its rows unchanged."""
        columns = self.columns
        of_judgments = (columns.doc, ANNOTATOR) if self.judgments_unfolded else ()
        if name not in (*columns.shape.made, *columns.shape.list_columns, *of_judgments):
            return at
        values = key_values(self.table, name, at, self.judgments)
        return values.cast(pl.String) if name == SYSTEM and name in columns.shape.made else values

    def in_every_system(self, marks: Array, rows: pl.DataFrame) -> Array:
        """Return marks of rows; where systems are columns, only source rows marked for all systems stay marked.

        ``rows``: some rows of the table, with the same source rows for each system; ``marks``: their marks, (rows,).
        """
        n_systems = len(self.columns.shape.per_system)
        if not n_systems:
            return marks
        without_results = (
            rows[WITHOUT_RESULTS].fill_null(False).to_numpy()
            if WITHOUT_RESULTS in rows.columns
            else np.zeros(len(rows), bool)
        )
        out = marks.copy()
        for part in (~without_results, without_results):  # in each part the rows are system by system
            out[part] = np.tile(marks[part].reshape(n_systems, -1).all(axis=0), n_systems)
        return out


def unfold(
    frame: pl.DataFrame,
    columns: Columns,
    judgments: SeparateJudgments,
    judgment_columns: Columns | None,
    to_read: list[str],
) -> Unfolded:
    """Make a row for each result of each system, and a row for each judgment.

    Parameters
    ----------
    frame : the needed columns of the caller's frame.
    columns : their roles.
    judgments : the separate judgments, whose columns may hold lists too.
    judgment_columns : the roles of their columns.
    to_read : the columns of the judgments to read.

    Raises
    ------
    BadValueError
        Lists of one row differ in length, a query has two rows of lists, or two rows of a query have different lists
        of relevant documents.
    """
    source, origin, judgment_rows = frame, np.arange(len(frame)), None
    flags: int | None = None
    if numbered := {str(name) for name in (ROW, columns.doc) if name in columns.shape.made}:
        number = pl.col(ORDER) if ORDER in source.columns else pl.int_range(pl.len(), dtype=pl.Int64)
        source = source.with_columns(number.alias(name) for name in numbered)
    # Judgments: made of lists of relevant documents in the frame, or of lists in the frame of judgments.
    if columns.relevant:
        judgments, judgment_columns, judgment_rows, flags = _judgments_of(source, columns)
        to_read = judgment_columns.needed
        has_list = pl.col(columns.relevant).is_not_null().alias(RELEVANCE_KNOWN)
        source = source.with_columns(has_list).drop(columns.relevant)
    elif (
        judgment_columns is not None
        and judgments.backend is not None
        and judgments.backend.holds_lists(str(judgment_columns.doc))
    ):
        judgments, judgment_rows = _unfolded_judgments(judgments.backend, judgments.columns, judgment_columns, to_read)
    # Results: a row for each item of a list, and for each system that is a column.
    tables, rows = [source], [origin]
    if columns.shape.list_columns:
        tables, rows = _without_lists(source, columns)
    if columns.relevant and columns.systems_have_rows and judgment_rows is not None:
        judgments, judgment_rows = _with_unlisted_results(judgments, judgment_rows, tables[0], rows[0], columns)
    n_systems = len(columns.shape.per_system)
    if n_systems:
        tables = [_by_system(table, columns) for table in tables]
        rows = [np.tile(at, n_systems) for at in rows]
    # Put the tables together, and note the row of the frame that each row comes from.
    table = tables[0]
    if len(tables) > 1:
        # Sort keys by system, then by row of the frame.
        n = n_systems or 1
        of_system = [np.repeat(np.arange(n) * len(frame), len(at) // n) for at in rows]
        sort_keys = pl.Series(ORIGIN, np.concatenate(rows) + np.concatenate(of_system))
        table = pl.concat(tables, how="diagonal").with_columns(sort_keys)
    origin, judgments_unfolded = np.concatenate(rows), judgment_rows is not None
    if judgment_rows is not None:  # source rows of judgments: of the frame itself (relevant=), or past its end
        origin = np.append(origin, judgment_rows + (0 if columns.relevant else len(frame)))
    parts = table[SYSTEM].alias(columns.shape.stacked_column) if columns.shape.stacked_column else None
    row_map = Origin(origin, len(frame), parts=parts)
    return Unfolded(table, frame, columns, row_map, judgments, judgment_columns, to_read, judgments_unfolded, flags)


def _without_lists(frame: pl.DataFrame, columns: Columns) -> tuple[list[pl.DataFrame], list[Array]]:
    """Unfold the lists of each row.

    Returns
    -------
    One or two tables: the results, and a row for each query without results; and the source rows of each table.
    """
    frame = _as_lists(frame, columns.shape.list_columns)
    judgments = [name for name in (columns.label, columns.grade) if name in columns.shape.list_columns]
    # A query without results is judged if its lists of judgments are empty (null: unjudged). It is also judged if all
    # its lists are null: the row then says only that nothing was found.
    null = frame.select(pl.col(name).is_null() for name in columns.shape.list_columns)
    known = null.select(~pl.any_horizontal(pl.lit(False), *judgments) | pl.all_horizontal(pl.all())).to_series()
    frame, length = _common_length(frame, columns.shape.list_columns, judgments)
    if columns.query:
        _check_once(frame, columns)
    has_results, every = length > 0, np.arange(len(frame))
    results = frame.filter(pl.Series(has_results)).explode(list(columns.shape.list_columns))
    origin = np.repeat(every[has_results], length[has_results])
    if columns.rank in columns.shape.made and columns.rank != columns.shape.stacked_column:
        first = np.cumsum(length[has_results]) - length[has_results]
        rank = np.arange(len(origin)) - np.repeat(first, length[has_results]) + 1
        results = results.with_columns(pl.Series(columns.rank, rank))
    if has_results.all() or not columns.query:
        return [results], [origin]
    without_results = frame.filter(pl.Series(~has_results)).drop(columns.shape.list_columns)
    without_results = without_results.with_columns(pl.lit(True).alias(WITHOUT_RESULTS))
    if judgments:
        without_results = without_results.with_columns(known.filter(pl.Series(~has_results)).alias(RELEVANCE_KNOWN))
    return [results, without_results], [origin, every[~has_results]]


def _as_lists(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Turn columns of polars arrays (lists of one fixed length) into columns of lists."""
    return frame.with_columns(pl.col(name).arr.to_list() for name in names if isinstance(frame.schema[name], pl.Array))


def _refuse_missing(ids: pl.DataFrame, name: str, n: int) -> None:
    """Raise for lists that hold a null.

    Parameters
    ----------
    ids : a row for each id, with the row of its list in the column ``SOURCE_ROW``.
    name : the column of ids.
    n : number of rows of the frame, for the error.
    """
    if ids[name].null_count():
        rows = ids.filter(pl.col(name).is_null())[SOURCE_ROW].unique(maintain_order=True).to_numpy()
        raise bad_rows(name, rows, n, "have a missing id in their list", "drop it")


def _common_length(
    frame: pl.DataFrame, lists: Sequence[str], judgments: Sequence[str] = ()
) -> tuple[pl.DataFrame, Array]:
    """Count the results of each row, shape (rows,); raise if the lists of a row differ in length.

    A null in a column of ``judgments`` means that all results of the row are unjudged. In the returned frame it is a
    list with a null for each result.
    """
    lengths = {name: frame[name].list.len().fill_null(0).to_numpy().astype(np.int64) for name in lists}
    with_nulls = [name for name in judgments if frame[name].null_count() and set(judgments) < set(lists)]
    # A null becomes a list of as many nulls as the row has results.
    for name in with_nulls:
        other = next(one for one in lists if one not in judgments)
        lengths[name] = np.where(frame[name].is_null().to_numpy(), lengths[other], lengths[name])
        nothing = pl.lit(None, frame[name].explode().dtype).repeat_by(pl.Series(lengths[other]))
        frame = frame.with_columns(pl.col(name).fill_null(nothing))
    (name, length), *others = lengths.items()
    for other, other_length in others:
        if (bad := np.flatnonzero(other_length != length)).size:
            row = int(bad[0])
            row_number = frame[ORDER][row] if ORDER in frame.columns else row
            are_ids = other in judgments and frame[other].dtype == frame[name].dtype
            here = f"row {row_number} has {length[row]} in {name} and {other_length[row]} in {other}"
            way = f"; if {other} holds the relevant documents, pass relevant={other!r} in its place" * are_ids
            raise bad_rows(
                f"{name} and {other}",
                bad,
                len(frame),
                "have lists of different lengths",
                f"{here}; give each result of a query both{way}",
            )
    return frame, length


def _check_once(frame: pl.DataFrame, columns: Columns) -> None:
    """Raise for a query with two rows: their lists would become one ranking, in which ranks occur twice."""
    keys = [name for name in columns.keys if name not in columns.shape.from_judgments and name in frame.columns]
    again = ~frame.select(pl.struct(keys).is_first_distinct()).to_series()
    systems = "" if columns.system else "system= if several systems gave them, "
    way = f"{systems}query=[{listed(columns.query)}, ...] with the column that tells the rows apart"
    remedy = f"a row has all results of its query: name {way}, or join the lists"
    refuse(", ".join(columns.query), again, "repeat a query", remedy)


def _by_system(table: pl.DataFrame, columns: Columns) -> pl.DataFrame:
    """Stack the rows of systems that are columns: one column has their values, and another one their names."""
    names = columns.shape.per_system
    each = pl.Series(SYSTEM, names, pl.Enum(sorted(names)))
    stacked = [each.gather(np.repeat(np.arange(len(names)), len(table)))]
    if names[0] in table.columns:
        stacked.append(pl.concat(_of_one_kind(table, columns)).alias(columns.shape.stacked_column))
    return pl.concat([table.drop(names, strict=False)] * len(names)).with_columns(stacked)


def type_of_all(kinds: Sequence[Any]) -> Any:
    """Return the type of several columns stacked into one."""
    known = [kind for kind in kinds if kind != pl.Null]
    if len(set(known)) < 2:
        return known[0] if known else pl.Null
    if all(isinstance(kind, TEXTS) for kind in known):
        return pl.String
    try:
        return pl.concat([pl.DataFrame(schema={"": kind}) for kind in known], how="vertical_relaxed").schema[""]
    except pl.exceptions.SchemaError:  # there is none; it will be an error when the columns are read
        return known[0]


def _of_one_kind(table: pl.DataFrame, columns: Columns) -> list[pl.Series]:
    """Return the column of each system, all in one type, so that they can be stacked."""
    values_of = {name: table[name] for name in columns.shape.per_system}
    if columns.predicted not in columns.shape.made:
        role = "rank" if columns.rank in columns.shape.made else "score"
        values_of = {name: number_column(values, name, role, None) for name, values in values_of.items()}
    kinds = {values.dtype for values in values_of.values() if values.dtype != pl.Null}
    compatible = all(kind.is_numeric() for kind in kinds) or all(isinstance(kind, TEXTS) for kind in kinds)
    if len(kinds) > 1 and not compatible:
        types = ", ".join(f"{name!r} is {type_name(values.dtype)}" for name, values in values_of.items())
        raise BadValueError(f"{types}; give the columns of the systems one type")
    kind = type_of_all([values.dtype for values in values_of.values()])
    return [values.cast(kind) for values in values_of.values()]


def _judgments_of(frame: pl.DataFrame, columns: Columns) -> tuple[SeparateJudgments, Columns, Array, int | None]:
    """Turn the lists of ``relevant=`` into judgments.

    Returns
    -------
    The judgments, a row with the label 1 for each listed document; the roles of their columns; the source row of each;
    and what ``_flags`` says of the lists.
    """
    relevant = str(columns.relevant)
    keys = [name for name in (*columns.by, *columns.query) if name not in columns.shape.from_judgments]
    listed_ids = _as_lists(frame.select(*keys, relevant), [relevant]).with_row_index(SOURCE_ROW)
    query, at = codes(listed_ids, keys)
    # Several rows of a query (one for each system) have to hold the same list; the first one is read.
    if len(at) < len(frame):
        lists = listed_ids[relevant].list.unique().list.sort()
        way = "give each query one list of relevant documents"
        refuse(relevant, lists.ne_missing(lists[at][query]), "differ from another row of their query", way)
    ids = listed_ids[at].filter(pl.col(relevant).list.len() > 0).explode(relevant)
    _refuse_missing(ids, relevant, len(frame))
    table = ids.drop(SOURCE_ROW).with_columns(pl.lit(1, dtype=pl.Int8).alias(LABEL))
    by = tuple(name for name in columns.by if name in keys)
    pairs = {name: name for name in keys} | {str(columns.doc): relevant}
    return (
        SeparateJudgments(PolarsFrame(table), pairs),
        Columns.of(query=columns.query, by=by, doc=relevant, label=LABEL),
        ids[SOURCE_ROW].to_numpy().astype(np.int64),
        _flags(ids, columns, frame),
    )


def _with_unlisted_results(
    judgments: SeparateJudgments, origin: Array, results: pl.DataFrame, rows: Array, columns: Columns
) -> tuple[SeparateJudgments, Array]:
    """Add judgments with the label 0: the results of all systems that their query's list does not have.

    So what one system retrieved is judged for the others too. Queries without a list get none.
    """
    listed_ones = judgments.read([*judgments.columns.values(), LABEL])
    relevant, keys = str(columns.relevant), [name for name in judgments.columns if name != columns.doc]
    found = results.with_columns(pl.Series(SOURCE_ROW, rows)).filter(pl.col(RELEVANCE_KNOWN))
    found = found.select(*keys, pl.col(str(columns.doc)).alias(relevant), SOURCE_ROW)
    found = found.unique([*keys, relevant], maintain_order=True)
    kind = wider_type(listed_ones.schema[relevant], found.schema[relevant])
    if kind_of_ids(listed_ones.schema[relevant]) != kind_of_ids(found.schema[relevant]):
        return judgments, origin  # it will be an error when the ids are compared
    typed = [cast_exactly(one[relevant], kind) for one in (listed_ones, found)]
    if any(ids is None for ids in typed):
        return judgments, origin  # the same error
    listed_ones, found = (one.with_columns(ids) for one, ids in zip((listed_ones, found), typed, strict=True))
    found = found.join(listed_ones, on=[*keys, relevant], how="anti", nulls_equal=True, maintain_order="left")
    not_relevant = pl.lit(0, dtype=pl.Int8).alias(LABEL)
    both = pl.concat([listed_ones, found.select(*keys, relevant, not_relevant).select(listed_ones.columns)])
    return SeparateJudgments(PolarsFrame(both), judgments.columns), np.append(origin, found[SOURCE_ROW].to_numpy())


def are_flags(flags: Iterable[int | None]) -> bool:
    """Return True if ``relevant=`` holds flags; ``flags``: what ``_flags`` returned for each piece of a frame."""
    known = [one for one in flags if one is not None]
    return bool(known) and min(known) > NO_FLAGS and (max(known) == FLAGS or min(known) == PROBABLY_FLAGS)


def _flags(ids: pl.DataFrame, columns: Columns, frame: pl.DataFrame) -> int | None:
    """Judge whether lists of relevant ids hold a flag for each result instead, such as [1, 0, 0].

    Lists that may be flags hold only 0 and 1, and are as long as the lists of documents.

    Returns
    -------
    ``NO_FLAGS``: they cannot be flags. ``FLAGS``: they are, because a list holds a value twice. ``PROBABLY_FLAGS``: no
    document has the id 0 or 1. ``MAY_BE_IDS``: a document has such an id. None: the lists are empty, and tell nothing.
    """
    name, doc = str(columns.relevant), str(columns.doc)
    values = ids[name]
    if values.dtype == pl.Boolean:
        raise flags_for_ids(name)
    if not values.dtype.is_numeric() or doc not in columns.shape.list_columns or not _0_or_1(values).all():
        return NO_FLAGS
    lists = _as_lists(frame, [name, doc])
    if not (lists[name].list.len() == lists[doc].list.len()).fill_null(True).all():
        return NO_FLAGS
    if ids.select(pl.struct(SOURCE_ROW, name).is_duplicated().any()).item():
        return FLAGS
    docs = lists[doc].explode()
    known = docs.dtype.is_numeric() and _0_or_1(docs).any()
    return MAY_BE_IDS if known else PROBABLY_FLAGS if len(values) else None


def _0_or_1(numbers: pl.Series) -> pl.Series:
    """Mark numbers that are 0 or 1, compared as floats: not every version of polars compares integers of 128 bits."""
    return numbers.cast(pl.Float64).is_in([0.0, 1.0])


def flags_for_ids(name: str) -> BadValueError:
    """Return the error for lists of ``relevant=`` that hold flags."""
    return BadValueError(
        f"{name}: its lists hold flags, and relevant= is a list of ids; pass relevant=None, label={name!r}, "
        "which has a flag for each result"
    )


def _unfolded_judgments(
    backend: Backend, columns: dict[str, str], judgment_columns: Columns, to_read: list[str]
) -> tuple[SeparateJudgments, Array]:
    """Unfold separate judgments whose columns hold lists; return them, a row for each, and the source row of each."""
    read = backend.read(to_read).with_row_index(SOURCE_ROW)
    roles = ("doc", "grade", "label", "annotator", "subtopic")
    named, doc = [judgment_columns.by_role.get(role) for role in roles], str(judgment_columns.doc)
    lists = [name for name in named if name and isinstance(read.schema.get(name), pl.List | pl.Array)]
    read = _as_lists(read, lists)
    with errors_name_judgments():
        _common_length(read, lists)
        table = read.filter(pl.col(doc).list.len() > 0).explode(lists)
        _refuse_missing(table, doc, len(read))
    source_row = table[SOURCE_ROW].to_numpy().astype(np.int64)
    return SeparateJudgments(PolarsFrame(table.drop(SOURCE_ROW)), columns), source_row
