"""Columns to inputs to kernels to tidy rows: one eager way down and up."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from frame_metrics import blocks
from frame_metrics.averages import Tally, intervals, pooled, tally, within
from frame_metrics.columns import Parts, checked, key_names, largest_grade
from frame_metrics.errors import BadValueError, NotComputableError, bad_rows
from frame_metrics.grid import Grid, build_grid
from frame_metrics.inputs import Array, Confusion
from frame_metrics.judgments import Judged, laid_out, match, read_judgments
from frame_metrics.metric import Metric
from frame_metrics.names import Asked
from frame_metrics.sorting import Sorted, Sorter

UNDEFINED = {"zero": 0.0, "one": 1.0, "null": None, "raise": None}


@dataclass(frozen=True)
class Conventions:
    """What is done where the field disagrees."""

    rel: float = 1
    ties: str = "worst"
    undefined: str | None = None
    unjudged: str | None = None
    duplicates: str | None = None
    size: float | bool | None = None

    def fill(self, metric: Metric) -> float | None:
        """What an undefined value becomes; None for null."""
        return metric.undefined if self.undefined is None else UNDEFINED[self.undefined]

    def variant(self, metric: Metric) -> tuple[float, bool]:
        """The relevance level of a metric, and whether its lists are condensed."""
        return metric.variant(self.rel, self.unjudged == "drop")


@dataclass(frozen=True)
class Log:
    """A log read and checked, its rankings found, its judgments joined.

    Parameters
    ----------
    columns : the checked columns by role.
    row : row of the caller's frame of each row; None where they are the same.
    grid : the rankings to measure.
    judged : the judgments, where they are kept beside.
    """

    columns: pl.DataFrame
    row: Array | None
    parts: Parts
    grid: Grid
    judged: Judged | None
    top_grade: float

    def rows(self, at: Array) -> Array:
        """Return rows of the caller's frame, or of the judgments past its end."""
        if self.row is None:
            return at
        n = len(self.row)
        return np.where(at < n, np.append(self.row, 0)[np.minimum(at, n)], at)


@dataclass(frozen=True)
class Measured:
    """Values of metrics for every ranking, NaN where undefined.

    Parameters
    ----------
    asked : names and metrics.
    values : shape (metrics, rankings).
    counts : for each metric that is to be pooled, the counts of its table, shape (counts, rankings).
    evaluated : which rankings have a judged document, shape (rankings,).
    weight : of each ranking's query; None without weights.
    """

    log: Log
    asked: Asked
    values: Array
    counts: dict[int, Array] = field(default_factory=dict)
    evaluated: Array = field(default_factory=lambda: np.zeros(0, bool))
    weight: Array | None = None


def read_log(frame: pl.DataFrame, parts: Parts, how: Conventions, judgments: tuple[pl.DataFrame, Parts] | None) -> Log:
    """Check the columns, join the judgments and find the rankings."""
    log = checked(frame, parts, judged_elsewhere=judgments is not None)
    system, by, query = key_names(parts)
    row = None
    if parts.doc and how.duplicates == "first":
        log, row = _first_places(log, [*system, *by, *query, "doc"], parts)
    judged = None
    if judgments is not None:
        judged = read_judgments(*judgments, log, parts)
        log = match(log, judged, query, parts)
    elif parts.system and parts.doc and (parts.grade or parts.label):
        judged = _shared(log, query, parts)
        log = match(log, judged, query, parts)
    pairs = log if judged is None else judged.pairs
    top = largest_grade(pairs) if "grade" in pairs.columns else np.nan
    names = ("score", "rank", "grade", "label", "weight", "n_relevant", "size")
    if parts.doc:
        log = log.with_columns(pl.col("doc").hash().alias("hash"))
    laid = [name for name in (*names, "hash") if name in log.columns]
    rankings = blocks.find_rankings(log, [*system, *by, *query], laid, rows=parts.doc is not None or "rank" in laid)
    if parts.doc and how.duplicates != "first":
        again = blocks.find_duplicates(rankings, log["doc"])
        if len(again):
            raise bad_rows(parts.doc, again.tolist(), len(log), "repeat a document of their query",
                           "drop them, or say duplicates='first' to keep the best place of each")
    return Log(log, row, parts, build_grid(log, rankings, parts, judged), judged, top)


def _shared(log: pl.DataFrame, query: list[str], parts: Parts) -> Judged:
    """The judgments that systems share: a document judged in one system's rows is judged in all."""
    known = "label" if "label" in log.columns else "grade"
    columns = [*query, "doc", *(name for name in ("grade", "label") if name in log.columns)]
    table = log.select(columns).with_row_index("row").filter(pl.col(known).is_not_null())
    return laid_out(table, [], query, parts)


def _first_places(log: pl.DataFrame, keys: list[str], parts: Parts) -> tuple[pl.DataFrame, Array | None]:
    """Keep the best place of each document of a ranking."""
    place = next((name for name in ("rank", "score") if name in log.columns), None)
    rows = log.with_row_index("at")
    if place:
        rows = rows.sort(place, descending=place == "score", nulls_last=True, maintain_order=True)
    kept = rows.unique(keys, keep="first", maintain_order=True)["at"].sort()
    if len(kept) == len(log):
        return log, None
    judgment = [name for name in ("grade", "label") if name in log.columns]
    if judgment and len(log.select(*keys, *judgment).drop_nulls(judgment).unique()) > len(
        log.select(*keys, *judgment).drop_nulls(judgment).unique(keys)
    ):
        raise BadValueError(f"{parts.doc}: repeated documents have different judgments; keep one of each")
    return log[kept], kept.to_numpy().astype(np.int64)


def check_computable(asked: Asked, log: Log, how: Conventions, average: str | None = None) -> None:
    """Raise for a metric that the data and conventions do not determine."""
    parts = log.parts
    grade = parts.label or parts.grade or "the grades"
    for name, metric in asked:
        if metric.missing:
            raise NotComputableError(f"{name} needs {metric.missing[0]}=, as in {metric.name}({metric.missing[0]}=0.5)")
        try:
            reads = metric.reads
        except NotComputableError as error:
            raise NotComputableError(f"{name} {error}; the largest grade in {grade} is {log.top_grade:g}") from None
        rel, _ = how.variant(metric)
        top = metric.params.get("max_grade")
        if top is not None and log.top_grade > top:
            raise BadValueError(f"{name}: max_grade={top:g}, but the largest grade in {grade} is {log.top_grade:g}")
        if "tn" in reads and how.size is None and "size" not in log.columns.columns:
            raise NotComputableError(
                f"{name} counts true negatives, and so needs collection_size=: a number, a column, or True if the frame lists all"
            )
        if "label" in _judgment_columns(log):
            if "rel" in metric.params:
                raise NotComputableError(f"{name}: rel= is a grade, and {grade} says already what is relevant")
        elif "relevant" in reads and 0 < log.top_grade < rel:
            raise NotComputableError(f"{name}: no grade in {grade} reaches rel={rel:g}; the largest is {log.top_grade:g}")
        if parts.n_relevant and log.judged is None:
            if "ideal" in reads and log.top_grade > 1:
                raise NotComputableError(
                    f"{name} needs the grades of all relevant documents, and {parts.n_relevant} only counts them; "
                    "list them, or say n_relevant=None to take the ideal from the listed rows"
                )
            if "n_relevant" in reads and rel != how.rel:
                raise NotComputableError(f"{name}: {parts.n_relevant} counts what is relevant at rel={how.rel:g} only")
        if average == "micro" and not metric.summed and metric.input is not Confusion:
            raise NotComputableError(f"{name} has no micro average: only what the 2x2 table gives has, as precision or recall@10")


def _judgment_columns(log: Log) -> list[str]:
    return (log.columns if log.judged is None else log.judged.pairs).columns


def measure(log: Log, asked: Asked, how: Conventions, average: str | None = None) -> Measured:
    """Compute metrics for every ranking, block by block."""
    check_computable(asked, log, how, average)
    grid, parts = log.grid, log.parts
    values = grid.rankings.values
    known = grid.amounts(values["n_relevant"], str(parts.n_relevant)) if "n_relevant" in values and log.judged is None else None
    size = _sizes(log, how)
    out = np.empty((len(asked), len(grid.pair)))
    counts: dict[int, Array] = {}
    evaluated = np.zeros(len(grid.pair), bool)
    by_variant: dict[tuple[float, bool], list[int]] = {}
    for i, (_, metric) in enumerate(asked):
        by_variant.setdefault(how.variant(metric), []).append(i)
        if average == "micro" and metric.input is Confusion:
            counts[i] = np.empty((4 if size is None else 5, len(grid.pair)))
    doc = log.columns["doc"] if how.ties == "doc" else None
    sorter = Sorter(grid.rankings, how.ties, doc, how.rel, parts.rank or "rank")
    strict = [name for name, metric in asked if not metric.monotone] if how.ties in ("worst", "best") else []

    def work(part: slice | Array) -> None:
        sheet = sorter.block(part)
        if sheet.tied and strict:
            raise _unbounded(strict[0], how.ties, parts)
        pool = _pool_cells(grid, part)
        for (rel, condensed), wanted in by_variant.items():
            run = sheet.ranking(rel=rel, condensed=condensed, pool=pool, known_relevant=None if known is None else known[part],
                                size=None if size is None else size[part])
            if known is not None and (run.listed_relevant > run.n_relevant).any() and rel == how.rel:
                raise BadValueError(f"{parts.n_relevant}: a query lists more relevant documents than it is said to have")
            for i in wanted:
                out[i, part] = asked[i][1].compute(run)
                if i in counts:
                    counts[i][:, part] = run.confusion(asked[i][1].k).counts
            evaluated[part] = run.n_judged > 0

    blocks.each_block(grid.size, work)
    weight = _weights(log) if parts.weight else None
    return Measured(log, asked, out, counts, evaluated, weight)


def _unbounded(name: str, ties: str, parts: Parts) -> NotComputableError:
    order = "" if parts.doc else "name doc= to order equal scores by document, or "
    return NotComputableError(
        f"{name} is not bounded by ties={ties!r}, and rows with equal scores have different judgments; "
        f"{order}say ties='order' to take the frame's order"
    )


def _pool_cells(grid: Grid, part: slice | Array) -> tuple[Array, Array, Array | None] | None:
    """The judged documents of a block's queries: query, grade and label."""
    if grid.pool is None:
        return None
    length = grid.pool.length[part]
    at = blocks.spans(grid.pool.start[part], length)
    label = grid.pool.label
    return np.repeat(np.arange(len(length)), length), grid.pool.grade[at], None if label is None else label[at]


def _sizes(log: Log, how: Conventions) -> Array | None:
    """Documents in the collection, for each ranking."""
    values = log.grid.rankings.values
    if "size" in values:
        return log.grid.amounts(values["size"], str(log.parts.size))
    if how.size is None or how.size is False:
        return None
    if how.size is not True:
        return np.full(len(log.grid.pair), float(how.size))
    most = np.zeros(int(log.grid.pair.max(initial=-1)) + 1)
    np.maximum.at(most, log.grid.pair, log.grid.rankings.length)
    return most[log.grid.pair]


def _weights(log: Log) -> Array:
    """The weight of each ranking's query, from the log or else the judgments."""
    values, parts = log.grid.rankings.values, log.parts
    weight = np.full(len(log.grid.pair), np.nan)
    if "weight" in values:
        weight = log.grid.amounts(values["weight"], str(parts.weight))
    lacking = np.isnan(weight)
    if lacking.any() and log.judged is not None and "weight" in log.judged.names.columns:
        at = log.grid.query_row[log.grid.query] - len(log.columns)
        names = log.judged.names
        place = {int(row): i for i, row in enumerate(log.judged.row)}
        mine = [place.get(int(row), -1) for row in at[lacking]]
        weight[lacking] = np.append(names["weight"].to_numpy(), np.nan)[mine]
        lacking = np.isnan(weight)
    if lacking.any():
        raise BadValueError(
            f"{parts.weight}: {int(lacking.sum())} judged queries without results have no weight; "
            f"give the judgments a column {parts.weight!r} too"
        )
    return weight


def filled(measured: Measured, i: int, how: Conventions) -> Array:
    """Return a metric's values with the undefined ones replaced, NaN where they stay null."""
    name, metric = measured.asked[i]
    raw = measured.values[i]
    undefined = np.isnan(raw) & measured.evaluated
    if how.undefined == "raise" and undefined.any():
        raise NotComputableError(f"{name} is undefined for {int(undefined.sum())} of {int(measured.evaluated.sum())} queries")
    fill = how.fill(metric)
    return raw if fill is None else np.where(np.isnan(raw), fill, raw)


def tallies(measured: Measured, how: Conventions, average: str) -> list[Tally]:
    """Return what to sum for each metric, over the queries that are evaluated."""
    some = measured.evaluated
    weight = None if measured.weight is None else measured.weight[some]
    found = []
    for i, (name, metric) in enumerate(measured.asked):
        raw, values = measured.values[i][some], filled(measured, i, how)[some]
        if i in measured.counts:
            found.append(pooled(metric, measured.counts[i][:, some], how.fill(metric), raw))
        else:
            found.append(tally(metric, raw, values, metric.average or average, weight))
    return found
