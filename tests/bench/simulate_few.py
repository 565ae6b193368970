"""Lines of the simulation about intervals of one value: means, shares, quantiles of few queries, clusters and rows.

All trials of a line are segments of one call; the first ones are repeated, with their rows in another order.
Values are saved numbers in columns that have the name of a metric, which says between which ends they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl
from scipy.stats import t
from trials import Line, agree

UNITS = (5, 10, 20, 50)  # queries, or clusters
HOLDS = "interval holds the truth"
AGREE = 100  # trials of each kind that are done again without the others, with their rows in another order
SIZE = 10  # queries, or rows, of a cluster, on average
GIVEN = {"ci": 0.95, "resamples": 1000, "seed": 0}


def wanted(n: int) -> tuple[float, float]:
    """Return the share of intervals that shall hold the truth, of so many units."""
    return (0.92, 1.0) if n >= 10 else (0.90, 1.0)


def bell(rng: Any, shape: Any) -> Any:
    """Draw values like a bell between 0 and 1, with the mean and median .5."""
    return rng.beta(4, 4, shape)


def reciprocal(rng: Any, shape: Any) -> Any:
    """Draw reciprocal ranks: 0, 1/3, 1/2 or 1, with the mean 17/36."""
    return rng.choice([0, 0, 1 / 3, 1 / 2, 1, 1], shape)


def zeros(rng: Any, shape: Any) -> Any:
    """Draw values of which nine in ten are 0, with the mean .05."""
    return np.where(rng.random(shape) < 0.9, 0, rng.beta(2, 2, shape))


def skewed(rng: Any, shape: Any) -> Any:
    """Draw lognormal values, with the median 1 and the mean sqrt(e)."""
    return rng.lognormal(size=shape)


def success(share: float) -> Callable[[Any, Any], Any]:
    """Return a function that draws values that are 1 with this chance, else 0."""
    return lambda rng, shape: (rng.random(shape) < share).astype(np.float64)


# By what is drawn: the name of the column, the mean, whether a share of intervals is asked for, and the draws.
SHAPES: dict[str, tuple[str, float, bool, Callable[[Any, Any], Any]]] = {
    "like a bell": ("ndcg", 0.5, True, bell),
    "rr": ("rr", 17 / 36, True, reciprocal),
    "success of .95": ("success", 0.95, True, success(0.95)),
    "success of .05": ("success", 0.05, True, success(0.05)),
    "nine in ten are 0": ("ap", 0.05, True, zeros),
    "lognormal": ("revenue", float(np.exp(0.5)), False, skewed),
}


def log_of(values: Any, name: str, **columns: Any) -> pl.DataFrame:
    """Return a frame with a query for each value, a segment for each trial; ``values``: shape (trials, queries)."""
    trials, n = values.shape
    at = {"trial": np.repeat(np.arange(trials), n), "query": np.tile(np.arange(n), trials)}
    return pl.DataFrame(at | {name: values.ravel()} | {key: one.ravel() for key, one in columns.items()})


def ends_of(rows: pl.DataFrame, roles: dict[str, Any], *metrics: str, **options: Any) -> Any:
    """Return the ends of the intervals of each trial, shape (trials, metrics, 2); an end that is null is infinite."""

    def ends(rows: pl.DataFrame) -> Any:
        found = rows.irm(**roles, by="trial").evaluate(*metrics, **GIVEN, **options)
        low, high = found["ci_low"].fill_null(-np.inf), found["ci_high"].fill_null(np.inf)
        return np.stack([low.to_numpy(), high.to_numpy()], axis=-1).reshape(-1, max(len(metrics), 1), 2)

    every = ends(rows)
    some = rows.filter(pl.col("trial") < AGREE).sample(fraction=1, shuffle=True, seed=0)
    agree(ends(some), every[:AGREE], "intervals of some trials")
    return every


def held(ends: Any, truth: Any) -> Any:
    """Count the trials whose interval holds the truth, for each metric, shape (metrics,)."""
    return ((ends[..., 0] <= truth) & (truth <= ends[..., 1])).sum(axis=0)


def means(trials: int) -> Iterator[Line]:
    """Yield the lines of means of independent queries, and of Student's t interval where values are skewed."""
    for at, (shape, (name, mean, asked, draw)) in enumerate(SHAPES.items()):
        for n in UNITS:
            values = draw(np.random.default_rng([101, at, n]), (trials, n))
            ends = ends_of(log_of(values, name), {"query": "query", "value": name})
            yield Line(HOLDS, f"{shape}, {n} queries", trials, int(held(ends, mean)[0]), wanted(n) if asked else None)
            if shape in ("nine in ten are 0", "lognormal"):
                wide = t.ppf(0.975, n - 1) * values.std(axis=1, ddof=1) / n**0.5
                found = np.abs(values.mean(axis=1) - mean) <= wide
                yield Line(HOLDS, f"{shape}, {n} queries, Student's t", trials, int(found.sum()), None)


def summed(trials: int) -> Iterator[Line]:
    """Yield the lines of micro recall: of 1 to 10 relevant documents of a query, a share of about one half is found."""
    for n in UNITS:
        rng = np.random.default_rng([102, n])
        relevant = 1 + rng.binomial(9, 0.3, (trials, n))
        found = rng.binomial(relevant, rng.beta(4, 4, (trials, n)))
        at = np.repeat(np.arange(trials * n), relevant.ravel())
        place = np.arange(len(at)) - np.repeat(np.cumsum(relevant) - relevant.ravel(), relevant.ravel())
        score = np.where(place < found.ravel()[at], 1.0 - place / 100, np.nan)
        rows = pl.DataFrame({"trial": at // n, "query": at % n, "score": score, "grade": 1}).fill_nan(None)
        ends = ends_of(rows, {"query": "query", "score": "score", "grade": "grade"}, "recall", average="micro")
        yield Line(HOLDS, f"micro recall, {n} queries", trials, int(held(ends, 0.5)[0]), wanted(n))


def in_clusters(rng: Any, trials: int, n: int, *, even: bool, share: bool) -> tuple[Any, Any, Any]:
    """Draw clusters: trial, cluster and value of each query. Half of a value, or its chance, is that of its cluster."""
    sizes = np.full(trials * n, SIZE) if even else rng.geometric(1 / SIZE, trials * n)
    of = np.repeat(np.arange(trials * n), sizes)
    if share:
        return of // n, of % n, (rng.random(len(of)) < rng.beta(8, 2, trials * n)[of]).astype(np.float64)
    return of // n, of % n, (bell(rng, trials * n)[of] + bell(rng, len(of))) / 2


def clusters(trials: int) -> Iterator[Line]:
    """Yield the lines of means over queries that belong to clusters, and of their medians."""
    for share, even in ((False, True), (False, False), (True, True), (True, False)):
        for n in UNITS:
            rng = np.random.default_rng([103, int(share), int(even), n])
            trial, cluster, value = in_clusters(rng, trials, n, even=even, share=share)
            name = "success" if share else "ndcg"
            rows = pl.DataFrame({"trial": trial, "query": np.arange(len(value)), "user": cluster, name: value})
            roles = {"query": "query", "value": name, "cluster": "user"}
            kind = "success of .8" if share else "like a bell"
            what = f"{kind}, {n} clusters of {SIZE} queries" + ("" if even else ", of unequal size")
            ends = ends_of(rows, roles)
            yield Line(HOLDS, what, trials, int(held(ends, 0.8 if share else 0.5)[0]), wanted(n))
            if even and not share:
                ends = ends_of(rows, roles, name, average="median")
                yield Line(HOLDS, f"median, {what}", trials, int(held(ends, 0.5)[0]), wanted(n))


def weights(trials: int) -> Iterator[Line]:
    """Yield the lines of weighted means, with weights of like size and with some that are far greater."""
    for heavy, share in ((False, False), (True, False), (False, True), (True, True)):
        for n in UNITS:
            rng = np.random.default_rng([104, int(heavy), int(share), n])
            weight = rng.lognormal(size=(trials, n)) if heavy else rng.uniform(0.5, 1.5, (trials, n))
            values = success(0.8)(rng, (trials, n)) if share else bell(rng, (trials, n))
            name = "success" if share else "ndcg"
            rows = log_of(values, name, often=weight)
            ends = ends_of(rows, {"query": "query", "value": name, "weight": "often"})
            kind = "success of .8" if share else "like a bell"
            what = f"{kind}, {n} queries with {'lognormal' if heavy else 'like'} weights"
            yield Line(HOLDS, what, trials, int(held(ends, 0.8 if share else 0.5)[0]), wanted(n))


def quantiles(trials: int) -> Iterator[Line]:
    """Yield the lines of medians and of q.9; an end that does not exist leaves the interval open there."""
    for shape, truth in {
        "like a bell": {"median": 0.5, "q0.9": 0.7214},
        "lognormal": {"median": 1, "q0.9": 3.6022},
    }.items():
        name, _, _, draw = SHAPES[shape]
        for average, true in truth.items():
            for n in UNITS:
                values = draw(np.random.default_rng([105, n, len(average)]), (trials, n))
                ends = ends_of(log_of(values, name), {"query": "query", "value": name}, name, average=average)
                yield Line(HOLDS, f"{average}, {shape}, {n} queries", trials, int(held(ends, true)[0]), wanted(n))


TABLES = {"fair": (0.2, 0.1, 0.1, 0.6), "good": (0.38, 0.02, 0.02, 0.58)}  # shares of tp, fp, fn, tn
OF_TABLES = ("recall", "accuracy", "f1", "jaccard", "informedness")


def truths(tp: float, fp: float, fn: float, tn: float) -> Any:
    """Return the measures of a table, in the order of ``OF_TABLES``."""
    return np.array(
        [tp / (tp + fn), tp + tn, 2 * tp / (2 * tp + fp + fn), tp / (tp + fp + fn), tp / (tp + fn) - fp / (fp + tn)]
    )


def drawn_tables(rng: Any, trials: int, n: int, shares: Sequence[float]) -> Any:
    """Draw tables of ``n`` rows in which all measures are defined, shape (trials, 4)."""
    counts = rng.multinomial(n, shares, trials)
    while (bad := (counts[:, 0] + counts[:, 2] == 0) | (counts[:, 1] + counts[:, 3] == 0)).any():
        counts[bad] = rng.multinomial(n, shares, int(bad.sum()))
    return counts


def tables(trials: int) -> Iterator[Line]:
    """Yield the lines of shares of pooled rows, and of what is made of shares."""
    for kind, shares in TABLES.items():
        for n in UNITS:
            counts = drawn_tables(np.random.default_rng([106, n, len(kind)]), trials, n, shares)
            cells = {"label": np.tile([1, 0, 1, 0], trials), "predicted": np.tile([1, 1, 0, 0], trials)}
            rows = pl.DataFrame({"trial": np.repeat(np.arange(trials), 4), "n": counts.ravel()} | cells)
            ends = ends_of(rows, {"count": "n"}, *OF_TABLES)
            for metric, happened in zip(OF_TABLES, held(ends, truths(*shares)).tolist(), strict=True):
                yield Line(HOLDS, f"{metric}, {n} rows of a {kind} table", trials, happened, wanted(n))


def rows_together(trials: int) -> Iterator[Line]:
    """Yield the same of rows in clusters, of which each has its own share of mistakes, and of weighted rows."""
    for clustered in (True, False):
        for n in UNITS[1:]:
            rng = np.random.default_rng([107, n, int(clustered)])
            size = SIZE if clustered else 1
            shape = (trials, n, size)
            label = rng.random(shape) < 0.4
            wrong = rng.random(shape) < (rng.beta(2, 8, (trials, n, 1)) if clustered else 0.2)
            label[:, 0, 0], label[:, 1, 0] = True, False  # so that both are there
            rows = pl.DataFrame(
                {
                    "trial": np.repeat(np.arange(trials), n * size),
                    "label": label.ravel().astype(np.int64),
                    "predicted": (label ^ wrong).ravel().astype(np.int64),
                    "user": np.tile(np.repeat(np.arange(n), size), trials),
                    "often": rng.uniform(0.5, 1.5, label.size),
                }
            )
            role = {"cluster": "user"} if clustered else {"weight": "often"}
            ends = ends_of(rows, role, *OF_TABLES)
            truth = truths(0.32, 0.12, 0.08, 0.48)
            for metric, happened in zip(OF_TABLES, held(ends, truth).tolist(), strict=True):
                what = f"{n} clusters of {SIZE} rows" if clustered else f"{n} weighted rows"
                yield Line(HOLDS, f"{metric}, {what}", trials, happened, wanted(n))


def few(_: pl.DataFrame, trials: int) -> Iterator[Line]:
    """Count the intervals of one value of few units that hold the truth."""
    for part in (means, summed, clusters, weights, quantiles, tables, rows_together):
        yield from part(trials)
