"""The commands that are meant by what readers type first."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from frame_metrics.command.commands import COMMANDS, options_of
from frame_metrics.command.front import PROGRAM
from frame_metrics.command.named_metrics import is_metric
from frame_metrics.command.other_names import (
    ABSENT,
    N_NEAREST,
    OTHER_NAMES,
    RATE_ALONE,
    SAY_THE_SAME,
    TRIED,
    Way,
)
from frame_metrics.command.whole import is_input, line, with_before
from frame_metrics.metrics.names import read_text

# Numbers that readers name for the size of a sample, and what is taken where one is not there.
OF_RATES = {
    **dict.fromkeys(("--baseline", "--rate", "--baseline-rate", "--base-rate", "--p", "--conversion", "--p1"), "rate"),
    **dict.fromkeys(("--mde", "--detect", "--effect", "--delta", "--lift", "--difference"), "detect"),
    "--power": "power",
    **dict.fromkeys(("--alpha", "--significance"), "alpha"),
    **dict.fromkeys(("--ci", "--confidence"), "ci"),
}
USUAL = {"rate": "", "power": "0.8", "alpha": "0.05"}
LIKE = 0.75  # how alike the name of a command is that was meant


def meant(arguments: Sequence[str]) -> list[str]:
    """Return arguments in which another name of a command is ours, with the metrics that it stands for."""
    name, *rest = arguments
    plain = name if name in COMMANDS else name.lower().replace("_", "-")
    command, *metrics = OTHER_NAMES.get(plain, plain if plain in COMMANDS else name).split(" ")
    return [command, *rest, *(word for metric in metrics for word in ("--metric", metric))]


def call_of_metric(arguments: Sequence[str]) -> list[str]:
    """Return the files and options that a metric was named before, with the command that computes it.

    Clicks before metrics are what these are computed of.
    """
    metric, *rest = arguments
    pairs = all(one.input.__name__ == "TwoRankings" for _, one in read_text(metric))
    only_data = metric.lower() == "clicks" and {"-m", "--metric", "--metrics"} & {*rest}
    return ["similarity" if pairs else "evaluate", *rest, *([] if only_data else ["--metric", metric])]


def without_log(named: Mapping[str, Any]) -> str:
    """Return what sample-size needs beside numbers, and how many users arms with a rate need; ``named``: by flag."""
    given = {
        OF_RATES.get(flag): value[0] if isinstance(value, list) else value for flag, value in named.items() if value
    }
    try:
        rate, power, level = (float(given.get(name, usual)) for name, usual in USUAL.items())
        other = rate + float(given["detect"])
    except (KeyError, ValueError):
        return RATE_ALONE
    level = float(given["ci"]) if "ci" in given else 1 - level
    if not (0 < rate < 1 and 0 < other < 1 and rate != other and 0 < power < 1 and 0 < level < 1):
        return RATE_ALONE
    from frame_metrics.verbs.compare.sample_size import users_of_rates  # which takes a while

    needed = users_of_rates(rate, other, power, level)
    return (
        f"{RATE_ALONE}. Two arms, each user counted once, as bought or not: {needed:,} users in each show "
        f"{other:g} against {rate:g} with a chance of {power:g}, at the level {1 - level:g}"
    )


def unknown_command(arguments: Sequence[str]) -> str:
    """Return the error about the name of a command that does not exist, with the whole commands that it may mean."""
    name, *rest = arguments
    problem, ways = f"there is no command {name!r}", TRIED.get(name.lower().replace("_", "-"), ())
    rest = rest[1:] if rest[:1] in (["save"], ["create"], ["set"]) else rest  # as baseline save
    if ways:
        lines = [_line_of(way, rest) for way in ways if way.typed is not None]
        lines = lines[: 1 if {"-o", "--output", "--out"} & {*rest} else None]  # which would write one file twice
        told = f"{problem}; it is {', or '.join(way.text for way in ways)}"
        return "\n".join([told, *filter(None, dict.fromkeys(lines))])
    if name.lower() in ABSENT:
        return f"{problem}: {ABSENT[name.lower()]}"
    if is_metric(name):
        return f"{problem}; it is a metric: {PROGRAM} evaluate FILE {name}, and {PROGRAM} metrics {name} describes it"
    near = get_close_matches(name.lower(), COMMANDS, N_NEAREST, LIKE)
    if near:
        return f"{problem}; did you mean {near[0]!r}?\n{line(near[0], rest)}".rstrip()
    one, other, third = get_close_matches(name.lower(), COMMANDS, N_NEAREST, 0)
    return f"{problem}; the nearest are {one}, {other} and {third}, and {PROGRAM} help lists all"


def _line_of(way: Way, rest: Sequence[str]) -> str:
    """Return the whole command of a way, with the arguments; "" if it lacks a flag without which it would be another.

    Arguments say some flags of a way already; {} is a word that is no input. Metrics are left out where none is taken.
    """
    words, odd = str(way.typed).split(), next((one for one in rest if one[:1] != "-" and not is_input(one)), None)
    if "metric" not in options_of(way.command):
        rest = [one for one, before in with_before(rest) if not _of_metric(one, before)]
    if words[:1] and {*rest} & {words[0], *SAY_THE_SAME.get(words[0], ())}:
        typed = [*rest]
    elif "{}" not in words or odd is None:
        typed = [*rest, *(word for word in words if word != "{}")]
    else:
        typed = [*(one for one in rest if one != odd), *(odd if word == "{}" else word for word in words)]
    whole = line(way.command, typed, way.tail)
    return whole if not way.one_of or any(f" {flag} " in whole for flag in way.one_of) else ""


def _of_metric(argument: str, before: str) -> bool:
    """Return True for a metric, and for the flag before it."""
    flags = ("-m", "--metric", "--metrics")
    return argument in flags or before in flags or (is_metric(argument) and not os.path.exists(argument))
