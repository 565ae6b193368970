"""The ranking that functions of users' metrics read: one value for each result, and sums of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from frame_metrics.errors import BadValueError
from frame_metrics.inputs.gains import Gain
from frame_metrics.inputs.ranking import FullRanking
from frame_metrics.inputs.rows import Array, Rows
from frame_metrics.inputs.views import Narrow, checked_values, total_of

if TYPE_CHECKING:  # it takes long to import
    from numpy.typing import ArrayLike


class Ranking(Narrow[FullRanking]):
    """The results of many queries, laid end to end, and the judgments that they are measured against.

    This is what the function of an own metric gets if its first parameter is annotated so. ``rank``, ``grade``,
    ``relevant``, ``judged``, ``gains``, ``column`` and ``within`` have one value for each result: those of the first
    query in rank order, then those of the second. ``total`` adds such values up, to one for each query. Arrays that are
    given are read-only.

    To try a function, make one: ``found_early(Ranking([0, 2, 1], [3]), k=2)``.

    Parameters
    ----------
    grade : grade of each result, NaN for an unjudged one, shape (results,).
    lengths : number of results of each query, shape (queries,).
    rel : the least grade that is relevant.
    n_relevant : number of relevant documents of each query, retrieved or not; None if the results are all there are.
    columns : values of each result in other columns, by name; NaN is null.

    Raises
    ------
    BadValueError
        The lengths do not add up to the number of grades, or a column or ``n_relevant`` has another number of values.

    Examples
    --------
    >>> from frame_metrics import Ranking
    >>> run = Ranking(grade=[0, 2, 1, 1, 0], lengths=[3, 2])
    >>> run.total(run.relevant / run.rank)
    array([0.83333333, 1.        ])
    """

    __slots__ = ()

    def __init__(
        self,
        grade: ArrayLike,
        lengths: ArrayLike,
        *,
        rel: float = 1,
        n_relevant: ArrayLike | None = None,
        columns: Mapping[str, ArrayLike] | None = None,
    ) -> None:
        grades, counts = np.array(grade, np.float64, ndmin=1), np.array(lengths, np.int64, ndmin=1)
        extra = {name: np.array(values, np.float64, ndmin=1) for name, values in (columns or {}).items()}
        known = None if n_relevant is None else np.array(n_relevant, np.float64, ndmin=1)
        if (counts < 0).any() or counts.sum() != len(grades):
            raise BadValueError(f"lengths={counts.tolist()} do not add up to the number of grades, {len(grades)}")
        for name, values in extra.items():
            if len(values) != len(grades):
                raise BadValueError(f"columns: {name!r} has {len(values)} values, and there are {len(grades)} grades")
        if known is not None and len(known) != len(counts):
            raise BadValueError(f"n_relevant: {len(known)} numbers, and there are {len(counts)} queries")
        self._inside = FullRanking(grades, counts, counts, rel=rel, n_relevant_given=known, extra=extra)

    def __repr__(self) -> str:
        return f"<Ranking: {len(self.rank)} results of {self.n_queries} queries; it has {', '.join(dir(self))}>"

    @property
    def _results(self) -> Rows:
        """All results."""
        run = self._inside.unweighted
        return run.cached("results", lambda: run.rows(np.arange(len(run.grade)), np.ones(len(run.grade))))

    def _to_all_results(self, rows: Rows) -> Array:
        """Return the values of some results, 0 for the others, shape (results,)."""
        every = self._results
        if len(rows.query) == len(every.query):
            return rows.value.astype(np.float64, copy=False)
        out = np.zeros(len(every.query))
        if self._inside.logged_rank is None:
            out[every.starts[rows.query] + rows.rank - 1] = rows.value
        else:  # ranks may have gaps, so results are found by query and rank
            n_ranks = int(every.rank.max(initial=0)) + 1
            out[np.searchsorted(every.query * n_ranks + every.rank, rows.query * n_ranks + rows.rank)] = rows.value
        return out

    @property
    def lengths(self) -> Array:
        """Number of results of each query, 0 for one without results, shape (queries,).

        Examples
        --------
        >>> Ranking(grade=[0, 2, 1], lengths=[2, 1, 0]).lengths
        array([2, 1, 0])
        """
        return self._inside.n_ret

    @property
    def n_relevant(self) -> Array:
        """Number of relevant documents of each query, retrieved or not, shape (queries,).

        Examples
        --------
        >>> Ranking(grade=[0, 2, 1], lengths=[2, 1]).n_relevant
        array([1, 1])
        """
        return self._inside.n_relevant

    @property
    def rank(self) -> Array:
        """Rank of each result as it was shown, from 1, shape (results,). A log of ranks may have gaps.

        Examples
        --------
        >>> Ranking(grade=[0, 2, 1], lengths=[2, 1]).rank
        array([1, 2, 1])
        """
        return self._results.rank

    @property
    def grade(self) -> Array:
        """Grade of each result, NaN for an unjudged one, shape (results,). A log of labels has the grades 0 and 1.

        Examples
        --------
        >>> Ranking(grade=[0, 2, float("nan")], lengths=[2, 1]).grade
        array([ 0.,  2., nan])
        """
        run = self._inside.unweighted
        return run.cached("grades", lambda: self._to_all_results(run.grades()))

    @property
    def relevant(self) -> Array:
        """1 for each relevant result, 0 for the others, as a float, shape (results,).

        With ``ties="expected"`` it is the mean over all orders of results with equal scores; with propensities, the
        weight that a click has. So multiply by it, rather than select with it.

        Examples
        --------
        >>> Ranking(grade=[0, 2, 1], lengths=[2, 1], rel=2).relevant
        array([0., 1., 0.])
        """
        run = self._inside
        return run.cached("relevant results", lambda: self._to_all_results(run.relevant))

    @property
    def judged(self) -> Array:
        """1 for each result that has a judgment, 0 for the others, as a float, shape (results,).

        Examples
        --------
        >>> Ranking(grade=[0, 2, float("nan")], lengths=[2, 1]).judged
        array([1., 1., 0.])
        """
        run = self._inside.unweighted
        return run.cached("judged results", lambda: self._to_all_results(run.rows_with(run.judged)))

    def gains(self, gain: Gain = "linear") -> Array:
        """Return the gain of each result, 0 for an unjudged one, shape (results,).

        Parameters
        ----------
        gain : "linear", the grade; "exp", 2 to the power of the grade, less 1; a mapping from grades; or a list of the
            gains of the grades 0, 1, 2 ...

        Examples
        --------
        >>> Ranking(grade=[0, 2, float("nan")], lengths=[2, 1]).gains("exp")
        array([0., 3., 0.])
        """
        return self._to_all_results(self._inside.gains(gain))

    def column(self, name: str, *, relevant: bool = False) -> Array:
        """Return the values of each result in a column that ``extra=`` names, NaN for null, shape (results,).

        Ask for it without a condition: which columns a metric reads is found by trying it on one row.

        Parameters
        ----------
        name : the name that ``extra=`` gives the column.
        relevant : True for 0 in place of the values of results that are not relevant. With ``ties="expected"`` this is
            the mean of value times relevance, and not the product of their means.

        Examples
        --------
        >>> Ranking(grade=[0, 2, 1], lengths=[2, 1], columns={"price": [5, 3, 4]}).column("price", relevant=True)
        array([0., 3., 4.])
        """
        run = self._inside if relevant else self._inside.unweighted
        return self._to_all_results(run.column(name, run.good if relevant else None))

    def within(self, k: int | None) -> Array:
        """Return True for each result at a rank up to ``k`` (None: all), bool, shape (results,).

        Examples
        --------
        >>> Ranking(grade=[0, 2, 1], lengths=[2, 1]).within(1)
        array([ True, False,  True])
        """
        return np.ones(len(self.rank), bool) if k is None else self.rank <= k

    def hits(self, k: int | None = None) -> Array:
        """Return the number of relevant results of each query at ranks up to ``k`` (None: all), shape (queries,).

        Examples
        --------
        >>> Ranking(grade=[0, 2, 1], lengths=[2, 1]).hits(1)
        array([0., 1.])
        """
        return self._inside.hits(k)

    def total(self, values: ArrayLike) -> Array:
        """Return the sum of the values of each query's results, 0 for one without results, shape (queries,).

        Parameters
        ----------
        values : one for each result, shape (results,). Times ``within(k)``, only the first k count.

        Raises
        ------
        KernelError
            There are more or fewer values than results.

        Examples
        --------
        >>> run = Ranking(grade=[0, 2, 1], lengths=[2, 1])
        >>> run.total(run.gains() * run.within(2))
        array([2., 1.])
        """
        return total_of(self._results, checked_values(values, "total", "results", len(self.rank)))

    def running(self, values: ArrayLike) -> Array:
        """Return, for each result, the sum of its query's values from the first result down to it, shape (results,).

        Parameters
        ----------
        values : one for each result, shape (results,).

        Raises
        ------
        KernelError
            There are more or fewer values than results.

        Examples
        --------
        >>> run = Ranking(grade=[1, 0, 1, 1], lengths=[3, 1])
        >>> run.running(run.relevant)  # relevant results so far
        array([1., 1., 2., 1.])
        """
        return self._results.running(checked_values(values, "running", "results", len(self.rank)))

    def ideal(self, weigh: Callable[[Array], Array], k: int | None = None, gain: Gain = "linear") -> Array:
        """Return the greatest sum of gains times weights by rank, that of the best order, shape (queries,).

        The best order has all judged documents of a query, retrieved or not, the greatest gain first.

        Parameters
        ----------
        weigh : a function from ranks, an array of integers from 1, to their weights, an array of the same shape.
        k : how many top results count; None for all.
        gain : as in ``gains``.

        Examples
        --------
        >>> def discount(rank):
        ...     return 1 / np.log2(rank + 1)
        >>> run = Ranking(grade=[0, 3, 1], lengths=[2, 1])
        >>> run.total(run.gains() * discount(run.rank)) / run.ideal(discount)  # ndcg
        array([0.63092975, 1.        ])
        """
        best = self._inside.ideal(gain)
        weight = checked_values(weigh(best.rank), "ideal", "ranks", len(best.rank))
        return best.total_within(k, best.value * weight)
