"""What intervals and tests promise, looked at by simulation, printed as one table.

Intervals: queries are drawn from a large population, one by one or in clusters of queries that are alike. The
population's mean is the truth, and evaluate(ci=0.95) is asked for it. Rows without a query are drawn from distributions
whose measures are known.
Tests: systems that do not differ are drawn, and the tests of compare() are asked whether they do.
Arms: users are drawn that have one of two systems each, or both, and ab_test() is asked for their
difference.
Teams: users click on interleaved lists of two systems, and interleaving("clicks") is asked which one they prefer;
the same users, each with the lists of one system, are asked by a test of arms.
Looks: arms that do not differ grow, and ab_test(looks="any") is asked at each of many looks.
Plans: plan() says how many queries, or users, or queries for people beside a machine, see a difference, and a test of
so many is asked whether it does.
Clicks: users look at results with a chance that falls with the rank, and metrics weighted by propensity are asked for
what they would click if they looked at all; propensities() is asked for the chances.
Arms looked at: arms of 1 : 9 grow, and ab_test(looks="any") is asked at each of 20 and 200 looks.
Arms at one look: arms of unlike sizes, of rare values and of few units, and ab_test() is asked for their difference.
Labels: people judge some queries and a machine all, and evaluate(ci=0.95) with proxy= is asked for the mean by people.
Few: a few queries, clusters or rows are drawn, of values of several shapes, and evaluate(ci=0.95) is asked for means,
shares and quantiles.
"""

from __future__ import annotations

import argparse
import platform
from collections.abc import Callable, Iterator
from importlib.metadata import version
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy.special import ndtr
from scipy.stats import binom, binomtest, chi2, norm
from simulate_arm_families import arm_families, unequal_arm_families
from simulate_arms import at_one_look, of_many_looks
from simulate_calibration import calibration
from simulate_classes import PARTS as OF_CLASSES
from simulate_families import families, of_family
from simulate_few import few as of_few
from simulate_few_mistakes import few_mistakes
from simulate_leaderboard import leaderboards
from simulate_margin import margins, margins_of_arms
from simulate_mix import parts_of_change
from simulate_periods import over_time
from simulate_returning import arms_of_returning
from simulate_segments import of_segments
from simulate_strata import of_strata
from simulate_winner import winners
from trials import HEAD, Line, agree, as_log, ends

import frame_metrics  # noqa: F401 - gives frames their accessor
from frame_metrics.stats.arms import compared as arms_compared
from frame_metrics.stats.delong import areas, around
from frame_metrics.stats.flips import randomization
from frame_metrics.stats.proxies import ppi_mean
from frame_metrics.stats.resampling import percentiles
from frame_metrics.stats.significance import adjusted, classical, interval_and_p_value
from frame_metrics.stats.size import Proxied, spreads, units_needed
from frame_metrics.stats.two_arms import Arms

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
RELEVANT = 0.3  # share of the rows without a query
APART = 1.0  # of the scores of relevant rows from those of others, which are normal with a variance of 1
METHODS = ("delong", "bootstrap")
CELLS = {"tp": 0.2, "fp": 0.1, "fn": 0.1, "tn": 0.6}  # shares of the rows of a counted table
TRUTH = {"recall": 0.2 / 0.3, "accuracy": 0.8, "informedness": 0.2 / 0.3 - 0.1 / 0.7}
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
    ("randomization, max_t", FAMILY): EXACT,
    ("sign", ONE): AT_MOST,
    ("randomization, holm", f"{SYSTEMS} systems, any against the first"): AT_MOST,
    ("randomization, bonferroni", FAMILY): AT_MOST,
    ("bootstrap", ONE): None,
}
CASES = 100  # rows without a query that two systems are compared on
CUT = 0.8  # score from which on a system calls a row relevant
TESTS_OF_ROWS = {
    "mcnemar_mid_p": ("accuracy", AT_MOST),
    "delong": ("roc_auc", EXACT),
}  # the measure, and the share asked
USERS = {200: (0.93, 0.97), 25: (0.92, 0.97)}  # of each arm, and the share of intervals that shall hold the truth
TESTS_OF_ARMS: dict[str, tuple[float, float] | None] = {  # of so few; of t what is asked of its interval
    "randomization": EXACT,
    "t": (0.03, 0.08),
    "z": None,
    "bootstrap": None,
}
WORTH = 8.0  # mean of what a query of an average user is worth, far above 0
SHIFT = 0.25  # what it is worth more in the first arm, where arms differ


class Users(NamedTuple):
    """Users of two arms, of whom some stand in both."""

    alone: tuple[int, int]  # those of the first arm only, and of the other
    both: int
    often: tuple[tuple[int, int], tuple[int, int]] = ((1, 29), (1, 29))  # queries of a user in an arm, least and most
    spread: float = 1.0  # how much more than in the other a user varies in the first arm


BOTH = {
    "50 users of each arm, none of both": Users((50, 50), 0),
    "50 users of each arm, 25 of both": Users((25, 25), 25),
    "50 users of each arm, all of both": Users((0, 0), 50),
}
WAYS: dict[tuple[str, str], tuple[float, float] | None] = {  # of intervals, and what is said of users
    ("z", ""): (0.92, 0.97),
    ("t", ""): (0.92, 0.97),
    ("t", "covariate="): (0.92, 0.97),
    ("bootstrap", ""): (0.92, 0.97),
    ("t", "as others in each arm"): None,
}
SPREAD = "12 users of an arm, 4 of them of both, who vary three times as much as 44 others"
OFTEN = "50 users of both arms, with 20 to 29 queries in one and 1 to 9 in the other"
UNLIKE = {SPREAD: Users((8, 40), 4, spread=3.0), OFTEN: Users((0, 0), 50, ((20, 29), (1, 9)))}
CANDIDATES, SEEN = 10, 5  # documents that both systems rank, and how many a user is shown
READY, TASTE = 1.5, 0.7  # how much users differ in how readily they click, and in which system they like
BETTER = 0.3  # share of the noise that the better system does without: of its lists .02 more have a click
CLICKERS = {60: 0.0, 240: BETTER}  # users, and how much better one of their systems is
MORE = 10  # times as many users of the greater test of arms
PLACES = 5  # results of a list of clicks
LOOKED = 1 / np.arange(1.0, PLACES + 1)  # the chance that the result at each rank is looked at
DISCOUNT = 1 / np.log2(np.arange(2.0, PLACES + 2))
SEARCHES, MOVED = 500, 8  # that are drawn, and how often the list of each is shown
HARVESTED = ("adjacent", "all_pairs")  # of lists in which neighbours are exchanged
LOOKS, GROWS = 60, 20  # looks at arms that grow, and how many times as large as at the first look they are at the last
DAYS, BASE = 100, 100  # of a test with users who come back, and those who are there on the first day
BOUND = float(chi2.ppf(1 - LEVEL, 3))  # of the squared difference in standard errors at the first look
DETECT, POWER, PILOT = 0.1, 0.8, 50  # the difference that is planned for, how likely it shall be seen, and few queries
KNOWN = (0.78, 0.82)  # the power that is asked where the spread is known
PLANNED = {1: "as many queries as planned", 10: "as many queries as planned, n_tests=10"}  # by how many are tested
REACHED = (0.6, 0.7, 0.8, 0.9)
JUDGES = {"good": 0.9, "bad": 0.3}  # correlation of what a machine and people say of a query, before both are graded
LENIENT = 0.2  # what a machine gives each query for nothing
LABELLED = {20: (0.92, 0.97), 30: (0.92, 0.97), 60: (0.92, 0.97), 120: (0.92, 0.97)}  # queries, and the share asked
LOGGED = (400, 4000)  # queries of a log
FEW_LABELS = 60
CHANCES = (0.25, 0.05)  # of a query that the machine finds hard, and of another, to be judged by people
AGREE = 3  # trials of each kind that are done a second way


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


def scored(n: int, trial: int) -> pl.DataFrame:
    """Draw rows with a score, whose area under the ROC curve is ndtr(APART / sqrt(2))."""
    rng = np.random.default_rng([4, n, trial])
    label = (rng.random(n) < RELEVANT).astype(np.int64)
    return pl.DataFrame({"label": label, "score": rng.normal(size=n) + APART * label})


def counted(n: int, trial: int) -> pl.DataFrame:
    """Draw a 2x2 table of so many rows, a row for each cell."""
    drawn = np.random.default_rng([5, n, trial]).multinomial(n, list(CELLS.values()))
    return pl.DataFrame({"label": [1, 0, 1, 0], "predicted": [1, 1, 0, 0], "n": drawn})


def in_rows(_: pl.DataFrame, trials: int) -> Iterator[Line]:
    """Count the intervals of rows without a query that hold what is known of their distribution."""
    area = ndtr(APART / 2**0.5)
    for n, asked in COVERED.items():
        held = dict.fromkeys((*METHODS, *TRUTH), 0)
        for trial in range(trials):
            given = {"ci": 0.95, "resamples": RESAMPLES, "seed": trial}
            rows, table = scored(n, trial), counted(n, trial)
            found = [ends(rows.irm.evaluate("roc_auc", method=how, **given))[0] for how in METHODS]
            found += ends(table.irm(count="n").evaluate(*TRUTH, **given))
            if trial < AGREE:
                agree(found, in_another_way(rows, table, given), "intervals of rows")
            truth = [area, area, *TRUTH.values()]
            for name, true, (low, high) in zip(held, truth, found, strict=True):
                held[name] += int(low is not None and low <= true <= high)
        for name, happened in held.items():
            what = f"roc_auc, {n} rows, {name}" if name in METHODS else f"{name}, a counted table of {n} rows"
            yield Line("interval holds the truth", what, trials, happened, asked)


def in_another_way(rows: pl.DataFrame, table: pl.DataFrame, given: dict[str, Any]) -> list[tuple[float, float]]:
    """Return the same intervals: DeLong's from arrays, that of shuffled rows, that of a table row by row."""
    area, covariance = areas(rows["score"].to_numpy()[None], rows["label"].to_numpy())
    shuffled = rows.sample(fraction=1, shuffle=True, seed=0).irm.evaluate("roc_auc", method="bootstrap", **given)
    each = table.filter(pl.col("n") > 0).select(pl.all().repeat_by("n")).explode(pl.all()).drop("n")
    return [
        tuple(around(area, covariance[0], given["ci"])[:, 0]),
        *ends(shuffled),
        *ends(each.irm.evaluate(*TRUTH, **given)),
    ]


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
        of_family(pairs, 1 - LEVEL, *drawn)["p_adjusted"],
        classical(two, "sign"),
        adjusted(randomization(against, *drawn), "holm"),
        adjusted(randomization(pairs, *drawn), "bonferroni"),
        interval_and_p_value(two, None, None, 1 - LEVEL, RESAMPLES, seed)["p_value"],
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


def alike_rows(trial: int) -> pl.DataFrame:
    """Draw rows that two systems score equally well: what a row is worth to both is in the scores of both."""
    rng = np.random.default_rng([6, trial])
    label = (rng.random(CASES) < RELEVANT).astype(np.int64)
    score = APART * label + EFFECT**0.5 * rng.normal(size=CASES) + (1 - EFFECT) ** 0.5 * rng.normal(size=(2, CASES))
    columns = {"system": np.repeat(["a", "b"], CASES), "doc": np.tile(np.arange(CASES), 2)}
    return pl.DataFrame(columns | {"label": np.tile(label, 2), "score": score.ravel()})


def p_values_of_rows(rows: pl.DataFrame) -> list[float]:
    """Return the p-values of TESTS_OF_ROWS from the binomial distribution, and from the areas and their covariance."""
    score, label = rows["score"].to_numpy().reshape(2, CASES), rows["label"].to_numpy()[:CASES]
    right = (score >= CUT) == label
    wins, losses = int((right[0] & ~right[1]).sum()), int((right[1] & ~right[0]).sum())
    n = wins + losses
    same = float(binom.pmf(wins, n, 0.5)) if n else 0.0
    mid = (binomtest(wins, n).pvalue if n else 1.0) - (same / 2 if wins == losses else same)
    area, covariance = areas(score, label)
    z = (area[1] - area[0]) / (covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]) ** 0.5
    return [float(mid), float(2 * ndtr(-abs(z)))]


def alarms_of_rows(_: pl.DataFrame, trials: int) -> Iterator[Line]:
    """Count the tests of rows without a query that see a difference where there is none."""
    raised = np.zeros(len(TESTS_OF_ROWS), np.int64)
    measures = [measure for measure, _ in TESTS_OF_ROWS.values()]
    for trial in range(trials):
        rows = alike_rows(trial)
        found = rows.irm(query=None, system="system", doc="doc", threshold=CUT).compare(*measures, resamples=1)
        if found["test"].to_list() != list(TESTS_OF_ROWS):
            raise AssertionError(f"other tests than those that are looked at: {found['test'].to_list()}")
        if trial < AGREE:
            agree(found["p_value"].to_list(), p_values_of_rows(rows), "p-values of rows")
        raised += found["p_value"].to_numpy() <= LEVEL
    for (test, (measure, asked)), happened in zip(TESTS_OF_ROWS.items(), raised.tolist(), strict=True):
        yield Line(f"false alarm: {test}", f"{measure}, {CASES} rows, two systems", trials, happened, asked)


def users_of(n: int, trial: int) -> tuple[Any, Any, Any, Any]:
    """Draw the users of two arms: the user of each query, its value, and what each user had before and which arm.

    A query's value is what its user is worth plus chance, both normal with a variance of 1. A user who is worth more
    asks more: 1 + Poisson(3 exp(worth / 3 - 1 / 18)), 4 on average. Before is the worth plus chance of that size.
    """
    rng = np.random.default_rng([7, n, trial])
    worth = rng.normal(size=2 * n)
    user = np.repeat(np.arange(2 * n), 1 + rng.poisson(3 * np.exp(worth / 3 - 1 / 18)))
    value = worth[user] + rng.normal(size=len(user))
    return user, value, worth + rng.normal(size=2 * n), np.arange(2 * n) < n


def arms_of(user: Any, value: Any, before: Any, mine: Any, unit: Any = None) -> Arms:
    """Return the units of two arms, which are users; ``unit`` says which of them are the same one in both."""
    return Arms(np.bincount(user, value)[:, None], np.bincount(user).astype(float), mine, before, unit)


def asked_of(arms: Arms, test: str, trial: int) -> dict[str, float]:
    """Return what the arms are told to differ by, from the functions behind compare()."""
    drawn = (PERMUTATIONS, RESAMPLES, trial)
    found = arms_compared(arms, test, 0.95, drawn, lambda done: None)
    return {name: float(one[0]) for name, one in found.items() if name != "test"}


def asked_of_a_log(drawn: tuple[Any, ...], test: str, trial: int, covariate: str | None) -> dict[str, float]:
    """Return the same from ab_test()."""
    user, value, before, mine, *unit = drawn
    columns = {"query": np.arange(len(user)), "grade": value, "before": before[user], "new": mine[user]}
    columns["user"] = unit[0][user] if unit else user
    irm = pl.DataFrame(columns).with_columns(score=1.0).irm(arm="new", cluster="user")
    given: dict[str, Any] = {"permutations": PERMUTATIONS, "resamples": RESAMPLES, "seed": trial, "test": test}
    return irm.ab_test("dcg@1", baseline=False, covariate=covariate, **given).row(0, named=True)


def same_arms(ours: dict[str, float], drawn: tuple[Any, ...], *asked: Any) -> None:
    """Raise where compare() tells something else."""
    theirs = asked_of_a_log(drawn, *asked)
    agree(list(ours.values()), [theirs[name] for name in ours], f"arms by {asked}")


def differing_arms(trials: int) -> Iterator[Line]:
    """Count the intervals that hold the difference of two arms, and their relative difference.

    The mean of an arm is that of the queries: WORTH + E[m worth] / E[m] = WORTH + 1 / 4, and SHIFT more.
    """
    truth = {"": SHIFT, "relative ": SHIFT / (WORTH + 0.25)}
    ways = [(test, covariate) for test in ("z", "t", "bootstrap") for covariate in (None, "before")]
    for n, asked in USERS.items():
        held = {(test, covariate, which): 0 for test, covariate in ways for which in truth}
        for trial in range(trials):
            user, value, before, mine = users_of(n, trial)
            drawn = (user, WORTH + value + SHIFT * mine[user], before, mine)
            for test, covariate in ways:
                arms = arms_of(drawn[0], drawn[1], before if covariate else None, mine)
                found = asked_of(arms, test, trial)
                if trial < AGREE:
                    same_arms(found, drawn, test, trial, covariate)
                for which, low in (("", "ci_low"), ("relative ", "relative_low")):
                    high = low.replace("low", "high")
                    held[test, covariate, which] += found[low] <= truth[which] <= found[high]
        for (test, covariate, which), happened in held.items():
            what = f"{n} users of each arm, {test}{', covariate=' if covariate else ''}"
            yield Line(f"interval holds the {which}difference", what, trials, happened, asked)


def arms(rows: pl.DataFrame, trials: int) -> Iterator[Line]:
    """Count the intervals that hold the difference of two arms, and the tests that see one where there is none."""
    yield from differing_arms(trials)
    n = min(USERS)
    for measure, values in zip(MEASURES, of_queries(rows).T, strict=True):
        raised = dict.fromkeys([*TESTS_OF_ARMS, "t, no cluster="], 0)
        for trial in range(trials):
            user, mixed, before, mine = users_of(n, trial)
            value = values[at_place(mixed / 2**0.5, values)]
            for test in raised:
                name, _, alone = test.partition(", ")
                users = (
                    (np.arange(len(user)), value, before[user], mine[user]) if alone else (user, value, before, mine)
                )
                found = asked_of(arms_of(*users), name, trial)
                if trial < AGREE and not alone:
                    same_arms(found, users, name, trial, "before")
                raised[test] += found["p_value"] <= LEVEL
        for test, happened in raised.items():
            setting = f"{measure}-like, {n} users of each arm, covariate="
            yield Line(f"false alarm: {test}", setting, trials, happened, TESTS_OF_ARMS.get(test))


def users_of_both(users: Users, trial: int, shift: float) -> tuple[Any, Any, Any, Any, Any]:
    """Draw users as above, each arm of a user as one, and last which of them are the same.

    What a user is worth, what it adds in an arm and what a query adds are normal with a variance of 1; SHIFT is added
    in the first arm. Before is the worth plus chance of that size.
    """
    rng = np.random.default_rng([8, *users.alone, users.both, trial])
    n = users.both + sum(users.alone)
    unit = np.concatenate([np.repeat(np.arange(users.both), 2), np.arange(users.both, n)])
    mine = np.concatenate([np.tile([False, True], users.both), np.repeat([True, False], users.alone)])
    often = np.where(mine, *(rng.integers(least, most + 1, len(unit)) for least, most in users.often))
    worth, added = rng.normal(size=n), rng.normal(size=len(unit)) * np.where(mine, users.spread, 1)
    user = np.repeat(np.arange(len(unit)), often)
    value = WORTH + (worth[unit] + added + shift * mine)[user] + rng.normal(size=len(user))
    return user, value, (worth + rng.normal(size=n))[unit], mine, unit


def asked_of_both(drawn: tuple[Any, ...], test: str, said: str, trial: int) -> dict[str, float]:
    """Return what arms that share users are told to differ by, in one of WAYS."""
    user, value, before, mine, unit = drawn
    covariate = "before" if said == "covariate=" else None
    units = None if said.startswith("as others") else unit
    found = asked_of(arms_of(user, value, before if covariate else None, mine, units), test, trial)
    if trial < AGREE:
        same_arms(found, drawn if units is not None else drawn[:4], test, trial, covariate)
    return found


def shared(_: pl.DataFrame, trials: int) -> Iterator[Line]:
    """Count the same of arms that share users, and how often a difference is seen that is there."""
    for name, users in BOTH.items():
        held = dict.fromkeys(WAYS, 0)
        for trial in range(trials):
            drawn = users_of_both(users, trial, SHIFT)
            for way in WAYS:
                found = asked_of_both(drawn, *way, trial)
                held[way] += found["ci_low"] <= SHIFT <= found["ci_high"]
        for (test, said), happened in held.items():
            what = f"{name}, {test}{said and f', {said}'}"
            yield Line("interval holds the difference", what, trials, happened, WAYS[test, said])
    for name, users in (BOTH | UNLIKE).items():
        asked = {test: None if name in UNLIKE else of for test, of in TESTS_OF_ARMS.items()}
        for shift, what in ((0.0, "false alarm"), *([(2 * SHIFT, "difference seen")] if name == OFTEN else [])):
            raised = dict.fromkeys(asked, 0)
            for trial in range(trials):
                drawn = users_of_both(users, trial, shift)
                for test in raised:
                    raised[test] += asked_of_both(drawn, test, "", trial)["p_value"] <= LEVEL
            for test, happened in raised.items():
                yield Line(f"{what}: {test}", name, trials, happened, asked[test])


def visits(n: int, better: float, rng: Any) -> tuple[Any, Any, Any]:
    """Draw searches of users, 1 to 59 each: the user, two systems' scores of documents, and the chances of a click.

    The logit of the chance is the merit of the document less 2, and what the user adds: how readily it clicks, and how
    much it likes what the first system scores too high, or the second. Scores are the merit plus normal noise.

    Returns
    -------
    Shapes (searches,), (2, searches, CANDIDATES) and (searches, CANDIDATES); the second system is the better one.
    """
    user = np.repeat(np.arange(n), rng.integers(1, 60, n))
    merit, noise = rng.normal(size=(len(user), CANDIDATES)), rng.normal(size=(2, len(user), CANDIDATES))
    ready, taste = READY * rng.normal(size=n), TASTE * rng.normal(size=n)
    worth = merit - 2 + ready[user, None] + taste[user, None] * (noise[0] - noise[1]) / 2**0.5
    return user, merit + np.array([1, 1 - better])[:, None, None] * noise, 1 / (1 + np.exp(-worth))


def drafted(score: Any, rng: Any) -> tuple[Any, Any]:
    """Draft teams: a coin says which system picks first of each two places, and each picks its best that is left.

    Returns
    -------
    The team and the document of each place, shape (searches, SEEN).
    """
    left, every = score.copy(), np.arange(score.shape[1])
    team, shown = np.empty((2, len(every), SEEN), np.int64)
    for place in range(SEEN):
        turn = 1 - team[:, place - 1] if place % 2 else rng.integers(0, 2, len(every))
        best = left[turn, every].argmax(axis=1)
        left[:, every, best] = -np.inf
        team[:, place], shown[:, place] = turn, best
    return team, shown


def clicks_on(shown: Any, chance: Any, rng: Any) -> Any:
    """Draw clicks on lists: one of so many users looks at a place as it counts from 1."""
    return rng.random(shown.shape) < np.take_along_axis(chance, shown, axis=1) / np.arange(1, SEEN + 1)


def asked_of_teams(n: int, better: float, trial: int) -> tuple[float, float]:
    """Return the p-values of users' interleaved lists: by user, and of the sign test over lists."""
    rng = np.random.default_rng([11, n, trial])
    user, score, chance = visits(n, better, rng)
    team, shown = drafted(score, rng)
    clicks = clicks_on(shown, chance, rng)
    preferred = np.sign((clicks * (2 * team - 1)).sum(axis=1))[:, None] / 2
    sums = np.bincount(user, preferred[:, 0])[:, None]
    found = [randomization(sums, PERMUTATIONS, trial, lambda done: None), classical(preferred, "sign")]
    if trial < AGREE:
        query, user = (np.repeat(one, SEEN) for one in (np.arange(len(user)), user))
        rank = np.tile(np.arange(SEEN) + 1, len(clicks))
        rows = pl.DataFrame({"query": query, "user": user, "rank": rank, "team": team.ravel(), "label": clicks.ravel()})
        given: dict[str, Any] = {"permutations": PERMUTATIONS, "resamples": 1, "seed": trial}
        for cluster, test, p in (("user", "randomization", found[0]), (None, "sign", found[1])):
            irm = rows.irm(query="query", team="team", cluster=cluster)
            agree(irm.interleaving("clicks", test=test, **given)["p_value"].to_list(), p, "p-values of teams")
    return float(found[0][0]), float(found[1][0])


def asked_of_clickers(n: int, better: float, trial: int) -> float:
    """Return the p-value of a test of arms: half of the users are shown the lists of one system, half of the other."""
    rng = np.random.default_rng([12, n, trial])
    user, score, chance = visits(n, better, rng)
    mine = rng.permutation(n) < n / 2
    own = score[mine[user].astype(np.int64), np.arange(len(user))]
    value = clicks_on(np.argsort(-own, axis=1)[:, :SEEN], chance, rng).any(axis=1).astype(float)
    found = asked_of(arms_of(user, value, None, mine), "t", trial)
    if trial < AGREE:
        same_arms(found, (user, value, np.zeros(n), mine), "t", trial, None)
    return found["p_value"]


def teams(_: pl.DataFrame, trials: int) -> Iterator[Line]:
    """Count how often tests of teams see a difference, and tests of arms with the same users, and with more."""
    for n, better in CLICKERS.items():
        what, asked = ("difference seen", None) if better else ("false alarm", EXACT)
        found = np.array([asked_of_teams(n, better, trial) for trial in range(trials)]) <= LEVEL
        said = {"randomization": ("cluster=", asked)} | ({} if better else {"sign": ("no cluster=", None)})
        for (test, (named, wanted)), happened in zip(said.items(), found.sum(axis=0).tolist(), strict=False):
            yield Line(f"{what}: {test}", f"interleaved lists, {n} users, {named}", trials, happened, wanted)
        for users in (n, MORE * n) if better else ():
            seen = sum(asked_of_clickers(users, better, trial) <= LEVEL for trial in range(trials))
            yield Line(f"{what}: t", f"lists of one system, {users:,} users, cluster=", trials, int(seen), None)


def impressions(population: Any, n: int, trial: int) -> pl.DataFrame:
    """Draw searches with their lists, each shown MOVED times with two neighbours exchanged, and what is clicked.

    A result is clicked where it is looked at, by the chance of its rank, and found relevant, by a chance of its own.
    """
    rng = np.random.default_rng([9, n, trial])
    found = population[rng.integers(0, len(population), n)]
    order = np.tile(np.arange(PLACES), (n, MOVED, 1))
    first = rng.integers(0, PLACES - 1, (n, MOVED))[..., None]
    np.put_along_axis(order, first, first + 1, axis=2)
    np.put_along_axis(order, first + 1, first, axis=2)
    chance = np.take_along_axis(found[:, None], order, axis=2) * LOOKED
    shape, rank = order.shape, np.arange(1, PLACES + 1)
    columns = {"search": np.arange(n)[:, None, None], "query": np.arange(n * MOVED).reshape(n, MOVED, 1)}
    columns |= {"doc": order, "rank": rank, "label": (rng.random(shape) < chance).astype(int)}
    return pl.DataFrame({name: np.broadcast_to(values, shape).ravel() for name, values in columns.items()})


def weighted(_: pl.DataFrame, trials: int) -> Iterator[Line]:
    """Count the intervals of clicks that hold what users would have clicked if they had looked at everything."""
    rng = np.random.default_rng(9)
    population = -np.sort(-rng.beta(1, 3, (QUERIES, PLACES)), axis=1)
    # Neighbours that are exchanged at random leave a list's mean of a rank halfway to those beside it.
    moved = np.full((PLACES, PLACES), 0.0)
    for first in range(PLACES - 1):
        swapped = np.arange(PLACES)
        swapped[[first, first + 1]] = first + 1, first
        moved[np.arange(PLACES), swapped] += 1 / (PLACES - 1)
    gain = moved @ population.mean(axis=0)
    truth = {f"dcg@{PLACES}": gain @ DISCOUNT, f"precision@{PLACES}": gain.mean()}
    ways = {"weighted by propensity": {}, "weighted, clip=1.5": {"clip": 1.5}, "as clicked": {"propensity": None}}
    held = dict.fromkeys(((metric, way) for way in ways for metric in truth), 0)
    named = dict(enumerate(LOOKED.tolist(), 1))
    for trial in range(trials):
        log = impressions(population, SEARCHES, trial)
        irm = log.irm(propensity=named, cluster="search")
        for way, roles in ways.items():
            found = irm(**roles).evaluate(*truth, ci=0.95, resamples=RESAMPLES, seed=trial)
            if trial < AGREE and way == "weighted by propensity":
                clicks = log["label"].to_numpy().reshape(-1, PLACES) / LOOKED
                agree(found["value"], [(clicks @ DISCOUNT).mean(), clicks.mean()], "weighted values")
            for (metric, mean), (low, high) in zip(truth.items(), ends(found), strict=True):
                held[metric, way] += low <= mean <= high
    for (metric, way), happened in held.items():
        asked = (0.93, 0.97) if way == "weighted by propensity" else None
        yield Line("interval holds the truth", f"{metric}, {SEARCHES} searches, {way}", trials, happened, asked)
    yield from propensities(population, trials)


def propensities(population: Any, trials: int) -> Iterator[Line]:
    """Count the intervals of propensities that hold those with which results were looked at."""
    held = np.zeros((len(HARVESTED), PLACES), np.int64)
    for trial in range(trials):
        log = impressions(population, SEARCHES, trial)
        for i, method in enumerate(HARVESTED):
            found = log.irm.propensities(method, query_text="search", resamples=RESAMPLES, seed=trial)
            if trial < AGREE and method == "adjacent":
                agree(found["propensity"], adjacent(log), "propensities")
            held[i] += [low <= chance <= high for chance, (low, high) in zip(LOOKED, ends(found), strict=True)]
    for method, of_ranks in zip(HARVESTED, held.tolist(), strict=True):
        for rank in (2, PLACES):
            setting = f"{method}, {SEARCHES} searches, rank {rank}"
            yield Line("interval holds the propensity", setting, trials, of_ranks[rank - 1], (0.92, 0.97))


def adjacent(log: pl.DataFrame) -> list[float]:
    """Return the propensities by the adjacent chain in plain Python."""
    seen: dict[tuple[int, int, int], list[int]] = {}
    for search, doc, rank, label in log.select("search", "doc", "rank", "label").iter_rows():
        seen.setdefault((search, doc, rank), []).append(label)
    rate, chain = {key: sum(labels) / len(labels) for key, labels in seen.items()}, [1.0]
    for rank in range(2, PLACES + 1):
        both = [key[:2] for key in rate if key[2] == rank and (*key[:2], rank - 1) in rate]
        chain.append(chain[-1] * sum(rate[*key, rank] for key in both) / sum(rate[*key, rank - 1] for key in both))
    return chain


class Growing(NamedTuple):
    """The users of an arm, in the order in which they come, as they are known at some looks."""

    sums: Any  # of the values of each user's queries up to each look, shape (users, looks)
    sizes: Any  # how many queries these are; 0 of a user who is not there yet


def at_looks(n: int, value: Any, size: Any) -> Growing:
    """Return users who come once, with all their queries, at looks from n to GROWS times as many."""
    looks = np.unique(np.geomspace(n, GROWS * n, LOOKS).astype(np.int64))
    there = np.arange(len(value))[:, None] < looks
    return Growing(value[:, None] * there, size[:, None] * there)


def skewed(spread: float, n: int = 100) -> Callable[[Any], Growing]:
    """Return what draws users of whom few ask most: how often is lognormal, and rises with what a query is worth."""

    def draw(rng: Any) -> Growing:
        worth = rng.normal(size=GROWS * n)
        size = np.ceil(2 * np.exp(worth / 3 + spread * rng.normal(size=len(worth)))) if spread else np.ones(len(worth))
        return at_looks(n, size * worth + np.sqrt(size) * rng.normal(size=len(worth)), size)

    return draw


def clicking(rng: Any) -> Growing:
    """Draw users who click rarely, on one result in some fifty."""
    size = np.ceil(2 * rng.lognormal(size=GROWS * BASE))
    chance = np.minimum(0.02 * np.exp(0.8 * rng.normal(size=len(size))), 1)
    return at_looks(BASE, rng.binomial(size.astype(np.int64), chance).astype(float), size)


def returning(rng: Any) -> Growing:
    """Draw users who come back day by day, BASE at first and a fifth of that each day, looked at each evening."""
    entry = np.concatenate([np.zeros(BASE, int), np.repeat(np.arange(1, DAYS), BASE // 5)])
    asked = rng.poisson(rng.lognormal(0, 0.7, len(entry))[:, None], (len(entry), DAYS))
    asked *= np.arange(DAYS) > entry[:, None]
    asked[np.arange(len(entry)), entry] += 1
    values = asked * 0.5 * rng.normal(size=(len(entry), 1)) + np.sqrt(asked) * rng.normal(size=asked.shape)
    return Growing(values.cumsum(axis=1), asked.cumsum(axis=1).astype(float))


GROWN: dict[str, tuple[Callable[[Any], Growing], tuple[float, float] | None]] = {
    "one query of each user": (skewed(0), AT_MOST),
    "users of skewed sizes": (skewed(1), AT_MOST),
    "users of very skewed sizes": (skewed(1.5), AT_MOST),
    "users of very skewed sizes, first_look=500": (skewed(1.5, 500), AT_MOST),
    "users of wildly skewed sizes": (skewed(2), None),
    "rare clicks": (clicking, AT_MOST),
    "users who come back": (returning, AT_MOST),
}


def each_look(both: tuple[Growing, Growing], *, by_user: bool) -> tuple[Any, Any]:
    """Return at each look the squared difference of arms in standard errors, and how much they grew.

    ``by_user``: whether users are the units; else their queries are, of which each has its user's mean and some noise.
    """
    means, errors, many = [], [], []
    for sums, sizes in both:
        there, total = sizes > 0, sizes.sum(axis=0)
        mean = sums.sum(axis=0) / total
        units = there.sum(axis=0) if by_user else total
        apart = (sums - sizes * mean) ** 2
        if not by_user:
            apart = np.divide(apart, sizes, out=np.zeros_like(apart), where=there) + np.maximum(sizes - 1, 0)
        means.append(mean)
        errors.append(units / (units - 1) * apart.sum(axis=0) / total**2)
        many.append(total)
    first = (both[0].sizes[:, 0] > 0).sum()
    return (means[0] - means[1]) ** 2 / (errors[0] + errors[1]), 2 / (1 / many[0] + 1 / many[1]) / first


def same_looks(both: tuple[Growing, Growing], z: Any, grown: Any) -> None:
    """Raise where compare() tells something else at the first look and the last."""
    first = int((both[0].sizes[:, 0] > 0).sum())
    for look in (0, -1):
        rows: dict[str, list[Any]] = {"arm": [], "user": [], "v": []}
        for arm, (sums, sizes) in enumerate(both):
            user = np.repeat(np.arange(len(sums)), sizes[:, look].astype(np.int64))
            rows["arm"] += [arm] * len(user)
            rows["user"] += (user + arm * len(sums)).tolist()
            rows["v"] += (sums[user, look] / sizes[user, look]).tolist()
        irm = pl.DataFrame(rows).with_row_index("query").irm(arm="arm", cluster="user", value="v")
        found = irm.ab_test(baseline=0, looks="any", first_look=first)
        agree(found["p_value"].to_list(), chi2.sf(z[look] - np.log(grown[look]), 3), "p-values of looks")


def looks(_: pl.DataFrame, trials: int) -> Iterator[Line]:
    """Count how often arms that do not differ are told to differ at any of many looks."""
    for name, (draw, asked) in GROWN.items():
        raised = dict.fromkeys(("sequence", "z"), 0)
        raised |= {"sequence, no cluster=": 0} if draw is returning else {}
        for trial in range(trials):
            rng = np.random.default_rng([13, trial])
            both = draw(rng), draw(rng)
            z, grown = each_look(both, by_user=True)
            if trial < AGREE:
                same_looks(both, z, grown)
            raised["sequence"] += (z - np.log(grown) >= BOUND).any()
            raised["z"] += (z >= chi2.ppf(1 - LEVEL, 1)).any()
            if draw is returning:
                z, grown = each_look(both, by_user=False)
                raised["sequence, no cluster="] += (z - np.log(grown) >= BOUND).any()
        for test, happened in raised.items():
            wanted = asked if test == "sequence" else None
            yield Line(f"false alarm: {test}", f"looks at {name}", trials, int(happened), wanted)
    yield from shifted(trials)


def shifted(trials: int) -> Iterator[Line]:
    """Count how often a difference is seen at any look, and at one look, the last."""
    seen = dict.fromkeys(("sequence", "z, at the last look only"), 0)
    for trial in range(trials):
        rng = np.random.default_rng([14, trial])
        one, other = skewed(1)(rng), skewed(1)(rng)
        z, grown = each_look((Growing(one.sums + SHIFT * one.sizes, one.sizes), other), by_user=True)
        seen["sequence"] += (z - np.log(grown) >= BOUND).any()
        seen["z, at the last look only"] += z[-1] >= chi2.ppf(1 - LEVEL, 1)
    for test, happened in seen.items():
        yield Line(f"difference seen: {test}", "looks at users of skewed sizes", trials, int(happened), None)


def differing(values: Any, n: int, rng: Any) -> Any:
    """Draw the differences of two systems on so many queries, whose values are like some."""
    mixed = EFFECT**0.5 * rng.normal(size=(n, 1)) + (1 - EFFECT) ** 0.5 * rng.normal(size=(n, 2))
    return values[at_place(mixed, values)] @ [1.0, -1.0]


def size_of(differences: Any, tests: int = 1, resamples: int = RESAMPLES) -> Any:
    """Return how many queries are needed, first by what was seen, then by resamples."""
    spread = spreads(differences[None], np.ones((1, len(differences))), resamples, 0)
    return units_needed(spread, 1, DETECT, POWER, 1 - LEVEL / tests)


def same_size(differences: Any, ours: Any) -> None:
    """Raise where plan() says another number."""
    values = np.column_stack([np.ones(len(differences)), differences + 1])
    found = as_log(values).sample_size("dcg@1", detect=DETECT, resamples=RESAMPLES)
    low, high = percentiles(ours[1:], 0.95)
    agree(found.select("needed", "needed_low", "needed_high").row(0), [ours[0], np.floor(low), np.ceil(high)], "plans")


def plans(rows: pl.DataFrame, trials: int) -> Iterator[Line]:
    """Count how often a difference is seen by as many queries as were planned, and what plans by pilots reach."""
    for measure, values in zip(MEASURES, of_queries(rows).T, strict=True):
        many = differing(values, 200_000, np.random.default_rng([15]))
        many -= many.mean()
        for tests in PLANNED:
            n = int(size_of(many, tests, 1)[0])
            seen = 0
            for trial in range(trials):
                drawn = np.random.default_rng([16, tests, trial]).choice(many, n) + DETECT
                seen += classical(drawn[:, None], "t")[0] <= LEVEL / tests
            yield Line("difference seen: t", f"{measure}-like, {PLANNED[tests]}", trials, int(seen), KNOWN)
        yield from by_pilots(measure, values, many, trials)
    yield from arms_planned(trials)
    yield from people_planned(of_queries(rows)[:, 0], trials)


def by_pilots(measure: str, values: Any, many: Any, trials: int) -> Iterator[Line]:
    """Count the power that numbers of a pilot of few queries reach; where it is known by the spread of many."""
    reached, held, cautious = np.zeros(len(REACHED), np.int64), 0, 0
    z, known = norm.ppf(1 - LEVEL / 2), size_of(many, resamples=1)[0]
    for trial in range(trials):
        pilot = differing(values, PILOT, np.random.default_rng([17, trial]))
        found = size_of(pilot)
        if trial < AGREE:
            same_size(pilot, found)
        low, high = percentiles(found[1:], 0.95)
        power = norm.cdf(DETECT * np.sqrt([found[0], high]) / many.std() - z)
        reached += power[0] >= REACHED
        held += low <= known <= high
        cautious += power[1] >= POWER
    setting = f"{measure}-like, planned by a pilot of {PILOT} queries"
    for least, happened in zip(REACHED, reached.tolist(), strict=True):
        yield Line(f"power of {least:.0%} or more", setting, trials, happened, None)
    yield Line("power of 80% or more", f"{setting}, as many as needed_high", trials, int(cautious), None)
    yield Line("interval holds the number", setting, trials, int(held), None)


def arms_planned(trials: int) -> Iterator[Line]:
    """Count how often Welch's test of as many users as were planned sees a difference."""
    user, value, _, mine = users_of(20_000, 0)
    arms = arms_of(user, value, None, mine)
    sums, sizes = arms.side_by_side(arms.sums)[:, :, 0], arms.side_by_side(arms.size[:, None])[:, :, 0]
    n = int(units_needed(spreads(sums, sizes, 1, 0), 2, SHIFT, POWER, 1 - LEVEL)[0])
    seen = 0
    for trial in range(trials):
        user, value, _, mine = users_of(n, trial + 1)
        found = asked_of(arms_of(user, value + SHIFT * mine[user], None, mine), "t", trial)
        seen += found["p_value"] <= LEVEL
    yield Line("difference seen: t", "as many users of each arm as planned", trials, int(seen), KNOWN)


def differing_by_both(values: Any, judge: str, n: int, rng: Any) -> Any:
    """Draw differences of two systems on so many queries, by people and by a lenient machine, shape (2, queries)."""
    mixed = EFFECT**0.5 * rng.normal(size=(n, 1)) + (1 - EFFECT) ** 0.5 * rng.normal(size=(n, 2))
    share = JUDGES[judge]
    machine = share * mixed + (1 - share**2) ** 0.5 * rng.normal(size=(n, 2))
    return np.stack([values[at_place(mixed, values)], (1 - LENIENT) * values[at_place(machine, values)]]) @ [1.0, -1.0]


def judged_by_people(both: Any, few: int, n: int, resamples: int) -> Any:
    """Return how many of so many queries people have to judge, by a pilot in which they judged a few, and resamples."""
    sizes, people = np.ones(both.shape[1]), both[:, :few]
    beside = Proxied.of(people, sizes[:few], np.stack([both[1], sizes]), n, (resamples, 0))
    return units_needed(spreads(people[:1], sizes[None, :few], resamples, 0), 1, DETECT, POWER, 1 - LEVEL, beside)


def people_planned(values: Any, trials: int) -> Iterator[Line]:
    """Count how often a difference is seen where people judge as many queries as planned, and a machine all."""
    for judge, n in product(JUDGES, LOGGED):
        many = differing_by_both(values, judge, 200_000, np.random.default_rng([18]))
        few, _ = judged_by_people(many, many.shape[1], n, 1)
        seen = 0
        for trial in range(trials):
            people, machine = differing_by_both(values, judge, n, np.random.default_rng([19, n, trial]))
            found = ppi_mean(np.where(np.arange(n) < few, people + DETECT, np.nan), machine)
            seen += found.p_value("t") <= LEVEL
        setting = f"{judge} machine, as many of {n:,} queries for people as planned"
        yield Line("difference seen: t", setting, trials, int(seen), KNOWN)
        if n == LOGGED[0]:
            yield by_few_labels(values, judge, few, trials)


def by_few_labels(values: Any, judge: str, known: float, trials: int) -> Line:
    """Count the intervals of pilots that hold the number of queries for people."""
    held = 0
    for trial in range(trials):
        both = differing_by_both(values, judge, LOGGED[0], np.random.default_rng([20, trial]))
        low, high = percentiles(judged_by_people(both, PILOT, LOGGED[0], RESAMPLES)[1:], 0.95)
        held += np.floor(low) <= known <= np.ceil(high)
    setting = f"{judge} machine, planned by a pilot of {PILOT} of {LOGGED[0]} queries"
    return Line("interval holds the number", setting, trials, int(held), None)


def of_machine(values: Any, judge: str, n: int, trial: int) -> tuple[Any, Any, Any]:
    """Draw queries, with their values by people and by a lenient machine."""
    rng = np.random.default_rng([13, n, trial])
    people, noise = rng.normal(size=(2, n))
    share = JUDGES[judge]
    machine = values[at_place(share * people + (1 - share**2) ** 0.5 * noise, values)]
    return values[at_place(people, values)], LENIENT + (1 - LENIENT) * machine, rng


def asked_of_labels(people: Any, machine: Any, mine: Any, chance: Any = None) -> tuple[float, float]:
    """Return the interval of a prediction-powered mean; ``mine``: the queries that people judged."""
    return ppi_mean(np.where(mine, people, np.nan), machine, None, chance).ends(0.95, "t")


def same_labels(ours: Any, people: Any, machine: Any, mine: Any, chance: Any = None) -> None:
    """Raise where the public verbs give another interval."""
    both = [pl.DataFrame({"query": np.arange(len(mine)), "doc": "d", "grade": side}) for side in (people, machine)]
    judged = both[0] if chance is None else both[0].with_columns(chance=chance)
    run = both[0].select("query", "doc", score=pl.lit(1.0))
    irm = run.irm.judge(judged.filter(mine), proxy=both[1], sampling=None if chance is None else "chance")
    agree([(max(ours[0], 0.0), ours[1])], ends(irm.evaluate("dcg@1", ci=0.95)), "intervals of few labels")


def labels(rows: pl.DataFrame, trials: int) -> Iterator[Line]:
    """Count the intervals of few labels of people and many of a machine that hold the mean by people."""
    what, values = "interval holds the mean by people", of_queries(rows)[:, 0]
    truth = values.mean()
    asked: dict[str, tuple[float, float] | None] = {}
    held: dict[str, int] = {}

    def seen(setting: str, wanted: tuple[float, float] | None, low: float, high: float) -> None:
        asked[setting] = wanted
        held[setting] = held.get(setting, 0) + int(low <= truth <= high)

    for judge, n in product(JUDGES, LOGGED):
        for trial in range(trials):
            people, machine, rng = of_machine(values, judge, n, trial)
            for few, wanted in LABELLED.items():
                mine = np.arange(n) < few
                found = asked_of_labels(people, machine, mine)
                seen(f"{few} of {n:,} queries, {judge} machine", wanted, *found)
                if trial < AGREE and n == LOGGED[0]:
                    same_labels(found, people, machine, mine)
                if judge == "good" and n == LOGGED[0]:
                    alone = asked_of_labels(people[:few], machine[:few], mine[:few])
                    seen(f"{few} queries, people alone", wanted, *alone)
            if n == LOGGED[0]:
                seen(f"{n} queries, {judge} machine alone", None, *asked_of_labels(machine, machine, machine >= 0))
                mine = np.argsort(np.argsort(machine, kind="stable")) < FEW_LABELS
                worst = asked_of_labels(people, machine, mine)
                seen(f"the {FEW_LABELS} of {n} queries that the {judge} machine finds worst", None, *worst)
                chance = np.where(machine < np.median(machine), *CHANCES)
                mine = rng.random(n) < chance
                drawn = f"of {n} queries the hard ones five times as often, {judge} machine"
                seen(drawn, None, *asked_of_labels(people, machine, mine))
                found = asked_of_labels(people, machine, mine, chance)
                seen(f"{drawn}, sampling=", (0.92, 0.97), *found)
                if trial < AGREE:
                    same_labels(found, people, machine, mine, chance)
    for setting, wanted in asked.items():
        yield Line(what, setting, trials, held[setting], wanted)


PARTS = {
    "queries": coverage,
    "clusters": in_clusters,
    "rows": in_rows,
    "tests": alarms,
    "paired": alarms_of_rows,
    "arms": arms,
    "shared": shared,
    "teams": teams,
    "weighted": weighted,
    "looks": looks,
    "plans": plans,
    "labels": labels,
    "few": of_few,
    "families": families,
    "arms_looked_at": of_many_looks,
    **OF_CLASSES,
    "leaderboards": leaderboards,
    "margins": margins,
    "arms_at_one_look": at_one_look,
    "few_mistakes": few_mistakes,
    "arm_families": arm_families,
    "margins_of_arms": margins_of_arms,
    "over_time": over_time,
    "winners": winners,
    "unequal_arm_families": unequal_arm_families,
    "strata": of_strata,
    "segments": of_segments,
    "parts_of_change": parts_of_change,
    "arms_of_returning": arms_of_returning,
    "calibration": calibration,
}


def main() -> None:
    """Print the table, each part once it is done."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=10_000, help="of each line")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="which lines; by default all")
    parser.add_argument("--quick", action="store_true", help="a few trials, to see that everything runs")
    options = parser.parse_args()
    trials, queries = (5, 500) if options.quick else (options.trials, QUERIES)
    tools = ", ".join(f"{name} {version(name)}" for name in ("frame_metrics", "numpy", "polars", "scipy"))
    print(f"Python {platform.python_version()}, {tools}", "", sep="\n")
    print(f"| {' | '.join(HEAD)} |", f"| {' | '.join(['---'] * len(HEAD))} |", sep="\n")
    rows = population(queries)
    for part in options.parts:
        for line in PARTS[part](rows, trials):
            print(f"| {' | '.join(line.cells)} |", flush=True)
    twice = min(AGREE, trials)
    print("", f"The first {twice} trials of each kind were done a second way, with the same results.", sep="\n")


if __name__ == "__main__":
    main()
