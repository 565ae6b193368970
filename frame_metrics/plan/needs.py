"""Needs of metrics: the roles that they read, and the source of the 2x2 table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

from frame_metrics.errors import (
    ColumnError,
    MistakenColumnError,
    NotComputableError,
    UnknownNameError,
    closest,
    listed,
    quote,
)
from frame_metrics.inputs import ClassScores, FullConfusion, FullRanking, FullScores, Lists, TwoRankings
from frame_metrics.metrics.metric import OF_DOCUMENTS, TAKES_TOP, Metric
from frame_metrics.metrics.names import DECIDED, Asked, plain_name
from frame_metrics.plan.declared import AUDIT, REPORT
from frame_metrics.plan.plan import Plan
from frame_metrics.plan.verb import Verb, check_roles
from frame_metrics.roles.columns import Columns
from frame_metrics.roles.list_columns import no_lists, split_way
from frame_metrics.roles.missing import (
    also_missing,
    free_columns,
    likely_query,
    likely_roles,
    missing_text,
    usual_columns,
)

OF_IDS = {"doc": "(the ids that were found, the best first)", "relevant": "(the ids that are relevant)"}
IN_LISTS = (("score", "rank"), ("doc",), ("label", "grade"))  # roles that lists of ids do without, or have


@dataclass(frozen=True)
class Needs:
    """The roles without which the metrics of a call, or its verb, cannot be computed."""

    query: bool = False
    order: bool = False  # a score or a rank
    score: bool = False
    predicted: bool = False
    extra: tuple[str, ...] = ()  # names of columns of ``extra=``, and facts of documents, that the metrics read
    sets_of_lists: bool = False  # whether some metric has one value for a set of lists
    judgments_optional: bool = False  # whether the call works without a label and a grade
    verb: Verb | None = None  # the declaration of the verb, which says what it reads, refuses and takes

    def __or__(self, other: Needs) -> Needs:
        first, second = vars(self), vars(other)
        extra = tuple(dict.fromkeys((*self.extra, *other.extra)))
        return Needs(**{name: first[name] or second[name] for name in first if name != "extra"}, extra=extra)


# Names of metrics as ``plain_name`` returns them.
GINI = ("gini", "ginicoefficient")
SUBSET_ACCURACY = "subsetaccuracy"
NO_NEEDS, RANKED = Needs(), Needs(query=True, order=True)


def needs_of(plan: Plan, asked: Asked) -> Needs:
    """Return the needs of some metrics; raise for one that needs a column that is missing."""
    each = [Needs(query=plan.judgments_not_in_rows, judgments_optional=not any(metric.judges for _, metric in asked))]
    for name, metric in asked:
        form = metric.form_for_classes
        _check_ambiguous_name(name, plan)
        if metric.input is TwoRankings:
            raise NotComputableError(f"{name} compares two rankings, without judgments; use similarity({name!r})")
        if metric.input is Lists:
            each.append(Needs(query=True, order=metric.k is not None, sets_of_lists=True))
        elif metric.top is not None:
            each.append(RANKED if plan.columns.query or plan.judgments_not_in_rows else Needs(score=True))
        elif metric.input is FullRanking or (metric.k is not None and metric.input is not ClassScores):
            _check_query(name, metric, plan)
            each += [RANKED, NO_NEEDS if metric.missing else _needs_of_scores_or_extras(name, metric, plan)]
        elif metric.input is FullScores or (form is not None and form.input is ClassScores):
            each.append(Needs(score=True))
        else:
            of_table = metric.input is FullConfusion
            retrieved = of_table and (plan.judgments_not_in_rows or bool(plan.columns.query))
            each.append(needs_of_decision(plan, name, retrieved=retrieved, offers_query=of_table))
    # By id: many metrics share one object, which is added once.
    return reduce(or_, {id(needs): needs for needs in each if needs is not NO_NEEDS}.values())


def may_decide(metric: Metric) -> bool:
    """Return True for a metric of decisions, which a threshold may make; others read the order, or scores alone."""
    return metric.input not in (FullRanking, FullScores, ClassScores, Lists) and metric.k is None and metric.top is None


def _check_query(name: str, metric: Metric, plan: Plan) -> None:
    """Raise for a metric of rankings if there is no query, and a similar metric of rows can be offered."""
    if plan.columns.query:
        return
    lacking = missing_text(("query",), plan.roles, plan.available)
    called = "" if plain_name(name).startswith(metric.name) else f"{metric.name}, "
    what = f"{name} is {called}of rankings, and {lacking}; of rows without a query there is"
    instead, options = likely_query(plan.roles, plan.available)
    if metric.k is not None and metric.name in TAKES_TOP and plan.columns.score:
        raise ColumnError(
            f"{what} {metric.name}(top=0.1), of the top tenth, and top={metric.k} / the number of rows for the first "
            f"{metric.k}"
        ).offering(instead, **options)
    if metric.pooled:
        raise ColumnError(f"{what} {metric.pooled}").offering(instead, **options)


def _check_ambiguous_name(name: str, plan: Plan) -> None:
    """Raise for a name that means another metric here: with ``catalogue=``, or for queries with several labels."""
    # "coverage" and "gini" are metrics of classifiers and of catalogues; "subset accuracy" is no mean over queries.
    has_catalogue = plan.roles.get("catalogue") is not None
    decided = plan.columns.predicted or plan.roles.get("threshold") is not None
    if plain_name(name) == "coverage" and (has_catalogue or (plan.columns.query and not decided)):
        raise UnknownNameError(f"{name!r}: {DECIDED}")
    if has_catalogue and plain_name(name) in GINI:
        raise UnknownNameError(
            f"{name!r} means two things with catalogue=: catalogue_gini (how unevenly documents are shown), or "
            "somers_d (2 roc_auc - 1, of scores); write the one you mean"
        )
    if plan.columns.query and plain_name(name).startswith(SUBSET_ACCURACY):
        raise ColumnError(
            f"{name} of queries with several labels is the share of those whose value in per_query('accuracy') is 1, "
            "and accuracy the share of right labels; ask for that one, or pass query=None if each row has one label"
        )


def _needs_of_scores_or_extras(name: str, metric: Metric, plan: Plan) -> Needs:
    """Return the needs of a metric of rankings that also reads scores, or extra columns."""
    if not metric.columns and "score" not in metric.reads:
        return NO_NEEDS
    if metric.columns and {*metric.columns} <= OF_DOCUMENTS:
        role: Any = metric.columns[0].partition("=")[0]
        if plan.roles.get(role) is None:
            raise ColumnError(f"{name} reads what {role}= says of a document; name it")
        return Needs(extra=metric.columns)
    named = dict(plan.columns.extra)
    for one in metric.columns:
        if one not in named:
            others = f", beside {listed(named)}" if named else ""
            raise ColumnError(
                f"{name} reads run.column({one!r}); name it with extra={{{one!r}: ...}}{others}{closest(one, named)}"
            )
    return Needs(score="score" in metric.reads, extra=metric.columns)


def needs_of_decision(plan: Plan, name: str, *, retrieved: bool, offers_query: bool = False) -> Needs:
    """Return the needs of the 2x2 table without a cutoff: of a threshold, else a prediction, else the retrieved set.

    Parameters
    ----------
    name : the metric or verb, for the error.
    retrieved : whether there is a retrieved set.
    offers_query : whether the error offers a query as a way out.

    Raises
    ------
    ColumnError
        There is none of them. A score alone decides nothing.
    """
    if plan.roles.get("threshold") is not None:
        return Needs(score=True)
    if plan.columns.predicted:
        return Needs(predicted=True)
    if retrieved:
        return Needs(query=True)
    free = [one for one in plan.available if one not in plan.columns.needed]
    ways = [f"name its column with predicted=, one of {listed(free)}"] if free else []
    if plan.columns.class_scores:
        ways.append("make a column of the class with the greatest score, and name it with predicted=")
    else:
        ways.append("set threshold= before, as search(threshold=0.5), to decide by the score")
    rows, ranked = ", or ".join(ways), "; of a ranking, name query=" * offers_query
    if offers_query and (likely := plan.columns.shape.likely_query):
        rows, ranked = f"of a ranking, pass query={quote(likely)}; of rows, {rows}", ""
    raise ColumnError(f"{name} needs a decision for each row: {rows}{ranked}")


def needs_of_audit(plan: Plan) -> Needs:
    """Return the needs of an audit, which looks at every role that has a column."""
    columns, threshold = plan.columns, plan.roles.get("threshold") is not None
    return Needs(
        score=threshold or columns.score is not None,
        predicted=columns.predicted is not None and not threshold,
        extra=tuple(name for name, _ in columns.extra) if columns.query else (),
        judgments_optional=plan.only_describes_lists,
        verb=AUDIT,
    )


def _check_guessed_query(plan: Plan) -> None:
    """Raise if "query" was found by name in a frame of decisions: the caller may mean each query, or all rows."""
    predicted = plan.columns.predicted
    if plan.query_is_guessed and (predicted or plan.roles.get("threshold") is not None):
        what = f"the column {quote(predicted)}" if predicted else "threshold="
        raise MistakenColumnError(
            f"{what} decides about rows, and 'query' is a column too; pass query='query' for each query's own table, "
            "or query=None for one table of all rows",
            check="query found by name",
            n=1,
        )


def needed_columns(plan: Plan, needs: Needs) -> Columns:
    """Return the columns that a call reads, of all that have a role.

    Raises
    ------
    ColumnError
        A needed role has no column.
    """
    _check_needed_roles(plan, needs)
    columns = plan.columns
    ordered = needs.order or bool(columns.query)
    read = columns.changed(
        score=columns.score if needs.score or (ordered and not columns.rank) else None,
        rank=columns.rank if ordered else None,
        predicted=columns.predicted if needs.predicted else None,
        threshold=columns.threshold if needs.score else None,
        group=columns.group if "group=" in needs.extra else None,
        popularity=columns.popularity if {"popularity=", "popularity=surprise"} & {*needs.extra} else None,
        needs_documents=needs.sets_of_lists,
        document_facts=tuple(one for one in needs.extra if one in OF_DOCUMENTS),
        extra=tuple(pair for pair in columns.extra if pair[0] in needs.extra),
    )
    lists = columns.shape.list_columns
    return read.changed(list_columns=tuple(one for one in lists if one in read.needed)) if lists else read


def _check_needed_roles(plan: Plan, needs: Needs) -> None:
    """Raise for a needed role without a column, and for a role that the call cannot use."""
    columns, separate = plan.columns, plan.judgments_not_in_rows
    _check_guessed_query(plan)
    if columns.class_scores and (needs.order or columns.query):
        way = f", or pass query=None in the place of {listed(columns.query)}" if columns.query else ""
        raise ColumnError(f"score= names a column for each class, and a ranking is ordered by one; name one{way}")
    if needs.verb is not None:
        check_roles(plan, needs.verb)
    weighs_results = (  # by propensity, for which the ranks that were shown are needed
        needs.verb is not None
        and needs.verb.weighs_by_propensity
        and bool(columns.query)
        and plan.roles.get("propensity") is not None
    )
    takes_queries_only = needs.verb is not None and "rows" not in needs.verb.kinds
    # True for what is needed and missing: a role, or two roles of which one is enough.
    lacks = {
        ("query",): (needs.query or separate or takes_queries_only) and not columns.query,
        ("score", "rank"): (needs.order or weighs_results) and not (columns.score or columns.rank),
        ("score",): needs.score and not (columns.score or columns.class_scores),
        ("predicted",): needs.predicted and not columns.predicted,
        ("doc",): (separate or needs.sets_of_lists) and not columns.doc,
        ("label", "grade"): not (needs.judgments_optional or separate) and not (columns.label or columns.grade),
    }
    if lacking := [pair for pair, is_lacking in lacks.items() if is_lacking]:
        raise _no_column_for(lacking[0], lacking[1:], plan, needs.verb)


def _no_column_for(
    pair: tuple[str, ...], others: Sequence[tuple[str, ...]], plan: Plan, verb: Verb | None
) -> ColumnError:
    """Return the error about a needed role, or two of which one is enough, and ``others`` that have no column too."""
    columns = plan.columns
    free = "relevant" in plan.available and "relevant" not in (*plan.roles, *columns.needed)
    without_lists = free and columns.shape.list_columns and not plan.backend.container("relevant")
    if pair == ("label", "grade") and without_lists:
        return no_lists("relevant", plan.glance)
    text = missing_text(pair, plan.roles, plan.available, plan.backend.hint)
    if pair == ("score", "rank") and columns.relevant and columns.doc:
        text += split_way(columns.doc, plan.glance, f"; if {columns.doc} has several ids,")
    if "; name its column with" not in text:
        return ColumnError(text).offering(**{pair[0]: ...})
    # These verbs take queries and rows without one: a column with a usual name of queries speaks for queries.
    of_queries = verb in (AUDIT, REPORT) and bool(columns.shape.likely_query) and not columns.predicted
    further: list[tuple[str, ...]] = [("query",)] * (of_queries and pair != ("query",))
    further += [("score", "rank")] * (bool(further) and not (columns.score or columns.rank))
    further += [one for one in others if one != ("score",)]
    unnamed = [name for name in free_columns(plan.roles, plan.available) if name not in columns.needed]
    lists = [name for name in unnamed if plan.backend.holds_lists(name)]
    if lists and {pair, *further} & {*IN_LISTS}:
        return _lists_without_roles(pair, further, lists, plan)
    options = likely_roles([pair, *further], plan.roles, plan.available)
    return ColumnError(text + also_missing(further, plan.roles, plan.available)).offering(**options)


def _lists_without_roles(
    pair: tuple[str, ...], further: Sequence[tuple[str, ...]], lists: list[str], plan: Plan
) -> ColumnError:
    """Return the error about roles that are missing, where columns hold lists: of documents found, or relevant."""
    lacking = [one for one in (pair, *further) if one not in IN_LISTS]
    options = likely_roles(lacking, plan.roles, plan.available) if lacking else {}
    columns, relevant = plan.columns, usual_columns("relevant", lists)[:1]
    found = [name for name in lists if name not in relevant]
    known = {} if columns.doc else {"doc": found}
    known |= {} if columns.relevant else {"relevant": relevant}
    options |= {role: names[0] if len(names) == 1 else ... for role, names in known.items()}
    each = [f"{role}={names[0]!r}" if len(names) == 1 else f"{role}=" for role, names in known.items()]
    named = " and ".join(f"{one} {OF_IDS[role]}" for one, role in zip(each, known, strict=True))
    text = missing_text(lacking[0], plan.roles, plan.available, plan.backend.hint) if lacking else ""
    text += also_missing(lacking[1:], plan.roles, plan.available)
    hold = f"{listed(lists)} {'holds' if len(lists) == 1 else 'hold'} lists"
    return ColumnError(f"{text}{'; ' * bool(text)}{hold}; pass {named}").offering(**options)
