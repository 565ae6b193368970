"""Labels and scores that are missing: without a query a null label is an error, and what it does instead is told."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pandas as pd
import polars as pl
import pytest

from frame_metrics import IRM, BadRowsError
from helpers import as_kind, as_polars, error
from inside import in_pieces

CARDS = pl.DataFrame(
    {
        "month": ["may", "may", "may", "may", "june", "june"],
        "fraud": [1, 0, 0, 1, None, None],
        "score": [0.9, 0.2, 0.6, 0.8, 0.7, 0.3],
    }
)
WAYS = (
    " unjudged='drop' leaves them out; do so only if yes and no become known at the same time. "
    "unjudged='negative' counts them as no, as after a left join with clicks."
)
ROWS = "2 of 6 rows have no label (month = june: 2 of 2; rows 4, 5)."
UNNUMBERED = "2 of 6 rows have no label (month = june: 2 of 2)."


def of_duckdb(frame: pl.DataFrame) -> Any:
    """Return a frame as a relation of DuckDB."""
    duckdb = pytest.importorskip("duckdb")
    frame_of_duckdb = frame.to_arrow()
    return duckdb.connect().from_arrow(frame_of_duckdb)


def of_dask(frame: pl.DataFrame) -> Any:
    """Return a frame as one of Dask, in three parts."""
    dask = pytest.importorskip("dask.dataframe")
    return dask.from_pandas(frame.to_pandas(), npartitions=3)


def objects(frame: pl.DataFrame, labels: list[Any]) -> pd.DataFrame:
    """Return a frame of pandas whose labels are objects."""
    return frame.to_pandas().assign(fraud=pd.Series(labels, dtype=object))


def as_result(table: Any) -> pl.DataFrame:
    """Return a result of any kind as polars."""
    if "dask" in sys.modules and hasattr(table, "compute"):
        table = table.compute()
    return as_polars(table.pl() if hasattr(table, "pl") else table)


# Frames of every kind, and what the error says of where the rows are.
FRAMES: dict[str, tuple[Callable[[pl.DataFrame], Any], str]] = {
    "polars": (lambda frame: frame, ROWS),
    "lazy": (lambda frame: frame.lazy(), ROWS),
    "pandas": (lambda frame: frame.to_pandas(), ROWS),
    "pandas Int64": (lambda frame: frame.to_pandas().astype({"fraud": "Int64"}), ROWS),
    "pandas boolean": (lambda frame: frame.to_pandas().astype({"fraud": "boolean"}), ROWS),
    "pandas object": (lambda frame: objects(frame, [1, 0, 0, 1, None, None]), ROWS),
    "pandas bool and None": (lambda frame: objects(frame, [True, False, False, True, None, None]), ROWS),
    "pandas-arrow": (lambda frame: as_kind(frame, "pandas-arrow"), ROWS),
    "pyarrow": (lambda frame: frame.to_arrow(), ROWS),
    "duckdb": (of_duckdb, ROWS),
    "dask": (of_dask, UNNUMBERED),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_null_labels_of_every_kind_of_frame(kind: str) -> None:
    """The error counts them with the segment that has most; dropped, a segment keeps its row; negative, they are no."""
    make, where = FRAMES[kind]
    irm = IRM(make(CARDS), label="fraud", by="month")
    assert error(lambda: as_result(irm.evaluate("roc_auc")), BadRowsError) == f"fraud: {where}{WAYS}"
    dropped = as_result(irm(unjudged="drop").evaluate("roc_auc"))
    assert dropped.select("month", "value", "n").sort("month").rows() == [("june", None, 0), ("may", 1, 4)]
    negative = as_result(irm(unjudged="negative", by=None).evaluate("roc_auc"))
    assert negative.select("value", "n").rows() == [(1, 6)]
    found = as_result(irm.audit()).filter(severity="error")
    assert found.select("check", "n", "share", "message").rows() == [
        ("rows that have no label", 2, 2 / 6, f"fraud: {where}{WAYS}")
    ]


@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas", "pandas-arrow", "duckdb", "dask"])
def test_null_labels_are_in_no_other_finding_of_an_audit(kind: str, words: bool) -> None:
    """They are neither yes nor no: beside their error, findings are those of the rows with a label, by segment too."""
    good = pl.DataFrame({"month": ["may"] * 20, "fraud": [1, 0] * 10, "predicted": [1, 0] * 9 + [0, 1]})
    late = pl.DataFrame({"month": ["june"] * 380, "fraud": None, "predicted": [1, 1, 0, 0] * 95})
    late = late.cast({"fraud": pl.Int64})
    texts = [pl.col(name).replace_strict({0: "no", 1: "yes"}, return_dtype=pl.String) for name in late.columns[1:]]
    frames = [frame.with_columns(texts) if words else frame for frame in (good, pl.concat([good, late]))]
    roles: dict[str, Any] = {"label": "fraud", "positive": "yes" if words else None}
    for by in (None, "month"):
        known, every = (as_result(IRM(FRAMES[kind][0](one), **roles, by=by).audit()) for one in frames)
        assert every.filter(severity="error")["n"].to_list() == [380]
        assert every.filter(pl.col("severity").is_in(["warning", "info"])).is_empty()
        names = ["relevant rows", "rows decided", "rows predicted relevant"]
        counts = [
            one.filter(pl.col("check").is_in(names)).select("check", "n", "share").rows() for one in (known, every)
        ]
        assert counts[0] == counts[1]
        (judged,) = every.filter(check="rows judged")["message"]
        assert judged == "rows with a label, to which counts of relevant rows and of decisions refer"


def test_null_labels_of_pieces() -> None:
    """Rows that are counted where they are have no numbers, and the counts are those of all."""
    irm = in_pieces(IRM(pl.concat([CARDS] * 3), label="fraud", by="month"))
    said = error(lambda: irm.evaluate("roc_auc").collect(), BadRowsError)
    assert said.startswith("fraud: 6 of 18 rows have no label (month = june: 6 of 6")


def test_null_labels_of_systems_in_columns() -> None:
    """A row counts once, whatever the number of systems that decide about it."""
    frame = CARDS.with_columns(other=1 - pl.col("score"))
    irm = IRM(frame, label="fraud", score=["score", "other"], by="month")
    assert error(lambda: irm.compare("roc_auc"), BadRowsError) == f"fraud: {ROWS}{WAYS}"
    assert irm.audit()["message"][0] == f"fraud: {ROWS}{WAYS}"
    assert irm(unjudged="drop").evaluate("roc_auc").filter(month="may")["value"].to_list() == [0, 1]


@pytest.mark.parametrize(
    ("roles", "where"),
    [
        ({}, "(rows 4, 5)"),
        ({"by": ["month", "shop"]}, "(month = june, shop = x: 2 of 2; rows 4, 5)"),
        ({"system": "month"}, "(month = june: 2 of 2; rows 4, 5)"),
        ({"by": "long"}, f"(long = {'a' * 200}...: 2 of 6; rows 4, 5)"),
        ({"count": "many", "by": "month"}, "(month = june: 2 of 2; rows 4, 5)"),
    ],
)
def test_the_segment_with_most_null_labels_is_named(roles: Any, where: str) -> None:
    """With its count and its rows; without `by` or `system` there is none."""
    frame = CARDS.with_columns(shop=pl.lit("x"), long=pl.lit("a" * 300), many=pl.lit(3))
    said = error(lambda: IRM(frame, label="fraud", **roles).evaluate("roc_auc"), BadRowsError)
    assert said.startswith(f"fraud: 2 of 6 rows have no label {where}. ")


def test_a_row_that_stands_for_none_needs_no_label() -> None:
    """A row with the count 0 is no row; one with the weight 0 is."""
    frame = CARDS.with_columns(times=pl.col("fraud").is_not_null().cast(pl.Int64))
    assert IRM(frame, label="fraud", count="times").evaluate("roc_auc").select("value", "n").row(0) == (1, 4)
    assert "have no label" in error(lambda: IRM(frame, label="fraud", weight="times").evaluate("roc_auc"))


def test_null_labels_with_a_query_are_those_of_rankings() -> None:
    """Unjudged results are not relevant, also where rows are pooled; "negative" is the default by its name."""
    log = CARDS.rename({"month": "query"})
    irm = log.irm(query="query", label="fraud")
    named = irm(unjudged="negative")
    for call in (
        lambda irm: irm.evaluate("rr", "roc_auc"),
        lambda irm: irm.thresholds("recall"),
        lambda irm: irm(threshold=0.5).confusion(),
        lambda irm: irm.curve("distribution", bins=2),
        lambda irm: irm.audit(),
        lambda irm: irm.per_query("judged@2"),
    ):
        assert call(irm).equals(call(named))
    lists = log.group_by("query", maintain_order=True).agg("score", "fraud").irm(label="fraud", query="query")
    assert lists(unjudged="negative").evaluate("rr").equals(lists.evaluate("rr"))
    judged = (
        log.with_columns(doc=pl.int_range(6))
        .drop("fraud")
        .irm.judge(pl.DataFrame({"query": ["may", "june"], "doc": [0, 4], "label": [1, None]}))
    )
    assert judged(unjudged="negative").evaluate("rr").equals(judged.evaluate("rr"))


def test_a_distribution_shows_rows_without_a_label() -> None:
    """By themselves; as no, or not at all, where that is said."""
    irm = CARDS.irm(label="fraud")
    labels = {
        rule: irm(unjudged=rule).curve("distribution", bins=1)["label"].to_list() for rule in (None, "negative", "drop")
    }
    assert labels[None][-1] is None
    assert None not in labels["negative"] + labels["drop"]


def test_agreement_takes_null_labels() -> None:
    """What an annotator did not judge is no disagreement, and no error."""
    frame = pl.DataFrame({"doc": [1, 2, 3] * 2, "rater": [*"aaabbb"], "label": [1, 0, None, 1, 0, 1], "query": 1})
    run = pl.DataFrame({"query": [1, 1, 1], "doc": [1, 2, 3], "score": [3.0, 2.0, 1.0]})
    assert run.irm.judge(frame, annotator="rater").agreement()["n"].to_list() == [2, 2]


def test_what_is_left_out_is_told() -> None:
    """The summary says how many rows, and where more than half; an audit, where the labels left are all positive."""
    june = pl.DataFrame({"month": "june", "fraud": [1, 1], "score": [0.6, 0.5]})
    irm = IRM(pl.concat([CARDS, june, CARDS.filter(month="june")]), label="fraud", by="month", unjudged="drop")
    said = "4 of 10 rows have no label and are left out, more than half of them in month = june: 4 of 6"
    found = irm.audit()
    assert found.filter(check="rows left out without a label")["message"].item().startswith(said)
    assert (
        found.filter(check="all rows with a label are positive")["message"]
        .item()
        .startswith("all 2 rows with a label are positive in month = june")
    )
    assert irm.summary("roc_auc").filter(kind="missing")["sentence"].to_list() == [f"{said}. And 2 more warnings."]
    assert irm(unjudged=None).audit()["check"].to_list().count("all rows with a label are positive") == 1
    other = irm(unjudged="negative")
    assert "all rows with a label are positive" not in other.audit()["check"]
    assert other.summary("roc_auc").filter(kind="missing").is_empty()
    plain = IRM(CARDS.head(4), label="fraud", unjudged="drop")
    assert plain.audit().filter(pl.col("check").str.contains("label")).is_empty()


def test_rows_of_several_classes_that_are_left_out_are_told() -> None:
    """Their number; there is no class that is the positive one."""
    frame = pl.DataFrame({"label": ["a", "b", "c", None], "predicted": [*"abca"]})
    found = frame.irm(unjudged="drop").audit().filter(severity="info")
    assert found.select("check", "n", "share").row(0) == ("rows left out without a label", 1, 0.25)
    assert found["message"][0].startswith("1 of 4 rows has no label and is left out")


SCORES = pl.DataFrame({"label": [0, 1] * 100, "score": [0.1, 0.9] * 100, "system": ["a"] * 100 + ["b"] * 100})


@pytest.mark.parametrize(("missing", "warned"), [(0, False), (1, False), (2, True), (40, True)])
def test_rows_without_a_score_are_told(missing: int, warned: bool) -> None:
    """From 1 % on the audit warns, and the summary has a sentence."""
    frame = SCORES.with_columns(score=pl.when(pl.int_range(200) >= missing).then("score"))
    irm = IRM(frame, label="label", query=None, system=None)
    said = f"{missing} of 200 rows have no score and count as not flagged"
    found = irm.audit().filter(check="many rows without a score")
    assert found.select("severity", "n", "message").rows() == [("warning", missing, said)] * warned
    assert irm.summary("roc_auc").filter(kind="missing")["sentence"].to_list() == [f"{said}."] * warned
    assert irm.audit().filter(check="rows without a score")["n"].item() == missing


def test_a_system_without_scores_is_told() -> None:
    """A share of one system from 1 % on is told, though it is less of all rows."""
    frame = SCORES.with_columns(score=pl.when(pl.int_range(200) >= 1).then("score"))
    found = IRM(frame, label="label", system="system").audit().filter(check="many rows without a score")
    assert found.select("n", "example").row(0) == (1, "a")
