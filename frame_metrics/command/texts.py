"""Texts that come from data, written so that nothing that shows them takes them for anything else than text."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Mapping

from frame_metrics.border.shown import printable
from frame_metrics.command.front import PROGRAM
from frame_metrics.command.options import Option
from frame_metrics.errors import FrameMetricsError

QUOTE = "'"  # around texts, in errors
OTHERWISE = {  # what is said in other words here
    "baseline=saved": "--saved FILE",
    "label=True": "--all-relevant",
    "(..., several=)": " with --several",
    "(..., paired=False)": " with --no-paired",
}
# A spreadsheet runs a cell that begins so. One that has an apostrophe gets another, so that there is a way back.
_FORMULA = re.compile("^('*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20])")
_NO_FORMULA = re.compile("^'('*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20])")


def in_lines(text: str) -> str:
    """Return a text of several lines with the codes of characters that move the cursor, or change what is seen."""
    return "\n".join(map(printable, text.split("\n")))


def say(message: str) -> None:
    """Print a message on standard error, with a mark before every line, so that none passes for another program's."""
    shown = in_lines(message)
    first, *more = (shown.replace("##[", "##\\[") if on_github() else shown).split("\n")
    print(f"{PROGRAM}: {first}", *(f"  | {line}" for line in more), sep="\n", file=sys.stderr)


def no_formula(text: str) -> str:
    """Return a text that a spreadsheet does not run: with an apostrophe before it where it would."""
    return _FORMULA.sub(r"'\1", text)


def with_formulas(text: str) -> str:
    """Return what ``no_formula`` was given."""
    return _NO_FORMULA.sub(r"\1", text)


def on_github() -> bool:
    """Return True in a workflow of GitHub, which runs commands that it finds in what is printed."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def no_command(text: str) -> str:
    """Return a text in one line, in which GitHub finds no command: :: at the start of a line, ##[ anywhere."""
    line = text.replace("\r", "\\r").replace("\n", "\\n").replace("##[", "##\\[")
    return f"\\{line}" if line.lstrip().startswith("::") else line


def in_command(text: str, *, of_property: bool = False) -> str:
    """Return a text as a workflow command of GitHub takes it."""
    codes = {"%": "%25", "\n": "%0A"} | ({":": "%3A", ",": "%2C"} if of_property else {})
    return "".join(codes.get(letter, letter) for letter in in_lines(text))


def in_words(error: Exception, options: Mapping[str, Option] | None = None) -> str:
    """Return what is wrong, with the options that are flags here as flags; of another library's error the line."""
    if isinstance(error, FrameMetricsError):
        return _for_files(with_flags(str(error), options or {}), options or {})
    if isinstance(error, FileNotFoundError) and error.filename:
        return f"{error.filename}: there is no such file"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or ''}: {error.strerror}".lstrip(": ")
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _for_files(message: str, options: Mapping[str, Option]) -> str:
    """A message with the ways out that files have, and code as arguments."""
    if "qrels" in options and "is missing; name its column with --label or --grade" in message:
        message += "; judgments in a separate file are named with --qrels"
    message = message.replace("; pass run= with the name", "; say --run-name with the name")
    message = message.replace(", or give other rankings, as --baseline frame", "")
    words = re.search(r"--scale \{(.*)\}", message)
    if words:
        each = (
            f"--scale {shlex.quote(word[1:-1])}=..." for word in re.findall(r"('[^']*'|\"[^\"]*\"): \.\.\.", words[1])
        )
        message = message.replace(words[0], " ".join(each))
    message = re.sub(r"or a frame of (them|documents)", r"or a file of \1", message)
    return re.sub(r"name one, as in \w+\('([^']+)'\)", r"name one behind the input, as \1", message)


def quoted(text: str, options: Mapping[str, Option]) -> str:
    """Return a text in which names of options, which stand in quotes, are flags of the same length."""
    return re.sub(rf"'({'|'.join(options)})'", lambda found: options[found[1]].flag, text)


def with_flags(message: str, options: Mapping[str, Option]) -> str:
    """A message that says ``query=`` as the flag of that name; what stands in brackets is code, and stays."""
    if not options:
        return message

    def written(found: re.Match[str]) -> str:
        name, value, several, other = found.groups()
        if name is None or found[0] in OTHERWISE:
            return OTHERWISE.get(found[0], found[0])
        values = re.split(r",\s*", several) if several else [value or ""]
        return " ".join(_flag(options[name], one) for one in values) + (" " if other is not None else "")

    name = "|".join(sorted(options, key=len, reverse=True))
    value = r"None|True|False|saved\b|'[^']*'|\[([^\[\]]+)\]|\d[\d.]*"
    other = r"(?=[-\w<{\[])"  # a value that is written as it stands, as -5
    return re.sub(rf"\([^()]*\)|(?<![\w.-])({name})=(?:({value})|({other}))?", written, message)


def _flag(option: Option, value: str) -> str:
    """An option and its value, as Python writes it, as a flag."""
    if value == "None" or (option.kind.switch and value == "False"):
        return option.no if option.kind.settable else f"no {option.flag}"
    if value in ("True", "False"):
        return option.flag if option.kind.switch else f"{option.flag} {value.lower()}"
    said = shlex.quote(value[1:-1]) if value[:1] == QUOTE else value
    return f"{option.flag}{'=' if said.lstrip(QUOTE).startswith('-') else ' '}{said}".rstrip()
