"""A result is that of the rows: their order, the library that holds them and columns nobody names change nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars import testing as pl_testing

from frame_metrics import IRM
from helpers import KINDS, as_kind, as_polars, made_log

DRAWS: dict[str, Any] = {"ci": 0.8, "resamples": 30}
RANKED = ("rr", "ndcg@3", "precision", "gm_map", "num_ret")


def two_systems(seed: int) -> pl.DataFrame:
    """A log of two systems, with users, and a decision for each row; few documents, and equal scores."""
    log = made_log(seed, 20).drop("rank", "weight").filter(pl.col("score").is_not_null())
    other = log.with_columns(score=(pl.col("score") * 7 + pl.col("doc").str.len_chars()) % 5)
    both = pl.concat([log.with_columns(system=pl.lit("p")), other.with_columns(system=pl.lit("q"))])
    user, visits = (pl.col("query").str.slice(1).cast(pl.Int64) % m for m in (6, 4))
    return both.with_columns(user=user, visits=visits + 1, predicted=(pl.col("score") > 2).cast(pl.Int8))


def rows(seed: int) -> pl.DataFrame:
    """Rows without a query: classes and decisions, scores of two and of three classes."""
    random, n = np.random.default_rng(seed), 60
    y = random.integers(0, 3, n)
    made = {
        "label": y % 2,
        "class": np.array(["a", "b", "c"])[y],
        "taken": np.array(["a", "b", "c"])[(y + (random.random(n) < 0.4)) % 3],
    }
    made |= {"score": np.round(y % 2 + random.normal(0, 1, n), 1), "decided": (random.random(n) < 0.5).astype(int)}
    made |= {"w": random.integers(1, 5, n) / 4, "user": random.integers(0, 15, n), "day": random.integers(0, 2, n)}
    return pl.DataFrame(
        made | {f"of {c}": random.integers(0, 9, n) / 8 for c in "abc"} | {"n": random.integers(1, 4, n)}
    )


def of_models(seed: int) -> pl.DataFrame:
    """The same rows of two models, of which the other decides about them in reverse order."""
    one = rows(seed).with_row_index("doc").with_columns(model=pl.lit("m"))
    return pl.concat([one, one.with_columns(pl.col("taken", "decided").reverse(), model=pl.lit("n"))])


LOG: dict[str, Any] = {"query": "query", "doc": "doc", "score": "score", "grade": "grade", "predicted": None}
ONE: dict[str, Any] = {"query": None, "label": "label"}
SEVERAL: dict[str, Any] = {"query": None, "label": "class", "score": None}
Call = tuple[Callable[[int], pl.DataFrame], dict[str, Any], Callable[[IRM[Any]], Any]]
CALLS: dict[str, Call] = {
    "averages": (
        two_systems,
        LOG | {"system": "system", "by": "segment"},
        lambda irm: irm.evaluate(*RANKED, margins=True, **DRAWS),
    ),
    "weights and clusters": (
        two_systems,
        LOG | {"system": "system", "weight": "visits", "cluster": "user"},
        lambda irm: irm.evaluate("rr", "ndcg", **DRAWS),
    ),
    "quantiles": (
        two_systems,
        LOG | {"system": "system", "by": "segment"},
        lambda irm: irm.evaluate("rr", "ndcg", average=["median", "q0.9", "rows"], margins=True, **DRAWS),
    ),
    "queries": (two_systems, LOG | {"system": "system"}, lambda irm: irm.per_query(*RANKED[:3])),
    "worst ties": (two_systems, LOG | {"system": "system", "ties": "worst"}, lambda irm: irm.per_query("rr", "ndcg@3")),
    "expected ties": (
        two_systems,
        LOG | {"system": "system", "ties": "expected"},
        lambda irm: irm.per_query("rr", "ndcg@3"),
    ),
    "what ties leave open": (
        two_systems,
        LOG | {"system": "system"},
        lambda irm: irm.bounds("rr", "ndcg@3", of="ties"),
    ),
    "what ties leave open of queries": (
        two_systems,
        LOG | {"system": "system", "by": "segment"},
        lambda irm: irm.bounds("rr", "ndcg@3", of="ties", per_query=True),
    ),
    "what judgments leave open of queries": (
        two_systems,
        LOG | {"system": "system"},
        lambda irm: irm.bounds("ap", "ndcg@3", of="unjudged", max_grade=4, per_query=True),
    ),
    "what judgments leave open": (
        two_systems,
        LOG | {"system": "system"},
        lambda irm: irm.bounds("ap", "ndcg@3", of="unjudged", max_grade=4),
    ),
    "what judgments leave open of a difference": (
        two_systems,
        LOG | {"system": "system", "by": "segment"},
        lambda irm: irm.bounds("ap", "ndcg@3", of="unjudged", baseline="p", max_grade=4),
    ),
    "decisions of queries": (
        two_systems,
        LOG | {"system": "system", "predicted": "predicted"},
        lambda irm: irm.evaluate("recall", "mcc", average="micro"),
    ),
    "thresholds of queries": (
        two_systems,
        LOG | {"system": "system"},
        lambda irm: irm.thresholds("precision", "recall"),
    ),
    "a curve of queries": (two_systems, LOG | {"system": "system"}, lambda irm: irm.curve("pr")),
    "facts": (two_systems, LOG | {"system": "system"}, lambda irm: irm.audit()),
    "what made a value": (two_systems, LOG | {"system": "system"}, lambda irm: irm.explain("ndcg@3", query="q02")),
    "what to judge next": (
        two_systems,
        LOG | {"system": "system"},
        lambda irm: irm.to_judge(metric="ndcg@3", baseline="p", max_grade=4),
    ),
    "rankings compared": (
        two_systems,
        LOG | {"system": "system", "by": "segment"},
        lambda irm: irm.similarity("rbo", "overlap@3", "kendall_tau", baseline="p"),
    ),
    "rankings of each query compared": (
        two_systems,
        LOG | {"system": "system"},
        lambda irm: irm.similarity("rbo_residual", "jaccard@3", "tau_ap@4", per_query=True),
    ),
    "how many are needed": (
        two_systems,
        LOG | {"system": "system", "by": "segment"},
        lambda irm: irm.sample_size("rr", "ndcg@5", detect=0.05, baseline="p", resamples=30),
    ),
    "differences of queries": (
        two_systems,
        LOG | {"system": "system", "by": "segment"},
        lambda irm: irm.compare("rr", "ndcg@3", baseline="p", per_query=True),
    ),
    **{
        f"tested by {test}": (
            two_systems,
            LOG | {"system": "system", "by": "segment"},
            lambda irm, test=test: irm.compare("rr", "ndcg@3", baseline="p", test=test, permutations=200, **DRAWS),
        )
        for test in ("randomization", "bootstrap", "t", "wilcoxon", "sign")
    },
    "clusters compared": (
        two_systems,
        LOG | {"system": "system", "cluster": "user"},
        lambda irm: irm.compare("rr", baseline="p", permutations=200, **DRAWS),
    ),
    **{
        f"arms by {test}": (
            two_systems,
            LOG | {"arm": "system", "by": "segment", "cluster": "user"},
            lambda irm, test=test: irm.ab_test("rr", "ndcg@3", test=test, permutations=200, **DRAWS),
        )
        for test in ("randomization", "bootstrap", "t", "z")
    },
    "three arms": (
        made_log,
        LOG | {"arm": "segment"},
        lambda irm: irm.ab_test("rr", "ndcg@3", permutations=200, **DRAWS),
    ),
    "systems of rows": (
        of_models,
        ONE | {"predicted": "decided", "score": None, "system": "model", "doc": "doc", "by": "day", "cluster": "user"},
        lambda irm: irm.compare("accuracy", "informedness", permutations=200, **DRAWS),
    ),
    **{
        f"rows against {one}": (
            of_models,
            ONE | {"predicted": "decided", "score": None, "system": "model", "doc": "doc"},
            lambda irm, one=one: irm.compare(
                "informedness" if one == "chance" else "accuracy", against=one, permutations=200, **DRAWS
            ),
        )
        for one in ("chance", "majority")
    },
    "each class of systems": (
        of_models,
        SEVERAL | {"predicted": "taken", "system": "model", "doc": "doc"},
        lambda irm: irm.compare("recall", "f1", per_class=True, permutations=200, **DRAWS),
    ),
    "arms of several classes": (
        rows,
        SEVERAL | {"predicted": "taken", "arm": "day", "cluster": "user", "weight": "w"},
        lambda irm: irm.ab_test("f1", "kappa", **DRAWS),
    ),
    "arms of rows": (
        rows,
        ONE | {"predicted": "decided", "score": "score", "arm": "day", "cluster": "user"},
        lambda irm: irm.ab_test("accuracy", "roc_auc", **DRAWS),
    ),
    "decided rows": (
        rows,
        ONE | {"predicted": "decided", "score": None, "by": "day"},
        lambda irm: irm.evaluate("accuracy", "mcc", "recall", margins=True, **DRAWS),
    ),
    "weighted rows": (
        rows,
        ONE | {"predicted": "decided", "score": "score", "weight": "w", "cluster": "user"},
        lambda irm: irm.evaluate("accuracy", "roc_auc", **DRAWS),
    ),
    "counted rows": (
        rows,
        ONE | {"predicted": "decided", "score": None, "count": "n"},
        lambda irm: irm.evaluate("accuracy", "f1", **DRAWS),
    ),
    "scores": (
        rows,
        ONE | {"score": "score", "by": "day"},
        lambda irm: irm.evaluate("roc_auc", "average_precision", "lift(top=0.2)", **DRAWS),
    ),
    "thresholds": (rows, ONE | {"score": "score", "by": "day"}, lambda irm: irm.thresholds("f1")),
    "the best threshold": (rows, ONE | {"score": "score"}, lambda irm: irm.best_threshold("f1")),
    "a curve": (rows, ONE | {"score": "score"}, lambda irm: irm.curve("roc")),
    "classes": (
        rows,
        SEVERAL | {"predicted": "taken", "by": "day"},
        lambda irm: irm.evaluate("accuracy", "f1", "kappa", margins=True, **DRAWS),
    ),
    "each class": (rows, SEVERAL | {"predicted": "taken"}, lambda irm: irm.per_class("precision", "recall")),
    "a table": (rows, SEVERAL | {"predicted": "taken", "by": "day"}, lambda irm: irm.confusion()),
    "totals and shares": (
        rows,
        SEVERAL | {"predicted": "taken", "by": "day", "weight": "w"},
        lambda irm: irm.confusion(margins=True, shares=True),
    ),
    "scores of classes": (
        rows,
        SEVERAL | {"score": {c: f"of {c}" for c in "abc"}},
        lambda irm: irm.evaluate("roc_auc", "roc_auc(multi='ovo')", "top_k_accuracy@2", **DRAWS),
    ),
}


def told(result: Any) -> pl.DataFrame:
    """A result as rows in the order of what names them."""
    held = as_polars(result).drop("example", "message", strict=False)  # of an audit, which name rows
    names = [name for name in held.columns if not held[name].dtype.is_float()]
    points = [name for name in ("threshold", "recall", "fallout") if name in held.columns]
    return held.sort(*names, *points, nulls_last=True)


@cache
def expected(call: str, seed: int) -> pl.DataFrame:
    """What is told of the rows in their order, without the columns that nobody names."""
    made, roles, verb = CALLS[call]
    frame = made(seed)
    used = {name for value in roles.values() for name in (value.values() if isinstance(value, dict) else [value])}
    return told(verb(IRM(frame.select(name for name in frame.columns if name in used), **roles)))


@pytest.mark.parametrize(("call", "kind"), [*product(CALLS, KINDS)])
def test_what_is_told_is_the_same_of_shuffled_rows_in_any_library(call: str, kind: str) -> None:
    """The same rows, values, interval ends and p-values, to the last digit; unused columns change nothing.

    The result is of the caller's kind, and a plan has the types that it says before it runs.
    """
    made, roles, verb = CALLS[call]
    seed = ([*CALLS].index(call) // len(KINDS) + KINDS.index(kind)) % 2  # a call has one log in some kinds, and another
    noise = made(seed).with_columns(note=pl.lit("x"), more=pl.int_range(pl.len()) * 0.5)
    shuffled = noise.select(sorted(noise.columns)).sample(fraction=1, shuffle=True, seed=seed)
    frame = as_kind(shuffled, kind)
    result = verb(IRM(frame, **roles))
    assert type(result) is type(frame)
    if isinstance(result, pl.LazyFrame):
        types, result = result.collect_schema(), result.collect()
        assert result.schema == types
    kept = kind in ("polars", "lazy")  # pandas and Arrow have other types
    pl_testing.assert_frame_equal(told(result), expected(call, seed), check_dtypes=kept, check_exact=True)
