"""Grades that are words: scale= says what each is worth, in every verb and kind of frame."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from frame_metrics import IRM, BadValueError, NotComputableError
from frame_metrics.metrics import ndcg
from helpers import KINDS, as_kind, as_polars, error, made_log, pairwise_cases
from refusals import check, refusals_of, run

SCALE: dict[Any, Any] = {"Exact": 3, "Substitute": 2, "Complement": 1, "Irrelevant": 0}
WORDS = {grade: word for word, grade in SCALE.items()}
IN_ORDER = pl.Enum([WORDS[grade] for grade in range(4)])

NUMBERS = made_log(queries=12).with_columns(
    pl.col("grade").clip(0, 3).cast(pl.Int64), system=pl.lit("own"), weight=pl.col("weight") + 1
)
TEXTS = NUMBERS.with_columns(pl.col("grade").replace_strict(WORDS, return_dtype=pl.String))
ROLES: dict[str, Any] = {"query": "query", "doc": "doc", "score": "score"}
NO_QUERY: dict[str, Any] = {"query": None, "score": "weight", "unjudged": "negative"}

VERBS: dict[str, Callable[[IRM[Any]], Any]] = {
    "evaluate": lambda irm: irm(by="segment").evaluate("ndcg@5", "map", "err(max_grade=3)@10", "num_rel", ci=0.9),
    "evaluate with gains": lambda irm: irm.evaluate(ndcg(gain={0: 0, 1: 1, 2: 3, 3: 7}) @ 3, "ndcg(gain='exp')"),
    "per_query": lambda irm: irm.per_query("ndcg", "rr", "bpref"),
    "bounds of ties": lambda irm: irm(ties="worst").bounds("precision@3", of="ties"),
    "bounds of unjudged rows": lambda irm: irm(ties="order").bounds("ndcg@3", of="unjudged", max_grade=3),
    "explain": lambda irm: irm.explain("ndcg@5", query="q01"),
    "curve": lambda irm: irm.curve("ndcg@k", "recall@k", cutoffs=4),
    "curve of scores": lambda irm: irm.curve("roc"),
    "audit": lambda irm: irm.audit(),
    "confusion": lambda irm: irm(threshold=3).confusion(),
    "thresholds": lambda irm: irm.thresholds("f1"),
    "best_threshold": lambda irm: irm.best_threshold("f1"),
    "per_class": lambda irm: irm(**NO_QUERY, threshold=3).per_class("recall", "mcc", layout="wide"),
    "rows": lambda irm: irm(**NO_QUERY).evaluate("roc_auc", "average_precision", ci=0.9),
    "decisions": lambda irm: irm(**NO_QUERY, threshold=2).audit(),
}
TYPES: dict[str, Any] = {"text": pl.String, "categories": pl.Categorical, "enum": IN_ORDER}


@pytest.mark.parametrize(("verb", "dtype", "kind"), pairwise_cases(VERBS, TYPES, KINDS))
def test_words_give_what_their_numbers_give(verb: str, dtype: str, kind: str) -> None:
    """A log in words has the results of the same log in numbers, in every verb, type of text and kind of frame."""
    words = as_kind(TEXTS.with_columns(pl.col("grade").cast(TYPES[dtype])), kind)
    one = VERBS[verb](IRM(words, **ROLES, scale=SCALE, rel="Substitute"))
    other = VERBS[verb](IRM(as_kind(NUMBERS, kind), **ROLES, rel=2))
    one, other = as_polars(one), as_polars(other)
    if "message" in one.columns:
        one = one.with_columns(pl.col("message").str.replace(" ('Substitute')", "", literal=True))
    assert len(other)
    assert one.equals(other)


@pytest.mark.parametrize("dtype", TYPES)
def test_judgments_beside_are_in_words(dtype: str, kind: str) -> None:
    """Words of judgments beside the log, an irm of two systems compared."""
    run = NUMBERS.drop("grade").drop_nulls("score")
    runs = pl.concat([run, run.with_columns(pl.col("score").reverse(), system=pl.lit("new"))])

    def compared(qrels: pl.DataFrame, **how: Any) -> pl.DataFrame:
        beside = qrels.select("query", "doc", "grade").drop_nulls()
        irm = IRM(as_kind(runs, kind), **ROLES, system="system", ties="worst", **how).judge(as_kind(beside, kind))
        return as_polars(irm.compare("ndcg@5", "ap", permutations=100, resamples=50))

    words = TEXTS.with_columns(pl.col("grade").cast(TYPES[dtype]))
    assert compared(words, scale=SCALE, rel="Complement").equals(compared(NUMBERS))


def log(*grades: Any, dtype: Any = None) -> pl.DataFrame:
    """One query with a document for each grade, in this order."""
    n = len(grades)
    return pl.DataFrame(
        {
            "query": ["q"] * n,
            "doc": [f"d{i}" for i in range(n)],
            "score": [float(n - i) for i in range(n)],
            "grade": pl.Series(grades, dtype=dtype),
        }
    )


FOUR = log("Substitute", "Exact", "Irrelevant", None)


def test_a_scale_by_hand() -> None:
    """Grades 2, 3, 0 and none: cg is 5, dcg 2 + 3 / log2(3), and from Exact on the second is the first relevant."""
    irm = FOUR.irm(scale=SCALE)
    assert irm.evaluate("cg", "dcg", "num_rel", "judged@4")["value"].to_list() == pytest.approx(
        [5, 2 + 3 / np.log2(3), 2, 0.75]
    )
    assert irm(rel="Exact").evaluate("rr")["value"].item() == 0.5
    assert irm(rel="Exact").evaluate("rr").equals(irm(rel=3).evaluate("rr"))


def test_pandas_objects_and_ordered_categories() -> None:
    """Words in columns of objects, and in ordered categories of another order than the scale's."""
    plain = FOUR.to_pandas()
    expected = as_polars(plain.irm(scale=SCALE).evaluate("ndcg", "ap"))
    shuffled = pd.CategoricalDtype(["Exact", "Irrelevant", "never", "Substitute"], ordered=True)
    for kind in (object, "string", "category", shuffled):
        held = plain.assign(grade=plain["grade"].astype(kind))
        assert as_polars(held.irm(scale=SCALE).evaluate("ndcg", "ap")).equals(expected)
    coded = FOUR.to_arrow().set_column(3, "grade", FOUR["grade"].to_arrow().dictionary_encode())
    assert pa.types.is_dictionary(coded.schema.field("grade").type)
    assert as_polars(IRM(coded, scale=SCALE).evaluate("ndcg", "ap")).equals(expected)


def test_a_word_without_a_grade_is_no_judgment() -> None:
    """None as the grade of a word says that nobody judged, as a null does."""
    one = log("Exact", "cannot say", "Irrelevant").irm(scale={**SCALE, "cannot say": None})
    other = log(3, None, 0).irm
    assert one.evaluate("ap", "bpref", "judged@3").equals(other.evaluate("ap", "bpref", "judged@3"))


@pytest.mark.parametrize(
    ("scale", "grades", "dtype"),
    [
        ({1: 3, 2: 2, 3: 1, 4: 0}, (2, 1, 4, None), pl.Int8),
        ({1: 3, 2: 2, 4: 0}, (2, 1, 4, None), pl.UInt64),
        ({1.0: 3, 2: 2, 4: 0}, (2, 1, 4, None), pl.Float64),
        ({0.1: 3, 0.2: 2, 0.4: 0}, (0.2, 0.1, 0.4, None), pl.Float32),
        ({1: 3, 2: 2, 4: 0}, (2, 1, 4, None), pl.Decimal(10, 2)),
    ],
)
def test_codes_that_are_numbers(scale: dict[Any, Any], grades: tuple[Any, ...], dtype: Any) -> None:
    """Codes of a column of numbers are words too, as where 1 is the best; rel= is a grade, and no code."""
    irm = log(*grades, dtype=dtype).irm(scale=scale, rel=3)
    assert irm.evaluate("cg", "num_rel", "rr")["value"].to_list() == [5, 1, 0.5]


def test_booleans_are_words() -> None:
    """True and False may be worth other grades than 1 and 0."""
    assert log(True, False, None).irm(scale={True: 4, False: 1}).evaluate("cg")["value"].item() == 5


def test_a_scale_of_gains_with_fractions() -> None:
    """Grades may be fractions, as the gains of ESCI, where only Exact reaches 1."""
    esci = {"Exact": 1.0, "Substitute": 0.1, "Complement": 0.01, "Irrelevant": 0.0}
    irm = FOUR.irm(scale=esci)
    assert irm.evaluate("cg")["value"].to_list() == [pytest.approx(1.1)]
    assert "num_rel: 1 grade lies between 0 and 1 in grade" in error(lambda: irm.evaluate("num_rel"))
    assert irm(rel="Exact").evaluate("num_rel")["value"].item() == 1
    assert irm(rel="Substitute").evaluate("num_rel")["value"].item() == 2
    held = FOUR.with_columns(pl.col("grade").replace_strict(esci)).irm
    assert irm(rel="Exact").evaluate("ndcg", "ap").equals(held(rel=1).evaluate("ndcg", "ap"))


def test_rel_is_not_rounded_where_grades_are_words() -> None:
    """A code in float32 is worth its grade in full, which reaches a rel= of the same number."""
    irm = log(0.25, 0.5, dtype=pl.Float32).irm(scale={0.25: 0.1, 0.5: 0.7}, rel=0.7)
    assert irm.evaluate("num_rel")["value"].item() == 1


def test_words_that_never_occur_are_no_finding() -> None:
    """A scale may have more words than the log, and audit says nothing of it; a frame of no judgment is one too."""
    found = log("Exact", "Exact").irm(scale=SCALE).audit()
    assert "scale" not in " ".join(found["message"])
    nothing = log(None, None)
    assert nothing.irm(scale=SCALE).audit().filter(severity="error")["check"].to_list() == ["nothing to evaluate"]
    assert nothing.with_columns(pl.col("grade").cast(pl.Float64)).irm(scale=SCALE).evaluate("ap")["n"].item() == 0


def test_audit_counts_words_that_are_not_in_the_scale() -> None:
    """The rows are a finding, and the rest of the audit is about the others."""
    odd = log("Exact", "exact", "Exakt", "Exact", "Irrelevant", "?").irm(scale=SCALE).audit()
    assert odd.row(0, named=True) | {"message": ""} == {
        "check": "grades that are not in scale=",
        "severity": "error",
        "n": 3,
        "share": 0.5,
        "example": "row 1",
        "message": "",
    }
    assert odd.filter(check="results judged")["n"].item() == 3


def test_the_largest_grade_is_named_by_its_word() -> None:
    """Errors about grades have the words, and the largest grade of the scale where a metric needs it."""
    irm = log("Complement", "Irrelevant").irm(scale=SCALE, rel="Exact")
    small = "no grade in grade reaches rel=3 ('Exact'); the largest is 1 ('Complement'): set rel= lower"
    assert error(lambda: irm.evaluate("ap"), NotComputableError) == f"ap: {small}"
    assert error(lambda: irm(query=None).evaluate("roc_auc"), NotComputableError).endswith(small)
    assert irm.audit()["message"][0].startswith(
        "nothing is relevant at rel=3 ('Exact'), because the largest grade is 1 ('Com"
    )
    assert error(lambda: irm(rel=1).evaluate("err")) == (
        "err needs max_grade=, the highest grade of the scale: 3; if 3 is the highest, ask for 'err(max_grade=3)'"
    )
    said = "ndcg: bounds of unjudged rows need the scale; pass max_grade=3"
    assert error(lambda: irm(rel=1).bounds("ndcg", of="unjudged")) == said
    assert irm(rel=1).evaluate("err(max_grade=3)")["value"].item() == pytest.approx(1 / 8)
    low = error(lambda: FOUR.irm(scale=SCALE).evaluate("err(max_grade=2)"), BadValueError)
    assert low == "err(max_grade=2): max_grade=2, but the largest grade in grade is 3 ('Exact')"


UNKNOWN = log("Exakt", "Exact", "Exakt", "exact", "Irrelevant", "bad", "worse", "worst")
AT_CALL = r"""
UNKNOWN.irm(scale=SCALE).evaluate("ndcg")
    BadRowsError: grade: 6 of 8 rows are not in scale= (rows 0, 2, 3); 'Exakt' (2 times; did you mean 'Exact'?), 'bad'
        (once), 'exact' (once; did you mean 'Exact'?) and 2 other words: mend them, give them a grade in scale=, or make
        them null
log(7, 1, 0).irm(scale={0: 0, 1: 1}).evaluate("ndcg")
    BadRowsError: grade: 1 of 3 rows is not in scale= (row 0); 7 (once): mend them, give them a grade in scale=, or make
        them null
log(3, 2).irm(scale=SCALE).evaluate("ndcg")
    BadValueError: grade: its values are Int64, and the words of scale= are text; give each of its values a grade, or
        pass scale=None if they are grades
log("Exact").irm(scale={3: 3}).evaluate("ndcg")
    BadValueError: grade: its values are text, and the words of scale= are numbers; give each of its values a grade,
        or pass scale=None if they are grades
log("b", "a").irm().evaluate("ndcg")
    BadValueError: grade: a grade is a number, and this column is text; give each word a grade, as scale={'a': ...,
        'b': ...}, or convert it
log(*"abcdefghij").irm().evaluate("ndcg")
    BadValueError: grade: a grade is a number, and this column is text; give each word a grade, as scale={'a': ...,
        'b': ..., 'c': ..., 'd': ..., 'e': ..., 'f': ..., 'g': ..., 'h': ..., ...}, or convert it
log("1", "2.5").irm().evaluate("ndcg")
    BadValueError: grade: a grade is a number, and this column is text; convert it
log("1", "2,5").irm().evaluate("ndcg")
    BadValueError: grade: a grade is a number, and this column is text; convert it, with points in the place of commas
log(1.0, float("nan")).irm(scale={1: 1}).evaluate("ndcg")
    BadRowsError: grade: 1 of 2 rows is NaN (row 1); drop them, or make them null
log("Exact").rename({"grade": "label"}).irm(scale=SCALE).evaluate("ndcg")
    ColumnError: scale= is about words that are grades, and label is a label; name it with grade=, or the relevant word
        with positive=
    but: log("Exact", None).irm(scale=SCALE).evaluate("ndcg")
    but: log(1.0, 0.5).irm(rel=0.5).evaluate("ndcg")
"""


def test_grades_that_the_scale_does_not_read() -> None:
    """Words that are not in the scale, and a scale that is not for this column, in every way that rows are read."""
    check(AT_CALL, globals())
    for row in refusals_of(AT_CALL, globals()):
        irm = run(row.irm, globals())
        assert error(lambda irm=irm: IRM(irm.frame.lazy(), **irm.roles).evaluate("ndcg")) == row.words  # type: ignore[misc]
        if "grade" in irm.frame.columns:
            assert error(lambda irm=irm: irm(query=None).evaluate("roc_auc")).startswith(row.words)  # type: ignore[misc]
            run_of = irm.frame.select("query", "doc", "score").irm(**irm.roles)
            beside = error(lambda irm=irm, of=run_of: of.judge(irm.frame).evaluate("ndcg"), BadValueError)  # type: ignore[misc]
            assert beside.replace(" (of the judgments)", "") == row.words


# Other forms of logs


LISTS = pl.DataFrame(
    {"qid": ["a", "b"], "doc": [["x", "y"], ["x"]], "grade": [["Exact", "Irrelevant"], ["Substitute"]]}
)


def test_lists_of_words(kind: str) -> None:
    """Lists of words are read as their grades are, and a word that is not in the scale is one of its row."""
    irm = IRM(as_kind(LISTS, kind), query="qid", scale=SCALE, rel="Substitute")
    assert as_polars(irm.per_query("cg", "rr"))["value"].to_list() == [3, 1, 2, 1]
    odd = LISTS.with_columns(grade=pl.Series([["Exact", "Irrelevant"], ["Exakt"]]))
    message = error(lambda: IRM(as_kind(odd, kind), query="qid", scale=SCALE).evaluate("cg"))
    assert message.startswith("grade: 1 of 2 rows is not in scale= (row 1); 'Exakt' (once; did you mean 'Exact'?)")


def test_a_column_per_system_beside_words() -> None:
    """Systems that are columns are measured on the same words."""
    both = FOUR.with_columns(one=pl.col("score"), other=-pl.col("score"))
    irm = both.irm(score=["one", "other"], scale=SCALE, rel="Exact")
    assert irm.evaluate("rr").select("system", "value").rows() == [("one", 0.5), ("other", pytest.approx(1 / 3))]


IDS = LISTS.drop("grade").with_columns(relevant=pl.col("doc"))
MIXED = FOUR.to_pandas().assign(grade=["Exact", 2, "Irrelevant", None])
named = FOUR.irm
BAD_SCALES = r"""
named(scale={})
    BadValueError: scale={} is not a mapping from words to grades, as {'good': 2, 'bad': 0}
named(scale=["good"])
    BadValueError: scale=['good'] is not a mapping from words to grades, as {'good': 2, 'bad': 0}
named(scale={"good": float("nan")})
    BadValueError: scale=: the grade of 'good' is nan, and no number; None is not judged
named(scale={"good": float("inf")})
    BadValueError: scale=: the grade of 'good' is inf, and no number; None is not judged
named(scale={"good": "2"})
    BadValueError: scale=: the grade of 'good' is '2', and no number; None is not judged
named(scale={"good": True})
    BadValueError: scale=: the grade of 'good' is True, and no number; None is not judged
named(scale={"good": 2 ** 60})
    BadValueError: scale=: the grade of 'good' is 1152921504606846976, and no number; None is not judged
named(scale={"good": None})
    BadValueError: scale=: no word has a grade, so that nothing would be judged; give one a number
named(scale={"good": 2, 1: 1})
    BadValueError: scale=: the words 'good', 1 have several types; give them that of the column
named(scale={True: 2, 0: 1})
    BadValueError: scale=: the words True, 0 have several types; give them that of the column
named(scale={"good": 2, None: 1})
    BadValueError: scale= has None among its words; a missing grade is not judged, and needs no word
named(scale={float("nan"): 1})
    BadValueError: scale= has nan among its words; a missing grade is not judged, and needs no word
named(scale={("a",): 1})
    BadValueError: scale= has ('a',) among its words; it is no word
named(scale={"Good": 2, "good ": 1})
    BadValueError: scale= has 'Good' and 'good ', which are one word but for case, with two grades; give them one
    but: named(scale={"Good": 2, "good": 2, "bad": 0.5, "?": None})
named(rel="Exact")
    BadValueError: rel='Exact' is not a grade; a word needs scale= too, with the grade of each
named(rel="Exakt", scale={"Exact": 3, "Irrelevant": 0})
    BadValueError: rel='Exakt' is no word of scale=; there are 'Exact', 'Irrelevant'; did you mean 'Exact'?
named(rel="?", scale={"Exact": 3, "?": None})
    BadValueError: rel='?' has no grade in scale=; there are 'Exact'
    but: named(rel="Exact", scale={"Exact": 3, "?": None})
IDS.irm(query="qid", scale=SCALE).evaluate("rr")
    ColumnError: scale= is about words that are grades, and relevant lists ids; pass scale=None
    but: IDS.irm(query="qid").evaluate("rr")
MIXED.irm(scale=SCALE).evaluate("ndcg")
    BadRowsError: grade: 1 of 4 rows is not in scale= (row 1); '2' (once): mend them, give them a grade in scale=, or
        make them null
    but: MIXED[:1].irm(scale=SCALE).evaluate("ndcg")
"""


def test_bad_scales() -> None:
    """A scale, or a word for rel=, that cannot be meant is an error where it is said."""
    check(BAD_SCALES, globals())
    check(BAD_SCALES, globals() | {"named": lambda **roles: FOUR.irm(scale=SCALE)(**{"scale": None} | roles)})


def test_spellings_of_one_word() -> None:
    """Words that differ in case only may have one grade, and each is read as it is written."""
    irm = log("Exact", "exact").irm(scale={"Exact": 3, "exact": 3})
    assert irm.evaluate("cg")["value"].item() == 6


def test_a_scale_is_a_copy_and_can_be_taken_back() -> None:
    """What the caller changes later changes nothing; scale=None takes it back; the repr shows it."""
    scale = {"good": 2, "bad": 0}
    irm = log("good", "bad").irm(scale=scale)
    scale["good"] = 5
    assert irm.evaluate("cg")["value"].item() == 2
    assert "scale={'good': 2, 'bad': 0}" in repr(irm)
    assert "a grade is a number" in error(lambda: irm(scale=None).evaluate("cg"))


@pytest.mark.skipif(not hasattr(pl, "Categories"), reason="categories have no names in this polars")
def test_categories_that_have_a_name_are_text() -> None:
    """Words, ids and classes of such a type are taken as those of any categories."""
    kind = pl.Categorical(pl.Categories("shop"))
    log = pl.DataFrame({"query": "a", "doc": ["x", "y"], "score": [2, 1], "said": ["bad", "good"]})
    log = log.with_columns(pl.col("query", "doc", "said").cast(kind))
    ids = log.drop("said")
    qrels = pl.DataFrame({"query": ["a"], "doc": ["y"], "grade": [1]})
    for irm in (ids.irm.judge(qrels), log.irm(grade="said", scale={"bad": 0, "good": 1})):
        assert irm.evaluate("rr")["value"].to_list() == [0.5]
    assert log.irm(label="said", positive="good").evaluate("rr")["value"].to_list() == [0.5]
    judged = ids.with_columns(grade=1)
    novelty = [
        frame.irm(popularity={"x": 1, "y": 3}).evaluate("novelty@2")
        for frame in (judged, judged.cast({kind: pl.String}))
    ]
    assert novelty[0].equals(novelty[1])
