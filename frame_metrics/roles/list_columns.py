"""Columns of lists: a row has the results of a query, or its relevant documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from frame_metrics.errors import ColumnError, MistakenColumnError, quote
from frame_metrics.roles.columns import OF_RESULTS, PER_SYSTEM
from frame_metrics.roles.roles import Roles

SEPARATORS = (",", ";", "|")  # what may separate ids in a text
PLACE = "place in the list"  # the made column of ranks, if lists have neither scores nor ranks
VALUED = ("score", "rank", "label", "grade")  # roles whose values are numbers, so that a tuple of them is a list


class Glance(NamedTuple):
    """A look at a frame's columns, which does not read them whole."""

    hint: Callable[[str], str] = lambda column: ""  # returns a hint for a column that is missing
    container: Callable[[str], str] = lambda column: ""  # returns "list", "tuple", "set" or ""
    first_of: Callable[[str], Any] = lambda column: None  # returns a value; None if none is known
    as_lists: str = ""  # code that makes a list of each value of a column, with {} for the column's name

    def first_list_text(self, column: str) -> str:
        """Return the first of texts that are lists, as CSV holds them; "" if the column does not hold such texts."""
        first = self.first_of(column)
        return first if isinstance(first, str) and first.lstrip().startswith("[") else ""


def result_lists(
    columns: Mapping[str, Any], made: Sequence[str], holds_lists: Callable[[str], bool], glance: Glance
) -> list[str]:
    """Return the columns of lists; raise if another column of results has one value for each row."""
    in_order = sorted(OF_RESULTS, key=lambda role: role != "doc")  # errors name the documents first
    results = [(role, column) for role in in_order for column in column_names(columns.get(role)) if column not in made]
    stacked_role = next((role for role in PER_SYSTEM if columns.get(role) == columns.get("stacked_column", "")), "")
    results += [(stacked_role, column) for column in columns.get("per_system", ())]
    lists = [(role, column) for role, column in results if holds_lists(column)]
    for role, column in results:
        if (role, column) not in lists:
            other, other_column = lists[0]
            if text := glance.first_list_text(column):
                raise _of_texts(role, column, text)
            raise ColumnError(
                f"{role}={quote(column)} holds one value for each row, and {other}={quote(other_column)} a list, the "
                f"results of a query; give both lists of one length, or pass {other}=None or {role}=None"
            )
    if columns.get("class_scores"):
        raise ColumnError(f"{results[0][1]!r} holds lists, and the scores of several classes are one to a row")
    extra = [column for _, column in columns["extra"] if holds_lists(column)]
    return [*(column for _, column in lists), *extra]


def relevant_lists(named: Mapping[str, Any], found: Sequence[str], judged: bool, glance: Glance) -> dict[str, str]:
    """Return the column of ``relevant=``, as named, or found by name if it holds lists."""
    column = named.get("relevant")
    others = [role for role in ("label", "grade") if named.get(role)]
    if column is None:
        if judged or others or "relevant" not in found or not glance.container("relevant"):
            return {}
        if others := [role for role in ("label", "grade") if role in found]:
            raise ColumnError(
                f"both {others[0]!r} and 'relevant' are columns; name the one that is meant, as relevant='relevant'"
            )
        return {"relevant": "relevant"}
    if judged:
        raise ColumnError(f"relevant={quote(column)}: the judgments are those of judge(); pass relevant=None")
    if others:
        raise ColumnError(
            f"relevant={quote(column)} says what is relevant, and {others[0]}= does too; name one of them"
        )
    if not glance.container(column):
        raise no_lists(column, glance)
    return {"relevant": column}


def no_lists(column: str, glance: Glance) -> MistakenColumnError:
    """Return the error for a column of relevant ids that holds no lists."""
    if text := glance.first_list_text(column):
        return _of_texts("relevant", column, text)
    way = f"relevant={glance.as_lists.format(quote(column))}, or " if glance.as_lists else ""
    return MistakenColumnError(
        f"relevant={quote(column)} holds no lists of ids; if it has one id for each query, pass {way}"
        f"judge(gold, label=True), with a frame of queries and ids{split_way(column, glance)}; a judgment of a row is "
        "its label=",
        check="single ids where lists are meant",
        n=1,
    )


def split_way(column: str, glance: Glance, condition: str = "; if several,") -> str:
    """Return the way to make lists of a column whose values seem to be several ids each; "" for others."""
    first = glance.first_of(column)
    mark = next((one for one in SEPARATORS if one in first), "") if isinstance(first, str) else ""
    way = f"{condition} as {quote(first)}, make them lists, with frame[{quote(column)}].str.split({mark!r})"
    return way if mark else ""


def holds_result_lists(glance: Glance, column: str, *, tuples: bool) -> bool:
    """Return True for a column of lists; ``tuples``: or of tuples."""
    return glance.container(column) in (("list", "tuple") if tuples else ("list",))


def holds_relevant_lists(named: Mapping[str, Any], found: Sequence[str], glance: Glance) -> bool:
    """Return True if the column of ``relevant=`` holds lists, tuples or sets."""
    column = named.get("relevant") or ("relevant" if "relevant" in found else None)
    return column is not None and bool(glance.container(column))


def read_as_lists(results: Sequence[tuple[str, str]], glance: Glance, *, relevant: bool, grouped: bool) -> bool:
    """Return True if a row has all results of its query, as lists or tuples; raise for sets.

    A list is always one. A tuple is

    - in scores, ranks and grades a list;
    - in labels a list, but a class of rows without a query;
    - in documents a list if ``relevant`` holds lists and no score, rank, label or grade is named, or if one of these
      is a list; else an id.

    Parameters
    ----------
    results : the roles and columns that may hold lists.
    relevant : whether the column of ``relevant=`` holds lists.
    grouped : whether there is a query, named or found.
    """
    kinds = {column: glance.container(column) for _, column in results}
    for role, column in results:
        if kinds[column] == "set":
            problem = f"{role}={quote(column)} holds sets; a set has no order, and a ranking needs one: make them lists"
            raise MistakenColumnError(problem, check="sets where lists are meant", n=1)
    numbers = {role for role, column in results if role in VALUED and kinds[column] == "tuple"}
    if "list" in kinds.values() or (numbers if grouped else numbers - {"label"}):
        return True
    documents_alone = not any(role in VALUED for role, _ in results)
    return relevant and documents_alone and any(kinds[column] == "tuple" for role, column in results if role == "doc")


def check_no_texts(others: Sequence[str], glance: Glance, role: str = "") -> None:
    """Raise for texts of lists in columns beside columns of lists, where they would be ignored.

    ``role``: the role of a column that was named; "" for roles of columns that were found.
    """
    for column in others:
        if text := glance.first_list_text(column):
            raise _of_texts(role or column, column, text, "" if role else f", or pass {column}=None")


def _of_texts(role: str, column: str, text: str, aside: str = "") -> MistakenColumnError:
    """Return the error for a column whose values are texts of lists.

    ``text``: the first of them; ``aside``: the option that would set the column aside, as text.
    """
    return MistakenColumnError(
        f"{role}={quote(column)} holds texts of lists, as {quote(text)}; make them lists, with [ast.literal_eval(one) "
        f"for one in frame[{quote(column)}]], or with json.loads{aside}",
        check="texts where lists are meant",
        n=1,
    )


def rank_of_places(
    columns: Mapping[str, Any], made: list[str], roles: Roles, available: Sequence[str]
) -> dict[str, str]:
    """Return the role of a rank made of positions in lists, if neither score nor rank orders the results.

    The name of its column is appended to ``made``.
    """
    if "rank" in roles or columns.get("score") or columns.get("rank"):
        return {}
    made.append(new_column_name(PLACE, available))
    return {"rank": made[-1]}


def new_column_name(name: str, available: Sequence[str]) -> str:
    """Return a name for a column that is made, with spaces appended until the frame has no such column."""
    while name in available:
        name += " "
    return name


def column_names(value: Any) -> tuple[str, ...]:
    """Return the columns that were given to a role: one, several, or a mapping to them; none for None."""
    if value is None or isinstance(value, str):  # as most are
        return () if value is None else (value,)
    return tuple(value.values() if isinstance(value, Mapping) else value)
