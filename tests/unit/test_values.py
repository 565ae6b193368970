"""Numbers from elsewhere: means of value=, and of saved per_query() results as they were when they were computed."""

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from frame_metrics import IRM, ColumnError, metrics
from helpers import KINDS, as_kind, as_polars, error, facts, found_by_name, irm, made_log, odd
from refusals import check

METRICS = ("ndcg@5", "map", "P_5", "num_rel_ret", "gm_map", "lr_positive")
AVERAGES = (None, "macro", "gmean", "median", "q0.9", "min", "max")
FEW: dict[str, Any] = {"permutations": 300, "resamples": 200}
LOG = "grades in the log"


def original(**more: Any) -> IRM[pl.DataFrame]:
    """A log of thirty queries in three segments; an undefined value is null, so that what is saved says it."""
    return irm(made_log(), LOG, undefined="null", **more)


def other(seed: int = 1) -> pl.DataFrame:
    """The log with other scores."""
    random = np.random.default_rng(seed)
    drawn = pl.Series("score", random.random(len(made_log())))
    return made_log().with_columns(pl.when(pl.col("score").is_not_null()).then(drawn).alias("score"))


def same(got: Any, expected: Any) -> None:
    """Raise unless two results are equal, numbers to 1e-12.

    Saved numbers say which queries were answered, so their result counts the others; a log without systems has none.
    """
    mine, theirs = as_polars(got), as_polars(expected)
    if "n_unanswered" in mine.columns and "n_unanswered" not in theirs.columns:
        assert mine["n_unanswered"].sum() == 0
        mine = mine.drop("n_unanswered")
    assert_frame_equal(mine, theirs, rel_tol=1e-12, abs_tol=1e-12)


def long(**columns: Any) -> pl.DataFrame:
    """Two metrics of two queries, with other columns."""
    frame = {"query": ["a", "a", "b", "b"], "metric": ["rr", "ms", "rr", "ms"], "value": [1.0, 30.0, 0.5, 10.0]}
    return pl.DataFrame(frame | columns)


def wide() -> pl.DataFrame:
    """The same, with a column for each metric."""
    return pl.DataFrame({"query": ["a", "b"], "rr": [1.0, 0.5], "ms": [30.0, 10.0]})


# evaluate


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("by", [None, "segment"])
def test_means_of_saved_values_are_those_of_the_log(average: Any, by: str | None) -> None:
    """Values, counts and intervals of a saved result are those of the call that computed it, in every average."""
    log, options = original(by=by), {"average": average, "margins": by is not None, "ci": 0.9, "resamples": 200}
    saved = log.per_query(*METRICS)
    same(saved.irm(value="value", by=by).evaluate(**options), log.evaluate(*METRICS, **options))


def test_weighted_means_of_saved_values() -> None:
    """Weights and clusters of queries stand beside saved values as they do in a log."""
    log = original(weight="weight", cluster="segment")
    beside = made_log().select("query", "segment", "weight").unique()
    saved = log.per_query("map", "rr").join(beside, on="query", maintain_order="left")
    again = saved.irm(value="value", weight="weight", cluster="segment")
    for average in (None, "macro", "gmean"):
        options: dict[str, Any] = {"average": average, "ci": 0.95, "resamples": 300}
        same(again.evaluate(**options), log.evaluate("map", "rr", **options))


def test_several_averages_and_the_wide_layout() -> None:
    """A list of averages, and a column per metric, are those of the log too; a count of a metric is summed."""
    log, averages = original(by="segment"), ["macro", "median", "max"]
    again = log.per_query(*METRICS).irm(value="value", by="segment")
    for options in ({}, {"average": averages}, {"ci": 0.9, "resamples": 50}, {"margins": True}):
        same(again.evaluate(layout="wide", **options), log.evaluate(*METRICS, layout="wide", **options))
    assert again.evaluate("num_rel_ret")["average"].unique().to_list() == ["sum"]
    same(again.evaluate("num_rel_ret", average="micro"), log.evaluate("num_rel_ret", average="micro"))


def test_one_column_per_metric_is_one_metric_each() -> None:
    """A wide saved result gives what the long one gives, and so does a frame whose columns are the metrics."""
    log = original(by="segment")
    columns = log.per_query(*METRICS, layout="wide").irm(value=list(METRICS), by="segment")
    rows = log.per_query(*METRICS).irm(value="value", by="segment")
    for options in ({}, {"ci": 0.9, "resamples": 50}, {"layout": "wide", "margins": True}):
        same(columns.evaluate(**options), rows.evaluate(**options))
    same(columns.per_query(), rows.per_query())
    same(columns.evaluate("map"), rows.evaluate("map"))


@pytest.mark.parametrize("kind", KINDS)
def test_saved_values_of_every_kind_of_frame(kind: str) -> None:
    """What a kind of frame returned is read as it is, whatever the type of its columns."""
    frame = made_log().select("query", "doc", "score", "grade", "segment")
    log = IRM(as_kind(frame, kind), doc="doc", by="segment", undefined="null", collection_size=100)
    saved = IRM(log.per_query(*METRICS), value="value", by="segment")
    same(saved.evaluate(margins=True), log.evaluate(*METRICS, margins=True))
    same(saved.per_query(), log.per_query(*METRICS))
    same(saved.evaluate("map", layout="wide"), log.evaluate("map", layout="wide"))
    assert type(saved.evaluate()) is type(log.evaluate("map"))


def parquet(frame: Any, path: Path) -> Any:
    """A polars frame, written and read as Parquet."""
    frame.write_parquet(path)
    return pl.read_parquet(path)


def csv(frame: Any, path: Path) -> Any:
    """A polars frame, written and read as CSV, where a column k of nulls only is text."""
    frame.write_csv(path)
    return pl.read_csv(path)


def pandas_csv(frame: Any, path: Path) -> Any:
    """The same by pandas, where k becomes a float."""
    frame.to_pandas().to_csv(path, index=False)
    return pd.read_csv(path)


def pandas_parquet(frame: Any, path: Path) -> Any:
    """A pandas frame, written and read as Parquet."""
    frame.to_pandas().to_parquet(path)
    return pd.read_parquet(path)


@pytest.mark.parametrize("metric", [METRICS, ("map", "rr")], ids=["with cutoffs", "without"])
@pytest.mark.parametrize("through", [parquet, csv, pandas_csv, pandas_parquet])
def test_saved_in_a_file(through: Callable[[Any, Path], Any], metric: tuple[str, ...], tmp_path: Path) -> None:
    """A result that was written to a file and read again is the same result; its k may be a float, or null."""
    log = original()
    read = through(log.per_query(*metric), tmp_path / "saved")
    same(IRM(read, value="value").evaluate(ci=0.9, resamples=50), log.evaluate(*metric, ci=0.9, resamples=50))


def test_numbers_of_a_judge() -> None:
    """A frame of numbers that nobody knows has means, quantiles and intervals under the names of its columns."""
    judged = pl.DataFrame({"id": [1, 2, 3, 4], "faithfulness": [True, False, True, True], "ms": [10, 40, 20, 30]})
    found = judged.irm(query="id", value=["faithfulness", "ms"]).evaluate(average=["macro", "q0.5", "max"])
    assert found.select("metric", "k", "average", "value", "n").rows() == [
        ("faithfulness", None, "macro", 0.75, 4),
        ("faithfulness", None, "q0.5", 1.0, 4),
        ("faithfulness", None, "max", 1.0, 4),
        ("ms", None, "macro", 25.0, 4),
        ("ms", None, "q0.5", 25.0, 4),
        ("ms", None, "max", 40.0, 4),
    ]
    one = judged.irm(query="id", value="ms")
    columns = [f"ms{end}" for end in ("", "_n", "_undefined", "_low", "_high")]
    assert one.evaluate("ms", layout="wide", ci=0.9).columns == ["average", "n", *columns]
    assert one.evaluate(average="gmean")["value"][0] == pytest.approx(240000**0.25)


def test_names_match_after_reading() -> None:
    """A metric is asked for as it is asked of a log, in any spelling; what no metric is called by its own text."""
    saved = (
        original()
        .per_query("ndcg@5", "map")
        .drop("undefined", "answered")
        .vstack(pl.DataFrame({"query": ["q00"], "metric": ["Faith (0-1)@3"], "k": [3], "value": [0.5]}))
    )
    log = saved.irm(value="value")
    means = dict(log.evaluate().select("metric", "value").rows())
    for name, ours in {
        "nDCG@5": "ndcg@5",
        "ndcg_cut_5": "ndcg@5",
        "AP": "map",
        "Faith (0-1)@3": "Faith (0-1)@3",
    }.items():
        found = log.evaluate(name)
        assert found.select("metric", "value").row(0) == (name, means[ours])
    assert log.evaluate(metrics.ndcg @ 5)["value"][0] == means["ndcg@5"]
    assert log.evaluate("Faith (0-1)@3").select("k", "n", "n_undefined").row(0) == (3, 1, 29)
    assert log.evaluate("gm_map").select("metric", "average").row(0) == ("gm_map", "gmean")
    same(log.evaluate("gm_map"), original().evaluate("gm_map"))


BESIDE = (
    wide().with_columns(doc=pl.lit("x"), score=1).irm.judge(pl.DataFrame({"query": ["a"], "doc": ["x"], "grade": [1]}))
)


def at(name: str, k: Any) -> pl.DataFrame:
    """Return the means of a metric whose cutoff is said beside it."""
    return (
        pl.DataFrame({"query": [1, 2], "metric": [name] * 2, "k": k, "value": [0.1, 0.2]}).irm(value="value").evaluate()
    )


OF_NO_VALUE = ["score", "label", "grade", "doc", "n_relevant", "count", "relevant"]
SAID = {"rel": 2, "scale": {"good": 1}, "ties": "best", "threshold": 0.5, "positive": 1, "collection_size": 9}


@pytest.mark.parametrize("verb", [IRM.evaluate, IRM.per_query, IRM.compare, IRM.audit])
def test_roles_that_say_nothing_of_values(verb: Any) -> None:
    """What says how numbers are to be computed has no part beside numbers that were: an error, in every verb."""
    for role, said in (dict.fromkeys(OF_NO_VALUE, "ms") | SAID).items():
        message = error(lambda role=role, said=said: verb(wide().irm(value="rr", **{role: said})), ColumnError)  # type: ignore[misc]
        assert message == f"{role}= says nothing of value=, whose numbers were computed already; pass {role}=None"


REFUSALS = r"""
original().per_query("ndcg@5", "map").irm(value="value").evaluate(VALUE)
    for: "ndcg@10", "ndcg(gain='exp')@5", "ndcg", "faithfulness"
    UnknownNameError: metric has no numbers of VALUE; it has 'ndcg@5', 'map'
wide().irm(value="ms").evaluate("rr")
    UnknownNameError: value= has no numbers of 'rr'; it has 'ms'
    but: original().per_query("ndcg@5", "map").irm(value="value").evaluate("ndcg@5")
pl.concat([long(), long()]).irm(value="value").evaluate()
    BadRowsError: value: 4 of 8 rows repeat a metric of their query (rows 4, 5, 6); name the column that tells them
        apart with system= or by=, or in query=['query', ...]; where each row is a query of its own, add a column that
        numbers the rows, and name it with query=; else keep one of each, or add them up
pl.concat([wide(), wide()]).irm(value=["rr", "ms"]).evaluate()
    BadRowsError: rr: 2 of 4 rows repeat a query (rows 2, 3); name the column that tells them apart with system= or by=,
        or in query=['query', ...]; where each row is a query of its own, add a column that numbers the rows, and name
        it with query=; else keep one of each, or add them up
long(metric=["rr", "MRR", "rr", "MRR"]).irm(value="value").evaluate()
    BadRowsError: value: 2 of 4 rows repeat a metric of their query (rows 1, 3); name the column that tells them apart
        with system= or by=, or in query=['query', ...]; where each row is a query of its own, add a column that numbers
        the rows, and name it with query=; else keep one of each, or add them up
wide().rename({"ms": "mrr"}).irm(value=["rr", "mrr"]).evaluate()
    BadValueError: the columns 'rr' and 'mrr' are one metric, rr; leave one out
    but: pl.concat([long(), long()]).with_columns(run=pl.Series([*"aaaabbbb"])).irm(value="value",
        system="run").evaluate()
    but: wide().irm(value=["rr", "ms"]).evaluate()
at("ndcg", pl.Series(["5", "10"], dtype=pl.Categorical))
    BadValueError: metric: 'ndcg' is in a row with k = 5, which it does not say; write it in the name, as 'ndcg@5', or
        rename the column 'k'
at("ndcg@10", [10.5, 10])
    BadValueError: metric: 'ndcg@10' is in a row with k = 10.5, which is no cutoff; rename the column 'k'
at("ndcg@10", [0, 10])
    BadValueError: metric: 'ndcg@10' is in a row with k = 0, which is no cutoff; rename the column 'k'
at("ndcg@10", [5, 10])
    BadValueError: metric: 'ndcg@10' is in a row with k = 5, another cutoff; correct one of them, or rename the column
        'k'
    but: at("ndcg@10", [10, 10])
long(value=[1.0, 2.0, np.inf, 3.0]).irm(value="value").evaluate()
    BadRowsError: value: 1 of 4 rows is infinite (row 2); drop them, or make them null
long(value=[1.0, 2.0, -1e301, 3.0]).irm(value="value").evaluate()
    BadRowsError: value: 1 of 4 rows is past 1e300 (row 2); rescale all values: they overflow where they are added
    but: long(value=[1.0, 2.0, -1e300, 3.0]).irm(value="value").evaluate()
long(value=["1"] * 4).irm(value="value").evaluate()
    BadValueError: value: a value is a number, and this column is text; convert it
long(metric=["a", None, "b", "c"]).irm(value="value").evaluate()
    BadRowsError: metric: 1 of 4 rows has no metric (row 1); drop them, or give them one
long(metric=[1, 2, 3, 4]).irm(value="value").evaluate()
    BadValueError: metric: a metric is a text, and this column is Int64; rename it
long(query=[None, "a", "b", "c"]).irm(value="value").evaluate()
    BadRowsError: query: 1 of 4 rows has no query (row 0); drop them, or give them one
long(w=[1, 2, 1, 1]).irm(value="value", weight="w").evaluate()
    BadRowsError: w: 1 of 4 rows differs from another row of its query (row 1); give each query one value
    but: long(w=[1, 1, 2, 2]).irm(value="value", weight="w").evaluate()
original(by="segment").evaluate("map", margins=True).irm(value="value").evaluate()
original(by="segment").evaluate("map", margins=True).irm(query="segment", value="value").evaluate()
original().evaluate("map").irm(value="value").evaluate()
    ColumnError: the frame has means, as evaluate() returns them, and value= is one number per query; save per_query()
wide().drop("query").irm(value="rr").evaluate()
    ColumnError: value= is one number per query, and the query is missing;[...]
wide().irm(value="rr", query=None).evaluate()
    ColumnError: value= is one number per query, and query=None was passed, but this call needs the query;[...]
    but: original(by="segment").per_query("map").irm(value="value", by="segment").evaluate(margins=True)
wide().irm(value="rr").per_class("recall")
    ColumnError: per_class() has no use for value=, whose numbers were computed already; 'evaluate', 'per_query',[...]
wide().irm(value="rr").confusion()
    ColumnError: confusion() has no use for value=, whose numbers were computed already; 'evaluate', 'per_query',[...]
wide().irm(value="rr").thresholds("f1")
    ColumnError: thresholds() has no use for value=, whose numbers were computed already; 'evaluate',[...]
wide().irm(value="rr").best_threshold("f1")
    ColumnError: best_threshold() has no use for value=, whose numbers were computed already; 'evaluate',[...]
wide().irm(value="rr").curve("roc")
    ColumnError: curve() has no use for value=, whose numbers were computed already; 'evaluate', 'per_query',[...]
wide().irm(value="rr").explain("rr", query="a")
    ColumnError: explain() has no use for value=, whose numbers were computed already; 'evaluate', 'per_query',[...]
wide().irm(value="rr").bounds("rr", of="ties")
    ColumnError: bounds() has no use for value=, whose numbers were computed already; 'evaluate', 'per_query',[...]
wide().irm(value="rr").judge(wide())
    ColumnError: judge() has no use for value=, whose numbers were computed already; 'evaluate', 'per_query',[...]
BESIDE(value="rr").evaluate()
    ColumnError: value= names numbers that were computed already, and judgments say nothing of them; name it on the
        frame, without judge()
    but: wide().irm(value="rr").per_query()
    but: BESIDE.evaluate("rr")
wide().irm(value="rrr").evaluate()
    ColumnError: value='rrr': there is no such column among 'query', 'rr', 'ms'; did you mean 'rr'?
wide().irm(value="query", query="query").evaluate()
    ColumnError: value='query' is the query too; a column can have only one role
long(ms=[1, 2, 3, 4]).irm(value=["value", "ms"]).evaluate()
    ColumnError: value= names 2 columns, each of one metric, and the column 'metric' says one for each row;[...]
wide().irm(value=2.5).evaluate()
    BadValueError: value=2.5 is not the name of a column, or a list of names
    but: long(ms=[1, 2, 3, 4]).irm(value="ms").evaluate()
wide().irm(value="rr").evaluate(average="micro")
    NotComputableError: rr: average='micro' needs the counts of its 2x2 table, and value= has its number only
wide().irm(value="rr").evaluate(average="rows")
    NotComputableError: rr: average='rows' needs the rows of a query, and value= has its number only
wide().irm(value="rr").evaluate(average="weighted")
    ColumnError: average='weighted' needs the weights of the queries; name their column with weight=
wide().irm(value="rr").evaluate(average="predicted")
    NotComputableError: average='predicted' is over several classes, and the mean here is over queries
original().per_query("gauc").irm(value="value").evaluate()
    NotComputableError: gauc: average='rows' needs the rows of a query, and value= has its number only
    but: wide().irm(value="rr", weight="ms").evaluate(average="weighted")
"""


def test_what_is_no_value() -> None:
    """Numbers that are not there, not one for a query, or not for this verb are refused."""
    check(REFUSALS, globals())


def test_null_and_nan_are_undefined() -> None:
    """They count in n_undefined, and not in the mean, whatever the metric's own rule, unless undefined= says so."""
    frame = pl.DataFrame({"query": [1, 2, 3, 4], "ap": [1.0, None, float("nan"), 0.5]})
    for one in (frame, frame.to_pandas()):
        log = IRM(one, value="ap")
        found = as_polars(log.evaluate()).select("value", "n", "n_undefined").row(0)
        assert found == (0.75, 2, 2)
        assert as_polars(log(undefined="zero").evaluate())["value"][0] == 0.375
        assert "undefined for 2 of 4 queries" in error(lambda log=log: log(undefined="raise").evaluate())  # type: ignore[misc]
        assert as_polars(log.per_query())["value"].to_list() == [1.0, None, None, 0.5]


def test_a_query_that_a_system_has_no_number_of() -> None:
    """None is put there: n_undefined counts the query, and undefined= is about null values only."""
    frame = pl.DataFrame({"s": ["x", "x", "x", "y", "y"], "query": [1, 2, 3, 1, 2], "ms": [1.0, 2.0, 3.0, 4.0, None]})
    log = frame.irm(system="s", value="ms")
    assert log.evaluate().select("value", "n", "n_undefined").rows() == [(2.0, 3, 0), (4.0, 1, 2)]
    assert log(undefined="zero").evaluate().select("value", "n").rows() == [(2.0, 3), (2.0, 2)]
    assert log.per_query().rows()[-1] == ("y", 3, "ms", None, None, True, False)
    assert log.evaluate()["n_unanswered"].to_list() == [0, 1]


def test_a_number_that_no_row_has_stays_so_beside_other_metrics() -> None:
    """It is unpaired and not undefined, of a system and of a saved baseline, whatever other metrics have rows."""
    each = product((1, 2, 3), (("A", 1.0), ("B", 0.5)), ("m1", "m2"))
    rows = [(query, system, name, value) for query, (system, value), name in each]
    log = pl.DataFrame(rows, ["query", "system", "metric", "value"], orient="row")
    log = log.filter(~((pl.col("query") == 3) & (pl.col("system") == "B") & (pl.col("metric") == "m2")))
    ours, theirs = (log.filter(system=name).drop("system") for name in "BA")
    said = ["value", "baseline_value", "difference", "n", "n_unpaired", "n_undefined"]
    for undefined in ("zero", None):
        for frame in (log, log.filter(metric="m2")):
            found = frame.irm(system="system", value="value", undefined=undefined).compare("m2", baseline="A")
            assert found.select(said).row(0) == (0.5, 1.0, -0.5, 2, 1, 0)
            means = frame.irm(system="system", value="value", undefined=undefined).evaluate("m2")
            assert means.select("value", "n", "n_undefined").rows() == [(1.0, 3, 0), (0.5, 2, 1)]
            lacking = odd(frame.irm(system="system", value="value")).filter(check="queries without a number")
            assert lacking.select("n", "example").rows() == [(1, "B, 3")]
        for mine, base, sign in ((ours, theirs, 1), (theirs, ours, -1)):
            found = mine.irm(value="value", undefined=undefined).compare("m2", baseline=base)
            assert found.select(said[2:]).row(0) == (sign * -0.5, 2, 1, 0)


def test_columns_of_a_saved_result_play_no_other_part() -> None:
    """Columns called score, label, rank ... are not found beside value=, and value, metric and k are no clash."""
    clutter = {name: ["x"] * 4 for name in ("score", "label", "grade", "predicted", "rank", "doc", "n", "average")}
    plain, cluttered = long().irm(value="value"), long(**clutter, k=[None] * 4).irm(value="value")
    same(cluttered.evaluate(), plain.evaluate())
    assert found_by_name(cluttered) == ["query"]
    renamed = wide().rename({"rr": "value", "ms": "metric"}).irm(value="value")
    assert "is Float64" in error(renamed.evaluate)
    alone = wide().rename({"rr": "value"}).irm(value="value")
    assert alone.evaluate().select("metric", "value").rows() == [("value", 0.75)]
    assert alone.evaluate(layout="wide").columns == ["average", "n", "value", "value_n", "value_undefined"]
    assert alone.per_query(layout="wide").drop("answered").rows() == [("a", 1.0), ("b", 0.5)]


def test_queries_of_several_columns_and_systems() -> None:
    """Keys are those of any log: several columns of a query, a system that is named, segments with a null one."""
    frame = long(user=[1, 1, 2, 2], day=["mo", "mo", None, None])
    found = frame.irm(query=["query", "user"], value="value", by="day").evaluate("ms")
    assert found.select("day", "value").rows() == [("mo", 30.0), (None, 10.0)]
    two = pl.concat([frame, frame.with_columns(value=pl.col("value") * 2)]).with_columns(run=pl.Series([*"xxxxyyyy"]))
    assert two.irm(value="value", system="run").evaluate("ms")["value"].to_list() == [20.0, 40.0]


def test_columns_called_metric_and_k_that_are_named_for_another_part() -> None:
    """They are then what they are named for: no metric, and no cutoff that a name would have to say."""
    rows = pl.DataFrame({"query": [1, 2], "metric": ["u", "v"], "value": [1.0, 0.0]})
    assert rows.irm(value="value", cluster="metric").evaluate(ci=0.9)["metric"].to_list() == ["value"]
    weighed = long(k=[1, 1, 3, 3]).irm(value="value", weight="k")
    assert weighed.evaluate().select("metric", "value").rows() == [("rr", 0.625), ("ms", 15.0)]


def test_a_column_called_by_several_metrics() -> None:
    """A name that asks for several metrics is, as that of a column, one of its own."""
    odd_name = pl.DataFrame({"query": [1, 2], "ndcg@1..3": [1.0, 0.0]}).irm(value="ndcg@1..3")
    assert odd_name.evaluate().select("metric", "k", "value").rows() == [("ndcg@1..3", None, 0.5)]
    assert "no numbers of 'ndcg@1'" in error(lambda: odd_name.evaluate("ndcg@1..3"))


def test_a_key_that_is_called_as_a_metric() -> None:
    """In a wide result its column would be twice."""
    frame = long(rr=["u"] * 4).irm(value="value", by="rr")
    for call in (lambda: frame.evaluate(layout="wide"), lambda: frame.per_query(layout="wide")):
        assert "a column 'rr' for the metric would be twice" in error(call)
    assert frame.evaluate()["rr"].to_list() == ["u", "u"]


# errors of values


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_of_requests_that_have_no_id(kind: str) -> None:
    """The error about repeated queries names the ways that keep every row, and they do."""
    frame = pl.DataFrame({"user": ["u", "u", "v"], "at": [1, 2, 1], "ms": [10.0, 30.0, 50.0]})
    requests = IRM(as_kind(frame, kind), query="user", value="ms")
    said = error(requests.evaluate)
    assert said.startswith("ms: 1 of 3 rows repeats a query (row 1); name the column that")
    assert "or in query=['user', ...]; where each row is a query of its own, add a column that numbers the rows" in said
    numbered = IRM(as_kind(frame.with_row_index("request"), kind), query="request", value="ms", cluster="user")
    for log in (requests(query=["user", "at"]), numbered):
        assert as_polars(log.evaluate()).select("value", "n").row(0) == (30.0, 3)


def test_a_cutoff_that_the_name_does_not_say() -> None:
    """Where a column k says a cutoff and the metric does not, two cutoffs would be one metric: an error."""
    apart = pl.DataFrame({"query": [1, 1], "metric": ["ndcg", "ndcg"], "k": [5, 10], "value": [0.1, 0.2]})
    said = "metric: 'ndcg' is in a row with k = 5, which it does not say; write it in the name, as 'ndcg@5', or rename "
    assert error(apart.irm(value="value").evaluate) == said + "the column 'k'"
    assert "in a row with k = 5" in error(apart.with_columns(metric=pl.lit("ndcg@10")).irm(value="value").evaluate)
    unknown = apart.with_columns(metric=pl.lit("mine"))
    assert "'mine' is in a row with k = 5" in error(unknown.irm(value="value").evaluate)
    assert apart.with_columns(metric=pl.format("mine@{}", "k")).irm(value="value").evaluate()["k"].to_list() == [5, 10]


@pytest.mark.parametrize("made", [pl.DataFrame, pd.DataFrame])
def test_a_cutoff_that_is_text_is_a_cutoff(made: Any) -> None:
    """As read_csv(dtype=str) has it: ndcg at 5 and at 10 were averaged. Other text says no cutoff."""

    def read(metric: str, k: list[Any]) -> Any:
        frame = made({"query": ["a", "b"], "metric": [metric, metric], "k": k, "value": [0.1, 0.3]})
        return frame.irm(value="value").evaluate()

    for k in (["5", "10"], [" 5", "10 "], ["5.0", None]):
        assert "metric: 'ndcg' is in a row with k = 5, which it does not say" in error(lambda k=k: read("ndcg", k))
    assert as_polars(read("ndcg", ["deep", ""]))["value"].to_list() == pytest.approx([0.2])
    assert as_polars(read("ndcg@10", ["10", "10.0"]))["value"].to_list() == pytest.approx([0.2])


def test_all_roles_that_say_nothing_of_values_are_named_at_once() -> None:
    """One error names every role and convention that has no part beside value=, and the way out for each."""
    log = wide().irm(query="query", doc="ms", score="ms", relevant="rr", ties="best")
    said = (
        "doc=, score=, relevant= and ties= say nothing of value=, whose numbers were computed already; "
        "pass doc=None, score=None, relevant=None, ties=None"
    )
    assert error(lambda: log(value="ms").evaluate(), ColumnError) == said
    aside = log(value="ms", score=None, doc=None, relevant=None, ties=None)
    assert aside.evaluate()["value"].to_list() == [20.0]
    two = "doc= and score= say nothing of value=, whose numbers were computed already; pass doc=None, score=None"
    assert error(wide().irm(value="ms", doc="rr", score="rr").evaluate) == two


@pytest.mark.parametrize("average", ["median", "q0.95", "min"])
def test_weights_enter_no_quantile(average: Any) -> None:
    """Weights are those of means: beside a quantile they are an error, and weight=None gives that of plain numbers."""
    log = wide().with_columns(w=pl.Series([3, 1])).irm(value="ms", weight="w")
    said = f"average={average!r} puts the values of queries in order, and no weight enters; pass weight=None"
    assert error(lambda: log.evaluate(average=average)) == said
    expected = {"median": 20.0, "q0.95": 29.0, "min": 10.0}[average]
    assert log(weight=None).evaluate(average=average)["value"].to_list() == [pytest.approx(expected)]
    assert log.evaluate()["value"].to_list() == [25.0]


def test_a_lazy_wide_result_needs_names() -> None:
    """The columns of a plan are known before it runs, so the metrics of its rows have to be named."""
    lazy = long().lazy().irm(value="value")
    for call in (lambda: lazy.evaluate(layout="wide"), lambda: lazy.per_query(layout="wide")):
        assert "name the metrics, or pass layout='long'" in error(call)
    assert as_polars(lazy.per_query("ms", "rr", layout="wide")).drop("answered").rows() == [
        ("a", 30.0, 1.0),
        ("b", 10.0, 0.5),
    ]
    named = wide().lazy().irm(value=["rr", "ms"]).evaluate(layout="wide")
    assert named.collect_schema().names() == named.collect().columns
    later = lazy.evaluate(ci=0.9)
    assert later.collect_schema() == later.collect().schema


def test_an_empty_frame_of_values() -> None:
    """A frame without rows has no metrics, unless columns name them; then there are no queries."""
    said = "metric: the frame has no rows, and so no metrics"
    assert error(long().clear().irm(value="value").evaluate) == said
    assert error(long().clear().lazy().irm(value="value").evaluate) == said
    assert error(lambda: long().clear().irm(value="value").evaluate("rr")) == said
    nothing = long().clear().irm(value="value").audit()
    assert nothing.filter(severity="error")["check"].to_list() == ["nothing to evaluate"]
    assert nothing.filter(check="metrics")["n"].to_list() == [0]
    assert wide().clear().irm(value="rr").evaluate().select("value", "n").rows() == [(None, 0)]


# audit


def found(log: IRM[pl.DataFrame]) -> dict[str, tuple[int, str | None]]:
    """Number and example of every finding but the plain facts."""
    return {check: (n, example) for check, n, example in odd(log).select("check", "n", "example").rows()}


def test_an_audit_of_good_numbers_has_facts_only() -> None:
    """Facts count queries, metrics, systems and segments; numbers that are all there have no finding."""
    saved = original().per_query("ndcg@5", "P_5").with_columns(value=pl.col("value").fill_null(0))
    assert found(saved.irm(value="value")) == {}
    assert facts(saved.irm(value="value")) == {"rows": (60, 1.0), "queries": (30, 1.0), "metrics": (2, None)}
    assert saved.irm(value="value").audit().filter(check="metrics")["message"][0] == "ndcg@5, P_5"


def test_an_audit_of_odd_numbers() -> None:
    """Undefined numbers, those that a system lacks, or that no such metric has, are warnings with an example."""
    frame = pl.DataFrame(
        {
            "s": [*"xxxxyyy"],
            "query": [1, 2, 3, 4, 1, 2, 3],
            "ndcg@5": [50.0, -0.5, 0.5, 1.0, 1.0, float("nan"), None],
            "ms": [-1.0, 9.0, 8.0, 7.0, 6.0, 5.0, 4.0],
            "day": [*"aabbaab"],
        }
    )
    log = frame.irm(system="s", value=["ndcg@5", "ms"], by="day")
    assert found(log) == {
        "numbers that are undefined": (2, "y, a, 2, ndcg@5"),
        "queries without a number": (1, "y, b, 4"),
        "numbers out of range": (2, "x, a, 1, ndcg@5"),
        "segments of few queries": (2, "a"),
    }
    message = log.audit().filter(check="numbers out of range")["message"][0]
    assert message.startswith("ndcg@5 is always between 0 and 1, and these are not")
    assert log.audit().filter(check="numbers that are undefined")["share"][0] == 2 / 14
    again = frame.with_columns(day=pl.Series([*"aabbabb"])).irm(system="s", value="ms", by="day")
    assert found(again)["queries in several segments"] == (1, "2")


def test_an_audit_of_systems_that_share_few_queries() -> None:
    """Below half of the queries of the smaller system a warning, below a tenth an error, where other verbs refuse."""
    for shared, severity in ((6, None), (4, "warning"), (0, "error")):
        frame = pl.DataFrame({"s": ["x"] * 10 + ["y"] * 10, "query": [*range(10), *range(10 - shared, 20 - shared)]})
        log = frame.with_columns(ms=1.0).irm(system="s", value="ms")
        told = log.audit().filter(pl.col("check").str.starts_with("systems that share"))
        assert told["severity"].to_list() == ([severity] if severity else [])
        if not shared:
            assert "no other system has results of any of them" in error(log.evaluate)


def test_an_audit_names_bad_rows() -> None:
    """Rows that other verbs refuse are errors of an audit, which goes on with the others."""
    bad = pl.concat([long(value=[1.0, 2.0, np.inf, None]), long()[:1]]).irm(value="value")
    told = bad.audit().filter(severity="error").select("check", "n", "example").rows()
    assert told == [("values that are infinite", 1, "row 2"), ("rows that repeat a metric of their query", 1, "row 4")]
    nothing = wide().with_columns(rr=pl.lit(None, pl.Float64)).irm(value="rr")
    assert found(nothing)["nothing to evaluate"] == (1, None)
    empty = wide().clear().irm(value="rr").summary()["sentence"].to_list()
    assert empty == ["Nothing to evaluate: the frame has no rows and no query, so every mean is null, and n is 0."]
    assert "nothing to evaluate" in error(lambda: nothing.audit(fail_on="error"))
    lazy = long().lazy().irm(value="value").audit()
    assert lazy.collect_schema() == lazy.collect().schema
