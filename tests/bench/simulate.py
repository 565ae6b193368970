"""What intervals and tests promise, looked at by simulation, printed as one table.

Intervals: queries are drawn from a large population, one by one or in clusters of queries that are alike. The
population's mean is the truth, and evaluate(ci=0.95) is asked for it.
Tests: systems that do not differ are drawn, and the tests of compare() are asked whether they do.
"""

from __future__ import annotations

import argparse
import platform
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
import polars as pl
from scipy.special import ndtr

import frame_metrics  # noqa: F401 - gives frames their accessor
from frame_metrics.stats.significance import adjusted, bootstrap, classical, randomization, tukey

MEASURES = ("ndcg@10", "rr")
QUERIES = 20_000  # in the population
DEPTH = 100  # documents of a query
CUTS = (0.0, 1.5, 3.0)  # what the merit of a document exceeds for grades 1, 2 and 3
COVERED = {500: (0.93, 0.97), 50: (0.92, 0.97)}  # queries drawn, and the share of intervals that shall hold the truth
SIZE = 10  # queries of a cluster
SHARED = 0.3  # share of the cluster in the variance of what a value is made of
CLUSTERED: dict[tuple[int, str], tuple[float, float] | None] = {  # clusters drawn, what is named, and the share asked
    (500, "cluster="): (0.93, 0.97),
    (50, "cluster="): (0.92, 0.97),
    (50, "no cluster="): None,
}
LEVEL = 0.05  # of the tests
TOPICS = 50  # queries that systems are compared on
SYSTEMS = 5
EFFECT = 0.7  # share of the query in the variance of what a value is made of
PERMUTATIONS = 1000
RESAMPLES = 1000
EXACT, AT_MOST = (0.04, 0.06), (0.0, 0.06)
ONE, FAMILY = "two systems", f"{SYSTEMS} systems, any pair"
TESTS: dict[tuple[str, str], tuple[float, float] | None] = {  # test and setting, and the share of false alarms asked
    ("randomization", ONE): EXACT,
    ("t", ONE): EXACT,
    ("wilcoxon", ONE): EXACT,
    ("tukey", FAMILY): EXACT,
    ("sign", ONE): AT_MOST,
    ("randomization, holm", f"{SYSTEMS} systems, any against the first"): AT_MOST,
    ("randomization, bonferroni", FAMILY): AT_MOST,
    ("bootstrap", ONE): None,
}
AGREE = 3  # trials of each kind that are done a second way
HEAD = ("what", "setting", "trials", "rate", "standard error", "asked", "met")


@dataclass(frozen=True)
class Line:
    """How often something happened in independent trials.

    Parameters
    ----------
    asked : the least and the greatest share that will do; None where nothing is asked.
    """

    what: str
    setting: str
    trials: int
    happened: int
    asked: tuple[float, float] | None

    @property
    def cells(self) -> tuple[str, ...]:
        """The cells of the line in the table."""
        rate = self.happened / self.trials
        error = (rate * (1 - rate) / self.trials) ** 0.5
        cells = (self.what, self.setting, f"{self.trials:,}", f"{rate:.2%}", f"{error:.2%}")
        if self.asked is None:
            return (*cells, "", "")
        least, most = self.asked
        wanted = f"{least:.0%} to {most:.0%}" if least else f"at most {most:.0%}"
        return (*cells, wanted, "yes" if least <= rate <= most else "NO")


def population(queries: int) -> pl.DataFrame:
    """Build rankings: a document has merit by its score, by how easy its query is, and by chance (a logistic model)."""
    rng = np.random.default_rng(0)
    ease = rng.normal(-4.5, 1.5, queries)
    score = rng.logistic(size=(queries, DEPTH))
    merit = ease[:, None] + score + rng.logistic(size=(queries, DEPTH))
    grade = (merit[:, :, None] > CUTS).sum(axis=2)
    query = np.repeat(np.arange(queries), DEPTH)
    return pl.DataFrame({"query": query, "score": score.ravel(), "grade": grade.ravel()})


def of_queries(rows: pl.DataFrame) -> Any:
    """Return the value of each measure for each query, shape (queries, measures)."""
    irm = rows.irm(query="query", score="score", grade="grade")
    return irm.per_query(*MEASURES, layout="wide").select(MEASURES).to_numpy()


def as_log(values: Any) -> Any:
    """Return columns of values as systems, each query with one document, so that its dcg@1 is the value itself."""
    n, systems = values.shape
    names = [f"s{i}" for i in range(systems)]
    columns = {"system": np.repeat(names, n), "query": np.tile(np.arange(n), systems), "grade": values.T.ravel()}
    log = pl.DataFrame(columns).with_columns(score=1.0)
    return log.irm(query="query", system="system", score="score", grade="grade")


def ends(found: pl.DataFrame) -> list[tuple[float, float]]:
    """Return the intervals of a result."""
    return found.select("ci_low", "ci_high").rows()


def agree(ours: Any, theirs: Any, what: str) -> None:
    """Raise where a short way gives something else than the whole way, but for how floats are summed."""
    if not np.allclose(ours, theirs, rtol=0, atol=1e-12):
        raise AssertionError(f"{what}: {ours} is not {theirs}")


def all_rows(rows: pl.DataFrame, drawn: Any) -> pl.DataFrame:
    """Return the rows of drawn queries, as many queries as were drawn."""
    again = rows[(drawn[:, None] * DEPTH + np.arange(DEPTH)).ravel()]
    return again.with_columns(query=np.repeat(np.arange(len(drawn)), DEPTH))


def coverage(rows: pl.DataFrame, trials: int) -> Iterator[Line]:
    """Count the intervals that hold the mean of the population."""
    values = of_queries(rows)
    truth = values.mean(axis=0)
    for n, asked in COVERED.items():
        held = np.zeros(len(MEASURES), np.int64)
        for trial in range(trials):
            drawn = np.random.default_rng([1, n, trial]).integers(0, len(values), n)
            found = ends(as_log(values[drawn]).evaluate("dcg@1", ci=0.95, resamples=RESAMPLES, seed=trial))
            if trial < AGREE:
                irm = all_rows(rows, drawn).irm(query="query", score="score", grade="grade")
                agree(found, ends(irm.evaluate(*MEASURES, ci=0.95, resamples=RESAMPLES, seed=trial)), "intervals")
            held += [low <= mean <= high for mean, (low, high) in zip(truth, found, strict=True)]
        for measure, happened in zip(MEASURES, held.tolist(), strict=True):
            yield Line("interval holds the mean", f"{measure}, {n} queries", trials, happened, asked)


def at_place(mixed: Any, values: Any) -> Any:
    """Return for normal numbers which of ``values`` have their place in the order."""
    return np.argsort(values, kind="stable")[(ndtr(mixed) * len(values)).astype(np.int64)]


def together(n: int, trial: int) -> Any:
    """Draw clusters of normal numbers that are alike, shape (n * SIZE,)."""
    rng = np.random.default_rng([3, n, trial])
    return (SHARED**0.5 * rng.normal(size=(n, 1)) + (1 - SHARED) ** 0.5 * rng.normal(size=(n, SIZE))).ravel()


def in_clusters(rows: pl.DataFrame, trials: int) -> Iterator[Line]:
    """Count the intervals that hold the mean of the population, where queries are drawn in clusters."""
    values = of_queries(rows)
    truth = values.mean(axis=0)
    for (n, named), asked in CLUSTERED.items():
        cluster = np.repeat(np.arange(n), SIZE)
        role = "user" if named == "cluster=" else None
        held = np.zeros(len(MEASURES), np.int64)
        for trial in range(trials):
            given = {"ci": 0.95, "resamples": RESAMPLES, "seed": trial}
            drawn = [at_place(together(n, trial), one) for one in values.T]
            log = as_log(np.column_stack([one[at] for one, at in zip(values.T, drawn, strict=True)])).frame
            log = log.with_columns(user=np.tile(cluster, len(MEASURES)))
            found = ends(log.irm(system="system", cluster=role).evaluate("dcg@1", **given))
            if trial < AGREE:
                for one, at, mine in zip(MEASURES, drawn, found, strict=True):
                    again = all_rows(rows, at).with_columns(user=np.repeat(cluster, DEPTH))
                    agree([mine], ends(again.irm(cluster=role).evaluate(one, **given)), "intervals of clusters")
            held += [low <= mean <= high for mean, (low, high) in zip(truth, found, strict=True)]
        for measure, happened in zip(MEASURES, held.tolist(), strict=True):
            setting = f"{measure}-like, {n} clusters of {SIZE} queries, {named}"
            yield Line("interval holds the mean", setting, trials, happened, asked)


def alike(values: Any, trial: int) -> Any:
    """Draw systems that do not differ, shape (queries, systems).

    What a query and a system add is normal; its place in the normal distribution is then taken in that of ``values``,
    so that each system has the zeros, ones and steps of the population.
    """
    rng = np.random.default_rng([2, trial])
    mixed = EFFECT**0.5 * rng.normal(size=(TOPICS, 1)) + (1 - EFFECT) ** 0.5 * rng.normal(size=(TOPICS, SYSTEMS))
    return values[at_place(mixed, values)]


def p_values(values: Any, seed: int) -> list[float]:
    """Return for each of TESTS the least p-value of its family, from the tests themselves."""
    against = values[:, 1:] - values[:, :1]
    pairs = np.column_stack([values[:, i] - values[:, j] for i in range(SYSTEMS) for j in range(i)])
    two = against[:, :1]
    drawn = (PERMUTATIONS, seed, lambda done: None)
    found = (
        randomization(two, *drawn),
        classical(two, "t"),
        classical(two, "wilcoxon"),
        tukey(values, *drawn),
        classical(two, "sign"),
        adjusted(randomization(against, *drawn), "holm"),
        adjusted(randomization(pairs, *drawn), "bonferroni"),
        bootstrap(two, RESAMPLES, seed),
    )
    return [float(p.min()) for p in found]


def compared(values: Any, seed: int) -> list[float]:
    """Return the same from compare()."""
    two, all_of_them = as_log(values[:, :2]), as_log(values)
    least = []
    for test, setting in TESTS:
        name, _, correction = test.partition(", ")
        asked = {"test": name, "correction": correction or "none", "seed": seed}
        asked |= {"permutations": PERMUTATIONS, "resamples": RESAMPLES}
        irm = two if setting == ONE else all_of_them
        found = irm.compare("dcg@1", baseline=None if setting == FAMILY else "s0", **asked)
        least.append(found["p_adjusted"].min())
    return least


def alarms(rows: pl.DataFrame, trials: int) -> Iterator[Line]:
    """Count the tests that see a difference where there is none."""
    for measure, values in zip(MEASURES, of_queries(rows).T, strict=True):
        raised = np.zeros(len(TESTS), np.int64)
        for trial in range(trials):
            drawn = alike(values, trial)
            found = p_values(drawn, trial)
            if trial < AGREE:
                agree(found, compared(drawn, trial), "p-values")
            raised += np.array(found) <= LEVEL
        for ((test, setting), asked), happened in zip(TESTS.items(), raised.tolist(), strict=True):
            yield Line(f"false alarm: {test}", f"{measure}-like, {TOPICS} queries, {setting}", trials, happened, asked)


def main() -> None:
    """Print the table, each part once it is done."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=10_000, help="of each line")
    parser.add_argument("--quick", action="store_true", help="a few trials, to see that everything runs")
    options = parser.parse_args()
    trials, queries = (20, 500) if options.quick else (options.trials, QUERIES)
    tools = ", ".join(f"{name} {version(name)}" for name in ("frame_metrics", "numpy", "polars", "scipy"))
    print(f"Python {platform.python_version()}, {tools}", "", sep="\n")
    print(f"| {' | '.join(HEAD)} |", f"| {' | '.join(['---'] * len(HEAD))} |", sep="\n")
    rows = population(queries)
    for part in (coverage, in_clusters, alarms):
        for line in part(rows, trials):
            print(f"| {' | '.join(line.cells)} |", flush=True)
    twice = min(AGREE, trials)
    print("", f"The first {twice} trials of each kind were done a second way, with the same results.", sep="\n")


if __name__ == "__main__":
    main()
