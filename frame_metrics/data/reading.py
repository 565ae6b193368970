"""Read a log: check the columns, join the judgments, find the rankings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.answer import NOTHING, frame_of
from frame_metrics.data.chances import with_ratio
from frame_metrics.data.documents import with_documents
from frame_metrics.data.grid import Grid, build_grid
from frame_metrics.data.judged_rows import align_with_judgments, join_judgments
from frame_metrics.data.judgments import JudgmentTable, lay_out, number_clusters, read_judgments
from frame_metrics.data.log import NO_PIECE, Log, WholeLogFacts
from frame_metrics.data.ranking_rows import RankingRows, find_duplicates
from frame_metrics.data.row_map import Origin
from frame_metrics.data.systems_as_columns import systems_of
from frame_metrics.errors import bad_rows
from frame_metrics.fast.group_rows import group_rows
from frame_metrics.fast.join_ids import can_compare_in_python, id_hash
from frame_metrics.fast.take_rows import INDEX
from frame_metrics.hidden import ORIGIN, RELEVANCE_KNOWN, WITHOUT_RESULTS
from frame_metrics.inputs import Array
from frame_metrics.keys.groups import as_text
from frame_metrics.keys.spelling import spelled_like
from frame_metrics.roles.columns import (
    QUERY_ROLES,
    UNNAMED_RESULT,
    Columns,
    checked_columns,
    checked_keys,
    judgment_columns_in,
    order_column_in,
    type_of,
)
from frame_metrics.roles.conventions import Conventions
from frame_metrics.roles.series import refuse


def read_log(
    frame: pl.DataFrame,
    columns: Columns,
    conventions: Conventions,
    judgments: tuple[pl.DataFrame, Columns] | None,
    *,
    keep_row_numbers: bool = False,
    totals: bool = False,
    whole_log: WholeLogFacts | None = None,
) -> Log:
    """Check the columns, join the judgments and find the rankings.

    Parameters
    ----------
    frame, columns, conventions : the rows, the roles of their columns, and the conventions.
    judgments : the separate judgments, and the roles of their columns; None if there are none.
    keep_row_numbers : whether rows will be looked up one by one, so that their row numbers are kept.
    totals : whether to measure judged queries of an unknown segment too, which count in totals only.
    whole_log : facts about the whole log, if this is a piece of it; None if it is whole.
    """
    no_system = columns.system is None and columns.arm is None
    judgment_columns, judgment_frame = (columns, frame) if judgments is None else (judgments[1], judgments[0])
    conventions = conventions.in_types(type_of(frame, columns.score), type_of(judgment_frame, judgment_columns.grade))
    drops_duplicates = conventions.duplicates == "first"
    # ``empty_queries``: rows of the frame that say that a query found nothing, such as empty lists.
    results, empty_queries = _split_results(frame, columns) if WITHOUT_RESULTS in frame.columns else (frame, NOTHING)
    log = _checked_results(results, columns, conventions, judged_elsewhere=judgments is not None)
    # Systems that are columns share their rows, and all columns but one, if no threshold column or dropped duplicate
    # changes others. Then only the first system is read until rankings are found.
    systems = None
    if columns.shape.per_system and not (columns.threshold or drops_duplicates):
        systems = systems_of(log, columns)
        log = systems.first
    # ``row``: the row of ``frame`` of each row of the log; None if they are the same, as no duplicate was dropped. The
    # results are the first rows of ``frame``: those of queries without results come last.
    log, row, first_repeated_query = _first_places(log, columns) if drops_duplicates else (log, None, None)
    has_all_systems, whole = systems is None, whole_log is None
    # Join the judgments. ``judged`` also has the judged queries without rows, which the grid adds below.
    log, empty_queries, judged = _with_judgments(
        log, empty_queries, columns, judgments, conventions, row, has_all_systems=has_all_systems, whole=whole
    )
    if columns.relevant:
        log = _unlisted_to_zero(log, frame[RELEVANCE_KNOWN].gather(np.arange(len(log)) if row is None else row))
    # The same with the rows of queries without results, after those of the log.
    row_with_empty = None if row is None else np.append(row, np.arange(len(results), len(frame)))
    if columns.cluster:
        both, judged = number_clusters(pl.concat([log, empty_queries], how="diagonal"), judged)
        log, empty_queries = both[: len(log)], both[len(log) :].select(empty_queries.columns)
    # Group the rows by system, segment and query, and add rankings for the queries without results.
    rankings = _rankings(log, columns, keep_row_numbers=keep_row_numbers or systems is not None)
    repeats = None
    if columns.doc and not drops_duplicates:
        repeats = _repeats(rankings, log, columns, no_system=no_system, judged_elsewhere=judgments is not None)
    if systems is not None:
        log, rankings = systems.table(log), systems.rankings(rankings)
    all_keys = log
    if len(empty_queries):
        all_keys, rankings = _with_empty_rankings(log, empty_queries, rankings, frame, row_with_empty, columns)
    # Each system is measured on every (segment, query) pair: the grid has a ranking for each.
    facts = whole_log or NO_PIECE
    grid = build_grid(
        all_keys, rankings, columns, judged, totals=totals, systems=facts.systems, other_systems=facts.other_systems
    )
    # Without any judgments no query is left out as unjudged.
    has_judgments = bool(judgment_columns.label or judgment_columns.grade or columns.relevant)
    every_known = conventions.unjudged_queries == "count" or not has_judgments
    known = _relevance_known(frame, row_with_empty, grid, every=every_known)
    judgment_name = str(judgment_columns.grade or judgment_columns.label)
    origin = None if row_with_empty is None else Origin(row_with_empty, len(frame))
    spelled = _spellings(frame, columns, judgment_frame, judgment_columns, conventions.positive_text)
    fields: Any = {"empty_queries": empty_queries, "relevance_known": known, "spelled": spelled, "repeats": repeats}
    return Log(log, columns, conventions, judgment_name, grid, judged, origin, first_repeated_query, **fields)


def _spellings(
    frame: pl.DataFrame, columns: Columns, judgment_frame: pl.DataFrame, judgment_columns: Columns, word: str | None
) -> Sequence[Sequence[str]]:
    """Return which of a word and its variants occur among labels and predictions, as ``spelled_like`` does.

    ``judgment_frame``: the table with the labels, the judgments or ``frame``.
    """
    if word is None:
        return ()
    label = None if judgment_columns.shape.made else judgment_columns.label
    named = ((judgment_frame, label), (frame, columns.predicted))
    return spelled_like([table[name] if name and name in table.columns else None for table, name in named], word)


def _split_results(frame: pl.DataFrame, columns: Columns) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Split the rows into results and the rows that stand for queries without results, the latter checked."""
    without = frame[WITHOUT_RESULTS].fill_null(False)
    return frame.filter(~without), checked_keys(frame, columns).filter(without)


def _checked_results(
    results: pl.DataFrame, columns: Columns, conventions: Conventions, *, judged_elsewhere: bool
) -> pl.DataFrame:
    """Return the checked columns of the results, and columns that are made of them (weights, facts of documents)."""
    log = checked_columns(
        results,
        columns,
        judged_elsewhere=judged_elsewhere,
        # Scores are checked when they are sorted. Rows that duplicates="first" drops never are: then check now.
        scores_later=conventions.duplicates != "first",
        positive=conventions.positive,
        scale=conventions.scale,
    )
    log = log if conventions.propensity is None else with_ratio(log, columns, conventions)
    return with_documents(log, columns, conventions) if columns.document_facts else log


def _with_empty_rankings(
    log: pl.DataFrame,
    empty_queries: pl.DataFrame,
    rankings: RankingRows,
    frame: pl.DataFrame,
    row: Array | None,
    columns: Columns,
) -> tuple[pl.DataFrame, RankingRows]:
    """Add a ranking for each query without results, at the place of its row in the caller's frame.

    Returns the keys of all rows, and the rankings.
    """
    sort_key = frame[ORIGIN].to_numpy()
    both = pl.concat([log.select(columns.internal_keys), empty_queries.select(columns.internal_keys)])
    return both, rankings.with_empty_rankings(empty_queries, sort_key if row is None else sort_key[row])


def _repeats(
    rankings: RankingRows, log: pl.DataFrame, columns: Columns, *, no_system: bool, judged_elsewhere: bool
) -> Array:
    """Return the rows of documents that lists show again; raise where documents tell the rows of a query apart.

    They do not if each row has a rank of its own and its own judgment, and the column of documents was not named.

    ``no_system``: True if neither system nor arm is named.
    """
    again = find_duplicates(rankings, log, columns.internal_keys)
    if not len(again):
        return again
    needs_documents = judged_elsewhere or columns.shape.needs_documents or columns.relevant or columns.document_facts
    ranks = log.select(*columns.internal_keys, "rank").drop_nulls("rank") if "rank" in log.columns else None
    ranks_repeat = ranks is not None and len(ranks.unique()) < len(ranks)
    each_counts = ranks is not None and not (ranks_repeat or needs_documents)
    if each_counts and columns.shape.doc_found and not (columns.system or columns.shape.list_columns):
        return again
    again = _but_the_best(log, [*columns.internal_keys, "doc"], again)
    best, options = "duplicates='first' to keep the best place of each", dict[str, Any]()
    remedy = f"drop them, or pass {best}, or doc=None"
    if _are_judged_twice(log, columns, again):
        best = "keep one row of each"
        remedy = f"{best}, or pass doc=None; their judgments differ, so duplicates='first' takes none"
    maybe = no_system and columns.likely_system_text
    of_several = f"pass system={maybe} for rows of several systems" if maybe else "rows of several systems need system="
    ways = [of_several] * no_system + [columns.repeated_query_text] * (not columns.shape.made)
    remedy = "; ".join([*ways, f"else {remedy}" if ways else remedy])
    if ranks_repeat:  # not single rows are wrong, but what counts as one ranking
        named = f"name system={columns.likely_system_text} if several systems gave them, " if no_system else ""
        way = "else drop them, or pass duplicates='first'"
        remedy = f"ranks repeat too: {named}{columns.repeated_query_text}, {way}"
    elif each_counts:  # each is one list, which showed it twice
        options |= {"doc": None}
        remedy = f"no rank repeats, so lists showed a document twice; pass doc=None, or {best}"
    what = "repeat a document of their query"
    raise bad_rows(str(columns.doc), again.tolist(), len(log), what, remedy).offering(**options)


def _are_judged_twice(log: pl.DataFrame, columns: Columns, again: Array) -> bool:
    """Return True if rows of a repeated document have several judgments; ``again``: the rows that repeat one."""
    keys, judgments = [*columns.internal_keys, "doc"], judgment_columns_in(log)
    rows = log.join(log[again].select(keys).unique(), on=keys, how="semi", nulls_equal=True)
    each = rows.group_by(keys).agg(pl.col(judgments).fill_nan(None).drop_nulls().n_unique())
    return any((each[name] > 1).any() for name in judgments)


def _but_the_best(log: pl.DataFrame, keys: Sequence[str], again: Array) -> Array:
    """Return the rows of repeated documents without the best-placed row of each, ascending.

    They do not depend on the order of the rows: of equal places the row with the better judgment is the best.
    ``again``: the rows that repeat a document.
    """
    rows = log.with_row_index("at").join(log[again].select(keys), on=list(keys), how="semi", nulls_equal=True)
    # Sort by place, then by judgment, then by all other numbers.
    read = [name for name in rows.columns if not name.startswith(UNNAMED_RESULT)]  # as without an audit
    numeric = [name for name in read if name not in (*keys, "at") and rows[name].dtype.is_numeric()]
    first = [name for name in ("rank", "score", *judgment_columns_in(rows)) if name in numeric]
    by = [*first, *(name for name in numeric if name not in first)]
    falling = [name != "rank" for name in by]
    rows = rows.with_columns(pl.col(pl.Float64).fill_nan(None))
    rows = rows.sort(by, descending=falling, nulls_last=True, maintain_order=True) if by else rows
    best = rows.unique(keys, keep="first", maintain_order=True)["at"]
    return np.setdiff1d(rows["at"].to_numpy(), best.to_numpy()).astype(np.int64)


def _relevance_known(frame: pl.DataFrame, row: Array | None, grid: Grid, *, every: bool) -> Array | None:
    """Mark the rankings whose query is judged even without a judged document, see ``Log.relevance_known``.

    It is enough that a row of one system says so. ``every``: whether all rankings are marked.
    """
    if every:
        return np.ones(len(grid.segment_query), bool)
    if RELEVANCE_KNOWN not in frame.columns:
        return None
    first_row = grid.rankings.first_row
    marks = frame[RELEVANCE_KNOWN].fill_null(False).to_numpy()[first_row if row is None else row[first_row]]
    known = np.zeros(grid.n_segment_queries, bool)
    known[grid.segment_query[: len(first_row)][marks]] = True  # ``marks`` are of the rankings with rows, the first ones
    return known[grid.segment_query]


def _with_judgments(
    log: pl.DataFrame,
    empty_queries: pl.DataFrame,
    columns: Columns,
    judgments: tuple[pl.DataFrame, Columns] | None,
    conventions: Conventions,
    row: Array | None,
    *,
    has_all_systems: bool,
    whole: bool,
) -> tuple[pl.DataFrame, pl.DataFrame, JudgmentTable | None]:
    """Return the log with its judgments.

    Parameters
    ----------
    log, empty_queries : the results, and the rows of queries without results.
    row : the row of the frame of each row of the log; None if they are the same.
    has_all_systems : whether ``log`` has the rows of all systems: True, unless systems are columns and only the first
        was read yet.
    whole : whether this is the whole log, not a piece of it.

    Returns
    -------
    The log with grades and labels; ``empty_queries`` with the segment columns that only judgments have; and the
    judgments, None if each row has its own judgment, and nothing else is judged.
    """
    _, by, query = columns.internal_by_role
    judged = None
    # Whether ids are compared in Python, not by hashes.
    in_python = columns.doc is not None and can_compare_in_python(log, None if judgments is None else judgments[0])
    if judgments is not None:
        judged = read_judgments(*judgments, log, columns, conventions, in_python=in_python)
        log, empty_queries = (
            align_with_judgments(log, judged),
            align_with_judgments(empty_queries, judged) if len(empty_queries) else empty_queries,
        )
    if columns.doc and not in_python:
        log = log.hstack([id_hash(log["doc"]).alias("hash")])
    if judged is None and has_all_systems and columns.system and columns.doc and (columns.grade or columns.label):
        judged = _judgments_in_rows(log, [*by, *query], columns, row, in_python=in_python)
    log = log if judged is None else join_judgments(log, judged, query, columns, whole=whole, in_python=in_python)
    if "hash" in log.columns:  # from here on it only finds repeated documents of a query: half of its bits are enough
        half = log["hash"].cast(pl.UInt32, wrap_numerical=True)
        log = log[[name for name in log.columns if name != "hash"]].hstack([half])
    return log, empty_queries, judged


def _unlisted_to_zero(log: pl.DataFrame, has_list: pl.Series) -> pl.DataFrame:
    """Set the label 0 for results that are not in their query's list of relevant documents.

    ``has_list``: True for rows whose query has such a list (the column ``RELEVANCE_KNOWN``).
    """
    return log.with_columns(pl.when(pl.col("label").is_nan() & has_list).then(0.0).otherwise("label").alias("label"))


def _rankings(log: pl.DataFrame, columns: Columns, *, keep_row_numbers: bool) -> RankingRows:
    """Find the rankings of the log, and lay out the columns that kernels, sorting and checks read."""
    columns_in_errors = ("rank", *QUERY_ROLES)  # errors about their values name rows
    names = ("score", "grade", "label", "document", "predicted", "ratio", *columns_in_errors, "hash")
    available = log.columns
    to_lay_out = [name for name in names if name in available] + columns.extra_names
    rows_needed = keep_row_numbers or columns.doc is not None or bool(set(columns_in_errors) & set(to_lay_out))
    return RankingRows(*group_rows(log, columns.internal_keys, to_lay_out, rows=rows_needed))


def _judgments_in_rows(
    log: pl.DataFrame, keys: list[str], columns: Columns, row: Array | None, *, in_python: bool
) -> JudgmentTable:
    """Collect the judgments in the rows of all systems; each system gets all of them for its (segment, query)."""
    values = judgment_columns_in(log)
    rows = pl.Series(np.arange(len(log), dtype=INDEX))
    table = frame_of({"row": rows} | {name: log.get_column(name) for name in (*keys, "doc", *values)})
    if all(table.get_column(value).null_count() for value in values):
        table = table.filter(pl.any_horizontal(pl.col(values).is_not_null()))
    return lay_out(table, keys, columns, frame_row=np.arange(len(log)) if row is None else row, in_python=in_python)


def _first_places(log: pl.DataFrame, columns: Columns) -> tuple[pl.DataFrame, Array | None, str | None]:
    """With ``duplicates="first"``, keep the row with the best rank or score of each document of a ranking.

    Returns
    -------
    The rows that are left; their row numbers in ``log``, None if none was dropped; and, as text, the query of the first
    dropped row.
    """
    if not columns.doc:
        return log, None, None
    system, by, query = columns.internal_by_role
    keys = [key for key in (*system, *by, *query, "doc") if key in log.columns]
    place, rows = order_column_in(log), log.with_row_index("at")
    if place:
        rows = rows.sort(place, descending=place == "score", nulls_last=True, maintain_order=True)
    kept = rows.unique(keys, keep="first", maintain_order=True)["at"].sort()
    if len(kept) == len(log):
        return log, None, None
    judgment = pl.col(judgment_columns_in(log))
    least, most = log.select(judgment.min().over(keys)), log.select(judgment.max().over(keys))
    what, remedy = "repeat a document of their query with another judgment", "keep one of each"
    remedy += f", or {columns.repeated_query_text}" if place == "rank" else ""
    for lowest, highest in zip(least, most, strict=True):
        refuse(columns.doc, lowest != highest, what, remedy)
    log = log.with_columns(most)  # the row with the best place may have no judgment
    row = kept.to_numpy().astype(np.int64)
    first_dropped = int(np.setdiff1d(np.arange(len(log)), row)[0])
    return log[kept], row, as_text(log.select(query), first_dropped)
