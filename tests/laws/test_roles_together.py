"""Roles and conventions combined, two at a time, against an oracle of dicts and loops that reads rows one by one."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations, permutations, product
from typing import Any, NamedTuple, TypeAlias

import polars as pl
import pytest

from frame_metrics import NotComputableError
from helpers import SEARCH

Row: TypeAlias = dict[str, Any]
Setting: TypeAlias = dict[str, Any]
Key: TypeAlias = tuple[Any, ...]  # a system, the values of by, the values of query
CLOSE = 1e-12

# What each role can be set to. Each two of these stand together in some log.
SETTINGS: dict[str, tuple[Any, ...]] = {
    "query": ("one column", "two columns"),
    "place": ("score", "rank", "rank and score"),
    "judgment": ("grade", "label", "grade and label"),
    "doc": (False, True),
    "system": (False, True),
    "by": ("none", "one", "one, null", "two"),
    "weight": (False, True),
    "n_relevant": (False, True),
    "duplicates": (None, "first"),
    "unjudged": (None, "drop"),
    "rel": (1, 2),
    "words": (False, True),
    "ties": (None, "doc", "worst", "best", "order", "expected"),
    "judge": ("in the log", "beside", "beside, by", "beside, by the first"),
    "undefined": (None, "zero", "one", "null", "raise"),
    "collection_size": (None, 60, "column"),
}
# What says nothing together, and is an error.
APART: tuple[tuple[str, tuple[Any, ...], str, tuple[Any, ...]], ...] = (
    ("doc", (False,), "duplicates", ("first",)),
    ("doc", (False,), "ties", ("doc",)),
    ("doc", (False,), "judge", ("beside", "beside, by", "beside, by the first")),
    ("judgment", ("label", "grade and label"), "rel", (2,)),
    ("judgment", ("label",), "words", (True,)),
    ("n_relevant", (True,), "judge", ("beside", "beside, by", "beside, by the first")),
    ("by", ("none",), "judge", ("beside, by",)),
    ("by", ("none", "one", "one, null"), "judge", ("beside, by the first",)),
)
BY = {
    "none": {},
    "one": {"day": ["mo", "tu"]},
    "one, null": {"day": [None, "tu"]},
    "two": {"day": ["mo", None], "place": [2, 1]},
}
WORDS = {-1: "spam", 0: "off topic", 1: "related", 2: "right", 3: "best"}  # grades that are said so
NAMES = {"one column": ("qid",), "two columns": ("user", "session")}
ORDERED = ("precision@2", "recall@2", "ap", "rr", "ndcg@3")
SUMMED = ("tp", "fp", "fn", "tn")
NULL = ("roc_auc", "specificity")  # left out of the mean where they are undefined, unless something else is said


# Settings that cover all pairs


@cache
def allowed(one: tuple[str, Any], other: tuple[str, Any]) -> bool:
    """Whether two roles can be set so together."""
    said = dict([one, other])
    return not any(said.get(a, a) in of_a and said.get(b, b) in of_b for a, of_a, b, of_b in APART)


def pairs_of(setting: Mapping[str, Any]) -> set[tuple[tuple[str, Any], tuple[str, Any]]]:
    """All pairs of settings that stand together."""
    return set(combinations(setting.items(), 2))


def every_pair() -> set[tuple[tuple[str, Any], tuple[str, Any]]]:
    """All pairs of settings that can stand together."""
    return {
        ((a, x), (b, y))
        for (a, of_a), (b, of_b) in combinations(SETTINGS.items(), 2)
        for x, y in product(of_a, of_b)
        if allowed((a, x), (b, y))
    }


@cache
def covering(seed: int = 0) -> tuple[Setting, ...]:
    """Settings among which each pair that can stand together does, each as good as a few tries make it."""
    rng, found, open_pairs = random.Random(seed), [], every_pair()
    while open_pairs:
        first = min(open_pairs, key=repr)
        tried = [one for one in (_completed(dict(first), rng) for _ in range(12)) if one is not None]
        best = max(tried, key=lambda one: len(pairs_of(one) & open_pairs))
        open_pairs -= pairs_of(best)
        found.append(best)
    return tuple(found)


def _completed(said: Setting, rng: random.Random) -> Setting | None:
    """The settings that are said, and the others drawn among those that go with them; None where that leaves none."""
    for role in rng.sample(list(SETTINGS), len(SETTINGS)):
        if role not in said:
            free = [x for x in SETTINGS[role] if all(allowed((role, x), other) for other in said.items())]
            if not free:
                return None
            said[role] = rng.choice(free)
    return {role: said[role] for role in SETTINGS}


# A log for a setting


class Case(NamedTuple):
    """A log as rows, the judgments beside it, and what is said of both."""

    rows: list[Row]
    judgments: list[Row] | None
    setting: Setting

    @property
    def query(self) -> tuple[str, ...]:
        return NAMES[self.setting["query"]]

    @property
    def by(self) -> tuple[str, ...]:
        return tuple(BY[self.setting["by"]])

    @property
    def carried(self) -> tuple[str, ...]:
        """The columns of ``by`` that the judgments have."""
        return {"beside": (), "beside, by": self.by, "beside, by the first": self.by[:1]}[self.setting["judge"]]

    @property
    def graded(self) -> bool:
        return "grade" in self.setting["judgment"]

    @property
    def labelled(self) -> bool:
        return "label" in self.setting["judgment"]

    @property
    def counted(self) -> bool:
        """Whether the relevant documents are counted."""
        return bool(self.setting["n_relevant"])

    @property
    def asked(self) -> list[str]:
        """The metrics that the setting allows."""
        asked = [*ORDERED, "recall", "precision", "tp", "fp", "fn"]
        if self.counted and self.graded:
            asked.remove("ndcg@3")  # the grades of the documents that are only counted are not known
        if "score" in self.setting["place"]:
            asked.append("roc_auc")
        if self.setting["collection_size"]:
            asked += ["tn", "specificity"]
        return asked


def made(setting: Setting, seed: int) -> Case:
    """Draw a log, and the judgments beside it, that fit a setting."""
    rng = random.Random(f"{seed} {setting}")
    by = BY[setting["by"]]
    segments = [dict(zip(by, values, strict=True)) for values in product(*by.values())]
    queries = [dict(zip(NAMES[setting["query"]], pair, strict=False)) for pair in product((3, 1, 2), "yx")]
    queries = queries if setting["query"] == "two columns" else [{"qid": i} for i in (3, 1, 5, 2, 4)]
    beside = setting["judge"] != "in the log"
    rows: list[Row] = []
    truth: dict[int, dict[tuple[int, str], Row]] = {}  # what is known of a document of a query, in each segment
    for s, segment in enumerate(segments):
        # Judgments that do not say the segment, or one column of it, are those of all segments that they may mean.
        same = 0 if setting["judge"] == "beside" else s // 2 * 2 if setting["judge"] == "beside, by the first" else s
        truth[s] = truth.get(same) or _judged(queries, rng)
        for system, (q, query) in product("po" if setting["system"] else "p", enumerate(queries)):
            if (s, q) != (0, 0) and rng.random() < 0.25:
                continue
            rows += _ranking(
                system, segment, query, {doc: known for (at, doc), known in truth[s].items() if at == q}, setting, rng
            )
    for row in rows:
        q = next(i for i, query in enumerate(queries) if query.items() <= row.items())
        s = next(i for i, segment in enumerate(segments) if segment.items() <= row.items())
        row["w"], row["size"] = q % 4, 60 + q
        good = [known for (at, _), known in truth[s].items() if at == q and _relevant(known, setting)]
        row["total"] = len(good) + q % 2
    rng.shuffle(rows)
    if not beside:
        reached = any(_relevant(row, setting) for row in rows)  # where no grade reaches rel, metrics are errors
        return Case(rows, None, setting) if reached else made(setting, seed + 1000)
    case = Case(rows, [], setting)
    kept = {tuple(row[name] for name in (*case.carried, *case.query)) for row in rows}
    judgments: dict[Key, Row] = {}
    for s, segment in enumerate(segments):
        for (q, doc), known in truth[s].items():
            keys = {**{name: segment[name] for name in case.carried}, **queries[q]}
            # A judged query of no result belongs to a segment only if the judgments say which.
            if tuple(keys.values()) in kept or case.carried == case.by:
                judgments[(*keys.values(), doc)] = {**keys, "doc": doc, **known, "w": q % 4, "size": 60 + q}
    return case._replace(judgments=rng.sample(list(judgments.values()), len(judgments)))


def _judged(queries: Sequence[Row], rng: random.Random) -> dict[tuple[int, str], Row]:
    """Judgments of documents: one query has none, and one has nothing relevant."""
    found: dict[tuple[int, str], Row] = {(0, "a"): {"grade": 3, "label": 1}}
    for q, doc in product(range(len(queries)), "abcdefg"):
        if q == 2 or rng.random() < 0.25 or (q, doc) in found:
            continue
        worth = rng.choice([-1, 0, 0, 1, 2, 3]) if q != 3 else 0
        label = rng.choice([0, 0, 1]) if q != 3 else 0
        lacking = rng.random()
        found[q, doc] = {"grade": None if lacking < 0.1 else worth, "label": None if lacking > 0.9 else label}
    return found


def _relevant(known: Row, setting: Setting) -> bool:
    if "label" in setting["judgment"]:
        return known["label"] == 1
    return known["grade"] is not None and known["grade"] >= setting["rel"]


def _ranking(
    system: str, segment: Row, query: Row, known: Mapping[str, Row], setting: Setting, rng: random.Random
) -> list[Row]:
    """Draw the results of a query: equal scores, gaps among ranks, documents not retrieved, documents twice."""
    docs = rng.sample("abcdefgh", rng.randint(1, 5))
    docs += rng.choices(docs, k=2 if setting["duplicates"] else 0)
    ranks = rng.sample(range(1, len(docs) + 3), len(docs))
    rows: list[Row] = []
    shown: dict[str, Row] = {}  # systems may lack judgments that others have; the same document twice has the same
    for doc, rank in zip(docs, ranks, strict=True):
        of_doc = known.get(doc, {"grade": None, "label": None})
        if doc not in shown:
            shown[doc] = of_doc if rng.random() < 0.8 else {"grade": None, "label": None}
        row = {
            "run": system,
            **segment,
            **query,
            "doc": doc,
            "rank": rank,
            "score": rng.randint(0, 2) / 2,
            **shown[doc],
        }
        judgment = "label" if "label" in setting["judgment"] else "grade"
        if setting["judge"] == "in the log" and row[judgment] is not None and rng.random() < 0.2:
            row["rank"] = row["score"] = None
        rows.append(row)
    return rows


def asked_of(case: Case) -> Any:
    """The log as a frame, with its roles named."""
    setting = case.setting
    options = ("duplicates", "unjudged", "ties", "undefined", "collection_size")
    said: Setting = {name: setting[name] for name in options if setting[name] is not None}
    said |= {"query": list(case.query), "by": list(case.by) or None}
    said |= {role: role for role in ("rank", "score") if role in setting["place"]}
    said |= {role: column for role, column in (("system", "run"), ("weight", "w")) if setting[role]}
    said |= {"doc": "doc" if setting["doc"] else None}
    said |= {"rel": "right" if setting["words"] else 2} if setting["rel"] == 2 else {}
    said |= {"scale": {word: grade for grade, word in WORDS.items()}} if setting["words"] else {}
    said |= {"n_relevant": "total"} if setting["n_relevant"] else {}
    said |= {"collection_size": "size"} if setting["collection_size"] == "column" else {}
    judgment = {role: role for role in ("grade", "label") if role in setting["judgment"]}
    frame = _in_words(pl.DataFrame(case.rows, infer_schema_length=None), setting)
    if case.judgments is None:
        return frame.irm(**said, **judgment)
    beside = _in_words(pl.DataFrame(case.judgments, infer_schema_length=None), setting)
    left_out = [name for name in ("grade", "label") if name not in judgment] + ["w"] * (not setting["weight"])
    left_out += ["size"] * (setting["collection_size"] != "column")
    return frame.drop("grade", "label").irm(**said).judge(beside.drop(left_out), **judgment)


def _in_words(frame: pl.DataFrame, setting: Setting) -> pl.DataFrame:
    """The frame with grades that are words, where the setting says so."""
    return frame.with_columns(pl.col("grade").replace_strict(WORDS)) if setting["words"] else frame


# The oracle


class Known(NamedTuple):
    """What is known of a document."""

    gain: float
    worth: float  # what orders equal scores: the grade, 0 without one
    relevant: bool
    judged: bool
    counts: bool  # whether it stays where unjudged rows are dropped; a negative grade does not


def known_of(row: Mapping[str, Any], case: Case) -> Known:
    """Read a judgment."""
    grade = row["grade"] if case.graded else row["label"]
    judgment = row["label"] if case.labelled else grade
    worth = 0 if grade is None else grade
    judged = judgment is not None
    counts = judged if case.labelled else judged and grade >= 0
    return Known(max(worth, 0), worth, _relevant(dict(row), case.setting), judged, counts)


NOTHING: Row = {"grade": None, "label": None}


def values_of(case: Case) -> tuple[dict[Key, dict[str, float | None]], list[Key], dict[Key, int]]:
    """Compute the metrics of every ranking, None where undefined.

    Returns
    -------
    The values by system, segment and query; the systems with each segment; the weights of queries.
    """
    setting = case.setting
    rows = [dict(row, at=at) for at, row in enumerate(case.rows)]

    def of(row: Row, names: Sequence[str]) -> Key:
        return tuple(row[name] for name in names)

    system = ("run",) if setting["system"] else ()
    if setting["duplicates"]:
        best: dict[Key, Row] = {}
        for row in rows:
            key = of(row, (*system, *case.by, *case.query, "doc"))
            if key not in best or _place(row, case) < _place(best[key], case):
                best[key] = row
        rows = sorted(best.values(), key=lambda row: row["at"])
    rankings: dict[Key, list[Row]] = {}
    for row in rows:
        rankings.setdefault((of(row, system), of(row, case.by), of(row, case.query)), []).append(row)
    systems = list(dict.fromkeys(key[0] for key in rankings))
    pairs = list(dict.fromkeys(key[1:] for key in rankings))
    weights, sizes = (
        {of(row, case.query): row[name] for row in [*rows, *(case.judgments or [])]} for name in ("w", "size")
    )

    shared: dict[Key, dict[str, Row]] = {}  # judgments by segment, as far as they say it, and query
    belongs = case.by if case.judgments is None else case.carried
    if case.judgments is not None or (setting["system"] and setting["doc"]):
        for row in rows if case.judgments is None else case.judgments:
            own = shared.setdefault((of(row, belongs), of(row, case.query)), {}).setdefault(row["doc"], dict(NOTHING))
            own |= {name: row[name] for name in ("grade", "label") if row[name] is not None}
    if case.judgments is not None and belongs == case.by:  # then the judgments say which pairs there are
        judged = [key for key, docs in shared.items() if any(known_of(row, case).judged for row in docs.values())]
        pairs = list(dict.fromkeys([*pairs, *judged]))

    found: dict[Key, dict[str, float | None]] = {}
    for run, (segment, query) in product(systems, pairs):
        listed = rankings.get((run, segment, query), [])
        part = tuple(value for name, value in zip(case.by, segment, strict=True) if name in belongs)
        if case.judgments is not None or (setting["system"] and setting["doc"]):
            docs = shared.get((part, query), {})
            rows_known = [(row, known_of(docs.get(row["doc"], NOTHING), case)) for row in listed]
            pool = [known_of(row, case) for row in docs.values()]
        else:
            rows_known = [(row, known_of(row, case)) for row in listed]
            pool = [known for _, known in rows_known]
            if not any(known.judged for known in pool):
                pool = _who_found_most([rankings.get((other, segment, query), []) for other in systems], case)
        if any(known.judged for known in pool):
            total = next((row["total"] for run in systems for row in rankings.get((run, segment, query), [])), 0)
            size = sizes[query] if setting["collection_size"] == "column" else setting["collection_size"]
            found[run, segment, query] = measured(rows_known, pool, total if case.counted else None, size, case)
    segments = list(dict.fromkeys(segment for segment, _ in pairs))
    return found, list(product(systems, segments)), weights


def _place(row: Row, case: Case) -> float:
    """Where a row stands: the lower, the better."""
    place = row["rank"] if "rank" in case.setting["place"] else row["score"] and -row["score"]
    return math.inf if place is None else place


def _who_found_most(rankings: Sequence[list[Row]], case: Case) -> list[Known]:
    """The judged rows of the system that found most, against which systems without a judged row are measured."""
    pools = [[known_of(row, case) for row in rows] for rows in rankings]

    def size(pool: list[Known]) -> tuple[int, int]:
        positive = [known.relevant if case.labelled else known.worth > 0 for known in pool if known.judged]
        return sum(positive), len(positive)

    return max(pools, key=size)


def measured(
    listed: list[tuple[Row, Known]], pool: list[Known], total: int | None, size: int | None, case: Case
) -> dict[str, float | None]:
    """Compute the metrics of one ranking.

    Parameters
    ----------
    listed : its rows, in the order of the frame, and what is known of them.
    pool : what is known of the judged documents of its query, listed or not.
    total : how many relevant documents there are, where that was counted.
    size : how many documents there are, where that is said.
    """
    dropped = case.setting["unjudged"] == "drop"
    if dropped:
        # What is retrieved and dropped is in no cell; what is not retrieved is there all the same.
        size = size and size - sum(_place(row, case) < math.inf and not known.counts for row, known in listed)
        listed, pool = [(row, known) for row, known in listed if known.counts], [one for one in pool if one.counts]
    relevant = sum(known.relevant for known in pool) if total is None else total
    retrieved = sorted((pair for pair in listed if _place(pair[0], case) < math.inf), key=lambda p: _place(p[0], case))
    hits = sum(known.relevant for _, known in retrieved)
    gains = sorted((known.gain for known in pool), reverse=True) if total is None else [1.0] * total
    table = {"tp": hits, "fp": len(retrieved) - hits, "fn": relevant - hits}
    values: dict[str, float | None] = {
        **table,
        "recall": hits / relevant if relevant else None,
        "precision": hits / len(retrieved) if retrieved else None,
        "roc_auc": _area(listed, pool, relevant),
    }
    if size:
        values["tn"] = size - sum(table.values())
        values["specificity"] = values["tn"] / (size - relevant)  # of 60 documents or more some are not relevant
    orders = [_in_ranks(order, case, dropped) for order in _orders(retrieved, case)]
    means = {name: [one[name] for one in (_ordered(order, relevant, gains) for order in orders)] for name in ORDERED}
    for name, each in means.items():
        values[name] = None if None in each else math.fsum(x for x in each if x is not None) / len(each)
    return {name: values[name] for name in case.asked}


def _area(listed: list[tuple[Row, Known]], pool: list[Known], relevant: int) -> float | None:
    """The share of pairs of a relevant document and another that stand in the right order; equal ones count half."""
    below = -math.inf  # a document without a score, or in no row
    good = [below if row["score"] is None else row["score"] for row, known in listed if known.relevant]
    bad = [below if row["score"] is None else row["score"] for row, known in listed if not known.relevant]
    elsewhere = sum(known.judged and not known.relevant for known in pool)
    elsewhere -= sum(known.judged and not known.relevant for _, known in listed)
    good, bad = good + [below] * (relevant - len(good)), bad + [below] * elsewhere
    if not good or not bad:
        return None
    return sum((x > y) + (x == y) / 2 for x, y in product(good, bad)) / len(good) / len(bad)


def _orders(retrieved: list[tuple[Row, Known]], case: Case) -> Iterator[list[tuple[Row, Known]]]:
    """The orders in which equal scores may stand: one, but for ties="expected"."""
    rule = case.setting["ties"] or ("doc" if case.setting["doc"] else "worst")
    ties: dict[float, list[tuple[Row, Known]]] = {}
    for row, known in retrieved:
        ties.setdefault(_place(row, case), []).append((row, known))
    if rule == "expected":
        for one in product(*(permutations(tie) for tie in ties.values())):
            yield [pair for tie in one for pair in tie]
        return
    for tie in ties.values():
        if rule == "doc":
            tie.sort(key=lambda pair: pair[0]["doc"], reverse=True)
        elif rule in ("worst", "best"):
            tie.sort(key=lambda pair: (pair[1].worth, pair[1].relevant), reverse=rule == "best")
    yield [pair for tie in ties.values() for pair in tie]


def _in_ranks(order: list[tuple[Row, Known]], case: Case, dropped: bool) -> list[tuple[int, Known]]:
    """Results with their ranks: those that were shown, unless rows were dropped above them."""
    shown = "rank" in case.setting["place"] and not dropped
    return [(row["rank"] if shown else i, known) for i, (row, known) in enumerate(order, 1)]


def _ordered(run: list[tuple[int, Known]], relevant: int, gains: list[float]) -> dict[str, float | None]:
    """The metrics that look at the order of the results."""
    ranks = [rank for rank, known in run if known.relevant]
    top = sum(rank <= 2 for rank in ranks)
    best = math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains[:3], 1))
    gained = math.fsum(known.gain / math.log2(rank + 1) for rank, known in run if rank <= 3)
    return {
        "precision@2": top / 2,
        "recall@2": top / relevant if relevant else None,
        "ap": math.fsum(i / rank for i, rank in enumerate(ranks, 1)) / relevant if relevant else None,
        "rr": (1 / ranks[0] if ranks else 0) if relevant else None,
        "ndcg@3": gained / best if best else None,
    }


def filled(name: str, value: float | None, case: Case) -> float | None:
    """Return a value, or what becomes of it where it is undefined."""
    rule = case.setting["undefined"] or ("null" if name in NULL else "zero")
    return {"zero": 0.0, "one": 1.0}.get(rule) if value is None else value


def means_of(case: Case) -> list[tuple[Any, ...]]:
    """Return the rows of evaluate: system, by, total_over, metric, average, value, n and n_undefined."""
    found, cells, weights = values_of(case)
    levels = [case.by, *([(name,) for name in case.by] if len(case.by) > 1 else []), *([()] if case.by else [])]
    rows = []
    for run in sorted({cell[0] for cell in cells}):
        for names in levels:
            over = ", ".join(name for name in case.by if name not in names) or None

            def told_apart(segment: Key, names: tuple[str, ...] = names) -> Key:
                return tuple(value for name, value in zip(case.by, segment, strict=True) if name in names)

            for group in sorted({told_apart(cell[1]) for cell in cells}, key=_nulls_last):
                mine = [key for key in found if key[0] == run and told_apart(key[1]) == group]
                key = dict(zip(names, group, strict=True))
                labels = (*run, *(key.get(name) for name in case.by), *([over] if case.by else []))
                rows += [(*labels, name, *_mean(name, mine, found, weights, case)) for name in case.asked]
    return rows


def _nulls_last(values: Key) -> Key:
    return tuple((value is None, value or 0) for value in values)


def _mean(name: str, mine: list[Key], found: Any, weights: Mapping[Key, int], case: Case) -> tuple[Any, ...]:
    """The average of a metric over some rankings, its value, and how many are in it and are undefined."""
    values = {key: filled(name, found[key][name], case) for key in mine}
    defined = {key: value for key, value in values.items() if value is not None}
    undefined = sum(found[key][name] is None for key in mine)
    if name in SUMMED:
        return "sum", sum(defined.values()) if defined else None, len(defined), undefined
    weight = {key: weights[key[2]] if case.setting["weight"] else 1 for key in defined}
    value = None
    if sum(weight.values()):
        value = math.fsum(weight[key] * x for key, x in defined.items()) / sum(weight.values())
    return "weighted" if case.setting["weight"] else "macro", value, len(defined), undefined


# Both together


def close(one: Any, other: Any) -> bool:
    """Whether two cells are the same, numbers to 1e-12."""
    if isinstance(one, float) and isinstance(other, float | int):
        return abs(one - other) <= CLOSE
    return bool(one == other)


def check(case: Case) -> None:
    """Compare per_query() and evaluate() with the oracle, every cell."""
    irm, found = asked_of(case), values_of(case)[0]
    if case.setting["undefined"] == "raise" and any(None in values.values() for values in found.values()):
        for call in (irm.per_query, irm.evaluate):
            with pytest.raises(NotComputableError, match="is undefined for"):
                call(*case.asked)
        check(case._replace(setting=case.setting | {"undefined": "null"}))
        return
    table = irm.per_query(*case.asked, layout="wide").drop("answered")
    keys = [*(["run"] if case.setting["system"] else []), *case.by, *case.query]
    assert table.columns == [*keys, *case.asked]
    expected = {
        (*run, *segment, *query): [filled(name, values[name], case) for name in case.asked]
        for (run, segment, query), values in found.items()
    }
    given = {row[: len(keys)]: list(row[len(keys) :]) for row in table.iter_rows()}
    assert len(given) == len(table)
    assert given.keys() == expected.keys()
    odd = [
        (key, case.asked[i], given[key][i], value)
        for key, values in expected.items()
        for i, value in enumerate(values)
        if not close(given[key][i], value)
    ]
    assert not odd
    means = irm.evaluate(*case.asked, margins=bool(case.by)).drop("k")
    wanted = means_of(case)
    assert len(means) == len(wanted)
    assert not [
        (one, other) for one, other in zip(means.iter_rows(), wanted, strict=True) if not all(map(close, one, other))
    ]


def described(setting: Setting) -> str:
    """What is unusual about a setting, for the name of a test."""
    return ", ".join(f"{role} {x}" for role, x in setting.items() if x != SETTINGS[role][0])


def test_every_two_settings_stand_together() -> None:
    """No pair is left out but those that say nothing together."""
    together = set().union(*(pairs_of(setting) for setting in covering()))
    assert together == every_pair()
    assert len(covering()) < 80


@pytest.mark.parametrize("setting", covering(), ids=described)
def test_roles_together(setting: Setting) -> None:
    """Values, means and totals are those of the oracle whatever two roles and conventions stand together."""
    for seed in range(2):
        check(made(setting, seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 32 if SEARCH else 4))
def test_roles_together_at_length(seed: int) -> None:
    """The same with other logs, and with other settings beside each two."""
    for setting in covering(seed):
        check(made(setting, seed))


@pytest.mark.parametrize("doc", [None, "doc"])
def test_the_area_where_relevant_documents_are_counted(doc: str | None) -> None:
    """A relevant document that no row has stands below all scores, whether there is a column of systems or not.

    One of two pairs is in the right order.
    """
    log = pl.DataFrame(
        {"query": [1, 1, 2], "doc": [*"xyz"], "score": [2.0, 1.0, 1.0], "grade": [1, 0, 1], "total": [2, 2, 1]}
    )
    plain = log.irm(query="query", doc=doc, n_relevant="total")
    assert plain.per_query("roc_auc")["value"].to_list() == [0.5, None]
    other = log.with_columns(run=pl.lit("b"), grade=pl.when(pl.col("query") == 1).then("grade"))
    both = pl.concat([log.with_columns(run=pl.lit("a")).select(other.columns), other])
    of_two = both.irm(query="query", doc=doc, n_relevant="total", system="run").per_query("roc_auc")
    assert of_two.filter(run="a")["value"].to_list() == [0.5, None]
