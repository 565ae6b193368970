"""Find the column of every role, in a log and in separate judgments: as the caller named it, or by the role's name."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from frame_metrics.errors import (
    ColumnError,
    check_key_names,
    check_one_role_each,
    closest,
    listed,
    no_column,
    quote,
)
from frame_metrics.roles.columns import (
    FOUND,
    IN_JUDGMENTS,
    OF_JUDGMENTS,
    OF_RESULTS,
    PER_SYSTEM,
    ROLES,
    Columns,
    roles_where,
)
from frame_metrics.roles.list_columns import (
    Glance,
    check_no_texts,
    column_names,
    holds_relevant_lists,
    holds_result_lists,
    new_column_name,
    rank_of_places,
    read_as_lists,
    relevant_lists,
    result_lists,
)
from frame_metrics.roles.missing import likely_roles, missing_text, usual_columns
from frame_metrics.roles.roles import COLUMNS, RESOURCES, Roles

# Key columns that are made: the number of a row whose lists are a query without an id; the column of a system.
ROW, SYSTEM = "row", "system"
ALTERNATIVES = (("score", "rank"), ("label", "grade"))  # alternative roles
WITH_BOTH = {
    ALTERNATIVES[0]: "ranks order the results",
    ALTERNATIVES[1]: "grades are the gains, and labels say what is relevant",
}
SAVED_COLUMNS = ("metric", "k", "answered", "undefined")  # columns of per_query() besides the numbers
# Roles and options that go with value=.
WITH_VALUE = (*roles_where(lambda role: role.with_value), "undefined", "unanswered", *RESOURCES)
# Options that are a column, or one value (or table) for all rows.
EITHER = ("collection_size", "threshold", "propensity", "target_propensity", "popularity")
MEANS = {"metric", "average", "n", "n_undefined"}  # columns by which a result of evaluate() is recognised
# Columns of results, whose names key columns may not have.
RESULT = (
    *("metric", "k", "value", "average", "n", "n_undefined", "n_unanswered", "n_effective", "ci_low", "ci_high"),
    *("total_over", "if_calibrated"),
)


def resolve(roles: Roles, available: list[str], *, judgments: Sequence[str] | None, glance: Glance) -> Columns:
    """Find the column of every role. The result does not depend on the metrics that will be asked for.

    Parameters
    ----------
    roles : what the caller named; None sets a role aside.
    available : the frame's columns.
    judgments : the columns of the separate judgments; None if there are none.
    glance : shows what the columns hold.

    Raises
    ------
    ColumnError
        A column is missing, is ambiguous, or has two roles.
    """
    judged = judgments is not None
    if roles.get("value") is not None:
        return _columns_of_numbers(roles, available, judged=judged, hint=glance.hint)
    theirs = [column for column in judgments or () if column not in available]  # columns that only the judgments have
    from_judgments = _from_judgments(roles, theirs)
    named = _named(roles, [*available, *from_judgments], partial(_hint_at_missing, theirs, glance.hint))
    found = _found(roles, named, available)
    query_refused = "query" in roles and not roles["query"]
    # Lists: whether a row has all results of its query, and which columns may hold lists.
    results = _result_columns(named, found, judged, query_refused=query_refused)
    grouped = not query_refused and ("query" in named or "query" in found)
    listed_relevant = holds_relevant_lists(named, found, glance)
    nested = read_as_lists(results, glance, relevant=listed_relevant, grouped=grouped)
    if listed_relevant and not nested and "doc" in named:
        check_no_texts([named["doc"]], glance, role="doc")
    holds_lists = partial(holds_result_lists, glance, tuples=nested)
    if nested:  # ``found`` has roles; a column found by name is called like its role, so that it is in ``found``
        check_no_texts([column for _, column in results if column in found and not holds_lists(column)], glance)
    found = [role for role in found if not nested or role not in OF_RESULTS or holds_lists(role)]
    # The query; and the roles whose columns are found by name only if there is one.
    made = [ROW] if nested and "query" not in roles and "query" not in found else []  # each row is a query
    query = named.get("query") or ("query" if "query" in found else ROW if made else None)
    found = [role for role in found if query or ROLES[role].found != "query"]
    columns = named | {"query": query}
    columns |= {role: role for role in found if role in ("predicted", "doc")}
    # Score or rank, judgments, and columns that are made: of positions in lists, of systems.
    columns |= relevant_lists(named, found, judged, glance)
    judgments_not_in_rows = judged or "relevant" in columns
    _check_ambiguous(roles, found, ALTERNATIVES[:1] if judgments_not_in_rows else ALTERNATIVES, available)
    columns |= _found_alternative(roles, ALTERNATIVES[0], found)
    columns |= _judgment_of_rows(columns, roles, found, judgments_not_in_rows=judgments_not_in_rows)
    columns |= rank_of_places(columns, made, roles, available) if nested and query else {}
    columns |= _per_system(columns, made, available)
    lists = tuple(result_lists(columns, made, holds_lists, glance)) if nested else ()
    keys = {"query": column_names(columns["query"]), "by": _segments(columns)}
    resolved = Columns.of(**columns | keys, from_judgments=from_judgments, list_columns=lists, made=tuple(made))
    _check_roles_of_columns(resolved)
    return resolved.changed(
        likely_order=_likely_order(resolved, roles, available),
        likely_systems=() if resolved.system else _likely_systems(resolved, available),
        doc_found="doc" in found,
        likely_query="" if resolved.query or query_refused else _likely("query", resolved, available, ("q", "search_")),
    )


def _likely(role: str, columns: Columns, available: list[str], begin: str | tuple[str, ...] = "") -> str:
    """Return the first column whose name is usual for ``role`` and begins with ``begin``; "" for none.

    Columns that already have a role are left out.
    """
    known = [name for name in usual_columns(role, available) if str(name).strip().lower().startswith(begin)]
    return next((name for name in known if name not in columns.needed), "")


def _likely_order(columns: Columns, roles: Roles, available: list[str]) -> tuple[str, ...]:
    """Return a role and a column by which the rows of a query are likely ordered, if none is named; () for none."""
    is_known = (
        columns.score or columns.rank or columns.predicted or columns.shape.per_system or columns.shape.list_columns
    )
    if is_known or not columns.query or any(role in roles for role in ("score", "rank", "threshold")):
        return ()
    found = ((role, _likely(role, columns, available)) for role in ("rank", "score"))
    return next((one for one in found if one[1]), ())


def _likely_systems(columns: Columns, available: list[str]) -> tuple[str, ...]:
    """Return the columns without a role whose names are usual for systems; one called "system" is first."""
    every = dict.fromkeys([*usual_columns("system", available), *ROLES["system"].among(available)])
    return tuple(name for name in every if name not in columns.needed)


def _segments(columns: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the columns of segments, that of ``arm=`` first; raise for arms together with systems or teams."""
    arm, by = columns.get("arm"), column_names(columns.get("by"))
    if arm is None:
        return by
    for role in ("system", "team"):
        if other := columns.get(role):
            system_columns = columns.get("per_system") if role == "system" else None
            given = (
                f"a list of columns, {quote([*system_columns])}, each of a system"
                if system_columns
                else f"{role}={quote(other)}"
            )
            raise ColumnError(
                f"arm={quote(arm)} beside {given}: an arm is a part of the traffic with queries of its own, and "
                f"{role}s share their queries; name one of the two, or pass by={quote(arm)} in the place of arm= for "
                f"the {role}s within each"
            ).offering({"arm=": []}, by=arm)
    return (arm, *by)


def _from_judgments(roles: Roles, theirs: Sequence[str]) -> tuple[str, ...]:
    """Return the named columns that only the judgments have; ``theirs``: all columns that only they have.

    A collection size may be a number instead.
    """
    if not theirs:
        return ()
    given = [roles.get(role) for role in IN_JUDGMENTS]
    columns = [column for one in given if not isinstance(one, float | int) for column in column_names(one)]
    return tuple(column for column in columns if column in theirs)


def _hint_at_missing(theirs: Sequence[str], hint: Callable[[str], str], role: str, column: str) -> str:
    """Return a hint for a column that the log does not have: the judgments have it, or a similar name exists."""
    if column in theirs and role in ("query", "doc", "label", "grade"):
        return f"; the judgments have it: name it there, judge(..., {role}={quote(column)})"
    return hint(column) or closest(column, theirs)


def _found(roles: Roles, named: Mapping[str, Any], available: Sequence[str]) -> list[str]:
    """Return the roles whose columns may be found by name: neither named nor set aside, and the column is free."""
    pairs = dict(named["class_scores"]), dict(named["extra"])
    taken = {column for columns in (*named.values(), *pairs) for column in column_names(columns)}
    return [role for role in FOUND if role not in roles and role in available and role not in taken]


def _judgment_of_rows(
    columns: Mapping[str, Any], roles: Roles, found: Sequence[str], *, judgments_not_in_rows: bool
) -> dict[str, Any]:
    """Return the columns of label and grade in the log; none with separate judgments or ``relevant=``."""
    if judgments_not_in_rows:
        _check_counted_once(columns)
        return {"label": None, "grade": None}
    return _found_alternative(roles, ALTERNATIVES[1], found)


def _check_counted_once(columns: Mapping[str, Any]) -> None:
    """Raise for ``n_relevant=`` with judgments or ``relevant=``, which list the relevant documents."""
    if columns.get("n_relevant"):
        whose = f"relevant={quote(columns['relevant'])}" if "relevant" in columns else "judge()"
        raise ColumnError(
            f"n_relevant={quote(columns['n_relevant'])} counts the relevant documents of a query, and {whose} lists "
            "them; leave one out: pass n_relevant=None to count those that are listed"
        )


def _result_columns(
    named: Mapping[str, Any], found: Sequence[str], judged: bool, *, query_refused: bool
) -> list[tuple[str, str]]:
    """Return the roles and columns that may hold lists, each value the results of a query.

    They are those roles of results that are named, or found and not superseded by a named one.

    Parameters
    ----------
    named, found : the columns that the caller named, and the roles found by name.
    judged : whether there are separate judgments.
    query_refused : True if the caller passed ``query=None``; False if merely no column of queries is there.
    """
    pairs_named = [pair for pair in ALTERNATIVES if any(named.get(role) for role in pair)]
    superseded = {role for pair in pairs_named for role in pair}
    superseded |= {"score"} if named.get("class_scores") else set()
    superseded |= {"label", "grade"} if judged or named.get("relevant") else set()
    superseded |= {role for role in OF_RESULTS if ROLES[role].found == "query"} if query_refused else set()
    roles = [role for role in OF_RESULTS if role in named and not (judged and role in ("label", "grade"))]
    columns = [(role, column) for role in roles for column in column_names(named[role])]
    return [*columns, *((role, role) for role in found if role in OF_RESULTS and role not in superseded)]


def _per_system(columns: Mapping[str, Any], made: list[str], available: Sequence[str]) -> dict[str, Any]:
    """Return the roles for a list of columns, one for each system, and add the columns that will be made to ``made``.

    These are one column of all values, and one of the systems.
    """
    lists = [role for role in PER_SYSTEM if isinstance(columns.get(role), list | tuple)]
    if not lists:
        return {}
    if len(lists) > 1:
        raise ColumnError(f"{lists[0]}= and {lists[1]}= are lists of columns, each of a system; one of them may be")
    (role,) = lists
    if columns.get("system"):
        raise ColumnError(
            f"{role}={quote([*columns[role]])}: each of these columns is a system, and system="
            f"{quote(columns['system'])} says another; name one column, or leave out system="
        )
    systems = set(columns[role])
    name = new_column_name(", ".join(columns[role]), [one for one in available if one not in systems])
    made += [SYSTEM, name]
    return {role: name, "per_system": tuple(columns[role]), "stacked_column": name, "system": SYSTEM}


def _named(roles: Roles, available: list[str], hint: Callable[[str, str], str]) -> dict[str, Any]:
    """Return the columns that the caller named, by role; raise for a missing one."""
    named: dict[str, Any] = {role: column for role, column in roles.items() if role in COLUMNS and column is not None}
    scores = named.pop("score") if isinstance(named.get("score"), Mapping) else {}
    extra = named.pop("extra", {})
    as_columns = {role: given for role in EITHER if isinstance(given := roles.get(role), str)}
    by_key = {f"score of {quote(one)}": column for one, column in scores.items()}
    by_key |= {f"extra of {quote(one)}": column for one, column in extra.items()}
    all_columns = set(available)
    for role, value in (named | by_key | as_columns).items():
        for column in column_names(value):
            if column == "":
                raise ColumnError(f"{role}='': column names must not be empty; rename it")
            if column not in all_columns:
                if role == "threshold" and _is_number(column):
                    raise ColumnError(f"threshold={quote(column)} is text; pass the number, threshold={column.strip()}")
                if (parts := column.split(",")) and {*parts} <= all_columns and role in ("query", "by", "doc"):
                    raise _several_columns(role, parts, roles, available)
                raise no_column(f"{role}={quote(column)}", column, available, hint(role, column))
    return named | as_columns | {"class_scores": tuple(scores.items()), "extra": tuple(extra.items())}


def _several_columns(role: str, names: Sequence[str], roles: Roles, available: Sequence[str]) -> ColumnError:
    """Return the error about columns with commas between; a document has one, and those before it are the query's."""
    way: dict[str, Any] = {role: [*names]}
    if role == "doc":
        way = {"query": [*dict.fromkeys([*column_names(roles.get("query")), *names[:-1]])], "doc": [names[-1]]}
    texts = ", ".join(f"{one}={quote(its[0] if len(its) == 1 else its)}" for one, its in way.items())
    return no_column(f"{role}={quote(','.join(names))}", "", available, f"; pass {texts}").offering(**way)


def _is_number(text: str) -> bool:
    """Return True for the text of a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _columns_of_numbers(roles: Roles, available: list[str], *, judged: bool, hint: Callable[[str], str]) -> Columns:
    """Return the columns of a frame with ``value=``; "query" and further columns of per_query() are found by name."""
    if judged:
        raise ColumnError(
            "value= names numbers that were computed already, and judgments say nothing of them; "
            "name it on the frame, without judge()"
        )
    _check_roles_with_values([role for role, given in roles.items() if role not in WITH_VALUE and given is not None])
    if "total_over" in available or set(available) >= MEANS:
        raise ColumnError(
            "the frame has means, as evaluate() returns them, and value= is one number per query; save per_query()"
        )
    # The query, the numbers, and the columns that per_query() adds.
    named = _named(roles, available, lambda role, column: hint(column))
    query, value = column_names(named.pop("query", None)), column_names(named.pop("value"))
    with_role = {*query, *value, *(column for columns in named.values() for column in column_names(columns))}
    if not query and ("query" in roles or "query" in with_role or "query" not in available):
        raise ColumnError(f"value= is one number per query, and {missing_text(('query',), roles, available, hint)}")
    found = (name if name in available and name not in with_role else None for name in SAVED_COLUMNS)
    metric, k, answered, undefined = found
    if answered is None and roles.get("unanswered") == "drop":
        raise ColumnError(
            "unanswered='drop' requires the column 'answered' beside value=, as per_query() returns it; without it a "
            "0 of a query that a system did not answer looks measured. Save per_query() again, or pass unanswered=None"
        )
    if metric and len(value) > 1:
        raise ColumnError(
            f"value= names {len(value)} columns, each of one metric, and the column 'metric' says one for each row; "
            "name one column, or rename 'metric'"
        )
    by = _segments(named)
    named.pop("by", None)
    named |= {"metric": metric, "k": k if metric else None, "answered": answered}
    named["was_undefined"] = undefined if len(value) == 1 else None  # of several metrics it would not say which
    columns = Columns.of(query=query or ("query",), by=by, value=value, **named)
    _check_roles_of_columns(columns)
    return columns


def _check_roles_with_values(others: Sequence[str]) -> None:
    """Raise one error for all roles and conventions that have no meaning with ``value=``."""
    if others:
        named = " and ".join(filter(None, [", ".join(f"{role}=" for role in others[:-1]), f"{others[-1]}="]))
        say, aside = "says" if len(others) == 1 else "say", ", ".join(f"{role}=None" for role in others)
        raise ColumnError(f"{named} {say} nothing of value=, whose numbers were computed already; pass {aside}")


def _found_alternatives(roles: Roles, pair: tuple[str, str], found: Sequence[str]) -> list[str]:
    """Return those of two alternative roles that are found by name; none if one of them was named."""
    return [] if any(roles.get(role) is not None for role in pair) else [role for role in pair if role in found]


def _found_alternative(roles: Roles, pair: tuple[str, str], found: Sequence[str]) -> dict[str, str]:
    """Return the column of one of two alternative roles, found by name; none if one of them was named."""
    return {role: role for role in _found_alternatives(roles, pair, found)[:1]}


def _check_ambiguous(
    roles: Roles, found: Sequence[str], pairs: Sequence[tuple[str, str]], available: Sequence[str]
) -> None:
    """Raise one error for all pairs of alternative roles of which both are found by name, and neither is named."""
    both = [pair for pair in pairs if len(_found_alternatives(roles, pair, found)) > 1]
    if not both:
        return
    what = ", and ".join(
        f"both {quote(one)} and {other!r}{' are columns' * (not at)}" for at, (one, other) in enumerate(both)
    )
    flags = ", ".join(f"{role}={quote(role)}" for pair in both for role in pair)
    each = "; ".join(WITH_BOTH[pair] for pair in both)
    way = (
        f"pass {flags} to use {'all' if len(both) > 1 else 'both'} ({each}), or name one{' of each' * (len(both) > 1)}"
    )
    named = {column for role, one in roles.items() if role in COLUMNS for column in column_names(one)}
    free = [name for name in available if name not in named]
    systems = [] if {"system", "arm", "team"} & {*roles} else ROLES["system"].among(free)
    more = f"; add system={quote(systems[0])} if that column names the systems" if systems else ""
    raise ColumnError(f"{what}; {way}{more}")


def _check_roles_of_columns(columns: Columns) -> None:
    """Raise for a column with two roles, and for a key column with the name of a column of results."""
    by_role = {"query": columns.query, "system": column_names(columns.system), "arm": column_names(columns.arm)}
    by_role |= {"by": columns.segments, "value": columns.value}
    by_role["score of a class"] = tuple(column for _, column in columns.class_scores)
    by_role["extra"] = tuple(column for _, column in columns.extra)
    by_role["column of a system"] = columns.shape.per_system
    single = [(role, column) for role, column in columns.by_role.items() if role != "collection_size"]
    single = [(role, column) for role, column in single if column not in columns.shape.made or column in (ROW, SYSTEM)]
    check_one_role_each([*single, *((key, column) for key, names in by_role.items() for column in names)])
    check_key_names(columns.keys, RESULT)


def resolve_judgments(given: dict[str, Any], available: list[str], roles: Roles, columns: Columns) -> Columns:
    """Find the columns of separate judgments: as given, else by the log's name, else by the role's name.

    Parameters
    ----------
    given : the options of ``judge``; ``label=True`` means that every row is relevant.
    available : the columns of the judgments.
    roles, columns : the roles of the log, as named, and their columns.
    """
    _check_several_missing(given, available, roles, columns)
    query = _query_of_judgments(given.get("query"), available, columns.query)
    judgment = _label_or_grade(given, available, roles)
    by = tuple(column for column in columns.by if column in available)
    of_query: dict[str, Any] = {role: getattr(columns, role) for role in IN_JUDGMENTS if role not in ("arm", "by")}
    of_query = {role: column for role, column in of_query.items() if column in available}
    doc = _column_of_judgments("doc", given.get("doc"), available, columns.doc)
    if given.get("sampling") is not None:
        of_query["sampling"] = _column_of_judgments("sampling", given["sampling"], available)
    roles_given = [role for role in OF_JUDGMENTS if given.get(role) is not None]
    named: dict[str, Any] = {role: _column_of_judgments(role, given[role], available) for role in roles_given}
    found = Columns.of(query=query, by=by, doc=doc, **of_query, **judgment, **named)
    free = {*available} - {*found.needed} - {*named}  # nor columns with the name of a role that has another column
    if unnamed_roles := tuple(role for role in OF_JUDGMENTS if role in free):
        found = found.changed(unnamed_roles=unnamed_roles)
    if given.get("proxy") is not None and not found.sampling and "chosen" in {*available} - {*found.needed}:
        found = found.changed(chosen="chosen")
    if not named:
        return found
    check_one_role_each(
        [*(("query", column) for column in query), *(("by", column) for column in by), *found.by_role.items()]
    )
    return found


def _check_several_missing(given: dict[str, Any], available: list[str], roles: Roles, columns: Columns) -> None:
    """Raise if several columns of separate judgments are neither named nor found, all at once."""
    is_there = {
        "query=": {*columns.query} <= {*available} or "query" in available,
        "doc=": columns.doc in available or "doc" in available,
        "grade= or label=": any(roles.get(role) in available or role in available for role in ("label", "grade")),
    }
    named = {role for role, one in given.items() if one is not None}
    lacking = [role for role, found in is_there.items() if not (found or named & {*re.findall(r"\w+(?==)", role)})]
    if len(lacking) > 1:
        raise ColumnError(
            f"judge: name the columns of the judgments with {', '.join(lacking[:-1])} and {lacking[-1]}; they have "
            f"{listed(available)}"
        )


def _query_of_judgments(given: Any, available: list[str], ours: tuple[str, ...]) -> tuple[str, ...]:
    """Return the columns of the query in separate judgments; ``ours``: those of the log."""
    there = tuple(name for name in ours if name in available)
    if given is not None:
        query = tuple(_column_of_judgments("query", column, available) for column in column_names(given))
    else:
        query = there or (_column_of_judgments("query", None, available),)
    if len(query) != len(ours):
        others = [name for name in ours if name not in query][len(query) - len(ours) :]
        by = f"[{listed(others)}]" if len(others) > 1 else listed(others)
        way = f"; pass by={by} instead, to judge a query by its text" if len(query) < len(ours) else ""
        raise ColumnError(f"judge: the query is {listed(ours)} in the log and {listed(query)} in the judgments{way}")
    return query


def _label_or_grade(given: dict[str, Any], available: list[str], roles: Roles) -> dict[str, Any]:
    """Return the columns of label and grade of separate judgments."""
    if given.get("label") is True:
        return {"label": "label", "made": ("label",)}
    pair = ALTERNATIVES[1]
    named = {role: _column_of_judgments(role, given[role], available) for role in pair if given.get(role) is not None}
    as_in_log = {role: str(roles.get(role)) for role in pair if roles.get(role) in available}
    if not (named or as_in_log):
        _check_ambiguous({}, available, (pair,), ())
    found = named or as_in_log or _found_alternative({}, pair, available)
    if not found:
        raise ColumnError(f"judge: {missing_text(pair, {}, available)}").offering(**likely_roles([pair], {}, available))
    return found


def _column_of_judgments(role: str, given: Any, available: list[str], in_log: str | None = None) -> str:
    """Return the judgments' column of a role: as given, else by the log's name, else by the role's name."""
    if given == "":
        raise ColumnError(f"judge: {role}='': column names must not be empty; rename it")
    if given is not None and given not in available:
        raise ColumnError(f"judge: {role}={quote(given)} is not among {listed(available)}{closest(given, available)}")
    for name in (in_log, role) if given is None else (given,):
        if name in available:
            return str(name)
    raise ColumnError(f"judge: name the {role} column of the judgments with {role}=; they have {listed(available)}")
