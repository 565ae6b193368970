"""Metrics among arguments, and gates for limits of them, as --min ndcg@10=0.9 and --assert "ndcg@10 >= 0.9"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from frame_metrics.command.offers.other_names import NUMBER
from frame_metrics.errors import FrameMetricsError
from frame_metrics.metrics.names import read_text

METRIC_FLAGS = ("-m", "--metric", "--metrics")
UNDER, OVER = "--fail-under", "--fail-over"
AT_LEAST, AT_MOST = {"=": UNDER, ">": UNDER, "<": UNDER}, {"=": OVER, ">": OVER, "<": OVER}
EXPECTED, FAILING = {"=": UNDER, ">": UNDER, "<": OVER}, {"<": UNDER, ">": OVER}
# The gate of each comparison, by the flag that it stands behind; "" for a comparison by itself.
GATES_OF = {
    **dict.fromkeys(("--min", "--minimum", "--at-least", "--threshold", "--thresholds", "--floor", UNDER), AT_LEAST),
    **dict.fromkeys(("--max", "--maximum", "--at-most", "--ceiling", OVER), AT_MOST),
    **dict.fromkeys(
        ("", *METRIC_FLAGS, "--assert", "--require", "--expect", "--check", "--gate", "--pass-if"),
        EXPECTED,
    ),
    **dict.fromkeys(("--fail-if", "--fail-when"), FAILING),
}
COMPARED = re.compile(rf"([^-=<>\s][^=<>]*?)\s*([=<>])=?\s*({NUMBER})")


def with_before(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Return pairs of each argument and the one before it, "" for the first."""
    return zip(arguments, ["", *arguments], strict=False)


def is_metric(argument: str) -> bool:
    """Return True for the name of a metric."""
    try:
        return bool(read_text(argument))
    except FrameMetricsError:
        return False


def parted(names: str) -> list[str]:
    """Return metrics with commas between them, as there are between cutoffs and parameters."""
    return re.split(r",\s*(?=[^\W\d])(?![^(]*\))", names)


def with_gates(arguments: Sequence[str]) -> list[str]:
    """Return arguments in which limits of metrics are gates; numbers alone, and what other flags take, stay."""
    found, left = list[str](), [*arguments]
    while left:
        one = left.pop(0)
        flag, equals, value = one.partition("=") if one.startswith("-") else ("", "=", one)
        behind = not flag and found[-1:] and found[-1].startswith("-")
        value = value if equals else next(iter(left), "")
        limit = COMPARED.fullmatch(value) if flag in GATES_OF and not behind else None
        if limit is None or limit[2] not in GATES_OF[flag] or not is_metric(limit[1]):
            found.append(one)
            continue
        found += [GATES_OF[flag][limit[2]], f"{limit[1]}={limit[3]}"]
        left = left if equals else left[1:]
    return found


def as_limit(text: str) -> str:
    """Return a comparison of a metric as its limit, if that is the side on which it is better; else the text."""
    found = COMPARED.fullmatch(text)
    if found is None or found[2] == "=" or not is_metric(found[1]):
        return text
    upwards = read_text(found[1])[0][1].higher is not False
    return f"{found[1]}={found[3]}" if upwards == (found[2] == ">") else text


def limited(arguments: Sequence[str]) -> list[str]:
    """Return the metrics that gates limit."""
    limits = (one.partition("=") for one, before in with_before(arguments) if before in (UNDER, OVER))
    return [metric for metric, equals, _ in limits if equals]
