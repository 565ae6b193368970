"""Tables of names of commands and options that readers try first, and what they mean here."""

from __future__ import annotations

import re
from typing import NamedTuple

# Other names of commands, some with metrics.
OTHER_NAMES = {
    **dict.fromkeys(("calibration", "calibration-curve"), "curve calibration"),
    **dict.fromkeys(("pr-curve", "precision-recall-curve"), "curve pr"),
    "roc-curve": "curve roc",
    "classification-report": "per-class precision recall f1",
    **dict.fromkeys(("eval", "score", "measure"), "evaluate"),
    "abtest": "ab-test",
    "confusion-matrix": "confusion",
    "threshold": "best-threshold",
    "power": "sample-size",
    "validate": "audit",
    "propensity": "propensities",
    **dict.fromkeys(("rank", "ranking"), "leaderboard"),
    **dict.fromkeys(("summarize", "summarise"), "summary"),
    **dict.fromkeys(("list", "list-metrics", "--list", "--list-metrics"), "metrics"),
}


class Way(NamedTuple):
    """The way on from a name that does not exist."""

    text: str
    # In the place of a flag; {} stands for its value, and None for a way that cannot be typed whole.
    typed: str | None = None
    command: str = ""  # the command, if it is another one
    first: bool = False  # True if the value of a flag is the first of the files
    tail: str = ""  # behind the command


WEEKS = (
    "python -c \"import polars as pl; pl.read_csv('log.csv', infer_schema=False)"
    ".with_columns(week=pl.col('date').str.to_date().dt.truncate('1w')).write_csv('weeks.csv')\""
)
# Periods that readers name, by their first letter: the name of their column, and the unit of polars.
PERIODS = {"w": ("week", "w"), "m": ("month", "mo"), "q": ("quarter", "q"), "y": ("year", "y")}
WORST_QUERIES = "--per-query --sort=difference"
# Names that readers try first for several commands, or for one with more options, and what they may mean.
TRIED = {
    "check": (
        Way("audit, for the data", "", "audit"),
        Way("evaluate with a gate, as --fail-under ndcg@10=0.4", "--fail-under 0.4", "evaluate"),
    ),
    "gate": (
        Way(
            "evaluate with a gate, as --fail-under ndcg@10=0.4 for a mean that fell below it; --not-worse-than with "
            "--margin passes if a loss of that size is excluded",
            "",
            "evaluate",
        ),
    ),
    **dict.fromkeys(
        ("trend", "trends", "timeline", "over-time"),
        (Way(f"evaluate with --by, the column of days, or of weeks, made by {WEEKS}", "--by day", "evaluate"),),
    ),
    **dict.fromkeys(
        ("baseline", "save", "save-baseline", "snapshot"),
        (
            Way(
                "per-query, whose file a gate of evaluate reads later: evaluate new.csv with the same metric and "
                "columns, --not-worse-than base.csv --margin 0.01",
                "-o base.csv",
                "per-query",
            ),
        ),
    ),
    **dict.fromkeys(
        ("regression", "regress"),
        (Way("evaluate with a gate, as --not-worse-than base.csv --margin 0.01", None, "evaluate"),),
    ),
    **dict.fromkeys(("experiment", "ab"), (Way("ab-test, for arms with queries of their own", "", "ab-test"),)),
    "diff": (
        Way("compare, for the same queries", "", "compare"),
        Way("the same with the queries that lost most first", WORST_QUERIES, "compare"),
        Way("change, for two periods, which takes the difference apart into mix and within", "", "change"),
    ),
    "test": (
        Way("compare, for the same queries", "", "compare"),
        Way("ab-test, for arms with queries of their own", None, "ab-test"),
    ),
    "show": (Way("explain, for one query", "--query-id {}", "explain"), Way("per-query, for all", None, "per-query")),
    "worst": (Way("per-query, with the lowest first", "--sort value", "per-query"),),
    "ctr": (Way("evaluate with the column of clicks as --label", "--metric ctr@10", "evaluate"),),
    "roc": (
        Way("curve, for its points", "--metric roc", "curve"),
        Way("evaluate, for the area", "--metric roc_auc", "evaluate"),
    ),
    "plot": (
        Way("report, which has the pictures", "", "report"),
        Way("curve, for the points of one", None, "curve"),
    ),
    "judge": (
        Way("evaluate, for a column of people and one of a machine", "--metric kappa --no-query", "evaluate"),
        Way("agreement, for a row per annotator, whose column is --annotator", None, "agreement"),
    ),
    **dict.fromkeys(
        ("pool", "judge-next", "next", "missing", "holes"),
        (
            Way(
                "to-judge, which has no depth of a pool: --n is how many documents of all ranks, and --max-grade the "
                "greatest grade of the scale",
                "--max-grade 3",
                "to-judge",
            ),
        ),
    ),
    **dict.fromkeys(
        ("stats", "describe"),
        (Way("summary, for the findings", "", "summary"), Way("audit, for the data", "", "audit")),
    ),
    "head": (Way("convert, which prints the rows", "", "convert", tail="| head"),),
}
# What no command does.
ABSENT = {"fuse": "rankings are not fused here; a run that another tool fused is read as any other"}
ABSENT |= dict.fromkeys(("search", "train", "fit", "index"), "nothing is searched, ranked or trained here")
# Other names of options, where a command has none of that name; of several, the first that it has.
OTHER_FLAGS = {
    **dict.fromkeys(("--metrics", "--measure", "--measures", "--maximize", "--optimize", "--objective"), "--metric"),
    **dict.fromkeys(("--format", "--output-format"), "--to"),
    **{f"--{one}": (f"--to {one}", f"--format {one}") for one in ("json", "jsonl", "csv", "tsv", "markdown")},
    **dict.fromkeys(("--out", "--outfile", "--out-file", "--output-file"), "--output"),
    **dict.fromkeys(("--run", "--runs", "--file", "--files", "-r"), "--input"),
    **dict.fromkeys(("--groundtruth", "--ground-truth", "--gold", "--judgments", "--qrel"), "--qrels"),
    **dict.fromkeys(("--group-by", "--groupby", "--segment", "--per", "--date", "--time", "--timestamp"), "--by"),
    **dict.fromkeys(("--variant", "--treatment"), "--arm"),
    **dict.fromkeys(("--model", "--ranker", "--engine"), "--system"),
    **dict.fromkeys(("--unit", "--user", "--user-id"), "--cluster"),
    **dict.fromkeys(("--rater", "--coder"), "--annotator"),
    **dict.fromkeys(("--mde", "--effect", "--delta"), "--detect"),
    **dict.fromkeys(("--y-true", "--truth", "--actual", "--click", "--clicks", "--target"), "--label"),
    **dict.fromkeys(("--y-score", "--y-prob", "--y-proba", "--prob", "--proba"), "--score"),
    **dict.fromkeys(("--y-pred", "--pred", "--preds", "--prediction", "--predictions"), "--predicted"),
    "--relevance": "--grade",
    **dict.fromkeys(("--item", "--docid", "--doc-id"), "--doc"),
    **dict.fromkeys(("--qid", "--queryid", "--query-id"), ("--query-id", "--query")),
    **dict.fromkeys(("--budget", "--limit", "--top", "--k", "-k", "-n"), "--n"),
    **dict.fromkeys(("--fail-below", "--fail-if-below", "--fail-if-under"), "--fail-under"),
    **dict.fromkeys(("--fail-above", "--fail-if-above", "--fail-if-over"), "--fail-over"),
    "--confidence": "--ci",
    **dict.fromkeys(("--sort-by", "--order-by"), "--sort"),
    **dict.fromkeys(("--stat-test", "--significance-test"), "--test"),
}
OF_COLUMN = re.compile(r"[-_]col(umn)?s?$")  # the end of other names of options that name columns

BASE = "after per-query old.csv ndcg@10 -o base.csv"
NO_FILTER = Way(
    "rows are not filtered here; --by COLUMN splits them, and evaluate - --from csv reads filtered rows from a pipe"
)
BY_PERIOD = Way(f"--by takes a column as it is; one of weeks is made by {WEEKS}", "")
BY_FIXED_PERIOD = BY_PERIOD._replace(text=f"--by takes a column as it is. One of weeks is made by {WEEKS}")
LEVEL = Way("the level of the test is 1 minus --ci, which is 0.95 by default", "--ci {}")
OF_RATERS = Way(
    "two columns of judgments are those of a metric; agreement itself reads a row for each judgment",
    "--metric kappa --no-query --label {} --predicted {}",
    "evaluate",
)
ALL_MEASURES = Way("every measure of agreement is printed, kappa among them; leave out --metric", "")
OF_CUTOFF = Way("a cutoff follows the name of a metric, as ndcg@10", "")
FEWER = Way("all rows are printed; --sort value puts the lowest first, and | head cuts them", "", tail="| head -{}")
WORST = FEWER._replace(text="--sort value puts the lowest first", typed="--sort value")
TO_DETECT = Way("the difference to detect is --detect of sample-size", "--detect {}", "sample-size")
OF_PEOPLE = Way(
    "columns of people and of a machine are those of a metric", "--metric kappa --no-query --label {}", "evaluate"
)
OF_MACHINE = Way("columns of people and of a machine are those of a metric", "--predicted {}", "evaluate")
# Options that there were, or that one command has not, or that readers try first, and the way now.
RETIRED = {
    "save": Way(
        f"pass -o FILE; a gate reads values of queries: pass --fail-if-worse-than base.csv {BASE}",
        "-o {}",
        "per-query",
    ),
    "q": Way("pass --query COLUMN, the column of queries; values of each query are the command per-query"),
    "quiet": Way(
        "for the number alone pass --columns value --no-header; notes are on standard error, and 2>/dev/null "
        "drops them",
        "--columns value --no-header",
        tail="2>/dev/null",
    ),
    "run": Way("name the file of the run first, as evaluate run.trec ndcg@10 --qrels qrels.txt"),
    **dict.fromkeys(("k", "cutoff", "cutoffs", "at"), OF_CUTOFF),
    **dict.fromkeys(("where", "filter", "query-string"), NO_FILTER),
    **dict.fromkeys(("n", "limit", "top", "head", "tail"), FEWER),
    **dict.fromkeys(("delta", "mde"), TO_DETECT),
    "effect-size": Way("the difference to detect, in units of the metric, is --detect of sample-size", *TO_DETECT[1:]),
    "bootstrap": Way("intervals are --ci, and resamples --resamples", "--ci 0.95 --resamples {}"),
    **dict.fromkeys(("min", "at-least"), Way("a gate is --fail-under", "--fail-under {}")),
    **dict.fromkeys(("max", "at-most"), Way("a gate is --fail-over", "--fail-over {}")),
    "max-drop": Way(
        f"pass --not-worse-than base.csv --margin 0.01, {BASE}; it passes if a loss of that size is excluded, and a "
        "limit of the mean is --fail-under",
        "--margin {}",
    ),
    "baseline": Way(
        f"saved numbers are those of --fail-if-worse-than base.csv, {BASE}; compare has --baseline",
        "--fail-if-worse-than {}",
    ),
    "fail-if-worse": Way(f"pass --fail-if-worse-than base.csv, {BASE}", ""),
    "compare-to": Way("two files are compared by compare, the first of which is the baseline", "", "compare", True),
    "control": Way("the arm that others are compared with is --baseline, and the column of arms --arm"),
    **dict.fromkeys(
        ("session", "session-id"),
        Way("pass --query COLUMN if a session is one search, or --cluster COLUMN if it has several", "--query {}"),
    ),
    "worst": WORST,
    "decompose": Way("change with --by COLUMN takes a difference apart into mix and within", "", "change"),
    "search": Way("words are named without a flag", "{}"),
    **dict.fromkeys(("a", "human", "people"), OF_PEOPLE),
    **dict.fromkeys(("b", "llm", "machine"), OF_MACHINE),
    **dict.fromkeys(("freq", "frequency", "every", "period", "granularity", "resolution"), BY_PERIOD),
    **dict.fromkeys(("daily", "weekly", "monthly"), BY_FIXED_PERIOD),
    "alpha": LEVEL,
    **dict.fromkeys(("raters", "annotators", "coders"), OF_RATERS),
    **dict.fromkeys(("name", "as", "tag"), Way("the file that is written is -o", "-o {}.csv")),
    "depth": Way(
        "there is no depth of a pool: documents at all ranks are looked at, and --n is how many are printed", "--n {}"
    ),
    **dict.fromkeys(("agreement metric", "agreement m"), ALL_MEASURES),
    **dict.fromkeys(("against", "reference-run"), Way(f"saved numbers are those of --not-worse-than base.csv, {BASE}")),
    "paired": Way(
        "--arm in the place of --system names the column of arms, which have queries of their own; ab-test and "
        "change compare them"
    ),
}
OF_ALL = ("-i", "-o", "-h", "--help", "--config", "-")  # flags that no option is called as
# Commands that need a metric.
NEED_METRIC = (
    *("evaluate", "per-query", "compare", "leaderboard", "ab-test", "change", "explain", "bounds"),
    *("best-threshold", "sample-size", "per-class"),
)
# Flags that readers try, beside which others need not be added.
SAY_THE_SAME = {
    "--fail-under": ("--baseline", "--max-drop", "--min"),
    "--per-query": ("--worst",),
    "--by": ("--date", "--time", "--timestamp", "--day"),
    "-o": ("--name", "--as", "--tag", "--out", "--output"),
    "--metric": ("-m", "--metrics", "--human", "--people", "--a"),
}
# Why a command has no whole line without a file.
RATE_ALONE = "it reads a log of two systems, as a rate alone does not say how much the differences of queries spread: "
PICTURE = re.compile(r"\.(png|svg|pdf|jpg)$")  # the end of the name of a file that no command writes
MIN_LETTERS = 3  # letters of the name of a metric that are looked for in texts
N_NEAREST = 3  # how many commands an unknown name is told
