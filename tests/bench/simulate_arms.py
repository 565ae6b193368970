"""Arms of unlike sizes and spreads, rare values and few units: the default test of ab_test(), at one look and at many.

Every draw is of the units of two arms, one value each but for users with several queries. A rate is that of the new
arm's false alarms, of the differences that are seen where the new arm is better and where it is worse, or of the
intervals that hold the difference; an interval that is null misses nothing, and has a line of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy.stats import chi2
from trials import Line, agree

from frame_metrics.stats.arms import compared
from frame_metrics.stats.two_arms import KINDS, MIN_DIFFERING, SKEWED, Arms, few_differ

AGREE = 3  # trials of each kind that are done a second way
LEVEL = 0.05
DRAWN = 199  # exchanges: a p-value of 10 / 200 is .05
AT_MOST = (0.0, 0.065)
HOLDS, HOLDS_FEW = (0.92, 1.0), (0.90, 1.0)
LOOKS = (20, 200)
BOUND = float(chi2.ppf(1 - LEVEL, 3))  # of the squared difference in standard errors at the first look
LOOKED = (100, 2000)  # units of the new arm at the first look and at the last; the old arm has nine times as many
TENTH = ((100, 900), (2000, 18_000))
MORE = {(100, 900): 5.0, (2000, 18_000): 2.0}  # how many times as often users convert where an arm is better
RATES = (0.005, 0.01, 0.02)
FEW = (5, 10, 20, 50)

Draw = Callable[[Any, int], Any]  # values of so many units


class Setting(NamedTuple):
    """Two arms: how their values are drawn, and what is asked."""

    name: str
    new: Draw
    old: Draw
    sizes: tuple[int, int]
    apart: float = 0.0  # the difference of the means
    level: tuple[float, float] | None = AT_MOST  # of false alarms; not used where the means differ
    held: tuple[float, float] | None = HOLDS  # of intervals
    tests: tuple[str, ...] = ("randomization",)
    limits: bool = False  # whether the metric is known to be between 0 and 1
    null: bool = False  # whether intervals may be null


def converted(rate: float) -> Draw:
    """Draw values of 0 and 1."""
    return lambda rng, n: (rng.random(n) < rate).astype(float)


def paid(rate: float, spread: float = 1.0, size: float = 1.0) -> Draw:
    """Draw revenue: 0 for most, and a lognormal amount of mean ``size`` for a share of the users."""
    most = size * np.exp(-(spread**2) / 2)
    return lambda rng, n: (rng.random(n) < rate) * most * np.exp(spread * rng.normal(size=n))


def bell(spread: float, shift: float = 0.0) -> Draw:
    """Draw normal values around 10."""
    return lambda rng, n: rng.normal(10 + shift, spread, n)


def ranks(easy: float) -> Draw:
    """Draw reciprocal ranks: 1 for a share of the queries, and 1/2 to 1/10 for the others, or 0."""
    return lambda rng, n: np.where(rng.random(n) < easy, 1, [*1 / np.arange(2.0, 11), 0] @ _chosen(rng, n))


def _chosen(rng: Any, n: int) -> Any:
    """Choose one of ten, ``n`` times, as marks, shape (10, n)."""
    return np.arange(10)[:, None] == rng.integers(0, 10, n)


def of_shape(name: str, draw: Callable[[float], Draw], rate: float, sizes: Any) -> Iterator[Setting]:
    """Yield a shape without a difference, and with one both ways; ``rate`` is the share of users, and their mean."""
    most, null = MORE[sizes], "revenue" in name
    yield Setting(name, draw(rate), draw(rate), sizes, tests=("randomization", "t"), null=null)
    for word, new in (("better", most), ("worse", 1 / most)):
        apart = rate * new - rate
        yield Setting(f"{name}, the new arm {word}", draw(rate * new), draw(rate), sizes, apart, null=null)


def settings() -> Iterator[Setting]:
    """Yield all settings of one look."""
    for sizes in TENTH:
        for rate in RATES:
            yield from of_shape(f"{rate:.1%} convert", converted, rate, sizes)
        for rate in (0.02, 0.1):
            yield from of_shape(f"revenue of {rate:.1%}", paid, rate, sizes)
    few, many = paid(0.02, 0.0, 4), paid(0.08, 0.0, 1)
    yield Setting("2 % x 4 against 8 % x 1", few, many, (50, 450), level=None, held=None, null=True)
    yield Setting("8 % x 1 against 2 % x 4", many, few, (50, 450), level=None, held=None, null=True)
    yield Setting("8 against 1 % convert", converted(0.08), converted(0.01), (50, 500), 0.07)
    yield Setting("revenue of 8 against 1 %", paid(0.08), paid(0.01), (50, 500), 0.07, null=True)
    yield from of_spreads()
    yield from of_zeros()
    for n in FEW:
        shapes = {"normal": bell(1), "success of .95": converted(0.95), "success of .05": converted(0.05)}
        shapes |= {"reciprocal ranks, 50% of them 1": ranks(0.5)}
        for name, draw in shapes.items():
            held = HOLDS_FEW if n == min(FEW) else HOLDS
            yield Setting(name, draw, draw, (n, n), held=held, limits=name != "normal")


def of_spreads() -> Iterator[Setting]:
    """Yield settings of normal values, of which one arm's vary twice as much."""
    for sizes in ((100, 900), (100, 100), (20, 180), (10, 90), (10, 10)):
        error = (1 / sizes[0] + 1 / sizes[1]) ** 0.5
        for new, old in ((2.0, 1.0), (1.0, 2.0), (1.0, 1.0)):
            name = f"normal, deviations {new:g} and {old:g}"
            tests = ("randomization", "t") if sizes == (100, 900) else ("randomization",)
            yield Setting(name, bell(new), bell(old), sizes, tests=tests)
            if sizes == (100, 900):
                for word, shift in (("better", 3 * error), ("worse", -3 * error)):
                    yield Setting(f"{name}, the new arm {word}", bell(new, shift), bell(old), sizes, shift)


def of_zeros() -> Iterator[Setting]:
    """Yield settings of values of which many are equal, and of skewed ones, of whose intervals nothing is asked."""
    for sizes in ((100, 900), (20, 180)):
        yield Setting("lognormal", paid(1.0), paid(1.0), sizes, level=None, held=None)
        for zeros in (0.5, 0.8):
            name, old = f"{zeros:.0%} zeros, others lognormal", paid(1 - zeros)
            yield Setting(name, old, old, sizes, held=None, null=True)
            for word, more in (("better", 2.0), ("worse", 0.5)):
                new, apart = paid(1 - zeros, size=more), (1 - zeros) * (more - 1)
                yield Setting(f"{name}, the new arm {word}", new, old, sizes, apart, held=None, null=True)
        for easy in (0.5, 0.95):
            name = f"reciprocal ranks, {easy:.0%} of them 1"
            yield Setting(name, ranks(easy), ranks(easy), sizes, limits=True)


def arms_of(new: Any, old: Any, *, limits: bool = False) -> Arms:
    """Return the units of two arms, of one query each; ``limits``: whether the metric is between 0 and 1."""
    values = np.concatenate([new, old])[:, None]
    known = np.array([[0.0], [1.0]]) if limits else None
    return Arms(values, np.ones(len(values)), np.arange(len(values)) < len(new), limits=known)


def asked_of(arms: Arms, test: str, trial: int) -> dict[str, float]:
    """Return what the arms are told to differ by, from the functions behind ab_test()."""
    found = compared(arms, test, 0.95, (DRAWN, DRAWN, trial), lambda done: None)
    return {name: one[0] for name, one in found.items()}


def same_arms(ours: dict[str, float], new: Any, old: Any, test: str, trial: int, *, limits: bool) -> None:
    """Raise where ab_test() tells something else; with ``limits`` of a metric whose range is known."""
    log = pl.DataFrame({"arm": ["new"] * len(new) + ["old"] * len(old), "v": [*new, *old]}).with_row_index("query")
    given: dict[str, Any] = {"permutations": DRAWN, "resamples": DRAWN, "seed": trial, "test": test}
    name = "rr" if limits else "v"  # rr is from 0 to 1
    row = (
        log.rename({"v": name})
        .irm(query="query", arm="arm", value=name)
        .ab_test(baseline="old", **given)
        .row(0, named=True)
    )
    names = ("difference", "ci_low", "ci_high", "p_value", "mde")
    theirs = [np.nan if row[name] is None else row[name] for name in names]
    mine = [ours.get(name, np.nan) for name in names]
    if not np.allclose(mine, theirs, rtol=0, atol=1e-12, equal_nan=True):
        agree(mine, theirs, f"arms by {test}")


def of_one_look(setting: Setting, number: int, trials: int) -> Iterator[Line]:
    """Count what is said of one setting."""
    raised = dict.fromkeys(setting.tests, 0)
    held, null = dict.fromkeys(setting.tests, 0), 0
    for trial in range(trials):
        rng = np.random.default_rng([21, number, trial])
        new, old = (draw(rng, n) for draw, n in zip((setting.new, setting.old), setting.sizes, strict=True))
        for test in setting.tests:
            found = asked_of(arms_of(new, old, limits=setting.limits), test, trial)
            if trial < AGREE:
                same_arms(found, new, old, test, trial, limits=setting.limits)
            raised[test] += found["p_value"] <= LEVEL
            low, high = found.get("ci_low", np.nan), found.get("ci_high", np.nan)
            held[test] += not (low > setting.apart or high < setting.apart)
            null += test == "randomization" and bool(np.isnan(low))
    name = f"{setting.name}, {setting.sizes[0]:,} and {setting.sizes[1]:,} units"
    what = "difference seen" if setting.apart else "false alarm"
    for test, happened in raised.items():
        asked = setting.level if test == "randomization" and not setting.apart else None
        yield Line(f"{what}: {test}", name, trials, int(happened), asked)
    for test, happened in held.items():
        asked = setting.held if test == "randomization" else None
        yield Line(f"interval holds the difference, or is null: {test}", name, trials, int(happened), asked)
    if setting.null:
        yield Line("interval is null: randomization", name, trials, null, None)


def users_of(n: int, spread: float, rng: Any) -> tuple[Any, Any]:
    """Draw users with 1 to 9 queries each: the sum of the values of each, and how many these are."""
    size = rng.integers(1, 10, n).astype(float)
    return size * (3 + spread * rng.normal(size=n)) + size**0.5 * rng.normal(size=n), size


def of_users(trials: int) -> Iterator[Line]:
    """Count false alarms where the units are users with several queries, a tenth of whom are in the new arm."""
    for spread in (2.0, 0.5):
        raised = dict.fromkeys(("randomization", "t"), 0)
        for trial in range(trials):
            rng = np.random.default_rng([22, trial])
            each = users_of(50, spread, rng), users_of(450, 1.0, rng)
            sums, size = (np.concatenate(parts) for parts in zip(*each, strict=True))
            arms = Arms(sums[:, None], size, np.arange(500) < 50)
            for test in raised:
                raised[test] += asked_of(arms, test, trial)["p_value"] <= LEVEL
        name = f"users with 1 to 9 queries, who vary {spread:g} times as much, 50 and 450 units"
        for test, happened in raised.items():
            asked = AT_MOST if test == "randomization" else None
            yield Line(f"false alarm: {test}", name, trials, int(happened), asked)


GROWN: dict[str, tuple[Draw, Draw, Draw]] = {  # what both arms do, and a better arm, and a worse one
    **{f"{rate:.1%} convert": (converted(rate), converted(2 * rate), converted(rate / 2)) for rate in RATES},
    "98.0% convert": (converted(0.98), converted(0.99), converted(0.96)),
    "revenue of 2.0%": (paid(0.02), paid(0.04), paid(0.01)),
    "normal": (bell(1), bell(1, 0.1), bell(1, -0.1)),
}


def said_at(looks: int, new: Any, old: Any, trial: int) -> bool:
    """Return whether a difference is told at any look, by ab_test(looks="any") at those that might tell one.

    These are looks at which the normal bound is nearly reached, and the variance is known; in the first trials all
    looks at which the bound is reached are asked.
    """
    n = np.unique(np.linspace(*LOOKED, looks).astype(np.int64))
    many = np.array([n, 9 * n])
    sums, squares = (
        np.array([np.cumsum(values**power)[at - 1] for values, at in zip((new, old), many, strict=True)])
        for power in (1, 2)
    )
    means = sums / many
    variances = (squares - many * means**2) / (many - 1) / many
    grown = 2 / (1 / many[0] + 1 / many[1]) / LOOKED[0]
    far = (means[0] - means[1]) ** 2 >= 0.999 * (BOUND + np.log(grown)) * variances.sum(axis=0) + 1e-15
    if trial >= AGREE:
        common = np.sort(old)[len(old) // 2]
        most = np.array([np.cumsum(values == common)[at - 1] for values, at in zip((new, old), many, strict=True)])
        kinds = len(np.unique(np.concatenate([new, old])))
        far &= ~few_differ(many, most, MIN_DIFFERING if kinds < KINDS else SKEWED).any(axis=0)
    for look, more in zip(n[far].tolist(), grown[far].tolist(), strict=True):
        found = compared(arms_of(new[:look], old[: 9 * look]), "None", 0.95, (1, 1, 0), lambda done: None, more)
        if found["p_value"][0] <= LEVEL:
            return True
    return False


def same_look(new: Any, old: Any) -> None:
    """Raise where ab_test() tells something else at the last look."""
    grown = 2 / (1 / len(new) + 1 / len(old)) / LOOKED[0]
    ours = compared(arms_of(new, old), "None", 0.95, (1, 1, 0), lambda done: None, grown)["p_value"].tolist()
    log = pl.DataFrame({"arm": ["new"] * len(new) + ["old"] * len(old), "v": [*new, *old]}).with_row_index("query")
    irm = log.irm(query="query", arm="arm", value="v")
    agree(ours, irm.ab_test(baseline="old", looks="any")["p_value"].to_list(), "p-values of looks")


def of_many_looks(_: pl.DataFrame, trials: int) -> Iterator[Line]:
    """Count how often arms of 1:9 that grow are told to differ at any look."""
    for looks in LOOKS:
        for i, (name, draws) in enumerate(GROWN.items()):
            for word, draw in zip(("", ", the new arm better", ", the new arm worse"), draws, strict=True):
                raised = 0
                for trial in range(trials):
                    rng = np.random.default_rng([23, i, trial])
                    new, old = draw(rng, LOOKED[1]), draws[0](rng, 9 * LOOKED[1])
                    raised += said_at(looks, new, old, trial)
                    if trial < AGREE and looks == min(LOOKS):
                        same_look(new, old)
                what = "difference seen: sequence" if word else "false alarm: sequence"
                setting = f"{looks} looks at {name}{word}, from 100 and 900 units to 2,000 and 18,000"
                yield Line(what, setting, trials, raised, None if word else AT_MOST)


def at_one_look(_: pl.DataFrame, trials: int) -> Iterator[Line]:
    """Count what is said at one look of rare values, of arms of 100 and 900 units that vary unlike, and of few units.

    ``unequal`` counts it in all settings, which takes an hour.
    """
    for number, setting in enumerate(settings()):
        few = (
            setting.sizes[0] == setting.sizes[1] and setting.sizes[0] in FEW and not setting.name.startswith("normal,")
        )
        rare = setting.sizes in ((50, 450), (50, 500))
        if few or rare or (setting.sizes == (100, 900) and setting.name.startswith("normal")):
            yield from of_one_look(setting, number, trials)


def unequal(rows: pl.DataFrame, trials: int) -> Iterator[Line]:
    """Count what is said of arms of unlike sizes and spreads, of rare values and of few units."""
    for number, setting in enumerate(settings()):
        yield from of_one_look(setting, number, trials)
    yield from of_users(trials)
    yield from of_many_looks(rows, trials)
