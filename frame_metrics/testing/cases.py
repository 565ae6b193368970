"""Small inputs on which metrics are tried: rankings, tables and scores, the smallest first, each with a text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement, product
from typing import Any, Protocol, TypeAlias

import numpy as np

from frame_metrics.inputs import Array, Classes, FullConfusion, FullRanking, FullScores
from frame_metrics.inputs.scores import sorted_levels
from frame_metrics.metrics.metric import Metric

SIZE = 40  # documents in the collection of a ranking
LENGTH = 1000  # relevant documents of a perfect ranking; so long that even a patient reader gains nothing past its end
Source: TypeAlias = FullRanking | FullConfusion | FullScores | Classes


@dataclass(frozen=True)
class OneRanking:
    """The results of one query."""

    grades: tuple[float, ...]  # of the results in rank order, then of documents not retrieved; NaN is unjudged
    n_ret: int  # number of results
    columns: tuple[tuple[float, ...], ...] = ()  # values of each extra column

    def reordered(self, order: Sequence[int]) -> OneRanking:
        """Return the same documents, the first ones in another order."""
        rest = [*order, *range(len(order), len(self.grades))]
        columns = tuple(tuple(values[i] for i in rest) for values in self.columns)
        return replace(self, grades=tuple(self.grades[i] for i in rest), columns=columns)

    def __str__(self) -> str:
        said = [f"a query whose results have the grades {_listed(self.grades[: self.n_ret])}"]
        if missed := self.grades[self.n_ret :]:
            said.append(f"and with the grades {_listed(missed)} of documents that were not retrieved")
        said += [f"column {i}: {_listed(values)}" for i, values in enumerate(self.columns)]
        return ", ".join(said)


@dataclass(frozen=True)
class OneTable:
    """The cells of one table."""

    cells: tuple[float, ...]  # tp, fp, fn, tn

    def __str__(self) -> str:
        named = zip(("tp", "fp", "fn", "tn"), self.cells, strict=True)
        return f"a table with {', '.join(f'{name}={n:g}' for name, n in named)}"


@dataclass(frozen=True)
class SomeScores:
    """The rows of one query or segment, each with a score and 1 if it is relevant, else 0."""

    rows: tuple[tuple[float, int], ...]

    def __str__(self) -> str:
        return "rows with " + (
            ", ".join(f"score {s:g} ({'not ' * (not y)}relevant)" for s, y in self.rows) or "nothing"
        )


@dataclass(frozen=True)
class SomeClasses:
    """A table of two classes, by true and predicted class; its last column counts rows without a prediction."""

    cells: tuple[float, ...]

    def __str__(self) -> str:
        return f"a table of classes with the rows {_listed(self.cells[:3])} and {_listed(self.cells[3:])}"


Case: TypeAlias = OneRanking | OneTable | SomeScores | SomeClasses


def _listed(values: Sequence[float]) -> str:
    return f"[{', '.join('none' if math.isnan(x) else f'{x:g}' for x in values)}]"


class Family(Protocol):
    """The cases for metrics that read one kind of input."""

    def cases(self) -> list[Any]:
        """Return the cases, the smallest first."""

    def perfect(self) -> list[Any]:
        """Return the best possible case, twice."""

    def source(self, cases: Sequence[Any]) -> Source:
        """Return some cases as the input of a kernel."""


@dataclass(frozen=True)
class Rankings:
    """Rankings with the grades and the extra columns that a metric reads."""

    metric: Metric
    flags: frozenset[str] = frozenset()  # columns that hold 0 and 1 only

    @property
    def grades(self) -> list[float]:
        """At most three grades that the metric takes, in ascending order: the two lowest and the highest."""
        gain, top = self.metric.params.get("gain"), self.metric.params.get("max_grade")
        known = sorted(gain) if isinstance(gain, Mapping) else [0, 1, 2 if top is None else top]
        known = [grade for grade in known if grade >= 0 and (top is None or grade <= top)]
        return sorted({*known[:2], *known[-1:]})

    def cases(self) -> list[OneRanking]:
        random = np.random.default_rng(0)
        small = [
            OneRanking((*seen, *missed), len(seen))
            for n in range(4)
            for n_ret in range(n + 1)
            for seen in product((math.nan, *self.grades), repeat=n_ret)
            for missed in product(self.grades, repeat=n - n_ret)
        ]
        large = []
        for n in random.integers(4, 13, 40).tolist():
            n_ret = int(random.integers(1, n + 1))
            seen = random.choice([math.nan, *self.grades], n_ret).tolist()
            large.append(OneRanking((*seen, *random.choice(self.grades, n - n_ret).tolist()), n_ret))
        return [self.filled(case, random) for case in small + large]

    def filled(self, case: OneRanking, random: np.random.Generator) -> OneRanking:
        """Return a case with random values of the extra columns that the metric reads."""
        ends = [2 if name in self.flags else 9 for name in self.metric.columns]
        columns = [random.integers(0, end, len(case.grades)) / (1 if end == 2 else 2) for end in ends]
        return replace(case, columns=tuple(map(tuple, columns)))

    def perfect(self) -> list[OneRanking]:
        return 2 * [self.filled(OneRanking(LENGTH * (float(self.grades[-1]),), LENGTH), np.random.default_rng(0))]

    def source(self, cases: Sequence[OneRanking], dtype: Any = np.float64, tie: Array | None = None) -> FullRanking:
        lengths = np.array([len(case.grades) for case in cases], np.int64)
        grade = np.array([grade for case in cases for grade in case.grades], dtype)
        starts = np.cumsum(lengths) - lengths
        place = np.arange(len(grade)) - np.repeat(starts, lengths)
        run = FullRanking(
            grade,
            lengths,
            np.array([case.n_ret for case in cases], np.int64),
            size=np.full(len(cases), max(SIZE, lengths.max(initial=0))),
            score=1 / (place + 2),
            tie=tie,
            extra={
                name: np.array([value for case in cases for value in case.columns[i]], np.float64)
                for i, name in enumerate(self.metric.columns)
            },
        )
        return run.variant(*self.metric.variant(1, False))


@dataclass(frozen=True)
class Tables:
    """Tables of two classes."""

    def cases(self) -> list[OneTable]:
        small = sorted(product((0.0, 1.0, 2.0), repeat=4), key=sum)
        large = np.random.default_rng(0).integers(0, 50, (20, 4)).astype(float).tolist()
        return [OneTable(tuple(cells)) for cells in [*small, *large]]

    def perfect(self) -> list[OneTable]:
        return 2 * [OneTable((LENGTH, 0, 0, LENGTH))]

    def source(self, cases: Sequence[OneTable]) -> FullConfusion:
        tp, fp, fn, tn = np.array([case.cells for case in cases], np.float64).reshape(-1, 4).T.copy()
        return FullConfusion(tp, fp, fn, np.zeros(len(tp)), rest=tn)


@dataclass(frozen=True)
class Levels:
    """Rows with scores that could be probabilities."""

    def cases(self) -> list[SomeScores]:
        kinds = [(score, label) for score in (0.75, 0.5, 0.25) for label in (1, 0)]
        small = [SomeScores(rows) for n in range(4) for rows in combinations_with_replacement(kinds, n)]
        random = np.random.default_rng(0)
        return small + [SomeScores(tuple(self._row(random) for _ in range(n))) for n in random.integers(4, 20, 20)]

    def _row(self, random: np.random.Generator) -> tuple[float, int]:
        return float(random.integers(1, 16)) / 16, int(random.integers(0, 2))

    def perfect(self) -> list[SomeScores]:
        return 2 * [SomeScores(((1.0, 1),) * LENGTH + ((0.0, 0),) * LENGTH)]

    def source(self, cases: Sequence[SomeScores]) -> FullScores:
        lengths = [len(case.rows) for case in cases]
        score, good = np.array([row for case in cases for row in case.rows], np.float64).reshape(-1, 2).T
        return sorted_levels(np.repeat(np.arange(len(cases)), lengths), score, good, np.ones(len(score)), len(cases))


@dataclass(frozen=True)
class Grids:
    """Tables of classes."""

    def cases(self) -> list[SomeClasses]:
        small = sorted(product((0.0, 1.0), repeat=6), key=sum)
        large = np.random.default_rng(0).integers(0, 30, (20, 6)).astype(float).tolist()
        return [SomeClasses(tuple(cells)) for cells in [*small, *large]]

    def perfect(self) -> list[SomeClasses]:
        return 2 * [SomeClasses((LENGTH, 0, 0, 0, LENGTH, 0))]

    def source(self, cases: Sequence[SomeClasses]) -> Classes:
        return Classes.of_grid(np.array([case.cells for case in cases], np.float64).reshape(-1, 2, 3))


def family_of(metric: Metric, flags: Sequence[str]) -> Family | None:
    """Return the family of cases for the input of a metric; None if there is none."""
    families: dict[type, Family] = {
        FullRanking: Rankings(metric, frozenset(flags)),
        FullConfusion: Tables(),
        FullScores: Levels(),
        Classes: Grids(),
    }
    return families.get(metric.input)


def better(cases: Sequence[OneRanking]) -> Iterator[tuple[OneRanking, OneRanking]]:
    """Yield pairs of rankings: one, and the same with a result moved up past a worse neighbour."""
    for case in cases:
        for i in range(case.n_ret - 1):
            above, below = case.grades[i : i + 2]
            if below > (0 if math.isnan(above) else above) and not (math.isnan(above) and below <= 0):
                yield case, case.reordered([*range(i), i + 1, i])
