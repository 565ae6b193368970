"""Randomization of arms: units exchanged between two of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, combinations, islice, pairwise, product
from math import comb

import numpy as np

from frame_metrics.inputs.rows import Array
from frame_metrics.stats.distances import LEFT, Distance, distances, over_strata, plain_over
from frame_metrics.stats.resampling import AT_ONCE, MANY, alike, sums_drawn
from frame_metrics.stats.significance import CLOSE, Tick
from frame_metrics.stats.strata import Strata
from frame_metrics.stats.subsets import subset_sums, subsets_at_once
from frame_metrics.stats.units import Arms, linear
from frame_metrics.threads import in_threads

# From marks of the rows of one arm, shape (draws, rows), to the distance of the means, shape (draws, columns).
Far = Callable[[Array], Array]
Draw = Callable[[np.random.Generator, int], Array]  # draws so many exchanges, and returns how far each is, as above
NEAR = 1e-9  # statistics that differ relatively by less are equal: their errors are roots of rounded sums
WIDE = 10_000  # units to exchange from which few exchanges are drawn first
FIRST, LIKELY = 1000, 0.1  # exchanges that are drawn first; the rest follow for p-values below this
KIND = 10  # units that are drawn in the time in which the number of one kind is


@dataclass(frozen=True, eq=False)
class Layer:
    """The units of a stratum, among which an exchange chooses those of one arm; all, where there are no strata."""

    each: Sequence[Distance]  # of each column
    share: float  # of the stratum
    seen: Array  # whether each unit is of the arm that has fewer, shape (units,)
    sign: float  # 1 if this is the first arm, -1 for the other

    @cached_property
    def n(self) -> tuple[int, int]:
        """The number of units of the arm that has fewer, and of the other."""
        less = int(self.seen.sum())
        return less, len(self.seen) - less

    def of(self, columns: Sequence[int]) -> Layer:
        """Return the same with some columns."""
        return replace(self, each=[self.each[column] for column in columns])

    def rows(self, of: Sequence[Array] | None = None) -> tuple[Array, list[Array]]:
        """Return what is summed of each unit, all columns side by side, and the totals of each column.

        ``of``: the numbers of kinds of units in place of units, and how many there are of each, as ``Kinds`` has them.
        """
        ends = np.cumsum([0, *(one.held.shape[1] for one in self.each)])
        held = [one.held for one in self.each]
        if of is not None:
            held = [of[0][:, begin:end] for begin, end in pairwise(ends)]
        parts = [one.parts(own) for one, own in zip(self.each, held, strict=True)]
        totals = [part.sum(axis=0) if of is None else of[1] @ part for part in parts]
        return np.column_stack(parts), totals


def permuted(arms: Arms | Strata, permutations: int, seed: int, tick: Tick, normal: Array) -> Array:
    """Return the two-sided p-values of exchanging units between two arms at random, shape (columns,).

    If the arms do not differ, any other units could have been in an arm, and a unit in both arms could have had its
    values the other way round. If there are at most ``permutations`` ways to exchange, all are counted. Otherwise so
    many are drawn, and the observed one counts as one of them: (b + 1) / (n + 1), which is never 0. Units are chosen
    for the arm with fewer units of its own, so that it does not matter which arm is the baseline. With strata they are
    exchanged within each, and no unit is in both arms.

    What is compared is ``Distance``, or, if some units are in both arms, the difference in standard errors. Where
    values repeat, such as those of searches without a click, the number of each kind is drawn instead of units. Where
    ``WIDE`` or more units are left to draw, ``FIRST`` exchanges are drawn, and the rest of ``permutations`` only for
    p-values below ``LIKELY``.

    Parameters
    ----------
    normal : columns whose p-value is NaN, as that of a t-test will do, where so many units are left to draw.
    """
    ways, drawn = _ways(arms, permutations), Drawn(permutations, seed)
    if arms.shared.size:
        return _of_both(arms.parts[0], ways, drawn, tick)
    layers = _layers(arms)
    if ways:
        begins = np.cumsum([0, *(len(layer.seen) for layer in layers)]).tolist()
        groups = [(np.arange(*ends), layer.n[0]) for ends, layer in zip(pairwise(begins), layers, strict=True)]
        far, seen = _between(layers), np.concatenate([layer.seen for layer in layers])
        return _share_of_all(far, groups, np.zeros((2, 0), np.int64), seen, ways, len(seen))
    return _by_kinds(layers, drawn, tick, normal)


def _layers(arms: Arms | Strata) -> list[Layer]:
    """Return the units of each stratum; where arms have as many, that of the first unit of all is chosen for."""
    lead, columns = bool(arms.parts[0].mine[0]) if len(arms.parts) > 1 else True, range(arms.parts[0].sums.shape[1])
    plain, layers = None, []
    if len(arms.parts) > 1:
        sizes, mine = ([getattr(part, name) for part in arms.parts] for name in ("size", "mine"))
        plain = np.array(
            [plain_over([part.of_units[:, one] for part in arms.parts], sizes, mine) for one in columns], bool
        )
    for part, share in zip(arms.parts, arms.mix.tolist(), strict=True):
        first, second = part.n
        chosen = lead if first == second else first < second
        each = distances(part.sums, part.size, min(first, second), part.centred, part.slope, plain)
        layers.append(Layer(each, share, part.mine if chosen else ~part.mine, 1.0 if chosen else -1.0))
    return layers


def _of_both(arms: Arms, ways: int, drawn: Drawn, tick: Tick) -> Array:
    """Return what ``permuted`` does where some units are in both arms."""
    first, second, _ = arms.n_parts
    less, seen = min(first, second), arms.mine if first <= second else ~arms.mine
    alone, pairs = np.flatnonzero(arms.alone), np.sort(arms.shared, axis=0)
    far, width = _studentised(arms)
    if ways:
        return _share_of_all(far, [(alone, less)], pairs, seen, ways, width)

    def draw(random: np.random.Generator, draws: int) -> Array:
        return far(_choice(random, draws, alone, less, pairs))

    return drawn.share(draw, _enough(far, seen), max(AT_ONCE // width, 1), tick, costly=width >= WIDE)


def _share_of_all(
    far: Far, groups: Sequence[tuple[Array, int]], pairs: Array, seen: Array, ways: int, width: int
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
    for part in arms.parts:
        first, second, both = part.n_parts
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
        kinds = [Kinds.of(layer.each[column].held) for layer in layers]
        labour = sum(one.labour for one in kinds)
        if normal[column] and labour >= WIDE:
            continue
        if 2 * labour > every:
            units.append(column)
        else:
            p[column] = _of_kinds([layer.of([column]) for layer in layers], kinds, drawn, lambda done: None)[0]
    if units:
        some = [layer.of(units) for layer in layers]
        p[units] = _of_kinds(some, [Kinds.alone([one.held for one in layer.each]) for layer in some], drawn, tick)
    else:
        tick(drawn.permutations)
    return p


def _of_kinds(layers: Sequence[Layer], kinds: Sequence[Kinds], drawn: Drawn, tick: Tick) -> Array:
    """Return the p-values of distances for draws of kinds of units in each stratum, shape (columns,)."""
    rows = [layer.rows((one.held, one.times)) for layer, one in zip(layers, kinds, strict=True)]
    totals = [own for _, own in rows]

    def draw(random: np.random.Generator, draws: int) -> Array:
        sums = [
            one.sums(random, draws, layer.n[0], flat) for layer, one, (flat, _) in zip(layers, kinds, rows, strict=True)
        ]
        return _from_sums(layers, sums, totals)

    left, seen = max(one.left for one in kinds), np.concatenate([layer.seen for layer in layers])
    step = subsets_at_once(left) if left >= WIDE else max(AT_ONCE // sum(len(one.times) for one in kinds), 1)
    costly = sum(one.labour for one in kinds) >= WIDE
    return drawn.share(draw, _enough(_between(layers), seen), step, tick, costly=costly)


@dataclass(frozen=True)
class Drawn:
    """Random exchanges, as many as ``permutations``; blocks of them have random numbers of their own."""

    permutations: int
    seed: int

    def share(self, draw: Draw, enough: Array, step: int, tick: Tick, *, costly: bool) -> Array:
        """Return the shares of exchanges that are at least as far from 0 as the observed ones, shape (columns,).

        Parameters
        ----------
        draw : what draws exchanges.
        enough : the least distance that counts as observed, shape (columns,).
        step : the number of exchanges that are drawn together.
        tick : called with the number of permutations that are done.
        costly : whether ``FIRST`` exchanges are drawn before the others.
        """
        first = min(FIRST, self.permutations) if costly else self.permutations
        halves = min(step, -(-first // 2)) if costly else step  # so that two threads share the work
        reached = self._reached(range(first), draw, enough, halves, tick)
        p = (reached + 1) / (first + 1)
        if first == self.permutations or not (p < LIKELY).any():
            tick(self.permutations - first)
            return p
        reached = reached + self._reached(range(first, self.permutations), draw, enough, step, tick)
        return np.where(p < LIKELY, (reached + 1) / (self.permutations + 1), p)

    def _reached(self, these: range, draw: Draw, enough: Array, step: int, tick: Tick) -> Array:
        """Count the exchanges among ``these`` that are as far from 0 as the observed ones; the rest as in ``share``."""
        counts: dict[int, Array] = {}

        def work(begin: int) -> None:
            some = min(step, these.stop - begin)
            counts[begin] = _reached(draw(np.random.default_rng([self.seed, begin]), some), enough)
            tick(some)

        in_threads(range(these.start, these.stop, step), work)
        return np.sum(list(counts.values()), axis=0)


@dataclass(frozen=True, eq=False)
class Kinds:
    """The units of two arms by the numbers that they hold: kinds of ``MANY`` and more first, then unit by unit."""

    held: Array  # the numbers of each kind, and of each unit that is left, shape (kinds, columns)
    times: Array  # units of each kind, 1 of each unit that is left, shape (kinds,)
    common: int  # number of kinds of ``MANY`` and more

    @classmethod
    def of(cls, held: Array) -> Kinds:
        """Find the kinds of units that hold these numbers, shape (units, columns)."""
        kinds, times = alike(list(held.T), np.ones(len(held), np.int64))
        many = times >= MANY
        left = np.repeat(np.column_stack(kinds)[~many], times[~many], axis=0)
        some = np.concatenate([times[many], np.ones(len(left), np.int64)])
        return cls(np.concatenate([np.column_stack(kinds)[many], left]), some, int(many.sum()))

    @classmethod
    def alone(cls, held: Sequence[Array]) -> Kinds:
        """Take each unit as a kind by itself."""
        return cls(np.column_stack(held), np.ones(len(held[0]), np.int64), 0)

    @property
    def left(self) -> int:
        """The number of units that are drawn one by one."""
        return len(self.times) - self.common

    @property
    def labour(self) -> int:
        """The number of units that are drawn one by one in the time of one exchange."""
        return self.left + KIND * self.common

    def sums(self, random: np.random.Generator, draws: int, less: int, parts: Array) -> Array:
        """Draw ``less`` units, and sum their parts, shape (draws, parts); ``parts``: of each kind, (kinds, parts)."""
        counts = np.full((draws, 1), less)
        if self.common:
            colors = np.append(self.times[: self.common], self.left)
            counts = random.multivariate_hypergeometric(colors, less, draws, method="marginals")
        sums, single = sums_drawn(parts[: self.common].T, counts[:, :-1]).T, parts[self.common :]
        if self.left >= WIDE:
            return sums + subset_sums(random, single, counts[:, -1])
        return sums + sums_drawn(single.T, _marks(random, counts[:, -1], self.left)).T


def _marks(random: np.random.Generator, chosen: Array, n: int) -> Array:
    """Choose some of ``n`` units in each draw, as marks, shape (draws, n); ``chosen``: how many, shape (draws,)."""
    keys = random.random((len(chosen), n))
    marks = np.zeros(keys.shape, bool)
    for some in np.unique(chosen[chosen > 0]).tolist():
        of = chosen == some
        marks[of] = keys[of] <= np.partition(keys[of], some - 1, axis=1)[:, some - 1, None]
    return marks


def _choice(random: np.random.Generator, draws: int, alone: Array, less: int, pairs: Array) -> Array:
    """Draw ``less`` of the rows ``alone``, and one row of each pair, as marks, shape (draws, rows)."""
    marks = np.zeros((draws, len(alone) + pairs.size), bool)
    if less:
        marks[:, alone] = _marks(random, np.full(draws, less), len(alone))
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
    while some := list(islice(ways, max(AT_ONCE // width, 1))):
        marks = np.zeros((len(some), rows), bool)
        chosen = [(*chain.from_iterable(way[:n]), *way[n:]) for way in some]
        np.put_along_axis(marks, np.array(chosen), True, axis=1)
        yield marks


def _enough(far: Far, seen: Array) -> Array:
    """Return the least distances that count as the observed ones; ``seen``: whether a row is of the arm drawn."""
    return far(seen[None])[0] * (1 - NEAR)


def _reached(distance: Array, enough: Array) -> Array:
    """Count the draws that are far enough, shape (columns,)."""
    return np.count_nonzero(distance >= enough, axis=0)


def _between(layers: Sequence[Layer]) -> Far:
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
        mix = np.array([layer.share for layer in layers])
        found.append(over_strata(each, mix, np.array([layer.sign for layer in layers]), signed))
    return np.column_stack(found)


def _studentised(arms: Arms) -> tuple[Far, int]:
    """Return the distance of the means in standard errors, if some units are in both arms, and the numbers of a draw.

    Difference, error and the slope of the covariate are computed anew in each draw. All follow from sums of products.
    The factors are what a row holds (value less mean, size, 1, covariate), and what its unit holds in the other arm.
    """
    n = len(arms.mine)
    beside = [arms.size / arms.size.mean(), np.ones(n), *([arms.centred] if arms.centred.any() else [])]
    holds = np.stack([np.column_stack([own, *beside]) for own in linear(arms.sums, arms.size).T], axis=1)
    opposite = np.zeros_like(holds)
    opposite[arms.shared] = holds[arms.shared[::-1]]
    products = np.stack([np.einsum("rci,rcj->rcij", holds, with_these) for with_these in (holds, opposite)], axis=1)
    total, shape, flat = products[:, 0].sum(axis=0), (-1, *products.shape[1:]), products.reshape(n, -1)

    def distance(marks: Array) -> Array:
        here = sums_drawn(flat.T, marks).T.reshape(shape)
        return _in_errors(here[:, 0], total - here[:, 0], here[:, 1], arms.scale)

    return distance, max(flat.shape)


def _in_errors(first: Array, second: Array, crossed: Array, scale: Array) -> Array:
    """Return the difference of two means in standard errors, from sums of products, shape (draws, columns).

    Parameters
    ----------
    first, second : sums, over the rows of an arm, of products of the k numbers that a row holds,
        shape (draws, columns, k, k).
    crossed : sums of products of what the rows of the first arm hold with what their units hold in the second, of the
        same shape.
    scale : the size of values, shape (columns,).
    """
    arms = (first, second)
    parts = [_parts(arm) for arm in arms]
    within = [np.einsum("pdci,dcij,qdcj->pqdc", part, arm, part) for part, arm in zip(parts, arms, strict=True)]
    across = np.einsum("pdci,dcij,qdcj->pqdc", parts[0], crossed, parts[1])
    across = across + across.swapaxes(0, 1)
    factor = [arm[..., 2, 2] / (arm[..., 2, 2] - 1) for arm in arms]
    spread = factor[0] * within[0] + factor[1] * within[1] - np.sqrt(factor[0] * factor[1]) * across
    apart, variance = first[..., 0, 2] / first[..., 1, 2] - second[..., 0, 2] / second[..., 1, 2], spread[0, 0]
    if first.shape[2] > 3:
        joint = within[0] + within[1] - across
        varies = joint[1, 1] > CLOSE * (within[0] + within[1])[1, 1]
        slope = np.where(varies, joint[0, 1] / np.where(varies, joint[1, 1], 1), 0)
        apart = apart - slope * (first[..., 3, 2] / first[..., 2, 2] - second[..., 3, 2] / second[..., 2, 2])
        variance = variance - 2 * slope * spread[0, 1] + slope**2 * spread[1, 1]
    apart = np.where(np.abs(apart) <= CLOSE * scale, 0, np.abs(apart))
    sure = variance <= (CLOSE * scale) ** 2 + LEFT * (within[0] + within[1])[0, 0]
    return np.where(sure, np.where(apart > 0, np.inf, 0), apart / np.sqrt(np.where(sure, 1, variance)))


def _parts(arm: Array) -> Array:
    """Return the coefficients of a unit's part in the mean of its arm, and in the mean covariate, (1 or 2, ..., k).

    The part is the sum of the coefficients times what the unit's row holds.
    """
    n, size = arm[..., 2, 2], arm[..., 1, 2]
    nothing = np.zeros_like(n)
    value = [1 / size, -arm[..., 0, 2] / size**2, nothing]
    if arm.shape[-1] == 3:
        return np.stack([np.stack(value, axis=-1)])
    covariate = [nothing, nothing, -arm[..., 3, 2] / n**2, 1 / n]
    return np.stack([np.stack([*value, nothing], axis=-1), np.stack(covariate, axis=-1)])
