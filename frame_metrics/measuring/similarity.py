"""Compare two rankings of each query, one of a system and one of a baseline, without judgments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from frame_metrics.backends.frames import backend_of
from frame_metrics.data.lists import RankedDocuments, lists_of
from frame_metrics.data.log import Log
from frame_metrics.errors import ColumnError, NotComputableError, listed, prefix_errors, quote
from frame_metrics.fast.blocks import each_block
from frame_metrics.inputs import Array
from frame_metrics.inputs.records import record
from frame_metrics.measuring.all_pieces import measure_in_pieces
from frame_metrics.measuring.baseline import check_one_system, check_theirs, in_common_types, match_saved, no_common_id
from frame_metrics.measuring.pairs import bases_of, number_if_any
from frame_metrics.measuring.pieces import Measuring, work_of
from frame_metrics.measuring.queries import role_values
from frame_metrics.measuring.values import Values
from frame_metrics.metrics.names import Asked
from frame_metrics.plan.call import Call, bind
from frame_metrics.plan.compared import SIMILARITY
from frame_metrics.plan.given import Given, given_of
from frame_metrics.plan.needs import Needs
from frame_metrics.plan.plan import plan_of
from frame_metrics.plan.source import InPieces, Source, read_whole
from frame_metrics.roles.missing import likely_roles, missing_text

NEEDS_OF_LISTS = Needs(query=True, order=True, judgments_optional=True, verb=SIMILARITY)
ROLES_SET_ASIDE = ("label", "grade", "scale", "relevant", "n_relevant")  # roles of judgments, which are set aside
SHARED_ROLES = ("query", "doc", "score", "rank", "by")  # roles that a baseline in another frame shares with the frame


def similar(source: Source, asked: Asked, baseline: Any, there: Log | None) -> tuple[Values, list[Any]]:
    """Compare each ranking with the baseline's ranking of the same query.

    Parameters
    ----------
    source : the rankings.
    asked : the measures.
    baseline : a system, or a list of systems; None for all systems.
    there : rankings of another frame as the baseline instead; None if there are none.

    Returns
    -------
    The values (the measures by the first baseline, then by the next ...), and the names of the baselines: none if the
    baseline is another frame.
    """
    if not isinstance(source, InPieces):
        log = source.log()
        names = log.index.system_names[: None if there is None else 0]
        bases = names.to_list() if baseline is None else bases_of(baseline, names)
        return _of_log(log, asked, None if baseline is None else bases, there), bases
    if there is not None:
        raise NotComputableError(
            "baseline= as a frame is compared with a frame in memory, and this one is larger; raise memory=, or put "
            "the rows of both into one frame with system="
        )
    work = work_of(Comparing, source, asked, (None,), ())
    if baseline is None and work.systems_unknown:  # which systems there are is a question of its own to a cluster
        column = str(work.columns.system)
        work = replace(work, systems=source.pieces.counted([column])[column].sort(nulls_last=True))
    bases = work.system_names.to_list() if baseline is None else bases_of(baseline, work.system_names)
    return measure_in_pieces(replace(work, asked=[*asked] * len(bases), bases=bases), source), bases


@record
class Comparing(Measuring):
    """The comparison of each ranking of a piece with each baseline."""

    bases: Sequence[Any]

    def measure(self, log: Log) -> Values:
        return _of_log(log, self.asked[: len(self.asked) // len(self.bases)], self.bases, None)


def _of_log(log: Log, asked: Asked, names: Sequence[Any] | None, there: Log | None) -> Values:
    """Compare the rankings of a log with baselines, the systems ``names``, or with the rankings of ``there``.

    Without ``names``, each pair of systems is compared once.
    """
    index, systems, compared, n_unpaired = log.index, log.index.system_names, np.ones(len(log.index), bool), None
    if there is not None:
        match = match_saved(index, there.index)
        n_unpaired, compared = match.n_unpaired(), match.at[index.segment_query] >= 0
        docs = in_common_types(log.table[["doc"]], there.table[["doc"]], {"doc": (log.columns.doc, there.columns.doc)})
        lists, partners = lists_of([log, there], [ids["doc"] for ids in docs]), [(compared, match.at + len(compared))]
        if lists.are_disjoint(len(compared)):
            raise no_common_id(*docs, "document")
    else:
        lists, partners = lists_of([log], [log.table["doc"]]), []
        turn = None if names is not None else np.argsort(index.systems.by_value)  # place of each system among names
        # ``partners``: for each baseline the marks of the rankings to compare with it, and its ranking of each
        # (segment, query) pair, by number, -1 for none.
        for base in range(len(systems)) if names is None else (number_if_any(name, systems) for name in names):
            some = index.system != base if base is None or turn is None else turn[index.system] > turn[base]
            of_base = np.flatnonzero(index.system == base)
            by_segment_query = np.full(index.n_segment_queries, -1)
            by_segment_query[index.segment_query[of_base]] = of_base
            partners.append((some, by_segment_query))
    values = [_values(lists, asked, some, of[index.segment_query], log.conventions.ties) for some, of in partners]
    stacked = np.concatenate([np.zeros((0, len(compared))), *values])
    none = np.zeros(len(compared), bool)
    return Values(index, [*asked] * len(values), stacked, compared, none, n_unpaired=n_unpaired, **role_values(log))


def _values(lists: RankedDocuments, asked: Asked, some: Array, partner: Array, ties: str) -> Array:
    """Compute measures of each ranking and its partner, shape (measures, rankings).

    Parameters
    ----------
    lists : the documents of all rankings.
    asked : the measures.
    some : marks of the rankings to compare; the others get NaN.
    partner : the number of the ranking that each ranking is compared with, shape (rankings,).
    ties : the tie rule.
    """
    values, compared = np.full((len(asked), len(partner)), np.nan), np.flatnonzero(some)
    measures = [metric.form_for_two or metric for _, metric in asked]
    for name, metric in asked if lists.first is not None else ():
        if not metric.orders(ties):
            raise NotComputableError(
                f"{name} has no closed form for ties={ties!r}, and some scores are equal; leave ties= out to order "
                "them by document, or pass ties='order'"
            )

    def work(block: slice | Array) -> None:
        at = compared[block]
        two = lists.pairs(at, partner[at])
        for i, metric in enumerate(measures):
            values[i, at] = metric.compute(two)

    each_block(lists.lengths[compared] + lists.lengths[partner[compared]], work)
    return values


def baseline_call(baseline: Any, call: Call) -> Call:
    """Return the call of a baseline in another frame: it has its own roles, or else columns named as in the frame."""
    columns = call.columns
    with prefix_errors("baseline"):
        if not isinstance(baseline, Given):
            backend = backend_of(baseline)
            available = backend.names()
            for column in columns.by:
                if column not in available:
                    raise ColumnError(
                        f"by={quote(column)}: there is no such column among {listed(available)}; where it has another "
                        f"name, pass baseline=other.irm(by=pl.col(...).alias({quote(column)})){backend.hint(column)}"
                    )
            roles: Any = {role: getattr(columns, role) for role in SHARED_ROLES if getattr(columns, role)}
            roles |= {role: list(roles[role]) for role in ("query", "by") if role in roles}
            roles |= {name: convention for name in ("ties", "duplicates") if (convention := call.roles.get(name))}
            roles |= {"system": columns.system} if columns.system in available else {}
            baseline = given_of(baseline, roles, backend=backend)
        theirs = listed_call(baseline)
        check_theirs(baseline.roles, theirs.columns, columns)
    return theirs


def listed_call(given: Given) -> Call:
    """Return the call that reads rankings without judgments; raise without documents."""
    roles: Any = {**given.roles, **dict.fromkeys(ROLES_SET_ASIDE)}
    call = bind(plan_of(given.without_judgments(roles)), NEEDS_OF_LISTS)
    if call.columns.doc is None:
        text = missing_text(("doc",), call.roles, call.plan.available, call.plan.backend.hint)
        raise ColumnError(text).offering(**likely_roles([("doc",)], call.roles, call.plan.available))
    return replace(call, conventions=replace(call.conventions, unanswered=None))  # lists without rows are left out


def read_lists(call: Call) -> Log:
    """Read the rankings of a baseline in another frame, which must be of one system."""
    with prefix_errors("baseline"):
        log = read_whole(call).log()
        check_one_system(log.index, call)
        return log


def of_pair(values: Values, asked: Asked, system: int, base: int) -> Values:
    """Return the values of one system compared with one baseline.

    ``system``: the number of the system; ``base``: the position of the baseline among those that ``similar`` returned.
    """
    at = np.flatnonzero(values.index.system == system)
    value = values.value[base * len(asked) : (base + 1) * len(asked), at]
    each = {name: getattr(values, name)[at] for name in ("evaluated", "unanswered")}
    each |= {name: None if (of := getattr(values, name)) is None else of[at] for name in ("weight", "cluster")}
    return replace(values, index=values.index.of_system(system, at), asked=asked, value=value, **each)
