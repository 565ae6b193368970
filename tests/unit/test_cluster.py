"""Queries that belong together: intervals and tests that take their clusters as independent."""

from collections.abc import Callable
from datetime import date, datetime
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from polars import testing as pl_testing

from comparisons import Pair, resampled
from frame_metrics import IRM, BadValueError
from inside import expanded_level
from refusals import check

DRAWN = {"permutations": 500, "resamples": 300}
SURE = ("ci_low", "ci_high", "p_value", "p_adjusted", "mde")
TESTS = ("randomization", "bootstrap")
SEEDS = range(4)


def values_of(seed: int, systems: int = 2, clusters: int = 8, most: int = 5) -> tuple[Any, Any]:
    """Values of queries, shape (queries, systems), and the cluster of each: of unlike sizes, their queries apart."""
    rng = np.random.default_rng(seed)
    size = rng.integers(1, most + 1, clusters)
    cluster = rng.permutation(np.repeat(np.arange(clusters), size))
    mixed = rng.normal(size=(clusters, systems))[cluster] + rng.normal(size=(len(cluster), systems))
    return np.round(np.abs(mixed) + np.arange(systems) / 4, 3), cluster


def frame_of(values: Any, cluster: Any, **columns: Any) -> pl.DataFrame:
    """A log whose dcg@1 is the values themselves, by system and query."""
    n, systems = values.shape
    names = np.repeat([f"s{i}" for i in range(systems)], n)
    frame = pl.DataFrame({"system": names, "query": np.tile(np.arange(n), systems), "grade": values.T.ravel()})
    more = {name: np.tile(column, systems) for name, column in {"user": cluster, **columns}.items()}
    return frame.with_columns(score=1.0, **{name: pl.Series(column) for name, column in more.items()})


def comparing(values: Any, cluster: Any | None, **options: Any) -> pl.DataFrame:
    """Compare the systems; without clusters where they are None."""
    frame = frame_of(values, np.zeros(len(values)) if cluster is None else cluster)
    irm = IRM(frame, system="system", cluster=None if cluster is None else "user")
    return irm.compare("dcg@1", **{**DRAWN, **options})


def sure(frame: pl.DataFrame) -> list[tuple[Any, ...]]:
    return frame.select(SURE).rows()


def interval(frame: pl.DataFrame, **options: Any) -> list[tuple[Any, ...]]:
    """The intervals of the mean value."""
    roles = {name: options.pop(name) for name in ("cluster", "by", "system", "weight") if name in options}
    return IRM(frame, **roles).evaluate("dcg@1", ci=0.9, **options).select("ci_low", "ci_high").rows()


# A cluster of each query is no cluster


@pytest.mark.parametrize("average", ["macro", "gmean", "micro"])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_cluster_for_each_query_is_no_cluster(seed: int, average: Any) -> None:
    """Clusters of one query each give the intervals of none, to the last bit, for every average and segment."""
    values, _ = values_of(seed)
    n = len(values)
    frame = frame_of(values, np.random.default_rng(seed).permutation(n), day=np.arange(n) % 3)
    asked = ("precision@1", "tp@1") if average == "micro" else ("dcg@1", "tp@1")
    irm = IRM(frame, system="system", by="day", rel=1)
    given: Any = {"average": average, "ci": 0.9, "margins": True}
    assert irm(cluster="user").evaluate(*asked, **given).equals(irm.evaluate(*asked, **given))


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("seed", SEEDS)
def test_comparing_with_a_cluster_for_each_query_is_comparing_queries(seed: int, test: str) -> None:
    """Clusters of one query each give every column that there is without."""
    values, _ = values_of(seed, systems=3)
    own = np.random.default_rng(seed).permutation(len(values)) * 7
    assert comparing(values, own, test=test).equals(comparing(values, None, test=test))


# What is not new adds nothing


@pytest.mark.parametrize("seed", SEEDS)
def test_queries_that_stand_twice_in_their_cluster_add_nothing(seed: int) -> None:
    """A query logged again, within its cluster, leaves the interval; taken for a new one it makes it shorter."""
    values, _ = values_of(seed, systems=1, clusters=20)
    n = len(values)
    once, twice = frame_of(values, np.arange(n)), frame_of(np.tile(values, (2, 1)), np.tile(np.arange(n), 2))
    ((low, high),) = interval(once)
    assert interval(twice, cluster="user") == [pytest.approx((low, high), abs=1e-12)]
    ((lower, higher),) = interval(twice)
    assert higher - lower < 0.9 * (high - low)


# By hand and by another way


def test_a_p_value_by_hand() -> None:
    """Three clusters with sums 3, -1 and 2: of eight ways to flip, (+++), (+-+) and their opposites reach 4."""
    difference, cluster = np.array([1.0, 2.0, 1.0, -2.0, 2.0]), np.array(["a", "a", "b", "b", "c"])
    values = np.stack([np.full(5, 2.0), 2 + difference], axis=1)
    row = comparing(values, cluster).row(0, named=True)
    assert (row["difference"], row["p_value"]) == (pytest.approx(0.8), 0.5)
    assert (row["wins"], row["ties"], row["losses"], row["n"]) == (4, 0, 1, 5)
    assert row["mde"] is None  # no flip of three clusters has a p below .25
    apart = np.array([3 - 2 * 0.8, -1 - 2 * 0.8, 2 - 0.8])
    error = np.sqrt(3 / 2 * (apart**2).sum()) / 5
    factor = 1.8856181 + 1.0606602  # quantiles of Student's t with 2 degrees of freedom at .9 and .8
    assert comparing(values, cluster, test="bootstrap", ci=0.8)["mde"].item() == pytest.approx(factor * error)
    assert row["effect_size"] == pytest.approx(0.8 / difference.std(ddof=1))


def test_differences_that_cancel_within_clusters_are_none() -> None:
    """Where the differences of every cluster add up to 0, but for what floats leave, p is 1."""
    values = np.tile([[0, 0.1], [0, 0.2], [0.3, 0]], (6, 1))
    assert sum(values[:3, 1] - values[:3, 0]) > 0
    for test in TESTS:
        for permutations in (10, 500):
            found = comparing(values, np.repeat(np.arange(6), 3), test=test, permutations=permutations)
            assert found["p_value"].to_list() == [1.0], test


@pytest.mark.parametrize("seed", SEEDS)
def test_intervals_are_percentiles_of_means_of_resampled_clusters(seed: int) -> None:
    """Draws one by one, with the same seed, give the ends of evaluate(), at the level of 20 clusters."""
    values, cluster = values_of(seed, clusters=20)
    means = resampled([Pair(value, 0, 1, unit) for value, unit in zip(values[:, 0], cluster, strict=True)], 400, seed)
    found = interval(frame_of(values[:, :1], cluster), cluster="user", resamples=400, seed=seed)
    tail = (1 - expanded_level(0.9, 20)) / 2
    assert found == [pytest.approx(tuple(np.quantile(means, [tail, 1 - tail])), abs=1e-12)]


def drawn_clusters(sums: Any, finish: Callable[[Any], Any], level: float) -> Any:
    """The ends of what ``finish`` makes of the sums of clusters, shape (columns, clusters), drawn with the seed 0."""
    drawn = np.random.default_rng([0, 0]).integers(0, sums.shape[1], (10_000, sums.shape[1]))
    return pytest.approx(tuple(np.quantile(finish(sums[:, drawn].sum(axis=2)), [(1 - level) / 2, (1 + level) / 2])))


def test_a_count_is_summed_over_the_clusters_drawn() -> None:
    """The interval of a sum is that of the sum over as many clusters as there are, whatever queries they have."""
    hits = np.array([1, 2, 3, 4, 5])
    values = np.concatenate([[*np.ones(n), 0.0] for n in hits])[:, None]
    frame = frame_of(values, np.repeat(np.arange(5), hits + 1))
    found = IRM(frame, cluster="user").evaluate("tp@1", ci=0.9, resamples=200)
    expected = drawn_clusters(hits[None], lambda sums: sums[0], expanded_level(0.9, 5))
    assert found.select("value", "n").rows() == [(15.0, 20)]
    assert found.select("ci_low", "ci_high").row(0) == expected


def test_weighted_means_are_of_the_clusters_drawn() -> None:
    """A weighted mean is over resampled clusters, at the level of Kish's number of clusters of their weights."""
    values, weight = np.arange(12.0)[:, None], np.tile([1.0, 2.0, 1.0], 4)
    cluster = np.repeat(np.arange(6), 2)
    frame = frame_of(values, cluster, w=weight)
    found = IRM(frame, cluster="user", weight="w").evaluate("dcg@1", ci=0.9, resamples=200)
    sums = np.array([np.bincount(cluster, weight * values[:, 0]), np.bincount(cluster, weight)])
    kish = sums[1].sum() ** 2 / (sums[1] ** 2).sum()
    assert 5 < kish < 6
    expected = drawn_clusters(sums, lambda sums: sums[0] / sums[1], expanded_level(0.9, kish))
    assert found.select("ci_low", "ci_high").row(0) == expected


# Segments, systems, few clusters


def test_segments_have_their_own_clusters_and_totals_have_all() -> None:
    """Each segment draws its clusters as if it were alone; a user in two segments is one cluster of the total."""
    values, cluster = values_of(0, systems=1, clusters=10)
    day = np.arange(len(values)) % 2
    frame = frame_of(values, cluster, day=day)
    found = interval(frame, cluster="user", by="day", margins=True)
    alone = [interval(frame.filter(pl.col("day") == d), cluster="user")[0] for d in (0, 1)]
    assert found == [pytest.approx(one, abs=1e-12) for one in [*alone, interval(frame, cluster="user")[0]]]


def test_systems_are_compared_within_segments() -> None:
    """In every segment compare() says what it says of the segment alone."""
    values, cluster = values_of(3, clusters=20)
    frame = frame_of(values, cluster, day=np.arange(len(values)) % 2)
    irm = IRM(frame, system="system", cluster="user")
    found = irm(by="day").compare("dcg@1", correction="none", **DRAWN)
    for d in (0, 1):
        own = IRM(frame.filter(pl.col("day") == d), system="system", cluster="user")
        expected = own.compare("dcg@1", correction="none", **DRAWN)
        assert sure(found.filter(pl.col("day") == d)) == [pytest.approx(row, abs=1e-12) for row in sure(expected)]


def test_a_query_in_two_segments_may_have_two_clusters() -> None:
    """The cluster is that of a query in its segment."""
    frame = frame_of(np.ones((3, 1)), np.array([1, 2, 3]), day=np.array([0, 0, 1])).with_columns(
        query=pl.Series([7, 8, 7])
    )
    assert IRM(frame, cluster="user", by="day").evaluate("dcg@1", ci=0.9)["n"].to_list() == [2, 1]


def test_queries_are_paired_before_clusters_are_summed() -> None:
    """A query that is dropped leaves its cluster, and a cluster that loses all its queries is none."""
    values, cluster = values_of(5, clusters=9)
    frame = frame_of(values, cluster)
    gone = pl.col("system").eq("s1") & pl.col("user").is_in([0, 1])
    kept = ~np.isin(cluster, [0, 1])
    irm = IRM(frame.filter(~gone), system="system", cluster="user")
    found = irm(unanswered="drop").compare("dcg@1", **DRAWN)
    assert sure(found) == sure(comparing(values[kept], cluster[kept]))
    zero = np.where(np.isin(cluster, [0, 1])[:, None] & np.array([False, True]), 0, values)
    assert sure(irm.compare("dcg@1", **DRAWN)) == sure(comparing(zero, cluster))


@pytest.mark.parametrize("test", TESTS)
def test_one_cluster_leaves_null(test: str) -> None:
    """One cluster, of many queries or of one, gives no interval, p-value or mde; what the values are stays."""
    values, _ = values_of(1)
    for n in (1, len(values)):
        row = comparing(values[:n], np.zeros(n), test=test).row(0, named=True)
        assert [row[name] for name in SURE] == [None] * 5
        assert (row["n"], row["difference"]) == (n, pytest.approx((values[:n, 1] - values[:n, 0]).mean()))
        assert (row["effect_size"] is None) == (n == 1)
        assert interval(frame_of(values[:n, :1], np.zeros(n)), cluster="user") == [(None, None)]


def test_an_interval_needs_two_clusters_with_a_defined_query() -> None:
    """Where a metric is defined for the queries of one cluster only, its ends are null; two clusters are enough."""
    frame = frame_of(np.array([[1.0], [1.0], [0.0]]), np.array([1, 1, 2]))
    irm = IRM(frame, cluster="user", undefined="null")
    assert irm.evaluate("rr", ci=0.9).select("ci_low", "ci_high", "n").rows() == [(None, None, 2)]
    wilson = pytest.approx((2 / (2 + NormalDist().inv_cdf(0.95) ** 2), 1.0))
    assert irm(cluster=None).evaluate("rr", ci=0.9).select("ci_low", "ci_high").row(0) == wilson
    other = frame.with_columns(user=pl.Series([1, 2, 2]))
    found = IRM(other, cluster="user", undefined="null").evaluate("rr", ci=0.9)
    assert found.select("ci_low", "ci_high").row(0) == wilson


# Judgments beside


def test_judged_queries_without_results_have_the_cluster_of_the_judgments() -> None:
    """What a system did not answer counts in the cluster that the judgments name, with ids of another width too."""
    values, cluster = values_of(2, systems=1)
    values[:5] = 0
    frame = frame_of(values, cluster).with_columns(doc=pl.lit("d"))
    qrels = frame.select("query", "doc", pl.col("grade").clip(0.5), pl.col("user").cast(pl.Int32))
    run = frame.select("query", "doc", "score", "user").filter(pl.col("query") >= 5)
    found = run.irm(cluster="user").judge(qrels).evaluate("cg@1", ci=0.9)
    # queries are drawn by their names, wherever their rows are
    grades = np.where(np.arange(len(values)) < 5, 0, np.clip(values[:, 0], 0.5, None))[:, None]
    assert found.select("ci_low", "ci_high").rows() == interval(frame_of(grades, cluster), cluster="user")
    small = run.with_columns(pl.col("user").cast(pl.Int8))
    large = qrels.with_columns(user=pl.when(pl.col("query") < 5).then(pl.col("user") + 1000).otherwise("user"))
    assert small.irm(cluster="user").judge(large).evaluate("cg@1", ci=0.9)["n"].to_list() == [len(values)]
    with pytest.raises(BadValueError, match=r"^user: 5 judged queries without results have no cluster; give the judg"):
        run.irm(cluster="user").judge(qrels.drop("user")).evaluate("cg@1")
    text = qrels.with_columns(pl.col("user").cast(pl.String))
    with pytest.raises(BadValueError, match=r"^user of the judgments is text, and user of the log is Int64; give bo"):
        run.irm(cluster="user").judge(text).evaluate("cg@1")


@pytest.mark.parametrize("role", ["weight", "cluster"])
def test_what_the_judgments_say_of_a_query_is_said_of_it_in_its_segment(role: str) -> None:
    """A query without results in a segment has what the judgments say there, though it has results in another."""
    run = pl.DataFrame({"query": ["a", "b"], "day": [1, 1], "doc": ["x", "x"], "score": [1.0, 1.0], "own": [1, 2]})
    qrels = pl.DataFrame(
        {"query": ["a", "b", "a", "c"], "day": [1, 1, 2, 2], "doc": ["x"] * 4, "grade": [1] * 4, "own": [1, 2, 3, 3]}
    )
    irm = IRM(run, by="day", **{role: "own"}).judge(qrels)
    found = irm.evaluate("recall", ci=0.9)
    assert found["value"].to_list() == [1.0, 0.0]
    z, kish = NormalDist().inv_cdf(0.95), {"weight": 9 / 5, "cluster": 2}[role]  # of the weights 1 and 2
    low = pytest.approx(kish / (kish + z**2))
    assert found["ci_low"].to_list() == [low, 0.0 if role == "weight" else None]
    other = qrels.with_columns(own=pl.Series([1, 2, 3, 4]), grade=pl.Series([1, 1, 1, 1]))
    found = IRM(run, by="day", **{role: "own"}).judge(other).evaluate("recall", ci=0.9)
    assert found["ci_low"].to_list() == [low, 0.0]


def test_weights_of_queries_that_only_the_judgments_have_are_those_of_their_segment() -> None:
    """A query that no segment answers has in each the weight that the judgments name there."""
    run = pl.DataFrame({"query": ["a", "b"], "day": [1, 2], "doc": ["x", "x"], "score": [1.0, 1.0], "own": [1, 1]})
    qrels = pl.DataFrame(
        {"query": ["a", "b", "c", "c"], "day": [1, 2, 1, 2], "doc": ["x"] * 4, "grade": [1] * 4, "own": [1, 1, 1, 3]}
    )
    assert IRM(run, by="day", weight="own").judge(qrels).evaluate("recall")["value"].to_list() == [0.5, 0.25]


def test_log_and_judgments_name_one_cluster() -> None:
    """Judgments that contradict themselves or the log are an error, and so are those without a cluster."""
    run = pl.DataFrame({"query": ["a", "b"], "doc": ["x", "x"], "score": [1.0, 1.0], "user": ["u", "v"]})
    qrels = pl.DataFrame({"query": ["a", "b"], "doc": ["x", "x"], "grade": [1, 1], "user": ["u", "v"]})
    twice = pl.concat([qrels, qrels.with_columns(doc=pl.lit("y"), user=pl.lit("v"))])
    for beside, message in (
        (qrels.with_columns(user=pl.lit("u")), "user: log and judgments differ in the value of a query; give each"),
        (twice, "user (of the judgments): rows of one query differ (of 'a'); give each query one value"),
        (
            qrels.with_columns(user=pl.lit(None, dtype=pl.String)),
            "user (of the judgments): 2 of 2 rows have no cluster (rows 0, 1); give every row one",
        ),
    ):
        with pytest.raises(BadValueError) as error:
            run.irm(cluster="user").judge(beside).evaluate("rr")
        assert str(error.value).startswith(message)
    assert run.irm(cluster="user").judge(qrels).evaluate("rr")["value"].to_list() == [1.0]


# Rows without a query


def decided(seed: int, clusters: int = 12) -> pl.DataFrame:
    """Rows with a class, a prediction and a cluster."""
    rng = np.random.default_rng(seed)
    user = rng.permutation(np.repeat(np.arange(clusters), rng.integers(1, 6, clusters)))
    actual = rng.integers(0, 3, len(user))
    right = rng.random(clusters)[user] > rng.random(len(user))
    frame = {"label": actual, "predicted": np.where(right, actual, rng.integers(0, 3, len(user))), "user": user}
    return pl.DataFrame(frame).with_columns(w=pl.Series(rng.integers(1, 4, len(user))))


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("seed", SEEDS)
def test_pooled_rows_are_drawn_by_cluster(seed: int, weight: str | None) -> None:
    """Draws of clusters, in the order of the rows that they have, give the ends; moved, at the level of so many."""
    rows = decided(seed, clusters=20)
    given: Any = {"ci": 0.9, "resamples": 300, "seed": seed, "method": "bootstrap"}
    found = IRM(rows, query=None, weight=weight, cluster="user").evaluate("accuracy", **given)
    read = ["label", "predicted", *([weight] if weight else [])]
    parts = {user: rows.filter(pl.col("user") == user).sort(read) for user in rows["user"].unique()}
    kinds = rows.select(read).unique().sort(read).with_row_index("kind")
    held = {user: part.join(kinds, on=read)["kind"].value_counts().sort("kind").rows() for user, part in parts.items()}
    units = sorted(parts, key=held.__getitem__)
    random, values = np.random.default_rng(seed), []
    for _ in range(300):
        drawn = pl.concat([parts[units[at]] for at in random.integers(0, len(units), len(units))])
        mass = np.ones(len(drawn)) if weight is None else drawn["w"].to_numpy()
        values.append(((drawn["label"] == drawn["predicted"]).to_numpy() * mass).sum() / mass.sum())
    sums = rows.group_by("user").agg(pl.len() if weight is None else pl.col("w").sum().alias("len"))["len"].to_numpy()
    level = expanded_level(0.9, sums.sum() ** 2 / (sums**2).sum())
    moved = np.array(values) + found["value"].item() - np.mean(values)
    ends = np.quantile(np.clip(moved, 0, 1), [(1 - level) / 2, (1 + level) / 2])
    assert found.select("ci_low", "ci_high").row(0) == pytest.approx(tuple(ends))


@pytest.mark.parametrize("weight", [None, "w"])
def test_pooled_rows_with_a_cluster_each_have_none(weight: str | None) -> None:
    """A cluster for each row is no cluster; one for all leaves null; each segment has its own."""
    rows = decided(0).with_row_index("own").with_columns(day=pl.col("own") % 2, one=pl.lit("x"))
    irm = IRM(rows, query=None, by="day", weight=weight)
    given: Any = {"ci": 0.9, "margins": True, "resamples": 100}
    plain = irm.evaluate("accuracy", "f1", **given)
    assert irm(cluster="own").evaluate("accuracy", "f1", **given).equals(plain)
    none = irm(cluster="one").evaluate("accuracy", "f1", **given)
    assert none.drop("ci_low", "ci_high").equals(plain.drop("ci_low", "ci_high"))
    assert none.select("ci_low", "ci_high").null_count().row(0) == (6, 6)
    found = irm(cluster="user").evaluate("accuracy", **given)
    assert not found.equals(irm.evaluate("accuracy", **given))
    days = [IRM(rows.filter(pl.col("day") == d), query=None, weight=weight, cluster="user") for d in (0, 1)]
    alone = [one.evaluate("accuracy", ci=0.9, resamples=100) for one in days]
    expected = [one.select("ci_low", "ci_high").row(0) for one in alone]
    assert found.select("ci_low", "ci_high").rows()[:2] == [pytest.approx(one) for one in expected]


@pytest.mark.parametrize("weight", [None, "w"])
def test_clusters_that_are_matched_have_the_intervals_of_their_classes(weight: Any) -> None:
    """Found clusters stay what they were taken for; users are drawn by what their rows hold, so ends differ a bit."""
    irm = IRM(decided(0), query=None, cluster="user", weight=weight, match="majority")
    taken = irm.confusion().select("predicted", "matched").unique()
    said = (
        irm.frame.join(taken, on="predicted", maintain_order="left").drop("predicted").rename({"matched": "predicted"})
    )
    expected = IRM(said, query=None, cluster="user", weight=weight).evaluate("accuracy", ci=0.9)
    pl_testing.assert_frame_equal(irm.evaluate("accuracy", ci=0.9), expected, abs_tol=0.02)


# What a cluster may be


MADE: dict[str, Callable[[Any], pl.Series]] = {
    "text": lambda c: pl.Series([f"u{one}" for one in c]),
    "category": lambda c: pl.Series([f"u{one}" for one in c], dtype=pl.Categorical),
    "enum": lambda c: pl.Series([f"u{one}" for one in c], dtype=pl.Enum([f"u{one}" for one in range(20)])),
    "date": lambda c: pl.Series([date(2024, 1, 1 + int(one)) for one in c]),
    "small integer": lambda c: pl.Series(c, dtype=pl.UInt8),
    "float": lambda c: pl.Series(c / 2),
    "moment": lambda c: pl.Series([datetime(2024, 1, 1, 0, 0, 0, int(one)) for one in c]),
    "integers far apart": lambda c: pl.Series(np.where(c == 0, -(2**61), 2**61 + c)),
    "neighbours past 2**53": lambda c: pl.Series(c, dtype=pl.UInt64) + (2**64 - 100),
    "integers of 128 bits": lambda c: pl.Series([2**100 + int(one) for one in c], dtype=pl.Int128),
    "from -128": lambda c: pl.Series(np.where(c == 0, -128, 100 + c), dtype=pl.Int8),
    "truth": lambda c: pl.Series(c),
    "bytes": lambda c: pl.Series([str(one).encode() for one in c]),
}


@pytest.mark.parametrize("kind", MADE)
def test_a_cluster_is_of_any_type(kind: str) -> None:
    """Numbers, texts, categories and dates tell clusters apart; only which are equal matters."""
    values, cluster = values_of(4)
    cluster = cluster > 3 if kind == "truth" else cluster
    frame = frame_of(values, cluster)
    other = frame.with_columns(user=MADE[kind](np.tile(cluster, 2)))
    for verb in (
        lambda irm: irm.evaluate("dcg@1", ci=0.9),
        lambda irm: irm.compare("dcg@1", **DRAWN),
    ):
        found = [verb(IRM(one, system="system", cluster="user")) for one in (frame, other)]
        assert found[0].equals(found[1])


KINDS: dict[str, Callable[[pl.DataFrame], Any]] = {
    "lazy": lambda frame: frame.lazy(),
    "Arrow": lambda frame: frame.to_arrow(),
    "pandas": lambda frame: pd.DataFrame(frame.to_dict(as_series=False)),
    "pandas with categories": lambda frame: pd.DataFrame(frame.to_dict(as_series=False)).astype({"user": "category"}),
    "pandas with tuples": lambda frame: pd.DataFrame(frame.to_dict(as_series=False)).assign(
        user=lambda given: [(one, 0) for one in given["user"]]
    ),
}


def test_rows_of_a_query_may_stand_in_any_order() -> None:
    """Only the order in which queries first appear matters: other rows below may stand anywhere."""
    values, cluster = values_of(6)
    frame = frame_of(values, cluster)
    below = frame.with_columns(score=0.5, grade=0.0)
    below = pl.concat([below.with_columns(score=0.5 / i) for i in (1, 2)])
    first = pl.concat([frame, below])
    second = pl.concat([frame, below.sample(fraction=1, shuffle=True, seed=1)])
    irms = [IRM(one, system="system", cluster="user") for one in (first, second)]
    one, other = (irm.evaluate("dcg@1", ci=0.9) for irm in irms)
    assert one.equals(other)
    one, other = (irm.compare("dcg@1", **DRAWN) for irm in irms)
    assert one.equals(other)


def test_the_names_of_clusters_do_not_matter() -> None:
    """Clusters renamed, so that they sort otherwise, are drawn alike."""
    values, cluster = values_of(7)
    renamed = np.random.default_rng(0).permutation(100)[cluster]
    assert comparing(values, cluster).equals(comparing(values, renamed))
    assert interval(frame_of(values[:, :1], cluster), cluster="user") == interval(
        frame_of(values[:, :1], renamed), cluster="user"
    )


# What does not look at clusters


def test_verbs_that_draw_nothing_are_as_without() -> None:
    """Means, queries, explanations, audits, tables and curves are what they are without clusters."""
    values, cluster = values_of(8)
    frame = frame_of(values, cluster).with_columns(doc=pl.col("system"))
    irm = IRM(frame, system="system", doc="doc", grade="grade", score="score", rel=1)
    for verb in (
        lambda one: one.evaluate("dcg@1", "rr"),
        lambda one: one.per_query("dcg@1"),
        lambda one: one.explain("dcg@1", query=0),
        lambda one: one.audit().filter(pl.col("check") != "few clusters"),
        lambda one: one.thresholds(),
        lambda one: one.curve("roc"),
        lambda one: one.compare("dcg@1", per_query=True),
        lambda one: one(query=None, threshold=0.5, system=None, doc=None).evaluate("recall"),
    ):
        assert verb(irm(cluster="user")).equals(verb(irm))


# Errors


def log(**columns: Any) -> pl.DataFrame:
    return pl.DataFrame({"query": [1, 1, 2], "score": [2.0, 1.0, 1.0], "grade": [1, 0, 1]} | columns)


def of_two(user: list[int]) -> IRM[pl.DataFrame]:
    """Return what compares two systems on two queries."""
    return IRM(
        frame_of(np.ones((2, 2)), np.array([1, 2])).with_columns(user=pl.Series(user)), system="system", cluster="user"
    )


# Read, it would be refused for its grades.
UNREAD = frame_of(np.ones((3, 2)), np.array([1, 1, 2])).with_columns(grade=pl.lit("bad")).lazy()
REFUSALS = r"""
log(user=["u", None, "v"]).irm(cluster="user").evaluate("rr")
log(user=["u", None, "v"]).irm(cluster="user").evaluate("rr", ci=0.9)
log(user=["u", None, "v"]).irm(cluster="user", query=None, threshold=1.5).evaluate("precision")
log(user=["u", None, "v"]).irm(cluster="user", query=None, threshold=1.5).evaluate("precision", ci=0.9)
    BadRowsError: user: 1 of 3 rows has no cluster (row 1); give every row one
log(user=[1.0, 2.0, float("nan")]).irm(cluster="user").evaluate("rr")
log(user=[1.0, 2.0, float("nan")]).irm(cluster="user").evaluate("rr", ci=0.9)
    BadRowsError: user: 1 of 3 rows is NaN (row 2); give every row a cluster
log(user=["u", "v", "v"]).irm(cluster="user").evaluate("rr")
log(user=["u", "v", "v"]).irm(cluster="user").evaluate("rr", ci=0.9)
    BadRowsError: user: 1 of 3 rows differs from another row of its query (row 1); give each query one value
    but: log(user=["u", "v", "w"]).irm(cluster="user", query=None, threshold=1.5).evaluate("precision", ci=0.9)
log(user=["u", "v", "v"], run=["a", "b", "a"]).irm(cluster="user", system="run").evaluate("rr")
log(user=["u", "v", "v"], run=["a", "b", "a"]).irm(cluster="user", system="run").evaluate("rr", ci=0.9)
    BadRowsError: user: 1 of 3 rows differs from another system in the value of its query (row 1); give each query one
        value
of_two([1, 2, 2, 2]).compare("rr")
    BadRowsError: user: 1 of 4 rows differs from another system in the value of its query (row 2); give each query one
        value
    but: log(user=["u", "u", "v"], run=["a", "b", "a"]).irm(cluster="user", system="run").evaluate("rr", ci=0.9)
    but: of_two([1, 2, 1, 2]).compare("rr")
log(users=[1, 1, 2]).irm(cluster="user").evaluate("rr")
log(users=[1, 1, 2]).irm(cluster="user").evaluate("rr", ci=0.9)
    ColumnError: cluster='user': there is no such column among 'query', 'score', 'grade', 'users'; did you mean 'users'?
log(user=[1, 1, 2]).irm(cluster="user", by="user").evaluate("rr")
log(user=[1, 1, 2]).irm(cluster="user", by="user").evaluate("rr", ci=0.9)
    ColumnError: by='user' is the cluster too; a column can have only one role
log(user=[1, 1, 2]).irm(cluster="user", weight="user").evaluate("rr")
    ColumnError: cluster='user' is the weight too; a column can have only one role
    but: log(user=[1, 1, 2]).irm(query=["user", "query"], cluster="user").evaluate("rr", ci=0.9)
    but: log(user=[1, 1, 2]).irm(cluster="user").evaluate("rr")
log().irm(cluster=VALUE)
    for: ["a", "b"], 3.5, ()
    BadValueError: cluster=VALUE is not the name of a column
    but: log(user=[1, 1, 2]).irm(cluster="user").evaluate("rr", ci=0.9)
UNREAD.irm(system="system", cluster="user").compare("rr", test=VALUE)
    for: "t", "wilcoxon", "sign"
    NotComputableError: test=VALUE takes every query as independent, and user says which belong together; pass test= as
        one of 'randomization', 'bootstrap', or cluster=None
    but: of_two([1, 2, 1, 2]).compare("rr", test="randomization")
"""


def test_bad_clusters() -> None:
    """A cluster that is missing, or not one for a query, is an error, whether it is used or not."""
    check(REFUSALS, globals())


def test_a_share_of_which_one_cluster_has_nearly_all_the_weight() -> None:
    """It has an interval, nearly of all shares; of rows too."""
    frame = pl.DataFrame(
        {"query": range(6), "rr": [1.0, 0, 1, 1, 0, 1], "w": [1e4, 1, 1, 1, 1, 1], "c": [0, 0, 1, 2, 3, 4], "p": 1}
    )
    irm = frame.irm(value="rr", weight="w", cluster="c")
    rows = frame.with_columns(pl.col("rr").cast(int)).irm(
        query=None, label="rr", predicted="p", weight="w", cluster="c"
    )
    for found in (irm.evaluate(ci=0.95), rows.evaluate("accuracy", ci=0.95)):
        ((low, high),) = found.select("ci_low", "ci_high").rows()
        assert 0 <= low < 0.05
        assert 0.99 < high <= 1
