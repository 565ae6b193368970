"""Propensities of results, given by row or by rank, and the weights 1 / propensity that follow from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.backends.frames import backend_of
from frame_metrics.errors import BadValueError, ColumnError, listed
from frame_metrics.keys.ids import in_common_type
from frame_metrics.roles.columns import Columns
from frame_metrics.roles.conventions import Conventions
from frame_metrics.roles.series import chance_column, rank_column, refuse, refuse_null

CHANCES = ("propensity", "target_propensity")  # the roles that hold chances
RANK, CHANCE = "rank", "propensity"  # columns of a frame of propensities by rank, as propensities() returns it
OTHER_COLUMNS = ("n", "ci_low", "ci_high")  # the other columns of such a frame


def propensities_by_rank(role: str, given: Any, by: Sequence[str]) -> Any:
    """Return the propensities by rank that were given to a role, as a checked polars table.

    Parameters
    ----------
    role : "propensity" or "target_propensity".
    given : what the caller gave: a frame, a mapping from rank to propensity, a column's name, or None. The last two
        are returned unchanged.
    by : the columns of segments. Those that the frame has too are keys of the table, beside the rank.

    Raises
    ------
    ColumnError, BadValueError
        The frame has no column of ranks or of propensities, or it has two propensities for one rank.
    """
    if given is None or isinstance(given, str):
        return given
    if isinstance(given, Mapping):
        given = pl.DataFrame({RANK: [*given], CHANCE: [*given.values()]}, schema={RANK: pl.Float64, CHANCE: pl.Float64})
    backend = backend_of(given)
    if {RANK, CHANCE} - {*backend.names()}:
        raise ColumnError(
            f"{role}=: the frame has {listed(backend.names())}, and the chance of each rank is read from columns "
            f"{RANK!r} and {CHANCE!r}, as propensities() returns them"
        )
    if clash := {RANK, CHANCE} & {*by}:
        raise ColumnError(f"{role}=: {clash.pop()!r} is a column of the chances, and a segment too; rename the segment")
    if others := {*backend.names()} - {RANK, CHANCE, *OTHER_COLUMNS, *by}:
        raise ColumnError(
            f"{role}=: the frame has {listed(sorted(others))} too; name segments with by=, and drop what is none"
        )
    names = [*(name for name in by if name in backend.names()), RANK]
    table = backend.in_memory([*names, CHANCE]).read([*names, CHANCE])
    refuse_null(CHANCE, table[CHANCE], "have no propensity", "give every rank one")
    chance = chance_column(table[CHANCE], CHANCE, role, most=np.inf)  # may be above 1: it is relative to rank 1
    table = table.with_columns(chance, rank_column(table[RANK], RANK).cast(pl.Float64))
    if table.select(names).is_duplicated().any():
        raise BadValueError(f"{role}=: the frame has a rank twice; name its other columns with by=, or keep one row")
    return table


def with_ratio(log: pl.DataFrame, columns: Columns, conventions: Conventions) -> pl.DataFrame:
    """Return the log with the weight of each result as the column "ratio": 1 / propensity, or target / propensity.

    Documents that were not shown have the ratio 1.

    Raises
    ------
    BadRowsError
        A result that was shown has no propensity.
    """
    retrieved = log["rank" if "rank" in log.columns else "score"].is_not_null()
    given = [(role, getattr(conventions, role)) for role in CHANCES]
    named = [(role, one) for role, one in given if one is not None]
    logged, *target = [_propensity_of_rows(role, one, log, columns, retrieved) for role, one in named]
    ratio = (target[0] if target else pl.Series([1.0])) / logged
    return log.drop(CHANCES, strict=False).with_columns(ratio.fill_null(1.0).alias("ratio"))


def _propensity_by_rank(table: pl.DataFrame, rank: pl.Series, top: int) -> pl.Series:
    """Look up the propensity of each row's rank, null if the table does not have the rank; faster than a join.

    ``top``: the last rank of the table.
    """
    each = np.full(top + 2, np.nan)
    each[table[RANK].cast(pl.Int64).to_numpy()] = table[CHANCE].to_numpy()
    rank = rank.fill_null(top + 1) if rank.null_count() else rank
    return pl.Series(each[np.minimum(rank.to_numpy(), top + 1).astype(np.intp)], nan_to_null=True)


def _propensity_of_rows(role: str, given: Any, log: pl.DataFrame, columns: Columns, retrieved: pl.Series) -> pl.Series:
    """Return the propensity of each row by one role; null is allowed only where the document was not shown."""
    if isinstance(given, str):
        refuse(given, log[role].is_null() & retrieved, "have no propensity", "give every result that was shown one")
        return log[role]
    table = given.rename(dict(zip(columns.by, columns.internal_by_role[1], strict=True)), strict=False)
    keys = [name for name in table.columns if name != CHANCE]
    top = int(table[RANK].cast(pl.Int64).max() or 0)
    # If propensities depend on the rank alone, and no rank is greater than the number of rows, each is looked up in an
    # array by rank. Otherwise they are joined by segment and rank.
    if keys == [RANK] and top <= len(log):
        found = _propensity_by_rank(table, log[RANK], top)
    else:
        named = dict(zip(columns.internal_by_role[1], columns.by, strict=True))
        keys_of_log = log.select(pl.col(RANK).cast(table.schema[RANK]))
        for name in keys[:-1]:
            called = f"{named[name]} of the log", f"{named[name]} of {role}="
            ours, theirs = in_common_type(log[name], table[name], *called)
            keys_of_log, table = keys_of_log.with_columns(ours), table.with_columns(theirs)
        found = keys_of_log.join(table, on=keys, how="left", nulls_equal=True, maintain_order="left")[CHANCE]
    remedy = f"{role}= says nothing of their rank; leave deeper results out, or give these ranks one"
    if found.null_count():
        refuse(str(columns.rank), found.is_null() & retrieved, "have no propensity", remedy)
    return found
