"""The rows of a file of TREC, which has one column of queries, and no white space in ids."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from frame_metrics.command.texts import say
from frame_metrics.errors import BadRowsError, listed, quote


def rows_of_trec(log: pl.LazyFrame, query: Sequence[str], doc: str) -> tuple[pl.LazyFrame, str]:
    """Return the rows with ids as a file of TREC can hold them, and the column of the queries.

    Values of several columns are joined by _, which stands for white space too; where two would become one, it is an
    error.
    """
    rows, name = log.collect(), "_".join(query)
    if len(query) > 1 and {*query} <= {*rows.columns}:
        whole = rows.select(pl.concat_str(query, separator="_").alias(name))
        if whole.n_unique() < rows.select(query).n_unique():
            raise BadRowsError(f"{listed(query)}: two queries would be one, with _ between the columns")
        rows = rows.with_columns(whole)
    for column in (name, doc):
        if rows.schema.get(column) != pl.String:
            continue
        plain = rows[column].str.replace_all(r"\s", "_")
        if (plain != rows[column]).any():
            if plain.n_unique() < rows[column].n_unique():
                raise BadRowsError(f"{quote(column)}: two ids would be one, with _ in the place of white space")
            say(f"{quote(column)} has white space in its ids, which a file of TREC cannot hold: each is written as _")
            rows = rows.with_columns(plain)
    return rows.lazy(), name
