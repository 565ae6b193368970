"""Options of gates that do not go together, found before anything is read."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from frame_metrics.command.commands import GATES_ON_VALUES, LIMITS
from frame_metrics.command.gates import gates
from frame_metrics.command.gates.of_audit import check_bounds
from frame_metrics.errors import BadValueError
from frame_metrics.metrics.parameters import is_number

SAVED = ("saved", "fail_if_worse_than", "not_worse_than")  # options that name saved numbers


def check_gates(name: str, options: Mapping[str, Any], before: str | None) -> None:
    """Raise for gates without an effect, or that the result cannot be checked against.

    ``before``: the first of two files, with which the other is compared.
    """
    for one in SAVED:
        if options.get(one) == "":
            raise BadValueError(f"--{one.replace('_', '-')}: it needs the name of a file, and has none")
    for one in LIMITS:
        _check_limits(one, options.get(one) or {}, options)
    alpha, worse, bounds = (options.get(one) for one in ("alpha", "fail_if_worse_than", "fail_on"))
    not_worse, margin = (options.get(one) for one in ("not_worse_than", "margin"))
    if bounds is not None:
        check_bounds(bounds)
    most = options.get("max_drop")
    drop, losses = most is not None, most.values() if isinstance(most, dict) else [most or 0]
    if most is not None and worse and (margin is not None or alpha is not None):
        problem = "--max-drop is a limit of the mean, without a test; for a loss that is surely greater pass --margin "
        raise BadValueError(f"{problem}in its place").offering(
            {"max_drop=": ["margin="] if margin is None and any(losses) else []}
        )
    level = alpha is None or (is_number(alpha) and 0 < alpha < 1)
    saved = worse or not_worse or options.get("saved")
    ungated = not (bounds or any(options.get(one) for one in GATES_ON_VALUES))
    if is_number(alpha) and not (worse or not_worse):
        raise BadValueError(
            "alpha= is the level of --fail-if-worse-than and --not-worse-than, and none of them is given; that of "
            "intervals is 1 minus --ci"
        ).offering({"alpha=": []}, ci=f"{1 - alpha:g}")
    if (worse or not_worse) and options.get("per_query"):
        problem = f"--{'fail-if-worse' if worse else 'not-worse'}-than reads p-values; leave out --per-query"
        raise BadValueError(problem).offering({"per_query=": []})
    wrong = {
        "--not-worse-than requires the loss that is still accepted; pass --margin, as --margin ndcg@10=0.01": (
            not_worse and margin is None
        ),
        "--max-drop requires --fail-if-worse-than, with the log of before, or what per-query or evaluate wrote": (
            drop and not worse
        ),
        "--max-drop takes losses of at least 0, as ndcg@10=0.02": drop and not all(one >= 0 for one in losses),
        "--margin requires --fail-if-worse-than or --not-worse-than": (
            margin is not None and not (worse or not_worse) and name == "evaluate"
        ),
        f"alpha={alpha!r} is not a level between 0 and 1, as 0.05": not level,
        "--baseline, --saved, --fail-if-worse-than and --not-worse-than each name a baseline; pass one of them": (
            len([one for one in ("baseline", *SAVED) if options.get(one)]) > 1
        ),
        "--saved-system requires a file of saved numbers": options.get("saved_system") and not saved,
        "--junit writes the results of gates, and there is none; pass one, as --fail-under": options.get("junit")
        and ungated,
    }
    for message in (message for message, holds in wrong.items() if holds):
        if drop and not worse and before:
            raise BadValueError(message).offering(fail_if_worse_than=before)
        lacking = drop and not worse and options.get("saved")
        raise BadValueError(message).offering({"saved=": ["fail_if_worse_than="]} if lacking else {})


def _check_limits(name: str, gate: Any, options: Mapping[str, Any]) -> None:
    """Raise for a gate whose limits are not numbers by metric, or that the result's layout does not allow."""
    if not isinstance(gate, dict) or not all(is_number(one) and isfinite(one) for one in gate.values()):
        raise BadValueError(f"{name}: {gate!r} is not a metric and its limit, as ndcg@10=0.4")
    if "value" not in options:
        gates.check_limits(f"--{name.replace('_', '-')}", gate)
    if gate and options.get("layout") == "wide":
        problem = f"{name}= reads a row for each metric; leave out --layout wide"
        raise BadValueError(problem).offering({"layout=": []})
