"""A total is what the call without the columns that it is over gives, where each query is in one segment."""

from __future__ import annotations

import random
from contextlib import suppress
from functools import cache
from typing import Any

import polars as pl
import polars.testing as pl_testing
import pytest

from frame_metrics import IRM, FrameMetricsError, Metric
from helpers import pairwise_cases, ready
from inside import REGISTRY

PLACES = [(day, place) for day in ("mo", None, "tu") for place in (1, None, 2)]
AVERAGES: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "macro": ({}, ("rr", "ndcg@2", "recall", "roc_auc", "num_rel")),
    "macro beside weights": ({"average": "macro"}, ("rr", "roc_auc", "num_rel")),
    "gmean": ({"average": "gmean"}, ("ap", "recall@2")),
    "micro": ({"average": "micro"}, ("precision", "recall@2", "num_q")),
    "quantiles": ({"average": ["median", "q0.9", "min"]}, ("rr", "recall", "num_rel", "gm_ap")),
    "rows": ({"average": ["rows", "micro"]}, ("gauc", "recall@2", "num_rel")),
}
UNWEIGHTED = ("micro", "quantiles", "rows")
FORMS = ((["day"], "long"), (["day", "place"], "wide"), (["place", "day"], "long"))
CARRIED = {"in the log": None, "beside": [], "beside, by the first": ["day"], "beside, by": ["day", "place"]}

ROLES: tuple[dict[str, Any], ...] = ({}, {"weight": "w"}, {"cluster": "user", "undefined": "null"})
SYSTEMS = (None, "system")


def made(seed: int, carried: list[str] | None) -> tuple[pl.DataFrame, pl.DataFrame | None]:
    """Draw a log of two systems, and the judgments beside it, some of queries that no system has results of."""
    rng = random.Random(seed)
    of = {query: rng.choice(PLACES) for query in rng.sample(range(100), 12)}
    keys = [
        {"query": f"q{query}", "day": day, "place": place, "w": query % 4, "user": query % 5}
        for query, (day, place) in of.items()
    ]
    judged = [key | {"doc": doc, "grade": rng.choice([0, 0, 1, 3])} for key in keys for doc in "abc"]
    first, lost = keys[0]["query"], {key["query"] for key in keys[8:]}
    rows = [
        row | {"system": system, "score": rng.randint(0, 3) / 2}
        for row in judged
        for system in "pq"
        if row["query"] == first or (row["query"] not in lost and rng.random() < 0.5)
    ]
    rng.shuffle(rows)
    log = pl.DataFrame(rows)
    if carried is None:
        return log, None
    beside = pl.DataFrame(rng.sample(judged, len(judged))).select("query", "doc", "grade", "w", "user", *carried)
    return log.drop("grade"), beside


def asked(log: pl.DataFrame, judgments: pl.DataFrame | None, by: list[str] | None, **roles: Any) -> IRM[pl.DataFrame]:
    """The log, by some columns, with its judgments."""
    irm = IRM(log, query="query", doc="doc", score="score", by=by, **roles)
    return irm if judgments is None else irm.judge(judgments)


@pytest.mark.parametrize(("roles", "system", "judge", "average"), pairwise_cases(ROLES, SYSTEMS, CARRIED, AVERAGES))
def test_a_total_is_the_call_without_the_columns_it_is_over(
    roles: dict[str, Any], system: str | None, judge: str, average: str
) -> None:
    """Value, n, n_undefined and interval, for one column and for two, and in the wide layout, one after the other."""
    place = len(roles) + (system is None) + [*CARRIED].index(judge) + [*AVERAGES].index(average)
    seed = place % len(FORMS)  # of a case beside this one the next form
    by, layout = FORMS[seed]
    said, metrics = AVERAGES[average]
    roles = {role: column for role, column in roles.items() if role != "weight" or average not in UNWEIGHTED}
    log, judgments = made(seed, CARRIED[judge])
    if system is None:
        log = log.filter(pl.col("system") == "p")
    options: dict[str, Any] = {**said, "ci": 0.8, "resamples": 20, "layout": layout}
    whole = asked(log, judgments, by, system=system, **roles).evaluate(*metrics, margins=True, **options)
    parts = whole.partition_by("total_over", as_dict=True, maintain_order=True)
    totals = {over for (over,) in parts if over is not None}
    assert totals == {", ".join(by), *(by if len(by) > 1 else [])}
    for (over,), part in parts.items():
        left_out = [] if over is None else over.split(", ")
        kept = [name for name in by if name not in left_out]
        alone = asked(log, judgments, kept or None, system=system, **roles).evaluate(*metrics, **options)
        mine = part.drop("total_over", *left_out)
        assert mine["n"].max() > 0
        pl_testing.assert_frame_equal(mine, alone, abs_tol=1e-12)


@cache
def there() -> list[Metric]:
    """The metrics of the registry that such a log has."""
    plain, found = asked(*made(3, None), None, system="system", collection_size=100), []
    for metric in map(ready, REGISTRY.values()):
        with suppress(FrameMetricsError):
            plain.evaluate(metric)
            found.append(metric)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("judge", CARRIED)
@pytest.mark.parametrize("system", SYSTEMS)
def test_a_total_of_every_metric_is_the_call_without_its_column(system: str | None, judge: str) -> None:
    """Of the whole registry, as far as such a log has the metric."""
    log, judgments = made(3, CARRIED[judge])
    log = log if system else log.filter(pl.col("system") == "p")
    by, plain = (asked(log, judgments, some, system=system, collection_size=100) for some in (["day"], None))
    assert len(there()) > 60
    total = by.evaluate(*there(), margins=True).filter(total_over="day").drop("total_over", "day")
    pl_testing.assert_frame_equal(total, plain.evaluate(*there()), abs_tol=1e-12)


def test_what_is_drawn_depends_on_no_order_of_the_rows() -> None:
    """Queries are drawn by their names, so that shuffled rows have the same interval."""
    log, judgments = made(1, [])
    results = []
    for seed in range(3):
        rows, beside = (frame.sample(fraction=1, shuffle=True, seed=seed) for frame in (log, judgments))
        irm = asked(rows, beside, ["day"], system="system", ties="doc")
        results.append(irm.evaluate("rr", "ndcg", ci=0.8, resamples=40, margins=True))
    for one in results[1:]:
        pl_testing.assert_frame_equal(one, results[0], abs_tol=1e-12)
