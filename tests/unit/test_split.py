"""The split of the units of an online test between its arms, as audit(split=) looks at it."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

from frame_metrics import IRM, BadValueError
from helpers import KINDS, as_kind, as_polars, error
from inside import chi_square, split_exactly
from refusals import check

HALVES = {"A": 0.5, "B": 0.5}
MISMATCH, SEVERAL, SPLIT = "sample ratio mismatch", "units of several arms", "units split"


def arms(**n: int) -> pl.DataFrame:
    """A log of so many queries of each arm, with one relevant result each, two queries to a user."""
    arm = [name for name, count in n.items() for _ in range(count)]
    frame = pl.DataFrame({"arm": arm, "query": range(len(arm)), "score": 1.0, "label": 1})
    return frame.with_columns(user=pl.format("{}{}", "arm", pl.int_range(pl.len()).over("arm") // 2))


def told(frame: pl.DataFrame, split: Any = HALVES, **roles: Any) -> dict[str, tuple[Any, ...]]:
    """The findings of the split: severity, n, share, example and message by check."""
    found = IRM(frame, arm="arm", **roles).audit(split=split)
    some = found.filter(pl.col("check").is_in([MISMATCH, SEVERAL, SPLIT]))
    return {row[0]: row[1:] for row in some.rows()}


@pytest.mark.parametrize(
    ("counts", "shares", "p"),
    [
        ([600, 400], [0.5, 0.5], "2.54e-10"),  # Wikipedia, "Sample ratio mismatch", its example
        ([44_000, 45_000], [0.5, 0.5], "8.02e-04"),  # srm.osc.garden, its example: 0.0008
        ([25, 25, 50], [0.25, 0.25, 0.5], "1.00e+00"),
        ([10, 0], [0.5, 0.5], "1.57e-03"),  # chi-square is 10
        ([0, 0], [0.5, 0.5], "1.00e+00"),
        ([1_000_000, 1], [0.5, 0.5], "0.00e+00"),
    ],
)
def test_the_chi_square_test_of_shares_by_hand(counts: list[int], shares: list[float], p: str) -> None:
    """Values from the literature, and at the ends."""
    assert f"{chi_square(np.array(counts), np.array(shares)):.2e}" == p


@pytest.mark.parametrize("groups", range(2, 9))
def test_the_chi_square_test_of_shares_is_scipys(groups: int) -> None:
    """For odd and even degrees of freedom, near and far."""
    rng = np.random.default_rng(groups)
    for size in (20, 1000, 10**6):
        shares = rng.dirichlet(np.ones(groups))
        for counts in (rng.multinomial(size, shares), rng.multinomial(size, np.full(groups, 1 / groups))):
            expected = stats.chisquare(counts, counts.sum() * shares).pvalue
            assert chi_square(counts, shares) == pytest.approx(expected, rel=1e-9, abs=1e-300)


def test_a_split_as_it_was_meant_is_a_fact() -> None:
    """The units of each arm and p are told, and nothing is wrong: not that the arms share no query either."""
    found = arms(A=52, B=48).irm(query="query", arm="arm").audit(split=HALVES)
    assert found.filter(pl.col("severity").is_in(["error", "warning"])).is_empty()
    assert found.filter(check=SPLIT).row(0) == (
        *(SPLIT, "fact", 100, None, None),
        "A has 52, B has 48 queries, and their shares should be 0.5, 0.5: p is 0.69 (chi-square test)",
    )


def test_a_mismatch_is_a_warning() -> None:
    """Of 1000 queries 600 are in A, 100 more than they should be; as many are right for other shares."""
    severity, n, share, example, message = told(arms(A=600, B=400))[MISMATCH]
    assert (severity, n, share, example) == ("warning", 100, 0.1, "A")
    assert message.startswith("A has 600, B has 400 queries, and their shares should be 0.5, 0.5: p is 2.5e-10; ")
    assert MISMATCH not in told(arms(A=600, B=400), {"B": 0.4, "A": 0.6})
    assert told(arms(A=60, B=60, C=10), {"A": 0.4, "B": 0.3, "C": 0.3})[MISMATCH][3] == "B"


@pytest.mark.parametrize("counts", [(550, 450), (551, 449), (552, 448), (553, 447)])
def test_a_mismatch_begins_below_one_in_a_thousand(counts: tuple[int, int]) -> None:
    """p is .0016, .0013, .0010 (more than .001) and .0008."""
    found = told(arms(A=counts[0], B=counts[1]))
    assert (MISMATCH in found) == (stats.chisquare(counts).pvalue < 0.001)


def test_units_are_clusters_where_they_are_named() -> None:
    """Two queries of a user are one unit; a user in both arms counts in each, and is a finding."""
    found = told(arms(A=20, B=30), cluster="user")
    assert found[SPLIT][4].startswith("A has 10, B has 15 clusters (user), and their shares")
    assert SEVERAL not in found
    same = arms(A=20, B=30).with_columns(pl.col("user").str.slice(1))
    found = told(same, cluster="user")
    assert found[SPLIT][4].startswith("A has 10, B has 15 clusters (user), and their shares")
    assert found[SEVERAL][:3] == ("warning", 10, 10 / 15)
    assert found[SEVERAL][4] == (
        "clusters (user) that are in more than one arm: ab_test() counts each as one unit; in an online "
        "test, the effect of one arm is then also in the other"
    )


@pytest.mark.parametrize("kind", ["queries", "rows", "values"])
@pytest.mark.parametrize(
    ("names", "found"), [("AB", [10]), (("before", "after"), []), (("2026-01-05", "2026-01-12"), [])]
)
def test_clusters_of_several_arms_are_found_without_shares(kind: str, names: Any, found: list[int]) -> None:
    """All ten users of A are users of B, too: of an online test that is odd, and periods may share users."""
    named = pl.col("arm").replace([*"AB"], [*names])
    same = arms(A=20, B=30).with_columns(pl.col("user").str.slice(1), arm=named)
    irm = same.irm(query="query", arm="arm", cluster="user")
    irm = {
        "queries": irm,
        "rows": irm(query=None, score=None, predicted="score"),
        "values": irm(score=None, label=None, value="score"),
    }[kind]
    audit = irm.audit()
    assert audit.filter(check=SEVERAL)["n"].to_list() == found
    assert not audit["check"].is_in([MISMATCH, SPLIT]).any()
    assert SEVERAL not in irm(cluster=None).audit()["check"].to_list()
    told = irm.summary(*{"queries": ["precision@1"], "rows": ["accuracy"], "values": []}[kind]).filter(kind="audit")
    assert told["sentence"].str.starts_with("Units of several arms (10 users)").any() == bool(found)


@pytest.mark.parametrize("kind", KINDS)
def test_a_column_of_users_without_a_role_is_told_of_arms(kind: str) -> None:
    """Their searches are not split one by one; a name that is not usual, and systems, are none."""
    log, check = as_kind(arms(A=20, B=30).with_columns(predicted=1), kind), "users that are not named"
    of_values = {"query": "query", "value": "score", "label": None}
    for some in ({"query": "query"}, {"query": None, "score": None}, of_values):
        found = as_polars(IRM(log, arm="arm", **some).audit()).filter(check=check)
        assert found.select("severity", "n", "example").rows() == [("info", 1, "user")]
        assert "pass cluster='user'" in found["message"].item()
        for way in ({"cluster": "user"}, {"arm": None, "by": "arm"}):
            assert check not in as_polars(IRM(log, **{"arm": "arm"} | some | way).audit())["check"].to_list()


@pytest.mark.parametrize("by", [None, "device"])
@pytest.mark.parametrize("kind", ["queries", "rows"])
def test_units_without_an_arm_are_no_third_arm(kind: str, by: str | None) -> None:
    """Of 90 queries 30 have no arm: the split is that of the others, and a summary compares these alone."""
    rng = np.random.default_rng(0)
    log = arms(A=300, B=300, C=150).with_columns(
        arm=pl.col("arm").replace({"C": None}),
        label=pl.Series(rng.integers(0, 2, 750)),
        device=pl.Series(rng.choice(["phone", "web"], 750)),
        predicted=1,
    )
    irm = log.irm(query="query", arm="arm", cluster="user", by=by)
    irm, metric = (irm, "precision@1") if kind == "queries" else (irm(query=None, score=None), "accuracy")
    some = IRM(log.drop_nulls("arm"), **irm.roles)
    for split in (None, "equal", HALVES):
        left, own = (one.summary(metric, baseline="A", split=split) for one in (irm, some))
        of_difference = [one.filter(kind="difference").drop("place") for one in (left, own)]
        assert len(of_difference[0])
        assert_frame_equal(*of_difference)
        if split is None:
            continue
        found = irm.ab_test(metric, split=split)
        assert found["split_p_value"].unique().sort().to_list() == (
            some.ab_test(metric, split=split)["split_p_value"].unique().sort().to_list()
        )
        n = log.filter(pl.col("arm").is_null()).group_by(by or pl.lit("all")).agg(pl.col("user").n_unique())
        notes = [f"{one} clusters (user) with no arm are left out of the split" for one in n["user"]]
        assert {*found["split_note"]} == {*notes}
        assert irm.audit(split=split).filter(check=SPLIT)["n"].item() == 300


RARE, FEW = "rare values", "few units with another value"


@pytest.mark.parametrize("kind", KINDS)
def test_rare_values_are_a_finding(kind: str) -> None:
    """Of 100 users of A 4 have clicks, in each search, and of 900 of B 36: 4 of 40 can be expected in A.

    Of as many who click once or not there is nothing to say of ab_test(), and of 400 and 600 users who click, nothing.
    """

    def told(clicks: Any, *users: int, **roles: Any) -> dict[str, list[Any]]:
        each = [user for users_of_arm in users for user in range(users_of_arm)]
        arm = [name for name, n in zip("AB", users, strict=True) for _ in range(n)]
        frame = pl.DataFrame({"arm": arm, "user": range(len(arm)), "hits": [clicks(user) for user in each]})
        frame = pl.concat([frame, frame]).with_row_index("query")
        if not roles:
            frame = frame.with_columns(rank=pl.lit([1, 2, 3])).explode("rank")
            frame = frame.with_columns(label=(pl.col("rank") <= pl.col("hits")).cast(pl.Int64)).drop("hits")
        irm = IRM(as_kind(frame, kind), query="query", arm="arm", cluster="user", **roles)
        found = as_polars(irm.audit(split={"A": 0.1, "B": 0.9})).filter(pl.col("check").is_in([RARE, FEW]))
        return {one["check"]: [one["severity"], one["n"], one["example"], one["message"]] for one in found.to_dicts()}

    found = told(lambda user: 2 + user % 2 if user % 25 == 0 else 0, 100, 900)
    assert found[RARE][:3] == ["warning", 100, "A"]
    assert found[FEW][:3] == ["warning", 100, "A"]
    named = "clusters (user)"
    assert found[RARE][3].startswith(
        f"A has 100 {named}, and 4 of them can be expected to have relevant results other than 0, which most have: "
    )
    assert found[FEW][3].startswith(f"A has 4 {named} with relevant results other than 0, which most have: of fewer ")
    found = told(lambda user: 2 + user % 2 if user % 25 == 0 else 0, 100, 900, value="hits")
    assert "to have hits other than 0" in found[RARE][3]
    assert told(lambda user: 2.0 + user % 2, 400, 600) == {}


def test_values_of_two_kinds_are_never_too_rare() -> None:
    """Shares that are equal vary as much, so ab_test() is right; of so few units t, z and the bootstrap are wrong."""
    frame = pl.DataFrame({"arm": ["A"] * 100 + ["B"] * 900, "v": [*[1.0] * 2, *[0.0] * 980, *[1.0] * 18]})
    found = frame.with_row_index("query").irm(arm="arm", value="v").audit(split={"A": 0.1, "B": 0.9})
    some = found.filter(pl.col("check").is_in([RARE, FEW])).select("check", "n", "share", "example")
    assert some.rows() == [(FEW, 100, 0.1, "A")]


def test_of_two_arms_with_few_units_that_of_fewer_is_told() -> None:
    """Whatever the order of the rows: of B one query of twenty differs, of A two."""
    frame = pl.DataFrame({"arm": ["A"] * 20 + ["B"] * 20, "v": [1.0, 2.0, *[0.0] * 18, 3.0, *[0.0] * 19]})
    for each in (frame.with_row_index("query"), frame.with_row_index("query").reverse()):
        found = each.irm(query="query", arm="arm", value="v").audit(split=HALVES)
        told = found.filter(pl.col("check").is_in([RARE, FEW]))["check", "n", "share", "example"].sort("check").rows()
        assert told == [(FEW, 20, 0.5, "B"), (RARE, 20, 0.5, "A")]


def test_a_mismatch_without_users_offers_to_name_them() -> None:
    """Queries of one user are not split one by one; where users are named nothing is offered."""
    way = "if users were split, name them with cluster=: the {} of one user are not split one by one"
    assert told(arms(A=600, B=400))[MISMATCH][4].endswith(way.format("queries"))
    rows = pl.DataFrame({"arm": [*"AB"], "label": [1, 0], "predicted": 1, "n": [600, 400]})
    assert told(rows, count="n")[MISMATCH][4].endswith(way.format("rows"))
    named = told(arms(A=1200, B=800), cluster="user")
    assert named[MISMATCH][4].endswith("find the cause before you compare them")


def test_queries_of_both_arms_are_a_finding() -> None:
    """A query id in both arms is one query too many; the finding about segments says nothing of it."""
    frame = arms(A=5, B=5).with_columns(query=pl.Series([*range(5), *range(3, 8)]))
    found = frame.irm(query="query", arm="arm").audit(split=HALVES)
    assert told(frame)[SEVERAL][:3] == ("warning", 2, 0.25)
    assert "queries in several segments" not in found["check"].to_list()


def test_rows_without_a_query() -> None:
    """Units are rows, as many as they stand for, or clusters."""
    rows = pl.DataFrame({"arm": [*"AAB"], "label": [1, 0, 1], "predicted": 1, "n": [5, 6, 9], "user": [1, 1, 2]})
    assert told(rows)[SPLIT][4].startswith("A has 2, B has 1 rows, and")
    assert told(rows, count="n")[SPLIT][4].startswith("A has 11, B has 9 rows, and")
    assert told(rows, cluster="user")[SPLIT][4].startswith("A has 1, B has 1 clusters (user), and")
    assert told(rows.with_columns(n=pl.col("n") * 100), {"A": 0.4, "B": 0.6}, count="n")[MISMATCH][1] == 300


def test_each_arm_is_looked_at_over_its_own_queries() -> None:
    """As a system each arm lacks the queries of the other; as an arm nothing is amiss, with split= or without."""
    frame = arms(A=30, B=30)
    lacking = {"queries without results", "systems that share almost no query"}
    assert lacking <= {*frame.irm(query="query", system="arm").audit()["check"]}
    for split in (None, HALVES, "equal"):
        assert not lacking & {*frame.irm(query="query", arm="arm").audit(split=split)["check"]}


def test_arms_that_share_queries_are_no_segments() -> None:
    """A query of both arms, whose ranks stand in one arm each, is a unit of several, and nothing is said of by=."""
    rows = {"query": [1, 1, 2, 2], "rank": [1, 2, 1, 2], "arm": [*"ABAB"], "label": [1, 0, 0, 1]}
    found = pl.DataFrame(rows).irm(query="query", arm="arm").audit(split=HALVES)
    assert found.filter(check=SEVERAL)["n"].to_list() == [2]
    assert not found["message"].str.contains("by=").any()


def test_users_that_only_the_judgments_know() -> None:
    """Their column may stand in the judgments, as in every verb; queries without one are left out."""
    frame = arms(A=4, B=6).with_columns(doc=pl.lit("x"))
    qrels = frame.select("query", "doc", "label", "user").filter(pl.col("query") > 1)
    irm = frame.drop("label", "user").irm(query="query", arm="arm", cluster="user").judge(qrels)
    said = irm.audit(split=HALVES).filter(check=SPLIT)["message"].item()
    assert said.startswith("A has 1, B has 3 clusters (user), and")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_frame(kind: str) -> None:
    """Whatever the frame; a lazy one is not run before it is collected, and bad names are an error then."""
    frame = IRM(as_kind(arms(A=600, B=400), kind), query="query", arm="arm")
    assert MISMATCH in as_polars(frame.audit(split=HALVES))["check"].to_list()
    assert "is not among the arms" in error(lambda: frame.audit(split={"A": 0.5, "C": 0.5}), BadValueError)
    assert "1 finding" in error(lambda: frame.audit("warning", split=HALVES), BadValueError)


def test_arms_may_have_names_of_any_type() -> None:
    """Numbers, and null; lists are named in the error."""
    frame = arms(A=5, B=5)
    numbered = frame.with_columns(arm=pl.col("arm").replace_strict({"A": 1, "B": 2}))
    assert told(numbered, {1: 0.5, 2: 0.5})[SPLIT][1] == 10
    lists = frame.with_columns(arm=pl.concat_list("arm", "arm"))  # which no mapping can have as a key
    said = error(lambda: told(lists, HALVES), BadValueError)
    assert said == "split: 'A' is not among the arms of arm: ['A', 'A'], ['B', 'B']"
    null = frame.with_columns(arm=pl.col("arm").replace({"A": None}))
    for split in ({None: 0.5, "B": 0.5}, "equal"):  # of two arms it is one, named or not
        assert told(null, split)[SPLIT][4].startswith("None has 5, B has 5 queries")
    three = arms(A=5, B=5, C=5).with_columns(arm=pl.col("arm").replace({"A": None}))
    assert told(three, {None: 0.4, "B": 0.3, "C": 0.3})[SPLIT][4].startswith("None has 5, B has 5, C has 5 queries")


def of(split: Any, **given: Any) -> pl.DataFrame:
    """Audit two arms by the shares that each should have."""
    return IRM(**{"frame": arms(A=3, B=4), "arm": "arm", **given}).audit(split=split)


REFUSALS = r"""
of(0.5)
    BadValueError: split=0.5 is not a share for each of two arms, as {'A': 0.5, 'B': 0.5}, nor 'equal'
of({"A": 1.0})
    BadValueError: split={'A': 1.0} is not a share for each of two arms, as {'A': 0.5, 'B': 0.5}, nor 'equal'
of({"A": "half", "B": 0.5})
    BadValueError: split: 'A' has 'half', and a share is a number between 0 and 1
of({"A": 50, "B": 50})
    BadValueError: split: 'A' has 50, and a share is a number between 0 and 1
of({"A": 0, "B": 1})
    BadValueError: split: 'A' has 0, and a share is a number between 0 and 1
of({"A": 0.5, "B": 0.6})
    BadValueError: split: shares add up to 1.1, and should add up to 1
of({"A": 0.5, "C": 0.5})
    BadValueError: split: 'C' is not among the arms of arm: 'A', 'B'
of({"A": 0.5, "C": 0.5}, frame=arms(A=2, B=2, C=2))
    BadValueError: split: 'B' of arm has no share; give each arm one
of(HALVES, arm=None)
    ColumnError: split= requires arm=, the arms of a test; name their column with arm=
    but: of({"A": 0.25, "B": 0.75})
    but: of({"A": 0.25, "B": 0.25, "C": 0.5}, frame=arms(A=2, B=2, C=2))
"""


def test_bad_input() -> None:
    """Each is an error in the caller's words, with the way out."""
    check(REFUSALS, globals())


def test_shares_may_be_rounded() -> None:
    """They need to add up to 1 but for what floats lose."""
    assert told(arms(A=10, B=10, C=10), {"A": 1 / 3, "B": 1 / 3, "C": 1 / 3})[SPLIT][1] == 30
    assert told(arms(A=10, B=20, C=70), {"A": 0.1, "B": 0.2, "C": 0.7})[SPLIT][1] == 100


# Segments

IN_SEGMENT = "sample ratio mismatch in a segment"


def devices(**n: tuple[int, int]) -> pl.DataFrame:
    """A log of so many queries of the arms A and B on each device."""
    parts = [arms(A=a, B=b).with_columns(device=pl.lit(name)) for name, (a, b) in n.items()]
    return pl.concat(parts).with_columns(query=pl.int_range(pl.len()))


def off(frame: Any, split: Any = HALVES, **roles: Any) -> list[tuple[Any, ...]]:
    """The findings about segments: severity, n, share, example and message."""
    found = as_polars(IRM(frame, **{"arm": "arm", "by": "device", **roles}).audit(split=split))
    return [row[1:] for row in found.filter(check=IN_SEGMENT).rows()]


@pytest.mark.parametrize("kind", KINDS)
def test_segments_that_are_off_though_all_together_are_not(kind: str) -> None:
    """Of the phones 250 to 150, of the web 150 to 250, together 400 to 400: two findings, and a fact with p = 1."""
    frame = devices(phone=(250, 150), web=(150, 250), tv=(30, 34))
    found = off(as_kind(frame, kind))
    assert [row[:4] for row in found] == [("warning", 50, 0.125, "phone"), ("warning", 50, 0.125, "web")]
    p = stats.binomtest(250, 400).pvalue
    assert [row[4].partition("; ")[0] for row in found] == [
        f"A has {a}, B has {b} queries, and their shares should be 0.5, 0.5: p is {p * holm:.2g}, corrected for 3 "
        "segments (exact binomial test)"
        for a, b, holm in ((250, 150, 3), (150, 250, 3))  # of equal ones Holm's second is no less than the first
    ]
    audit = as_polars(IRM(as_kind(frame, kind), query="query", arm="arm", by="device").audit(split=HALVES))
    assert MISMATCH not in audit["check"].to_list()
    (fact,) = audit.filter(check=SPLIT)["message"]
    assert fact.startswith("A has 430, B has 434 queries")
    assert off(as_kind(frame, kind), by=None) == []


def test_the_gate_stops_for_a_segment() -> None:
    """fail_on= raises with the segments' findings."""
    irm = IRM(devices(phone=(250, 150), web=(150, 250)), query="query", arm="arm", by="device")
    assert "2 findings" in error(lambda: irm.audit("warning", split=HALVES), BadValueError)


def test_segments_are_corrected_for_their_number() -> None:
    """p is .00044: below .001 alone, as one of two .00088, and as one of three .0013."""
    odd = (120, 71)
    assert 0.001 / 3 < stats.binomtest(120, 191).pvalue < 0.001 / 2
    assert [row[3] for row in off(devices(a=odd, b=(90, 91)))] == ["a"]
    assert off(devices(a=odd, b=(90, 91), c=(90, 90))) == []
    assert len(off(devices(a=odd, b=(90, 91), c=(300, 100)))) == 2  # Holm: the lesser one has left


def test_one_segment_is_the_whole() -> None:
    """It is no second finding."""
    frame = devices(phone=(600, 400))
    assert off(frame) == []
    assert MISMATCH in told(frame, by="device")


def test_the_whole_and_a_segment() -> None:
    """Both are told where both are off, and an arm that a segment lacks has none there."""
    frame = devices(phone=(300, 0), web=(300, 310))
    assert MISMATCH in told(frame, by="device")
    ((severity, n, share, example, message),) = off(frame)
    assert (severity, n, share, example) == ("warning", 150, 0.5, "phone")
    assert message.startswith("A has 300, B has 0 queries")


def test_a_rare_arm_in_small_segments_is_no_mismatch() -> None:
    """One unit of an arm of a hundredth alone in its segment: chi-square says 3e-23, and it happens one time in 100."""
    shares = {"A": 0.99, "B": 0.01}
    frame = devices(big=(990, 10), small=(0, 1), pair=(1, 1))
    assert chi_square(np.array([0, 1]), np.array([0.99, 0.01])) < 1e-22
    assert off(frame, shares) == []


def test_segments_of_several_columns() -> None:
    """Names have all values, null among them."""
    frame = devices(phone=(250, 150), web=(150, 250)).with_columns(day=pl.when(pl.col("device") == "web").then(7))
    assert [row[3] for row in off(frame, by=["device", "day"])] == ["phone, None", "web, 7"]


def test_a_user_of_two_segments_is_a_unit_of_each() -> None:
    """Two queries to a user, and the first 150 users of each arm on both devices."""
    frame = devices(phone=(500, 300), web=(300, 500))
    found = off(frame, cluster="user")
    assert [row[4].partition(", and")[0] for row in found] == [
        "A has 250, B has 150 clusters (user)",
        "A has 150, B has 250 clusters (user)",
    ]
    assert told(frame, by="device", cluster="user")[SPLIT][4].startswith("A has 250, B has 250 clusters (user)")


def test_segments_of_rows_without_a_query() -> None:
    """Rows, as many as they stand for."""
    rows = pl.DataFrame({"arm": [*"ABAB"], "device": [*"ppww"], "label": 1, "predicted": 1, "n": [250, 150, 150, 250]})
    found = off(rows, count="n", query=None)
    assert [row[:4] for row in found] == [("warning", 50, 0.125, "p"), ("warning", 50, 0.125, "w")]
    assert [row[3] for row in off(rows.select(pl.all().repeat_by("n").explode()), query=None)] == ["p", "w"]


def test_segments_of_numbers_from_elsewhere() -> None:
    """A row per unit, with a number."""
    frame = devices(phone=(250, 150), web=(150, 250)).select("query", "arm", "device", ms=pl.lit(3.0))
    assert [row[3] for row in off(frame, value="ms")] == ["phone", "web"]


@pytest.mark.parametrize("share", [0.5, 0.3, 0.01])
def test_the_exact_binomial_test_is_scipys(share: float) -> None:
    """For two groups, few units and many; of three groups each against the others, corrected for three."""
    rng = np.random.default_rng(1)
    for n in (0, 1, 7, 100, 5000):
        for count in {0, n, int(rng.binomial(n, share)), n // 3}:
            expected = stats.binomtest(count, n, share).pvalue if n else 1
            found = split_exactly(np.array([count, n - count]), np.array([share, 1 - share]))
            assert found == pytest.approx(expected, rel=1e-8, abs=1e-300)
    counts, shares = np.array([30, 5, 25]), np.array([0.5, 0.25, 0.25])
    each = [stats.binomtest(int(count), 60, part).pvalue for count, part in zip(counts, shares, strict=True)]
    assert split_exactly(counts, shares) == pytest.approx(3 * min(each), rel=1e-9)


def test_millions_of_units_get_the_exact_test() -> None:
    """It takes no list of all counts."""
    counts, shares = np.array([500_900, 499_200]), np.array([0.5, 0.5])
    assert split_exactly(counts, shares) == pytest.approx(stats.binomtest(500_900, 1_000_100).pvalue, rel=1e-7)
    assert split_exactly(counts * 10**6, shares) == 0


def test_a_split_of_no_units() -> None:
    """A log without rows has no arms that could be split otherwise than planned."""
    frame = pl.DataFrame({"query": [1], "arm": ["a"], "rank": [1], "label": [1]})[:0]
    found = frame.irm(arm="arm", rank="rank").audit(split="equal")
    assert not found["check"].str.contains("mismatch").any()
