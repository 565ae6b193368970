"""Judgments from clicks, by hand on six impressions, and what a click log may not hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from frame_metrics import IRM
from helpers import as_kind, as_polars, error
from inside import in_pieces
from refusals import check

# Clicks at rank 1 in three of six impressions, at ranks 2 and 3 in two each.
SHOWN = {1: ("tea", "xyz", "100"), 2: ("tea", "xyz", "010"), 3: ("tea", "yxz", "101"), 4: ("tea", "yzx", "000")}
SHOWN |= {5: ("cup", "xzy", "001"), 6: ("cup", "xyz", "110")}
LOG = pl.DataFrame(
    [
        (search, text, doc, rank, int(click))
        for search, (text, docs, clicks) in SHOWN.items()
        for rank, (doc, click) in enumerate(zip(docs, clicks, strict=True), 1)
    ],
    schema=["search", "text", "doc", "rank", "clicked"],
    orient="row",
)
ROLES = {"query": "search", "rank": "rank", "label": "clicked", "doc": "doc"}
# Of x, y and z for "tea", then for "cup".
WORKED: dict[tuple[str, float], list[float]] = {
    ("ctr", 0): [1 / 4, 2 / 4, 1 / 4, 1 / 2, 2 / 2, 0 / 2],
    ("ctr", 2): [(c + 2 * 7 / 18) / (n + 2) for c, n in ((1, 4), (2, 4), (1, 4), (1, 2), (2, 2), (0, 2))],
    ("coec", 0): [1 / (5 / 3), 2 / (5 / 3), 1 / (4 / 3), 1 / 1, 2 / (2 / 3), 0],
    ("coec", 1): [2 / (8 / 3), 3 / (8 / 3), 2 / (7 / 3), 2 / 2, 3 / (5 / 3), 1 / (5 / 3)],
    ("sdbn", 0): [1 / 4 * 1 / 1, 2 / 3 * 1 / 2, 1 / 2 * 1 / 1, 1 / 2 * 0 / 1, 2 / 2 * 2 / 2, 0],
}


def graded(irm: Any, model: str, **options: Any) -> dict[tuple[str, str], float | None]:
    """Grades by query and document."""
    found = as_polars(irm.click_judgments(model, query_text="text", **options))
    return {(text, doc): grade for text, doc, grade in found.select("text", "doc", "grade").iter_rows()}


@pytest.mark.parametrize(("model", "smoothing"), WORKED)
def test_judgments_by_hand(model: str, smoothing: float, kind: str) -> None:
    """Each model on six impressions, in every kind of frame, whatever the order of the rows."""
    pairs = [(text, doc) for text in ("tea", "cup") for doc in "xyz"]
    for log in (LOG, LOG.sample(fraction=1, shuffle=True, seed=3)):
        found = graded(IRM(as_kind(log, kind), **ROLES), model, smoothing=smoothing)
        assert [found[pair] for pair in pairs] == pytest.approx(WORKED[model, smoothing])
    found = IRM(as_kind(LOG, kind), **ROLES).click_judgments(model, query_text="text")
    counts = as_polars(found).select("text", "doc", "impressions", "clicks").rows()
    assert counts[:3] == [("tea", "x", 4, 1), ("tea", "y", 4, 2), ("tea", "z", 4, 1)]
    assert counts[3:] == [("cup", "x", 2, 1), ("cup", "z", 2, 0), ("cup", "y", 2, 2)]  # as they first appear


def test_a_plan_has_the_types_of_its_result() -> None:
    """A lazy frame is not run, and knows its columns; lists of documents and clicks are the same log."""
    plan = LOG.lazy().irm(**ROLES).click_judgments("sdbn", query_text="text")
    assert plan.collect_schema() == plan.collect().schema
    lists = LOG.group_by("search", "text", maintain_order=True).agg("doc", "clicked")
    nothing = pl.DataFrame({"search": [7], "text": ["tea"], "doc": [[]], "clicked": [[]]}, schema=lists.schema)
    lists = pl.concat([nothing, lists])
    found = lists.irm(query="search", label="clicked").click_judgments("coec", query_text="text")
    assert found.rows() == LOG.irm(**ROLES).click_judgments("coec", query_text="text").rows()


@pytest.mark.parametrize("model", ["ctr", "coec", "sdbn"])
def test_judgments_of_a_log_in_pieces(model: Any) -> None:
    """Impressions that memory does not hold at once are counted piece by piece, with the same judgments and errors."""
    again = LOG.with_columns(pl.col("search") + 10, arm=pl.lit("b"), day=2, clicked=pl.col("rank") == 2)
    both = pl.concat([LOG.with_columns(arm=pl.lit("a"), day=1), again], how="vertical_relaxed")
    both = both.sample(fraction=1, shuffle=True, seed=4)
    lists = both.group_by("search", "text", "arm", "day", maintain_order=True).agg("doc", "rank", "clicked")
    for log, more in ((both, {"system": "arm"}), (both, {"by": ["day"]}), (lists, {"by": "arm", "system": "day"})):
        irm = log.irm(**ROLES, **more)
        whole = irm.click_judgments(model, query_text="text", smoothing=0.5, min_impressions=2)
        found = in_pieces(irm).click_judgments(model, query_text="text", smoothing=0.5, min_impressions=2).collect()
        assert_frame_equal(found, whole, abs_tol=1e-12)
    half = LOG.with_columns(clicked=pl.when(pl.col("search") == 4).then(0.5).otherwise("clicked"))
    shares = half.irm(**ROLES | {"label": None}, grade="clicked")
    for unclear, told in ((shares, "3 grades lie between 0 and 1"), (shares(rel=2), "no grade in clicked reaches")):
        each = (unclear, in_pieces(unclear))
        whole, found = (error(lambda irm=irm: irm.click_judgments(model, query_text="text")) for irm in each)
        assert found == whole
        assert told in whole
    texts = in_pieces(LOG.with_columns(text="doc").irm(**ROLES))
    assert "rows have another value than the first row of their search" in error(
        lambda: texts.click_judgments(query_text="text")
    )


@pytest.mark.parametrize("name", ["first", "last", "examined", "exposed", "rank", "row"])
def test_columns_may_be_called_as_they_like(name: str) -> None:
    """A column of the caller's that is called as what is counted here is no other."""
    log = LOG.rename({"rank": "place"}).rename({"text": name})
    found = log.irm(**ROLES | {"rank": "place"}).click_judgments("sdbn", query_text=name)
    assert found.rows() == LOG.irm(**ROLES).click_judgments("sdbn", query_text="text").rows()


def test_judge_takes_the_judgments() -> None:
    """Another ranking is measured by them; a null grade is no judgment."""
    found = LOG.irm(**ROLES).click_judgments("coec", query_text="text", min_impressions=3)
    assert found["grade"].null_count() == 3
    run = pl.DataFrame({"text": ["tea"] * 3 + ["cup"], "doc": [*"yzxx"], "score": [3.0, 2.0, 1.0, 1.0]})
    value = run.irm(query="text").judge(found).per_query("dcg").select("text", "value").rows()
    assert value == [("tea", pytest.approx(6 / 5 + 3 / 4 / np.log2(3) + 3 / 5 / 2))]


def test_rates_are_those_of_the_segment_and_the_system() -> None:
    """A rank has the rate of its system in its segment; clicks and expected clicks of systems are added up."""
    twice = pl.concat(
        [
            LOG.with_columns(arm=pl.lit("a"), day=pl.lit(1)),
            LOG.with_columns(arm=pl.lit("b"), day=pl.lit(1), search=pl.col("search") + 10, clicked=pl.col("rank") == 1),
            LOG.with_columns(arm=pl.lit("b"), day=pl.lit(0), search=pl.col("search") + 20),
        ],
        how="vertical_relaxed",
    )
    found = twice.irm(**ROLES, system="arm", by="day").click_judgments("coec", query_text="text")
    assert found.columns == ["day", "text", "doc", "grade", "impressions", "clicks"]
    assert found["day"].to_list() == [0] * 6 + [1] * 6
    assert sorted(found["grade"][:6]) == pytest.approx(sorted(WORKED["coec", 0]))
    tea_x = (1 + 2) / (5 / 3 + 2)  # the other system has a click wherever x stands first, as is expected there
    assert found["grade"][6] == pytest.approx(tea_x)


def test_a_grade_is_a_click_from_rel_on() -> None:
    """Counts of clicks are clicks; with seconds of reading, rel= says how many make a click."""
    counts = LOG.with_columns(clicks=pl.col("clicked") * 3)
    roles = ROLES | {"label": None, "grade": "clicks"}
    assert graded(counts.irm(**roles), "ctr") == graded(LOG.irm(**ROLES), "ctr")
    seconds = counts.with_columns(pl.col("clicks") + (pl.col("rank") == 1))
    assert graded(seconds.irm(**roles, rel=3), "ctr") == graded(LOG.irm(**ROLES), "ctr")


def test_what_was_not_shown_is_no_impression() -> None:
    """A null rank, and a search that showed nothing, count for nothing; nobody clicked at all, and nothing is known."""
    more = [(7, "cup", "z", None, 0), (8, "tea", "w", None, 0)]
    log = pl.concat([LOG, pl.DataFrame(more, schema=LOG.schema, orient="row")])
    assert (
        log.irm(**ROLES)
        .click_judgments("coec", query_text="text")
        .equals(LOG.irm(**ROLES).click_judgments("coec", query_text="text"))
    )
    silent = LOG.with_columns(clicked=0).irm(**ROLES)
    assert set(graded(silent, "coec").values()) == {None} == set(graded(silent, "coec", smoothing=1).values())
    assert set(graded(silent, "ctr").values()) == {0} == set(graded(silent, "sdbn").values())


def test_clicks_by_position() -> None:
    """The share of what was shown at each rank, in each segment; a rank that few impressions reach has their number."""
    clicks = LOG.irm(**ROLES)
    assert clicks.curve("ctr", cutoffs=4).rows() == [(1, 3 / 6, 6), (2, 2 / 6, 6), (3, 2 / 6, 6), (4, None, 0)]
    short = LOG.filter((pl.col("search") > 2) | (pl.col("rank") == 1)).irm(**ROLES, by="text")
    found = short.curve("ctr", cutoffs=2, ci=0.9)
    assert found.columns == ["text", "k", "value", "n", "ci_low", "ci_high"]
    assert found.select("text", "k", "value", "n").rows() == [
        ("cup", 1, 1 / 2, 2),
        ("cup", 2, 1 / 2, 2),
        ("tea", 1, 2 / 4, 4),
        ("tea", 2, 0, 2),
    ]
    assert (found["ci_low"] <= found["value"]).all()
    assert (found["value"] <= found["ci_high"]).all()
    same = short.evaluate("position_ctr@1..2", ci=0.9).sort("text", "k")
    assert found.select("value", "n", "ci_low", "ci_high").equals(same.select("value", "n", "ci_low", "ci_high"))
    plan = LOG.lazy().irm(**ROLES, by="text").curve("ctr", ci=0.9)
    assert plan.collect_schema() == plan.collect().schema
    assert clicks.curve("ctr", "rr@k", cutoffs=1)["metric"].to_list() == ["position_ctr@k", "rr@k"]


def asked(**changed: pl.Expr) -> Any:
    """Judgments of the log with other columns."""
    return LOG.with_columns(**changed).irm(**ROLES).click_judgments(query_text="text")


ALONE = pl.concat([LOG.filter(clicked=1), LOG.filter(clicked=1).with_columns(pl.col("search") + 6)])[:10]
REFUSALS = r"""
LOG.irm(**ROLES).click_judgments("coecc", query_text="text")
    UnknownNameError: model='coecc' is not one of 'ctr', 'coec', 'sdbn'; did you mean 'coec'?
LOG.irm(**ROLES).click_judgments(query_text="text", smoothing=-1)
    BadValueError: smoothing=-1 is not a number from 0
LOG.with_columns(clicked=pl.when(pl.col("search") != 2).then("clicked")).irm(**ROLES).click_judgments(query_text="text")
    BadRowsError: clicked: 3 of 18 rows have a rank and are null (rows 3, 4, 5); write 0 where nobody clicked
asked(rank=pl.when(pl.col("search") != 1).then("rank"))
    BadRowsError: clicked: 1 of 18 rows has a click and no rank (row 0); give each the position at which it was shown
asked(clicked=pl.col("clicked") * 2)
    BadRowsError: clicked: 7 of 18 rows are neither 0 nor 1 (rows 0, 4, 6); pass label=None, grade='clicked' if these
        are grades, or name the relevant one with positive=
LOG.with_columns(pl.col("clicked") - 1).irm(**ROLES | {"label": None,
        "grade": "clicked"}).click_judgments(query_text="text")
    BadRowsError: clicked: 11 of 18 rows are negative (rows 1, 2, 3); a click is 0 or 1, or a count from 0
ALONE.irm(**ROLES).click_judgments(query_text="text")
ALONE.irm(**ROLES | {"label": None, "grade": "clicked"}).click_judgments(query_text="text")
ALONE.irm(**ROLES).propensities(query_text="text")
    BadValueError: clicked: every row is a click, as in a log of clicks alone; what was shown and not clicked is needed
        too: add these rows, with 0
    but: ALONE[:-1].irm(**ROLES).click_judgments(query_text="text")
    but: pl.concat([ALONE, LOG.with_columns(pl.col("search") + 99)]).irm(**ROLES).click_judgments(query_text="text")
LOG.irm(query="text", rank="rank", label="clicked").click_judgments()
    BadRowsError: doc: 12 of 18 rows repeat a document of their query (rows 1, 2, 3); ranks repeat too: name system= if
        several systems gave them, name the impression with query= and the text with query_text= if a query was asked
        several times, else drop them, or pass duplicates='first'
    but: LOG.irm(query="search", rank="rank", label="clicked").click_judgments(query_text="text")
LOG.irm(**ROLES | {"label": None, "grade": "clicked"}, rel=2).click_judgments(query_text="text")
LOG.irm(**ROLES | {"label": None, "grade": "clicked"}, rel=2).propensities(query_text="text")
    NotComputableError: no grade in clicked reaches rel=2; the largest is 1[...]
    but: LOG.irm(**ROLES | {"label": None, "grade": "clicked"}, rel=1).click_judgments(query_text="text")
    but: LOG.with_columns(clicked=0).irm(**ROLES | {"label": None, "grade": "clicked"},
        rel=2).click_judgments(query_text="text")
asked(text=pl.col("doc"))
    BadRowsError: text: 12 of 18 rows have another value than the first row of their search (rows 1, 2, 4); query_text=
        names what is the same in an impression
LOG.irm(**ROLES).click_judgments()
LOG.irm(**ROLES).click_judgments(query_text="search")
    ColumnError: search: no document occurs twice in one query, so that no rate can be counted; if each value is one
        impression, pass the column of the search text as query_text=
LOG.irm(**ROLES).judgments("coec", of="text")
    UnknownVerbError: there is no irm.judgments; it is irm.click_judgments()
    but: LOG.irm(**ROLES).click_judgments("coec", query_text="text")
LOG.irm(**ROLES).click_judgments("coec", of="text")
    UnknownNameError: click_judgments() has no option 'of'; pass the column of the search text as query_text=
    but: LOG.irm(**ROLES).click_judgments("coec", query_text="text")
LOG.irm(**ROLES).propensities(of="text")
    UnknownNameError: propensities() has no option 'of'; pass the column of the search text as query_text=
    but: LOG.irm(**ROLES).propensities(query_text="text", k=2)
LOG.irm(**ROLES).propensities(method="pivot", query_text="text")
    UnknownNameError: propensities() has no option 'method'; pass estimator=
    but: LOG.irm(**ROLES).propensities(estimator="pivot", query_text="text", k=2)
LOG.irm(**ROLES).click_judgments(query_text=pl.col("text"))
    BadValueError: click_judgments: query_text=<polars.Expr> is not the name of a column, nor a list of some
LOG.with_columns(again="rank").irm(**ROLES | {"rank": ["rank", "again"]}).click_judgments(query_text="text")
    ColumnError: rank=['rank', 'again'] are ranks of several systems, and a result was clicked at one; name that
LOG.rename({"rank": "place"}).irm(**ROLES | {"rank": None}, score="place").click_judgments(query_text="text")
    ColumnError: click_judgments() reads what was shown where: rank=None was passed, but this call needs the rank;
        leave rank=None out, or name its column, one of 'search', 'text', 'doc', 'place', 'clicked'
LOG.irm(**ROLES).judge(LOG, grade="clicked").click_judgments(query_text="text")
    ColumnError: click_judgments() reads the clicks of the log, and there are other judgments; call it before
        judge(), and pass relevant=None
    but: asked()
    but: LOG.irm(**ROLES).click_judgments("coec", query_text=["text"], smoothing=np.int64(0))
"""


def test_a_bad_click_log_is_an_error() -> None:
    """Each says what was given, what was expected, and the way out."""
    check(REFUSALS, globals())
