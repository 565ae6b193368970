"""Find queries that one system, arm or segment writes with other leading zeros than the judgments or other systems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from frame_metrics.fast.codes import codes
from frame_metrics.inputs import Array
from frame_metrics.keys.groups import named_as_text
from frame_metrics.keys.index import Index, KeyValues
from frame_metrics.keys.spelling import are_texts, has_leading_zeros, in_quotes, may_differ_in_zeros, without_zeros

# Queries of an arm or a segment from which on its ids have lost their zeros; one may be another query.
LEAST_QUERIES = 2
NO_LENGTH = 1 << 31  # more than any length


class OfPart(NamedTuple):
    """Queries that a system, an arm or a segment writes with other leading zeros."""

    whose: str  # the words for it, as "system = B"
    pairs: Sequence[tuple[str, str]]  # its id, and that of the judgments, or of another system, each in quotes


NO_PART = OfPart("", ())


class _Twins(NamedTuple):
    """Queries that are equal to another one but for leading zeros."""

    at: Array  # their numbers
    form: Array  # a number that those which are so equal share
    length: Array  # their lengths
    keeps: Array  # marks of all queries that begin with 0, or equal another one once zeros are dropped


def queries_of_part(index: Index, judged: Array | None) -> OfPart | None:
    """Return the queries of one system, arm or segment that are judged with other leading zeros; None for none.

    If one system of several has lost the zeros of its ids, the others still have the judged ids. Then no judged query
    lacks rows in all systems, and the check of the whole log finds nothing.

    Ids are different ones if one system, or one segment, has both. Systems should have the same queries; arms and
    segments have their own, so that there all judged ids that begin with 0 must be lost, and ``LEAST_QUERIES`` or more.

    Parameters
    ----------
    index : the rankings.
    judged : True for rankings whose query is judged, shape (rankings,). None: systems are compared with each other.
    """
    alone = index.conventions.unanswered == "drop"  # systems were asked different queries, as arms are
    systems = len(index.systems) > 1 and not index.columns.team and not index.answered.all()
    segments = bool(index.columns.by) and judged is not None and len(index.segments) > 1
    if not (systems or segments) or (twins := _twins(index.queries.values)) is None:
        return None
    known = None if judged is None else np.bincount(index.query, judged, len(index.queries)) > 0
    found = None
    if systems and not (alone and judged is None):
        found = _lost(index, index.systems, index.system, twins, known, independent=alone)
    if segments and found is None:
        found = _lost(index, index.segments, index.segment, twins, known, independent=True)
    return found


def lengths_of_digits(index: Index) -> list[int]:
    """Return lengths of ids that systems may write with other leading zeros; only of queries that some system lacks.

    Two for each query column of text: of the shortest id of digits, ``NO_LENGTH`` for none, and of the longest that
    begins with 0, else 0. No two are equal but for leading zeros unless the second is greater.
    """
    if not index.columns.system or index.columns.team or index.conventions.unanswered == "drop":
        return []
    some = index.queries.values[np.unique(index.query[~index.answered])]
    out = list[Any]()
    for digits, padded, n in map(_digits, some.select(name for name in some.columns if are_texts(some[name]))):
        out += [n.filter(digits).min() or NO_LENGTH, n.filter(padded).max() or 0]
    return out


def may_have_twins(names: pl.DataFrame, longest: Array, *, texts: bool) -> Array:
    """Mark queries that may be equal to another one but for leading zeros.

    Parameters
    ----------
    names : the queries.
    longest : the length of the longest id of digits that begins with 0, for each column of text.
    texts : whether ids that are no digits alone are marked too, if ids of that length could make two of them one.
    """
    marks, columns = np.zeros(len(names), bool), [names[name] for name in names.columns if are_texts(names[name])]
    for ids, most in zip(columns, longest, strict=True):
        digits, padded, n = _digits(ids)
        some = (n < most) | has_leading_zeros(ids.cast(pl.String)) if texts else padded | (digits & (n < most))
        marks |= some.fill_null(value=False).to_numpy()
    return marks


def _digits(ids: pl.Series) -> tuple[pl.Series, pl.Series, pl.Series]:
    """Mark ids of digits alone, and those of them that begin with 0 and go on; and return the lengths of all."""
    texts = ids.cast(pl.String)
    n = texts.str.len_bytes()
    digits = (texts.str.strip_chars("0123456789") == "") & (n > 0)
    return digits, digits & has_leading_zeros(texts), n


def _twins(names: pl.DataFrame) -> _Twins | None:
    """Return the queries that are equal to another one but for leading zeros; None for none."""
    columns = [name for name in names.columns if may_differ_in_zeros(names[name], names[name])]
    if not columns:
        return None
    texts = names.select(pl.col(columns).cast(pl.String))
    # Most are left out first: of two such ids one has leading zeros, and both have the same behind them.
    starts = texts.select(has_leading_zeros(texts[name]) for name in columns)
    behind, keeps = texts.select(pl.all().str.strip_chars_start("0")), starts.select(pl.any_horizontal("*")).to_series()
    like = behind.filter(keeps).unique()
    at = behind.with_row_index("at").join(like, on=columns, how="semi", nulls_equal=True)["at"].sort().to_numpy()
    plain = names[at].with_columns(without_zeros(texts[name][at]) for name in columns)
    form = codes(plain, plain.columns)[0]
    several = np.bincount(form)[form] > 1
    if not several.any():
        return None
    at, marks = at[several], keeps.to_numpy().copy()
    marks[at] = True
    length = texts[at].select(pl.sum_horizontal(pl.col(columns).str.len_bytes())).to_series()
    return _Twins(at, np.unique(form[several], return_inverse=True)[1], length.to_numpy().astype(np.int64), marks)


def _lost(
    index: Index, parts: KeyValues, part: Array, twins: _Twins, judged: Array | None, *, independent: bool
) -> OfPart | None:
    """Return the queries of the first part that writes some otherwise.

    Parameters
    ----------
    index : the rankings.
    parts, part : the systems or the segments, and the number of that of each ranking.
    twins : queries that are equal but for leading zeros.
    judged : marks of the judged queries, shape (queries,); None if systems are compared with each other.
    independent : whether parts have their own queries.
    """
    position = np.full(len(index.queries), -1)
    position[twins.at] = np.arange(len(twins.at))
    there = index.answered & (position[index.query] >= 0)
    has = np.zeros((len(parts), len(twins.at)), bool)
    has[part[there], position[index.query[there]]] = True
    clear = np.max([np.bincount(twins.form, mine) for mine in has], axis=0) < 2
    if judged is None:  # the longest id is the right one
        right = np.zeros(len(twins.at), bool)
        by_length = np.argsort(-twins.length, kind="stable")
        right[by_length[np.unique(twins.form[by_length], return_index=True)[1]]] = True
    else:
        right = judged[twins.at]
        clear &= np.bincount(twins.form, right) == 1
    lost = has & ~right & clear[twins.form]
    least = LEAST_QUERIES if independent else 1
    if independent and judged is not None:
        kept = np.bincount(part, index.answered & (twins.keeps & judged)[index.query], len(parts)) > 0
        lost[kept] = False
    found = lost.sum(axis=1) >= least
    if not found.any():
        return None
    first = int(next(at for at in parts.by_value if found[at]))
    like = np.empty(len(clear), np.int64)
    like[twins.form[right]] = twins.at[right]
    at, names = np.flatnonzero(lost[first]), index.queries.values
    values = parts.values.rename(dict(zip(parts.internal_keys, parts.columns, strict=True)))
    pairs = zip(twins.at[at].tolist(), like[twins.form[at]].tolist(), strict=True)
    return OfPart(named_as_text(values, first), [in_quotes(names.row(one), names.row(other)) for one, other in pairs])
