"""Python calls that a small call makes: the package's own, those of other packages, and what travels between modules.

Frames of comprehensions are not counted, since newer Pythons have none. A second call is counted, so that what is
remembered is remembered. Run it alone: ``python tests/bench/bench_calls.py``, with ``--list`` for each function.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import polars as pl

import frame_metrics

PACKAGE = str(Path(frame_metrics.__file__).parent)
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
CALLS: dict[str, Callable[[], Any]] = {
    "evaluate": lambda: KEPT.evaluate("ndcg@10"),
    "irm, evaluate": lambda: ALONE.irm().evaluate("ndcg@10"),
    "judged, evaluate": lambda: JUDGED.evaluate("ndcg@10"),
    "irm, judge, evaluate": lambda: RUN.irm().judge(QRELS).evaluate("ndcg@10"),
    "irm, judge, best_threshold": lambda: RUN.irm().judge(QRELS).best_threshold("f1"),
    "audit": lambda: KEPT.audit(),
    "change": lambda: ARMS.change("ndcg@10"),
}


def counted(call: Callable[[], Any]) -> tuple[Counter[str], int, int]:
    """Return how often each of our functions is called, the calls of others, and the switches between our modules."""
    own: Counter[str] = Counter()
    others = switches = 0
    stack: list[str] = []

    def note(frame: FrameType, event: str, arg: Any) -> None:
        nonlocal others, switches
        code = frame.f_code
        if event == "call":
            if code.co_name in ("<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>"):
                stack.append(stack[-1] if stack else "")
                return
            if code.co_filename.startswith(PACKAGE):
                own[f"{code.co_filename[len(PACKAGE) + 1 :]}:{code.co_qualname}"] += 1
                switches += bool(stack) and stack[-1] != code.co_filename
                stack.append(code.co_filename)
            else:
                others += 1
                stack.append(stack[-1] if stack else "")
        elif event == "return" and stack:
            stack.pop()

    call()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return own, others, switches


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", metavar="CALL", choices=CALLS, help="each function of one call, and how often")
    listed = parser.parse_args().list
    for name, call in CALLS.items():
        if listed in (None, name):
            own, others, switches = counted(call)
            modules = len({one.partition(":")[0] for one in own})
            reach = f"{len(own)} functions, {modules} modules, {switches} switches"
            print(f"{name}: {own.total()} own ({reach}), {others} of others")
            for function, times in own.most_common() if listed else ():
                print(f"  {times:4} {function}")


if __name__ == "__main__":
    main()
