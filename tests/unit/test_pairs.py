"""Queries of pairs of systems that a report lists."""

from __future__ import annotations

import polars as pl

from frame_metrics.report.pairs import Pairs


def test_queries_that_differ_most_are_the_ends_of_each_side() -> None:
    """Where all queries are better, the least gain is no query on which the two differ most."""
    gains = [at / 100 for at in range(1, 21)]
    better = pl.DataFrame({"run": "a", "baseline": "b", "difference": gains})
    (shown,) = Pairs([better], "rr", "run", True).moved()
    assert shown["difference"].to_list() == gains[:-6:-1]
    mixed = pl.DataFrame({"run": "a", "baseline": "b", "difference": [0.3, -0.1, 0.0, -0.2]})
    assert Pairs([mixed], "rr", "run", True).moved()[0]["difference"].to_list() == [0.3, -0.1, -0.2]
