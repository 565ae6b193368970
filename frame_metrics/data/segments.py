"""Count and sort rows without queries, segment by segment: tables of classes, and counts at each score."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import polars as pl

from frame_metrics.data.cases import Cases
from frame_metrics.data.classes import match_clusters
from frame_metrics.fast.blocks import each_block
from frame_metrics.fast.group_rows import group_rows
from frame_metrics.fast.rank_order import falling_bits, rank_order, scores_of_bits, sort_keys
from frame_metrics.inputs import Array, Classes, ClassScores, FullScores
from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import count_codes, spans
from frame_metrics.inputs.scores import LEVELS_AT_ONCE, levels
from frame_metrics.keys.groups import CellGroups


def tables(cases: Cases, segments: CellGroups) -> Classes:
    """Count true and predicted classes in each segment; found clusters are matched to classes."""
    table, conventions = crossed(cases, segments), cases.conventions
    cells = table.segment, table.true, table.found, table.amount[None], table.shape
    if cases.found_clusters is not None:
        class_of_cluster = None
        if conventions.match is not None:
            class_of_cluster = match_clusters(table.grids(), table.has_rows, table.shape[2], conventions)
        return Classes(*cells, table.has_rows, class_of_cluster, cases.unmatched_error)
    if cases.binary or conventions.classes is not None:
        return Classes(*cells, np.ones(table.shape[:2], bool))
    was_predicted = mark_cells(table.segment, table.found, (table.shape[0], cases.k + 1))[:, :-1]
    return Classes(*cells, table.has_rows | was_predicted)


@record
class Crossed:
    """The cells with rows of the tables of true classes and predictions, segment by segment."""

    segment: Array  # the segment, ascending, shape (cells,)
    true: Array  # the true class, shape (cells,)
    found: Array  # the prediction, F for rows without one, shape (cells,)
    amount: Array  # the summed weights of the rows, shape (cells,)
    shape: tuple[int, int, int]  # number of segments, of classes K, and of values F that may be predicted

    @property
    def has_rows(self) -> Array:
        """True for the true classes that have rows, shape (segments, K)."""
        return mark_cells(self.segment, self.true, self.shape[:2])

    @property
    def undecided(self) -> bool:
        """True if some rows with a weight have no prediction."""
        return bool(self.amount[self.found == self.shape[2]].any())

    def grids(self) -> Iterator[Array]:
        """Yield the table of each segment with all its cells, shape (K, F + 1)."""
        n, k, width = self.shape[0], self.shape[1], self.shape[2] + 1
        ends = np.searchsorted(self.segment, np.arange(n + 1))
        for at in map(slice, ends[:-1], ends[1:]):
            grid = np.zeros((k, width))
            grid[self.true[at], self.found[at]] = self.amount[at]
            yield grid


def mark_cells(row: Array, column: Array, shape: tuple[int, int]) -> Array:
    """Return a grid of this shape, True at the given rows and columns."""
    out = np.zeros(shape, bool)
    out[row, column] = True
    return out


def crossed(cases: Cases, segments: CellGroups) -> Crossed:
    """Cross-tabulate true classes and predictions in each segment."""
    rows, width = cases.rows, cases.n_predictable + 1
    if segments.cells.segment_known is not None:  # rows of an unknown segment count in totals only
        rows = rows.filter(segments.of(rows) >= 0)
    shape, every = (len(segments), cases.k, cases.n_predictable), len(segments) * cases.k * width
    kind, numpy_kind = (pl.Int32, np.int32) if every < 1 << 31 else (pl.Int64, np.int64)
    cell = (rows["actual"].cast(kind) * width + rows["predicted"].cast(kind).fill_null(width - 1)).to_numpy()
    if segments.keys:
        first = (segments.group_of_cell * (cases.k * width)).astype(numpy_kind)[rows["cell"].to_numpy()]
        cell = np.add(first, cell, out=first)
    at, amount = count_codes(cell, every)
    if cases.sums_weights:
        summed = pl.DataFrame({"cell": cell, "weight": rows["weight"]}).group_by("cell").agg(pl.col("weight").sum())
        amount = summed.sort("cell")["weight"].to_numpy()
    segment_class, found = np.divmod(at, width)
    return Crossed(*np.divmod(segment_class, cases.k), found, amount, shape)


def each_scored_block(cases: Cases, segments: CellGroups, work: Callable[[Array, FullScores], None]) -> None:
    """Call ``work`` with the codes of some segments and the input of score metrics for them, block by block.

    All segments with rows of positive weight are covered. Blocks run in threads.
    """
    columns = ["score", "actual", *(["weight"] if cases.sums_weights else [])]
    rows = cases.counted_rows
    # Lay the rows out segment by segment.
    if segments.keys:
        segment = segments.of(rows)
        first, starts, lengths, _, laid_out = group_rows(
            rows.with_columns(segment=pl.Series(segment)), ["segment"], columns
        )
        segment = segment[first]
    else:
        _, starts, lengths, _, laid_out = group_rows(rows, [], columns)
        segment = np.zeros(len(lengths), np.int64)

    def block(part: slice | Array) -> None:
        length, start = lengths[part], starts[part]
        single = len(length) == 1
        at = slice(int(start[0]), int(start[0] + length[0])) if single else spans(start, length)
        values = {name: laid_out[name][at] for name in columns}
        work(segment[part], _sorted_levels(values["score"], values["actual"], values.get("weight"), length))

    if len(lengths):
        each_block(lengths, block)


def _sorted_levels(score: Array, good: Array, weight: Array | None, length: Array) -> FullScores:
    """Return the counts at each distinct score, of the rows of some segments, which are laid end to end.

    Parameters
    ----------
    good : 1 for relevant rows, 0 for others.
    weight : of each row; None: 1.
    length : number of rows of each segment.
    """
    if len(length) == 1 and weight is None:
        falling, tp, fp = (values[1:] for values in counts_at_scores(score, good))
        segment = np.broadcast_to(np.int64(0), len(tp))  # in the memory of a single number
        return FullScores(segment, falling, tp, fp, 1)
    score = np.where(np.isnan(score), -np.inf, score + 0.0)  # 0.0 and -0.0 are one threshold, 0.0
    segment = np.repeat(np.arange(len(length)), length)
    order, _ = rank_order(score, length)
    if order is not None:
        score, good, weight = score[order], good[order], None if weight is None else weight[order]
    weight = np.ones(len(score)) if weight is None else weight
    return levels(segment, score, good * weight, weight, len(length))


def counts_at_scores(score: Array, good: Array, kind: type = np.int64) -> tuple[Array, Array, Array]:
    """Count the rows with at least each distinct score.

    Parameters
    ----------
    score : of each row, NaN for a row without one, shape (rows,).
    good : 1 for relevant rows, 0 for others, shape (rows,).
    kind : the type of the counts.

    Returns
    -------
    Infinity, then the distinct scores, falling (minus infinity for rows without one); and for each the number of
    relevant rows, and of other rows, with at least this score.
    """
    has_score = ~np.isnan(score)
    known, label = (score, good) if has_score.all() else (score[has_score], good[has_score])
    found = _counts_by_packed_keys(known, label, kind) or _counts_by_two_sorts(known, label == 1, kind)
    if len(known) == len(score):
        return found
    falling, tp, fp = found  # rows without a score come last
    positives = np.count_nonzero(good == 1)
    return np.append(falling, -np.inf), np.append(tp, kind(positives)), np.append(fp, kind(len(good) - positives))


def _counts_by_packed_keys(score: Array, good: Array, kind: type) -> tuple[Array, Array, Array] | None:
    """Count as ``counts_at_scores`` does, by sorting integers: the bits of each score, with the label as the last bit.

    Sorting values is twice as fast as sorting row numbers by them. To save memory, the scores of the result are made in
    the array in which the keys were sorted, and other work is done in parts. None if the keys have no bit to spare, as
    they have for scores from -1.9 to 1.9.
    """
    falling = np.full(len(score) + 1, np.inf)
    bits = falling_bits(score, falling[1:])
    low, high = (int(bits.min()), int(bits.max())) if len(bits) else (0, 0)
    if high - low >= 1 << 63:
        return None
    bits -= low
    # Sort the bits of scores with the label as the last bit.
    ordered = bits.view(np.uint64)
    ordered <<= np.uint64(1)
    ordered |= good == 1
    sort_keys(ordered)
    # Count the relevant rows down to each row, in parts that stay in the cache.
    tp: Array = np.zeros(len(ordered) + 1, kind)
    for part in _parts(len(ordered)):
        count = np.cumsum((ordered[part] & np.uint64(1)).view(np.int64))
        tp[part.start + 1 : part.stop + 1] = count + tp[part.start]
    # Keep the last row of each distinct score.
    last = np.ones(len(ordered), bool)
    for part in _parts(len(ordered) - 1):
        last[part] = (ordered[part.start + 1 : part.stop + 1] ^ ordered[part]) > 1
    if last.all():
        rows: Array = np.arange(len(tp), dtype=kind)
    else:  # some scores are equal
        rows = np.append(kind(0), (np.flatnonzero(last) + 1).astype(kind))
        tp, falling = tp[rows], falling[rows]
        ordered = falling[1:].view(np.uint64)
    for part in _parts(len(ordered)):
        key = (ordered[part] >> np.uint64(1)).view(np.int64)
        key += low
        falling[part.start + 1 : part.stop + 1] = scores_of_bits(key)
    return falling, tp, np.subtract(rows, tp, out=rows)


def _parts(n: int) -> Iterator[slice]:
    """Yield slices of ``n`` rows, few enough for the cache."""
    return (slice(a, min(a + LEVELS_AT_ONCE, n)) for a in range(0, n, LEVELS_AT_ONCE))


def _counts_by_two_sorts(score: Array, good: Array, kind: type) -> tuple[Array, Array, Array]:
    """Count as ``counts_at_scores`` does, by two sorts: of all scores, and of the scores of relevant rows."""
    falling, of_relevant = (0.0 - pl.Series(0.0 - some).sort().to_numpy() for some in (score, score[good]))
    end = np.append(np.flatnonzero(falling[1:] != falling[:-1]), len(falling) - 1)
    tp: Array = np.append(0, np.searchsorted(-of_relevant, -falling[end], side="right")).astype(kind)
    return np.append(np.inf, falling[end]), tp, np.append(0, end + 1).astype(kind) - tp


def rows_of_class_scores(cases: Cases) -> tuple[Array, Array]:
    """Return the score of each class, shape (rows, classes), and the code of the true class, shape (rows,)."""
    columns = [cases.rows[f"score:{i}"].to_numpy() for i in range(cases.k)]
    return np.stack(columns, 1), cases.rows["actual"].to_numpy()


def class_scores(cases: Cases, segments: CellGroups) -> ClassScores:
    """Return the input of metrics that read scores of several classes.

    The classes of a segment are those of its rows, or those that ``classes=`` names.
    """
    segment = segments.of(cases.rows)
    order = np.argsort(segment, kind="stable")
    score, actual = rows_of_class_scores(cases)
    weight = cases.rows["weight"].to_numpy() if cases.sums_weights else np.ones(len(segment))
    seen = None if cases.conventions.classes is None else np.ones((len(segments), cases.k), bool)
    return ClassScores(segment[order], actual[order], score[order], weight[order], len(segments), seen)
