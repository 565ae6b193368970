"""The units of two arms in strata: differences within strata, added up by the share of each in both arms together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from frame_metrics.inputs.records import record
from frame_metrics.inputs.rows import Array
from frame_metrics.stats.shares import kish
from frame_metrics.stats.significance import MIN_UNITS
from frame_metrics.stats.two_arms import Arms, DifferenceOfArms


@record
class Strata(DifferenceOfArms):
    """The units of two arms by stratum, with two units of each arm in each: what ``Arms`` has, within strata.

    Formula: the mean of an arm is sum w_s mean_s, and the variance of the difference sum w_s^2 variance_s, with w_s the
    share of stratum s in the sizes of all units of both arms. Shares are taken as they are: the difference is that of
    this mix of units.

    Source: L. W. Miratrix, J. S. Sekhon, B. Yu, Adjusting treatment effect estimates by post-stratification in
    randomized experiments, Journal of the Royal Statistical Society B 75(2), 2013.
    """

    strata: Sequence[Arms]

    @cached_property
    def mix(self) -> Array:
        """The share of each stratum, shape (strata,)."""
        size = np.array([part.size.sum() for part in self.strata])
        return np.asarray(size / size.sum())

    def _mixed(self, each: Sequence[Array]) -> Array:
        """Return the sum over strata of an array of each, times the share of the stratum."""
        return np.einsum("s,s...->...", self.mix, np.array(each))

    @cached_property
    def n(self) -> tuple[int, int]:
        """The number of units of each arm."""
        return sum(part.n[0] for part in self.strata), sum(part.n[1] for part in self.strata)

    @property
    def n_for_freedom(self) -> tuple[float, ...]:
        """The numbers of units behind each of ``variances``; NaN if one arm has too few in all strata together."""
        found = tuple(n for part in self.strata for n in part.n_effective)
        size, in_first = np.concatenate([part.size for part in self.strata]), self.in_first
        weighted = any(part.weighted for part in self.strata)
        too_few = weighted and min(kish(size[in_first]), kish(size[~in_first])) < MIN_UNITS
        return (np.nan,) * len(found) if too_few else found

    @property
    def equal_in_size(self) -> bool:
        """True if both arms have as many units, in each stratum."""
        return all(part.equal_in_size for part in self.strata)

    def without_weights(self) -> Strata:
        """Return these arms with each weight read as the size of its unit."""
        return Strata([part.without_weights() for part in self.strata])

    def raised(self, by: Array) -> Strata:
        """Return these arms with ``by`` added to every value of the first arm; ``by``: shape (columns,)."""
        return Strata([part.raised(by) for part in self.strata])

    @property
    def in_first(self) -> Array:
        """True for rows of the first arm, stratum after stratum, shape (rows,)."""
        return np.concatenate([part.in_first for part in self.strata])

    @cached_property
    def shared(self) -> Array:
        """The rows of the units that are in both arms, those of the first arm first, shape (2, shared)."""
        begins = np.cumsum([0, *(len(part.in_first) for part in self.strata[:-1])])
        return np.concatenate(
            [part.shared + begin for part, begin in zip(self.strata, begins.tolist(), strict=True)], axis=1
        )

    @property
    def in_one_arm(self) -> Array:
        """True where the unit of a row is in one arm only, shape (rows,)."""
        return np.concatenate([part.in_one_arm for part in self.strata])

    @property
    def offset(self) -> Array:
        """The number that was subtracted from the values, mixed over strata as means are, shape (columns,)."""
        return self._mixed([part.offset for part in self.strata])

    @property
    def limits(self) -> Array | None:
        """The least and the greatest value there can be, shape (2, columns); None or NaN where it is not known."""
        each = [part.limits for part in self.strata if part.limits is not None]
        return np.mean(each, axis=0) if len(each) == len(self.strata) else None

    @property
    def widest(self) -> Array | float:
        """The greatest difference that there can be, shape (columns,); infinite where it is not known."""
        return np.max([np.asarray(part.widest) for part in self.strata], axis=0)

    @cached_property
    def scale(self) -> Array:
        """The size of values, shape (columns,); a difference that is tiny in comparison is only rounding."""
        return np.max([part.scale for part in self.strata], axis=0)

    @cached_property
    def means(self) -> Array:
        """The means of both arms, each with the mix of both together, shape (2, columns)."""
        return self._mixed([part.means for part in self.strata])

    @property
    def raw_difference(self) -> Array:
        """The difference of the means, shape (columns,)."""
        return self._mixed([part.raw_difference for part in self.strata])

    def variances(self, over: Array | None = None) -> Array:
        """Return the variances of all strata as those of ``Arms``, times the square of their shares.

        Shape (3 * strata, columns).
        """
        each = zip(self.strata, self.mix, strict=True)
        return np.concatenate([share**2 * part.variances(over) for part, share in each])

    @property
    def contributions(self) -> Array:
        """The part of each row in the difference of the means, shape (rows, columns)."""
        return np.concatenate([share * part.contributions for part, share in zip(self.strata, self.mix, strict=True)])

    @cached_property
    def of_shares(self) -> Array:
        """True for columns that are shares of two arms without a unit in both, shape (columns,)."""
        return np.all([part.of_shares for part in self.strata], axis=0)

    @property
    def has_two_values(self) -> Array:
        """True for columns with at most two different values in each stratum, shape (columns,)."""
        return np.all([part.has_two_values for part in self.strata], axis=0)

    @property
    def n_commonest(self) -> Array:
        """The number of units of each arm that have the commonest value of their stratum, shape (2, columns)."""
        return np.asarray(np.sum([part.n_commonest for part in self.strata], axis=0))

    @property
    def pooled_error(self) -> Array:
        """The standard error of a difference of shares if both arms have the same, shape (columns,); NaN of others."""
        each = [share * part.pooled_error for part, share in zip(self.strata, self.mix, strict=True)]
        return np.where(self.of_shares, np.sqrt(np.square(each).sum(axis=0)), np.nan)
