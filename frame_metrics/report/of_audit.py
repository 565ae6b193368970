"""Sentences of a summary about findings of the audit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import polars as pl

from frame_metrics.measuring.courses import OTHER_CLASSES
from frame_metrics.measuring.same_classes import is_mean_of_classes
from frame_metrics.metrics.saved_names import is_known
from frame_metrics.report.cells import counted, number_text, plain_text
from frame_metrics.report.sentence_writer import UNJUDGED, SentenceWriter
from frame_metrics.report.sentences import Plain
from frame_metrics.report.units import without_unit
from frame_metrics.report.words import LONGEST_NAME, capital, of_system
from frame_metrics.verbs.audit.gate import NOTHING
from frame_metrics.verbs.audit.of_systems import SOME_QUERIES

NOTHING_RELEVANT = "queries without relevant documents"  # a note, not a warning, where each row has its own label
LACKING = "systems without rows for"
MISMATCH_CHECK = "sample ratio mismatch"
IN_A_SEGMENT = f"{MISMATCH_CHECK} in a segment"
CUT = "searches cut by segments"
NO_RESULTS = "queries without results"
RARE = "rare classes among several"  # they hide in averages, and make none wrong
OF_MEANS_OF_CLASSES = ("classes with few rows",)  # of which only these are wrong
NULLS = ("nulls among periods", "nulls among arms")
MISSING = ("rows left out without a label", "many rows without a score", "labels written almost as positive")
# Why queries seem to have no row: these come before any figure.
CAUSES = (
    *("queries written otherwise in the judgments", "documents written otherwise in the judgments"),
    *("queries that systems write otherwise", "queries written otherwise in the baseline"),
)
SEGMENTS = ("judgments without a segment", "segments that judgments name otherwise")  # the same, of segments
WORSE_THAN_CHANCE = "scores worse than chance in rankings"
# Checks of the audit that have sentences of their own. "query found by name" is an error of metrics that are not among
# those of the report, which would have raised it.
IN_OTHER_SENTENCES = (
    *(UNJUDGED, "unjudged results", LACKING, MISMATCH_CHECK, CUT, WORSE_THAN_CHANCE, *OTHER_CLASSES),
    *("query found by name", *MISSING, *NULLS, RARE),
)
OF_RELEVANT = (  # checks of what is relevant, which metrics of gains alone do not read
    *("grades between 0 and 1", "grades that do not reach rel", "no grade below rel"),
    *("nothing found that is relevant", NOTHING_RELEVANT),
)
UNNAMED_DOCUMENTS = "systems whose documents are not named"  # metrics that count no unfound document do not read it
OF_CELLS = ("segments of few",)  # checks of segments that are no doubt where these are periods, judged by their course


class AuditSentences(SentenceWriter):
    """Sentences about findings of the audit."""

    def split(self) -> Iterator[Plain]:
        """Yield a warning if units are not split between arms as they should be; it comes before any difference.

        Of segments in which they are not, the first one is named.
        """
        for message in self.content.audit.filter(pl.col("check") == MISMATCH_CHECK)["message"]:
            yield self._split(message.partition(";")[0])
        segments = self.content.audit.filter(pl.col("check") == IN_A_SEGMENT)
        for name, message in segments.select("example", "message").head(1).iter_rows():
            more = len(segments) - 1
            others = f", and so in {more:,} more segment{'' if more == 1 else 's'}" if more else ""
            of = ", ".join(map(plain_text, self.content.by))
            yield self._split(f"in {of} = {name}, {message.partition(';')[0]}{others}")

    def _split(self, why: str) -> Plain:
        text = f"No difference can be trusted before it is known why the split is off: {why}"
        return self._plain("split", why, text=text)

    @property
    def split_holds_in_segments(self) -> bool:
        """True if no segment that was looked at has a mismatch: units are split as planned."""
        return IN_A_SEGMENT not in self.content.audit["check"]

    def causes(self) -> Iterator[Plain]:
        """Yield what is written in two ways, from a share of ``SOME_QUERIES`` on, so that figures are too low."""
        for row in self._written.iter_rows(named=True):
            found = capital(without_unit(row["message"]))
            yield self._plain("missing", found, n=row["n"], share=row["share"])

    @cached_property
    def _written(self) -> pl.DataFrame:
        return self.content.audit.filter(pl.col("check").is_in((*CAUSES, *SEGMENTS)), pl.col("share") > SOME_QUERIES)

    @property
    def word_for_unasked(self) -> str | None:
        """The pronoun in "If it was not asked them", of the queries without a row: "them", or "the others".

        "The others" if some may be there in another spelling, or in another segment; None if all may.
        """
        if not len(self._written):
            return "them"
        lacks = self.content.audit.filter(pl.col("check").str.starts_with(LACKING))["message"]
        return next((word for word in ("the others", "them") if lacks.str.contains(f"asked {word},").any()), None)

    @property
    def segments_in_two_ways(self) -> bool:
        """True if the log has rows of such queries, in another segment."""
        return bool(self._written["check"].is_in(SEGMENTS).any())

    def worse_than_chance(self) -> Iterator[Plain]:
        """Yield a note if scores order results worse than chance does, as distances do."""
        for message in self.content.audit.filter(pl.col("check") == WORSE_THAN_CHANCE)["message"]:
            yield self._plain("distance", of := without_unit(message), text=capital(of))

    def cut(self) -> Iterator[Plain]:
        """Yield which searches are in several segments, if they are many enough for a warning."""
        cut = self.content.audit.filter(pl.col("check") == CUT, pl.col("severity") == "warning")
        for n, message in cut.select("n", "message").iter_rows():
            of = message.partition("; each part counts")[0]
            yield self._plain("cut", of, text=f"{of}; each part counts as a search", n=n)

    def lacking(self) -> Iterator[Plain]:
        """Yield how many rows have no label and are left out, or no score; and how many are in no period or arm."""
        audit = self.content.audit
        for row in audit.filter(pl.col("check").is_in(NULLS)).iter_rows(named=True):
            is_arm, of = row["check"] == NULLS[1], row["message"]
            left_out = self.work.in_no_arm if is_arm else None
            if left_out is not None:
                values = self.content.of_first(left_out)["value"].drop_nulls()
                of = f"{of.partition(', and')[0]}, and {'is' if row['n'] == 1 else 'are'} compared with nothing"
                of += "".join(f": {self.content.first} is {number_text(value)} there" for value in values[:1])
            if row["severity"] == "warning" or left_out is not None:
                text = f"{of}{'' if is_arm else self._value_of_null}"
                yield self._plain("missing", text, n=row["n"], share=row["share"])
        for row in audit.filter(pl.col("check").is_in(MISSING)).iter_rows(named=True):
            yield self._plain("missing", row["message"], n=row["n"], share=row["share"])

    @property
    def _value_of_null(self) -> str:
        """Words for the value of what has no period; "" with other columns of segments, too."""
        rows = [row for row in self.segments_of_best if [row[name] for name in self.content.by] == [None]]
        rows = [] if len(self.segments_of_best) == 1 else rows  # then that is the value over all
        whose = of_system(self.content.best)
        return "".join(f": {self.content.first}{whose} is {number_text(row['value'])} there" for row in rows)

    def other_classes(self) -> Iterator[Plain]:
        """Yield which segments lack a class, if a metric of the report is a mean over classes."""
        asked = [metric for _, metric in self.content.asked if is_mean_of_classes(metric, binary=False)]
        if self.content.query or not asked:
            return
        for row in self.content.audit.filter(pl.col("check").is_in(OTHER_CLASSES)).iter_rows(named=True):
            yield self._finding(row)

    def rare_classes(self) -> Iterator[Plain]:
        """Yield the rarest class, which hides in the accuracy of all rows."""
        for row in self.content.audit.filter(check=RARE).iter_rows(named=True):
            share = row["message"].removeprefix(f"{row['example']} is ").partition(" %")[0]
            others = f" (and {row['n'] - 1:,} more {'class is' if row['n'] == 2 else 'classes are'} as rare)"
            name = f"{plain_text(row['example'], LONGEST_NAME)}{others * (row['n'] > 1)}"
            hides = "accuracy hardly depends on this class, and a macro average counts it as much as any other"
            yield self._plain("rare", f"Only {share} % of all rows are {name}: {hides}", n=row["n"])

    def errors(self) -> Iterator[Plain]:
        """Yield the gravest error of the audit that matters for the metrics of the report."""
        yield from self._gravest("error")

    def warnings(self) -> Iterator[Plain]:
        """Yield the first warning of the audit that matters for the metrics of the report, if there is no error."""
        if "error" not in self.content.audit["severity"]:
            yield from self._gravest("warning")

    def more(self) -> str:
        """Return words for errors and warnings that have no sentence, as "And 2 more warnings"."""
        counts = {one: len(self.content.audit.filter(severity=one)) for one in ("error", "warning")}
        gravest = next((one for one, n in counts.items() if n), "")
        left = {one: n - (one == gravest) for one, n in counts.items()}
        texts = [f"{n:,} more {one}{'' if n == 1 else 's'}" for one, n in left.items() if n]
        return f"And {' and '.join(texts)}" if texts else ""

    def _gravest(self, severity: str) -> Iterator[Plain]:
        relevant = any(not is_known(one) or "relevant" in one.reads for _, one in self.content.asked)
        in_sentences = (*IN_OTHER_SENTENCES, *self._written["check"])
        elsewhere = in_sentences if relevant else (*in_sentences, *OF_RELEVANT)
        if not any(is_known(one) and one.counts_unfound for _, one in self.content.asked):
            elsewhere += (UNNAMED_DOCUMENTS,)
        if not self.content.results["n_undefined"].sum():  # as of precision, which these queries leave at 0
            elsewhere += (NOTHING_RELEVANT,)
        elsewhere += () if is_mean_of_classes(self.content.asked[0][1], binary=False) else OF_MEANS_OF_CLASSES
        elsewhere += OF_CELLS if self._times else ()
        for row in self.content.audit.filter(severity=severity).iter_rows(named=True):
            if not row["check"].startswith(elsewhere):
                yield self._finding(row)
                return

    def _finding(self, row: Mapping[str, Any]) -> Plain:
        """Return the sentence of a finding, with its count unless it is about the whole frame."""
        count = f" ({counted(row['n'], row['unit'])})" if row["unit"] and row["check"] != NOTHING else ""
        first = f" (the first: {row['example']})" if row["check"] == NO_RESULTS and row["example"] else ""
        of = f"{row['check']}{count}: {without_unit(row['message'])}{first}"
        return self._plain("audit", of, text=capital(of), n=row["n"], share=row["share"])
