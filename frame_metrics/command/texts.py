"""Texts from data, made safe to print: no terminal, spreadsheet or workflow runs them as commands."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Mapping

import polars as pl

from frame_metrics.backends.display import printable
from frame_metrics.command.front import PROGRAM
from frame_metrics.command.options import Option
from frame_metrics.errors import FrameMetricsError

QUOTE = "'"  # around texts, in errors
# What stands before further lines of a message, and before commands, which are copied as they are; how they begin.
MARK, NO_MARK, COMMANDS = "  | ", "    ", (f"{PROGRAM} ", "awk ")
FLAGS_FOR_CODE = {  # code in messages that the command line has other words for
    "baseline=saved": "--saved FILE",
    "label=True": "--all-relevant",
    "(..., several=)": " with --several",
}
OF_PROXY = r"^proxy, whose columns and scale are named as --proxy machine\.irm\(grade=\.\.\., scale=\.\.\.\):"
# Code in messages that is no option, and the words of the command line.
IN_CODE = (
    (r"(?:--baseline|\bbaseline=) as a frame\b", "a file of saved numbers"),
    (r"frame_metrics\.list_metrics\(\)", f"{PROGRAM} metrics"),
    (
        r"\bhas to be what per_query\(\) returned",
        f"has to be what {PROGRAM} per-query old.csv ndcg@10 -o base.csv wrote",
    ),
    (r"\bper_query\(\) returned", "per-query wrote"),
    (r"\bjudge\(\)", "--qrels"),
    (
        rf"{OF_PROXY} judge: the label or grade is missing; name its column with --label or --grade, one of (.+)",
        r"--proxy: its file has no grade or label as that of --qrels; name its column with --proxy-grade, one of \1",
    ),
    (
        rf"{OF_PROXY} judge: name the .*?columns? of the judgments with [^;]+; they have (.+)",
        r"--proxy: its file has no query or document as that of --qrels has; --qrels-query and --qrels-doc name the "
        r"columns of both files, and it has \1",
    ),
    (
        rf"{OF_PROXY} --rel (\S+) is not a grade; a word needs --scale too.*",
        r"--proxy: \1 is no word of its grades; name the least of them that is relevant with --proxy-rel",
    ),
    (OF_PROXY, "--proxy:"),
    (
        r"machine\.irm\(grade=\.\.\., rel=\.\.\., scale=\.\.\.\) says what its grades mean(.*) its --rel says",
        r"--proxy-rel, or --proxy-scale, says what its grades mean\1 --proxy-rel says",
    ),
    (
        r"^proxy: (.* is text); give each word a grade, as --scale (.+), or convert it$",
        r"--proxy: \1; give each word a grade, as --proxy-scale \2, or convert it",
    ),
    (r"as \{'A': 0\.5, 'B': 0\.5\}, nor 'equal'", "as --split A=0.5 --split B=0.5, nor equal"),
    (r"\bwith average='(\w+)'", r"with --average \1 of evaluate, as this command has no option for it"),
    (r"; use similarity\('([^']+)'\)", "; the command is similarity"),
    (
        r"as with str\.zfill\((\d+)\)",
        r"""as awk -F, -v OFS=, '$1 ~ /^[0-9]+$/ {while (length($1) < \1) $1 = "0" $1} 1' does in the first """
        "column of a CSV file",
    ),
    (r"\b(leaderboard|compare|change|evaluate|summary|audit|similarity|propensities)\(\)", r"\1"),
    (r"\b(sample|ab|per|best|to)_(size|test|query|class|threshold|judge)\(\)", r"\1-\2"),
    (
        r"\bset (?:--threshold|threshold=) before, as search\(threshold=0\.5\), to decide",
        "pass --threshold 0.5 to decide",
    ),
    (r"\band n_relevant the", "and --n-relevant the"),
    (r", or a tuple of a value for each of its columns", ", or one for each of its columns"),
    (r"--query (\S+) --query the session's column", r"--query \1 --query SESSION, the session's column,"),
)
# Flags with commas between, which are typed one after the other.
_ONE = r"--[\w-]+(?:=[^\s,;]+| [^\s,;-][^\s,;]*)?"
ALL_OFFERED = re.compile(rf"(?:(?<=pass )|(?<=add )){_ONE}(?:, {_ONE})+")
# How a column of lists is made in Python, in errors.
OF_LISTS = re.compile(r"pass (--relevant \S.*?, or )?judge\(gold, label=True\), with a frame of queries and ids")
# A spreadsheet runs a cell that begins so. One that has an apostrophe gets another, so that it can be undone.
_FORMULA = re.compile("^('*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20])")
_NO_FORMULA = re.compile("^'('*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20])")


def in_lines(text: str) -> str:
    """Return a text of several lines, with escapes for control characters."""
    return "\n".join(map(printable, text.split("\n")))


def say(message: str) -> None:
    """Print a message on standard error; a mark before each line shows that it is of the message, and no command."""
    shown = in_lines(message)
    first, *more = (shown.replace("##[", "##\\[") if on_github() else shown).split("\n")
    marked = (f"{NO_MARK if line.startswith(COMMANDS) else MARK}{line}" for line in more)
    print(f"{_coloured(PROGRAM)}: {first}", *marked, sep="\n", file=sys.stderr)


def say_at_terminal(message: str) -> None:
    """Print a message on standard error if that is a terminal; a job in the background stays silent."""
    if sys.stderr is not None and sys.stderr.isatty():
        say(message)


def _coloured(text: str) -> str:
    """Return a text in yellow on a terminal, unless NO_COLOR is set; else as it is."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not sys.stderr.isatty()
    return text if plain else f"\033[33m{text}\033[0m"


def no_formula(text: str) -> str:
    """Return a text that a spreadsheet does not run: with an apostrophe before it where it would."""
    return _FORMULA.sub(r"'\1", text)


def with_formulas(text: str) -> str:
    """Undo ``no_formula``: remove the apostrophe that it put before a text."""
    return _NO_FORMULA.sub(r"\1", text)


def on_github() -> bool:
    """Return True in a GitHub workflow, which runs commands that it finds in the output."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def no_command(text: str) -> str:
    """Return a text as one line, in which GitHub finds no command; commands begin with :: or contain ##[."""
    line = text.replace("\r", "\\r").replace("\n", "\\n").replace("##[", "##\\[")
    return f"\\{line}" if line.lstrip().startswith("::") else line


def in_command(text: str, *, of_property: bool = False) -> str:
    """Return a text escaped as the message, or as a property, of a GitHub workflow command."""
    codes = {"%": "%25", "\n": "%0A"} | ({":": "%3A", ",": "%2C"} if of_property else {})
    return "".join(codes.get(letter, letter) for letter in in_lines(text))


def in_words(error: Exception, options: Mapping[str, Option] | None = None) -> str:
    """Return the message of an error: options in it become flags; of another library's error only the first line."""
    if isinstance(error, FrameMetricsError):
        return _for_files(with_flags(str(error), options or {}), options or {})
    if isinstance(error, FileNotFoundError) and error.filename:
        return f"{error.filename}: there is no such file"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or ''}: {error.strerror}".lstrip(": ")
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def with_words(error: Exception, options: Mapping[str, Option] | None) -> FrameMetricsError:
    """Return an error with its message in the words of the command line, and the way out that it offers."""
    told = FrameMetricsError()
    told.args = (in_words(error, options),)  # which may be longer than a message of Python
    return told.offering(error.instead, **error.options) if isinstance(error, FrameMetricsError) else told


def _for_files(message: str, options: Mapping[str, Option]) -> str:
    """Return a message that speaks of files in place of frames, and of arguments in place of code."""
    missing = "the label or grade is missing; name its column with --label or --grade"
    if message.startswith(f"judge: {missing}"):
        return message.replace("judge:", "--qrels:")
    if "qrels" in options and missing in message:
        message += "; judgments in a separate file are named with --qrels"
    message = ALL_OFFERED.sub(lambda found: found[0].replace(",", ""), message)
    message = OF_LISTS.sub(r"give a file of queries and ids as --qrels FILE --all-relevant", message)
    message = message.replace("; pass run= with the name", "; pass --run-name with the name")
    message = message.replace(", or give other rankings, as --baseline frame", "")
    words = re.search(r"(--(?:proxy-)?scale) \{(.*)\}", message)
    if words:
        each = (
            f"{words[1]} {shlex.quote(word[1:-1])}=..."
            for word in re.findall(r"('[^']*'|\"[^\"]*\"): \.\.\.", words[2])
        )
        message = message.replace(words[0], " ".join(each))
    message = re.sub(r"or a frame of (them|documents)", r"or a file of \1", message)
    return re.sub(r"name one, as '([^']+)'", r"name one behind the input, as \1", message)


def quoted(text: str, options: Mapping[str, Option]) -> str:
    """Return a text in which names of options in quotes are replaced by their flags, which have the same length."""
    return re.sub(rf"'({'|'.join(options)})'", lambda found: options[found[1]].flag, text)


def with_flags(message: str, options: Mapping[str, Option]) -> str:
    """Return a message with flags in place of options such as ``query=``; text in parentheses is code and stays."""
    if not options:
        return message

    def written(found: re.Match[str]) -> str:
        name, value, several, other = found.groups()
        if name is None or found[0] in FLAGS_FOR_CODE:
            return FLAGS_FOR_CODE.get(found[0], found[0])
        values = re.split(r",\s*", several) if several else [value or ""]
        values *= 1 + (name == "positive" and bool(several) and len(values) == 1)  # a list of one is given twice
        return " ".join(_flag(options[name], one) for one in values) + (" " if other is not None else "")

    name = "|".join(sorted(options, key=len, reverse=True))
    value = r"None|True|False|saved\b|'[^']*'|\[([^\[\]]+)\]|\d[\d.]*"
    other = r"(?=[-\w<{\[])"  # the start of any other value, as -5, which stays as it is
    message = re.sub(rf"\([^()]*\)|(?<![\w.=-])({name})=(?:({value})|({other}))?", written, message)
    for code, words in IN_CODE:
        message = re.sub(code, words, message)
    return message


def column_with_flags(frame: pl.DataFrame, options: Mapping[str, Option], column: str = "message") -> pl.DataFrame:
    """Return a frame with a column of messages that have flags in place of options of Python."""
    told = [one and with_flags(one, options) for one in frame[column]]
    return frame.with_columns(pl.Series(column, told, pl.String))


def _flag(option: Option, value: str) -> str:
    """Return a flag with its value; ``value``: as Python code."""
    if value == "None" or (option.kind.switch and value == "False"):
        return option.no if option.kind.settable else f"no {option.flag}"
    if value in ("True", "False"):
        return option.flag if option.kind.switch else f"{option.flag} {value.lower()}"
    text = shlex.quote(value[1:-1]) if value[:1] == QUOTE else value
    return f"{option.flag}{'=' if text.lstrip(QUOTE).startswith('-') else ' '}{text}".rstrip()
