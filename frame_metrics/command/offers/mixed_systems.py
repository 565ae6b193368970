"""A refusal of rows of several systems, or searches, that would be measured as one list, as no option parts them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import polars as pl

from frame_metrics.command.files.files import File
from frame_metrics.errors import ColumnError, quote
from frame_metrics.roles.columns import CALLED_RANK, Columns
from frame_metrics.roles.series import names_something

# Commands that read no lists, or that only report what is in the rows.
WITHOUT = ("audit", "agreement", "disagreements")

SEVERAL_PLACES, FEWEST_PLACES = "their first place several times", 3


def refuse_mixed_systems(log: pl.LazyFrame, columns: Columns) -> None:
    """Raise if the rows of a query have several values in a column that is called as one of systems is.

    Documents of several systems in one list make one number of all, without a word, unless a document repeats.
    """
    types = log.collect_schema() if columns.likely_mixed else {}
    results = [pl.col(name).is_not_null() for name in (columns.score, columns.rank) if name in types]
    for name in columns.likely_mixed:
        rows = log.filter(names_something(name, types[name]), *results[:1])
        values = rows.group_by([key for key in columns.keys if key in types]).agg(pl.col(name).unique().sort())
        several = pl.col(name).list.len() > 1
        seen = values.select(of=pl.len(), n=several.sum(), pair=pl.col(name).filter(several).list.head(2).first())
        of, n, pair = seen.collect(engine="streaming").row(0)
        if n:
            one, other = pair
            raise ColumnError(
                f"{quote(name)} is a column of several systems, as {quote(one)} and {quote(other)}, in {n:,} of {of:,} "
                f"queries; pass system={quote(name)} to measure each, or --no-system if the rows of a "
                "query are one list"
            )


def refuse_repeated_places(log: pl.LazyFrame, columns: Columns) -> None:
    """Raise if a column that has no role has the places of results, and the first ones several times in most queries.

    The same query was then asked several times, and its lists would be made one, in the order of scores.
    """
    if not (columns.rank or columns.team or columns.unfolds):
        refuse_places(log, columns.query and columns.keys, columns.needed)


def refuse_places(log: pl.LazyFrame, keys: Sequence[str], taken: Collection[str]) -> None:
    """Raise as above, for rankings by their keys, if there are any; ``taken``: columns that are no places."""
    types = log.collect_schema()
    others = [one for one in types if types[one].is_integer() and one not in taken]
    keys = [key for key in keys if key in types]
    if not others or not keys:
        return
    rows = log.group_by(keys)
    each = rows.agg(_has_places(one, named=one.lower() in CALLED_RANK).alias(one) for one in others)
    found = each.select(of=pl.len(), n=pl.struct(pl.col(others).sum())).collect(engine="streaming")
    for name in others:
        n, of = found["n"].struct[name].item(), found["of"].item()
        if 2 * n > of:
            raise ColumnError(
                f"{quote(name)}: {n:,} of {of:,} queries have {SEVERAL_PLACES}, as if they were asked several times, "
                "and the rows of each would be one list"
            )


def _has_places(name: str, *, named: bool) -> pl.Expr:
    """Return True for several first places; without a usual name, if all places from 0 or 1 are there equally often."""
    places, first = pl.col(name), pl.col(name).min()
    several = (places == first).sum()
    if named:
        return several > 1
    in_a_row = first.is_in([0, 1]) & (places.max() - first + 1 == places.n_unique())
    return (several > 1) & (places.n_unique() >= FEWEST_PLACES) & in_a_row & (several * places.n_unique() == pl.len())


def refuse_same_keys(files: Sequence[File], columns: Columns) -> None:
    """Raise if files, whose rows become one frame, have the same queries, or without a query the same documents.

    Parts of one log have queries, or documents, of their own.
    """
    single = columns.query or ((columns.doc,) if columns.doc else ())
    keys, word = [*columns.cell_keys, *map(str, single)], "queries" if columns.query else "documents"
    if len(files) < 2 or not single:
        return
    if not all({*keys} <= {*file.plan.collect_schema()} for file in files):
        return
    each = [
        file.plan.select(pl.col(keys).cast(pl.String)).drop_nulls(keys[-1]).unique().with_columns(at=pl.lit(at))
        for at, file in enumerate(files)
    ]
    again = pl.concat(each).group_by(keys).agg(pl.col("at").sort())
    several = pl.col("at").list.len() > 1
    one = pl.struct(*map(str, single))  # which is counted once, in whatever segments
    counts = {"of": one.n_unique(), "n": one.filter(several).n_unique()}
    seen = again.select(**counts, doc=pl.col(keys[-1]).filter(several).min()).collect(engine="streaming")
    of, n, doc = seen.row(0)
    if n:
        raise ColumnError(
            f"{keys[-1]}: {n:,} of {of:,} {word} are in several files, as {quote(doc)}, and one number would be "
            "of the rows of all; pass --system file to measure each file, or --no-system if one number is meant"
        )
