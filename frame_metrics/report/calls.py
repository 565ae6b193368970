"""Calls of verbs for a report; those that fail are noted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import polars as pl

from frame_metrics.backends.frames import here
from frame_metrics.errors import FrameMetricsError
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.saved_names import to_pass
from frame_metrics.report.cells import plain_text
from frame_metrics.report.content import Content
from frame_metrics.roles.columns import Columns
from frame_metrics.verbs.compare.ab_test import ab_test
from frame_metrics.verbs.compare.options import ArmOptions, ChangeOptions


@dataclass
class Calls:
    """Calls of verbs for a report; a call that fails is noted with its reason, and left out."""

    irm: Any
    plan: Any  # the plan of the irm
    verb: str  # the verb of comparisons
    has_metrics: bool  # False if the caller named no metrics
    # What could not be computed: sections of the report; and what the caller asked for, as a metric (None for the
    # first) and a sentence without its end.
    absent_sections: list[dict[str, str]] = field(default_factory=list)
    absent_metrics: list[tuple[str | None, str]] = field(default_factory=list)
    nested: dict[Any, Any] = field(default_factory=dict)  # systems that are structs or lists, by their texts
    in_no_arm: pl.DataFrame | None = None  # values over all of what has no arm, which results then leave out

    @property
    def columns(self) -> Columns:
        """The columns of the irm."""
        columns: Columns = self.plan.columns
        return columns

    @property
    def paired(self) -> bool:
        """True if the values of systems are paired, False for arms."""
        return self.columns.arm is None

    def metrics_to_pass(self, *names: str) -> Sequence[str | Metric]:
        """Return the metrics to give to a verb: their names, also of saved numbers that the caller did not name.

        So what is tested together is what was asked for, and results are of no other metric.
        """
        return [*map(to_pass, names)] if self.columns.value else names

    def as_baseline(self, system: Any) -> list[Any]:
        """Return a system of a result as the value of ``baseline=``: a list, so that null can be a baseline too."""
        return [self.nested.get(system, system)]

    def compare(self, irm: Any, *metrics: str | Metric, **options: Any) -> Any:
        """Call the verb of comparisons; of periods in segments ``ab_test``, as ``change`` takes these apart."""
        verb = "ab_test" if self.verb == "change" and irm.roles.get("by") is not None else self.verb
        return self.call(irm, verb, *metrics, **options)

    def call(self, irm: Any, verb: str, *metrics: str | Metric, **options: Any) -> Any:
        """Call a verb of comparisons; one of arms compares what has no arm with nothing if results leave it out."""
        if self.in_no_arm is None:
            return getattr(irm, verb)(*metrics, **options)
        of_verb = ArmOptions if verb == "ab_test" else ChangeOptions
        return ab_test(irm._plan, metrics, of_verb(null_is_an_arm=False, **options))

    def here(self, frame: Any) -> pl.DataFrame:
        """Return a result as polars, without what has no arm if that is left out.

        Systems that are structs or lists become texts, by which rows can be looked up.
        """
        result = here(frame)
        sides = {*result.columns} & {self.columns.side, "baseline"} - {*self.columns.segments}
        if self.in_no_arm is not None:
            result = result.drop_nulls(sides)
        for name in sides:
            if result.schema[name].is_nested():
                texts = [*map(plain_text, result[name].to_list())]
                self.nested |= zip(texts, result[name].to_list(), strict=True)
                result = result.with_columns(pl.Series(name, texts))
        return result

    def result_or_reason(self, call: Callable[[], Any]) -> tuple[pl.DataFrame | None, str]:
        """Return the result of a call; after an error of this package None, and the reason."""
        try:
            return self.here(call()), ""
        except FrameMetricsError as error:
            return None, str(error)

    def quietly(self, verb: Callable[..., Any], *metrics: str, **options: Any) -> pl.DataFrame | None:
        """Return the result of a verb; None if it cannot be computed, which the report does not mention."""
        found, _ = self.result_or_reason(partial(verb, *self.metrics_to_pass(*metrics), **options))
        return found

    def tried(
        self, section: str, call: Callable[[], Any], *, sentence: str = "", metric: str | None = None
    ) -> pl.DataFrame | None:
        """Return the result of a call; after an error of this package note the reason and return None.

        Parameters
        ----------
        sentence : how a sentence begins that says so in the summary, if the caller named what is not there.
        metric : the metric of that sentence; None for the first one.
        """
        found, reason = self.result_or_reason(call)
        if found is None:
            self.note(section, reason, sentence=sentence, metric=metric)
        return found

    def note(self, section: str, reason: str, *, sentence: str = "", metric: str | None = None) -> None:
        """Note that a part is not in the report; the parameters are those of ``tried``."""
        self.absent_sections.append({"section": section, "reason": reason})
        if sentence:
            self.absent_metrics.append((metric, f"{sentence}: {reason.removeprefix('baseline: ').rstrip('.')}"))

    def all_segments(self, content: Content) -> Any:
        """Return the irm without segments; with them if some query is in several, as its rankings would be joined."""
        return self.irm(by=None) if content.by and not content.queries_recur else self.irm
