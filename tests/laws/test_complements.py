"""The law of complements: what is declared to complete a measure adds up to 1 with it by default, undefined or not."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frame_metrics import IRM, NotComputableError
from helpers import error, examples
from inside import REGISTRY, metrics_of
from inside import FullConfusion as Table

PAIRS = {metric.name: str(metric.completes) for metric in metrics_of(Table) if metric.completes}  # of a table
ASKED = [name for pair in PAIRS.items() for name in pair]
SEEDS = st.integers(0, 2**32 - 1)


def rows_of(seed: int) -> pl.DataFrame:
    """Rows of two systems on small queries, many with nothing retrieved, or nothing relevant, or all of it."""
    rng = np.random.default_rng(seed)
    query = np.repeat(np.arange(12), rng.integers(1, 5, 12))
    n = len(query)
    rows = pl.DataFrame(
        {
            "query": query,
            "doc": np.arange(n),
            "label": (rng.random(n) < rng.choice([0, 0.5, 1], 12)[query]).astype(int),
            "w": np.repeat(rng.integers(1, 9, 12) / 4, np.bincount(query)),
            "device": query % 3,
        }
    )
    each = [
        rows.with_columns(pl.lit(system).alias("system"), predicted=(rng.random(n) < share[query]).astype(int))
        for system, share in (("a", rng.choice([0, 0.5, 1], 12)), ("b", rng.choice([0, 0.5], 12)))
    ]
    return pl.concat(each)


def add_up(found: pl.DataFrame, keys: list[str], *, but: tuple[str, ...] = ()) -> None:
    """Check that each complement is 1 less what it completes, null where that is null, undefined as often."""
    wide = found.pivot("metric", index=keys, values=[c for c in ("value", "n_undefined") if c in found.columns])
    column = "value_{}" if "n_undefined" in found.columns else "{}"
    for name, whole in PAIRS.items():
        if name in but:
            continue
        one, other = wide[column.format(name)], wide[column.format(whole)]
        assert one.is_null().equals(other.is_null()), (name, whole)
        np.testing.assert_allclose(one.drop_nulls(), 1 - other.drop_nulls(), rtol=0, atol=1e-12, err_msg=name)
        if "n_undefined" in found.columns:
            assert wide[f"n_undefined_{name}"].equals(wide[f"n_undefined_{whole}"]), (name, whole)


def test_every_complement_is_declared() -> None:
    """Of random tables no two measures add up to 1, wherever both are defined, but those that are declared."""
    cells = np.random.default_rng(0).integers(0, 30, (4, 60)).astype(float)
    tables = Table(cells[0], cells[1], cells[2], np.zeros(60), rest=cells[3])
    values = {metric.name: metric.compute(tables) for metric in metrics_of(Table)}
    found = {
        frozenset((one, other))
        for one, other in combinations(values, 2)
        if np.nanmax(np.abs(values[one] + values[other] - 1)) < 1e-9 and not REGISTRY[one].summed
    }
    assert found == {frozenset(pair) for pair in PAIRS.items()} | {frozenset(("cost", "accuracy"))}  # unit costs


@examples(30)
@given(seed=SEEDS)
def test_complements_add_up_in_every_query_and_mean(seed: int) -> None:
    """Per query; macro, weighted, by rows and micro; of systems and segments and their total; at a cutoff too."""
    rows = rows_of(seed)
    irm = IRM(rows, query="query", predicted="predicted", system="system", by="device", weight="w", doc="doc")
    add_up(irm.per_query(*ASKED), ["system", "device", "query"])
    for average in ("macro", "weighted", "micro", "rows"):
        means = irm if average in ("macro", "weighted") else irm(weight=None)
        add_up(means.evaluate(*ASKED, average=average, margins=True), ["system", "device", "total_over"])
    log = rows.with_columns(score=pl.when(predicted=1).then(-pl.col("doc")))
    ranked = IRM(log, score="score", predicted=None, system="system", doc="doc", collection_size=40)
    cut = ranked.evaluate(*(f"{name}@2" for name in ASKED)).with_columns(pl.col("metric").str.strip_suffix("@2"))
    add_up(cut, ["system"])


@examples(30)
@given(seed=SEEDS)
def test_complements_add_up_without_a_query(seed: int) -> None:
    """Of pooled rows, with weights; of each class, and in all averages over classes; at every threshold."""
    rng = np.random.default_rng(seed)
    rows = rows_of(seed)
    rows = rows.with_columns(score=pl.Series(rng.integers(0, 4, len(rows))))
    irm = IRM(rows, query=None, label="label", predicted="predicted", by="query", weight="w")
    add_up(irm.evaluate(*ASKED), ["query"])
    several = rows.with_columns(label=pl.Series(rng.integers(0, 4, len(rows))), predicted=pl.col("score"))
    of_classes = IRM(several, query=None, score=None, label="label", predicted="predicted", by="device", weight="w")
    add_up(of_classes.per_class(*ASKED), ["device", "class"])
    sizes = {average: of_classes.evaluate(*ASKED, average=average) for average in ("macro", "weighted", "predicted")}
    for found in (*sizes.values(), of_classes.evaluate(*ASKED, average="micro")):
        add_up(found, ["device"], but=("error_rate",))  # which is of the whole table, and has no average
    tried = IRM(rows, query=None, label="label", score="score", predicted=None, by="device").thresholds(*ASKED)
    for name, whole in PAIRS.items():
        assert tried[name].is_null().equals(tried[whole].is_null()), name
        np.testing.assert_allclose(tried[name].drop_nulls(), 1 - tried[whole].drop_nulls(), atol=1e-12)


def test_undecided_rows_are_no_false_alarms() -> None:
    """With undecided rows fallout is fp / (fp + tn + un), and its pair adds up where all are decided; others always."""
    rows = pl.DataFrame({"g": [0, 0, 0, 0, 1, 1], "label": [0, 0, 0, 1, 0, 1], "predicted": [1, 0, None, None, 1, 1]})
    irm = IRM(rows, by="g")
    found = irm.evaluate(*ASKED, layout="wide")
    assert found["fallout"].to_list() == [1 / 3, 1]
    assert found["specificity"].to_list() == [1 / 3, 0]
    add_up(irm.evaluate(*ASKED), ["g"], but=("fallout",))


@pytest.mark.parametrize(("rule", "stands"), [("zero", 0), ("one", 1), ("null", None)])
def test_a_rule_that_is_said_is_for_each_name_as_asked(rule: Any, stands: float | None) -> None:
    """undefined="null" gives pycm's fdr, and "zero" makes precision and fdr of nothing both 0."""
    rows = pl.DataFrame({"label": [1, 1, 0], "predicted": [0, 0, 0]})
    assert IRM(rows).evaluate("fdr", "precision")["value"].to_list() == [1, 0]
    assert IRM(rows, undefined=rule).evaluate("fdr", "precision")["value"].to_list() == [stands] * 2
    assert error(lambda: IRM(rows, undefined="raise").evaluate("fdr"), NotComputableError).startswith("fdr is undef")


def test_the_system_that_answers_fewer_queries_has_no_better_fdr() -> None:
    """Means over queries order systems alike by precision and by fdr, also where one retrieves nothing for some."""
    rows = {"system": [*"aaaabb"], "query": [1, 1, 2, 2, 1, 1], "doc": [*"xyxyxy"], "score": [2.0, 1, 2, 1, 2, 1]}
    judged = pl.DataFrame({"query": [1, 1, 2, 2], "doc": [*"xyxy"], "label": [1, 0, 1, 0]})
    irm = IRM(pl.DataFrame(rows), system="system").judge(judged)
    found = irm.evaluate("precision", "fdr", "recall", "miss_rate", layout="wide").sort("system")
    assert found["precision"].to_list() == [0.5, 0.25]
    assert found["fdr"].to_list() == [0.5, 0.75]
    assert found["miss_rate"].to_list() == [0, 0.5]


@examples(30)
@given(seed=SEEDS)
def test_bounds_of_a_complement_are_those_of_what_it_completes(seed: int) -> None:
    """What unjudged rows leave open of the one is 1 less what they leave open of the other, turned round."""
    rng = np.random.default_rng(seed)
    rows = rows_of(seed)
    label = rng.choice([0, 1, None, None], len(rows) // 2).tolist()  # of each document, whichever system lists it
    log = rows.with_columns(label=pl.Series(2 * label, dtype=pl.Int64))
    irm = IRM(log, query="query", system="system", predicted="predicted", doc="doc")
    whole, rest = (irm.bounds(*names, of="unjudged") for names in (["recall", "precision"], ["miss_rate", "fdr"]))
    for end, other in (("value", "value"), ("lower", "upper"), ("upper", "lower")):
        np.testing.assert_allclose(rest[end], 1 - whole[other], rtol=0, atol=1e-12)
