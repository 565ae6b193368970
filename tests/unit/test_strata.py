"""Arms with strata: differences within what was known before the test, and sentences about a reversal."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from frame_metrics import IRM, NotComputableError
from helpers import KINDS, as_kind, as_polars
from refusals import check

TESTS = ("randomization", "t", "z", "bootstrap")
FEW: dict[str, Any] = {"permutations": 300, "resamples": 300}


def simpson() -> pl.DataFrame:
    """Arms of which b is better on each device, by .05, and worse over all, by .07: it has more of the mobile ones."""
    cells = [
        ("a", "mobile", 300, 90),
        ("a", "desktop", 700, 420),
        ("b", "mobile", 700, 245),
        ("b", "desktop", 300, 195),
    ]
    rows = [(arm, device, float(i < hits)) for arm, device, n, hits in cells for i in range(n)]
    frame = pl.DataFrame(rows, schema=["arm", "device", "v"], orient="row")
    return frame.with_columns(query=pl.int_range(pl.len()))


def made(seed: int = 0, n: int = 120) -> pl.DataFrame:
    """Searches of users of two arms, on two devices in two countries, with weights; b has more of the mobile ones."""
    rng = np.random.default_rng(seed)
    user = np.arange(n)
    arm = rng.integers(0, 2, n)
    device = (rng.random(n) < 0.3 + 0.4 * arm).astype(int)
    country = rng.integers(0, 2, n)
    worth = rng.normal(5 - 2 * device + 0.5 * arm, 1)
    often = rng.integers(1, 4, n)
    of = np.repeat(user, often)
    value = (worth[of] + rng.normal(size=len(of))).round(3)
    frame = pl.DataFrame({"user": of, "arm": arm[of], "device": device[of], "country": country[of], "v": value})
    frame = frame.with_columns(pl.col("arm").replace_strict({0: "a", 1: "b"}), w=pl.Series(rng.integers(1, 4, len(of))))
    frame = frame.with_columns(pl.col("device").replace_strict({0: "desktop", 1: "mobile"}))
    return frame.with_columns(query=pl.int_range(pl.len())).sample(fraction=1, shuffle=True, seed=seed)


def versus(frame: Any, strata: Any = "device", *, roles: Any = None, **said: Any) -> dict[str, Any]:
    """The numbers of a comparison of two arms, against a, by a metric of which more is better."""
    irm = frame.rename({"v": "dcg"}).irm(query="query", arm="arm", value="dcg", **(roles or {}))
    return numbers(irm.ab_test(baseline="a", strata=strata, **said))


def numbers(found: Any) -> dict[str, Any]:
    """The numbers of the one row of a comparison."""
    (row,) = as_polars(found).rows(named=True)
    return {name: value for name, value in row.items() if isinstance(value, int | float)}


def test_a_difference_within_strata_by_hand() -> None:
    """b is .05 above a on each device, so it is in the mix of both: .45 of a becomes .5."""
    row, plain = versus(simpson(), **FEW), versus(simpson(), None, **FEW)
    assert (row["value"], row["baseline_value"], row["difference"]) == pytest.approx((0.5, 0.45, 0.05))
    assert plain["difference"] == pytest.approx(-0.07)
    assert row["ci_low"] > 0 > plain["ci_high"]
    assert (row["n"], row["baseline_n"], row["n_units"], row["n_shared"]) == (1000, 1000, 1000, 0)


def test_the_interval_of_shares_adds_up_the_squares_of_strata() -> None:
    """Newcombe's adds up Wilson's of each arm in each stratum, times its share, and is not within the normal one."""
    row, z = versus(simpson(), **FEW), 1.959963984540054
    below = above = 0.0
    for share, arms in ((0.5, ((0.35, 700), (0.3, 300))), (0.5, ((0.65, 300), (0.6, 700)))):
        for sign, (p, n) in zip((1, -1), arms, strict=True):
            middle, far = (
                (p + z * z / 2 / n) / (1 + z * z / n),
                z / (1 + z * z / n) * (p * (1 - p) / n + z * z / 4 / n / n) ** 0.5,
            )
            low, high = p - (middle - far), (middle + far) - p
            below += (share * (low if sign > 0 else high)) ** 2
            above += (share * (high if sign > 0 else low)) ** 2
    by_z = versus(simpson(), test="z")
    assert row["ci_low"] == pytest.approx(min(0.05 - below**0.5, by_z["ci_low"]))
    assert row["ci_high"] == pytest.approx(max(0.05 + above**0.5, by_z["ci_high"]))
    assert row["ci_low"] < by_z["ci_low"]


@pytest.mark.parametrize("test", TESTS)
def test_one_stratum_is_none(test: str) -> None:
    """If all units are of one stratum, the numbers are those without strata."""
    frame = made().with_columns(one=pl.lit("x"))
    roles = {"cluster": "user", "weight": "w"}
    row, plain = (versus(frame, strata, roles=roles, test=test, margin=0.2, **FEW) for strata in ("one", None))
    if test == "bootstrap":  # a stratum has its own random numbers
        row, plain = ({name: one[name] for name in ("difference", "mde", "n", "relative")} for one in (row, plain))
    assert row == pytest.approx(plain, rel=1e-9, nan_ok=True)


@pytest.mark.parametrize("test", TESTS)
def test_it_does_not_matter_which_arm_is_the_baseline(test: str) -> None:
    """The other way round the interval is mirrored, and the p-value is the same."""
    irm = made().irm(query="query", arm="arm", value="v", cluster="user")
    given: dict[str, Any] = {"strata": ["device", "country"], "test": test} | FEW
    one, other = (irm.ab_test(baseline=arm, **given).row(0, named=True) for arm in "ab")
    assert one["p_value"] == pytest.approx(other["p_value"], abs=1e-12)
    assert (one["ci_low"], one["difference"]) == pytest.approx((-other["ci_high"], -other["difference"]))


def test_arms_of_equal_sizes_in_some_strata_are_exchanged_alike_from_both_sides() -> None:
    """Which arm is drawn does not depend on the baseline, if some strata have as many units of each arm."""
    frame = pl.DataFrame({"device": ["x"] * 40 + ["y"] * 50, "arm": ["a", "b"] * 20 + ["a"] * 20 + ["b"] * 30})
    frame = frame.with_columns(query=pl.int_range(pl.len()), v=pl.Series(np.random.default_rng(1).normal(size=90)))
    irm = frame.irm(query="query", arm="arm", value="v")
    p = [irm.ab_test(baseline=arm, strata="device", permutations=999)["p_value"].item() for arm in "ab"]
    assert p[0] == p[1]


def test_drawn_exchanges_come_near_all() -> None:
    """Of few units in each stratum all exchanges are counted, and as many draws say nearly the same."""
    frame = made(3, 16).group_by("user", maintain_order=True).first().sort("user")
    frame = frame.with_columns(device=pl.when(pl.int_range(pl.len()) % 2 == 0).then(pl.lit("x")).otherwise(pl.lit("y")))
    frame = frame.with_columns(arm=pl.when(pl.int_range(pl.len()) % 4 < 2).then(pl.lit("a")).otherwise(pl.lit("b")))
    every = versus(frame, permutations=10_000)["p_value"]  # 70 * 70 ways
    assert (every * 4900) == pytest.approx(round(every * 4900))
    assert versus(frame, permutations=4899)["p_value"] == pytest.approx(every, abs=0.03)


def test_values_that_repeat_are_drawn_as_kinds() -> None:
    """Shares of many units, of which numbers of kinds are drawn, have the p-value of the normal distribution."""
    row = versus(simpson(), permutations=20_000)
    assert row["p_value"] == pytest.approx(versus(simpson(), test="z")["p_value"], abs=0.012)


@pytest.mark.parametrize("kind", [*KINDS, "dask", "duckdb"])
def test_strata_in_every_kind_of_frame(kind: str) -> None:
    """Each kind of frame says the same, also those that are read in pieces."""
    frame = made().with_columns(score=1.0, grade=pl.col("v").abs())
    roles: dict[str, Any] = {"query": "query", "arm": "arm", "cluster": "user"}
    given: dict[str, Any] = {"baseline": "a", "strata": ["device", "country"]} | FEW
    expected = numbers(IRM(frame, **roles).ab_test("dcg@1", **given))
    if kind == "dask":
        dd = pytest.importorskip("dask.dataframe")
        frame = dd.from_pandas(frame.to_pandas(), npartitions=3)
    elif kind == "duckdb":
        frame = pytest.importorskip("duckdb").from_arrow(frame.to_arrow())
    else:
        frame = as_kind(frame, kind)
    found = IRM(frame, **roles).ab_test("dcg@1", **given)
    assert numbers(found.compute() if kind == "dask" else found) == pytest.approx(expected, rel=1e-9)


def test_strata_in_segments() -> None:
    """Each segment is compared by itself, as if it were alone; it has no column of strata."""
    irm = made().irm(query="query", arm="arm", value="v", cluster="user", by="country")
    found = irm.ab_test(baseline="a", strata="device", **FEW)
    assert "device" not in found.columns
    for row in found.rows(named=True):
        alone = versus(made().filter(country=row["country"]), roles={"cluster": "user"}, **FEW)
        assert alone["difference"] == pytest.approx(row["difference"])
        assert (alone["ci_low"], alone["p_value"]) == pytest.approx((row["ci_low"], row["p_value"]))


def test_a_segment_without_an_arm_is_null() -> None:
    """Where an arm has no unit at all, nothing is compared, and that is no error."""
    frame = pl.concat(
        [made(), made().filter(arm="a").with_columns(country=pl.lit(9, pl.Int64), query=pl.col("query") + 999)]
    )
    irm = frame.irm(query="query", arm="arm", value="v", by="country")
    assert irm.ab_test(baseline="a", strata="device", **FEW)["difference"].is_null().to_list() == [False, False, True]


def test_null_is_a_stratum() -> None:
    """Units of which the device is not known are a stratum of their own, as with by=."""
    frame = made().with_columns(device=pl.when(pl.col("device") == "mobile").then("device"))
    assert versus(frame, test="t") == pytest.approx(versus(made(), test="t"))


def test_three_arms_are_corrected_by_holm() -> None:
    """Families of arms with strata have Holm's correction, and single intervals."""
    frame = pl.concat([made(), made(1).with_columns(arm=pl.lit("c"), query=pl.col("query") + 999)])
    found = frame.irm(query="query", arm="arm", value="v").ab_test(strata="device", **FEW)
    assert found["correction"].to_list() == ["holm"] * 3
    pair = frame.filter(pl.col("arm") != "c")
    alone = versus(pair, **FEW)
    assert found.filter(arm="b", baseline="a")["ci_low"].item() == pytest.approx(alone["ci_low"])


def test_a_margin_with_strata() -> None:
    """What is held against a margin is the difference within strata, with its error."""
    by_t = versus(made(), margin=0.3, test="t")
    found = versus(made(), margin=0.3, **FEW)
    assert 0 < by_t["p_not_worse"] <= found["p_not_worse"] < 1
    shares = versus(simpson(), margin=0.01, **FEW)
    plain = versus(simpson(), None, margin=0.01, **FEW)
    assert shares["p_not_worse"] < 0.05 < plain["p_not_worse"]


REFUSALS = """
ab_test(strata="devic")
    ColumnError: strata='devic': there is no such column among 'user', 'arm', 'device', 'country', 'v', 'w', 'query';
        did you mean 'device'?
ab_test(strata="arm")
    ColumnError: strata='arm' is the arm too; a column can have only one role
ab_test(strata=["device", "device"])
    ColumnError: strata='device' is named twice; a column can have only one role
ab_test(strata=VALUE)
    for: 3, [], [1]
    BadValueError: strata=VALUE is not the name of a column, as 'device', nor several in a list: what is known of each
        unit before the test
    but: ab_test(strata=["device"])
    but: ab_test(strata=("device", "country"))
ab_test(strata="device", roles={"by": "device"})
    ColumnError: strata='device' is a column of by= too, so that each segment has one stratum; leave it out of one of
        them
    but: ab_test(strata="country", roles={"by": "device"})
ab_test(strata="device", covariate="w")
    NotComputableError: strata='device' cannot be used with covariate='w'; pass one of them, or cut the covariate into a
        few groups, and pass these as one more column of strata
    but: ab_test(strata=["device", "w"])
ab_test(strata="device", looks="any")
    NotComputableError: strata='device' requires a single look, and cannot be used with looks='any'; pass one of
        them
    but: ab_test(strata=None, looks="any")
ab_test(strata="device", correction="max_t")
    NotComputableError: correction='max_t' permutes units over all arms, which strata='device' cannot be used with; pass
        correction='holm', or strata=None
    but: ab_test(strata="device", correction="holm")
ab_test(alone("tv"), strata="device")
    NotComputableError: strata='device': device = tv has too few queries of arm = a: 0, and each stratum needs 2
        of each arm; join it with another stratum, by giving both one value of 'device'
    but: ab_test(alone("mobile"), strata="device")
ab_test(strata="device", average="median")
    UnknownNameError: ab_test() has no option 'average'; other averages are those of evaluate()[...]
ab_test(made().with_columns(device=pl.col("query") % 3), strata="device", roles={"cluster": "user"})
    BadValueError: strata='device': 84 of 120 clusters (user) are in several strata; pass a column that has one value
        for each of them, as what was known before the test has
    but: ab_test(made().with_columns(device=pl.col("user") % 3), strata="device", roles={"cluster": "user"})
ab_test(in_both_arms(), strata="device", roles={"cluster": "user"})
    NotComputableError: strata='device': 120 clusters (user) are in both arms, and units of one arm alone are exchanged
        within strata; pass test='t'
    but: ab_test(in_both_arms(), strata="device", roles={"cluster": "user"}, test="t")
    but: ab_test(in_both_arms(), roles={"cluster": "user"})
made().irm(query="query", system="arm", value="v").compare(strata="device")
    UnknownNameError: compare() has no option 'strata'; it is an option of ab_test(), of arms:
        irm(arm=...).ab_test(..., strata=...)
made().irm(query="query", arm="arm", value="v").change(strata="device")
    UnknownNameError: change() has no option 'strata'; it is an option of ab_test(), of arms:
        irm(arm=...).ab_test(..., strata=...)
    but: made().irm(query="query", arm="arm", value="v").ab_test(strata="device")
"""


def alone(device: str) -> pl.DataFrame:
    """The same, of which the first search has another device."""
    return made().with_columns(device=pl.when(pl.col("query") == 3).then(pl.lit(device)).otherwise("device"))


def in_both_arms() -> pl.DataFrame:
    """The same, and each search a second time in the other arm."""
    again = made().with_columns(arm=pl.col("arm").replace({"a": "b", "b": "a"}), query=pl.col("query") + 999)
    return pl.concat([made(), again])


def ab_test(frame: pl.DataFrame | None = None, *, roles: Any = None, **said: Any) -> Any:
    """A comparison of the arms of a frame."""
    irm = (made() if frame is None else frame).irm(query="query", arm="arm", value="v", **(roles or {}))
    return irm.ab_test(**({} if said.get("looks") else {"permutations": 9}), **said)


def test_bad_input() -> None:
    """Each is an error in the caller's words, with the way out."""
    check(REFUSALS, globals())


# The sentence


def said(frame: pl.DataFrame, metric: str = "v", **roles: Any) -> pl.DataFrame:
    """The sentences of a summary about a reversal."""
    frame = frame.rename({"v": metric})
    irm = frame.irm(**({"query": "query", "arm": "arm", "value": metric, "by": "device"} | roles))
    return irm.summary().filter(kind="reversal")


def test_a_reversal_is_said() -> None:
    """The arm that is ahead within segments is named first, whichever is better over all."""
    (sentence,) = said(simpson(), "success@1")["sentence"]
    assert sentence == (
        "b is above a in success@1 within segments of device (+0.050, at least +0.003, 95 % interval +0.003 to +0.095; "
        "p = 0.038), although it is below a over all: the two have different mixes of device."
    )
    other = simpson().with_columns(pl.col("arm").replace({"a": "b", "b": "a"}))
    assert said(other, "success@1")["sentence"][0].startswith("a is above b in success@1")


def test_its_figures_are_those_of_ab_test() -> None:
    """Difference, interval and p-value of the sentence are those of ab_test(strata=)."""
    row, found = said(simpson()).row(0, named=True), versus(simpson())
    names = ("value", "baseline_value", "difference", "ci_low", "ci_high", "p_adjusted")
    assert [row[name] for name in names] == pytest.approx([found[name] for name in names])
    assert (row["of"], row["arm"], row["baseline"]) == ("device", "b", "a")


def test_what_is_no_reversal_is_not_said() -> None:
    """Not where the signs are the same, where p is not below .05, without segments, or where a segment lacks an arm."""
    same = simpson().with_columns(v=pl.col("v") + (pl.col("arm") == "b").cast(pl.Float64))
    few = simpson().filter(pl.int_range(pl.len()) % 10 == 0)
    lacks = pl.concat([simpson(), simpson()[:1].with_columns(query=pl.lit(9999, pl.Int64), device=pl.lit("tv"))])
    for frame in (same, few, lacks):
        assert said(frame).is_empty()
    assert said(simpson(), by=None).is_empty()


@pytest.mark.parametrize(("n", "there"), [(50, True), (51, False)])
def test_a_reversal_is_looked_for_in_50_segments(n: int, there: bool) -> None:
    """With more segments none is looked for."""
    frame = simpson().with_columns(v=pl.when(pl.col("arm") == "b").then(pl.col("v") + 0.2).otherwise("v"))
    frame = frame.with_columns(v=pl.col("v") - 2.0 * (pl.col("device") == "mobile").cast(pl.Float64))
    part = pl.int_range(pl.len()).over("arm", "device") % (n - 25)
    mobile = pl.col("device") == "mobile"
    frame = frame.with_columns(device=pl.when(mobile).then(25 + part).otherwise(part % 25))
    assert frame["device"].n_unique() == n
    assert len(said(frame)) == there


@pytest.mark.parametrize("n", [1, 2])
def test_a_stratum_has_two_units_of_each_arm(n: int) -> None:
    """With one unit of an arm it is an error, with two it is compared."""
    more = made().filter(arm="a")[:9].vstack(made().filter(arm="b")[:n])
    frame = pl.concat([made(), more.with_columns(device=pl.lit("tv"), query=pl.col("query") + 999)])
    if n > 1:
        assert versus(frame, **FEW)["ci_low"] is not None
    else:
        with pytest.raises(NotComputableError, match="device = tv has too few queries of arm = b: 1, and each stratum"):
            versus(frame, **FEW)


def test_a_summary_with_strata_compares_within_them() -> None:
    """strata= of summary() and report() makes the comparison that of ab_test(), and says so; by= may name the same."""
    irm = simpson().irm(query="query", arm="arm", value="v", by="device")
    sentences = irm.summary(baseline="a", strata="device")
    assert sentences.filter(kind="reversal").is_empty()
    row = sentences.filter(kind="difference").row(0, named=True)
    assert row["difference"] == pytest.approx(0.05)
    assert "adjusted by device" in row["sentence"]
    page = irm.report(format="md", baseline="a", strata="device", queries=0)
    assert "adjusted by device; Results are not" in page


def test_a_reversal_where_less_is_better() -> None:
    """The sentence is about which arm is above the other one, whichever is better."""
    (sentence,) = said(simpson(), "brier")["sentence"]
    assert sentence.startswith("b is above a in brier within segments of device")


def test_strata_of_a_report_need_arms() -> None:
    """Systems have no strata."""
    irm = simpson().irm(query="query", system="arm", value="v")
    with pytest.raises(Exception, match=r"strata=.*requires arms with queries of their own; name .*arm="):
        irm.summary(strata="device")


def test_no_reversal_is_told_of_equal_means() -> None:
    """Two arms with the same numbers in other orders and mixes: their difference over all is only rounding."""
    rng = np.random.default_rng(2)
    value = 0.1 * np.concatenate([rng.integers(1, 4, 20), rng.integers(6, 10, 40)])
    device = np.repeat(["m", "d"], [20, 40])
    other, order = device.copy(), np.argsort(value)
    other[order[:40]], other[order[40:]] = "m", "d"
    mixed = rng.permutation(60)
    frame = pl.DataFrame(
        {
            "query": range(120),
            "arm": np.repeat(["a", "b"], 60),
            "device": np.concatenate([device, other[mixed]]),
            "ndcg": np.concatenate([value, value[mixed]]),
        }
    )
    said = frame.irm(arm="arm", by="device", value="ndcg").summary(baseline="a")
    assert "reversal" not in said["kind"].to_list()
