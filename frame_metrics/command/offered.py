"""The flags that an error offers, in the whole command that was typed."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, TypeAlias

from frame_metrics.command.commands import COMMANDS, options_of
from frame_metrics.command.completed import columns_in, completed, greatest_grade, with_whole_predictions
from frame_metrics.command.filtered import FILTERS, filtered, is_filter, underscored, with_space
from frame_metrics.command.front import PROGRAM
from frame_metrics.command.options import Option
from frame_metrics.command.other_options import RETIRED
from frame_metrics.command.whole import known_flags, line, unused, values_of, with_before
from frame_metrics.errors import FrameMetricsError, listed
from frame_metrics.metrics.names import plain_name
from frame_metrics.roles.columns import ROLES

OFFER = re.compile(r"\b(?:pass|add|(?:its|their) columns? with) (?=--)")
FLAG = re.compile(r"(--[\w-]+)(?:[ =]('[^']*'|[^\s,;:'-][^\s,;:]*))?")
MEANT = re.compile(r"did you mean '([^']+)'")
EITHER = re.compile(r"--(\w+) or --(\w+),")
INSTEAD = re.compile(r" in the place of (--[\w-]+)")
NO_METRIC, REQUIRES_METRIC = "no metric was asked for", "requires a metric; name one behind the input"
NO_FILE = "does not look like the name of a file"
GATES, SAVED_AS = ("--not-worse-than", "--fail-if-worse-than"), "base.csv"
EACH_FILE = "pass --system file if each file is a system"
NOT_SAVED = "it has to be what "
NO_COLUMN = re.compile(r"(--[\w-]+) (\S+): there is no such column")
USUAL = re.compile(r"; pass --by (\S+)$")
ALPHA_ALONE = "--alpha is the level of --fail-if-worse-than and --not-worse-than, and none"
POOLED = " of one row is undefined"
LEAVE_OUT = re.compile(r"leave out (--[a-z-]+)(?: \w+)?$")
LACKS_SCALE = "need the scale; pass --max-grade"
AGREEMENT = "agreement compares annotators"
PARTS = re.compile("([,=])")  # what is between the parts of an argument
TAIL = re.compile(r" (?:\| |2>|> |&& ).*$")  # what a shell does with the output
OF_TREC = ("query", "doc", "score", "grade")  # the roles of files of TREC
TREC, ENDS = ("run", "qrels"), ("", "-out", "-file", "-output")  # the flags of files of TREC, as --run-out
MOST_MESSAGES = 6  # of one call
# Words behind a flag that are no values.
WORDS = {"FILE", "COLUMN", "SESSION", "NAME", "VALUE", "METRIC", "or", "to", "and", "if", "the", "as", "with"}


ErrorOf: TypeAlias = Callable[[list[str]], Exception | None]


def with_lines(error: Exception, arguments: Sequence[str], error_of: ErrorOf) -> str:
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
    steps = [step for one in lines or _lines(error, arguments) for step in _steps(one, told, error_of)]
    typed, values = shlex.join([PROGRAM, *arguments]), values_of(arguments)
    steps += _to_judge(arguments)
    if {*FILTERS} & {*values}:  # each line without the rows would answer another question
        parts = map(_parts, steps)
        steps = [f"{filtered([PROGRAM, *one], _first_file(one), values)}{tail}" for one, tail in parts if one]
        steps = [one for one in steps if one.startswith("awk")]
    return "\n".join([*told, *(one for one in dict.fromkeys(steps) if one and one != typed)])


def _steps(whole: str, messages: list[str], error_of: ErrorOf) -> list[str]:
    """Return the commands that a command needs, with all ways out taken; none if it would fail all the same.

    They are two where a gate names a log in the place of saved numbers. What they run into is added to ``messages``.
    """
    command, tail = _parts(whole)
    kept, gate = _without_gate(command)
    if not (checked := _checked(kept, messages, error_of)):
        return []
    if not gate:
        return [_joined(checked, tail)]
    old, new = gate[1], _first_file(kept)
    saving = "evaluate" if "--max-drop" in gate else "per-query"
    save = [saving, *(old if one == new else one for one in checked[1:]), "-o", (name := unused(SAVED_AS))]
    if error_of(save):
        return []
    return [_joined(save, ""), _joined([*checked, *(name if one == old else one for one in gate)], tail)]


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


def _without_gate(command: list[str]) -> tuple[list[str], list[str]]:
    """Return a command without a gate that names a log in the place of saved numbers, and the flags of the gate."""
    flag = next((flag for flag in GATES if flag in command[:-1]), None)
    if flag is None or not _is_log(command[command.index(flag) + 1]):
        return command, []
    gate = [word for one in (flag, "--margin", "--max-drop") for word in _pair(command, one)]
    return _without(command, [flag, "--margin", "--max-drop"])[0], gate


def _pair(command: Sequence[str], flag: str) -> list[str]:
    return [flag, command[command.index(flag) + 1]] if flag in command[:-1] else []


def in_trec(arguments: Sequence[str]) -> str:
    """Return the error about a format of TREC for --to, with the commands that write a run and judgments.

    It is "" for another format; without --to the ending of the file to write says it.
    """
    values = values_of(arguments)
    given = values.get("--output") or values.get("-o") or "out"
    ending = os.path.splitext(given)[1][1:]
    asked, file = values.get("--to", values.get("--format", ending)).lower(), _first_file(["", *arguments])
    if asked not in ("trec", "run", "qrels") or not file:
        return ""
    there = [*columns_in(file)]
    columns = {role: values.get(f"--{role}") or _column_of(role, there) for role in OF_TREC}
    names = [next((values[f"--{one}{end}"] for end in ENDS if f"--{one}{end}" in values), "") for one in TREC]
    run, qrels = names[0] or given * (asked != "qrels"), names[1] or given * (asked == "qrels")
    stem = os.path.basename(run).partition(".")[0].replace("run", "")  # a column may be called run
    name = values.get("--run-name") or ("" if "run" in there else stem or "system")
    lines = [(run, ".run", "score", ["--run-name", name] if name else []), (qrels, ".qrels", "grade", [])]
    commands, missing = list[list[str]](), dict[str, str]()
    for to, ending, role, further in (one for one in lines if one[0]):
        its = ("query", "doc", role)
        flags = [word for one in its if columns[one] not in ("", one) for word in (f"--{one}", columns[one])]
        commands.append([PROGRAM, "convert", file, "-o", os.path.splitext(to)[0] + ending, *flags, *further])
        missing |= {one: f"--{one}" for one in its if there and not columns[one]}
    problem = f"--to {asked}: runs and judgments of TREC are written to files that end with .run and .qrels"
    known = {"--to", "--format", "--output", "-o", "--run-name", *(f"--{one}{end}" for one in TREC for end in ENDS)}
    known |= {f"--{role}" for role in OF_TREC}
    others = [flag for flag in values if flag.startswith("-") and flag not in known]
    told = [f"there is no option {flag}; {RETIRED[flag[2:]].text}" for flag in others if flag[2:] in RETIRED]
    ids = [columns[one] for one in ("query", "doc") if columns[one] in there]
    spaced = with_space(file, ids)
    told += _of_ids(there, missing, spaced)
    if missing or not all(is_filter(one, values[one]) for one in others) or (spaced and others):
        commands = []
    written = (underscored(one, file, spaced) if spaced else shlex.join(one) for one in commands)
    return "\n".join([problem, *told, *filter(None, written)])


def _of_ids(there: Sequence[str], missing: Mapping[str, str], spaced: Sequence[str]) -> Iterator[str]:
    """Yield what keeps rows out of a file of TREC: roles without a column, by role their flags, and ids with spaces."""
    if missing:
        ways = " and ".join(missing.values())
        yield f"{listed(there)}: none is called as the {' or the '.join(missing)}; name it with {ways}"
    if spaced:
        yield f"{listed(spaced)} has ids with white space, which a file of TREC cannot hold; write _ for each space"


def _column_of(role: str, there: Sequence[str]) -> str:
    """Return the column that likely has a role; ids are rather taken than texts. It is "" if none is."""
    usual = [*ROLES[role].among(there)]
    usual += [one for one in there if role == "score" and one.lower().endswith("score") and one not in usual]
    return next((one for one in usual if role not in there or one.endswith("_id")), role if role in there else "")


def _first_file(words: Sequence[str]) -> str:
    return next((one for one in words[1:] if os.path.isfile(one)), "")


def _is_log(name: str) -> bool:
    """Return True for a CSV or Parquet file that has no saved numbers."""
    there = columns_in(name) if os.path.isfile(name) else []
    return bool(there) and not {"metric", "value"} <= {*there}


def _to_judge(arguments: Sequence[str]) -> list[str]:
    """Return the command that prints the documents to judge, for a call that names their share."""
    if not any(plain_name(one.partition("@")[0]) == "unjudged" for one in arguments):
        return []
    files = [one for one in arguments[1:] if os.path.isfile(one) or one == "--qrels"]
    grade = greatest_grade(arguments)
    return [line("to-judge", [*files, "--max-grade", grade])] if grade else []


def _lines(error: Exception, arguments: Sequence[str]) -> list[str]:
    """Return the whole commands in which the way out of an error is taken: several where one of some is meant."""
    if "\n" in str(error) or not arguments or arguments[0] not in COMMANDS:
        return []
    name, rest = known_flags(arguments[0], arguments[1:])
    if isinstance(error, FrameMetricsError) and (error.options or error.instead):
        return [*_taken(error, name, rest)]
    return [_line(str(error), name, rest)]


def _taken(error: FrameMetricsError, name: str, rest: Sequence[str]) -> Iterator[str]:
    """Yield a call with the options that an error offers, and one after the other the words that may be meant."""
    known = options_of(name)
    named, _ = _without(rest, [known[one].flag for one in error.options if one in known])
    added = [word for one, value in error.options.items() for word in _flags_of(known[one], value)]
    for words in zip_longest(*(few or [""] for few in error.instead.values())) if error.instead else [()]:
        renamed = dict(zip(error.instead, words, strict=True))
        parts = ("".join(renamed.get(part, part) for part in PARTS.split(one)) for one in named)
        yield line(renamed.get(name, name), [*filter(None, parts), *added])


def _flags_of(option: Option, value: Any) -> list[str]:
    """Return the words that set an option: without its value for a switch, and None sets it aside."""
    if value is None or value is True:
        return [option.flag if value else option.no]
    return [word for one in ([value] if isinstance(value, str) else value) for word in (option.flag, str(one))]


def _line(message: str, name: str, rest: list[str]) -> str:
    """Return the whole command in which the first way out of a message is taken; "" if it is not known."""
    if (whole := _changed(message, name, rest)) is not None:
        return whole
    flags, instead = _offered(message, name), INSTEAD.search(message)
    if name == "agreement" and {"--label", "--predicted"} <= {*rest, *(word for flag in flags for word in flag)}:
        of_raters = [word for flag in flags if flag[0] not in rest for word in flag]
        named = [one for one in rest if one not in of_raters]
        return line("evaluate", [*named, *of_raters, "--metric", "kappa", "--no-query"])
    if not flags and not message.startswith(NO_METRIC) and REQUIRES_METRIC not in message:
        return ""
    if NO_FILE in message:
        rest = [one for one in rest if one not in [value for flag in flags for value in flag[1:]]]
    gone = [flag.replace("--no-", "--", 1) for flag, *_ in flags] + ([instead[1]] if instead else [])
    left, there = _without(rest, gone)
    kept = [flag for flag in flags if not flag[0].startswith("--no-") or flag[0].replace("--no-", "--", 1) not in there]
    grade = greatest_grade(rest)  # in the place of that of an example
    kept = [[flag[0], grade] if flag[0] == "--max-grade" and grade else flag for flag in kept]
    return line(name, [*left, *(word for flag in kept for word in flag)])


def _changed(message: str, name: str, rest: list[str]) -> str | None:
    """Return the whole command that an error leads to in another way than by flags to add; None if it does not."""
    if LACKS_SCALE in message:
        grade = greatest_grade(rest)
        return line(name, [*rest, "--max-grade", grade]) if grade else ""
    if NOT_SAVED in message:
        return line(name, rest)
    if EACH_FILE in message:
        return line(name, [*rest, "--system", "file"])
    if ALPHA_ALONE in message and "ci" in options_of(name):
        level = values_of(rest).get("--alpha", "")
        return line(name, [*_without(rest, ["--alpha"])[0], "--ci", f"{1 - float(level):g}"])
    if AGREEMENT in message:
        return line("agreement", _without(rest, ["--metric"])[0])
    if POOLED in message:
        return line("evaluate" if name == "per-query" else name, [*_without(rest, ["--query"])[0], "--no-query"])
    if (left_out := LEAVE_OUT.search(message)) and (option := options_of(name).get(left_out[1][2:].replace("-", "_"))):
        return line(name, _without(rest, [left_out[1]], switch=option.kind.switch)[0])
    if (wrong := NO_COLUMN.match(message)) and (right := MEANT.search(message) or USUAL.search(message)):
        pairs = with_before(rest)
        return line(name, [right[1] if (before, one) == wrong.groups() else one for one, before in pairs])
    return None


def _offered(message: str, name: str) -> list[list[str]]:
    """Return the flags that a message offers first, and those to add, with values; none if a value is not said."""
    found: list[list[str]] = []
    for number, offer in enumerate(OFFER.finditer(message)):
        if number and not offer[0].startswith("add"):
            continue
        one = _flags_at(message, offer.end(), name)
        if not one and not number:
            return []
        found += one
    return found


def _flags_at(message: str, at: int, name: str) -> list[list[str]]:
    """Return the flags at a place of a message, with their values; none if a value is not said."""
    found, options, meant = list[list[str]](), options_of(name), MEANT.search(message[at:])
    if either := EITHER.match(message, at):
        role = either[2] if meant and ROLES[either[2]].among([meant[1]]) else either[1]
        return [[f"--{role}", meant[1]]] if meant else []
    while flag := FLAG.match(message, at):
        option = options.get(flag[1][2:].replace("-", "_"))
        if flag[1].startswith("--no-") or (option and option.kind.switch):
            found.append([flag[1]])
            at = flag.end(1) + 1
            continue
        value = flag[2].rstrip(".?)") if flag[2] else meant[1] if meant else ""
        if option is None or not value or value in WORDS or flag[1] == "--duplicates":  # which may hide a mistake
            return []
        found.append([flag[1], *shlex.split(value)])
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
