"""The gate of an audit: how many findings of a check, or of a severity, are allowed before it raises."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal, get_args

from frame_metrics.errors import BadValueError, UnknownNameError, check_choice, closest, quote
from frame_metrics.verbs.audit.bad_rows import ROW_CHECKS, UNREAD, is_row_check
from frame_metrics.verbs.audit.listed import CHECKS

Severity = Literal["error", "warning", "info"]
FailOn = Severity | Mapping[str, bool | int | float]
SEVERITIES = ("error", "warning", "info", "fact")  # the gravest first
# The findings of repeated documents, a warning or an error by the convention duplicates=; its name stands for both.
JOINT_NAMES = {"duplicates": ("repeated documents", "rows that repeat a document of their query")}
NOTHING = "nothing to evaluate"


@dataclass(frozen=True)
class Gate:
    """The bounds of checks and severities: the largest number or share allowed; True: one finding fails."""

    bounds: Mapping[str, Any]

    def bound(self, check: str, severity: str) -> Any:
        """Return the bound of a check: its own, or else that of its severity.

        Without either it is True if a less grave severity has a bound, else None.
        """
        for name in (check, *(name for name, those in JOINT_NAMES.items() if check.startswith(those))):
            if name in self.bounds:
                return self.bounds[name]
        if severity in self.bounds:
            return self.bounds[severity]
        return True if {*SEVERITIES[SEVERITIES.index(severity) :]} & {*self.bounds} else None

    def unmet(self, found: Iterable[Any]) -> list[str]:
        """Return the checks that have a bound but no finding."""
        there = {finding.check for finding in found}
        there |= {name for name, those in JOINT_NAMES.items() if any(check.startswith(those) for check in there)}
        return [name for name in self.bounds if name not in (*SEVERITIES, *there)]

    def failed(self, found: Iterable[Any]) -> list[tuple[Any, Any]]:
        """Return the findings above their bounds, each with its bound.

        Without any fact but the number of rows, or with nothing to evaluate, the checks could not look at the data.
        Then every error fails, whatever its bound.

        Parameters
        ----------
        found : objects with check, severity, n and share.
        """
        findings = [finding for finding in found if finding.n]
        looked = any(finding.severity == "fact" and finding.check != "rows" for finding in findings)
        looked &= all(finding.check != NOTHING for finding in findings)
        failed = []
        for finding in findings:
            bound = self.bound(finding.check, finding.severity) if looked or finding.severity != "error" else True
            if bound is not None and _above(finding, bound):
                failed.append((finding, bound))
        return failed


def _above(finding: Any, bound: Any) -> bool:
    """Return True if a finding is above its bound; a finding without a share is above every bound that is a share."""
    if bound is True or (isinstance(bound, float) and finding.share is None):
        return finding.n > 0
    return bool((finding.share if isinstance(bound, float) else finding.n) > bound)


def bound_in_words(bound: Any) -> str:
    """Return the words that follow the number of a finding above its bound."""
    if bound is True:
        return ""
    return f", and at most {f'{bound:.6g} of all' if isinstance(bound, float) else bound} may be"


def gate_of(fail_on: Any) -> Gate:
    """Return the gate that ``fail_on=`` describes; raise for an unknown severity or check, or an invalid bound."""
    if not isinstance(fail_on, Mapping):
        check_choice("fail_on", fail_on, get_args(Severity))
        return Gate({fail_on: True})
    if not fail_on:
        raise BadValueError("fail_on={} names nothing; pass a check or a severity, as {'warning': True}")
    return Gate({_known(name): _checked(name, bound) for name, bound in fail_on.items()})


def _known(name: Any) -> str:
    """Return the name of a severity or a check; for another name raise an error that offers the nearest."""
    known = [*get_args(Severity), *JOINT_NAMES, *dict.fromkeys(check.name for check in CHECKS), *ROW_CHECKS, UNREAD]
    if isinstance(name, str) and (name in known or is_row_check(name)):
        return name
    raise UnknownNameError(
        f"fail_on: {quote(name)} is neither a severity ('error', 'warning', 'info') nor a check of the audit"
        f"{closest(name, known) or '; the column check of audit() has their names'}"
    )


def _checked(name: Any, bound: Any) -> Any:
    """Return a bound: True, a whole number as int, or a share as float; raise for anything else."""
    if type(bound).__name__ in ("bool", "bool_"):
        if bound:
            return True
        raise BadValueError(f"fail_on: {quote(name)} has False, and True means any; leave it out if it may not fail")
    if isinstance(bound, Integral) and int(bound) >= 0:
        return int(bound)
    if isinstance(bound, Real) and not isinstance(bound, Integral) and 0 <= float(bound) <= 1:
        return float(bound)
    raise BadValueError(
        f"fail_on: {quote(name)} has {quote(bound)}, and should have the most that may be found: "
        "a whole number (2), a share from 0.0 to 1.0 (.02), or True where any fails"
    )
