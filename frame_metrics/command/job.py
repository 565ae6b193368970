"""A job: one command run from start to end: it reads files, calls the verb, prints the result and checks the gates."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace

import polars as pl

from frame_metrics.backends.display import DIGITS
from frame_metrics.command.call import PAGE, CommandLine
from frame_metrics.command.commands import options_of
from frame_metrics.command.files import writing
from frame_metrics.command.files.reading import each
from frame_metrics.command.files.trec_rows import rows_of_trec
from frame_metrics.command.frames import Frames, WouldRunError
from frame_metrics.command.front import FAILED, OK, PROGRAM, UNDECIDED, quiet_pipe
from frame_metrics.command.gates import ci_formats
from frame_metrics.command.gates.outcomes import Outcome, worst_passed
from frame_metrics.command.judgment_notes import note_on_judgments, note_on_queries, note_on_systems
from frame_metrics.command.offers.mixed_systems import refuse_places
from frame_metrics.command.offers.single_rows import refuse_single_rows
from frame_metrics.command.offers.ways_out import errors_with_ways_out
from frame_metrics.command.report_files import check_report, write_report
from frame_metrics.command.results import evaluated_with_gates, result_of
from frame_metrics.command.texts import in_words, on_github, say, say_at_terminal
from frame_metrics.errors import FrameMetricsError
from frame_metrics.measuring.rows import without_interval
from frame_metrics.metrics.names import read
from frame_metrics.metrics.parameters import is_number
from frame_metrics.plan.needs import may_decide

OF_MEANS = ("evaluate", "per-query")  # commands that print values of metrics, and no more
OF_SEGMENTS = (
    "change, from_mix and from_within of a segment are its part of the change of all; its own is value - baseline_value"
)
OF_SYSTEMS = ("compare", "leaderboard")


class Job:
    """A call, and the methods that run it."""

    def __init__(self, call: CommandLine) -> None:
        self.call = call
        self._stack = ExitStack()
        self._frames = Frames(call, self._stack)

    def run(self) -> int:
        """Run the command, and return the exit code."""
        name = self.call.name
        try:
            with self._stack, errors_with_ways_out(self._frames):
                self.call.check()
                own = {"convert": self._convert, "report": self._report, "metrics": self._metrics}
                return own.get(name, self._verb)()
        except (FrameMetricsError, pl.exceptions.PolarsError, OSError) as error:
            if self.call.junit:
                ci_formats.junit(self.call.junit, [], in_words(error, options_of(name)))
            raise

    def check(self) -> None:
        """Raise what running the command would raise before it computes or writes anything."""
        self._frames.only_checked = True
        with self._stack, errors_with_ways_out(self._frames), suppress(WouldRunError):
            self.call.check()
            if self.call.name == "report":
                check_report(self._frames)
            elif self.call.name == "convert":
                self._frames.end_if_large()
                for form in self.call.outputs.values():
                    self._rows_of(form)
            elif self.call.name != "metrics":
                result_of(self._frames)

    def _verb(self) -> int:
        """Call the verb, print its result, and return the exit code."""
        result, outcomes = result_of(self._frames)
        self._frames.check_unchanged()
        refuse_single_rows(self._frames, result)
        self._write(result, None if outcomes else DIGITS)
        self._note(result)
        return self._exit_code_of_gates(result, outcomes)

    def _note(self, result: pl.DataFrame) -> None:
        """Print what has to be known beside a result."""
        for note in filter(None, self._notes(result)):
            say(note)
        if self.call.name == "change" and self.call.roles.get("by") and "from_mix" in result.columns:
            say_at_terminal(OF_SEGMENTS)

    def _notes(self, result: pl.DataFrame) -> Iterator[str]:
        """Yield what has no interval, that nothing was corrected, and where other documents may be relevant."""
        name, options = self.call.name, self.call.set_options
        if name == "evaluate" and "ci" in options and "value" not in options:
            columns = self._frames.irm._plan.columns
            in_clusters = columns.cluster is not None and not columns.query
            for pair in read(self.call.metrics):
                yield without_interval(*pair, in_clusters=in_clusters).partition(";")[0]
        asked = read(self.call.gated_metrics) if name == "evaluate" and "value" not in options else []
        if asked and is_number(limit := options.get("threshold")) and not any(may_decide(one) for _, one in asked):
            yield f"--threshold changes none of these metrics; a gate is --fail-under {limit:g}"
        if options.get("correction", "none") != "none" and _has_single_tests(result):
            several = len(result) > 1 and "over" in options_of(name) and options.get("over") != "all"
            way = "; pass --over all to correct all rows together" * several
            yield f"--correction {options['correction']} corrects nothing, as each metric has one comparison{way}"
        if name == "sample-size" and (unit := {*options} & {"arm", "cluster"}):
            columns = self._frames.irm._plan.columns
            one = columns.cluster or ", ".join(columns.query)
            yield f"needed counts {f'values of {one}' if one else 'rows'}{' in each arm' * ('arm' in unit)}"
        asks = name == "to-judge" or any(one.name in ("judged", "unjudged") for _, one in asked)
        if asks and "qrels" in options and not {"unjudged_queries", "way"} & {*options}:
            qrels, ids = self._frames._qrels
            named = {own: its for its, own in ids.items()}
            queries = {str(one): named.get(str(one), str(one)) for one in self._frames.irm._plan.columns.query}
            yield note_on_queries(self._frames.log, qrels, queries)
        if name not in (*OF_MEANS, *OF_SYSTEMS) or "qrels" in options or options.get("collection_size") is True:
            return
        metrics = result["metric"].unique(maintain_order=True) if "metric" in result.columns else self.call.metrics
        about = self._frames.log, self._frames.irm._plan.columns, [*metrics]
        yield note_on_systems(*about)
        if name in OF_MEANS and options.get("doc", "") is not None:
            yield note_on_judgments(*about)

    def _report(self) -> int:
        """Write a report, check the gates, and return the exit code."""
        write_report(self._frames)
        if "output" not in self.call.set_options and PAGE in self.call.outputs:
            say(f"the report is in {PAGE}")
        if not self.call.has_gates:
            return OK
        margin = self.call.set_options.get("margin")
        totals = {"margins": True} if self.call.roles.get("by") else {}
        return self._exit_code_of_gates(*evaluated_with_gates(self._frames, margin, totals))

    def _metrics(self) -> int:
        """Print the list of metrics, or of those with each of some words in their names or their texts."""
        from frame_metrics.backends.catalogue import list_metrics

        self._write(list_metrics(*self.call.given["arguments"]), DIGITS)
        return OK

    def _convert(self) -> int:
        """Write the frame that was read; if the format allows it, the frame is never in memory as a whole."""
        formulas = self.call.set_options.get("formulas", "keep")
        run = self.call.set_options.get("run_name") or "run"
        check = self._frames.check_unchanged
        for name, form in self.call.outputs.items():
            if name is not None:
                log, roles = self._rows_of(form)
                writing.convert(log, name, form, formulas, roles, run, check)
                say_at_terminal(f"the rows are in {name}")
                continue
            frame = self._frames.log.collect()
            check()
            with quiet_pipe():
                writing.print_frame(frame, form, writing.Look(formulas))
        return OK

    def _rows_of(self, form: str) -> tuple[pl.LazyFrame, dict[str, str]]:
        """Return the rows that a file has, and the columns that one of TREC needs; raise for lists of several searches.

        In these the rows of each search would be one list.
        """
        frames, given = self._frames, self.call.roles
        roles = {role: str(given.get(role, role)) for role in ("doc", "score", "grade")}
        if form not in writing.TREC:
            return frames.log, roles
        if form == "run" and not self.call.no_rank:
            columns, run = frames.irm._plan.columns, self.call.set_options.get("run_name") or "run"
            refuse_places(frames.log, columns.query and [*columns.query, run], columns.needed)
        rows, query = rows_of_trec(frames.log, each(given.get("query", "query")), roles["doc"])
        return rows, roles | {"query": query}

    def _write(self, result: pl.DataFrame, digits: int | None) -> None:
        options = self.call.set_options
        asked = {"columns", "digits"} & {*options}
        result = writing.arranged(result, options.get("columns", ()), options.get("sort", ()), options.get("digits"))
        look = writing.Look(options.get("formulas", "text"), options.get("digits", digits), options.get("header", True))
        for name, form in self.call.outputs.items():
            if name is not None:
                writing.write(result, name, form, look)
                continue
            with quiet_pipe():
                writing.print_frame(result, form, replace(look, brief=not asked))

    def _exit_code_of_gates(self, result: pl.DataFrame, outcomes: list[Outcome]) -> int:
        """Report the outcomes of gates: on standard error, in a JUnit file and on GitHub; return the exit code."""
        failed = [one for one in outcomes if one.failed]
        for one in failed:
            say(f"gate {'undecided' if one.undecided else 'failed'}: {one.sentence}")
        for one in outcomes:
            if one.noted and not one.failed:
                say(one.noted)
        for told in worst_passed(outcomes):
            say(told)
        if name := self.call.set_options.get("junit"):
            ci_formats.junit(name, outcomes)
        if on_github():
            for one in failed:
                ci_formats.annotate(f"{PROGRAM} {self.call.name}", one.sentence)
            ci_formats.summarise(f"{PROGRAM} {self.call.name}", result, outcomes)
        if any(not one.undecided for one in failed):
            return FAILED
        return UNDECIDED if failed else OK


def _has_single_tests(result: pl.DataFrame) -> bool:
    """Return True if no p-value of a comparison is corrected together with another."""
    return "n_tests" in result.columns and not (result["n_tests"] > 1).any()
