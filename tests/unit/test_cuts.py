"""Searches that by= cuts in parts, because it changes inside them."""

from __future__ import annotations

from datetime import date
from typing import Any

import polars as pl
import pytest

from frame_metrics import IRM
from helpers import KINDS, as_kind, as_polars
from inside import in_pieces, small_blocks

CUT, SPLIT = "searches cut by segments", "rankings split over segments"
MONDAY, TUESDAY = date(2026, 3, 2), date(2026, 3, 3)
WAY = "by=pl.col('day').first().over('search') keeps them whole (pandas: .groupby('search')['day'].transform('first'))"


def searches(n: int, *days: list[date]) -> pl.DataFrame:
    """Searches of five results on Monday, but for the first ones, whose results are of these days."""
    rows = [
        (4711 + q, rank, int(rank == 4), (days[q] if q < len(days) else [MONDAY] * 5)[rank - 1], f"d{rank}", 1.0 / rank)
        for q in range(n)
        for rank in range(1, 6)
    ]
    return pl.DataFrame(rows, schema=["search", "rank", "label", "day", "doc", "score"], orient="row")


MIDNIGHT = [MONDAY, MONDAY, MONDAY, TUESDAY, TUESDAY]
ROLES: dict[str, Any] = {"query": "search", "rank": "rank", "label": "label", "by": "day"}
CUTS = searches(50, MIDNIGHT)
PARTS = f"ranks 1 to 3 on {MONDAY}, 4 to 5 on {TUESDAY}; each part"
TOLD = f"1 of 50 searches (2 %) is cut by day, for example 4711: {PARTS}"


def row_of(irm: Any, check: str = CUT) -> dict[str, Any] | None:
    """The row of the audit about cuts, or of another check; None if there is none."""
    return next(iter(as_polars(irm.audit()).filter(check=check).rows(named=True)), None)


def in_lists(frame: pl.DataFrame) -> pl.DataFrame:
    """A row for each part of a search, with lists of documents, ranks and labels."""
    return frame.group_by("search", "day", maintain_order=True).agg("doc", "rank", "label")


FORMS: dict[str, Any] = {
    "pieces": lambda: in_pieces(CUTS.irm(**ROLES)),
    "lists": lambda: in_lists(CUTS).irm(**ROLES, doc="doc"),
    "systems as columns": lambda: CUTS.with_columns(b="rank", a="rank").irm(**{**ROLES, "rank": ["a", "b"]}, doc="doc"),
    "judgments": lambda: (
        CUTS.drop("label")
        .irm(**{**ROLES, "label": None}, doc="doc")
        .judge(CUTS.select("search", "doc", "label"), label="label")
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_search_that_is_cut_in_every_form(form: str) -> None:
    """The search at midnight is found, and the message has its ranks, its days and the way out."""
    row = row_of(FORMS[form]())
    assert row is not None
    assert row["severity"] == "warning"
    assert row["share"] == pytest.approx(1 / 50)
    assert f"for example {row['example']}: ranks 1 to 3 on {MONDAY}, 4 to 5 on {TUESDAY}" in row["message"]
    assert row["message"].endswith(f"each part counts as a search. {WAY}")


@pytest.mark.parametrize("kind", KINDS)
def test_a_search_that_is_cut_in_every_kind_of_frame(kind: str) -> None:
    """Whatever the frame."""
    row = row_of(IRM(as_kind(CUTS, kind), **ROLES))
    assert row is not None
    assert (row["n"], row["example"]) == (1, "4711")
    assert row["message"].replace(" 00:00:00", "").startswith(TOLD)  # pandas' days are times


def test_a_search_that_is_cut_in_engines() -> None:
    """DuckDB and Dask, whose rows come in pieces."""
    duckdb, dask = pytest.importorskip("duckdb"), pytest.importorskip("dask.dataframe")
    relation = duckdb.from_arrow(CUTS.to_arrow())
    parts = dask.from_pandas(CUTS.with_columns(pl.col("day").cast(pl.String)).to_pandas(), npartitions=3)
    for frame, word in ((relation, "on"), (parts, "in")):
        row = next(row for row in rows_of(IRM(frame, **ROLES).audit()) if row["check"] == CUT)
        assert row["message"].startswith(TOLD.replace(" on ", f" {word} "))


def rows_of(frame: Any) -> list[dict[str, Any]]:
    """The rows of a frame of an engine, or of what it brings here."""
    frame = frame.pl() if hasattr(frame, "pl") else frame.compute() if hasattr(frame, "compute") else frame
    return as_polars(frame).rows(named=True)


def test_the_way_out_keeps_searches_whole() -> None:
    """The offered by= gives every search one segment, so nothing is cut and the total is that without by=."""
    whole = CUTS.irm(**{**ROLES, "by": pl.col("day").first().over("search")})
    pandas = CUTS.to_pandas().irm(**{**ROLES, "by": lambda f: f.groupby("search")["day"].transform("first")})  # type: ignore[attr-defined]
    for irm in (whole, pandas):
        assert row_of(irm) is None
        assert as_polars(irm.evaluate("rr"))["value"].to_list() == pytest.approx([0.25])
    cut = as_polars(CUTS.irm(**ROLES).evaluate("rr", margins=True)).filter(total_over="day")
    assert (cut["n"].item(), cut["value"].item()) == (51, pytest.approx(50 * 0.25 / 51))


@pytest.mark.parametrize(("n", "severity"), [(101, "info"), (100, "warning")])
def test_cuts_are_a_warning_from_one_in_a_hundred_on(n: int, severity: str) -> None:
    """A few searches at midnight are a fact of each log; the summary says it where they are many."""
    irm = searches(n, MIDNIGHT).irm(**ROLES)
    row = row_of(irm)
    assert row is not None
    assert row["severity"] == severity
    said = irm.summary().filter(kind="cut")["sentence"].to_list()
    told = f"1 of {n} searches ({100 / n:.3g} %) is cut by day, for example 4711: ranks 1 to 3 on {MONDAY}, "
    assert said == (
        [f"{told}4 to 5 on {TUESDAY}; each part counts as a search. And 1 more warning."]
        if severity == "warning"
        else []
    )
    assert "cut" not in " ".join(irm.summary().filter(kind="audit")["sentence"])


def test_what_is_no_cut() -> None:
    """Parts that share a rank are lists of their own, and parts that interleave describe documents."""
    again = pl.concat([CUTS.filter(day=MONDAY), searches(50).with_columns(day=pl.lit(TUESDAY))])
    assert row_of(again.irm(**ROLES)) is None
    mixed = searches(50, [MONDAY, TUESDAY, MONDAY, MONDAY, TUESDAY])
    assert row_of(mixed.irm(**ROLES)) is None
    assert row_of(mixed.irm(**ROLES), SPLIT) is not None
    both = searches(50, [MONDAY, TUESDAY, MONDAY, MONDAY, TUESDAY], MIDNIGHT, [MONDAY, TUESDAY] * 2 + [MONDAY])
    assert (row_of(both.irm(**ROLES)), (row_of(both.irm(**ROLES), SPLIT) or {})["n"]) == (None, 2)
    three = searches(9, [MONDAY, TUESDAY, date(2026, 3, 4), date(2026, 3, 5), date(2026, 3, 6)])
    assert "rank 1 on 2026-03-02, 2 on 2026-03-03, 3 on 2026-03-04, 4 on 2026-03-05, and 1 more" in (
        row_of(three.irm(**ROLES)) or {}
    ).get("message", "")


def test_an_expression_is_kept_whole_as_it_is() -> None:
    """The column of an expression is not the frame's own, and the way out says so; several columns are all named."""
    made = CUTS.with_columns(ts=pl.col("day").cast(pl.Datetime)).irm(**{**ROLES, "by": pl.col("ts").dt.date()})
    assert (row_of(made) or {})["message"].endswith(
        "each part counts as a search. by=(the expression).first().over('search') keeps them whole"
    )
    several = {"by": ["shop", "day"], "query": ["user", "search"]}
    message = (row_of(CUTS.with_columns(shop=pl.lit("a"), user=1).irm(**{**ROLES, **several})) or {})["message"]
    of = "first().over('user', 'search')"
    assert message.endswith(
        f"by=[pl.col('shop').{of}, pl.col('day').{of}] keeps them whole "
        "(pandas: .groupby(['user', 'search'])['shop'].transform('first'))"
    )


@pytest.mark.parametrize("rows", [1, 7, 1000])
def test_blocks_change_nothing(rows: int) -> None:
    """The order of rows, and blocks, do not matter for the count."""
    log = searches(60, MIDNIGHT, MIDNIGHT).sample(fraction=1, shuffle=True, seed=rows)
    with small_blocks(rows):
        row = row_of(log.irm(**ROLES))
    assert row is not None
    assert (row["n"], row["severity"]) == (2, "warning")
