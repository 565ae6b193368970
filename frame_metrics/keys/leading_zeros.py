"""Find queries that the log and the judgments, or two systems, write with other leading zeros, and refuse them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from frame_metrics.errors import StrangeIdsError
from frame_metrics.fast.codes import codes
from frame_metrics.inputs import Array
from frame_metrics.inputs.rows import NONE, mark_codes
from frame_metrics.keys.index import Index
from frame_metrics.keys.spelling import are_texts, in_quotes, may_differ_in_zeros, nearly_equal, without_zeros
from frame_metrics.keys.zeros_of_parts import queries_of_part

Pairs = Sequence[tuple[str, str]]  # an id of the log and one of the judgments, each in quotes
OF_OTHERS = "are those of other systems"


class IdsOfParts(NamedTuple):
    """Ids, as a column for each column of the query, and the number of the part that each is of.

    Parts are systems, segments and the judgments: two ids of one part are different ones, whatever others are.
    """

    ids: pl.DataFrame
    part: Array


def other_zeros(
    column: str, what: str, pairs: Pairs, lost: str = "not judged", there: IdsOfParts | None = None
) -> StrangeIdsError:
    """Return the error about ids with other leading zeros.

    Parameters
    ----------
    column : the caller's name of the column.
    what : the words for what is there, as "some results are judged".
    pairs : the ids.
    lost : the words for what they would count as.
    there : all ids, to see whether equal lengths would make two of them equal; None if that is not looked at.
    """
    (ours, theirs), texts = pairs[0], re.findall("'([^']*)'", " ".join(one for pair in pairs for one in pair))
    width = max(map(len, texts))
    way = f"write all ids alike, as with str.zfill({width})"
    if there is not None and (both := _made_one(there, width)):
        way = f"{both[0]} and {both[1]} are both there, so zeros tell some ids apart: correct the wrong ids alone"
    return StrangeIdsError(
        f"{column}: {what} with other leading zeros, as {ours} and {theirs}, and would count as {lost}; {way}, or put "
        "a letter before all if they are different ids",
        check="ids with other leading zeros",
        n=len(pairs),
    )


def _made_one(there: IdsOfParts, width: int) -> tuple[str, str] | None:
    """Return two ids of one part, in quotes, that would be one if all had this length; None for none."""
    ids, texts = there.ids, [name for name in there.ids.columns if are_texts(there.ids[name])]
    padded = ids.with_columns(pl.col(texts).cast(pl.String).str.zfill(width))
    number, form = (codes(table, table.columns)[0] for table in (ids, padded))
    once = pl.DataFrame({"part": there.part, "form": form, "id": number}).with_row_index("at")
    once = once.unique(["part", "id"], keep="first", maintain_order=True)
    same = once.group_by("part", "form", maintain_order=True).agg("at").filter(pl.col("at").list.len() > 1)
    return in_quotes(*(ids.row(at) for at in same["at"][0][:2])) if len(same) else None


def ids_of_parts(index: Index, judged: pl.DataFrame | None) -> IdsOfParts:
    """Return the queries of each system in each segment, and the judged ones; ``judged``: a table that has these."""
    ours, names = np.flatnonzero(index.answered), index.queries.values
    theirs = names.clear() if judged is None else judged.select(names.columns).cast(names.schema)
    part = np.append(index.cell[ours], np.full(len(theirs), NONE))
    return IdsOfParts(pl.concat([names[index.query[ours]], theirs]), part)


def check_leading_zeros_of_parts(index: Index, judged: Array | None) -> None:
    """Raise for queries that one system, arm or segment writes with other leading zeros, see ``queries_of_part``."""
    if found := queries_of_part(index, judged):
        like, lost = ("are in the judgments", "not judged") if judged is not None else (OF_OTHERS, "other queries")
        there = ids_of_parts(index, None if judged is None else index.queries.values[np.unique(index.query[judged])])
        raise other_zeros(
            ", ".join(index.columns.query), f"some queries of {found.whose} {like}", found.pairs, lost, there
        )


def queries_with_other_zeros(unjudged: pl.DataFrame, judged: pl.DataFrame) -> tuple[pl.Series, Pairs] | None:
    """Return the rows of ``judged`` that are queries of a log but for leading zeros, and both ids of each.

    Parameters
    ----------
    unjudged : the queries of the log without judgments, a column for each query column.
    judged : the judged queries, in columns of the same names; of some of them the log has no rows.
    """
    if not len(unjudged) or not any(may_differ_in_zeros(unjudged[name], judged[name]) for name in judged.columns):
        return None
    found = nearly_equal(unjudged, judged, form=without_zeros)
    if found is None:
        return None
    return found[1], [in_quotes(unjudged.row(one), judged.row(other)) for one, other in zip(*found, strict=True)]


def queries_of_index(index: Index, judged: Array, every: pl.DataFrame | None = None) -> Pairs:
    """Return the queries of an index that are judged with other leading zeros, see ``queries_of``; no row is needed.

    Parameters
    ----------
    judged : True for rankings whose query is judged, shape (rankings,).
    every : a table of all judged queries; None for those of ``judged``.
    """
    with_rows, with_judgments = (mark_codes(index.query[these], len(index.queries)) for these in (index.of_log, judged))
    unjudged = with_rows & ~with_judgments
    if not unjudged.any() or (every is None and not (with_judgments & ~with_rows).any()):
        return ()
    names = index.queries.values
    every = names.filter(pl.Series(with_judgments)) if every is None else every.select(names.columns)
    every = every.unique(maintain_order=True)  # where the judgments have segments, a query may stand in several
    found = queries_with_other_zeros(names.filter(pl.Series(unjudged)), every)
    if found is None:
        return ()
    like, here = every[found[0]].with_row_index("at"), names.filter(pl.Series(with_rows))
    lacking = like.join(here, on=names.columns, how="anti", nulls_equal=True, maintain_order="left")
    return [found[1][at] for at in lacking["at"]]
