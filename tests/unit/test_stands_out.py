"""A segment stands out: its p-value by all permutations of small logs, and what a summary says of it, or does not."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from frame_metrics import IRM
from frame_metrics.stats import outstanding as kernel
from frame_metrics.stats.outstanding import outstanding
from helpers import KINDS, as_kind, as_polars

RNG = np.random.default_rng
SKEWED = np.array([0.1, 0.2, 0.2, 0.4, 0.1, 2.0, 5.5, 1.1, 0.9, 3.0])


def far_of_means(values: Any, sizes: Any, segment: Any, judged: Any) -> float:
    """Return the greatest distance of means in standard errors; ``values`` and ``sizes`` of rows, queries or sums."""
    most, n = 0.0, len(values)

    def side(here: Any) -> tuple[float, float, float, int]:
        mean = values[here].sum() / sizes[here].sum()
        spread = ((values[here] - mean * sizes[here]) ** 2).sum() / (here.sum() - 1)
        return mean, spread, sizes[here].sum(), here.sum()

    usual = side(np.ones(n, bool))[1]
    for one in judged:
        own, rest = side(segment == one), side(segment != one)
        error = sum(many * max(spread, usual) / size**2 for _, spread, size, many in (own, rest))
        most = max(most, abs(own[0] - rest[0]) / error**0.5)
    return most


def far_of_shares(values: Any, sizes: Any, segment: Any, judged: Any) -> float:
    """Return the greatest distance of shares."""
    del sizes
    most, n = 0.0, len(values)
    for one in judged:
        own = segment == one
        most = max(most, abs(values[own].mean() - values.mean()) * (own.sum() / (1 - own.sum() / n)) ** 0.5)
    return most


def labellings(segment: list[int]) -> list[tuple[int, ...]]:
    """Return all ways to give rows these labels."""
    if len({*segment}) == 1:
        return [tuple(segment)]
    first, ways = segment[0], []
    for one in sorted({*segment}):
        rest = segment.copy()
        rest.remove(one)
        ways += [(one, *way) for way in (labellings(rest) if rest else [()])]
    del first
    return ways


@pytest.mark.parametrize(
    ("values", "segment", "judged", "far"),
    [
        (SKEWED, [0] * 5 + [1] * 5, (0, 1), far_of_means),
        (SKEWED[::2].repeat(2) + np.arange(10) / 9, [0] * 5 + [1] * 5, (0, 1), far_of_means),
        (np.array([0, 0, 0, 0, 1.0, 1, 1, 1, 1, 0]), [0] * 5 + [1] * 5, (0, 1), far_of_shares),
        (np.append(SKEWED, 9.0), [0] * 5 + [1] * 5 + [2], (0, 1), far_of_means),
        (np.array([0, 0, 0, 0, 0, 1.0, 1, 1, 1, 1, 0]), [0] * 5 + [1] * 5 + [2], (0, 1), far_of_shares),
    ],
)
@pytest.mark.parametrize("clustered", [False, True])
def test_the_p_value_is_that_of_all_permutations(
    values: Any, segment: list[int], judged: Any, far: Callable[..., float], clustered: bool
) -> None:
    """Of ten or eleven queries, or clusters, all ways to give them their segments are counted in plain Python."""
    sizes, labels = np.ones(len(values)), np.array(segment)
    each, of, cluster = values, labels, None
    if clustered:  # each second cluster has a query of value 0 more
        sizes = sizes + np.arange(len(values)) % 2
        more = np.flatnonzero(sizes == 2)
        each, of = np.append(values, np.zeros(len(more))), np.append(labels, labels[more])
        cluster, far = np.append(np.arange(len(values)), more), far_of_means
    seen = far(values, sizes, labels, judged)
    every = [far(values, sizes, np.array(way), judged) for way in labellings(segment)]
    p = np.mean(np.array(every) >= seen * (1 - 1e-9))
    found = outstanding(each, of, cluster)
    drawn = kernel.FIRST_PERMUTATIONS if found.p >= kernel.LIKELY_P else kernel.PERMUTATIONS  # or more
    assert found.n == len(judged)
    assert found.p == pytest.approx(p, abs=4 * (p * (1 - p) / drawn) ** 0.5 + 1 / drawn)


def test_signs_of_clusters_across_segments_are_all_flipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of eight clusters in two segments all 256 signs are counted in plain Python."""
    monkeypatch.setattr(kernel, "MIN_FLIPPED", 8)
    rng = RNG(4)
    values, cluster = rng.normal(size=32), np.arange(32) % 8
    segment = (np.arange(32) // 8 % 2) * (cluster > 1)
    values = values + 0.8 * segment
    apart = []
    n = np.bincount(segment)
    rest = values - values.mean()
    for one in range(2):
        own = (cluster == np.arange(8)[:, None]) * np.where(segment == one, 1 / n[one], -1 / n[1 - one])
        apart.append(own @ rest)
    apart = np.array(apart)
    each = np.array([[rest[(cluster == c) & (segment == s)].sum() for c in range(8)] for s in range(2)])
    usual = (each**2).sum() * n / n.sum()
    seen_error = np.sqrt((apart**2).sum(axis=1) + np.maximum(usual - (each**2).sum(axis=1), 0) / n**2)
    seen = (np.abs(apart.sum(axis=1)) / seen_error).max()
    signs = np.array([*product([1, -1], repeat=8)])
    drawn = (np.abs(signs @ apart.T) / np.sqrt((apart**2).sum(axis=1))).max(axis=1)
    p = (drawn >= seen * (1 - 1e-9)).mean()
    found = outstanding(values, segment, cluster)
    draws = kernel.FIRST_PERMUTATIONS if found.p >= kernel.LIKELY_P else kernel.PERMUTATIONS
    assert found.n == 2
    assert found.p == pytest.approx(p, abs=4 * (p * (1 - p) / draws) ** 0.5 + 1 / draws)


@pytest.mark.parametrize("kind", ["shares", "values", "clusters", "across"])
def test_neither_names_nor_the_order_of_rows_matter(kind: str) -> None:
    """The same queries in another order, with other numbers of segments and clusters, have the same p-value."""
    rng = RNG(1)
    values = (rng.random(300) < 0.3).astype(float) if kind == "shares" else rng.integers(0, 7, 300) / 7.0
    segment = rng.integers(0, 4, 300)
    cluster = None if kind in ("shares", "values") else segment * 20 + rng.integers(0, 20, 300)
    cluster = rng.integers(0, 60, 300) if kind == "across" else cluster
    first = outstanding(values, segment, cluster)
    turn, renamed = rng.permutation(300), np.array([7, 3, 9, 1])
    again = outstanding(values[turn], renamed[segment[turn]], None if cluster is None else 99 - cluster[turn])
    assert (again.p, again.n, again.segment) == (first.p, first.n, renamed[first.segment])


@pytest.mark.parametrize("clustered", [None, "clusters", "across"])
def test_many_units_are_permuted_in_blocks_with_the_same_p_value(
    monkeypatch: pytest.MonkeyPatch, clustered: str | None
) -> None:
    """Permuted in blocks, or with the same sign for many clusters, the p-value is nearly that of single units."""
    rng = RNG(2)
    n = 12_000
    segment = rng.integers(0, 6, n)
    cluster = {None: None, "clusters": segment * 500 + rng.integers(0, 500, n), "across": rng.integers(0, 3000, n)}[
        clustered
    ]
    values = rng.lognormal(size=n) + 0.09 * (segment == 2)
    single = outstanding(values, segment, cluster)
    monkeypatch.setattr(kernel, "MIN_UNITS_IN_BLOCKS", 1000)
    monkeypatch.setattr(kernel, "SINGLE_UNITS", 300)
    monkeypatch.setattr(kernel, "SIGNS", 300)
    monkeypatch.setattr(kernel, "MIN_NUMBERS_TO_DRAW_FEW", 1000)
    blocks = outstanding(values, segment, cluster)
    assert (blocks.segment, blocks.n) == (single.segment, 6)
    assert blocks.p == pytest.approx(single.p, abs=0.1)
    assert outstanding(values + (segment == 2), segment, cluster).p == 1 / (kernel.FIRST_PERMUTATIONS + 1)


@pytest.mark.parametrize(
    ("values", "segment", "cluster", "n"),
    [
        ([0.5] * 20, [0, 1] * 10, None, 2),
        ([0.1] * 20, [0, 1] * 10, [*range(10)] * 2, 2),
        ([0.0, 1.0] * 10, [0] * 20, None, 0),
        ([0.0, 1.0] * 10, [0] * 16 + [1] * 4, None, 0),
        ([0.0, 1.0] * 10, [0, 1] * 10, [0] * 20, 0),
        ([0.0, 1.0] * 29, [0] * 29 + [1] * 29, [*range(29)] * 2, 0),
        ([], [], None, 0),
    ],
)
def test_nothing_stands_out(values: list[float], segment: list[int], cluster: list[int] | None, n: int) -> None:
    """Of equal values, one segment, too few queries or too few clusters no segment is named."""
    found = outstanding(np.array(values), np.array(segment, int), None if cluster is None else np.array(cluster))
    assert (found.segment, found.p) == (-1, 1.0) or found.p > 0.5
    assert found.n == n


def log(n: int = 400, apart: float = 0.0, **columns: Any) -> pl.DataFrame:
    """Return saved numbers of queries on four devices, the last of which has others."""
    rng = RNG(5)
    device = np.arange(n) % 4
    found = np.clip(rng.normal(0.5, 0.15, n) + apart * (device == 3), 0, 1)
    at = {"query": np.arange(n), "device": [f"d{i}" for i in device], "rr": found}
    return pl.DataFrame(at | {name: make(rng, n) for name, make in columns.items()})


def of(frame: pl.DataFrame, about: str) -> list[dict[str, Any]]:
    return frame.filter(pl.col("kind") == about).to_dicts()


ROLES = {"query": "query", "value": "rr", "by": "device"}


@pytest.mark.parametrize("apart", [0.0, 0.03, 0.06, 0.1, 0.3])
def test_the_sentence_says_no_more_than_its_p_value(apart: float) -> None:
    """A segment is named if its p-value is below .05, which it says; else one sentence says that none was found."""
    frame = log(apart=apart)
    device = frame["device"].str.tail(1).cast(pl.Int64).to_numpy()
    found = outstanding(frame["rr"].to_numpy(), device, None)
    summary = frame.irm(**ROLES).summary()
    named, nothing = of(summary, "segment"), of(summary, "nothing")
    assert [row["p_adjusted"] for row in named] == ([found.p] if found.p < 0.05 else [])
    assert len(named) + len(nothing) == 1
    for row in named:
        own, whole = frame.filter(device="d3")["rr"].mean(), frame["rr"].mean()
        assert (row["of"], row["correction"], row["n"]) == (f"device = d{found.segment}", "max_t", 100)
        assert (row["value"], row["baseline_value"]) == pytest.approx((own, whole))
        assert row["ci_low"] < row["value"] < row["ci_high"]
        p = "p < 0.001" if found.p < 0.001 else f"p = {found.p:.3f}"
        assert row["sentence"].endswith(f" over all ({p}).")
    for row in nothing:
        assert row["sentence"] == f"Looked for and not found: a segment that stands out (p = {found.p:.3f})."


def test_without_intervals_a_segment_stands_out_too() -> None:
    """The p-value needs no interval."""
    text = log(apart=0.3).irm(**ROLES).report(format="md", ci=None)
    assert "d3 (device) is unusually high, which is better: rr 0.771, 0.567 over all (p" in text


WEIGHED = {"w": lambda rng, n: rng.random(n) + 0.1}
USERS = {"user": lambda rng, n: np.arange(n) // 20}


@pytest.mark.parametrize(
    ("frame", "roles", "options", "words"),
    [
        (log(**WEIGHED), {"weight": "w"}, {}, "queries have weights"),
        (pl.concat([log(), log(40).with_columns(device=pl.lit("d9"))]), {}, {}, "are in several segments"),
        (log(9), {}, {}, "no segment has 5 queries, and as many outside it"),
        (log(**USERS), {"cluster": "user"}, {}, "clusters (user) are too few: a segment needs 5, and 30 if some"),
        (log().rename({"rr": "num_rel"}), {"value": "num_rel"}, {}, "num_rel is a sum"),
        (log().rename({"rr": "gm_ap"}), {"value": "gm_ap"}, {}, "gm_ap is no mean over queries"),
    ],
)
def test_a_segment_is_not_looked_for(
    frame: pl.DataFrame, roles: dict[str, Any], options: dict[str, Any], words: str
) -> None:
    """Where labels cannot be exchanged, one sentence says that no segment is looked for, and why."""
    summary = frame.irm(**(ROLES | roles)).summary(**options)
    assert not of(summary, "segment")
    told = [row["sentence"] for row in of(summary, "absent") if "stands out is looked for" in row["sentence"]]
    assert len(told) == 1
    assert words in told[0]


def test_three_months_are_segments_like_others() -> None:
    """They are too few for a course: what is told of them is what is told of them under other names."""
    rr = np.random.default_rng(0).normal(0.5, 0.1, 300) - 0.15 * (np.arange(300) >= 200)
    log = pl.DataFrame({"query": range(300), "rr": rr})
    told = []
    for names in (["2026-09", "2026-10", "2026-11"], ["alpha", "beta", "gamma"]):
        irm = log.with_columns(month=pl.Series(names).gather(np.arange(300) // 100)).irm(value="rr", by="month")
        told.append(" ".join(irm.summary()["sentence"]).replace(names[2], "the last"))
    assert "the last (month) is unusually low, which is worse: " in told[0]
    assert told[0] == told[1]


def test_users_in_one_segment_and_in_several_are_whole() -> None:
    """Queries of one user are alike: the segment of a few good users does not stand out, that of many does."""
    rng = RNG(3)
    for across, users in product((False, True), (6, 60)):
        user = np.repeat(np.arange(4 * users), 20)
        device = rng.integers(0, 4, len(user)) if across else user % 4
        good = rng.normal(0, 0.2, 4 * users)[user] + 0.12 * (device == 3)
        at = {"query": np.arange(len(user)), "user": user, "device": device, "rr": good}
        frame = pl.DataFrame(at)
        n = len(of(frame.irm(**ROLES, cluster="user").summary(), "segment"))
        alone = len(of(frame.irm(**ROLES).summary(), "segment"))
        assert (n, alone) == (int(users == 60 or (across and n == 1)), 1)


def test_with_a_baseline_a_difference_stands_out() -> None:
    """A device on which all systems are bad does not; one on which the new system is worse does, named by how much."""
    frame = log(apart=0.3)
    rng = RNG(6)
    same = frame.with_columns(rr=pl.col("rr") + 0.02 + rng.normal(0, 0.02, 400))
    worse = same.with_columns(rr=pl.col("rr") - pl.when(device="d1").then(0.1).otherwise(0))
    for new, named in ((same, []), (worse, ["device = d1"])):
        both = pl.concat([frame.with_columns(run=pl.lit("old")), new.with_columns(run=pl.lit("new"))])
        summary = both.irm(**ROLES, system="run").summary(baseline="old")
        saved = new.irm(**ROLES).summary(baseline=frame)
        for found, base in ((summary, "old"), (saved, "saved")):
            rows = of(found, "segment")
            assert [row["of"] for row in rows] == named
            for row in rows:
                assert row["value"] == pytest.approx(-0.08, abs=0.01)
                assert row["baseline_value"] == pytest.approx(-0.005, abs=0.01)
                whose = " for new" if base == "old" else ""
                start = f"d1 (device) is unusually low, which is worse{whose}: rr minus that of {base} is -0.0"
                assert row["sentence"].startswith(start)


def test_cells_of_several_columns_are_one_family() -> None:
    """Of device and country each pair is a segment, and the one that is apart is named with both."""
    frame = log(country=lambda rng, n: [f"c{i // 4 % 3}" for i in range(n)])
    frame = frame.with_columns(rr=pl.col("rr") - pl.when(device="d1", country="c2").then(0.3).otherwise(0))
    (row,) = of(frame.irm(**(ROLES | {"by": ["device", "country"]})).summary(), "segment")
    assert row["of"] == "device = d1, country = c2"


WEEK = [f"2026-W{i + 1:02}" for i in range(4)]


AREA = ["east", "north", "south", "west"]


@pytest.mark.parametrize("of_rows", [False, True])
@pytest.mark.parametrize("names", [WEEK, AREA])
@pytest.mark.parametrize("lost", [{}, {"place": 0.25}, {"device": 0.25}, {"place, device": 0.4}])
def test_of_two_columns_a_level_is_one_segment_more(lost: dict[str, float], names: list[str], of_rows: bool) -> None:
    """Where a week, or a device, is low in all its segments it is named, not one of these; one that is low alone is."""
    n, rng = 720, RNG(2)
    log = pl.DataFrame({"query": range(n), "place": np.repeat(names, 180), "device": [f"d{i % 3}" for i in range(n)]})
    hit = {"place": names[3], "device": "d1"}
    some = {name: hit[name] for low in lost for name in low.split(", ")}
    less = pl.when(**some).then(sum(lost.values())).otherwise(0) if some else 0
    log = log.with_columns(u=rng.random(n), label=rng.random(n) < 0.5).with_columns(right=pl.col("u") < 0.9 - less)
    log = log.with_columns(rr=pl.col("right").cast(pl.Float64), predicted=pl.col("label") == pl.col("right"))
    roles = (
        {"label": "label", "predicted": "predicted", "query": None} if of_rows else {"query": "query", "value": "rr"}
    )
    for by in (["place", "device"], ["device", "place"]):
        rows = of(log.irm(**roles, by=by).summary(*(["accuracy"] if of_rows else [])), "segment")
        parts = [f"{name} = {some[name]}" for name in by if name in some]
        assert [row["of"] for row in rows] == [", ".join(parts)] * bool(some)
        for row in rows:
            own = log.filter(**some)["rr"]
            assert (row["value"], row["n"]) == (pytest.approx(own.mean()), len(own))
            words = " and ".join(f"{some[name]} ({name})" for name in by if name in some)
            assert row["sentence"].startswith(f"{words} is unusually low")


def test_beside_a_device_that_is_low_a_week_is_compared_with_what_devices_let_one_expect() -> None:
    """Each has a sentence; a week with more of the low device is not low for that reason."""
    rng, n = RNG(0), 1200
    week = np.repeat(np.arange(4), 300)
    device = (rng.random(n) < np.where(week == 1, 0.9, 0.3)).astype(int)
    for fell, named in ((0.0, ["device"]), (0.15, ["device", "week"])):
        rr = rng.normal(0.7, 0.1, n) - 0.3 * device - fell * (week == 3)
        log = pl.DataFrame({"query": range(n), "week": np.array(WEEK)[week], "device": device, "rr": rr})
        rows = of(log.irm(query="query", value="rr", by=["week", "device"]).summary(), "segment")
        assert [row["of"].split(" = ")[0] for row in rows] == named
        if fell:
            assert (rows[1]["of"], rows[1]["n"]) == (f"week = {WEEK[3]}", 300)
            means = log.group_by("device").agg(mean=pl.col("rr").mean())
            expected = log.join(means, on="device").filter(week=WEEK[3])["mean"].mean()
            assert rows[1]["baseline_value"] == pytest.approx(expected)
            assert " expected by device (p = 0.001)." in rows[1]["sentence"]


@pytest.mark.parametrize("by", ["week", ["week", "device"]])
def test_with_a_baseline_a_week_in_which_all_systems_fell_is_named(by: Any) -> None:
    """Differences are looked for, as the words say, and the level of a system too."""
    rng, n = RNG(3), 360
    log = pl.DataFrame({"query": range(n), "week": np.repeat(WEEK, 90), "device": [f"d{i % 2}" for i in range(n)]})
    log = log.with_columns(rr=rng.random(n)).with_columns(rr=pl.col("rr") / pl.when(week=WEEK[3]).then(2).otherwise(1))
    both = pl.concat([log.with_columns(run=pl.lit(name)) for name in ("a", "b")])
    both = both.with_columns(rr=pl.col("rr") + rng.normal(0, 0.02, 2 * n))
    summary = both.irm(query="query", value="rr", by=by, system="run").summary(baseline="a")
    (row,) = of(summary, "segment")
    assert row["sentence"].startswith("2026-W04 (week) is unusually low, which is worse for a: rr 0.2")
    (row,) = of(summary, "nothing")
    assert ", a segment in which the difference from a stands out (p = " in row["sentence"]


def test_days_beside_another_column_are_searched_segment_by_segment() -> None:
    """An outage of one device is told with the device; either column alone is looked at too."""
    frame = log(day=lambda rng, n: [f"2026-01-{i // 4 % 20 + 1:02}" for i in range(n)])
    irm = frame.irm(**(ROLES | {"by": ["day", "device"]}))
    (row,) = of(irm.summary(), "nothing")
    assert row["sentence"].startswith("Looked for and not found: a trend, a break or an outage in a segment (p = ")
    hit = (pl.col("device") == "d1") & pl.col("day").is_in(["2026-01-11", "2026-01-12"])
    lower = frame.with_columns(rr=pl.col("rr") - pl.when(hit).then(3).otherwise(0))
    (row,) = of(lower.irm(**(ROLES | {"by": ["day", "device"]})).summary(), "outage")
    assert row["sentence"].startswith("For d1 (device), from 2026-01-11 to 2026-01-12 rr was ")
    for by, words in (("day", "a trend, a break or an outage (p = "), ("device", "a segment that stands out")):
        (row,) = of(irm(by=by).summary(), "nothing")
        assert words in row["sentence"]


@pytest.mark.parametrize("by", [["device", "day"], "device", "day"])
def test_arms_that_are_compared_in_each_device_and_day_are_said_not_to_be_in_each_device(by: Any) -> None:
    """Nor is a trend looked for beside a baseline; what the sentences offer has both."""
    frame = log(800, day=lambda rng, n: [f"2026-01-{i // 40 + 1:02}" for i in range(n)])
    arms = frame.with_columns(arm=pl.Series(["a", "b"]).gather(np.arange(800) // 4 % 2))
    told = [row["sentence"] for row in of(arms.irm(**ROLES | {"by": by}, arm="arm").summary(baseline="a"), "absent")]
    both = isinstance(by, list)
    alone = "Arms are compared in each segment of device and day, not in each device alone; by='device' does that."
    assert told.count(alone) == int(both)
    assert ("No trend, break or outage is looked for beside device; by='day' looks for one." in told) == both


def test_one_sentence_has_all_that_was_not_found() -> None:
    """Of two systems, a segment where the other one is better is looked for too."""
    frame = log()
    both = pl.concat(
        [frame.with_columns(run=pl.lit(name), rr=pl.col("rr") + more) for name, more in (("a", 0), ("b", 0.1))]
    )
    (row,) = of(both.irm(**ROLES, system="run").summary(), "nothing")
    start = "Looked for and not found: a segment in which another system is better, a segment that stands out (p = 0."
    assert row["sentence"].startswith(start)


def test_a_split_that_is_off_in_segments_is_said_before_the_difference() -> None:
    """Arms that are split as planned in all, but not on each device, are not compared in silence."""
    rows = [
        (f"{arm}{device}{i}", arm, device, float(i < hits))
        for arm, device, n, hits in [
            ("a", "m", 300, 90),
            ("a", "d", 700, 420),
            ("b", "m", 700, 245),
            ("b", "d", 300, 195),
        ]
        for i in range(n)
    ]
    frame = pl.DataFrame(rows, schema=["query", "arm", "device", "success@1"], orient="row")
    for split, off in (({"a": 0.5, "b": 0.5}, True), (None, False)):
        summary = frame.irm(query="query", arm="arm", value="success@1", by="device").summary(split=split)
        said = of(summary, "split")
        assert len(said) == int(off)
        assert all("in device = d, a has 700, b has 300 queries" in row["sentence"] for row in said)
        assert all("and so in 1 more segment" in row["sentence"] for row in said)
        (row,) = of(summary, "difference")
        assert row["sentence"].endswith("but units were not assigned as planned.") is off


def ranked() -> pl.DataFrame:
    """Return results of 80 queries; on one device the relevant one is last, by the scores in the column score alone."""
    rng, at = RNG(0), np.arange(240)
    device, first = at // 3 % 4, at % 3 == 0
    score = np.where(first, np.where(device == 2, 0.0, 0.9), 0.5) + rng.random(240) * 0.3
    columns = {"query": at // 3, "doc": [f"x{i % 3}" for i in at], "grade": first.astype(int), "score": score}
    return pl.DataFrame(columns | {"other": rng.random(240), "device": [f"d{i}" for i in device], "user": at // 6})


@pytest.mark.parametrize("kind", [*KINDS, "file", "lists"])
def test_a_segment_of_every_kind_of_frame_stands_out(kind: str, tmp_path: Path) -> None:
    """Of frames, files and lists as rows; of users; of two columns of scores the difference does."""
    frame: Any = ranked()
    if kind == "file":
        frame.write_parquet(tmp_path / "log.parquet")
        frame = pl.scan_parquet(tmp_path / "log.parquet")
    elif kind == "lists":
        frame = frame.group_by("query", "device", "user", maintain_order=True).agg("score", "other", "grade")
    else:
        frame = as_kind(frame, kind)
    roles = {"query": "query", "grade": "grade", "by": "device"} | ({} if kind == "lists" else {"doc": "doc"})
    calls = [({"score": "score"}, {}), ({"score": "score", "cluster": "user"}, {})]
    calls += [] if kind == "lists" else [({"score": ["score", "other"]}, {"baseline": "other"})]
    for more, options in calls:
        (row,) = of(as_polars(IRM(frame, **roles, **more).summary("rr", **options)), "segment")
        assert row["of"] == "device = d2"
        whose = " for score" if options else ""
        assert row["sentence"].startswith(f"d2 (device) is unusually low, which is worse{whose}: rr ")
        assert row["baseline_value"] == pytest.approx(0.1924 if options else 0.8333, abs=1e-3)


@pytest.mark.parametrize("names", [(None, 3), (date(2026, 1, 1), date(2026, 1, 2)), ("", "3"), ({"a": 1}, {"a": 2})])
@pytest.mark.parametrize("role", ["system", "arm"])
def test_the_best_system_of_any_name_is_looked_at(names: tuple[Any, Any], role: str) -> None:
    """It may have a null, a time, an empty text or a struct as its name; of arms it is the same."""
    frame = ranked()
    both = [frame, frame.with_columns(score=pl.col("other"))]
    runs = [one.with_columns(pl.Series("run", [name] * len(one))) for one, name in zip(both, names, strict=True)]
    second = pl.int_range(480) >= 240
    log = pl.concat(runs, how="vertical_relaxed").with_columns(query=pl.col("query") + second * 1000 * (role == "arm"))
    roles = {"query": "query", "grade": "grade", "doc": "doc", "score": "score", "by": "device", role: "run"}
    split: Any = {"split": "equal"} if role == "arm" else {}  # of periods the earlier would be the baseline
    split = {"split": dict.fromkeys(names, 0.5)} if role == "arm" and None in names else split  # null is named too
    (row,) = of(log.irm(**roles).summary("rr", **split), "segment")
    assert (row["of"], row["n"]) == ("device = d2", 20)
    assert row["value"] == pytest.approx(1 / 3)


def test_segments_that_are_not_named_are_counted() -> None:
    """Three segments in which another system is better are named; the rest are a number."""
    rng = np.random.default_rng(8)
    country = np.arange(400) % 5
    old = 0.7 + rng.normal(0, 0.1, 400)
    new = old + np.where(country == 1, -0.3, 0.04) + rng.normal(0, 0.05, 400)
    frame = pl.DataFrame(
        {
            "query": [*range(400)] * 2,
            "country": np.tile(country, 2),
            "system": np.repeat(["old", "new"], 400),
            "rr": np.concatenate([old, new]).clip(0, 1),
        }
    )
    said = frame.irm(system="system", by="country", value="rr").summary(baseline="old")["sentence"].to_list()
    assert sum(" (country), new " in sentence for sentence in said) == 3
    assert "Another system is better in 1 more segment." in said


def test_of_arms_the_segment_that_changed_most_is_named() -> None:
    """Not the one with the lowest level: with a baseline the greatest change that the tests of all segments tell."""
    rng = np.random.default_rng(0)
    n = 800
    device = np.array(["desktop", "mobile", "tablet", "tv"])[np.arange(n) % 4]
    arm = np.array(["new", "old"])[np.arange(n) // 4 % 2]
    mean = np.where(device == "tv", 0.1, 0.6) - 0.3 * ((device == "mobile") & (arm == "new"))
    shop = pl.DataFrame({"query": range(n), "arm": arm, "device": device, "rr": mean + rng.normal(0, 0.1, n)})
    summary = shop.irm(query="query", arm="arm", value="rr", by="device").summary(baseline="old")
    (where,) = summary.filter(place=4).to_dicts()
    assert (where["kind"], where["of"]) == ("difference", "device = mobile")
    assert where["sentence"].startswith("For mobile (device), new loses to old: rr ")
    assert summary["place"].drop_nulls().to_list() == sorted({*summary["place"].drop_nulls()})
