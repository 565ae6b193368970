"""Pieces of whole queries, cut from a stream of rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import polars as pl


def whole_queries(batches: Iterable[pl.DataFrame], keys: Sequence[str], rows: int) -> Iterator[pl.DataFrame]:
    """Cut a stream, in which the rows of a query stand together, into pieces of whole queries.

    A query that is open at the end of a batch is carried over: no more is held than ``rows`` rows, a query and a batch.

    Parameters
    ----------
    batches : the stream, in batches of any sizes.
    keys : the columns that tell queries apart; null is a value. Without any, all rows are one query.
    rows : how many rows a piece has; more only where one query has more.
    """
    ended: list[pl.DataFrame] = []
    begun: list[pl.DataFrame] = []  # rows of one query, which may have more
    for batch in batches:
        for part in batch.iter_slices(rows):
            begin = _last_begin(begun[-1][-1:] if begun else part[:0], part, keys)
            if begin is None:
                begun.append(part)
            else:
                ended += [*begun, part[:begin]]
                begun = [part[begin:]]
            if _height(ended) and _height(ended) + _height(begun) >= rows:
                yield pl.concat(ended)
                ended = []
    if left := ended + begun:
        yield pl.concat(left)


def _height(parts: Iterable[pl.DataFrame]) -> int:
    return sum(map(len, parts))


def _last_begin(before: pl.DataFrame, part: pl.DataFrame, keys: Sequence[str]) -> int | None:
    """Return the row of a part where its last query begins; None where it has one query, begun before or here.

    ``before`` is the row before the part, or empty.
    """
    if not keys:
        return None
    both = pl.concat([before.select(keys), part.select(keys)])
    other = both.select(pl.any_horizontal([pl.col(key).ne_missing(pl.col(key).shift()) for key in keys])).to_series()
    begins = np.flatnonzero(other.to_numpy()[1:])
    return int(begins[-1]) + 1 - len(before) if len(begins) else None
