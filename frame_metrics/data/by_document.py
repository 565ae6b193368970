"""Pair the rows of several systems by document, where there is no query: each system decided about each document."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
import polars as pl

from frame_metrics.data.cases import Cases
from frame_metrics.errors import NotComputableError, bad_rows
from frame_metrics.fast.codes import codes
from frame_metrics.inputs import Array
from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import rows_by_group
from frame_metrics.keys.groups import CellGroups
from frame_metrics.roles.columns import OF_ROWS, role_columns

OF_DOC = ("actual", *OF_ROWS)  # facts of a document, in which the rows of all systems have to agree


@record
class ByDocument:
    """The rows of systems, laid out by document within segments."""

    cases: Cases
    systems: CellGroups  # sorted by name
    segments: CellGroups
    # A document in two segments counts as two.
    case_row: Array  # each system's row in ``cases`` about each document, -1 for none, shape (documents, systems)
    segment: Array  # the code of each document's segment, shape (documents,)

    @cached_property
    def _by_segment(self) -> list[Array]:
        """The documents of each segment, as positions in ``case_row``."""
        if len(self.segments) == 1:
            return [np.arange(len(self.segment), dtype=self.case_row.dtype)]
        return rows_by_group(self.segment, len(self.segments))

    def rows(self, segment: int, pair: tuple[int, int]) -> tuple[list[pl.DataFrame], int]:
        """Return the rows of two systems about the documents of a segment that both decided about.

        Parameters
        ----------
        segment : the code of the segment.
        pair : the codes of two systems.

        Returns
        -------
        The rows of one system and of the other, in one order of the documents; and the number of rows about documents
        that only one of them decided about. The system that is first by name comes first, whichever is the baseline.
        """
        documents = self._by_segment[segment]
        first, second = (self.case_row[documents, system] for system in sorted(pair))
        in_both, every = (first >= 0) & (second >= 0), self.cases.rows.drop("cell", "row")
        in_one = every[np.maximum(first, second)[(first >= 0) != (second >= 0)]]
        rows = [every[at[in_both]] for at in (first, second)]
        return rows, replace(self.cases, rows=in_one).count_rows()


def paired_rows(cases: Cases, frame: pl.DataFrame) -> ByDocument:
    """Pair the rows of systems by document; ``cases`` need the column "row", the row of ``frame`` of each case.

    Raises
    ------
    BadRowsError
        A document id is missing, a system has a document twice in one segment, or systems differ in its true class,
        weight, count or cluster.
    """
    columns, rows = cases.columns, cases.rows
    (systems, segments), cell = cases.cells.by_system(columns.system), rows["cell"].to_numpy()
    docs = role_columns(frame, columns, ("doc",))["doc"].gather(rows["row"])
    ids = pl.DataFrame({"doc": docs} | ({"segment": segments.group_of_cell[cell]} if len(segments) > 1 else {}))
    code, first = codes(ids, ids.columns)
    kind = np.int32 if len(rows) < 1 << 31 else np.int64
    # The row of each system about each document, -1 for none: two rows of one cell overwrite each other, and are found.
    case_row, system = np.full((len(first), len(systems)), -1, kind), systems.group_of_cell.astype(np.int32)[cell]
    case_row[code, system] = np.arange(len(rows), dtype=kind)
    if np.count_nonzero(case_row >= 0) < len(rows):
        _refuse_repeated(code * len(systems) + system, cases, frame)
    if len(rows) and len(systems) > 1 and not ((case_row >= 0).sum(axis=1) > 1).any():
        raise NotComputableError(
            f"{columns.doc}: no document has rows of two systems, and compare() pairs rows by document; "
            "are its ids those of what the systems decide about?"
        )
    _check_agreement(code, first, cases, frame)
    return ByDocument(cases, systems, segments, case_row, segments.group_of_cell[cell[first]])


def _refuse_repeated(key: Array, cases: Cases, frame: pl.DataFrame) -> None:
    """Raise for rows that repeat a document of their segment and system; ``key``: a code of these three together."""
    at = np.sort(cases.rows["row"].to_numpy()[~pl.Series(key).is_first_distinct().to_numpy()])
    what = "repeat a document of their system"
    raise bad_rows(str(cases.columns.doc), at, len(frame), what, "drop them, or name a doc= that tells rows apart")


def _check_agreement(code: Array, first: Array, cases: Cases, frame: pl.DataFrame) -> None:
    """Raise for rows that differ from another system's row of the document in a fact of the document.

    ``code``: the code of each row's document; ``first``: the first row of each document.
    """
    columns, rows = cases.columns, cases.rows
    for name in OF_DOC:
        if name not in rows.columns or (name == "weight" and not columns.weight):
            continue
        values = rows["row_weight" if name == "weight" and columns.count else name].to_numpy()
        wrong = values != values[first][code]
        if wrong.any():
            column = columns.label or columns.grade if name == "actual" else columns.by_role.get(name)
            at = np.sort(rows["row"].to_numpy()[wrong])
            what = "differ from another row of their document"
            raise bad_rows(str(column), at, len(frame), what, "give each document one value for all systems")
