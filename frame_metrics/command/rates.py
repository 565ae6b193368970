"""The size of a test of two rates, which needs no log: each user counts once, as bought or not."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from frame_metrics.command import writing
from frame_metrics.command.front import quiet_pipe
from frame_metrics.command.texts import say

# Flags of numbers, and of the format that is printed; and the numbers that are taken where none is typed.
OF_RATES = {
    **dict.fromkeys(("--baseline", "--rate", "--baseline-rate", "--base-rate", "--p", "--conversion", "--p1"), "rate"),
    **dict.fromkeys(("--mde", "--detect", "--effect", "--delta", "--lift", "--difference"), "detect"),
    **dict.fromkeys(("--alpha", "--significance"), "alpha"),
    **dict.fromkeys(("--ci", "--confidence"), "ci"),
    **dict.fromkeys(("--to", "--format"), "to"),
    "--power": "power",
}
USUAL = {"power": "0.8", "alpha": "0.05"}
ABOUT = "needed: users in each of two arms, each counted once, as bought or not; for values of searches name a log"


def print_size_of_rates(arguments: Sequence[str]) -> bool:
    """Print how many users of each arm tell two rates apart; return False if something else than numbers is given."""
    given, left = dict(USUAL), [*arguments]
    while left:
        flag, equals, value = left.pop(0).partition("=")
        given[OF_RATES.get(flag.replace("_", "-"), "")] = value if equals else left.pop(0) if left else ""
    try:
        level = float(given["ci"]) if "ci" in given else 1 - float(given["alpha"])
        rate, detect, power = (float(given[one]) for one in ("rate", "detect", "power"))
    except (KeyError, ValueError):
        return False
    if "" in given or not detect or not all(0 < one < 1 for one in (rate, rate + detect, power, level)):
        return False
    from frame_metrics.verbs.compare.sample_size import users_of_rates  # which takes a while

    numbers = {"baseline_value": rate, "value": rate + detect, "detect": detect, "power": power, "ci": level}
    sizes = {name: round(one, 12) for name, one in numbers.items()}
    sizes |= {"needed": users_of_rates(rate, rate + detect, power, level)}
    with quiet_pipe():
        writing.print_frame(pl.DataFrame(sizes), writing.format_to(None, given.get("to")), writing.Look("text"))
    say(ABOUT)
    return True
