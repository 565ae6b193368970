"""Numbers of every role are exact in float64, in which everything is computed, or refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import frame_metrics
from frame_metrics import BadValueError
from helpers import error
from inside import COLUMNS

_RANKED: dict[str, Any] = {"query": [1, 2], "doc": ["x", "x"], "score": [2.0, 1.0], "grade": [1, 1]}
_ROWS: dict[str, Any] = {"label": [1, 0], "predicted": [1, 0]}


def _ranked(roles: dict[str, Any], *asked: str) -> Callable[[pl.Series], Any]:
    """A verb of a log, one column of which holds the numbers: that of a role, or the column ``x``."""
    place = next((one for one in ("rank", "grade", "score") if one in roles.values()), "x")
    return lambda x: pl.DataFrame(_RANKED | {place: x}).irm(**{"query": "query"} | roles).evaluate(*asked or ("rr",))


def _beside(roles: dict[str, Any], *asked: str, **more: Any) -> Callable[[pl.Series], Any]:
    """The same with the column in the judgments."""
    run = pl.DataFrame(_RANKED).drop("grade")
    return lambda x: run.irm(**roles).judge(pl.DataFrame(_RANKED | {"x": x}).drop("score"), **more).evaluate(*asked)


def _arms(x: pl.Series) -> Any:
    log = pl.DataFrame({"query": range(4), "score": 1.0, "grade": [0, 1, 1, 0], "arm": [*"aabb"]})
    log = log.with_columns(pl.concat([x, pl.Series([1, 2]).cast(x.dtype)]).alias("x"))
    return log.irm(arm="arm").ab_test("rr", covariate="x", permutations=9)


def _price(run: frame_metrics.Ranking) -> Any:
    """Sum of the prices."""
    return run.total(run.column("price"))


def _own(kernel: Callable[..., Any]) -> Any:
    """Put a kernel in the registry, as long as a test runs."""
    return frame_metrics.metric(range=(0, float("inf")), best=None)(kernel)


# Every role, and every option that may be a column, whose numbers are computed with.
NUMBERS: dict[str, Callable[[pl.Series], Any]] = {
    "score": _ranked({"score": "score"}),
    "score without a query": lambda x: pl.DataFrame({"label": [1, 0], "x": x}).irm(score="x").evaluate("roc_auc"),
    "scores of systems": _ranked({"score": ["x", "score"]}),
    "scores of classes": lambda x: (
        pl.DataFrame({"label": ["a", "b"], "x": x, "y": [1, 0]}).irm(score={"a": "x", "b": "y"}).evaluate("roc_auc")
    ),
    "rank": _ranked({"rank": "rank", "score": None}),
    "rank beside a score": _ranked({"rank": "rank", "score": "score"}),
    "grade": _ranked({"grade": "grade"}, "ndcg"),
    "grade without a query": lambda x: pl.DataFrame({"grade": x, "score": [1.0, 2.0]}).irm.evaluate("roc_auc"),
    "grade of judgments": _beside({}, "ndcg", grade="x"),
    "mean of grades": _beside({}, "ndcg", grade="x", several="mean"),
    "weight": _ranked({"weight": "x"}),
    "weight of rows": lambda x: pl.DataFrame(_ROWS | {"x": x}).irm(weight="x").evaluate("recall"),
    "weight of judgments": _beside({"weight": "x"}, "rr"),
    "count": lambda x: pl.DataFrame(_ROWS | {"x": x}).irm(count="x").evaluate("recall"),
    "n_relevant": _ranked({"n_relevant": "x"}, "recall"),
    "collection_size": _ranked({"collection_size": "x"}, "fallout"),
    "collection_size of judgments": _beside({"collection_size": "x"}, "fallout"),
    "popularity": _ranked({"popularity": "x"}, "arp"),
    "extra": lambda x: pl.DataFrame(_RANKED | {"x": x}).irm(extra={"price": "x"}).evaluate(_own(_price)),
    "value": lambda x: pl.DataFrame({"query": [1, 2], "x": x}).irm(value="x").evaluate(),
    "one of several values": lambda x: (
        pl.DataFrame({"query": [1, 2], "x": x, "y": 1}).irm(value=["y", "x"]).per_query()
    ),
    "saved values": lambda x: pl.DataFrame(_RANKED).irm.compare(
        "rr", baseline=pl.DataFrame({"query": [1, 2], "rr": x})
    ),
    "covariate": _arms,
}


@pytest.mark.parametrize("role", NUMBERS)
@pytest.mark.parametrize("dtype", [pl.Int64, pl.UInt64, pl.Int128, pl.Decimal(38, 1)], ids=str)
def test_whole_numbers_that_floats_cannot_tell_apart(dtype: Any, role: str) -> None:
    """Numbers past 2**53 are refused in every role and type: two of them would be taken as equal; 2**53 is exact."""
    call = NUMBERS[role]
    for number in (2**53 + 1, 2**62):
        said = error(lambda number=number: call(pl.Series([number, 1], dtype=pl.Int128).cast(dtype)), BadValueError)
        assert re.match(
            r"(baseline: )?\w+( \(of the judgments\))?: 1 of \d rows is past 2\*\*53\b.* \(row \d\); ", said
        ), said
    other = 0 if role == "count" else 1  # counts are exact in sum, too
    call(pl.Series([2**53, other], dtype=pl.Int128).cast(dtype))


def test_every_role_of_numbers_is_tried() -> None:
    """Each role has a case, but for those that hold ids, or 0 and 1."""
    ids = {"query", "doc", "relevant", "system", "arm", "team", "group", "by", "cluster", "label", "predicted"}
    assert {*COLUMNS} - ids <= {*NUMBERS}
