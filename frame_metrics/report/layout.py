"""Sections of a report: what is open on its first screens, in order, and after it what a reader unfolds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl

from frame_metrics.backends.display import rounded_down
from frame_metrics.backends.tables import Cell, Table
from frame_metrics.measuring.same_classes import is_mean_of_classes
from frame_metrics.report import folded_sections
from frame_metrics.report.blocks import Block, Code, Fold, Linked, Picture, Section
from frame_metrics.report.cells import cell_of, counted, plain_text, table_of
from frame_metrics.report.chosen_rows import best_and_near, ranked_by, sorted_by
from frame_metrics.report.comparison_tables import leaderboard_table, main_differences, rank_by_rank
from frame_metrics.report.content import NAMES, Content
from frame_metrics.report.folded_sections import drawn_of, explained_fold, table_of_rankings
from frame_metrics.report.of_breaks import lost_across
from frame_metrics.report.of_classes import ROWS, table_of_classes
from frame_metrics.report.of_proxy import agreement_table, proxy_means
from frame_metrics.report.pairs import MOST_LOSERS
from frame_metrics.report.result_tables import (
    CALLED,
    EFFECTIVE,
    LONGEST_CELL,
    crossed_table,
    decided_note,
    first_rows_table,
    grouped_rows,
    has_several_averages,
    informative_note,
    long_table,
    metrics_note,
    wide_table,
    with_cells,
)
from frame_metrics.report.short_names import in_full_once, short_table
from frame_metrics.report.units import without_unit
from frame_metrics.report.words import name_of, side_text

SEVERITIES = ("error", "warning", "info", "fact")
SEVERITY_WORDS = {"info": "note"}  # words for severities
CHOSEN = (
    "It was chosen on the rows that it is measured on, so that its f1 is too high: by about 0.04 with 100 rows, 0.02 "
    "with 300 and 0.01 with 1,000 if half of them are positive, and by more if few are."
)


OPEN_ROWS = 10  # the most systems, findings and queries of the tables that are open
OF_MANY = 5  # the best systems of these tables, where there are more
MORE_FINDINGS = re.compile(r"(.* )(And [\d,]+ more (?:error|warning).*)\.", re.S)


def sections_of(content: Content, pictures: Mapping[str, Picture]) -> list[Section]:
    """Return the sections of a report, in order; empty ones are left out.

    ``content``: as ``best_first`` returns it; ``pictures``: by the name of what they show.
    """
    parts = [*((*part, False) for part in OPEN.items()), *((*part, True) for part in FOLDED.items())]
    sections = [Section(_name(title), title, [*part(content, pictures)], later) for title, part, later in parts]
    return [section for section in sections if section.blocks]


def _name(title: str) -> str:
    """Return the name of a section in links."""
    return title.lower().replace(" ", "-")


def best_first(content: Content) -> Content:
    """Return the content with the best systems first in each table and picture."""
    if content.system is None or content.sort == NAMES:
        return content
    ranked = ranked_by(content.results, content.system, content.sort)
    by = partial(sorted_by, system=content.system, ranked=ranked)
    compared, decisions, queries = content.compared, content.decisions, content.queries
    differences = by(compared.differences)
    differences = None if differences is None else grouped_rows(differences, ["metric"])
    best, classes = by(decisions.best_threshold), by(decisions.classes)
    return replace(
        content,
        results=by(content.results),
        segments=by(content.segments),
        compared=replace(compared, differences=differences, in_segments=by(compared.in_segments)),
        queries=replace(queries, quantiles=by(queries.quantiles)),
        decisions=replace(decisions, confusion=by(decisions.confusion), best_threshold=best, classes=classes),
        curves={name: by(curve) for name, curve in content.curves.items()},
    )


def verdict(content: Content) -> tuple[str, str]:
    """Return a sentence about the findings of the audit, and the gravest severity."""
    counts = {one: len(content.audit.filter(pl.col("severity") == one)) for one in SEVERITIES[:3]}
    found = [f"{n} {SEVERITY_WORDS.get(one, one)}{'s' if n > 1 else ''}" for one, n in counts.items() if n]
    gravest = next((one for one, n in counts.items() if n), "")
    if gravest == "info":
        return "The audit found no errors and no warnings.", gravest
    return (f"The audit found {', '.join(found)}." if found else "The audit found nothing odd in the data."), gravest


def _summary(content: Content, pictures: Mapping[str, Picture]) -> Iterator[Block]:
    """Yield the sentences of the first block, and the others as notes; code stands apart."""
    frame = content.summary
    sentences = in_full_once(frame["sentence"].to_list(), map(name_of, content.places))
    notes = list[Block]()
    for kind, place, whole, sentence in zip(frame["kind"], frame["place"], frame["sentence"], sentences, strict=True):
        if place is not None:
            linked = MORE_FINDINGS.fullmatch(sentence)
            yield Linked(linked[1], linked[2], "audit") if linked else sentence
        else:
            words, _, code = whole.removesuffix(".").partition(": ")
            notes.append(Code(f"{words}:", code) if kind == "code" and code else sentence)
    if notes:
        yield Fold(Cell("Notes"), notes)


def _results(content: Content, pictures: Mapping[str, Picture]) -> Iterator[Block]:
    """Yield the averages of the metrics, of the best systems where there are many."""
    keys = content.system_column
    some = _foremost(content, content.results)
    made = wide_table(content, some, keys, "The metrics", content.results) if keys else long_table(content)
    first = "metrics" if keys else "segments"
    drawn = [*drawn_of(pictures, "over time" if "over time" in pictures else first)]
    folded = drawn if len(some) < len(content.results) and "leaderboard" in pictures else []  # it shows the best, too
    yield from drawn if not folded else []
    made = replace(made, notes=[*made.notes, *metrics_note(content)])
    yield made if len(some) == len(content.results) else short_table(made)
    if len(some) < len(content.results):
        every = wide_table(content, content.results, keys, "The metrics")
        yield Fold(Cell(f"All {content.n_systems:,} systems"), [*folded, every])
    if keys and EFFECTIVE in content.results.columns:
        of = content.results.with_columns(pl.col(EFFECTIVE).alias("value"))
        labels = [*keys, *(["average"] if has_several_averages(of) else [])]
        title = CALLED[EFFECTIVE].capitalize()
        yield Fold(Cell(title), [crossed_table(content, of, labels, "metric", f"{title}: {informative_note(content)}")])


def _foremost(content: Content, frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of a few systems, the best and the baseline among them."""
    if content.n_systems <= OPEN_ROWS:
        return frame
    ranked = ranked_by(content.results, str(content.system), content.first)
    near = best_and_near(ranked, content.compared.baselines if content.has_baseline else [], OF_MANY)
    some = pl.Series(near, dtype=frame.schema[str(content.system)])
    return frame.filter(pl.col(str(content.system)).is_in(some.implode(), nulls_equal=True))


def _comparison(content: Content, pictures: Mapping[str, Picture]) -> Iterator[Block]:
    """Yield the leaderboard of several systems, else their differences."""
    board, differences = content.compared.leaderboard, content.compared.differences
    if board is not None and len(board):
        yield from [*drawn_of(pictures, "leaderboard"), leaderboard_table(content, board, OPEN_ROWS)]
    elif differences is not None and len(differences):
        made = main_differences(content, differences, OPEN_ROWS if content.n_systems <= OPEN_ROWS else OF_MANY)
        yield from [*drawn_of(pictures, "differences"), made if content.n_systems <= OPEN_ROWS else short_table(made)]


def _proxy(content: Content, pictures: Mapping[str, Picture]) -> Iterator[Block]:
    """Yield the means by people and by a machine, and folded beside them, as one more table, how far they agree."""
    for means in proxy_means(content):
        yield means if len(means.rows) <= OPEN_ROWS else Fold(Cell(means.caption), [means])
    if content.agreement is not None:
        agreed = agreement_table(content.agreement)
        yield Fold(Cell(agreed.caption), [agreed]) if content.n_proxy else agreed


def _decisions(content: Content, pictures: Mapping[str, Picture]) -> Iterator[Block]:
    """Yield the matrix of decisions, or the picture of it for several classes, and the metrics of each class."""
    yield from drawn_of(pictures, "confusion", "thresholds")
    decisions, at = content.decisions, content.decisions.threshold
    if decisions.confusion is not None:
        matrix = _matrix(content, decisions.confusion)
        yield Fold(Cell(matrix.caption), [matrix]) if "confusion" in pictures else matrix
    if decisions.best_threshold is not None:
        note = "" if at is None else f"; the decisions above are at {rounded_down(at, 4)}"
        best = first_rows_table(decisions.best_threshold, f"The threshold of the best f1{note}")
        made = replace(best, notes=[*best.notes, CHOSEN])
        yield Fold(Cell(best.caption), [made]) if decisions.confusion is not None else made
    yield from _classes(content)


def _classes(content: Content) -> Iterator[Block]:
    """Yield the differences of each class, and the metrics of each, which are folded beside these."""
    compared, classes = table_of_classes(content), content.decisions.classes
    yield from [] if compared is None else [compared]
    if classes is not None and len(classes):
        left = [] if classes["n"].n_unique() > 1 else ["n"]  # the title of the page has it
        own = [name for name, metric in content.asked if is_mean_of_classes(metric, binary=False)]
        # Of one class against the rest accuracy is high whatever is decided about the class.
        left += [name for name, _ in content.asked if own and name not in own and name in classes.columns]
        each = first_rows_table(classes.drop(left), "Metrics of each class", called=ROWS)
        yield each if compared is None else Fold(Cell(each.caption), [each])


def _matrix(content: Content, confusion: pl.DataFrame) -> Table:
    """Return the table of rows by true and predicted class."""
    frame = content.decisions.in_words(confusion)
    labels = [*([content.system] if content.system in frame.columns else []), "actual"]
    cells = [cell_of("n", n) for n in frame["n"].to_list()]
    title = f"Rows by true and predicted class{decided_note(content)}"
    table = crossed_table(content, frame, labels, "predicted", title, cells)
    predictions = frame["predicted"].unique(maintain_order=True).to_list()
    across = ["no decision" if one is None else f"predicted: {plain_text(one, LONGEST_CELL)}" for one in predictions]
    return replace(table, names=[*table.names[: len(labels)], *across])


def _queries(content: Content, pictures: Mapping[str, Picture]) -> Iterator[Block]:
    """Yield the queries that lost most across a break or against the baseline, else the worst of the best system."""
    across = lost_across(content)
    if across is not None:
        yield across
        return
    table, folds = _lost(content) if content.pairs.has_losses() else _worst(content)
    if table.rows:
        yield table
    if folds:
        yield Fold(Cell("Rank by rank"), folds)


def _lost(content: Content) -> tuple[Table, list[Fold]]:
    """Return the table of the queries that lost most of the first pair, and their results rank by rank."""
    pairs, duels = content.pairs, content.queries.duels
    sides = pairs.sides(pairs.each[0])
    rows = pairs.worst_changes(*sides, MOST_LOSERS)
    keys = content.keys_of(rows)
    only = [*keys, "difference", "value", "baseline_value"]
    ours, theirs = (side_text(one, LONGEST_CELL) for one in sides)
    caption = f"The {content.unit} that {pairs.lost_most}: {content.first_compared} of {ours} against {theirs}"
    called = {"value": ours, "baseline_value": theirs}
    known = {_key(one.keys, keys): (one, other) for one, other in duels if {one.system, other.system} == {*sides}}
    found = [known.get(_key(row, keys)) for row in rows.iter_rows(named=True)]
    folds = [rank_by_rank(pair, f"rank-{at}") for at, pair in enumerate(found, 1) if pair]
    table = table_of(rows, caption=caption, only=only, longest=LONGEST_CELL, called=called)
    links = [f"rank-{at}" if pair else "" for at, pair in enumerate(found, 1)]
    return with_cells(table, len(keys) - 1, link=links), folds


def _key(row: Mapping[str, Any], keys: Sequence[str]) -> str:
    return repr([row[name] for name in keys])


def _worst(content: Content) -> tuple[Table, list[Fold]]:
    """Return the table of the worst queries of the best or only system, and their results rank by rank."""
    best = content.best
    some = [one for one in content.queries.extremes if one.kind == "worst" and one.system == best]
    if len({one.value for one in some}) == 1 and len(some) > 1 and content.clicks:
        some = []  # searches without a click are no worse than each other
    of = f" of {plain_text(best, LONGEST_CELL)}" if content.system else ""
    folds = [explained_fold(one, f"rank-{at}") for at, one in enumerate(some, 1) if one.results is not None]
    links = [f"rank-{at}" if one.results is not None else "" for at, one in enumerate(some, 1)]
    table = table_of_rankings(content, some, f"The {content.unit} with the lowest {content.first}{of}")
    return with_cells(table, len(content.by) + len(content.query) - 1, link=links), folds


def _audit(content: Content, pictures: Mapping[str, Picture]) -> Iterator[Block]:
    """Yield the errors and warnings of the audit; notes, and what was counted, are folded."""
    grave = content.findings.filter(pl.col("severity") != "info")
    yield from map(_finding, grave.head(OPEN_ROWS).iter_rows(named=True))
    rest = [_findings(content.findings, "Findings, the gravest first", severity=True)] if len(content.findings) else []
    counts = _findings(content.facts, "Counted and not counted", severity=False)
    yield Fold(Cell("Notes and counts"), [*rest, counts, *_undefined(content)])


def _finding(row: Mapping[str, Any]) -> str:
    count = f" ({counted(row['n'], row['unit'])})" if row["unit"] else ""
    severity = SEVERITY_WORDS.get(row["severity"], row["severity"]).capitalize()
    return f"{severity}: {row['check']}{count}: {without_unit(row['message'])}."


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
        only = [*content.system_column, "metric", *(["n"] if content.query else []), "n_undefined"]
        yield first_rows_table(undefined, "Where metrics are undefined", only=only, called=CALLED)


def _findings(audit: pl.DataFrame, caption: str, *, severity: bool) -> Table:
    example = ["example"] if audit["example"].count() else []
    names = [*(["severity"] if severity else []), "check", "message", "n", "share", *example]
    rows = []
    for row in audit.iter_rows(named=True):
        row |= {"message": without_unit(row["message"])}
        cells = {name: cell_of(name, row[name], longest=None if name == "message" else LONGEST_CELL) for name in names}
        if severity:
            at = SEVERITIES.index(row["severity"])
            cells["severity"] = Cell(
                SEVERITY_WORDS.get(row["severity"], row["severity"]), float(at), kind=row["severity"]
            )
        cells["n"] = Cell(counted(row["n"], row["unit"]) if row["unit"] else "the whole frame", float(row["n"]))
        if row["share"] is not None:
            cells["share"] = Cell(f"{100 * row['share']:.1f} %", row["share"])
        rows.append([cells[name] for name in names])
    return Table(names, rows, [name in ("n", "share") for name in names], caption)


# The headings of the sections, in order, and the functions that make them: those that are open, and those to unfold.
OPEN: dict[str, Callable[[Content, Mapping[str, Picture]], Iterator[Block]]] = {
    "Summary": _summary,
    "Results": _results,
    "Comparison": _comparison,
    "LLM judge": _proxy,
    "Decisions": _decisions,
    "Queries": _queries,
    "Audit": _audit,
}
FOLDED: dict[str, Callable[[Content, Mapping[str, Picture]], Iterator[Block]]] = {
    "All differences": folded_sections.all_differences,
    "Segments": folded_sections.folds_of_segments,
    "Curves": folded_sections.curves,
    "More queries": folded_sections.queries,
    "Conventions and versions": folded_sections.folded_conventions,
    "Not in this report": folded_sections.folded_absent,
}
