"""Randomization of arms: units exchanged between two of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, combinations, islice, pairwise, product
from math import comb

import numpy as np

from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import Array
from frame_metrics.stats.distances import Distance, DistanceOfMarks, distances, over_strata, plain_over
from frame_metrics.stats.kinds import MOST_DRAWN_SINGLY, UNITS_PER_KIND, DrawnSums, Kinds, random_marks
from frame_metrics.stats.resampling import NUMBERS_AT_ONCE, sums_drawn
from frame_metrics.stats.shared_units import studentised
from frame_metrics.stats.significance import Tick
from frame_metrics.stats.strata import Strata
from frame_metrics.stats.subsets import subsets_at_once
from frame_metrics.stats.two_arms import Arms
from frame_metrics.threads import in_threads

# A function that draws as many exchanges as it is given, and returns their distances, shape (draws, columns).
DrawExchanges = Callable[[np.random.Generator, int], Array]
STATISTIC_TOL = 1e-9  # statistics that differ relatively by less are equal: their errors are roots of rounded sums
FIRST_EXCHANGES = 1000  # if exchanges are costly, so many are drawn first,
LIKELY_P = 0.1  # and the others only for p-values below this


@record
class Layer:
    """The units of a stratum, or all units if there are no strata.

    An exchange draws units for one of the arms, the one with fewer units.
    """

    distances: Sequence[Distance]  # of each column
    stratum_share: float
    in_drawn_arm: Array  # whether each unit is of the arm that is drawn, shape (units,)
    sign: float  # 1 if this is the first arm, -1 if it is the other

    @cached_property
    def n(self) -> tuple[int, int]:
        """The number of units of the arm that is drawn, and of the other."""
        n_chosen = int(self.in_drawn_arm.sum())
        return n_chosen, len(self.in_drawn_arm) - n_chosen

    def select(self, columns: Sequence[int]) -> Layer:
        """Return this layer with some of its columns."""
        return replace(self, distances=[self.distances[column] for column in columns])

    def rows(self, kinds: Kinds | None = None) -> tuple[Array, list[Array]]:
        """Return what is summed of each unit, all columns side by side, and the totals of each column.

        ``kinds``: kinds of units, to return what is summed of each kind instead; None for units.
        """
        values = [one.unit_values for one in self.distances]
        if kinds is not None:
            ends = np.cumsum([0, *(of_units.shape[1] for of_units in values)])
            values = [kinds.values[:, begin:end] for begin, end in pairwise(ends)]
        parts = [one.parts(of_rows) for one, of_rows in zip(self.distances, values, strict=True)]
        totals = [part.sum(axis=0) if kinds is None else kinds.times @ part for part in parts]
        return np.column_stack(parts), totals


def permuted(arms: Arms | Strata, permutations: int, seed: int, tick: Tick, by_t: Array) -> Array:
    """Return the two-sided p-values of exchanging units between two arms at random, shape (columns,).

    If the arms do not differ, any other units could have been in an arm, and a unit in both arms could have had its
    values the other way round. If there are at most ``permutations`` ways to exchange, all are counted. Otherwise
    n = ``permutations`` exchanges are drawn, and the data count as one more: p is (b + 1) / (n + 1), where b exchanges
    are as far from 0 as the data. Units are drawn for the arm with fewer units of its own, so that it does not matter
    which arm is the baseline. With strata they are exchanged within each, and no unit is in both arms.

    The statistic is ``Distance``, or, if some units are in both arms, the difference in standard errors. Draws are made
    faster in three ways. If many units are equal, such as searches without a click, only the count of each kind is
    drawn. If ``MOST_DRAWN_SINGLY`` other units or more remain, the large ones of these are drawn one by one, and the
    sum of the small ones as a normal number. If the large ones are too many, ``FIRST_EXCHANGES`` exchanges are drawn,
    and the rest of ``permutations`` only for p-values below ``LIKELY_P``.

    Parameters
    ----------
    by_t : whether the caller may take the p-value of a t-test, shape (columns,). It is then NaN here if some units are
        in both arms, or if exchanges would take long.
    """
    ways, drawn = _ways(arms, permutations), RandomExchanges(permutations, seed)
    if arms.shared.size:
        if by_t.all():
            tick(permutations)
            return np.full(len(by_t), np.nan)
        return np.where(by_t, np.nan, _of_both(arms.strata[0], ways, drawn, tick))
    layers = _layers(arms)
    if ways:
        begins = np.cumsum([0, *(len(layer.in_drawn_arm) for layer in layers)]).tolist()
        groups = [(np.arange(*ends), layer.n[0]) for ends, layer in zip(pairwise(begins), layers, strict=True)]
        distance_of, in_drawn_arm = _between(layers), np.concatenate([layer.in_drawn_arm for layer in layers])
        return _share_of_all(distance_of, groups, np.zeros((2, 0), np.int64), in_drawn_arm, ways, len(in_drawn_arm))
    return _by_kinds(layers, drawn, tick, by_t)


def _layers(arms: Arms | Strata) -> list[Layer]:
    """Return the units of each stratum. If both arms have as many, the arm of the very first unit is drawn."""
    strata, plain, layers = arms.strata, None, []
    draws_first_of_equal = len(strata) < 2 or bool(strata[0].in_first[0])
    if len(strata) > 1:
        sizes, in_first = [stratum.size for stratum in strata], [stratum.in_first for stratum in strata]
        row_means = zip(*(stratum.row_means.T for stratum in strata), strict=True)
        plain = np.array([plain_over(of_column, sizes, in_first) for of_column in row_means], bool)
    for stratum, share in zip(strata, arms.mix.tolist(), strict=True):
        n, other = stratum.n
        draws_first = draws_first_of_equal if n == other else n < other
        each = distances(stratum.sums, stratum.size, min(n, other), stratum.centred, stratum.slope, plain)
        in_drawn_arm = stratum.in_first if draws_first else ~stratum.in_first
        layers.append(Layer(each, share, in_drawn_arm, 1.0 if draws_first else -1.0))
    return layers


def _of_both(arms: Arms, ways: int, drawn: RandomExchanges, tick: Tick) -> Array:
    """Return what ``permuted`` does if some units are in both arms."""
    first, second, _ = arms.n_first_other_both
    n_chosen, in_drawn_arm = min(first, second), arms.in_first if first <= second else ~arms.in_first
    rows, pairs = np.flatnonzero(arms.in_one_arm), np.sort(arms.shared, axis=0)
    distance_of, width = studentised(arms)
    if ways:
        return _share_of_all(distance_of, [(rows, n_chosen)], pairs, in_drawn_arm, ways, width)

    def draw(random: np.random.Generator, draws: int) -> Array:
        return distance_of(_choice(random, draws, rows, n_chosen, pairs))

    least, step = _least_distance(distance_of, in_drawn_arm), max(NUMBERS_AT_ONCE // width, 1)
    return drawn.p_values(draw, least, step, tick, costly=width >= MOST_DRAWN_SINGLY)


def _share_of_all(
    distance_of: DistanceOfMarks,
    groups: Sequence[tuple[Array, int]],
    pairs: Array,
    in_drawn_arm: Array,
    ways: int,
    width: int,
) -> Array:
    """Return the share of all ways to exchange that are as far from 0 as the data, shape (columns,).

    Parameters
    ----------
    groups, pairs, width : as for ``_every_choice``.
    in_drawn_arm : whether each row is of the arm that is drawn, in the data.
    ways : how many ways there are.
    """
    least = _least_distance(distance_of, in_drawn_arm)
    counts = (_n_as_far(distance_of(marks), least) for marks in _every_choice(groups, pairs, width))
    return sum(counts, np.zeros(len(least))) / ways


def least_p_of_arms(arms: Arms | Strata, permutations: int) -> float:
    """Return the least p-value that exchanges can have. If arms have equal sizes, two ways are as far apart as any."""
    ways = _ways(arms, permutations)
    return (1 + arms.equal_in_size) / ways if ways else 1 / (permutations + 1)


def _ways(arms: Arms | Strata, most: int) -> int:
    """Return the number of ways to exchange units between the arms; 0 if it is more than ``most``."""
    ways = 1
    for part in arms.strata:
        first, second, both = part.n_first_other_both
        if min(first, second) + both >= most.bit_length():  # there are at least 2 ** so many ways
            return 0
        ways *= comb(first + second, first) << both
        if ways > most:
            return 0
    return ways


def _by_kinds(layers: Sequence[Layer], drawn: RandomExchanges, tick: Tick, by_t: Array) -> Array:
    """Return what ``permuted`` does for arms without shared units, by draws."""
    p, drawn_singly = np.full(len(layers[0].distances), np.nan), []
    n_units = sum(len(layer.in_drawn_arm) for layer in layers)
    for column in range(len(p)):
        kinds = [Kinds.of(layer.distances[column].unit_values) for layer in layers]
        if by_t[column] and _cost(kinds) >= MOST_DRAWN_SINGLY:  # stays NaN
            continue
        shares = [layer.n[0] / len(layer.in_drawn_arm) for layer in layers]
        kinds = [one.with_sum_of_small(share) for one, share in zip(kinds, shares, strict=True)]
        # If few units are equal in this column, drawing kinds saves little. Such columns share one draw of units.
        if 2 * _cost(kinds) > n_units:
            drawn_singly.append(column)
        else:
            p[column] = _of_kinds([layer.select([column]) for layer in layers], kinds, drawn, lambda done: None)[0]
    if drawn_singly:
        some = [layer.select(drawn_singly) for layer in layers]
        units = [Kinds.single_units([one.unit_values for one in layer.distances]) for layer in some]
        p[drawn_singly] = _of_kinds(some, units, drawn, tick)
    else:
        tick(drawn.permutations)
    return p


def _cost(kinds: Sequence[Kinds]) -> int:
    """Return the time of one exchange in all strata, as a number of units that are drawn one by one."""
    return sum(one.n_single + UNITS_PER_KIND * one.n_common for one in kinds)


def _of_kinds(layers: Sequence[Layer], kinds: Sequence[Kinds], drawn: RandomExchanges, tick: Tick) -> Array:
    """Return the p-values of distances for draws of kinds of units in each stratum, shape (columns,)."""
    rows = [layer.rows(of_layer) for layer, of_layer in zip(layers, kinds, strict=True)]
    totals = [total for _, total in rows]
    sums = [DrawnSums.of(of_layer, parts) for of_layer, (parts, _) in zip(kinds, rows, strict=True)]

    def draw(random: np.random.Generator, draws: int) -> Array:
        chosen = [of_layer.draw(random, draws, layer.n[0]) for of_layer, layer in zip(sums, layers, strict=True)]
        return _from_sums(layers, chosen, totals)

    least = _least_distance(_between(layers), np.concatenate([layer.in_drawn_arm for layer in layers]))
    n_single = max(one.n_single for one in kinds)
    n_drawn = sum(one.n_common + one.n_single for one in kinds)
    step = subsets_at_once(n_single) if n_single >= MOST_DRAWN_SINGLY else max(NUMBERS_AT_ONCE // max(n_drawn, 1), 1)
    return drawn.p_values(draw, least, step, tick, costly=_cost(kinds) >= MOST_DRAWN_SINGLY)


@dataclass(frozen=True)
class RandomExchanges:
    """Random exchanges, as many as ``permutations``; blocks of them have random numbers of their own."""

    permutations: int
    seed: int

    def p_values(self, draw: DrawExchanges, least: Array, step: int, tick: Tick, *, costly: bool) -> Array:
        """Return the p-values by the number of exchanges that are as far from 0 as the data, shape (columns,).

        Parameters
        ----------
        draw : the function that draws exchanges.
        least : the distance from 0 of the data, less rounding, shape (columns,).
        step : the number of exchanges that are drawn together.
        tick : called with the number of permutations that are done.
        costly : whether ``FIRST_EXCHANGES`` exchanges are drawn before the others.
        """
        first = min(FIRST_EXCHANGES, self.permutations) if costly else self.permutations
        first_step = min(step, -(-first // 2)) if costly else step  # at most half, so that two threads share the work
        counts = self._n_as_far(range(first), draw, least, first_step, tick)
        p = (counts + 1) / (first + 1)
        if first == self.permutations or not (p < LIKELY_P).any():
            tick(self.permutations - first)
            return p
        counts = counts + self._n_as_far(range(first, self.permutations), draw, least, step, tick)
        return np.where(p < LIKELY_P, (counts + 1) / (self.permutations + 1), p)

    def _n_as_far(self, these: range, draw: DrawExchanges, least: Array, step: int, tick: Tick) -> Array:
        """Count the exchanges among ``these`` that are as far from 0 as the data; see ``p_values`` for the others."""
        counts: dict[int, Array] = {}

        def work(begin: int) -> None:
            some = min(step, these.stop - begin)
            counts[begin] = _n_as_far(draw(np.random.default_rng([self.seed, begin]), some), least)
            tick(some)

        in_threads(range(these.start, these.stop, step), work)
        return np.sum(list(counts.values()), axis=0)


def _choice(random: np.random.Generator, draws: int, rows: Array, n_chosen: int, pairs: Array) -> Array:
    """Draw ``n_chosen`` of some rows, and one row of each pair, as marks of all rows, shape (draws, all rows)."""
    marks = np.zeros((draws, len(rows) + pairs.size), bool)
    if n_chosen:
        marks[:, rows] = random_marks(random, np.full(draws, n_chosen), len(rows))
    if pairs.size:
        marks[:, pairs[0]] = random.random((draws, pairs.shape[1])) < 0.5
        marks[:, pairs[1]] = ~marks[:, pairs[0]]
    return marks


def _every_choice(groups: Sequence[tuple[Array, int]], pairs: Array, width: int) -> Iterator[Array]:
    """Yield all ways to choose rows, as marks, shape (ways, rows) each; one row of each pair is chosen.

    Parameters
    ----------
    groups : for each stratum: some rows, and how many of them are chosen.
    pairs : the rows of units in both arms, shape (2, pairs).
    width : how many numbers a way takes, by which blocks are as large as fits into memory.
    """
    rows, n = sum(len(some) for some, _ in groups) + pairs.size, len(groups)
    ways = product(*(combinations(some.tolist(), n_chosen) for some, n_chosen in groups), *pairs.T.tolist())
    while some := list(islice(ways, max(NUMBERS_AT_ONCE // width, 1))):
        marks = np.zeros((len(some), rows), bool)
        chosen = [(*chain.from_iterable(way[:n]), *way[n:]) for way in some]
        np.put_along_axis(marks, np.array(chosen), True, axis=1)
        yield marks


def _least_distance(distance_of: DistanceOfMarks, in_drawn_arm: Array) -> Array:
    """Return the distance from 0 of the data in each column, less rounding; ``in_drawn_arm``: as in ``Layer``."""
    return distance_of(in_drawn_arm[None])[0] * (1 - STATISTIC_TOL)


def _n_as_far(distance: Array, least: Array) -> Array:
    """Count the draws that are at least so far from 0, shape (columns,)."""
    return np.count_nonzero(distance >= least, axis=0)


def _between(layers: Sequence[Layer]) -> DistanceOfMarks:
    """Return a function from marks of the rows of the drawn arm to the distance of the means; for no shared units."""
    rows = [layer.rows() for layer in layers]
    flat, totals = [parts.T for parts, _ in rows], [total for _, total in rows]
    ends = np.cumsum([0, *(len(layer.in_drawn_arm) for layer in layers)]).tolist()

    def distance_of(marks: Array) -> Array:
        each = zip(flat, pairwise(ends), strict=True)
        return _from_sums(layers, [sums_drawn(parts, marks[:, begin:end]).T for parts, (begin, end) in each], totals)

    return distance_of


def _from_sums(layers: Sequence[Layer], sums: Sequence[Array], totals: Sequence[Sequence[Array]]) -> Array:
    """Return the distances of the means from the sums of parts over the drawn arm and over both, (draws, columns).

    Parameters
    ----------
    sums : for each stratum: the sums over the drawn arm of the parts of all columns, side by side, (draws, parts).
    totals : for each stratum and column: the sums over all units, shape (parts of the column,).
    """
    ends = [0, *np.cumsum([len(total) for total in totals[0]]).tolist()]
    found = []
    for column, (begin, end) in enumerate(pairwise(ends)):
        chosen = [of_stratum[:, begin:end] for of_stratum in sums]
        rest = [total[column] - of_drawn for total, of_drawn in zip(totals, chosen, strict=True)]
        if len(layers) == 1:
            found.append(layers[0].distances[column].between(chosen[0], rest[0], layers[0].n))
            continue
        both, each = zip(layers, chosen, rest, strict=True), [layer.distances[column] for layer in layers]
        signed = [layer.distances[column].signed(one, other, layer.n) for layer, one, other in both]
        mix = np.array([layer.stratum_share for layer in layers])
        found.append(over_strata(each, mix, np.array([layer.sign for layer in layers]), signed))
    return np.column_stack(found)
