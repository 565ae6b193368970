"""What judgments from clicks cost: the part "clicks" of the table that bench.py prints."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial

import numpy as np
import polars as pl
from timing import by_turns, row, show

import frame_metrics  # noqa: F401 - gives frames their accessor

SHOWN, FOUND = 10, 20  # documents that an impression shows, of those that are found for its text
ASKED_AGAIN = 100  # impressions of a text


def clicked(rows: int, ids: str) -> pl.DataFrame:
    """Build impressions in the order in which they were shown; one of ten results is clicked."""
    rng = np.random.default_rng(0)
    n = rows // SHOWN
    text = rng.integers(0, max(n // ASKED_AGAIN, 1), n)
    doc = text[:, None] * FOUND + rng.permuted(np.tile(np.arange(FOUND), (n, 1)), axis=1)[:, :SHOWN]
    log = pl.DataFrame(
        {
            "search": np.repeat(np.arange(n), SHOWN),
            "text": np.repeat(text, SHOWN),
            "doc": doc.ravel(),
            "rank": np.tile(np.arange(SHOWN) + 1, n),
            "clicked": rng.random(n * SHOWN) < 0.1,
        }
    )
    named = [pl.format("id {}", name).alias(name) for name in ("text", "doc")]
    return log if ids == "int" else log.with_columns(named)


def clicks(options: argparse.Namespace) -> Iterator[list[str]]:
    """Measure COEC against the clicks and impressions of each text and document, counted by polars."""
    for ids in ("int", "str"):
        log = clicked(next((rows for rows in options.rows if rows >= 10**7), options.rows[-1]), ids)
        bare = partial(log.group_by("text", "doc").agg, pl.len(), pl.sum("clicked"))
        irm = log.irm(query="search", rank="rank", label="clicked")
        its, own = by_turns([bare, partial(irm.click_judgments, "coec", query_text="text")], options.runs)
        figures = [f"{show(its)} (group_by text, doc)", show(own)]
        yield row("clicks", f'click_judgments("coec"), {ids} ids, polars', len(log), figures, own / its, 3)
