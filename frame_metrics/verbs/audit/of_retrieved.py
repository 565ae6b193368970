"""Checks of retrieved lists: their lengths, and an accuracy that says little in a large collection."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from frame_metrics.data.log import Log
from frame_metrics.inputs import Array, ratio
from frame_metrics.keys.groups import segments_of
from frame_metrics.stats.intervals import MIN_QUERIES
from frame_metrics.stats.significance import CLOSE
from frame_metrics.verbs.audit.checks import POOR, RARE_SHARE, Counted, Seen, check, seen_in, seen_of

APART = 0.1  # averages that differ by more are not taken for one another
MIN_LENGTH_OF_CUT = 5  # lists of fewer results are not taken for cut


@check("warning", "{cells}")
def accuracy_that_hides_the_recall(counts: Counted) -> Seen | None:
    """accuracy is {accuracy:.2%} with collection_size=, and recall {recall:.1%}: retrieving nothing has an accuracy of
    {nothing:.2%}, because few documents are relevant; look at recall, precision and informedness
    """
    return _of_accuracy(
        counts, counts["relevant"] > 0, lambda mean: (mean["accuracy"] > 1 - RARE_SHARE) & (mean["recall"] < POOR)
    )


@check("warning", "{cells}")
def accuracy_below_that_of_retrieving_nothing(counts: Counted) -> Seen | None:
    """accuracy is {accuracy:.7g} % with collection_size=, less than the {nothing:.7g} % of retrieving nothing: more
    results are wrong than right; look at precision, recall and informedness
    """
    return _of_accuracy(counts, counts.evaluated, lambda mean: mean["accuracy"] < mean["nothing"] - CLOSE, unit=100)


@check("warning", "{cells}")
def accuracy_that_only_equals_that_of_retrieving_nothing(counts: Counted) -> Seen | None:
    """accuracy is {accuracy:.7g} % with collection_size=, as that of retrieving nothing, because few documents are
    relevant, and as many results are wrong as right; look at precision, recall and informedness
    """
    return _of_accuracy(counts, counts.evaluated, _as_nothing, unit=100)


@check("info", "results")
def results_without_a_prediction(log: Log) -> Seen | None:
    """they are no decision, and so never right; the metrics up and un count them"""
    said = log.table.get_column("predicted", default=None) if log.columns.predicted else None
    return None if said is None else Seen(said.null_count(), len(said))


@check("info", "results")
def results_without_a_score(log: Log) -> Seen | None:
    """they have a rank and count, but thresholds and areas take them for lower than every score"""
    if not {"rank", "score"} <= {*log.table.columns}:
        return None
    ranked = log.table["rank"].is_not_null()
    return Seen(int((ranked & log.table["score"].is_null()).sum()), int(ranked.sum()))


def _of_accuracy(
    counts: Counted, marked: Array, odd: Callable[[dict[str, Array]], Array], unit: float = 1
) -> Seen | None:
    """Count the segments with suspicious means over the marked rankings; None if the collection size is unknown.

    Parameters
    ----------
    odd : a function that marks segments, from the mean accuracy, the mean recall, and "nothing", the mean accuracy of
        an empty result.
    unit : the factor by which means are multiplied in the message.
    """
    log, index, size = counts.log, counts.index, counts.amounts.get("size")
    if size is None or log.columns.predicted or log.conventions.threshold is not None:
        return None  # what is decided about is looked at as decisions
    some, segments = np.flatnonzero(marked & (size > 0)), segments_of(index.cells)
    found, results, relevant = (counts[name][some].astype(np.float64) for name in ("hits", "results", "relevant"))
    wrong = results + relevant - 2 * found
    values = {"accuracy": 1 - ratio(wrong, size[some]), "recall": ratio(found, relevant)}
    values |= {"nothing": 1 - ratio(relevant, size[some])}
    segment = segments.group_of_cell[index.cell[some]]
    weight = np.nan_to_num(counts.amounts.get("weight", np.ones(len(size)))[some])
    n = np.bincount(segment, weight, len(segments))
    means = {name: ratio(np.bincount(segment, weight * each, len(segments)), n) for name, each in values.items()}
    return seen_in(segments, odd(means), n > 0, {name: unit * mean for name, mean in means.items()})


def _as_nothing(mean: dict[str, Array]) -> Array:
    """Mark segments with the high accuracy of an empty result, in which something was found; the means are by name."""
    equal = np.abs(mean["accuracy"] - mean["nothing"]) <= CLOSE
    return equal & (mean["accuracy"] > 1 - RARE_SHARE) & (mean["recall"] > 0)


@check("info", "{cells}")
def averages_that_part_by_queries_with_one_relevant_document(counts: Counted) -> Seen | None:
    """macro recall is {macro:.1%} and micro recall {micro:.1%}, as {few:.0%} of the queries have one relevant document:
    each counts as much as any other in a macro average, and as one document of all in a micro average; without them
    they are {macro_without:.1%} and {micro_without:.1%}
    """
    relevant, index, segments = counts["relevant"].astype(np.float64), counts.index, segments_of(counts.index.cells)
    segment, some, single = segments.group_of_cell[index.cell], counts.evaluated & (relevant > 0), relevant == 1

    def summed(values: Array, marks: Array) -> Array:
        return np.bincount(segment, values * marks, len(segments))

    def means(marks: Array) -> tuple[Array, Array]:
        found = np.where(marks, counts["hits"], 0)
        macro = ratio(summed(ratio(found, np.maximum(relevant, 1)), marks), summed(np.ones(len(segment)), marks))
        return macro, ratio(summed(found, marks), summed(relevant, marks))

    (macro, micro), (macro_without, micro_without) = means(some), means(some & ~single)
    n, few = (summed(np.ones(len(segment)), marks) for marks in (some, some & single))
    apart, rest = np.abs(macro - micro), np.abs(macro_without - micro_without)
    values = {"macro": macro, "micro": micro, "macro_without": macro_without, "micro_without": micro_without}
    marked = (n >= MIN_QUERIES) & (apart > APART) & (rest < apart / 2)
    return seen_in(segments, marked, n > 0, values | {"few": ratio(few, n)})


@check("info", "{cells}")
def lists_that_differ_in_number(counts: Counted) -> Seen | None:
    """{n:.0f} lists, and others have {most:.0f}: fewer lists show less of the catalogue for this reason alone;
    compare() exchanges the lists of the same queries
    """
    index = counts.index
    if index.conventions.catalogue is None:
        return None
    segments = segments_of(index.cells)
    n = np.bincount(segments.group_of_cell[index.cell], counts["results"] > 0, len(segments))
    return seen_in(segments, n < n.max(initial=0), n > 0, {"n": n, "most": np.full(len(n), n.max(initial=0))})


@check("info", "rankings")
def rankings_cut_at_one_length(counts: Counted) -> Seen | None:
    """rankings with {most} results, and none has more: what would come below is unknown, so at a cutoff past {most}
    recall and ndcg cannot rise, and precision falls
    """
    listed, most = counts["results"] > 0, int(counts["results"].max(initial=0))
    longest = counts["results"] == most
    # A few results, or a length that only few have, are all that was found.
    if most < MIN_LENGTH_OF_CUT or longest.sum() < 2 or 2 * longest.sum() < listed.sum():
        longest = np.zeros(len(listed), bool)
    return seen_of(counts.index, "rankings", longest, listed, {"most": most})
