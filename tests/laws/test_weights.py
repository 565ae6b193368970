"""Laws of results that are weighted by their propensities, for every metric of rankings in the registry."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest

from frame_metrics import IRM, NotComputableError
from helpers import KINDS, as_kind, as_polars, error, ready
from inside import REGISTRY, FullConfusion, FullRanking, in_pieces

OF_RANKS = [
    one
    for metric in REGISTRY.values()
    if metric.input in (FullRanking, FullConfusion) and "n_relevant" not in metric.missing
    for one in ([ready(metric), ready(metric) @ 2] if metric.at == "k" else [ready(metric)])
]
ADD = [metric for metric in OF_RANKS if metric.adds is True]
READ_CLICKS = [m for m in OF_RANKS if m.reads & {"relevant", "n_relevant", "gains", "ideal", "tn", "score"}]
OTHERS = [metric for metric in READ_CLICKS if not metric.adds and "tn" not in metric.reads]
OFF_POLICY = [metric for metric in OF_RANKS if metric.off_policy]
CHANCE = [1.0, 0.5, 0.25]
ROLES = {"query": "query", "rank": "rank", "label": "label", "propensity": "chance"}


def seen(clicks: tuple[int, ...]) -> pl.DataFrame:
    """Every way in which three results are looked at, a query each with its chance as a weight, and what is clicked."""
    rows = [
        (query, rank + 1, clicks[rank] * looked[rank], CHANCE[rank], chance)
        for query, looked in enumerate(product((0, 1), repeat=3))
        for chance in [np.prod([p if look else 1 - p for p, look in zip(CHANCE, looked, strict=True)])]
        for rank in range(3)
    ]
    return pl.DataFrame(rows, schema=["query", "rank", "label", "chance", "weight"], orient="row")


def log(queries: int = 40, seed: int = 2) -> pl.DataFrame:
    """A log of clicks at ranks with gaps, with chances that differ from row to row."""
    rng, rows = random.Random(seed), []
    for query in range(queries):
        for rank in sorted(rng.sample(range(1, 8), rng.randint(1, 5))):
            rows.append((query, f"d{rank}", rank, rng.randint(0, 1), rng.uniform(0.1, 1), rng.uniform(0, 1), query % 3))
    names = ["query", "doc", "rank", "label", "chance", "target", "day"]
    return pl.DataFrame(rows, schema=names, orient="row")


def value(irm: Any, *asked: Any, **options: Any) -> list[float]:
    """Values of metrics."""
    return as_polars(irm.evaluate(*asked, **options))["value"].to_list()


@pytest.mark.parametrize("clicks", [(1, 1, 1), (0, 1, 1), (1, 0, 1)], ids=str)
@pytest.mark.parametrize("metric", ADD, ids=str)
def test_weights_of_what_adds_leave_no_bias(metric: Any, clicks: tuple[int, ...]) -> None:
    """The mean over all that users may look at is the value of a user who looks at everything."""
    truth = pl.DataFrame({"query": [1] * 3, "rank": [1, 2, 3], "label": clicks})
    average = "sum" if metric.summed else "weighted"
    frame = seen(clicks)
    if average == "sum":
        each = frame.irm(**ROLES).per_query(metric)["value"].to_numpy()
        found = (each * frame.unique("query", maintain_order=True)["weight"].to_numpy()).sum()
    else:
        (found,) = value(frame.irm(**ROLES, weight="weight"), metric)
    (whole,) = value(truth.irm, metric)
    assert found == pytest.approx(whole, abs=1e-12)


@pytest.mark.parametrize("metric", OTHERS, ids=str)
def test_what_does_not_add_is_refused(metric: Any) -> None:
    """A metric that reads clicks, and is no sum over them, is an error that says so; without propensities it is not."""
    assert "does not add up over the results" in error(lambda: IRM(log(), **ROLES).evaluate(metric), NotComputableError)


def test_weights_of_one_change_nothing() -> None:
    """Where everything is looked at each value is the one without weights, its interval too; clip=1 makes it so."""
    plain = IRM(log(), **ROLES)(propensity=None).evaluate(*ADD, ci=0.9, resamples=20)
    for irm in (IRM(log().with_columns(chance=1.0), **ROLES), IRM(log(), **ROLES, clip=1)):
        found = irm.evaluate(*ADD, ci=0.9, resamples=20)
        for name in ("value", "ci_low", "ci_high"):
            assert found[name].to_list() == pytest.approx(plain[name].to_list(), abs=1e-12, nan_ok=True)
    ratio = IRM(log(), **ROLES, target_propensity="chance_2")(target_propensity="chance_2")
    same = IRM(log().with_columns(chance_2="chance"), **dict(ratio.roles)).evaluate("sips", "iips", "rips", "cg")
    assert same["value"].n_unique() == 1


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_frames_and_pieces_agree(kind: str) -> None:
    """Values, intervals and effective sample sizes are the same, whatever the frame and the order of its rows."""
    asked = [*ADD, *OFF_POLICY, "sn_sips@3", "sn_iips@3", "sn_rips@3"]
    roles = {**ROLES, "target_propensity": "target", "by": "day", "clip": 4}
    whole = log().irm(**roles).evaluate(*asked, ci=0.9, resamples=30)
    shuffled = log().sample(fraction=1, shuffle=True, seed=1)
    found = as_polars(IRM(as_kind(shuffled, kind), **roles).evaluate(*asked, ci=0.9, resamples=30))
    names = ["value", "n_effective", "ci_low", "ci_high"]
    assert np.allclose(whole[names].to_numpy(), found[names].to_numpy(), atol=1e-12, equal_nan=True)
    pieces = in_pieces(log().irm(**roles)).evaluate(*asked, ci=0.9, resamples=30).collect()
    assert np.allclose(whole[names].to_numpy(), pieces[names].to_numpy(), atol=1e-12, equal_nan=True)


def test_chances_by_rank_are_those_of_a_column() -> None:
    """A mapping, and a frame of any kind, give each row what its rank has; a frame also what its segment has."""
    chance = {rank: 1 / rank for rank in range(1, 8)}
    column = log().with_columns(chance=1 / pl.col("rank")).irm(**ROLES).evaluate("dcg", "precision@2", ci=0.9)
    frame = pl.DataFrame({"rank": [*chance], "propensity": [*chance.values()]})
    for said in (chance, *(as_kind(frame, kind) for kind in KINDS)):
        assert log().irm(**ROLES | {"propensity": said}).evaluate("dcg", "precision@2", ci=0.9).equals(column)
    days = pl.concat([frame.with_columns(day=pl.lit(d), propensity=pl.col("propensity") / (d + 1)) for d in range(3)])
    of_days = log().irm(**ROLES | {"propensity": days}, by="day")
    made = log().with_columns(chance=1 / pl.col("rank") / (pl.col("day") + 1))
    assert of_days.evaluate("dcg", ci=0.9).equals(made.irm(**ROLES, by="day").evaluate("dcg", ci=0.9))
    pieces = in_pieces(of_days).evaluate("dcg", ci=0.9).collect()
    assert pieces["value"].to_list() == pytest.approx(of_days.evaluate("dcg")["value"].to_list())
    assert "name segments with by=" in error(lambda: log().irm(**ROLES | {"propensity": days}).evaluate("dcg"))
    twice = pl.concat([frame, frame])
    assert "has a rank twice" in error(lambda: log().irm(**ROLES | {"propensity": twice}).evaluate("dcg"))
