"""Changes that are taken apart by segments, into what comes from the mix of segments and what from within them."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from frame_metrics import IRM
from frame_metrics.stats.mix import MIN_PER_ARM, MIX_PARTS
from helpers import KINDS, as_kind, as_polars, error
from refusals import check

FEW: dict[str, Any] = {"resamples": 40}
ENDS = [f"{part}{end}" for part in MIX_PARTS for end in ("_low", "_high")]
SHARES = {"new": {"a": (4, 0.5), "b": (3, 0.2), "c": (3, 0.6)}, "old": {"a": (2, 1.0), "b": (5, 0.4), "d": (3, 0.1)}}


def four() -> pl.DataFrame:
    """Queries of four segments, of which one is new and one is gone; all of a segment and week have one value."""
    rows = [(week, of, v) for week, each in SHARES.items() for of, (n, v) in each.items() for _ in range(n)]
    return pl.DataFrame(rows, schema=["week", "of", "v"], orient="row").with_row_index("query")


def made(seed: int = 0, n: int = 600) -> pl.DataFrame:
    """Searches of three weeks on devices in countries, by users who come back; a new device, and one that is gone."""
    rng = np.random.default_rng(seed)
    week = rng.integers(0, 3, n)
    device = np.where(rng.random(n) < 0.2 + 0.2 * week, "phone", np.where(week == 2, "watch", "web"))
    frame = pl.DataFrame(
        {"week": week, "device": device, "country": rng.choice(["de", "fr", ""], n, p=[0.5, 0.4, 0.1])}
    )
    more = {"user": rng.integers(0, 90, n), "w": rng.integers(0, 4, n) / 2, "v": rng.random(n).round(3) + week / 9}
    return frame.with_columns(
        **{name: pl.Series(own) for name, own in more.items()}, country=pl.col("country").replace("", None)
    ).with_row_index("query")


def apart(frame: Any, by: Any = "device", roles: Any = None, **said: Any) -> pl.DataFrame:
    """The changes of weeks, taken apart."""
    irm = IRM(frame, query="query", arm="week", value="v", by=by, **(roles or {}))
    return as_polars(irm.change(**FEW | said))


@pytest.mark.parametrize("kind", KINDS)
def test_four_segments_by_hand(kind: str) -> None:
    """By Kitagawa's formulas, 1955, with c = (.44 + .43) / 2 = .435; the total row is the difference of the means.

    a: mix (.4 - .2) (.75 - c) = .063, within (.5 - 1) .3 = -.15; b: mix (.3 - .5) (.3 - c) = .027, within
    (.2 - .4) .4 = -.08; c, which is new: .3 (.6 - c) = .0495 and 0; d, which is gone: -.3 (.1 - c) = .1005 and 0.
    """
    irm = IRM(as_kind(four(), kind), query="query", arm="week", value="v", by="of")
    found = irm.change(baseline="old", **FEW)
    if isinstance(found, pl.LazyFrame):
        assert found.collect_schema() == found.collect().schema
    told = as_polars(found)
    assert told.columns[:7] == ["week", "baseline", "of", "total_over", "metric", "k", "share"]
    assert told["of"].to_list() == ["a", "b", "c", "d", None]
    assert told["total_over"].to_list() == [None] * 4 + ["of"]
    expected = {
        "share": [0.4, 0.3, 0.3, 0, 1],
        "baseline_share": [0.2, 0.5, 0, 0.3, 1],
        "value": [0.5, 0.2, 0.6, None, 0.44],
        "baseline_value": [1, 0.4, None, 0.1, 0.43],
        "from_mix": [0.063, 0.027, 0.0495, 0.1005, 0.24],
        "from_within": [-0.15, -0.08, 0, 0, -0.23],
        "change": [-0.087, -0.053, 0.0495, 0.1005, 0.01],
        "n": [4, 3, 3, 0, 10],
        "baseline_n": [2, 5, 0, 3, 10],
    }
    for name, values in expected.items():
        assert told[name].to_list() == [None if v is None else pytest.approx(v, abs=1e-12) for v in values], name
    assert told.select(ENDS).null_count().row(0) == (5,) * 6


@pytest.mark.parametrize("roles", [{}, {"cluster": "user"}, {"weight": "w"}, {"cluster": "user", "weight": "w"}])
def test_parts_add_up_to_the_difference(roles: Any) -> None:
    """In every row, over the segments of each total, and over all to what change() says without by=."""
    frame = made()
    for by in (["device"], ["device", "country"]):
        found = apart(frame, by, roles)
        assert (found["from_mix"] + found["from_within"] - found["change"]).abs().max() < 1e-12
        whole = IRM(frame, query="query", arm="week", value="v", **roles).change(test="z")
        total = found.filter(total_over=", ".join(by))
        assert (total["change"] - whole["difference"]).abs().max() < 1e-12
        assert_frame_equal(
            total.select("week", "baseline", "value", "n"), whole.select("week", "baseline", "value", "n")
        )
        for over in found["total_over"].drop_nulls().unique():
            keys = ["week", "baseline", *(name for name in by if name not in over.split(", "))]
            sums = (
                found.filter(pl.col("total_over").is_null()).group_by(keys).agg(pl.col(*MIX_PARTS, "share", "n").sum())
            )
            rows = found.filter(total_over=over)
            assert len(rows) == len(sums)
            both = rows.join(sums, on=keys, nulls_equal=True)
            assert len(both) == len(rows)
            for name in (*MIX_PARTS, "share", "n"):
                assert (both[name] - both[f"{name}_right"]).abs().max() < 1e-12, (over, name)


def test_a_part_holds_its_estimate_and_has_an_interval_from_20_queries_on() -> None:
    """On both sides; a segment of one week has none."""
    found = apart(made(), ["device", "country"])
    few = (pl.col("n") < MIN_PER_ARM) | (pl.col("baseline_n") < MIN_PER_ARM)
    assert found.filter(few).height
    for part in MIX_PARTS:
        low, high, own = pl.col(f"{part}_low"), pl.col(f"{part}_high"), pl.col(part)
        assert found.filter(few).select(low, high).null_count().row(0) == (found.filter(few).height,) * 2
        wide = found.filter(~few)
        assert wide.select((low <= own) & (own <= high)).to_series().all()
    for rest, known in ((19, False), (20, True)):
        week = pl.when(pl.col("query") < 30).then(pl.lit("old")).otherwise(pl.lit("new"))
        frame = made().head(30 + rest).with_columns(week=week, device=pl.lit("phone"))
        assert (apart(frame, baseline="old")["change_low"][-1] is not None) is known


@pytest.mark.parametrize(("failed", "roles", "known"), [(2, {}, False), (3, {}, True), (3, {"cluster": "user"}, False)])
def test_from_within_has_no_interval_where_hardly_a_value_differs(failed: int, roles: Any, known: bool) -> None:
    """Of 120 searches on phones 2 failed, or 3, of two users; the other parts, and the total, have intervals."""
    rows = {"week": [0, 1] * 120, "device": ["phone"] * 120 + ["web"] * 120, "user": [0, 1, 0, *range(3, 240)]}
    values = [0.0] * failed + [1.0] * (120 - failed) + [0.0, 0.0, 1.0] * 40
    found = apart(pl.DataFrame(rows | {"v": values}).with_row_index("query"), roles=roles)
    whole = dict.fromkeys(ENDS, True)
    phone = whole | {"from_within_low": known, "from_within_high": known}
    told = found.select(pl.col(ENDS).is_not_null()).to_dicts()
    assert told == [phone, whole, whole]


def test_the_order_of_rows_changes_no_interval() -> None:
    """Random draws go to queries by their keys and values."""
    for roles in ({}, {"cluster": "user"}):
        shuffled = made().sample(fraction=1, shuffle=True, seed=3)
        assert_frame_equal(apart(shuffled, roles=roles), apart(made(), roles=roles))


def test_units_of_both_weeks_are_drawn_together() -> None:
    """A user who is alike in both weeks does not make the change less sure."""
    rng = np.random.default_rng(0)
    own = rng.normal(size=200)
    rows = [
        {"user": u, "week": w, "device": "ab"[u % 2], "v": own[u] + rng.normal() / 9}
        for u in range(200)
        for w in (0, 1)
    ]
    frame = pl.DataFrame(rows).with_row_index("query")
    ends = {
        name: apart(frame, roles=roles).filter(total_over="device").select(pl.col("change_high") - pl.col("change_low"))
        for name, roles in {"alone": {}, "together": {"cluster": "user"}}.items()
    }
    assert ends["together"].item() < ends["alone"].item() / 3


@pytest.mark.parametrize("kind", KINDS)
def test_saved_numbers_as_the_baseline(kind: str) -> None:
    """The parts are those of two weeks in one frame, also of segments that only the saved numbers have."""
    frame = made().filter(pl.col("week") > 0).with_columns(segment="device", at="device")
    roles: dict[str, Any] = {"query": "query", "value": "v"}
    for by in (["device"], ["device", "country"], ["device", "segment", "at"]):
        saved = frame.filter(week=1).irm(**roles, by=by).per_query()
        both = apart(frame, by)
        call = IRM(as_kind(frame.filter(week=2), kind), **roles, by=by).change(baseline=as_kind(saved, kind), **FEW)
        if isinstance(call, pl.LazyFrame):
            assert call.collect_schema() == call.collect().schema
        found = as_polars(call)
        assert found["baseline"].unique().to_list() == ["saved"]
        assert found.filter(device="web", n=0).height
        other = ["week", "baseline", *ENDS]
        keys = [pl.col(name).cast(pl.String) for name in ("device", "country", "total_over") if name in both]
        assert_frame_equal(
            found.drop(other, strict=False).with_columns(keys), both.drop(other).with_columns(keys), rel_tol=1e-12
        )
        assert found.filter(total_over=", ".join(by)).select(ENDS).null_count().sum_horizontal().item() == 0


def test_shares_are_of_the_queries_that_have_a_value() -> None:
    """Each metric has its own."""
    rows = {
        "query": range(8),
        "week": [*"aaaabbbb"],
        "device": [*"pwpwpwpw"],
        "score": 1.0,
        "grade": [1, 0, 1, 1, 0, 1, 1, 1],
    }
    found = pl.DataFrame(rows).irm(arm="week", by="device", undefined="null").change("dcg", "ndcg", baseline="a", **FEW)
    shares = found.filter(device="w").select("metric", "share", "baseline_share").rows()
    assert shares == [("dcg", 0.5, 0.5), ("ndcg", pytest.approx(2 / 3), pytest.approx(1 / 3))]


REFUSALS = """
WEEKS.change(test="t")
    NotComputableError: test='t' applies to tests, and by='device' takes each change apart, with intervals alone; leave
        it out, or pass by=None, or use ab_test() for each segment by itself
    but: WEEKS(by=None).change(test="t")
    but: WEEKS.ab_test(test="t")
    but: WEEKS.change(**FEW)
WEEKS(by=["device", "country"]).change(margin=0.1)
    NotComputableError: margin=0.1 applies to tests, and by=['device', 'country'] takes each change apart, with
        intervals alone; leave it out, or pass by=None, or use ab_test() for each segment by itself
    but: WEEKS(by=None).change(margin={"v": 0.1}, test="z")
POOLED.change("accuracy")
    ColumnError: by=['device'] takes a change of means apart, and rows without a query are counted together; name
        query=, or pass by=None, or use ab_test() for each segment by itself
    but: POOLED(by=None).change("accuracy", **FEW)
    but: POOLED.ab_test("accuracy", **FEW)
    but: POOLED(query="query").change("accuracy", **FEW)
SAME.change(**FEW)
    NotComputableError: every query ('query') is in every period of week, as if systems had answered the same queries,
        so that the mix is the same: compare() pairs these, with system='week' in the place of arm=. If several users
        asked them, name the users with cluster=
    but: SAME(arm=None, system="week").compare(permutations=9)
    but: SAME(cluster="user").change(**FEW)
ENUM.change(baseline=GONE, **FEW)
    BadValueError: baseline: 1 saved segment is not in the frame, as device = tv; leave their rows out, or pass by=None
    but: ENUM.change(baseline=GONE.filter(device="web"), **FEW)
"""

WEEKS = made().irm(query="query", arm="week", value="v", by="device")
DECIDED = made(n=60).with_columns(said=pl.col("v") > 0.5, label=pl.col("query") % 2)
POOLED = DECIDED.irm(query=None, arm="week", by="device", label="label", predicted="said")
PAIRED = pl.concat([made(n=40).with_columns(week=pl.lit(week)) for week in (0, 1)])
SAME = PAIRED.irm(query="query", arm="week", value="v", by="device")
ENUM = pl.DataFrame({"query": [1, 2], "device": ["web", "web"], "v": [1.0, 2.0]}).cast({"device": pl.Enum(["web"])})
ENUM = ENUM.irm(query="query", value="v", by="device")
GONE = pl.DataFrame({"query": [3, 4], "device": ["web", "tv"], "metric": "v", "k": None, "value": [1.0, 2.0]})


def test_bad_input() -> None:
    """Each is an error in the caller's words, with the way out."""
    check(REFUSALS, globals())


def test_the_mix_of_several_metrics_is_that_of_each_alone() -> None:
    """Draws of one metric do not depend on others."""
    log = pl.DataFrame({"query": np.arange(80).repeat(2), "score": [2, 1] * 80, "grade": np.arange(160) * 7 % 3})
    log = log.with_columns(week=pl.col("query") % 2, device=pl.col("query") % 3)
    irm = log.irm(arm="week", by="device")
    both = irm.change("rr", "ndcg@2", **FEW)
    for name in ("rr", "ndcg@2"):
        assert_frame_equal(both.filter(metric=name), irm.change(name, **FEW))
    assert "metric" in error(lambda: irm.change("gm_map"))


def test_undefined_queries_are_counted_in_each_segment() -> None:
    """Those of both periods, as without segments; the new and the gone segment have theirs too."""
    log = made().with_columns(v=pl.when(pl.int_range(pl.len()) % 7 > 0).then("v"))
    found, weeks = apart(log), {0, 1}
    two = found.filter(week=1, baseline=0)
    for device, n in two.filter(pl.col("total_over").is_null()).select("device", "n_undefined").rows():
        assert n == log.filter(pl.col("week").is_in(weeks), pl.col("v").is_null(), device=device).height
    total = found.filter(pl.col("total_over").is_not_null())
    whole = IRM(log, query="query", arm="week", value="v").change(permutations=99)
    assert total["n_undefined"].to_list() == whole["n_undefined"].to_list()
