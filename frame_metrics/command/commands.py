"""The commands: the verb behind each, its options, and its help with examples."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cache
from textwrap import fill as fill_lines
from typing import Any

from frame_metrics.accessor import IRM
from frame_metrics.command import reading, trec_eval, writing
from frame_metrics.command.options import (
    CONVENTIONS,
    JUDGMENTS,
    ROLES,
    SWITCH,
    VERB,
    Kind,
    Option,
    bounds,
    number,
    one_of,
    role_options,
    shares,
    verb_options,
)

FILES, GATES = "input and output", "gates"
GROUPS = (FILES, ROLES, JUDGMENTS, CONVENTIONS, VERB, GATES)
COMMON = ("query", "score", "grade", "system", "output")  # the options that --help shows
HELP = argparse.RawDescriptionHelpFormatter


@dataclass(frozen=True)
class Command:
    """One command."""

    examples: str
    verb: Callable[..., Any] | None = None
    own: tuple[str, ...] = ()  # the options that are not those of its verb, of reading and of writing
    usage: str = "[INPUT ...] [METRIC ...] [options]"


COMMANDS: dict[str, Command] = {
    "evaluate": Command(
        """
  frame-metrics evaluate log.parquet ndcg@10 map --query qid --score bm25 --grade rating
  frame-metrics evaluate 'logs/day=*/*.parquet' ndcg@10 --by device --ci 0.95 -o week.csv
  frame-metrics evaluate bm25.run ndcg@10 --qrels web.qrels --fail-under ndcg@10=0.4
  frame-metrics evaluate log.parquet ndcg@10 --fail-if-worse-than last_week.parquet
  zcat log.csv.gz | frame-metrics evaluate - ndcg@10 --from csv""",
        IRM.evaluate,
        ("fail_under", "fail_over", "fail_if_worse_than", "saved_system", "alpha", "junit"),
    ),
    "per-query": Command(
        """
  frame-metrics per-query log.parquet ndcg@10 -o last_week.parquet
  frame-metrics per-query log.parquet rr --to jsonl | jq 'select(.value == 0) | .query'""",
        IRM.per_query,
    ),
    "compare": Command(
        """
  frame-metrics compare log.parquet ndcg@10 map --system ranker --baseline bm25
  frame-metrics compare log.parquet ndcg@10 --saved last_week.parquet
  frame-metrics compare log.parquet ndcg@10 --fail-if-worse-than last_week.parquet --alpha 0.01""",
        IRM.compare,
        ("baseline", "saved", "saved_system", "fail_if_worse_than", "alpha", "junit"),
    ),
    "similarity": Command(
        """
  frame-metrics similarity bm25.run dense.run rbo overlap@10 --system run --baseline bm25
  frame-metrics similarity log.parquet tau_ap --system ranker --per-query --sort value""",
        IRM.similarity,
        ("baseline",),
    ),
    "audit": Command(
        """
  frame-metrics audit log.parquet --query qid --score bm25 --grade rating
  frame-metrics audit log.parquet --fail-on warning --junit audit.xml
  frame-metrics audit log.parquet --fail-on error --fail-on "queries without judgments=2%"
""",
        IRM.audit,
        ("split", "saved", "saved_system", "fail_on", "junit"),
        "[INPUT ...] [options]",
    ),
    "curve": Command(
        """
  frame-metrics curve cases.parquet roc --label ill --score risk -o roc.csv
  frame-metrics curve log.parquet ndcg@k --cutoffs 20 --system ranker""",
        IRM.curve,
        usage="[INPUT ...] [CURVE ...] [options]",
    ),
    "report": Command(
        """
  frame-metrics report log.parquet ndcg@10 map --system ranker -o report.html
  frame-metrics report log.parquet ndcg@10 --saved last_week.parquet --format md >> comment.md""",
        getattr(IRM, "report", None),
        ("baseline", "split", "saved", "saved_system"),
    ),
    "convert": Command(
        """
  frame-metrics convert bm25.run -o bm25.parquet
  frame-metrics convert log.parquet -o bm25.run --query qid --doc docid --score bm25 --run-name bm25""",
        own=("run_name",),
        usage="[INPUT ...] -o FILE [options]",
    ),
    "trec_eval": Command(
        """
  frame-metrics trec_eval web.qrels bm25.run
  frame-metrics trec_eval -q -c -m ndcg_cut.5,10 -m map web.qrels bm25.run""",
        usage="[-q] [-c] [-n] [-J] [-l NUMBER] [-M NUMBER] [-N NUMBER] [-m MEASURE] qrels run",
    ),
}

FILE, NAME, LIMITS = Kind("FILE", texts=True), Kind("NAME", texts=True), Kind("METRIC=VALUE", shares, many=True)
INPUTS = Kind("FILE", reading.checked_names, many=True, texts=True)
TEXTS = Kind(read=list, many=True, texts=True)
_INPUT = (
    Option(
        "input",
        "a file to read: Parquet, CSV, TSV, JSON, JSON lines, Arrow, a run or qrels of TREC, text also packed by gzip; "
        "a folder, whose folders may be called as day=monday; a pattern, in quotes; - for standard input",
        FILES,
        INPUTS,
        short="-i",
    ),
    Option("from", "the format of the input, where its name does not say it", FILES, one_of(reading.READ)),
)
_OUTPUT = (
    Option(
        "output",
        "the file to write, in the format of its ending, as .parquet .csv .tsv .json .jsonl .arrow .md .html; one that "
        "is there is replaced once the new one is whole",
        FILES,
        FILE,
        short="-o",
    ),
    Option(
        "to",
        "the format to write: a table where standard output is a terminal, else CSV, which any program reads",
        FILES,
        one_of([*writing.WRITTEN]),
    ),
    Option(
        "formulas",
        "of CSV and TSV: 'text' puts an apostrophe before texts that a spreadsheet would run, as =cmd(), 'keep' leaves "
        "them; by default text, and with convert keep",
        FILES,
        one_of(["text", "keep"]),
    ),
)
_SHOWN = (
    Option("columns", "the columns to print, in this order; behind commas, or repeated", FILES, TEXTS),
    Option("sort", "the columns to sort by; --sort=-value begins with the greatest", FILES, TEXTS),
    Option("digits", "significant digits of numbers; by default 6 in tables, else all", FILES, Kind("N", number)),
    Option("header", "a line with the names of columns, in CSV, TSV and tables", FILES, SWITCH, settable=True),
)
_PAGE = Option("output", "the file to write, .html, .md or .json; else it is printed", FILES, FILE, short="-o")
_METRIC = Option(
    "metric", "a metric, beside those named behind the input", VERB, replace(TEXTS, metavar="METRIC"), short="-m"
)
_OWN = (
    Option(
        "fail_under",
        "fail where a value is less than this, or undefined, in any system or segment; may be repeated",
        GATES,
        LIMITS,
    ),
    Option(
        "fail_over",
        "fail where a value is greater than this, or undefined, as of metrics of which less is better",
        GATES,
        LIMITS,
    ),
    Option(
        "fail_if_worse_than",
        "fail where a metric is worse than saved numbers, which per-query wrote, and p_adjusted is at most --alpha",
        GATES,
        FILE,
    ),
    Option("alpha", "the level of --fail-if-worse-than, by default 0.05", GATES, Kind("LEVEL", number)),
    Option(
        "fail_on",
        "fail where there is a finding of this severity (error, warning, info) or a graver one; or more of a check, or "
        "of any of a severity, than a number (duplicates=0) or a share (queries without judgments=2%); may be repeated",
        GATES,
        Kind("[CHECK=]BOUND", bounds, many=True),
    ),
    Option("junit", "a file of JUnit to write, with a case for each gate and row", GATES, FILE),
    Option("saved", "saved numbers to compare with, which per-query wrote", VERB, FILE),
    Option("saved_system", "the system whose saved numbers are taken, where they are of several", VERB, NAME),
    Option("baseline", "the system that others are compared with, or several", VERB, replace(TEXTS, metavar="NAME")),
    Option("split", "the share of units that an arm should have", VERB, Kind("ARM=SHARE", shares, many=True)),
    Option("run_name", "the name of a run of TREC, where no column called run has it", FILES, NAME),
)


def _judging() -> list[Option]:
    """The options of judgments in a file of their own."""
    told = (
        "the judgments; --grade and --label are then theirs; a name that does not say the format is that of TREC qrels"
    )
    column, columns = replace(FILE, metavar="COLUMN"), {"qrels_query": "queries", "qrels_doc": "documents"}
    return [
        Option("qrels", told, JUDGMENTS, INPUTS),
        Option("qrels_from", "their format, where the name does not say it", JUDGMENTS, one_of(reading.READ)),
        *(Option(name, f"their column of {what}", JUDGMENTS, column) for name, what in columns.items()),
        Option("all_relevant", "each of their rows is relevant, as in a held-out set", JUDGMENTS, SWITCH),
        *(one for one in verb_options(IRM.judge, JUDGMENTS) if one.name in ("annotator", "subtopic", "several")),
    ]


@cache
def options_of(name: str) -> dict[str, Option]:
    """Return the options of a command by name; what a verb calls as a role does is the verb's."""
    command = COMMANDS[name]
    if name == "trec_eval":
        return {}
    own = [one for one in _OWN if one.name in command.own]
    roles = role_options()
    if name == "convert":
        options = [*_INPUT, *_OUTPUT, *own, *(one for one in roles if one.name in ("query", "doc", "score", "grade"))]
    else:
        verb = verb_options(command.verb) if command.verb else []
        output = (_PAGE,) if name == "report" else (*_OUTPUT, *_SHOWN)
        options = [*roles, *_judging(), *verb, *_INPUT, *output, *own, *([] if name == "audit" else [_METRIC])]
    return {option.name: option for option in options}


def fill(parser: argparse.ArgumentParser, name: str, only: Collection[str] | None = None) -> None:
    """Add the arguments of a command to a parser; of the options those of some names, None for all."""
    if name == "trec_eval":
        trec_eval.add(parser)
        return
    parser.add_argument("arguments", nargs="*", help=argparse.SUPPRESS)
    told = {
        ROLES: "Columns called query, score, label, grade and predicted play their part without a flag, beside a "
        "query rank and doc too; --no-query, --no-score ... set one aside, and --no-by, --no-system ... take back what "
        "settings say. Flags of several columns are repeated.",
        CONVENTIONS: "Flags of several values are repeated. Numbers, true and false are read as such; a text that "
        "looks so stands in double quotes, as --positive '\"1\"'.",
    }
    if only is not None:
        common = parser.add_argument_group("common options")
        for option in options_of(name).values():
            if option.name in only:
                option.add(common)
        return
    titles = {title: parser.add_argument_group(title, fill_lines(told.get(title, ""), 76)) for title in GROUPS}
    config = "a TOML file with options, where ./pyproject.toml has none under [tool.frame_metrics]; flags go before it"
    titles[FILES].add_argument("--config", default=argparse.SUPPRESS, metavar="FILE", help=config)
    for option in options_of(name).values():
        option.add(titles[option.group])
