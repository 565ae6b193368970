"""Teams of interleaved lists: credit and preference by hand, what is no comparison, and what is refused."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from frame_metrics import IRM, NotComputableError
from helpers import as_kind, as_polars, error, facts, odd
from inside import in_pieces
from refusals import check

# The user, the team of each result ("-" for one that both systems have), and what was clicked.
SHOWN = {1: ("u", "BA", "10"), 2: ("u", "ABB", "010"), 3: ("u", "BAB", "101"), 4: ("v", "AB", "01")}
SHOWN |= {5: ("v", "-AB", "100"), 6: ("w", "BA", "01"), 7: ("w", "AA", "10"), 8: ("w", "--", "01")}
LOG = pl.DataFrame(
    [
        (search, user, "mt"[search % 2], f"d{rank}", rank, None if team == "-" else team, int(click))
        for search, (user, teams, clicks) in SHOWN.items()
        for rank, (team, click) in enumerate(zip(teams, clicks, strict=True), 1)
    ],
    schema=["search", "user", "device", "doc", "rank", "from", "clicked"],
    orient="row",
)
ROLES: dict[str, Any] = {"query": "search", "rank": "rank", "label": "clicked", "team": "from"}
SAID = ("value", "baseline_value", "preference", "wins", "ties", "losses", "n", "n_unpaired", "n_undefined")
BY_HAND = (5 / 6, 1 / 6, (4 + 1 / 2) / 6 - 1 / 2, 4, 1, 1, 6, 1, 0)


def compared(frame: Any, **options: Any) -> pl.DataFrame:
    """The comparison of B with A, in polars."""
    return as_polars(IRM(frame, **ROLES | options).interleaving("clicks", baseline="A"))


def test_credit_and_preference_by_hand(kind: str) -> None:
    """A team has the clicks on its rows; neither the order of the rows nor a document's name changes anything."""
    for log in (LOG, LOG.sample(fraction=1, shuffle=True, seed=3)):
        for doc in (None, "doc"):
            found = compared(as_kind(log, kind), doc=doc)
            assert found.select(SAID).row(0) == pytest.approx(BY_HAND)
            assert found.select("from", "baseline", "metric", "test").row(0) == ("B", "A", "clicks", "randomization")
            assert found["p_value"].item() == 12 / 32  # four of five, or more, of one sign


def test_lists_without_a_judgment_are_counted(kind: str) -> None:
    """They are left out, and counted; where no row has a 0, null seems to mean no click, and is an error."""
    some = LOG.with_columns(clicked=pl.when(pl.col("search") != 3).then("clicked"))
    for log in (as_kind(some, kind), some.lazy()):
        found = compared(log).select("wins", "n", "n_unpaired", "n_unjudged")
        assert found.row(0) == (3, 5, 1, 1)
        assert compared(log, by="device")["n_unjudged"].to_list() == [0, 1]
    assert compared(LOG)["n_unjudged"].item() == 0
    null = LOG.with_columns(clicked=pl.when((pl.col("clicked") == 1) & (pl.col("search") != 3)).then(1))
    said = error(lambda: compared(as_kind(null, kind)))
    assert said.startswith("clicked: no row has a 0, and in 1 of 8 queries every row is null")
    assert compared(null, unjudged_queries="count").select("n", "n_unjudged").row(0) == (6, 0)


def test_whole_clusters_change_sign() -> None:
    """The wins of three users add up to 3, 1 and -1; six of the eight ways to turn users reach 3."""
    found = compared(LOG, cluster="user")
    assert found.select(SAID).row(0) == pytest.approx(BY_HAND)
    assert found["p_value"].item() == 6 / 8
    assert found["ci_low"].item() < compared(LOG)["ci_high"].item()
    told = error(lambda: LOG.irm(**ROLES, cluster="user").interleaving("clicks", test="sign"), NotComputableError)
    assert told.startswith("test='sign' takes every query as independent, and user says which belong")


def test_the_sign_test_is_that_of_wins_and_losses() -> None:
    """It is the randomization test of independent impressions, with its interval; the bootstrap has its own."""
    found = pl.concat(
        LOG.irm(**ROLES).interleaving("clicks", test=test) for test in ("sign", "bootstrap", "randomization")
    )
    assert found["p_value"][0] == pytest.approx(found["p_value"][2])
    assert found[[0, 2]].select("ci_low", "ci_high").n_unique() == 1
    assert (found["ci_low"] <= found["preference"]).all()
    assert (found["ci_high"] <= 1 / 2).all()
    mirrored = LOG.irm(**ROLES).interleaving("clicks", baseline="B").row(0, named=True)
    assert mirrored["preference"] == -found["preference"][0]
    assert (mirrored["wins"], mirrored["losses"], mirrored["p_value"]) == (1, 4, found["p_value"][2])


def test_segments_weights_and_each_impression() -> None:
    """Each segment has its own preference; a weight is that of an impression; per_query has the credits."""
    found = compared(LOG, by="device")
    assert found.select("device", "wins", "ties", "losses", "n", "n_unpaired").rows() == [
        ("m", 2, 0, 1, 3, 0),
        ("t", 2, 1, 0, 3, 1),
    ]
    heavy = LOG.with_columns(times=pl.when(pl.col("search") == 6).then(3.0).otherwise(1.0))
    assert compared(heavy, weight="times")["preference"].item() == pytest.approx((4 + 1 / 2) / 8 - 1 / 2)
    each = LOG.irm(**ROLES).interleaving("clicks", baseline="A", per_query=True)
    assert sorted(each.select("search", "value", "baseline_value").rows()) == [
        (1, 1, 0),
        (2, 1, 0),
        (3, 2, 0),
        (4, 1, 0),
        (5, 0, 0),
        (6, 0, 1),
    ]


def test_forms_of_a_log_are_one_log() -> None:
    """Lists, plans and pieces of whole impressions give the same numbers."""
    whole = LOG.irm(**ROLES, cluster="user").interleaving("clicks")
    assert_frame_equal(in_pieces(LOG.irm(**ROLES, cluster="user")).interleaving("clicks").collect(), whole)
    plan = LOG.lazy().irm(**ROLES, cluster="user").interleaving("clicks")
    assert plan.collect_schema() == plan.collect().schema == whole.schema
    lists = LOG.group_by("search", "user", maintain_order=True).agg("from", "clicked", "doc")
    roles = {**ROLES, "rank": None} | {"doc": "doc", "cluster": "user"}
    assert_frame_equal(lists.irm(**{role: name for role, name in roles.items() if name}).interleaving("clicks"), whole)


def test_shared_rows_are_no_team() -> None:
    """Lists of shared rows alone say nothing of the teams, also where no other list has any."""
    parted = LOG.filter(pl.col("from").is_not_null().all().over("search") | (pl.col("search") == 8))
    assert_frame_equal(compared(parted), compared(parted.filter(pl.col("search") != 8)))


def test_three_teams_are_compared_pair_by_pair() -> None:
    """A list of two other teams compares none of a pair, and one of a third team is unpaired."""
    more = LOG.with_columns(pl.col("search") + 10, pl.col("from").replace("A", "C"))
    found = pl.concat([LOG, more]).irm(**ROLES).interleaving("clicks")
    assert found.select("from", "baseline", "n", "n_unpaired").rows() == [
        ("B", "A", 6, 7),
        ("C", "A", 0, 14),
        ("C", "B", 6, 7),
    ]
    assert found["preference"].to_list() == [BY_HAND[2], None, pytest.approx(-BY_HAND[2])]
    both = 1 - (1 - 12 / 32) ** 2  # of two pairs that share no impression
    assert found["p_adjusted"].to_list() == [both, None, both]


def test_any_metric_may_be_the_credit() -> None:
    """Of success a second click on a team's rows is worth nothing; of abandonment less is better."""
    found = LOG.irm(**ROLES).interleaving("success", "abandonment", "clicks@1", baseline="A")
    assert found["value"].to_list() == pytest.approx([4 / 6, 2 / 6, 2 / 6])
    assert found["wins"].to_list() == [4, 4, 2]


def test_the_audit_names_lists_without_two_teams() -> None:
    """Those of one team, and those that both systems share, are counted beside all lists; in pieces too."""
    irm = LOG.irm(**ROLES)
    row = odd(irm).filter(check="lists without two teams")
    assert row.select("severity", "n", "share", "example").row(0) == ("warning", 2, 2 / 8, "7")
    assert_frame_equal(in_pieces(irm).audit().collect(), irm.audit())
    assert facts(irm) == facts(irm(team=None))


REFUSALS = r"""
compared(LOG.filter(pl.col("search").is_in([1, 7])).with_columns(**{"from": pl.col("user")}))
    ColumnError: from: 'u' has rows of 1 query, and no other team has any in one of them; in an interleaved list both
        have some. If each team has lists of its own, pass team=None, arm='from' and compare them with ab_test()
    but: LOG.irm(**ROLES | {"team": None}, arm="device").ab_test("clicks", permutations=9)
LOG.irm(**ROLES).interleaving("clicks", baseline="C")
    BadValueError: baseline='C' is not among the teams of from: 'B', 'A'
LOG.irm(**ROLES).interleaving("clicks", baseline=["A", "B"])
    BadValueError: baseline=['A', 'B'] names every team of from; leave one out, or pass baseline=None for all pairs
LOG.filter(pl.col("from") == "A").irm(**ROLES).interleaving("clicks")
    NotComputableError: from has one team, 'A'; two are needed to compare
LOG.irm(**ROLES, system="device").interleaving("clicks")
    ColumnError: system='device' says another system of each row than team= does; pass system=None
    but: LOG.irm(**ROLES, system=None).interleaving("clicks")
LOG.with_columns(again="rank").irm(**ROLES | {"rank": ["rank", "again"]}).interleaving("clicks")
    NotComputableError: team='from' says which system contributed each row of a list, and the columns ['rank',
        'again'] are those of several systems; name one of them
    but: LOG.with_columns(again="rank").irm(**ROLES | {"rank": "again"}).interleaving("clicks")
LOG.irm(**ROLES, system="device").compare("clicks")
LOG.irm(**ROLES).compare("clicks")
LOG.irm(**ROLES).compare("clicks", per_query=True)
LOG.irm(**ROLES).evaluate("clicks")
LOG.irm(**ROLES).ab_test("clicks")
LOG.irm(**ROLES).change("clicks")
LOG.irm(**ROLES).sample_size("clicks", detect=0.1)
    ColumnError: team='from' says which system contributed a row of an interleaved list, and interleaving() credits it
        with the clicks; pass team=None to read each list as one
    but: LOG.irm(**ROLES).interleaving("clicks")
    but: LOG.irm(**ROLES).interleaving("clicks", per_query=True)
    but: LOG.irm(**ROLES | {"team": None}).evaluate("clicks")
LOG.irm(**ROLES | {"team": None}).interleaving("clicks")
    ColumnError: interleaving() compares the teams that contributed the rows of a list: the team is missing; name its
        column with team=, one of 'user', 'device', 'doc', 'from'
    but: LOG.irm(**ROLES).interleaving("clicks")
LOG.rename({"from": "team"}).irm(query="search", label="clicked").interleaving("clicks")
    ColumnError: interleaving() compares the teams that contributed the rows of a list: the team is missing; name its
        column with team=, one of 'user', 'device', 'doc', 'rank', 'team'; did you mean 'team'?
    but: LOG.rename({"from": "team"}).irm(query="search", label="clicked", team="team").interleaving("clicks")
LOG.irm(query="search", label="clicked", system="from").interleaving("clicks")
    ColumnError: interleaving() compares the teams that contributed the rows of a list: system='from' says that a
        list is of one system; name the column with team= in its place
    but: LOG.irm(query="search", label="clicked", team="from").interleaving("clicks")
LOG.irm(query="search", label="clicked", arm="from").interleaving("clicks")
    ColumnError: interleaving() compares the teams that contributed the rows of a list: arm='from' says that a
        list is of one arm; name the column with team= in its place
    but: LOG.irm(query="search", label="clicked", team="from").interleaving("clicks")
LOG.irm(**ROLES, propensity={1: 1, 2: 0.5, 3: 0.4}).interleaving("clicks")
    ColumnError: propensity={1: 1, 2: 0.5, 3: 0.4} weighs the results that a metric adds up, as in evaluate(),
        per_query(), compare() and the curves of metrics by cutoff, and nothing is weighted here; pass propensity=None
    but: LOG.irm(**ROLES, propensity=None).interleaving("clicks")
LOG.irm(**ROLES, propensity=pl.DataFrame({"rank": [1, 2, 3], "propensity": 0.5})).interleaving("clicks")
    ColumnError: propensity=<polars.DataFrame> weighs the results that a metric adds up[...] pass propensity=None
    but: LOG.irm(**ROLES, propensity=None).interleaving("clicks")
LOG.irm(**ROLES).interleaving("gm_clicks_per_query")
    NotComputableError: gm_clicks_per_query is an average, and interleaving() reads the credit of each team in each
        list; ask for 'clicks', or another metric of one list
    but: LOG.irm(**ROLES).interleaving("clicks_per_query")
LOG.irm(**ROLES, doc="doc").interleaving("item_coverage")
    NotComputableError: catalogue_coverage, distributional_coverage and catalogue_gini have one value for all lists
        of a segment together, and none for a single query: use evaluate(), or compare() for systems
    but: LOG.irm(**ROLES, doc="doc").interleaving("clicks")
LOG.irm(query="search", value="clicked", team="from").interleaving("clicks")
    ColumnError: interleaving() has no use for value=, whose numbers were computed already; [...] take them
LOG.irm(**ROLES, arm="device").evaluate("clicks")
    ColumnError: arm='device' beside team='from': an arm is a part of the traffic with queries of its own, and teams
        share their queries; name one of the two, or pass by='device' in the place of arm= for the teams within each
    but: LOG.irm(**ROLES, by="device").interleaving("clicks")
    but: LOG.irm(**ROLES | {"team": None}, arm="device").evaluate("clicks")
LOG.irm(**ROLES).interleaving("clicks", baseline=LOG)
    NotComputableError: baseline= as a frame has numbers of other lists; pass the name of a team
    but: LOG.irm(**ROLES).interleaving("clicks", baseline="B")
LOG.irm(**ROLES | {"team": None, "label": None}).judge(LOG.select("search", "doc",
        grade=1))(team="from").interleaving("clicks")
    NotComputableError: team='from' says which system contributed each row of a list, and separate judgments are
        no clicks; call it before judge(), and pass relevant=None
    but: LOG.irm(**ROLES, relevant=None).interleaving("clicks")
LOG.irm(**ROLES | {"query": None}).interleaving("clicks")
    ColumnError: query=None was passed, but this call needs the query; leave query=None out, or name its column,
        one of 'search', 'user', 'device', 'doc', 'rank', 'from', 'clicked'
LOG.irm(**ROLES).interleaving("clicks", test="t")
    UnknownNameError: test='t' is not one of 'randomization', 'sign', 'bootstrap'
LOG.irm(**ROLES).interleaving("clicks", test="sign", per_query=True)
    NotComputableError: test='sign' applies to the difference of means; pass per_query=False
LOG.irm(**ROLES).interleaving("clicks", against="chance")
    UnknownNameError: interleaving() has no option 'against'
compared(LOG.with_columns(**{"from": pl.lit(float("nan"))}))
    BadRowsError: from: 19 of 19 rows are NaN (rows 0, 1, 2); drop them, or make them null
    but: LOG.irm(**ROLES).interleaving("clicks", baseline="A")
    but: LOG.irm(**ROLES | {"team": None}).evaluate("clicks")
"""


def test_what_is_refused() -> None:
    """Each error says what was given, and the way out."""
    check(REFUSALS, globals())


def test_the_audit_names_teams_that_are_called_systems() -> None:
    """In each list a rank is of one system only, as two rankers that ran alone never do; in pieces too."""
    irm = LOG.irm(**ROLES | {"team": None, "doc": None}, system="from")
    row = odd(irm).filter(check="systems that share no rank")
    assert row.select("severity", "n", "share", "example").row(0) == ("warning", 6, 6 / 6, "1")
    assert_frame_equal(in_pieces(irm).audit().collect(), irm.audit())
    alone = LOG.with_columns(rank=pl.col("rank").rank("ordinal").over("search", "from")).irm(**irm.roles)
    assert odd(alone).filter(check="systems that share no rank").is_empty()
