"""A call: a command with its options from flags and settings, which are checked before anything is read."""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from typing import Any

from frame_metrics.command.commands import GATES_ON_VALUES, LIMITS, metrics_taken, options_of, takes_one_metric
from frame_metrics.command.files import reading, writing
from frame_metrics.command.files.columns_there import words_of
from frame_metrics.command.files.formats import format_inside, format_of
from frame_metrics.command.front import PROGRAM
from frame_metrics.command.gates.gates import with_gated
from frame_metrics.command.gates.options import SAVED, check_gates
from frame_metrics.command.offers.named_metrics import is_metric, parted
from frame_metrics.command.options import JUDGMENTS
from frame_metrics.command.settings import PROJECT, settings
from frame_metrics.errors import BadValueError, FrameMetricsError, check_whole, listed
from frame_metrics.metrics.names import read
from frame_metrics.metrics.parameters import is_number
from frame_metrics.roles.columns import SET_ASIDE
from frame_metrics.roles.roles import Roles

OF_DOCS, OF_RANKS = ("catalogue", "popularity"), ("propensity", "target_propensity")  # options that may name files
FILE = "file"  # the column of the files' names, where each file is a system
# What each of several files is of, by command; one that compares nothing else.
OF_FILES = {**dict.fromkeys(("compare", "leaderboard", "similarity", "sample-size"), "system"), "change": "arm"}
OF_ARMS = ("compare", "ab-test", "change")  # commands whose gates may name a system, or an arm, of the log
WITH_FIRST = ("compare", "change", "sample-size")  # commands where the first file is the baseline of the others
OF_ANNOTATORS = ("agreement", "disagreements")  # commands whose input may be the judgments
# Words in the names of measures that agreement prints, whichever is asked for.
OF_AGREEMENT = {*("kappa", "kappas", "alpha", "krippendorff", "krippendorffs", "cohen", "cohens", "fleiss", "gwet")}
OF_AGREEMENT |= {*("gwets", "ac1", "ac", "agreement", "iaa", "irr")}
OF_PAGES = ("report", "summary")  # commands of findings, which tell why something is not compared
OF_TABLES = ("best-threshold", "thresholds", "per-class")  # commands whose metrics are of the 2x2 table
EXAMPLES = {"of": "--of unjudged --max-grade 3, or --of ties"}  # of options that are required
RATES = f"{PROGRAM} sample-size --baseline 0.12 --detect 0.01 --power 0.8"
WRITTEN_TO = (".html", ".md", ".txt")  # endings of files that are never read
PAGE = "report.html"  # the file that a report is written to by default


def _is_file(argument: str) -> bool:
    """Return True for an argument that looks like the name of a file or folder, or that is one, and is no metric."""
    named = argument == "-" or "/" in argument or os.sep in argument or format_of(argument) is not None
    return named or (os.path.isfile(argument) and not is_metric(argument))


def _parted(name: str) -> list[str]:
    """Return the metrics of an argument, which may have commas between them, as between cutoffs and parameters."""
    return [name] if _is_file(name) else parted(name)


@dataclass
class CommandLine:
    """One command with its options."""

    name: str
    given: dict[str, Any]  # the arguments, and the options that flags set
    # The files to write, each with its format, once it is known; None stands for standard output.
    outputs: dict[str | None, str] = field(default_factory=dict, init=False)
    junit: str | None = field(default=None, init=False)  # the JUnit file, once it is checked that it may be written

    @cached_property
    def _named(self) -> dict[str, Any]:
        """The value of every option that a flag or else the settings name; None for one set back, as by --no-system."""
        options, found = options_of(self.name), settings(self.given.get("config"), self.name)
        for name, given in self.given.items():
            if name in options:
                found[name] = options[name].value(given, options[name].flag)
        return found

    @property
    def no_system(self) -> bool:
        """True if it is said that no column has the systems, as by --no-system."""
        return self._named.get("system", "") is None

    @property
    def no_rank(self) -> bool:
        """True if it is said that no column has ranks, as by --no-rank."""
        return self._named.get("rank", "") is None

    @cached_property
    def set_options(self) -> dict[str, Any]:
        """The value of every option that is set, by a flag or else by the settings."""
        options, found = options_of(self.name), {**self._named}
        if self.qrels_among_arguments and "qrels" in options:
            found.setdefault("qrels", self.qrels_among_arguments)
        if self.name in OF_ANNOTATORS and "qrels" not in found and len(self.arguments_named) > 1:
            found.setdefault("annotator", FILE)
        if self.name in OF_ANNOTATORS and found.get("annotator") is not None and self.arguments_named:
            found.setdefault("qrels", self.arguments_named)
        return {name: value for name, value in found.items() if value is not None or name in SET_ASIDE}

    @property
    def arguments_named(self) -> list[str]:
        """The files among the arguments, or those of --input."""
        return [*(self.given.get("input") or ()), *takewhile(_is_file, self.given["arguments"])]

    @property
    def judgments_alone(self) -> bool:
        """True if the input of a command about annotators is the judgments."""
        return self.name in OF_ANNOTATORS and "qrels" not in self._named and "qrels" in self.set_options

    @cached_property
    def qrels_among_arguments(self) -> list[str]:
        """The files of judgments of TREC among the first arguments, beside others, as in a call of trec_eval."""
        files = [*takewhile(_is_file, self.given["arguments"])]
        judged = [one for one in files if one != "-" and format_inside(one) == "qrels"]
        return judged if len(judged) < len(files) + len(self.given.get("input") or ()) else []

    @cached_property
    def arguments(self) -> tuple[list[str], list[str]]:
        """The inputs and the metrics.

        The first arguments that look like files are inputs. If there are none, and no option names one, the first
        argument is the input. All others are metrics. Judgments of TREC beside other files are those of ``--qrels``.
        """
        judged = self.qrels_among_arguments if self.set_options.get("qrels") == self.qrels_among_arguments else []
        rest = [one for one in self.given["arguments"] if one not in judged]
        leading = list(takewhile(_is_file, rest))
        named = self.given.get("input") or ([] if leading else self.set_options.get("input", []))
        leading = leading or ([] if named else rest[:1])
        inputs, before = [*named, *leading], [self.set_options[one] for one in SAVED if self.set_options.get(one)]
        with_itself = self.name != "change" and self.set_options.get("saved")
        if self.name in OF_FILES and len(inputs) == 2 and not with_itself:  # the other is compared with it
            inputs = [one for one in inputs if one not in before] or inputs
        return inputs, rest[len(leading) :]

    @property
    def metrics(self) -> list[str]:
        """The named metrics or curves: those of arguments and flags, or else those of the settings."""
        if self.name == "metrics":  # whose arguments are words to look for
            return []
        named = [*self.arguments[1], *self.given.get("metric", ())] or list(self.set_options.get("metric", ()))
        return named if "value" in self.set_options else [one for name in named for one in _parted(name)]

    @cached_property
    def gated_metrics(self) -> list[str]:
        """The metrics that are asked for, and those of gates."""
        limits = [self.set_options.get(name) for name in (*LIMITS, "margin", "max_drop")]
        gated = [name for one in limits if isinstance(one, dict) for name in one] if self.has_gates else []
        return with_gated(self.metrics, gated, all_there="value" in self.set_options)

    @property
    def roles(self) -> dict[str, Any]:
        """The roles and conventions of the log; with ``--qrels``, grade and label are columns of the judgments."""
        judged = ("grade", "label") if "qrels" in self.set_options else ()
        roles = {
            name: self.set_options[name]
            for name in Roles.__annotations__
            if name in self.set_options and name not in judged
        }
        if self.name == "convert":  # whose runs are in the order of scores
            return roles | {"rank": None}
        return roles | ({OF_FILES[self.name]: FILE} if self.compares_files else {})

    @property
    def file_column(self) -> str | None:
        """The column of the files' names, if each of several files is a system, or an arm."""
        asked = FILE in (self.set_options.get("system"), self.set_options.get("arm")) and len(self.arguments[0]) > 1
        return FILE if asked or self.compares_files else None

    @property
    def compares_files(self) -> bool:
        """True if several files are compared, and nothing else says which system, or period, a row is of."""
        others = any(self.set_options.get(name) for name in ("system", "arm"))
        return self.name in OF_FILES and len(self.arguments[0]) > 1 and not others

    @cached_property
    def gate_on_arm(self) -> str:
        """The system, or arm, of the log that a gate names in the place of a file; "" if it names none."""
        return self._arm_before if self.name in OF_ARMS else ""

    @property
    def _arm_before(self) -> str:
        """Name of a system or arm that a gate has in the place of a file; "" if it names a file."""
        before = next((self.set_options[one] for one in SAVED if self.set_options.get(one)), "")
        has_arms = {"system", "arm"} & {*self.roles}
        return before if has_arms and not os.path.exists(before) and format_of(before) is None else ""

    @property
    def decides_rows(self) -> bool:
        """True if rows are decided about, as those of a classifier: by a column, or by a threshold."""
        return any(name in self.set_options for name in ("predicted", "threshold"))

    @property
    def has_gates(self) -> bool:
        """True if there is a gate on values, or on saved numbers."""
        return any(self.set_options.get(name) for name in GATES_ON_VALUES)

    @property
    def frames(self) -> dict[str, str]:
        """The files given for roles that take a frame in Python; all but ``catalogue`` may name a column instead."""
        texts = {
            role: self.set_options[role]
            for role in (*OF_DOCS, *OF_RANKS)
            if isinstance(self.set_options.get(role), str)
        }
        return {role: name for role, name in texts.items() if role == "catalogue" or _is_file(name)}

    def check(self) -> None:
        """Raise for options that do not go together; nothing is read."""
        options, (inputs, named) = self.set_options, self.arguments
        self._name_output()
        self._name_limits()
        self._check_written()
        self.junit = options.get("junit")
        if not inputs and self.name != "metrics":
            of_rates = f"; of two rates alone: {RATES}" * (self.name == "sample-size")
            problem = f"no input is named: {PROGRAM} {self.name} log.parquet, or - for standard input"
            raise BadValueError(f"{problem}{of_rates}")
        if named and "metric" not in options_of(self.name) and self.name != "metrics":
            raise self._no_metrics(named)
        if self.name == "convert" and self.qrels_among_arguments:
            problem = f"{self.qrels_among_arguments[0]} has judgments, which convert does not join with results"
            raise BadValueError(f"{problem}; other commands take them as --qrels {self.qrels_among_arguments[0]}")
        if self.name == "convert" and options.get("rank") is not None:
            problem = "a run is written in the order of its scores, and convert reads no ranks; leave out --rank"
            raise BadValueError(problem).offering({"rank=": []})
        flag = next((one for one in SAVED if options.get(one)), "")
        if self.name == "change" and len(inputs) > 1 and flag:
            problem = f"--{flag.replace('_', '-')} {options[flag]}: it is one more period than the two of change"
            raise BadValueError(f"{problem}; name two files alone, the earlier first, or parts of a log as one folder")
        if self._arm_before and not self.gate_on_arm:
            problem = f"{self._arm_before}: there is no such file, and {self.name} takes no system or arm as a gate"
            other = "compare" if "system" in self.roles else "ab-test"
            raise BadValueError(f"{problem}; {other} does").offering({self.name: [other]})
        self._check_arguments(inputs)
        if [name for name, _ in self._read].count("-") > 1:
            raise BadValueError("- is standard input, which holds one frame; name a file for the other")
        if "digits" in options:
            check_whole("digits", options["digits"], 1)
        page = [PAGE] if self.name == "report" and "format" not in options else [None]
        self.outputs = {name: self._format(name) for name in options.get("output") or page}
        self._check_judgments()
        two = self.compares_files and self.name in WITH_FIRST
        check_gates(self.name, options, self.arguments[0][0] if two else None)
        for name in self.metrics:
            if self.name != "curve" and "value" not in options and not _is_file(name):
                read([name])
        if self.name == "curve" and not self.metrics:
            raise BadValueError("no curve is named; name one, as pr, roc, gain, calibration or ndcg@k")

    def _check_judgments(self) -> None:
        """Raise for options about judgments whose file is not named."""
        options = self.set_options
        for option in options_of(self.name).values():
            if option.name.startswith("proxy_") and option.name in options and "proxy" not in options:
                if self.name in OF_ANNOTATORS:
                    problem = f"{self.name} finds the column of the other file by itself; leave out {option.flag}"
                    raise BadValueError(problem).offering({f"{option.name}=": []})
                raise BadValueError(f"{option.flag} is about judgments of a machine; name their file with --proxy")
            if option.group == JUDGMENTS and options.get(option.name) and "qrels" not in options:
                further = f"; {PROGRAM} agreement compares annotators" * (option.name == "annotator")
                error = BadValueError(
                    f"{option.flag} is about judgments in a separate file; name it with --qrels{further}"
                )
                raise error.offering({self.name: ["agreement"], "metric=": []}) if further else error

    def _no_metrics(self, named: list[str]) -> BadValueError:
        """Return the error about arguments that are no files, of a command that takes no metrics."""
        if all(map(is_metric, named)):
            ways = {self.name: [self.name, "evaluate"], **{one: ["", one] for one in named}}
            problem = f"{self.name} takes no metrics; leave out {listed(named)}, or ask evaluate for them"
            return BadValueError(problem).offering(ways)
        if self.name in OF_ANNOTATORS and all(words_of(one) & OF_AGREEMENT for one in named):
            problem = f"{self.name} takes no metrics; agreement prints kappa, weighted_kappa, ac1, fleiss_kappa and"
            problem = f"{problem} alpha, which is Krippendorff's; leave out {listed(named)}"
            return BadValueError(problem).offering({self.name: ["agreement"], **{one: [""] for one in named}})
        problem = f"{self.name} takes no metrics, and {named[0]!r} does not look like the name of a file"
        columns = len(named) == 2 and {"label", "predicted"} <= {*options_of(self.name)}
        way = (
            f", and columns with flags: pass --label {shlex.quote(named[0])} --predicted {shlex.quote(named[1])}"
            if columns
            else ""
        )
        error = BadValueError(f"{problem}; name files with --input{way}")
        return self._of_columns(error, *named) if columns else error

    def _of_columns(self, error: BadValueError, label: str, predicted: str) -> BadValueError:
        """Return the error about two columns in the place of metrics; two annotators are compared by a metric."""
        gone: dict[str, list[str]] = {label: [], predicted: []}
        if self.name not in OF_ANNOTATORS:
            return error.offering(gone, label=label, predicted=predicted)
        kappa = gone | {self.name: ["evaluate"]}
        return error.offering(kappa, label=label, predicted=predicted, metric="kappa", query=None)

    def _name_output(self) -> None:
        """Take the second of two files of ``convert`` as the one to write, if it is not there.

        One that is there in another format may be meant to be written over, which has to be said.
        """
        inputs, last = self.arguments[0], self.arguments[0][-1:]
        if self.name != "convert" or "output" in self.set_options or len(inputs) != 2 or "to" in self.set_options:
            return
        if not format_of(last[0]) or {*last[0]} & {*"*?["}:
            return
        if not os.path.exists(last[0]):
            self.set_options["output"] = [inputs.pop()]
        elif format_of(inputs[0]) not in (None, format_of(last[0])):
            way = f"pass -o {shlex.quote(last[0])} to write over it, or --to with the format of the rows of both"
            raise BadValueError(f"{last[0]} is there already; {way}").offering({last[0]: []}, output=last[0])

    def _name_limits(self) -> None:
        """Make the number of a gate the limit of the only metric that is asked for."""
        for name in LIMITS:
            limit = self.set_options.get(name)
            if not is_number(limit):
                continue
            asked = [*self.metrics] if "value" in self.set_options else [one for one, _ in read(self.metrics)]
            if len(asked) != 1:
                flag = f"--{name.replace('_', '-')}"
                raise BadValueError(
                    f"{flag}: '{limit:g}' is the limit of one metric, and {len(asked)} are asked for; name the metric, "
                    f"as ndcg@10={limit:g}"
                )
            self.set_options[name] = {asked[0]: limit}

    def _check_arguments(self, inputs: list[str]) -> None:
        """Raise if a required metric or option is missing, or if a file to write is among those to read."""
        taken = metrics_taken(self.name)
        if taken is not None and takes_one_metric(self.name):
            if len(self.metrics) > 1:
                problem = f"{self.name} takes one metric, and {len(self.metrics)} are named, {listed(self.metrics)}"
                raise BadValueError(problem)
            if taken.default is taken.empty and not self.metrics:
                way = f"name one behind the input, as {'f1' if self.name in OF_TABLES else 'ndcg@10'}"
                if inputs and not os.path.exists(inputs[0]) and is_metric(inputs[0]):
                    flags = [f" {one.flag} ..." for one in options_of(self.name).values() if one.required]
                    way = f"{inputs[0]} is one: name the input before it, as log.csv {inputs[0]}{''.join(flags)}"
                error = BadValueError(f"{self.name} requires a metric; {way}")
                raise error.offering(metric=...) if way.startswith("name") else error
        for option in options_of(self.name).values():
            if option.required and option.name not in self.set_options:
                what = re.split(r"\. " if option.name in EXAMPLES else r"[;.] ", option.help)[0].rstrip(".")
                example = f"; pass {EXAMPLES[option.name]}" if option.name in EXAMPLES else ""
                error = BadValueError(f"{self.name} requires {option.flag}: {what}{example}")
                if option.name == "query_id" and isinstance(query := self.given.get("query"), list) and query:
                    ids = " --query-id ".join(map(shlex.quote, query))
                    error = BadValueError(f"{error}; pass --query-id {ids} in the place of --query")
                    raise error.offering({"query=": []}, query_id=query)
                raise error.offering(of="unjudged", max_grade=...) if option.name in EXAMPLES else error
        *before, last = [*inputs, *self.metrics] or [""]
        written = last.endswith(WRITTEN_TO) or (self.name == "convert" and len(inputs) > 1)
        if "output" not in self.set_options and before and written and not os.path.exists(last) and "*" not in last:
            way = shlex.join([PROGRAM, self.name, *before, "-o", last])
            raise BadValueError(f"{last}: there is no such file; if it is to be written, {way}")

    def _format(self, name: str | None) -> str:
        """Return the format of a file, or of standard output; raise if it is unknown."""
        options = self.set_options
        if self.name != "report":
            header, trec = options.get("header", True), self.name == "convert"
            return writing.format_to(name, options.get("to"), header=header, trec=trec)
        from frame_metrics.report.write import format_of_report  # which takes a while, and other commands do without

        return format_of_report(name, options.get("format"), f"-o {name}")

    @property
    def _read(self) -> list[tuple[str, str | None]]:
        """The files to read, each with the format that an option names, or None; an argument may be one too."""
        options = self.set_options
        names = {"from": [] if self.judgments_alone else self.arguments[0], "qrels_from": options.get("qrels", [])}
        others = [*self.frames.values(), *(options[name] for name in (*SAVED, "proxy") if options.get(name))]
        others += filter(_is_file, self.metrics)
        read = [(name, options.get(option)) for option, files in names.items() for name in files]
        return read + [(name, None) for name in others]

    def _check_written(self) -> None:
        """Raise for a file to write whose folder does not exist, or that is also read or written twice."""
        written = [("--output", name) for name in self.set_options.get("output") or ()]
        written += [("--junit", self.set_options["junit"])] if self.set_options.get("junit") else []
        seen: dict[str, str] = {}
        for flag, name in written:
            folder = os.path.dirname(name)
            if folder and not os.path.isdir(folder):
                raise FrameMetricsError(f"{flag} {name}: there is no folder {folder!r}")
            for one, kind in [*self._read, (self.given.get("config") or PROJECT, None)] if os.path.exists(name) else ():
                if any(os.path.samefile(name, file) for file in reading.files_of(one, kind)):
                    raise BadValueError(f"{flag} {name}: it is read as {one}; write to another file")
            if (path := os.path.realpath(name)) in seen:
                raise BadValueError(f"{flag} {name}: it is written by {seen[path]} too; write to another file")
            seen[path] = flag
