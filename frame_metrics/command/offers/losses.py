"""Gates of a loss against the log of before, in the words that readers try first, as --fail-if-worse ndcg@10=0.02."""

from __future__ import annotations

import os
import re
from collections.abc import Container, Sequence

from frame_metrics.command.files.columns_there import words_of
from frame_metrics.command.offers.named_metrics import is_metric
from frame_metrics.command.offers.other_names import NUMBER
from frame_metrics.metrics.names import without_average

LOSS = {*("worse", "drop", "drops", "loss", "lose", "losses", "decrease", "regression", "regressions", "regress")}
LOSS |= {*("fall", "decline", "degradation", "degrade", "deterioration")}
# Words of flags beside which a loss is one that fails, or the greatest that passes.
GATING = {*("fail", "failing", "max", "maximum", "most", "allow", "allowed", "allowable", "accept", "accepted")}
GATING |= {
    *("acceptable", "tolerate", "tolerated", "permitted", "error", "exit", "assert", "abort", "break", "block", "no")
}
ALONE = {"tolerance", "tolerated"}
SURELY = {"significant", "significantly", "surely", "sure"}
DIFFERENCES = {"diff", "difference", "delta"}  # of which the least is a loss, if it is below 0
AMOUNT = re.compile(rf"(?:([^-=<>\s][^=<>]*?)\s*[=<>]=?\s*)?([-+]?)({NUMBER})")
LIMIT = re.compile(r"^(?:min|max|at-least|at-most|fail-if|fail-on)-")  # the start of flags that limit a metric
OF_LOSS = DROP, MARGIN, WORSE, OF_SYSTEM = "--max-drop", "--margin", "--fail-if-worse-than", "--saved-system"
BEFORE = (WORSE, "--not-worse-than")
OF_FILES = ("--against", "--reference", "--reference-run", "--previous", "--before", "--old", "--control")
NAMED = (*BEFORE, "--saved", "--baseline")  # flags of the log of before


def with_losses(arguments: Sequence[str], options: Container[str]) -> list[str]:
    """Return arguments in which gates of a loss are ours, beside the log of before; where none is known, as they are.

    A number is the loss that is accepted. The log of before is the file of another gate, or that of the baseline, or
    the first of two files. If the baseline is a system of the only file, it is what the others are compared with.
    """
    found, gated, left = list[str](), False, [*arguments]
    while left and "max_drop" in options:
        one = left.pop(0)
        flag, equals, value = one.partition("=")
        value = value if equals else next(iter(left), "")
        further = len(found) > 1 and found[-2] in (DROP, MARGIN) and _of_metric(AMOUNT.fullmatch(one))
        words = [found[-2], one] if further else _ours(flag, value, options)
        gated = gated or words is not None or flag == DROP
        found += ([flag, value] if equals and flag in (*NAMED, *OF_FILES) else [one]) if words is None else words
        left = left[1:] if words and not equals and not further else left
    return _with_before(found, gated=gated) or (found if {DROP, MARGIN} & {*found} else [*arguments])


def _ours(flag: str, value: str, options: Container[str]) -> list[str] | None:
    """Return our words for a gate of a loss and its value: none if it has no value; None for another flag."""
    words, amount = words_of(flag), AMOUNT.fullmatch(value)
    if flag[:2] != "--" or (amount and amount[1] and not _of_metric(amount)):
        return None
    lowest = bool(amount and amount[2] == "-") and bool(words & DIFFERENCES or flag == "--fail-under")
    if is_metric(LIMIT.sub("", flag[2:]).replace("-", "_")):  # as --max-log-loss
        return None
    if flag[2:].replace("-", "_") in options and not (flag == WORSE and amount and not os.path.exists(value)):
        return None
    if not (words & LOSS and words & GATING) and not words & ALONE and not lowest and not (amount and words & LOSS):
        return None
    if amount:
        return [MARGIN if words & SURELY else DROP, f"{amount[1]}={amount[3]}" if amount[1] else amount[3]]
    if os.path.isfile(value):
        return [WORSE, value]
    return [] if value[:1] in ("", "-") or is_metric(value) else None


def _of_metric(amount: re.Match[str] | None) -> bool:
    """Return True for an amount behind the name of a metric."""
    return bool(amount and amount[1] and is_metric(without_average(amount[1])[0]))


def _with_before(arguments: list[str], *, gated: bool) -> list[str]:
    """Return arguments with the log of before behind the flag of the gate, and nowhere else; [] if it is not known."""
    files, pairs = _inputs(arguments), [*zip(arguments, ["", *arguments], strict=False)]
    names = {os.path.splitext(os.path.basename(one))[0]: one for one in files}
    named = {flag: names.get(value, value) for value, flag in pairs if flag in NAMED or _is_before(flag, value)}
    if (not gated and not {*BEFORE} & {*named}) or {*BEFORE} <= {*named}:
        return arguments
    system = named.get("--baseline", "") if len(files) == 1 and "--system" in arguments else ""
    first = files[0] if len(files) == 2 and not {"--system", "--arm"} & {*arguments} else ""
    flag = next((one for one in (*NAMED, *OF_FILES) if one in named), "")
    before = named.get(flag, first)
    if system and not os.path.isfile(system):
        before = files[0]
    gate = flag if flag in BEFORE else WORSE
    if not os.path.isfile(before) or {*named.values()} - {before, system}:
        return arguments if flag in BEFORE else []
    kept = list[str]()
    for one, behind in pairs:
        if one in named or behind in named:
            kept += [gate, before] if behind == flag else []
        elif one != before or len(files) == 1 or behind.startswith("-"):
            kept.append(one)
    return [*kept, *([] if flag else [gate, before]), *([OF_SYSTEM, system] if before != system and system else [])]


def _is_before(flag: str, value: str) -> bool:
    """Return True for another flag of the log of before, with a file."""
    return flag in OF_FILES and os.path.isfile(value)


def _inputs(arguments: Sequence[str]) -> list[str]:
    """Return the files that are no values of flags, or those of --input."""
    pairs = zip(arguments, ["", *arguments], strict=False)
    return [one for one, before in pairs if before[:1] != "-" or before in ("-i", "--input") if os.path.isfile(one)]
