"""Gates of the command line: what fails, with which code, and where the reason is said."""

from __future__ import annotations

import io
import os
import shlex
import sys
from pathlib import Path
from xml.etree import ElementTree as xml

import numpy as np
import polars as pl
import pytest

from frame_metrics import IRM
from frame_metrics.command import main
from helpers import called

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _log(alone: None) -> None:
    """A folder with a log."""
    ranked().write_parquet("log.parquet")


def ranked(first: tuple[int, ...] = (1, 2, 1, 3) * 5) -> pl.DataFrame:
    """Queries on two devices, each with three results, one of them relevant, at these ranks."""
    rows = [
        (q, d, 3.0 - d, int(d + 1 == rank), "mobile" if q % 2 else "desktop")
        for q, rank in enumerate(first)
        for d in range(3)
    ]
    return pl.DataFrame(rows, schema=["query", "doc", "score", "grade", "device"], orient="row")


VALUE = float(IRM(ranked()).evaluate("rr")["value"].item())


# limits


def test_a_value_at_its_limit_passes(capsys: Captured) -> None:
    """A gate is passed at its limit, and failed above it by the last bit."""
    at, above = repr(VALUE), repr(VALUE + 2**-52)
    assert called(capsys, "evaluate", "log.parquet", "rr", "--fail-under", f"rr={at}")[0] == 0
    code, printed, said = called(capsys, "evaluate", "log.parquet", "rr", "--fail-under", f"rr={above}")
    assert (code, said) == (1, [f"frame-metrics: gate failed: rr is {at}, under {above}"])
    assert f"rr,,macro,{at},20,0" in printed
    assert called(capsys, "evaluate", "log.parquet", "rr", "--fail-over", f"rr={at}")[0] == 0
    assert called(capsys, "evaluate", "log.parquet", "rr", "--fail-over", f"rr={VALUE - 2**-52!r}")[0] == 1


@pytest.mark.parametrize("kind", ["table", "md", "html", "csv", "json"])
def test_what_is_gated_is_what_is_printed(kind: str, capsys: Captured) -> None:
    """Beside a gate numbers are printed whole in every format, so that no failure looks like a pass."""
    _, printed, said = called(capsys, "evaluate", "log.parquet", "rr", "--to", kind, "--fail-under", "rr=0.708334")
    assert repr(VALUE) in printed
    assert said == [f"frame-metrics: gate failed: rr is {VALUE:.6g}, under 0.708334"]
    assert repr(VALUE) not in called(capsys, "evaluate", "log.parquet", "rr", "--to", "table")[1]


def test_every_segment_is_gated(capsys: Captured) -> None:
    """One segment below the limit fails, and is named; totals are gated too."""
    arguments = ["evaluate", "log.parquet", "rr", "--by", "device", "--margins", "--fail-under", "rr=0.8"]
    code, _, said = called(capsys, *arguments)
    mobile = IRM(ranked(), by="device").evaluate("rr")["value"][1]
    assert code == 1
    assert said == [
        f"frame-metrics: gate failed: rr is {mobile:.6g} (device mobile), under 0.8",
        f"frame-metrics: gate failed: rr is {VALUE:.6g} (total over device), under 0.8",
    ]


def test_what_was_measured_is_no_segment(capsys: Captured) -> None:
    """A gate names the system and the segment of a row, and none of its other numbers, as n_effective."""
    clicks = pl.DataFrame({"query": [1, 1], "rank": [1, 2], "label": [1, 0], "chance": [0.5, 0.25]})
    clicks.write_parquet("clicks.parquet")
    asked = ["evaluate", "clicks.parquet", "clicks_per_query", "--propensity", "chance"]
    said = called(capsys, *asked, "--fail-under", "clicks_per_query=3")[2]
    assert said == ["frame-metrics: gate failed: clicks_per_query is 2.0, under 3"]


def test_metrics_of_gates_are_computed_and_printed(capsys: Captured) -> None:
    """A metric that only a gate names is computed; other spellings and cutoffs are the same metric."""
    code, printed, said = called(
        capsys, "evaluate", "log.parquet", "nDCG@1,3", "--fail-under", "ndcg_cut_3=0.5", "--fail-under", "map=0.99"
    )
    assert [line.split(",")[0] for line in printed.splitlines()[1:]] == ["nDCG@1", "nDCG@3", "map"]
    assert (code, len(said)) == (1, 2)
    assert said[0].startswith(
        "frame-metrics: nDCG@1, nDCG@3, map may be too high, as only the rows of the log are judged"
    )
    assert "map is" in said[1]
    brackets = ["--fail-under", "fbeta(beta=2)@3=0.1"]
    assert "fbeta(beta=2)@3,3," in called(capsys, "evaluate", "log.parquet", *brackets)[1]
    _, printed, _ = called(capsys, "evaluate", "log.parquet", "rr@1", "--fail-under", "rr@1,2=0.1")
    assert [line.split(",")[0] for line in printed.splitlines()[1:]] == ["rr@1", "rr@2"]


def test_an_undefined_value_fails(capsys: Captured) -> None:
    """A null under a gate fails, and says so; so does a metric without any row."""
    pl.DataFrame({"label": [1, 1], "score": [0.9, 0.1]}).write_parquet("one.parquet")
    code, _, said = called(capsys, "evaluate", "one.parquet", "roc_auc", "--fail-under", "roc_auc=0")
    assert (code, said) == (
        1,
        ["frame-metrics: gate failed: roc_auc is undefined (average pooled), and has to be at least 0"],
    )
    ranked().clear().write_parquet("none.parquet")
    code, _, said = called(capsys, "evaluate", "none.parquet", "rr", "--by", "device", "--fail-under", "rr=0")
    assert (code, said) == (1, ["frame-metrics: gate failed: rr was not evaluated: the result has no row of it"])


def test_saved_numbers_are_gated(capsys: Captured) -> None:
    """Values that were computed elsewhere have gates as well, under any name."""
    pl.DataFrame({"query": [1, 2], "latency": [120.0, 300.0]}).write_csv("times.csv")
    arguments = ["evaluate", "times.csv", "--value", "latency", "--fail-over", "latency=200"]
    assert called(capsys, *arguments)[2] == ["frame-metrics: gate failed: latency is 210.0, over 200"]


# worse than before


def save(capsys: Captured, name: str, *first: int) -> None:
    """Save the reciprocal ranks of a week."""
    ranked(first or (1, 2, 1, 3) * 5).write_parquet("then.parquet")
    assert (
        called(capsys, "per-query", "then.parquet", "rr", "error_rate@1", "--collection-size", "10", "-o", name)[0] == 0
    )


@pytest.mark.parametrize("saved", ["saved.parquet", "saved.csv", "saved.json", "saved.tsv"])
@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_worse_than_before(command: str, saved: str, capsys: Captured) -> None:
    """A difference for the worse fails where it is significant; one for the better, or none, does not."""
    save(capsys, saved, *(1, 1, 1, 1) * 5)
    gate = ["--fail-if-worse-than", saved]
    code, printed, said = called(capsys, command, "log.parquet", "rr", *gate)
    compared = IRM(ranked()).compare("rr", baseline=pl.DataFrame({"query": range(20), "rr": [1.0] * 20}))
    row = compared.row(0, named=True)
    assert said == [
        f"frame-metrics: gate failed: rr is {VALUE:.6g} against 1.0: a difference of {row['difference']:.6g}, "
        f"p = {row['p_adjusted']:.6g}, worse at level 0.05"
    ]
    assert code == 1
    assert (repr(row["p_adjusted"]) in printed) == (command == "compare")
    assert called(capsys, command, "log.parquet", "rr", *gate, "--alpha", "0.00001")[0] == 0
    save(capsys, saved, *(3, 3, 3, 3) * 5)
    assert called(capsys, command, "log.parquet", "rr", *gate)[0] == 0


def test_worse_is_by_the_direction_of_the_metric(capsys: Captured) -> None:
    """Of a metric of which less is better, more is worse."""
    save(capsys, "good.parquet", *(1, 1, 1, 1) * 5)
    save(capsys, "bad.parquet", *(3, 3, 3, 3) * 5)
    metric = ["error_rate@1", "--collection-size", "10"]
    assert called(capsys, "evaluate", "log.parquet", *metric, "--fail-if-worse-than", "good.parquet")[0] == 1
    assert called(capsys, "evaluate", "log.parquet", *metric, "--fail-if-worse-than", "bad.parquet")[0] == 0


def test_worse_of_no_known_direction_says_so(capsys: Captured) -> None:
    """Nothing says whether more of a latency is better: the gate tells what it took it for, passed or failed."""
    for name, more in (("fast.csv", 0), ("slow.csv", 1)):
        pl.DataFrame({"query": range(20), "latency": [i + more for i in range(20)]}).write_csv(name)
    told = "latency has no direction that is known, and less of it counts as worse"
    for new, old, code in (("slow.csv", "fast.csv", 0), ("fast.csv", "slow.csv", 1)):
        found, _, said = called(capsys, "compare", new, "--value", "latency", "--fail-if-worse-than", old)
        assert (found, said[0].endswith(told)) == (code, True)


def test_no_query_to_compare_fails(capsys: Captured) -> None:
    """A segment without a saved number fails, since nothing says that it is as good."""
    ranked().filter(device="desktop").write_parquet("then.parquet")
    assert called(capsys, "per-query", "then.parquet", "rr", "--by", "device", "-o", "saved.parquet")[0] == 0
    gate = ["evaluate", "log.parquet", "rr", "--by", "device", "--fail-if-worse-than", "saved.parquet"]
    code, _, said = called(capsys, *gate)
    told = "rr cannot be compared (device mobile): n is 0, and p is undefined"
    assert (code, said) == (1, [f"frame-metrics: gate failed: {told}"])


def test_a_class_without_rows_fails(capsys: Captured) -> None:
    """Nothing says that the recall of a class without rows is as good, and the gate says why."""
    rows = pl.DataFrame({"doc": range(12), "label": [*"aabbccaabbcc"], "predicted": [*"abbbccaabbcc"]})
    rows.write_csv("old.csv")
    rows.filter(pl.col("label") != "c").with_columns(predicted=pl.col("label")).write_csv("new.csv")
    gate = ["compare", "new.csv", "recall", "--doc", "doc", "--per-class", "--fail-if-worse-than", "old.csv"]
    _, _, said = called(capsys, *gate)
    told = "frame-metrics: gate failed: recall cannot be compared (class c): no row of the class"
    assert told in said
    gate = ["change", "old.csv", "recall", "--no-doc", "--per-class", "--fail-if-worse-than", "new.csv"]
    assert told in called(capsys, *gate)[2]  # the log of before has none


def test_a_limit_of_each_class(capsys: Captured) -> None:
    """A class that was only predicted has no recall to lose, now or against before; nor is it called 0."""
    rows = pl.DataFrame({"doc": range(12), "label": [*"aabbccaabbcc"], "predicted": [*"xbbbccaabbcc"]})
    rows.write_csv("new.csv")
    rows.with_columns(predicted=pl.col("label")).write_csv("old.csv")
    code, _, said = called(capsys, "evaluate", "new.csv", "recall", "--no-doc", "--per-class", "--fail-under", "0.6")
    failed = "frame-metrics: gate failed: recall is 0.5 (class a), under 0.6"
    unknown = "frame-metrics: recall is undefined (class x), and has to be at least 0.6; not checked"
    assert (code, said) == (1, [failed, unknown])
    gate = ["compare", "new.csv", "recall", "--doc", "doc", "--per-class", "--fail-if-worse-than", "old.csv"]
    code, _, said = called(capsys, *gate)
    told = "frame-metrics: recall cannot be compared (class x): no row of the class; not checked"
    assert (code, said[0]) == (0, told)


def test_saved_numbers_of_several_systems(capsys: Captured) -> None:
    """--saved-system takes the numbers of one."""
    better = ranked().with_columns(score=10.0 * pl.col("grade") - pl.col("doc"), run=pl.lit("b"))
    two = [ranked().with_columns(run=pl.lit("a")), better]
    pl.concat(two).write_parquet("two.parquet")
    assert called(capsys, "per-query", "two.parquet", "rr", "--system", "run", "-o", "saved.csv")[0] == 0
    gate = ["evaluate", "log.parquet", "rr", "--fail-if-worse-than", "saved.csv"]
    system = ["--system", "run"]
    two[0].write_parquet("log.parquet")
    told = "--fail-if-worse-than saved.csv: each system is compared with its own numbers there, and the log has no 'b'"
    assert told in called(capsys, *gate, *system)[2][0]
    assert called(capsys, *gate, *system, "--saved-system", "a")[0] == 0
    assert called(capsys, *gate, *system, "--saved-system", "b")[0] == 1
    told = "saved.csv has no numbers of that system; it has 'a', 'b'"
    assert told in called(capsys, *gate, *system, "--saved-system", "c")[2][0]
    named = called(capsys, "evaluate", "two.parquet", "rr", *gate[3:], *system, "--saved-system", "a")
    assert (named[0], "b" in named[1]) == (0, True)


RANKERS = {"bm25": (1, 2, 1, 3), "dense": (1, 1, 1, 1), "hybrid": (2, 2, 2, 2)}
RANKER = ["--system", "ranker"]


def save_rankers(capsys: Captured, name: str = "log.parquet", **now: tuple[int, ...]) -> pl.DataFrame:
    """Save the reciprocal ranks of three rankers in a file, and write a log of this week."""
    same = pl.when(pl.col("grade") > 0).then(pl.lit(0)).otherwise(pl.col("doc") + 1)  # a document has one grade
    weeks = [
        pl.concat(ranked(first * 5).with_columns(doc=same, ranker=pl.lit(one)) for one, first in week.items())
        for week in (RANKERS, RANKERS | now)
    ]
    weeks[0].write_parquet("then.parquet")
    assert called(capsys, "per-query", "then.parquet", "rr", "recall@1", *RANKER, "-o", "saved.parquet")[0] == 0
    weeks[1].write_parquet(name)
    return weeks[1]


@pytest.mark.parametrize("command", ["compare", "evaluate"])
def test_each_ranker_is_held_against_its_own_last_week(command: str, capsys: Captured) -> None:
    """Saved numbers of several systems are each the baseline of their own system; p is corrected over all of them."""
    log = save_rankers(capsys, dense=(3, 3, 1, 3))
    gate = [command, "log.parquet", "rr", "recall@1", *RANKER, "--fail-if-worse-than", "saved.parquet"]
    code, printed, said = called(capsys, *gate)
    irm, saved = IRM(log, system="ranker"), pl.read_parquet("saved.parquet")
    own = irm.compare("rr", "recall@1", baseline=saved.filter(ranker="dense"), correction="none").filter(ranker="dense")
    assert [line.split()[3] for line in said] == ["rr", "recall@1"]
    assert [f"p = {3 * p:.6g}" in line for p, line in zip(own["p_value"], said, strict=True)] == [True, True]
    assert (code, "(ranker dense)" in said[0]) == (1, True)
    if command == "compare":
        got = pl.read_csv(io.StringIO(printed))
        pairs = [(one, one) for one in RANKERS] * 2
        assert got.select("ranker", "baseline").rows() == pairs
        assert got["metric"].to_list() == ["rr"] * 3 + ["recall@1"] * 3
        assert got.filter(ranker="dense")["p_adjusted"].to_list() == [3 * p for p in own["p_value"]]
        assert {*got.select("n_tests", "correction").rows()} == {(3, "holm")}


def test_each_ranker_beside_its_own_per_query(capsys: Captured) -> None:
    save_rankers(capsys, dense=(3, 3, 1, 3))
    _, printed, _ = called(capsys, "compare", "log.parquet", "rr", *RANKER, "--saved", "saved.parquet", "--per-query")
    got = pl.read_csv(io.StringIO(printed))
    assert (len(got), (got["ranker"] == got["baseline"]).all()) == (60, True)


def test_each_column_of_scores_beside_its_own_last_week(capsys: Captured) -> None:
    """Columns of scores are systems too; a column that the log has not is named."""
    ranked().with_columns(other=-pl.col("score")).write_parquet("log.parquet")
    scores = ["--score", "score", "--score", "other"]
    assert called(capsys, "per-query", "log.parquet", "rr", *scores, "-o", "saved.parquet")[0] == 0
    code, printed, _ = called(capsys, "compare", "log.parquet", "rr", *scores, "--saved", "saved.parquet")
    got = pl.read_csv(io.StringIO(printed))
    assert (code, sorted(got.select("system", "baseline").rows())) == (0, [("other", "other"), ("score", "score")])
    save_rankers(capsys)
    call = ["compare", "log.parquet", "rr", "--system", "device", "--saved", "saved.parquet"]
    assert "it has the numbers of several systems, 'bm25', 'dense', 'hybrid' in 'ranker'" in called(capsys, *call)[2][0]


def test_two_saved_rankers_are_several(capsys: Captured) -> None:
    """The numbers of two are no more those of one than the numbers of three."""
    log = save_rankers(capsys)
    pl.read_parquet("saved.parquet").filter(pl.col("ranker") != "dense").write_parquet("saved.parquet")
    log.filter(ranker="bm25").write_parquet("log.parquet")
    call = ["evaluate", "log.parquet", "rr", "--fail-if-worse-than", "saved.parquet"]
    assert "it has the numbers of several systems, 'bm25', 'hybrid' in 'ranker'" in called(capsys, *call)[2][0]


def test_saved_queries_by_another_name_are_no_systems(capsys: Captured) -> None:
    """The error names the column that the log has for queries; renamed there, the numbers are read."""
    ranked().rename({"query": "qid"}).write_parquet("log.parquet")
    assert called(capsys, "per-query", "log.parquet", "rr", "--query", "qid", "-o", "saved.parquet")[0] == 0
    ranked().write_parquet("log.parquet")
    for flag in ("--saved", "--fail-if-worse-than"):
        call = ["compare", "log.parquet", "rr", "--query", "query", flag, "saved.parquet"]
        (said,) = called(capsys, *call)[2]
        assert "it has no column 'query', the frame's query, among 'qid', 'metric'" in said
        assert said.endswith("rename the column of queries there")
    pl.read_parquet("saved.parquet").rename({"qid": "query"}).write_parquet("saved.parquet")
    assert called(capsys, *call)[0] == 0


def test_numbers_saved_without_segments_lead_to_the_same_ones(capsys: Captured) -> None:
    """The command in the error is that of saving, with --by."""
    assert called(capsys, "per-query", "log.parquet", "rr", "-o", "saved.parquet")[0] == 0
    gate = ["evaluate", "log.parquet", "rr", "--by", "device", "--fail-if-worse-than", "saved.parquet"]
    (said,) = called(capsys, *gate)[2]
    assert said.endswith(
        "it has to be what frame-metrics per-query old.csv ndcg@10 -o base.csv wrote, with the same --by"
    )
    assert called(capsys, "per-query", "log.parquet", "rr", "--by", "device", "-o", "saved.parquet")[0] == 0
    assert called(capsys, *gate)[0] == 0


def test_a_ranker_without_its_last_week_is_an_error(capsys: Captured) -> None:
    """Systems that only one side has are named, and none is left out in silence."""
    log = save_rankers(capsys, splade=(1, 1, 1, 1))
    log.filter(pl.col("ranker") != "hybrid").write_parquet("log.parquet")
    code, printed, said = called(capsys, "compare", "log.parquet", "rr", *RANKER, "--saved", "saved.parquet")
    assert (code, printed) == (2, "")
    assert "--saved saved.parquet: each system is compared with its own numbers there, " in said[0]
    assert "and the log has no 'hybrid', and it has no 'splade'; leave out" in said[0]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["evaluate", "one.parquet", "rr", "--fail-if-worse-than", "saved.parquet"],
            "--fail-if-worse-than saved.parquet: it has the numbers of several systems, 'bm25', 'dense', 'hybrid' in "
            "'ranker'; name one with --saved-system",
        ),
        (
            ["audit", "log.parquet", *RANKER, "--saved", "saved.parquet"],
            "--saved saved.parquet: it has the numbers of several systems",
        ),
        (
            ["compare", "one.parquet", "rr", "--saved", "saved.parquet", "--saved-system", "bm52"],
            "--saved-system bm52: --saved saved.parquet has no numbers of that system; it has 'bm25', 'dense', "
            "'hybrid'; did you mean 'bm25'?",
        ),
        (
            ["evaluate", "one.parquet", "rr", "--fail-if-worse-than", "ids.parquet"],
            "--fail-if-worse-than ids.parquet: nothing has the numbers of 'rr' among",
        ),
        (
            ["compare", "one.parquet", "rr", "--by", "device", "--saved", "saved.parquet", "--saved-system", "bm25"],
            "--saved saved.parquet: it has no column 'device'",
        ),
        (["compare", "one.parquet", "rr"], "or give what per-query wrote of another one, as --saved FILE"),
        (["compare", "one.parquet", "rr", "--saved-system", "bm25"], "--saved-system requires a file of saved numbers"),
    ],
    ids=["several", "audit", "system", "no numbers", "no column", "no system", "no saved numbers"],
)
def test_errors_of_saved_numbers_name_the_flag_and_the_file(arguments: list[str], told: str, capsys: Captured) -> None:
    save_rankers(capsys)
    ranked().write_parquet("one.parquet")
    ranked().select("query").write_parquet("ids.parquet")
    code, _, said = called(capsys, *arguments)
    assert code == 2
    assert told in said[0]
    assert "baseline" not in said[0]


def test_the_system_of_saved_numbers_is_found_beside_a_log_without(capsys: Captured) -> None:
    """What per-query wrote says its systems, though the log has no such column."""
    save_rankers(capsys)
    ranked().write_parquet("one.parquet")
    gate = ["evaluate", "one.parquet", "rr", "--fail-if-worse-than", "saved.parquet", "--saved-system"]
    assert [called(capsys, *gate, name)[0] for name in ("bm25", "dense")] == [0, 1]


def test_a_limit_beyond_the_range_is_a_wrong_call(capsys: Captured) -> None:
    """A limit in percent can never be reached; values from elsewhere have no range that is known."""
    for gate in ("--fail-under", "--fail-over"):
        code, printed, said = called(capsys, "evaluate", "log.parquet", "ndcg@10", gate, "ndcg@10=70")
        told = f"frame-metrics: {gate} ndcg@10=70: values of ndcg@10 are from 0 to 1"
        assert (code, printed, said) == (2, "", [told])
    assert called(capsys, "evaluate", "log.parquet", "rr", "--fail-under", "rr=1", "--fail-over", "rr=1")[0] == 1
    pl.DataFrame({"query": [1, 2], "rr": [71.0, 72.0]}).write_csv("percent.csv")
    assert called(capsys, "evaluate", "percent.csv", "--value", "rr", "--fail-under", "rr=70")[0] == 0


def test_limits_without_the_0_before_the_point(capsys: Captured) -> None:
    """.5 is a number, as 0.5 is."""
    assert called(capsys, "evaluate", "log.parquet", "rr", "--fail-under", "rr=.5", "--ci", ".9")[0] == 0
    assert called(capsys, "evaluate", "log.parquet", "rr", "--fail-over", "rr=.5")[0] == 1
    pl.DataFrame({"query": [1, 2], "change": [-0.4, -0.4]}).write_csv("changes.csv")
    assert called(capsys, "evaluate", "changes.csv", "--value", "change", "--fail-under", "change=-.5")[0] == 0


# audits


@pytest.mark.parametrize(("fail_on", "code"), [(None, 0), ("error", 0), ("warning", 1), ("info", 1)])
def test_findings_that_fail(fail_on: str | None, code: int, capsys: Captured) -> None:
    """Findings fail from a severity on; the audit is printed whole all the same."""
    ranked((1, 2, 9)).write_parquet("log.parquet")
    got, printed, said = called(capsys, "audit", "log.parquet", *(["--fail-on", fail_on] if fail_on else []))
    findings = IRM(ranked((1, 2, 9))).audit()
    assert len(printed.splitlines()) == len(findings) + 1
    failing = {"warning": ["warning"], "info": ["warning", "info"]}.get(fail_on or "", [])
    assert [line.split(": ")[2] for line in said] == [s for s in findings["severity"] if s in failing]
    assert got == code


GAPS = pl.DataFrame({"query": [1, 1, 2, 2], "rank": [1, 3, 1, 2], "grade": [1, 0, 1, 0]})  # in one ranking of two


@pytest.mark.parametrize(
    ("flags", "failed"),
    [
        (["ranks with gaps=0"], ["ranks with gaps"]),
        (["ranks with gaps=1"], []),
        (["ranks with gaps=100%"], []),
        (["ranks with gaps=49.9%"], ["ranks with gaps"]),
        (["ranks with gaps=.49"], ["ranks with gaps"]),
        (["ranks with gaps=true"], ["ranks with gaps"]),
        (["constant scores=0", "duplicates=0"], []),
        (["info", "ranks with gaps=100%", "only results are judged=1.0", "few queries=2"], []),
        (["info", "ranks with gaps=100%"], ["few queries", "only results are judged"]),
    ],
)
def test_bounds_of_checks(flags: list[str], failed: list[str], capsys: Captured) -> None:
    """A share is a float or in percent, a whole number a count; what is not found passes, and is a case of JUnit."""
    GAPS.write_parquet("log.parquet")
    given = [word for flag in flags for word in ("--fail-on", flag)]
    got, _, said = called(capsys, "audit", "log.parquet", *given, "--junit", "audit.xml")
    assert [line.split(": ")[3] for line in said] == failed
    assert got == (1 if failed else 0)
    cases = {one.get("name") for one in xml.parse("audit.xml").iter("testcase")}
    assert {flag.split("=")[0] for flag in flags if "=" in flag} <= cases


def test_a_check_whose_name_begins_another_is_a_case_of_its_own(capsys: Captured) -> None:
    """Where only the other one found something, it is among the cases, with nothing found."""
    pl.DataFrame({"label": [*"abb"], "predicted": [*"abc"]}).write_parquet("log.parquet")
    flags = ["--positive", "a", "--fail-on", "classes=3", "--fail-on", "warning=5", "--junit", "audit.xml"]
    assert called(capsys, "audit", "log.parquet", *flags)[0] == 0
    cases = [str(one.get("name")) for one in xml.parse("audit.xml").iter("testcase")]
    assert [name for name in cases if name.startswith("classes")] == ["classes predicted and never true", "classes"]


@pytest.mark.parametrize(
    ("flag", "error"),
    [
        ("warn", "did you mean 'warning'"),
        ("", "--fail-on '' is not one of 'error'"),
        ("duplicate=0", "did you mean 'duplicates'"),
        ("duplicates=x%", "'x%' is no share in percent"),
        ("duplicates=101%", "a share from 0.0 to 1.0"),
        ("duplicates=false", "--fail-on: 'duplicates' has False, and True means any"),
        ("queries without judgments<2%", "CHECK=LIMIT, as 'queries without judgments=2%'"),
        ("found=2", "--fail-on: 'found' is neither a severity"),
    ],
)
def test_what_is_no_bound_of_an_audit(flag: str, error: str, capsys: Captured) -> None:
    """A name that is no severity and no check, or a bound that is none, is refused before a file is read."""
    got, _, said = called(capsys, "audit", "log.parquet", "--fail-on", flag)
    assert got == 2
    assert error in said[0]


def test_bounds_of_settings(capsys: Captured) -> None:
    """A table names checks with their bounds; numbers have the types of TOML."""
    GAPS.write_parquet("log.parquet")
    for bound, code in (("0", 1), ("1000", 0), ("1.0", 0), ("true", 1)):
        Path("own.toml").write_text(f'[audit.fail_on]\n"ranks with gaps" = {bound}\n')
        assert called(capsys, "audit", "log.parquet", "--config", "own.toml")[0] == code, bound


def test_bad_data_under_an_audit(capsys: Captured) -> None:
    """What other verbs raise for is a finding, and fails with 1."""
    ranked().with_columns(score=pl.lit(float("nan"))).write_parquet("log.parquet")
    code, printed, said = called(capsys, "audit", "log.parquet", "--fail-on", "error")
    assert (code, "60 of 60 rows" in said[0] or "60" in said[0]) == (1, True)
    assert "error" in printed
    assert called(capsys, "evaluate", "log.parquet", "rr")[0] == 2


# other programs


def test_junit(capsys: Captured) -> None:
    """A case for each gate and row; failures have the reason."""
    arguments = ["evaluate", "log.parquet", "rr", "--by", "device", "--fail-under", "rr=0.8", "--junit", "gates.xml"]
    _, _, said = called(capsys, *arguments)
    suite = xml.parse("gates.xml").getroot()
    assert suite.attrib == {"name": "frame-metrics", "tests": "2", "failures": "1", "errors": "0"}
    assert [case.attrib["name"] for case in suite] == [f"rr at least 0.8 (device {d})" for d in ("desktop", "mobile")]
    failures = [one.attrib["message"] for one in suite.iter("failure")]
    assert [f"frame-metrics: gate failed: {one}" for one in failures] == said


def test_junit_of_an_error(capsys: Captured) -> None:
    """A wrong call leaves a file that says it, and none of the run before."""
    Path("gates.xml").write_text("old")
    arguments = ["evaluate", "none.parquet", "rr", "--fail-under", "rr=0.8", "--junit", "gates.xml"]
    assert called(capsys, *arguments)[0] == 2
    suite = xml.parse("gates.xml").getroot()
    assert (suite.attrib["errors"], suite.attrib["tests"]) == ("1", "1")
    assert "none.parquet: there is no such file" in next(suite.iter("error")).attrib["message"]


def test_github(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a workflow the result and the gates are in the summary, and failures are annotations."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    Path("summary.md").write_text("before\n")
    code, _, said = called(capsys, "evaluate", "log.parquet", "rr", "--fail-under", "rr=0.8", "--fail-over", "rr=0.9")
    assert code == 1
    assert said[1] == f"::error title=frame-metrics evaluate::rr is {VALUE:.6g}, under 0.8"
    summary = Path("summary.md").read_text()
    assert summary.startswith(
        "before\n### frame-metrics evaluate\n\n| metric | k | average | value | n | n_undefined |\n"
    )
    assert f"- ❌ rr is {VALUE:.6g}, under 0.8\n- ✅ rr is {VALUE:.6g}, at most 0.9\n" in summary
    code, _, said = called(capsys, "evaluate", "none.parquet", "rr")
    assert (code, said[1]) == (2, "::error title=frame-metrics::none.parquet: there is no such file")
    assert "❌ none.parquet: there is no such file" in Path("summary.md").read_text()


def test_a_broken_pipe_is_quiet(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody reads on, only the gates are told of, and their code is the same."""
    there, here = os.pipe()
    os.close(there)
    with monkeypatch.context() as patch, os.fdopen(here, "w") as pipe:
        patch.setattr(sys, "stdout", pipe)
        codes = [main(["evaluate", "log.parquet", "rr", "--fail-under", f"rr={limit}"]) for limit in (0.5, 0.9)]
    assert codes == [0, 1]
    assert [line.split()[2] for line in capsys.readouterr().err.splitlines()] == ["passed:", "failed:"]


# wrong calls, and what is not compared


@pytest.mark.parametrize("limit", ["nan", "inf", "-inf"])
@pytest.mark.parametrize("gate", ["fail-under", "fail-over"])
def test_a_limit_is_finite(gate: str, limit: str, capsys: Captured) -> None:
    """Settings and flags refuse a limit that nothing, or everything, passes."""
    Path("c.toml").write_text(f"{gate} = {{ rr = {limit} }}")
    code, printed, said = called(capsys, "evaluate", "log.parquet", "rr", "--config", "c.toml")
    assert (code, printed) == (2, "")
    assert "is not a metric and its limit" in said[0]
    spelled = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[limit]
    assert called(capsys, "evaluate", "log.parquet", "rr", f"--{gate}", f"rr={spelled}")[0] == 2


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_queries_without_a_saved_number_are_said(command: str, capsys: Captured) -> None:
    """Queries of one side alone are said; the gate fails where they are more than half of a side."""
    gate = [command, "log.parquet", "rr", "--fail-if-worse-than", "saved.parquet", "--junit", "gates.xml"]
    save(capsys, "saved.parquet", *(1, 2, 1, 3) * 3)
    code, _, (told, passed) = called(capsys, *gate)
    assert (code, told) == (0, "frame-metrics: rr was compared without some: 8 of 20 queries have no saved number")
    assert passed == "frame-metrics: gate passed: rr 0.708 against 0.708: a difference of 0.0, p_adjusted 1.0"
    assert "8 of 20 queries have no saved number" in Path("gates.xml").read_text()
    save(capsys, "saved.parquet", *(1, 2, 1, 3, 1) * 2)
    told = "rr was compared without some: 10 of 20 queries have no saved number"  # exactly half may
    assert called(capsys, *gate)[2][0] == f"frame-metrics: {told}"
    save(capsys, "saved.parquet", *(1, 2, 1) * 3)
    code, _, said = called(capsys, *gate)
    told = "rr cannot be compared: 11 of 20 queries have no saved number, and at most half may"
    assert (code, said) == (1, [f"frame-metrics: gate failed: {told}"])
    assert told in Path("gates.xml").read_text()
    save(capsys, "saved.parquet", *(1, 2, 1, 3) * 50)
    gone = "180 of 200 saved queries are not in the log"
    lost = f"frame-metrics: gate failed: rr cannot be compared: {gone}, and at most half may"
    assert called(capsys, *gate)[::2] == (1, [lost])
    assert called(capsys, *gate, "--max-drop", "0.5")[::2] == (1, [lost])
    sure = [command, "log.parquet", "rr", "--not-worse-than", "saved.parquet", "--margin", "rr=0.5"]
    told = f"gate undecided: rr cannot be compared: {gone}, and at most half may"
    assert called(capsys, *sure)[::2] == (4, [f"frame-metrics: {told}"])


WRONG_TYPES = (
    *("output = 3", "output = {a = 1}", "junit = 3", "qrels = 3", "fail-if-worse-than = 3", "metrics = 3"),
    *("input = 3", 'input = ["log.parquet", 3]', "qrels-query = 3", "memory = []"),
)


@pytest.mark.parametrize("said", WRONG_TYPES)
def test_settings_of_a_wrong_type(said: str, capsys: Captured) -> None:
    """A value of a type that an option cannot have is a wrong call, and names the option."""
    Path("c.toml").write_text(said)
    code, printed, told = called(capsys, "evaluate", "log.parquet", "rr", "--config", "c.toml")
    assert (code, printed, len(told)) == (2, "", 1)
    name = said.partition(" =")[0].replace("metrics", "metric")
    assert name.replace("-", "_") in told[0].replace("-", "_")


@pytest.mark.parametrize("closed", ["stdout", "stdin"])
def test_a_closed_stream_is_an_error(closed: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(sys, closed, None)
        name = ["-", "--from", "csv"] if closed == "stdin" else ["log.parquet"]
        assert main(["evaluate", *name, "rr"]) == 2
    assert "is closed" in capsys.readouterr().err


@pytest.mark.parametrize("rows", ["", "1,a,2.0,\n2,b,1.0,\n"])
@pytest.mark.parametrize("role", ["grade", "rank"])
def test_a_csv_without_values(role: str, rows: str, capsys: Captured) -> None:
    """A log of CSV with a header only, or without any grade, has what the same frame has in Python."""
    names = ["query", "doc", "score" if role == "grade" else "grade", role]
    Path("log.csv").write_text(f"{','.join(names)}\n{rows}")
    code, printed, said = called(capsys, "evaluate", "log.csv", "rr")
    assert (code, said) == (0, [])
    types = dict(zip(names, (pl.String, pl.String, pl.Float64, pl.Float64), strict=True))
    same = IRM(pl.read_csv("log.csv", schema_overrides=types)).evaluate("rr")
    assert printed == same.write_csv()


@pytest.mark.parametrize("name", ["log.parquet", "l*.parquet", "."])
def test_the_input_is_not_written_over(name: str, capsys: Captured) -> None:
    before = Path("log.parquet").read_bytes()
    code, _, said = called(capsys, "evaluate", name, "rr", "-o", "./log.parquet")
    assert (code, Path("log.parquet").read_bytes() == before) == (2, True)
    assert said == [f"frame-metrics: --output ./log.parquet: it is read as {name}; write to another file"]


GATE = ("--fail-under", "rr=0.5")


@pytest.mark.parametrize(
    "call",
    [
        ("evaluate", "log.csv", "rr", *GATE),
        ("evaluate", "log.csv", "rr"),
        ("evaluate", "log.csv", "nothing", *GATE),
        ("evaluate", ".", "rr", *GATE),
        ("evaluate", "log.csv", "rr", "--fail-under", "rr=x"),
        ("audit", "log.csv", "--fail-on", "error"),
        ("audit", "log.csv", "rr", "--fail-on", "error"),
        ("evaluate", "log.parquet", "rr", "--qrels", "log.csv", *GATE),
        ("evaluate", "log.parquet", "rr", "--fail-if-worse-than", "log.csv"),
        ("evaluate", "log.parquet", "rr", "--config", "log.csv", *GATE),
        ("evaluate", "log.parquet", "rr", "-o", "log.csv", *GATE),
        ("evaluate", "log.parquet", "rr", "log.csv", *GATE),
        ("evaluate", "log.parquet", "rr", "--metric", "log.csv", *GATE),
    ],
    ids=" ".join,
)
def test_junit_writes_over_nothing_that_is_named(call: tuple[str, ...], capsys: Captured) -> None:
    """No error is written to a file that is read, or that another flag writes; nothing else is written either."""
    ranked().write_csv("log.csv")
    if "--config" in call:
        Path("log.csv").write_text("rel = 1")
    before = Path("log.csv").read_bytes()
    code, printed, said = called(capsys, *call, "--junit", "./log.csv")
    assert (code, printed, Path("log.csv").read_bytes() == before) == (2, "", True)
    assert "rr=x" in call or "--junit ./log.csv: it is " in said[0]


@pytest.mark.parametrize(("config", "name"), [(["--config", "s.toml"], "s.toml"), ([], "pyproject.toml")])
def test_settings_are_not_written_over(config: list[str], name: str, capsys: Captured) -> None:
    Path(name).write_text("[tool.frame_metrics]\nrel = 1" if name == "pyproject.toml" else "rel = 1")
    before = Path(name).read_bytes()
    code, _, said = called(capsys, "evaluate", "log.parquet", "rr", *config, "--to", "csv", "-o", name)
    assert (code, Path(name).read_bytes()) == (2, before)
    assert said == [f"frame-metrics: --output {name}: it is read as {name}; write to another file"]


def test_two_files_are_not_written_to_one(capsys: Captured) -> None:
    """Whether it is there or not, and however it is spelled."""
    code, _, said = called(capsys, "evaluate", "log.parquet", "rr", "-o", "out.csv", *GATE, "--junit", "./out.csv")
    assert (code, Path("out.csv").exists()) == (2, False)
    assert said == ["frame-metrics: --junit ./out.csv: it is written by --output too; write to another file"]


def test_an_arm_has_one_share(capsys: Captured) -> None:
    """Two spellings of a number are one arm, of which no share is lost."""
    shares = [f"--split={name}" for name in ("0=0.5", "0.0=0.5", "1=0.5")]
    code, _, said = called(capsys, "audit", "log.parquet", "--system", "grade", *shares)
    assert (code, said) == (2, ["frame-metrics: --split: '0', '0.0' are one arm; pass it once"])


# not worse by more than a margin


def save_numbers(**systems: list[float]) -> None:
    """Save the numbers of queries, a file for each system."""
    for name, values in systems.items():
        pl.DataFrame({"query": range(len(values)), "ndcg": values}).write_parquet(f"{name}.parquet")
        saved = {"query": range(len(values)), "metric": "ndcg", "value": values}
        pl.DataFrame(saved).write_parquet(f"{name}_saved.parquet")


OLD = [at % 7 / 10 for at in range(40)]
MOVED = [0.01 * (at % 5 - 2) for at in range(40)]
HELD = ["--value", "ndcg", "--not-worse-than", "old_saved.parquet", "--margin"]


@pytest.mark.parametrize(("new", "code"), [(0.0, 0), (-0.05, 1)])
def test_a_system_is_not_held_against_itself(new: float, code: int, capsys: Captured) -> None:
    """One file has both systems: of forty queries that are all the same nothing can be told, and nobody asks."""
    better = [a + b + new for a, b in zip(OLD, MOVED, strict=True)]
    both = {"query": [*range(40)] * 2, "run": ["old"] * 40 + ["new"] * 40, "ndcg": [*OLD, *better]}
    pl.DataFrame(both).write_parquet("both.parquet")
    gate = ["evaluate", "both.parquet", "--value", "ndcg", "--system", "run", "--not-worse-than", "both.parquet"]
    found, _, said = called(capsys, *gate, "--saved-system", "old", "--margin", "0.02")
    assert found == code, said


# Gates that name a system, an arm or a period in the place of a file, by command, and the rows that they read.
ON_ARMS = {
    "ab-test both.parquet --arm run": "ab-test both.parquet --arm run --baseline old",
    "change both.parquet --arm run": "ab-test both.parquet --arm run --baseline old",
    "compare both.parquet --system run": "compare both.parquet --system run --baseline old",
}


@pytest.mark.parametrize("flags", [["--baseline", "old", "--fail-if-worse"], ["--fail-if-worse-than", "old"]])
@pytest.mark.parametrize("call", ON_ARMS)
def test_a_gate_names_an_arm(call: str, flags: list[str], capsys: Captured) -> None:
    """It fails by the p-value that is printed, and passes where the loss is accepted."""
    worse = [a + b - 0.05 for a, b in zip(OLD, MOVED, strict=True)]
    shared = call.startswith("compare")
    queries = [*range(40)] * 2 if shared else [*range(80)]
    rows = {"query": queries, "run": ["old"] * 40 + ["new"] * 40, "ndcg": [*OLD, *worse]}
    pl.DataFrame(rows).write_parquet("both.parquet")
    asked = ["--value", "ndcg"]
    code, printed, told = called(capsys, *call.split(), *asked, *flags)
    assert printed == called(capsys, *ON_ARMS[call].split(), *asked)[1]
    assert code == shared  # of other queries the loss is not sure
    assert f"(run new): a difference of -0.05{', p = ' if shared else ' ('}" in told[-1]
    for loss, fails in ((0.04, 1), (0.06, 0)):
        assert called(capsys, *call.split(), *asked, *flags, "--max-drop", str(loss))[0] == fails
    code, _, told = called(capsys, *call.split(), *asked, "--fail-if-worse-than", "odl")
    assert (code, "did you mean 'old'?" in told[0]) == (2, True)


# Calls of a gate on a loss that is excluded or not, without the flag of a gate, or without the log of before.
OF_LOSS = (
    "compare old.parquet new.parquet --margin {}",
    "evaluate old.parquet new.parquet --margin={}",
    "compare old.parquet new.parquet --not-worse --margin {}",
    "compare old.parquet new.parquet --not-worse-than {}",
    "compare new.parquet --not-worse old.parquet --margin {}",
    "compare old.parquet same.parquet new.parquet --margin {}",
    "compare old.parquet same.parquet new.parquet --fail-if-worse --margin {}",
    "compare both.parquet --system run --baseline old --margin {}",
    "compare both.parquet --system run --baseline old --fail-if-worse --margin {}",
)


@pytest.mark.parametrize("call", OF_LOSS)
def test_a_loss_that_is_accepted_is_a_gate(call: str, capsys: Captured) -> None:
    """A margin beside files, or a baseline, limits the loss, whatever the gate is called; nothing passes unchecked."""
    values = {"old": OLD, "same": [a + b for a, b in zip(OLD, MOVED, strict=True)]}
    values["new"] = [one - 0.05 for one in values["same"]]
    rows = {name: pl.DataFrame({"query": range(40), "ndcg": its}) for name, its in values.items()}
    for name, one in rows.items():
        one.write_parquet(f"{name}.parquet")
    pl.concat(one.with_columns(run=pl.lit(name)) for name, one in rows.items()).write_parquet("both.parquet")
    for margin, code, word in (("0.02", 1, "failed"), ("0.09", 0, "passed")):
        found, _, said = called(capsys, *call.format(margin).split(), "--value", "ndcg")
        assert (found, f"gate {word}: ndcg" in said[-1]) == (code, True), said


def test_a_level_that_no_permutations_reach_is_undecided(capsys: Captured) -> None:
    """A loss whose p-value is the least that permutations give passes no gate at a level below it."""
    lost = [a + b - 0.05 for a, b in zip(OLD, MOVED, strict=True)]
    save_numbers(old=OLD, new=lost, better=[one + 0.1 for one in lost])
    gate = ["--value", "ndcg", "--fail-if-worse-than", "old_saved.parquet", "--alpha"]
    for name, alpha, code in (("new", "0.00001", 4), ("new", "0.0001", 1), ("better", "0.00001", 0)):
        found, _, said = called(capsys, "compare", f"{name}.parquet", *gate, alpha)
        assert (found, "so that the gate cannot fail" in said[-1]) == (code, code == 4), said


def test_versions_in_one_file_have_gates(capsys: Captured) -> None:
    """Decisions of systems of one file are compared with those of the baseline, which is no system of the result."""
    rows = pl.DataFrame({"id": range(40), "label": list("ab") * 20, "guess": list("ab") * 20})
    worse = rows.with_columns(guess=pl.Series(list("ab") * 15 + list("aa") * 5))
    pl.concat(
        one.with_columns(run=pl.lit(name)) for name, one in (("old", rows), ("new", worse), ("same", rows))
    ).write_parquet("versions.parquet")
    call = ["compare", "versions.parquet", "accuracy", "--predicted", "guess", "--doc", "id", "--system", "run"]
    call += ["--positive", "b", "--baseline", "old", "--columns", "run,n_tests", "--to", "csv"]
    for gate, code in ((["--max-drop", "0.1"], 1), (["--max-drop", "0.2"], 0), (["--fail-if-worse"], 0)):
        found, out, said = called(capsys, *call, *gate)
        assert (found, out.split()) == (code, ["run,n_tests", "new,2", "same,2"]), said


def test_a_threshold_that_no_metric_reads_is_said(capsys: Captured) -> None:
    """A limit that is written as a threshold is told from one of decisions."""
    note = "frame-metrics: --threshold changes none of these metrics; a gate is --fail-under 0.8"
    for metric, notes in (("roc_auc", [note]), ("f1", [])):
        pl.DataFrame({"label": [0, 1, 1], "score": [0.2, 0.9, 0.1]}).write_parquet("cases.parquet")
        assert called(capsys, "evaluate", "cases.parquet", metric, "--threshold", "0.8")[2] == notes


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_a_loss_of_the_margin_has_to_be_excluded(command: str, capsys: Captured) -> None:
    """A gate passes where a loss of the margin is excluded, fails where it is not, and is undecided where few moved."""
    better = [a + b for a, b in zip(OLD, MOVED, strict=True)]
    few = [value / 2 if at < 3 else value for at, value in enumerate(OLD)]
    save_numbers(old=OLD, new=better, bad=[value - 0.05 for value in better], few=few)
    assert called(capsys, command, "new.parquet", *HELD, "ndcg=0.02")[0] == 0
    assert called(capsys, command, "new.parquet", *HELD, ".02")[0] == 0
    code, _, said = called(capsys, command, "bad.parquet", *HELD, "ndcg=0.02")
    assert code == 1
    assert said[0].startswith("frame-metrics: gate failed: ndcg is 0.2375 against 0.2875")
    assert ": a loss of up to 0.05" in said[0]
    code, _, said = called(capsys, command, "few.parquet", *HELD, "ndcg=0.02")
    assert code == 4
    assert said[0].startswith("frame-metrics: gate undecided: ndcg is")
    assert said[0].endswith(": 2 of 40 queries moved: too few to exclude a loss in rare ones")
    assert called(capsys, command, "new.parquet", *HELD, "ndcg=0.001")[0] == 1
    assert called(capsys, command, "new.parquet", *HELD, "ndcg=0.001", "--alpha", "0.9")[0] == 0


def test_a_gate_that_is_undecided_is_no_success(capsys: Captured) -> None:
    """JUnit counts it as a failure; a failed gate beside it decides about the code."""
    save_numbers(old=OLD, few=[value / 2 if at < 3 else value for at, value in enumerate(OLD)])
    assert called(capsys, "evaluate", "few.parquet", *HELD, "0.02", "--junit", "gates.xml")[0] == 4
    suite = xml.parse("gates.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    assert called(capsys, "evaluate", "few.parquet", *HELD, "0.02", "--fail-under", "ndcg=0.9")[0] == 1


def test_a_metric_without_a_direction_is_undecided(capsys: Captured) -> None:
    """Nothing says whether more of a latency is a loss."""
    each = [float(at) for at in range(40)]
    saved = pl.DataFrame({"query": range(40), "metric": "latency", "value": each})
    saved.write_parquet("saved.parquet")
    pl.DataFrame({"query": range(40), "latency": [at + at % 3 for at in each]}).write_parquet("now.parquet")
    gate = ["--not-worse-than", "saved.parquet", "--margin", "latency=2"]
    code, _, said = called(capsys, "evaluate", "now.parquet", "--value", "latency", *gate)
    assert code == 4
    assert "whether more of latency is better or worse is not known" in said[0]


def test_each_system_is_held_against_its_own_numbers(capsys: Captured) -> None:
    """Systems with their own saved numbers are candidates: their p-values are corrected for each other."""
    each = [(at, name, OLD[at]) for name in "ab" for at in range(40)]
    old = pl.DataFrame(each, schema=["query", "system", "ndcg"], orient="row")
    old.with_columns(ndcg=old["ndcg"] + pl.Series(MOVED * 2)).write_parquet("now.parquet")
    old.unpivot("ndcg", index=["query", "system"], variable_name="metric").write_parquet("saved.parquet")
    asked = ["compare", "now.parquet", "--system", "system", "--value", "ndcg", "--columns", "p_not_worse"]
    gate = ["--not-worse-than", "saved.parquet", "--margin", "0.005"]
    code, printed, _ = called(capsys, *asked, *gate)
    alone = called(capsys, *asked, *gate, "--correction", "none")[1].split()
    assert code == 0
    assert [float(p) for p in printed.split()[1:]] == [2 * float(p) for p in alone[1:]]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["--not-worse-than", "old_saved.parquet"], "--not-worse-than requires the loss that is still accepted"),
        (["--margin", "0.1"], "--margin requires --fail-if-worse-than or --not-worse-than"),
        ([*HELD[2:], "0"], "--margin 0 is not a number above 0"),
        ([*HELD[2:], "rr=0.1"], "'rr' is none of the metrics that are compared"),
        ([*HELD[2:], "x"], "'x' is not a number"),
        ([*HELD[2:], "0.1", "--fail-if-worse-than", "old_saved.parquet"], "each name a baseline; pass one of them"),
    ],
)
def test_calls_about_margins_that_are_wrong(given: list[str], told: str, capsys: Captured) -> None:
    """A margin belongs to a gate, and a gate has a margin that can be read; nothing else is a failed gate."""
    save_numbers(old=OLD)
    code, _, said = called(capsys, "evaluate", "old.parquet", "--value", "ndcg", *given)
    assert code == 2
    assert told in said[0]


def test_too_few_queries_that_do_not_move_are_undecided(capsys: Captured) -> None:
    """Where no query moved, the gate says how many it takes: as many as make (1 - margin)^n at most the level."""
    for n, code in ((30, 4), (298, 4), (299, 0)):
        rows = pl.DataFrame(
            {"query": range(n), "metric": "rr", "k": None, "value": [0.5, 1.0] * (n // 2) + [1.0] * (n % 2)}
        )
        rows.write_parquet("same.parquet")
        gate = ["--value", "value", "--not-worse-than", "same.parquet", "--margin", "0.01"]
        found, _, said = called(capsys, "evaluate", "same.parquet", *gate)
        assert (found, said[0].startswith("frame-metrics: gate passed: rr ")) == (code, code == 0)
        if n == 30:
            assert (
                "none of 30 queries moved, too few to exclude a loss of 0.01 by rare ones: 299 queries, none" in said[0]
            )


@pytest.mark.parametrize("command", [["evaluate", "--system", "file"], ["compare"]], ids=["evaluate", "compare"])
def test_two_identical_systems_are_undecided(command: list[str], capsys: Captured) -> None:
    """Few queries, none of which moved, decide nothing, also where a correction for systems takes their p to 1.

    Two files of compare are two systems beside saved numbers, too.
    """
    for name in ("a.parquet", "a2.parquet"):
        ranked().write_parquet(name)
    called(capsys, "per-query", "a.parquet", "rr", "-o", "base.parquet")
    name, *system = command
    call = [name, "a.parquet", "a2.parquet", "rr", *system, "--not-worse-than", "base.parquet", "--margin", "0.01"]
    code, _, said = called(capsys, *call)
    assert (code, len(said)) == (4, 2)
    assert said[1].startswith("frame-metrics: gate undecided: ")
    assert "(file a2): none of 20 queries moved, too few to exclude a loss of 0.01 by rare ones, p = 1.0" in said[1]


def test_two_files_and_saved_numbers(capsys: Captured) -> None:
    """Each of two files of compare is compared with saved numbers, or with its own where they are of both."""
    for name in ("a.parquet", "a2.parquet"):
        ranked().write_parquet(name)
    called(capsys, "per-query", "a.parquet", "rr", "-o", "base.parquet")
    called(capsys, "per-query", "a.parquet", "a2.parquet", "rr", "--system", "file", "-o", "both.parquet")
    for saved, baselines in (("base.parquet", ["saved", "saved"]), ("both.parquet", ["a", "a2"])):
        code, printed, _ = called(capsys, "compare", "a.parquet", "a2.parquet", "rr", "--saved", saved)
        found = pl.read_csv(io.StringIO(printed))
        assert (code, found["file"].to_list(), found["baseline"].to_list()) == (0, ["a", "a2"], baselines)


# segments, totals, and drops that are sure


SEGMENTS = [at % 8 for at in range(160)]
BEFORE = [at % 7 / 10 for at in range(160)]
BY_SEGMENT = ["now.parquet", "--value", "rr", "--by", "s", "--margins", "--fail-if-worse-than", "saved.parquet"]


def save_segments(now: list[float], segments: list[int] = SEGMENTS, queries: list[int] | None = None) -> None:
    """Save values of queries in eight segments: those of before, and those of now."""
    keys = {"query": queries or [*range(len(now))], "s": segments}
    pl.DataFrame(keys | {"metric": "rr", "value": BEFORE}).write_parquet("saved.parquet")
    pl.DataFrame(keys | {"rr": now}).write_parquet("now.parquet")


def test_the_total_of_segments_is_gated(capsys: Captured) -> None:
    """Each segment loses a little, which is sure of all together alone; the same without --by."""
    save_segments([value - 0.02 + 0.3 * (at * 7 % 11 - 5) / 11 for at, value in enumerate(BEFORE)])
    code, _, (said,) = called(capsys, "evaluate", *BY_SEGMENT)
    whole = called(capsys, "evaluate", "now.parquet", "--value", "rr", *BY_SEGMENT[-2:])
    assert (code, whole[0]) == (1, 1)
    assert said.replace(" (total over s)", "") == whole[2][0]
    assert called(capsys, "evaluate", *BY_SEGMENT, "--max-drop", "0.01")[2][-1].endswith("0.01 worse is accepted")
    (passed,) = called(capsys, "evaluate", *BY_SEGMENT, "--max-drop", "0.04")[2]
    worst = "rr 0.253 against 0.285 (s 0): a difference of -0.0323, the worst of 9; up to 0.04 worse is accepted"
    assert passed == f"frame-metrics: gate passed: {worst}"


def test_a_total_over_queries_of_several_segments_is_no_comparison_of_queries(capsys: Captured) -> None:
    save_segments(BEFORE, queries=[at // 2 for at in range(160)])
    code, _, said = called(capsys, "evaluate", *BY_SEGMENT)
    assert code == 0
    why = "a query is in several of them; run the gate without --by too"
    assert said[0] == f"frame-metrics: the total over s is not compared: {why}"


def test_segments_are_corrected_together(capsys: Captured) -> None:
    """One segment of eight with a p of .03 is chance: as compare --over all says."""
    rng = np.random.default_rng(6)
    noise = rng.normal(0, 1, 160)
    moved = [0.1 * float(move) - 0.05 * (segment == 3) for segment, move in zip(SEGMENTS, noise, strict=True)]
    save_segments([a + b for a, b in zip(BEFORE, moved, strict=True)])
    alone = pl.read_csv(called(capsys, "compare", *BY_SEGMENT[:5], *BY_SEGMENT[-2:])[1].encode())["p_adjusted"].min()
    together = ["compare", *BY_SEGMENT[:5], "--over", "all", *BY_SEGMENT[-2:]]
    assert alone < 0.05 < pl.read_csv(called(capsys, *together)[1].encode())["p_adjusted"].min()
    assert called(capsys, "evaluate", *BY_SEGMENT[:5], *BY_SEGMENT[-2:])[0] == 0


PASSED, P = "frame-metrics: gate passed: rr", "p_adjusted 0.0001"
BEYOND = ["now.parquet", "--value", "rr", *BY_SEGMENT[-2:], "--margin"]


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_a_loss_beyond_a_margin_has_to_be_sure(command: str, capsys: Captured) -> None:
    """Each query that loses a little is sure; two of 160 that lose it all are not, nor is a loss near the margin."""
    save_segments([value - 0.01 - 0.1 * (at % 2) for at, value in enumerate(BEFORE)])
    code, _, (said,) = called(capsys, command, *BEYOND, "0.02")
    assert code == 1
    low = float(said.split("worse by at least ")[1].split(",")[0])
    assert 0.045 < low < 0.06
    assert said.endswith(", and up to 0.02 worse is accepted, at level 0.05")
    assert called(capsys, command, *BEYOND, f"rr={low - 1e-9}")[0] == 1
    code, _, (passed,) = called(capsys, command, *BEYOND, f"rr={low + 1e-9}")
    told = f"{PASSED} 0.238 against 0.298: a difference of -0.06 (-0.0675 to -0.0525), {P}"
    assert (code, passed) == (0, f"{told}; up to {low:.3g} worse is accepted")
    assert called(capsys, command, *BEYOND, f"rr={low - 1e-9}", "--alpha", "0.001")[0] == 0
    save_segments([value - 2.5 * (at in (7, 80)) for at, value in enumerate(BEFORE)])
    assert called(capsys, command, *BEYOND, "0.02")[0] == 0
    save_segments([value - 0.03 for value in BEFORE])  # which has no interval
    assert called(capsys, command, *BEYOND, "0.02")[0] == 1
    assert called(capsys, command, *BEYOND, "0.031")[0] == 0


def test_a_gain_is_no_loss_beyond_a_margin(capsys: Captured) -> None:
    """Of a metric of which less is better, more is the loss."""
    for name, lost in (("rr", -0.05), ("brier", 0.05)):
        keys = {"query": range(160), name: BEFORE}
        pl.DataFrame(keys).write_parquet("old.parquet")
        pl.DataFrame(keys | {name: [one + lost + (at % 3 - 1) / 100 for at, one in enumerate(BEFORE)]}).write_parquet(
            "new.parquet"
        )
        for one, other, code in (("old", "new", 1), ("new", "old", 0)):
            called(capsys, "per-query", f"{one}.parquet", "--value", name, "-o", "saved.parquet")
            gate = ["--value", name, "--fail-if-worse-than", "saved.parquet", "--margin", "0.04"]
            assert called(capsys, "evaluate", f"{other}.parquet", *gate)[0] == code


def test_intervals_of_segments_and_of_systems_are_those_of_all_together(capsys: Captured) -> None:
    """A segment that loses more than the margin by its own interval, and not by that of all segments, passes."""
    rng = np.random.default_rng(6)
    moved = [0.1 * float(move) - 0.07 * (s == 3) for s, move in zip(SEGMENTS, rng.normal(0, 1, 160), strict=True)]
    save_segments([a + b for a, b in zip(BEFORE, moved, strict=True)])
    alone = ["compare", *BY_SEGMENT[:5], *BY_SEGMENT[-2:], "--margin", "0.015"]
    assert called(capsys, *alone)[0] == 1
    assert called(capsys, "evaluate", *alone[1:])[0] == 0
    for name in ("saved", "now"):  # the segments as systems, each with its own saved numbers
        frame = pl.read_parquet(f"{name}.parquet").rename({"s": "system"})
        frame.with_columns(query=pl.col("query") // 8).write_parquet(f"{name}.parquet")
    own = [*alone[:4], "--system", "system", *alone[6:]]
    assert called(capsys, *own)[0] == 0
    assert called(capsys, *own, "--correction", "none")[0] == 1


def test_a_limit_of_the_mean_has_no_level(capsys: Captured) -> None:
    """The error leads to the margin, which has one."""
    save_segments([value - 0.03 for value in BEFORE])
    drop = ["evaluate", "now.parquet", "--value", "rr", *BY_SEGMENT[-2:], "--max-drop", "0.02"]
    for more in (["--alpha", "0.05"], ["--margin", "0.02"]):
        code, _, said = called(capsys, *drop, *more)
        assert code == 2
        assert "for a loss that is surely greater pass --margin in its place" in said[0]
        (line,) = (line for line in said if line.startswith("    frame-metrics "))
        assert "--max-drop" not in line
        code, _, said = called(capsys, *shlex.split(line)[1:])
        assert (code, "and up to 0.02 worse is accepted, at level 0.05" in said[0]) == (1, True)
