"""Sentences about systems with values of different queries or rows: who comes first, and what is left out."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from frame_metrics.report.chosen_rows import after_betters


def of(system: str, queries: Any, values: Any, name: str = "rr") -> pl.DataFrame:
    return pl.DataFrame({"query": np.asarray(queries), "sys": system, name: np.asarray(values, float)})


def unlike(name: str) -> pl.DataFrame:
    """A is better than B on the 20 easy queries that both have, and has 40 hard ones alone; C has all."""
    easy, hard = np.arange(20), np.arange(20, 60)
    parts = [of("A", easy, 0.9 + easy % 5 / 100, name), of("A", hard, 0.4 + hard % 5 / 100, name)]
    parts += [of("B", easy, 0.8 + easy % 3 / 100, name), of("C", np.arange(60), 0.1 + np.arange(60) % 7 / 100, name)]
    return pl.concat(parts)


def summary_of(frame: pl.DataFrame, **options: Any) -> pl.DataFrame:
    return frame.irm(system="sys", value=frame.columns[-1]).summary(**options)


def test_the_first_is_not_one_that_another_surely_beats() -> None:
    """B has the highest mean, of easy queries; A beats it on those of both, and comes first in every sentence."""
    place = summary_of(unlike("rr")).filter(place=2).row(0, named=True)
    assert (place["sys"], place["baseline"], place["kind"]) == ("A", "B", "difference")
    against = summary_of(unlike("rr"), baseline="C")
    assert against.filter(place=2)["sentence"][0].startswith("A beats C: rr 0.587 against 0.1")
    assert [one for one in against["sentence"] if "the best and the next best: A beats B" in one]
    highest = summary_of(unlike("speed")).filter(kind="highest")["sentence"][0]
    beginning = "A has the highest speed of 3 systems, 0.587, surely above B by 0."
    assert highest.startswith(beginning)
    assert "and C" in highest


def test_what_a_comparison_leaves_out_is_said_first() -> None:
    """Queries that only one of the two has, with the value over all of its own, also of the best and the next best."""
    said = "40 of 60 queries of A have no rr of B, and the comparison leaves them out; over all 60 rr of A is 0.587."
    first = summary_of(unlike("rr")).row(0, named=True)
    assert (first["kind"], first["place"], first["sentence"]) == ("left out", 1, said)
    assert (first["n"], first["baseline_n"], first["value"]) == (40, 60, pytest.approx(0.5867, abs=1e-4))
    assert said in summary_of(unlike("rr"), baseline="C")["sentence"]
    few = unlike("rr").filter((pl.col("query") != 7) | (pl.col("sys") != "C")).filter(pl.col("sys") != "B")
    row = summary_of(few).filter(kind="left out").row(0, named=True)
    assert row["place"] is None
    assert row["sentence"].startswith("1 of 60 queries of A has no rr of C, ")


def test_saved_queries_that_are_gone_are_said_first() -> None:
    """A log that lost queries is not the same as before, though the others are."""
    log = unlike("rr").filter(sys="A").drop("sys")
    saved = log.irm(value="rr").per_query()
    first = log[:10].irm(value="rr").summary(baseline=saved).row(0, named=True)
    said = "50 of 60 queries of saved have no rr of this frame, and the comparison leaves them out."
    assert (first["kind"], first["place"], first["sentence"]) == ("left out", 1, said)
    grown = log.irm(value="rr").summary(baseline=saved.head(30)).row(0, named=True)
    assert grown["sentence"].startswith("30 of 60 queries of this frame have no rr of saved")


def test_rows_of_one_classifier_only() -> None:
    """Rows that the other did not decide are left out of the difference, and told of with numbers."""
    at = np.arange(400)
    wrong = {"A": np.where(at < 100, at % 50 == 0, at % 4 == 1), "B": at % 10 == 3}
    frames = [pl.DataFrame({"doc": at, "y": at % 2, "p": (at % 2) ^ wrong[one], "sys": one}) for one in "AB"]
    irm = pl.concat([frames[0], frames[1][:100]]).irm(label="y", predicted="p", system="sys", doc="doc")
    first, second = irm.summary("accuracy")["sentence"][:2]
    beginning = "300 of 400 rows of A have no row of B, and the comparison leaves them out"
    assert first == f"{beginning}; over all 400 accuracy of A is 0.807."
    assert second.startswith("A beats B: accuracy 0.980 against 0.900")
    alike = pl.concat(frames).irm(label="y", predicted="p", system="sys", doc="doc").summary("accuracy")
    assert "left out" not in alike["kind"]


@pytest.mark.parametrize("seed", range(6))
def test_a_first_system_is_unbeaten_unless_each_is_beaten(seed: int) -> None:
    """A law: whatever is missing, who is named first loses surely to none; complete data are in the order of means."""
    rng = np.random.default_rng(seed)
    level, n = rng.normal(0, 0.05, 40), 40
    parts = []
    for at, one in enumerate("abcd"):
        some = np.flatnonzero(rng.random(n) < rng.choice([0.4, 1]))
        parts.append(of(one, some, level[some] * 8 + 0.05 * at + rng.normal(0, 0.05, len(some))))
    for frame in (pl.concat(parts), pl.concat([of(one, range(n), level + at) for at, one in enumerate("abcd")])):
        irm = frame.irm(system="sys", value="rr")
        pairs = irm.compare().filter(pl.col("p_adjusted") < 0.05)
        sides = [(row["sys"], row["baseline"])[:: 1 if row["difference"] < 0 else -1] for row in pairs.to_dicts()]
        beaten = {worse for worse, _ in sides}
        first = irm.summary().filter(kind="difference")["sys"][0]
        assert first not in beaten or beaten == {*"abcd"}
    assert first == "d"


def test_each_comes_after_those_that_beat_it() -> None:
    """The order stays where it can; of those that beat each other in a circle the first goes first."""
    assert after_betters(["a", "b", "c"], {}) == ["a", "b", "c"]
    assert after_betters(["a", "b", "c"], {"a": ["c"]}) == ["b", "c", "a"]
    assert after_betters(["a", "b", "c", None], {"a": ["b"], "b": ["c"], "c": ["a"], None: []}) == [None, "a", "c", "b"]


def test_without_pairs_the_numbers_are_said() -> None:
    """Pairs in each segment alone have no sentence: how many rows systems have stands in one."""
    at = np.arange(40)
    parts = [(one, day, some) for one, n in (("a", 40), ("b", 30)) for day in (1, 2) for some in at[:n]]
    frame = pl.DataFrame(parts, ["sys", "day", "query"], orient="row").with_columns(rr=pl.col("query") % 4 / 4)
    sentences = frame.irm(system="sys", value="rr", by="day").summary()["sentence"].to_list()
    assert "Systems have values of different queries, 60 to 80, and each mean is over its own." in sentences
