"""Gates of a loss against the log of before, in the words that readers try first, as --fail-if-worse ndcg@10=0.02."""

from __future__ import annotations

import os
import re
from collections.abc import Container, Sequence

from frame_metrics.command.call import OF_ARMS
from frame_metrics.command.commands import options_of
from frame_metrics.command.files.columns_there import words_of
from frame_metrics.command.offers.named_metrics import is_metric, with_before
from frame_metrics.command.offers.other_names import NUMBER
from frame_metrics.command.periods import sides_of
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
AMOUNT = re.compile(rf"(?:([^-=<>\s][^=<>]*?)\s*[=<>]=?\s*)?([-+]?)({NUMBER}%?)")
LIMIT = re.compile(r"^(?:min|max|at-least|at-most|fail-if|fail-on)-")  # the start of flags that limit a metric
DROP, MARGIN, OF_SYSTEM = "--max-drop", "--margin", "--saved-system"
BEFORE = WORSE, NOT_WORSE = "--fail-if-worse-than", "--not-worse-than"
OF_LOSS = (DROP, MARGIN, *BEFORE, OF_SYSTEM)
EXCLUDED = ("--not-worse", NOT_WORSE)  # flags of a loss that has to be excluded
OF_FILES = ("--against", "--reference", "--reference-run", "--previous", "--before", "--old", "--control")
NAMED = (*BEFORE, "--saved", "--baseline")  # flags of the log of before


def with_losses(name: str, arguments: Sequence[str]) -> list[str]:
    """Return arguments in which gates of a loss are ours, beside the log of before; where none is known, as they are.

    A number is the loss that is accepted. The log of before is the file of another gate, or that of the baseline, or
    the first of the files. If the baseline is a system of the only file, it is what the others are compared with. A
    margin without a gate is one that has to be excluded, but for a report, which tells of it.
    """
    options, found, gates, left = options_of(name), list[str](), list[str](), [*arguments]
    while left and "max_drop" in options:
        one = left.pop(0)
        flag, equals, value = one.partition("=")
        value = value if equals else next(iter(left), "")
        further = len(found) > 1 and found[-2] in (DROP, MARGIN) and _of_metric(AMOUNT.fullmatch(one))
        words = [found[-2], one] if further else _ours(flag, value, options)
        gates += [NOT_WORSE if flag in EXCLUDED else WORSE] if words is not None and not further else []
        gates += [WORSE] if flag == DROP else []
        again = words == [] and not equals and value in arguments[: -len(left) or None] and is_metric(value)
        found += ([flag, value] if equals and flag in (*NAMED, *OF_FILES) else [one]) if words is None else words
        left = left[1:] if (words or again) and not equals and not further else left
    of_report = name == "report" or "--arm" in arguments  # which print what is known of the margin
    margin = not of_report and any(one.partition("=")[0] == MARGIN for one in found)
    gate = next(iter(gates), NOT_WORSE if margin else "")
    known = _with_before(name, found, gate)
    return known or (found if DROP in found or (MARGIN in found and name == "evaluate") else [*arguments])


def _ours(flag: str, value: str, options: Container[str]) -> list[str] | None:
    """Return our words for a gate of a loss and its value: none if it has no value; None for another flag."""
    words, amount = words_of(flag), AMOUNT.fullmatch(value)
    if flag[:2] != "--" or (amount and amount[1] and not _of_metric(amount)):
        return None
    lowest = bool(amount and amount[2] == "-") and bool(words & DIFFERENCES or flag == "--fail-under")
    if is_metric(LIMIT.sub("", flag[2:]).replace("-", "_")):  # as --max-log-loss
        return None
    if flag[2:].replace("-", "_") in options and not (flag in BEFORE and amount and not os.path.exists(value)):
        return None
    gating = (words & LOSS and words & GATING) or words & ALONE or flag in EXCLUDED
    if not gating and not lowest and not (amount and words & LOSS):
        return None
    if amount:
        surely = words & SURELY or flag in EXCLUDED
        return [MARGIN if surely else DROP, f"{amount[1]}={amount[3]}" if amount[1] else amount[3]]
    if os.path.isfile(value):
        return [NOT_WORSE if flag in EXCLUDED else WORSE, value]
    return [] if value[:1] in ("", "-") or is_metric(value) else None


def _of_metric(amount: re.Match[str] | None) -> bool:
    """Return True for an amount behind the name of a metric."""
    return bool(amount and amount[1] and is_metric(without_average(amount[1])[0]))


def _with_before(name: str, arguments: list[str], gate: str) -> list[str]:
    """Return arguments with what was before behind the flag of the gate, and nowhere else; [] if it is not known.

    ``gate``: the flag that it stands behind if it has none, "" without a gate.
    """
    files, pairs = files_in(arguments), [*with_before(arguments)]
    names = {os.path.splitext(os.path.basename(one))[0]: one for one in files}
    named = {flag: names.get(value, value) for value, flag in pairs if flag in NAMED or _is_before(flag, value)}
    if (not gate and not {*BEFORE} & {*named}) or {*BEFORE} <= {*named}:
        return arguments
    has_arms = {"--system", "--arm"} & {*arguments}
    system = named.get("--baseline", "") if len(files) == 1 and has_arms else ""
    if has_arms and "--baseline" not in named:
        system = next((sides_of(day)[0] for day, flag in pairs if flag == "--since"), "")
    first = files[0] if len(files) > 1 and not has_arms and (name == "compare" or not files[2:]) else ""
    flag = next((one for one in (*NAMED, *OF_FILES) if one in named), "")
    before = named.get(flag, first)
    if system and not os.path.isfile(system):
        before = system if name in OF_ARMS else files[0]
    gate = flag if flag in BEFORE else gate
    if not (os.path.isfile(before) or before == system != "") or {*named.values()} - {before, system}:
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


def files_in(arguments: Sequence[str]) -> list[str]:
    """Return the files that are no values of flags, or those of --input."""
    pairs = with_before(arguments)
    return [one for one, before in pairs if before[:1] != "-" or before in ("-i", "--input") if os.path.isfile(one)]
