"""The file that a log is compared with: saved numbers, or the log of before."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl

from frame_metrics.command import reading
from frame_metrics.command.call import FILE, OF_FILES
from frame_metrics.command.files import read_all
from frame_metrics.command.ids import matching
from frame_metrics.command.saved import SavedFile, column_of_systems, system_column
from frame_metrics.errors import BadValueError, quote

if TYPE_CHECKING:
    from frame_metrics.accessor import IRM
    from frame_metrics.command.frames import Frames


@dataclass
class Before:
    """The file that a log is compared with."""

    frames: Frames
    flag: str  # the option that names the file

    @property
    def _where(self) -> str:
        """The flag and the file, for errors."""
        return f"--{self.flag.replace('_', '-')} {self.frames.call.set_options[self.flag]}"

    @cached_property
    def input(self) -> reading.InputFiles:
        """The file as one that is read."""
        return self.frames.input([self.frames.call.set_options[self.flag]], "")

    @cached_property
    def _rows(self) -> pl.LazyFrame:
        return self.input.frame()

    @cached_property
    def is_log(self) -> bool:
        """True for a log: the file has values of the log that is compared with it, and no numbers of metrics."""
        there, keys = {*self._rows.collect_schema()}, {*self._keys, system_column(self.frames.call.roles)}
        return not {"metric", "value"} <= there and bool({*self.frames.rows.collect_schema()} & there - keys)

    @property
    def _keys(self) -> dict[str, str]:
        """The columns of ids and segments, which have the same names on both sides."""
        roles = {"query": "query"} | self.frames.call.roles
        return {one: one for role in ("query", "doc", "arm", "by") for one in reading.each(roles.get(role))}

    @property
    def ids(self) -> tuple[pl.DataFrame, dict[str, str]]:
        """The ids and segments whose type is not that of the log, each with its column of the log."""
        types, there = self.frames.rows.collect_schema(), self._rows.collect_schema()
        others = [one for one in self._keys if one in there and there[one] != types.get(one)]
        return self._rows.select(others).collect(), self._keys

    @cached_property
    def saved(self) -> SavedFile:
        """The saved numbers, or those of the log of before; only those of one system if ``--saved-system`` names it."""
        rows = self._numbers_of_log() if self.is_log else reading.saved(self.input, self._rows)
        rows = matching(rows, self.frames.log, self._keys)
        column = column_of_systems(rows, self.frames.call.roles, [*self._keys, "query"])
        saved = SavedFile(self._where, rows, column)
        system = self.frames.call.set_options.get("saved_system")
        return saved if system is None else replace(saved, rows=saved.of(system))

    def _numbers_of_log(self) -> pl.DataFrame:
        """Return what was to be saved of the log of before: means where only these are limited, or else of queries."""
        frames, options = self.frames, self.frames.call.set_options
        irm = frames.with_roles(matching(frames.in_periods(self._rows), frames.log, self._keys))
        if self._limits_means:
            given = {name: options[name] for name in ("average", "margins") if name in options}
            return irm.evaluate(*frames.call.gated_metrics, **given).collect()
        return irm.per_query(*frames.call.gated_metrics).collect()

    @property
    def _limits_means(self) -> bool:
        """True for a gate on means, of which no test is made."""
        return "max_drop" in self.frames.call.set_options and self.frames.call.name != "compare"

    @cached_property
    def pairs_rows(self) -> bool:
        """True if rows without a query are compared with those of the log of before."""
        return self.is_log and not self._limits_means and not self.frames.irm._plan.columns.query

    @cached_property
    def names(self) -> list[str]:
        """The names of the log of before, and of the log."""
        return reading.file_names([*self.input.names, *self.frames.call.arguments[0]])[:2]

    @cached_property
    def both(self) -> IRM[pl.LazyFrame]:
        """The rows of both logs, as those of two systems, or of two arms where these are compared."""
        frames, call = self.frames, self.frames.call
        if (column := frames.irm._plan.columns.system) is not None:
            raise BadValueError(
                f"{self._where}: rows without a query are compared with those of one system, and {quote(column)} has "
                "several; leave out --system, and name one file for each"
            )
        pairs = zip(self.names, (self.input, frames.log_input), strict=True)
        files = [
            replace(file, plan=file.plan.with_columns(pl.lit(name).alias(FILE)))
            for name, one in pairs
            for file in one.files
        ]
        role: dict[str, Any] = {OF_FILES.get(call.name, "system"): FILE}
        return frames.with_roles(frames.in_periods(read_all(files)))(**role)
