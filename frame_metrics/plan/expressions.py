"""Expressions and functions in the place of column names: make columns of them, and give these names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from inspect import isroutine
from typing import Any

import polars as pl

from frame_metrics.backends.frames import backend_of
from frame_metrics.backends.protocol import Backend, Limits
from frame_metrics.errors import BadValueError, ColumnError, FrameMetricsError, KernelError, quote
from frame_metrics.inputs.gains import name_of_function
from frame_metrics.plan.given import Given, GivenJudgments, given_of, limits_of
from frame_metrics.roles.columns import FOUND
from frame_metrics.roles.list_columns import new_column_name
from frame_metrics.roles.roles import Roles, makes_column

# Roles whose columns are in results, under their names.
IN_RESULTS = ("query", "system", "arm", "team", "by", "value", "doc")


def with_columns_made(frame: Any, roles: Roles, judgments: GivenJudgments | None) -> Given:
    """Return what a caller gave, in which expressions have become columns of the frame, named by the roles."""
    judgments_frame, options = judgments or (None, {})
    if not any(map(_has_expression, (*roles.values(), *options.values()))):
        return given_of(frame, roles, judgments)
    limits = limits_of(roles)
    backend, named, expressed = _with_columns(frame, roles, limits)
    if judgments is not None:
        of_judgments, options, _ = _with_columns(judgments_frame, options, limits, "judge: ")
        judgments = of_judgments.native, options
    return given_of(backend.native, named, judgments, backend=backend, expressed=expressed)


def _with_columns(frame: Any, roles: Any, limits: Limits, prefix: str = "") -> tuple[Backend, Any, frozenset[str]]:
    """Return the frame with a column for each expression, the roles with these columns' names, and the names alone.

    ``prefix``: the beginning of errors.
    """
    making = _Making(backend_of(frame), roles, limits, prefix)
    named = {role: making.named(role, value) if _has_expression(value) else value for role, value in roles.items()}
    backend = making.backend.with_columns(making.columns) if making.columns else making.backend
    return backend, named, frozenset(making.columns)


def _columns_given(value: Any) -> Any:
    """Return the columns that were given to a role, one by one."""
    return value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else [value]


def _has_expression(value: Any) -> bool:
    """Return True if an expression or a function was given to a role, or is among several columns."""
    return any(map(makes_column, _columns_given(value)))


@dataclass
class _Making:
    """The columns that are made for a frame."""

    backend: Backend
    given: Mapping[str, Any]  # the caller's columns, expressions and functions by role
    limits: Limits
    prefix: str  # the beginning of errors
    columns: dict[str, Any] = field(default_factory=dict)  # the columns made so far, as values or expressions, by name

    def named(self, role: str, value: Any) -> Any:
        """Return the value of a role with the name of a made column instead of each expression."""
        if isinstance(value, Mapping):
            return {key: self._column(role, one, f"{role} {key}") for key, one in value.items()}
        if isinstance(value, list | tuple):
            return [self._column(role, one) for one in value]
        return self._column(role, value, None if role in IN_RESULTS else role)

    def _column(self, role: str, value: Any, called: str | None = None) -> str:
        """Make a column, and return its name.

        ``called``: words for a longer name, which is used if a column of the frame has the expression's name already;
        None if results show the name, so that such a clash is an error.
        """
        if not makes_column(value):
            return str(value)
        if isinstance(value, pl.Expr) and value.meta.is_column():  # pl.col("x"), which is only a name
            return value.meta.output_name()
        text = f"{self.prefix}{role}={name_of_function(value) if isroutine(value) else quote(value)}"
        with _naming_expression(text, KernelError if isroutine(value) else BadValueError):
            name, values = self.backend.evaluate_expression(value, self.limits)
        name, there = name or role, self.backend.names()
        if called is not None and name in there:
            name = new_column_name(f"{called} of {name}", there)
        elif name in self.columns or self._has_role(name, role):
            raise ColumnError(
                f"{text} would be called {name!r}, as another column that has a role; give it a name of its own, "
                "with .alias(), or .rename() in pandas"
            )
        self.columns[name] = values
        return name

    def _has_role(self, name: str, role: str) -> bool:
        """Return True if the frame's own column with a name has a role, or may be found by its name."""
        named = [one for value in self.given.values() for one in _columns_given(value)]
        found = name in FOUND and name != role and name not in self.given and name in self.backend.names()
        return found or any(isinstance(one, str) and one == name for one in named)


@contextmanager
def _naming_expression(prefix: str, error_class: type[FrameMetricsError]) -> Iterator[None]:
    """Let errors begin with the role and its expression; those of other libraries become ones of ``error_class``."""
    try:
        yield
    except FrameMetricsError as error:
        raise type(error)(f"{prefix}: {error}") from error.__cause__
    except MemoryError:
        raise
    except Exception as error:
        first = str(error).partition("\n")[0]  # the first line only: polars appends its query plan
        raise error_class(f"{prefix} raised {type(error).__name__}: {first}") from error
