"""The commands that are meant by what readers type first."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Container, Sequence
from difflib import get_close_matches
from functools import reduce
from operator import and_, or_

import polars as pl

from frame_metrics.command.commands import COMMANDS, metrics_taken, options_of
from frame_metrics.command.front import PROGRAM
from frame_metrics.command.other_names import (
    ABSENT,
    ALL_MEASURES,
    BY_PERIOD,
    LEVEL,
    MIN_LETTERS,
    N_NEAREST,
    NEED_METRIC,
    NO_FILTER,
    OF_ALL,
    OF_COLUMN,
    OF_CUTOFF,
    OTHER_FLAGS,
    OTHER_NAMES,
    PICTURE,
    RATE_ALONE,
    RETIRED,
    SAY_THE_SAME,
    TRIED,
    WORST,
    WORST_QUERIES,
)
from frame_metrics.errors import FrameMetricsError, closest
from frame_metrics.metrics.names import TWO_MEANINGS, plain_name, read_text


def meant(arguments: Sequence[str]) -> list[str]:
    """Return arguments in which another name of a command is ours, with the metrics that it stands for."""
    name, *rest = arguments
    plain = name if name in COMMANDS else name.lower().replace("_", "-")
    command, *metrics = OTHER_NAMES.get(plain, plain if plain in COMMANDS else name).split(" ")
    return [command, *rest, *(word for metric in metrics for word in ("--metric", metric))]


def call_of_metric(arguments: Sequence[str]) -> list[str]:
    """Return the files and options that a metric was named before, with the command that computes it."""
    metric, *rest = arguments
    pairs = all(one.input.__name__ == "TwoRankings" for _, one in read_text(metric))
    return ["similarity" if pairs else "evaluate", *rest, "--metric", metric]


def known_flags(name: str, arguments: Sequence[str]) -> tuple[str, list[str]]:
    """Return a command and its arguments, in which other names of options are ours; -q is the command per-query."""
    found: list[str] = []
    for at, argument in enumerate(arguments):
        flag, equals, value = argument.partition("=")
        after = value if equals else next(iter(arguments[at + 1 :]), "")
        if name == "evaluate" and flag == "-q" and not equals:
            words = ["--query"] if after and after[0] != "-" and not _is_input(after) else []
            name = name if words else "per-query"
        elif name == "evaluate" and flag == "--per-query":
            name, words = "per-query", []
        else:
            words = _ours(flag, options_of(name), after)
        found += [*words[:-1], f"{words[-1]}={value}"] if equals and words else words
    return name, found


def _is_input(argument: str) -> bool:
    """Return True for an argument that is an input, or a metric."""
    return argument == "-" or os.path.exists(argument) or is_metric(argument)


def _ours(flag: str, options: Container[str], value: str) -> list[str]:
    """Return our option, and its value if it has one, for another name; else the name as it is."""
    if not flag.startswith("-") or _in(flag, options):
        return [flag]
    plain = flag.replace("_", "-").lower()
    others = OTHER_FLAGS.get(plain, ())
    known = [plain, *([others] if isinstance(others, str) else others), OF_COLUMN.sub("", plain), plain.rstrip("s")]
    ours = next((one for one in known if _in(one.split(" ")[0], options)), flag)
    return [flag] if ours == "--input" and not os.path.exists(value) else ours.split(" ")


def _in(flag: str, options: Container[str]) -> bool:
    """Return True for the flag of an option."""
    return "_" not in flag and flag.startswith("--") and flag[2:].replace("-", "_") in options


def way_of_flag(name: str, flag: str, arguments: Sequence[str]) -> str:
    """Return the way out for an unknown flag of a command that means something else; "" if it is not known."""
    word = flag.lstrip("-").removeprefix("no-")
    if way := RETIRED.get(f"{name} {word}") or RETIRED.get(word):
        return way.text
    if len(word) == 1 or metrics_taken(name) is None or not is_metric(word):
        return ""
    if "subject_to" not in options_of(name):
        return f"name the metric behind the input, as log.csv {word}"
    return _with_limit(name, flag, word, arguments)


def _with_limit(name: str, flag: str, metric: str, arguments: Sequence[str]) -> str:
    """Return the way out for a metric as a flag, which is a limit of the choice."""
    after = [*arguments[arguments.index(flag) + 1 :], ""] if flag in arguments else [""]
    rest, value = [*arguments], after[0] or "0.9"
    if flag in rest:
        del rest[rest.index(flag) : rest.index(flag) + 2]
    chosen = [] if any(map(is_metric, rest)) else ["recall" if metric != "recall" else "precision"]
    whole = shlex.join([PROGRAM, name, *rest[:1], *chosen, *rest[1:], "--subject-to", f"{metric}={value}"])
    return f"the metric that is chosen by comes behind the input, and limits are --subject-to: {whole}"


def line(name: str, arguments: Sequence[str], tail: str = "") -> str:
    """Return the whole command that a call means, to be typed as it is; "" if one of its options is not known.

    A metric is added where the command needs one and none is there.
    """
    name, rest = known_flags(name, arguments)
    command, found, cutoffs, left = name, [], "", iter(rest)
    for argument in left:
        flag, equals, value = argument.partition("=")
        if _is_known(flag, command):
            found.append(argument)
            continue
        way = RETIRED.get(f"{command} {flag.lstrip('-')}") or RETIRED.get(flag.lstrip("-"), NO_FILTER)
        typed = WORST_QUERIES if way is WORST and command == "compare" else way.typed
        if typed is None:
            return ""
        if not equals and (way in (OF_CUTOFF, BY_PERIOD, ALL_MEASURES) or way.first or "{" in typed + way.tail):
            value = next(left, "")
        if way is LEVEL and _is_number(value):
            value = f"{1 - float(value):g}"
        if typed.count("{}") > 1:  # as of two columns, with a comma between or apart
            values = value.split(",") if "," in value else [value, next(left, "")]
            typed, value = typed.replace("{}", "{0}", 1).replace("{}", "{1}"), ""
        else:
            values = [value]
        found = [*[value] * way.first, *found, *(one.format(*values) for one in typed.split())]
        cutoffs = value if way is OF_CUTOFF else cutoffs
        tail = way.tail.format(int(value) + 1 if value.isdecimal() else value) or tail
        command = way.command or command
    found = [_with_cutoff(one, cutoffs) for one in found] if cutoffs else found
    return _joined(command, found, tail)


def without_log(arguments: Sequence[str]) -> str:
    """Return what sample-size needs beside numbers, with the command of a log; "" if a file is named."""
    if any(one == "-" or os.path.exists(one) for one in arguments):
        return ""
    at = arguments.index("--baseline") if "--baseline" in arguments else len(arguments)
    left = [*arguments[:at], *arguments[at + 2 :]] if at + 1 < len(arguments) else [*arguments]
    whole = line("sample-size", ["-", *left, "--system", "system"])
    return f"{RATE_ALONE}{whole.replace(' - ', ' log.csv ', 1)}" if whole else ""


def _joined(command: str, arguments: list[str], tail: str) -> str:
    """Return a whole command, with what it needs beside the arguments; "" if it has not one of their options."""
    if not all(_is_known(one.partition("=")[0], command) for one in arguments):
        return ""
    if command in NEED_METRIC and not any(one == "-" or os.path.exists(one) for one in arguments):  # nothing to read
        return ""
    if command in NEED_METRIC and not any(one in ("-m", "--metric") or _is_named_metric(one) for one in arguments):
        arguments.append("ndcg@10")
    if "--margin" in arguments and command == "evaluate":
        saved = "--fail-if-worse-than"
        arguments = ["--not-worse-than" if one == saved else one for one in arguments]
        arguments += [] if "--not-worse-than" in arguments else ["--not-worse-than", "base.csv"]
    if command == "report":
        arguments = [PICTURE.sub(".html", one) for one in arguments]
    runs = [one for one in arguments if os.path.isfile(one) and not one.endswith((".qrels", ".txt"))]
    if command == "to-judge" and len(runs) > 1 and "--system" not in arguments:
        arguments += ["--system", "file"]
    return f"{shlex.join([PROGRAM, command, *arguments])} {tail}".rstrip()


def _is_known(argument: str, command: str) -> bool:
    """Return True for an argument that is no flag, or that a command has."""
    options = options_of(command)
    plain = argument.replace("--no-", "--", 1)
    short = argument == "-m" and "metric" in options
    return not argument.startswith("-") or argument in OF_ALL or short or _in(plain, options)


def _is_named_metric(argument: str) -> bool:
    """Return True for the name of a metric, or of several with commas between, or one that means two things."""
    return plain_name(argument) in TWO_MEANINGS or any(map(is_metric, argument.split(",")))


def _with_cutoff(argument: str, cutoffs: str) -> str:
    """Return metrics, with commas between, each of which has cutoffs; another argument as it is."""
    parts = argument.split(",")
    if os.path.exists(argument) or not all(map(is_metric, parts)):
        return argument
    return ",".join(one if "@" in one else f"{one}@{cutoffs}" for one in parts)


def _is_number(text: str) -> bool:
    """Return True for the text of a number."""
    return text.replace(".", "", 1).isdecimal()


def is_metric(argument: str) -> bool:
    """Return True for the name of a metric."""
    try:
        return bool(read_text(argument))
    except FrameMetricsError:
        return False


def having(texts: pl.Series, word: str) -> pl.Series:
    """Return which texts have a word; of a metric that is its name, without cutoff and parameters, or else our name."""
    metrics = [metric.name for _, metric in read_text(word)] if is_metric(word) else []
    plain = re.split("[@(]", word)[0] if metrics else word
    if metrics and len(plain) < MIN_LETTERS:  # as P
        return texts.str.starts_with(f"{metrics[0]} ")
    found = texts.str.contains(plain.lower(), literal=True)
    return found if found.any() or not metrics else texts.str.contains(metrics[0], literal=True)


def rows_about(texts: pl.Series, words: Sequence[str]) -> pl.Series:
    """Return which texts have all of some words or, if these are names of metrics, any of them."""
    each = [having(texts, word) for word in words]
    return reduce(or_ if len(words) > 1 and all(map(is_metric, words)) else and_, each, texts.is_not_null())


def no_metric(words: Sequence[str], names: Sequence[str]) -> str:
    """Return the error about words that no metric has; ``names``: those of all metrics."""
    near = closest("_".join(words), names) or f"; {PROGRAM} metrics lists all"
    return f"there is no metric with {' and '.join(map(repr, words))} in its name or text{near}"


def unknown_command(arguments: Sequence[str]) -> str:
    """Return the error about the name of a command that does not exist, with the whole commands that it may mean."""
    name, *rest = arguments
    problem, ways = f"there is no command {name!r}", TRIED.get(name.lower(), ())
    rest = rest[1:] if rest[:1] in (["save"], ["create"], ["set"]) else rest  # as baseline save
    if ways:
        lines = [line(way.command, _typed(way.typed, rest), way.tail) for way in ways if way.typed is not None]
        told = f"{problem}; it is {', or '.join(way.text for way in ways)}"
        return "\n".join([told, *filter(None, dict.fromkeys(lines))])
    if name.lower() in ABSENT:
        return f"{problem}: {ABSENT[name.lower()]}"
    if is_metric(name):
        return f"{problem}; it is a metric: {PROGRAM} evaluate FILE {name}, and {PROGRAM} metrics {name} describes it"
    near = get_close_matches(name.lower(), COMMANDS, N_NEAREST, 0.6)
    if near:
        return f"{problem}; did you mean {near[0]!r}?\n{line(near[0], rest)}".rstrip()
    one, other, third = get_close_matches(name.lower(), COMMANDS, N_NEAREST, 0)
    return f"{problem}; the nearest are {one}, {other} and {third}, and {PROGRAM} help lists all"


def _typed(typed: str, rest: Sequence[str]) -> list[str]:
    """Return arguments with those of a way, unless they say the same already; {} is a word that is no input."""
    words, odd = typed.split(), next((one for one in rest if one[:1] != "-" and not _is_input(one)), None)
    if words[:1] and {*rest} & {words[0], *SAY_THE_SAME.get(words[0], ())}:
        return [*rest]
    if "{}" not in words or odd is None:
        return [*rest, *(word for word in words if word != "{}")]
    return [*(one for one in rest if one != odd), *(odd if word == "{}" else word for word in words)]
