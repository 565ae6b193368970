"""Units of the audit: a count is of what its check names, and never above its whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import frame_metrics
from frame_metrics import IRM
from inside import CHECKS, in_pieces

# The columns of whose distinct values, multiplied, there may be so many of a unit.
UNITS: dict[str, list[list[str]]] = {
    "queries": [["query"]],
    "rankings": [["run"], ["seg", "query"]],
    "values of run": [["run"]],
    "values of run in segments of seg": [["run"], ["seg"]],
    "systems": [["run"]],
    "segments": [["seg"]],
    "grades": [["run", "seg", "query", "doc"]],
    "labels": [["run", "seg", "query", "doc"]],
    "documents": [["seg"], ["query", "doc"]],
}


def made(seed: int) -> pl.DataFrame:
    """Results of two systems for queries in two segments, of which some are tied, unjudged or not relevant."""
    random = np.random.default_rng(seed)
    keys = [(run, seg, q) for run in "AB" for seg in "uv" for q in range(6) if random.random() < 0.9]
    rows = [
        (run, seg, q, f"d{d}", float(random.integers(0, 9)), int(random.integers(0, 2) * (q % 3 > 0)))
        for run, seg, q in keys
        for d in random.permutation(14)[: random.integers(1, 13)]
    ]
    frame = pl.DataFrame(rows, schema=["run", "seg", "query", "doc", "score", "grade"], orient="row")
    unjudged = pl.col("query") == 5
    return frame.with_columns(
        grade=pl.when(~unjudged).then("grade"), rank=pl.int_range(pl.len()).over("run", "seg", "query") * 2 + 1
    )


def asked(seed: int) -> Iterator[tuple[IRM[pl.DataFrame], dict[str, Any]]]:
    """Logs of every sort, and options of their audit."""
    frame = made(seed)
    keys: dict[str, Any] = {"query": "query", "system": "run", "by": "seg"}
    qrels = frame.drop_nulls("grade").group_by("query", "doc").agg(pl.max("grade"))
    lost = pl.concat([qrels, qrels.with_columns(pl.col("query") + 10)])
    one = frame.with_columns(pl.min("grade").over("seg", "query", "doc"))
    yield frame.irm(**keys, score="score", rank=None, doc=None), {}
    yield one.irm(**keys, score="score", doc="doc", rank=None, collection_size=20), {}
    yield frame.drop("grade").irm(**keys, score="score", rank=None, doc="doc").judge(lost), {}
    labelled = frame.with_columns(label=pl.col("grade") < 1, total=pl.lit(0), size=pl.lit(2))
    yield (
        labelled.irm(**keys, rank="rank", score="score", label="label", grade="grade", doc=None, n_relevant="total"),
        {},
    )
    yield labelled.irm(**keys, rank="rank", grade="grade", label=None, doc=None, collection_size="size"), {}
    yield frame.with_columns(pl.col("grade") - 0.5).irm(**keys, score="score", rank=None, doc=None), {}
    yield frame.irm(**keys, score="score", rank=None, doc=None, threshold=5.0), {}
    pooled = frame.drop("query", "rank").drop_nulls("grade")
    yield pooled.irm(system="run", by="seg", score="score", threshold=5.0, query=None, doc=None), {}
    said = pooled.with_columns(label=pl.col("doc").str.slice(0, 2), predicted=pl.lit("d0"))
    yield said.irm(system="run", by="seg", label="label", predicted="predicted", query=None, score=None, grade=None), {}
    saved = frame.group_by("run", "seg", "query", maintain_order=True).agg(ndcg=pl.col("score").mean() - 3)
    yield saved.irm(**keys, value="ndcg"), {}
    there = saved.filter(pl.col("query") > 2, run="A").drop("run")
    yield saved.irm(**keys, value="ndcg"), {"baseline": there.irm(query="query", by="seg", value="ndcg")}
    yield frame.irm(query="query", arm="run", score="score", rank=None, doc=None), {"split": {"A": 0.9, "B": 0.1}}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_count_is_of_what_its_check_names(seed: int) -> None:
    """No count is above its whole, its share is of the whole, the unit is said, and there are not more of it."""
    seen = set()
    for number, (irm, options) in enumerate(asked(seed)):
        table = irm.audit(**options)
        frame = irm.frame if irm._judgments is None else pl.concat([irm.frame, irm._judgments[0]], how="diagonal")
        for row in table.rows(named=True):
            those = [one for one in CHECKS if one.name == row["check"]]
            units = {unit(one, irm) for one in those}
            if not units:  # rows of the frame that are bad, or without errors
                assert row["check"].startswith("rows")
                continue
            seen.add(row["check"])
            assert any(word in f"{row['check']} {row['message']}" for word in units), row
            assert row["share"] is None or 0 <= row["share"] <= 1, row
            assert row["n"] > 0 or row["severity"] == "fact", row
            whole = row["n"] / row["share"] if row["share"] else row["n"]
            assert whole == pytest.approx(round(whole)), row
            for word in units & {*UNITS} if those[0].unit != "{word}" else ():  # a unit counts in each of its arms
                each = [[name for name in names if name in frame.columns] for names in UNITS[word]]
                assert whole <= np.prod([frame[names].drop_nulls().n_unique() for names in each]) + 1e-9, (row, word)
        if "value" not in irm.roles and number % 3 == seed:
            assert_frame_equal(in_pieces(irm).audit(**options).collect(), table)
    assert len(seen) > 30


def unit(one: Any, irm: IRM[pl.DataFrame]) -> str:
    """The unit of a check, in the words of a frame."""
    segments = "values of run in segments of seg" if irm.roles.get("by") else "values of run"
    return str(one.unit.format(word="queries", units="queries", cells=segments, classes=f"classes in {segments}"))


def test_every_check_has_a_unit() -> None:
    """It is a word of the plural, or one that is filled in; what is found once and has no whole names no unit."""
    for one in CHECKS:
        assert one.unit.rstrip("}")[-1] == "s" or one.unit in ("query", "row", "{word}", "pairs of systems"), one.name
        assert one.unit in ("{word}", "{cells}", "{classes}") or " " not in one.unit.replace("pairs of ", ""), one.name


def test_queries_are_distinct_whatever_the_systems() -> None:
    """Of two queries two are without relevant documents, though three rankings are."""
    rows = [(run, q, 2.0 - i, int(run == "B" and q == 2 and not i)) for run in "AB" for q in (1, 2) for i in (0, 1)]
    log = pl.DataFrame(rows, schema=["run", "query", "score", "grade"], orient="row")
    for frame in (log, pl.concat([log.with_columns(seg=pl.lit(seg)) for seg in "uv"])):
        irm = frame_metrics.IRM(frame, system="run", by="seg" if "seg" in frame.columns else None)
        found = irm.audit().filter(pl.col("check").is_in(["queries without relevant documents", "queries"]))
        assert found["n"].to_list() == [2, 2]
        assert found["share"].to_list() == [1, 1]
        assert ", in at least one ranking" in found["message"][0]
        assert irm.audit().filter(check="only results are judged")["n"].item() == 4 * (len(frame) // len(log))


def test_values_that_a_row_has_several_of_are_counted_as_values() -> None:
    """A null query is one row, whatever the systems; a bad score of each of two systems is two scores."""
    rows = {"query": [1, 1, None], "s1": [1.0, np.inf, 2.0], "s2": [1.0, np.inf, 2.0], "grade": [1, 0, 1]}
    found = pl.DataFrame(rows, strict=False).irm(score=["s1", "s2"]).audit().filter(severity="error")
    assert found.select("check", "n", "share").rows() == [
        ("rows that have no query", 1, pytest.approx(1 / 3)),
        ("scores that are infinite", 2, pytest.approx(1 / 3)),
    ]
    ranks = pl.DataFrame({"query": [1, 1, 2], "doc": ["a", "a", "a"], "r1": [1, 2, 2], "r2": [1, 2, 1], "grade": 1})
    (row,) = ranks.irm(rank=["r1", "r2"]).audit().filter(severity="error").rows(named=True)
    assert (row["check"], row["n"]) == ("rows that repeat a document of their query", 1)
    assert row["share"] == pytest.approx(1 / 3)
    assert "1 of 3 rows" in row["message"]
