"""Watch the retrieval of a RAG pipeline: a file with lists, and a gate.

The file has a row per question. Lists hold what was retrieved, with scores, and the
passages that would have been right; a number says how faithful a judge found the
answer. Two weeks are made up here, with a seed. In the second the index has lost a part
of its passages. The exit code is 1 if this week is surely worse than the last one, so
that a job stops.

    python examples/rag_log.py [--questions QUESTIONS] [--seed SEED] [--lost SHARE]

The frames are of pandas, which reads such columns as arrays; the calls of
`frame_metrics` are the same for polars.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

import frame_metrics

PASSAGES, SHOWN = 2000, 10
METRICS = ("recall@5", "rr", "ndcg@10")


# 1. The log: a row per question, with lists.


def week(questions: int, seed: int, lost: float = 0.0) -> pd.DataFrame:
    """Make up a week of questions; `lost` is the share of passages not in the index."""
    rng = np.random.default_rng(seed)
    there = np.random.default_rng(0).random(PASSAGES) >= lost
    rows = []
    for number in range(questions):
        relevant = rng.choice(PASSAGES, rng.integers(1, 4), replace=False)
        score = rng.normal(size=PASSAGES)
        score[relevant] += 3
        first = [int(one) for one in np.argsort(-score) if there[one]]
        first = first[: 0 if number % 97 == 96 else SHOWN]
        found = np.isin(first, relevant)
        faithful = 0.5 + 0.4 * found[:3].any() + rng.normal(0, 0.1)
        rows.append(
            {
                "question": f"q{number:04}",
                "topic": ("billing", "setup", "limits")[number % 3],
                "doc": [f"passage-{one}" for one in first],
                "score": [float(score[one]) for one in first],
                "relevant": [f"passage-{one}" for one in relevant],
                "faithfulness": float(np.clip(faithful, 0, 1)),
            }
        )
    return pd.DataFrame(rows)


# 2. What is read from it.


def named(log: pd.DataFrame) -> "frame_metrics.IRM[pd.DataFrame]":
    """Say once what each column is; doc, score and relevant are found by name."""
    return log.irm(query="question", by="topic")


def show(says: str, table: pd.DataFrame) -> None:
    print(f"\n{says}\n")
    frame_metrics.show(table)


def report(log: pd.DataFrame) -> None:
    """Print what the retrieval found, what the judge said, and what is odd."""
    means = named(log).evaluate(*METRICS, margins=True, layout="wide", ci=0.95)
    means = means.assign(topic=means["topic"].fillna("all"))
    means = means.rename(columns=lambda name: name.replace("@5", ""))
    show(
        "How much of what is right was found, by topic and in all:",
        means[["topic", "n", "recall", "recall_low", "recall_high", "rr"]],
    )
    judge = log.irm(query="question", value="faithfulness", by=None)
    judged = judge.evaluate(average=["macro", "q0.1"], ci=0.95)
    show(
        "What the judge said of the answers, the mean and the worst tenth:",
        judged[["metric", "average", "value", "ci_low", "ci_high"]],
    )
    found = named(log).audit().query("severity == 'warning'")
    show("What is odd:", found[["check", "n", "share", "example"]])


# 3. The gate: this week against the numbers that were saved last week.


def gate(log: pd.DataFrame, saved: Path) -> bool:
    """Print the differences to last week's numbers of the same questions.

    Return whether none is surely below 0. One metric that fell is enough to stop, so
    p-values are corrected over all of them: a week that is as good as the last one
    stops the job at most one time in twenty, and not one time for each metric.
    """
    last = pd.read_parquet(saved)
    change = named(log)(by=None).compare(*METRICS, baseline=last, over="all")
    columns = ["metric", "value", "baseline_value", "difference", "ci_low", "ci_high"]
    columns += ["p_adjusted", "n", "n_unpaired"]
    show("Against last week:", change[columns])
    worse = change.query("p_adjusted < 0.05 and difference < 0")["metric"]
    if worse.empty:
        print("\nNot surely worse than last week.")
    else:
        print(f"\nWorse than last week: {', '.join(worse)}")
    return worse.empty


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description="Watch the retrieval of a RAG pipeline."
    )
    parser.add_argument("--questions", type=int, default=300, help="of each week (300)")
    parser.add_argument(
        "--seed", type=int, default=1, help="of all that is made up (1)"
    )
    parser.add_argument(
        "--lost",
        type=float,
        default=0.1,
        help="share of passages that the index has lost (0.1)",
    )
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        saved, logged = Path(folder) / "last_week.parquet", Path(folder) / "log.parquet"
        last = week(options.questions, options.seed)
        named(last)(by=None).per_query(*METRICS).to_parquet(saved)
        week(options.questions, options.seed, options.lost).to_parquet(logged)
        log = pd.read_parquet(logged)
        report(log)
        return 0 if gate(log, saved) else 1


if __name__ == "__main__":
    sys.exit(main())
