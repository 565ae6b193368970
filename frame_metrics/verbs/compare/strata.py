"""Strata of arms: the option ``strata=``, and the units of two arms in each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from frame_metrics.errors import (
    BadValueError,
    ColumnError,
    NotComputableError,
    check_one_role_each,
    listed,
    no_column,
    quote,
)
from frame_metrics.inputs import Array
from frame_metrics.inputs.records import record
from frame_metrics.keys.groups import CellGroups, named_as_text
from frame_metrics.measuring.split import word_for
from frame_metrics.roles.columns import Columns
from frame_metrics.stats.significance import MIN_UNITS
from frame_metrics.stats.strata import Strata
from frame_metrics.stats.two_arms import Arms


def strata_read(strata: Any) -> tuple[str, ...]:
    """Return the names of the columns of strata; raise for what is none, before anything is read."""
    names = (strata,) if isinstance(strata, str) else strata
    if not isinstance(names, list | tuple) or not names or not all(isinstance(name, str) for name in names):
        raise BadValueError(
            f"strata={quote(strata)} is not the name of a column, as 'device', nor several in a list: what is known of "
            "each unit before the test"
        )
    return tuple(names)


def as_given(names: Sequence[str]) -> str:
    """Return the names of the columns of strata as text, as the caller may have given them."""
    return quote(names[0]) if len(names) == 1 else quote([*names])


def with_strata(columns: Columns, available: Sequence[Any], strata: Sequence[str] | None) -> Columns:
    """Return the columns of a call with those of ``strata=``, if they are given, which make segments, as ``by`` does.

    ``available``: the columns of the frame.

    Raises
    ------
    ColumnError
        A column does not exist, or has another role.
    """
    if not strata:
        return columns
    for name in strata:
        if name not in available:
            raise no_column(f"strata={quote(name)}", name, available)
    for name in strata:
        if name in columns.segments:
            raise ColumnError(
                f"strata={quote(name)} is a column of by= too, so that each segment has one stratum; leave it out of "
                "one of them"
            )
    keys = [("arm", str(columns.arm)), *(("query", key) for key in columns.query)]
    check_one_role_each([*keys, *columns.by_role.items(), *(("strata", name) for name in strata)])
    return columns.changed(by=(*columns.by, *strata), strata=tuple(strata))


def check_exchanged(arms: Arms | Strata, columns: Columns, options: Any) -> None:
    """Raise for units of both arms, if units are exchanged within strata."""
    if isinstance(arms, Strata) and options.test == "randomization" and (both := arms.shared.shape[1]):
        raise NotComputableError(
            f"strata={as_given(options.strata)}: {both:,} {word_for(columns)} are in both arms, and units of one arm "
            "alone are exchanged within strata; pass test='t'"
        )


def n_of_several_values(unit: Array, value: Array) -> tuple[int, int]:
    """Return how many units have several values, and how many units there are; both arrays have shape (queries,)."""
    _, first, code = np.unique(unit, return_index=True, return_inverse=True)
    return len(np.unique(code[value != value[first][code]])), len(first)


@record
class StrataOfQueries:
    """The strata of a log, and that of each query that is evaluated."""

    strata: CellGroups
    stratum: Array  # the number of the stratum of each query, shape (queries,)

    @classmethod
    def of(cls, strata: CellGroups, stratum: Array, unit: Array) -> StrataOfQueries:
        """Check that each unit has one stratum; ``unit``: the number of that of each query, shape (queries,)."""
        odd, n_units = n_of_several_values(unit, stratum)
        if odd:
            columns = strata.cells.columns
            raise BadValueError(
                f"strata={as_given(strata.keys)}: {odd:,} of {n_units:,} {word_for(columns)} are in several "
                "strata; pass a column that has one value for each of them, as what was known before the test has"
            )
        return cls(strata, stratum)

    def text(self, stratum: int) -> str:
        """Return the names and values of a stratum."""
        return named_as_text(self.strata.cells.values.select(self.strata.keys), int(self.strata.first[stratum]))

    def split(
        self, at: Array, in_first: Array, arms_of: Callable[[Array, Array], Arms], named: Callable[[bool], str]
    ) -> Strata | None:
        """Return the units of two arms by stratum; None if an arm has none at all, or all are of one stratum.

        Parameters
        ----------
        at, in_first : the positions of the queries of both arms, and whether each is of the first.
        arms_of : a function that returns the units of such queries.
        named : a function that returns words for the first arm, or for the other one.

        Raises
        ------
        NotComputableError
            A stratum has fewer than two units of one arm.
        """
        stratum = self.stratum[at]
        numbers = np.unique(stratum).tolist()
        parts = [arms_of(at[stratum == one], in_first[stratum == one]) for one in numbers]
        if len(parts) < 2 or not np.sum([part.n for part in parts], axis=0).all():
            return None
        for number, part in zip(numbers, parts, strict=True):
            if min(part.n) < MIN_UNITS:
                self._raise(number, part, named)
        return Strata(parts)

    def _raise(self, stratum: int, part: Arms, named: Callable[[bool], str]) -> None:
        """Raise for a stratum with too few units of an arm."""
        n, columns = min(part.n), self.strata.cells.columns
        raise NotComputableError(
            f"strata={as_given(self.strata.keys)}: {self.text(stratum)} has too few {word_for(columns)} of "
            f"{named(part.n[0] == n)}: {n}, and each stratum needs {MIN_UNITS} of each arm; join it with "
            f"another stratum, by giving both one value of {listed(self.strata.keys)}"
        )
