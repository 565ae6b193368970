"""The options of a verb as a call sets them: names of systems, and of queries, have the types of their columns."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from frame_metrics.command.call import WITH_FIRST
from frame_metrics.command.commands import options_of, verb_of
from frame_metrics.command.files import reading
from frame_metrics.command.frames import Frames
from frame_metrics.command.options import alone, literal
from frame_metrics.command.periods import sides_of
from frame_metrics.errors import BadValueError, listed
from frame_metrics.roles.columns import PER_SYSTEM

NUMBERS, BETWEEN = re.compile(r"\d*\.?\d+"), ":/,-% "  # shares, and what is between them
FEW_RESAMPLES = 100  # where only errors are looked for


def options_of_verb(frames: Frames) -> dict[str, Any]:
    """Return the options of the verb that are set."""
    call, set_options = frames.call, frames.call.set_options
    parameters, split = {option.name: option.parameter for option in verb_of(call.name)}, set_options.get("split")
    first = call.compares_files and frames.before is None and call.name in WITH_FIRST
    files = dict(zip(call.arguments[0], reading.file_names(call.arguments[0]), strict=True))
    named = reading.each(call.gate_on_arm or set_options.get("baseline"))
    named = [files.get(one, one) if call.compares_files else one for one in named]
    columns = next((one for role in PER_SYSTEM if isinstance(one := call.roles.get(role), list)), [])
    pair = columns if call.name == "compare" and frames.before is None and len(columns) == 2 else []
    if "since" in set_options:
        pair = [sides_of(set_options["since"])[0]] if "baseline" in options_of(call.name) else []
    baseline = named or (list(files.values())[:1] if first else pair[:1])
    given = {parameters[name]: value for name, value in set_options.items() if name in parameters}
    if frames.only_checked and "resamples" in parameters:
        given["resamples"] = FEW_RESAMPLES
    if "query_id" in parameters:
        given["query"] = _query(frames, reading.each(set_options["query_id"]))
    if baseline:
        given["baseline"] = alone(_in_column_type(frames, baseline))
    if "margin" in set_options:
        given["margin"] = set_options["margin"]
    if isinstance(given.get("test"), str):
        from frame_metrics.verbs.compare.options import TEST_ALIASES  # which takes a while; few commands need it

        given["test"] = TEST_ALIASES.get(given["test"].lower(), given["test"])
    if split is not None:
        given["split"] = _by_arm(frames, split) if isinstance(split, dict) else _of_shares(frames, split)
    return given


def _of_shares(frames: Frames, split: str) -> str:
    """Return "equal" for equal shares of all arms, as 50:50, and a text without numbers as it is; raise for others."""
    arm, numbers = frames.call.roles.get("arm"), NUMBERS.findall(split)
    if len(numbers) < 2 or NUMBERS.sub("", split).strip(BETWEEN):
        return split
    arms = numbers  # where no column of them is known, which is another error
    if isinstance(arm, str) and arm in frames.log.collect_schema():
        arms = frames.log.select(pl.col(arm).cast(pl.String).drop_nulls().unique().sort()).collect()[arm].to_list()
    if len(arms) != len(numbers):
        raise BadValueError(f"--split {split}: {len(numbers)} shares, and {arm} has {listed(arms)}")
    shares = [float(one) for one in numbers]
    if len({*shares}) > 1:
        pairs = zip(arms, shares, strict=True)
        flags = " ".join(f"--split {shlex.quote(f'{one}={share / sum(shares):.6g}')}" for one, share in pairs)
        raise BadValueError(f"--split {split}: which arm has which share is not said; name each, as {flags}")
    return "equal"


def _by_arm(frames: Frames, split: Mapping[str, Any]) -> dict[Any, Any]:
    """Return the shares of ``--split`` by arm, with the names of arms in the type of their column."""
    arms = _in_column_type(frames, split)
    if twice := [name for name, arm in zip(split, arms, strict=True) if arms.count(arm) > 1]:
        raise BadValueError(f"--split: {listed(twice)} are one arm; pass it once")
    return dict(zip(arms, split.values(), strict=True))


def _query(frames: Frames, ids: Sequence[str]) -> Any:
    """Return the value of a query, or of several, in the type of its column; a tuple if several columns make it."""
    columns, types = reading.each(frames.call.roles.get("query", "query")), frames.log.collect_schema()
    if len(columns) > 1:
        if len(ids) % len(columns):
            raise _part_of_query(frames, ids, columns)
        texts = [ids[at : at + len(columns)] for at in range(0, len(ids), len(columns))]
        kinds = [types.get(column) for column in columns]
        return alone([tuple(map(_in_type, one, kinds)) for one in texts])
    return alone([_in_type(one, types.get(columns[0])) for one in ids])


def _part_of_query(frames: Frames, ids: Sequence[str], columns: Sequence[str]) -> BadValueError:
    """Return the error about ids of some of the columns of a query, with the first query that has them."""
    rows = frames.log.select(pl.col(columns).cast(pl.String)).unique(maintain_order=True)
    found = rows.filter(pl.any_horizontal(pl.col(columns) == one) for one in ids).collect()
    problem = f"--query-id {' '.join(map(shlex.quote, ids))}: a query has a value for each of {listed(columns)}"
    if found.is_empty():
        return BadValueError(f"{problem}, one after the other, and none has this one")
    first = [*found.row(0)]
    flags = " ".join(f"--query-id {shlex.quote(one)}" for one in first)
    return BadValueError(f"{problem}, and {len(found):,} have this one; pass {flags}").offering(query_id=first)


def _in_column_type(frames: Frames, systems: Iterable[Any]) -> list[Any]:
    """Return names of systems, or arms, in the type of their column: the texts may be numbers and truth values."""
    column = next((name for role in ("arm", "team", "system") if (name := frames.call.roles.get(role))), None)
    kind = frames.log.collect_schema().get(str(column))
    return [_in_type(one, kind) for one in systems]


def _in_type(text: Any, kind: Any) -> Any:
    """Return a value of the command line in the type of a column: texts may be numbers and truth values."""
    return literal(str(text)) if kind is not None and (kind.is_numeric() or kind == pl.Boolean) else text
