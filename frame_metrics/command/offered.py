"""The flags that an error offers, in the whole command that was typed."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from frame_metrics.command.commands import COMMANDS, options_of
from frame_metrics.command.completed import completed, greatest_grade, with_whole_predictions
from frame_metrics.command.filtered import FILTERS, filtered
from frame_metrics.command.front import PROGRAM
from frame_metrics.command.options import Option
from frame_metrics.command.trec_lines import in_trec
from frame_metrics.command.whole import first_file, known_flags, line, values_of
from frame_metrics.errors import FrameMetricsError
from frame_metrics.metrics.names import plain_name

# What messages without data offer: "pass", and flags with their values.
OFFER = re.compile(r"\b(?:pass|add|(?:its|their) columns? with) (?=--)")
FLAG = re.compile(r"(--[\w-]+)(?:[ =]('[^']*'|[^\s,;:'-][^\s,;:]*))?")
PARTS = re.compile("([,=])")  # what is between the parts of an argument
TAIL = re.compile(r" (?:\| |2>|> |&& ).*$")  # what a shell does with the output
MOST_MESSAGES = 6  # of one call
# Words behind a flag that are no values.
WORDS = {"FILE", "COLUMN", "SESSION", "NAME", "VALUE", "METRIC", "or", "to", "and", "if", "the", "as", "with"}


ErrorOf: TypeAlias = Callable[[list[str]], FrameMetricsError | None]


def with_lines(error: FrameMetricsError, arguments: Sequence[str], error_of: ErrorOf) -> str:
    """Return a message with what else is wrong, and the whole commands in which the ways out are taken, if known.

    Parameters
    ----------
    error : the error, whose message is in the words of the command line.
    arguments : the command with its files and options.
    error_of : returns the error of a call, None for one that would run; large files are not read for it.
    """
    told = str(error).split("\n")
    if arguments[:1] == ["convert"] and len(told) == 1:
        told += in_trec(arguments[1:]).split("\n")[1:]
    lines = [one for one in told if one.startswith(f"{PROGRAM} ")]
    told = [one for one in told if one not in lines]
    tried = [(_steps(one, further := list[str](), error_of), further) for one in lines or _lines(error, arguments)]
    steps = [step for found, _ in tried for step in found]
    # What one of several commands runs into is said if it is the way, or if there is none.
    told += dict.fromkeys(one for found, further in tried if found or not steps for one in further if one not in told)
    typed, values = shlex.join([PROGRAM, *arguments]), values_of(arguments)
    steps += _to_judge(arguments)
    if {*FILTERS} & {*values}:  # each line without the rows would answer another question
        parts = map(_parts, steps)
        steps = [f"{filtered([PROGRAM, *one], first_file(one), values)}{tail}" for one, tail in parts if one]
        steps = [one for one in steps if one.startswith("awk")]
    return "\n".join([*told, *(one for one in dict.fromkeys(steps) if one and one != typed)])


def _steps(whole: str, messages: list[str], error_of: ErrorOf) -> list[str]:
    """Return the command that a command needs, with all ways out taken; none if it would fail all the same.

    What it runs into is added to ``messages``.
    """
    command, tail = _parts(whole)
    checked = _checked(command, messages, error_of)
    return [_joined(checked, tail)] if checked else []


def _checked(command: list[str], messages: list[str], error_of: ErrorOf) -> list[str]:
    """Return a command in which the way out of each error that it would run into is taken; none if one has none."""
    seen, command = list[str](), with_whole_predictions(command)
    while command and "-" not in command and len(seen) < MOST_MESSAGES:
        better = completed(command)
        if better != command and not error_of(better):
            return better
        if (further := error_of(command)) is None:
            return command
        if (message := str(further)) in seen:
            return []
        seen.append(message)
        messages += [message] * (message not in messages)
        line_of_it = next(iter(_lines(further, command)), "")
        command = _parts(line_of_it)[0] or (better if better != command else [])
    return command if "-" in command else []


def _parts(whole: str) -> tuple[list[str], str]:
    """Return the arguments of a whole command, and what a shell does with the output."""
    found = TAIL.search(whole)
    return shlex.split(whole[: found.start()] if found else whole)[1:], found[0] if found else ""


def _joined(command: Sequence[str], tail: str) -> str:
    return f"{shlex.join([PROGRAM, *command])}{tail}"


def _to_judge(arguments: Sequence[str]) -> list[str]:
    """Return the command that prints the documents to judge, for a call that names their share."""
    if not any(plain_name(one.partition("@")[0]) == "unjudged" for one in arguments):
        return []
    files = [one for one in arguments[1:] if os.path.isfile(one) or one == "--qrels"]
    grade = greatest_grade(arguments)
    return [line("to-judge", [*files, "--max-grade", grade])] if grade else []


def _lines(error: FrameMetricsError, arguments: Sequence[str]) -> list[str]:
    """Return the whole commands in which the way out of an error is taken: several where one of some is meant."""
    if "\n" in str(error) or not arguments or arguments[0] not in COMMANDS:
        return []
    name, rest = known_flags(arguments[0], arguments[1:])
    options = error.options or ({} if error.instead else _passed(str(error), name))
    return [*_taken(options, error.instead, name, rest)] if options or error.instead else []


def _taken(
    options: Mapping[str, Any], instead: Mapping[str, Sequence[str]], name: str, rest: Sequence[str]
) -> Iterator[str]:
    """Yield a call with further options, and one after the other the words that may be meant for those of the call."""
    own, known = options_of(name), options_of(next(iter(instead.get(name, [name]))))
    values = {one: given for one, value in options.items() if (given := _value(one, value, rest)) != []}
    if not {*values} <= {*known} or ... in values.values():
        return
    gone = [own[one[:-1]] for one, few in instead.items() if not few and one.endswith("=") and one[:-1] in own]
    named = _without(rest, [one.flag for one in gone if one.kind.switch], switch=True)[0]
    named = _without(named, [one.flag for one in gone if not one.kind.switch])[0]
    named, typed = _without(named, [known[one].flag for one in values])
    added = [word for one, value in values.items() for word in _flags_of(known[one], value, typed)]
    pairs = {_word(one): [*map(_word, few)] or [""] for one, few in instead.items()}
    for at in range(max(map(len, pairs.values()), default=1)):
        renamed = {one: few[min(at, len(few) - 1)] for one, few in pairs.items()}
        parts = ("".join(renamed.get(part, part) for part in PARTS.split(one)) for one in named)
        yield line(renamed.get(name, name), [*filter(None, parts), *added])


def _word(text: str) -> str:
    """Return the flag of an option, as of by=; another word as it is."""
    return f"--{text[:-1].replace('_', '-')}" if text.endswith("=") else text


def _value(name: str, value: Any, rest: Sequence[str]) -> Any:
    """Return the value of an option that is not known where an error is raised, [] for one that a line has anyhow."""
    if value is not ...:
        return value
    return [] if name == "metric" else (greatest_grade(rest) or ...) if name == "max_grade" else ...


def _flags_of(option: Option, value: Any, typed: Container[str]) -> list[str]:
    """Return the words that set an option: without its value for a switch; None sets it aside if it was not typed."""
    if value is None:
        return [] if option.flag in typed else [option.no]
    if value is True and option.kind.switch:
        return [option.flag]
    each = value if isinstance(value, list | tuple) else [value]
    return [word for one in each for word in (option.flag, str(one))]


def _passed(message: str, name: str) -> dict[str, Any]:
    """Return the options that a message says to pass first, and those to add; none if a value is not said."""
    found = dict[str, Any]()
    for number, offer in enumerate(OFFER.finditer(message)):
        if number and not offer[0].startswith("add"):
            continue
        one = _options_at(message, offer.end(), name)
        if not one and not number:
            return {}
        found |= one
    return found


def _options_at(message: str, at: int, name: str) -> dict[str, Any]:
    """Return the options at a place of a message, with their values; none if a value is not said."""
    found, options = dict[str, Any](), options_of(name)
    while flag := FLAG.match(message, at):
        option = options.get(flag[1].replace("--no-", "--", 1)[2:].replace("-", "_"))
        if option and (flag[1] == option.no or option.kind.switch):
            found[option.name] = None if flag[1] == option.no else True
            at = flag.end(1) + 1
            continue
        value = flag[2].rstrip(".?)") if flag[2] else ""
        if option is None or not value or value in WORDS or flag[1] == "--duplicates":  # which may hide a mistake
            return {}
        found.setdefault(option.name, []).extend(shlex.split(value))
        at = flag.end() + 1
        if message[at - 1 : at] != " ":
            break
    return found


def _without(arguments: Sequence[str], flags: Sequence[str], *, switch: bool = False) -> tuple[list[str], set[str]]:
    """Return arguments without some flags and their values, if they have any, and the flags that were there."""
    kept, there, left = list[str](), set[str](), iter(arguments)
    for one in left:
        flag, equals, _ = one.partition("=")
        if flag not in flags:
            kept += [] if flag.replace("--no-", "--", 1) in flags else [one]
            continue
        there.add(flag)
        if not equals and not switch:
            next(left, "")
    return kept, there
