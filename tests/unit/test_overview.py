"""How ``df.irm`` shows itself, results printed whole, versions, and errors in a notebook."""

from __future__ import annotations

from typing import Any

import pandas as pd
import polars as pl
import pytest

import frame_metrics
from frame_metrics import IRM, FrameMetricsError
from helpers import KINDS, as_kind

LOG = pl.DataFrame(
    {
        "qid": ["lamp", "lamp", "desk", "desk", None, "rug"],
        "bm25": [7.5, 6.5, 9.0, 9.0, 1.0, 2.0],
        "rating": [3, 0, None, 2, 1, 1],
        "device": ["phone"] * 4 + ["web"] * 2,
    }
)
NAMED: Any = {"query": "qid", "score": "bm25", "grade": "rating", "by": "device"}


@pytest.mark.parametrize("kind", KINDS)
def test_roles_are_shown_with_values(kind: str) -> None:
    """Of each role the column and its first different values, nulls left out; of a lazy frame nothing is read."""
    irm = IRM(as_kind(LOG, kind), **NAMED, rel=2, ties="best")
    lines = repr(irm).splitlines()
    in_memory = kind != "polars lazy" and ", 6 rows" in lines[0]
    values = [line.split(maxsplit=2)[2:] for line in lines[1:5]]
    assert [line.split()[:2] for line in lines[1:5]] == [[role, NAMED[role]] for role in NAMED]
    assert lines[5:] == [
        "  rel=2, ties='best'",
        'next: .evaluate("ndcg@10", "map"), .per_query("rr"), .audit()',
    ]
    if in_memory:
        assert values[0] == ["'lamp', 'desk', 'rug'"]
        assert values[1] == ["7.5, 6.5, 9.0, ..."]
        assert values[3] == ["'phone', 'web'"]
    else:
        assert values == [[]] * 4


def test_values_of_rows_that_were_not_looked_at() -> None:
    """Dots say that later rows were not read: of a log sorted by system the first one is not the only one."""
    log = pl.DataFrame({"query": 1, "score": 1.0, "grade": [None] * 100 + [3], "run": ["a"] * 100 + ["b"]})
    values = [
        [line.removesuffix("found by name").split()[2:] for line in repr(log[:n].irm(system="run")).splitlines()[1:5]]
        for n in (100, 101)
    ]
    assert values[0] == [["1"], ["1.0"], [], ["'a'"]]
    assert values[1] == [["1,", "..."], ["1.0,", "..."], ["..."], ["'a',", "..."]]


@pytest.mark.parametrize(
    ("roles", "then"),
    [
        ({}, "irm(query='qid', grade='rating')"),
        ({"query": "qid"}, "irm(score='bm25', grade='rating')"),
        ({"query": "qid", "score": "bm25", "grade": "rating", "system": "device"}, '.compare("ndcg@10"), .audit()'),
        ({"query": None, "score": "bm25", "grade": "rating"}, '.curve("pr"), .audit()'),
        ({"query": None, "score": {1: "bm25", 2: "rating"}, "label": "device"}, '.per_class("roc_auc"), .audit()'),
        ({"query": None, "predicted": "rating", "label": "bm25"}, ".confusion(), .audit()"),
        ({"value": "bm25", "query": "qid"}, ".evaluate(), .compare(baseline=...), .audit()"),
    ],
)
def test_what_to_ask_next(roles: Any, then: str) -> None:
    """What is missing comes first, with the columns that are likely meant; then verbs that there are roles for."""
    log = LOG.rename({"bm25": "sim"}) if not roles else LOG
    if not roles:
        then = then.replace("grade", "score='sim', grade")
    assert repr(log.irm(**roles)).splitlines()[-1].endswith(then)


def test_a_log_without_judgments_is_sent_to_judge() -> None:
    """And one with separate judgments says so."""
    run = LOG.select("qid", "bm25", doc=pl.int_range(6))
    assert repr(run.irm(query="qid", score="bm25")).endswith("next: .judge(qrels)")
    shop = repr(run.irm(query="qid", score="bm25", catalogue=9, popularity={1: 2}))
    assert shop.endswith('next: .evaluate("catalogue_coverage@10", "novelty@10"), .audit(), .judge(qrels)')
    judged = run.irm(query="qid", score="bm25").judge(LOG.select("qid", "rating", doc=pl.int_range(6)), grade="rating")
    assert repr(judged).splitlines()[0] == "IRM of a polars.DataFrame, 6 rows, with judgments"


def test_a_notebook_shows_a_table() -> None:
    """Text of the frame is text there, whatever it holds."""
    odd = LOG.rename({"qid": "<b>q</b>"}).with_columns(pl.col("<b>q</b>").str.replace("lamp", "<script>\x1b[31m\n"))
    html = odd.irm(query="<b>q</b>", score="bm25", grade="rating")._repr_html_()
    assert "<script" not in html
    assert "<b>" not in html
    assert "\x1b" not in html
    assert html.startswith("<table><caption>IRM of a polars.DataFrame, 6 rows</caption>")
    assert "&lt;b&gt;q&lt;/b&gt;" in html
    assert "\x1b" not in repr(odd.irm(query="<b>q</b>"))


def test_an_error_is_short_in_a_notebook() -> None:
    """It has the caller's own line and the message, and no line of this package."""
    with pytest.raises(FrameMetricsError) as caught:
        LOG.irm(**NAMED).evaluate("ndgc")
    shown = caught.value._render_traceback_()
    assert shown[-1].startswith("UnknownNameError: ")
    assert 'LOG.irm(**NAMED).evaluate("ndgc")' in "\n".join(shown)
    assert "accessor.py" not in "\n".join(shown)


@pytest.mark.parametrize("kind", KINDS)
def test_a_result_is_printed_whole(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Every row and column, numbers at the right, null as nothing."""
    irm = IRM(as_kind(LOG.drop_nulls("qid"), kind), **NAMED)
    frame_metrics.show(irm.per_query("rr", "ndcg@10"))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 7
    assert lines[0].split() == ["device", "qid", "metric", "k", "value", "undefined", "answered"]
    assert lines[1].split() == ["phone", "lamp", "rr", "1.0", "False", "True"]
    assert lines[2].split() == ["phone", "lamp", "ndcg@10", "10", "1.0", "False", "True"]


def test_an_audit_is_a_list_of_findings(capsys: pytest.CaptureFixture[str]) -> None:
    """No message is cut off; what would move the cursor stands as an escape."""
    audit = LOG.drop_nulls("qid").irm(**NAMED).audit()
    frame_metrics.show(audit)
    text = capsys.readouterr().out
    plain = " ".join(text.split())
    assert all(" ".join(message.split()) in plain for message in audit["message"])
    assert text.startswith("warning  ")
    frame_metrics.show(audit.with_columns(message=pl.lit("\x1b[2J\u202egone"), example=pl.lit("a\nb")))
    assert not {"\x1b", "\u202e"} & {*capsys.readouterr().out}
    frame_metrics.show(audit.drop("example").with_columns(n=7))
    assert capsys.readouterr().out.startswith("warning  unjudged in the top 10: 7 (20 %)\n")
    frame_metrics.show(audit.select("severity", *(name for name in audit.columns if name != "severity")))
    assert capsys.readouterr().out == text
    frame_metrics.show(audit.clear())
    assert capsys.readouterr().out == "nothing was found\n"


def test_odd_values_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """NaN, infinities and large numbers too."""
    frame_metrics.show(pd.DataFrame({"a": [float("inf"), 1e300, 0.25], "b": ["x", None, "é"]}))
    assert capsys.readouterr().out.splitlines() == ["     a  b", "   inf  x", "1e+300", "  0.25  é"]
    with pytest.raises(FrameMetricsError, match="is not a frame"):
        frame_metrics.show(3)
    for name in (1.5, ("a", "b")):
        with pytest.raises(FrameMetricsError, match="which is no text; rename it"):
            frame_metrics.show(pd.DataFrame([[1]], columns=pd.Index([name], tupleize_cols=False)))


def test_versions(capsys: pytest.CaptureFixture[str]) -> None:
    """Those of what numbers are computed with are there."""
    frame_metrics.show_versions()
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert lines["frame_metrics"] == frame_metrics.__version__
    assert lines["polars"] == pl.__version__
