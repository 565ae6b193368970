"""Checks of judgments by people and by a machine, as prediction-powered means take them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import polars as pl

from frame_metrics.inputs import Array
from frame_metrics.inputs.records import record
from frame_metrics.keys.groups import CellGroups, segments_of
from frame_metrics.measuring.proxies import Both, both_unchecked, members_of
from frame_metrics.metrics.names import read
from frame_metrics.plan.call import Call
from frame_metrics.plan.source import Source
from frame_metrics.roles.columns import Columns, role_columns
from frame_metrics.stats.proxies import FEWEST
from frame_metrics.stats.significance import CLOSE
from frame_metrics.verbs.audit import of_logs
from frame_metrics.verbs.audit.checks import SURE, TOP_RANKS, About, Seen, check, in_unit, seen_in, seen_of

# Checks of what people did not judge, which a machine did.
NOT_BY_PEOPLE = (of_logs.queries_without_judgments, of_logs.unjudged_in_the_top, of_logs.unjudged_results)
CHOSEN = "chosen"  # what to_judge calls such a column
ANOTHER_SCALE = 2.0  # how many times as high the highest grade of one side is, if the two have not one scale


@record
class Sides:
    """Judgments by people and a machine of the first results of each ranking."""

    both: Both
    segments: CellGroups
    members: list[Array]  # the rankings of each that the machine judged

    @property
    def mine(self) -> Array:
        """True for rankings that people judged whole."""
        return ~np.isnan(self.both.people.values[0])

    @property
    def looked_at(self) -> Array:
        """True for segments with such rankings."""
        return np.array([len(at) > 0 for at in self.members], bool)

    def values(self, some: Array) -> list[Array]:
        """Return the machine's values of some rankings of each segment."""
        return [self.both.proxy[0, at[some[at]]] for at in self.members]


@check("error", "queries")
def queries_that_only_people_judged(sides: Sides) -> Seen:
    """the machine judged none of their documents, so evaluate() and compare() raise an error: let the machine judge
    them, or leave these queries out
    """
    return Seen(sides.both.only_by_people[0], None, sides.both.only_by_people[1])


@check("fact", "queries")
def queries_that_the_machine_judged(sides: Sides) -> Seen:
    """queries that count in means beside those that people judged: the machine judged some of their documents"""
    values = sides.both.all_values
    return Seen(in_unit(values.index, "queries", values.evaluated), len(values.index.queries))


@check("warning", "results", name=f"unjudged in the top {TOP_RANKS} by the machine")
def unjudged_by_the_machine(sides: Sides) -> Seen:
    """results of all queries that the machine judged, counted as not relevant: it did not judge these documents"""
    values = sides.both.all_values
    share_of_places, first = np.where(values.evaluated, values.value[1:], 0)
    return seen_of(values.index, "results", np.rint(share_of_places * TOP_RANKS), first)


@check("warning", "rankings")
def rankings_judged_by_people_in_part(sides: Sides) -> Seen:
    """people judged some documents of the query, but not all of its first {top} results that the machine judged. For
    metrics @{top} it counts as one that only the machine judged, so that those which people judged whole are chosen by
    their results{beside}. Let people judge these results of every system, or ask for metrics of the first results that
    they did judge, as precision@5
    """
    both = sides.both
    parts = both.people.judged & ~sides.mine
    one, other = (float(both.proxy[0, some].mean()) if some.any() else 0.0 for some in (sides.mine, parts))
    beside = f": the machine's mean dcg@{TOP_RANKS} is {one:.3g} over them, and {other:.3g} over these"
    words = {"beside": beside if sides.mine.any() else ""}
    return seen_of(both.all_values.index, "rankings", parts, both.people.judged, words)


@check("warning", "queries")
def queries_of_which_people_judged_fewer_documents(sides: Sides) -> Seen:
    """the machine also judged documents that people did not. For metrics that use the number of relevant documents or
    the ideal, such as recall and ndcg, these count as queries that only the machine judged. Let people judge the same
    documents, or pass the machine's judgments of these documents only, for all queries alike
    """
    return seen_of(sides.both.all_values.index, "queries", sides.both.partly_judged, sides.both.people.judged)


@check("warning", "segments")
def segments_that_people_judged_too_few_queries_of(sides: Sides) -> Seen:
    """people judged the first {top} results of fewer than {fewest} queries, so evaluate(...@{top}) is null there: let
    them judge more queries, each whole
    """
    few = [sides.mine[at].sum() < FEWEST for at in sides.members]
    return seen_in(sides.segments, np.array(few, bool), sides.looked_at)


@check("warning", "segments")
def segments_of_which_the_machine_says_the_same(sides: Sides) -> Seen:
    """the machine's dcg@{top} is the same for all queries, so its judgments add nothing (lambda is 0)"""
    alike = [len(at) > 1 and np.ptp(sides.both.proxy[0, at]) == 0 for at in sides.members]
    return seen_in(sides.segments, np.array(alike, bool), sides.looked_at)


@check("warning", "segments")
def queries_for_people_that_are_no_random_sample(sides: Sides) -> Seen | None:
    """the machine's mean dcg@{top} is {one:.3g} over the queries that people judged, and {other:.3g} over the others. A
    random draw hardly ever gives such a difference, and without one prediction-powered means are biased: name the
    chance with which each query was drawn, with sampling=
    """
    if sides.both.people.chance is not None:
        return None
    ours, others = sides.values(sides.mine), sides.values(~sides.mine)
    one, other = (np.array([values.mean() if len(values) else np.nan for values in side]) for side in (ours, others))
    error = np.array([_error(*pair) for pair in zip(ours, others, strict=True)])
    there = error > CLOSE * np.abs(one)
    return seen_in(sides.segments, np.abs(one - other) > SURE * error, there, {"one": one, "other": other})


class GradesOfBoth(NamedTuple):
    """Grades by people and by a machine, which has no scale or ``rel`` of its own."""

    people: pl.Series
    machine: pl.Series


@check("warning", "judgments")
def grades_beyond_the_scale_of_the_other_side(grades: GradesOfBoth) -> Seen:
    """the highest grade of people is {people:g}, and that of the machine {machine:g}. If these are two scales, one rel=
    does not fit both, and the machine's own mean and bias mislead: machine.irm(grade=..., rel=..., scale=...) says what
    its grades mean. If both have one scale, its rel= says that, too
    """
    highest = {name: float(one.max() or 0) for name, one in grades._asdict().items()}
    least, most = sorted(highest.values())
    n = sum(int((one > least).sum()) for one in grades) if 0 < ANOTHER_SCALE * least <= most else 0
    return Seen(n, sum(map(len, grades)), words=highest)


class Chosen(NamedTuple):
    """A column that says which judgments were chosen."""

    marks: pl.Series


@check("warning", "judgments")
def judgments_that_were_chosen(chosen: Chosen) -> Seen:
    """{column} says that their documents were chosen because they can change the result. They settle which system is
    ahead on these queries, but means over them do not estimate those over all queries
    """
    return Seen(int(chosen.marks.sum()), len(chosen.marks), words={"column": chosen.marks.name})


def marked(call: Call) -> Columns | None:
    """Return the columns of judgments by people alone, with the one that marks chosen ones if it is there."""
    judged, beside = call.judgment_columns, call.judgments_backend
    if judged is None or beside is None or call.proxy is not None or call.unfolds:
        return judged
    return judged.changed(marked=CHOSEN) if CHOSEN in {*beside.names()}.difference(judged.needed) else judged


def about_chosen(source: Source) -> list[About]:
    """Return what says which judgments were chosen, where such a column is read."""
    column = None if source.call.judgment_columns is None else source.call.judgment_columns.marked
    marks = None if column is None else source.judgments.read([column])[column]
    return [] if marks is None or marks.dtype != pl.Boolean else [About(Chosen(marks))]


def _error(*sides: Array) -> float:
    """The standard error of a difference of means; NaN of few values."""
    few = min(map(len, sides)) < FEWEST
    return np.nan if few else float(np.sqrt(sum(side.var(ddof=1) / len(side) for side in sides)))


def about_proxies(source: Source) -> list[About]:
    """Return the subject of checks of proxy judgments, where people judged some queries and a machine all."""
    columns = source.call.columns
    if source.proxy is None or not (columns.score or columns.rank):
        return []
    both = both_unchecked(source, read([f"dcg@{TOP_RANKS}", f"unjudged@{TOP_RANKS}", f"num_ret@{TOP_RANKS}"]))
    segments = segments_of(both.all_values.index.cells)
    sides = Sides(both, segments, members_of(both.all_values, segments))
    return [About(sides, {"top": TOP_RANKS, "fewest": FEWEST}), *_about_grades(source, source.proxy)]


def _about_grades(*sources: Source) -> list[About]:
    """Return the grades of people and of a machine, unless a scale or ``rel`` of its own says what its grades mean."""
    judgments: Any = sources[0].call.plan.given.judgments
    *_, own = judgments[1]["proxy"]
    grades = list[pl.Series]()
    for source in sources if all(value is None for value in own.values()) else ():
        columns: Any = source.judgment_columns
        if columns.grade and not source.call.unfolds:
            frame, scale = source.judgments.read([columns.grade]), source.call.conventions.scale
            grades.append(role_columns(frame, columns, ["grade"], scale=scale)["grade"])
    return [About(GradesOfBoth(*grades))] if len(grades) == len(sources) else []
