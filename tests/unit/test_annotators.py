"""Judgments of several annotators: made one by a rule, and how far the annotators agree."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa

from frame_metrics import IRM, BadValueError, ColumnError, UnknownNameError
from helpers import KINDS, as_kind, as_polars, error, facts, frame, made_log, pairwise_cases, real

RULES = ("mean", "median", "max", "majority")
MANY = [(f"d{n}", n) for n in range(1, 101)]  # documents with their grades in hundredths


RUN = frame("query doc score", ("q", "x", 4.0), ("q", "y", 3.0), ("q", "z", 2.0), ("q", "u", 1.0))
JUDGED = frame(
    "query doc rater rating",
    ("q", "x", "ann", 3),
    ("q", "x", "bob", 0),
    ("q", "x", "cy", 1),
    ("q", "x", "dot", 1),
    ("q", "y", "ann", 2),
    ("q", "y", "bob", None),
    ("q", "z", "ann", 0),
    ("q", "z", "bob", 3),
    ("q", "u", "ann", None),
)
ONE = {  # of x, y, z; nobody judged u
    "mean": (1.25, 2.0, 1.5),
    "median": (1.0, 2.0, 1.5),
    "max": (3.0, 2.0, 3.0),
    "majority": (1.0, 2.0, 0.0),
}


def gains(irm: IRM[pl.DataFrame]) -> dict[Any, Any]:
    """The gain of each document of the query."""
    return dict(irm.explain("cg", query="q").select("doc", "gain").rows())


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("annotator", [None, "rater"])
def test_one_judgment_is_made_of_several(rule: str, annotator: str | None) -> None:
    """The mean, the median, the greatest, or what most say, the lowest of equals; a null is no judgment."""
    irm = RUN.irm.judge(JUDGED, grade="rating", several=rule, annotator=annotator)
    assert gains(irm) == dict(zip("xyzu", (*ONE[rule], 0.0), strict=True))
    assert irm.evaluate("judged@4")["value"].item() == 0.75


def reduced(judged: pl.DataFrame, rule: str) -> pl.DataFrame:
    """One row per document, made by polars or numpy."""
    made: dict[str, Callable[[list[int]], float]] = {
        "mean": lambda values: float(np.mean(values)),
        "median": lambda values: float(np.median(values)),
        "max": max,
        "majority": lambda values: min(values, key=lambda value: (-values.count(value), value)),
    }
    known: dict[tuple[Any, ...], list[int]] = {}
    for *pair, grade in judged.select("query", "doc", "grade").rows():
        if grade is not None:
            known.setdefault(tuple(pair), []).append(grade)
    rows = [(*pair, made[rule](values)) for pair, values in known.items()]
    return pl.DataFrame(rows, schema={"query": pl.String, "doc": pl.String, "grade": pl.Float64}, orient="row")


def drawn(seed: int = 0, raters: int = 3) -> pl.DataFrame:
    """A grade by every rater for the documents of a log, the raters more or less near the log's own grade."""
    random, log = np.random.default_rng(seed), made_log().filter(pl.col("grade").is_not_null())
    parts = []
    for rater in range(raters):
        grade = (log["grade"].to_numpy() + random.integers(-1, 2, len(log))).clip(0, 4).astype(int)
        there = random.random(len(log)) < 0.8
        parts.append(
            log.select("query", "doc", "segment", rater=pl.lit(f"r{rater}"), grade=pl.Series(grade)).filter(there)
        )
    return pl.concat(parts).sample(fraction=1, shuffle=True, seed=seed)


VERBS: dict[str, Callable[[IRM[Any]], Any]] = {
    "evaluate": lambda irm: irm(by="segment").evaluate("ndcg@5", "ap", "num_rel", ci=0.9, resamples=50),
    "per_query": lambda irm: irm.per_query("ndcg", "bpref", "rr(rel=2)"),
    "compare": lambda irm: irm.compare("ndcg@5", permutations=100, resamples=50),
    "bounds": lambda irm: irm(ties="order").bounds("ap", of="unjudged"),
    "explain": lambda irm: irm(system=None, duplicates="first").explain("ndcg@5", query="q01"),
    "curve": lambda irm: irm.curve("recall@k", cutoffs=3),
    "confusion": lambda irm: irm(threshold=3).confusion(),
}


@pytest.mark.parametrize(("verb", "rule", "kind"), pairwise_cases(VERBS, RULES, KINDS))
def test_every_verb_reads_the_judgments_made_one(verb: str, rule: str, kind: str) -> None:
    """The results are those of judgments that were made one before."""
    run = made_log().drop("grade").drop_nulls("score")
    runs = pl.concat([run.with_columns(system=pl.lit("a")), run.with_columns(-pl.col("score"), system=pl.lit("b"))])
    irm = IRM(as_kind(runs, kind), query="query", doc="doc", score="score", system="system", rank=None, rel=1)
    several = irm.judge(as_kind(drawn().drop("segment"), kind), several=rule, annotator="rater")
    one = as_polars(VERBS[verb](several))
    other = as_polars(VERBS[verb](irm.judge(as_kind(reduced(drawn(), rule), kind))))
    assert len(one)
    assert one.sort(one.columns).equals(other.sort(one.columns)) or _close(one, other)


def _close(one: pl.DataFrame, other: pl.DataFrame) -> bool:
    """True for frames that are equal but for the last digits, in any order of the queries that only judgments have."""
    keys = [name for name, dtype in one.schema.items() if not dtype.is_float()]
    both = [table.sort(keys, nulls_last=True) for table in (one, other)]
    if not both[0].select(keys).equals(both[1].select(keys)):
        return False
    numbers = [table.drop(keys).to_numpy() for table in both]
    return np.allclose(*numbers, rtol=0, atol=1e-12, equal_nan=True)


@pytest.mark.parametrize("rule", RULES)
def test_the_order_of_the_judgments_says_nothing(rule: str) -> None:
    """Shuffled judgments give the same grades to the last bit, and the same findings."""
    run = made_log().drop("grade").drop_nulls("score").irm(query="query", doc="doc", score="score", rank=None)
    thirds = drawn(raters=5).with_columns(pl.col("grade") / 3 + 0.1)
    irms = [
        run.judge(thirds.sample(fraction=1, shuffle=True, seed=seed), several=rule, annotator="rater")
        for seed in range(3)
    ]
    values = [irm.per_query("ndcg", "cg").sort("query", "metric") for irm in irms]
    assert values[0].equals(values[1])
    assert values[0].equals(values[2])
    agreed = [irm.agreement() for irm in irms]
    assert len(agreed[0]) == 11
    assert agreed[0].equals(agreed[1])


def test_judgments_belong_to_their_segment() -> None:
    """Judgments of a segment are made one there, and not with those of another."""
    run = frame("query seg doc score", ("q", "m", "x", 1.0), ("q", "d", "x", 1.0))
    judged = frame("query seg doc grade", ("q", "m", "x", 3), ("q", "m", "x", 1), ("q", "d", "x", 5))
    irm = run.irm(by="seg").judge(judged, several="mean")
    assert irm.evaluate("cg").select("seg", "value").rows() == [("d", 5.0), ("m", 2.0)]


@pytest.mark.parametrize("rule", RULES)
def test_lists_of_judgments(rule: str, kind: str) -> None:
    """A row of judgments may be all that an annotator said of a query, or all that anybody said of it."""
    by_rater = JUDGED.group_by("query", "rater", maintain_order=True).agg("doc", "rating")
    by_query = JUDGED.group_by("query", maintain_order=True).agg("doc", "rating", "rater")
    for lists in (by_rater, by_query):
        irm = IRM(as_kind(RUN, kind)).judge(as_kind(lists, kind), grade="rating", several=rule, annotator="rater")
        assert as_polars(irm.evaluate("cg"))["value"].item() == sum(ONE[rule])
        assert len(agreed(irm)) == 6


def test_words_are_made_one_as_their_grades() -> None:
    """The mean of words is that of what the scale says, and rel= may be a word all the same."""
    judged = frame("query doc grade", ("q", "x", "good"), ("q", "x", "bad"), ("q", "y", "good"), ("q", "y", "bad"))
    irm = RUN.irm(scale={"good": 2, "bad": 0}, rel="good").judge(judged, several="mean")
    assert irm(rel=1).evaluate("cg", "num_rel")["value"].to_list() == [2, 2]
    assert irm.audit()["check"][0] == "grades that do not reach rel"


def test_a_mean_in_float32_reaches_rel() -> None:
    """The mean of grades of .7 in float32 is relevant from .7 on, as a single one is; that of others is in float64."""
    thirds = frame("query doc grade", ("q", "x", 1), ("q", "x", 2), ("q", "x", 2)).cast({"grade": pl.Float32})
    assert RUN.irm.judge(thirds, several="mean").evaluate("idcg")["value"].item() == 5 / 3
    twice = frame("query doc grade", ("q", "x", 0.7), ("q", "x", 0.7)).cast({"grade": pl.Float32})
    for rule in RULES:
        assert RUN.irm(rel=0.7).judge(twice, several=rule).evaluate("num_rel")["value"].item() == 1


LABELS = frame(
    "query doc who label",
    ("q", "x", 1, True),
    ("q", "x", 2, False),
    ("q", "x", 3, True),
    ("q", "y", 1, True),
    ("q", "y", 2, False),
    ("q", "z", 1, None),
)


def test_labels_are_made_one_by_majority_or_max() -> None:
    """Relevant is what most say, or what anybody says; a tie is not relevant, and a null is no judgment."""
    irm = RUN.irm
    assert irm.judge(LABELS, several="majority").evaluate("num_rel", "judged@4")["value"].to_list() == [1, 0.5]
    assert irm.judge(LABELS, several="max").evaluate("num_rel")["value"].item() == 2
    shares = irm.judge(LABELS, grade="label", several="mean")
    assert shares.evaluate("cg")["value"].item() == pytest.approx(2 / 3 + 1 / 2)


@pytest.mark.parametrize(
    ("said", "cause", "message"),
    [
        (
            {"several": "mean"},
            ColumnError,
            "several='mean' applies to grades, and label is a label; pass 'majority' or 'max', or name it with grade=",
        ),
        (
            {"several": "median"},
            ColumnError,
            "several='median' applies to grades, and label is a label; pass 'majority' or 'max', or name it with "
            "grade=",
        ),
        (
            {"several": "most"},
            UnknownNameError,
            "several='most' is not one of 'mean', 'median', 'max', 'majority'",
        ),
        (
            {"label": True, "several": "max"},
            ColumnError,
            "label=True says that every row is relevant, so that annotators do not differ; leave annotator= and "
            "several= out",
        ),
        (
            {"annotator": "rater"},
            ColumnError,
            "judge: annotator='rater' is not among 'query', 'doc', 'who', 'label'",
        ),
        ({"annotator": "doc"}, ColumnError, "annotator='doc' is the doc too; a column can have only one role"),
        ({"annotator": "query"}, ColumnError, "annotator='query' is the query too; a column can have only one role"),
        (
            {"annotator": LABELS["who"]},
            BadValueError,
            "judge: annotator=<polars.Series> is not the name of a column; make it a column of the frame, and give its "
            "name",
        ),
    ],
)
def test_what_judge_cannot_do(said: dict[str, Any], cause: Any, message: str) -> None:
    """Rules that labels do not have, and annotators that are nobody, are errors before anything is read."""
    assert error(lambda: RUN.irm.judge(LABELS, **said), cause) == message


def test_two_judgments_without_a_rule_are_an_error_that_offers_it() -> None:
    """Different grades of one document are an error that says several=, whether annotators are named or not."""
    message = (
        "rating: 2 pairs have two judgments (query and document (q, x), rows 0, 1, 2); keep one of each, or use "
        "judge(..., several=) if several people judged: 'mean', 'median', 'max' or 'majority'"
    )
    for annotator in (None, "rater"):
        judged = RUN.irm.judge(JUDGED, grade="rating", annotator=annotator)
        assert error(lambda judged=judged: judged.evaluate("cg"), BadValueError) == message
    in_the_log = frame("query doc score grade", ("q", "x", 1.0, 1), ("q", "x", 2.0, 3))
    assert "several=" not in error(lambda: in_the_log.irm(duplicates="first").evaluate("cg"))


def test_an_annotator_who_says_two_things_is_an_error() -> None:
    """One annotator judges a document once: the same twice counts once, different grades are an error."""
    again = pl.concat([JUDGED, frame("query doc rater rating", ("q", "x", "ann", 3), ("q", "x", "ann", 3))])
    irm = RUN.irm.judge(again, grade="rating", several="mean", annotator="rater")
    assert gains(irm)["x"] == 1.25
    assert gains(RUN.irm.judge(again, grade="rating", several="mean"))["x"] == pytest.approx(11 / 6)
    odd = pl.concat([JUDGED, frame("query doc rater rating", ("q", "z", "bob", 1))])
    for rule in (None, *RULES):
        judged = RUN.irm.judge(odd, grade="rating", several=rule, annotator="rater")
        assert error(lambda judged=judged: judged.evaluate("cg"), BadValueError) == (
            "rating: 1 pair has two judgments of one rater (query, document and rater (q, z, bob), rows 7, 9); "
            "keep one of each"
        )


def test_a_judgment_of_nobody_is_an_error() -> None:
    """A null annotator is an error where there is a judgment, and no matter where there is none."""
    some = JUDGED.with_columns(rater=pl.when(pl.col("rating") == 0).then(None).otherwise("rater"))
    irm = RUN.irm.judge(some, grade="rating", several="max", annotator="rater")
    assert error(lambda: irm.evaluate("cg"), BadValueError) == (
        "rater (of the judgments): 2 of 9 rows have a judgment and no annotator (rows 1, 6); give every judgment the "
        "one who gave it"
    )
    fine = JUDGED.with_columns(rater=pl.when(pl.col("rating").is_null()).then(None).otherwise("rater"))
    assert RUN.irm.judge(fine, grade="rating", several="max", annotator="rater").evaluate("cg")["value"].item() == 8
    numbers = JUDGED.with_columns(rater=pl.lit(float("nan")))
    judged = RUN.irm.judge(numbers, grade="rating", several="max", annotator="rater")
    assert error(lambda: judged.evaluate("cg")).startswith("rater (of the judgments): 9 of 9 rows are NaN")


# What audit says


def agreed(irm: IRM[Any]) -> dict[str, tuple[int, int, list[float]]]:
    """Equal judgments, common ones, and the kappas of each two annotators."""
    rows = as_polars(irm.agreement()).drop_nulls("annotator")
    columns = rows.select("annotator", "other", "n", "equal", "kappa", "weighted_kappa").rows()
    return {
        f"{one}, {other}": (round(n * equal), n, [math.nan if kappa is None else kappa for kappa in kappas])
        for one, other, n, equal, *kappas in columns
    }


def pivoted(judged: pl.DataFrame, value: str = "grade") -> pd.DataFrame:
    """A column for each rater."""
    return judged.drop_nulls(value).to_pandas().pivot_table(value, ["query", "doc"], "rater")


@pytest.mark.parametrize("seed", range(3))
def test_kappas_are_those_of_scikit_learn(seed: int) -> None:
    """Cohen's kappa, and weighted by squares, of every two annotators, with the documents that both judged."""
    judged = drawn(seed)
    wide, found = pivoted(judged), agreed(_runs().judge(judged.drop("segment"), several="mean", annotator="rater"))
    assert list(found) == ["r0, r1", "r0, r2", "r1, r2"]
    for pair, (n, both, kappas) in found.items():
        one, other = wide[pair.split(", ")].dropna().to_numpy().T
        assert (n, both) == ((one == other).sum(), len(one))
        levels = list(range(5))
        expected = [cohen_kappa_score(one, other, labels=levels, weights=w) for w in (None, "quadratic")]
        assert kappas == pytest.approx(expected, abs=1e-9)


def _runs() -> IRM[pl.DataFrame]:
    return made_log().drop("grade").drop_nulls("score").irm(query="query", doc="doc", score="score", rank=None)


def test_weights_are_squared_differences_of_the_grades() -> None:
    """Of grades 0, 1, 4 the last two are three apart, as in statsmodels with those weights, and not one place."""
    judged = drawn(7).with_columns(pl.col("grade").replace_strict({0: 0, 1: 1, 2: 1, 3: 4, 4: 4}))
    wide, found = pivoted(judged), agreed(_runs().judge(judged.drop("segment"), several="max", annotator="rater"))
    for pair, (_, _, kappas) in found.items():
        table = pd.crosstab(*(wide[pair.split(", ")].dropna()[rater] for rater in pair.split(", "))).to_numpy()
        assert table.shape == (3, 3)
        expected = cohens_kappa(table, weights=np.array([0, 1, 4]), wt="quadratic", return_results=False)
        assert kappas[1] == pytest.approx(float(expected), abs=1e-9)


def test_kappa_of_labels() -> None:
    """Labels have no weights, and a kappa that scikit-learn has too."""
    judged = drawn(3).with_columns(label=pl.col("grade") > 1).drop("grade", "segment")
    wide, found = pivoted(judged, "label"), agreed(_runs().judge(judged, several="majority", annotator="rater"))
    for pair, (_, _, kappas) in found.items():
        one, other = wide[pair.split(", ")].dropna().to_numpy(dtype=int).T
        assert kappas == pytest.approx([cohen_kappa_score(one, other), math.nan], abs=1e-9, nan_ok=True)


def test_kappa_by_hand_and_where_it_is_undefined() -> None:
    """Of 4 documents two agree: kappa (2 - 2) / (4 - 2) = 0. Where both say one thing only, there is none."""
    rows = [("q", doc, "a", one) for doc, one in zip("xyzu", (1, 1, 0, 0), strict=True)]
    rows += [("q", doc, "b", one) for doc, one in zip("xyzu", (1, 0, 1, 0), strict=True)]
    found = agreed(RUN.irm.judge(frame("query doc who grade", *rows), several="max", annotator="who"))
    assert found == {"a, b": (2, 4, [0.0, 0.0])}
    same = frame("query doc who grade", *(("q", doc, who, 1) for doc in "xy" for who in "ab"))
    irm = RUN.irm.judge(same, annotator="who")
    (kappas,) = (kappas for *_, kappas in agreed(irm).values())
    assert np.isnan(kappas).all()
    assert facts(irm)["documents judged more than once"] == (2, 1.0)


def test_audit_counts_the_documents_that_several_judged() -> None:
    """How many, for how many they differ, and of how many there is no majority."""
    irm = RUN.irm.judge(JUDGED, grade="rating", several="majority", annotator="rater")
    found = {row["check"]: row for row in irm.audit().rows(named=True)}
    again = found["documents judged more than once"]
    assert (again["n"], again["share"], again["example"]) == (2, 2 / 3, "q, x")
    assert again["message"] == (
        "documents with several judgments, which differ for 2 of them; several='majority' combines them"
    )
    tied = found["documents without a majority"]
    assert (tied["severity"], tied["n"], tied["share"], tied["example"]) == ("info", 1, 0.5, "q, z")
    assert found["annotators"]["n"] == 4
    assert "6 pairs of them judged the same documents" in found["annotators"]["message"]
    mean = RUN.irm.judge(JUDGED, grade="rating", several="mean").audit()["check"].to_list()
    assert "documents without a majority" not in mean
    assert "annotators" not in mean
    plain = RUN.irm.judge(JUDGED.filter(rater="ann"), grade="rating").audit()["check"].to_list()
    assert "documents judged more than once" not in plain


def test_audit_reads_judgments_that_differ_before_a_rule_is_said() -> None:
    """Where annotators are named, that they differ is an error among the findings, and their agreement is told."""
    irm = RUN.irm.judge(JUDGED, grade="rating", annotator="rater")
    found = irm.audit()
    assert found.row(0, named=True) == {
        "check": "documents judged in two ways",
        "severity": "error",
        "n": 2,
        "share": 1.0,
        "example": "q, x",
        "message": "these have different judgments, so other verbs raise an error: combine them with several= in judge"
        "(). This audit takes the majority",
    }
    assert agreed(irm) == agreed(RUN.irm.judge(JUDGED, grade="rating", annotator="rater", several="max"))
    said = {"documents judged in two ways", "documents without a majority"}
    for rule in ("mean", "median", "max"):
        audit = RUN.irm.judge(JUDGED, grade="rating", annotator="rater", several=rule).audit()
        assert not said & set(audit["check"])
    findings = RUN.irm.judge(JUDGED, grade="rating").audit().filter(severity="error")["message"]
    assert "2 pairs have two judgments" in findings.item()


def test_weights_and_clusters_of_judged_queries_stay() -> None:
    """What the judgments say of a query is that of the first of several, and has to be one for each query."""
    judged = JUDGED.with_columns(w=pl.lit(2.0), user=pl.lit("u1"))
    more = frame("query doc rater rating w user", ("p", "x", "ann", 1, 3.0, "u2"), ("p", "x", "bob", 2, 3.0, "u2"))
    irm = RUN.irm(weight="w", cluster="user").judge(pl.concat([judged, more]), grade="rating", several="max")
    assert irm.evaluate("cg", ci=0.9).select("value", "n").row(0) == ((2 * 8 + 3 * 0) / 5, 2)
    odd = pl.concat([judged, more.with_columns(w=pl.Series([3.0, 4.0]))])
    said = RUN.irm(weight="w").judge(odd, grade="rating", several="max")
    assert "rows of one query differ" in error(lambda: said.evaluate("cg"))


def of_two(first: list[int], second: list[int]) -> IRM[pl.DataFrame]:
    """Judgments of two annotators, of as many documents."""
    rows = [("q", f"d{i}", who, grade) for who, side in (("a", first), ("b", second)) for i, grade in enumerate(side)]
    run = frame("query doc score", *(("q", f"d{i}", float(i)) for i in range(len(first))))
    return run.irm.judge(frame("query doc who grade", *rows), several="mean", annotator="who")


def test_audit_warns_of_annotators_who_agree_by_chance() -> None:
    """Ten common documents with a weighted kappa of 0 or less are a warning; nine are too few to say."""
    check = "annotators who agree no better than by chance"
    odd = of_two([0, 1] * 5, [1, 0] * 5).audit().filter(check=check).rows(named=True)
    assert [(row["severity"], row["n"], row["share"], row["example"]) for row in odd] == [("warning", 1, 1.0, "a, b")]
    assert odd[0]["message"] == (
        "kappa is not above 0 for the first pair, who both judged 10 documents. Did they read the same guidelines? "
        "agreement() compares all pairs (n counts pairs of annotators)"
    )
    assert of_two([0, 1] * 4 + [0], [1, 0] * 4 + [1]).audit().filter(check=check).is_empty()


def test_audit_tells_of_annotators_who_never_differ() -> None:
    """Equal judgments of ten documents and more, of several grades, may not be those of two people."""
    (row,) = of_two([0, 1] * 5, [0, 1] * 5).audit().filter(check="annotators who never differ").rows(named=True)
    assert (row["severity"], row["n"], row["example"]) == ("info", 1, "a, b")
    assert row["message"] == (
        "the first pair gave equal judgments to all 10 documents that both judged. Did each of them judge alone? "
        "(n counts pairs of annotators)"
    )
    assert "annotators who never differ" not in of_two([1] * 12, [1] * 12).audit()["check"].to_list()


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical, pl.Int64, pl.Date])
def test_annotators_of_any_type(dtype: Any, kind: str) -> None:
    """Annotators are known by text, category, number or date, in every kind of frame."""
    judged = drawn(1).drop("segment").with_columns(pl.col("rater").str.tail(1).cast(pl.Int64))
    names = (
        judged["rater"].cast(pl.String).cast(dtype)
        if dtype in (pl.String, pl.Categorical)
        else judged["rater"].cast(dtype)
    )
    run = made_log().drop("grade").drop_nulls("score")
    irm = IRM(as_kind(run, kind), query="query", doc="doc", score="score", rank=None)
    found = agreed(irm.judge(as_kind(judged.with_columns(names), kind), several="mean", annotator="rater"))
    plain = agreed(_runs().judge(judged, several="mean", annotator="rater"))
    assert list(found.values()) == list(plain.values())


# The ratings of the Haystack party


def haystack(source: str = "haystack") -> tuple[pl.DataFrame, pl.DataFrame]:
    """The systems' results, in which products stand twice, and the ratings; or some of the same form, drawn."""
    if source == "drawn":
        rng = np.random.default_rng(9)
        ids = {"query_id": np.repeat([f"q{i}" for i in range(12)], 10), "doc_id": rng.integers(0, 8, 120).astype(str)}
        systems = [pl.DataFrame({**ids, "run": [name] * 120, "rank": [*range(1, 11)] * 12}) for name in "ab"]
        some = pl.DataFrame(ids).unique(maintain_order=True).sample(fraction=0.7, seed=1)
        ratings = some.join(pl.DataFrame({"rater": [*"xyz"]}), how="cross").sample(fraction=0.6, seed=2)
        ratings = ratings.with_columns(
            query=pl.format("text {}", "query_id"), rating=pl.Series(rng.integers(0, 4, len(ratings)))
        )
        return pl.concat(systems), ratings.with_columns(pl.col("rating").cast(float))
    text = {"doc_id": pl.String}
    runs = pl.read_csv(real("haystack_products", "runs.csv"), schema_overrides=text)
    ratings = pl.read_csv(real("haystack_products", "individual_ratings.csv"), schema_overrides=text)
    return runs, ratings


ROLES: dict[str, Any] = {
    "query": "query_id",
    "doc": "doc_id",
    "rank": "rank",
    "system": "run",
    "duplicates": "first",
    "rel": 1,
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("library", ["polars", "pandas"])
@pytest.mark.parametrize(("source", "queries"), [("drawn", 12), ("haystack", 137)])
def test_ratings_of_haystack(rule: str, library: str, source: str, queries: int) -> None:
    """Several raters' ratings are made one in either library as by hand, and the unrated count as none."""
    runs, ratings = haystack(source)
    irm = IRM(as_kind(runs, library), **ROLES)
    found = as_polars(irm.judge(as_kind(ratings, library), grade="rating", several=rule).evaluate("ndcg@10", "map"))
    one = reduced(
        ratings.rename({"query_id": "text", "query": "words"}).select(query="text", doc="doc_id", grade="rating"), rule
    )
    plain = runs.irm(**ROLES).judge(one, query="query", doc="doc").evaluate("ndcg@10", "map")
    assert found.select("value", "n").to_numpy() == pytest.approx(plain.select("value", "n").to_numpy(), abs=1e-12)
    assert plain["n"].unique().to_list() == [queries]


def test_raters_of_haystack_agree() -> None:
    """The raters who judged the same products never differ, beside the consolidated ratings they do."""
    runs, ratings = haystack()
    irm = runs.irm(**ROLES)
    found = agreed(irm.judge(ratings, grade="rating", several="mean", annotator="rater"))
    assert {pair: both for pair, (_, both, _) in found.items() if both > 50} == {
        "r02, r05": 176,
        "r02, r06": 107,
        "r02, r03": 96,
        "r02, r04": 58,
        "r01, r02": 56,
    }
    assert all(n == both for n, both, _ in found.values())
    ids = {"doc_id": pl.String}
    final = pl.read_csv(real("haystack_products", "judgments.csv"), schema_overrides=ids)
    final = final.unique(["query_id", "doc_id"]).select(
        "query_id", "doc_id", pl.col("rating").cast(float), rater=pl.lit("all")
    )
    both = pl.concat([ratings.select(final.columns), final])
    wide = both.to_pandas().pivot_table("rating", ["query_id", "doc_id"], "rater")
    beside = agreed(irm.judge(both, grade="rating", several="mean", annotator="rater"))
    for pair in ("all, r02", "all, r05", "all, r01"):
        one, other = wide[pair.split(", ")].dropna().to_numpy().astype(int).T
        expected = [cohen_kappa_score(one, other, labels=[0, 1, 2, 3], weights=w) for w in (None, "quadratic")]
        assert beside[pair][1:] == (len(one), pytest.approx(expected, abs=1e-9))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", KINDS)
def test_one_judgment_of_equal_grades_is_that_grade(kind: str, rule: str) -> None:
    """Every rule makes of equal grades that grade, to the last bit, so that it is relevant where each of them is."""
    unanimous = frame("query doc grade n", *(("q", doc, hundredths / 100, hundredths) for doc, hundredths in MANY))
    several = pl.concat([unanimous.sample(fraction=1, shuffle=True, seed=seed) for seed in range(3)])
    run = IRM(as_kind(unanimous.select("query", "doc", score=-pl.col("n").cast(pl.Float64)), kind))
    judged = run.judge(as_kind(several.drop("n"), kind), several=rule)
    gained = as_polars(judged.explain("cg", query="q")).select("doc", "gain")
    assert dict(gained.rows()) == {doc: hundredths / 100 for doc, hundredths in MANY}
    assert as_polars(judged(rel=0.7).evaluate("num_rel"))["value"].item() == sum(n >= 70 for _, n in MANY)
