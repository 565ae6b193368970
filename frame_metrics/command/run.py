"""Running a command: from the arguments of the program to the exit code."""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import sys
import tempfile
import threading
import traceback
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr
from difflib import get_close_matches
from io import StringIO
from textwrap import fill as fill_lines
from textwrap import wrap
from typing import Any

import polars as pl

from frame_metrics.command import trec_eval
from frame_metrics.command.call import CommandLine
from frame_metrics.command.commands import COMMANDS, COMMON, HELP, fill, options_of
from frame_metrics.command.files import reading
from frame_metrics.command.front import (
    BROKEN,
    COMMAND_TEXTS,
    EXIT_CODES,
    INTERRUPTED,
    OK,
    PROGRAM,
    TERMINATED,
    WRONG,
    front,
    printed,
    quiet_pipe,
)
from frame_metrics.command.gates import ci_formats
from frame_metrics.command.job import Job
from frame_metrics.command.offers.guesses import call_of_metric, meant, unknown_command
from frame_metrics.command.offers.named_metrics import is_metric
from frame_metrics.command.offers.offered import NO_WAY, with_lines
from frame_metrics.command.offers.other_names import GATE, TRIED
from frame_metrics.command.offers.our_flags import known_flags, read_otherwise, values_of
from frame_metrics.command.offers.trec_lines import in_trec
from frame_metrics.command.offers.unknown_flags import may_take
from frame_metrics.command.offers.whole import by_word, line, way_of
from frame_metrics.command.rates import print_size_of_rates, rates_in
from frame_metrics.command.texts import on_github, quoted, say, with_flags, with_words
from frame_metrics.errors import BadValueError, FrameMetricsError, import_needed

LINE = 79  # characters of a line of help
LIKE_FLAG = 0.8  # how alike a flag is spelled that was meant


class _Parser(argparse.ArgumentParser):
    """A parser that raises ``BadValueError`` for wrong arguments, so that they are reported as other errors are."""

    arguments: Sequence[str] = ()  # what it reads, for errors

    def error(self, message: str) -> Any:
        unknown = message.removeprefix("unrecognized arguments: ").split() if message.startswith("unrec") else []
        flags = [one.partition("=")[0] for one in unknown if one.startswith("-") and one.strip("-")]
        if message.startswith("argument ") and message.endswith(": expected one argument"):
            flag = message.removeprefix("argument ").partition(":")[0].partition("/")[0]
            message = f"{flag} needs a value; one that begins with a dash is written {flag}=-x"
        of_trec = self.prog == f"{PROGRAM} convert" and message.startswith("argument --to: invalid choice")
        if of_trec and (told := in_trec(self.arguments)):
            raise BadValueError(told)
        raise _whole(self._unknown(flags) if flags else f"{message}; {self.prog} --help has the options")

    def _unknown(self, flags: Sequence[str]) -> str:
        """Return the message about unknown flags, with the nearest flag, or the commands that have the flag."""
        lines, command = list[str](), self.prog.removeprefix(PROGRAM).strip()
        meant_flags: dict[str, str] = {}
        for flag in dict.fromkeys(flags):
            name = flag.lstrip("-")
            near = self._near(flag)
            its = [one for one in COMMANDS if name.replace("-", "_") in options_of(one)]
            hint = f"did you mean --{near}?" if near else NO_WAY
            known = self._way(command, flag) if command in COMMANDS else ""
            way = known or (f"it is an option of {', '.join(its)}" if its else hint)
            way = f"the file is written ./{flag}" if os.path.isfile(flag) else way
            meant_flags |= {flag: f"--{near}"} if near and way == hint else {}
            lines.append(f"{f'{command}: ' * bool(command)}there is no option {flag}; {way}")
        whole = line(command, _replaced(self.arguments, meant_flags)) if command in COMMANDS else ""
        elsewhere = any(way_of(command, flag).command for flag in flags)
        if {*GATE} & {*self.arguments} and not elsewhere:  # a gate without what is asked would be another one
            typed = {one.partition("=")[0][2:].replace("-", "_") for one in self.arguments if one[:2] == "--"}
            others = [one for one in COMMANDS if one != command and typed <= {*options_of(one)}]
            whole = line(others[0], self.arguments) if others else whole
        return "\n".join([*lines, *filter(None, [whole])])

    def _way(self, command: str, flag: str) -> str:
        """Return what to do in the place of a flag, or of one of its words; "" if no table has it."""
        way = way_of(command, flag, self.arguments)
        ours = (way.typed or "").partition(" ")[0]
        its = [one for one in COMMANDS if ours[2:].replace("-", "_") in options_of(one)]
        if its and (way.command or command) not in its:
            return f"{ours} is an option of {', '.join(its)}"
        if way.text:
            return way.text
        word = by_word(command, flag, [values_of(self.arguments).get(flag, "")])
        return way_of(command, word[0]).text if word else ""

    def _near(self, flag: str) -> str | None:
        """Return the flag that is spelled most alike, without its dashes, if it takes the value that was typed."""
        undoes = flag.startswith("--no-")
        flags = [
            one[2:] for one in self._option_string_actions if one[:2] == "--" and one.startswith("--no-") == undoes
        ]
        near = next(iter(get_close_matches(flag.lstrip("-").lower(), flags, 1, LIKE_FLAG)), None)
        option = options_of(self.prog.removeprefix(PROGRAM).strip()).get(str(near).replace("-", "_"))
        value = values_of(self.arguments).get(flag, "")
        return near if option is None or may_take(option, value) else None


def _replaced(arguments: Sequence[str], flags: Mapping[str, str]) -> list[str]:
    """Return arguments in which some flags are others."""
    parts = (one.partition("=") for one in arguments)
    return [f"{flags.get(flag, flag)}{equals}{value}" for flag, equals, value in parts]


def run(arguments: list[str]) -> int:
    """Run ``frame-metrics`` with arguments, and return the exit code."""
    arguments = _with_command(meant(arguments) if arguments else [])
    try:
        with _terminating():
            return max(map(_command, _each_help(arguments)))
    except (FrameMetricsError, pl.exceptions.PolarsError, OSError) as error:
        return _reported(arguments, error)
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as stop:  # from argparse after --help, or from a signal to stop
        return stop.code if isinstance(stop.code, int) else OK
    except (Exception, pl.exceptions.PanicException):  # Python would exit with 1, the code of a failed gate
        traceback.print_exc()
        return BROKEN


def _reported(arguments: Sequence[str], error: Exception) -> int:
    """Report an error, and return the exit code, which no fault of the report makes that of a failed gate."""
    try:
        return _failed(arguments, error)
    except Exception:
        traceback.print_exc()
        return BROKEN


def _failed(arguments: Sequence[str], error: Exception) -> int:
    """Report an error on standard error and, in a GitHub workflow, beside the run; return the exit code."""
    told = with_words(error, options_of(arguments[0]) if arguments and arguments[0] in COMMANDS else None)
    message = str(told)
    say(with_lines(told, arguments, _error_of))
    if on_github():
        ci_formats.annotate(PROGRAM, message)
        ci_formats.summarise(PROGRAM, None, [], message)
    return WRONG


@contextmanager
def _terminating() -> Iterator[None]:
    """Let the signal to terminate end the program like an error, so that half-written files are removed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: Any) -> None:
        raise SystemExit(TERMINATED)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _with_command(arguments: list[str]) -> list[str]:
    """Return arguments that begin with a command: that of help, or evaluate before a file; else as they are."""
    if arguments[:2] == ["help", "help"]:
        return ["--help"]
    if len(arguments) > 1 and arguments[0] == "help":
        name, *others = meant(arguments[1:2])[0], *arguments[2:]
        words = [one for one in others if _is_other_metric(one)]
        arguments = ["metrics", name, *words] if _is_other_metric(name) else [name, *others, "--help"]
    if not arguments or arguments[0] in COMMANDS:
        return arguments
    if arguments[0] in ("describe", "define") and arguments[1:] and all(map(_is_other_metric, arguments[1:])):
        return ["metrics", *arguments[1:]]
    if _name_rows(arguments):
        return ["evaluate", *arguments]
    if _is_other_metric(arguments[0]) and arguments[0] not in TRIED and _name_rows(arguments[1:]):
        return call_of_metric(arguments)
    return arguments


def _each_help(arguments: list[str]) -> list[list[str]]:
    """Return the arguments of each command whose help is asked for, or the arguments as they are."""
    names = [one for one in arguments if one in COMMANDS]
    several = len(names) > 1 and "--help" in arguments and arguments[: len(names)] == names
    return [[name, *arguments[len(names) :]] for name in names] if several else [arguments]


def _command(arguments: list[str]) -> int:
    """Run the command that the first argument names."""
    if not arguments or arguments[0] not in COMMANDS:
        return _no_command(arguments)
    name, *rest = _without_dashes(arguments)
    typed = rest
    name, rest = known_flags(name, rest)
    if read_otherwise(typed, rest):
        say(f"read as {shlex.join([PROGRAM, name, *rest])}")
    if name == "sample-size" and (rates := rates_in(rest)):
        print_size_of_rates(rates)
        return OK
    asked = {*rest} & {"-h", "--help"} and name != "trec_eval"
    parser = _parser(name, rest, COMMON if asked and "--all" not in rest else None)
    if asked:
        options = {one: its for one, its in options_of(name).items() if its.flag[2:] not in COMMANDS}
        return printed(with_flags(quoted(parser.format_help(), options), options))
    if name == "trec_eval":
        return _trec_eval(parser.parse_args(rest))
    return Job(CommandLine(name, vars(parser.parse_intermixed_args(rest)))).run()


def _error_of(arguments: Sequence[str]) -> FrameMetricsError | None:
    """Return the error of a call before it computes or writes anything; None if it would run."""
    name, *rest = arguments
    try:
        with redirect_stderr(StringIO()):
            if name == "trec_eval" or (name == "sample-size" and rates_in(rest)):
                return None
            Job(CommandLine(name, vars(_parser(name, rest).parse_intermixed_args(rest)))).check()
    except (FrameMetricsError, pl.exceptions.PolarsError, OSError) as error:
        return with_words(error, options_of(name))
    return None


def _parser(name: str, rest: Sequence[str], common: Collection[str] | None = None) -> _Parser:
    """Return the parser of a command, with its help; ``common``: the options that help shows, None for all."""
    command = COMMANDS[name]
    description = fill_lines(f"{COMMAND_TEXTS[name][0].upper()}{COMMAND_TEXTS[name][1:]}.", LINE)
    usage = fill_lines(f"{PROGRAM} {name} {command.usage}", LINE - len("usage: "), subsequent_indent=" " * 11)
    epilog = f"examples:{_in_lines(command.examples)}\n\n{EXIT_CODES}"
    if common:
        epilog += f"\n{PROGRAM} {name} --help --all has all options"
    shortened = name == "trec_eval"  # which takes options by their first letters
    parser = _Parser(f"{PROGRAM} {name}", usage, description, epilog, formatter_class=HELP, allow_abbrev=shortened)
    parser.arguments = rest
    fill(parser, name, common)
    return parser


def _name_rows(arguments: Sequence[str]) -> bool:
    """Return True if arguments have no command, but a file, or - for what is piped in: they are those of evaluate."""
    first = arguments[0] if arguments else ""
    rows = [one for one in arguments if one == "-" or os.path.isfile(one)]
    return bool(rows) and (first == rows[0] or (first.startswith("-") and first not in ("-V", "--version")))


def _is_other_metric(name: str) -> bool:
    """Return True for the name of a metric that is no command."""
    return name not in COMMANDS and is_metric(name)


def _in_lines(examples: str) -> str:
    """Return examples in lines of at most 80 characters, as a shell reads them."""
    wrapped = (wrap(one, LINE - 2, subsequent_indent=" " * 6, break_on_hyphens=False) for one in examples.split("\n"))
    return "\n".join(map(" \\\n".join, wrapped))


def _without_dashes(arguments: Sequence[str]) -> list[str]:
    """Return arguments in which names behind ``--`` that begin with a dash are paths, which are no options."""
    if "--" not in arguments:
        return [*arguments]
    at = arguments.index("--")
    named = (f"./{one}" if one.startswith("-") and one != "-" else one for one in arguments[at + 1 :])
    return [*arguments[:at], *named]


def _whole(message: str) -> BadValueError:
    """Return an error whose message has whole commands, and may be longer than others, which are cut."""
    error = BadValueError()
    error.args = (message,)
    return error


def _no_command(arguments: Sequence[str]) -> int:
    """Handle arguments that do not begin with a command, and return the exit code."""
    parser = front(_Parser)
    if arguments and not arguments[0].startswith("-"):
        raise _whole(unknown_command(arguments))
    given = parser.parse_args(arguments)
    if given.completion:
        return printed(_completion(given.completion))
    parser.print_help(sys.stderr)
    return WRONG


def _completion(shell: str) -> str:
    """Return the script by which a shell completes commands and flags."""
    shtab = import_needed("shtab", "--completion needs shtab", "completion")
    whole = argparse.ArgumentParser(PROGRAM)
    inner = whole.add_subparsers()
    for name in COMMANDS:
        fill(inner.add_parser(name, help=COMMAND_TEXTS[name]), name)
    return str(shtab.complete(whole, shell))


def _trec_eval(given: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory() as folder, quiet_pipe():
        trec_eval.run_trec_eval(given, reading.piped(folder) if given.run == "-" else given.run)
    return OK
