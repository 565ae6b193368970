"""The flags that an error offers, in the whole command that was typed."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from frame_metrics.command.commands import COMMANDS, options_of
from frame_metrics.command.files.columns_there import column_for, judgments_in
from frame_metrics.command.front import PROGRAM
from frame_metrics.command.offers.completed import completed, greatest_grade, with_whole_predictions
from frame_metrics.command.offers.named_metrics import with_before
from frame_metrics.command.offers.other_names import GATE
from frame_metrics.command.offers.our_flags import DAYS, known_flags, values_of, without
from frame_metrics.command.offers.trec_lines import in_trec
from frame_metrics.command.offers.unknown_flags import with_flags_of_columns
from frame_metrics.command.offers.whole import line
from frame_metrics.command.options import SHORT_FLAGS, Option
from frame_metrics.errors import FrameMetricsError
from frame_metrics.metrics.names import plain_name
from frame_metrics.roles.columns import ROLES

# What messages without data offer: "pass", and flags with their values.
OFFER = re.compile(r"\b(?:pass|add|(?:its|their) columns? with) (?=--)")
FLAG = re.compile(r"(--[\w-]+)(?:[ =]('[^']*'|[^\s,;:'-][^\s,;:]*))?")
PARTS = re.compile("([,=])")  # what is between the parts of an argument
INSTEAD = (  # what may stand for another word, in messages
    re.compile(r"there is no metric '(.+?[^<>])'; did you mean ['\"](.+)['\"]\?"),
    re.compile(r"(\S+) .*; if .* is the highest, ask for '([^']+)'"),
    re.compile(r"--(?!fail)[\w-]+ (\S+) is not one of .*; did you mean '([^']+)'"),
)
NO_CHOICE = re.compile(r"(--(?!fail)[\w-]+) (\S+) is not one of ")
OF_TWO = re.compile(r"has the values '([^']*)', '([^']*)', and nothing says which of them is relevant")
TAIL = re.compile(r" (?:\| |2>|> |&& ).*$")  # what a shell does with the output
NO_WAY = "--help has the options"  # the end of an error about a flag that none is like
NO_WAY_ON = re.compile(rf"; [\w -]*{NO_WAY}$")
EITHER = {"score": ("rank",), "label": ("grade",), "grade": ("label",)}  # roles of which one is enough
MOST_MESSAGES = 6  # of one call
KEPT = (
    "--qrels",
    "--metric",
    "--output",
    "--since",
    "--split",
    "--where",
    "--max-drop",
    "--margin",
    "--alpha",
    *GATE,
)  # options without which a call would be another
# Words behind a flag that are no values.
WORDS = {
    "FILE",
    "old.csv",
    "COLUMN",
    "SESSION",
    "NAME",
    "VALUE",
    "METRIC",
    "or",
    "to",
    "and",
    "if",
    "the",
    "as",
    "with",
}


NO_JUDGMENTS = "the label or grade"  # the part of an error by which a missing column of judgments is recognised

NO_QUERY = re.compile("the query [^;]*missing")

ErrorOf: TypeAlias = Callable[[list[str]], FrameMetricsError | None]
Tried: TypeAlias = tuple[str, list[str], str]  # a command that runs, "" if none does, what it met, and its note


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
    pairs = [(one, before if before.endswith(":") else "") for one, before in with_before(told) if _is_command(one)]
    told = [one for one in told if not _is_command(one) and one not in dict(pairs).values()]
    pairs = pairs or [*map(_noted, _spread(arguments) or _lines(error, arguments))]
    tried = [(_running(one, further := list[str](), error_of), further, note) for one, note in pairs]
    if not any(found for found, _, _ in tried):
        tried = [*_judged(error, arguments, tried, error_of)] or [*tried, *_shorter(pairs, error_of)]
    ways = {found: note for found, _, note in reversed(tried) if found}
    told = [NO_WAY_ON.sub("", one) if ways else one for one in told]
    # What one of several commands runs into is said if it is the way, or if there is none.
    direct = {found for found, more, _ in tried if not more}
    told_of = [more for found, more, _ in tried if (found and found not in direct) or not ways]
    told += dict.fromkeys(one for more in told_of for one in more if one not in told)
    ways = dict.fromkeys(_to_judge(arguments), "") | ways
    known = arguments[:1] and arguments[0] in COMMANDS
    values = values_of(known_flags(arguments[0], arguments[1:])[1] if known else arguments)
    if {*DAYS} & {*values}:  # each line of all days would answer another question
        ways = {one: note for one, note in ways.items() if {"--since", "--where"} & {*one.split()}}
    ways.pop(shlex.join([PROGRAM, *arguments]), None)
    first, then = ("first", "then") if arguments[:1] == ["convert"] else ("either", "or")
    if len(ways) > 1 and len({*ways.values()}) == 1:  # one note above all of them
        told += filter(None, {*ways.values()})
        ways = dict.fromkeys(ways, "")
    for number, one in enumerate(reversed(ways)):
        note = f"{(then if number else first) * (len(ways) > 1)} {ways[one]}".strip()
        told += [*[f"{note.removesuffix(':')}:"] * bool(note), one]
    return "\n".join(told)


def _noted(whole: str) -> tuple[str, str]:
    """Return a whole command, and the note above it, "" for none."""
    at = 0 if _is_command(whole) else whole.find(f"\n{PROGRAM} ") + 1
    return whole[at:], whole[: max(at - 1, 0)]


def _is_command(text: str) -> bool:
    return text.startswith(f"{PROGRAM} ")


def _judged(
    error: FrameMetricsError, arguments: Sequence[str], tried: Sequence[Tried], error_of: ErrorOf
) -> Iterator[Tried]:
    """Yield the commands that run with the grades, and with the labels, of a file that has a column of each.

    They are those of a call whose error is that none is named.
    """
    if NO_JUDGMENTS not in "\n".join([str(error), *(message for _, more, _ in tried for message in more)]):
        return
    known = arguments[:1] and arguments[0] in COMMANDS
    own = [_noted(line(*known_flags(arguments[0], arguments[1:])))] if known else []
    commands = [(one, "") for one in str(error).split("\n") if _is_command(one)]
    for whole, note in commands or own:
        for flags in judgments_in(_parts(whole)[0]):
            if found := _running(whole, further := list[str](), error_of, flags):
                yield found, further, note


def _shorter(pairs: Sequence[tuple[str, str]], error_of: ErrorOf) -> Iterator[Tried]:
    """Yield the first command that runs without an option that its note names, and a note of that, as tried ones."""
    for whole, note in pairs:
        command, tail = _parts(whole)
        for flag in dict.fromkeys(one.partition("=")[0] for one in command if one.startswith("--")):
            option = options_of(command[0]).get(flag[2:].replace("-", "_")) if command[0] in COMMANDS else None
            if option is None or flag in KEPT or flag not in note.split():
                continue
            shorter, _ = without(command, [flag], switch=option.kind.switch)
            if found := _running(_joined(shorter, tail), [], error_of):
                left_out = shlex.join([one for one in command if one not in shorter])
                yield found, [], f"{note.removesuffix(':')}{', ' * bool(note)}without {left_out}:"
                return


def _running(whole: str, messages: list[str], error_of: ErrorOf, judged: Sequence[str] = ()) -> str:
    """Return the command that a command needs, with all ways out taken; "" if it would fail all the same.

    What it runs into is added to ``messages``; ``judged``: the flag and the column of judgments, if they are missing.
    """
    command, tail = _parts(whole)
    checked = _checked(command, messages, error_of, judged)
    return _joined(checked, tail) if checked else ""


def _checked(command: list[str], messages: list[str], error_of: ErrorOf, judged: Sequence[str]) -> list[str]:
    """Return a command in which the way out of each error that it would run into is taken; none if one has none."""
    seen, command = list[str](), with_whole_predictions(with_flags_of_columns(command))
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
        line_of_it = next((one for one in _lines(further, command) if "\n" not in one), "")
        if not line_of_it and judged and NO_JUDGMENTS in message:
            better, judged = _with_judgments(command, judged, message), ()
        command = _parts(line_of_it)[0] or (better if better != command else [])
    return command if "-" in command else []


def _with_judgments(command: Sequence[str], judged: Sequence[str], message: str) -> list[str]:
    """Return a command with a column of judgments, and with what the error says to add.

    It is none if the query is missing too and not known, as a log of queries would be measured as rows.
    """
    known, added = options_of(command[0]), _added(message, command[0])
    if NO_QUERY.search(message) and "query" not in added:
        return []
    return [*command, *(word for one in added for word in _flags_of(known[one], added[one], ())), *judged]


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


def _spread(arguments: Sequence[str]) -> list[str]:
    """Return the whole command in which columns without a flag have one; [] if there are none, or a metric is meant."""
    if arguments[:1] == [] or arguments[0] not in COMMANDS:
        return []
    name, rest = known_flags(arguments[0], arguments[1:])
    again = with_flags_of_columns([name, *rest])
    return [] if again == [name, *rest] else [line(again[0], again[1:])]


def _lines(error: FrameMetricsError, arguments: Sequence[str]) -> list[str]:
    """Return the whole commands in which the way out of an error is taken: several where one of some is meant."""
    if "\n" in str(error) or not arguments or arguments[0] not in COMMANDS or arguments[0] == "trec_eval":
        return []
    name, rest = known_flags(arguments[0], arguments[1:])
    instead = error.instead or ({} if error.options else _other_word(str(error)))
    options = error.options or ({} if instead else _passed(str(error), name))
    if found := OF_TWO.search(str(error)):
        return [line(name, [*rest, "--positive", one]) for one in reversed(found.groups())]
    return [*_taken(options, instead, name, rest)] if options or instead else [*_of_values(name, rest, str(error))]


def _of_values(name: str, rest: Sequence[str], message: str) -> Iterator[str]:
    """Yield the command in which options that cannot read their values are others or left out, with a note above it."""
    if found := NO_CHOICE.match(message):
        yield f"without {found[1]} {found[2]}:\n{line(name, without(rest, [found[1]])[0])}"
    if "\n" in (whole := line(name, rest)):
        yield whole


def _other_word(message: str) -> dict[str, list[str]]:
    """Return the word that a message asks for in the place of another; {} for none."""
    return next(({found[1]: [found[2]]} for one in INSTEAD if (found := one.match(message))), {})


def _taken(
    options: Mapping[str, Any], instead: Mapping[str, Sequence[str]], name: str, rest: Sequence[str]
) -> Iterator[str]:
    """Yield a call with further options, and one after the other the words that may be meant for those of the call."""
    own, known = options_of(name), options_of(next(iter(instead.get(name, [name]))))
    options = dict(
        _by_values(one, rest) if value is ... and one in ROLES else (one, value) for one, value in options.items()
    )
    values = {one: given for one, value in options.items() if (given := _value(one, value, rest)) != []}
    if not {*values} <= {*known} or ... in values.values():
        return
    gone = [own[one[:-1]] for one, few in instead.items() if not few and one.endswith("=") and one[:-1] in own]
    named = without(rest, [one.flag for one in gone if one.kind.switch], switch=True)[0]
    flags = [flag for one in gone if not one.kind.switch for flag in (one.flag, *SHORT_FLAGS.get(one.name, ()))]
    named = without(named, flags)[0]
    named, typed = without(named, [known[one].flag for one in values])
    added = [word for one, value in values.items() for word in _flags_of(known[one], value, typed)]
    pairs = {_word(one): [*map(_word, few)] or [""] for one, few in instead.items()}
    for at in range(max(map(len, pairs.values()), default=1)):
        renamed = {one: few[min(at, len(few) - 1)] for one, few in pairs.items()}
        parts = ("".join(renamed.get(part, part) for part in PARTS.split(one)) for one in named)
        yield line(renamed.get(name, name), [*filter(None, parts), *added])


def _word(text: str) -> str:
    """Return the flag of an option, as of by=; another word as it is."""
    return f"--{text[:-1].replace('_', '-')}" if text.endswith("=") else text


def _by_values(role: str, rest: Sequence[str]) -> tuple[str, Any]:
    """Return a role that is missing, or the other of two that may be, with the column that it likely has, else ...."""
    holding = values_of(rest).get("--query-id", "") if role == "query" else ""
    found = (
        (one, column_for(one, rest, holding))
        for one in (role, *EITHER.get(role, ()))
        if one in ROLES.keys() - {"metric"}
    )
    return next(((one, column) for one, column in found if column), (role, ...))


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
    offer = OFFER.search(message)
    first = _options_at(message, offer.end(), name) if offer else {}
    return first | _added(message, name) if first else {}


def _added(message: str, name: str) -> dict[str, Any]:
    """Return the options that a message says to add, with their values."""
    found = dict[str, Any]()
    for offer in OFFER.finditer(message):
        found |= _options_at(message, offer.end(), name) if offer[0].startswith("add") else {}
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
