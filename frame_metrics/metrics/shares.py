"""Facts about metrics of rows, found by trying them on tables: whether one is a share of rows; its value by chance."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from frame_metrics.inputs import Array, Classes, FullConfusion, FullScores
from frame_metrics.inputs.rows import n_of_share
from frame_metrics.metrics.metric import TAKES_TOP, Metric

SAME = 1e-9  # values that differ by no more are the same
N_CLASSES_TRIED = 3  # classes of the tables that forms for several are tried on


def _values_of_tables(tried: Metric, counts: Array) -> Array:
    """A metric of tables, shape (tables, K, K + 1), NaN where undefined; of two classes the second is relevant."""
    table = Classes.of_grid(counts, np.ones(counts.shape[:2], bool))
    return tried.compute(table if tried.input is Classes else table.rest(1))


def share_of(metric: Metric, *, binary: bool) -> Array | None:
    """Return for a metric that is a share of rows how it counts a row of each cell of the table.

    1 counts for the share, 0 against it, and NaN is not looked at. Recall of two classes looks at the relevant rows
    alone, and a row counts if it is predicted to be relevant: [[NaN, NaN, NaN], [0, 1, 0]].

    A share of rows is one of which the true classes alone say which rows are looked at: accuracy looks at all, recall
    at the relevant ones. Two systems that decide about the same rows then have shares of the same rows, a paired
    proportion. Precision is no such share: it looks at the rows that a system predicts to be relevant.

    Parameters
    ----------
    binary : whether there are two classes, the second of which is the relevant one.

    Returns
    -------
    By true class and prediction: 1 for rows that are counted, 0 for others that the share is among, NaN for rows that
    it is not about. The last prediction is none at all. Shape (2, 3), or (3, 4) for several classes, however many there
    are: only whether a prediction is right, wrong or missing matters.
    """
    mark = share_marks(metric, binary=binary)
    if mark is None:
        return None
    about = ~np.isnan(mark)
    return mark if (about.all(axis=1) == about.any(axis=1)).all() else None


def share_marks(metric: Metric, *, binary: bool) -> Array | None:
    """Return what ``share_of`` returns, also for shares of rows that predictions choose, as precision."""
    own, k = metric if binary else metric.form_for_classes, 2 if binary else N_CLASSES_TRIED
    if own is None or own.input not in (FullConfusion, Classes) or own.summed:
        return None
    single = np.eye(k * (k + 1)).reshape(-1, k, k + 1)
    mixed = np.random.default_rng(0).integers(1, 9, (4, k, k + 1)).astype(np.float64)
    mark, whole = _values_of_tables(own, single).reshape(k, k + 1), _values_of_tables(own, mixed)
    about = ~np.isnan(mark)
    if not (about.any() and np.isin(mark[about], (0, 1)).all()):
        return None
    shares = (mixed * np.nan_to_num(mark)).sum(axis=(1, 2)) / (mixed * about).sum(axis=(1, 2))
    return mark if np.allclose(whole, shares, rtol=1e-9, atol=0) else None


def counts_rows(metric: Metric) -> bool:
    """Return True if twice the rows give a metric of decisions twice its value, as tp and utility."""
    if metric.input not in (FullConfusion, Classes):
        return False
    counts = np.random.default_rng(0).integers(1, 9, (4, 2, 3)).astype(np.float64)
    once, twice = (_values_of_tables(metric, times * counts) for times in (1, 2))
    return bool(np.allclose(twice, 2 * once) and once.any())


def is_fixed_without(metric: Metric, c: int) -> bool:
    """Return True if a metric of two classes has one value, or none, where no row is of class ``c``.

    Whatever is predicted, F1 without a relevant row is 0, and precision too. What predictions never change, as the
    prevalence, is no such metric, nor is a count.
    """
    if metric.input is FullScores:
        reached, query = np.array([4.0, 1.0, 2.0, 3.0, 4.0, 1.0, 4.0]), np.array([0, 1, 1, 1, 1, 2, 2])
        score, none = np.array([0.5, 0.9, 0.6, 0.3, 0.2, 0.7, 0.1]), np.zeros(7)
        tp, fp = (none, reached) if c else (reached, none)
        return not _differ(metric.compute(FullScores(query, score, tp, fp, 3)))
    if metric.input not in (FullConfusion, Classes) or metric.summed:
        return False
    found, n = np.array([[1.0, 2.0], [3.0, 1.0], [2.0, 4.0], [4.0, 3.0]]), 5.0  # of n rows of each class
    both = np.stack([found, n - found, np.zeros(found.shape)], axis=-1)
    alone = both.copy()
    alone[:, c] = 0
    of_both, of_one = (_values_of_tables(metric, counts) for counts in (both, alone))
    return _differ(of_both) and not _differ(of_one)


def _differ(values: Array) -> bool:
    """Return True if values, of which NaN are undefined, are not all the same."""
    found = values[~np.isnan(values)]
    return len(found) > 1 and bool(np.ptp(found) > SAME)


def are_row_shares(asked: Iterable[tuple[str, Metric]]) -> bool:
    """Return True if metrics of several classes are shares of all rows, as accuracy is.

    Only whether a prediction is right, wrong or missing matters to them, however many classes there are.
    """
    each = (share_of(metric, binary=False) for _, metric in asked)
    return all(share is not None and not np.isnan(share).any() for share in each)


def marks(share: Array, actual: Array, predicted: Array, k: int) -> Array:
    """Return what each row is to a metric that is a share of rows, by the marks of ``share_of``, shape (rows,).

    Parameters
    ----------
    actual, predicted : the numbers of each row's true and predicted class, the latter ``k`` for nothing.
    k : number of classes.
    """
    if len(share) == 2:
        return share[actual, predicted]
    right, wrong, nothing = share[0, [0, 1, N_CLASSES_TRIED]]
    return np.where(predicted == k, nothing, np.where(predicted == actual, right, wrong))


def share_of_top(metric: Metric, rows: Array, relevant: Array) -> tuple[Array, Array]:
    """Return how many rows a measure of those with the highest scores is a share of, and its factor beside the share.

    The lift in the top tenth is the share of the relevant rows that stand there, times all rows over those there.

    Parameters
    ----------
    metric : the metric, with ``top=``.
    rows, relevant : number of rows, and of relevant ones, of each segment, shape (segments,).

    Returns
    -------
    The rows that the share is of, and the factor, NaN where there are none, shape (segments,) each.
    """
    amount = n_of_share(rows, float(metric.top or 1))
    one, others = np.ones(len(rows)), rows - relevant - (amount - 1)
    table = FullConfusion(one, amount - one, relevant - one, 0 * one, rest=others)  # in which one row is found
    n_in_share: Array = getattr(table, TAKES_TOP[metric.name])
    return n_in_share, np.where(n_in_share > 0, metric.apply(table) * n_in_share, np.nan)


def by_chance(metric: Metric, *, binary: bool, undecided: bool) -> float | None:
    """Return the value of a metric where decisions, or scores, have nothing to do with the truth.

    Parameters
    ----------
    binary : whether there are two classes.
    undecided : whether some rows have no decision.

    Returns
    -------
    None where it depends on how many classes there are, on how many rows are of each, or are predicted to be, or is
    the end of what is possible.
    """
    form = metric if binary else metric.form_for_classes
    tried = form if form is not None and form.input in (FullConfusion, Classes) else metric
    if tried.input is FullScores:
        positives, negatives = np.array([3.0, 7.0, 1.0, 10.0]), np.array([5.0, 2.0, 1.0, 3.0])
        values = tried.compute(FullScores(np.arange(4), np.array([0.5, 0.3, 0.8, 0.6]), positives, negatives, 4))
    elif tried.input in (FullConfusion, Classes):
        of_several = tried.input is Classes and not binary
        sizes = (N_CLASSES_TRIED, N_CLASSES_TRIED + 1) if of_several else (2,)
        values = np.concatenate([_values_of_tables(tried, _unrelated(k, undecided)) for k in sizes])
    else:
        return None
    low, high = metric.range
    same = np.ptp(values) < SAME and low + 1e-9 < values[0] < high - 1e-9
    return round(float(values[0]), 9) if same else None


def _unrelated(k: int, undecided: bool) -> Array:
    """Tables of ``k`` classes in which the predictions have nothing to do with the truth, shape (tables, k, k + 1)."""
    random = np.random.default_rng(0)
    true, predicted = random.integers(1, 9, (4, k, 1)), random.integers(1, 9, (4, 1, k + 1))
    predicted[:, :, -1] *= undecided
    return (true * predicted).astype(np.float64)
