"""Dask: frames are measured where their partitions are, with the numbers of pandas; answers are frames of Dask."""

import pickle
from typing import Any

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from cloudpickle import dumps

import frame_metrics
from frame_metrics import (
    IRM,
    BadRowsError,
    BadValueError,
    ColumnError,
    KernelError,
    NotComputableError,
    StrangeIdsError,
)
from frame_metrics import metric as own_metric
from frame_metrics.inputs import Array, FullRanking
from helpers import error, found_by_name
from inside import Sent, of_version, rows_brought


def _log(seed: int = 0, n: int = 400) -> pd.DataFrame:
    """Rows of 40 queries on three days, of which one is null, in any order, some not judged and some not retrieved."""
    random = np.random.default_rng(seed)
    query = random.integers(0, 40, n)
    rows = pd.DataFrame(
        {
            "query": [f"q{i}" for i in query],
            "doc": [f"d{i}" for i in range(n)],
            "score": random.random(n).round(2),
            "grade": [[0.0, 1.0, 2.0, np.nan][i % 4] for i in range(n)],
            "day": [["mo", "tu", None][i % 3] for i in query],
            "user": query // 4,
            "words": ["wide"] * n,
        }
    )
    rows.loc[rows["grade"].notna() & (random.random(n) < 0.05), "score"] = np.nan
    return rows


QRELS = pd.DataFrame(
    {"query": [f"q{i}" for i in range(45)] * 2, "doc": [f"d{i}" for i in range(90)], "grade": [1.0, 2.0, 0.0] * 30}
)


def _same(ours: Any, theirs: pd.DataFrame, *by: str) -> None:
    """Compare a result of Dask with one of pandas: rows in any order where ``by`` names what orders them."""
    assert isinstance(ours, dd.DataFrame)
    found, theirs = ours.compute(), dd.from_pandas(theirs, npartitions=1).compute()  # whose text has Dask's type
    if by:
        found, theirs = (one.sort_values(list(by), ignore_index=True) for one in (found, theirs))
    pd.testing.assert_frame_equal(found, theirs, check_dtype=False, rtol=1e-12, atol=1e-12)


def _same_but_examples(ours: Any, theirs: pd.DataFrame) -> None:
    """Compare two audits but for the first of what was found: rows in partitions have no order."""
    said = ["check", "severity", "n", "share"]
    _same(ours[said], theirs[said], "check")


def test_the_accessor_is_official() -> None:
    """Dask knows the accessor, which stands on its frames once both libraries are imported."""
    assert dd.DataFrame.irm is IRM
    assert "irm" in dd.DataFrame._accessors
    frame = dd.from_pandas(_log(), npartitions=2)
    assert found_by_name(frame.irm) == ["query", "doc", "score", "grade"]


@pytest.mark.slow
@pytest.mark.parametrize(("npartitions", "shuffled"), [(3, True), (1, True), (3, False), (17, True)])
def test_values_are_those_of_pandas(npartitions: int, shuffled: bool) -> None:
    """Values, intervals and totals are those of the same rows in pandas, in any order and number of partitions."""
    rows = _log()
    rows = rows.sample(frac=1, random_state=1) if shuffled else rows.sort_values("query")
    ours, theirs = (one.irm(by="day", cluster="user") for one in (dd.from_pandas(rows, npartitions, sort=False), rows))
    asked: Any = ("ndcg@10", "map", "precision@3", "num_rel")
    given: Any = {"ci": 0.9, "margins": True, "average": ["macro", "median"]}
    _same(ours.evaluate(*asked, **given), theirs.evaluate(*asked, **given))
    _same(ours.evaluate("recall@5", average="micro"), theirs.evaluate("recall@5", average="micro"))
    _same(ours.per_query(*asked), theirs.per_query(*asked), "query", "metric")


def test_a_summary_is_a_frame_of_dask() -> None:
    """Its sentences about systems are those of the same rows in pandas; the audit's examples have no order."""
    rows = pd.concat([_log(n).assign(run=run) for n, run in enumerate("ba")], ignore_index=True)
    ours, theirs = (one.irm(system="run").summary("ndcg") for one in (dd.from_pandas(rows, npartitions=2), rows))
    said = ["kind", "metric", "run", "baseline", "value", "difference", "ci_low", "p_adjusted", "n"]
    _same(ours[ours["kind"] != "audit"][said], theirs[theirs["kind"] != "audit"][said].reset_index(drop=True))


@pytest.mark.slow
@pytest.mark.parametrize("npartitions", [3, 1])
@pytest.mark.parametrize("kind", ["pandas", "polars", "dask"])
def test_judgments_beside(npartitions: int, kind: str) -> None:
    """Judgments of any kind are joined in the partitions, also those of queries without results."""
    rows = _log().drop(columns="grade").dropna(subset="score")
    qrels: Any = {"pandas": QRELS, "polars": pl.from_pandas(QRELS), "dask": dd.from_pandas(QRELS, npartitions=2)}[kind]
    ours = dd.from_pandas(rows, npartitions=npartitions).irm.judge(qrels)
    theirs = IRM(rows).judge(QRELS)
    _same(ours.evaluate("ndcg", "recall@5", ci=0.95), theirs.evaluate("ndcg", "recall@5", ci=0.95))
    _same(ours.per_query("num_rel"), theirs.per_query("num_rel"), "query")
    _same(ours.explain("ndcg", query="q3"), theirs.explain("ndcg", query="q3"))
    _same(ours.bounds("rr", of="ties"), theirs.bounds("rr", of="ties"))
    _same_but_examples(ours.audit(), theirs.audit())


@pytest.mark.parametrize("kind", ["int32", "uint64"])
def test_ids_beside_of_another_width(kind: str) -> None:
    """Documents whose integers are of another type than those of the judgments pass between processes."""
    rows = pd.DataFrame({"query": ["a", "a"], "run": ["u", "v"], "doc": pd.Series([1, 2], dtype=kind), "score": 1.0})
    qrels = pd.DataFrame({"query": ["a", "b"], "doc": [1, -1], "grade": 1})
    both = (one.irm(system="run", catalogue=100).judge(qrels) for one in (dd.from_pandas(rows, npartitions=1), rows))
    ours, theirs = both
    _same(ours.evaluate("catalogue_coverage@2"), theirs.evaluate("catalogue_coverage@2"), "run")
    assert ours.evaluate("catalogue_coverage@2").compute()["value"].tolist() == [0.01, 0.01]
    _same(ours.compare("catalogue_coverage@2"), theirs.compare("catalogue_coverage@2"))


@pytest.mark.slow
@pytest.mark.parametrize("npartitions", [3, 1, 7])
def test_systems(npartitions: int) -> None:
    """Systems, of rows of their own in any partitions or of columns of scores, are compared as in pandas."""
    rows = pd.concat([_log(seed).assign(run=run) for seed, run in enumerate(("b", None, "a"))], ignore_index=True)
    rows = rows.drop_duplicates(["run", "query", "doc"]).sample(frac=1, random_state=2)
    ours = dd.from_pandas(rows, npartitions=npartitions, sort=False).irm(system="run")
    theirs = IRM(rows, system="run")
    _same(ours.evaluate("map", "rr"), theirs.evaluate("map", "rr"), "run", "metric")
    given: Any = {"baseline": "a", "resamples": 200}
    _same(ours.compare("map", **given), theirs.compare("map", **given), "run")
    _same(ours.explain("ap", query="q3"), theirs.explain("ap", query="q3"), "run", "rank", "doc")
    _same(ours.bounds("ndcg@3", of="ties"), theirs.bounds("ndcg@3", of="ties"), "run")
    _same_but_examples(ours(by="day").audit(), theirs(by="day").audit())
    both = _log().assign(other=lambda own: own["score"].rank(pct=True))
    ours, theirs = (IRM(one, score=["score", "other"]) for one in (dd.from_pandas(both, npartitions=npartitions), both))
    _same(ours.evaluate("ndcg@3"), theirs.evaluate("ndcg@3"))


def _runs(queries: int = 40) -> pd.DataFrame:
    """Rows of three systems, one of them null; one lacks results of some queries, and users have sizes."""
    rows = pd.concat([_log(seed).assign(run=run) for seed, run in enumerate(("b", None, "a"))], ignore_index=True)
    rows = rows.drop_duplicates(["run", "query", "doc"])
    rows = rows[(rows["run"] != "a") | ~rows["query"].isin(["q3", "q13", "q33"])]
    more = [rows.assign(query=rows["query"] + at * "x") for at in range(queries // 40)]
    rows = pd.concat(more, ignore_index=True)
    return rows.assign(size=rows["user"] + 5.0, half=rows["user"] % 2)


MEANS: dict[str, Any] = {
    "means": lambda irm: irm.evaluate("ndcg@3", "rr", "num_rel", "bpref"),
    "segments": lambda irm: irm(by=["day", "half"]).evaluate("ndcg", "precision@3", margins=True),
    "averages": lambda irm: irm(by="day").evaluate(
        "precision@3", "recall", average=["macro", "gmean", "micro", "rows"]
    ),
    "weights": lambda irm: irm(weight="size").evaluate("map", "rr", "gm_map", average=["weighted", "macro"]),
    "null": lambda irm: irm(undefined="null", unjudged="drop", by="day").evaluate("ndcg", "rr", layout="wide"),
    "sizes": lambda irm: irm(collection_size=500).evaluate("specificity@3", "tn", average="micro"),
    "curve": lambda irm: irm(by="day").curve("ndcg@k", "recall@k", cutoffs=[1, 5]),
}


@pytest.mark.parametrize("name", MEANS)
@pytest.mark.parametrize("judged", [False, True])
def test_partitions_send_sums(name: str, judged: bool) -> None:
    """Means are those of pandas, and what comes here of a partition, a row for each segment, grows with no query."""
    brought: dict[int, list[int]] = {}
    for queries in (240, 480):
        rows = _runs(queries)
        log = rows.drop(columns="grade").dropna(subset="score") if judged else rows
        qrels = rows.dropna(subset="grade")[["query", "doc", "grade"]].drop_duplicates(["query", "doc"])
        alone = pd.DataFrame({"query": ["of none"], "doc": ["d1"], "grade": [1.0]})
        qrels = qrels if name == "weights" else pd.concat([qrels, alone])  # whose weight nobody says
        frames = dd.from_pandas(log, npartitions=3, sort=False), log
        ours, theirs = (IRM(one, system="run").judge(qrels) if judged else IRM(one, system="run") for one in frames)
        with rows_brought() as brought[queries]:
            found = MEANS[name](ours)
        _same(found, MEANS[name](theirs))
    assert brought[240] == brought[480]
    assert sum(brought[240]) < 120


@pytest.mark.parametrize("given", [{}, {"unanswered": "drop"}, {"weight": "size"}])
def test_means_of_saved_numbers_send_sums(given: dict[str, Any]) -> None:
    """Means of numbers that were computed elsewhere are those of pandas, and what comes here grows with no query."""
    brought: dict[int, list[int]] = {}
    for queries in (240, 480):
        rows = _runs(queries)
        saved = IRM(rows, system="run", by="day").per_query("rr", "ndcg", layout="wide")
        saved["size"] = saved["query"].map(rows.groupby("query")["size"].first())
        saved.loc[::7, "rr"] = None
        roles: Any = {"system": "run", "by": "day", "value": ["rr", "ndcg"], "label": None, "grade": None} | given
        ours, theirs = (IRM(one, **roles) for one in (dd.from_pandas(saved, npartitions=3, sort=False), saved))
        with rows_brought() as brought[queries]:
            found = ours.evaluate(average=["macro", "gmean"], margins=True)
        _same(found, theirs.evaluate(average=["macro", "gmean"], margins=True))
    assert brought[240] == brought[480]


def test_zeros_that_one_system_has_lost_are_refused() -> None:
    """Where no id of digits begins with 0, or all have one length, sums come here and no query."""
    rows = _runs(240)
    rows["query"] = rows["query"].str.lstrip("q").str.zfill(3)
    later = (rows["run"] == "b") & (rows["query"] < "120")
    lost = rows.assign(query=rows["query"].where(~later, rows["query"].str.lstrip("0")))
    with pytest.raises(StrangeIdsError, match="some queries of run = b are those of other systems"):
        dd.from_pandas(lost, npartitions=3, sort=False).irm(system="run").evaluate("rr")
    lacking = rows[~later | (rows["query"] > "009")]
    ours, theirs = (one.irm(system="run") for one in (dd.from_pandas(lacking, npartitions=3, sort=False), lacking))
    with rows_brought() as brought:
        _same(ours.evaluate("rr"), theirs.evaluate("rr"))
    assert len(brought) == 1
    assert brought[0] < 30


@pytest.mark.parametrize("apart", [0, 5, 10])
def test_segments_of_few_queries(apart: int) -> None:
    """Queries of a segment that has few in a partition come as they are, which is less than sums, beside those."""
    rows = _runs()
    rows["user"] = rows["user"].where(rows["user"] < apart, -1)
    ours, theirs = (IRM(one, system="run", by="user") for one in (dd.from_pandas(rows, npartitions=3), rows))
    with rows_brought() as brought:
        for given in ({}, {"ci": 0.9, "resamples": 5}):
            _same(*(one.evaluate("rr", "ndcg", margins=True, **given) for one in (ours, theirs)))
    sums, every = brought
    assert sums < every if apart < 10 else sums == every


CHANCES = {rank: 1 / rank for rank in range(1, 99)}
OF_EACH: dict[str, Any] = {
    "intervals": lambda irm: irm.evaluate("rr", ci=0.9, resamples=9),
    "quantiles": lambda irm: irm.evaluate("rr", "ap", average=["macro", "median", "q0.9"]),
    "of all lists": lambda irm: irm(catalogue=1000).evaluate("rr", "catalogue_coverage@2"),
    "effective sizes": lambda irm: irm(score=None, rank="place", propensity=CHANCES).evaluate("dcg@2"),
}


@pytest.mark.parametrize("name", OF_EACH)
def test_what_needs_single_queries(name: str) -> None:
    """Where averages are no sums a row for each query and system comes here, and the numbers are those of pandas."""
    rows = _runs()
    rows["place"] = rows.groupby(["run", "query"], dropna=False)["score"].rank("first")
    ours, theirs = (IRM(one, system="run") for one in (dd.from_pandas(rows, npartitions=3), rows))
    with rows_brought() as brought:
        _same(OF_EACH[name](ours), OF_EACH[name](theirs))
    assert brought[0] >= rows.groupby(["run", "query"], dropna=False).ngroups


@pytest.mark.parametrize("undefined", ["raise", None])
def test_errors_of_the_whole_frame(undefined: str | None) -> None:
    """What is wrong with the queries of all partitions together is said of all of them, as in pandas."""
    rows = _runs().sort_values("run", ignore_index=True)
    rows.loc[rows["query"] < "q2", "grade"] = 0.0
    if undefined is None:
        rows["query"] = rows["run"].fillna("c") + rows["query"]  # so that no two systems share one
    both = (IRM(one, system="run", undefined=undefined) for one in (dd.from_pandas(rows, npartitions=3), rows))
    said, expected = (error(lambda one=one: one.evaluate("rr")) for one in both)
    assert said == expected
    assert f"{'is undefined for' if undefined else 'and no other system has results of any of them'}" in said


READ: list[int] = []  # partitions
VERBS: dict[str, Any] = {
    "evaluate": lambda irm: irm.evaluate("ndcg", "rr", ci=0.9),
    "per_query": lambda irm: irm.per_query("ndcg"),
    "compare": lambda irm: irm.compare("ndcg", resamples=9),
    "arms": lambda irm: irm(system=None, arm="run").change("ndcg", test="z"),
    "explain": lambda irm: irm.explain("ndcg", query="q3"),
    "ties": lambda irm: irm.bounds("ndcg", of="ties"),
    "unjudged": lambda irm: irm.bounds("rr", of="unjudged"),
    "differences": lambda irm: irm.bounds("recall@3", "rr", of="unjudged", baseline="a"),
    "curve": lambda irm: irm.curve("ndcg@k"),
    "thresholds": lambda irm: irm(system=None, by="run", duplicates="first").thresholds("f1"),
    "audit": lambda irm: irm.audit(),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("judged", [False, True])
def test_partitions_are_read_once(verb: str, judged: bool) -> None:
    """No verb computes a partition twice, to know the systems or which judged queries have no results."""
    rows = pd.concat([_log(seed).assign(run=run) for seed, run in enumerate("ba")], ignore_index=True)
    rows = rows.drop_duplicates(["run", "query", "doc"])
    qrels = rows.dropna(subset="grade")[["query", "doc", "grade"]].drop_duplicates(["query", "doc"])
    rows = rows[(rows["run"] != "a") | (rows["query"] != "q3")]  # which a has no results of
    rows = rows.drop(columns="grade").dropna(subset="score") if judged else rows
    parts = [rows.iloc[at::5] for at in range(5)]
    READ.clear()

    def part(at: int) -> pd.DataFrame:
        READ.append(at)
        return parts[at]

    ours, theirs = (
        IRM(frame, system="run").judge(qrels) if judged else IRM(frame, system="run")
        for frame in (dd.from_map(part, range(5), meta=rows.iloc[:0]), rows)
    )
    with dask.config.set(scheduler="synchronous"):
        found = VERBS[verb](ours).compute()
    assert sorted(READ) == [0, 1, 2, 3, 4]
    assert len(found) == len(VERBS[verb](theirs))


CASES = pd.DataFrame(
    {
        "label": [1, 0, 1, 0, 1, 0, 0, 1] * 25,
        "score": (np.arange(200) * 7919 % 97) / 97,
        "predicted": [1, 0, 0, 0, 1, 1, 0, 1] * 25,
        "day": (["mo"] * 3 + [None] * 2) * 40,
    }
)


@pytest.mark.parametrize("npartitions", [3, 1, 7])
def test_rows_without_a_query(npartitions: int) -> None:
    """Decisions and scores are counted in the partitions: values, intervals and tables are those of pandas."""
    ours, theirs = (IRM(one, by="day") for one in (dd.from_pandas(CASES, npartitions=npartitions), CASES))
    for ask in (
        lambda irm: irm.evaluate("f1", "recall", "mcc", ci=0.9, margins=True),
        lambda irm: irm(predicted=None).evaluate("roc_auc", "lift(top=0.1)", ci=0.9),
        lambda irm: irm(predicted=None).best_threshold("f1"),
        lambda irm: irm(predicted=None).curve("roc"),
        lambda irm: irm(score=None).confusion(),
        lambda irm: irm(score=None).per_class("f1"),
        lambda irm: irm(score=None).audit(),
        lambda irm: irm(predicted=None).compare("roc_auc", against="chance"),
    ):
        _same(ask(ours), ask(theirs))
    both = CASES.assign(id=CASES.index // 2, run=CASES.index % 2, label=CASES["label"].to_numpy()[CASES.index // 2])
    ours, theirs = (IRM(one, doc="id", system="run") for one in (dd.from_pandas(both, npartitions=npartitions), both))
    _same(ours(score=None).compare("accuracy", "f1"), theirs(score=None).compare("accuracy", "f1"))
    _same(ours(predicted=None).compare("roc_auc"), theirs(predicted=None).compare("roc_auc"))


def test_rows_of_partitions_that_cannot_be_read_are_not_named_by_their_places_there() -> None:
    """An audit counts the rows whose lists differ in length, and gives none as an example, as they have no numbers."""
    rows = pd.DataFrame({"query": [1, 2, 3], "doc": [["a", "b"], ["a"], ["a"]], "score": [[0.5, 0.2]] * 3})
    kinds = {"doc": pd.ArrowDtype(pa.list_(pa.string())), "score": pd.ArrowDtype(pa.list_(pa.float64()))}
    lists = rows.assign(label=rows["score"].map(lambda _: [1, 0])).astype(kinds | {"label": kinds["score"]})
    found = dd.from_pandas(lists, npartitions=1).irm.audit().compute()
    assert found["check"].to_list() == ["rows that have lists of different lengths"]
    assert found["n"].to_list() == [2]
    assert found["example"].isna().all()


def test_empty_partitions() -> None:
    """Partitions without rows, and a frame that has none, are as in pandas."""
    rows = _log()
    frame = dd.from_pandas(rows, npartitions=5)
    few = frame[frame["query"] == "q3"]
    _same(few.irm.evaluate("ndcg"), rows[rows["query"] == "q3"].irm.evaluate("ndcg"))
    _same(frame[frame["query"] == "no"].irm.evaluate("ndcg"), rows[rows["query"] == "no"].irm.evaluate("ndcg"))


KEYS: dict[str, Any] = {
    "float": [0.0, -0.0, 1.5],
    "moment": pd.to_datetime(["2024-03-01", "2024-03-01", "2024-03-02"]),
    "category": pd.Categorical(["a", "a", "b"], categories=["b", "a", "c"]),
    "nullable": pd.array([1, 1, 2], dtype="UInt8"),
    "arrow": pd.array([1, 1, 2], dtype="int16[pyarrow]"),
    "boolean": [True, True, False],
}


@pytest.mark.parametrize("name", KEYS)
def test_keys_keep_their_types(name: str) -> None:
    """Rows of one query find each other whatever its type is, and results have the types of the frame."""
    rows = pd.DataFrame({"key": KEYS[name], "score": [1.0, 2.0, 3.0], "label": [1, 0, 1]})
    found = dd.from_pandas(rows, npartitions=3).irm(query="key").per_query("rr", layout="wide").compute()
    expected = rows.irm(query="key").per_query("rr", layout="wide")
    assert found["key"].dtype == expected["key"].dtype
    assert sorted(found["rr"]) == [0.5, 1.0]
    pd.testing.assert_frame_equal(*(one.sort_values("rr", ignore_index=True) for one in (found, expected)))


def test_only_the_needed_columns_are_computed() -> None:
    """Dask computes each needed value, and no other column at all."""
    used: list[Any] = []
    unused: list[Any] = []

    def noted(values: pd.Series, seen: list[Any]) -> pd.Series:
        seen.extend(values)
        return values

    frame = dd.from_pandas(_log(), npartitions=3)
    frame = frame.assign(
        grade=frame["grade"].map_partitions(noted, used, meta=("grade", float)),
        words=frame["words"].map_partitions(noted, unused, meta=("words", "string[pyarrow]")),
    )
    assert len(frame.irm.evaluate("ndcg").compute()) == 1
    assert (len(used), unused) == (400, [])


@pytest.mark.slow
def test_other_processes() -> None:
    """Partitions may be worked on in other processes: what is done there can be sent to them."""
    rows = _log()
    with dask.config.set(scheduler="processes", num_workers=2):
        ours = dd.from_pandas(rows, npartitions=3).irm(scale=None, by="day").judge(QRELS, several="mean")
        _same(ours.evaluate("ndcg", "ap@3", ci=0.9), rows.irm(by="day").judge(QRELS).evaluate("ndcg", "ap@3", ci=0.9))
        _same_but_examples(ours.audit(), rows.irm(by="day").judge(QRELS, several="mean").audit())


def test_work_of_another_version() -> None:
    """Work that arrives where another version is installed is no number but an error with both; it may travel on."""
    sent = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(Sent(len, dumps)))))
    assert sent([1, 2]) == 2
    here = frame_metrics.__version__
    with of_version("0.0.7"):
        other = pickle.loads(pickle.dumps(Sent(len, dumps)))
    said = error(lambda: other([1, 2]), NotComputableError)
    assert said.startswith(f"a worker has frame_metrics {here}, and was sent work by frame_metrics 0.0.7; ")


@pytest.mark.slow
def test_workers_of_another_version() -> None:
    """Processes with another version raise instead of measuring."""
    frame = dd.from_pandas(_log(), npartitions=2)
    with dask.config.set(scheduler="processes", num_workers=1), of_version("0.0.7"):
        assert "frame_metrics 0.0.7" in error(lambda: frame.irm.evaluate("rr"), NotComputableError)


def test_columns_that_are_called_oddly() -> None:
    """Columns of an array, which are called by numbers, and one called self come back as they are called."""
    rows = pd.DataFrame({0: [1, 1, 2], 1: [1.0, 2.0, 3.0], 2: [1, 0, 1]})
    found = IRM(dd.from_pandas(rows, npartitions=2), query=0, score=1, label=2).per_query("rr", layout="wide")
    assert found.compute().to_dict("list") == {0: [1, 2], "rr": [0.5, 1.0], "answered": [True, True]}
    named = dd.from_pandas(rows.rename(columns={0: "self"}), npartitions=2)
    assert [*IRM(named, query="self", score=1, label=2).per_query("rr").compute()["self"]] == [1, 2]


# Errors


def _frame(**columns: Any) -> Any:
    rows = {"query": ["a", "a", "b"], "score": [1.0, 2.0, 3.0], "label": [1, 0, 1]} | columns
    return dd.from_pandas(pd.DataFrame(rows), npartitions=2)


def test_bad_rows() -> None:
    """Bad values in a partition are an error about the frame's column."""
    said = error(lambda: _frame(score=[1.0, np.inf, 2.0]).irm.evaluate("rr"), BadRowsError)
    assert said.startswith("score: at least 1 row is infinite; ")


def test_a_column_that_is_not_there() -> None:
    """A column that is not there is told before anything is computed."""
    assert "there is no such column among" in error(lambda: _frame().irm(query="qid").evaluate("rr"), ColumnError)


def test_a_kernel_that_fails() -> None:
    """An error within a metric, in a partition, is the one that it is on one machine."""

    def failing(run: FullRanking) -> Array:
        """Fail."""
        raise ZeroDivisionError

    wrong = own_metric()(failing)
    said = error(lambda: _frame().irm.evaluate(wrong), KernelError)
    assert said == error(lambda: _frame().compute().irm.evaluate(wrong), KernelError)


def test_what_partitions_hold() -> None:
    """A column that holds in a partition what its type does not say is refused: ids would change."""
    with dask.config.set({"dataframe.convert-string": False}):
        frame = _frame(query=pd.Series([1, 2, "x"], dtype=object))
        said = error(lambda: frame.irm.evaluate("rr"), BadValueError)
    assert said == "query: the column is object, and a partition of it holds Int64; set its type with astype()"


def test_a_partition_that_lacks_a_column() -> None:
    """A column that the frame has, and a partition has not, is told: an error of verbs, a finding of the audit."""
    whole = pd.DataFrame({"query": [1, 1], "score": [1.0, 2.0], "grade": [0, 1]})
    parts = [whole, whole.drop(columns="grade")]
    told = "a partition has no column 'grade', and the frame has; give every partition all columns"
    frame = dd.from_map(lambda i: parts[i], [0, 1], meta=whole.iloc[:0])
    for call in (lambda irm: irm.evaluate("rr"), lambda irm: irm(query=None).evaluate("roc_auc")):
        assert error(lambda call=call: call(frame.irm), ColumnError) == told
    found = frame.irm.audit().compute()
    assert found[["check", "message"]].to_numpy().tolist() == [["data that cannot be read", told]]
    judged = dd.from_map(lambda i: parts[i], [0, 1], meta=whole.iloc[:0]).rename(columns={"score": "doc"})
    said = error(lambda: whole.assign(doc=1.0).irm.judge(judged).evaluate("rr"), ColumnError)
    assert said == told


def test_a_document_that_nobody_judged_yet_matches() -> None:
    """Ids that none of the judgments has are an error; one beside a missing grade is an id of the judgments."""
    log = pd.DataFrame({"query": [1, 1], "doc": ["x", "y"], "score": [2.0, 1.0]})
    apart = IRM(dd.from_pandas(log, npartitions=2))
    qrels = pl.DataFrame({"query": [1, 1], "doc": ["0x", "y"], "grade": [1, None]})
    _same(apart.judge(qrels).evaluate("rr"), IRM(log).judge(qrels).evaluate("rr"))
    strange = qrels.with_columns(doc=pl.lit("0") + pl.col("doc"))
    said = error(lambda: IRM(log).judge(strange).evaluate("rr"), BadValueError)
    assert said.startswith("doc: no id of the log is among those of the judgments")
    assert error(lambda: apart.judge(strange).evaluate("rr"), BadValueError) == said
    assert apart.judge(strange).audit().compute()["message"].tolist()[0] == said


def test_ids_with_other_leading_zeros() -> None:
    """They are refused as in memory, wherever the rows are; not if another partition has the judged query."""
    log = pd.DataFrame({"query": ["7", "7", "12"], "doc": ["1", "2", "3"], "score": [2.0, 1.0, 1.0]})
    queries = pl.DataFrame({"query": ["07", "12"], "doc": ["1", "3"], "grade": 1})
    docs = pl.DataFrame({"query": ["7", "12"], "doc": ["01", "3"], "grade": 1})
    for judged in (queries, docs):
        whole, apart = (IRM(one).judge(judged) for one in (log, dd.from_pandas(log, npartitions=2)))
        said = error(lambda irm=whole: irm.evaluate("rr"), StrangeIdsError)
        for verb in (apart.evaluate, apart.per_query):
            assert error(lambda verb=verb: verb("rr").compute(), StrangeIdsError) == said
    both = pd.concat([log, log.tail(1).assign(query="07")])
    _same(
        IRM(dd.from_pandas(both, npartitions=3)).judge(queries).evaluate("rr"), IRM(both).judge(queries).evaluate("rr")
    )


def test_categories_that_are_not_known() -> None:
    """Where Dask does not know the categories, and so their type, the error names what makes them known."""
    frame = _frame(day=pd.Categorical([1, 1, 2]))
    frame = frame.assign(day=frame["day"].cat.as_unknown())
    said = error(lambda: frame.irm(by="day").evaluate("rr"), BadValueError)
    assert said == "day: Dask does not know the column's categories; call categorize() first"
    assert frame.categorize().irm(by="day").evaluate("rr").compute()["day"].tolist() == [1, 2]


def test_what_needs_all_rows() -> None:
    """What is computed from all rows at once is refused, with the way out."""
    saved = dd.from_pandas(pd.DataFrame({"query": ["a", "b"], "value": [0.5, 1.0]}), npartitions=2)
    (said,) = IRM(saved, value="value").audit().compute()["message"]
    assert said == (
        "this is computed from all rows at once, and those of a dask.DataFrame are not here; give what its compute() "
        "returns, of the columns that are needed and of some queries"
    )


def test_no_rows_of_any_system() -> None:
    """A frame of which a filter leaves no row has no systems, as one in memory."""
    log = _log().assign(system="s")
    none = dd.from_pandas(log, npartitions=2).query("score > 7")
    found = none.irm(system="system").evaluate("rr").compute()
    assert len(found) == len(log[:0].irm(system="system").evaluate("rr")) == 0


@pytest.mark.parametrize("partitions", [1, 3, 17])
@pytest.mark.parametrize("per_query", [False, True])
def test_similarity_of_systems(partitions: int, per_query: bool) -> None:
    """Rankings are compared where they are, with a baseline that is named, and each two of them."""
    log = pd.concat([_log(seed).dropna(subset=["score"]).assign(run=run) for seed, run in enumerate("abc")])
    log["doc"] = [f"d{int(doc[1:]) % 40}" for doc in log["doc"]]
    log = log.drop_duplicates(["query", "run", "doc"], ignore_index=True)
    roles: dict[str, Any] = {"system": "run", "grade": None}
    of_dask = IRM(dd.from_pandas(log, npartitions=partitions, sort=False), **roles)
    asked = ("rbo", "jaccard@3", "kendall_tau")
    options: dict[str, Any] = {"baseline": "b", "per_query": per_query}
    keys = ["run", *["query"] * per_query, "metric"]
    _same(of_dask.similarity(*asked, **options), IRM(log, **roles).similarity(*asked, **options), *keys)
    options["baseline"] = None
    keys = ["run", "baseline", *keys[1:]]
    _same(of_dask.similarity(*asked, **options), IRM(log, **roles).similarity(*asked, **options), *keys)
    saved = log[log["run"] == "b"].drop(columns="run")
    assert error(lambda: of_dask.similarity("rbo", baseline=saved)).startswith("baseline= as a frame is compared with")


def test_an_ordered_dictionary_gives_classes_their_order() -> None:
    """Classes of an ordered dictionary of Arrow have its order in partitions too."""
    texts = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0]), pa.array(["z", "a", "m"]), ordered=True)
    plain = pa.table({"label": texts, "predicted": texts.take(pa.array([0, 2, 2, 1]))})
    frame = plain.to_pandas(types_mapper=pd.ArrowDtype)
    found = IRM(dd.from_pandas(frame, npartitions=2)).evaluate("kappa(weights='linear')").compute()
    assert found["value"].tolist() == frame.irm.evaluate("kappa(weights='linear')")["value"].tolist()
