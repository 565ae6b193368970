"""Cut rankings into blocks that fit into the caches, and work on blocks in threads."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from functools import cache

import numpy as np

from frame_metrics import threads
from frame_metrics.inputs import Array


def each_block(size: Array, work: Callable[[slice | Array], None]) -> None:
    """Cut rankings of these sizes into blocks, and call ``work`` with the rankings of each block, in threads."""
    _keep_memory()
    order, blocks = _cut_into_blocks(size)
    threads.in_threads((slice(a, b) if order is None else order[a:b] for a, b in blocks), work)


def _cut_into_blocks(size: Array) -> tuple[Array | None, list[tuple[int, int]]]:
    """Cut rankings of these sizes into blocks.

    Rankings of one block are of similar size, so that a grid with a row for each ranking, as wide as the longest, has
    few empty cells.

    Returns
    -------
    An order of the rankings (None: as they are), and the begin and end of each block in that order.
    """
    n = len(size)
    if not n:
        return None, []
    longest = max(int(size.max()), 1)
    if n * longest <= threads.BLOCK:
        return None, [(0, n)]
    n_cells = threads.block_of(int(size.sum()))
    if longest <= 1.5 * max(int(size.min()), 1) + 8:  # all sizes are similar
        step = max(n_cells // longest, 1)
        return None, [(a, min(a + step, n)) for a in range(0, n, step)]
    order = np.argsort(size, kind="stable")
    ascending = size[order].tolist()
    blocks, a = [], 0
    while a < n:
        # As many rankings as fit into a grid of ``n_cells`` cells. It is as wide as the last of them, the longest.
        b = a + max(bisect_right(range(a + 1, n + 1), n_cells, key=lambda b: (b - a) * ascending[b - 1]), 1)
        blocks.append((a, b))
        a = b
    return order, blocks


@cache
def _keep_memory() -> None:
    """Allocate and free a large array once, which makes the allocator of Linux keep freed memory for later arrays.

    Without this, the arrays of each block give their memory back to the system and ask for it anew, which can take as
    long as the computation.
    """
    np.empty(1 << 24, np.uint8)
