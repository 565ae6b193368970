"""Options: what flags and the keys of a settings file may say, made from the annotations of roles and verbs."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from inspect import Parameter, signature
from typing import Any, Literal, get_args, get_origin, get_type_hints

from frame_metrics.accessor import IRM
from frame_metrics.errors import BadValueError, FrameMetricsError, check_choice
from frame_metrics.metrics.docstrings import docstring
from frame_metrics.roles import roles
from frame_metrics.roles.roles import COLUMNS, RESOURCES, Roles

ROLES, CONVENTIONS = "roles: what each column is used for", "conventions"
JUDGMENTS, VERB = "judgments in a separate file", "options"
# Parameters of verbs that are no plain options here.
ELSEWHERE = ("baseline", "split", "margin", "fail_on", "kind", "path", "metrics", "metric")
RENAMED = {"query": "query_id"}  # parameters of verbs that are called as a role is, which a command has too

_NO_ZERO = re.compile(r"-?\.\d+([eE][+-]?\d+)?")  # a number without the 0 before its point, as .5


@dataclass(frozen=True)
class Kind:
    """A kind of values that a flag takes, and the function that reads them."""

    metavar: str | None = "VALUE"
    read: Callable[[Any], Any] = str  # from the text to the value; with ``many``, from the list of texts
    many: bool = False  # True if the flag may be repeated
    texts: bool = False  # True if a settings file may have only text
    choices: tuple[str, ...] | None = None
    switch: bool = False  # True if the flag has no value
    settable: bool = False  # True if there is a flag with --no- that undoes it


SWITCH = Kind(None, switch=True)
ON = replace(SWITCH, settable=True)  # a switch that is on unless it is undone
SHORT_FLAGS = {"input": ["-i"], "output": ["-o"], "metric": ["-m"]}


def one_of(choices: Sequence[str]) -> Kind:
    """Return the kind of an option whose value is one of some words."""
    return Kind(None, choices=tuple(choices))


class _Once(argparse.Action):
    """An option with one value; it is an error to give it two, of which one would be ignored."""

    def __call__(self, _parser: Any, given: argparse.Namespace, values: Any, _flag: str | None = None) -> None:
        before = getattr(given, self.dest, None)
        if before is not None and before != values:
            raise BadValueError(f"{self.option_strings[0]} is given twice, as {before} and as {values}; give it once")
        setattr(given, self.dest, values)


@dataclass(frozen=True)
class Option:
    """One option: a flag, and a key of a settings file."""

    name: str
    help: str
    group: str
    kind: Kind
    parameter: str = ""  # of the verb, where it has another name
    required: bool = False

    @property
    def flag(self) -> str:
        """Return the option as it is written on the command line."""
        return "--" + self.name.replace("_", "-")

    @property
    def no(self) -> str:
        """Return the flag that undoes the option."""
        return f"--no-{self.flag[2:]}"

    def add(self, group: Any) -> None:
        """Add the flag to a group of a parser; a flag that is not given leaves no value."""
        flags, kind = [self.flag, *SHORT_FLAGS.get(self.name, [])], self.kind
        given: dict[str, Any] = {"dest": self.name, "default": argparse.SUPPRESS}
        text = self.help.replace("%", "%%")
        if kind.switch:
            action: Any = argparse.BooleanOptionalAction if kind.settable else "store_true"
            group.add_argument(*flags, action=action, help=text, **given)
            return
        action = "append" if kind.many else _Once
        group.add_argument(*flags, action=action, choices=kind.choices, metavar=kind.metavar, help=text, **given)
        if kind.settable:
            group.add_argument(self.no, action="store_const", const=None, help=argparse.SUPPRESS, **given)

    def value(self, given: Any, where: str) -> Any:
        """Return the value of the option from that of a flag, or of a key of a settings file.

        Parameters
        ----------
        given : text, a list of texts or, from a settings file, a value that has its type already.
        where : the flag or the file, with which errors begin.
        """
        kind, texts = self.kind, given if isinstance(given, list) else [given]
        if [] in texts or (given == [] and not kind.many):  # as --rel=-- is parsed
            raise BadValueError(f"{where} needs a value")
        try:
            if kind.choices and given is not None:
                check_choice(self.name, given, kind.choices)
            if kind.switch or not all(isinstance(one, str) for one in texts):
                return given
            return kind.read(texts if kind.many else texts[0])
        except FrameMetricsError as error:
            raise type(error)(f"{where}: {error}") from None


def literal(text: str) -> Any:
    """Read a number, true or false, or a text; a text that looks like one of these is in double quotes."""
    try:
        value = float(text) if _NO_ZERO.fullmatch(text) else json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, int | float | str) else text


def _is_number(text: str) -> bool:
    """Return True for a text that is read as a number."""
    return not isinstance(literal(text), str | bool)


def number(text: str) -> float:
    """Read a number; raise for anything else."""
    value = literal(text)
    if isinstance(value, str | bool):
        raise BadValueError(f"{text!r} is not a number")
    return value


def alone(values: list[Any]) -> Any:
    """Return the only value of a list, or the list if it has several."""
    return values[0] if len(values) == 1 else values


def pairs(texts: Sequence[str], read: Callable[[str], Any] = str) -> dict[Any, str]:
    """Return the values of texts of the form NAME=VALUE, by name.

    The last equals sign separates name and value. ``read`` makes the name from its text.
    """
    for text in texts:
        if "=" not in text:
            raise BadValueError(f"{text!r} does not read as NAME=VALUE")
    found: dict[Any, str] = {}
    for key, _, value in (text.rpartition("=") for text in texts):
        name = read(key)  # equal names are one, as 3 and 3.0
        if name in found:
            raise BadValueError(f"{key!r} is given twice, with {found[name]} and with {value}; pass it once")
        found[name] = value
    return found


def shares(texts: Sequence[str]) -> dict[str, float]:
    """Return the numbers of texts of the form NAME=NUMBER, by name."""
    return {name: number(value) for name, value in pairs(texts).items()}


def gate_limits(texts: Sequence[str]) -> Any:
    """Return the limits of metrics by name, or the one number for the only metric."""
    for text in texts:
        if "=" not in text and (len(texts) > 1 or not _is_number(text)):
            if not _is_number(text):
                raise BadValueError(f"{text!r} is no limit of a metric: it is no number; pass one, as ndcg@10=0.4")
            raise BadValueError(f"{text!r} is no limit of a metric; name the metric, as ndcg@10={text}")
    return margins(texts)


def split_shares(texts: Sequence[str]) -> Any:
    """Return the shares of arms by name, or the word "equal" as it is."""
    return texts[0] if len(texts) == 1 and "=" not in texts[0] else shares(texts)


def margins(texts: Sequence[str]) -> Any:
    """Return the margins of metrics by name, or the one number for all."""
    return number(texts[0]) if len(texts) == 1 and "=" not in texts[0] else shares(texts)


def losses(texts: Sequence[str]) -> Any:
    """Return the losses of metrics by name, or the one number for all; raise for a share of the value of before."""
    for value in (one.rpartition("=")[2] for one in texts):
        if value.endswith("%") and _is_number(value[:-1]):
            raise BadValueError(
                f"{value!r} is a share, and the loss that is accepted is a number in units of the metric: "
                f"{value} of a value of 0.5 is {number(value[:-1]) / 200:g}"
            )
    return margins(texts)


def bounds(texts: Sequence[str]) -> Any:
    """Return a single severity as it is; else the bounds of checks and severities, by name.

    A bound is a share, a number, or True (any finding fails) for a name without "=".
    """
    if len(texts) == 1 and "=" not in texts[0]:
        return texts[0]
    return {
        name: _bound(bound) for name, bound in pairs([one if "=" in one else f"{one}=true" for one in texts]).items()
    }


def _bound(text: str) -> Any:
    """Return a percentage as a share, and any other text as the value that it stands for."""
    if not text.endswith("%"):
        return literal(text)
    try:
        return float(Decimal(text[:-1]) / 100)
    except InvalidOperation:
        raise BadValueError(f"{text!r} is no share in percent, as 2%") from None


def grades(texts: Sequence[str]) -> dict[Any, Any]:
    """Return the grade of each word; None for a word without a grade, which is no judgment."""
    return {word: number(grade) if grade else None for word, grade in pairs(texts, literal).items()}


def _scores(texts: Sequence[str]) -> Any:
    """Return columns; if there are several texts, each with an equals sign, the column of each class."""
    if len(texts) > 1 and all("=" in text for text in texts):
        return pairs(texts, literal)
    return alone(list(texts))


def _literals(texts: Sequence[str]) -> list[Any]:
    return [literal(text) for text in texts]


def _positive(texts: Sequence[str]) -> Any:
    """Return one label, or a list; given twice, a label is a list of one."""
    return _literals(texts[:1]) if len(texts) == 2 and texts[0] == texts[1] else alone(_literals(texts))


# How the values of a role are read, by its annotation. A role that is not here takes a number or a text.
_KINDS: dict[Any, Kind] = {
    roles.Column: Kind("COLUMN"),
    roles.Columns: Kind("COLUMN", alone, many=True),
    roles.SystemColumns: Kind("COLUMN", alone, many=True),
    roles.ScoreColumns: Kind("COLUMN", _scores, many=True),
    roles.ExtraColumns: Kind("NAME=COLUMN", pairs, many=True),
    roles.ClassList: Kind("VALUE", _literals, many=True),
    roles.PositiveLabels: Kind("VALUE", _positive, many=True),
    roles.Popularity: Kind("COLUMN|FILE", literal),
    roles.Propensity: Kind("COLUMN|FILE"),
    roles.Catalogue: Kind("N|FILE", literal),
    roles.Memory: Kind("SIZE"),
    roles.Folder: Kind("FOLDER", texts=True),
}


def role_options() -> list[Option]:
    """Return an option for each role and convention."""
    texts, options = described(IRM), []
    for name, hint in get_type_hints(Roles, include_extras=True).items():
        group = ROLES if name in COLUMNS else VERB if name in RESOURCES else CONVENTIONS
        options.append(Option(name, texts.get(name, ""), group, replace(_of_role(hint), settable=True)))
    return options


def _of_role(hint: Any) -> Kind:
    """Return the kind of a role, by its annotation."""
    kind = get_args(hint)[0] if get_args(hint) else hint
    if get_origin(kind) is Literal:
        return one_of(get_args(kind))
    if get_origin(kind) is Mapping:
        return Kind("WORD=GRADE", grades, many=True)
    return _KINDS.get(hint, Kind(read=literal))


def verb_options(verb: Callable[..., Any], group: str = VERB) -> list[Option]:
    """Return an option for each plain parameter of a verb."""
    texts, options = described(verb), []
    for name, parameter in signature(verb).parameters.items():
        if name not in ("self", *ELSEWHERE) and parameter.kind is not Parameter.VAR_POSITIONAL:
            required = parameter.default is Parameter.empty
            named = RENAMED.get(name, name)
            options.append(Option(named, texts.get(name, ""), group, _of_parameter(parameter), name, required))
    return options


def metrics_parameter(verb: Callable[..., Any]) -> Parameter | None:
    """Return the parameter with which a verb takes metrics, or curves; None if it takes none."""
    parameters = signature(verb).parameters
    return next((parameters[name] for name in ("metrics", "metric", "measures", "kind") if name in parameters), None)


def _of_parameter(parameter: Parameter) -> Kind:
    """Return the kind of a parameter, by its annotation, which is a text."""
    annotation = str(parameter.annotation)
    if parameter.name in RENAMED:
        return Kind("ID", alone, many=True)
    if annotation == "bool":
        return ON if parameter.default is True else SWITCH
    if annotation.startswith("Mapping["):
        return Kind("METRIC=VALUE", shares, many=True)
    read = literal if re.search(r"\b(int|float)\b", annotation) else str
    kind = Kind(read=read, texts=read is str, settable=parameter.name in COLUMNS)
    if "Sequence[" in annotation:
        return replace(kind, read=lambda texts: alone([read(text) for text in texts]), many=True)
    return kind


def options_in(declared: type, group: str) -> list[Option]:
    """Return an option for each kind that a class declares, with its text in the docstring of the class."""
    told = described(declared)
    kinds = [(name.rstrip("_"), kind) for name, kind in vars(declared).items() if isinstance(kind, Kind)]
    return [Option(name, told.get(name, ""), group, kind) for name, kind in kinds]


ENDS = "Returns|Yields|Raises|Notes|Examples"  # what comes after parameters, which may have headings of their own


def described(documented: Any) -> dict[str, str]:
    """Return the text about each parameter in a docstring, in one paragraph and without line breaks or backquotes."""
    text = docstring(documented)
    section = re.search(rf"^Parameters\n-+\n(.*?)(?=^(?:{ENDS})\n-+\n|\Z)", text, re.DOTALL | re.MULTILINE)
    entries = re.findall(r"^(\w+(?:, \w+)*) : (.*(?:\n(?: .*)?)*)", section[1] if section else "", re.MULTILINE)
    plain = [(names, re.sub(r"\s+", " ", text_of.replace("``", "'")).strip()) for names, text_of in entries]
    return {name: text_of for names, text_of in plain for name in names.split(", ")}
