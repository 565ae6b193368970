"""Values in containers of every kind where an option takes one value, a name or a flag."""

from __future__ import annotations

import inspect
from collections import namedtuple
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
LOG.plan("rr", detect=np.array("rr"))
    BadValueError: detect=[...] is not a difference above 0
    but: LOG.plan("rr", detect=np.array([0.1, 0.2]), resamples=5)
LOG.bounds("rr", of="ties", per_query=VALUE)
    for: "no", [], pd.Series([True]), np.array([])
    BadValueError: per_query=[...] is not True or False
    but: LOG.bounds("rr", of="ties", per_query=True)
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
CLICKS.judgments("ctr", of="need", min_impressions=10**30)
    BadValueError: min_impressions=1[...] is not a whole number from 1 to 9223372036854775807
    but: CLICKS.judgments("ctr", of="need", min_impressions=1)
CLICKS.judgments("ctr", of=VALUE)
    for: 1.5, {"need"}
    BadValueError: judgments: of=[...] is not the name of a column, nor a list of some
CLICKS.judgments("ctr", of=10**5000)
    BadValueError: judgments: of=<an integer of 16610 bits> is not the name of a column, nor a list of some
    but: CLICKS.judgments("ctr", of=Pair("need", "query"))
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
    irm = {"confusion": FRAME.irm(label="grade", predicted="grade", query=None)}.get(verb, LOG)
    positional = {"curve": ["pr"], "similarity": ["rbo"], "report": [], "agreement": [], "confusion": []}
    with pytest.raises(BadValueError, match=f"{flag}='no' is not True or False"):
        getattr(irm, verb)(*positional.get(verb, ["rr"]), **given, **{flag: "no"})


def test_a_summary_tells_of_the_rows_before_a_metric() -> None:
    """Where one metric is not for such rows and no metric can be computed, the error is that of the rows."""
    frame = FRAME.with_columns(propensity=0.5, query=pl.when(pl.int_range(pl.len()) != 3).then("query"))
    with pytest.raises(BadValueError, match="query: 1 of 8 rows"):
        frame.irm(propensity="propensity", system="system").summary("ap", "num_rel_ret")
