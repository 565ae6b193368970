"""The flags that an error offers, in the whole command that was typed."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Sequence

import polars as pl

from frame_metrics.command.commands import COMMANDS, options_of
from frame_metrics.command.front import PROGRAM
from frame_metrics.command.guesses import known_flags, line
from frame_metrics.command.other_names import BY_FIXED_PERIOD, BY_PERIOD, PERIODS, RETIRED, WEEKS
from frame_metrics.metrics.names import plain_name
from frame_metrics.roles.columns import ROLES

OFFER = re.compile(r"\b(?:pass|add|(?:its|their) columns? with) (?=--)")
FLAG = re.compile(r"(--[\w-]+)(?:[ =]('[^']*'|[^\s,;:'-][^\s,;:]*))?")
MEANT = re.compile(r"did you mean '([^']+)'")
EITHER = re.compile(r"--(\w+) or --(\w+),")
AS_METRIC = re.compile(r"no metric '([^']+)'.*--label (\S+), beside a metric")
INSTEAD = re.compile(r" in the place of (--[\w-]+)")
TWO_MEANINGS = re.compile(r"'([^']+)' means two things: (\w+) ")
NO_METRIC = "no metric was asked for"
NO_FILE = "does not look like the name of a file"
GATES, SAVED_AS = ("--not-worse-than", "--fail-if-worse-than"), "base.csv"
NOT_SAVED = "it has to be what "
AGREEMENT = "agreement compares annotators"
PLAIN = re.compile(r"[\w./ -]+")  # names that mean nothing else to a shell, or within quotes
PERIOD = re.compile(r"(\d*)\s*([A-Za-z])")  # a length of periods, as 1w and week
MOST_MESSAGES = 6  # messages of one call
# Words behind a flag that are no values.
WORDS = {"FILE", "COLUMN", "SESSION", "NAME", "VALUE", "METRIC", "or", "to", "and", "if", "the", "as", "with"}


def with_line(message: str, arguments: Sequence[str], error_of: Callable[[list[str]], str]) -> str:
    """Return a message with what else is wrong, and the whole command in which the ways out are taken, if it is known.

    Parameters
    ----------
    arguments : the command with its files and options.
    error_of : returns what a call would say before it computes anything, "" for one that would run.
    """
    told = message.split("\n")
    lines = [one for one in told if one.startswith(f"{PROGRAM} ")] or [_line(message, arguments)]
    told = [one for one in told if one not in lines]
    while len(lines) == 1 and lines[0] and "-" not in arguments and len(told) < MOST_MESSAGES:
        typed = shlex.split(lines[0].partition(" | ")[0].removesuffix("2>/dev/null"))[1:]
        if not (further := error_of(typed)):
            break
        lines = [_line(further, typed)] if further not in told else []
        told += [further] * (further not in told)
    told, lines = _of_period(told, lines, arguments)
    lines = [step for one in lines for step in _in_steps(one)] + _to_judge(arguments)
    return "\n".join([*told, *filter(None, lines)])


def _of_period(messages: list[str], lines: list[str], arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return messages and commands in which a column of periods is made of the reader's own file and column of days."""
    if len(lines) != 1 or not lines[0] or not any(WEEKS in one for one in messages):
        return messages, lines
    whole, pipe, tail = lines[0].partition(" | ")
    words = shlex.split(whole)
    file, column = _first_file(words), words[words.index("--by") + 1] if "--by" in words[:-1] else "date"
    if not file.endswith(".csv") or not PLAIN.fullmatch(file + column):
        return messages, lines
    period, length = _asked_period(arguments)
    made = WEEKS.replace("'log.csv'", repr(file)).replace("'date'", repr(column))
    messages = [one.replace(WEEKS, made) for one in messages]
    if not period or "--by" not in words:
        return messages, lines
    python = made.replace("1w", length).replace("week=", f"{period}=").replace("weeks.csv", f"{period}s.csv")
    messages = [one.replace(f"made by {made}", "which is made first") for one in messages]
    words[words.index(file)], words[words.index("--by") + 1] = f"{period}s.csv", period
    return messages, [python, f"{shlex.join(words)}{pipe}{tail}"]


def _asked_period(arguments: Sequence[str]) -> tuple[str, str]:
    """Return the name of the column of periods that are asked for, and their length for polars; "" if none is known."""
    for at, one in enumerate(arguments):
        flag, equals, value = one.partition("=")
        way = RETIRED.get(flag.lstrip("-")) if flag.startswith("--") else None
        text = (value if equals else [*arguments, ""][at + 1]) if way is BY_PERIOD else flag.lstrip("-")
        found = PERIOD.match(text) if way in (BY_PERIOD, BY_FIXED_PERIOD) else None
        if found and found[2].lower() in PERIODS:
            period, unit = PERIODS[found[2].lower()]
            return period, f"{found[1] or 1}{unit}"
    return "", ""


def in_trec(arguments: Sequence[str]) -> str:
    """Return the error about a format of TREC for --to, with the commands that write a run and judgments.

    It is "" for another format.
    """
    values = dict(zip(arguments, [*arguments[1:], ""], strict=False))
    asked, file = values.get("--to", "").lower(), _first_file(["", *arguments])
    if asked not in ("trec", "run", "qrels") or not file:
        return ""
    there, names = [*_columns(file)], [values.get(flag, "") for flag in ("--run", "--qrels")]
    given = values.get("--output") or values.get("-o") or "out"
    run, qrels = names[0] or given * (asked != "qrels"), names[1] or given * (asked == "qrels")
    ids = _named_roles(("query", "doc"), there)
    name = os.path.basename(run).partition(".")[0].replace("run", "") or "system"  # a column may be called run
    of_run = [*_named_roles(("score",), there), *([] if "run" in there else ["--run-name", name])]
    lines = [(run, ".run", of_run), (qrels, ".qrels", _named_roles(("grade",), there))]
    written = ((os.path.splitext(to)[0] + ending, its) for to, ending, its in lines if to)
    commands = [shlex.join([PROGRAM, "convert", file, "-o", to, *ids, *its]) for to, its in written]
    problem = f"--to {asked}: runs and judgments of TREC are written to files that end with .run and .qrels"
    return "\n".join([problem, *commands])


def _named_roles(roles: Sequence[str], there: Sequence[str]) -> list[str]:
    """Return the flags of roles whose columns have other usual names; those of ids are rather taken than texts."""
    usual = ((role, ROLES[role].among(there)) for role in roles)
    found = ((role, [one for one in names if role not in there or one.endswith("_id")]) for role, names in usual)
    return [word for role, names in found if names for word in (f"--{role}", names[0])]


def _columns(name: str) -> list[str]:
    """Return the columns of a CSV or Parquet file; none of another."""
    if not name.endswith((".csv", ".parquet")):
        return []
    read = pl.scan_csv if name.endswith(".csv") else pl.scan_parquet
    return read(name).collect_schema().names()


def _in_steps(whole: str) -> list[str]:
    """Return the commands that a command needs: two where a gate names a log in the place of saved numbers."""
    words = shlex.split(whole.partition(" | ")[0])[1:]
    gate = next((words.index(flag) for flag in GATES if flag in words[:-1]), None)
    if gate is None or not _is_log(old := words[gate + 1]):
        return [whole]
    named = [old if one == _first_file(words) else one for one in _without(words[1:], ["--margin", words[gate]])[0]]
    words[gate + 1] = SAVED_AS
    return [line("per-query", [*named, "-o", SAVED_AS]), shlex.join([PROGRAM, *words])]


def _first_file(words: Sequence[str]) -> str:
    return next((one for one in words[1:] if os.path.isfile(one)), "")


def _is_log(name: str) -> bool:
    """Return True for a CSV or Parquet file that has no saved numbers."""
    there = _columns(name) if os.path.isfile(name) else []
    return bool(there) and not {"metric", "value"} <= {*there}


def _to_judge(arguments: Sequence[str]) -> list[str]:
    """Return the command that prints the documents to judge, for a call that names their share."""
    if not any(plain_name(one.partition("@")[0]) == "unjudged" for one in arguments):
        return []
    files = [one for one in arguments[1:] if os.path.isfile(one) or one == "--qrels"]
    return [line("to-judge", [*files, "--max-grade", "3"])]


def _line(message: str, arguments: Sequence[str]) -> str:
    """Return the whole command in which the first way out of a message is taken; "" if it is not known."""
    if "\n" in message or not arguments or arguments[0] not in COMMANDS:
        return ""
    name, rest = known_flags(arguments[0], arguments[1:])
    flags, column, instead = _offered(message, name), AS_METRIC.search(message), INSTEAD.search(message)
    if NOT_SAVED in message:
        return line(name, rest)
    if means := TWO_MEANINGS.search(message):
        return line(name, [means[2] if one == means[1] else one for one in rest])
    if name == "agreement" and {"--label", "--predicted"} <= {*rest, *(word for flag in flags for word in flag)}:
        of_raters = [word for flag in flags if flag[0] not in rest for word in flag]
        named = [one for one in rest if one not in of_raters]
        return line("evaluate", [*named, *of_raters, "--metric", "kappa", "--no-query"])
    if AGREEMENT in message:
        return line("agreement", _without(rest, ["--metric"])[0])
    if column and column[1] == column[2]:
        rest = ["ctr@10" if one == column[1] else one for one in rest]
        flags.insert(0, ["--label", column[1]])
    if not flags and not message.startswith(NO_METRIC):
        return ""
    if NO_FILE in message:
        rest = [one for one in rest if one not in [value for flag in flags for value in flag]]
    gone = [flag.replace("--no-", "--", 1) for flag, *_ in flags] + ([instead[1]] if instead else [])
    left, there = _without(rest, gone)
    kept = [flag for flag in flags if not flag[0].startswith("--no-") or flag[0].replace("--no-", "--", 1) not in there]
    return line(name, [*left, *(word for flag in kept for word in flag)])


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


def _without(arguments: Sequence[str], flags: Sequence[str]) -> tuple[list[str], set[str]]:
    """Return arguments without some flags and their values, and the flags that were there."""
    kept, there, left = list[str](), set[str](), iter(arguments)
    for one in left:
        flag, equals, _ = one.partition("=")
        if flag not in flags:
            kept += [] if flag.replace("--no-", "--", 1) in flags else [one]
            continue
        there.add(flag)
        if not equals:
            next(left, "")
    return kept, there
