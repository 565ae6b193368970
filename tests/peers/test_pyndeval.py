"""Agreement with ndeval, which TREC's web tracks used, through pyndeval; and outputs of it that are kept."""

from __future__ import annotations

import math
import random
from typing import Any, TypeAlias

import polars as pl
import pytest

from inside import in_pieces

Judgment: TypeAlias = tuple[str, str, str, int]  # query, subtopic, document, grade
Result: TypeAlias = tuple[str, str, float]  # query, document, score

CUT = ("ERR-IA", "nERR-IA", "alpha-DCG", "alpha-nDCG", "P-IA", "strec")
WHOLE = ("NRBP", "nNRBP", "MAP-IA")
MEASURES = (*(f"{name}@{k}" for name in CUT for k in (2, 3, 5, 10, 20)), *WHOLE)
# pyndeval divides the values at rank 1 by 1, and not by the number of subtopics.
AT_1 = ("nERR-IA@1", "alpha-nDCG@1", "P-IA@1", "strec@1")
OPTIONS = {"ERR-IA": "alpha", "nERR-IA": "alpha", "alpha-DCG": "alpha", "alpha-nDCG": "alpha"}
OPTIONS |= {"NRBP": "alpha beta", "nNRBP": "alpha beta"}


def random_case(seed: int) -> tuple[list[Judgment], list[Result], dict[str, Any]]:
    """Queries of few or many subtopics, some not judged and some without results, with equal scores and odd grades."""
    rng = random.Random(seed)
    qrels: list[Judgment] = [("q0", "0", "d0", 2)]
    run: list[Result] = [("q0", "d0", 0.5)]
    for query in range(1, rng.randint(2, 6)):
        docs = [f"d{i}" for i in range(rng.randint(1, 40))]
        often = rng.choice([0.1, 0.3, 0.6])
        judged = [(str(s), doc) for s in range(rng.randint(1, 7)) for doc in docs if rng.random() < often]
        qrels += [(f"q{query}", *pair, rng.choice([-1, 0, 0, 1, 1, 2, 3])) for pair in judged]
        found = rng.sample([*docs, "x0", "x1", "x2"], rng.randint(1, len(docs))) if rng.random() < 0.85 else []
        run += [(f"q{query}", doc, rng.choice([rng.random(), float(rng.randint(0, 4))])) for doc in found]
    alpha, beta = rng.choice([0.5, 0.5, 0.25, 0.3, 0.9, 1.0]), rng.choice([0.5, 0.8, 1.0])
    return qrels, run, {"alpha": alpha, "beta": beta, "rel": rng.choice([1, 1, 2])}


def frames(qrels: list[Judgment], run: list[Result]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The run by rank, where pyndeval puts the lesser document first of equal scores, and the judgments."""
    results = pl.DataFrame(run, schema=["query", "doc", "score"], orient="row").sort(
        "query", "score", "doc", descending=[False, True, False]
    )
    ranked = results.with_columns(rank=pl.int_range(pl.len()).over("query") + 1).drop("score")
    return ranked, pl.DataFrame(qrels, schema=["query", "subtopic", "doc", "grade"], orient="row")


def ours(name: str, options: dict[str, Any]) -> str:
    """A measure of pyndeval with its options, as we read it."""
    stem, _, k = name.partition("@")
    said = ", ".join(f"{one}={options[one]}" for one in ("rel", *OPTIONS.get(stem, "").split()))
    return f"{stem}({said})" + f"@{k}" * bool(k)


@pytest.mark.parametrize("seed", range(40))
def test_values_are_those_of_ndeval(seed: int) -> None:
    """Every measure of every query, 0 for judged queries without results; in pieces too."""
    pyndeval = pytest.importorskip("pyndeval", reason="pyndeval is absent")
    qrels, run, options = random_case(seed)
    asked = (*MEASURES, *AT_1)
    judge = pyndeval.RelevanceEvaluator(
        qrels, asked, relevance_level=options["rel"], alpha=options["alpha"], beta=options["beta"]
    )
    theirs = judge.evaluate([pyndeval.ScoredDoc(*result) for result in run])
    ranked, judgments = frames(qrels, run)
    irm = ranked.irm.judge(judgments.sample(fraction=1, shuffle=True, seed=seed), subtopic="subtopic")
    names = {ours(name, options): name for name in asked}
    found = irm.per_query(*names).select("query", "metric", "value")
    assert found["query"].n_unique() == judgments["query"].n_unique()
    expected = [theirs.get(query, {}).get(names[metric], 0.0) for query, metric, _ in found.iter_rows()]
    wanted = [0.0 if math.isnan(value) else value for value in expected]  # nothing relevant
    assert found["value"].to_list() == pytest.approx(wanted, abs=1e-9)
    pieces = in_pieces(irm).per_query(*names).collect()
    assert pieces["value"].to_list() == pytest.approx(wanted, abs=1e-9)


# What pyndeval 0.0.8 prints of random_case(seed), the mean over the queries that have results.
KEPT: dict[int, dict[str, float]] = {
    6: {
        "ERR-IA@5": 0.208774583964,
        "ERR-IA@20": 0.232868061814,
        "nERR-IA@5": 0.270559632991,
        "nERR-IA@20": 0.296784190558,
        "alpha-DCG@5": 0.231960150898,
        "alpha-DCG@20": 0.284385128722,
        "alpha-nDCG@5": 0.309843589231,
        "alpha-nDCG@20": 0.364630436982,
        "P-IA@5": 0.116666666667,
        "P-IA@20": 0.0638888888889,
        "strec@5": 0.527777777778,
        "strec@20": 0.611111111111,
        "NRBP": 0.193769447231,
        "nNRBP": 0.245929333578,
        "MAP-IA": 0.225937167894,
    },
    9: {
        "ERR-IA@5": 0.426789335645,
        "ERR-IA@20": 0.451871789206,
        "nERR-IA@5": 0.503873902748,
        "nERR-IA@20": 0.536696072465,
        "alpha-DCG@5": 0.483521397986,
        "alpha-DCG@20": 0.54288217058,
        "alpha-nDCG@5": 0.556289720377,
        "alpha-nDCG@20": 0.62817899146,
        "P-IA@5": 0.18,
        "P-IA@20": 0.0833333333333,
        "strec@5": 0.7,
        "strec@20": 0.866666666667,
        "NRBP": 0.577958674908,
        "nNRBP": 0.642702164898,
        "MAP-IA": 0.367933693407,
    },
    17: {
        "ERR-IA@5": 0.327876390854,
        "ERR-IA@20": 0.331130971499,
        "nERR-IA@5": 0.576785645814,
        "nERR-IA@20": 0.597172996884,
        "alpha-DCG@5": 0.299622065671,
        "alpha-DCG@20": 0.314312317707,
        "alpha-nDCG@5": 0.584646945739,
        "alpha-nDCG@20": 0.636924881317,
        "P-IA@5": 0.144444444444,
        "P-IA@20": 0.0569444444444,
        "strec@5": 0.611111111111,
        "strec@20": 0.805555555556,
        "NRBP": 0.343414005183,
        "nNRBP": 0.577576086287,
        "MAP-IA": 0.459298566293,
    },
    34: {
        "ERR-IA@5": 0.382200555839,
        "ERR-IA@20": 0.384296601158,
        "nERR-IA@5": 0.599074302385,
        "nERR-IA@20": 0.619848700764,
        "alpha-DCG@5": 0.347782317629,
        "alpha-DCG@20": 0.363274514644,
        "alpha-nDCG@5": 0.597277212461,
        "alpha-nDCG@20": 0.652904420565,
        "P-IA@5": 0.158857142857,
        "P-IA@20": 0.0597142857143,
        "strec@5": 0.765714285714,
        "strec@20": 1,
        "NRBP": 0.334794991782,
        "nNRBP": 0.630441272606,
        "MAP-IA": 0.451757311472,
    },
}


@pytest.mark.parametrize("seed", KEPT)
def test_values_that_ndeval_printed(seed: int) -> None:
    """They are kept for where it is absent."""
    qrels, run, options = random_case(seed)
    ranked, judgments = frames(qrels, run)
    there = judgments.filter(pl.col("query").is_in(ranked["query"].unique().implode()))
    names = {ours(name, options): name for name in KEPT[seed]}
    found = ranked.irm.judge(there, subtopic="subtopic").evaluate(*names)
    assert dict(zip(KEPT[seed], found["value"], strict=True)) == pytest.approx(KEPT[seed], abs=1e-9)
