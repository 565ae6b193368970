"""Running a command: from its arguments to what is printed, the gates, and the exit code."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import polars as pl

from frame_metrics.accessor import IRM
from frame_metrics.command import gates, outside, reading, trec_eval, writing
from frame_metrics.command.commands import COMMANDS, PROGRAM, SEE_HELP, fill, known_names
from frame_metrics.command.options import Option
from frame_metrics.command.settings import read_as, settings
from frame_metrics.command.texts import visible
from frame_metrics.errors import BadValueError, FrameMetricsError, closest
from frame_metrics.roles.roles import Roles

OK, FAILED, WRONG, BROKEN, INTERRUPTED, TERMINATED = 0, 1, 2, 3, 130, 143
CODES = f"exit codes: {OK} all is well; {FAILED} a gate failed; {WRONG} a wrong call, or bad data; {BROKEN} a defect of the program"


class _Parser(argparse.ArgumentParser):
    """A parser whose errors have no control characters."""

    def error(self, message: str) -> Any:
        raise BadValueError(message)


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``frame-metrics`` with arguments, those of the process by default, and return the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        with _terminating():
            return _main(arguments)
    except (FrameMetricsError, pl.exceptions.PolarsError, OSError) as error:
        return _told(error)
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else OK


def _told(error: Exception, junit: str | None = None) -> int:
    """Say an error on standard error, and where else it is looked for."""
    message = str(error) if isinstance(error, FrameMetricsError) else _first_line(error)
    say(message)
    if outside.on_github():
        outside.annotate(PROGRAM, message)
        outside.summarise(PROGRAM, None, [], message)
    return WRONG


def _first_line(error: Exception) -> str:
    """The line of another library's error that says what is wrong."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or ''}: {error.strerror}".lstrip(": ")
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def say(message: str) -> None:
    """Print a message on standard error, every line of it with a mark before, so that none is taken for another's."""
    first, *more = visible(message, keep="\n").split("\n")
    lines = [f"{PROGRAM}: {first}", *(f"  | {line}" for line in more)]
    print("\n".join(lines).encode("utf-8", "replace").decode(), file=sys.stderr)


@contextmanager
def _terminating() -> Iterator[None]:
    """Let a request to stop end the program as an error does, so that half-written files are removed."""
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


def _main(arguments: list[str]) -> int:
    if not arguments or arguments[0] not in COMMANDS:
        return _without_command(arguments)
    name, *rest = arguments
    command = COMMANDS[name]
    parser = _Parser(
        f"{PROGRAM} {name}",
        usage=f"{PROGRAM} {name} {command.arguments}" + ("" if name == "trec_eval" else " [options]"),
        description=command.told[0].upper() + command.told[1:] + ".",
        epilog=f"examples:\n{command.examples.replace(chr(10), chr(10) + '  ').lstrip(chr(10))}\n\n{CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    options = fill(parser, name)
    if name == "trec_eval":
        return _trec_eval(parser.parse_args(rest))
    given = vars(parser.parse_intermixed_args(rest))
    return Run(name, options, given).run()


def _without_command(arguments: Sequence[str]) -> int:
    """Answer what is said before a command, or instead of one."""
    parser = _Parser(
        PROGRAM,
        usage=f"{PROGRAM} COMMAND [INPUT] [METRIC ...] [options]",
        description="Metrics of ranked retrieval and classification, of logs in files.",
        epilog="commands:\n"
        + "".join(f"  {name:<10}  {command.told}\n" for name, command in COMMANDS.items())
        + f"\n{SEE_HELP}\n{CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true", help="print the version")
    parser.add_argument(
        "--completion", metavar="SHELL", choices=("bash", "zsh", "tcsh"), help="print completion for a shell"
    )
    if arguments and not arguments[0].startswith("-"):
        raise BadValueError(f"there is no command {arguments[0]!r}{closest(arguments[0], COMMANDS)}; {SEE_HELP}")
    given = parser.parse_args(arguments)
    if given.version:
        from importlib.metadata import version

        print(version("frame_metrics"))
    elif given.completion:
        print(_completion(given.completion))
    else:
        parser.print_help(sys.stdout if arguments else sys.stderr)
        return OK if arguments else WRONG
    return OK


def _completion(shell: str) -> str:
    """The script with which a shell completes commands and flags."""
    try:
        import shtab
    except ImportError:
        raise FrameMetricsError("--completion needs shtab; pip install 'frame_metrics[completion]'") from None
    whole = argparse.ArgumentParser(PROGRAM)
    inner = whole.add_subparsers()
    for name, command in COMMANDS.items():
        fill(inner.add_parser(name, help=command.told), name)
    return str(shtab.complete(whole, shell))


def _trec_eval(given: argparse.Namespace) -> int:
    with ExitStack() as stack:

        def opened(name: str) -> str:
            if name != "-":
                return name
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            return reading.piped(folder)

        with _quiet_pipe():
            trec_eval.run(given, opened)
    return OK


@contextmanager
def _quiet_pipe() -> Iterator[None]:
    """Write to standard output, and stop in silence where nobody reads on, as before ``| head``."""
    try:
        yield
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)  # what is still to be flushed at the end goes there
        os.dup2(nowhere, sys.stdout.fileno())


@dataclass
class Run:
    """One command with what was said of it."""

    name: str
    options: Mapping[str, Option]
    given: dict[str, Any]
    stack: ExitStack = field(default_factory=ExitStack)

    def run(self) -> int:
        """Run the command, and return the exit code."""
        try:
            with self.stack:
                return self._run()
        except (FrameMetricsError, pl.exceptions.PolarsError, OSError) as error:
            if path := self.given.get("junit"):
                outside.junit(path, [], str(error))
            raise

    def _run(self) -> int:
        self._check()
        if self.name == "convert":
            return self._convert()
        if self.name == "report":
            return self._report()
        result, outcomes = self._result()
        self._write(result, None if outcomes else writing.DIGITS)
        return self._judged(result, outcomes)

    # arguments

    @cached_property
    def said(self) -> dict[str, Any]:
        """Every option that was said: by a flag, else by the settings."""
        config = self.given.pop("config", None)
        known = {name: names | {"metrics", "curve"} for name, names in known_names().items()}
        filed = settings(config, self.name, COMMANDS, known)
        where = config or "pyproject.toml"
        said: dict[str, Any] = {}
        for name, value in filed.items():
            plural = name in ("metrics", "curve")
            option = self.options["metric" if plural else name]
            said[option.name] = read_as(option, value if isinstance(value, list) or not plural else [value], where)
        for name, value in self.given.items():
            if name in self.options:
                said[name] = self._flag(self.options[name], value)
        return said

    @staticmethod
    def _flag(option: Option, value: Any) -> Any:
        try:
            return option.value(value)
        except FrameMetricsError as error:
            raise type(error)(f"{option.flag}: {error}") from None

    @cached_property
    def _arguments(self) -> tuple[list[str], list[str]]:
        """The inputs and the metrics: an input has the ending of a file, or is the first where no other is said."""
        inputs, rest = list(self.said.get("input", ())), list(self.given["arguments"])
        if not inputs and rest:
            inputs.append(rest.pop(0))
        if "input" in self.given or len(inputs) <= 1:
            while rest and reading.format_of(rest[0]):
                inputs.append(rest.pop(0))
        return inputs, rest

    @property
    def metrics(self) -> list[str]:
        """The metrics, or curves, that were named; those of flags go before those of the settings."""
        named = [*self._arguments[1], *self.given.get("metric", ())]
        return named or list(self.said.get("metric", ()))

    def _check(self) -> None:
        """Raise for what makes no sense together, before anything is read."""
        if not self._arguments[0]:
            raise BadValueError(
                f"no input is named; name a file, as in {PROGRAM} {self.name} log.parquet, or - for a pipe"
            )
        for name in ("output", "junit"):
            folder = os.path.dirname(self.said.get(name) or "")
            if folder and not os.path.isdir(folder):
                raise FrameMetricsError(f"--{name} {self.said[name]}: there is no folder {folder!r}")
        if "output" in self.said and self.name not in ("convert", "report"):
            writing.format_to(self.said["output"], self.said.get("to"))
        gated = [name for name in ("fail_under", "fail_over") if self.said.get(name)]
        if gated and self.said.get("layout") == "wide":
            raise BadValueError(f"{self.options[gated[0]].flag} reads a row for each metric; leave out --layout wide")
        if self.said.get("alpha") is not None:
            if not self.said.get("fail_if_worse_than"):
                raise BadValueError("--alpha is the level of --fail-if-worse-than, which is not said")
            if not 0 < self.said["alpha"] < 1:
                raise BadValueError(f"--alpha {self.said['alpha']}: a level is between 0 and 1, as 0.05")
        if self.said.get("fail_if_worse_than") and self.said.get("saved"):
            raise BadValueError("--saved and --fail-if-worse-than both name saved numbers; leave one out")

    # reading

    @property
    def _roles(self) -> dict[str, Any]:
        roles = {name: self.said[name] for name in Roles.__annotations__ if name in self.said}
        judged = ("grade", "label") if "qrels" in self.said else ()
        return {name: value for name, value in roles.items() if name not in judged}

    def _source(self, names: Sequence[str], option: str, otherwise: str | None = None) -> reading.Source:
        said = self.said.get(option.lstrip("-").replace("-", "_")) if option else None
        return reading.Source(names, said, option, self._folder, self._roles, otherwise)

    def _folder(self) -> str:
        """A folder for what is unpacked, which is there until the end."""
        where = self.said.get("temporary")
        return self.stack.enter_context(tempfile.TemporaryDirectory(prefix="frame_metrics-", dir=where))

    @cached_property
    def _log(self) -> pl.LazyFrame:
        return self._source(self._arguments[0], "--from").frame()

    @cached_property
    def irm(self) -> IRM[pl.LazyFrame]:
        """The log with its roles, and its judgments."""
        irm = IRM(self._log, **self._roles)
        if "qrels" not in self.said:
            for name in ("annotator", "several", "qrels_query", "qrels_doc", "all_relevant"):
                if self.said.get(name):
                    raise BadValueError(
                        f"--{name.replace('_', '-')} is about judgments of their own; name them with --qrels"
                    )
            return irm
        columns = {"query": self.said.get("qrels_query"), "doc": self.said.get("qrels_doc")}
        given: dict[str, Any] = columns | {name: self.said.get(name) for name in ("grade", "annotator", "several")}
        given["label"] = True if self.said.get("all_relevant") else self.said.get("label")
        qrels = self._source(self.said["qrels"], "--qrels-from", "qrels").frame().collect()
        return irm.judge(reading.matching(qrels, self._log, self._ids(qrels, columns)), **given)

    def _ids(self, other: pl.DataFrame, columns: Mapping[str, str | None]) -> dict[str, str]:
        """The columns of ids of the log, by those that they are called in other rows."""
        ids = {}
        for role, its in columns.items():
            own = self._roles.get(role) or role
            if isinstance(own, str):
                ids[its or (own if own in other.columns else role)] = own
        return ids

    def _saved(self, name: str) -> pl.DataFrame:
        keys = [
            one for role in ("query", "by") for one in _each(self._roles.get(role, role if role == "query" else None))
        ]
        return reading.saved(self._source([name], ""), self._log, keys)

    # verbs

    def _of_verb(self) -> dict[str, Any]:
        """The options of the verb that were said."""
        own = {
            "average",
            "ci",
            "margins",
            "layout",
            "method",
            "resamples",
            "seed",
            "against",
            "test",
            "correction",
            "over",
        }
        own |= {
            "unanswered",
            "paired",
            "covariate",
            "permutations",
            "per_query",
            "per",
            "levels",
            "interpolated",
            "points",
        }
        return {name: value for name, value in self.said.items() if name in own | {"bins", "cutoffs", "title"}}

    def _result(self) -> tuple[pl.DataFrame, list[gates.Outcome]]:
        """What the verb returns, and what its gates say of it."""
        return {
            "evaluate": self._evaluate,
            "per-query": self._per_query,
            "compare": self._compare,
            "audit": self._audit,
            "curve": self._curve,
        }[self.name]()

    def _evaluate(self) -> tuple[pl.DataFrame, list[gates.Outcome]]:
        least, most = self.said.get("fail_under") or {}, self.said.get("fail_over") or {}
        metrics = gates.with_gated(self.metrics, [*least, *most], all_there="value" in self._roles)
        result = self.irm.evaluate(*metrics, **self._of_verb()).collect()
        outcomes = list(gates.limits(result, least, most))
        if name := self.said.get("fail_if_worse_than"):
            compared = self.irm.compare(*metrics, baseline=self._saved(name)).collect()
            outcomes += gates.worse(compared, self.said.get("alpha", 0.05))
        return result, outcomes

    def _per_query(self) -> tuple[pl.DataFrame, list[gates.Outcome]]:
        return self.irm.per_query(*self.metrics, **self._of_verb()).collect(), []

    def _compare(self) -> tuple[pl.DataFrame, list[gates.Outcome]]:
        gate = self.said.get("fail_if_worse_than")
        saved = gate or self.said.get("saved")
        if saved and self.said.get("baseline"):
            raise BadValueError("--baseline names a system, and saved numbers are given beside it; leave one out")
        baseline = self._saved(saved) if saved else self._systems(self.said.get("baseline"))
        result = self.irm.compare(*self.metrics, baseline=baseline, **self._of_verb()).collect()
        return result, list(gates.worse(result, self.said.get("alpha", 0.05))) if gate else []

    def _systems(self, names: list[str] | None) -> Any:
        """Systems as the column holds them: numbers where it has numbers."""
        if names is None:
            return None
        kind = self._log.collect_schema().get(str(self._roles.get("system")))
        values: list[Any] = [
            int(one) if kind is not None and kind.is_integer() and one.isdigit() else one for one in names
        ]
        return values[0] if len(values) == 1 else values

    def _audit(self) -> tuple[pl.DataFrame, list[gates.Outcome]]:
        saved = self.said.get("saved")
        result = self.irm.audit(baseline=self._saved(saved) if saved else None, split=self.said.get("split")).collect()
        fail_on = self.said.get("fail_on")
        return result, list(gates.grave(result, fail_on)) if fail_on else []

    def _curve(self) -> tuple[pl.DataFrame, list[gates.Outcome]]:
        if not self.metrics:
            raise BadValueError("no curve is named; name one, as pr, roc, gain, calibration or ndcg@k")
        return self.irm.curve(self.metrics, **self._of_verb()).collect(), []

    def _report(self) -> int:
        write = getattr(self.irm, "report", None)
        if write is None:
            raise FrameMetricsError("report is not part of this version")
        if "output" not in self.said:
            raise BadValueError("report writes a file; name it with -o, as -o report.html")
        saved = self.said.get("saved")
        given = self._of_verb() | ({"baseline": self._saved(saved)} if saved else {})
        write(self.said["output"], metrics=self.metrics, **given)
        return OK

    def _convert(self) -> int:
        """Write the frame that was read, whole, without holding it in memory where the format allows it."""
        frame, name = self._log, self.said.get("output")
        if name is None:
            with _quiet_pipe():
                writing.show(frame.collect(), self.said.get("to"), self.said.get("formulas", "keep"), None)
            return OK
        roles = {role: str(self._roles.get(role, role)) for role in ("query", "doc", "score", "grade")}
        writing.convert(
            frame, name, self.said.get("to"), self.said.get("formulas", "keep"), roles, self.said.get("run_name")
        )
        return OK

    # output

    def _write(self, result: pl.DataFrame, digits: int | None) -> None:
        kind, formulas = self.said.get("to"), self.said.get("formulas", "text")
        if name := self.said.get("output"):
            writing.write(result, name, writing.format_to(name, kind), formulas, digits)
        else:
            with _quiet_pipe():
                writing.show(result, kind, formulas, digits)

    def _judged(self, result: pl.DataFrame, outcomes: list[gates.Outcome]) -> int:
        """Say which gates failed, wherever it is looked for."""
        failed = [one for one in outcomes if one.failed]
        for one in failed:
            say(f"gate failed: {one.told}")
        if name := self.said.get("junit"):
            outside.junit(name, outcomes)
        if outside.on_github():
            for one in failed:
                outside.annotate(f"{PROGRAM} {self.name}", one.told)
            outside.summarise(f"{PROGRAM} {self.name}", result, outcomes)
        return FAILED if failed else OK


def _each(columns: Any) -> list[str]:
    """The columns that a role may be, as a list."""
    return [] if columns is None else columns if isinstance(columns, list) else [columns]
