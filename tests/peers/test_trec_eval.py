"""Every measure of trec_eval 9, against pytrec_eval, trec_eval's printed output and kept values of the tools."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

import frame_metrics
from frame_metrics import IRM, NotComputableError
from helpers import examples, real
from reference import (
    GEOMETRIC,
    TREC_EVAL,
    Qrels,
    Run,
    Values,
    asked,
    differences,
    qrels_frame,
    qrels_of,
    random_case,
    run_frame,
    run_of,
    trec_eval,
    values_of,
)

COUNTS = ("num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret")
ALL = [asked(name) for name in TREC_EVAL]
NEVER_ZERO = ("num_q", "num_rel")  # of a judged query without results


def judged(run: Run, qrels: Qrels, rel: int = 1, judged_only: bool = False) -> IRM[pl.DataFrame]:
    irm: IRM[pl.DataFrame] = IRM(run_frame(run), doc="doc", rel=rel, unjudged="drop" if judged_only else None)
    return irm.judge(qrels_frame(qrels))


def ours(irm: IRM[pl.DataFrame]) -> Values:
    """Our value of each query and measure."""
    return values_of(irm.per_query(*ALL))


def check(run: Run, qrels: Qrels, rel: int = 1, judged_only: bool = False) -> None:
    """Compare all measures of each query, and all averages."""
    theirs = trec_eval(run, qrels, rel=rel, judged_only=judged_only)
    if judged_only:  # nothing left to measure: pytrec_eval divides 0 by 0, ours is undefined, which counts as 0
        theirs = {key: 0.0 if math.isnan(value) else value for key, value in theirs.items()}
    logarithms = {key: theirs.pop(key) for key in list(theirs) if key[1] in GEOMETRIC}
    irm = judged(run, qrels, rel, judged_only)
    found = ours(irm)
    evaluated = {query for query, _ in theirs}
    assert {query for query, _ in found} == set(qrels)
    assert evaluated == set(qrels) & set(run)
    assert not differences(found, theirs)
    rest = {(q, m): v for (q, m), v in found.items() if q not in evaluated and m not in NEVER_ZERO}
    assert not any(rest.values())
    averages = {("all", m): sum(theirs[q, m] for q in evaluated) / len(qrels) for m in TREC_EVAL if m not in COUNTS}
    averages |= {("all", m): sum(theirs.get((q, m), 0) for q in qrels) for m in COUNTS if m not in NEVER_ZERO}
    averages |= {("all", m): sum(found[q, m] for q in qrels) for m in NEVER_ZERO}
    floor = math.log(1e-5)
    for m in GEOMETRIC:
        averages["all", m] = math.exp(sum(logarithms.get((q, m), floor) for q in qrels) / len(qrels))
    assert not differences(values_of(irm.evaluate(*ALL, *GEOMETRIC)), averages)


def test_the_names_are_all_the_measures_that_pytrec_eval_knows() -> None:
    """Every measure but the run's name and the string of what is relevant is compared."""
    found = trec_eval({"q": {"d": 1.0}}, {"q": {"d": 1}})
    assert {name for _, name in found} == {*TREC_EVAL, *GEOMETRIC}
    families = sorted(pytrec_eval.supported_measures - {"runid", "relstring"}, key=len, reverse=True)
    assert len(families) == 32
    assert {next(f for f in families if name.startswith(f)) for _, name in found} == set(families)


# The files


RUNS = {
    "drawn": ("drawn.run", "drawn.qrels", 1),
    "cacm": ("cacm/run.bm25.txt", "cacm/qrels.cacm.txt", 1),
    "trec_eval": ("trec_eval/results.test", "trec_eval/qrels.test", 1),
    "trec_eval, few results": ("trec_eval/results.trunc", "trec_eval/qrels.test", 1),
    "trec_eval, grades": ("trec_eval/results.test", "trec_eval/qrels.rel_level", 1),
    "trec_eval, grades, rel 2": ("trec_eval/results.test", "trec_eval/qrels.rel_level", 2),
    "cast": ("ir_measures/compat.run", "ir_measures/compat.qrels", 1),
    "cast, rel 2": ("ir_measures/compat.run", "ir_measures/compat.qrels", 2),
}


def write_drawn(folder: Path) -> None:
    """Write a run and judgments that are drawn, as TREC writes them, so that one case is there without the data."""
    run, qrels = random_case(4)
    rows = [f"{q} Q0 {doc} 0 {score} drawn" for q, found in run.items() for doc, score in found.items()]
    (folder / "drawn.run").write_text("\n".join(rows))
    (folder / "drawn.qrels").write_text(
        "\n".join(f"{q} 0 {d} {g}" for q, known in qrels.items() for d, g in known.items())
    )


@pytest.mark.parametrize("judged_only", [False, True])
@pytest.mark.parametrize("name", RUNS)
def test_files_of_trec_agree(name: str, judged_only: bool, tmp_path: Path) -> None:
    """A run file gives what trec_eval gives, on full and on condensed lists."""
    run_path, qrels_path, rel = RUNS[name]
    if name == "drawn":
        write_drawn(tmp_path)
    run = frame_metrics.read_run(tmp_path / run_path if name == "drawn" else real(run_path))
    qrels = frame_metrics.read_qrels(tmp_path / qrels_path if name == "drawn" else real(qrels_path))
    check(run_of(run), qrels_of(qrels), rel, judged_only)


@pytest.fixture(scope="module")
def products() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Three systems' results, and the judgments; of products that stand twice the better place."""
    results = pl.read_csv(real("haystack_products/runs.csv"))
    key = ["run", "query_id", "doc_id"]
    results = results.sort("run", "query_id", "rank").unique(key, keep="first", maintain_order=True)
    results = results.with_columns(pl.col("rank").rank("ordinal").over("run", "query_id"))
    results = results.select(
        "run", query="query_id", doc=pl.col("doc_id").cast(pl.String), score=100.0 - pl.col("rank"), rank=pl.col("rank")
    )
    grades = pl.read_csv(real("haystack_products/judgments.csv"))
    return results, grades.select(query="query_id", doc=pl.col("doc_id").cast(pl.String), grade=pl.col("rating"))


def three_drawn() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Results of three systems for five queries, and judgments, drawn."""
    rng = np.random.default_rng(3)
    queries, docs = np.repeat(np.arange(5), 12), np.tile([f"d{i}" for i in range(12)], 5)
    grades = pl.DataFrame({"query": queries.astype(str), "doc": docs, "grade": rng.choice([0, 0, 1, 2, 3], 60)})
    runs = [
        grades.select("query", "doc", score=pl.lit(rng.permutation(60).astype(float)), run=pl.lit(name)).sample(
            45, seed=i
        )
        for i, name in enumerate("abc")
    ]
    whole = pl.concat(runs).with_columns(rank=pl.col("score").rank("ordinal", descending=True).over("run", "query"))
    return whole, grades.sample(40, seed=5)


@pytest.mark.parametrize("source", ["drawn", "products"])
@pytest.mark.parametrize("order", ["score", "rank"])
@pytest.mark.parametrize("rel", [1, 2, 3])
def test_three_systems_in_one_call_agree(source: str, rel: int, order: str, request: pytest.FixtureRequest) -> None:
    """Each of several systems is measured as trec_eval measures it alone, by its scores or by its ranks."""
    results, grades = three_drawn() if source == "drawn" else request.getfixturevalue("products")
    irm = IRM(results, doc="doc", system="run", rel=rel, **{order: order})  # type: ignore[misc]
    found = irm.judge(grades).per_query(*ALL)
    systems = found["run"].unique().to_list()
    assert len(systems) == 3
    for system in systems:
        alone = run_of(results.filter(pl.col("run") == system))
        theirs = {k: v for k, v in trec_eval(alone, qrels_of(grades), rel=rel).items() if k[1] not in GEOMETRIC}
        mine = values_of(found.filter(pl.col("run") == system))
        assert not differences(mine, theirs)
        assert {q for q, _ in mine} == set(grades["query"])


FEATURES = ("feature_260", "feature_164", "feature_120")


def drawn_features() -> pl.DataFrame:
    """Rows of eight queries with grades to 4 and features of four values each."""
    rng = np.random.default_rng(6)
    columns = {feature: rng.integers(0, 4, 160) / 4 for feature in FEATURES}
    ids = {"query": np.repeat(np.arange(8), 20).astype(str), "doc": np.tile(np.arange(20), 8).astype(str)}
    return pl.DataFrame({**ids, "grade": np.append(rng.integers(0, 4, 159), 4), **columns})


@pytest.mark.parametrize("rel", [1, 2, 4])
@pytest.mark.parametrize("part", ["drawn", "train", "test"])
def test_features_as_scores_agree(part: str, rel: int) -> None:
    """Scores with many ties, graded in the frame itself, are measured as trec_eval measures them."""
    frame = drawn_features() if part == "drawn" else pl.read_csv(real(f"lightgbm_rank/rank.{part}.tidy.csv"))
    frame = frame.with_columns(pl.col(FEATURES).cast(pl.Float32).cast(pl.Float64))
    long = frame.unpivot(FEATURES, index=["query", "doc", "grade"], variable_name="feature", value_name="value")
    found = IRM(long, score="value", doc="doc", system="feature", rel=rel).per_query(*ALL)
    for feature in FEATURES:
        run = run_of(frame.select("query", "doc", score=feature))
        theirs = {k: v for k, v in trec_eval(run, qrels_of(frame), rel=rel).items() if k[1] not in GEOMETRIC}
        assert not differences(values_of(found.filter(pl.col("feature") == feature)), theirs)


# Random rankings


@pytest.mark.parametrize("judged_only", [False, True])
@pytest.mark.parametrize("rel", [1, 2])
@pytest.mark.parametrize("seed", range(30))
def test_random_rankings_agree(seed: int, rel: int, judged_only: bool) -> None:
    """Ties, unjudged documents, negative grades and missing queries are treated as trec_eval treats them."""
    check(*random_case(seed, rel=rel), rel, judged_only)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Run, Qrels]:
    """A few documents with scores that a float32 holds, some of them judged."""
    docs = draw(st.lists(st.text("aäZ09-é", min_size=1, max_size=3), min_size=1, max_size=8, unique=True))
    score = st.one_of(st.integers(-2, 2).map(float), st.floats(width=32, allow_nan=False, allow_infinity=False))
    run: Run = {"q": draw(st.dictionaries(st.sampled_from(docs), score, min_size=1))}
    qrels: Qrels = {"q": draw(st.dictionaries(st.sampled_from(docs), st.integers(-2, 6)))}
    qrels["q"][draw(st.sampled_from(sorted(run["q"])))] = draw(st.integers(1, 6))
    if draw(st.booleans()):
        run["missed"] = {docs[0]: 1.0}
    if draw(st.booleans()):
        qrels["lost"] = {docs[0]: draw(st.integers(0, 2))}
    return run, qrels


@pytest.mark.slow
@examples(75)
@given(cases(), st.booleans())
def test_generated_rankings_agree(case: tuple[Run, Qrels], judged_only: bool) -> None:
    """No small ranking is known that trec_eval measures otherwise."""
    check(*case, 1, judged_only)


@pytest.mark.parametrize("name", ["P(rel=2)@5", "ndcg@10", "bpref(rel=2)", "Rprec(rel=2, judged_only=True)"])
@pytest.mark.parametrize("seeds", [5, pytest.param(20, marks=pytest.mark.slow)])
def test_parameters_of_the_input_in_a_name_do_what_the_options_do(name: str, seeds: int) -> None:
    """rel= and judged_only= in a name give what trec_eval gives with its options -l and -J."""
    theirs_name = {"P(rel=2)@5": "P_5", "ndcg@10": "ndcg_cut_10", "bpref(rel=2)": "bpref"}.get(name, "Rprec")
    for seed in range(seeds):
        run, qrels = random_case(seed, rel=2)
        theirs = trec_eval(run, qrels, rel=2 if "rel" in name else 1, judged_only="judged_only" in name)
        found = dict(judged(run, qrels).per_query(name).select("query", "value").iter_rows())
        expected = {q: v for (q, m), v in theirs.items() if m == theirs_name}
        assert {q: found[q] for q in expected} == pytest.approx(expected, abs=1e-9)


# Where trec_eval and we differ on purpose


def test_a_judged_query_without_results_is_0_and_pytrec_eval_leaves_it_out() -> None:
    """A judged query that a system misses counts as 0, as with trec_eval -c."""
    run: Run = {"found": {"a": 1.0}}
    qrels: Qrels = {"found": {"a": 1}, "missed": {"a": 1, "b": 2}}
    theirs = trec_eval(run, qrels)
    assert {query for query, _ in theirs} == {"found"}
    found = ours(judged(run, qrels))
    of_missed = {name: value for (query, name), value in found.items() if query == "missed"}
    assert of_missed.keys() == set(TREC_EVAL)
    assert {name: value for name, value in of_missed.items() if value} == {"num_q": 1, "num_rel": 2}
    assert judged(run, qrels).evaluate("map")["value"].to_list() == [theirs["found", "map"] / 2]


def test_nothing_judged_retrieved_is_0_on_condensed_lists() -> None:
    """Where condensing leaves an empty list, pytrec_eval gives nan for interpolated precision, and ours is 0."""
    run: Run = {"q": {"a": 1.0}, "other": {"b": 1.0}}
    qrels: Qrels = {"q": {"b": 1}, "other": {"b": 1}}
    theirs = trec_eval(run, qrels, judged_only=True)
    assert math.isnan(theirs["q", "iprec_at_recall_0.00"])
    assert math.isnan(theirs["q", "11pt_avg"])
    found = ours(judged(run, qrels, judged_only=True))
    assert not any(found["q", name] for name in TREC_EVAL if name not in NEVER_ZERO)


def test_no_grade_that_reaches_the_level_is_an_error_and_0_in_pytrec_eval() -> None:
    """A relevance level that no grade reaches is a mistake that trec_eval hides in zeros."""
    run: Run = {"q": {"a": 1.0}}
    qrels: Qrels = {"q": {"a": 1}}
    assert trec_eval(run, qrels, rel=2)["q", "map"] == 0
    with pytest.raises(NotComputableError, match="reaches rel=2; the largest is 1"):
        judged(run, qrels, rel=2).per_query("map")


def test_set_map_is_rounded_as_in_trec_eval() -> None:
    """Equal shares of different tables are one number, to the last digit: 3 of 4 and 40, of 5 and 32, of 16 and 10."""
    for n_retrieved, n_relevant in ((4, 40), (5, 32), (16, 10), (16, 30)):
        run = {"1": {str(i): float(-i) for i in range(n_retrieved)}}
        qrels = {"1": {str(i): 1 for i in (*range(3), *range(100, 97 + n_relevant))}}
        theirs = pytrec_eval.RelevanceEvaluator(qrels, ["set_map"]).evaluate(run)["1"]["set_map"]
        rows = pl.DataFrame({"query": "1", "doc": list(run["1"]), "score": list(run["1"].values())})
        judged = pl.DataFrame({"query": "1", "doc": list(qrels["1"]), "grade": 1})
        assert rows.irm.judge(judged).per_query("set_map")["value"].to_list() == [theirs]
        assert theirs == 9 / (n_retrieved * n_relevant)


def test_close_scores_tie_in_pytrec_eval_only() -> None:
    """Scores that differ in float64 are different scores; trec_eval 9 keeps float32 and orders them by document."""
    run: Run = {"q": {"a": 0.5 + 1e-9, "b": 0.5}}
    qrels: Qrels = {"q": {"a": 1, "b": 0}}
    assert trec_eval(run, qrels)["q", "recip_rank"] == 0.5
    assert judged(run, qrels).evaluate("recip_rank")["value"].item() == 1


def test_fractional_grades_count_in_full() -> None:
    """An ideal ranking of fractional grades has nDCG 1; trec_eval reads whole grades only."""
    log = pl.DataFrame({"query": ["q"] * 3, "score": [3.0, 2.0, 1.0], "grade": [0.9, 0.5, 0.25]})
    assert log.irm.evaluate("ndcg")["value"].item() == pytest.approx(1, abs=1e-12)


# Kept values


def printed(path: Path) -> Values:
    """The numbers of a file that trec_eval printed: lines of measure, query, value."""
    lines = [line.split() for line in path.read_text().splitlines()]
    return {(query, name): float(value) for name, query, value in lines if name not in ("runid", "relstring")}


RELEASE_10 = {"rbp": "rbp(p=0.9)"}


def check_release_10(irm: IRM[pl.DataFrame], theirs: Values) -> None:
    """Compare with four decimals; interpolated precision where both releases cut at the same relevant document."""
    names = {name: RELEASE_10.get(name, asked(name)) for _, name in theirs}
    each = irm.per_query(*(name for name in names.values() if name not in GEOMETRIC))
    found = values_of(each) | values_of(irm.evaluate(*names.values()))
    comparable: Values = {}
    for (query, name), value in theirs.items():
        if name.startswith("iprec_at_recall_"):
            place = float(name[-4:]) * theirs[query, "num_rel"]
            if query == "all" or int(place + 0.9) != int(place + 0.5):
                continue
        if name in names and name != "11pt_avg":
            comparable[query, RELEASE_10.get(name, name)] = value
    assert {"rbp_resid", "unj_10"} <= names.keys()
    assert not differences(found, comparable, 5.01e-5)


@pytest.fixture(scope="module")
def trec_eval_test() -> IRM[pl.DataFrame]:
    """The run and the judgments of trec_eval's own test."""
    run = frame_metrics.read_run(real("trec_eval/results.test"))
    return IRM(run, doc="doc").judge(frame_metrics.read_qrels(real("trec_eval/qrels.test")))


def test_the_printed_output_of_release_9_agrees(trec_eval_test: IRM[pl.DataFrame]) -> None:
    """trec_eval 9's own test output is reproduced to its four decimals, query by query and averaged."""
    theirs = printed(real("trec_eval/v9.0.8/out.test.aq"))
    assert {name for query, name in theirs if query == "all"} == {*TREC_EVAL, *GEOMETRIC}
    found = ours(trec_eval_test) | values_of(trec_eval_test.evaluate(*ALL, *GEOMETRIC))
    assert found.keys() >= theirs.keys()
    assert not differences(found, theirs, 5.01e-5)


def test_the_printed_output_of_release_10_agrees(trec_eval_test: IRM[pl.DataFrame]) -> None:
    """trec_eval 10's own test output is reproduced where its conventions are those of release 9."""
    check_release_10(trec_eval_test, printed(real("trec_eval/out.test.aq")))


@pytest.fixture(scope="module")
def cacm() -> IRM[pl.DataFrame]:
    run = frame_metrics.read_run(real("cacm/run.bm25.txt"))
    return IRM(run, doc="doc").judge(frame_metrics.read_qrels(real("cacm/qrels.cacm.txt")))


def test_kept_values_of_release_10_agree(cacm: IRM[pl.DataFrame]) -> None:
    """Kept values of trec_eval 10 are reproduced where its conventions are those of release 9."""
    check_release_10(cacm, values_of(pl.read_parquet(real("oracle/cacm.parquet")).filter(provider="trec_eval10")))


# What ir_measures calls a measure, what it is here, and how far its provider rounds.
IR_MEASURES = {
    "ERR@10 [gdeval]": ("err(max_grade=4)@10", 5.1e-6),
    "ERR@20 [gdeval]": ("err(max_grade=4)@20", 5.1e-6),
    "nDCG(dcg='exp-log2')@5 [gdeval]": ("nDCG(dcg='exp-log2')@5", 5.1e-6),
    "nDCG(dcg='exp-log2')@10 [gdeval]": ("nDCG(dcg='exp-log2')@10", 5.1e-6),
    "Judged@10 [judged]": ("Judged@10", 1e-9),
    "RR@10 [msmarco]": ("RR@10", 1e-9),
    "Compat(p=0.95) [compat]": ("Compat(p=0.95)", 1e-9),
    "RBP(rel=1,p=0.8) [cwl_eval]": ("RBP(rel=1, p=0.8)", 1e-9),
    "RBP(rel=2,p=0.8) [cwl_eval]": ("RBP(rel=2, p=0.8)", 1e-9),
    "RBP(rel=1,p=0.95) [cwl_eval]": ("RBP(rel=1, p=0.95)", 1e-9),
}
NOT_HERE = ("Accuracy [accuracy]",)


def check_kept(irm: IRM[pl.DataFrame], theirs: pl.DataFrame) -> None:
    """Compare kept values of one run with ours."""
    trec = {key: v for key, v in values_of(theirs.filter(provider="pytrec_eval")).items() if key[1] not in GEOMETRIC}
    assert {name for _, name in trec} == set(TREC_EVAL)
    assert not differences(ours(irm), trec)
    others = theirs.filter(pl.col("provider") == "ir_measures", ~pl.col("metric").is_in(NOT_HERE))
    for (name,), values in others.group_by("metric"):
        text, tol = IR_MEASURES[str(name)]
        in_order = irm(ties="order") if "cwl_eval" in str(name) else irm  # cwl_eval leaves tied rows as they stand
        found = in_order.per_query(text).with_columns(metric=pl.lit(name))
        assert not differences(values_of(found), values_of(values), tol)


def test_kept_values_of_a_run_agree(cacm: IRM[pl.DataFrame]) -> None:
    """Kept values of pytrec_eval and ir_measures are reproduced on the CACM collection."""
    check_kept(cacm, pl.read_parquet(real("oracle/cacm.parquet")))


@pytest.mark.parametrize("order", ["rank", "score"])
def test_kept_values_of_product_search_agree(products: tuple[pl.DataFrame, pl.DataFrame], order: str) -> None:
    """Kept values of pytrec_eval and ir_measures are reproduced on three systems of product search."""
    theirs = pl.read_parquet(real("oracle/haystack_products.parquet")).filter(pl.col("ordered_by") == order)
    results, grades = products
    if order == "score":
        given = pl.read_csv(real("haystack_products/runs.csv"))
        results = given.select("run", "rank", "score", query="query_id", doc=pl.col("doc_id").cast(pl.String))
    # Its Compat puts scores below 0 behind what was not retrieved, and equal ones by the lesser id.
    theirs = theirs.filter(~pl.col("metric").str.starts_with("Compat"))
    systems = theirs["run"].unique(maintain_order=True).to_list()
    assert systems
    for system in systems:
        irm = IRM(results.filter(pl.col("run") == system), score="score", doc="doc", duplicates="first").judge(grades)
        check_kept(irm, theirs.filter(pl.col("run") == system))


def test_kept_values_of_features_agree() -> None:
    """Kept values of pytrec_eval and ir_measures are reproduced on features as scores."""
    frame = pl.read_csv(real("lightgbm_rank/rank.test.tidy.csv"))
    theirs = pl.read_parquet(real("oracle/lightgbm_rank_test.parquet"))
    assert set(theirs["run"]) == set(FEATURES)
    for feature in FEATURES:
        check_kept(IRM(frame, score=feature, doc="doc"), theirs.filter(pl.col("run") == feature))
