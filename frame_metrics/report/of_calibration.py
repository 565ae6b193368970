"""Sentences of a summary about scores that are read as probabilities: of which system and segment they are off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from frame_metrics.report.sentence_writer import SentenceWriter
from frame_metrics.report.sentences import Sentence
from frame_metrics.report.value_sentences import Calibration
from frame_metrics.stats.exact import wilson_interval

EXPECTED = 10  # the fewest rows of each label that a bin should have by its mean score, so that its interval holds
MOST_OFF = 3  # the most systems whose scores are said to be off
MOST_GROUPS = 500  # the most segments of all systems together that are looked at


class CalibrationSentences(SentenceWriter):
    """Sentences about scores as probabilities."""

    def all(self) -> Iterator[Sentence]:
        """Yield how far scores are from the shares that came true, and where this is surest, of each system.

        Looked at are the bins of ``curve("calibration")`` and all rows together, over all segments and of each one. The
        intervals of shares hold for all that is looked at together, of all systems, at the caller's level: for that
        over all segments with half of what may go wrong, and for that of segments with the other half. Said is the one
        whose interval is farthest from its mean score, of segments if one is surely off. Bins with too few rows are
        left out; if all are, nothing is called right. If rows have weights or clusters, there is no sentence.
        """
        columns = self.work.columns
        if columns.query or not columns.score or columns.class_scores or columns.weight or columns.cluster:
            return
        whole, segments = self._farthest([]), self._farthest(self.content.by) if self.content.by else []
        found = {row["key"]: row for row in whole}
        for row in sorted(segments, key=_miss):
            if _miss(row) > 0:
                found[row["key"]] = row | self._counts(row, segments)
        off = sorted((row for row in found.values() if _miss(row) > 0), key=lambda row: -row["value"])
        yield from (self._figures_of(row) for row in off[:MOST_OFF])
        if more := len(off[MOST_OFF:]):
            of = f"Read as probabilities, scores of {more:,} more system{'s' * (more > 1)} are off"
            yield self._plain("absent", of)
        best = found.get(self.content.best)
        if best is not None and _miss(best) <= 0 and best["by_bins"]:
            yield self._figures_of(best)

    def _counts(self, row: dict[str, Any], segments: Sequence[dict[str, Any]]) -> dict[str, int]:
        """Return in how many segments the scores of a system are off, and how many were looked at."""
        own = [one for one in segments if one["key"] == row["key"]]
        return {"n_segments_off": sum(_miss(one) > 0 for one in own), "n_segments": len(own)}

    def _figures_of(self, row: dict[str, Any]) -> Calibration:
        """Return the sentence about a system, or about a segment of it."""
        figures = {"mean_score": row["predicted"], "share": row["observed"], "of_all_rows": row["whole"]}
        figures |= {name: row.get(name) for name in ("n_segments_off", "n_segments")}
        figures |= {"metric": "ece", "within": row["segment"], "label": self.content.decisions.positive}
        return self._of_row(Calibration, row, system=row["key"], **figures)

    def _farthest(self, by: Sequence[str]) -> list[dict[str, Any]]:
        """Return of each system and segment the share that is farthest from its mean score, and its interval."""
        irm, keys = self.work.irm(by=[*by] or None, threshold=None), [*filter(None, [self.content.system]), *by]
        off, bins = self.work.quietly(irm.evaluate, "ece"), self.work.quietly(irm.curve, "calibration")
        if off is None or bins is None or (by and len(off) > MOST_GROUPS):  # scores outside 0 to 1 are no probabilities
            return []
        p = pl.col("predicted")
        rows = _with_all_rows(bins, keys).filter(pl.col("n") * pl.min_horizontal(p, 1 - p) >= EXPECTED)
        rows = rows.join(off.select(*keys, "value"), on=keys, nulls_equal=True) if keys else rows.join(off, how="cross")
        alpha = (1 - self.compare_options["ci"]) / (2 if self.content.by else 1) / max(len(rows), 1)
        found: dict[tuple[Any, ...], dict[str, Any]] = {}
        for row in rows.to_dicts():
            ends = wilson_interval(row["observed"], row["n"], 1 - alpha)
            row |= dict(zip(("ci_low", "ci_high"), ends, strict=True))
            row |= {"key": self._system(row), "segment": self._in_words(row) if by else None}
            group = tuple(row[name] for name in keys)
            other = found.get(group, row)
            found[group] = max(other, row, key=_miss) | {"by_bins": other["by_bins"] or row["by_bins"]}
        return [*found.values()]


def _miss(row: dict[str, Any]) -> float:
    """Return by how much the mean score is outside the interval of a share, below 0 within it."""
    return float(max(row["ci_low"] - row["predicted"], row["predicted"] - row["ci_high"]))


def _with_all_rows(bins: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Return the bins of each group, and all rows of each together, which are a bin that is the only one."""
    keyed = bins.select(*keys, pl.col("predicted", "observed", "n"), group=0)
    n, of = pl.col("n"), [*keys, "group"]
    means = {name: (pl.col(name) * n).sum() / n.sum() for name in ("predicted", "observed")}
    whole = keyed.group_by(of, maintain_order=True).agg(**means, n=n.sum(), whole=True, by_bins=pl.len() == 1)
    several = keyed.filter(pl.len().over(of) > 1).with_columns(whole=False, by_bins=True)
    return pl.concat([whole.select(several.columns), several])
