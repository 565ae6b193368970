"""The commands that are meant by what readers type first."""

from __future__ import annotations

import os
import re
import shlex
from argparse import SUPPRESS
from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches

from frame_metrics.command.call import OF_ANNOTATORS
from frame_metrics.command.commands import COMMANDS, options_of
from frame_metrics.command.files.writing import WRITTEN
from frame_metrics.command.front import PROGRAM
from frame_metrics.command.offers.named_metrics import METRIC_FLAGS, is_metric, with_before
from frame_metrics.command.offers.other_names import (
    ABSENT,
    OTHER_NAMES,
    SAY_THE_SAME,
    TRIED,
    Way,
)
from frame_metrics.command.offers.our_flags import is_input
from frame_metrics.command.offers.whole import line
from frame_metrics.command.options import JUDGMENTS
from frame_metrics.metrics.names import read_text

LEAST_WORD = 4  # letters of a word with which the name of a command may begin
N_NEAREST = 3  # how many commands an unknown name is told
MOST_LEFT_OUT = 2  # arguments that are left out of a command that a name has in it
LIKE = 0.75  # how alike the name of a command is that was meant


def meant(arguments: Sequence[str]) -> list[str]:
    """Return arguments in which another name of a command is ours, with the metrics that it stands for."""
    name, *rest = arguments
    rest = rest[rest[:1] == ["metrics"] and name == "list" :]
    plain = name if name in COMMANDS else name.lower().replace("_", "-")
    command, *metrics = OTHER_NAMES.get(plain, plain if plain in COMMANDS else name).split(" ")
    return [command, *rest, *(word for metric in metrics for word in ("--metric", metric))]


def call_of_metric(arguments: Sequence[str]) -> list[str]:
    """Return the files and options that a metric was named before, with the command that computes it.

    Clicks before metrics are what these are computed of.
    """
    metric, *rest = arguments
    pairs = all(one.input.__name__ == "TwoRankings" for _, one in read_text(metric))
    only_data = metric.lower() == "clicks" and {*METRIC_FLAGS} & {*rest}
    return ["similarity" if pairs else "evaluate", *rest, *([] if only_data else ["--metric", metric])]


def unknown_command(arguments: Sequence[str]) -> str:
    """Return the error about the name of a command that does not exist, with the whole commands that it may mean."""
    name, *rest = arguments
    problem, ways = f"there is no command {name!r}", TRIED.get(name.lower().replace("_", "-"), ())
    rest = rest[1:] if rest[:1] in (["save"], ["create"], ["set"]) else rest  # as baseline save
    if ways:
        lines = [*filter(None, (_line_of(way, rest) for way in ways if way.typed is not None))]
        lines = [one for one in lines if _left_out(one) == min(map(_left_out, lines))]
        lines = lines[: 1 if {"-o", "--output", "--out"} & {*rest} else None]  # which would write one file twice
        told = f"{problem}; it is {', or '.join(way.text for way in ways)}"
        return "\n".join([told, *dict.fromkeys(lines)])
    if name.lower() in ABSENT:
        return f"{problem}: {ABSENT[name.lower()]}"
    if is_metric(name):
        return f"{problem}; it is a metric: {PROGRAM} evaluate FILE {name}, and {PROGRAM} metrics {name} describes it"
    near = _near(name.lower().replace("_", "-"))
    if near in TRIED:
        told = f"{problem}; {unknown_command([near, *rest]).partition('; ')[2]}"
    elif near:
        command, *more = meant([near, *rest])
        whole = f"{PROGRAM} {command} {shlex.join(more)}" if command == "trec_eval" else line(command, more)
        told = f"{problem}; did you mean {near!r}?\n{whole}".rstrip()
    if near and told.count("without ") <= MOST_LEFT_OUT:  # else it is another command
        return told
    if command := _by_options(rest):
        return f"{problem}; by its options it may be {command}\n{line(command, rest)}".rstrip()
    one, other, third = get_close_matches(name.lower(), COMMANDS, N_NEAREST, 0)
    return f"{problem}; the nearest are {one}, {other} and {third}, and {PROGRAM} help lists all"


def _near(name: str) -> str:
    """Return the name of a command that is spelled nearly so, or that a name has in it; "" if there is none."""
    every = [*COMMANDS, *OTHER_NAMES, *TRIED]
    near = get_close_matches(name, every, 1, LIKE)
    near += [one for one in every if one.startswith(name) and len(name) >= LEAST_WORD]
    near += sorted((one for one in COMMANDS if "-" in one and one in name), key=len, reverse=True)
    # Of several words the last one is what the others tell more about.
    near += [one for one in reversed(re.findall("[a-z]+", name)) if one in every and one != name]
    near += ["convert"] * any(word in WRITTEN for word in re.findall("[a-z]+", name))
    return next(iter(near), "")


def _by_options(rest: Sequence[str]) -> str:
    """Return the command that has most of the options that are typed, of which the rarer count more; "" for none."""
    having, weights = Counter(flag for command in COMMANDS for flag in _flags(command)), dict[str, float]()
    for command in COMMANDS:
        whole = line(command, rest)
        words = whole.rpartition("\n")[2].split()[1:]
        if words[:1] == [command] and (typed := {*words} & _flags(command)):
            weights[command] = sum(1 / having[flag] for flag in typed) - _left_out(whole)
    return max(weights, key=lambda command: weights[command], default="")


def _flags(command: str) -> set[str]:
    """Return the flags of the options that help offers, without those that need a file of judgments."""
    options = [one for one in options_of(command).values() if one.help != SUPPRESS]
    return {one.flag for one in options if one.group != JUDGMENTS or command in OF_ANNOTATORS or one.name == "qrels"}


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


def _left_out(whole: str) -> int:
    """Return how many arguments a whole command leaves out, as the note above it says."""
    return whole.partition(f"\n{PROGRAM}")[0].count("without ") if "\n" in whole else 0


def _of_metric(argument: str, before: str) -> bool:
    """Return True for a metric, and for the flag before it."""
    return argument in METRIC_FLAGS or before in METRIC_FLAGS or (is_metric(argument) and not os.path.exists(argument))
