"""Sections of a report: their headings, tables, pictures and notes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl

from frame_metrics.backends.display import rounded_down
from frame_metrics.backends.tables import Cell, Table
from frame_metrics.metrics.metric import Metric
from frame_metrics.report.blocks import Block, Fold, Group, Picture, Section
from frame_metrics.report.cells import ALPHA, BETTER, cell_of, corrections, counted, number_text, plain_text, table_of
from frame_metrics.report.chosen_rows import sorted_by
from frame_metrics.report.comparison_tables import comparison_tables, leaderboard_tables, rank_moves
from frame_metrics.report.content import NAMES, SYSTEMS, Content, Ranked
from frame_metrics.report.of_breaks import lost_across
from frame_metrics.report.result_tables import (
    CALLED,
    EFFECTIVE,
    LONGEST,
    crossed_table,
    decided_note,
    first_rows_table,
    has_several_averages,
    informative_note,
    long_table,
    rows_together,
    wide_table,
)

SEVERITIES = ("error", "warning", "info", "fact")
SAID = {"info": "note"}  # words for severities
CHOSEN = (
    "It was chosen on the rows that it is measured on, so that its f1 is too high: by about 0.04 with 100 rows, 0.02 "
    "with 300 and 0.01 with 1,000 if half of them are positive, and by more if few are."
)


def sections_of(content: Content, pictures: Mapping[str, Picture]) -> list[Section]:
    """Return the sections of a report, in order; empty ones are left out.

    A function makes each section, and its name is the name of the section.

    Parameters
    ----------
    pictures : those that are drawn, by the name of what they show.
    """
    content = _sorted(content)
    sections = [Section(part.__name__[1:], title, [*part(content, pictures)]) for title, part in PARTS.items()]
    return [section for section in sections if section.blocks]


def _sorted(content: Content) -> Content:
    """Return the content with the best systems first in each table."""
    if content.system is None or content.sort == NAMES:
        return content
    by = partial(sorted_by, results=content.results, system=content.system, metric=content.sort)
    names = ["results", "segments", "segments_compared", "comparison", "quantiles", "confusion", "classes"]
    names += ["best_threshold"]
    frames: dict[str, Any] = {name: by(frame) for name in names if (frame := getattr(content, name)) is not None}
    if "comparison" in frames:
        frames["comparison"] = rows_together(frames["comparison"], ["metric"])
    curves = {name: by(curve) for name, curve in content.curves.items()}
    return replace(content, **frames, curves=curves)


def verdict(content: Content) -> tuple[str, str]:
    """Return a sentence about the findings of the audit, and the gravest severity."""
    counts = {one: len(content.audit.filter(pl.col("severity") == one)) for one in SEVERITIES[:3]}
    said = [f"{n} {SAID.get(one, one)}{'s' if n > 1 else ''}" for one, n in counts.items() if n]
    gravest = next((one for one, n in counts.items() if n), "")
    return (f"The audit found {', '.join(said)}." if said else "The audit found nothing odd."), gravest


def _drawn(pictures: Mapping[str, Picture], *names: str) -> list[Block]:
    return [pictures[name] for name in names if name in pictures]


def _summary(content: Content, pictures: Mapping[str, Picture]) -> Iterator[Block]:
    """Yield the sentences of the summary."""
    yield from content.summary["sentence"]


def _results(content: Content, pictures: Mapping[str, Picture]) -> Iterator[Block]:
    """Yield the averages of the metrics."""
    keys = [content.system] if content.system else []
    yield from _drawn(pictures, "over time")
    yield wide_table(content, content.results, keys, "The metrics") if keys else long_table(content)
    if keys and EFFECTIVE in content.results.columns:
        of = content.results.with_columns(pl.col(EFFECTIVE).alias("value"))
        labels = [*keys, *(["average"] if has_several_averages(of) else [])]
        yield crossed_table(
            content, of, labels, "metric", f"{CALLED[EFFECTIVE].capitalize()}: {informative_note(content)}"
        )
    yield from _drawn(pictures, "metrics")


def _audit(content: Content, pictures: Mapping[str, Picture]) -> Iterator[Block]:
    """Yield the findings of the audit."""
    yield verdict(content)[0]
    if len(content.findings):
        yield _findings(content.findings, "Findings, the gravest first", severity=True)
    yield _findings(content.facts, "Counted and not counted", severity=False)
    yield from _undefined(content)


def _undefined(content: Content) -> Iterator[Block]:
    """Yield a table of undefined metrics; one line if the same metrics are equally often undefined for all systems."""
    undefined = content.results.filter(pl.col("n_undefined") > 0)
    metrics = undefined["metric"].unique(maintain_order=True)
    everywhere = len(undefined) == len(content.results.filter(pl.col("metric").is_in(metrics.implode())))
    units = {content.undefined_in(average) for average in undefined["average"]}
    if everywhere and undefined["n_undefined"].n_unique() == 1 and len(units) == 1:
        (unit,) = units
        some = f" in {counted(undefined['n_undefined'][0], unit)}" if unit else ""
        of = f" of every {plain_text(content.system)}" if content.system else ""
        yield f"Undefined{some}{of}: {', '.join(metrics)}."
    elif len(undefined):
        system = [content.system] if content.system else []
        only = [*system, "metric", *(["n"] if content.query else []), "n_undefined"]
        yield first_rows_table(undefined, "Where metrics are undefined", only=only, called=CALLED)


def _findings(audit: pl.DataFrame, caption: str, *, severity: bool) -> Table:
    example = ["example"] if audit["example"].count() else []
    names = [*(["severity"] if severity else []), "check", "message", "n", "share", *example]
    rows = []
    for row in audit.iter_rows(named=True):
        cells = {name: cell_of(name, row[name], longest=None if name == "message" else LONGEST) for name in names}
        if severity:
            at = SEVERITIES.index(row["severity"])
            cells["severity"] = Cell(SAID.get(row["severity"], row["severity"]), float(at), kind=row["severity"])
        cells["n"] = Cell(counted(row["n"], row["unit"]) if row["unit"] else "the whole frame", float(row["n"]))
        if row["share"] is not None:
            cells["share"] = Cell(f"{row['share']:.1%}", row["share"])
        rows.append([cells[name] for name in names])
    return Table(names, rows, [name in ("n", "share") for name in names], caption)


def _decisions(content: Content, pictures: Mapping[str, Picture]) -> Iterator[Block]:
    """Yield the tables of decisions."""
    yield from _drawn(pictures, "confusion")
    if content.confusion is not None:
        frame = content.in_words(content.confusion)
        labels = [*([content.system] if content.system in frame.columns else []), "actual"]
        cells = [cell_of("n", n) for n in frame["n"].to_list()]
        title = f"Rows by true and predicted class{decided_note(content)}"
        table = crossed_table(content, frame, labels, "predicted", title, cells)
        said = frame["predicted"].unique(maintain_order=True).to_list()
        across = ["no decision" if one is None else f"predicted: {plain_text(one, LONGEST)}" for one in said]
        yield replace(table, names=[*table.names[: len(labels)], *across])
    if content.best_threshold is not None:
        at = content.threshold
        apart = "" if at is None else f"; the decisions above are at {rounded_down(at, 4)}"
        best = first_rows_table(content.best_threshold, f"The threshold of the best f1{apart}")
        yield replace(best, notes=[*best.notes, CHOSEN])
    if content.classes is not None and len(content.classes):
        yield first_rows_table(content.classes, "Metrics of each class")


def _comparison(content: Content, pictures: Mapping[str, Picture]) -> Iterator[Block]:
    """Yield the leaderboard of several systems, and their comparison."""
    yield from [*leaderboard_tables(content), *_drawn(pictures, "leaderboard")]
    frame = content.comparison
    if frame is None or not len(frame):
        return
    tested = frame["p_adjusted"].drop_nulls()
    n = int((tested < ALPHA).sum())
    by = corrections(frame)
    p = f"corrected p ({by})" if by else "p"
    yield f"{n} of {len(tested)} differences are significant: {p} below {ALPHA:g}."
    yield from [*comparison_tables(content, frame), *_drawn(pictures, "differences"), *rank_moves(content)]


def _segments(content: Content, pictures: Mapping[str, Picture]) -> Iterator[Block]:
    """Yield the averages in segments."""
    if content.segments is not None:
        frame, title = rows_together(content.segments, content.by), f"By {', '.join(map(plain_text, content.by))}"
        yield wide_table(content, frame, _groups(content, frame), title)
    if content.segments_compared is not None:
        yield from comparison_tables(content, rows_together(content.segments_compared, content.by))


def _curves(content: Content, pictures: Mapping[str, Picture]) -> Iterator[Block]:
    """Yield the curves."""
    yield from _drawn(pictures, *(name for name in pictures if name.startswith("curve")))
    if "cutoffs" in content.curves:
        curve = rows_together(content.curves["cutoffs"], ["metric"])
        yield crossed_table(content, curve, ["metric", *_groups(content, curve)], "k", "Metrics at cutoffs")


def _queries(content: Content, pictures: Mapping[str, Picture]) -> Iterator[Block]:
    """Yield the queries to look at."""
    lost = lost_across(content)
    yield from [lost] if lost is not None else []
    yield from _drawn(pictures, "queries")
    if content.quantiles is not None and len(content.quantiles):
        frame, caption = content.quantiles, f"{content.first} over queries"
        yield crossed_table(content, frame, _groups(content, frame), "average", caption)
    for system, place in dict.fromkeys((one.system, one.place) for one in content.queries):
        some = [one for one in content.queries if (one.system, one.place) == (system, place)]
        of = f": {plain_text(system, LONGEST)}" if content.system else ""
        title = f"{place.capitalize()} queries by {content.first}{of}"
        explained = any(one.results is not None for one in some)
        yield Group(title, [_folded(one) for one in some] if explained else [_listed(content, some, title)])
    yield from _not_listed(content) if content.queries else []


def _not_listed(content: Content) -> Iterator[str]:
    """Yield notes about queries that are not listed: those with undefined values, and those of other systems."""
    systems = content.values[content.system].n_unique() if content.values is not None and content.system else 0
    if content.undefined:
        one, several = ("value of a query", "values of queries") if systems > 1 else ("query", "queries")
        they_are = f"{one} is" if content.undefined == 1 else f"{several} are"
        yield f"{content.undefined:,} {they_are} undefined and not listed."
    if systems > SYSTEMS:
        yield (
            f"Queries of {SYSTEMS} of {systems:,} systems, the best by {content.first} and the baseline among them; "
            "per_query() returns those of all."
        )


def _groups(content: Content, frame: pl.DataFrame) -> list[str]:
    """Return the columns of segments and systems that a frame has."""
    return [name for name in (*content.by, content.system) if name in frame.columns]


def _listed(content: Content, some: Sequence[Ranked], caption: str) -> Table:
    keys = [*content.by, *content.query]
    rows = [
        [*(cell_of(key, one.keys[key], longest=LONGEST) for key in keys), cell_of("value", one.value)] for one in some
    ]
    return Table([*map(plain_text, keys), "value"], rows, [*[False] * len(keys), True], caption)


def _folded(one: Ranked) -> Block:
    text = ", ".join(plain_text(value, LONGEST) for value in one.keys.values())
    summary = Cell(text, subtext=number_text(one.value))
    if one.results is None:
        return Fold(summary, ["Its results cannot be taken apart by these metrics."])
    table = table_of(one.results, caption=f"Results of {text}", longest=LONGEST)
    notes = [f"contribution: to {one.explained}; without a rank: relevant, and not found."]
    notes += [f"{one.more:,} more {'is' if one.more == 1 else 'are'} not shown."] if one.more else []
    return Fold(summary, [replace(table, notes=notes)])


def _conventions(content: Content, pictures: Mapping[str, Picture]) -> Iterator[Block]:
    """Yield the conventions of the call, and the versions of the libraries."""
    about = [
        {"metric": name, "better": BETTER[metric.higher], "definition": _definition(content, metric)}
        for name, metric in content.asked
    ]
    for caption, rows in (
        (f"Roles of the columns of a {content.kind}", content.roles),
        ("Conventions in force", content.conventions),
        ("Metrics", about),
        ("Versions", [{"library": name, "version": version} for name, version in content.versions.items()]),
    ):
        if rows:
            yield table_of(pl.DataFrame(rows), caption=caption)


def _definition(content: Content, metric: Metric) -> str:
    """Return the definition of a metric; for rows without a query, words of rankings become words of decisions."""
    said = metric.doc.partition("\n")[0]
    predicted, own = f"predicted {content.positive}", content.positive
    words = {"retrieved documents": f"rows {predicted}", "retrieved": predicted, "relevant documents": f"{own} rows"}
    words |= {"documents": "rows", "relevant": own}
    for word, other in words.items() if not content.query else ():
        said = said.replace(word, other)
    return said


def _absent(content: Content, pictures: Mapping[str, Picture]) -> Iterator[Block]:
    """Yield what the report leaves out, and why."""
    if content.absent:
        yield table_of(pl.DataFrame(content.absent), caption="What could not be computed, and why")


# The headings of the sections, in order, and the functions that make them.
PARTS: dict[str, Callable[[Content, Mapping[str, Picture]], Iterator[Block]]] = {
    "Summary": _summary,
    "Results": _results,
    "Audit": _audit,
    "Decisions": _decisions,
    "Comparison": _comparison,
    "Segments": _segments,
    "Curves": _curves,
    "Queries": _queries,
    "Conventions and versions": _conventions,
    "Not in this report": _absent,
}
