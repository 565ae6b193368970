"""Classes in reports: what two sides find of each, in a sentence and in a table of the same numbers."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import polars as pl
import pytest

import frame_metrics  # noqa: F401

RIGHT = {"old": {"bill": 40, "login": 30, "legal": 2}, "new": {"bill": 40, "login": 12, "legal": 2}}
TRUE = {"bill": 50, "login": 40, "legal": 3}


def decided(**more: Any) -> pl.DataFrame:
    """Decisions of two models about the same rows; the new one has lost logins on the phone."""
    parts = [
        pl.DataFrame({"label": name, "at": range(n), "model": model}).with_columns(
            predicted=pl.when(pl.col("at") < RIGHT[model][name]).then(pl.lit(name)).otherwise(pl.lit("bill")),
            doc=pl.format("{}{}", pl.lit(name), "at"),
            device=pl.when(pl.col("label") == "login").then(pl.lit("phone")).otherwise(pl.lit("web")),
        )
        for model in RIGHT
        for name, n in TRUE.items()
    ]
    return pl.concat(parts).drop("at").with_columns(**more)


def rows_of_table(page: str, caption: str) -> list[str]:
    """Return the lines of a table of a report in Markdown."""
    return page.partition(f"**{caption}")[2].partition("\n\n")[2].partition("\n\n")[0].splitlines()


def test_the_sentence_and_the_table_of_classes_have_the_same_numbers() -> None:
    """The table has each class with its rows and both values, what was lost first; the sentence is of one of them."""
    irm = decided().irm(system="model", doc="doc")
    page = irm.report(format="md", baseline="old")
    lines = rows_of_table(page, "Recall of each class: new against old")
    assert lines[0] == "| class | difference | p, corrected | new | old | rows |"
    assert [line.split(" | ")[0] for line in lines[2:]] == ["| login", "| bill", "| legal"]
    assert lines[2].startswith("| login | -0.450\\* (")
    assert lines[2].endswith(" | 0.300 | 0.750 | 40 |")
    (said,) = irm.summary(baseline="old").filter(pl.col("of") == "class = login").to_dicts()
    compared = irm.compare("recall", baseline="old", per_class=True)
    (row,) = compared.filter(pl.col("class") == "login").to_dicts()
    assert (said["n"], said["difference"], said["p_adjusted"]) == (40, row["difference"], row["p_adjusted"])
    tables = json.loads(irm.report(format="json", baseline="old"))["tables"]
    assert tables["classes_compared"]["rows"] == compared.to_dicts()
    alone = decided().filter(model="old").irm(system=None, doc=None).report(format="md")
    assert "Recall of each class" not in alone
    assert "<summary>Metrics of each class" not in alone


@pytest.mark.parametrize("roles", [{"system": "model", "doc": "doc"}, {"arm": "model", "doc": None}])
@pytest.mark.parametrize(
    ("metric", "of_other", "then"),
    [
        ("precision", "loses to v1: precision 0.429 against 1.000", "On the other hand surely higher: bug"),
        ("f1", "loses to v1: f1 0.600 against 0.800", "Surely lower too: billing"),
        ("fnr", "beats v1: fnr 0.000 against 0.333", "On the other hand surely higher: bug"),
        ("balanced_accuracy", "is above v1: recall 1.000 against 0.667", "On the other hand surely lower: bug"),
        ("accuracy", "", "Surely lower too: billing (class) by 0.104; on the other hand surely higher: other"),
    ],
)
def test_classes_are_compared_by_what_was_asked_for(
    roles: dict[str, Any], metric: str, of_other: str, then: str
) -> None:
    """Else by recall, where none wins: v2 says "other" far too often. First comes what went the way of the whole."""
    at = np.arange(1200)
    label = np.array([*["bug"] * 3, *["billing"] * 4, "bug", "other", "bug"])[at % 10]
    said = {"v1": np.where((label == "other") & (at % 3 == 0) | (label == "billing") & (at % 40 == 3), "bug", label)}
    said["v2"] = np.where((label == "other") | (at % 6 == 0), "other", label)
    some = [pl.DataFrame({"doc": at, "label": label, "predicted": said[one], "model": one}) for one in said]
    irm = pl.concat(some).irm(**roles)
    (told,) = (one for one in irm.summary(metric, baseline="v1")["sentence"] if "(class), v2" in one)
    begin = f"For other (class), v2 {of_other}" if of_other else "For bug (class), v2 is below v1: recall 0.867 against"
    assert told.startswith(begin)
    assert f". {then} " in told
    every, of_class = len(label), int((label == ("other" if of_other else "bug")).sum())
    assert f" {every if metric in ('precision', 'f1') else of_class:,} rows" in told
    name = metric.capitalize() if f" {metric} " in told else "Recall"
    lines = rows_of_table(irm.report(format="md", metrics=[metric], baseline="v1"), f"{name} of each class: v2")
    lost = {"precision": "other", "f1": "other"}.get(metric, "bug")
    assert [line.split(" | ")[0] for line in lines[2::2]] == [f"| {lost}", f"| {'bug' if lost == 'other' else 'other'}"]


def test_arms_have_rows_of_a_class_on_both_sides() -> None:
    """Where one has none, the table says it in the place of a difference."""
    frame = decided().filter((pl.col("label") != "legal") | (pl.col("model") == "old"))
    lines = rows_of_table(frame.irm(arm="model", doc=None).report(format="md", baseline="old"), "Recall of each class")
    assert lines[0] == "| class | difference | p, corrected | new | old | rows in new | rows in old |"
    assert lines[-1] == "| legal | no row of the class | \u2013 | 0.000 | 0.667 | 0 | 3 |"


@pytest.mark.parametrize("metric", ["accuracy", "f1"])
def test_a_rare_class_is_no_doubt(metric: str) -> None:
    """The first sentence is the answer; a note has the share of all rows, whatever segments there are."""
    said = decided().irm(system="model", doc="doc", by="device").summary(metric, baseline="old")
    (rare,) = said.filter(kind="rare").to_dicts()
    assert rare["place"] is None
    assert rare["sentence"].startswith("Only 3.23 % of all rows are legal: accuracy hardly depends on this class")
    whole = decided().irm(system="model", doc="doc").summary(metric, baseline="old")
    audit = whole.filter(pl.col("kind") == "audit", pl.col("sentence").str.contains("few rows"))
    assert (len(audit) > 0) == (metric == "f1")  # so few rows make the interval of a mean over classes too narrow


def test_a_segment_and_a_class_that_changed_are_both_named() -> None:
    """The segment has the place in the first block, and its sentence names the class."""
    said = decided().irm(system="model", doc="doc", by="device").summary("accuracy", baseline="old")
    (where,) = said.filter(place=4)["sentence"].to_list()
    assert where.startswith("For phone (device), new loses to old")
    assert where.endswith("Of the classes, recall of login is surely lower, by 0.450.")


def test_ends_of_intervals_are_alike_in_sentence_and_table() -> None:
    """What is claimed is rounded towards 0 in both."""
    irm = decided().irm(system="model", doc="doc", by="device")
    page = irm.report(format="md", metrics=["accuracy"], baseline="old")
    said = irm.summary("accuracy", baseline="old").filter(place=2)["sentence"].item()
    near = said.partition("at least ")[2].partition(" less")[0]
    (row,) = [line for line in rows_of_table(page, "Differences of") if line.startswith("| accuracy")]
    assert f"to -{near})" in row
    assert f"to -{near};" in said


def test_a_title_says_the_times_of_systems_and_weeks() -> None:
    """Systems that are months are no two systems; a week is no day."""
    months = decided().with_columns(pl.col("model").replace({"old": "2026-10", "new": "2026-11"}))
    assert months.irm(system="model", doc="doc").report(format="md").startswith("# 93 rows, 2026-10 to 2026-11\n")
    weeks = months.with_columns(pl.col("model").replace({"2026-10": "2026-W46", "2026-11": "2026-W47"}))
    page = weeks.irm(arm="model", doc=None).report(format="md")
    assert page.startswith("# 93 and 93 rows, 2026-W46 to 2026-W47\n")
    assert "**Differences of 2026-W47 from 2026-W46**\n\n| metric | difference | p | 2026-W47 | 2026-W46 |" in page


def test_searches_that_are_no_worse_than_others_are_not_listed() -> None:
    """Of searches with a click all have success 1: their number is said; counts of arms, and the title, say whose."""
    rows = [(q, rank, int(rank == 1 + q % 3), "new" if q % 2 else "old") for q in range(48) for rank in (1, 2)]
    log = pl.DataFrame(rows, schema=["query", "rank", "label", "arm"], orient="row")
    page = log.irm(arm="arm").report(format="md", baseline="old")
    assert page.startswith("# 24 and 24 searches of new and old\n")
    folded = page.partition("## More queries")[2].partition("\n## ")[0]
    assert "16 searches of new have success 1.000, and none is listed." in folded
    assert "16 searches without a click are not listed." in folded
    assert "### " not in folded
    assert "| n of new | n of old | undefined in both |" in page


@pytest.mark.slow
def test_a_class_that_is_lost_among_many_is_named() -> None:
    """Of sixty classes there is no table, and the sentence is there."""
    rng, n = np.random.default_rng(0), 6000
    label, month = rng.integers(0, 60, 2 * n), np.repeat(["2026-01", "2026-02"], n)
    lost = (month == "2026-02") & (label == 7) & (rng.random(2 * n) < 0.8)
    rows = {"month": month, "label": label.astype(str), "predicted": np.where(lost, 8, label).astype(str)}
    irm = pl.DataFrame(rows).irm(arm="month")
    assert any(one.startswith("For 7 (class), 2026-02 is below 2026-01: recall") for one in irm.summary()["sentence"])
    assert "Recall of each class" not in irm.report()
