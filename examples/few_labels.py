"""Decide between two rankers by few labels of people and many of a machine.

A shop has searches with the first ten products of two rankers. A language model graded
all of them; people graded those of a few searches, drawn at random. The log is made up
here, with a seed, so that the truth is known: the model is lenient, and likes what the
old ranker puts on top.

    python examples/few_labels.py [--seed SEED]

The frames are of polars; the calls of `frame_metrics` are the same for pandas.
"""

import argparse
import tempfile
import textwrap
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

import frame_metrics

SEARCHES, PRODUCTS, SHOWN = 400, 30, 10
LABELLED = 60  # searches that people grade
METRIC = "ndcg@10"


# 1. What there is: a log, and two files of labels.


def made(seed: int) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Make up a log of two rankers, and the grades of people and a model."""
    rng = np.random.default_rng(seed)
    shape = SEARCHES, PRODUCTS
    merit = rng.normal(size=shape) + rng.normal(scale=0.7, size=(SEARCHES, 1)) - 0.5
    words = rng.normal(size=shape)  # how much of the query stands in the title
    scores = {
        "old": 0.8 * merit + 0.8 * words + rng.normal(scale=0.8, size=shape),
        "new": merit + 0.3 * words + rng.normal(scale=0.8, size=shape),
    }
    seen = merit + 0.25 * words + rng.normal(scale=0.25, size=shape) + 0.3
    keys = {
        "query": np.repeat(np.arange(SEARCHES), PRODUCTS),
        "doc": np.tile(np.arange(PRODUCTS), SEARCHES),
    }
    people, model = (
        pl.DataFrame(keys | {"grade": np.digitize(side, [0.0, 1.0, 2.0]).ravel()})
        for side in (merit, seen)
    )
    runs = [
        pl.DataFrame(keys | {"score": score.ravel()})
        .sort("query", "score", descending=[False, True])
        .group_by("query", maintain_order=True)
        .head(SHOWN)
        .select(pl.lit(name).alias("system"), pl.all())
        for name, score in scores.items()
    ]
    return pl.concat(runs), people, model


def label_files(
    folder: Path,
    log: pl.DataFrame,
    people: pl.DataFrame,
    model: pl.DataFrame,
    seed: int,
) -> None:
    """Write what the model graded, and what people did, of searches drawn at random."""
    shown = log.select("query", "doc").unique(maintain_order=True)
    drawn = np.random.default_rng([seed, 1]).choice(SEARCHES, LABELLED, replace=False)
    model.join(shown, on=["query", "doc"], how="semi").write_csv(folder / "model.csv")
    graded = people.join(
        shown.filter(pl.col("query").is_in(drawn)), on=["query", "doc"], how="semi"
    )
    graded.write_csv(folder / "people.csv")


def show(says: str, table: pl.DataFrame) -> None:
    print(f"\n{textwrap.fill(says, 100)}\n")
    frame_metrics.show(table)


# 2. From two files to a sentence.


def sentence(row: dict[str, float]) -> str:
    """Say what a row of compare() says."""
    side = "better" if row["difference"] > 0 else "worse"
    return (
        f"By people's judgment the new ranker is {side} by "
        f"{abs(row['difference']):.3f} of {METRIC} (95 % interval "
        f"{row['ci_low']:.3f} to {row['ci_high']:.3f}, p = {row['p_value']:.2g}), "
        f"estimated from {row['n']} searches that people graded and {row['n_proxy']} "
        f"that only the model did"
        f"{'' if row['p_adjusted'] < 0.05 else '; that may be chance'}."
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print each step."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1, help="of what is made up")
    seed = parser.parse_args(arguments).seed
    log, truth, of_model = made(seed)
    with tempfile.TemporaryDirectory() as folder:
        label_files(Path(folder), log, truth, of_model, seed)
        people, model = (
            pl.read_csv(Path(folder, f"{name}.csv")) for name in ("people", "model")
        )

    ranked = log.irm(system="system")
    graded = {"people": people, "model": model}
    both = [one.with_columns(rater=pl.lit(name)) for name, one in graded.items()]
    agreed = ranked.judge(pl.concat(both), annotator="rater")
    agreed = agreed.agreement("people", ci=0.95)
    agreed = agreed.select("annotator", "n", "equal", "^weighted_kappa.*$", "bias")
    show("On the products that both graded, the model is lenient:", agreed)

    judged = ranked.judge(people, proxy=model)
    warned = judged.audit().filter(pl.col("severity") != "fact")
    warned = warned.select("check", "severity", "n", "share")
    show("The audit finds nothing that speaks against the sample:", warned)

    means = judged.evaluate(METRIC, ci=0.95)
    columns = ["system", "value", "^ci.*$", "n", "n_proxy", "lambda", "proxy_value"]
    show(
        "The means by people's judgment, beside those that the model alone would give "
        "(proxy_value):",
        means.select(columns),
    )

    compared = judged.compare(METRIC, baseline="old")
    columns = ["difference", "ci_low", "ci_high", "p_value"]
    more = ["lambda", "proxy_difference", "n", "n_proxy"]
    with_lambda = compared.select(columns + more)
    show("The difference, which has a lambda of its own:", with_lambda)

    alone = ranked.judge(people).compare(METRIC, baseline="old", test="t")
    show("People's grades alone leave it wider:", alone.select(*columns, "n"))

    shown = truth.join(log, on=["query", "doc"], how="semi")
    known = ranked.judge(shown).compare(METRIC, baseline="old")
    print(f"\nIf people had graded every search: {known['difference'].item():.3f}\n")
    print(textwrap.fill(sentence(compared.row(0, named=True)), 100))


if __name__ == "__main__":
    main()
