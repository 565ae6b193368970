"""Flags that no command has: what they may stand for, as their words, their values and the files of the call show."""

from __future__ import annotations

import os
import re
import shlex
from argparse import SUPPRESS
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, get_args

import polars as pl

from frame_metrics.command.commands import COMMANDS, metrics_taken, options_of
from frame_metrics.command.files.columns_there import first_rows, has_judgments, likeness, may_hold, words_of
from frame_metrics.command.files.formats import format_of
from frame_metrics.command.offers.named_metrics import COMPARED, METRIC_FLAGS, is_metric, parted
from frame_metrics.command.offers.other_names import GATE, NUMBER
from frame_metrics.command.offers.other_options import OTHER_FLAGS
from frame_metrics.command.options import JUDGMENTS, VERB, Option, literal
from frame_metrics.command.periods import DATE
from frame_metrics.errors import FrameMetricsError
from frame_metrics.roles.columns import FOUND, ROLES
from frame_metrics.roles.roles import OPTIONS_ELSEWHERE, role_called

# Roles that rows lack, in the order in which a column without another sign is taken for them; one of each is enough.
NEEDED = (("query",), ("score", "rank", "predicted"), ("grade", "label"))
NEEDED_BY = {"ab-test": ("arm",), "change": ("arm",), "compare": ("system",), "leaderboard": ("system",)}
WHAT = re.compile(r"[;.,:]? \(|[;.,:] |\.$")  # behind the first clause of a help text
# Words that say nothing of an option.
SMALL = {
    *("by", "of", "no", "the", "use", "with", "col", "column", "field", "name"),
    *("num", "n", "max", "min", "is", "set"),
}
OF_BEFORE = ("--baseline", "--fail-if-worse-than", "--not-worse-than")  # flags of the log of before
SIDES = ("baseline", "control", "old", "base", "reference", "before")
OVER, DROPS = {"max", "most", "over", "above", "ceiling", "worst"}, {"drop", "loss", "decrease", "regression", "fall"}
LEAST_WORD = 4  # letters of a word that is looked for in the names of options
AS_DEFAULT = r'"{}"[^".;]{{0,40}}default'


class Meant(NamedTuple):
    """An option in the place of an unknown flag."""

    words: list[str]  # in its place; none if it is left out
    taken: int = 0  # how many further arguments are its values
    gone: tuple[str, ...] = ()  # flags that it replaces
    text: str = ""  # for people: what stands in its place


def reading_of(command: str, flag: str, after: Sequence[str], typed: Sequence[str]) -> Meant:
    """Return what an unknown flag stands for, which is left out if nothing shows it.

    Parameters
    ----------
    flag : the flag as it was typed, perhaps with its value.
    after : the arguments behind it.
    typed : all other arguments of the call.
    """
    name, equals, value = flag.partition("=")
    follows = bool(after) and not equals and after[0][:1] != "-"
    value = value if equals else after[0] if follows else ""
    judged = "--qrels" in typed  # else options of judgments in a separate file have no effect
    known = {one: its for one, its in options_of(command).items() if its.help != SUPPRESS and its.flag != name}
    known = {one: its for one, its in known.items() if judged or one == "qrels" or its.group != JUDGMENTS}
    for found in _each(command, name, value, known, typed):
        return found._replace(taken=int(follows and bool(found.taken)))
    rows = first_rows(typed)
    positional = os.path.exists(value) or (is_metric(value) and name not in METRIC_FLAGS)
    is_value = follows and (value in rows.columns or not positional)
    return Meant([], int(is_value), text=f"without {shlex.join([name, value] if is_value or equals else [name])}")


def _each(command: str, name: str, value: str, known: Mapping[str, Option], typed: Sequence[str]) -> Iterator[Meant]:
    """Yield what a flag may stand for, the likeliest first; ``taken`` is 1 where it has its value behind it."""
    rows, words = first_rows(typed), words_of(name)
    if value and {*value.split(",")} <= {*rows.columns}:
        for meant in _of_columns(command, name, value.split(",")[0], known, typed):
            each = [word for one in value.split(",") for word in (meant.words[0], one)]
            yield meant._replace(words=each, text=_in_place(each, [name, value])) if "," in value else meant
        return
    if "since" in known and DATE.fullmatch(value):
        yield _taken_as(known["since"], value, name, typed)
        return
    choices = [one for one, its in known.items() if value and _may_be(its, value)]
    if one := choices[0] if len(choices) == 1 else _likeliest(choices, known, name):
        yield _taken_as(known[one], value, name, typed)
    for word in (words - SMALL) if not value or value.lower() == "true" else ():
        if len(named := [one for one, its in known.items() if _may_be(its, word)]) == 1:
            yield _taken_as(known[named[0]], word, name, typed)._replace(taken=int(bool(value)))
    if value.endswith(".html") and "output" in known and not {"-o", "--output"} & {*typed}:
        yield _taken_as(known["output"], value, name, typed)
    if value and os.path.isfile(value):
        if "qrels" in known and has_judgments(value):
            yield _taken_as(known["qrels"], value, name, typed)
        elif {"--max-drop", "--margin"} & {*typed} and "fail_if_worse_than" in known and not {*OF_BEFORE} & {*typed}:
            yield _taken_as(known["fail_if_worse_than"], value, name, typed)
        else:
            yield Meant([value], 1, text=f"with the file {value} in the place of {name} {value}")
    elif value and "output" in known and format_of(value) and not {"-o", "--output"} & {*typed}:
        yield _taken_as(known["output"], value, name, typed)
    limit = COMPARED.fullmatch(value)
    if limit and is_metric(limit[1]):
        over = bool(words & OVER) or limit[2] == "<"
        way = "max_drop" if words & DROPS else "fail_over" if over else "fail_under"
        way = "subject_to" if "subject_to" in known else way
        if way in known:
            yield _taken_as(known[way], value, name, typed, f"{limit[1]}={limit[3]}")
    elif value and metrics_taken(command) and all(map(is_metric, parted(value))):
        yield _taken_as(known["metric"], value, name, typed)
    if one := _likeliest([one for one in known if _takes(known[one], value)], known, name):
        yield _taken_as(known[one], value, name, typed)


def _of_columns(
    command: str, name: str, value: str, known: Mapping[str, Option], typed: Sequence[str]
) -> Iterator[Meant]:
    """Yield the roles that a column may have that a flag names, the likeliest first."""
    rows = first_rows(typed)
    first = next((typed[typed.index(flag) + 1] for flag in typed[:-1] if flag.lstrip("-") in SIDES), "")
    if first in rows.columns and "baseline" in known and may_hold("score", rows[value]):
        words = ["--score", first, "--score", value]
        yield Meant(words, 1, text=_in_place(words, [name, value]))
    there = {*typed} | {f"--{one}" for one in rows.columns if one in FOUND}
    free = [one for one in known if one in ROLES and (f"--{one}" not in typed or one in ("by", "cluster", "query"))]
    free = [one for one in free if f"--no-{one}" not in typed and may_hold(one, rows[value])]
    label = next((one for flag, one in pairwise(typed) if flag == "--label"), "")
    classes = label in rows.columns and rows[label].dtype == pl.String  # of rows that are classified, without a query
    groups = (NEEDED_BY.get(command, ()), *NEEDED[bool(classes) :])
    lacking = (group for group in groups if not {f"--{role}" for role in group} & there)
    needed = [one for group in lacking for one in group if one in free]
    degrees = {one: 3 * _degree(one, name) + _degree(one, value) for one in free}
    likely = {one: degree + 2 * (one in needed) for one, degree in degrees.items() if degree}
    order = sorted(likely, key=lambda one: -likely[one]) or [*needed, *(["by"] if "by" in free else [])]
    decided = classes or "--predicted" in typed
    if "doc" in free and decided and "id" in words_of(f"{name} {value}") and not rows[value].is_duplicated().any():
        order = ["doc"]  # which pairs rows that are decided about
    if any(name[2:].replace("-", "_") in {*options_of(one)} for one in COMMANDS):  # which is no word for a role
        order = [one for one in order if _degree(one, name)]
    for one in order[:1]:
        yield _taken_as(known[one], value, name, typed)


def not_read(command: str, argument: str, after: Sequence[str]) -> bool:
    """Return True for a known flag with a value that its option cannot read."""
    flag, equals, value = argument.partition("=")
    option, value = options_of(command).get(flag[2:].replace("-", "_")), value if equals else next(iter(after), "")
    if (
        flag[:2] != "--"
        or flag in (*GATE, "--where")
        or option is None
        or option.kind.switch
        or not value
        or value[:1] == "-"
    ):
        return False
    try:
        option.value([value] if option.kind.many else value, flag)
    except FrameMetricsError:
        return True
    return False


def with_flags_of_columns(command: Sequence[str]) -> list[str]:
    """Return a command in which columns behind the value of a flag have that flag too, and others that of their role.

    One column by itself may be meant as a metric, and stays.
    """
    rows, name, found = first_rows(command), command[0] if command else "", list[str]()
    known = options_of(name) if name in COMMANDS else {}
    if "metric" not in known:  # others say themselves what columns behind the input are
        return [*command]
    for one in command:
        flag = found[-2] if len(found) > 1 and found[-2][:1] == "-" and found[-1] in rows.columns else ""
        is_column = one in rows.columns and not is_metric(one) and found[-1:] and found[-1][:1] != "-"
        found += [flag, one] if is_column and flag and "COLUMN" in str(known.get(flag[2:].replace("-", "_"))) else [one]
    pairs = zip(found, ["", *found], strict=False)
    alone = [one for one, before in pairs if before[:1] != "-" and one in rows.columns and not is_metric(one)]
    if len(alone) < 2 or any(map(os.path.exists, alone)):
        return found
    for one in alone:
        found.remove(one)
        found += next((meant.words for meant in _of_columns(name, "", one, known, found)), [one])
    return found


def _degree(role: str, flag: str) -> int:
    """Return 2 for a flag that is another name of a role, 1 for one with a word of such a name, else 0."""
    plain, words = "_".join(sorted(words_of(flag) - SMALL)), words_of(flag) - SMALL
    others = [one for one, ours in OTHER_FLAGS.items() if f"--{role}" in ([ours] if isinstance(ours, str) else ours)]
    elsewhere = [one for one, (ours, _) in OPTIONS_ELSEWHERE.items() if ours.startswith(f"{role}=")]
    if any("_".join(sorted(words_of(one))) == plain for one in (*others, *elsewhere)):
        return 2
    named = {word for one in (*others, *elsewhere) for word in words_of(one) if len(word) >= LEAST_WORD}
    return max(likeness(role, flag), int(bool(words & named)))


def _may_be(option: Option, value: str) -> bool:
    """Return True for a value that is one of an option's choices, that its help has in quotes, or that is a test."""
    if option.name == "test":
        from frame_metrics.verbs.compare.options import TEST_ALIASES, Test  # which takes a while

        return value.lower() in (*get_args(Test), *TEST_ALIASES)
    return value in (option.kind.choices or ()) or f'"{value}"' in option.help


def may_take(option: Option, value: str) -> bool:
    """Return True if the value that a flag was given, or else no value, is one that an option takes."""
    return option.kind.switch or bool(value and value[:1] != "-" and value in (option.kind.choices or (value,)))


def _takes(option: Option, value: str) -> bool:
    """Return True for a value that an option can read; "" stands for none, which switches take."""
    kind = option.kind
    if not value or kind.switch:
        return kind.switch == (not value)
    if kind.choices or kind.metavar == "COLUMN":
        return False
    if kind.read is literal and option.group == VERB and not re.fullmatch(NUMBER, value):
        return False
    try:
        option.value([value] if kind.many else value, option.flag)
    except ValueError:
        return False
    return not (kind.texts and re.fullmatch(NUMBER, value))


def _likeliest(names: Sequence[str], known: Mapping[str, Option], flag: str) -> str:
    """Return the option with most words of a flag in its name, then in its help, then the first word; "" for none."""
    words = [one for one in re.findall("[a-z]+", flag.lower()) if one not in SMALL]
    also = [role for one in words if (role := role_called(one))]
    ours = [_other_name(one) for one in words]
    degrees = {one: _words_in(known[one], words, also, ours) for one in names}
    best = max(names, key=lambda one: degrees[one], default="")
    return best if best and degrees[best][0] else ""


def _other_name(word: str) -> str:
    """Return our flags for a word that other tools have for an option, with spaces between; "" if none has."""
    ours, (elsewhere, _) = OTHER_FLAGS.get(f"--{word}", ""), OPTIONS_ELSEWHERE.get(word, ("", ""))
    return " ".join(
        [*([ours] if isinstance(ours, str) else ours), *([f"--{elsewhere.partition('=')[0]}"] * bool(elsewhere))]
    )


def _words_in(option: Option, words: Sequence[str], also: Sequence[str], ours: Sequence[str]) -> tuple[int, int, int]:
    """Return how many words the name of an option has, how many it and its help have, and minus the first one's place.

    Parameters
    ----------
    also : the roles for which the words are usual, of which a help text may speak.
    ours : our flags for each word that is another tool's.
    """
    name, told = re.findall("[a-z]+", option.name), {_stem(one) for one in re.findall("[a-z]+", option.help)}
    pairs = enumerate(zip(words, ours, strict=True))
    there = [at for at, (one, its) in pairs if option.flag in its.split() or any(_same(one, word) for word in name)]
    return len(there), len(there) + len({*map(_stem, (*words, *also))} & told), -min(there, default=0)


def _same(one: str, other: str) -> bool:
    """Return True for words of one stem, of which one may be cut short, as rel is."""
    short, long = sorted(map(_stem, (one, other)), key=len)
    return short == long or (len(short) > 2 and long.startswith(short))


def _stem(word: str) -> str:
    return re.sub(r"(ations?|ing|ed|es|s)$", "", word) if len(word) > LEAST_WORD else word


def _taken_as(option: Option, value: str, flag: str, typed: Sequence[str], ours: str = "") -> Meant:
    """Return an option in the place of a flag, and of the same option with another value, if that is typed.

    ``ours``: the value as the option reads it, if it is written otherwise.
    """
    given, whole = "" if option.kind.switch else ours or value, [flag, *([value] if value else [])]
    if given and re.search(AS_DEFAULT.format(re.escape(given)), option.help):
        return Meant([], 1, text=f"without {shlex.join(whole)}, which is what happens anyway")
    words = [option.flag, *([given] if given else [])]
    gone = (option.flag,) if option.flag in typed and not option.kind.many else ()
    return Meant(words, int(bool(value)), gone, _in_place(words, whole, WHAT.split(option.help)[0]))


def _in_place(words: Sequence[str], typed: Sequence[str], about: str = "") -> str:
    return f"with {shlex.join(words)}{f' ({about})' * bool(about)} in the place of {shlex.join(typed)}"
