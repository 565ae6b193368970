"""The size of a test of two rates, which needs no log: each user counts once, as bought or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from frame_metrics.command.files import writing
from frame_metrics.command.front import quiet_pipe
from frame_metrics.command.texts import say

# Flags of numbers, and of the format that is printed; and the numbers that are taken where none is typed.
OF_RATES = {
    **dict.fromkeys(("--baseline", "--rate", "--baseline-rate", "--base-rate", "--p", "--conversion", "--p1"), "rate"),
    **dict.fromkeys(
        ("--mde", "--detect", "--effect", "--delta", "--lift", "--difference", "--minimum-detectable-effect"), "detect"
    ),
    **dict.fromkeys(("--alpha", "--significance"), "alpha"),
    **dict.fromkeys(("--ci", "--confidence"), "ci"),
    **dict.fromkeys(("--to", "--format"), "to"),
    "--power": "power",
}
USUAL = {"power": "0.8", "alpha": "0.05"}
ABOUT = "needed: users in each of two arms, each counted once, as bought or not; for values of searches name a log"


def rates_in(arguments: Sequence[str]) -> dict[str, str]:
    """Return the numbers of a test of two rates, and the format to print; {} if something else is given, or not all."""
    given, left = dict(USUAL), [*arguments]
    while left:
        flag, equals, value = left.pop(0).partition("=")
        given[OF_RATES.get(flag.replace("_", "-"), "")] = value if equals else left.pop(0) if left else ""
    try:
        given["ci"] = str(float(given["ci"]) if "ci" in given else 1 - float(given["alpha"]))
        rate, detect, power, level = (float(given[one]) for one in ("rate", "detect", "power", "ci"))
    except (KeyError, ValueError):
        return {}
    known = "" not in given and detect and all(0 < one < 1 for one in (rate, rate + detect, power, level))
    return given if known else {}


def print_size_of_rates(given: Mapping[str, str]) -> None:
    """Print how many users of each arm tell two rates apart, as ``rates_in`` returns them."""
    rate, detect, power, level = (float(given[one]) for one in ("rate", "detect", "power", "ci"))
    from frame_metrics.verbs.compare.sample_size import users_of_rates  # which takes a while

    numbers = {"baseline_value": rate, "value": rate + detect, "detect": detect, "power": power, "ci": level}
    sizes = {name: round(one, 12) for name, one in numbers.items()}
    sizes |= {"needed": users_of_rates(rate, rate + detect, power, level)}
    with quiet_pipe():
        writing.print_frame(pl.DataFrame(sizes), writing.format_to(None, given.get("to")), writing.Look("text"))
    say(ABOUT)
