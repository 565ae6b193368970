"""The verb that says what numbers rest on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.base import Base, Frame
from frame_metrics.border.frames import Past, columns_of
from frame_metrics.data.log import read_log
from frame_metrics.errors import check_choice
from frame_metrics.roles.needs import audited

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Auditing(Base[Frame]):
    """What can be asked about the data behind the numbers."""

    def audit(self, fail_on: Severity | None = None) -> Frame:
        """Say what the numbers rest on: what is wrong, what is odd, what was not counted, and plain facts.

        Parameters
        ----------
        fail_on : raise if there is a finding of this severity or a graver one, with the findings in the message. Facts
            are no reason to fail.

        Returns
        -------
        A frame of the caller's kind, a row per finding, the gravest first: check, severity, n (how many), share (of
        what the check looks at; null where there is no such whole, or nothing in it), example, message. The
        severities:

        - "error": other verbs raise for it. Bad values are among them: the message counts their rows and shows three,
          from 0 as they stand in the frame, and everything after is about the other rows; a row that is bad in two ways
          is in the first finding only.
        - "warning": the numbers may not mean what they seem to.
        - "info": worth knowing.
        - "fact": what the numbers rest on; always there, with n = 0 where there is nothing.

        A check that finds nothing has no row.

        Raises
        ------
        FrameMetricsError
            There is what ``fail_on`` names, or something is wrong that no rows of the frame are to blame for, and no
            rows are bad besides: a column that is not there or has no such type, judgments that are bad or contradict
            each other.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> log = pl.DataFrame({"query": [1, 1, 2], "score": [2.0, 1.0, 3.0], "grade": [0, 1, None]})
        >>> found = log.irm.audit()
        >>> found.select("check", "n").rows()[0]
        ('queries without judgments', 1)
        >>> found.filter(severity="fact", check="queries").select("n", "share").rows()
        [(1, 0.5)]
        """
        from frame_metrics.data.query_cases import cases_of
        from frame_metrics.verbs import audit, findings, guards

        if fail_on is not None:
            check_choice("fail_on", fail_on, get_args(Severity))
        columns, conventions = self._parts(
            audited(self.roles, columns_of(self.frame), judged=self.judgments is not None)
        )
        decided = columns.predicted is not None or conventions.threshold is not None

        def run(frame: pl.DataFrame, past: Past) -> Answer:
            judgments = self._qrels(columns, past)

            def look(rows: pl.DataFrame) -> list[findings.Finding]:
                if not columns.query:
                    return guards.findings(rows, columns, conventions)
                log = read_log(rows, columns, conventions, judgments)
                found = audit.findings(log, conventions)
                return [*found, *guards.guarded(cases_of(log, conventions), conventions)] if decided else found

            return findings.report(fail_on, findings.of_good_rows(frame, columns, look))

        return self._answer(run, columns, lambda types: dict(findings.SCHEMA))
