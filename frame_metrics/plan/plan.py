"""The plan of a call: the roles of columns, the needs of metrics, and the conventions; no value is read."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from frame_metrics.border.frames import border_of
from frame_metrics.border.protocol import Beside, Border, Limits
from frame_metrics.data.chances import CHANCES, by_rank
from frame_metrics.data.documents import TABLES, tables_of
from frame_metrics.errors import ColumnError, NotComputableError, check_apart, kind_of, told_of
from frame_metrics.inputs.kept import Remembers
from frame_metrics.plan.needs import Needs, needs_of, read_by
from frame_metrics.roles.columns import FOUND, Columns
from frame_metrics.roles.conventions import Conventions, conventions
from frame_metrics.roles.memory import bytes_of
from frame_metrics.roles.resolve import ROW, Glance, resolve, resolve_judgments
from frame_metrics.roles.roles import Roles


@dataclass(frozen=True, eq=False)
class Plan(Remembers):
    """A frame, the roles of its columns, the separate judgments, and the needs of a call.

    The plan of an irm has no needs, and covers all roles; ``asking`` returns the plan of a call, which reads what it
    needs.
    """

    frame: Any  # the caller's frame, of any kind
    roles: Roles  # the roles and conventions as the caller gave them
    judgments: tuple[Any, dict[str, Any]] | None  # the frame of judgments, and the options of ``judge``
    needs: Needs | None = None  # the needs of a call; None for the plan of an irm

    def asking(self, needs: Needs) -> Plan:
        """Return the plan of a call with these needs; raise for columns and conventions that do not go together."""
        return self.once(needs, lambda: self._of(needs))

    def _of(self, needs: Needs) -> Plan:
        _ = self.played  # computed here once, so that the plans of all calls share it
        plan = self.but(needs=needs)
        for name in ("columns", "judged", "conventions", "proxy"):
            vars(plan).pop(name, None)
        _ = plan.columns, plan.judged, plan.conventions, plan.proxy  # each may raise, in this order
        if plan.conventions.propensity is not None and not needs.weighs:
            raise ColumnError(
                "propensity= weighs the results that a metric adds up, in evaluate(), per_query(), compare() and "
                "the curves of metrics by cutoff; nothing is weighted here: say propensity=None"
            )
        if needs.lists and not needs.takes_lists:
            raise NotComputableError(
                "catalogue_coverage, distributional_coverage and catalogue_gini are of all lists of a segment "
                "together, and of no single query: evaluate() has them, and compare() for systems"
            )
        return plan

    def but(self, **known: Any) -> Plan:
        """Return a copy with other values of some fields, or of cached properties such as ``columns``."""
        other = copy(self)
        vars(other).update({"_made": {}} | known)
        return other

    def without_frames(self) -> Plan:
        """Return a copy without frames, to send to other processes, which get pieces of the frames."""
        judgments = None if self.judgments is None else (None, {**self.judgments[1], "proxy": None})
        roles = {**self.roles, **dict.fromkeys((*CHANCES, *TABLES))}  # the conventions have them, already read
        gone = dict.fromkeys(("frame", "border", "beside", "proxy"))
        return self.but(roles=roles, judgments=judgments, available=[], unfolds=self.unfolds, **gone)

    @property
    def holds(self) -> bool:
        """True while the frames still have the columns for which the plan was made."""
        beside = (self.beside, None if self.proxy is None else self.proxy.beside)
        return self.border.unchanged and all(one is None or one.unchanged for one in beside)

    @cached_property
    def border(self) -> Border:
        """The border of the frame."""
        return border_of(self.frame)

    @cached_property
    def beside(self) -> Border | None:
        """The border of the separate judgments; None if there are none."""
        return None if self.judgments is None else border_of(self.judgments[0])

    @cached_property
    def available(self) -> list[Any]:
        """The names of the frame's columns."""
        return self.border.names()

    @cached_property
    def expressed(self) -> frozenset[str]:
        """The names of the columns that were made of expressions."""
        return frozenset()

    @property
    def glance(self) -> Glance:
        """A look at what the columns hold."""
        return Glance(self.border.hint, self.border.container, self.border.first_of, self.border.as_lists)

    @cached_property
    def played(self) -> Columns:
        """The column of every role, regardless of the needs."""
        names = None if self.beside is None else self.beside.names()
        border = self.border
        columns = resolve(self.roles, self.available, judgments=names, look=self.glance)
        packed = [
            one for one in (*columns.lists, columns.relevant) if one and border.container(one) not in ("", "list")
        ]
        if packed or columns.relevant:
            vars(self)["border"] = border.with_lists([*packed, *filter(None, [columns.relevant])])
        if ROW in columns.made and not border.numbered:
            raise ColumnError(f"the rows of a {kind_of(self.frame)} have no numbers; name the queries' column, query=")
        return columns

    @cached_property
    def columns(self) -> Columns:
        """The columns that the call reads."""
        return self.played if self.needs is None else read_by(self, self.needs)

    @cached_property
    def judged(self) -> Columns | None:
        """The columns of the separate judgments that the call reads; None if there are no separate judgments."""
        if self.judgments is None or self.beside is None or self.needs is None:
            return None
        judged = resolve_judgments(self.judgments[1], self.beside.names(), self.roles, self.columns)
        tuples = [one for one in (judged.doc, judged.label, judged.grade) if one and self._is_tuple(one, judged)]
        if tuples and (judged.doc not in tuples or len(tuples) > 1 or (judged.made and not self._has_tuples)):
            vars(self)["beside"] = self.beside.with_lists(tuples)
        return judged

    def _is_tuple(self, column: str, judged: Columns) -> bool:
        """Return True if a column of the separate judgments holds tuples."""
        return self.beside is not None and column not in judged.made and self.beside.container(column) == "tuple"

    @property
    def _has_tuples(self) -> bool:
        """True if ids of the log are tuples."""
        doc = str(self.columns.doc)
        first = self.border.first_of(doc)
        first = next(iter(first), None) if doc in self.columns.lists and first is not None else first
        return isinstance(first, tuple)

    @cached_property
    def conventions(self) -> Conventions:
        """The conventions of the call."""
        several = {} if self.judgments is None else {"several": self.judgments[1]["several"]}
        return conventions({**self.roles, **several}, self.columns, self.judged)

    @cached_property
    def proxy(self) -> Plan | None:
        """The plan of the same frame with the judgments of a machine (``proxy=``); None if there are none."""
        if self.judgments is None or self.judgments[1].get("proxy") is None:
            return None
        frame, given, own = self.judgments[1]["proxy"]
        other = Plan(self.frame, self.roles | own, (frame, given), self.needs)
        vars(other)["border"] = self.border
        if self.needs is None:
            return other
        with told_of("proxy, whose columns and scale are named as proxy=machine.irm(grade=..., scale=...)"):
            _ = other.columns, other.judged, other.conventions
            if odd := sorted({*self.columns.from_judgments} ^ {*other.columns.from_judgments}):
                raise ColumnError(
                    f"{odd[0]!r} stands among the judgments of one side only; give both sides that column"
                )
        return other

    @property
    def has_judgments(self) -> bool:
        """True if judgments are kept beside the results: in another frame, or in lists of relevant documents."""
        return self.judgments is not None or self.played.relevant is not None

    @cached_property
    def found_query(self) -> bool:
        """True if "query" was only found by name, and rows have their own judgments."""
        columns = self.played
        return columns.query == ("query",) and "query" not in self.roles and not (columns.value or self.has_judgments)

    @cached_property
    def found_ranking(self) -> bool:
        """True if "query" was only found by name, and nothing else says that the rows of a query are a ranking.

        A rank says so, and so do grades without labels, lists, judgments, and roles that rows without a query cannot
        have.
        """
        columns, roles = self.played, self.roles
        graded = columns.grade and not columns.label
        said = graded or columns.rank or columns.lists or columns.n_relevant or columns.team
        others = ("collection_size", *CHANCES, *TABLES, "group")
        return self.found_query and not said and all(roles.get(role) is None for role in others)

    @property
    def only_shown(self) -> bool:
        """True if roles describe what lists show (``catalogue=`` ...), and nothing says what is relevant."""
        of_shown = any(self.roles.get(role) is not None for role in (*TABLES, "group"))
        judges = self.has_judgments or self.played.label or self.played.grade or self.played.predicted
        return of_shown and bool(self.played.query) and not judges and self.roles.get("threshold") is None

    @property
    def of_values(self) -> bool:
        """True if the frame has numbers that were computed elsewhere (``value=``)."""
        return self.roles.get("value") is not None

    @property
    def limits(self) -> Limits:
        """The memory and the folder of temporary files that a large frame may use."""
        memory = self.roles.get("memory")
        return Limits(None if memory is None else bytes_of(memory), self.roles.get("temporary"))

    @property
    def found(self) -> list[str]:
        """The roles whose columns were found by name; empty if the roles of columns cannot be resolved."""
        try:
            columns = self.played
        except Exception:  # the repr reads this, and must not raise
            return []
        played = ((role, getattr(columns, role)) for role in FOUND if role not in self.roles)
        return [role for role, column in played if column and not {*columns.made} & {column, *column}]

    needs_of = needs_of  # as a method

    @property
    def to_read(self) -> list[str]:
        """The columns to read from the separate judgments; with ``label=True`` not the label, which is made."""
        return [] if self.judged is None or self.judgments is None else self.judged.needed

    def reading(self) -> Plan:
        """Return a copy whose conventions have the frames of propensities, popularity and catalogue read, as polars."""
        lists = self.needs is not None and self.needs.lists
        conventions = tables_of(self.conventions, self.columns, lists=lists)
        plan = self if conventions is self.conventions else self.but(conventions=conventions)
        if conventions.propensity is None:
            return plan
        by = [name for name in self.columns.by if name not in self.columns.from_judgments]
        read = {role: by_rank(role, getattr(self.conventions, role), by) for role in CHANCES}
        return plan.but(conventions=replace(plan.conventions, **read))

    @property
    def keys_beside(self) -> dict[str, str]:
        """The column of the separate judgments for each key column of a result that they have."""
        if self.judged is None:
            return {}
        ours, theirs = (*self.columns.query, self.columns.doc), (*self.judged.query, self.judged.doc)
        pairs = {name: beside for name, beside in zip(ours, theirs, strict=True) if name and beside}
        cluster = {str(self.columns.cluster): self.judged.cluster} if self.judged.cluster else {}
        others = (*self.judged.by, *([self.judged.subtopic] if self.judged.subtopic else []))
        return pairs | cluster | {name: name for name in others} | dict(self.judged.extra)

    def read_judgments(self) -> Beside:
        """Read the separate judgments once: a lazy frame or a stream may give its rows in another order next time."""
        if self.beside is None or self.judged is None:
            return Beside(None, {})
        return Beside(self.beside.in_memory(self.to_read), self.keys_beside)

    @cached_property
    def unfolds(self) -> bool:
        """True if a row of the frame is not a single result, or a row of the judgments not a single judgment."""
        nested = self.judged is not None and self.beside is not None and self.beside.holds_lists(str(self.judged.doc))
        return self.columns.unfolds or nested

    def check_without(self, roles: Sequence[str], why: str) -> None:
        """Raise for roles that a verb cannot use; ``why``: the reason, as a clause of the error."""
        for role in roles:
            if column := getattr(self.columns, role):
                raise ColumnError(f"{role}={column!r}: {why}; say {role}=None")

    def check_pooled(self, result: Sequence[str]) -> None:
        """Raise for roles that do not go with pooled rows, and for a key with the name of a column of the result."""
        if self.columns.collection_size or self.conventions.documents is not None:
            raise ColumnError("collection_size=: what is counted here are the rows; say collection_size=None")
        if self.columns.query and self.columns.weight:
            raise ColumnError(
                f"rows are pooled here, and {self.columns.weight} is the weight of a query; say weight=None"
            )
        check_apart(self.columns.keys, result)
