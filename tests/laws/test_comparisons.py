"""Every kind of comparison, with every role and by every test, beside one reference in plain Python."""

from __future__ import annotations

import random
from itertools import combinations
from statistics import NormalDist
from typing import Any

import polars as pl
import pytest

from comparisons import Column, Pair, Stand, detected, error_of, max_t, of_arms, of_pairs, of_strata, p_of_pairs
from frame_metrics import NotComputableError
from helpers import error

ROLES: tuple[dict[str, str], ...] = ({}, {"weight": "w"}, {"cluster": "user"}, {"weight": "w", "cluster": "user"})
ALIKE = ("t", "wilcoxon", "sign")  # tests to which every query counts alike, and by itself
FEW: dict[str, Any] = {"ci": 0.9, "resamples": 60}


def close(found: dict[str, Any], expected: dict[str, Any]) -> None:
    """Raise unless a row has what is expected."""
    told = {name: found[name] for name in expected}
    assert told == {
        name: None if one is None else pytest.approx(one, rel=1e-9, abs=1e-12) for name, one in expected.items()
    }


# Pairs

SYSTEMS = ("a", "b", "c")


def made(seed: int, n: int = 9) -> list[dict[str, Any]]:
    """Queries with the value of each system, of which one at most does not answer it: None; some values are equal."""
    rng = random.Random(seed)
    queries = []
    for query in range(n):
        values: dict[str, float | None] = {name: rng.randrange(1, 12) / 4 for name in SYSTEMS}
        if rng.random() < 0.4:
            values[rng.choice(SYSTEMS)] = None
        queries.append({"query": query, "w": rng.randrange(9) / 2, "user": rng.randrange(4), **values})
    for place in (0, 1):  # two users who weigh
        queries[place] |= {"user": place, "w": 1.5}
    return queries


def paired(queries: list[dict[str, Any]], one: str, other: str, roles: dict[str, str], dropped: bool) -> list[Pair]:
    """The pairs of two systems: of a query that one does not answer 0, or none."""
    return [
        Pair(
            query[one] or 0.0,
            query[other] or 0.0,
            query["w"] if "weight" in roles else 1,
            query["user"] if "cluster" in roles else None,
        )
        for query in queries
        if not dropped or None not in (query[one], query[other])
    ]


def log_of(queries: list[dict[str, Any]], *more: str) -> pl.DataFrame:
    """The log whose cg are these values; ``more``: other columns of queries."""
    wide = pl.DataFrame(queries).with_columns(score=1.0)
    return wide.unpivot(
        SYSTEMS, index=["query", "w", "user", "score", *more], variable_name="run", value_name="grade"
    ).filter(pl.col("grade").is_not_null())


@pytest.mark.parametrize("unanswered", ["zero", "drop"])
@pytest.mark.parametrize("test", ["randomization", "bootstrap", *ALIKE])
def test_pairs(test: Any, unanswered: Any) -> None:
    """Every number of a comparison of pairs is that of the reference, whatever roles there are."""
    for seed, roles in enumerate(ROLES):
        queries = made(seed)
        irm = log_of(queries).irm(system="run", unanswered=unanswered, **roles)
        if test in ALIKE and roles:
            assert f"test={test!r}" in error(lambda irm=irm: irm.compare("cg", test=test), NotComputableError)  # type: ignore[misc]
            continue
        rows = irm.compare("cg", test=test, seed=seed, correction="none", **FEW).rows(named=True)
        assert [(row["run"], row["baseline"]) for row in rows] == [("b", "a"), ("c", "a"), ("c", "b")]
        for row in rows:
            pairs = paired(queries, row["run"], row["baseline"], roles, unanswered == "drop")
            alone = sum((query[row["run"]] is None) != (query[row["baseline"]] is None) for query in queries)
            lacking = sum(None in (query[row["run"]], query[row["baseline"]]) for query in queries)
            counts = {"n_unpaired": alone, "n_undefined": 0, "n_unanswered": lacking}
            close(
                row,
                of_pairs(pairs, seed=seed, flips=test not in ("t", "bootstrap"), draws=test == "bootstrap", **FEW)
                | counts,
            )
            close(row, {"p_value": p_of_pairs(test, pairs, FEW["resamples"], seed)})


@pytest.mark.parametrize("unanswered", ["zero", "drop"])
@pytest.mark.parametrize("over", ["metric", "all"])
def test_all_pairs_together(over: Any, unanswered: Any) -> None:
    """Corrected p-values and intervals of a family are those of every flip, whatever roles, segments and gaps it has.

    With ``over="all"`` segments are flipped together: a user who is in both is flipped in both.
    """
    for seed, roles in enumerate(ROLES):
        queries = [query | {"day": day} for day in (0, 1) for query in made(seed + day, n=5)]
        queries = [query | {"query": at if over == "all" else at % 5} for at, query in enumerate(queries)]
        frame = log_of(queries, "day")
        irm = frame.irm(system="run", by="day", unanswered=unanswered, **roles)
        found = irm.compare("cg", over=over, permutations=5000, ci=0.9).rows(named=True)
        columns = {
            (day, other, one): Column.of(
                [
                    (pair.unit if "cluster" in roles else query["query"], pair)
                    for query in queries
                    for pair in paired([query], other, one, roles, unanswered == "drop")
                    if query["day"] == day
                ]
            )
            for day in (0, 1)
            for one, other in combinations(SYSTEMS, 2)
        }
        for day in (0, 1):
            own = [column for (of, *_), column in columns.items() if over == "all" or of == day]
            p, wide = max_t(own, 0.9)
            for row in (row for row in found if row["day"] == day):
                column = columns[day, row["run"], row["baseline"]]
                far = max(wide, column.away(0.9)) * column.error
                low, high = (column.mean - far, column.mean + far) if far < float("inf") else (None, None)
                at = next(i for i, other in enumerate(own) if other is column)
                p_value = p_of_pairs("randomization", [Pair(one, 0.0) for one in column.sums.values()])
                close(row, {"p_adjusted": max(p[at], p_value), "ci_low": low, "ci_high": high})
                assert row["correction"] == "max_t"


# Arms


def stands_of(seed: int, alone: tuple[int, int], shared: int) -> list[Stand]:
    """Queries of users of one arm, and of both."""
    rng = random.Random(seed)
    stands = []
    for user, arms in enumerate(["A"] * alone[0] + ["B"] * alone[1] + ["AB"] * shared):
        worth, before = rng.gauss(5, 1), round(rng.gauss(0, 1), 3)
        stands += [
            Stand(arm, user, round(worth + before + rng.gauss(0, 1), 3), rng.randrange(1, 5) / 2, before)
            for arm in arms
            for _ in range(rng.randrange(1, 4))
        ]
    return rng.sample(stands, len(stands))


@pytest.mark.parametrize("covariate", [None, "before"])
@pytest.mark.parametrize("test", ["randomization", "t", "z", "bootstrap"])
def test_arms(test: Any, covariate: str | None) -> None:
    """Difference, interval, p-value and counts of arms are those of the reference, whether or not they share users."""
    for seed, (alone, shared) in enumerate([((4, 5), 0), ((3, 4), 3), ((0, 0), 6), ((2, 0), 4), ((0, 1), 4)]):
        for roles in ROLES:
            stands = stands_of(seed, alone, shared)
            if "cluster" not in roles:
                stands = [one._replace(unit=place) for place, one in enumerate(stands[:10])]
            if "weight" not in roles:
                stands = [one._replace(weight=1.0) for one in stands]
            columns = ["arm", "user", "v", "w", "before", "device"]
            frame = pl.DataFrame(stands, schema=columns, orient="row").with_row_index("query")
            irm = frame.irm(query="query", arm="arm", value="v", **roles)
            found = irm.ab_test(test=test, covariate=covariate, ci=0.9, permutations=20_000)
            expected = of_arms(stands, test, covariate=covariate is not None, ci=0.9)
            if test == "bootstrap":  # whose draws are told by what comes near the formulas
                expected = {name: one for name, one in expected.items() if name not in ("ci_low", "ci_high", "p_value")}
            close(found.row(0, named=True), expected)


@pytest.mark.parametrize("test", ["randomization", "t", "z", "bootstrap"])
def test_arms_with_strata(test: Any) -> None:
    """Difference, interval and p-value of arms with strata are those of the reference."""
    for seed in range(3):
        for roles in ROLES:
            stands = []
            for at, (name, alone) in enumerate({"x": (3, 2), "y": (2, 4)}.items()):
                own = [one._replace(unit=one.unit + 10 * at, stratum=name) for one in stands_of(seed, alone, 0)]
                if "cluster" not in roles:
                    own = [one for arm in "AB" for one in [one for one in own if one.arm == arm][:3]]
                    own = [one._replace(unit=place + 20 * at) for place, one in enumerate(own)]
                stands += own
            stands = stands if "weight" in roles else [one._replace(weight=1.0) for one in stands]
            rows = [(one.arm, str(one.unit), one.value, one.weight, one.stratum) for one in stands]
            frame = pl.DataFrame(rows, schema=["arm", "user", "v", "w", "device"], orient="row").with_row_index("query")
            irm = frame.irm(query="query", arm="arm", value="v", **roles)
            found = irm.ab_test(test=test, strata="device", ci=0.9, permutations=20_000)
            expected = of_strata(stands, test, ci=0.9)
            if test == "bootstrap":  # whose draws are told by what comes near the formulas
                expected = {name: expected[name] for name in ("difference", "mde")}
            close(found.row(0, named=True), expected)


# Rows without a query, of which a share is decided rightly


def decided(seed: int, docs: int = 90) -> pl.DataFrame:
    """Decisions of two systems about the same documents, of users with three."""
    rng = random.Random(seed)
    rows = []
    for doc in range(docs):
        label, ease, weight = rng.random() < 0.4, rng.gauss(0.7, 0.2), rng.randrange(1, 5) / 2
        for run, more in (("a", 0), ("b", 0.1)):
            rows.append((run, doc, doc % (docs // 3), weight, label, rng.random() < ease + more))
    frame = pl.DataFrame(rows, schema=["run", "doc", "user", "w", "label", "right"], orient="row")
    return frame.with_columns(predicted=pl.col("label") == pl.col("right"))


def near_draws(row: dict[str, Any], difference: float, error: float) -> None:
    """Raise unless an interval and mde of draws come near those of a normal difference with this error."""
    assert row["difference"] == pytest.approx(difference, abs=1e-12)
    ends = [difference + sign * NormalDist().inv_cdf(0.975) * error for sign in (-1, 1)]
    assert [row["ci_low"], row["ci_high"]] == pytest.approx(ends, abs=0.25 * error)
    assert row["mde"] == pytest.approx(detected(error, 0.95), rel=0.08)


@pytest.mark.parametrize("roles", ROLES, ids=str)
def test_shares_of_rows_of_pairs(roles: dict[str, str]) -> None:
    """A share of rows is the mean of 0 and 1, and McNemar's test the sign test of documents."""
    frame = decided(1)
    (row,) = frame.irm(system="run", doc="doc", **roles).compare("accuracy", resamples=2000).rows(named=True)
    pairs = [
        Pair(one["b"], one["a"], one["w"] if "weight" in roles else 1, one["user"] if "cluster" in roles else None)
        for one in frame.pivot(on="run", index=["doc", "user", "w"], values="right").rows(named=True)
    ]
    told = of_pairs(pairs)
    close(row, {name: told[name] for name in ("value", "wins", "ties", "losses", "n", "effect_size")})
    if not roles:
        assert row["test"] == "mcnemar_mid_p"
        (exact,) = frame.irm(system="run", doc="doc").compare("accuracy", test="mcnemar")["p_value"]
        assert exact == pytest.approx(p_of_pairs("sign", pairs), rel=1e-9)
        assert row["p_value"] < exact
    columns = Column.of([(place if one.unit is None else one.unit, one) for place, one in enumerate(pairs)])
    near_draws(row, told["difference"], columns.error)


@pytest.mark.parametrize(
    ("shared", "roles"), [(False, roles) for roles in ROLES] + [(True, roles) for roles in ROLES if "cluster" in roles]
)
def test_shares_of_rows_of_arms(shared: bool, roles: dict[str, str]) -> None:
    """A share of rows is the mean of users' rows, whether or not users stand in both arms."""
    even = pl.col("user") % 2 == 0
    frame = decided(2, 900).filter(even | (pl.col("run") == "a") if shared else even == (pl.col("run") == "a"))
    stands = [
        Stand(
            "AB"[one["run"] == "b"],
            one["user"] if "cluster" in roles else place,
            one["right"],
            one["w"] if "weight" in roles else 1,
        )
        for place, one in enumerate(frame.rows(named=True))
    ]
    (row,) = frame.irm(arm="run", **roles).ab_test("accuracy", resamples=2000).rows(named=True)
    near_draws(row, *error_of(stands))
