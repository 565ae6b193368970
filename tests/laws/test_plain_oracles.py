"""Verbs against oracles in plain Python, on small random inputs with ties, nulls, weights and counts."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import combinations
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frame_metrics import IRM, NotComputableError
from helpers import error, examples

SEEDS = st.integers(0, 2**32 - 1)
Row = dict[str, Any]
INF = math.inf


# The best threshold

MEASURES = ("precision", "recall", "fallout", "specificity", "f1", "accuracy", "error_rate", "npv", "miss_rate", "fdr")
LESS = ("fallout", "error_rate", "miss_rate", "fdr")


def share(part: Fraction, whole: Fraction, nothing: Fraction | None) -> Fraction | None:
    return part / whole if whole else nothing


def measured(name: str, tp: Fraction, fp: Fraction, fn: Fraction, tn: Fraction) -> Fraction | None:
    """A measure of exact counts, None where it has no value."""
    none, one = Fraction(0), Fraction(1)
    return {
        "precision": share(tp, tp + fp, none),
        "fdr": share(fp, tp + fp, one),
        "recall": share(tp, tp + fn, none),
        "miss_rate": share(fn, tp + fn, one),
        "fallout": share(fp, fp + tn, None),
        "specificity": share(tn, fp + tn, None),
        "f1": share(2 * tp, 2 * tp + fp + fn, none),
        "accuracy": share(tp + tn, tp + fp + fn + tn, None),
        "error_rate": share(fp + fn, tp + fp + fn + tn, None),
        "npv": share(tn, tn + fn, None),
    }[name]


def best_of(rows: list[Row], name: str, limits: dict[str, float]) -> tuple[float | None, float] | None:
    """The threshold, and the value, of the best decision that meets the limits; of equals the highest threshold.

    Where no row is relevant, and all decisions, also those that do not meet the limits, are as good, none is chosen.
    """
    found, every = None, set[Fraction]()
    for threshold in sorted({INF, *(row["score"] for row in rows if row["score"] is not None)}, reverse=True):
        cells = dict.fromkeys(((1, 1), (0, 1), (1, 0), (0, 0)), Fraction(0))
        for row in rows:
            said = int(row["score"] is not None and row["score"] >= threshold)
            cells[int(row["label"] or 0), said] += Fraction(row["w"]) * row["n"]
        value, *bound = (measured(one, *cells.values()) for one in (name, *limits))
        met = all(
            own is not None and (own <= Fraction(limit) if one in LESS else own >= Fraction(limit))
            for (one, limit), own in zip(limits.items(), bound, strict=True)
        )
        better = value is not None and (found is None or (value < found[1] if name in LESS else value > found[1]))
        if value is not None:
            every.add(value)
        if met and better:
            found = threshold, value
    chosen = len(every) > 1 or any(row["label"] and row["w"] and row["n"] for row in rows)
    return found and (found[0] if chosen else None, float(found[1]))


@examples(150)
@given(seed=SEEDS)
def test_the_best_threshold_is_that_of_trying_every_one(seed: int) -> None:
    """In each segment, with limits that some thresholds meet and others do not, or none does, which is an error."""
    draw = random.Random(seed)
    names = draw.sample(MEASURES, draw.randint(1, 3))
    limits = {name: draw.choice([0, 0.25, 0.5, 0.75, 1]) for name in names[1:]}
    rows = [
        {
            "day": draw.choice("ab"),
            "label": draw.choice([0, 1, 1, None]),
            "score": draw.choice([None, 0.0, -0.5, 0.25, 0.25, 1.0, 2.0]),
            "w": draw.choice([0.0, 0.25, 1.0, 2.5]),
            "n": draw.choice([0, 1, 1, 3]),
        }
        for _ in range(draw.randint(1, 12))
    ]
    frame = pl.DataFrame(rows, schema={"day": str, "label": int, "score": float, "w": float, "n": int})
    roles: dict[str, Any] = {"by": "day", "weight": "w", "count": "n"}
    for left_out in draw.sample(sorted(roles), draw.randint(0, 3)):
        roles[left_out] = None
    for row in rows:
        row.update({name: 1 for name, role in (("w", "weight"), ("n", "count")) if roles[role] is None})
    rows = [row for row in rows if row["n"]]
    keys = sorted({row["day"] for row in rows}) if roles["by"] else [None]
    parts = {key: [row for row in rows if key in (None, row["day"])] for key in keys}
    parts = {key: part for key, part in parts.items() if any(row["w"] for row in part)}
    expected = {key: best_of(part, names[0], limits) for key, part in parts.items()}
    irm = IRM(frame, unjudged="negative", **roles)
    if None in expected.values():
        error(lambda: irm.best_threshold(names[0], subject_to=limits), NotComputableError)
        return
    found = irm.best_threshold(names[0], subject_to=limits)
    mine = {row.get("day"): (row["threshold"], row[names[0]]) for row in found.rows(named=True)}
    assert {key: pair for key, pair in mine.items() if key in parts} == {
        key: (pair[0], pytest.approx(pair[1], abs=1e-12)) for key, pair in expected.items() if pair
    }
    assert all(pair == (None, None) for key, pair in mine.items() if key not in parts)


# Annotators


def kappas(pairs: list[tuple[int, int]], weight: Any) -> float:
    """Cohen's kappa of exact shares, each pair of judgments that differ weighing so much; NaN where none could."""
    n = len(pairs)
    seen = sum((Fraction(weight(a, b)) for a, b in pairs), Fraction(0)) / n
    chance = sum((Fraction(weight(a, b)) for a, _ in pairs for _, b in pairs), Fraction(0)) / n**2
    return float(1 - seen / chance) if chance else math.nan


@examples(100)
@given(seed=SEEDS)
@pytest.mark.parametrize("graded", [True, False])
def test_agreement_of_annotators_is_that_of_every_pair(seed: int, graded: bool) -> None:
    """Documents judged alike, both kappas; with nulls, judgments given twice, annotators without a common document."""
    draw = random.Random(seed)
    people, value = ["ann", "bob", "cy"], "grade" if graded else "label"
    said: dict[tuple[str, int, str], int | None] = {
        (person, query, doc): draw.choice([0, 1, 1, None] if not graded else [0, 1, 1, 4, None])
        for person in people
        for query in (1, 2)
        for doc in "xyz"
        if draw.random() < 0.7
    }
    said["ann", 1, "x"] = 1
    rows = [(*key, grade) for key, grade in said.items()]
    rows += draw.sample(rows, draw.randint(0, 2))
    draw.shuffle(rows)
    frame = pl.DataFrame(rows, schema={"who": str, "query": int, "doc": str, value: int}, orient="row")
    run = pl.DataFrame({"query": [1, 2], "doc": ["x", "y"], "score": [1.0, 2.0]})
    agreed = run.irm.judge(frame, several="majority", annotator="who").agreement().drop_nulls("annotator")
    found = {f"{row['annotator']}, {row['other']}": row for row in agreed.rows(named=True)}
    expected = {}
    for one, other in combinations(people, 2):
        both = [
            (grade, said[other, query, doc])
            for (who, query, doc), grade in said.items()
            if who == one and grade is not None and said.get((other, query, doc)) is not None
        ]
        if both:
            each = [kappas(both, lambda a, b: a != b)] + [kappas(both, lambda a, b: (a - b) ** 2)] * graded
            expected[f"{one}, {other}"] = (sum(a == b for a, b in both), len(both), each)
    assert found.keys() == expected.keys()
    for pair, (same, both, each) in expected.items():
        row = found[pair]
        assert (round(row["equal"] * row["n"]), row["n"]) == (same, both)
        told = [row[name] for name in ("kappa", "weighted_kappa")[: len(each)]]
        assert [math.nan if value is None else value for value in told] == pytest.approx(each, abs=1e-9, nan_ok=True)


# The split of an online test


def two_sided(count: int, n: int, p: Fraction) -> float:
    """The exact binomial p-value: outcomes that are no likelier than this one."""
    chances = [math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(n + 1)]
    return float(sum(chance for chance in chances if chance <= chances[count]))


@examples(60)
@given(seed=SEEDS)
def test_units_of_a_split_are_counted_one_by_one(seed: int) -> None:
    """Queries, clusters, rows and counted rows of two arms; p by the normal distribution, of segments by counting."""
    draw = random.Random(seed)
    kind = draw.choice(["queries", "clusters", "rows", "counts"])
    part = draw.choice([Fraction(1, 2), Fraction(1, 4)])
    n = draw.randint(2, 60)
    arm = ["A", "B", *(draw.choices("AB", [1, draw.choice([1, 3, 12])])[0] for _ in range(n - 2))]
    rows = [
        {"arm": one, "query": i, "user": draw.randint(0, n // 2), "day": draw.choice("xy"), "n": draw.choice([0, 1, 4])}
        for i, one in enumerate(arm)
    ]
    rows[0]["n"] = rows[1]["n"] = 2
    frame = pl.DataFrame(rows).with_columns(label=1, score=1.0, predicted=1)
    roles: dict[str, Any] = {"arm": "arm", "by": draw.choice([None, "day"])}
    roles |= {"cluster": "user"} if kind == "clusters" else {}
    roles |= {"query": None, "score": None} if kind in ("rows", "counts") else {"query": "query", "predicted": None}
    roles |= {"count": "n"} if kind == "counts" else {}
    audit = IRM(frame, **roles).audit(split={"A": float(part), "B": float(1 - part)})
    unit = "user" if kind == "clusters" else "query"

    def units(one: str, day: str | None = None) -> int:
        seen = {
            row[unit]: row["n"] if kind == "counts" else 1
            for row in rows
            if row["arm"] == one and day in (None, row["day"])
        }
        return sum(seen.values())

    a, b = units("A"), units("B")
    total = a + b
    chi = (a - total * part) ** 2 / (total * part) + (b - total * (1 - part)) ** 2 / (total * (1 - part))
    p = math.erfc(math.sqrt(chi / 2))
    (fact,) = audit.filter(check="units split")["message"]
    assert fact.startswith(f"A has {a}, B has {b} ")
    assert fact.endswith(f"p is {p:.2g} (chi-square test)")
    assert ("sample ratio mismatch" in audit["check"].to_list()) == (p < 0.001)
    both = {row["user"] for row in rows if row["arm"] == "A"} & {row["user"] for row in rows if row["arm"] == "B"}
    several = audit.filter(check="units of several arms")["n"].to_list()
    assert several == ([len(both)] if both and kind == "clusters" else [])
    days = sorted({row["day"] for row in rows if row["n"] or kind != "counts"}) if roles["by"] else []
    each = {day: two_sided(units("A", day), units("A", day) + units("B", day), part) for day in days}
    holm, most = {}, 0.0
    for left, day in zip(range(len(days), 0, -1), sorted(days, key=each.__getitem__), strict=True):
        most = max(most, min(left * each[day], 1.0))
        holm[day] = most
    off = [day for day in days if len(days) > 1 and holm[day] < 0.001]
    found = audit.filter(check="sample ratio mismatch in a segment")
    assert found["example"].to_list() == off
    assert all(f"p is {holm[day]:.2g}, corrected" in text for day, text in zip(off, found["message"], strict=True))


# Intervals of curves


@examples(25)
@given(seed=SEEDS)
def test_intervals_of_a_curve_are_those_of_its_cutoffs(seed: int) -> None:
    """Ends are those of evaluate() at each cutoff, weighted, of clusters and in segments."""
    draw = random.Random(seed)
    rows, facts = [], {}
    for query in range(draw.randint(2, 7)):
        facts[query] = {"w": draw.choice([0.0, 1.0, 2.5]), "user": draw.randint(0, 3), "day": draw.choice("xy")}
        for _ in range(draw.randint(1, 5)):
            grade = draw.choice([0, 0, 1, None])
            score = draw.choice([1.0, 2.0, 3.0] if grade is None else [1.0, 2.0, 3.0, None])
            rows.append({"query": query, **facts[query], "score": score, "grade": grade})
        rows[-1]["grade"] = draw.choice([0, 1])
    roles = {name: one for name, one in (("by", "day"), ("weight", "w"), ("cluster", "user")) if draw.random() < 0.5}
    schema = {"query": int, "w": float, "user": int, "day": str, "score": float, "grade": int}
    irm = IRM(pl.DataFrame(rows, schema=schema), undefined=draw.choice([None, "null"]), **roles)
    ks = [1, 3]
    found = irm.curve("precision@k", "recall@k", cutoffs=ks, ci=0.8, resamples=40, seed=5)
    asked = [f"{name}@{k}" for name in ("precision", "recall") for k in ks]
    each = irm.evaluate(*asked, ci=0.8, resamples=40, seed=5)
    for row in found.rows(named=True):
        same = each.filter(pl.col("k") == row["k"], pl.col("metric").str.starts_with(row["metric"].removesuffix("@k")))
        same = same.filter(day=row["day"]) if "by" in roles else same
        assert (row["value"], row["ci_low"], row["ci_high"]) == same.select("value", "ci_low", "ci_high").row(0)
