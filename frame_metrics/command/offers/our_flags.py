"""Arguments in which other names of options are ours."""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import pairwise

import polars as pl

from frame_metrics.command.call import OF_ANNOTATORS
from frame_metrics.command.commands import options_of
from frame_metrics.command.files.columns_there import columns_in, first_rows, words_of
from frame_metrics.command.offers.losses import OF_LOSS, files_in, with_losses
from frame_metrics.command.offers.metric_words import with_averages, with_parameters
from frame_metrics.command.offers.named_metrics import METRIC_FLAGS, as_limit, is_metric, with_before, with_gates
from frame_metrics.command.offers.other_names import GATE, NUMBER, Way
from frame_metrics.command.offers.other_options import OF_COLUMN, OF_FIRST, OF_SECOND, OTHER_FLAGS, RETIRED
from frame_metrics.command.options import Option
from frame_metrics.command.periods import DATE, TIMES, UNITS, holds_dates
from frame_metrics.roles.roles import role_called

OF_TWO_FILES = ("compare", "change", "sample-size")  # commands whose first file is the baseline
SHARE = re.compile(r"0?\.\d+")  # a number that is no cutoff, but may be a threshold
OF_GROUPS = {**dict.fromkeys(("compare", "leaderboard", "sample-size"), "--system"), "ab-test": "--arm"}
NO_LEVEL = re.compile(r"$|-[^\d.]")  # what may stand behind --ci without its level
OF_IDS = (
    "--id",
    "--ids",
    "--row-id",
    "--key",
    "--on",
    "--pair-by",
    "--pair-on",
    "--match-on",
    "--match-by",
    "--join-on",
)
OF_WEEKS = ("calendar", "iso", "number", "no", "start")  # words beside that for a period
OF_PERIODS, LEAST_PERIOD = ("--by=", "--arm="), 3  # flags of periods, and letters of the word for one
# Words in flags of files of judgments by people, and by a machine.
OF_PEOPLE, OF_MACHINE = {"human", "humans", "people", "manual"}, {"llm", "machine", "judge", "gpt", "ai"}
OF_JUDGES = ("--a", "--b", "--with", "--against")
# Flags of the first and the last day of the rows that are meant, and the signs of their conditions.
DAYS = {"--since": ">=", "--from-date": ">=", "--start-date": ">=", "--until": "<=", "--to-date": "<="}
DAYS |= {"--end-date": "<="}
TEXT = ("text", "txt", "plain")  # other names of the format of a table


def known_flags(name: str, arguments: Sequence[str]) -> tuple[str, list[str]]:
    """Return a command and its arguments, in which other names of options are ours; -q is the command per-query."""
    found: list[str] = []
    arguments = [*_each_file(arguments)]
    arguments = _of_raters(_with_filters(_each_metric(arguments), {**options_of(name)}), options_of(name))
    if name == "per-query" and "--baseline" in values_of(arguments):  # whose values are differences
        name, arguments = "compare", [*arguments, "--per-query"]
    if name in OF_ANNOTATORS:
        arguments = _of_two_judges(_of_predictions(arguments))
    elif "proxy" in options_of(name):
        arguments = _of_people_and_machine(arguments)
    arguments = with_parameters(name, with_averages(name, with_losses(name, arguments)))
    arguments = _files_first(arguments) if name in OF_TWO_FILES else arguments
    arguments = with_gates(arguments) if "fail_under" in options_of(name) else arguments
    arguments = _with_query_id(arguments) if "query_id" in options_of(name) else arguments
    arguments = [as_limit(one) if before == "--subject-to" else one for one, before in with_before(arguments)]
    for at, argument in enumerate(arguments):
        flag, equals, value = argument.partition("=")
        after = value if equals else next(iter(arguments[at + 1 :]), "")
        if name == "evaluate" and flag == "-q" and not equals:
            words = ["--query"] if after and after[0] != "-" and not is_input(after) else []
            name = name if words else "per-query"
        elif name == "evaluate" and flag in ("--per-query", "--per-class") and _takes_gates(flag[2:], arguments):
            name, words = flag[2:], []
        elif name == "to-judge" and argument.isdecimal() and not (found and found[-1][0] == "-"):
            words = ["--n", argument]
        elif argument in TEXT and found[-1:] in (["--to"], ["--format"]):
            words = ["table"]
        elif argument == "--ci" and "ci" in options_of(name) and (NO_LEVEL.match(after) or is_input(after)):
            words = ["--ci=0.95"]
        elif name in OF_ANNOTATORS and _of_judge(flag) and not equals and os.path.isfile(after):
            words = []  # a file is an input
        elif flag in OF_IDS and _pairs_rows(name, after, arguments):
            words = ["--doc"]
        elif name == "change" and flag in ("--period", "--periods") and after in _columns(arguments):
            words = ["--arm"]
        elif name in OF_GROUPS and OF_COLUMN.sub("", flag) == "--group":
            words = [OF_GROUPS[name]]
        else:
            words = _ours(flag, options_of(name), after, arguments)
        found += [*words[:-1], f"{words[-1]}={value}"] if equals and words else words
    return name, _with_periods([*_each_column(found, options_of(name))], options_of(name))


def _with_periods(arguments: Sequence[str], options: Container[str]) -> list[str]:
    """Return arguments in which a period that is no column, as week, is that of the only column of dates."""
    words = [part for one in arguments for part in (one.split("=", 1) if one.startswith(OF_PERIODS) else [one])]
    asked = [one for one, before in with_before(words) if before in ("--by", "--arm") and _period_in(one)]
    asked = [one for one in asked if one not in first_rows(arguments).columns] if "every" in options else []
    dates = _dates_in(arguments) if asked else []
    if len(asked) != 1 or len(dates) != 1:
        return [*arguments]
    named = [dates[0] if one == asked[0] and before in ("--by", "--arm") else one for one, before in with_before(words)]
    every = UNITS.get(_period_in(asked[0]), "")
    return [*named, *(["--every", f"1{every}"] if every and not {"--every", "--since"} & {*words} else [])]


def _dates_in(arguments: Sequence[str]) -> list[str]:
    """Return the columns of dates in the first file that has columns."""
    rows = first_rows(arguments)
    return [one for one in rows.columns if holds_dates(rows[one])]


def _pairs_rows(name: str, value: str, arguments: Sequence[str]) -> bool:
    """Return True for the ids of rows that are decided about, each of which has one."""
    rows = first_rows(arguments) if "doc" in options_of(name) else pl.DataFrame()
    typed = {"--predicted", "--threshold"} & {*arguments} and not {"--doc", "--query"} & {*arguments}
    return bool(typed) and value in rows.columns and not rows[value].is_duplicated().any()


def _period_in(text: str) -> str:
    """Return the word for a period, or for a date, in the name of a column, as week in iso_week; "" for none."""
    words = [one for one in re.split("[ _-]", text.lower()) if one not in OF_WEEKS]
    return words[0] if len(words) == 1 and len(words[0]) >= LEAST_PERIOD and words[0] in {*UNITS, *TIMES} else ""


def read_otherwise(typed: Sequence[str], ours: Sequence[str]) -> bool:
    """Return True for arguments that set a gate, or a period, which nobody typed by its name, or by another."""
    flags = {one.partition("=")[0].replace("_", "-") for one in typed}
    flags |= {words.split(" ")[0] for one in flags for words in [OTHER_FLAGS.get(one)] if isinstance(words, str)}
    return bool({*OF_LOSS, "--every", "--where"} & {*ours} - flags)


def _takes_gates(name: str, arguments: Sequence[str]) -> bool:
    """Return True if a command has all gates of some arguments."""
    gates = {*GATE} & {one.partition("=")[0] for one in arguments}
    return all(one[2:].replace("-", "_") in options_of(name) for one in gates)


def _each_column(arguments: Sequence[str], options: Mapping[str, Option]) -> Iterator[str]:
    """Yield arguments in which columns with commas between them have the flag each, if it may be repeated."""
    there, left = _columns(arguments), [*arguments]
    while left:
        flag, equals, value = left.pop(0).partition("=")
        option, value = options.get(flag[2:].replace("-", "_")), value if equals else next(iter(left), "")
        columns = value.split(",")
        several = option and option.kind.many and option.kind.metavar == "COLUMN" and value not in there
        if not several or len(columns) < 2 or not {*columns} <= {*there}:
            yield f"{flag}{equals}{value * bool(equals)}"
            continue
        yield from (word for one in columns for word in (flag, one))
        left = left if equals else left[1:]


def _each_file(arguments: Sequence[str]) -> Iterator[str]:
    """Yield arguments in which files with commas between them are one argument each."""
    for one in arguments:
        flag, equals, value = one.rpartition("=") if one[:2] == "--" else ("", "", one)
        files = value.split(",") if "," in value and not os.path.exists(value) else []
        yield from [f"{flag}{equals}{file}" for file in files] if files and all(map(os.path.isfile, files)) else [one]


def _each_metric(arguments: Sequence[str]) -> list[str]:
    """Return arguments in which metrics behind that of a flag have the flag too, so that they stay in order."""
    found = list[str]()
    for one in arguments:
        behind = len(found) > 1 and found[-2] in METRIC_FLAGS and is_metric(found[-1])
        found += [found[-2], one] if behind and is_metric(one) and not os.path.exists(one) else [one]
    return found


def _with_filters(arguments: Sequence[str], options: Mapping[str, Option]) -> list[str]:
    """Return arguments in which a column that is named as a flag, with one of its values, is a condition on rows.

    So is the first or the last day, of the only column of dates.
    """
    found, filters, left = list[str](), list[str](), [*arguments]
    while left:
        flag, equals, value = left[0].partition("=")
        column, value = flag[2:], value if equals else next(iter(left[1:]), "")
        known = has_flag(flag, options) or flag in OTHER_FLAGS or flag[2:] in RETIRED or role_called(column)
        rows = first_rows(arguments) if flag[:2] == "--" and not known else pl.DataFrame()
        values = rows[column] if column in rows.columns else pl.Series(dtype=pl.String)
        dates = _dates_in(arguments) if flag in DAYS and not has_flag(flag, options) and DATE.fullmatch(value) else []
        is_filter = len(dates) == 1 or (not values.dtype.is_nested() and value in values.cast(pl.String))
        if is_filter:
            filters.append(f"{dates[0]}{DAYS[flag]}{value}" if dates else f"{column}={value}")
        found += [] if is_filter else left[:1]
        left = left[2 if is_filter and not equals else 1 :]
    return [*found, *(word for one in filters for word in ("--where", one))]


def _of_raters(arguments: Sequence[str], options: Mapping[str, Option]) -> list[str]:
    """Return arguments in which two columns beside kappa, with another flag or without one, are those it compares."""
    left = [part for one in arguments for part in (one.split(",") if one.count(",") == 1 else [one])]
    if not any(one.startswith("kappa") for one in left) or {"--label", "--predicted", "--grade"} & {*left}:
        return [*arguments]
    there = _columns(arguments)
    for at, pair in enumerate(pairwise(left)):
        before = left[at - 1] if at else ""
        flagged = before[:1] == "-" and (before == "--columns" or not has_flag(before, options))
        if {*pair} <= {*there} and not any(map(is_metric, pair)) and (flagged or before[:1] != "-"):
            return [*left[: at - flagged], "--label", pair[0], "--predicted", pair[1], *left[at + 2 :]]
    return [*arguments]


def _of_two_judges(arguments: Sequence[str]) -> list[str]:
    """Return arguments in which the grades of two files have the name of the first, where each has its own alone.

    The other column of grades is then read as that.
    """
    there = [columns_in(one) for one in files_in(arguments)]
    at = next((at for at, one in enumerate(arguments) if one in ("--grade", "--label")), None)
    if at is None or len(there) != 2:
        return [*arguments]
    behind = [part for one in arguments[at + 1 : at + 4] for part in one.split(",") if part != arguments[at]]
    pair, own = behind[:2], [[one for one in its if one not in other] for its, other in (there, there[::-1])]
    if sorted(pair) != sorted(one for its in own for one in its):
        return [*arguments]
    rest = [one for one in arguments[at + 1 :] if one not in (*pair, ",".join(pair), arguments[at])]
    return [*arguments[: at + 1], own[0][0], *rest]


def _of_predictions(arguments: Sequence[str]) -> list[str]:
    """Return arguments in which what two files predict are the labels that are compared, and not what is true."""
    if "--predicted" not in arguments or "--annotator" in arguments or len(files_in(arguments)) != 2:
        return [*arguments]
    return ["--label" if one == "--predicted" else one for one in without(arguments, ["--label"])[0]]


def _of_people_and_machine(arguments: Sequence[str]) -> list[str]:
    """Return arguments in which a file of people's judgments is that of --qrels, and one of a machine's of --proxy.

    Beside people's alone, the file of --qrels is the machine's.
    """
    flags = {flag for flag in (one.partition("=")[0] for one in arguments) if flag == "--qrels" or _of_judge(flag)}
    words = [part for one in arguments for part in (one.split("=", 1) if one.partition("=")[0] in flags else [one])]
    files = {flag for value, flag in with_before(words) if _of_judge(flag) and os.path.isfile(value)}
    ours = {one: "--qrels" for one in files if words_of(one) & OF_PEOPLE}
    ours |= {one: "--proxy" for one in files if words_of(one) & OF_MACHINE}
    if "--qrels" in ours.values() and not {"--proxy"} & {*words, *ours.values()}:
        ours["--qrels"] = "--proxy"
    return [ours.get(one, one) for one in words] if ours else [*arguments]


def _of_judge(flag: str) -> bool:
    """Return True for the flag of a file of judgments, by one of two who judge."""
    return flag in OF_JUDGES or (flag[:2] == "--" and bool(words_of(flag) & (OF_PEOPLE | OF_MACHINE)))


def _with_query_id(arguments: Sequence[str]) -> list[str]:
    """Return arguments in which --query is the value of a query, if another flag names the column of queries."""
    flags = [one.partition("=") for one in arguments]
    column = next((flag for flag, _, _ in flags if flag != "--query" and OF_COLUMN.sub("", flag) == "--query"), None)
    if column is None:
        return [*arguments]
    ours = {column: "--query", "--query": "--query-id"}
    return [f"{ours.get(flag, flag)}{equals}{value}" for flag, equals, value in flags]


def _files_first(arguments: Sequence[str]) -> list[str]:
    """Return arguments in which files that flags call the baseline, or the other one, are the inputs."""
    first, second, rest, left = list[str](), list[str](), list[str](), [*arguments]
    plain = {one for one, before in with_before(arguments) if before[:1] != "-"}
    while left:
        flag, equals, value = left.pop(0).partition("=")
        value = value if equals else (left[:1] or [""])[0]
        files = first if flag in OF_FIRST else second if flag in OF_SECOND else None
        if files is None or value in plain or not os.path.isfile(value):
            rest.append(f"{flag}{equals}{value * bool(equals)}")
            continue
        files.append(value)
        left = left if equals else left[1:]
    at = next((at for at, one in enumerate(rest) if not is_input(one) or is_metric(one)), len(rest))
    return [*first, *rest[:at], *second, *rest[at:]]


def without(arguments: Sequence[str], flags: Sequence[str], *, switch: bool = False) -> tuple[list[str], set[str]]:
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


def values_of(arguments: Sequence[str]) -> dict[str, str]:
    """Return what stands behind each argument, after an equals sign or as the next one."""
    pairs = (one.partition("=") for one in arguments)
    after = [*arguments[1:], ""]
    return {flag: value if equals else next_one for (flag, equals, value), next_one in zip(pairs, after, strict=False)}


def first_file(words: Sequence[str]) -> str:
    """Return the first file behind the name of a command; "" if there is none."""
    return next((one for one in words[1:] if os.path.isfile(one)), "")


def is_input(argument: str) -> bool:
    """Return True for an argument that is an input, or a metric."""
    return argument == "-" or os.path.exists(argument) or is_metric(argument)


def _ours(flag: str, options: Mapping[str, Option], value: str, arguments: Sequence[str]) -> list[str]:
    """Return our option, and its value if it has one, for another name; else the name as it is."""
    plain = OF_COLUMN.sub("", flag.replace("_", "-").lower())
    others = OTHER_FLAGS.get(flag.replace("_", "-").lower()) or OTHER_FLAGS.get(plain)
    role = _role_of(plain[2:].replace("-", "_"), options, value, arguments) if flag[:1] == "-" else ""
    if flag[:1] != "-" or (has_flag(flag, options) and not role):
        return [flag]
    known = [others] if isinstance(others, str) else [*(others or ())]
    singular = [_singular(plain)] if _way(plain[2:], value) is None else []
    known += [*([f"--{role}"] * bool(role and singular)), plain, *singular]
    known = ["--threshold", *known] if plain in ("--cutoff", "--at") and SHARE.fullmatch(value) else known
    ours = next((one for one in known if _suits(one.split(" ")[0], options, value, arguments)), flag)
    return [flag] if ours == "--input" and not os.path.exists(value) else ours.split(" ")


def _role_of(word: str, options: Mapping[str, Option], value: str, arguments: Sequence[str]) -> str:
    """Return the role for whose columns a word is usual, if the value is a column; "" if no option of columns is."""
    role, own = role_called(word) or role_called(_singular(word)) or "", options.get(word)
    of_columns = own is not None and "column" in f"{own.kind.metavar} {own.help}".lower()
    return role if role in options and not of_columns and _is_column(value, arguments) else ""


def _singular(word: str) -> str:
    return re.sub("ie$", "y", word.rstrip("s")) if word.endswith("s") else word


def _suits(flag: str, options: Mapping[str, Option], value: str, arguments: Sequence[str]) -> bool:
    """Return True for the flag of an option, unless the value is a file and it takes columns, or the other way."""
    if not has_flag(flag, options):
        return False
    takes, file = options[flag[2:].replace("-", "_")].kind.metavar, os.path.isfile(value)
    column = not file and value in _columns(arguments)
    return not (file if takes == "COLUMN" else column and takes in ("FILE", "ID"))


def _columns(arguments: Sequence[str]) -> list[str]:
    """Return the columns of the files among arguments."""
    return [column for one in arguments if os.path.isfile(one) for column in columns_in(one)]


def _is_column(name: str, arguments: Sequence[str]) -> bool:
    """Return True for a column of a file among arguments, or several with commas; for any if no file has columns."""
    there = _columns(arguments)
    return {*name.split(",")} <= {*there} if there else not re.fullmatch(NUMBER, name)


def has_flag(flag: str, options: Container[str]) -> bool:
    """Return True for the flag of an option."""
    return "_" not in flag and flag.startswith("--") and flag[2:].replace("-", "_") in options


def _way(word: str, value: str) -> Way | None:
    """Return the way out for a flag that was given a value that it is for."""
    way = RETIRED.get(word)
    return way if way and way.value and re.fullmatch(way.value, value) else None
