"""Pairs of systems whose difference judgments of unjudged results could turn, for the sentences about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from frame_metrics.inputs import Lists
from frame_metrics.plan.call import Call, bind
from frame_metrics.plan.needs import RANKED, needs_of
from frame_metrics.report.difference_sentences import Difference
from frame_metrics.report.sentence_writer import SentenceWriter
from frame_metrics.roles.series import largest_grade


class TurningPairs(SentenceWriter):
    """Differences of systems, with what judgments of unjudged results could do to them."""

    def looked_at(self, pairs: Sequence[Difference]) -> list[Difference]:
        """Return pairs, each with whether judgments could put the other system ahead, or turn what else is sure.

        It is looked at where the audit warns that results at the top are unjudged. It is not known for metrics without
        bounds, nor beside the judgments of a machine.
        """
        known = dict(self._known(pairs))
        pairs = [replace(one, can_turn=known.get((one.system, one.baseline))) for one in pairs]
        turned = [
            (one, [base for (other, base), turns in known.items() if turns and other != one.system]) for one in pairs
        ]
        return [
            replace(one, more=f"As judged so far, s{one.more[1:]}") if one.more and one.baseline in bases else one
            for one, bases in turned
        ]

    def _known(self, pairs: Sequence[Difference]) -> Iterator[tuple[tuple[Any, Any], bool]]:
        """Yield which pairs judgments can turn, by the names of both."""
        content, work, name = self.content, self.work, str(self.content.system)
        if self._unjudged_warnings.is_empty() or content.arms or not content.query or not pairs:
            return
        irm, asked = work.all_segments(content), [one for one in content.asked if one[0] == content.first_compared]
        if asked[0][1].input is Lists:  # of all lists together, without bounds
            return
        highest = _highest_grade(bind(work.plan, needs_of(work.plan, asked) | RANKED))
        options: dict[str, Any] = {"max_grade": highest} if asked[0][1].graded else {}
        for baseline in dict.fromkeys(one.baseline for one in pairs):
            options |= {"baseline": work.as_baseline(baseline)[0]}
            found = work.quietly(irm.bounds, content.first_compared, of="unjudged", **options)
            for row in () if found is None else found.to_dicts():
                yield (row[name], row["baseline"]), row["can_turn"]


def _highest_grade(call: Call) -> float | None:
    """Return the highest grade of the scale, or of all judgments, of labels 1; None if no grade is 1 or more."""
    if call.conventions.highest_grade is not None:
        return call.conventions.highest_grade
    columns, backend = call.columns, call.plan.backend
    if call.judgment_columns is not None and call.judgments_backend is not None:
        columns, backend = call.judgment_columns, call.judgments_backend
    if columns.grade is None:
        return 1.0
    most = largest_grade(backend.read([columns.grade])[columns.grade])
    return most if most >= 1 else None
