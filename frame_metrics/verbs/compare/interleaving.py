"""The verb interleaving: how often users prefer one team's results in lists that several systems share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from frame_metrics.answer import Answer
from frame_metrics.errors import ColumnError, NotComputableError, check_key_names
from frame_metrics.inputs import Array
from frame_metrics.measuring.pairs import Pairing, pairing_of_systems
from frame_metrics.measuring.results import integer_column
from frame_metrics.measuring.values import without_values_at
from frame_metrics.measuring.values_of_source import planned, values_of_source
from frame_metrics.metrics.names import Asked, Metrics
from frame_metrics.plan.compared import INTERLEAVING
from frame_metrics.plan.needs import RANKED, Needs
from frame_metrics.plan.plan import Plan
from frame_metrics.plan.source import Source, answer_of
from frame_metrics.plan.verb import check_options
from frame_metrics.roles.missing import likely_roles, missing_text
from frame_metrics.verbs.compare.differences import columns_of, numbers_of_rows, schema_of
from frame_metrics.verbs.compare.options import (
    CHOICES,
    CompareOptions,
    check_correction,
    check_units,
)
from frame_metrics.verbs.compare.paired import pairs_tested, query_differences
from frame_metrics.verbs.compare.splits import without_judgment

Preference = Literal["randomization", "sign", "bootstrap"]
TESTS = INTERLEAVING.kinds["queries"].tests


@dataclass(frozen=True, kw_only=True)
class InterleavingOptions(CompareOptions):
    """Options of a comparison of teams; the verb has the parameters."""

    verb: ClassVar[str] = "interleaving"
    tests_preference: ClassVar[bool] = True
    choices: ClassVar[Mapping[str, Any]] = CHOICES | {"test": Preference}

    @property
    def noun(self) -> str:
        return "team"


def interleaving(plan: Plan, metrics: Sequence[Metrics], options: InterleavingOptions) -> Any:
    """Implement ``irm.interleaving``, whose docstring has the parameters."""
    _check_roles(plan)
    call, asked = planned(plan, metrics, RANKED | Needs(verb=INTERLEAVING))
    _check_asked(asked or ())
    check_options(INTERLEAVING, options)
    check_correction(options)
    if options.test is not None:
        check_units(options.test, TESTS, call.columns, "query")
    call = replace(call, columns=call.columns.changed(system=call.columns.team))
    check_key_names(call.columns.keys, ("baseline", "metric", "k", *columns_of(replace(options, per_query=False))))
    options = replace(options, test=options.test or next(iter(TESTS)))

    def compute(source: Source) -> Answer:
        measured = values_of_source(source, asked)
        unjudged = without_judgment(measured)
        # A list with rows of only one team compares nothing: the other team has no value of it.
        removed = ~(np.asarray(measured.with_results) & measured.evaluated)
        measured = without_values_at(measured, removed, evaluated=np.ones(len(removed), bool))
        pairing = pairing_of_systems(measured, options.baseline, options.noun)
        if options.per_query:
            return query_differences(pairing)
        return _with_unjudged(pairs_tested(pairing, options), pairing, unjudged)

    return answer_of(call, compute, schema_of(call.columns, options))


def _with_unjudged(answer: Answer, pairing: Pairing, unjudged: Array) -> Answer:
    """Return the answer with the numbers of lists of both teams whose rows have no judgment; ``unjudged``: marks."""
    index, columns = pairing.all_values.index, answer.columns
    of_pair = np.zeros((index.n_segment_queries, len(index.systems)), bool)
    of_pair[index.segment_query[unjudged], index.system[unjudged]] = True
    segment = np.zeros(index.n_segment_queries, np.int64)
    segment[index.segment_query] = index.segment
    n = max(len(index.segments), 1)
    each = [np.bincount(segment[of_pair[:, pair].all(axis=1)], minlength=n) for pair in pairing.pairs]
    at, _, pair = numbers_of_rows(len(columns["n"]), len(pairing.all_values.asked), len(pairing.pairs))
    return replace(answer, columns=columns | {"n_unjudged": integer_column(np.array(each)[pair, pairing.segments[at]])})


def _check_roles(plan: Plan) -> None:
    """Raise if there are no teams, and for roles and options that contradict them."""
    columns = plan.columns
    if columns.team is None:
        message = missing_text(("team",), plan.roles, plan.available, plan.backend.hint)
        options = likely_roles([("team",)], plan.roles, plan.available)
        for role in ("arm", "system"):
            if column := getattr(columns, role):
                message = (
                    f"{role}={column!r} says that a list is of one {role}; name the column with team= in its place"
                )
        problem = "interleaving() compares the teams that contributed the rows of a list"
        raise ColumnError(f"{problem}: {message}").offering(**options)
    problem = f"team={columns.team!r} says which system contributed each row of a list, and"
    if several := [*columns.shape.per_system]:
        raise NotComputableError(f"{problem} the columns {several} are those of several systems; name one of them")
    if plan.judgments_not_in_rows:
        raise NotComputableError(
            f"{problem} separate judgments are no clicks; call it before judge(), and pass relevant=None"
        )


def _check_asked(asked: Asked) -> None:
    """Raise for averages, which have no value for each list."""
    for name, metric in asked:
        if metric.average is not None:
            raise NotComputableError(
                f"{name} is an average, and interleaving() reads the credit of each team in each list; ask for "
                "'clicks', or another metric of one list"
            )
