"""A job: one command run from start to end: it reads files, calls the verb, prints the result and checks the gates."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import polars as pl
import polars.selectors as cs

from frame_metrics.accessor import IRM
from frame_metrics.backends.display import DIGITS
from frame_metrics.command import ci_formats, gates, mixed_systems, reading, writing
from frame_metrics.command.call import FILE, OF_DOCS, OF_RANKS, PAGE, SAVED, CommandLine
from frame_metrics.command.commands import OF_JUDGE, options_of, takes_one_metric, verb_of
from frame_metrics.command.files import File
from frame_metrics.command.front import FAILED, OK, PROGRAM, UNDECIDED, quiet_pipe
from frame_metrics.command.guesses import having, is_metric, no_metric
from frame_metrics.command.ids import as_texts, matching
from frame_metrics.command.judgment_notes import note_on_judgments
from frame_metrics.command.options import alone, literal
from frame_metrics.command.saved import SavedFile, column_of_systems, each_with_itself, has_column, system_column
from frame_metrics.command.texts import in_words, on_github, say, say_at_terminal, with_flags
from frame_metrics.errors import (
    BadRowsError,
    BadValueError,
    ColumnError,
    FrameMetricsError,
    UnknownNameError,
    listed,
    quote,
)

OF_MEANS = ("evaluate", "per-query")  # commands that print values of metrics, and no more
MOST_FILES = 5  # the most file names that a report shows
NEED = "rows of several systems need system="  # what an error says that files of several systems lead to
NOTE = "split_note"  # a column of messages
FEW = 20  # rows of a CSV file in which texts of lists are searched for
FROM_LISTS_IN_CSV = re.compile(
    "is missing; name its column|holds no lists of ids"
)  # errors that lists in a CSV file lead to


@dataclass
class Job(CommandLine):
    """A call, and the methods that run it."""

    stack: ExitStack = field(default_factory=ExitStack)
    inputs: list[reading.InputFiles] = field(default_factory=list)  # what was read

    def run(self) -> int:
        """Run the command, and return the exit code."""
        try:
            with self.stack, self._file_errors():
                self.check()
                own = {"convert": self._convert, "report": self._report, "metrics": self._metrics}
                return own.get(self.name, self._verb)()
        except (FrameMetricsError, pl.exceptions.PolarsError, OSError) as error:
            if self.junit:
                ci_formats.junit(self.junit, [], in_words(error, options_of(self.name)))
            raise

    @contextmanager
    def _file_errors(self) -> Iterator[None]:
        """Replace an error of another library by one that names the file and the line that cannot be read."""
        try:
            try:
                yield
            except UnknownNameError as error:
                way = self._column_as_metric()
                raise UnknownNameError(f"{error}{'.' * (way != '' and str(error)[-1] not in '.?')}{way}") from None
            except ColumnError as error:
                if texts := self._texts_of_lists() if FROM_LISTS_IN_CSV.search(str(error)) else "":
                    raise ColumnError(f"{error}{texts}") from None
                raise
            except BadRowsError as error:
                if NEED in str(error) and len(self.arguments[0]) > 1:
                    told = str(error).replace(NEED, f"pass system={FILE!r} if each file is a system")
                    raise BadValueError(told) from None
                raise
        except (pl.exceptions.PolarsError, OSError):
            for file in self._files:
                file.check()
            raise

    def _column_as_metric(self) -> str:
        """Return what to do where a column of the input was named as a metric; "" if none was."""
        odd = [name for name in self.metrics if not is_metric(name)] if self.name != "curve" else []
        try:
            there = self._log.collect_schema().names() if odd else []
        except (FrameMetricsError, pl.exceptions.PolarsError, OSError):
            return ""
        column = next((name for name in odd if name in there), None)
        if column is None:
            return ""
        way = f"The column is named --label {column}, beside a metric, as clicks or ctr@10."
        flags = " ".join(f"--by {one}" for one in [*reading.each(self.roles.get("by")), column])
        return f" For segments of {column} too, pass {flags}. {way}" if "by" in self.roles else f" {way}"

    def _texts_of_lists(self) -> str:
        """Return what to do about columns of a CSV file whose values are texts of lists; "" if there are none."""
        for file in self._files:
            if file.kind in reading.OF_CELLS:
                texts = file.plan.select(cs.string()).head(FEW).collect()
                first = {name: values[0] for name in texts.columns if len(values := texts[name].drop_nulls())}
                lists = {name: text for name, text in first.items() if text.strip()[:1] + text.strip()[-1:] == "[]"}
                if lists:
                    where = f"in {listed(lists)} are texts of lists, as {quote(next(iter(lists.values())))}"
                    return f"; {where}: lists need a Parquet or JSON Lines file"
        return ""

    @property
    def _files(self) -> list[File]:
        return [file for one in self.inputs for file in one.files]

    @property
    def _names(self) -> list[str]:
        """The names of the inputs, for people."""
        return ["standard input" if name == "-" else name for name in self.arguments[0]]

    def _check_read(self) -> None:
        """Raise if lists mix systems, or if a file changed while it was read; called when a verb has its result."""
        if self.name not in mixed_systems.WITHOUT and not self.no_system:
            mixed_systems.refuse_mixed_systems(self._log, self.irm._plan.columns)
        self._check_unchanged()

    def _check_unchanged(self) -> None:
        """Raise if a file changed while it was read; called before numbers from it are written."""
        for file in self._files:
            file.unchanged.check()

    def _verb(self) -> int:
        result, outcomes = self._result()
        self._check_read()
        self._write(result, None if outcomes else DIGITS)
        self._note(result)
        return self._exit_code_of_gates(result, outcomes)

    def _note(self, result: pl.DataFrame) -> None:
        """Say that other documents may be judged, where that matters and the log alone has judgments."""
        options = self.set_options
        if self.name in OF_MEANS and "qrels" not in options and options.get("collection_size") is not True:
            metrics = result["metric"].unique(maintain_order=True) if "metric" in result.columns else self.metrics
            if note := note_on_judgments(self._log, self.irm._plan.columns, [*metrics]):
                say(note)

    # reading

    def _input(
        self,
        names: Sequence[str],
        option: str,
        default_format: str | None = None,
        file_column: str | None = None,
        **roles: Any,
    ) -> reading.InputFiles:
        said = self.set_options.get(option.removeprefix("--").replace("-", "_"))
        handed_on = self.name == "convert"
        roles, option_names_it = self.roles | roles, not self.compares_files
        files = reading.InputFiles(
            names, said, option, self._folder, roles, default_format, handed_on, file_column, option_names_it
        )
        self.inputs.append(files)
        return files

    def _folder(self) -> str:
        """Make a temporary folder for unpacked files, which is deleted when the job ends, and return its path."""
        where = self.set_options.get("temporary")
        return self.stack.enter_context(tempfile.TemporaryDirectory(prefix="frame_metrics-", dir=where))

    @cached_property
    def _log(self) -> pl.LazyFrame:
        if self.judgments_alone:
            return self._judged_documents
        others = [self._qrels, self._saved_rows, *self._frames_of_roles.values()]
        return as_texts(self._input(self.arguments[0], "--from", file_column=self.file_column).frame(), others)

    @property
    def _judged_documents(self) -> pl.LazyFrame:
        """The documents of the judgments, each once, in the place of a log, where that is not read."""
        qrels, named = self._qrels[0], [self.roles.get(role, role) for role in ("query", "doc")]
        keys = [one for one in dict.fromkeys(map(str, reading.each(named[0]) + [named[1]])) if one in qrels.columns]
        return qrels.select(keys).unique(maintain_order=True).with_columns(score=pl.lit(0.0)).lazy()

    @cached_property
    def irm(self) -> IRM[pl.LazyFrame]:
        """The log with its roles, and its judgments."""
        frames = {role: matching(frame, self._log, ids) for role, (frame, ids) in self._frames_of_roles.items()}
        irm = IRM(self._log, **(self.roles | frames))
        if "qrels" not in self.set_options:
            return irm
        given: dict[str, Any] = self._qrels_columns | {
            name: self.set_options.get(name) for name in ("grade", *OF_JUDGE)
        }
        given["label"] = True if self.set_options.get("all_relevant") else self.set_options.get("label")
        qrels, ids = self._qrels
        return irm.judge(matching(qrels, self._log, ids), **given)

    @cached_property
    def _frames_of_roles(self) -> dict[str, tuple[pl.DataFrame, dict[str, str]]]:
        """The frames read from the files of roles, by role, each with its id columns -> those of the log.

        The ids are documents or segments; the columns have the same names on both sides.
        """
        ids = {role: [*reading.each(self.roles.get("arm")), *reading.each(self.roles.get("by"))] for role in OF_RANKS}
        ids |= {role: [str(self.roles.get("doc") or "doc")] for role in OF_DOCS}
        read = {role: self._input([name], "").frame().collect() for role, name in self.frames.items()}
        return {role: (frame, {one: one for one in ids[role]}) for role, frame in read.items()}

    @property
    def _qrels_columns(self) -> dict[str, str | None]:
        return {"query": self.set_options.get("qrels_query"), "doc": self.set_options.get("qrels_doc")}

    @cached_property
    def _qrels(self) -> tuple[pl.DataFrame, dict[str, str]]:
        """The judgments from a separate file, and their id columns -> those of the log."""
        if "qrels" not in self.set_options:
            return pl.DataFrame(), {}
        columns = self._qrels_columns
        ids: dict[str, Any] = {
            role: [role, *reading.each(self.roles.get(role)), its or role] for role, its in columns.items()
        }
        ids["subtopic"] = reading.each(self.set_options.get("subtopic"))
        qrels = self._input(self.set_options["qrels"], "--qrels-from", "qrels", **ids).frame().collect()
        keys = {key: key for role in reading.KEYS for key in reading.each(self.roles.get(role))}
        return qrels, keys | self._ids(qrels, columns)

    def _ids(self, other: pl.DataFrame, columns: Mapping[str, str | None]) -> dict[str, str]:
        """Return the id columns of another frame -> those of the log; ``columns``: names that options give, by role."""
        ids = {}
        for role, its in columns.items():
            own = self.roles.get(role) or role
            if isinstance(own, str):
                ids[its or (own if own in other.columns else role)] = own
        return ids

    @property
    def _saved_flag(self) -> str | None:
        return next((name for name in SAVED if self.set_options.get(name)), None)

    @cached_property
    def _saved_rows(self) -> tuple[pl.DataFrame, dict[str, str]]:
        """The saved numbers, and their columns of queries and segments, which have the same names as the log's."""
        if self._saved_flag is None:
            return pl.DataFrame(), {}
        roles = {"query": "query"} | self.roles
        keys = [column for role in ("query", "arm", "by") for column in reading.each(roles.get(role))]
        return reading.saved(self._input([self.set_options[self._saved_flag]], "")), {key: key for key in keys}

    @cached_property
    def _saved(self) -> SavedFile | None:
        """The saved numbers, only those of one system if ``--saved-system`` names it."""
        flag = self._saved_flag
        if flag is None:
            return None
        rows, keys = self._saved_rows
        rows = matching(rows, self._log, keys)
        where, column = (
            f"--{flag.replace('_', '-')} {self.set_options[flag]}",
            column_of_systems(rows, self.roles, [*keys, "query"]),
        )
        saved = SavedFile(where, rows, column)
        system = self.set_options.get("saved_system")
        return saved if system is None else replace(saved, rows=saved.of(system))

    def _compared(self, metrics: list[str], **options: Any) -> pl.DataFrame:
        """Compare systems with each other or with saved numbers; if these have several systems, each with its own."""
        saved = self._saved
        if saved is not None and len(saved.systems) > 1 and has_column(self.roles, saved.column):
            with saved.errors_name_file():
                return each_with_itself(self.irm, metrics, saved, options)
        with self._baseline() as baseline:
            return self.irm.compare(*metrics, **options, **baseline).collect()

    # verbs

    def _of_verb(self) -> dict[str, Any]:
        """Return the options of the verb that are set."""
        parameters, split = (
            {option.name: option.parameter for option in verb_of(self.name)},
            self.set_options.get("split"),
        )
        first = self.compares_files and self._saved_flag is None  # the first file is the baseline of the others
        baseline = self.set_options.get("baseline") or (reading.file_names(self.arguments[0])[:1] if first else None)
        given = {parameters[name]: value for name, value in self.set_options.items() if name in parameters}
        if "query_id" in parameters:
            given["query"] = self._query(reading.each(self.set_options["query_id"]))
        if baseline:
            given["baseline"] = alone(self._in_column_type(reading.each(baseline)))
        if "margin" in self.set_options:
            given["margin"] = self.set_options["margin"]
        if isinstance(given.get("test"), str):
            from frame_metrics.verbs.compare.options import TEST_ALIASES  # which takes a while; few commands need it

            given["test"] = TEST_ALIASES.get(given["test"].lower(), given["test"])
        if split is not None:
            given["split"] = self._by_arm(split) if isinstance(split, dict) else split
        return given

    def _by_arm(self, split: Mapping[str, Any]) -> dict[Any, Any]:
        """Return the shares of ``--split`` by arm, with the names of arms in the type of their column."""
        arms = self._in_column_type(split)
        if twice := [name for name, arm in zip(split, arms, strict=True) if arms.count(arm) > 1]:
            raise BadValueError(f"--split: {listed(twice)} are one arm; pass it once")
        return dict(zip(arms, split.values(), strict=True))

    def _query(self, ids: Sequence[str]) -> Any:
        """Return the value of a query, or of several, in the type of its column; a tuple if several columns make it."""
        columns, types = reading.each(self.roles.get("query", "query")), self._log.collect_schema()
        if len(columns) > 1:
            return tuple(_in_type(one, types.get(column)) for one, column in zip(ids, columns, strict=False))
        return alone([_in_type(one, types.get(columns[0])) for one in ids])

    def _in_column_type(self, systems: Iterable[Any]) -> list[Any]:
        """Return names of systems, or arms, in the type of their column: the texts may be numbers and truth values."""
        column = next((name for role in ("arm", "team", "system") if (name := self.roles.get(role))), None)
        kind = self._log.collect_schema().get(str(column))
        return [_in_type(one, kind) for one in systems]

    def _result(self) -> tuple[pl.DataFrame, list[gates.Outcome]]:
        """Call the verb, and return its result and the outcomes of gates."""
        gated = {"evaluate": self._evaluate, "compare": self._compare, "audit": self._audit}
        if self.name in gated:
            return gated[self.name]()
        verb, one = getattr(self.irm, self.name.replace("-", "_")), takes_one_metric(self.name)
        options = self._of_verb() | ({"metric": self.metrics[0]} if one and self.metrics else {})
        with self._baseline() as baseline:
            result = verb(*([] if one else self.metrics), **options, **baseline).collect()
        if self.name == "agreement":
            self._check_agreement(result)
        return self._with_flags(result, NOTE) if NOTE in result.columns else result, []

    def _check_agreement(self, result: pl.DataFrame) -> None:
        """Raise if no document has two judgments, so that there is nothing to agree on."""
        if not result["n"].sum():
            who = self.set_options.get("annotator")
            raise BadValueError(
                f"--annotator {who}: no document has judgments of two annotators; the column has who judged, in a row "
                f"per judgment. For two columns of judgments it is {PROGRAM} evaluate FILE kappa --label grade "
                f"--predicted {who} --no-query"
            )

    def _evaluate(self) -> tuple[pl.DataFrame, list[gates.Outcome]]:
        options = self._of_verb()
        return self._gated(options.pop("margin", None), options)

    def _gated(self, margin: Any, options: Mapping[str, Any]) -> tuple[pl.DataFrame, list[gates.Outcome]]:
        """Evaluate the metrics that are asked for, and those of gates; return the result and the outcomes of gates."""
        least, most = self.set_options.get("fail_under") or {}, self.set_options.get("fail_over") or {}
        gated = [*least, *most, *(margin if isinstance(margin, dict) else ())]
        metrics = gates.with_gated(self.metrics, gated, all_there="value" in self.roles)
        result = self.irm.evaluate(*metrics, **options).collect()
        outcomes = list(gates.limits(result, least, most))
        if self._saved is not None:
            outcomes += self._worse(self._compared(metrics, **({} if margin is None else {"margin": margin})), metrics)
        return result, outcomes

    def _compare(self) -> tuple[pl.DataFrame, list[gates.Outcome]]:
        result = self._compared(self.metrics, **self._of_verb())
        gated = self.set_options.get("fail_if_worse_than") or self.set_options.get("not_worse_than")
        return result, self._worse(result, self.metrics) if gated else []

    def _worse(self, compared: pl.DataFrame, metrics: Sequence[str]) -> list[gates.Outcome]:
        """Return the outcomes of gates on saved numbers; they take account of queries without a saved number."""
        partial = not compared.is_empty() and bool((compared["n_unpaired"] > 0).any())
        evaluated = self.irm.evaluate(*metrics).collect() if partial else pl.DataFrame()
        alpha = self.set_options.get("alpha", gates.ALPHA)
        if self.set_options.get("not_worse_than"):
            return list(gates.not_worse(self._others(compared), alpha, evaluated, self.set_options["margin"]))
        return list(gates.worse(compared, alpha, evaluated))

    def _others(self, compared: pl.DataFrame) -> pl.DataFrame:
        """Leave out the system whose own saved numbers it is compared with, if there are others: it cannot lose."""
        own, column = self.set_options.get("saved_system"), system_column(self.roles)
        if own is None or column not in compared.columns:
            return compared
        others = compared.filter(pl.col(column).cast(pl.String) != own)
        return compared if others.is_empty() else others

    def _audit(self) -> tuple[pl.DataFrame, list[gates.Outcome]]:
        fail_on = self.set_options.get("fail_on")
        with self._baseline() as baseline:
            result = self.irm.audit(**self._of_verb(), **baseline).collect()
        result = self._with_flags(result)
        if fail_on is None and "error" in result["severity"]:
            say("a finding is an error, and the exit code is 0: pass --fail-on error to fail")
        return result, [] if fail_on is None else list(gates.grave(result, fail_on))

    @contextmanager
    def _baseline(self) -> Iterator[dict[str, Any]]:
        """Yield the option ``baseline=`` with the saved numbers of one system, if any; errors name their file."""
        if self._saved is None:
            yield {}
            return
        with self._saved.errors_name_file():
            yield {"baseline": self._saved.of_one()}

    def _with_flags(self, result: pl.DataFrame, column: str = "message") -> pl.DataFrame:
        """Return a result whose messages have flags in place of options of Python."""
        told = [one and with_flags(one, options_of(self.name)) for one in result[column]]
        return result.with_columns(pl.Series(column, told, pl.String))

    def _reworded(self, content: Any) -> Any:
        """Return the content of a report that names the files, with flags in place of options of Python."""
        files = self._names
        absent = [{**one, "reason": with_flags(one["reason"], options_of(self.name))} for one in content.absent]
        summary, audit = content.summary, self._with_flags(content.audit)
        sentences = [
            with_flags(text, options_of(self.name)) if kind == "absent" else text
            for kind, text in summary.select("kind", "sentence").iter_rows()
        ]
        summary = summary.with_columns(sentence=pl.Series(sentences, dtype=pl.String))
        more = f" and {len(files) - MOST_FILES} more" if len(files) > MOST_FILES else ""
        return replace(
            content, kind=f"log in {listed(files[:MOST_FILES])}{more}", audit=audit, absent=absent, summary=summary
        )

    def _report(self) -> int:
        """Write a report to files, or print it."""
        from frame_metrics.report.write import REWORDED, in_form  # which take a while, and other commands do without

        contents: list[Any] = []

        def reworded(content: Any) -> Any:
            contents.append(self._reworded(content))
            return contents[-1]

        options, forms = self._of_verb(), [*dict.fromkeys(self.outputs.values())]
        with self._baseline() as baseline:
            options |= baseline | {"metrics": self.metrics or None, "format": forms[0]}
            self.stack.callback(REWORDED.reset, REWORDED.set(reworded))
            texts = {forms[0]: self.irm.report(**options)}
        texts |= {form: in_form(contents[-1], form) for form in forms[1:]}
        self._check_read()
        for name, form in self.outputs.items():
            data = texts[form].encode("utf-8", "backslashreplace")
            if name is not None:
                writing.put_in(name, data)
                if "output" in self.set_options:
                    say_at_terminal(f"the report is in {name}")
                continue
            with quiet_pipe():
                writing.put(data)
        return self._exit_code_of_report()

    def _exit_code_of_report(self) -> int:
        """Print where a report without a name was written, check the gates, and return the exit code."""
        if "output" not in self.set_options and PAGE in self.outputs:
            say(f"the report is in {PAGE}")
        if not self.has_gates:
            return OK
        return self._exit_code_of_gates(*self._gated(self.set_options.get("margin"), {}))

    def _metrics(self) -> int:
        """Print the list of metrics, or of those with each of some words in their names or their texts."""
        from frame_metrics.backends.catalogue import list_metrics

        listed_all, words = list_metrics(), self.given["arguments"]
        text = pl.concat_str("name", "family", "also", "about", separator=" ", ignore_nulls=True).str.to_lowercase()
        texts = listed_all.select(text).to_series()
        found = listed_all.filter(*(having(texts, word) for word in words))
        if found.is_empty():
            raise UnknownNameError(no_metric(words, listed_all["name"].to_list()))
        self._write(found, DIGITS)
        return OK

    def _convert(self) -> int:
        """Write the frame that was read; if the format allows it, the frame is never in memory as a whole."""
        formulas = self.set_options.get("formulas", "keep")
        roles = {role: str(self.roles.get(role, role)) for role in ("query", "doc", "score", "grade")}
        run = self.set_options.get("run_name") or "run"
        for name, form in self.outputs.items():
            if name is not None:
                writing.convert(self._log, name, form, formulas, roles, run, self._check_unchanged)
                say_at_terminal(f"the rows are in {name}")
                continue
            frame = self._log.collect()
            self._check_unchanged()
            with quiet_pipe():
                writing.print_frame(frame, form, writing.Look(formulas))
        return OK

    # output

    def _write(self, result: pl.DataFrame, digits: int | None) -> None:
        options = self.set_options
        asked = {"columns", "digits"} & {*options}
        result = writing.arranged(result, options.get("columns", ()), options.get("sort", ()), options.get("digits"))
        look = writing.Look(options.get("formulas", "text"), options.get("digits", digits), options.get("header", True))
        for name, form in self.outputs.items():
            if name is not None:
                writing.write(result, name, form, look)
                continue
            with quiet_pipe():
                writing.print_frame(result, form, replace(look, brief=not asked))

    def _exit_code_of_gates(self, result: pl.DataFrame, outcomes: list[gates.Outcome]) -> int:
        """Report the outcomes of gates: on standard error, in a JUnit file and on GitHub; return the exit code."""
        failed = [one for one in outcomes if one.failed]
        for one in failed:
            say(f"gate {'undecided' if one.undecided else 'failed'}: {one.sentence}")
        for one in outcomes:
            if one.noted and not one.failed:
                say(one.noted)
        if name := self.set_options.get("junit"):
            ci_formats.junit(name, outcomes)
        if on_github():
            for one in failed:
                ci_formats.annotate(f"{PROGRAM} {self.name}", one.sentence)
            ci_formats.summarise(f"{PROGRAM} {self.name}", result, outcomes)
        if any(not one.undecided for one in failed):
            return FAILED
        return UNDECIDED if failed else OK


def _in_type(text: Any, kind: Any) -> Any:
    """Return a value of the command line in the type of a column: texts may be numbers and truth values."""
    return literal(str(text)) if kind is not None and (kind.is_numeric() or kind == pl.Boolean) else text
