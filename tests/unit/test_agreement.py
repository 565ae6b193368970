"""The agreement of annotators: figures of the literature and of other tools, and where annotators differ."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from pycm import ConfusionMatrix

from frame_metrics import IRM, BadValueError
from helpers import KINDS, as_kind, as_polars, error
from inside import Units, draws, expanded_level

# Four observers of twelve units: K. Krippendorff, Computing Krippendorff's alpha-reliability, 2011.
OBSERVED = {
    "A": [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    "B": [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    "C": [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    "D": [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
}


# Three coders of fifteen units: the computational example that Wikipedia prints, with its alphas.
CODED = {
    "A": [None, None, None, None, None, 3, 4, 1, 2, 1, 1, 3, 3, None, 3],
    "B": [1, None, 2, 1, 3, 3, 4, 3, None, None, None, None, None, None, None],
    "C": [None, None, 2, 1, 3, 4, 4, None, 2, 1, 1, 3, 3, None, 4],
}


def judged(by: dict[str, Sequence[Any]], *, value: str = "grade", queries: int = 1, kind: str = "polars") -> IRM[Any]:
    """Judgments of annotators, each of the same documents, in so many queries."""
    rows = [(i % queries, f"d{i}", who, one) for who, side in by.items() for i, one in enumerate(side)]
    qrels = pl.DataFrame(rows, schema=["query", "doc", "who", value], orient="row")
    log = qrels.select("query", "doc", score=pl.lit(1.0)).unique(["query", "doc"], maintain_order=True)
    return IRM(as_kind(log, kind), query="query", doc="doc").judge(as_kind(qrels, kind), annotator="who")


def last(irm: IRM[Any], **options: Any) -> dict[str, Any]:
    """The row of all annotators together."""
    row = as_polars(irm.agreement(**options)).row(-1, named=True)
    assert (row["annotator"], row["other"], row["kappa"], row["weighted_kappa"]) == (None, None, None, None)
    return row


def test_alpha_of_krippendorffs_observers() -> None:
    """Interval .849 and nominal .743 as he prints them; AC1 .77544 and Fleiss' kappa .76117 as irrCAC does."""
    found = last(judged(OBSERVED))
    assert found["n"] == 11
    assert found["alpha"] == pytest.approx(0.849, abs=5e-4)
    assert (found["ac1"], found["fleiss_kappa"]) == pytest.approx((0.77544, 0.76117), abs=5e-6)
    assert found["equal"] == pytest.approx(0.81818, abs=5e-6)


@pytest.mark.parametrize(
    ("sides", "level", "alpha"),
    [
        *((OBSERVED, *one) for one in (("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797))),
        *((CODED, *one) for one in (("nominal", 0.691), ("interval", 0.811), (None, 0.811))),
    ],
)
def test_alpha_by_level_of_measurement(sides: dict[str, Sequence[Any]], level: Any, alpha: float) -> None:
    """All four of the four observers, and both of the three coders, as printed; by default the interval's."""
    assert last(judged(sides), level=level)["alpha"] == pytest.approx(alpha, abs=5e-4)


def pair_by_pair(units: Sequence[Sequence[float]], level: str) -> float:
    """Alpha from the matrix of coincidences, cell by cell, as Krippendorff's paper counts it."""
    units = [unit for unit in units if len(unit) > 1]
    values = sorted({value for unit in units for value in unit})
    seen = {(c, k): 0.0 for c in values for k in values}
    for unit in units:
        for i, j in permutations(range(len(unit)), 2):
            seen[unit[i], unit[j]] += 1 / (len(unit) - 1)
    often = {c: sum(seen[c, k] for k in values) for c in values}
    apart = {
        "nominal": lambda c, k: c != k,
        "ordinal": lambda c, k: (
            sum(often[g] for g in values if min(c, k) <= g <= max(c, k)) - (often[c] + often[k]) / 2
        ),
        "interval": lambda c, k: c - k,
        "ratio": lambda c, k: (c - k) / (c + k) if c != k else 0,
    }[level]
    observed = sum(n * apart(*pair) ** 2 for pair, n in seen.items())
    chance = sum(often[c] * often[k] * apart(c, k) ** 2 for c, k in seen)
    return float(1 - (sum(often.values()) - 1) * observed / chance)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
@pytest.mark.parametrize("seed", range(3))
def test_alpha_is_that_of_the_coincidences(level: Any, seed: int) -> None:
    """Of all annotators and of each pair, which have ranks of their own; grades with fractions and 0 among them."""
    random = np.random.default_rng(seed)
    grades = [0, 0.5, 1, 1, 2, 3, 7, None]
    sides = {who: [grades[at] for at in random.integers(0, len(grades), 25)] for who in "abcd"}
    found = judged(sides, queries=5).agreement(level=level)
    for one, other, alpha in found.select("annotator", "other", "alpha").rows():
        asked = [one, other] if one else [*sides]
        units = [
            [value for value in of if value is not None] for of in zip(*(sides[who] for who in asked), strict=True)
        ]
        assert alpha == pytest.approx(pair_by_pair(units, level), abs=1e-12)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_of_two_values_all_levels_are_equal(level: Any) -> None:
    """Labels, and each class of grades: their one difference cancels; of one value alone nothing is left."""
    labels = judged({"a": [0, 1, 1, 0, 1], "b": [0, 1, 0, 0, 1]}, value="label")
    assert_frame_equal(labels.agreement(level=level), labels.agreement())
    grades = judged(OBSERVED)
    assert_frame_equal(grades.agreement(level=level, per_class=True), grades.agreement(per_class=True))
    alone = judged({"a": [2, 2], "b": [2, 2]}).agreement(level=level)
    assert alone["alpha"].to_list() == [None, None]


def test_a_grade_below_zero_has_no_ratio() -> None:
    """The error counts such grades, and its way out gives the alpha of differences; other levels take them."""
    irm = judged({"a": [-1, 0, 2], "b": [-1, 1, 2]})
    said = error(lambda: irm.agreement(level="ratio"), BadValueError)
    assert said == "level='ratio' takes grades from 0 up, and 2 of 6 are below it, as -1; pass level='interval'"
    assert_frame_equal(irm.agreement(level="interval"), irm.agreement())
    assert last(irm, level="ordinal")["alpha"] == pytest.approx(pair_by_pair([[-1, -1], [0, 1], [2, 2]], "ordinal"))
    assert "level='nominl' is not one of 'nominal', 'ordinal', 'interval', 'ratio'; did you mean 'nominal'?" in error(
        lambda: irm.agreement(level="nominl")  # type: ignore[arg-type]
    )


def test_alpha_of_labels_is_nominal() -> None:
    """Nine documents of two observers: alpha of binary data .095 (Krippendorff, 2011)."""
    a, b = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    found = last(judged({"a": a, "b": b}, value="label"))
    assert found["alpha"] == pytest.approx(0.095, abs=5e-4)


def test_grades_are_compared_where_labels_stand_beside() -> None:
    """Of judgments with both, as metrics read them, grades are what annotators agree or disagree on."""
    each = {"query": [1] * 6, "doc": [*"abcabc"], "who": [*"xxxyyy"], "grade": [0, 1, 3, 0, 1, 2]}
    qrels = pl.DataFrame(each).with_columns(label=pl.Series([0, 1, 1, 1, 0, 1]))
    log = pl.DataFrame({"query": [1] * 3, "doc": [*"abc"], "score": [3.0, 2.0, 1.0]})
    irm = log.irm.judge(qrels, grade="grade", label="label", annotator="who")
    assert last(irm)["equal"] == 2 / 3
    assert irm.disagreements()["doc"].to_list() == ["c"]


def test_fleiss_of_ten_subjects() -> None:
    """Fourteen raters of ten subjects in five categories have a kappa of .210, an example that is often printed."""
    table = [
        *([0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1]),
        *([7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7]),
    ]
    each = np.array([np.repeat(range(5), counts) for counts in table]).T.tolist()
    found = last(judged({f"r{i:02}": side for i, side in enumerate(each)}))
    assert (found["equal"], found["fleiss_kappa"]) == pytest.approx((0.378, 0.210), abs=5e-4)


@pytest.mark.parametrize("seed", range(3))
def test_two_annotators_are_those_of_pycm(seed: int) -> None:
    """AC1, Scott's pi, alpha of labels and kappa; and the pair is all there is."""
    random = np.random.default_rng(seed)
    one, other = random.integers(0, 2, (2, 30))
    irm = judged({"a": one.tolist(), "b": other.tolist()}, value="label")
    theirs = ConfusionMatrix(one.tolist(), other.tolist(), digit=12)
    row = irm.agreement().row(0, named=True)
    expected = {"ac1": theirs.AC1, "fleiss_kappa": theirs.PI, "kappa": theirs.Kappa, "alpha": theirs.Alpha}
    assert {name: row[name] for name in expected} == pytest.approx(expected, abs=1e-9)
    assert row["weighted_kappa"] is None
    assert {name: last(irm)[name] for name in ("equal", "ac1", "fleiss_kappa", "alpha")} == pytest.approx(
        {name: row[name] for name in ("equal", "ac1", "fleiss_kappa", "alpha")}
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_reference_is_what_the_others_are_held_against(kind: str) -> None:
    """Of 3 relevant documents the model finds 2, of 2 others it calls 1 relevant; its grades are .2 higher."""
    irm = judged({"model": [2, 3, 0, 1, 0], "human": [1, 2, 1, 0, 0], "z": [None] * 5}, kind=kind)
    (row,) = as_polars(irm.agreement("human")).rows(named=True)
    assert (row["annotator"], row["other"], row["n"], row["equal"]) == ("model", "human", 5, 0.2)
    assert (row["sensitivity"], row["specificity"], row["bias"]) == pytest.approx((2 / 3, 1 / 2, 0.4))
    (turned,) = as_polars(irm.agreement("model")).rows(named=True)
    assert (turned["annotator"], turned["bias"], turned["kappa"]) == ("human", -row["bias"], row["kappa"])
    strict = irm(rel=2).agreement("human")
    assert as_polars(strict)["specificity"].to_list() == [3 / 4]


def test_a_pair_is_compared_by_its_own_values() -> None:
    """What other annotators say makes no difference to two of them, beside a reference or not."""
    two = {"a": [1, 0, 1, None], "b": [1, 0, 0, None]}
    alone, more = judged(two), judged(two | {"c": [None, None, None, 2], "d": [None, None, None, 2]})
    for irm in (alone, more):
        assert irm.agreement().row(0) == alone.agreement().row(0)
        assert irm.agreement("b")["ac1"].to_list()[:1] == alone.agreement()["ac1"].to_list()[:1]


def test_two_without_a_common_document_have_no_row() -> None:
    """Nobody is compared with who judged other documents; the last row is there with nulls."""
    found = judged({"a": [1, 0, None, None], "b": [None, None, 1, 0]}).agreement()
    assert found.select("annotator", "n", "equal", "alpha").rows() == [(None, 0, None, None)]


def test_a_segment_that_differs_within_a_document_is_an_error() -> None:
    """Documents of which no two judgments stand in one segment are counted; what is compared in some is left alone."""
    irm = judged({"a": [1, 0, 1], "b": [1, 0, 0], "c": [None, 1, None]})
    qrels = irm._judgments[0]  # type: ignore[index]

    def by(*values: str | None) -> IRM[Any]:
        return irm.frame.irm().judge(qrels.with_columns(part=pl.Series(values)), annotator="who")

    columns = [*"xxx", *"xyy", None, *"xy"]
    said = error(lambda: by(*columns).agreement(by="part"), BadValueError)
    assert said.startswith("by='part': each judgment of 1 of 3 documents has another value")
    assert by(*"xxx", *"xxx", *"yyy").agreement(by="part")["n"].to_list()[0] == 3


def test_a_reference_is_named_by_its_number() -> None:
    """A whole number names an annotator whose number pandas reads as a float."""
    irm = judged({"1": [1, 0, 1], "2": [1, 0, 0]})
    qrels = irm._judgments[0].with_columns(pl.col("who").cast(pl.Float64))  # type: ignore[index]
    found = irm.frame.irm().judge(qrels, annotator="who").agreement(1)
    assert found.select("annotator", "other").rows() == [(2.0, 1.0)]


@pytest.mark.parametrize("kind", KINDS)
def test_annotators_come_back_in_their_own_type(kind: str) -> None:
    """Numbers in their order, categories and structs, as systems do; also where a row holds a list of judgments."""
    irm = judged({"10": [1, 0, 1], "9": [1, 0, 0]})
    log, qrels = irm.frame, irm._judgments[0]  # type: ignore[index]
    number = pl.col("who").cast(pl.Int64)
    for who in (number, pl.col("who").cast(pl.Categorical), number > 9, pl.struct(a=number)):
        made = as_kind(qrels.with_columns(who=who), kind)
        found = IRM(as_kind(log, kind), query="query", doc="doc").judge(made, annotator="who").agreement()
        one, other = as_polars(found).select("annotator", "other").rows()[0]
        names = as_polars(made)["who"]
        assert {str(one), str(other)} == {*map(str, names.to_list())}
        if not isinstance(found, pl.LazyFrame):
            assert as_polars(found).schema["annotator"] == names.dtype
    lists = qrels.with_columns(who=number).group_by("query", maintain_order=True).agg(pl.exclude("query"))
    plan = log.lazy().irm(query="query", doc="doc").judge(lists, annotator="who").agreement()
    assert plan.collect_schema() == plan.collect().schema
    assert plan.collect().select("annotator", "other").rows() == [(9, 10), (None, None)]


@pytest.mark.parametrize("one", [0.1, 0.7, 1 / 3])
def test_of_one_grade_alone_chance_leaves_nothing(one: float) -> None:
    """Sums of such grades are rounded, and what that leaves is no difference."""
    found = as_polars(judged(dict.fromkeys("abc", [one] * 7)).agreement())
    assert found.select("kappa", "weighted_kappa", "ac1", "fleiss_kappa", "alpha").null_count().row(0) == (4,) * 5


def test_alpha_of_grades_far_from_zero() -> None:
    """Only how far grades are apart counts."""
    near = {who: [one and one / 10 for one in side] for who, side in OBSERVED.items()}
    far = {who: [one and one + 1e7 for one in side] for who, side in near.items()}
    assert last(judged(far))["alpha"] == pytest.approx(last(judged(near))["alpha"], abs=1e-6)


def test_intervals_draw_queries() -> None:
    """Of documents that are alike within their query the interval is that of the queries; one query has none."""
    one, other = [0, 1] * 20, [0, 1] * 10 + [1, 0] * 10
    wide = [judged({"a": [*one] * n, "b": [*other] * n}, queries=40) for n in (1, 4)]
    found, same = (irm.agreement(ci=0.9, resamples=300) for irm in wide)
    assert same["n"].to_list() == [160, 160]
    assert_frame_equal(
        found.select("equal", "equal_low", "equal_high"), same.select("equal", "equal_low", "equal_high")
    )
    assert found["equal"][0] == 0.5
    assert (found["equal_low"][0], found["equal_high"][0]) == pytest.approx((0.375, 0.625), abs=0.03)  # of 40 coins
    assert judged({"a": one, "b": other}).agreement(ci=0.9)["equal_low"].to_list() == [None, None]


@pytest.mark.parametrize("reference", [None, "c"])
@pytest.mark.parametrize(
    ("value", "level"), [("grade", None), ("label", None), ("grade", "ordinal"), ("grade", "ratio")]
)
def test_ends_are_those_of_queries_drawn_one_by_one(value: str, level: Any, reference: str | None) -> None:
    """Each draw is a call with queries that stand there several times; the level is that of a pair's queries."""
    rng, queries, resamples = np.random.default_rng(3), 25, 12
    rows = [
        (query, f"d{doc}", who, int(rng.integers(0, 2 + 2 * (value == "grade"))))
        for query in range(queries)
        for doc in range(2)
        for who in ("abc" if query < 22 else "ab")
    ]
    qrels = pl.DataFrame(rows, schema=["query", "doc", "who", value], orient="row")

    def measured(some: pl.DataFrame, **options: Any) -> pl.DataFrame:
        log = some.select("query", "doc", score=pl.lit(1.0)).unique(maintain_order=True)
        return (
            log.irm(query="query", doc="doc").judge(some, annotator="who").agreement(reference, level=level, **options)
        )

    found = measured(qrels, ci=0.9, resamples=resamples, seed=4)
    drawn = []
    for often in (one for block in draws(Units.without_values(queries), resamples, 4) for one in block):
        parts = [
            qrels.filter(query=query).with_columns(query=query * 100 + time)
            for query, n in enumerate(often.tolist())
            for time in range(n)
        ]
        drawn.append(measured(pl.concat(parts)))
    for name in [name for name in drawn[0].columns if f"{name}_low" in found.columns]:
        values = np.array([one[name].to_numpy() for one in drawn], float)
        for row in range(found.height):
            pair = {found["annotator"][row], found["other"][row]}
            wide = expanded_level(0.9, 22 if "c" in pair else 25) / 2
            expected = np.quantile(values[:, row], [0.5 - wide, 0.5 + wide])
            ends = np.array(found.select(f"{name}_low", f"{name}_high").row(row), float)
            np.testing.assert_allclose(ends, expected, rtol=0, atol=1e-12, err_msg=f"{name} {row}")


def test_a_pair_with_one_query_in_common_has_no_interval() -> None:
    """Other pairs have theirs."""
    rows = [(query, "d", who, (query + (who == "b" and query > 1)) % 2) for query in range(6) for who in "ab"]
    rows += [(0, "d", "c", 1)]
    qrels = pl.DataFrame(rows, schema=["query", "doc", "who", "label"], orient="row")
    log = qrels.select("query", "doc", score=pl.lit(1.0)).unique(maintain_order=True)
    found = log.irm(query="query", doc="doc").judge(qrels, annotator="who").agreement(ci=0.9)
    assert found["equal_low"].is_null().to_list() == [False, True, True, False]


def test_nothing_depends_on_the_order_of_the_judgments() -> None:
    """Nor on whether the log is lazy; rows go by the annotators' names."""
    random = np.random.default_rng(2)
    by = {who: [None if random.random() < 0.3 else int(random.integers(0, 4)) for _ in range(30)] for who in "cab"}
    irm = judged(by, queries=6)
    log, qrels = irm.frame, irm._judgments[0]  # type: ignore[index]
    shuffled = log.irm().judge(qrels.sample(fraction=1, shuffle=True, seed=1), annotator="who")
    lazy = log.lazy().irm().judge(qrels, annotator="who")
    expected = irm.agreement(ci=0.9, resamples=50)
    assert expected["annotator"].to_list() == ["a", "a", "b", None]
    assert_frame_equal(shuffled.agreement(ci=0.9, resamples=50), expected)
    assert_frame_equal(lazy.agreement(ci=0.9, resamples=50).collect(), expected)
    assert_frame_equal(lazy.disagreements().collect(), irm.disagreements())


@pytest.mark.parametrize("kind", KINDS)
def test_the_widest_differences_come_first(kind: str) -> None:
    """Then those with more judgments, then those that stand first; who agree are not listed."""
    irm = judged({"a": [0, 3, 1, 2, None], "b": [1, 0, 1, 1, 2], "c": [None, None, 1, 2, 2]}, kind=kind)
    found = as_polars(irm.disagreements())
    assert found.rows() == [(0, "d1", 2, 0.0, 3.0, 3.0), (0, "d3", 3, 1.0, 2.0, 1.0), (0, "d0", 2, 0.0, 1.0, 1.0)]


def test_disagreements_name_documents_of_the_judgments() -> None:
    """Beside lists of which some are empty, and a log whose repeated documents are left out."""
    qrels = pl.DataFrame({"query": ["a"] * 6, "doc": [*"uvwuvw"], "grade": [0, 2, 1, 3, 2, 2], "who": [*"aaabbb"]})
    lists = pl.DataFrame({"query": [*"abc"], "doc": [["u", "v"], [], []], "score": [[2.0, 1.0], [], []]})
    flat = pl.DataFrame({"query": ["a"] * 4, "doc": [*"zvzv"], "score": [4.0, 3.0, 2.0, 1.0]})
    for log in (lists.irm(), flat.irm(duplicates="first")):
        found = log.judge(qrels, annotator="who").disagreements()
        assert found.select("query", "doc").rows() == [("a", "u"), ("a", "w")]


def test_judgments_need_no_results_beside_them() -> None:
    """A frame of judgments is judged by itself: that its rows repeat documents does not matter."""
    rows = [(q, d, who, (q * d + at) % 4) for q in range(6) for d in range(4) for at, who in enumerate("abc")]
    qrels = pl.DataFrame(rows, schema=["query", "doc", "who", "grade"], orient="row")
    alone = qrels.irm.judge(qrels, annotator="who")
    log = qrels.select("query", "doc", score=pl.lit(1.0)).unique(["query", "doc"], maintain_order=True)
    beside = log.irm.judge(qrels, annotator="who")
    assert_frame_equal(alone.agreement("a", ci=0.9), beside.agreement("a", ci=0.9))
    assert_frame_equal(alone.disagreements(), beside.disagreements())
    assert "as in judge(qrels, annotator='annotator'), where qrels may be this very frame" in error(
        qrels.irm(score="grade").agreement
    )


@pytest.mark.parametrize("kind", ["polars", "pandas"])
def test_a_document_that_the_column_of_the_log_cannot_show_is_refused(kind: str) -> None:
    """An id of 1000 is none of a byte, and becomes no other."""
    log = pl.DataFrame({"query": [1], "doc": pl.Series([1], dtype=pl.Int8), "score": [1.0]})
    qrels = pl.DataFrame({"query": [1] * 3, "doc": [1000, 1000, 1], "grade": [0, 2, 1], "who": [*"aba"]})
    irm = IRM(as_kind(log, kind)).judge(as_kind(qrels, kind), annotator="who")
    assert "doc: documents of the judgments do not fit its type, Int8" in error(irm.disagreements)


def test_what_cannot_be_compared_is_refused() -> None:
    """Judgments of nobody, and a reference that nobody is called."""
    plain = pl.DataFrame({"query": [1], "doc": ["x"], "score": [1.0], "grade": [1]})
    assert "no column says who judged" in error(plain.irm().agreement)
    assert "no column says who judged" in error(plain.irm().judge(plain.drop("score")).disagreements)
    pair = pl.DataFrame({"label": [1, 0, 1], "predicted": [1, 0, 0]}).irm
    assert "; evaluate('kappa', 'accuracy') is that of label= and predicted=" in error(pair.agreement)
    assert pair.evaluate("kappa", "accuracy")["value"].round(3).to_list() == [0.4, 0.667]
    irm = judged({"human": [1, 0], "model": [1, 1]})
    assert "reference='Human' is none of the annotators; did you mean 'human'?" in error(lambda: irm.agreement("Human"))
    assert "by=['score'] belongs to the results" in error(irm(score=None, by="score").agreement)
    for role in ("weight", "cluster"):
        assert f"{role}='score': annotators are compared document by" in error(
            irm(score=None, **{role: "score"}).agreement
        )
    assert "ci=2 is not a level" in error(lambda: irm.agreement(ci=2))
    alone = judged({"human": [1, 0]}).agreement()
    assert alone.rows() == [(None, None, 0, *[None] * 6)]


def test_a_class_is_judged_or_not() -> None:
    """A row for each pair and value, about who gave it; of labels both classes have the kappa of all."""
    irm = judged({"human": [0, 0, 1, 1, 2, 2, None], "model": [0, 1, 1, 2, 2, 2, 1]})
    found = irm.agreement("human", per_class=True)
    columns = ("annotator", "class", "n", "equal", "sensitivity", "specificity", "bias")
    assert found.select(columns).rows() == [
        ("model", 0, 6, pytest.approx(5 / 6), 1 / 2, 1, pytest.approx(-1 / 6)),
        ("model", 1, 6, pytest.approx(4 / 6), 1 / 2, 3 / 4, 0),
        ("model", 2, 6, pytest.approx(5 / 6), 1, 3 / 4, pytest.approx(1 / 6)),
    ]
    one, other = [int(value == 1) for value in (0, 0, 1, 1, 2, 2)], [int(value == 1) for value in (0, 1, 1, 2, 2, 2)]
    theirs = ConfusionMatrix(one, other, digit=12)
    measures = found.row(1, named=True)
    expected = {"kappa": theirs.Kappa, "ac1": theirs.AC1, "alpha": theirs.Alpha, "fleiss_kappa": theirs.PI}
    assert {name: measures[name] for name in expected} == pytest.approx(expected, abs=1e-9)
    assert measures["weighted_kappa"] is None
    labels = judged({"a": [0, 1, 1, 0], "b": [0, 1, 0, 0]}, value="label")
    each, whole = labels.agreement(per_class=True), labels.agreement()
    assert each["class"].to_list() == [0, 1, 0, 1]
    assert each.drop("class")[::2].equals(whole)


@pytest.mark.parametrize("kind", KINDS)
def test_what_else_is_a_column_has_rows_of_its_own(kind: str) -> None:
    """Each value of a column of the judgments, sorted, nulls last, is what it is alone, with intervals and classes."""
    random = np.random.default_rng(3)
    rows = pl.DataFrame({"doc": range(60)}).with_columns(
        query=pl.col("doc") % 6,
        length=pl.Series([["long", "short", None][at] for at in random.integers(0, 3, 60)]),
        ann=pl.Series(random.integers(0, 3, 60)),
    )
    rows = rows.with_columns(bob=(pl.col("ann") + pl.col("length").eq("long").fill_null(False)).clip(0, 2))
    qrels = rows.unpivot(["ann", "bob"], index=["query", "doc", "length"], variable_name="who", value_name="grade")
    log = rows.select("query", "doc", score=1.0)
    options: dict[str, Any] = {"ci": 0.9, "resamples": 20, "per_class": True}
    irm = IRM(as_kind(log, kind), query="query").judge(as_kind(qrels, kind), annotator="who")
    found = as_polars(irm.agreement("ann", by="length", **options))
    assert found.columns[:4] == ["length", "annotator", "other", "class"]
    assert found["length"].unique(maintain_order=True).to_list() == ["long", "short", None]
    for length, part in found.group_by("length", maintain_order=True):
        some = qrels.filter(pl.col("length").eq_missing(length[0]))
        alone = log.irm(query="query").judge(some, annotator="who").agreement("ann", **options)
        assert_frame_equal(part.drop("length"), alone, check_dtypes=False)
    biased = as_polars(irm.agreement("ann", by=["length"]))["bias"].to_list()
    assert biased[0] > 0.5
    assert biased[1:] == [0, 0]
    if kind == "polars":
        lazy = log.lazy().irm(query="query").judge(qrels, annotator="who").agreement("ann", by="length", **options)
        assert lazy.collect_schema() == found.schema
        assert_frame_equal(lazy.collect(), found)


def test_several_references() -> None:
    """Each annotator that is none of them beside each of them, in the order in which they are given."""
    irm = judged({"d": [0, 1, 1, 0], "a": [0, 1, 1, 1], "b": [1, 1, 1, 0], "c": [0, 0, 1, 0]})
    found = irm.agreement(["c", "a"])
    assert found.select("annotator", "other").rows() == [("b", "c"), ("b", "a"), ("d", "c"), ("d", "a")]
    for who in "ca":
        assert_frame_equal(found.filter(other=who), irm.agreement(who).filter(pl.col("annotator").is_in(["b", "d"])))
    assert_frame_equal(irm.agreement([]), irm.agreement())
    assert "names every annotator" in error(lambda: irm.agreement([*"abcd"]))
    assert "is none of the annotators" in error(lambda: irm.agreement(["a", "x"]))


def test_a_column_that_judgments_lack_is_refused() -> None:
    """As is one that is called as a column of the result."""
    irm = judged({"human": [1, 0], "model": [1, 1]})
    said = error(lambda: irm.agreement(by="length"))
    assert "by='length' is no column of the judgments, which have 'query', 'doc', 'who', 'grade'" in said
    assert "per_class=3 is not" in error(lambda: irm.agreement(per_class=3))
    qrels = irm._judgments[0].with_columns(kappa=1)  # type: ignore[index]
    assert "kappa" in error(lambda: irm.frame.irm().judge(qrels, annotator="who").agreement(by="kappa"))
