"""Values of metrics by people's judgments and by a machine's (``proxy=``), and prediction-powered means of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.backends.polars import PolarsFrame
from frame_metrics.backends.protocol import SeparateJudgments
from frame_metrics.data.log import NO_PIECE, Log, WholeLogFacts
from frame_metrics.errors import BadValueError, NotComputableError, check_key_names, listed, prefix_errors
from frame_metrics.inputs import Array, FullRanking, FullScores, Pool
from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import rows_by_group
from frame_metrics.keys.groups import CellGroups, as_text, groups_of, rows_in
from frame_metrics.keys.ids import in_common_type
from frame_metrics.keys.index import Index
from frame_metrics.measuring.found_query import check_found
from frame_metrics.measuring.indexed import indexed
from frame_metrics.measuring.pairs import ByPeople, all_filled
from frame_metrics.measuring.pieces import Measuring, gather, work_of
from frame_metrics.measuring.queries import measure, measure_rankings
from frame_metrics.measuring.results import (
    ENDS,
    Averaged,
    EvaluateOptions,
    counts_answers,
    n_unanswered,
    ppi_columns,
    tidied,
)
from frame_metrics.measuring.values import Values
from frame_metrics.measuring.values_of_source import values_of_source
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import Asked
from frame_metrics.metrics.ranking import judged
from frame_metrics.plan.call import Call
from frame_metrics.plan.checks import check_asked
from frame_metrics.plan.source import InPieces, Source, judgments_alone, source_of
from frame_metrics.stats.averages import Averages, averages_of
from frame_metrics.stats.proxies import bias_of, ppi_mean, students_t
from frame_metrics.stats.shares import are_shares


def check_proxies(asked: Asked, call: Call, averages: Averages = (None,)) -> None:
    """Raise for metrics and averages that a proxy does not go with; nothing is read.

    Only means over queries are prediction-powered.
    """
    for name, metric in asked:
        if not metric.judges or metric.of_subtopics:
            what = "subtopics, of which a machine's judgments say nothing" if metric.judges else "no judgments"
            raise NotComputableError(f"{name} reads {what}, and proxy= is a second set of them; judge() without proxy=")
        for average in averages_of(metric, averages, weighted=True):
            if average not in ("macro", "weighted"):
                raise NotComputableError(
                    f"{name}: proxy= supports only macro and weighted means, and not {average!r}; pass "
                    "average='macro' in evaluate(), or judge() without proxy="
                )
    if call.proxy is not None:
        with prefix_errors("proxy"):
            check_asked(asked, call.proxy, averages)


def check_means(asked: Asked, call: Call, options: EvaluateOptions) -> None:
    """Raise for options of ``evaluate`` that prediction-powered means do not have; nothing is read."""
    check_proxies(asked, call, options.averages)
    check_key_names(call.columns.cell_keys, ppi_columns(options))
    if options.ci is not None and options.method != "normal":
        students_t()


@record
class Both:
    """Values of metrics for every ranking, by people and by a machine."""

    all_values: Values  # the values by the machine
    proxy: Array  # the values by the machine with undefined ones replaced, shape (metrics, rankings)
    people: ByPeople
    partly_judged: Array  # whether people judged some, not all, of the documents that the machine judged, (rankings,)
    only_by_people: tuple[int, str | None]  # the queries that only people judged: how many, and the first


def both_of(source: Source, asked: Asked, *, totals: bool = False) -> Both:
    """Compute metrics for every ranking by both judgments; ``totals``: see ``read_log``.

    Raises
    ------
    BadValueError
        Only people judged some queries; or all chances are 1, but people judged fewer than half of the rankings.
    NotComputableError
        A metric is undefined for some rankings, and would be left out of the mean.
    """
    both = both_unchecked(source, asked, totals=totals)
    n, first = both.only_by_people
    if n:
        by = listed([name for name in source.call.columns.by if name in source.call.columns.shape.from_judgments])
        here, same = (f" in the same {by}", f"give both frames one {by} for each query, ") if by else ("", "")
        raise BadValueError(
            f"proxy: {n} queries judged by people have no judgment of the machine{here}, as "
            f"{first}; {same}let it judge all that people judged, or leave them out"
        )
    people, chance = both.people, both.people.chance
    n_judged, n_all = int(people.judged.sum()), int(both.all_values.evaluated.sum())
    if chance is not None and 0 < 2 * n_judged < n_all and (chance[people.judged] == 1).all():
        sampling = source.judgment_columns.sampling  # type: ignore[union-attr]
        raise BadValueError(
            f"{sampling}: all that people judged were drawn with a chance of 1, and of {n_all} rankings "
            f"they judged {n_judged}; give each query the chance with which it was drawn, or leave sampling= out"
        )
    left_out = (np.isnan(both.proxy) & both.all_values.evaluated) | (people.undefined & np.isnan(people.values))
    for (name, _), n in zip(asked, left_out.sum(axis=1), strict=True):
        if n:
            raise NotComputableError(
                f"{name} is undefined for {n} of {both.all_values.evaluated.sum()} rankings, which the mean leaves "
                "out, so that people and the machine would be asked about different queries; pass undefined='zero', or "
                "ask for a metric that is defined"
            )
    return both


def both_unchecked(source: Source, asked: Asked, *, totals: bool = False) -> Both:
    """Compute metrics for every ranking by both judgments, and match the rankings of both."""
    by_people, documents = _with_judgments(source, asked, totals=totals)
    with prefix_errors("proxy"):
        by_machine, machine_documents = _with_judgments(source.proxy or source, asked, totals=totals)
    theirs, ours = _keys(by_machine.index), _keys(by_people.index)
    if theirs.schema != ours.schema:
        raise BadValueError("proxy: columns of its queries have other types than those of people; give both one type")
    # The ranking of people that matches each ranking of the machine, -1 for none.
    at = rows_in(ours, theirs)
    no_match = (at < 0) | ~by_machine.evaluated
    _check_query_values(by_people, by_machine, at, ~no_match & np.append(by_people.evaluated, False)[at])
    only_by_people = by_people.evaluated.copy()
    only_by_people[at[~no_match]] = False

    def matched(values: Array, fill: float) -> Array:
        """Return values of the rankings of people for those of the machine, ``fill`` if there is no match."""
        return np.where(no_match, fill, np.append(values, np.full((len(values), 1), fill), axis=1)[:, at])

    # A query counts as judged by people only if they judged all that a metric reads and the machine judged: what
    # neither judged is not relevant by both.
    lacking = _judged_by_the_machine_alone(source, documents, machine_documents)
    keys = [name for name in lacking.columns if name not in ("doc", "row")]
    marks = lacking.select(keys).unique().with_columns(marked=True)
    partly_judged = by_people.index.joined(marks, keys)["marked"].fill_null(False).to_numpy()
    fill = by_people.conventions.fill
    rests = np.array([rests_on_others(metric, fill(metric)) for _, metric in asked], bool)
    lacks = np.repeat(partly_judged[None], len(asked), axis=0)  # for each metric
    if partly_judged.any() and not rests.all():
        # What unjudged results are left out of is read below the cutoff too.
        depths = [None if metric.params.get("judged_only") else metric.k for _, metric in asked]
        among = _shares_of(source.proxy or source, lacking, depths)
        at_theirs = rows_in(_keys(among.index), ours)
        # A share is NaN if nothing is retrieved: nothing is left to judge.
        lacks[~rests] = np.append(among.value > 0, np.zeros((len(asked), 1), bool), axis=1)[~rests][:, at_theirs]
    complete = by_people.evaluated & ~lacks
    chance = by_people.sampling
    return Both(
        by_machine,
        np.array(all_filled(by_machine)),
        ByPeople(
            matched(np.where(complete, all_filled(by_people), np.nan), np.nan),
            matched(np.isnan(by_people.value) & complete, 0) > 0,
            matched(by_people.evaluated[None], 0)[0] > 0,
            None if chance is None else matched(chance[None], np.nan)[0],
        ),
        matched(partly_judged[None], 0)[0] > 0,
        (
            len(np.unique(by_people.index.query[only_by_people])),
            as_text(ours.drop("segment_known").filter(only_by_people)) or None,
        ),
    )


def _check_query_values(by_people: Values, by_machine: Values, at: Array, both: Array) -> None:
    """Raise if the two judgments differ in the weight of a query, or in which queries are one cluster.

    Parameters
    ----------
    by_people, by_machine : the values by people, and by the machine.
    at : the ranking of ``by_people`` that matches each ranking of ``by_machine``.
    both : marks of the rankings of ``by_machine`` that both evaluate.
    """
    for role in ("weight", "cluster"):
        ours, theirs = getattr(by_people, role), getattr(by_machine, role)
        if ours is None or not both.any():
            continue
        pairs = np.unique(np.stack([ours[at[both]], theirs[both]]), axis=1)
        differ = (pairs[0] != pairs[1]).any()
        if role == "cluster":  # each side numbers them for itself
            differ = any(len(np.unique(side)) < pairs.shape[1] for side in pairs)
        if differ:
            column = by_people.columns.by_role.get(role)
            raise BadValueError(
                f"{column}: people's judgments and proxy differ in the value of a query; give each query one"
            )


def _keys(index: Index) -> pl.DataFrame:
    """Return the system, segment and query of every ranking, and whether its segment is known."""
    return index.keys_of(index.columns.internal_keys).with_columns(segment_known=pl.Series(index.in_known_segment))


def _judged_by_the_machine_alone(source: Source, ours: pl.DataFrame, theirs: pl.DataFrame) -> pl.DataFrame:
    """Return the documents that people did not judge and the machine did, of the queries that people judged.

    ``ours``, ``theirs``: the segment, query and document of each judgment by people, and by the machine.
    """
    sources = zip((source, source.proxy or source), ("people's judgments", "proxy="), strict=True)
    called = [f"{side.judgment_columns.doc} of {what}" for side, what in sources]  # type: ignore[union-attr]
    docs = in_common_type(ours["doc"], theirs["doc"], *called)
    ours, theirs = (one.with_columns(ids) for one, ids in zip((ours.drop("row"), theirs), docs, strict=True))
    queries = ours.drop("doc").unique()
    shared = [key for key in queries.columns if key in theirs.columns]
    of_these_queries = theirs.join(queries, on=shared, nulls_equal=True)
    return of_these_queries.join(ours, on=ours.columns, how="anti", nulls_equal=True)


def _shares_of(source: Source, documents: pl.DataFrame, depths: Sequence[int | None]) -> Values:
    """Compute for every ranking the shares of its first results that are among some documents.

    Parameters
    ----------
    source : the rows, with judgments.
    documents : the segment and query of some of the judgments, and their row.
    depths : how many results are the first; None for all.
    """
    given: Any = judgments_alone(source).judgments_as_polars()
    _, by, _ = source.call.columns.internal_by_role
    segments = {name: key for name, key in zip(source.call.columns.by, by, strict=True) if key in documents.columns}
    table = given[0][documents["row"]].with_columns(documents[key].alias(name) for name, key in segments.items())
    columns = given[1].changed(by=tuple(segments))
    call = replace(source.call, judgment_columns=columns)
    judgments = SeparateJudgments(PolarsFrame(table), call.judgment_keys)
    unfolded = source.unfolded and replace(source.unfolded, judgments=judgments, to_read=call.to_read)
    source = replace(source, call=call, judgments=judgments, judgment_columns=columns, unfolded=unfolded)
    asked = [("judged", replace(judged, cutoff=k)) for k in depths]
    # No check of the whole log: perhaps no result is among the documents.
    if not isinstance(source, InPieces):
        return measure_rankings(source.log(whole_log=NO_PIECE), asked)
    found, work = gather(work_of(Measuring, source, asked, (None,)), source, matched=False)
    return work.from_table(*indexed(found, work))


def _with_judgments(source: Source, asked: Asked, *, totals: bool) -> tuple[Values, pl.DataFrame]:
    """Return the values of metrics, and the segment, query, document and row of every separate judgment.

    For a log in pieces, which has no judgments here, they are read with a frame without rows.
    """
    if not isinstance(source, InPieces):
        log = source.log(totals=totals)
        check_found(source.call, log, asked)
        return measure(log, asked), _judged(log)
    call = source.call.without_frames()
    nothing = pl.DataFrame(schema=source.pieces.types(call.columns.needed))
    log = source_of(call, nothing, source.judgments, piece=True).log(
        whole_log=WholeLogFacts(None, other_systems=call.columns.systems_have_rows)
    )
    return values_of_source(source, asked, totals=totals), _judged(log)


def _judged(log: Log) -> pl.DataFrame:
    """Return the segment, query, document and row of every separate judgment."""
    _, by, query = log.columns.internal_by_role
    return log.judgments.select(name for name in (*by, *query, "doc", "row") if name in log.judgments.columns)


def rests_on_others(metric: Metric, fill: float | None) -> bool:
    """Return True if judged documents that are not retrieved change a metric, as through R or the ideal ranking.

    The metric is computed for two queries, one with a relevant result and one without: first as they are, then with 999
    more relevant documents. An undefined value counts as ``fill``: if a metric is undefined without relevant documents,
    and that becomes 0, then its value for the query without a relevant result is 0 both times, and does not change.
    """
    # Measures of the order of scores count documents that are not retrieved too: they have no score.
    of_scores = metric.input is FullScores and "probability" not in metric.reads
    if "ideal" in metric.reads or not ("n_relevant" in metric.reads or of_scores):
        return "ideal" in metric.reads
    lengths, query, grade = np.array([2, 2]), np.array([0, 0, 1, 1]), np.array([1.0, 0.0, 0.0, 0.0])
    score, size, extra = np.array([0.9, 0.1, 0.9, 0.1]), np.full(2, 1e4), dict.fromkeys(metric.columns, np.ones(4))
    others = np.repeat([0, 1], 999)  # of both queries; so many that even low levels of recall are not reached
    pools = (Pool(np.append(query, more), np.append(grade, np.ones(len(more)))) for more in (others[:0], others))
    runs = (FullRanking(grade, lengths, lengths, pool=pool, score=score, size=size, extra=extra) for pool in pools)
    found = [metric.compute(run) for run in runs]
    without, with_others = (one if fill is None else np.nan_to_num(one, nan=fill) for one in found)
    return not np.array_equal(without, with_others, equal_nan=True)


def members_of(values: Values, segments: CellGroups) -> list[Array]:
    """Return the evaluated rankings of each segment, as their numbers, in the order of random draws."""
    index, some = values.index, values.evaluated
    at = np.flatnonzero(some)[index.drawing_order(some)]
    return rows_by_group(segments.group_of_cell[index.cell], len(segments), at)


def ppi_means(source: Source, asked: Asked, options: EvaluateOptions) -> Answer:
    """Return the answer of ``evaluate`` with a proxy: a row for each group, metric and average."""
    both = both_of(source, asked, totals=options.margins)
    values, groups = both.all_values, groups_of(both.all_values.index.cells, options.margins)
    names = ("value", "n", "n_undefined", *ppi_columns(options), *(() if options.ci is None else ENDS))
    counted = ["n_unanswered"] if counts_answers(source.call) else []
    weighted = values.weight is not None
    each = (averages_of(metric, options.averages, weighted=weighted) for _, metric in asked)
    wanted = [(i, average) for i, averages in enumerate(each) for average in averages]
    tables: list[dict[str, Array]] = []
    for segments in groups.each:
        members = members_of(values, segments)
        rows = [_row(both, i, average, at, options) for i, average in wanted for at in members]
        by_name = np.moveaxis(np.array(rows).reshape(len(wanted), len(members), len(names)), 2, 0)
        table = dict(zip(names, by_name, strict=True))
        table |= {name: np.tile(n_unanswered(values, segments), (len(wanted), 1)) for name in counted}
        tables.append({name: table[name] for name in (*names[:3], *counted, *names[3:])})
    averaged = Averaged(asked, [i for i, _ in wanted], [average for _, average in wanted], tables, [])
    return tidied(averaged, options, groups, None)


def _row(both: Both, metric: int, average: str, at: Array, options: EvaluateOptions) -> Sequence[float]:
    """Return value, n, n_undefined, the columns of ``ppi_columns`` and, with ``ci``, the interval, of some rankings.

    ``metric``: its position; ``at``: the numbers of the rankings.
    """
    values, people = both.all_values, both.people
    weight = values.weight if average == "weighted" else None
    of_queries = [None if one is None else one[at] for one in (weight, people.chance, values.cluster)]
    sides = people.values[metric, at], both.proxy[metric, at]
    found, bias = ppi_mean(*sides, *of_queries), bias_of(*sides, *of_queries)
    least, most = values.asked[metric][1].range
    limits = min(least, found.value), max(most, found.value)
    ends_at = found.ends_of_share if are_shares(people.values[metric], (least, most)) else found.ends
    ends: Sequence[float] = ()
    if options.ci is not None:
        by = options.ci, options.method or "t"
        ends = *bias.ends(*by), *np.clip(ends_at(*by), *limits)
    counts = found.n, people.undefined[metric, at].sum(), found.n_proxy
    return (found.value, *counts, found.tuned, found.people, found.proxy, bias.value, *ends)
