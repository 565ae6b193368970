"""Systems compared: paired differences, tests beside scipy's and full counts, corrections beside statsmodels'."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from datetime import date
from functools import cache
from itertools import combinations, product
from math import atan, pi, sqrt
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from comparisons import flipped
from frame_metrics import IRM, BadValueError, ColumnError, NotComputableError
from helpers import as_kind, as_polars, error, examples, real, same_rows
from inside import adjusted, always_a_progress_bar, few_bytes_at_a_time, mid_p, threads
from refusals import check

TESTS = ("randomization", "t", "wilcoxon", "sign", "bootstrap")
DRAWN = ("randomization", "bootstrap")
DRAWS = 10_000  # what compare() draws unless told otherwise
MANY = 60_000  # what it is compared with
METRICS = ("ndcg@10", "rr", "precision@5")


def made(values: dict[str, Sequence[float | None]], **columns: Sequence[Any]) -> pl.DataFrame:
    """A log in which cg of each query is the value given for the system; None is a query that it does not answer."""
    rows = []
    for system, grades in values.items():
        for query, grade in enumerate(grades):
            more = [column[query] for column in columns.values()]
            if grade is not None:
                rows.append((f"q{query:03}", system, f"{system} in {query}", 1.0, float(grade), *more))
    return pl.DataFrame(rows, schema=["query", "system", "doc", "score", "grade", *columns], orient="row")


def of(values: dict[str, Sequence[float | None]], **columns: Sequence[Any]) -> IRM[pl.DataFrame]:
    """What compares the systems of such a log."""
    by = list(columns) or None
    return IRM(made(values, **columns), system="system", doc="doc", by=by)  # type: ignore[arg-type]


def row_of(irm: IRM[pl.DataFrame], metric: str = "cg", **options: Any) -> dict[str, Any]:
    """The only row of a comparison."""
    found = irm.compare(metric, **options)
    assert len(found) == 1
    return found.row(0, named=True)


def noisy(n: int, systems: int = 2, seed: int = 0, shift: float = 0.0) -> dict[str, Sequence[float | None]]:
    """Values of systems, each a little better than the one before, on queries of which some are harder than others."""
    random = np.random.default_rng(seed)
    hard = random.random(n) * 5 + 2
    return {"abcdef"[i]: (hard + random.normal(size=n) / 2 + i * shift).tolist() for i in range(systems)}


# Three systems on drawn queries, and real data


@cache
def drawn() -> IRM[pl.DataFrame]:
    """Rankings of twelve documents, which each system scores by their grades and by chance; judgments are beside."""
    random = np.random.default_rng(7)
    queries, documents = 60, 12
    ids = {"query": np.repeat(np.arange(queries), documents), "doc": np.tile(np.arange(documents), queries)}
    qrels = pl.DataFrame({**ids, "grade": random.choice([0, 0, 0, 1, 2], queries * documents)})
    runs = [
        qrels.select("query", "doc", system=pl.lit(name), score=random.normal(size=len(qrels)) + sure * qrels["grade"])
        for name, sure in (("a", 0.2), ("b", 0.3), ("c", 0.9))
    ]
    return IRM(pl.concat(runs), doc="doc", system="system").judge(qrels)


@cache
def products() -> IRM[pl.DataFrame]:
    """Product search: three systems in the order that was shown; some products stand twice."""
    results = pl.read_csv(real("haystack_products/runs.csv")).drop("score")
    grades = pl.read_csv(real("haystack_products/judgments.csv")).unique(["query_id", "doc_id"], keep="first")
    irm = IRM(results, query="query_id", doc="doc_id", rank="rank", system="run", duplicates="first")
    return irm.judge(grades, query="query_id", doc="doc_id", grade="rating")


@cache
def features() -> IRM[pl.DataFrame]:
    """Learning to rank: three features are the scores of three systems, the two files are segments."""
    parts = [
        pl.read_csv(real(f"lightgbm_rank/rank.{part}.tidy.csv")).with_columns(
            pl.format("{} {}", pl.lit(part), "query").alias("query"), part=pl.lit(part)
        )
        for part in ("train", "test")
    ]
    long = pl.concat(parts).unpivot(index=["part", "query", "doc", "grade"], variable_name="system", value_name="score")
    return IRM(long, doc="doc", system="system", by="part")


LARGE = [pytest.param(irm, marks=pytest.mark.slow, id=irm.__name__) for irm in (products, features)]
MOSTLY_SLOW = pytest.mark.parametrize("irm", [pytest.param(drawn, id="drawn"), *LARGE])
SETS = pytest.mark.parametrize("irm", [drawn, products, features], ids=["drawn", "products", "features"])


def compared(irm: Any, **options: Any) -> list[tuple[dict[str, Any], np.ndarray, np.ndarray]]:
    """The rows of a comparison, each with what per_query() says of both systems."""
    made = irm()
    by = ["part"] if irm is features else []
    (system,) = {"run", "system"} & set(made.per_query("rr").columns)
    each = made.per_query(*METRICS)
    query = next(name for name in ("query_id", "query") if name in each.columns)
    wide = {
        key: part.pivot(on=system, index=query, values="value", maintain_order=True)
        for key, part in each.group_by([*by, "metric"])
    }
    found = []
    for row in made.compare(*METRICS, **options).iter_rows(named=True):
        values = wide[(*(row[name] for name in by), row["metric"])]
        found.append((row, values[row[system]].to_numpy(), values[row["baseline"]].to_numpy()))
    assert len(found) == 3 * len(METRICS) * (2 if by else 1)
    return found


def simulated(difference: np.ndarray, draws: int = MANY, seed: int = 99) -> float:
    """The p-value of the randomization test from many draws of signs."""
    random = np.random.default_rng(seed)
    reached = 0
    for _ in range(draws // 20_000):
        signs = random.choice(np.array([-1.0, 1.0]), (20_000, len(difference)))
        reached += int((np.abs(signs @ difference) >= abs(difference.sum()) - 1e-9).sum())
    return reached / draws


def near(p: float, exact: float, draws: int = DRAWS, others: int | None = None) -> bool:
    """Whether a drawn p-value is within four standard errors of the exact one, or of that of other draws."""
    error = sqrt(exact * (1 - exact) * (1 / draws + (1 / others if others else 0)))
    return abs(p - exact) <= 4 * error + 1.5 / draws


def test_a_t_test_of_two_queries() -> None:
    """Differences of .5 and .75 have t = 5 and one degree of freedom, of which p is 2 arctan(1 / 5) / pi."""
    values = pl.DataFrame({"query": [1, 2, 1, 2], "system": [*"aabb"], "value": [0.0, 0.25, 0.5, 1.0]})
    (p,) = values.irm(value="value", system="system").compare(test="t")["p_value"]
    assert p == pytest.approx(2 * atan(1 / 5) / pi, rel=1e-12)


@pytest.mark.slow
@MOSTLY_SLOW
def test_randomization_agrees_with_many_more_draws(irm: Any) -> None:
    """The p-value of the randomization test is that of many more draws, but for its Monte Carlo error."""
    for row, value, base in compared(irm):
        assert near(row["p_value"], simulated(value - base), others=MANY), row
        assert row["p_value"] >= 1 / (DRAWS + 1)


@pytest.mark.parametrize("metric", ["ndcg@10", "ndcg@3"])
def test_randomization_counts_every_flip_of_few_queries(metric: str) -> None:
    """With at most as many ways to flip as draws the p-value is exact; with more, it is so but for its error."""
    each = features().per_query(metric).filter(pl.col("part") == "train")
    wide = each.pivot(on="system", index="query", values="value", maintain_order=True)
    base, system = sorted(wide.columns[1:])[:2]
    moved = wide.filter(pl.col(base) != pl.col(system))
    assert len(moved) >= 16
    for n in (5, 13, 14, 16):
        some = moved.head(n)
        values = {name: (some[name] * 3).to_list() for name in (base, system)}
        exact = flipped((3 * (some[system] - some[base])).to_list())
        p = row_of(of(values))["p_value"]
        assert p == pytest.approx(exact, rel=1e-12) if n <= 13 else near(p, exact)
        assert near(row_of(of(values), permutations=15)["p_value"], exact, 15)


def test_few_differences_are_counted_beside_many() -> None:
    """A pair that differs on three queries is tested exactly, whatever a third system does on the others."""
    values = noisy(40)
    values["b"] = [v + 1 if i < 3 and v else v for i, v in enumerate(values["a"])]
    values["c"] = noisy(40, seed=5)["b"]
    found = of(values).compare("cg").rows_by_key(["system", "baseline"], named=True, unique=True)
    assert found["b", "a"]["p_value"] == pytest.approx(0.25, rel=1e-12)


@pytest.mark.parametrize("draws", [1, 7, 999])
def test_a_drawn_p_value_counts_what_was_seen(draws: int) -> None:
    """A p-value of n draws is (b + 1) / (n + 1): never 0, and a whole number of such steps."""
    p = row_of(of(noisy(60, shift=2.0)), permutations=draws)["p_value"]
    assert p == 1 / (draws + 1) if draws > 7 else p >= 1 / (draws + 1)
    steps = row_of(of(noisy(60)), permutations=draws)["p_value"] * (draws + 1)
    assert steps == pytest.approx(round(steps), abs=1e-9)
    boot = row_of(of(noisy(60, shift=2.0)), test="bootstrap", resamples=draws)["p_value"]
    assert boot == pytest.approx(1 / (draws + 1), rel=1e-12)


# What is drawn is the same everywhere


@pytest.mark.parametrize("test", DRAWN)
def test_two_runs_are_the_same(test: str) -> None:
    """The same call gives the same frame to the last bit; another seed draws otherwise."""
    irm = of(noisy(40, systems=3, shift=0.1))
    first = irm.compare("cg", test=test)  # type: ignore[arg-type]
    assert irm.compare("cg", test=test).equals(first)  # type: ignore[arg-type]
    other = irm.compare("cg", test=test, seed=1)  # type: ignore[arg-type]
    assert (other["p_value"] != first["p_value"]).any()
    drawn = ["p_value", "p_adjusted", "ci_low", "ci_high"]
    if test == "randomization":  # the flips of a family have the quantile of its intervals too
        drawn += ["mde", "relative_low", "relative_high"]
        assert (other["mde"] != first["mde"]).all()
    assert other.drop(drawn).equals(first.drop(drawn))


@pytest.mark.parametrize("test", DRAWN)
def test_the_number_of_threads_does_not_matter(test: str) -> None:
    """Values are the same to the last bit however many threads draw."""
    irm = of(noisy(150, systems=3, shift=0.05))
    found = []
    for workers in (1, 2, 5):
        with few_bytes_at_a_time(2000), threads(workers):
            found.append(irm.compare("cg", test=test, permutations=1000))  # type: ignore[arg-type]
    assert found[0].equals(found[1])
    assert found[0].equals(found[2])


@pytest.mark.parametrize("size", [1000, 3000, 10_000_000])
def test_draws_in_blocks_are_fair(size: int) -> None:
    """However few bytes are drawn at a time, the p-value is right but for its Monte Carlo error."""
    values = noisy(100, shift=0.07)
    exact = simulated(np.subtract(values["b"], values["a"]))
    assert 0.05 < exact < 0.8
    with few_bytes_at_a_time(size):
        found = row_of(of(values), permutations=1000)["p_value"]
    assert near(found, exact, 1000, MANY)


@pytest.mark.parametrize("installed", [True, False], ids=["with tqdm", "without"])
def test_a_progress_bar_changes_nothing(installed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long work on a terminal shows a bar where tqdm is installed, and gives what it gives without."""
    irm = of(noisy(40, systems=3))
    expected = irm.compare("cg")
    if installed:
        pytest.importorskip("tqdm", reason="the progress bar is optional")
    else:
        monkeypatch.setitem(sys.modules, "tqdm", None)
    with always_a_progress_bar():
        assert irm.compare("cg").equals(expected)


@pytest.mark.parametrize(
    ("metrics", "options", "done"),
    [
        (["cg"], {}, "80/80"),  # resampled and flipped
        (["cg", "dcg"], {}, "80/80"),
        (["cg"], {"test": "bootstrap"}, "40/40"),
        (["item_coverage", "item_gini", "item_coverage@1"], {}, "80/80"),  # once for each cutoff
        (["item_coverage", "cg"], {}, "120/120"),
    ],
)
def test_a_progress_bar_counts_queries(metrics: list[str], options: Any, done: str, capsys: Any) -> None:
    """All draws are told, those of all lists together too, and the bar reaches its end."""
    pytest.importorskip("tqdm", reason="the progress bar is optional")
    irm = of(noisy(40, systems=2))(doc="doc", catalogue=200)
    with always_a_progress_bar():
        irm.compare(*metrics, permutations=2000, **options)
    assert done in capsys.readouterr().err


@pytest.mark.parametrize(
    ("metrics", "work"),
    [(["cg"], 2 * 40 * 500), (["item_coverage"], 40 * 80 * 500), (["item_coverage", "item_gini@1"], 2 * 40 * 80 * 500)],
)
def test_a_progress_bar_is_shown_from_some_work_on(metrics: list[str], work: int, capsys: Any) -> None:
    """Work grows with queries or, forty times as long, results; with permutations; and with what is exchanged."""
    pytest.importorskip("tqdm", reason="the progress bar is optional")
    irm = of(noisy(40, systems=2))(doc="doc", catalogue=200)
    for least in (work, work + 1):
        with always_a_progress_bar(least=least):
            irm.compare(*metrics, permutations=500, resamples=20)
        assert ("query" in capsys.readouterr().err) == (least == work)


def test_metrics_asked_together_have_the_p_values_that_each_has_alone() -> None:
    """Though they share what is drawn: those of lists by their cutoffs, and those of the same queries.

    The last bit of an interval's end is that of a product of matrices, which some processors add up otherwise for one
    metric than for four.
    """
    irm = of(noisy(40, systems=3))(doc="doc", catalogue=200)
    for names in (
        ("item_coverage", "item_gini", "item_entropy", "item_gini@1", "item_entropy@1"),
        ("rr", "cg", "dcg", "specificity"),
    ):
        options: Any = {"permutations": 500, "resamples": 20}
        together = irm(collection_size=9).compare(*names, **options)
        alone = pl.concat([irm(collection_size=9).compare(name, **options) for name in names])
        assert_frame_equal(together, alone, rel_tol=1e-12, abs_tol=1e-12)
        assert together["p_value"].equals(alone["p_value"])


# Draws go to queries in the order of their keys


ORDERED: dict[str, Sequence[float | None]] = noisy(30, systems=3, shift=0.1)
FEW: dict[str, Any] = {"permutations": 300, "resamples": 100}


def shuffled(frame: pl.DataFrame, seed: int) -> pl.DataFrame:
    return frame.sample(fraction=1, shuffle=True, seed=seed)


@pytest.mark.parametrize("test", DRAWN)
@pytest.mark.parametrize("more", [{}, {"by": "part"}, {"cluster": "user"}], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_shuffled_rows_draw_the_same(test: Any, more: dict[str, Any], seed: int) -> None:
    """Rows in another order give the same p-values and intervals to the last bit, in segments and clusters too."""
    frame = made(ORDERED, part=["x", "y", None] * 10, user=[n // 3 for n in range(30)])
    first, second = (
        IRM(rows, system="system", **more).compare("cg", "rr", test=test, **FEW)
        for rows in (frame, shuffled(frame, seed))
    )
    assert second.equals(first)


RETYPED: dict[str, Any] = {
    "int16": pl.Int16,
    "uint64": pl.UInt64,
    "float": pl.Float64,
    "decimal": pl.Decimal(10, 2),
    "text": "text",
    "categories": "categories",
    "enum": "enum",
    "another name": None,
}


@pytest.mark.parametrize("to", RETYPED)
@pytest.mark.parametrize("test", DRAWN)
def test_queries_of_another_type_draw_the_same(test: Any, to: str) -> None:
    """Query ids draw by their values, whatever their type and column is called; ids that are text by their letters."""
    frame = made(ORDERED).with_columns(query=pl.col("query").str.slice(2).cast(pl.Int64))
    expected = IRM(frame, system="system").compare("cg", test=test, **FEW)
    text = pl.col("query").cast(pl.String).str.zfill(3)
    codes = pl.Enum(sorted(frame.select(text).to_series().unique(), reverse=True))
    query = {"text": text, "categories": text.cast(pl.Categorical), "enum": text.cast(codes)}.get(to)
    query = pl.col("query").cast(RETYPED[to] or pl.Int64) if query is None else query
    other = shuffled(frame.with_columns(qid=query).drop("query"), 2)
    assert IRM(other, query="qid", system="system").compare("cg", test=test, **FEW).equals(expected)


@pytest.mark.parametrize("test", DRAWN)
def test_the_order_of_systems_does_not_matter(test: Any) -> None:
    """Systems whose names are in another order have the same p-value of each pair, all pairs together too."""
    frame = made(ORDERED)
    other = frame.with_columns(pl.col("system").replace({"a": "z", "c": "y"})).sort("system")
    rows = {
        frozenset({row["system"], row["baseline"]}): row
        for row in IRM(other, system="system").compare("cg", test=test, **FEW).iter_rows(named=True)
    }
    names = {"a": "z", "b": "b", "c": "y"}
    for row in IRM(frame, system="system").compare("cg", test=test, **FEW).iter_rows(named=True):
        there = rows[frozenset({names[row["system"]], names[row["baseline"]]})]
        assert row["p_value"] == there["p_value"]
        assert row["p_adjusted"] == there["p_adjusted"]


def test_clusters_draw_in_the_order_of_their_queries() -> None:
    """The names of clusters do not matter, nor which stands first in the frame."""
    frame = made(ORDERED, user=[n // 3 for n in range(30)])
    named = frame.with_columns(user=pl.format("u{}", (pl.col("user") * 7) % 10))
    first, second = (
        IRM(rows, system="system", cluster="user").compare("cg", **FEW) for rows in (frame, shuffled(named, 4))
    )
    assert second.equals(first)


@pytest.mark.parametrize(("apart", "p"), [(1e-10, 0.5), (1e-13, 0.75)])
def test_a_draw_is_extreme_within_1e_12(apart: float, p: float) -> None:
    """A sum that is nearer than 1e-12 to what was seen counts as equal to it, and no other does."""
    # Sums of 5, 3 + apart and -3: eleven, what was seen, and one that is less by twice ``apart``.
    assert row_of(of({"a": [0, 0, 3], "b": [5, 3 + apart, 0]}))["p_value"] == p


# Corrections


METHODS = {"holm": "holm", "bonferroni": "bonferroni", "bh": "fdr_bh"}


def corrected(p: Sequence[float], correction: str) -> list[float]:
    """P-values corrected by the definitions; statsmodels' are the same, and take a hundred times as long."""
    n, up = len(p), sorted(p)
    if correction == "bonferroni":
        return [min(n * one, 1.0) for one in p]
    if correction == "holm":  # the greatest of those up to it, each times the number of those not yet rejected
        return [min(max((n - i) * other for i, other in enumerate(up) if other <= one), 1.0) for one in p]
    return [min(n / (i + 1) * other for i, other in enumerate(up) if other >= one) for one in p]


def by_statsmodels(p: Sequence[float], correction: str) -> Any:
    """P-values corrected by statsmodels, which takes a second to import, and is imported where it is asked."""
    from statsmodels.stats.multitest import multipletests

    return multipletests(p, method=METHODS[correction])[1]


@pytest.mark.parametrize("correction", METHODS)
@pytest.mark.parametrize("p", [[0.04], [0.01, 0.04, 0.03, 0.005], [0.2, 0.2, 1.0, 0.0], [0.5, 0.01, 0.01, 0.02, 0.9]])
def test_the_definitions_of_corrections_are_those_of_statsmodels(p: list[float], correction: str) -> None:
    """What any p-values are compared with below, and what we give, is what statsmodels gives."""
    theirs = by_statsmodels(p, correction)
    np.testing.assert_allclose(corrected(p, correction), theirs, rtol=1e-12)
    np.testing.assert_allclose(adjusted(np.array(p), correction), theirs, rtol=1e-12)


@MOSTLY_SLOW
@pytest.mark.parametrize("over", ["metric", "all"])
@pytest.mark.parametrize("correction", METHODS)
def test_corrections_are_those_of_statsmodels(irm: Any, correction: str, over: str) -> None:
    """Corrected p-values are statsmodels', over the pairs of a metric in a segment or over all rows."""
    found = irm().compare(*METRICS, test="t", correction=correction, over=over)
    family = ["metric", *(["part"] if irm is features else [])] if over == "metric" else [pl.lit(0)]
    groups = found.group_by(family, maintain_order=True)
    sizes = []
    for _, group in groups:
        theirs = by_statsmodels(group["p_value"].to_list(), correction)
        np.testing.assert_allclose(group["p_adjusted"].to_numpy(), theirs, rtol=1e-12)
        sizes.append(len(group))
    assert set(sizes) == ({3} if over == "metric" else {len(found)})
    assert found["correction"].unique().to_list() == [correction]


@pytest.mark.parametrize("correction", METHODS)
@examples(50)
@given(p=st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.01, 0.05, 1.0])), min_size=1, max_size=30))
def test_correcting_any_p_values(correction: str, p: list[float]) -> None:
    """Any p-values, equal ones among them, are corrected by the definition; undefined ones stay, and do not count."""
    theirs = corrected(p, correction)
    mine = adjusted(np.array(p), correction)
    np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-300)
    holes = np.insert(np.array(p), [0, len(p)], np.nan)
    again = adjusted(holes, correction)
    assert np.isnan(again[[0, -1]]).all()
    np.testing.assert_array_equal(again[1:-1], mine)


def test_no_correction() -> None:
    """Without a correction the two p-values are the same."""
    found = of(noisy(20, systems=3)).compare("cg", correction="none")
    assert found["p_adjusted"].to_list() == found["p_value"].to_list()
    assert found["correction"].to_list() == ["none"] * 3


@pytest.mark.parametrize(
    ("systems", "options", "expected"),
    [
        (2, {}, [(1, None)] * 3),
        (2, {"correction": "none"}, [(1, None)] * 3),
        (2, {"over": "all"}, [(3, "max_t")] * 3),
        (2, {"over": "all", "correction": "holm"}, [(3, "holm")] * 3),
        (2, {"over": "all", "arm": True}, [(3, "max_t")] * 3),
        (3, {}, [(3, "max_t")] * 9),
        (3, {"test": "t"}, [(3, "holm")] * 9),
        (3, {"baseline": "a", "correction": "bh"}, [(2, "bh")] * 6),
        (3, {"arm": True}, [(3, "max_t")] * 9),
    ],
)
def test_how_many_p_values_were_corrected_together(systems: int, options: Any, expected: list[Any]) -> None:
    """n_tests counts the p-values of the family; of one that stands alone nothing was corrected."""
    irm = of(noisy(8, systems=systems))
    verb: Any = irm.compare
    if options.get("arm"):
        name = irm.roles["system"]
        verb = IRM(irm.frame.with_columns(pl.concat_str("query", name)), **irm.roles)(system=None, arm=name).change
    options = {name: value for name, value in options.items() if name != "arm"}
    found = verb("cg", "rr", "map", permutations=50, resamples=20, **options)
    assert found.select("n_tests", "correction").rows() == expected
    if expected[0][1] is None:
        assert found["p_adjusted"].equals(found["p_value"].rename("p_adjusted"))


def test_p_values_that_are_null_are_no_tests() -> None:
    """A segment without a judgment has no p-value: it is not among those that are corrected together."""
    frame = made(noisy(5, systems=2), part=["x"] * 3 + ["y"] * 2)
    frame = frame.with_columns(grade=pl.when(pl.col("part") == "x").then("grade"))
    irm = IRM(frame, system="system", by="part")
    assert irm.compare("cg", over="all").select("p_value", "n_tests", "correction")[1].row(0) == (None, 1, None)


# Tukey


@pytest.mark.slow
@pytest.mark.parametrize("test", DRAWN)
def test_p_values_are_fair_where_nothing_differs(test: str) -> None:
    """Of systems that are equally good about one in ten comparisons has a p-value up to 0.1."""
    n = 300
    random = np.random.default_rng(11)
    values = random.random((2, 20 * n)) + 1
    part = np.repeat(np.arange(n), 20).tolist()
    irm = of({"a": values[0].tolist(), "b": values[1].tolist()}, part=part)
    p = irm.compare("cg", test=test, permutations=199, resamples=199)["p_value"]  # type: ignore[arg-type]
    assert len(p) == n
    assert 0.04 < (p <= 0.1).mean() < 0.18  # type: ignore[operator]
    assert 0.4 < p.mean() < 0.6  # type: ignore[operator]


# Values


@SETS
def test_values_are_those_of_evaluate(irm: Any) -> None:
    """Where every system answers, value and baseline_value are the means that evaluate() gives."""
    system = "run" if irm is products else "system"
    by = ["part"] if irm is features else []
    means = {(*(r[k] for k in by), r[system], r["metric"]): r for r in irm().evaluate(*METRICS).iter_rows(named=True)}
    for row, value, base in compared(irm):
        for name, values, one in (("value", value, row[system]), ("baseline_value", base, row["baseline"])):
            mean = means[(*(row[k] for k in by), one, row["metric"])]
            assert row[name] == pytest.approx(mean["value"], rel=1e-12)
            assert row[name] == pytest.approx(values.mean(), rel=1e-12)
            assert row["n"] == mean["n"] == len(values)
            assert row["n_undefined"] == mean["n_undefined"]


def test_a_comparison_worked_by_hand() -> None:
    """Four queries, two won and one lost."""
    row = row_of(of({"a": [1, 2, 3, 4], "b": [3, 2, 2, 7]}))
    assert row["value"] == 3.5
    assert row["baseline_value"] == 2.5
    assert row["difference"] == 1.0
    assert row["relative"] == 0.4
    assert (row["wins"], row["ties"], row["losses"], row["n"]) == (2, 1, 1, 4)
    assert row["effect_size"] == pytest.approx(1 / sqrt(10 / 3), rel=1e-12)  # differences 2, 0, -1, 3
    assert row["p_value"] == 0.5  # of the signs of 2, 1 and 3: +++ and ---, ++- with 1 last, and its mirror
    assert (row["test"], row["n_tests"], row["correction"]) == ("randomization", 1, None)


def test_columns_of_the_result() -> None:
    """The columns stand in the order that the docs give."""
    found = of(noisy(5), part=["x"] * 5).compare("rr@3")
    assert " ".join(found.columns) == (
        "part system baseline metric k value baseline_value difference relative relative_low relative_high "
        "ci_low ci_high p_value p_adjusted effect_size wins ties losses n n_unpaired n_undefined n_unanswered mde test "
        "n_tests correction"
    )
    assert found.select("metric", "k").rows() == [("rr@3", 3)]
    each = of(noisy(5), part=["x"] * 5).compare("rr@3", per_query=True)
    assert each.columns == [
        "part",
        "query",
        "system",
        "baseline",
        "metric",
        "k",
        "value",
        "baseline_value",
        "difference",
    ]


def test_every_system_is_compared_with_those_before_it() -> None:
    """Without a baseline all pairs are rows, systems in the order of their names; with one, every other system."""
    irm = of({"c": [1, 2], "a": [2, 3], "d": [4, 1], "b": [0, 3]})
    found = irm.compare("cg", "rr").select("metric", "system", "baseline").rows()
    pairs = [(one, other) for one in "abcd" for other in "abcd" if other < one]
    assert found == [(metric, *pair) for metric in ("cg", "rr") for pair in pairs]
    assert irm.compare("cg", baseline="c").select("system", "baseline").rows() == [("a", "c"), ("b", "c"), ("d", "c")]


def test_several_baselines() -> None:
    """Each other system is compared with each baseline: by system, then in the order in which they are named."""
    values = {"c": [1, 2, 4], "a": [2, 3, 1], "d": [4, 1, 0], "b": [0, 3, 3]}
    irm = of(values)
    found = irm.compare("cg", "rr", baseline=["d", "a"])
    pairs = [("b", "d"), ("b", "a"), ("c", "d"), ("c", "a")]
    assert found.select("metric", "system", "baseline").rows() == [(m, *pair) for m in ("cg", "rr") for pair in pairs]
    for row in found.iter_rows(named=True):
        one = irm.compare(row["metric"], baseline=row["baseline"], correction="none")
        (alone,) = one.filter(pl.col("system") == row["system"]).iter_rows(named=True)
        joint = ("ci_low", "ci_high", "relative_low", "relative_high", "mde")
        family = dict.fromkeys(("p_adjusted", "n_tests", "correction", *joint))
        assert row | family == alone | family
    each = irm.compare("cg", baseline=["d", "a"], per_query=True)
    assert each.select("system", "baseline").unique(maintain_order=True).rows() == pairs


@pytest.mark.parametrize("zone", [None, "UTC"])
@pytest.mark.parametrize("kind", ["polars", "pandas"])
def test_a_baseline_that_is_a_date(kind: str, zone: str | None) -> None:
    """A text finds the day, or time, that it writes among systems of dates, and a day finds its midnight."""
    days = [date(2026, 11, 2), date(2026, 11, 3)]
    log = pl.DataFrame({"query": [1, 1], "score": 1.0, "grade": [1, 0], "system": days})
    times = log.with_columns(pl.col("system").cast(pl.Datetime).dt.replace_time_zone(zone))
    for frame in (log, times):
        irm = IRM(as_kind(frame, kind), system="system")
        for baseline in ("2026-11-03", ["2026-11-03"], str(frame["system"][1]), days[1]):
            assert as_polars(irm.compare("rr", baseline=baseline))["difference"].to_list() == [1.0]
        said = error(lambda irm=irm: irm.compare("rr", baseline="2026-11-04"), BadValueError)  # type: ignore[misc]
        assert said.startswith("baseline='2026-11-04' is not among the systems of system")
    late = times.with_columns(pl.col("system") + pl.duration(hours=9))
    assert "not among" in error(lambda: late.irm(system="system").compare("rr", baseline="2026-11-03"))


@pytest.mark.parametrize("over", ["metric", "all"])
def test_pairs_with_all_baselines_are_corrected_together(over: Any) -> None:
    """The pairs of a metric with every baseline are one family; with over="all" those of all metrics."""
    irm = of(noisy(30, systems=4, shift=0.1))
    found = irm.compare("cg", "rr", baseline=["a", "b"], test="t", over=over)
    parts = [found] if over == "all" else found.partition_by("metric")
    assert [len(part) for part in parts] == [8 // len(parts)] * len(parts)
    for part in parts:
        np.testing.assert_allclose(part["p_adjusted"], corrected(part["p_value"].to_list(), "holm"), rtol=1e-12)


def test_one_baseline_may_stand_in_a_list() -> None:
    """A list of one is that one, a null system too."""
    irm = of(noisy(10, systems=3))
    assert irm.compare("cg", baseline=["b"]).equals(irm.compare("cg", baseline="b"))
    frame = made({"a": [1, 2], "b": [2, 3]}).with_columns(pl.col("system").replace("b", None))
    found = IRM(frame, system="system").compare("cg", baseline=[None])
    assert found.select("system", "baseline", "difference").rows() == [("a", None, -1.0)]


def test_systems_may_be_numbers_or_null() -> None:
    """Systems keep their type and their order, null last."""
    frame = made({"a": [1, 2], "b": [2, 3], "c": [3, 5]})
    numbered = frame.with_columns(system=pl.col("system").replace_strict({"a": 10, "b": 9, "c": None}))
    irm = IRM(numbered, system="system", doc="doc")
    assert irm.compare("cg").select("system", "baseline").rows() == [(10, 9), (None, 9), (None, 10)]
    found = irm.compare("cg", baseline=10)
    assert found.select("system", "baseline", "difference").rows() == [(9, 10, 1.0), (None, 10, 2.5)]
    assert found.schema["system"] == found.schema["baseline"] == numbered.schema["system"]


def test_intervals_and_mde_shrink_with_queries() -> None:
    """Four times the queries halve the interval and the least detectable difference; a lower level narrows both."""
    few, many = (row_of(of(noisy(n, shift=0.1))) for n in (100, 400))
    widths = [row["ci_high"] - row["ci_low"] for row in (few, many)]
    assert widths[0] / widths[1] == pytest.approx(2, rel=0.2)
    assert few["mde"] / many["mde"] == pytest.approx(2, rel=0.2)
    low = row_of(of(noisy(100, shift=0.1)), ci=0.8)
    assert few["ci_low"] < low["ci_low"] < low["ci_high"] < few["ci_high"]
    t = {0.8: 0.8452681, 0.9: 1.2901614, 0.975: 1.9842170}  # quantiles of Student's t with 99 degrees of freedom
    assert low["mde"] / few["mde"] == pytest.approx((t[0.9] + t[0.8]) / (t[0.975] + t[0.8]), rel=1e-6)


@pytest.mark.parametrize("test", DRAWN)
def test_what_is_drawn_unless_told_otherwise(test: Any) -> None:
    """10,000 permutations and 1,000 resamples by seed 0, of intervals of 95 %."""
    irm = of(noisy(30, systems=3, shift=0.12))
    said = irm.compare("cg", test=test, ci=0.95, permutations=10_000, resamples=1000, seed=0)
    assert irm.compare("cg", test=test).equals(said)


def test_a_pair_is_resampled_as_if_it_were_alone() -> None:
    """The bootstrap moves the differences of each pair to their own mean, whatever the other pairs have."""
    values = noisy(30, systems=3, shift=0.12)
    every = of(values).compare("cg", test="bootstrap").rows_by_key(["system", "baseline"], named=True, unique=True)
    for pair, row in every.items():
        alone = row_of(of({name: values[name] for name in sorted(pair)}), test="bootstrap")
        assert row["p_value"] == pytest.approx(alone["p_value"], rel=1e-12)
    assert len({row["p_value"] for row in every.values()}) == 3


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("n", [2, 10, 40])
def test_identical_systems_have_p_1(test: str, n: int) -> None:
    """Where nothing differs nothing is significant, and there is no effect size."""
    values = noisy(n)["a"]
    row = row_of(of({"a": values, "b": values}), test=test)
    assert (row["p_value"], row["p_adjusted"], row["difference"], row["relative"]) == (1, 1, 0, 0)
    assert (row["wins"], row["ties"], row["losses"], row["n"]) == (0, n, 0, n)
    unknown = ("ci_low", "ci_high", "mde", "effect_size", "relative_low", "relative_high")  # as nothing varies
    assert [row[name] for name in unknown] == [None] * len(unknown)


@pytest.mark.parametrize("test", TESTS)
def test_a_difference_that_is_the_same_but_for_rounding(test: str) -> None:
    """A constant difference whose floats differ in the last bit gives a p-value, and no warning."""
    row = row_of(of({"a": [0.1, 0.2, 0.3, 0.5, 0.6], "b": [0.2, 0.3, 0.4, 0.6, 0.7]}), test=test)
    assert row["difference"] == pytest.approx(0.1, rel=1e-12)
    assert 0 <= row["p_value"] <= 0.08
    assert row["wins"] == 5


def test_no_effect_size_of_a_constant_difference() -> None:
    """A constant difference has no effect size, whether or not its floats differ in the last bit."""
    assert row_of(of({"a": [1, 2, 3], "b": [2, 3, 4]}))["effect_size"] is None
    assert row_of(of({"a": [0.1, 0.2, 0.3], "b": [0.2, 0.3, 0.4]}))["effect_size"] is None


def test_relative_to_nothing_is_null() -> None:
    """There is no relative difference where the baseline has 0."""
    row = row_of(of({"a": [0, 0, 0], "b": [1, 0, 2]}))
    assert (row["difference"], row["relative"]) == (1.0, None)


@pytest.mark.parametrize("test", TESTS)
def test_one_query_shows_nothing(test: str) -> None:
    """One query has a difference, no spread, and is never significant."""
    row = row_of(of({"a": [1], "b": [3]}), test=test)
    assert (row["value"], row["baseline_value"], row["difference"], row["wins"], row["n"]) == (3, 1, 2, 1, 1)
    assert [row[name] for name in ("ci_low", "ci_high", "effect_size", "mde")] == [None] * 4
    assert row["p_value"] in (None, 1.0)
    assert row["p_adjusted"] == row["p_value"]


@pytest.mark.parametrize("test", TESTS)
def test_a_segment_without_evaluated_queries(test: str) -> None:
    """A segment that nobody judged has a row of nulls, and takes no part in corrections."""
    values = noisy(20, systems=3, shift=0.1)
    frame = made(values, part=["x"] * 15 + ["y"] * 5)
    unjudged = frame.with_columns(grade=pl.when(pl.col("part") == "x").then("grade"))
    options: dict[str, Any] = {"test": test, "over": "all"}
    found = IRM(unjudged, system="system", doc="doc", by="part").compare("cg", **options)
    alone = IRM(frame.filter(part="x"), system="system", doc="doc", by="part").compare("cg", **options)
    assert found.filter(part="x").equals(alone)
    empty = found.filter(part="y")
    if len(empty):
        assert empty.select("wins", "ties", "losses", "n", "n_unpaired", "n_undefined").rows() == [(0,) * 6] * 3
        assert empty.select("value", "difference", "p_value", "p_adjusted", "ci_low", "mde").rows() == [(None,) * 6] * 3


def test_segments_are_compared_each_by_itself() -> None:
    """Every segment, null among them, has the rows that its part of the log has alone."""
    values = noisy(45, systems=3, shift=0.1)
    part = ["x", None, "a"] * 15
    frame = made(values, part=part)
    found = IRM(frame, system="system", doc="doc", by="part").compare("cg", "rr")
    assert found["part"].to_list() == ["a"] * 6 + ["x"] * 6 + [None] * 6
    for segment in ("a", "x", None):
        here = pl.col("part").eq_missing(pl.lit(segment))
        alone = IRM(frame.filter(here), system="system", doc="doc").compare("cg", "rr")
        assert found.filter(here).drop("part").equals(alone)


# Queries that were not answered, or are undefined


UNANSWERED: dict[str, Sequence[float | None]] = {
    "a": [1.0, 2.0, 3.0, None, 4.0, None],
    "b": [2.0, None, 5.0, 6.0, 4.0, 3.0],
}


def test_a_query_that_one_system_answers_counts_as_zero() -> None:
    """A query that one system does not answer is 0 there, and counted as unpaired."""
    row = row_of(of(UNANSWERED))
    assert (row["n"], row["n_unpaired"], row["n_unanswered"]) == (6, 3, 3)
    assert row["value"] == pytest.approx(20 / 6, rel=1e-12)
    assert row["baseline_value"] == pytest.approx(10 / 6, rel=1e-12)
    assert (row["wins"], row["ties"], row["losses"]) == (4, 1, 1)
    assert row["p_value"] == pytest.approx(flipped([1.0, -2, 2, 6, 0, 3]), rel=1e-12)


def test_a_query_that_one_system_answers_may_be_left_out() -> None:
    """With unanswered="drop" only queries that both answer are paired; the others are still counted."""
    row = row_of(of(UNANSWERED)(unanswered="drop"))
    assert (row["n"], row["n_unpaired"], row["n_unanswered"]) == (3, 3, 3)
    assert row["value"] == pytest.approx(11 / 3, rel=1e-12)
    assert row["baseline_value"] == pytest.approx(8 / 3, rel=1e-12)
    assert (row["wins"], row["ties"], row["losses"]) == (2, 1, 0)
    assert row["p_value"] == 0.5


@pytest.mark.parametrize("unanswered", ["zero", "drop"])
def test_pairs_of_systems_have_their_own_queries(unanswered: Any) -> None:
    """What a third system leaves unanswered changes nothing about the other two."""
    values = {**UNANSWERED, "c": [None, 2.0, None, 1.0, 1.0, 1.0]}
    three = of(values)(unanswered=unanswered).compare("cg", correction="none")
    rows = {(row["system"], row["baseline"]): row for row in three.iter_rows(named=True)}
    for other, one in combinations("abc", 2):
        two = row_of(of({other: values[other], one: values[one]})(unanswered=unanswered), correction="none")
        assert same_rows(rows[one, other] | {"n_tests": 1, "correction": None}, two)


def test_a_query_with_null_scores_only_is_answered() -> None:
    """A row of a document that was not retrieved says that the query was asked, and nothing found."""
    frame = made({"a": [1, 2], "b": [2, 3]}).with_columns(
        score=pl.when((pl.col("query") != "q001") | (pl.col("system") != "b")).then("score")
    )
    for rule in ("zero", "drop"):
        row = row_of(IRM(frame, system="system", doc="doc", unanswered=rule))
        assert (row["n"], row["n_unpaired"], row["n_unanswered"], row["value"]) == (2, 0, 0, 1.0)


def test_judged_queries_without_any_results_are_paired() -> None:
    """A judged query that no system answers is a tie of 0 and 0, and not unpaired."""
    run = pl.DataFrame({"system": ["a", "b"], "query": ["q", "q"], "doc": ["x", "y"], "score": [1.0, 1.0]})
    qrels = pl.DataFrame({"query": ["q", "r"], "doc": ["x", "z"], "grade": [1, 1]})
    row = row_of(IRM(run, system="system", doc="doc").judge(qrels), "rr")
    assert (row["n"], row["n_unpaired"], row["n_unanswered"], row["ties"], row["losses"]) == (2, 0, 1, 1, 1)
    assert (row["value"], row["baseline_value"]) == (0, 0.5)


UNDEFINED = pl.DataFrame(
    {
        "query": [1, 1, 2, 2, 3, 3, 4, 4],
        "system": ["a", "b"] * 4,
        "score": [1.0] * 8,
        "grade": [1, 0, 1, 1, 0, 0, 1, 1],
    }
)


def test_undefined_values_may_leave_the_comparison() -> None:
    """With undefined="null" a query that is undefined for either system is left out and counted."""
    row = row_of(IRM(UNDEFINED, system="system", undefined="null"), "ap")
    assert (row["n"], row["n_undefined"], row["value"], row["baseline_value"]) == (2, 2, 1, 1)
    each = IRM(UNDEFINED, system="system", undefined="null").compare("ap", per_query=True)
    assert each["query"].to_list() == [2, 4]


@pytest.mark.parametrize("rule", [None, "zero", "one"])
def test_undefined_values_that_are_filled_are_counted(rule: Any) -> None:
    """A query that is undefined for either system counts in n_undefined where it is filled, too, as in evaluate()."""
    row = row_of(IRM(UNDEFINED, system="system", undefined=rule), "ap")
    fill = 1 if rule == "one" else 0
    assert (row["n"], row["value"], row["baseline_value"]) == (4, (2 + 2 * fill) / 4, (3 + fill) / 4)
    assert row["n_undefined"] == 2


def test_decisions_are_compared_query_by_query() -> None:
    """Measures of the 2x2 table of decisions are paired by query as well."""
    frame = pl.DataFrame(
        {
            "query": [1, 1, 2, 2] * 2,
            "system": ["a"] * 4 + ["b"] * 4,
            "label": [1, 0, 1, 0] * 2,
            "predicted": [1, 0, 0, 0, 1, 1, 1, 0],
        }
    )
    irm = IRM(frame, query="query", system="system", label="label", predicted="predicted")
    each = irm.compare("accuracy", per_query=True)
    assert each.select("query", "value", "baseline_value").sort("query").rows() == [(1, 0.5, 1.0), (2, 1.0, 0.5)]
    assert row_of(irm, "accuracy")["value"] == 0.75


# Query by query


@SETS
def test_differences_by_query_make_up_the_mean(irm: Any) -> None:
    """Differences by query have the comparison's mean, wins and ties, and stand greatest first."""
    each = irm().compare(*METRICS, per_query=True)
    system = "run" if irm is products else "system"
    keys = [*(["part"] if irm is features else []), system, "baseline", "metric", "k"]
    sums = each.group_by(keys, maintain_order=True).agg(
        pl.col("value", "baseline_value", "difference").mean(),
        wins=(pl.col("difference") > 0).sum().cast(pl.Int64),
        ties=(pl.col("difference") == 0).sum().cast(pl.Int64),
        n=pl.len().cast(pl.Int64),
        sorted=(pl.col("difference").abs().diff().fill_null(0) <= 0).all(),
    )
    assert sums["sorted"].all()
    whole = irm().compare(*METRICS, test="sign")
    assert sums.select(keys).equals(whole.select(keys))
    assert sums.select("wins", "ties", "n").equals(whole.select("wins", "ties", "n"))
    for name in ("value", "baseline_value", "difference"):
        np.testing.assert_allclose(sums[name].to_numpy(), whole[name].to_numpy(), rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(each["difference"].to_numpy(), (each["value"] - each["baseline_value"]).to_numpy())


def test_the_queries_that_moved_the_mean_stand_first() -> None:
    """The greatest difference, up or down, stands first, with its query, also where a query has two columns."""
    frame = made({"a": [1, 9, 3, 4], "b": [3, 2, 3, 7]}).with_columns(part=pl.col("query").str.tail(1).cast(pl.Int64))
    each = IRM(frame, query=["part", "query"], system="system", doc="doc").compare("cg", per_query=True)
    assert each.select("part", "query", "difference").rows() == [
        (1, "q001", -7.0),
        (3, "q003", 3.0),
        (0, "q000", 2.0),
        (2, "q002", 0.0),
    ]


def test_queries_that_are_left_out_are_not_listed() -> None:
    """With unanswered="drop" the queries that one system does not answer are not among the differences."""
    assert of(UNANSWERED).compare("cg", per_query=True).height == 6
    dropped = of(UNANSWERED)(unanswered="drop").compare("cg", per_query=True)
    assert dropped["query"].to_list() == ["q002", "q000", "q004"]


def test_judged_queries_keep_their_names() -> None:
    """A query that stands only in the judgments is listed by its name."""
    run = pl.DataFrame({"system": ["a", "b"], "query": ["q", "q"], "doc": ["x", "y"], "score": [1.0, 1.0]})
    qrels = pl.DataFrame({"query": ["q", "r"], "doc": ["x", "z"], "grade": [1, 1]})
    each = IRM(run, system="system", doc="doc").judge(qrels).compare("rr", per_query=True)
    assert each.select("query", "difference").rows() == [("q", -1.0), ("r", 0.0)]


# Laws


VALUES = st.lists(st.tuples(*[st.integers(0, 20).map(float)] * 3), min_size=2, max_size=10)
LAWS = examples(15)


def as_values(drawn: list[tuple[float, ...]], test: str = "") -> dict[str, Sequence[float | None]]:
    """The values of three systems; for wilcoxon of five queries at most, as scipy tries all signs of small samples."""
    rows = drawn[:5] if test == "wilcoxon" else drawn
    return dict(zip("abc", (list(column) for column in zip(*rows, strict=True)), strict=True))


def may_be_null(row: dict[str, Any], test: str) -> bool:
    """Whether a row may have no interval or mde: no flip of so few is rare enough, or all differences are equal."""
    least = 2 * row["n_tests"] / 2 ** row["n"]  # the least p-value of flips, with Holm's correction
    return (test not in ("t", "bootstrap") and least > 0.05) or row["effect_size"] is None


@pytest.mark.parametrize("test", TESTS)
@LAWS
@given(drawn=VALUES)
def test_swapping_system_and_baseline_changes_the_sign_only(test: str, drawn: list[tuple[float, ...]]) -> None:
    """The other way round the difference, its interval and its effect have the other sign, and p is the same."""
    values = as_values(drawn, test)
    there, back = (
        row_of(of({first: values["a"], second: values["b"]}), test=test, permutations=200, resamples=200)
        for first, second in (("x", "y"), ("y", "x"))
    )
    close = {"rel": 1e-9, "abs": 1e-12}
    for one, other in (("difference", "difference"), ("ci_low", "ci_high"), ("effect_size", "effect_size")):
        assert (there[one] is None) == (back[other] is None)
        assert there[one] is None or there[one] == pytest.approx(-back[other], **close)
    assert there["value"] == back["baseline_value"]
    assert (there["wins"], there["ties"], there["losses"]) == (back["losses"], back["ties"], back["wins"])
    if there["mde"] is None:
        assert back["mde"] is None
        assert may_be_null(there, test)
    else:
        assert there["mde"] == pytest.approx(back["mde"], **close)
    assert there["p_value"] == pytest.approx(back["p_value"], **close)


@pytest.mark.parametrize("test", ["randomization", "t", "wilcoxon", "sign"])
@LAWS
@given(drawn=VALUES, seed=st.integers(0, 100))
def test_the_order_of_rows_does_not_matter(test: str, drawn: list[tuple[float, ...]], seed: int) -> None:
    """Rows in another order give the same comparison, where every flip is counted."""
    frame = made(as_values(drawn, test))
    drop = ("ci_low", "ci_high")
    first, second = (
        IRM(rows, system="system", doc="doc").compare("cg", test=test).drop(drop)  # type: ignore[arg-type]
        for rows in (frame, frame.sample(fraction=1, shuffle=True, seed=seed))
    )
    for one, other in zip(first.iter_rows(named=True), second.iter_rows(named=True), strict=True):
        assert same_rows(one, other)


@pytest.mark.parametrize("test", TESTS)
@LAWS
@given(drawn=VALUES, power=st.integers(-3, 3), constant=st.integers(0, 8))
def test_scale_and_origin_do_not_matter(test: str, drawn: list[tuple[float, ...]], power: int, constant: int) -> None:
    """A constant added to both systems changes no difference; a factor changes it alike, and no p-value."""
    values, factor = as_values(drawn, test), 2.0**power
    both: list[dict[str, Sequence[float | None]]] = [
        {name: values[name] for name in "ab"},
        {name: [factor * (v + constant) for v in values[name] if v is not None] for name in "ab"},
    ]
    first, second = (row_of(of(one), test=test, permutations=200, resamples=200) for one in both)
    for name in ("difference", "ci_low", "ci_high", "mde"):
        if first[name] is None:
            assert second[name] is None
            assert may_be_null(first, test)
            continue
        assert second[name] == pytest.approx(factor * first[name], rel=1e-9, abs=1e-12)
    names = ("p_value", "p_adjusted", "effect_size", "wins", "ties", "losses", "n")
    assert same_rows({name: first[name] for name in names}, {name: second[name] for name in names})


@pytest.mark.parametrize("test", TESTS)
@LAWS
@given(drawn=VALUES)
def test_numbers_keep_within_their_bounds(test: str, drawn: list[tuple[float, ...]]) -> None:
    """p-values are above 0 and up to 1, corrected ones no less, intervals in order, and counts add up."""
    values = as_values(drawn, test)
    found = of(values).compare("cg", test=test, permutations=200, resamples=200)  # type: ignore[arg-type]
    for row in found.iter_rows(named=True):
        assert row["p_value"] > 0 or (test == "t" and row["effect_size"] is None)
        assert row["p_value"] <= row["p_adjusted"] <= 1
        assert row["ci_low"] is not None or may_be_null(row, test)
        assert row["ci_low"] is row["ci_high"] is None or row["ci_low"] <= row["ci_high"]
        assert row["wins"] + row["ties"] + row["losses"] == row["n"] == len(values["a"])
        assert row["difference"] == pytest.approx(row["value"] - row["baseline_value"], abs=1e-9)
        assert row["mde"] is not None or may_be_null(row, test)
        assert row["mde"] is None or row["mde"] >= 0


# Plans


def plans() -> Iterator[tuple[str, IRM[pl.LazyFrame], dict[str, Any]]]:
    """Lazy comparisons of several shapes."""
    frame = made(noisy(6, systems=3), part=["x", "y", None] * 2, day=[1, 2, 3] * 2).lazy()
    enum = frame.with_columns(system=pl.col("system").cast(pl.Enum(["c", "b", "a"])))
    qrels = pl.DataFrame({"query": ["q000", "q900"], "doc": ["a in 0", "z"], "grade": [1, 1]})
    yield "plain", IRM(frame, system="system", doc="doc"), {}
    yield "by", IRM(frame, system="system", doc="doc", by=["part", "day"]), {}
    yield "enum", IRM(enum, system="system", doc="doc"), {"baseline": "b"}
    yield "judged", IRM(frame.drop("grade"), system="system", doc="doc").judge(qrels), {}
    yield "two query columns", IRM(frame, query=["day", "query"], system="system", doc="doc"), {}


@pytest.mark.parametrize("more", [{}, {"per_query": True}, {"test": "sign"}], ids=str)
@pytest.mark.parametrize(("irm", "options"), [p[1:] for p in plans()], ids=[p[0] for p in plans()])
def test_the_schema_of_a_plan_is_that_of_its_result(
    irm: IRM[pl.LazyFrame], options: dict[str, Any], more: dict[str, Any]
) -> None:
    """A lazy comparison knows its columns and types before anything is read."""
    plan = irm.compare("cg", "precision@2", **options, **more)
    assert isinstance(plan, pl.LazyFrame)
    assert plan.collect_schema() == plan.collect().schema


# Errors


TWO: dict[str, Sequence[float | None]] = {"a": [1], "b": [2]}
PAIR = made(TWO)
DECIDED = PAIR.with_columns(label=pl.lit(1), predicted=pl.lit(0)).drop("score", "grade")


def unread() -> IRM[Any]:
    """Return what compares the systems of a plan that cannot be run."""
    plan = PAIR.lazy().map_batches(lambda _: pytest.fail("the plan was run"), schema=PAIR.schema)
    return IRM(plan, system="system", doc="doc")


REFUSALS = r"""
of({"only": [1, 2]}).compare("cg")
    NotComputableError: system has one system, 'only'; two are needed to compare
IRM(PAIR.clear(), system="system", doc="doc").compare("cg")
    NotComputableError: system has no systems, as the frame has no rows; two are needed to compare
IRM(PAIR.drop("doc")).compare("cg")
    ColumnError: compare() pairs systems query by query; name their column with system='system', or give what
        per_query() returned of another one, as baseline=saved; parts of the traffic with queries of their own, as arm=,
        are compared by ab_test() and change()
    but: of(TWO).compare("cg")
    but: IRM(PAIR.drop("doc"), system="system").compare("cg")
of({"bm25": [1], "vector": [2]}).compare("cg", baseline="bm52")
    BadValueError: baseline='bm52' is not among the systems of system: 'bm25', 'vector'; did you mean 'bm25'?
of({"bm25": [1], "vector": [2]}).compare("cg", baseline=7)
    BadValueError: baseline=7 is not among the systems of system: 'bm25', 'vector'
of(TWO).compare("cg", baseline=[])
    BadValueError: baseline=[] names no system; name one, or pass baseline=None for all pairs
of(TWO).compare("cg", baseline=["a", "a"])
    BadValueError: baseline=['a', 'a'] names a system twice; name each once
of(TWO).compare("cg", baseline=["b", "a"])
    BadValueError: baseline=['b', 'a'] names every system of system; leave one out, or pass baseline=None for all pairs
of(TWO).compare("cg", baseline=["a", "c"])
    BadValueError: baseline='c' is not among the systems of system: 'a', 'b'
of(TWO).compare("cg", baseline=np.array(["a", "b"]))
    BadValueError: baseline=<numpy.ndarray> is not among the systems of system: 'a', 'b'
of(TWO).compare("cg", baseline=pl.Series(["a"]))
    BadValueError: baseline=<polars.Series> is not among the systems of system: 'a', 'b'
    but: of(TWO).compare("cg", baseline=["a"])
unread().compare("cg", test="tukey")
    UnknownNameError: test='tukey' is no test any more: correction='max_t', the default, tests all pairs together, with
        intervals that hold together; leave test= out
    but: of(TWO).compare("cg", correction="max_t")
unread().compare("cg", test="t", correction="max_t")
    NotComputableError: correction='max_t' applies to tests that flip the signs of differences of queries, or
        exchange the units of arms, and test='t' flips none; pass test='randomization', or pass correction='holm'
    but: of(TWO).compare("cg", test="randomization", correction="max_t")
    but: of(TWO).compare("cg", test="sign", correction="holm")
of(TWO).compare("cg", test="mcnemar_mid_p")
    NotComputableError: test='mcnemar_mid_p' applies to values of 0 and 1, and cg has others; pass
        test='randomization'
    but: of(TWO).compare("success@1", test="mcnemar_mid_p")
unread().compare("cg", test="ttest")
    UnknownNameError: test='ttest' is called 't' here
    but: of(TWO).compare("cg", test="t")
unread().compare("cg", test="anova")
    UnknownNameError: test='anova' is not one of 'randomization', 't', [...]
unread().compare("cg", test="wilcoxn")
    UnknownNameError: test='wilcoxn' is not one of [...]; did you mean 'wilcoxon'?
unread().compare("cg", test=7)
    UnknownNameError: test=7 is not one of [...]
unread().compare("cg", correction="fdr")
    UnknownNameError: correction='fdr' is not one of 'max_t', 'holm', 'bonferroni', 'bh', 'none'
unread().compare("cg", over="metrics")
    UnknownNameError: over='metrics' is not one of 'metric', 'all'; did you mean 'metric'?
unread()(unanswered="null")
    UnknownNameError: unanswered='null' is not one of 'zero', 'drop'
    but: of(TWO)(unanswered="drop").compare("cg", test="wilcoxon", correction="bh", over="all")
unread().compare("cg", unanswered="drop")
    ColumnError: unanswered= is set before compare(): search(unanswered='drop').compare(...), with your object for
        search
    but: of(TWO)(unanswered="drop").compare("cg")
unread().compare("cg", against=VALUE)
    for: "luck", True
    UnknownNameError: against=VALUE is not one of 'chance', 'majority'
    but: of(TWO).compare("cg", against=None)
unread().compare("cg", ci=VALUE)
    for: 0, 1, 95, True, None, float("nan")
    BadValueError: ci=VALUE is not a level between 0 and 1, as 0.95
    but: of(TWO).compare("cg", ci=0.999)
unread().compare("cg", ci=1 - 1e-16)
    BadValueError: ci=0.9999999999999999 is so near to 1 that floats cannot tell them apart; pass a lesser level
    but: of(TWO).compare("cg", ci=1 - 2.3e-16)
unread().compare("cg", permutations=VALUE)
    for: 0, 1e4, True
    BadValueError: permutations=VALUE is not a whole number from 1
unread().compare("cg", resamples=0)
    BadValueError: resamples=0 is not a whole number from 1
    but: of(TWO).compare("cg", permutations=1, resamples=1)
unread().compare("cg", seed=VALUE)
    for: -1, None
    BadValueError: seed=VALUE is not a whole number from 0
    but: of(TWO).compare("cg", seed=0)
unread().compare("cg", per_query=True, test="t")
    NotComputableError: test='t' applies to the difference of means; pass per_query=False
unread().compare("cg", per_query=True, correction="none")
    NotComputableError: correction='none' applies to the difference of means; pass per_query=False
unread().compare("cg", per_query=True, over="all")
    NotComputableError: over='all' applies to the difference of means; pass per_query=False
unread().compare("cg", per_query=True, ci=0.9)
    NotComputableError: ci=0.9 applies to the difference of means; pass per_query=False
    but: of(TWO)(unanswered="drop").compare("cg", per_query=True, seed=1)
of(TWO).compare("ndgc")
    UnknownNameError: there is no metric 'ndgc'; did you mean 'ndcg'?
of(TWO).compare("cg", "cg")
    BadValueError: 'cg' is asked for twice
of(TWO).compare()
    BadValueError: no metric was asked for; name one, as 'ndcg@10'
IRM(UNDEFINED, system="system").compare("gm_map")
    NotComputableError: gm_map is an average, and compare() needs metrics of single queries
    but: IRM(UNDEFINED, system="system").compare("map", "cg")
IRM(DECIDED, query="query", system="system", label="label", predicted="predicted").compare("rand_index")
    NotComputableError: rand_index has one value for the rows of a segment, and none for a query;[...]
    but: IRM(DECIDED, query="query", system="system", label="label", predicted="predicted").compare("accuracy")
IRM(UNDEFINED, system="system", undefined="raise").compare("ap")
    NotComputableError: ap is undefined for 3 of 8 queries
    but: IRM(UNDEFINED, system="system", undefined="raise").compare("cg")
"""


def test_what_cannot_be_compared() -> None:
    """What is asked of systems that there are not, or by options that there are not, is refused."""
    check(REFUSALS, globals())


@pytest.mark.parametrize("part", ["system", "by", "query"])
def test_a_column_of_the_result_cannot_be_a_key(part: str) -> None:
    """A system, segment or query whose column is called as one of the result's is an error."""
    roles: dict[str, Any] = {"system": "system", "by": "part", "query": "query", "doc": "doc"}
    for name in ("baseline", "metric", "k", "difference", "p_value", "n_unpaired", "mde", "test"):
        frame = made(TWO, part=["x"]).rename({roles[part]: name})
        said = error(lambda frame=frame, name=name: IRM(frame, **roles | {part: name}).compare("cg"), ColumnError)
        assert said == f"{name!r} is a column of the result as well; rename the frame's column"


@pytest.mark.parametrize("test", ["t", "wilcoxon", "sign"])
def test_a_test_of_scipy_says_how_to_install_it(test: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without scipy its tests are an error with the command that installs it."""
    monkeypatch.setitem(sys.modules, "scipy", None)
    said = error(lambda: of({"a": [1, 2], "b": [2, 4]}).compare("cg", test=test), NotComputableError)  # type: ignore[arg-type]
    assert said == f"test={test!r} needs scipy, which is not installed: pip install scipy"


@pytest.mark.parametrize("test", DRAWN)
def test_what_is_drawn_needs_no_scipy(test: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other tests do without scipy."""
    monkeypatch.setitem(sys.modules, "scipy", None)
    assert row_of(of({"a": [1, 2], "b": [2, 4]}), test=test)["p_value"] > 0


@pytest.mark.parametrize(("queries", "permutations"), [(3, 1000), (4, 1000), (20, 9), (20, 18)])
def test_too_few_flips_have_no_interval_of_a_family(queries: int, permutations: int) -> None:
    """It is all that the metric allows, or null without ends, as what few flips say does not hold together."""
    values = np.clip(np.random.default_rng(12).normal(0.5, 0.1, (3, queries)), 0, 1)
    log = {name: own.tolist() for name, own in zip("abc", values, strict=True)}
    found = of(log).compare("cg", permutations=permutations)
    assert found["ci_low"].null_count() == found["mde"].null_count() == 3
    rows = pl.DataFrame({"system": np.repeat([*"abc"], queries), "query": [*range(queries)] * 3, "rr": values.ravel()})
    ends = rows.irm(system="system", value="rr").compare(permutations=permutations).select("ci_low", "ci_high")
    assert ends.rows() == [(-1, 1)] * 3
    five = rows.filter(pl.col("query") < 3).irm(system="system", value="rr").compare(ci=0.5)
    assert five["ci_high"].max() < 1


PERCENT = ([10.0, 20, 30, 40, 50], [60.0, 50, 70, 88, 90])


def of_pair(name: str, *systems: Any, **columns: Any) -> IRM[pl.DataFrame]:
    """Saved numbers of systems, with these columns of queries."""
    each = [
        pl.DataFrame({"system": i, "query": range(len(one)), name: one, **columns}) for i, one in enumerate(systems)
    ]
    return pl.concat(each).irm(system="system", value=name, **{role: role for role in columns})  # type: ignore[arg-type]


def test_values_beyond_the_range_of_their_name_have_none() -> None:
    """Percent in a column precision@5 are compared as numbers without a range are."""
    for more in ([], [[5.0, 6, 9, 1, 2]]):
        known, other = (
            of_pair(name, *PERCENT, *more).compare(baseline=0).drop("metric", "k")
            for name in ("precision@5", "latency")
        )
        assert_frame_equal(known, other)
        assert known["ci_low"][0] < known["difference"][0] < known["ci_high"][0]


def test_an_mde_beyond_all_differences_is_null() -> None:
    """No difference of shares is above 1, so that none is the least that few clusters would detect."""
    rng = np.random.default_rng(3)
    values = (rng.random((3, 12)) < 0.5).astype(float)
    found = of_pair("rr", *values, cluster=np.repeat(np.arange(6), 2)).compare()
    assert found["mde"].null_count() or found["mde"].max() <= 1
    weight = np.r_[1e6, 1e6, np.ones(10)]
    assert of_pair("rr", *values[:2], weight=weight).compare()["mde"].to_list() == [None]


@pytest.mark.parametrize("systems", [2, 3])
@pytest.mark.parametrize("size", [-700, 700])
def test_numbers_of_any_size_are_compared(systems: int, size: int) -> None:
    """Squares of huge and of tiny numbers are no floats: all that is said is as of usual numbers."""
    values = np.random.default_rng(4).random((systems, 12))
    scaled = ("value", "baseline_value", "difference", "ci_low", "ci_high", "mde")
    for more in ({}, {"weight": np.arange(1.0, 13)}):
        usual, other = (
            of_pair("latency", *own, **more).compare(resamples=200) for own in (values, np.ldexp(values, size))
        )
        assert_frame_equal(other.with_columns(pl.col(*scaled) * 2.0**-size), usual, rel_tol=1e-12)


@pytest.mark.parametrize("n", [3, 12])
def test_differences_that_are_all_equal_show_no_variance(n: int) -> None:
    """They have no interval and no mde; what the test says of them stays."""
    base = np.arange(n) / 32
    rows = {"system": ["a"] * n + ["b"] * n, "query": [*range(n)] * 2, "rr": [*base, *(base + 0.5)]}
    row = pl.DataFrame(rows).irm(system="system", value="rr").compare().row(0, named=True)
    assert (row["difference"], row["p_value"]) == (0.5, 2 / 2**n)
    assert {row[name] for name in ("ci_low", "ci_high", "mde")} == {None}


def test_wins_and_losses_have_one_p_value() -> None:
    """McNemar's mid-p is the same to the last bit whichever system is named first."""
    for wins, losses in product(range(12), repeat=2):
        assert mid_p(wins, losses) == mid_p(losses, wins)


def test_dropping_leaves_out_what_only_one_of_two_answers() -> None:
    """So are judged queries that neither answers; each pair rests on its own queries."""
    run = pl.DataFrame({"system": ["a", "b"], "query": ["q", "q"], "doc": ["x", "y"], "score": [1.0, 1.0]})
    qrels = pl.DataFrame({"query": ["q", "r"], "doc": ["x", "z"], "grade": [1, 1]})
    found = IRM(run, system="system", doc="doc", unanswered="drop").judge(qrels).compare("rr")
    assert found.select("n", "ties", "n_unpaired", "n_unanswered").rows() == [(1, 0, 0, 1)]
    values = {"a": [1, 2, 3, 4], "b": [2, 3, 4, 6], "c": [1, None, None, 4]}
    assert of(values)(unanswered="drop").compare("cg")["n"].to_list() == [4, 2, 2]


def test_queries_that_no_system_answers_are_zero_for_both_or_left_out() -> None:
    """As those that one system answers, in the differences as in their mean."""
    run = pl.DataFrame({"system": ["a", "b"], "query": [1, 1], "doc": ["x", "y"], "score": [1.0, 1.0]})
    qrels = pl.DataFrame({"query": [1, 2], "doc": ["x", "x"], "grade": [1, 1]})
    irm = run.irm(system="system").judge(qrels)
    for rule, queries in (("zero", [1, 2]), ("drop", [1])):
        told = irm(unanswered=rule)
        assert told.compare("rr")["n"].to_list() == [len(queries)]
        assert told.compare("rr", per_query=True)["query"].to_list() == queries


def test_queries_with_equal_differences_do_not_stand_in_the_order_of_the_frame() -> None:
    """They stand in that of their ids, whichever rows come first."""
    rows = {"query": ["q1", "q1", "q2", "q2", "q3", "q3"] * 2, "doc": ["a", "b"] * 6, "label": [1, 0] * 6}
    log = pl.DataFrame(rows | {"system": ["A"] * 6 + ["B"] * 6, "score": [2, 1] * 3 + [1, 2] * 3})
    for frame in (log, log[::-1]):
        found = frame.irm(system="system").compare("rr", baseline="B", per_query=True)
        assert found["query"].to_list() == ["q1", "q2", "q3"]
