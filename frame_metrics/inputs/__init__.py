"""Inputs of kernels: the rows of many queries, sorted, grouped and laid end to end. Arrays only.

Everything here is about one *block*: some whole queries. A query is its index in the block, from 0.
No frame library is imported here.
"""

from frame_metrics.inputs.classes import Classes
from frame_metrics.inputs.gains import Gain, OfNumber, gain_of, name_of_function, top_gain, values_of_function
from frame_metrics.inputs.intents import Intents, Subtopics
from frame_metrics.inputs.lists import Lists
from frame_metrics.inputs.pool import Pool
from frame_metrics.inputs.ranking import FullRanking
from frame_metrics.inputs.rows import Array, Rows, Sums, geometric_mean, ratio, sum_of_others
from frame_metrics.inputs.scores import ClassScores, FullScores
from frame_metrics.inputs.tables import FullConfusion
from frame_metrics.inputs.two_rankings import TwoRankings
from frame_metrics.inputs.weighted import Weighted

__all__ = [
    "Array",
    "ClassScores",
    "Classes",
    "FullConfusion",
    "FullRanking",
    "FullScores",
    "Gain",
    "Intents",
    "Lists",
    "OfNumber",
    "Pool",
    "Rows",
    "Subtopics",
    "Sums",
    "TwoRankings",
    "Weighted",
    "gain_of",
    "geometric_mean",
    "name_of_function",
    "ratio",
    "sum_of_others",
    "top_gain",
    "values_of_function",
]
