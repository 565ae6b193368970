"""The units in which an audit counts, from the declarations of its checks."""

from __future__ import annotations

import polars as pl

from frame_metrics.roles.columns import Columns
from frame_metrics.verbs.audit.checks import cells_in_words
from frame_metrics.verbs.audit.listed import CHECKS

UNIT_OF_CHECK = {check.name: check.unit for check in CHECKS}


def with_units(audit: pl.DataFrame, columns: Columns) -> pl.DataFrame:
    """Add a column "unit" to the result of ``audit``: the word for the things that n counts, in the plural.

    Parameters
    ----------
    columns : the columns of the audited frame.
    """
    words = {**cells_in_words(columns), "word": columns.cluster or ("queries" if columns.query else "rows")}
    units = [
        # Bad values have no check, but a name as "scores that are NaN".
        UNIT_OF_CHECK[name].format(**words) if name in UNIT_OF_CHECK else name.partition(" that ")[0]
        for name in audit["check"]
    ]
    return audit.with_columns(pl.Series("unit", units, dtype=pl.String))
