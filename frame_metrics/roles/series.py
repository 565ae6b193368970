"""Check the values of a column, a polars Series, by its role."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl

from frame_metrics.errors import BadValueError, bad_rows, closest, did_you_mean, quote, type_name
from frame_metrics.inputs.gains import LARGEST_GAIN
from frame_metrics.inputs.rows import EXACT, hash_of_text
from frame_metrics.roles.scale import KINDS, Scale, kind_of_word

DROP_OR_NULL = "drop them, or make them null"
ROUND = "round them to 15 digits, as ties"
NULL_IF_NOT_RETRIEVED = "drop them, or make them null if the document was not retrieved"
# The way out for infinite values that order results. Null is none: inf would move from the first place to the last.
MAKE_FINITE = "drop them, or give them finite values: inf one above all others, -inf one below"
# Ways out for numbers with fractions among predictions, or among labels with positive=.
FRACTIONS_IN_PREDICTIONS = (
    "if these are scores, pass predicted=None, score= and threshold=; if classes, make them text, and name"
)
FRACTIONS_IN_PREDICTIONS += " the relevant one with positive="
FRACTIONS_IN_LABELS = "if these are grades, pass label=None, positive=None and grade=; if classes, make them text"
TEXTS = (pl.String, pl.Categorical, pl.Enum)  # for isinstance(): a type of named categories is not equal to any
# Types that become float64: those that numpy does not have, and Float16, for which polars has no floor().
UNUSUAL = (pl.Decimal, pl.Int128, pl.UInt128, pl.Float16)
SHARES = ("weight", "popularity")  # amounts that need not be whole
MOST_WRONG_WORDS, MOST_WORDS = 3, 8  # number of words that an error quotes
NO_NUMBERS = "are not numeric"  # what an error says of some texts among numbers
MOST_ROWS_SEARCHED = 1000  # number of rows in which texts of lists are looked for


def refuse(column: str, bad: pl.Series, what: str, remedy: str) -> None:
    """Raise if any row is marked bad."""
    if bad.any():
        raise bad_rows(column, bad.arg_true().to_numpy(), len(bad), what, remedy)


def refuse_null(column: str, values: pl.Series, what: str, remedy: str) -> None:
    """Raise if any value is null."""
    if values.null_count():
        refuse(column, values.is_null(), what, remedy)


def refuse_nan(values: pl.Series, column: str, remedy: str = DROP_OR_NULL) -> None:
    """Raise if any value is NaN."""
    if values.dtype.is_float():
        refuse(column, values.is_nan(), "are NaN", remedy)


def number_column(
    values: pl.Series,
    column: str,
    role: str,
    remedy: str | None = DROP_OR_NULL,
    *,
    booleans: bool = True,
    exact: bool = True,
) -> pl.Series:
    """Return a column of numbers; nulls stay.

    Parameters
    ----------
    values, column : the column and its name.
    role : its role, for errors.
    remedy : what an error says to do about infinite numbers and NaN; None if they are allowed here.
    booleans : whether True and False count as 1 and 0; otherwise they are an error.
    exact : whether whole numbers past 2**53 are an error: float64, in which everything is computed, rounds them.
    """
    kind = values.dtype
    if isinstance(kind, pl.Boolean) and booleans:
        return values.cast(pl.Int8)
    if isinstance(kind, pl.Null):
        return values.cast(pl.Float64)
    if not kind.is_numeric():
        refuse_lists_as_text(values, column)
        if isinstance(kind, TEXTS):
            raise _texts_for_numbers(values, column, role)
        raise BadValueError(f"{column}: a {role} is a number, and this column is {type_name(kind)}; convert it")
    if exact and not kind.is_float():
        _refuse_rounded(values, column)
    if isinstance(kind, UNUSUAL):
        values = values.cast(pl.Float64)
    if remedy is not None:
        refuse_infinite(values, column, remedy)
    return values


def grade_column(values: pl.Series, column: str, scale: Scale | None = None, remedy: str = DROP_OR_NULL) -> pl.Series:
    """Return grades as numbers, null for unjudged rows; with a scale, words become their grades."""
    if scale is None:
        if isinstance(values.dtype, TEXTS):
            refuse_lists_as_text(values, column)
            raise _words_without_scale(values, column)
        values = number_column(values, column, "grade", None)
        refuse_infinite(values, column, remedy, infinite=MAKE_FINITE)
        return values
    whole = all(grade is None or isinstance(grade, int) for grade in scale.values())
    dtype = pl.Int64 if whole else pl.Float64
    if values.null_count() == len(values):
        return pl.Series(values.name, [None] * len(values), dtype=dtype)
    refuse_nan(values, column, remedy)
    in_one_type, words = _values_and_words(values, column, scale)
    code_of_word = dict(zip(words.to_list(), range(len(words)), strict=True))
    codes = in_one_type.replace_strict(code_of_word, default=None, return_dtype=pl.UInt32)
    if codes.null_count() > in_one_type.null_count():
        raise _unknown_words(values, codes.is_null() & in_one_type.is_not_null(), column, scale)
    return pl.Series(values.name, [*scale.values()], dtype=dtype).gather(codes)


def _values_and_words(values: pl.Series, column: str, scale: Scale) -> tuple[pl.Series, pl.Series]:
    """Return the values and the words of a scale, in one type."""
    kind = kind_of_word(next(iter(scale)))
    kinds = {str: isinstance(values.dtype, TEXTS), bool: values.dtype == pl.Boolean, float: values.dtype.is_numeric()}
    if not kinds[kind]:
        raise BadValueError(
            f"{column}: its values are {type_name(values.dtype)}, and the words of scale= are {KINDS[kind]}; "
            "give each of its values a grade, or pass scale=None if they are grades"
        )
    if kind is not float:
        dtype = {str: pl.String, bool: pl.Boolean}[kind]
        return values.cast(dtype), pl.Series([*scale], dtype=dtype)
    words = pl.Series([float(word) for word in scale])
    return values.cast(pl.Float64), words.cast(values.dtype).cast(pl.Float64) if values.dtype.is_float() else words


def _unknown_words(values: pl.Series, unknown: pl.Series, column: str, scale: Scale) -> BadValueError:
    """Return the error for words that are not in the scale, with their counts and the nearest words of the scale."""
    odd = values.filter(unknown)
    remedy = f"{_counted(odd, scale)}: mend them, give them a grade in scale=, or make them null"
    return bad_rows(column, unknown.arg_true().to_numpy(), len(values), "are not in scale=", remedy)


def _counted(odd: pl.Series, meant: Iterable[Any] = ()) -> str:
    """Return the commonest of some values as text, each with its count and the nearest word that may be meant."""
    counts = (odd.cast(pl.String) if isinstance(odd.dtype, TEXTS) else odd).rename("word").value_counts()
    counts = counts.sort(["count", "word"], descending=[True, False])
    texts = [
        f"{quote(word)} ({'once' if n == 1 else f'{n} times'}{closest(word, meant) if isinstance(word, str) else ''})"
        for word, n in counts.head(MOST_WRONG_WORDS).rows()
    ]
    return ", ".join(texts) + (
        f" and {len(counts) - MOST_WRONG_WORDS} other words" if len(counts) > MOST_WRONG_WORDS else ""
    )


def _texts_for_numbers(values: pl.Series, column: str, role: str) -> BadValueError:
    """Return the error for a column of texts where numbers are meant; it counts the texts that are no numbers."""
    texts = values.cast(pl.String)
    comma = texts.str.contains(",").any()
    wrong = texts.is_not_null() & texts.str.replace(",", ".").cast(pl.Float64, strict=False).is_null()
    way = ", with points in the place of commas" if comma else ""
    if not wrong.any():
        return BadValueError(f"{column}: a {role} is a number, and this column is text; convert it{way}")
    if wrong.sum() + texts.null_count() == len(texts):  # no number at all: it may be another column that is meant
        first = quote(texts.filter(wrong)[0])
        return BadValueError(f"{column}: a {role} is a number, and this column is text, as {first}; convert it")
    remedy = f"{_counted(texts.filter(wrong))}: mend them or make them null, and convert the column{way}"
    return bad_rows(column, wrong.arg_true().to_numpy(), len(values), NO_NUMBERS, remedy)


def _words_without_scale(values: pl.Series, column: str) -> BadValueError:
    """Return the error for grades that are words, without a scale."""
    words = values.unique().drop_nulls().sort().cast(pl.String)
    if words.str.replace(",", ".").cast(pl.Float64, strict=False).null_count() == 0:
        return _texts_for_numbers(values, column, "grade")
    what = f"{column}: a grade is a number, and this column is text"
    entries = [f"{quote(word)}: ..." for word in words.head(MOST_WORDS).to_list()] + ["..."] * (len(words) > MOST_WORDS)
    return BadValueError(f"{what}; give each word a grade, as scale={{{', '.join(entries)}}}, or convert it")


def is_bracketed(text: str) -> bool:
    """Return True for a text that begins and ends as a list does."""
    return text.strip()[:1] + text.strip()[-1:] == "[]"


def refuse_lists_as_text(values: pl.Series, column: str) -> None:
    """Raise for a column of texts that are lists, as pandas writes them to CSV: "['a', 'b']"."""
    if not isinstance(values.dtype, TEXTS):
        return
    first = values.head(MOST_ROWS_SEARCHED)
    first = first.drop_nulls() if first.null_count() else first  # only if needed: drop_nulls runs a plan of polars
    some = [text.strip() for text in first.head(MOST_WORDS).cast(pl.String).to_list()]
    if some and all(map(is_bracketed, some)) and any({*", '\""} & {*text} for text in some):
        raise BadValueError(
            f"{column}: its values are texts of lists, as {quote(some[0])}, which is how CSV holds lists; make them "
            f"lists before, as [ast.literal_eval(one) for one in frame[{quote(column)}]]"
        )


def refuse_infinite(values: pl.Series, column: str, remedy: str, *, infinite: str = "") -> None:
    """Raise if any number is NaN or infinite; ``infinite``: the remedy for infinite ones, if it is not ``remedy``."""
    if values.dtype.is_float() and not values.is_finite().all():
        refuse_nan(values, column, remedy)
        refuse(column, values.is_infinite(), "are infinite", infinite or remedy)


def refuse_fractions(values: pl.Series, column: str, remedy: str) -> None:
    """Raise for numbers with fractions, such as probabilities, which are not classes."""
    if values.dtype.is_float() or isinstance(values.dtype, pl.Decimal):
        number = values.cast(pl.Float64)
        refuse(column, (number != number.floor()) & number.is_finite(), "have fractions", remedy.format(column=column))


def value_column(values: pl.Series, column: str) -> pl.Series:
    """Return numbers that were computed elsewhere, null or NaN where they are missing."""
    values = number_column(values, column, "value", None).cast(pl.Float64)
    refuse(column, values.is_infinite(), "are infinite", DROP_OR_NULL)
    refuse(
        column,
        (values.abs() > LARGEST_GAIN) & values.is_finite(),
        "are past 1e300",
        "rescale all values: they overflow where they are added",
    )
    return values


def score_column(values: pl.Series, column: str, remedy: str = DROP_OR_NULL, *, later: bool = False) -> pl.Series:
    """Return scores, null for documents that were not retrieved; raise for NaN and infinite ones.

    ``later``: whether scores without a null are checked after sorting instead, see ``scores_later`` of
    ``checked_columns``.
    """
    if isinstance(values.dtype, pl.Decimal):
        _refuse_tied(values, column)
    values = number_column(values, column, "score", None)
    if values.null_count() or not later:
        refuse_infinite(values, column, remedy, infinite=MAKE_FINITE)
    return values


def _refuse_rounded(values: pl.Series, column: str) -> None:
    """Raise for whole numbers and decimals past 2**53, which float64 would round."""
    kind = values.dtype
    if not isinstance(kind, (pl.Decimal, pl.Int64, pl.UInt64, pl.Int128, pl.UInt128)):
        return
    ends: list[Any] = [values.min(), values.max()]  # comparing every value would take longer
    if any(end is not None and abs(end) > EXACT for end in ends):
        far = values > EXACT
        far = far if kind.is_unsigned_integer() else far | (values < -EXACT)
        refuse(column, far, "are past 2**53, where float64 cannot tell integers apart", "rescale them")


def _refuse_tied(values: pl.Series, column: str) -> None:
    """Raise for decimals that float64 cannot tell apart: they would be ties."""
    number = values.cast(pl.Float64)
    if number.n_unique() == values.n_unique():
        return
    distinct = pl.DataFrame({"exact": values, "number": number}).unique()
    tied = distinct.filter(pl.col("number").is_duplicated())["number"].unique()
    refuse(column, number.is_in(tied.implode()), "are so close to others that float64 cannot tell them apart", ROUND)


def threshold_column(values: pl.Series, column: str, score_type: Any) -> pl.Series:
    """Return the threshold of each row, rounded to the type of the scores; raise for a missing one."""
    values = number_column(values, column, "threshold", None, booleans=False)
    refuse_nan(values, column, "give every row one")
    refuse_null(column, values, "have no threshold", "give every row one")
    return values.cast(score_type if score_type.is_float() else pl.Float64).cast(pl.Float64)


def reaches(score: pl.Series, threshold: pl.Series | float) -> pl.Series:
    """Return the decision about each row: 1 where its score is at least the threshold, 0 without a score."""
    return (score.cast(pl.Float64) >= threshold).fill_null(False).cast(pl.Int8)


def rank_column(values: pl.Series, column: str) -> pl.Series:
    """Return ranks: whole numbers from 1, null where the document was not retrieved."""
    remedy = "a rank is a position: 1, 2, 3 ..."
    given, values = values, number_column(values, column, "rank", exact=False)
    refuse(column, values < 1, "are below 1", "ranks count from 1: add 1 if these count from 0")
    if values.dtype.is_float():
        refuse(column, values != values.floor(), "are not whole", remedy)
    largest: Any = given.max()  # comparing every value would take longer
    if largest is not None and largest > EXACT:
        refuse(column, given > EXACT, "are past 2**53", remedy)
    return values


def label_column(
    values: pl.Series, column: str, positive: Sequence[Any] | None = None, *, role: str = "label"
) -> pl.Series:
    """Return labels or predictions of two classes: 1 relevant, 0 not relevant, null unknown."""
    if positive is not None or role == "prediction":
        refuse_fractions(values, column, FRACTIONS_IN_LABELS if role == "label" else FRACTIONS_IN_PREDICTIONS)
    if positive is not None:
        return is_one_of(values, positive, column).cast(pl.Int8)
    if values.dtype == pl.Boolean or values.null_count() == len(values):
        return values.cast(pl.Int8, strict=False)
    if isinstance(values.dtype, TEXTS):
        refuse_lists_as_text(values, column)
        text = f"{column}: a {role} is 0 or 1, and this column is text; name the one with positive="
        several = ", or pass query=None if these are classes of rows" * (values.drop_nulls().n_unique() > 2)
        raise BadValueError(f"{text}{several}")
    values = number_column(values, column, role, exact=False)
    wrong = ~((values == 0) | (values == 1))
    remedy = f"pass label=None, grade={quote(column)} if these are grades, or name the relevant one with positive="
    refuse(column, wrong, "are neither 0 nor 1", remedy if role == "label" else "name the relevant one with positive=")
    return values.cast(pl.Int8)


def doc_column(values: pl.Series, column: str, *, optional: bool = False) -> pl.Series:
    """Return document ids, of any type; raise for a missing one.

    ``optional``: whether the call would work without documents, so that the error offers ``doc=None``.
    """
    refuse_lists_as_text(values, column)
    nothing = "pass doc=None where a search showed nothing; else " if optional else ""
    refuse_null(column, values, "have no document", f"{nothing}drop them, or give them one")
    refuse_nan(values, column, "drop them, or give them one")
    return values


def same_as(values: pl.Series, value: Any, column: str) -> pl.Series:
    """Mark the values equal to a given one; null stays null.

    Raises
    ------
    BadValueError
        No value of the column's type can equal it.
    """
    given = value
    if values.null_count() == len(values):
        return _equal_to_none(values)
    try:
        if values.dtype == pl.Boolean and value in (0, 1):
            return values == bool(value)
        if isinstance(value, Iterable | pl.Expr) and not isinstance(value, str | bytes | list | tuple | dict):
            raise TypeError  # several values, which polars would compare with the column's one by one
        value = _as_struct(value)
        if isinstance(value, str) != isinstance(values.dtype, TEXTS) or values.dtype == pl.Boolean or value is None:
            raise TypeError
        if values.dtype.is_nested() or values.dtype == pl.Binary or isinstance(value, bytes | list | tuple | dict):
            return _same_as_built(values, value)
        if isinstance(values.dtype, pl.Datetime | pl.Duration):
            return _same_time(values, value)
        return values.cast(pl.String) == value if isinstance(values.dtype, TEXTS) else values == value
    except (TypeError, ValueError, AttributeError, OverflowError, NotImplementedError, pl.exceptions.PolarsError):
        raise none_of(values, given, column) from None


def none_of(values: pl.Series, value: Any, column: str) -> BadValueError:
    """Return the error for a value that a column cannot have, by its type; a hint if its text is among the values."""
    # Columns of text hold no lone surrogate, and Python refuses to write an integer of thousands of digits.
    huge = isinstance(value, int) and value.bit_length() > 128
    text = "" if huge else str(value).encode(errors="replace").decode()
    hint = did_you_mean(text) if isinstance(values.dtype, TEXTS) and (values.cast(pl.String) == text).any() else ""
    return BadValueError(
        f"{column}: {quote(value)} cannot be one of its values, which are {type_name(values.dtype)}{hint}"
    )


def _as_struct(value: Any) -> Any:
    """Return a period or an interval of pandas as the struct that its polars column holds; other values unchanged."""
    if hasattr(value, "freqstr"):
        return {f"period[{value.freqstr}]": value.ordinal}
    if hasattr(value, "closed_left"):
        left, right = "(["[value.closed_left], ")]"[value.closed_right]
        return {f"{left}left": value.left, f"right{right}": value.right}
    return value


def _same_as_built(values: pl.Series, value: Any) -> pl.Series:
    """Mark the values equal to a given one by a join, for types that polars does not compare with Python values."""
    value = list(value) if isinstance(value, tuple) else value
    one = pl.Series("value", [value], dtype=values.dtype, strict=True)
    if one.to_list() != [value]:
        raise TypeError
    at = values.rename("value").to_frame().with_row_index("at")
    hits = at.join(one.to_frame(), on="value", how="semi")["at"]
    return at["at"].is_in(hits.implode()).set(values.is_null(), None)


def _same_time(values: pl.Series, value: Any) -> pl.Series:
    """Mark the times, or durations, equal to a given one.

    Polars would cut off the part of the given time that is finer than the unit of the column. So this part is compared
    here: no time in milliseconds equals one with microseconds.
    """
    below = getattr(value, "nanosecond", getattr(value, "nanoseconds", 0))  # times of pandas have nanoseconds
    unit, zone = values.dtype.time_unit, getattr(values.dtype, "time_zone", None)  # type: ignore[attr-defined]
    if zone and getattr(value, "tzinfo", None):
        value = value.astimezone(ZoneInfo(zone))
    if unit == "ns":
        return values - pl.Series([below]).cast(pl.Duration("ns")) == value
    if unit == "ms":
        below += getattr(value, "microsecond", getattr(value, "microseconds", 0)) % 1000
    return _equal_to_none(values) if below else values == value


def _equal_to_none(values: pl.Series) -> pl.Series:
    """Mark no value as equal: null for null, False for others."""
    return values.is_null() & pl.Series([None], dtype=pl.Boolean)


def is_one_of(values: pl.Series, given: Sequence[Any], column: str) -> pl.Series:
    """Mark the values equal to one of several given ones; null stays null."""
    out = same_as(values, given[0], column)
    for value in given[1:]:
        out |= same_as(values, value, column)
    return out


def amount_column(values: pl.Series, column: str, role: str) -> pl.Series:
    """Return weights or counts as floats; raise for a missing or negative one, and for counts that are not whole."""
    values = number_column(values, column, role, "give every row one", booleans=role != "collection size")
    refuse_null(column, values, f"have no {role}", "give every row one")
    least = "0 is the least" + ", and leaves them out of means" * (role == "weight")
    refuse(column, values < 0, "are negative", least)
    if role not in SHARES and values.dtype.is_float():
        refuse(column, values != values.floor(), "are not whole", "rows and documents are counted")
        refuse(column, values > EXACT, "are past 2**53", "float64 cannot tell such numbers apart")
    values = values.cast(pl.Float64)
    if role == "count" and values.sum() >= EXACT and sum(map(int, values)) > EXACT:
        total = sum(map(int, values))
        raise BadValueError(
            f"{column}: the counts add up to {total:,}, past 2**53, and sums would be rounded; rescale them"
        )
    if values.sum() > LARGEST_GAIN:
        raise BadValueError(f"{column}: the {role}s add up to {values.sum():g}, which overflows in sums; rescale them")
    return values


def chance_column(values: pl.Series, column: str, role: str, most: float = 1.0) -> pl.Series:
    """Return chances from 0 to ``most``; a propensity must be above 0. Null is allowed (nothing was shown)."""
    values = number_column(values, column, role, "give every result one", booleans=False)
    if role in ("propensity", "sampling"):
        refuse(column, values <= 0, "are not above 0", "what had no chance cannot be weighted: drop it")
    outside = (values < 0) | (values > most)
    refuse(column, outside, "are not between 0 and 1", "a chance is from 0 to 1; a weight is 1 over it")
    return values.cast(pl.Float64)


def sampling_column(values: pl.Series, column: str) -> pl.Series:
    """Return the chances with which queries were drawn, above 0 and at most 1; raise for a missing one."""
    refuse_null(column, values, "have no sampling chance", "give every row one")
    return chance_column(values, column, "sampling")


def extra_column(values: pl.Series, column: str) -> pl.Series:
    """Return numbers that users' metrics read (extra=), null for none."""
    return number_column(values, column, "value of extra=").cast(pl.Float64)


def group_column(values: pl.Series, column: str) -> pl.Series:
    """Return groups as numbers computed from their text, so that a group has one number everywhere; null for none."""
    if values.dtype.is_nested() or values.dtype == pl.Object:
        raise BadValueError(
            f"{column}: a group is named by its text, and this column is {type_name(values.dtype)}; convert it"
        )
    text = values.cast(pl.String)
    known = text.unique().drop_nulls().to_list()
    codes = dict(zip(known, map(hash_of_text, known), strict=True))
    return text.replace_strict(codes, default=None, return_dtype=pl.Float64)


def cluster_column(values: pl.Series, column: str) -> pl.Series:
    """Return clusters, values of any type; raise for a missing one."""
    refuse_nan(values, column, "give every row a cluster")
    refuse_null(column, values, "have no cluster", "give every row one")
    return values


def team_column(values: pl.Series, column: str) -> pl.Series:
    """Return the team of each row, values of any type; null if both systems contributed it."""
    refuse_nan(values, column, "give every row a team, or null where the systems share it")
    return values


def answered_column(values: pl.Series, column: str) -> pl.Series:
    """Return whether the query of each number was answered, true or false; raise for other values."""
    return _marks(values, column, "a system answered the query")


def undefined_column(values: pl.Series, column: str) -> pl.Series:
    """Return whether each number stands for what is undefined, true or false; raise for other values."""
    return _marks(values, column, "a number stands for what is undefined")


def _marks(values: pl.Series, column: str, what: str) -> pl.Series:
    """Return a column of true and false; raise for other values. ``what``: what true says, for the error."""
    if values.dtype != pl.Boolean:
        raise BadValueError(
            f"{column}: beside value= it says whether {what}, true or false, and this column is "
            f"{type_name(values.dtype)}; convert it, or rename it if it says something else"
        )
    refuse_null(column, values, "have neither true nor false", "give every row true or false")
    return values


def covariate_column(values: pl.Series, column: str) -> pl.Series:
    """Return covariates, numbers known before a test; raise for a missing one."""
    remedy = "give every row one, as the mean where there is none"
    values = number_column(values, column, "covariate", remedy)
    refuse_null(column, values, "have no covariate", remedy)
    return values.cast(pl.Float64)


def largest_grade(grades: pl.Series) -> float:
    """Return the largest grade, NaN if there is none."""
    top = grades.max()
    return float(top) if isinstance(top, int | float) else np.nan


def names_something(name: str, kind: pl.DataType) -> pl.Expr:
    """Mark the values of a column that are no empty text, and neither null nor NaN."""
    value = pl.col(name)
    if isinstance(kind, TEXTS):
        return value.cast(pl.String).str.strip_chars() != ""
    return value.is_not_nan() if kind.is_float() else value.is_not_null()
