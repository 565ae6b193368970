"""Sort rows by small integers (a radix sort) in two steps, each small enough for the caches of a core."""

from __future__ import annotations

import numpy as np

from frame_metrics import threads
from frame_metrics.inputs import Array
from frame_metrics.inputs.rows import spans

# Number of rows that the first step distributes at a time, by the upper bits of their codes, at most 8 bits.
ROWS_DISTRIBUTED = 1 << 17
ROWS_SORTED = 1 << 16  # about the least number of rows that the second step sorts at a time, by the remaining bits


def sort_by_code(slot: Array, code: Array, n_codes: int, values: dict[str, Array]) -> tuple[Array, dict[str, Array]]:
    """Sort rows by their code; rows of equal code keep their order.

    Parameters
    ----------
    slot : the slot of each row, an index into ``code``, shape (rows,).
    code : the code of each slot, of a small integer type.
    n_codes : the number of distinct codes, which are 0 to ``n_codes`` - 1.
    values : columns to sort, by name, shape (rows,) each.

    Returns
    -------
    How many rows each code has, shape (n_codes,), and the sorted columns.
    """
    n = len(slot)
    if n <= ROWS_DISTRIBUTED:
        codes = code[slot]
        order = np.argsort(codes, kind="stable")
        return np.bincount(codes, minlength=n_codes), {name: column[order] for name, column in values.items()}
    # First by the high bits of the code, then by the low ones: both steps stay in the cache.
    n_low_bits = max((n_codes - 1).bit_length() - min((n // ROWS_SORTED).bit_length(), 8), 0)
    # A part: the rows whose codes have equal high bits. A step: the rows that are distributed to parts at a time.
    n_parts, n_steps = ((n_codes - 1) >> n_low_bits) + 1, -(-n // ROWS_DISTRIBUTED)
    low_bits = np.empty(n, np.min_scalar_type((1 << n_low_bits) - 1))
    buffer, out = ({name: np.empty(n, column.dtype) for name, column in values.items()} for _ in range(2))
    n_rows, lengths = np.empty((n_steps, n_parts), np.int64), np.empty((n_parts, 1 << n_low_bits), np.int64)

    def distribute(step: int) -> None:
        """Sort the rows of a step by part into the buffer."""
        rows = slice(step * ROWS_DISTRIBUTED, (step + 1) * ROWS_DISTRIBUTED)
        codes = code[slot[rows]]
        part = (codes >> n_low_bits).astype(np.uint8)
        order = np.argsort(part, kind="stable")
        n_rows[step] = np.bincount(part, minlength=n_parts)
        low_bits[rows] = (codes & ((1 << n_low_bits) - 1)).astype(low_bits.dtype)[order]
        for name, column in values.items():
            column[rows].take(order, out=buffer[name][rows], mode="clip")

    threads.in_threads(range(n_steps), distribute)
    # Where the rows of each step and part begin in the buffer, and where each part ends in the result.
    begin, end = n_rows.cumsum().reshape(n_rows.shape) - n_rows, n_rows.sum(axis=0).cumsum()

    def sort_part(part: int) -> None:
        """Collect the rows of a part from the buffer, sort them, and put them at their place in the result."""
        rows = spans(begin[:, part], n_rows[:, part])
        codes = low_bits[rows]
        order, lengths[part] = np.argsort(codes, kind="stable"), np.bincount(codes, minlength=1 << n_low_bits)
        for name, column in buffer.items():
            of_part = column.take(rows, mode="clip")  # in the order of memory, so that the next line stays in the cache
            of_part.take(order, out=out[name][end[part] - len(rows) : end[part]], mode="clip")

    threads.in_threads(range(n_parts), sort_part)
    return lengths.ravel()[:n_codes], out
