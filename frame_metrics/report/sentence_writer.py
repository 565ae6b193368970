"""The figures that sentences of a summary share: those of the best system, by the first metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl

from frame_metrics.backends.times import ArmOrder, are_times, order_of_arms
from frame_metrics.inputs import FullConfusion
from frame_metrics.metrics.metric import Metric
from frame_metrics.report.cells import counted, no_value, plain_text
from frame_metrics.report.difference_sentences import Difference
from frame_metrics.report.floors import Floors
from frame_metrics.report.rows_of_shares import key_of
from frame_metrics.report.sentences import FIGURES, PLAIN, Plain, Sentence
from frame_metrics.report.words import name_of, names_in_words, units_in_words
from frame_metrics.roles.conventions import Conventions
from frame_metrics.stats.proxies import FEWEST

if TYPE_CHECKING:
    from frame_metrics.report.calls import Calls
    from frame_metrics.report.content import Content

UNJUDGED = "unjudged in the top"  # checks of the audit
OneSentence = TypeVar("OneSentence", bound=Sentence)


@dataclass(frozen=True)
class SentenceWriter:
    """The base class of writers of sentences: they make sentences of the content of a report.

    ``compare_options`` holds the options with which ``compare`` was called.
    """

    content: Content
    work: Calls
    compare_options: Mapping[str, Any]

    @cached_property
    def best_row(self) -> dict[str, Any]:
        """The row of the best or only system in the results of the first metric."""
        rows = self.content.of_first(self.content.results).to_dicts()
        return next(row for row in rows if self._system(row) == self.content.best)

    @cached_property
    def segments_of_best(self) -> list[dict[str, Any]]:
        """The segments of the best system, by the first metric; none without segments."""
        frame = self.content.segments
        every = [] if frame is None else self.content.of_first(frame).to_dicts()
        return [row for row in every if self._system(row) == self.content.best]

    @cached_property
    def _times(self) -> list[str]:
        """The columns of segments that are times."""
        rows = self.segments_of_best
        return [name for name in self.content.by if are_times((row[name] for row in rows), name)]

    def _system(self, row: Mapping[str, Any]) -> Any:
        return row.get(self.content.system) if self.content.system else None

    @cached_property
    def _are_periods(self) -> bool:
        """True for arms that are times, or before and after something."""
        return self.work.verb == "change" and self._order_of_arms.are_periods

    @cached_property
    def _order_of_arms(self) -> ArmOrder:
        return order_of_arms(self._arms)

    @property
    def _arms(self) -> pl.Series:
        """The names of the arms, in the order of names."""
        return self.content.results[str(self.content.system)].unique(maintain_order=True)

    @property
    def _sorted_arms(self) -> list[Any]:
        """The names of the arms, the earlier ones first."""
        return self._arms.gather(self._order_of_arms.places).to_list()

    @property
    def _unjudged_warnings(self) -> pl.DataFrame:
        """The warnings of the audit that results at the top are unjudged."""
        return self.content.audit.filter(pl.col("check").str.starts_with(UNJUDGED), severity="warning")

    def _of(self, row: Mapping[str, Any]) -> str:
        """Return the segment of a row as text, as "column = value"."""
        return ", ".join(f"{plain_text(name)} = {plain_text(row[name], 60)}" for name in self.content.by if name in row)

    def _in_words(self, row: Mapping[str, Any]) -> str:
        """Return the segment of a row as sentences write it, as "phone (device)"; "" without one."""
        some = [(row[name], name) for name in self.content.by if name in row]
        words = [f"{plain_text(value, 60)} ({plain_text(name)})" for value, name in some if value is not None]
        return names_in_words([*words, *(no_value(name) for value, name in some if value is None)])

    @property
    def _fill(self) -> float | None:
        """The number that replaces undefined values of the first metric; None if they are left out."""
        return fill_of(self.work.irm, self.content.asked[0][1])

    def _plain(self, about: str, of: str, *, by: str | None = None, **more: Any) -> Plain:
        """Return a sentence that is given as text; ``by``: the metric that it is about, None for the first."""
        return Plain(about=about, metric=self._asked(by)[0] if PLAIN[about].has_metric else None, of=of, **more)

    def _of_row(
        self, kind: type[OneSentence], row: Mapping[str, Any], *, by: str | None = None, **more: Any
    ) -> OneSentence:
        """Return a sentence with the figures of a row, and what is the same in the whole report.

        Parameters
        ----------
        kind : its class, of whose fields those are taken that are known.
        by : the metric of the figures; None for the first.
        more : fields to add or to replace.
        """
        known = {name: value for name, value in row.items() if name in FIGURES and name != self.content.system}
        name, metric = self._asked(by)
        known |= {"metric": name, "unit": self.content.unit, "system": self._system(row)}
        known |= {"segment": self._of(row) or None, "segment_in_words": self._in_words(row)}
        at = self.content.decisions.threshold if metric.input is FullConfusion else None
        known |= {"threshold": at, "adjusted": self.content.compared.adjusted, "level": self.compare_options.get("ci")}
        known |= {name: row.get(name) for name in ("n_tests", "n_proxy")}
        known |= {"clusters": units_in_words(self.work.columns.cluster)}
        known |= {"has_winner": not self._are_periods}
        sides = [(known | more)[side] for side in ("system", "baseline") if side in known or side in more]
        known["share_rows"] = tuple(self._share_rows(name, row, side) for side in sides)
        own = {field.name: known[field.name] for field in fields(kind) if field.name in known}
        return kind(**own | more)

    def _asked(self, name: str | None) -> tuple[str, Metric]:
        """Return a metric that was asked for and its name; the first one if it is not among them."""
        return next((one for one in self.content.asked if one[0] == name), self.content.asked[0])

    def _share_rows(self, name: str, row: Mapping[str, Any], system: Any) -> int | None:
        """Return how many rows a metric is a share of, for a system and the segment of a row; None if unknown."""
        segment = [row[column] for column in self.content.by if column in row]
        return self.content.share_rows.get(name, {}).get(key_of(system, *segment))

    def _differences(self, rows: Sequence[Mapping[str, Any]], name: str) -> list[Difference]:
        """Return the sentences of the rows of a comparison by one metric, with the least p-values of few units."""
        clusters = self.content.audit.filter(check="few clusters")["n"]
        _, word = units_in_words(self.work.columns.cluster)
        floors = Floors(rows, self.content.unit, int(clusters[0]) if len(clusters) else None, word)
        found = []
        for row in rows:
            few = (floors.of(row) if row["p_adjusted"] is not None else {}) or self._too_few_judged(row)
            few |= {"value": None, "baseline_value": None} if row.get("n_proxy") else {}
            found.append(self._of_row(Difference, row, by=name, split_p_value=row.get("split_p_value"), **few))
        return found

    def _too_few_judged(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return words for the queries that people judged, if they are too few for any difference."""
        if not row.get("n_proxy") or row["difference"] is not None:
            return {}
        if not row["n"]:
            return {"few_units_text": f"people judged none of the {self.content.unit} whole"}
        by, users = units_in_words(self.work.columns.cluster)
        units = f" {by} fewer than {FEWEST} {users}" if self.work.columns.cluster else f", fewer than {FEWEST}"
        return {"few_units_text": f"people judged {counted(row['n'], self.content.unit)} whole{units}"}

    def _between(self, pair: Difference, article: str = "the") -> str:
        """Return words for the difference of a pair; of more than two systems with both names."""
        names = f" between {name_of(pair.system)} and {name_of(pair.baseline)}"
        return f"{article} difference{names if self.content.n_systems > 2 else ''}"

    def _needed(self, pair: Difference, detect: float) -> int | None:
        """Return how many queries (those judged by people) show a difference over all segments; None if unknown."""
        irm, sides = self.work.all_segments(self.content), {pair.system, pair.baseline}
        tests = (pair.n_tests or 1) if pair.correction else 1
        rows = self.work.quietly(irm.sample_size, self.content.first_compared, detect=detect, n_tests=tests)
        for row in () if rows is None else rows.to_dicts():
            if {row.get(str(self.content.system)), row.get("baseline")} == sides:
                return None if row["needed"] is None else int(row["needed"])
        return None


def fill_of(irm: Any, metric: Metric) -> float | None:
    """Return the number that replaces undefined values of a metric; None if they are left out."""
    metric = metric if irm.roles.get("value") is None else replace(metric, undefined=None)
    return Conventions(undefined=irm.roles.get("undefined")).fill(metric)
