"""Queries, or rows, that are on one side of a comparison alone, in words of gates."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import takewhile
from typing import Any, NamedTuple

import polars as pl


class Unpaired(NamedTuple):
    """Queries, or rows, that are on one side of a comparison alone."""

    words: str  # "" if there are none
    too_many: bool = False  # whether a side has more of them than are compared
    how: str = "without some"  # how the others are compared

    def noted(self, metric: str, where: str) -> str:
        """Return the remark about a metric, "" if there are none."""
        return f"{metric} was compared {self.how}{where}: {self.words}" * bool(self.words)


NOT_ALONE = Unpaired("")


def in_one_log(row: Mapping[str, Any], sides: str) -> Unpaired:
    """Return words for queries, or rows, of one of two logs, or systems, and whether they are more than those of both.

    ``sides``: what both are called.
    """
    alone, as_zeros = row.get("n_unpaired") or 0, bool(row.get("n_unanswered"))
    every, rows = row["n"] + (0 if as_zeros else alone), "queries" if "n_unanswered" in row else "rows"
    words = f"{alone} of {every} {rows} are in one of the {sides} only{', and count as 0 in the other' * as_zeros}"
    how = "with zeros for some" if as_zeros else "without some"
    return Unpaired(words, alone > every - alone, how) if alone else NOT_ALONE


def far_fewer(n: int, before: int, *, are_too_few: bool) -> Unpaired:
    """Return words for numbers of queries, or rows, of which fewer than half are there now.

    ``are_too_few``: whether so few are not compared, as where the same ones are expected.
    """
    return Unpaired(f"n is {n:,}, and was {before:,}", are_too_few, "over far fewer") if 2 * n < before else NOT_ALONE


def unpaired(row: Mapping[str, Any], evaluated: pl.DataFrame) -> Unpaired:
    """Return words for queries of one side alone, and whether a side has more of them than are compared.

    Queries that are gone from the log may be those in which nothing is found any more. ``evaluated``: the result of
    ``evaluate``, for its numbers of queries.
    """
    n, most, zeros = row["n"], _of_log("n", row, evaluated), _of_log("n_unanswered", row, evaluated)
    lacking = max(most - n, 0)
    gone = max((row.get("n_unpaired") or 0) - lacking, 0)
    # Judged queries without a row are compared, as 0, and how many of the saved ones are so is not known here.
    rows = "queries" if "n_unanswered" in row else "rows"
    without_rows = f"saved queries without a row in the log: {gone}; judged ones count as 0"
    texts = [
        f"{lacking} of {most} {rows} have no saved number" * bool(lacking),
        (without_rows if zeros else f"{gone} of {n + gone} saved {rows} are not in the log") * bool(gone),
    ]
    return Unpaired(" and ".join(filter(None, texts)), n < max(lacking, gone))


def _of_log(name: str, row: Mapping[str, Any], evaluated: pl.DataFrame) -> int:
    """Return a number of queries of the log, those that a row of a comparison could be about; 0 if not counted."""
    keys = keys_of_row(row) | {"metric": row["metric"]}
    own = {name: value for name, value in keys.items() if name in evaluated.columns}
    found = (one.get(name, 0) for one in evaluated.iter_rows(named=True) if all(one[key] == own[key] for key in own))
    return int(next(found, row[name] if name == "n" else 0) or 0)


def keys_of_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """The system and segment of a row, which stand before the metric."""
    return {name: row[name] for name in takewhile(lambda name: name != "metric", row) if name != "baseline"}
