"""The units in which an audit counts, from the declarations of its checks."""

from __future__ import annotations

import polars as pl

from frame_metrics.report.words import units_in_words
from frame_metrics.roles.columns import Columns
from frame_metrics.verbs.audit.checks import cells_in_words
from frame_metrics.verbs.audit.listed import CHECKS

UNIT_OF_CHECK = {check.name: check.unit for check in CHECKS}


def with_units(audit: pl.DataFrame, columns: Columns) -> pl.DataFrame:
    """Add a column "unit" to the result of ``audit``: the word for the things that n counts, in the plural."""
    unit = "queries" if columns.query else "rows"
    word = units_in_words(columns.cluster)[1] if columns.cluster else unit
    words = {**cells_in_words(columns), "units": unit, "word": word}
    units = [
        # Bad values have no check, but a name as "scores that are NaN".
        UNIT_OF_CHECK[name].format(**words) if name in UNIT_OF_CHECK else name.partition(" that ")[0]
        for name in audit["check"]
    ]
    return audit.with_columns(pl.Series("unit", units, dtype=pl.String))


def without_unit(message: str) -> str:
    """Return the message of a finding without the unit of its count, which stands beside it."""
    return message.partition(" (n counts")[0]
