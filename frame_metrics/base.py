"""What every verb works on: a frame, the part that each of its columns plays, and judgments beside it.

What rankings do without is imported by the verbs that need it, so that importing the package stays quick.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import polars as pl

from frame_metrics.border.frames import Past, apply, columns_of, in_memory, missing_hint, to_polars
from frame_metrics.data.log import read_log
from frame_metrics.errors import ColumnError
from frame_metrics.metrics.metric import plain
from frame_metrics.metrics.names import Asked
from frame_metrics.roles.columns import Columns
from frame_metrics.roles.conventions import Conventions
from frame_metrics.roles.needs import Needs, needs_of
from frame_metrics.roles.roles import RESULT, Roles, check_roles, conventions, resolve, resolve_judgments

if TYPE_CHECKING:
    from typing import Self

    from typing_extensions import Unpack

    from frame_metrics.data.cases import Cases

Frame = TypeVar("Frame")


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Base(Generic[Frame]):
    """A frame, its roles and its judgments; frozen."""

    frame: Any
    roles: Roles
    judgments: tuple[Any, dict[str, Any]] | None

    def _set(self, frame: Any, roles: Any, judgments: tuple[Any, dict[str, Any]] | None) -> None:
        roles = {name: plain(value) for name, value in roles.items()}
        check_roles(roles)
        object.__setattr__(self, "frame", frame)
        object.__setattr__(self, "roles", {name: value for name, value in roles.items() if value is not None})
        object.__setattr__(self, "judgments", judgments)

    def __call__(self, **roles: Unpack[Roles]) -> Self:
        """Return the same with other roles and conventions; only what is named changes."""
        return self._with({**self.roles, **roles}, self.judgments)

    def _with(self, roles: Any, judgments: tuple[Any, dict[str, Any]] | None) -> Self:
        other = object.__new__(type(self))
        other._set(self.frame, roles, judgments)
        return other

    def __repr__(self) -> str:
        kind = f"{type(self.frame).__module__.split('.')[0]}.{type(self.frame).__name__}"
        judged = [] if self.judgments is None else ["judged beside"]
        return f"IRM({', '.join([kind, *(f'{name}={value!r}' for name, value in self.roles.items()), *judged])})"

    def _needs(self, asked: Asked) -> Needs:
        """What metrics cannot do without."""
        return needs_of(asked, self.roles, columns_of(self.frame), judged=self.judgments is not None)

    def _parts(self, needs: Needs) -> tuple[Columns, Conventions]:
        """Find the columns, and the conventions."""
        columns = columns_of(self.frame)
        hint = partial(missing_hint, self.frame)
        columns = resolve(self.roles, columns, needs, judged=self.judgments is not None, hint=hint)
        if self.judgments is not None:
            resolve_judgments(self.judgments[1], columns_of(self.judgments[0]), self.roles, columns)
        return columns, conventions(self.roles, columns)

    def _judging(self, columns: Columns) -> Columns:
        """The columns of the table that grades and labels come from."""
        return columns if self.judgments is None else self._judged_parts(columns)[2]

    def _cases(
        self, frame: pl.DataFrame, past: Past, columns: Columns, conventions: Conventions, *, named: bool = False
    ) -> Cases:
        """Read the rows to decide about: all of them, those of queries that are judged where queries are named."""
        from frame_metrics.data.cases import read_cases
        from frame_metrics.data.classes import two_classes
        from frame_metrics.data.query_cases import cases_of

        if columns.query:
            found = cases_of(read_log(frame, columns, conventions, self._qrels(columns, past)), conventions)
            return replace(found, classes=two_classes(frame, columns, conventions)) if named else found
        return read_cases(frame, columns, conventions, named=named)

    def _judged_parts(self, columns: Columns) -> tuple[Any, dict[str, Any], Columns]:
        if self.judgments is None:
            raise ColumnError("there are no judgments beside the frame")
        qrels, given = self.judgments
        return qrels, given, resolve_judgments(given, columns_of(qrels), self.roles, columns)

    def _qrels(self, columns: Columns, past: Past) -> tuple[pl.DataFrame, Columns] | None:
        """The judgments as polars, if there are any beside the frame."""
        if self.judgments is None:
            return None
        _, given, found = self._judged_parts(columns)
        table = to_polars(past.frame, _read(given, found))
        if given["label"] is True:
            table = table.with_columns(pl.lit(1, dtype=pl.Int8).alias(str(found.label)))
        return table, found

    def _past(self, columns: Columns) -> Past:
        """Read the judgments, once: where a plan or a stream is read again, its rows may come in another order."""
        if self.judgments is None:
            return Past(None, {})
        qrels, given, found = self._judged_parts(columns)
        own = dict(zip(columns.query, found.query, strict=True)) | {name: name for name in found.by}
        return Past(in_memory(qrels, _read(given, found)), own)

    def _answer(self, run: Any, columns: Columns, schema: Any) -> Frame:
        result: Frame = apply(self.frame, columns.needed, run, schema, partial(self._past, columns))
        return result


def _read(given: dict[str, Any], found: Columns) -> list[str]:
    """The columns of the judgments that are there to be read."""
    return [name for name in found.needed if given["label"] is not True or name != found.label]


def check_wide(asked: Asked, columns: Columns, layout: str, ci: bool = False) -> None:
    """Raise if a metric's column would be called as another one is."""
    if layout != "wide":
        return
    names = [name for name, _ in asked]
    ends = [name + end for name in names for end in ("_low", "_high")] if ci else []
    for name in [*names, *ends]:
        if name in (*columns.keys, *RESULT):
            raise ColumnError(
                f"a column {name!r} for the metric would stand twice in the wide result; rename the frame's column"
            )
