"""The table of values: pieces of a log give that of the whole log, in every column, and it is enough without rows."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from frame_metrics import IRM, FrameMetricsError
from inside import Values, averaged, query_rows, small_blocks, values_of

METRICS = ("ndcg@3", "map", "recall", "precision@2", "num_rel")
WEIGHTED = ("dcg@3", "precision@2", "num_rel")  # metrics that propensities go with


def _rows(draw: np.random.Generator) -> pl.DataFrame:
    """Return results of some systems on some queries, some not judged, some not retrieved, none of them in order."""
    n, queries = int(draw.integers(1, 60)), int(draw.integers(1, 9))
    rows = pl.DataFrame(
        {
            "query": draw.integers(0, queries, n),
            "doc": draw.integers(0, 30, n),
            "system": draw.choice(["a", "b", "c"], n),
            "score": draw.random(n).round(1),
            "grade": draw.integers(-1, 3, n),
        }
    )
    rows = rows.unique(["query", "system", "doc"], maintain_order=True)
    rows = rows.with_columns(grade=(pl.col("query") * 7 + pl.col("doc") * 5) % 4 - 1)
    return rows.with_columns(
        grade=pl.when(pl.col("grade") >= 0).then("grade"),
        score=pl.when((pl.col("score") > 0.1) | (pl.int_range(pl.len()) == 0)).then("score"),
        day=pl.when(pl.col("query") % 3 > 0).then(pl.format("d{}", pl.col("query") % 3)),
        user=pl.format("u{}", pl.col("query") // 2),
        traffic=pl.col("query") % 4 + 0.5,
        chance=(pl.col("doc") % 3 + 1) / 4,
    )


def _case(seed: int) -> tuple[IRM[pl.DataFrame], int, bool]:
    """Return a random log with random roles, the number of its pieces, and whether its rows have an order."""
    draw = np.random.default_rng(seed)
    rows = _rows(draw)
    roles: dict[str, Any] = {"system": "system"} if draw.random() < 0.6 else {"by": "system"}
    if draw.random() < 0.4:
        roles["by"] = [*([roles["by"]] if "by" in roles else []), "day"]
    roles |= {"weight": "traffic"} if draw.random() < 0.4 else {}
    roles |= {"cluster": "user"} if draw.random() < 0.4 else {}
    roles |= {"unanswered": "drop"} if draw.random() < 0.2 else {}
    roles |= {"unjudged_queries": "count"} if draw.random() < 0.2 else {}
    roles |= {"propensity": "chance"} if draw.random() < 0.2 else {}
    beside = draw.random() < 0.4
    here = (
        rows.drop_nulls("score").drop("grade")
        if beside
        else rows.filter(pl.any_horizontal(pl.col("score", "grade").is_not_null()))
    )
    irm = IRM(here, **roles)
    if beside:
        given = [name for name in ("day", "user", "traffic") if name in str(roles) and draw.random() < 0.5]
        more = pl.DataFrame(
            {"query": [97, 98], "doc": [1, 2], "grade": [1, 0]}, schema=rows.select("query", "doc", "grade").schema
        )
        qrels = pl.concat([rows.select("query", "doc", "grade", *given), more], how="diagonal").unique(["query", "doc"])
        qrels = qrels.with_columns(
            **({"traffic": pl.col("query") % 4 + 0.5} if "traffic" in given else {}),
            **({"user": pl.format("u{}", pl.col("query") // 2)} if "user" in given else {}),
        )
        irm = irm.judge(qrels.sort("query", "doc"))
    return irm, int(draw.integers(1, 6)), bool(draw.random() < 0.6)


def _table(values: Values) -> pl.DataFrame:
    """Return the table with a row for each ranking, and its keys by value; clusters are numbered as they come."""
    index = values.index
    columns: dict[str, Any] = {"known": index.in_known_segment, "own": index.of_log, "answered": index.answered}
    columns |= {"evaluated": values.evaluated, "unanswered": values.unanswered.astype(int)}
    columns |= {f"value {i}": one for i, one in enumerate(values.value)}
    columns |= {f"rows {i}": one for i, one in values.n_rows.items()}
    for name, held in (("count", values.counts), ("weight", values.weights)):
        columns |= {f"{name} {i} {j}": one for i, each in held.items() for j, one in enumerate(each)}
    columns |= {} if values.weight is None else {"weight": values.weight}
    columns |= {} if values.cluster is None else {"cluster": values.cluster.astype(float)}
    return index.keys_of(index.columns.internal_keys).hstack([pl.Series(name, one) for name, one in columns.items()])


def _by_key(table: pl.DataFrame) -> pl.DataFrame:
    """Return the rows sorted by their keys, and clusters numbered in this order."""
    at = [name for name in table.columns if ":" in name or name in ("system", "known")]
    table = table.sort(at, nulls_last=True)
    if "cluster" not in table.columns:
        return table
    first = pl.int_range(pl.len()).min().over("cluster")
    return table.with_columns(cluster=pl.when(pl.col("cluster").is_not_nan()).then(first))


def _codes(values: Values) -> dict[str, list[Any]]:
    """Return the numbers of the table, and the values of those that some ranking has."""
    index = values.index
    codes = {name: getattr(index, name) for name in ("system", "segment", "query", "segment_query")}
    parts = (index.systems, index.segments, index.queries)
    names = {
        name: part.values[np.unique(codes[name])].rows() if part.internal_keys else []
        for name, part in zip(codes, parts, strict=False)
    }
    return {name: code.tolist() for name, code in codes.items()} | {
        f"names of {name}": one for name, one in names.items()
    }


SEEDS = [pytest.param(seed, marks=pytest.mark.slow if seed >= 6 else ()) for seed in range(400)]


@pytest.mark.parametrize("seed", SEEDS)
def test_pieces_give_the_table_of_the_whole_log(seed: int) -> None:
    """Values of pieces are those of the whole log in every column, and in its order if rows have one."""
    irm, lots, ordered = _case(seed)
    metrics = WEIGHTED if "propensity" in irm.roles else METRICS
    try:
        whole = values_of(irm, *metrics)
    except FrameMetricsError:
        with pytest.raises(FrameMetricsError):  # of two faults pieces may tell the other one
            values_of(irm, *metrics, lots=lots, ordered=ordered)
        return
    pieces = values_of(irm, *metrics, lots=lots, ordered=ordered)
    assert_frame_equal(_by_key(_table(whole)), _by_key(_table(pieces)), check_exact=True, check_dtypes=False)
    if ordered:
        assert _codes(whole) == _codes(pieces)


@pytest.mark.parametrize("seed", [0, 2, 3, 4])
def test_the_table_is_enough_without_the_rows(seed: int) -> None:
    """Means, intervals and values of queries come out the same of a table that was sent to another process."""
    irm, *_ = _case(seed)
    whole = values_of(irm, *(WEIGHTED if "propensity" in irm.roles else METRICS))
    sent: Values = pickle.loads(pickle.dumps(whole))
    for of_table in (averaged, query_rows):
        one, other = of_table(whole), of_table(sent)
        assert [*one.keys] == [*other.keys]
        assert all((one.keys[name] == other.keys[name]).all() for name in one.keys)
        assert_frame_equal(pl.DataFrame(one.columns), pl.DataFrame(other.columns), check_exact=True)


ROLES: list[dict[str, Any]] = [
    {"query": ["query", "system"]},
    {"system": "system", "weight": "traffic"},
    {"by": "system", "undefined": "zero", "unjudged_queries": "count"},
    {"by": ["system", "day"], "margins": True},
]


@pytest.mark.parametrize("roles", ROLES, ids=str)
def test_sums_of_blocks_give_the_means_of_rankings(roles: dict[str, Any]) -> None:
    """Means are the same to the last bit whether each ranking's value is kept, or only the sums of each block."""
    draw, roles = np.random.default_rng(len(roles)), dict(roles)
    margins = roles.pop("margins", False)
    each = pl.DataFrame({"query": np.repeat(np.arange(300), 4), "doc": np.tile(np.arange(4), 300)})
    rows = each.join(pl.DataFrame({"system": ["a", "b"]}), how="cross")
    rows = rows.filter(pl.Series(draw.random(len(rows)) < 0.8)).with_columns(
        grade=pl.when(pl.col("query") % 7 > 0).then((pl.col("query") * 7 + pl.col("doc") * 5) % 4 - 1),
        day=pl.col("query") % 3,
        traffic=pl.col("query") % 4 + 0.1,
    )
    irm = IRM(rows.with_columns(score=pl.Series(draw.random(len(rows)))), **roles)
    averages = ["macro", "gmean", *(["weighted"] if "weight" in roles else ["micro", "rows"])]

    def answer() -> pl.DataFrame:
        return pl.concat(
            irm.evaluate(name, average=averages, margins=margins)
            for name in ("f1@2", "recall", "precision@2", "num_rel")
        )

    expected = answer()
    with small_blocks(400):
        assert values_of(irm, "recall", queries=False).value.shape == (1, 0), "no ranking's value is kept"
        assert_frame_equal(answer(), expected, check_exact=True)
