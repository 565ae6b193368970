"""Compare the times of two states of the package: ``python tests/bench/bench_trees.py OLD NEW``, two folders.

Each state runs in a process of its own, and the two take turns. One pair of processes may differ by a third from the
next, whatever they run: so pairs are counted, and the figure is the median over pairs of the ratio of medians.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

SMALL, LONG = 50, 0.3  # times that a small call is repeated; seconds from which a call runs three times less often


def sizes() -> dict[str, tuple[str, dict[str, Any], int]]:
    """Return the calls by name: a verb of ``every_verb.py``, the size of its frames, and how often it is repeated."""
    from every_verb import PAIRED, ROWS, VERBS

    of: dict[str, tuple[str, dict[str, Any], int]] = {}
    for name in VERBS:
        systems = 2 if name in PAIRED else 1
        large = {"rows": 400_000} if name in ROWS else {"rows": 50, "queries": 400_000 // 50 // systems}
        of[name] = (name, {**large, "systems": systems}, 1)
    of["evaluate, ten rows"] = ("evaluate", {"rows": 5, "queries": 2}, SMALL)
    of["compare, forty rows"] = ("compare", {"rows": 5, "queries": 4, "systems": 2}, SMALL)
    of["compare, four systems"] = ("compare", {"rows": 50, "queries": 2_000, "systems": 4}, 1)
    of["evaluate with intervals"] = ("evaluate", {"rows": 50, "queries": 8_000, "ci": True}, 1)
    return of


def serve() -> None:
    """Time a call for each line of the input that names one, and print its seconds, of the clock and the processor.

    Where a state has no such call, null is printed.
    """
    from every_verb import VERBS, Size

    made: dict[str, Any] = {}
    for line in sys.stdin:
        verb, size, repeats = sizes()[line.strip()]
        call = made.get(line) or made.setdefault(line, VERBS[verb](Size(**size))[0])
        begin = time.perf_counter(), time.process_time()
        try:
            for _ in range(repeats):
                call()
        except (AttributeError, TypeError):
            print("null", flush=True)
            continue
        end = time.perf_counter(), time.process_time()
        print(json.dumps([(b - a) / repeats for a, b in zip(begin, end, strict=True)]), flush=True)


def started(tree: Path) -> subprocess.Popen[str]:
    """Start a process that has the package of a folder, and waits for names of calls."""
    environment = os.environ | {"PYTHONPATH": str(tree.resolve())}
    command = [sys.executable, __file__, "--serve"]
    return subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def asked(process: subprocess.Popen[str], name: str) -> list[float] | None:
    """Return the seconds of a call in a process; None if it has no such call."""
    print(name, file=process.stdin, flush=True)
    return json.loads(process.stdout.readline())  # type: ignore[union-attr, no-any-return]


def pair(trees: Sequence[Path], name: str, runs: int) -> list[list[float]]:
    """Return the median seconds of a call in each tree, of the clock and of the processor; [] if one lacks the call."""
    both = [started(tree) for tree in trees]
    begin = [asked(process, name) for process in both]  # the first call does not count
    runs = max(runs // 3, 2) if all(first and first[0] > LONG for first in begin) else runs
    took: list[list[Any]] = [[], []]
    for turn in range(runs if all(begin) else 0):
        for i in (0, 1) if turn % 2 == 0 else (1, 0):
            took[i].append(asked(both[i], name))
    for process in both:
        process.communicate()
    return [[median(values) for values in zip(*one, strict=True)] for one in took if one]


def compared(trees: Sequence[Path], names: Sequence[str], pairs: int, runs: int) -> Iterator[str]:
    """Yield a line for each call: its milliseconds in both trees, and the ratio of the clock and of the processor."""
    for name in names:
        found = [pair(trees, name, runs) for _ in range(pairs)]
        if not all(found):
            yield f"{name:28s} is not in both"
            continue
        old, new = (median(one[i][0] for one in found) * 1e3 for i in (0, 1))
        clock, processor = (median(one[1][i] / one[0][i] for one in found) for i in (0, 1))
        yield f"{name:28s} {old:9.2f} ms {new:9.2f} ms   clock {clock:.3f}   processor {processor:.3f}"


def main() -> None:
    """Read the options, and print the lines; or answer the process that does."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trees", nargs="*", type=Path, metavar="FOLDER", help="the old and the new state")
    parser.add_argument("--only", default="", help="calls whose names have this")
    parser.add_argument("--pairs", type=int, default=5, help="pairs of processes for each call")
    parser.add_argument("--runs", type=int, default=7, help="calls in each process")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve()
        return
    if len(options.trees) != 2:
        parser.error("expected two folders, the old and the new state")
    names = [name for name in sizes() if options.only in name]
    for line in compared(options.trees, names, options.pairs, options.runs):
        print(line, flush=True)


if __name__ == "__main__":
    main()
