"""The caller's columns, checked, under the names of their roles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import polars as pl

from frame_metrics.answer import frame_of
from frame_metrics.errors import BadValueError, bad_rows, closest, shown
from frame_metrics.inputs.rows import EXACT, LARGEST
from frame_metrics.roles.scale import KINDS, Scale, kind_of_word

NULL = "drop them, or make them null"
ABSENT = "drop them, or make them null if the document was not retrieved"
TEXTS = (pl.String, pl.Categorical, pl.Enum)
FEW, MANY = 3, 8  # words that errors show: of those that are wrong, and of all
MOST = 1000  # rows among which a text is looked for
OF_ROWS = ("count", "classes", "abstain", "match")  # roles and options of rows that are no results of a query
EXTRA = "extra:"  # what the inside name of a column begins with that only users' metrics read
# Roles that say one thing of all results of a query.
SAID_OF_QUERIES = ("weight", "cluster", "covariate", "n_relevant", "collection_size")


@dataclass(frozen=True)
class Columns:
    """The column of each part, every name known to be there."""

    query: tuple[str, ...]
    system: str | None = None
    by: tuple[str, ...] = ()
    score: str | None = None
    rank: str | None = None
    label: str | None = None
    grade: str | None = None
    predicted: str | None = None
    doc: str | None = None
    weight: str | None = None
    count: str | None = None
    cluster: str | None = None
    covariate: str | None = None  # which compare() names, and no role
    n_relevant: str | None = None
    annotator: str | None = None  # of judgments beside the log only
    collection_size: str | None = None
    threshold: str | None = None
    relevant: str | None = None
    class_scores: tuple[tuple[Any, str], ...] = ()
    extra: tuple[tuple[str, str], ...] = ()  # names that users' metrics know, and their columns
    per_system: tuple[str, ...] = ()  # where score, rank or predicted is a column for each system, these columns
    together: str = ""  # and what they are called as one
    lists: tuple[str, ...] = ()  # the columns that hold lists, the results of a row's query
    made: tuple[str, ...] = ()  # names above that are no columns of the frame: what they stand for is made
    value: tuple[str, ...] = ()  # numbers that were computed elsewhere
    metric: str | None = None  # what these are of; None where the columns' own names say it
    k: str | None = None  # its cutoff, which the metric says too
    from_judgments: tuple[str, ...] = ()  # columns of segments that stand in the judgments alone, and not in the log

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """The columns that make a segment of a system."""
        return (*((self.system,) if self.system else ()), *self.by)

    def as_arms(self) -> Columns:
        """Return these columns where each system has queries of its own: it is a segment, and the last that says so."""
        return replace(self, system=None, by=(*self.by, *((self.system,) if self.system else ())))

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The columns that make a ranking: system, segment, query."""
        return (*self.groups, *self.query)

    @cached_property
    def key_names(self) -> tuple[list[str], list[str], list[str]]:
        """The inside names of the columns of system, segment and query."""
        by, query = ([f"{role}:{i}" for i in range(len(getattr(self, role)))] for role in ("by", "query"))
        return (["system"] if self.system else []), by, query

    @cached_property
    def single(self) -> dict[str, str]:
        """The column of each role that has one and is no key."""
        others = ("system", "together")
        return {role: column for role, column in vars(self).items() if isinstance(column, str) and role not in others}

    @cached_property
    def needed(self) -> list[str]:
        """Every column of the log that is read, once."""
        several = (column for _, column in (*self.class_scores, *self.extra))
        every = dict.fromkeys([*self.keys, *self.single.values(), *several, *self.value, *self.per_system])
        made = {*self.made, *self.from_judgments} - {*self.per_system}
        return [column for column in every if column not in made]

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
        """The inside names of the columns that only users' metrics read."""
        return [EXTRA + name for name, _ in self.extra]


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
    out |= {EXTRA + name: _extra_column(frame[column], column) for name, column in columns.extra}
    if not judged_elsewhere:
        _refuse_bare(out, columns)
    if "threshold" in out:
        out["predicted"] = reaches(out["score"], out.pop("threshold"))
    return frame_of(out) if out else frame.select()


def checked_keys(frame: pl.DataFrame, columns: Columns) -> pl.DataFrame:
    """Return the keys, and what is said of a query, under the names of their roles, every value known to be good."""
    return frame_of(_known_keys(frame, columns) | role_columns(frame, columns, SAID_OF_QUERIES))


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
    checks: dict[str, Callable[[pl.Series, str], pl.Series]] = {
        "score": partial(score_column, remedy=ABSENT, later=scores_later),
        "rank": _rank_column,
        "grade": partial(grade_column, scale=scale),
        "label": partial(label_column, positive=positive),
        "predicted": partial(label_column, positive=positive, role="prediction"),
        "doc": _doc_column,
        "weight": partial(_amount_column, role="weight"),
        "count": partial(_amount_column, role="count"),
        "n_relevant": partial(_amount_column, role="n_relevant"),
        "collection_size": partial(_amount_column, role="collection size"),
        "threshold": partial(_threshold_column, held=frame.schema.get(str(columns.score), pl.Null)),
        "cluster": _cluster_column,
        "covariate": _covariate_column,
    }
    named = {role: column for role, column in columns.single.items() if role in checks and role in roles}
    named = {role: column for role, column in named.items() if column not in columns.from_judgments}
    return {role: checks[role](frame[column], column) for role, column in named.items()}


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
    """Return the columns of system, segment and query under their inside names, but for lent ones; NaN is no key."""
    out: dict[str, pl.Series] = {}
    for inside, name in zip((name for names in columns.key_names for name in names), columns.keys, strict=True):
        if name not in columns.from_judgments:
            out[inside] = frame[name]
            refuse_nan(out[inside], name)
    return out


def refuse(column: str, bad: pl.Series, what: str, remedy: str) -> None:
    """Raise if any row is marked bad."""
    if bad.any():
        raise bad_rows(column, bad.arg_true().to_numpy(), len(bad), what, remedy)


def refuse_null(column: str, values: pl.Series, what: str, remedy: str) -> None:
    """Raise if any value is null."""
    if values.null_count():
        refuse(column, values.is_null(), what, remedy)


def refuse_nan(values: pl.Series, column: str, remedy: str = NULL) -> None:
    """Raise if any value is NaN."""
    if values.dtype.is_float():
        refuse(column, values.is_nan().fill_null(False), "are NaN", remedy)


def number_column(values: pl.Series, column: str, role: str, *, finite: bool = True, exact: bool = True) -> pl.Series:
    """Return a column of numbers, booleans as 0 and 1; nulls stay.

    Parameters
    ----------
    finite : whether infinite numbers and NaN are refused.
    exact : whether whole numbers are refused that float64, in which everything is computed, rounds.
    """
    if values.dtype == pl.Boolean:
        return values.cast(pl.Int8)
    if values.dtype == pl.Null:
        return values.cast(pl.Float64)
    if not values.dtype.is_numeric():
        refuse_lists_as_text(values, column)
        raise BadValueError(f"{column}: a {role} is a number, and this column is {values.dtype}; convert it")
    if exact:
        what = "are past 2**53, where float64 cannot tell integers apart"
        _refuse_rounded(values, column, what, "rescale them")
    if values.dtype.is_decimal() or values.dtype in (pl.Int128, pl.UInt128):
        values = values.cast(pl.Float64)
    if finite:
        refuse_infinite(values, column)
    return values


def grade_column(values: pl.Series, column: str, scale: Scale | None = None) -> pl.Series:
    """Return grades: numbers, or of words those that a scale gives them; null where not judged."""
    if scale is None:
        if values.dtype in TEXTS:
            refuse_lists_as_text(values, column)
            raise _words_without_scale(values, column)
        return number_column(values, column, "grade")
    whole = all(grade is None or isinstance(grade, int) for grade in scale.values())
    dtype = pl.Int64 if whole else pl.Float64
    if values.null_count() == len(values):
        return pl.Series(values.name, [None] * len(values), dtype=dtype)
    refuse_nan(values, column)
    held, words = _beside_words(values, column, scale)
    place = dict(zip(words.to_list(), range(len(words)), strict=True))
    found = held.replace_strict(place, default=None, return_dtype=pl.UInt32)
    if found.null_count() > held.null_count():
        raise _unknown_words(values, found.is_null() & held.is_not_null(), column, scale)
    return pl.Series(values.name, [*scale.values()], dtype=dtype).gather(found)


def _beside_words(values: pl.Series, column: str, scale: Scale) -> tuple[pl.Series, pl.Series]:
    """Values and the words of a scale, in one type."""
    kind = kind_of_word(next(iter(scale)))
    kinds = {str: values.dtype in TEXTS, bool: values.dtype == pl.Boolean, float: values.dtype.is_numeric()}
    if not kinds[kind]:
        raise BadValueError(
            f"{column}: its values are {values.dtype}, and the words of scale= are {KINDS[kind]}; "
            "give each of its values a grade, or say scale=None if they are grades"
        )
    if kind is not float:
        held = {str: pl.String, bool: pl.Boolean}[kind]
        return values.cast(held), pl.Series([*scale], dtype=held)
    words = pl.Series([float(word) for word in scale])
    return values.cast(pl.Float64), words.cast(values.dtype).cast(pl.Float64) if values.dtype.is_float() else words


def _unknown_words(values: pl.Series, unknown: pl.Series, column: str, scale: Scale) -> BadValueError:
    """The error for words that are not in the scale: how often each stands, and the word that is nearest to it."""
    odd = values.filter(unknown)
    counts = (odd.cast(pl.String) if odd.dtype in TEXTS else odd).rename("word").value_counts()
    counts = counts.sort(["count", "word"], descending=[True, False])
    said = [
        f"{word!r} ({'once' if n == 1 else f'{n} times'}{closest(word, scale) if isinstance(word, str) else ''})"
        for word, n in counts.head(FEW).rows()
    ]
    more = f" and {len(counts) - FEW} other words" if len(counts) > FEW else ""
    remedy = f"{', '.join(said)}{more}: mend them, give them a grade in scale=, or make them null"
    return bad_rows(column, unknown.arg_true().to_numpy(), len(values), "are not in scale=", remedy)


def _words_without_scale(values: pl.Series, column: str) -> BadValueError:
    """The error for grades that are words, where no scale says what they are worth."""
    what = f"{column}: a grade is a number, and this column is {values.dtype}"
    words = values.unique().drop_nulls().sort().cast(pl.String)
    if words.cast(pl.Float64, strict=False).null_count() == 0:
        return BadValueError(f"{what}; convert it")
    shown_words = [f"{word!r}: ..." for word in words.head(MANY).to_list()] + ["..."] * (len(words) > MANY)
    return BadValueError(f"{what}; give each word a grade, as scale={{{', '.join(shown_words)}}}, or convert it")


def refuse_lists_as_text(values: pl.Series, column: str) -> None:
    """Raise for texts each of which is a list, as pandas writes them to CSV: ['a', 'b']."""
    if values.dtype not in TEXTS:
        return
    some = [text.strip() for text in values.head(MOST).drop_nulls().head(MANY).cast(pl.String).to_list()]
    bracketed = bool(some) and all(text.startswith("[") and text.endswith("]") for text in some)
    if bracketed and any({*", '\""} & {*text} for text in some):
        raise BadValueError(
            f"{column}: its values are texts of lists, as {shown(some[0])}, which is how CSV holds lists; make them "
            f"lists before, as [ast.literal_eval(one) for one in frame[{column!r}]]"
        )


def refuse_infinite(values: pl.Series, column: str, remedy: str = NULL) -> None:
    """Raise if any number is NaN or infinite."""
    if values.dtype.is_float() and not values.is_finite().all():
        refuse_nan(values, column, remedy)
        refuse(column, values.is_infinite().fill_null(False), "are infinite", remedy)


def value_column(values: pl.Series, column: str) -> pl.Series:
    """Return numbers that were computed elsewhere, null or NaN where they are missing."""
    values = number_column(values, column, "value", finite=False).cast(pl.Float64)
    refuse(column, values.is_infinite().fill_null(False), "are infinite", NULL)
    return values


def score_column(values: pl.Series, column: str, remedy: str = NULL, *, later: bool = False) -> pl.Series:
    """Return scores: numbers, null where the document was not retrieved; finite ones, or, if none is null, later."""
    values = number_column(values, column, "score", finite=False)
    if values.null_count() or not later:
        refuse_infinite(values, column, remedy)
    return values


def _refuse_rounded(values: pl.Series, column: str, what: str, remedy: str) -> None:
    """Raise for whole numbers, and decimals of that size, that float64 cannot tell from their neighbours."""
    kind = values.dtype
    if not (kind.is_decimal() or kind in (pl.Int64, pl.UInt64, pl.Int128, pl.UInt128)):
        return
    ends: list[Any] = [values.min(), values.max()]  # marking each value costs a small call more
    if any(end is not None and abs(end) > EXACT for end in ends):
        far = values > EXACT
        refuse(column, far if kind.is_unsigned_integer() else far | (values < -EXACT), what, remedy)


def _refuse_booleans(values: pl.Series, column: str, role: str) -> None:
    """Raise for True and False where a number is meant, which they are not by themselves either."""
    if values.dtype == pl.Boolean:
        raise BadValueError(f"{column}: a {role} is a number, and this column is Boolean; convert it")


def _threshold_column(values: pl.Series, column: str, held: Any) -> pl.Series:
    """Return the threshold of each row as its score's column holds it, none missing."""
    _refuse_booleans(values, column, "threshold")
    values = number_column(values, column, "threshold", finite=False)
    refuse_nan(values, column, "give every row one")
    refuse_null(column, values, "have no threshold", "give every row one")
    return values.cast(held if held.is_float() else pl.Float64).cast(pl.Float64)


def reaches(score: pl.Series, threshold: pl.Series | float) -> pl.Series:
    """Return the decision about each row: 1 where its score is at least the threshold, 0 without a score."""
    return (score.cast(pl.Float64) >= threshold).fill_null(False).cast(pl.Int8)


def _rank_column(values: pl.Series, column: str) -> pl.Series:
    """Return ranks: whole numbers from 1, null where the document was not retrieved."""
    given, values = values, number_column(values, column, "rank", exact=False)
    refuse(column, (values < 1).fill_null(False), "are below 1", "ranks count from 1: add 1 if these count from 0")
    if values.dtype.is_float():
        broken = (values != values.floor()).fill_null(False)
        refuse(column, broken, "are not whole", "a rank is a position: 1, 2, 3 ...")
    if given.dtype.is_float():
        refuse(column, values > EXACT, "are past 2**53", "a rank is a position: 1, 2, 3 ...")
    _refuse_rounded(given, column, "are past 2**53", "a rank is a position: 1, 2, 3 ...")
    return values


def label_column(
    values: pl.Series, column: str, positive: Sequence[Any] | None = None, *, role: str = "label"
) -> pl.Series:
    """Return labels, or predictions: 1 relevant, 0 not, null where not known."""
    if positive is not None:
        return one_of(values, positive, column).cast(pl.Int8)
    if values.dtype == pl.Boolean or values.null_count() == len(values):
        return values.cast(pl.Int8, strict=False)
    if values.dtype in TEXTS:
        refuse_lists_as_text(values, column)
        raise BadValueError(
            f"{column}: a {role} is 0 or 1, and this column is {values.dtype}; name the one with positive="
        )
    values = number_column(values, column, role, exact=False)
    wrong = ~((values == 0) | (values == 1)).fill_null(True)
    remedy = f"say label=None, grade={column!r} if these are grades, or name the relevant one with positive="
    refuse(column, wrong, "are neither 0 nor 1", remedy if role == "label" else "name the relevant one with positive=")
    return values.cast(pl.Int8)


def _doc_column(values: pl.Series, column: str) -> pl.Series:
    """Return document ids of any type, none missing."""
    refuse_lists_as_text(values, column)
    refuse_null(column, values, "have no document", "drop them, or give them one")
    refuse_nan(values, column, "drop them, or give them one")
    return values


def same_as(values: pl.Series, value: Any, column: str) -> pl.Series:
    """Mark the values that are the given one; null stays null."""
    if values.null_count() == len(values):
        return values.is_null() & pl.Series([None], dtype=pl.Boolean)
    if values.dtype == pl.Boolean and value in (0, 1):
        return values == bool(value)
    try:
        if isinstance(value, str) != (values.dtype in TEXTS) or values.dtype == pl.Boolean or value is None:
            raise TypeError
        if values.dtype.is_nested() or values.dtype == pl.Binary or isinstance(value, bytes | list | tuple | dict):
            return _same_as_built(values, value)
        return values.cast(pl.String) == value if values.dtype in TEXTS else values == value
    except (TypeError, ValueError, AttributeError, OverflowError, NotImplementedError, pl.exceptions.PolarsError):
        raise BadValueError(f"{column}: {shown(value)} cannot be one of its values, which are {values.dtype}") from None


def _same_as_built(values: pl.Series, value: Any) -> pl.Series:
    """Mark the values that are the given one, of a type that polars does not compare with a value of Python."""
    value = list(value) if isinstance(value, tuple) else value
    one = pl.Series("value", [value], dtype=values.dtype, strict=True)
    if one.to_list() != [value]:
        raise TypeError
    at = values.rename("value").to_frame().with_row_index("at")
    hits = at.join(one.to_frame(), on="value", how="semi")["at"]
    return at["at"].is_in(hits.implode()).set(values.is_null(), None)


def one_of(values: pl.Series, several: Sequence[Any], column: str) -> pl.Series:
    """Mark the values that are one of those given; null stays null."""
    out = same_as(values, several[0], column)
    for value in several[1:]:
        out |= same_as(values, value, column)
    return out


def _amount_column(values: pl.Series, column: str, role: str) -> pl.Series:
    """Return weights or counts: numbers from 0, none missing."""
    if role == "collection size":
        _refuse_booleans(values, column, role)
    values = number_column(values, column, role, finite=False)
    refuse_infinite(values, column, "give every row one")
    refuse_null(column, values, "are missing", "give every row one")
    refuse(column, values < 0, "are negative", "0 is the least")
    if role != "weight" and values.dtype.is_float():
        refuse(column, values != values.floor(), "are not whole", "rows and documents are counted")
    values = values.cast(pl.Float64)
    if role != "weight":
        refuse(column, values > EXACT, "are past 2**53", "float64 cannot tell such numbers apart")
    if values.sum() > LARGEST:
        raise BadValueError(f"{column}: the {role}s add up to {values.sum():g}, which overflows in sums; rescale them")
    return values


def _extra_column(values: pl.Series, column: str) -> pl.Series:
    """Return numbers that users' metrics read, null where there is none."""
    return number_column(values, column, "value of extra=").cast(pl.Float64)


def _cluster_column(values: pl.Series, column: str) -> pl.Series:
    """Return clusters: values of any type, none missing."""
    refuse_nan(values, column, "give every row a cluster")
    refuse_null(column, values, "have no cluster", "give every row one")
    return values


def _covariate_column(values: pl.Series, column: str) -> pl.Series:
    """Return numbers that were known before a test, none missing."""
    remedy = "give every row one, as the mean where there is none"
    values = number_column(values, column, "covariate", finite=False)
    refuse_infinite(values, column, remedy)
    refuse_null(column, values, "have no covariate", remedy)
    return values.cast(pl.Float64)


def largest_grade(grades: pl.Series) -> float:
    """Return the largest grade, NaN if there is none."""
    top = grades.max()
    return float(top) if isinstance(top, int | float) else np.nan
