"""The segment that stands out: the one farthest from the rest, and the p-value of its distance among all segments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import Array
from frame_metrics.stats.exchange import LIKELY_P, STATISTIC_TOL
from frame_metrics.stats.offsets import offsets
from frame_metrics.stats.resampling import NUMBERS_AT_ONCE, shuffled, units_of
from frame_metrics.threads import in_threads

MIN_COMPARED = 5  # the fewest units of a segment, and of the rest, with which it is compared
MIN_FLIPPED = 30  # the fewest clusters with which what they add to differences is flipped
ALPHA = 0.05  # a segment stands out if its p-value is smaller
SURE = 1.645  # standard errors, from which on the rest of a whole is surely on the side of one of its segments
# How many permutations are drawn: first; in all, if p may be significant; and in all, if it is near the level.
FIRST_PERMUTATIONS, PERMUTATIONS, MOST_PERMUTATIONS = 199, 1999, 4999
NEARLY = 0.6 * ALPHA, 1.4 * ALPHA  # between these a p-value is near the level
MIN_UNITS_IN_BLOCKS, SINGLE_UNITS = 20_000, 5000  # more units than the first are permuted in blocks, but for the second
MIN_NUMBERS_TO_DRAW_FEW = 200_000  # if a permutation takes more numbers, fewer permutations are drawn
SEED = 0  # of the permutations
SIGNS = 2000  # at least so many signs are drawn; if there are more clusters, several share one

DrawGreatest = Callable[[np.random.Generator, int], Array]  # the greatest distance of each of so many permutations


@dataclass(frozen=True)
class Outstanding:
    """The segment that is farthest from the rest, -1 if there is none."""

    segment: int
    p: float  # the share of permutations in which some segment is as far from the rest
    n: int  # how many segments were compared
    distance: float = 0.0  # how far it is, in units that are the same for all families of the same values
    column: int | None = None  # the column of which it is a level, the number of several segments together
    without: tuple[int, ...] = ()  # columns whose means were taken out before


def outstanding(values: Array, segment: Array, cluster: Array | None) -> Outstanding:
    """Return the segment whose mean is farthest from that of all others, and its p-value.

    The distances of all segments are a family: the p-value is the share of permutations of the labels over queries in
    which the greatest one is at least as great (Westfall, Young). That holds for values of any shape.

    - Two different values, such as 0 and 1: |m_s - m| sqrt(n_s / (1 - n_s / n)), with m_s the mean of the n_s queries
      of a segment, and m that of all n. How many have the greater value in each segment is drawn (hypergeometric).
    - Other values: |m_s - m_r| / sqrt(v_s / n_s + v_r / n_r), with r the rest. v is the variance of the segment (of the
      rest), or that of all if it is greater: a few small values of a skewed distribution have a small variance too. All
      is computed anew in each permutation.
    - Clusters, each in one segment: whole clusters are permuted. m_s is then a quotient of sums.
    - Clusters in several segments: what each adds to m_s - m_r has a random sign, the same for all segments.

    If there are many units, blocks of equal size are permuted, each from one segment, and some single units.

    Parameters
    ----------
    values : of each query, shape (queries,).
    segment : the number of each query's segment, shape (queries,).
    cluster : the number of each query's cluster, shape (queries,); None if queries are independent.

    Source: P. H. Westfall, S. S. Young, Resampling-based multiple testing, 1993 (single-step max T). E. Chung, J. P.
    Romano, Multivariate and multiple permutation tests, Journal of Econometrics 193(1), 2016.
    """
    compared = LabelledUnits.of(values, segment, cluster)
    places = compared.compared_places
    if not len(places) or np.abs(compared.residual).max() <= STATISTIC_TOL:
        return Outstanding(-1, 1.0, len(places))
    if compared.has_two_values:
        distance, draw, width = compared.counted()
    elif compared.in_several_segments:
        distance, draw, width = compared.flipped()
    else:
        distance, draw, width = compared.permuted()
    least = float(distance.max()) * (1 - STATISTIC_TOL)
    first = int(np.flatnonzero(distance >= least)[0])  # if two segments are equally far, the smaller one
    return Outstanding(int(compared.names[places[first]]), _share(draw, least, width), len(places), least)


def outstanding_with_levels(
    values: Array, segment: Array, cluster: Array | None, levels: Sequence[Array]
) -> list[Outstanding]:
    """Return the levels of columns, as a device or a week, and the segment, that are farthest from the rest.

    Segments and the levels of each column are families, and p-values are multiplied by their number. A level that is
    sure is found if its segments but for the farthest are surely on its side too, beside the same ones of other levels.
    Else it is that segment if it stands out within each of its levels too. Once a level is found, the means of its
    column are taken out, and the rest is looked at again: a segment is then compared with what its levels let one
    expect. If nothing is sure there is one, with a p-value of .05 or more.

    Parameters
    ----------
    values, segment, cluster : as ``outstanding`` takes them.
    levels : for each column the number of each query's level, (queries,).
    """
    found: list[Outstanding] = []
    while True:
        without = tuple(one.column for one in found if one.column is not None)
        every = {None: outstanding(values, segment, cluster)} | {
            at: outstanding(values, level, cluster) for at, level in enumerate(levels) if at not in without
        }
        n, families = sum(some.n for some in every.values()), sum(some.n > 0 for some in every.values()) or 1
        one, *of_columns = (
            replace(some, p=min(families * some.p, 1.0), n=n, column=at, without=without) for at, some in every.items()
        )
        of_columns.sort(key=lambda some: (some.p, -some.distance))
        likely = [some for some in of_columns if some.p < ALPHA]
        chosen = next((some for some in likely if _holds_without(some, one, values, segment, levels)), None)
        if chosen is None and one.p < ALPHA:
            one = replace(one, p=max([one.p, *_p_within(one, values, segment, cluster, levels)]))
            chosen = one if one.p < ALPHA else None
        chosen = next(iter(likely), None) if chosen is None else chosen
        if chosen is None:
            return found or [min([one, *of_columns], key=lambda some: some.p)]
        found.append(chosen)
        if chosen.column is None:
            return found
        values = without_means(values, levels[chosen.column])


def without_means(values: Array, level: Array) -> Array:
    """Return values less the mean of their level."""
    _, at, n = np.unique(level, return_inverse=True, return_counts=True)
    return np.asarray(values - (np.bincount(at, values) / n)[at])


def _holds_without(
    whole: Outstanding, one: Outstanding, values: Array, segment: Array, levels: Sequence[Array]
) -> bool:
    """Return True if a level is off without one segment too, beside the segments of other levels like its others."""
    here, within = segment == one.segment, levels[whole.column or 0] == whole.segment
    side = float(np.sign(values[within].mean() - values.mean()))
    if not within[here].any() or side * (values[here].mean() - values.mean()) <= 0:
        return True
    elsewhere = np.zeros(len(values), bool)
    for at, level in enumerate(levels):
        elsewhere |= (level != level[here][0]) if at != whole.column else False
    return _standard_errors(side, values[within & elsewhere], values[~within & elsewhere]) > SURE


def _p_within(
    one: Outstanding, values: Array, segment: Array, cluster: Array | None, levels: Sequence[Array]
) -> list[float]:
    """Return the p-values of a segment among those of its levels, where others are; 1 where another one is farther."""
    found = []
    for level in levels:
        within = level == level[segment == one.segment][0]
        some = outstanding(values[within], segment[within], None if cluster is None else cluster[within])
        if some.n:
            of_two = some.n == 2  # which are equally far from each other
            found.append(some.p if of_two or some.segment == one.segment else 1.0)
    return found


def _standard_errors(sign: float, one: Array, other: Array) -> float:
    """Return the signed difference of two means in standard errors; 0 if one has no values."""
    if not (len(one) and len(other)):
        return 0.0
    error = np.array(np.sqrt(one.var() / len(one) + other.var() / len(other)))
    return float(_divided(np.array(sign * (one.mean() - other.mean())), error))


@record
class LabelledUnits:
    """The units of segments, in an order that depends neither on names nor on the order of the rows.

    Units are queries, or clusters; a cluster has a row for each of its segments.
    """

    sums: Array  # the sum of the values of each row, which are scaled to at most 1, shape (rows,)
    size: Array  # the number of queries of each row, shape (rows,)
    place: Array  # the place of each row's segment, ascending, shape (rows,)
    names: Array  # the number of the segment at each place, shape (segments,)
    unit: Array | None = None  # the number of each row's cluster, from 0; None if each row is a query

    @classmethod
    def of(cls, values: Array, segment: Array, cluster: Array | None) -> LabelledUnits:
        """Put values in order; segments are sorted by their numbers of queries, then by their sums."""
        order = np.lexsort((values, segment))
        values, (names, starts, n) = values[order], np.unique(segment[order], return_index=True, return_counts=True)
        values = values - offsets(values)
        values /= np.abs(values).max(initial=0) or 1.0
        if not len(names):
            return cls(values, values, names, names)
        rank = np.empty(len(names), np.int64)
        rank[np.lexsort((np.add.reduceat(values, starts), n))] = np.arange(len(names))
        place, names = np.repeat(rank, n), names[np.argsort(rank)]
        turn = np.argsort(place, kind="stable")
        values, place, ones = values[turn], place[turn], np.ones(len(values), np.int64)
        units = None if cluster is None else units_of([place, values], ones, cluster[order][turn])
        if cluster is not None and units is None:  # one cluster, of which nothing is known
            return cls(values[:0], values[:0], place[:0], names[:0])
        if units is None or units.cluster is None:
            return cls(values, ones.astype(np.float64), place, names)
        each = units.columns[0] * units.n_drawn + units.cluster  # a number for each segment and cluster
        rows, at = np.unique(each, return_inverse=True)
        sums, size = np.bincount(at, units.columns[1] * units.times), np.bincount(at, units.times)
        return cls(sums, size, rows // units.n_drawn, names, rows % units.n_drawn)

    @cached_property
    def n(self) -> Array:
        """The number of rows of each segment, shape (segments,)."""
        return np.bincount(self.place)

    @cached_property
    def starts(self) -> Array:
        """The first row of each segment, shape (segments,)."""
        return np.cumsum(self.n) - self.n

    @cached_property
    def residual(self) -> Array:
        """The sum of each row less what it would be at the mean of all, shape (rows,)."""
        return self.sums - self.size * (self.sums.sum() / self.size.sum())

    @cached_property
    def units(self) -> int:
        """The number of queries, or of clusters."""
        return len(self.place if self.unit is None else np.unique(self.unit))

    @property
    def in_several_segments(self) -> bool:
        """True if some cluster is in several segments."""
        return self.units < len(self.place)

    @cached_property
    def has_two_values(self) -> bool:
        """True for queries (not clusters) with at most two different values."""
        return self.unit is None and bool(((self.sums == self.sums.min()) | (self.sums == self.sums.max())).all())

    @cached_property
    def compared_places(self) -> Array:
        """The places of the segments that are compared, shape (compared,)."""
        others = len(self.place) - self.n
        if self.in_several_segments and self.units < MIN_FLIPPED:
            return np.zeros(0, np.int64)
        return np.flatnonzero((self.n >= MIN_COMPARED) & (others >= MIN_COMPARED))

    def counted(self) -> tuple[Array, DrawGreatest, int]:
        """Return the distance of each segment that is compared, for two different values; and how it is drawn.

        Returns
        -------
        The distances, shape (compared,); a function that draws the greatest distances; and how many numbers a draw
        takes.
        """
        n_compared, is_high = self.n[self.compared_places], self.sums == self.sums.max()
        n_high, n = int(is_high.sum()), len(is_high)
        root = np.sqrt(n_compared / (1 - n_compared / n))

        def distance_of(counts: Array) -> Array:
            return np.asarray(np.abs(counts[..., self.compared_places] / n_compared - n_high / n) * root)

        def draw(random: np.random.Generator, draws: int) -> Array:
            counts = random.multivariate_hypergeometric(self.n, n_high, draws, method="marginals")
            return distance_of(counts).max(axis=1)

        return distance_of(np.add.reduceat(is_high, self.starts, dtype=np.int64)), draw, len(self.n)

    def permuted(self) -> tuple[Array, DrawGreatest, int]:
        """Return what ``counted`` returns, for means: distances are in standard errors, and whole rows are permuted."""
        parts, starts, strata = _blocks(_products(self.sums, None if self.unit is None else self.size), self.n)
        total, n_compared = parts.sum(axis=1)[:, None], self.n[self.compared_places]
        n = len(self.place)
        # The variance of all rows is the least that a segment may have: few rows may be equal by chance.
        least_variance = _mean_of(total, np.array([n]))[2]

        def distance_of(rows: Array | Sequence[Array]) -> Array:
            sums = np.stack([np.add.reduceat(part, starts, axis=-1) for part in rows], axis=-2)
            sums = sums[..., self.compared_places]
            sides = [_mean_of(sums, n_compared), _mean_of(total - sums, n - n_compared)]
            squared_error = sum(
                n_side * np.maximum(variance, least_variance) / size**2
                for (_, size, variance), n_side in zip(sides, (n_compared, n - n_compared), strict=True)
            )
            return _divided(np.abs(sides[0][0] - sides[1][0]), np.sqrt(squared_error))

        def draw(random: np.random.Generator, draws: int) -> Array:
            if self.unit is None and len(strata) == 1:
                mixed = shuffled(random, draws, self.sums)
                return distance_of([mixed, mixed**2]).max(axis=1)
            order = np.empty((draws, parts.shape[1]), np.int64)
            for stratum in strata:
                order[:, stratum] = shuffled(random, draws, stratum)
            return distance_of([part.take(order) for part in parts]).max(axis=1)

        return distance_of(parts), draw, (parts.shape[0] + 1) * parts.shape[1]

    def flipped(self) -> tuple[Array, DrawGreatest, int]:
        """Return what ``counted`` returns, for clusters in several segments: what they add to differences is flipped.

        A cluster c adds r_cs (1 / N_s + 1 / N_r) - r_c / N_r to the difference of segment s, with r its residual and N
        the numbers of queries. In the data the standard error is at least that of a segment with the mean square of r.
        """
        residual, place, unit = _merged_clusters(self.residual, self.place, self.unit)
        starts, sizes = np.searchsorted(place, np.arange(len(self.n))), np.add.reduceat(self.size, self.starts)
        others, of_cluster = sizes.sum() - sizes, np.bincount(unit, residual)
        in_segment, in_rest = 1 / sizes + 1 / others, 1 / others  # the factors of r_cs and of r_c
        of_rest = of_cluster[unit] * in_rest[place]
        square = np.add.reduceat((residual * in_segment[place] - of_rest) ** 2 - of_rest**2, starts)
        square += (of_cluster @ of_cluster) * in_rest**2
        of_segment = np.add.reduceat(residual**2, starts)
        missing_square = np.maximum((residual @ residual) * sizes / sizes.sum() - of_segment, 0) / sizes**2
        error = np.sqrt(np.maximum(square, 0))

        def distance_of(signs: Array, error: Array = error) -> Array:
            sums = np.add.reduceat(residual * signs[:, unit], starts, axis=1)
            difference = sums * in_segment - np.einsum("dc,c->d", signs, of_cluster)[:, None] * in_rest
            return _divided(np.abs(difference), error)[:, self.compared_places]

        def draw(random: np.random.Generator, draws: int) -> Array:
            return distance_of(1.0 - 2.0 * random.integers(0, 2, (draws, len(of_cluster)))).max(axis=1)

        in_data = distance_of(np.ones((1, len(of_cluster))), np.sqrt(error**2 + missing_square))[0]
        return in_data, draw, 2 * len(residual)


def _products(sums: Array, size: Array | None) -> Array:
    """Return what is summed over rows, shape (parts, rows): values and squares; for clusters sizes and products too."""
    return np.stack([sums, sums**2] if size is None else [sums, sums**2, size, sums * size, size**2])


def _mean_of(sums: Array, n: Array) -> tuple[Array, Array, Array]:
    """Return means, the numbers of queries, and the variance of what a row adds, from sums of ``_products``.

    Parameters
    ----------
    sums : shape (..., parts, segments).
    n : the number of rows, shape (segments,).
    """
    s, square = sums[..., 0, :], sums[..., 1, :]
    size, crossed, sizes = (n, s, n) if sums.shape[-2] == 2 else (sums[..., i, :] for i in (2, 3, 4))
    mean = s / size
    return mean, size, np.maximum(square - 2 * mean * crossed + mean**2 * sizes, 0) / (n - 1)


def _divided(difference: Array, error: Array) -> Array:
    """Return differences divided by their standard errors; 0 for what is only rounding."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(difference <= STATISTIC_TOL, 0.0, difference / error)


def _blocks(parts: Array, n: Array) -> tuple[Array, Array, list[Array]]:
    """Return the parts of blocks of rows, where each segment begins, and the blocks that are exchanged for each other.

    Parameters
    ----------
    parts : of each row, sorted by segment, shape (parts, rows).
    n : the number of rows of each segment, shape (segments,).
    """
    rows, starts = parts.shape[1], np.cumsum(n) - n
    if rows <= MIN_UNITS_IN_BLOCKS:
        return parts, starts, [np.arange(rows)]
    block_size = -(-rows // MIN_UNITS_IN_BLOCKS)
    n_blocks = (n - n * SINGLE_UNITS // rows) // block_size  # of each segment
    n_single = n - block_size * n_blocks
    order = np.lexsort((np.random.default_rng(SEED).random(rows), np.repeat(np.arange(len(n)), n)))
    sizes = np.concatenate([np.repeat([block_size, 1], pair) for pair in zip(n_blocks, n_single, strict=True)])
    blocks = np.add.reduceat(parts[:, order], np.cumsum(sizes) - sizes, axis=1)
    starts = np.cumsum(n_blocks + n_single) - n_blocks - n_single
    return blocks, starts, [np.flatnonzero(sizes == size) for size in (block_size, 1)]


def _merged_clusters(residual: Array, place: Array, unit: Array | None) -> tuple[Array, Array, Array]:
    """Return the residual, segment and cluster of rows, sorted by segment; many clusters are merged at random.

    ``residual``, ``place``, ``unit``: of each row, shape (rows,).
    """
    unit = np.arange(len(residual)) if unit is None else unit
    n, clusters = len(residual), int(unit.max()) + 1
    signs = max(SIGNS, clusters * MIN_UNITS_IN_BLOCKS // n)
    if signs >= clusters:
        return residual, place, unit
    each = place * signs + (np.random.default_rng(SEED).permutation(clusters) % signs)[unit]
    rows, at = np.unique(each, return_inverse=True)
    return np.bincount(at, residual), rows // signs, rows % signs


def _share(draw: DrawGreatest, least: float, width: int) -> float:
    """Return the p-value: the share of permutations with a distance of ``least`` or more; the data count as one more.

    ``FIRST_PERMUTATIONS`` are drawn. If p is then below ``LIKELY_P``, there are ``PERMUTATIONS``, and if it is still
    near the level ``MOST_PERMUTATIONS``. What would take long is left out: the last ones if a permutation takes more
    than ``MIN_UNITS_IN_BLOCKS`` numbers, and the second ones if it takes more than ``MIN_NUMBERS_TO_DRAW_FEW``, and
    none of the first counts. ``width``: how many numbers a permutation takes.
    """
    step = max(NUMBERS_AT_ONCE // width, 1)
    count = _n_as_far(range(FIRST_PERMUTATIONS), draw, least, step)
    p = (count + 1) / (FIRST_PERMUTATIONS + 1)
    if p >= LIKELY_P or (width > MIN_NUMBERS_TO_DRAW_FEW and not count):
        return p
    count += _n_as_far(range(FIRST_PERMUTATIONS, PERMUTATIONS), draw, least, step)
    p = (count + 1) / (PERMUTATIONS + 1)
    if width > MIN_UNITS_IN_BLOCKS or not NEARLY[0] <= p < NEARLY[1]:
        return p
    count += _n_as_far(range(PERMUTATIONS, MOST_PERMUTATIONS), draw, least, step)
    return (count + 1) / (MOST_PERMUTATIONS + 1)


def _n_as_far(these: range, draw: DrawGreatest, least: float, step: int) -> int:
    """Count the permutations with at least this distance; blocks of them have random numbers of their own."""
    counts: list[int] = []

    def work(begin: int) -> None:
        found = draw(np.random.default_rng([SEED, begin]), min(step, these.stop - begin))
        counts.append(int(np.count_nonzero(found >= least)))

    in_threads(range(these.start, these.stop, step), work)
    return sum(counts)
