"""The file that a log is compared with: saved numbers, or the log of before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl

from frame_metrics.command.call import FILE, OF_PAGES
from frame_metrics.command.files import reading
from frame_metrics.command.files.conditions import chosen
from frame_metrics.command.files.files import read_all
from frame_metrics.command.files.ids import matching
from frame_metrics.command.saved import SavedFile, column_of_systems
from frame_metrics.errors import BadRowsError, ColumnError, listed

if TYPE_CHECKING:
    from frame_metrics.accessor import IRM
    from frame_metrics.command.frames import Frames


@dataclass
class Before:
    """The file that a log is compared with."""

    frames: Frames
    flag: str  # the option that names the file

    @property
    def where(self) -> str:
        """The flag and the file, for errors."""
        return f"--{self.flag.replace('_', '-')} {self.frames.call.set_options[self.flag]}"

    @cached_property
    def input(self) -> reading.InputFiles:
        """The file as one that is read."""
        return self.frames.input([self.frames.call.set_options[self.flag]], "")

    @cached_property
    def every_row(self) -> pl.LazyFrame:
        """The rows of the file as they are."""
        return self.input.frame()

    @cached_property
    def _rows(self) -> pl.LazyFrame:
        rows, asked = self.every_row, self.frames.asked_rows
        there = rows.collect_schema() if asked else ()
        return chosen(rows, [one for one in asked if one.column in there or "value" not in there])

    @cached_property
    def is_log(self) -> bool:
        """True for a log: it has the columns that the log is measured by, and is not of numbers itself."""
        columns, there = self.frames.irm._plan.columns, {*self._rows.collect_schema()}
        measured = {*columns.needed} - {*columns.keys}
        of_both = measured & there
        return not columns.value and (of_both == measured if {"metric", "value"} <= there else bool(of_both))

    @property
    def joins_logs(self) -> bool:
        """True if both logs are compared as two systems, or arms; else numbers of the log of before stand for it.

        These are compared where systems are columns, or there is a column of arms, or one system is chosen.
        """
        columns, options = self.frames.irm._plan.columns, self.frames.call.set_options
        by_itself = columns.shape.per_system or "arm" in self.frames.call.roles or "saved_system" in options
        return self.is_log and not by_itself

    @property
    def _keys(self) -> dict[str, str]:
        """The columns of ids and segments, which have the same names on both sides."""
        roles = {"query": "query", "doc": "doc"} | self.frames.call.roles
        return {one: one for role in ("query", "doc", "arm", "by") for one in reading.each(roles.get(role))}

    @property
    def ids(self) -> tuple[pl.DataFrame, dict[str, str]]:
        """The ids and segments whose type is not that of the log, each with its column of the log."""
        types, there = self.frames.rows.collect_schema(), self._rows.collect_schema()
        others = [one for one in self._keys if one in there and there[one] != types.get(one)]
        return self._rows.select(others).collect(), self._keys

    @cached_property
    def saved(self) -> SavedFile:
        """The saved numbers; only those of one system if ``--saved-system`` names it."""
        return self._of(self._numbers_of_log() if self.is_log else reading.saved(self.input, self._rows))

    def _of(self, rows: pl.DataFrame) -> SavedFile:
        rows = matching(rows, self.frames.log, self._keys)
        column = column_of_systems(rows, self.frames.call.roles, [*self._keys, "query"])
        saved = SavedFile(self.where, rows, column)
        system = self.frames.call.set_options.get("saved_system")
        return saved if system is None else replace(saved, rows=saved.of(system))

    @property
    def _log(self) -> pl.LazyFrame:
        """The rows of the log of before, with ids and periods as the log has them."""
        return matching(self.frames.in_periods(self._rows), self.frames.log, self._keys)

    @property
    def _irm(self) -> IRM[pl.LazyFrame]:
        """The log of before by itself."""
        if "saved_system" in self.frames.call.set_options and "system" not in self.frames.call.roles:
            raise ColumnError(
                f"{self.where}: it is a log, and no option names its column of systems; name it with --system, or "
                "save its numbers with per-query, whose file --saved-system reads"
            )
        return self.frames.with_roles(self._log)

    def _numbers_of_log(self) -> pl.DataFrame:
        """Return what per-query would have written of the log of before."""
        with self._errors_name_file():
            return self._irm.per_query(*self.frames.call.gated_metrics).collect()

    def means(self, options: Mapping[str, Any]) -> SavedFile:
        """Return the means that evaluate would have written of the log of before; ``options``: those of evaluate."""
        with self._errors_name_file():
            means = self._irm.evaluate(*self.frames.call.gated_metrics, **options).collect()
        return self._of(means)

    @contextmanager
    def _errors_name_file(self) -> Iterator[None]:
        """Name the flag and the file in errors about rows, which are those of this log alone."""
        try:
            yield
        except BadRowsError as error:
            raise BadRowsError(f"{self.where}: {error}") from None

    @cached_property
    def name(self) -> str:
        """The name of the log of before, beside those of the log."""
        own = self._names_of_log
        name = reading.file_names([*self.input.names, *self.frames.call.arguments[0]])[0]
        return f"{name} (before)" if name in own else name

    @property
    def _names_of_log(self) -> list[str]:
        names = reading.file_names(self.frames.call.arguments[0])
        return names if self.frames.call.file_column else names[:1]

    def both(self, role: str, **roles: Any) -> IRM[pl.LazyFrame]:
        """Return the rows of both logs, as those of two systems or arms, each within the systems that both may have.

        Parameters
        ----------
        role : the role of the column that says of which log a row is.
        roles : in the place of those of the call.
        """
        call = self.frames.call
        by = roles.get("by", call.roles.get("by"))
        if (system := call.roles.get("system")) is not None and not call.file_column:
            roles = roles | {"by": [*reading.each(by), system]}
        self._check(role)
        return self._joined(**(roles | {"system": None} | {role: FILE}))

    @cached_property
    def _joined(self) -> IRM[pl.LazyFrame]:
        """The rows of both logs with the roles of the call, and the column of their names."""
        frames, columns = self.frames, self.frames.irm._plan.columns
        named = frames.call.file_column
        ours = frames.log if named else frames.log.with_columns(pl.lit(self._names_of_log[0]).alias(FILE))
        theirs = self._log.with_columns(pl.lit(self.name).alias(FILE))
        needed = [*columns.needed, *([] if FILE in columns.needed else [FILE])]
        files = [
            replace(one.files[0], plan=plan.select(needed))
            for one, plan in ((frames.log_input, ours), (self.input, theirs))
        ]
        return frames.with_roles(read_all(files))

    @cached_property
    def _is_empty(self) -> bool:
        return self._rows.head(1).collect().is_empty()

    def _check(self, role: str) -> None:
        """Raise for a log of before that lacks rows or columns, or whose rows without a query cannot be paired."""
        columns, there = self.frames.irm._plan.columns, self._rows.collect_schema()
        if lacking := [one for one in columns.needed if one not in there and one != FILE]:
            raise ColumnError(f"{self.where}: it has no column {listed(lacking)}, which the log is measured by")
        if self._is_empty:
            raise BadRowsError(f"{self.where}: it has no rows")
        if role == "system" and not columns.query and columns.doc is None:
            raise ColumnError(
                f"{self.where}: to pair rows without a query, name the document they are about with --doc"
            )
        if self.frames.call.name in OF_PAGES and role == "system" and not columns.query:  # which others raise
            ids = [plan.select(pl.col(str(columns.doc)).cast(pl.String)) for plan in (self.frames.log, self._log)]
            if ids[0].join(ids[1], on=columns.doc).head(1).collect(engine="streaming").is_empty():
                raise ColumnError(f"{self.where}: no document has rows of two systems")
