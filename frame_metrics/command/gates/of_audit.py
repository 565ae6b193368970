"""Gates on the findings of an audit."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import polars as pl

from frame_metrics.backends.display import printable
from frame_metrics.command.gates.outcomes import Outcome
from frame_metrics.errors import FrameMetricsError, UnknownNameError

BOUND = "queries without judgments=2%"  # an example of what an audit may find


def check_bounds(fail_on: Any) -> None:
    """Raise for what is no severity, no check of an audit, or no bound, before anything is read."""
    from frame_metrics.verbs.audit.gate import gate_of

    try:
        gate_of(fail_on)
    except FrameMetricsError as error:
        message = str(error).replace("fail_on: ", "--fail-on: ", 1)
        if isinstance(fail_on, str) or isinstance(error, UnknownNameError):
            message += f" (pass a check with its limit, CHECK=LIMIT, as {BOUND!r})"
        raise type(error)(message) from None


def grave(result: pl.DataFrame, fail_on: Any) -> Iterator[Outcome]:
    """Check the findings of an audit against the gate; a named check without a finding is an outcome too."""
    from frame_metrics.verbs.audit.gate import bound_in_words, gate_of  # takes a while, and other commands do without

    gate = gate_of(fail_on)
    rows = [SimpleNamespace(**row) for row in result.iter_rows(named=True)]
    failed = {id(row): bound for row, bound in gate.failed(rows)}
    for row in rows:
        if row.severity != "fact" or row.check in gate.bounds:
            bound = bound_in_words(failed[id(row)]) if id(row) in failed else ""
            example = f" ({row.example})" if row.example else ""
            text = f"{row.severity}: {row.check}: {row.n}{bound}{example}; {row.message}"
            yield Outcome(row.check, printable(text), id(row) in failed)
    for name in gate.unmet(rows):
        yield Outcome(name, f"{name}: 0", False)
