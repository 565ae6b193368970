"""Valid frames of every kind, in which one value is made null: of each role, in every verb.

The result is equal, or it tells of the null: by a count, a sentence, a finding of the audit or an error. The same calls
are also made with an argument in a container.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pandas as pd
import polars as pl
import pyarrow.dataset as ds
from containers import Held, held
from odd_frames import Stream

from frame_metrics import IRM, FrameMetricsError

sys.path.insert(0, str(Path(__file__).parents[1]))
from helpers import as_polars
from silence import counts_of, names_it, new_findings, new_sentences

Values = dict[str, list[Any]]  # of each column
CALLS = 2  # that are made of each frame
FEW: dict[str, Any] = {"resamples": 7, "permutations": 9}
SOME: dict[str, Any] = {"ci": 0.9, "resamples": 7}
RANKED, DECIDED = ("rr", "ap", "ndcg@2", "recall@2", "num_rel_ret"), ("f1", "precision", "accuracy", "recall")


class Valid(NamedTuple):
    """A valid frame, and what it is asked."""

    values: Values
    roles: dict[str, Any]
    beside: Values  # the judgments; empty if there are none
    judged: dict[str, Any]
    asked: tuple[str, ...]
    kind: str
    style: int  # which of the types of its kind the columns have

    def irm(self) -> IRM[Any]:
        """Return the object of the frame."""
        irm = IRM(made(self.values, self.kind, self.style), **self.roles)
        return irm.judge(made(self.beside, self.kind, self.style), **self.judged) if self.beside else irm


def made(values: Values, kind: str, style: int) -> Any:
    """Return a frame of a kind, whose types hold nulls, so that a null alone changes none."""
    frame = pl.DataFrame({name: column_of(column, style) for name, column in values.items()})
    if kind == "pandas":
        return of_pandas(frame, style)
    table = frame.to_arrow()
    return {
        "polars": lambda: frame,
        "lazy": frame.lazy,
        "arrow": lambda: table,
        "dataset": lambda: ds.dataset(table),
        "reader": table.to_reader,
        "stream": lambda: Stream(table),
    }[kind]()


def column_of(values: Sequence[Any], style: int) -> pl.Series:
    """Return a column, of which the type depends on a value that is no null, and on the style."""
    said = next((value for value in values if value is not None), None)
    if isinstance(said, list):
        inner = next((one for value in values for one in value or () if one is not None), None)
        return pl.Series(values, dtype=pl.List(type_of(inner, 0)), strict=False)
    return pl.Series(values, dtype=type_of(said, style), strict=False)


def type_of(said: Any, style: int) -> Any:
    """Return a type of polars for a value."""
    if isinstance(said, bool):
        return pl.Boolean
    if isinstance(said, int):
        return (pl.Int64, pl.Int32, pl.Int64)[style]
    return (pl.String, pl.Categorical, pl.String)[style] if isinstance(said, str) else pl.Float64


def of_pandas(frame: pl.DataFrame, style: int) -> pd.DataFrame:
    """Return a frame of pandas: of objects, of Arrow's types, or of those of its own that hold nulls."""
    if style == 1:
        return frame.to_pandas(use_pyarrow_extension_array=True)
    held = {name: pd.Series(frame[name].to_list(), dtype=object) for name in frame.columns}
    if style == 2:
        own = {pl.Boolean: "boolean", pl.Int64: "Int64", pl.String: "string", pl.Float64: "float64"}
        held = {name: held[name].astype(own.get(frame[name].dtype, object)) for name in held}
    return pd.DataFrame(held)


def valid(rng: Random) -> Valid:
    """Draw a valid frame: rankings as rows or lists, judgments, columns of systems, decisions, numbers, clicks."""
    draw = rng.choice((ranked, ranked, listed, in_columns, beside, beside, decided, classified, saved, clicked))
    values, roles, judgments, judged, asked = draw(rng)
    kind = rng.choice(("polars", "polars", "lazy", "pandas", "pandas", "arrow", "dataset", "reader", "stream"))
    return Valid(values, roles, judgments, judged, asked, kind, rng.randrange(3))


Drawn = tuple[Values, dict[str, Any], Values, dict[str, Any], tuple[str, ...]]


def rankings(rng: Random, systems: Sequence[str]) -> Values:
    """Draw rankings of the same documents by each system; a fact of a query is the same in all of its rows."""
    values: Values = {}
    sized = rng.choice((12, None, None))
    for query in range(rng.choice((3, 4, 6))):
        docs = [*"abcde"[: rng.choice((2, 3, 4, 5))]]
        grades = {doc: rng.choice((0, 0, 1, 2, 3)) for doc in docs} | {"a": 1, "b": 0}
        fact = {"day": "mo" if query < 2 else "tu", "weight": rng.choice((1.0, 0.5, 2.0)), "cluster": query // 2}
        for system in systems:
            ranks = rng.sample(range(1, len(docs) + 1), len(docs))
            for doc, rank in zip(docs, ranks, strict=True):
                row = {"query": query, "doc": doc, "score": 1 - rank / 8, "rank": rank, "grade": grades[doc]}
                row |= {"label": grades[doc] > 0, "system": system, "by": fact["day"], "weight": fact["weight"]}
                row |= {"cluster": fact["cluster"], "n_relevant": sum(grade > 0 for grade in grades.values()) + 1}
                row |= {"collection_size": sized or 10, "threshold": 0.5, "propensity": 1 / rank, "extra": 2.5 * rank}
                row |= {"target_propensity": 0.5, "group": "odd" if doc in "ace" else "even", "popularity": rank + 1.0}
                row |= {"team": "x" if rank % 2 else "y"}
                for name, value in row.items():
                    values.setdefault(f"{name}_", []).append(value)
    return values


def played(rng: Random, always: Sequence[str], maybe: Sequence[str], chance: float = 0.3) -> dict[str, Any]:
    """Draw the roles that are played, each by the column that is called like it with an underscore."""
    roles: dict[str, Any] = {role: f"{role}_" for role in (*always, *(one for one in maybe if rng.random() < chance))}
    if "extra" in roles:
        roles["extra"] = {"price": "extra_"}
    return roles


FACTS = ("by", "weight", "cluster", "n_relevant", "collection_size", "group", "popularity", "extra")


def ranked(rng: Random) -> Drawn:
    """Draw a log with a row for each result."""
    systems = ("p", "q")[: rng.choice((1, 2, 2))]
    values = rankings(rng, systems)
    order = rng.choice((["score"], ["rank"], ["score", "rank"]))
    roles = played(rng, ("query", *order, rng.choice(("grade", "label")), *["system"] * (len(systems) > 1)), FACTS)
    roles |= played(rng, (), ("doc",), 0.8)
    asked = asked_of(rng, roles)
    if rng.random() < 0.15:
        roles |= played(rng, ("propensity",), ("target_propensity",), 0.6)
        asked = ("rips@2", "iips@2") if "target_propensity" in roles else asked
    if "score" in roles and rng.random() < 0.1:
        roles["threshold"] = "threshold_"
    roles |= {"unjudged": "drop"} if rng.random() < 0.1 else {}
    return values, roles, {}, {}, asked


def asked_of(rng: Random, roles: dict[str, Any]) -> tuple[str, ...]:
    """Draw the metrics of a ranking, with some of those that the roles are for."""
    more = {
        "collection_size": ("tn", "specificity"),
        "doc": ("catalogue_coverage",),
        "rank": ("clicks",),
        "score": ("roc_auc", "gauc"),
    }
    fitting = [name for role, names in more.items() if role in roles for name in names if name != "clicks"]
    return (*rng.sample(RANKED, 2), *(rng.sample(fitting, 1) if fitting and rng.random() < 0.3 else ()))


def folded(values: Values, roles: dict[str, Any]) -> tuple[Values, dict[str, Any]]:
    """Return rows folded to one for each query and system, with lists of what describes a result."""
    whole = {"query", "system", "by", "weight", "cluster", "n_relevant", "collection_size"}
    keys = [tuple(row) for row in zip(values["query_"], values["system_"], strict=True)]
    found: Values = {}
    for key in dict.fromkeys(keys):
        rows = [at for at, one in enumerate(keys) if one == key]
        for name, column in values.items():
            cell = column[rows[0]] if name[:-1] in whole else [column[at] for at in rows]
            found.setdefault(name, []).append(cell)
    return found, roles


def listed(rng: Random) -> Drawn:
    """Draw a log with a row for each query, with lists of its results, or of what is relevant."""
    systems = ("p", "q")[: rng.choice((1, 2))]
    facts = ("by", "weight", "cluster", "n_relevant")
    order = rng.choice(((), ("score",), ("rank",)))
    own = rng.random() < 0.5
    roles = played(rng, ("query", "doc", *order, *["system"] * (len(systems) > 1)), facts)
    values, roles = folded(rankings(rng, systems), roles)
    if own:
        values["relevant_"] = [
            [doc for doc, grade in zip(*both, strict=True) if grade]
            for both in zip(values["doc_"], values["grade_"], strict=True)
        ]
        roles.pop("n_relevant", None)
        return values, roles | {"relevant": "relevant_"}, {}, {}, tuple(rng.sample(RANKED, 2))
    return values, roles | {"grade": "grade_"}, {}, {}, tuple(rng.sample(RANKED, 2))


def in_columns(rng: Random) -> Drawn:
    """Draw a log with a column of scores for each system."""
    values = rankings(rng, ("p",))
    values["other_"] = [rng.random() for _ in values["score_"]]
    roles = played(rng, ("query", rng.choice(("grade", "label"))), ("doc", *FACTS[:3]), 0.4)
    return values, roles | {"score": ["score_", "other_"]}, {}, {}, tuple(rng.sample(RANKED, 2))


def beside(rng: Random) -> Drawn:
    """Draw a log, and judgments beside it."""
    systems = ("p", "q")[: rng.choice((1, 2, 2))]
    values = rankings(rng, systems)
    roles = played(rng, ("query", "doc", "score", *["system"] * (len(systems) > 1)), ("by", "cluster", "weight"), 0.2)
    first = [at for at, system in enumerate(values["system_"]) if system == systems[0]]
    kept = ["query_", "doc_", (judgment := rng.choice(("grade", "label"))) + "_"]
    sort = rng.choice(("plain", "plain", "annotator", "subtopic"))
    judgments = {name: [values[name][at] for at in first] for name in kept}
    judged: dict[str, Any] = {judgment: f"{judgment}_"}
    if sort != "plain":
        judgments = {name: column * 2 for name, column in judgments.items()}
        judgments[f"{sort}_"] = ["i"] * len(first) + ["j"] * len(first)
        judged[sort] = f"{sort}_"
        judged |= {"several": "mean" if judgment == "grade" else "majority"} if sort == "annotator" else {}
    metrics = ("alpha_ndcg", "strecall@2") if sort == "subtopic" else tuple(rng.sample(RANKED, 2))
    return values, roles, judgments, judged, metrics


def decided(rng: Random) -> Drawn:
    """Draw rows that are decided about."""
    n = rng.choice((12, 20))
    names: Sequence[Any] = rng.choice(([False, True], ["c", "d", "o"]))
    values: Values = {"label_": [*names, *(rng.choice(names) for _ in range(n - len(names)))]}
    values["predicted_"] = [*names[1:], names[0], *(rng.choice(names) for _ in range(n - len(names)))]
    values |= {"score_": [round(rng.random(), 2) for _ in range(n)], "threshold_": [0.5] * n}
    values |= {"system_": ["p", "q"] * (n // 2), "by_": ["mo", "mo", "tu", "tu"] * (n // 4)}
    values |= {"weight_": [rng.choice((1.0, 2.0)) for _ in range(n)], "count_": [rng.choice((1, 3)) for _ in range(n)]}
    values |= {"cluster_": [at // 2 for at in range(n)], "extra_": [rng.random() for _ in range(n)]}
    two = len(names) == 2
    what = rng.choice((["predicted"], ["score"], ["score"])) if two else ["predicted"]
    roles = played(rng, ("label", *what), ("by", "system", rng.choice(("weight", "count")), "cluster", "extra"))
    roles |= {"threshold": rng.choice(("threshold_", 0.4))} if what == ["score"] else {}
    roles |= {"positive": "d"} if not two and rng.random() < 0.3 else {}
    roles |= {"unjudged": rng.choice(("drop", "negative"))} if two and rng.random() < 0.4 else {}
    scores = ("roc_auc", "average_precision", "log_loss") if what == ["score"] else ()
    return values, roles, {}, {}, tuple(rng.sample((*DECIDED, *scores), 2))


def classified(rng: Random) -> Drawn:
    """Draw rows with a score for each class."""
    n = 12
    labels = [*"cdo", *(rng.choice("cdo") for _ in range(n - 3))]
    values: Values = {"label_": labels, "by_": ["mo", "tu"] * 6, "weight_": [rng.choice((1.0, 2.0)) for _ in range(n)]}
    parts = [sorted((rng.random(), rng.random())) for _ in range(n)]
    values |= {"c_": [a for a, _ in parts], "d_": [b - a for a, b in parts], "o_": [1 - b for _, b in parts]}
    values["cluster_"] = [at // 2 for at in range(n)]
    roles = played(rng, ("label",), ("by", "weight", "cluster"))
    return values, roles | {"score": {one: f"{one}_" for one in "cdo"}}, {}, {}, ("accuracy", "log_loss")


def saved(rng: Random) -> Drawn:
    """Draw numbers that were computed elsewhere."""
    queries = [at for at in range(rng.choice((4, 6))) for _ in "pq"]
    values: Values = {"query_": queries, "system_": ["p", "q"] * (len(queries) // 2)}
    values |= {"value_": [round(rng.random(), 3) for _ in queries], "metric": ["rr"] * len(queries)}
    values |= {"by_": ["mo" if at < 2 else "tu" for at in queries], "weight_": [1.0 + at % 2 for at in queries]}
    values["cluster_"] = [at // 2 for at in queries]
    if rng.random() < 0.5:
        del values["metric"]
    roles = played(rng, ("query", "value", "system"), ("by", "weight", "cluster"))
    return values, roles, {}, {}, ("rr",) if "metric" in values else ()


def clicked(rng: Random) -> Drawn:
    """Draw a log of clicks."""
    values = rankings(rng, ("p",))
    values["need_"] = ["n" if query % 2 else "m" for query in values["query_"]]
    roles = played(rng, ("query", "doc", "rank", "label"), ("team", "weight"), 0.3)
    return values, roles, {}, {}, ("clicks", "rr") if "team" in roles else ("rr", "precision@1")


def as_arms(irm: Any) -> Any:
    """Return the same log, in which each system is an arm with queries of its own."""
    return irm(system=None, arm=irm.roles.get("system"))


Ask = Callable[[Any, Sequence[str]], Any]  # of an irm, and the metrics
ASKED: dict[str, Ask] = {
    "evaluate": lambda irm, asked: irm.evaluate(*asked),
    "evaluate, with intervals": lambda irm, asked: irm.evaluate(*asked[:1], **SOME),
    "evaluate, wide": lambda irm, asked: irm.evaluate(*asked, layout="wide"),
    "evaluate, totals": lambda irm, asked: irm.evaluate(*asked, margins=True),
    "per_query": lambda irm, asked: irm.per_query(*asked),
    "per_class": lambda irm, asked: irm.per_class("recall", "precision"),
    "confusion": lambda irm, asked: irm.confusion(),
    "curve": lambda irm, asked: irm.curve("pr"),
    "curve of cutoffs": lambda irm, asked: irm.curve("recall@k", cutoffs=3),
    "thresholds": lambda irm, asked: irm.thresholds("precision"),
    "best_threshold": lambda irm, asked: irm.best_threshold("f1"),
    "similarity": lambda irm, asked: irm.similarity("rbo", "kendall_tau"),
    "compare": lambda irm, asked: irm.compare(*asked, **FEW),
    "leaderboard": lambda irm, asked: irm.leaderboard(*asked, **FEW),
    "change": lambda irm, asked: as_arms(irm).change(*asked, **FEW),
    "interleaving": lambda irm, asked: irm.interleaving(*asked[:1], **FEW),
    "sample_size": lambda irm, asked: irm.sample_size(*asked, detect=0.1, resamples=7),
    "bounds": lambda irm, asked: irm.bounds(*asked[:1], of="ties"),
    "bounds of unjudged": lambda irm, asked: irm.bounds(*asked[:1], of="unjudged", max_grade=3),
    "to_judge": lambda irm, asked: irm.to_judge(3, "recall"),
    "explain": lambda irm, asked: irm.explain("rr", query=1),
    "agreement": lambda irm, asked: irm.agreement(resamples=7),
    "disagreements": lambda irm, asked: irm.disagreements(),
    "click_judgments": lambda irm, asked: irm.click_judgments("ctr", query_text="need_"),
    "propensities": lambda irm, asked: irm.propensities("adjacent", query_text="need_", k=2, resamples=7),
    "summary": lambda irm, asked: irm.summary(*asked),
    "audit": lambda irm, asked: irm.audit(),
}


def told(irm: Any, ask: Ask, asked: Sequence[str]) -> pl.DataFrame | str:
    """Return the result of a call, or the text of its error."""
    try:
        return as_polars(ask(irm, asked))
    except FrameMetricsError as error:
        return str(error)


def answered(rng: Random, of: Valid, calls: int) -> list[tuple[str, pl.DataFrame]]:
    """Return as many calls that give a result of a valid frame, and the results."""
    found: list[tuple[str, pl.DataFrame]] = []
    for name in rng.sample([*ASKED], len(ASKED)):
        result = told(of.irm(), ASKED[name], of.asked)
        if not isinstance(result, str):
            found.append((name, result))
        if len(found) == calls:
            break
    return found


def with_a_null(rng: Random, of: Valid) -> tuple[str, str, Valid]:
    """Return a role, its column, and the frame with one value of it null: of the log, or of the judgments beside it."""
    every: list[tuple[str, str, str]] = []
    for role, column in of.roles.items():
        if isinstance(column, str) and column in of.values:
            every.append((role, column, "values"))
        elif isinstance(column, dict | list):
            name = "class_scores" if role == "score" and isinstance(column, dict) else role
            every += [(name, one, "values") for one in (column.values() if isinstance(column, dict) else column)]
    every += [("metric", "metric", "values")] * ("metric" in of.values)
    every += [(column.removesuffix("_"), column, "beside") for column in of.beside]
    role, column, side = rng.choice(every)
    values = {name: [*cells] for name, cells in getattr(of, side).items()}
    at = rng.choice([at for at, cell in enumerate(values[column]) if cell is not None])
    cell = values[column][at]
    if isinstance(cell, list) and cell and rng.random() < 0.6:
        hole = rng.randrange(len(cell))
        values[column][at] = [None if place == hole else one for place, one in enumerate(cell)]
    else:
        values[column][at] = None
    return role, column, of._replace(**{side: values})


def silent(rng: Random, count: Any, calls: int = CALLS) -> Iterator[tuple[str, str]]:
    """Draw a valid frame and make a value null; yield each verb and role of which nothing tells, and what came out."""
    plain = valid(rng)
    role, column, hole = with_a_null(rng, plain)
    for name, before in answered(rng, plain, calls):
        ask = ASKED[name]
        try:
            irm = hole.irm()
        except FrameMetricsError as error:
            after: pl.DataFrame | str = str(error)
        else:
            after = told(irm, ask, hole.asked)
        count[f"null {role}"] += 1
        count[f"{name.replace(',', ' ').split()[0]} result"] += 1
        if isinstance(after, str):
            texts = [after]
        elif after.equals(before) or counts_of(after) != counts_of(before):
            continue
        else:
            texts = [*new_sentences(before, after)]
            logs = [as_arms(one.irm()) if name == "change" else one.irm() for one in (plain, hole)]
            texts += new_findings(*(told(log, ASKED["audit"], ()) for log in logs))
        if not any(names_it(text, role, column) for text in texts):
            yield f"{role} in {name}", f"{plain.kind} {plain.roles} {plain.asked}: {after}"


def contained(rng: Random, calls: int = CALLS) -> Iterator[tuple[str, Callable[[], Any], Any]]:
    """Draw a valid frame, and yield some calls in which one value is in a container: name, call, the frame."""
    plain = of = valid(rng)
    part, options = rng.choice((("roles", of.roles), ("judged", of.judged), ("", {})))
    if options:
        role = rng.choice([*options])
        of = of._replace(**{part: {**options, role: held(rng, options[role])}})
    for name, _ in answered(rng, plain, calls):
        yield name, partial(_held, of, ASKED[name], rng if of is plain else None), made(of.values, of.kind, of.style)


def _held(of: Valid, ask: Ask, rng: Random | None) -> Any:
    """Make a call, with an argument in a container where there is a generator that draws it."""
    irm: Any = of.irm()
    return ask(irm if rng is None else Held(irm, rng, [*of.values]), of.asked)
