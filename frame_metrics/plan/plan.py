"""Plans: which column of a frame plays which part, what is asked, and the conventions; no value is read."""

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
from frame_metrics.roles.resolve import ROW, resolve, resolve_judgments
from frame_metrics.roles.roles import Roles


@dataclass(frozen=True, eq=False)
class Plan(Remembers):
    """A frame, the parts that its columns play, the judgments beside it, and what is asked of them.

    That of an irm is about all parts that are played; ``asking`` gives that of a verb, which reads what it needs.
    """

    frame: Any  # the caller's, of any kind
    roles: Roles  # and conventions, as the caller gave them
    judgments: tuple[Any, dict[str, Any]] | None  # a frame of them, and what the caller said of its columns
    needs: Needs | None = None  # what the metrics that are asked for cannot do without; None where nothing is asked yet

    def asking(self, needs: Needs) -> Plan:
        """Return the plan of what needs these parts; raise for columns and conventions that do not go together."""
        return self.once(needs, lambda: self._of(needs))

    def _of(self, needs: Needs) -> Plan:
        _ = self.played  # once for all that is asked
        plan = self.but(needs=needs)
        for name in ("columns", "judged", "conventions", "proxy"):
            vars(plan).pop(name, None)
        _ = plan.columns, plan.judged, plan.conventions, plan.proxy  # which raise in this order
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
        """Return this plan with something known otherwise, a field or what follows from the fields."""
        other = copy(self)
        vars(other).update({"_made": {}} | known)
        return other

    def without_frames(self) -> Plan:
        """Return this plan without the frames that it is about, for other processes, which work on pieces of them."""
        judgments = None if self.judgments is None else (None, {**self.judgments[1], "proxy": None})
        roles = {**self.roles, **dict.fromkeys((*CHANCES, *TABLES))}  # which the conventions have
        gone = dict.fromkeys(("frame", "border", "beside", "proxy"))
        return self.but(roles=roles, judgments=judgments, available=[], unfolds=self.unfolds, **gone)

    @property
    def holds(self) -> bool:
        """True where the frames still have the columns that the plan was made of."""
        beside = (self.beside, None if self.proxy is None else self.proxy.beside)
        return self.border.unchanged and all(one is None or one.unchanged for one in beside)

    @cached_property
    def border(self) -> Border:
        """The border of the frame."""
        return border_of(self.frame)

    @cached_property
    def beside(self) -> Border | None:
        """The border of the judgments; None where there are none beside the frame."""
        return None if self.judgments is None else border_of(self.judgments[0])

    @cached_property
    def available(self) -> list[Any]:
        """The names of the frame's columns."""
        return self.border.names()

    @cached_property
    def played(self) -> Columns:
        """The column of every part that is played, whatever is asked."""
        names = None if self.beside is None else self.beside.names()
        border, has = self.border, self.available
        columns = resolve(self.roles, has, judgments=names, hint=border.hint, holds_lists=border.holds_lists)
        if ROW in columns.made and not border.numbered:
            raise ColumnError(f"the rows of a {kind_of(self.frame)} have no numbers; name the queries' column, query=")
        return columns

    @cached_property
    def columns(self) -> Columns:
        """The columns that are read."""
        return self.played if self.needs is None else read_by(self, self.needs)

    @cached_property
    def judged(self) -> Columns | None:
        """The columns of the judgments that are read, where there are any beside the frame."""
        if self.judgments is None or self.beside is None or self.needs is None:
            return None
        return resolve_judgments(self.judgments[1], self.beside.names(), self.roles, self.columns)

    @cached_property
    def conventions(self) -> Conventions:
        """The conventions that are followed."""
        several = {} if self.judgments is None else {"several": self.judgments[1]["several"]}
        return conventions({**self.roles, **several}, self.columns, self.judged)

    @cached_property
    def proxy(self) -> Plan | None:
        """The plan of the same frame with the judgments of a machine beside it; None where only people judged."""
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
        """True where judgments are kept beside the results: in another frame, or in lists of relevant documents."""
        return self.judgments is not None or self.played.relevant is not None

    @property
    def only_shown(self) -> bool:
        """True where roles are of what lists show, and nothing says what of it is relevant."""
        of_shown = any(self.roles.get(role) is not None for role in (*TABLES, "group"))
        judges = self.has_judgments or self.played.label or self.played.grade or self.played.predicted
        return of_shown and bool(self.played.query) and not judges and self.roles.get("threshold") is None

    @property
    def of_values(self) -> bool:
        """True where the frame has numbers that were computed elsewhere."""
        return self.roles.get("value") is not None

    @property
    def limits(self) -> Limits:
        """Memory and temporary files that a large frame may use."""
        memory = self.roles.get("memory")
        return Limits(None if memory is None else bytes_of(memory), self.roles.get("temporary"))

    @property
    def found(self) -> list[str]:
        """The roles whose columns are found by name; none where the columns cannot be found out."""
        try:
            columns = self.played
        except Exception:  # whatever the frame, its repr is no place for an error
            return []
        played = ((role, getattr(columns, role)) for role in FOUND if role not in self.roles)
        return [role for role, column in played if column and not {*columns.made} & {column, *column}]

    needs_of = needs_of  # what metrics cannot do without

    @property
    def to_read(self) -> list[str]:
        """Columns of the judgments that are there: not a label where every row is relevant."""
        return [] if self.judged is None or self.judgments is None else self.judged.needed

    def reading(self) -> Plan:
        """Return this plan with what its conventions say by rank, or by document, read from frames."""
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
        """The column of the judgments for each key column of the log that they have."""
        if self.judged is None:
            return {}
        ours, theirs = (*self.columns.query, self.columns.doc), (*self.judged.query, self.judged.doc)
        pairs = {name: beside for name, beside in zip(ours, theirs, strict=True) if name and beside}
        cluster = {str(self.columns.cluster): self.judged.cluster} if self.judged.cluster else {}
        others = (*self.judged.by, *([self.judged.subtopic] if self.judged.subtopic else []))
        return pairs | cluster | {name: name for name in others} | dict(self.judged.extra)

    def read_judgments(self) -> Beside:
        """Read the judgments, once: where a plan or a stream is read again, its rows may come in another order."""
        if self.beside is None or self.judged is None:
            return Beside(None, {})
        return Beside(self.beside.in_memory(self.to_read), self.keys_beside)

    @cached_property
    def unfolds(self) -> bool:
        """True where rows of the frame, or of the judgments beside it, are not one result, or one judgment, each."""
        nested = self.judged is not None and self.beside is not None and self.beside.holds_lists(str(self.judged.doc))
        return self.columns.unfolds or nested

    def check_without(self, roles: Sequence[str], why: str) -> None:
        """Raise for a role that is played and that a verb has no use for; ``why``: of the verb, as a clause."""
        for role in roles:
            if column := getattr(self.columns, role):
                raise ColumnError(f"{role}={column!r}: {why}; say {role}=None")

    def check_pooled(self, result: Sequence[str]) -> None:
        """Raise where pooled rows would not be what the roles say, or a key is called as a column of the result."""
        if self.columns.collection_size or self.conventions.documents is not None:
            raise ColumnError("collection_size=: what is counted here are the rows; say collection_size=None")
        if self.columns.query and self.columns.weight:
            raise ColumnError(
                f"rows are pooled here, and {self.columns.weight} is the weight of a query; say weight=None"
            )
        check_apart(self.columns.keys, result)
