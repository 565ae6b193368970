"""The best and worst queries of a report, and those on which systems differ most, with their results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from frame_metrics.inputs import FullConfusion, FullRanking
from frame_metrics.report.calls import Calls
from frame_metrics.report.cells import sign_of
from frame_metrics.report.chosen_rows import foremost
from frame_metrics.report.content import SYSTEMS, Content, Ranked, SingleQueries

QUANTILES = ("min", "q0.1", "q0.25", "median", "q0.75", "q0.9", "max")
RESULTS, MISSED = 10, 5  # the most results of a query that are shown, and the most documents that it did not find


def queries_added(content: Content, work: Calls, queries: int, call: Any) -> Content:
    """Add to a report the values and quantiles of the first metric over queries, and the best and worst queries."""
    if not content.query:
        return content
    irm, names = work.irm, work.metrics_to_pass(content.first)
    values = work.tried("queries", lambda: irm.per_query(*names))
    if values is None:
        return content
    values, spread = content.of_first(values), None  # no quantiles if queries have weights, which these would ignore
    if not irm.roles.get("weight"):
        whole = work.all_segments(content)
        spread = work.tried("quantiles", lambda: whole.evaluate(*names, average=[*QUANTILES]))
        spread = None if spread is None else content.of_first(spread)
    defined = values.with_columns(pl.when(~pl.col("undefined")).then("value"))
    chosen = _extremes(content, defined, queries)
    undefined = defined["value"].null_count()
    content = replace(content, queries=SingleQueries(values, spread, chosen, undefined=undefined))
    if call is None or not chosen:
        return content
    sides = iter(_with_results(content, work, call, [side for pair in _duels(content) for side in pair]))
    duels = [pair for pair in zip(sides, sides, strict=True) if pair[0].explained and pair[1].explained]
    extremes = _with_results(content, work, call, chosen)
    return replace(content, queries=replace(content.queries, extremes=extremes, duels=duels))


def _duels(content: Content) -> list[tuple[Ranked, Ranked]]:
    """Return the queries on which two systems of the frame differ most, each as a pair with one side per system."""
    found = []
    for pair in content.pairs.moved():
        keys = content.keys_of(pair)
        for row in pair.iter_rows(named=True):
            sides = ((row.get(str(content.system)), row["value"]), (row["baseline"], row["baseline_value"]))
            if row["baseline"] in content.places:
                ours, theirs = (Ranked(one, "moved", {name: row[name] for name in keys}, value) for one, value in sides)
                found.append((ours, theirs))
    return found


def _extremes(content: Content, values: pl.DataFrame, n: int) -> list[Ranked]:
    """Return the worst and best queries of each system; none is both, and one without a value is neither."""
    if not n or not sign_of(content.first):
        return []
    known, found = values.drop_nulls("value"), []
    parts = known.partition_by(content.system, maintain_order=True) if content.system else [known]
    systems = [part[content.system][0] if content.system else None for part in parts]
    for at in foremost(systems, content.places, SYSTEMS):
        rows = parts[at].sort(pl.col("value") * sign_of(content.first), maintain_order=True)
        worst = rows.head(min(n, (len(rows) + 1) // 2))
        best = rows.tail(min(n, len(rows) // 2)).reverse()
        for kind, some in (("worst", worst), ("best", best)):
            keys = some.select(*content.by, *content.query).iter_rows(named=True)
            found += [Ranked(systems[at], kind, *one) for one in zip(keys, some["value"], strict=True)]
    return found


def _with_results(content: Content, work: Calls, call: Any, chosen: list[Ranked]) -> list[Ranked]:
    """Add to queries their rows from explain(), for the first metric that it can take apart."""
    taken = [(name, metric) for name, metric in content.asked if metric.input in (FullRanking, FullConfusion)]
    columns = call.plan.columns
    if not chosen or not taken or not (columns.score or columns.rank) or set(columns.shape.made) & {*content.query}:
        return chosen
    small = _small(content, work.irm, call, chosen)
    return [_explained(one, content, work, small, [name for name, _ in taken]) for one in chosen]


def _explained(one: Ranked, content: Content, work: Calls, small: Any, names: Sequence[str]) -> Ranked:
    """Add to a query its rows from explain() for the first metric that it can take apart; without one, add nothing."""
    value = [one.keys[name] for name in content.query]
    for name in names:
        ranks = work.quietly(small.explain, name, query=value[0] if len(value) == 1 else value)
        if ranks is None:
            continue
        keys = {**one.keys, **({content.system: one.system} if content.system else {})}
        same = [pl.col(key).eq_missing(pl.Series([its], dtype=ranks.schema[key])) for key, its in keys.items()]
        ranks = ranks.filter(*same)
        ranked, missed = (ranks.filter(pl.col("rank").is_null() == null) for null in (False, True))
        results = pl.concat([ranked.head(RESULTS), missed.head(MISSED)]).drop(*content.keys)
        return replace(one, results=results, more=len(ranks) - len(results), explained=name)
    return one


def _small(content: Content, irm: Any, call: Any, chosen: Sequence[Ranked]) -> Any:
    """Return an irm of only the queries that are shown, with their judgments, so that the frame is read once."""
    judged = call.judgment_columns
    names = [*chosen[0].keys]
    theirs = {} if judged is None else dict(zip(content.query, judged.query, strict=True))
    theirs |= {} if judged is None else {name: name for name in judged.by if name in names}
    types = {} if content.queries.values is None else {name: content.queries.values.schema[name] for name in names}
    keys = pl.DataFrame([one.keys for one in chosen], schema=types)

    def rows_of(backend: Any, columns: Sequence[str], called: Mapping[str, str]) -> pl.DataFrame:
        named = keys.select(pl.col(name).alias(to) for name, to in called.items())
        return backend.rows_of(columns, named.unique())

    # rel= is kept, since the grades of some queries may not show the scale of all.
    rel = {"rel": call.conventions.rel} if "rel" not in irm.roles and call.plan.columns.grade else {}
    own = {name: name for name in names if name in call.plan.available}
    small = type(irm)(rows_of(call.plan.backend, call.plan.columns.needed, own), **{**irm.roles, **rel})
    return (
        small
        if judged is None
        else small.judge(rows_of(call.judgments_backend, call.to_read, theirs), **irm._judgments[1])
    )
