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

# Draws so many exchanges, and returns the distance of each, as ``DistanceOfMarks`` does.
DrawExchanges = Callable[[np.random.Generator, int], Array]
STATISTIC_TOL = 1e-9  # statistics that differ relatively by less are equal: their errors are roots of rounded sums
FIRST_EXCHANGES, LIKELY_P = 1000, 0.1  # exchanges that are drawn first; the rest follow for p-values below this


@record
class Layer:
    """The units of a stratum, among which an exchange chooses those of one arm; all, where there are no strata."""

    each: Sequence[Distance]  # of each column
    stratum_share: float
    seen: Array  # whether each unit is of the arm that has fewer, shape (units,)
    sign: float  # 1 if this is the first arm, -1 for the other

    @cached_property
    def n(self) -> tuple[int, int]:
        """The number of units of the arm that has fewer, and of the other."""
        less = int(self.seen.sum())
        return less, len(self.seen) - less

    def of(self, columns: Sequence[int]) -> Layer:
        """Return this layer with some of its columns."""
        return replace(self, each=[self.each[column] for column in columns])

    def rows(self, of: Sequence[Array] | None = None) -> tuple[Array, list[Array]]:
        """Return what is summed of each unit, all columns side by side, and the totals of each column.

        ``of``: the numbers of kinds of units in place of units, and how many there are of each, as ``Kinds`` has them.
        """
        ends = np.cumsum([0, *(one.unit_values.shape[1] for one in self.each)])
        values = [one.unit_values for one in self.each]
        if of is not None:
            values = [of[0][:, begin:end] for begin, end in pairwise(ends)]
        parts = [one.parts(own) for one, own in zip(self.each, values, strict=True)]
        totals = [part.sum(axis=0) if of is None else of[1] @ part for part in parts]
        return np.column_stack(parts), totals


def permuted(arms: Arms | Strata, permutations: int, seed: int, tick: Tick, by_t: Array) -> Array:
    """Return the two-sided p-values of exchanging units between two arms at random, shape (columns,).

    If the arms do not differ, any other units could have been in an arm, and a unit in both arms could have had its
    values the other way round. If there are at most ``permutations`` ways to exchange, all are counted. Otherwise so
    many are drawn, and the observed one counts as one of them: (b + 1) / (n + 1), which is never 0. Units are chosen
    for the arm with fewer units of its own, so that it does not matter which arm is the baseline. With strata they are
    exchanged within each, and no unit is in both arms.

    What is compared is ``Distance``, or, if some units are in both arms, the difference in standard errors. Where
    values repeat, such as those of searches without a click, the number of each kind is drawn instead of units. Where
    ``MOST_DRAWN_SINGLY`` or more units are left, the large ones are drawn one by one, and the sum of the others as a
    normal number. Where these are too many, ``FIRST_EXCHANGES`` exchanges are drawn, and the rest of ``permutations``
    only for p-values below ``LIKELY_P``.

    Parameters
    ----------
    by_t : columns whose p-value is NaN, as the caller takes that of a t-test: if exchanges would take long, and where
        units are in both arms always.
    """
    ways, drawn = _ways(arms, permutations), Drawn(permutations, seed)
    if arms.shared.size:
        if by_t.all():
            tick(permutations)
            return np.full(len(by_t), np.nan)
        return np.where(by_t, np.nan, _of_both(arms.strata[0], ways, drawn, tick))
    layers = _layers(arms)
    if ways:
        begins = np.cumsum([0, *(len(layer.seen) for layer in layers)]).tolist()
        groups = [(np.arange(*ends), layer.n[0]) for ends, layer in zip(pairwise(begins), layers, strict=True)]
        far, seen = _between(layers), np.concatenate([layer.seen for layer in layers])
        return _share_of_all(far, groups, np.zeros((2, 0), np.int64), seen, ways, len(seen))
    return _by_kinds(layers, drawn, tick, by_t)


def _layers(arms: Arms | Strata) -> list[Layer]:
    """Return the units of each stratum; where arms have as many, that of the first unit of all is chosen for."""
    lead, columns = bool(arms.strata[0].mine[0]) if len(arms.strata) > 1 else True, range(arms.strata[0].sums.shape[1])
    plain, layers = None, []
    if len(arms.strata) > 1:
        sizes, mine = ([getattr(part, name) for part in arms.strata] for name in ("size", "mine"))
        plain = np.array(
            [plain_over([part.of_units[:, one] for part in arms.strata], sizes, mine) for one in columns], bool
        )
    for part, share in zip(arms.strata, arms.mix.tolist(), strict=True):
        first, second = part.n
        chosen = lead if first == second else first < second
        each = distances(part.sums, part.size, min(first, second), part.centred, part.slope, plain)
        layers.append(Layer(each, share, part.mine if chosen else ~part.mine, 1.0 if chosen else -1.0))
    return layers


def _of_both(arms: Arms, ways: int, drawn: Drawn, tick: Tick) -> Array:
    """Return what ``permuted`` does where some units are in both arms."""
    first, second, _ = arms.n_first_other_both
    less, seen = min(first, second), arms.mine if first <= second else ~arms.mine
    alone, pairs = np.flatnonzero(arms.alone), np.sort(arms.shared, axis=0)
    far, width = studentised(arms)
    if ways:
        return _share_of_all(far, [(alone, less)], pairs, seen, ways, width)

    def draw(random: np.random.Generator, draws: int) -> Array:
        return far(_choice(random, draws, alone, less, pairs))

    return drawn.p_values(
        draw, _enough(far, seen), max(NUMBERS_AT_ONCE // width, 1), tick, costly=width >= MOST_DRAWN_SINGLY
    )


def _share_of_all(
    far: DistanceOfMarks, groups: Sequence[tuple[Array, int]], pairs: Array, seen: Array, ways: int, width: int
) -> Array:
    """Return the share of all ways to exchange that are as far from 0 as the observed one, shape (columns,)."""
    enough = _enough(far, seen)
    reached = (_reached(far(marks), enough) for marks in _every_choice(groups, pairs, width))
    return sum(reached, np.zeros(len(enough))) / ways


def least_p_of_arms(arms: Arms | Strata, permutations: int) -> float:
    """Return the least p-value that exchanges can have: of arms of equal size, two ways are as far apart as any."""
    ways = _ways(arms, permutations)
    return (1 + arms.even) / ways if ways else 1 / (permutations + 1)


def _ways(arms: Arms | Strata, most: int) -> int:
    """Return the number of ways to exchange units between the arms; 0 where it is more than ``most``."""
    ways = 1
    for part in arms.strata:
        first, second, both = part.n_first_other_both
        if min(first, second) + both >= most.bit_length():  # there are at least 2 ** so many ways
            return 0
        ways *= comb(first + second, first) << both
        if ways > most:
            return 0
    return ways


def _by_kinds(layers: Sequence[Layer], drawn: Drawn, tick: Tick, normal: Array) -> Array:
    """Return what ``permuted`` does for arms without shared units, by draws."""
    p, units = np.full(len(layers[0].each), np.nan), []
    every = sum(len(layer.seen) for layer in layers)
    for column in range(len(p)):
        kinds = [Kinds.of(layer.each[column].unit_values) for layer in layers]
        # Left NaN: the difference is normal, and exchanges would take long. The caller takes Welch's t.
        if normal[column] and _labour(kinds) >= MOST_DRAWN_SINGLY:
            continue
        kinds = [one.parted(layer.n[0] / len(layer.seen)) for one, layer in zip(kinds, layers, strict=True)]
        # Few units are equal in this column, so that drawing kinds saves little. Such columns share one draw of units.
        if 2 * _labour(kinds) > every:
            units.append(column)
        else:
            p[column] = _of_kinds([layer.of([column]) for layer in layers], kinds, drawn, lambda done: None)[0]
    if units:
        some = [layer.of(units) for layer in layers]
        p[units] = _of_kinds(
            some, [Kinds.alone([one.unit_values for one in layer.each]) for layer in some], drawn, tick
        )
    else:
        tick(drawn.permutations)
    return p


def _labour(kinds: Sequence[Kinds]) -> int:
    """Return the number of units that are drawn one by one in the time of one exchange, in all strata."""
    return sum(one.left + UNITS_PER_KIND * one.common for one in kinds)


def _of_kinds(layers: Sequence[Layer], kinds: Sequence[Kinds], drawn: Drawn, tick: Tick) -> Array:
    """Return the p-values of distances for draws of kinds of units in each stratum, shape (columns,)."""
    rows = [layer.rows((one.values, one.times)) for layer, one in zip(layers, kinds, strict=True)]
    totals, sums = (
        [own for _, own in rows],
        [DrawnSums.of(one, flat) for one, (flat, _) in zip(kinds, rows, strict=True)],
    )

    def draw(random: np.random.Generator, draws: int) -> Array:
        chosen = [own.draw(random, draws, layer.n[0]) for own, layer in zip(sums, layers, strict=True)]
        return _from_sums(layers, chosen, totals)

    left, seen = max(one.left for one in kinds), np.concatenate([layer.seen for layer in layers])
    each = sum(one.common + one.left for one in kinds)
    step = subsets_at_once(left) if left >= MOST_DRAWN_SINGLY else max(NUMBERS_AT_ONCE // max(each, 1), 1)
    return drawn.p_values(draw, _enough(_between(layers), seen), step, tick, costly=_labour(kinds) >= MOST_DRAWN_SINGLY)


@dataclass(frozen=True)
class Drawn:
    """Random exchanges, as many as ``permutations``; blocks of them have random numbers of their own."""

    permutations: int
    seed: int

    def p_values(self, draw: DrawExchanges, enough: Array, step: int, tick: Tick, *, costly: bool) -> Array:
        """Return the shares of exchanges that are at least as far from 0 as the observed ones, shape (columns,).

        Parameters
        ----------
        draw : what draws exchanges.
        enough : the least distance that counts as observed, shape (columns,).
        step : the number of exchanges that are drawn together.
        tick : called with the number of permutations that are done.
        costly : whether ``FIRST_EXCHANGES`` exchanges are drawn before the others.
        """
        first = min(FIRST_EXCHANGES, self.permutations) if costly else self.permutations
        halves = min(step, -(-first // 2)) if costly else step  # so that two threads share the work
        reached = self._reached(range(first), draw, enough, halves, tick)
        p = (reached + 1) / (first + 1)
        if first == self.permutations or not (p < LIKELY_P).any():
            tick(self.permutations - first)
            return p
        reached = reached + self._reached(range(first, self.permutations), draw, enough, step, tick)
        return np.where(p < LIKELY_P, (reached + 1) / (self.permutations + 1), p)

    def _reached(self, these: range, draw: DrawExchanges, enough: Array, step: int, tick: Tick) -> Array:
        """Count the exchanges among ``these`` that are as far from 0 as the observed ones; the rest as in ``share``."""
        counts: dict[int, Array] = {}

        def work(begin: int) -> None:
            some = min(step, these.stop - begin)
            counts[begin] = _reached(draw(np.random.default_rng([self.seed, begin]), some), enough)
            tick(some)

        in_threads(range(these.start, these.stop, step), work)
        return np.sum(list(counts.values()), axis=0)


def _choice(random: np.random.Generator, draws: int, alone: Array, less: int, pairs: Array) -> Array:
    """Draw ``less`` of the rows ``alone``, and one row of each pair, as marks, shape (draws, rows)."""
    marks = np.zeros((draws, len(alone) + pairs.size), bool)
    if less:
        marks[:, alone] = random_marks(random, np.full(draws, less), len(alone))
    if pairs.size:
        marks[:, pairs[0]] = random.random((draws, pairs.shape[1])) < 0.5
        marks[:, pairs[1]] = ~marks[:, pairs[0]]
    return marks


def _every_choice(groups: Sequence[tuple[Array, int]], pairs: Array, width: int) -> Iterator[Array]:
    """Yield all ways to choose rows, as marks, shape (ways, rows) each; one row of each pair is chosen.

    ``groups``: rows, and how many of them are chosen, of each stratum.
    """
    rows, n = sum(len(some) for some, _ in groups) + pairs.size, len(groups)
    ways = product(*(combinations(some.tolist(), less) for some, less in groups), *pairs.T.tolist())
    while some := list(islice(ways, max(NUMBERS_AT_ONCE // width, 1))):
        marks = np.zeros((len(some), rows), bool)
        chosen = [(*chain.from_iterable(way[:n]), *way[n:]) for way in some]
        np.put_along_axis(marks, np.array(chosen), True, axis=1)
        yield marks


def _enough(far: DistanceOfMarks, seen: Array) -> Array:
    """Return the least distances that count as the observed ones; ``seen``: whether a row is of the arm drawn."""
    return far(seen[None])[0] * (1 - STATISTIC_TOL)


def _reached(distance: Array, enough: Array) -> Array:
    """Count the draws that are far enough, shape (columns,)."""
    return np.count_nonzero(distance >= enough, axis=0)


def _between(layers: Sequence[Layer]) -> DistanceOfMarks:
    """Return the distance of the means of arms without shared units, if rows of one arm are marked in each stratum."""
    rows = [layer.rows() for layer in layers]
    flat, totals = [parts.T for parts, _ in rows], [own for _, own in rows]
    ends = np.cumsum([0, *(len(layer.seen) for layer in layers)]).tolist()

    def far(marks: Array) -> Array:
        each = zip(flat, pairwise(ends), strict=True)
        return _from_sums(layers, [sums_drawn(parts, marks[:, begin:end]).T for parts, (begin, end) in each], totals)

    return far


def _from_sums(layers: Sequence[Layer], sums: Sequence[Array], totals: Sequence[Sequence[Array]]) -> Array:
    """Return the distances of the means, from the sums of parts over the chosen arm and over both, (draws, columns).

    Parameters
    ----------
    sums : the sums of the parts of all columns in each stratum, side by side, shape (draws, parts) each.
    totals : in each stratum, of each column over all units, shape (parts,) each.
    """
    ends = [0, *np.cumsum([len(own) for own in totals[0]]).tolist()]
    found = []
    for column, (begin, end) in enumerate(pairwise(ends)):
        chosen = [own[:, begin:end] for own in sums]
        rest = [of[column] - own for of, own in zip(totals, chosen, strict=True)]
        if len(layers) == 1:
            found.append(layers[0].each[column].between(chosen[0], rest[0], layers[0].n))
            continue
        both, each = zip(layers, chosen, rest, strict=True), [layer.each[column] for layer in layers]
        signed = [layer.each[column].signed(one, other, layer.n) for layer, one, other in both]
        mix = np.array([layer.stratum_share for layer in layers])
        found.append(over_strata(each, mix, np.array([layer.sign for layer in layers]), signed))
    return np.column_stack(found)
