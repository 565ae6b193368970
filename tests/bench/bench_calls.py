"""The time of small calls, the Python calls that each makes, and the walk of a reader who follows it.

Frames of comprehensions are not counted, since newer Pythons have none. A second call is counted, so that what is
remembered is remembered. The time is the least of many, as other work of the machine only adds to it. A reader reads
each function once, where it is first called: a return is a file that was left before, a climb a function in a file that
imports the file of its caller. Run it alone:
``python tests/bench/bench_calls.py``, with ``--list`` for each function, in the order of the walk.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from timeit import repeat
from types import FrameType
from typing import Any

import polars as pl

import frame_metrics

PACKAGE = Path(frame_metrics.__file__).parent
COMPREHENSIONS = ("<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>")
LOG = pl.DataFrame(
    {
        "query": [1, 1, 1, 2, 2, 2],
        "doc": ["a", "b", "c", "a", "b", "c"],
        "score": [3.0, 2.0, 1.0, 3.0, 2.0, 1.0],
        "grade": [0, 1, 2, 1, 0, 0],
        "system": ["x", "x", "x", "y", "y", "y"],
    }
)
ALONE, RUN, QRELS = LOG.drop("system", "doc"), LOG.select("query", "doc", "score"), LOG.select("query", "doc", "grade")
KEPT, JUDGED, ARMS = ALONE.irm(), RUN.irm().judge(QRELS), LOG.irm(arm="system")
OTHER = LOG.with_columns(score=-pl.col("score"), system=pl.col("system").reverse())
SYSTEMS = pl.concat([LOG, OTHER]).irm(system="system")
CALLS: dict[str, Callable[[], Any]] = {
    "evaluate": lambda: KEPT.evaluate("ndcg@10"),
    "evaluate rr": lambda: KEPT.evaluate("rr"),
    "per_query": lambda: KEPT.per_query("ndcg@10"),
    "compare": lambda: SYSTEMS.compare("ndcg@10"),
    "irm, evaluate": lambda: ALONE.irm().evaluate("ndcg@10"),
    "judged, evaluate": lambda: JUDGED.evaluate("ndcg@10"),
    "irm, judge, evaluate": lambda: RUN.irm().judge(QRELS).evaluate("ndcg@10"),
    "irm, judge, best_threshold": lambda: RUN.irm().judge(QRELS).best_threshold("f1"),
    "audit": lambda: KEPT.audit(),
    "change": lambda: ARMS.change("ndcg@10"),
}


@dataclass
class Counted:
    """What a call calls."""

    own: Counter[tuple[str, str]] = field(default_factory=Counter)  # by file and function, in order of the first calls
    callers: dict[tuple[str, str], str] = field(default_factory=dict)  # the file that first calls each function
    others: int = 0  # calls of other packages
    deepest: int = 0

    @property
    def files(self) -> list[str]:
        """The file of each function."""
        return [file for file, _ in self.own]

    @property
    def returns(self) -> int:
        """Number of times that a file is opened again, after another one."""
        return sum(file != last and file in self.files[:at] for at, (last, file) in enumerate(pairwise(self.files), 1))

    @property
    def climbs(self) -> set[tuple[str, str]]:
        """The functions in a file that imports the file that calls them."""
        return {one for one, caller in self.callers.items() if one[0] != caller and caller in imported(one[0])}


def counted(call: Callable[[], Any]) -> Counted:
    """Return what the second of two calls calls."""
    found, stack = Counted(), [""]

    def note(frame: FrameType, event: str, arg: Any) -> None:
        code = frame.f_code
        inside = code.co_filename.startswith(str(PACKAGE)) and code.co_name not in COMPREHENSIONS
        if event == "call" and inside:
            file = str(Path(code.co_filename).relative_to(PACKAGE))
            found.own[file, code.co_qualname] += 1
            found.callers.setdefault((file, code.co_qualname), stack[-1])
            stack.append(file)
            found.deepest = max(found.deepest, len(stack) - 1)
        elif event == "call":
            found.others += code.co_name not in COMPREHENSIONS
        elif event == "return" and inside:
            stack[1:] = stack[1:-1]

    call()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found


@cache
def imported(file: str) -> set[str]:
    """Return the files that a file imports, and those that these import."""
    found, left = set[str](), [file]
    while left:
        for node in ast.walk(ast.parse((PACKAGE / left.pop()).read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("frame_metrics"):
                folder = PACKAGE.joinpath(*str(node.module).split(".")[1:])
                paths = [folder.with_suffix(".py"), *(folder / f"{alias.name}.py" for alias in node.names)]
                new = {str(path.relative_to(PACKAGE)) for path in paths if path.exists()} - found
                found |= new
                left += new
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", metavar="CALL", choices=CALLS, help="each function of one call, and how often")
    listed = parser.parse_args().list
    for name, call in CALLS.items():
        if listed in (None, name):
            found = counted(call)
            reach = f"{len(found.own)} functions, {len({*found.files})} files, depth {found.deepest}"
            walk = f"{found.returns} returns, {len(found.climbs)} climbs"
            time = min(repeat(call, number=1, repeat=200)) * 1e6
            print(f"{name}: {time:.0f} µs, {found.own.total()} own ({reach}, {walk}), {found.others} of others")
            for (file, function), times in found.own.items() if listed else ():
                print(f"  {times:4} {file}:{function}{', a climb' if (file, function) in found.climbs else ''}")


if __name__ == "__main__":
    main()
