"""Annotators two by two: the documents that both judged."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from frame_metrics.data.groups import as_text, drawing_places
from frame_metrics.inputs import Array


@dataclass(frozen=True, eq=False)
class Annotated:
    """Every document with two judgments, once for each two annotators, those of one pair side by side."""

    names: list[str]  # of the annotators, in their order
    first: Array  # the number of the first of each two, shape (pairs,)
    second: Array  # that of the second
    pair: Array  # the pair that each document was judged by, shape (documents,)
    document: Array  # its number
    one: Array  # the judgment of the first
    other: Array  # that of the second

    @property
    def n(self) -> int:
        """The number of pairs."""
        return len(self.first)

    def beside(self, who: int) -> Annotated:
        """Return the pairs that an annotator is one of, the second of each."""
        mine = np.flatnonzero((self.first == who) | (self.second == who))
        turned = self.first[mine] == who
        number = np.full(self.n, -1)
        number[mine] = np.arange(len(mine))
        some = number[self.pair] >= 0
        pair = number[self.pair][some]
        sides = np.stack([self.one[some], self.other[some]])
        one, other = np.where(turned[pair], sides[::-1], sides)
        first = np.where(turned, self.second[mine], self.first[mine])
        second = np.full(len(mine), who)
        return replace(self, first=first, second=second, pair=pair, document=self.document[some], one=one, other=other)


def two_by_two(each: pl.DataFrame, document: Array, value: str) -> Annotated:
    """Compare the judgments of each two annotators.

    Parameters
    ----------
    each : judgments, one of each document by each annotator.
    document : the number of the document of each, shape (judgments,).
    value : the name of the column with what was judged.
    """
    who = drawing_places(each.select("annotator"))[0].astype(np.int64) - 1
    first = np.unique(who, return_index=True)[1]
    table = pl.DataFrame({"document": document, "who": who, "value": each[value].cast(pl.Float64)}).drop_nulls("value")
    both = table.join(table, on="document").filter(pl.col("who") < pl.col("who_right"))
    # Sorted, so that sums do not depend on the order of the rows.
    both = both.sort("who", "who_right", "value", "value_right", "document")
    code = both["who"].to_numpy() * len(first) + both["who_right"].to_numpy()
    pairs, pair = np.unique(code, return_inverse=True)
    names = [as_text(each.select("annotator"), int(row)) for row in first]
    columns = (both[name].to_numpy() for name in ("document", "value", "value_right"))
    return Annotated(names, pairs // len(first), pairs % len(first), pair, *columns)
