"""The rows of a comparison: their columns, options and corrections."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.data.groups import Segments
from frame_metrics.errors import NotComputableError, check_bool, check_choice, check_level, check_whole, shown
from frame_metrics.inputs import Array
from frame_metrics.measuring.results import labels, number, whole
from frame_metrics.metrics.names import Asked
from frame_metrics.roles.columns import Columns
from frame_metrics.stats.significance import adjusted

EACH = ("value", "baseline_value", "difference")
NUMBERS = (*EACH, "relative", "ci_low", "ci_high", "p_value", "p_adjusted", "effect_size")
COUNTS = ("wins", "ties", "losses", "n", "n_unpaired", "n_undefined")
SCHEMA: dict[str, Any] = dict.fromkeys(NUMBERS, pl.Float64) | dict.fromkeys(COUNTS, pl.Int64)
TESTED = {"mde": pl.Float64, "test": pl.String, "n_tests": pl.Int64, "correction": pl.String}
SCHEMA |= TESTED
OF_ARMS: dict[str, Any] = dict.fromkeys((*EACH, "relative", "relative_low", "relative_high"), pl.Float64)
OF_ARMS |= dict.fromkeys(("ci_low", "ci_high", "p_value", "p_adjusted", "effect_size"), pl.Float64)
OF_ARMS |= dict.fromkeys(("n", "baseline_n", "n_units", "baseline_n_units", "n_undefined"), pl.Int64)
OF_ARMS |= TESTED
CORRECTED = ("p_adjusted", "n_tests", "correction")
RESULT = ("baseline", "metric", "k", *SCHEMA)

OfQueries = Literal["randomization", "t", "wilcoxon", "sign", "bootstrap", "tukey"]
OfArms = Literal["randomization", "t", "z", "bootstrap"]
OfRows = Literal["mcnemar", "delong", "fisher", "bootstrap"]
Test = Literal["randomization", "t", "z", "wilcoxon", "sign", "bootstrap", "tukey", "mcnemar", "delong", "fisher"]
Correction = Literal["holm", "bonferroni", "bh", "none"]
Over = Literal["metric", "all"]
Unanswered = Literal["zero", "drop"]
Against = Literal["chance", "majority"]
CHOICES = {"correction": Correction, "over": Over, "unanswered": Unanswered}


@dataclass(frozen=True, eq=False)
class Options:
    """Options of a comparison; the verb has the parameters."""

    baseline: Any
    against: str | None
    test: str | None
    correction: str
    over: str
    unanswered: str
    ci: float
    permutations: int
    resamples: int
    seed: int
    paired: bool = True
    covariate: str | None = None
    power: float = 0.8

    @property
    def drawn(self) -> tuple[int, int, int]:
        """The permutations, the resamples and the seed."""
        return self.permutations, self.resamples, self.seed


def check_options(options: Options) -> None:
    """Raise for an option out of its range, or two that do not go together."""
    for name, choices in CHOICES.items():
        check_choice(name, getattr(options, name), get_args(choices))
    for name, choices in (("test", Test), ("against", Against)):
        if getattr(options, name) is not None:
            check_choice(name, getattr(options, name), get_args(choices))
    check_bool("paired", options.paired)
    if options.covariate is not None and options.paired:
        raise NotComputableError(
            f"covariate={shown(options.covariate)} is of arms that have each their own queries; say paired=False"
        )
    check_level(options.ci)
    check_whole("permutations", options.permutations, 1)
    check_whole("resamples", options.resamples, 1)
    check_whole("seed", options.seed, 0)
    if options.test == "tukey" and options.baseline is not None:
        raise NotComputableError("test='tukey' tests all pairs together; say baseline=None")
    if options.against is not None and options.baseline is not None:
        raise NotComputableError(f"against={options.against!r} tests each system by itself; say baseline=None")


def places(n: int, metrics: int, pairs: int) -> tuple[Array, Array, Array]:
    """Return the numbers of the segment, the metric and the pair of each of ``n`` rows."""
    at = np.arange(n)
    return at // (metrics * pairs), at // pairs % metrics, at % pairs


def tabled(
    rows: Sequence[dict[str, Any]], metrics: int, pairs: int, options: Options, schema: dict[str, Any] = SCHEMA
) -> dict[str, pl.Series]:
    """Return the columns of rows, by segment, then metric, then pair of systems; p-values are corrected here."""
    segment, metric, _ = places(len(rows), metrics, pairs)
    at_once = options.test == "tukey"  # whose p-values are those of all pairs together, and of one metric
    by_metric = at_once or options.over == "metric"
    family = segment * metrics + metric if by_metric else np.zeros(len(rows), np.int64)
    numbers = {name: dtype for name, dtype in schema.items() if dtype != pl.String and name not in CORRECTED}
    columns = {name: number(np.array([row[name] for row in rows])).cast(dtype) for name, dtype in numbers.items()}
    columns |= corrected(columns["p_value"], family, "tukey" if at_once else options.correction)
    columns["test"] = pl.Series([row["test"] for row in rows], dtype=pl.String)
    return {name: columns[name] for name in schema}


def answer_of_pairs(
    rows: Sequence[dict[str, Any]],
    asked: Asked,
    segments: Segments,
    systems: Segments,
    pairs: Sequence[tuple[int, int]],
    options: Options,
    schema: dict[str, Any] = SCHEMA,
) -> Answer:
    """Return rows as an answer, by segment, then metric, then pair of systems."""
    at, metric, pair = places(len(rows), len(asked), len(pairs))
    (column,) = systems.keys
    mine, base = (systems.key_rows(side[pair])[column] for side in np.array(pairs).T)
    keys = segments.own_rows(at) | {column: mine, "baseline": base}
    table = tabled(rows, len(asked), len(pairs), options, schema)
    return Answer(keys, labels(asked, metric) | table, {"baseline": column}, segments.cells.held)


def schema_of_arms(columns: Columns) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return the types of the columns of arms compared, by those of the frame's columns."""
    system = str(columns.system)

    def schema(types: dict[str, Any]) -> dict[str, Any]:
        first = {name: types[name] for name in (*columns.by, system)} | {"baseline": types[system]}
        return first | {"metric": pl.String, "k": pl.Int64} | OF_ARMS

    return schema


def corrected(p_value: pl.Series, family: Array, correction: str) -> dict[str, pl.Series]:
    """Return p-values corrected for how many there are in each family, how many these are, and the correction.

    Tukey's are corrected already. Where a family has one p-value nothing is corrected, and the correction is null.
    """
    p = p_value.fill_null(np.nan).to_numpy()
    out = np.full(len(p), np.nan)
    for one in np.unique(family):
        out[family == one] = adjusted(p[family == one], "none" if correction == "tukey" else correction)
    n_tests = np.bincount(family, ~np.isnan(p), minlength=1)[family]
    said = pl.Series([correction], dtype=pl.String).new_from_index(0, len(p)).set(pl.Series(n_tests < 2), None)
    return dict(zip(CORRECTED, (number(out), whole(n_tests), said), strict=True))
