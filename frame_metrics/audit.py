"""What the numbers rest on: one row per finding, nothing dropped in silence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields

import numpy as np
import polars as pl

from frame_metrics.blocks import each_block
from frame_metrics.columns import key_names
from frame_metrics.errors import BadValueError
from frame_metrics.inputs import Array, Ranking
from frame_metrics.log import Conventions, Log, measured_against, sorter_of
from frame_metrics.sorting import Sorted
from frame_metrics.tidy import Answer

TOP = 10  # the cutoff that the checks look at
FEW = 10  # a segment with fewer queries is small
COUNTED = ("judged", "relevant", "retrieved", "unjudged", "top", "top_unjudged", "contradicted")
GRAVITY = ("error", "warning", "info")
SCHEMA = {
    "check": pl.String,
    "severity": pl.String,
    "n": pl.Int64,
    "share": pl.Float64,
    "example": pl.String,
    "message": pl.String,
}


@dataclass(frozen=True, eq=False)
class Facts:
    """What the checks look at, one number per ranking.

    Parameters
    ----------
    judged, relevant, retrieved : documents of each ranking's query that are judged, relevant; retrieved by the system.
    unjudged : results without a judgment.
    top, top_unjudged : results at ranks up to 10, and those of them without a judgment.
    tied : whether the results at ranks 10 and 11 have equal scores.
    gaps : whether a rank is missing among those shown.
    constant : whether all results, two or more, have one score.
    listed : whether the ideal is that of the results alone.
    late : whether the first rank that is shown is not 1.
    disordered : whether a score rises where the rank, which orders the results, goes down.
    contradicted : rows whose label and grade do not say the same.
    """

    judged: Array
    relevant: Array
    retrieved: Array
    unjudged: Array
    top: Array
    top_unjudged: Array
    tied: Array
    gaps: Array
    constant: Array
    listed: Array
    late: Array
    disordered: Array
    contradicted: Array


@dataclass(frozen=True, eq=False)
class Check:
    """One thing to look for.

    Parameters
    ----------
    rows : how much of it each ranking has, from the facts; bool or counts.
    of : what the share is of.
    message : what follows from it.
    """

    name: str
    severity: str
    rows: Callable[[Facts], Array]
    of: Callable[[Facts], Array]
    message: str


def _every(facts: Facts) -> Array:
    return np.ones(len(facts.judged), bool)


def _evaluated(facts: Facts) -> Array:
    return facts.judged > 0


LEFT_OUT = "left out of the rankings"
ORDER = {"doc": "by document, descending", "worst": "the worst judgment first", "best": "the best judgment first"}
CHECKS = (
    Check(
        "queries without judgments",
        "warning",
        lambda f: f.judged == 0,
        _every,
        "not evaluated: none of their documents is judged",
    ),
    Check(
        "queries without results",
        "warning",
        lambda f: _evaluated(f) & (f.retrieved == 0),
        _evaluated,
        "evaluated as if nothing was found",
    ),
    Check(
        "queries without relevant documents",
        "warning",
        lambda f: _evaluated(f) & (f.relevant == 0),
        _evaluated,
        "metrics that divide by the relevant documents are undefined; undefined= says what they become",
    ),
    Check(
        f"unjudged in the top {TOP}",
        "warning",
        lambda f: np.where(_evaluated(f), f.top_unjudged, 0),
        lambda f: np.where(_evaluated(f), f.top, 0),
        "{left_out}",
    ),
    Check(
        "unjudged results",
        "info",
        lambda f: np.where(_evaluated(f), f.unjudged, 0),
        lambda f: np.where(_evaluated(f), f.retrieved, 0),
        "{left_out}",
    ),
    Check(
        f"ties across rank {TOP}",
        "warning",
        lambda f: _evaluated(f) & f.tied,
        _evaluated,
        f"equal scores at ranks {TOP} and {TOP + 1} are ordered {{order}}",
    ),
    Check(
        "ideal from the results alone",
        "info",
        lambda f: _evaluated(f) & f.listed,
        _evaluated,
        "relevant documents that were not retrieved are unknown; recall, ap and ndcg may be too high",
    ),
    Check(
        "ranks with gaps",
        "info",
        lambda f: f.gaps,
        _every,
        "positions that the frame does not list count as not relevant",
    ),
    Check(
        "ranks that begin late",
        "info",
        lambda f: f.late,
        _every,
        "the first position is missing, and counts as not relevant",
    ),
    Check(
        "scores out of rank order",
        "warning",
        lambda f: f.disordered,
        _every,
        "the rank orders the results, and a result has a higher score than one above it",
    ),
    Check(
        "labels and grades that contradict",
        "warning",
        lambda f: f.contradicted,
        lambda f: f.judged,
        "the label decides what is relevant, the grade what is gained; they disagree about rel={rel:g}",
    ),
    Check(
        "constant scores",
        "warning",
        lambda f: f.constant,
        _every,
        "all results of a query have one score, and are ordered {order}",
    ),
)


@dataclass(frozen=True, eq=False)
class Finding:
    """One row of the audit."""

    check: str
    severity: str
    n: int
    share: float
    example: str | None
    message: str


def findings(log: Log, how: Conventions) -> list[Finding]:
    """Return the findings about a log."""
    return list(_checks(log, how, _facts(log, how)))


def report(fail_on: str | None, found: list[Finding]) -> Answer:
    """Return the findings as rows, the gravest first; those that found nothing are left out.

    Raises
    ------
    BadValueError
        There is a finding as grave as ``fail_on``, or graver.
    """
    rows = [f for f in sorted(found, key=lambda f: GRAVITY.index(f.severity)) if f.n]
    grave = [] if fail_on is None else [f for f in rows if GRAVITY.index(f.severity) <= GRAVITY.index(fail_on)]
    if grave:
        said = (f"{f.check}: {f.n}{f' ({f.example}, ...)' if f.example else ''}, {f.message}" for f in grave)
        raise BadValueError(f"audit(fail_on={fail_on!r}): {len(grave)} findings\n" + "\n".join(said))
    return Answer({}, {name: pl.Series(name, [getattr(f, name) for f in rows], dtype=t) for name, t in SCHEMA.items()})


def _facts(log: Log, how: Conventions) -> Facts:
    """Look at every ranking once."""
    n = len(log.grid.pair)
    facts = Facts(**{one.name: np.zeros(n, np.int64 if one.name in COUNTED else bool) for one in fields(Facts)})
    sorter = sorter_of(log, how)
    beside = log.judged is not None or "n_relevant" in log.grid.rankings.values

    def work(part: slice | Array) -> None:
        sheet = sorter.block(part)
        run = sheet.ranking(rel=how.rel, condensed=False, **measured_against(log, how, part))
        facts.judged[part], facts.relevant[part], facts.retrieved[part] = run.n_judged, run.n_relevant, run.n_ret
        facts.unjudged[part] = run.n_ret - run.count_of(run.judged, None)
        facts.top[part] = run.retrieved(TOP)
        facts.top_unjudged[part] = run.retrieved(TOP) - run.count_of(run.judged, TOP)
        facts.gaps[part] = run.gaps
        facts.listed[part] = run.n_ret == (run.n_judged if run.pool is not None else run.length)
        facts.listed[part] &= not beside
        facts.late[part] = run.late
        _look_at_scores(facts, part, run, sheet)
        if "label" in sheet.cells and "grade" in sheet.cells:
            grade, label = sheet.judgments()
            wrong = (label == (grade < how.rel)) & ~np.isnan(grade)
            facts.contradicted[part] = run.count_of(wrong, None, retrieved=False)

    each_block(log.grid.size, work)
    return facts


def _look_at_scores(facts: Facts, part: slice | Array, run: Ranking, sheet: Sorted) -> None:
    """Look for scores that are equal where it matters, or that say another order than the ranks."""
    if sheet.score is None:
        return
    by_rank = "rank" in sheet.cells
    if by_rank and "score" not in sheet.cells:
        return
    score = sheet.ordered(sheet.cells["score"] if by_rank else sheet.score)
    inner = np.ones(len(score), bool)
    inner[run.start[run.start < len(score)]] = False
    inner &= np.arange(len(score)) < np.repeat(run.start + run.n_ret, run.length)
    step = np.diff(score, prepend=np.nan)
    level = run.count_of(inner & (step == 0), None)
    facts.constant[part] = (run.n_ret > 1) & (level == run.n_ret - 1)
    if by_rank:
        facts.disordered[part] = run.count_of(inner & (step > 0), None) > 0
        return
    deep = run.n_ret > TOP
    tied = np.zeros(run.n, bool)
    tied[deep] = step[run.start[deep] + TOP] == 0
    facts.tied[part] = tied


def _small_segments(log: Log, facts: Facts) -> Finding:
    """Segments with so few queries that a mean over them means little."""
    grid, by = log.grid, key_names(log.parts)[1]
    count = len(grid.segment_row) if by else 0
    queries = np.zeros(count, np.int64)
    if by:
        seen = np.unique(np.stack([grid.segment, grid.query])[:, facts.judged > 0], axis=1)
        queries = np.bincount(seen[0], minlength=count)
    small = np.flatnonzero(queries < FEW)
    rows = log.keys_at(by, grid.segment_row[small[:1]]).row(0) if len(small) else ()
    return Finding(
        "segments of few queries",
        "warning",
        len(small),
        len(small) / max(count, 1),
        ", ".join(map(str, rows)) if len(small) else None,
        f"fewer than {FEW} evaluated queries: their mean says little; ci= says how little",
    )


def _checks(log: Log, how: Conventions, facts: Facts) -> Iterator[Finding]:
    words = {
        "left_out": LEFT_OUT if how.unjudged == "drop" else "counted as not relevant; unjudged='drop' leaves them out",
        "order": ORDER.get(how.ties, "as in the frame"),
        "rel": how.rel,
    }
    for check in CHECKS:
        rows, of = check.rows(facts), check.of(facts)
        n = int(rows.sum())
        example = _name(log, int(np.argmax(rows > 0))) if n else None
        yield Finding(check.name, check.severity, n, n / max(int(of.sum()), 1), example, check.message.format(**words))
    yield _unknown_segments(log)
    yield _small_segments(log, facts)
    dropped = 0 if log.row is None else log.frame_rows - len(log.row)
    message = "left out: duplicates='first' keeps the best place of each document of a query"
    yield Finding("repeated documents", "warning", dropped, dropped / max(log.frame_rows, 1), log.repeated, message)


def _unknown_segments(log: Log) -> Finding:
    """Judged queries of which no row says which segment they belong to."""
    by, query = key_names(log.parts)[1:]
    lost = pl.DataFrame()
    if log.judged is not None and by and not set(by) <= set(log.judged.names.columns):
        lost = log.judged.queries.join(
            log.columns.select(query), on=query, how="anti", nulls_equal=True, maintain_order="left"
        )
    example = ", ".join(str(value) for value in lost.row(0)) if len(lost) else None
    total = len(log.judged.queries) if log.judged is not None else 1
    return Finding(
        "judged queries of no known segment",
        "warning",
        len(lost),
        len(lost) / max(total, 1),
        example,
        "not evaluated: no result has them, and the judgments have no column that says their segment",
    )


def _name(log: Log, ranking: int) -> str:
    """The keys of a ranking as text."""
    grid, (system, by, query) = log.grid, key_names(log.parts)
    parts = [(system, grid.system_row[grid.system[ranking]])] if system else []
    parts += [(by, grid.segment_row[grid.segment[ranking]])] if by else []
    parts += [(query, grid.query_row[grid.query[ranking]])]
    return ", ".join(str(value) for keys, row in parts for value in log.keys_at(keys, np.array([row])).row(0))
