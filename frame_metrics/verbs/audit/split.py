"""Checks of the split of units between the arms of an online test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import permutations
from typing import NamedTuple

import numpy as np
import polars as pl

from frame_metrics.data.groups import as_text, drawing_places
from frame_metrics.data.log import Log
from frame_metrics.inputs import Array
from frame_metrics.measuring.split import MISMATCH, Shares, Split, split_of, units_of_log, units_of_rows, word_for
from frame_metrics.roles.columns import Columns
from frame_metrics.stats.exact import split_exactly
from frame_metrics.stats.offsets import offsets
from frame_metrics.stats.significance import adjusted
from frame_metrics.stats.units import linear
from frame_metrics.verbs.audit.checks import About, Seen, check

FEW = 30  # units of an arm below which a spread of their own makes randomization err
WIDE = 2.0  # times that units vary as much as those of another arm


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
    """{word} that are in more than one arm: ab_test() counts each as one unit; in an online test, the
    effect of one arm is then also in the other
    """
    return Seen(split.several, split.known, None, {"word": split.word})


@check("warning", "{word}")
def few_units_that_vary_otherwise(uneven: UnevenArm) -> Seen:
    """{arm} has {n} {word}, and {what} vary {ratio:.1f} times as much between them as between those of {other}: with so
    few, the p-value of the randomization test may be wrong; use ab_test(test='t')
    """
    return Seen(uneven.n if uneven.ratio else 0, uneven.of, uneven.arm or None, uneven._asdict())


@check("fact", "{word}")
def units_split(split: Split) -> Seen:
    """{each} {word}, and their shares should be {shares}: p is {p:.2g} (chi-square test)"""
    return Seen(int(split.units.sum()), None, None, split.words)


def split_of_rows(rows: pl.DataFrame, columns: Columns, split: Shares) -> Iterator[About]:
    """Yield the subjects of checks of the split of rows without a query; the units are clusters, or else rows."""
    return _about(units_of_rows(rows, columns), columns, split)


def split_of_queries(log: Log, columns: Columns, split: Shares, values: Mapping[str, Array]) -> Iterator[About]:
    """Yield the subjects of checks of the split of a log whose arms have their own queries.

    The units are clusters, or else queries.

    Parameters
    ----------
    values : numbers of each ranking by name, NaN for none, shape (rankings,) each.
    """
    table = units_of_log(log)
    yield from _about(table.drop_nulls("unit"), columns, split)
    yield About(_spread(table.select("arm", "unit"), values, word_for(columns)))


def _spread(table: pl.DataFrame, values: Mapping[str, Array], word: str) -> UnevenArm:
    """Find the arm of few units whose spread differs most from that of another arm.

    Parameters
    ----------
    table : the arm and the unit of each ranking.
    """
    found = [UnevenArm("", "", 0.0, 0, table["unit"].n_unique(), "", word)]
    for what, value in values.items():
        held = table.with_columns(value=pl.Series(value - offsets(value), nan_to_null=True))
        some = held.drop_nulls(["unit", "value"])
        units = some.group_by("arm", "unit", maintain_order=True).agg(pl.col("value").sum(), size=pl.len())
        each = [
            (str(arm), len(own), float(linear(own["value"].to_numpy()[:, None], own["size"].to_numpy()).std(ddof=1)))
            for (arm,), own in units.group_by("arm", maintain_order=True)
            if len(own) > 1
        ]
        for (arm, n, spread), (other, _, less) in permutations([one for one in each if one[2] > 0], 2):
            if n < FEW and max(spread / less, less / spread) > WIDE:
                found.append(UnevenArm(arm, other, spread / less, n, found[0].of, what, word))
    # If both arms of a pair have few units, the one with fewer is reported, whatever the order of rows.
    return max(found, key=lambda one: (round(abs(np.log(one.ratio or 1)), 9), -one.n, one.arm))


def _about(table: pl.DataFrame, columns: Columns, split: Shares) -> Iterator[About]:
    """Yield the split of all units, and then the segments whose split deviates from it.

    Parameters
    ----------
    table : the units, as ``units_of_rows`` returns them.
    """
    whole = split_of(table, columns, split)
    yield About(whole)
    if columns.segments:
        yield from map(About, _off_segments(table.unique(maintain_order=True), whole))


def _off_segments(table: pl.DataFrame, whole: Split) -> list[OffSegment]:
    """Return the segments whose split deviates from the shares; [] if there is only one segment.

    Parameters
    ----------
    table : one row for each unit of each arm and segment.
    """
    by = [name for name in table.columns if name.startswith("by:")]
    each = table.group_by(*by, "arm", maintain_order=True).agg(pl.col("times").sum())
    keys = each.select(by)
    _, first, segment = np.unique(np.array(drawing_places(keys)), axis=1, return_index=True, return_inverse=True)
    if len(first) < 2:
        return []
    units = np.zeros((len(first), len(whole.arms)), np.int64)
    units[segment.ravel(), [whole.arms.index(arm) for arm in each["arm"].to_list()]] = each["times"].to_numpy()
    p = adjusted(np.array([split_exactly(here, whole.shares) for here in units]), "holm")
    return [
        OffSegment(as_text(keys, int(first[i])), whole._replace(units=units[i]), float(p[i]), len(first))
        for i in np.flatnonzero(p < MISMATCH)
    ]
