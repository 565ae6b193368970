"""A DuckDB relation with more than is needed, beside one without: the part "backends" of the table of bench.py."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from timing import apart, by_turns, row, show, status

NEEDED = "i // 100 as query, hash(i) / 2.0**64 as score, (hash(i + 1) % 13 = 0)::int as grade"
TEXT = "repeat(md5(i::text), 8) as text"  # 256 letters
RELATIONS = {  # what is measured, and what it is compared with
    "an unused column of 256 letters": ("select * from log", "select query, score, grade from log"),
    "sorted by score": (
        "select * from log order by query, score desc",
        "select query, score, grade from log order by query, score desc",
    ),
}


def left_out_backends() -> dict[str, str]:
    """Return that nothing can be measured, and why."""
    lacking = "DuckDB is not installed" if not find_spec("duckdb") else ""
    lacking = lacking or ("" if Path("/proc/self/clear_refs").exists() else "memory is read from /proc")
    return {"backends": lacking} if lacking else {}


def evaluated(relation: Any) -> Callable[[], Any]:
    """Return the call that is measured."""
    import frame_metrics

    return lambda: frame_metrics.IRM(relation).evaluate("ndcg@10", "ap", "rr")


def measured(query: str, rows: int, runs: int) -> tuple[float, int]:
    """Return the seconds that evaluating a relation takes, and the bytes that the first time adds to the process."""
    import duckdb

    with duckdb.connect() as con:
        con.execute(f"create table log as select {NEEDED}, {TEXT} from range({min(rows, 1000)}) t(i)")
        evaluated(con.sql(query))()
        con.execute("drop table log")
        con.execute(f"create table log as select {NEEDED}, {TEXT} from range({rows}) t(i)")
        call = evaluated(con.sql(query))
        Path("/proc/self/clear_refs").write_text("5")  # lets the peak begin anew
        before = status("VmHWM:")
        call()
        grown = status("VmHWM:") - before
        return by_turns([call], runs)[0], grown


def backends(options: argparse.Namespace) -> Iterator[list[str]]:
    """Measure relations, each in a process of its own, but not in a quick run."""
    rows = min(options.rows[0], 1_000_000)
    for label, queries in RELATIONS.items():
        ours, bare = (apart(measured, query, rows, options.runs, here=options.quick) for query in queries)
        figures = [f"{show(seconds)}, {grown / 1e6:,.0f} MB (projected)" for seconds, grown in (bare, ours)]
        figures[1] = figures[1].removesuffix(" (projected)")
        yield row("backends", f"DuckDB, {label}", rows, figures, ours[0] / bare[0], 1.2)
