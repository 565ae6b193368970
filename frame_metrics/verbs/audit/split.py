"""Checks of the split of units between the arms of an online test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np
import polars as pl

from frame_metrics.backends.times import order_of_arms
from frame_metrics.errors import quote
from frame_metrics.inputs import Array
from frame_metrics.keys.groups import as_text, drawing_ranks
from frame_metrics.keys.index import Index
from frame_metrics.measuring.split import (
    MISMATCH_P,
    Shares,
    Split,
    null_is_an_arm,
    split_of,
    units_of_queries,
    units_of_rows,
    word_for,
)
from frame_metrics.roles.columns import ROLES, Columns
from frame_metrics.stats.distances import is_rare
from frame_metrics.stats.exact import split_exactly
from frame_metrics.stats.offsets import offsets
from frame_metrics.stats.significance import adjusted
from frame_metrics.stats.two_arms import KINDS, commonest, few_differ, of_kinds
from frame_metrics.verbs.audit.checks import About, Seen, check

RELEVANT = "relevant results"  # of each ranking; if most have one, the metrics may differ all the same


class OffSegment(NamedTuple):
    """A segment whose units are not split as they should be."""

    name: str  # the values of its by columns
    split: Split  # of its units
    p: float  # p-value, corrected for the number of segments
    of: int  # number of segments


class InSeveralArms(NamedTuple):
    """The number of units that are in more than one arm."""

    n: int
    of: int  # number of distinct units
    word: str  # the word for the units


class UnnamedUnits(NamedTuple):
    """The columns that are called as users are, where arms have no clusters."""

    names: list[str]


class RareArm(NamedTuple):
    """An arm whose units have one value but for a few; ``few`` is -1 if there is no such arm."""

    arm: str
    few: float  # units with another value: those of the arm, or those that can be expected in it
    n: int  # number of units of the arm
    of: int  # number of units of all arms
    value: float  # the value that most have
    what: str  # the name of the values
    word: str  # the word for the units


class ExpectedFew(RareArm):
    """The smaller of two arms, in which few units with another value can be expected."""


class SeenFew(RareArm):
    """An arm in which few units have another value."""


@check("warning", "{word}")
def sample_ratio_mismatch(split: Split) -> Seen:
    """{each} {word}, and their shares should be {shares}: p is {p:.2g}; arms that were not split as planned differ in
    more than the system: find the cause before you compare them{users}
    """
    words = split.words | {"users": _of_users(split.word)}
    most = str(split.arms[int(np.argmax(split.over))]) if split.arms else None  # of no unit at all
    return Seen(split.off if words["p"] < MISMATCH_P else 0, int(split.units.sum()), most, words)


@check("warning", "{word}")
def sample_ratio_mismatch_in_a_segment(segment: OffSegment) -> Seen:
    """{each} {word}, and their shares should be {shares}: p is {p:.2g}, corrected for {of} segments (exact binomial
    test); the arms differ in this segment in more than the system, even if all segments together are split as
    planned{users}
    """
    split = segment.split
    words = split.words | {"p": segment.p, "of": segment.of, "users": _of_users(split.word)}
    return Seen(split.off, int(split.units.sum()), segment.name, words)


def _of_users(word: str) -> str:
    """Return what to do where the units are not named, so that a split of users looks wrong by chance."""
    if word not in ("queries", "rows"):
        return ""
    return f"; if users were split, name them with cluster=: the {word} of one user are not split one by one"


@check("warning", "{word}")
def units_of_several_arms(units: InSeveralArms) -> Seen:
    """{word} that are in more than one arm: ab_test() counts each as one unit; in an online test, the
    effect of one arm is then also in the other
    """
    return Seen(units.n, units.of, None, {"word": units.word})


@check("info", "columns")
def users_that_are_not_named(unnamed: UnnamedUnits) -> Seen | None:
    """no role names {said}: if these were split between the arms, pass cluster={said}. Else those in several arms are
    not found, and intervals take all their searches as independent
    """
    names = unnamed.names
    return Seen(len(names), None, names[0], {"said": quote(names[0])}) if names else None


@check("warning", "{word}")
def rare_values(rare: ExpectedFew) -> Seen:
    """{arm} has {n} {word}, and {few:.0f} of them can be expected to have {what} other than {value:g}, which most have:
    of so rare values ab_test() exchanges the plain difference, and sees one too often where values of one arm are rarer
    and larger than those of another
    """
    return Seen(rare.n if rare.few >= 0 else 0, rare.of, rare.arm or None, rare._asdict())


@check("warning", "{word}")
def few_units_with_another_value(seen: SeenFew) -> Seen:
    """{arm} has {few:.0f} {word} with {what} other than {value:g}, which most have: of fewer than 10 test='t', 'z' and
    'bootstrap' have wrong intervals and p-values; use the default test
    """
    return Seen(seen.n if seen.few >= 0 else 0, seen.of, seen.arm or None, seen._asdict())


@check("fact", "{word}")
def units_split(split: Split) -> Seen:
    """{each} {word}, and their shares should be {shares}: p is {p:.2g} (chi-square test)"""
    return Seen(int(split.units.sum()), None, None, split.words)


def split_of_rows(rows: pl.DataFrame, columns: Columns, split: Shares | None) -> Iterator[About]:
    """Yield the subjects of checks of the split of rows without a query; the units are clusters, or else rows."""
    if _is_looked_at(columns, split):
        yield from _about(_of_arms(units_of_rows(rows, columns), split), columns, split)


def split_of_queries(
    index: Index, cluster: Array | None, split: Shares | None, values: Mapping[str, Array]
) -> Iterator[About]:
    """Yield the subjects of checks of the split of a log whose arms have their own queries.

    The units are clusters, or else queries.

    Parameters
    ----------
    index : the rankings.
    cluster : the number of each ranking's cluster, NaN for none; None without clusters.
    split : the shares of the arms; None if they are not given, and only clusters of several arms are looked for.
    values : numbers of each ranking by name, NaN for none, shape (rankings,) each.
    """
    columns = index.columns
    if _is_looked_at(columns, split):
        table = _of_arms(units_of_queries(index, cluster), split)
        yield from _about(table, columns, split)
        if split is not None:
            yield from map(About, _rare(table.select("arm", "unit"), values, word_for(columns)))


def about_unnamed_units(columns: Columns, available: Sequence[str]) -> Iterator[About]:
    """Yield the subject of the check of users whom no role names; ``available``: the columns of the frame."""
    if columns.arm and not columns.cluster:
        free = [name for name in available if name not in columns.needed]
        yield About(UnnamedUnits(ROLES["cluster"].among(free)))


def _is_looked_at(columns: Columns, split: Shares | None) -> bool:
    """Return True if units are counted: with shares of arms, or if clusters of several arms can be told."""
    return split is not None or bool(columns.arm and columns.cluster)


def _rare(table: pl.DataFrame, values: Mapping[str, Array], word: str) -> tuple[ExpectedFew, SeenFew]:
    """Find the arm in which fewest units with another value can be expected, and that in which fewest are.

    Parameters
    ----------
    table : the arm and the unit of each ranking.
    """
    of = table["unit"].drop_nulls().n_unique()
    expected, seen = [ExpectedFew("", -1, 0, of, 0, "", word)], [SeenFew("", -1, 0, of, 0, "", word)]
    for what, value in values.items():
        offset = float(offsets(value))
        shifted = table.with_columns(value=pl.Series(value - offset, nan_to_null=True))
        some = shifted.drop_nulls(["unit", "value"])
        units = some.group_by("arm", "unit", maintain_order=True).agg(pl.col("value").mean(), size=pl.len())
        each = [(str(arm), own["value"].to_numpy()) for (arm,), own in units.group_by("arm", maintain_order=True)]
        if units["value"].n_unique() < 2:
            continue
        # Arms that have few units with another value than the commonest.
        for arm, own in each:
            most, common = commonest(own)
            if few_differ(np.array(len(own)), np.array(most)).item() and not (common + offset and what == RELEVANT):
                seen.append(SeenFew(arm, len(own) - most, len(own), of, common + offset, what, word))
        # Pairs of arms in whose smaller one few such units can be expected.
        for (arm, own), (_, others) in permutations(each, 2):
            both = np.concatenate([own, others])
            most, common = commonest(both)
            shares = not units["size"].gt(1).any() and len(of_kinds(both)) < KINDS
            plain = shares or (common + offset and what == RELEVANT)
            if len(own) <= len(others) and is_rare(len(both), most, len(own)) and not plain:
                few = (len(both) - most) * len(own) / len(both)
                expected.append(ExpectedFew(arm, few, len(own), of, common + offset, what, word))

    def fewest_first(one: RareArm) -> tuple[float, int, str]:  # so that the order of the rows does not matter
        return one.few, one.n, one.arm

    return min(expected[1:] or expected, key=fewest_first), min(seen[1:] or seen, key=fewest_first)


def _of_arms(table: pl.DataFrame, split: Shares | None) -> pl.DataFrame:
    """Return the units, where those of no arm are null, unless it ``null_is_an_arm``."""
    if null_is_an_arm(table["arm"].unique(), split):
        return table
    return table.with_columns(unit=pl.when(pl.col("arm").is_not_null()).then("unit"))


def _about(table: pl.DataFrame, columns: Columns, split: Shares | None) -> Iterator[About]:
    """Yield the split of all units, the segments whose split deviates from it, and the units of several arms.

    Without shares only clusters of several arms are yielded, and none of periods: those come back.

    Parameters
    ----------
    table : the units, as ``units_of_rows`` returns them; null for those that are left out.
    """
    table = table.drop_nulls("unit")
    each = table.select("arm", "unit", "times").unique(maintain_order=True)
    if split is not None:
        whole = split_of(each, columns, split)
        yield About(whole)
        if columns.segments:
            yield from map(About, _off_segments(table.unique(maintain_order=True), whole))
    arms = each["arm"].unique(maintain_order=True)
    if split is not None or not order_of_arms(arms.alias(str(columns.arm))).are_periods:
        of_unit = each.group_by("unit").len()["len"]
        yield About(InSeveralArms(int((of_unit > 1).sum()), len(of_unit), word_for(columns)))


def _off_segments(table: pl.DataFrame, whole: Split) -> list[OffSegment]:
    """Return the segments whose split deviates from the shares; [] if there is only one segment.

    Parameters
    ----------
    table : one row for each unit of each arm and segment.
    """
    by = [name for name in table.columns if name.startswith("by:")]
    each = table.group_by(*by, "arm", maintain_order=True).agg(pl.col("times").sum())
    keys = each.select(by)
    _, first, segment = np.unique(np.array(drawing_ranks(keys)), axis=1, return_index=True, return_inverse=True)
    if len(first) < 2:
        return []
    units = np.zeros((len(first), len(whole.arms)), np.int64)
    units[segment.ravel(), [whole.arms.index(arm) for arm in each["arm"].to_list()]] = each["times"].to_numpy()
    p = adjusted(np.array([split_exactly(here, whole.shares) for here in units]), "holm")
    return [
        OffSegment(as_text(keys, int(first[i])), whole._replace(units=units[i]), float(p[i]), len(first))
        for i in np.flatnonzero(p < MISMATCH_P)
    ]
