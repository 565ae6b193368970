"""The commands: the verb behind each, its options, and its help with examples."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from frame_metrics.accessor import IRM
from frame_metrics.command import reading, trec_eval, writing
from frame_metrics.command.options import (
    CONVENTIONS,
    JUDGMENTS,
    ROLES,
    VERB,
    Option,
    number,
    role_options,
    shares,
    verb_options,
)

FILES, GATES = "input and output", "gates"
PROGRAM = "frame-metrics"


@dataclass(frozen=True)
class Command:
    """One command."""

    told: str
    examples: str
    verb: Callable[..., Any] | None = None
    gates: tuple[str, ...] = ()
    arguments: str = "[INPUT] [METRIC ...]"


SEE_HELP = "frame-metrics COMMAND --help has the options of a command, with examples."
COMMANDS: dict[str, Command] = {
    "evaluate": Command(
        "average metrics over queries, for each system and segment",
        """
frame-metrics evaluate log.parquet ndcg@10 map --query qid --score bm25 --grade rating
frame-metrics evaluate 'logs/day=*/*.parquet' ndcg@10 --by device --ci 0.95 -o week.csv
frame-metrics evaluate bm25.run ndcg@10 --qrels web.qrels --fail-under ndcg@10=0.4
frame-metrics evaluate log.parquet ndcg@10 --fail-if-worse-than last_week.parquet
zcat log.csv.gz | frame-metrics evaluate - ndcg@10 --from csv""",
        IRM.evaluate,
        ("fail_under", "fail_over", "fail_if_worse_than", "alpha"),
    ),
    "per-query": Command(
        "compute metrics for every query",
        """
frame-metrics per-query log.parquet ndcg@10 -o last_week.parquet
frame-metrics per-query log.parquet rr --to jsonl | jq 'select(.value == 0) | .query'""",
        IRM.per_query,
    ),
    "compare": Command(
        "compare systems, or a system with saved numbers: differences, intervals, p-values",
        """
frame-metrics compare log.parquet ndcg@10 map --system ranker --baseline bm25
frame-metrics compare log.parquet ndcg@10 --saved last_week.parquet
frame-metrics compare log.parquet ndcg@10 --fail-if-worse-than last_week.parquet --alpha 0.01""",
        IRM.compare,
        ("fail_if_worse_than", "alpha"),
    ),
    "audit": Command(
        "report errors and oddities in the data, and what was not counted",
        """
frame-metrics audit log.parquet --query qid --score bm25 --grade rating
frame-metrics audit log.parquet --fail-on warning --junit audit.xml""",
        IRM.audit,
        ("fail_on",),
        "[INPUT]",
    ),
    "curve": Command(
        "give the points of a curve: pr, roc, gain, calibration, or a metric at many cutoffs",
        """
frame-metrics curve cases.parquet roc --label ill --score risk -o roc.csv
frame-metrics curve log.parquet ndcg@k --cutoffs 20 --system ranker""",
        IRM.curve,
        arguments="[INPUT] [CURVE ...]",
    ),
    "report": Command(
        "write a page with numbers, comparisons, curves and the audit",
        """
frame-metrics report log.parquet ndcg@10 map --system ranker -o report.html
frame-metrics report log.parquet ndcg@10 --saved last_week.parquet -o report.md""",
        getattr(IRM, "report", None),
    ),
    "convert": Command(
        "write a frame in another format, as it is",
        """
frame-metrics convert bm25.run -o bm25.parquet
frame-metrics convert log.parquet -o bm25.run --query qid --doc docid --score bm25 --run-name bm25""",
        arguments="[INPUT]",
    ),
    "trec_eval": Command(
        "print what trec_eval 9 prints",
        """
frame-metrics trec_eval web.qrels bm25.run
frame-metrics trec_eval -q -c -m ndcg_cut.5,10 -m map web.qrels bm25.run""",
        arguments="[-q] [-c] [-n] [-J] [-l NUMBER] [-M NUMBER] [-N NUMBER] [-m MEASURE] qrels run",
    ),
}

_GATES = (
    Option(
        "fail_under",
        "fail where a value is less than this, in any system or segment, or is undefined; may be given several times",
        GATES,
        shares,
        many=True,
        metavar="METRIC=VALUE",
    ),
    Option(
        "fail_over",
        "fail where a value is greater than this, or is undefined, as of metrics of which less is better",
        GATES,
        shares,
        many=True,
        metavar="METRIC=VALUE",
    ),
    Option(
        "fail_if_worse_than",
        "fail where a metric is worse than saved numbers, which per-query wrote, and p_adjusted is at most --alpha",
        GATES,
        metavar="FILE",
    ),
    Option("alpha", "the level of --fail-if-worse-than, 0.05 by default", GATES, number, metavar="LEVEL"),
    Option(
        "fail_on",
        "fail where there is a finding of this severity or a graver one",
        GATES,
        choices=("error", "warning", "info"),
    ),
)
_OUTPUT = (
    Option(
        "output",
        f"the file to write, its format by its ending: {' '.join(writing.ENDINGS)}; a file that is there is replaced once "
        "the new one is whole",
        FILES,
        metavar="FILE",
        short="-o",
    ),
    Option(
        "to",
        "the format that is written; by default a table where standard output is a terminal, else CSV, which every program "
        "reads",
        FILES,
        choices=writing.WRITTEN,
    ),
    Option(
        "formulas",
        "in CSV and TSV: 'text' puts an apostrophe before texts that a spreadsheet would run, as =cmd(), 'keep' leaves all "
        "as it is; the default is text, and keep for convert",
        FILES,
        choices=("text", "keep"),
    ),
)
_INPUT = (
    Option(
        "input",
        "the file to read: Parquet, CSV, TSV, JSON, JSON lines, Arrow, a run or qrels of TREC, those of text packed by gzip "
        "or not; a folder, whose folders may be called as day=monday; a pattern, in quotes; - for standard input",
        FILES,
        reading.checked_names,
        many=True,
        metavar="FILE",
        short="-i",
    ),
    Option("from", "the format of the input, where its name does not say it", FILES, choices=reading.READ),
)
_RESULTS = (
    Option("junit", "a file of JUnit to write, with a case for each gate and row", GATES, metavar="FILE"),
    Option(
        "metric", "a metric, beside those named behind the input", VERB, list, many=True, metavar="METRIC", short="-m"
    ),
)
_SAVED = Option("saved", "saved numbers to compare with, which per-query wrote", VERB, metavar="FILE")
_OWN = {
    "compare": (
        Option(
            "baseline", "the system that others are compared with; may be given several times", VERB, list, many=True
        ),
        _SAVED,
    ),
    "audit": (
        Option(
            "split",
            "the share of units that each arm of an online test should have",
            VERB,
            shares,
            many=True,
            metavar="ARM=SHARE",
        ),
        _SAVED,
    ),
    "report": (_SAVED,),
    "convert": (Option("run_name", "the name of the run, where no column run has it", VERB, metavar="NAME"),),
}
_QRELS = ("qrels", "qrels_query", "qrels_doc", "qrels_from", "all_relevant", "annotator", "several")


def _judging() -> list[Option]:
    """The options of judgments in a file of their own."""
    own = {one.name: one for one in verb_options(IRM.judge, JUDGMENTS)}
    told = (
        "the judgments; --grade and --label then name their columns; a name that says no format is that of TREC qrels"
    )
    return [
        Option("qrels", told, JUDGMENTS, reading.checked_names, many=True, metavar="FILE"),
        Option("qrels_from", "their format, where the name does not say it", JUDGMENTS, choices=reading.READ),
        Option(
            "qrels_query",
            "their column of queries, where it is not called as in the input",
            JUDGMENTS,
            metavar="COLUMN",
        ),
        Option("qrels_doc", "their column of documents", JUDGMENTS, metavar="COLUMN"),
        Option("all_relevant", "whether each of their rows is relevant, as in a held-out set", JUDGMENTS, switch=True),
        own["annotator"],
        own["several"],
    ]


def options_of(name: str) -> list[Option]:
    """Return the options of a command, each name once."""
    command = COMMANDS[name]
    if name == "trec_eval":
        return []
    if name == "convert":
        return [
            *_INPUT,
            *_OUTPUT,
            *_OWN[name],
            *(one for one in role_options() if one.name in ("query", "doc", "score", "grade")),
        ]
    gates = [one for one in _GATES if one.name in command.gates]
    all_of = [*_INPUT, *_OUTPUT, *gates, *_RESULTS, *_OWN.get(name, ())]
    all_of += verb_options(command.verb) if command.verb else []
    named = {one.name for one in all_of}
    return [*all_of, *(one for one in (*role_options(), *_judging()) if one.name not in named)]


def fill(parser: argparse.ArgumentParser, name: str) -> dict[str, Option]:
    """Add the arguments of a command to a parser, and return its options by name."""
    if name == "trec_eval":
        trec_eval.add(parser)
        return {}
    options = options_of(name)
    parser.add_argument("arguments", nargs="*", help=argparse.SUPPRESS)
    parser.add_argument("--config", default=None, metavar="FILE", help="a TOML file with options; flags go before it")
    groups = {title: parser.add_argument_group(title) for title in (FILES, ROLES, JUDGMENTS, CONVENTIONS, VERB, GATES)}
    for option in options:
        option.add(groups[option.group])
    return {option.name: option for option in options}


def known_names(names: Iterable[str] = COMMANDS) -> Mapping[str, set[str]]:
    """Return the names of the options of each command."""
    return {name: {option.name for option in options_of(name)} for name in names}
