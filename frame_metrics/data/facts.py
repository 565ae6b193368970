"""The facts that checks read of a log, whether its rows are here or only what was noted of each piece."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.data.classes import GRADES_OF_A_SCALE, is_fractional
from frame_metrics.data.rank_scores import positions_in
from frame_metrics.hidden import GROUPS, HEIGHT, LONGEST, LOWEST, NONPOSITIVE, QUERIES, SHARES
from frame_metrics.inputs.records import record
from frame_metrics.roles.columns import Columns, judgment_columns_in
from frame_metrics.roles.conventions import Conventions
from frame_metrics.roles.series import largest_grade


class GradeFacts(ABC):
    """The facts that checks read of grades and labels."""

    conventions: Conventions

    @property
    @abstractmethod
    def judgments(self) -> pl.DataFrame:
        """The table with grades and labels; of a log in pieces it has only the largest grades, or empty columns."""

    @cached_property
    def top_grade(self) -> float:
        """The largest grade, NaN if there is none."""
        return largest_grade(self.judgments["grade"]) if "grade" in self.judgments.columns else np.nan

    @cached_property
    def graded(self) -> bool:
        """True if a positive grade other than 1 exists, so that grades are more than relevant or not."""
        grade = self.judgments.get_column("grade", default=pl.Series([0]))
        return bool(((grade > 0) & (grade != 1)).any())

    @property
    def n_fractional_grades(self) -> int:
        """Number of judgments that are grades strictly between 0 and 1."""
        grade = self.judgments.get_column("grade", default=None)
        return 0 if grade is None or not grade.dtype.is_float() else int(is_fractional(grade).sum())

    @property
    def lowest_grades(self) -> pl.Series:
        """The lowest distinct grades, up to ``GRADES_OF_A_SCALE`` of them."""
        grades = self.judgments.get_column("grade", default=pl.Series([], dtype=pl.Float64))
        distinct = grades.cast(pl.Float64).unique().to_numpy()
        return pl.Series(np.sort(distinct[~np.isnan(distinct)])[:GRADES_OF_A_SCALE], dtype=pl.Float64)

    @property
    def has_nonpositive(self) -> bool:
        """True if some judgment is 0 or below: then a null does not stand for "not relevant"."""
        return any((self.judgments[name] <= 0).any() for name in judgment_columns_in(self.judgments))


class Facts(GradeFacts):
    """The facts that checks read of a log: those of its rows, or those that were noted of each of its pieces."""

    columns: Columns
    judgment_name: str  # the caller's name of the column of grades, or of labels if there are no grades

    @property
    def judged_in_rows(self) -> bool:
        """True if grades or labels are columns of the log, not of separate judgments."""
        return bool(self.columns.grade or self.columns.label)

    @property
    @abstractmethod
    def row_counts(self) -> tuple[int, int, int]:
        """The number of rows of the longest ranking, the number of all rows, and the number of queries."""

    @property
    @abstractmethod
    def document_groups(self) -> set[float]:
        """The groups that documents belong to, as ``group_column`` numbers them."""

    @property
    @abstractmethod
    def rank_scores(self) -> list[str]:
        """The score columns that are ranks."""


@record
class FactsOfPieces(Facts):
    """The facts that were noted of each piece of a log."""

    table: pl.DataFrame  # the columns ``FACTS``; and the largest grades, or empty columns, in the place of judgments
    columns: Columns
    conventions: Conventions
    judgment_name: str

    @property
    def judgments(self) -> pl.DataFrame:
        return self.table

    @property
    def row_counts(self) -> tuple[int, int, int]:
        longest: Any = self.table[LONGEST].max() or 0
        return int(longest), int(self.table[HEIGHT].sum()), int(self.table[QUERIES].sum())

    @property
    def n_fractional_grades(self) -> int:
        return int(self.table[SHARES].sum())

    @property
    def lowest_grades(self) -> pl.Series:
        return self.table[LOWEST].drop_nulls().explode().unique()

    @property
    def document_groups(self) -> set[float]:
        return {*self.table[GROUPS].drop_nulls().explode()}

    @property
    def has_nonpositive(self) -> bool:
        return bool(self.table[NONPOSITIVE].any())

    @property
    def rank_scores(self) -> list[str]:
        return positions_in(self.table, self.columns)
