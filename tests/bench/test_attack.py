"""The random attack runs, and what it draws is drawn again; eight frames are tried in every run of the tests."""

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pandas as pd
import polars as pl
import pytest

from frame_metrics import FrameMetricsError
from helpers import script

PATH = Path(__file__).with_name("attack.py")


@pytest.fixture(scope="module")
def attack() -> Iterator[ModuleType]:
    module = script(PATH)
    yield module
    del sys.modules[module.__name__]


@pytest.mark.parametrize("frames", [range(8), pytest.param(range(60, 160), marks=pytest.mark.slow)])
def test_no_frame_makes_a_verb_fail(attack: Any, frames: range) -> None:
    """Every verb of every frame gives a frame or an error of the package, and of many frames some of both."""
    count: Counter[str] = Counter()
    assert list(attack.attack(frames, seed=17, count=count)) == []
    few = {verb for verb in attack.VERBS if not (count[f"{verb} result"] and count[f"{verb} error"])}
    few -= {"agreement", "disagreements"}  # for which two annotators have to judge one document, which is seldom drawn
    assert few == {"repr"} or (len(frames) < 100 and len(few) < len(attack.VERBS))


@pytest.mark.parametrize("logs", [1, pytest.param(8, marks=pytest.mark.slow)])
def test_every_form_has_the_values_of_plain_python(attack: Any, logs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists, a column for each system, judgments beside and pieces mean the same rankings; a difference is seen."""
    monkeypatch.setattr(attack, "FORMS", 1)
    count: Counter[str] = Counter()
    assert [found for number in range(logs) for found in attack.forms(number, 16, count)] == []
    assert count == {"forms result": logs}
    monkeypatch.setattr(sys.modules["forms"], "_dcg", lambda gains: sum(gains) + 1.0)
    wrong = [found for number in range(logs) for found in attack.forms(number, 16, count)]
    assert {found.verb for found in wrong} == {"forms"}
    assert any("and plainly" in found.what for found in wrong)


@pytest.mark.parametrize("frames", [range(4), pytest.param(range(60), marks=pytest.mark.slow)])
def test_no_null_of_a_valid_frame_is_silent(attack: Any, frames: range) -> None:
    """A null of any role is told of, and a container where none is taken is an error of the package."""
    count: Counter[str] = Counter()
    assert [found for number in frames for found in attack.of_valid(number, 18, count)] == []
    assert count["null result"] == len(frames)
    assert count["container error"]


def test_a_silent_null_is_seen(attack: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A verb whose result changes with a null, of which neither it nor the audit tells, is found."""
    nulls = sys.modules["nulls"]

    def mean(irm: Any, asked: Any) -> pl.DataFrame:
        scores = nulls.as_polars(irm.frame)["score_"]
        return pl.DataFrame({"value": [scores.fill_null(0).mean()]})

    monkeypatch.setattr(nulls, "ASKED", {"mean": mean, "audit": lambda *_: pl.DataFrame({"check": [], "example": []})})
    monkeypatch.setattr(nulls, "ranked", lambda rng: (nulls.rankings(rng, "p"), {"score": "score_"}, {}, {}, ()))
    monkeypatch.setattr(nulls, "valid", lambda rng: nulls.Valid(*nulls.ranked(rng), "polars", 0))
    assert {where for where, _ in nulls.silent(Random(1), Counter())} == {"score in mean"}


def test_a_number_draws_the_same_frame_again(attack: Any) -> None:
    """A frame that failed can be tried again by its number."""
    for number in range(30):
        one, again = (attack.attacked(7, number) for _ in range(2))
        assert type(one.frame) is type(again.frame)
        assert attack.told(one.frame) == attack.told(again.frame)


def _raise(error: BaseException) -> Any:
    raise error


@pytest.mark.parametrize(
    ("call", "went"),
    [
        (lambda: pl.DataFrame(), "result"),
        (lambda: _raise(FrameMetricsError("no")), "error"),
        (lambda: _raise(FrameMetricsError()), "an error without words"),
        (lambda: _raise(KeyError("x")), "builtins.KeyError: 'x'"),
        (lambda: _raise(BaseException("panic")), "builtins.BaseException: panic"),
        (lambda: pl.LazyFrame(), "a <class 'polars.lazyframe.frame.LazyFrame'> of a <class 'polars"),
        (lambda: None, "a <class 'NoneType'> of a"),
    ],
)
def test_what_should_not_be_is_seen(attack: Any, call: Any, went: str) -> None:
    """An error that is not of the package, or a result of another kind, is no result."""
    assert attack.outcome(call, pl.DataFrame())[0].startswith(went)


def test_a_plan_that_promises_another_schema_is_seen(attack: Any) -> None:
    """The schema of a lazy result is that of what it collects."""
    plan = pl.LazyFrame({"a": [1]}).map_batches(lambda frame: frame.cast(pl.String), schema={"a": pl.Int64})
    went, _ = attack.outcome(lambda: plan, plan)
    assert went not in ("result", "error")


def test_a_changed_frame_is_seen(attack: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A verb that changes what it was given is found."""
    monkeypatch.setattr(attack, "VERBS", {"spoil": lambda irm, rng: irm.frame.insert(0, "more", 1) or "done"})
    frame = pd.DataFrame({"score": [1.0]})
    monkeypatch.setattr(attack, "attacked", lambda *_: attack.Drawn(frame, lambda: attack.IRM(frame), None))
    assert [found.what for found in attack.attack(range(1))] == ["the caller's frame was changed"]
