"""Checks of the split of units between the arms of an online test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import permutations
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from frame_metrics.data.groups import as_text, drawing_places
from frame_metrics.data.log import Log
from frame_metrics.errors import BadValueError, ColumnError, NotComputableError, about_the_call, listed, shown
from frame_metrics.inputs import Array
from frame_metrics.measuring.pairs import number_of
from frame_metrics.roles.columns import Columns, role_columns
from frame_metrics.stats.exact import chi_square, split_exactly
from frame_metrics.stats.offsets import offsets
from frame_metrics.stats.significance import adjusted
from frame_metrics.stats.units import linear
from frame_metrics.verbs.audit.checks import About, Seen, check

MISMATCH = 0.001  # a p-value below it is no chance: each test is looked at many times
FEW = 30  # units of an arm below which a spread of their own makes randomization err
WIDE = 2.0  # times that units vary as much as those of another arm
NEAR = 1e-6  # shares may add up to 1 but for their rounding


class Split(NamedTuple):
    """The numbers of units of the arms of a test, and the shares that they should have."""

    arms: list[Any]
    units: Array  # number of units of each arm, shape (arms,)
    shares: Array  # shape (arms,)
    several: int  # number of units in more than one arm
    known: int  # number of distinct units
    word: str  # the word for the units

    @property
    def words(self) -> dict[str, Any]:
        """The words of messages: each arm's units, and the p-value."""
        each = ", ".join(f"{arm} has {n:,}" for arm, n in zip(self.arms, self.units.tolist(), strict=True))
        shares = ", ".join(f"{share:.6g}" for share in self.shares.tolist())
        return {"each": each, "word": self.word, "shares": shares, "p": chi_square(self.units, self.shares)}

    @property
    def over(self) -> Array:
        """The number of units of each arm above the expected one, negative below it, shape (arms,)."""
        return self.units - self.units.sum() * self.shares

    @property
    def off(self) -> int:
        """The number of units above the expected ones, summed over the arms that have too many; at least 1."""
        return max(round(float(self.over.clip(0).sum())), 1)


class OffSegment(NamedTuple):
    """A segment whose units are not split as they should be."""

    name: str  # the values of its by columns
    split: Split  # of its units
    p: float  # p-value, corrected for the number of segments
    of: int  # number of segments


class UnevenArm(NamedTuple):
    """An arm of few units whose spread differs from that of another arm; the ratio is 0 if there is no such arm."""

    arm: str
    other: str
    ratio: float  # standard deviation of the arm's units over that of the other arm's
    n: int  # number of units of the arm
    of: int  # number of units of all arms
    what: str  # the name of the values
    word: str  # the word for the units


@check("warning", "{word}")
def sample_ratio_mismatch(split: Split) -> Seen:
    """{each} {word}, and their shares should be {shares}: p is {p:.2g}; arms that were not split as planned differ in
    more than the system: find the cause before you compare them
    """
    words = split.words
    most = str(split.arms[int(np.argmax(split.over))])
    return Seen(split.off if words["p"] < MISMATCH else 0, int(split.units.sum()), most, words)


@check("warning", "{word}")
def sample_ratio_mismatch_in_a_segment(segment: OffSegment) -> Seen:
    """{each} {word}, and their shares should be {shares}: p is {p:.2g}, corrected for {of} segments (exact binomial
    test); the arms differ in this segment in more than the system, even if all segments together are split as planned
    """
    split = segment.split
    return Seen(split.off, int(split.units.sum()), segment.name, split.words | {"p": segment.p, "of": segment.of})


@check("warning", "{word}")
def units_of_several_arms(split: Split) -> Seen:
    """{word} that are in more than one arm: compare(paired=False) counts each as one unit; in an online test, the
    effect of one arm is then also in the other
    """
    return Seen(split.several, split.known, None, {"word": split.word})


@check("warning", "{word}")
def few_units_that_vary_otherwise(uneven: UnevenArm) -> Seen:
    """{arm} has {n} {word}, and {what} vary {ratio:.1f} times as much between them as between those of {other}: with so
    few, the p-value of the randomization test may be wrong; use compare(test='t')
    """
    return Seen(uneven.n if uneven.ratio else 0, uneven.of, uneven.arm or None, uneven._asdict())


@check("fact", "{word}")
def units_split(split: Split) -> Seen:
    """{each} {word}, and their shares should be {shares}: p is {p:.2g} (chi-square test)"""
    return Seen(int(split.units.sum()), None, None, split.words)


def check_split(split: Any, columns: Columns, *, alone: bool) -> None:
    """Raise for an invalid ``split=``, and for a frame without systems; ``alone``: no baseline is given."""
    if not isinstance(split, Mapping) or len(split) < 2:
        raise BadValueError(f"split={shown(split)} is not a share for each of two systems, as {{'A': 0.5, 'B': 0.5}}")
    for arm, share in split.items():
        if isinstance(share, bool) or not isinstance(share, Real) or not 0 < share < 1:  # type: ignore[operator]
            raise BadValueError(f"split: {shown(arm)} has {shown(share)}, and a share is a number between 0 and 1")
    if abs(sum(map(float, split.values())) - 1) > NEAR:
        raise BadValueError(f"split: shares add up to {sum(split.values()):g}, and should add up to 1")
    if columns.system is None:
        raise ColumnError("split= is of the arms of a test; name their column with system=")
    if not alone:
        raise NotComputableError("split= looks at each arm over its own queries, and baseline= at all; say one of them")


def split_of_rows(rows: pl.DataFrame, columns: Columns, split: Mapping[Any, float]) -> Iterator[About]:
    """Yield the subjects of checks of the split of rows without a query; the units are clusters, or else rows."""
    held = role_columns(rows, columns, ("cluster", "count"))
    keys = {f"by:{i}": rows[name] for i, name in enumerate(columns.by)} | {"system": rows[str(columns.system)]}
    table = pl.DataFrame(keys | {"unit": held.get("cluster", pl.Series(range(len(rows))))})
    times = held["count"] if "count" in held and "cluster" not in held else pl.lit(1, pl.Int64)
    return _about(table.with_columns(times=times), columns, "rows", split)


def split_of_queries(
    log: Log, columns: Columns, split: Mapping[Any, float], values: Mapping[str, Array]
) -> Iterator[About]:
    """Yield the subjects of checks of the split of a log whose systems have their own queries.

    The units are clusters, or else queries.

    Parameters
    ----------
    values : numbers of each ranking by name, NaN for none, shape (rankings,) each.
    """
    cluster, keys = log.said_of_queries("cluster"), log.columns.key_names[1]
    unit = pl.Series("unit", log.grid.query if cluster is None else cluster, nan_to_null=True)
    table = log.keys_of(keys).rename({keys[-1]: "system"})
    table = table.with_columns(unit, times=pl.lit(1, pl.Int64))
    yield from _about(table.drop_nulls("unit"), columns, "queries", split)
    word = f"clusters ({columns.cluster})" if columns.cluster else "queries"
    yield About(_spread(table.select("system", "unit"), values, word))


def _spread(table: pl.DataFrame, values: Mapping[str, Array], word: str) -> UnevenArm:
    """Find the arm of few units whose spread differs most from that of another arm.

    Parameters
    ----------
    table : the system and the unit of each ranking.
    """
    found = [UnevenArm("", "", 0.0, 0, table["unit"].n_unique(), "", word)]
    for what, value in values.items():
        held = table.with_columns(value=pl.Series(value - offsets(value), nan_to_null=True))
        some = held.drop_nulls(["unit", "value"])
        units = some.group_by("system", "unit", maintain_order=True).agg(pl.col("value").sum(), size=pl.len())
        each = [
            (str(arm), len(own), float(linear(own["value"].to_numpy()[:, None], own["size"].to_numpy()).std(ddof=1)))
            for (arm,), own in units.group_by("system", maintain_order=True)
            if len(own) > 1
        ]
        for (arm, n, spread), (other, _, less) in permutations([one for one in each if one[2] > 0], 2):
            if n < FEW and max(spread / less, less / spread) > WIDE:
                found.append(UnevenArm(arm, other, spread / less, n, found[0].of, what, word))
    # If both arms of a pair have few units, the one with fewer is reported, whatever the order of rows.
    return max(found, key=lambda one: (round(abs(np.log(one.ratio or 1)), 9), -one.n, one.arm))


def _about(table: pl.DataFrame, columns: Columns, word: str, split: Mapping[Any, float]) -> Iterator[About]:
    """Yield the split of all units, and then the segments whose split deviates from it.

    Parameters
    ----------
    table : units with the columns system, unit and times, the number that each stands for, and those of ``by``.
    """
    whole = _split(table.select("system", "unit", "times").unique(maintain_order=True), columns, word, split)
    yield About(whole)
    if columns.by:
        yield from map(About, _off_segments(table.unique(maintain_order=True), whole))


def _off_segments(table: pl.DataFrame, whole: Split) -> list[OffSegment]:
    """Return the segments whose split deviates from the shares; [] if there is only one segment.

    Parameters
    ----------
    table : one row for each unit of each system and segment.
    """
    by = [name for name in table.columns if name.startswith("by:")]
    each = table.group_by(*by, "system", maintain_order=True).agg(pl.col("times").sum())
    keys = each.select(by)
    _, first, segment = np.unique(np.array(drawing_places(keys)), axis=1, return_index=True, return_inverse=True)
    if len(first) < 2:
        return []
    units = np.zeros((len(first), len(whole.arms)), np.int64)
    units[segment.ravel(), [whole.arms.index(arm) for arm in each["system"].to_list()]] = each["times"].to_numpy()
    p = adjusted(np.array([split_exactly(here, whole.shares) for here in units]), "holm")
    return [
        OffSegment(as_text(keys, int(first[i])), whole._replace(units=units[i]), float(p[i]), len(first))
        for i in np.flatnonzero(p < MISMATCH)
    ]


def _split(table: pl.DataFrame, columns: Columns, word: str, split: Mapping[Any, float]) -> Split:
    """Count the units of each arm.

    Parameters
    ----------
    table : one row for each unit of each system; times is the number of units that it stands for.
    """
    arms, units = table.group_by("system", maintain_order=True).agg(pl.col("times").sum())
    with about_the_call():
        asked = [number_of(arm, arms, str(columns.system), "split: ") for arm in split]
        if lacking := [arm for at, arm in enumerate(arms.to_list()) if at not in asked]:
            raise BadValueError(f"split: {listed(lacking[:5])} of {columns.system} has no share; give each system one")
    several, known = len(table) - table["unit"].n_unique(), table["unit"].n_unique()
    shares = np.array([float(share) for share in split.values()])
    word = f"clusters ({columns.cluster})" if columns.cluster else word
    n = units.to_numpy().astype(np.int64)[asked]
    return Split(arms.gather(asked).to_list(), n, shares / shares.sum(), several, known, word)
