"""Saved numbers compared: systems of value=, and a saved per_query() result as the baseline of a comparison."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from frame_metrics import IRM, ColumnError, UnknownNameError
from helpers import KINDS, as_kind, as_polars, error, made_log
from refusals import check

METRICS = ("ndcg@5", "map", "P_5")
FEW: dict[str, Any] = {"permutations": 300, "resamples": 200}
FAMILY = ("p_adjusted", "n_tests", "correction", "ci_low", "ci_high", "relative_low", "relative_high", "mde")
LOG = "grades in the log"
KEPT = ("query", "doc", "score", "grade", "segment", "weight")


def answered() -> pl.DataFrame:
    """A log in which every query has a result."""
    return made_log().select(KEPT).filter(pl.col("score").is_not_null().any().over("query"))


def runs() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Two runs of the same queries, which order the documents otherwise."""
    drawn = pl.Series("score", np.random.default_rng(1).random(len(answered())))
    return answered(), answered().with_columns(score=pl.when(pl.col("score").is_not_null()).then(drawn))


def both() -> pl.DataFrame:
    """The two runs, one below the other."""
    one, other = runs()
    return pl.concat([one.with_columns(run=pl.lit("old")), other.with_columns(run=pl.lit("new"))])


def log_of(frame: Any, **more: Any) -> IRM[Any]:
    """A log whose undefined values are null, so that what is saved says them."""
    return IRM(frame, doc="doc", undefined="null", **more)


def same(got: Any, expected: Any, but: tuple[str, ...] = ()) -> None:
    """Raise unless two results are equal but for some columns, numbers to 1e-12."""
    one, other = (as_polars(frame).drop(but, strict=False) for frame in (got, expected))
    assert_frame_equal(one, other, rel_tol=1e-12, abs_tol=1e-12)


def saved(**columns: Any) -> pl.DataFrame:
    """The reciprocal ranks of three queries, with other columns."""
    frame = {"query": ["a", "b", "c"], "metric": ["rr"] * 3, "k": [None] * 3, "value": [1.0, 0.5, 0.25]}
    return pl.DataFrame(frame | columns)


def this() -> pl.DataFrame:
    """A run of three queries whose first documents are relevant."""
    return pl.DataFrame({"query": ["a", "b", "d"], "score": [1.0] * 3, "grade": [1] * 3})


# systems of values


@pytest.mark.parametrize("test", ["randomization", "bootstrap"])
@pytest.mark.parametrize("by", [None, "segment"])
def test_systems_of_saved_values(test: Any, by: str | None) -> None:
    """Two runs saved below each other are compared as the log that has both: every number, and every test."""
    log = log_of(both(), system="run", by=by)
    again = log.per_query(*METRICS).irm(value="value", system="run", by=by, query="query")
    same(again.compare(baseline="old", test=test, **FEW), log.compare(*METRICS, baseline="old", test=test, **FEW))
    same(again.compare("map", per_query=True), log.compare("map", per_query=True))


def test_weights_and_clusters_of_saved_systems() -> None:
    """Weights and clusters of queries enter the tests of saved values as those of a log."""
    log = log_of(both(), system="run", weight="weight", cluster="segment")
    beside = both().select("query", "weight", "segment").unique()
    values = log.per_query("map").join(beside, on="query", maintain_order="left")
    again = values.irm(value="value", system="run", weight="weight", cluster="segment")
    same(again.compare(**FEW), log.compare("map", **FEW))


def test_a_query_that_one_system_has_no_number_of() -> None:
    """It is not compared, with a zero or otherwise, and n_unpaired counts it; a null number is in n_undefined."""
    frame = pl.DataFrame(
        {"s": [*"xxxxyyyy"], "query": [1, 2, 3, 4, 1, 2, 3, 5], "ms": [5.0, 6.0, 7.0, 1.0, 1.0, 3.0, None, 1.0]}
    )
    for options in ({}, {"undefined": "zero"}):
        row = frame.irm(system="s", value="ms", **options).compare().row(0, named=True)
        expected = (3, 2, 1) if options else (2, 2, 1)
        assert (row["n"], row["n_unpaired"], row["n_undefined"]) == expected
    plain = frame.irm(system="s", value="ms").compare(baseline="x").row(0, named=True)
    assert (plain["value"], plain["baseline_value"], plain["difference"]) == (2.0, 5.5, -3.5)


OWN = saved(w=[1.0, 2.0, 3.0])
MONDAY = this().with_columns(day=pl.lit("mo")).irm(by="day")
NUMBERED = this().with_columns(query=pl.Series([1, 2, 3]))
ARMS = pl.concat([this().with_columns(s=pl.lit(name)) for name in ("x", "y")])
DECIDED = pl.DataFrame({"label": [1, 0], "predicted": [1, 1]})
UNREAD = this().lazy().map_batches(lambda _: pytest.fail("the plan was run"), schema=this().schema)
REFUSALS = r"""
saved().irm(value="value").compare()
    ColumnError: compare() pairs systems query by query; name their column with system=, or give what per_query()
        returned of another one, as baseline=saved; parts of the traffic with queries of their own, as arm=, are
        compared by ab_test() and change()
    but: saved().irm(value="value").compare(baseline=saved())
saved().irm(value="value").compare("gm_rr", baseline=saved())
    NotComputableError: gm_rr is an average, and compare() needs metrics of single queries
    but: saved().irm(value="value").compare("rr", baseline=saved())
this().irm.compare("rr", baseline=OWN.irm(value="value", weight="w"))
this().irm.audit(baseline=OWN.irm(value="value", weight="w"))
    ColumnError: baseline: weight='w': the weights of queries are those of the frame; name it there, and pass
        weight=None here
this().irm.compare("rr", baseline=OWN.irm(value="value", cluster="w"))
this().irm.audit(baseline=OWN.irm(value="value", cluster="w"))
    ColumnError: baseline: cluster='w': the clusters of queries are those of the frame;[...]
this().irm.compare("rr", baseline=OWN.irm(value="value", memory="1GB"))
this().irm.audit(baseline=OWN.irm(value="value", memory="1GB"))
    ColumnError: baseline: memory='1GB': saved numbers are read at once, and only the frame may be read in pieces; name
        it there, and pass memory=None here
this().irm.compare("rr", baseline=OWN.irm(value="value", rel=2))
this().irm.audit(baseline=OWN.irm(value="value", rel=2))
    ColumnError: baseline: rel= says nothing of value=, whose numbers were computed already; pass rel=None
    but: this().irm.compare("rr", baseline=OWN.irm(value="value"))
    but: this().irm.audit(baseline=OWN.irm(value="value"))
UNREAD.irm.compare("rr", baseline=saved().select("query", ap="value"))
    ColumnError: baseline: nothing has the numbers of 'rr' among 'query', 'ap'; it has to be what per_query() returned,
        with columns 'metric' and 'value', or with a column called as each metric
UNREAD.irm.compare("rr", baseline=saved().drop("query"))
    ColumnError: baseline: it has no column 'query', the frame's query, among 'metric', 'k', 'value'; it has to be what
        per_query() returned, or name its columns, as baseline=saved.irm(query=..., value=...)
UNREAD.irm.compare("rr", baseline=saved(total_over=[None] * 3))
    ColumnError: baseline: the frame has means, as evaluate() returns them, and value= is one number per query; save
        per_query()
UNREAD.irm.compare("rr", "map", baseline=saved().select("query", rr="value"))
    UnknownNameError: baseline: value= has no numbers of 'map'; it has 'rr'
    but: this().lazy().irm.compare("rr", baseline=saved().select("query", rr="value"))
this().irm.compare("rr", baseline=saved(metric=[VALUE] * 3))
    for: "ndcg", "rr@5", "ap", "RR (old)"
    UnknownNameError: baseline: metric has no numbers of 'rr'; it has VALUE
this().irm.compare("ndcg", baseline=saved(metric=["ndcg"] * 3, k=[5] * 3))
    BadValueError: baseline: metric: 'ndcg' is in a row with k = 5, which it does not say; write it in the name, as
        'ndcg@5', or rename the column 'k'
this().irm.compare("rr", baseline=saved().select("query", ap="value"))
    ColumnError: baseline: nothing has the numbers of 'rr' among 'query', 'ap'; it has to be what per_query() returned,
        with columns 'metric' and 'value', or with a column called as each metric
this().irm.compare("rr", baseline=saved().select("query", "value"))
    ColumnError: baseline: nothing has the numbers of 'rr' among 'query', 'value'; it has to be what per_query()
        returned, with columns 'metric' and 'value', or with a column called as each metric
this().irm.compare("rr", baseline=saved().select("query", rr="value").to_pandas().rename(columns={"rr":
        pd.Timestamp("2024-01-01")}))
    ColumnError: baseline: nothing has the numbers of 'rr' among 'query', Timestamp('2024-01-01 00:00:00'); it has to be
        what per_query() returned, with columns 'metric' and 'value', or with a column called as each metric
this().irm.per_query("rr", "map").irm(value="value").compare(baseline=saved())
    UnknownNameError: baseline: metric has no numbers of 'map'; it has 'rr'
this().irm.compare("rr", "map", baseline=saved().select("query", rr="value"))
    UnknownNameError: baseline: value= has no numbers of 'map'; it has 'rr'
    but: this().irm.compare("rr", baseline=saved(metric=["RR"] * 3))
    but: this().irm.compare("ndcg@5", baseline=saved(metric=["ndcg@5"] * 3, k=[5] * 3))
    but: this().irm.per_query("rr", "map").irm(value="value").compare("rr", baseline=saved())
this().irm.compare("rr", baseline=pl.concat([saved(), saved()]))
this().irm(query="query").compare("rr", baseline=pl.concat([saved(), saved()]).lazy())
    BadValueError: baseline: value: 3 of 6 rows repeat a metric of their query (rows 3, 4, 5); name the column that
        tells them apart with system= or by=, or in query=['query', ...]; where each row is a query of its own, add a
        column that numbers the rows, and name it with query=; else keep one of each, or add them up
    but: this().irm(query="query").compare("rr", baseline=saved().lazy())
this().irm.compare("rr", baseline=saved(query=["x", "y", "z"]))
    BadValueError: baseline: it shares no query with the frame (the frame has (a), the baseline (x));[...]
this().irm.compare("rr", baseline=saved(query=[1, 2, 3]))
    BadValueError: query of the baseline is Int64, and query of the frame is text; give both one type, integers if
        the texts have leading zeros
NUMBERED.irm.compare("rr", baseline=saved(query=[1.0, 2.0, 3.0]))
    BadValueError: query of the baseline is Float64, and query of the frame is Int64; give both one type
this().with_columns(day=1).irm(by="day").compare("rr", baseline=saved(day=["1"] * 3))
    BadValueError: day of the baseline is text, and day of the frame is Int32; give both one type, integers if
        the texts have leading zeros
    but: this().irm.compare("rr", baseline=saved(query=["x", "y", "a"]))
    but: NUMBERED.irm.compare("rr", baseline=saved(query=[1, 2, 3]))
    but: this().with_columns(day=1).irm(by="day").compare("rr", baseline=saved(day=[1] * 3))
this().irm.compare("rr", baseline=MONDAY.evaluate("rr"))
    ColumnError: baseline: it has no column 'query', the frame's query, among 'day', 'metric', 'k', 'average', 'value',
        'n', 'n_undefined'; it has to be what per_query() returned, or name its columns, as
        baseline=saved.irm(query=..., value=...)
this().irm.compare("rr", baseline=MONDAY.evaluate("rr", margins=True))
this().irm.compare("rr", baseline=saved(total_over=[None, None, "day"]))
    ColumnError: baseline: the frame has means, as evaluate() returns them, and value= is one number per query; save
        per_query()
    but: this().irm.compare("rr", baseline=MONDAY.per_query("rr").drop("day"))
MONDAY.compare("rr", baseline=saved())
    ColumnError: baseline: it has no column 'day', the frame's by, among 'query', 'metric', 'k', 'value'; it has to be
        what per_query() returned, or name its columns, as baseline=saved.irm(by=..., value=...)
MONDAY.compare("rr", baseline=saved(day=["mo", "mo", "su"]))
    BadValueError: baseline: 1 saved segment is not in the frame, as day = su; leave their rows out, or pass by=None
    but: MONDAY.compare("rr", baseline=saved(day=["mo", "mo", "mo"]))
DECIDED.irm.compare("recall", baseline=saved())
    NotComputableError: baseline= as a frame is one number per query, and there is no query; name query=
DECIDED.irm.audit(baseline=saved())
    NotComputableError: baseline= is one number per query, and there is no query; name query=
    but: DECIDED.irm.audit()
ARMS.irm(system="s").compare("rr", baseline=[saved()])
ARMS.irm(system="s").compare("rr", baseline=["x", saved()])
ARMS.irm(system="s").compare("rr", baseline=(saved().to_pandas(),))
    BadValueError: baseline= is a system, a list of systems, or one frame of saved numbers; give one frame
    but: ARMS.irm(system="s").compare("rr", baseline=saved())
this().irm.audit(baseline="x")
    BadValueError: audit(): baseline='x' is not a frame of saved numbers
this().irm.audit(baseline=saved().select("query", mine="value"))
    ColumnError: baseline: nothing has the numbers of a metric among 'query', 'mine'; it has to be what per_query()
        returned, with columns 'metric' and 'value', or with a column called as each metric
ARMS.irm(system="s").audit(baseline=saved(), split={"x": 0.5, "y": 0.5})
    ColumnError: split= requires arm=, the arms of a test; name their column with arm= in the place of system='s'
    but: this().irm.audit(baseline=saved())
    but: ARMS.irm(system="s").audit(baseline=saved())
this().irm(undefined="raise").compare("rr", baseline=saved(value=[1.0, None, 0.25]))
    NotComputableError: baseline: rr is undefined for 1 of 3 queries
    but: this().irm(undefined="raise").compare("rr", baseline=saved())
this().irm.compare("rr", baseline={"rr": 0.5})
    BadValueError: baseline={'rr': 0.5} is no frame, nor a system; give what per_query() returned, a frame with a row
        per query and metric
this().irm.compare("rr", baseline=pl.Series([0.5]))
    BadValueError: baseline=<polars.Series> is no frame, nor a system; give what per_query() returned, a frame with a
        row per query and metric
this().irm.compare("rr", baseline=pd.Series([0.5]))
    BadValueError: baseline=<pandas.Series> is no frame, nor a system; give what per_query() returned, a frame with a
        row per query and metric
this().irm.compare("rr", baseline=np.array([0.5]))
    BadValueError: baseline=<numpy.ndarray> is no frame, nor a system; give what per_query() returned, a frame with a
        row per query and metric
    but: this().irm.compare("rr", baseline=saved())
"""


def test_baselines_that_say_nothing_of_the_frame() -> None:
    """What is no baseline of these queries, segments and metrics is refused, in the words of its own columns."""
    check(REFUSALS, globals())


COUNTS = ("n", "n_unpaired", "n_undefined")


@pytest.mark.parametrize("kind", KINDS)
def test_a_query_is_counted_once(kind: str) -> None:
    """A number that is undefined, of a query that one side alone has, is unpaired and not undefined too."""
    old = pl.DataFrame({"query": [1, 2, 4], "ms": [1.0, 2.0, 3.0]})
    new = pl.DataFrame({"query": [2, 3, 4], "ms": [1.0, None, None]})
    both = pl.concat([old.with_columns(run=pl.lit("old")), new.with_columns(run=pl.lit("new"))])
    for rule, expected in ((None, (1, 2, 1)), ("null", (1, 2, 1)), ("zero", (2, 2, 1))):
        beside = IRM(as_kind(new, kind), value="ms", undefined=rule).compare(baseline=old)
        assert as_polars(beside).select(COUNTS).row(0) == expected
        systems = IRM(as_kind(both, kind), value="ms", system="run", undefined=rule).compare(baseline="old")
        assert as_polars(systems).select(COUNTS).row(0) == expected


@pytest.mark.parametrize("test", ["randomization", "sign"])
def test_a_query_of_a_log_is_counted_once_where_it_is_left_out(test: Any) -> None:
    """In a log too n_undefined counts what is compared: an unanswered query is unpaired alone where it is left out."""
    log = pl.DataFrame({"s": [*"aaabb"], "query": [1, 2, 3, 1, 3], "score": 1.0, "grade": [1, 0, 0, 1, 0]}).irm(
        system="s", undefined="null"
    )
    kept, left = (log(unanswered=rule).compare("recall", test=test) for rule in ("zero", "drop"))
    assert kept.select(COUNTS).row(0) == (1, 1, 2)
    assert left.select(COUNTS).row(0) == (1, 1, 1)


# a saved baseline


@pytest.mark.parametrize("test", ["randomization", "t", "bootstrap"])
@pytest.mark.parametrize("by", [None, "segment"])
@pytest.mark.parametrize("layout", ["long", "wide"])
def test_this_run_against_a_saved_one(test: Any, by: str | None, layout: Any) -> None:
    """A run against what per_query() returned of another one is the paired comparison of the log that has both."""
    old, new = (log_of(run, by=by) for run in runs())
    expected = log_of(both(), system="run", by=by).compare(*METRICS, baseline="old", test=test, **FEW)
    baseline = old.per_query(*METRICS, layout=layout)
    got = new.compare(*METRICS, baseline=baseline, test=test, **FEW)
    same(got, expected, ("run", "baseline"))
    assert got["baseline"].unique().to_list() == ["saved"]
    numbers = IRM(new.per_query(*METRICS, layout=layout), value="value" if layout == "long" else list(METRICS), by=by)
    same(numbers.compare(baseline=baseline, test=test, **FEW), got)


def test_the_queries_of_a_saved_baseline() -> None:
    """per_query=True lists the differences of queries, as of systems of one log."""
    old, new = map(log_of, runs())
    expected = log_of(both(), system="run").compare("map", baseline="old", per_query=True)
    same(new.compare("map", baseline=old.per_query("map"), per_query=True), expected, ("run", "baseline"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("theirs", KINDS)
def test_every_kind_of_frame_against_every_other(kind: str, theirs: str) -> None:
    """Frame and baseline may be of two kinds; the result is of the frame's kind."""
    old, new = (as_kind(run, one) for run, one in zip(runs(), (theirs, kind), strict=True))
    baseline = log_of(old, by="segment").per_query("map")
    got = log_of(new, by="segment").compare("map", baseline=baseline, **FEW)
    expected = log_of(both(), by="segment", system="run").compare("map", baseline="old", **FEW)
    same(got, expected, ("run", "baseline"))
    assert type(got) is type(log_of(new).evaluate("map"))
    if kind == "lazy":
        assert got.collect_schema() == got.collect().schema


@pytest.mark.parametrize("through", ["csv", "pandas csv", "parquet"])
def test_a_baseline_from_a_file(through: str, tmp_path: Path) -> None:
    """A baseline that was written to a file is read again as it was, whatever k is there."""
    old, new = map(log_of, runs())
    frame, path = old.per_query(*METRICS), tmp_path / "saved"
    if through == "parquet":
        frame.write_parquet(path)
    else:
        frame.write_csv(path)
    read = {"csv": pl.read_csv, "pandas csv": pd.read_csv, "parquet": pl.read_parquet}[through](path)  # type: ignore[operator]
    expected = log_of(both(), system="run").compare(*METRICS, baseline="old", **FEW)
    same(new.compare(*METRICS, baseline=read, **FEW), expected, ("run", "baseline"))


def test_systems_against_a_saved_baseline() -> None:
    """Each system of the log is compared with the saved one, which is called as its own column says."""
    old, _ = runs()
    mine = log_of(both().filter(run="new").vstack(old.with_columns(run=pl.lit("also"))), system="run")
    for frame, name in ((old.with_columns(run=pl.lit("old")), "old"), (old, "saved")):
        kept = log_of(frame, system="run" if "run" in frame.columns else None).per_query("map")
        got = mine.compare("map", baseline=kept, **FEW)
        assert got.select("run", "baseline").rows() == [("also", name), ("new", name)]
        assert got["difference"][0] == 0
        single = log_of(both().filter(run="new")).compare("map", baseline=kept, **FEW)
        same(got[1:], single, ("run", "baseline", *FAMILY))
        assert single.columns[0] == "baseline"


def test_judgments_weights_and_clusters_beside_a_saved_baseline() -> None:
    """They are those of the frame: a baseline brings its numbers and nothing else."""
    roles = {"weight": "weight", "cluster": "segment"}
    beside = made_log().select(*KEPT).drop("score").drop_nulls().sort("query", "doc")
    frames = [run.drop("grade").drop_nulls("score") for run in runs()]
    old, new = (IRM(run, doc="doc", undefined="null", **roles).judge(beside) for run in frames)
    lines = pl.concat([run.with_columns(run=pl.lit(name)) for name, run in zip(("old", "new"), frames, strict=True)])
    log = IRM(lines, doc="doc", undefined="null", system="run", **roles).judge(beside)
    expected = log.compare("map", baseline="old", **FEW)
    same(new.compare("map", baseline=old.per_query("map"), **FEW), expected, ("run", "baseline"))


def test_queries_that_only_one_side_has() -> None:
    """They are left out, and counted, also those that only the baseline has, or that are not judged here."""
    row = this().irm.compare("rr", baseline=saved()).row(0, named=True)
    assert (row["n"], row["n_unpaired"], row["n_undefined"]) == (2, 2, 0)
    assert (row["value"], row["baseline_value"], row["wins"], row["ties"]) == (1.0, 0.75, 1, 1)
    unjudged = this().with_columns(grade=pl.Series([1, None, 1]))
    row = unjudged.irm.compare("rr", baseline=saved()).row(0, named=True)
    assert (row["n"], row["n_unpaired"]) == (1, 3)
    days = this().with_columns(day=pl.Series(["mo", "mo", "tu"]))
    kept = saved(day=["mo", "mo", "mo"])
    found = days.irm(by="day").compare("rr", baseline=kept).select("day", "n", "n_unpaired", "difference").rows()
    assert found == [("mo", 2, 1, 0.25), ("tu", 0, 1, None)]


def test_undefined_numbers_of_a_baseline() -> None:
    """A null number is left out and counted in n_undefined, unless undefined= says what it becomes."""
    kept = saved(value=[1.0, None, 0.25])
    row = this().irm.compare("rr", baseline=kept).row(0, named=True)
    assert (row["n"], row["n_undefined"], row["n_unpaired"]) == (1, 1, 2)
    row = this().irm(undefined="zero").compare("rr", baseline=kept).row(0, named=True)
    assert (row["n"], row["n_undefined"], row["baseline_value"]) == (2, 1, 0.5)


def test_names_of_a_baseline_match_after_reading() -> None:
    """A metric may be spelled in two ways, and names that no metric has match as they stand."""
    for ours, theirs in (("RR", "mrr"), ("ndcg@10", "nDCG_cut_10"), ("map", "AP")):
        assert this().irm.compare(ours, baseline=saved(metric=[theirs] * 3))["metric"].to_list() == [ours]
        columns = saved().select("query", pl.col("value").alias(theirs))
        assert this().irm.compare(ours, baseline=columns)["metric"].to_list() == [ours]
    judged = pl.DataFrame({"query": ["a", "b"], "faithfulness": [0.5, 1.0]}).irm(value="faithfulness")
    for kept in (saved(metric=["faithfulness"] * 3), saved().rename({"value": "faithfulness"}).drop("metric")):
        assert judged.compare(baseline=kept).select("metric", "difference").row(0) == ("faithfulness", 0.0)


def test_keys_of_another_type_of_the_same_kind() -> None:
    """Whole numbers match whatever their width, text whether or not it is categorical; a null segment matches."""
    small = this().with_columns(query=pl.Series([1, 2, 4], dtype=pl.UInt8), day=pl.Series([None, "mo", "mo"]))
    kept = saved(query=[1, 2, 300], day=[None, "mo", "mo"]).with_columns(pl.col("day").cast(pl.Categorical))
    found = small.irm(by="day").compare("rr", baseline=kept)
    assert found.select("day", "n", "n_unpaired").rows() == [("mo", 1, 2), (None, 1, 0)]


def test_a_baseline_with_its_roles() -> None:
    """Columns of a baseline that are called otherwise are named as those of any frame."""
    kept = saved().rename({"query": "qid", "value": "v"})
    got = this().irm.compare("rr", baseline=kept.irm(query="qid", value="v"))
    same(got, this().irm.compare("rr", baseline=saved()))
    several = this().with_columns(user=1).irm(query=["query", "user"])
    assert several.compare("rr", baseline=saved(user=[1, 1, 1]))["n"][0] == 2
    said = error(lambda: several.compare("rr", baseline=kept.irm(query="qid", value="v")))
    assert said == "baseline: its query is 1 columns, and that of the frame 2"
    assert error(lambda: this().irm.compare("rr", baseline=this().irm)).startswith("baseline: it has no value=")
    days = saved(day=["mo"] * 3).irm(value="value", by="day")
    said = error(lambda: this().irm.compare("rr", baseline=days))
    assert said == "baseline: its segments are by=['day'], and those of the frame by=[]"


def drawn(seed: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Numbers of two metrics in three segments, and saved ones of most of the same queries, some null on both sides."""
    random = np.random.default_rng(seed)
    parts = []
    for first in (0, 8):
        frame = pl.DataFrame({"query": np.arange(40) + first}).with_columns(day=pl.col("query") % 3)
        numbers = {name: np.where(random.random(40) < 0.1, np.nan, random.integers(0, 9, 40)) for name in ("rr", "ms")}
        parts.append(frame.with_columns(**numbers).sample(34, seed=seed, shuffle=True))
    return parts[0], parts[1]


@pytest.mark.parametrize("undefined", [None, "zero"])
@pytest.mark.parametrize("seed", range(4))
def test_counts_and_means_are_those_of_a_loop(seed: int, undefined: Any) -> None:
    """Means, wins and counts of a comparison are what a loop over the queries of each segment finds."""
    mine, kept = drawn(seed)
    rows = kept.unpivot(["ms", "rr"], index=["query", "day"], variable_name="metric")
    log = mine.irm(value=["rr", "ms"], by="day", undefined=undefined)
    for baseline in (kept, rows, rows.to_pandas(), kept.lazy()):
        got = log.compare(baseline=baseline, **FEW).select("day", "metric", *EXPECTED)
        cells = [(day, metric) for day in range(3) for metric in ("rr", "ms")]
        assert got.rows() == [by_hand(mine, kept, day, metric, undefined) for day, metric in cells]


EXPECTED = ("value", "baseline_value", "wins", "ties", "losses", "n", "n_unpaired", "n_undefined")


def by_hand(mine: pl.DataFrame, kept: pl.DataFrame, day: int, metric: str, undefined: str | None) -> tuple[Any, ...]:
    """What a comparison says of one segment and metric."""
    ours, theirs = (dict(one.filter(day=day).select("query", metric).rows()) for one in (mine, kept))
    common = ours.keys() & theirs.keys()
    lost = {query for query in common if np.isnan(ours[query]) or np.isnan(theirs[query])}
    used = common if undefined else common - lost
    pairs = [(np.nan_to_num(ours[query]), np.nan_to_num(theirs[query])) for query in used]
    signs = [np.sign(one - other) for one, other in pairs]
    alone = {*ours} ^ {*theirs}
    counts = (signs.count(1), signs.count(0), signs.count(-1), len(used), len(alone), len(lost))
    return (day, metric, *(pytest.approx(sum(side) / len(used)) for side in zip(*pairs, strict=True)), *counts)


def test_systems_of_values_against_saved_ones() -> None:
    """A query that one of several systems has no number of is unpaired for that one only."""
    frame = pl.DataFrame({"s": [*"xxxyy"], "query": [*"abcab"], "rr": [1.0, 1.0, 1.0, 0.5, 0.5]})
    got = frame.irm(system="s", value="rr").compare(baseline=saved()).select("s", "n", "n_unpaired", "n_undefined")
    assert got.rows() == [("x", 3, 0, 0), ("y", 2, 1, 0)]


def test_a_segment_that_is_called_system() -> None:
    """A column called system that is named as a segment is no system of the baseline."""
    frames = (this().with_columns(system=pl.Series([*"uuv"])), saved(system=[*"uuv"]))
    got = frames[0].irm(by="system").compare("rr", baseline=frames[1])
    assert got.select("system", "baseline", "n").rows() == [("u", "saved", 2), ("v", "saved", 0)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_score_column_per_system_against_saved_numbers(kind: str) -> None:
    """Each column is a system, and is compared with the saved one, which may be called as one of them."""
    log = answered().filter(pl.col("score").is_not_null()).with_columns(dense=-pl.col("score"))
    kept = IRM(log, doc="doc", score="score").per_query("map")
    got = as_polars(IRM(as_kind(log, kind), doc="doc", score=["score", "dense"]).compare("map", baseline=kept, **FEW))
    assert got.select("system", "baseline").rows() == [("dense", "saved"), ("score", "saved")]
    expected = IRM(log, doc="doc", score=["score", "dense"]).compare("map", baseline="score", **FEW)
    same(got[:1], expected, ("baseline", *FAMILY))
    again = IRM(log, doc="doc", score=["score", "dense"]).per_query("map").irm(value="value", system="system")
    same(again.compare(baseline="score", **FEW), expected, ("n_undefined",))


def test_lists_against_saved_numbers() -> None:
    """A frame with a row per query is compared as any other; one that has no query is not, as rows have no names."""
    rows = pl.DataFrame({"id": ["a", "b", "c"], "doc": [["x", "y"], ["y", "x"], ["x"]], "relevant": [["x"]] * 3})
    row = rows.irm(query="id").compare("rr", baseline=saved()).row(0, named=True)
    assert (row["n"], row["value"], row["baseline_value"]) == (3, pytest.approx(2.5 / 3), pytest.approx(1.75 / 3))
    unnamed = rows.drop("id").irm
    said = error(lambda: unnamed.compare("rr", baseline=unnamed.per_query("rr")), ColumnError)
    assert said.startswith("baseline: the frame has no query, and its row numbers do not match those of another frame;")


def test_a_frame_without_rows_against_saved_numbers() -> None:
    """Every saved query is then one that the frame does not have; a frame without rows has no systems."""
    row = this().clear().irm.compare("rr", baseline=saved()).row(0, named=True)
    assert (row["value"], row["n"], row["n_unpaired"]) == (None, 0, 3)
    days = this().clear().with_columns(day=pl.lit("mo")).irm(by="day")
    assert "1 saved segment is not in the frame" in error(lambda: days.compare("rr", baseline=saved(day=["mo"] * 3)))
    named = this().clear().with_columns(s=pl.lit("x")).irm(system="s")
    assert error(lambda: named.compare("rr", baseline=saved())) == "s has no systems to compare with a baseline"
    nothing = saved().clear().with_columns(query=pl.lit("a"))
    assert "the frame has no rows, and so no metrics" in error(lambda: this().irm.compare("rr", baseline=nothing))
    empty = this().irm.compare("rr", baseline=saved().clear().select("query", rr="value")).row(0, named=True)
    assert (empty["n"], empty["n_unpaired"]) == (0, 3)


# errors of a saved baseline


def test_a_baseline_of_several_systems() -> None:
    """One number is needed per query: several systems are an error that names them."""
    two = pl.concat([saved(system=["x"] * 3), saved(system=["y"] * 3)])
    said = error(lambda: this().irm.compare("rr", baseline=two))
    assert said == (
        "baseline: system: it has several systems, 'x', 'y', and each query is compared with one number; "
        "keep the rows of one system"
    )
    assert this().irm.compare("rr", baseline=two.filter(system="y"))["baseline"].to_list() == ["y"]


# audit


def turned(shared: int, kind: str = "log") -> dict[str, tuple[str, int, float]]:
    """Findings about ten queries beside a baseline of ten, some of which are the same."""
    queries = pl.DataFrame({"query": [f"q{i}" for i in range(10)]})
    kept = pl.DataFrame({"query": [f"q{i}" for i in range(10 - shared, 20 - shared)]}).with_columns(rr=0.5)
    log = (
        queries.with_columns(score=1.0, grade=1).irm if kind == "log" else queries.with_columns(rr=1.0).irm(value="rr")
    )
    told = log.audit(baseline=kept).filter(pl.col("message").str.contains("compare()", literal=True))
    return {row["check"]: (row["severity"], row["n"], row["share"]) for row in told.iter_rows(named=True)}


@pytest.mark.parametrize("kind", ["log", "values"])
def test_an_audit_says_how_many_queries_turned_over(kind: str) -> None:
    """Queries that one side has alone are counted; where most of them are, that is a warning, or an error."""
    alone = ("queries without a saved number", "queries of the baseline alone")
    assert turned(10, kind) == {}
    assert turned(6, kind) == dict.fromkeys(alone, ("info", 4, 0.4))
    most = "a baseline most of whose queries turned over"
    assert turned(4, kind) == {most: ("warning", 6, 0.6)} | dict.fromkeys(alone, ("info", 6, 0.6))
    other = "a baseline with other queries"
    assert turned(0, kind) == {other: ("error", 10, 1.0)} | dict.fromkeys(alone, ("info", 10, 1.0))


def test_a_frame_that_grew_is_not_turned_over() -> None:
    """The share of common queries is that of the side that has fewer."""
    many = pl.DataFrame({"query": [*"abcdefghijkl"], "score": 1.0, "grade": 1})
    told = many.irm.audit(baseline=saved()).filter(pl.col("check").str.contains("baseline|saved"))
    assert told.select("check", "severity", "n").rows() == [("queries without a saved number", "info", 9)]


def test_an_audit_of_bad_rows_beside_a_stream() -> None:
    """A baseline that can be read once is read once, however often the audit leaves bad rows out."""
    log = this().with_columns(score=pl.Series([1.0, float("inf"), 1.0]))
    kept = saved().drop("k").to_arrow()
    told = log.irm.audit(baseline=kept.to_reader())
    assert told.filter(check="queries of the baseline alone")["n"].to_list() == [2]


def test_a_pivoted_baseline() -> None:
    """A wide frame of pandas whose queries are its index says reset_index(); a column per metric is then read."""
    pivoted = saved().to_pandas().pivot(index="query", columns="metric", values="value")
    said = (
        "baseline: it has no column 'query', the frame's query, among 'rr'; it is a level of the index: reset_index()"
    )
    assert error(lambda: this().irm.compare("rr", baseline=pivoted)).startswith(said)
    assert "reset_index()" in error(lambda: pivoted.irm(value="rr").evaluate())
    same(this().irm.compare("rr", baseline=pivoted.reset_index()), this().irm.compare("rr", baseline=saved()))


def latencies(name: str = "ms", *, long: bool = False) -> pl.DataFrame:
    """A number that is no metric of ours, of four queries, in a column called so or in rows that say so."""
    frame = pl.DataFrame({"query": [1, 2, 3, 4], name: [10.0, 20.0, 30.0, 40.0]})
    return frame.unpivot([name], index="query", variable_name="metric") if long else frame


@pytest.mark.parametrize("systems", ["ab", "abc"])
def test_numbers_that_are_no_metric_of_ours_have_intervals(systems: str) -> None:
    """Those of one that is ours without ends: what a number may be at most is not known of them."""
    ms = np.random.default_rng(5).random((len(systems), 8)).ravel()
    frame = pl.DataFrame({"system": np.repeat([*systems], 8), "query": [*range(8)] * len(systems), "ms": ms})
    found, dcg = (IRM(frame.rename({"ms": name}), system="system", value=name).compare() for name in ("ms", "dcg@5"))
    assert found["ci_low"].null_count() == 0
    assert_frame_equal(found.drop("metric", "k"), dcg.drop("metric", "k"))


@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas", "pyarrow"])
@pytest.mark.parametrize("long", [False, True])
def test_an_audit_reads_a_baseline_of_other_numbers_as_compare_does(kind: str, long: bool) -> None:
    """What compare() takes as the saved numbers of a metric that is not ours, an audit takes too, long or wide."""
    here = IRM(as_kind(latencies(long=long), kind), value="value" if long else "ms")
    kept = latencies().filter(pl.col("query") > 1)
    for baseline in (kept, as_kind(kept, kind), latencies(long=True)[1:], kept.irm(value="ms")):
        assert as_polars(here.compare(baseline=baseline))["n_unpaired"].to_list() == [1]
        told = as_polars(here.audit(baseline=baseline)).filter(check="queries without a saved number")
        assert told["n"].to_list() == [1]
    for verb in (IRM.compare, IRM.audit):
        said = error(lambda verb=verb: verb(here, baseline=latencies("latency")))  # type: ignore[misc]
        assert said.startswith("baseline: nothing has the numbers of 'ms' among 'query', 'latency'; it has to be what")


def test_an_audit_needs_no_baseline_of_every_metric() -> None:
    """Queries are looked at where a baseline has some of the metrics; compare() names the one that is not there."""
    both = latencies().with_columns(rr=0.5).irm(value=["rr", "ms"])
    assert "saved number" not in str(both.audit(baseline=latencies())["check"].to_list())
    assert both.compare("ms", baseline=latencies())["n"].to_list() == [4]
    assert "value= has no numbers of 'rr'; it has 'ms'" in error(lambda: both.compare(baseline=latencies()))


def test_a_saved_column_with_another_name() -> None:
    """Numbers of two names are not taken for one metric: the error says which column to rename."""
    now, kept = latencies().irm(value="ms"), latencies("latency")
    said = "baseline: value= has no numbers of 'ms'; it has 'latency'; if they are one metric, rename 'latency' to 'ms'"
    assert error(lambda: now.compare(baseline=kept.irm(value="latency")), UnknownNameError) == said
    assert error(lambda: this().irm.compare("rr", baseline=kept.irm(value="latency"))).endswith("'latency' to 'rr'")
    assert now.compare(baseline=kept.rename({"latency": "ms"}))["n"].to_list() == [4]
    two = kept.with_columns(cost=1.0).irm(value=["latency", "cost"])
    assert error(lambda: now.compare(baseline=two)).endswith("it has 'latency', 'cost'")


@pytest.mark.parametrize("undefined", [None, "null", "zero", "one"])
@pytest.mark.parametrize("kind", KINDS)
def test_undefined_values_stay_undefined(kind: str, undefined: Any) -> None:
    """Numbers of per_query() that stand for undefined values are counted, and undefined= says what they count as."""
    rows = pl.DataFrame({"query": [*"aabbcc"], "score": [2.0, 1.0] * 3, "grade": [0, 0, 1, 0, 0, 1]})
    saved = IRM(rows).per_query("ndcg@10", "rr")
    expected, ours = IRM(rows, undefined=undefined), IRM(as_kind(saved, kind), value="value", undefined=undefined)
    for call in (
        lambda irm: irm.evaluate("ndcg@10", "rr"),
        lambda irm: irm.evaluate("rr", ci=0.9, resamples=50),
        lambda irm: irm.per_query("rr", "ndcg@10"),
    ):
        found = as_polars(call(ours)).drop("n_unanswered", strict=False)
        assert_frame_equal(found, as_polars(call(expected)), check_dtypes=False)
    compared = IRM(as_kind(rows, kind), undefined=undefined).compare("rr", baseline=saved)
    assert as_polars(compared).select("n", "n_undefined").rows() == [(2, 1) if undefined == "null" else (3, 1)]


def test_undefined_values_of_saved_numbers_raise() -> None:
    """undefined="raise" counts the queries whose number stands for an undefined value; other columns are no marks."""
    rows = pl.DataFrame({"query": [*"aabb"], "score": [2.0, 1.0] * 2, "grade": [0, 0, 1, 0]})
    saved = IRM(rows).per_query("rr")
    said = error(lambda: IRM(saved, value="value", undefined="raise").evaluate("rr"))
    assert said == "rr is undefined for 1 of 2 queries"
    texts = saved.with_columns(undefined=pl.lit("no"))
    assert "undefined: beside value= it says whether a number stands for" in error(
        lambda: IRM(texts, value="value").evaluate("rr")
    )
    two = saved.select("query", "undefined", rr="value", ap="value")
    assert IRM(two, value=["rr", "ap"]).evaluate("rr")["n_undefined"].to_list() == [0]  # of which metric is not said


def test_numbers_that_nobody_names_are_offered() -> None:
    """A frame as per_query() returns it, without value=, is recognised."""
    saved = IRM(pl.DataFrame({"query": [1, 1], "score": [2.0, 1.0], "grade": [0, 1]})).per_query("rr")
    said = error(lambda: IRM(saved).evaluate("rr"), ColumnError)
    assert said.endswith("the frame has numbers of queries, as per_query() returns them; pass value='value'")
    assert IRM(saved, value="value").evaluate("rr")["value"].to_list() == [0.5]


def test_systems_that_nobody_names_repeat_their_queries() -> None:
    """The error is about the numbers, which system= tells apart, and not about who answered."""
    rows = pl.DataFrame({"query": [1, 1, 2], "run": [*"aba"], "score": 1.0, "grade": 1})
    saved = IRM(rows, system="run").per_query("rr")
    assert not saved["answered"].all()
    said = error(lambda: IRM(saved.drop("run"), value="value").evaluate("rr"))
    assert said.startswith("value: 2 of 4 rows repeat a metric of their query")
    assert "system=" in said
