"""Each role is read, ignored or refused as each verb declares, and in a baseline; and no null is silent."""

from __future__ import annotations

import inspect
import math
import random
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any, NamedTuple, get_args

import polars as pl
import pytest

from frame_metrics import IRM, FrameMetricsError, Ranking, metric, typing
from frame_metrics.plan.declared import VERBS
from frame_metrics.plan.verb import RoleRules, RowKind, Verb, kind_of_rows
from frame_metrics.roles.columns import ROLES as DECLARED
from frame_metrics.roles.roles import CHOICES, COLUMNS, RESOURCES, Roles
from helpers import as_kind, as_polars
from silence import counts_of, names_it, new_findings, new_sentences

Call = Callable[[Any, Sequence[str]], Any]  # of an irm, and the metrics that are asked for
ROLES = [role for role in Roles.__annotations__ if role not in RESOURCES]  # which change no number by what they mean
METHODS = {name for name, method in vars(IRM).items() if hasattr(method, "__wrapped__") and name[0] != "_"}
FEW: dict[str, Any] = {"permutations": 20, "resamples": 20}

# Values of a role that is no column, nor one of a few texts. The column of a role is called as it, with an "_".
TRIED: dict[str, Sequence[Any]] = {
    "rel": (2,),
    "scale": ({0: 1, 1: 0, 2: 3, 3: 2},),
    "collection_size": (100,),
    "positive": (0, "c"),
    "classes": ([2, 0, 1], [*"xdoc"]),
    "threshold": ("threshold_", 0.4),
    "abstain": ([1], ["d"]),
    "extra": ({"price": "extra_"},),
    "clip": (1.5,),
    "catalogue": (60,),
    "arm": ("system_", "by_"),
    "team": ("team_", "by_"),
}


def of_arms(irm: Any) -> Any:
    """Return an irm whose systems, if it has some, are arms."""
    return irm if "system" not in irm.roles else irm(system=None, arm=irm.roles.get("arm", irm.roles["system"]))


# Calls of each verb, whose name is the first word. A report prints the roles, and calls the others.
CALLS: dict[str, Call] = {
    "judge": lambda irm, asked: irm.judge(qrels()).evaluate(*asked, ci=0.9, resamples=20),
    "judge for subtopics": lambda irm, asked: irm.judge(aspects(), subtopic="aspect").evaluate(
        "alpha_ndcg", *asked, ci=0.9, resamples=20
    ),
    "evaluate": lambda irm, asked: irm.evaluate(
        *asked, **({} if "item_coverage" in asked else {"ci": 0.9, "resamples": 20})
    ),
    "evaluate without ci": lambda irm, asked: irm.evaluate(*asked),
    "per_query": lambda irm, asked: irm.per_query(*asked),
    "click_judgments": lambda irm, asked: irm.click_judgments("coec", smoothing=1),
    "agreement": lambda irm, asked: irm.judge(rated(), annotator="rater").agreement("p", ci=0.9, resamples=20),
    "disagreements": lambda irm, asked: irm.judge(rated(), annotator="rater").disagreements(),
    # A segment has too few documents at two ranks.
    "propensities": lambda irm, asked: (
        irm.propensities("adjacent", query_text="cluster_", k=1)
        if "by" in irm.roles
        else irm.propensities("adjacent", query_text="by_", k=2, resamples=20)
    ),
    "per_class": lambda irm, asked: irm.per_class("recall", "precision"),
    "confusion": lambda irm, asked: irm.confusion(),
    "thresholds": lambda irm, asked: irm.thresholds("precision"),
    "best_threshold": lambda irm, asked: irm.best_threshold("precision"),
    "curve of scores": lambda irm, asked: irm.curve("pr"),
    "curve of cutoffs": lambda irm, asked: irm.curve(f"{asked[0]}@k", cutoffs=3, ci=0.9, resamples=20),
    "compare": lambda irm, asked: irm.compare(*asked, **FEW),
    "leaderboard": lambda irm, asked: irm.leaderboard(*asked, permutations=20, resamples=20, ci=0.9),
    "compare with the majority": lambda irm, asked: irm.compare(*asked, against="majority", **FEW),
    "compare of each class": lambda irm, asked: irm.compare("recall", per_class=True, **FEW),
    "ab_test": lambda irm, asked: of_arms(irm).ab_test(*asked, split="equal", **FEW),
    "change": lambda irm, asked: of_arms(irm).change(*asked, **FEW),
    "interleaving": lambda irm, asked: irm.interleaving(*asked, **FEW),
    "sample_size": lambda irm, asked: irm.sample_size(*asked, detect=0.1, resamples=20),
    "sample_size of arms": lambda irm, asked: of_arms(irm).sample_size(*asked, detect=0.1, resamples=20),
    "similarity": lambda irm, asked: irm.similarity("rbo", "kendall_tau", ci=0.9, resamples=20),
    "similarity with saved numbers": lambda irm, asked: irm.similarity("rbo", baseline=listed(), per_query=True),
    "similarity as a baseline": lambda irm, asked: (
        listed().irm(query="query_", doc="doc_", score="score_").similarity("rbo", baseline=irm, per_query=True)
    ),
    "explain": lambda irm, asked: irm.explain(asked[0], query=1),
    "bounds": lambda irm, asked: irm.bounds(asked[0], of="ties"),
    "bounds of differences": lambda irm, asked: irm.bounds(asked[0], of="unjudged", baseline="p", max_grade=3),
    "to_judge": lambda irm, asked: irm.to_judge(metric="recall"),
    "audit": lambda irm, asked: irm.audit(),
    "summary": lambda irm, asked: irm.summary(*asked),
    "summary with saved numbers": lambda irm, asked: irm.summary(*asked, baseline=saved(*asked)),
    "summary as a baseline": lambda irm, asked: (
        saved(*asked).irm(query="query_", value=asked).summary(asked[0], baseline=irm)
    ),
    "compare with saved numbers": lambda irm, asked: irm.compare(*asked, baseline=saved(*asked), **FEW),
    "sample_size with saved numbers": lambda irm, asked: irm.sample_size(
        *asked, baseline=saved(*asked), detect=0.1, resamples=20
    ),
    "sample_size as a baseline": lambda irm, asked: (
        saved(*asked).irm(query="query_", value=asked).sample_size(baseline=irm, detect=0.1, resamples=20)
    ),
    "audit with saved numbers": lambda irm, asked: irm.audit(baseline=saved(*asked)),
    "compare as a baseline": lambda irm, asked: (
        saved(*asked).irm(query="query_", value=asked).compare(baseline=irm, **FEW)
    ),
    "audit as a baseline": lambda irm, asked: saved(*asked).irm(query="query_", value=asked).audit(baseline=irm),
}


# Options that a call gives, where the declaration says that a role is read, or not read, beside them.
GIVEN: dict[str, Collection[str]] = {
    "evaluate": ("ci",),
    "click_judgments": ("model",),
    "compare with the majority": ("against",),
    "sample_size of arms": ("arm",),
    "similarity with saved numbers": ("baseline",),
    "bounds of differences": ("baseline",),
    "compare with saved numbers": ("baseline",),
    "sample_size with saved numbers": ("baseline",),
    "summary with saved numbers": ("baseline",),
    "judge for subtopics": ("subtopic",),
}
ASIDE = {"arm": {"system": None}, "relevant": {"label": None, "grade": None}}  # what stands in the way of a role


def declared(name: str) -> Verb:
    """Return the declaration of a call: of its own form if it has one, else that of its verb."""
    return VERBS.get(name) or VERBS.get(name.partition(" ")[2]) or VERBS[name.split()[0]]


class Setting(NamedTuple):
    """A frame, the roles that verbs are called with, and the metrics that are asked for."""

    of: str  # what the rows are of
    frame: Any
    roles: Mapping[str, Any]
    asked: Sequence[str] = ()
    judged: Call | None = None  # by judgments beside the frame

    def irm(self, **more: Any) -> Any:
        """The frame with its roles, and others instead of them or beside."""
        irm = IRM(self.frame, **{role: said for role, said in ({**self.roles} | more).items() if said is not ...})
        return irm if self.judged is None else self.judged(irm, self.asked)


@cache
def log() -> pl.DataFrame:
    """Results of two systems for the same queries: equal scores, unjudged rows, and a query without a relevant one."""
    rng, rows = random.Random(5), []
    grades = {(query, doc): rng.randint(0, 3) * (query != 3) for query, doc in product(range(1, 7), "abcdefg")}
    unjudged = rng.sample([*grades], 9)
    for system, query in product("pq", range(1, 7)):
        keys = {"system_": system, "query_": query, "by_": "tm"[query % 2], "cluster_": query // 2}
        for rank, doc in enumerate(rng.sample("abcdefg", 5), 1):
            grade = None if (query, doc) in unjudged else grades[query, doc]
            label = None if grade is None else int(grade > 1)
            result = {"doc_": doc, "rank_": rank, "score_": rng.randint(0, 3) / 4, "predicted_": rng.randint(0, 1)}
            numbers = {
                "weight_": query / 2,
                "count_": query,
                "n_relevant_": 6,
                "threshold_": query / 9,
                "extra_": rng.random(),
                "value_": rng.random(),
                "propensity_": 1 / rank,
                "target_propensity_": 0.9 / rank**2,
                "popularity_": (rank + query) / 20,
                "group_": "ab"[rank * query % 2],
            }
            rows.append(keys | result | {"grade_": grade, "label_": label, "relevant_": ["a", "b"]} | numbers)
    return pl.DataFrame(rows)


@cache
def qrels() -> pl.DataFrame:
    """Judgments of some documents, some of which no system has found."""
    return (
        log().select("query_", "grade_", doc_=pl.col("doc_").replace("a", "h")).unique(["query_", "doc_"]).drop_nulls()
    )


@cache
def aspects() -> pl.DataFrame:
    """Judgments of these documents for two subtopics, which differ."""
    other = pl.col("grade_").mod(3)
    return pl.concat(
        [qrels().with_columns(aspect=pl.lit(i), grade_=one) for i, one in enumerate((pl.col("grade_"), other))]
    )


@cache
def rated() -> pl.DataFrame:
    """Judgments of two annotators, who differ."""
    other = pl.col("grade_").mod(3) + 1
    return pl.concat(
        [qrels().with_columns(rater=pl.lit(who), grade_=one) for who, one in (("p", pl.col("grade_")), ("q", other))]
    )


@cache
def rated_whole(queries: int) -> pl.DataFrame:
    """Judgments of all documents of the first queries, by people, or of twice as many by a machine."""
    rng = random.Random(queries)
    rows = [(query, doc, rng.randint(0, 3)) for query in range(1, queries + 1) for doc in "abcdefg"]
    return pl.DataFrame(rows, schema=["query_", "doc_", "grade"], orient="row")


@cache
def labelled_whole(queries: int) -> pl.DataFrame:
    """Return the same with labels in the place of grades."""
    return rated_whole(queries).select("query_", "doc_", label=pl.col("grade").gt(1).cast(pl.Int64))


CALLS_OF_JUDGE: dict[str, Call] = {
    "people": lambda irm, asked: irm.judge(qrels()),
    "people and a machine": lambda irm, asked: irm.judge(rated_whole(6), proxy=rated_whole(12)),
    "labels of people and a machine": lambda irm, asked: irm.judge(
        labelled_whole(6), label="label", proxy=labelled_whole(12)
    ),
}


@cache
def saved(*metrics: str) -> pl.DataFrame:
    """Numbers of the queries, a column for each metric."""
    first = log().unique("query_", maintain_order=True)
    values = ((pl.col("value_") / at).alias(name) for at, name in enumerate(metrics, 2))
    return first.select("query_", "by_", *values, answered=pl.col("query_") != 4)


@cache
def listed() -> pl.DataFrame:
    """Rankings of one system, in the order of the numbers of the first."""
    return log().filter(system_="q").select("query_", "doc_", "by_", rank_="rank_", score_=pl.col("rank_") / 3)


def settings() -> Iterator[Setting]:
    """Frames of every sort, with the roles that belong to it."""
    frame, of_one = log(), log().filter(system_="p")
    place = {"query": "query_", "score": "score_"}
    both = place | {"system": "system_", "doc": "doc_"}
    graded = both | {"grade": "grade_"}
    partial = frame.filter((pl.col("system_") == "p") | (pl.col("query_") != 1))  # q has no row of the first query
    yield Setting("queries", partial, graded | {"ties": "worst"}, ("ndcg", "recall", "roc_auc"))
    yield Setting("queries", partial, both | {"label": "label_"}, ("recall", "map"))
    yield Setting("queries", partial, graded | {"collection_size": 50}, ("tn", "specificity"))
    nobody = frame.filter(pl.col("query_") == 1).with_columns(query_=pl.lit(7), score_=pl.lit(1.0), grade_=None)
    yield Setting("queries", pl.concat([partial, nobody], how="vertical_relaxed"), graded, ("ndcg",))
    twice = pl.concat([partial, partial.filter(pl.col("rank_") == 4).with_columns(score_=pl.lit(0.9))])
    yield Setting("queries", twice, graded | {"duplicates": "first"}, ("ndcg",))
    yield Setting(
        "queries", frame, {"query": "query_", "rank": "rank_", "grade": "grade_", "system": "system_"}, ("map",)
    )
    clicks = frame.with_columns(pl.col("label_", "grade_").fill_null(0))
    logged = {"query": "query_", "rank": "rank_", "doc": "doc_", "label": "label_"}
    yield Setting("queries", clicks, logged | {"system": "system_"}, ("recall", "rr"))
    again = pl.concat([clicks, clicks.filter(pl.col("rank_") == 4).with_columns(rank_=pl.col("rank_") + 4)])
    logged |= {"label": None, "grade": "grade_", "system": "system_"}
    yield Setting("queries", again, logged | {"duplicates": "first"}, ("recall", "rr"))
    looked_at = logged | {"system": "system_", "propensity": "propensity_"}
    yield Setting("queries", clicks, looked_at, ("dcg", "precision@3"))
    yield Setting("queries", clicks, looked_at | {"clip": 2.5}, ("dcg", "precision@3"))
    yield Setting("queries", clicks, looked_at | {"target_propensity": "target_propensity_"}, ("sips@3",))
    yield Setting("queries", partial.drop("label_"), both, ("ndcg", "recall"), CALLS_OF_JUDGE["people"])
    yield Setting(
        "queries", frame.drop("label_"), both | {"propensity": "propensity_"}, ("dcg",), CALLS_OF_JUDGE["people"]
    )
    later = frame.with_columns(pl.col("query_") + 6, weight_=pl.col("weight_") + 1)
    every = pl.concat([frame, later]).drop("label_", "grade_")
    yield Setting("proxies", every, both, ("recall@2", "ndcg@4"), CALLS_OF_JUDGE["people and a machine"])
    yield Setting("proxies", every, both, ("recall", "precision@3"), CALLS_OF_JUDGE["labels of people and a machine"])
    shown = both | {"label": "label_", "group": "group_", "popularity": "popularity_"}
    yield Setting("queries", partial, shown, ("novelty", "exposure_share(of='a')"))
    yield Setting("queries", partial, shown | {"catalogue": 50}, ("item_coverage", "gini@2", "item_entropy"))
    yield Setting("queries", partial, graded | {"extra": {"price": "extra_"}}, ("spend",))
    lists = of_one.group_by("query_", "by_", maintain_order=True).agg("doc_", relevant_=pl.col("doc_").head(2))
    yield Setting("queries", lists, {"query": "query_", "doc": "doc_", "relevant": "relevant_"}, ("recall", "map"))
    arms = frame.with_columns(query_=pl.col("query_") + 10 * (pl.col("system_") == "q"))
    yield Setting("queries", arms, graded, ("recall", "tp"))
    apart = clicks.with_columns(query_=pl.col("query_") + 10 * (pl.col("system_") == "q"))
    yield Setting("queries", apart, looked_at | {"target_propensity": "target_propensity_"}, ("sips@3",))
    yield Setting("queries", apart, looked_at | {"clip": 2.5}, ("dcg", "precision@3"))
    both = graded | {"grade": None, "label": "label_", "predicted": "predicted_"}
    yield Setting("queries", clicks, both, ("accuracy", "recall"))
    rows = {"query": None, "label": "label_", "doc": "doc_", "system": "system_", "unjudged": "drop"}
    known = frame.unique(["system_", "doc_"], maintain_order=True)
    known = known.with_columns(pl.col("weight_", "count_", "cluster_").first().over("doc_"))  # systems share them
    known = known.with_columns(label_=pl.col("doc_").replace_strict([*"abcdefg"], [1, 0, 1, 0, None, 0, 1]))
    yield Setting("rows", known, rows | {"score": "score_", "threshold": 0.5}, ("accuracy", "recall"))
    yield Setting("rows", known, rows | {"score": "score_"}, ("roc_auc", "brier"))
    yield Setting("rows", known, rows | {"predicted": "predicted_"}, ("accuracy", "npv"))
    text = {"label_": [*"cdocdoc"], "predicted_": [*"dcddccd"]}
    classes = known.with_columns(
        pl.col("doc_").replace_strict([*"abcdefg"], said).alias(of) for of, said in text.items()
    )
    yield Setting("rows", classes, rows | {"predicted": "predicted_"}, ("accuracy", "recall"))
    first = frame.unique(["system_", "query_"], maintain_order=True)
    answered = (pl.col("system_") == "q") | (pl.col("query_") != 3)
    first = first.with_columns(value_=pl.when(pl.col("query_") != 2).then("value_"), answered=answered)
    numbers = {"query": "query_", "value": "value_"}
    yield Setting("numbers", first, numbers | {"system": "system_"}, ("value_",))
    yield Setting("numbers", first.filter(system_="p"), numbers, ("value_",))
    apart = first.with_columns(query_=pl.col("query_") + 10 * (pl.col("system_") == "q"))
    yield Setting("numbers", apart, numbers | {"system": "system_"}, ("value_",))


def tried(role: str, frame: pl.DataFrame) -> Sequence[Any]:
    """Values that a role may have: one that no column of ours is made for has every column."""
    column = [] if f"{role}_" in log().columns else frame.columns
    return CHOICES.get(role) or TRIED.get(role) or ([f"{role}_"] if f"{role}_" in frame.columns else column)


def raw(column: pl.Series) -> pl.Series:
    """A column of which an expression makes the one that is given."""
    values = column + "!" if column.dtype == pl.String else column * 2 if column.dtype.is_numeric() else column
    return values.alias(f"raw {column.name}")


def made(named: Any, frame: pl.DataFrame) -> Any:
    """What a role is given, with expressions of other columns in the place of the names of columns."""
    if isinstance(named, dict):
        return {key: made(one, frame) for key, one in named.items()}
    if named not in frame.columns:
        return named
    column, kind = pl.col(f"raw {named}"), frame.schema[named]
    half = column // 2 if kind.is_integer() else column / 2
    values = column.str.strip_suffix("!") if kind == pl.String else half if kind.is_numeric() else column
    return values.alias(named)


def outcome(setting: Setting, call: Call, **more: Any) -> str | None:
    """Everything that a call returns, as text; None where it is refused."""
    try:
        return repr(as_polars(call(setting.irm(**more), setting.asked)).rows())
    except FrameMetricsError:
        return None


@pytest.mark.parametrize("name", CALLS)
def test_expressions_are_columns(name: str, kind: str) -> None:
    """Expressions as roles give what columns give that were made by hand."""
    seen: set[str] = set()
    for of, frame, roles, asked, judged in (*settings(), *own_settings()):
        by_hand = Setting(of, as_kind(frame, kind), roles, asked, judged)
        if of in seen or (wanted := outcome(by_hand, CALLS[name])) is None:
            continue
        seen.add(of)
        given = {role: made(named, frame) if role in COLUMNS else named for role, named in roles.items()}
        # query_text= names a column by its name, and whether saved numbers are of answered queries is found by name
        others = frame.select(pl.col("^(by_|answered)$")).with_columns(map(raw, frame))
        of_others = Setting(of, as_kind(others, kind), given, asked, judged)
        assert outcome(of_others, CALLS[name]) == wanted
    assert seen


@pytest.fixture(autouse=True)
def _own() -> None:
    """Put a metric in the registry that reads a column of the frame."""

    @metric(range=(0, math.inf), best=None)
    def spend(run: Ranking, k: int | None = None) -> Any:
        """Sum of the prices of the first k results."""
        return run.total(run.column("price") * run.within(k))


def test_every_verb_is_called() -> None:
    """The law calls each verb but those of reports, and each with a baseline: numbers beside, and beside numbers."""
    verbs = {name.split()[0] for name in CALLS}
    assert verbs == METHODS - {"report"}
    compared = {verb for verb in verbs if "baseline" in inspect.signature(getattr(IRM, verb)).parameters}
    saved = {"compare", "sample_size", "audit", "summary", "similarity"}
    # The baseline of these is a system, with judgments that are missing too, an arm, a period or a team.
    assert compared == saved | {"bounds", "to_judge", "ab_test", "change", "interleaving"}
    assert {f"{verb} {how}" for verb in saved for how in ("with saved numbers", "as a baseline")} <= {*CALLS}


def parameters(verb: Verb) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of the method of a verb."""
    return inspect.signature(getattr(IRM, verb.name)).parameters


def choices_of(verb: Verb, option: str) -> set[str]:
    """Return the texts that the annotation of an option allows."""
    named = re.findall(r"\w+", str(parameters(verb)[option].annotation))
    return {one for name in named for one in get_args(getattr(typing, name, None))}


OF_METHODS = {title: verb for title, verb in VERBS.items() if verb.form != "as a baseline"}


def test_every_method_is_declared() -> None:
    """Each method of an irm that is a verb has a declaration, and each declaration a method."""
    assert {verb.name for verb in OF_METHODS.values()} == METHODS


@pytest.mark.parametrize("title", OF_METHODS)
def test_declared_options_are_parameters(title: str) -> None:
    """What a declaration says of options, tests and methods stands in the signature and in the docstring."""
    verb = OF_METHODS[title]
    excludes = [one for where in (verb, *verb.kinds.values()) for one in where.excludes]
    named = {one for each in excludes for one in (each.by, each.without) if one}
    named |= {one for each in excludes if not each.what for one in each.options.split()}
    named |= {one for kind in verb.kinds.values() for one in (*kind.when, *kind.unless, *kind.values)}
    assert {one.partition("=")[0] for one in named} <= {*parameters(verb), *ROLES}
    for option, of_kind in (("test", lambda kind: kind.tests), ("method", lambda kind: kind.values.get("method", ()))):
        taken = {value for kind in verb.kinds.values() for value in of_kind(kind)}
        if taken:
            assert taken <= choices_of(verb, option)
            assert all(f'"{value}"' in str(getattr(IRM, verb.name).__doc__) for value in taken)


ENOUGH = 4  # results of a role that a verb ignores, which are all the same
TRIES = 4  # settings in which a role that is refused is tried
SLOW = ("summary", "per_class", "similarity with")  # whose calls take long
EVERY = [pytest.param(name, marks=[pytest.mark.slow] * name.startswith(SLOW)) for name in CALLS]


def fates(setting: Setting, name: str, role: str, plain: str | None) -> Iterator[str]:
    """Yield what each value of a role does to a call: "changed", "same", or "refused"; nothing if it cannot be seen."""
    aside = {one: said for one, said in ASIDE.get(role, {}).items() if one in setting.roles}
    without = outcome(setting, CALLS[name], **aside, **{role: ...}) if aside or role in setting.roles else plain
    for said in tried(role, setting.frame):
        more = {role: said} | aside
        try:
            if kind_of_rows(setting.irm(**more)._plan) != setting.of:
                continue  # the role makes them rows of another kind
        except FrameMetricsError:
            yield from ["refused"] * (without is not None)
            continue
        found = outcome(setting, CALLS[name], **more)
        alone = role == "query" and found is None  # without a query the rows are of another kind, and may be taken
        if found is not None or (without is not None and not alone):
            yield "refused" if found is None else "same" if found == without else "changed"


def fault(name: str, of: RowKind, kind: RoleRules, role: str, every: Sequence[tuple[Setting, str | None]]) -> str:
    """Return how a role does otherwise than its verb declares; "" where it does not."""
    said, seen = kind.status(role, GIVEN.get(name, ())), Counter[str]()
    for setting, plain in sorted(every, key=lambda one: role not in one[0].roles):  # first where it is played
        for fate in fates(setting, name, role, plain):
            seen[fate] += 1
            if fate == "changed" or (said == "ignores" and seen["same"] >= ENOUGH):
                break
        if (
            seen["changed"]
            or (said == "ignores" and seen["same"] >= ENOUGH)
            or (seen and said == "refuses" and seen["refused"] >= TRIES)
        ):
            break
    right = {
        "reads": seen["changed"] or not seen,
        "ignores": not seen["changed"],
        "refuses": not seen["changed"] + seen["same"],
    }[said]
    return "" if right else f"{of} {role}: {said}, {dict(seen)}"


@pytest.mark.parametrize("name", EVERY)
def test_roles_are_as_declared(name: str) -> None:
    """A role that a verb reads changes some result, one that it ignores none, and one that it refuses raises."""
    faults, verb = [], declared(name)
    for of in get_args(RowKind):
        every = [(one, outcome(one, CALLS[name])) for one in (*settings(), *own_settings()) if one.of == of]
        if (kind := verb.kinds.get(of)) is None:
            faults += [f"{of}: {one.roles}" for one, plain in every if plain is not None]
            continue
        faults += filter(None, (fault(name, of, kind, role, every) for role in ROLES))
    assert faults == []


# Nulls

TRIED_TWICE = 2  # settings in which a verb is tried with a null in the column of each role


@cache
def own_settings() -> tuple[Setting, ...]:
    """Return frames for the roles that those of the law of roles have no column for."""
    frame = log()
    rows = frame.with_columns(pl.col("doc_").replace_strict([*"abcdefg"], [*"cdocdoc"]).alias("label_"))
    scores = {name: f"p_{name}" for name in "cdo"}
    rows = rows.with_columns(pl.lit(1 / 3).alias(column) for column in scores.values())
    classes = {"query": None, "label": "label_", "score": scores}
    first = frame.unique(["system_", "query_"], maintain_order=True)
    numbers = first.with_columns(metric=pl.lit("rr"))
    sized = frame.with_columns(collection_size_=pl.lit(50))
    clicks = frame.filter(system_="p").with_columns(pl.col("label_").fill_null(0))
    teams = clicks.with_columns(team_=pl.when(pl.col("rank_") % 2 == 0).then(pl.lit("x")).otherwise(pl.lit("y")))
    place = {"query": "query_", "rank": "rank_", "label": "label_"}
    return (
        Setting("rows", rows, classes, ("accuracy", "log_loss")),
        Setting("numbers", numbers, {"query": "query_", "value": "value_", "system": "system_"}, ("rr",)),
        Setting(
            "queries",
            sized,
            {"query": "query_", "score": "score_", "system": "system_", "doc": "doc_", "grade": "grade_"},
            ("tn", "specificity"),
        ),
        Setting("queries", frame, place | {"doc": "doc_", "arm": "system_"}, ("recall", "tp")),
        Setting("queries", teams, place | {"doc": "doc_", "team": "team_"}, ("clicks",)),
        Setting(
            "queries",
            teams,
            {"query": "query_", "score": "score_", "grade": "grade_", "team": "team_"},
            ("dcg", "clicks"),
        ),
    )


@cache
def valid_settings() -> tuple[Setting, ...]:
    """Return frames of every sort; rows without a query have a label each, as no convention says what others are."""
    every = []
    for of, frame, roles, asked, judged in settings():
        if of == "rows":
            frame, roles = frame.drop_nulls("label_"), {**roles, "unjudged": None}
        every.append(Setting(of, frame, roles, asked, judged))
    return (*every, *own_settings())


def played(setting: Setting) -> Iterator[tuple[str, Setting]]:
    """Yield each role that a frame can play, and the setting in which it plays it."""
    for role in DECLARED:
        said = setting.roles.get(role)
        if role == "metric" and role in setting.frame.columns:
            yield role, setting
        elif role == "extra" and "extra_" in setting.frame.columns:
            yield role, setting._replace(roles={**setting.roles, role: {"price": "extra_"}})
        elif isinstance(said, str) or (role == "class_scores" and isinstance(setting.roles.get("score"), dict)):
            yield role, setting
        elif f"{role}_" in setting.frame.columns and role not in ("label", "grade"):
            yield role, setting._replace(roles={**setting.roles, role: f"{role}_"})


def column_of(role: str, setting: Setting) -> str:
    """Return the column of a role."""
    said = setting.roles.get("score" if role == "class_scores" else role, role)  # that of metrics is found by name
    return next(iter(said.values())) if isinstance(said, dict) else said


@cache
def each_hole() -> tuple[tuple[str, Setting, Setting], ...]:
    """Return each role, a valid frame that plays it, and the same frame with one null in the role's column."""
    every = []
    for role, setting in (one for of_one in valid_settings() for one in played(of_one)):
        column, at = column_of(role, setting), pl.int_range(pl.len()) != len(setting.frame) // 2
        hole = setting.frame.with_columns(pl.when(at).then(column).alias(column))
        every.append((role, setting, setting._replace(frame=hole)))
    return tuple(every)


def told(setting: Setting, name: str) -> pl.DataFrame | str:
    """Return the result of a call, or the text of its error."""
    try:
        return as_polars(CALLS[name](setting.irm(), setting.asked))
    except FrameMetricsError as error:
        return str(error)


@cache
def found_by_audit(at: int) -> bool:
    """Return True if the audit of the frame with a null names the role in a finding that the valid frame has not."""
    role, *sides = each_hole()[at]
    found = new_findings(*(told(side, "audit") for side in sides))
    return any(names_it(text, role, column_of(role, sides[1])) for text in found)


@pytest.mark.parametrize("name", EVERY)
def test_no_null_is_silent(name: str) -> None:
    """A null in the column of a role leaves the result equal, or a count, a finding or an error tells of it."""
    tried: Counter[tuple[str, str]] = Counter()
    silent = []
    for at, (role, setting, hole) in enumerate(each_hole()):
        if tried[setting.of, role] >= TRIED_TWICE or isinstance(before := told(setting, name), str):
            continue
        tried[setting.of, role] += 1
        after = told(hole, name)
        if isinstance(after, str):
            names = names_it(after, role, column_of(role, hole))
        else:
            names = after.equals(before) or counts_of(after) != counts_of(before) or found_by_audit(at)
            sentences = new_sentences(before, after)
            names = names or any(names_it(text, role, column_of(role, hole)) for text in sentences)
        silent += [] if names else [(setting.of, role, setting.asked, after)]
    assert silent == []


# Frames beside the log: judgments with a role that only these have, and judge()'s options
BESIDE: dict[str, tuple[Callable[[], pl.DataFrame], dict[str, Any]]] = {
    "query": (qrels, {}),
    "doc": (qrels, {}),
    "grade": (qrels, {}),
    "subtopic": (lambda: aspects().rename({"aspect": "subtopic_"}), {"subtopic": "subtopic_"}),
    "annotator": (lambda: rated().rename({"rater": "annotator_"}), {"annotator": "annotator_", "several": "mean"}),
    "sampling": (lambda: rated_whole(6).with_columns(sampling_=0.5), {"sampling": "sampling_"}),
}


@pytest.mark.parametrize("role", BESIDE)
def test_no_null_of_judgments_is_silent(role: str) -> None:
    """A null beside the log leaves means equal, or a count, a finding or an error tells of it."""
    judgments, options = BESIDE[role]
    run = log().drop("label_", "grade_").irm(query="query_", score="score_", doc="doc_", system="system_")
    frame, column = judgments(), f"{role}_"
    column = column if column in frame.columns else role
    more = {"proxy": rated_whole(12)} if role == "sampling" else {}

    def told_of(table: pl.DataFrame) -> list[Any] | str:
        judged = run.judge(table, grade="grade_" if "grade_" in table.columns else "grade", **options, **more)
        try:
            return [judged.evaluate("dcg", "ndcg"), counts_of(judged.audit())]
        except FrameMetricsError as error:
            return str(error)

    before = told_of(frame)
    after = told_of(frame.with_columns(pl.when(pl.int_range(pl.len()) != len(frame) // 2).then(column).alias(column)))
    assert not isinstance(before, str)
    if isinstance(after, str):
        assert role in after
    else:
        assert after[0].equals(before[0]) or after[1] != before[1]


def test_a_null_covariate_is_an_error() -> None:
    """The covariate, an option of ab_test(), tells of its null as roles do."""
    arms = log().with_columns(query_=pl.col("query_") + 10 * (pl.col("system_") == "q"), covariate_=pl.col("weight_"))
    arms = arms.with_columns(pl.when(pl.int_range(pl.len()) != 7).then("covariate_"))
    irm = arms.irm(query="query_", score="score_", doc="doc_", grade="grade_", arm="system_")
    with pytest.raises(FrameMetricsError, match="covariate_: 1 of 60 rows has no covariate"):
        irm.ab_test("recall", covariate="covariate_", **FEW)


def test_every_role_has_a_null() -> None:
    """The law of nulls tries each role that is declared, in the frame, beside it, or as an option."""
    assert {*(role for role, *_ in each_hole()), *BESIDE, "covariate"} == {*DECLARED}
