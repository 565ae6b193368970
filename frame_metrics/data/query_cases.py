"""The rows of queries as rows to decide about: those that are judged, and the judged documents that are not listed."""

from __future__ import annotations

import numpy as np
import polars as pl

from frame_metrics.data.blocks import spans
from frame_metrics.data.cases import Cases
from frame_metrics.data.log import Block, Log
from frame_metrics.inputs import Array
from frame_metrics.inputs.rows import NONE
from frame_metrics.roles.columns import key_names


def cases_of(log: Log) -> Cases:
    """Return the rows of all evaluated queries.

    Documents without a judgment are not relevant, unless they are dropped. Judged documents that a system does not
    list are rows without a score, predicted to be nothing.
    """
    grid, columns = log.grid, log.columns
    keys = [key for names in key_names(columns) for key in names]
    lacking, evaluated = _beside(log)
    rows = _listed(log, keys)
    ranking = np.empty(len(rows), np.int64)
    ranking[grid.rankings.rows_of(spans(grid.rankings.starts, grid.rankings.lengths))] = np.repeat(
        np.arange(len(grid.rankings.lengths)), grid.rankings.lengths
    )
    kept = evaluated[ranking]
    if log.conventions.unjudged == "drop":
        kept &= rows["actual"].is_not_null().to_numpy()
    rows = rows.filter(pl.Series(kept)).with_columns(pl.col("actual").fill_null(0))
    counts = np.where(evaluated, lacking, 0).astype(np.int64)
    extra = [_unlisted(log, rows, keys, relevant, counts[relevant]) for relevant in (0, 1)]
    return Cases(pl.concat([rows, *extra]), None, columns, log.conventions, None, None, True)


def _listed(log: Log, keys: list[str]) -> pl.DataFrame:
    """The rows of the log, with the rows of the caller's frame that hold their keys."""
    table = log.table
    known = table.select(pl.col("label" if "label" in table.columns else "grade").cast(pl.Float64).fill_nan(None))
    good = known.to_series() == 1 if "label" in table.columns else known.to_series() >= log.conventions.rel
    columns = [pl.col(key) for key in keys] + [pl.lit(good.cast(pl.Int8)).alias("actual")]
    if "score" in table.columns:
        columns.append(pl.col("score").cast(pl.Float64))
    if log.conventions.threshold is not None:
        columns.append((pl.col("score") >= log.conventions.threshold).fill_null(False).cast(pl.Int8).alias("predicted"))
    elif "predicted" in table.columns:
        columns.append(pl.col("predicted"))
    row = pl.Series(log.rows(np.arange(len(table))))
    return table.select(columns).with_columns(row.alias(f"row:{key}") for key in keys)


def _beside(log: Log) -> tuple[Array, Array]:
    """Judged documents that each ranking lacks, not relevant and relevant, and True for those that are evaluated."""
    n = len(log.grid.pair)
    lacking, evaluated = np.zeros((2, n)), np.zeros(n, bool)

    def work(block: Block) -> None:
        run = block.ranking()
        good = np.maximum(run.n_relevant - run.listed_relevant, 0)
        lacking[1, block.at], lacking[0, block.at] = good, np.maximum(run.n_known - run.lengths - good, 0)
        evaluated[block.at] = run.n_judged > 0

    log.each_block(work)
    return lacking, evaluated


def _unlisted(log: Log, rows: pl.DataFrame, keys: list[str], relevant: int, count: Array) -> pl.DataFrame:
    """Rows for the documents that rankings lack."""
    grid = log.grid
    at = np.repeat(np.arange(len(count)), count)
    system, by, query = key_names(log.columns)
    none = np.full(len(at), NONE)
    columns: dict[str, pl.Series] = {}
    for names, code, row in (
        (system, grid.system, grid.system_row),
        (by, grid.segment, grid.segment_row),
        (query, grid.query, grid.query_row),
    ):
        own = row[code[at]] if len(at) else none
        if names:
            columns |= log.keys_at(names, own).to_dict()
            columns |= {f"row:{name}": pl.Series(log.rows(own)) for name in names}
    columns["actual"] = pl.Series([relevant], dtype=pl.Int8).new_from_index(0, len(at))
    if "predicted" in rows.columns:
        columns["predicted"] = pl.Series([0], dtype=pl.Int8).new_from_index(0, len(at))
    if "score" in rows.columns:
        columns["score"] = pl.Series([None], dtype=pl.Float64).new_from_index(0, len(at))
    return pl.DataFrame({name: columns[name].cast(dtype) for name, dtype in rows.schema.items()})
