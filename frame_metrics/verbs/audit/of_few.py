"""Checks of how many units there are: few queries, few clusters, and queries that are no units of their own."""

from __future__ import annotations

import numpy as np

from frame_metrics.errors import quote
from frame_metrics.inputs import Array
from frame_metrics.inputs.rows import mark_codes
from frame_metrics.keys.groups import as_text
from frame_metrics.keys.index import Index
from frame_metrics.measuring.split import repeated_terms
from frame_metrics.measuring.values import Values
from frame_metrics.stats.intervals import MIN_QUERIES
from frame_metrics.verbs.audit.checks import Counted, Seen, check
from frame_metrics.verbs.audit.of_rows import Pooled

CLUSTERS = 30  # with fewer clusters so are intervals and tests


@check("warning", "segments")
def segments_of_few_queries(counts: Counted) -> Seen:
    """fewer than {few} evaluated queries: their mean is uncertain, and skewed values keep its interval too narrow"""
    return _small_segments(counts.index, _queries_of(counts.index, counts.evaluated), MIN_QUERIES)


@check("warning", "queries")
def few_queries(counts: Counted) -> Seen:
    """fewer than {few} evaluated queries: their mean is uncertain, and skewed values keep its interval too narrow"""
    return _few(counts.index, _queries_of(counts.index, counts.evaluated), MIN_QUERIES)


@check("warning", "segments", name="segments of few queries")
def small_segments(numbers: Values) -> Seen:
    """fewer than {few} queries: their mean is uncertain, and skewed values keep its interval too narrow"""
    return _small_segments(numbers.index, _queries_of(numbers.index, _every(numbers)), MIN_QUERIES)


@check("warning", "queries", name="few queries")
def few_numbers(numbers: Values) -> Seen:
    """fewer than {few} queries: their mean is uncertain, and skewed values keep its interval too narrow"""
    return _few(numbers.index, _queries_of(numbers.index, _every(numbers)), MIN_QUERIES)


@check("warning", "segments")
def segments_of_few_clusters(counts: Counted) -> Seen | None:
    """fewer than {few_clusters} values of {columns.cluster}, of evaluated queries: so few clusters say little, and if
    they are skewed, intervals and tests are too sure
    """
    return _small_segments(counts.index, _clusters_of(counts.index, _cluster(counts), counts.evaluated), CLUSTERS)


@check("warning", "clusters")
def few_clusters(counts: Counted) -> Seen | None:
    """fewer than {few_clusters} values of {columns.cluster}, of evaluated queries: so few clusters say little, and if
    they are skewed, intervals and tests are too sure
    """
    return _few(counts.index, _clusters_of(counts.index, _cluster(counts), counts.evaluated), CLUSTERS)


@check("warning", "segments", name="segments of few clusters")
def small_segments_of_clusters(numbers: Values) -> Seen | None:
    """fewer than {few_clusters} values of {columns.cluster}: so few clusters say little, and if they are skewed,
    intervals and tests are too sure
    """
    return _small_segments(numbers.index, _clusters_of(numbers.index, numbers.cluster, _every(numbers)), CLUSTERS)


@check("warning", "clusters", name="few clusters")
def few_clusters_of_numbers(numbers: Values) -> Seen | None:
    """fewer than {few_clusters} values of {columns.cluster}: so few clusters say little, and if they are skewed,
    intervals and tests are too sure
    """
    return _few(numbers.index, _clusters_of(numbers.index, numbers.cluster, _every(numbers)), CLUSTERS)


@check("warning", "{cells}", name="few clusters of rows")
def few_clusters_of_rows(pooled: Pooled) -> Seen | None:
    """{few:.0f} values of {cluster}, fewer than {least:.0f}: so few clusters say little, and if they are skewed,
    intervals and tests are too sure
    """
    cases, segments = pooled.cases, pooled.inputs.segments
    if not cases.columns.cluster or cases.columns.query:
        return None
    place, cluster = segments.of(cases.rows), cases.rows["cluster"].to_numpy()
    pairs = np.unique(np.stack([place, cluster]), axis=1)[0]
    few = np.bincount(pairs[pairs >= 0].astype(np.int64), minlength=len(segments))
    seen = pooled.segments(few < CLUSTERS, few=few)
    return seen._replace(words={**seen.words, "cluster": cases.columns.cluster, "least": CLUSTERS})


@check("warning", "queries")
def queries_of_repeated_terms(counts: Counted) -> Seen:
    """{said} has most of its values beside each of the other columns of query=, as terms that are asked every day:
    intervals and tests take these queries as independent, and are too sure. Pass {said} as cluster= too
    """
    column, n = repeated_terms(counts.index, counts.evaluated)
    return Seen(n, n, None, {"said": quote(column)}) if n else Seen(0)


def _every(numbers: Values) -> Array:
    return np.ones(len(numbers.evaluated), bool)


def _cluster(counts: Counted) -> Array | None:
    """Return the number of the cluster of each ranking, NaN where unknown; None without clusters."""
    return counts.amounts.get("cluster")


def _queries_of(index: Index, some: Array) -> Array:
    """Return the number of queries of each segment that have a marked ranking, shape (segments,)."""
    first = index.first_of_segment_queries[mark_codes(index.segment_query[some], index.n_segment_queries)]
    return np.bincount(index.segment[first], minlength=len(index.segments))


def _clusters_of(index: Index, cluster: Array | None, some: Array) -> Array | None:
    """Return the number of clusters of each segment among marked rankings, shape (segments,); None without clusters."""
    if cluster is None:
        return None
    known = some & ~np.isnan(cluster)
    segments = np.unique(np.stack([index.segment[known], cluster[known]]), axis=1)[0].astype(np.int64)
    return np.bincount(segments, minlength=len(index.segments))


def _small_segments(index: Index, n: Array | None, least: int) -> Seen:
    """Count the segments with fewer units than ``least``; ``n``: their numbers, None if there are no such units."""
    by = index.columns.internal_by_role[1]
    if not by or n is None:
        return Seen(0)
    small = np.flatnonzero(n < least)
    return Seen(len(small), len(n), as_text(index.segments.values[small[:1]]))


def _few(index: Index, n: Array | None, least: int) -> Seen:
    """Count the units of a log without segments, if they are fewer than ``least``; the parameters are the same."""
    if index.columns.internal_by_role[1] or n is None:
        return Seen(0)
    every = int(n.sum())
    return Seen(every if every < least else 0)
