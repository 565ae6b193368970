"""The verbs that compare systems, explain values, and bound them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.base import Base, Frame
from frame_metrics.border.frames import Past
from frame_metrics.data.log import read_log
from frame_metrics.errors import (
    BadValueError,
    NotComputableError,
    check_apart,
    check_choice,
    check_level,
    check_whole,
)
from frame_metrics.inputs import Confusion, Ranking
from frame_metrics.metrics.metric import Metric, plain
from frame_metrics.metrics.names import read
from frame_metrics.roles.needs import Needs
from frame_metrics.verbs.evaluate import check_asked, measure

Test = Literal["randomization", "t", "wilcoxon", "sign", "bootstrap", "tukey"]
Correction = Literal["holm", "bonferroni", "bh", "none"]
Over = Literal["metric", "all"]
Unanswered = Literal["zero", "drop"]
Of = Literal["ties", "unjudged"]


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Comparing(Base[Frame]):
    """What can be asked about the difference of systems, what a value is made of, and how far it can be trusted."""

    def compare(
        self,
        *metrics: str | Metric,
        baseline: Any = None,
        test: Test = "randomization",
        correction: Correction = "holm",
        over: Over = "metric",
        unanswered: Unanswered = "zero",
        ci: float = 0.95,
        permutations: int = 10_000,
        resamples: int = 1000,
        seed: int = 0,
        per_query: bool = False,
    ) -> Frame:
        """Pair systems query by query, and say how far apart they are and whether that is more than chance.

        Parameters
        ----------
        metrics : names as "ndcg@10", or values as ``frame_metrics.metrics.ndcg @ 10``.
        baseline : the system that every other is compared with; by default every system with all before it.
        test : two-sided. "randomization" flips the signs of the differences (exact where there are no more ways than
            ``permutations``, else as many drawn ones and p = (b + 1) / (n + 1)); "t", "wilcoxon" and "sign" are
            scipy's; "bootstrap" resamples the differences moved to 0; "tukey" exchanges all systems of a query at
            random, and tests all pairs together (randomised Tukey HSD), so that nothing is left to correct. Where
            ``cluster`` is named, "randomization" flips the queries of a cluster together, "bootstrap" and the interval
            resample clusters, "tukey" exchanges the systems of whole clusters, and the other three are an error.
        correction : of p-values for testing many pairs: "holm", "bonferroni", "bh" (Benjamini-Hochberg) or "none".
        over : what is corrected together: the pairs of a "metric" in one segment, or "all" rows.
        unanswered : a query that only one of two systems answers is counted with "zero" for the other, or "drop" leaves
            it out (with "tukey" for all pairs, as it looks at all systems of a query at once); either way it is in
            ``n_unpaired``.
        ci : level of the percentile bootstrap interval of the difference.
        permutations, resamples, seed : of what is drawn; the same on every machine.
        per_query : whether to return the paired differences instead, the greatest first.

        Returns
        -------
        A frame of the caller's kind: by..., the system, baseline, metric, k, value, baseline_value, difference,
        relative (difference / |baseline_value|), ci_low, ci_high, p_value, p_adjusted, effect_size (difference / its
        standard deviation over queries), wins, ties, losses, n, n_unpaired, n_undefined, mde (the difference that so
        many queries would show with 80 % power at level 1 - ``ci``), test, correction. Where ``cluster`` is named,
        fewer than two clusters leave ci_low, ci_high, p_value and mde null, and mde rests on the standard error that
        clusters give. With ``per_query``: by..., the query columns, the system, baseline, metric, k, value,
        baseline_value, difference.

        Raises
        ------
        FrameMetricsError
            No ``system`` is named, there is only one, ``baseline`` is none of them, a test needs scipy and it is not
            installed, or cannot take clusters and they are named, or what evaluate() raises.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> runs = pl.DataFrame(
        ...     {"query": [1, 1, 2, 2, 3, 3], "system": ["a", "b"] * 3, "score": [1.0] * 6, "grade": [1, 0, 1, 0, 1, 1]}
        ... )
        >>> runs.irm(system="system").compare("rr").select("system", "baseline", "difference", "p_value", "n").rows()
        [('b', 'a', -0.6666666666666666, 0.5, 3)]
        """
        from frame_metrics.verbs import compare

        given = {"test": Test, "correction": Correction, "over": Over, "unanswered": Unanswered}
        chosen = {"test": test, "correction": correction, "over": over, "unanswered": unanswered}
        for name, choices in given.items():
            check_choice(name, chosen[name], get_args(choices))
        check_level(ci)
        check_whole("permutations", permutations, 1)
        check_whole("resamples", resamples, 1)
        check_whole("seed", seed, 0)
        if test == "tukey" and baseline is not None:
            raise NotComputableError("test='tukey' tests all pairs together; say baseline=None")
        asked = read(metrics)
        columns, conventions = self._parts(self._needs(asked) | Needs(query=True))
        check_asked(asked, columns, conventions, self._judging(columns))
        system = compare.check_system(columns, test)
        for name, metric in asked:
            if metric.average is not None:
                raise NotComputableError(f"{name} is an average, and compare() pairs the values of queries")
        check_apart(columns.keys, ("baseline", "metric", "k", *compare.SCHEMA))
        by = compare.How(baseline, test, correction, over, unanswered, ci, permutations, resamples, seed)

        def run(frame: pl.DataFrame, past: Past) -> Answer:
            found = measure(read_log(frame, columns, conventions, self._qrels(columns, past)), asked, conventions)
            return compare.each(found, conventions, by) if per_query else compare.compared(found, conventions, by)

        def schema(types: dict[str, Any]) -> dict[str, Any]:
            keys = (*columns.by, *(columns.query if per_query else ()), system)
            columns = {name: compare.SCHEMA[name] for name in compare.SCHEMA if not per_query or name in compare.EACH}
            found = {name: types[name] for name in keys} | {"baseline": types[system]}
            return found | {"metric": pl.String, "k": pl.Int64} | columns

        return self._answer(run, columns, schema)

    def explain(self, metric: str | Metric, *, query: Any) -> Frame:
        """Say what each result of one query adds to a metric of its ranking.

        Parameters
        ----------
        metric : of a ranking, or of the 2x2 table at a cutoff or on the retrieved set.
        query : the query's value, or a value for each of its columns.

        Returns
        -------
        A frame of the caller's kind, a row for each result up to the cutoff, in rank order: system, by..., the query
        columns, the document if one is named, rank, gain (of its grade; for metrics that ask only whether it is
        relevant, 0 or 1), discount (the weight of its rank in cg, dcg, ndcg and rbp, before anything is divided; null
        for others), contribution (by how much the result changes the metric's value, those below it being taken away;
        they add up to the value; null where it is undefined).

        Raises
        ------
        FrameMetricsError
            The frame has no such query, the metric is not of a ranking or is not 0 where nothing is retrieved, or what
            per_query() raises.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> log = pl.DataFrame({"query": ["a"] * 3, "score": [3.0, 2.0, 1.0], "grade": [1, 0, 1]})
        >>> log.irm.explain("recall@3", query="a").select("rank", "gain", "contribution").rows()
        [(1, 1.0, 0.5), (2, 0.0, 0.0), (3, 1.0, 0.5)]
        """
        from frame_metrics.verbs import explain

        asked = read([metric])
        if len(asked) > 1:
            raise BadValueError(f"{asked[0][0]!r} and {asked[1][0]!r} are two metrics; name one")
        ((name, wanted),) = asked
        columns, conventions = self._parts(self._needs(asked) | Needs(query=True, order=True))
        check_asked(asked, columns, conventions, self._judging(columns))
        if wanted.input not in (Ranking, Confusion) or columns.predicted or conventions.threshold is not None:
            raise NotComputableError(f"{name}: explain() is about the results of a ranking")
        if conventions.variant(wanted)[1]:
            raise NotComputableError(
                f"{name}: explain() is about whole rankings, and these are condensed; say unjudged=None"
            )
        if conventions.ties == "expected":
            raise NotComputableError("explain() is about one order of the results; say ties='worst', or name doc=")
        keys = (
            *((columns.system,) if columns.system else ()),
            *columns.by,
            *columns.query,
            *((columns.doc,) if columns.doc else ()),
        )
        check_apart(keys, explain.SCHEMA)

        def run(frame: pl.DataFrame, past: Past) -> Answer:
            rows = explain.rows_of(frame, columns, query)
            log = read_log(frame[rows], columns, conventions, self._qrels(columns, past))
            return explain.explained(log, name, wanted, conventions, rows)

        return self._answer(run, columns, lambda types: {key: types[key] for key in keys} | explain.SCHEMA)

    def bounds(self, *metrics: str | Metric, of: Of, max_grade: float | None = None, per_query: bool = False) -> Frame:
        """Say between which values a metric lies, whatever the order of equal scores or the judgments that are missing.

        Parameters
        ----------
        metrics : names as "ndcg@10", or values as ``frame_metrics.metrics.ndcg @ 10``.
        of : "ties", the worst and the best order of results with equal scores; "unjudged", the least and the greatest
            value over all judgments that the unjudged rows could get, the order of the results being as it is, and an
            undefined value being 0.
        max_grade : the highest grade of the scale 0, 1, 2 ...; metrics of gains need it to bound unjudged rows.
        per_query : whether to return a row per query instead of their mean.

        Returns
        -------
        A frame of the caller's kind: system, by..., metric, k, average, value, lower, upper, tied or judged, n,
        n_undefined. The value and its bounds are averaged as evaluate() does, whose ``average``, ``n`` and
        ``n_undefined`` these are. ``tied`` is the share of queries with equal scores on both sides of the cutoff
        (without one, with any), ``judged`` the share of judged results up to the cutoff, its plain mean over queries.
        With ``per_query``: system, by..., the query columns, metric, k, value, lower, upper, and whether the query is
        tied, or what share of it is judged.

        Raises
        ------
        FrameMetricsError
            A metric has no bounds, max_grade is needed, an undefined query would leave the mean, unjudged rows have
            equal scores that their judgments would order, or what evaluate() raises.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> log = pl.DataFrame({"query": [1, 1, 1], "score": [2.0, 1.0, 1.0], "grade": [1, 1, 0]})
        >>> log.irm.bounds("precision@2", "ap", of="ties").select("metric", "value", "lower", "upper", "tied").rows()
        [('precision@2', 0.5, 0.5, 1.0, 1.0), ('ap', 0.8333333333333333, 0.8333333333333333, 1.0, 1.0)]
        """
        from frame_metrics.verbs import bounds

        check_choice("of", of, get_args(Of))
        asked, max_grade = read(metrics), plain(max_grade)
        columns, conventions = self._parts(self._needs(asked) | Needs(query=True))
        check_asked(asked, columns, conventions, self._judging(columns))
        check_apart(columns.keys, bounds.schema(of, per_query=per_query))
        if of == "unjudged":
            bounds.check_open(asked, columns, conventions, max_grade)
        else:
            bounds.check_ordered(asked)
            if max_grade is not None:
                raise NotComputableError("max_grade= is the scale of unjudged rows; say of='unjudged', or leave it out")

        def run(frame: pl.DataFrame, past: Past) -> Answer:
            log = read_log(frame, columns, conventions, self._qrels(columns, past))
            found = (
                bounds.of_ties(log, asked, conventions)
                if of == "ties"
                else bounds.of_unjudged(log, asked, conventions, max_grade)
            )
            return bounds.answer(found, conventions, of, per_query=per_query)

        def schema(types: dict[str, Any]) -> dict[str, Any]:
            keys = columns.keys if per_query else (*((columns.system,) if columns.system else ()), *columns.by)
            return {name: types[name] for name in keys} | bounds.schema(of, per_query=per_query)

        return self._answer(run, columns, schema)
