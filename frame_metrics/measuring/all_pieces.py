"""Measure all pieces of a frame, and check what only the whole frame shows."""

from __future__ import annotations

from functools import partial

import numpy as np
import polars as pl

from frame_metrics.backends.protocol import Gathering
from frame_metrics.hidden import ANSWERED, EVALUATED, LENGTHS, SUMS, UNANSWERED, ZEROS
from frame_metrics.inputs import Array
from frame_metrics.keys.index import Index
from frame_metrics.keys.leading_zeros import check_leading_zeros_of_parts
from frame_metrics.keys.zeros_of_parts import NO_LENGTH, may_have_twins, queries_of_part
from frame_metrics.measuring.found_query import check_found
from frame_metrics.measuring.indexed import indexed
from frame_metrics.measuring.pieces import Measuring, check_max_grade, check_whole_frame, gather
from frame_metrics.measuring.values import Values
from frame_metrics.plan.source import InPieces


def measure_in_pieces(work: Measuring, source: InPieces) -> Values:
    """Measure every ranking of all pieces, as if they had been one frame in memory."""
    check_max_grade(work, source)
    table, work = gather(work, source)
    index, rankings = indexed(table, work)
    values = work.from_table(index, rankings)
    _check_parts(index, rankings, work, source)
    facts = check_whole_frame(table, work)
    check_found(source.call, facts, work.asked, work.averages)
    return values


def _check_parts(index: Index, table: pl.DataFrame, work: Measuring, source: InPieces) -> None:
    """Raise for queries that one system, arm or segment writes with other leading zeros.

    See ``check_leading_zeros_of_parts``.

    Sums have no single queries: where some may be so, the frame is read again for these queries alone.
    """
    columns = work.columns
    if work.judgments is None:
        if SUMS in table.columns:
            _check_systems_of_sums(table, work, source)
        elif columns.system:
            check_leading_zeros_of_parts(index, None)
    elif (columns.system or columns.by) and table[ZEROS].list.len().sum():
        if SUMS in table.columns:
            index, table = indexed(*gather(work.one_by_one(), source))
        check_leading_zeros_of_parts(index, (table[EVALUATED] | (table[UNANSWERED] > 0)).to_numpy())


def _check_systems_of_sums(table: pl.DataFrame, work: Measuring, source: InPieces) -> None:
    """Raise for queries that one system writes with other leading zeros than others, where pieces sent sums.

    First queries are read that some system lacks, then all that may be equal to these: where every system has one of
    them, or one system has both, they are different queries.
    """
    lengths = table[LENGTHS].drop_nulls().to_list()
    each = np.array(lengths).reshape(len(lengths), len(lengths[0]) if lengths else 0)
    shortest, longest = each[:, ::2].min(axis=0, initial=NO_LENGTH), each[:, 1::2].max(axis=0, initial=0)
    if (longest <= shortest).all():
        return
    single = work.one_by_one()
    for lacking in (True, False):
        some = partial(_may_have_twins, single, longest, lacking)
        asked = Gathering(work.call.columns.needed, work.keys, some, single(single.empty).schema)
        index = indexed(source.pieces.gathered(asked), single)[0]
        if queries_of_part(index, None) is None:
            return
    check_leading_zeros_of_parts(index, None)


def _may_have_twins(work: Measuring, longest: Array, lacking: bool, piece: pl.DataFrame) -> pl.DataFrame:
    """Return the rankings of a piece whose query may be equal to another one but for leading zeros.

    Parameters
    ----------
    work : from a piece to a row for each ranking.
    longest : see ``may_have_twins``.
    lacking : whether only queries that some system lacks are returned.
    """
    table, query = work(piece), work.columns.query
    if lacking:
        table = table.filter(pl.col(ANSWERED).all().over(query).not_())
    return table.filter(may_have_twins(table.select(query), longest, texts=not lacking))
