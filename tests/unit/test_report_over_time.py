"""Reports whose segments are times: their first picture, and the queries that lost most across the break."""

from __future__ import annotations

from datetime import date, timedelta

import polars as pl

LOST = "Queries that lost most of rr across the break at or near 2026-05-15"


def page(*, fall: int, alone: bool = False) -> str:
    """The report on queries of each day, of which the first four have less from one day on.

    ``alone``: whether each is asked on one day only.
    """
    rows = [
        (
            date(2026, 5, 1) + timedelta(days=d),
            f"q{q}",
            0.5 + (d * 7 + q * 3) % 5 / 50 - 0.1 * max(4 - q, 0) * (d >= fall),
        )
        for d in range(24)
        for q in range(12)
    ]
    frame = pl.DataFrame(rows, schema=["day", "query", "rr"], orient="row")
    if alone:
        frame = frame.with_columns(query=pl.format("{} on {}", "query", "day"))
    return str(frame.irm(query="query", value="rr", by="day").report(format="html"))


def test_the_first_picture_is_over_time_and_lost_queries_are_listed() -> None:
    """Those that were asked before the break and after it, the greatest loss first."""
    text = page(fall=14)
    assert text.index("break at or near 2026-05-15") < text.index("<table")
    table = text[text.index(LOST) :]
    places = [table.index(f">q{q}<") for q in range(4)]
    assert places == sorted(places)


def test_nothing_is_listed_without_a_break_or_without_queries_on_both_sides() -> None:
    """The picture is there without a break too."""
    assert LOST not in page(fall=14, alone=True)
    text = page(fall=99)
    assert "lost most" not in text
    assert "rr by day" in text[: text.index("<table")]


def test_weekdays_stand_in_their_order() -> None:
    """In the table of segments and in the picture."""
    rows = [(f"{day}{q}", day, q / 10) for day in ("Wed", "Mon", "Sun") for q in range(6)]
    irm = pl.DataFrame(rows, schema=["query", "day", "rr"], orient="row").irm(query="query", value="rr", by="day")
    text = str(irm.report(format="html"))
    table = text[text.index('id="segments"') :]
    places = [table.index(f">{day}<") for day in ("Mon", "Wed", "Sun")]
    assert places == sorted(places)
