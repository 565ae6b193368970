"""The order of arms: that of time where their names say it, else a control first, then the order of names."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import polars as pl
import pytest

from frame_metrics.backends.times import order_of_arms, times_in

# Pairs of names, the earlier first.
IN_TIME: list[tuple[Any, Any]] = [
    *(("W9", "W10"), ("2025-W9", "2025-W10"), ("week 9", "week 10"), ("W52 2025", "W1 2026"), ("KW9", "KW10")),
    *(
        ("Sept", "Oct"),
        ("Aug", "Sept"),
        ("Sept 2025", "Oct 2025"),
        ("Nov", "Dec"),
        ("Dec 2025", "Jan 2026"),
        ("12/2025", "01/2026"),
        ("2025/12", "2026/1"),
    ),
    *(("Q4 2025", "Q1 2026"), ("Q1", "Q2"), ("H2 2025", "H1 2026"), ("2025", "2026")),
    *(("31.12.2025", "07.01.2026"), ("15/02/2026", "03/03/2026"), ("02-15-2026", "03-01-2026")),
    *(
        ("before", "after"),
        ("old", "new"),
        ("Pre", "Post"),
        ("v9", "v10"),
        ("v1.9", "v1.10"),
        ("release 9", "release 10"),
    ),
    (date(2025, 12, 29), date(2026, 1, 5)),
]
# Pairs of names whose order in time is not known, in the order in which they are taken.
NOT_IN_TIME: list[tuple[Any, Any]] = [
    *(("04.11.", "28.10."), ("Jan", "Dec"), ("W1", "W52"), ("Q1", "Q4"), ("01/02/2026", "02/01/2026")),
    *(("Feb", "Nov"), ("Mon", "Fri"), ("control", "treatment"), ("Control", "a"), ("baseline", "alternative")),
    *(("group 9", "group 10"), ("t=0.25", "t=0.5"), ("A", "B"), ("9", "10"), (9, 10), ("1.10", "1.9")),
]


def taken(pair: tuple[Any, Any], name: str = "arm", **kind: Any) -> tuple[tuple[Any, ...], bool]:
    """Both names in the order in which arms are taken, and whether it is that of time."""
    names = pl.Series(name, pair, **kind).sort()
    order = order_of_arms(names)
    return tuple(names.gather(order.places)), order.in_time


@pytest.mark.parametrize("pair", IN_TIME)
def test_names_that_say_when_they_are(pair: tuple[Any, Any]) -> None:
    """Dates, weeks, months, quarters and numbered releases, and words as before and after."""
    assert taken(pair) == (pair, True)


@pytest.mark.parametrize("pair", NOT_IN_TIME)
def test_names_that_do_not(pair: tuple[Any, Any]) -> None:
    """Days without a year, turns of the year, dates that can be read in two ways, and other names."""
    assert taken(pair) == (pair, False)


def test_an_order_that_was_declared_is_that_of_time() -> None:
    """As of an Enum; null is last."""
    assert taken(("next", "a"), dtype=pl.Enum(["next", "a"])) == (("next", "a"), True)
    order = order_of_arms(pl.Series(["W10", "W9", None]))
    assert order.places == [1, 0, 2]


@pytest.mark.parametrize(
    ("name", "values", "are_times"),
    [
        ("week", [1, 2, 20], True),
        ("week", [1, 52], False),
        ("month", [*range(1, 13)], True),
        ("year", [2024, 2026], True),
        ("device", [1, 2], False),
        ("week", [2, 60], False),
        ("day", ["November", "October"], True),
        ("day", ["Mon", "Tue"], False),
        ("day", ["Dec", "Jan"], False),
        ("day", ["2026-01-05", "W2"], False),
        ("day", [], False),
    ],
)
def test_whole_numbers_are_times_if_their_column_says_so(name: str, values: list[Any], are_times: bool) -> None:
    """Weeks, months and quarters without a year where the turn of the year is not among them."""
    assert (times_in(values, name) is not None) is are_times


def log(first: str, second: str) -> pl.DataFrame:
    """Queries of two weeks, 0.5 in the first and 0.75 in the second, but for noise."""
    value = np.random.default_rng(0).normal(0.5, 0.1, 40) + np.repeat([0, 0.25], 20)
    return pl.DataFrame({"query": range(40), "week": [first] * 20 + [second] * 20, "v": value})


def test_the_earlier_period_is_the_baseline() -> None:
    """In change() and ab_test(); a baseline that is named stays one."""
    weeks = log("W9", "W10").irm(query="query", arm="week", value="v")
    for found in (weeks.change(test="z"), weeks.ab_test(test="z")):
        assert found.select("week", "baseline").row(0) == ("W10", "W9")
        assert found["difference"][0] > 0
    assert weeks.change(baseline="W10", test="z").select("week", "baseline").row(0) == ("W9", "W10")


COURSES: dict[str, list[Any]] = {
    "2025-W": [f"2025-W{at}" for at in range(1, 31)],
    "W": [f"W{at}" for at in range(1, 31)],
    "whole numbers": [*range(1, 31)],
    "dates": [f"{15 + at % 2}.{1 + at // 2:02}.2026" for at in range(24)],
    "months": [f"{1 + at % 12}/{2024 + at // 12}" for at in range(30)],
}


@pytest.mark.parametrize("names", [("before", "after"), ("W9", "W10")])
def test_the_earlier_is_the_baseline_of_a_summary(names: tuple[str, str]) -> None:
    """So a country that halved is named, with the sign of time, although the mean of all hardly moved."""
    cells = {("AT", 0): 78, ("DE", 0): 132, ("AT", 1): 39, ("DE", 1): 155}
    rows = [
        (names[at], of, float(i < found))
        for (of, at), found in cells.items()
        for i in range({"AT": 120, "DE": 250}[of])
    ]
    log = pl.DataFrame(rows, schema=["week", "country", "found"], orient="row").with_row_index("search")
    irm = log.irm(query="search", value="found", arm="week", by="country")
    found = irm.summary()
    assert found.equals(irm.summary(baseline=names[0]))
    (told,) = found.filter(place=4)["sentence"]
    assert told.startswith(f"For AT (country), {names[1]} is below {names[0]}: found 0.325 against 0.650 (-0.325")
    assert {*found.filter(kind="difference")["baseline"]} == {names[0]}
    shares = irm.summary(split="equal")  # arms of an experiment: the better first
    assert shares.filter(kind="difference")["baseline"][0] == names[1]


@pytest.mark.parametrize("case", COURSES)
def test_a_break_is_found_however_periods_are_written(case: str) -> None:
    """It is named as its period is."""
    times, rng = COURSES[case], np.random.default_rng(0)
    rows = [
        (f"{t}-{j}", t, 0.5 - 0.25 * (at >= 12) + rng.normal(0, 0.05)) for at, t in enumerate(times) for j in range(4)
    ]
    frame = pl.DataFrame(rows, schema=["query", "week", "v"], orient="row").sample(fraction=1, shuffle=True, seed=0)
    said = frame.irm(query="query", by="week", value="v").summary().filter(kind="break")["sentence"]
    assert len(said) == 1
    assert f" at or near {times[12]}, " in said[0]
