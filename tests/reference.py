"""What the comparisons share: random rankings, and trec_eval through pytrec_eval."""

from __future__ import annotations

import random
from typing import TypeAlias

import polars as pl
import pytrec_eval

Run: TypeAlias = dict[str, dict[str, float]]
Qrels: TypeAlias = dict[str, dict[str, int]]
Values: TypeAlias = dict[tuple[str, str], float]  # by query and measure; query "all" for averages

LOG = {"query": pl.String, "doc": pl.String, "score": pl.Float64}
JUDGMENTS = {"query": pl.String, "doc": pl.String, "grade": pl.Int64}

CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
# What trec_eval 9 prints for each query, all but the run's name, and a string of what is relevant.
TREC_EVAL = (
    *("num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret"),
    *("map", "Rprec", "bpref", "recip_rank", "infAP", "11pt_avg"),
    *("ndcg", "ndcg_rel", "Rndcg", "G", "binG", "utility"),
    *("set_P", "set_recall", "set_F", "set_map", "set_relative_P"),
    *(f"iprec_at_recall_{level / 10:.2f}" for level in range(11)),
    *(f"Rprec_mult_{fifth / 5:.2f}" for fifth in range(1, 11)),
    *(f"success_{k}" for k in (1, 5, 10)),
    *(f"{name}_{k}" for name in ("P", "recall", "map_cut", "ndcg_cut", "relative_P") for k in CUTOFFS),
)
GEOMETRIC = ("gm_map", "gm_bpref")  # trec_eval 9 prints only their averages


def asked(name: str) -> str:
    """Return what we call a measure of trec_eval: its own name, but for G, which means two things."""
    return "g_trec" if name == "G" else name


def run_frame(run: Run) -> pl.DataFrame:
    """Return a run as a frame: query, doc, score."""
    rows = [(q, d, s) for q, found in run.items() for d, s in found.items()]
    return pl.DataFrame(rows, schema=LOG, orient="row")


def qrels_frame(qrels: Qrels) -> pl.DataFrame:
    """Return judgments as a frame: query, doc, grade."""
    rows = [(q, d, g) for q, known in qrels.items() for d, g in known.items()]
    return pl.DataFrame(rows, schema=JUDGMENTS, orient="row")


def run_of(frame: pl.DataFrame) -> Run:
    """Return a frame of query, doc and score as a run; the scores as float32, which is what trec_eval 9 keeps."""
    run: Run = {}
    score = pl.col("score").cast(pl.Float32).cast(pl.Float64)
    for query, doc, value in frame.select("query", "doc", score).iter_rows():
        run.setdefault(query, {})[doc] = value
    return run


def qrels_of(frame: pl.DataFrame) -> Qrels:
    """Return a frame of query, doc and grade as judgments."""
    qrels: Qrels = {}
    for query, doc, grade in frame.select("query", "doc", "grade").iter_rows():
        qrels.setdefault(query, {})[doc] = grade
    return qrels


def values_of(frame: pl.DataFrame) -> Values:
    """Return a result of ours by query and measure, under trec_eval's names."""
    query = pl.col("query") if "query" in frame.columns else pl.lit("all")
    rows = frame.select(query, pl.col("metric").replace("g_trec", "G"), "value").iter_rows()
    return {(query, name): value for query, name, value in rows}


def differences(found: Values, expected: Values, tol: float = 1e-9) -> list[tuple[object, ...]]:
    """Return what of the expected is not found within the tolerance: key, found, expected; ten at most."""
    pairs = ((key, found.get(key), value) for key, value in expected.items())
    return [(key, mine, value) for key, mine, value in pairs if mine is None or not abs(mine - value) <= tol][:10]


def trec_eval(run: Run, qrels: Qrels, *, rel: int = 1, judged_only: bool = False) -> Values:
    """Return what trec_eval 9 gives for each query and measure; it leaves out what has no results or no judgments."""
    measures = pytrec_eval.supported_measures - {"runid", "relstring"}
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, measures, relevance_level=rel, judged_docs_only_flag=judged_only)
    found = evaluator.evaluate(run)
    return {(query, name): value for query, values in found.items() for name, value in values.items()}


def random_case(seed: int, *, rel: int = 1, tie: bool = True, negative: bool = True) -> tuple[Run, Qrels]:
    """Return a small random run and its judgments.

    There are queries without results and queries without judgments, unjudged documents, documents not retrieved, and
    where wanted equal scores and negative grades. Every judged query has a grade that is not negative (pytrec_eval
    crashes without one), and query q0 has a retrieved document that is relevant.
    """
    rng = random.Random(seed)
    docs = [f"d{i}" for i in range(rng.randint(2, 40))]
    scales = [[0, 1, rel], [0, 1, 2, 3], [0, 0, 0, rel], [rel], [0, 2, 5]]
    if negative:
        scales += [[-1, 0, 1, rel], [-2, rel]]
    run: Run = {}
    qrels: Qrels = {}
    for q in range(rng.randint(1, 6)):
        if q == 0 or rng.random() < 0.9:
            levels = rng.choice([2, 10, 1000]) if tie else 0
            found = rng.sample(docs, rng.randint(1, len(docs)))
            scores = [rng.randint(0, levels) for _ in found] if tie else rng.sample(range(1000), len(found))
            run[f"q{q}"] = {d: score / 4 for d, score in zip(found, scores, strict=True)}
        if q == 0 or rng.random() < 0.9:
            grades = rng.choice(scales)
            qrels[f"q{q}"] = {d: rng.choice(grades) for d in rng.sample(docs, rng.randint(1, len(docs)))}
            if max(qrels[f"q{q}"].values()) < 0:
                qrels[f"q{q}"][rng.choice(docs)] = 0
    qrels["q0"][next(iter(run["q0"]))] = rel
    return run, qrels
