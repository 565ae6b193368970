"""What lists show beside relevance, against plain Python: all lists together, popularity, and groups."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from functools import cache
from itertools import product
from math import inf, log2
from statistics import fmean
from typing import Any

import polars as pl
import polars.testing as pl_testing
import pytest

from frame_metrics import IRM, BadValueError, ColumnError, FrameMetricsError, NotComputableError, Ranking, metric
from helpers import KINDS, as_kind, as_polars, error
from inside import in_pieces, n_different, read_text, small_blocks, threads

TOGETHER = ("catalogue_coverage@2", "distributional_coverage@3", "catalogue_gini@2", "distributional_coverage@9")
EACH = ("novelty@2", "average_popularity", "exposure_share(of='a')@2", "exposure_share(of='b', attention='equal')")
ASKED = (*TOGETHER, *EACH)
SIZE = 15
CHOSEN = {f"d{i:02}": i % 4 for i in range(SIZE - 2)}  # the last two were never chosen
ROLES: dict[str, Any] = {"system": "run", "by": "day", "catalogue": SIZE, "popularity": CHOSEN, "group": "side"}
RANKED = ROLES | {"query": "query", "doc": "doc", "score": "score"}


@cache
def log(seed: int = 0) -> pl.DataFrame:
    """Lists of two systems with equal scores and documents that were not retrieved; each lacks some queries."""
    rng, rows = random.Random(seed), []
    for run, query in product("pq", range(14)):
        if rng.random() < 0.85:
            for doc in rng.sample(range(SIZE), rng.randint(1, 6)):
                score = None if rng.random() < 0.1 else rng.randint(0, 3) / 4
                rows.append((run, query, "xy"[query % 2], query % 3, query // 3, f"d{doc:02}", score, "abc"[doc % 3]))
    names = ["run", "query", "day", "weight", "user", "doc", "score", "side"]
    return pl.DataFrame(rows, schema=names, orient="row").with_columns(side=pl.col("side").replace("c", None))


Results = dict[tuple[Any, ...], list[tuple[str, Any]]]  # documents and their sides in rank order, by list


def lists(frame: pl.DataFrame) -> Results:
    """The lists of a log, equal scores by document from the last to the first."""
    found: Results = defaultdict(list)
    rows = frame.drop_nulls("score").sort("score", "doc", descending=True)
    for row in rows.iter_rows(named=True):
        found[row["run"], row["day"], row["query"]].append((row["doc"], row["side"]))
    return found


def of_all(name: str, shown: list[list[str]], weights: list[float]) -> float:
    """A metric of all lists together, on documents and the weights of their lists."""
    counts: Counter[str] = Counter()
    for docs, weight in zip(shown, weights, strict=True):
        for doc in docs:
            counts[doc] += weight  # type: ignore[assignment]
    share = [n / sum(counts.values()) for n in counts.values() if n]
    if name == "catalogue_coverage":
        return len(share) / SIZE
    if name == "distributional_coverage":
        return -sum(p * log2(p) for p in share)
    rising = sorted(share + [0.0] * (SIZE - len(share)))
    return sum((2 * j - SIZE - 1) * p for j, p in enumerate(rising, 1)) / (SIZE - 1)


def of_one(name: str, docs: list[tuple[str, Any]]) -> float:
    """A metric of one list."""
    total = sum(CHOSEN.values())
    if name == "novelty":
        return fmean(-log2(max(CHOSEN.get(doc, 0), 1) / total) for doc, _ in docs)
    if name == "average_popularity":
        return fmean(CHOSEN.get(doc, 0) for doc, _ in docs)
    side, attention = (
        ("b", [1.0] * len(docs)) if "equal" in name else ("a", [1 / log2(r + 2) for r in range(len(docs))])
    )
    return sum(v for v, (_, own) in zip(attention, docs, strict=True) if own == side) / sum(attention)


def plain(frame: pl.DataFrame, weighted: bool = False) -> list[tuple[Any, ...]]:
    """The rows of evaluate(): system, segment, metric, value, n."""
    found, out = lists(frame), []
    weight = dict(frame.select("query", "weight").iter_rows())
    for run, day in product("pq", "xy"):
        mine = [(query, docs) for (r, d, query), docs in found.items() if (r, d) == (run, day)]
        for name in ASKED:
            ((_, metric),) = read_text(name)
            cut = [docs[: metric.k or 99] for _, docs in mine]
            each = [float(weight[query]) if weighted else 1.0 for query, _ in mine]
            if name in TOGETHER:
                value = of_all(metric.name, [[doc for doc, _ in docs] for docs in cut], each)
            else:
                value = sum(w * of_one(name.partition("@")[0], docs) for w, docs in zip(each, cut, strict=True)) / sum(
                    each
                )
            out.append((run, day, name, value, len(mine)))
    return out


def rows_of(irm: Any, *asked: str) -> list[tuple[Any, ...]]:
    """The same rows of the package."""
    found = as_polars(irm.evaluate(*(asked or ASKED))).select("run", "day", "metric", "value", "n")
    return sorted(found.rows(), key=lambda row: (*row[:2], (asked or ASKED).index(row[2])))


def same(mine: list[tuple[Any, ...]], other: list[tuple[Any, ...]]) -> None:
    assert [(*row[:3], row[4]) for row in mine] == [(*row[:3], row[4]) for row in other]
    assert [row[3] for row in mine] == pytest.approx([row[3] for row in other], abs=1e-12)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("weighted", [False, True])
def test_values_are_those_of_plain_python(seed: int, weighted: bool) -> None:
    """Of each system in each segment, with lists that count by the weights of their queries, and at once or alone."""
    irm = log(seed).irm(**RANKED, weight="weight" if weighted else None)
    same(rows_of(irm), plain(log(seed), weighted))
    for name in ASKED:
        same(rows_of(irm, name), [row for row in plain(log(seed), weighted) if row[2] == name])


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_frame_has_them(kind: str) -> None:
    """Frames of popularity and of the catalogue are of any kind too; a catalogue names documents that no list shows."""
    chosen = as_kind(pl.DataFrame({"doc": [*CHOSEN], "popularity": [*CHOSEN.values()]}), kind)
    items = as_kind(pl.DataFrame({"doc": [f"d{i:02}" for i in range(SIZE)] * 2}), kind)
    irm = IRM(as_kind(log(), kind), **RANKED | {"popularity": chosen, "catalogue": items})
    same(rows_of(irm), plain(log()))


@pytest.mark.slow
@pytest.mark.parametrize("beside", [False, True])
def test_pieces_blocks_threads_and_the_order_of_rows_change_nothing(beside: bool) -> None:
    """Whether lists are judged or not: all count."""
    whole = log(3).irm(**RANKED)
    if beside:
        whole = whole.judge(log(3).filter(pl.col("query") < 5).select("query", "doc").unique(), label=True)
    expected = whole.evaluate(*TOGETHER, margins=True)
    same([row for row in plain(log(3)) if row[2] in TOGETHER], rows_of(whole, *TOGETHER))
    mixed, sorted_log = (one.irm(**RANKED) for one in (log(3).sample(fraction=1, shuffle=True, seed=1), log(3)))
    assert mixed.evaluate(*TOGETHER, margins=True).equals(sorted_log.evaluate(*TOGETHER, margins=True))
    pl_testing.assert_frame_equal(mixed.evaluate(*EACH), sorted_log.evaluate(*EACH), abs_tol=1e-12)
    with small_blocks(4), threads(3):
        assert whole.evaluate(*TOGETHER, margins=True).equals(expected)
    cut = [name.replace("@9", "@8") for name in TOGETHER]
    pl_testing.assert_frame_equal(in_pieces(whole).evaluate(*cut).collect(), whole.evaluate(*cut))


def test_pieces_have_all_that_one_frame_has() -> None:
    """Popularity and groups of each list, whole lists, and p-values of exchanged lists."""
    whole = log(5).filter(pl.col("query") < 6).irm(**RANKED)
    every = (*ASKED, "item_entropy", "catalogue_coverage")
    pl_testing.assert_frame_equal(in_pieces(whole).evaluate(*every).collect(), whole.evaluate(*every))
    asked, few = (TOGETHER[0], EACH[0]), {"permutations": 200, "resamples": 50}
    pl_testing.assert_frame_equal(in_pieces(whole).compare(*asked, **few).collect(), whole.compare(*asked, **few))
    assert "no document belongs to 'z' in side" in error(lambda: in_pieces(whole).evaluate("exposure_share(of='z')"))


def test_totals_are_of_all_lists_and_no_means_of_segments() -> None:
    """A total is the call without the column, and coverage more than that of any segment."""
    irm = log().irm(**RANKED)
    total = irm.evaluate(*ASKED, margins=True).filter(total_over="day").drop("total_over", "day")
    pl_testing.assert_frame_equal(total, irm(by=None).evaluate(*ASKED), abs_tol=1e-12)
    parts = irm.evaluate("item_coverage").filter(run="p")["value"]
    assert irm(by=None).evaluate("item_coverage").filter(run="p")["value"].item() >= parts.max()


def test_lists_in_rows_and_columns_of_systems_are_read_as_rows_are() -> None:
    """A row may be a whole list, and each system a column."""
    flat = (
        log()
        .filter(pl.col("run") == "p")
        .drop_nulls("score")
        .sort("query", "score", "doc", descending=[False, True, True])
    )
    plain_roles = {"query": "query", "catalogue": SIZE, "popularity": CHOSEN, "group": "side", "doc": "doc"}
    nested = flat.group_by("query", maintain_order=True).agg("doc", "side")
    expected = flat.irm(**plain_roles, score="score").evaluate(*ASKED)["value"].to_list()
    assert nested.irm(**plain_roles).evaluate(*ASKED)["value"].to_list() == pytest.approx(expected)
    two = flat.with_columns(other=-pl.col("score"))
    of_two = two.irm(**plain_roles, score=["score", "other"]).evaluate(*ASKED)
    assert of_two.filter(system="score")["value"].to_list() == pytest.approx(expected)
    alone = two.irm(**plain_roles, score="other").evaluate(*ASKED)["value"].to_list()
    assert of_two.filter(system="other")["value"].to_list() == pytest.approx(alone)


def test_judgments_decide_which_queries_a_mean_is_over_and_not_which_lists_are_shown() -> None:
    """Novelty is of judged queries, beside recall; coverage of all lists; without any judgment all are evaluated."""
    rows = {"query": [1, 1, 2, 2], "doc": [*"abcd"], "score": [2.0, 1.0] * 2}
    irm = pl.DataFrame(rows).irm(catalogue=4, popularity={"a": 1, "b": 1, "c": 2, "d": 4})
    asked = "novelty", "catalogue_coverage", "distributional_coverage"
    assert irm.evaluate(*asked)["value"].to_list() == pytest.approx([(3 + (2 + 1) / 2) / 2, 1, 2])
    judged = irm.judge(pl.DataFrame({"query": [1], "doc": ["a"], "grade": [1]}))
    found = judged.evaluate("recall", *asked)
    assert found["value"].to_list() == pytest.approx([1, 3, 1, 2])
    assert found["n"].to_list() == [1, 1, 2, 2]
    assert judged(unjudged_queries="count").evaluate("novelty")["value"].item() == pytest.approx((3 + 1.5) / 2)


def test_what_was_never_chosen_counts_as_what_was_chosen_least() -> None:
    """So its novelty is finite, and the highest; its popularity is 0. Shares in a column are taken as they are."""
    rows = {"query": [1, 1, 2], "doc": [*"xya"], "score": [2.0, 1.0, 1.0]}
    irm = pl.DataFrame(rows).irm(popularity={"a": 6, "b": 2, "y": 0})
    assert irm.per_query("novelty")["value"].to_list() == pytest.approx([2, -log2(6 / 8)])
    assert irm.per_query("arp")["value"].to_list() == [0, 6]
    shares = pl.DataFrame(rows | {"share": [0.25, 0.25, 0.75]}).irm(popularity="share")
    assert shares.per_query("novelty", "arp")["value"].to_list() == pytest.approx([2, 0.25, -log2(0.75), 0.75])
    days = pl.DataFrame({"doc": [*"aabby"], "popularity": [4, 2, 1, 1, 0]})  # rows of one document are added up
    assert irm(popularity=days).per_query("novelty").equals(irm.per_query("novelty"))
    same_shares = shares(popularity=pl.col("share") * 1)
    assert same_shares.per_query("novelty").equals(shares.per_query("novelty"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["popularity", "count", "counts", "len", "n", "frequency", "Count"])
def test_a_column_of_counts_says_how_often(name: str, kind: str) -> None:
    """Under the names that tools give it: value_counts(), group_by().len() and queries of databases."""
    irm = pl.DataFrame({"query": [1, 1], "doc": ["a", "b"], "score": [2.0, 1.0]}).irm
    counts = pl.DataFrame({"doc": [*"abcd"], name: [900, 90, 9, 1], "name": [*"wxyz"]})
    found = irm(popularity=as_kind(counts, kind)).per_query("novelty@1", "arp@2")["value"].to_list()
    assert found == pytest.approx([-log2(0.9), 495])


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"doc": ["a", "b"], "price": [1, 2]}, "popularity=: 'price' may hold how often each document was chosen"),
        ({"doc": ["a", "b"], "count": ["1", "2"]}, "popularity=: 'count' may hold how often"),
        ({"doc": ["a", "a"], "n": [1, 2], "count": [1, 2]}, "popularity=: 'n', 'count' may hold how often"),
        ({"doc": ["a", "b"], "popularity": ["1", "2"]}, "popularity: a popularity is a number"),
        ({"doc": ["a", "b", "b"], "price": [1, 2, 2]}, None),
        ({"doc": ["a", "b", "b"], "count": ["1", "2", "2"]}, None),
        ({"doc": ["a", "b", "b"], "n": ["x", "y", "y"], "len": [1, 1, 1]}, None),
        ({"doc": ["a", "b"], "popularity": [1, 2], "count": [7, 9], "price": [1, 2]}, None),
    ],
)
def test_numbers_beside_documents_are_no_silent_choice(columns: dict[str, list[Any]], said: str | None) -> None:
    """Rows are counted where documents repeat; where each stands once, other numbers may be what was meant."""
    irm = pl.DataFrame({"query": [1], "doc": ["b"], "score": [1.0]}).irm(popularity=pl.DataFrame(columns))
    if said is None:
        assert irm.evaluate("arp")["value"].item() == 2
    else:
        assert error(lambda: irm.evaluate("arp")).startswith(said)


def test_gini_is_refused_where_it_has_two_meanings() -> None:
    """That of the catalogue has other names, with a cutoff or without, and so has that of scores."""
    irm = log().with_columns(label=pl.col("query") % 2).irm(**RANKED, label="label")
    for name in ("gini", "Gini", "gini_coefficient"):
        said = error(lambda name=name: irm.evaluate(name))  # type: ignore[misc]
        assert said.startswith(f"{name!r} means two things with catalogue=: catalogue_gini")
        assert irm(catalogue=None).evaluate(name)["value"].equals(irm.evaluate("somers_d")["value"])
    assert irm.evaluate("gini@3")["value"].equals(irm.evaluate("catalogue_gini@3")["value"])


def test_names_of_what_lists_show_elsewhere_lead_to_ours() -> None:
    """Coverage of decisions is another metric, which is of no query."""
    irm = log().with_columns(label=pl.col("query") % 2).irm(**RANKED, label="label")
    led = "of what lists show there are catalogue_coverage, distributional_coverage and catalogue_gini"
    for name in ("coverage", "coverage@3", "Coverage at 3", "diversity@3", "diversity", "aggregate diversity@3"):
        assert error(lambda name=name: irm.evaluate(name)).endswith(led)  # type: ignore[misc]
    assert led in error(lambda: irm(catalogue=None).evaluate("coverage@3"))


def test_an_audit_needs_no_judgments_where_what_is_shown_is_looked_at() -> None:
    """Its findings are those of lists; without a word on what is shown, and of decisions, judgments are asked for."""
    frame = log().filter((pl.col("run") == "p") | (pl.col("query") < 5))
    irm = frame.irm(**RANKED)(by=None)
    found = irm.audit()
    judged = frame.with_columns(grade=pl.lit(1)).irm(**RANKED, grade="grade")(by=None).audit()
    beside = judged.filter(pl.col("check").is_in(found["check"].to_list()) & (pl.col("check") != "queries"))
    assert found.filter(pl.col("check") != "queries").equals(beside)
    assert {"lists that differ in number", "queries without results", "queries"} <= {*found["check"]}
    assert found.filter(check="queries")["n"].item() == frame["query"].n_unique()
    text = " ".join([*found["check"], *found["message"]])
    assert not {"judged", "relevant"} & {*text.replace("all, as nothing is judged", "").split()}
    pl_testing.assert_frame_equal(in_pieces(irm).audit().collect(), found)
    bad = pl.concat([frame, frame.head(1), frame.head(1).with_columns(score=float("nan"), doc=None)], how="vertical")
    assert {"scores that are NaN", "rows that repeat a document of their query"} <= {
        *bad.irm(**RANKED).audit().filter(severity="error")["check"]
    }
    for other in (irm(catalogue=None, popularity=None, group=None), irm(threshold=0.5)):
        assert "the label or grade is missing" in error(other.audit)


def test_summaries_without_judgments_are_of_each_list() -> None:
    """Coverage is of no query, so that a report of it alone asks for more."""
    irm = log().irm(**RANKED)(by=None)
    assert irm.summary()["sentence"][0].startswith(("No difference between", "novelty@10", "p ", "q "))
    assert "novelty@10" in irm.summary()["sentence"][0]
    assert error(irm(popularity=None).summary).startswith("nothing is judged; name label= or grade=, or ask")


def test_an_own_metric_may_call_its_column_as_a_role() -> None:
    """Beside a metric of ours that reads the role; and equal scores are an error in the words of the role."""

    @metric(range=(0, inf), best=None)
    def sold(run: Ranking, k: int | None = None) -> Any:
        """Sum of a column."""
        return run.total(run.column("popularity") * run.within(k))

    frame = log().with_columns(label=pl.lit(1), price=pl.lit(2.0)).drop_nulls("score")
    irm = frame.irm(**RANKED, label="label", extra={"popularity": "price"})(
        by=None, system=None, query=["query", "run"]
    )
    assert irm.evaluate("sold@1", "arp").rows()[0][3] == 2
    assert irm.evaluate("arp")["value"].item() == irm.evaluate("sold@1", "arp")["value"][1]
    assert "different popularities, or groups" in error(lambda: irm(ties="worst").evaluate("arp@2"))


def test_a_catalogue_of_one_document_has_no_gini() -> None:
    """All other lists of the segment are counted; undefined= says what it becomes."""
    irm = pl.DataFrame({"query": [1, 2], "doc": ["a", "a"], "score": [1.0, 1.0]}).irm(catalogue=1)
    asked = irm.evaluate("catalogue_gini", "item_coverage", "item_entropy").select("value", "n", "n_undefined")
    assert asked.rows() == [(None, 0, 1), (1, 2, 0), (0, 2, 0)]
    assert irm(undefined="zero").evaluate("catalogue_gini").select("value", "n", "n_undefined").row(0) == (0, 2, 1)
    assert "catalogue_gini is undefined for 1 of 1 segments" in error(
        lambda: irm(undefined="raise").evaluate("catalogue_gini")
    )


def test_a_segment_without_lists_keeps_its_row() -> None:
    """Judged queries that found nothing are no lists."""
    rows = {"query": [1], "day": ["x"], "doc": ["a"], "score": [1.0]}
    qrels = pl.DataFrame({"query": [1, 2], "day": ["x", "y"], "doc": ["a", "b"], "grade": [1, 1]})
    irm = pl.DataFrame(rows).irm(by="day", catalogue=2).judge(qrels)
    assert irm.evaluate("item_coverage").select("day", "value", "n").rows() == [("x", 0.5, 1), ("y", None, 0)]


def test_saved_numbers_may_be_called_as_metrics_of_all_lists() -> None:
    """As a coverage of each night: they are averaged as numbers from elsewhere are."""
    saved = pl.DataFrame({"night": [1, 2], "catalogue_coverage": [0.2, 0.4]})
    found = saved.irm(query="night", value="catalogue_coverage").evaluate(ci=0.9)
    assert found.select("metric", "average", "value", "n").row(0) == (
        "catalogue_coverage",
        "macro",
        pytest.approx(0.3),
        2,
    )


def exchanged(one: dict[int, list[str]], other: dict[int, list[str]], name: str) -> float:
    """The share of all ways to exchange lists that differ as much as what was seen."""
    queries = sorted({*one, *other})

    def difference(flips: tuple[int, ...]) -> float:
        sides: tuple[list[list[str]], list[list[str]]] = ([], [])
        for flip, query in zip(flips, queries, strict=True):
            sides[flip].append(one.get(query, []))
            sides[1 - flip].append(other.get(query, []))
        values = [of_all(name, side, [1.0] * len(side)) for side in sides]
        return abs(values[0] - values[1])

    seen = difference((0,) * len(queries))
    draws = [difference(flips) for flips in product((0, 1), repeat=len(queries))]
    return sum(draw >= seen - 1e-12 for draw in draws) / len(draws)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", ["catalogue_coverage", "distributional_coverage", "catalogue_gini"])
def test_systems_exchange_their_lists(name: str, seed: int) -> None:
    """The p-value is that of every exchange, query by query; it does not depend on which system comes first."""
    frame = log(seed).filter(pl.col("query") < 6)
    found: dict[str, dict[int, list[str]]] = {"p": {}, "q": {}}
    for (run, _, query), docs in lists(frame).items():
        found[run][query] = [doc for doc, _ in docs]
    irm = frame.irm(**RANKED)(by=None)
    (row,) = irm.compare(name, baseline="q").rows(named=True)
    assert row["p_value"] == pytest.approx(exchanged(found["p"], found["q"], name))
    assert row["value"] - row["baseline_value"] == pytest.approx(row["difference"])
    assert row["value"] == irm.evaluate(name).filter(run="p")["value"].item()
    assert row["n"] == len({*found["p"]} | {*found["q"]})
    assert row["n_unpaired"] == len({*found["p"]} ^ {*found["q"]})
    assert {row["ci_low"], row["wins"], row["mde"], row["effect_size"]} == {None}
    assert irm.compare(name, baseline="p")["p_value"].item() == row["p_value"]
    drawn = irm.compare(name, baseline="q", permutations=16)["p_value"].item()
    assert abs(drawn - row["p_value"]) < 0.5
    one, other = ({*frame.filter(run=run)["query"]} for run in "pq")  # with a row, which may have no result
    assert row["n_unanswered"] == len(one ^ other)
    both = irm(unanswered="drop").compare(name).row(0, named=True)
    assert both["n"] == len(({*found["p"]} | {*found["q"]}) & one & other)


def test_whole_users_exchange_their_lists() -> None:
    """With cluster= the lists of a user are exchanged together: of two users there are four ways."""
    rows = [(run, q, q // 2, f"{run if q else ''}{q}", 1.0) for run in "pq" for q in range(4)]
    frame = pl.DataFrame(rows, schema=["run", "query", "user", "doc", "score"], orient="row")
    irm = frame.irm(system="run", cluster="user", catalogue=9)
    assert irm.compare("distributional_coverage")["p_value"].item() == 1
    skewed = frame.with_columns(doc=pl.when(pl.col("run") == "p").then(pl.lit("z")).otherwise("doc"))
    assert skewed.irm(query="query", system="run", cluster="user").compare("item_entropy")["p_value"].item() == 0.5
    assert skewed.irm(query="query", system="run").compare("item_entropy")["p_value"].item() == 0.125


VERBS = {
    "per_query": lambda irm: irm.per_query("item_coverage"),
    "explain": lambda irm: irm.explain("item_coverage", query=1),
    "bounds": lambda irm: irm.bounds("item_coverage", of="unjudged"),
    "curve": lambda irm: irm.curve("item_coverage@k"),
    "sample_size": lambda irm: irm.sample_size("item_coverage", detect=0.1),
    "per_class": lambda irm: irm.per_class("item_coverage"),
    "ab_test": lambda irm: irm(system=None, arm="run").ab_test("item_coverage"),
    "change": lambda irm: irm(system=None, arm="run").change("item_coverage"),
    "compare_each": lambda irm: irm.compare("item_coverage", per_query=True),
    "compare_t": lambda irm: irm.compare("item_coverage", test="t"),
    "compare_sign": lambda irm: irm.compare("item_coverage", test="sign"),
    "thresholds": lambda irm: irm(query=None, score="score", label="label").thresholds("item_coverage"),
    "average": lambda irm: irm.evaluate("item_coverage", average="macro"),
    "interval": lambda irm: irm.evaluate("item_coverage", ci=0.9),
    "ties": lambda irm: irm(ties="worst").evaluate("item_coverage@3"),
    "condensed": lambda irm: irm(unjudged="drop").evaluate("item_coverage"),
    "catalogue": lambda irm: irm(catalogue=None).evaluate("item_coverage"),
    "rows": lambda irm: irm(query=None).evaluate("item_coverage"),
    "doc": lambda irm: irm(doc=None, catalogue=None).evaluate("item_entropy"),
}


@pytest.mark.parametrize("kind", ["polars", "lazy"])
@pytest.mark.parametrize("verb", VERBS)
def test_verbs_of_queries_refuse_metrics_of_all_lists(verb: str, kind: str) -> None:
    """Before anything is read, a plan that has not run too, and in words that say what such a metric is of."""
    frame = log().with_columns(label=pl.lit(1))
    irm = IRM(as_kind(frame, kind), **RANKED | {"label": "label", "by": None, "group": None, "popularity": None})
    with pytest.raises(FrameMetricsError) as caught:
        VERBS[verb](irm)
    assert "None" not in type(caught.value).__name__
    assert any(word in str(caught.value) for word in ("together", "item_coverage", "doc=", "query=")), str(caught.value)


@pytest.mark.parametrize(
    ("roles", "name", "cause", "words"),
    [
        (
            {"catalogue": 3},
            "item_coverage",
            BadValueError,
            "catalogue=3 documents, and the lists show 4 different ones",
        ),
        ({"catalogue": 0}, "item_coverage", BadValueError, "catalogue=0 is not a number of documents from 1"),
        ({"catalogue": pl.DataFrame({"id": ["a"]})}, "item_coverage", ColumnError, "and no column 'doc', as the log"),
        (
            {"catalogue": pl.DataFrame({"doc": [*"abc"]})},
            "item_coverage",
            BadValueError,
            "1 of 4 documents that the lists show are not in it, as 'd'",
        ),
        (
            {"catalogue": pl.DataFrame({"doc": [1, 2]})},
            "gini@1",
            BadValueError,
            "doc of catalogue= is Int64, and doc of the log is text; give both one type, "
            "integers if the texts have leading zeros",
        ),
        (
            {"catalogue": pl.DataFrame({"doc": [*"abcd", None]})},
            "item_coverage",
            BadValueError,
            "catalogue=: doc: 1 of 5 rows has no document (row 4)",
        ),
        ({"popularity": {"a": 1, None: 2}}, "arp", BadValueError, "popularity=: doc: 1 of 2 rows has no document"),
        ({}, "novelty", ColumnError, "novelty reads what popularity= says of a document; name it"),
        ({}, "exposure_share(of='a')", ColumnError, "reads what group= says of a document; name it"),
        ({"group": "side"}, "exposure_share", NotComputableError, "exposure_share needs of=, as in"),
        ({"group": "side"}, "exposure_share(of='z')", BadValueError, "no document belongs to 'z' in side"),
        ({"popularity": {"a": -1}}, "novelty", BadValueError, "not a mapping from documents to how often each was"),
        ({"popularity": {"a": 0}}, "novelty", BadValueError, "all popularities are 0"),
        (
            {"popularity": {1: 2}},
            "novelty",
            BadValueError,
            "doc of popularity= is Int64, and doc of the log is text; give both one type, "
            "integers if the texts have leading zeros",
        ),
        ({"popularity": "many"}, "novelty", BadValueError, "many: 4 of 4 rows are not between 0 and 1"),
        ({"popularity": "none"}, "novelty", BadValueError, "none: 1 of 4 rows is not above 0 (row 1); give what"),
        ({"popularity": "minus"}, "arp", BadValueError, "minus: 4 of 4 rows are negative"),
        ({"popularity": "gone"}, "arp", ColumnError, "there is no such column"),
        ({"catalogue": 9, "doc": None}, "recall", ColumnError, "catalogue= is about documents; name the document col"),
    ],
)
def test_what_is_said_of_documents_is_checked(roles: Any, name: str, cause: Any, words: str) -> None:
    """In the caller's words; a neighbouring call has a value."""
    rows = {"query": [1, 1, 2, 2], "doc": [*"abcd"], "score": [3.0, 2.0, 3.0, 2.0], "grade": [1, 0, 1, 1]}
    more = {
        "side": ["a", "b", "a", None],
        "none": [0.5, 0, 0.5, 0.5],
        "minus": [-1] * 4,
        "many": [2] * 4,
        "plus": [0.5] * 4,
    }
    irm = pl.DataFrame(rows | more).irm
    assert words in error(lambda: irm(**roles).evaluate(name), cause)
    good = irm(catalogue=4, popularity="plus", group="side")
    assert good.evaluate("item_coverage", "novelty", "arp", "exposure_share(of='a')")["value"].null_count() == 0


def test_documents_are_told_apart_in_a_type_that_holds_them_all() -> None:
    """The log's own may be too small for the catalogue."""
    rows = pl.DataFrame({"query": [1, 1], "doc": pl.Series([1, 2], dtype=pl.Int8), "score": [2.0, 1.0]})
    irm = rows.irm(catalogue=pl.DataFrame({"doc": [1, 2, 300, 400]}), popularity={1: 1, 300: 2, 400: 1})
    assert irm.evaluate("item_coverage", "novelty@1")["value"].to_list() == [0.5, 2]


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (pl.Datetime("ms"), pl.Datetime("ns")),
        (pl.Datetime("us", "UTC"), pl.Datetime("ms", "UTC")),
        (pl.Duration("us"), pl.Duration("ms")),
        (pl.Decimal(10, 1), pl.Decimal(20, 4)),
        (pl.Decimal(10, 1), pl.Float64),
        (pl.Int8, pl.UInt64),
        (pl.Categorical, pl.String),
        (pl.Categorical, pl.Categorical),
        (pl.String, pl.Enum([*"54321"])),
        (pl.Enum([*"123"]), pl.Enum([*"54321"])),
    ],
)
def test_documents_are_matched_in_the_types_in_which_judgments_are(ours: Any, theirs: Any) -> None:
    """Moments of other units, decimals of other scales, categories and texts."""
    text = pl.String() in (ours, theirs) or pl.Categorical() in (ours, theirs) or isinstance(ours, pl.Enum)

    def ids(numbers: list[int], kind: Any) -> pl.Series:
        held = pl.Series("doc", numbers, dtype=pl.Int64)
        if text:
            return held.cast(pl.String).cast(kind)
        units = {"ms": 1, "us": 1000, "ns": 10**6}
        return (held * units.get(getattr(kind, "time_unit", "ms"), 1)).cast(kind)

    rows = pl.DataFrame({"query": [1, 1, 2], "doc": ids([1, 2, 1], ours), "score": [2.0, 1.0, 3.0]})
    shown, often = ids([1, 2, 5, 4], theirs).to_frame(), [2, 1, 1, 4]
    irm = rows.irm(catalogue=shown, popularity=shown.with_columns(n=pl.Series(often)))
    names = ["item_coverage", "novelty@1", "arp"]
    assert irm.evaluate(names)["value"].to_list() == [0.5, 2.0, 1.75]
    judged = rows.irm.judge(shown.with_columns(query=1, grade=pl.Series([1, 0, 1, 0])))
    assert judged.evaluate("recall")["value"].to_list() == [0.5]


def test_documents_that_no_common_type_holds_are_refused() -> None:
    """As of judgments, of a catalogue and of what says how often each is chosen."""
    rows = pl.DataFrame({"query": [1], "doc": pl.Series([2**127], dtype=pl.UInt128), "score": [2.0]})
    shown = pl.DataFrame({"doc": [-1]})
    for said, name in (({"catalogue": shown}, "item_coverage"), ({"popularity": shown}, "arp")):
        words = error(lambda said=said, name=name: rows.irm(**said).evaluate(name), BadValueError)
        assert (
            words == f"doc of the log has ids that doc of {next(iter(said))}= (Int64) cannot hold; give both one type"
        )


def test_printed_names_read_back() -> None:
    """Parameters and cutoffs too; gini with a cutoff is that of a catalogue, as that of scores has none."""
    for name in (*ASKED, "gini@10", "exposure_share(attention='equal', of='a')@3"):
        ((_, metric),) = read_text(name)
        assert read_text(str(metric))[0][1] == metric
    assert read_text("Gini at 5")[0][1].name == "catalogue_gini"
    assert read_text("gini")[0][1].name == "gini"


def test_lists_that_differ_in_number_are_a_finding() -> None:
    """A system with fewer lists shows fewer documents by that alone; said where a catalogue is named."""
    frame = log().with_columns(grade=pl.lit(1)).filter((pl.col("run") == "p") | (pl.col("query") < 5))
    irm = frame.irm(**RANKED | {"group": None, "popularity": None}, grade="grade")
    (found,) = irm(by=None).audit().filter(check="lists that differ in number").rows(named=True)
    assert (found["severity"], found["n"]) == ("info", 1)
    assert "lists that differ in number" not in irm(catalogue=None).audit()["check"]
    whole = irm.frame.filter(pl.col("query").is_in([0, 1]) & (pl.col("run") == "p"))
    assert "lists that differ in number" not in whole.irm(query="query", catalogue=SIZE).audit()["check"]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["duckdb", "dask"])
def test_engines_have_them_too(engine: str) -> None:
    """Documents of lists come here from wherever the rows are, and are counted once."""
    whole, few = log(5), {"permutations": 100, "resamples": 20}
    if engine == "duckdb":
        frame = pytest.importorskip("duckdb").from_arrow(whole.to_arrow())
    else:
        frame = pytest.importorskip("dask.dataframe").from_pandas(whole.to_pandas(), npartitions=3)
    asked, wanted = IRM(frame, **RANKED), whole.irm(**RANKED)
    for verb, metrics in (("evaluate", ASKED), ("compare", (*TOGETHER[:2], *EACH[:1]))):
        found = getattr(asked, verb)(*metrics, **few if verb == "compare" else {})
        table = found.pl() if engine == "duckdb" else pl.from_pandas(found.compute())
        expected = getattr(wanted, verb)(*metrics, **few if verb == "compare" else {})
        pl_testing.assert_frame_equal(table, expected, check_dtypes=False, abs_tol=1e-12)


@pytest.mark.parametrize("kind", [pl.Int64, pl.UInt8, pl.Int128, pl.String, pl.Categorical, pl.Float64, pl.Date])
@pytest.mark.parametrize("told_apart", [0, 1, 7, 2**32 - 1])
def test_values_are_counted_where_hashes_agree(kind: Any, told_apart: int) -> None:
    """Different values with one hash are told apart, whatever stands between them."""
    rng = random.Random(told_apart)
    values = pl.Series([rng.randint(0, 200) for _ in range(900)]).cast(
        pl.String if kind == pl.Categorical else pl.Int32
    )
    hashes = values.hash().cast(pl.UInt32, wrap_numerical=True) & told_apart
    assert n_different(values.cast(kind), hashes) == values.n_unique()
    assert n_different(values[:1].cast(kind), hashes[:1]) == 1


@pytest.mark.parametrize("kind", [pl.String, pl.Int64, pl.Duration])
def test_whole_lists_need_no_order(kind: Any) -> None:
    """Many shuffled lists are counted as they stand, with equal scores of documents that have no text either."""
    rng = random.Random(0)
    rows = [(query, doc, rng.randint(0, 3) / 4) for query in range(200) for doc in rng.sample(range(1500), 10)]
    rng.shuffle(rows)
    shown = pl.DataFrame(rows, schema=["query", "doc", "score"], orient="row").with_columns(pl.col("doc").cast(kind))
    irm = shown.irm(query="query", doc="doc", score="score", catalogue=1500)
    found = irm.evaluate("catalogue_coverage")
    assert found["value"].item() == shown["doc"].n_unique() / 1500
    assert found.row(0) == irm.evaluate("catalogue_coverage", "item_entropy").row(0)
    with pytest.raises(BadValueError, match="catalogue=2 documents"):
        irm(catalogue=2).evaluate("catalogue_coverage")
    rows[7] = (*rows[7][:2], inf)
    bad = shown.with_columns(score=pl.Series([row[2] for row in rows]))
    with pytest.raises(BadValueError, match="score: 1 of 2,000 rows is infinite"):
        bad.irm(query="query", doc="doc", score="score", catalogue=1500).evaluate("catalogue_coverage")
