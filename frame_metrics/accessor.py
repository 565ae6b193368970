"""The object behind ``df.irm``: a frame, the part that each column plays, and the verbs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args, overload

import polars as pl

from frame_metrics.answer import Answer
from frame_metrics.auditing import Auditing
from frame_metrics.base import Frame, check_wide
from frame_metrics.border.frames import Past, check_frame
from frame_metrics.choosing import Deciding
from frame_metrics.comparing import Comparing
from frame_metrics.data.log import read_log
from frame_metrics.errors import BadValueError, ColumnError, check_choice, check_level, check_whole
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.names import read
from frame_metrics.roles.needs import Needs
from frame_metrics.roles.roles import Roles
from frame_metrics.verbs.evaluate import check_asked, measure
from frame_metrics.verbs.tidy import averaged, each_query, schema

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from typing_extensions import Unpack

Average = Literal["macro", "weighted", "micro", "gmean", "predicted"]
Layout = Literal["long", "wide"]


class ArrowStream(Protocol):
    """Anything that exports Arrow."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


@dataclass(frozen=True, eq=False, repr=False, init=False)
class IRM(Comparing[Frame], Deciding[Frame], Auditing[Frame]):
    """The parts that the columns of a frame play, and what can be computed from them.

    ``df.irm(...)`` and ``IRM(df, ...)`` give the same object. It is frozen: a call changes roles and gives a new
    object, ``role=None`` takes a role back. Nothing is read before a verb is called.

    Parameters
    ----------
    frame : a pandas or polars DataFrame, a LazyFrame, or anything that exports Arrow. Results are of the same kind.
    query : the column, or columns, of the query id, of any type.
    score : the system's score, higher is better; null where a document is known and was not retrieved. Of several
        classes, a mapping from each class to the column of its score.
    rank : the position that was shown, from 1; gaps are real positions. It goes before ``score`` where both are named.
    label : relevant or not, bool or 0 and 1, or the true class; null where not judged.
    grade : graded relevance; without ``label``, relevant means ``grade >= rel``.
    predicted : the system's decision, or the class that it predicts; null where it makes none.
    doc : the document id: orders equal scores, finds duplicates, joins judgments.
    system : the run or ranker; every system is measured on every judged query.
    by : what a query is (its device, locale, day): each segment is evaluated by itself.
    weight : of a query, in the mean, one value per query; without a query, of a row, and counts become sums of weights.
    cluster : which queries belong together (their user, their session, their text), one value per query; without a
        query, which rows. Intervals and tests then take clusters, and not queries or rows, as independent.
    n_relevant : how many relevant documents the query has in all, where the frame holds only those retrieved.
    rel : the least grade that is relevant, 1 by default.
    collection_size : the number of documents in the collection, a column of it, or True if the frame lists all.
    ties : how equal scores are ordered: "doc" (by document id, descending, as trec_eval; the default with ``doc``),
        "worst" (the default otherwise), "best", "order" (as in the frame) or "expected" (in every way, and the metric
        is its mean over them).
    undefined : what a metric that is a/0 becomes: "zero", "one", "null" or "raise"; by default what its reference does.
    unjudged : "drop" takes unjudged documents out of the rankings; by default they count as not relevant.
    duplicates : "first" keeps the best place of a document that stands twice; by default ("error") that is an error.
    positive : the label, and prediction, that is relevant, where they are not 0 and 1.
    classes : the classes in their order, where there are several; by default those that stand on either side, sorted.
    threshold : a row is predicted positive when its score is at least this.
    abstain : predicted classes that are no decision, as "other".
    match : predicted classes are clusters, each to be taken for a true class: "best" one to one, so that most rows are
        right, or "majority", several to one.

    Raises
    ------
    FrameMetricsError
        A role or option that does not exist, or has a value it cannot have.

    Examples
    --------
    >>> import polars as pl, frame_metrics
    >>> log = pl.DataFrame({"qid": [1, 1, 2, 2], "bm25": [2.0, 1.0, 3.0, 2.5], "rating": [0, 3, 1, 0]})
    >>> log.irm(query="qid", score="bm25", grade="rating")
    IRM(polars.DataFrame, query='qid', score='bm25', grade='rating')
    """

    if TYPE_CHECKING:

        @overload
        def __init__(self: IRM[pl.DataFrame], frame: pl.DataFrame, **roles: Unpack[Roles]) -> None: ...
        @overload
        def __init__(self: IRM[pl.LazyFrame], frame: pl.LazyFrame, **roles: Unpack[Roles]) -> None: ...
        @overload
        def __init__(self: IRM[pd.DataFrame], frame: pd.DataFrame, **roles: Unpack[Roles]) -> None: ...
        @overload
        def __init__(self: IRM[pa.Table], frame: ArrowStream, **roles: Unpack[Roles]) -> None: ...

    def __init__(self, frame: Any, **roles: Unpack[Roles]) -> None:
        check_frame(frame)
        self._set(frame, roles, None)

    def judge(
        self,
        qrels: Any,
        *,
        query: str | Sequence[str] | None = None,
        doc: str | None = None,
        grade: str | None = None,
        label: str | bool | None = None,
    ) -> IRM[Frame]:
        """Keep judgments beside the frame, to be joined by query and document when a metric is computed.

        Every system is then measured against all judgments, on every judged query: 0 where it has no results. Columns
        that are not named are called as in the log, or as the role; ``by``, ``weight`` and ``cluster`` columns may
        stand among them.

        Parameters
        ----------
        qrels : a frame of any kind, one row per judged query and document.
        query, doc : their columns.
        grade, label : the judgment; ``label=True`` says that every row is relevant.

        Raises
        ------
        FrameMetricsError
            A column is not there. When a metric is computed: two grades for one pair, ids of different types, or no id
            that matches.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> run = pl.DataFrame({"query": ["a", "a"], "doc": ["x", "y"], "score": [2.0, 1.0]})
        >>> qrels = pl.DataFrame({"query": ["a", "a", "b"], "doc": ["y", "z", "x"], "grade": [1, 1, 1]})
        >>> run.irm.judge(qrels).per_query("recall", layout="wide")["recall"].to_list()
        [0.5, 0.0]
        """
        check_frame(qrels)
        if label is True and grade is not None:
            raise ColumnError(
                "label=True says that every row is relevant, and leaves no part for grade=; name one of them"
            )
        given = {"query": query, "doc": doc, "grade": grade, "label": label}
        other = self._with(self.roles, (qrels, given))
        other._parts(Needs(query=True))
        return other

    def evaluate(
        self,
        *metrics: str | Metric,
        average: Average = "macro",
        ci: float | None = None,
        margins: bool = False,
        layout: Layout = "long",
        resamples: int = 1000,
        seed: int = 0,
    ) -> Frame:
        """Average metrics over queries, for each system and segment.

        Parameters
        ----------
        metrics : names as "ndcg@10", or values as ``frame_metrics.metrics.ndcg @ 10``.
        average : "macro", the mean over queries; "weighted", which naming ``weight`` makes of it; "micro", the metric
            of the summed counts of the 2x2 table; "gmean", the geometric mean. Counts are summed. Over several classes:
            "macro", "weighted" (by their rows), "micro", "predicted" (by how often each is predicted). Rows of two
            classes without a query are pooled.
        ci : level of a percentile bootstrap interval over queries, or over pooled rows, as 0.95; where ``cluster`` is
            named, over clusters of them. Null for fewer than two.
        margins : whether to add the total over all segments, and with several ``by`` columns those of each.
        layout : "long", a row per metric, or "wide", a column per metric.
        resamples, seed : of the bootstrap.

        Returns
        -------
        A frame of the caller's kind: system, by..., metric, k, average, value, n, n_undefined (, ci_low, ci_high).
        ``n`` is the number of queries, or of pooled rows, that the value rests on; ``n_undefined`` that of queries,
        classes or segments where the metric is a/0.

        Raises
        ------
        FrameMetricsError
            What is asked for does not exist or cannot be computed from these columns, or a value in them is bad.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> log = pl.DataFrame({"query": [1, 1, 2, 2], "score": [2.0, 1.0, 3.0, 2.5], "grade": [0, 3, 1, 0]})
        >>> log.irm.evaluate("rr", "precision@1", layout="wide").rows()
        [('macro', 2, 0.75, 0.5)]
        """
        from frame_metrics.verbs import pooled as deciding

        check_choice("average", average, get_args(Average))
        check_choice("layout", layout, get_args(Layout))
        if ci is not None:
            check_level(ci)
        check_whole("resamples", resamples, 1)
        check_whole("seed", seed, 0)
        asked = read(metrics)
        columns, conventions = self._parts(self._needs(asked))
        if columns.query:
            check_asked(asked, columns, conventions, self._judging(columns), average)
        else:
            deciding.check_pooled(asked, average, ci=ci is not None)
        if not isinstance(margins, bool):
            raise BadValueError(f"margins={margins!r} is not True or False")
        if margins and not columns.by:
            raise ColumnError("margins=True adds the totals over segments; name the segments with by=")
        check_wide(asked, columns, layout, ci is not None)
        given: Any = {"margins": margins, "ci": ci, "resamples": resamples, "seed": seed, "layout": layout}

        def run(frame: pl.DataFrame, past: Past) -> Answer:
            if not columns.query:
                return deciding.evaluated(
                    self._cases(frame, past, columns, conventions), asked, conventions, average, **given
                )
            log = read_log(frame, columns, conventions, self._qrels(columns, past), queries=False)
            found = measure(log, asked, conventions, average)
            return averaged(found, conventions, average, **given)

        keys = (*((columns.system,) if columns.system else ()), *columns.by)
        return self._answer(
            run, columns, partial(schema, asked, keys, layout=layout, ci=ci is not None, margins=margins)
        )

    def per_query(self, *metrics: str | Metric, layout: Layout = "long") -> Frame:
        """Compute metrics for every query that is judged.

        Parameters
        ----------
        metrics : names as "ndcg@10", or values as ``frame_metrics.metrics.ndcg @ 10``.
        layout : "long", a row per query and metric, or "wide", a column per metric.

        Returns
        -------
        A frame of the caller's kind: system, by..., the query columns, metric, k, value; null where undefined, unless
        the metric's reference says 0.

        Raises
        ------
        FrameMetricsError
            What is asked for does not exist or cannot be computed from these columns, or a value in them is bad.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> log = pl.DataFrame({"query": ["b", "b", "a"], "score": [2.0, 1.0, 3.0], "grade": [0, 3, 1]})
        >>> log.irm.per_query("rr", layout="wide").rows()
        [('b', 0.5), ('a', 1.0)]
        """
        check_choice("layout", layout, get_args(Layout))
        asked = read(metrics)
        columns, conventions = self._parts(self._needs(asked) | Needs(query=True))
        check_asked(asked, columns, conventions, self._judging(columns))
        check_wide(asked, columns, layout)

        def run(frame: pl.DataFrame, past: Past) -> Answer:
            return each_query(
                measure(read_log(frame, columns, conventions, self._qrels(columns, past)), asked, conventions),
                conventions,
                layout,
            )

        return self._answer(run, columns, partial(schema, asked, columns.keys, layout=layout, each_query=True))
