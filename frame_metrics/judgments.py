"""Judgments that are kept beside a log: checked, matched to its rows by query and document, laid out by query."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from frame_metrics.blocks import Pool, find_rankings
from frame_metrics.columns import Parts, amount_column, grade_column, key_names, label_column, refuse
from frame_metrics.errors import BadValueError

TEXT = (pl.String, pl.Categorical, pl.Enum)


@dataclass(frozen=True)
class Judged:
    """Judgments ready to be joined.

    Parameters
    ----------
    pairs : query and document of every judgment, with its grade or label, laid query by query.
    names : the queries, a row each, with the segment columns (and weight) where the judgments have them.
    pool : the judgments of each row of ``queries``.
    queries : the distinct queries.
    row : row of the judgments' frame for each row of ``names``.
    """

    pairs: pl.DataFrame
    names: pl.DataFrame
    queries: pl.DataFrame
    pool: Pool
    row: np.ndarray


def read_judgments(frame: pl.DataFrame, parts: Parts, log: pl.DataFrame, log_parts: Parts) -> Judged:
    """Check judgments and lay them out by query.

    Parameters
    ----------
    frame : the judgments' columns, as polars.
    parts : which of their columns is which.
    log : the log's checked columns; its key types are taken over.
    log_parts : the log's own names, for messages.
    """
    _, by, query = key_names(parts)
    columns: dict[str, pl.Series] = {}
    for inside, name in [*zip(by, parts.by, strict=True), *zip(query, parts.query, strict=True), ("doc", parts.doc)]:
        own = log_parts.doc if inside == "doc" else dict(zip(by + query, log_parts.by + log_parts.query, strict=False))[inside]
        if name is None:
            raise BadValueError("the judgments have no document column; name it with doc=")
        if inside not in by:
            refuse(f"{name} (of the judgments)", frame[name].is_null(), "are missing", "drop them")
        columns[inside] = like(frame[name], log[inside].dtype, name, str(own))
    if parts.grade:
        columns["grade"] = grade_column(frame[parts.grade], parts.grade)
    if parts.label:
        columns["label"] = label_column(frame[parts.label], parts.label)
    if parts.weight:
        columns["weight"] = amount_column(frame[parts.weight], parts.weight, "weight")
    table = pl.DataFrame(columns).with_row_index("row")
    judged = "label" if "label" in columns else "grade"
    table = table.filter(pl.col(judged).is_not_null())
    return laid_out(table, by, query, parts)


def laid_out(table: pl.DataFrame, by: list[str], query: list[str], parts: Parts) -> Judged:
    """Lay checked judgments out by query, once each pair has one grade."""
    values = [name for name in ("grade", "label") if name in table.columns]
    names = table.unique([*by, *query], keep="first", maintain_order=True)
    pairs = table.unique([*query, "doc"], keep="first", maintain_order=True)
    if len(pairs) < len(table):
        differ = table.group_by([*query, "doc"], maintain_order=True).agg(
            pl.any_horizontal(pl.col(value).n_unique() > 1 for value in values).alias("differ"), pl.col("row")
        ).filter("differ")
        if len(differ):
            rows = differ["row"][0].to_list()[:3]
            shown = ", ".join(str(differ[name][0]) for name in [*query, "doc"])
            raise BadValueError(
                f"{parts.grade or parts.label}: {len(differ)} pairs of query and document have two judgments "
                f"(({shown}), rows {', '.join(map(str, rows))}, is one); keep one of each"
            )
    found = find_rankings(pairs, query, values, rows=False)
    pool = Pool(found.start, found.length, found.values.get("grade", found.values.get("label")), found.values.get("label"))
    return Judged(pairs, names, pairs.select(query)[found.first], pool, names["row"].to_numpy().astype(np.int64))


def like(values: pl.Series, dtype: pl.DataType, name: str, own: str) -> pl.Series:
    """Return ids of the judgments in the type of the log's ids."""
    if values.dtype == dtype:
        return values
    same = (
        (values.dtype in TEXT and dtype in TEXT)
        or (values.dtype.is_integer() and dtype.is_integer())
        or (values.dtype.is_float() and dtype.is_float())
        or (values.dtype.is_temporal() and dtype.is_temporal())
        or pl.Null in (values.dtype, dtype)
    )
    if not same:
        raise BadValueError(f"{name} of the judgments is {values.dtype}, and {own} of the log is {dtype}; give both one type")
    try:
        return values.cast(dtype)
    except pl.exceptions.InvalidOperationError:
        raise BadValueError(f"{name} of the judgments has ids that {own} of the log ({dtype}) cannot hold") from None


def match(log: pl.DataFrame, judged: Judged, query: list[str], parts: Parts) -> pl.DataFrame:
    """Return the log with the judgments' grade and label of each row, null where it has none.

    Only rows whose hash of query and document is among the judgments' are joined by the ids themselves.
    """
    values = [name for name in ("grade", "label") if name in judged.pairs.columns]
    keys = [*query, "doc"]
    log = log.drop("grade", "label", strict=False)
    likely = log.select(pair_hash(log, keys).is_in(judged.pairs.select(pair_hash(judged.pairs, keys)).to_series().implode()))
    row = likely.to_series().arg_true()
    few = log.select(keys)[row].with_columns(row.alias("at"))
    hits = few.join(judged.pairs.select(*keys, *values), on=keys, how="inner", nulls_equal=True)
    if not len(hits) and len(log) and len(judged.pairs):
        _refuse_strangers(log, judged.pairs, query, ", ".join(parts.query))
        _refuse_strangers(log, judged.pairs, ["doc"], str(parts.doc))
    at = hits["at"]
    out = []
    for name in values:
        out.append(pl.Series(name, [None], dtype=hits[name].dtype).new_from_index(0, len(log)).scatter(at, hits[name]))
    return log.with_columns(out)


def pair_hash(frame: pl.DataFrame, keys: list[str]) -> pl.Expr:
    """Return a hash of several columns, the same in every frame; categories by their text."""
    mixed = pl.lit(0, dtype=pl.UInt64)
    for seed, key in enumerate(keys, start=1):
        column = pl.col(key).cast(pl.String) if frame[key].dtype in TEXT else pl.col(key)
        mixed = mixed ^ column.hash(seed)
    return mixed


def _refuse_strangers(log: pl.DataFrame, judgments: pl.DataFrame, keys: list[str], name: str) -> None:
    """Raise if log and judgments have no id in common: then the ids are written in two ways."""
    ours, theirs = log.select(keys).unique(maintain_order=True), judgments.select(keys).unique(maintain_order=True)
    if not len(ours.join(theirs, on=keys, how="semi", nulls_equal=True)):
        raise BadValueError(
            f"{name}: no id of the log is among those of the judgments (the log has {ours[keys[0]][0]!r}, the judgments "
            f"{theirs[keys[0]][0]!r}); do both write ids the same way?"
        )
