"""The next step, as a sentence of a summary: what to judge, how many more queries to ask, or which to look at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from frame_metrics.report.cells import number_text, plain_text
from frame_metrics.report.sentences import Figures
from frame_metrics.report.stated import UNJUDGED, SentenceWriter
from frame_metrics.report.words import signed_text

MOST_NAMED = 3  # the most queries that are named
TIMES_MORE = 4  # times as many queries make an interval half as wide


class NextStepSentences(SentenceWriter):
    """The sentence about what to do next."""

    def next(self, pairs: Sequence[Figures]) -> Iterator[Figures]:
        """Yield the first that applies: what to judge; which queries lost most; how many more queries to ask.

        Parameters
        ----------
        pairs : the sentences about differences of systems.
        """
        unjudged = self.content.audit.filter(pl.col("check").str.starts_with(UNJUDGED), severity="warning")
        significant = [one for one in pairs if one.is_significant]
        if len(unjudged):
            n = int(unjudged["n"][0])
            of = f"Judge some of the {n:,} unjudged results at the top; to_judge() lists those that matter most first"
            yield self._sentence("next", {}, of=of, n=n)
        elif significant:
            yield from self._lost(significant[0])
        elif pairs:
            yield from self._more(pairs[0])
        else:
            yield from self._narrower()

    def _more(self, pair: Figures) -> Iterator[Figures]:
        """Yield how many more queries would show half of what these show."""
        if pair.mde and pair.few_units_text is None and pair.correction in (None, "max_t"):
            many = self._many(pair.n, pair.baseline_n)
            shows = f"differences above about {number_text(pair.mde / 2)}"
            yield self._sentence(
                "next", {}, of=f"With {TIMES_MORE} times as many {many} {shows} are likely to show", n=pair.n
            )

    def _narrower(self) -> Iterator[Figures]:
        """Yield how many more queries would make the interval of the only system half as wide."""
        low, high, n = self.best_row.get("ci_low"), self.best_row.get("ci_high"), self.best_row["n"]
        if low is None or high is None or high - low <= 0:
            return
        half = number_text((high - low) / 4)
        of = f"With {TIMES_MORE} times as many {self._many(n, None)} the interval is about ±{half}"
        yield self._sentence("next", {}, of=of, n=n)

    def _many(self, n: int | None, other: int | None) -> str:
        """Return words for so many times the queries."""
        each = "" if other is None else f" and {TIMES_MORE * other:,}"
        by = " judged by people" if self.content.n_proxy else ""
        return f"{self.content.unit}{by} ({TIMES_MORE * (n or 0):,}{each})"

    def _lost(self, pair: Figures) -> Iterator[Figures]:
        """Yield the queries that lost most against the baseline."""
        rows = self.content.worst_changes(pair.system, pair.baseline, MOST_NAMED).to_dicts()
        some = ", ".join(f"{self._query(row)} ({signed_text(row['difference'])})" for row in rows)
        if rows:
            yield self._sentence("next", {}, of=f"Look at the {self.content.unit} that lost most: {some}", n=len(rows))

    def _query(self, row: dict[str, object]) -> str:
        return ", ".join(plain_text(row[name], 60) for name in self.content.query)
