"""Few judgments of people and many of a machine: prediction-powered means and differences, and what is refused."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

from frame_metrics import IRM, BadValueError, ColumnError, NotComputableError
from helpers import KINDS, as_kind, as_polars, error, frame
from inside import adjusted, newcombe, ppi_mean, wilson_interval

# What ppi-python 0.2.3 was given, and what it printed.
HUMAN, SAME = [1, 0, 1, 1, 0, 1, 0, 1], [0.9, 0.2, 0.8, 0.6, 0.4, 0.7, 0.1, 1]
OTHERS = [0.5, 0.3, 0.9, 0.8, 0.2, 0.6, 0.7, 0.1, 0.4, 0.95, 0.85, 0.15]
PRINTED = {1: (0.575, 0.33535, 0.81465), None: (0.58274, 0.34508, 0.82040)}
Judge = Callable[..., IRM[Any]]


def table(**values: Any) -> pl.DataFrame:
    """Judgments of one document for each query, whose dcg@1 is the grade."""
    n = len(next(iter(values.values())))
    return pl.DataFrame({"query": range(n), "doc": ["d"] * n} | values)


def of_values(human: Any, proxy: Any, run: pl.DataFrame | None = None, **more: Any) -> IRM[pl.DataFrame]:
    """Queries with these values by people, of the first ones, and by a machine, of all."""
    run = table(score=np.ones(len(proxy))) if run is None else run
    return run.irm.judge(table(grade=np.asarray(human, float)), proxy=table(grade=np.asarray(proxy, float)), **more)


def simulated(seed: int = 0, queries: int = 60, whole: int = 20) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """A log of two systems, with judgments by people of some queries, and by a machine of all."""
    rng = np.random.default_rng(seed)
    docs = [
        (query, f"d{doc}", int(grade)) for query in range(queries) for doc, grade in enumerate(rng.integers(0, 4, 8))
    ]
    people = pl.DataFrame(docs, schema=["query", "doc", "grade"], orient="row")
    moved = pl.Series(rng.integers(-1, 2, len(people)))
    machine = people.with_columns(grade=(pl.col("grade") + moved).clip(0, 3))
    keys = pl.DataFrame({"system": ["a", "b"], "noise": [1.0, 2.0]}).join(people, how="cross")
    noise = pl.Series(rng.normal(size=len(keys)))
    log = keys.select("system", "query", "doc", score=pl.col("grade") + pl.col("noise") * noise)
    log = log.with_columns(device="d" + (pl.col("query") % 2).cast(pl.String), user=pl.col("query") // 2)
    return log, people.filter(pl.col("query") < whole), machine


@pytest.mark.parametrize(("tuned", "printed"), PRINTED.items())
def test_the_numbers_of_ppi_python(tuned: float | None, printed: tuple[float, ...]) -> None:
    """Means and normal intervals have the digits that ppi-python 0.2.3 prints, with lambda 1 and with a tuned one."""
    human = np.array([*HUMAN, *[np.nan] * len(OTHERS)])
    found = ppi_mean(human, np.array(SAME + OTHERS), tuned=tuned)
    assert (found.value, *found.ends(0.95, "normal")) == pytest.approx(printed, abs=5e-6)
    assert (found.n, found.n_proxy) == (8, 12)


def test_evaluate_gives_the_numbers_of_ppi_python() -> None:
    """The verb gives them too, with how many queries each judged, lambda, and the machine's own mean."""
    found = of_values(HUMAN, SAME + OTHERS).evaluate("dcg@1", ci=0.95, method="normal")
    assert found.columns == [
        *("metric", "k", "average", "value", "n", "n_undefined", "n_unanswered", "n_proxy", "lambda", "people_value"),
        *("proxy_value", "proxy_bias", "proxy_bias_low", "proxy_bias_high", "ci_low", "ci_high"),
    ]
    assert found["value", "ci_low", "ci_high"].row(0) == pytest.approx(PRINTED[None], abs=5e-6)
    assert found["n", "n_undefined", "n_proxy"].row(0) == (8, 0, 12)
    assert found["lambda"].item() == pytest.approx(0.8452, abs=5e-5)
    assert found["proxy_value"].item() == pytest.approx(np.mean(SAME + OTHERS))


def test_people_and_the_machine_alone_stand_beside() -> None:
    """People's mean is that of their judgments alone; the bias is the mean difference on their queries, by plain t."""
    log, people, machine = simulated()
    irm, few = log.irm(system="system"), machine.filter(pl.col("query") < 20)
    found = irm.judge(people, proxy=machine).evaluate("ndcg@5", "dcg@3", ci=0.9)
    assert found["people_value"].to_list() == pytest.approx(irm.judge(people).evaluate("ndcg@5", "dcg@3")["value"])
    assert found["proxy_value"].to_list() == pytest.approx(irm.judge(machine).evaluate("ndcg@5", "dcg@3")["value"])
    for row in found.to_dicts():
        name, system = row["metric"], row["system"]
        ours, theirs = (irm.judge(one).per_query(name).filter(system=system)["value"] for one in (people, few))
        off = (theirs - ours).to_numpy()
        wanted = off.mean(), *stats.t.interval(0.9, 19, off.mean(), stats.sem(off))
        assert [row[f"proxy_bias{end}"] for end in ("", "_low", "_high")] == pytest.approx(wanted)


def test_the_bias_of_two_systems_is_compared_on_the_same_queries() -> None:
    """The p-value is the greater of t's with and without the skewness, corrected for all pairs; few differ: null."""
    log, people, machine = simulated()
    rest = log.filter(system="b").with_columns(system=pl.lit("c"), score=pl.col("score") * -1)
    irm = pl.concat([log, rest]).irm(system="system")
    some = people, machine.filter(pl.col("query") < 20)
    ours, theirs = (irm.judge(one).compare("ndcg@5", per_query=True) for one in some)
    compared = irm.judge(people, proxy=machine).compare("ndcg@5", correction="none")
    means = irm.judge(people, proxy=machine).evaluate("ndcg@5")
    biases = dict(zip(means["system"], means["proxy_bias"], strict=True))  # people judged the same queries of all
    for row in compared.to_dicts():
        pair = {name: row[name] for name in ("system", "baseline")}
        assert (row["proxy_bias"], row["baseline_proxy_bias"]) == pytest.approx([biases[one] for one in pair.values()])
        off = np.subtract(*(side.filter(**pair).sort("query")["difference"].to_numpy() for side in (theirs, ours)))
        assert off.mean() == pytest.approx(row["proxy_bias"] - row["baseline_proxy_bias"])
        t, a = abs(off.mean()) / stats.sem(off), np.sign(off.mean()) * stats.skew(off) / math.sqrt(20)
        hall = t + a * (2 * t**2 + 1) / 6 + a**2 * t**3 / 27
        assert row["p_proxy_bias"] == pytest.approx(min(1, 2 * stats.t.sf(min(t, hall), 19)))
    holm = irm.judge(people, proxy=machine).compare("ndcg@5", correction="holm")["p_proxy_bias"]
    assert holm.to_list() == pytest.approx(adjusted(compared["p_proxy_bias"].to_numpy(), "holm").tolist())
    alike = irm.judge(people, proxy=pl.concat([people, machine.filter(pl.col("query") >= 20)]))
    assert alike.compare("ndcg@5").select("proxy_bias", "p_proxy_bias").unique().rows() == [(0, None)]


def of_biased(bias: float, n: int = 60, seed: int = 0) -> IRM[pl.DataFrame]:
    """Three systems with one result for each query, whose value by the machine is people's, but for the bias of "b"."""
    rng = np.random.default_rng(seed)
    keys = {"query": np.arange(200).repeat(3), "doc": [*"abc"] * 200}
    grade = rng.normal(5, 1, 600)
    off = rng.normal(0.5, 0.2, 600) + bias * (np.arange(600) % 3 == 1)
    run = pl.DataFrame(keys | {"system": keys["doc"], "score": np.ones(600)})
    people, machine = (pl.DataFrame(keys | {"grade": one}) for one in (grade, grade + off))
    return run.irm(system="system").judge(people.filter(pl.col("query") < n), proxy=machine)


@pytest.mark.parametrize(("bias", "favoured"), [(0.5, "b"), (-0.5, ""), (0.0, None)])
def test_a_machine_that_favours_a_system_is_told_of(bias: float, favoured: str | None) -> None:
    """The summary names the pair whose biases differ most surely, the favoured one first, and both biases."""
    irm = of_biased(bias)
    found = irm.summary("dcg@1").filter(kind="favours").to_dicts()
    assert len(found) == (favoured is not None)
    for row in found:
        sides = row["system"], row["baseline"]
        assert favoured in ("", sides[0])
        assert sides[1] == "b" or favoured
        means = irm.evaluate("dcg@1")
        own, other = (means.filter(system=one)["proxy_bias"].item() for one in sides)
        assert (row["value"], row["baseline_value"]) == pytest.approx((own, other))
        least = irm.compare("dcg@1")["p_proxy_bias"].min()
        assert row["p_adjusted"] == least
        assert row["sentence"].startswith(
            f"The LLM judge favours {sides[0]} over {sides[1]}: it puts dcg@1 of {sides[0]} {own:.3f} above people and "
            f"of {sides[1]} {abs(other):.3f} {'above' if other > 0 else 'below'} them, over 60 queries that both judged"
        )


def test_t_allows_for_the_fit_of_lambda() -> None:
    """What each query of people adds is by the lambda of the others, which are fitted one by one beside it."""
    found = of_values(HUMAN, SAME + OTHERS).evaluate("dcg@1", ci=0.95)
    (value, low, high), tuned = found["value", "ci_low", "ci_high"].row(0), found["lambda"].item()
    people, same, others = (np.array(side, float) for side in (HUMAN, SAME, OTHERS))
    least = (1 + 8 / 12) * np.var([*same, *others], ddof=1)
    lambdas = [np.cov(np.delete(people, i), np.delete(same, i), ddof=0)[0, 1] / least for i in range(8)]
    rest = people - people.mean() - np.clip(lambdas, 0, 1) * (same - same.mean())
    variance = (rest**2).sum() / 64 * 8 / (7 - tuned) + tuned**2 * others.var() / 12
    wide = stats.t.ppf(0.975, 7) * math.sqrt(variance)
    assert (low, high) == pytest.approx((max(value - wide, 0), value + wide))


def test_one_query_that_the_machine_tells_apart_does_not_widen_an_interval() -> None:
    """Where one query of people has all that the machine tells apart, the interval is no wider than theirs by much."""
    people, machine = (np.arange(20) % 5 != 0).astype(float), np.ones(200)
    machine[[0, *range(30, 60)]] = 0
    found = of_values(people, machine).evaluate("precision@1", ci=0.95)
    low, high = stats.t.interval(0.95, 19, people.mean(), stats.sem(people))
    wide = found["ci_high"].item() - found["ci_low"].item()
    assert 0 < found["lambda"].item() < 0.5
    assert wide < 1.1 * (high - low)
    chances = np.full(20, 0.1)
    plain = ppi_mean(np.append(people, [np.nan] * 180), np.append(people * 0, machine[20:]), chance=chances.repeat(10))
    assert plain.tuned == 0
    assert plain.ends(0.95, "t") == pytest.approx((low, high))


def test_where_people_judged_all_the_mean_is_theirs() -> None:
    """Lambda is 0, and mean, interval and test are those of the plain t."""
    log, people, machine = simulated(whole=60)
    irm = log.irm(system="system")
    both, plain = irm.judge(people, proxy=machine), irm.judge(people)
    found = both.evaluate("ndcg@5", ci=0.9)
    assert found["value"].to_list() == pytest.approx(plain.evaluate("ndcg@5")["value"].to_list())
    assert (found["lambda"].to_list(), found["n_proxy"].to_list()) == ([0, 0], [0, 0])
    each = plain.per_query("ndcg@5").filter(system="a")["value"].to_numpy()
    wanted = stats.t.interval(0.9, len(each) - 1, each.mean(), stats.sem(each))
    assert found["ci_low", "ci_high"].row(0) == pytest.approx(wanted)
    same = ("value", "baseline_value", "difference", "n")
    difference, t = both.compare("ndcg@5"), plain.compare("ndcg@5", test="t")
    assert difference.select(same).row(0) == pytest.approx(t.select(same).row(0))
    assert difference["p_value"].item() == pytest.approx(t["p_value"].item())


def test_a_machine_that_says_the_same_of_all_adds_nothing() -> None:
    """Lambda is 0, the mean is that of people, and the audit says so."""
    irm = of_values(HUMAN, [0.3] * 20)
    found = irm.evaluate("dcg@1", ci=0.95)
    wanted = stats.t.interval(0.95, 7, np.mean(HUMAN), stats.sem(HUMAN))
    assert found["lambda", "value"].row(0) == (0, np.mean(HUMAN))
    assert found["ci_low", "ci_high"].row(0) == pytest.approx(wanted)
    assert "segments of which the machine says the same" in irm.audit()["check"].to_list()


def test_a_query_counts_as_judged_where_all_that_a_metric_reads_is() -> None:
    """At a cutoff the first results are enough, without one all are needed, and each system has its own."""
    log, people, machine = simulated(queries=40)
    first = log.sort("score", descending=True).group_by("system", "query").head(5)
    shallow = people.join(first.filter(system="a"), on=["query", "doc"], how="semi")
    lists = log.irm(system="system")
    found = lists.judge(shallow, proxy=machine).evaluate("dcg@3", "dcg@8", "map", "dcg(judged_only=True)@3")
    counts = dict(zip(found.select("system", "metric").rows(), found["n"].to_list(), strict=True))
    assert counts["a", "dcg@3"] == 20
    assert 0 < counts["b", "dcg@3"] < 20
    assert [counts["a", name] for name in ("dcg@8", "map", "dcg(judged_only=True)@3")] == [0, 0, 0]
    assert found.filter(metric="map").select("value", "lambda").null_count().row(0) == (2, 2)
    assert (found["n"] + found["n_proxy"]).to_list() == [40] * 8
    compared = lists.judge(shallow, proxy=machine).compare("dcg@3")
    assert compared["n"].item() == counts["b", "dcg@3"]


def shallow(people: pl.DataFrame, part: pl.Expr) -> pl.DataFrame:
    """Judgments of all documents of some queries, and of some documents of the others."""
    return people.filter((pl.col("query") < 10) | part)


RESTS = {  # whether a metric rests on judged documents beside those that stand at the first ranks
    True: ("ndcg@3", "recall@3", "map@3", "ndcg", "rprec", "bpref", "f1@3", "idcg@3", "iprec(recall=0.1)", "roc_auc"),
    False: ("dcg@3", "precision@3", "rr@3", "success@3", "rbp@3", "err(max_grade=3)@3", "brier"),
}


@pytest.mark.parametrize(("name", "rests"), [(name, rests) for rests, names in RESTS.items() for name in names])
def test_a_query_of_which_people_judged_fewer_documents(name: str, rests: bool) -> None:
    """It counts as judged by people only for metrics that do not rest on the documents that people left out."""
    log, people, machine = simulated()
    log = log.filter(pl.col("doc") < "d6").with_columns(score=pl.col("score").rank() / len(log))
    people, machine = (one.filter(pl.col("doc") < "d6") if name == "brier" else one for one in (people, machine))
    listed = pl.col("doc") < "d6"
    irm = log.irm(system="system", undefined="zero")
    found = irm.judge(shallow(people, listed), proxy=machine).evaluate(name, ci=0.9)
    wanted = people.filter(pl.col("query") < 10) if rests else people
    assert_frame_equal(found, irm.judge(wanted, proxy=machine).evaluate(name, ci=0.9), abs_tol=1e-12)
    assert found["n"].to_list() == [10 if rests else 20] * 2


@pytest.mark.parametrize("metric", ["ndcg@3", "precision@3", "rr"])
def test_a_result_that_neither_judged_is_not_relevant_to_both(metric: str) -> None:
    """A query that people judged as far as the machine did stays in their sample, which is random only as a whole."""
    log, people, machine = simulated()
    first = pl.col("score").rank("ordinal", descending=True).over("system", "query") == 1
    new = log.filter(first, pl.col("query") % 2 == 0).with_columns(doc="n" + pl.col("doc"), score=pl.col("score") + 1)
    irm = pl.concat([log, new]).irm(system="system")
    found = irm.judge(people, proxy=machine).evaluate(metric, ci=0.9)
    assert found["n"].to_list() == [20, 20]
    nothing = new.select("query", "doc", pl.lit(0).alias("grade")).unique().cast(people.schema)
    zeros = [pl.concat([one, nothing.join(one, on="query", how="semi")]) for one in (people, machine)]
    assert_frame_equal(found, irm.judge(zeros[0], proxy=zeros[1]).evaluate(metric, ci=0.9))
    by_machine = irm.judge(people, proxy=zeros[1]).evaluate(metric)  # what it judged alone is missing
    assert max(by_machine["n"]) < 20


@pytest.mark.parametrize("metric", ["dcg@3", "precision@3", "rr@3"])
@pytest.mark.parametrize("roles", [{}, {"by": "device", "cluster": "user"}, {"ties": "expected"}])
def test_people_judge_the_first_results_as_far_as_the_machine_did(metric: str, roles: dict[str, Any]) -> None:
    """No query leaves their sample because its first results have one that nobody judged, or the machine judged more.

    Each number is that beside a machine whose judgments are cut to the same documents.
    """
    log, people, machine = simulated()
    log = log.with_columns(pl.col("score").round(0 if roles.get("ties") else 3))
    known = pl.col("doc").is_in(["d1", "d4", "d7"]).not_() | (pl.col("query") % 3 == 0)
    places = pl.col("score").rank("min", descending=True).over("system", "query")
    keys = log.filter(places <= 3).select("query", "doc").unique()
    first = [one.filter(known).join(keys, on=["query", "doc"], how="semi") for one in (people, machine)]
    irm = log.irm(system="system", **roles)
    of_more, of_same = irm.judge(first[0], proxy=machine.filter(known)), irm.judge(first[0], proxy=first[1])
    found = of_more.evaluate(metric, ci=0.9)
    assert_frame_equal(found, of_same.evaluate(metric, ci=0.9))
    assert_frame_equal(of_more.compare(metric), of_same.compare(metric))
    assert found["n"].sum() == 40
    some = first[0].filter(pl.col("query") > 0)  # what is wholly unjudged is the machine's alone
    assert irm.judge(some, proxy=machine.filter(known)).evaluate(metric)["n"].sum() == 38
    missing = keys.join(machine.filter(known), on=["query", "doc"]).filter(pl.col("query") == 1).row(0)[:2]
    some = first[0].filter(pl.struct("query", "doc") != pl.struct(query=pl.lit(missing[0]), doc=pl.lit(missing[1])))
    lists = log.filter(places <= 3, query=missing[0], doc=missing[1])["system"].n_unique()
    assert irm.judge(some, proxy=machine.filter(known)).evaluate(metric)["n"].sum() == 40 - lists


def test_the_ideal_is_of_the_same_documents() -> None:
    """A perfect machine that judged all, beside people who judged the first results only, gives no wrong ndcg."""
    log, people, _ = simulated(whole=60)
    first = people.join(
        log.filter(pl.col("score").rank("ordinal", descending=True).over("system", "query") <= 3),
        on=["query", "doc"],
        how="semi",
    )
    some = first.filter(pl.col("query") < 20)
    lists = log.irm(system="system")
    judged = lists.judge(some, proxy=people)
    found = judged.evaluate("ndcg@3", ci=0.9)
    assert (found["n"].to_list(), found["value"].null_count()) == ([0, 0], 2)
    assert judged.compare("ndcg@3").select("n", "n_proxy").row(0) == (0, 60)
    name = "queries of which people judged fewer documents"
    row = judged.audit().filter(check=name)
    assert row.select("severity", "n", "share", "example").row(0) == ("warning", 20, 1.0, "a, 0")
    same = lists.judge(some, proxy=first)
    assert same.evaluate("ndcg@3")["n"].to_list() == [20, 20]
    assert name not in same.audit()["check"].to_list()


@pytest.mark.parametrize("of", ["people", "machine", "both"])
def test_documents_are_those_of_a_segment(of: str) -> None:
    """Where judgments say a segment, its documents are those that were judged in it; ids need no one type."""
    log, people, machine = simulated()
    log = log.with_columns(doc=pl.col("doc").str.slice(1).cast(pl.Int32))
    people, machine = (one.with_columns(doc=pl.col("doc").str.slice(1).cast(pl.Int64)) for one in (people, machine))
    log = pl.concat([log.with_columns(device=pl.lit(device)) for device in ("x", "y")])
    sides = {
        "people": shallow(people, pl.col("doc") < 6),
        "machine": machine.with_columns(pl.col("doc").cast(pl.UInt8)),
    }
    for side in sides if of == "both" else [of]:
        sides[side] = pl.concat([sides[side].with_columns(device=pl.lit(device)) for device in ("x", "y")])
    wanted = {"x": 10, "y": 10}
    if "device" in sides["people"].columns:  # people judged all in one of the segments
        rest = people.filter(pl.col("query") >= 10).with_columns(device=pl.lit("x"))
        sides["people"] = pl.concat([sides["people"], rest]).unique()
        wanted["x"] = 20
    irm = log.irm(system="system", by="device").judge(sides["people"], proxy=sides["machine"])
    assert dict(irm.evaluate("ndcg@3").select("device", "n").rows()) == wanted
    places = pl.col("score").rank("min", descending=True).over("system", "query", "device")
    lacking = pl.col("query").is_between(10, 19) & (places <= 3) & (pl.col("doc") >= 6)
    n_lacking = log.group_by("system", "device").agg(pl.col("query").filter(lacking).n_unique()).rows()
    for system, device, lost in n_lacking:
        (n,) = irm.evaluate("dcg@3").filter(system=system, device=device)["n"]
        assert (n, lost > 0) == (20 - lost * (wanted[device] == 10), True)


@pytest.mark.parametrize("few", [1, 4, 5])
def test_few_queries_of_people_give_null(few: int) -> None:
    """Fewer than five say nothing; the machine's mean stands beside, and the audit warns."""
    irm = of_values(HUMAN[:few], SAME + OTHERS)
    found = irm.evaluate("dcg@1", ci=0.95)
    assert (found["value"].is_null().item(), found["ci_low"].is_null().item()) == (few < 5, few < 5)
    assert found["proxy_value"].item() == pytest.approx(np.mean(SAME + OTHERS))
    assert found["n"].item() == few
    seen = "segments that people judged too few queries of" in irm.audit()["check"].to_list()
    assert seen == (few < 5)


def test_clusters_are_taken_as_independent() -> None:
    """Queries that stand twice in a cluster have the interval of each once; clusters need not be of one side."""
    log, people, machine = simulated()
    later = pl.col("query") + 100
    twice, both, machines = (pl.concat([one, one.with_columns(query=later)]) for one in (log, people, machine))
    clusters = twice.with_columns(user=pl.col("query") % 100).irm(system="system", cluster="user")
    once = log.irm(system="system").judge(people, proxy=machine)
    found = clusters.judge(both, proxy=machines)
    for verb in ("evaluate", "compare"):
        one, other = (getattr(irm, verb)("ndcg@5", ci=0.9) for irm in (once, found))
        # But for lambda, whose pooled variance divides by the number of queries less 1.
        assert other["ci_low", "ci_high"].row(0) == pytest.approx(one["ci_low", "ci_high"].row(0), abs=1e-3)
    split = log.irm(system="system", cluster="user").judge(people.filter(pl.col("query") % 2 == 0), proxy=machine)
    assert split.evaluate("ndcg@5", ci=0.9)["n"].to_list() == [10, 10]


def test_weights_are_those_of_queries_in_the_mean() -> None:
    """A query of weight 2 counts in the mean as two; one of weight 0 is in none."""
    run = table(score=np.ones(20), traffic=[2.0, *[1.0] * 19])
    heavy = of_values(HUMAN, SAME + OTHERS, run=run)(weight="traffic").evaluate("dcg@1", average=["macro", "weighted"])
    plain, weighted = heavy["value"].to_list()
    assert plain == pytest.approx(PRINTED[None][0], abs=5e-6)
    tuned = heavy["lambda"][1]
    people, same = (np.average(side, weights=[2, *[1] * 7]) for side in (HUMAN, SAME))
    assert weighted == pytest.approx(people - tuned * same + tuned * np.mean(OTHERS))
    run = table(score=np.ones(21), traffic=[*[1.0] * 20, 0.0])
    none = of_values(HUMAN, [*SAME, *OTHERS, 0.9], run=run)(weight="traffic").evaluate("dcg@1", ci=0.95)
    assert none["value", "n_proxy"].row(0) == pytest.approx((PRINTED[None][0], 12), abs=5e-6)


def test_chances_weigh_what_people_judged() -> None:
    """With a chance for each query the mean is Hajek's, of the rest, plus that of the machine over all queries."""
    chance = np.array([0.5, 0.5, 0.25, 0.25, 0.5, 0.1, 0.2, 0.5])
    run = table(score=np.ones(20))
    people = table(grade=np.array(HUMAN, float), chance=chance)
    found = run.irm.judge(people, proxy=table(grade=SAME + OTHERS), sampling="chance").evaluate("dcg@1")
    tuned, rest = found["lambda"].item(), np.array(HUMAN) - found["lambda"].item() * np.array(SAME)
    assert found["value"].item() == pytest.approx(np.average(rest, weights=1 / chance) + tuned * np.mean(SAME + OTHERS))
    covariance = np.cov(HUMAN, SAME, aweights=1 / chance, ddof=0)[0, 1]
    assert tuned == pytest.approx(min(covariance / np.var(SAME + OTHERS, ddof=1), 1))
    said = error(lambda: of_values(HUMAN, SAME, sampling="chance"), ColumnError)
    assert "sampling='chance' is not among" in said
    for odd in (0.0, None, 1.5):
        people = table(grade=np.array(HUMAN, float), chance=[odd, *[0.5] * 7])
        bad = run.irm.judge(people, proxy=table(grade=SAME + OTHERS), sampling="chance")
        assert "chance (of the judgments): 1 of 8 rows" in error(lambda bad=bad: bad.evaluate("dcg@1"), BadValueError)
    certain = run.irm.judge(people.with_columns(chance=1.0), proxy=table(grade=SAME + OTHERS), sampling="chance")
    said = error(lambda: certain.evaluate("dcg@1"), BadValueError)
    nobody = run.irm.judge(people.with_columns(chance=1.0).clear(), proxy=table(grade=SAME + OTHERS), sampling="chance")
    assert nobody.evaluate("dcg@1")["value"].to_list() == [None]
    assert said.startswith(
        "chance: all that people judged were drawn with a chance of 1, and of 20 rankings they judged 8"
    )


def test_labels_that_were_chosen_are_no_sample() -> None:
    """Judgments that are marked as chosen are refused, unless it is said how queries were drawn."""
    run, machine = table(score=np.ones(20)), table(grade=SAME + OTHERS)
    people = table(grade=np.array(HUMAN, float), chosen=[True, *[None] * 7], chance=[0.4] * 8)
    judged = run.irm.judge(people, proxy=machine)
    for verb in (judged.evaluate, judged.compare):
        with pytest.raises((BadValueError, ColumnError)):
            verb("dcg@1")
    said = error(lambda: judged.evaluate("dcg@1"), BadValueError)
    assert "1 of 8 judgments were chosen" in said
    assert "random sample of queries and drop 'chosen'" in said  # and no query is to be left out for its labels
    assert run.irm.judge(people, proxy=machine, sampling="chance").evaluate("dcg@1")["n"].item() == 8
    none = people.with_columns(chosen=False)
    assert run.irm.judge(none, proxy=machine).evaluate("dcg@1")["n"].item() == 8
    assert run.irm.judge(people).evaluate("dcg@1")["n"].item() == 8  # where there is no mean of a sample


@pytest.mark.parametrize("held", [["yes"] * 8, [1] * 8, [[True]] * 8, [{"by": 1}] * 8, [None] * 8])
def test_a_column_of_another_type_is_no_flag(held: list[Any]) -> None:
    """Only true and false say that judgments were chosen."""
    people = table(grade=np.array(HUMAN, float), chosen=pl.Series(held))
    found = table(score=np.ones(20)).irm.judge(people, proxy=table(grade=SAME + OTHERS)).evaluate("dcg@1")
    assert found["n"].item() == 8


@pytest.mark.parametrize("role", ["query", "doc", "grade", "by"])
def test_a_column_with_a_role_is_no_flag(role: str) -> None:
    """A column that is called chosen may be that of queries, documents, grades or segments."""
    column = {"by": "device"}.get(role, role)
    side = [table(score=np.ones(20)), table(grade=np.array(HUMAN) > 0), table(grade=np.array(HUMAN + [1, 0] * 6) > 0)]
    both = [one.with_columns(device=pl.col("query") % 2 == 0).rename({column: "chosen"}, strict=False) for one in side]
    irm = both[0].irm(**({} if role == "grade" else {role: "chosen"}))
    asked = {} if role in ("by", "query", "doc") else {role: "chosen"}
    found = irm.judge(both[1], proxy=both[2].irm(query=None if role == "query" else "query", **asked), **asked)
    assert found.evaluate("precision@1")["n"].sum() == 8


def test_the_machine_may_have_its_own_scale() -> None:
    """A frame has the scale and rel of the log; one with its roles has its own, and its own names of columns."""
    log, people, machine = simulated()
    words = machine.select(pl.col("query").alias("qid"), "doc", said="w" + pl.col("grade").cast(pl.String))
    scale = {f"w{grade}": grade for grade in range(4)}
    ours, lists = people.with_columns(grade=pl.col("grade") * 10), log.irm(system="system", rel=20)
    with_roles = words.irm(query="qid", grade="said", scale=scale, rel=2)
    found = lists.judge(ours, proxy=with_roles).evaluate("precision@5", "map", ci=0.9)
    wanted = log.irm(system="system", rel=2).judge(people, proxy=machine).evaluate("precision@5", "map", ci=0.9)
    assert_frame_equal(found, wanted)
    of_one_scale = machine.select("query", "doc", said=pl.col("grade") * 10).irm(grade="said")
    assert_frame_equal(lists.judge(ours, proxy=of_one_scale).evaluate("precision@5", "map", ci=0.9), wanted)
    said = error(lambda: lists.judge(ours, proxy=words.irm(query="qid", grade="said", by="doc")), ColumnError)
    assert said.startswith("proxy: by='doc' is a role of results")
    assert error(lambda: lists.judge(ours, proxy=words), ColumnError).startswith("proxy, whose columns")
    bad = lists.judge(ours, proxy=words.irm(query="qid", grade="said", scale={"w0": 0}))
    assert error(lambda: bad.evaluate("dcg@5"), BadValueError).startswith("proxy: said")


def test_people_and_the_machine_agree_as_the_scale_of_each_says() -> None:
    """Words count as their grades; where each has a rel of its own, as where one has labels, it is who is relevant."""
    log, people, machine = simulated()
    irm = log.irm(system="system", rel=2)
    words = machine.with_columns(grade="w" + pl.col("grade").cast(pl.String))
    tens = machine.with_columns(grade=pl.col("grade") * 10)

    def agreed(proxy: Any, ours: pl.DataFrame = people) -> str:
        run = irm(rel=None) if "label" in ours.columns else irm
        (text,) = run.judge(ours, proxy=proxy).summary("precision@3").filter(kind="agreement")["sentence"]
        return str(text)

    both = people.join(machine, on=["query", "doc"], suffix="_machine")
    relevant = ((both["grade"] >= 2) == (both["grade_machine"] >= 2)).mean()
    graded = agreed(machine)
    assert f"{(both['grade'] == both['grade_machine']).mean():.0%}".replace("%", " %") in graded
    assert agreed(words.irm(scale={f"w{grade}": grade for grade in range(4)}, rel=2)) == graded
    by_rel = agreed(tens.irm(grade="grade", rel=20))
    assert f"agree on {relevant:.0%}".replace("%", " %") + " whether they are relevant (kappa " in by_rel
    labels = people.select("query", "doc", label=pl.col("grade") >= 2)
    assert by_rel.replace(" whether they are relevant", "") == agreed(tens.irm(rel=20), labels)


@pytest.mark.parametrize(
    ("times", "roles", "seen"),
    [(1, {}, 0), (33, {}, 1), (1 / 3, {}, 1), (33, {"rel": 33}, 0), (33, {"scale": {0: 0, 33: 1, 66: 2, 99: 3}}, 0)],
)
def test_grades_of_two_scales_are_found(times: float, roles: dict[str, Any], seen: int) -> None:
    """The audit warns if one side has grades twice as high, unless the machine's own roles say what they mean."""
    log, people, machine = simulated()
    both = log.irm(system="system").judge(people, proxy=machine.with_columns(pl.col("grade") * times).irm(**roles))
    found = both.audit().filter(check="grades beyond the scale of the other side")
    assert len(found) == seen
    for row in found.to_dicts():
        top, other = (people, 1) if times < 1 else (machine, 3)
        assert (row["severity"], row["n"]) == ("warning", (top["grade"] * max(times, 1) > other).sum())
        assert f"people is 3, and that of the machine {3 * times:g}." in row["message"]


def test_compare_estimates_the_difference() -> None:
    """A difference is the mean of those of queries, tuned for itself; its parts add up, and t and z test it."""
    log, people, machine = simulated()
    irm = log.irm(system="system").judge(people, proxy=machine)
    found = irm.compare("ndcg@5", "precision@3", baseline="a")
    each = [log.irm(system="system").judge(one).per_query("ndcg@5") for one in (people, machine)]
    human, proxy = ((one.filter(system="b")["value"] - one.filter(system="a")["value"]).to_numpy() for one in each)
    wanted = ppi_mean(np.append(human, [np.nan] * 40), proxy)
    assert found["difference", "lambda", "proxy_difference"].row(0) == pytest.approx(
        (wanted.value, wanted.tuned, proxy.mean())
    )
    assert found["ci_low", "ci_high"].row(0) == pytest.approx(wanted.ends(0.95, "t"))
    assert (found["value"] - found["baseline_value"]).to_list() == pytest.approx(found["difference"].to_list())
    assert found["relative"].to_list() == (found["difference"] / found["baseline_value"]).to_list()
    assert set(found["test"]) == {"t"}
    p = 2 * stats.t.sf(abs(wanted.value / wanted.errors[0]), 19)
    assert found["p_value"][0] == pytest.approx(p)
    z = irm.compare("ndcg@5", baseline="a", test="z")
    assert z["p_value"].item() == pytest.approx(2 * stats.norm.sf(abs(wanted.value / wanted.errors[1])))
    assert z["ci_low"].item() == pytest.approx(wanted.ends(0.95, "normal")[0])


def test_what_people_find_equal_is_no_certainty() -> None:
    """Shares that are all 1 have the interval of shares of as many queries; other equal values have none."""
    rows = [(q, doc, system) for system in "ab" for q in range(40) for doc in range(3)]
    log = pl.DataFrame(rows, schema=["query", "doc", "system"], orient="row")
    log = log.with_columns(score=-pl.col("doc"), user=pl.col("query") // 2)
    grades = log.select("query", "doc").unique(maintain_order=True).with_columns(grade=(pl.col("doc") == 0).cast(int))
    machine = grades.with_columns(grade=pl.when(pl.col("query") % 5 > 0).then("grade").otherwise(0))
    irm = log.irm(system="system").judge(grades.filter(pl.col("query") < 8), proxy=machine)
    for method in ("t", "normal"):
        found = irm.evaluate("success@1", "dcg@3", "precision@2", ci=0.95, method=method)
        assert found["value"].to_list()[:2] == [1, 1]
        ends = found.select("ci_low", "ci_high").rows()
        assert ends[0] == pytest.approx(wilson_interval(1.0, 8, 0.95), abs=1e-9)
        assert ends[1:3] == [(None, None)] * 2
    of_users = log.irm(system="system", cluster="user").judge(grades.filter(pl.col("query") < 10), proxy=machine)
    ends = of_users.evaluate("success@1", ci=0.95).select("ci_low", "ci_high").row(0)
    assert ends == pytest.approx(wilson_interval(1.0, 5, 0.95), abs=1e-9)
    pair = irm.compare("success@1", "precision@2", baseline="a")
    assert pair.select("difference", "p_value", "mde").rows() == [(0, 1, None)] * 2
    assert pair.select("ci_low", "ci_high").row(0) == pytest.approx(newcombe(np.array([8, 0, 0, 0]), 1.959964))
    assert pair.select("ci_low", "ci_high").row(1) == (None, None)


REFUSED: dict[str, Callable[[IRM[Any]], Any]] = {
    "one set of judgments, and proxy= is a second": lambda irm: irm.per_query("ndcg"),
    "curve() reads one set": lambda irm: irm.curve("ndcg@k"),
    "thresholds() reads one set": lambda irm: irm.thresholds("f1"),
    "bounds() reads one set": lambda irm: irm.bounds("ndcg", of="ties"),
    "agreement() reads one set": lambda irm: irm.agreement(),
    "and not 'median'": lambda irm: irm.evaluate("ndcg", average=["macro", "median"]),
    "and not 'sum'": lambda irm: irm.evaluate("num_rel_ret"),
    "layout='wide' has no room": lambda irm: irm.evaluate("ndcg", layout="wide"),
    "method='bootstrap' applies to means over queries": lambda irm: irm.evaluate("ndcg", ci=0.9, method="bootstrap"),
    "ties='worst' looks at one kind": lambda irm: irm(ties="worst").evaluate("ndcg"),
    "unjudged='drop' looks at one kind": lambda irm: irm(unjudged="drop").compare("ndcg"),
    "unjudged_queries='count' looks at one kind": lambda irm: irm(unjudged_queries="count").evaluate("ndcg"),
    "propensity='p' looks at one kind": lambda irm: irm(propensity=pl.lit(0.5).alias("p")).evaluate("dcg@3"),
    "test='randomization' applies to one kind of judgments": lambda irm: irm.compare("ndcg", test="randomization"),
    "test='sign' applies to one kind": lambda irm: irm.compare("ndcg", test="sign"),
    "ab_test() reads one set of judgments": lambda irm: irm(system=None, arm="run").ab_test("ndcg"),
    "per_query=True lists the differences": lambda irm: irm.compare("ndcg", per_query=True),
    "unanswered='drop' leaves queries out": lambda irm: irm(unanswered="drop").compare("ndcg"),
    "and proxy= estimates a mean over all queries": lambda irm: irm(unanswered="drop").evaluate("ndcg"),
    "roc_auc is undefined for": lambda irm: irm.evaluate("roc_auc"),
}


@pytest.mark.parametrize("said", REFUSED)
def test_what_would_read_one_side_is_refused(said: str) -> None:
    """No verb or option reads the judgments of one side in silence; each error says which and how."""
    log, people, machine = simulated()
    irm = log.irm(system="system", rel=1).judge(people.with_columns(grade=pl.col("grade") + 1), proxy=machine)
    assert said in error(lambda: REFUSED[said](irm))


def test_methods_of_proxies_need_a_proxy() -> None:
    """The t and the normal interval are of prediction-powered means, whether or not there is a query."""
    log, people, _ = simulated()
    rows = log.with_columns(label=pl.col("query") % 2).irm(query=None)
    for irm, metric in ((log.irm(system="system").judge(people), "ndcg"), (rows, "roc_auc")):
        assert "of judge(..., proxy=)" in error(
            lambda irm=irm, metric=metric: irm.evaluate(metric, ci=0.9, method="t"), NotComputableError
        )


def test_a_machine_that_judges_less_than_people_is_an_error() -> None:
    """Queries that only people judged are counted and named; the audit finds them too."""
    log, people, machine = simulated()
    irm = log.irm(system="system").judge(people, proxy=machine.filter(pl.col("query") > 2))
    for call in (irm.evaluate, irm.compare):
        said = error(lambda call=call: call("ndcg@5"), BadValueError)
        assert said.startswith("proxy: 3 queries judged by people have no judgment of the machine, as a, 0")
    found = irm.audit().filter(check="queries that only people judged")
    assert found.select("severity", "n", "example").row(0) == ("error", 3, "a, 0")


def test_columns_of_queries_stand_on_both_sides() -> None:
    """Segments and weights that the judgments say are said by both, or the error names the column."""
    log, people, machine = simulated()
    lists = log.drop("device").irm(system="system", by="device")
    device = "d" + (pl.col("query") % 2).cast(pl.String)
    sides = people.with_columns(device=device), machine.with_columns(device=device)
    found = lists.judge(sides[0], proxy=sides[1]).evaluate("ndcg@5", ci=0.9)
    wanted = log.irm(system="system", by="device").judge(people, proxy=machine).evaluate("ndcg@5", ci=0.9)
    assert_frame_equal(found, wanted)
    said = error(lambda: lists.judge(sides[0], proxy=machine), ColumnError)
    assert "device" in said
    other = machine.with_columns(device=pl.col("query") % 2)
    said = error(lambda: lists.judge(sides[0], proxy=other).evaluate("ndcg"), BadValueError)
    assert "give both one type" in said


@pytest.mark.parametrize("role", ["weight", "cluster", "by"])
def test_both_sides_say_the_same_of_a_query(role: str) -> None:
    """A weight, cluster or segment of a query that people and the machine say otherwise is an error with its column."""
    log, people, machine = simulated()
    lists = log.irm(system="system", **{role: "of"})
    sides = [one.with_columns(of=pl.col("query") // 2 + 1) for one in (people, machine)]
    if role != "by":
        assert lists.judge(sides[0], proxy=sides[1]).evaluate("ndcg@5")["n"].to_list() == [20, 20]
    other = sides[1].with_columns(of=(pl.col("query") + 1) // 2 + 1)
    said = error(lambda: lists.judge(sides[0], proxy=other).evaluate("ndcg@5"), BadValueError)
    if role == "by":
        assert said.startswith("proxy: 10 queries judged by people have no judgment of the machine in the same 'of'")
        assert "give both frames one 'of' for each query" in said
    else:
        assert said.startswith("of: people's judgments and proxy differ in the value of a query")


@pytest.mark.parametrize("how", [*KINDS, "lists of people", "lists of the machine", "lists of both", "duckdb"])
def test_segments_of_judgments_are_named_by_the_machine(how: str) -> None:
    """Segments that the judgments say have their own names, whatever people judged, and in which order."""
    log, people, machine = simulated()
    named = pl.Series(["q", "p", None, "d"])
    people, machine, both = (one.with_columns(device=named[one["query"] % 4]) for one in (people, machine, log))
    people = shallow(people, pl.col("doc") < "d6").filter(pl.col("device").ne_missing("d"))
    wanted = outcome(both.irm(system="system", by="device").judge(people, proxy=machine))
    kind = how if how in KINDS else "polars"
    run = duckdb.from_arrow(log.drop("device").to_arrow()) if how == "duckdb" else as_kind(log.drop("device"), kind)

    def given(side: str, table: pl.DataFrame) -> Any:
        lists = table.group_by("query", "device", maintain_order=True).agg("doc", "grade")
        return as_kind(lists if how in (f"lists of {side}", "lists of both") else table, kind)

    for some in (people, people.reverse()):
        irm: Any = IRM(run, system="system", by="device").judge(
            given("people", some), proxy=given("the machine", machine)
        )
        found = irm.evaluate("ndcg@5", "map", "dcg@3", ci=0.9, margins=True), irm.compare("ndcg@5", "rr@3")
        for one, other in zip(found, wanted[:2], strict=True):
            one = one.pl() if how == "duckdb" else as_polars(one)
            assert_frame_equal(one, other, check_dtypes=False, check_row_order=False, abs_tol=1e-12)


def test_a_sample_that_is_not_random_is_seen() -> None:
    """The audit warns where the machine's values of what people judged differ from the rest, and of queries in part."""
    log, people, machine = simulated(whole=60)
    rich = people.filter(pl.col("grade").mean().over("query") > 1.7)
    irm = log.irm(system="system")
    checks = irm.judge(rich, proxy=machine).audit()
    assert "queries for people that are no random sample" in checks["check"].to_list()
    drawn = people.filter(pl.col("query") % 3 == 0)
    plain = irm.judge(drawn, proxy=machine).audit()["check"].to_list()
    assert not {"queries for people that are no random sample", "queries without judgments"} & {*plain}
    assert "rankings judged by people in part" not in plain
    known = rich.with_columns(chance=0.3)
    told = irm.judge(known, proxy=machine, sampling="chance").audit()["check"].to_list()
    assert "queries for people that are no random sample" not in told
    partly = irm.judge(drawn.filter(pl.col("doc") != "d0"), proxy=machine).audit()
    assert partly.filter(check="rankings judged by people in part").select("n", "share").row(0) == (40, 1)


def test_what_the_machine_did_not_judge_is_counted() -> None:
    """Of all its queries, by the audit and by the summary alike; the share of people's queries alone is another."""
    log, people, machine = simulated()
    left = pl.col("doc").is_in(["d0", "d1", "d2", "d3"]) & (pl.col("query") >= 40)
    irm = log.irm(system="system").judge(people, proxy=machine.filter(~left))
    found = irm.audit()
    (row,) = found.filter(check="unjudged in the top 10 by the machine").rows(named=True)
    assert (row["n"], row["share"], row["example"]) == (2 * 4 * 20, pytest.approx(1 / 6), "a, 40")
    assert found.filter(check="queries that the machine judged").select("n", "share").row(0) == (60, 1)
    assert re.match("16.7 % of the top 10 of . are unjudged, and 16.7 % of", irm.summary("ndcg@10")["sentence"][0])
    alone = log.filter(pl.col("system") == "a").irm(system=None).judge(people, proxy=machine.filter(~left))
    (step,) = alone.summary("ndcg@10").filter(kind="next")["sentence"]
    assert step == "Let the LLM judge also grade the unjudged documents at the top."


def outcome(irm: IRM[Any]) -> list[pl.DataFrame]:
    """What the verbs that take both return."""
    every = (irm.evaluate("ndcg@5", "map", "dcg@3", ci=0.9, margins=True), irm.compare("ndcg@5", "rr@3"), irm.audit())
    return [as_polars(one) for one in every]


@pytest.mark.slow
def test_every_kind_of_frame_gives_the_same(kind: str) -> None:
    """Whatever kind of frame log and judgments are of, results are the same."""
    log, people, machine = simulated()
    people = people.with_columns(chance=0.2 + 0.3 * (pl.col("query") % 2))
    roles = {"system": "system", "by": "device", "cluster": "user"}
    wanted = outcome(log.irm(**roles).judge(people, proxy=machine, sampling="chance"))
    sides = [as_kind(one, kind) for one in (log, people, machine)]
    found = outcome(IRM(sides[0], **roles).judge(sides[1], proxy=sides[2], sampling="chance"))
    for one, other in zip(found, wanted, strict=True):
        assert_frame_equal(one, other, check_dtypes=False, check_exact=False, abs_tol=1e-12)
    shuffled = log.sample(fraction=1, shuffle=True, seed=1)
    moved = outcome(shuffled.irm(**roles).judge(people.reverse(), proxy=machine.reverse(), sampling="chance"))
    for one, other in zip(moved[:2], wanted[:2], strict=True):
        assert_frame_equal(one, other, abs_tol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("part", ["all", "in part"])
@pytest.mark.parametrize(
    "engine", ["lists", *(pytest.param(one, marks=pytest.mark.slow) for one in ("duckdb", "dask"))]
)
def test_engines_and_lists_give_the_same(engine: str, part: str) -> None:
    """What is worked on in pieces, or unfolded from lists, gives the same numbers."""
    log, people, machine = simulated()
    people = people if part == "all" else shallow(people, pl.col("doc") < "d7")
    people = people.with_columns(chance=0.2 + 0.3 * (pl.col("query") % 2))
    roles: dict[str, Any] = {"system": "system", "by": "device", "cluster": "user", "query": "query"}
    roles |= {"doc": "doc", "score": "score"}
    wanted = outcome(log.irm(**roles).judge(people, proxy=machine, sampling="chance"))
    if engine == "lists":
        keys = ["system", "query", "device", "user"]
        log = log.group_by(keys, maintain_order=True).agg("doc", "score")
        irm: Any = log.irm(**roles)
    elif engine == "dask":
        dask = pytest.importorskip("dask.dataframe")
        irm = IRM(dask.from_pandas(log.to_pandas(), npartitions=3), **roles)
    else:
        irm = IRM(duckdb.from_arrow(log.to_arrow()), **roles, memory=60_000)
    found = irm.judge(people, proxy=machine, sampling="chance")
    for verb, asked, other in (
        ("evaluate", ("ndcg@5", "map", "dcg@3"), wanted[0]),
        ("compare", ("ndcg@5", "rr@3"), wanted[1]),
    ):
        one = getattr(found, verb)(*asked, **({"ci": 0.9, "margins": True} if verb == "evaluate" else {}))
        one = one.compute() if engine == "dask" else one.pl() if engine == "duckdb" else one
        one = pl.from_pandas(one) if isinstance(one, pd.DataFrame) else one
        assert_frame_equal(one, other, check_dtypes=False, check_row_order=False, abs_tol=1e-12)


def test_a_lazy_frame_is_not_run() -> None:
    """The schema of a lazy result is known, with the columns of prediction-powered means."""
    log, people, machine = simulated()
    lazy = log.lazy().irm(system="system").judge(people.lazy(), proxy=machine.lazy())
    for found in (lazy.evaluate("ndcg@5", ci=0.9), lazy.compare("ndcg@5")):
        schema = found.collect_schema()
        assert schema == found.collect().schema
        assert {"n_proxy": pl.Int64, "lambda": pl.Float64}.items() <= schema.items()


def test_the_repr_says_that_a_machine_judged_too() -> None:
    """The title names both sides."""
    log, people, machine = simulated()
    assert "with judgments of people and of a machine" in repr(log.irm(system="system").judge(people, proxy=machine))


def test_a_frame_without_rows_has_a_row() -> None:
    """A log without results has means of what was judged, and one without queries a row of nulls."""
    run = frame("query doc score", (1, "a", 1.0)).clear()
    people, machine = (table(grade=np.array(side, float)) for side in (HUMAN, SAME + OTHERS))
    found = run.irm.judge(people, proxy=machine).evaluate("dcg@1", ci=0.9)
    assert found["value", "n", "n_proxy"].row(0) == (0, 8, 12)


def test_documents_of_both_sides_are_compared_in_a_type_that_holds_them() -> None:
    """A decimal past 2**53 is not the float next to it."""
    log = pl.DataFrame({"query": [1, 2], "doc": [Decimal(5)] * 2, "score": [1.0, 2.0]})
    people = pl.DataFrame({"query": [1, 1], "doc": [Decimal(5), Decimal(2**53 + 1)], "grade": [1, 1]})
    machine = pl.DataFrame({"query": [1, 1, 2], "doc": [5.0, 2.0**53, 5.0], "grade": [1, 1, 0]})
    said = error(lambda: log.irm.judge(people, proxy=machine).evaluate("ndcg@5", ci=0.9), BadValueError)
    assert said == "doc of people's judgments has ids that doc of proxy= (Float64) cannot hold; give both one type"
    whole = machine.with_columns(doc=pl.Series([Decimal(5), Decimal(2**53 + 1), Decimal(5)]))
    assert log.irm.judge(people, proxy=whole).evaluate("ndcg@5", ci=0.9)["n"].to_list() == [1]


@pytest.mark.slow
def test_people_and_a_machine_have_a_report() -> None:
    """Means and differences are those of both; the page has their agreement, and how many more labels are needed."""
    log, people, machine = simulated()
    irm = log.irm(system="system").judge(people, proxy=machine)
    page = irm.report(metrics=["ndcg"], baseline="a", format="md")
    assert page.startswith("# 20 queries judged by people and 40 by an LLM judge, 2 systems\n")
    (difference,) = irm.compare("ndcg", baseline="a").to_dicts()
    summary = irm.summary("ndcg", baseline="a")
    (told,) = summary.filter(place=2).to_dicts()
    assert (told["difference"], told["ci_low"]) == (difference["difference"], difference["ci_low"])
    # A pair has other means than each system by itself: one figure for one thing.
    assert "difference in ndcg (" in told["sentence"]
    assert told["value"] is None
    comparison = page.partition("## Comparison")[2].partition("\n## ")[0]
    assert "value of the baseline" not in comparison
    assert "Not the differences of the means in Results: here the LLM judge has the weight best for diff" in comparison
    both = people.join(machine, on=["query", "doc"], suffix="_machine")
    equal = (both["grade"] == both["grade_machine"]).mean()
    (agreed,) = summary.filter(kind="agreement").to_dicts()
    assert agreed["sentence"].startswith(
        f"Of 160 documents that both judged, the LLM judge and people agree on {equal:.0%}"[:-1]
    )
    assert agreed["share"] == pytest.approx(equal)
    lines = f"| documents that both judged | 160 |\n| share with the same grade | {equal:.3f} |"
    assert lines in page.partition("## LLM judge")[2]
    for value in irm.evaluate("ndcg").select("people_value", "proxy_value", "proxy_bias").unpivot()["value"]:
        assert f"{value:.3f}" in page.partition("## LLM judge")[2].partition("\n## ")[0]
    assert "svg" in irm.report(metrics=["ndcg"], baseline="a")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "names"), [("polars", ("grade", "grade")), ("pandas", ("rating", "said")), ("polars", ("grade", "said"))]
)
@pytest.mark.parametrize(("metric", "n"), [("ndcg@5", 0), ("precision@3", 1)])
def test_labels_scattered_over_queries_lead_to_whole_ones(
    metric: str, n: int, kind: str, names: tuple[str, str]
) -> None:
    """Or to people's judgments over the machine's, by code that runs."""
    rng = np.random.default_rng(0)
    rows = [(q, d, s, float(rng.random())) for s in "ab" for q in range(60) for d in range(8)]
    log = pl.DataFrame(rows, schema=["query", "doc", "system", "score"], orient="row")
    machine = log.select("query", "doc").unique(maintain_order=True).with_columns(grade=pl.col("doc") % 4)
    people = machine.sample(200, seed=1).with_columns(grade=3)
    both = pl.concat([people, machine], how="vertical_relaxed").unique(["query", "doc"], keep="first")
    people, machine = (one.rename({"grade": name}) for one, name in zip((people, machine), names, strict=True))
    log, people, machine = (as_kind(one, kind) for one in (log, people, machine))
    irm = IRM(log, system="system").judge(people, grade=names[0], proxy=IRM(machine, grade=names[1]))
    told = as_polars(irm.summary(metric))
    whose = "none of the queries whole" if not n else "1 query whole, fewer than 5"
    assert f"a and b are not compared: people judged {whose}." in told["sentence"].to_list()
    (step,), (code,) = (told.filter(kind=kind)["sentence"] for kind in ("next", "code"))
    assert step.startswith("Let people judge 5 queries or more, drawn at random, each with every document that the ")
    assert code.startswith("Or lay the judgments of people over those of the LLM judge: means are then mostly ")
    there = {"irm": irm, "pl": pl, "pd": pd, "people": people, "machine": machine}
    laid = as_polars(eval(code.rstrip(".").partition("In code: ")[2], there).evaluate(metric))
    assert_frame_equal(laid, as_polars(IRM(as_polars(log), system="system").judge(both).evaluate(metric)))


def of_three(seed: int = 3, queries: int = 200) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """The same of three systems, of which the best two are nearly equal."""
    log, people, machine = simulated(seed, queries=queries, whole=30)
    again = log.filter(system="b").with_columns(pl.col("score") + pl.col("doc").str.slice(1).cast(pl.Int64) % 2 / 4)
    worse = pl.when(system="a").then(-pl.col("score")).otherwise("score")
    return pl.concat([log.with_columns(score=worse), again.with_columns(system=pl.lit("c"))]), people, machine


@pytest.mark.parametrize("n_systems", [2, 3])
def test_the_next_step_with_a_machine_is_so_many_more_labels(n_systems: int) -> None:
    """The number is that of sample_size(), with the correction of compare()."""
    log, people, machine = of_three()
    named = ["b", "c"] if n_systems == 2 else ["a", "b", "c"]
    irm = log.filter(pl.col("system").is_in(named)).irm(system="system").judge(people, proxy=machine)
    (row,) = irm.summary("dcg@5").filter(kind="next").to_dicts()
    _, needed, more = re.findall("(Let people judge|[0-9]+)", row["sentence"])[:3]
    (pair,) = irm.compare("dcg@5").filter(system="c", baseline="b").to_dicts()
    assert pair["n_tests"] == {2: 1, 3: 3}[n_systems]
    detect = [abs(pair["difference"]), *(share * pair["mde"] for share in (0.5, 0.75, 0.9))]
    found = irm.sample_size("dcg@5", detect=detect, n_tests=pair["n_tests"]).filter(system="c", baseline="b")["needed"]
    assert int(needed) == next(n for n in found if n is not None and n > 30)
    assert int(needed) - int(more) == 30


def test_queries_that_the_machine_alone_judged_are_told() -> None:
    """A difference and a value are estimated from both; the title counts them once, and none is left out."""
    log, people, machine = of_three(queries=60)
    irm = log.irm(system="system")
    both = "estimated from 30 queries judged by people and 30 by the LLM judge alone"
    told = irm.judge(people, proxy=machine).summary("ndcg@5", baseline="a").filter(kind="difference")["sentence"]
    assert both in told[0]
    alone = log.filter(system="a").drop("system").irm().judge(people, proxy=machine)
    (value,) = alone.summary("ndcg@5").filter(kind="value")["sentence"]
    assert value.endswith(f"{both}.")
    firsts = log.filter(pl.col("score").rank("ordinal", descending=True).over("system", "query") <= 3)
    some = people.join(firsts.filter(pl.col("system") != "b"), on=["query", "doc"], how="semi")
    n = irm.judge(some, proxy=machine).evaluate("precision@3")["n"]
    page = irm.judge(some, proxy=machine).report(metrics=["precision@3"], format="md")
    assert page.startswith(f"# 60 queries judged by an LLM judge, {n.min()} to 30 of them by people too, 3 systems\n")
    assert n.min() < n.max() == 30
    assert "leaves them out" not in page
    few = irm.judge(people.filter(pl.col("query") < 3), proxy=machine)
    for baseline in ({}, {"baseline": "b"}, {"baseline": ["a", "b"]}):
        (pair,) = few.summary("precision@3", **baseline).filter(kind="difference")["sentence"]
        names, why = pair.split(" are not compared: ")
        assert sorted(re.findall(r"\b[abc]\b", names)) == ["a", "b", "c"]
        assert why == "people judged 3 queries whole, fewer than 5."
    few = few.summary("precision@3")["sentence"].to_list()
    (step,) = [one for one in few if one.startswith("Let people judge 5 queries or more")]
    assert "each with every document that the LLM judge judged of the first 3 results of each system;" in step
