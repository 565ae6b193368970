"""The parts that columns play, each declared once; the caller's columns, checked, under the names of their roles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
import polars as pl

from frame_metrics.answer import frame_of
from frame_metrics.roles import series
from frame_metrics.roles.scale import Scale
from frame_metrics.roles.series import reaches, refuse, refuse_nan, refuse_null

EXTRA = "extra:"  # what the inside name of a column begins with that only users' metrics read


@dataclass(frozen=True)
class Role:
    """All that is known of a part but its column: whoever treats some parts alike asks here which they are."""

    of: tuple[
        Literal["result", "query", "row", "judgment"], ...
    ] = ()  # what its values are of; without a query all are of rows
    found: Literal["always", "query", "lists"] | None = None  # by its own name: beside a query, or where it holds lists
    several: bool = False  # whether it may be a column for each system
    beside: bool = False  # whether judgments may have it instead of the log
    saved: bool = False  # whether it says something of numbers that were computed elsewhere
    called: str = ""  # names of such columns elsewhere, of which only a hint is made
    plural: str = ""  # the word for its values, where it is not the role with an s
    text: Literal["text", "number", "seen", "key"] | None = None  # in files of text: always this, or as seen
    check: Callable[..., pl.Series] | None = None  # makes its values ready, or raises; takes values and column
    takes: tuple[str, ...] = ()  # what the check takes beside these

    @property
    def names(self) -> list[str]:
        """The names that such columns have elsewhere."""
        return self.called.split()


def _column(default: Any = None, **role: Any) -> Any:
    """A field for the column of a part, with its declaration."""
    return field(default=default, metadata={"role": Role(**role)})


def _amount(name: str, *of: str, **role: Any) -> Any:
    """A field for the column of a weight or a number."""
    return _column(of=of, check=partial(series.amount_column, role=name), **role)


def _chance(name: str, **role: Any) -> Any:
    """A field for the column of a chance of each result."""
    return _column(of=("result",), plural="propensities", check=partial(series.chance_column, role=name), **role)


_result = partial(_column, of=("result",), found="always")  # fields for what is said of each result
_judgment = partial(_result, text="seen")


@dataclass(frozen=True)
class Columns:
    """The column of each part, every name known to be there."""

    query: tuple[str, ...] = _column(
        MISSING,
        found="always",
        saved=True,
        called="qid query_id queryid q_id topic topic_id session session_id search_id user user_id",
        plural="queries",
        text="text",
    )
    system: str | None = _column(saved=True, text="key")
    by: tuple[str, ...] = _column((), beside=True, saved=True, called="groupby group_by", plural="segments", text="key")
    score: str | None = _result(
        several=True,
        called="sim similarity bm25 prob proba probability y_score y_prob pred_score",
        text="number",
        check=partial(series.score_column, remedy=series.ABSENT),
        takes=("later",),
    )
    rank: str | None = _result(
        found="query", several=True, called="position pos place rnk ranking", text="seen", check=series.rank_column
    )
    label: str | None = _judgment(
        called="y_true y target relevant is_relevant clicked click true actual class",
        check=series.label_column,
        takes=("positive",),
    )
    grade: str | None = _judgment(
        called="relevance rel rating gain relevance_label judgment judgement",
        check=series.grade_column,
        takes=("scale",),
    )
    predicted: str | None = _result(
        several=True,
        called="y_pred prediction pred decision predicted_label predicted_class",
        plural="predictions",
        check=partial(series.label_column, role="prediction"),
        takes=("positive",),
    )
    doc: str | None = _result(
        found="query",
        called="docid doc_id docno document document_id product_id item item_id pid url",
        text="text",
        check=series.doc_column,
        takes=("spare",),
    )
    relevant: str | None = _column(found="lists")
    team: str | None = _column(
        of=("result",), called="contributor contributed_by", text="key", check=series.team_column
    )
    group: str | None = _column(of=("result",), text="key", check=series.group_column)
    popularity: str | None = _amount("popularity", "result", plural="popularities")
    class_scores: tuple[tuple[Any, str], ...] = _column((), plural="scores")
    weight: str | None = _amount("weight", "query", "row", beside=True, saved=True, text="number")
    count: str | None = _amount("count", "row")
    cluster: str | None = _column(of=("query", "row"), beside=True, saved=True, text="key", check=series.cluster_column)
    of: tuple[str, ...] = ()  # what impressions are of, which judgments() names
    covariate: str | None = _column(of=("query",), check=series.covariate_column)  # which compare() names
    n_relevant: str | None = _amount("n_relevant", "query", plural="counts of relevant documents")
    subtopic: str | None = _column(of=("judgment",))  # of judgments beside the log only, as the three that follow
    annotator: str | None = _column(of=("judgment",))
    sampling: str | None = _column(of=("query",), beside=True, check=series.sampling_column)
    chosen: str | None = None  # marks judgments whose documents were chosen by what they can move
    marked: str | None = None  # the same, where these are no more than counted
    collection_size: str | None = _amount("collection size", "query", beside=True, plural="collection sizes")
    threshold: str | None = _column(check=series.threshold_column, takes=("score_type",))
    propensity: str | None = _chance("propensity", called="propensities pscore examination")
    target_propensity: str | None = _chance("target propensity", called="target_pscore evaluation_policy_pscore")
    extra: tuple[tuple[str, str], ...] = _column((), plural="values")  # names that users' metrics know, and columns
    about: tuple[str, ...] = ()  # what metrics read of documents beside what is judged: their popularity, or group
    value: tuple[str, ...] = _column((), saved=True, text="number")  # numbers that were computed elsewhere
    metric: str | None = _column()  # what these are of; None where the columns' own names say it
    k: str | None = None  # its cutoff, which the metric says too
    per_system: tuple[str, ...] = ()  # where score, rank or predicted is a column for each system, these columns
    together: str = ""  # and what they are called as one
    lists: tuple[str, ...] = ()  # the columns that hold lists, the results of a row's query
    made: tuple[str, ...] = ()  # names above that are no columns of the frame: what they stand for is made
    unsaid: tuple[str, ...] = ()  # parts of judgments whose columns are there by name, and that nobody named
    from_judgments: tuple[str, ...] = ()  # those above that stand in the judgments beside the log, and not in the log

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """The columns that make a segment of a system."""
        return (*((self.system,) if self.system else ()), *self.by)

    def as_arms(self) -> Columns:
        """Return these columns for systems with queries of their own: the system is the last column of segments."""
        return replace(self, system=None, by=(*self.by, *((self.system,) if self.system else ())))

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The columns that make a ranking: system, segment, query."""
        return (*self.groups, *self.query)

    @cached_property
    def single(self) -> dict[str, str]:
        """The column of each role that has one and is no key."""
        others = ("system", "together")
        return {role: column for role, column in vars(self).items() if isinstance(column, str) and role not in others}

    @cached_property
    def needed(self) -> list[str]:
        """Every column of the log that is read, once."""
        several = (column for _, column in (*self.class_scores, *self.extra))
        single = self.single.values()
        every = dict.fromkeys([*self.keys, *single, *several, *self.value, *self.per_system, *self.of])
        made = {*self.made, *self.from_judgments} - {*self.per_system}
        return [column for column in every if column not in made]

    @cached_property
    def key_names(self) -> tuple[list[str], list[str], list[str]]:
        """The inside names of the columns of system, segment and query."""
        by, query = ([f"{role}:{i}" for i in range(len(getattr(self, role)))] for role in ("by", "query"))
        return (["system"] if self.system else []), by, query

    @property
    def inside(self) -> list[str]:
        """The inside names of all key columns."""
        return [name for names in self.key_names for name in names]

    @property
    def own_rows(self) -> bool:
        """True where each system has rows of its own, and is no column."""
        return self.system is not None and not self.per_system

    @property
    def unfolds(self) -> bool:
        """True where a row of the frame is not one result of one system, with its judgment."""
        return bool(self.lists or self.made or self.relevant)

    @cached_property
    def extra_names(self) -> list[str]:
        """The inside names of the columns that only some metrics read, which they call so."""
        return [EXTRA + name for name in (*(name for name, _ in self.extra), *self.about)]


ROLES: dict[str, Role] = {one.name: one.metadata["role"] for one in fields(Columns) if "role" in one.metadata}


def roles_where(holds: Callable[[Role], Any]) -> tuple[str, ...]:
    """Return the names of the parts of which something holds."""
    return tuple(name for name, role in ROLES.items() if holds(role))


FOUND = roles_where(lambda role: role.found)
OF_RESULTS = roles_where(lambda role: "result" in role.of)  # one value for each, or lists of those of a query
OF_QUERIES = roles_where(lambda role: "query" in role.of)  # one value for all results of a query
OF_ROWS = roles_where(lambda role: "row" in role.of)
OF_JUDGMENTS = roles_where(lambda role: "judgment" in role.of)
PER_SYSTEM = roles_where(lambda role: role.several)
BESIDE = roles_where(lambda role: role.beside)


def judging(table: pl.DataFrame) -> list[str]:
    """Return the columns of a table that judge, by their inside names."""
    return [name for name in ("grade", "label") if name in table.columns]


def checked(
    frame: pl.DataFrame,
    columns: Columns,
    *,
    judged_elsewhere: bool,
    scores_later: bool,
    positive: Sequence[Any] | None = None,
    scale: Scale | None = None,
) -> pl.DataFrame:
    """Return the needed columns under the names of their roles, every value known to be good.

    Parameters
    ----------
    frame : the caller's columns, as polars.
    columns : which column is which.
    judged_elsewhere : the judgments are in another frame, so that a row without one is nothing odd.
    scores_later : whether scores, if none is null, are found infinite or NaN once they are sorted, where only the ends
        of a ranking have to be looked at.
    positive : the labels that are relevant; None for 1 and True.
    scale : the grade of each word; None where grades are numbers.

    Raises
    ------
    BadValueError
        A value is not what its role can hold; names the column, counts the rows, shows three.
    """
    out = _known_keys(frame, columns)
    out |= role_columns(frame, columns, columns.single, scores_later and not columns.rank, positive, scale)
    out |= {EXTRA + name: series.extra_column(frame[column], column) for name, column in columns.extra}
    if not judged_elsewhere:
        _refuse_bare(out, columns)
    if "threshold" in out:
        out["predicted"] = reaches(out["score"], out.pop("threshold"))
    return frame_of(out) if out else frame.select()


def checked_keys(frame: pl.DataFrame, columns: Columns) -> pl.DataFrame:
    """Return the keys, and what is said of a query, under the names of their roles, every value known to be good."""
    return frame_of(_known_keys(frame, columns) | role_columns(frame, columns, OF_QUERIES))


def _known_keys(frame: pl.DataFrame, columns: Columns) -> dict[str, pl.Series]:
    """The columns of system, segment and query under their inside names; no query is null."""
    out = key_columns(frame, columns)
    for inside, name in zip(columns.key_names[2], columns.query, strict=True):
        refuse_null(name, out[inside], "have no query", "drop them, or give them one")
    return out


def role_columns(
    frame: pl.DataFrame,
    columns: Columns,
    roles: Iterable[str],
    scores_later: bool = False,
    positive: Sequence[Any] | None = None,
    scale: Scale | None = None,
) -> dict[str, pl.Series]:
    """Return the checked columns of those of some roles that have one; the parameters are those of ``checked``."""
    score = frame.get_column(str(columns.score), default=None)
    score_type = pl.Null if score is None else score.dtype
    spare = bool(columns.query and (columns.label or columns.grade)) and not columns.relevant
    known = {"later": scores_later, "positive": positive, "scale": scale, "score_type": score_type, "spare": spare}
    out: dict[str, pl.Series] = {}
    for name, column in columns.single.items():
        role = ROLES.get(name)
        if role and role.check and name in roles and column not in columns.from_judgments:
            out[name] = role.check(frame.get_column(column), column, **{one: known[one] for one in role.takes})
    return out


def _refuse_bare(out: dict[str, pl.Series], columns: Columns) -> None:
    """Raise for rows that have neither a place in a ranking nor a judgment."""
    place, judgment = out.get("rank", out.get("score")), out.get("label", out.get("grade"))
    if place is not None and judgment is not None and place.null_count() and judgment.null_count():
        names = f"{columns.rank or columns.score} and {columns.label or columns.grade}"
        what = f"have neither a {'rank' if columns.rank else 'score'} nor a judgment"
        bad = place.is_null() & judgment.is_null()
        if columns.per_system:  # a row is no result of one of them, and one of another
            systems = len(columns.per_system)
            bad = pl.Series(np.tile(bad.to_numpy().reshape(systems, -1).all(axis=0), systems))
        nothing = f"or say {'label' if columns.label else 'grade'} 0 where the query found nothing"
        refuse(names, bad, what, f"drop them, {nothing}")


def type_of(frame: pl.DataFrame, column: str | None) -> str:
    """Return the name of a column's type; nothing where there is no column."""
    return "" if column is None else str(frame.get_column(column).dtype)


def key_columns(frame: pl.DataFrame, columns: Columns) -> dict[str, pl.Series]:
    """Return the columns of the log for system, segment and query under their inside names; NaN is no key."""
    out: dict[str, pl.Series] = {}
    for inside, name in zip(columns.inside, columns.keys, strict=True):
        if name not in columns.from_judgments:
            out[inside] = frame.get_column(name)
            refuse_nan(out[inside], name)
    return out
