"""Saved numbers: choosing their systems, comparing with them, and errors that name their file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import polars as pl

from frame_metrics.accessor import IRM
from frame_metrics.errors import FrameMetricsError, UnknownNameError, closest, listed
from frame_metrics.roles.columns import PER_SYSTEM


@dataclass(frozen=True)
class SavedFile:
    """Saved numbers from a file that a flag names."""

    where: str  # the flag and the file, for errors
    rows: pl.DataFrame
    column: str | None  # the column of their systems, if there is one

    @property
    def systems(self) -> list[str]:
        """Return the systems, in the order of the file."""
        return [] if self.column is None else self._texts().unique(maintain_order=True).to_list()

    @property
    def has_means(self) -> bool:
        """True if these are the numbers of evaluate, which are no values of single queries."""
        return {"metric", "average", "value", "n"} <= {*self.rows.columns}

    def means(self, most_drop: Any, *, of_queries: bool) -> pl.DataFrame:
        """Return the numbers of evaluate; raise if no limit says how much less is accepted."""
        other = ", or save values of queries with per-query" * of_queries
        if most_drop is None:
            raise FrameMetricsError(
                f"{self.where}: it has means, as evaluate writes them, of which no test is made; pass --max-drop with "
                f"the loss that is accepted{other}"
            )
        return self.rows

    def _texts(self) -> pl.Series:
        return self.rows[str(self.column)].cast(pl.String)

    def of(self, system: str) -> pl.DataFrame:
        """Return the numbers of one system; raise if there are none."""
        if system in self.systems:
            return self.rows.filter(self._texts().eq_missing(system))
        there = f"it has {listed(self.systems)}" if self.column else "it has no column of systems"
        near = closest(system, [one for one in self.systems if one is not None])
        raise UnknownNameError(f"--saved-system {system}: {self.where} has no numbers of that system; {there}{near}")

    def of_one(self) -> pl.DataFrame:
        """Return the numbers of the only system; raise if there are several, or if they are no values of queries."""
        if self.has_means:
            raise FrameMetricsError(
                f"{self.where}: it has means, as evaluate writes them, and a comparison reads values of queries, as "
                "per-query writes them; a gate on means is that of evaluate with --max-drop"
            )
        if len(self.systems) < 2:
            return self.rows
        raise FrameMetricsError(
            f"{self.where}: it has the numbers of several systems, {listed(self.systems[:5])} in {self.column!r}; name "
            f"one with --saved-system, or pass --by {self.column} if they are segments"
        )

    @contextmanager
    def errors_name_file(self) -> Iterator[None]:
        """Replace errors about ``baseline=`` by errors that name the flag and the file."""
        try:
            yield
        except FrameMetricsError as error:
            message = str(error)
            if not message.startswith("baseline: "):
                raise
            reason = message.removeprefix("baseline: ").partition(", or name its columns, as baseline=")[0]
            ways = {"query": "; rename the column of queries there", "by": ", with the same --by"}
            way = "".join(way for role, way in ways.items() if f", the frame's {role}, among" in reason)
            raise FrameMetricsError(f"{self.where}: {reason}{way}") from None


def column_of_systems(rows: pl.DataFrame, roles: Mapping[str, Any], keys: list[str]) -> str | None:
    """Return the column of systems: one with the name of the log's column, or the only column that is not a key.

    The second is how ``per_query`` writes systems: before the column ``metric``. If it leaves each query one number,
    it has segments.
    """
    own = system_column(roles)
    if own in rows.columns:
        return own
    queries = roles.get("query") or "query"
    of_queries = "average" not in rows.columns  # else they are means, as evaluate writes them
    queries = [queries] if isinstance(queries, str) else [*queries]
    if of_queries and not {*queries} <= {*rows.columns}:
        return None  # the only column that is not a key may be the query, by another name
    beside = [name for name in takewhile(lambda name: name != "metric", rows.columns) if name not in keys]
    if len(beside) != 1 or not {"metric", "value"} <= {*rows.columns}:
        return None
    single = of_queries and not rows.select(*queries, "metric").is_duplicated().any()
    return None if single else beside[0]


def system_column(roles: Mapping[str, Any]) -> str:
    """Return the name of the column of systems in results of the log."""
    return str(roles.get("system") or "system")


def has_column(roles: Mapping[str, Any], column: str | None) -> bool:
    """Return True if the log has a column of systems of this name: from a flag, or made from a column per system."""
    if column != system_column(roles):
        return False
    return roles.get("system") is not None or any(isinstance(roles.get(role), list) for role in PER_SYSTEM)


def each_with_itself(
    irm: IRM[pl.LazyFrame], metrics: list[str], saved: SavedFile, options: dict[str, Any]
) -> pl.DataFrame:
    """Compare each system with its own saved numbers, and correct the p-values of all systems together.

    Raises
    ------
    FrameMetricsError
        A system has no saved numbers, or saved numbers have no system.
    """
    column, parts = str(saved.column), []
    asked = single_tests(options)
    text = pl.col(column).cast(pl.String)
    for system in saved.systems:
        found = irm.compare(*metrics, baseline=saved.of(system), **asked).collect()
        _check_same(found.select(text.unique(maintain_order=True)).to_series().to_list(), saved)
        parts.append(found.filter(text.eq_missing(system)))
    if options.get("per_query"):
        return pl.concat(parts)
    from frame_metrics.verbs.compare.differences import corrected_over  # here, as it is slow and few commands need it

    numbered = pl.concat(part.with_row_index("at") for part in parts).sort("at", maintain_order=True).drop("at")
    return corrected_over(numbered, (column,), options)


def _check_same(systems: list[str], saved: SavedFile) -> None:
    """Raise unless the log and the saved numbers have the same systems."""
    lacking = []
    for where, here, there in (("the log", systems, saved.systems), ("it", saved.systems, systems)):
        if missing := [one for one in there if one not in here]:
            lacking.append(f"{where} has no {listed(missing)}")
    if lacking:
        raise FrameMetricsError(
            f"{saved.where}: each system is compared with its own numbers there, and {', and '.join(lacking)}; leave "
            f"out what one side has alone, or name one system with --saved-system"
        )


def single_tests(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of compare for systems that each have a baseline of their own, whose p-values are corrected later.

    Raises
    ------
    FrameMetricsError
        The correction is of systems that are tested together.
    """
    if options.get("correction") == "max_t":
        raise FrameMetricsError(
            "--correction max_t tests systems of one log together, and here each has its own baseline; "
            "leave it out, which is --correction holm"
        )
    return dict(options) if options.get("per_query") else {**options, "correction": "none"}
