"""Match the rows of a log with the separate judgments, by query and document."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from frame_metrics.answer import frame_of
from frame_metrics.data.judgments import JudgmentTable
from frame_metrics.fast.join_ids import pairs_of_few_rows, pairs_of_rows
from frame_metrics.keys.ids import check_id_overlap
from frame_metrics.roles.columns import Columns, judgment_columns_in


def align_with_judgments(log: pl.DataFrame, judgments: JudgmentTable) -> pl.DataFrame:
    """Return the log with its ids cast to the types of the judgments, and with segment columns that only these have.

    Such a column is null for a query without judgments.
    """
    kinds = {name: judgments.documents.get_column(name).dtype for name in (*judgments.keys, "doc")}
    to_cast: Any = {name: kinds[name] for name, kind in log.schema.items() if kinds.get(name, kind) != kind}
    log = log.cast(to_cast) if to_cast else log
    shared = [key for key in judgments.keys if key in log.columns]
    if len(shared) == len(judgments.keys):
        return log
    return log.join(
        judgments.queries.select(judgments.keys), on=shared, how="left", nulls_equal=True, maintain_order="left"
    )


def join_judgments(
    log: pl.DataFrame, judgments: JudgmentTable, query: list[str], columns: Columns, *, whole: bool, in_python: bool
) -> pl.DataFrame:
    """Return the log with the grade and label of each row from the judgments, NaN for an unjudged row.

    With subtopics it also gets the column "document", the index of each row's judgment, -1 for none.

    Parameters
    ----------
    query : internal names of the query columns.
    columns : the caller's names, for errors.
    whole : whether this is the whole log, not a piece of it. Then it is an error if no id matches.
    in_python : whether ids are compared as Python values, see ``can_compare_in_python``.
    """
    values = judgment_columns_in(judgments.documents)
    keys = [*judgments.keys, "doc"]
    log = frame_of({values.name: values for values in log.get_columns() if values.name not in ("grade", "label")})
    if in_python:
        at, judgment = pairs_of_few_rows(log, judgments.documents, keys)
    else:
        at, judgment = pairs_of_rows(log, judgments.documents, judgments.by_query)
    if whole and not len(at) and not columns.relevant:  # with relevant=, it is possible that no document was found
        listed = judgments.listed
        check_id_overlap(log, listed, query, ", ".join(columns.query))
        check_id_overlap(log, listed, ["doc"], str(columns.doc))
    out = {name: np.full(len(log), np.nan) for name in values}
    for name, column in out.items():
        column[at] = judgments.documents[name].to_numpy()[judgment]
    if judgments.subtopics is not None:
        out["document"] = np.full(len(log), -1)
        out["document"][at] = judgment
    return log.hstack([pl.Series(name, column) for name, column in out.items()])
