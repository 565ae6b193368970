"""The summary: sentences are made of their figures, and say no more than these bear."""

from __future__ import annotations

import json
import re
import sys
from contextlib import redirect_stdout
from datetime import date
from html import escape
from io import StringIO
from pathlib import Path
from statistics import NormalDist
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frame_metrics import IRM, ColumnError, show
from frame_metrics.report.of_audit import OF_RELEVANT
from helpers import KINDS, LONG, as_kind, as_polars, error
from inside import CHECKS


def runs(seed: int = 0, queries: int = 40, **skill: float) -> pl.DataFrame:
    """Runs of systems that see more or less of the grades; a tenth of the results has no judgment."""
    random, parts = np.random.default_rng(seed), []
    for name, sees in skill.items():
        log = np.random.default_rng(seed + 1)
        grade = log.integers(0, 3, (queries, 12))
        judged = log.random((queries, 12)) < 0.9
        score = sees * grade + random.normal(size=grade.shape)
        query, doc = np.indices(grade.shape)
        columns = {"query": query, "doc": doc, "score": score, "grade": np.where(judged, grade, -1)}
        parts.append(
            pl.DataFrame({key: values.ravel() for key, values in columns.items()}).with_columns(run=pl.lit(name))
        )
    return pl.concat(parts).with_columns(grade=pl.when(pl.col("grade") >= 0).then("grade"))


def said(irm: IRM[Any], *metrics: str, about: str = "difference", **options: Any) -> list[dict[str, Any]]:
    return [row for row in as_polars(irm.summary(*metrics, **options)).to_dicts() if row["kind"] == about]


@settings(max_examples=settings().max_examples if LONG else 5)  # each draws twice a thousand resamples
@given(st.integers(0, 10_000), st.floats(0, 1), st.integers(2, 30), st.sampled_from(["ndcg@5", "rr", "fdr@3"]))
def test_a_difference_is_told_where_its_interval_and_its_test_are(seed: int, sees: float, n: int, metric: str) -> None:
    """ "beats" stands where the interval lies on one side of 0 and p is below .05, with the figures of compare()."""
    irm = runs(seed, n, a=0.5, b=sees).irm(system="run")
    (found,) = irm.compare(metric, resamples=1000).to_dicts()
    for row in said(irm, metric):
        text, turned = row["sentence"], row["run"] == found["baseline"]
        ends = [found["ci_low"], found["ci_high"]]
        if ends == [None, None]:  # equal differences of few queries, which have no interval
            assert (row["ci_low"], row["ci_high"]) == (None, None)
            assert " beats " not in text
            assert " loses to " not in text
            continue
        low, high = sorted(-end if turned else end for end in ends)
        assert (row["ci_low"], row["ci_high"]) == pytest.approx((low, high))
        assert row["value"] == found["baseline_value" if turned else "value"]
        better = (low > 0) if metric != "fdr@3" else (high < 0)
        assert (" beats " in text) == (better and found["p_adjusted"] < 0.05)
        alike = found["wins"] == found["losses"] == 0
        assert (" have the same " in text) == alike
        few, apart = "so few cannot show any difference" in text, " cannot be told apart: " in text
        assert (apart or few) == (not alike and " beats " not in text and " loses to " not in text)
        assert few == (not alike and 2.0 ** (1 - found["wins"] - found["losses"]) >= 0.05)
        for figure in (row["value"], row["baseline_value"]):
            assert f"{figure:.3f}" in text
        assert ("likely to show" in text) == (apart and low <= 0 <= high and bool(found["mde"]))
        assert not apart or low <= 0 <= high or "; p " in text


def test_the_best_system_stands_beside_the_next_and_one_that_it_surely_beats() -> None:
    """Without a baseline the next best is named first, and then the first from which the best can be told."""
    irm = runs(queries=80, old=0.0, new=1.0, next=0.98).irm(system="run")
    next_best, beaten = said(irm, "ndcg@5")
    assert next_best["sentence"].startswith("new and next cannot be told apart: ")
    assert {next_best["run"], next_best["baseline"]} == {"new", "next"}
    assert beaten["baseline"] == "old"
    assert (
        f"better in {beaten['wins']} of 80 queries and worse in {beaten['losses']}; "
        "p < 0.001, corrected for 3 comparisons." in beaten["sentence"]
    )


@pytest.mark.parametrize(("baseline", "pair"), [("old", ("new", "old")), ("new", ("next", "new"))])
def test_a_baseline_that_is_named_is_what_another_is_held_against(baseline: str, pair: tuple[str, str]) -> None:
    """The best one, or where that is the baseline the next best; the top of both is looked at."""
    irm = runs(queries=80, old=0.0, new=1.5, next=0.8).irm(system="run")
    assert [(row["run"], row["baseline"]) for row in said(irm, "ndcg@5", baseline=baseline)] == [pair]
    (unjudged,) = said(irm, "ndcg@5", about="unjudged", baseline=baseline)
    assert {unjudged["run"], unjudged["baseline"]} == {*pair}


@pytest.mark.parametrize(("side", "verb"), [("system", "compare"), ("arm", "change")])
@pytest.mark.parametrize("baseline", ["a", "b", None])
@pytest.mark.parametrize("metric", ["ndcg@5", "fdr@5", "num_ret"])
def test_a_difference_has_the_sign_that_compare_gives_it(
    metric: str, baseline: str | None, side: Any, verb: str
) -> None:
    """Whatever is better, and of a metric without a direction too; only without a baseline the best goes first."""
    log = runs(queries=60, a=0.2, b=1.5)
    log = log.filter(pl.col("run").eq("b") | (pl.col("doc") < 9))
    irm = (log if side == "system" else log.with_columns(pl.concat_str("query", "run"))).irm(**{side: "run"})
    (row,) = said(irm, metric, baseline=baseline)
    (found,) = getattr(irm, verb)(metric, baseline=baseline).to_dicts()
    turned = baseline is None and metric != "num_ret" and found["baseline"] == "b"
    assert row["difference"] == (-1 if turned else 1) * found["difference"] != 0
    assert row["run"] == found["baseline" if turned else "run"]
    above = "is above" if row["difference"] > 0 else "is below"
    better = "beats" if row["run"] == "b" else "loses to"
    verb = above if metric == "num_ret" else better
    assert f"{row['run']} {verb} {row['baseline']}: " in row["sentence"]


@pytest.mark.parametrize("lazy", [False, True])
def test_an_error_of_the_rows_comes_before_one_of_a_metric(lazy: bool) -> None:
    """Also where the rows are read only when a plan is collected."""
    rows = {"query": [1, None], "rank": [1, 1], "grade": [1, 0], "chance": [0.5, 0.5]}
    frame = pl.DataFrame(rows).lazy() if lazy else pl.DataFrame(rows)
    irm = IRM(frame, propensity="chance", doc=None)
    assert error(lambda: irm.summary("ndcg@2", "precision@1")).startswith("query: 1 of 2 rows has no query")


def test_differences_that_are_all_equal_are_told_without_an_interval() -> None:
    """The test speaks for them, or is too small to."""
    for n, sentence in (
        (8, "a beats b: rr 1.000 against 0.500 (+0.500; +100 %), better in 8 of 8 queries and worse in 0; p = 0.008."),
        (
            3,
            "a and b: rr 1.000 against 0.500 (+0.500); with 3 queries no p can be below 0.25: so few cannot show "
            "any difference.",
        ),
    ):
        rows = pl.DataFrame({"system": ["a"] * n + ["b"] * n, "query": [*range(n)] * 2, "rr": [1.0] * n + [0.5] * n})
        assert IRM(rows, system="system", value="rr").summary().filter(kind="difference")["sentence"][0] == sentence


def test_of_several_pairs_what_would_show_is_of_all_of_them() -> None:
    """The smallest difference that a sample detects is at the level at which all pairs are tested."""
    shown = []
    for systems in (2, 3):
        irm = runs(3, 30, **dict.fromkeys("abc"[:systems], 0.5)).irm(system="run")
        (row,) = said(irm, "ndcg@5")
        assert row["sentence"].endswith(
            f"; with 30 queries, only differences above about {row['mde']:.3f} are likely to show."
        )
        found = irm.compare("ndcg@5", correction="none").filter(run=row["run"], baseline=row["baseline"])
        shown.append(row["mde"] / (found["mde"].item() if len(found) else row["mde"]))
    assert shown[0] == pytest.approx(1)
    assert shown[1] > 1.05


@pytest.mark.parametrize("kind", [pl.Int64, pl.String])
def test_systems_that_are_numbers_are_called_systems(kind: Any) -> None:
    """Beside figures a bare number would be read as one of them."""
    log = runs(queries=60, old=0.2, new=1.5).with_columns(run=pl.when(run="new").then(10).otherwise(1).cast(kind))
    irm = log.irm(system="run")
    (row,), (unjudged,) = (said(irm, "ndcg@5", about=one) for one in ("difference", "unjudged"))
    assert row["sentence"].startswith("system 10 beats system 1: ndcg@5 ")
    assert unjudged["sentence"].endswith(" % of system 1's, on average over queries.")


def test_one_system_has_its_value_and_what_the_audit_holds_against_it() -> None:
    """Without a comparison the value is said, with its interval; unjudged results and undefined queries are counted."""
    log = runs(only=1.0).drop("run").with_columns(grade=pl.when(pl.col("query") == 3).then(0).otherwise("grade"))
    irm = log.irm
    (value,), (unjudged,), (undefined,) = (said(irm, "ndcg@5", about=one) for one in ("value", "unjudged", "undefined"))
    (row,) = irm.evaluate("ndcg@5", ci=0.95).to_dicts()
    figures = f"{row['value']:.3f} (95 % interval {row['ci_low']:.3f} to {row['ci_high']:.3f})"
    assert value["sentence"] == f"ndcg@5 is {figures}, over 40 queries."
    assert unjudged["share"] == 1 - irm.evaluate("judged@5")["value"][0]
    share = f"{unjudged['share']:.1%}".replace("%", " %")
    assert unjudged["sentence"] == f"{share} of the top 5 are unjudged, on average over queries. And 1 more warning."
    assert unjudged["place"] == 1  # the audit warns of it
    assert undefined["sentence"] == "ndcg@5 is undefined in 1 of 40 queries, which counts as 0."
    (undefined,) = said(irm(undefined="null"), "ndcg@5", about="undefined")
    assert undefined["sentence"] == "ndcg@5 is undefined in 1 of 40 queries, which is left out."


def test_further_metrics_have_their_values() -> None:
    """Sentences are about the first; the others are not lost, and where none is named there is nothing to lose."""
    irm = runs(only=1.0).drop("run").irm
    (note,) = said(irm, "ndcg@5", "rr", "map", about="others")
    rr, ap = irm.evaluate("rr", "map")["value"]
    assert note["sentence"] == f"rr is {rr:.3f} and map is {ap:.3f}; sentences are about ndcg@5."
    assert said(irm, about="others") == []


CLICKS = pl.DataFrame(
    {"query": [1, 1, 2, 2, 3, 3], "rank": [1, 2] * 3, "label": [1, 0, 0, 0, 0, 0], "doc": [*"ab"] * 3}
)


@pytest.mark.parametrize("kind", [*KINDS, "lists"])
def test_a_search_without_a_click_is_no_fault_of_the_data(kind: str) -> None:
    """All rows have a label of their own: a query without a relevant one counts as 0, which is a note of the audit."""
    irm = IRM(CLICKS.group_by("query").agg("rank", "label") if kind == "lists" else as_kind(CLICKS, kind))
    (undefined,) = said(irm, "rr", about="undefined")
    assert undefined["sentence"] == "2 of 3 searches have no click and count as 0."
    (warned,) = said(irm, "rr", about="audit")
    assert warned["of"].startswith("few queries (3 queries): fewer than 10 evaluated queries")
    found = as_polars(irm.audit()).filter(check="queries without relevant documents")
    assert found.select("severity", "n").rows() == [("info", 2)]
    assert as_polars(irm.evaluate("rr"))["n_undefined"].to_list() == [2]
    (undefined,) = said(irm(undefined="null"), "ndcg@5", about="undefined")
    assert undefined["sentence"] == "2 of 3 searches have no click and are left out."


def test_where_something_else_judges_nothing_relevant_is_a_warning() -> None:
    """A null label, grades, judgments beside the log, condensed lists."""
    doubtful = CLICKS.with_columns(label=pl.when(pl.col("doc") == "a").then("label"))
    some = [
        doubtful.irm,
        doubtful.irm(unjudged="drop"),
        CLICKS.rename({"label": "grade"}).irm,
        CLICKS.drop("label").irm.judge(CLICKS[["query", "doc", "label"]]),
        CLICKS.irm(unjudged="drop"),
    ]
    for irm in some:
        found = irm.audit().filter(check="queries without relevant documents")
        assert found.select("severity", "n").rows() == [("warning", 2)]


def test_a_report_of_weighted_clicks_says_so() -> None:
    """The effective number of results stands in a sentence and beside the values; a frame is told by its columns."""
    log = CLICKS.with_columns(label=pl.Series([1, 0, 0, 1, 0, 1]))
    chances = pl.DataFrame({"rank": [1, 2], "propensity": [1.0, 0.25]})
    irm = log.irm(propensity=chances)
    effective = irm.evaluate("dcg@10")["n_effective"][0]
    (weighted,) = said(irm, "dcg@10", about="weighted")
    assert weighted["value"] == effective
    assert weighted["sentence"] == (
        "Values are weighted by propensity: the relevant results behind dcg@10 are as informative as 2.5 of equal "
        "weight; fewer than 30 are too few for an interval."
    )
    two = pl.concat([log.with_columns(s=pl.lit("a")), log.with_columns(s=pl.lit("b"), rank=3 - pl.col("rank"))])
    for roles in ({}, {"system": "s"}):
        page = (two if roles else log).irm(propensity=chances, **roles).report(format="md", queries=0)
        assert "| propensity | a polars.DataFrame of 2 rows: rank, propensity | given |" in page
        assert "average: macro), weighted by propensity**" in page
        assert f"{effective:.3f}" in page.partition("## Results")[2].partition("\n## ")[0]
        assert "┌" not in page
        assert ("| a | **2.016** |" in page) == bool(roles)  # the best value, whatever the effective numbers are
        assert "In brackets: the 95 % interval." not in page  # three queries, and values without an end
    page = two.irm(system="s", propensity=chances).report(queries=0)
    assert (
        page.count("n_effective") == page.count("too few for an interval (n_effective); clip=") == 2
    )  # first of all, and in the audit
    assert "Small: the 95 % interval." not in page
    assert not said(log.irm, "dcg@10", about="weighted")


@pytest.mark.parametrize(
    ("label", "predicted", "sentence"),
    [
        ([1, 0, 0], [0, 0, 0], "precision is undefined, which counts as 0."),
        ([*"abc"], [*"abb"], "precision is undefined in 1 class, which counts as 0."),
    ],
)
def test_of_rows_a_value_or_a_class_is_undefined(label: list[Any], predicted: list[Any], sentence: str) -> None:
    """What is counted is no number of rows."""
    irm = pl.DataFrame({"label": label, "predicted": predicted}).irm
    assert [row["sentence"] for row in said(irm, "precision", about="undefined")] == [sentence]
    where = sentence.partition("undefined")[2].partition(",")[0].rstrip(".")
    assert f"Undefined{where}: precision." in irm.report(metrics="precision", format="md")


def test_the_share_of_unjudged_results_is_over_all_segments() -> None:
    """Also where a query stands in several, each with a ranking of its own."""
    log = runs(only=1.0).drop("run")
    judged = pl.when(pl.col("doc") < 6).then("grade")
    irm = pl.concat([log.with_columns(part=1), log.with_columns(judged, part=2)]).irm(by="part")
    (unjudged,) = said(irm, "ndcg@5", about="unjudged")
    whole = irm.evaluate("judged@5", margins=True).filter(total_over="part")
    assert unjudged["share"] == 1 - whole["value"][0]


@settings(max_examples=settings().max_examples if LONG else 8)
@given(st.integers(0, 10_000), st.sampled_from([1.0, 0.6, 1.5]), st.sampled_from([400, 1000]))
def test_scores_are_said_to_be_off_where_a_bin_surely_is(seed: int, power: float, n: int) -> None:
    """Where the interval of a bin, wider than its own, leaves out its mean score; figures are those of the verbs."""
    random = np.random.default_rng(seed)
    score = random.random(n)
    irm = pl.DataFrame({"score": score, "label": random.random(n) < score**power}).irm
    (row,) = said(irm, "roc_auc", about="calibration")
    bins = irm.curve("calibration").filter(predicted=row["baseline_value"], observed=row["share"], n=row["n"])
    of_all = (row["n"], row["share"], row["baseline_value"]) == pytest.approx(
        irm.frame.select(pl.len(), pl.mean("label"), score=pl.mean("score")).row(0)
    )
    assert len(bins) + of_all == 1
    assert row["metric"] == "ece"
    assert row["value"] == irm.evaluate("ece")["value"][0]
    share, rows, z = row["share"], row["n"], 1.9599
    half = z / (1 + z**2 / rows) * (share * (1 - share) / rows + (z / (2 * rows)) ** 2) ** 0.5
    assert row["ci_high"] - row["ci_low"] >= 2 * half
    assert (" are off: " in row["sentence"]) == (not row["ci_low"] <= row["baseline_value"] <= row["ci_high"])
    assert (" nowhere surely off " in row["sentence"]) == (" are off: " not in row["sentence"])


def test_scores_are_off_in_a_segment_and_of_a_system_that_are_named() -> None:
    """A segment that makes all look bad is named; so is each system whose scores are off, and the best if it is not."""
    of = {"west": (100, 10), "east": (900, 675)}
    rows = [(region, int(at < positive)) for region, (n, positive) in of.items() for at in range(n)]
    frame = pl.DataFrame(rows, schema=["region", "label"], orient="row").with_columns(score=0.75)
    (row,) = said(frame.irm(by="region"), about="calibration")
    assert row["sentence"] == (
        "For west (region), read as probabilities, scores are off: of all 100 rows, whose mean score is 0.750, 10.0 % "
        "are positive (4.7 % to 20.0 %); bin by bin they are off by 0.650 on average (ece)."
    )
    assert (row["n_units"], row["baseline_n_units"]) == (1, 2)
    both = pl.concat([frame, frame.with_columns(region=pl.lit("south"))])
    (row,) = said(both.with_columns(label=0).irm(by="region"), about="calibration")
    assert " scores are off, as in both others: " in row["sentence"]
    models = {"good": pl.lit(0.685), "bad": pl.lit(0.3)}
    frames = [frame.with_columns(score=score, model=pl.lit(name)) for name, score in models.items()]
    irm = (
        pl.concat(frames).with_row_index("doc").with_columns(pl.col("doc") % len(frame)).irm(system="model", doc="doc")
    )
    worse, best = said(irm, "brier", about="calibration")
    assert worse["sentence"].startswith("Read as probabilities, scores of bad are off: of all 1,000 rows, ")
    assert best["sentence"] == "Read as probabilities, scores of good are nowhere surely off (ece 0.000)."
    several = [frame.with_columns(score=0.3, model=pl.lit(name)) for name in "abcde"]
    irm = (
        pl.concat(several).with_row_index("doc").with_columns(pl.col("doc") % len(frame)).irm(system="model", doc="doc")
    )
    assert len(said(irm, "brier", about="calibration")) == 3
    assert "Read as probabilities, scores of 2 more systems are off." in irm.summary("brier")["sentence"].to_list()


def test_the_interval_of_a_bin_follows_the_level() -> None:
    """It is wider the surer it is; that of a report without intervals is that of 95 %."""
    random = np.random.default_rng(3)
    irm = pl.DataFrame({"score": random.random(400), "label": random.random(400) < 0.5}).irm
    rows = [irm.summary("roc_auc", ci=ci).filter(kind="calibration").row(0, named=True) for ci in (0.5, 0.95, 0.999)]
    widths = [row["ci_high"] - row["ci_low"] for row in rows]
    assert widths[0] < widths[1] < widths[2]
    assert rows[1] == irm.summary("roc_auc").filter(kind="calibration").row(0, named=True)


def test_scores_that_bear_no_sentence_about_probabilities_have_none() -> None:
    """Those outside 0 and 1, too few, weighted, or of rows that belong together; a threshold changes nothing."""
    random = np.random.default_rng(0)
    cases = pl.DataFrame({"score": random.random(600), "user": np.arange(600) // 2, "w": 0.5})
    cases = cases.with_columns(label=pl.col("score") < 0.5)
    (whole,) = said(cases.irm, "roc_auc", about="calibration")
    assert whole["sentence"].startswith("Read as probabilities, scores are off: ")
    assert said(cases.irm(threshold=0.5), "roc_auc", about="calibration") == [whole]
    for irm in (cases.irm(weight="w"), cases.irm(cluster="user"), cases[:9].irm, cases.irm(score=pl.col("score") * 2)):
        assert not said(irm, "roc_auc", about="calibration")


def test_segments_that_are_otherwise_than_all_are_named() -> None:
    """A segment in which the better system is worse, and the one farthest from all."""
    log = runs(queries=120, old=0.3, new=1.5).with_columns(
        day=pl.date(2026, 1, 1) + pl.duration(days=pl.col("query") % 4)
    )
    last = (pl.col("day") == date(2026, 1, 4)) & (pl.col("run") == "new")
    irm = log.with_columns(score=pl.when(last).then(-pl.col("score")).otherwise("score")).irm(system="run", by="day")
    _, opposite = said(irm, "ndcg@5", baseline="old")
    assert opposite["sentence"].startswith("For 2026-01-04 (day), new loses to old: ndcg@5 ")
    months = irm.frame.with_columns(
        run=pl.struct(pl.col("run").replace_strict({"old": 1, "new": 2}).alias("period[M]"))
    )
    for baseline in ("1970-02", {"period[M]": 1}, None):
        _, opposite = said(months.irm(system="run", by="day"), "ndcg@5", **({"baseline": baseline} if baseline else {}))
        start = "1970-03 loses to 1970-02" if baseline else "1970-02 beats 1970-03"
        assert opposite["sentence"].startswith(f"For 2026-01-04 (day), {start}: ndcg@5 ")
    days = irm.frame.to_pandas().assign(
        run=lambda log: log["run"].map({"old": date(2026, 1, 1), "new": date(2026, 1, 2)})
    )
    (first,) = days.irm(system="run").summary("ndcg@5").query("kind == 'difference'").to_dict("records")
    assert (first["run"], first["baseline"]) == (date(2026, 1, 2), date(2026, 1, 1))
    named = irm(by=pl.col("day").dt.strftime("day %d"))
    (segment,) = said(named, "ndcg@5", about="segment")
    assert segment["of"] == "day = day 04"
    (segment,) = said(irm, "ndcg@5", about="segment")  # 4 days are too few to be judged by their own scatter
    assert segment["of"] == "day = 2026-01-04"
    many = irm.frame.with_columns(day=pl.date(2026, 1, 1) + pl.duration(days=pl.col("query") % 20))
    assert not said(many.irm(system="run", by="day"), "ndcg@5", about="segment")


def test_systems_that_are_alike_in_each_query_are_called_so() -> None:
    """To say that no difference can be told would leave open that there is one."""
    (row,) = said(
        runs(a=1.0).pipe(lambda log: pl.concat([log, log.with_columns(run=pl.lit("b"))])).irm(system="run"), "rr"
    )
    assert row["sentence"] == f"a and b have the same rr in each of 40 queries: {row['value']:.3f}."


def test_another_system_that_is_best_in_a_segment_is_named() -> None:
    """It need not be the baseline: in each segment others are tested against the best of all."""
    log = runs(old=0.0, new=1.0, third=0.8).with_columns(part=pl.col("query") % 2)
    known = pl.col("grade").fill_null(0)
    best = pl.when(run="third", part=1).then(known * 10.0).when(run="third", part=0).then(-known)
    irm = log.with_columns(score=best.otherwise("score")).irm(system="run", by="part")
    first, *others = said(irm, "ndcg@5", baseline="old")
    assert first["sentence"].startswith("new beats old: ndcg@5 ")
    assert [one["sentence"][:32] for one in others if one["baseline"] == "new"] == ["For 1 (part), third beats new: n"]
    for named in (
        pl.col("run").replace({"new": None}),
        pl.concat_list("run"),
    ):  # null is a system too, and so is a list
        same = said(irm.frame.with_columns(run=named).irm(system="run", by="part"), "ndcg@5")
        assert [one["sentence"].partition(" beats ")[0] for one in same[1:] if one["of"]] == [
            "For 1 (part), " + ("third" if same[0]["run"] is None else "['third']")
        ]


@pytest.mark.slow
@given(st.integers(0, 10_000))
def test_segments_by_chance_hardly_stand_out(seed: int) -> None:
    """A segment that is named has a p-value below the level, and an interval that is wider than its own."""
    irm = runs(seed, only=1.0).drop("run").with_columns(part=pl.col("query") % 5).irm(by="part")
    for row in said(irm, "ndcg@5", about="segment"):
        own = irm.evaluate("ndcg@5", ci=0.95).filter(pl.format("part = {}", "part") == row["of"])
        assert row["ci_low"] <= own["ci_low"][0]
        assert row["ci_high"] >= own["ci_high"][0]
        assert row["p_adjusted"] < 0.05


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_frame_has_the_same_summary(kind: str) -> None:
    """Sentences and figures are the same, in a frame of the caller's kind, and show() prints the sentences."""
    log = runs(a=0.0, b=1.0)
    expected = log.irm(system="run").summary("rr")
    found = IRM(as_kind(log, kind), system="run").summary("rr")
    assert type(found) is type(IRM(as_kind(log, kind), system="run").evaluate("rr"))
    assert as_polars(found)["sentence"].to_list() == expected["sentence"].to_list()
    with redirect_stdout(StringIO()) as out:
        show(found)
    assert out.getvalue().splitlines() == expected["sentence"].to_list()


def test_a_segment_of_few_queries_does_not_stand_out() -> None:
    """However far its mean is from the others; of thirty queries it may."""
    log = runs(1, 80, a=0.7).with_columns(part=pl.when(pl.col("query") < 40).then(pl.lit("a")).otherwise(pl.lit("b")))
    for last, n in ((2, 0), (30, 1)):
        best = log.filter(pl.col("query") < last).with_columns(pl.col("query") + 100, grade=pl.lit(1), part=pl.lit("c"))
        irm = pl.concat([log, best], how="vertical_relaxed").irm(by="part", system=None)
        assert irm.summary("precision@5").filter(pl.col("kind") == "segment").height == n


@pytest.mark.parametrize(("others", "high"), [(0.96, None), (0.5, 1.0)])
def test_queries_that_are_all_alike_leave_open_what_was_not_seen(others: float, high: float | None) -> None:
    """Thirty successes are common where one search in twenty-five fails; where every second does, they tell."""
    found = [1.0] * 30 + [float(i < others * 50) for i in range(50)] * 2
    frame = pl.DataFrame({"query": range(130), "success": found, "part": ["a"] * 30 + ["b", "c"] * 50})
    named = said(frame.irm(value="success", by="part"), about="segment")
    assert [row["ci_high"] for row in named if row["of"] == "part = a"] == ([] if high is None else [high])
    for row in named:
        if row["of"] == "part = a":
            z = NormalDist().inv_cdf(1 - 0.05 / 3 / 2)
            assert row["ci_low"] == pytest.approx(30 / (30 + z**2))


def test_a_sum_does_not_stand_out() -> None:
    """A count of a segment is less than that of all, and falls where fewer queries are asked."""
    log = runs(1, 120, a=1.0).with_columns(day=pl.date(2026, 1, 1 + pl.col("query").sqrt().cast(pl.Int64) // 3))
    assert not {"segment", "trend"} & {*log.irm(by="day").summary("num_rel")["kind"]}


def test_findings_are_of_what_the_metrics_read() -> None:
    """That shares as grades leave open what is relevant is nothing to metrics of gains alone."""
    shares = runs(1, 30, a=1.0).with_columns(pl.col("grade") / 3 * (pl.col("query") > 0))
    log = shares.irm(system=None)
    assert "grades between 0 and 1" not in "".join(log.summary("ndcg@5")["sentence"])
    assert {*OF_RELEVANT} <= {check.name for check in CHECKS}
    assert "Queries without relevant documents (1 query): " in "".join(log(rel=0.3).summary("rr", "ndcg@5")["sentence"])


def test_saved_metrics_stand_in_the_order_of_the_rows() -> None:
    """Where the caller names none, the metrics of a report are those of the saved numbers, as they first come."""
    names = ["success", "rr", "fdr", "ndcg", "err", "ap", "recall", "latency"]
    saved = pl.DataFrame({"query": [1] * 8 + [2] * 8, "metric": [*names, *names], "value": [n / 16 for n in range(16)]})
    page = json.loads(saved.irm(value="value").report(format="json"))
    assert [one["metric"] for one in page["metrics"]] == names


def test_a_frame_without_rows_has_no_sentence_about_systems() -> None:
    """No system has a value; saved numbers in long form have not even a name."""
    log = runs(a=1, b=0.5).clear()
    assert log.irm(system="run").summary("rr")["kind"].to_list() == ["audit"]
    assert "The audit found 1 error" in log.irm(system="run").report(metrics="rr", format="md")
    saved = pl.DataFrame(schema={"query": pl.Int64, "metric": pl.String, "value": pl.Float64})
    assert "the frame has no rows" in error(saved.irm(value="value").summary)


@pytest.mark.slow
def test_the_report_has_the_same_sentences_on_top() -> None:
    """The page, Markdown and JSON begin with them."""
    irm = runs(a=0.0, b=1.0).irm(system="run")
    sentences = irm.summary("rr")["sentence"].to_list()
    read = json.loads(irm.report(metrics="rr", format="json"))["tables"]["summary"]["rows"]
    assert [row["sentence"] for row in read] == sentences
    assert irm.report(metrics="rr", format="md").split("\n\n")[2:4] == ["## Summary", sentences[0]]
    assert irm.summary("rr")["place"].to_list()[0] == 1
    assert irm.report(metrics="rr").index(">Summary<") < irm.report(metrics="rr").index(">Results<")


def test_a_system_column_that_is_called_as_a_figure_is_refused() -> None:
    """The error says the name, and the report goes on."""
    irm = runs(queries=6, a=0.0, b=1.0).rename({"run": "sentence"}).irm(system="sentence")
    assert "sentence: summary() has a column of this name; rename it" in error(lambda: irm.summary("rr"))
    assert "## Summary" in irm.report(metrics="rr", format="md", queries=0)


@pytest.mark.slow
def test_tables_have_the_best_system_first() -> None:
    """By the first metric, by another one, or as verbs return them; the JSON form is as verbs return."""
    irm = runs(queries=80, c=0.0, a=0.5, b=1.5).irm(system="run")
    systems = re.compile(r"^\| ([abc]) \|", flags=re.MULTILINE)
    for options, order in (({}, "bac"), ({"sort": "unjudged@5"}, None), ({"sort": "name"}, "abc")):
        text = irm.report(metrics=["ndcg@5", "unjudged@5"], format="md", **options)
        rows = irm.evaluate("unjudged@5").sort("value")["run"].to_list()
        assert systems.findall(text)[:3] == [*(order or rows)]
    read = json.loads(irm.report(metrics="ndcg@5", format="json"))["tables"]["results"]["rows"]
    assert [row["run"] for row in read] == [*"abc"]
    assert "sort='rr'" in error(lambda: irm.report(metrics="ndcg@5", sort="rr"))


def test_what_is_undefined_everywhere_alike_is_one_line() -> None:
    """A table stays where systems differ, as by the threshold that their scores pass."""
    log = runs(queries=8, a=0.5, b=1.5).with_columns(grade=pl.when(pl.col("query") == 3).then(0).otherwise("grade"))
    text = log.irm(system="run").report(metrics=["ndcg@5", "ap"], format="md", queries=0, ci=None)
    assert "Undefined in 1 query of every run: ndcg@5, ap." in text
    assert "Where metrics are undefined" not in text


def test_arms_have_a_report() -> None:
    """Each arm is measured on its own queries; differences are those of ab_test(), by users."""
    log = runs(queries=60, a=0.0, b=1.5).with_columns(before=pl.col("query") // 2, user=pl.col("query") // 2)
    arms = log.filter(pl.col("query") % 2 == (pl.col("run") == "b").cast(int)).irm(arm="run")
    options: dict[str, Any] = {"covariate": "before"}
    found = json.loads(arms.report(metrics="ndcg@5", cluster="user", format="json", queries=0, **options))
    whole = arms(cluster="user").ab_test("ndcg@5", **options).to_dicts()
    assert found["tables"]["comparison"]["rows"] == whole
    means = arms(arm=None, by="run").evaluate("ndcg@5", ci=0.95).to_dicts()
    unclustered = json.loads(arms.report(metrics="ndcg@5", format="json", queries=0, **options))["tables"]
    assert [row["value"] for row in unclustered["results"]["rows"]] == [row["value"] for row in means]
    assert unclustered["audit"]["rows"][0]["severity"] != "error"
    (own,) = said(arms, "ndcg@5", about="arms")
    assert own["sentence"] == "Each run has queries of its own, and is measured over these."
    (sentence,) = said(arms, "ndcg@5", **options)
    assert sentence["sentence"].startswith("b beats a: ")
    assert ", adjusted by before (+" in sentence["sentence"]
    assert ", over 30 and 30 queries; p < 0.001." in sentence["sentence"]
    assert "adjusted by before (CUPED)" in arms.report(metrics="ndcg@5", format="md", queries=0, **options)
    assert "<svg" in arms.report(metrics="ndcg@5", queries=0, **options)


@pytest.mark.parametrize(
    ("roles", "options", "message"),
    [
        ({"system": "run"}, {"covariate": "grade"}, "name their column with arm= in the place of system='run'"),
        ({"system": "run"}, {"split": "equal"}, "name their column with arm= in the place of system='run'"),
        ({"arm": "run"}, {"covariate": "befor"}, "there is no such column"),
        ({"arm": "run"}, {"paired": False}, "has no option 'paired'"),
        ({}, {"split": "equal"}, "name their column with arm="),
    ],
)
def test_options_of_arms_that_do_not_fit_are_refused(
    roles: dict[str, Any], options: dict[str, Any], message: str
) -> None:
    """Not noted at the end of a report, as the caller asked for them."""
    log = runs(queries=8, a=0.0)
    log = pl.concat([log, log.with_columns(pl.col("query") + 8, run=pl.lit("b"))])
    assert message in error(lambda: (log if roles else log.drop("run")).irm(**roles).report(**options))


def test_a_notebook_shows_results_as_html(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole messages of audit, sentences, main columns of compare with the rest on demand, figures rounded."""
    said: list[str] = []
    display = ModuleType("IPython.display")
    vars(display).update(HTML=str, display=said.append)
    shell = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=1))
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    irm = runs(a=0.0, b=1.0).with_columns(pl.col("run") + "<i>").irm(system="run")
    for result in (irm.audit(), irm.summary("rr"), irm.compare("rr"), irm.evaluate("rr")):
        show(result)
    audit, summary, compared, means = said
    assert all(escape(message) in audit for message in irm.audit()["message"])
    assert summary.startswith(f"<p>{escape(irm.summary('rr')['sentence'][0])}</p>")
    main, rest = compared.split("<details>")
    assert '<th scope="col" class="number">p_adjusted</th>' in main
    assert "effect_size" not in main
    assert "effect_size" in rest
    assert f'<td class="number">{irm.evaluate("rr")["value"][0]:.4g}</td>' in means
    assert "<i>" not in "".join(said)


def test_a_page_is_shown_and_saved(tmp_path: Path) -> None:
    """Without a path a page is text, which a notebook shows in a frame of its own, and which can be saved."""
    page = runs(a=0.0).drop("run").irm.report(metrics="rr")
    assert page.startswith("<!doctype html>")
    assert "&lt;h1&gt;" in page._repr_html_()
    assert Path(page.save(tmp_path / "page.html")).read_text(encoding="utf-8") == page


def test_pictures_are_listed() -> None:
    """The repr of irm.plot has a line for each picture."""
    told = repr(runs(a=0.0).irm.plot).splitlines()
    assert [line.split()[0] for line in told[1:3]] == ["metrics", "bounds"]
    assert len(told) == 19


@pytest.mark.parametrize("by", [None, "topic"])
def test_nothing_is_claimed_as_if_searches_of_one_term_were_independent(by: str | None) -> None:
    """Terms of which half fell from the first to the second week: sure by term, and said under a condition else."""
    rng = np.random.default_rng(0)
    asked = pl.DataFrame({"term": range(40)}).join(pl.DataFrame({"day": range(14)}), how="cross")
    fell = asked["term"].to_numpy() % 2 * (asked["day"].to_numpy() // 7)
    label = (rng.random(len(asked)) < 0.9 - 0.6 * fell).astype(int)
    asked = asked.with_columns(
        pl.format("t{}", "term").alias("term"), pl.col("day").cast(pl.Date), week=pl.col("day") // 7, rank=1,
        topic=pl.when(pl.col("term") % 2 == 0).then(pl.lit("even")).otherwise(pl.lit("odd")), label=pl.Series(label),
    )  # fmt: skip
    irm = asked.irm(query=["term", "day"], arm="week", by=by)
    each, clustered = (one.summary("rr", baseline=0) for one in (irm, irm(cluster="term")))
    condition = "If searches of one term were independent, "
    for found, provided in ((each, True), (clustered, False)):
        told = found.filter(pl.col("kind").is_in(["difference", "mix"]))["sentence"]
        assert len(told) > (by is not None)
        assert told.str.starts_with(condition).all() == told.str.contains("independent").any() == provided
        assert ("tests" in found["kind"].to_list()) == (by is not None and not provided)
    assert not each["sentence"].str.contains("urely|, For ").any()


def test_an_online_test_says_how_its_units_are_split() -> None:
    """With split= a ratio that cannot be chance is a finding; without it the report says that nobody looked."""
    n = 600
    arm = np.where(np.arange(n) < 240, "new", "old")
    log = pl.DataFrame({"query": np.arange(n), "arm": arm, "rank": 1, "label": np.arange(n) % 3 == 0})
    irm = log.irm(arm="arm", rank="rank", label="label")
    split = {"new": 0.5, "old": 0.5}
    first, *_ = said(irm, "success@1", about="split", split=split)
    assert first["sentence"].startswith(
        "No difference can be trusted before it is known why the split is off: new has 240, old has 360 queries, and "
    )
    asked = json.loads(irm.report(metrics="success@1", format="json"))
    assert asked["absent"][0]["reason"].endswith("the units that it should have is not known; pass split=")
    asked = json.loads(irm.report(metrics="success@1", format="json", split=split))
    assert asked["absent"] == []
    with pytest.raises(ColumnError, match="name their column with arm="):
        irm(arm=None, system="arm").summary("success@1", split=split)


def test_no_arm_beats_another_without_a_word_on_an_odd_split() -> None:
    """The sentence on the difference itself says so, where it is told and where it is not, and of no good split."""
    rows = {
        "query": range(300),
        "arm": ["new"] * 100 + ["old"] * 200,
        "rank": 1,
        "label": [1, 0, 1, 1] * 25 + [0, 1] * 100,
    }
    irm = pl.DataFrame(rows).irm(rank="rank", arm="arm")
    ending = ", but units were not assigned as planned."
    for metric in ("rr", "num_ret"):
        for share, odd in ((0.5, True), (1 / 3, False)):
            found = as_polars(irm.summary(metric, split={"new": share, "old": 1 - share}))
            (sentence,) = found.filter(kind="difference")["sentence"]
            assert sentence.endswith(ending) == odd
            assert ("beats" in sentence) == (metric == "rr")


def test_searches_of_arms_without_a_click_have_the_same_sentence() -> None:
    """As those of a log without arms: each arm has queries of its own, which the audit counts together."""
    rows = {"query": range(60), "arm": [*"ab"] * 30, "rank": 1, "label": [1, 0, 0, 1, 1, 1] * 10}
    irm = pl.DataFrame(rows).irm(rank="rank", arm="arm")
    for roles, ending in (({}, ", for a; 10 of 30 for b."), ({"arm": None}, ".")):
        (row,) = said(irm(**roles), "rr", about="undefined")
        n, of = (10, 30) if ending != "." else (20, 60)
        assert row["sentence"] == f"{n} of {of} searches have no click and count as 0{ending}"


def test_segments_of_arms_may_be_called_baseline() -> None:
    """The totals over them, which are null there, are not left out with what has no arm."""
    rows = {"query": [*range(90)] * 2, "arm": ["a", "b", None] * 60, "baseline": [*"xy"] * 90}
    frame = pl.DataFrame(rows | {"rank": [1] * 90 + [2] * 90, "label": [1, 0, 0, 1, 1, 1] * 15 + [None] * 90})
    (row,) = said(frame.irm(rank="rank", arm="arm", by="baseline"), "rr", about="unjudged")
    assert (row["arm"], row["share"]) == ("a", 0.5)


def test_a_terminal_shows_the_main_columns(capsys: Any) -> None:
    """Of a comparison, with a line that names the others."""
    show(runs(a=0.0, b=1.0).irm(system="run").compare("rr"))
    table, _, rest = capsys.readouterr().out.partition("also: ")
    assert "p_adjusted" in table
    assert "effect_size" not in table
    assert {"k", "effect_size", "test"} <= {*rest.replace("\n", " ").replace(",", "").split()}
