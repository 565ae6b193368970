"""The roles of columns, each declared once, and the caller's columns, checked and renamed to their roles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from frame_metrics.answer import frame_of
from frame_metrics.errors import listed, quote
from frame_metrics.inputs.cached_arrays import computed_once
from frame_metrics.roles import series
from frame_metrics.roles.scale import Scale
from frame_metrics.roles.series import reaches, refuse, refuse_nan, refuse_null

UNNAMED_SYSTEM = "unnamed system:"  # prefix of the internal names of ``Columns.unnamed_systems``
UNNAMED_RESULT = "unnamed result:"  # the same of ``Columns.unnamed_results``
EXTRA = "extra:"  # prefix of the internal names of columns that only some metrics read (extra=, group=, popularity=)


@dataclass(frozen=True)
class Role:
    """The declaration of a role. Code that treats several roles alike reads these facts, and keeps no list of names."""

    # What a value describes; without a query every value describes a row.
    describes: tuple[Literal["result", "query", "row", "judgment"], ...] = ()
    # When a column with the role's own name gets the role: always, only with a query, or only if it holds lists.
    found: Literal["always", "query", "lists"] | None = None
    per_system: bool = False  # whether there may be a column for each system
    in_judgments: bool = False  # whether the separate judgments may have the column instead of the log
    with_value: bool = False  # whether it can be named together with value=, numbers that were computed elsewhere
    usual_names: str = ""  # usual names of such columns, which errors offer as a hint
    plural: str = ""  # the word for its values, if it is not the role with an s
    # Its type in text files; "inferred": that which its values suggest, "key": as written.
    file_type: Literal["text", "number", "inferred", "key"] | None = None
    check: Callable[..., pl.Series] | None = None  # takes values and the column's name; returns them ready, or raises
    takes: tuple[str, ...] = ()  # further parameters of the check

    @property
    def names(self) -> list[str]:
        """Usual names of such columns."""
        return self.usual_names.split()

    def among(self, columns: Iterable[Any]) -> list[Any]:
        """Return the columns with one of these names, the more usual names first."""
        known = [name for name in columns if str(name).lower() in self.names]
        return sorted(known, key=lambda name: self.names.index(str(name).lower()))


def _amount(name: str, *describes: Any, **role: Any) -> Role:
    """Return a role of weights or counts."""
    return Role(describes=describes, check=partial(series.amount_column, role=name), **role)


def _chance(name: str, usual_names: str) -> Role:
    """Return a role of chances of results."""
    return Role(
        describes=("result",),
        plural="propensities",
        check=partial(series.chance_column, role=name),
        usual_names=usual_names,
    )


_result = partial(Role, describes=("result",), found="always")
_judgment = partial(_result, file_type="inferred")

ROLES: dict[str, Role] = {
    "query": Role(
        found="always",
        with_value=True,
        usual_names="qid query_id queryid q_id search search_id search_term search_query query_text search_phrase "
        "topic topic_id keyword keywords session session_id user user_id",
        plural="queries",
        file_type="text",
    ),
    "system": Role(
        with_value=True, usual_names="system run ranker model engine retriever run_id system_id", file_type="key"
    ),
    "arm": Role(in_judgments=True, with_value=True, file_type="key"),
    "by": Role(in_judgments=True, with_value=True, usual_names="groupby group_by", plural="segments", file_type="key"),
    "score": _result(
        per_system=True,
        usual_names="sim similarity bm25 prob proba probability y_score y_prob pred_score",
        file_type="number",
        check=partial(series.score_column, remedy=series.NULL_IF_NOT_RETRIEVED),
        takes=("later",),
    ),
    "rank": _result(
        found="query",
        per_system=True,
        usual_names="position pos place rnk ranking",
        file_type="inferred",
        check=series.rank_column,
    ),
    "label": _judgment(
        usual_names="y_true y target relevant is_relevant clicked click true truth actual outcome class",
        check=series.label_column,
        takes=("positive",),
    ),
    "grade": _judgment(
        usual_names="relevance rel rating gain relevance_label judgment judgement",
        check=series.grade_column,
        takes=("scale",),
    ),
    "predicted": _result(
        per_system=True,
        usual_names="y_pred prediction pred decision predicted_label predicted_class",
        plural="predictions",
        check=partial(series.label_column, role="prediction"),
        takes=("positive",),
    ),
    "doc": _result(
        found="query",
        usual_names="docid doc_id docno document document_id product_id product_sku sku asin item item_id "
        "article_id passage_id pid url",
        file_type="text",
        check=series.doc_column,
        takes=("optional",),
    ),
    "relevant": Role(found="lists", usual_names="expected gold ground_truth gold_ids expected_ids relevant_ids"),
    "team": Role(
        describes=("result",),
        usual_names="contributor contributed_by",
        file_type="key",
        check=series.team_column,
    ),
    "group": Role(describes=("result",), file_type="key", check=series.group_column),
    "popularity": _amount("popularity", "result", plural="popularities"),
    "class_scores": Role(plural="scores"),
    "weight": _amount("weight", "query", "row", in_judgments=True, with_value=True, file_type="number"),
    "count": _amount("count", "row"),
    "cluster": Role(
        describes=("query", "row"),
        in_judgments=True,
        with_value=True,
        usual_names="user user_id visitor visitor_id",
        file_type="key",
        check=series.cluster_column,
    ),
    "covariate": Role(describes=("query",), check=series.covariate_column),  # the option of ab_test()
    "n_relevant": _amount("n_relevant", "query", plural="counts of relevant documents"),
    "subtopic": Role(describes=("judgment",)),  # this and the next two: of separate judgments only
    "annotator": Role(describes=("judgment",)),
    "sampling": Role(describes=("query",), in_judgments=True, check=series.sampling_column),
    "collection_size": _amount("collection size", "query", in_judgments=True, plural="collection sizes"),
    "threshold": Role(check=series.threshold_column, takes=("score_type",)),
    "propensity": _chance("propensity", "propensities pscore examination"),
    "target_propensity": _chance("target propensity", "target_pscore evaluation_policy_pscore"),
    "extra": Role(plural="values"),
    "value": Role(with_value=True, file_type="number"),  # numbers that were computed elsewhere
    "metric": Role(),  # the metric of each number of value=; without it the names of the value columns say it
}
# Names of columns that hold ranks, or documents, in small letters.
CALLED_RANK, CALLED_DOC = ({role, *ROLES[role].names} for role in ("rank", "doc"))


@dataclass(frozen=True)
class Shape:
    """The form of rows: which columns are lists, or systems, or made later, or only of the judgments."""

    per_system: tuple[str, ...] = ()  # if score, rank or predicted is a list of columns, a system each: these columns
    stacked_column: str = ""  # the name of the one column of all values of ``per_system``
    list_columns: tuple[str, ...] = ()  # columns of lists: a row has all results of its query
    made: tuple[str, ...] = ()  # names of columns that are not in the frame, but are made later
    from_judgments: tuple[str, ...] = ()  # columns that only the separate judgments have
    # Roles of judgments (subtopic ...) that were not named, though a column has the name of the role.
    unnamed_roles: tuple[str, ...] = ()
    likely_systems: tuple[str, ...] = ()  # if system= is not given: columns without a role whose names are usual for it
    likely_query: str = ""  # if query= is not given: a column without a role whose name is usual for queries
    likely_order: tuple[
        str, ...
    ] = ()  # if nothing orders the results: a role, and the column whose name is usual for it
    # Whether the call counts documents (impressions, metrics of sets of lists). Errors then do not offer doc=None, and
    # for repeated queries they name query_text=.
    needs_documents: bool = False
    doc_found: bool = False  # whether the column of documents was found by its name, and not named


@dataclass(frozen=True)
class Columns:
    """The caller's column of each role; every column is known to exist.

    The roles of ``IN_BY_ROLE`` are attributes too: ``columns.score`` is ``columns.by_role.get("score")``.
    """

    query: tuple[str, ...]
    system: str | None = None
    arm: str | None = None  # it is the first of ``by`` too
    by: tuple[str, ...] = ()
    by_role: Mapping[str, str] = field(default_factory=dict)  # the columns of the other roles, which have one each
    class_scores: tuple[tuple[Any, str], ...] = ()
    extra: tuple[tuple[str, str], ...] = ()  # pairs: name in users' metrics, column
    document_facts: tuple[str, ...] = ()  # facts of documents that the asked metrics read: group, popularity, surprise
    value: tuple[str, ...] = ()
    query_text: tuple[str, ...] = ()  # columns that identify what was searched, in click_judgments() and propensities()
    unnamed_systems: tuple[str, ...] = ()  # columns with usual names of systems, which an audit reads
    unnamed_results: tuple[str, ...] = ()  # those of ranks and documents, which an audit reads
    strata: tuple[str, ...] = ()  # the option of ab_test(); they are the last of ``by`` too
    shape: Shape = Shape()

    def __post_init__(self) -> None:  # makes attributes of the roles of IN_BY_ROLE; the class is frozen
        vars(self).update({**NO_COLUMN, **self.by_role})

    if TYPE_CHECKING:

        def __getattr__(self, role: str) -> str | None: ...

    @classmethod
    def of(cls, **given: Any) -> Columns:
        """Return the columns of roles, by keyword: a role and its column, None for none; or a field of the shape."""
        by_role = {role: column for role in IN_BY_ROLE if (column := given.pop(role, None)) is not None}
        shape = {name: given.pop(name) for name in SHAPE if name in given}
        return cls(**given, by_role=by_role, shape=Shape(**shape))

    def changed(self, **given: Any) -> Columns:
        """Return these columns with some replaced; keywords are as in ``of``."""
        if given.items() <= (vars(self) | vars(self.shape)).items():  # nothing changes
            return self
        in_fields = {name: getattr(self, name) for name in IN_FIELDS}
        return Columns.of(**{**in_fields, **self.by_role, **vars(self.shape), **given})

    @computed_once
    def cell_keys(self) -> tuple[str, ...]:
        """The columns of system and segment."""
        return (*((self.system,) if self.system else ()), *self.by)

    @property
    def side(self) -> str | None:
        """The column of systems or of arms, the sides of a comparison; None without both."""
        return self.system or self.arm

    @computed_once
    def segments(self) -> tuple[str, ...]:
        """The columns of segments in which arms are compared: those of ``by`` without the arm and the strata."""
        return self.by[1 if self.arm else 0 : len(self.by) - len(self.strata)]

    def without_arm(self) -> Columns:
        """Return these columns without the arm, as those of one arm alone."""
        return self.changed(arm=None, by=self.segments)

    def as_segments(self) -> Columns:
        """Return these columns with the system as the last ``by`` column, for systems measured on their own queries."""
        return self.changed(system=None, by=(*self.by, self.system)) if self.system else self

    @computed_once
    def keys(self) -> tuple[str, ...]:
        """The columns that identify a ranking: system, segment, query."""
        return (*self.cell_keys, *self.query)

    @computed_once
    def needed(self) -> list[str]:
        """Every column of the log that has a role, once."""
        shape, others = self.shape, (column for _, column in (*self.class_scores, *self.extra))
        by_role = self.by_role.values()
        every = dict.fromkeys([*self.keys, *by_role, *others, *self.value, *shape.per_system, *self.query_text])
        every |= dict.fromkeys([*self.unnamed_systems, *self.unnamed_results])
        # The stacked column, which is made, may have the name of one of the columns that it is made of.
        not_in_log = {*shape.made, *shape.from_judgments} - {*shape.per_system}
        return [column for column in every if column not in not_in_log]

    @computed_once
    def internal_by_role(self) -> tuple[list[str], list[str], list[str]]:
        """The internal names of the columns of system, segment and query."""
        by, query = ([f"{role}:{i}" for i in range(len(getattr(self, role)))] for role in ("by", "query"))
        return (["system"] if self.system else []), by, query

    @computed_once
    def internal_keys(self) -> list[str]:
        """The internal names of all key columns."""
        return [name for names in self.internal_by_role for name in names]

    @property
    def systems_have_rows(self) -> bool:
        """True if systems have their own rows (``system=``), False if each is a column or none is named."""
        return self.system is not None and not self.shape.per_system

    @property
    def repeated_query_text(self) -> str:
        """The clause of errors that says which columns to name if the same query was asked several times."""
        if self.shape.needs_documents:
            return "name the impression with query= and the text with query_text= if a query was asked several times"
        return f"pass query=[{listed(self.query)}, the session's column] if a query was asked several times"

    @property
    def likely_mixed(self) -> tuple[str, ...]:
        """The columns with usual names of systems, if the rows of a query are read as one list; else none."""
        in_one_list = self.query and not (self.team or self.shape.list_columns)
        return self.shape.likely_systems if in_one_list else ()

    @property
    def likely_system_text(self) -> str:
        """The value to give to ``system=``, as code; "" if no column has a usual name of systems."""
        return quote(self.shape.likely_systems[0]) if self.shape.likely_systems else ""

    @property
    def unfolds(self) -> bool:
        """True if a row of the frame is not a single result of a single system, so that rows have to be made."""
        return bool(self.shape.list_columns or self.shape.made or self.relevant)

    @computed_once
    def extra_names(self) -> list[str]:
        """The internal names of the columns that only some metrics read."""
        return [EXTRA + name for name in (*(name for name, _ in self.extra), *self.document_facts)]


SHAPE = tuple(one.name for one in fields(Shape))
IN_FIELDS = tuple(one.name for one in fields(Columns) if one.name not in ("by_role", "shape"))  # roles that are fields
# Roles that are kept in ``by_role``: those that callers name, and these, which they do not.
IN_BY_ROLE = (
    *(role for role in ROLES if role not in IN_FIELDS),
    "unnamed_query",  # one with a usual name of queries, in rows without a query, which an audit reads
    "unnamed_count",  # one with a usual name of counts, in rows with decisions, which an audit reads
    "chosen",  # marks documents that to_judge() chose, which are no random sample: an error with proxy=
    "marked",  # the same column in an audit, which only counts these documents
    "k",  # the cutoff of ``metric``, which its name has too
    "answered",  # of per_query(): whether the system had a row of the query
    "was_undefined",  # of per_query(): whether the value stands for what is undefined
)
NO_COLUMN: dict[str, None] = dict.fromkeys(IN_BY_ROLE)


def roles_where(holds: Callable[[Role], Any]) -> tuple[str, ...]:
    """Return the names of the roles for which a condition holds."""
    return tuple(name for name, role in ROLES.items() if holds(role))


FOUND = roles_where(lambda role: role.found)
SET_ASIDE = (*FOUND, "system")  # roles for which None says something: system=None that a query's rows are one list
OF_RESULTS = roles_where(lambda role: "result" in role.describes)  # a value for each result, or a list for each query
QUERY_ROLES = roles_where(lambda role: "query" in role.describes)  # a value for each query, the same in all of its rows
OF_ROWS = roles_where(lambda role: "row" in role.describes)
OF_JUDGMENTS = roles_where(lambda role: "judgment" in role.describes)
PER_SYSTEM = roles_where(lambda role: role.per_system)
IN_JUDGMENTS = roles_where(lambda role: role.in_judgments)


def order_column_in(table: pl.DataFrame) -> str | None:
    """Return the column of a checked table that orders results and says which were retrieved; None without one."""
    return next((name for name in ("rank", "score") if name in table.columns), None)


def judgment_columns_in(table: pl.DataFrame) -> list[str]:
    """Return the internal names of a table's columns of judgments: "grade", "label" or both."""
    there = table.columns
    return [name for name in ("grade", "label") if name in there]


def checked_columns(
    frame: pl.DataFrame,
    columns: Columns,
    *,
    judged_elsewhere: bool,
    scores_later: bool,
    positive: Sequence[Any] | None = None,
    scale: Scale | None = None,
) -> pl.DataFrame:
    """Check the values of the needed columns, and return these under the names of their roles.

    Parameters
    ----------
    frame : the caller's columns, as polars.
    columns : their roles.
    judged_elsewhere : whether judgments are in another frame, so that a row with neither a score nor a judgment is no
        error.
    scores_later : whether infinite scores and NaN will be found after sorting, when only the ends of each ranking have
        to be checked, which is faster. Scores with nulls are checked here all the same.
    positive : the labels that are relevant; None for 1 and True.
    scale : the grade of each word; None if grades are numbers.

    Raises
    ------
    BadValueError
        A role cannot hold a value. The error names the column, counts the rows, and shows three.
    """
    out = _known_keys(frame, columns)
    out |= role_columns(frame, columns, columns.by_role, scores_later and not columns.rank, positive, scale)
    out |= {EXTRA + name: series.extra_column(frame[column], column) for name, column in columns.extra}
    for prefix, names in ((UNNAMED_SYSTEM, columns.unnamed_systems), (UNNAMED_RESULT, columns.unnamed_results)):
        out |= {f"{prefix}{i}": frame[name] for i, name in enumerate(names)}
    if not judged_elsewhere:
        _refuse_rows_that_say_nothing(out, columns, scale, positive)
    if "threshold" in out:
        out["predicted"] = reaches(out["score"], out.pop("threshold"))
    return frame_of(out) if out else frame.select()


def checked_keys(frame: pl.DataFrame, columns: Columns) -> pl.DataFrame:
    """Return the checked columns of keys and of roles of queries, under their internal names."""
    return frame_of(_known_keys(frame, columns) | role_columns(frame, columns, QUERY_ROLES))


def _known_keys(frame: pl.DataFrame, columns: Columns) -> dict[str, pl.Series]:
    """Return the columns of system, segment and query under their internal names; raise for a null query."""
    out = key_columns(frame, columns)
    for internal, name in zip(columns.internal_by_role[2], columns.query, strict=True):
        refuse_null(name, out[internal], "have no query", "drop them, or give them one")
    return out


def role_columns(
    frame: pl.DataFrame,
    columns: Columns,
    roles: Iterable[str],
    scores_later: bool = False,
    positive: Sequence[Any] | None = None,
    scale: Scale | None = None,
) -> dict[str, pl.Series]:
    """Return the checked columns of some roles, those that are named; parameters are as in ``checked_columns``."""
    score = frame.get_column(str(columns.score), default=None) if columns.threshold else None
    score_type = pl.Null if score is None else score.dtype
    judged = bool(columns.query and (columns.label or columns.grade))
    optional = judged and not (columns.relevant or columns.shape.needs_documents)
    parameters = {
        "later": scores_later,
        "positive": positive,
        "scale": scale,
        "score_type": score_type,
        "optional": optional,
    }
    out: dict[str, pl.Series] = {}
    for name, column in columns.by_role.items():
        role = ROLES.get(name)
        if role and role.check and name in roles and column not in columns.shape.from_judgments:
            out[name] = role.check(frame.get_column(column), column, **{one: parameters[one] for one in role.takes})
    return out


def _refuse_rows_that_say_nothing(
    out: dict[str, pl.Series], columns: Columns, scale: Scale | None, positive: Sequence[Any] | None
) -> None:
    """Raise for rows without a score (or rank) and without a judgment: they say nothing."""
    order, judgment = out.get("rank", out.get("score")), out.get("label", out.get("grade"))
    if order is not None and judgment is not None and order.null_count() and judgment.null_count():
        names = f"{columns.rank or columns.score} and {columns.label or columns.grade}"
        what = f"have neither a {'rank' if columns.rank else 'score'} nor a judgment"
        bad = order.is_null() & judgment.is_null()
        if columns.shape.per_system:  # a row of the frame is bad only if it is bad for every system
            n_systems = len(columns.shape.per_system)
            bad = pl.Series(np.tile(bad.to_numpy().reshape(n_systems, -1).all(axis=0), n_systems))
        judgment_text = _not_relevant(columns, scale, positive)
        refuse(names, bad, what, f"drop them, or write {judgment_text} where the query found nothing")


def _not_relevant(columns: Columns, scale: Scale | None, positive: Sequence[Any] | None) -> str:
    """Return words for the judgment "not relevant", by the kind of judgments: "label 0", "grade 0", or a word."""
    if columns.label:
        return "label 0" if positive is None else f"a label other than {listed(positive)}"
    if scale is None:
        return "grade 0"
    word = next((word for word, grade in scale.items() if grade == 0), None)
    return "a word with the grade 0 in scale=" if word is None else f"{quote(word)}, whose grade is 0,"


def type_of(frame: pl.DataFrame, column: str | None) -> str:
    """Return the name of a column's type; "" for no column."""
    return "" if column is None else str(frame.get_column(column).dtype)


def key_columns(frame: pl.DataFrame, columns: Columns) -> dict[str, pl.Series]:
    """Return the log's columns of system, segment and query under their internal names; raise for NaN."""
    out: dict[str, pl.Series] = {}
    for internal, name in zip(columns.internal_keys, columns.keys, strict=True):
        if name not in columns.shape.from_judgments:
            out[internal] = frame.get_column(name)
            refuse_nan(out[internal], name)
    return out
