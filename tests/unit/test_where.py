"""Where something changed: in segments that got better and worse, in classes, and in few weeks."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from frame_metrics import IRM
from helpers import error


def sentences(irm: IRM[Any], *metrics: str, **options: Any) -> str:
    """The sentences of a summary, one below the other."""
    return "\n".join(irm.summary(*metrics, **options)["sentence"])


def test_a_segment_that_got_worse_is_not_hidden_by_one_that_got_better() -> None:
    """In all nothing changed; both segments that did are named, whichever of them stands out."""
    k = np.arange(300)
    old = (k % 100 < 60) * 1.0
    new = old.copy()
    new[60:90], new[100:128] = 1, 0
    both = {"query": [*k, *k], "part": [*np.repeat(["up", "down", "same"], 100)] * 2}
    frame = pl.DataFrame(both | {"run": ["old"] * 300 + ["new"] * 300, "value": [*old, *new]})
    told = sentences(frame.irm(query="query", system="run", value="value", by="part"), baseline="old")
    assert "new and old cannot be told apart" in told
    assert "up (part) is unusually high for new" in told
    assert "On the other hand surely lower: down (part) by 0.280." in told


def decided(rng: np.random.Generator, lost: float) -> pl.DataFrame:
    """Decisions of two models about the same rows of three classes; the new one finds less of the rare class."""
    label = rng.choice(["a", "b", "c"], 400, p=[0.5, 0.3, 0.2])
    frames = []
    for run in ("old", "new"):
        right = rng.random(400) < np.where((label == "c") & (run == "new"), 0.85 - lost, 0.85)
        said = np.where(right, label, np.where(label == "a", "b", "a"))
        frames.append(pl.DataFrame({"run": run, "doc": range(400), "label": label, "predicted": said}))
    return pl.concat(frames)


@pytest.mark.parametrize("roles", [{"system": "run", "doc": "doc"}, {"arm": "run", "doc": None}], ids=["same", "other"])
def test_the_class_that_was_lost_is_named(roles: dict[str, Any]) -> None:
    """Its recall is tested with those of the other classes; without a sure difference no class is named."""
    frame = decided(np.random.default_rng(2), 0.5)
    lost = frame.filter(run="new", label="c").select((pl.col("predicted") == "c").mean()).item()
    told = sentences(frame.irm(**roles), "accuracy", baseline="old")
    assert f"For c (class), new is below old: recall {lost:.3f} against " in told
    assert "corrected for 3 comparisons" in told
    assert "(class)" not in sentences(decided(np.random.default_rng(2), 0).irm(**roles), "accuracy", baseline="old")


def days(n: int, first_low: int, last_low: int) -> IRM[Any]:
    """A value of .6 a day, and of .2 on some days, over 200 queries each."""
    day = np.repeat(np.arange(n), 200)
    low = (day >= first_low) & (day <= last_low)
    value = (np.random.default_rng(0).random(len(day)) < np.where(low, 0.2, 0.6)) * 1.0
    texts = (np.datetime64("2026-11-02") + day).astype(str)
    return pl.DataFrame({"query": range(len(day)), "day": texts, "value": value}).irm(value="value", by="day")


def test_of_two_weeks_neither_is_the_unusual_one() -> None:
    """A fall to the end was told as a high week before; in three weeks an outage of some days is seen."""
    told = sentences(days(14, 11, 13))
    assert "higher than on the same weekdays" not in told
    assert "No outage is looked for, and other changes are hardly seen" in told
    assert "If all weekdays were alike, value fell near 2026-11-13, from 0.608 to 0.202" in told
    assert "From 2026-11-12 to 2026-11-13 value was " in sentences(days(28, 10, 11))
    steadily = sentences(days(14, 9, 13))
    assert "fell steadily" not in steadily


def test_times_that_two_periods_do_not_share_are_no_mix() -> None:
    """Days of two weeks make all of a change one of the mix."""
    rows = {"query": range(80), "week": ["W1"] * 40 + ["W2"] * 40, "value": [1.0, 0.0] * 40}
    rows |= {"day": [f"2026-06-{1 + i // 8:02}" for i in range(80)], "device": ["a", "b", "b", "a"] * 20}
    irm = pl.DataFrame(rows).irm(arm="week", value="value", by=["device", "day"])
    told = "by='day': no time is in both periods, so that all of a change would come from the mix; leave day out of by="
    assert told in error(lambda: irm.change())
    assert len(irm(by="device").change())
