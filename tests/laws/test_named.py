"""What a caller names for a summary or a report is in the result, in a sentence, or an error that says its name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from frame_metrics import IRM, FrameMetricsError
from frame_metrics.command import main
from helpers import KINDS, as_kind, as_polars, error

N = 40
OLD, NEW = [1] * N, [1, 4] * (N // 2)


def runs(**ranks: list[int]) -> pl.DataFrame:
    """Systems with one relevant document a query, at a rank; by day, which is a time, and by place."""
    query = pl.Series("query", range(N))
    days = pl.DataFrame({"query": query, "day": [f"2026-01-0{1 + i % 3}" for i in range(N)], "place": "here"})
    each = [days.with_columns(run=pl.lit(name), rank=pl.Series(rank), label=True) for name, rank in ranks.items()]
    return pl.concat(each)


BOTH = runs(old=OLD, new=NEW)
THREE = runs(old=OLD, new=NEW, late=[2] * N)
ONE = BOTH.filter(run="new").drop("run")
SAVED = BOTH.filter(run="old").drop("run").irm.per_query("rr")
BY_DAY = BOTH.filter(run="old").drop("run").irm(by="day").per_query("rr")
MANY = pl.concat([ONE, ONE.with_columns(pl.col("query") + N)]).with_columns(day=pl.col("query").cast(pl.String))

# The frame, its roles, the metrics, the options, and the words that the result has to say.
IN_A_SENTENCE: dict[str, tuple[pl.DataFrame, dict[str, Any], list[str], dict[str, Any], list[str]]] = {
    "a baseline": (BOTH, {"system": "run"}, ["rr"], {"baseline": "old"}, ["new loses to old"]),
    "a baseline that is the best": (BOTH, {"system": "run"}, ["rr"], {"baseline": "new"}, ["old beats new"]),
    "two baselines": (
        *(THREE, {"system": "run"}, ["rr"], {"baseline": ["old", "late"]}),
        ["new loses to old", "new and late cannot be told apart"],
    ),
    "baselines that are alone": (BOTH[:N], {"system": "run"}, ["rr"], {"baseline": "old"}, ["compared with old"]),
    "saved numbers": (ONE, {}, ["rr"], {"baseline": SAVED}, ["This frame loses to saved"]),
    "one metric that is not saved": (ONE, {}, ["rr", "ap"], {"baseline": SAVED}, ["loses to", "ap is not compared"]),
    "the first that is not saved": (
        *(ONE, {}, ["ap", "rr"], {"baseline": SAVED}),
        ["ap is 0.6", "This frame loses to saved: rr", "ap is not compared: the baseline has no numbers of 'ap'"],
    ),
    "no metric that is saved": (ONE, {}, ["ap"], {"baseline": SAVED}, ["ap is 0.6", "ap is not compared"]),
    "no query that is saved": (
        *(ONE, {}, ["rr"], {"baseline": SAVED.with_columns(pl.col("query") + 1000)}),
        ["Nothing is compared with the saved numbers: it shares no query"],
    ),
    "segments of saved numbers": (
        *(ONE, {"by": "day"}, ["rr"], {"baseline": BY_DAY.filter(pl.col("day") != "2026-01-02")}),
        ["This frame loses to saved", "Nothing is compared in day = 2026-01-02: there are no saved numbers"],
    ),
    "segments that are gone": (
        *(ONE.filter(pl.col("day") != "2026-01-02"), {"by": "day"}, ["rr"], {"baseline": BY_DAY}),
        ["This frame loses to saved", "1 saved segment is not in the frame, as day = 2026-01-02"],
    ),
    "a metric that needs more": (ONE, {}, ["rr", "specificity@5"], {}, ["rr is 0.6", "specificity@5 is not computed"]),
    "a metric that is an average": (
        *(BOTH.with_columns(doc=pl.lit("x")), {"system": "run"}, ["rr", "catalogue_gini"], {"baseline": "old"}),
        ["new loses to old"],
    ),
    "too many segments": (MANY, {"by": "day"}, ["rr"], {}, ["no segment has 5 searches, and as many outside"]),
    "small segments": (ONE, {"by": "day"}, ["rr"], {}, ["Looked for and not found: a segment that stands out"]),
    "one query": (BOTH.filter(query=1), {"system": "run"}, ["rr"], {"baseline": "old"}, ["over 1 search: too few"]),
}  # fmt: skip
# And those that exist nowhere, with the words of the error.
ERRORS: dict[str, tuple[pl.DataFrame, dict[str, Any], list[str], dict[str, Any], str]] = {
    "a baseline": (BOTH, {"system": "run"}, ["rr"], {"baseline": "odl"}, "baseline='odl' is not among the systems"),
    "one of two baselines": (THREE, {"system": "run"}, ["rr"], {"baseline": ["old", "odl"]}, "'odl'"),
    "every system": (BOTH, {"system": "run"}, ["rr"], {"baseline": ["old", "new"]}, "names every system of run"),
    "a baseline without systems": (ONE, {}, ["rr"], {"baseline": "old"}, "name their column with system="),
    "a metric": (BOTH, {"system": "run"}, ["rr", "adcg"], {}, "'adcg'"),
    "a metric of numbers": (SAVED, {"value": "value"}, ["mpa"], {}, "'mpa'"),
    "a column": (BOTH, {"system": "rnu"}, ["rr"], {}, "'rnu'"),
    "a segment": (BOTH, {"system": "run", "by": "dya"}, ["rr"], {}, "'dya'"),
    "a covariate": (BOTH, {"arm": "run"}, ["rr"], {"covariate": "befor"}, "'befor'"),
    "an arm": (
        *(BOTH.with_columns(pl.col("query") + N * (pl.col("run") == "new")), {"arm": "run"}, ["rr"]),
        *({"split": {"old": 0.5, "nwe": 0.5}}, "'new'"),
    ),
    "no saved numbers": (ONE, {}, ["rr"], {"baseline": SAVED.rename({"query": "qid"})}, "'query'"),
}


def irm_of(frame: pl.DataFrame, roles: dict[str, Any], kind: str) -> IRM[Any]:
    return IRM(as_kind(frame, kind), **roles)


@pytest.fixture
def nothing_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A verb that computes values says so."""

    def evaluate(*asked: Any, **options: Any) -> None:
        raise AssertionError("values were computed before the names were looked up")

    monkeypatch.setattr(IRM, "evaluate", evaluate)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", IN_A_SENTENCE)
def test_what_exists_is_in_a_sentence(case: str, kind: str) -> None:
    """What can be compared is compared; of what cannot the first block says why."""
    frame, roles, metrics, options, words = IN_A_SENTENCE[case]
    if isinstance(saved := options.get("baseline"), pl.DataFrame):
        options = options | {"baseline": as_kind(saved, kind)}
    said = "\n".join(as_polars(irm_of(frame, roles, kind).summary(*metrics, **options))["sentence"])
    for word in words:
        assert word in said


@pytest.mark.parametrize("case", IN_A_SENTENCE)
def test_the_first_block_of_a_page_says_it_too(case: str) -> None:
    """A report has the sentences of the summary on top."""
    frame, roles, metrics, options, words = IN_A_SENTENCE[case]
    page = IRM(frame, **roles).report(metrics=metrics, format="md", queries=0, **options)
    block = page.partition("## Summary")[2].partition("\n## ")[0]
    for word in words:
        assert word in block


@pytest.mark.usefixtures("nothing_computed")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("verb", ["summary", "report"])
@pytest.mark.parametrize("case", [case for case in ERRORS if case not in ("a metric of numbers", "an arm")])
def test_what_exists_nowhere_is_an_error_before_anything_is_computed(case: str, verb: str, kind: str) -> None:
    """Nothing is left out in silence."""
    assert ERRORS[case][4] in refused(case, verb, kind)


@pytest.mark.parametrize("verb", ["summary", "report"])
@pytest.mark.parametrize("case", ["a metric of numbers", "an arm"])
def test_what_only_the_values_show_is_an_error_too(case: str, verb: str) -> None:
    """As the names of metrics in a column, and shares of arms."""
    assert ERRORS[case][4] in refused(case, verb, "polars")


def refused(case: str, verb: str, kind: str) -> str:
    """Return the error of a call."""
    frame, roles, metrics, options, _ = ERRORS[case]
    if isinstance(saved := options.get("baseline"), pl.DataFrame):
        options = options | {"baseline": as_kind(saved, kind)}
    call: Callable[..., Any] = IRM.report if verb == "report" else IRM.summary
    if verb == "report":
        return error(
            lambda: pl.DataFrame({"": call(irm_of(frame, roles, kind), metrics=metrics, format="md", **options)})
        )
    return error(lambda: call(irm_of(frame, roles, kind), *metrics, **options))


@pytest.mark.parametrize("form", ["lists", "columns", "columns without a query", "values", "judged"])
def test_a_misspelt_baseline_is_an_error_in_every_form(form: str) -> None:
    """Systems may be columns, rows may hold lists, numbers may be saved, judgments may stand beside the log."""
    wide = pl.DataFrame({"query": range(N), "doc": "x", "label": [True, False] * (N // 2), "old": 2.0, "new": 1.0})
    irm: IRM[Any] = {
        "lists": BOTH.group_by("run", "query").agg("rank", "label").irm(system="run"),
        "columns": wide.irm(query="query", score=["old", "new"]),
        "columns without a query": wide.irm(score=["old", "new"], query=None),
        "values": BOTH.irm(system="run").per_query("rr").irm(system="run", value="value"),
        "judged": BOTH.drop("label")
        .with_columns(doc=pl.lit("x"))
        .irm(system="run")
        .judge(wide[["query", "doc", "label"]]),
    }[form]
    metric = "roc_auc" if form.endswith("query") else "rr"
    assert "'odl' is not among the systems of" in error(lambda: irm.summary(metric, baseline="odl"))
    sentences = irm.summary(metric, baseline="old")["sentence"].to_list()
    assert any("old" in one and "new" in one for one in sentences)


@pytest.mark.usefixtures("alone")
def test_the_command_says_it_with_its_own_words(capsys: pytest.CaptureFixture[str]) -> None:
    """A name that exists nowhere ends with 2; what is not saved stands on the page, with the flags of the command."""
    BOTH.write_parquet("log.parquet")
    ONE.write_parquet("one.parquet")
    SAVED.write_parquet("saved.parquet")
    call = ["report", "log.parquet", "rr", "--system", "run", "--format", "md"]
    assert main([*call, "--baseline", "odl", "-o", "page.md"]) == 2
    assert "--baseline odl is not among the systems of run" in capsys.readouterr().err
    assert not Path("page.md").exists()
    assert main([*call, "--baseline", "old"]) == 0
    assert "new loses to old" in capsys.readouterr().out
    assert main(["report", "one.parquet", "rr", "ap", "--saved", "saved.parquet", "--format", "md"]) == 0
    block = capsys.readouterr().out.partition("## Summary")[2].partition("\n## ")[0]
    assert "one.parquet loses to saved: rr" in block
    assert "ap is not compared: the baseline has no numbers of 'ap'" in block


def test_a_summary_of_files_reads_only_systems_before_an_error(tmp_path: Path) -> None:
    """A frame larger than memory is refused as one in memory is."""
    BOTH.write_parquet(tmp_path / "log.parquet")
    irm = pl.scan_parquet(tmp_path / "log.parquet").irm(system="run", memory="1GB")
    with pytest.raises(FrameMetricsError, match="'odl' is not among the systems of run: "):
        irm.summary("rr", baseline="odl")
