"""Sentences of a summary about the best of several systems: which it may be, and if it is better than the next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from frame_metrics.measuring.baseline import is_frame
from frame_metrics.report.cells import sign_of
from frame_metrics.report.chosen_rows import places_of
from frame_metrics.report.comparing import compared_in_pairs
from frame_metrics.report.sentence_writer import SentenceWriter
from frame_metrics.report.sentences import Figures
from frame_metrics.report.words import name_of, names_in_words

NAMED = 5  # the most systems that are named as those that may be the best


class BestSystemSentences(SentenceWriter):
    """Sentences about the best of several systems."""

    def best_of(self) -> Iterator[Figures]:
        """Yield which systems may be the best, as ``leaderboard`` returns them."""
        board = self.content.compared.leaderboard
        known = [] if board is None else board.drop_nulls("may_be_best").to_dicts()
        may = [row for row in known if row["may_be_best"]]
        if not may or len(known) < 3:
            return
        names = [name_of(self._system(row)) for row in may[:NAMED]]
        names += [f"{len(may) - NAMED:,} more"] if len(may) > NAMED else []
        of = names_in_words(names)
        many = {"n_units": len(may), "baseline_n_units": len(known)}
        yield self._sentence("best", may[0], by=self.content.first_compared, of=of, **many)

    def winner(self) -> Iterator[Figures]:
        """Yield the best system that is no baseline against the next best, by the p-value of all pairs of systems."""
        frame, name = self.content.compared.differences, self.content.first_compared
        if frame is None or not self.content.has_baseline or not sign_of(name) or {*self.content.by} & {*frame.columns}:
            return
        baselines = [] if is_frame(self.compare_options["baseline"]) else [*dict.fromkeys(frame["baseline"])]
        order = [*places_of(self.content.results, self.content.system, name, [])]
        two = [one for one in order if one not in baselines][:2]
        if len(two) < 2 or order[0] in baselines or not compared_in_pairs(self.content, self.work):
            return
        calls = self.work.without_notes(self.work.irm)
        options = {key: value for key, value in self.compare_options.items() if key not in ("margin", "baseline")}
        call = partial(calls.compare, calls.whole(self.content), *self.work.metrics_to_pass(name), **options)
        found = calls.tried("pairs", call)
        rows = [] if found is None else self._differences(found.to_dicts(), name)
        for pair in rows:
            if {pair.system, pair.baseline} == {*two} and pair.p_adjusted is not None:
                words = f"the baseline{'s' * (len(baselines) > 1)} {names_in_words([*map(name_of, baselines)])}"
                of = words if baselines else None
                yield replace(pair if pair.system == two[0] else pair.swapped(), kind="winner", of=of)
