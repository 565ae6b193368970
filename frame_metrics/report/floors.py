"""The least p-value that a test can give with so few units: if it is 0.05 or more, none can be significant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from frame_metrics.report.cells import ALPHA, counted
from frame_metrics.stats.flips import every_flip, least_p
from frame_metrics.verbs.compare.differences import least_of_units
from frame_metrics.verbs.compare.options import CompareOptions

DRAWN = ("randomization", "bootstrap")  # tests of arms whose least p-value is that of permuting their units
# Corrections that multiply the least p-value of a family by the number of its tests.
MULTIPLIED = ("holm", "bonferroni")


@dataclass(frozen=True)
class Floors:
    """The least p-values of a family of differences.

    Parameters
    ----------
    rows : of a comparison, by one metric.
    unit : the word for queries or rows.
    clusters : the number of clusters, if there are few; None where it is not known, or there are none.
    word : for clusters, as "users".
    """

    rows: Sequence[Mapping[str, Any]]
    unit: str
    clusters: int | None
    word: str

    def of(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return the least corrected p-value of a row and words for its units, as fields of ``Difference``.

        They are left out if that p-value is below 0.05.
        """
        least = self._alone(row)
        if row.get("correction") in MULTIPLIED:
            every = [least] if row["correction"] == "bonferroni" else map(self._alone, self.rows)
            least = max(least, row["n_tests"] * min(every))
        return {} if least < ALPHA else {"p_floor": min(least, 1.0), "few_units_text": self._units_text(row)}

    def _alone(self, row: Mapping[str, Any]) -> float:
        """Return the least p-value of a row that is not corrected."""
        test = str(row.get("test"))
        if row.get("baseline_n_units") is not None:
            units = row["n_units"], row["baseline_n_units"]
            return least_of_units(units, row.get("n_shared") or 0) if test in DRAWN else 0.0
        return least_p("sign" if test == "bootstrap" else test, self._n_differing(row), CompareOptions.permutations)

    def _n_differing(self, row: Mapping[str, Any]) -> int:
        """Return the number of queries, or rows, whose values differ, and at most that of clusters."""
        wins, losses = row.get("wins"), row.get("losses")
        n = int(row["n"] if wins is None or losses is None or row.get("test") == "bootstrap" else wins + losses)
        return n if self.clusters is None else min(n, self.clusters)

    def _units_text(self, row: Mapping[str, Any]) -> str:
        """Return the units as text, as "2 of 50 queries that differ", or for draws of their signs."""
        n = int(row["n"])
        if row.get("baseline_n_units") is not None:
            units, queries = (row["n_units"], row["baseline_n_units"]), (n, row["baseline_n"])
            return f"{units[0]:,} and {units[1]:,} {self.unit if units == queries else self.word}"
        differing = self._n_differing(row)
        if row.get("test") == "randomization" and not every_flip(differing, CompareOptions.permutations):
            return f"{CompareOptions.permutations:,} draws"  # the least p-value of many units
        if differing == self.clusters:
            return counted(differing, self.word)
        return counted(n, self.unit) if differing == n else f"{differing:,} of {counted(n, self.unit)} that differ"
