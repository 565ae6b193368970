"""How the time of every verb grows: the part "growth" of the table of bench.py."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from every_verb import PAIRED, ROWS, VERBS, Size
from timing import row, show

MOST = 1.1  # the exponent that is asked
RUNS = 2  # of each call, of which the shorter one counts
RANKED, POOLED = Size(rows=20, queries=4_000), Size(rows=100_000)
JUDGED = ("agreement", "agreement with one", "disagreements")
# What grows, and its three values.
OF_RANKED: dict[str, tuple[int, int, int]] = {
    "rows": (20, 80, 320),
    "queries": (4_000, 16_000, 64_000),
    "systems": (4, 16, 64),
    "segments": (10, 100, 1_000),
    "units": (100, 1_000, 4_000),
}
OF_POOLED: dict[str, tuple[int, int, int]] = {
    "rows": (100_000, 400_000, 1_600_000),
    "systems": (4, 16, 64),
    "segments": (10, 100, 1_000),
    "classes": (50, 200, 800),
    "units": (100, 1_000, 10_000),
}
ANNOTATORS = (10, 40, 160)
# Verbs that have no systems, no segments, no classes, or units.
ALONE = ("bounds", "explain", "curve of cutoffs", "ab_test", "change", "click_judgments", "propensities")
ALONE += ("interleaving", "judge", *JUDGED, "evaluate of scores", "thresholds", "best_threshold", "curve roc")
ALONE += ("curve pr", "per_class", "confusion", "audit of rows", "evaluate of decisions", "report")
WHOLE = ("alpha_ndcg", "click_judgments", "propensities", "interleaving", "compare of saved numbers", "judge", *JUDGED)
PAIRS = ("leaderboard", "summary")  # each two systems are tested
SCORED = ("evaluate of scores", "thresholds", "best_threshold", "curve roc", "curve pr")
WITH_UNITS = ("evaluate", "compare", "ab_test", "change", "sample_size", "evaluate of decisions", "compare of rows")
# Verb and what grows, where the exponent is above what is asked, and why.
KNOWN: dict[tuple[str, str], str] = {
    ("agreement", "annotators"): "each two annotators are a row of the result",
    ("leaderboard", "systems"): "each two systems are tested",
    ("summary", "systems"): "each two systems are tested",
    ("confusion", "classes"): "each two classes are a row of the result",
    ("to_judge", "queries"): "groups of many documents do not stay in the cache",
    ("to_judge, by depth", "queries"): "groups of many documents do not stay in the cache",
    ("to_judge, by depth", "rows"): "groups of many documents do not stay in the cache",
    ("agreement", "rows"): "groups of many documents do not stay in the cache",
    ("agreement", "queries"): "groups of many documents do not stay in the cache",
    ("disagreements", "queries"): "groups of many documents do not stay in the cache",
    ("agreement with one", "rows"): "groups of many documents do not stay in the cache",
    ("alpha_ndcg", "rows"): "judgments of many documents do not stay in the cache",
    ("disagreements", "rows"): "groups of many documents do not stay in the cache",
    ("to_judge, no cutoff", "rows"): "each judgment moves the ideal ranking of its query",
}


def sizes_of(name: str) -> Iterator[tuple[str, list[Size]]]:
    """Yield what may grow in the frames of a verb, with the sizes that are measured."""
    pooled = name in ROWS
    start = replace(POOLED if pooled else RANKED, systems=2 if name in PAIRED else 1)
    if name == "to_judge, no cutoff":
        start = replace(start, queries=100)
    if name in SCORED:
        start = replace(start, ci=name == "evaluate of scores")
    for what, values in (OF_POOLED if pooled else OF_RANKED).items():
        if what == "systems" and name in ALONE:
            continue
        if what == "segments" and (name in WHOLE or name == "explain"):
            continue
        if what == "units" and name not in WITH_UNITS:
            continue
        if what == "classes" and name in SCORED:
            continue
        if what == "queries" and name == "explain":
            continue
        if what == "rows" and name == "compare of saved numbers":
            continue
        if what == "systems" and name in PAIRS:
            values = (4, 8, 16)
        if what == "queries" and name == "to_judge, no cutoff":
            values = (100, 400, 1_600)
        fixed = {} if what != "systems" else {"rows": 10_000} if pooled else {"queries": 500}
        yield what, [replace(start, **fixed, **{what: value}) for value in values]
    if name in JUDGED:
        yield "annotators", [replace(RANKED, rows=10, queries=50, annotators=value) for value in ANNOTATORS]


def seconds_of(call: Callable[[], Any], runs: int) -> float:
    """Return the least seconds of processor time of a call."""
    took = []
    for _ in range(runs):
        begin = time.process_time()
        call()
        took.append(time.process_time() - begin)
    return min(took)


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """Return the slope of the logarithm of the time in that of the size, by least squares."""
    return float(np.polyfit(np.log(sizes), np.log(np.maximum(seconds, 1e-6)), 1)[0])


def few(size: Size) -> Size:
    """Return a small size, to see that everything runs."""
    return replace(size, rows=min(size.rows, 40), queries=min(size.queries, 400), classes=min(size.classes, 5))


def growth(options: argparse.Namespace) -> Iterator[list[str]]:
    """Measure each verb with more of each thing that its frames are made of, and fit the exponent of its time."""
    for name, made in VERBS.items():
        for what, sizes in list(sizes_of(name))[: 1 if options.quick else None]:
            counts, runs = [getattr(size, what) for size in sizes], min(options.runs, RUNS)
            took = [seconds_of(made(few(size) if options.quick else size)[0], runs) for size in sizes]
            slope = exponent(counts, took)
            why = KNOWN.get((name, what))
            case = f"{name}: {what} {', '.join(f'{count:,}' for count in counts)}"
            figures = [", ".join(map(show, took)), f"{what}^{slope:.2f}" + f" ({why})" * (why is not None)]
            yield row("growth", case, counts[-1], figures, max(slope, 0.001), None if why else MOST)
