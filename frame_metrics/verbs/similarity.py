"""The verb similarity: compare rankings of systems with each other, without judgments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.errors import ColumnError, NotComputableError, check_bool, check_key_names, listed
from frame_metrics.inputs import TwoRankings
from frame_metrics.measuring.baseline import is_frame, name_of_saved
from frame_metrics.measuring.pairs import number_of_system, pair_systems
from frame_metrics.measuring.results import PER_QUERY_COLUMNS, EvaluateOptions, averaged, query_rows, schema
from frame_metrics.measuring.similarity import baseline_call, listed_call, of_pair, read_lists, similar
from frame_metrics.measuring.values import Values
from frame_metrics.metrics.metric import PAIR_KERNELS, metrics_of
from frame_metrics.metrics.names import Asked, Metrics, read
from frame_metrics.plan.call import Call
from frame_metrics.plan.checks import check_asked, check_margins
from frame_metrics.plan.compared import SIMILARITY
from frame_metrics.plan.given import Given
from frame_metrics.plan.source import Source, answer_of
from frame_metrics.plan.verb import check_options


@dataclass(frozen=True, kw_only=True)
class SimilarityOptions(EvaluateOptions):
    """Options of ``similarity``, which documents them."""

    baseline: Any = None
    per_query: bool = False

    def __post_init__(self) -> None:
        """Raise for options that do not go together; nothing is read."""
        super().__post_init__()
        check_bool("per_query", self.per_query)


def similarity(given: Given, metrics: Sequence[Metrics], options: SimilarityOptions) -> Any:
    """Implement ``irm.similarity``, whose docstring has the parameters."""
    check_options(SIMILARITY, options)
    call, asked, baseline = listed_call(given), _measures(metrics), options.baseline
    columns, of_frame = call.columns, is_frame(baseline)
    result = (
        PER_QUERY_COLUMNS
        if options.per_query
        else schema(asked, options, None, paired=of_frame, weighted=columns.weight is not None)
    )
    _check(call, asked, options, result)
    beside = baseline_call(baseline, call) if of_frame else None
    if columns.system is None and beside is None:
        raise ColumnError(
            "similarity() compares the rankings of systems; name their column with system=, or give other rankings, "
            "as baseline=frame"
        )

    def compute(source: Source) -> Answer:
        there = None if beside is None else read_lists(beside)
        values, bases = similar(source, asked, None if of_frame else baseline, there)
        return _answer(values, asked, options, bases, None if there is None else name_of_saved(there.index))

    def types(kinds: dict[str, Any]) -> dict[str, Any]:
        system = {columns.system: kinds[columns.system]} if columns.system else {}
        first = system | {"baseline": pl.String if of_frame else kinds[str(columns.system)]}
        first |= {name: kinds[name] for name in (*columns.by, *(columns.query if options.per_query else ()))}
        return first | result

    return answer_of(call, compute, types)


def _measures(metrics: Sequence[Metrics]) -> Asked:
    """Read the names of measures of two rankings; raise for other metrics."""
    asked = []
    for name, metric in read(metrics):
        if metric.form_for_two is None:
            known = sorted([*PAIR_KERNELS, *(one.name for one in metrics_of(TwoRankings))])
            raise NotComputableError(f"{name} reads judgments, and similarity() has none; it has {listed(known)}")
        asked.append((name, metric.form_for_two))
    return asked


def _check(call: Call, asked: Asked, options: SimilarityOptions, result: Iterable[str]) -> None:
    """Raise for measures and averages that do not apply, and for keys with a name of the result's columns."""
    check_asked(asked, call, options.averages)
    if "rows" in options.averages:
        raise NotComputableError("average='rows' weighs queries by their judged rows, and similarity() reads none")
    check_margins(options.margins, call)
    check_key_names(call.columns.keys, ("baseline", *result))


def _answer(values: Values, asked: Asked, options: SimilarityOptions, bases: list[Any], saved: str | None) -> Answer:
    """Return the rows of all pairs of systems, pair after pair.

    Parameters
    ----------
    values : the values, as ``similar`` returned them.
    asked, options : the measures and the options.
    bases : the systems that are baselines, as ``similar`` returned them.
    saved : the name of a baseline in another frame; None if baselines are systems.
    """
    index, column = values.index, values.columns.system
    order, here = index.systems.by_value.tolist(), index.system_names
    pairs, places = [(system, 0) for system in order], {0: 0}
    if saved is None:
        pairs = pair_systems(order, here, options.baseline, str(column))
        places = {number_of_system(name, here, str(column)): at for at, name in enumerate(bases)}
    answers: list[Answer] = []
    for system, base in pairs:
        pair = of_pair(values, asked, system, places[base])
        answer = query_rows(pair) if options.per_query else averaged(pair, options)
        n = len(answer.columns["value"])
        other = index.key_rows(system=np.full(n, base))[str(column)] if saved is None else pl.Series([saved] * n)
        first = {name: rows for name, rows in answer.keys.items() if name == column}
        answers.append(replace(answer, keys={**first, "baseline": other, **answer.keys}))
    if not answers:
        raise NotComputableError(f"{column} has no systems to compare with a baseline")
    return _stacked(answers, {"baseline": str(column)} if saved is None else {})


def _stacked(answers: Sequence[Answer], aliases: dict[str, str]) -> Answer:
    """Stack the rows of answers into one answer."""

    def below(parts: list[Any]) -> Any:
        return np.concatenate(parts) if isinstance(parts[0], np.ndarray) else pl.concat(parts)

    keys, columns = (
        {name: below([part[name] for part in parts]) for name in parts[0]}
        for parts in ([answer.keys for answer in answers], [answer.columns for answer in answers])
    )
    return replace(answers[0], keys=keys, columns=columns, aliases=aliases)
