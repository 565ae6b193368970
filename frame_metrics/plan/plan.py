"""The plan of an irm: the column of every role of a frame; no value is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from frame_metrics.backends.protocol import Backend
from frame_metrics.data.chances import CHANCES
from frame_metrics.data.documents import DOCUMENT_TABLES
from frame_metrics.errors import ColumnError, class_name, prefix_errors
from frame_metrics.inputs.cached_arrays import CachesByKey, computed_once
from frame_metrics.plan.given import Given
from frame_metrics.roles.columns import FOUND, Columns
from frame_metrics.roles.list_columns import Glance, column_names
from frame_metrics.roles.resolve import ROW, resolve
from frame_metrics.roles.roles import Roles

PROXY_ERROR_PREFIX = "proxy, whose columns and scale are named as proxy=machine.irm(grade=..., scale=...)"


@dataclass(frozen=True, eq=False, kw_only=True)
class Plan(CachesByKey):
    """A frame, the column of every role, and the separate judgments.

    An irm keeps its plan as long as the frame has the same columns. ``bind`` (plan/call.py) makes a call of the plan,
    which reads what some metrics need.
    """

    given: Given
    columns: Columns  # of every role, whatever a call needs
    backend: Backend  # of the frame; it reads columns of tuples as lists
    available: list[Any]  # the names of the frame's columns
    proxy: Plan | None  # the plan of the same frame with the judgments of a machine (``proxy=``)

    @property
    def roles(self) -> Roles:
        """The roles and conventions as the caller gave them."""
        return self.given.roles

    @computed_once
    def has_saved_numbers(self) -> bool:
        """True if the frame has numbers that were computed elsewhere (``value=``)."""
        return self.given.has_saved_numbers

    @property
    def glance(self) -> Glance:
        """A look at what the columns hold."""
        return glance_at(self.backend)

    @property
    def judgments_not_in_rows(self) -> bool:
        """True if the judgments are no column of the results, but another frame, or lists of ids (``relevant=``)."""
        return self.given.judgments is not None or self.columns.relevant is not None

    @computed_once
    def query_is_guessed(self) -> bool:
        """True if "query" was only found by name, and rows have their own judgments."""
        columns, named = self.columns, "query" in self.roles
        return columns.query == ("query",) and not (named or columns.value or self.judgments_not_in_rows)

    @computed_once
    def ranking_is_guessed(self) -> bool:
        """True if "query" was only found by name, and nothing else says that the rows of a query are a ranking.

        A rank says so, and so do grades without labels, lists, judgments, and roles that rows without a query cannot
        have.
        """
        columns, roles = self.columns, self.roles
        graded = columns.grade and not columns.label
        has_rankings = graded or columns.rank or columns.shape.list_columns or columns.n_relevant or columns.team
        of_rankings = ("collection_size", *CHANCES, *DOCUMENT_TABLES, "group")
        return self.query_is_guessed and not has_rankings and all(roles.get(role) is None for role in of_rankings)

    @property
    def only_describes_lists(self) -> bool:
        """True if roles only describe what lists show (``catalogue=`` ...), and nothing says what is relevant."""
        describes_lists = any(self.roles.get(role) is not None for role in (*DOCUMENT_TABLES, "group"))
        judges = self.judgments_not_in_rows or self.columns.label or self.columns.grade or self.columns.predicted
        return describes_lists and bool(self.columns.query) and not judges and self.roles.get("threshold") is None

    @property
    def found(self) -> list[str]:
        """The roles whose columns were found by name."""
        found = ((role, getattr(self.columns, role)) for role in FOUND if role not in self.roles)
        made = self.columns.shape.made
        return [role for role, column in found if column and not {*made} & {*column_names(column)}]


def unused_judgments(plan: Plan) -> dict[str, str]:
    """Return the frame's columns that the caller named as label and grade, and that ``judge`` replaces, by role."""
    named = {role: plan.roles.get(role) for role in ("label", "grade")}
    if plan.given.judgments is None:
        return {}
    return {role: column for role, column in named.items() if isinstance(column, str) and column in plan.available}


def plan_of(given: Given) -> Plan:
    """Return the plan of what was given; raise for roles that have no column, or do not go together."""
    backend, available = given.backend, given.available
    names = None if given.judgments_backend is None else given.judgments_backend.names()
    columns = resolve(given.roles, available, judgments=names, glance=glance_at(backend))
    with_lists = [one for one in (*columns.shape.list_columns, columns.relevant) if one]
    tuples_or_sets = [one for one in with_lists if backend.container(one) not in ("", "list")]
    if tuples_or_sets or columns.relevant:
        backend = backend.with_lists([*tuples_or_sets, *filter(None, [columns.relevant])])
    # Each row is a query by itself, and its number is the key.
    if ROW in columns.shape.made and not backend.numbered:
        raise ColumnError(f"the rows of a {class_name(given.frame)} have no numbers; name the queries' column, query=")
    proxy = None
    if given.proxy is not None:
        with prefix_errors(PROXY_ERROR_PREFIX):
            proxy = plan_of(given.proxy)
    return Plan(given=given, columns=columns, backend=backend, available=available, proxy=proxy)


def glance_at(backend: Backend) -> Glance:
    """Return a look at what the columns of a frame hold."""
    return Glance(backend.hint, backend.container, backend.first_of, backend.as_lists)
