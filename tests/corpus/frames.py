"""Small frames of the corpus, made by integer arithmetic: no generator of random numbers, whose draws may change."""

from __future__ import annotations

from functools import cache
from typing import Any

import polars as pl


def _pick(i: int, times: int, below: int) -> int:
    """Return a number from 0 that looks as if it was drawn."""
    return (i * times + i * i * 7) % below


def _frame(columns: str, rows: list[tuple[Any, ...]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=columns.split(), orient="row", infer_schema_length=None)


def _grade(q: int, d: int) -> int | None:
    """Return the grade of a document for a query; one query has no relevant document, and some rows are unjudged."""
    grade = _pick(q * 16 + d, 5, 9) % 5
    return None if grade == 4 else grade * (q != 3)


@cache
def log() -> pl.DataFrame:
    """Results of three systems for the same queries: equal scores, unjudged rows, a query that c does not answer."""
    rows = []
    for s, q in ((s, q) for s in range(3) for q in range(6) if (s, q) != (2, 4)):
        of_query = "xyz"[q % 3], "mt"[q % 2], f"u{q % 4}", 1 + q % 4, 5 + q % 2
        for r in range(5 - (q + s) % 3):
            d = (r * (3 + 2 * s) + q) % 11
            grade, score = _grade(q, d), _pick((s * 6 + q) * 7 + r, 13, 17) // 2 / 8
            result = "abc"[s], f"q{q}", f"d{d}", r + 1, score, grade, None if grade is None else int(grade > 1)
            of_row = int((q + d) % 3 > 0), (d + 1) / 4, 1 / (r + 1), 0.9 / (r + 1) ** 2, "ijk"[d % 3], (1 + d % 5) / 40
            rows.append((*result, *of_query, *of_row, (2 + q % 3) / 8, "AB"[(d + q) % 2]))
    return _frame(
        "system query doc place score grade clicked device day user visits known "
        "said price chance other_chance owner often limit team",
        rows,
    )


@cache
def one() -> pl.DataFrame:
    """The results of the first system alone."""
    return log().filter(system="a").drop("system")


@cache
def run() -> pl.DataFrame:
    """Results without judgments."""
    return log().select("system", "query", "doc", "score", "device")


@cache
def qrels() -> pl.DataFrame:
    """Judgments of the documents of some queries, one of which no system has answered."""
    rows = [(f"q{q}", f"d{d}", grade) for q in (0, 1, 2, 5, 7) for d in range(9) if (grade := _grade(q, d)) is not None]
    return _frame("query doc grade", rows)


@cache
def aspects() -> pl.DataFrame:
    """Judgments for two subtopics, which differ."""
    rows = [
        (f"q{q}", f"d{d}", t, (_pick(q * 9 + d, 5, 7) + int(t[1])) % 3 % 2)
        for q in range(6)
        for d in range(8)
        for t in ("t0", "t1")
    ]
    return _frame("query doc topic grade", rows)


@cache
def rated() -> pl.DataFrame:
    """Judgments of three annotators, who differ, with the length of the document."""
    rows = [
        (f"q{q}", f"d{d}", who, _pick(q * 9 + d + a * (1 + d % 2), 5, 7) % 4, "sl"[d % 2])
        for a, who in enumerate(("ann", "ben", "cy"))
        for q in range(4)
        for d in range(6 - a)
    ]
    return _frame("query doc who grade size", rows)


@cache
def people() -> pl.DataFrame:
    """Judgments of people of half of the queries of ``many``, with the chance that a query was drawn."""
    rows = [(q, f"d{d}", _pick(q * 4 + d, 11, 13) % 3, (1 + q % 2) / 3) for q in range(0, 24, 2) for d in range(4)]
    return _frame("query doc grade drawn", rows)


@cache
def machine() -> pl.DataFrame:
    """Judgments of a machine of all queries of ``many``."""
    rows = [(q, f"d{d}", (_pick(q * 4 + d, 11, 13) + (q + d) % 5 // 4) % 3) for q in range(24) for d in range(4)]
    return _frame("query doc grade", rows)


@cache
def many() -> pl.DataFrame:
    """Results of two systems for more queries, all judged, and a number that was known before."""
    rows = []
    for s, q in ((s, q) for s in range(2) for q in range(24)):
        for r in range(4):
            d = (r * (3 - 2 * s) + q // 3) % 4
            row = "ab"[s], q, f"d{d}", 4 - r, _pick(q * 4 + d, 11, 13) % 3, f"u{q % 8}", "wv"[q % 2], 1 + q % 3
            rows.append((*row, _pick(q, 3, 8) / 8))
    return _frame("system query doc score grade user week visits before", rows)


@cache
def arms() -> pl.DataFrame:
    """The same with queries of each system's own."""
    return many().with_columns(query=pl.format("{}{}", "system", "query"), user=pl.format("{}{}", "system", "user"))


@cache
def cases() -> pl.DataFrame:
    """Rows without a query: two classes with decisions and scores, several classes, what they belong to."""
    rows = []
    for i in range(48):
        true, label = "cde"[i // 2 % 3], _pick(i, 2, 11) % 2
        said = true if _pick(i, 3, 7) < 4 else "cdef"[_pick(i, 11, 17) % 4]
        score = _pick(i, 29, 31) % 16 / 16
        decided = None if i % 11 == 5 else int(score + label / 4 > 0.6)
        by_class = [((_pick(i, 3 + k, 8) + 4 * (true == name)) / 16) for k, name in enumerate("cde")]
        of_row = "mn"[i % 2], f"v{i // 4}", 1 + i % 3, 1 + i % 2, (3 + i % 2 * 4) / 16
        rows.append((f"r{i}", label, decided, score, true, said, *by_class, *of_row))
    return _frame("doc label predicted score true said c d e side user weight times limit", rows)


@cache
def rivals() -> pl.DataFrame:
    """Two models of the same cases."""
    other = (pl.col("score") * 16 + 5).mod(16) / 16
    changed = cases().with_columns(
        model=pl.lit("n"),
        score=other,
        predicted=(other > 0.5).cast(pl.Int64),
        said=pl.col("said").replace({"c": "d", "f": "c"}),
    )
    return pl.concat([cases().with_columns(model=pl.lit("m")), changed])


@cache
def clicks() -> pl.DataFrame:
    """Impressions with clicks: the rank of a document varies."""
    rows = []
    for s in range(40):
        for r in range(3):
            clicked = int(_pick(s * 4 + r, 5, 7) < 3 - r)
            doc = "xyzw"[(r * (1 + s % 2) + s // 6 + s) % 4]
            rows.append((s, f"t{s % 5}", doc, r + 1, clicked, "AB"[(s + r) % 2], f"u{s % 9}", "mt"[s % 2], 1 + s % 2))
    frame = _frame("search text doc rank click team user day visits", rows)
    return frame.unique(["search", "doc"], keep="first", maintain_order=True)


@cache
def saved() -> pl.DataFrame:
    """Numbers that were computed elsewhere: a row for each system, query and metric, one null."""
    rows = [
        (
            "ab"[s],
            f"q{q}",
            "xyz"[q % 3],
            f"u{q % 4}",
            metric,
            None if (s, q) == (1, 2) else _pick(q * 2 + s + m, 5, 9) / 8,
        )
        for m, metric in enumerate(("ndcg@3", "latency"))
        for s in range(2)
        for q in range(6)
    ]
    return _frame("system query device user metric value", rows)


@cache
def lists() -> pl.DataFrame:
    """A row for each query, with lists of its results."""
    rows = [(f"q{q}", [f"d{(q + r * 3) % 7}" for r in range(q % 4)], "xyz"[q % 3]) for q in range(6)]
    held = [([(4 - r) / 4 for r in range(q % 4)], [_pick(q + r, 5, 9) % 3 for r in range(q % 4)]) for q in range(6)]
    wanted = [[f"d{(q + r * 2) % 7}" for r in range(q % 3)] for q in range(6)]
    columns = [(*row, *scores, want) for row, scores, want in zip(rows, held, wanted, strict=True)]
    return _frame("query doc device score grade wanted", columns)


@cache
def choices() -> pl.DataFrame:
    """A row for each time that a document was chosen."""
    return _frame("doc", [(f"d{_pick(i, 3, 11)}",) for i in range(30)])


FRAMES = {
    made.__name__: made
    for made in (log, one, run, qrels, aspects, rated, people, machine, many, arms, cases, rivals, clicks, saved, lists)
} | {"choices": choices}
