"""Expressions and functions in the place of columns' names: the columns that are made of them, and their names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from inspect import isroutine
from typing import Any

import polars as pl

from frame_metrics.border.frames import border_of
from frame_metrics.border.protocol import Border, Limits
from frame_metrics.errors import BadValueError, ColumnError, FrameMetricsError, KernelError, shown
from frame_metrics.inputs.gains import name_of
from frame_metrics.plan.plan import Plan
from frame_metrics.roles.columns import FOUND
from frame_metrics.roles.resolve import unused
from frame_metrics.roles.roles import Roles, is_made

# Roles whose columns stand in results, under the names they have.
SHOWN = ("query", "system", "team", "by", "value", "doc")


def plan_of(frame: Any, roles: Roles, judgments: tuple[Any, dict[str, Any]] | None) -> Plan:
    """Return the plan of a frame; of expressions it has columns, and roles their names."""
    beside, said = judgments or (None, {})
    plan = Plan(frame, roles, judgments)
    if not any(map(_has_made, (*roles.values(), *said.values()))):
        return plan
    border, named = _with_columns(frame, roles, plan.limits)
    if judgments is not None:
        of_judgments, said = _with_columns(beside, said, plan.limits, "judge: ")
        judgments = of_judgments.given, said
    plan = Plan(border.given, named, judgments)
    vars(plan)["border"] = border
    return plan


def _with_columns(frame: Any, given: Any, limits: Limits, of: str = "") -> tuple[Border, Any]:
    """The frame with a column for each expression that a role was given, and the roles with their names."""
    making = _Making(border_of(frame), given, limits, of)
    named = {role: making.named(role, value) if _has_made(value) else value for role, value in given.items()}
    return making.border.with_columns(making.columns) if making.columns else making.border, named


def _each(value: Any) -> Any:
    """Each of the things that a role was given."""
    return value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else [value]


def _has_made(value: Any) -> bool:
    return any(map(is_made, _each(value)))


@dataclass
class _Making:
    """The columns that are made of a frame."""

    border: Border
    given: Mapping[str, Any]  # columns, expressions and functions by role
    limits: Limits
    of: str  # what errors begin with
    columns: dict[str, Any] = field(default_factory=dict)  # values, or expressions, by name

    def named(self, role: str, value: Any) -> Any:
        """Return what a role was given with the names of columns instead of what they are made of."""
        if isinstance(value, Mapping):
            return {key: self._column(role, one, f"{role} {key}") for key, one in value.items()}
        if isinstance(value, list | tuple):
            return [self._column(role, one) for one in value]
        return self._column(role, value, None if role in SHOWN else role)

    def _column(self, role: str, value: Any, called: str | None = None) -> str:
        """Make a column, and return its name; ``called``: what it is where no result shows it."""
        if not is_made(value):
            return str(value)
        if isinstance(value, pl.Expr) and value.meta.is_column():  # which is its name, and no more
            return value.meta.output_name()
        said = f"{self.of}{role}={name_of(value) if isroutine(value) else shown(value)}"
        with _told(said, KernelError if isroutine(value) else BadValueError):
            name, values = self.border.made(value, self.limits)
        name, there = name or role, self.border.names()
        if called is not None and name in there:
            name = unused(f"{called} of {name}", there)
        elif name in self.columns or self._is_played(name, role):
            raise ColumnError(
                f"{said} would be called {name!r}, as another column that plays a part; give it a name of its own, "
                "with .alias(), or .rename() in pandas"
            )
        self.columns[name] = values
        return name

    def _is_played(self, name: str, role: str) -> bool:
        """Return True where the frame's own column of a name plays a part, or may be found by its name."""
        named = [one for given in self.given.values() for one in _each(given)]
        found = name in FOUND and name != role and name not in self.given and name in self.border.names()
        return found or any(isinstance(one, str) and one == name for one in named)


@contextmanager
def _told(said: str, cause: type[FrameMetricsError]) -> Iterator[None]:
    """Let errors say which role they are about; those of others are of this cause."""
    try:
        yield
    except FrameMetricsError as error:
        raise type(error)(f"{said}: {error}") from error.__cause__
    except MemoryError:
        raise
    except Exception as error:
        first = str(error).partition("\n")[0]  # polars goes on with its plan
        raise cause(f"{said} raised {type(error).__name__}: {first}") from error
