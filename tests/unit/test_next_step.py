"""The next step of a summary is one that would settle the question, and differences have one direction in a report."""

from __future__ import annotations

import html
import json
import re
from datetime import date, timedelta
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from frame_metrics import IRM
from helpers import as_polars


def saved(queries: int, seed: int = 0, **better: float) -> IRM[Any]:
    """Values of systems on the same queries, whose means are as given."""
    rng, parts = np.random.default_rng(seed), []
    for name, more in better.items():
        noise = rng.normal(0, 0.1, queries)
        rr = 0.4 + more + noise - noise.mean()
        parts.append(pl.DataFrame({"query": range(queries), "run": name, "rr": rr}))
    return IRM(pl.concat(parts), query="query", system="run", value="rr")


def next_of(irm: IRM[Any], **options: Any) -> str:
    rows = irm.summary(**options).filter(kind="next")
    return " ".join(rows["sentence"])


@pytest.mark.slow
@pytest.mark.parametrize("library", ["polars", "pandas"])
@pytest.mark.parametrize("by", ["day", ["device", "day"]])
@pytest.mark.parametrize("fall", [0.2, 0.03])
def test_a_break_leads_to_before_and_after(library: str, by: Any, fall: float) -> None:
    """By code that runs as it stands, in the library of the frame, with the other columns of segments, or with one of
    the frame that may explain it.

    A small fall may have come at once or step by step.
    """
    rng, n = np.random.default_rng(0), 40 * 30
    rows = {"query": range(n), "day": [date(2026, 5, 1) + timedelta(days=i // 30) for i in range(n)]}
    rows |= {"device": ["phone", "web"] * (n // 2), "rr": rng.normal(0.5, 0.1, n) - fall * (np.arange(n) >= 24 * 30)}
    frame = pl.DataFrame(rows)
    irm = IRM(frame if library == "polars" else frame.to_pandas(), query="query", value="rr", by=by)
    rows = as_polars(irm.summary())
    (begin,), (said,) = (rows.filter(kind=kind)["sentence"] for kind in ("next", "code"))
    assert re.fullmatch(r"Compare the time before 2026-05-2[45] with that from then on, by device, .*", begin)
    begin, code = said.rstrip(".").split(": ", 1)
    assert begin == "In code"
    assert f" `{code}`" in irm.report(format="md")
    assert f"<code>{html.escape(code)}</code>" in irm.report(format="html").replace("&#39;", "&#x27;")
    found = as_polars(eval(code, {"irm": irm, "pl": pl}))
    assert found.columns[:3] == ["period", "baseline", "device"]
    assert {*found["period"], *found["baseline"]} == {"before", "after"}
    told = as_polars(eval(code.rsplit(".", 1)[0], {"irm": irm, "pl": pl}).summary())["sentence"].to_list()
    assert any(one.startswith("after is below before: rr 0.") for one in told)
    assert any(one.startswith("Each period has queries of its own") for one in told)


@pytest.mark.slow
@pytest.mark.parametrize("library", ["polars", "pandas"])
@pytest.mark.parametrize(("until", "names"), [(60, ("before", "after")), (20, ("rest", "outage"))])
def test_searches_without_a_day_are_in_neither_period(library: str, until: int, names: tuple[str, str]) -> None:
    """The first sentence has their number and their value, and the code leaves them out in both libraries."""
    rng, n = np.random.default_rng(0), 60 * 30
    day, lost = np.arange(n) // 30, rng.random(n) < 0.33
    value = np.where(lost, 0.0, (rng.random(n) < np.where((day >= 18) & (day < until), 0.3, 0.75)) * 1.0)
    rows = pl.DataFrame({"query": range(n), "value": value, "lost": lost}).with_columns(
        day=pl.when(pl.col("lost").not_()).then(pl.Series([date(2026, 9, 1) + timedelta(days=int(at)) for at in day]))
    )
    frame = rows.select("query", "value", "day")
    irm = IRM(frame if library == "polars" else frame.to_pandas(), query="query", value="value", by="day")
    said = as_polars(irm.summary("value"))
    first = f"{lost.sum():,} of 1,800 queries (32.2 %) have no day, and are in values over all, but in no period"
    assert said.filter(place=1)["sentence"].item() == f"{first}: value is 0.000 there."
    code = said.filter(kind="code")["sentence"].item().rstrip(".").partition("In code: ")[2]
    (row,) = as_polars(eval(code, {"irm": irm, "pl": pl})).to_dicts()
    assert (row["baseline"], row["period"]) == names
    assert row["n"] + row["baseline_n"] == n - lost.sum()
    there = (day >= 18) & (day < until) & ~lost
    assert row["n"] == there.sum()
    assert row["value"] == pytest.approx(value[there].mean())
    assert row["baseline_value"] == pytest.approx(value[~there & ~lost].mean())


WEEKS = ["2026-01-05", "2026-01-12", "2026-01-19", "2026-01-26"]


@pytest.mark.parametrize("value", ["rr", "latency"])
@pytest.mark.parametrize("names", [WEEKS[:1], WEEKS[:2], WEEKS, ["old", "new"], ["old"]])
@pytest.mark.parametrize("by", [None, "device"])
def test_what_has_no_arm_is_counted_and_compared_with_nothing(value: str, names: list[str], by: str | None) -> None:
    """All other sentences have the figures of a log without it; it is an arm where the caller names it."""
    n = 300
    week = np.resize(np.array([*names, None]), n)
    rows = {"query": range(n), "week": week.tolist(), "device": np.repeat(["a", "b"], n // 2)}
    lost = np.array([one is None for one in week])
    amount = np.random.default_rng(0).normal(0.5, 0.1, n) + 0.3 * lost - 0.2 * (week == names[-1])
    log = pl.DataFrame(rows | {value: amount})
    irm = IRM(log, query="query", value=value, arm="week", by=by)
    said = irm.summary()
    share = f"{lost.sum()} of 300 queries ({lost.mean():.1%}) have no week".replace("%", " %").replace(".0 %", " %")
    there = f"{share}, and are compared with nothing: {value} is {amount[lost].mean():.3f} there."
    assert said.filter(place=1)["sentence"].item().startswith(there)
    figures = ["kind", "place", "of", "week", "baseline", "value", "baseline_value", "difference", "n", "baseline_n"]
    known = ["value", "difference", "highest", "mix", "arms", "winner"]
    alone = IRM(log.drop_nulls(), query="query", value=value, arm="week", by=by).summary()
    found, wanted = (one.filter(pl.col("kind").is_in(known)).select(figures) for one in (said, alone))
    assert_frame_equal(found, wanted)
    page = irm.report(format="md")
    for text in ("\n".join(said["sentence"]), page):
        assert "his frame" not in text
        assert "o week " not in text.replace(share, "")
    named = irm.summary(baseline=[None])
    assert named.filter(kind="difference")["baseline"].null_count() == len(named.filter(kind="difference")) > 0


@pytest.mark.slow
@pytest.mark.parametrize("library", ["polars", "pandas"])
@pytest.mark.parametrize("by", ["day", ["day", "device"]])
def test_a_break_of_terms_that_are_asked_every_day(library: str, by: Any) -> None:
    """The code compares the values of each day, in clusters of terms."""
    rng, days, terms = np.random.default_rng(0), 40, 30
    term, day = np.tile(np.arange(terms), days), np.repeat(np.arange(days), terms)
    good = rng.random(len(term)) < np.where(day < 25, 0.8, 0.3)
    rows = {"term": term, "day": [date(2026, 5, 1) + timedelta(days=int(i)) for i in day], "rank": 1, "label": good}
    frame = pl.DataFrame({**rows, "device": ["phone" if one < 15 else "web" for one in term]})
    irm = IRM(frame if library == "polars" else frame.to_pandas(), query="term", by=by)
    (said,) = as_polars(irm.summary("success@1")).filter(kind="code")["sentence"]
    code = said.rstrip(".").partition("In code: ")[2]
    assert ".per_query('success@1').irm(" in code
    assert "query=['term', 'day']" in code
    assert "cluster='term'" in code
    found = as_polars(eval(code, {"irm": irm, "pl": pl}))
    number, right = ("n_units", terms) if by == "day" else ("n", 15 * terms // 2)
    assert found[number][0] == right


@pytest.mark.slow
def test_all_segments_that_surely_changed_are_named() -> None:
    """The one that changed most has the sentence, and the others stand behind it."""
    rng, n = np.random.default_rng(1), 1800
    part, after = np.arange(n) % 6, np.arange(n) >= n // 2
    rr = rng.normal(0.5, 0.1, n) + after * np.array([-0.2, -0.15, 0.12, 0, 0, 0])[part]
    rows = {"query": range(n), "country": [*"DAS"] * (n // 3), "device": np.array(["tablet", "web"])[part // 3]}
    rows |= {"period": np.array(["before", "after"])[after.astype(int)], "rr": rr}
    irm = IRM(pl.DataFrame(rows), query="query", value="rr", by=["country", "device"], arm="period")
    (said,) = (one for one in irm.summary()["sentence"] if one.startswith("For D (country) and tablet (device), "))
    assert re.search(
        r"Surely lower too: A \(country\) and tablet \(device\) by 0\.1[45]\d; on the other hand surely higher: S "
        r"\(country\) and tablet \(device\) by 0\.1[123]\d\.$",
        said,
    )


@pytest.mark.slow
def test_an_outage_leads_to_code_that_names_it() -> None:
    rng, n = np.random.default_rng(0), 40 * 30
    day = np.arange(n) // 30
    rows = {"query": range(n), "period": [date(2026, 5, 1) + timedelta(days=int(one)) for one in day]}
    rr = rng.normal(0.5, 0.1, n) - 0.2 * ((day >= 20) & (day < 23))
    irm = IRM(pl.DataFrame(rows | {"rr": rr}), query="query", value="rr", by="period")
    (said,) = irm.summary().filter(kind="code")["sentence"]
    found = eval(said.rstrip(".").split(": ", 1)[1], {"irm": irm, "pl": pl})
    assert found.select("period ", "baseline").rows() == [("outage", "rest")]
    assert found["n"].to_list() == [90]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("irm", "sentence"),
    [
        (
            saved(50, new=0.02, old=0.0),
            "If the difference is as large as it looks (0.020), about 430 queries are likely to show it.",
        ),
        (
            saved(50, new=0.002, old=0.0),
            "More queries are worth it only if a difference of up to 0.040 matters: 200 queries are likely to show one "
            "above about 0.029, and one as small as it looks (0.002) takes about 43,000.",
        ),
        (saved(4, new=0.03, old=0.0), "If the difference is as large as it looks (0.030), about "),
        (
            IRM(
                pl.DataFrame({"query": [*range(9)] * 2, "run": ["a"] * 9 + ["b"] * 9, "rr": [0.5] * 18}),
                query="query",
                system="run",
                value="rr",
            ),
            "More queries are unlikely to tell a and b apart by rr; choose by another metric, or by cost.",
        ),
    ],
    ids=["shows", "too small", "few", "equal"],
)
def test_more_queries_are_advised_where_they_would_show_the_difference(irm: IRM[Any], sentence: str) -> None:
    """Where they would not, the sentence says from which difference on they are worth it."""
    assert next_of(irm).startswith(sentence)


@pytest.mark.slow
@pytest.mark.slow
@pytest.mark.parametrize("by", [None, "segment"])
def test_the_number_of_queries_is_over_all_segments_as_the_pair_is(by: str | None) -> None:
    """Of few queries too, where sample_size() would have a number for each segment."""
    ranks = {"old": [1, 5, 1, 3, 1], "new": [2, 5, 1, 3, 1]}
    rows = [(at, run, rank, 1, at % 3) for run, some in ranks.items() for at, rank in enumerate(some)]
    frame = pl.DataFrame(rows, schema=["query", "run", "rank", "label", "segment"], orient="row")
    irm = IRM(frame, query="query", system="run", rank="rank", label="label")
    needed = irm.sample_size("rr", detect=0.1, baseline="old")["needed"].item()
    (said,) = irm(by=by).summary("rr", baseline="old").filter(pl.col("kind") == "next")["sentence"]
    assert f"about {needed} searches are likely to show it" in said


def test_the_queries_that_lost_most_name_the_other_system() -> None:
    """Of three systems it is not known otherwise; and the best two come first, if they cannot be told apart."""
    assert next_of(saved(50, a=0.3, b=0.1, c=0.0), baseline="c") == ""
    assert next_of(saved(50, a=0.1, b=0.0, c=0.0), baseline="b").startswith(
        "Look at the queries that lost most against b: "
    )
    assert next_of(saved(50, a=0.301, b=0.3, c=0.0)).startswith("More queries are worth it only if ")


@pytest.mark.slow
def test_the_best_by_tests_of_one_side_may_be_told_from_none_by_those_of_both() -> None:
    """One sentence says both, as the leaderboard and the pair do; where the pair is told, nothing is added."""
    rng, n = np.random.default_rng(8), 60
    base = rng.normal(0.5, 0.1, n)
    noise = {name: base + more + rng.normal(0, 0.1, n) for name, more in {"a": 0.04, "b": 0.0, "c": -0.1}.items()}
    for more, added in ((0.0, "; a stricter test does not tell it from b"), (0.1, "")):
        values = noise | {"a": noise["a"] + more}
        parts = [pl.DataFrame({"query": range(n), "run": name, "rr": rr}) for name, rr in values.items()]
        irm = IRM(pl.concat(parts), query="query", system="run", value="rr")
        assert irm.leaderboard()["may_be_best"].to_list() == [True, False, False]
        said = irm.summary()["sentence"].to_list()
        assert f"The best of 3 systems by rr is a (95 % sure){added}." in said
        assert any(one.startswith("a and b cannot be told apart") for one in said) == bool(added)


def log(queries: int) -> pl.DataFrame:
    """Results of two systems; of so many queries a document is not judged."""
    rng = np.random.default_rng(2)
    frame = pl.DataFrame(
        {
            "query": np.repeat(np.arange(60), 6),
            "doc": [*range(6)] * 60,
            "grade": rng.integers(0, 2, 360),
            "old": rng.random(360),
            "new": rng.random(360),
        }
    )
    return frame.with_columns(grade=pl.when((pl.col("doc") > 0) | (pl.col("query") >= queries)).then("grade"))


@pytest.mark.slow
def test_results_are_to_be_judged_only_if_they_can_outweigh_the_difference() -> None:
    """A few unjudged results are not what leaves the question open."""
    few, many = (log(n).irm(score=["old", "new"]) for n in (1, 40))
    assert next_of(few, baseline="old").startswith(("If the difference ", "More queries "))
    assert next_of(many, baseline="old").startswith(
        "Judge some of the unjudged documents at the top, which could put old ahead; to_judge() lists "
    )


@pytest.mark.slow
@pytest.mark.parametrize("baseline", [None, "a", "b"])
@pytest.mark.parametrize("better", [{"a": 0.3, "b": 0.0}, {"a": 0.0, "b": 0.3}, {"a": 0.0, "b": 0.01}])
def test_sentences_and_tables_have_one_direction(better: dict[str, float], baseline: str | None) -> None:
    """It is that of the better system from the other, or of the other from a baseline that was named."""
    irm = saved(40, 1, **better)
    options = {} if baseline is None else {"baseline": baseline}
    found = json.loads(irm.report(None, format="json", **options))["tables"]
    (row,), (said,) = (
        found["comparison"]["rows"],
        [one for one in found["summary"]["rows"] if one["kind"] == "difference"],
    )
    best = max(better, key=lambda name: better[name])
    assert row["baseline"] == (baseline or next(name for name in better if name != best))
    for name in ("run", "baseline", "difference", "ci_low", "ci_high", "value", "wins", "losses", "n"):
        assert row[name] == said["system" if name == "run" else name]
    other = irm.compare(baseline=row["baseline"]).to_dicts()[0]
    assert {
        name: pytest.approx(value, abs=1e-9) if isinstance(value, float) else value for name, value in other.items()
    } == row


@pytest.mark.slow
def test_negative_values_are_turned_too() -> None:
    """Shares of a difference are of the size of the other value, and their ends change places."""
    frame = saved(40, 1, a=0.0, b=0.1).frame.with_columns(pl.col("rr") - 2)
    irm = IRM(frame, query="query", system="run", value="rr")
    (row,) = json.loads(irm.report(None, format="json"))["tables"]["comparison"]["rows"]
    other = irm.compare(baseline=row["baseline"]).to_dicts()[0]
    for name in ("relative", "relative_low", "relative_high", "effect_size"):
        assert row[name] == pytest.approx(other[name], abs=1e-9)


def judged(seed: int, top: int, share: float) -> IRM[Any]:
    """Two systems, of which the new one ranks by better scores, and judgments of a share of their documents."""
    rng, parts = np.random.default_rng(seed), []
    grade = rng.integers(0, 3, (60, 20))
    for name, noise in (("old", 2.0), ("new", 0.3)):
        order = np.argsort(-grade - rng.normal(0, noise, grade.shape), axis=1)[:, :top]
        rows = {
            "query": np.repeat(np.arange(60), top),
            "doc": order.ravel(),
            "rank": np.tile(np.arange(1, top + 1), 60),
        }
        parts.append(pl.DataFrame(rows).with_columns(system=pl.lit(name)))
    known = rng.random(grade.shape) < share
    query, doc = np.nonzero(known)
    return IRM(pl.concat(parts), system="system").judge(
        pl.DataFrame({"query": query, "doc": doc, "grade": grade[known]})
    )


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.6, 0.8, 0.97])
@pytest.mark.parametrize("metric", ["ndcg@10", "precision@10", "recall@10"])
def test_unjudged_results_matter_where_they_could_turn_the_difference(metric: str, share: float) -> None:
    """As ``bounds`` says: then the answer is one so far, and they are the next step; else neither is said."""
    irm = judged(1, 10, share)
    (bound,) = irm.bounds(metric, of="unjudged", baseline="old", max_grade=2).to_dicts()
    found = irm.summary(metric, baseline="old")
    (said,) = found.filter(kind="difference")["sentence"]
    assert " beats " in said
    assert bound["can_turn"] == said.startswith("As judged so far, new beats old: ")
    assert bound["can_turn"] == said.endswith(", but judging what is unjudged could turn it.")
    to_judge = "Judge some of the unjudged documents at the top, which could put old ahead; to_judge()"
    assert " ".join(found.filter(kind="next")["sentence"]).startswith(to_judge) == bound["can_turn"]


def test_the_next_step_names_the_pair_and_large_numbers_in_words() -> None:
    """Of arms that are alike the number is said once; of three systems a difference has the names of both."""
    found = 1_000 * [1, 0, 0]
    arms = pl.DataFrame({"value": [*found, 0, *found[1:]], "arm": ["new"] * 3_000 + ["old"] * 3_000})
    arms = arms.with_row_index("query").irm(query="query", value="value", arm="arm", system=None)
    said = next_of(arms, baseline="old")
    assert said.endswith(" million.")
    assert "12,000 queries in each arm are likely to show one above about " in said


def test_the_best_without_a_leaderboard_are_those_that_none_surely_beats() -> None:
    """Of three classifiers the best two are named, as the tests of all pairs tell them from the third."""
    label = [0, 1] * 60
    models = {"a": [7], "b": [5, 9], "c": range(50)}  # the rows that each gets wrong
    parts = [
        pl.DataFrame({"model": name, "doc": range(120), "label": label}).with_columns(
            predicted=pl.when(pl.col("doc").is_in([*wrong])).then(1 - pl.col("label")).otherwise("label")
        )
        for name, wrong in models.items()
    ]
    said = pl.concat(parts).irm(system="model", doc="doc").summary("accuracy")
    (best,) = said.filter(kind="best").to_dicts()
    assert (best["place"], best["n_units"], best["baseline_n_units"]) == (2, 2, 3)
    assert best["sentence"] == "The best of 3 systems by accuracy is one of a and b (95 % sure)."
