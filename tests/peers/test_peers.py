"""Figures from the tests and docs of other tools, and the tools themselves, against ours."""

from __future__ import annotations

import itertools
import json
import math
import re
import shutil
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import ir_measures
import numpy as np
import polars as pl
import pytest
import sklearn.metrics as skl
from numpy.typing import NDArray

import frame_metrics
from frame_metrics import IRM, BadValueError, FrameMetricsError, NotComputableError, UnknownNameError
from helpers import DATA, ROOT, real
from inside import read_text
from reference import (
    JUDGMENTS,
    LOG,
    Qrels,
    Run,
    Values,
    asked,
    differences,
    qrels_frame,
    random_case,
    run_frame,
    values_of,
)

Array: TypeAlias = NDArray[Any]
Case: TypeAlias = dict[str, Any]
Way: TypeAlias = Callable[[Case], float]

# Figures of others: a case is read, asked in our words, and compared


def ranked(inputs: dict[str, Any]) -> IRM[pl.DataFrame]:
    """A case's results and judgments, as roles of a frame."""
    if "run_file" in inputs:
        run = frame_metrics.read_run(real(inputs["run_file"]))
        return IRM(run, doc="doc").judge(frame_metrics.read_qrels(real(inputs["qrels_file"])))
    if "frame" in inputs:
        frame = pl.DataFrame(inputs["frame"]).rename({"label": "grade"})
        return IRM(frame, query="query", doc="doc", collection_size=True)
    run = pl.DataFrame(inputs["run"], schema=LOG)
    return IRM(run, doc="doc").judge(pl.DataFrame(inputs["qrels"], schema=JUDGMENTS))


def name_of(case: Case) -> str:
    """What the case's metric is called here."""
    name, given = case["metric"], dict(case["params"])
    if name.startswith("trec_eval:"):
        return asked(name.removeprefix("trec_eval:"))
    name = {"hits": "num_rel_ret", "fall_out@k": "fallout"}.get(name, name)
    cutoff = given.pop("k", given.pop("recall", None))
    if name in ("nDCG", "DCG"):
        gain = given.pop("gain")
        gains = {int(grade): value for grade, value in given.pop("gains", {}).items()}
        given |= {"gain": gains} if gains else {"dcg": "exp-log2"} if gain == "exp" else {}
        if given.get("discount") == "log2(r+1)":
            given["discount"] = "log2"
    words = ", ".join(f"{key}={value!r}" for key, value in given.items())
    return name + (f"({words})" if words else "") + ("" if cutoff is None else f"@{cutoff}")


def value_of(irm: IRM[pl.DataFrame], name: str, query: str | None) -> float:
    """Our value of one query, or over all."""
    result = irm.evaluate(name) if query is None else irm.per_query(name).filter(query=query)
    found: float = result["value"].item()
    return found


def plainly(case: Case) -> float | dict[str, float]:
    """The case in our words, with nothing else said."""
    irm, name = ranked(case["inputs"]), name_of(case)
    if isinstance(case["expected"], dict):
        return dict(irm.per_query(name).select("query", "value").iter_rows())
    return value_of(irm, name, case["query"])


def asking(text: str) -> Way:
    """The case asked for by another name, that its parameters may complete."""
    return lambda case: value_of(ranked(case["inputs"]), text.format(**case["params"]), case["query"])


def in_one_frame(case: Case) -> float:
    """The case with its judgments in the frame itself; a judged document that is not retrieved has no score."""
    run, qrels = (pl.DataFrame(case["inputs"][part]) for part in ("run", "qrels"))
    frame = run.join(qrels, on=["query", "doc"], how="full", coalesce=True)
    return value_of(IRM(frame, doc="doc"), name_of(case), case["query"])


def mean_over_queries(case: Case) -> float:
    """The mean of what we give for each query."""
    found = ranked(case["inputs"]).per_query(name_of(case))["value"].mean()
    assert isinstance(found, float)
    return found


def at_rounded_places(case: Case) -> float:
    """The case at the recall levels that fall on trec_eval 10's places, round(r R)."""
    irm, name = ranked(case["inputs"]), name_of(case)
    levels = [float(name[-4:])] if name.startswith("iprec") else [tenth / 10 for tenth in range(11)]
    relevant = dict(irm.per_query("num_rel").select("query", "value").iter_rows())
    wanted = [(q, r, level) for q, r in relevant.items() if case["query"] in (None, q) for level in levels]
    found = [value_of(irm, f"iprec@{int(level * r + 0.5) / r}", query) for query, r, level in wanted]
    return sum(found) / len(found)


class Other(NamedTuple):
    """Cases whose figure is not ours by default."""

    cases: str
    reason: str
    error: type[FrameMetricsError] | None = None  # what we say when asked plainly; None: another figure
    way: Way | None = None  # what gives the peer's figure here


OTHERS = (
    Other(
        "c0037 c0038 c0050 c0062 c0064 c0078 c0095 c0096 c0097",
        "no grade reaches rel=3: ir_measures says 0, ours is an error that names the largest grade",
        NotComputableError,
    ),
    Other(
        "c0128",
        "a grade that the gains do not name keeps itself as gain in ir_measures; ours is an error that names the grade",
        BadValueError,
        asking("nDCG(gains={{0: 1, 1: 4, 2: 2}})"),
    ),
    Other(
        "c0130 c0131 c0132 c0133 c0134",
        "gdeval fixes the highest grade of ERR at 4; ours has to be told",
        NotComputableError,
        asking("ERR(max_grade=4)@{k}"),
    ),
    Other(
        "c0158 c0159 c0160 c0161 c0162 c0163",
        "ir_measures' Accuracy (pairs in the right order) is not among our metrics: so spelt it is an error",
        UnknownNameError,
    ),
    Other("c0192", "pytrec_eval leaves out judged queries without results; ours are 0, as with trec_eval -c"),
    Other("c0194", "ranx averages counts; ours are summed", way=mean_over_queries),
    Other(
        "c0199 c0208 c0209 c0214 c0215",
        "no retrieved document is judged: ranx says 0; judgments kept beside the log that match nothing are an error",
        BadValueError,
        in_one_frame,
    ),
    Other(
        "c0232 c0265 c0274 c0328 c0337",
        "trec_eval 10 rounds the recall level's place (r R); ours is release 9's floor(r R + 0.9)",
        way=at_rounded_places,
    ),
    Other("c0256 c0287 c0318 c0350", "trec_eval 10's rbp has p = 0.9; ours 0.8", way=asking("rbp(p=0.9)")),
)
DIFFERS = {case: other for other in OTHERS for case in other.cases.split()}
PATH = DATA / "peer_cases.json"
CASES = {c["id"]: c for c in json.loads(PATH.read_text()) if c["task"] == "ranking"} if PATH.exists() else {}


def by_hand(metric: str, expected: float, **params: Any) -> Case:
    """A case of our own, so that one is compared where the peers' are absent: relevant at rank 2, one not retrieved."""
    run = {"query": ["q"] * 3, "doc": ["a", "b", "c"], "score": [3.0, 2.0, 1.0]}
    qrels = {"query": ["q"] * 3, "doc": ["a", "b", "d"], "grade": [0, 1, 1]}
    rest = {"inputs": {"run": run, "qrels": qrels}, "query": "q", "tolerance": 1e-9}
    return {"id": f"by hand: {metric}", "metric": metric, "params": params, "expected": expected, **rest}


ALIKE = [
    by_hand("RR", 1 / 2),
    by_hand("AP", 1 / 2 / 2),
    by_hand("P", 1 / 3, k=3),
    by_hand("IPrec", 1 / 2, recall=0.5),
    by_hand("trec_eval:recall_5", 1 / 2),
    by_hand("trec_eval:unj_5", 1 / 5),
    *(case for name, case in CASES.items() if name not in DIFFERS),
]
# trec_eval 10's rbp has p = 0.9 where nothing is said
UNLIKE = [
    (by_hand("trec_eval:rbp", 0.1 * 0.9), Other("", "p is 0.8 here", way=asking("rbp(p=0.9)"))),
    (by_hand("no such metric", 1 / 3), Other("", "there is no such metric", UnknownNameError)),
    *((CASES[name], other) for name, other in DIFFERS.items() if name in CASES),
]


def test_every_case_is_compared_or_has_its_reason() -> None:
    """No figure of a peer is passed over: it is ours too, or stands in the table of those that differ."""
    real("peer_cases.json")
    assert len(CASES) == 292
    assert len(DIFFERS) == sum(len(other.cases.split()) for other in OTHERS)
    assert DIFFERS.keys() <= CASES.keys()


@pytest.mark.parametrize("case", ALIKE, ids=lambda case: case["id"])
def test_figures_of_peers_are_ours(case: Case) -> None:
    """What another tool's tests or docs expect is what we give by default."""
    assert plainly(case) == pytest.approx(case["expected"], rel=0, abs=case["tolerance"])


@pytest.mark.parametrize(("case", "other"), UNLIKE, ids=[case["id"] for case, _ in UNLIKE])
def test_figures_of_peers_that_differ(case: Case, other: Other) -> None:
    """Where another tool's convention is not ours, neither is its figure, and the table says what gives it."""
    if other.error:
        with pytest.raises(other.error):
            plainly(case)
    else:
        assert plainly(case) != pytest.approx(case["expected"], rel=0, abs=case["tolerance"])
    if other.way:
        assert other.way(case) == pytest.approx(case["expected"], rel=0, abs=case["tolerance"])


# ir_measures


MEASURES = (
    *("P@1", "P@5", "P(rel=2)@5", "P(judged_only=True)@5", "R@10", "R(rel=2)@3", "Success@1", "Success(rel=2)@5"),
    *("AP", "AP@10", "AP(rel=2)", "RR", "RR(rel=2)", "Bpref", "Bpref(rel=2)", "Rprec", "Rprec(judged_only=True)"),
    *("nDCG", "nDCG@5", "nDCG@10", "nDCG(judged_only=True)@5", "infAP", "infAP(rel=2)"),
    *("SetP", "SetP(rel=2)", "SetP(relative=True)", "SetR", "SetF", "SetF(rel=2)", "SetAP"),
    *("IPrec@0.0", "IPrec@0.35", "IPrec(rel=2)@0.5"),
)
COUNTED = ("NumQ", "NumRet", "NumRel", "NumRet(rel=1)", "NumRet(rel=2)")  # wrong there where a query has no results
UNTIED = ("RR@1", "RR@10", "Judged@3", "Judged@10")  # equal scores are in another order there
# How each name that it registers is asked for, where it needs a cutoff.
ASKED = {"IPrec": "IPrec@0.5"} | {name: f"{name}@5" for name in ("P", "Precision", "R", "Recall", "Success")}
# What ir_measures 0.4.3 gives for queries 1 and 2 by cwl_eval 1.0.12 and gdeval, where these are installed.
GRADES: Qrels = {"1": {"a": 3, "b": 0, "c": 1, "d": 2, "f": 3}, "2": {"a": 1, "x": 2}}
RANKED: Run = {"1": {"b": 6, "a": 5, "e": 4, "c": 3, "d": 2}, "2": {"y": 2, "x": 1}}
KEPT = {
    "RBP": ("RBP(rel=1)", 0.34432, 0.16),
    "ERR": ("ERR(max_grade=4)@4", 0.22754, 0.09375),
    "BPM": ("BPM(T=1.0, min_rel=0, max_rel=3)@4", 0.5, 1 / 6),
    "SDCG": ("SDCG(dcg='log2', max_rel=3)@4", 0.30234490083110244, 0.16420159249381994),
    "INST": ("INST(max_rel=3)", 0.255495297359445, 0.1295258491836088),
    "INSQ": ("INSQ(T=1.0, max_rel=3)", 0.22201439212787716, 0.11503336379682752),
    "NERR8": ("NERR8(max_rel=3)@4", 0.5, 0.25),
    "NERR9": ("NERR9(max_rel=3)@4", 1 / 3, 0.19672131147540983),
    "NERR10": ("NERR10(p=0.9, max_rel=3)", 0.47368421052631576, 0.13043478260869557),
    "NERR11": ("NERR11(T=1.0, max_rel=3)", 0.30769230769230765, 0.16266219345378286),
}
# What it gives by pyndeval 0.0.8 for judgments of subtopics, of query, document and subtopic.
INTENTS = [("q", "d1", "s1", 1), ("q", "d1", "s2", 1), ("q", "d2", "s1", 1), ("q", "d3", "s3", 1), ("q", "d4", "s2", 0)]
OF_INTENTS = {
    "ERR_IA": ("ERR_IA@5", 0.42360060514372166),
    "nERR_IA": ("nERR_IA@5", 0.65625),
    "AP_IA": ("AP_IA", 17 / 36),
    "MAP_IA": ("MAP_IA", 17 / 36),
    "P_IA": ("P_IA@2", 1 / 6),
    "StRecall": ("StRecall@2", 1 / 3),
    "NRBP": ("NRBP", 0.375),
    "nNRBP": ("nNRBP", 4 / 7),
}
for alpha in ("alpha", "\N{GREEK SMALL LETTER ALPHA}"):
    OF_INTENTS |= {f"{alpha}_DCG": (f"{alpha}_DCG@5", 0.4786979509327447)}
    OF_INTENTS |= {f"{alpha}_nDCG": (f"{alpha}_nDCG@5", 0.7569349982831174)}
GRADED = ("nDCG(dcg='exp-log2')@5", "nDCG(dcg='exp-log2')@20", "ERR@5", "ERR@20")  # gdeval, in five decimals


def by_ir_measures(names: Sequence[str], run: Run, qrels: Qrels) -> Values:
    """What ir_measures gives for each query."""
    measures = {ir_measures.parse_measure(name): name for name in names}
    return {(m.query_id, measures[m.measure]): m.value for m in ir_measures.iter_calc(measures, qrels, run)}


def by_us(names: Mapping[str, str], run: Run, qrels: Qrels) -> Values:
    """What we give for each query; names theirs to ours."""
    found = IRM(run_frame(run), doc="doc").judge(qrels_frame(qrels)).per_query(*names.values())
    back = {mine: name for name, mine in names.items()}
    return values_of(found.with_columns(pl.col("metric").replace_strict(back)))


@pytest.mark.parametrize("seed", range(20))
def test_measures_of_ir_measures_are_read_and_agree(seed: int) -> None:
    """What ir_measures calls a measure is read here, and gives its values, 0 for judged queries without results."""
    run, qrels = random_case(seed, rel=2)
    theirs = by_ir_measures(MEASURES, run, qrels)
    assert len(theirs) == len(qrels) * len(MEASURES)
    found = by_us({name: name for name in MEASURES}, run, qrels)
    assert found.keys() == theirs.keys()
    assert not differences(found, theirs)


def not_read() -> dict[str, str]:
    """The names of ir_measures that its page says are not read, and why."""
    page = (ROOT / "docs" / "coming_from" / "ir_measures.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.+) \| (.+) \|$", page.partition("## Names that are not read")[2], re.MULTILINE)
    return {name: reason for names, reason in rows for name in re.findall(r"`(\w+)`", names)}


def reads(name: str) -> bool:
    """Return True for a name that is read."""
    try:
        read_text(name)
    except UnknownNameError:
        return False
    return True


def test_the_page_lists_the_names_of_ir_measures_that_are_not_read() -> None:
    """Each name that it registers is read, or stands on its page with the reason; none that is read stands there."""
    assert {name for name in ir_measures.measures.registry if not reads(name)} == not_read().keys()


@pytest.mark.parametrize("name", [name for name in ir_measures.measures.registry if reads(name)])
def test_every_name_of_ir_measures_gives_its_number(name: str) -> None:
    """Each name that it registers and that is read here; of what other packages compute for it, what they gave."""
    if name in OF_INTENTS:
        text, value = OF_INTENTS[name]
        judged = pl.DataFrame(INTENTS, schema=["query", "doc", "subtopic", "grade"], orient="row")
        run = pl.DataFrame({"query": ["q"] * 4, "doc": ["d2", "d4", "d1", "d3"], "score": [4.0, 3.0, 2.0, 1.0]})
        options: dict[str, Any] = {"subtopic": "subtopic"}
        found = run.irm(doc="doc").judge(judged, **options).per_query(text)
        assert found["value"].to_list() == pytest.approx([value], abs=1e-9)
        return
    run, qrels = random_case(3, rel=1, tie=False)
    run = {query: found for query, found in run.items() if query in qrels}
    qrels = {query: known for query, known in qrels.items() if query in run}  # it miscounts without results
    text = ASKED.get(name, name)
    if name in KEPT:
        text, *kept = KEPT[name]
        run, qrels, theirs = RANKED, GRADES, {(query, text): value for query, value in zip("12", kept, strict=True)}
    else:
        theirs = by_ir_measures([text], run, qrels)
    assert theirs
    assert not differences(by_us({text: text}, run, qrels), theirs, 5.1e-6 if name == "ERR" else 1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_counts_of_ir_measures_agree_where_there_are_results(seed: int) -> None:
    """Counts are those of ir_measures, but for queries without results, where it miscounts."""
    run, qrels = random_case(seed, rel=2)
    theirs = {key: v for key, v in by_ir_measures(COUNTED, run, qrels).items() if key[0] in run}
    assert len(theirs) == len(run.keys() & qrels.keys()) * len(COUNTED)
    assert not differences(by_us({name: name for name in COUNTED}, run, qrels), theirs)


@pytest.mark.parametrize("seed", range(20))
def test_measures_of_ir_measures_without_ties_agree(seed: int) -> None:
    """rr@k and judged@k are those of ir_measures where no scores are equal."""
    run, qrels = random_case(seed, tie=False)
    theirs = by_ir_measures(UNTIED, run, qrels)
    assert len(theirs) == len(qrels) * len(UNTIED)
    assert not differences(by_us({name: name for name in UNTIED}, run, qrels), theirs)


@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval, which ir_measures brings, is a Perl script")
@pytest.mark.parametrize("seed", range(6))
def test_graded_measures_of_gdeval_agree(seed: int) -> None:
    """err and ndcg of an exponential gain are gdeval's, in its five decimals, with its highest grade, 4."""
    run, qrels = random_case(seed, negative=False)
    # gdeval knows numbers as topics only, and divides by 0 where nothing has a gain.
    run = {query[1:]: found for query, found in run.items()}
    qrels = {query[1:]: {doc: min(grade, 4) for doc, grade in known.items()} for query, known in qrels.items()}
    qrels = {query: known for query, known in qrels.items() if max(known.values()) > 0}
    theirs = by_ir_measures(GRADED, run, qrels)
    assert len(theirs) == len(qrels) * len(GRADED)
    names = {name: name.replace("ERR", "ERR(max_grade=4)") for name in GRADED}
    assert not differences(by_us(names, run, qrels), theirs, 5.1e-6)


def test_three_tied_documents_have_one_order_in_all_metrics() -> None:
    """In a tie rr and rr@10 speak of the same order; in ir_measures they do not."""
    run: Run = {"q": {"a": 1.0, "b": 1.0, "c": 1.0}}
    qrels: Qrels = {"q": {"a": 1}}
    theirs = by_ir_measures(["RR", "RR@10"], run, qrels)
    assert theirs["q", "RR"] != theirs["q", "RR@10"]
    found = by_us({"RR": "RR", "RR@10": "RR@10"}, run, qrels)
    assert found == {("q", "RR"): 1 / 3, ("q", "RR@10"): 1 / 3}


# scikit-learn


@pytest.mark.parametrize("k", [None, 1, 3, 10, 100])
@pytest.mark.parametrize("gain", ["linear", "exp"])
def test_discounted_gain_is_that_of_scikit_learn(gain: str, k: int | None) -> None:
    """dcg and ndcg of the listed rows, without ties, are those of scikit-learn on the grades, or on 2^grade - 1."""
    rng = np.random.default_rng(0)
    rows = []
    theirs: Values = {}
    for query in range(60):
        n = int(rng.integers(2, 30))
        grade = rng.integers(0, 5, n) * (query % 10 > 0)
        score = rng.permutation(n) / 8
        worth = 2.0**grade - 1 if gain == "exp" else grade
        theirs[str(query), "dcg"] = float(skl.dcg_score([worth], [score], k=k, ignore_ties=True))
        theirs[str(query), "ndcg"] = float(skl.ndcg_score([worth], [score], k=k, ignore_ties=True))
        rows += [(str(query), float(s), int(g)) for s, g in zip(score, grade, strict=True)]
    frame = pl.DataFrame(rows, schema=["query", "score", "grade"], orient="row")
    asked_for = [frame_metrics.metrics.dcg(gain=gain), frame_metrics.metrics.ndcg(gain=gain)]
    found = IRM(frame).per_query(*(metric @ k if k else metric for metric in asked_for))
    assert not differences(values_of(found.with_columns(pl.col("metric").str.extract(r"^(\w+)"))), theirs)


def _counts(truth: Array, taken: Array) -> Array:
    """True negatives, false positives, false negatives, true positives."""
    counted: Array = skl.confusion_matrix(truth, taken, labels=[0, 1]).ravel()
    return counted


nan = np.nan
# Each measure of the 2x2 table as scikit-learn computes it on labels; what is nan there is undefined here, and null.
SKLEARN: dict[str, Callable[[Array, Array], float]] = {
    "tn": lambda t, p: _counts(t, p)[0],
    "fp": lambda t, p: _counts(t, p)[1],
    "fn": lambda t, p: _counts(t, p)[2],
    "tp": lambda t, p: _counts(t, p)[3],
    "accuracy": skl.accuracy_score,
    "error_rate": skl.zero_one_loss,
    "precision": lambda t, p: skl.precision_score(t, p, zero_division=0),
    "recall": lambda t, p: skl.recall_score(t, p, zero_division=0),
    "specificity": lambda t, p: skl.recall_score(t, p, pos_label=0, zero_division=nan),
    "npv": lambda t, p: skl.precision_score(t, p, pos_label=0, zero_division=nan),
    "fallout": lambda t, p: 1 - skl.recall_score(t, p, pos_label=0, zero_division=nan),
    "miss_rate": lambda t, p: 1 - skl.recall_score(t, p, zero_division=0),
    "fdr": lambda t, p: 1 - skl.precision_score(t, p, zero_division=0),
    "fomr": lambda t, p: 1 - skl.precision_score(t, p, pos_label=0, zero_division=nan),
    "prevalence": lambda t, p: t.mean(),
    "bias": lambda t, p: p.mean(),
    "f1": lambda t, p: skl.f1_score(t, p, zero_division=0),
    "inverse_f1": lambda t, p: skl.f1_score(t, p, pos_label=0, zero_division=nan),
    "inverse_fbeta(beta=2)": lambda t, p: skl.fbeta_score(t, p, beta=2, pos_label=0, zero_division=nan),
    "fbeta(beta=2)": lambda t, p: skl.fbeta_score(t, p, beta=2, zero_division=0),
    "fbeta(beta=0.5)": lambda t, p: skl.fbeta_score(t, p, beta=0.5, zero_division=0),
    "jaccard": lambda t, p: skl.jaccard_score(t, p, zero_division=0),
    "mcc": skl.matthews_corrcoef,
    "kappa": skl.cohen_kappa_score,
    "balanced_accuracy": lambda t, p: skl.balanced_accuracy_score(t, p),
    "informedness": lambda t, p: skl.balanced_accuracy_score(t, p, adjusted=True) if len(set(t)) == 2 else nan,
    "lr_positive": lambda t, p: skl.class_likelihood_ratios(t, p, labels=[0, 1], replace_undefined_by=nan)[0],
    "lr_negative": lambda t, p: skl.class_likelihood_ratios(t, p, labels=[0, 1], replace_undefined_by=nan)[1],
}


@cache
def of_labels(name: str, pairs: tuple[tuple[int, int], ...]) -> float | None:
    """scikit-learn's value of pairs of labels, None where it is undefined there."""
    truth, taken = (np.array([pair[i] for pair in pairs]) for i in (0, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = float(SKLEARN[name](truth, taken))
    return None if math.isnan(value) else value


def by_sklearn(name: str, truth: Array, taken: Array) -> float | None:
    """scikit-learn's value of two label vectors; the order of the rows plays no part."""
    return of_labels(name, tuple(sorted(zip(truth.tolist(), taken.tolist(), strict=True))))


@cache
def collections() -> dict[str, tuple[Array, Array]]:
    """Every collection of four documents with the best n retrieved, and some larger ones."""
    found = {}
    for truth in itertools.product([0, 1], repeat=4):
        for n in range(5):
            found[f"{truth} {n}"] = np.array(truth), np.array([1] * n + [0] * (4 - n))
    rng = np.random.default_rng(1)
    for i in range(20):
        size = int(rng.integers(5, 60))
        found[f"random {i}"] = rng.integers(0, 2, size), (np.arange(size) < rng.integers(0, size + 1)).astype(int)
    return found


@cache
def listed() -> pl.DataFrame:
    """The collections as a log that lists every document, those that are not retrieved without a score."""
    parts = [
        pl.DataFrame({"query": query, "worth": np.arange(len(truth), 0, -1.0), "taken": taken == 1, "label": truth})
        for query, (truth, taken) in collections().items()
    ]
    return pl.concat(parts).with_columns(score=pl.when("taken").then("worth"))


@pytest.mark.parametrize("name", SKLEARN)
def test_the_table_of_a_retrieved_set_is_that_of_scikit_learn(name: str) -> None:
    """A retrieved set is a prediction: every measure of its table is scikit-learn's, defined or not."""
    result = IRM(listed(), collection_size=True).per_query(name)
    found = dict(result.select("query", "value").iter_rows())
    expected = {query: by_sklearn(name, *both) for query, both in collections().items()}
    assert len(expected) == 100
    assert found.keys() == expected.keys()
    assert [q for q in found if (found[q] is None) != (expected[q] is None)] == []
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("name", SKLEARN)
def test_the_table_at_a_cutoff_is_that_of_scikit_learn(name: str, k: int) -> None:
    """The first k documents are a prediction too, of a collection of which only these were retrieved."""
    result = IRM(listed(), score="worth", collection_size=True).per_query(f"{name}@{k}")
    found = dict(result.select("query", "value").iter_rows())
    expected = {}
    for query, (truth, _) in collections().items():
        expected[query] = by_sklearn(name, truth, (np.arange(len(truth)) < k).astype(int))
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", SKLEARN)
def test_the_micro_average_is_scikit_learn_on_all_rows(name: str) -> None:
    """The measure of the summed counts is that of all documents put together."""
    both = list(collections().values())
    truth, taken = (np.concatenate([pair[i] for pair in both]) for i in (0, 1))
    result = IRM(listed(), collection_size=True).evaluate(name, average="micro")
    assert result["value"].item() == pytest.approx(by_sklearn(name, truth, taken), abs=1e-12)
    assert result["n"].item() == len(both)
