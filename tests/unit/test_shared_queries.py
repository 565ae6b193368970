"""Systems that share no query, or few."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from frame_metrics import IRM, ColumnError
from helpers import KINDS, as_kind, as_polars, error, odd
from inside import in_pieces, small_blocks

# An online test: each session belongs to one arm, and both arms are perfect.
ARMS = pl.DataFrame({"query": range(400), "arm": ["A"] * 300 + ["B"] * 100, "score": 1.0, "label": 1})
ALMOST, FEW = "systems that share almost no query", "systems that share few queries"


def overlapping(common: int) -> IRM[pl.DataFrame]:
    """Two systems of 20 queries, so many of which they share."""
    queries = [*range(20), *range(20 - common, 40 - common)]
    return pl.DataFrame({"query": queries, "arm": ["A"] * 20 + ["B"] * 20, "score": 1.0, "label": 1}).irm(
        query="query", system="arm"
    )


VERBS: dict[str, Any] = {
    "evaluate": lambda irm: irm.evaluate("rr"),
    "per_query": lambda irm: irm.per_query("rr"),
    "compare": lambda irm: irm.compare("rr"),
    "bounds": lambda irm: irm.bounds("rr", of="ties"),
    "cutoffs": lambda irm: irm.curve("precision@k"),
    "roc": lambda irm: irm.curve("roc"),
    "roc of each query": lambda irm: irm.curve("roc", per="query"),
    "thresholds": lambda irm: irm.thresholds("recall"),
    "best_threshold": lambda irm: irm.best_threshold("recall"),
    "confusion": lambda irm: irm(query="query", threshold=1).confusion(),
}


@pytest.mark.parametrize("verb", VERBS)
def test_systems_that_share_no_query_are_an_error(verb: str) -> None:
    """Each would be measured on the queries of the other; the error says how to have the mean of each."""
    said = error(lambda: VERBS[verb](ARMS.irm(query="query", system="arm")), ColumnError)
    assert said.startswith("arm: 'A' has results of 300 queries, and no other system has results of any of them")
    assert "system=None, arm='arm'" in said
    large = in_pieces(ARMS.irm(query="query", system="arm"), 4_000)
    assert error(lambda: as_polars(VERBS[verb](large)), ColumnError) == said


def test_the_error_leads_to_users_of_both() -> None:
    """It says cluster= for users who have queries of several, unless they are named; then that is a comparison."""
    users = ARMS.with_columns(user=pl.col("query") % 100)
    said = error(lambda: users.irm(query="query", system="arm").evaluate("rr"), ColumnError)
    assert said.endswith("two periods with change(); name users who have queries of several with cluster=")
    irm = users.irm(query="query", system="arm", cluster="user")
    assert error(lambda: irm.evaluate("rr"), ColumnError).endswith("or two periods with change()")
    assert irm(system=None, arm="arm").ab_test("rr").select("n_units", "baseline_n_units").row(0) == (100, 100)


@pytest.mark.parametrize("kind", KINDS)
def test_the_way_out_gives_the_mean_of_each(kind: str) -> None:
    """Whatever the frame; both arms are perfect."""
    irm = IRM(as_kind(ARMS, kind), query="query", system="arm")
    assert "arm='arm'" in error(lambda: irm.evaluate("rr"), ColumnError)
    assert as_polars(irm(system=None, arm="arm").evaluate("rr")).select("value", "n").rows() == [(1, 300), (1, 100)]


def test_judgments_beside_change_nothing() -> None:
    """The judged queries are those of both, and the results of each are still its own."""
    log = ARMS.with_columns(doc=pl.lit("x"))
    irm = log.drop("label").irm(query="query", system="arm").judge(log.select("query", "doc", "label"))
    assert "arm='arm'" in error(lambda: irm.evaluate("rr"), ColumnError)


def test_a_pair_is_a_query_in_a_segment() -> None:
    """Systems that answer the same query in different segments share nothing; in one segment it is enough."""
    log = pl.DataFrame(
        {"query": [1, 1, 2], "arm": ["A", "B", "B"], "day": [1, 2, 2], "score": 1.0, "label": 1, "week": [1, 1, 1]}
    )
    assert log.irm(query="query", system="arm", by="week").evaluate("rr")["value"].to_list() == [0.5, 1]
    assert "system=None, arm='arm'" in error(
        lambda: log.irm(query="query", system="arm", by="day").evaluate("rr"), ColumnError
    )


def test_each_system_has_to_share_something() -> None:
    """Two that share do not make up for a third that does not; one system alone has nobody to share with."""
    log = pl.DataFrame({"query": [1, 1, 2], "arm": list("ABC"), "score": 1.0, "label": 1})
    assert error(lambda: log.irm(query="query", system="arm").evaluate("rr"), ColumnError).startswith(
        "arm: 'C' has results of 1 query, "
    )
    for name in (None, 1):
        named = log.with_columns(arm=pl.Series([name, 2, 2], dtype=pl.Int64), query=pl.Series([1, 2, 2]))
        for kind in (named, named.lazy()):
            said = error(lambda kind=kind: kind.irm(query="query", system="arm").evaluate("rr"), ColumnError)
            assert said.startswith(f"arm: {name} has results of 1 query, and no other")
    assert log.filter(arm="C").irm(query="query", system="arm").evaluate("rr")["value"].to_list() == [1]
    assert log.clear().irm(query="query", system="arm").evaluate("rr").is_empty()


@pytest.mark.parametrize(
    ("common", "check", "severity"),
    [(0, ALMOST, "error"), (1, ALMOST, "error"), (2, FEW, "warning"), (9, FEW, "warning"), (10, None, None)],
)
def test_the_audit_finds_systems_that_share_little(common: int, check: str | None, severity: str | None) -> None:
    """Below half of the queries of the one that has fewer a warning, below a tenth an error."""
    found = odd(overlapping(common)).filter(pl.col("check").is_in([ALMOST, FEW]))
    expected = [] if check is None else [(check, severity, 1, 1.0, "A, B")]
    assert found.select("check", "severity", "n", "share", "example").rows() == expected
    for message in found["message"]:
        assert message.startswith(
            f"A and B share {common} queries, of the 20 of the one that has fewer, and should share"
        )
        assert ("name arm with arm= in the place of system=" in message) == (check == ALMOST)


@pytest.mark.parametrize("rows", [1, 7, 1000])
def test_common_queries_of_many_systems_are_counted(rows: int) -> None:
    """Of three pairs of systems, two share little: A and C nothing, but both share queries with B."""
    pairs = [(q, "A") for q in range(9)] + [(q, "B") for q in range(5, 14)] + [(q, "C") for q in range(9, 20)]
    irm = (
        pl.DataFrame(pairs, schema=["query", "arm"], orient="row")
        .with_columns(score=1.0, label=1)
        .irm(query="query", system="arm")
    )
    with small_blocks(rows):
        found = odd(irm).filter(pl.col("check").is_in([ALMOST, FEW]))
    assert found.select("check", "n", "share", "example").rows() == [(FEW, 2, 2 / 3, "A, B")]
    assert irm.evaluate("rr")["arm"].to_list() == ["A", "B", "C"]
    alone = pl.concat([irm.frame, irm.frame.filter(arm="A").with_columns(pl.col("query") + 100, arm=pl.lit("D"))])
    found = odd(alone.irm(query="query", system="arm")).filter(check=ALMOST)
    assert found.select("severity", "n", "example").rows() == [("error", 3, "A, D")]
