"""Sections of a report: their headings, tables, pictures and notes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import polars as pl

from frame_metrics.border.shown import rounded_down
from frame_metrics.metrics.metric import Metric
from frame_metrics.report.cells import (
    ALPHA,
    BETTER,
    NOTHING,
    Cell,
    Table,
    best_cells,
    cell_of,
    corrections,
    counted,
    number_text,
    plain_text,
    table_of,
)
from frame_metrics.report.content import NAMES, SYSTEMS, Content, Ranked
from frame_metrics.report.foremost import foremost, sorted_by
from frame_metrics.verbs.compare.margins import OF_MARGIN

ROWS = 200  # the most rows shown of a table of segments or of differences
NOT_FOUND = 10**9  # the first place for relevant documents without a rank, after all others
LONGEST = 160  # the most letters of a text in a table
SEVERITIES = ("error", "warning", "info", "fact")
EFFECTIVE = "n_effective"  # a column of weighted results
CALLED = {
    "baseline_value": "of the baseline",
    "p_adjusted": "p, corrected",
    "p_not_worse": "p, not worse",
    "n_unpaired": "unpaired",
    "n_undefined": "undefined",
    "n_unanswered": "unanswered",
    "n_unjudged": "without a judgment",
    "baseline_n_unjudged": "of the baseline without",
    "baseline_n": "n of the baseline",
    EFFECTIVE: "effective n",
    "if_calibrated": "if calibrated",
}
SAID = {"info": "note"}  # words for severities
ALL = "the JSON form has more, and the verbs return all of them."
CHOSEN = (
    "It was chosen on the rows that it is measured on, so that its f1 is too high: by about 0.04 with 100 rows, 0.02 "
    "with 300 and 0.01 with 1,000 if half of them are positive, and by more if few are."
)
MDE = "mde: the smallest difference that so many would show in four of five tests."


@dataclass(frozen=True)
class Picture:
    """A picture as SVG, or several that belong together."""

    title: str
    said: str  # a description for readers who do not see it
    svgs: Sequence[str]


@dataclass(frozen=True)
class Group:
    """Blocks under a smaller heading."""

    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Fold:
    """Blocks that a reader unfolds."""

    summary: Cell
    blocks: Sequence[Block]


Block: TypeAlias = "str | Table | Picture | Group | Fold"


@dataclass(frozen=True)
class Section:
    """A part of the report, under a heading."""

    name: str  # the name in links
    title: str
    blocks: Sequence[Block]


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
        frames["comparison"] = _together(frames["comparison"], ["metric"])
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
    yield _wide(content, content.results, keys, "The metrics") if keys else _long(content)
    if keys and EFFECTIVE in content.results.columns:
        of = content.results.with_columns(pl.col(EFFECTIVE).alias("value"))
        labels = [*keys, *(["average"] if _has_several_averages(of) else [])]
        yield _crossed(content, of, labels, "metric", f"{CALLED[EFFECTIVE].capitalize()}: {_informative(content)}")
    yield from _drawn(pictures, "metrics")


def _interval(row: Mapping[str, Any]) -> str:
    """Return the interval of a row as text; "" if there is none."""
    if "ci_low" not in row:
        return ""
    return f"{number_text(row['ci_low'])} to {number_text(row['ci_high'])}" if row["ci_low"] is not None else ""


def _level(content: Content) -> str:
    return f"{_percent(content)} interval"


def _percent(content: Content) -> str:
    return f"{100 * (content.ci or 0.95):g} %"


def _long(content: Content) -> Table:
    """Return the table of the metrics of one system, a row for each metric."""
    results, level = content.results, _level(content)
    texts = [_interval(row) or None for row in results.iter_rows(named=True)]
    weighted = [EFFECTIVE] if EFFECTIVE in results.columns else []
    only = ["metric", "value", *([level] if content.ci else []), "average", "n", "n_undefined", *weighted]
    results = results.with_columns(pl.Series(level, texts, pl.String))
    made = table_of(results, caption=f"The metrics{_over(content, results)}", only=only, called=CALLED)
    notes = [f"{CALLED[name].capitalize()}: {_informative(content)}." for name in weighted]
    return replace(made, notes=[*made.notes, *notes])


def _informative(content: Content) -> str:
    """Return words for what an effective sample size counts."""
    unit = "relevant results" if content.weighted is None else content.unit
    return f"how many {unit} of equal weight are as informative"


def _over(content: Content, results: pl.DataFrame) -> str:
    """Return words for what the means are over, if it is the same for all, and for the threshold."""
    averages, n = results["average"].drop_nulls().unique().to_list(), results["n"].unique().to_list()
    said = [counted(n[0], content.unit) if len(n) == 1 else "", f"average: {averages[0]}" if len(averages) == 1 else ""]
    words = ", ".join(filter(None, said))
    propensity = EFFECTIVE in results.columns and content.weighted is None
    decided = f"{', weighted by propensity=' if propensity else ''}{_decided(content)}"
    return f" ({words}){decided}" if words else decided


def _wide(content: Content, results: pl.DataFrame, keys: Sequence[str], title: str) -> Table:
    """Return a table with a column for each metric and a row for each key; the best systems are bold."""
    best = best_cells(results, content.system) if content.system else set()
    several = _has_several_averages(results)
    labels = [*keys, *(["average"] if several else [])]
    cells = [
        replace(cell_of("value", row["value"]), bold=(at, "value") in best, beside=_interval(row))
        for at, row in enumerate(results.iter_rows(named=True))
    ]
    counts = results.group_by(labels, maintain_order=True).agg(pl.col("n").unique())["n"].to_list() if labels else []
    # A column for n, if each row has one number and these differ.
    beside = (
        {"n": [cell_of("n", n) for (n,) in counts]}
        if set(map(len, counts)) == {1} and results["n"].n_unique() > 1
        else {}
    )
    table = _crossed(content, results, labels, "metric", title + _over(content, results), cells, beside)
    notes = [f"Bold: the best {plain_text(content.system)}."] if best else []
    notes += [] if several else _averages(results)
    return replace(table, notes=[*notes, *table.notes], beside=f"the {_level(content)}" if content.ci else "")


def _has_several_averages(results: pl.DataFrame) -> bool:
    """Return True if a metric has several averages, and so several values for each key."""
    pairs = results.select("metric", "average").unique().drop_nulls()
    return pairs["metric"].n_unique() < len(pairs)


def _averages(results: pl.DataFrame) -> list[str]:
    """Return a note on the average of each metric, if these differ."""
    of: dict[str, list[str]] = {}
    for average, metric in results.select("average", "metric").unique(maintain_order=True).drop_nulls().iter_rows():
        of.setdefault(average, []).append(plain_text(metric))
    told = "; ".join(f"{average} of {', '.join(metrics)}" for average, metrics in of.items())
    return [f"Averages: {told}."] if len(of) > 1 else []


def _crossed(
    content: Content,
    frame: pl.DataFrame,
    labels: Sequence[str],
    across: str,
    caption: str,
    cells: Sequence[Cell] | None = None,
    beside: Mapping[str, Sequence[Cell]] | None = None,
) -> Table:
    """Return a table with a row for each value of some columns, and a column for each value of another one.

    Parameters
    ----------
    labels, across : columns whose values make the rows, and the column whose values make the columns.
    cells : a cell for each row of the frame; None for cells with its values.
    beside : columns to add after the labels: by name, a cell for each row of the table.

    If there are too many rows, only those with a bold cell and those of the foremost systems are shown.
    """
    columns = frame[across].unique(maintain_order=True).to_list()
    found: dict[str, tuple[list[Cell], dict[Any, Cell], Any]] = {}
    for at, row in enumerate(frame.iter_rows(named=True)):
        named = [cell_of(name, row[name], longest=LONGEST) for name in labels]
        _, own, _ = found.setdefault(repr([row[name] for name in labels]), (named, {}, row.get(str(content.system))))
        own[row[across]] = cell_of("value", row["value"]) if cells is None else cells[at]
    more, absent = beside or {}, Cell(NOTHING)
    rows = [
        [*named, *(some[at] for some in more.values()), *(own.get(one, absent) for one in columns)]
        for at, (named, own, _) in enumerate(found.values())
    ]
    bold = {at for at, row in enumerate(rows) if any(cell.bold for cell in row)}
    shown = foremost([system for _, _, system in found.values()], content.places, ROWS, bold)
    names = [
        *map(plain_text, labels),
        *more,
        *(f"{across} = {one}" if isinstance(one, int) else one for one in columns),
    ]
    numbers = [at >= len(labels) for at in range(len(names))]
    notes = [_left_out(len(rows), content if content.system in frame.columns else None)] if len(rows) > ROWS else []
    return Table(names, [rows[at] for at in shown], numbers, caption, notes)


def _together(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Return the rows sorted so that those with equal values in the named columns stand together."""
    return pl.concat(frame.partition_by(names, maintain_order=True)) if len(frame) else frame


def _left_out(n: int, of_systems: Content | None = None) -> str:
    """Return a note about rows that are not shown; ``of_systems``: the content, if rows are of systems."""
    if of_systems is None:
        return f"The first {ROWS:,} of {n:,} rows; {ALL}"
    system, against = plain_text(of_systems.system), " and of the baseline" if of_systems.comparison is not None else ""
    return f"{ROWS:,} of {n:,} rows, those of the best {system} by {of_systems.first}{against} among them; {ALL}"


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
        yield _first_rows(undefined, "Where metrics are undefined", only=only, called=CALLED)


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
        title = f"Rows by true and predicted class{_decided(content)}"
        table = _crossed(content, frame, labels, "predicted", title, cells)
        said = frame["predicted"].unique(maintain_order=True).to_list()
        across = ["no decision" if one is None else f"predicted: {plain_text(one, LONGEST)}" for one in said]
        yield replace(table, names=[*table.names[: len(labels)], *across])
    if content.best_threshold is not None:
        at = content.threshold
        apart = "" if at is None else f"; the decisions above are at {rounded_down(at, 4)}"
        best = _first_rows(content.best_threshold, f"The threshold of the best f1{apart}")
        yield replace(best, notes=[*best.notes, CHOSEN])
    if content.classes is not None and len(content.classes):
        yield _first_rows(content.classes, "Metrics of each class")


def _decided(content: Content) -> str:
    """Return words about the caller's threshold, for the end of a caption; "" if there is none."""
    return "" if content.threshold is None else f", decided at threshold {content.threshold:.4g}"


def _first_rows(frame: pl.DataFrame, caption: str, **options: Any) -> Table:
    """Return the first rows of a frame as a table, with a note about the rows left out."""
    table = table_of(frame.head(ROWS), caption=caption, longest=LONGEST, **options)
    return replace(table, notes=[*table.notes, *([_left_out(len(frame))] if len(frame) > ROWS else [])])


def _comparison(content: Content, pictures: Mapping[str, Picture]) -> Iterator[Block]:
    """Yield the leaderboard of several systems, and their comparison."""
    yield from [*_leaderboard(content), *_drawn(pictures, "leaderboard")]
    frame = content.comparison
    if frame is None or not len(frame):
        return
    tested = frame["p_adjusted"].drop_nulls()
    n = int((tested < ALPHA).sum())
    by = corrections(frame)
    p = f"corrected p ({by})" if by else "p"
    yield f"{n} of {len(tested)} differences are significant: {p} below {ALPHA:g}."
    yield from [*_compared(content, frame), *_drawn(pictures, "differences"), *_moved(content)]


def _leaderboard(content: Content) -> Iterator[Block]:
    """Yield the table of systems in order, with the ranks that each may have, and which may be the best."""
    board, system = content.leaderboard, str(content.system)
    if board is None or not len(board):
        return
    names = ["rank", "ranks that it may have", plain_text(system), board["metric"][0], "may be the best"]
    cells = [
        [
            cell_of("rank", row["rank"]),
            Cell(_ranks(row)),
            cell_of(system, row[system], longest=LONGEST),
            replace(cell_of("value", row["value"]), beside=_interval(row)),
            Cell({True: "yes", False: "no"}.get(row["may_be_best"], NOTHING)),
        ]
        for row in board.head(ROWS).iter_rows(named=True)
    ]
    notes = [f"The ranks of all hold together, and the best is among those that may be it, at {_percent(content)}."]
    if board["reliability"].count():
        known = number_text(board["reliability"].drop_nulls()[0])
        notes.append(f"Reliability {known}: 1 if all queries tell the same differences of systems, 0 if chance does.")
    notes += [_left_out(len(board), content)] if len(board) > ROWS else []
    beside = f"the {_level(content)}" if content.ci else ""
    yield Table(names, cells, [True, False, False, True, False], "Systems in order", notes, beside)


def _ranks(row: Mapping[str, Any]) -> str:
    low, high = row["rank_low"], row["rank_high"]
    return NOTHING if low is None else str(low) if low == high else f"{low} to {high}"


def _compared(content: Content, frame: pl.DataFrame) -> list[Block]:
    """Return the main columns of a comparison as a table, and a fold with all columns."""
    by = corrections(frame)
    system = [content.system] if content.system in frame.columns else []
    shown = frame[list(foremost(frame[system[0]].to_list() if system else [None] * len(frame), content.places, ROWS))]
    rare = ("n_unpaired", "n_undefined", "n_unanswered", "n_unjudged", "baseline_n_unjudged", "baseline_n")
    counted: list[str] = [name for name in rare if name in frame.columns and frame[name].sum()]
    tests = frame["test"].drop_nulls().unique().sort().to_list()
    counted += ["test"] if len(tests) > 1 else []
    wins = [name for name in ("wins", "losses") if name in frame.columns and frame[name].count()]
    pair = [name for name in (*system, "baseline") if name != "baseline" or frame[name].n_unique() > 1]
    only = [*(name for name in content.by if name in frame.columns), "metric", *pair, "difference"]
    held = [name for name in OF_MARGIN[:1] if name in frame.columns]
    only += ["p_adjusted", *held, "value", "baseline_value", *wins, "n", *counted]
    called = CALLED if by else CALLED | {"p_adjusted": "p"}
    against = f" to {plain_text(frame['baseline'][0], LONGEST)}" if "baseline" not in pair else ""
    caption = f"Differences{against}{f' ({tests[0]} test)' if len(tests) == 1 else ''}"
    made = table_of(shown, caption=caption, only=only, alpha=ALPHA, longest=LONGEST, called=called)
    at = only.index("difference")
    rows = [
        [*cells[:at], replace(cells[at], beside=_interval(row)), *cells[at + 1 :]]
        for row, cells in zip(shown.iter_rows(named=True), made.rows, strict=True)
    ]
    notes = [*made.notes]
    if content.adjusted:
        how = "" if content.within else " (CUPED)"
        notes.append(f"Means and differences are adjusted by {plain_text(content.adjusted)}{how}; Results are not.")
    notes += [_left_out(len(frame), content if system else None)] if len(frame) > ROWS else []
    beside = f"the {_level(content)} of the difference"
    every = table_of(shown, caption="All columns", longest=LONGEST)
    rest = Fold(Cell("All columns of this table"), [replace(every, notes=[MDE])])
    return [replace(made, rows=rows, notes=notes, beside=beside), rest]


def _moved(content: Content) -> list[Block]:
    """Return the queries on which two systems differ most: a table, or their results rank by rank, for each pair."""
    blocks: list[Block] = []
    for part in content.moved():
        pair = (part[content.system][0] if content.system else None), part["baseline"][0]
        ours, theirs = ("this frame" if one is None else plain_text(one, LONGEST) for one in pair)
        caption = f"{content.first}: queries on which {ours} and {theirs} differ most"
        duels = [duel for duel in content.duels if (duel[0].system, duel[1].system) == pair]
        keys = [name for name in (*content.by, *content.query) if name in part.columns]
        only = [*keys, "value", "baseline_value", "difference"]
        table = table_of(part, caption=caption, only=only, longest=LONGEST, called=CALLED)
        blocks.append(Group(caption, [_rank_by_rank(duel) for duel in duels]) if duels else table)
    return blocks


def _rank_by_rank(pair: Sequence[Ranked]) -> Fold:
    """Return the results of two systems for a query side by side, and below them the documents that were not found."""
    names, rows = ["rank"], dict[int, list[list[Cell]]]()
    for at, (one, frame) in enumerate((one, one.results) for one in pair if one.results is not None):
        own = [*frame.columns[: frame.columns.index("rank")], "gain"]
        names += [f"{plain_text(one.system, LONGEST)}: {name}" for name in own]
        for place, row in enumerate(frame.iter_rows(named=True)):
            cells = [cell_of(name, row[name], longest=LONGEST) for name in own]
            blank = [[Cell(NOTHING)] * len(own)] * 2
            told = rows.setdefault(row["rank"] or NOT_FOUND + place, blank.copy())
            told[at] = cells if row["judged"] else [*cells[:-1], Cell("not judged")]
    text = ", ".join(plain_text(value, LONGEST) for value in pair[0].keys.values())
    values = " against ".join(number_text(one.value) for one in pair)
    numbers = [name == "rank" or name.endswith(": gain") for name in names]
    table = Table(names, [[_rank_cell(rank), *rows[rank][0], *rows[rank][1]] for rank in sorted(rows)], numbers, text)
    return Fold(Cell(f"{text}: {values}", beside=f"{pair[0].value - pair[1].value:+.3f}"), [table])


def _rank_cell(rank: int) -> Cell:
    return cell_of("rank", rank) if rank < NOT_FOUND else Cell("not found")


def _segments(content: Content, pictures: Mapping[str, Picture]) -> Iterator[Block]:
    """Yield the averages in segments."""
    if content.segments is not None:
        frame, title = _together(content.segments, content.by), f"By {', '.join(map(plain_text, content.by))}"
        yield _wide(content, frame, _groups(content, frame), title)
    if content.segments_compared is not None:
        yield from _compared(content, _together(content.segments_compared, content.by))


def _curves(content: Content, pictures: Mapping[str, Picture]) -> Iterator[Block]:
    """Yield the curves."""
    yield from _drawn(pictures, *(name for name in pictures if name.startswith("curve")))
    if "cutoffs" in content.curves:
        curve = _together(content.curves["cutoffs"], ["metric"])
        yield _crossed(content, curve, ["metric", *_groups(content, curve)], "k", "Metrics at cutoffs")


def _queries(content: Content, pictures: Mapping[str, Picture]) -> Iterator[Block]:
    """Yield the queries to look at."""
    yield from _drawn(pictures, "queries")
    if content.quantiles is not None and len(content.quantiles):
        frame, caption = content.quantiles, f"{content.first} over queries"
        yield _crossed(content, frame, _groups(content, frame), "average", caption)
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
    summary = Cell(text, beside=number_text(one.value))
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
