"""Names of commands and options that readers try first, and what they mean here."""

from __future__ import annotations

import re
import shlex
from collections.abc import Container, Sequence
from difflib import get_close_matches

import polars as pl

from frame_metrics.command.commands import COMMANDS, metrics_taken, options_of
from frame_metrics.command.front import PROGRAM
from frame_metrics.errors import FrameMetricsError, closest
from frame_metrics.metrics.names import read_text

# Other names of commands.
OTHER_NAMES = {
    "eval": "evaluate",
    "abtest": "ab-test",
    "confusion-matrix": "confusion",
    "threshold": "best-threshold",
    "--list-metrics": "metrics",
    "list-metrics": "metrics",
}
# Names that readers try first, and the commands that they may mean.
TRIED = {
    "list": "metrics",
    "power": "sample-size, as sample-size old.csv new.csv ndcg@10 --detect 0.02 --system file",
    "check": "audit, for the data; for a gate it is evaluate, as evaluate new.csv ndcg@10 --fail-under ndcg@10=0.4, or "
    "--not-worse-than base.csv --margin 0.01 after per-query old.csv ndcg@10 -o base.csv",
    "validate": "audit",
    "trend": "evaluate, as evaluate log.csv ndcg@10 --by day",
    "diff": "compare, as compare old.csv new.csv ndcg@10, for the same queries (--per-query --sort=difference has the "
    "queries that lost most first), and change, as change week1.csv week2.csv ndcg@10 --by device, for two periods, "
    "which takes the difference apart into mix and within",
    "show": "explain, as explain log.csv ndcg@10 --query-id q17; per-query prints all queries",
    "worst": "per-query, as per-query new.csv ndcg@10 --sort value, which has the lowest first",
    "ctr": "evaluate, as evaluate clicks.csv ctr@10 --label click",
    "roc": "curve, as curve roc cases.csv",
    "auc": "evaluate, as evaluate cases.csv roc_auc",
    "propensity": "propensities",
    "rank": "leaderboard, as leaderboard two.csv ndcg@10 --system system",
    "plot": "report, as report log.csv ndcg@10 -o report.html, which has the pictures; curve prints the points of one",
    "judge": "agreement, as agreement judgments.csv --annotator who, for a row per annotator; for columns of people "
    "and of a machine it is evaluate, as evaluate judgments.csv kappa --label grade --predicted llm_grade --no-query, "
    "and confusion",
    "pool": "to-judge, as to-judge qrels.txt a.run b.run --system run --n 50 --max-grade 3, with the greatest grade of "
    "the scale",
}
# Other names of options, where a command has none of that name.
OTHER_FLAGS = {
    "--metrics": "--metric",
    "--format": "--to",
    **dict.fromkeys(("--group-by", "--groupby"), "--by"),
    **dict.fromkeys(("--variant", "--treatment"), "--arm"),
    **dict.fromkeys(("--unit", "--user"), "--cluster"),
    **dict.fromkeys(("--rater", "--coder"), "--annotator"),
    **dict.fromkeys(("--mde", "--effect", "--delta"), "--detect"),
    "--y-true": "--label",
    "--y-score": "--score",
    "--y-pred": "--predicted",
    "--item": "--doc",
    "--budget": "--n",
    "--fail-below": "--fail-under",
    "--fail-above": "--fail-over",
}
OF_COLUMN = re.compile(r"[-_]col(umn)?$")  # the end of other names of options that name columns

NO_FILTER = (
    "rows are not filtered here; --by COLUMN splits them, and evaluate - --from csv reads filtered rows from a pipe"
)
BASE = "after per-query old.csv ndcg@10 -o base.csv"
# Options that there were, or that readers try first, and the way now.
RETIRED = {
    "out": "pass --output FILE, or -o",
    "save": f"pass -o FILE; a gate reads values of queries: pass --fail-if-worse-than base.csv {BASE}",
    "json": "pass --to json",
    "q": "pass --query COLUMN, the column of queries; values of each query are the command per-query",
    "quiet": "for the number alone pass --columns value --no-header; notes are on standard error, and 2>/dev/null "
    "drops them",
    "run": "name the file of the run first, as evaluate run.trec ndcg@10 --qrels qrels.txt",
    "k": "a cutoff follows the name of a metric, as ndcg@10",
    "segment": "pass --by COLUMN",
    "model": "pass --system COLUMN",
    "click": "pass --label COLUMN, the column of clicks",
    "clicks": "pass --label COLUMN, the column of clicks",
    "where": NO_FILTER,
    "filter": NO_FILTER,
    "n": "all rows are printed; --sort value puts the lowest first, and | head cuts them",
    "delta": "the difference to detect is --detect of sample-size",
    "mde": "the difference to detect is --detect of sample-size",
    "max-drop": f"pass --not-worse-than base.csv --margin 0.01, {BASE}",
    "baseline": f"saved numbers are those of --fail-if-worse-than base.csv, {BASE}; compare has --baseline",
    "fail-if-worse": f"pass --fail-if-worse-than base.csv, {BASE}",
    "stat-test": "pass --test, as --test t, or leave it out",
    "worst": "--sort value puts the lowest first",
    "decompose": "change with --by COLUMN takes a difference apart into mix and within",
    "paired": "--arm in the place of --system names the column of arms, which have queries of their own; ab-test and "
    "change compare them",
}
N_NEAREST = 3  # how many commands an unknown name is told


def command_meant(name: str) -> str:
    """Return the name of a command from another name for it; else the name as it is."""
    plain = name if name in COMMANDS else name.replace("_", "-")
    return OTHER_NAMES.get(plain, plain if plain in COMMANDS else name)


def known_flag(name: str, argument: str) -> str:
    """Return an argument, with the name of an option in the place of another name for it."""
    flag, equals, value = argument.partition("=")
    options = options_of(name)
    if not flag.startswith("--") or _in(flag, options):
        return argument
    plain = flag.replace("_", "-")
    known = [plain, OTHER_FLAGS.get(plain, plain), OF_COLUMN.sub("", plain)]
    return next((f"{one}{equals}{value}" for one in known if _in(one, options)), argument)


def _in(flag: str, options: Container[str]) -> bool:
    """Return True for the flag of an option."""
    return "_" not in flag and flag[2:].replace("-", "_") in options


def way_of_flag(name: str, flag: str, arguments: Sequence[str]) -> str:
    """Return the way out for an unknown flag of a command that means something else; "" if it is not known."""
    word = flag.lstrip("-").removeprefix("no-")
    if word == "q" and name == "evaluate":
        rest = [one for one in arguments if one != flag]
        whole = shlex.join([PROGRAM, "per-query", *rest])
        return f"values of queries are {whole}; trec_eval's own call is {PROGRAM} trec_eval -q ..."
    if word in RETIRED:
        return RETIRED[word]
    if metrics_taken(name) is None or not is_metric(word):
        return ""
    if "subject_to" not in options_of(name):
        return f"name the metric behind the input, as log.csv {word}"
    return _with_limit(name, flag, word, arguments)


def _with_limit(name: str, flag: str, metric: str, arguments: Sequence[str]) -> str:
    """Return the way out for a metric as a flag, which is a limit of the choice."""
    after = [*arguments[arguments.index(flag) + 1 :], ""] if flag in arguments else [""]
    rest, value = [*arguments], after[0] or "0.9"
    if flag in rest:
        del rest[rest.index(flag) : rest.index(flag) + 2]
    chosen = [] if any(map(is_metric, rest)) else ["recall" if metric != "recall" else "precision"]
    whole = shlex.join([PROGRAM, name, *rest[:1], *chosen, *rest[1:], "--subject-to", f"{metric}={value}"])
    return f"the metric that is chosen by comes behind the input, and limits are --subject-to: {whole}"


def is_metric(argument: str) -> bool:
    """Return True for the name of a metric."""
    try:
        return bool(read_text(argument))
    except FrameMetricsError:
        return False


def having(texts: pl.Series, word: str) -> pl.Series:
    """Return which texts have a word; of a metric that is its name, without cutoff and parameters, or else our name."""
    metrics = [metric.name for _, metric in read_text(word)] if is_metric(word) else []
    plain = re.split("[@(]", word)[0] if metrics else word
    found = texts.str.contains(plain.lower(), literal=True)
    return found if found.any() or not metrics else texts.str.contains(metrics[0], literal=True)


def no_metric(words: Sequence[str], names: Sequence[str]) -> str:
    """Return the error about words that no metric has; ``names``: those of all metrics."""
    near = closest("_".join(words), names) or f"; {PROGRAM} metrics lists all"
    return f"there is no metric with {' and '.join(map(repr, words))} in its name or text{near}"


def unknown_command(name: str) -> str:
    """Return the error about the name of a command that does not exist."""
    problem = f"there is no command {name!r}"
    if name.lower() in TRIED:
        return f"{problem}; it is {TRIED[name.lower()]}"
    if is_metric(name):
        return f"{problem}; it is a metric: {PROGRAM} evaluate FILE {name}, and {PROGRAM} metrics {name} describes it"
    near = get_close_matches(name.lower(), COMMANDS, N_NEAREST, 0.6)
    if near:
        return f"{problem}; did you mean {near[0]!r}?"
    one, other, third = get_close_matches(name.lower(), COMMANDS, N_NEAREST, 0)
    return f"{problem}; the nearest are {one}, {other} and {third}, and {PROGRAM} help lists all"
