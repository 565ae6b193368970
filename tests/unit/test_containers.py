"""Values in containers of every kind where an option takes one value, a name or a flag."""

from __future__ import annotations

import inspect
from collections import namedtuple
from enum import Enum, StrEnum
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from frame_metrics import IRM, BadValueError
from refusals import check

Pair = namedtuple("Pair", "one other")
FRAME = pl.DataFrame(
    {
        "query": [1, 1, 2, 2] * 2,
        "doc": [*"abab"] * 2,
        "score": [2.0, 1.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0],
        "grade": [1, 0, 0, 1] * 2,
        "system": ["p"] * 4 + ["q"] * 4,
    }
)
QRELS = FRAME.select("query", "doc", "grade").unique()
RUN = FRAME.drop("grade").irm(system="system")
LOG = FRAME.irm(system="system")
HALF = FRAME.with_columns(grade=pl.when(pl.col("doc") == "a").then("grade")).irm(system="system")
CLICKS = pl.DataFrame({"query": [1, 1], "doc": ["a", "b"], "rank": [1, 2], "label": [1, 0], "need": ["n"] * 2}).irm(
    rank="rank"
)
YES = pl.DataFrame({"query": [True, False], "score": [1.0, 2.0], "grade": [1, 1]}).irm

REFUSED = r"""
LOG.evaluate("rr", ci=Fraction(1, 2))
    BadValueError: ci=Fraction(1, 2) is no float; pass ci=0.5
    but: LOG.evaluate("rr", ci=0.5)
LOG.sample_size("rr", detect=np.array("rr"))
    BadValueError: detect=[...] is not a difference above 0
    but: LOG.sample_size("rr", detect=np.array([0.1, 0.2]), resamples=5)
LOG.bounds("rr", of="ties", per_query=VALUE)
    for: "no", [], pd.Series([True]), np.array([])
    BadValueError: per_query=[...] is not True or False
    but: LOG.bounds("rr", of="ties", per_query=True)
LOG.compare("rr", test=VALUE)
    for: np.array(["t", "t"]), pd.Series(["t", "t"]), pl.Series(["t"]), ["t"], {"t"}, 1.5, pd.NA
    UnknownNameError: test=[...] is not one of [...]
    but: LOG.compare("rr", test="t")
LOG.compare("rr", baseline="\ud800")
    BadValueError: baseline='\ud800' is not among the systems of system: 'p', 'q'
    but: LOG.compare("rr", baseline="p")
LOG.explain("rr", query=VALUE)
    for: range(10**12), range(8), np.arange(8), pl.Series(range(8)), {1}, iter([1]), pl.lit(1), np.array(1)
    BadValueError: query: [...] cannot be one of its values, which are Int64
    but: LOG.explain("rr", query=1)
LOG.explain("rr", query=10**5000)
    BadValueError: query: <an integer of 16610 bits> cannot be one of its values, which are Int64
    but: LOG.explain("rr", query=2)
YES().explain("rr", query=VALUE)
    for: np.array([1, 0]), pl.Series([True]), pd.NA
    BadValueError: query: [...] cannot be one of its values, which are Boolean
    but: YES().explain("rr", query=True)
HALF.to_judge(10**30, "recall")
    BadValueError: n=1000000000000000000000000000000 is not a whole number from 1 to 9223372036854775807
    but: HALF.to_judge(10**18, "recall")
CLICKS.click_judgments("ctr", query_text="need", min_impressions=10**30)
    BadValueError: min_impressions=1[...] is not a whole number from 1 to 9223372036854775807
    but: CLICKS.click_judgments("ctr", query_text="need", min_impressions=1)
CLICKS.click_judgments("ctr", query_text=VALUE)
    for: 1.5, {"need"}
    BadValueError: click_judgments: query_text=[...] is not the name of a column, nor a list of some
CLICKS.click_judgments("ctr", query_text=10**5000)
    BadValueError: click_judgments: query_text=<an integer of 16610 bits> is not the name of a column, nor a list of
        some
    but: CLICKS.click_judgments("ctr", query_text=Pair("need", "query"))
LOG.report(title=VALUE, format="json")
    for: np.array(["a", "b"]), ["a"], b"a"
    BadValueError: title=[...] is not a text
    but: LOG.report(title="a", format="json")
RUN.judge(QRELS, query=VALUE)
    for: ..., {"query": 1}, {"query"}, iter(["query"]), 1.5, []
    BadValueError: judge: query=[...] is not the name of a column, or a list of names[...]
RUN.judge(QRELS, doc=VALUE)
    for: ..., ["doc"], {"doc"}, b"doc", True
    BadValueError: judge: doc=[...] is not the name of a column[...]
    but: RUN.judge(QRELS, query=("query",), doc="doc").evaluate("rr")
"""


def test_containers_that_an_option_does_not_take() -> None:
    """A value in a container that an option does not take is an error of the package."""
    check(REFUSED, {**globals(), "np": np, "pd": pd, "pl": pl, "Fraction": Fraction})


FLAGS = [
    (verb, name)
    for verb, method in vars(IRM).items()
    if hasattr(method, "__wrapped__")
    for name, option in inspect.signature(method).parameters.items()
    if option.annotation == "bool"
]


@pytest.mark.parametrize(("verb", "flag"), FLAGS)
def test_a_flag_is_true_or_false(verb: str, flag: str) -> None:
    """Every option that is True or False refuses a text, which Python would take for True."""
    given: dict[str, Any] = {"bounds": {"of": "ties"}, "curve": {}, "plan": {"detect": 0.1}}.get(verb, {})
    irm = {"confusion": FRAME.irm(label="grade", predicted="doc", query=None)}.get(verb, LOG)
    positional = {"curve": ["pr"], "similarity": ["rbo"], "report": [], "agreement": [], "confusion": []}
    with pytest.raises(BadValueError, match=f"{flag}='no' is not True or False"):
        getattr(irm, verb)(*positional.get(verb, ["rr"]), **given, **{flag: "no"})


def test_a_summary_tells_of_the_rows_before_a_metric() -> None:
    """Where one metric is not for such rows and no metric can be computed, the error is that of the rows."""
    frame = FRAME.with_columns(propensity=0.5, query=pl.when(pl.int_range(pl.len()) != 3).then("query"))
    with pytest.raises(BadValueError, match="query: 1 of 8 rows"):
        frame.irm(propensity="propensity", system="system").summary("ap", "num_rel_ret")


class Names(StrEnum):
    """Names as a program may keep them."""

    P = "p"
    Q = "q"


class Texts(str, Enum):  # noqa: UP042 - its str() is another one
    """The same, of which Python writes the member."""

    P = "p"
    Q = "q"


@pytest.mark.parametrize("names", [Names, Texts])
def test_members_of_an_enum_are_the_texts_that_they_are(names: Any) -> None:
    """A name of a column or a value may be a member of an Enum, alone or in a list."""
    frame = FRAME.head(4).with_columns(p="score", q=-pl.col("score")).drop("score", "system")
    named = frame.irm(score=[names.P, names.Q]).compare("rr", baseline=names.Q)
    assert named.equals(frame.irm(score=["p", "q"]).compare("rr", baseline="q"))
    marked = QRELS.with_columns(who=pl.lit("p")).vstack(QRELS.with_columns(who=pl.lit("q")))
    judged = RUN.judge(marked, annotator="who", several="mean")
    assert judged.agreement(names.P).equals(judged.agreement("p"))


@pytest.mark.parametrize("given", [10**5000, [10**5000]], ids=["one", "a list"])
def test_the_repr_of_an_integer_that_python_does_not_write(given: Any) -> None:
    """The repr of an object is no place for an error, whatever a convention is."""
    assert "positive=<an integer" in repr(FRAME.irm(positive=given)).replace("[", "")


@pytest.mark.parametrize(
    ("column", "roles", "check"),
    [("score", {"score": "score"}, "results without a score"), ("team", {"team": "team"}, "rows of no team")],
)
def test_a_null_beside_a_rank_is_a_finding(column: str, roles: dict[str, str], check: str) -> None:
    """A null score of a ranked result, or a result of no team, is counted by the audit, also in pieces."""
    frame = pl.DataFrame({"query": [1, 1, 1], "doc": [*"abc"], "rank": [1, 2, 3], "label": [1, 0, 1]})
    frame = frame.with_columns(score=pl.Series([3.0, 2.0, 1.0]), team=pl.Series([*"xyx"]))
    hole = frame.with_columns(pl.when(pl.col("rank") != 3).then(column).alias(column))
    for irm in (hole.irm, hole.lazy().irm(memory=1)):
        told = irm(rank="rank", score=None)(**roles).audit().lazy().collect().filter(pl.col("check") == check)
        assert told.select("severity", "n", "share").rows() == [("info", 1, 1 / 3)]
    whole = frame.irm(rank="rank", score=None)(**roles).audit()
    assert check not in whole["check"].to_list()
