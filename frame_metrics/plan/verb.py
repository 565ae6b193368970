"""The shape of a verb's declaration: the rows that it takes, and the roles that it reads of them and refuses."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from frame_metrics.errors import ColumnError, FrameMetricsError, NotComputableError, quote
from frame_metrics.plan.plan import Plan
from frame_metrics.roles.resolve import EITHER
from frame_metrics.roles.roles import COLUMNS, RESOURCES, Roles

# What a frame has rows of: queries; queries with judgments of people and of a machine (proxy=); rows without a query;
# saved numbers (value=).
RowKind = Literal["queries", "proxies", "rows", "numbers"]
ROWS_IN_WORDS: dict[RowKind, str] = {
    "queries": "means over queries",
    "proxies": "prediction-powered means, of judge(..., proxy=)",
    "rows": "rows without a query",
    "numbers": "means of saved numbers",
}
Status = Literal["reads", "ignores", "refuses"]
ROLE_NAMES = tuple(role for role in Roles.__annotations__ if role not in RESOURCES)


@dataclass(frozen=True)
class Refused:
    """The reason why a role or an option cannot be used, and the way out."""

    why: str  # follows what was given: " belongs to results", or ": what is counted here are the rows"
    way: str = ""  # the way out, instead of leaving it out

    def error(self, name: str, given: Any) -> FrameMetricsError:
        """Return the error of a role or an option that was given."""
        kind = ColumnError if name in (*COLUMNS, *EITHER, *RESOURCES) else NotComputableError
        what = f"{name}={quote([*given] if isinstance(given, tuple) else given)}"
        return kind(f"{what}{self.why}; {self.way or f'pass {name}=None'}")


@dataclass(frozen=True)
class Exclusion:
    """Options that cannot be used together with another one, or without another one, or at all."""

    options: str  # names with spaces between, each as "name" or "name=value"
    why: str  # follows the option: " applies to means"; {other} stands for the other one
    way: str
    by: str = ""  # the option that excludes these; "" for always
    without: str = ""  # the option without which these have no effect
    error_class: type[FrameMetricsError] = NotComputableError
    what: str = ""  # the subject of the error, instead of the option: for a fact about several options

    def check(self, options: Any) -> None:
        """Raise if these options were given."""
        given = [one for one in self.options.split() if _is_given(options, one)]
        if not given or (self.without and _is_given(options, self.without)):
            return
        if not self.by or _is_given(options, self.by):
            problem = f"{self.what or _as_given(options, given[0])}{self.why}; {self.way}"
            raise self.error_class(problem.replace("{other}", _as_given(options, self.by)))


def _is_given(options: Any, key: str) -> bool:
    """Return True if an option has another value than its default, or this value."""
    name, _, value = key.partition("=")
    given = getattr(options, name)
    if value:
        return isinstance(given, str) and given == value
    default = getattr(type(options), name, None)
    if isinstance(default, property):  # a fact about the options
        return bool(given)
    return given is not default and (not isinstance(given, str | float | int) or given != default)


def _as_given(options: Any, key: str) -> str:
    """Return an option and its value as code, for errors."""
    name = key.partition("=")[0]
    given = getattr(options, name) if name else ""
    if isinstance(given, tuple):
        given = given[0] if len(given) == 1 else [*given]
    return f"{name}={quote(given)}"


@dataclass(frozen=True, eq=False, kw_only=True)
class RoleRules:
    """A verb with rows of one kind: the roles that it reads and refuses.

    A role is read, refused, or ignored: one irm serves all verbs, and not each of them has a use for each role. If
    several fields have a role, ``impossible`` and ``refuses`` come first, then ``unless``, then ``reads`` and ``when``.
    """

    reads: frozenset[str]
    impossible: frozenset[str] = frozenset()  # roles that rows of this kind cannot have, whatever the verb
    when: Mapping[str, frozenset[str]] = field(default_factory=dict)  # roles read only where this option is given
    unless: Mapping[str, frozenset[str]] = field(default_factory=dict)  # roles not read where this option is given
    refuses: Mapping[str, Refused] = field(default_factory=dict)  # by role, or by "role=value"
    tests: Mapping[str, Sequence[str]] = field(default_factory=dict)  # of comparisons: the roles that each test takes
    values: Mapping[str, Sequence[Any]] = field(default_factory=dict)  # by option: what it may be with such rows
    excludes: Sequence[Exclusion] = ()

    @cached_property
    def refusals(self) -> Sequence[tuple[str, str, Refused]]:
        """Each role that is refused, the value with which it is, "" for any, and the reason."""
        return [(*key.partition("=")[::2], refused) for key, refused in self.refuses.items()]

    def refuse(self, *given: Mapping[str, Any]) -> None:
        """Raise for the first role that is refused and has a value in one of the mappings."""
        for role, value, refused in self.refusals:
            for one in given:
                given_value = one.get(role)
                none = given_value is None or (isinstance(given_value, tuple) and not given_value)  # a frame has no !=
                if not none and (not value or given_value == value):
                    raise refused.error(role, given_value)

    def status(self, role: str, options: Collection[str] = ()) -> Status:
        """Return what happens to a role, given some options."""
        if role in self.refuses or role in self.impossible:
            return "refuses"
        unread = {one for option in options for one in self.unless.get(option, ())}
        read = {one for option in options for one in self.when.get(option, ())}
        return "reads" if role in (self.reads | read) - unread else "ignores"


@dataclass(frozen=True, eq=False, kw_only=True)
class Verb:
    """The declaration of a verb, or of one of its forms."""

    name: str
    form: str = ""  # which of several forms, as "of scores"
    kinds: Mapping[RowKind, RoleRules]
    excludes: Sequence[Exclusion] = ()
    # Whether its result is a mean over queries. If "query" was only found by name, the caller may have meant all rows
    # together.
    means: bool = False
    takes_lists: bool = False  # whether it takes metrics of sets of lists

    @property
    def title(self) -> str:
        """The name, and the form if there are several."""
        return f"{self.name} {self.form}".strip()

    @cached_property
    def weighs_by_propensity(self) -> bool:
        """True if results can be weighted by their propensities."""
        return "propensity" in self.kinds["queries"].reads if "queries" in self.kinds else False


def kind_of_rows(plan: Plan) -> RowKind:
    """Return what the rows of a frame are."""
    if plan.columns.value:
        return "numbers"
    if plan.proxy is not None:
        return "proxies"
    return "queries" if plan.columns.query else "rows"


def check_roles(plan: Plan, verb: Verb) -> None:
    """Raise for a role that a verb refuses; no value is read."""
    if (rules := verb.kinds.get(kind_of_rows(plan))) is not None:
        columns = plan.columns
        # The arm is the first column of ``by``, and no segment here.
        rules.refuse(vars(columns) | ({"by": columns.segments} if "arm" in rules.reads else {}), plan.roles)


def check_options(verb: Verb, options: Any, plan: Plan | None = None) -> None:
    """Raise for options that exclude each other, or that the rows of a plan exclude; no value is read."""
    rules = None if plan is None else verb.kinds.get(kind_of_rows(plan))
    for one in (*verb.excludes, *(() if rules is None else rules.excludes)):
        one.check(options)
    for name, values in () if rules is None else rules.values.items():
        if (given := getattr(options, name)) is not None and given not in values:
            kinds = (kind for kind, others in verb.kinds.items() if given in others.values.get(name, ()))
            takes, those = ROWS_IN_WORDS[next(kinds)], ROWS_IN_WORDS[kind_of_rows(plan)]  # type: ignore[arg-type]
            way = f"pass {name}={' or '.join(map(quote, values))}, or leave it out"
            raise NotComputableError(f"{name}={quote(given)} applies to {takes}, and these are {those}; {way}")
