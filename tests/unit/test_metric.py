"""Reading and printing the names of metrics, and metrics as values."""

from __future__ import annotations

import math
import pickle
import pydoc
import re
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frame_metrics
from frame_metrics import BadValueError, ColumnError, FrameMetricsError, Metric, UnknownNameError, metrics
from helpers import LONG
from inside import REGISTRY, read, read_text

# What each text means: a registered name, parameters, a cutoff.
OURS: dict[str, tuple[str, dict[str, Any], float | None]] = {
    "ndcg": ("ndcg", {}, None),
    "ndcg@10": ("ndcg", {}, 10),
    " ndcg @ 10 ": ("ndcg", {}, 10),
    "NDCG@10": ("ndcg", {}, 10),
    "map": ("ap", {}, None),
    "mrr": ("rr", {}, None),
    "p@10": ("precision", {}, 10),
    "P@10": ("precision", {}, 10),
    "R@100": ("recall", {}, 100),
    "hit_rate@5": ("success", {}, 5),
    "hit@5": ("success", {}, 5),
    "hits@5": ("num_rel_ret", {}, 5),
    "rbp(p=0.8)": ("rbp", {"p": 0.8}, None),
    "rbp( p = .8 )@5": ("rbp", {"p": 0.8}, 5),
    "fbeta(beta=2)@10": ("fbeta", {"beta": 2}, 10),
    "fbeta(beta=inf)": ("fbeta", {"beta": math.inf}, None),
    "ndcg(gain='exp', discount=\"jk\")@3": ("ndcg", {"gain": "exp", "discount": "jk"}, 3),
    "ndcg(gain={0: 0, 1: 1, 2: 3.5})": ("ndcg", {"gain": {0: 0, 1: 1, 2: 3.5}}, None),
    "ap(norm='min(k, R)')@3": ("ap", {"norm": "min(k, R)"}, 3),
    "ap(norm='found')@3": ("ap", {"norm": "found"}, 3),
    "ndcg(gain=[0, 1, 3])": ("ndcg", {"gain": {0: 0, 1: 1, 2: 3}}, None),
    "ap()": ("ap", {}, None),
    "iprec@0.25": ("iprec", {}, 0.25),
    "iprec(recall=0.25)": ("iprec", {"recall": 0.25}, None),
    "precision_at_recall@0.5": ("precision_at_recall", {}, 0.5),
    "utility(tp=2, fp=-.5)": ("utility", {"tp": 2, "fp": -0.5}, None),
    "precision(rel=2)@5": ("precision", {"rel": 2}, 5),
    "ap(judged_only=True)": ("ap", {"judged_only": True}, None),
    "ap(rel=2, judged_only=True)@100": ("ap", {"rel": 2, "judged_only": True}, 100),
    "fall_out@5": ("fallout", {}, 5),
    "lr+": ("lr_positive", {}, None),
    "dice": ("f1", {}, None),
    "bookmaker": ("informedness", {}, None),
    "closest": ("corner_distance", {}, None),
    "cost(fp=1, fn=5)": ("cost", {"fp": 1, "fn": 5}, None),
    "kappa(weights='quadratic')": ("kappa", {"weights": "quadratic"}, None),
    "balanced_accuracy(sensitivity=0.8)": ("balanced_accuracy", {"sensitivity": 0.8}, None),
    "AUC": ("roc_auc", {}, None),
    "roc_auc(max_fpr=0.1)": ("roc_auc", {"max_fpr": 0.1}, None),
    "roc_auc(multi='ovo')": ("roc_auc", {"multi": "ovo"}, None),
    "average_precision": ("average_precision", {}, None),
    "ece(bins=5)": ("ece", {"bins": 5}, None),
    "max_precision(min_recall=0.5)": ("max_precision", {"min_recall": 0.5}, None),
    "max_recall(min_precision=0.9)": ("max_recall", {"min_precision": 0.9}, None),
    "perplexity": ("perplexity", {}, None),
}
SCIKIT_LEARN: dict[str, tuple[str, dict[str, Any], float | None]] = {
    "roc_auc_score": ("roc_auc", {}, None),
    "average_precision_score": ("average_precision", {}, None),
    "brier_score_loss": ("brier", {}, None),
    "log_loss": ("log_loss", {}, None),
    "f1_score": ("f1", {}, None),
}
TREC_EVAL: dict[str, tuple[str, dict[str, Any], float | None]] = {
    "num_q": ("num_q", {}, None),
    "num_ret": ("num_ret", {}, None),
    "num_rel": ("num_rel", {}, None),
    "num_rel_ret": ("num_rel_ret", {}, None),
    "map": ("ap", {}, None),
    "Rprec": ("rprec", {}, None),
    "bpref": ("bpref", {}, None),
    "recip_rank": ("rr", {}, None),
    "iprec_at_recall_0.10": ("iprec", {}, 0.1),
    "iprec_at_recall.0.10": ("iprec", {}, 0.1),
    "P_10": ("precision", {}, 10),
    "P.10": ("precision", {}, 10),
    "recall_1000": ("recall", {}, 1000),
    "infAP": ("infap", {}, None),
    "11pt_avg": ("iprec_avg", {}, None),
    "ndcg_cut_10": ("ndcg", {}, 10),
    "ndcg_cut.10": ("ndcg", {}, 10),
    "map_cut_10": ("ap", {}, 10),
    "ndcg_rel": ("ndcg_rel", {}, None),
    "Rndcg": ("rndcg", {}, None),
    "binG": ("bin_g", {}, None),
    "relative_P_15": ("relative_precision", {}, 15),
    "success_5": ("success", {}, 5),
    "set_P": ("precision", {}, None),
    "set_recall": ("recall", {}, None),
    "set_relative_P": ("relative_precision", {}, None),
    "set_map": ("set_ap", {}, None),
    "set_F": ("fbeta", {}, None),
    "set_F.1.0": ("fbeta", {"beta": 1}, None),
    "set_F.4": ("fbeta", {"beta": 2}, None),
    "set_F.0": ("fbeta", {"beta": 0}, None),
    "11pt_avg.0.25,.5": ("iprec_avg", {"recalls": [0.25, 0.5]}, None),
    "11pt_avg..25,.5": ("iprec_avg", {"recalls": [0.25, 0.5]}, None),
    "unj_5": ("unjudged", {}, 5),
    "rbp_resid": ("rbp_residual", {"p": 0.9}, None),
    "Rprec_mult_0.20": ("rprec_mult", {"multiple": 0.2}, None),
    "Rprec_mult.0.20": ("rprec_mult", {"multiple": 0.2}, None),
    "utility.1.0,-1.0,0.0,0.5": ("utility", {"tp": 1.0, "fp": -1.0, "fn": 0.0, "tn": 0.5}, None),
    "num_nonrel_judged_ret": ("num_nonrel_judged_ret", {}, None),
}
IR_MEASURES: dict[str, tuple[str, dict[str, Any], float | None]] = {
    "AP": ("ap", {}, None),
    "AP(rel=2)@100": ("ap", {"rel": 2}, 100),
    "AP(judged_only=True)": ("ap", {"judged_only": True}, None),
    "RR@10": ("rr", {}, 10),
    "P(rel=2)@5": ("precision", {"rel": 2}, 5),
    "nDCG@10": ("ndcg", {}, 10),
    "nDCG(dcg='log2')@10": ("ndcg", {"gain": "linear"}, 10),
    "nDCG(dcg='exp-log2')@10": ("ndcg", {"gain": "exp"}, 10),
    "nDCG(gains={0: 0, 1: 3})@10": ("ndcg", {"gain": {0: 0, 1: 3}}, 10),
    "Rprec": ("rprec", {}, None),
    "IPrec@0.2": ("iprec", {}, 0.2),
    "Bpref": ("bpref", {}, None),
    "infAP": ("infap", {}, None),
    "Success@5": ("success", {}, 5),
    "Judged@10": ("judged", {}, 10),
    "SetP": ("precision", {}, None),
    "SetP(relative=True)": ("relative_precision", {}, None),
    "SetR": ("recall", {}, None),
    "SetF": ("fbeta", {}, None),
    "SetF(beta=0.25)": ("fbeta", {"beta": 0.5}, None),
    "SetP(rel=2,relative=True)": ("relative_precision", {"rel": 2}, None),
    "SetP(relative=False)": ("precision", {}, None),
    "SetRelP": ("relative_precision", {}, None),
    "SetRelP(rel=2)": ("relative_precision", {"rel": 2}, None),
    "SetAP": ("set_ap", {}, None),
    "RBP(p=0.8, rel=1)": ("rbp", {"p": 0.8, "rel": 1}, None),
    "NumQ": ("num_q", {}, None),
    "NumRet": ("num_ret", {}, None),
    "NumRet(rel=1)": ("num_rel_ret", {"rel": 1}, None),
    "NumRel": ("num_rel", {}, None),
}
RANX: dict[str, tuple[str, dict[str, Any], float | None]] = {
    "hits@10": ("num_rel_ret", {}, 10),
    "hit_rate": ("success", {}, None),
    "precision@5": ("precision", {}, 5),
    "f1@5": ("f1", {}, 5),
    "r-precision": ("rprec", {}, None),
    "mrr@10": ("rr", {}, 10),
    "map@10": ("ap", {}, 10),
    "ndcg_burges@10": ("ndcg", {"gain": "exp"}, 10),
    "dcg_burges": ("dcg", {"gain": "exp"}, None),
    "rbp.95": ("rbp", {"p": 0.95}, None),
}
READ = [case for table in (OURS, TREC_EVAL, IR_MEASURES, RANX, SCIKIT_LEARN) for case in table.items()]


@pytest.mark.parametrize(("text", "meaning"), READ, ids=[text for text, _ in READ])
def test_a_text_reads_as_a_metric(text: str, meaning: tuple[str, dict[str, Any], float | None]) -> None:
    """Names of ours and of other tools read as one metric, its parameters and its cutoff."""
    ((name, metric),) = read_text(text)
    assert name == text
    assert (metric.name, dict(metric.params), metric.cutoff) == meaning
    assert metric.average is None


@pytest.mark.parametrize("text", ["gm_map", "gm_ndcg@10", "gm_bpref", "gm_P_5", "gm_rbp(p=0.5)"])
def test_a_geometric_mean_is_asked_for_in_the_name(text: str) -> None:
    """`gm_` is the plain metric, averaged geometrically, and prints so."""
    ((name, metric),) = read_text(text)
    ((_, plain),) = read_text(text.removeprefix("gm_"))
    assert name == text
    assert metric.average == "gmean"
    assert str(metric) == f"gm_{plain}"
    assert metric != plain


def test_the_name_is_kept_as_the_caller_wrote_it() -> None:
    """The column `metric` has the caller's spelling, capitals and blanks and all."""
    log = pl.DataFrame({"query": [1, 1], "score": [2.0, 1.0], "grade": [1, 0]})
    asked = ["MAP", "P_1", "GM_Map", "nDCG(dcg='exp-log2')@10", "hit@5", " rr "]
    assert log.irm.evaluate(*asked)["metric"].to_list() == asked
    assert log.irm.per_query(*asked, layout="wide").columns == ["query", *asked, "answered"]


def test_several_cutoffs_are_several_names() -> None:
    """`ndcg@1,5,10` is three metrics, each under its own name."""
    assert read_text("ndcg@1,5,10") == tuple((f"ndcg@{k}", metrics.ndcg @ k) for k in (1, 5, 10))
    assert read_text("nDCG(gain='exp')@1, 5") == tuple(
        (f"nDCG(gain='exp')@{k}", metrics.ndcg(gain="exp") @ k) for k in (1, 5)
    )
    assert [metric for _, metric in read_text("P_5,10")] == [metrics.precision @ 5, metrics.precision @ 10]
    assert read_text("iprec@0,0.5") == tuple((f"iprec@{r}", metrics.iprec @ r) for r in (0, 0.5))
    assert read(["gm_ap@1,2"]) == [(f"gm_ap@{k}", read_text(f"gm_ap@{k}")[0][1]) for k in (1, 2)]


def test_large_cutoffs_keep_their_digits() -> None:
    """A cutoff of seven digits among several is not rounded in its name."""
    assert [name for name, _ in read_text("recall@1,1234567")] == ["recall@1", "recall@1234567"]


def test_metrics_are_read_in_the_order_asked_for() -> None:
    """Texts and values may stand side by side; a value goes by the text that it prints as."""
    asked = read(["rr", metrics.ndcg(gain="exp") @ 10, "P@1,2"])
    assert [name for name, _ in asked] == ["rr", "ndcg(gain='exp')@10", "P@1", "P@2"]


def test_err_is_expected_reciprocal_rank() -> None:
    """And no error rate."""
    assert read_text("err(max_grade=4)")[0][1] == metrics.err(max_grade=4)
    assert read_text("error")[0][1] == metrics.error_rate


@pytest.mark.parametrize(
    ("texts", "metric"),
    [
        (("error", "Error Rate", "misclassification rate", "misclassification-rate"), metrics.error_rate),
        (("ACC", "ACCURACY", "accuracy"), metrics.accuracy),
        (("F-score", "F score", "F-measure", "f_measure", "F"), metrics.fbeta),
        (("F1-score", "F1 score", "f1_measure", "Dice", "F1"), metrics.f1),
        (("F2", "f2-score", "F2_measure"), metrics.fbeta(beta=2)),
        (("F0.5", "f.5"), metrics.fbeta(beta=0.5)),
        (("fbeta(alpha=0.2)", "F-measure(alpha=0.2)"), metrics.fbeta(alpha=0.2)),
        (("inverse F(alpha=0.2)",), metrics.inverse_fbeta(alpha=0.2)),
        (("inverse F(beta=2)", "inverse_fbeta(beta=2)"), metrics.inverse_fbeta(beta=2)),
        (("FOR", "false omission rate"), metrics.fomr),
        (("fall-out", "Fallout", "fall out", "FPR"), metrics.fallout),
        (("true positives", "TP", "True-Positives"), metrics.tp),
        (("AvF", "avg F"), metrics.avg_f),
        (("AvG", "avg_g"), metrics.avg_g),
        (("IG", "inverse G"), metrics.inverse_g),
        (("LR-", "lr negative", "negative likelihood ratio"), metrics.lr_negative),
        (("LR+",), metrics.lr_positive),
        (("hit rate", "HR", "Hit-Rate"), metrics.success),
        (("MAP", "mean average precision"), metrics.ap),
        (("nDCG@10", "N-DCG @ 10"), metrics.ndcg @ 10),
        (("R-Precision", "r precision", "RPrec"), metrics.rprec),
        (("set_F.4", "SetF(beta=4)", "set_F(beta=4)"), metrics.fbeta(beta=2)),
        (("ndcg.1=3,2=9,4=4.5",), metrics.ndcg(gain={1: 3, 2: 9, 4: 4.5})),
    ],
    ids=str,
)
def test_the_fields_spellings_are_read(texts: tuple[str, ...], metric: Metric) -> None:
    """Without regard to case, nor to what stands between letters and digits; a sign at the end is part of the name."""
    assert [read_text(text)[0][1] for text in texts] == [metric] * len(texts)


@pytest.mark.parametrize(
    ("text", "names", "values"),
    [
        ("ndcg@1..3", ["ndcg@1", "ndcg@2", "ndcg@3"], [metrics.ndcg @ k for k in (1, 2, 3)]),
        ("P@1, 4..5", ["P@1", "P@4", "P@5"], [metrics.precision @ k for k in (1, 4, 5)]),
        ("P_5,10", ["P_5", "P_10"], [metrics.precision @ k for k in (5, 10)]),
        ("ndcg_cut.5,10", ["ndcg_cut.5", "ndcg_cut.10"], [metrics.ndcg @ k for k in (5, 10)]),
        (
            "iprec_at_recall..10,.20",
            ["iprec_at_recall.0.1", "iprec_at_recall.0.2"],
            [metrics.iprec @ r for r in (0.1, 0.2)],
        ),
        (
            "Rprec_mult.5.0,0.2",
            ["Rprec_mult.5.0", "Rprec_mult.0.2"],
            [metrics.rprec_mult(multiple=m) for m in (5.0, 0.2)],
        ),
    ],
)
def test_a_text_of_several_gives_each_its_own_name(text: str, names: list[str], values: list[Metric]) -> None:
    """As the caller wrote it, with one cutoff."""
    assert [name for name, _ in read([text])] == names
    assert [metric for _, metric in read([text])] == values


def test_names_stand_in_lists_too() -> None:
    """In a list, in a tuple, or one by one."""
    assert read([["rr", "map"], "ndcg@1..2", ("P@5",)]) == read(["rr", "map", "ndcg@1,2", "P@5"])
    assert len(read(["ndcg@1..1000"])) == 1000


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("ncdg", "did you mean 'ndcg'?"),
        ("mpa", "did you mean 'map'?"),
        ("ndcg10", "did you mean 'ndcg@10'?"),
        ("ndcg_at_10", "did you mean 'ndcg@10'?"),
        ("precision_at_10", "did you mean 'precision@10'?"),
        ("average_precison", "did you mean 'average_precision'?"),
        ("hits rate", "did you mean 'hit_rate'?"),
        ("CPC", "frame_metrics.list_metrics() lists them"),
        ("mae", "frame_metrics.list_metrics() lists them"),
        ("x", "frame_metrics.list_metrics() lists them"),
        ("rouge", "frame_metrics.list_metrics() lists them"),
    ],
)
def test_an_unknown_name_gets_the_nearest_or_the_way_to_the_list(text: str, hint: str) -> None:
    """Two letters that changed places are one mistake; what is near to nothing gets no guess."""
    with pytest.raises(UnknownNameError, match=f"there is no metric '{text}'.*{re.escape(hint)}$"):
        read_text(text)


@pytest.mark.parametrize(
    "text", ["ndcg" + " " * 50_000 + "(", "(" * 50_000, "ndcg(gain=" + "-" * 50_000 + "1)", "y" * 50_000]
)
def test_a_long_text_is_refused_at_once(text: str) -> None:
    """Neither hours of looking nor another library's error."""
    with pytest.raises(FrameMetricsError):
        read_text(text)


@pytest.mark.parametrize(
    ("metric", "said", "other"),
    [
        ("hit rate", "success, ", "recall"),
        ("HR@5", "success, ", "recall"),
        ("success@5", "", "recall"),
        ("hits", "num_rel_ret, ", "tp"),
        ("err", "", "error_rate"),
        ("ap", "", "average_precision"),
    ],
)
def test_a_ranked_metric_without_a_query_names_the_other_of_its_name(metric: str, said: str, other: str) -> None:
    """What it is, and what is called alike where rows are decided about."""
    rows = pl.DataFrame({"score": [2.0, 1.0], "label": [1, 0]})
    match = f"^{metric} is {said}of rankings, .*; of rows without a query there is {other}$"
    with pytest.raises(ColumnError, match=match):
        rows.irm.evaluate(metric)


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("ndcg@3..1", BadValueError, ["'3..1'", "a range of rising whole numbers from 1"]),
        ("ndcg@3..3", BadValueError, ["'3..3'", "a range of rising whole numbers from 1"]),
        ("ndcg@0..5", BadValueError, ["'0..5'", "a range of rising whole numbers from 1"]),
        ("ndcg@1..2..3", BadValueError, ["'1..2..3'", "a range"]),
        ("iprec@0.1..0.5", BadValueError, ["'0.1..0.5'", "a range"]),
        ("ndcg@1..1001", BadValueError, ["'1..1001'", "more than 1000 cutoffs"]),
        ("set_F.-1", BadValueError, ["beta squared is not 0 or more"]),
        ("SetF(beta='x')", BadValueError, ["beta squared is not 0 or more"]),
        ("fbeta(alpha=2)", BadValueError, ["alpha=2", "between 0 and 1"]),
        ("inverse_fbeta(alpha='x')", BadValueError, ["alpha='x'", "between 0 and 1"]),
        (
            "Accuracy",
            UnknownNameError,
            ["'Accuracy'", "accuracy (the share", "ir_measures' Accuracy (the"],
        ),
        ("Accuracy(rel=2)@10", UnknownNameError, ["'Accuracy' means two things"]),
        ("power", UnknownNameError, ["recall (of decisions)", "the chance that a test finds a difference"]),
        ("average_precison", UnknownNameError, ["'average_precison'", "did you mean 'average_precision'"]),
        ("runid", UnknownNameError, ["runid"]),
        ("relstring_10", UnknownNameError, ["relstring_10"]),
        ("ndcg@-5", BadValueError, ["ndcg@-5", "from 1"]),
        ("ndcg@2.5", BadValueError, ["ndcg@2.5", "whole number"]),
        ("ndcg@", BadValueError, ["ndcg@"]),
        ("ndcg@5,", BadValueError, ["ndcg@5,"]),
        ("iprec@1.5", BadValueError, ["iprec@1.5", "between 0 and 1"]),
        ("iprec@-0.1", BadValueError, ["iprec@-0.1", "between 0 and 1"]),
        ("iprec@nan", BadValueError, ["nan", "between 0 and 1"]),
        ("bpref@10", BadValueError, ["bpref takes no cutoff"]),
        ("rbp(q=0.8)", UnknownNameError, ["'q'", "'p'", "'rel'"]),
        ("rbp(p='high')", BadValueError, ["p='high'"]),
        ("rbp(p=True)", BadValueError, ["p=True"]),
        ("rprec_mult(multiple=0)", BadValueError, ["multiple=0", "above 0"]),
        ("ndcg(base=1)", BadValueError, ["base=1", "above 1"]),
        ("ndcg(gain='square')", BadValueError, ["'square'", "'linear', 'exp'"]),
        ("ndcg(gain={'high': 3})", BadValueError, ["'high'"]),
        ("ndcg(gain={1: 'much'})", BadValueError, ["'much'"]),
        ("ndcg(discount='ln')", BadValueError, ["'ln'", "'log2', 'jk'"]),
        ("ap(norm='k')", BadValueError, ["'k'", "'R', 'min(k, R)', 'found'"]),
        ("ap(rel='high')", BadValueError, ["rel='high'"]),
        ("ap(judged_only=1)", BadValueError, ["judged_only=1"]),
        ("roc_auc@10", BadValueError, ["roc_auc takes no cutoff"]),
        ("average_precision@10", BadValueError, ["average_precision takes no cutoff"]),
        ("coverage@10", BadValueError, ["share of rows with a prediction, and has no cutoff", "catalogue_coverage"]),
        ("roc_auc(max_fpr=0)", BadValueError, ["max_fpr=0", "above 0"]),
        ("roc_auc(max_fpr=1.5)", BadValueError, ["max_fpr=1.5"]),
        ("roc_auc(multi='all')", BadValueError, ["'all'", "'ovr', 'ovo'"]),
        ("kappa(weights='cubic')", BadValueError, ["'cubic'", "'linear', 'quadratic'"]),
        ("cost(fp=-1)", BadValueError, ["fp=-1", "0 or more"]),
        ("balanced_accuracy(sensitivity=2)", BadValueError, ["sensitivity=2", "between 0 and 1"]),
        ("ece(bins=0)", BadValueError, ["bins=0", "a whole number from 1"]),
        ("ece(bins=2.5)", BadValueError, ["bins=2.5", "a whole number from 1"]),
        ("ece(bins=True)", BadValueError, ["bins=True"]),
        ("max_precision(min_recall=1.1)", BadValueError, ["min_recall=1.1", "between 0 and 1"]),
        ("rbp(0.8)", BadValueError, ["name=value"]),
        ("rbp(p=0.8", FrameMetricsError, ["rbp(p=0.8"]),
        ("rbp(p=open('x'))", BadValueError, ["name=value"]),
        ("rbp(**{'p': 0.8})", FrameMetricsError, ["rbp"]),
        ("set_F.-1", BadValueError, ["beta squared"]),
        ("@10", FrameMetricsError, ["@10"]),
        ("gm_", FrameMetricsError, []),
        ("ndcg 10", FrameMetricsError, ["ndcg 10"]),
    ],
)
def test_what_does_not_read_is_an_error_that_says_why(text: str, error: type[Exception], words: list[str]) -> None:
    """A text that is no metric names what is wrong with it, and the way out."""
    with pytest.raises(error) as raised:
        read([text])
    for word in words:
        assert word in str(raised.value)


@pytest.mark.parametrize(
    "text",
    [
        *("rbp(p=0.5)(p=0.9)", "rbp(p=0.5)()", "rbp()(p=0.9)", "rbp(p=0.5).x(p=0.9)", "rbp(p=0.5)[0](p=0.9)"),
        *("rbp(p=0.5) or f(p=0.9)", "rbp(p=0.5), f(p=0.9)", "rbp(p=0.5)@5(p=0.9)", "rbp@5(p=0.9)", "rbp(p=0.5)x"),
        *("rbp(p=0.5,p=0.9)", "rbp(p=0.5,p=0.5)", "rbp(0.5,p=0.9)", "rbp(**{},p=0.9)", "rbp(*[],p=0.9)"),
        *("precision(rel=1)@5@10", "precision@5@10", "P_5@10", "P_5(rel=1)", "precision(rel=1,rel=2)@5"),
        *("ndcg@5(gain='exp')", "ndcg(gain='exp')@5(gain='linear')", "ndcg_burges(gain='linear')"),
        *("nDCG(gains='exp',gain='linear')", "nDCG(dcg='log2',gain='exp')", "nDCG(dcg='log2',dcg='exp-log2')"),
        *("nDCG(dcg='log2',gains='exp')", "ndcg(gain={1: 2, 1: 3})", "ndcg(gain={1: 2, 1.0: 3})", "ndcg(dcg={1: 2})"),
        *("iprec(recall=0.1)@0.2", "iprec_at_recall_0.1@0.2", "rbp.5(p=0.9)", "rprec_mult_0.2(multiple=1)"),
        *("utility.1,2,3,4)(tp=9", "utility.1,2,3,4,tp=9", "numret(rel=1)(rel=2)", "numret(rel=1,rel=2)"),
        *("set_F.2@5", "set_F.2(beta=1)", "gm_gm_map", "gm_map(rel=1)(rel=2)", "rbp(p=-'a')", "rbp(p={[]: 1})"),
    ],
)
def test_a_text_that_says_something_twice_is_an_error(text: str) -> None:
    """A metric is one name, one bracket of different parameters and one cutoff; nothing else is read as one."""
    with pytest.raises(FrameMetricsError):
        read([text])


@settings(max_examples=settings().max_examples if LONG else 5)  # each looks for the nearest of all names
@given(st.text(max_size=12))
def test_any_text_reads_or_is_our_error(text: str) -> None:
    """No text raises anything but this package's errors."""
    try:
        assert read([text])
    except FrameMetricsError:
        return


@given(st.sampled_from(sorted(REGISTRY)), st.text("()=@.,_'{}:1-5a ", max_size=8))
def test_any_end_of_a_name_reads_or_is_our_error(name: str, rest: str) -> None:
    """Whatever follows a metric's name, the text reads or raises this package's error."""
    try:
        assert read([name + rest])
    except FrameMetricsError:
        return


# Metrics as values


def test_a_metric_prints_as_the_text_that_reads_back_to_it() -> None:
    """Parameters stand in parentheses, in alphabetical order, and the cutoff after @."""
    assert str(metrics.ndcg) == repr(metrics.ndcg) == "ndcg"
    assert str(metrics.ndcg @ 10) == "ndcg@10"
    assert str(metrics.ndcg(gain="exp", discount="jk") @ 10) == "ndcg(discount='jk', gain='exp')@10"
    assert str(metrics.ndcg(gain={0: 0, 2: 1}) @ 10) == "ndcg(gain={0: 0, 2: 1})@10"
    assert str(metrics.fbeta(beta=math.inf)) == "fbeta(beta=inf)"
    assert str(metrics.iprec @ 0.1) == "iprec@0.1"


@pytest.mark.parametrize(
    "metric",
    [
        metrics.rbp(p=np.float64(0.7)),
        metrics.fbeta(beta=np.float64(2)) @ np.int64(5),
        metrics.precision(rel=np.float64(2)) @ np.int32(5),
        metrics.iprec @ np.float64(0.1),
        metrics.ndcg(gain={np.float64(1): np.float64(2.5)}),
        metrics.ndcg(gain={0: 0, 1: 1e300, 2: 0.1}),
        metrics.rbp(p=1e-7),
        metrics.utility(tp=math.inf, fp=-math.inf),
        metrics.roc_auc(max_fpr=np.float32(0.25)),
        metrics.ece(bins=np.int64(5)),
    ],
    ids=str,
)
def test_numbers_of_any_kind_print_as_text_that_reads_back(metric: Metric) -> None:
    """Parameters and cutoffs that came out of numpy print as plain numbers."""
    ((_, back),) = read_text(str(metric))
    assert back == metric
    assert "np." not in str(metric)


def test_metrics_are_equal_if_they_print_the_same() -> None:
    """Equal metrics have equal hashes, whatever way they were made; others differ."""
    assert metrics.ndcg @ 10 == read_text("nDCG@10")[0][1]
    assert metrics.fbeta(beta=2) @ 5 == (metrics.fbeta @ 5)(beta=2)
    assert metrics.ap == read_text("map")[0][1]
    assert len({metrics.ndcg @ 10, read_text("ndcg@10")[0][1], metrics.ndcg @ np.int64(10)}) == 1
    assert metrics.ndcg(gain="exp")(gain="linear") == metrics.ndcg(gain="linear")
    different = [metrics.ndcg, metrics.ndcg @ 5, metrics.ndcg @ 10, metrics.ndcg(gain="exp") @ 10, metrics.dcg @ 10]
    assert len(set(different)) == len(different)
    assert metrics.ndcg != "ndcg"


def test_a_metric_is_not_changed_by_what_is_made_of_it() -> None:
    """Parameters and cutoffs give new metrics; the registered one stays as it is."""
    made = metrics.ndcg(gain="exp") @ 10
    assert (metrics.ndcg.cutoff, dict(metrics.ndcg.params)) == (None, {})
    assert made(base=4) == metrics.ndcg(gain="exp", base=4) @ 10
    assert str(made) == "ndcg(gain='exp')@10"
    with pytest.raises((AttributeError, TypeError)):
        made.params["gain"] = "linear"  # type: ignore[index]
    with pytest.raises(AttributeError):
        made.cutoff = 5  # type: ignore[misc]


def test_a_mapping_of_gains_that_changes_later_changes_no_metric() -> None:
    """A metric keeps the gains that it was given, whatever becomes of the caller's mapping."""
    gains = {0: 0, 1: 1}
    metric = metrics.ndcg(gain=gains)
    before = str(metric)
    gains[1] = 5
    assert str(metric) == before


@pytest.mark.parametrize("name", ["precision", "ndcg", "num_ret", "rbp", "judged"])
def test_a_cutoff_past_every_ranking_is_computed_or_refused(name: str) -> None:
    """A cutoff may be far past the end; one that no integer column holds is this package's error."""
    log = pl.DataFrame({"query": [1, 1], "score": [2.0, 1.0], "grade": [0, 1]})
    found = log.irm.per_query(f"{name}@{10**12}", f"{name}@100")["value"].to_list()
    assert found[0] == pytest.approx(found[1], abs=0.02)
    with pytest.raises(FrameMetricsError):
        log.irm.evaluate(f"{name}@{10**20}")


def test_a_cutoff_that_is_a_whole_float_is_that_number() -> None:
    """`ndcg @ 10.0` is `ndcg@10`."""
    assert str(metrics.ndcg @ 10.0) == "ndcg@10"
    assert (metrics.ndcg @ 10.0).k == 10


def test_k_is_a_cutoff_in_ranks_only() -> None:
    """The result's k is the cutoff, null without one, and for a recall level."""
    log = pl.DataFrame({"query": [1, 1], "score": [2.0, 1.0], "grade": [1, 0]})
    found = log.irm.evaluate("ndcg@3", "ndcg", "iprec@0.5", "P_7")
    assert found["k"].to_list() == [3, None, None, 7]
    assert found["k"].dtype == pl.Int64


# Parameters of the input


LOG = {"query": 5 * [1], "score": [5.0, 4.0, 3.0, 2.0, 1.0], "grade": [1, None, 2, 0, 2]}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("rr", 1),
        ("rr(rel=2)", 1 / 3),
        ("precision(rel=2)@3", 1 / 3),
        ("recall(rel=2)@3", 1 / 2),
        ("ap(rel=2)", (1 / 3 + 2 / 5) / 2),
        ("rr(rel=2, judged_only=True)", 1 / 2),
        ("ap(judged_only=True)", (1 + 1 + 3 / 4) / 3),
        ("ap(judged_only=False)", (1 + 2 / 3 + 3 / 5) / 3),
        ("success(rel=2)@2", 0),
        ("num_ret(judged_only=True)", 4),
        ("num_rel(rel=2)", 2),
        ("num_rel(rel=0)", 4),
    ],
)
def test_rel_and_judged_only_in_a_name_change_what_the_metric_is_computed_on(text: str, value: float) -> None:
    """`rel=` sets the least relevant grade and `judged_only=` condenses the list, for that metric alone."""
    log = pl.DataFrame(LOG)
    both = log.irm.per_query(text, "rprec")["value"]
    assert both[0] == pytest.approx(value)
    assert both[1] == log.irm.per_query("rprec")["value"][0]


def test_a_name_goes_before_the_conventions() -> None:
    """`rel=` and `judged_only=` in a name override those of the irm."""
    log = pl.DataFrame(LOG)
    strict = log.irm(rel=2, unjudged="drop")
    assert strict.per_query("ap")["value"].item() == log.irm.per_query("ap(rel=2, judged_only=True)")["value"].item()
    assert strict.per_query("ap(rel=1, judged_only=False)")["value"].item() == log.irm.per_query("ap")["value"].item()


def test_set_f_takes_beta_squared() -> None:
    """trec_eval's set_F.x is (x + 1) P R / (R + x P)."""
    log = pl.DataFrame({"query": 4 * [1], "score": [4.0, 3.0, 2.0, None], "grade": [1, 0, 0, 1]})
    p, r = 1 / 3, 1 / 2
    found = log.irm.per_query("set_F.3", "set_F.0.25", "set_F")["value"].to_list()
    assert found == pytest.approx([(x + 1) * p * r / (r + x * p) for x in (3, 0.25, 1)])


def test_a_geometric_mean_stands_beside_others() -> None:
    """`gm_map` is the geometric mean of ap, floored at 1e-5, whatever the average of the rest."""
    log = pl.DataFrame({"query": [1, 1, 2, 2], "score": 2 * [2.0, 1.0], "grade": [0, 1, 0, 0]})
    found = log.irm.evaluate("map", "gm_map")
    assert found["average"].to_list() == ["macro", "gmean"]
    assert found["value"].to_list() == pytest.approx([0.25, math.sqrt(0.5 * 1e-5)])
    assert log.irm.per_query("gm_map")["value"].to_list() == [0.5, 0]


def test_a_geometric_mean_is_one_beside_the_micro_average_too() -> None:
    """`gm_` decides the average of its metric, also where the others are pooled."""
    log = pl.DataFrame({"query": [1, 1, 2, 2], "score": 2 * [2.0, 1.0], "grade": [0, 1, 1, 1]})
    found = log.irm.evaluate("gm_precision@2", "precision@2", average="micro")
    assert found["average"].to_list() == ["gmean", "micro"]
    assert found["value"].to_list() == pytest.approx([math.sqrt(0.5), 0.75])


def test_a_metric_can_be_pickled() -> None:
    """A metric, its parameters and its average come through a pickle unchanged."""
    several = metrics.roc_auc(multi="ovo"), metrics.kappa(weights="linear"), metrics.perplexity
    for metric in (metrics.ndcg(gain={0: 0, 1: 3}) @ 10, metrics.num_q, read(["gm_map"])[0][1], *several):
        again = pickle.loads(pickle.dumps(metric))
        assert (again, again.average) == (metric, metric.average)
        assert again.kernel is metric.kernel


def test_numbers_of_numpy_are_numbers() -> None:
    """What a column's max() gives may be given back, to roles, options and metrics."""
    log = pl.DataFrame({"query": [1, 1], "score": [2.0, 1.0], "grade": [1, None]})
    irm = log.irm(query="query", rel=np.int64(1), collection_size=np.int32(9))  # type: ignore[typeddict-item]
    assert "\n  rel=1, collection_size=9\n" in repr(irm)
    assert irm.evaluate("rr", ci=np.float64(0.9), resamples=np.int64(9))["value"].item() == 1  # type: ignore[arg-type]
    assert irm.bounds("cg", of="unjudged", max_grade=np.int64(3))["upper"].item() == 4  # type: ignore[arg-type]


# The list of metrics


def test_every_metric_is_listed() -> None:
    """Once, with what it says of itself."""
    table = frame_metrics.list_metrics()
    assert table["name"].to_list() == [*dict.fromkeys(table["name"])]
    assert set(table["name"]) == set(REGISTRY)
    for row in table.rows(named=True):
        metric = REGISTRY[row["name"]]
        assert (row["lowest"], row["highest"]) == tuple(None if math.isinf(end) else end for end in metric.range)
        assert row["undefined"] == metric.undefined
        assert row["better"] == {True: "higher", False: "lower", None: None}[metric.higher]
        assert metric.doc.startswith(row["about"])
        assert all(read_text(name)[0][1] == metric for name in row["also"].split(", ") if name)


def test_the_list_says_what_a_metric_needs() -> None:
    """What is read off the metric, and its parameters without a value."""
    needs = dict(frame_metrics.list_metrics().select("name", "needs").rows())
    assert needs["accuracy"] == "collection_size"
    assert (needs["err"], needs["brier"], needs["max_recall"], needs["ap"]) == (
        "max_grade",
        "probabilities",
        "min_precision",
        "",
    )


def test_goals_name_metrics_that_there_are() -> None:
    """Every metric of the list of goals can be asked for, and no goal names one twice."""
    goals = frame_metrics.list_goals()
    assert not goals.select("goal", "metric").is_duplicated().any()
    assert {read_text(name)[0][1].name for name in goals["metric"]} <= set(REGISTRY)
    assert frame_metrics.list_goals(library="pandas").shape == goals.shape


def test_the_list_is_a_frame_of_any_library() -> None:
    """As read_run gives one."""
    assert list(frame_metrics.list_metrics(library="pandas")["name"]) == frame_metrics.list_metrics()["name"].to_list()
    assert frame_metrics.list_metrics(library="pyarrow").num_rows == len(REGISTRY)
    assert frame_metrics.list_metrics("nDCG@10")["name"][0] == "ndcg"
    assert {"brier", "ece", "log_loss"} <= {*frame_metrics.list_metrics("calibration")["name"]}
    assert {"lift", "precision", "recall"} <= {*frame_metrics.list_metrics("top")["name"]}
    with pytest.raises(frame_metrics.UnknownNameError, match="there is no metric with 'xyz' in its name or text"):
        frame_metrics.list_metrics("xyz")
    with pytest.raises(UnknownNameError, match="library='dask' is not one of"):
        frame_metrics.list_metrics(library="dask")


def test_help_is_about_the_metric() -> None:
    """And not about what metrics are."""
    text = pydoc.render_doc(metrics.ndcg(gain="exp") @ 10, renderer=pydoc.plaintext)
    assert "Formula: dcg@k / ideal dcg@k." in text
    assert "ndcg(gain='exp')@10" in text
