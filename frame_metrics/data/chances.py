"""The weights of results, from the chances with which they were examined, or placed: by row, or by the logged rank."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from frame_metrics.border.frames import border_of
from frame_metrics.errors import BadValueError, ColumnError, listed
from frame_metrics.roles.columns import ROLES, Columns
from frame_metrics.roles.conventions import Conventions
from frame_metrics.roles.series import TEXTS, rank_column, refuse, refuse_null

RANK, CHANCE = "rank", "propensity"  # columns of a frame of chances by rank, as propensities() returns it


def by_rank(role: str, said: Any, by: tuple[str, ...]) -> Any:
    """Return the chances of ranks that a role was given as a table, by columns of the segments; a column's name as is.

    Raises
    ------
    ColumnError, BadValueError
        A frame has no ranks or chances, or two for one rank.
    """
    if said is None or isinstance(said, str):
        return said
    if isinstance(said, Mapping):
        said = pl.DataFrame({RANK: [*said], CHANCE: [*said.values()]}, schema={RANK: pl.Float64, CHANCE: pl.Float64})
    border = border_of(said)
    if not {RANK, CHANCE} <= {*border.names()}:
        raise ColumnError(
            f"{role}=: the frame has {listed(border.names())}, and the chance of each rank is read from columns "
            f"{RANK!r} and {CHANCE!r}, as propensities() returns them"
        )
    keys = [name for name in by if name in border.names()]
    names = [*keys, RANK, CHANCE]
    table = border.in_memory(names).read(names)
    table = table.with_columns(_checked(role, table[CHANCE]), rank_column(table[RANK], RANK).cast(pl.Float64))
    if table.select(keys + [RANK]).is_duplicated().any():
        raise BadValueError(
            f"{role}=: the frame has a rank twice; name its other columns with by=, or keep one of each"
        )
    return table


def _checked(role: str, chance: pl.Series) -> pl.Series:
    refuse_null(CHANCE, chance, "are missing", "give every rank one")
    check = ROLES[role].check
    return chance if check is None else check(chance, CHANCE)


def with_ratio(log: pl.DataFrame, columns: Columns, conventions: Conventions) -> pl.DataFrame:
    """Return the log with the weight of each result: 1, or its target propensity, over its propensity.

    Raises
    ------
    BadRowsError
        A result that was shown has no chance.
    """
    if conventions.propensity is None:
        return log
    shown = log["rank" if "rank" in log.columns else "score"].is_not_null()
    said = {"propensity": conventions.propensity, "target_propensity": conventions.target_propensity}
    each = {role: _of_rows(role, chance, log, columns, shown) for role, chance in said.items() if chance is not None}
    ratio = each.get("target_propensity", pl.Series([1.0])) / each["propensity"]
    return log.drop(each, strict=False).with_columns(ratio.fill_null(1.0).alias("ratio"))


def _of_rows(role: str, said: Any, log: pl.DataFrame, columns: Columns, shown: pl.Series) -> pl.Series:
    """The chance of each row, null where nothing was shown."""
    if isinstance(said, str):
        refuse(said, log[role].is_null() & shown, f"were shown and have no {role}", "give every result one")
        return log[role]
    inside = dict(zip(columns.by, columns.key_names[1], strict=True))
    table = said.rename({name: inside[name] for name in said.columns if name in inside})
    keys = [name for name in table.columns if name != CHANCE]
    own = log.select(pl.col(RANK).cast(pl.Float64), *(name for name in keys if name != RANK))
    kinds: Any = {name: pl.String if kind in TEXTS else kind for name, kind in own.schema.items()}
    both = own.cast(kinds).join(
        table.cast({name: kinds[name] for name in keys}, strict=False),
        on=keys,
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )
    what = f"stand at a rank of which {role}= says nothing" + (" in their segment" if len(keys) > 1 else "")
    refuse(str(columns.rank), both[CHANCE].is_null() & shown, what, "leave deeper results out, or give these ranks one")
    return both[CHANCE]
