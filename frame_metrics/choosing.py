"""The verbs about decisions: by class, as a table, along a curve, at every threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.base import Base, Frame, check_wide
from frame_metrics.border.frames import Past, columns_of
from frame_metrics.data.log import read_log
from frame_metrics.errors import BadValueError, ColumnError, NotComputableError, check_apart, check_choice
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import Asked, read
from frame_metrics.roles.columns import Columns
from frame_metrics.roles.conventions import Conventions
from frame_metrics.roles.needs import Needs, decision_of
from frame_metrics.verbs.evaluate import check_asked, measure
from frame_metrics.verbs.tidy import averaged, each_query

if TYPE_CHECKING:
    from frame_metrics.data.cases import Cases

Per = Literal["query"]
COUNTS = ("tp", "fp", "fn", "tn")


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Deciding(Base[Frame]):
    """What can be asked about decisions. Rows are pooled within a segment."""

    def per_class(self, *metrics: str | Metric) -> Frame:
        """Compute metrics for every class against the rest.

        Parameters
        ----------
        metrics : measures of the 2x2 table, as "recall", or of scores where each class has one, as "roc_auc".

        Returns
        -------
        A frame of the caller's kind: system, by..., class, metric, value, n (rows of the segment), n_undefined. Classes
        that a segment does not have are left out, unless ``classes=`` names them.

        Raises
        ------
        FrameMetricsError
            What is asked for does not exist or cannot be computed from these columns, or a value in them is bad.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> animals = pl.DataFrame({"label": ["cat", "cat", "dog", "owl"], "predicted": ["cat", "dog", "dog", "owl"]})
        >>> animals.irm.per_class("recall").select("class", "value").rows()
        [('cat', 0.5), ('dog', 1.0), ('owl', 1.0)]
        """
        from frame_metrics.verbs.per_class import by_class
        from frame_metrics.verbs.pooled import check_pooled

        asked = read(metrics)
        columns, conventions = self._parts(self._needs(asked))
        check_pooled(asked, "macro")
        self._check_pooled(columns, conventions, ("class", "metric", "value", "n", "n_undefined"))

        def run(frame: pl.DataFrame, past: Past) -> Answer:
            return by_class(self._cases(frame, past, columns, conventions, named=True), asked, conventions)

        columns = {"metric": pl.String, "value": pl.Float64, "n": pl.Int64, "n_undefined": pl.Int64}
        return self._pooled(run, columns, lambda types: {"class": _class_type(types, columns, conventions)} | columns)

    def confusion(self) -> Frame:
        """Count every pair of a predicted and a true class.

        Returns
        -------
        A frame of the caller's kind: system, by..., predicted, actual, n (rows, or their weight), zeros included. A
        null ``predicted`` is no prediction. With ``match``, ``predicted`` is the cluster, and a column ``matched``
        after it the class that it was taken for.

        Raises
        ------
        FrameMetricsError
            Nothing says what is predicted, or a value in the columns is bad.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> cases = pl.DataFrame({"label": [1, 1, 0, 0], "predicted": [1, 0, 0, 0]})
        >>> cases.irm.confusion().rows()
        [(0, 0, 2), (0, 1, 1), (1, 0, 0), (1, 1, 1)]
        """
        from frame_metrics.data.classes import class_type
        from frame_metrics.verbs.per_class import confusions

        needs = decision_of(self.roles, columns_of(self.frame), "confusion()", judged=False, retrieved=False)
        columns, conventions = self._parts(needs)
        self._check_pooled(columns, conventions, ("predicted", "matched", "actual", "n"))
        if conventions.match is not None and columns.predicted is None:
            raise ColumnError("match= is about predicted clusters; name predicted=")

        def run(frame: pl.DataFrame, past: Past) -> Answer:
            return confusions(self._cases(frame, past, columns, conventions, named=True), conventions)

        def schema(types: dict[str, Any]) -> dict[str, Any]:
            kind, said = (
                _class_type(types, columns, conventions),
                None if conventions.match is None else types[str(columns.predicted)],
            )
            found = {"predicted": kind} if said is None else {"predicted": class_type(said), "matched": kind}
            return found | {"actual": kind, "n": pl.Float64 if columns.weight else pl.Int64}

        return self._pooled(run, columns, schema)

    def thresholds(self, *metrics: str | Metric) -> Frame:
        """Decide at every threshold: a row is predicted positive when its score is at least the threshold.

        Parameters
        ----------
        metrics : measures of the 2x2 table.

        Returns
        -------
        A frame of the caller's kind: system, by..., threshold, tp, fp, fn, tn, and a column per metric. In a segment's
        first row the threshold is infinite and nothing is predicted; then comes a row for each distinct score.

        Raises
        ------
        FrameMetricsError
            What is asked for does not exist or is no measure of the 2x2 table, or a value in the columns is bad.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> cases = pl.DataFrame({"label": [1, 0, 1, 0], "score": [0.9, 0.6, 0.6, 0.1]})
        >>> cases.irm.thresholds("accuracy").select("threshold", "tp", "fp", "accuracy").rows()
        [(inf, 0, 0, 0.5), (0.9, 1, 0, 0.75), (0.6, 2, 1, 0.75), (0.1, 2, 2, 0.5)]
        """
        from frame_metrics.verbs import thresholds as at_thresholds

        asked = read(metrics) if metrics else []
        columns, conventions = self._ready(asked)

        def run(frame: pl.DataFrame, past: Past) -> Answer:
            return at_thresholds.every(self._binary(frame, past, columns, conventions), asked, conventions)

        return self._pooled(run, columns, lambda types: at_thresholds.schema(asked, columns))

    def best_threshold(self, metric: str | Metric, subject_to: Mapping[str | Metric, float] | None = None) -> Frame:
        """Choose the threshold at which a metric is best; of equal ones, to 1e-12, the highest.

        Parameters
        ----------
        metric : a measure of the 2x2 table, as "f1", "informedness", "closest" (to the ideal corner of the ROC plane),
            "balanced_accuracy(sensitivity=0.8)", or "cost(fp=1, fn=5)", which is best when least.
        subject_to : metrics and the values that they have to reach, or, where less is better, not to pass, as
            ``{"specificity": 0.9, "fallout": 0.05}``.

        Returns
        -------
        A frame of the caller's kind with one row per segment: system, by..., threshold, tp, fp, fn, tn, the metric, and
        those of ``subject_to``.

        Raises
        ------
        FrameMetricsError
            No threshold meets ``subject_to``; the error says the best that can be had. Or what is asked for does not
            exist, or a value in the columns is bad.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> cases = pl.DataFrame({"label": [1, 0, 1, 0], "score": [0.9, 0.6, 0.5, 0.1]})
        >>> cases.irm.best_threshold("f1").select("threshold", "f1").rows()
        [(0.5, 0.8)]
        >>> cases.irm.best_threshold("f1", subject_to={"fallout": 0.1}).select("threshold", "fallout").rows()
        [(0.9, 0.0)]
        """
        from frame_metrics.verbs import thresholds as at_thresholds

        ((name, wanted),) = _one(read([metric]))
        limits = {}
        if subject_to is not None and not isinstance(subject_to, Mapping):
            raise BadValueError(f"subject_to={subject_to!r} is not a mapping from metrics to values")
        for given, bound in (subject_to or {}).items():
            ((text, limit),) = _one(read([given]))
            if isinstance(bound, bool) or not isinstance(bound, int | float) or bound != bound:
                raise BadValueError(f"subject_to: {text}={bound!r} is not a number")
            limits[text] = (limit, float(bound))
        asked = [(name, wanted), *((text, limit) for text, (limit, _) in limits.items() if text != name)]
        for text, one in asked:
            if one.higher is None:
                raise NotComputableError(f"{text}: no value of it is better than another")
        columns, conventions = self._ready(asked)

        def run(frame: pl.DataFrame, past: Past) -> Answer:
            return at_thresholds.best(
                self._binary(frame, past, columns, conventions), name, wanted, limits, conventions
            )

        return self._pooled(run, columns, lambda types: at_thresholds.schema(asked, columns))

    def curve(
        self,
        kind: str,
        *,
        per: Per | None = None,
        levels: int | Sequence[float] | None = None,
        interpolated: bool = False,
        points: int | None = None,
        bins: int | None = None,
        cutoffs: int | Sequence[int] | None = None,
    ) -> Frame:
        """Give the points of a curve.

        Parameters
        ----------
        kind : "roc": threshold, fpr, tpr. "pr": threshold, recall, precision, as it saws. "gain": threshold, share (of
            the rows that are predicted), gain (the share of the relevant ones among them). "calibration": predicted,
            observed, n, by bins of equal width. A metric of a ranking with ``@k``, as "ndcg@k": k, value.
        per : "query" gives each query a curve; by default the rows of a segment are pooled.
        levels : of "pr", recall levels at which the greatest precision at that recall or a higher one is given: a list,
            or how many from 0 to 1, as 11; with ``per="query"``, the mean over the queries.
        interpolated : of "pr", whether precision is the greatest at that recall or a higher one.
        points : keep at most so many points of each "roc", "pr" or "gain" curve. No point that is left out is further
            than 2 / (points - 2), both axes taken together, from one that is kept; of "pr", further than
            (1 + ln(1 + rows)) / (points - 2) on either axis from the curve through those.
        bins : of "calibration", 10 by default.
        cutoffs : of "ndcg@k" and its like, the cutoffs, or the last of them; 10 by default.

        Returns
        -------
        A frame of the caller's kind: system, by... (, the query columns), and the columns of the curve. The first
        point of a curve has an infinite threshold: nothing is predicted, and precision is set to 1.

        Raises
        ------
        FrameMetricsError
            A curve or an option of it does not exist, or a value in the columns is bad.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> cases = pl.DataFrame({"label": [1, 0, 1, 0], "score": [0.9, 0.6, 0.5, 0.1]})
        >>> cases.irm.curve("roc").rows()
        [(inf, 0.0, 0.0), (0.9, 0.0, 0.5), (0.6, 0.5, 0.5), (0.5, 0.5, 1.0), (0.1, 1.0, 1.0)]
        >>> cases.irm.curve("pr", levels=[0.5, 1]).select("recall", "precision").rows()
        [(0.5, 1.0), (1.0, 0.6666666666666666)]
        """
        from frame_metrics.verbs import curves

        options = {"levels": levels, "interpolated": interpolated or None, "points": points, "bins": bins}
        curves.check(kind, options | {"cutoffs": cutoffs})
        if not isinstance(interpolated, bool):
            raise BadValueError(f"interpolated={interpolated!r} is not True or False")
        if per is not None:
            check_choice("per", per, get_args(Per))
        if kind not in curves.COLUMNS:
            return self._by_cutoff(kind, per, 10 if cutoffs is None else cutoffs)
        at = curves.recall_levels(levels)
        columns, conventions = self._parts(Needs(score=True, query=per is not None or self.judgments is not None))
        self._check_pooled(columns, conventions, curves.COLUMNS[kind])
        _no_threshold(conventions)
        query = [f"query:{i}" for i in range(len(columns.query))] if per else []

        def run(frame: pl.DataFrame, past: Past) -> Answer:
            cases = self._binary(frame, past, columns, conventions)
            return curves.curve(
                cases,
                kind,
                conventions,
                query=query,
                levels=at,
                interpolated=interpolated,
                points=points,
                bins=bins or 10,
            )

        columns: dict[str, Any] = dict.fromkeys(curves.COLUMNS[kind], pl.Float64)
        if kind == "calibration" and not (columns.weight and not columns.query):
            columns["n"] = pl.Int64
        keys = columns.keys if per and at is None else None
        return self._pooled(run, columns, lambda types: columns, keys)

    def _by_cutoff(self, kind: str, per: Per | None, cutoffs: int | Sequence[int]) -> Frame:
        """A ranked metric at each cutoff."""
        from frame_metrics.verbs.curves import cutoffs_of

        ((_, metric),) = _one(read([kind[:-2]]))
        asked = [(f"{kind[:-2]}@{k}", metric @ k) for k in cutoffs_of(cutoffs)]
        columns, conventions = self._parts(self._needs(asked))
        check_asked(asked, columns, conventions, self._judging(columns))
        check_apart(columns.keys, ("k", "value"))

        def run(frame: pl.DataFrame, past: Past) -> Answer:
            found = measure(read_log(frame, columns, conventions, self._qrels(columns, past)), asked, conventions)
            whole = (
                each_query(found, conventions, "long") if per else averaged(found, conventions, "macro", layout="long")
            )
            return Answer(whole.keys, {name: whole.columns[name] for name in ("k", "value")})

        columns = {"k": pl.Int64, "value": pl.Float64}
        return self._pooled(run, columns, lambda types: columns, columns.keys if per else None)

    def _ready(self, asked: Asked) -> tuple[Columns, Conventions]:
        """The columns that a threshold is compared with."""
        from frame_metrics.verbs import thresholds as at_thresholds

        columns, conventions = self._parts(Needs(score=True, query=self.judgments is not None))
        at_thresholds.check_thresholds(asked, conventions)
        _no_threshold(conventions)
        self._check_pooled(columns, conventions, ("threshold", *COUNTS))
        names = [name for name, _ in asked]
        for name in names:
            if name in ("threshold", *COUNTS):
                raise BadValueError(f"{name!r} is a column of the result already")
        check_wide(asked, columns, "wide")
        return columns, conventions

    def _binary(self, frame: pl.DataFrame, past: Past, columns: Columns, conventions: Conventions) -> Cases:
        cases = self._cases(frame, past, columns, conventions)
        if not cases.binary:
            raise ColumnError(
                "there are several classes, and a threshold parts one from the rest; name it with positive="
            )
        return cases

    def _check_pooled(self, columns: Columns, conventions: Conventions, result: Sequence[str]) -> None:
        """Raise where pooled rows would not be what the roles say."""
        if columns.size or not (conventions.size is None or conventions.size is True):
            raise ColumnError("collection_size=: what is counted here are the rows; say collection_size=None")
        if columns.query and columns.weight:
            raise ColumnError(f"rows are pooled here, and {columns.weight} is the weight of a query; say weight=None")
        check_apart(columns.keys, result)

    def _pooled(self, run: Any, columns: Columns, schema: Any, keys: Sequence[str] | None = None) -> Frame:
        own = (*((columns.system,) if columns.system else ()), *columns.by) if keys is None else keys
        return self._answer(run, columns, lambda types: {name: types[name] for name in own} | schema(types))


def _no_threshold(conventions: Conventions) -> None:
    if conventions.threshold is not None:
        raise ColumnError("threshold= is one threshold, and every threshold is looked at; say threshold=None")


def _one(asked: Asked) -> Asked:
    if len(asked) > 1:
        raise BadValueError(f"{asked[0][0]!r} and {asked[1][0]!r} are two metrics; name one")
    return asked


def _class_type(types: dict[str, Any], columns: Columns, conventions: Conventions) -> Any:
    """The type of the classes, known before anything is read."""
    from frame_metrics.data.classes import class_type

    if not columns.label:
        return pl.Boolean
    return class_type(
        types[columns.label], types[columns.predicted] if columns.predicted and conventions.match is None else None
    )
