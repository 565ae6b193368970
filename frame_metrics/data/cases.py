"""Rows that are decided about (cases), each with its true class, its prediction and its scores.

They are the rows of a frame without a query, or the results and judged documents of a log's queries.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.data.classes import (
    are_too_many,
    class_codes,
    class_values,
    classes_have_order,
    distinct_values,
    is_binary,
    labels_and_predictions,
    relevant,
    too_many_classes,
    two_classes,
    unmatched_error,
)
from frame_metrics.data.log import Block, Log
from frame_metrics.errors import (
    BadRowsError,
    BadValueError,
    ColumnError,
    FrameMetricsError,
    NotComputableError,
    bad_rows_message,
    listed,
)
from frame_metrics.fast.codes import codes, sparse_codes
from frame_metrics.hidden import TIMES
from frame_metrics.inputs import Array
from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import ones, spans
from frame_metrics.keys.groups import Cells, named_as_text
from frame_metrics.keys.spelling import check_positive, spelled_like
from frame_metrics.roles.columns import OF_ROWS, Columns, key_columns, role_columns, type_of
from frame_metrics.roles.conventions import Conventions
from frame_metrics.roles.series import label_column, reaches, refuse, score_column

# Weights from 1 / EXTREME_WEIGHT to EXTREME_WEIGHT can be summed and multiplied without reaching infinity or 0.
EXTREME_WEIGHT = 1e100
UNNAMED = pl.Series([])  # stands for the classes where their names are not needed
MOST_UNLISTED = 1_000_000_000  # documents that the log does not list, above all those that n_relevant= only counts


@record
class Cases:
    """The rows of a frame, checked.

    ``rows`` has some of these columns:

    - "cell": the code of the row's cell, a position in ``cells``;
    - "actual", "predicted": the code of the true and of the predicted class, null without a prediction;
    - "score": null if the document was not retrieved; for several classes "score:0", "score:1" ...;
    - "weight": the row's weight in all sums; with a ``count`` column, count times weight;
    - "count": how many rows this row stands for; "row_weight": the weight of one of these;
    - "cluster": the code of the row's cluster;
    - "row": the row of the frame, if asked for.
    """

    rows: pl.DataFrame
    cells: Cells  # the segments, or the queries in them, also those of which no row is left
    columns: Columns
    conventions: Conventions
    classes: pl.Series  # in order, of two classes the relevant one last; ``UNNAMED`` where their names are not needed
    found_clusters: pl.Series | None  # the values of predictions that are found clusters; None where they are classes
    binary: bool  # whether there are two classes, one of which is the relevant one
    unordered_text: bool = False  # whether several classes are text, whose alphabetic order means nothing
    unmatched_error: FrameMetricsError | None = None  # to raise where clusters need match=, which was not given

    @property
    def k(self) -> int:
        """Number of classes."""
        return 2 if self.binary else len(self.classes)

    @property
    def weighted(self) -> bool:
        """True if rows have weights, so that sums need not be whole numbers."""
        return self.columns.weight is not None

    @property
    def independent(self) -> bool:
        """True if rows have neither weights nor clusters: each counts one, and is drawn by itself."""
        return not (self.weighted or self.columns.cluster)

    @property
    def sums_weights(self) -> bool:
        """True if sums add up the column "weight" (of weights or counts); otherwise each row counts 1."""
        return "weight" in self.rows.columns

    @property
    def counted_rows(self) -> pl.DataFrame:
        """The rows that count in sums: all, without those of weight 0."""
        return self.rows.filter(pl.col("weight") > 0) if self.sums_weights else self.rows

    @property
    def n_predictable(self) -> int:
        """Number of distinct values that may be predicted: classes, or found clusters."""
        return self.k if self.found_clusters is None else len(self.found_clusters)

    @cached_property
    def times(self) -> Array:
        """Number of rows that each one stands for, shape (rows,)."""
        return self.rows["count"].to_numpy() if self.columns.count else ones(len(self.rows))

    @cached_property
    def row_weight(self) -> Array:
        """The weight of each row, shape (rows,); of a row that stands for several, the weight of one of these."""
        if not self.weighted:
            return ones(len(self.rows))
        return self.rows["row_weight" if self.columns.count else "weight"].to_numpy()

    def count_rows(self, marks: pl.Series | None = None) -> int:
        """Count the rows, each as often as "count" says; ``marks``: True for the rows to count, None for all."""
        return n_marked(self.rows.get_column("count", default=None), marks, len(self.rows))


def read_cases(
    frame: pl.DataFrame,
    columns: Columns,
    conventions: Conventions,
    *,
    named: bool = False,
    keep_row_numbers: bool = False,
    unjudged: bool = False,
    only_correctness: Callable[[], bool] = lambda: False,
    audited: bool = False,
) -> Cases:
    """Check the columns and give the classes codes.

    Parameters
    ----------
    frame, columns, conventions : the rows, the roles of their columns, and the conventions.
    named : whether the result shows the values of the classes.
    keep_row_numbers : whether to keep the row of the frame of each case, as the column "row".
    unjudged : whether unjudged rows keep a null as their true class, unless the conventions say what they are;
        otherwise they are an error.
    only_correctness : asked only if classes are too many for a table: returns True if it is enough to know which
        predictions are right. Then 0 stands for the true class of a row, and 1 for all other classes.
    audited : whether to skip the error for a ``positive=`` that no value is spelled like: an audit reports it.

    Raises
    ------
    FrameMetricsError
        A role cannot hold a value, it is unclear which rows are relevant, or a row has no true class.
    """
    conventions = conventions.in_types(type_of(frame, columns.score), type_of(frame, columns.grade))
    key_columns(frame, columns)  # raises for keys that are NaN
    # The cell (system and segment) of each row, in a small type: large frames keep one for each row.
    cell, first = codes(frame, columns.cell_keys)
    kind = np.int32 if len(frame) < 1 << 31 else np.int64
    out = {"cell": pl.Series(cell.astype(np.int8 if len(first) == 1 else kind))}
    out |= {"row": pl.Series(np.arange(len(frame), dtype=kind))} if keep_row_numbers else {}
    # The true and the predicted side: two classes become marks of relevant rows, several become codes of classes.
    label, predicted = labels_and_predictions(frame, columns, conventions)
    if conventions.positive_text is not None and not audited:
        some = frame[columns.count] > 0 if columns.count else None
        sides = [side if side is None or some is None else side.filter(some) for side in (label, predicted)]
        check_positive(spelled_like(sides, conventions.positive_text), conventions.positive_text)
    binary = is_binary(label, predicted, columns, conventions)
    classes, found_clusters, unmatched, unordered_text = UNNAMED, None, None, False
    if binary or label is None:
        out["actual"] = relevant(frame, label, columns, conventions)
        if predicted is not None:
            out["predicted"] = label_column(predicted, str(columns.predicted), conventions.positive, role="prediction")
        classes = two_classes(frame, columns, conventions) if named else UNNAMED
    else:
        class_codes_of_rows, classes, found_clusters, unmatched = _codes_of_several(
            label, predicted, columns, conventions, only_correctness
        )
        out |= class_codes_of_rows
        unordered_text = not classes_have_order(label, predicted if found_clusters is None else None, conventions)
    if columns.score:
        out["score"] = score_column(frame[columns.score], columns.score).cast(pl.Float64)
        if conventions.threshold is not None:
            each: Any = role_columns(frame, columns, ("threshold",)).get("threshold", conventions.threshold)
            out["predicted"] = reaches(out["score"], each)
    # Weights, counts and clusters. Then unjudged rows are treated as the conventions say, and rows with a count of 0
    # are left out.
    out |= _class_scores(frame, columns, classes) | _weights_and_clusters(frame, columns)
    rows = _with_unjudged_treated(pl.DataFrame(out), frame, columns, conventions, binary, unjudged)
    rows = rows.filter(pl.col("count") > 0) if columns.count else rows
    times = rows["count"].to_numpy() if columns.count else None
    if len(first) == 1 and times is None:
        n = np.array([len(rows)])
    else:
        n = np.bincount(rows["cell"].to_numpy(), times, minlength=len(first)).astype(np.int64)
    values = pl.DataFrame({name: frame[name].gather(first) for name in columns.cell_keys})
    cells = Cells(columns, values, dict.fromkeys(columns.cell_keys, first), n)
    return Cases(rows, cells, columns, conventions, classes, found_clusters, binary, unordered_text, unmatched)


def _codes_of_several(
    label: pl.Series,
    predicted: pl.Series | None,
    columns: Columns,
    conventions: Conventions,
    only_correctness: Callable[[], bool],
) -> tuple[dict[str, pl.Series], pl.Series, pl.Series | None, FrameMetricsError | None]:
    """Find the classes of rows with several classes, and their codes.

    Returns
    -------
    The columns "actual" and "predicted"; the values of the classes; those of found clusters, None where predictions are
    classes; and the error for predictions of another type than the labels, which only ``match=`` allows.
    """
    found_clusters, unmatched = None, None
    if conventions.threshold is not None:
        raise NotComputableError(f"threshold= makes two classes; name the relevant {columns.label} with positive=")
    if predicted is not None and conventions.match is None and conventions.classes is None:
        unmatched = unmatched_error(label, predicted, columns)
    if predicted is not None and (conventions.match or unmatched):
        found_clusters = distinct_values(predicted)
    classes = class_values(label, predicted if found_clusters is None else None, columns, conventions)
    many = are_too_many(classes, conventions)
    if many and (predicted is None or found_clusters is not None or not only_correctness()):
        raise too_many_classes(classes, label, predicted if found_clusters is None else None)
    out = {"actual": class_codes(label, classes, str(columns.label))}
    if predicted is not None:
        out["predicted"] = class_codes(
            predicted, classes if found_clusters is None else found_clusters, str(columns.predicted)
        )
    if many:
        out = {"actual": out["actual"] * 0, "predicted": (out["actual"] != out["predicted"]).cast(pl.Int32)}
        classes = classes[:2]
    return out, classes, found_clusters, unmatched


def _weights_and_clusters(frame: pl.DataFrame, columns: Columns) -> dict[str, pl.Series]:
    """Return the columns "weight", "count", "row_weight" and "cluster" of the rows, those whose role is named."""
    out = role_columns(frame, columns, OF_ROWS)
    if columns.weight:
        far = (out["weight"] > EXTREME_WEIGHT) | ((out["weight"] < 1 / EXTREME_WEIGHT) & (out["weight"] > 0))
        way = "their squares would be infinite or 0: rescale them, or set them to 0"
        refuse(columns.weight, far, "are past 1e100 or below 1e-100", way)
    if columns.count:
        out |= {"row_weight": out["weight"]} if columns.weight else {}
        out["weight"] = out["count"] * out.get("weight", 1.0)
    if columns.cluster:
        out["cluster"] = sparse_codes(out["cluster"])
    return out


def n_marked(times: pl.Series | None, marks: pl.Series | None, n_rows: int) -> int:
    """Count the marked rows.

    Parameters
    ----------
    times : how many rows each row stands for; None: one.
    marks : True for the rows to count; None: all.
    """
    if times is None:
        return n_rows if marks is None else int(marks.sum())
    return int((times if marks is None else times * marks.cast(pl.Float64)).sum())


def _with_unjudged_treated(
    rows: pl.DataFrame, frame: pl.DataFrame, columns: Columns, conventions: Conventions, binary: bool, unjudged: bool
) -> pl.DataFrame:
    """Treat rows without a true class: drop them, count them as not relevant, keep the null, or raise."""
    if not rows["actual"].null_count():
        return rows
    if binary and conventions.unjudged == "negative":
        return rows.with_columns(pl.col("actual").fill_null(0))
    if unjudged and conventions.unjudged is None:
        return rows
    lacking = rows["actual"].is_null()
    if conventions.unjudged != "drop" and (bad := lacking & (rows["count"] > 0) if columns.count else lacking).any():
        raise _unlabelled_error(bad, frame, columns, binary=binary)
    return rows.filter(~lacking)


def _unlabelled_error(lacking: pl.Series, frame: pl.DataFrame, columns: Columns, *, binary: bool) -> BadRowsError:
    """Return the error for rows without a true class, with the segment that has most of them.

    ``lacking``: True for these rows.
    """
    what = "class" if not binary else "label" if columns.label else "grade"
    known = "yes and no become known" if binary else "all classes become known"
    way = f"unjudged='drop' leaves them out; do so only if {known} at the same time."
    way += " unjudged='negative' counts them as no, as after a left join with clicks." if binary else ""
    where = _segment_with_most(lacking, frame, columns)
    fields: dict[str, Any] = {"what": f"have no {what}", "remedy": way, "where": where}
    column, rows = str(columns.label or columns.grade), lacking.arg_true().to_numpy()
    message = bad_rows_message(column, len(rows), rows[:3], len(lacking), **fields)
    return BadRowsError(message, column=column, rows=rows, kept=binary, **fields)


def _segment_with_most(marks: pl.Series, frame: pl.DataFrame, columns: Columns) -> str:
    """Return text about the segment with most of the marked rows: "day = mon: 3 of 10"; "" without segments."""
    names = list(columns.by if columns.shape.per_system else columns.cell_keys)
    if not names:
        return ""
    n = len(frame) // max(len(columns.shape.per_system), 1)  # systems that are columns have the same rows
    cell, first = codes(frame[:n], names)
    times = frame.get_column(TIMES)[:n].to_numpy() if TIMES in frame.columns else np.ones(n)
    n_marked_rows, n_rows = (np.bincount(cell, times * some) for some in (marks[:n].to_numpy(), 1))
    most = int(n_marked_rows.argmax())
    segment = named_as_text(frame.select(names), int(first[most]))
    return f"{segment}: {int(n_marked_rows[most]):,} of {int(n_rows[most]):,}"


def _class_scores(frame: pl.DataFrame, columns: Columns, classes: pl.Series) -> dict[str, pl.Series]:
    """Return the columns "score:0", "score:1" ... with the scores of each class, in the order of the classes."""
    if not columns.class_scores:
        return {}
    named = dict(columns.class_scores)
    extra = [value for value in named if value not in classes.to_list()]
    missing = [value for value in classes.to_list() if value not in named]
    if extra or missing:
        wrong = f"{listed(extra[:3])}, not among the classes" if extra else f"no column for {listed(missing[:3])}"
        raise ColumnError(f"score= names {wrong}")
    out = {}
    for i, value in enumerate(classes.to_list()):
        scores = score_column(frame[named[value]], named[value])
        refuse(named[value], scores.is_null(), "have no score", "drop them")
        out[f"score:{i}"] = scores.cast(pl.Float64)
    return out


def cases_of(log: Log, *, queries: bool = False, ranks: bool = False, unjudged: bool = False) -> Cases:
    """Turn the evaluated queries of a log into cases: a case for each result and each judged document.

    A judged document that the system does not list is a case without a score, predicted not relevant.

    Parameters
    ----------
    log : read with ``keep_row_numbers=True``, so that the rows of its rankings are known.
    queries : whether each ranking is a cell by itself; otherwise each segment is one.
    ranks : whether the score is minus the rank.
    unjudged : whether unjudged results keep a null as their true class; otherwise they count as not relevant, or are
        dropped with ``unjudged="drop"``.
    """
    index, rows = log.index, ranked_rows(log, ranks=ranks, unjudged=unjudged)
    ranking = rows["cell"].to_numpy()
    if queries:  # the rankings with rows, by query
        rankings = np.unique(ranking)
        rankings = rankings[np.argsort(index.query[rankings], kind="stable")]
        position = np.zeros(len(index), np.int64)
        position[rankings] = np.arange(len(rankings))
        cell = position[ranking]
        n = np.bincount(cell, minlength=len(rankings))
        cells = index.cells_at(index.system[rankings], index.segment[rankings], index.query[rankings], n)
    else:
        cell = index.cell[ranking]
        cells = replace(index.cells, n=np.bincount(cell, minlength=len(index.cells.n)))
    return Cases(rows.with_columns(cell=pl.Series(cell)), cells, log.columns, log.conventions, UNNAMED, None, True)


def ranked_rows(log: Log, *, ranks: bool, unjudged: bool) -> pl.DataFrame:
    """Return the rows of ``cases_of``, each with the index of its ranking as "cell"."""
    rankings = log.grid.rankings
    n_unlisted, evaluated = _n_unlisted(log)
    ranking, every = np.empty(len(log.table), np.int64), np.arange(len(evaluated))
    # The ranking of each row of the log. Rows of queries that are not evaluated are left out.
    ranking[rankings.rows_of(spans(rankings.starts, rankings.lengths))] = np.repeat(every, rankings.lengths)
    rows = _results_with_scores(log, ranks=ranks).with_columns(cell=pl.Series(ranking))
    rows = rows.filter(pl.Series(evaluated[ranking]))
    if log.conventions.unjudged == "drop":
        rows = rows.drop_nulls("actual")
    # Known documents that the system does not list become rows too, without a score.
    counts = np.where(evaluated, n_unlisted, 0).astype(np.int64)
    if counts.sum() > MOST_UNLISTED:
        raise BadValueError(
            f"{log.columns.n_relevant}: {counts.sum():,} documents that are not listed are too many rows"
        )
    actual = pl.Series(np.repeat([0, 1], counts.sum(axis=1)), dtype=pl.Int8)
    extra = pl.DataFrame({"actual": actual, "cell": np.repeat(np.tile(every, 2), counts.ravel())})
    if "predicted" in rows.columns:
        extra = extra.with_columns(predicted=pl.lit(0, pl.Int8))
    rows = rows if unjudged else rows.with_columns(pl.col("actual").fill_null(0))
    return pl.concat([rows, extra], how="diagonal")


def _results_with_scores(log: Log, *, ranks: bool) -> pl.DataFrame:
    """Return the results of the log with "actual" (1 relevant, 0 not, null unjudged), and "score" and "predicted"."""
    table = log.table
    judgment = table["label" if "label" in table.columns else "grade"].cast(pl.Float64).fill_nan(None)
    is_relevant = judgment == 1 if "label" in table.columns else judgment >= log.conventions.rel
    if log.conventions.unjudged == "drop":  # a negative grade is no judgment in condensed lists
        is_relevant = is_relevant.set((judgment < 0).fill_null(False), None)
    columns = {"actual": is_relevant.cast(pl.Int8)}
    if ranks:
        columns["score"] = -table["rank"].cast(pl.Float64)
    elif "score" in table.columns:
        columns["score"] = table["score"].cast(pl.Float64)
    if isinstance(threshold := log.conventions.threshold, int | float):
        columns["predicted"] = reaches(columns["score"], threshold)
    elif "predicted" in table.columns:
        columns["predicted"] = table["predicted"]
    return pl.DataFrame(columns)


def _n_unlisted(log: Log) -> tuple[Array, Array]:
    """Count the known documents that each ranking does not list.

    Returns
    -------
    Their number, shape (2, rankings): first those not relevant, then the relevant ones; and True for rankings that are
    evaluated, shape (rankings,).
    """
    n = len(log.grid.segment_query)
    n_unlisted, evaluated = np.zeros((2, n)), np.zeros(n, bool)

    def work(block: Block) -> None:
        run = block.ranking()
        evaluated[block.rankings] = block.evaluated(run)
        if log.conventions.unjudged == "drop":
            run = run.condensed()
        n_relevant = np.maximum(run.n_relevant - run.listed_relevant, 0)
        n_unlisted[0, block.rankings] = np.maximum(run.n_known - run.lengths - n_relevant, 0)
        n_unlisted[1, block.rankings] = n_relevant

    log.for_each_sorted_block(work)
    return n_unlisted, evaluated
