"""Random attack: small frames of odd types through every verb, with random parts, conventions, metrics and options.

Of a fifth of the frames there is a log beside that is read in every form: lists, a column for each system, judgments
beside it, pieces. All forms have the values of plain Python (``forms.py``). Of each number there is also a valid
frame, of which a value is made null, and whose verbs get an argument in a container (``nulls.py``, ``containers.py``).

Whatever is given, the outcome is a frame of the caller's kind or a FrameMetricsError: never an error of another
library, a warning, or a change of what was given. What is drawn for a frame depends on the seed and the frame's number
alone, so ``--first NUMBER --frames 1`` repeats one that failed.
"""

from __future__ import annotations

import argparse
import faulthandler
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from containers import Held, held
from forms import differences
from nulls import CALLS, contained, silent
from odd_frames import POOLS, SANE, drawn, told

import frame_metrics
from frame_metrics import IRM, FrameMetricsError

SLOW = 5.0  # seconds of the processor for one call on a few rows, from which on it is told
LISTED = frame_metrics.list_metrics()
FAMILIES = {family: LISTED.filter(family=family).rows(named=True) for family in LISTED["family"].unique().sort()}
OTHER = "other score"  # the column of another system
FORMS = 0.2  # of the frames have a log beside them that is read in every form
HELD = 0.1  # of the frames have roles, conventions and options in containers
RANKED, DECIDED, CLASSES = ("ranking", "2x2 table"), ("2x2 table", "scores"), ("2x2 table", "several classes")
SPELLED = (
    *("P_5,10", "ndcg@1..3", "ndcg_cut_5", "f1", "F-score", "hit rate", "rbp(p=0.5)", "ndcg(gain='exp')@3", "fbeta(2)"),
    *("gauc", "gm_num_ret", "gm_gauc"),
    *("precision@0", "ndcg@", "err(max_grade=3)", "err(max_grade=0)", "payoff(tp=1)", "cost(fp=1, fn=5)", "iprec@0.1"),
    *("", "x", "@", "((((", "ndcg@99999999999999999999", "ndcg(rel=2)", "ap(rel=nan)", None, 5, ["rr", "ap"], [], "G"),
)
# Of each convention, values that it can have, and others.
CONVENTIONS: dict[str, tuple[tuple[Any, ...], tuple[Any, ...]]] = {
    "rel": ((1, 2, 0.5, 0, -1), (float("nan"), float("inf"), 10**400, "x", True)),
    "scale": (
        ({-1: 0, 0: 0, 1: 1, 2: 3, 3: 7}, {"a": 2, "b": 0, "c": None}, {True: 3, False: 0}, {0.5: 1, 1: 2}),
        ({}, ["a"], {"a": "b"}, {float("nan"): 1}, {"A": 1, "a": 2}, {"a": None}, {b"a": 1}, {10**400: 1}),
    ),
    "ties": (("doc", "worst", "best", "order", "expected"), ("x", ["doc"])),
    "undefined": (("zero", "one", "null", "raise"), (0,)),
    "unjudged": (("drop",), (True,)),
    "unanswered": (("drop", "zero"), (True,)),
    "duplicates": (("first", "error"), ("last",)),
    "positive": ((1, True, "a", 2, ["a", "b"]), ([1, "a"], 0.5, POOLS["date"][0], b"a", [], {}, float("nan"))),
    "classes": ((["a", "b", "c"], [0, 1, 2, 3]), ([True, False], [1, "a"], ["a"], "ab", [], [POOLS["date"][0], 1])),
    "threshold": ((0.5, 0, 1, -1), (1e308, float("nan"), float("inf"), "x")),
    "abstain": ((["a"], [0]), ([None], "a", [b"a", 1])),
    "match": (("best", "majority"), ("x",)),
    "collection_size": ((True, True, True, 10), (0, -1, 2.5, False, 10**30, "n_relevant", "x")),
    "catalogue": ((3, 100, 10**6), (0, -1, 2.5, True, "x", {}, [])),
    "popularity": (({"a": 2, "b": 1}, {0: 1, 1: 5}, "weight"), ({}, {"a": -1}, {None: 1}, 3, "x", {"a": float("nan")})),
    "group": (("by", "system", "weight"), ("x", 3, [])),
}
OF_ROWS = {"classes", "abstain", "match", "threshold"}
OF_PARTS = {"scale": "grade", "duplicates": "doc", "positive": "label", "collection_size": "query", "ties": "score"}
OF_PARTS |= {"catalogue": "doc", "popularity": "doc", "group": "doc"}
FOREIGN: tuple[Any, ...] = (
    None,
    True,
    7,
    1.5,
    [],
    ["query", "doc"],
    pl.col("query"),
    object(),
    {"a": "score"},
    "absent",
)


class Drawn(NamedTuple):
    """What one frame is asked."""

    frame: Any
    irm: Callable[[], Any]  # makes the object of the frame
    judgments: Any  # beside the frame, or None


class Found(NamedTuple):
    """What should not have been."""

    number: int  # of the frame
    verb: str
    what: str
    where: str


def attacked(seed: int, number: int) -> Drawn:
    """Draw a frame, the parts of its columns, conventions, and judgments beside it."""
    rng = Random(f"{seed} {number}")
    odd = rng.choice((0, 0, 0.02, 0.15))  # how much of it is
    if rng.random() < 0.1:
        numbers, named = saved(rng, odd)
        return Drawn(numbers, lambda: IRM(numbers, **named), None)
    if rng.random() < 0.05:
        clicks, named = clicked(rng, odd)
        return Drawn(clicks, lambda: IRM(clicks, **named), None)
    decided, beside = rng.random() < 0.35, rng.random() < 0.25
    parts = ["score" if rng.random() < 0.85 else "rank", "label" if decided or rng.random() < 0.3 else "grade"]
    parts += ["predicted"] * decided + ["query"] * (beside or rng.random() < (0.3 if decided else 0.8))
    parts += ["doc"] * (beside or ("query" in parts and rng.random() < 0.4))
    parts += [part for part in ("system", "by", "weight", "cluster") if rng.random() < 0.2]
    parts += [part for part in ("system", "cluster") if rng.random() < 0.1 and part not in parts]
    parts += [OTHER] * ("query" in parts and rng.random() < 0.1)
    parts += [part for part in ("count" if "query" not in parts else "n_relevant",) if rng.random() < 0.1]
    parts += [part for part in SANE if part not in parts and rng.random() < odd / 2]
    frame, named = drawn(rng, parts, odd)
    relevant = {}
    if "query" in named and rng.random() < 0.15:
        frame = folded(rng, frame, named)
        if "doc" in named and rng.random() < 0.4:
            frame, relevant = listed_as_relevant(rng, frame, named)
    roles: dict[str, Any] = {
        part: name for part, name in named.items() if part != OTHER and (name != part or rng.random() < 0.5)
    }
    roles |= {
        part: named[part] for part in ("system", "by", "weight", "cluster", "count", "n_relevant") if part in named
    }
    if decided and "query" in named and rng.random() < 0.8:
        roles["query"] = rng.choice((None, named["query"]))
    if rng.random() < odd:
        roles[rng.choice([*SANE, "querry"])] = rng.choice(FOREIGN)
    if rng.random() < 0.03:
        roles["score"] = {"a": named.get("score", "x"), "b": named.get("weight", "y")}
    roles |= relevant
    if rng.random() < 0.05:
        roles[rng.choice(("score", "rank", "predicted"))] = [*rng.sample([*named.values()], min(len(named), 2))]
    if OTHER in named and rng.random() < 0.9:
        roles = {part: name for part, name in roles.items() if part != "system"}
        roles["score"] = [named.get("score", "score"), named[OTHER]]
    if isinstance(frame, pl.LazyFrame) and rng.random() < 0.3:
        roles["memory"] = rng.choice((1, 200, 2000, "1 kB"))
    fitting = set(CONVENTIONS) - (OF_ROWS if not decided else set())
    fitting -= {part for part, needed in OF_PARTS.items() if needed not in named}
    said = {
        name: rng.choice(plain if rng.random() > odd else strange)
        for name, (plain, strange) in CONVENTIONS.items()
        if rng.random() < (0.3 if name == "collection_size" else 0.06 if name in fitting else 0.005)
    }
    if rng.random() < HELD:
        roles, said = in_containers(rng, roles, named), in_containers(rng, said, named)
    if not beside:
        return Drawn(frame, lambda: IRM(frame, **{**roles, **said}), None)
    annotated = rng.random() < 0.6
    qrels, columns = drawn(rng, ["query", "doc", rng.choice(("grade", "label")), *["cluster"] * annotated], odd)
    annotator = (
        {rng.choice(("annotator", "annotator", "annotator", "subtopic")): columns.pop("cluster")} if annotated else {}
    )
    judged = {part: name for part, name in columns.items() if name != part or rng.random() < 0.2} | annotator
    judged |= {"several": rng.choice(("mean", "median", "max", "majority"))} if rng.random() < 0.5 else {}
    judged |= {rng.choice(("label", "grade", "doc")): rng.choice((True, *FOREIGN))} if rng.random() < odd else {}
    judged = in_containers(rng, judged, columns) if rng.random() < HELD else judged
    if "annotator" not in judged and rng.random() < 0.3:
        machine, own = drawn(rng, ["query", "doc", rng.choice(("grade", "label"))], odd)
        judged["proxy"] = IRM(machine, **own) if rng.random() < 0.5 else machine
    return Drawn(frame, lambda: IRM(frame, **{**roles, **said}).judge(qrels, **judged), qrels)


def in_containers(rng: Random, options: dict[str, Any], named: dict[str, Any]) -> dict[str, Any]:
    """Return options with the values of some in containers; a role more now and then."""
    more = {rng.choice([*SANE, *CONVENTIONS]): rng.choice([*named.values()])} if rng.random() < 0.1 else {}
    return {name: held(rng, value) if rng.random() < 0.2 else value for name, value in (more | options).items()}


def folded(rng: Random, frame: Any, named: dict[str, str]) -> Any:
    """Return a frame with a row for each query, and lists; as it is where its library cannot make one."""
    keys = [named[part] for part in ("query", "system", "by", "weight", "cluster", "n_relevant") if part in named]
    try:
        if isinstance(frame, pl.DataFrame | pl.LazyFrame):
            lists = frame.lazy().group_by(keys, maintain_order=True).agg(pl.all()).collect()
            return lists.lazy() if isinstance(frame, pl.LazyFrame) else lists
        if isinstance(frame, pd.DataFrame):
            held = rng.choice((list, list, tuple, np.array, set, frozenset, pd.Series, str))
            return frame.groupby(keys, sort=False, dropna=False).agg(held).reset_index()
        rest = [name for name in frame.column_names if name not in keys]
        lists = frame.group_by(keys, use_threads=False).aggregate([(name, "list") for name in rest])
        return lists.rename_columns([*keys, *rest] if lists.column_names[0] in keys else [*rest, *keys])
    except (Exception, pl.exceptions.PanicException):  # as of objects without a hash
        return frame


def listed_as_relevant(rng: Random, frame: Any, named: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return lists with those of some relevant documents, and the roles; as they are where the library cannot."""
    doc, roles = named["doc"], {"relevant": "relevant", "label": None, "grade": None}
    try:
        if isinstance(frame, pl.DataFrame | pl.LazyFrame):
            made = frame.lazy().with_columns(relevant=pl.col(doc).list.gather_every(2)).collect()
            return made.lazy() if isinstance(frame, pl.LazyFrame) else made, roles
        if isinstance(frame, pd.DataFrame):
            held = rng.choice((list, tuple, set, frozenset, np.array, pd.Index, dict.fromkeys, iter))
            return frame.assign(relevant=[held(ids[::2]) for ids in frame[doc]]), roles
        return frame.append_column("relevant", frame.column(doc)), roles
    except Exception:
        return frame, {}


def saved(rng: Random, odd: float) -> tuple[Any, dict[str, Any]]:
    """Draw a frame of numbers that were computed elsewhere, and its roles."""
    parts = ["query", "value", *["metric"] * (rng.random() < 0.5)]
    parts += [part for part in ("system", "by", "weight", "cluster") if rng.random() < 0.2]
    frame, named = drawn(rng, parts, odd)
    if isinstance(frame, pl.DataFrame) and named["query"] in frame.columns and rng.random() < 0.8:  # a number for each
        frame = frame.unique(named["query"], maintain_order=True, keep="first")
    kept = {part: name for part, name in named.items() if part != "metric" and (part != "query" or name != part)}
    return frame, kept | some(rng, undefined=("zero", "null", "raise"))


def clicked(rng: Random, odd: float) -> tuple[Any, dict[str, Any]]:
    """Draw a log of clicks, and its roles."""
    parts = ["query", "doc", "rank", "label", "weight", *(part for part in ("system", "by") if rng.random() < 0.3)]
    frame, named = drawn(rng, parts, odd)
    roles = {part: name for part, name in named.items() if part in ("rank", "system", "by") or name != part}
    return frame, {"team" if part == "system" and rng.random() < 0.5 else part: name for part, name in roles.items()}


def metric_of(rng: Random, families: Sequence[str], *, cutoff: bool = True) -> Any:
    """Draw a metric, most often one of some families, with what it needs."""
    if rng.random() < 0.04:
        return rng.choice(SPELLED)
    one = rng.choice(FAMILIES[rng.choice(families if rng.random() < 0.95 else list(FAMILIES))])
    needs = [need for need in one["needs"].split(", ") if need and need in one["parameters"]]
    needed = ", ".join(f"{need}={rng.choice((0.5, 1, 2, 3))}" for need in needs)
    at = {"k": ("@1", "@3", ""), "recall": ("@0.5", "@0")}.get(one["cutoff"], ("",))
    return one["name"] + (f"({needed})" if needed else "") + (rng.choice(at) if cutoff else "")


def beside(rng: Random) -> dict[str, Any]:
    """Draw a saved baseline now and then, with its roles or without."""
    if rng.random() > 0.1:
        return {}
    frame, roles = saved(rng, rng.choice((0, 0.05)))
    return {"baseline": IRM(frame, **roles) if rng.random() < 0.5 else frame}


def arms(irm: Any, rng: Random) -> Any:
    """Take systems for arms, which have queries of their own, more often than not."""
    column = irm.roles.get("system")
    return irm if column is None or rng.random() < 0.1 else irm(system=None, arm=column)


def metrics_of(irm: Any, rng: Random, families: Sequence[str], *, cutoff: bool = True) -> list[Any]:
    """Draw some metrics; a frame of numbers is asked for all of its own."""
    if rng.random() < (0.8 if "  value " in repr(irm) else 0.04):
        return []
    return [metric_of(rng, families, cutoff=cutoff) for _ in range(rng.choice((1, 1, 2)))]


def some(rng: Random, **options: tuple[Any, ...]) -> dict[str, Any]:
    """Draw some of the options; seldom a value that is none."""
    drawn = {name: rng.choice(values) for name, values in options.items() if rng.random() < 0.15}
    return {
        name: value for name, value in drawn.items() if repr(value) not in ("'x'", "None", "nan") or rng.random() < 0.2
    }


def fitting(irm: Any, rng: Random) -> Sequence[str]:
    """Return families of metrics that the columns may have."""
    return RANKED if "query=" in repr(irm) or rng.random() < 0.3 else DECIDED


COMPARED = {"baseline": ("a", 0, 1, None, "x"), "covariate": ("score", "a", "x"), "strata": ("weight", "x")}
LEVELS = (0.95, 0.9, 0.5, 0.5, 0, "x")
AVERAGES = (
    *("macro", "weighted", "micro", "gmean", "predicted", "rows", "median", "max", "q0.9", "q2", ["macro"], [], 5),
    *(["macro", "weighted", "micro"], ["micro", "predicted"], ["median", "rows"], ["min", "macro", "q0.1"], [None]),
)
VERBS: dict[str, Callable[[Any, Random], Any]] = {
    "evaluate": lambda irm, rng: irm.evaluate(
        *metrics_of(irm, rng, fitting(irm, rng)),
        resamples=7,
        **some(
            rng,
            average=AVERAGES,
            ci=LEVELS,
            margins=(True,),
            layout=("wide",),
        ),
    ),
    "per_query": lambda irm, rng: irm.per_query(*metrics_of(irm, rng, RANKED), **some(rng, layout=("wide",))),
    "per_class": lambda irm, rng: irm.per_class(
        *metrics_of(irm, rng, CLASSES, cutoff=False), **some(rng, average=AVERAGES, layout=("wide",))
    ),
    "confusion": lambda irm, rng: irm.confusion(**some(rng, margins=(True, True, "all"), shares=(True, True, None))),
    "curve": lambda irm, rng: irm.curve(
        rng.choice(("roc", "pr", "gain", "calibration", "ndcg@k", "recall@k", "x", None)),
        **some(
            rng, per=("query",), levels=(3, [0.5]), interpolated=(True,), points=(3, 2), bins=(3,), cutoffs=(3, [1])
        ),
    ),
    "thresholds": lambda irm, rng: irm.thresholds(*metrics_of(irm, rng, DECIDED[:1], cutoff=False)),
    "best_threshold": lambda irm, rng: irm.best_threshold(
        rng.choice(("closest", metric_of(rng, DECIDED[:1], cutoff=False))),
        **some(rng, subject_to=({"recall": 0.5}, {"precision": 1}, {"fallout": 0}, {}, {"x": 1}, {"recall": None})),
    ),
    "similarity": lambda irm, rng: irm.similarity(
        *rng.sample(("rbo", "rbo_residual@3", "overlap@2", "jaccard", "kendall_tau", "tau_ap@5", "ap"), 2),
        **some(
            rng, baseline=("a", 0, None, "x", ["a"]), per_query=(True,), average=AVERAGES, ci=LEVELS, margins=(True,)
        ),
    ),
    "leaderboard": lambda irm, rng: irm.leaderboard(
        *metrics_of(irm, rng, RANKED), permutations=9, resamples=9, **some(rng, ci=LEVELS)
    ),
    "compare": lambda irm, rng: irm.compare(
        *metrics_of(irm, rng, RANKED),
        permutations=9,
        resamples=9,
        **some(
            rng,
            baseline=("a", 0, 1, None, "x"),
            test=("t", "z", "wilcoxon", "sign", "bootstrap", "mcnemar_mid_p", "delong", "x"),
            correction=("max_t", "bonferroni", "bh", "none"),
            per_query=(True,),
            ci=LEVELS,
        )
        | beside(rng),
    ),
    "interleaving": lambda irm, rng: irm.interleaving(
        *metrics_of(irm, rng, RANKED),
        permutations=9,
        resamples=9,
        **some(
            rng,
            baseline=("a", 0, 1, None, "x"),
            test=("sign", "bootstrap", "t"),
            correction=("bh", "none"),
            per_query=(True,),
            ci=LEVELS,
        ),
    ),
    "bounds": lambda irm, rng: irm.bounds(
        *metrics_of(irm, rng, RANKED),
        of=rng.choice(("ties", "unjudged")),
        **some(rng, max_grade=(3, 3, 3, 0, "x"), per_query=(True,), baseline=("a", "a", 0, "x")),
    ),
    "to_judge": lambda irm, rng: irm.to_judge(
        rng.choice((None, 1, 3, 0)),
        rng.choice(("ndcg@2", "recall", "precision@2", "rr", metric_of(rng, RANKED[:1]))),
        **some(rng, max_grade=(3, 3, 3, 0, "x"), baseline=("a", "a", 0, "x"), way=("depth", "depth", "x")),
    ),
    "ab_test": lambda irm, rng: arms(irm, rng).ab_test(
        *metrics_of(irm, rng, fitting(irm, rng)),
        permutations=7,
        resamples=7,
        **some(
            rng,
            baseline=("a", 0, "x"),
            split=("equal", "equal", {"a": 0.5, "b": 0.5}, {0: 0.25, 1: 0.75}, "x"),
            covariate=("query", "score", "weight", "x"),
            strata=("grade", "weight", "doc", ["weight", "grade"], "x"),
            test=("z", "bootstrap", "delong", "x"),
            looks=("any",),
        ),
    ),
    "change": lambda irm, rng: arms(irm, rng).change(
        *metrics_of(irm, rng, fitting(irm, rng)), permutations=7, resamples=7, **some(rng, baseline=("a", 0, "x"))
    ),
    "sample_size": lambda irm, rng: rng.choice((irm, arms(irm, rng))).sample_size(
        *metrics_of(irm, rng, RANKED),
        detect=rng.choice((0.1, 0.1, [0.1, 0.2], 0, "x")),
        resamples=7,
        **some(rng, power=(0.9, [0.5, 0.8], 1), n_tests=(3, 0), baseline=("a", 0, "x")),
    ),
    "agreement": lambda irm, rng: irm.agreement(
        rng.choice((None, None, "a", 0, ["a", 1], "x")),
        resamples=7,
        **some(rng, by=("query", "grade", "x", []), per_class=(True,), ci=LEVELS),
    ),
    "disagreements": lambda irm, rng: irm.disagreements(),
    "explain": lambda irm, rng: irm.explain(
        metric_of(rng, RANKED[:1]),
        query=rng.choice((0, 0, 1, 1, "a", "a", "b", True, None, ("a", 1), [1], object(), b"a")),
    ),
    "audit": lambda irm, rng: rng.choice((irm, arms(irm, rng))).audit(
        **some(
            rng,
            fail_on=("error", "warning", "info", "x"),
            split=(
                {"a": 0.5, "b": 0.5},
                {0: 0.25, 1: 0.75},
                {True: 0.5, False: 0.5},
                {None: 0.5, "a": 0.5},
                {"a": 1},
                "equal",
                2,
            ),
        )
    ),
    "click_judgments": lambda irm, rng: irm.click_judgments(
        rng.choice(("ctr", "ctr", "coec", "coec", "sdbn", "sdbn", "x")),
        query_text=rng.choice(("weight", "weight", "weight", "weight", "by", ["weight", "label"], "x", None, [])),
        **some(rng, smoothing=(1, 0.5, -1, float("nan")), min_impressions=(2, 2, 0)),
    ),
    "summary": lambda irm, rng: rng.choice((irm, arms(irm, rng))).summary(
        *metrics_of(irm, rng, fitting(irm, rng)),
        **(some(rng, **COMPARED) if "  system " in repr(irm) or rng.random() < 0.2 else {}),
        **some(rng, ci=LEVELS),
    ),
    "repr": lambda irm, rng: repr(irm),
}
NEEDS = {
    "compare": ("  system ", " ["),
    "leaderboard": ("  system ", " ["),
    "interleaving": ("  team ",),
    "click_judgments": ("  rank ",),
    "similarity": ("  system ", " ["),
    "to_judge": ("judged beside",),
    "ab_test": ("  system ",),
    "change": ("  system ",),
    "sample_size": ("  system ", " ["),
    "agreement": ("judged beside",),
    "disagreements": ("judged beside",),
    "explain": ("  query ",),
    "per_query": ("  query ",),
}


def seldom(verb: str, shown: str) -> float:
    """Return the share of frames shown like this one that are asked a verb: it is slow, or lacks what it needs."""
    if verb == "summary":
        return 0.2
    return 1 if any(need in shown for need in NEEDS.get(verb, ("",))) else 0.2


def kind_of_result(frame: Any) -> type:
    """Return the type of the frames that come of a frame."""
    return next((kind for kind in (pl.DataFrame, pl.LazyFrame, pd.DataFrame) if isinstance(frame, kind)), pa.Table)


def outcome(call: Callable[[], Any], frame: Any) -> tuple[str, str]:
    """Run a call: how it went ("result", "error", or what should not have been), and where that was."""
    start = time.process_time()
    try:
        result = call()
        if not isinstance(result, str | kind_of_result(frame)):
            return f"a {type(result)} of a {type(frame)}", ""
        if isinstance(result, pl.LazyFrame):
            promised, result = result.collect_schema(), result.collect()
            if promised != result.schema:
                return f"the plan promised {promised} and gave {result.schema}", ""
    except FrameMetricsError as error:
        return ("error", "") if str(error) else ("an error without words", "")
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a panic of polars is no Exception
        package = str(Path(frame_metrics.__file__).parent)
        own = [entry for entry in traceback.extract_tb(error.__traceback__) if entry.filename.startswith(package)]
        where = [f"{Path(entry.filename).stem}.{entry.name}:{entry.lineno}" for entry in own]
        return f"{type(error).__module__}.{type(error).__name__}: {str(error)[:200]}", " < ".join(where[::-1][:4])
    taken = time.process_time() - start
    return ("result", "") if taken < SLOW else (f"a call that took {taken:.0f} s", "")


def attack(numbers: range, seed: int = 0, count: Counter[str] | None = None, share: float = 1.0) -> Iterator[Found]:
    """Ask verbs of every frame, and yield what should not have been; ``count`` gets the outcomes of each verb."""
    count = Counter() if count is None else count
    for number in numbers:
        asked = attacked(seed, number)
        before = told(asked.frame), told(asked.judgments)
        made: list[Any] = []
        went, where = outcome(lambda: made.append(asked.irm()) or "", asked.frame)  # noqa: B023
        if went not in ("result", "error"):
            yield Found(number, "irm", went, where)
        count[f"irm {went}" if went in ("result", "error") else "irm fault"] += 1
        shown = repr(made[0]) if made else ""
        for verb, ask in VERBS.items() if made else ():
            rng = Random(f"{seed} {number} {verb}")
            if rng.random() > share * seldom(verb, shown):
                continue
            irm = Held(made[0], rng, ["query", "doc", "system", "by"]) if rng.random() < HELD else made[0]
            went, where = outcome(lambda: ask(irm, rng), asked.frame)  # noqa: B023
            if went not in ("result", "error"):
                yield Found(number, verb, went, where)
            count[f"{verb} {went}" if went in ("result", "error") else f"{verb} fault"] += 1
        yield from forms(number, seed, count, share)
        yield from of_valid(number, seed, count, share)
        if (told(asked.frame), told(asked.judgments)) != before:
            yield Found(number, "any", "the caller's frame was changed", "")


def forms(number: int, seed: int, count: Counter[str], share: float = 1.0) -> Iterator[Found]:
    """Read a log in every form, of some numbers, and yield where a value is not that of plain Python; or an error."""
    rng = Random(f"{seed} {number} forms")
    if rng.random() > share * FORMS:
        return
    found: list[tuple[str, str]] = []
    went, where = outcome(lambda: found.extend(differences(rng)) or "", None)
    if went != "result":
        found.append((where, went))
    for where, what in found:
        yield Found(number, "forms", what, where)
    count[f"forms {'fault' if found else 'result'}"] += 1


def of_valid(number: int, seed: int, count: Counter[str], share: float = 1.0) -> Iterator[Found]:
    """Make a value of a valid frame null, and put arguments in containers; yield nulls that are silent, and errors."""
    rng, calls = Random(f"{seed} {number} null"), max(round(share * CALLS), 1)
    found: list[tuple[str, str]] = []
    went, where = outcome(lambda: found.extend(silent(rng, count, calls)) or "", None)
    if went != "result":
        found.append((where, went))
    for where, what in found:
        yield Found(number, "null", what, where)
    count[f"null {'fault' if found else 'result'}"] += 1
    for name, call, frame in contained(rng, calls):
        went, where = outcome(call, frame)
        if went not in ("result", "error"):
            yield Found(number, f"container in {name}", went, where)
        count[f"container {went if went in ('result', 'error') else 'fault'}"] += 1


def main(
    attack: Callable[..., Iterator[Found]] = attack,
    verbs: Sequence[str] = ("irm", *VERBS, "forms", "null", "container"),
) -> None:
    """Print what an attack finds that should not have been, each kind once, and how many calls gave a result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=lambda text: int(float(text)), default=100_000, help="how many")
    parser.add_argument("--first", type=int, default=0, help="number of the first")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--share", type=float, default=1.0, help="of all calls that each frame is asked")
    options = parser.parse_args()
    faulthandler.enable()
    warnings.simplefilter("error")
    count, kinds = Counter[str](), Counter[str]()
    start = time.perf_counter()
    numbers = range(options.first, options.first + options.frames)
    for found in attack(numbers, options.seed, count, options.share):
        kinds[kind := found.where or found.what] += 1
        if kinds[kind] <= 2:
            print(f"frame {found.number}, {found.verb}: {found.what}\n    {found.where}", flush=True)
    for verb in verbs:
        result, error, fault = (count[f"{verb} {went}"] for went in ("result", "error", "fault"))
        print(f"{verb:15} {result:9,} results {error:9,} errors {fault:9,} faults")
    taken = time.perf_counter() - start
    print(f"{options.frames:,} frames, {count.total():,} calls, {kinds.total():,} faults, {taken:.0f} s")
    sys.exit(bool(kinds))


if __name__ == "__main__":
    main()
