"""Columns that are something else than they are given as: positions as scores, shares as grades, flags as ids."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

from frame_metrics import IRM, BadRowsError, BadValueError, ColumnError, NotComputableError
from helpers import KINDS, as_kind, as_polars, error
from inside import in_pieces

# Positions that are given as scores

PLACED = pl.DataFrame(
    {
        "query": [1, 1, 1, 2, 2],
        "doc": [*"abcab"],
        "pos": [1, 2, 3, 2, 1],
        "bm25": [3.0, 2, 1, 1, 2],
        "grade": [1, 0, 0, 0, 1],
    }
)
VERBS: dict[str, Callable[[Any], Any]] = {
    "evaluate": lambda irm: irm.evaluate("ndcg", "rr"),
    "per_query": lambda irm: irm.per_query("rr"),
    "bounds": lambda irm: irm.bounds("rr", of="ties"),
    "explain": lambda irm: irm.explain("rr", query=1),
    "curve": lambda irm: irm.curve("recall@k"),
    "thresholds": lambda irm: irm.thresholds("recall"),
    "confusion": lambda irm: irm(threshold=2).confusion(),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("kind", KINDS)
def test_positions_that_are_given_as_scores(kind: str, verb: str) -> None:
    """They are an error in every verb, with the judgments in the log or beside it, and the way out works."""
    call, run = VERBS[verb], PLACED.drop("grade")
    said = "score='pos': its values count up from 1 or 0 in each ranking, as positions do; the best"
    for irm in (
        IRM(as_kind(PLACED, kind), query="query", score="pos"),
        IRM(as_kind(run, kind), score="pos").judge(as_kind(PLACED.select("query", "doc", "grade"), kind)),
    ):
        assert error(lambda irm=irm: call(irm), ColumnError).startswith(said)
    irm = IRM(as_kind(PLACED, kind), query="query", rank="pos")
    assert as_polars(irm.evaluate("rr"))["value"].to_list() == [1]
    assert "positions given as scores" in as_polars(irm(rank=None, score="pos").audit())["check"].to_list()


@pytest.mark.parametrize("name", ["pos", "position", "rank", "rnk", "ranking", "place", "Rank", "POSITION"])
def test_names_of_positions(name: str) -> None:
    """They are read without regard to case; a column of another name is a score, whatever it holds."""
    assert f"rank={name!r}" in error(lambda: PLACED.rename({"pos": name}).irm(score=name).evaluate("rr"), ColumnError)
    assert PLACED.rename({"pos": f"my {name}"}).irm(score=f"my {name}").evaluate("rr")["value"].item() < 1


@pytest.mark.parametrize("odd", [(1, 2, 1.5), (1, 2, -1), (3, 3, 5), (7, 7, 7)])
def test_scores_that_cannot_be_positions(odd: tuple[float, ...]) -> None:
    """A value below 1, with a fraction, or twice and no place is none; without a query there are no positions."""
    pos = pl.Series([*odd, 2, 1], dtype=pl.Float64)
    assert PLACED.with_columns(pos=pos).irm(score="pos").evaluate("ndcg")["n"].item() == 2
    assert PLACED.irm(query=None, score="pos").evaluate("roc_auc")["value"].item() < 0.5


@pytest.mark.parametrize("shared", [(1, 1, 2), (1, 1, 3), (2, 2, 3), (0, 0, 1)])
def test_equal_places_are_positions(shared: tuple[int, ...]) -> None:
    """Taken for scores they would turn the order round; their negative is the score that leaves it, as errors say."""
    placed = PLACED.with_columns(pos=pl.Series([*shared, 1, 1]))
    assert "rank='pos'" in error(lambda: placed.irm(score="pos").evaluate("rr"), ColumnError)
    if min(shared):
        assert "the negative of pos" in error(lambda: placed.irm(rank="pos").evaluate("rr"), BadRowsError)
    turned = placed[:3].irm(score=-pl.col("pos"), grade=1 - pl.col("grade"), doc=None)
    assert turned.evaluate("rr")["value"].item() == 0.5


def test_positions_that_count_from_0() -> None:
    """Values that are 0, 1, 2 ... in each ranking are positions too; 0 among values with gaps is a score."""
    from_0 = PLACED.with_columns(pl.col("pos") - 1)
    assert "rank='pos'" in error(lambda: from_0.irm(score="pos").evaluate("rr"), ColumnError)
    assert from_0.with_columns(pl.col("pos") * 2).irm(score="pos").evaluate("ndcg")["n"].item() == 2


def test_positions_of_one_system_among_columns_of_scores() -> None:
    """Of several columns of scores those are named that are positions; nulls are documents not retrieved."""
    log = PLACED.with_columns(position=pl.Series([None, 1, 2, 1, None]), place=pl.lit(7))
    message = error(lambda: log.irm(score=["bm25", "pos", "place", "position"]).evaluate("rr"), ColumnError)
    assert message.startswith("score=['pos', 'position']: its values")
    assert log.irm(score=["bm25", "place"]).evaluate("rr")["system"].to_list() == ["bm25", "place"]


@pytest.mark.parametrize("verb", [name for name in VERBS if name != "explain"])
def test_positions_in_pieces(verb: str) -> None:
    """All pieces of a plan that memory does not hold tell it together: a tie in the last ranking makes them scores."""
    call, many = VERBS[verb], pl.concat([PLACED.with_columns(pl.col("query") + 2 * i) for i in range(6)])
    tied = PLACED[:2].with_columns(pl.lit(99, pl.Int64).alias("query"), pl.lit(5, pl.Int64).alias("pos"))
    scores = pl.concat([many, tied])
    assert error(lambda: call(in_pieces(many.irm(query="query", score="pos"))), ColumnError) == error(
        lambda: call(many.irm(query="query", score="pos")), ColumnError
    )
    assert as_polars(call(in_pieces(scores.irm(query="query", score="pos", doc=None)))).height > 0


# Grades between 0 and 1

PRICED = pl.DataFrame(
    {"query": [1, 1, 2, 2], "doc": [*"abab"], "score": [2.0, 1, 2, 1], "grade": [0.5, 12.0, 0.25, 1.0]}
)
OF_RELEVANCE: dict[str, Callable[[Any], Any]] = VERBS | {
    "explain": lambda irm: irm.explain("ap", query=1),
    "no query": lambda irm: irm(query=None, doc=None).evaluate("roc_auc"),
    "decisions without a query": lambda irm: irm(query=None, doc=None, threshold=1.5).confusion(),
}
UNSAID = "2 grades lie between 0 and 1 in grade, and others reach 1: pass the least grade that is relevant, as rel=1"


@pytest.mark.parametrize("verb", OF_RELEVANCE)
@pytest.mark.parametrize("kind", KINDS)
def test_grades_between_0_and_1_beside_others(kind: str, verb: str) -> None:
    """What reads relevance is an error that counts them and offers rel=, which is the way out, also where it says 1."""
    irm, call = IRM(as_kind(PRICED, kind), query="query"), OF_RELEVANCE[verb]
    assert error(lambda: call(irm), NotComputableError).endswith(UNSAID)
    for rel in (1, 0.5, 0.1):
        assert as_polars(call(irm(rel=rel))).height > 0
    assert error(lambda: call(irm(rel=100))).endswith(
        "no grade in grade reaches rel=100; the largest is 12: set rel= lower"
    )
    assert as_polars(irm.evaluate("ndcg", "cg", "rr(rel=1)"))["n"].to_list() == [2, 2, 2]


@pytest.mark.parametrize("kind", KINDS)
def test_judgments_between_0_and_1_beside_others(kind: str) -> None:
    """Grades of judgments are looked at too, after several have been made one; audit() goes on, and says it."""
    run, qrels = as_kind(PRICED.drop("grade"), kind), as_kind(PRICED.drop("score"), kind)
    irm = IRM(run).judge(qrels)
    assert error(lambda: irm.evaluate("rr"), NotComputableError) == f"rr: {UNSAID}"
    assert as_polars(irm.evaluate("ndcg"))["n"].item() == 2
    found = as_polars(irm.audit()).filter(check="grades between 0 and 1")
    assert found.select("severity", "n").row(0) == ("error", 2)
    both = pl.DataFrame({"query": [1, 1, 2], "doc": [*"aab"], "grade": [0, 1, 1]})
    assert "1 grade lies" in error(lambda: IRM(run).judge(as_kind(both, kind), several="mean").evaluate("rr"))


@pytest.mark.parametrize("grades", [[0.5, 0.9, 0.0, 0.2], [1.0, 12.5, 0.0, 2.0], [1, 0, 2, 0], [-0.5, 1.0, 0.0, 2.0]])
def test_grades_that_rel_decides(grades: list[float]) -> None:
    """Where none reaches 1 that is the error; where none is between 0 and 1 there is nothing to say."""
    irm = PRICED.with_columns(grade=pl.Series(grades)).irm(query="query")
    if max(grades) < 1:
        assert error(lambda: irm.evaluate("rr")).startswith("rr: no grade in grade reaches rel=1")
    else:
        assert irm.evaluate("rr")["n"].item() == 2
    assert "grades between 0 and 1" not in irm.audit()["check"].to_list()


@pytest.mark.slow
@pytest.mark.parametrize("verb", OF_RELEVANCE)
@pytest.mark.parametrize("judged", [False, True])
def test_grades_between_0_and_1_in_pieces(verb: str, judged: bool) -> None:
    """The grades of all pieces are counted together, whichever piece has those that reach 1."""
    many = pl.concat([PRICED.with_columns(pl.col("query") + 2 * i, grade=pl.lit(0.5)) for i in range(40)])
    many = many.with_columns(grade=pl.when(pl.int_range(pl.len()) == 150).then(3.0).otherwise("grade"))
    irm = many.irm(query="query")
    if judged:
        irm = many.drop("grade").irm(query="query").judge(many.drop("score"))
        if "without" in verb or verb == "no query":
            return
    each = in_pieces(irm), irm
    said, whole = (error(lambda one=one: OF_RELEVANCE[verb](one(rel=9))) for one in each)
    assert said == whole
    assert whole.endswith("no grade in grade reaches rel=9; the largest is 3: set rel= lower")
    said, whole = (error(lambda one=one: OF_RELEVANCE[verb](one), NotComputableError) for one in each)
    assert "159 grades lie between" in whole
    if (verb, judged) == ("explain", False):  # which looks at some grades of the others
        assert re.sub(r"at least \d+ ", "159 ", said) == whole
    else:
        assert said == whole


def test_a_report_of_grades_between_0_and_1(tmp_path: Path) -> None:
    """It shows the metrics of gain, and says of the others why they are not there."""
    PRICED.irm(query="query").report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "grades between 0 and 1" in page
    assert "2 grades lie between 0 and 1 in grade" in page


# Flags that are given as ids, and lists that are texts

FLAGGED = "relevant: its lists hold flags, and relevant= is a list of ids; pass relevant=None, label='relevant'"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("docs", "flags"),
    [
        ([["a", "b"], ["c", "d"]], [[1, 0], [0, 1]]),
        ([[10, 20], [30, 40]], [[1, 0], [0, 1]]),
        ([[10, 20], [30]], [[0, 1], [1]]),
        ([[10.5, 20.5], [30.5]], [[0, 1], [1]]),
    ],
)
def test_flags_that_are_given_as_ids(docs: list[list[Any]], flags: list[list[int]], kind: str) -> None:
    """Lists of 0 and 1, as long as the row's documents, none of which is 0 or 1, are an error that offers label=."""
    log = as_kind(pl.DataFrame({"query": [1, 2], "doc": docs, "relevant": flags}), kind)
    assert error(lambda: IRM(log).evaluate("recall"), BadValueError).startswith(FLAGGED)
    assert as_polars(IRM(log, relevant=None, label="relevant").evaluate("recall"))["value"].item() == 1


@pytest.mark.parametrize(
    ("docs", "ids", "recall"),
    [
        ([[10, 1], [30, 40]], [[1, 0], [0, 1]], 0.25),
        ([[10, 20], [30, 40]], [[1], [0, 1]], 0),
        ([[1], [0]], [[1], [0]], 1),
        ([[10, 20], [30]], [[20, 7], [30]], 0.75),
        ([[10], [30]], [[], []], 0),
    ],
)
def test_ids_that_look_like_flags(docs: list[list[int]], ids: list[list[int]], recall: float) -> None:
    """A document of that id, a list of another length, or another number: these are ids."""
    log = pl.DataFrame(
        {"query": [1, 2], "doc": docs, "relevant": ids}, schema_overrides={"relevant": pl.List(pl.Int64)}
    )
    assert log.irm.evaluate("recall")["value"].item() == recall


def test_flags_that_are_given_as_ids_in_pieces() -> None:
    """All pieces tell it together: one document of id 1 in the last row makes all of them ids."""
    log = pl.DataFrame({"query": range(8), "doc": [[10 + i, 90 + i] for i in range(8)], "relevant": [[1, 0]] * 8})
    assert error(lambda: in_pieces(log.irm).evaluate("recall"), BadValueError).startswith(FLAGGED)
    ids = pl.concat([log, pl.DataFrame({"query": [99], "doc": [[1, 2]], "relevant": [[1, 0]]})])
    assert as_polars(in_pieces(ids.irm(query="query")).evaluate("recall"))["n"].item() == 9


@pytest.mark.parametrize("column", ["doc", "score", "label", "grade", "rank"])
def test_lists_that_are_texts(column: str, tmp_path: Path) -> None:
    """Lists that pandas wrote to CSV come back as texts: an error says so, and how they become lists again."""
    lists = {"doc": [["a", "b"], ["c"]], "score": [[2.0, 1.0], [1.0]], "label": [[1, 0], [1]]}
    lists |= {"grade": [[1, 0], [1]], "rank": [[1, 2], [1]]}
    roles = {"doc": "doc", column: column} | ({} if column in ("label", "grade") else {"label": "flag"})
    roles |= {} if column in ("score", "rank") else {"score": "number"}
    plain = {"query": [1, 2], "flag": [1, 0], "number": [1.0, 2.0], "doc": [*"xy"]}
    log = pd.DataFrame(plain | {column: lists[column]})
    log.to_csv(tmp_path / "log.csv", index=False)
    texts = pd.read_csv(tmp_path / "log.csv")
    said = error(lambda: IRM(texts, query="query", **roles).evaluate("rr"), BadValueError)
    assert said == (
        f"{column}: its values are texts of lists, as {str(lists[column][0])!r}, which is how CSV holds lists; make "
        f"them lists before, as [ast.literal_eval(one) for one in frame[{column!r}]]"
    )


def test_lists_of_relevant_documents_that_are_texts() -> None:
    """The error of a column that holds no lists says it too; ids in brackets are ids."""
    log = pl.DataFrame({"query": [1], "doc": ["a"], "score": [1.0], "gold": ["['a', 'b']"]})
    assert "ast.literal_eval(one) for one in frame['gold']" in error(lambda: log.irm(relevant="gold").evaluate("rr"))
    bracketed = pl.DataFrame({"query": [1, 1], "doc": ["[1]", "[2]"], "score": [2.0, 1.0], "label": [1, 0]})
    assert bracketed.irm(doc="doc").evaluate("rr")["value"].item() == 1
