"""The types in signatures, for functions of your own that take what ``df.irm`` takes.

Each has the name that help() and editors show. ``Roles`` is all of them: ``def shop(log, **roles: Unpack[Roles])``.
"""

from frame_metrics.backends.trec import FilePath
from frame_metrics.measuring.rows import OverClasses
from frame_metrics.metrics.names import Metrics
from frame_metrics.plan.checks import Average, IntervalMethod, Layout
from frame_metrics.roles.roles import (
    Catalogue,
    ClassList,
    Clip,
    CollectionSize,
    Column,
    ColumnName,
    Columns,
    Duplicates,
    Expression,
    ExtraColumns,
    Folder,
    FrameFunction,
    Grade,
    GradeScale,
    Match,
    Memory,
    Popularity,
    PositiveLabels,
    Propensity,
    Roles,
    ScoreColumns,
    Several,
    SystemColumns,
    Threshold,
    Ties,
    Unanswered,
    Undefined,
    Unjudged,
    UnjudgedQueries,
)
from frame_metrics.verbs.agreement import MeasurementLevel
from frame_metrics.verbs.audit.gate import FailOn
from frame_metrics.verbs.bounds.bounds import BoundsOf
from frame_metrics.verbs.bounds.next_judgments import JudgingWay
from frame_metrics.verbs.click_judgments import ClickModel
from frame_metrics.verbs.compare.interleaving import Preference
from frame_metrics.verbs.compare.margins import Margin
from frame_metrics.verbs.compare.options import Against, Correction, Family, Looks, Test
from frame_metrics.verbs.curves import PerQuery
from frame_metrics.verbs.propensities import Estimator

__all__ = [
    "Against",
    "Average",
    "BoundsOf",
    "Catalogue",
    "ClassList",
    "ClickModel",
    "Clip",
    "CollectionSize",
    "Column",
    "ColumnName",
    "Columns",
    "Correction",
    "Duplicates",
    "Estimator",
    "Expression",
    "ExtraColumns",
    "FailOn",
    "Family",
    "FilePath",
    "Folder",
    "FrameFunction",
    "Grade",
    "GradeScale",
    "IntervalMethod",
    "JudgingWay",
    "Layout",
    "Looks",
    "Margin",
    "Match",
    "MeasurementLevel",
    "Memory",
    "Metrics",
    "OverClasses",
    "PerQuery",
    "Popularity",
    "PositiveLabels",
    "Preference",
    "Propensity",
    "Roles",
    "ScoreColumns",
    "Several",
    "SystemColumns",
    "Test",
    "Threshold",
    "Ties",
    "Unanswered",
    "Undefined",
    "Unjudged",
    "UnjudgedQueries",
]
