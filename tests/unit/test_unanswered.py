"""Queries of which a system has no row: counted by every verb that averages, and left out by unanswered="drop"."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import duckdb
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from frame_metrics import IRM
from helpers import KINDS, as_kind, as_polars, odd
from inside import in_pieces
from refusals import check

COUNTS = ("n", "n_unpaired", "n_undefined", "n_unanswered")
SOME, MOST = "systems without rows for some queries", "systems without rows for most queries"


def shown(old: int, new: int) -> pl.DataFrame:
    """Return a log of two arms, which were asked the first ``old`` and ``new`` texts; each has its click at rank 1."""
    rows = [(arm, q, p, int(p == 1)) for arm, n in (("old", old), ("new", new)) for q in range(n) for p in (1, 2)]
    return pl.DataFrame(rows, schema=["arm", "query", "rank", "label"], orient="row")


PARTLY = pl.DataFrame(
    {
        "run": [*"aaaabbb"],
        "query": [1, 2, 3, 4, 1, 2, 2],
        "day": [*"mmttmmm"],
        "score": [1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 1.0],
        "grade": [1, 0, 1, 1, 1, 0, 1],
    }
)  # run b has no row of the queries 3 and 4
LISTS = pl.DataFrame({"run": [*"aab"], "query": [1, 2, 1], "doc": [["x"], [], ["y"]], "relevant": [["x"]] * 3})
PER_SYSTEM = pl.DataFrame({"query": [1, 1, 2], "x": [1.0, 2.0, 1.0], "y": [2.0, 1.0, None], "grade": [1, 0, 1]})
RUN = pl.DataFrame({"run": ["a", "a", "b"], "query": [1, 2, 1], "doc": [*"xyx"], "score": 1.0})
QRELS = pl.DataFrame({"query": [1, 2, 3], "doc": [*"xyz"], "grade": 1})
LOGS: dict[str, tuple[Callable[[Any], Any], dict[str, int]]] = {  # an irm, and the number for each system
    "rows": (lambda frame: frame(PARTLY).irm(system="run"), {"a": 0, "b": 2}),
    "lists": (lambda frame: frame(LISTS).irm(system="run"), {"a": 0, "b": 1}),
    "systems as columns": (lambda frame: frame(PER_SYSTEM).irm(score=["x", "y"]), {"x": 0, "y": 1}),
    "judgments": (lambda frame: frame(RUN).irm(system="run").judge(QRELS), {"a": 1, "b": 2}),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", LOGS)
def test_each_system_has_its_count(name: str, kind: str) -> None:
    """evaluate() counts the judged queries without a row, per_query() marks them, and a plan knows the columns."""
    made, lacking = LOGS[name]
    irm = made(lambda frame: _Kind(frame, kind))
    for rule in (None, "zero", "drop"):
        result = irm(unanswered=rule).evaluate("rr", "num_q")
        found = as_polars(result)
        assert dict(found.select(found.columns[0], "n_unanswered").rows()) == lacking
        each = irm(unanswered=rule).per_query("rr")
        told = as_polars(each)
        gone = told.filter(~pl.col("answered"))
        assert (
            gone.is_empty()
            if rule == "drop"
            else dict(gone[told.columns[0]].value_counts().rows()) == {run: n for run, n in lacking.items() if n}
        )
        assert gone["value"].sum() == 0
        counts = dict(told[told.columns[0]].value_counts().rows())
        assert dict(found.filter(metric="rr").select(found.columns[0], "n").rows()) == counts
        if kind == "lazy":
            assert (result.collect_schema(), each.collect_schema()) == (found.schema, told.schema)


class _Kind:
    """A frame of some kind, with the roles of its columns."""

    def __init__(self, frame: pl.DataFrame, kind: str) -> None:
        self.frame, self.kind = frame, kind

    def irm(self, **roles: Any) -> Any:
        return IRM(as_kind(self.frame, self.kind), **roles)


@pytest.mark.parametrize("rule", ["zero", "drop"])
@pytest.mark.parametrize("name", LOGS)
def test_pieces_and_engines_count_alike(name: str, rule: Any) -> None:
    """A plan in pieces, DuckDB and Dask give what a frame in memory gives."""
    made, _ = LOGS[name]
    calls: Sequence[Callable[[Any], Any]] = (
        lambda irm: irm.evaluate("rr", "recall"),
        lambda irm: irm.per_query("rr"),
        lambda irm: irm.compare("rr", permutations=20, resamples=20),
        lambda irm: irm.audit(),
    )
    whole = made(lambda frame: _Kind(frame, "polars"))(unanswered=rule)
    for call in calls:
        expected = call(whole)
        assert_frame_equal(call(in_pieces(whole)).collect(), expected)
        with duckdb.connect() as connection:
            duck = _as(whole, lambda frame, at=connection: at.from_arrow(frame.to_arrow()))
            assert_frame_equal(call(duck).pl(), expected, check_dtypes=False)
        if name != "lists":  # which Dask holds as objects
            parts = _as(whole, lambda frame: dd.from_pandas(frame.to_pandas(), npartitions=3, sort=False))
            got = pl.from_pandas(call(parts).compute())
            assert_frame_equal(got, expected, check_dtypes=False, check_row_order=False)


def _as(irm: Any, made: Callable[[pl.DataFrame], Any]) -> Any:
    """Return the same of another kind of frame."""
    other = object.__new__(IRM)
    other._set(made(irm.frame), irm.roles, irm._judgments)
    return other


def test_segments_and_totals_count_their_queries() -> None:
    """A query counts in each of its segments, and in the totals; weights and clusters change nothing."""
    frame = PARTLY.with_columns(visits=pl.lit(5), user=pl.col("query") // 2)
    irm = frame.irm(system="run", by="day")
    for more in ({}, {"weight": "visits"}, {"cluster": "user"}):
        for rule, n in (("zero", [2, 2, 4, 2, 2, 4]), ("drop", [2, 2, 4, 2, 0, 2])):
            found = irm(unanswered=rule, **more).evaluate("rr", margins=True, ci=0.9, resamples=20)
            assert found["n_unanswered"].to_list() == [0, 0, 0, 0, 2, 2]
            assert found["n"].to_list() == n
            wide = irm(unanswered=rule, **more).evaluate("rr", margins=True, layout="wide")
            assert wide.select("n", "n_unanswered").rows() == found.select("n", "n_unanswered").rows()


@pytest.mark.parametrize("kind", [*KINDS, "pieces"])
def test_without_systems_unanswered_queries_are_those_that_only_the_judgments_have(kind: str) -> None:
    """They are counted where judgments are beside the log, as with and without -c of trec_eval, and found by audit."""
    own = RUN.filter(run="b").drop("run").irm.judge(QRELS)
    irm = in_pieces(own) if kind == "pieces" else _as(own, lambda frame: as_kind(frame, kind))
    for rule, counted in (("zero", (1 / 3, 3, 2)), ("drop", (1.0, 1, 2))):
        found = as_polars(irm(unanswered=rule).evaluate("rr"))
        assert found.select("value", "n", "n_unanswered").row(0) == counted
    assert as_polars(irm(unanswered="drop").per_query("rr"))["query"].to_list() == [1]
    (row,) = as_polars(irm.audit()).filter(check="systems without rows for most queries").rows(named=True)
    assert (row["severity"], row["n"]) == ("error", 2)
    assert row["message"].startswith("the log has no rows for 2 of 3 queries; they count as 0.")
    (found,) = as_polars(irm(unanswered="drop").audit()).filter(check="unanswered queries")["n"]
    assert found == 2
    assert "n_unanswered" not in RUN.filter(run="b").drop("run").with_columns(grade=1).irm.evaluate("num_ret").columns


def test_a_row_without_a_result_is_an_answer() -> None:
    """An empty list, and a null score, say that the query was asked; condensed lists may lose all their rows."""
    empty = pl.DataFrame({"run": [*"ab"], "query": 1, "doc": [["x"], []], "relevant": [["x"], ["x"]]})
    null = pl.DataFrame({"run": [*"ab"], "query": 1, "doc": [*"xx"], "score": [1.0, None], "grade": 1})
    unjudged = pl.DataFrame({"run": [*"ab"], "query": 1, "doc": [*"xy"], "score": 1.0, "grade": [1, None]})
    for frame, more in ((empty, {}), (null, {}), (unjudged, {"unjudged": "drop"})):
        for rule in ("zero", "drop"):
            found = frame.irm(system="run", unanswered=rule, **more).evaluate("rr")
            assert found.select("run", "value", "n", "n_unanswered").rows() == [("a", 1.0, 1, 0), ("b", 0.0, 1, 0)]


def test_undefined_queries_that_are_left_out_are_no_longer_undefined() -> None:
    """An unanswered query is in n_undefined only where it counts, also with undefined="null" and "raise"."""
    irm = PARTLY.irm(system="run", undefined="null")
    kept, left = (irm(unanswered=rule).evaluate("judged@1").filter(run="b") for rule in ("zero", "drop"))
    assert kept.select("n", "n_undefined", "n_unanswered").row(0) == (2, 2, 2)
    assert left.select("n", "n_undefined", "n_unanswered").row(0) == (2, 0, 2)
    assert irm(undefined="raise", unanswered="drop").evaluate("judged@1")["n"].to_list() == [4, 2]


@pytest.mark.parametrize("rule", ["zero", "drop"])
def test_saved_numbers_say_what_was_answered(rule: Any, tmp_path: Path) -> None:
    """What per_query() returned is averaged and compared as the log is, also from a file, and as a baseline."""
    log = PARTLY.irm(system="run")
    live = log(unanswered=rule)
    for layout in ("long", "wide"):
        saved = log.per_query("rr", layout=layout)
        saved.write_csv(tmp_path / "saved.csv")
        value = "value" if layout == "long" else "rr"
        for frame in (saved, pl.read_csv(tmp_path / "saved.csv")):
            numbers = frame.irm(system="run", value=value, unanswered=rule)
            assert (
                numbers.evaluate()
                .select("run", "value", *COUNTS[::3])
                .equals(live.evaluate("rr").select("run", "value", *COUNTS[::3]))
            )
            apart = ("metric", "n_undefined")  # a value that was undefined was saved as its substitute
            assert numbers.compare().drop(apart).equals(live.compare("rr").drop(apart))
            alone = PARTLY.filter(run="a").irm(unanswered=rule)
            found = alone.compare("rr", baseline=frame.filter(run="b"))
            wanted = live.compare("rr", baseline="b")
            assert found.select("difference", "n", "n_unanswered").equals(
                wanted.select("difference", "n", "n_unanswered")
            )


def test_zeros_of_unanswered_queries_are_not_measured() -> None:
    """Without the column a saved zero looks measured, so that "drop" is an error; without "drop" nothing changes."""
    saved = PARTLY.irm(system="run").per_query("rr")
    dropped = saved.irm(system="run", value="value", unanswered="drop").compare(baseline="a")
    assert dropped["difference"].to_list() == [0.25]
    assert saved.irm(system="run", value="value").compare(baseline="a")["difference"].to_list() == [-0.375]


OLD = PARTLY.irm(system="run").per_query("rr").drop("answered")
ODD = pl.DataFrame({"query": [1, 2] * 2, "metric": ["rr", "rr", "ap", "ap"], "value": [1.0, 0.0, 0.0, 0.5]})
ODD = ODD.with_columns(answered=pl.col("value") > 0)  # answered or not, by metric
ALONE = RUN.filter((pl.col("run") == "b") | (pl.col("query") == 2)).with_columns(grade=1)  # no common query
REFUSALS = """
OLD.irm(system="run", value="value", unanswered="drop").evaluate()
    ColumnError: unanswered='drop' requires the column 'answered' beside value=, as per_query() returns it;[...]
    but: OLD.irm(system="run", value="value", unanswered=None).evaluate()
PARTLY.filter(run="a").irm(unanswered="drop").compare("rr", baseline=OLD.filter(run="b"))
    ColumnError: baseline: unanswered='drop' requires the column 'answered' beside value=, as per_query()[...]
    but: PARTLY.filter(run="a").irm(unanswered=None).compare("rr", baseline=OLD.filter(run="b"))
OLD.with_columns(answered=pl.lit("yes")).irm(system="run", value="value").evaluate()
    BadValueError: answered: beside value= it says whether a system answered the query, true or false, and[...]
    but: OLD.with_columns(reply=pl.lit("yes")).irm(system="run", value="value").evaluate()
OLD.with_columns(answered=pl.lit(None, pl.Boolean)).irm(system="run", value="value").evaluate()
    BadRowsError: answered: [...]
    but: OLD.with_columns(answered=True).irm(system="run", value="value").evaluate()
ODD.irm(value="value", unanswered="drop").evaluate("rr")
    BadRowsError: answered: 2 of 4 rows differ from another row of their query (rows 2, 3); give each query one value
    but: ODD.filter(metric="rr").irm(value="value", unanswered="drop").evaluate("rr")
ODD.irm(value="value").evaluate("rr", "ap")
    BadRowsError: answered: 2 of 4 rows differ from another row of their query (rows 2, 3); give each query one value
ALONE.irm(system="run", unanswered="drop").compare("rr")
    ColumnError: run: 'a' has results of 1 query, and no other system has results of any of them; nothing is [...]
    but: ALONE.irm(system="run", unanswered="drop").evaluate("rr")
ALONE.irm(system="run", unanswered="drop").similarity("rbo")
    ColumnError: run: 'a' has results of 1 query, and no other system has results of any of them; each system [...]
PARTLY.irm(query=None, score="score", label="grade", unanswered="drop").evaluate("roc_auc")
    ColumnError: unanswered= is about the documents of a query; name query=
PARTLY.irm(system="run").evaluate("rr", unanswered="drop")
    ColumnError: unanswered= is set before evaluate(): search(unanswered='drop').evaluate(...), with your object for
        search
    but: PARTLY.irm(system="run")(unanswered="drop").evaluate("rr")
"""


def test_what_is_refused() -> None:
    """Saved numbers that do not say what was answered, and rows without a query."""
    check(REFUSALS, globals())
    (row,) = ODD.irm(value="value").audit().filter(severity="error").rows(named=True)
    assert row["message"].startswith("answered: 2 of 4 rows differ from another row of their query")


@pytest.mark.parametrize("kind", [*KINDS, "pieces"])
def test_systems_without_a_common_query_have_a_mean_of_their_own(kind: str) -> None:
    """What the audit offers works: each is averaged over the queries that it has."""
    frame = ALONE.vstack(ALONE.filter(run="a").with_columns(run=pl.lit("c")))
    for rows in (ALONE, frame):
        irm = rows.irm(system="run")
        irm = in_pieces(irm) if kind == "pieces" else _as(irm, lambda some: as_kind(some, kind))
        assert "unanswered='drop'" in " ".join(as_polars(irm.audit())["message"])
        found = as_polars(irm(unanswered="drop").evaluate("rr"))
        assert found.select("value", "n", "n_unanswered").unique().rows() == [(1.0, 1, 1)]


def test_queries_that_nobody_judged_are_not_unanswered() -> None:
    """Beside saved numbers too, where neither side has a number of them."""
    run = pl.DataFrame({"query": ["q1", "q2"], "doc": ["x", "x"], "score": [2.0, 1.0]})
    log = run.irm.judge(pl.DataFrame({"query": ["q1", "q3"], "doc": ["x", "x"], "grade": 1}))
    saved = log.per_query("rr")
    for rule, base, wanted in (
        ("zero", saved, (2, 0, 0, 1)),
        ("drop", saved, (1, 0, 0, 1)),
        ("drop", saved.filter(query="q1"), (1, 0, 0, 1)),
        ("drop", saved.with_columns(pl.col("query").replace("q3", "q2")), (1, 0, 0, 1)),
    ):
        assert log(unanswered=rule).compare("rr", baseline=base).select(COUNTS).row(0) == wanted
    judged = run.irm(unanswered="drop").judge(pl.DataFrame({"query": ["q1"], "doc": ["x"], "grade": 1}))
    assert judged.compare("rr", baseline=saved.filter(query="q1")).select(COUNTS).row(0) == (1, 0, 0, 0)


@pytest.mark.parametrize(("asked", "check_name", "n"), [(95, None, 0), (94, SOME, 6), (50, SOME, 50), (49, MOST, 51)])
def test_the_audit_counts_what_a_system_lacks(asked: int, check_name: str | None, n: int) -> None:
    """More than 5 % of the queries is a warning, more than half an error; saved numbers too, and drop settles it."""
    log = shown(100, asked).irm(system="arm")
    saved = log.per_query("rr").irm(system="arm", value="value")
    for irm in (log, saved, in_pieces(log)):
        found = as_polars(irm.audit()).filter(pl.col("check").is_in([SOME, MOST]))
        wanted = [] if check_name is None else [(check_name, "error" if n > 50 else "warning", n, n / 100, "new")]
        assert found.select("check", "severity", "n", "share", "example").rows() == wanted
        settled = as_polars(irm(unanswered="drop").audit())
        assert not {SOME, MOST, "queries without results"} & {*settled["check"]}
        assert settled.filter(check="unanswered queries")["n"].to_list() == [100 - asked]
    if check_name:
        said = odd(log).filter(check=check_name)["message"].item()
        assert said.startswith(
            f"new has no rows for {n} of 100 queries; they count as 0. If it was not asked them, pass"
        )


def test_the_audit_names_the_system_that_lacks_most() -> None:
    """The others are counted."""
    rows = [(run, query) for run, n in (("a", 20), ("b", 15), ("c", 12), ("d", 16)) for query in range(n)]
    log = pl.DataFrame(rows, schema=["run", "query"], orient="row").with_columns(score=1.0, grade=1)
    (message,) = odd(log.irm(system="run")).filter(check=SOME)["message"]
    assert message.startswith("c has no rows for 8 of 20 queries, and 2 more systems lack some; they count as 0.")


def test_the_summary_says_it_first() -> None:
    """With its value over the queries that it has; with drop, that they are left out."""
    log = shown(100, 5).irm(system="arm")
    sentences = log.summary("rr")["sentence"].to_list()
    assert sentences[0] == (
        "new has no rows for 95 of 100 searches; they count as 0. Over the 5 that it has, rr is 1.000. If it was not "
        "asked them: unanswered='drop'. And 1 more warning."
    )
    assert not any("systems without rows" in one for one in sentences)
    saved = log.per_query("rr").irm(system="arm", value="value")
    assert saved.summary()["sentence"][0].startswith(sentences[0].partition(";")[0].replace("searches", "queries"))
    dropped = log(unanswered="drop").summary("rr")["sentence"]
    assert dropped[0].startswith("new has no rows for 95 of 100 searches, which are left out.")
    assert not any("beats" in one for one in dropped)
    assert log.summary("fdr@1")["sentence"][0].startswith(
        "new has no rows for 95 of 100 searches; they count as queries without results. Over the 5 that it has, fdr@1 "
    )
    assert "no rows for" not in "".join(shown(100, 96).irm(system="arm").summary("rr")["sentence"])


def test_a_wide_result_counts_undefined_values() -> None:
    """An empty list of relevant documents counts as 0 and is undefined; judgments without a row leave the query out."""
    held = {"ann": ["a"], "bob": [], "cy": []}
    lists = pl.DataFrame({"user": [*held], "items": [["a", "b"], ["a", "c"], ["b", "c"]], "bought": [*held.values()]})
    by_list = lists.irm(query="user", doc="items", relevant="bought").evaluate("recall@2", layout="wide")
    assert by_list.row(0) == ("macro", 3, 1 / 3, 2)
    bought = pl.DataFrame({"user": ["ann"], "items": ["a"]})
    by_row = lists.select("user", "items").irm(query="user", doc="items").judge(bought, label=True)
    assert by_row.evaluate("recall@2", layout="wide").row(0) == ("macro", 1, 0, 1.0, 0)
    assert by_list.columns == ["average", "n", "recall@2", "recall@2_undefined"]


def test_other_verbs_leave_them_out() -> None:
    """Curves, decisions, bounds and explanations of a system are of the queries that it answers."""
    irm = PARTLY.irm(system="run", unanswered="drop")
    assert irm.curve("rr@k", cutoffs=2).filter(run="b", k=2)["value"].item() == irm.evaluate("rr")["value"][1]
    assert irm(doc=None).bounds("rr", of="ties").select("run", "n").rows() == [("a", 4), ("b", 2)]
    assert irm.explain("rr", query=3)["run"].unique().to_list() == ["a"]
    confused = irm(query="query", threshold=0.0).confusion()
    assert confused.group_by("run").agg(pl.col("n").sum()).sort("run").rows() == [("a", 4), ("b", 3)]
