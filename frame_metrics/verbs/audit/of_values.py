"""Checks of numbers that were computed elsewhere, and of a saved baseline beside a frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from frame_metrics.inputs import Array
from frame_metrics.measuring.baseline import Turnover
from frame_metrics.measuring.values import Values
from frame_metrics.stats.significance import CLOSE
from frame_metrics.verbs.audit.checks import NO_ROWS, Seen, check, in_unit, name_of_ranking, seen_of
from frame_metrics.verbs.audit.of_systems import (
    ALMOST_NONE,
    MOST_QUERIES,
    SOME_QUERIES,
    in_several_segments,
    lacking,
    sharing,
    what_to_do,
)
from frame_metrics.verbs.audit.other_spellings import most_otherwise, written_otherwise


def _seen(numbers: Values, marked: Array, of: Array, words: Mapping[str, Any] | None = None) -> Seen:
    """Count the marked numbers, among those in ``of``; the example has the keys of the first.

    ``marked`` and ``of`` are marks of shape (metrics, rankings).
    """
    rankings, metrics = np.nonzero(marked.T)
    if not len(rankings):
        return Seen(0, int(of.sum()))
    keys, metric = name_of_ranking(numbers.index, int(rankings[0])), numbers.asked[metrics[0]][0]
    return Seen(len(rankings), int(of.sum()), f"{keys}, {metric}", words or {})


@check("error", "query", name="nothing to evaluate")
def nothing_but_nulls(numbers: Values) -> Seen:
    """{why}, so every mean is null, and n is 0"""
    why = "no query has a number" if numbers.value.size else f"{NO_ROWS} and no query"
    return Seen(int(np.isnan(numbers.value).all()), words={"why": why})


@check("error", "pairs of systems", name="systems that share almost no query")
def systems_that_share_almost_no_query(numbers: Values) -> Seen | None:
    """{one} and {other} share {common} queries, of the {fewer} of the one that has fewer, and should share most. Only
    the queries that both have are compared. If each query belonged to one system, name {columns.system} with by=
    instead of system=
    """
    return sharing(numbers.index, 0, ALMOST_NONE)


@check("warning", "pairs of systems", name="systems that share few queries")
def systems_that_share_few_queries(numbers: Values) -> Seen | None:
    """{one} and {other} share {common} queries, of the {fewer} of the one that has fewer, and should share most. Their
    means are over different queries: keep only the queries that all systems have
    """
    return sharing(numbers.index, ALMOST_NONE, 0.5)


@check("error", "queries", name="systems without rows for most queries")
def systems_with_few_answers(numbers: Values) -> Seen | None:
    """{system} did not answer {lacking} of {queries} queries{others}, and their numbers count. {way}"""
    return _unanswered(numbers, MOST_QUERIES, 1)


@check("warning", "queries", name="systems without rows for some queries")
def systems_without_some_answers(numbers: Values) -> Seen | None:
    """{system} did not answer {lacking} of {queries} queries{others}, and their numbers count. {way}"""
    return _unanswered(numbers, SOME_QUERIES, MOST_QUERIES)


def _unanswered(numbers: Values, least: float, most: float) -> Seen | None:
    """Count the systems with numbers of queries that they did not answer, as ``lacking`` does."""
    none = (
        np.zeros(len(numbers.evaluated), bool)
        if numbers.without_value is None
        else np.all(numbers.without_value, axis=0)
    )
    seen = lacking(numbers.index, numbers.unanswered & ~none, ~none, least, most)
    if seen is None or not seen.n:
        return seen
    spelled = written_otherwise(numbers.index, None).get(seen.words["system_number"])
    return seen._replace(words={**seen.words, "way": what_to_do(seen.n, spelled, "pass unanswered='drop'")})


@check("warning", "queries", name="queries that systems write otherwise")
def numbers_of_queries_written_otherwise(numbers: Values) -> Seen | None:
    """{n} of {of} queries of {whose} are those of other systems under another spelling{others}: {said}. They differ in
    case, spaces, zeros or Unicode form only, and count as different queries, of which the other systems have no
    numbers. {way}
    """
    return most_otherwise(numbers.index, written_otherwise(numbers.index, None)) if numbers.columns.system else None


@check("info", "rankings", name="unanswered queries")
def unanswered_numbers(numbers: Values) -> Seen | None:
    """left out by unanswered='drop': the column {columns.answered} says so"""
    if numbers.conventions.unanswered != "drop":
        return None
    return seen_of(numbers.index, "rankings", numbers.unanswered, np.ones(len(numbers.evaluated)))


@check("warning", "numbers")
def numbers_that_are_undefined(numbers: Values) -> Seen:
    """null or NaN: left out of means, and counted in n_undefined; undefined= sets what they count as"""
    there = np.ones(numbers.value.shape, bool) & (True if numbers.without_value is None else ~numbers.without_value)
    return _seen(numbers, np.isnan(numbers.value) & there, there)


@check("warning", "queries")
def queries_without_a_number(numbers: Values) -> Seen | None:
    """they have no number for a metric that other queries have, so its mean leaves them out"""
    if numbers.without_value is None:
        return None
    absent = np.any(numbers.without_value, axis=0)
    return seen_of(numbers.index, "queries", np.asarray(absent), np.ones(len(absent)))


@check("warning", "numbers")
def numbers_out_of_range(numbers: Values) -> Seen | None:
    """{metric} is always between {least:g} and {most:g}, and these are not: are they percentages, or numbers of another
    metric?
    """
    if not numbers.asked:
        return None
    with np.errstate(invalid="ignore"):
        ends = np.array([metric.range for _, metric in numbers.asked]).reshape(-1, 2, 1)
        out = (numbers.value < ends[:, 0] - CLOSE) | (numbers.value > ends[:, 1] + CLOSE)
    metric = int(out.any(axis=1).argmax())
    marked = out & (np.arange(len(out)) == metric)[:, None]
    words = dict(zip(("least", "most"), ends[metric, :, 0], strict=True)) | {"metric": numbers.asked[metric][0]}
    return _seen(numbers, marked, ~np.isnan(numbers.value), words)


@check("info", "queries", name="queries in several segments")
def numbers_in_several_segments(numbers: Values) -> Seen | None:
    """each segment has its own number for them, and totals count them once per segment"""
    return in_several_segments(numbers.index)


@check("fact", "queries", name="queries")
def queries_with_numbers(numbers: Values) -> Seen:
    """queries that have a number{in_a_segment}"""
    there = np.asarray(~np.isnan(numbers.value).all(axis=0))
    n, of = (in_unit(numbers.index, "queries", some) for some in (there, np.ones(len(there))))
    return Seen(n, of)


@check("fact", "metrics", name="metrics")
def metrics_of_numbers(numbers: Values) -> Seen:
    """{metrics}"""
    return Seen(len(numbers.asked))


def _shared(turnover: Turnover, least: float, most: float) -> Seen:
    """Count the queries that only one side has, of the side with fewer queries.

    The count is 0 unless the share of common queries, of that side's, is at least ``least`` and below ``most``.
    """
    fewer = min(turnover.here, turnover.there)
    found = least <= turnover.common / max(fewer, 1) < most
    return Seen((fewer - turnover.common) * found, fewer, None, {"common": turnover.common, "fewer": fewer})


@check("error", "queries")
def a_baseline_with_other_queries(turnover: Turnover) -> Seen:
    """the frame and the baseline share {common} queries, of the {fewer} of the one that has fewer, and compare() uses
    only those: are both about the same queries?
    """
    return _shared(turnover, 0, 0.1)


@check("warning", "queries")
def a_baseline_most_of_whose_queries_turned_over(turnover: Turnover) -> Seen:
    """the frame and the baseline share {common} queries, of the {fewer} of the one that has fewer, and compare() uses
    only those: its means are over these alone
    """
    return _shared(turnover, 0.1, 0.5)


@check("warning", "queries")
def queries_written_otherwise_in_the_baseline(turnover: Turnover) -> Seen:
    """{n} of {of} queries are in the baseline under another spelling: {said}. They differ in case, spaces, leading
    zeros or Unicode form only, and compare() leaves them out. Write ids alike first
    """
    n, said = turnover.near
    return Seen(n, turnover.here, said or None, {"said": said})


@check("info", "queries")
def queries_without_a_saved_number(turnover: Turnover) -> Seen:
    """the baseline does not have them: compare() leaves them out, and counts them in n_unpaired"""
    return Seen(turnover.only_here[0], turnover.here, turnover.only_here[1])


@check("info", "queries")
def queries_of_the_baseline_alone(turnover: Turnover) -> Seen:
    """the frame does not have them: compare() leaves them out, and counts them in n_unpaired"""
    return Seen(turnover.only_there[0], turnover.there, turnover.only_there[1])
