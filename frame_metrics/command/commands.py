"""The commands: the verb behind each, its options, and its help with examples."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cache
from textwrap import fill as fill_lines

from frame_metrics.accessor import IRM
from frame_metrics.command import trec_eval
from frame_metrics.command.extra_options import Against, Asked, Gates, Input, Output, Qrels, Reported, Run, Shown
from frame_metrics.command.options import (
    CONVENTIONS,
    JUDGMENTS,
    ROLES,
    VERB,
    Option,
    options_in,
    role_options,
    verb_options,
)
from frame_metrics.plan.declared import refused

FILES, GATES = "input and output", "gates"
GROUPS = (FILES, ROLES, JUDGMENTS, CONVENTIONS, VERB, GATES)
COMMON = ("query", "score", "grade", "system", "output")  # the options that --help shows
OF_JUDGE = ("annotator", "subtopic", "several")  # the options of judge() that commands have
FILES_OF: dict[str, tuple[type, ...]] = {
    "report": (Input, Reported),
    "convert": (Input, Output, Run),
}  # of others: Shown
HELP = argparse.RawDescriptionHelpFormatter


@dataclass(frozen=True)
class Command:
    """One command."""

    examples: str
    own: tuple[str, ...] = ()  # its options beside those of its verb, of reading and of writing
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
        ("fail_under", "fail_over", "fail_if_worse_than", "not_worse_than", "margin", "saved_system", "alpha", "junit"),
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
        ("baseline", "saved", "saved_system", "margin", "fail_if_worse_than", "not_worse_than", "alpha", "junit"),
    ),
    "leaderboard": Command(
        """
  frame-metrics leaderboard runs.parquet ndcg@10 --system ranker
  frame-metrics leaderboard saved.csv --query qid --system ranker --value ndcg@10 --by device -o board.csv""",
    ),
    "ab-test": Command(
        """
  frame-metrics ab-test log.parquet ndcg@10 --arm variant --cluster user --baseline old
  frame-metrics ab-test log.parquet ndcg@10 --arm variant --cluster user --split old=0.9 --split new=0.1""",
        ("baseline", "split", "margin"),
    ),
    "change": Command(
        """
  frame-metrics change log.parquet ndcg@10 --arm week --cluster user --baseline 2026-W01
  frame-metrics change this_week.parquet ndcg@10 --saved last_week.parquet""",
        ("baseline", "saved", "saved_system", "margin"),
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
    "report": Command(
        """
  frame-metrics report log.parquet ndcg@10 map --system ranker -o report.html
  frame-metrics report log.parquet ndcg@10 --saved last_week.parquet --format md >> comment.md""",
        ("baseline", "split", "margin", "saved", "saved_system"),
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
}


# Options that there were, and the way now.
RETIRED = {
    "paired": "--arm in the place of --system names the column of arms, which have queries of their own; ab-test and "
    "change compare them"
}


def verb_of(name: str) -> list[Option]:
    """Return the plain options of the verb behind a command; none where there is no verb."""
    verb = getattr(IRM, name.replace("-", "_"), None)
    return verb_options(verb) if verb else []


@cache
def options_of(name: str) -> dict[str, Option]:
    """Return the options of a command by name; where a verb and a role share a name, the option is the verb's."""
    if name == "trec_eval":
        return {}
    files = [one for group in FILES_OF.get(name, (Input, Output, Shown)) for one in options_in(group, FILES)]
    if name == "convert":
        options = files + [one for one in role_options() if one.name in ("query", "doc", "score", "grade")]
    else:
        unused = refused(name.replace("-", "_"))  # their flags say why, and help does not offer them
        judging = [one for one in verb_options(IRM.judge, JUDGMENTS) if one.name in OF_JUDGE]
        own = [*options_in(Gates, GATES), *options_in(Against, VERB), *options_in(Asked, VERB)]
        own = [one for one in own if one.name in COMMANDS[name].own or (one.name == "metric" and name != "audit")]
        roles = [replace(one, help=argparse.SUPPRESS) if one.name in unused else one for one in role_options()]
        options = [*roles, *options_in(Qrels, JUDGMENTS), *judging, *verb_of(name), *files, *own]
    return {option.name: option for option in options}


def fill(parser: argparse.ArgumentParser, name: str, only: Collection[str] | None = None) -> None:
    """Add the arguments of a command to a parser; ``only``: the names of the options to add, None for all."""
    if name == "trec_eval":
        trec_eval.add(parser)
        return
    parser.add_argument("arguments", nargs="*", help=argparse.SUPPRESS)
    told = {
        ROLES: "Columns called query, score, label, grade and predicted need no flag, with a query also rank and doc; "
        "--no-query, --no-score ... leave one out, and --no-by, --no-system ... undo a setting of the file. Repeat a "
        "flag for several columns.",
        CONVENTIONS: "Repeat a flag for several values. Numbers, true and false are read as such; put text that looks "
        "like one in double quotes, as --positive '\"1\"'.",
    }
    if only is not None:
        common = parser.add_argument_group("common options")
        for option in options_of(name).values():
            if option.name in only:
                option.add(common)
        return
    titles = {title: parser.add_argument_group(title, fill_lines(told.get(title, ""), 76)) for title in GROUPS}
    config = "a TOML file with options, instead of [tool.frame_metrics] in ./pyproject.toml; flags override it"
    titles[FILES].add_argument("--config", default=argparse.SUPPRESS, metavar="FILE", help=config)
    for option in options_of(name).values():
        option.add(titles[option.group])
