"""Bounds of metrics over all judgments that unjudged rows could get."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import polars as pl
import pytest

from frame_metrics import BadValueError, ColumnError, Metric, NotComputableError, UnknownNameError, metrics
from inside import (
    REGISTRY,
    SCANS,
    Array,
    FullConfusion,
    FullRanking,
    Pool,
    check_bounded,
    extremes,
    in_pieces,
    read_text,
)

NAN = float("nan")
TOP = 3
CUTOFFS = (None, 1, 2, 3, 5)
UNEVEN = {0: 0, 1: 2, 2: 7, 3: 1}  # the highest grade has not the greatest gain
OF_RELEVANCE = [
    "precision", "success", "rr", "rbp", "rbp(p=0.4)", "tp", "num_rel_ret", "recall", "miss_rate", "fdr", "fp", "fn",
    "up", "un",
    "f1", "fbeta(beta=0)", "fbeta(beta=0.5)", "fbeta(beta=3)", "fbeta(beta=inf)", "jaccard", "g_measure", "set_ap",
    "relative_precision", "ap", "ap(norm='min(k, R)')",
]  # fmt: skip
OF_GAINS = [
    "cg", "cg(gain='exp')", "dcg", "dcg(gain='exp', discount='jk')", "ncg(max_grade=3)",
    "rbp(gain='linear', max_grade=3)", "rbp(gain='exp', max_grade=3, p=0.5)", "err(max_grade=3)", "ndcg",
    "ndcg(gain='exp')", "ndcg(discount='jk')", "ndcg(discount='jk', base=3)", "ndcg(base=10)",
    "ndcg(gain='exp', discount='jk', base=1.5)", "sdcg(max_grade=3)", "insq(max_grade=3)",
    "tbg(halflife=2, max_grade=3)", "u_measure(length=3, max_grade=3)", "inst(target=2, max_grade=3)",
    "inst(target=0.5, max_grade=3)", "nerr8(max_grade=3)", "nerr9(max_grade=3)", "nerr10(p=0.5, max_grade=3)",
    "nerr11(max_grade=3, gain='exp')",
]  # fmt: skip
OF_MAPPED_GAINS = [
    f"dcg(gain={UNEVEN})", f"ndcg(gain={UNEVEN})", f"ndcg(gain={UNEVEN}, discount='jk')",
    f"ncg(gain={UNEVEN}, max_grade=3)", f"rbp(gain={UNEVEN}, max_grade=3)",
]  # fmt: skip


def read(text: str) -> Metric:
    """A metric by its name."""
    return read_text(text)[0][1]


def with_cutoffs(names: list[str]) -> list[Metric]:
    """The metrics without a cutoff and at each one."""
    return [read(name) if k is None else read(name) @ k for name in names for k in CUTOFFS]


@dataclass(frozen=True)
class Case:
    """One ranking: its rows in rank order, the first of them retrieved; further judged documents; spare ones."""

    grade: Array
    label: Array | None
    rank: Array
    decision: Array
    judged_elsewhere: list[tuple[float, float]]  # grade and label
    spare: int

    def open(self, graded: bool) -> Array:
        """Which rows are unjudged."""
        return np.isnan(self.grade if graded or self.label is None else self.label)


@dataclass(frozen=True)
class Kind:
    """What the cases of one block have in common."""

    rel: float = 1
    label: str | None = None  # "only": grades are labels; "too": some rows have a label, some a grade
    pool: bool = True
    gaps: bool = False
    fractions: bool = False
    decided: bool = False

    @property
    def top(self) -> int:
        return 1 if self.label == "only" else TOP


KINDS = [
    Kind(),
    Kind(pool=False),
    Kind(rel=2, gaps=True),
    Kind(fractions=True),
    Kind(fractions=True, pool=False, gaps=True, rel=1.5),
    Kind(label="only", pool=False),
    Kind(label="only", gaps=True),
    Kind(label="too"),
    Kind(label="too", pool=False),
    Kind(decided=True),
]


def made_case(rng: np.random.Generator, kind: Kind) -> Case:
    """A random ranking with few unjudged documents."""
    n = int(rng.integers(0, 7))
    values = [-1.0, 0.0, 0.0, 1.0, 1.0, 2.0, 3.0] + [0.5, 1.3, 2.7] * kind.fractions
    grade, label = rng.choice(values, n), None
    elsewhere = [(float(rng.choice(values)), float(rng.integers(2))) for _ in range(rng.integers(3) * kind.pool)]
    open_rows = rng.permutation(n)[: rng.integers(0, 6)]
    if kind.label == "only":
        grade = label = rng.integers(0, 2, n).astype(float)
        grade[open_rows] = NAN
        elsewhere = [(x, x) for _, x in elsewhere]
    elif kind.label == "too":
        label = rng.integers(0, 2, n).astype(float)
        grade[open_rows] = NAN
        # Judgments beside are those with a label; in a log a row may have either.
        label[open_rows[: len(open_rows) // 2] if kind.pool else rng.permutation(n)[:2]] = NAN
        elsewhere = [(NAN if rng.random() < 0.3 and len(open_rows) < 4 else g, x) for g, x in elsewhere]
    else:
        grade[open_rows] = NAN
    step = rng.integers(1, 4, n) if kind.gaps else np.ones(n, int)
    n_ret = int(rng.integers(0, n + 1)) if rng.random() < 0.4 else n
    ranks = np.where(np.arange(n) < n_ret, np.cumsum(step), 0)
    spare = int(rng.integers(0, 3)) if len(open_rows) < 4 else 0
    decision = rng.choice([0.0, 1.0, 1.0, NAN], n)
    return Case(grade, label, ranks, decision, elsewhere, spare)


@cache
def made_cases(kind: Kind, n: int = 50) -> list[Case]:
    rng = np.random.default_rng(KINDS.index(kind))
    return [made_case(rng, kind) for _ in range(n)]


def joined(parts: list[Array]) -> Array:
    return np.concatenate([np.zeros(0), *parts])


def block(kind: Kind, cases: list[Case]) -> FullRanking:
    """The rankings of cases as kernels read them."""
    labels = None if kind.label is None else joined([c.label for c in cases if c.label is not None])
    pool = None
    if kind.pool:
        known = [~np.isnan(c.grade if c.label is None else c.label) for c in cases]
        pools = [
            [*zip(c.grade[at], (c.grade if c.label is None else c.label)[at], strict=True), *c.judged_elsewhere]
            for c, at in zip(cases, known, strict=True)
        ]
        query = np.repeat(np.arange(len(cases)), [len(p) for p in pools])
        both = np.array([pair for p in pools for pair in p], dtype=float).reshape(-1, 2)
        pool = Pool(query, both[:, 0], None if labels is None else both[:, 1])
    return FullRanking(
        joined([c.grade for c in cases]),
        np.array([len(c.grade) for c in cases], int),
        np.array([(c.rank > 0).sum() for c in cases], int),
        rel=kind.rel,
        label=labels,
        logged_rank=joined([c.rank for c in cases]).astype(int) if kind.gaps else None,
        pool=pool,
        decision=joined([c.decision for c in cases]) if kind.decided else None,
    )


def completions(case: Case, kind: Kind, graded: bool, scale: Array) -> list[Case]:
    """The case with every judgment that its unjudged documents could get, spare ones judged elsewhere."""
    at = np.flatnonzero(case.open(graded))
    beside = [i for i, (g, x) in enumerate(case.judged_elsewhere) if np.isnan(g if graded or kind.label is None else x)]
    found = []
    for values in product(scale, repeat=len(at) + len(beside) + case.spare):
        own, more = values[: len(at)], values[len(at) :]
        elsewhere = list(case.judged_elsewhere)
        for i, value in zip(beside, more[: len(beside)], strict=True):
            elsewhere[i] = (value, elsewhere[i][1])
        elsewhere += [(value, value) for value in more[len(beside) :]]
        grade, label = case.grade.copy(), case.label
        if graded or label is None:
            grade[at] = own
            # Metrics of gains do not look at labels; a pool does, at whether there is one.
            label = None if label is None else np.nan_to_num(label)
        else:
            label = label.copy()
            label[at] = own
        found.append(replace(case, grade=grade, label=label, judged_elsewhere=elsewhere, spare=0))
    return found


def every_completion(kind: Kind, cases: list[Case], graded: bool, scale: Array) -> tuple[FullRanking, Array]:
    """All completions of all cases as queries of one block, and where those of each case begin."""
    whole = [completions(case, kind, graded, scale) for case in cases]
    start = np.cumsum([0, *map(len, whole)])[:-1]
    pooled = replace(kind, pool=True)
    return block(pooled, [case for part in whole for case in part]), start


@cache
def exhausted(kind: Kind, graded: bool) -> tuple[FullRanking, Array]:
    scale = np.arange(0.0, kind.top + 1) if graded or kind.label is None else np.array([0.0, 1.0])
    return every_completion(kind, made_cases(kind), graded, scale)


def bounds(metric: Metric, run: FullRanking, spare: Any = 0, top: float | None = TOP) -> tuple[Array, Array]:
    return extremes(str(metric), metric, run, np.broadcast_to(np.asarray(spare), run.n_queries), top)


def agree(metric: Metric, run: FullRanking, spare: Array, top: int, whole: FullRanking, start: Array) -> None:
    """Check bounds against the least and greatest value of all completions."""
    values = np.nan_to_num(metric.compute(whole))
    least, greatest = bounds(metric, run, spare, top)
    np.testing.assert_allclose(least, np.minimum.reduceat(values, start), rtol=0, atol=1e-9, err_msg=str(metric))
    np.testing.assert_allclose(greatest, np.maximum.reduceat(values, start), rtol=0, atol=1e-9, err_msg=str(metric))


def of_kind(kind: Kind, graded: bool) -> list[Metric]:
    """The metrics that can be measured on cases of a kind."""
    if graded:
        plain = not kind.fractions and kind.label != "only"
        return with_cutoffs(OF_GAINS + OF_MAPPED_GAINS * plain)
    asked = map(read, OF_RELEVANCE)
    decided = [metric for metric in asked if metric.input is FullConfusion]
    return decided if kind.decided else [*with_cutoffs(OF_RELEVANCE), metrics.rprec, metrics.num_rel]


# Against every completion


@pytest.mark.parametrize("graded", [False, True])
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_every_judgment_lies_within_and_both_ends_are_reached(kind: Kind, graded: bool) -> None:
    """The bounds are the least and the greatest value over all judgments, tried one by one."""
    cases = made_cases(kind)
    run, spare = block(kind, cases), np.array([case.spare for case in cases])
    whole, start = exhausted(kind, graded)
    for metric in of_kind(kind, graded):
        agree(metric, run, spare, kind.top, whole, start)


def test_gains_where_every_grade_has_one() -> None:
    """With a mapping an unjudged row may have the gain of any of its grades, or none."""
    kind = Kind(fractions=True, pool=False)
    rng = np.random.default_rng(3)
    gains = {-1: 0.25, 0: 0.5, 1: 1, 2: 1, 3: 4, 0.5: 2, 1.3: 0, 2.7: 3.5}
    cases = [case for case in (made_case(rng, kind) for _ in range(60)) if case.open(True).sum() + case.spare < 4]
    whole, start = every_completion(kind, cases, True, np.array([*gains, -2.0]))
    spare = np.array([case.spare for case in cases])
    for metric in with_cutoffs([f"ndcg(gain={gains})", f"cg(gain={gains})"]):
        agree(metric, block(kind, cases), spare, None, whole, start)


def test_mapping_without_gain() -> None:
    """Where a mapping gives no grade a gain, nothing is gained."""
    run = FullRanking(np.array([0, NAN]), np.array([2]), np.array([2]))
    assert [bound.tolist() for bound in bounds(metrics.ndcg(gain={0: 0, 1: 0}), run, top=None)] == [[0.0], [0.0]]


# By hand


def test_ndcg_by_hand() -> None:
    """Grades 2, unjudged, 2 of 0 to 3: nDCG is .920, .965, 1 and .930 with 0, 1, 2 and 3 there; so the best is a 2."""
    grade = np.array([[2, g, 2] for g in range(4)], dtype=float).ravel()
    by_grade = metrics.ndcg.compute(FullRanking(grade, np.full(4, 3), np.full(4, 3)))
    assert by_grade.round(3).tolist() == [0.920, 0.965, 1.000, 0.930]
    run = FullRanking(np.array([2, NAN, 2]), np.array([3]), np.array([3]))
    least, greatest = bounds(metrics.ndcg, run)
    assert (least.round(3).item(), greatest.round(3).item()) == (0.920, 1.0)


def test_ap_by_hand() -> None:
    """Unjudged, relevant, unjudged: best with the first relevant, 1; worst with the last, (1/2 + 2/3) / 2 = 7/12.

    With none relevant it is 1/2, which is less; with a relevant document nobody listed as well, half of that.
    """
    run = FullRanking(np.array([NAN, 1, NAN]), np.array([3]), np.array([3]))
    assert [bound.item() for bound in bounds(metrics.ap, run)] == pytest.approx([1 / 2, 1])
    assert [bound.item() for bound in bounds(metrics.ap, run, spare=1)] == pytest.approx([1 / 4, 1])


def test_ap_worst_case_is_a_suffix_by_hand() -> None:
    """Relevant, then unjudged: worst with the row relevant but not retrieved, then 1/2."""
    run = FullRanking(np.array([1, NAN]), np.array([2]), np.array([1]))
    assert [bound.item() for bound in bounds(metrics.ap, run)] == pytest.approx([1 / 2, 1])


def test_rprec_by_hand() -> None:
    """Unjudged, not relevant, relevant, unjudged: R is 1 to 3.

    None relevant: 0 of the first 1. The first: 1 of 2. The last: 0 of 2. Both: 2 of 3.
    """
    run = FullRanking(np.array([NAN, 0, 1, NAN]), np.array([4]), np.array([4]))
    assert [bound.item() for bound in bounds(metrics.rprec, run)] == pytest.approx([0, 2 / 3])


def test_recall_by_hand() -> None:
    """One of two relevant documents is found; one unjudged row is found and one is not: 1/3 to 2/3."""
    run = FullRanking(np.array([1, NAN, 1, NAN]), np.array([4]), np.array([2]))
    assert [bound.item() for bound in bounds(metrics.recall, run)] == pytest.approx([1 / 3, 2 / 3])


# Laws


def judged_on(rng: np.random.Generator, case: Case, kind: Kind, how_many: int | None) -> Case:
    """The case with some of its unjudged rows judged at random."""
    at = np.flatnonzero(case.open(True) | case.open(False))[:how_many]
    grade, label = case.grade.copy(), None if case.label is None else case.label.copy()
    new = rng.integers(0, kind.top + 1, len(at)).astype(float)
    grade[at] = np.where(np.isnan(grade[at]), new, grade[at])
    if label is not None:
        label[at] = np.where(np.isnan(label[at]), np.minimum(new, 1), label[at])
    return replace(case, grade=grade, label=label)


EVERY_METRIC = [(False, metric) for metric in of_kind(Kind(), False)] + [(True, m) for m in of_kind(Kind(), True)]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not kind.fractions and kind.label != "only"], ids=str)
def test_fully_judged(kind: Kind) -> None:
    """Where all is judged, the least and the greatest value are the value."""
    rng = np.random.default_rng(1)
    cases = [judged_on(rng, case, kind, None) for case in made_cases(kind)]
    cases = [replace(c, judged_elsewhere=[(g, x) for g, x in c.judged_elsewhere if g == g]) for c in cases]
    run = block(kind, cases)
    for _, metric in EVERY_METRIC:
        value = np.nan_to_num(metric.compute(run))
        for bound in bounds(metric, run):
            np.testing.assert_allclose(bound, value, rtol=0, atol=1e-12, err_msg=str(metric))


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind in KINDS if not kind.fractions and kind.label != "only"], ids=str)
def test_a_judgment_narrows(kind: Kind) -> None:
    """Judging one more row moves neither bound outwards."""
    rng = np.random.default_rng(2)
    cases = made_cases(kind)
    after = [judged_on(rng, case, kind, 1) for case in cases]
    spare = np.array([case.spare for case in cases])
    narrowed, blocks = 0, [block(kind, some) for some in (cases, after)]
    for _, metric in EVERY_METRIC:
        wide, narrow = (bounds(metric, run, spare) for run in blocks)
        assert (narrow[0] >= wide[0] - 1e-12).all(), metric
        assert (narrow[1] <= wide[1] + 1e-12).all(), metric
        narrowed += int((narrow[1] - narrow[0] < wide[1] - wide[0] - 1e-12).sum())
    assert narrowed > 100


@pytest.mark.slow
@pytest.mark.parametrize("step", [25, pytest.param(10, marks=pytest.mark.slow)])
def test_queries_do_not_touch_each_other(step: int) -> None:
    """The bounds of a query are the same in any block."""
    kind = Kind()
    cases = made_cases(kind)
    whole, spare = block(kind, cases), np.array([case.spare for case in cases])
    each = {i: block(kind, cases[i : i + 1]) for i in range(0, len(cases), step)}
    for _, metric in EVERY_METRIC:
        together = bounds(metric, whole, spare)
        for i, run in each.items():
            alone = bounds(metric, run, cases[i].spare)
            assert [bound.item() for bound in alone] == pytest.approx([bound[i] for bound in together], abs=1e-14)


def test_plain_value_lies_within_to_the_last_bit() -> None:
    """The value with every unjudged row not relevant is never outside of the bounds, not even by rounding."""
    run = block(Kind(), made_cases(Kind()))
    for _, metric in EVERY_METRIC:
        value = np.nan_to_num(metric.compute(run))
        least, greatest = bounds(metric, run)
        assert (least <= value).all()
        assert (value <= greatest).all()


def test_block_without_queries() -> None:
    """A block without queries has no bounds."""
    none = np.zeros(0, int)
    for _, metric in EVERY_METRIC:
        assert [len(bound) for bound in bounds(metric, FullRanking(np.zeros(0), none, none))] == [0, 0]


# Long lists


def long_block(n: int, length: int, unjudged: int, top: int, seed: int = 0) -> FullRanking:
    """Rankings of one length with so many unjudged rows each."""
    rng = np.random.default_rng(seed)
    grade = rng.choice(np.arange(top + 1.0), (n, length), p=[0.7, *[0.3 / top] * top])
    for row in grade:
        row[rng.permutation(length)[:unjudged]] = NAN
    return FullRanking(grade.ravel(), np.full(n, length), np.full(n, length))


def scanned(metric: Metric, run: FullRanking, i: int, fillings: Array) -> tuple[float, float]:
    """Least and greatest value of one query over some ways to fill its unjudged rows."""
    rows = slice(run.starts[i], run.starts[i] + run.lengths[i])
    grade = np.tile(run.grade[rows], (len(fillings), 1))
    grade[:, np.isnan(run.grade[rows])] = fillings
    lengths = np.full(len(fillings), grade.shape[1])
    values = metric.compute(FullRanking(grade.ravel(), lengths, lengths))
    return values.min(), values.max()


def staircases(unjudged: int, top: int, within: int) -> Array:
    """All ways to give grades that do not rise along the rows, 0 past the first few."""
    ways = combinations_with_replacement(range(within + 1), top)
    return np.array([[sum(place < n for n in way) for place in range(unjudged)] for way in ways], dtype=float)


@pytest.mark.parametrize("name", ["ap", "ndcg", "ndcg(gain='exp')", "ap@100", "ndcg@100"])
def test_long_lists(name: str) -> None:
    """200 lists of 1000 rows, 600 unjudged, agree with a scan of all beginnings and ends, list by list."""
    run, metric = long_block(200, 1000, 600, 1), read(name)
    least, greatest = bounds(metric, run, top=1)
    beginnings = np.tri(601, 600, -1)
    for i in (0, 117, 199):
        low, high = scanned(metric, run, i, np.concatenate([beginnings, beginnings[:, ::-1]]))
        assert (least[i], greatest[i]) == pytest.approx((low, high), abs=1e-12)


@pytest.mark.parametrize("name", ["ndcg", "ndcg@30", "ndcg(gain='exp')@30"])
def test_long_lists_with_grades(name: str) -> None:
    """Lists with three grades agree with a scan of all assignments that do not rise."""
    run, metric = long_block(50, 60, 24, TOP), read(name)
    _, greatest = bounds(metric, run)
    for i in (0, 31):
        inside = int(np.isnan(run.grade[run.starts[i] :][: metric.k or 60]).sum())
        assert greatest[i] == pytest.approx(scanned(metric, run, i, staircases(24, TOP, inside))[1], abs=1e-12)


def test_long_scale() -> None:
    """Grades up to 1000, judged ones fractional, agree with trying every grade of the one unjudged row."""
    rng = np.random.default_rng(5)
    grade = rng.integers(0, 4001, (20, 9)) / 4
    grade[:, 3] = NAN
    run = FullRanking(grade.ravel(), np.full(20, 9), np.full(20, 9))
    for metric in (metrics.ndcg, metrics.ndcg @ 5, metrics.ndcg(discount="jk") @ 4):
        least, greatest = bounds(metric, run, top=1000)
        for i in range(20):
            low, high = scanned(metric, run, i, np.arange(1001.0)[:, None])
            assert (least[i], greatest[i]) == pytest.approx((low, high), abs=1e-12)


# What is refused


def test_every_scan_is_declared() -> None:
    """The metrics that declare a scan are those that have one."""
    assert set(SCANS) == {metric.name for metric in REGISTRY.values() if metric.unjudged == "scan"}


@pytest.mark.parametrize("name", [metric.name for metric in REGISTRY.values() if metric.unjudged is None])
def test_metric_without_bounds(name: str) -> None:
    """A metric without derived bounds is refused, and the message names those that have some."""
    said = rf"^{name} has no bounds of unjudged rows; these have: abandonment, ap, .*tp, u_measure, un, up$"
    with pytest.raises(NotComputableError, match=said):
        check_bounded(name, REGISTRY[name], 3)


@pytest.mark.parametrize("name", ["ndcg@3", "dcg", "cg(gain='exp')", "err", "ncg@5", "rbp(gain='linear')"])
def test_gains_need_the_scale(name: str) -> None:
    """A metric of gains needs the highest grade, its own or the one that is given."""
    with pytest.raises(NotComputableError, match=r"bounds of unjudged rows need the scale; pass max_grade="):
        check_bounded(name, read(name))
    check_bounded(name, read(name), 3)


@pytest.mark.parametrize(
    "name", ["ap", "rbp", "recall@5", "err(max_grade=3)", "ndcg(gain={1: 1})", "rbp(gain='exp', max_grade=3)", "gm_ap"]
)
def test_scale_that_is_known(name: str) -> None:
    """Relevance has no scale; a metric's own highest grade, or a mapping, is one."""
    check_bounded(name, read(name))


@pytest.mark.parametrize("top", [0, -1, 2.5, NAN, float("inf"), True, "3"])
def test_highest_grade_that_is_none(top: Any) -> None:
    """The highest grade is a whole number from 1."""
    with pytest.raises(BadValueError, match=r"^max_grade=.* is not a whole number from 1"):
        check_bounded("ndcg", metrics.ndcg, top)


def test_two_scales() -> None:
    """A metric's own highest grade may not be below the one that is given."""
    with pytest.raises(BadValueError, match=r"^err: its highest grade is 3, and max_grade=4; give both the same"):
        check_bounded("err", metrics.err(max_grade=3), 4)


@pytest.mark.parametrize("pooled", [False, True])
def test_grade_above_the_highest(pooled: bool) -> None:
    """A grade above the highest is an error, among the rows and among the judgments."""
    grade = np.array([1, NAN]) if pooled else np.array([5, NAN])
    pool = Pool(np.zeros(2, int), np.array([1.0, 5.0])) if pooled else None
    run = FullRanking(grade, np.array([2]), np.array([2]), pool=pool)
    with pytest.raises(BadValueError, match=r"^ndcg: max_grade=3, but a grade is 5$"):
        bounds(metrics.ndcg, run)


@pytest.mark.parametrize("name", ["cg(gain='exp')", "dcg(gain='exp')", "ndcg(gain='exp')"])
def test_gains_that_overflow(name: str) -> None:
    """Gains whose sum is no number are an error, though the judged ones have one."""
    run = FullRanking(np.array([1] + [NAN] * 8), np.array([9]), np.array([9]))
    with pytest.raises(BadValueError, match=r"^the gain of grade 1023 with gain='exp' overflows"):
        bounds(read(name), run, top=1023)


def test_condensed_lists() -> None:
    """A metric that leaves unjudged rows out has no bounds over their judgments."""
    with pytest.raises(NotComputableError, match=r"^ap\(judged_only=True\) leaves unjudged rows out"):
        check_bounded("ap(judged_only=True)", metrics.ap(judged_only=True))


# Queries without a judgment


def test_queries_without_a_judgment_are_left_out_or_counted() -> None:
    """By default no metric sees them; with the option nothing of them is relevant, in memory and in pieces."""
    run = pl.DataFrame({"query": [1, 1, 2, 2], "doc": ["a", "b", "a", "c"], "score": [2.0, 1.0] * 2})
    qrels = pl.DataFrame({"query": [1, 3], "doc": ["a", "z"], "grade": [1, 1]})
    own = run.with_columns(grade=pl.Series([1, None, None, None]))
    asked = ("judged@2", "ndcg", "precision@2", "roc_auc")
    for irm, mean in ((run.irm.judge(qrels), 1), (own.irm, 0)):  # a judged query without results is there beside
        n = 1 + mean
        plain, counted = (one.evaluate(*asked) for one in (irm, irm(unjudged_queries="count")))
        assert plain["n"][:3].to_list() == [n] * 3
        assert counted["n"][:3].to_list() == [n + 1] * 3
        assert (plain["value"] * n)[:3].to_list() == pytest.approx((counted["value"] * (n + 1))[:3].to_list())
        assert plain.row(3)[3] == counted.row(3)[3]  # undefined, and null
        assert in_pieces(irm(unjudged_queries="count")).evaluate(*asked).collect().equals(counted)
        rows = irm(unjudged_queries="count").per_query("judged@2").filter(query=2)
        assert rows["value"].to_list() == [0]
        assert irm(unjudged_queries="count").audit().equals(irm.audit())
        with pytest.raises(BadValueError, match="queries without judgments: 1 of"):
            irm(unjudged_queries="count").audit({"queries without judgments": 0.02})


def test_unjudged_queries_are_of_queries() -> None:
    """Rows without a query have none, and there is one way to count them."""
    rows = pl.DataFrame({"label": [1, 0], "score": [1.0, 0.0]})
    with pytest.raises(ColumnError, match="unjudged_queries= is about the documents of a query; name query="):
        rows.irm(unjudged_queries="count").evaluate("roc_auc")
    with pytest.raises(UnknownNameError, match="unjudged_queries='zero' is not one of 'count'"):
        rows.irm(unjudged_queries="zero")
