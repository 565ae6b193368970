"""Every check of the audit, and the one pass over a log that checks of rankings share."""

from __future__ import annotations

import numpy as np
import polars as pl

from frame_metrics.data.log import Block, Log
from frame_metrics.inputs import Array
from frame_metrics.roles.columns import judgment_columns_in
from frame_metrics.verbs.audit import (
    checks,
    facts,
    of_annotators,
    of_classes,
    of_clicks,
    of_counted,
    of_cuts,
    of_few,
    of_found,
    of_judgments,
    of_logs,
    of_missing,
    of_mixed_systems,
    of_nulls,
    of_proxies,
    of_retrieved,
    of_rows,
    of_separate_judgments,
    of_spelling,
    of_systems,
    of_values,
    of_weights,
    split,
)
from frame_metrics.verbs.audit.checks import AMOUNTS, About, Check, Counted, Finding, RankedBlock

# In the order of the audit's rows, within a severity. None imports a check of another by its name: it would run twice.
MODULES = (
    checks,
    of_annotators,
    of_proxies,
    of_found,
    of_spelling,
    of_separate_judgments,
    of_logs,
    of_judgments,
    of_systems,
    of_mixed_systems,
    of_counted,
    of_few,
    facts,
    of_cuts,
    of_nulls,
    of_rows,
    of_classes,
    of_missing,
    of_values,
    split,
    of_retrieved,
    of_clicks,
    of_weights,
)
CHECKS = [check for module in MODULES for check in vars(module).values() if isinstance(check, Check)]


def findings(*about: About) -> list[Finding]:
    """Run on each subject all checks that read it; a check that looked and found nothing gives a finding of 0."""
    every = ((check, check.run(subject), words) for subject, words in about for check in CHECKS)
    return [check.finding(seen, words) for check, seen, words in every if seen is not None]


def run_checks(log: Log) -> Counted:
    """Run all checks of a log and of its rankings, in one pass over the blocks.

    Raises
    ------
    BadRowsError
        Rows have an error that shows only in rank order, or beside other rows of their query. It names rows of the
        frame that the log was read from.
    """
    n, looks = len(log.grid.segment_query), [check for check in CHECKS if RankedBlock in check.reads]
    amounts: dict[str, Array] = {name: np.zeros(n, np.int64) for name in AMOUNTS} | {
        check.name: np.zeros(n, np.int32) for check in looks
    }

    def work(block: Block) -> None:
        rows = block.view
        run = block.ranking(scored="score" in rows.values and "rank" not in rows.values)
        mine = {role: values[block.rankings] for role, values in of_queries.items()}
        ranked = RankedBlock(log, rows, run, mine, block.evaluated(run), log.answered[block.rankings])
        for name, amount in AMOUNTS.items():
            amounts[name][block.rankings] = amount(ranked)
        for name, mass in of_weights.masses(ranked).items():
            amounts[name][block.rankings] = mass
        for check in looks:
            marks = check.look(ranked)
            amounts[check.name][block.rankings] = (
                0 if marks is None else np.where(amounts[check.of][block.rankings] > 0, marks, 0)
            )

    if log.conventions.propensity is not None:
        amounts |= {name: np.zeros(n) for name in of_weights.MASSES}

    with log.errors_name_frame_rows():
        known = {"size": log.collection_sizes(slice(None)), "n_relevant": log.n_relevant_given}
    known |= {role: log.known_role_values(role) for role in ("weight", "cluster")} | {"beyond": _beyond(log)}
    of_queries = {role: values for role, values in known.items() if values is not None}
    log.for_each_sorted_block(work)
    of_units = {name: values for name, values in of_queries.items() if name in ("size", "weight", "cluster")}
    of_log = {check: check.look(log) for check in CHECKS if Log in check.reads}
    return Counted(
        log, log.index, amounts | of_units, {check: seen for check, seen in of_log.items() if seen is not None}
    )


def _beyond(log: Log) -> Array | None:
    """Mark the rankings whose query has a judged document that no system retrieved.

    None unless systems share the judgments of the log itself, document by document.
    """
    if not (log.judged_in_rows and log.columns.doc and log.columns.system):
        return None
    place = "rank" if log.columns.rank else "score"
    _, by, query = log.columns.internal_by_role
    keys = [*by, *query]
    rows = log.table if place in log.table.columns else log.table.with_columns(pl.lit(1).alias(place))
    found = rows.filter(pl.col(place).is_not_null())
    judgment = judgment_columns_in(log.judgments)
    judged = log.judgments.filter(pl.any_horizontal(pl.col(judgment).cast(pl.Float64).fill_nan(None).is_not_null()))
    unfound = judged.join(found, on=[*keys, "doc"], how="anti", nulls_equal=True)
    beyond = log.index.joined(unfound.select(keys).unique().with_columns(beyond=pl.lit(True)), keys)["beyond"]
    return beyond.fill_null(False).to_numpy()
