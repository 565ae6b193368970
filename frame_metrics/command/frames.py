"""The frames of a call: the log, its judgments, those of roles and saved numbers; each is read once."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import polars as pl

from frame_metrics.accessor import IRM
from frame_metrics.command.before import Before
from frame_metrics.command.call import FILE, OF_DOCS, OF_FILES, OF_PAGES, OF_RANKS, CommandLine
from frame_metrics.command.commands import OF_JUDGE, options_of
from frame_metrics.command.files import reading, writing
from frame_metrics.command.files.conditions import Condition, as_typed, chosen, of_queries, queries_with
from frame_metrics.command.files.files import File
from frame_metrics.command.files.ids import as_texts, matching
from frame_metrics.command.gates.options import SAVED
from frame_metrics.command.offers import mixed_systems
from frame_metrics.command.periods import check_dates_as_arms, in_periods, in_two
from frame_metrics.command.saved import SavedFile
from frame_metrics.command.texts import say
from frame_metrics.errors import ColumnError
from frame_metrics.measuring.baseline import THIS
from frame_metrics.plan.declared import refused_by
from frame_metrics.plan.proxy import PROXY_COLUMNS, PROXY_CONVENTIONS
from frame_metrics.roles.columns import ROLES

MOST_BYTES = 4_000_000  # of files that are read only to see whether a call would run
OF_QUERIES = ("per-query", "explain", "to-judge")  # commands that print no means
OF_PAIRS = ("compare", "ab-test", "change", "sample-size", "summary", "report")  # commands that compare arms
SLOW = ("to-judge", "summary", "report")  # commands whose calls are not computed for that


class WouldRunError(Exception):
    """A call that is only checked has come to where it would compute."""


@dataclass
class Frames:
    """The frames that a call reads."""

    call: CommandLine
    stack: ExitStack  # deletes unpacked files when the command ends
    inputs: list[reading.InputFiles] = field(default_factory=list)  # what was read
    looked_at: bool = False  # whether lists that mix systems were looked for
    made: list[str] = field(default_factory=lambda: ["score"])  # columns made for judgments without a log
    only_checked: bool = False  # whether the call ends before anything is computed

    @property
    def files(self) -> list[File]:
        """The files that were read."""
        return [file for one in self.inputs for file in one.files]

    @property
    def names(self) -> list[str]:
        """The names of the inputs, for people."""
        both = self.before.input.names if self.before and self.before.joins_logs else ()
        return ["standard input" if name == "-" else name for name in (*both, *self.call.arguments[0])]

    def check_unchanged(self) -> None:
        """Raise if a file changed while it was read; called before numbers from it are written."""
        for file in self.files:
            file.unchanged.check()

    def collected(self, result: pl.LazyFrame) -> pl.DataFrame:
        """Run what a verb returned, whose options are checked; raise before if lists mix systems."""
        self.refuse_mixed_systems()
        found = result.collect()
        if self.only_checked:
            options = self.call.set_options
            writing.arranged(found, options.get("columns", ()), options.get("sort", ()), None)
            raise WouldRunError
        return found

    def refuse_mixed_systems(self) -> None:
        """Raise if lists mix systems; they are looked for once, before anything is computed of them."""
        if self.only_checked:
            self.irm._plan  # noqa: B018  # which raises for columns that are missing
            self.end_if_large()
        if not self.looked_at and self.call.name not in mixed_systems.WITHOUT and not self.call.no_system:
            mixed_systems.refuse_mixed_systems(self.log, self.irm._plan.columns)
            several = self.log_input.files if len(self.call.arguments[0]) > 1 else []
            mixed_systems.refuse_same_keys(several, self.irm._plan.columns)
            self._note_one_log()
            if not self.call.no_rank:
                mixed_systems.refuse_repeated_places(self.log, self.irm._plan.columns)
        self.looked_at = True
        if self.only_checked and self.call.name in SLOW:
            self._try()

    def _note_one_log(self) -> None:
        """Say that several files are read as one log, if each could be an arm."""
        call, names = self.call, self.call.arguments[0]
        has_arms = call.name not in OF_QUERIES and "arm" not in refused_by(call.name.replace("-", "_"))
        if len(names) < 2 or {"system", "arm"} & {*call.roles} or not has_arms:
            return
        first = f" --baseline {shlex.quote(reading.file_names(names)[0])}" * ("baseline" in options_of(call.name))
        say(
            f"{len(names)} files are read as one log: --arm file{first} measures each by itself, and --no-system says "
            "that one log is meant"
        )

    def end_if_large(self) -> None:
        """End the check of a call before large files are read."""
        names = [one for files in (self.call.arguments[0], self.call.set_options.get("qrels", [])) for one in files]
        if sum(os.path.getsize(one) if os.path.isfile(one) else MOST_BYTES for one in names) >= MOST_BYTES:
            raise WouldRunError

    def _try(self) -> None:
        """End the check of a slow verb, whose metrics, or those of a page by default, are evaluated."""
        asked = self.call.metrics
        if not asked and self.call.name in OF_PAGES:
            from frame_metrics.report.gathering import planned_call  # which takes a while, and most calls do without

            asked = [name for name, _ in planned_call(self.irm._plan, [], None)[0]]
        if asked:
            self.irm.evaluate(*asked).collect()
        raise WouldRunError

    def input(
        self,
        names: Sequence[str],
        option: str,
        default_format: str | None = None,
        file_column: str | None = None,
        **roles: Any,
    ) -> reading.InputFiles:
        """Return the files of some names, whose format ``option`` is for."""
        given = self.call.set_options.get(option.removeprefix("--").replace("-", "_"))
        handed_on = self.call.name == "convert"
        roles, option_names_it = self.call.roles | roles, not self.call.compares_files
        files = reading.InputFiles(
            names, given, option, self._folder, roles, default_format, handed_on, file_column, option_names_it
        )
        self.inputs.append(files)
        return files

    def _folder(self) -> str:
        """Make a temporary folder for unpacked files, which is deleted when the job ends, and return its path."""
        where = self.call.set_options.get("temporary")
        return self.stack.enter_context(tempfile.TemporaryDirectory(prefix="frame_metrics-", dir=where))

    @cached_property
    def log(self) -> pl.LazyFrame:
        """The rows that are evaluated."""
        if self.call.judgments_alone:
            return self._judged_documents
        others = [self._qrels, *([self.before.ids] if self.before else []), *self._frames_of_roles.values()]
        return as_texts(self.in_periods(self.rows), others)

    @cached_property
    def log_input(self) -> reading.InputFiles:
        """The files of the log."""
        return self.input(self.call.arguments[0], "--from", file_column=self.call.file_column)

    @cached_property
    def _every_row(self) -> pl.LazyFrame:
        return self.log_input.frame()

    @cached_property
    def rows(self) -> pl.LazyFrame:
        """The rows of the log as they are in its files, those that are asked for."""
        return chosen(self._every_row, self.asked_rows)

    @property
    def asked_rows(self) -> list[Condition]:
        """The conditions of the rows that are asked for."""
        return self.call.set_options.get("where") or []

    def in_periods(self, log: pl.LazyFrame) -> pl.LazyFrame:
        """Return a log with periods in the place of the dates of its arms and segments, if they are asked for."""
        keys = [column for role in ("arm", "by") for column in reading.each(self.call.roles.get(role))]
        keys = [one for one in keys if one != self.call.file_column]
        if since := self.call.set_options.get("since"):
            if (arm := self.call.roles.get("arm")) is None:
                raise ColumnError("--since requires the column of dates as the arm; name it with --arm").offering(
                    arm=...
                )
            log, keys = in_two(log, arm, since), [one for one in keys if one != arm]
        elif not {"every", "baseline"} & {*self.call.set_options} and self.call.name in OF_PAIRS:
            for one in reading.each(self.call.roles.get("arm")):
                check_dates_as_arms(log, one, [*options_of(self.call.name)])
        return in_periods(log, keys, self.call.set_options.get("every"), reading.each(self.call.roles.get("arm")))

    @property
    def _judged_documents(self) -> pl.LazyFrame:
        """The documents of the judgments, each once, in the place of a log, where that is not read."""
        qrels, named = self._qrels[0], [self.call.roles.get(role, role) for role in ("query", "doc")]
        keys = [*dict.fromkeys(map(str, reading.each(named[0]) + [named[1]]))]
        if not {*keys} <= {*qrels.columns}:  # whose error lists what is there
            return qrels.with_columns(score=pl.lit(0.0)).lazy()
        return qrels.select(keys).unique(maintain_order=True).with_columns(score=pl.lit(0.0)).lazy()

    @cached_property
    def irm(self) -> IRM[pl.LazyFrame]:
        """The log with its roles, and its judgments."""
        return self.with_roles(self.log)

    def with_roles(self, log: pl.LazyFrame) -> IRM[pl.LazyFrame]:
        """Return a log with the roles and the judgments of the call."""
        frames = {role: matching(frame, self.log, ids) for role, (frame, ids) in self._frames_of_roles.items()}
        irm = IRM(log, **(self.call.roles | frames))
        if "qrels" not in self.call.set_options:
            return irm
        options = self.call.set_options
        given: dict[str, Any] = self._qrels_columns | {name: options.get(name) for name in ("grade", *OF_JUDGE)}
        given["label"] = True if options.get("all_relevant") else options.get("label")
        qrels, ids = self._qrels
        if "proxy" in options:
            given["proxy"] = self._of_machine(given)
        return irm.judge(matching(qrels, self.log, ids), **given)

    def _of_machine(self, given: Mapping[str, Any]) -> Any:
        """Return the judgments of a machine, with roles if columns or conventions of theirs are named.

        ``given``: the columns of people's judgments, which those of the machine are called like.
        """
        machine, ids = self._read_judgments([self.call.set_options["proxy"]])
        own = {name: self.call.set_options.get(f"proxy_{name}") for name in ("grade", *PROXY_CONVENTIONS)}
        named = {name: given[name] for name in PROXY_COLUMNS if given[name] in machine.columns}
        named |= {"grade": own["grade"], "label": None} if own["grade"] else {}
        conventions = {name: own[name] for name in PROXY_CONVENTIONS if own[name] is not None}
        if not conventions and machine.schema.get(str(named.get("grade"))) == pl.String:  # words as those of people
            conventions = {name: self.call.roles.get(name) for name in PROXY_CONVENTIONS}
        machine = matching(machine, self.log, ids)
        return IRM(machine, **named, **conventions) if named or conventions else machine

    @cached_property
    def _frames_of_roles(self) -> dict[str, tuple[pl.DataFrame, dict[str, str]]]:
        """The frames read from the files of roles, by role, each with its id columns -> those of the log.

        The ids are documents or segments; the columns have the same names on both sides.
        """
        roles = self.call.roles
        ids = {role: [*reading.each(roles.get("arm")), *reading.each(roles.get("by"))] for role in OF_RANKS}
        ids |= {role: [str(roles.get("doc") or "doc")] for role in OF_DOCS}
        read = {role: self.input([name], "").frame().collect() for role, name in self.call.frames.items()}
        return {role: (frame, {one: one for one in ids[role]}) for role, frame in read.items()}

    @property
    def _qrels_columns(self) -> dict[str, str | None]:
        return {"query": self.call.set_options.get("qrels_query"), "doc": self.call.set_options.get("qrels_doc")}

    @cached_property
    def _qrels(self) -> tuple[pl.DataFrame, dict[str, str]]:
        """The judgments from a separate file, and their id columns -> those of the log."""
        if "qrels" not in self.call.set_options:
            return pl.DataFrame(), {}
        return self._read_judgments(self.call.set_options["qrels"])

    def _read_judgments(self, names: Sequence[str]) -> tuple[pl.DataFrame, dict[str, str]]:
        """Return the judgments of files, and their id columns -> those of the log."""
        columns = self._qrels_columns
        ids: dict[str, Any] = {
            role: [role, *reading.each(self.call.roles.get(role)), its or role] for role, its in columns.items()
        }
        ids["subtopic"] = reading.each(self.call.set_options.get("subtopic"))
        of_file = FILE if self.call.set_options.get("annotator") == FILE and len(names) > 1 else None
        files = self.input(names, "--qrels-from", "qrels", of_file, **ids)
        plan = (replace(files, renames=True) if of_file else files).frame()
        qrels = (chosen(plan, self.asked_rows) if self.call.judgments_alone else plan).collect()
        if self._has_items_alone(qrels.columns):
            qrels = qrels.with_columns(query=pl.lit("all"))
            self.made = ["query", *self.made]
        keys = {key: key for role in reading.KEYS for key in reading.each(self.call.roles.get(role))}
        keys |= self._ids(qrels, columns)
        return self._of_asked_queries(qrels, keys, names), keys

    def _of_asked_queries(self, qrels: pl.DataFrame, ids: Mapping[str, str], names: Sequence[str]) -> pl.DataFrame:
        """Return judgments without those of queries that no asked row is of, and say how many these are.

        They would count as queries without results. A column with several values in a query, as the system, chooses no
        queries: what one of its values has no row of counts for it.
        """
        query = reading.each(self.call.roles.get("query", "query"))
        own = {its: one for its, one in ids.items() if one in query and its in qrels.columns}
        if not self.asked_rows or self.call.judgments_alone or len(own) < len(query):
            return qrels
        asked, texts = self._asked_queries
        if not asked:
            return qrels
        some = [pl.col(one).cast(pl.String) for one in own]
        kept = qrels.join(texts, left_on=some, right_on=[*own.values()], how="semi", nulls_equal=True)
        n, n_kept = (frame.select(pl.struct(*own).n_unique()).item() for frame in (qrels, kept))
        if n > n_kept:
            left = f"{n - n_kept:,} of {n:,} queries have no row with {as_typed(asked)}, and are left out"
            say(f"{' '.join(names)}: {left}")
        return kept

    @cached_property
    def _asked_queries(self) -> tuple[list[Condition], pl.DataFrame]:
        """The conditions that choose queries, and the queries for which they hold, in the log or in that of before."""
        query = reading.each(self.call.roles.get("query", "query"))
        asked = of_queries(self._every_row, self.asked_rows, query)
        logs = [self._every_row, *([self.before.every_row] if self.before else [])]
        return asked, queries_with(logs, asked, query) if asked else pl.DataFrame()

    def _has_items_alone(self, columns: Sequence[str]) -> bool:
        """Return True for judgments of items that no query has, in a file that stands alone: they are all of one."""
        named = self._qrels_columns["query"] or self.call.roles.get("query")
        return self.call.judgments_alone and not named and not {"query", *ROLES["query"].among(columns)} & {*columns}

    def _ids(self, other: pl.DataFrame, columns: Mapping[str, str | None]) -> dict[str, str]:
        """Return the id columns of another frame -> those of the log; ``columns``: names that options give, by role."""
        ids = {}
        for role, its in columns.items():
            own = self.call.roles.get(role) or role
            if isinstance(own, str):
                ids[its or (own if own in other.columns else role)] = own
        return ids

    @cached_property
    def before(self) -> Before | None:
        """The file that an option names to compare the log with."""
        flag = next((name for name in SAVED if self.call.set_options.get(name)), None)
        return None if flag is None or self.call.gate_on_arm else Before(self, flag)

    @property
    def joins_logs(self) -> bool:
        """True if the log is compared with a log of before, as two systems or arms."""
        return self.before is not None and self.before.joins_logs

    @property
    def saved(self) -> SavedFile | None:
        """The saved numbers, if there are any."""
        return None if self.before is None or self.joins_logs else self.before.saved

    def against(self, **roles: Any) -> IRM[pl.LazyFrame]:
        """Return the log, with the log of before if there is one; ``roles``: in the place of those of the call."""
        if self.before is not None and self.before.joins_logs:
            return self.before.both(OF_FILES.get(self.call.name, "system"), **roles)
        return self.irm(**roles) if roles else self.irm

    @contextmanager
    def baseline(self, total_over: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
        """Yield the option ``baseline=`` of ``against``: saved numbers of one system, if any; errors name their file.

        ``total_over``: the columns of segments that totals are over, which saved numbers may have.
        """
        if self.before is None:
            yield {}
        elif self.before.joins_logs:
            yield {"baseline": self.before.name}
        else:
            name = THIS.set(self.names[0] if len(self.names) == 1 else "these files")
            self.stack.callback(THIS.reset, name)
            with self.before.saved.errors_name_file():
                yield {"baseline": self.before.saved.of_one().drop(total_over, strict=False)}
