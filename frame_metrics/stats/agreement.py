"""Agreement of annotators beyond chance, for many pairs or groups of annotators at once."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from frame_metrics.inputs import Array, ratio
from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import begins_run, spans
from frame_metrics.stats.offsets import offsets
from frame_metrics.stats.significance import CLOSE


def kappa(pair: Array, one: Array, other: Array, n: int, times: Array | None = None) -> Array:
    """Return Cohen's kappa of each pair of annotators, NaN if both gave the same value to all documents, shape (n,).

    Parameters
    ----------
    pair : the number of the pair that judged each document, from 0, shape (documents,).
    one, other : the judgments of a document by the two, as whole numbers from 0, shape (documents,) each.
    n : number of pairs of annotators.
    times : how often each document counts, shape (documents,); None for once.

    Source: J. Cohen, A coefficient of agreement for nominal scales, Educational and Psychological Measurement 20(1),
    1960.
    """
    k, size = 1 + max(one.max(initial=0), other.max(initial=0)), np.bincount(pair, times, minlength=n)
    sides = [np.bincount(pair * k + side, times, minlength=n * k).reshape(n, k) for side in (one, other)]
    by_chance = (sides[0] / np.maximum(size, 1)[:, None] * sides[1]).sum(axis=1)
    same = np.bincount(pair, (one == other) * (1 if times is None else times), minlength=n)
    return ratio(same - by_chance, size - by_chance)


def weighted_kappa(pair: Array, one: Array, other: Array, n: int, times: Array | None = None) -> Array:
    """Return kappa with a disagreement weighted by the squared difference of the grades, which may be any numbers.

    It is 1 less the mean squared difference, divided by that of all judgments of the one with all of the other.

    Source: J. Cohen, Weighted kappa: nominal scale agreement with provision for scaled disagreement or partial credit,
    Psychological Bulletin 70(4), 1968.
    """
    size = np.maximum(np.bincount(pair, times, minlength=n), 1)
    one, other = np.array([one, other]) - offsets(np.concatenate([one, other]))

    def mean(values: Array) -> Array:
        return np.bincount(pair, values if times is None else values * times, minlength=n) / size

    means = [mean(side) for side in (one, other)]
    spread = sum(mean((side - of[pair]) ** 2) for side, of in zip((one, other), means, strict=True))
    by_chance = spread + (means[0] - means[1]) ** 2
    by_chance[by_chance < (CLOSE * np.abs(one).max(initial=0)) ** 2] = 0  # only rounding: all have one grade
    return ratio(by_chance - mean((one - other) ** 2), by_chance)


def codes_of_values(values: Array, distinct: Array) -> Array:
    """Return the number of each value among the distinct ones, which are sorted."""
    return np.searchsorted(distinct, values).astype(np.int32)


@record
class Judgments:
    """Judgments by groups of two or more annotators; a document that two groups judged is two documents here."""

    document: Array  # the number of each judgment's document, from 0, shape (judgments,)
    value: Array  # the value of each judgment, as a number, shape (judgments,)
    group: Array  # the number of each document's group, shape (documents,)
    n: int  # number of groups
    level: str  # of measurement, by which alpha counts a disagreement: see ``_alpha``

    @cached_property
    def cells(self) -> tuple[Array, Array, Array, Array]:
        """The distinct values; and for each cell, a document and a value that it was given: both, and how often.

        The three arrays of cells have shape (cells,).
        """
        values = np.unique(self.value)
        cells = self.document * np.int64(len(values))
        cells += codes_of_values(self.value, values)
        cells.sort()
        starts = np.flatnonzero(begins_run(cells)).astype(np.int32)
        many, cells = np.diff(starts, append=np.int32(len(cells))), cells[starts]
        document = (cells // max(len(values), 1)).astype(np.int32)
        return values, document, (cells % max(len(values), 1)).astype(np.int32), many

    @cached_property
    def size(self) -> Array:
        """Number of judgments of each document, shape (documents,)."""
        return np.bincount(self.document, minlength=len(self.group))

    @cached_property
    def equal_pairs(self) -> Array:
        """Number of ordered pairs of equal judgments of each document, shape (documents,)."""
        _, document, _, many = self.cells
        return np.bincount(document, many * (many - 1), minlength=len(self.group))

    def _per_group(self, of: Array) -> Array:
        """Return the sums over the documents of each group, shape (n,); ``of``: of each document."""
        return np.bincount(self.group, of, minlength=self.n)

    def _per_value(self, of: Array) -> Array:
        """Return the sums over the cells of each group and value, shape (n, values); ``of``: of each cell."""
        values, document, code, _ = self.cells
        at = self.group[document] * len(values) + code
        return np.bincount(at, of, minlength=self.n * len(values)).reshape(self.n, len(values))

    def measures(self, times: Array) -> dict[str, Array]:
        """Return the share of equal judgments, and coefficients that no order of the annotators changes, shape (n,).

        "equal" is the mean over documents with two judgments or more of the share of pairs of them that are equal.
        "ac1" is Gwet's AC1, "fleiss_kappa" is Fleiss' kappa (for two annotators Scott's pi), "alpha" is Krippendorff's
        alpha. NaN if agreement by chance is complete, as when all judgments are equal.

        Parameters
        ----------
        times : how often each document counts, shape (documents,).

        Source: K. L. Gwet, Computing inter-rater reliability and its variance in the presence of high agreement,
        British Journal of Mathematical and Statistical Psychology 61(1), 2008; J. L. Fleiss, Measuring nominal scale
        agreement among many raters, Psychological Bulletin 76(5), 1971.
        """
        _, document, _, many = self.cells
        times_of_pairs = times * (self.size > 1)
        n_pairs = np.maximum(self.size * (self.size - 1), 1)
        equal = ratio(self._per_group(times_of_pairs * self.equal_pairs / n_pairs), self._per_group(times_of_pairs))
        given = self._per_value(times[document] * many / self.size[document])
        share = ratio(given, self._per_group(times)[:, None])
        n_values = (self._per_value(many) > 0).sum(axis=1)  # that anybody of the group gave
        by_chance = {"ac1": ratio((share * (1 - share)).sum(axis=1), n_values - 1.0), "fleiss_kappa": (share**2).sum(1)}
        found = {name: ratio(equal - chance, 1 - chance) for name, chance in by_chance.items()}
        return {"equal": equal} | found | {"alpha": self._alpha(times_of_pairs)}

    def _alpha(self, times_of_pairs: Array) -> Array:
        """Return Krippendorff's alpha: 1 less the observed disagreement, divided by that of all values in pairs, (n,).

        The disagreement of two values is 0 or 1 ("nominal"), the square of their difference ("interval"), the square of
        the difference of their mean ranks among all values ("ordinal"), or the square of their difference divided by
        their sum ("ratio").

        ``times_of_pairs``: how often each document counts, 0 with fewer than two judgments, shape (documents,).

        Source: K. Krippendorff, Computing Krippendorff's alpha-reliability, 2011.
        """
        _, document, _, many = self.cells
        counts = self._per_value(times_of_pairs[document] * many)
        total = counts.sum(axis=1)
        within, across = self._disagreement_by_ratio(counts) if self.level == "ratio" else self._disagreement(counts)
        observed = ratio(self._per_group(times_of_pairs * within / np.maximum(self.size - 1, 1)), total)
        values_differ = (counts > 0).sum(axis=1) > 1  # with a single value any disagreement is only rounding
        return 1 - ratio(observed * total * (total - 1), across * values_differ)

    def _disagreement(self, counts: Array) -> tuple[Array, Array]:
        """Return the disagreement of all ordered pairs of judgments, within each document and across each group.

        Shapes are (documents,) and (n,). ``counts``: how often each value was given in each group, shape (n, values).
        """
        values, document, code, many = self.cells
        total = counts.sum(axis=1)
        if self.level == "nominal":
            return self.size * (self.size - 1) - self.equal_pairs, total**2 - (counts**2).sum(axis=1)
        # Disagreement is the squared distance of positions: mean ranks, or values.
        if self.level == "ordinal":
            position = np.cumsum(counts, axis=1) - counts / 2
        else:
            position = values - values[:1]
            position = np.broadcast_to(position - offsets(position), counts.shape)
        of_cell = position[self.group[document], code]
        sums = [np.bincount(document, many * of_cell**p, minlength=len(self.group)) for p in (1, 2)]
        sums_of_group = [(counts * position**p).sum(axis=1) for p in (1, 2)]
        across = 2 * (total * sums_of_group[1] - sums_of_group[0] ** 2)
        return 2 * (self.size * sums[1] - sums[0] ** 2), across

    def _disagreement_by_ratio(self, counts: Array) -> tuple[Array, Array]:
        """Return what ``_disagreement`` returns, for squares of the difference of two values divided by their sum."""
        values, document, code, many = self.cells

        def square(one: Array, other: Array) -> Array:
            return ((one - other) / np.where(one + other > 0, one + other, 1)) ** 2

        first, last = (np.searchsorted(document, document, side=side) for side in ("left", "right"))
        one, other = np.repeat(np.arange(len(document)), last - first), spans(first, last - first)
        each = many[one] * many[other] * square(values[code[one]], values[code[other]])
        within = np.bincount(document[one], each, minlength=len(self.group))
        # Value by value, as all pairs of many values would not fit into memory.
        across = (counts[:, at] * (counts @ square(values, values[at])) for at in range(len(values)))
        return within, sum(across, np.zeros(self.n))
