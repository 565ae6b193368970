"""Pair the judgments of annotators: for each two of them, the documents that both judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from frame_metrics.data.groups import as_text, drawing_places
from frame_metrics.inputs import Array


@dataclass(frozen=True, eq=False)
class Annotated:
    """The documents that each pair of annotators judged in common, pair after pair.

    A document that three annotators judged is here three times, once for each pair of them.
    """

    names: list[str]  # names of the annotators, sorted
    rows: Array  # a row of the judgments by each annotator, shape (annotators,)
    first: Array  # number of the first annotator of each pair, shape (pairs,)
    second: Array  # number of the second annotator, shape (pairs,)
    pair: Array  # number of the pair that a document stands here for, shape (documents,)
    document: Array  # number of the document, shape (documents,)
    one: Array  # its judgment by the first annotator of the pair, shape (documents,)
    other: Array  # its judgment by the second annotator, shape (documents,)

    @property
    def n(self) -> int:
        """The number of pairs."""
        return len(self.first)

    @cached_property
    def codes(self) -> tuple[Array, Array]:
        """The judgments by the first annotator and by the second, numbered from 0 in the order of their values."""
        one, other = np.split(np.unique(np.concatenate([self.one, self.other]), return_inverse=True)[1], 2)
        return one, other

    def beside(self, whose: Sequence[int]) -> Annotated:
        """Return the pairs of one reference annotator and one other; the reference becomes the second of each pair.

        ``whose``: the numbers of the references.
        """
        place = np.array([whose.index(who) if who in whose else -1 for who in range(len(self.names))], np.int64)
        theirs = place[np.stack([self.first, self.second])]  # -1 for those that are no reference, shape (2, pairs)
        mine = np.flatnonzero((theirs >= 0).sum(axis=0) == 1)
        turned = theirs[0, mine] >= 0
        second, first = np.where(turned, (self.first[mine], self.second[mine]), (self.second[mine], self.first[mine]))
        order = np.lexsort((theirs.max(axis=0)[mine], first))
        mine, turned, first, second = mine[order], turned[order], first[order], second[order]
        number = np.full(self.n, -1)
        number[mine] = np.arange(len(mine))
        some = number[self.pair] >= 0
        pair = number[self.pair][some]
        sides = np.stack([self.one[some], self.other[some]])
        one, other = np.where(turned[pair], sides[::-1], sides)
        return replace(self, first=first, second=second, pair=pair, document=self.document[some], one=one, other=other)


def two_by_two(each: pl.DataFrame, document: Array, value: str) -> Annotated:
    """Pair the judgments of each two annotators by document.

    Parameters
    ----------
    each : judgments, at most one of a document by an annotator.
    document : the number of the document of each judgment, shape (judgments,).
    value : the column of the judgments to compare, "grade" or "label".
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
    rows = each["row"].to_numpy()[first].astype(np.int64)
    return Annotated(names, rows, pairs // len(first), pairs % len(first), pair, *columns)
