"""Sort rows by small integers (a radix sort) in two steps, each small enough for the caches of a core."""

from __future__ import annotations

import numpy as np

from frame_metrics import threads
from frame_metrics.inputs import Array
from frame_metrics.inputs.rows import spans

# rows that the first step distributes at a time, by the upper bits of their codes, at most 8 bits
DISTRIBUTED = 1 << 17
LAID = 1 << 16  # about the least number of rows that the second step sorts at a time, by the remaining bits


def sort_by_code(slot: Array, code: Array, count: int, values: dict[str, Array]) -> tuple[Array, dict[str, Array]]:
    """Sort rows by their code; rows of equal code keep their order.

    Parameters
    ----------
    slot : the slot of each row, an index into ``code``, shape (rows,).
    code : the code of each slot, of a small integer type.
    count : the number of distinct codes, which are 0 to ``count`` - 1.
    values : columns to sort, by name, shape (rows,) each.

    Returns
    -------
    How many rows each code has, shape (count,), and the sorted columns.
    """
    n = len(slot)
    if n <= DISTRIBUTED:
        codes = code[slot]
        order = np.argsort(codes, kind="stable")
        return np.bincount(codes, minlength=count), {name: held[order] for name, held in values.items()}
    # First by the high bits of the code, then by the low ones: both steps stay in the cache.
    low = max((count - 1).bit_length() - min((n // LAID).bit_length(), 8), 0)  # number of bits for the second step
    parts, steps = ((count - 1) >> low) + 1, -(-n // DISTRIBUTED)
    rest = np.empty(n, np.min_scalar_type((1 << low) - 1))
    buffer, out = ({name: np.empty(n, held.dtype) for name, held in values.items()} for _ in range(2))
    many, lengths = np.empty((steps, parts), np.int64), np.empty((parts, 1 << low), np.int64)

    def distribute(step: int) -> None:
        rows = slice(step * DISTRIBUTED, (step + 1) * DISTRIBUTED)
        codes = code[slot[rows]]
        part = (codes >> low).astype(np.uint8)
        order = np.argsort(part, kind="stable")
        many[step] = np.bincount(part, minlength=parts)
        rest[rows] = (codes & ((1 << low) - 1)).astype(rest.dtype)[order]
        for name, held in values.items():
            held[rows].take(order, out=buffer[name][rows], mode="clip")

    threads.in_threads(range(steps), distribute)
    begin, end = many.cumsum().reshape(many.shape) - many, many.sum(axis=0).cumsum()

    def lay(part: int) -> None:
        rows = spans(begin[:, part], many[:, part])
        codes = rest[rows]
        order, lengths[part] = np.argsort(codes, kind="stable"), np.bincount(codes, minlength=1 << low)
        for name, held in buffer.items():
            near = held.take(rows, mode="clip")  # read in the order of memory; the random access below is in the cache
            near.take(order, out=out[name][end[part] - len(rows) : end[part]], mode="clip")

    threads.in_threads(range(parts), lay)
    return lengths.ravel()[:count], out
