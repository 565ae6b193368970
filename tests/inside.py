"""All that tests know of the inside of the package: names that are not public, and sizes that tests shrink.

A user needs none of it. Whoever moves a module of the package mends the imports here, and no test.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import polars as pl
import pytest

from frame_metrics import IRM
from frame_metrics.backends import files, spark, versioned
from frame_metrics.backends.duckdb import DuckDBFrame
from frame_metrics.backends.engine import Engine
from frame_metrics.backends.frames import backend_of
from frame_metrics.backends.pieces import count_distinct_rows as counted_rows
from frame_metrics.backends.pieces import whole_queries
from frame_metrics.backends.polars import LazyPolars
from frame_metrics.backends.protocol import Gathering, Pieces
from frame_metrics.backends.spark import SparkFrame
from frame_metrics.backends.versioned import Sent
from frame_metrics.command.files import reading, text_lines
from frame_metrics.command.files.text_lines import PlainText
from frame_metrics.data.reading import read_log
from frame_metrics.errors import quote as shown_in_errors
from frame_metrics.fast.codes import n_different
from frame_metrics.hidden import ORDER, TIMES
from frame_metrics.inputs import (
    Array,
    Classes,
    ClassScores,
    FullConfusion,
    FullRanking,
    FullScores,
    Lists,
    Pool,
    Rows,
    TwoRankings,
    intents,
    ratio,
)
from frame_metrics.inputs.scores import FallingRows, sorted_levels
from frame_metrics.measuring.results import averaged, query_rows
from frame_metrics.measuring.values import Values
from frame_metrics.measuring.values_of_source import values_of_source
from frame_metrics.metrics import pickling
from frame_metrics.metrics.metric import CLASS_KERNELS, REGISTRY, metrics_of
from frame_metrics.metrics.names import read, read_text
from frame_metrics.metrics.registry import metric as registered
from frame_metrics.metrics.shares import share_of
from frame_metrics.plan.call import bind
from frame_metrics.plan.needs import Needs, needs_of
from frame_metrics.plan.source import InPieces, source_of
from frame_metrics.plot.charts import for_phones
from frame_metrics.roles.roles import CHOICES, COLUMNS, Roles, Ties
from frame_metrics.stats import arm_families, delong, families, flips
from frame_metrics.stats.exact import chi_square, expanded_level, fisher, mcnemar, split_exactly, wilson_interval
from frame_metrics.stats.margins import margin_p_of_shares
from frame_metrics.stats.paired_shares import mid_p, newcombe
from frame_metrics.stats.proxies import ppi_mean
from frame_metrics.stats.resampling import Units, draws, resampled
from frame_metrics.stats.shared_units import studentised
from frame_metrics.stats.significance import adjusted
from frame_metrics.stats.skewness import straightened
from frame_metrics.stats.subsets import NormalSums, large_units, subset_sums
from frame_metrics.stats.sums import sums_and_remainders, sums_of
from frame_metrics.stats.two_arms import Arms
from frame_metrics.verbs.audit import of_few
from frame_metrics.verbs.audit.bad_rows import OF_ROWS, OF_VALUES
from frame_metrics.verbs.audit.checks import Seen
from frame_metrics.verbs.audit.facts import ORDER as TIE_ORDERS
from frame_metrics.verbs.audit.facts import about
from frame_metrics.verbs.audit.listed import CHECKS, findings, run_checks
from frame_metrics.verbs.audit.of_logs import queries_without_results
from frame_metrics.verbs.audit.of_rows import about_grades, about_rows
from frame_metrics.verbs.bounds import choices
from frame_metrics.verbs.bounds.unjudged import SCANS, check_bounded, extremes

__all__ = [
    "CHECKS",
    "CHOICES",
    "CLASS_KERNELS",
    "COLUMNS",
    "OF_ROWS",
    "OF_VALUES",
    "REGISTRY",
    "SCANS",
    "TIE_ORDERS",
    "TIMES",
    "Arms",
    "Array",
    "ClassScores",
    "Classes",
    "DuckDBFrame",
    "FallingRows",
    "FullConfusion",
    "FullRanking",
    "FullScores",
    "Gathering",
    "LazyPolars",
    "Lists",
    "NormalSums",
    "PlainText",
    "Pool",
    "Roles",
    "Rows",
    "Seen",
    "Sent",
    "SparkFrame",
    "Ties",
    "TwoRankings",
    "Units",
    "Values",
    "adjusted",
    "always_a_progress_bar",
    "arms_together_by",
    "averaged",
    "backend_of",
    "check_bounded",
    "chi_square",
    "choices_tried",
    "decision_checks",
    "delong",
    "draws",
    "equal_hashes",
    "expanded_level",
    "extremes",
    "few_bytes_at_a_time",
    "few_distinct_rows",
    "few_pairs_together",
    "fisher",
    "for_phones",
    "imported_when_used",
    "in_pieces",
    "large_units",
    "log_checks",
    "margin_p_of_shares",
    "mcnemar",
    "metrics_of",
    "mid_p",
    "most_rows_of_a_report",
    "n_different",
    "newcombe",
    "of_few",
    "of_version",
    "pieces_of",
    "ppi_mean",
    "queries_without_results",
    "query_rows",
    "ratio",
    "read",
    "read_text",
    "reads",
    "registered",
    "resampled",
    "rows_brought",
    "share_of",
    "short_looks_at_files",
    "shown_in_errors",
    "small_blocks",
    "small_families",
    "small_pieces_of_spark",
    "sorted_levels",
    "split_exactly",
    "straightened",
    "studentised",
    "subset_sums",
    "sums_and_remainders",
    "sums_of",
    "threads",
    "values_of",
    "whole_queries",
    "wilson_interval",
]


def _replaced(patch: pytest.MonkeyPatch, name: str, value: Any) -> None:
    """Give a name of the package another value, in every module that has it."""
    modules = [module for path, module in sys.modules.items() if path.split(".")[0] == "frame_metrics"]
    holders = [module for module in modules if name in vars(module)]
    assert holders, f"no module has {name}"
    for module in holders:
        patch.setattr(module, name, value)


@contextmanager
def small_blocks(rows: int) -> Iterator[None]:
    """Cut the rows into blocks of so many, and not of some hundred thousand, and take no log for a small one."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("BLOCK", "ROWS_SORTED_IN_CACHE", "ROWS_DISTRIBUTED", "ROWS_SORTED", "ROWS_LOOKED_UP"):
            _replaced(patch, name, rows)
        _replaced(patch, "FEW_ROWS", 0)
        _replaced(patch, "ONE_BY_ONE", 0)
        _replaced(patch, "SMALL_TABLE", 0)
        yield


@contextmanager
def small_parts(rows: int) -> Iterator[None]:
    """Compute so many scores at a time."""
    with pytest.MonkeyPatch.context() as patch:
        _replaced(patch, "LEVELS_AT_ONCE", rows)
        yield


@contextmanager
def documents_grouped(above: int) -> Iterator[None]:
    """Group documents of equal subtopics in the ideal order from so many documents of a query on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intents, "MOST_UNGROUPED", above)
        yield


@contextmanager
def choices_tried(cells: int) -> Iterator[None]:
    """Let ``to_judge`` try all choices of documents up to so much work; 0: none."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choices, "SMALL_WORK", cells)
        yield


@contextmanager
def pieces_of(size: int | None, lines: int | None = None) -> Iterator[None]:
    """Read files in pieces of so many bytes, and the rest of a line, so many lines at once; None: as the package."""
    with pytest.MonkeyPatch.context() as patch:
        _replaced(patch, "PIECE", files.PIECE if size is None else size)
        _replaced(patch, "LINES", files.LINES if lines is None else lines)
        yield


@contextmanager
def small_pieces_of_spark(rows: int) -> Iterator[None]:
    """Let a task of Spark work on so many rows at a time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spark, "PIECE_ROWS", rows)
        yield


@contextmanager
def rows_brought() -> Iterator[list[int]]:
    """Note how many rows come here each time that something is gathered on a cluster."""
    gathered, seen = Engine.gathered, list[int]()

    def noted(self: Engine, gathering: Gathering) -> pl.DataFrame:
        assert gathering.reduce is None
        table = gathered(self, gathering)
        seen.append(len(table))
        return table

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Engine, "gathered", noted)
        yield seen


@contextmanager
def few_distinct_rows(n: int) -> Iterator[None]:
    """Let Spark count so many distinct rows, and no more."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spark, "DISTINCT", n)
        yield


@contextmanager
def threads(n: int) -> Iterator[ThreadPoolExecutor]:
    """Compute blocks in ``n`` threads, whatever machine this is; gives what starts them."""
    with ThreadPoolExecutor(n) as pool, pytest.MonkeyPatch.context() as patch:
        _replaced(patch, "_threads", lambda: pool)
        yield pool


def most_rows_of_a_report(monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    """Let a table of a report in JSON hold so many rows."""
    monkeypatch.setattr("frame_metrics.report.write.MOST_ROWS", rows)


def few_pairs_together(monkeypatch: pytest.MonkeyPatch, differences: int) -> None:
    """Let a report flip so many differences of queries at most, to test pairs together that it does not show."""
    monkeypatch.setattr("frame_metrics.report.comparing.MOST_FLIPS", differences)


def short_looks_at_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the command line look at some bytes of a text file at once, and read the types of its first rows."""
    monkeypatch.setattr(text_lines, "CHUNK", 50)
    monkeypatch.setattr(reading, "ROWS_FOR_TYPES", 5)


@contextmanager
def few_bytes_at_a_time(n: int) -> Iterator[None]:
    """Draw so many random bytes at a time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flips, "BYTES", n)
        yield


def arms_together_by(patch: pytest.MonkeyPatch, way: str) -> None:
    """Permute the units of a family of arms one by one, by kinds, or a few times first, or draw normal numbers."""
    never = 1 << 60
    ways = {
        "units": {"UNITS_PER_KIND_AND_ARM": never, "DOMINANT": 0, "MOST_DRAWN_SINGLY": never},
        "kinds": {"UNITS_PER_KIND_AND_ARM": 1, "DOMINANT": 0, "MOST_DRAWN_SINGLY": never},
        "first": {"UNITS_PER_KIND_AND_ARM": never, "DOMINANT": 0, "MOST_DRAWN_SINGLY": 0, "LIKELY_P": 0.9},
        "normal": {"MIN_UNITS_FOR_WELCH": 0, "DOMINANT": 1, "MOST_DRAWN_SINGLY": 0, "LIKELY_P": 1},
        "blocks": {"CACHED": 200},
    }
    for name, value in ways[way].items():
        patch.setattr(arm_families, name, value)


@contextmanager
def small_families(n: int) -> Iterator[None]:
    """Hold so many bytes of flipped sums of a family at a time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(families, "BYTES_AT_ONCE", n)
        yield


@contextmanager
def always_a_progress_bar(notebook: bool = False, least: int = 0) -> Iterator[None]:
    """Take all work, or from ``least`` on, for long work on a terminal, or in a notebook."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("frame_metrics.backends.progress.LONG_WORK", least)
        patch.setattr(sys.stderr, "isatty", lambda: not notebook, raising=False)
        if notebook:
            patch.setitem(sys.modules, "ipykernel", ModuleType("ipykernel"))
        yield


@contextmanager
def equal_hashes() -> Iterator[None]:
    """Let the hashes of all documents be equal."""
    with pytest.MonkeyPatch.context() as patch:
        _replaced(patch, "id_hash", lambda ids, seed=0: pl.Series([7] * len(ids), dtype=pl.UInt64))
        yield


def imported_when_used(modules: Iterable[str]) -> set[str]:
    """Return those of the modules that nothing needs before a verb is called: the verbs, decisions, statistics."""
    late = re.compile(r"frame_metrics\.(verbs\.(?!request$)|stats|data\.(cases|classes|query_cases))")
    return {name for name in modules if late.match(name)}


def in_pieces(irm: IRM[pl.DataFrame], memory: int = 1) -> IRM[pl.LazyFrame]:
    """Return the same of a plan that memory does not hold, in pieces of one query where it is this little."""
    large: IRM[pl.LazyFrame] = object.__new__(IRM)
    large._set(irm.frame.lazy(), {**irm.roles, "memory": memory}, irm._judgments)
    return large


@dataclass(frozen=True, eq=False)
class Cut(Pieces):
    """A frame in memory, cut into pieces of whole queries by lot."""

    rows: pl.DataFrame
    lots: int  # number of pieces; some may be empty
    ordered: bool  # type: ignore[misc]

    def types(self, columns: Sequence[str]) -> dict[str, Any]:
        return dict(self.rows.select(columns).schema)

    def gathered(self, gathering: Gathering) -> pl.DataFrame:
        rows = self.rows.select(gathering.columns)
        rows = rows.with_row_index(ORDER).cast({ORDER: pl.Int64}) if self.ordered else rows
        lot = pl.Series(rows.select(gathering.keys).hash_rows(7) % self.lots)
        done = [gathering.work(rows.filter(lot == at)) for at in range(self.lots) if (lot == at).any()]
        return pl.concat([pl.DataFrame(schema=gathering.schema), *done])

    def counted(self, columns: Sequence[str]) -> pl.DataFrame:
        return counted_rows(self.rows.select(columns))


def values_of(
    irm: IRM[pl.DataFrame], *metrics: str, lots: int | None = None, ordered: bool = True, queries: bool = True
) -> Values:
    """Return the table of values of metrics, of the whole frame, or of its pieces, see ``Cut``.

    ``queries``: whether single queries are needed, and not only means.
    """
    asked, averages = read(metrics), ("macro", "micro", "rows")
    call = bind(irm._plan, needs_of(irm._plan, asked))
    if lots is None:
        rows = irm.frame.select(call.columns.needed)
        return values_of_source(
            source_of(call.with_frames_read(), rows, call.judgments_in_memory()), asked, averages, queries=queries
        )
    pieces, beside = Cut(irm.frame, lots, ordered), call.judgments_in_memory()
    source = InPieces(call.with_frames_read(), pl.DataFrame(), beside, call.judgment_columns, pieces=pieces)
    return values_of_source(source, asked, averages, queries=queries)


def reads(irm: IRM[pl.DataFrame], **needs: Any) -> list[str]:
    """Return the columns that a verb with these needs reads."""
    return bind(irm._plan, Needs(**needs)).columns.needed


def log_checks(irm: IRM[pl.DataFrame]) -> set[str]:
    """Return every check that audit() has for a log, whether it finds anything or not; plain facts are none."""
    call = bind(irm._plan, Needs(query=True, order=True))
    counts = run_checks(read_log(irm.frame, call.columns, call.conventions, None))
    every = findings(*about(counts.log, counts.index, counts, which="those with a judgment"))
    return {finding.check for finding in every if finding.severity != "fact"}


def decision_checks(irm: IRM[pl.DataFrame]) -> set[str]:
    """Return every check that audit() has for decisions and scores; plain facts are none."""
    call = bind(irm._plan, Needs(score=True, predicted=True))
    read = irm.frame, call.columns, call.conventions
    every = findings(*about_grades(*read), *about_rows(*read))
    return {finding.check for finding in every if finding.severity != "fact"}


@contextmanager
def in_another_process(metric: str, *modules: str) -> Iterator[None]:
    """Unpickle as a process that does not know a metric of a user's, and has not imported some modules."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pickling, "PROCESS", "another")
        patch.delitem(REGISTRY, metric)
        for module in modules:
            patch.delitem(sys.modules, module)
        read_text.cache_clear()
        yield
        REGISTRY.pop(metric, None)
        for module in modules:
            sys.modules.pop(module, None)
        pickling.described_in.cache_clear()
    read_text.cache_clear()


@contextmanager
def of_version(version: str) -> Iterator[None]:
    """Say that another version of the package is installed in this process, and in no other."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(versioned, "version", lambda name: version)
        yield
