"""Figures from the literature, and every metric worked by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log, log2, sqrt
from types import MappingProxyType
from typing import Any, NamedTuple

import polars as pl
import pytest

from frame_metrics import IRM
from frame_metrics.metric import REGISTRY
from frame_metrics.names import read


def results(grades: Sequence[float | None], missed: Sequence[float] = (), **roles: Any) -> IRM[pl.DataFrame]:
    """One query: the grades of its results in rank order (None: not judged), and of what was not retrieved."""
    score = [*range(len(grades), 0, -1), *[None] * len(missed)]
    grade = pl.Series("grade", [*grades, *missed], dtype=pl.Float64)
    frame = pl.DataFrame({"query": ["q"] * len(score), "score": pl.Series(score, dtype=pl.Float64), "grade": grade})
    return IRM(frame, **roles)


def values(irm: IRM[pl.DataFrame], *metrics: str) -> list[float]:
    """The metrics of the one query."""
    found: list[float] = irm.per_query(*metrics)["value"].to_list()
    return found


# Weber, Multimedia Retrieval, ch. 2


@pytest.mark.parametrize("counted", [True, False])
@pytest.mark.parametrize(
    ("retrieved", "right", "printed"),
    [(14, 7, {"precision": 0.5, "recall": 0.35, "f1": 0.41}), (6, 4, {"precision": 0.67, "recall": 0.2, "f1": 0.31})],
    ids=["method A", "method B"],
)
def test_boolean_retrieval(retrieved: int, right: int, printed: dict[str, float], counted: bool) -> None:
    """Two result sets for 20 relevant documents, which may be listed or counted (Weber, ch. 2)."""
    found = [1] * right + [0] * (retrieved - right)
    irm = results(found, [1] * (20 - right))
    if counted:
        irm = IRM(results(found).frame.with_columns(relevant=20), n_relevant="relevant")
    assert values(irm, *printed) == pytest.approx(list(printed.values()), abs=0.005)
    assert values(irm, "set_P", "set_recall", "set_F") == pytest.approx(list(printed.values()), abs=0.005)


FIRST = [1, 0, 0, 1, 1, 0, 0, 1, 0, 0]  # of 5 relevant
SECOND = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1]  # of 2 relevant


@pytest.mark.parametrize(
    ("grades", "missed", "printed"),
    [
        (FIRST, [1], {"precision@10": 0.4, "recall@10": 0.8, "ap": 0.52, "f1@10": 0.533}),
        (SECOND, [], {"precision@10": 0.2, "recall@10": 1.0, "ap": 0.1556, "f1@10": 0.333}),
        ([1, 1, 0], [1, 1, 1], {"precision@3": 0.6667, "recall@3": 0.4}),
        (FIRST, [1], {"precision@1": 1.0, "precision@4": 0.5, "precision@5": 0.6, "precision@8": 0.5}),
    ],
    ids=["first list", "second list", "three of five", "precisions of the first list"],
)
def test_average_precision(grades: list[int], missed: list[int], printed: dict[str, float]) -> None:
    """Ten results in order; the mean of precision and recall does not tell two of the lists apart (Weber, ch. 2)."""
    assert values(results(grades, missed), *printed) == pytest.approx(list(printed.values()), abs=0.0005)


def test_average_precision_of_two_queries() -> None:
    """Mean average precision is the mean of the two lists' average precisions."""
    frames = [results(FIRST, [1]).frame, results(SECOND).frame.with_columns(query=pl.lit("r"))]
    found = IRM(pl.concat(frames)).evaluate("map")
    assert found["value"].item() == pytest.approx(((1 + 2 / 4 + 3 / 5 + 4 / 8) / 5 + (1 / 9 + 2 / 10) / 2) / 2)
    assert found["n"].item() == 2


def test_graded_relevance() -> None:
    """Cumulated gains at every rank of ten graded results; 5 documents have grade 3, 10 have grade 2 (Weber, ch. 2)."""
    irm = results([0, 2, 1, 3, 0, 2, 0, 3, 1, 3], [3] * 2 + [2] * 8)
    ideal = results([3] * 5 + [2] * 10)
    printed = {
        "cg": [0, 2, 3, 6, 6, 8, 8, 11, 12, 15],
        "ncg(max_grade=3)": [0.0, 0.33, 0.33, 0.5, 0.4, 0.44, 0.38, 0.46, 0.44, 0.5],
        "dcg": [0.0, 1.26, 1.76, 3.05, 3.05, 3.77, 3.77, 4.71, 5.01, 5.88],
        "ndcg": [0.0, 0.26, 0.28, 0.4, 0.35, 0.39, 0.37, 0.43, 0.44, 0.49],
    }
    ranks = "@1,2,3,4,5,6,7,8,9,10"
    for name, figures in printed.items():
        assert values(irm, name + ranks) == pytest.approx(figures, abs=0.006)
    idcg = [3.0, 4.89, 6.39, 7.68, 8.85, 9.56, 10.22, 10.86, 11.46, 12.04]
    assert values(ideal, "dcg" + ranks) == pytest.approx(idcg, abs=0.006)
    assert values(irm, "precision@10") == [0.7]


# Papers


def test_cumulated_gain_of_jarvelin_and_kekalainen() -> None:
    """The running example of Jarvelin and Kekalainen (ACM TOIS 20(4), 2002): no discount before rank b = 2."""
    irm = results([3, 2, 3, 0, 0, 1, 2, 2, 3, 0], [1, 1, 1])
    printed = {
        "cg": [3, 5, 8, 8, 8, 9, 11, 13, 16, 16],
        "dcg(discount='jk')": [3, 5, 6.89, 6.89, 6.89, 7.28, 7.99, 8.66, 9.61, 9.61],
        "ndcg(discount='jk')": [1, 0.83, 0.87, 0.78, 0.71, 0.69, 0.73, 0.77, 0.83, 0.81],
    }
    for name, figures in printed.items():
        assert values(irm, name + "@1,2,3,4,5,6,7,8,9,10") == pytest.approx(figures, abs=0.0051)


def test_rank_biased_precision_of_moffat_and_zobel() -> None:
    """The worked example of Moffat and Zobel (ACM TOIS 27(1), 2008), with three persistences."""
    irm = results([1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0])
    assert values(irm, "rbp(p=0.5)", "rbp(p=0.8)", "rbp(p=0.95)") == pytest.approx([0.7661, 0.4526, 0.1881], abs=5.1e-5)


def test_the_residual_is_what_rank_biased_precision_could_still_gain() -> None:
    """The residual is rbp with everything unknown relevant, less rbp (Moffat and Zobel, 2008)."""
    least, rest = values(results([1, None, 0, None, 1]), "rbp(p=0.7)", "rbp_residual(p=0.7)")
    endless = [1, 1, 0, 1, 1] + [1] * 200
    assert least + rest == pytest.approx(values(results(endless), "rbp(p=0.7)")[0], abs=1e-12)


# By hand


class Worked(NamedTuple):
    """A ranking and the values of metrics on it."""

    grades: list[float | None]
    missed: list[float]
    values: dict[str, float]
    roles: Mapping[str, Any] = MappingProxyType({})


# Of two documents of gain 1 the second is missed; the one of gain 2 is at rank 2.
DOWN, BEST = 2 / log2(3) + 1 / log2(4), 2 + 1 / log2(3) + 1 / log2(4)
TP, FP, FN, TN = 3, 1, 2, 4
F1, INVERSE_F1 = 2 * 3 / (2 * 3 + 1 + 2), 2 * 4 / (2 * 4 + 1 + 2)
G, INVERSE_G = sqrt(3 / 4 * 3 / 5), sqrt(4 / 6 * 4 / 5)
E = 0.00001

WORKED = (
    Worked(
        FIRST,
        [1],
        {
            "ap": (1 + 2 / 4 + 3 / 5 + 4 / 8) / 5,
            "ap@4": (1 + 2 / 4) / 5,
            "ap(norm='min(k, R)')@4": (1 + 2 / 4) / 4,
            "rr": 1 / 1,
            "rprec": 3 / 5,
            "rprec_mult(multiple=0.4)": 1 / 2,
            "rprec_mult(multiple=0.45)": 1 / 3,  # 2.25 places are 3
            "rprec_mult(multiple=2)": 4 / 10,
            "precision_at_recall@0.5": 3 / 5,  # the third of five is at rank 5
            "precision_at_recall(recall=0)": 1 / 1,
            "precision_at_recall@1": 0,  # the fifth was not retrieved
            "iprec@0.25": max(2 / 4, 3 / 5, 4 / 8),  # from the second of five on, as 1.25 are 2
            "iprec@0.4": max(2 / 4, 3 / 5, 4 / 8),
            "iprec@0.8": 4 / 8,
            "iprec@1": 0,
            "iprec_avg": (3 * 1 + 2 * 3 / 5 + 2 * 3 / 5 + 2 * 4 / 8 + 2 * 0) / 11,
            "success": 1,
            "success@1": 1,
            "rbp(p=0.5)": (1 - 0.5) * (0.5**0 + 0.5**3 + 0.5**4 + 0.5**7),
            "rbp(p=0.5)@4": (1 - 0.5) * (0.5**0 + 0.5**3),
            "rbp": (1 - 0.8) * (0.8**0 + 0.8**3 + 0.8**4 + 0.8**7),
            "rbp_residual(p=0.5)": 0.5**10,  # all is judged; what may follow is not known
            "efficiency": 1 - sqrt((1 - 4 / 8) ** 2 + (1 - 4 / 5) ** 2) / sqrt(2),
            "efficiency@5": 1 - sqrt((1 - 3 / 5) ** 2 + (1 - 3 / 5) ** 2) / sqrt(2),
            "num_q": 1,
            "num_ret": 10,
            "num_ret@4": 4,
            "num_rel": 5,
            "num_rel_ret": 4,
            "num_rel_ret@4": 2,
            "num_nonrel_judged_ret": 6,
            "num_nonrel_judged_ret@3": 2,
        },
    ),
    Worked(
        [0, 0, 1],
        [],
        {"rr": 1 / 3, "rr@2": 0, "success@2": 0, "success@3": 1, "ap": 1 / 3, "rprec": 0, "efficiency@2": 0},
    ),
    Worked(
        [3, 2, 3, 0, 1, 2],
        [3],
        {
            "cg": 3 + 2 + 3 + 0 + 1 + 2,
            "cg@3": 3 + 2 + 3,
            "cg(gain='exp')@2": (2**3 - 1) + (2**2 - 1),
            "cg(gain={1: 1, 2: 5, 3: 10})": 10 + 5 + 10 + 0 + 1 + 5,
            "ncg(max_grade=4)@3": (3 + 2 + 3) / (3 * 4),
            "ncg(max_grade=4)@10": (3 + 2 + 3 + 0 + 1 + 2) / (10 * 4),
            "ncg(max_grade=4)": (3 + 2 + 3 + 0 + 1 + 2) / (6 * 4),
            "ncg(max_grade=4, gain='exp')@2": (7 + 3) / (2 * 15),
            "dcg": 3 / log2(2) + 2 / log2(3) + 3 / log2(4) + 1 / log2(6) + 2 / log2(7),
            "dcg@2": 3 / log2(2) + 2 / log2(3),
            "dcg(base=10)@2": 3 / log(2, 10) + 2 / log(3, 10),
            "dcg(gain='exp')@3": 7 / log2(2) + 3 / log2(3) + 7 / log2(4),
            "dcg(gain={1: 1, 2: 5, 3: 10})@2": 10 / log2(2) + 5 / log2(3),
            "dcg(discount='jk')": 3 + 2 + 3 / log2(3) + 1 / log2(5) + 2 / log2(6),
            "dcg(discount='jk', base=3)": 3 + 2 + 3 + 1 / log(5, 3) + 2 / log(6, 3),
            "ndcg@2": (3 + 2 / log2(3)) / (3 + 3 / log2(3)),
            "ndcg": (3 + 2 / log2(3) + 3 / log2(4) + 1 / log2(6) + 2 / log2(7))
            / (3 + 3 / log2(3) + 3 / log2(4) + 2 / log2(5) + 2 / log2(6) + 1 / log2(7)),
            "ndcg(gain='exp')@2": (7 + 3 / log2(3)) / (7 + 7 / log2(3)),
            "ndcg(gain={1: 1, 2: 5, 3: 10})@2": (10 + 5 / log2(3)) / (10 + 10 / log2(3)),
            "ndcg(discount='jk')@3": (3 + 2 + 3 / log2(3)) / (3 + 3 + 3 / log2(3)),
            "rbp(p=0.5, gain='linear', max_grade=4)@3": (1 - 0.5) * (3 / 4 + 0.5 * 2 / 4 + 0.25 * 3 / 4),
            "rbp(p=0.5, gain='exp', max_grade=4)@3": (1 - 0.5) * (7 / 15 + 0.5 * 3 / 15 + 0.25 * 7 / 15),
            "rbp(p=0.5, rel=3)": (1 - 0.5) * (0.5**0 + 0.5**2),
            "precision(rel=2)@4": 3 / 4,
            "recall(rel=3)": 2 / 3,
            # A reader is satisfied by (2^g - 1) / 2^4 of documents.
            "err(max_grade=4)@2": 7 / 16 + 1 / 2 * 3 / 16 * (1 - 7 / 16),
            "err(max_grade=3)": 7 / 8
            + 1 / 2 * 3 / 8 * (1 / 8)
            + 1 / 3 * 7 / 8 * (1 / 8 * 5 / 8)
            + 1 / 5 * 1 / 8 * (1 / 8 * 5 / 8 * 1 / 8)
            + 1 / 6 * 3 / 8 * (1 / 8 * 5 / 8 * 1 / 8 * 7 / 8),
        },
    ),
    Worked(
        [0, 2, 1, 0],
        [1],
        {
            "ndcg_rel": ((2 / log2(3)) / (2 + 1 / log2(3)) + DOWN / BEST + DOWN / BEST) / 3,
            "rndcg": (0 / 2 + DOWN / BEST) / 2,  # at the cutoffs 1 and 3
            "g_trec": (2 / log2(2 + 3 - 2) + 1 / log2(2 + 4 - 3)) / 4,
            "bin_g": (1 / log2(2 + 1) + 1 / log2(2 + 1)) / 3,
        },
    ),
    Worked([0, 2, 1, 0, 0], [1], {"rndcg": (0 / 2 + DOWN / BEST + DOWN / BEST) / 3}),
    Worked(
        [1, 0, None, 1, 0, 0, 1],
        [1, 0],
        {
            "bpref": (1 + (1 - 1 / 4) + (1 - 3 / 4)) / 4,
            "judged": 6 / 7,
            "judged@3": 2 / 3,
            "judged@10": 6 / 7,
            "rbp_residual(p=0.5)": (1 - 0.5) * 0.5**2 + 0.5**7,
            "rbp_residual(p=0.5)@2": 0.5**2,
            "infap": (
                1
                + (1 / 4 + 2 / 4 * (1 + E) / (1 + 1 + 2 * E))  # above rank 4: two in the pool, one of each kind
                + (1 / 7 + 5 / 7 * (2 + E) / (2 + 3 + 2 * E))
            )
            / 4,
            "num_nonrel_judged_ret": 3,
        },
    ),
    Worked(  # a negative grade: in the pool, and not judged
        [-1, 0, 1],
        [],
        {
            "infap": 1 / 3 + 2 / 3 * E / (1 + 2 * E),
            "bpref": 1 - 1 / 1,
            "num_nonrel_judged_ret": 1,
            "cg": 1,
            "judged": 3 / 3,
        },
    ),
    Worked(
        [1, 0, 1, 1],
        [1, 1],
        {
            "tp": TP,
            "fp": FP,
            "fn": FN,
            "tn": TN,
            "accuracy": 7 / 10,
            "error_rate": 3 / 10,
            "precision": 3 / 4,
            "recall": 3 / 5,
            "specificity": 4 / 5,
            "npv": 4 / 6,
            "fallout": 1 / 5,
            "miss_rate": 2 / 5,
            "fdr": 1 / 4,
            "fomr": 2 / 6,
            "prevalence": 5 / 10,
            "bias": 4 / 10,
            "fbeta(beta=2)": (1 + 4) * (3 / 4 * 3 / 5) / (4 * 3 / 4 + 3 / 5),
            "fbeta(beta=0)": 3 / 4,
            "fbeta(beta=inf)": 3 / 5,
            "set_F.4": (1 + 4) * (3 / 4 * 3 / 5) / (4 * 3 / 4 + 3 / 5),
            "f1": 2 / (1 / (3 / 4) + 1 / (3 / 5)),
            "inverse_f1": 2 / (1 / (4 / 6) + 1 / (4 / 5)),
            "avg_f": 1 / (4 / 10 / F1 + 6 / 10 / INVERSE_F1),
            "g_measure": G,
            "inverse_g": INVERSE_G,
            "avg_g": G ** (4 / 10) * INVERSE_G ** (6 / 10),
            "jaccard": 3 / 6,
            "informedness": 3 / 5 - 1 / 5,
            "markedness": 3 / 4 + 4 / 6 - 1,
            "mcc": (3 * 4 - 1 * 2) / sqrt((3 + 1) * (3 + 2) * (4 + 1) * (4 + 2)),
            "kappa": (7 / 10 - (4 / 10 * 5 / 10 + 6 / 10 * 5 / 10)) / (1 - (4 / 10 * 5 / 10 + 6 / 10 * 5 / 10)),
            "balanced_accuracy": (3 / 5 + 4 / 5) / 2,
            "lr_positive": (3 / 5) / (1 / 5),
            "lr_negative": (2 / 5) / (4 / 5),
            "odds_ratio": (3 / 1) / (2 / 4),
            # Each class wins and loses at the odds of its prevalence, weighted by how often it is decided for.
            "payoff": 4 / 10 * (3 / 10 / (5 / 10) - 1 / 10 / (5 / 10))
            + 6 / 10 * (4 / 10 / (5 / 10) - 2 / 10 / (5 / 10)),
            "payoff(tp=2, fp=-1)": (2 * 3 - 1 * 1) / 10,
            "utility": 3 - 1,
            "utility(tp=1, fp=-2, fn=-1, tn=0.5)": 1 * 3 - 2 * 1 - 1 * 2 + 0.5 * 4,
            "utility.1,-2,-1,0.5": 1 * 3 - 2 * 1 - 1 * 2 + 0.5 * 4,
            "relative_precision": 3 / 4,
            "relative_precision@10": 3 / 5,
            "set_ap": 3 / 4 * 3 / 5,
            # At a cutoff; the places past the fourth are empty.
            "tp@2": 1,
            "fp@2": 1,
            "fn@2": 4,
            "tn@2": 4,
            "precision@2": 1 / 2,
            "precision@8": 3 / 8,
            "recall@2": 1 / 5,
            "fallout@2": 1 / 5,
            "fp@8": 1,
            "tn@8": 4,
            "fdr@8": 5 / 8,
            "f1@8": 2 / (1 / (3 / 8) + 1 / (3 / 5)),
            "fbeta(beta=2)@8": (1 + 4) * (3 / 8 * 3 / 5) / (4 * 3 / 8 + 3 / 5),
            "g_measure@8": sqrt(3 / 8 * 3 / 5),
        },
        {"collection_size": 10},
    ),
)


@pytest.mark.parametrize(
    ("worked", "name"),
    [pytest.param(worked, name, id=f"{i}-{name}") for i, worked in enumerate(WORKED) for name in worked.values],
)
def test_metrics_worked_by_hand(worked: Worked, name: str) -> None:
    """A metric has the value that its definition gives on paper."""
    irm = results(worked.grades, worked.missed, **worked.roles)
    assert values(irm, name) == pytest.approx([worked.values[name]], abs=1e-12)


def test_every_metric_is_worked_by_hand() -> None:
    """No metric is in the registry without a value worked by hand."""
    assert {metric.name for worked in WORKED for _, metric in read(list(worked.values))} == set(REGISTRY)


# Equal scores


@pytest.mark.parametrize(
    ("docs", "grades", "first"),
    [
        (["a", "b", "c"], [1, 0, 0], 1 / 3),
        (["a", "b", "c"], [0, 0, 1], 1 / 1),
        (["b", "c", "a"], [1, 0, 0], 1 / 2),
        (["9", "10", "100"], [1, 0, 0], 1 / 1),
        ([9, 10, 100], [0, 1, 0], 1 / 3),
        (["Z", "a", "ä"], [0, 0, 1], 1 / 1),
    ],
)
def test_equal_scores_are_ordered_by_document_from_the_last(docs: list[str], grades: list[int], first: float) -> None:
    """Documents of equal score stand in falling order of their ids as text, in any order of rows."""
    frame = pl.DataFrame({"query": ["q"] * 3, "doc": docs, "score": [1.0] * 3, "grade": grades})
    for rows in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):
        assert values(IRM(frame[rows], doc="doc"), "rr") == [first]


def test_equal_scores_bound_a_metric() -> None:
    """Of three tied documents with one relevant, the reciprocal rank is between 1/3 and 1."""
    frame = pl.DataFrame({"query": ["q"] * 3, "score": [1.0] * 3, "grade": [0, 1, 0]})
    found = [values(IRM(frame, ties=ties), "rr")[0] for ties in ("worst", "order", "best")]
    assert found == [1 / 3, 1 / 2, 1 / 1]
