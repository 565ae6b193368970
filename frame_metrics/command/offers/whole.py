"""The whole command that a call means in which names are other than ours."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence

from frame_metrics.command.commands import metrics_taken, options_of
from frame_metrics.command.files.columns_there import has_judgments, words_of
from frame_metrics.command.front import PROGRAM
from frame_metrics.command.offers.losses import ALONE, LOSS
from frame_metrics.command.offers.metric_words import about_parameter
from frame_metrics.command.offers.named_metrics import METRIC_FLAGS, is_metric, limited, parted, with_before
from frame_metrics.command.offers.other_names import NEED_METRIC, NUMBER, PER_QUERY, TWO, Way
from frame_metrics.command.offers.other_options import (
    LEVEL,
    LIMITED,
    NO_ROWS,
    OF_ALL,
    OF_CUTOFF,
    OF_DEPTH,
    PICTURE,
    RETIRED,
)
from frame_metrics.command.offers.our_flags import has_flag, known_flags, values_of, without
from frame_metrics.command.offers.unknown_flags import LEAST_WORD, Meant, not_read, reading_of
from frame_metrics.command.rates import rates_in
from frame_metrics.metrics.names import TWO_MEANINGS, plain_name, read_text

SEVERAL_THRESHOLDS = re.compile(r"(?<=--threshold )([\d.]+(?:,[\d.]+)+)")
OF_ROWS = ("compare", "ab-test", "change", "bounds")  # commands whose rows may be many
OF_COLUMNS = ("--sort", "--columns", "--value")  # flags whose values are columns of results
MOST_FILES = 100  # files of one name
LEAST = ("min", "at-least")
GATE_WORDS = {"fail", "assert", "require", "gate", "worse", "margin", "split", *LOSS, *ALONE}
RANK = "NF - 2"  # the column of ranks of documents to judge, counted from the last, as ids may have commas
UNKNOWN = Way("")
DEPTH = {"audit": "; it looks at the first 10 results as it is"}


def way_of(command: str, flag: str, arguments: Sequence[str] = ()) -> Way:
    """Return the way out for an unknown flag of a command that means something else; one without a text if none is.

    Beside the other arguments, the top of rows of queries has the highest values.
    """
    flag = "--best" if flag == "--top" and (command == "per-query" or PER_QUERY in arguments) else flag
    word = flag.lstrip("-").removeprefix("no-") if flag.startswith("-") else ""
    known = RETIRED.get(f"{command} {word}") or RETIRED.get(word)
    if known is OF_CUTOFF and not metrics_taken(command):
        return OF_CUTOFF._replace(text=f"{command} takes no metrics, and has no cutoff{DEPTH.get(command, '')}")
    limit = UNKNOWN if known else _of_limit(command, word)
    return known or (limit if limit.text or not metrics_taken(command) else Way(about_parameter(word)))


def _one_way(command: str, flag: str, arguments: Sequence[str]) -> Way:
    """Return the way out for a flag, beside the other arguments: rows are cut where it cannot mean a cutoff."""
    way = way_of(command, flag, arguments)
    metrics = [one for argument in arguments for one in parted(argument) if is_metric(one)]
    rows = command in OF_ROWS and all("@" in one for one in metrics)
    return RETIRED[flag.lstrip("-")] if way is NO_ROWS and rows else way


def by_word(command: str, argument: str, after: Sequence[str]) -> list[str]:
    """Return the flag of one word of an unknown flag where that would lead on, with its value; [] if none would."""
    flag, equals, value = argument.partition("=")
    words = [one for one in re.split("[-_]", flag) if len(one) >= LEAST_WORD and one != flag.lstrip("-")]
    for word in (key for one in words for key in RETIRED if key.startswith(one)):
        way, given = way_of(command, f"--{word}"), value if equals else next(iter(after), "")
        if way.typed is not None and way.value and re.fullmatch(way.value, given):
            return [f"--{word}{equals}{value}"]
    return []


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
    if command == "sample-size" and rates_in(left):
        return shlex.join([PROGRAM, command, *left])
    found, cutoffs, depth, notes, unread_numbers = list[str](), "", "", list[str](), False
    while left:
        argument = left.pop(0)
        unread = not_read(command, argument, left)
        if not unread and _is_known(argument.partition("=")[0], command):
            found.append(argument)
            continue
        way, after = UNKNOWN if unread else _one_way(command, argument.partition("=")[0], [*found, *left]), [*left]
        value = _value(way, argument, left)
        typed = way.typed if value else way.alone if way.value else way.typed
        if typed is None or (value and not re.fullmatch(way.value, value)):
            one = reading_of(command, argument, after, [*found, *after])
            if one.words and not_read(command, one.words[0], one.words[1:]):
                one = Meant([], one.taken, text=f"without {shlex.join([argument, *after[: one.taken]])}")
            if not one.words and (other := by_word(command, argument, after)):
                left = [*other, *after]
                continue
            if not one.words and GATE_WORDS & words_of(
                argument.partition("=")[0]
            ):  # without it another gate would fail
                return ""
            found, left = [*without(found, one.gone)[0], *one.words], without(after[one.taken :], one.gone)[0]
            notes.append(one.text)
            unread_numbers = unread_numbers or (not one.words and bool(re.search(r"\d", one.text)))
            continue
        if way is LEVEL:
            value = f"{1 - float(value):g}"
        values = value.split(",") if typed.count("{}") > 1 else [value]
        words = [*_filled(typed, values)]
        words = words[2:] if words[2:] and words[0] in {*found, *left} else words  # which is typed, with its own value
        words = [one for one in words if one != PER_QUERY or one not in (*found, *left)]
        found = [*[value] * way.first, *found, *words]
        cutoffs, depth = value if way is OF_CUTOFF else cutoffs, value if way is OF_DEPTH else depth
        if "--sort" in typed:
            found, left, note = _of_one_metric(found, left)
            notes += filter(None, [note])
        if way.tail and (value or not way.value):
            tail = way.tail.format(int(value) + way.tail.startswith("| head") if value.isdecimal() else value)
        command, notes = way.command or command, [*notes, *([way.note] if way.note else [])]
    if depth:
        found, tail = _pool(found, depth)
    found = _without_plain_kappa(found)
    if unread_numbers and command in NEED_METRIC and not _names_metric(found):  # of a metric that is not known
        return ""
    whole = _each_threshold(_joined(command, found, cutoffs, tail))
    return "\n".join([f"{', '.join(notes)}:", whole]) if notes and whole else whole


def _without_plain_kappa(arguments: list[str]) -> list[str]:
    """Return arguments without kappa, which is not meant where it stands with weights too."""
    while any(one.startswith("kappa(weights=") for one in arguments) and "kappa" in arguments[1:]:
        at = arguments.index("kappa", 1)
        arguments = [*arguments[: at - (arguments[at - 1] in METRIC_FLAGS)], *arguments[at + 1 :]]
    return arguments


def _each_threshold(whole: str) -> str:
    """Return a whole command for each of several thresholds with commas between, one after the other."""
    several = SEVERAL_THRESHOLDS.search(whole)
    return " && ".join(whole.replace(several[1], one) for one in several[1].split(",")) if several else whole


def _of_one_metric(found: list[str], left: list[str]) -> tuple[list[str], list[str], str]:
    """Return arguments with the first metric alone, by whose values rows are sorted, and the note that says so."""
    pairs = [*with_before([*found, *left])]
    named = [one for one, before in pairs if (before[:1] != "-" or before in METRIC_FLAGS) and not os.path.exists(one)]
    first, *others = [one for one in named if is_metric(one) and not one.startswith("-")] or [""]
    if not others:
        return found, left, ""
    kept = [
        [
            one
            for one, after in zip(side, [*side[1:], ""], strict=False)
            if one not in others and not (one in METRIC_FLAGS and after in others)
        ]
        for side in (found, left)
    ]
    return kept[0], kept[1], f"of {first}, as the values of several metrics are in one column"


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
    written = [one for one in arguments if one.partition("=")[0] in ("-o", "--output")]
    if tail.startswith("|") and written:  # which writes all rows, and prints none
        file = values_of(arguments)[written[0].partition("=")[0]]
        if len(written) > 1 or not file.endswith(".csv"):
            return ""
        arguments, tail = without(arguments, ["-o", "--output"])[0], f"{tail} > {shlex.quote(file)}"
    if command in NEED_METRIC and "--value" not in arguments and not _names_metric(arguments):
        sorted_by = [one for one, before in with_before(arguments) if before == "--sort" and is_metric(one)]
        arguments += dict.fromkeys([*limited(arguments), *sorted_by]) or [_usual_metric(command, arguments, cutoffs)]
    arguments = [_with_cutoff(one, cutoffs) for one in arguments] if cutoffs else arguments
    if command == "compare" and arguments.count("--score") > 1 and "--baseline" not in arguments:
        arguments += ["--baseline", arguments[arguments.index("--score") + 1]]
    if command == "report":
        arguments = [PICTURE.sub(".html", one) for one in arguments]
    if command == "to-judge" and "--system" not in arguments:
        files = [one for one, before in with_before(arguments) if before[:1] != "-"]
        runs = [one for one in files if os.path.isfile(one) and not has_judgments(one)]
        arguments += ["--system", "file"] * (len(runs) > 1)
    return f"{shlex.join([PROGRAM, command, *arguments])} {tail}".rstrip()


def _names_metric(arguments: Sequence[str]) -> bool:
    """Return True if some argument is a metric that is asked for."""
    named = [one.removeprefix("--metric=") for one, before in with_before(arguments) if before not in OF_COLUMNS]
    return any(one in ("-m", "--metric") or _is_named_metric(one) for one in named)


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
    return not argument.startswith("-") or argument in OF_ALL or short or has_flag(plain, options)


def _is_named_metric(argument: str) -> bool:
    """Return True for the name of a metric, or of several with commas between, or one that means two things."""
    return plain_name(argument) in TWO_MEANINGS or any(map(is_metric, parted(argument)))


def _with_cutoff(argument: str, cutoffs: str) -> str:
    """Return metrics, with commas between, each of which has cutoffs; another argument as it is."""
    parts = parted(argument)
    if os.path.exists(argument) or not all(map(is_metric, parts)):
        return argument
    return ",".join(one if "@" in one else f"{one}@{cutoffs}" for one in parts)
