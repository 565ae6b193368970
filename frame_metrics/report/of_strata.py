"""Sentences of a summary about arms whose mixes differ: an arm that is better within segments, and worse over all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from frame_metrics.measuring.baseline import is_frame
from frame_metrics.report.cells import ALPHA, EQUAL, plain_text
from frame_metrics.report.difference_sentences import Difference, Reversal
from frame_metrics.report.sentence_writer import SentenceWriter

STRATA = 50  # the most segments; with more, each is small


def opposed(difference: float, within: float, p: float) -> bool:
    """Return True if a difference within segments is significant, and has the other sign than that over all."""
    return p < ALPHA and abs(difference) > EQUAL and within * difference < 0


def with_option(compare_options: Mapping[str, Any], name: str, value: Any) -> dict[str, Any]:
    """Return the options of comparisons with another value of one, which is left out if it is empty."""
    others = {own: given for own, given in compare_options.items() if own != name}
    return others | ({name: value} if value else {})


def in_segments(compare_options: Mapping[str, Any], by: Sequence[str]) -> dict[str, Any]:
    """Return the options of comparisons in segments: what makes the segments is no stratum of these."""
    return with_option(
        compare_options, "strata", [name for name in compare_options.get("strata", ()) if name not in by]
    )


class StrataSentences(SentenceWriter):
    """Sentences about differences within segments."""

    def reversed(self, pairs: Sequence[Difference]) -> Iterator[Reversal]:
        """Yield the pairs of arms in which another arm is ahead within segments than over all.

        The difference within segments is that of ``ab_test(strata=)``, with the columns of ``by`` as strata. Where this
        cannot be computed, as some segment has hardly a unit of an arm, nothing is said.
        """
        content, baseline = self.content, self.compare_options["baseline"]
        asked = content.arms and content.by and content.query and pairs
        if not asked or "strata" in self.compare_options or is_frame(baseline) or self._too_many():
            return
        name, irm = content.first_compared, self.work.irm(by=None)
        options = {"baseline": baseline, "strata": [*content.by], "ci": self.compare_options["ci"]}
        found = self.work.quietly(partial(self.work.call, irm, "ab_test"), name, **options)
        rows = [] if found is None else content.of_compared(found).to_dicts()
        for pair in pairs:
            sides = {pair.system, pair.baseline}
            for row in rows:
                if {self._system(row), row["baseline"]} != sides or row["p_adjusted"] is None:
                    continue
                within = self._of_row(Reversal, row, by=name, segments=", ".join(map(plain_text, content.by)))
                over_all = pair if pair.system == within.system else pair.swapped()
                if opposed(over_all.gap, row["difference"], row["p_adjusted"]):
                    yield within if row["difference"] > 0 else within.swapped()

    def _too_many(self) -> bool:
        segments = self.content.segments
        if segments is None:
            return True
        return len(self.content.of_first(segments).select(self.content.by).unique()) > STRATA
