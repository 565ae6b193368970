"""Code that sentences offer, in the words of the library of the caller's frame."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FrameCode:
    """The words of a library of frames, as texts to format; columns and values are given as code."""

    column: str  # what stands before the code for a column
    as_text: str  # a column as text
    day: str  # the day of a column of times, and of one of texts
    day_of_text: str
    between: str  # whether a text, cut to so many letters, is from one text to another
    named: str  # words for false and true, as a column with a name
    where_known: str  # what makes null where a column is null; "" where a comparison does so by itself
    without_nulls: str  # a frame without the rows that are null in a column
    renamed: str  # a frame with other names of columns
    first_of_each: str  # the rows of two frames, the first of those with the same values in some columns


POLARS = FrameCode(
    column="",
    as_text="pl.col({}).cast(str)",
    day="pl.col({}).dt.truncate('1d')",
    day_of_text="pl.col({}).str.slice(0, 10)",
    between=".str.slice(0, {}).is_between(pl.lit({!r}), pl.lit({!r}))",
    named=".replace_strict({{False: {}, True: {}}}).alias({})",
    where_known="",
    without_nulls=".drop_nulls({})",
    renamed="{}.rename({})",
    first_of_each="pl.concat([{}, {}], how='diagonal_relaxed').unique({}, keep='first')",
)
PANDAS = FrameCode(
    column="lambda df: ",
    as_text="df[{}].astype(str)",
    day="lambda df: df[{}].dt.floor('D')",
    day_of_text="lambda df: df[{}].str[:10]",
    between=".str[:{}].between({!r}, {!r})",
    named=".map({{False: {}, True: {}}}).rename({})",
    where_known=".where(df[{}].notna())",
    without_nulls=".dropna(subset=[{}])",
    renamed="{}.rename(columns={})",
    first_of_each="pd.concat([{}, {}]).drop_duplicates({})",
)
CODE = {"polars.DataFrame": POLARS, "polars.LazyFrame": POLARS, "pandas.DataFrame": PANDAS}  # by the kind of a frame
