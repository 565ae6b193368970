"""Rows by class: measures of each class against the rest, and the table of true and predicted classes."""

from __future__ import annotations

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.data.cases import Cases
from frame_metrics.data.matching import matched
from frame_metrics.data.segments import crossed, segments
from frame_metrics.errors import NotComputableError
from frame_metrics.inputs import Confusion, Scores
from frame_metrics.metrics.names import Asked
from frame_metrics.roles.conventions import Conventions
from frame_metrics.verbs.pooled import Source, check_cases, each_class, filled, key_rows, source_of
from frame_metrics.verbs.tidy import number, whole


def by_class(cases: Cases, asked: Asked, conventions: Conventions) -> Answer:
    """Return one row per segment, class and metric."""
    check_cases(asked, cases, conventions, "macro")
    for name, metric in asked:
        if metric.input not in (Confusion, Scores):
            raise NotComputableError(f"{name} is of all classes together, and of none alone; evaluate() has it")
    system, by = cases.keys
    source = source_of(cases, [*system, *by], conventions)
    if cases.binary and any(metric.input is Scores for _, metric in asked):
        raise NotComputableError("scores of two classes rank one of them; evaluate() has their metrics")
    if cases.classes is None:
        raise NotComputableError("the classes have no names")
    raw = np.stack([each_class(source, metric, conventions) for _, metric in asked])  # metrics, classes, segments
    inputs = [source.by_class if metric.input is Scores else source.table for _, metric in asked]
    seen = np.stack([np.zeros((0, 0)) if one is None else one.seen.T for one in inputs])
    value = np.stack([filled(name, m, r, s, conventions) for (name, m), r, s in zip(asked, raw, seen, strict=True)])
    keep = seen.transpose(2, 1, 0).ravel().astype(bool) & np.repeat(source.of.n > 0, len(asked) * cases.k)
    at = np.flatnonzero(keep)
    segment, rest = np.divmod(at, cases.k * len(asked))
    c, m = np.divmod(rest, len(asked))
    keys = {name: rows[segment] for name, rows in key_rows(cases, [source])[0].items()}
    names = pl.Series([name for name, _ in asked], dtype=pl.String)
    columns = {
        "class": cases.classes.gather(c),
        "metric": names.gather(m),
        "value": number(value.transpose(2, 1, 0).ravel()[at]),
        "n": whole(source.of.n[segment]),
        "n_undefined": whole(np.isnan(raw.transpose(2, 1, 0).ravel()[at])),
    }
    return Answer(keys, columns)


def confusions(cases: Cases, conventions: Conventions) -> Answer:
    """Return one row per segment and pair of a predicted and a true class, zeros included."""
    system, by = cases.keys
    of = segments(cases, [*system, *by])
    if cases.classes is None:
        raise NotComputableError("the classes have no names")
    counts = crossed(cases, of)[0]  # segments, actual, predicted
    values = cases.classes if cases.found is None else cases.found
    silent = counts[:, :, -1].any()
    if not silent:
        counts = counts[:, :, :-1]
    n, k, width = counts.shape
    segment, rest = np.divmod(np.arange(n * k * width), k * width)
    said, true = np.divmod(rest, k)
    names = values.extend_constant(None, 1) if silent else values
    columns = {"predicted": names.gather(said)}
    if conventions.match is not None:
        full = counts if silent else np.concatenate([counts, np.zeros((n, k, 1))], axis=2)
        taken = np.column_stack([matched(full, conventions.match)[1], np.full((n, 1), -1)])
        at = pl.Series(taken[segment, said])
        columns["matched"] = cases.classes.gather(at.set(at < 0, None))
    amounts = counts[segment, true, said]
    columns |= {"actual": cases.classes.gather(true), "n": number(amounts) if cases.weighted else whole(amounts)}
    keys = key_rows(cases, [Source(cases, of, None, None)])[0]
    return Answer({name: rows[segment] for name, rows in keys.items()}, columns)
