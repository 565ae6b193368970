"""The role of arms: parts of the traffic, each measured on its own queries, and the verbs that compare them."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

from frame_metrics import IRM, UnknownNameError
from helpers import KINDS, as_kind, as_polars, error


def made(seed: int = 0, n: int = 120) -> pl.DataFrame:
    """A log of two variants, each query with three results, of users who may be in both."""
    rng = np.random.default_rng(seed)
    rows = {
        "query": np.repeat(np.arange(n), 3),
        "variant": np.repeat(np.where(rng.random(n) < 0.3, "new", "old"), 3),
        "user": np.repeat(rng.integers(0, 40, n), 3),
        "device": np.repeat(rng.choice(["phone", "web"], n), 3),
        "doc": np.tile([*"abc"], n),
        "score": rng.random(3 * n),
        "grade": rng.integers(0, 3, 3 * n),
    }
    return pl.DataFrame(rows)


VERBS: dict[str, Any] = {
    "evaluate": lambda irm: irm.evaluate("ndcg@2", "rr", ci=0.9, resamples=50),
    "totals": lambda irm: irm.evaluate("ndcg@2", margins=True, layout="wide"),
    "per_query": lambda irm: irm.per_query("ndcg@2", "recall"),
    "explain": lambda irm: irm.explain("ndcg@2", query=3),
    "bounds": lambda irm: irm.bounds("rr", of="ties"),
    "curve": lambda irm: irm.curve("ndcg@k", cutoffs=3),
    "confusion": lambda irm: irm(query="query", threshold=0.5).confusion(),
    "thresholds": lambda irm: irm.thresholds("f1"),
    "to_judge": lambda irm: irm.to_judge(5, max_grade=3),
    "rows": lambda irm: irm(query=None).evaluate("roc_auc", ci=0.9, resamples=50),
    "saved": lambda irm: IRM(irm.per_query("rr"), value="value", arm=irm.roles.get("arm"), by=irm.roles.get("by")),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("verb", VERBS)
def test_an_arm_is_read_as_a_segment(verb: str, kind: str) -> None:
    """Every verb gives what it gives with the column as the first of by=, in every kind of frame."""
    frame = as_kind(made(), kind)
    for by in ([], ["device"]):
        arm = VERBS[verb](IRM(frame, arm="variant", by=by or None))
        segment = VERBS[verb](IRM(frame, by=["variant", *by]))
        if verb == "saved":
            arm, segment = arm.evaluate("rr"), segment.evaluate("rr")
        assert_frame_equal(as_polars(arm), as_polars(segment))


def test_judgments_beside_may_know_the_arm() -> None:
    """They are of that arm, as of a segment, and an arm that only they have is named all the same."""
    log = made()
    qrels = log.select("query", "doc", "grade", "variant")
    run = log.drop("grade", "variant")
    for frame in (log.drop("grade"), run):
        arm, segment = (
            frame.irm(**{role: "variant"}).judge(qrels).evaluate("ndcg@2", "recall") for role in ("arm", "by")
        )
        assert_frame_equal(arm, segment)


def test_an_expression_may_name_the_arm() -> None:
    """It is evaluated once, and results have its name."""
    found = made().irm(arm=(pl.col("query") < 60).alias("half"), cluster="user").change("rr")
    assert found.select("half", "baseline").rows() == [(True, False)]


def test_the_repr_shows_the_arm_once() -> None:
    """Under its own role, and not among segments."""
    told = repr(made().irm(arm="variant", by="device"))
    assert "  arm    variant" in told
    assert "  by     device" in told


@pytest.mark.parametrize("cluster", [None, "user"])
def test_the_split_is_tested_over_all_arms(cluster: str | None) -> None:
    """Its p-value is that of the audit, of users if they are named, and is null where nobody says the shares."""
    log = made().with_columns(variant=pl.when(pl.col("query") < 20).then(pl.lit("third")).otherwise("variant"))
    irm = log.irm(arm="variant", cluster=cluster)
    shares = {"old": 0.6, "new": 0.3, "third": 0.1}
    found = irm.ab_test("rr", "ndcg@2", baseline="old", split=shares, test="z")
    units = {arm: log.filter(variant=arm)[cluster or "query"].n_unique() for arm in shares}
    n = sum(units.values())
    p = stats.chisquare([*units.values()], [n * share for share in shares.values()]).pvalue
    assert found["split_p_value"].to_list() == pytest.approx([p] * 4)
    assert irm.audit(split=shares).filter(check="units split")["message"].item().count(f"p is {p:.2g}") == 1
    rows = found.filter(metric="rr").select("variant", "unit_share", "baseline_unit_share").rows()
    assert rows == [(arm, units[arm] / n, units["old"] / n) for arm in ("new", "third")]
    without = irm.ab_test("rr", baseline="old", test="z")
    assert without["split_p_value"].null_count() == 2
    assert without["split_note"].str.contains("in both arms").all() == (cluster is not None)
    assert without["unit_share"].to_list() == found.filter(metric="rr")["unit_share"].to_list()


def test_a_note_says_what_the_units_are() -> None:
    """Queries and rows that the same users ask are no independent units; users of several arms count in each."""
    irm = made().irm(arm="variant")
    several = "name the users who have several with cluster="
    shares = {"old": 0.67, "new": 0.33}
    for found in (
        irm.ab_test("rr", split=shares, test="z"),
        irm.ab_test("rr", test="z"),
        irm.change("rr", test="z"),
        irm.sample_size("rr", detect=0.1),
    ):
        assert found["split_note"].item() == f"units are queries; {several}"
    rows = irm(query=None, label=pl.col("grade").ge(1).alias("label"), grade=None, doc=None)
    for found in (rows.ab_test("roc_auc", split=shares), rows.change("roc_auc")):
        assert found["split_note"].item() == f"units are rows; {several}"
    users = made().group_by("user").agg(pl.col("variant").n_unique())["variant"]
    of_users = f"{(users > 1).sum()} of {len(users)} clusters (user) are in both arms, and count in each"
    for split in ("equal", None):
        assert irm(cluster="user").ab_test("rr", split=split, test="z")["split_note"].item() == of_users
    assert irm(cluster="user").change("rr", test="z")["split_note"].item() is None  # users come back in a later period
    alone = irm(cluster=pl.concat_str("user", "variant").alias("who")).ab_test("rr", split="equal", test="z")
    assert alone.select("split_note", "n_shared").row(0) == (None, 0)


def test_a_note_says_that_terms_asked_every_day_are_no_independent_units() -> None:
    """Searches of one term are alike, and so may be neighbouring days of a segment; terms as clusters are units."""
    asked = pl.DataFrame({"term": [*"abcd"]}).join(pl.DataFrame({"day": range(10)}), how="cross")
    asked = asked.with_columns(
        pl.col("day").cast(pl.Date), week=pl.col("day") // 5, rank=1, label=pl.int_range(40) % 3 // 2
    )
    irm = asked.irm(query=["term", "day"], arm="week")
    note = "units are queries; those of one 'term' are not independent: name it with cluster= too"
    for found in (irm.ab_test("rr"), irm.change("rr")):
        assert found["split_note"].to_list() == [note]
    assert irm(cluster="term").change("rr")["split_note"].to_list() == [None]
    of_days = asked.irm(query="day", by="term", arm="week").ab_test("rr")
    assert {*of_days["split_note"]} == {
        "units are queries; they are times, of which neighbours may be alike: intervals and p-values are then too sure"
    }


def test_each_segment_has_its_own_split() -> None:
    """Exact, as that of the audit before its correction, and of the units of the segment alone."""
    log = made()
    found = log.irm(arm="variant", by="device").ab_test("rr", baseline="old", split="equal", test="z")
    for device, p in found.select("device", "split_p_value").rows():
        each = log.filter(device=device).unique("query")["variant"]
        assert p == pytest.approx(stats.binomtest((each == "new").sum(), len(each)).pvalue)


@pytest.mark.parametrize("kind", KINDS)
def test_equal_shares_are_halves(kind: str) -> None:
    """The word and the shares are one call, of queries and of rows that were counted already."""
    irm = IRM(as_kind(made(), kind), arm="variant", cluster="user")
    both = [as_polars(irm.ab_test("rr", split=one, test="z")) for one in ("equal", {"old": 0.5, "new": 0.5})]
    assert_frame_equal(*both)
    counted = pl.DataFrame({"arm": [*"aabb"], "label": [0, 1] * 2, "predicted": 1, "n": [10, 20, 12, 24]})
    found = as_polars(IRM(as_kind(counted, kind), arm="arm", count="n").ab_test("accuracy", split="equal"))
    assert found["split_p_value"].item() == pytest.approx(stats.chisquare([30, 36]).pvalue)
    assert found.select("n_units", "baseline_n_units", "n_shared").row(0) == (36, 30, 0)


OF_SPLIT = ["unit_share", "baseline_unit_share", "split_p_value"]


@pytest.mark.parametrize("test", [None, "bootstrap"])
@pytest.mark.parametrize("query", ["query", None])
def test_a_change_has_the_numbers_of_arms(query: str | None, test: Any) -> None:
    """All but those of the split, of queries and of rows, whose columns are the same; users may come back."""
    roles: dict[str, Any] = {"arm": "variant", "cluster": "user", "query": query}
    metric = "rr"
    if query is None:
        roles |= {"label": pl.col("grade").ge(1).alias("label"), "grade": None, "doc": None}
        metric = "roc_auc"
    options: dict[str, Any] = {"test": test, "permutations": 100, "resamples": 50}
    arms = made().irm(**roles).ab_test(metric, **options)
    alone = arms.drop(OF_SPLIT).with_columns(split_note=pl.lit(None, pl.String))
    assert arms["split_note"].str.contains("are in both arms, and count in each").all()
    assert_frame_equal(made().irm(**roles).change(metric, **options), alone)
    assert arms.columns == made().irm(**roles | {"query": "query"}).ab_test("num_ret", test="z").columns


def test_the_errors_of_periods_have_no_word_of_arms() -> None:
    """But for the name of the role."""
    weeks = made().irm(arm="variant")
    for said in (
        error(lambda: weeks(arm=None).change("rr")),
        error(lambda: weeks.change("rr", baseline="x")),
        error(lambda: weeks.change("rr", baseline=["new", "old"])),
        error(lambda: weeks.change("rr", baseline=["new", "new"])),
        error(lambda: weeks(cluster="user").change("rr", baseline=weeks(by=None, arm=None).per_query("rr"))),
        error(lambda: weeks.change("gm_map")),
        error(lambda: weeks.change("rr", test="sign")),
        error(lambda: made().filter(variant="old").irm(arm="variant").change("rr")),
    ):
        assert "arm" not in said.replace("arm=", ""), said


@pytest.mark.parametrize("kind", KINDS)
def test_a_period_against_saved_numbers_of_another(kind: str) -> None:
    """It is the change between two arms of one log, by segment too; queries of both periods are shared units."""
    weeks = made().with_columns(pl.col("query").rank("dense").over("variant"))
    apart = ("arm", "variant", "baseline", "baseline_n_unjudged", "split_note")
    new = as_kind(weeks.filter(variant="new"), kind)
    old = weeks.filter(variant="old").irm(undefined="null").per_query("rr", "recall@1")
    for test in ("t", "z"):
        both = weeks.irm(arm="variant").change("rr", "recall@1", baseline="old", test=test).drop(apart, strict=False)
        assert both["n_shared"].min() > 0
        for irm in (IRM(new), IRM(new, arm="variant")):
            found = as_polars(irm.change("rr", "recall@1", baseline=old, test=test))
            assert found["baseline"].to_list() == ["saved"] * 2
            assert_frame_equal(found.drop(apart, strict=False), both, rel_tol=1e-12)


@pytest.mark.parametrize(
    ("name", "called"),
    [("plan", "sample_size"), ("power", "sample_size"), ("solve_power", "sample_size"), ("cuped", "ab_test")]
    + [("judgments", "click_judgments"), ("interleave", "interleaving")],
)
def test_other_names_lead_to_the_verb(name: str, called: str) -> None:
    """As an error that names it; hasattr is false."""
    irm = made().irm()
    assert error(lambda: getattr(irm, name), UnknownNameError) == f"there is no irm.{name}; it is irm.{called}()"
    assert not hasattr(irm, name)
    assert error(lambda: irm.evalute("rr"), UnknownNameError) == "there is no irm.evalute; did you mean 'evaluate'?"
    assert error(lambda: irm.plot.power, UnknownNameError) == "there is no irm.plot.power; it is irm.plot.sample_size()"
    assert error(lambda: irm.plot.pie, UnknownNameError).startswith("there is no irm.plot.pie; there are 'bounds', ")


def test_a_sample_size_is_of_the_role() -> None:
    """Of systems it counts queries of both, of arms users of each; the same pilot needs more as arms."""
    log = made()
    systems = pl.concat(
        [log.with_columns(run=pl.lit(run), score=pl.col("score") * sign) for run, sign in (("a", 1), ("b", -1))]
    )
    pairs = systems.irm(system="run").sample_size("ndcg@2", detect=0.1, resamples=20)
    assert "baseline_n_units" not in pairs.columns
    arms = systems.irm(arm="run", cluster="user").sample_size("ndcg@2", detect=0.1, resamples=20)
    assert arms.select("n_units", "baseline_n_units").row(0) == (log["user"].n_unique(),) * 2
