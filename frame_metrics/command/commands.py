"""The commands: the verb behind each, its options, and its help with examples."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cache
from inspect import Parameter
from textwrap import fill as fill_lines
from typing import Any

from frame_metrics.accessor import IRM
from frame_metrics.command import trec_eval
from frame_metrics.command.extra_options import (
    Against,
    Asked,
    Gates,
    Input,
    OfPeriods,
    Output,
    PrintOptions,
    Qrels,
    Reported,
    Run,
)
from frame_metrics.command.options import (
    CONVENTIONS,
    JUDGMENTS,
    ROLES,
    VERB,
    Option,
    metrics_parameter,
    options_in,
    role_options,
    verb_options,
)
from frame_metrics.plan.declared import refused_by

FILES, GATES = "input and output", "gates"
GROUPS = (FILES, ROLES, JUDGMENTS, CONVENTIONS, VERB, GATES)
COMMON = ("query", "score", "grade", "system", "output")  # the options that --help shows
OF_JUDGE = ("annotator", "subtopic", "several", "sampling")  # the options of judge() that commands have
FILES_OF: dict[str, tuple[type, ...]] = {
    "report": (Input, Reported),
    "convert": (Input, Output, Run),
    "metrics": (Output, PrintOptions),
}  # of others: PrintOptions
HELP = argparse.RawDescriptionHelpFormatter
LIMITS = ("fail_under", "fail_over")
GATES_ON_VALUES = (*LIMITS, "fail_if_worse_than", "not_worse_than")  # those on saved numbers too
ON_DIFFERENCES = ("fail_if_worse_than", "max_drop", "not_worse_than", "margin", "alpha", "junit")
OF_TWO_PERIODS = ("change", "ab-test", "sample-size", "summary", "report")  # commands that take --since
GATED = (*GATES_ON_VALUES, "max_drop", "margin", "saved_system", "alpha", "junit")  # with what they need


@dataclass(frozen=True)
class Command:
    """One command."""

    examples: str
    extra: tuple[str, ...] = ()  # its options besides those of its verb, of reading and of writing
    usage: str = "[INPUT ...] [METRIC ...] [options]"


COMMANDS: dict[str, Command] = {
    "evaluate": Command(
        """
  frame-metrics evaluate log.parquet ndcg@10 map --query qid --score bm25 --grade rating
  frame-metrics evaluate 'logs/day=*/*.parquet' ndcg@10 --by device --ci 0.95 -o week.csv
  frame-metrics evaluate bm25.run ndcg@10 --qrels web.qrels --fail-under ndcg@10=0.4
  frame-metrics evaluate log.parquet ndcg@10 --fail-if-worse-than last_week.parquet
  frame-metrics evaluate log.parquet ndcg@10 --not-worse-than last_week.parquet --margin ndcg@10=0.01
  zcat log.csv.gz | frame-metrics evaluate - ndcg@10 --from csv""",
        GATED,
    ),
    "per-query": Command(
        """
  frame-metrics per-query log.parquet ndcg@10 -o last_week.parquet
  frame-metrics per-query log.parquet rr --to jsonl | jq 'select(.value == 0) | .query'""",
    ),
    "compare": Command(
        """
  frame-metrics compare log.parquet ndcg@10 map --system ranker --baseline bm25
  frame-metrics compare log.parquet ndcg@10 --saved last_week.parquet
  frame-metrics compare log.parquet ndcg@10 --fail-if-worse-than last_week.parquet --alpha 0.01""",
        ("baseline", "saved", "saved_system", *ON_DIFFERENCES),
    ),
    "leaderboard": Command(
        """
  frame-metrics leaderboard runs.parquet ndcg@10 --system ranker
  frame-metrics leaderboard saved.csv --query qid --system ranker --value ndcg@10 --by device -o board.csv""",
    ),
    "ab-test": Command(
        """
  frame-metrics ab-test log.parquet ndcg@10 --arm variant --cluster user --baseline old
  frame-metrics ab-test log.parquet ndcg@10 --arm variant --cluster user --split old=0.9 --split new=0.1
  frame-metrics ab-test log.parquet ndcg@10 --arm variant --cluster user --fail-if-worse-than old""",
        ("baseline", "split", *ON_DIFFERENCES),
    ),
    "change": Command(
        """
  frame-metrics change log.parquet ndcg@10 --arm week --cluster user --baseline 2026-W01
  frame-metrics change week1.csv week2.csv ndcg@10 --by device
  frame-metrics change this_week.parquet ndcg@10 --saved last_week.parquet
  frame-metrics change this_week.csv f1 --label topic --fail-if-worse-than last_week.csv --margin 0.02""",
        ("baseline", "saved", "saved_system", *ON_DIFFERENCES),
    ),
    "interleaving": Command(
        """
  frame-metrics interleaving log.parquet clicks --team team --cluster user --baseline old""",
        ("baseline",),
    ),
    "similarity": Command(
        """
  frame-metrics similarity bm25.run dense.run rbo overlap@10 --system run --baseline bm25
  frame-metrics similarity log.parquet tau_ap --system ranker --per-query --sort value""",
        ("baseline",),
    ),
    "audit": Command(
        """
  frame-metrics audit log.parquet --query qid --score bm25 --grade rating
  frame-metrics audit log.parquet --fail-on warning --junit audit.xml
  frame-metrics audit log.parquet --fail-on error --fail-on "queries without judgments=2%"
""",
        ("split", "saved", "saved_system", "fail_on", "junit"),
        "[INPUT ...] [options]",
    ),
    "curve": Command(
        """
  frame-metrics curve cases.parquet roc --label ill --score risk -o roc.csv
  frame-metrics curve log.parquet ndcg@k --cutoffs 20 --system ranker""",
        usage="[INPUT ...] [CURVE ...] [options]",
    ),
    "explain": Command(
        """
  frame-metrics explain log.parquet ndcg@10 --query-id q17
  frame-metrics explain bm25.run ndcg@10 --qrels web.qrels --query-id 301 --columns rank,doc,contribution""",
        usage="[INPUT ...] METRIC --query-id ID [options]",
    ),
    "bounds": Command(
        """
  frame-metrics bounds log.parquet ndcg@10 --of unjudged
  frame-metrics bounds log.parquet ap --of ties --per-query""",
        ("baseline",),
    ),
    "confusion": Command(
        """
  frame-metrics confusion cases.parquet --label species --predicted guess
  frame-metrics confusion cases.parquet --label ill --score risk --threshold 0.5 --margins""",
        usage="[INPUT ...] [options]",
    ),
    "per-class": Command(
        """
  frame-metrics per-class cases.parquet precision recall f1 --label species --predicted guess
  frame-metrics per-class cases.parquet recall --label species --predicted guess --fail-under recall=0.6""",
        (*LIMITS, "junit"),
    ),
    "thresholds": Command(
        """
  frame-metrics thresholds cases.parquet precision recall --label ill --score risk -o thresholds.csv"""
    ),
    "best-threshold": Command(
        """
  frame-metrics best-threshold cases.parquet f1 --label ill --score risk
  frame-metrics best-threshold cases.parquet recall --label ill --score risk --subject-to precision=0.9""",
        usage="[INPUT ...] METRIC [options]",
    ),
    "sample-size": Command(
        """
  frame-metrics sample-size log.parquet ndcg@10 --detect 0.02 --system ranker
  frame-metrics sample-size log.parquet rr --detect 0.01 --detect 0.02 --arm variant --cluster user""",
        ("baseline", "split", "saved", "saved_system"),
    ),
    "agreement": Command(
        """
  frame-metrics agreement judgments.parquet --annotator who
  frame-metrics agreement log.parquet --qrels judgments.parquet --annotator who""",
        usage="[INPUT ...] --annotator COLUMN [options]",
    ),
    "disagreements": Command(
        """
  frame-metrics disagreements judgments.parquet --annotator who -o talk_about.csv""",
        usage="[INPUT ...] --annotator COLUMN [options]",
    ),
    "to-judge": Command(
        """
  frame-metrics to-judge bm25.run --qrels web.qrels --n 50 --max-grade 3 -o next.csv
  frame-metrics to-judge bm25.run dense.run --system run --n 10 --way depth""",
        ("baseline",),
        "[INPUT ...] [METRIC] [options]",
    ),
    "click-judgments": Command(
        """
  frame-metrics click-judgments log.parquet --label click --rank position -o judgments.parquet""",
        usage="[INPUT ...] [options]",
    ),
    "propensities": Command(
        """
  frame-metrics propensities log.parquet --label click --rank position -o propensities.parquet""",
        usage="[INPUT ...] [options]",
    ),
    "summary": Command(
        """
  frame-metrics summary log.parquet ndcg@10 --system ranker --baseline bm25
  frame-metrics summary log.parquet ndcg@10 --saved last_week.parquet --columns sentence""",
        ("baseline", "split", "margin", "saved", "saved_system"),
    ),
    "report": Command(
        """
  frame-metrics report log.parquet ndcg@10 map --system ranker
  frame-metrics report log.parquet ndcg@10 --saved last_week.parquet --format md >> comment.md
  frame-metrics report log.parquet ndcg@10 -o week.html --not-worse-than last_week.parquet --margin ndcg@10=0.01""",
        ("baseline", "split", "saved", *GATED),
    ),
    "convert": Command(
        """
  frame-metrics convert bm25.run -o bm25.parquet
  frame-metrics convert log.parquet -o bm25.run --query qid --doc docid --score bm25 --run-name bm25""",
        usage="[INPUT ...] -o FILE [options]",
    ),
    "trec_eval": Command(
        """
  frame-metrics trec_eval web.qrels bm25.run
  frame-metrics trec_eval -q -c -m ndcg_cut.5,10 -m map web.qrels bm25.run""",
        usage="[-q] [-c] [-n] [-J] [-l NUMBER] [-M NUMBER] [-N NUMBER] [-m MEASURE] qrels run",
    ),
    "metrics": Command(
        """
  frame-metrics metrics
  frame-metrics metrics discounted --columns name,about""",
        usage="[WORD ...] [options]",
    ),
}


def verb_of(name: str) -> list[Option]:
    """Return the plain options of the verb behind a command; none where there is no verb."""
    verb = _method(name)
    return verb_options(verb) if verb else []


def _method(name: str) -> Callable[..., Any] | None:
    """Return the verb behind a command; None where there is none."""
    return getattr(IRM, name.replace("-", "_"), None)


def metrics_taken(name: str) -> Parameter | None:
    """Return the parameter of a command's verb that takes metrics, or curves; None if there is none."""
    verb = _method(name)
    return metrics_parameter(verb) if verb else None


def takes_one_metric(name: str) -> bool:
    """Return True if a command's verb takes one metric and no more."""
    taken = metrics_taken(name)
    return taken is not None and taken.name == "metric"


@cache
def options_of(name: str) -> dict[str, Option]:
    """Return the options of a command by name; where a verb and a role share a name, the option is the verb's."""
    if name == "trec_eval":
        return {}
    files = [one for group in FILES_OF.get(name, (Input, Output, PrintOptions)) for one in options_in(group, FILES)]
    if name == "metrics":
        options = files
    elif name == "convert":
        options = files + [one for one in role_options() if one.name in ("query", "doc", "score", "grade")]
        options += [replace(one, help=argparse.SUPPRESS) for one in role_options() if one.name == "rank"]
    else:
        unused = refused_by(name.replace("-", "_"))  # their flags say why, and help does not offer them
        judging = [one for one in verb_options(IRM.judge, JUDGMENTS) if one.name in OF_JUDGE]
        further = [*options_in(Gates, GATES), *options_in(Against, VERB), *options_in(Asked, VERB)]
        further = [
            one for one in further if one.name in COMMANDS[name].extra or (one.name == "metric" and metrics_taken(name))
        ]
        roles = [replace(one, help=argparse.SUPPRESS) if one.name in unused else one for one in role_options()]
        periods = options_in(OfPeriods, ROLES) if not {"by", "arm"} <= {*unused} else []
        periods = [one for one in periods if one.name != "since" or name in OF_TWO_PERIODS]
        options = [*roles, *periods, *options_in(Qrels, JUDGMENTS), *judging, *verb_of(name), *files, *further]
    return {option.name: option for option in options}


def fill(parser: argparse.ArgumentParser, name: str, only: Collection[str] | None = None) -> None:
    """Add the arguments of a command to a parser; ``only``: the names of the options to add, None for all."""
    if name == "trec_eval":
        trec_eval.add(parser)
        return
    parser.add_argument("arguments", nargs="*", help=argparse.SUPPRESS)
    descriptions = {
        ROLES: "Columns called query, score, label, grade and predicted need no flag, with a query also rank and doc; "
        "--no-query, --no-score ... leave one out, and --no-by, --no-system ... undo a setting of the file. Repeat a "
        "flag for several columns.",
        CONVENTIONS: "Repeat a flag for several values. Numbers, true and false are read as such; put text that looks "
        "like one in double quotes, as --positive '\"1\"'.",
    }
    if only is not None:
        common = parser.add_argument_group("common options")
        for option in options_of(name).values():
            if option.name in only or option.required:
                option.add(common)
        return
    titles = {
        title: parser.add_argument_group(title, fill_lines(descriptions.get(title, ""), 76) or None) for title in GROUPS
    }
    config = "a TOML file with options, instead of [tool.frame_metrics] in ./pyproject.toml; flags override it"
    titles[FILES].add_argument("--config", default=argparse.SUPPRESS, metavar="FILE", help=config)
    for option in options_of(name).values():
        option.add(titles[option.group])
