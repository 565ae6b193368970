"""Reports: what stands in them, that its numbers are those of the verbs, and that what is hostile stays text."""

from __future__ import annotations

import json
import re
import sys
from datetime import date, timedelta
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pytest

from frame_metrics import IRM, BadValueError, FrameMetricsError, plot
from frame_metrics.report.write import unbroken
from helpers import ROOT, as_kind, as_polars, error, frame, made_classes, made_log
from inside import few_pairs_together, for_phones, most_rows_of_a_report
from unit.test_report_tables import HOSTILE, SHOWN, of_markdown

SYSTEMS = (HOSTILE[1], HOSTILE[-2])
SCHEMA = json.loads((ROOT / "docs" / "report-schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.validators.validator_for(SCHEMA)(SCHEMA)


@cache
def runs() -> pl.DataFrame:
    """Three systems on the queries of a log with equal scores, unjudged documents and undefined queries."""
    log = made_log(queries=8).drop("rank")
    order = {"old": pl.col("score"), "new": pl.col("grade") + pl.col("score"), "mixed": -pl.col("score")}
    return pl.concat([log.with_columns(run=pl.lit(name), score=by.fill_null(0.5)) for name, by in order.items()])


def searched(kind: str = "polars", **more: Any) -> IRM[Any]:
    return IRM(as_kind(runs(), kind), system="run", **more)


def data(irm: IRM[Any], **options: Any) -> dict[str, Any]:
    """The report as JSON, which is as its schema says."""
    read = json.loads(irm.report(format="json", **options))
    VALIDATOR.validate(read)
    return dict(read)


class Page(HTMLParser):
    """The tags of a page with their attributes, its headings, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not {"script", "style", "svg"} & {*self.open}:
            self.texts.append(data.strip())

    def named(self, *names: str) -> list[dict[str, str | None]]:
        return [attrs for tag, attrs in self.tags if tag in names]


@cache
def page() -> tuple[str, Page]:
    text = searched(by="segment").report(metrics=["rr@2"], baseline="old", queries=1, title="Title & <more>")
    return text, Page(text)


# What stands in it


def test_a_report_is_what_the_verbs_return() -> None:
    """Every table of the JSON form is the answer of a verb; the audit is always among them."""
    VALIDATOR.check_schema(SCHEMA)
    irm, asked = searched(by="segment"), ["ndcg@10", "rr"]
    found = data(irm, metrics=asked, baseline="old", ci=0.9, queries=2)
    whole, tables = irm(by=None), found["tables"]
    means = irm.evaluate(asked, ci=0.9, margins=True)
    totals = means.filter(total_over="segment").drop("total_over", "segment")
    for name, expected in {
        "results": totals,
        "segments": means.filter(pl.col("total_over").is_null()).drop("total_over"),
        "comparison": whole.compare(asked, baseline="old", ci=0.9),
        "segments_compared": irm.compare(asked[0], baseline="old", ci=0.9, over="all"),
        "audit": irm.audit(),
        "curve_cutoffs": whole.curve("ndcg@k", cutoffs=[1, 2, 3, 5, 10]).with_columns(metric=pl.lit("ndcg@k")),
    }.items():
        assert tables[name] == {"rows": expected.to_dicts(), "left_out": 0}, name
    assert [row["average"] for row in tables["quantiles"]["rows"][:2]] == ["min", "q0.1"]
    assert found["keys"] == {"system": "run", "arm": None, "by": ["segment"], "query": ["query"]}
    assert {"convention": "ties", "value": "doc", "source": "default"} in found["conventions"]
    assert {"role": "system", "column": "run", "source": "named"} in found["roles"]
    assert {"role": "doc", "column": "doc", "source": "found by name"} in found["roles"]
    assert found["versions"].keys() >= {"frame_metrics", "python", "polars"}
    assert found["absent"] == []


def test_periods_stand_in_json_as_in_tables() -> None:
    """A period of pandas is the text that pandas writes it as, not the number that it is stored as."""
    log = runs().filter(run="old").drop("run", "segment").to_pandas()
    log["month"] = pd.PeriodIndex(["2024-01"] * len(log), freq="M")
    found = data(log.irm(by="month"), metrics="rr", queries=1)
    assert {row["month"] for row in found["tables"]["segments"]["rows"]} == {"2024-01"}
    assert {query["keys"]["month"] for query in found["queries"]} == {"2024-01"}


@pytest.mark.slow
def test_queries_are_the_worst_and_the_best_with_their_results() -> None:
    """Of each system the queries with the least and the greatest value, each with the rows of explain()."""
    irm = searched()
    found = data(irm, metrics=["ndcg@10"], queries=2)["queries"]
    assert [(one["system"], one["place"]) for one in found[:4]] == [("mixed", "worst")] * 2 + [("mixed", "best")] * 2
    values = irm(undefined="null").per_query("ndcg@10").filter(run="new").drop_nulls("value")
    values = values.sort("value", maintain_order=True)
    shown = [(one["keys"]["query"], one["value"]) for one in found if one["system"] == "new"]
    ordered = values.select("query", "value").rows()
    assert shown == [*ordered[:2], *ordered[-2:][::-1]]
    for one in found:
        told = irm.explain("ndcg@10", query=one["keys"]["query"]).filter(run=one["system"]).drop("run", "query")
        ranked = told.filter(pl.col("rank").is_not_null()).head(10)
        assert one["results"][: len(ranked)] == ranked.to_dicts()
        assert one["more"] == len(told) - len(one["results"])


def test_queries_without_a_value_are_counted_and_not_listed() -> None:
    """A query without a relevant document is neither worst nor best, also where it counts as 0."""
    log = frame(
        "query doc score grade",
        *[
            ("good", "x", 2.0, 1),
            ("bad", "x", 2.0, 0),
            ("bad", "y", 1.0, 1),
            ("none", "x", 1.0, 0),
            ("no", "x", 1.0, 0),
        ],
    )
    for undefined in (None, "zero", "null"):
        irm = log.irm(undefined=undefined)  # type: ignore[arg-type]
        found = data(irm, metrics=["rr"], queries=9)["queries"]
        assert [one["keys"]["query"] for one in found] == ["bad", "good"]
        assert "2 queries without a value of rr are not listed." in irm.report(metrics=["rr"], format="md")
    two = pl.concat([log.with_columns(run=pl.lit(name)) for name in "ab"]).irm(system="run")
    assert "4 queries without a value of rr are not listed." in two.report(metrics=["rr"], format="md")
    assert "not listed" not in log.filter(pl.col("query").is_in(["good", "bad"])).irm.report(format="md")


def test_of_a_metric_that_is_better_when_low_the_greatest_value_is_worst() -> None:
    """Worst and best follow the metric's own direction; no query is both."""
    values = frame("query latency err", (1, 5.0, 0.9), (2, 7.0, 0.1), (3, 6.0, 0.5))
    found = data(values.irm(query="query", value="err"))["queries"]
    assert [(one["place"], one["value"]) for one in found] == [
        ("worst", 0.1), ("worst", 0.5), ("best", 0.9),
    ]  # fmt: skip
    low = frame("query fdr", (1, 0.9), (2, 0.1), (3, 0.5)).irm(query="query", value="fdr")
    assert [one["value"] for one in data(low)["queries"]] == [0.9, 0.5, 0.1]
    assert data(values.irm(query="query", value="latency"))["queries"] == []  # nobody knows which is better


def test_queries_without_judged_results_have_theirs_shown() -> None:
    """Results of which no document is in the judgments are shown too, with what was not found."""
    log = frame("query doc score", ("a", "x", 2.0), ("a", "y", 1.0), ("b", "x", 1.0))
    qrels = frame("query doc grade", ("a", "z", 1), ("b", "x", 1))
    worst, best = data(log.irm.judge(qrels), metrics="ndcg@5")["queries"]
    assert [(row["doc"], row["rank"], row["judged"]) for row in worst["results"]] == [
        ("x", 1, False), ("y", 2, False), ("z", None, True),
    ]  # fmt: skip
    assert [row["contribution"] for row in best["results"]] == [1.0]


@pytest.mark.slow
def test_metrics_suit_the_roles() -> None:
    """Without metrics= a ranking, decisions, scores and sets each get metrics that they allow."""
    log, rows = made_log(queries=4).drop("rank"), made_classes().drop("w")
    truth = rows.select(label=pl.col("label") == "a", score=pl.col("day").is_null() * 0.5)
    lists = pl.DataFrame({"query": [1], "doc": [["x", "y"]], "relevant": [["y"]]})
    deep = f"recall@{max(10, int(log.drop_nulls('score').group_by('query').len()['len'].max()))}"  # type: ignore[arg-type]
    for irm, expected in (
        (log.irm, f"ndcg@10 ap rr precision@10 {deep}"),
        (log.select("query", "score", label=pl.col("grade") > 0).irm, f"ap rr ndcg@10 precision@10 {deep}"),
        (
            log.drop("grade").drop_nulls("score").irm.judge(log.drop_nulls("grade")),
            f"ndcg@10 ap rr precision@10 {deep}",
        ),
        (lists.irm, "ap rr ndcg@10 precision@10 recall@10"),
        (rows.irm, "accuracy precision recall f1 mcc"),
        (truth.irm, "roc_auc average_precision"),
        (truth.irm(threshold=0.5), "accuracy precision recall f1 mcc roc_auc average_precision"),
        (log.irm.per_query("rr").irm(value="value"), "rr"),
    ):
        assert " ".join(one["metric"] for one in data(irm)["metrics"]) == expected


def test_rows_without_a_query_have_the_curves_of_their_scores() -> None:
    """Rows with scores have points of ROC and precision-recall; calibration where probabilities are asked about."""
    cases = pl.DataFrame({"label": [1, 0, 1, 0], "score": [0.9, 0.6, 0.5, 0.1]})
    found = data(cases.irm)["tables"]
    first, *others = found["curve_roc"]["rows"]
    assert first == {"threshold": None, "fpr": 0.0, "tpr": 0.0}
    assert len(others) == 4
    assert found["curve_calibration"]["rows"] == cases.irm.curve("calibration").to_dicts()
    far = data(cases.with_columns(score=pl.col("score") * 3).irm)
    assert "curve_calibration" not in far["tables"]
    ((section, reason),) = (one.values() for one in far["absent"])
    assert section == "curve calibration"
    assert "needs probabilities" in reason


@pytest.mark.slow
def test_decisions_have_their_table_and_classes_their_metrics() -> None:
    """Of two classes the 2x2 table, of several also metrics of each; of more than 50 it is absent."""
    cases = pl.DataFrame({"label": [1, 0, 1, 0], "score": [0.9, 0.6, 0.5, 0.1]}).irm(threshold=0.5)
    found = data(cases)["tables"]
    assert found["confusion"]["rows"] == cases.confusion().to_dicts()
    assert "classes" not in found
    assert "| actual | predicted: 0 | predicted: 1 |\n| :-- | --: | --: |\n| 0 | 1 | 1 |" in cases.report(format="md")
    several = made_classes(0).drop("w")
    irm = several.irm(by="day")
    found = data(irm)["tables"]
    assert found["confusion"]["rows"] == several.irm.confusion().to_dicts()
    asked = ("accuracy", "precision", "recall", "f1", "mcc")
    assert found["classes"]["rows"] == several.irm.per_class(*asked, layout="wide").to_dicts()
    assert "Picture: Predicted and true classes." in irm.report()
    many = pl.DataFrame({"label": [f"c{i}" for i in range(51)]}).with_columns(predicted="label").irm
    (absent,) = data(many)["absent"]
    assert absent["section"] == "confusion matrix"
    assert "there are 51 classes, and at most 50" in absent["reason"]


def test_scores_of_classes_beside_predictions_have_their_metric() -> None:
    """What scores of classes have is shown, what is of one class's scores is absent with the reason."""
    shares = {"a": [0.8, 0.1, 0.1, 0.6], "b": [0.1, 0.8, 0.1, 0.2], "c": [0.1, 0.1, 0.8, 0.2]}
    columns = {f"p_{name}": share for name, share in shares.items()}
    cases = pl.DataFrame({"label": [*"abca"], "predicted": [*"abcb"], "day": [1, 1, 2, 2], **columns})
    irm = cases.irm(score={name: f"p_{name}" for name in shares}, by="day")
    found = data(irm)
    by_metric = {row["metric"]: row["value"] for row in found["tables"]["results"]["rows"]}
    assert by_metric["roc_auc"] == irm(by=None).evaluate("roc_auc")["value"].item()
    (absent,) = found["absent"]
    assert absent["section"] == "curves and the best threshold"
    assert absent["reason"] == (
        "these require the scores of one class; name their column with score=, and the class with positive="
    )
    assert cases.irm(score="p_a", positive="a").curve("roc").height > 0  # as the reason says
    page = irm.report(format="md")
    rows = [line for line in page.split("**By day")[1].splitlines() if line.startswith(("| 1 |", "| 2 |"))]
    assert len(rows) == 2
    assert not any("\u2013" in row for row in rows)
    assert " accuracy | precision (macro) | recall (macro) | f1 (macro) | mcc | roc_auc (macro) |" in page


def test_predictions_that_a_threshold_sets_aside_are_marked() -> None:
    """The roles say so, in the report and in the repr."""
    irm = pl.DataFrame({"label": [1, 0], "score": [0.9, 0.1], "predicted": [0, 0]}).irm(threshold=0.5)
    assert {"role": "predicted", "column": "predicted", "source": "set aside by threshold="} in data(irm)["roles"]
    (line,) = [line for line in repr(irm).splitlines() if line.startswith("  predicted")]
    assert line.endswith("set aside by threshold=")
    assert "found by name" in next(line for line in repr(irm(threshold=None)).splitlines() if "predicted" in line)


@pytest.mark.parametrize("asked", [{}, {"threshold": np.float32(0.5)}])
def test_a_classifiers_report_is_in_words_of_decisions(asked: dict[str, Any]) -> None:
    """Labels are called as the caller calls them, and the threshold of the best f1 has its table and its pictures."""
    cases = pl.DataFrame({"is": ["fraud", "ok", "fraud", "ok"], "p": [0.9, 0.6, 0.5, 0.1]})
    irm = cases.irm(label="is", positive="fraud", score="p", **asked)
    metrics = ["precision", "recall", "roc_auc"] if asked else ["roc_auc"]
    found, text = data(irm, metrics=metrics)["tables"], irm.report(metrics=metrics)
    best = irm(threshold=None).best_threshold("f1").to_dicts()
    assert found["best_threshold"] == {"rows": best, "left_out": 0}
    assert found["curve_distribution"]["rows"] == irm(threshold=None).curve("distribution", bins=30).to_dicts()
    for said in (
        "Precision and recall by threshold",
        "Scores by label",
        "not fraud",
        "share of the fraud that is found",
    ):
        assert said in text
    definitions = text.partition('<h2 id="results">')[2].partition("</section>")[0]
    assert "probability that a fraud row has a higher score than one that is not" in definitions
    assert "relevant" not in definitions
    assert "retrieved" not in definitions
    assert not asked or "share of the rows predicted fraud that are fraud" in definitions
    assert ("The threshold of the best f1; the decisions above are at 0.5" in text) == bool(asked)
    assert "It was chosen on the rows that it is measured on, so that its f1 is too high" in text
    assert ("Rows by true and predicted class, decided at threshold 0.5" in text) == bool(asked)
    assert (" at threshold 0.5, over 3 of 4 rows." in text) == bool(asked)


@pytest.mark.slow
def test_a_threshold_of_minus_0_is_0() -> None:
    """In sentences and captions."""
    cases = pl.DataFrame({"score": [0.5, -1.0, 0.2, -0.3], "label": [1, 0, 1, 0]})
    text = cases.irm(threshold=-0.0).report(metrics=["precision"])
    assert " at threshold 0, over 2 of 4 rows." in text
    assert "threshold -0" not in text


@pytest.mark.slow
def test_the_level_of_intervals_is_not_rounded() -> None:
    """One of 99.5 % is no 100 %."""
    text = searched().report(metrics="rr", ci=0.995, queries=0)
    assert "Metrics with 99.5 % intervals" in text
    assert "Small: the 99.5 % interval." in text


def test_classes_that_are_true_and_false_are_called_alike_in_rows_and_columns() -> None:
    """A table of decisions whose labels are bool says True in the head and at the side."""
    cases = pl.DataFrame({"label": [True, False], "predicted": [True, False]})
    text = cases.irm.report(metrics="precision", format="md", ci=None)
    assert "| actual | predicted: False | predicted: True |" in text
    assert "| False | 1 | 0 |" in text


def test_findings_say_what_they_count() -> None:
    """Each count has its unit; a finding about all rows together is one of the whole frame."""
    text = searched().report(metrics=["rr"], format="md", queries=0, ci=None)
    rows = [line.split(" | ") for line in text.partition("## Audit")[2].partition("##")[0].splitlines() if "|" in line]
    counts = [row[-3 if len(row) > 4 else -2] for row in rows]
    assert {"3 systems", "8 queries"} <= {*counts}
    assert not [one for one in counts if re.fullmatch(r"[\d,]+", one)]
    wrong = pl.DataFrame({"label": [1, 0, 0], "predicted": [0, 0, 0], "m": list("aab")})
    for roles, said in (({}, "the whole frame"), ({"system": "m"}, "1 value of m"), ({"by": "m"}, "1 segment of m")):
        assert f"| {said} |" in wrong.irm(**roles).report(metrics="precision", format="md", ci=None)


@pytest.mark.slow
def test_curves_of_scores_are_those_of_the_best_of_many_models() -> None:
    """More small multiples could not be told apart; the caption says which there are."""
    models = pl.DataFrame({"m": [f"m{at:02}" for at in range(31)]})
    rows = models.join(pl.DataFrame({"label": [1, 0], "score": [0.9, 0.1]}), how="cross")
    text = rows.irm(system="m").report(metrics="roc_auc", ci=None)
    assert "Curves of the scores: roc, pr, calibration, distribution, the best 12 of 31 systems by roc_auc" in text
    assert ">m11<" in text
    assert ">m12</text>" not in text


@pytest.mark.slow
def test_every_kind_of_frame_has_the_same_report(kind: str) -> None:
    """A report is of the numbers, whatever holds them."""
    found, expected = (data(searched(one, by="segment"), metrics=["rr"], queries=1) for one in (kind, "polars"))
    assert {**found, "frame": "", "created": ""} == {**expected, "frame": "", "created": ""}


def test_what_cannot_be_computed_is_named_with_the_reason() -> None:
    """A part that the columns do not allow is no error of the report, and is not left out in silence."""
    cases = pl.DataFrame({"m": ["a", "a", "b", "b"], "label": [1, 0, 1, 0], "score": [0.9, 0.6, 0.5, 0.1]})
    (absent,) = data(cases.irm(system="m"))["absent"]
    assert absent["section"] == "comparison"
    assert "name the document they are about with doc=" in absent["reason"]
    assert "## Not in this report" in cases.irm(system="m").report(format="md")
    (said,) = cases.irm(system="m").summary(baseline="a").filter(place=5)["sentence"]
    assert said.startswith("Nothing is compared with a: the query is missing")


@pytest.mark.slow
def test_queries_in_several_segments_are_compared_in_each() -> None:
    """A query with a ranking in each of two segments is not compared as one ranking."""
    both = pl.concat([runs().with_columns(day=pl.lit(day)) for day in (1, 2)])
    found = data(both.irm(system="run", by="day"), metrics=["rr"], baseline="old")
    assert {row["day"] for row in found["tables"]["comparison"]["rows"]} == {1, 2}
    assert [one["section"] for one in found["absent"]] == ["comparison over all segments"]


def test_saved_numbers_are_a_baseline() -> None:
    """Numbers of last week are compared with, and the audit looks at their queries too."""
    irm = runs().filter(run="new").irm
    saved = runs().filter(pl.col("run") == "old", pl.col("query") != "q00").irm.per_query("rr")
    found = data(irm, metrics=["rr"], baseline=saved)["tables"]
    expected = irm.compare("rr", baseline=saved).to_dicts()
    assert found["comparison"]["rows"] == expected
    assert found["audit"]["rows"] == irm.audit(baseline=saved).to_dicts()


def test_a_metric_of_all_lists_together_has_a_value_and_no_interval() -> None:
    """It stands beside the others, has a direction, and what it lacks is said; so it is first, and of arms."""
    irm = runs().filter(pl.col("run") != "mixed").irm(system="run", catalogue=50)
    asked = ["rr@2", "catalogue_gini@2"]
    found = data(irm, metrics=asked, baseline="old", queries=0)
    rows = found["tables"]["results"]["rows"]
    values, drawn = irm.evaluate(asked), irm.evaluate("rr@2", ci=0.95)
    assert [row["value"] for row in rows] == values["value"].to_list()
    assert [row["ci_low"] for row in rows if row["metric"] == "rr@2"] == drawn["ci_low"].to_list()
    assert {row["ci_low"] for row in rows if row["metric"] == asked[1]} == {None}
    assert [one["section"] for one in found["absent"]] == ["intervals of catalogue_gini@2"]
    assert {row["metric"] for row in found["tables"]["curve_cutoffs"]["rows"]} == {"rr@k"}
    text = irm.report(metrics=asked, queries=0, format="md")
    best = f"{values.filter(metric=asked[1])['value'].min():.3f}"
    assert re.search(rf"\*\*{re.escape(best)}\*\* \|$", text, re.MULTILINE)
    assert "catalogue_gini@2 (lower is better)" in irm.report(metrics=asked, queries=0)
    (sentence,) = irm.summary(asked[1], "rr@2").filter(kind="difference")["sentence"]
    told = "old and new cannot be told apart: catalogue_gini@2 0.752 against 0.785 (-0.033)."
    assert sentence == told  # it has a test, by exchange of lists, and no interval
    apart = irm.frame.with_columns(pl.concat_str("query", "run"))
    arms = data(IRM(apart, arm="run", catalogue=50), metrics=asked, queries=0)
    assert (arms["keys"]["system"], arms["keys"]["arm"]) == (None, "run")
    assert {row["metric"] for row in arms["tables"]["comparison"]["rows"]} == {"rr@2"}
    assert "differences of catalogue_gini@2" in [one["section"] for one in arms["absent"]]


def test_long_tables_and_texts_are_cut_and_say_so() -> None:
    """Of many segments the first are shown; a text that fills a page is cut."""
    n = 2005
    log = pl.DataFrame({"query": ["q" * 3000 + str(i) for i in range(n)], "score": 1.0, "grade": 1, "day": range(n)})
    irm = log.irm(by="day")
    found = data(irm, metrics=["rr"], ci=None)
    assert (len(found["tables"]["segments"]["rows"]), found["tables"]["segments"]["left_out"]) == (2000, 5)
    assert {len(one["keys"]["query"]) for one in found["queries"]} == {2001}
    text = irm.report(metrics=["rr"], ci=None, format="md")
    assert "The first 200 of 2,005 rows; the JSON form has more, and the verbs return all of them." in text
    assert "q" * 161 not in text


def many(systems: int = 250, results: int = 2) -> pl.DataFrame:
    """Systems of which the 240th is the best, the 245th the next best, and all others find nothing on some queries."""
    found = {"s240": 6, "s245": 5, "s200": 1}
    return pl.DataFrame(
        [
            (f"s{system:03}", query, f"d{doc}", float(-doc), int(doc == 0 and query < found.get(f"s{system:03}", 3)))
            for system in range(systems)
            for query in range(6)
            for doc in range(results)
        ],
        schema=["run", "query", "doc", "score", "grade"],
        orient="row",
    )


@pytest.mark.slow
def test_pictures_have_the_order_of_the_table_in_every_panel() -> None:
    """One can look across the panels, though another metric has another best system."""
    orders = {"first": (("a", 1), ("b", 0), ("c", 9)), "second": (("b", 0), ("c", 9), ("a", 1))}
    rows = [(q, run, d, -i, g) for q in range(6) for run, order in orders.items() for i, (d, g) in enumerate(order)]
    irm = IRM(frame("query run doc score grade", *rows), system="run")
    rr, ndcg = (as_polars(irm.evaluate(name))["value"].to_list() for name in ("rr", "ndcg"))
    assert rr[0] > rr[1]
    assert ndcg[0] < ndcg[1]
    text = irm.report(metrics=["ndcg", "rr"], format="html")
    results = text[text.index('id="results"') :].split("<table", 1)[0]
    assert re.findall(r">(first|second)<", results) == ["second", "first"] * 2


@pytest.mark.slow
def test_titles_of_pictures_fit_a_phone() -> None:
    """A long title has several lines there; that of an only chart is the caption, and its notes stand below it."""
    log = frame("query arm doc label", *[(q, q % 2, d, (q + d) % 3 % 2) for q in range(40) for d in range(3)])
    names = ["rr", "success@1", "precision@2", "recall@2", "ndcg@2"]
    irm = IRM(log.with_columns(score=-pl.col("doc")), arm="arm")
    title = for_phones(plot.comparison(irm.ab_test(*names))).to_dict(validate=False)["title"]
    assert title["text"] == ["rr, success@1, precision@2 and 2 more:", "differences to 0 (n = 20 in each)"]
    text = irm.report(metrics=names, format="html")
    assert "differences to 0" not in text
    assert (
        '<figcaption>Differences from 0</figcaption>\n<p class="notes">n = 20 in each; bars: 95 % intervals</p>' in text
    )


@pytest.mark.slow
def test_pictures_have_letters_of_nine_pixels_on_a_phone() -> None:
    """A wide one is drawn once more, with fewer days on its axis; its caption and its label stand there once."""
    days = [date(2026, 3, 2) + timedelta(i // 4) for i in range(240)]
    log = pl.DataFrame({"query": range(240), "rr": [i % 3 / 2 for i in range(240)], "day": days})
    text = IRM(log, query="query", value="rr", by="day").report(format="html")
    figure = text[text.index("<figure>") : text.index("</figure>")]
    kinds = re.findall(r'<svg class="(\w+)"[^>]* viewBox="0 0 (\d+)', figure)
    assert [kind for kind, _ in kinds] == ["wide", "narrow"]
    shown = 390 - 2 * 14  # beside the margins of the page
    assert 10 * shown / int(kinds[1][1]) >= 9
    dates = [len(re.findall(r">2026-\d\d-\d\d<", svg)) for svg in figure.split("<svg")[1:]]
    assert dates == [8, 3]
    assert figure.count('aria-label="Picture: rr by day. The numbers are in the table."') == 1


@pytest.mark.slow
def test_of_many_systems_the_best_the_baseline_and_the_next_best_are_shown() -> None:
    """Not the first by name: in the tables, the queries and their differences; bold is the best of all."""
    irm = many().irm(system="run", doc=None)
    text = irm.report(metrics=["rr"], baseline="s200", ci=None, format="md")
    results, comparison = (
        text.partition(f"## {name}")[2].partition("\n## ")[0] for name in ("Results", "All differences")
    )
    assert "| s240 | **1.000** |" in results
    assert results.count("**1.000**") == 2  # of the best few, and of all
    for system in ("s200", "s245", "s000"):
        assert f"| {system} | " in results
    assert "| s197 | " not in results
    assert "200 of 250 rows, those of the best run by rr and of the baseline among them" in results
    assert [line for line in text.splitlines() if "differ most" in line] == [
        "### rr: queries on which s240 and s200 differ most",
        "### rr: queries on which s245 and s200 differ most",
        "### rr: queries on which s000 and s200 differ most",
    ]
    assert "| s240 | s200 |" in comparison
    queries = {one["system"] for one in data(irm, metrics=["rr"], baseline="s200", ci=None)["queries"]}
    assert queries == {"s200", "s240"}
    assert "Queries of 2 of 250 systems, the best by rr and the baseline among them" in text


@pytest.mark.slow
def test_little_is_open() -> None:
    """Before a reader unfolds anything there are at most three tables, two pictures, and 400 words beside tables."""
    models = made_classes().drop("w", "day").with_row_index("doc")
    models = pl.concat([models.with_columns(m=pl.lit("new")), models.with_columns(m=pl.lit("old"), predicted="label")])
    score = pl.col("doc") % pl.when(m="new").then(7).otherwise(6) / 7
    scored = models.select("m", "doc", pl.col("label") == "a", score=score)
    irms = [one.irm(system="m", doc="doc") for one in (models, scored)] + [searched(by="segment")]
    log = made_log(queries=24).drop("rank", "grade")
    log = pl.concat([log.with_columns(m=pl.lit("new")), log.with_columns(m=pl.lit("old"), score=-pl.col("score"))])
    graded = log.select("query", "doc").unique(maintain_order=True).with_columns(grade=pl.int_range(pl.len()) * 7 % 4)
    few = graded.filter(pl.col("query").rank("dense") <= 12)
    irms.append(log.irm(system="m").judge(few, proxy=graded))
    for irm in irms:
        text, seen = irm.report(), ""
        while text != seen:
            text, seen = re.sub(r"<details(?:(?!<details).)*?</details>", "", text, flags=re.S), text
        assert text.count("<table") <= 3
        assert text.count("<figure") == 2
        words = Page(re.sub(r"<table.*?</table>", "", text, flags=re.S)).texts
        assert 100 < len(" ".join(words).split()) <= 400


@pytest.mark.slow
def test_of_many_systems_one_picture_is_open() -> None:
    """The leaderboard shows the best with their values; those by other metrics are with the table of all systems."""
    some = pl.col("grade") * (pl.col("query") < pl.col("run").str.tail(2).cast(int)).cast(int)
    log = many(12).with_columns(grade=some)
    text = log.irm(system="run", doc=None).report(metrics=["rr"], ci=None, queries=0)
    before, _, fold = text.partition("<bdi>All 12 systems</bdi>")
    assert "<figcaption>Metrics" not in before
    assert "<figcaption>Metrics" in fold.partition("</details>")[0]
    assert "<figcaption>Systems in order" in fold.partition('id="comparison"')[2]


def test_many_systems_are_compared_with_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    """There are as many rows as systems, and not as pairs; p-values are corrected for all pairs, and this is said."""
    irm = many(33).irm(system="run", doc=None)
    found = data(irm, metrics=["rr", "fdr@1"], ci=None, queries=0)
    rows = [row for row in found["tables"]["comparison"]["rows"] if row["metric"] == "rr"]
    assert {row["run"] for row in rows} == {"s000"}
    assert {(row["n_tests"], row["correction"]) for row in rows} == {(528, "max_t")}
    every = irm.compare("rr").filter(baseline="s000").to_dicts()
    assert [(row["baseline"], row["p_adjusted"], -row["ci_high"]) for row in rows] == [
        (row["run"], row["p_adjusted"], row["ci_low"]) for row in every
    ]
    assert "33 systems make 528 pairs" in found["absent"][0]["reason"]
    few_pairs_together(monkeypatch, 528 * 2 * irm.compare("rr")["n"][0] - 1)
    rows = data(irm, metrics=["rr", "fdr@1"], ci=None, queries=0)["tables"]["comparison"]["rows"]
    rows = [row for row in rows if row["metric"] == "rr"]
    assert {(row["n_tests"], row["correction"]) for row in rows} == {(528, "bonferroni")}
    alone = irm.compare("rr", baseline="s000", correction="none").to_dicts()
    expected = {row["run"]: min(1.0, row["p_value"] * 528) for row in alone}
    assert {row["baseline"]: row["p_adjusted"] for row in rows} == expected
    structs = many(33).with_columns(run=pl.struct(a="run")).irm(system="run", doc=None)
    assert {row["run"] for row in data(structs, metrics=["rr"])["tables"]["comparison"]["rows"]} == {"{'a': 's000'}"}
    few = data(many(4).irm(system="run", doc=None), metrics=["rr"], ci=None, queries=0)
    assert len(few["tables"]["comparison"]["rows"]) == 6
    assert few["absent"] == []


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["rr", "fdr@1"])
def test_json_of_many_systems_has_the_best(metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of more rows than it holds, those of the foremost systems stay, by the metric's own direction."""
    most_rows_of_a_report(monkeypatch, 241)
    found = data(many(246).irm(system="run", doc=None), metrics=[metric], baseline="s244", ci=None)["tables"]
    assert found["results"]["left_out"] == 5
    assert {"s240", "s245", "s244"} <= {row["run"] for row in found["results"]["rows"]}


@pytest.mark.slow
def test_cutoffs_end_where_the_rankings_do() -> None:
    """Past the longest ranking a curve would fall, or stay, for want of results; metrics that are named stay."""
    for results, recall, last in ((3, 10, 3), (20, 20, 20), (120, 100, 100)):
        log = many(1, results).drop("run")
        found = data(log.irm, ci=None)
        assert found["metrics"][-1]["metric"] == f"recall@{recall}"
        assert max(row["k"] for row in found["tables"]["curve_cutoffs"]["rows"]) == last
    named = data(many(1, 20).drop("run").irm, metrics=["precision@100"], ci=None)
    assert {row["k"] for row in named["tables"]["curve_cutoffs"]["rows"]} == {1, 2, 3, 5, 10, 20}
    gaps = many(1, 20).drop("run", "score").with_columns(rank=pl.int_range(1, 21).over("query") * 3)
    assert max(row["k"] for row in data(gaps.irm, ci=None)["tables"]["curve_cutoffs"]["rows"]) == 100


# Markdown and HTML


@pytest.mark.slow
def test_metrics_are_explained_by_their_docstrings() -> None:
    """The first line of each, with its cutoff; relevant means clicked in a log of clicks."""
    page = searched().report(metrics=["success@3", "rr"], ci=None, queries=0, format="md")
    said = (
        "success@3: presence of a relevant document up to rank 3; rr: reciprocal rank of the first relevant document."
    )
    assert said in page
    clicks = pl.DataFrame({"query": [1, 1, 2, 2], "rank": [1, 2, 1, 2], "label": [0, 1, 1, 0]}).irm()
    page = clicks.report(ci=None, format="md")
    assert "success: presence of a clicked result; rr: reciprocal rank of the first clicked result." in page
    decided = pl.DataFrame({"label": [1, 0, 1], "predicted": [1, 1, 0]}).irm()
    page = decided.report(metrics=["accuracy", "precision"], ci=None, format="md")
    said = "accuracy: share of all rows with a right decision; precision: share of the rows predicted positive that are"
    assert page.count(said) == 1


def test_lines_do_not_end_within_a_number() -> None:
    """A percent sign stays with its number, and a p-value with its name."""
    text = page()[0].partition('<section aria-labelledby="summary"')[2].partition("</section>")[0]
    assert "95\u00a0% interval" in text
    assert " %" not in text
    assert unbroken("sure (p < 0.001), p = 0.02") == "sure (p\u00a0<\u00a00.001), p\u00a0=\u00a00.02"


def test_numbers_of_arms_are_those_of_each() -> None:
    """Each has queries of its own."""
    log = pl.DataFrame({"query": range(8), "arm": [*"abababab"], "rr": [0.5] * 8})
    page = IRM(log, query="query", value="rr", arm="arm").report(format="md")
    assert "(4 queries in each arm, " in page


def test_a_head_without_a_table_is_not_printed() -> None:
    """A section of closed folds has nothing on paper; short tables stay whole, and a head has its picture."""
    style = page()[0].partition("@media print")[2].partition("</style>")[0]
    assert "section:not(:has(> :not(h2, details:not([open]))))" in style
    assert "table:not(:has(tr:nth-child(16))), .notes { break-inside: avoid; }" in style


def test_markdown_has_the_same_numbers() -> None:
    """Means with their intervals, the differences with stars, and the findings stand in tables."""
    irm = searched(by="segment")
    text = irm.report(metrics=["ndcg@10", "rr"], baseline="old", format="md")
    cells = of_markdown(text).cells
    for run, low, high in irm(by=None).evaluate("ndcg@10", ci=0.95).select("run", "ci_low", "ci_high").rows():
        assert run in cells
        assert any(f"{low:.3f} to {high:.3f}" in cell for cell in cells)
    for check in irm.audit()["check"]:
        assert check in cells
    titles = re.findall(r"^## (.*)$", text, flags=re.MULTILINE)
    assert titles == [
        "Summary",
        "Results",
        "Comparison",
        "Queries",
        "Audit",
        "All differences",
        "Segments",
        "Curves",
        "More queries",
        "Conventions and versions",
    ]
    assert "p, corrected" in text


@pytest.mark.slow
def test_intervals_stand_in_brackets_behind_their_value() -> None:
    """Only the value is bold, and nothing is said of small letters, which Markdown has not; findings are notes."""
    irm = searched(by="segment")
    text = irm.report(metrics=["rr"], baseline="old", format="md")
    number = r"\d\.\d{3}"
    assert re.search(rf"\| \*\*{number}\*\* \({number} to {number}\) \|", text)
    assert re.search(rf"\| {number} \({number} to {number}\) \|", text)
    assert "Small" not in text
    assert "In brackets: the 95 % interval." in text
    assert "Small: the 95 % interval." in page()[1].texts
    said = text.splitlines()[2]
    assert re.search(r"\d notes?\.", said)
    assert "info" not in said


def test_the_page_needs_nothing_beside_it() -> None:
    """No tag names a file or a host; the one script is the page's own, and no other may run."""
    text, read = page()
    links = [attrs.get("href") or "" for attrs in read.named("a", "link", "use")]
    assert all(link.startswith(("#", "data:,")) for link in links)
    assert not [attrs for _, attrs in read.tags if {"src", "srcset", "action", "background"} & attrs.keys()]
    assert not [name for _, attrs in read.tags for name in attrs if name.startswith("on")]
    assert "@import" not in text
    assert len(read.named("script")) == 1
    (policy,) = [one["content"] for one in read.named("meta") if one.get("http-equiv")]
    assert str(policy).startswith("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-")


def test_the_page_is_in_order_for_whoever_listens_to_it() -> None:
    """One first heading, no level left out, captions, scopes, names of pictures, no id twice, links that lead there."""
    _, read = page()
    levels = [int(tag[1]) for tag, _ in read.tags if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert len(read.named("caption")) == len(read.named("table")) > 5
    assert {one.get("scope") for one in read.named("th")} == {"col", "row"}
    ids = [attrs["id"] for _, attrs in read.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert {str(one["href"])[1:] for one in read.named("a")} <= {*ids}
    assert {one["aria-labelledby"] for one in read.named("section", "div") if "aria-labelledby" in one} <= {*ids}
    pictures = [one for one in read.named("div") if one.get("class") == "picture"]
    assert pictures
    assert all(one["role"] == "img" and one["aria-label"] for one in pictures)
    assert "Title & <more>" in read.texts
    assert len(read.named("main", "header", "footer", "nav")) == 4


@pytest.mark.slow
def test_hostile_text_is_text_in_reports(tmp_path: Path) -> None:
    """Queries, documents, systems, segments, columns and the title may hold anything."""
    column = HOSTILE[0] + HOSTILE[4]
    rows = [(HOSTILE[i], HOSTILE[i - 1], name, HOSTILE[i], s, 1) for i in range(16) for s, name in enumerate(SYSTEMS)]
    names = [f"{column}{i}" for i in range(4)]
    query, doc, system, by = names
    log = pl.DataFrame(rows, schema=[query, doc, system, by, "score", "grade"], orient="row")
    irm = log.irm(query=query, doc=doc, system=system, by=by)
    options: dict[str, Any] = {"metrics": ["rr"], "title": HOSTILE[1], "queries": 20}
    page = irm.report(**options)
    read = Page(page)
    allowed = """html head meta title link style body a header h1 h2 h3 bdi p nav ul li main section div table caption
    thead tbody tr th td strong span small details summary figure figcaption footer script
    svg g path text tspan rect defs clippath line circle lineargradient stop"""
    assert {tag for tag, _ in read.tags} <= {*allowed.split()}
    assert not [name for _, attrs in read.tags for name in attrs if name.startswith("on")]
    assert len(read.named("script")) == 1
    whole = "\n".join(read.texts)
    for text in HOSTILE:
        assert SHOWN.get(text, text) in whole
    assert column + "0" in whole
    for written in (page, irm.report(format="md", **options)):
        assert not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x09\x0b-\x1f]", written)
    of_text = data(irm, **options)
    assert {one["keys"][query] for one in of_text["queries"]} == {*HOSTILE}
    assert of_text["title"] == HOSTILE[1]
    found = of_markdown(irm.report(format="md", **options))
    tags = "h1 h2 h3 p strong table thead tbody tr th td details summary"
    assert found.tags <= {*tags.split()}


# The file


@pytest.mark.parametrize(("name", "begins"), [("r.html", "<!doctype html>"), ("r.MD", "# "), ("r.json", "{")])
def test_the_file_is_written_by_its_ending(name: str, begins: str, tmp_path: Path) -> None:
    """The path is returned as text; what was there is replaced."""
    path = tmp_path / name
    path.write_text("old " * 10**6, encoding="utf-8")
    assert made_log(queries=2).irm(rank=None).report(path, metrics="rr", queries=0) == str(path)
    text = path.read_text(encoding="utf-8")
    assert text.startswith(begins)
    assert text.endswith("\n")
    assert [one.name for one in tmp_path.iterdir()] == [name]


def test_without_a_path_the_text_is_returned() -> None:
    """The page as text, as a notebook shows it."""
    text = made_log(queries=2).irm(rank=None).report(metrics="rr", queries=0)
    assert text.startswith("<!doctype html>")


def test_wrong_calls_are_refused_before_anything_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A format, a folder, a level or a library that is not there is an error at once."""

    def fail(table: pl.DataFrame) -> pl.DataFrame:
        raise AssertionError("it was read")

    irm = made_log(queries=2).lazy().map_batches(fail, schema=made_log().schema).irm(rank=None)
    assert "does not end in one of '.html'" in error(lambda: irm.report(tmp_path / "r.pdf"), BadValueError)
    assert "there is no folder" in error(lambda: irm.report(tmp_path / "none" / "r.md"), BadValueError)
    assert "format='pdf' is not one of 'html', 'md', 'json'" in error(lambda: irm.report(format="pdf"))
    assert "ci=95 is not a level" in error(lambda: irm.report(ci=95))
    assert "queries=-1 is not a whole number from 0" in error(lambda: irm.report(queries=-1))
    assert "there is no metric 'ndgc'" in error(lambda: irm.report(metrics="ndgc", format="md"))
    assert "no metric was asked for" in error(lambda: irm.report(metrics=[], format="md"), BadValueError)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(FrameMetricsError, match=r"need jinja2.*pip install jinja2 altair"):
        irm.report()


def test_a_report_of_nothing_says_so() -> None:
    """A frame without rows has a report, in which the audit says that there is nothing to evaluate."""
    text = made_log().clear().irm(rank=None).report(format="md")
    assert "nothing to evaluate" in text
    assert as_polars(made_log().clear().irm(rank=None).audit())["severity"][0] == "error"


def test_two_systems_stand_side_by_side_rank_by_rank() -> None:
    """Of the queries on which they differ most, each rank has the document and the gain of both."""
    log = frame(
        "query system doc score grade",
        *[("lamp", "new", "x", 2.0, 3), ("lamp", "new", "y", 1.0, 0)],
        *[("lamp", "old", "y", 2.0, 0), ("lamp", "old", "z", 1.0, None)],
        *[(q, s, "x", 1.0, 1) for q in ("desk", "chair") for s in ("new", "old")],
    )
    text = log.irm(system="system").report(metrics=["ndcg@10"], baseline="old", format="md")
    part = text.partition("### ndcg@10: queries on which new and old differ most")[2].partition("\n## ")[0]
    assert part.count("<summary>") == 1
    assert "<summary>+1.000 lamp: 1.000 against 0.000</summary>" in part
    assert [line for line in part.splitlines() if line.startswith("|")] == [
        "| rank | new: doc | new: gain | old: doc | old: gain |",
        "| --: | :-- | --: | :-- | --: |",
        "| 1 | x | 3 | y | 0 |",
        "| 2 | y | 0 | z | not judged |",
        "| not found | \u2013 | \u2013 | x | 3 |",
    ]


def test_a_comparison_has_few_columns_and_opens_the_rest() -> None:
    """One baseline stands in the caption; columns that few read are in the fold below, with what they mean."""
    text = many().irm(system="run", doc=None).report(metrics=["rr"], baseline="s200", queries=0, format="md")
    few, part = (text.partition(f"## {name}")[2].partition("\n## ")[0] for name in ("Comparison", "All differences"))
    assert "**Differences of rr from s200**" in few
    assert "| run | difference | p, corrected | value | s200 |" in few
    table, _, rest = part.removeprefix("\n\n<details>").partition("<details>")
    assert "Differences of rr from s200 (mcnemar_mid_p test)" in table
    assert "| run | difference | p, corrected | value | s200 | wins | losses | n |" in table
    assert "<summary>All columns of this table</summary>" in rest
    assert "mde: the smallest difference" in rest.partition("</details>")[0]


def test_queries_of_segments_stand_side_by_side_too() -> None:
    """Where judgments beside the frame have the segment, and the comparison is over all segments."""
    runs = frame(
        "query device system doc score",
        *[(q, d, s, doc, 1.0) for q, d in (("lamp", "phone"), ("desk", "web")) for s, doc in (("a", "x"), ("b", "y"))],
    )
    qrels = frame("query device doc grade", ("lamp", "phone", "x", 1), ("desk", "web", "y", 1))
    text = runs.irm(system="system", by="device").judge(qrels).report(metrics=["rr"], baseline="a", format="md")
    lost, part = text.partition("## Queries")[2].partition("### rr: queries on which b and a differ most")[::2]
    assert "<summary>+1.000 desk: 1.000 against 0.000</summary>" in part
    assert "<summary>-1.000 lamp: 0.000 against 1.000</summary>" in lost
    assert "| 1 | y | not judged | x | 1 |" in lost
