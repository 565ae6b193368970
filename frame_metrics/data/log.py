"""The log, checked and ready: its rankings block by block, values of their queries, and rows of the caller's frame."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from frame_metrics import threads
from frame_metrics.data.facts import Facts
from frame_metrics.data.grid import Grid
from frame_metrics.data.judgments import JudgmentTable
from frame_metrics.data.key_rows import KeyRows
from frame_metrics.data.rank_scores import called_positions, split_by_looks
from frame_metrics.data.row_map import Origin
from frame_metrics.data.sorting import RankOrder, SortedView, Sorter
from frame_metrics.errors import BadRowsError, BadValueError, FrameMetricsError, bad_rows
from frame_metrics.fast.blocks import each_block
from frame_metrics.inputs import Array, FullRanking, Pool
from frame_metrics.inputs.cached_arrays import CachesByKey, computed_once
from frame_metrics.inputs.records import record
from frame_metrics.keys.index import Index, KeyValues
from frame_metrics.roles.columns import EXTRA, Columns
from frame_metrics.roles.conventions import Conventions


@record
class Log(Facts, CachesByKey):
    """A log, checked, with its rankings found and its judgments joined."""

    table: pl.DataFrame  # the checked columns; each has the name of its role
    columns: Columns
    conventions: Conventions
    judgment_name: str  # the caller's name of the column of grades, or of labels if there are no grades
    grid: Grid  # the rankings to measure
    # Judgments in a table of their own, which all systems share: those of ``judge``, or those collected from the rows
    # of all systems. None if each row has its own.
    separate_judgments: JudgmentTable | None = None
    origin: Origin | None = None  # maps rows of ``table`` to rows of the caller's frame; None where they are the same
    first_repeated_query: str | None = None  # the query of the first row that duplicates="first" left out
    repeats: Array | None = None  # rows of documents that their list shows before, at another rank
    # A row for each query without results: its keys and its values of other roles. Its row number is counted on from
    # the end of ``table``.
    empty_queries: pl.DataFrame = field(default_factory=pl.DataFrame)
    # True for rankings whose query counts as judged even if none of its documents is, such as a query whose list of
    # relevant documents is empty, shape (rankings,). None: a query is judged if one of its documents is.
    relevance_known: Array | None = None
    # With value=: whether the system answered, as the column "answered" says, shape (rankings,).
    answered_by_column: Array | None = None
    spelled: Sequence[Sequence[str]] = ()  # what ``spelled_like`` returned for the text of positive=

    @computed_once
    def answered(self) -> Array:
        """Marks of answered rankings, shape (rankings,): True if the ranking has a row, even one without results.

        A system that is a column has a row of each query: it answered the queries of which it has a result.
        """
        if self.answered_by_column is not None:
            return self.answered_by_column
        return self.with_results if self.columns.shape.per_system else self.grid.of_log

    @property
    def with_results(self) -> Array:
        """True for rankings with results, shape (rankings,)."""
        rankings = self.grid.rankings
        ordered_by = rankings.values.get("rank", rankings.values.get("score"))
        return (rankings.lengths if ordered_by is None else rankings.count(~np.isnan(ordered_by))) > 0

    @computed_once
    def judgments(self) -> pl.DataFrame:
        """The table with grades and labels: the judgments that all systems share, else the rows of the log.

        Where each system is a column, every system has the same judgments, and the table has them once.
        """
        if self.separate_judgments is not None:
            return self.separate_judgments.documents
        systems = len(self.columns.shape.per_system)
        return self.table.head(len(self.table) // systems) if systems else self.table

    @property
    def row_counts(self) -> tuple[int, int, int]:
        lengths = self.grid.rankings.lengths
        return int(lengths.max(initial=0)), int(lengths.sum()), len(np.unique(self.grid.query))

    @property
    def document_groups(self) -> set[float]:
        none = pl.Series([], dtype=pl.Float64)
        return {*self.table.get_column(f"{EXTRA}group=", default=none).drop_nulls().unique()}

    @property
    def rank_scores(self) -> list[str]:
        named = called_positions(self.columns)
        ranks = self.scores_by_looks[0] if named else ()
        return [name for name in named if name in ranks]

    @property
    def scores_by_looks(self) -> tuple[set[str], set[str]]:
        """The score columns that are called like ranks, in two sets: the values look like ranks, or they do not."""
        return split_by_looks(self.columns, self.grid, lambda: self.index.system_names)

    @property
    def n_rows(self) -> int:
        """Number of rows, with those of queries without results."""
        return self.key_source.n_rows

    @computed_once
    def n_relevant_given(self) -> Array | None:
        """Number of relevant documents of each ranking's query, by ``n_relevant=``; None where it is not named."""
        values = self.grid.rankings.values
        return self.grid.amounts("n_relevant", str(self.columns.n_relevant)) if "n_relevant" in values else None

    def required_role_values(self, role: str) -> Array | None:
        """Return the value of a role (weight, cluster ...) for each ranking's query; None if the role is not named.

        The value is that of the log; if it has none, that of the separate judgments.

        Raises
        ------
        BadValueError
            A query has no value, or log and judgments differ in it.
        """
        column = self.columns.by_role.get(role)
        if column is None or (values := self.known_role_values(role)) is None:
            return None
        lacking, pool = np.isnan(values), self.grid.pool
        unjudged_left_out = column in self.columns.shape.from_judgments and self.conventions.unjudged_queries is None
        if unjudged_left_out and pool is not None:
            lacking &= pool.lengths > 0  # a query without judgments is not evaluated, and needs no value
            # But its lists are still counted by metrics of lists, so it gets 0: a weight that counts for nothing; other
            # values of it are not read.
            values = values if role == "cluster" else np.where(pool.lengths > 0, values, 0)
        if lacking.any():
            n = len(np.unique(self.grid.segment_query[lacking]))
            raise BadValueError(
                f"{column}: {n} judged queries without results have no {role}; "
                f"give the judgments a column {column!r} too"
            )
        return values

    def known_role_values(self, role: str) -> Array | None:
        """Return the value of a role for each ranking's query, NaN where neither log nor judgments have one."""
        column, grid = self.columns.by_role.get(role), self.grid
        if column is None:
            return None
        ours = np.full(len(grid.segment_query), np.nan)
        if column not in self.columns.shape.from_judgments:
            with self.errors_name_frame_rows():
                ours = grid.amounts(role, column)
        if (theirs := self.judgment_role_values(role)) is not None:
            if (~np.isnan(ours) & ~np.isnan(theirs) & (ours != theirs)).any():
                raise BadValueError(f"{column}: log and judgments differ in the value of a query; give each query one")
            return np.where(np.isnan(ours), theirs, ours)
        return ours

    def judgment_role_values(self, role: str) -> Array | None:
        """Return the judgments' value for each ranking's query, NaN for none; None if they have no such column."""
        if self.separate_judgments is None or role not in self.separate_judgments.queries.columns:
            return None
        keys = self.separate_judgments.keys
        judged = self.index.joined(self.separate_judgments.queries.select(*keys, role), keys)[role]
        return judged.cast(pl.Float64).fill_null(np.nan).to_numpy()

    def collection_sizes(self, block: slice | Array) -> Array | None:
        """Return the collection size for each ranking of a block, NaN for an unknown one; None if none is given."""
        if self.conventions.collection_size is None and "collection_size" not in self.columns.by_role:
            return None
        if self.conventions.collection_size_number is not None:
            return np.full(len(self.grid.segment_query[block]), self.conventions.collection_size_number)
        return None if self._collection_sizes is None else self._collection_sizes[block]

    @computed_once
    def _collection_sizes(self) -> Array | None:
        """The collection size of each ranking's query, shape (rankings,): the value of a column.

        With ``collection_size=True`` the frame lists all documents: the number of rows of the system that lists most.
        """
        grid = self.grid
        if self.conventions.collection_size is not True:
            return self.known_role_values("collection_size")
        most = np.zeros(grid.n_segment_queries)
        np.maximum.at(most, grid.segment_query, grid.rankings.lengths)
        return most[grid.segment_query]

    @computed_once
    def key_source(self) -> KeyRows:
        """The rows from which keys are read."""
        return KeyRows(self.columns, self.table, self.empty_queries, self.separate_judgments, self.origin)

    @computed_once
    def index(self) -> Index:
        """The system, the segment and the query of each ranking."""
        grid, columns, key_source = self.grid, self.columns, self.key_source
        system, by, query = columns.internal_by_role
        return Index(
            columns,
            self.conventions,
            grid.of_log,
            self.answered,
            *(grid.system, grid.segment, grid.query, grid.segment_query),
            KeyValues((columns.system,) if columns.system else (), system, grid.system_row, key_source),
            KeyValues(columns.by, by, grid.segment_row, key_source),
            KeyValues(columns.query, query, grid.query_row, key_source),
            self._segment_known,
            self._unknown_keys if by else (),
        )

    @property
    def _segment_known(self) -> Array | None:
        """True for segments whose values are all known, shape (segments,); None if this holds for all segments."""
        grid = self.grid
        if grid.pool is None or not set(self.columns.by) & set(self.columns.shape.from_judgments):
            return grid.segment_known
        # Only the judgments have some columns of segments: their values are unknown for a query without judgments.
        is_judged = np.bincount(grid.segment, grid.pool.lengths > 0, minlength=len(grid.segment_row)) > 0
        return is_judged if grid.segment_known is None else grid.segment_known & is_judged

    @property
    def _unknown_keys(self) -> list[str]:
        """The ``by`` columns that only log or only judgments have: their value is unknown for some queries.

        If systems share no judgments, these are all columns. Then ``_segment_known`` is None, and nobody reads this.
        """
        by = self.columns.internal_by_role[1]
        theirs = () if self.separate_judgments is None else self.separate_judgments.keys
        return [
            name
            for name, key in zip(self.columns.by, by, strict=True)
            if key not in theirs or name in self.columns.shape.from_judgments
        ]

    @computed_once
    def sorter(self) -> Sorter:
        """The sorter of the log's rows."""
        return Sorter(self.grid.rankings, self.table, self.columns, self.conventions)

    def block(self, at: slice | Array, *, order: RankOrder = "judgments") -> Block:
        """Return some rankings in rank order; raise for scores and ranks that have no order.

        ``at``: the indices of the rankings; ``order``: for what the order has to be exact, see ``Sorter.sort``.
        """
        return Block(self, at, self.sorter.sort(at, order=order))

    def for_each_sorted_block(
        self, work: Callable[[Block], None], *, more_for_relevant: bool = False, order: RankOrder = "judgments"
    ) -> None:
        """Call ``work`` with all rankings, block by block, in threads.

        Parameters
        ----------
        work : a function of a block.
        more_for_relevant : whether ``work`` takes longer for relevant rows, so that blocks are cut by estimated time.
        order : for what the order by rank or score has to be exact: the judgments alone, the documents too, or nothing
            (then nothing is sorted). It says how far ties are settled, see ``Sorter.sort``.

        Raises
        ------
        BadRowsError
            Some rows are bad, which shows in rank order only (a repeated rank, an infinite score). The error is about
            the bad rows of all blocks. It goes before any other error; of the others the first ranking's is raised.
        """
        broken: list[BadRowsError] = []
        other: dict[int, FrameMetricsError] = {}  # by the first ranking of the block

        def tried(at: slice | Array) -> None:
            # All blocks are sorted, to find all bad rows. After another error only earlier rankings are worked on, so
            # that the error is that of the first ranking, whichever thread came first.
            first = at.start if isinstance(at, slice) else int(at[0])
            try:
                block = self.block(at, order=order)
                if not broken and first < min(other, default=len(self.grid.segment_query)):
                    work(block)
            except BadRowsError as error:
                broken.append(error)
            except FrameMetricsError as error:
                other[first] = error

        each_block(
            self._estimated_work() if more_for_relevant and len(self.table) > threads.FEW_ROWS else self.grid.size,
            tried,
        )
        if broken:
            with self.errors_name_frame_rows():
                raise _merged_error(broken, len(self.table))
        if other:
            raise other[min(other)]

    def _estimated_work(self) -> Array:
        """Estimate the work for each ranking, in rows: relevant ones count twice, if at least a quarter is relevant.

        The share of relevant rows is that of the first ones of the log.
        """
        values = self.grid.rankings.values
        sample = values.get("label", values.get("grade", np.zeros(0)))[: 1 << 14]
        share = np.count_nonzero(sample > 0) / max(len(sample), 1)
        return (self.grid.size * (1 if share < 0.25 else 1 + share)).astype(np.int64)

    def rows(self, at: Array) -> Array:
        """Map rows of the log to rows of the caller's frame.

        A number from ``n_rows`` on, past the table and ``empty_queries``, is a row of the judgments. It becomes a
        number past the end of the frame.
        """
        return at if self.origin is None else self.origin.rows(at)

    def errors_name_frame_rows(self) -> AbstractContextManager[None]:
        """Let errors about rows name those of the caller's frame."""
        return nullcontext() if self.origin is None else self.origin.errors()


@dataclass(frozen=True)
class WholeLogFacts:
    """Facts about the whole log, for work on a piece of it: some queries with all their rows."""

    systems: int | None  # number of all systems; None if unknown, or if none is named
    other_systems: bool = False  # whether other pieces may have further systems; a system without rows stands for them


NO_PIECE = WholeLogFacts(None)  # for a log that is whole: its rows say everything


@record
class Block:
    """Some rankings of a log, which are processed together."""

    log: Log
    rankings: slice | Array  # the indices of these rankings
    view: SortedView  # their rows, in rank order

    @property
    def ranking_indices(self) -> Array:
        """The indices of these rankings, shape (rankings,)."""
        return np.arange(self.rankings.start, self.rankings.stop) if isinstance(self.rankings, slice) else self.rankings

    def ranking(self, *, scored: bool = False, cutoffs: Sequence[int] = ()) -> FullRanking:
        """Return the input of ranking metrics.

        ``scored``: whether scores are needed; ``cutoffs``: those of the metrics, ascending.
        """
        log, view, threshold = self.log, self.view, self.log.conventions.threshold
        grade, label = view.judgments()
        score = view.column("score") if scored or threshold is not None else None
        decision = view.column("predicted")  # a column of thresholds has become one of decisions when it was read
        if isinstance(threshold, int | float) and score is not None:
            decision = score >= threshold
        n_relevant_given = log.n_relevant_given
        return FullRanking(
            grade,
            view.lengths,
            view.n_ret,
            rel=log.conventions.rel,
            label=label,
            logged_rank=view.logged_ranks(),
            pool=self._pool(label),
            n_relevant_given=None if n_relevant_given is None else n_relevant_given[self.rankings],
            size=log.collection_sizes(self.rankings),
            decision=decision,
            score=score,
            tie=view.tie,
            extra={name.removeprefix(EXTRA): view.ordered(view.values[name]) for name in log.columns.extra_names},
            relevance_known=None if log.relevance_known is None else log.relevance_known[self.rankings],
            ratio=view.column("ratio"),
            clip=log.conventions.clip,
            document=view.column("document"),
            subtopics=None if log.separate_judgments is None else log.separate_judgments.subtopics,
            cutoffs=cutoffs,
        )

    def evaluated(self, run: FullRanking) -> Array:
        """Mark the rankings of judged queries; with ``unanswered="drop"`` only those that are answered, (rankings,)."""
        judged = run.evaluated
        return judged & self.log.answered[self.rankings] if self.log.conventions.unanswered == "drop" else judged

    def _pool(self, label: Array | None) -> Pool | None:
        """Return the judged documents of each ranking.

        With ``relevant=`` a result that is not in the list is judged not relevant: it is added to them here. Where
        systems have their own rows, ``data/unfolding.py`` has already added the results of all systems.
        """
        log = self.log
        pool = None if log.grid.pool is None else log.grid.pool.of(self.rankings)
        if pool is None or label is None or not log.columns.relevant or log.columns.systems_have_rows:
            return pool
        lengths = self.view.lengths
        return pool.with_others(np.repeat(np.arange(len(lengths)), lengths)[label == 0])


def _merged_error(broken: list[BadRowsError], total: int) -> BadRowsError:
    """Merge the errors of blocks into one about the bad rows of all blocks; ``total``: number of rows of the log."""
    first = min(broken, key=lambda error: error.what)
    is_bad = np.zeros(total, bool)
    for error in broken:
        is_bad[error.rows] |= error.what == first.what
    return bad_rows(first.column, np.flatnonzero(is_bad), total, first.what, first.remedy)
