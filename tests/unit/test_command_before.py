"""A log of before, in the place of the numbers that were saved of it."""

from __future__ import annotations

import polars as pl
import pytest

from frame_metrics import IRM
from helpers import called

Captured = pytest.CaptureFixture[str]
FIRST = {"old": (1, 2, 1, 1) * 10, "new": (1, 3, 3, 1) * 10}  # the rank of the relevant result in each query
DECIDED = ["--label", "true", "--predicted", "said", "--doc", "ticket"]


@pytest.fixture(autouse=True)
def _logs(alone: None) -> None:
    """Logs of two weeks: of rankings, one with a column of rankers, and of decisions about tickets."""
    for at, (name, first) in enumerate(FIRST.items()):
        rows = [
            (f"q{q:03}", d, -float(rank if d == 0 else d + (d >= rank)), int(d == 0), "ab"[q % 2])
            for q, rank in enumerate(first)
            for d in range(3)
        ]
        log = pl.DataFrame(rows, schema=["query", "doc", "score", "grade", "side"], orient="row")
        log.write_csv(f"{name}.csv")
        log.drop("grade").write_csv(f"{name}_unjudged.csv")
        other = log.with_columns(-pl.col("score"), ranker=pl.lit("y"))
        pl.concat([log.with_columns(ranker=pl.lit("x")), other]).write_csv(f"{name}_two.csv")
        truth = list("aabbc" * 40)
        wrong = {n for n in range(200) if n % 20 < 1 + 4 * at}
        said = [("b" if one == "a" else "a") if n in wrong else one for n, one in enumerate(truth)]
        tickets = {"ticket": range(200), "true": truth, "said": said, "side": [f"s{n % 2}" for n in range(200)]}
        pl.DataFrame(tickets).write_csv(f"{name}_tickets.csv")
    log.select("query", "doc", "grade").write_csv("judged.csv")


@pytest.mark.parametrize(
    ("saving", "kind", "flags", "gate"),
    [
        ("per-query", "", [], []),
        ("per-query", "", ["--by", "side"], []),
        ("per-query", "", [], ["--margin", "0.01"]),
        ("evaluate", "", ["--by", "side"], ["--max-drop", "0.1"]),
        ("per-query", "_two", ["--system", "ranker"], []),
        ("per-query", "_unjudged", ["--qrels", "judged.csv"], []),
    ],
    ids=["all", "segments", "margin", "limit", "systems", "separate judgments"],
)
def test_a_log_of_before_is_as_its_saved_numbers(
    saving: str, kind: str, flags: list[str], gate: list[str], capsys: Captured
) -> None:
    """The gate says the same of the log as of the numbers that were saved of it."""
    assert called(capsys, saving, f"old{kind}.csv", "rr", *flags, "-o", "saved.csv")[0] == 0
    asked = ["evaluate", f"new{kind}.csv", "rr", *flags, *gate, "--fail-if-worse-than"]
    of_log, of_saved = (called(capsys, *asked, name) for name in (f"old{kind}.csv", "saved.csv"))
    assert of_log == of_saved
    assert of_log[0] == 1


def test_a_log_is_what_compare_and_a_margin_take_too(capsys: Captured) -> None:
    """Two files are two systems, and ``--saved`` a log of before; a metric that only a gate names is compared."""
    difference = called(capsys, "compare", "new.csv", "rr", "--saved", "old.csv", "--columns", "difference,p_value")[1]
    assert difference == called(capsys, "compare", "old.csv", "new.csv", "rr", "--columns", "difference,p_value")[1]
    gate = ["--not-worse-than", "old.csv", "--margin", "rr=0.5", "--margin", "p@1=0.01"]
    code, _, said = called(capsys, "evaluate", "new.csv", "rr", *gate)
    assert (code, [line.split(" is ")[0] for line in said]) == (1, ["frame-metrics: gate failed: p@1"])


def test_decisions_are_paired_with_those_of_before(capsys: Captured) -> None:
    """Rows without a query are paired by document, in every segment and in all, as two systems of one frame are."""
    pair = [pl.read_csv(f"{name}_tickets.csv").with_columns(model=pl.lit(name)) for name in FIRST]
    tickets = IRM(pl.concat(pair), label="true", predicted="said", doc="ticket", system="model")
    paired = tickets.compare("accuracy", baseline="old").row(0, named=True)
    asked = ["evaluate", "new_tickets.csv", "accuracy", *DECIDED, "--fail-if-worse-than", "old_tickets.csv"]
    code, _, said = called(capsys, *asked)
    told = f"a difference of {paired['difference']:.6g}, p = {paired['p_value']:.6g}, worse at level 0.05"
    assert (code, said) == (1, [f"frame-metrics: gate failed: accuracy is 0.75 against 0.95: {told}"])
    code, _, said = called(capsys, *asked, "--by", "side", "--margins")
    assert (code, len(said)) == (1, 3)
    assert "(side s0)" in said[0]
    assert "(total over side)" in said[2]
    assert called(capsys, *asked, "--max-drop", "0.3")[0] == 0
    assert called(capsys, *asked, "--margin", "0.1")[0] == 1


def test_decisions_of_before_in_other_commands(capsys: Captured) -> None:
    """The findings, and the page, are those of both logs, which are called as their files."""
    asked = ["new_tickets.csv", "accuracy", *DECIDED, "--saved", "old_tickets.csv"]
    summary = called(capsys, "summary", *asked, "--columns", "sentence")[1]
    assert "new_tickets loses to old_tickets: accuracy 0.750 against 0.950" in summary
    page = called(capsys, "report", *asked, "--format", "md")[1]
    assert "from a log in 'old_tickets.csv', 'new_tickets.csv'" in page
    by_change = called(capsys, "change", *asked, "--columns", "difference")[1]
    assert float(by_change.split()[1]) == pytest.approx(-0.2)
    assert called(capsys, "audit", asked[0], *asked[2:])[0] == 0


def test_decisions_without_a_document_or_of_several_systems(capsys: Captured) -> None:
    """Means can be limited without pairs; the error about pairs names the flag."""
    asked = ["evaluate", "new_tickets.csv", "f1", *DECIDED[:4], "--fail-if-worse-than", "old_tickets.csv"]
    assert "to pair rows without a query, name the document they are about with --doc" in called(capsys, *asked)[2][0]
    assert called(capsys, *asked, "--max-drop", "0.1")[0] == 1


def test_each_system_is_compared_with_its_own_decisions_of_before(capsys: Captured) -> None:
    """Systems are as segments, whose p-values are corrected together."""
    asked = ["evaluate", "new_tickets.csv", "accuracy", *DECIDED, "--system", "side"]
    code, _, said = called(capsys, *asked, "--fail-if-worse-than", "old_tickets.csv")
    assert (code, len(said)) == (1, 2)
    alone = called(capsys, *[*asked[:-2], "--by", "side"], "--fail-if-worse-than", "old_tickets.csv")[2]
    assert said == alone


def test_half_of_the_tickets_of_before_are_gone(capsys: Captured) -> None:
    """What is on one side alone is told of as rows."""
    pl.read_csv("new_tickets.csv").head(120).write_csv("new_tickets.csv")
    gate = ["--fail-if-worse-than", "old_tickets.csv", "--alpha", "1e-9"]
    said = called(capsys, "evaluate", "new_tickets.csv", "f1", *DECIDED, *gate)[2]
    assert said[0] == "frame-metrics: f1 was compared without some: 80 of 200 rows are in one of the logs only"


def test_queries_that_are_gone_count_as_0(capsys: Captured) -> None:
    """As in a comparison of two files; if fewer than half are in both logs, nothing is compared."""
    asked = ["evaluate", "fewer.csv", "rr", "--fail-if-worse-than", "old.csv"]
    new, compared = pl.read_csv("old.csv"), "frame-metrics: gate failed: rr cannot be compared: "
    new.filter(pl.col("query") < "q030").write_csv("fewer.csv")
    alone = "10 of 40 queries are in one of the logs only, and count as 0 in the other"
    assert alone in called(capsys, *asked)[2][0]
    assert called(capsys, *asked, "--unanswered", "drop")[0] == 0
    new.filter(pl.col("query") < "q019").write_csv("fewer.csv")
    alone = "21 of 40 queries are in one of the logs only, and count as 0 in the other"
    assert called(capsys, *asked)[2] == [f"{compared}{alone}, and at most half may"]
    undecided = ["--not-worse-than", "old.csv", "--margin", "0.1"]
    assert called(capsys, *asked[:3], *undecided)[0] == 4


def test_judgments_of_both_logs_count(capsys: Captured) -> None:
    """A relevant document that is found no more lowers recall; other labels of one document are an error."""
    old = pl.read_csv("old.csv")
    old.filter((pl.col("doc") != 0) | (pl.col("query") < "q020")).write_csv("lost.csv")
    asked = ["evaluate", "lost.csv", "recall@3", "--fail-if-worse-than", "old.csv"]
    assert "recall@3 is 0.5 against 1.0: a difference of -0.5" in called(capsys, *asked)[2][0]
    old.with_columns(grade=1 - pl.col("grade")).write_csv("lost.csv")
    code, _, said = called(capsys, *asked)
    assert (code, "120 pairs have two judgments" in said[0]) == (2, True)


def test_what_a_log_of_before_is(capsys: Captured) -> None:
    """A log with a column ``value`` is a log; columns that nothing reads may differ, and ids be numbers or texts."""
    number = 100 + pl.col("query").str.slice(1).cast(pl.Int64)
    odd = pl.read_csv("old.csv").with_columns(metric=pl.lit("rr"), value=1.0, query=number)
    odd.write_parquet("odd.parquet")
    pl.read_csv("new.csv").with_columns(query=number).write_csv("new.csv")
    asked = ["evaluate", "new.csv", "rr", "--fail-if-worse-than"]
    assert "rr is 0.66" in called(capsys, *asked, "odd.parquet")[2][0]
    odd.drop("score", "metric", "value").write_parquet("odd.parquet")
    assert (
        "odd.parquet: it has no column 'score', which the log is measured by"
        in called(capsys, *asked, "odd.parquet")[2][0]
    )
    odd.clear().write_parquet("odd.parquet")
    assert "odd.parquet: it has no rows" in called(capsys, *asked, "odd.parquet")[2][0]
    assert "it needs the name of a file, and has none" in called(capsys, *asked, "")[2][0]
    assert called(capsys, *asked, "new.csv")[0] == 0  # the log itself


def test_other_classes_and_directions_are_seen_by_limits_of_means(capsys: Captured) -> None:
    """A class that was predicted once is none of the average; less of a number without a direction counts as worse."""
    pl.read_csv("old_tickets.csv").with_columns(said=pl.Series(["x", *"b" * 199])).write_csv("stray.csv")
    gate = ["--fail-if-worse-than", "stray.csv", "--max-drop", "0.1"]
    asked = ["evaluate", "new_tickets.csv", "f1", *DECIDED]
    assert "are averages over different classes" in called(capsys, *asked, *gate)[2][0]
    for name, more in (("fast", 0), ("slow", 5)):
        pl.DataFrame({"query": range(20), "ms": [i + more for i in range(20)]}).write_csv(f"{name}.csv")
    gate = ["--fail-if-worse-than", "fast.csv", "--max-drop", "1"]
    code, _, (told, passed) = called(capsys, "evaluate", "slow.csv", "--value", "ms", *gate)
    assert (code, told) == (0, "frame-metrics: ms has no direction that is known, and less of it counts as worse")
    assert passed == "frame-metrics: gate passed: ms 14.5 against 9.5: a difference of 5.0; up to 1.0 worse is accepted"


def test_far_fewer_queries_than_before_fail_or_are_said(capsys: Captured) -> None:
    """At most half may be gone of what is measured again, as log or as means; of other rows fewer are a remark."""
    pl.read_csv("old.csv").filter(pl.col("query").rank("dense") <= 4).write_csv("four.csv")
    n = pl.read_csv("old.csv")["query"].n_unique()
    assert called(capsys, "evaluate", "old.csv", "rr", "-o", "means.csv")[0] == 0
    for few, gone in (("old.csv", False), ("four.csv", True)):
        for before in ("old.csv", "means.csv"):
            code, _, told = called(capsys, "evaluate", few, "rr", "--fail-if-worse-than", before, "--max-drop", "1")
            assert code == int(gone)
            why = f"gate failed: rr cannot be compared: n is 4, and was {n}, and at most half may"
            assert told[0].startswith(f"frame-metrics: {why if gone else 'gate passed: '}")
    for rows, gone in (("old", False), ("four", True)):
        pl.read_csv(f"{rows}.csv").with_columns(query="z" + pl.col("query")).write_csv("others.csv")
        code, _, told = called(capsys, "change", "others.csv", "rr", "--fail-if-worse-than", "old.csv")
        remark = f"frame-metrics: rr was compared over far fewer: n is 4, and was {n}"
        assert (code, told[0] == remark) == (0, gone)


def test_one_system_of_before(capsys: Captured) -> None:
    """Each system is compared with the one that is named; without a column of systems the error says what to do."""
    gate = ["--fail-if-worse-than", "old_two.csv", "--saved-system", "x", "--max-drop", "0.1"]
    said = called(capsys, "evaluate", "new_two.csv", "rr", "--system", "ranker", *gate)[2]
    assert ["against 0.875 (ranker x)" in said[0], "against 0.875 (ranker y)" in said[1]] == [True, True]
    assert (
        "no option names its column of systems; name it with --system"
        in called(capsys, "evaluate", "new.csv", "rr", *gate)[2][0]
    )


def test_more_files_than_two(capsys: Captured) -> None:
    """Each file is compared with the log of before; two periods and one more are an error."""
    asked = ["compare", "old.csv", "new.csv", "rr", "--saved", "old.csv", "--columns", "file,baseline"]
    assert sorted(called(capsys, *asked)[1].split()[1:]) == ["new,old.csv", "old,old.csv"]
    asked[4:] = ["--fail-if-worse-than", "old.csv", "--columns", "file,baseline"]  # no file is worse than itself
    assert called(capsys, *asked)[1].split()[1:] == ["new,old"]
    asked = ["change", "old.csv", "new.csv", "rr", "--saved", "old_two.csv"]
    assert "it is one more period than the two of change" in called(capsys, *asked)[2][0]


def test_files_of_one_query_beside_separate_judgments_are_not_one_log(capsys: Captured) -> None:
    """Results of two systems would be one list, though no document repeats."""
    pl.DataFrame({"query": "q000", "doc": [7, 8, 9], "score": [3.0, 2.0, 1.0]}).write_csv("other.csv")
    pl.read_csv("old_unjudged.csv").drop("side").write_csv("one.csv")
    said = called(capsys, "evaluate", "one.csv", "other.csv", "rr", "--qrels", "judged.csv")[2]
    assert "queries are in several files" in said[0]
    (told,) = called(capsys, "change", "old.csv", "new.csv", "rr", "--saved", "saved.csv")[2]
    assert "--saved saved.csv: it is one more period than the two of change; name two files alone" in told


@pytest.mark.parametrize(
    "gate", [["--fail-if-worse-than", "old.csv"], ["--not-worse-than", "old.csv", "--margin", "0.9"]]
)
def test_a_gate_refuses_averages_that_it_does_not_compare(gate: list[str], capsys: Captured) -> None:
    """A comparison is of means; a limit of the log of before takes the average that is printed."""
    asked = ["evaluate", "new.csv", "rr", *gate]
    code, _, (told, line) = called(capsys, *asked, "--average", "median")
    assert (code, f"{gate[0]} compares the macro mean, and not --average median; leave out" in told) == (2, True)
    assert line == f"    {' '.join(['frame-metrics', *asked])}"
    assert called(capsys, *asked, "--average", "median", "--average", "macro")[0] != 2
    limit = ["--fail-if-worse-than", "old.csv", "--max-drop", "1", "--average", "median"]
    assert called(capsys, "evaluate", "new.csv", "rr", *limit)[0] == 0
