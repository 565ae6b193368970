"""Inputs that functions of users' metrics read: a ranking, a 2x2 table or scores, each under a dozen names.

Kernels of ours read the classes behind them, which have more names and may change with any version.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from frame_metrics.inputs.public_ranking import Ranking
from frame_metrics.inputs.public_scores import Scores
from frame_metrics.inputs.public_tables import Confusion
from frame_metrics.inputs.ranking import FullRanking
from frame_metrics.inputs.scores import FullScores
from frame_metrics.inputs.tables import FullConfusion
from frame_metrics.inputs.views import Narrow

__all__ = ["PUBLIC", "Confusion", "Narrow", "Public", "Ranking", "Scores", "as_annotated", "behind"]

Public: TypeAlias = Ranking | Confusion | Scores
PUBLIC: dict[Any, type] = {Ranking: FullRanking, Confusion: FullConfusion, Scores: FullScores}


def as_annotated(kind: Any, inside: Any) -> Any:
    """Return an input as the class that a kernel's annotation names: a public class, or that of the input itself."""
    return kind._of(inside) if kind in PUBLIC else inside


def behind(source: Any) -> Any:
    """Return the input behind an object of a public class; other objects are returned as they are."""
    return source._inside if isinstance(source, Narrow) else source
