"""Values with a large offset: intervals and tests are those of the same values without it."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import frame_metrics  # noqa: F401

N = 240
GRAIN = 2.0**-6  # floats hold multiples of it exactly up to 2 ** 47
LARGE = 2.0**46
SCALED = ("value", "baseline_value", "relative", "relative_low", "relative_high")


def arms(offset: float = 0.0, apart: float = 0.0) -> pl.DataFrame:
    """Two arms of 120 queries with a value, a covariate, a weight and a user of each; ``apart``: of the second arm."""
    random, arm = np.random.default_rng(4), np.arange(N) % 2
    plain = np.round((random.normal(size=N) + 0.3 * arm) / GRAIN) * GRAIN
    user = np.arange(N) // 8 * 2 + arm
    return pl.DataFrame(
        {
            "query": np.arange(N),
            "arm": np.where(arm, "b", "a"),
            "v": plain + offset + apart * arm,
            "x": random.normal(size=N)[user],
            "w": 1.0 + np.arange(N) % 3,
            "user": user,
        }
    )


def pairs(offset: float = 0.0, apart: float = 0.0) -> pl.DataFrame:
    """Two systems with values of the same 120 queries."""
    frame, random = arms(offset).filter(pl.col("arm") == "a").drop("arm"), np.random.default_rng(5)
    other = frame["v"] + np.round((0.1 + 0.3 * random.normal(size=N // 2)) / GRAIN) * GRAIN + apart
    return pl.concat([frame.with_columns(arm=pl.lit("a")), frame.with_columns(arm=pl.lit("b"), v=other)])


def same(got: pl.DataFrame, expected: pl.DataFrame, *, moved: float = 0.0, digits: float = 1e-9) -> None:
    """Raise unless two comparisons agree in all that an offset does not change; ``moved``: how far differences are."""
    for name in set(got.columns) - set(SCALED):
        (one,), (other,) = got[name], expected[name]
        if isinstance(one, float) and name in ("difference", "ci_low", "ci_high"):
            assert one - moved == pytest.approx(other, abs=max(digits, 1e-15 * moved)), name
        elif moved and name in ("effect_size", "p_value", "p_adjusted"):
            continue
        else:
            assert one == (pytest.approx(other, rel=digits, abs=digits) if isinstance(one, float) else other), name


@pytest.mark.parametrize("more", [{}, {"weight": "w"}, {"cluster": "user"}], ids=str)
@pytest.mark.parametrize("covariate", [None, "x"])
@pytest.mark.parametrize("test", ["t", "z", "bootstrap", "randomization"])
def test_arms_are_compared_beside_their_offset(test: str, covariate: str | None, more: dict[str, str]) -> None:
    """Difference, interval, p-value and effect size are those of the values less what all have in common."""
    asked: dict[str, Any] = {"test": test, "covariate": covariate, "baseline": "a"}
    plain, far = (arms(offset).irm(arm="arm", value="v", **more).ab_test(**asked) for offset in (0, LARGE))
    same(far, plain)
    assert far["baseline_value"].item() == pytest.approx(LARGE, abs=1)


@pytest.mark.parametrize("test", ["t", "z", "bootstrap"])
def test_arms_far_apart_have_the_width_of_their_values(test: str) -> None:
    """One arm with a large offset, which the other does not have: the width is not lost to rounding."""
    plain, far = (arms(0, apart).irm(arm="arm", value="v").ab_test(test=test, baseline="a") for apart in (0, 2.0**40))
    same(far, plain, moved=2.0**40, digits=2e-3)


DRAWN = [(test, more) for test in ("bootstrap", "randomization") for more in ({}, {"weight": "w"}, {"cluster": "user"})]


@pytest.mark.parametrize(("test", "more"), [("t", {}), ("wilcoxon", {}), ("sign", {}), *DRAWN], ids=str)
def test_pairs_are_compared_beside_their_offset(test: str, more: dict[str, str]) -> None:
    """Small differences of large values are no ties, and their interval and p-value are those without the offset."""
    plain, far = (
        pairs(offset).irm(system="arm", value="v", **more).compare(test=test, baseline="a") for offset in (0, LARGE)
    )
    same(far, plain)
    moved = pairs(0, LARGE).irm(system="arm", value="v", **more).compare(test=test, baseline="a")
    same(moved.drop("wins", "ties", "losses"), plain.drop("wins", "ties", "losses"), moved=LARGE)
    spread = plain["difference"].item() / plain["effect_size"].item()
    assert moved["effect_size"].item() == pytest.approx(moved["difference"].item() / spread, rel=1e-6)


def test_systems_together_and_each_query() -> None:
    """Systems that are tested together, and the differences of single queries."""
    found = []
    for offset in (0, LARGE):
        third = pairs(offset).filter(pl.col("arm") == "b").with_columns(arm=pl.lit("c"), v=pl.col("v") + GRAIN)
        irm = pl.concat([pairs(offset), third]).irm(system="arm", value="v")
        found.append((irm.compare(), irm.compare(per_query=True)))
    (plain, each), (far, far_each) = found
    assert far["p_value"].to_list() == plain["p_value"].to_list()
    assert far["p_adjusted"].to_list() == plain["p_adjusted"].to_list()
    assert far_each["difference"].to_list() == each["difference"].to_list()


@pytest.mark.parametrize("more", [{}, {"weight": "w"}, {"cluster": "user"}], ids=str)
def test_an_interval_of_a_mean_beside_its_offset(more: dict[str, str]) -> None:
    """The interval of a mean is as wide as without the offset, in segments too."""
    plain, far = (arms(offset).irm(by="arm", value="v", **more).evaluate(ci=0.9, margins=True) for offset in (0, LARGE))
    for end in ("value", "ci_low", "ci_high"):
        assert (far[end] - LARGE).to_list() == pytest.approx(plain[end].to_list(), abs=GRAIN)


@pytest.mark.parametrize("test", ["t", "z", "bootstrap", "randomization"])
def test_values_that_differ_by_rounding_alone_do_not_vary(test: str) -> None:
    """Sums in another order, such as .1 + .2 and .3, are still one value: no offset is seen in them."""
    noisy = arms().with_columns(v=pl.when(pl.col("query") % 3 == 0).then(0.1 + 0.2).otherwise(0.3))
    row = noisy.irm(arm="arm", value="v").ab_test(test=test).row(0, named=True)
    assert row["p_value"] == 1
    ends = None if test == "randomization" else pytest.approx(0, abs=1e-15)  # which says nothing of what does not vary
    assert (row["ci_low"], row["ci_high"]) == (ends, ends)
    two = pairs().with_columns(v=pl.when(pl.col("arm") == "a").then(0.1 + 0.2).otherwise(0.3))
    row = two.irm(system="arm", value="v").compare(test="bootstrap").row(0, named=True)
    assert (row["ci_low"], row["ci_high"], row["p_value"], row["ties"]) == (None, None, 1, N // 2)
    first = pairs().filter(pl.col("arm") == "a")
    both = pl.concat([first, first.with_columns(arm=pl.lit("b"), v=pl.col("v") + 0.001)])  # + .001, but for rounding
    assert both.irm(system="arm", value="v").compare(test="bootstrap")["effect_size"].item() is None


def test_alpha_of_large_grades() -> None:
    """Krippendorff's alpha of grades with an offset is that of the grades."""
    doc, grade = [*range(6)] * 2, [0.0, 1, 2, 3, 1, 0, 0, 1, 3, 3, 2, 0]
    said = pl.DataFrame({"query": [1] * 12, "doc": doc, "grade": grade, "who": ["a"] * 6 + ["b"] * 6})
    shown = said.select("query", "doc").unique().with_columns(score=1.0)
    plain, far = (
        shown.irm(query="query", doc="doc")
        .judge(said.with_columns(grade=pl.col("grade") + offset), annotator="who")
        .agreement()
        for offset in (0, LARGE)
    )
    assert_frame_equal(far, plain)


def test_rare_values_beside_their_offset() -> None:
    """Few clusters of unequal sizes have another value than most, also where floats round the mean of a cluster."""
    sizes = np.arange(40) % 7 + 1
    user = np.repeat(np.arange(40), sizes)
    frame = pl.DataFrame({"user": user, "v": np.where(user % 10 == 0, 1.0 + user, 0.0), "arm": user % 2 == 0})
    frame = frame.with_row_index("query")
    found = []
    for offset in (0, 2.0**49):
        irm = frame.with_columns(pl.col("v") + offset).irm(arm="arm", value="v", cluster="user")
        told = irm.audit(split={True: 0.5, False: 0.5}).filter(severity="warning")
        found.append(told.select("check", "n", "share", "example").rows())
    checks = ["few units with another value", "rare values", "segments of few clusters"]
    assert sorted(one[0] for one in found[0]) == checks
    assert found[0] == found[1]
