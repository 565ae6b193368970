"""The sentence of summary() that takes a change between periods apart into the mix of segments and what is within."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

Cells = dict[tuple[str, str], tuple[int, float]]


def said(cells: Cells, baseline: Any = None, **options: Any) -> list[str]:
    """The sentences of a log with so many queries, and so many successes in 1, of each week and device."""
    rows = [(week, of, float(i < share * n)) for (week, of), (n, share) in cells.items() for i in range(n)]
    log = pl.DataFrame(rows, schema=["week", "device", "success"], orient="row").with_row_index("query")
    irm = log.irm(query="query", arm="week", by="device", value="success")
    found = irm.summary(**({"baseline": baseline} if baseline else {}), **options)
    every = found["sentence"].to_list()
    assert not any("quality" in one for one in every)
    return found.filter(kind="mix")["sentence"].to_list()


def levels(phone: tuple[int, float], web: tuple[int, float]) -> Cells:
    """The same with another second week."""
    return {("w1", "phone"): (400, 0.4), ("w1", "web"): (600, 0.6), ("w2", "phone"): phone, ("w2", "web"): web}


# Later weeks, and what is said of them.
SAID = {
    "the share of phones alone": (
        (2200, 0.4),
        (1800, 0.6),
        None,  # the change itself is not sure
    ),
    "values alone": (
        (1600, 0.3),
        (2400, 0.5),
        "success fell by 0.100 from w1 to w2 (0.520 to 0.420): 0.100 within device; "
        "the mix of device has no sure part in it.",
    ),
    "both": (
        (2200, 0.3),
        (1800, 0.5),
        "success fell by 0.130 from w1 to w2 (0.520 to 0.390): 0.100 within device, 0.030 because phone grew from 40 "
        "to 55 % of queries.",
    ),
    "nothing over all": (
        (2600, 0.5),
        (1400, 0.575),
        "success hardly moved from w1 to w2, by +0.006 (-0.027 to +0.041): +0.041 within device, -0.034 because phone "
        "grew from 40 to 65 % of queries.",
    ),
    "against each other": (
        (2200, 0.5),
        (1800, 0.7),
        "success rose by 0.070 from w1 to w2 (0.520 to 0.590): 0.100 within device, 0.030 the other way because "
        "phone grew from 40 to 55 % of queries.",
    ),
}


@pytest.mark.parametrize("case", SAID)
def test_what_is_said_of_two_weeks(case: str) -> None:
    """A part is a reason only where its interval excludes 0; which week is the baseline follows from their order."""
    phone, web, sentence = SAID[case]
    for baseline in (None, "w1"):
        assert said(levels(phone, web), baseline) == ([] if sentence is None else [sentence])


def test_arms_whose_mix_is_alike_have_no_such_sentence() -> None:
    """The answer has their difference; it would take the place of what changed over time. Of weeks it is an answer."""
    cells = levels((1600, 0.3), (2400, 0.5))
    assert said({({"w1": "east", "w2": "west"}[week], device): of for (week, device), of in cells.items()}) == []
    assert len(said(cells, "w2")) == 1


def test_of_several_segments_the_one_that_adds_most_is_named() -> None:
    """Both weeks are named, also of several."""
    cells = levels((2200, 0.3), (1300, 0.5)) | {("w1", "tv"): (500, 0.5), ("w2", "tv"): (200, 0.4)}
    (sentence,) = said(cells, "w1")
    assert sentence.endswith(
        "because the mix of device is another, above all as phone grew from 27 to 59 % of queries."
    ), sentence
    (sentence,) = said(cells | {("w3", "web"): (500, 0.2)}, ["w1", "w3"])[:1]
    assert " from w1 to w2 (" in sentence


def test_nothing_rose_or_fell_where_the_order_in_time_is_not_known() -> None:
    """As of arms with other names, or where a later week was named as the baseline."""
    cells = levels((2200, 0.3), (1800, 0.5))
    shops = {({"w1": "east", "w2": "west"}[week], device): of for (week, device), of in cells.items()}
    parts = "in success (0.390 against 0.520): 0.100 within device, 0.030 because phone has 55 against 40 % of queries."
    assert said(shops) == [f"west is below east by 0.130 {parts}"]
    (sentence,) = said(cells, "w2")
    assert sentence.startswith("w1 is above w2 by 0.130 in success (0.520 against 0.390): ")
    equal = {
        ({"w1": "east", "w2": "west"}[week], of): n for (week, of), n in levels((2600, 0.5), (1400, 0.575)).items()
    }
    (sentence,) = said(equal)
    assert sentence.startswith("success of west hardly differs from that of east, by +0.006 (")


def test_a_segment_that_is_new_or_gone_is_named_where_it_adds_most() -> None:
    """It has no interval, as it has no value on one side; its share and its value there are said."""
    before = {("w1", "phone"): (600, 0.4), ("w1", "web"): (1400, 0.7)}
    after = {("w2", "phone"): (400, 0.4), ("w2", "web"): (1000, 0.7), ("w2", "tv"): (600, 0.1)}
    (sentence,) = said(before | after)
    assert "another, above all as tv is new, with 30 % of queries and success 0.100; what is within" in sentence
    turned = {(f"w{3 - int(week[1])}", of): cells for (week, of), cells in (before | after).items()}
    (sentence,) = said(turned)
    assert "another, above all as tv is gone, with 30 % of queries and success 0.100; what is" in sentence
    (sentence,) = said({("w1", "web"): (2000, 0.7), ("w2", "web"): (1400, 0.7), ("w2", "tv"): (600, 0.1)})
    assert "because tv is new, with 30 % of queries and success 0.100; what is" in sentence
    shops = {({"w1": "north", "w2": "south"}[week], of): cells for (week, of), cells in (before | after).items()}
    (sentence,) = said(shops)
    assert "above all as tv is only in south, with 30 % of queries and success 0.100; what is" in sentence


def test_arms_that_were_assigned_have_no_such_sentence() -> None:
    """Their mix is the same but for chance."""
    assert said(levels((2200, 0.3), (1800, 0.5)), "w1", split="equal") == []
