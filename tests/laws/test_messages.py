"""Errors of calls with huge values: every message is short, and has its way out."""

from __future__ import annotations

from collections import deque
from fractions import Fraction
from inspect import signature
from typing import Any, get_type_hints

import polars as pl
import pytest

import frame_metrics
from frame_metrics import IRM, FrameMetricsError
from frame_metrics.errors import LONGEST, brief, class_name, listed, quote
from frame_metrics.roles.roles import Roles

LONG = "name " * 1000
WHOLE = "x" * 5000
WIDEST = 10**5000  # which has more digits than Python writes
COLUMNS = {"query": [1, 1, 2], "doc": ["a", "b", "a"], "score": [2.0, 1.0, 1.0], "label": [1, 0, 1]}
LOG = pl.DataFrame(COLUMNS)
WIDE = LOG.with_columns(pl.lit(0).alias(f"a column whose number is {i}") for i in range(2000))
CLASSES = pl.DataFrame({"label": [WHOLE + "a", LONG, "c"], "predicted": [LONG, WHOLE, "b"], "score": [0.5, 0.25, 0.1]})
HUGE: dict[str, Any] = {
    "a text": WHOLE,
    "words": LONG,
    "bytes": WHOLE.encode(),
    "a list": [f"d{i}" for i in range(10_000)],
    "a list of texts": [WHOLE, LONG],
    "a mapping": {f"q{i}": {f"d{j}": 1 for j in range(100)} for i in range(500)},
    "a mapping of texts": {WHOLE: LONG, LONG: WHOLE},
    "a number": WIDEST,
    "a mapping of numbers": {WIDEST: WIDEST},
    "a frame": WIDE,
    "a function": max,
}
VERBS = [
    name
    for name, method in vars(IRM).items()
    if not name.startswith("_") and callable(method) and name not in ("frame", "roles")
]


def _error(call: Any) -> None:
    """Fail where a call raises something with a long message, or nothing of ours."""
    try:
        call()
    except FrameMetricsError as error:
        long = str(error)[LONGEST:]
    else:
        long = ""
    assert not long


@pytest.mark.parametrize("given", HUGE)
@pytest.mark.parametrize("verb", VERBS)
def test_no_message_of_a_verb_is_long(verb: str, given: str) -> None:
    """Whatever is given to an option, or as a metric, the message has at most 1,000 characters."""
    value, method = HUGE[given], getattr(IRM, verb)
    takes = [name for name, one in signature(method).parameters.items() if one.kind is one.KEYWORD_ONLY]
    for log in (LOG, WIDE):
        _error(lambda log=log: getattr(log.irm, verb)(value))
        _error(lambda log=log: getattr(log.irm, verb)("precision", value))
        _error(lambda log=log: getattr(log.irm, verb)(**{WHOLE: value}))
        for option in takes:
            _error(lambda log=log, option=option: getattr(log.irm, verb)("precision", **{option: value}))


@pytest.mark.parametrize("given", HUGE)
@pytest.mark.parametrize("role", get_type_hints(Roles))
def test_no_message_of_a_role_is_long(role: str, given: str) -> None:
    """Whatever is given to a role or convention, the message has at most 1,000 characters."""
    for log in (LOG, WIDE):
        _error(lambda log=log: log.irm(**{role: HUGE[given]}).evaluate("precision", "ndcg@3"))
        _error(lambda log=log: log.irm(**{role: HUGE[given]}).audit())


@pytest.mark.parametrize("name", [WHOLE, LONG], ids=["a text", "words"])
@pytest.mark.parametrize(
    "columns",
    [
        {"score": [float("nan"), 1.0, float("inf")]},
        {"score": ["a", "b", "c"]},
        {"label": [1, 2, 3]},
        {"label": ["yes", WHOLE, LONG]},
        {"doc": ["a", "a", "a"]},
        {"doc": [["a"], ["b"], ["c"]]},
        {"query": [1, None, 2]},
        {"score": pl.Series([None] * 3), "label": [None] * 3},
    ],
    ids=str,
)
def test_no_message_of_a_column_is_long(columns: dict[str, Any], name: str) -> None:
    """Columns with very long names, whose values are bad, have messages of at most 1,000 characters."""
    roles = {role: name + role for role in COLUMNS}
    log = IRM(
        pl.DataFrame({roles[role]: values for role, values in (COLUMNS | columns).items()}, strict=False), **roles
    )
    for call in ("rr", "ndcg@3", "precision", "roc_auc"):
        _error(lambda call=call: log.evaluate(call))
    _error(lambda: log.bounds("rr", of="ties"))
    _error(lambda: log.explain("ndcg@3"))
    _error(log.audit)
    _error(lambda: log.judge(log.frame).evaluate("rr"))


def test_no_message_of_classes_is_long() -> None:
    """Classes with very long names have messages of at most 1,000 characters."""
    irm = IRM(CLASSES)
    for call in ("precision", "accuracy", "roc_auc", "kappa(weights='linear')"):
        _error(lambda call=call: irm.evaluate(call))
        _error(lambda call=call: irm.evaluate(call, average="micro"))
        _error(lambda call=call: irm(positive=[LONG, WHOLE]).evaluate(call))
        _error(lambda call=call: irm(classes=[LONG, WHOLE]).evaluate(call))
    _error(lambda: irm(threshold=0.5).evaluate("f1"))


@pytest.mark.parametrize("given", HUGE)
def test_no_message_of_a_function_is_long(given: str) -> None:
    """Functions of files and of metrics have messages of at most 1,000 characters too."""
    value = HUGE[given]
    for call in (frame_metrics.read_qrels, frame_metrics.read_run, IRM):
        if not isinstance(value, str):  # the name of a file that is absent is an error of the system
            _error(lambda call=call: call(value))
    for metric in frame_metrics.metrics.ndcg, frame_metrics.metrics.precision:
        _error(lambda metric=metric: metric @ value)
        _error(lambda metric=metric: metric(value))
        _error(lambda metric=metric: metric(gain=value))


HELD: list[Any] = [{WIDEST}, {WIDEST: 1}, range(WIDEST), deque([WIDEST]), Fraction(WIDEST)]


@pytest.mark.parametrize("given", HELD, ids=class_name)
def test_integers_that_python_refuses_to_write(given: Any) -> None:
    """Within a value they are told by its kind, or by their size, also where an option may have several names."""
    assert len(quote([given])) < 100
    for option in ("by", "reference"):
        _error(lambda option=option: LOG.irm.agreement(**{option: given}))


def test_the_ends_of_a_long_message_stay() -> None:
    """The beginning says what was given, and the end the way out; a value in between is cut."""
    short = "a: 3 of 7 rows are null; drop them"
    assert brief(short) is short
    long = brief(f"{WHOLE}: 3 of 7 rows are null; drop them")
    assert long == f"{'x' * 200}...: 3 of 7 rows are null; drop them"
    many = brief("score=" + "word " * 1000 + "; leave it out")
    assert len(many) == LONGEST
    assert many.startswith("score=word word")
    assert many.endswith("word ; leave it out")
    assert quote({1: [2, "a"], "b": (3,)}) == "{1: [2, 'a'], 'b': (3,)}"
    assert listed(range(1000)).endswith(" and 857 more")
