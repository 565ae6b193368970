"""Figures from the literature, and every metric worked by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import hypot, inf, log, log2, sqrt
from types import MappingProxyType
from typing import Any, NamedTuple

import polars as pl
import pytest

from frame_metrics import IRM, BadValueError
from inside import CLASS_KERNELS, REGISTRY, read


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


def table(tp: float, fp: float, fn: float, tn: float) -> IRM[pl.DataFrame]:
    """Rows of a prediction, as many of each kind as the 2x2 table counts."""
    cells = {"label": [1, 0, 1, 0], "predicted": [1, 1, 0, 0], "count": [float(n) for n in (tp, fp, fn, tn)]}
    return IRM(pl.DataFrame(cells), predicted="predicted", weight="count")


def pooled(irm: IRM[pl.DataFrame], *metrics: str) -> list[float | None]:
    """The metrics of all rows together."""
    found: list[float | None] = irm.evaluate(*metrics)["value"].to_list()
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


def test_users_of_cwl_eval() -> None:
    """Figures of cwl_eval 1.0.12: gains 1 0 1 1 0 and nothing below, down to rank 1000."""
    asked = ("INST(T=2, max_rel=1)", "INSQ(T=2, max_rel=1)", "U-measure(L=1000, max_grade=1)", "TBG(max_grade=1)")
    found = values(results([1, 0, 1, 1, 0]), *asked)
    assert found == pytest.approx([0.5363731, 0.3913564, 0.0059840, 0.0096588], abs=5.1e-8)


def test_no_gain_is_above_that_of_the_highest_grade() -> None:
    """A user who finds more than all that is wanted is none of the model's."""
    irm = results([2, 3])
    for name in ("inst", "insq", "nerr8"):
        with pytest.raises(BadValueError, match=r"^a gain is 7, more than that of max_grade, 1$"):
            irm.evaluate(f"{name}(gain={{2: 7, 3: 1}}, max_grade=3)")


def test_the_residual_is_what_rank_biased_precision_could_still_gain() -> None:
    """The residual is rbp with everything unknown relevant, less rbp (Moffat and Zobel, 2008)."""
    least, rest = values(results([1, None, 0, None, 1]), "rbp(p=0.7)", "rbp_residual(p=0.7)")
    endless = [1, 1, 0, 1, 1] + [1] * 200
    assert least + rest == pytest.approx(values(results(endless), "rbp(p=0.7)")[0], abs=1e-12)


# Decisions and scores


@pytest.mark.parametrize(
    ("cells", "printed"),
    [
        ((25, 3, 100, 99), (54.6, 45.4, 89.3, 20.0, 32.7, 2.9)),
        ((25, 3, 100, 990), (90.8, 9.2, 89.3, 20.0, 32.7, 0.3)),
        ((25, 3, 100, 9900), (99.0, 1.0, 89.3, 20.0, 32.7, 0.0)),
        ((25, 3, 100, 99000), (99.9, 0.1, 89.3, 20.0, 32.7, 0.0)),
        ((100, 25, 3, 99), (87.7, 12.3, 80.0, 97.1, 87.7, 20.2)),
        ((100, 25, 3, 990), (97.5, 2.5, 80.0, 97.1, 87.7, 2.5)),
        ((100, 25, 3, 9900), (99.7, 0.3, 80.0, 97.1, 87.7, 0.3)),
        ((100, 25, 3, 99000), (100.0, 0.0, 80.0, 97.1, 87.7, 0.0)),
        ((34, 1, 115, 99850), (99.9, 0.1, 97.1, 22.8, 37.0, 0.0)),
        ((100, 100, 100, 99700), (99.8, 0.2, 50.0, 50.0, 50.0, 0.1)),
        ((75, 150, 75, 99700), (99.8, 0.2, 33.3, 50.0, 40.0, 0.2)),
        ((125, 5, 245, 99625), (99.8, 0.3, 96.2, 33.8, 50.0, 0.0)),
        ((195, 275, 5, 99525), (99.7, 0.3, 41.5, 97.5, 58.2, 0.3)),
    ],
)
def test_accuracy_says_little_where_little_is_relevant(
    cells: tuple[int, int, int, int], printed: tuple[float, ...]
) -> None:
    """Thirteen made-up systems, printed in percent: accuracy nears 100 while recall stays at 20 (lecture notes)."""
    asked = ("accuracy", "error_rate", "precision", "recall", "f1", "fallout")
    assert pooled(table(*cells), *asked) == pytest.approx([p / 100 for p in printed], abs=0.0006)
    tp, fp, fn, _ = cells
    retrieved = results([1] * tp + [0] * fp, [1] * fn, collection_size=sum(cells))
    assert values(retrieved, *asked) == pytest.approx([p / 100 for p in printed], abs=0.0006)


BOOKMAKER = {
    "guessing": (56, 24, 14, 6),
    "perfect": (70, 0, 0, 30),
    "informed": (58.1, 20.4, 11.9, 9.6),
    "misinformed": (47.6, 24.9, 22.4, 5.1),
}


@pytest.mark.parametrize(
    ("model", "rates", "means"),
    [
        ("guessing", (80, 20, 70, 30, 62, 0), (74.67, 24.0, 52.5, 74.83, 24.49, 59.85)),
        ("perfect", (100, 100, 100, 100, 100, 100), (100, 100, 100, 100, 100, 100)),
        ("informed", (83, 32, 74, 45, 68, 15), (78.25, 37.28, 63.3, 78.38, 37.8, 67.0)),
        ("misinformed", (68, 17, 66, 19, 53, -15), (66.81, 17.74, 37.94, 66.82, 17.76, 46.41)),
    ],
)
def test_models_against_the_bookmaker(model: str, rates: Sequence[float], means: Sequence[float]) -> None:
    """Four models of a decision, in percent (Powers, Recall & Precision versus The Bookmaker, figure 1)."""
    irm = table(*BOOKMAKER[model])
    of_rates = ("recall", "inverse_recall", "precision", "inverse_precision", "accuracy", "informedness")
    assert pooled(irm, *of_rates) == pytest.approx([r / 100 for r in rates], abs=0.006)
    of_means = ("f1", "inverse_f1", "avg_f", "g_measure", "inverse_g", "avg_g")
    assert pooled(irm, *of_means) == pytest.approx([m / 100 for m in means], abs=0.00006)


@pytest.mark.parametrize(
    ("model", "cells", "won", "total"),
    [
        ("guessing", (8.0, -8.0, -2.0, 2.0), (0.0, 0.0), 0.0),
        ("perfect", (10.0, 0.0, 0.0, 10.0), (7.0, 3.0), 10.0),
        ("informed", (8.3, -6.8, -1.7, 3.2), (1.18, 0.32), 1.5),
        ("misinformed", (6.8, -8.3, -3.2, 1.7), (-1.09, -0.41), -1.5),
    ],
)
def test_what_the_bookmaker_pays(model: str, cells: Sequence[float], won: tuple[float, float], total: float) -> None:
    """Odds of 7 to 3, ten staked: each cell, each prediction by its share, and all (Powers, as above).

    The second pair of the last model is not printed; it is -1.5 by the shares predicted so, 72.5 and 27.5 %.
    """
    irm = table(*BOOKMAKER[model])
    yes, no = 10 / 0.7, 10 / 0.3
    cell = (f"payoff(tp={yes})", f"payoff(fp={-no})", f"payoff(fn={-yes})", f"payoff(tn={no})")
    assert pooled(irm, *cell) == pytest.approx(list(cells), abs=0.006)
    of_yes, of_no, bias = pooled(irm, f"payoff(tp={yes}, fp={-no})", f"payoff(fn={-yes}, tn={no})", "bias")
    assert of_yes is not None
    assert of_no is not None
    assert bias is not None
    assert (of_yes * bias, of_no * (1 - bias)) == pytest.approx(won, abs=0.006)
    assert [10 * value for value in pooled(irm, "payoff") if value is not None] == pytest.approx([total], abs=0.006)


# Printed in percent: recall, precision, F, G and B of twelve classes (Powers, as above: 170 decided rows of 500). Then
# the counts that give them: rows that are right, rows of the class, rows predicted so.
TWELVE = {
    "A": (100, 35, 52, 60, 100, 17, 17, 48),
    "B": (3, 100, 5, 16, -24, 1, 37, 1),
    "E": (33, 100, 50, 58, 32, 1, 3, 1),
    "G": (7, 33, 11, 15, -2, 1, 15, 3),
    "H": (13, 25, 17, 18, 5, 2, 15, 8),
    "I": (10, 100, 18, 32, 4, 1, 10, 1),
    "K": (33, 25, 29, 29, 32, 1, 3, 4),
    "M": (100, 33, 50, 58, 100, 21, 21, 63),
    "N": (100, 24, 39, 49, 100, 8, 8, 33),
    "O": (8, 25, 13, 14, 1, 1, 12, 4),
    "P": (13, 100, 22, 35, -2, 3, 24, 3),
    "Z": (20, 100, 33, 45, 18, 1, 5, 1),
}


def of_twelve() -> pl.DataFrame:
    """Rows with these counts: those that are right, and the others, none of which is said to be what it is."""
    counts = {name: figures[5:] for name, figures in TWELVE.items()}
    right = [name for name, (hits, _, _) in counts.items() for _ in range(hits)]
    labels = [name for name, (hits, rows, _) in counts.items() for _ in range(rows - hits)]
    said = [name for name, (hits, _, called) in counts.items() for _ in range(called - hits)]
    turned = (said[i:] + said[:i] for i in range(len(said)))
    wrong = next(one for one in turned if all(a != b for a, b in zip(labels, one, strict=True)))
    return pl.DataFrame({"label": right + labels, "predicted": right + wrong})


def test_twelve_classes_against_the_bookmaker() -> None:
    """All 48 of r, p, F and G are as printed; B, and its two totals, are printed by a rule that is not his formula."""
    rows = of_twelve()
    asked = ("recall", "precision", "f1", "g_measure", "prevalence", "bias")
    each = {name: values for name, *values in rows.irm.per_class(*asked, layout="wide").select("class", *asked).rows()}
    total = 0.0
    for name, (r, p, f, g, b, *_) in TWELVE.items():
        *found, prevalence, bias = each[name]
        assert [100 * value for value in found] == pytest.approx([r, p, f, g], abs=0.5 + 1e-9)
        by_the_other_rule = (found[0] - prevalence) / (1 - prevalence)
        assert 100 * by_the_other_rule == pytest.approx(b, abs=0.5)
        total += bias * by_the_other_rule
    assert (len(rows), 100 * total, 34 * total) == pytest.approx((170, 86, 29), abs=0.5)
    assert pooled(rows.irm, "informedness", "accuracy") == pytest.approx([0.676, 0.34], abs=0.002)
    undecided = pl.DataFrame({"label": ["A"] * 330, "predicted": [None] * 330}, schema=rows.schema)
    assert pooled(pl.concat([rows, undecided]).irm, "informedness") == pytest.approx([0.23], abs=0.0005)


def test_decisions_that_do_not_depend_on_the_truth() -> None:
    """Where every cell is what the shares alone give, nothing is informed (Powers, as above, contingency)."""
    asked = ("informedness", "markedness", "mcc", "kappa", "payoff")
    assert pooled(table(42, 18, 28, 12), *asked) == pytest.approx([0] * 5, abs=1e-12)


def test_always_saying_yes() -> None:
    """Nine of ten are right and nothing is known; what is said of the negatives is undefined (Powers, as above)."""
    asked = ("recall", "precision", "prevalence", "bias", "informedness", "inverse_precision", "avg_f", "avg_g")
    of_yes = 2 * 0.9 / 1.9  # the negatives, never predicted, leave both means
    expected = [1.0, 0.9, 0.9, 1.0, 0.0, None, of_yes, sqrt(0.9)]
    found = pooled(table(90, 10, 0, 0), *asked)
    assert found[5] is None
    assert [v for v in found if v is not None] == pytest.approx([v for v in expected if v is not None])


@pytest.mark.parametrize(
    ("cells", "printed"),
    [
        ((20, 180, 10, 1820), {"ppv": 0.10, "npv": 0.99, "tpr": 0.67, "tnr": 0.91, "accuracy": 0.91}),
        ((20, 180, 10, 1820), {"prevalence": 0.0148}),
        ((0, 0, 30, 2000), {"accuracy": 0.985, "recall": 0.0}),
        ((595, 4965, 105, 94335), {"ppv": 0.11, "npv": 0.999, "tpr": 0.85, "tnr": 0.95, "accuracy": 0.95}),
        ((595, 4965, 105, 94335), {"prevalence": 0.007}),
        ((95, 30, 5, 70), {"tpr": 0.95, "fpr": 0.3, "ppv": 0.76, "npv": 0.93, "accuracy": 0.83}),
        ((40, 80, 60, 20), {"tpr": 0.4, "fpr": 0.8, "ppv": 0.33, "npv": 0.25, "accuracy": 0.3}),
        ((90, 70, 10, 30), {"tpr": 0.9, "fpr": 0.7, "ppv": 0.56, "npv": 0.75, "accuracy": 0.6}),
        ((60, 5, 40, 95), {"tpr": 0.6, "fpr": 0.05, "ppv": 0.92, "npv": 0.7, "accuracy": 0.78}),
        ((60, 20, 40, 80), {"tpr": 0.6, "fpr": 0.2}),
    ],
    ids=["cancer", "cancer, shares", "never", "virus", "virus, shares", "A", "B", "C", "D", "B turned round"],
)
def test_tests_for_rare_things(cells: tuple[int, int, int, int], printed: dict[str, float]) -> None:
    """A test for cancer, one for a virus, and points of the ROC plane (Weber, Multimedia Retrieval)."""
    tolerance = 0.00006 if list(printed) == ["prevalence"] else 0.006
    assert pooled(table(*cells), *printed) == pytest.approx(list(printed.values()), abs=tolerance)


PEOPLE = ["woman", "man", "child"]
CALLED_SO = {"woman": [13, 4, 2], "man": [2, 15, 1], "child": [5, 1, 57]}  # by true class


def test_three_classes() -> None:
    """Women, men and children told apart, by their table and class by class (Weber, Multimedia Retrieval)."""
    cells = [(said, true, n) for said, row in CALLED_SO.items() for true, n in zip(PEOPLE, row, strict=True)]
    rows = [(said, true) for said, true, n in cells for _ in range(n)]
    frame = pl.DataFrame(rows, schema=["predicted", "label"], orient="row")
    irm = IRM(frame, predicted="predicted", classes=PEOPLE)
    assert irm.confusion().rows() == cells
    assert pooled(irm, "accuracy", "error_rate") == pytest.approx([0.85, 0.15], abs=1e-12)
    printed = {
        "woman": {"tp": 13, "fp": 6, "fn": 7, "tn": 74, "ppv": 0.68, "npv": 0.91, "tpr": 0.65, "tnr": 0.93},
        "child": {"tp": 57, "fp": 6, "fn": 3, "tn": 34, "ppv": 0.9, "npv": 0.92, "tpr": 0.95, "tnr": 0.85},
    }
    accuracy = {"woman": 0.87, "child": 0.91}
    for name, figures in printed.items():
        asked = {**figures, "accuracy": accuracy[name]}
        each = irm.per_class(*asked).filter(pl.col("class") == name)
        assert each["metric"].to_list() == list(asked)
        assert each["value"].to_list() == pytest.approx(list(asked.values()), abs=0.006)
    assert irm.per_class("recall")["class"].to_list() == PEOPLE


FAWCETT = pl.DataFrame(
    {
        "label": [letter == "P" for letter in "PPNPPPNNPNPNPNNNPNPN"],
        "score": [
            *(0.9, 0.8, 0.7, 0.6, 0.55, 0.54, 0.53, 0.52, 0.51, 0.5),
            *(0.4, 0.39, 0.38, 0.37, 0.36, 0.35, 0.34, 0.33, 0.3, 0.1),
        ],
    }
)


def test_every_threshold_of_twenty_items() -> None:
    """Counts and accuracy at each of twenty scores (Fawcett, An introduction to ROC analysis, as printed by Weber)."""
    tp = [0, 1, 2, 2, 3, 4, 5, 5, 5, 6, 6, 7, 7, 8, 8, 8, 8, 9, 9, 10, 10]
    fp = [0, 0, 0, 1, 1, 1, 1, 2, 3, 3, 4, 4, 5, 5, 6, 7, 8, 8, 9, 9, 10]
    accuracy = [55, 60, 55, 60, 65, 70, 65, 60, 65, 60, 65, 60, 65, 60, 55, 50, 55, 50, 55, 50]
    found = FAWCETT.irm.thresholds("accuracy")
    assert found["threshold"].to_list() == [inf, *FAWCETT["score"]]
    assert found["tp"].to_list() == tp
    assert found["fp"].to_list() == fp
    assert (found["tp"] + found["fn"]).to_list() == (found["fp"] + found["tn"]).to_list() == [10] * 21
    assert found["accuracy"].to_list() == pytest.approx([0.5] + [a / 100 for a in accuracy])
    points = FAWCETT.irm.curve("roc")
    assert points["tpr"].to_list() == pytest.approx([n / 10 for n in tp])
    assert points["fpr"].to_list() == pytest.approx([n / 10 for n in fp])
    assert pooled(FAWCETT.irm, "roc_auc") == pytest.approx([0.68])


def test_the_best_threshold_of_twenty_items() -> None:
    """Accuracy, and sensitivity + specificity, are best at 0.54; two points tie for the corner (as above)."""
    best = FAWCETT.irm.best_threshold("accuracy")
    assert best.select("threshold", "tp", "fp", "fn", "tn").rows() == [(0.54, 5, 1, 5, 9)]
    assert best["accuracy"].to_list() == pytest.approx([0.7])
    both = FAWCETT.irm.best_threshold("balanced_accuracy")
    assert both["threshold"].to_list() == [0.54]
    assert both["balanced_accuracy"].to_list() == pytest.approx([(0.5 + 0.9) / 2])
    near = FAWCETT.irm.thresholds("closest").filter((pl.col("closest") - 0.5).abs() < 1e-9)
    assert near["threshold"].to_list() == [0.51, 0.4]
    closest = FAWCETT.irm.best_threshold("closest")
    assert closest["threshold"].to_list() == [0.51]
    assert closest["closest"].to_list() == pytest.approx([0.5])


def test_why_the_mean_is_harmonic() -> None:
    """Retrieving all where one in 10,000 is relevant (Manning, Raghavan and Schuetze, 2008, ch. 8)."""
    found = pooled(table(1, 9999, 0, 0), "precision", "recall", "f1")
    assert found == pytest.approx([0.0001, 1, 0.0002], abs=1e-6)


@pytest.mark.parametrize(
    ("recall", "precision", "f", "g"),
    [
        (100, 35, 52, 60),
        (3, 100, 5, 16),
        (33, 100, 50, 58),
        (7, 33, 11, 15),
        (13, 25, 17, 18),
        (10, 100, 18, 32),
        (33, 25, 29, 29),
        (100, 33, 50, 58),
        (100, 24, 39, 49),
        (8, 25, 13, 14),
        (13, 100, 22, 35),
        (20, 100, 33, 45),
    ],
    ids=list("ABEGHIKMNOPZ"),
)
def test_means_of_clustered_senses(recall: int, precision: int, f: int, g: int) -> None:
    """F and G of twelve found classes, in percent, from their rounded recall and precision."""
    irm = table(1, 100 / precision - 1, 100 / recall - 1, 0)
    assert pooled(irm, "recall", "precision") == pytest.approx([recall / 100, precision / 100])
    assert pooled(irm, "f1", "g_measure") == pytest.approx([f / 100, g / 100], abs=0.02)


def test_what_is_informed_where_it_is_decided() -> None:
    """Informed for 86 % of what is decided, 34 % of all rows: 29 % over all, whatever the class of the rest."""
    decided = [(1, 1, 0.93), (0, 1, 0.07), (1, 0, 0.07), (0, 0, 0.93)]
    rows = [(true, said, 0.34 * share) for true, said, share in decided] + [(1, None, 0.66), (0, None, 0.66)]
    frame = pl.DataFrame(rows, schema=["label", "predicted", "share"], orient="row")
    irm = IRM(frame, predicted="predicted", weight="share")
    assert pooled(irm, "coverage", "informedness") == pytest.approx([0.34, 0.86 * 0.34])
    assert pooled(irm, "informedness") == pytest.approx([0.29], abs=0.005)
    several = irm(classes=[0, 1])
    assert pooled(several, "coverage", "informedness") == pytest.approx([0.34, 0.86 * 0.34])
    only = IRM(frame.drop_nulls(), predicted="predicted", weight="share")
    assert pooled(only, "coverage", "informedness") == pytest.approx([1, 0.86])


# By hand


class Worked(NamedTuple):
    """A ranking and the values of metrics on it."""

    grades: list[float | None]
    missed: list[float]
    values: dict[str, float]
    roles: Mapping[str, Any] = MappingProxyType({})


def mean_gain(on: float, further: float) -> float:
    """The mean gain of three documents, of gains 3/4, 1/2 and 3/4, for a user who goes on with these two chances."""
    return (3 / 4 + on * 1 / 2 + on * further * 3 / 4) / (1 + on + on * further)


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
            "ap(norm='found')": (1 + 2 / 4 + 3 / 5 + 4 / 8) / 4,
            "ap(norm='found')@4": (1 + 2 / 4) / 2,
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
            "clicks_per_query": 4,
            "clicks_per_query@4": 2,
            "first_click_position": 1,
            "click_position_sum": 1 + 4 + 5 + 8,
            "mean_click_position": (1 + 4 + 5 + 8) / 4,
            "last_click_rr": 1 / 8,
            "position_ctr": 4 / 10,
            "position_ctr@1": 1,
            "position_ctr@2": 0,
            "position_ctr@4": 1,
        },
    ),
    Worked(
        [0, 0, 1],
        [],
        {
            "rr": 1 / 3,
            "rr@2": 0,
            "success@2": 0,
            "success@3": 1,
            "ctr@3": 1,
            "abandonment": 0,
            "abandonment@2": 1,
            "ap": 1 / 3,
            "rprec": 0,
            "efficiency@2": 0,
        },
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
            "idcg@2": 3 + 3 / log2(3),
            "idcg(gain='exp')": 7 + 7 / log2(3) + 7 / log2(4) + 3 / log2(5) + 3 / log2(6) + 1 / log2(7),
            # A reader is satisfied by (2^g - 1) / 2^4 of documents.
            "err(max_grade=4)@2": 7 / 16 + 1 / 2 * 3 / 16 * (1 - 7 / 16),
            "err(max_grade=3)": 7 / 8
            + 1 / 2 * 3 / 8 * (1 / 8)
            + 1 / 3 * 7 / 8 * (1 / 8 * 5 / 8)
            + 1 / 5 * 1 / 8 * (1 / 8 * 5 / 8 * 1 / 8)
            + 1 / 6 * 3 / 8 * (1 / 8 * 5 / 8 * 1 / 8 * 7 / 8),
        },
    ),
    Worked(  # users who read three documents at most, of gains 3/4, 1/2 and 3/4
        [3, 2, 3, 0, 1, 2],
        [3],
        {
            "sdcg(max_grade=4)@3": (3 / 4 + 1 / 2 / log2(3) + 3 / 4 / 2) / (1 + 1 / log2(3) + 1 / 2),
            "insq(target=2, max_grade=4)@3": mean_gain((4 / 5) ** 2, (5 / 6) ** 2),
            "tbg(halflife=2, max_grade=4)@3": mean_gain(2**-0.5, 2**-0.5),
            "u_measure(length=4, max_grade=4)@3": mean_gain(3 / 4, 2 / 3),
            "inst(target=2, max_grade=4)@3": mean_gain((3.25 / 4.25) ** 2, (3.75 / 4.75) ** 2),
            "bpm(max_grade=4)@3": (3 / 4 + 1 / 2) / 2,
            "bpm(target=5, max_grade=4)@3": (3 / 4 + 1 / 2 + 3 / 4) / 3,
            "nerr8(max_grade=4)@3": mean_gain(1 / 4, 1 / 2),
            "nerr9(max_grade=4)@3": mean_gain(1 / 4 * 1 / 2, 1 / 2 * 2 / 3),
            "nerr10(p=0.5, max_grade=4)@3": mean_gain(1 / 4 * 0.5, 1 / 2 * 0.5),
            "nerr11(target=2, max_grade=4)@3": mean_gain(1 / 4 * (4 / 5) ** 2, 1 / 2 * (5 / 6) ** 2),
            "nerr8(max_grade=4, gain='exp')@1": 7 / 15,
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
            "q_measure": ((1 + 2) / (2 + 3) + (2 + 3) / (3 + 4)) / 3,
            "q_measure(beta=2)@2": (1 + 2 * 2) / (2 + 2 * 3) / 3,
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
            "unjudged@3": 1 / 3,
            "unjudged@10": 1 / 10,
            "unjudged": 1 / 7,
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
            "fbeta(alpha=0.2)": 1 / (0.2 / (3 / 4) + 0.8 / (3 / 5)),
            "inverse_fbeta(alpha=0.2)": 1 / (0.2 / (4 / 6) + 0.8 / (4 / 5)),
            "set_F.4": (1 + 4) * (3 / 4 * 3 / 5) / (4 * 3 / 4 + 3 / 5),
            "f1": 2 / (1 / (3 / 4) + 1 / (3 / 5)),
            "inverse_f1": 2 / (1 / (4 / 6) + 1 / (4 / 5)),
            "inverse_fbeta": 2 / (1 / (4 / 6) + 1 / (4 / 5)),
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
            "balanced_accuracy(sensitivity=0.8)": 0.8 * 3 / 5 + 0.2 * 4 / 5,
            "corner_distance": hypot(2 / 5, 1 / 5),
            "cost": 3 / 10,
            "cost(fp=1, fn=5)": (1 * 1 + 5 * 2) / 10,
            "lift": (3 / 4) / (5 / 10),
            "lift@8": (3 / 8) / (5 / 10),
            "precision(top=0.3)": 1 / 2,  # the first two of four
            "recall(top=0.3)": 1 / 5,
            "lift(top=0.5)": (1 / 2) / (5 / 10),
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
    # The one that was found is at rank 2 and the first of the ideal ranking of two.
    Worked([0, 1], [1], {"compatibility(p=0.5)": (0.5 / 2) / (1 + 0.5 / 2 + 0.5 / 2)}),
)


@pytest.mark.parametrize(
    ("worked", "name"),
    [pytest.param(worked, name, id=f"{i}-{name}") for i, worked in enumerate(WORKED) for name in worked.values],
)
def test_metrics_worked_by_hand(worked: Worked, name: str) -> None:
    """A metric has the value that its definition gives on paper."""
    irm = results(worked.grades, worked.missed, **worked.roles)
    assert values(irm, name) == pytest.approx([worked.values[name]], abs=1e-12)


# Two rankings, a b c d e and b a z d; the second is the baseline.
EACH_SHARE = [0, 2 / 2, 2 / 3, 3 / 4, (3 + 3 / 4) / 5]  # of common documents down to each depth, the last extrapolated
NOT_YET = log(2) - 1 / 2 - 1 / 8 - 1 / 24 - 1 / 64 - 1 / 160 - 1 / 384  # sum of 0.5^d / d past the depth of 6
TWO_RANKINGS = {
    "rbo": sum(0.1 * 0.9**i * share for i, share in enumerate(EACH_SHARE)) + 0.9**5 * EACH_SHARE[-1],
    "rbo_residual(p=0.5)": 1 / 16 + 1 / 32 - 1 / 64 - 4 * (1 / 160 + 1 / 384) - 5 / 384 - 3 * NOT_YET,
    "overlap": 3 / 5,
    "jaccard": 3 / 6,
    # Of 15 pairs b a, d z, z c, z e and d c stand otherwise, and c e is tied.
    "kendall_tau": (9 - 5) / 15,
    # Of those above b, c, d, e and last z, the share that stands above it in the baseline; c and e are tied there.
    "tau_ap": 2 / 5 * (0 / 1 + 2 / 2 + 2 / 3 + 3.5 / 4 + 2 / 5) - 1,
}


@pytest.mark.parametrize("name", TWO_RANKINGS)
def test_measures_of_two_rankings_worked_by_hand(name: str) -> None:
    """A measure of two rankings has the value that its definition gives on paper."""
    rows = [(1, run, doc, rank) for run, docs in (("a", "abcde"), ("b", "bazd")) for rank, doc in enumerate(docs, 1)]
    irm = pl.DataFrame(rows, schema=["query", "run", "doc", "rank"], orient="row").irm(system="run")
    found = irm.similarity(name, baseline="b")["value"].to_list()
    assert found == pytest.approx([TWO_RANKINGS[name]], abs=1e-12)


# Rewards of three lists, and for each result the chance that the logging policy placed it there, given what stood
# above, and that of the target policy. The first three values are those of Open Bandit Pipeline 0.4.1.
REWARDS = [[1, 0, 1], [0, 0, 1], [0, 1, 0]]
LOGGED = [[0.5, 0.4, 1], [0.6, 0.5, 1], [0.5, 0.5, 1]]
TARGET = [[0.8, 0.5, 1], [0.3, 0.5, 1], [0.5, 0.5, 1]]
SLATES = pl.DataFrame(
    [
        (i, rank, *(of[i][rank - 1] for of in (REWARDS, LOGGED, TARGET)))
        for i in range(3)
        for rank in (1, 2, 3)
    ],
    schema=["query", "rank", "reward", "logged", "target"],
    orient="row",
)  # fmt: skip
OFF_POLICY = {
    "sips": (2 * 2 + 0.5 + 1) / 3,
    "iips": (1.6 + 1 + 1 + 1) / 3,
    "rips": (1.6 + 2 + 0.5 + 1) / 3,
    "sips@2": (2 * 1 + 0 + 1) / 3,
    "iips@2": (1.6 + 0 + 1) / 3,
    "rips@2": (1.6 + 0 + 1) / 3,
    "sn_sips@3": (2 * 2 + 0.5 + 1) / 3.5,
    "sn_iips@3": 1.6 / (1.6 + 0.5 + 1) + 1 / (1.25 + 1 + 1) + 2 / 3,
    "sn_rips@3": 1.6 / (1.6 + 0.5 + 1) + 1 / 3.5 + (2 + 0.5) / 3.5,
}


@pytest.mark.parametrize("name", OFF_POLICY)
def test_values_of_another_policy_worked_by_hand(name: str) -> None:
    """Of three slates of three positions, those of Open Bandit Pipeline and those that are self-normalised."""
    irm = SLATES.irm(grade="reward", propensity="logged", target_propensity="target")
    (row,) = irm.evaluate(name).rows(named=True)
    assert row["value"] == pytest.approx(OFF_POLICY[name], abs=1e-12)
    published = {"sips": 1.8333, "iips": 1.5333, "rips": 1.7}
    assert row["value"] == pytest.approx(published.get(name, row["value"]), abs=5e-5)


def test_rewards_of_judged_queries_without_results() -> None:
    """They are 0, wherever their queries stand; the weight of a list is the product of 2 and 3, or 4."""
    log = pl.DataFrame({"query": [1, 1, 3], "doc": [*"aba"], "rank": [1, 2, 1], "p": 0.2, "t": [0.4, 0.6, 0.8]})
    judged = pl.DataFrame({"query": [0, 1, 1, 2, 3], "doc": [*"zabqa"], "label": [1, 1, 0, 1, 1]})
    irm = log.irm(propensity="p", target_propensity="t").judge(judged)
    for name in ("sips", "sn_sips@1"):
        found = irm.per_query(name).sort("query")
        assert found["value"].to_list() == pytest.approx([0, 6, 0, 4])


def test_a_self_normalised_value_of_lists_that_are_never_shown() -> None:
    """A list whose weights are all 0 has no value of its own; where all are such, neither has the mean."""
    slates = SLATES.with_columns(target=pl.when(pl.col("query") > 0).then(0.0).otherwise("target"))
    some = slates.irm(grade="reward", propensity="logged", target_propensity="target")
    shown = ("n", "n_undefined")
    assert some.evaluate("sn_iips@3").select("value", *shown).rows() == [(2.0, 3, 2)]
    none = slates.filter(pl.col("query") > 0).irm(grade="reward", propensity="logged", target_propensity="target")
    assert none.evaluate("sn_iips@3", "iips@3").select("value", *shown).rows() == [(None, 2, 2), (0.0, 2, 0)]


def test_a_self_normalised_value_is_undefined_where_all_weights_of_a_position_are_0() -> None:
    """One position without any weight makes the value null at each deeper cutoff, where other positions have some."""
    hidden = SLATES.with_columns(target=pl.when(pl.col("rank") == 2).then(0.0).otherwise("target"))
    irm = hidden.irm(grade="reward", propensity="logged", target_propensity="target")
    found = irm.evaluate("sn_iips@1", "sn_iips@2", "sn_iips@3", "sn_rips@2", "sn_sips@1", "iips@3")
    assert found["value"].to_list() == [pytest.approx(1.6 / 3.1), None, None, None, None, pytest.approx(3.6 / 3)]
    assert found["n_undefined"].to_list() == [0, 3, 3, 3, 3, 0]
    part = hidden.filter((pl.col("rank") != 2) | (pl.col("query") > 0)).irm(
        grade="reward", propensity="logged", target_propensity="target"
    )
    assert part.evaluate("sn_iips@2")["value"].item() == pytest.approx(1.6 / 3.1)  # the list without a result counts


@pytest.mark.parametrize(("name", "value"), [("set_F.2", 3 / 32), ("set_F.0.5", 3 / 19), ("set_F.5", 6 / 77)])
def test_the_square_of_beta_may_be_no_square(name: str, value: float) -> None:
    """F of trec_eval with the square of beta is exact: 3/32 prints as .0938, not as .0937."""
    retrieved = pl.DataFrame({"query": [1] * 16, "score": [2.0, 1.0, *[None] * 14], "grade": [1, 0, *[1] * 14]})
    assert retrieved.irm.per_query(name)["value"].item() == value


@pytest.mark.parametrize("name", ["sn_sips@1", "sn_rips@30", "sn_iips@30"])
@pytest.mark.parametrize("n", [10, 27, 60])
def test_small_weights_keep_their_digits(name: str, n: int) -> None:
    """A self-normalised value of long lists, whose weights are products of many small ratios, is exact."""
    log = pl.DataFrame(
        [(q, r, int(r == 1 and q == 1), 0.8, t) for q, t in ((1, 0.2), (2, 0.19)) for r in range(1, n + 1)],
        schema=["query", "rank", "label", "p", "t"],
        orient="row",
    )
    value = log.irm(propensity="p", target_propensity="t").evaluate(name)["value"].item()
    power = n if name == "sn_sips@1" else 1
    assert value == pytest.approx(1 / (1 + 0.95**power), rel=1e-9)


# d1 is about two of three subtopics; nothing is relevant to a fourth. Each document for a subtopic, with its grade.
ABOUT = {("s1", "d1"): 1, ("s2", "d1"): 2, ("s1", "d2"): 1, ("s3", "d3"): 1, ("s2", "d4"): 0, ("s4", "d4"): 0}
# By hand: the gains at the four ranks are 1, 0, 1/2 + 1, 1; in the ideal order d1, d3, d2 they are 2, 1, 1/2.
BEST_ORDER = 2 + 1 / log2(3) + 0.5 / 2
OF_INTENTS = {
    "alpha_dcg@4": (1 + 1.5 / 2 + 1 / log2(5)) / (3 * (1 + 0.5 / log2(3) + 0.25 / 2 + 0.125 / log2(5))),
    "alpha_dcg": (1 + 1.5 / 2 + 1 / log2(5)) / (3 * (1 + 0.5 / log2(3) + 0.25 / 2 + 0.125 / log2(5))),
    "alpha_dcg@1": 1 / 3,
    "alpha_dcg(alpha=0)@2": 1 / (3 * (1 + 1 / log2(3))),
    "alpha_dcg(alpha=1)@3": (1 + 1 / 2) / 3,
    "alpha_ndcg": (1 + 1.5 / 2 + 1 / log2(5)) / BEST_ORDER,
    "alpha_ndcg@1": 1 / 2,
    "alpha_ndcg@3": (1 + 1.5 / 2) / BEST_ORDER,
    "alpha_ndcg(rel=2)": 1 / 2,  # one document is relevant, at rank 3
    "err_ia@4": (1 + 1.5 / 3 + 1 / 4) / (3 * (1 + 1 / 4 + 1 / 12 + 1 / 32)),
    "err_ia": (1 + 1.5 / 3 + 1 / 4) / (3 * (1 + 1 / 4 + 1 / 12 + 1 / 32)),
    "nerr_ia": (1 + 1.5 / 3 + 1 / 4) / (2 + 1 / 2 + 1 / 6),
    "nerr_ia@2": 1 / (2 + 1 / 2),
    "nrbp": 0.75 / 3 * (1 + 1.5 / 4 + 1 / 8),
    "nrbp(alpha=0, beta=0.8)": 0.2 / 3 * (1 + 2 * 0.64 + 0.512),
    "nnrbp": (1 + 1.5 / 4 + 1 / 8) / (2 + 1 / 2 + 0.5 / 4),
    "map_ia": ((1 + 2 / 3) / 2 + 1 / 3 + 1 / 4) / 3,
    "p_ia@3": (1 + 2) / 9,
    "p_ia@10": 4 / 30,
    "p_ia": 4 / 12,
    "strecall@2": 1 / 3,
    "strecall@3": 2 / 3,
    "strecall": 1.0,
}


@pytest.mark.parametrize("name", OF_INTENTS)
def test_values_of_several_intents_worked_by_hand(name: str) -> None:
    """Of four documents in the order d2, d4, d1, d3."""
    rows = [("q", *pair, grade) for pair, grade in ABOUT.items()]
    qrels = pl.DataFrame(rows, schema=["query", "subtopic", "doc", "grade"], orient="row")
    run = pl.DataFrame({"query": ["q"] * 4, "doc": ["d2", "d4", "d1", "d3"], "rank": [1, 2, 3, 4]})
    found = run.irm.judge(qrels, subtopic="subtopic").per_query(name)["value"].item()
    assert found == pytest.approx(OF_INTENTS[name], abs=1e-12)


# What three users chose before, and two recommendations for each: the frames that recommenders tests its measures with.
CHOSEN = pl.DataFrame({"user": [1, 1, 1, 2, 2, 3, 3, 3], "doc": [1, 2, 4, 3, 4, 3, 4, 5]})
SHOWN = pl.DataFrame({"query": [1, 1, 2, 2, 3, 3], "rank": [1, 2] * 3, "doc": [3, 5, 2, 5, 1, 2], "of": [*"abaaba"]})
LOOK = 1 / log2(3)  # what is looked at rank 2, where rank 1 has 1
TOGETHER = {
    "catalogue_coverage": 4 / 5,
    "catalogue_coverage@1": 3 / 5,
    "distributional_coverage": 2 / 6 * log2(6) + 4 / 6 * log2(6 / 2),
    "distributional_coverage@1": log2(3),
    "catalogue_gini": (-4 * 0 - 2 * 1 + 0 * 1 + 2 * 2 + 4 * 2) / 6 / 4,  # document 4 is never shown
    "gini@1": (-4 * 0 - 2 * 0 + 0 * 1 + 2 * 1 + 4 * 1) / 3 / 4,
    "novelty": ((log2(8 / 2) + log2(8)) / 2 + 2 * log2(8)) / 3,
    "average_popularity": ((2 + 1) / 2 + 1 + 1) / 3,
    "average_popularity@1": (2 + 1 + 1) / 3,
    "exposure_share(of='a')": (1 / (1 + LOOK) + 1 + LOOK / (1 + LOOK)) / 3,
    "exposure_share(of='b', attention='equal')": (1 / 2 + 0 + 1 / 2) / 3,
    "exposure_share(of='b')@1": 1 / 3,
}


@pytest.mark.parametrize("name", TOGETHER)
def test_what_lists_show_worked_by_hand(name: str) -> None:
    """Of three lists of two; the first values are those that recommenders has of its own frames."""
    irm = SHOWN.irm(catalogue=CHOSEN, popularity=CHOSEN, group="of")
    (row,) = irm.evaluate(name).rows(named=True)
    assert row["value"] == pytest.approx(TOGETHER[name], abs=1e-12)
    assert (row["n"], row["n_undefined"]) == (3, 0)
    published = {"catalogue_coverage": 0.8, "distributional_coverage": 1.9183, "novelty": 2.83333}
    assert row["value"] == pytest.approx(published.get(name, row["value"]), rel=1e-4)


# Three of six rows are relevant; two relevant ones have the score of one that is not.
SCORED = {"label": [1, 0, 1, 1, 0, 0], "score": [0.9, 0.8, 0.8, 0.4, 0.4, 0.1]}
# Of two rows of each of three classes, a is predicted twice, b three times, c once.
CALLED = {"label": list("aabbcc"), "predicted": list("abbbac")}
# Of 15 pairs 6 are in one class, 3 in one cluster, and 2 in both (0.67 and 0.24 in the user guide of scikit-learn).
PARTED = {"label": [0, 0, 0, 1, 1, 1], "predicted": [0, 0, 1, 1, 2, 2]}
# Two rows are a, three b; one of those has no prediction.
SILENT = {"label": ["a", "a", "b", "b", "b"], "predicted": ["a", "a", "a", "b", None]}
# Of ten rows half are relevant: tp 2, fp 1, fn 1, tn 3, and of those without a decision 2 are relevant and 1 is not.
UNDECIDED = {"label": [1] * 5 + [0] * 5, "predicted": [1, 1, 0, None, None, 1, 0, 0, 0, None]}
UNKNOWN = 3 / 4 * (2 / 3 * log2(3 / 2) + 1 / 3 * log2(3))
# The last row, a b, has the greatest score of c; its scores are not shares of 1.
SHARES = {"label": list("acb"), "p": [0.5, 0.3, 0.05], "q": [0.3, 0.3, 0.5], "r": [0.2, 0.4, 0.45]}

ROWS: tuple[tuple[dict[str, Any], dict[str, Any], dict[str, float]], ...] = (
    (
        SCORED,
        {},
        {
            "roc_auc": (3 + 2.5 + 1.5) / 9,
            "roc_auc(max_fpr=0.5)": (1 + ((1 / 3 + 2 / 3) / 6 + (2 / 3 + 5 / 6) / 12 - 1 / 8) / (1 / 2 - 1 / 8)) / 2,
            "roc_auc(fpr=[0, 0.5])": (1 + ((1 / 3 + 2 / 3) / 6 + (2 / 3 + 5 / 6) / 12 - 1 / 8) / (1 / 2 - 1 / 8)) / 2,
            "roc_auc(fpr=[0.25, 0.5], correction=None)": (7 / 12 + 2 / 3) / 24 + (2 / 3 + 5 / 6) / 12,
            "roc_auc(fpr=[0.25, 0.5])": (1 + (51 / 288 - 3 / 32) / (1 / 4 - 3 / 32)) / 2,
            "roc_auc(tpr=[0.5, 1], correction=None)": (5 / 6 + 1 / 3) / 4,
            "roc_auc(tpr=[0.5, 1])": (1 + (7 / 24 - 1 / 8) / (1 / 2 - 1 / 8)) / 2,
            "roc_auc(tpr=[0, 1])": (3 + 2.5 + 1.5) / 9,
            "gini": 2 * 7 / 9 - 1,
            "average_precision": (1 / 1 + 2 / 3 + 3 / 5) / 3,
            "average_precision(area='trapezoid')": (1 + (1 + 2 / 3) / 2 + (2 / 3 + 3 / 5) / 2) / 3,
            "ks": 1 / 3 - 0 / 3,
            "max_precision(min_recall=0.5)": 2 / 3,
            "max_precision(min_recall=1)": 3 / 5,
            "max_recall(min_precision=0.65)": 2 / 3,
            "max_recall(min_precision=0.6)": 3 / 3,
            "brier": (0.1**2 + 0.8**2 + 0.2**2 + 0.6**2 + 0.4**2 + 0.1**2) / 6,
            "log_loss": -(log(0.9) + log(0.2) + log(0.8) + log(0.4) + log(0.6) + log(0.9)) / 6,
            "ece": ((1 - 0.9) + (0.8 + 0.8 - 1) + (1 - 0.4 - 0.4) + 0.1) / 6,
            "ece(bins=2)": ((0.9 + 0.8 + 0.8 - 2) + (1 - 0.4 - 0.4 - 0.1)) / 6,
        },
    ),
    (
        CALLED,
        {"classes": ["a", "b", "c"]},
        {
            "accuracy": 4 / 6,
            "error_rate": 2 / 6,
            "balanced_accuracy": (1 / 2 + 2 / 2 + 1 / 2) / 3,
            "recall": (1 / 2 + 2 / 2 + 1 / 2) / 3,
            "precision": (1 / 2 + 2 / 3 + 1 / 1) / 3,
            "kappa": (4 / 6 - (2 * 2 + 2 * 3 + 2 * 1) / 36) / (1 - (2 * 2 + 2 * 3 + 2 * 1) / 36),
            "kappa(weights='linear')": 1 - (1 + 2) * 6 / (2 * (3 + 2 * 1) + 2 * (2 + 1) + 2 * (2 * 2 + 3)),
            "kappa(weights='quadratic')": 1 - (1 + 4) * 6 / (2 * (3 + 4 * 1) + 2 * (2 + 1) + 2 * (4 * 2 + 3)),
            "mcc": (4 * 6 - 12) / sqrt((36 - 14) * (36 - 12)),
            "informedness": 2 / 6 * (1 / 2 - 1 / 4) + 3 / 6 * (2 / 2 - 1 / 4) + 1 / 6 * (1 / 2 - 0 / 4),
            "payoff": 2 / 6 * (1 / 2 - 1 / 4) + 3 / 6 * (2 / 2 - 1 / 4) + 1 / 6 * (1 / 2 - 0 / 4),
            "coverage": 1,
        },
    ),
    (
        PARTED,
        {},
        {
            "rand_index": (15 - 6 - 3 + 2 * 2) / 15,
            "adjusted_rand_index": (2 - 6 * 3 / 15) / ((6 + 3) / 2 - 6 * 3 / 15),
        },
    ),
    (
        SILENT,
        {"classes": ["a", "b"]},
        {
            "coverage": 4 / 5,
            "conditional_entropy": UNKNOWN,
            "perplexity": 2**UNKNOWN,
            "mutual_information": 1 - UNKNOWN,
            "accuracy": 3 / 5,
            "error_rate": 2 / 5,
            "balanced_accuracy": (2 / 2 + 1 / 3) / 2,
        },
    ),
    (
        UNDECIDED,
        {},
        {
            "up": 2,
            "un": 1,
            "fn": 1,
            "tn": 3,
            "accuracy": 5 / 10,
            "error_rate": 5 / 10,
            "precision": 2 / 3,
            "recall": 2 / 5,
            "specificity": 3 / 5,
            "npv": 3 / 4,
            "fallout": 1 / 5,
            "miss_rate": 3 / 5,
            "fomr": 1 / 4,
            "prevalence": 5 / 10,
            "bias": 3 / 10,
            "f1": 2 / (1 / (2 / 3) + 1 / (2 / 5)),
            "inverse_f1": 2 / (1 / (3 / 4) + 1 / (3 / 5)),
            "jaccard": 2 / 6,
            "markedness": 2 / 3 + 3 / 4 - 1,
            # No decision is a third answer, which is never right: chance is right in 5/10 3/10 + 5/10 4/10.
            "kappa": (5 / 10 - 35 / 100) / (1 - 35 / 100),
            "mcc": (10 * 5 - 35) / sqrt((100 - 25 - 25) * (100 - 9 - 16 - 9)),
            "lift": (2 / 3) / (5 / 10),
            "lr_positive": (2 / 5) / (1 / 5),
            "lr_negative": (3 / 5) / (3 / 5),
            "odds_ratio": (2 / 1) / (3 / 3),
            "cost(fp=1, fn=5)": (1 * 1 + 5 * 3) / 10,
            "informedness": 7 / 10 * (2 / 3 - 1 / 4),
            "payoff": 3 / 10 * (2 / 3 - 1 / 4) + 4 / 10 * (3 / 4 - 1 / 3),
            "payoff(tp=1, fp=-2, fn=-1, tn=0.5)": (1 * 2 - 2 * 1 - 1 * 1 + 0.5 * 3) / 10,
            "utility(tp=1, fp=-2, fn=-1, tn=0.5)": 1 * 2 - 2 * 1 - 1 * 3 + 0.5 * 3,
        },
    ),
    (
        SHARES,
        {"score": {"a": "p", "b": "q", "c": "r"}},
        {
            "roc_auc": (1 + 1 + 1 / 2) / 3,
            "roc_auc(multi='ovo')": ((1 + 1) / 2 + (1 + 1) / 2 + (1 + 0) / 2) / 3,
            "brier": ((0.5**2 + 0.3**2 + 0.2**2) + (0.3**2 + 0.3**2 + 0.6**2) + (0.05**2 + 0.5**2 + 0.45**2)) / 3,
            "log_loss": -(log(0.5) + log(0.4) + log(0.5)) / 3,
            "ece": ((1 - 0.5 + 1 - 0.5) + (1 - 0.4)) / 3,
            "top_k_accuracy": 3 / 3,
        },
    ),
    (
        {"label": list("acb"), "p": [0.2, 0.5, 0.05], "q": [0.5, 0.3, 0.45], "r": [0.3, 0.3, 0.5]},
        {"score": {"a": "p", "b": "q", "c": "r"}},
        {"top_k_accuracy@1": 0 / 3, "top_k_accuracy@2": 2 / 3, "top_k_accuracy@3": 3 / 3},
    ),
)


@pytest.mark.parametrize(
    ("rows", "roles", "name", "value"),
    [
        pytest.param(rows, roles, name, value, id=f"{i}-{name}")
        for i, (rows, roles, found) in enumerate(ROWS)
        for name, value in found.items()
    ],
)
def test_metrics_of_rows_worked_by_hand(rows: dict[str, Any], roles: dict[str, Any], name: str, value: float) -> None:
    """A metric of rows without a query has the value that its definition gives on paper."""
    assert pooled(pl.DataFrame(rows).irm(**roles), name) == pytest.approx([value], abs=1e-12)


def test_every_metric_is_worked_by_hand() -> None:
    """No metric is in the registry without a value worked by hand, nor one of the forms for several classes."""
    names = (
        [list(worked.values) for worked in WORKED]
        + [list(found) for _, _, found in ROWS]
        + [list(OFF_POLICY), list(OF_INTENTS), list(TOGETHER), list(TWO_RANKINGS)]
    )
    assert {metric.name for some in names for _, metric in read(some)} == set(REGISTRY)
    several = {
        metric.name for rows, _, found in ROWS if rows not in (SCORED, UNDECIDED) for _, metric in read(list(found))
    }
    assert set(CLASS_KERNELS) <= several


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
