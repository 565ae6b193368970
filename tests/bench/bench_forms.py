"""Lists, and a column per system, beside the flat log: the part "forms" of the table of bench.py."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from timing import by_turns, row, show

from frame_metrics import IRM

METRICS = ("ndcg@10", "ap", "rr")
SYSTEMS = ("bm25", "dense")


def forms(options: argparse.Namespace) -> Iterator[list[str]]:
    """Measure each form in each library, with text ids, and with documents and without."""
    rows, rng = min(options.rows[0], 1_000_000), np.random.default_rng(5)
    names = pl.Series("doc", rng.permutation(10 * rows)[:rows]).cast(pl.String)
    log = pl.DataFrame({"query": np.arange(rows) // 50}).with_columns(
        ("query " + pl.col("query").cast(pl.String)), names
    )
    log = log.with_columns(pl.Series(name, rng.random(rows)) for name in SYSTEMS)
    log = log.with_columns(grade=pl.Series(rng.integers(0, 4, rows)))
    lists = log.group_by("query", maintain_order=True).agg(pl.all())
    systems = [log.drop(SYSTEMS).with_columns(log[name].alias("score"), system=pl.lit(name)) for name in SYSTEMS]
    one: dict[str, Any] = {"query": "query", "grade": "grade"}
    cases = {
        "lists": (log, lists, one | {"score": "bm25"}, one | {"score": "bm25"}),
        "a column per system": (
            pl.concat(systems),
            log,
            one | {"score": "score", "system": "system"},
            one | {"score": [*SYSTEMS]},
        ),
    }
    for label, (flat, other, known, roles) in cases.items():
        for doc in ("doc", None):
            for library in ("polars", "pandas"):
                frames = [frame if library == "polars" else frame.to_pandas() for frame in (flat, other)]
                irms = [IRM(frame, **own, doc=doc) for frame, own in zip(frames, (known, roles), strict=True)]
                its, ours = by_turns([partial(irm.evaluate, *METRICS) for irm in irms], options.runs)
                case = f"{label}, {library}, {'text ids' if doc else 'no doc'}, beside the flat log"
                yield row("forms", case, len(flat), [show(its), show(ours)], ours / its, 1.5)
