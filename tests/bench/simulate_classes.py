"""Simulations of measures over classes, areas, off-policy values, calibration and agreement, for simulate.py.

Classes: rows of twenty classes are predicted with a recall of each class's own, and the intervals of macro averages are
asked for the averages of the population.
Areas: scores of relevant and other rows are drawn from distributions whose area under the ROC curve is known.
Off policy: a logging policy places good results often or seldom where another policy places them, and the audit is
asked whether the intervals can be trusted.
Calibration: outcomes are drawn with the chances that scores say, so that nothing is off.
Agreement: two annotators judge the documents of queries, and the interval of kappa is asked for that of the population.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import polars as pl
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri
from trials import Line, agree, ends

from frame_metrics.inputs.scores import sorted_levels
from frame_metrics.measuring.resampled_rows import MOST_ROWS
from frame_metrics.stats.delong import Areas
from frame_metrics.stats.exact import expanded_level, normal_quantile, t_quantile, wilson_interval
from frame_metrics.stats.intervals import FEW_UNITS, MIN_RESAMPLES_OF_FEW
from frame_metrics.stats.resampling import Units, draws, percentile_interval, resampled
from frame_metrics.stats.shares import MIN_ROWS

AGREE = 3  # trials of each kind that are done a second way
RESAMPLES = 1000
HOLDS = "interval holds the truth"
CLASSES = 20
MACRO = ("recall", "precision", "f1", "jaccard")
ROWS: dict[int, tuple[float, float]] = {1: (0.8, 1.0), 3: (0.8, 1.0), 8: (0.9, 1.0), 30: (0.92, 0.99)}  # of each class
NOISE = 0.03  # share of the relevant rows whose score is that of another row
SIDES = ((20, 200), (100, 1000))  # relevant and other rows
SIX = (3, 3)
AREAS = (0.7, 0.9, 0.98)
OF_AREAS = (0.82, 1.0)
POSITIVES = {5: (0.9, 1.0), 10: (0.92, 1.0), 20: (0.92, 1.0)}  # relevant rows of 200
DISTANCES = (1.0, 2.0, 3.0)  # of the scores of relevant rows
LISTS = 200
PLACED = {"good": 0.6, "middling": 0.4, "bad": 0.1}  # how often the logging policy places the good result at a rank
TARGET = 0.95  # how often the other policy does
CLICKED = np.array([0.5, 0.3, 0.2])  # chance of a click on a good result at each rank; .1 on another
SCORED = (100, 300, 1000)  # rows with calibrated scores
QUERIES = {5: (0.9, 1.0), 10: (0.92, 1.0), 20: (0.92, 0.99)}
DOCUMENTS = 10  # of a query
RIGHT = 0.85  # how often an annotator sees what is there


def drawn_classes(rows: int, trial: int) -> tuple[Any, Any, dict[str, float]]:
    """Draw rows of each class and their predictions; return both, and the macro averages of the population."""
    recall = np.linspace(0.5, 0.95, CLASSES)
    wrong = np.arange(1.0, CLASSES + 1)  # classes are predicted wrongly more often the later they are
    confused = np.tile(wrong, (CLASSES, 1)) * (1 - np.eye(CLASSES))
    confused *= ((1 - recall) / confused.sum(axis=1))[:, None]
    chances = confused + np.diag(recall)
    precision = recall / chances.sum(axis=0)
    jaccard = recall / (1 + chances.sum(axis=0) - recall)
    truth = {"recall": recall, "precision": precision, "f1": 2 * jaccard / (1 + jaccard), "jaccard": jaccard}
    rng = np.random.default_rng([30, rows, trial])
    label = np.repeat(np.arange(CLASSES), rows)
    predicted = (rng.random((len(label), 1)) > np.cumsum(chances, axis=1)[label]).sum(axis=1)
    return label, np.minimum(predicted, CLASSES - 1), {name: float(of.mean()) for name, of in truth.items()}


def macro(_: pl.DataFrame, trials: int) -> Iterator[Line]:
    """Count the intervals of macro averages over classes that hold those of the population."""
    for rows, asked in ROWS.items():
        held = dict.fromkeys(MACRO, 0)
        for trial in range(trials):
            label, predicted, truth = drawn_classes(rows, trial)
            found = macro_ends(label, predicted)
            if trial < AGREE:
                again = pl.DataFrame({"label": label, "predicted": predicted}).sample(fraction=1, shuffle=True, seed=1)
                irm = again.irm(classes=list(range(CLASSES)))
                agree(found, ends(irm.evaluate(*MACRO, ci=0.95)), "macro averages")
            for name, (low, high) in zip(MACRO, found, strict=True):
                held[name] += int(low <= truth[name] <= high)
        for name, happened in held.items():
            what = f"macro {name}, {CLASSES} classes of {rows} row{'s' * (rows > 1)}"
            yield Line(HOLDS, what, trials, happened, asked)


def macro_ends(label: Any, predicted: Any) -> list[tuple[float, float]]:
    """Return the intervals of macro averages: of as many rows as have the variance of a table with more rows."""
    table = np.bincount(label * CLASSES + predicted, minlength=CLASSES**2).reshape(CLASSES, CLASSES).astype(float)
    size, said = table.sum(axis=1), table.sum(axis=0)
    order = np.lexsort((said, np.diag(table), size))
    more = table + np.eye(CLASSES)
    more[order, np.roll(order, -1)] += 1
    more *= (size / (size + 2))[:, None]
    at = np.flatnonzero(more)
    steps = 0.01 * np.eye(CLASSES**2)[at].reshape(-1, CLASSES, CLASSES) * more
    high, low = (macro_values(more + step) for step in (steps, -steps))
    variance = (((high - low) / 0.02) ** 2 / more.ravel()[at]).sum(axis=1)
    grown = macro_values(more)
    return [*zip(*wilson_interval(macro_values(table), grown * (1 - grown) / variance), strict=True)]


def macro_values(tables: Any) -> Any:
    """Return macro recall, precision, f1 and jaccard of tables, shape (4, tables)."""
    hits, actual, said = np.diagonal(tables, axis1=-2, axis2=-1), tables.sum(axis=-1), tables.sum(axis=-2)
    both = actual + said
    each = hits / actual, hits / np.where(said > 0, said, 1), 2 * hits / both, hits / (both - hits)
    return np.mean(each, axis=-1)


def holding(drawn: Any, value: float, n: float) -> tuple[float, float]:
    """Return the percentiles of draws at the level of n units, with the value between them; NaN if all are alike."""
    low, high = percentile_interval(drawn, expanded_level(0.95, n))
    return (float(np.fmin(low, value)), float(np.fmax(high, value))) if low <= high else (np.nan, np.nan)


def of_rounded(apart: float) -> float:
    """Return the area of normal scores that are rounded to whole numbers."""
    at = np.arange(-12, 25)
    shares = [np.diff(ndtr(np.append(at - 0.5, 24.5) - middle)) for middle in (0.0, apart)]
    below = np.cumsum(shares[0]) - shares[0] / 2
    return float((shares[1] * below).sum())


@cache
def apart_by(area: float) -> float:
    """Return the distance of normal scores that have an area if they are rounded."""
    return float(brentq(lambda x: of_rounded(x) - area, 0, 12))


def normal(rng: Any, m: int, n: int, area: float) -> tuple[Any, Any]:
    """Draw normal scores of relevant and of other rows."""
    return rng.normal(2**0.5 * ndtri(area), 1, m), rng.normal(size=n)


def exponential(rng: Any, m: int, n: int, area: float) -> tuple[Any, Any]:
    """Draw exponential scores."""
    return rng.exponential(area / (1 - area), m), rng.exponential(1, n)


def uneven(rng: Any, m: int, n: int, area: float) -> tuple[Any, Any]:
    """Draw normal scores that vary three times as much where rows are relevant."""
    return rng.normal(10**0.5 * ndtri(area), 3, m), rng.normal(size=n)


def noisy(rng: Any, m: int, n: int, area: float) -> tuple[Any, Any]:
    """Draw normal scores, of which a few relevant rows have those of others."""
    scores, others = normal(rng, m, n, (area - NOISE / 2) / (1 - NOISE))
    return np.where(rng.random(m) < NOISE, rng.normal(size=m), scores), others


def tied(rng: Any, m: int, n: int, area: float) -> tuple[Any, Any]:
    """Draw normal scores that are rounded to whole numbers."""
    return np.round(rng.normal(apart_by(area), 1, m)), np.round(rng.normal(size=n))


SHAPES: dict[str, Callable[..., tuple[Any, Any]]] = {
    "normal scores": normal,
    "exponential scores": exponential,
    "scores of uneven variances": uneven,
    "scores with noise in the labels": noisy,
    "rounded scores": tied,
}


def labelled(scores: tuple[Any, Any]) -> pl.DataFrame:
    """Return scores of relevant and of other rows as a frame."""
    label = np.repeat([1, 0], [len(side) for side in scores])
    return pl.DataFrame({"label": label, "score": np.concatenate(scores)})


def areas_of(scores: tuple[Any, Any]) -> Any:
    """Return the area under the ROC curve with what its interval needs, from the kernels, shape (4, 1)."""
    score = np.concatenate(scores)
    label = np.repeat([1.0, 0.0], [len(side) for side in scores])
    return Areas.of(sorted_levels(np.zeros(len(score), np.int64), score, label, np.ones(len(score)), 1)).stacked


def of_areas(_: pl.DataFrame, trials: int) -> Iterator[Line]:
    """Count the intervals of the area under the ROC curve that hold the true area."""
    for m, n in (*SIDES, SIX):
        for area in AREAS:
            for i, (shape, draw) in enumerate(SHAPES.items()) if (m, n) != SIX else [(0, ("normal scores", normal))]:
                seeds = [[31, m, round(area * 100), i, trial] for trial in range(trials)]
                drawn = [draw(np.random.default_rng(seed), m, n, area) for seed in seeds]
                areas = Areas(*np.concatenate([areas_of(scores) for scores in drawn], axis=1))
                what = f"roc_auc {area}, {m} and {n:,} rows, {shape}"
                for method, name, asked in ((None, what, OF_AREAS), ("delong", f"{what}, delong", None)):
                    low, high = np.clip(areas.area + areas.ends(0.95, method, 1), 0, 1)
                    for at, scores in enumerate(drawn[:AGREE]):
                        frame = labelled(scores).sample(fraction=1, shuffle=True, seed=2).to_pandas()
                        again = frame.irm.evaluate("roc_auc", ci=0.95, method=method)
                        agree([(low[at], high[at])], again[["ci_low", "ci_high"]].to_numpy(), "areas")
                    yield Line(HOLDS, name, trials, int(((low <= area) & (area <= high)).sum()), asked)


def precisions(_: pl.DataFrame, trials: int) -> Iterator[Line]:
    """Count the intervals of average precision with few relevant rows that hold that of the population."""
    for apart in DISTANCES:
        for m, asked in POSITIVES.items():
            at = np.linspace(9, -9, 200_001)
            recall, fallout = ndtr(apart - at), ndtr(-at)
            reached = m * recall + (200 - m) * fallout
            precision = m * recall / np.maximum(reached, 1e-300)
            truth = float((np.diff(recall) * (precision[1:] + precision[:-1]) / 2).sum())
            held = 0
            for trial in range(trials):
                rng = np.random.default_rng([32, m, round(apart), trial])
                scores = rng.normal(apart, 1, m), rng.normal(size=200 - m)
                low, high = precision_ends(scores, trial)
                if trial < AGREE:
                    irm, given = labelled(scores).irm, {"ci": 0.95, "resamples": RESAMPLES, "seed": trial}
                    theirs = np.array(ends(irm.evaluate("average_precision", **given)), np.float64)
                    agree(np.nan_to_num([(low, high)], nan=-1), np.nan_to_num(theirs, nan=-1), "average precision")
                held += int(low <= truth <= high)
            what = f"average_precision {truth:.2f}, {m} of 200 rows relevant"
            yield Line(HOLDS, what, trials, held, asked)


def precision_ends(scores: tuple[Any, Any], seed: int) -> tuple[float, float]:
    """Return the interval of average precision of scores that all differ."""
    good, others = (np.sort(side) for side in scores)
    score, label = np.concatenate([others, good]), np.repeat([0, 1], [len(others), len(good)])
    often = np.concatenate([np.ones((1, len(score))), *draws(Units.without_values(len(score)), RESAMPLES, seed)])
    order = np.argsort(-score)
    often, relevant = often[:, order], label[order]
    hits = often * relevant
    tp, seen = np.cumsum(hits, axis=1), np.maximum(np.cumsum(often, axis=1), 1)
    with np.errstate(invalid="ignore"):
        values = (hits * tp / seen).sum(axis=1) / tp[:, -1]
    value, few = float(values[0]), min(len(good), len(others))
    rows = float(few)
    if 0 < value < 1:
        t = t_quantile(0.975, few - 1) / normal_quantile(0.95)
        rows = value * (1 - value) / np.nanvar(values[1:]) * (few - 1) / few / t**2
    low, high = wilson_interval(value, np.clip(rows, MIN_ROWS, MOST_ROWS * few))
    return float(low), float(high)


def logged(places: float, trial: int) -> pl.DataFrame:
    """Draw lists of three results that a logging policy placed, with its chances and those of another policy."""
    rng = np.random.default_rng([33, round(places * 100), trial])
    good = rng.random((LISTS, 3)) < places
    click = rng.random((LISTS, 3)) < np.where(good, CLICKED, 0.1)
    columns = {
        "query": np.repeat(np.arange(LISTS), 3),
        "rank": np.tile([1, 2, 3], LISTS),
        "label": click.ravel().astype(int),
        "logged": np.where(good, places, 1 - places).ravel(),
        "target": np.where(good, TARGET, 1 - TARGET).ravel(),
    }
    return pl.DataFrame(columns)


def off_policy(_: pl.DataFrame, trials: int) -> Iterator[Line]:
    """Count the intervals of another policy's value that hold it, and the audits that warn of them."""
    truth = float((TARGET * CLICKED + (1 - TARGET) * 0.1).sum())
    for overlap, places in PLACED.items():
        held, warned = dict.fromkeys(("sips", "iips"), 0), 0
        for trial in range(trials):
            log = logged(places, trial)
            found, found_bad = policy_ends(log, trial)
            if trial < AGREE:
                irm = log.irm(propensity="logged", target_propensity="target")
                agree(found, ends(irm.evaluate(*held, ci=0.95, resamples=RESAMPLES, seed=trial)), "off policy")
                agree([found_bad], [irm.audit()["check"].is_in(OVERLAP).any()], "the audit of weights")
            for name, (low, high) in zip(held, found, strict=True):
                held[name] += int(low <= truth <= high)
            warned += int(found_bad)
        asked = None if overlap == "bad" else (0.9, 0.99)
        for name, happened in held.items():
            yield Line(HOLDS, f"{name} of {LISTS} lists, {overlap} overlap", trials, happened, asked)
        wanted = {"good": (0.0, 0.05), "bad": (0.9, 1.0)}.get(overlap)
        yield Line("audit warns of the overlap", f"{LISTS} lists, {overlap} overlap", trials, warned, wanted)


def policy_ends(log: pl.DataFrame, seed: int) -> tuple[list[tuple[float, float]], bool]:
    """Return the intervals of sips and iips, and whether weights are far from 1 or few lists are heavy."""
    weight, click = (log["target"] / log["logged"]).to_numpy().reshape(-1, 3), log["label"].to_numpy().reshape(-1, 3)
    whole = weight.prod(axis=1)
    values = np.array([whole * click.sum(axis=1), (weight * click).sum(axis=1)])
    drawn = resampled(values, RESAMPLES, seed) / LISTS
    found = [holding(one, value.mean(), LISTS) for one, value in zip(drawn, values, strict=True)]
    far = [abs(one.mean() - 1) > 3 * one.std(ddof=1) / LISTS**0.5 for one in (whole, weight.mean(axis=1))]
    return found, bool(any(far) or whole.sum() ** 2 / (whole**2).sum() < 30)


OVERLAP = ("weights of lists far from 1", "weights of results far from 1", "few effective lists")


def calibrated(_: pl.DataFrame, trials: int) -> Iterator[Line]:
    """Count how often the error of calibrated scores is above what is expected of them, and the debiased one is 0."""
    for n in SCORED:
        plain, above, nothing = 0, 0, 0
        for trial in range(trials):
            rng = np.random.default_rng([34, n, trial])
            score = rng.random(n)
            label = (rng.random(n) < score).astype(int)
            value, expected, debiased = calibration(label, score)
            plain += int(value > 0.02)
            above += int(value > expected)
            nothing += int(debiased < 0.02)
        setting = f"calibrated scores of {n:,} rows"
        yield Line("ece above .02", setting, trials, plain, None)
        yield Line("ece above what is expected beside it", setting, trials, above, (0.35, 0.65))
        yield Line("ece(norm=2, debiased=True) below .02", setting, trials, nothing, (0.4, 1.0))


def calibration(label: Any, score: Any) -> tuple[float, float, float]:
    """Return ece, what calibrated scores would have, and the debiased error."""
    found = pl.DataFrame({"label": label, "score": score}).irm.evaluate("ece", "ece(norm=2, debiased=True)")
    return found["value"][0], found["if_calibrated"][0], found["value"][1]


def annotated(n: int, trial: int) -> tuple[Any, Any]:
    """Draw what two annotators say of the documents of queries, of which some have more that is relevant."""
    rng = np.random.default_rng([35, n, trial])
    share = rng.beta(1, 2, n)
    there = rng.random((n, DOCUMENTS)) < share[:, None]
    seen = rng.random((2, n, DOCUMENTS)) < RIGHT
    one, other = np.where(seen, there, ~there).astype(int)
    return one, other


def agreements(_: pl.DataFrame, trials: int) -> Iterator[Line]:
    """Count the intervals of kappa over few queries that hold that of the population."""
    say = RIGHT / 3 + (1 - RIGHT) * 2 / 3  # a third of the documents are relevant
    equal, chance = RIGHT**2 + (1 - RIGHT) ** 2, say**2 + (1 - say) ** 2
    truth = (equal - chance) / (1 - chance)
    for n, asked in QUERIES.items():
        held = 0
        for trial in range(trials):
            one, other = annotated(n, trial)
            low, high = kappa_ends(one, other, trial)
            if trial < AGREE:
                agree([(low, high)], [by_verb(one, other, trial)], "agreement")
            held += int(low <= truth <= high)
        yield Line(HOLDS, f"kappa of {DOCUMENTS} documents of each of {n} queries", trials, held, asked)


def kappa_ends(one: Any, other: Any, seed: int) -> tuple[float, float]:
    """Return the interval of kappa of two annotators, from the counts of each query."""
    n = len(one)
    often = np.concatenate(
        [np.ones((1, n)), *draws(Units.without_values(n), MIN_RESAMPLES_OF_FEW if n < FEW_UNITS else RESAMPLES, seed)]
    )
    counts = np.array([(one == other).sum(axis=1), one.sum(axis=1), other.sum(axis=1)])
    equal, mine, theirs = np.einsum("du,cu->cd", often, counts) / (n * DOCUMENTS)
    chance = mine * theirs + (1 - mine) * (1 - theirs)
    with np.errstate(invalid="ignore"):
        values = np.where(chance < 1, (equal - chance) / (1 - chance), np.nan)
    return holding(values[1:], values[0], n)


def by_verb(one: Any, other: Any, seed: int) -> tuple[float, float]:
    """Return the same interval by the public verb."""
    n = len(one)
    sides = [
        pl.DataFrame(
            {"query": np.repeat(np.arange(n), DOCUMENTS), "doc": np.tile(np.arange(DOCUMENTS), n)}
        ).with_columns(annotator=pl.lit(name), label=pl.Series(side.ravel()))
        for name, side in (("a", one), ("b", other))
    ]
    both = pl.concat(sides)
    run = sides[0].select("query", "doc", score=pl.lit(1.0))
    irm = run.irm(query="query", doc="doc", score="score").judge(both, annotator="annotator", label="label")
    row = irm.agreement(ci=0.95, resamples=RESAMPLES, seed=seed).row(0, named=True)
    return row["kappa_low"], row["kappa_high"]


PARTS = {
    "macro": macro,
    "areas": of_areas,
    "precisions": precisions,
    "off policy": off_policy,
    "calibrated": calibrated,
    "agreement": agreements,
}
