"""What decisions and scores cost: the parts "tables" and "scores" of the table that bench.py prints."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import sklearn.metrics as skl
from timing import by_turns, row, show

import frame_metrics

TWENTY = (
    *("precision", "recall", "specificity", "npv", "fallout", "miss_rate", "fdr", "fomr", "prevalence", "bias"),
    *("accuracy", "f1", "fbeta(beta=2)", "jaccard", "informedness", "markedness", "mcc", "kappa"),
    *("balanced_accuracy", "g_measure"),
)
FIVE = ("precision", "recall", "f1", "accuracy", "informedness")
ROWS, QUERIES, LOOPED = 10_000_000, 100_000, 300  # the loop over queries is timed on some of them


def made(rows: int, groups: int | None = None) -> pl.DataFrame:
    """Build rows with a label (10 % relevant), a prediction, a score, and a group in no order if there are any."""
    rng = np.random.default_rng(0)
    label = rng.random(rows) < 0.1
    score = rng.random(rows) * 0.8 + label * 0.2 * rng.random(rows)
    columns = {"label": label, "predicted": rng.random(rows) < 0.12 + 0.5 * label, "score": score}
    return pl.DataFrame(columns | ({} if groups is None else {"group": rng.integers(0, groups, rows)}))


def evaluation(frame: Any, *metrics: str, **roles: Any) -> Callable[[], Any]:
    """Return the call that is measured."""
    return lambda: frame_metrics.IRM(frame, label="label", **roles).evaluate(*metrics)


def tables(options: argparse.Namespace) -> Iterator[list[str]]:
    """Measure twenty measures of the 2x2 table against counting the rows of each group, and fairlearn beside."""
    rows = min(ROWS, max(options.rows))
    for groups in (1, 1000, 100_000):
        cases = made(rows, groups)
        call = evaluation(cases.drop("score"), *TWENTY, predicted="predicted", by="group")
        bare = partial(cases.group_by("group").agg, pl.len())
        its, own = by_turns([bare, call], options.runs)
        yield row("tables", f"20 measures, groups: {groups:,}", rows, [show(its), show(own)], own / its, 3)
    if find_spec("fairlearn") is not None:
        yield from beside_fairlearn(min(rows, 1_000_000), options.runs)


def beside_fairlearn(rows: int, runs: int) -> Iterator[list[str]]:
    """Measure fairlearn's MetricFrame with three metrics and 1,000 groups."""
    from fairlearn.metrics import MetricFrame

    frame = made(rows, min(1000, rows // 50)).to_pandas()
    wanted = {"accuracy": skl.accuracy_score, "precision": skl.precision_score, "recall": skl.recall_score}
    features = {"sensitive_features": frame["group"]}

    def theirs() -> Any:
        return MetricFrame(metrics=wanted, y_true=frame["label"], y_pred=frame["predicted"], **features).by_group

    call = evaluation(frame.drop(columns="score"), *wanted, predicted="predicted", by="group")
    found = call()["value"].to_numpy().reshape(-1, 3)
    assert np.allclose(found, theirs().to_numpy(dtype=float))
    its, own = by_turns([theirs, call], min(runs, 2))
    figures = [f"{show(its)} (fairlearn)", show(own)]
    yield row("tables", f"3 measures, groups: {frame['group'].nunique():,}, pandas", rows, figures, own / its, None)


def scores(options: argparse.Namespace) -> Iterator[list[str]]:
    """Measure scikit-learn's areas pooled and query by query, and thresholds against sorting the scores once."""
    rows = min(ROWS, max(options.rows))
    cases = made(rows)
    label, score = cases["label"].to_numpy(), cases["score"].to_numpy()
    for name, theirs in (("roc_auc", skl.roc_auc_score), ("average_precision", skl.average_precision_score)):
        its, own = by_turns(
            [partial(theirs, label, score), evaluation(cases, name, score="score")], min(options.runs, 3)
        )
        yield row("scores", f"{name}, pooled", rows, [f"{show(its)} (sklearn)", show(own)], its / own, 3)
    yield by_query(rows, options.runs)
    if "polarbearings" not in left_out_decisions():
        yield from by_expressions(min(rows, 1_000_000), options.runs)
    irm = frame_metrics.IRM(cases, label="label", score="score")
    its, own = by_turns([cases["score"].sort, lambda: irm.thresholds(*FIVE)], options.runs)
    yield row(
        "tables", "thresholds, 5 measures, all scores different", rows, [f"{show(its)} (sort)", show(own)], own / its, 3
    )


def by_query(rows: int, runs: int) -> list[str]:
    """Measure both areas of every query; of the loop, on some of the queries."""
    queries = min(QUERIES, rows // 100)
    log = made(queries * 100).with_columns(query=np.repeat(np.arange(queries), 100))
    few = log.head(min(LOOPED, queries) * 100).to_pandas()
    call = evaluation(log, "roc_auc", "average_precision", query="query", score="score")

    def loop() -> list[float]:
        found = []
        for _, group in few.groupby("query"):
            found.append(skl.roc_auc_score(group["label"], group["score"]) if group["label"].nunique() > 1 else np.nan)
            found.append(skl.average_precision_score(group["label"], group["score"]) if group["label"].any() else 0.0)
        return found

    its, own = by_turns([loop, call], min(runs, 3))
    its *= len(log) / len(few)
    figures = [f"{show(its)} (sklearn, {len(few) // 100} of the queries)", show(own)]
    return row("scores", f"both areas, queries: {queries:,}", len(log), figures, its / own, 200)


def by_expressions(rows: int, runs: int) -> Iterator[list[str]]:
    """Measure metrics of every query as expressions of polars, beside a floor that no package moves."""
    import polarbearings as pb  # type: ignore[import-not-found, unused-ignore]

    log = made(rows // 100 * 100).with_columns(query=np.repeat(np.arange(rows // 100), 100))
    log = log.with_columns(pl.col("label").cast(pl.Int8))
    orders = {
        "rank order": log.sort("query", -pl.col("score")),
        "shuffled": log.sample(fraction=1, shuffle=True, seed=0),
    }
    five = (1, 3, 5, 10, 20)
    cases: dict[str, tuple[list[Any], float]] = {
        "roc_auc": ([pb.roc_auc("label", "score")], 2),
        "average_precision": ([pb.average_precision("label", "score").fill_null(0)], 2),
        "ndcg@10": ([pb.ndcg_score("label", "score", k=10).fill_null(0)], 3),
        "ndcg@1,3,5,10,20": ([pb.ndcg_score("label", "score", k=k).fill_null(0).alias(str(k)) for k in five], 5),
    }
    for (order, frame), (name, (expressions, asked)) in product(orders.items(), cases.items()):
        frame = pl.DataFrame({column: pl.Series(frame[column].to_numpy()) for column in ("query", "score", "label")})
        theirs = partial(frame.group_by("query").agg, *expressions)
        call = evaluation(frame, name, query="query", score="score")
        means = theirs().drop("query").mean().row(0)
        assert np.allclose(call()["value"].to_numpy(), means), f"{name}: polarbearings finds {means}"
        least, its, own = by_turns([partial(frame.select, pl.col("score").rank().over("query")), theirs, call], runs)
        figures = [f"{show(its)} (polarbearings; rank().over(query): {show(least)})", show(own)]
        yield row("scores", f"{name}, of each query, {order}", len(frame), figures, its / own, asked)


def left_out_decisions() -> dict[str, str]:
    """Return what cannot be measured, and why."""
    return {name: "it is not installed" for name in ("fairlearn", "polarbearings") if find_spec(name) is None}
