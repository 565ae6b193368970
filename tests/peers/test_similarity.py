"""Measures of two rankings, against plain Python, against scipy, and the nearness to the ideal against ir_measures."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from itertools import permutations
from typing import Any

import ir_measures
import polars as pl
import pytest
from scipy.stats import kendalltau

from frame_metrics import IRM

Ties = Sequence[Sequence[str]]  # a ranking as documents of equal scores
Measure = Callable[[list[str], list[str]], float | None]
P = 0.8


def agreement(one: list[str], other: list[str]) -> list[float]:
    """Share of common documents down to each depth, extrapolated past the end of the shorter list."""
    (short, long), shares = sorted((one, other), key=len), []
    for d in range(1, len(long) + 1):
        met = float(len({*one[:d]} & {*other[:d]}))
        if d > len(short) > 0:
            met += (d - len(short)) * len({*short} & {*long[: len(short)]}) / len(short)
        shares.append(met / d)
    return shares


def rbo(one: list[str], other: list[str]) -> float | None:
    """The sum of W. Webber, A. Moffat and J. Zobel, term by term."""
    shares = agreement(one, other)
    if not shares:
        return None
    seen = sum((1 - P) * P ** (d - 1) * share for d, share in enumerate(shares, 1))
    return seen + P ** len(shares) * shares[-1]


def residual(one: list[str], other: list[str]) -> float | None:
    """The greatest less the least value that more documents of both lists would give."""
    if not one and not other:
        return None
    deep, found = 150, []  # where weights are below 1e-14
    for alike in (True, False):
        mine, theirs = list(one), list(other)
        lacking = [[doc for doc in of if doc not in there] for of, there in ((other, one), (one, other))]
        for side, missing, name in ((mine, lacking[0], "x"), (theirs, lacking[1], "y")):
            side += missing if alike else []
            side += [f"new{'' if alike else name}{i}" for i in range(deep - len(side))]
        met = [len({*mine[:d]} & {*theirs[:d]}) / d for d in range(1, deep + 1)]
        found.append(sum((1 - P) * P ** (d - 1) * share for d, share in enumerate(met, 1)))
    return found[0] - found[1]


def overlap(one: list[str], other: list[str]) -> float | None:
    """Common documents over the longer list."""
    return len({*one} & {*other}) / max(len(one), len(other)) if one or other else None


def jaccard(one: list[str], other: list[str]) -> float | None:
    """Common documents over all."""
    return len({*one} & {*other}) / len({*one} | {*other}) if one or other else None


def places(listed: list[str], every: Sequence[str]) -> list[int]:
    """The place of each document, those that are lacking behind all others."""
    return [listed.index(doc) if doc in listed else len(listed) for doc in every]


def of_all_orders(one: list[str], other: list[str], measure: Callable[[list[str], list[str]], float]) -> float | None:
    """The mean over all orders of the documents that a list lacks, below those that it has."""
    every = sorted({*one} | {*other})
    if not one or not other:
        return 0.0 if every else None
    if len(every) < 2:
        return None
    tails = ([doc for doc in every if doc not in listed] for listed in (one, other))
    orders = [
        [[*listed, *tail] for tail in permutations(rest)] for listed, rest in zip((one, other), tails, strict=True)
    ]
    values = [measure(mine, theirs) for mine in orders[0] for theirs in orders[1]]
    return sum(values) / len(values)


def tau(mine: list[str], theirs: list[str]) -> float:
    """Kendall's tau of two orders of the same documents."""
    pairs = [(a, b) for i, a in enumerate(mine) for b in mine[i + 1 :]]
    return sum(1 if theirs.index(a) < theirs.index(b) else -1 for a, b in pairs) / len(pairs)


def tau_ap(mine: list[str], right: list[str]) -> float:
    """AP correlation of two orders of the same documents."""
    shares = [sum(right.index(above) < right.index(doc) for above in mine[:i]) / i for i, doc in enumerate(mine) if i]
    return 2 * sum(shares) / len(shares) - 1


def by_scipy(one: list[str], other: list[str]) -> float | None:
    """Tau-b of scipy, where documents that are lacking are tied."""
    every = sorted({*one} | {*other})
    if not one or not other:
        return 0.0 if every else None
    value = float(kendalltau(places(one, every), places(other, every)).statistic) if len(every) > 1 else math.nan
    return None if math.isnan(value) else value


MEASURES: dict[str, Measure] = {
    f"rbo(p={P})": rbo,
    f"rbo_residual(p={P})": residual,
    "overlap": overlap,
    "jaccard": jaccard,
    "kendall_tau": lambda one, other: of_all_orders(one, other, tau),
    "kendall_tau(variant='b')": by_scipy,
    "tau_ap": lambda one, other: of_all_orders(one, other, tau_ap),
}


def lists(rng: random.Random) -> list[str]:
    """A ranking of some of a few documents, which may be none."""
    return rng.sample("abcdefg", rng.choice((0, 1, 2, 3, 5, 5)))


def runs(pairs: Sequence[tuple[Ties, Ties]]) -> IRM[pl.DataFrame]:
    """Rankings of a system and of a baseline, a query each; a third system has a document of every query."""
    rows = [
        (query, name, doc, -float(place))
        for query, both in enumerate(pairs)
        for name, ranking in zip(("one", "two", "zero"), (*both, [["z"]]), strict=True)
        for place, tie in enumerate(ranking)
        for doc in tie
    ]
    random.Random(2).shuffle(rows)
    return pl.DataFrame(rows, ["query", "run", "doc", "score"], orient="row").irm(system="run")


def values(irm: IRM[pl.DataFrame], *names: str) -> Iterator[dict[str, float | None]]:
    """The measures of the first system beside the second, query by query."""
    found = irm.similarity(*names, baseline="two", per_query=True).filter(run="one").sort("query")
    for _, rows in found.group_by("query", maintain_order=True):
        yield dict(rows.select("metric", "value").rows())


@pytest.mark.parametrize("k", [None, 1, 2, 4])
def test_measures_are_those_of_plain_python(k: int | None) -> None:
    """Lists of any lengths, with documents that one of them lacks, as they are and cut."""
    rng = random.Random(k)
    pairs = [(lists(rng), lists(rng)) for _ in range(120)]
    names = {name if k is None else f"{name}@{k}": measure for name, measure in MEASURES.items()}
    every = values(runs([tuple([[doc] for doc in side] for side in pair) for pair in pairs]), *names)
    for (one, other), found in zip(pairs, every, strict=True):
        expected = {name: measure(one[:k], other[:k]) for name, measure in names.items()}
        assert found == pytest.approx(expected, abs=1e-12), (one, other)


def all_orders(ranking: Ties) -> list[list[str]]:
    """Every order of the documents, in which equal scores may stand."""
    orders: list[list[str]] = [[]]
    for tie in ranking:
        orders = [[*before, *some] for before in orders for some in permutations(tie)]
    return orders


def in_ties(listed: Sequence[str], rng: random.Random) -> list[list[str]]:
    """A ranking in which some scores are equal."""
    ties: list[list[str]] = []
    for doc in listed:
        if ties and len(ties[-1]) < 3 and rng.random() < 0.5:
            ties[-1].append(doc)
        else:
            ties.append([doc])
    return ties


@pytest.mark.parametrize("pairs_of", [8, pytest.param(60, marks=pytest.mark.slow)])
def test_equal_scores_in_every_order_are_the_mean_over_all_orders(pairs_of: int) -> None:
    """With `ties="expected"` each measure that has a closed form; tau-b is scipy's of ties."""
    rng = random.Random(4)
    pairs = [(in_ties(lists(rng), rng), in_ties(lists(rng), rng)) for _ in range(pairs_of)]
    names = {name: MEASURES[name] for name in MEASURES if "variant" not in name}
    cut = {f"{name}@{k}": (names[name], k) for name in (f"rbo(p={P})", "overlap") for k in (1, 2, 3)}
    every = values(runs(pairs)(ties="expected"), *names, *cut, "kendall_tau(variant='b')")
    for (one, other), found in zip(pairs, every, strict=True):
        for name, (measure, k) in ({name: (measure, None) for name, measure in names.items()} | cut).items():
            each: list[Any] = [measure(a[:k], b[:k]) for a in all_orders(one) for b in all_orders(other)]
            mean = None if None in each else sum(each) / len(each)
            assert found[name] == pytest.approx(mean, abs=1e-12), (name, one, other)
        place = [{doc: i for i, tie in enumerate(side) for doc in tie} for side in (one, other)]
        docs = sorted({*place[0]} | {*place[1]})
        if place[0] and place[1] and len(docs) > 1:
            theirs = kendalltau(*([side.get(doc, len(docs)) for doc in docs] for side in place)).statistic
            assert found["kendall_tau(variant='b')"] == pytest.approx(None if math.isnan(theirs) else theirs, abs=1e-12)


def test_equal_scores_as_corsi_and_urbano_print_them() -> None:
    """The example of their implementation: RBO^a .6922853, residual .5620173."""
    one, other = [["red"], ["blue", "green"], ["yellow"], ["pink"]], [["blue", "red"], ["white"]]
    other += [["yellow", "black", "purple"], ["green"]]
    (found,) = values(runs([(one, other)])(ties="expected"), "rbo(p=0.95)", "rbo_residual(p=0.95)")
    assert [*found.values()] == pytest.approx([0.6922853, 0.5620173], abs=5e-8)


@pytest.mark.parametrize(("digits", "expected"), [(2, 0.3928571), (1, 0.39903)])
def test_ap_correlation_is_that_of_ircor(digits: int, expected: float) -> None:
    """The example of J. Urbano's package: of true scores, and of estimates that may be equal (its tauAP_a)."""
    true = [0.67, 0.45, 0.29, 0.12, 0.57, 0.24, 0.94, 0.75, 0.08, 0.54]
    estimated = [0.48, 0.68, 0.32, 0.09, 0.06, 0.61, 0.87, 0.22, 0.44, 0.84]
    rows = {"query": 1, "run": ["one"] * 10 + ["two"] * 10, "doc": [*range(10)] * 2}
    scores = [*(round(value, digits) for value in estimated), *true]
    irm = pl.DataFrame(rows | {"score": scores}).irm(system="run", ties="expected")
    assert irm.similarity("tau_ap", baseline="two")["value"].to_list() == pytest.approx([expected], abs=5e-7)


@pytest.mark.parametrize("name", ["Compat(p=0.95)", "Compat(p=0.5)", "Compat(p=0.8,normalize=False)"])
def test_compatibility_is_that_of_ir_measures(name: str) -> None:
    """Of rankings with unjudged documents, grades of several levels, and queries with nothing relevant."""
    rng = random.Random(7)
    run = {f"q{q}": {doc: float(9 - i) for i, doc in enumerate(rng.sample("abcdefgh", 6))} for q in range(40)}
    qrels = {q: {doc: rng.randint(0, 3 * (int(q[1:]) > 3)) for doc in rng.sample("abcdefghij", 6)} for q in run}
    theirs = {m.query_id: m.value for m in ir_measures.iter_calc([ir_measures.parse_measure(name)], qrels, run)}
    frames = [
        pl.DataFrame(
            [(q, doc, v) for q, docs in given.items() for doc, v in docs.items()], ["query", "doc", of], orient="row"
        )
        for of, given in (("score", run), ("grade", qrels))
    ]
    ours = dict(frames[0].irm.judge(frames[1]).per_query(name).select("query", "value").rows())
    assert ours == pytest.approx(theirs, abs=1e-12)
