"""Found clusters matched to true classes."""

from __future__ import annotations

import numpy as np

from frame_metrics.errors import NotComputableError
from frame_metrics.inputs.rows import NONE, Array


def matched(counts: Array, rule: str) -> tuple[Array, Array]:
    """Take each found cluster for a true class.

    Parameters
    ----------
    counts : rows by true class and found cluster, the last column those in none, shape (n, K, F + 1).
    rule : "best", one to one, so that as many rows as possible are right, or "majority", each to the class that most
        of its rows have, the first of equals.

    Returns
    -------
    Rows by true class and the class that their cluster was matched to, shape (n, K, K + 1), and the class of each
    cluster, shape (n, F): -1 for a cluster that is left without one, whose rows have no prediction.
    """
    n, k, found = counts.shape[0], counts.shape[1], counts.shape[2] - 1
    of = np.full((n, found), NONE)
    out = np.zeros((n, k, k + 1))
    out[:, :, k] = counts[:, :, found]
    for i in range(n):
        table = counts[i, :, :found]
        some = table.sum(axis=0) > 0
        if rule == "majority" and k:
            of[i, some] = table.argmax(axis=0)[some]
        else:
            rows, columns = _assignment(table)
            kept = some[columns]
            of[i, columns[kept]] = rows[kept]
        for cluster in range(found):
            out[i, :, of[i, cluster] if some[cluster] and of[i, cluster] >= 0 else k] += table[:, cluster]
    return out, of


def _assignment(table: Array) -> tuple[Array, Array]:
    """The one-to-one assignment of columns to rows with the greatest sum."""
    try:
        from scipy.optimize import linear_sum_assignment  # type: ignore[import-untyped]
    except ImportError:
        raise NotComputableError(
            "match='best' needs scipy, which is not installed: pip install 'frame_metrics[stats]'"
        ) from None
    rows, columns = linear_sum_assignment(table, maximize=True)
    return np.asarray(rows), np.asarray(columns)
