"""Tables of names of commands that readers try first, and what they mean here."""

from __future__ import annotations

from typing import NamedTuple

# Other names of commands, some with metrics.
OTHER_NAMES = {
    **dict.fromkeys(("calibration", "calibration-curve", "reliability-diagram"), "curve calibration"),
    **dict.fromkeys(("pr-curve", "precision-recall-curve"), "curve pr"),
    "roc-curve": "curve roc",
    "classification-report": "per-class precision recall f1",
    **dict.fromkeys(("eval", "score", "measure", "compute", "calculate", "click-metrics"), "evaluate"),
    "abtest": "ab-test",
    "confusion-matrix": "confusion",
    "threshold": "best-threshold",
    **dict.fromkeys(("power", "power-analysis", "samplesize"), "sample-size"),
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
    value: str = ""  # the pattern of values that the way is for; "" for a flag without a value
    alone: str | None = None  # in the place of a flag that was typed without a value, if it may be
    note: str = ""  # above the line
    one_of: tuple[str, ...] = ()  # flags of which the command needs one, or it would do something else


ANY, WHOLE, NUMBER, TWO = r"[^-].*", r"[1-9]\d*", r"\d*\.?\d+", r"[^-,][^,]*,[^,]+"  # patterns of values
NO_NUMBER = rf"(?!{NUMBER}%?$){ANY}"
GATE = ("--fail-under", "--fail-over", "--fail-if-worse-than", "--not-worse-than", "--fail-on")
SHARE_FLAGS = (
    "expected",
    "expected-ratio",
    "expected-split",
    "ratio",
    "allocation",
    "shares",
    "traffic-split",
)  # of arms
PER_QUERY = "--per-query"
WORST_QUERIES = f"{PER_QUERY} --sort=difference"
AS_GATE = Way("evaluate with a gate, as --fail-under ndcg@10=0.4", "", "evaluate", one_of=GATE)
TO_COMPARE = Way("compare, for the same queries", "", "compare")
TO_CHANGE = Way("change, for two periods, of which the first file is the baseline", "", "change")
LOWEST = Way("per-query, with the lowest first", "--sort value", "per-query")
# Names that readers try first for several commands, or for one with more options, and what they may mean.
TRIED = {
    **dict.fromkeys(("check", "verify"), (Way("audit, for the data", "", "audit"), AS_GATE)),
    **dict.fromkeys(("assert", "guard"), (AS_GATE,)),
    "gate": (
        AS_GATE._replace(
            text=f"{AS_GATE.text}, or against a log of before --fail-if-worse-than old.csv, whose --max-drop is the "
            "greatest fall of a mean; --not-worse-than with --margin passes if a loss of that size is excluded"
        ),
    ),
    **dict.fromkeys(
        ("regression", "regress"),
        (
            AS_GATE._replace(
                text="evaluate with a gate, as --fail-if-worse-than old.csv, whose --max-drop is the greatest fall of "
                "a mean"
            ),
        ),
    ),
    **dict.fromkeys(
        ("trend", "trends", "timeline", "over-time", "monitor", "history"),
        (
            Way("evaluate with --by, the column of dates, and --every 1w for weeks", "--by day", "evaluate"),
            Way("summary, which says since when it changed", "--by day", "summary"),
        ),
    ),
    **dict.fromkeys(
        ("since-when", "since", "when", "changepoint", "change-point", "changepoints", "breakpoint", "break"),
        (Way("summary, which says since when it changed", "--by day", "summary"),),
    ),
    **dict.fromkeys(
        ("segment", "segments", "slice", "slices", "breakdown", "groupby"),
        (Way("evaluate with --by, the column of segments", "", "evaluate", one_of=("--by",)),),
    ),
    **dict.fromkeys(
        ("baseline", "save", "snapshot"),
        (
            Way(
                "per-query, whose file a gate of evaluate reads later: evaluate new.csv with the same metric and "
                "columns, --fail-if-worse-than base.csv",
                "-o base.csv",
                "per-query",
            ),
        ),
    ),
    **dict.fromkeys(
        ("experiment", "ab", "split-test", "online-test"),
        (Way("ab-test, for arms with queries of their own", "", "ab-test"),),
    ),
    "srm": (Way("ab-test with --split, which tests the shares of the arms", "--split equal", "ab-test"),),
    "diff": (
        TO_COMPARE,
        Way("the same with the queries that lost most first", WORST_QUERIES, "compare"),
        TO_CHANGE._replace(text="change, for two periods, which takes the difference apart into mix and within"),
    ),
    **dict.fromkeys(
        ("test", "significance", "ttest", "pairwise", "versus", "vs", "wilcoxon", "mcnemar"),
        (TO_COMPARE, Way("ab-test, for arms with queries of their own", None, "ab-test"), AS_GATE),
    ),
    **dict.fromkeys(("drift", "shift", "stability"), (TO_CHANGE,)),
    **dict.fromkeys(("mix", "decompose", "decomposition"), (TO_CHANGE._replace(text="change, with --by COLUMN"),)),
    **dict.fromkeys(
        ("classify", "classification", "classifier", "binary", "multiclass"),
        (Way("evaluate, for predictions and scores that are there", "", "evaluate"),),
    ),
    **dict.fromkeys(("iaa", "inter-annotator", "annotators"), (Way("agreement, of annotators", "", "agreement"),)),
    "show": (Way("explain, for one query", "--query-id {}", "explain"), Way("per-query, for all", None, "per-query")),
    **dict.fromkeys(("worst", "failures", "hardest", "hard-queries"), (LOWEST,)),
    "losers": (Way("compare, with the queries that lost most first", WORST_QUERIES, "compare"),),
    "ctr": (Way("evaluate with the column of clicks as --label", "--metric ctr@10", "evaluate"),),
    "roc": (
        Way("curve, for its points", "--metric roc", "curve"),
        Way("evaluate, for the area", "--metric roc_auc", "evaluate"),
    ),
    "calibrate": (
        Way("curve calibration, for its points, as nothing is fitted here", "--metric calibration", "curve"),
        Way("evaluate, for the error", "--metric ece", "evaluate"),
    ),
    **dict.fromkeys(
        ("plot", "dashboard", "html", "charts"),
        (
            Way("report, a page with the pictures (none is written alone)", "", "report"),
            Way("curve, for the points of one", None, "curve"),
        ),
    ),
    "judge": (
        Way("evaluate, for a column of people and one of a machine", "--metric kappa --no-query", "evaluate"),
        Way("agreement, for a row per annotator, whose column is --annotator", None, "agreement"),
    ),
    **dict.fromkeys(
        ("pool", "pooling", "next", "missing", "holes"),
        (
            Way(
                "to-judge: --n documents whose judgments help most, or with --way depth those that rank highest",
                "",
                "to-judge",
            ),
        ),
    ),
    **dict.fromkeys(
        ("stats", "describe"),
        (Way("summary, for the findings", "", "summary"), Way("audit, for the data", "", "audit")),
    ),
    **dict.fromkeys(("inspect", "info", "schema", "profile"), (Way("audit, for the data", "", "audit"),)),
    "head": (Way("convert, which prints the rows", "", "convert", tail="| head"),),
}
# What no command does.
ABSENT = {
    "fuse": "rankings are not fused here; a run that another tool fused is read as any other",
}
ABSENT |= dict.fromkeys(("search", "train", "fit", "index", "predict"), "nothing is searched, ranked or trained here")
ABSENT |= dict.fromkeys(("merge", "concat", "append"), "a command reads several files as one: name them all")
# Commands that need a metric.
NEED_METRIC = (
    *("evaluate", "per-query", "compare", "leaderboard", "ab-test", "change", "explain", "bounds"),
    *("best-threshold", "sample-size", "per-class"),
)
# Flags that readers try, beside which others need not be added.
SAY_THE_SAME = {
    "--per-query": ("--worst",),
    "--by": ("--date", "--time", "--timestamp", "--day"),
    "-o": ("--name", "--as", "--tag", "--out", "--output"),
    "--metric": ("-m", "--metrics", "--human", "--people", "--a"),
    "--split": ("--split", *(f"--{one}" for one in SHARE_FLAGS)),
}
