"""The whole command that a call means in which names are other than ours."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Container, Iterator, Sequence

from frame_metrics.command.commands import metrics_taken, options_of
from frame_metrics.command.formats import format_inside
from frame_metrics.command.front import PROGRAM
from frame_metrics.command.named_metrics import is_metric, limited, with_gates
from frame_metrics.command.other_names import NEED_METRIC, NUMBER, TWO, Way
from frame_metrics.command.other_options import (
    LEVEL,
    LIMITED,
    NO_ROWS,
    OF_ALL,
    OF_COLUMN,
    OF_CUTOFF,
    OF_DEPTH,
    OF_FIRST,
    OF_SECOND,
    OTHER_FLAGS,
    PICTURE,
    RETIRED,
)
from frame_metrics.metrics.names import TWO_MEANINGS, plain_name, read_text

OF_TWO_FILES = ("compare", "change", "sample-size")  # commands whose first file is the baseline
SHARE = re.compile(r"0?\.\d+")  # a number that is no cutoff, but may be a threshold
OF_GROUPS = {**dict.fromkeys(("compare", "leaderboard", "sample-size"), "--system"), "ab-test": "--arm"}
OF_ROWS = ("compare", "ab-test", "change", "bounds")  # commands whose rows may be many
NO_LEVEL = re.compile(r"$|-[^\d.]")  # what may stand behind --ci without its level
MOST_FILES = 100  # files of one name
LEAST = ("min", "at-least")
TEXT = ("text", "txt", "plain")  # other names of the format of a table
RANK = "NF - 2"  # the column of ranks of documents to judge, counted from the last, as ids may have commas
UNKNOWN = Way("")


def known_flags(name: str, arguments: Sequence[str]) -> tuple[str, list[str]]:
    """Return a command and its arguments, in which other names of options are ours; -q is the command per-query."""
    found: list[str] = []
    arguments = _files_first(arguments) if name in OF_TWO_FILES else arguments
    arguments = with_gates(arguments) if "fail_under" in options_of(name) else arguments
    arguments = _with_query_id(arguments) if "query_id" in options_of(name) else arguments
    for at, argument in enumerate(arguments):
        flag, equals, value = argument.partition("=")
        after = value if equals else next(iter(arguments[at + 1 :]), "")
        if name == "evaluate" and flag == "-q" and not equals:
            words = ["--query"] if after and after[0] != "-" and not is_input(after) else []
            name = name if words else "per-query"
        elif name == "evaluate" and flag == "--per-query":
            name, words = "per-query", []
        elif name == "to-judge" and argument.isdecimal() and not (found and found[-1][0] == "-"):
            words = ["--n", argument]
        elif argument in TEXT and found[-1:] in (["--to"], ["--format"]):
            words = ["table"]
        elif argument == "--ci" and "ci" in options_of(name) and (NO_LEVEL.match(after) or is_input(after)):
            words = ["--ci=0.95"]
        elif name in OF_GROUPS and OF_COLUMN.sub("", flag) == "--group":
            words = [OF_GROUPS[name]]
        else:
            words = _ours(flag, options_of(name), after)
        found += [*words[:-1], f"{words[-1]}={value}"] if equals and words else words
    return name, found


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


def values_of(arguments: Sequence[str]) -> dict[str, str]:
    """Return what stands behind each argument, after an equals sign or as the next one."""
    pairs = (one.partition("=") for one in arguments)
    after = [*arguments[1:], ""]
    return {flag: value if equals else next_one for (flag, equals, value), next_one in zip(pairs, after, strict=False)}


def first_file(words: Sequence[str]) -> str:
    """Return the first file behind the name of a command; "" if there is none."""
    return next((one for one in words[1:] if os.path.isfile(one)), "")


def with_before(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Return pairs of each argument and the one before it, "" for the first."""
    return zip(arguments, ["", *arguments], strict=False)


def is_input(argument: str) -> bool:
    """Return True for an argument that is an input, or a metric."""
    return argument == "-" or os.path.exists(argument) or is_metric(argument)


def _ours(flag: str, options: Container[str], value: str) -> list[str]:
    """Return our option, and its value if it has one, for another name; else the name as it is."""
    if not flag.startswith("-") or _in(flag, options):
        return [flag]
    plain = OF_COLUMN.sub("", flag.replace("_", "-").lower())
    others: str | tuple[str, ...] = OTHER_FLAGS.get(flag.replace("_", "-").lower()) or OTHER_FLAGS.get(plain) or ()
    known = [*([others] if isinstance(others, str) else others), plain]
    known += [plain.rstrip("s")] if _way(plain[2:], value) is None else []
    known = ["--threshold", *known] if plain in ("--cutoff", "--at") and SHARE.fullmatch(value) else known
    ours = next((one for one in known if _in(one.split(" ")[0], options)), flag)
    return [flag] if ours == "--input" and not os.path.exists(value) else ours.split(" ")


def _in(flag: str, options: Container[str]) -> bool:
    """Return True for the flag of an option."""
    return "_" not in flag and flag.startswith("--") and flag[2:].replace("-", "_") in options


def _way(word: str, value: str) -> Way | None:
    """Return the way out for a flag that was given a value that it is for."""
    way = RETIRED.get(word)
    return way if way and way.value and re.fullmatch(way.value, value) else None


def way_of(command: str, flag: str) -> Way:
    """Return the way out for an unknown flag of a command that means something else; one without a text if none is."""
    word = flag.lstrip("-").removeprefix("no-") if flag.startswith("-") else ""
    return RETIRED.get(f"{command} {word}") or RETIRED.get(word) or _of_limit(command, word)


def _one_way(command: str, flag: str, arguments: Sequence[str]) -> Way:
    """Return the way out for a flag, beside the other arguments: rows are cut where it cannot mean a cutoff."""
    way = way_of(command, flag)
    metrics = [one for argument in arguments for one in argument.split(",") if is_metric(one)]
    rows = command in OF_ROWS and all("@" in one for one in metrics)
    return RETIRED[flag.lstrip("-")] if way is NO_ROWS and rows else way


def _of_limit(command: str, word: str) -> Way:
    """Return the way out for a flag that is a metric, or its limit, as min-precision; one without a text if none is."""
    limited, options = LIMITED.fullmatch(word), options_of(command)
    end, metric = (limited[1], limited[2].replace("-", "_")) if limited else ("", word)
    if len(metric) == 1 or metrics_taken(command) is None or not is_metric(metric):
        return UNKNOWN
    if "subject_to" in options:
        upwards = read_text(metric)[0][1].higher is not False
        text = "the metric that is chosen by comes behind the input, and limits are --subject-to"
        typed = f"--subject-to {metric}={{}}" if not end or upwards == (end in LEAST) else None
        return Way(text, typed, value=NUMBER)
    if not end or "fail_under" not in options:
        return Way(f"name the metric behind the input, as log.csv {metric}")
    gate = "--fail-under" if end in LEAST else "--fail-over"
    return Way(f"a gate is {gate} {metric}=VALUE", f"{gate} {metric}={{}}", value=NUMBER)


def line(name: str, arguments: Sequence[str], tail: str = "") -> str:
    """Return the whole command that a call means, to be typed as it is; "" if it is not known, or no line says it.

    A metric is added where the command needs one and none is there.
    """
    command, left = known_flags(name, arguments)
    found, cutoffs, depth = list[str](), "", ""
    while left:
        argument = left.pop(0)
        if _is_known(argument.partition("=")[0], command):
            found.append(argument)
            continue
        way = _one_way(command, argument.partition("=")[0], [*found, *left])
        value = _value(way, argument, left)
        typed = way.typed if value else way.alone if way.value else way.typed
        if typed is None or (value and not re.fullmatch(way.value, value)):
            return ""
        if way is LEVEL:
            value = f"{1 - float(value):g}"
        values = value.split(",") if typed.count("{}") > 1 else [value]
        words = [*_filled(typed, values)]
        words = words[2:] if words[2:] and words[0] in {*found, *left} else words  # which is typed, with its own value
        found = [*[value] * way.first, *found, *words]
        cutoffs, depth = value if way is OF_CUTOFF else cutoffs, value if way is OF_DEPTH else depth
        if way.tail and (value or not way.value):
            tail = way.tail.format(int(value) + way.tail.startswith("| head") if value.isdecimal() else value)
        command = way.command or command
    if depth:
        found, tail = _pool(found, depth)
    while any(one.startswith("kappa(weights=") for one in found) and "kappa" in found[1:]:  # which is not meant then
        at = found.index("kappa", 1)
        found = [*found[: at - (found[at - 1] in ("-m", "--metric"))], *found[at + 1 :]]
    return _joined(command, found, cutoffs, tail)


def _value(way: Way, argument: str, left: list[str]) -> str:
    """Return the value of a flag, which is taken from the arguments left to read; "" if it has none."""
    _, equals, value = argument.partition("=")
    if equals or not way.value or not left:
        return value
    if way.value == TWO and "," not in left[0]:
        return ",".join(left.pop(0) for _ in left[:2])
    return left.pop(0) if way.alone is None or re.fullmatch(way.value, left[0]) else ""


def _filled(typed: str, values: Sequence[str]) -> Iterator[str]:
    """Yield the words of a way, in which each {} stands for the next value."""
    each = iter(values)
    for word in typed.split():
        yield word.replace("{}", next(each, "")) if "{}" in word else word


def _pool(arguments: list[str], depth: str) -> tuple[list[str], str]:
    """Return arguments and the end of the command that prints documents down to a rank, in the column of ranks."""
    kept, written, left = list[str](), "", [*arguments]
    while left:
        one = left.pop(0)
        written = left.pop(0) if one in ("-o", "--output") and left else written
        kept += [] if one in ("-o", "--output") else [one]
    asked = f"awk -F, 'NR == 1 || $({RANK}) && $({RANK}) <= {depth}'"
    if not written:
        return kept, f"| {asked}"
    stem, kind = os.path.splitext(written)
    whole = shlex.quote(unused(f"{stem}_all.csv"))  # a pipe would write a file if it fails too
    end = f"> {shlex.quote(written)}"
    if kind not in ("", ".csv", ".txt"):
        end = f"| {PROGRAM} convert - --from csv -o {shlex.quote(written)}"
    return [*kept, "-o", whole], f"&& {asked} {whole} {end}"


def unused(name: str) -> str:
    """Return a name that no file has yet, so that none is replaced."""
    stem, ending = os.path.splitext(name)
    names = (f"{stem}{number}{ending}" for number in range(2, MOST_FILES))
    return next((one for one in (name, *names) if not os.path.exists(one)), name)


def _joined(command: str, arguments: list[str], cutoffs: str, tail: str) -> str:
    """Return a whole command, with what it needs beside the arguments; "" if it has not one of their options."""
    if not all(_is_known(one.partition("=")[0], command) for one in arguments):
        return ""
    if command in NEED_METRIC and not any(one == "-" or os.path.exists(one) for one in arguments):  # nothing to read
        return ""
    if tail.startswith("|") and {"-o", "--output"} & {*arguments}:  # which writes all rows, and prints none
        return ""
    if command in NEED_METRIC and not any(one in ("-m", "--metric") or _is_named_metric(one) for one in arguments):
        arguments += dict.fromkeys(limited(arguments)) or [_usual_metric(command, arguments, cutoffs)]
    arguments = [_with_cutoff(one, cutoffs) for one in arguments] if cutoffs else arguments
    if command == "report":
        arguments = [PICTURE.sub(".html", one) for one in arguments]
    files = [one for one, before in with_before(arguments) if before[:1] != "-"]
    runs = [one for one in files if os.path.isfile(one) and format_inside(one) != "qrels"]
    if command == "to-judge" and len(runs) > 1 and "--system" not in arguments:
        arguments += ["--system", "file"]
    return f"{shlex.join([PROGRAM, command, *arguments])} {tail}".rstrip()


def _usual_metric(command: str, arguments: Sequence[str], cutoffs: str) -> str:
    """Return the metric of a command that names none: of rankings, or of what its options are about."""
    if command == "best-threshold":
        limits = [one for one, before in with_before(arguments) if before == "--subject-to"]
        return "f1" if not limits else "precision" if any(one.startswith("recall=") for one in limits) else "recall"
    ranked = {"--query", "--rank", "--grade", "--qrels"} & {*arguments}
    if "click" in values_of(arguments).get("--label", "").lower() and "--grade" not in arguments:
        return "success"
    if "--predicted" in arguments:
        return "f1"
    return "roc_auc" if "--score" in arguments and not ranked else f"ndcg@{cutoffs or 10}"


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
