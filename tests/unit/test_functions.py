"""Gains and discounts that are functions of the caller's: the metric is then used by value."""

from __future__ import annotations

import math
import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

from frame_metrics import IRM, BadValueError, KernelError, Metric, Ranking, metrics
from frame_metrics.testing import check_metric
from helpers import KINDS, as_kind, as_polars, error, made_log
from inside import REGISTRY, read_text

OF_GAIN = [metric for metric in REGISTRY.values() if "gain" in metric.options and not metric.off_policy]


def burges(grade: float) -> float:
    """2^g - 1, in the way of somebody who thinks of one grade."""
    return 2**grade - 1 if grade > 0 else 0


def by_log2(rank: float) -> float:
    return 1 / math.log2(rank + 1)


def needed(metric: Metric) -> Metric:
    return metric(max_grade=4) if "max_grade" in metric.options else metric


def log(**roles: Any) -> IRM[pl.DataFrame]:
    return made_log().irm(**{"score": "score", "undefined": "null", **roles})


@pytest.mark.parametrize("own", OF_GAIN, ids=str)
@pytest.mark.parametrize("roles", [{}, {"ties": "order"}, {"unjudged": "drop"}, {"duplicates": "first"}], ids=str)
def test_a_function_of_the_grade_is_the_gain_it_gives(own: Metric, roles: dict[str, Any]) -> None:
    """Every metric that takes a gain has the values of the gain by name, to the last bit."""
    same = {"linear": lambda grade: grade, "exp": burges}
    for name, function in same.items():
        expected = log(**roles).per_query(needed(own)(gain=name))["value"]
        assert log(**roles).per_query(needed(own)(gain=function))["value"].equals(expected)


@pytest.mark.parametrize("own", OF_GAIN, ids=str)
def test_a_list_is_the_gains_of_the_grades_from_0(own: Metric) -> None:
    """As the mapping of each place to its number, which is what the metric prints; as text, as a list or a tuple."""
    gains = [0, 1, 3, 7.5]
    mapping = needed(own)(gain=dict(enumerate(gains)), **{"max_grade": 3} if "max_grade" in own.options else {})
    listed, tupled = (mapping(gain=kind(gains)) for kind in (list, tuple))
    assert listed == tupled == mapping
    assert read_text(str(listed))[0][1] == mapping
    text = str(mapping).replace("{0: 0, 1: 1, 2: 3, 3: 7.5}", "[0, 1, 3, 7.5]")
    assert text != str(mapping)
    few = made_log().filter(pl.col("grade").fill_null(0) <= 3).irm(score="score")
    found = few.per_query(text)
    assert found["metric"].unique().to_list() == [text]
    assert found["value"].equals(few.per_query(mapping)["value"])


def test_a_list_of_gains_has_one_for_each_grade() -> None:
    """[0, 1, 3] gains 3 for grade 2, 0 for a negative one; a grade past its end, or between two, is an error."""
    frame = pl.DataFrame({"query": [1, 1, 1], "score": [3.0, 2.0, 1.0], "grade": [2, -1, 1]})
    dcg = 3 + 1 / 2
    assert frame.irm.per_query("dcg(gain=[0, 1, 3])")["value"].to_list() == [pytest.approx(dcg, abs=1e-12)]
    best = 3 + 1 / np.log2(3)
    assert frame.irm.per_query("ndcg(gain=[0, 1, 3])")["value"].to_list() == [pytest.approx(dcg / best, abs=1e-12)]
    said = "gain: there is none for the grades {}; add them"
    for grade in (3, 1.5):
        odd = frame.with_columns(grade=pl.Series([float(grade), 0, 1]))
        assert error(lambda odd=odd: odd.irm.evaluate("ndcg(gain=[0, 1, 3])")) == said.format(float(grade))
        assert odd.irm.evaluate(f"ndcg(gain={{0: 0, 1: 1, {grade}: 2}})")["n"].to_list() == [1]
    assert Ranking(grade=[2, 0, 1], lengths=[3]).gains([0, 1, 3]).tolist() == [3, 0, 1]
    for wrong in ([], [0, -1], [0, "1"], [0, float("nan")]):
        assert "is not 'linear', 'exp'" in error(lambda wrong=wrong: metrics.ndcg(gain=wrong))


def test_a_function_of_the_rank_is_the_discount_it_gives() -> None:
    """Ours by name, and one that looks its values up; cut and not."""
    for own in (metrics.dcg, metrics.ndcg, metrics.ndcg @ 3):
        expected = log().per_query(own)["value"]
        assert log().per_query(own(discount=by_log2))["value"].to_list() == pytest.approx(expected.to_list(), abs=1e-12)
    flat = {"query": [1, 1, 1], "score": [3.0, 2.0, 1.0], "grade": [0, 2, 1]}
    steps = metrics.dcg(gain=lambda grade: 10 * grade, discount=lambda rank: [0, 1, 0.5, 0.25][rank])
    assert pl.DataFrame(flat).irm.per_query(steps)["value"].to_list() == [12.5]


@pytest.mark.parametrize("kind", KINDS)
def test_functions_are_taken_on_every_kind_of_frame(kind: str) -> None:
    """A whole grade is given as an integer, whatever the type of the column."""
    frame = pl.DataFrame({"query": [1, 1, 2], "score": [2.0, 1.0, 1.0], "grade": [None, 2, 1]})
    own = metrics.cg(gain=lambda grade: [0, 1, 7][grade])
    for grades in (pl.Int8, pl.Float32, pl.UInt16):
        found = IRM(as_kind(frame.with_columns(pl.col("grade").cast(grades)), kind)).per_query(own)
        assert as_polars(found)["value"].to_list() == [7.0, 1.0]


def test_the_name_says_that_it_is_a_function() -> None:
    """No text reads back to it; the column has the function's name, long and wide, with its cutoff."""
    own = metrics.ndcg(gain=burges, discount=lambda rank: 1 / rank) @ 3
    assert repr(own) == "ndcg(discount=<lambda>, gain=<burges>)@3"
    assert str(metrics.cg(gain=np.sqrt)) == "cg(gain=<sqrt>)"
    long, wide = log().evaluate(own), log().evaluate(own, layout="wide")
    assert long["metric"].to_list() == [str(own)]
    assert str(own) in wide.columns
    said = error(lambda: log().evaluate(str(own)), BadValueError)
    assert said.endswith("; a function is given with the metric as a value, as frame_metrics.metrics.ndcg(gain=f)")


def test_two_functions_of_one_name_are_two_metrics_and_are_not_told_apart_in_a_result() -> None:
    """So they are an error beside each other; the same one twice is an error as it is for any metric."""
    one, other = metrics.cg(gain=lambda grade: grade), metrics.cg(gain=lambda grade: 2 * grade)
    assert one != other
    assert one == metrics.cg(gain=one.params["gain"])
    assert hash(one) == hash(other)
    said = error(lambda: log().evaluate(one, other))
    assert said == "'cg(gain=<lambda>)' is asked for twice, for metrics that differ; give each a name of its own"
    assert error(lambda: log().evaluate(one, one)) == "'cg(gain=<lambda>)' is asked for twice"
    assert log().evaluate(one)["value"][0] * 2 == log().evaluate(other)["value"][0]


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "raises": ({"gain": lambda grade: {}[grade]}, "gain=<lambda> raised KeyError for 0: 0"),
    "None": ({"gain": lambda grade: None}, "gain=<lambda> gave None for 0; expected is a number from 0"),
    "True": ({"gain": lambda grade: grade > 0}, "gain=<lambda> gave False for 0"),
    "an array": ({"gain": lambda grade: np.ones(2)}, "gain=<lambda> gave <numpy.ndarray> for 0"),
    "many digits": ({"gain": lambda grade: 10**400}, "gain=<lambda> gave <an integer of 1329 bits> for 0; expected"),
    "a number of numpy": ({"gain": lambda grade: np.float64(-1)}, "gain=<lambda> gave -1.0 for 0"),
    "complex": ({"gain": lambda grade: 1j}, "gain=<lambda> gave 1j for 0"),
    "NaN": ({"gain": lambda grade: math.nan}, "gain=<lambda> gave nan for 0"),
    "infinite": ({"gain": lambda grade: math.inf}, "gain=<lambda> gave inf for 0"),
    "too large": ({"gain": lambda grade: 1e301}, "gain=<lambda> gave 1e[+]301 for 0"),
    "negative": ({"gain": lambda grade: grade - 1}, "gain=<lambda> gave -1 for 0"),
    "falls": ({"gain": lambda grade: 3 - grade}, "gain=<lambda> is 3 for 0 and 2 for 1, and a gain never falls"),
    "a discount that rises": ({"discount": lambda rank: rank}, "is 1 for 1 and 2 for 2, and a discount never rises"),
    "a discount that is negative": ({"discount": lambda rank: 2 - rank}, "discount=<lambda> gave -1 for 3"),
    "a discount that raises": ({"discount": lambda rank: 1 / (rank - 1)}, "raised ZeroDivisionError for 1"),
    "a function of two": ({"gain": lambda grade, more: grade}, "gain=<lambda> raised TypeError for "),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_a_function_may_not_give_names_the_metric_the_function_and_the_number(case: str) -> None:
    """Of a grade or a rank; an exception is the cause."""
    params, why = WRONG[case]
    own = metrics.ndcg(**params) @ 5
    frame = pl.DataFrame({"query": 4 * [1], "score": [4.0, 3.0, 2.0, 1.0], "grade": [1, 2, 0, 1]})
    with pytest.raises(KernelError, match=why) as found:
        frame.irm.evaluate(own)
    assert str(found.value).startswith(f"{own}: ")
    assert ("raised" in why) == (found.value.__cause__ is not None)


@pytest.mark.parametrize("value", [str, 3, None, "log3", [1, -2]])
@pytest.mark.parametrize("option", ["gain", "discount"])
def test_what_is_no_function_is_refused_in_words(option: str, value: Any) -> None:
    """A class is none either."""
    named = {
        "gain": "'linear', 'exp', a mapping from grades to gains, a list for 0, 1, 2 ..., or a function of one grade"
    }
    words = named.get(option, "'log2', 'jk', or a function of one rank")
    with pytest.raises(BadValueError, match=re.escape(f"is not {words}")):
        metrics.ndcg(**{option: value})


def test_a_base_has_nothing_to_do_with_a_function() -> None:
    """It is of a logarithm."""
    said = error(lambda: log().evaluate(metrics.ndcg(discount=by_log2, base=10)), BadValueError)
    assert said == "discount= is a function, and base= requires a logarithm; give one of them"


def test_verbs_take_functions_as_they_take_names() -> None:
    """Bounds of ties and of unjudged rows, orders of ties, explanations, curves, intervals."""
    own, named = metrics.ndcg(gain=burges) @ 4, metrics.ndcg(gain="exp") @ 4
    for ties in ("worst", "best", "expected"):
        of = log(ties=ties, doc=None)
        assert of.per_query(own)["value"].equals(of.per_query(named)["value"])
    of = log(undefined="zero")
    calls: list[Callable[[Metric], pl.DataFrame]] = [
        lambda one: of.bounds(one, of="ties"),
        lambda one: of.bounds(one, of="unjudged", max_grade=4),
        lambda one: of.evaluate(one, ci=0.9),
        lambda one: of.explain(one, query=made_log()["query"][0]),
    ]
    for call in calls:
        assert call(own).drop("metric", strict=False).equals(call(named).drop("metric", strict=False))
    rbp = metrics.rbp(gain=burges, max_grade=4)
    found = of.bounds(rbp, of="unjudged", max_grade=4).drop("metric")
    assert found.equals(of.bounds(metrics.rbp(gain="exp", max_grade=4), of="unjudged", max_grade=4).drop("metric"))


def test_a_metric_with_a_named_function_is_pickled() -> None:
    """By the module that has the function; a lambda cannot be."""
    own = metrics.ndcg(gain=burges) @ 4
    assert pickle.loads(pickle.dumps(own)) == own
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(metrics.ndcg(gain=lambda grade: grade))


def test_the_laws_hold_with_functions() -> None:
    """No text is asked to read back."""
    check_metric(metrics.ndcg(gain=burges, discount=by_log2) @ 2)


def test_saved_numbers_of_a_function_without_a_name_are_not_compared() -> None:
    """Two such functions have one name; those that have a name are compared by it."""
    own = metrics.ndcg(gain=burges) @ 2
    saved = log().per_query(own)
    assert log().compare(own, baseline=saved)["difference"].to_list() == [0.0]
    said = error(lambda: log().compare(metrics.ndcg(gain=lambda grade: grade) @ 2, baseline=saved))
    assert said == "ndcg(gain=<lambda>)@2: a saved number does not say which function it is of; name it with def"
