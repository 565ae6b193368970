"""The table "What happens to missing things": each of its lines is tried."""

from __future__ import annotations

import re
from collections.abc import Callable

import pandas as pd
import polars as pl
import pytest

import frame_metrics
from frame_metrics import BadRowsError, BadValueError, NotComputableError
from helpers import ROOT

NAN, INF = float("nan"), float("inf")


def log(**columns: object) -> pl.DataFrame:
    """Two results of one query, the second of which is relevant, unless it is said otherwise."""
    plain = {"query": [1, 1], "score": [2.0, 1.0], "grade": [0, 1]}
    return pl.DataFrame({name: values for name, values in (plain | columns).items() if values is not None})


def value(frame: pl.DataFrame, metric: str, **roles: object) -> list[object]:
    """The values of a metric, query by query."""
    return frame.irm(**roles).per_query(metric)["value"].to_list()


def refused(frame: pl.DataFrame | pd.DataFrame, error: type[Exception] = BadRowsError, **roles: object) -> bool:
    """Whether a verb refuses the frame, and the audit has a finding about it."""
    with pytest.raises(error):
        frame_metrics.IRM(frame, **roles).evaluate("rr")
    with pytest.raises(BadValueError):
        frame_metrics.IRM(frame, **roles).audit(fail_on="error")
    return True


def judged(*pairs: tuple[int, str]) -> pl.DataFrame:
    return pl.DataFrame({"query": [q for q, _ in pairs], "doc": [d for _, d in pairs], "grade": [1] * len(pairs)})


RUN = pl.DataFrame({"query": [1, 2], "doc": ["a", "a"], "score": [1.0, 1.0]})


def without_judgment() -> None:
    half = log(grade=[None, 1])
    assert value(half, "rr") == [0.5]
    assert value(half, "judged@10") == [0.5]
    assert value(half, "rr", unjudged="drop") == [1.0]


def without_results() -> None:
    beside = RUN.irm.judge(judged((1, "a"), (3, "a")))
    assert beside.per_query("rr").filter(query=3)["value"].to_list() == [0.0]
    assert "queries without results" in beside.audit()["check"].to_list()
    assert beside.per_query("rr").filter(query=3)["answered"].to_list() == [False]
    assert beside(unanswered="drop").per_query("rr")["query"].to_list() == [1]


def without_results_in_a_row() -> None:
    nothing = pl.DataFrame({"query": [1, 2], "doc": [["a"], []], "relevant": [["a"], ["a"]]}).irm
    assert nothing.per_query("rr").select("value", "answered").rows() == [(1.0, True), (0.0, True)]
    assert "queries without results" in nothing.audit()["check"].to_list()


def of_no_judged_query() -> None:
    beside = RUN.irm.judge(judged((1, "a")))
    assert beside.evaluate("rr")["n"].to_list() == [1]
    assert "queries without judgments" in beside.audit()["check"].to_list()


def null_score() -> None:
    found = log(score=[2.0, None], grade=[1, 1])
    assert value(found, "recall") == [0.5]
    assert value(found, "num_ret") == [1.0]


def null_grade() -> None:
    assert value(log(grade=[None, 1]), "num_rel") == [1.0]
    assert value(log(grade=[0, 1]), "judged") == [1.0]


def neither() -> None:
    assert refused(log(score=[2.0, None], grade=[0, None]))


def nan() -> None:
    columns = {"query": [1, 1], "score": [1.0, NAN], "grade": [1, 1]}
    assert pd.DataFrame(columns).irm.per_query("recall")["value"].tolist() == [0.5]
    assert refused(pl.DataFrame(columns))
    assert refused(pl.DataFrame(columns).to_arrow())


def infinite() -> None:
    assert refused(log(score=[INF, 1.0]))


def null_key() -> None:
    assert refused(log(query=[1, None]))
    for role in ("weight", "cluster"):
        with pytest.raises(BadRowsError):
            log(w=[1.0, None], query=[1, 2]).irm(**{role: "w"}).evaluate("rr", ci=0.9)


def twice() -> None:
    double = log(doc=["a", "a"], grade=[1, 1])
    assert refused(double)
    assert value(double, "num_ret", doc=None) == [2.0]
    assert value(double, "num_ret", duplicates="first") == [1.0]


def two_judgments() -> None:
    two = pl.DataFrame({"query": [1, 1], "doc": ["a", "a"], "grade": [1, 3]})
    with pytest.raises(BadValueError):
        RUN.irm.judge(two).evaluate("rr")
    assert RUN.irm.judge(two, several="mean").per_query("cg")["value"].to_list() == [2.0]


def tie() -> None:
    level = log(score=[1.0, 1.0], grade=[1, 0])
    assert value(level.with_columns(doc=pl.Series(["a", "b"])), "rr") == [0.5]
    assert value(level, "rr") == [0.5]
    assert value(level, "rr", ties="best") == [1.0]


def undefined() -> None:
    nothing = log(query=[1, 2], score=[1.0, 1.0])
    assert nothing.irm.evaluate("rr").select("value", "n", "n_undefined").rows() == [(0.5, 2, 1)]
    assert nothing.irm.evaluate("roc_auc").select("value", "n", "n_undefined").rows() == [(None, 0, 2)]
    with pytest.raises(NotComputableError):
        nothing.irm(undefined="raise").evaluate("rr")


def null_segment() -> None:
    split = log(query=[1, 2], grade=[1, 0], device=["web", None])
    rows = split.irm(by="device").evaluate("rr", margins=True).select("device", "total_over", "value").rows()
    assert rows == [("web", None, 1.0), (None, None, 0.0), (None, "device", 0.5)]
    both = log(query=[1, 1], grade=[1, 1], device=["web", None])
    assert both.irm(system="device").evaluate("rr")["device"].to_list() == ["web", None]


def null_prediction() -> None:
    some = pl.DataFrame({"label": [1, 1, 0], "predicted": [1, None, 0]})
    assert some.irm.evaluate("recall", "precision", "up")["value"].to_list() == [0.5, 1.0, 1.0]


def null_label() -> None:
    two = pl.DataFrame({"label": [1, None, 0], "predicted": [1, 1, 0]})
    with pytest.raises(BadRowsError):
        two.irm.evaluate("precision")
    assert two.irm(unjudged="drop").evaluate("precision")["value"].to_list() == [1.0]
    assert two.irm(unjudged="negative").evaluate("precision")["value"].to_list() == [0.5]
    several = pl.DataFrame({"label": ["a", "b", "c", None], "predicted": ["a", "b", "c", "a"]})
    with pytest.raises(BadRowsError):
        several.irm.evaluate("accuracy")
    assert several.irm(unjudged="drop").evaluate("accuracy")["value"].to_list() == [1.0]


def empty() -> None:
    nothing = log(device=["web", "phone"]).head(0)
    assert nothing.irm.evaluate("rr").select("value", "n").rows() == [(None, 0)]
    assert nothing.irm(by="device").evaluate("rr").is_empty()
    with pytest.raises(BadValueError):
        nothing.irm.audit(fail_on="error")


def no_judgments() -> None:
    nothing = log(grade=[None, None], device=["web", "web"])
    assert nothing.irm.evaluate("rr").select("value", "n").rows() == [(None, 0)]
    assert nothing.irm(by="device").evaluate("rr").select("device", "value", "n").rows() == [("web", None, 0)]
    with pytest.raises(BadValueError):
        nothing.irm.audit(fail_on="error")


LINES: dict[str, Callable[[], None]] = {
    "a result without a judgment": without_judgment,
    "a judged query of which a system, or a log without systems, has no row": without_results,
    "a query with a row and no result (an empty list, a null score)": without_results_in_a_row,
    "results of a query without any judgment": of_no_judged_query,
    "a null score (or rank)": null_score,
    "a null grade (or label)": null_grade,
    "neither a score nor a judgment in a row": neither,
    "NaN": nan,
    "an infinite score": infinite,
    "a null query, weight or cluster": null_key,
    "the same document twice in a query": twice,
    "two different judgments of a document": two_judgments,
    "equal scores (a tie)": tie,
    "a metric that is undefined for a query": undefined,
    "a null segment or system": null_segment,
    "a null prediction": null_prediction,
    "a null label or grade without a query": null_label,
    "a frame without rows": empty,
    "a frame without judgments": no_judgments,
}


@pytest.mark.parametrize("line", LINES)
def test_what_happens_to_missing_things(line: str) -> None:
    """A line of the table is true."""
    LINES[line]()


def test_every_line_of_the_table_is_tried() -> None:
    """The table of the page has the lines that are tried here, in their order."""
    page = (ROOT / "docs" / "concepts.md").read_text(encoding="utf-8")
    _, table = page.split("## What happens to missing things\n\n")
    assert re.findall(r"^\| (.*?) \|", table, flags=re.MULTILINE)[1:] == list(LINES)
