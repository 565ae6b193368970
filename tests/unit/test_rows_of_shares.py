"""How many rows a share of rows rests on, in the sentences that count rows: of recall the relevant ones."""

from __future__ import annotations

from typing import Any

import pandas as pd
import polars as pl

from frame_metrics import IRM

SIZES = {  # (arm, part): relevant rows, those of them that are found; other rows, those of them that are predicted
    ("m1", "north"): ((80, 60), (140, 14)),
    ("m1", "south"): ((43, 34), (177, 20)),
    ("m2", "north"): ((80, 60), (140, 14)),
    ("m2", "south"): ((55, 20), (165, 20)),
}
ROWS = [
    (*key, label, at < found)
    for key, sides in SIZES.items()
    for label, (n, found) in zip((True, False), sides, strict=True)
    for at in range(n)
]
LOG = pl.DataFrame(ROWS, schema=["arm", "part", "label", "predicted"], orient="row")


def said(irm: Any, metric: str, **options: Any) -> str:
    return " ".join(irm.summary(metric, **options)["sentence"])


def test_of_one_frame() -> None:
    """Recall rests on the relevant rows, precision on those predicted, accuracy on all; F1 is no share of rows."""
    irm = LOG.irm()
    assert ", over 258 of 880 rows." in said(irm, "recall")
    assert ", over 242 of 880 rows." in said(irm, "precision")
    assert ", over 622 of 880 rows." in said(irm, "specificity")
    for metric in ("accuracy", "f1", "mcc", "tp"):
        assert " of 880 rows" not in said(irm, metric)
    assert " of 880 rows" not in said(LOG.with_columns(w=pl.lit(2.0)).irm(weight="w"), "recall")
    texts = LOG.with_columns(pl.col("label", "predicted").replace_strict({True: "a", False: "b"}))
    assert " of 880 rows" not in said(texts.irm(classes=["a", "b"]), "recall")


def test_sentences_of_no_metric_have_none() -> None:
    """Those of the audit, of arms and of the number of tests."""
    found = LOG.irm(arm="arm", by="part").summary("recall", "accuracy", baseline="m1")
    assert {*found.filter(pl.col("kind").is_in(["arms", "audit", "tests"]))["metric"]} == {None}
    assert {*found.filter(pl.col("kind").is_in(["difference", "value"]))["metric"]} == {"recall"}


def test_of_arms() -> None:
    """Each arm has its own numbers, over all and in a segment."""
    both = said(LOG.irm(arm="arm", by="part"), "recall", baseline="m1")
    assert " over 135 and 123 of 440 and 440 rows; " in both
    south = "For south (part), m2 loses to m1: recall 0.364 against 0.791"
    assert south in both
    assert ", over 55 and 43 of 220 and 220 rows; " in both


def test_of_systems() -> None:
    """Systems decide about the same relevant rows, and each predicts rows of its own."""
    frame = LOG.select("label", a="predicted", b=pl.col("predicted") & (pl.int_range(880) % 9 > 0))
    irm = IRM(frame, predicted=["a", "b"])
    assert ", over 258 of 880 rows; p " in said(irm, "recall")
    n = frame["b"].sum()
    assert f" with 242 and {n} of 880 rows" in said(irm, "precision") or f" {n} and 242 of 880" in said(
        irm, "precision"
    )


def test_of_days() -> None:
    """Before and after a break, those of the days on both sides."""
    days = pl.int_range(pl.len()) % 40
    frame = pl.concat([LOG] * 4).with_columns(day=pl.lit("2026-01-01").str.to_date() + pl.duration(days=days))
    late = pl.col("day") >= pl.date(2026, 1, 21)
    frame = frame.with_columns(predicted=pl.col("predicted") & ~(late & (pl.int_range(pl.len()) % 3 > 0)))
    text = said(frame.irm(by="day"), "recall")
    after, before = (frame.filter("label", side).height for side in (late, ~late))
    assert " at or near 2026-01-21, " in text
    assert f" (over {before} and {after} of 1,760 and 1,760 rows before and after; p = 0.001)" in text
    pandas = frame.to_pandas()
    pandas["day"] = pd.to_datetime(pandas["day"]).dt.to_period("D")
    assert f" (over {before} and {after} of 1,760 and 1,760 rows before and after; p = 0.001)" in said(
        pandas.irm(by="day"), "recall"
    )
