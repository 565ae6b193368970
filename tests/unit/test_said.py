"""What a summary says of differences: never more than intervals and corrected p-values bear, and why nothing can be."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import frame_metrics
from frame_metrics import IRM
from frame_metrics.report.data_sentences import UnjudgedResults
from frame_metrics.report.difference_sentences import Difference, surely, surely_too
from frame_metrics.report.of_best import with_next_best
from frame_metrics.report.sentences import PLAIN
from frame_metrics.report.words import no_more
from inside import REGISTRY, few_pairs_together


def values(queries: int = 40, seed: int = 0, **better: float) -> pl.DataFrame:
    """Values of systems on the same queries."""
    rng = np.random.default_rng(seed)
    return pl.concat(
        pl.DataFrame({"query": range(queries), "run": name, "rr": rng.normal(0.4 + more, 0.1, queries).clip(0, 1)})
        for name, more in better.items()
    )


def saved(frame: pl.DataFrame, **roles: Any) -> IRM[Any]:
    return IRM(frame, **{"query": "query", "system": "run", "value": "rr"} | roles)


def told(irm: IRM[Any], about: str, **options: Any) -> list[dict[str, Any]]:
    return [row for row in irm.summary(**options).to_dicts() if row["kind"] == about]


@pytest.mark.parametrize(
    ("frame", "roles", "options", "floor"),
    [
        (values(5, a=0.3, b=0.0), {}, {}, "with 5 queries no p can be below 0.0625"),
        (
            values(5, a=0.3, b=0.0, c=0.0),
            {},
            {},
            "with 5 queries no p can be below 0.0625, corrected for 3 comparisons",
        ),
        (
            values(20, a=0.3, b=0.0).with_columns(rr=pl.when(pl.col("query") < 3).then("rr").otherwise(0.5)),
            {},
            {},
            "with 3 of 20 queries that differ no p can be below 0.25",
        ),
        (
            values(20, a=0.3, b=0.0).with_columns(user=pl.col("query") % 4),
            {"cluster": "user"},
            {},
            "with 4 users no p can be below 0.125",
        ),
        (
            values(3, a=0.3, b=0.0).with_columns(pl.concat_str("query", "run").alias("query")),
            {"system": None, "arm": "run"},
            {"split": "equal"},
            "with 3 and 3 queries no p can be below 0.1",
        ),
        (
            values(6, a=0.0, b=0.0).with_columns(rr=(pl.col("run") == "a").and_(pl.col("query") < 4).cast(pl.Float64)),
            {},
            {},
            "with 4 of 6 queries that differ no p can be below 0.0625",
        ),
    ],
    ids=["queries", "several systems", "few that differ", "clusters", "arms", "ones"],
)
def test_so_few_that_no_p_can_be_below_the_level_are_called_few(
    frame: pl.DataFrame, roles: dict[str, Any], options: dict[str, Any], floor: str
) -> None:
    """The least p-value of the test stands in the sentence, and no claim that nothing was found."""
    (row, *_) = told(saved(frame, **roles), "difference", **options)
    assert f"; {floor}: so few cannot show any difference." in row["sentence"]
    assert "told apart" not in row["sentence"]


def test_six_queries_are_not_too_few() -> None:
    """All signs of six differences alike have a p of 2 / 64."""
    (row,) = told(saved(values(6, a=0.3, b=0.0)), "difference")
    assert row["p_adjusted"] == 2 / 64
    assert row["sentence"].startswith("a beats b: ")


def test_the_least_difference_is_the_near_end_rounded_down() -> None:
    """It stands beside a difference that is told; of a lower one it has no sign."""
    (row,) = told(saved(values(a=0.1, b=0.0)), "difference", baseline="b")
    assert f", at least {(least := no_more(row['ci_low']))}, 95 % interval {least} to " in row["sentence"]
    (row,) = told(saved(values(a=0.1, b=0.0)), "difference", baseline="a")
    assert f", at least {(least := no_more(row['ci_high']))[1:]} less, 95 % interval " in row["sentence"]
    assert f" to {least}; " in row["sentence"]


@pytest.mark.parametrize(
    ("roles", "options"),
    [
        ({}, {"ci": 0.8}),
        ({"system": None, "arm": "run"}, {"covariate": "before"}),
    ],
    ids=["a lower level", "single intervals beside Holm"],
)
def test_no_least_difference_where_the_interval_is_less_sure_than_the_p_value(
    roles: dict[str, Any], options: dict[str, Any]
) -> None:
    """An interval of 80 %, or of one of several pairs, is no claim at 5 %."""
    frame = values(60, a=0.3, b=0.0, c=0.0)
    if roles:
        frame = frame.with_columns(pl.concat_str("query", "run").alias("query"), before=pl.col("rr") * 0 + 1)
        frame = frame.with_columns(before=pl.int_range(pl.len()) % 7)
    row = told(saved(frame, **roles), "difference", **options)[-1]
    assert " beats " in row["sentence"]
    assert "at least" not in row["sentence"]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.6226, "+0.622"),
        (-0.0129, "-0.012"),
        (0.29, "+0.290"),
        (12.9999, "+12.999"),
        (1234.59, "+1,234.5"),
        (9e-4, ""),
    ],
)
def test_a_number_that_says_no_more(number: float, text: str) -> None:
    """As many digits as other numbers, rounded towards 0; 0 is left out."""
    assert no_more(number) == text


def test_sentences_have_the_level_of_their_interval() -> None:
    """Of a difference and of a value, the caller's."""
    irm = saved(values(a=0.3, b=0.0))
    assert ", 80 % interval +" in told(irm, "difference", ci=0.8)[0]["sentence"]
    (one,) = told(saved(values(a=0.3), system=None), "value")
    assert " (95 % interval 0." in one["sentence"]


def test_a_level_that_is_not_the_usual_one_is_said() -> None:
    """What would show, and the systems that may be the best, are at the level of ci=."""
    irm = saved(values(a=0.0, b=0.0, c=-0.2))
    texts = irm.summary(ci=0.8)["sentence"].to_list()
    (best,) = told(irm, "best", ci=0.8)
    assert " (80 % sure)" in best["sentence"]
    assert any(text.endswith(" are likely to show at a level of 0.2.") for text in texts)


@pytest.mark.parametrize(
    ("better", "sentence"),
    [
        ({"a": 0.3, "b": 0.0, "c": 0.0}, "The best of 3 systems by rr is a (95 % sure)."),
        (
            {"a": 0.3, "b": 0.299, "c": 0.0, "d": 0.3},
            "The best of 4 systems by rr is one of a, b and d (95 % sure).",
        ),
        ({"a": 0.0, "b": 0.0, "c": 0.0}, "Any of 3 systems may be the best by rr."),
        (dict.fromkeys("abcdefgh", 0.3) | {"z": 0.0}, "The best of 9 systems by rr is one of "),
    ],
)
def test_the_systems_that_may_be_the_best_are_those_of_the_leaderboard(better: Any, sentence: str) -> None:
    """At most five have their names."""
    irm = saved(values(60, 1, **better))
    (row,) = told(irm, "best")
    assert row["sentence"].startswith(sentence) or sorted(row["sentence"]) == sorted(sentence)
    board = irm.leaderboard()
    assert row["n_units"] == board["may_be_best"].sum()
    named = board.filter("may_be_best")["run"].to_list()
    assert row["of"] is not None
    assert all(name in row["of"] for name in named[:5])
    assert (f"and {len(named) - 5} more" in row["of"]) == (len(named) > 5)


@pytest.mark.parametrize(("systems", "options"), [("ab", {}), ("abc", {"baseline": "a"})])
def test_two_systems_and_those_with_a_baseline_have_no_leaderboard(systems: str, options: dict[str, Any]) -> None:
    """The difference, or those from the baseline, say what is asked."""
    assert not told(saved(values(**dict.fromkeys(systems, 0.0))), "best", **options)


@pytest.mark.parametrize(
    ("better", "start"),
    [
        ({"a": 0.3, "b": 0.2, "c": 0.0}, "Apart from the baseline c, the best and the next best: a beats b: rr "),
        ({"a": 0.3, "b": 0.3, "c": 0.0}, "Apart from the baseline c, the best and the next best: "),
    ],
)
def test_with_a_baseline_the_best_is_held_against_the_next_best(better: Any, start: str) -> None:
    """At the p-value and the interval of all pairs of systems, the baseline among them."""
    irm = saved(values(60, 1, **better))
    (row,) = told(irm, "winner", baseline="c")
    (found,) = irm.compare().filter(pl.col("run").is_in(["a", "b"]), pl.col("baseline").is_in(["a", "b"])).to_dicts()
    assert row["sentence"].startswith(start)
    assert (row["p_adjusted"], row["correction"]) == (found["p_adjusted"], "max_t")
    assert abs(row["difference"]) == abs(found["difference"])
    assert (" beats " in row["sentence"]) == (found["p_adjusted"] < 0.05)
    (headline,) = told(irm, "difference", baseline="c")
    next_best = f"It also beats the next best, b, by {abs(found['difference']):.3f}. Surely better than c: b by "
    alike = "and the next best, "
    assert (next_best if found["p_adjusted"] < 0.05 else alike) in headline["sentence"]
    sides = {"system": "a", "baseline": "c"}
    two = Difference(unit="queries", metric="rr", difference=0.3, p_adjusted=0.01, can_turn=True, **sides)
    (first,) = with_next_best([two], [replace(two, baseline="b")])
    assert first.more == "It also beats the next best so far, b, by 0.300"


@pytest.mark.parametrize(
    ("better", "baseline"), [({"a": 0.3, "b": 0.0}, "b"), ({"a": 0.3, "b": 0.2, "c": 0.0}, "a")], ids=["two", "first"]
)
def test_there_is_no_next_best_where_there_is_one_system_or_the_baseline_is_best(better: Any, baseline: str) -> None:
    """Then the sentence about the baseline is all."""
    assert not told(saved(values(60, **better)), "winner", baseline=baseline)


def test_a_line_says_how_often_several_sentences_are_wrong() -> None:
    """Each at most in 5 % of such reports, and some of n in n times as many; of one sentence none says so."""
    irm = saved(values(60, 1, a=0.3, b=0.2, c=0.0))
    (row,) = told(irm, "tests", baseline="c")
    assert row["sentence"] == (
        "2 of these sentences rest on tests: each is wrong in at most 5 % of such reports, and one or more of them in "
        "up to 10 %."
    )
    assert (row["n"], row["value"], row["share"]) == (2, 0.05, 0.1)
    assert not told(saved(values(60, 1, a=0.3, b=0.0)), "tests")


def test_a_direction_that_is_not_known_is_declared_as_the_sentence_says() -> None:
    """A metric of the name of a column of numbers makes a loss of it known."""
    frame = values(60, 1, a=0.3, b=0.2).rename({"rr": "euros_of_a_basket"})
    irm = saved(frame, value="euros_of_a_basket")
    (row,) = told(irm, "not worse", baseline="b", margin=0.05)
    declared = "a metric of this name declares it, as @frame_metrics.metric(range=(0, np.inf), best=np.inf)"
    assert declared in row["sentence"]

    @frame_metrics.metric(range=(0, np.inf), best=np.inf)
    def euros_of_a_basket(run: frame_metrics.Ranking) -> np.ndarray:
        """Euros that were spent after a search."""
        return run.total(run.column("euros"))

    try:
        (row,) = told(irm, "not worse", baseline="b", margin=0.05)
        assert row["sentence"] == "a is not worse than b by more than 0.05 in euros_of_a_basket (p < 0.001)."
    finally:
        del REGISTRY[euros_of_a_basket.name]


@pytest.mark.parametrize(
    ("together", "about"),
    [(10_000, ["difference", "best"]), (1_000, ["best", "value"]), (100, ["difference"])],
    ids=["all pairs", "fewer flips", "none"],
)
def test_of_so_many_pairs_that_p_cannot_be_low_the_leaderboard_speaks(
    monkeypatch: pytest.MonkeyPatch, together: int, about: list[str]
) -> None:
    """Where all pairs would take long, p-values are multiplied by their number; beyond that there is no leaderboard."""
    few_pairs_together(monkeypatch, together)
    frame = values(15, **{f"s{i:02d}": 0.3 * (i == 7) for i in range(34)})
    rows = saved(frame).summary().to_dicts()
    assert [row["kind"] for row in rows if row["kind"] in ("best", "difference", "value")] == about
    best = [row["sentence"] for row in rows if row["kind"] == "best"]
    assert best == ["The best of 34 systems by rr is s07 (95 % sure)."] * ("best" in about)
    floor = "below 0.0561, corrected for 561 comparisons: so few cannot show any difference."
    assert rows[0]["sentence"].endswith(floor) == (about == ["difference"])


@pytest.mark.parametrize(
    ("column", "words"),
    [("user", " by 20 and 20 users"), ("Session_ID", " in 20 and 20 sessions"), ("text", " of 20 and 20 clusters")],
)
def test_units_of_arms_have_the_word_for_their_column(column: str, words: str) -> None:
    """Searches are by users and in sessions; a column with another name has clusters."""
    frame = values(40, a=0.3, b=0.0).with_columns(pl.concat_str("query", "run").alias("query"))
    frame = frame.with_columns((pl.int_range(pl.len()).over("run") % 20 + 20 * (pl.col("run") == "b")).alias(column))
    found = saved(frame, system=None, arm="run", cluster=column).summary(split="equal")
    assert f"over 40 and 40 queries{words}" in found.filter(kind="difference")["sentence"].item()


def test_saved_numbers_under_a_name_of_several_metrics_are_compared_in_segments() -> None:
    """The name of the column is the metric, although a caller who asks for it would get two."""
    frame = values(a=0.3, b=0.0).rename({"rr": "recall@5,10"}).with_columns(place=pl.col("query") % 2)
    found = saved(frame, value=["recall@5,10"], by="place").summary(baseline="b")
    assert {*found.filter(pl.col("kind") != "tests")["metric"]} == {"recall@5,10"}
    assert "absent" not in found["kind"].to_list()


def test_segments_of_saved_numbers_have_the_signs_of_the_answer() -> None:
    """All differences on a page are minus the baseline."""
    frame = values(a=0.0, b=0.0).with_columns(place=pl.col("query") % 2)
    lower = pl.when(pl.col("place") == 1).then(pl.col("rr") - 0.3).otherwise(pl.col("rr") + 0.05)
    log, before = frame.filter(run="a").with_columns(rr=lower), frame.filter(run="b")
    irm = IRM(log.drop("run"), query="query", value="rr", by="place")
    found = [
        row
        for row in told(irm, "difference", baseline=before.drop("run").with_columns(metric=pl.lit("rr"), value="rr"))
        if row["of"]
    ]
    assert [(row["of"], row["difference"] < 0) for row in found] == [("place = 1", True)]
    assert found[0]["sentence"].startswith("For 1 (place), this frame loses to saved: ")


def of_latency(side: str = "system", **better: float) -> IRM[Any]:
    """Systems, or arms, by a number of which nobody knows if more is better."""
    frame = values(**better).rename({"rr": "latency"})
    frame = frame.with_columns(pl.concat_str("run", "query").alias("query")) if side == "arm" else frame
    return saved(frame, **{"system": None, side: "run"}, value="latency")


@pytest.mark.parametrize(
    ("better", "begin", "words"),
    [
        (
            {"a": 0.0, "b": 0.3, "c": 0.1},
            "b",
            ["surely above c by 0.", " and a by 0.", "; a has the lowest, 0.", "c by"],
        ),
        ({"a": 0.0, "b": 0.3, "c": 0.299}, "b", ["surely above a by 0.", ", not surely above c; a has the lowest, 0."]),
        ({"a": 0.0, "b": 0.004, "c": 0.001}, "b", ["not surely above any other; ", "not surely below any other."]),
        (dict(zip("abcdefg", np.arange(7) / 12, strict=True)), "g", ["of 7", "and 3 more; a has", "and 3 more."]),
    ],
    ids=["all are apart", "some are not", "none", "many"],
)
@pytest.mark.parametrize("side", ["system", "arm"])
def test_without_a_direction_the_highest_and_the_lowest_are_named(
    side: str, better: dict[str, float], begin: str, words: list[str]
) -> None:
    """None is the best: what surely differs from either end is named, and it is the answer."""
    (row,) = told(of_latency(side, **better), "highest")
    assert row["place"] == 2
    assert row["sentence"].startswith(f"{begin} has the highest latency of {len(better)} {side}s, 0.")
    assert all(part in row["sentence"] for part in words), row["sentence"]


def test_two_systems_or_a_direction_have_no_highest() -> None:
    """The one difference says it, or the best does."""
    assert told(of_latency(a=0.0, b=0.3), "highest") == []
    assert told(saved(values(a=0.0, b=0.3, c=0.1)), "highest") == []


def test_sums_are_ordered_by_what_is_compared() -> None:
    """An arm with more queries has the larger sum, and fewer results in each."""
    few = {"few": (10, 9), "many": (40, 5), "some": (20, 1)}
    rows = [(f"{arm}{i}", arm, n) for arm, (queries, of) in few.items() for i in range(queries) for n in range(of)]
    log = pl.DataFrame(rows, ["query", "arm", "score"], orient="row").with_columns(label=True)
    (row,) = [one for one in log.irm(arm="arm").summary("num_ret").to_dicts() if one["kind"] == "highest"]
    assert row["sentence"].startswith("few has the highest num_ret of 3 arms, 9.000")


def test_more_that_differ_from_a_baseline_are_counted() -> None:
    """Three are named, those with the highest values."""
    irm = of_latency(**dict(zip("abcdef", np.arange(6) / 8, strict=True)))
    found = irm.summary(baseline="a")["sentence"].to_list()
    assert [one[:12] for one in found if " is above a: " in one] == ["f is above a", "e is above a", "d is above a"]
    assert "2 more systems surely differ from a." in found


@pytest.mark.parametrize(("name", "word"), [("latency", "changed most"), ("rr", "lost most")])
def test_queries_lose_where_more_is_better(name: str, word: str) -> None:
    """Without a direction they are those that moved farthest, up or down."""
    irm = saved(values(a=0.0, b=0.1).rename({"rr": name} if name != "rr" else {}), value=name)
    (row,) = told(irm, "next", baseline="a")
    moves = irm.compare(baseline="a", per_query=True)["difference"].to_list()
    farthest = max(moves, key=abs) if name == "latency" else min(moves)
    assert row["sentence"].startswith(f"Look at the queries that {word}: ")
    assert f"({farthest:+.3f})" in row["sentence"]


def test_of_others_that_surely_differ_the_larger_come_first() -> None:
    """Three on each side have names; what is not significant has none."""
    gaps = {"a": -0.1, "b": -0.3, "c": 0.2, "d": -0.2, "e": -0.15}
    pairs = [
        Difference(metric="rr", unit="rows", system=one, difference=by, p_adjusted=0.01) for one, by in gaps.items()
    ]
    others = [*pairs, replace(pairs[0], system="f", difference=0.9, p_adjusted=0.2)]
    lower = "urely lower{}: b by 0.300, d by 0.200, e by 0.150 and 1 more"
    assert surely_too(others, -0.1) == f"S{lower.format(' too')}; on the other hand surely higher: c by 0.200"
    assert surely_too(others, 0.1) == f"Surely higher too: c by 0.200; on the other hand s{lower.format('')}"
    assert surely_too(others[:1], 0.1) == "On the other hand surely lower: a by 0.100"
    assert surely(others[:1], "surely worse than z", "surely better than z", -1) == "Surely better than z: a by 0.100"
    assert surely_too(others[-1:], 0.1) == ""


@pytest.mark.parametrize(
    ("share", "other", "begin"), [(1e-16, 0.0, ""), (0.0, 0.1, "0.0 % of"), (0.2, None, "20.0 % of")]
)
def test_no_sentence_says_that_none_is_unjudged(share: float, other: float | None, begin: str) -> None:
    """A mean of weights may be just above 0."""
    shares = {"share": share, "baseline_share": other}
    row = UnjudgedResults(metric="rr", baseline="b", cutoff=10, warned=False, **shares)
    assert row.sentence[: len(begin) or None] == begin


def test_the_docstring_has_all_kinds_of_sentences() -> None:
    """Those of the classes, and of sentences that are given as text, as the table of the page has them."""
    page = (Path(__file__).parents[2] / "docs" / "report.md").read_text(encoding="utf-8")
    kinds = re.findall(r"^\| `([a-z ]+)` \|", page.partition("<!-- sentences -->")[2], re.MULTILINE)
    text = " ".join(str(IRM.summary.__doc__).split())
    assert {*PLAIN} < {*kinds}
    assert [kind for kind in kinds if f'"{kind}"' not in text.partition("place (1 to 5")[0]] == []
