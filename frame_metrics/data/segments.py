"""Rows without queries, pooled within a segment: their tables and levels of scores."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import polars as pl

from frame_metrics.data.blocks import each_block, find_rankings, spans
from frame_metrics.data.cases import Cases
from frame_metrics.data.classes import matched
from frame_metrics.data.groups import Segments
from frame_metrics.data.sorting import SIGN, in_rank_order, rank_order
from frame_metrics.inputs import Array, Classes, ClassScores, Scores
from frame_metrics.inputs.scores import levels
from frame_metrics.threads import in_threads

CHUNK = 1 << 15  # scores: what is done to them stays in cache


def tables(cases: Cases, segments: Segments) -> Classes:
    """Count true and predicted classes within segments."""
    (counts, rows), match = crossed(cases, segments), cases.conventions.match
    if cases.clusters is not None:
        taken = None if match is None else matched(counts, match)
        return Classes(counts, rows.sum(axis=2) > 0, taken, cases.apart)
    if cases.binary or cases.conventions.classes is not None:
        return Classes(counts, np.ones((len(segments), cases.k), bool))
    return Classes(counts, (rows.sum(axis=2) > 0) | (rows[:, :, :-1].sum(axis=1) > 0))


def crossed(cases: Cases, segments: Segments) -> tuple[Array, Array]:
    """Count rows by true class and what was predicted, last those without a prediction.

    Returns
    -------
    Their weight, shape (segments, K, predicted + 1), and how many there are, of the same shape.
    """
    rows, width = cases.rows, cases.found + 1
    if segments.cells.placed is not None:  # rows of an unknown segment are in totals only
        rows = rows.filter(segments.of(rows) >= 0)
    shape = len(segments), cases.k, width
    cell = (rows["actual"] * width + rows["predicted"].fill_null(width - 1)).to_numpy()
    if segments.keys:
        cell = cell + segments.of(rows) * (cases.k * width)
    counts = np.bincount(cell, minlength=math.prod(shape)).reshape(shape).astype(np.float64)
    if not cases.summed:
        return counts, counts
    summed = pl.DataFrame({"cell": cell, "weight": rows["weight"]}).group_by("cell").agg(pl.col("weight").sum())
    weights = np.zeros(math.prod(shape))
    weights[summed["cell"].to_numpy()] = summed["weight"].to_numpy()
    return weights.reshape(shape), counts


def scored(cases: Cases, segments: Segments, work: Callable[[Array, Scores], None]) -> None:
    """Call ``work`` with some segments and the levels of their scores, until all segments with rows are done."""
    columns = ["score", "actual", *(["weight"] if cases.summed else [])]
    rows = cases.rows.filter(pl.col("weight") > 0) if cases.summed else cases.rows
    place = segments.of(rows)
    keys = ["segment"] if segments.keys else []
    rankings = find_rankings(rows.with_columns(segment=pl.Series(place)), keys, columns)
    place = place[rankings.first_row]

    def block(part: slice | Array) -> None:
        length, start = rankings.lengths[part], rankings.starts[part]
        one = len(length) == 1
        at = slice(int(start[0]), int(start[0] + length[0])) if one else spans(start, length)
        values = {name: rankings.values[name][at] for name in columns}
        work(place[part], _sorted_levels(values["score"], values["actual"], values.get("weight"), length))

    if len(rankings.lengths):
        each_block(rankings.lengths, block)


def _sorted_levels(score: Array, good: Array, weight: Array | None, length: Array) -> Scores:
    """The levels of some segments' rows."""
    if len(length) == 1 and weight is None:
        falling, tp, fp = (values[1:] for values in reached(score, good))
        return Scores(np.zeros(len(tp), np.int64), falling, tp, fp, 1)
    score = np.where(np.isnan(score), -np.inf, score)
    segment = np.repeat(np.arange(len(length)), length)
    if not in_rank_order(score, length):
        order = rank_order(score, length)
        score, good, weight = score[order], good[order], None if weight is None else weight[order]
    weight = np.ones(len(score)) if weight is None else weight
    return levels(segment, score, good * weight, weight, len(length))


def reached(score: Array, good: Array) -> tuple[Array, Array, Array]:
    """Sort scores that carry their labels in the last bit.

    Parameters
    ----------
    score : of each row, NaN for those without one, shape (rows,).
    good : 1 for relevant rows, shape (rows,).

    Returns
    -------
    The distinct scores, after infinity, and how many relevant and other rows reach each.
    """
    there = ~np.isnan(score)
    all_there = bool(there.all())
    known, label = (score, good) if all_there else (score[there], good[there])
    packed, low = _packed(known, label)
    if packed is not None:
        falling, tp, rows = _unpacked(pl.Series(packed).sort().to_numpy(), low)
    else:
        order = pl.Series(known).arg_sort(descending=True).to_numpy()
        ordered = known[order]
        end = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]), len(ordered) - 1)
        falling, rows = np.append(np.inf, ordered[end]), np.append(0, end + 1)
        tp = np.append(0, np.cumsum(label[order] == 1)[end])
    if not all_there:  # documents without a score stand below all others
        falling = np.append(falling, -np.inf)
        tp, rows = np.append(tp, np.count_nonzero(good == 1)), np.append(rows, len(good))
    return falling, tp, np.subtract(rows, tp, out=rows)


def _chunks(n: int) -> list[slice]:
    return [slice(a, a + CHUNK) for a in range(0, n, CHUNK)]


def _packed(score: Array, label: Array) -> tuple[Array | None, int]:
    """Scores as integers that rise as the scores fall, less the least of them, with the label as the last bit.

    None where the scores are too far apart for that.
    """
    if not len(score):
        return np.zeros(0, np.uint64), 0
    ends = np.array([score.max(), score.min()])
    low, high = (int(x) for x in _falling_bits(ends))
    if high - low >= 1 << 63:
        return None, 0
    packed = np.empty(len(score), np.uint64)

    def work(part: slice) -> None:
        key = _falling_bits(score[part]) - np.int64(low)
        packed[part] = (key.view(np.uint64) << np.uint64(1)) | (label[part] == 1)

    in_threads(_chunks(len(score)), work)
    return packed, low


def _falling_bits(score: Array) -> Array:
    """The bits of scores as integers in the order of falling scores."""
    key = (0.0 - score).view(np.int64)
    key ^= (key >> 63) & SIGN
    return key


def _unpacked(packed: Array, low: int) -> tuple[Array, Array, Array]:
    """The distinct scores, after infinity, and how many relevant rows and rows in all reach each."""
    parts = _chunks(len(packed))
    counted = np.zeros((2, len(parts) + 1), np.int64)  # distinct scores and relevant rows up to the end of each part

    def count(i: int) -> None:
        here = packed[parts[i]]
        counted[:, i + 1] = np.count_nonzero(_last(packed, parts[i])), np.count_nonzero(here & np.uint64(1))

    in_threads(range(len(parts)), count)
    counted = np.cumsum(counted, axis=1)
    n = int(counted[0, -1]) + 1
    score, tp, rows = np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64)
    score[0], tp[0], rows[0] = np.inf, 0, 0

    def fill(i: int) -> None:
        here, to = packed[parts[i]], slice(counted[0, i] + 1, counted[0, i + 1] + 1)
        reach = np.cumsum((here & np.uint64(1)).view(np.int64))
        reach += counted[1, i]
        end: Array | slice = slice(None)
        if to.stop - to.start < len(here):  # some scores are equal
            end = np.flatnonzero(_last(packed, parts[i]))
        key = (here[end] >> np.uint64(1)).view(np.int64)
        key += np.int64(low)
        key ^= (key >> 63) & SIGN
        np.subtract(0.0, key.view(np.float64), out=score[to])
        tp[to], rows[to] = reach[end], np.arange(parts[i].start + 1, parts[i].start + len(here) + 1)[end]

    in_threads(range(len(parts)), fill)
    return score, tp, rows


def _last(packed: Array, part: slice) -> Array:
    """True for the rows of a part that are the last of their score, bool."""
    here = packed[part]
    last = np.empty(len(here), bool)
    np.greater(here[1:] ^ here[:-1], 1, out=last[:-1])
    last[-1] = part.stop >= len(packed) or (packed[part.stop] ^ here[-1]) > 1
    return last


def class_scores(cases: Cases, segments: Segments, seen: Array) -> ClassScores:
    """Return the scores of several classes, rows sorted by segment."""
    place = segments.of(cases.rows)
    order = np.argsort(place, kind="stable")
    columns = [cases.rows[f"score:{i}"].to_numpy() for i in range(cases.k)]
    weight = cases.rows["weight"].to_numpy() if cases.summed else np.ones(len(place))
    actual = cases.rows["actual"].to_numpy()
    return ClassScores(place[order], actual[order], np.stack(columns, 1)[order], weight[order], len(segments), seen)
