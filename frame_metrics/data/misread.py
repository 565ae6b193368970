"""Detect columns that were given for something else: ranks given as scores, shares given as grades."""

from __future__ import annotations

import polars as pl

from frame_metrics.data.classes import all_reach, check_relevance, n_unclear
from frame_metrics.data.facts import Facts, GradeFacts
from frame_metrics.data.log import Log
from frame_metrics.hidden import (
    GROUPS,
    LOWEST,
    NONPOSITIVE,
    POSITIONS,
    SCORES,
    SHARES,
    SIZES,
    SPELLED,
)
from frame_metrics.keys.spelling import LABELS_AND_PREDICTIONS, check_positive


def has_single_rows(log: Facts) -> bool:
    """Return True if there are several rankings, and none has two rows."""
    return n_rows(log) > 1 and log.row_counts[0] == 1


def n_rows(log: Facts) -> int:
    """Return the number of rows of the caller's frame, in which each system may be a column."""
    return log.row_counts[1] // max(len(log.columns.shape.per_system), 1)


def found_query_text(log: Facts, name: str, n_one_class: int) -> str:
    """Return the words about a metric of scores where "query" was only found by name.

    Parameters
    ----------
    name : the metric.
    n_one_class : number of queries whose rows are all of one class; 0 also if it is unknown.
    """
    one_class_text = f" ({n_one_class:,} {'has' if n_one_class == 1 else 'have'} one class only)" if n_one_class else ""
    return (
        f"{name}: 'query' was found by name. query='query' gives the mean over {log.row_counts[2]:,} "
        f"queries{one_class_text}; query=None gives one value over all {n_rows(log):,} rows, as scikit-learn does"
    )


def single_rows_text(log: Facts, *, pooled: bool) -> str:
    """Return the words about a log without two rows of one ranking, where "query" was only found by name.

    ``pooled``: whether the metrics can be computed for rows without a query.
    """
    pooling = f"; query=None takes all {n_rows(log):,} rows together" if pooled else ""
    of_system = " of one system" if log.columns.systems_have_rows else ""
    return (
        f"'query' was found by name, and no query has two rows{of_system}. query='query' takes each row for a ranking "
        f"of its own{pooling}; if another column says which rows belong together, name it with query="
    )


def n_unclear_grades(log: GradeFacts) -> int:
    """Return the number of grades between 0 and 1, if it is unclear whether they are relevant; else 0."""
    if log.conventions.rel_given or "label" in log.judgments.columns:  # then it is clear what is relevant
        return 0
    n = log.n_fractional_grades
    return n_unclear(n, log.top_grade, log.conventions) if n else 0


def check_relevant(log: Facts) -> None:
    """Raise where the grades of a log do not say what is relevant."""
    if "label" not in log.judgments.columns:
        check_relevance(log.judgments["grade"], log.n_fractional_grades, log.judgment_name, log.conventions)


def all_relevant(log: GradeFacts) -> bool:
    """Return True if there are three distinct grades or more and all reach ``rel``: none says "not relevant"."""
    return "label" not in log.judgments.columns and all_reach(log.lowest_grades, log.conventions.rel)


def facts_of(log: Log) -> dict[str, pl.Series]:
    """Return the facts about a piece, one value for each of ``FACTS``."""
    by_looks = [pl.Series([sorted(names)], dtype=pl.List(pl.String)) for names in log.scores_by_looks]
    facts = dict(zip((POSITIONS, SCORES), by_looks, strict=True)) | {
        SHARES: pl.Series([log.n_fractional_grades], dtype=pl.Int64)
    }
    facts |= {name: pl.Series([size], dtype=pl.Int64) for name, size in zip(SIZES, log.row_counts, strict=True)}
    known = {LOWEST: log.lowest_grades, GROUPS: pl.Series([*log.document_groups], dtype=pl.Float64)}
    facts[NONPOSITIVE] = pl.Series([log.has_nonpositive], dtype=pl.Boolean)
    facts[SPELLED] = pl.Series([[*log.spelled]], dtype=pl.List(pl.List(pl.String)))
    return facts | {name: pl.Series([values], dtype=pl.List(pl.Float64)) for name, values in known.items()}


def check_positive_in(table: pl.DataFrame, word: str | None) -> None:
    """Raise as ``check_positive`` does, by the facts of all pieces; ``word``: the text of ``positive=``."""
    if word is not None:
        pieces = table[SPELLED].drop_nulls().to_list()
        sides = [[seen for piece in pieces for seen in piece[at : at + 1]] for at in range(len(LABELS_AND_PREDICTIONS))]
        check_positive([sorted({text for seen in side for text in seen}) for side in sides], word)
