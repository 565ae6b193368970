"""The page of errors: each message is raised as it says, and each fix passes."""

from __future__ import annotations

import json
import re
from typing import Any

import pandas as pd
import polars as pl
import pytest

import frame_metrics
from frame_metrics import IRM, FrameMetricsError
from helpers import ROOT

PAGE = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
ROWS = {said: fix for said, _, fix in re.findall(r"^\| `(.+?)`([^|]*\|[^|]+)\| `(.+?)` \|$", PAGE, flags=re.MULTILINE)}
ELSEWHERE = ("pictures need altair", "evaluate(): this process was forked", "'DataFrame' object has no attribute")

LOG = pl.DataFrame({"query": [1, 1, 2], "doc": ["a", "b", "a"], "score": [2.0, 1.0, 1.0], "grade": [1, 0, 2]})
RUN = LOG.drop("grade")
TWO = pl.DataFrame(
    {
        "query": [1, 1, 2, 2],
        "doc": [*"aabb"],
        "score": [2.0, 1.0, 1.0, 3.0],
        "grade": [1, 1, 2, 2],
        "system": ["old", "new"] * 2,
    }
)
LISTS = pd.DataFrame({"query": [1], "doc": [["a", "b"]], "score": ["[2, 1]"], "gold": [["a"]]})
QRELS = pl.DataFrame({"query": [1, 2], "doc": ["a", "b"], "grade": [1, 2]})
NAMES: dict[str, Any] = {
    "pl": pl,
    "IRM": IRM,
    "frame_metrics": frame_metrics,
    "log": LOG,
    "run": RUN,
    "two": TWO,
    "apart": TWO[[0, 3]],
    "spelled": pl.DataFrame({"label": ["Yes", "No"], "predicted": ["yes", "no"]}),
    "json": json,
    "texts": LISTS,
    "texts_of_numbers": LOG.with_columns(score=pl.Series(["2", "n/a", "1"])),
    "sets": LISTS.assign(doc=[{"a", "b"}], score=[[2, 1]]),
    "one_id": pl.DataFrame({"query": [1], "doc": [["a", "b"]], "gold": ["a"]}),
    "saved": LOG.irm.per_query("rr"),
    "unmarked": LOG.irm.per_query("rr").drop("answered"),
    "rows": pl.DataFrame({"label": [1, 0, 1], "score": [0.9, 0.2, 0.4], "guess": [1, 0, 0]}),
    "qrels": QRELS.with_columns(who=pl.lit("ann")),
    "twice": pl.concat([QRELS, QRELS.with_columns(grade=pl.lit(0, pl.Int64))]),
    "result": LOG.irm.evaluate("rr"),
}
# A call that raises each message, and one in which the fix stands.
CALLS = """
log.irm.evaluate("ndgc@10")
log.irm.evaluate("ndcg@10")
log.irm.evaluate("f1_macro")
log.irm.evaluate("f1", average="macro")
log.irm.evaluate("ndcg(gain=exp)")
log.irm.evaluate("ndcg(gain='exp')")
log.irm.evaluate("ndcg", k=10)
log.irm.evaluate("ndcg@10")
log.irm.evaluate("rr", by="doc")
log.with_columns(pl.lit("d").alias("day")).irm(by="doc", doc=None).evaluate("rr")
run.irm(annotator="who")
run.irm.judge(qrels, annotator="who").evaluate("rr")
log.rename({"query": "qid"}).irm.evaluate("rr")
log.rename({"query": "qid"}).irm(query="qid").evaluate("rr")
log.irm(score="scores").evaluate("rr")
log.irm(score="score").evaluate("rr")
log.with_columns(rank=pl.Series([1, 2, 1])).irm.evaluate("rr")
log.with_columns(rank=pl.Series([1, 2, 1])).irm(rank="rank").evaluate("rr")
rows.with_columns(query=pl.Series([1, 1, 2])).irm.evaluate("roc_auc")
rows.with_columns(query=pl.Series([1, 1, 2])).irm(query=None).evaluate("roc_auc")
rows.with_columns(query=pl.Series([1, 2, 3])).irm.evaluate("brier")
rows.with_columns(query=pl.Series([1, 2, 3])).irm(query=None).evaluate("brier")
rows.irm.evaluate("f1")
rows.irm(threshold=0.5).evaluate("f1")
log.group_by("query").irm
log.irm(by="query", query="doc", doc=None).evaluate("rr")
IRM("log.csv")
frame_metrics.IRM(pl.read_csv(path)).evaluate("rr")
log.irm.evaluate({"rr"})
log.irm.evaluate(["rr"])
log.with_columns(score=pl.Series([1.0, float("nan"), 2.0])).irm.evaluate("rr")
log.with_columns(score=pl.Series([1.0, float("nan"), 2.0])).drop_nans("score").irm.evaluate("rr")
log.with_columns(pl.col("score").cast(pl.String)).irm.evaluate("rr")
log.with_columns(pl.col("score").cast(pl.String)).with_columns(pl.col("score").cast(pl.Float64)).irm.evaluate("rr")
texts_of_numbers.irm.evaluate("rr")
texts_of_numbers.with_columns(pl.col("score").replace("n/a", None).cast(pl.Float64)).irm.evaluate("rr")
log.with_columns(query=pl.Series([1, None, 2])).irm.evaluate("rr")
log.with_columns(query=pl.Series([1, None, 2])).drop_nulls("query").irm.evaluate("rr")
log.with_columns(rank=pl.Series([0, 1, 0])).irm(rank="rank").evaluate("rr")
log.with_columns(rank=pl.Series([0, 1, 0])).with_columns(pl.col("rank") + 1).irm(rank="rank").evaluate("rr")
log.rename({"grade": "label"}).irm.evaluate("rr")
log.rename({"grade": "label"}).irm(label=None, grade="label").evaluate("rr")
run.with_columns(label=pl.Series(["yes", "no", "yes"])).irm.evaluate("rr")
run.with_columns(label=pl.Series(["yes", "no", "yes"])).irm(positive="yes").evaluate("rr")
run.with_columns(label=pl.Series(["Yes", "no", "Yes"])).irm(positive="yes").evaluate("rr")
run.with_columns(label=pl.Series(["Yes", "no", "Yes"])).irm(positive="Yes").evaluate("rr")
spelled.irm(positive="yes").evaluate("f1")
spelled.with_columns(pl.col("label").str.to_lowercase()).irm(positive="yes").evaluate("f1")
rows.with_columns(label=pl.Series([1, None, 0])).irm(predicted="guess").evaluate("f1")
rows.with_columns(label=pl.Series([1, None, 0])).irm(predicted="guess", unjudged="drop").evaluate("f1")
rows.irm(predicted="score").evaluate("f1")
rows.irm(score="score", threshold=0.5).evaluate("f1")
run.with_columns(grade=pl.Series(["good", "bad", "good"])).irm.evaluate("rr")
run.with_columns(grade=pl.Series(["good", "bad", "good"])).irm(scale={"bad": 0, "good": 1}).evaluate("rr")
two.irm.evaluate("rr")
two.irm(system="system").evaluate("rr")
sets.irm(relevant="gold").evaluate("rr")
sets.assign(doc=[["a", "b"]]).irm(relevant="gold").evaluate("rr")
texts.irm(relevant="gold").evaluate("rr")
texts.assign(score=lambda frame: frame["score"].map(json.loads)).irm(relevant="gold").evaluate("rr")
one_id.irm(relevant="gold").evaluate("rr")
one_id.irm(relevant=pl.concat_list("gold")).evaluate("rr")
run.irm.judge(qrels.with_columns(pl.col("query").cast(pl.String))).evaluate("rr")
run.irm.judge(qrels.with_columns(pl.col("query").cast(pl.String)).with_columns(pl.col("query").cast(pl.Int64))).evaluate("rr")
run.irm.judge(qrels.with_columns(pl.col("doc").str.to_uppercase())).evaluate("rr")
run.irm.judge(qrels.with_columns(pl.col("doc").str.to_uppercase()).with_columns(pl.col("doc").str.to_lowercase())).evaluate("rr")
run.irm.judge(twice).evaluate("rr")
run.irm(rel=1).judge(twice, several="mean").evaluate("rr")
log.irm(rel=3).evaluate("rr")
log.irm(rel=2).evaluate("rr")
log.irm.evaluate("specificity@10")
log.irm(collection_size=1000).evaluate("specificity@10")
log.irm.evaluate("err")
log.irm.evaluate("err(max_grade=3)")
log.irm.bounds("map")
log.irm.bounds("map", of="ties")
log.irm.evaluate("rr", average="mean")
log.irm.evaluate("rr", average="macro")
two.irm(system="system").compare("rr", baseline="od")
two.irm(system="system").compare("rr", baseline="old")
log.irm.compare("map", "rr", baseline=saved)
log.irm.compare("rr", baseline=saved)
unmarked.irm(value="value", unanswered="drop").evaluate()
log.irm.per_query("rr").irm(value="value", unanswered="drop").evaluate()
apart.irm(system="system").compare("rr")
apart.irm(system=None, arm="system").ab_test("rr")
log.irm.compare("rr")
two.irm(system="system").compare("rr")
frame_metrics.plot(result)
frame_metrics.plot.metrics(result)
""".strip().splitlines()


def test_every_row_is_tried() -> None:
    """The page has a row for each pair of calls, in their order, and three that other tests raise."""
    assert len(ROWS) == len(CALLS) // 2 + len(ELSEWHERE)
    assert [said.startswith(ELSEWHERE) for said in ROWS] == [False] * (len(CALLS) // 2) + [True] * len(ELSEWHERE)


@pytest.mark.parametrize("i", range(len(CALLS) // 2))
def test_a_row_of_the_page(i: int, tmp_path: Any) -> None:
    """The call raises what the page says, and the one with the fix passes."""
    said, fix = list(ROWS.items())[i]
    bad, good = CALLS[2 * i : 2 * i + 2]
    path = tmp_path / "log.csv"
    LOG.write_csv(path)
    with pytest.raises(FrameMetricsError) as raised:
        eval(bad, NAMES)
    assert re.match(".+".join(re.escape(part) for part in said.split("…")), str(raised.value))
    given = re.sub(r"^[^(]*\((?:qrels, )?", "", fix).removesuffix(")")
    assert given in good
    eval(good, NAMES | {"path": path})
