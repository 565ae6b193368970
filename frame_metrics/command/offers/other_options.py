"""Tables of options that readers try first, and what they mean here."""

from __future__ import annotations

import re

from frame_metrics.command.offers.other_names import (
    ANY,
    NO_NUMBER,
    NUMBER,
    PER_QUERY,
    SHARE_FLAGS,
    TWO,
    WHOLE,
    WORST_QUERIES,
    Way,
)

# Other names of options, where a command has none of that name; of several, the first that it has. The usual names
# of columns are those that roles declare.
OTHER_FLAGS = {
    **dict.fromkeys(
        ("--metrics", "--measure", "--measures", "--maximize", "--maximise", "--optimize", "--objective"), "--metric"
    ),
    **dict.fromkeys(("--format", "--output-format"), "--to"),
    **{f"--{one}": (f"--to {one}", f"--format {one}") for one in ("json", "jsonl", "csv", "tsv", "markdown")},
    **dict.fromkeys(("--out", "--outfile", "--out-file", "--output-file"), "--output"),
    "--filter": "--where",
    **dict.fromkeys(("--run", "--runs", "--file", "--files", "-r"), "--input"),
    **dict.fromkeys(("--groundtruth", "--ground-truth", "--gold", "--judgments", "--qrel"), "--qrels"),
    **dict.fromkeys(("--group-by", "--groupby", "--segment", "--per", "--date", "--time", "--timestamp"), "--by"),
    **dict.fromkeys(("--segments", "--dimension", "--breakdown"), "--by"),
    **dict.fromkeys(("--freq", "--frequency", "--period", "--granularity", "--grain", "--resolution"), "--every"),
    **{f"--{word}": f"--every {unit}" for word, unit in {"daily": "1d", "weekly": "1w", "monthly": "1mo"}.items()},
    **dict.fromkeys(("--variant", "--treatment"), "--arm"),
    **dict.fromkeys(("--unit", "--user", "--user-id"), "--cluster"),
    **dict.fromkeys(("--rater", "--coder"), "--annotator"),
    **dict.fromkeys(("--mde", "--delta"), "--detect"),
    **{f"--{one}": "--split" for one in SHARE_FLAGS},
    **dict.fromkeys(("--y-proba", "-s"), "--score"),
    **dict.fromkeys(("--min-grade", "--min-rel", "--min-relevance", "--relevant-from", "--rel-threshold"), "--rel"),
    **dict.fromkeys(("--qid", "--queryid", "--query-id"), ("--query-id", "--query")),
    **dict.fromkeys(("--budget", "--limit", "--top", "-n"), "--n"),
    **dict.fromkeys(("--fail-below", "--fail-if-below", "--fail-if-under"), "--fail-under"),
    **dict.fromkeys(("--fail-above", "--fail-if-above", "--fail-if-over"), "--fail-over"),
    "--confidence": "--ci",
    **dict.fromkeys(("--non-inferiority", "--noninferiority", "--non-inferiority-margin"), "--margin"),
    **dict.fromkeys(("--iterations", "--replicates"), "--resamples"),
    "--control": "--baseline",
    **dict.fromkeys(("--sort-by", "--order-by"), "--sort"),
    **dict.fromkeys(("--stat-test", "--significance-test"), "--test"),
}
OF_COLUMN = re.compile(r"[-_]col(umn)?s?$")  # the end of other names of options that name columns
# Flags of files that are compared: of the baseline, and of another.
OF_FIRST = ("--baseline", "--old", "--before", "--control", "--a", "--base", "--reference")
OF_SECOND = ("--new", "--after", "--candidate", "--treatment", "--variant", "--b", "--challenger")

BASE = "the log of before, or what per-query wrote of it"
LEVEL = Way("the level of the test is 1 minus --ci, which is 0.95 by default", "--ci {}", value=r"0?\.\d+")
OF_RATERS = Way(
    "two columns of judgments are those of a metric; agreement itself reads a row for each judgment",
    "--metric kappa --no-query --label {} --predicted {}",
    "evaluate",
    value=TWO,
)
OF_RATER = OF_RATERS._replace(typed="--metric kappa --no-query --label {}", value=ANY)
OF_OTHER_RATER = OF_RATER._replace(typed="--predicted {}")
RATERS = ("rater", "annotator", "coder", "judge")
ALL_MEASURES = Way(
    "every measure of agreement is printed, kappa and alpha among them, which is that of --level; leave out --metric",
    "",
    value=ANY,
)
OF_CUTOFF = Way("a cutoff follows the name of a metric, as ndcg@10", "", value=rf"{WHOLE}(,{WHOLE})*")
OF_THRESHOLD = Way(
    "the table has a row for each score; at chosen thresholds evaluate prints the metrics, at one in each call",
    "--threshold {}",
    "evaluate",
    value=rf"{NUMBER}(,{NUMBER})*",
)
FEWER = Way(
    "all rows are printed; --sort value puts the lowest first, and | head cuts them", "", tail="| head -{}", value=WHOLE
)
LAST = FEWER._replace(text="all rows are printed, and | tail cuts them", tail="| tail -{}")
NO_ROWS = Way(
    "a cutoff follows the name of a metric, as ndcg@10, and a share of the rows is lift(top=0.1); "
    "rows of the input are not left out here, and those that are "
    "printed are cut by | head",
    value=WHOLE,
)
WORST = Way(
    "per-query with --sort value has the lowest first, and | head cuts the rows",
    "--sort value",
    "per-query",
    tail="| head -{}",
    value=WHOLE,
    alone="--sort value",
)
BEST = WORST._replace(
    text="per-query with --sort=-value has the highest first, and | head cuts the rows",
    typed="--sort=-value",
    alone="--sort=-value",
)
# Words for rows of queries that are printed alone: those at the beginning of an order, and at its end.
AT_LOWEST, AT_HIGHEST = ("worst", "bottom", "lowest", "hardest", "weakest"), ("best", "highest", "strongest")
LOWEST_OF = {  # what is sorted by, and is first then, in commands with --per-query
    "compare": (WORST_QUERIES, "the queries that lost most", "the queries that gained most"),
    "similarity": (f"{PER_QUERY} --sort=value", "the rankings that changed most", "the rankings that are most alike"),
}
TO_DETECT = Way("the difference to detect is --detect of sample-size", "--detect {}", "sample-size", value=NUMBER)
OF_PEOPLE = Way(
    "columns of people and of a machine are those of a metric",
    "--metric kappa --no-query --label {}",
    "evaluate",
    value=ANY,
)
OF_MACHINE = OF_PEOPLE._replace(typed="--predicted {}")
SAVED = Way(
    f"saved numbers are those of the gate --fail-if-worse-than old.csv, {BASE}; compare old.csv new.csv prints the "
    "difference itself",
    "--fail-if-worse-than {}",
    value=ANY,
)
FIRST_OF_TWO = Way(
    "two files are compared by compare, the first of which is the baseline", "", "compare", first=True, value=ANY
)
NO_GATE = Way("", "", value=rf"{NUMBER}%?", alone="", note="without the gate")
OF_DEPTH = Way(
    "--way depth has the documents that rank highest, of which awk keeps those down to a rank",
    "--way depth --to csv",
    value=WHOLE,
)
PER_MEANS = ("evaluate", "compare", "ab-test", "change", "bounds", "report", "summary")
# Options that there were, or that one command has not, or that readers try first, and the way now; an option of one
# command behind its name.
RETIRED = {
    "save": Way(f"pass -o FILE; the gate of saved numbers is --fail-if-worse-than old.csv, {BASE}", "-o {}", value=ANY),
    "save-baseline": Way(
        "a gate reads values of queries, which per-query writes: pass --fail-if-worse-than with its file",
        "-o {}",
        "per-query",
        value=ANY,
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
    "thresholds at": OF_THRESHOLD,
    "to-judge k": Way(
        "--n is how many documents are printed, and a cutoff follows the name of the metric, as ndcg@10", value=WHOLE
    ),
    **dict.fromkeys(("n", "limit", "top", "head"), FEWER),
    **dict.fromkeys(
        [f"disagreements {one}" for one in ("n", "limit", "top", "head", "worst")],
        FEWER._replace(text="those who differ most are first, and | head cuts the rows"),
    ),
    **{f"{name} {word}": NO_ROWS for name in PER_MEANS for word in ("n", "limit", "top", "head", "tail")},
    "tail": LAST,
    "mde": TO_DETECT,
    "delta": Way(
        "the difference to detect is --detect of sample-size, and the loss of a metric that is accepted is --margin"
    ),
    **dict.fromkeys(
        ("effect", "effect-size"),
        TO_DETECT._replace(
            text="--detect of sample-size is a difference in units of the metric, and not in standard deviations"
        ),
    ),
    "bootstrap": Way(
        "intervals are --ci, and resamples --resamples", "--ci 0.95 --resamples {}", value=WHOLE, alone="--ci 0.95"
    ),
    **dict.fromkeys(("min", "at-least"), Way("a gate is --fail-under", "--fail-under {}", value=NUMBER)),
    **dict.fromkeys(("max", "at-most"), Way("a gate is --fail-over", "--fail-over {}", value=NUMBER)),
    "baseline": SAVED,
    "fail-if-worse": Way(
        f"pass --fail-if-worse-than old.csv, {BASE}; the loss that is accepted is a number in units of the metric, "
        "--max-drop, or --margin if it must be sure",
        "--fail-if-worse-than {}",
        value=NO_NUMBER,
    ),
    **{
        f"per-class fail-if-worse{end}": Way(
            "classes are compared with those of before by compare, or of other rows by change, with --per-class",
            "--per-class --fail-if-worse-than {}",
            "compare",
            value=ANY,
        )
        for end in ("", "-than")
    },
    "ab-test fail-if-worse": NO_GATE._replace(
        text="the gate names the arm that others are compared with, as --fail-if-worse-than control"
    ),
    "change fail-if-worse": NO_GATE._replace(
        text="the gate names the earlier period, as --fail-if-worse-than 2026-W01, or its file"
    ),
    **dict.fromkeys(("compare-to", "compare-with"), FIRST_OF_TWO),
    **dict.fromkeys(("against", "reference-run", "saved"), SAVED),
    **dict.fromkeys(("compare against", "compare reference-run"), FIRST_OF_TWO),
    "control": Way("the arm that others are compared with is --baseline, and the column of arms --arm"),
    **dict.fromkeys(
        ("session", "session-id"),
        Way(
            "pass --query COLUMN if a session is one search, or --cluster COLUMN if it has several",
            "--cluster {}",
            value=ANY,
        ),
    ),
    **dict.fromkeys(AT_LOWEST, WORST),
    **dict.fromkeys(AT_HIGHEST, BEST),
    **{
        f"{command} {word}": WORST._replace(
            text=f"{way} has {what} first, and | head cuts the rows", typed=way, command="", alone=way
        )
        for command, (typed, most, least) in LOWEST_OF.items()
        for words, way, what in (
            (AT_LOWEST, typed, most),
            (AT_HIGHEST, typed.replace("--sort=", "--sort=-"), least),
        )
        for word in words
    },
    **dict.fromkeys(("agreement method", "agreement statistic", "agreement measure"), ALL_MEASURES),
    "to-judge unjudged-only": Way("all that is listed is unjudged", "", value="", alone=""),
    "confusion normalize": Way("shares beside the numbers are --shares", "--shares", value=ANY, alone="--shares"),
    "decompose": Way("change with --by COLUMN takes a difference apart into mix and within", "", "change"),
    "search": Way("words are named without a flag", "{}", value=ANY),
    **dict.fromkeys(("a", "human", "people"), OF_PEOPLE),
    **dict.fromkeys(("b", "llm", "machine"), OF_MACHINE),
    "alpha": LEVEL,
    **dict.fromkeys(("raters", "annotators", "coders"), OF_RATERS),
    **{f"{one}{end}": OF_RATER for one in RATERS for end in ("1", "-1", "-a")},
    **{f"{one}{end}": OF_OTHER_RATER for one in RATERS for end in ("2", "-2", "-b")},
    "agreement weights": ALL_MEASURES._replace(
        text="weighted_kappa is printed, whose weights are quadratic, and kappa without weights", value="quadratic"
    ),
    **dict.fromkeys(
        ("agreement pairwise", "agreement pairs"), Way("each pair of annotators has a row", "", value=ANY, alone="")
    ),
    "weights": Way(
        "weights of mistakes are a parameter of the metric, as kappa(weights='quadratic')",
        "--metric kappa(weights='{}')",
        value="linear|quadratic",
    ),
    **dict.fromkeys(("name", "as", "tag"), Way("the file that is written is -o", "-o {}.csv", value=ANY)),
    "depth": OF_DEPTH,
    **dict.fromkeys(("agreement metric", "agreement m"), ALL_MEASURES),
    "change column": Way("the column of scores is --score", "--score {}", value=ANY),
    "paired": Way(
        "--arm in the place of --system names the column of arms, which have queries of their own; ab-test and "
        "change compare them"
    ),
}
LIMITED = re.compile(r"(min|max|at-least|at-most)-(.+)")  # flags that limit a metric, which is named in them
OF_ALL = ("-i", "-o", "-h", "--help", "--config", "-")  # flags that no option is called as
PICTURE = re.compile(r"\.(png|svg|pdf|jpg)$")  # the end of the name of a file that no command writes
