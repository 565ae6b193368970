"""The object behind ``df.irm``: a frame, the roles of its columns, and the verbs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Any, Generic, Literal, Never, Protocol, TypeVar, get_args, overload

import polars as pl

from frame_metrics.backends.frames import backend_of
from frame_metrics.backends.free_threads import check_lock
from frame_metrics.backends.nested import unnested
from frame_metrics.errors import BadValueError, ColumnError, check_choice, no_such_verb, quote
from frame_metrics.metrics.metric import Metric
from frame_metrics.metrics.parameters import plain
from frame_metrics.misuse import RENAMED, Written, option_of, refuse_positional, verb
from frame_metrics.plan.call import bind
from frame_metrics.plan.declared import JUDGE
from frame_metrics.plan.expressions import with_columns_made
from frame_metrics.plan.given import Given
from frame_metrics.plan.needs import Needs
from frame_metrics.plan.plan import Plan, plan_of
from frame_metrics.plan.proxy import judgments_of, proxy_of
from frame_metrics.roles.columns import SET_ASIDE
from frame_metrics.roles.roles import Roles, Several, check_column, checked_roles, names_as_text

if TYPE_CHECKING:
    from typing import Self

    import pandas as pd
    import pyarrow as pa
    import pyarrow.dataset as ds
    from typing_extensions import Unpack

    from frame_metrics.backends.trec import FilePath
    from frame_metrics.measuring.rows import OverClasses
    from frame_metrics.metrics.names import Metrics
    from frame_metrics.plan.checks import Average, IntervalMethod, Layout
    from frame_metrics.plot.of_irm import Pictures
    from frame_metrics.roles.roles import Column, Columns
    from frame_metrics.verbs.agreement import MeasurementLevel
    from frame_metrics.verbs.audit.gate import FailOn
    from frame_metrics.verbs.bounds.bounds import BoundsOf
    from frame_metrics.verbs.bounds.next_judgments import JudgingWay
    from frame_metrics.verbs.click_judgments import ClickModel
    from frame_metrics.verbs.compare.interleaving import Preference
    from frame_metrics.verbs.compare.margins import Margin
    from frame_metrics.verbs.compare.options import Against, Correction, Family, Looks, Test
    from frame_metrics.verbs.curves import PerQuery
    from frame_metrics.verbs.overview import Overview
    from frame_metrics.verbs.propensities import Estimator

check_lock()  # polars is imported, which turns the lock on unless Python was told not to
Frame = TypeVar("Frame")
Method = TypeVar("Method", bound=Callable[..., Any])


_KINDS = {name: Written(kind.__forward_arg__) for name, kind in Roles.__annotations__.items()}
_LEFT_OUT = Written("...")
_ROLES = [Parameter(name, Parameter.KEYWORD_ONLY, default=_LEFT_OUT, annotation=kind) for name, kind in _KINDS.items()]


def _shows_roles(method: Method) -> Method:
    """Give a method that takes any roles a signature that names them, for help() and for notebooks."""
    first = [p for p in signature(method).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    method.__signature__ = Signature([*first, *_ROLES])  # type: ignore[attr-defined]
    return method


class ArrowStream(Protocol):
    """Anything that exports Arrow."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


class Relation(Protocol):
    """A relation of DuckDB."""

    def sql_query(self) -> str: ...


class Partitioned(Protocol):
    """A DataFrame of Dask."""

    @property
    def npartitions(self) -> Any: ...


# What has results of its own kind.
SameKind = TypeVar("SameKind", bound="pl.DataFrame | pl.LazyFrame | pd.DataFrame | pa.Table | Relation | Partitioned")


def _with_roles(baseline: Any) -> Any:
    """Return a baseline as verbs take it: an irm as the frame with its roles, any other value unchanged."""
    return baseline._named if isinstance(baseline, IRM) else baseline


def _given(options: type[Any], given: Mapping[str, Any]) -> Any:
    """Return the options of a verb; what is no parameter of its method has a default."""
    return options(**{name: given[name] for name in options.__dataclass_fields__ if name in given})


def _compared(baseline: Any, covariate: Any, strata: Any, margin: Any) -> dict[str, Any]:
    """Return the options of the comparisons of a report; those that are not given are left out."""
    from frame_metrics.verbs.compare.strata import strata_read

    strata = None if strata is None else strata_read(strata)
    given = {"covariate": covariate, "strata": strata, "margin": margin}
    return {"baseline": _with_roles(baseline)} | {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True, eq=False, repr=False, init=False)
class IRM(Generic[Frame]):
    """A frame, the roles of its columns, and the verbs that compute from them.

    ``df.irm(...)`` and ``IRM(df, ...)`` give the same object. It is frozen: a call gives a new object with other roles,
    and ``role=None`` removes a role. Nothing is read before a verb is called.

    Columns called ``query``, ``score``, ``label``, ``grade`` and ``predicted`` are found by name, with a query also
    ``rank`` and ``doc``, whatever you ask for; ``role=None`` sets one aside. A column with another role is not found by
    name. If you name one of score and rank, or of label and grade, the other is not found either; after ``judge`` nor
    are the log's label and grade. The repr shows what was found.

    A row may be a whole query: if ``doc``, ``score``, ``rank``, ``label``, ``grade`` or ``predicted`` hold lists, these
    are its results, and all lists of a row have the same length. Without scores or ranks the lists are in rank order.
    Without a query each row is one, and results call it ``row``, from 0. A row without results is a query that found
    nothing.

    A role takes the name of a column or an expression: of polars, ``pd.col(...)`` of pandas 3, or a function of the
    frame, which is called once. Its name is its alias, else the name of the one column that it reads.

    Parameters
    ----------
    frame : a pandas or polars DataFrame, a LazyFrame, a DuckDB relation, a Dask DataFrame, a dataset or scanner of
        pyarrow, or anything that exports Arrow. Results are of the same kind. A relation gives one on the same
        connection, and Arrow gives pyarrow Tables. Or a run as a dict, ``{query: {document: score}}``, which becomes a
        polars DataFrame with the columns query, doc and score.

    What the rows are
    -----------------
    query : the column, or columns, of the query id, of any type.
    doc : the document id: orders equal scores, finds duplicates, joins judgments; without a query, the id of the case,
        by which ``compare`` pairs the rows of systems; systems that are columns pair by row, and need none.
    score : the system's score, higher is better; null if a document is known but was not retrieved. For several
        classes, a mapping from each class to the column of its score.
    rank : the position that was shown, from 1; gaps are real positions. It overrides ``score`` if both are named. One
        of ``score``, ``rank`` and ``predicted`` may be a list of columns: each is a system with the column's name.
    label : relevant or not, bool or 0 and 1, or the true class; null if not judged.
    grade : graded relevance, a number, or a word with ``scale``; without ``label``, relevant means ``grade >= rel``.
    predicted : the system's decision, or the class that it predicts; null for no decision.
    relevant : lists of the ids of all documents that are relevant to the row's query; others are not. An empty list
        means that none is; with a null one the query is not evaluated.
    value : a number that was computed elsewhere (saved output of ``per_query``, a judge's score, a latency), one for
        each query and metric, null if undefined; or several columns. The frame's column "metric" names the metric, else
        the name of the value column does. Goes with ``query``, ``system``, ``arm``, ``by``, ``weight`` and ``cluster``,
        and into ``evaluate``, ``per_query``, ``compare``, ``ab_test``, ``change``, ``sample_size`` and ``audit``.

    Segments and units
    ------------------
    system : the run or ranker; every system is measured on every judged query, see ``unanswered``.
    arm : in the place of ``system``, a part of the traffic with queries of its own: an arm of an online test, a week, a
        shop. Each is measured on its own queries, as with ``by``. ``ab_test`` and ``change`` compare them.
    by : a property of the query (its device, locale, day): each segment is evaluated by itself.
    weight : the weight of a query in the mean, one value per query; without a query, the weight of a row, and counts
        become sums of weights.
    count : how many rows a row stands for, a whole number, without a query: a table that was already counted. Counts,
        ``n`` and intervals are those of the rows that it stands for, times ``weight`` if both are named.
    cluster : which queries belong together (their user, their session, their text), one value per query; without a
        query, which rows. Intervals and tests then treat clusters as independent, instead of queries or rows.
    team : the system that contributed the row of an interleaved list, of any type; null for a shared row, which credits
        none. ``interleaving`` says which team users prefer, and ``audit`` counts the lists that compare none. For other
        verbs, which read whole lists, use ``team=None``.

    Conventions
    -----------
    rel : the lowest grade that is relevant, 1 by default; it may be a word of ``scale``. It is required if some grades
        lie between 0 and 1 and others reach 1.
    scale : the grade of each word, as ``{"Exact": 3, "Irrelevant": 0}``, if grades are text, categories or other codes;
        the grade None means that the word is no judgment. Gains and other grades are then those numbers.
    ties : how equal scores are ordered: "doc" (by document id, descending, as trec_eval; the default with ``doc``),
        "worst" (the default otherwise), "best", "order" (as in the frame) or "expected" (the mean of the metric over
        all orders).
    undefined : the value of an undefined metric: "zero", "one", "null", or "raise" for an error; by default that of its
        reference.
    unjudged : what rows with a null label or grade are. Of rankings, "negative" (the default) counts them as not
        relevant, and "drop" removes them. Without a query they are an error by default: "drop" leaves them out, which
        is right only if yes and no become known at the same time; "negative" counts them as no, of two classes.
    unjudged_queries : "count" also evaluates queries without a single judgment, as queries without a relevant document:
        ``judged@k`` and ``ndcg`` are then 0. By default they are left out; ``audit`` counts them in either case.
    unanswered : "drop" leaves out, for each system, the judged queries of which it has no row, as if it had not been
        asked them, and in a comparison those of which one of the two has none. By default ("zero") it counts as having
        found nothing, which is 0 in most metrics. ``n_unanswered`` counts them in either case. A query with a row but
        no result (an empty list, a null score) is answered. Of systems that are columns, those with a result answer. In
        saved numbers (``value``) the column ``answered`` says it, which "drop" requires.
    duplicates : "first" keeps the best place of a repeated document; by default ("error") a repeated document is an
        error.
    n_relevant : how many relevant documents the query has in all, if the frame holds only those retrieved; not together
        with judgments or ``relevant``, which list them.
    collection_size : the number of documents in the collection, a column of it, or True if the frame lists all.

    Decisions and classes
    ---------------------
    positive : the label, and prediction, that is relevant, or a list of them, if they are not 0 and 1. Tables then show
        true and false. A text that is in no row, where one is that differs in case or spaces only, is an error; texts
        of a list are meant as they are.
    classes : the classes in their order, if there are several; by default those found on either side, sorted.
    threshold : a row is predicted positive if its score is at least this: a number, or a column with the threshold of
        each row, such as that of its segment.
    abstain : a list of predicted classes that mean no decision, as ["other"].
    match : how clusters (predicted classes) are matched to true classes: one to one, "best", so that most rows are
        right, or "informedness", by what a bookmaker pays; several to one, "majority", by most of its rows, or
        "payoff", by what a bookmaker pays. Measures of the clusters themselves (``conditional_entropy``,
        ``rand_index``) need none of them.

    Clicks
    ------
    propensity : the chance that each result was looked at, above 0 and at most 1: a column, or, read at the rank that
        was shown, a mapping from ranks or the frame that ``propensities`` returns. Metrics that add over results
        (``dcg``, ``cg``, ``precision@10``, ``clicks_per_query``) then weight each by 1 / propensity, and
        ``n_effective`` is the number of results with equal weights that would be as informative; others that read
        clicks are an error. With ``target_propensity`` it is the chance with which the logging policy placed the result
        there.
    target_propensity : the chance with which another policy would place it there, given in the same way. Weights are
        then target_propensity / propensity, and ``sips``, ``iips`` and ``rips`` estimate the value of that policy.
    clip : the largest weight, by default unlimited. ``audit`` counts the results that it caps.

    Documents
    ---------
    group : the group of a document, of any type that has a text: ``exposure_share(of="a")`` reads it; null is no group.
    popularity : how often documents are chosen, for ``novelty`` and ``average_popularity``: a mapping from documents to
        counts; a column of the log (for ``novelty``, shares of all choices); or a frame with the documents in a column
        called like ``doc``, one row for each choice. The frame may be counted already: then a column "popularity", or a
        single column of numbers called "count", "counts", "len", "n" or "frequency", has the number of choices, and
        rows of a document are added up. Other numbers, beside documents that appear once each, are an error. Documents
        that a frame or mapping lacks were never chosen.
    catalogue : the documents that could be shown, for ``catalogue_coverage`` and ``catalogue_gini``: their number, or a
        frame of them, in a column called like ``doc``.

    Large files
    -----------
    memory : the memory that may be used for a frame that is read in batches, a LazyFrame of files or a DuckDB relation:
        bytes, or a text as "2GB"; by default half of the free memory. A larger frame is measured in pieces of whole
        queries.
    temporary : the folder for a temporary file with its rows, if those of a query are not adjacent.

    Own metrics
    -----------
    extra : more columns of numbers, a mapping from the names that your own metrics read, as ``run.column("price")``, to
        columns of the frame; null for no value.

    Raises
    ------
    FrameMetricsError
        A role or option does not exist, or has an invalid value. Verbs also raise it: if what you ask for does not
        exist or cannot be computed from these columns, or if a value in the columns is bad.

    Examples
    --------
    >>> import polars as pl, frame_metrics
    >>> log = pl.DataFrame({"qid": [1, 1, 2, 2], "bm25": [2.0, 1.0, 3.0, 2.5], "rating": [0, 3, 1, 0]})
    >>> log.irm(query="qid", score="bm25", grade="rating")
    IRM of a polars.DataFrame, 4 rows
      query  qid     1, 2
      score  bm25    2.0, 1.0, 3.0, ...
      grade  rating  0, 3, 1
    next: .evaluate("ndcg@10", "map"), .per_query("rr"), .audit()
    >>> log.rename({"qid": "query"}).lazy().irm(score="bm25", grade="rating", rel=2)
    IRM of a polars.LazyFrame
      query  query     found by name
      score  bm25
      grade  rating
      rel=2
    next: .evaluate("ndcg@10", "map"), .per_query("rr"), .audit()
    """

    frame: Any
    _given: Roles
    _judgments: tuple[Any, dict[str, Any]] | None
    _kept: Given | None
    _resolved: Plan | None

    if TYPE_CHECKING:

        @overload
        def __init__(self: IRM[SameKind], frame: SameKind, **roles: Unpack[Roles]) -> None: ...
        @overload
        def __init__(
            self: IRM[pa.Table], frame: ArrowStream | ds.Dataset | ds.Scanner, **roles: Unpack[Roles]
        ) -> None: ...
        @overload
        def __init__(
            self: IRM[pl.DataFrame], frame: Mapping[Any, Mapping[Any, float]], **roles: Unpack[Roles]
        ) -> None: ...

    @_shows_roles
    def __init__(self, frame: Any, *columns: Never, **roles: Unpack[Roles]) -> None:
        refuse_positional(columns)
        frame = unnested(frame, "score")
        backend_of(frame)
        self._set(frame, roles, None)

    def _set(self, frame: Any, roles: Any, judgments: tuple[Any, dict[str, Any]] | None) -> None:
        roles = checked_roles({name: plain(value) for name, value in roles.items()}, option_of)
        given = {name: value for name, value in roles.items() if value is not None or name in SET_ASIDE}
        self._hold(frame=frame, _given=given, _judgments=judgments, _kept=None, _resolved=None)

    def _hold(self, **values: Any) -> None:
        """Set attributes of this object, which nobody else may."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def roles(self) -> Roles:
        """The roles and conventions that were named, as a copy."""
        kept: dict[str, Any] = {name: plain(value) for name, value in self._given.items()}
        return Roles(**kept)  # type: ignore[typeddict-item]

    @_shows_roles
    def __call__(self, *columns: Never, **roles: Unpack[Roles]) -> Self:
        """Return an object with other roles and conventions; those that are not named stay."""
        refuse_positional(columns)
        return self._with({**self._given, **roles}, self._judgments) if roles else self

    def _with(self, roles: Any, judgments: tuple[Any, dict[str, Any]] | None) -> Self:
        other = object.__new__(type(self))
        other._set(self.frame, roles, judgments)
        return other

    def __repr__(self) -> str:
        return self._overview.text()

    def __dir__(self) -> list[str]:
        """Return the verbs and what else is public: dir() sorts, and would put all that is private before them."""
        return [name for name in super().__dir__() if not name.startswith("_")]

    def _repr_html_(self) -> str:
        return self._overview.html()

    if not TYPE_CHECKING:  # which would then take any name

        def __getattr__(self, name: str) -> Never:
            """Raise for a name that is no verb."""
            verbs = [one for one in vars(IRM) if not one.startswith("_")]
            raise AttributeError(name) if name.startswith("_") else no_such_verb(name, verbs, "irm", RENAMED)

    @property
    def _overview(self) -> Overview:
        from frame_metrics.verbs.overview import overview

        return overview(self.frame, self._given, self._judgments, lambda: self._plan)

    @property
    def plot(self) -> Pictures:
        """Pictures: ``irm.plot.pr()`` calls ``curve("pr")`` and draws the result, as an Altair chart.

        Each method takes the options of its verb, and those of the function of ``frame_metrics.plot`` with the same
        name. It needs ``pip install altair vl-convert-python``.
        """
        from frame_metrics.plot.of_irm import Pictures

        return Pictures(self._by_name)

    @property
    def _named(self) -> Given:
        """The frame and its roles, with names in the place of expressions; kept while the frame has its columns."""
        kept = self._kept
        if kept is None or not kept.columns_unchanged:
            kept = with_columns_made(self.frame, self._given, self._judgments)
            self._hold(_kept=kept)
        return kept

    @property
    def _plan(self) -> Plan:
        """The column of every role; it is kept too."""
        named, plan = self._named, self._resolved
        if plan is None or plan.given is not named:
            plan = plan_of(named)
            self._hold(_resolved=plan)
        return plan

    @property
    def _by_name(self) -> Self:
        """This object with the names of columns in the place of expressions, of the frame that has them."""
        other, named = object.__new__(type(self)), self._named
        other._set(named.frame, named.roles, named.judgments)
        other._hold(_kept=named, _resolved=self._resolved)
        return other

    @verb
    def judge(
        self,
        qrels: Any,
        *,
        query: Columns = None,
        doc: Column = None,
        grade: Column = None,
        label: Column | bool = None,
        annotator: Column = None,
        subtopic: Column = None,
        several: Several | None = None,
        proxy: Any = None,
        sampling: Column = None,
    ) -> IRM[Frame]:
        """Keep judgments beside the frame; they are joined by query and document when a metric is computed.

        Every system is then measured against all judgments, on every judged query: 0 if it has no results. Columns that
        are not named have the name used in the log, or the role's name. ``by``, ``weight`` and ``cluster`` columns may
        also be among the judgments, even if the log has none: then they have one value per query.

        Parameters
        ----------
        qrels : a frame of any kind, one row per judged query and document, a frame with roles,
            ``qrels.irm(grade="rating")``, whose ``rel`` and ``scale`` are then those of the log, or a dict
            ``{query: {document: grade}}``. None removes the judgments that are kept.
        query, doc : their columns, or expressions; by default those named as in the frame, else as the role.
        grade, label : the judgment, by default found in the same way; ``label=True``: every row is relevant.
        annotator : the column that names who gave the judgment. ``agreement()`` compares them, even without
            ``several``.
        subtopic : the column that names the intent of the query for which a document was judged, for example for
            ``alpha_ndcg``. Other metrics use the greatest grade of a document.
        several : how the judgments of several annotators become one: "mean" or "median" of their grades, "max", or
            "majority", the most frequent value, in a tie the lowest. Nulls are no judgments. By default two different
            judgments are an error.
        proxy : judgments of a machine, of the same queries and of many more. ``qrels`` are then those that people gave
            to a random sample of queries. A frame whose columns are found like those of ``qrels``, or a frame with
            roles, ``machine.irm(grade="score", scale=..., rel=...)``, with its own ``scale`` and ``rel``; if it has
            neither, ``rel`` is that of the log. ``evaluate`` and ``compare`` give prediction-powered means,
            ``sample_size`` says how many queries people have to judge, ``audit`` checks both, other verbs refuse it.
            For metrics that depend on R or the ideal, a query counts as judged by people only if they judged every
            document that the machine judged.
        sampling : with ``proxy``, the column of ``qrels`` with the chance, above 0 and at most 1, with which each query
            was drawn for people, if it was not the same for all.

        Raises
        ------
        FrameMetricsError
            A column does not exist, or judgments are kept already; call ``judge(None)`` before you pass others. When a
            metric is computed: two grades for one pair (and subtopic), from one annotator even with ``several``, ids of
            different types, or no id that matches.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> run = pl.DataFrame({"query": ["a", "a"], "doc": ["x", "y"], "score": [2.0, 1.0]})
        >>> qrels = pl.DataFrame({"query": ["a", "a", "b"], "doc": ["y", "z", "x"], "grade": [1, 1, 1]})
        >>> run.irm.judge(qrels).per_query("recall", layout="wide")["recall"].to_list()
        [0.5, 0.0]
        """
        given: dict[str, Any] = {"query": query, "doc": doc, "grade": grade, "label": label}
        irm = self
        if isinstance(qrels, IRM):
            qrels, columns, conventions = judgments_of(_with_roles(qrels), "judge")
            given = {name: columns[name] if value is None else value for name, value in given.items()}
            irm = self(**{name: value for name, value in conventions.items() if value is not None})
        given |= {"annotator": annotator, "subtopic": subtopic, "sampling": sampling}
        if qrels is None and self._judgments and all(one is None for one in (*given.values(), several, proxy)):
            return self._with(self._given, None)
        qrels, proxy = unnested(qrels, "grade"), unnested(proxy, "grade")
        backend_of(qrels)
        if self._judgments:
            raise BadValueError(
                "judge: judgments are kept already; put all into one frame, or take those back first, with judge(None)"
            )
        # Options that contradict each other, then their values.
        if label is True and grade is not None:
            raise ColumnError("label=True says that every row is relevant, so grade= has no use; pass one of them")
        if label is True and (annotator is not None or several is not None):
            raise ColumnError(
                "label=True says that every row is relevant, so that annotators do not differ; leave annotator= and "
                "several= out"
            )
        for name, value in given.items():
            if name != "label" or not isinstance(value, bool):
                check_column(f"judge: {name}", value, list_allowed=name == "query")
        given = {name: names_as_text(value) for name, value in given.items()}
        if sampling is not None and proxy is None:
            raise ColumnError(f"sampling={quote(sampling)} requires proxy=, the judgments of a machine; name it too")
        if proxy is not None:
            given["proxy"] = proxy_of(_with_roles(proxy))
        if several is not None:
            check_choice("several", several, get_args(Several))
        # Check columns now, so that an error comes with judge() and not with a later verb.
        other = irm._with(irm._given, (qrels, given | {"several": several}))
        plan = other._plan
        ranked = plan.columns.score or plan.columns.rank  # then what most calls ask for is made ready here
        bind(plan, Needs(query=True, order=bool(ranked), verb=JUDGE))
        return other

    @verb
    def click_judgments(
        self,
        model: ClickModel = "ctr",
        *,
        query_text: str | Sequence[str] | None = None,
        smoothing: float = 0.0,
        min_impressions: int = 1,
    ) -> Frame:
        """Make judgments from a click log: a grade for each query and document that was shown.

        ``query`` is the impression, ``rank`` the position at which a document was shown, and a relevant row is a click:
        by its label, or by a grade of at least ``rel``. Rows without a rank were not shown, and are not counted.

        Parameters
        ----------
        model : "ctr": clicks over impressions. "coec": clicks over expected clicks. These are the sum of the average
            click rates of the ranks at which the document was shown, in the same segment of the same system. "sdbn":
            the chance that the document is clicked if it is examined, times the chance that its click is the last. An
            impression is examined down to its lowest click; without a click, all of it is. coec is biased if the rank
            follows relevance: it attributes to the position what a good ranker puts on top. With ``propensity`` of
            ``irm``, as ``propensities`` estimates it, "ctr" is clicks over the sum of the propensities, which is fair
            to low ranks whatever the ranker: ``irm(propensity=p).click_judgments("ctr")``.
        query_text : the columns of the search text, the same in all rows of an impression; they become the query of the
            result. By default ``query`` itself.
        smoothing : s, how many impressions (for coec: expected clicks; for sdbn: examinations, and clicks) with the
            mean rate of the segment are added to each rate: (C + s m) / (E + s), where the m of coec is 1.
        min_impressions : documents with fewer have a null grade, which is no judgment.

        Returns
        -------
        A frame of the caller's kind, which ``judge`` takes: by..., the query columns, doc, grade, impressions, clicks.
        The grade is null if nothing is known, even with ``smoothing``: no click is expected, or nobody looked. It is a
        rate, so metrics of relevance need ``rel=``.

        Raises
        ------
        FrameMetricsError
            Clicks are missing, or belong to rows without a rank; every row is a click, as in a log of clicks alone; a
            column of ``query_text`` has two values in an
            impression; without ``query_text``, no document appears twice in a query.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> rows = {"search": [1, 1, 2, 2], "text": ["tea"] * 4, "doc": ["x", "y", "y", "x"]}
        >>> log = pl.DataFrame(rows | {"rank": [1, 2, 1, 2], "clicked": [1, 0, 1, 1]})
        >>> clicks = log.irm(query="search", rank="rank", label="clicked")
        >>> clicks.click_judgments("coec", query_text="text").rows()
        [('tea', 'x', 1.3333333333333333, 2, 2), ('tea', 'y', 0.6666666666666666, 2, 1)]

        Source: coec, W. V. Zhang, R. Jones, Comparing click logs and editorial labels for training query rewriting, WWW
        2007 workshop on query log analysis; sdbn, O. Chapelle, Y. Zhang, A dynamic Bayesian network click model for web
        search ranking, WWW 2009.
        """
        from frame_metrics.verbs.click_judgments import click_judgments

        return click_judgments(
            self._plan, model, query_text=query_text, smoothing=smoothing, min_impressions=min_impressions
        )

    @verb
    def agreement(
        self,
        reference: Any = None,
        *,
        by: str | Sequence[str] | None = None,
        per_class: bool = False,
        level: MeasurementLevel | None = None,
        ci: float | None = None,
        resamples: int = 1000,
        seed: int = 0,
    ) -> Frame:
        """Compare the judgments of annotators, people or models, in pairs and all together.

        It needs ``judge(qrels, annotator=)``. The log is read as for every verb, but its results are not used.

        Parameters
        ----------
        reference : a trusted annotator with whom the others are compared, or a list of them; each of these is compared
            with all annotators outside the list. None for every pair, and a last row, without names, for all together.
        by : columns of the judgments, such as the length of a document; each of their values has separate rows.
        per_class : whether each value that was given has a row, about who gave it and who gave another one.
        level : the level of measurement, by which alpha counts a disagreement: "nominal" (one like another: grades that
            are only names), "ordinal" (the square of the difference of the ranks that the two values have among all
            that were given), "interval" (the square of their difference; the default for grades) or "ratio" (the square
            of their difference over their sum). Of two values, as of labels, all four are equal.
        ci : level of percentile intervals, from resampled queries, expanded for the number of queries that both judged
            documents of; null for fewer than two, and where no draw differs. None for no intervals.
        resamples : how often.
        seed : of the random numbers.

        Returns
        -------
        A frame of the caller's kind: by..., annotator, other (in the type of the judgments' column), n (documents that
        both judged; in the last row those with two judgments or more), kappa and weighted_kappa (Cohen's; with squared
        differences, null for labels), equal (the share of documents with equal judgments; for more annotators the mean
        share of pairs), ac1 (Gwet's), fleiss_kappa (for two annotators Scott's pi), alpha (Krippendorff's, by
        ``level``). In the last row the shares by chance of ac1 and fleiss_kappa are those of all judgments, also of
        documents with a single one, which n does not count. With ``reference`` also sensitivity and specificity (of the
        documents that the reference calls relevant, or not, the share on which the annotator agrees; a grade of at
        least ``rel`` is relevant) and bias (the mean of the annotator minus that of the reference). With ``per_class``
        a column class comes before n, and all columns compare judgments of the class with all others: bias is the
        difference of their shares. With ``ci`` also NAME_low and NAME_high of each. Two annotators without a common
        document have no row. Undefined values are null: in the last row all of them if no document has two judgments,
        and chance-corrected ones if chance leaves no room to differ.

        Raises
        ------
        FrameMetricsError
            No column says who judged; nobody is called as a reference, or everybody; a column of ``by`` is none of
            the judgments, or its value differs between all judgments of a document; ``level="ratio"``, and a grade is
            below 0.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> log = pl.DataFrame({"query": [1, 1, 1, 1], "doc": [*"wxyz"], "score": [4, 3, 2, 1]})
        >>> qrels = pl.concat([log.select("query", "doc")] * 2).with_columns(
        ...     who=pl.Series(["human"] * 4 + ["model"] * 4), label=pl.Series([1, 1, 0, 0, 1, 1, 1, 0])
        ... )
        >>> judged = log.irm.judge(qrels, annotator="who")
        >>> judged.agreement("human").select("annotator", "other", "n", "equal", "kappa", "specificity").rows()
        [('model', 'human', 4, 0.75, 0.5, 0.5)]

        Source: J. Cohen, A coefficient of agreement for nominal scales, Educational and Psychological Measurement
        20(1), 1960; J. Cohen, Weighted kappa, Psychological Bulletin 70(4), 1968; K. L. Gwet, Computing inter-rater
        reliability and its variance in the presence of high agreement, British Journal of Mathematical and Statistical
        Psychology 61(1), 2008; J. L. Fleiss, Measuring nominal scale agreement among many raters, Psychological
        Bulletin 76(5), 1971; K. Krippendorff, Computing Krippendorff's alpha-reliability, 2011.
        """
        from frame_metrics.verbs.agreement import AgreementOptions, agreement

        return agreement(self._plan, _given(AgreementOptions, locals()))

    @verb
    def disagreements(self) -> Frame:
        """Return the documents that annotators judged differently, the widest differences first.

        It needs ``judge(qrels, annotator=)``.

        Returns
        -------
        A frame of the caller's kind: query, doc, n (judgments), lowest, highest, difference. Of equal differences the
        document with more judgments comes first, then the one that comes first among the judgments. A label is 0
        or 1.

        Raises
        ------
        FrameMetricsError
            No column names the annotator.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> log = pl.DataFrame({"query": [1, 1], "doc": ["x", "y"], "score": [2.0, 1.0]})
        >>> qrels = pl.DataFrame({"query": [1] * 4, "doc": [*"xyxy"], "grade": [0, 2, 3, 2], "who": [*"aabb"]})
        >>> log.irm.judge(qrels, annotator="who").disagreements().rows()
        [(1, 'x', 2, 0.0, 3.0, 3.0)]
        """
        from frame_metrics.verbs.agreement import disagreements

        return disagreements(self._plan)

    @verb
    def propensities(
        self,
        estimator: Estimator = "pivot",
        *,
        query_text: str | Sequence[str] | None = None,
        k: int | None = None,
        ci: float | None = 0.95,
        resamples: int = 1000,
        seed: int = 0,
    ) -> Frame:
        """Estimate from a click log how often users examine each rank, by intervention harvesting.

        A document is equally relevant at every rank, so its click-through rates at two ranks for the same query differ
        by how often these ranks are examined. ``query`` is the impression, as for ``click_judgments``. Documents
        change ranks because several systems rank them; ``system`` may name these.

        Parameters
        ----------
        estimator : c(k, l) is the sum of the click-through rates at rank k of the documents that were shown at ranks k
            and l. "pivot": c(k, 1) / c(1, k). "adjacent": the product of c(l, l - 1) / c(l - 1, l) over the ranks l up
            to k. "all_pairs": the maximum-likelihood values for the clicks at all pairs of ranks; the rate at rank k is
            the propensity times a relevance that both ranks of a pair share.
        query_text : the columns of the search text, the same in all rows of an impression. By default ``query`` itself.
        k : the deepest rank; by default the deepest rank of any result.
        ci : level of the intervals; None leaves their ends null.
        resamples : how many resamples of searches, each with all of its impressions.
        seed : of the random numbers.

        Returns
        -------
        A frame of the caller's kind, which ``propensity=`` takes: by..., rank, propensity, n, ci_low, ci_high.
        Propensities are relative to rank 1, whose propensity is 1, so noise may lift others above it; n counts the
        pairs of document and query behind each. Ends are null if there was only one search, or if some draws have too
        little overlap.

        Raises
        ------
        FrameMetricsError
            Too little overlap: no document was shown at both of the compared ranks, with clicks at both. Clicks are
            missing, or belong to rows without a rank; a column of ``query_text`` has two values in an impression.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> rows = {"search": [1, 1, 2, 2], "text": ["tea"] * 4, "doc": ["x", "y", "y", "x"]}
        >>> log = pl.DataFrame(rows | {"rank": [1, 2, 1, 2], "clicked": [1, 0, 1, 1]})
        >>> clicks = log.irm(query="search", rank="rank", label="clicked")
        >>> clicks.propensities(query_text="text").select("rank", "propensity", "n").rows()
        [(1, 1.0, 2), (2, 0.5, 2)]

        Source: A. Agarwal et al., Estimating position bias without intrusive interventions, WSDM 2019 (arXiv
        1812.05161).
        """
        from frame_metrics.measuring.results import IntervalOptions
        from frame_metrics.verbs.propensities import propensities

        return propensities(
            self._plan, estimator, query_text=query_text, k=k, options=_given(IntervalOptions, locals())
        )

    @verb
    def evaluate(
        self,
        *metrics: Metrics,
        average: Average | Sequence[Average] | None = None,
        ci: float | None = None,
        margins: bool = False,
        layout: Layout = "long",
        method: IntervalMethod | None = None,
        resamples: int = 1000,
        seed: int = 0,
    ) -> Frame:
        """Average metrics over queries, for each system and segment.

        Parameters
        ----------
        metrics : names as "ndcg@10", or values as ``frame_metrics.metrics.ndcg @ 10``, one by one or in a list. With
            ``value``, all metrics in the frame if none is named.
        average : "macro", the plain mean over queries; "weighted", the mean by ``weight``; "rows", the mean by the
            number of rows of each query, including judged documents that were not retrieved; "micro", the metric of the
            summed counts of the 2x2 table; "gmean", the geometric mean; "median", "min", "max" or another quantile, as
            "q0.9", of the values that the mean uses. None: "weighted" if ``weight`` is named, else "macro", and the sum
            for counts. Over several classes: "macro" (None), "weighted" (by their rows), "micro", "predicted" (by how
            often each is predicted). Rows of two classes without a query are pooled, and take no average. A list of
            averages gives all of them. ``catalogue_coverage``, ``distributional_coverage`` and ``catalogue_gini``
            describe all lists of a segment together, judged or not. They take no average, which is an error beside
            them, and have no interval: the average is null, and ``n`` counts the lists. For ``mean_click_position``
            "micro" is the mean over the clicks of all queries; for ``sips``, ``iips`` and ``rips`` at a cutoff "micro"
            is self-normalised, as in ``sn_sips@10``.
        ci : level of an interval, as 0.95, of which queries, or pooled rows, are the units, or clusters of them if
            ``cluster`` is named. docs/uncertainty.md lists which one it is: of means percentiles of draws at a level
            for so few units; of shares, whose values are all 0 or 1, Wilson's; of quantiles two of the
            values; where fewer than five units differ from most, and of measures of true and predicted classes,
            Wilson's formula on the range of the metric. Null for fewer than two units, where no draw differs from
            another, for ends that so few leave open, and for metrics without an interval, as ``ece``, which are an
            error by themselves. By default there is no interval.
        margins : whether to add the total over all segments, and with several ``by`` columns the totals by each of
            them. A total equals the call without the columns in ``total_over`` if each query is in one segment; a query
            in several segments counts once in each.
        layout : "long", a row per metric, or "wide", a column per metric.
        method : the method of intervals; None for the one that docs/uncertainty.md lists. "roc_auc" and "gini" of
            pooled rows of two classes have Newcombe's, widened where DeLong's variance is greater, unless the rows have
            weights or clusters; "delong" is the normal interval of DeLong, DeLong and Clarke-Pearson. Null for fewer
            than two relevant rows, or others. "bootstrap" is for all metrics. With a ``proxy`` of ``judge`` "t" (the
            default, which needs scipy) or "normal", whose ends are those of ppi-python.
        resamples, seed : of the bootstrap.

        Returns
        -------
        A frame of the caller's kind: system, by..., (total_over,) metric, k, average, value, n, n_undefined,
        (n_unanswered, ci_low, ci_high). ``n`` is the number of queries, or of pooled rows, behind the value;
        ``n_undefined`` is the number of queries, classes or segments for which the metric is undefined. Beside "ece" of
        pooled rows there is ``if_calibrated``, what calibrated scores of as many rows would have. With a query,
        and with ``system`` or ``judge``, there is ``n_unanswered``, the number of judged queries of which the system,
        or the log, has no row: they count as 0 in most metrics, or ``unanswered="drop"`` leaves them out.
        ``total_over`` names the columns that a total is over, with ", " between them, and is null in other rows. With
        ``weight`` there is ``n_effective`` after these: Kish's effective sample size (Σ w)² / Σ w², w being the
        weights of queries, or of pooled rows; of an average without weights, and of "catalogue_coverage", which counts
        no document twice, the number of queries. With ``propensity``
        w are the weights of the relevant results at ranks up to k; off policy those of all results, each a share of its
        list.

        With a ``proxy`` the value is the mean by people, estimated from both sides. ``n`` is the number of queries
        whose results people judged, down to the cutoff, as far as the machine did; ``n_undefined`` refers to these.
        More columns follow:
        ``n_proxy``, the queries that only the machine judged, ``lambda``, the weight of the machine (0 to 1),
        ``people_value``, the mean by people alone over the ``n`` queries, ``proxy_value``, the mean by the machine
        alone over all, and ``proxy_bias`` (with ``ci`` also ``proxy_bias_low`` and ``proxy_bias_high``), its mean less
        that of people over the ``n`` queries. Value, bias and intervals are null if people judged fewer than five
        queries, or clusters. Only means over queries are estimated in this way.

        A wide one: system, by..., (total_over, average,) n, (n_unanswered,) and for each metric "ndcg", ("ndcg_n",)
        "ndcg_undefined", ("ndcg_low", "ndcg_high"). ``n`` is the number of queries, or of pooled rows, that are
        evaluated; "ndcg_undefined" is the metric's n_undefined. A metric that leaves undefined queries out of its mean
        has its own count. ``average`` is there if it is the same for all metrics, and with a list of averages, which
        gives a row for each.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> log = pl.DataFrame({"query": [1, 1, 2, 2], "score": [2.0, 1.0, 3.0, 2.5], "grade": [0, 3, 1, 0]})
        >>> log.irm.evaluate("rr", "precision@1", layout="wide").rows()
        [('macro', 2, 0.75, 0, 0.5, 0)]
        >>> log.irm.evaluate("rr", average=["median", "min"]).select("average", "value").rows()
        [('median', 0.75), ('min', 0.5)]
        """
        from frame_metrics.measuring.results import EvaluateOptions
        from frame_metrics.verbs.evaluate import evaluate

        return evaluate(self._plan, metrics, _given(EvaluateOptions, locals()))

    @verb
    def per_query(self, *metrics: Metrics, layout: Layout = "long") -> Frame:
        """Compute metrics for every judged query.

        Parameters
        ----------
        metrics : names as "ndcg@10", or values as ``frame_metrics.metrics.ndcg @ 10``. With ``value``, all metrics in
            the frame if none is named.
        layout : "long", a row per query and metric, or "wide", a column per metric.

        Returns
        -------
        A frame of the caller's kind: system, by..., the query columns, metric, k, value, undefined, answered. If
        ``undefined`` is true the metric has no value, and ``value`` is a substitute: null, unless the metric's
        reference says 0, or ``undefined=`` something else. For numbers in ``value=`` it is true for nulls. If
        ``answered`` is false the frame has no row of the query for the system, and ``value`` is that of an empty
        ranking; ``value=`` reads this column of saved numbers. A wide one: the keys, a column for each metric, and
        answered.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> log = pl.DataFrame({"query": ["b", "b", "a", "c"], "score": [2.0, 1.0, 3.0, 1.0], "grade": [0, 3, 1, 0]})
        >>> log.irm.per_query("rr", layout="wide").rows()
        [('b', 0.5, True), ('a', 1.0, True), ('c', 0.0, True)]
        >>> log.irm.per_query("rr").filter(~pl.col("undefined"))["query"].to_list()
        ['b', 'a']
        """
        from frame_metrics.verbs.evaluate import per_query

        return per_query(self._plan, metrics, layout=layout)

    @verb
    def per_class(
        self,
        *metrics: Metrics,
        average: OverClasses | Sequence[OverClasses] | None = None,
        ci: float | None = None,
        layout: Layout = "long",
        resamples: int = 1000,
        seed: int = 0,
    ) -> Frame:
        """Compute metrics for every class against the rest.

        Parameters
        ----------
        metrics : measures of the 2x2 table, as "recall", or of scores if each class has one, as "roc_auc".
        average : adds the averages over the classes: "macro", "weighted" (by their rows), "micro", "predicted", or a
            list. Measures of the whole table, as "accuracy", are pooled, and micro counts are sums.
        ci : level of an interval, as 0.95: Wilson's for shares of rows, as recall, precision and f1, else percentiles
            of draws of rows, or of clusters of them. Null for fewer than two rows, and where no
            draw differs from another. docs/uncertainty.md lists all.
        layout : "long", a row per class and metric, or "wide", a column per metric.
        resamples, seed : of the draws.

        Returns
        -------
        A frame of the caller's kind: system, by..., class, (average,) metric, value, support (rows of the class, or
        their weight), n (rows of the segment), n_undefined (, ci_low, ci_high). In the rows of averages ``class`` is
        null, and ``support`` is that of all classes; in rows of classes ``average`` is null. Classes that do not occur
        in a segment are left out, unless ``classes=`` names them; a segment without labelled rows has them all, with
        null and n 0.

        A wide one: system, by..., class, (average,) support, n, and for each metric "recall" ("recall_low",
        "recall_high").

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> animals = pl.DataFrame({"label": ["cat", "cat", "dog", "owl"], "predicted": ["cat", "dog", "dog", "owl"]})
        >>> animals.irm.per_class("recall").select("class", "value").rows()
        [('cat', 0.5), ('dog', 1.0), ('owl', 1.0)]
        >>> animals.irm.per_class("recall", "precision", average="macro", layout="wide").tail(2).rows()
        [('owl', None, 1, 4, 1.0, 1.0), (None, 'macro', 4, 4, 0.8333333333333334, 0.8333333333333334)]
        """
        from frame_metrics.verbs.per_class import PerClassOptions, per_class

        return per_class(self._plan, metrics, _given(PerClassOptions, locals()))

    @verb
    def confusion(self, *, margins: bool = False, shares: bool = False, payoffs: bool = False) -> Frame:
        """Count every pair of a predicted and a true class.

        Parameters
        ----------
        margins : whether to add totals over predictions, over true classes and over both. With ``by`` the same over all
            segments, and with several ``by`` columns over each of them too. A key that is totalled is null.
        shares : whether to add ``share`` (of all rows), ``share_of_predicted`` (of rows with the same prediction: the
            precision, if it is right) and ``share_of_actual`` (of rows of the same class: the recall, if it is right).
        payoffs : whether to add ``odds`` and ``payoff``. ``odds`` is what a bookmaker pays for a row of the cell at
            fair odds, among the rows with a prediction: 1 / prevalence of the predicted class if it is right, else -1 /
            (1 - prevalence). ``payoff`` is ``odds`` times the cell's share of these rows. In a total over true classes
            it is their sum, recall minus fallout of the predicted class; in the total over both it is the metric
            ``payoff``.

        Returns
        -------
        A frame of the caller's kind: system, by..., (total_over,) predicted, actual, n (rows, or their weight), zeros
        included (, share, share_of_predicted, share_of_actual, null of nothing) (, odds, payoff, null where there is no
        prediction, of totals over predictions, and where the rows with a prediction have one true class). A null
        ``predicted`` is no prediction, unless ``total_over``, which names the keys that a total is over, has it. With
        ``match``, ``predicted`` is the cluster, and a column ``matched`` after it the class that it was taken for.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> cases = pl.DataFrame({"label": [1, 1, 0, 0], "predicted": [1, 0, 0, 0]})
        >>> cases.irm.confusion().rows()
        [(0, 0, 2), (0, 1, 1), (1, 0, 0), (1, 1, 1)]
        >>> cases.irm.confusion(margins=True).tail(3).rows()
        [('actual', 0, None, 3), ('actual', 1, None, 1), ('predicted, actual', None, None, 4)]
        >>> cases.irm.confusion(payoffs=True).select("odds", "payoff").rows()
        [(2.0, 1.0), (-2.0, -0.5), (-2.0, 0.0), (2.0, 0.5)]
        """
        from frame_metrics.verbs.confusion import confusion

        return confusion(self._plan, margins=margins, shares=shares, payoffs=payoffs)

    @verb
    def thresholds(self, *metrics: Metrics) -> Frame:
        """Decide at every threshold: a row is predicted positive if its score is at least the threshold.

        With a query the rows of all queries of a segment are counted together, as ``evaluate(average="micro")`` does: a
        query with many rows counts more, and the mean over queries, the default of ``evaluate``, is another number.

        Parameters
        ----------
        metrics : measures of the 2x2 table.

        Returns
        -------
        A frame of the caller's kind: system, by..., threshold, tp, fp, fn, tn, and a column per metric. In the first
        row of a segment the threshold is infinite and nothing is predicted positive; then comes a row for each distinct
        score. Precision is 0 in the first row, as in ``evaluate``; ``curve("pr")`` sets it to 1 there, so that its line
        begins at the top (docs/conventions.md#precision-where-nothing-is-predicted). In a segment
        without labelled rows it is the only one, and the metrics are null.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> cases = pl.DataFrame({"label": [1, 0, 1, 0], "score": [0.9, 0.6, 0.6, 0.1]})
        >>> cases.irm.thresholds("accuracy").select("threshold", "tp", "fp", "accuracy").rows()
        [(inf, 0, 0, 0.5), (0.9, 1, 0, 0.75), (0.6, 2, 1, 0.75), (0.1, 2, 2, 0.5)]
        """
        from frame_metrics.verbs.thresholds import thresholds

        return thresholds(self._plan, metrics)

    @verb
    def best_threshold(self, metric: str | Metric, subject_to: Mapping[str | Metric, float] | None = None) -> Frame:
        """Choose the threshold at which a metric is best; of equal ones, to 1e-12, the highest.

        With a query the rows of all queries of a segment are counted together, as in ``thresholds``: the metrics are
        those of ``evaluate(average="micro")``, and not means over queries.

        It is chosen on the rows that its metric is measured on, so that this value is too high: f1 by 0.04, 0.02 and
        0.01 with 100, 300 and 1,000 rows of which half are relevant, by three times as much if a tenth are. Measure it
        on other rows, with ``irm(threshold=...)``.

        Parameters
        ----------
        metric : a measure of the 2x2 table, as "f1", "informedness", "closest" (to the ideal corner of the ROC plane),
            "balanced_accuracy(sensitivity=0.8)", or "cost(fp=1, fn=5)", which is best when least.
        subject_to : metrics and the values that they must reach, or, if less is better, must not exceed, as
            ``{"specificity": 0.9, "fallout": 0.05}``.

        Returns
        -------
        A frame of the caller's kind with one row per segment: system, by..., threshold, tp, fp, fn, tn, the metric, and
        those of ``subject_to``. The threshold is infinite where predicting nothing is best. It is null if the segment
        has no relevant row and the metric, as f1, is the same at every threshold; the table is that of predicting
        nothing.

        Raises
        ------
        FrameMetricsError
            No threshold meets ``subject_to``; the error gives the best possible value.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> cases = pl.DataFrame({"label": [1, 0, 1, 0], "score": [0.9, 0.6, 0.5, 0.1]})
        >>> cases.irm.best_threshold("f1").select("threshold", "f1").rows()
        [(0.5, 0.8)]
        >>> cases.irm.best_threshold("f1", subject_to={"fallout": 0.1}).select("threshold", "fallout").rows()
        [(0.9, 0.0)]
        """
        from frame_metrics.verbs.thresholds import best_threshold

        return best_threshold(self._plan, metric, subject_to)

    @verb
    def curve(
        self,
        kind: str | Sequence[str],
        *more: str,
        per: PerQuery | None = None,
        levels: int | Sequence[float] | None = None,
        interpolated: bool = False,
        points: int | None = None,
        bins: int | Literal["quantile"] | None = None,
        cutoffs: int | Sequence[int] | None = None,
        ci: float | None = None,
        resamples: int = 1000,
        seed: int = 0,
    ) -> Frame:
        """Return the points of a curve.

        Parameters
        ----------
        kind : "roc": threshold, fpr, tpr. "pr": threshold, recall, precision, a zigzag. "gain": threshold, share (rows
            predicted relevant, of all rows), gain (relevant rows among them, of all relevant rows). "calibration":
            predicted, observed, n, by bins of equal width. "distribution" of the scores: bin, low, high, label, n, by
            bins of equal width from the least score of all rows to the greatest. A metric of a ranking with ``@k``, as
            "ndcg@k": k, value. "ctr": k, value, n: of the n queries that show a result at rank k, the share with a
            click on it. If ranks and no scores are named, the first three have k, the last rank that is predicted
            relevant, instead of a threshold.
        more : other metrics of a ranking; they may also be in one list with the first.
        per : "query" gives each query a curve; by default the rows of a segment are pooled.
        levels : for "pr", recall levels; each gets the greatest precision at that recall or higher: a list, or a number
            of levels from 0 to 1, as 11; with ``per="query"``, the mean over the queries.
        interpolated : for "pr", whether precision is the greatest at that recall or higher.
        points : keep at most this many points of each "roc", "pr" or "gain" curve. No omitted point is further than 2 /
            (points - 2), both axes taken together, from a kept one. For "pr", none is further than (1 + ln(1 + rows)) /
            (points - 2) on either axis from the curve through the kept points.
        bins : for "calibration" and "distribution", 10 by default; for "calibration" also "quantile", ten bins of
            equally many rows, where equal scores share a bin.
        cutoffs : for "ndcg@k", "ctr" and similar kinds, the cutoffs, or the last of them; 10 by default.
        ci : for "ndcg@k" and similar kinds, the level of an interval of each mean, as in ``evaluate``.
        resamples, seed : of its bootstrap.

        Returns
        -------
        A frame of the caller's kind: system, by... (, the query columns), and the columns of the curve; for metrics at
        cutoffs (metric, if there are several,) k, value (, ci_low, ci_high). The first point of a curve has an infinite
        threshold (or k = 0): nothing is predicted positive, and precision is set to 1, so that the line begins at the
        top; in ``thresholds`` it is 0 there (docs/conventions.md#precision-where-nothing-is-predicted). A null k stands
        for all rows, including those that were not retrieved.

        In "distribution" every bin has a row for each label: false, true, and null if some rows are not judged. A score
        on an edge is in the lower bin, as in "calibration". Rows without a score have a null bin.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> cases = pl.DataFrame({"label": [1, 0, 1, 0], "score": [0.9, 0.6, 0.5, 0.1]})
        >>> cases.irm.curve("roc").rows()
        [(inf, 0.0, 0.0), (0.9, 0.0, 0.5), (0.6, 0.5, 0.5), (0.5, 0.5, 1.0), (0.1, 1.0, 1.0)]
        >>> cases.irm.curve("pr", levels=[0.5, 1]).select("recall", "precision").rows()
        [(0.5, 1.0), (1.0, 0.6666666666666666)]
        """
        from frame_metrics.verbs.curves import CurveOptions, curve

        kinds = [*(kind if isinstance(kind, list | tuple) else [kind]), *more]
        return curve(self._plan, kinds, _given(CurveOptions, locals()))

    @verb
    def compare(
        self,
        *metrics: Metrics,
        baseline: Any = None,
        against: Against | None = None,
        test: Test | None = None,
        correction: Correction | None = None,
        over: Family = "metric",
        margin: Margin | None = None,
        ci: float = 0.95,
        permutations: int = 10_000,
        resamples: int = 1000,
        seed: int = 0,
        per_query: bool = False,
        per_class: bool = False,
    ) -> Frame:
        """Compare systems on the same queries, or rows: their differences, with intervals and p-values.

        The values of two systems are paired: query by query, or without a query row by row, by ``doc``. Arms, which
        have queries of their own, are compared by ``ab_test``, two periods by ``change``, and the teams of interleaved
        lists by ``interleaving``.

        Parameters
        ----------
        metrics : names as "ndcg@10", or values as ``frame_metrics.metrics.ndcg @ 10``. With ``value``, all metrics in
            the frame if none is named.
        baseline : the system that every other is compared with, or a list of systems; each of these is compared with
            all systems outside the list. By default every system is compared with all before it in the order of their
            names: of "new" and "old", the difference is old minus new. Or saved numbers, with
            which each system is compared, or the whole frame if no system is named: a frame from ``per_query``, long or
            wide, with the same names for the columns of the query and ``by``, or one whose columns are named,
            ``saved.irm(query="qid", value="v")``. Without a column ``metric``, numbers are in columns named like the
            metrics. Saved numbers do not record their conventions: use the same ones here.
        against : without a query, what each system is compared with instead of another one: "chance", the value of a
            metric if decisions or scores are unrelated to the truth (0 for informedness, 0.5 for roc_auc), or
            "majority", a classifier that always says the most frequent class.
        test : two-sided; None for "randomization" (of values of 0 and 1 "mcnemar_mid_p"), or without a query for the
            first of "mcnemar_mid_p", "delong", "fisher" and "bootstrap" that applies. The sections below say what each
            does.
        correction : of p-values for testing many pairs: "max_t", "holm", "bonferroni", "bh" (Benjamini-Hochberg) or
            "none". "max_t" is the default of tests that flip signs: the signs of all pairs are flipped at once, and the
            greatest statistic of each flip is kept, so that intervals hold together too. Other tests have "holm". Arms
            are exchanged instead, as ``ab_test`` says.
        over : what is corrected together: the pairs of a "metric" in one segment, with all baselines, or "all" rows, of
            all metrics and segments. Two systems are one pair: ten metrics are then ten separate tests.
        margin : the loss of a metric that would still be accepted, above 0: one number, or one for each metric that has
            one, {"ndcg@10": 0.01}. It adds p_not_worse and p_equivalent; the section "Not worse than" says what they
            are.
        ci : level of the interval of the difference: with "max_t" of all intervals together; else percentile bootstrap,
            of fewer than ten queries Student's t, Newcombe's for values of 0 and 1, or DeLong's with his test.
        permutations, resamples, seed : of the random draws; they are the same on every machine.
        per_query : whether to return the paired differences instead, the largest first in absolute value. Options of
            the difference of means are then refused: ``test``, ``correction``, ``over`` and ``ci``.
        per_class : without a query, whether to compare each class against the rest, as the verb ``per_class`` measures
            it. The p-values of all classes are corrected together. It adds class, and before n support, the number of
            rows of the class: n counts all rows, those of other classes too.

        Returns
        -------
        A frame of the caller's kind: by..., the system, baseline(, class), metric, k, value, baseline_value,
        difference, relative (difference / |baseline_value|), relative_low, relative_high (by the delta method; null
        unless both means have the same sign), ci_low, ci_high, p_value, p_adjusted, effect_size (difference / its
        standard deviation over queries), wins, ties, losses, n, n_unpaired (queries that only one of the two answers),
        n_undefined, n_unanswered (queries that one or both do not answer), mde (the smallest difference that this
        sample would detect 80 % of the time at level 1 - ``ci``, of all pairs together with "max_t"; null if the test
        cannot reach 1 - ``ci`` with so few units), test, n_tests (how many p-values were corrected together, or with
        "none" would have been), correction (null if n_tests is at most 1). wins are the
        queries on which the system is better than the baseline, by the metric's direction (less, for fdr or brier). If
        the direction is unknown, as for a latency in ``value``, they are those with the greater value. Rows are sorted
        by segment, then metric as asked for, system and baseline; several baselines keep their order. With
        ``per_query``: by..., the query columns, the system, baseline, metric, k, value, baseline_value, difference.

        Queries
        -------
        "randomization" flips the signs of the differences (exact if there are at most ``permutations`` ways, else with
        that many random flips and p = (b + 1) / (n + 1)); "t", "wilcoxon" and "sign" are scipy's; "bootstrap" resamples
        the differences shifted to mean 0. If all values of the metric are 0 or 1, as of success@1, the default is
        "mcnemar_mid_p", McNemar's test less half of what is as likely as the data, and the interval Newcombe's; neither
        takes weights or clusters. With ``cluster``, "randomization" flips the queries of a cluster together,
        "bootstrap" and the interval resample clusters, and the other tests are an error. With ``weight`` these are an
        error too, and weighted values are flipped or resampled. These tests assume that differences are symmetric if
        nothing differs.

        A query that a system does not answer counts as 0 for it in most metrics. With ``unanswered="drop"`` of the irm
        it is left out. Either way n_unanswered counts it. Queries for which one side has no number, in ``value`` or in
        a saved ``baseline``, are always left out; they are in n_unpaired, and not in n_undefined, which counts the
        other queries whose metric is undefined for one of the two. baseline is the name of the system of saved numbers,
        if a column has it, or "saved".

        With ``cluster``, fewer than two clusters leave ci_low, ci_high, p_value and mde null, and mde uses the standard
        error that clusters give. With ``weight``, means, their difference and its deviation are weighted, and mde uses
        the robust standard error of a weighted mean; counts are of queries.

        Not worse than
        --------------
        With ``margin``, p_not_worse and p_equivalent follow p_adjusted. p_not_worse tests that the system loses
        the margin or more: below 0.05 it is not worse than the baseline by as much. The direction of the metric says
        what a loss is; if it is not known, p_not_worse is null. p_equivalent is the greater of this and of the same for
        a gain. By default p_not_worse is the greatest of three one-sided p-values, of differences to which the margin
        was added: of flipped signs, of Student's t, and of t less the skewness of the differences. That of "t" is
        scipy's, that of "bootstrap" the share of resamples that lose the margin, and that of paired shares the level at
        which Newcombe's bound reaches the margin. Both are null if fewer than ten queries, clusters or rows moved, so
        that a loss in rare ones cannot be excluded, or if all moved by the same. "wilcoxon" and "sign" are errors.

        Several systems compared with one metric in a segment are candidates: their p-values are corrected for each
        other by Holm ("bonferroni", "bh" or "none" by ``correction``). Several metrics are not: not worse in all of
        them means that each p_not_worse is small.

        Rows without a query
        --------------------
        Rows are paired by ``doc``. "mcnemar_mid_p" is for shares of rows (accuracy, error_rate, recall, specificity
        ...), and "mcnemar" the exact form of it; both have Newcombe's interval. "delong" is for roc_auc and gini;
        "fisher", exact, for decisions against chance; "bootstrap" for every metric. If rows have a ``weight`` or a
        ``cluster``, only the last is available.

        There is no n_unanswered; rows that only one system has are left out, and n_unpaired counts them. effect_size,
        wins, ties and losses are those of rows, for shares of rows, and null for other metrics; n counts the documents
        that both systems have, and mde comes from the test, or the bootstrap. With ``against`` and no system there is
        no system column, and baseline is the text of ``against``.

        Judgments of a machine
        ----------------------
        With a ``proxy`` of ``judge``, "t" (the default, which needs scipy) and "z" test the prediction-powered
        difference; both take clusters and weights.

        The columns are by..., the system, baseline, metric, k, value, baseline_value, difference, relative, ci_low,
        ci_high (that of the test), p_value, p_adjusted, n (queries whose results of both systems people judged),
        n_proxy (those that only the machine judged), lambda, proxy_difference (by the machine alone), proxy_bias,
        baseline_proxy_bias (by how much it is above people for each system, over the ``n`` queries), p_proxy_bias (that
        both are equal, corrected like p_adjusted), n_unpaired, n_undefined, n_unanswered, mde, test, n_tests,
        correction. value and baseline_value have the lambda of the difference.

        Raises
        ------
        FrameMetricsError
            No ``system`` and no saved ``baseline`` is named, there is only one system, ``baseline`` is none of them, a
            test needs scipy and it is not installed, or a test cannot take the clusters or weights that are named;
            ``arm`` or ``team`` is named. ``margin`` is no number above 0, or greater than differences can be, or names
            a metric that is not compared. Without a query: no ``doc`` is named to pair rows by, it appears twice in a
            system, or systems differ in its label (weight, count, cluster); a metric has no chance value.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> runs = pl.DataFrame(
        ...     {"query": [1, 1, 2, 2, 3, 3], "system": ["a", "b"] * 3, "score": [1.0] * 6, "grade": [1, 0, 1, 0, 1, 1]}
        ... )
        >>> runs.irm(system="system").compare("rr").select("system", "baseline", "difference", "p_value", "n").rows()
        [('b', 'a', -0.6666666666666666, 0.25, 3)]
        """
        from frame_metrics.verbs.compare.compare import compare
        from frame_metrics.verbs.compare.options import CompareOptions

        baseline = _with_roles(baseline)
        return compare(self._plan, metrics, _given(CompareOptions, locals()))

    @verb
    def leaderboard(
        self,
        *metrics: Metrics,
        ci: float = 0.95,
        permutations: int = 10_000,
        resamples: int = 1000,
        seed: int = 0,
    ) -> Frame:
        """Rank systems by their means, with the ranks that each may have, and which of them may be the best.

        Values are paired query by query, as in ``compare``; systems need the same queries.

        Parameters
        ----------
        metrics : names as "ndcg@10", or values as ``frame_metrics.metrics.ndcg @ 10``. With ``value``, all metrics in
            the frame if none is named.
        ci : the level at which intervals, ranks, and the set of systems that may be the best hold.
        permutations, seed : random flips of the signs of differences; as in ``compare``.
        resamples : draws for the intervals of means; as in ``evaluate``.

        Returns
        -------
        A frame of the caller's kind, the best system of each segment and metric first: system, by..., metric, k, value,
        ci_low, ci_high, rank, rank_low, rank_high, may_be_best, reliability, n, n_undefined, n_unanswered.

        - value, ci_low, ci_high, n ... : as ``evaluate`` returns them. The interval is that of one mean.
        - rank : 1 for the best mean; equal means share a rank. Of numbers whose direction is not known, as a latency in
          ``value``, the greatest has rank 1.
        - rank_low, rank_high : 1 + the number of systems that are surely better, and the number of systems less those
          that are surely worse: those whose differences exclude 0 in ``compare`` of all pairs. The ranks of all systems
          hold together. Where systems lack values of some queries, means are over different queries, and pairs over
          those of both: ``rank`` may then lie outside.
        - may_be_best : false if some other system is surely better: the greatest difference in standard errors from the
          others passes a one-sided bound for all comparisons of this system with others. The best system is among those
          that are true. This is another claim than the ranks: it asks less, so that it finds more about who is first,
          and nothing about the others. Where numbers are missing, pairs are compared on different queries: systems may
          then beat each other in a circle, and none may be the best. Null if it is not known whether more is better.
        - reliability : would other queries like these order the systems so? 1 - MS_residual / MS_systems of the values
          by query and system: 1 if all queries show the same differences, 0 if the means differ no more than chance
          makes them. Null with weights, clusters, values that only some systems have, and for one system.

        All columns of a system without a value are null. Of systems that share no query, or too few, none is better.

        Raises
        ------
        FrameMetricsError
            There is no query or no system; arms; a metric without a value for each query.

        Source: J. C. Hsu, Multiple comparisons: theory and methods, 1996 (the best); M. Mogstad, J. P. Romano,
        A. M. Shaikh, D. Wilhelm, Inference for ranks with applications to mobility across neighbourhoods and academic
        achievement across countries, Review of Economic Studies 91(1), 2024 (ranks); D. Bodoff, P. Li, Test theory for
        assessing IR test collections, SIGIR 2007 (reliability).

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> rr = {"a": [1, 0.5, 1, 1, 0.5, 1, 1, 1], "b": [0.5, 1, 1, 0.5, 1, 1, 1, 0.5], "c": [0.0] * 7 + [0.2]}
        >>> runs = pl.concat(pl.DataFrame({"query": range(8), "run": run, "rr": map(float, rr[run])}) for run in rr)
        >>> board = runs.irm(query="query", system="run", value="rr").leaderboard()
        >>> board.select("run", "rank", "rank_low", "rank_high", "may_be_best").rows()
        [('a', 1, 1, 2, True), ('b', 2, 1, 2, True), ('c', 3, 3, 3, False)]
        """
        from frame_metrics.verbs.compare.leaderboard import LeaderboardOptions, leaderboard

        return leaderboard(self._plan, metrics, _given(LeaderboardOptions, locals()))

    @verb
    def ab_test(
        self,
        *metrics: Metrics,
        baseline: Any = None,
        split: Mapping[Any, float] | Literal["equal"] | None = None,
        covariate: str | None = None,
        strata: str | Sequence[str] | None = None,
        looks: Looks | None = None,
        first_look: int | None = None,
        test: Test | None = None,
        correction: Correction | None = None,
        over: Family = "metric",
        margin: Margin | None = None,
        ci: float = 0.95,
        permutations: int = 10_000,
        resamples: int = 1000,
        seed: int = 0,
        per_class: bool = False,
    ) -> Frame:
        """Compare the arms of an online test, whose units were assigned at random: differences, intervals, p-values.

        ``irm(arm="variant", cluster="user").ab_test("ndcg@10", baseline="old")``. Each arm is measured over its own
        queries, as with ``by``. A unit is a cluster, or without ``cluster`` a query, or a row without a query: name
        those that were assigned, the users, with ``cluster``. Two periods, which nobody assigned, are compared by
        ``change``.

        Formula: difference = mean of the arm - mean of the baseline. Its variance is that of the units' contributions
        to both means: a unit in both arms, such as a user who comes back, is one unit with one contribution. p-values
        and intervals are those of ``test``.

        Undefined: an arm of fewer than two units leaves intervals, p-values and mde null. An average over classes has
        no difference if two arms have it over different classes: an error, and null with ``by``.

        Parameters
        ----------
        metrics : as in ``compare``.
        baseline : the arm that every other is compared with, or a list of arms. By default every arm is compared with
            all before it, in the order of ``change``: "new" with "old", and "test" with "control". Name it.
        split : the share of the units that each arm should have, as {"old": 0.9, "new": 0.1}, or "equal". All arms are
            tested together: by the chi-square test, or in segments of ``by`` by an exact binomial test. A p-value below
            0.001 in split_p_value means that units were not assigned as planned, so that the arms differ in more than
            what you test: split_note says so, and ``audit(split=)`` and ``summary(split=)`` have the numbers. What has
            no arm (null) is left out of this test, unless it is named or is one of two. By default nothing is tested,
            as shares may change while a test is ramped up.
        covariate : a column of numbers that were known before the test, one value per query, or cluster. The variation
            that it explains is removed from each mean (CUPED), so intervals are shorter by sqrt(1 - rho**2), where rho
            is its correlation with the measured value.
        strata : a column of what was known of each unit before the test, such as its device, or several in a list, of
            which each combination is a stratum. Arms are compared within strata: means are those of arms that both have
            the mix of strata of all their units together. difference = sum over strata of w_s (mean_s - mean_s of the
            baseline), where w_s is the share of the stratum in the queries of both arms, or in their weights. So arms
            whose mixes differ do not differ for that, and where strata differ intervals are shorter. Variances are
            added up over strata, times w_s squared, for this mix of units. Units are exchanged within strata, and the
            distance is that of the added difference. Each stratum needs two units of each arm; null is a stratum too.
            A column that the test may change, such as the number of clicks in it, takes a part of its effect away.
        looks : for a test that is looked at repeatedly while it grows. "any": the interval is that of a confidence
            sequence, which covers the true difference at all looks together, however many there are and whenever you
            stop; the p-value is valid at all of them too, and is below 1 - ``ci`` if the interval excludes 0. It
            assumes the normal distribution, as "z" does. By default there is one look, planned before.
        first_look : the number of units in each arm before anybody looks, at least 100, which is the default. Before
            that the interval is null and the p-value 1. So they are while an arm has fewer than ten units that differ
            from its most frequent value, such as ten buyers among many who buy nothing; twenty for values of more than
            two kinds, such as revenue. Use the same number at every look: the smaller it is, the longer the intervals.
        test : two-sided. "randomization", the default, exchanges units between two arms (exact if there are at most
            ``permutations`` ways, else with that many random exchanges and p = (b + 1) / (n + 1)) and compares
            differences in standard errors, so that an arm may be small and vary more. Values of two kinds, such as 0
            and 1, and rare values are compared by the plain difference. Where 10,000 units or more would be exchanged
            one by one, the test of large arms without outliers is "t", and that of others draws 1,000 exchanges
            first, and the rest only for a p-value below 0.1. It is "t" too if some units are in both arms and, of the
            others, one arm has more. "t" is Welch's, which needs scipy, "z" the normal one;
            "bootstrap" resamples the units of each arm, and a unit of several arms whole. These three are wrong where
            fewer than ten units of an arm differ from its most frequent value. All take clusters and weights. Without
            a query the rows of each arm are pooled: for shares of rows, other measures of true and predicted classes
            with a range, and roc_auc and gini if each row counts once, the level at which Newcombe's interval ends at
            0, "newcombe" in the column test; else "bootstrap", whose draws are more if over 25 tests are corrected
            together. "delong" is for large arms: areas near 1 of a small one seem to differ.
        correction : as in ``compare``. "max_t" is the default of "randomization": the units of all arms are permuted at
            once, the greatest distance of all pairs in each permutation is kept, and intervals hold together. Other
            tests have "holm", and so have arms that share units, a ``covariate`` and ``strata``.
        over : as in ``compare``: the pairs of arms of a "metric" in one segment, or "all" rows.
        margin : as in ``compare``: the loss that would still be accepted, which adds p_not_worse and p_equivalent. By
            default p_not_worse is the greatest of half the p-value of exchanged units, after the margin was added to
            the arm, of Welch's t, and of Welch's t less the skewness of the values, all one-sided; for shares it is the
            level at which the bound of Newcombe's interval reaches the margin. It is null where fewer than ten units of
            an arm, and fewer than half, differ from its most frequent value, but for shares. With ``looks`` it is valid
            at all looks.
        ci : level of the interval of the difference, with "max_t" of all intervals together. It is that of the test:
            Welch's for "t", normal for "z", and percentiles for "bootstrap". That of the default is Newcombe's for
            shares, of which all values are 0 or 1, and Welch's for other means. If fewer than ten units of an arm, and
            fewer than half, differ from its most frequent value, it is Newcombe's on the range of the metric, and null
            for a metric without a range. With ``strata`` Newcombe's adds up the squares of all strata, and is widened
            to z's. Without a query shares of rows and other measures of true and predicted classes with a range have
            Newcombe's, and other measures percentiles, by default.
        permutations, resamples, seed : of the random draws; they are the same on every machine.
        per_class : as in ``compare``; before n stand support and baseline_support, the rows of the class in each arm.

        Returns
        -------
        A frame of the caller's kind: by..., the arm, baseline(, class), metric, k, value, baseline_value, difference,
        relative (difference / |baseline_value|), relative_low, relative_high (null unless both means have the same
        sign; without a query, unless the interval of the baseline excludes 0), ci_low, ci_high, p_value, p_adjusted,
        effect_size (difference / standard deviation over the queries of an arm; null without a query), n and baseline_n
        (queries, or rows), n_units and baseline_n_units, n_shared (units in both arms), n_undefined (queries without a
        value of their own: of success@1 searches without a click, which count as 0), n_unjudged and baseline_n_unjudged
        (queries with results whose labels are all null, which are left out unless ``unjudged_queries="count"``; null
        without a query), mde (the smallest difference that this sample would detect 80 % of the time at level 1 -
        ``ci``, of all pairs together with "max_t"; null where so few units cannot reach it, or say nothing of how
        values vary), test, n_tests, correction (both as in ``compare``), unit_share and baseline_unit_share (of the
        units of all arms in the segment, whether a metric is defined or not), split_p_value (null without ``split``),
        split_note (what to know of the units: that they were not assigned as planned; how many are in both arms, or in
        none; without ``cluster``, that they are queries, and that most of these are in both arms). With ``covariate``
        the means are those of arms with the same mean covariate, with ``strata`` those of arms with the same mix.

        With ``looks`` test is "sequence": with t the harmonic mean of n and baseline_n over ``first_look``, the ends
        are sqrt(c + log(t)) standard errors away, where c is the quantile of chi-square with 3 degrees of freedom, and
        mde is that of this look. t counts queries, as units that come back, and few large ones, also carry more
        information.

        Raises
        ------
        FrameMetricsError
            No ``arm`` is named, there is only one, or ``baseline`` is none of them. ``split`` does not name each arm
            with its share. Without ``cluster`` every query is in every arm, as if systems had answered the same ones:
            ``compare`` pairs them. A covariate does not exist, lacks a value, or has several in a cluster. With
            A stratum has fewer than two units of an arm, or a unit is in several. With ``strata`` a unit is in both
            arms and would be exchanged, or ``covariate``, ``looks`` or "max_t" is given too. With ``looks`` a query is
            in both arms and no cluster is named. A test needs scipy and it is not installed.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> rows = {"query": range(6), "variant": ["old", "new"] * 3, "score": 1.0, "grade": [1, 0, 1, 0, 1, 1]}
        >>> arms = pl.DataFrame(rows).irm(arm="variant")
        >>> found = arms.ab_test("rr", baseline="old", split="equal")
        >>> found.select("variant", "difference", "p_value", "n", "baseline_n", "split_p_value").rows()
        [('new', -0.6666666666666667, 0.4, 3, 3, 1.0)]

        Source: units in several arms, A. Deng, U. Knoblich, J. Lu, Applying the delta method in metric analytics, KDD
        2018; covariate, A. Deng, Y. Xu, R. Kohavi, T. Walker, Improving the sensitivity of online controlled
        experiments by utilizing pre-experiment data, WSDM 2013; exchange, A. Janssen, Studentized permutation tests for
        non-i.i.d. hypotheses, Statistics & Probability Letters 36(1), 1997; shares, R. G. Newcombe, Interval estimation
        for the difference between independent proportions, Statistics in Medicine 17(8), 1998; strata, L. W. Miratrix,
        J. S. Sekhon, B. Yu, Adjusting treatment effect estimates by post-stratification in randomized experiments,
        Journal of the Royal Statistical Society B 75(2), 2013, their shares, G. Y. Zou, A. Donner, Construction of
        confidence limits about effect measures, Statistics in Medicine 27(10), 2008; "max_t", P. H. Westfall,
        S. S. Young, Resampling-based multiple testing, 1993; looks, I. Waudby-Smith, D. Arbour, R. Sinha, E. H.
        Kennedy, A. Ramdas, Time-uniform central limit theory and asymptotic confidence sequences, Annals of Statistics
        52(6), 2024; its bound, H. Robbins, D. Siegmund, Boundary crossing probabilities for the Wiener process and
        sample sums, Annals of Mathematical Statistics 41(5), 1970.
        """
        from frame_metrics.verbs.compare.ab_test import ab_test
        from frame_metrics.verbs.compare.options import ArmOptions

        baseline = _with_roles(baseline)
        return ab_test(self._plan, metrics, _given(ArmOptions, locals()))

    @verb
    def change(
        self,
        *metrics: Metrics,
        baseline: Any = None,
        test: Test | None = None,
        correction: Correction | None = None,
        over: Family = "metric",
        margin: Margin | None = None,
        ci: float = 0.95,
        permutations: int = 10_000,
        resamples: int = 1000,
        seed: int = 0,
        per_class: bool = False,
    ) -> Frame:
        """Compare periods, such as two weeks, each over its own queries: the change, with intervals and p-values.

        ``irm(arm="week", cluster="user").change("ndcg@10", baseline="2026-W01")``. Nobody assigned queries or users to
        a period at random, so a change has many possible causes, among them other queries. A unit is a cluster, or
        without ``cluster`` a query, or a row without a query. A unit that is in both periods, such as a user who comes
        back, or a query that is asked again, is one unit.

        The unit is what would be drawn anew in another week. ``cluster="user"``: other users would come, and ask what
        they ask. ``cluster="text"``, the column of the search text: other texts would be asked, so the change is that
        of all that may be searched. Without ``cluster`` each search counts as independent of all others, which is right
        only if hardly anybody searches twice. Terms that are measured every day are ``query=["term", "day"]`` and
        ``cluster="term"``. For the same queries in both periods, ``compare`` pairs them.

        Formula: difference = mean of the period - mean of the baseline, with the variance of the units' contributions
        to both means. The numbers are those of ``ab_test``.

        With ``by`` each difference is taken apart: how much of it comes from the mix of segments, and how much from
        within them. With p the share of a segment among the queries (or their weights) of a period, v its mean, 1 the
        period, 0 the baseline, and c the mean of both means, a segment adds

            from_mix = (p1 - p0) ((v1 + v0) / 2 - c), from_within = (v1 - v0) (p1 + p0) / 2, change = their sum.

        A segment that is new or gone adds from_within 0, and in from_mix its one mean is used for both. Several columns
        are one key. Rows of totals follow, sums over segments with null keys, as ``margins=True`` has them: that over
        all segments is the difference itself. What is not in ``by`` counts as within: if long searches became more
        frequent on every device, that is within devices.

        Undefined: a period of fewer than two units leaves intervals, p-values and mde null. An average over different
        classes in two periods is an error, as of a week that has no row of one of them. With ``by``, intervals are
        null where the period or the baseline has fewer than 20 queries; that of from_within also where fewer than three
        units of both have another value than most queries. Each is for its own row: of 100 segments without a change
        about five have one without 0, and more if neighbouring days of a segment are alike.

        Parameters
        ----------
        metrics : as in ``compare``.
        baseline : the period that every other is compared with, or a list of periods. By default every period is
            compared with all before it, in the order of time where their names say it, as "2026-W01", "Nov 2025", "W9",
            "v10", "before", or if the column is an ordered category. Else a "control" or "baseline" is the first, and
            the others are in the order of the numbers in their names, and of the alphabet. Or a frame of saved numbers
            of another period, what ``per_query`` returned, a row per query and metric: the log is then one period, or
            has several in ``arm``, without clusters and weights, and a query that was asked in both is one unit.
        test, correction, over, margin : without ``by`` only.
        test : two-sided. "randomization", the default, exchanges units between two periods, and compares differences in
            standard errors; with the exceptions that ``ab_test`` has. "t" is Welch's, which needs scipy, "z" the normal
            one; "bootstrap" resamples units. Without a query "newcombe", "bootstrap" or "delong", as in ``ab_test``.
        correction, over : as in ``ab_test``.
        margin : as in ``ab_test``: the loss that would still be accepted, which adds p_not_worse and p_equivalent.
        ci : level of the interval of the difference, which is that of the test, as in ``ab_test``; with ``by``
            percentiles of resampled units, at the expanded level of so many. Units of both periods are drawn together.
        permutations, resamples, seed : of the random draws; they are the same on every machine.
        per_class : as in ``ab_test``.

        Returns
        -------
        With ``by``, a frame of the caller's kind: the period, baseline, by..., total_over, metric, k, share,
        baseline_share, value, baseline_value, change, from_mix and from_within, each with _low and _high, n,
        baseline_n and n_undefined (queries of both periods). A row for each pair of periods, segment or total, and
        metric.
        Without, a frame of the caller's kind: the period, baseline(, class), metric, k, value, baseline_value,
        difference, relative, relative_low, relative_high, ci_low, ci_high, p_value, p_adjusted, effect_size, n,
        baseline_n (queries, or rows), n_units and baseline_n_units, n_shared (units in both periods), n_undefined,
        n_unjudged and baseline_n_unjudged (null of saved numbers), mde, test, n_tests, correction, split_note (what to
        know of the units; null with saved numbers); each as ``ab_test`` returns it.

        Raises
        ------
        FrameMetricsError
            The column of periods is not named with ``arm``, there is only one period, or ``baseline`` is none of them.
            Without ``cluster`` every query is in every period, as if systems had answered the same ones. With ``by``,
            an option of tests is given, or there is no query.
            A saved baseline has several systems, or lacks a metric. A test needs scipy and it is not installed.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> rows = {"query": range(6), "week": ["W01"] * 3 + ["W02"] * 3, "score": 1.0, "grade": [1, 0, 1, 0, 1, 1]}
        >>> weeks = pl.DataFrame(rows).irm(arm="week")
        >>> weeks.change("rr").select("week", "baseline", "difference", "p_value", "n", "baseline_n").rows()
        [('W02', 'W01', 0.0, 1.0, 3, 3)]
        >>> last = weeks.per_query("rr").filter(pl.col("week") == "W01")
        >>> now = pl.DataFrame(rows).filter(pl.col("week") == "W02").irm(by=None)
        >>> now.change("rr", baseline=last).select("baseline", "difference", "n", "baseline_n").rows()
        [('saved', 0.0, 3, 3)]
        >>> by_device = pl.DataFrame(rows | {"device": [*"ppwpww"]}).irm(arm="week", by="device").change("rr")
        >>> by_device.select("device", "total_over", "change", "from_mix", "from_within").rows()[-1]
        (None, 'device', 0.0, 0.25, -0.25)

        Source: A. Deng, U. Knoblich, J. Lu, Applying the delta method in metric analytics: a practical guide with novel
        ideas, KDD 2018; parts, E. M. Kitagawa, Components of a difference between two rates, Journal of the American
        Statistical Association 50, 1955.
        """
        from frame_metrics.verbs.compare.ab_test import ab_test
        from frame_metrics.verbs.compare.options import ChangeOptions

        baseline = _with_roles(baseline)
        return ab_test(self._plan, metrics, _given(ChangeOptions, locals()))

    @verb
    def interleaving(
        self,
        *metrics: Metrics,
        baseline: Any = None,
        test: Preference | None = None,
        correction: Correction | None = None,
        over: Family = "metric",
        ci: float = 0.95,
        permutations: int = 10_000,
        resamples: int = 1000,
        seed: int = 0,
        per_query: bool = False,
    ) -> Frame:
        """Compare the teams of interleaved lists: which one users prefer, with intervals and p-values.

        ``irm(team="team", cluster="user").interleaving("clicks", baseline="old")``. ``query`` is the impression of one
        list, with rows of two teams or more, and a relevant row is a click. The credit of a team in an impression is
        the metric of its own rows; the team with more of it wins the impression. For a metric of which less is better,
        such as "abandonment", the team with less wins. Rows whose team is null credit none.

        Formula: preference = (wins + ties / 2) / n - 1/2, from -1/2 to 1/2; 0 if users like both equally.

        Undefined: two teams that share no impression have n 0 and no preference; fewer than two impressions, or
        clusters, leave intervals and mde null.

        Parameters
        ----------
        metrics : the credit, as "clicks" (the number of clicks), or "success" if a second click is worth nothing.
        baseline : the team that every other is compared with, or a list of teams. By default every team is compared
            with all before it.
        test : two-sided. "randomization", the default, flips who won an impression, or all impressions of a cluster
            together (exact if there are at most ``permutations`` ways, else with that many random flips and p = (b + 1)
            / (n + 1)); "sign" is scipy's test of wins and losses, which takes no clusters or weights; "bootstrap"
            resamples impressions, or clusters.
        correction, over : as in ``compare``.
        ci : level of the interval of the preference: with several pairs of teams of all intervals together; else
            percentile bootstrap over impressions, or clusters.
        permutations, resamples, seed : of the random draws; they are the same on every machine.
        per_query : whether to return the credits of each impression instead, the largest difference first. Options of
            the mean are then refused: ``test``, ``correction``, ``over`` and ``ci``.

        Returns
        -------
        A frame of the caller's kind: by..., the team, baseline, metric, k, value and baseline_value (credit per
        impression), preference, ci_low, ci_high, p_value, p_adjusted, effect_size (preference / its standard deviation
        over impressions), wins, ties, losses, n (impressions with rows of both teams), n_unpaired (impressions with
        rows of one of the two, which are left out), n_undefined, n_unjudged (impressions with rows of both whose labels
        are all null, which are left out unless ``unjudged_queries="count"``), mde (the smallest preference that this
        sample would detect 80 % of the time at level 1 - ``ci``), test, n_tests, correction (both as in ``compare``).
        With ``weight``, a weight of the impression, means and the preference are weighted; wins, ties and losses are
        counts. With ``per_query``: by..., the query columns, the team, baseline, metric, k, value, baseline_value,
        difference.

        Raises
        ------
        FrameMetricsError
            Rows of some lists have no label, and no row has a 0, so that null may mean no click.
            No ``team`` is named, there is only one, or ``baseline`` is none of them. A team shares no list with
            another. ``system``, ``propensity`` or judgments beside the log are given too. A test cannot take the
            clusters or weights that are named, or needs scipy and it is not installed.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> shown = {"query": [1, 1, 2, 2, 3, 3], "rank": [1, 2] * 3, "team": [*"abbaab"], "label": [0, 1, 1, 0, 0, 0]}
        >>> found = pl.DataFrame(shown).irm(team="team").interleaving("clicks", baseline="a")
        >>> found.select("value", "baseline_value", "preference", "wins", "ties", "losses").rows()
        [(0.6666666666666666, 0.0, 0.3333333333333333, 2, 1, 0)]

        Source: preference, O. Chapelle, T. Joachims, F. Radlinski, Y. Yue, Large-scale validation and analysis of
        interleaved search evaluation, ACM TOIS 30(1), 2012; credit, F. Radlinski, M. Kurup, T. Joachims, How does
        clickthrough data reflect retrieval quality?, CIKM 2008.
        """
        from frame_metrics.verbs.compare.interleaving import InterleavingOptions, interleaving

        baseline = _with_roles(baseline)
        return interleaving(self._plan, metrics, _given(InterleavingOptions, locals()))

    @verb
    def similarity(
        self,
        *measures: Metrics,
        baseline: Any = None,
        average: Average | Sequence[Average] | None = None,
        ci: float | None = None,
        margins: bool = False,
        resamples: int = 1000,
        seed: int = 0,
        per_query: bool = False,
    ) -> Frame:
        """Compare the rankings of systems with each other, without judgments: how much they have in common.

        Documents are identified by ``doc``, and only the order of a ranking counts: a rank at which nothing was shown
        is skipped. Judgments are not read.

        Parameters
        ----------
        measures : "rbo" (rank-biased overlap, extrapolated), "rbo_residual", "overlap@10", "jaccard@10", "kendall_tau",
            "tau_ap", with or without a cutoff, with parameters as "rbo(p=0.95)", one by one or in a list.
        baseline : the system that every other is compared with, or a list of systems; by default every system with all
            before it. Or a frame of rankings, with which each system is compared, or the whole frame if no system is
            named. Its columns have the same names, or are named, ``other.irm(query="qid", doc="id", score="s")``. Its
            segments need the same names: ``other.irm(by=pl.col("language").alias("lang"))``.
        average, ci, margins, resamples, seed : as in ``evaluate``, for the values of queries; an interval of fewer than
            two queries, or clusters, is null.
        per_query : whether to return the values of queries instead.

        Returns
        -------
        A frame of the caller's kind: system, baseline, by..., (total_over,) metric, k, average, value, n, n_undefined
        (, n_unpaired) (, ci_low, ci_high), as ``evaluate`` returns. With ``per_query``: system, baseline, by..., the
        query columns, metric, k, value, undefined. Queries are those of any system. If one of two systems has no
        document for a query, the value is 0. If neither has one, it is undefined, and left out of the mean.

        With a frame as ``baseline`` queries are those that both frames have in a segment, even if one retrieved
        nothing. ``n_unpaired`` counts the queries of a segment that only one frame has; they are left out.

        Equal scores are ordered by document; with ``ties="expected"`` the value is the mean over all their orders. This
        has a closed form for "rbo" (as RBO^a), "overlap" and measures without a cutoff. "worst" and "best" need
        judgments, and are refused.

        Raises
        ------
        FrameMetricsError
            No ``doc`` is named; no ``system`` and no frame as ``baseline``; a metric that needs judgments; a frame as
            ``baseline`` that has no query, or no document, in common with this one, or other segments.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> rows = {"query": 1, "run": [*"aaaaabbbb"], "doc": [*"vwxyz", *"wvqy"], "rank": [1, 2, 3, 4, 5, 1, 2, 3, 4]}
        >>> runs = pl.DataFrame(rows).irm(system="run")
        >>> runs.similarity("overlap@3", "jaccard@2").select("run", "baseline", "metric", "value").rows()
        [('b', 'a', 'overlap@3', 0.6666666666666666), ('b', 'a', 'jaccard@2', 1.0)]
        """
        from frame_metrics.verbs.similarity import SimilarityOptions, similarity

        baseline = _with_roles(baseline)
        return similarity(self._named, measures, _given(SimilarityOptions, locals()))

    @verb
    def explain(self, metric: str | Metric, *, query: Any) -> Frame:
        """Take a metric apart, query by query: the contribution of each result of a ranking, and what was missed.

        Parameters
        ----------
        metric : of a ranking, or of the 2x2 table at a cutoff or on the retrieved set.
        query : the query's value, or a tuple of a value for each of its columns; a list of these for several queries.

        Returns
        -------
        A frame of the caller's kind, a row for each result up to the cutoff, in rank order: system, by..., the query
        columns, the document if one is named, rank, gain (of its grade; for binary metrics 0 or 1), discount (the
        weight of its rank in cg, dcg, ndcg and rbp, before any division; null for others), contribution (by how much
        the result changes the metric's value, with those below it removed; contributions add up to the value; null if
        undefined), judged, undefined (whether the metric is, for this ranking). Then come documents with a gain that
        add nothing: those past the cutoff, and with a null rank those that were not retrieved, if their names are
        known. Every system has rows; filter the result for one of them.

        Raises
        ------
        FrameMetricsError
            The frame has no such query, or the metric is not of a ranking or is not 0 if nothing is retrieved, or the
            judgments have documents that the frame's column cannot hold.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> log = pl.DataFrame({"query": ["a"] * 3, "score": [3.0, 2.0, 1.0], "grade": [1, 0, 1]})
        >>> log.irm.explain("recall@3", query="a").select("rank", "gain", "contribution").rows()
        [(1, 1.0, 0.5), (2, 0.0, 0.0), (3, 1.0, 0.5)]
        """
        from frame_metrics.verbs.explain import explain

        return explain(self._plan, metric, query=query)

    @verb
    def sample_size(
        self,
        *metrics: Metrics,
        detect: float | Sequence[float],
        power: float | Sequence[float] = 0.8,
        baseline: Any = None,
        split: Mapping[Any, float] | Literal["equal"] | None = None,
        n_tests: int = 1,
        n_all: int | None = None,
        ci: float = 0.95,
        resamples: int = 1000,
        seed: int = 0,
    ) -> Frame:
        """Count the queries, users or other units that a test needs to detect a true difference with a given power.

        The log is the pilot: the variation of its differences determines how many units detect a difference of
        ``detect``. Units are queries, or with ``cluster`` clusters, each with as many queries as here. With ``system``
        they are those of ``compare``, which answer all systems. With ``arm`` they are those of each arm of ``ab_test``,
        of equal size unless ``split`` says otherwise. It is for one look at the end: with ``looks="any"`` of
        ``ab_test`` a power of 80 % becomes 34 to 46 % (simulated: 500 to 5,000 units in each arm, 200 trials), 70 to 84
        % with twice as many units, and 91 to 96 % with three times as many.

        Formula: n = (z(1 - a / 2) + z(power))^2 s^2 / detect^2 + z(1 - a / 2)^2 / 2, rounded up, where s^2 is the
        variance of the paired differences and a is (1 - ``ci``) / ``n_tests``, two-sided. The last term is what a
        t-test needs beyond a normal one. Of systems n is at least 1 + log2(1 / (1 - ``ci``)), 6 at 0.95: with fewer no
        flip of signs has so small a p-value; of arms at least so many that an exchange can, 4 of each. Of arms s^2 is
        the sum of the variances of both, each n times that of a mean of n units, and the last term is halved. With
        ``split`` arms have n_1 and n_2 units in that ratio, n is their mean, and s_1^2 / n_1 + s_2^2 / n_2 takes the
        place of s^2 / n; the last term is that of Welch's test.

        With a ``proxy`` of ``judge`` it counts the queries that people must judge, of those that the machine judges, to
        detect the prediction-powered difference. Let s^2 be the variance by people on the queries that they judged, v^2
        that of the machine on all, c = r s v where r is the correlation of both on the former, and N ``n_all``. n is
        the least for which (s^2 - 2 lambda c + lambda^2 v^2 / (1 - n / N)) / n is no more than detect^2 / (z(1 - a / 2)
        + z(power))^2, where the divisor n is reduced by the last term above. lambda is (1 - n / N) c / v^2 within 0 and
        1; it is fitted to n queries, so the variance is its mean over the possible fits. n is at least 25, and enough
        for four queries that differ, unless people alone need fewer; never below 5. docs/look_up/intervals.md has an
        example by hand.

        Parameters
        ----------
        metrics : as in ``compare``.
        detect : the true difference of the means that should be detected, in units of the metric, or a list of them.
        power : the chance to detect it, or a list of chances, as for a curve.
        baseline : as in ``compare``; with ``arm`` as in ``ab_test``.
        split : with ``arm``, the share of the units that each arm will have, as {"old": 0.9, "new": 0.1}. By default,
            and with "equal", all have the same.
        n_tests : how many pairs of systems and metrics will be tested; each gets the Bonferroni level.
        n_all : with a proxy, how many queries (or clusters) of a segment the machine judges in all, including those of
            people; None for those of the log.
        ci : 1 minus the level of the test; also the level of the interval of the needed number.
        resamples, seed : of the interval, which resamples queries (or clusters) of the pilot.

        Returns
        -------
        A frame of the caller's kind: by..., the system, baseline, metric, k, detect, power, n (queries of the pilot),
        n_units (its clusters, or queries), needed (units), needed_low, needed_high. The interval is wide if the pilot
        is small: the power that ``needed`` reaches varies as much. Null if the pilot has fewer than two units, or no
        variance; needed_high also if fewer than ten units, and fewer than half, differ from the most frequent value of
        their arm (of pairs: difference), as the variance may then be far too small by chance. With ``arm`` n,
        baseline_n, n_units, baseline_n_units, n_shared, n_unjudged and baseline_n_unjudged are those of the two arms,
        as in ``ab_test``; needed counts units of the arm, and baseline_needed those of the
        baseline, of a test with the shares in share and baseline_share; split_note is that of ``ab_test``. With a proxy
        n and n_units are of people, n_all follows them, and a last column reason says why needed is null: even all
        n_all are too few, or people judged fewer than 5 units, or fewer than 5 with all that the metric reads. The ends
        of the interval are null if they are beyond n_all.

        Raises
        ------
        FrameMetricsError
            There is no query, or ``compare`` refuses these queries; without ``cluster`` every query is in every arm, as
            if systems had answered the same ones; a number is out of its range, or given twice; the
            difference is greater than that of any two values of the metric; ``n_all`` without a proxy; judgments with
            ``sampling``.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> saved = {"query": [*range(8)] * 2, "run": [*"aaaaaaaabbbbbbbb"], "rr": [0.5] * 8 + [0.4, 0.6] * 4}
        >>> pilot = pl.DataFrame(saved).irm(system="run", value="rr")
        >>> pilot.sample_size(detect=0.05).select("n", "needed", "needed_low", "needed_high").rows()
        [(8, 38, 18, 38)]
        >>> apart = pilot.frame.with_row_index().irm(query="index", arm="run", value="rr")
        >>> apart.sample_size(detect=0.05, power=[0.5, 0.8]).select("power", "n_units", "needed").rows()
        [(0.5, 8, 19), (0.8, 8, 37)]

        Source: J. Cohen, Statistical power analysis for the behavioral sciences, 1988; W. C. Guenther, Sample size
        formulas for normal theory t tests, The American Statistician 35(4), 1981.
        """
        from frame_metrics.verbs.compare.sample_size import SizeOptions, sample_size

        baseline = _with_roles(baseline)
        return sample_size(self._plan, metrics, _given(SizeOptions, locals()))

    @verb
    def bounds(
        self,
        *metrics: Metrics,
        of: BoundsOf,
        baseline: Any = None,
        max_grade: float | None = None,
        per_query: bool = False,
    ) -> Frame:
        """Bound a metric over all orders of equal scores, or over all missing judgments.

        Parameters
        ----------
        metrics : names as "ndcg@10", or values as ``frame_metrics.metrics.ndcg @ 10``.
        of : "ties", the worst and the best order of results with equal scores; "unjudged", the least and the greatest
            value over all judgments that the unjudged rows could get. The order of the results stays, and an undefined
            value is 0.
        baseline : a system; the differences of the others from it are bounded, of="unjudged". A document that both list
            has one judgment for both.
        max_grade : the highest grade of the scale 0, 1, 2 ...; metrics of gains need it to bound unjudged rows.
        per_query : whether to return a row per query instead of their mean.

        Returns
        -------
        A frame of the caller's kind: system, by..., metric, k, average, value, lower, upper, tied or judged, n,
        n_undefined. The value and its bounds are averaged as in evaluate(), and ``average``, ``n`` and ``n_undefined``
        are those of it. ``tied`` is the share of queries with equal scores on both sides of the cutoff (without a
        cutoff, with any), ``judged`` the share of judged results up to the cutoff, its plain mean over queries. With
        ``per_query``: system, by..., the query columns, metric, k, value, lower, upper, and whether the query is tied,
        or what share of it is judged.

        With ``baseline``: system, by..., baseline, metric, k, average, difference, lower, upper, can_turn, exact, n;
        with ``per_query`` the query columns too, and neither average nor n. ``difference`` is that of ``compare``.
        ``can_turn`` is true if judgments could put the other system ahead. ``exact`` is true if some judgments reach
        each end: for metrics that add up over results (precision, dcg, rbp), ndcg and recall, and if one of the two
        systems has nothing open. Otherwise the ends of the two systems are taken separately, and no judgments may reach
        both: then only a ``can_turn`` of false is sure.

        Raises
        ------
        FrameMetricsError
            A metric has no bounds, max_grade is needed, an undefined query would not count in the mean, or unjudged
            rows have equal scores that their judgments would order.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> log = pl.DataFrame({"query": [1, 1, 1], "score": [2.0, 1.0, 1.0], "grade": [1, 1, 0]})
        >>> log.irm.bounds("precision@2", "ap", of="ties").select("metric", "value", "lower", "upper", "tied").rows()
        [('precision@2', 0.5, 0.5, 1.0, 1.0), ('ap', 0.8333333333333333, 0.8333333333333333, 1.0, 1.0)]
        """
        from frame_metrics.verbs.bounds.bounds import bounds

        return bounds(
            self._plan, metrics, of=of, baseline=_with_roles(baseline), max_grade=max_grade, per_query=per_query
        )

    @verb
    def to_judge(
        self,
        n: int | None = None,
        metric: str | Metric = "ndcg@10",
        *,
        baseline: Any = None,
        way: JudgingWay = "bounds",
        max_grade: float | None = None,
    ) -> Frame:
        """Return the unjudged documents to judge next: those whose judgments settle most, of all systems together.

        ``moves`` is how much narrower the bounds of ``bounds(of="unjudged")`` become once the document is judged: the
        mean of two judgments, no gain and the highest. With ``baseline`` the bounds are those of the differences from
        it. It is summed over segments, and averaged over systems. For a metric that adds up over results (precision,
        dcg, rbp) no other ``n`` documents narrow them more, whatever the judgments are. For ndcg and recall in a small
        log, no others do so on average over all judgments. There all choices are tried, up to some million steps, as
        for 15 queries with 8 unjudged documents each (docs/developers/bounds_proofs.md). In a larger log the order is
        good, but not proved to be the best. A document counts after those of its query above it, as if these were
        judged in turn, no gain and the highest: a query's ``moves`` add up to no more than the width there.

        Parameters
        ----------
        n : how many documents; None for all that move the metric. For ndcg and recall the best few need not be among
            the best of more.
        metric : its name, or a value, of ndcg, recall or a metric that adds up over results.
        baseline : a system, to settle the differences of the others from it; None to settle their values.
        way : "bounds", as above; or "depth", the shallowest rank first in any system, then the documents that most
            systems found: pooling. It reads only ranks, and no metric.
        max_grade : as in ``bounds``.

        Returns
        -------
        A frame of the caller's kind, a row for each query and document (and segment, if judgments belong to one):
        by..., the query columns, doc, moves (not with "depth"), rank (the best one in any system; null if none
        retrieved it), n_systems (how many did), chosen (true, as these are not a random sample of the documents). Equal
        documents keep the order of the frame. Queries without a single judgment are in no mean, and so only in "depth",
        or with ``unjudged_queries="count"``.

        Raises
        ------
        FrameMetricsError
            No document is named; nobody has judged yet ("depth" is for that); what ``bounds`` refuses; a metric for
            which the effect of a judgment is not known.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> runs = {"query": [1] * 6, "run": [*"aaabbb"], "doc": [*"xyzzyw"], "score": [3, 2, 1] * 2}
        >>> irm = pl.DataFrame(runs | {"grade": [1, *[None] * 5]}).irm(system="run")
        >>> irm.to_judge(2, "precision@2", baseline="a").rows()
        [(1, 'z', 0.5, 1, 2, True)]
        >>> irm.to_judge(way="depth").select("doc", "rank", "n_systems").rows()
        [('z', 1, 2), ('y', 2, 2), ('w', 3, 1)]
        """
        from frame_metrics.verbs.bounds.next_judgments import to_judge

        return to_judge(self._plan, n, metric, baseline=_with_roles(baseline), way=way, max_grade=max_grade)

    @verb
    def audit(
        self,
        fail_on: FailOn | None = None,
        *,
        baseline: Any = None,
        split: Mapping[Any, float] | Literal["equal"] | None = None,
    ) -> Frame:
        """Report errors and oddities in the data, what was not counted, and plain facts.

        Parameters
        ----------
        fail_on : raise if there is a finding of this severity ("error", "warning" or "info") or a more severe one, with
            the findings in the message. Or limits by check or severity, as {"queries without judgments": .02,
            "duplicates": 0, "warning": True}: a float is a share, an int a count, True fails on any finding. The limit
            of a check overrides that of its severity, which applies to each finding separately; more severe findings
            without a limit fail. A check that finds nothing passes; a finding without a share is above any share.
            "duplicates" are repeated documents, left out or an error. If nothing could be checked, every gate fails.
            Facts fail only by name. A lazy frame is then run at once.
        baseline : saved numbers, as in ``compare``, whose queries are checked together with those of the frame.
        split : with ``arm``, the share of units (clusters if named, else queries, or rows without a query) that each
            arm should have, as {"A": 0.5, "B": 0.5}, or "equal". A chi-square test checks it; p below 0.001 is a
            warning. So is each segment of ``by`` with wrong shares, by an exact binomial test that is corrected for the
            number of segments; example has its name. Clusters that are in several arms are found without it, too.

        Returns
        -------
        A frame of the caller's kind, a row per finding, the most severe first: check, severity, n (how many), share (of
        what the check looks at; null if there is no such total, or it is 0), example, message. The severities:

        - "error": other verbs raise for it, or have nothing to measure. Bad values are among them: the message counts
          their rows and shows three, from 0 as they stand in the frame, and everything after is about the other rows; a
          row that is bad in two ways is in the first finding only.
        - "warning": the numbers may not mean what they seem to.
        - "info": worth knowing.
        - "fact": what the numbers rest on; always there, with n = 0 where there is nothing.

        A check that finds nothing has no row. If ``catalogue``, ``popularity`` or ``group`` is named, no judgments are
        needed: the findings are then those about lists and rows.

        Raises
        ------
        FrameMetricsError
            There is more than ``fail_on`` allows, or it names something that is neither a severity nor a check, or
            ``split`` does not name each arm with its share. A column or an option does not exist, or options cannot
            be used together. What is wrong with the data is a finding: bad rows, a column of the wrong type, judgments
            that are bad or contradict each other. If nothing can be read, it is "data that cannot be read".

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> log = pl.DataFrame({"query": [1, 1, 2], "score": [2.0, 1.0, 3.0], "grade": [0, 1, None]})
        >>> findings = log.irm.audit()
        >>> findings.select("check", "n").rows()[0]
        ('queries without judgments', 1)
        >>> findings.filter(severity="fact", check="queries").select("n", "share").rows()
        [(1, 0.5)]
        >>> log.irm.audit({"queries without judgments": 0.2})
        Traceback (most recent call last):
            ...
        frame_metrics.errors.BadValueError: audit(fail_on={'queries without judgments': 0.2}): 1 finding
        queries without judgments: 1 of 2, and at most 0.2 of all may be (2); not evaluated: none of their ...
        """
        from frame_metrics.verbs.audit.audit import audit

        return audit(self._named, fail_on, _with_roles(baseline), split)

    @verb
    def report(
        self,
        path: FilePath | None = None,
        *,
        metrics: Metrics | None = None,
        baseline: Any = None,
        title: str | None = None,
        format: Literal["html", "md", "json"] | None = None,
        ci: float | None = 0.95,
        queries: int = 10,
        sort: str | None = None,
        covariate: str | None = None,
        strata: str | Sequence[str] | None = None,
        cluster: str | None = None,
        split: Mapping[Any, float] | Literal["equal"] | None = None,
        margin: Margin | None = None,
    ) -> str:
        """Write a report: the results of the verbs, as a page to read, as Markdown or as JSON.

        It begins with at most five sentences, those of ``summary()`` that have a place. Open are the metrics with their
        intervals, the differences or the leaderboard, the queries that lost most (without a baseline the worst), and
        the warnings of the audit. Folded are notes and counts, all differences, segments, curves, more queries rank by
        rank, the conventions and versions in use. Print has what is open. The end names each part that these columns do
        not allow, with the reason; the summary on top says so too of what you named. HTML is one file, which loads
        nothing.

        Parameters
        ----------
        path : the file, as text or ``os.PathLike``; a complete new file replaces an existing one. None returns the text
            itself.
        metrics : names as "ndcg@10", or values, in a list. None for defaults that suit the roles. Queries are ordered
            by the first.
        baseline : as in ``compare``: the system that others are compared with, or saved numbers; by default all pairs,
            and with more than 32 systems each with the best one, with p-values corrected for all pairs. Three systems
            or more have a leaderboard then. Of two arms that are periods the earlier, as in ``change``.
        title : of the report; the default says what was read, as "60 queries, 2 systems".
        format : "html", "md" or "json"; by default the ending of the file name, else "html".
        ci : level of the intervals; with None means have none.
        queries : how many of the best, and of the worst, queries of each system are shown.
        sort : the metric by which tables sort systems, the best first; None for the first of ``metrics``, "name" for
            the order of their names.
        covariate, strata : as in ``ab_test``, for arms.
        cluster : the column of what belongs together, such as users, as in ``irm(cluster=...)``.
        split : as in ``audit``, for arms: the share of the units that each one should have.
        margin : as in ``compare``, with a baseline: the loss of a metric that would still be accepted.

        Returns
        -------
        The path, or the text if no path is given. A page is text that a notebook displays, and ``.save(path)`` writes.

        Raises
        ------
        FrameMetricsError
            The folder does not exist, the file's ending gives no format, the metrics cannot be computed, a baseline, a
            metric, a column or an option exists nowhere, or Jinja2, which writes pages, is not installed.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> log = pl.DataFrame({"query": [1, 1, 2, 2], "score": [2.0, 1.0, 3.0, 2.5], "grade": [0, 3, 1, 0]})
        >>> print(log.irm.report(metrics="rr", format="md").splitlines()[0])
        # 2 queries
        """
        from frame_metrics.report.write import report

        irm = (self if cluster is None else self(cluster=cluster))._by_name
        compare_options = _compared(baseline, covariate, strata, margin)
        options: dict[str, Any] = {"metrics": metrics, "title": title, "format": format, "split": split}
        return report(
            irm, irm._plan, path, **options, compare_options=compare_options, ci=ci, queries=queries, sort=sort
        )

    @verb
    def summary(
        self,
        *metrics: Metrics,
        baseline: Any = None,
        covariate: str | None = None,
        strata: str | Sequence[str] | None = None,
        ci: float = 0.95,
        split: Mapping[Any, float] | Literal["equal"] | None = None,
        margin: Margin | None = None,
    ) -> Frame:
        """Say in sentences what the data show: the best system, what the audit says against it, what stands out.

        Each row is a sentence with its figures. At most one has each place of the first block of ``report()``: 1 what
        may make the answer wrong (the gravest finding, and how many more there are), 2 the answer, 3 since when, 4 in
        which segment (with a baseline that of the greatest change), 5 what to do next. The others are notes. A
        difference is a finding if its corrected p-value is below 0.05, and the row has the least that it is by its
        interval; else it has the difference that the sample would detect in four of five tests, or the reason that with
        so few units no p can be below 0.05. Of three systems or more those that may be the best are named, as
        ``leaderboard`` returns them; with a baseline the best is also compared with the next best, at the p-value of
        all pairs. Arms of which one is ahead over all, and the other within segments of ``by``, by
        ``ab_test(strata=by)``, have a sentence. A segment stands out if its mean of the best system, or with a baseline
        its mean difference from it, is farther from the rest than any segment is in 95 % of permutations of labels over
        queries (of rows without a query, if its interval, at a level for all segments, excludes the value of all).
        Segments that are days, weeks or other periods are judged by their course instead: a trend, by the slope of
        their means, a break, by the largest step, or an outage, by the run of periods, of at most a third of them, that
        is farthest from the others. They are one family of tests, of all systems and segments; weekdays are taken out,
        and neighbours that are correlated count for less. Scores between 0 and 1 of rows without a query are also read
        as probabilities: they are off if the interval of a bin of ``curve("calibration")``, or of all rows, excludes
        its mean score, at a level that holds for all of these together, of all systems; a segment that is off is named.
        What was looked for in segments and not found is one row; what you named and cannot be made (a metric that was
        not saved, segments of weighted queries) has one that says why. It is computed at once, even for a lazy frame.

        Parameters
        ----------
        metrics : names, or values; the sentences are about the first, and those of a comparison about the first that
            can be compared. None for one that suits the roles.
        baseline : as in ``compare``. None: the best system against the next, and the first that it surely beats; of
            two arms that are periods the earlier, as in ``change``.
        covariate, strata : as in ``ab_test``, for arms.
        ci : level of the intervals.
        split : as in ``audit``, for arms: the share of the units that each one should have.
        margin : as in ``compare``, with a baseline: the loss of a metric that would still be accepted. Sentences then
            say whether a greater loss is excluded, p_not_worse being below 0.05.

        Returns
        -------
        A frame of the caller's kind, in the order of places: kind ("split", "audit", "missing", "distance", "cut",
        "unanswered", "left out", "unjudged", "value", "best", "highest", "difference", "reversal", "trend", "break",
        "trend or break", "outage", "mix", "segment", "calibration", "next", "not worse", "code", "absent", "nothing",
        "arms", "rare", "favours", "others", "agreement", "tests", "undefined", "weighted", "weights", "winner"), place
        (1 to 5, null for a note), sentence, of (text, such as a segment, a time or a finding), the system, baseline,
        metric (null where a sentence is about none), value, baseline_value, difference, ci_low, ci_high, p_adjusted,
        correction, wins, losses, n, baseline_n, n_units, baseline_n_units, share, mde, with ``margin`` also margin and
        p_not_worse. The interval is that of the difference, else of the value. docs/report.md#kinds-of-sentences lists
        what columns hold in each kind: of unjudged results n is the cutoff, and of the best n_units systems, of
        baseline_n_units, may be it.
        ``frame_metrics.show`` prints the sentences.

        Raises
        ------
        FrameMetricsError
            The metrics cannot be computed, or a baseline, a metric, a column or an option exists nowhere.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> log = pl.DataFrame({"query": range(8), "doc": "x", "grade": 1, "a": 2.0, "b": 1.0})
        >>> log = pl.concat([log, log.with_columns(pl.lit("y").alias("doc"), grade=0, a=1.0, b=2.0)])
        >>> said = log.irm(score=["a", "b"]).summary("rr").filter(place=2)["sentence"]
        >>> print(said[0].partition(", better")[0])
        a beats b: rr 1.000 against 0.500 (+0.500; +100 %)
        """
        from frame_metrics.report.write import summary

        compare_options = _compared(baseline, covariate, strata, margin)
        return summary(self._by_name, self._plan, metrics, compare_options, ci, split)
