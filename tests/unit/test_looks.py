"""Arms that are looked at again and again: confidence sequences, and p-values that hold at every look."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy.stats import chi2

from frame_metrics import IRM
from helpers import KINDS, as_kind, as_polars, error


def arms(n: int, m: int, *, shift: float = 0.0, each: int = 1, kind: str = "polars", **roles: Any) -> IRM[Any]:
    """Numbers of two arms, of so many users with so many queries each."""
    random = np.random.default_rng(n * m)
    worth = np.repeat(random.normal(size=n + m), each)
    mine = np.repeat([True] * n + [False] * m, each)
    values = worth + random.normal(size=len(worth)) + shift * mine
    rows = {"query": np.arange(len(worth)), "new": mine, "v": values, "user": np.repeat(np.arange(n + m), each)}
    return IRM(as_kind(pl.DataFrame(rows), kind), query="query", arm="new", value="v", **roles)


def looked(irm: IRM[Any], **options: Any) -> dict[str, Any]:
    """The only row of a comparison at any look."""
    (row,) = as_polars(irm.ab_test(baseline=False, looks="any", **options)).rows(named=True)
    return row


@pytest.mark.parametrize(("n", "m", "each"), [(100, 100, 1), (900, 400, 1), (150, 220, 3)])
def test_the_ends_and_the_p_value_are_those_of_the_formula(n: int, m: int, each: int) -> None:
    """The ends are sqrt(c + log t) errors away, c of chi-square with 3 degrees of freedom, t by counts of queries."""
    irm = arms(n, m, shift=0.3, each=each, cluster="user")
    row, once = looked(irm), as_polars(irm.ab_test(baseline=False, test="z")).row(0, named=True)
    error = (once["ci_high"] - once["ci_low"]) / 2 / 1.959963984540054
    grown = 2 / (1 / n + 1 / m) * each / 100
    far = (chi2.ppf(0.95, 3) + log(grown)) ** 0.5
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(
        (row["difference"] - far * error, row["difference"] + far * error)
    )
    assert row["p_value"] == pytest.approx(chi2.sf((row["difference"] / error) ** 2 - log(grown), 3))
    assert row["mde"] == pytest.approx((far + 0.8416212335729143) * error)
    assert (row["test"], row["n_units"], row["relative_low"] is None) == ("sequence", n, once["relative_low"] is None)
    assert {name: row[name] for name in ("value", "effect_size", "n")} == {
        name: once[name] for name in ("value", "effect_size", "n")
    }


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("shift", [0.1, 0.3, 0.45, 0.6])
def test_the_p_value_agrees_with_the_sequence(level: float, shift: float) -> None:
    """It is below 1 less the level where the sequence leaves out 0, and nowhere else; as is that of the ratio."""
    row = looked(arms(200, 300, shift=shift), ci=level)
    assert (row["p_value"] < 1 - level) == (row["ci_low"] > 0 or row["ci_high"] < 0)


def test_before_the_first_look_nothing_is_said() -> None:
    """The interval is null and the p-value 1, so that the tests that are corrected together stay as many."""
    row = looked(arms(150, 149, shift=9), first_look=150)
    assert (row["ci_low"], row["ci_high"], row["mde"], row["p_value"], row["n_tests"]) == (None, None, None, 1, 1)
    assert row["difference"] > 8
    later = looked(arms(150, 149, shift=9), first_look=149)
    assert later["ci_low"] > 8
    assert later["p_value"] < 1e-9
    one = looked(arms(1, 300))
    assert (one["ci_low"], one["p_value"]) == (None, 1)


def test_a_later_first_look_makes_intervals_shorter() -> None:
    """Who begins to look later has looked less."""
    wide, short = (looked(arms(1000, 1000), first_look=first) for first in (100, 1000))
    assert wide["ci_high"] - wide["ci_low"] > short["ci_high"] - short["ci_low"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_frame_gives_the_same(kind: str) -> None:
    """Nothing is drawn, so the numbers are equal."""
    expected = looked(arms(120, 130, each=2, cluster="user"))
    found = looked(arms(120, 130, each=2, cluster="user", kind=kind))
    assert found == pytest.approx(expected, nan_ok=True)


def test_who_comes_back_has_to_be_named() -> None:
    """A query of both arms is asked by who comes back; with a cluster each user is one unit, in both arms too."""
    rows = arms(150, 150).frame.with_columns(query=pl.col("query") % 150, user=pl.col("query") % 150)
    irm = rows.irm(query="query", arm="new", value="v")
    said = error(lambda: rows[1:].irm(**irm.roles).ab_test(looks="any"))
    assert "149 queries ('query') are in both arms" in said
    assert "name who asks with cluster=" in said
    assert looked(irm(cluster="user"))["n_units"] == 150


def test_arms_that_do_not_vary_differ_or_do_not() -> None:
    """Where neither varies, the p-value is 1 of equal means, and of others, as nothing is known of how they vary."""
    frame = arms(100, 100).frame.with_columns(v=pl.lit(1.0))
    assert looked(frame.irm(arm="new", value="v"))["p_value"] == 1
    apart = frame.with_columns(v=pl.col("new").cast(pl.Float64))
    assert looked(apart.irm(arm="new", value="v"))["p_value"] == 1


def test_ranks_weights_and_covariates_are_taken() -> None:
    """Arms of a log, in pieces too; a covariate makes the sequence shorter, as it does an interval."""
    random = np.random.default_rng(0)
    n = 800
    before = random.normal(size=n)
    rows = {
        "query": np.arange(n),
        "arm": np.arange(n) % 2,
        "before": before,
        "label": 1,
        "weight": 1 + np.arange(n) % 3,
    }
    frame = pl.DataFrame(rows).with_columns(rank=pl.Series(np.clip(np.round(5 + 2 * before), 1, 10)).cast(pl.Int64))
    irm = frame.irm(query="query", arm="arm", rank="rank", label="label", weight="weight")
    options: dict[str, Any] = {"looks": "any"}
    plain = irm.ab_test("rr", **options)
    less = irm.ab_test("rr", **options, covariate="before")
    width = [(one["ci_high"] - one["ci_low"]).item() for one in (plain, less)]
    assert width[1] < 0.9 * width[0]
    assert_frame_equal(irm.frame.lazy().irm(**irm.roles, memory=20_000).ab_test("rr", **options).collect(), plain)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"looks": "any", "test": "t"}, "leave test='t' out"),
        ({"looks": "all"}, "looks='all' is not one of 'any'"),
        ({"looks": "any", "first_look": 99}, "first_look=99 is not a whole number from 100"),
        ({"first_look": 100}, "pass looks='any'"),
    ],
)
def test_what_does_not_go_together_is_refused(options: dict[str, Any], words: str) -> None:
    """Before anything is read."""
    assert words in error(lambda: arms(3, 3).ab_test(**options))
    rows = pl.DataFrame({"label": [1, 0], "score": [0.2, 0.3], "run": ["a", "b"]}).irm(arm="run", query=None)
    assert "requires query=" in error(lambda: rows.ab_test("roc_auc", looks="any"))


def test_peeking_gives_few_false_alarms() -> None:
    """Of arms that do not differ, looked at 40 times, the sequence calls 5 % different at most, and z many."""
    random = np.random.default_rng(1)
    alarms = np.zeros(2)
    for _ in range(400):
        values = random.normal(size=(2, 2000))
        n = np.unique(np.geomspace(100, 2000, 40).astype(int))
        sums, squares = (np.cumsum(one, axis=1)[:, n - 1] for one in (values, values**2))
        means = sums / n
        z = np.diff(means, axis=0)[0] ** 2 / ((squares / n - means**2) / (n - 1)).sum(axis=0)
        alarms += [(z > chi2.ppf(0.95, 3) + np.log(n / 100)).any(), (z > 3.84).any()]
    assert alarms[0] / 400 < 0.05 < 0.2 < alarms[1] / 400
