"""Result frames of any kind read for pictures: the columns that a picture knows, and key columns as texts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.backends.display import value_text
from frame_metrics.backends.forked import check_threads
from frame_metrics.backends.frames import backend_of
from frame_metrics.backends.times import ordered_distinct
from frame_metrics.errors import BadValueError, ColumnError, closest, listed
from frame_metrics.inputs import Array
from frame_metrics.inputs.records import record

POINTS = 500  # the most points of a line that are drawn; a screen shows no more
PANELS = 12  # the most panels, or small multiples, of a picture
MOST_COLORED_LINES = 12  # more colours would not differ enough
HIGHLIGHTED = 6  # of more lines, so many are in colour
# Columns of evaluate() that are not keys.
OF_EVALUATE = (
    "k",
    "average",
    "total_over",
    "n",
    "n_undefined",
    "n_unanswered",
    "n_effective",
    "if_calibrated",
    "support",
)
TEXTS = ("metric", "average", "total_over", "baseline")  # columns of results that hold no numbers
Names = str | Sequence[str] | None


@dataclass(frozen=True)
class Key:
    """Key columns joined to one text: the caller's names of the columns, and the texts in the order of the frame."""

    columns: tuple[str, ...]
    values: list[str]
    highlighted: tuple[str, ...] | None = None  # the texts in colour, while the others are grey; None for all
    ordered: bool = False  # whether the texts stand in the order of time, or that of a category

    @property
    def title(self) -> str:
        """The names of the columns."""
        return ", ".join(self.columns)


@record
class Tidy:
    """A frame read for a picture: the columns that the picture knows and, for keys, the texts "color" and "facet"."""

    table: pl.DataFrame
    color: Key | None
    facet: Key | None
    notes: tuple[str, ...] = ()  # lines under the title of the picture

    @property
    def series(self) -> list[str]:
        """The columns that distinguish lines."""
        return [name for name in ("color", "facet") if getattr(self, name) is not None]

    def lines(self) -> list[pl.DataFrame]:
        """Return the rows of each line, in the order of the frame."""
        return self.table.partition_by(self.series, maintain_order=True) if self.series else [self.table]

    def with_columns(self, *columns: Any, **named: Any) -> Tidy:
        """Return the same with more columns."""
        return replace(self, table=self.table.with_columns(*columns, **named))

    def per_line(self, **columns: pl.Expr) -> Tidy:
        """Return the same with more columns, whose expressions are computed for each line by itself."""
        return replace(self, table=pl.concat([part.with_columns(**columns) for part in self.lines()]))

    def with_notes(self, *notes: str) -> Tidy:
        """Return the same with more notes; empty ones are left out."""
        return replace(self, notes=(*self.notes, *filter(None, notes)))


def read_tidy(
    frame: Any,
    picture: str,
    needs: Sequence[str],
    also: Collection[str] = (),
    *,
    color: Names = None,
    facet: Names = None,
    ignored: Collection[str] = (),
    texts: Collection[str] = TEXTS,
    colors: int | None = 1,
    more: Mapping[str, pl.Series] = MappingProxyType({}),
) -> Tidy:
    """Read a frame that a verb returned.

    Parameters
    ----------
    frame : a frame of any kind; a lazy one is run.
    picture : the start of errors, with the verb that the picture draws, as "pr draws what curve('pr') returns".
    needs, also : the columns that the picture requires, and those that it may use. All others are keys.
    color, facet : the key columns shown by colour, and by small multiples. By default the first key is the colour and
        the others are facets.
    ignored : columns that are not keys.
    texts : the columns that hold text, of those that the picture knows.
    colors : the number of keys that the colour stands for by default; None for all.
    more : columns of the table in addition, with a value for each row of the frame.
    """
    check_threads("a picture")
    backend = backend_of(frame)
    names = backend.names()
    missing = [name for name in needs if name not in names]
    if missing:
        raise ColumnError(f"{picture}; there is no column {listed(missing)} among {listed(names)}")
    known = [name for name in names if name in (*needs, *also)]
    keys = [name for name in names if name not in known and name not in ignored]
    chosen = _chosen(keys, color, facet, colors)
    read = [*known, *dict.fromkeys(name for columns in chosen.values() for name in columns)]
    table = backend.read(read)
    if not len(table):
        raise BadValueError(f"{picture}; the frame has no rows")
    over = table["total_over"].to_list() if "total_over" in known else [None] * len(table)
    columns = {name: _as_text(table[name]) if name in texts else _as_number(table[name]) for name in known} | {**more}
    found: dict[str, Key | None] = {}
    for part, of in chosen.items():
        found[part], texts_of_key = _key(table, of, over)
        columns |= {} if texts_of_key is None else {part: texts_of_key}
    return _of_few_facets(Tidy(pl.DataFrame(columns), found["color"], found["facet"]))


def _of_few_facets(tidy: Tidy) -> Tidy:
    """Return the same with the first small multiples, as many as can be seen at once; a note counts them."""
    facet = tidy.facet
    if facet is None or len(facet.values) <= PANELS:
        return tidy
    first = facet.values[:PANELS]
    few = replace(tidy, table=tidy.table.filter(pl.col("facet").is_in(first)), facet=replace(facet, values=first))
    return few.with_notes(
        f"the first {PANELS} of {len(facet.values):,} values of {facet.title}; keep the rows of others"
    )


def _chosen(keys: list[str], color: Names, facet: Names, colors: int | None) -> dict[str, list[str]]:
    """Return the key columns for "color" and for "facet"; raise for a key that is in neither."""
    of_color, of_facet = named_keys("color", color, keys), named_keys("facet", facet, keys)
    if of_color is None:
        of_color = [name for name in keys if name not in (of_facet or [])][:colors]
    if of_facet is None:
        of_facet = [name for name in keys if name not in of_color]
    left = [name for name in keys if name not in (*of_color, *of_facet)]
    if left:
        raise ColumnError(f"nothing says what tells {listed(left)} apart; name them in color= or facet=")
    return {"color": of_color, "facet": of_facet}


def column_of(frame: Any, name: str) -> pl.Series:
    """Return a column of a frame of any kind."""
    return backend_of(frame).read([name])[name]


def highlight_lines(
    tidy: Tidy, best: Sequence[str] | None, chosen: Names, most: int = MOST_COLORED_LINES, changed: Sequence[str] = ()
) -> Tidy:
    """Return the same with only some lines in colour, if there are too many lines or some are chosen.

    The lines in colour are the best one and the chosen ones or, if none is chosen, the best ones. Their rows come last,
    so that they are drawn over the grey ones.

    Parameters
    ----------
    best : the lines, the best first; None if that is unknown, and then the first lines are taken.
    chosen : the lines that the caller chose.
    most : how many lines are not too many.
    changed : lines that are in colour too, as a mark names them.
    """
    key = tidy.color
    named = [chosen] if isinstance(chosen, str) else [*(chosen or ())]
    for one in named:
        if key is None or one not in key.values:
            there = key.values if key else []
            raise BadValueError(f"chosen={one!r} is none of the lines; there are {listed(there)}{closest(one, there)}")
    if key is None or (len(key.values) <= most and not named):
        return tidy
    first = [*(best or [])][:1]
    some = list(dict.fromkeys([*first, *named] if named else (best or key.values)[:HIGHLIGHTED]))
    also = [one for one in dict.fromkeys(changed) if one not in some][:HIGHLIGHTED]
    some = some if named else some[: HIGHLIGHTED - len(also)]
    highlighted = (*some, *also)
    rows = tidy.table.sort(pl.col("color").is_in(highlighted), maintain_order=True)
    which = (
        f"the chosen{' and the best' if best else ''}" if named else f"the {'best' if best else 'first'} {len(some)}"
    )
    which = " and ".join([which, *also])
    return replace(tidy, table=rows, color=replace(key, highlighted=highlighted)).with_notes(
        f"in colour: {which} of {len(key.values):,}"
    )


def n_text(numbers: pl.Series, where: str = "") -> str:
    """Return for a title the number of queries or rows behind values, in brackets; "" if it is unknown."""
    known = sorted({*numbers.drop_nulls()})
    ends = " to ".join(f"{end:,.0f}" for end in dict.fromkeys([*known[:1], *known[-1:]]))
    return f" (n = {ends}{where and f' {where}'})" if known else ""


def only_at(index: pl.Expr) -> pl.Expr:
    """Return an expression that is true at the row with this index, and at no row if the index is null."""
    return (pl.int_range(pl.len()) == index).fill_null(False)


def named_keys(option: str, given: Names, keys: list[str]) -> list[str] | None:
    """Return the key columns that an option names, None where it is not given; raise for what is no key column."""
    if given is None:
        return None
    names = [given] if isinstance(given, str) else list(given)
    for name in names:
        if name not in keys:
            raise ColumnError(f"{option}={name!r} is no key column; there are {listed(keys)}{closest(name, keys)}")
    return names


def _key(table: pl.DataFrame, names: list[str], over: list[Any]) -> tuple[Key | None, pl.Series | None]:
    """Return key columns as one key and one text for each row; a value that is totalled is "all"."""
    if not names:
        return None, None
    columns = [_texts_of(table[name].to_list(), [_is_over(name, total) for total in over]) for name in names]
    rows = [*zip(*columns, strict=True)]
    texts = [", ".join(row) for row in rows]
    if len({*texts}) < len({*rows}):  # a value holds the comma that stands between two
        texts = [", ".join(map(repr, row)) for row in rows]
    places = [_places(table[name], column) for name, column in zip(names, columns, strict=True)]
    found = list(dict.fromkeys(texts))
    ordered = any(place is not None for place in places)
    if ordered:  # as without an order the first stands first
        plain = [dict(zip(dict.fromkeys(column), range(len(column)), strict=False)) for column in columns]
        used = [one if place is None else place for one, place in zip(plain, places, strict=True)]
        rank = {
            text: [one[part] for one, part in zip(used, row, strict=True)]
            for text, row in zip(texts, rows, strict=True)
        }
        found.sort(key=rank.__getitem__)
    return Key(tuple(names), found, ordered=ordered), pl.Series(texts, dtype=pl.String)


def _places(values: pl.Series, texts: Sequence[str]) -> dict[str, int] | None:
    """Return the place of each text of a key column in its own order, totals last; None if it has none."""
    order = ordered_distinct(values)
    if order is None:
        return None
    there = dict(zip(map(repr, values.to_list()), texts, strict=True))  # values may be dicts, as intervals are
    found = [there[repr(value)] for value in order]
    return {text: at for at, text in enumerate(dict.fromkeys([*found, *texts]))}


def _is_over(name: str, total: str | None) -> bool:
    return total is not None and f", {name}, " in f", {total}, "


def _texts_of(values: Sequence[Any], totals: Sequence[bool]) -> list[str]:
    """Return values as texts, different ones for different values; those of totals are "all"."""
    taken = {value for value in values if isinstance(value, str)}
    null, total = unused_name("null", taken), unused_name("all", taken)
    texts = [null if value is None else value_text(value) for value in values]
    return [total if of_all else text for text, of_all in zip(texts, totals, strict=True)]


def unused_name(text: str, taken: Collection[str]) -> str:
    """Return a text that is none of those that are taken."""
    return unused_name(f"({text})", taken) if text in taken else text


def _as_text(column: pl.Series) -> pl.Series:
    return pl.Series([None if value is None else value_text(value) for value in column.to_list()], dtype=pl.String)


def _as_number(column: pl.Series) -> pl.Series:
    if not (column.dtype.is_numeric() or column.dtype in (pl.Null, pl.Boolean)):
        raise BadValueError(f"{column.name}: the column holds {column.dtype}, and a picture needs numbers there")
    return column.cast(pl.Float64).fill_nan(None)


def thinned(tidy: Tidy, columns: Sequence[str], *, kept: str) -> Tidy:
    """Keep some rows of each line, evenly along its length, each row near to one that stays; a note counts them.

    The line is cut into stretches of equal length, with each of ``columns`` on a scale from 0 to 1. The first row, the
    last row of each stretch, and the rows that are marked in the column ``kept`` stay.
    """
    rows = [part[_stretches(part, columns, kept)] if len(part) > POINTS else part for part in tidy.lines()]
    table = pl.concat(rows)
    note = f"{len(table):,} of {len(tidy.table):,} points are drawn" if len(table) < len(tidy.table) else ""
    return replace(tidy, table=table).with_notes(note)


def _stretches(part: pl.DataFrame, columns: Sequence[str], kept: str) -> Array:
    """Return the positions of the rows of one line that stay, see ``thinned``."""
    arc = np.zeros(len(part))
    for name in columns:
        values = np.nan_to_num(part[name].fill_null(0).to_numpy(), posinf=0, neginf=0)
        arc += np.append(0, np.cumsum(np.abs(np.diff(values / (np.ptp(values) or 1)))))
    stretch = np.minimum((arc / (arc[-1] or 1) * (POINTS - 2)).astype(np.int64), POINTS - 3)
    ends = np.flatnonzero(np.diff(stretch, prepend=-1, append=-1)[1:])
    return np.unique(np.concatenate([[0], ends, part[kept].arg_true().to_numpy()]).astype(np.int64))
