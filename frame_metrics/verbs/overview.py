"""The repr of ``df.irm``: the roles of columns, a few values of each, and verbs to call next."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from typing import Any

from frame_metrics.backends.display import printable, value_text
from frame_metrics.backends.protocol import Backend
from frame_metrics.backends.tables import Cell, Table, in_html, in_text
from frame_metrics.errors import class_name, quote
from frame_metrics.plan.given import GivenJudgments
from frame_metrics.plan.plan import Plan, unused_judgments
from frame_metrics.roles.columns import ROLES
from frame_metrics.roles.roles import COLUMNS, Roles, is_foreign

TOO_LONG_TO_PRINT = ("popularity",)  # conventions that may have a value for every document, too long to print
EXAMPLE_METRICS = {"catalogue": "catalogue_coverage@10", "popularity": "novelty@10"}  # metrics that need no judgment
LOOKED_AT, VALUES, LETTERS = 100, 3, 40  # number of rows that are looked at, values shown, letters of a value


@dataclass(frozen=True)
class Part:
    """A role that has a column: a row of the repr."""

    role: str
    columns: str
    values: str  # its first distinct values
    note: str


@dataclass(frozen=True)
class Overview:
    """The content of the repr."""

    title: str
    parts: tuple[Part, ...]
    given_options: str  # the conventions that were given, and the roles that were set aside
    then: str  # verbs to call next, or an error to settle first

    @property
    def table(self) -> Table:
        """The parts as a table of cells."""
        rows = [[Cell(part.role), Cell(part.columns), Cell(part.values), Cell(part.note)] for part in self.parts]
        return Table(["role", "column", "values", ""], rows, [False] * 4, self.title)

    def text(self) -> str:
        """Return it as lines of text."""
        lines = in_text(self.table, header=False).splitlines()
        return "\n".join(
            [self.title, *(f"  {line}" for line in [*lines, *filter(None, [self.given_options])]), self.then]
        )

    def html(self) -> str:
        """Return it as a table of HTML."""
        return "".join(
            [in_html(self.table), *(f"<p>{escape(text)}</p>" for text in (self.given_options, self.then) if text)]
        )


def overview(frame: Any, roles: Roles, judgments: GivenJudgments | None, made: Callable[[], Plan]) -> Overview:
    """Return the content of the repr; a frame that is not in memory is not read.

    ``made``: returns the plan of these; an error of it is shown.
    """
    plan, known, by_role, found = None, None, _named(roles), []
    try:
        plan = made()
        roles, found = plan.roles, plan.found
        known = plan.backend.head_and_height(LOOKED_AT)
        by_role = _columns_by_role(plan)
        then = f"next: {_next(plan, by_role)}"
    except Exception as error:  # whatever the frame, its repr is no place for an error
        then = f"not ready: {error}"
    rows = "" if known is None else f", {known[1]:,} {'row' if known[1] == 1 else 'rows'}"
    title = f"IRM of a {class_name(frame)}{rows}{_judged(judgments)}"
    unused = {} if plan is None else unused_judgments(plan)
    parts = [
        _part(role, columns, None if role in unused else known, note_of(roles, found, role, unused))
        for role, columns in by_role.items()
    ]
    conventions = ", ".join(
        f"{name}={_in_full(value, name)}" for name, value in roles.items() if name not in COLUMNS or value is None
    )
    return Overview(title, tuple(parts), printable(conventions), printable(then))


def _in_full(value: Any, name: str) -> str:
    """Return a convention as it was given; as errors show it where it is long, or of a library."""
    if not is_foreign(value) and name not in TOO_LONG_TO_PRINT:
        with suppress(ValueError):  # of an integer with thousands of digits, which Python does not write
            return repr(value)
    return quote(value)


def _judged(judgments: GivenJudgments | None) -> str:
    """Return the words of the title about separate judgments."""
    if judgments is None:
        return ""
    return ", with judgments" + (" of people and of a machine" if judgments[1].get("proxy") else "")


def _columns_by_role(plan: Plan) -> dict[str, tuple[str, ...]]:
    """Return the columns of each role, in the order of the roles."""
    both = _named(plan.roles) | {role: _as_columns(getattr(plan.columns, role)) for role in plan.found}
    return {role: both[role] for role in COLUMNS if role in both}


def _named(roles: Roles) -> dict[str, tuple[str, ...]]:
    """Return the columns of each role that the caller named."""
    return {role: _as_columns(given) for role, given in roles.items() if role in COLUMNS and given is not None}


def _as_columns(given: Any) -> tuple[str, ...]:
    """Return the columns that were given to a role as texts; those of a mapping as ``price=price_eur``."""
    if isinstance(given, Mapping):
        return tuple(f"{one}={column}" for one, column in given.items())
    several = given if isinstance(given, list | tuple) else [given]
    return tuple(one if isinstance(one, str) else quote(one) for one in several)


def _part(role: str, columns: tuple[str, ...], known: tuple[Backend, int] | None, note: str) -> Part:
    values = "" if known is None or len(columns) != 1 else _values(*known, columns[0])
    return Part(role, printable(", ".join(columns)), values, note)


def note_of(roles: Roles, found: Collection[str], role: str, unused: Collection[str] = ()) -> str:
    """Return how a role got its column, if the caller did not name it, and whether it is set aside.

    ``unused``: the roles that separate judgments replace.
    """
    if role in unused:
        return "not used: judge() gave the judgments"
    aside = role == "predicted" and roles.get("threshold") is not None
    return "set aside by threshold=" if aside else "found by name" if role in found else ""


def _values(first: Backend, n_rows: int, column: str) -> str:
    """Return the first distinct values of a column as text, with dots if there may be more."""
    try:
        values = first.read([column])[column]
    except Exception:  # the column cannot be read; a verb will raise the error
        return ""
    different = list(dict.fromkeys(map(_as_python, values.drop_nulls())))
    more = ["..."] if len(different) > VALUES or n_rows > LOOKED_AT else []
    return ", ".join([*different[:VALUES], *more])


def _as_python(value: Any) -> str:
    plain = value.to_list() if hasattr(value, "to_list") else value
    text = printable(value_text(plain) if isinstance(plain, dict) else repr(plain))
    return text if len(text) <= LETTERS else f"{text[: LETTERS - 3]}..."


def _next(plan: Plan, by_role: Mapping[str, Sequence[str]]) -> str:
    """Return the verbs to call next, as text; or the roles to name, if some columns likely have them."""
    if plan.has_saved_numbers:
        return f".evaluate(), {'.ab_test()' if 'arm' in by_role else '.compare(baseline=...)'}, .audit()"
    judged = plan.judgments_not_in_rows or {"label", "grade"} & {*by_role}
    answered = {"score", "rank", "doc", "predicted"} & {*by_role}
    likely = {} if judged and answered else _likely(plan, by_role)
    if likely:
        return f"irm({', '.join(f'{role}={column!r}' for role, column in likely.items())})"
    if not judged:
        names = [f'"{name}"' for role, name in EXAMPLE_METRICS.items() if plan.roles.get(role) is not None]
        ask = f".evaluate({', '.join(names)}), .audit(), " if names else ""
        return f"{ask}.judge(qrels)" if "query" in by_role else "name label= or grade="
    if "team" in by_role:
        return '.interleaving("clicks"), .audit()'
    return ", ".join([*_asked({*by_role}, several=plan.columns.class_scores), ".audit()"])


def _likely(plan: Plan, by_role: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return columns with usual names of roles that have no column yet, by role."""
    taken = {column for columns in by_role.values() for column in columns}
    likely: dict[str, str] = {}
    other = {"label": "grade", "grade": "label"}
    for role, declared in ROLES.items():
        free = [name for name in declared.among(plan.available) if name not in taken]
        unknown = role not in by_role and other.get(role) not in {*by_role, *likely}
        if free and unknown and role != "system":  # which no call has to have
            likely[role] = free[0]
            taken.add(free[0])
    return likely


def _asked(by_role: set[str], *, several: Sequence[Any]) -> Sequence[str]:
    """Return some calls for which these roles are enough; ``several``: the scores of several classes, if any."""
    if "query" in by_role and {"score", "rank", "doc"} & by_role:
        compare = ['.compare("ndcg@10")'] if "system" in by_role else []
        compare = ['.ab_test("ndcg@10")'] if "arm" in by_role else compare
        return ['.evaluate("ndcg@10", "map")', '.per_query("rr")', *compare]
    if "predicted" in by_role:
        return ['.evaluate("precision", "recall", "f1")', ".confusion()"]
    if several:
        return ['.evaluate("roc_auc", "log_loss")', '.per_class("roc_auc")']
    return ['.evaluate("roc_auc")', '.best_threshold("f1")', '.curve("pr")']
