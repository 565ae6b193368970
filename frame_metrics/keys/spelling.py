"""Find texts that differ in case, in spaces around them, or in Unicode form only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any
from unicodedata import normalize

import polars as pl

from frame_metrics import threads
from frame_metrics.errors import MOST_LETTERS, BadValueError, cut, quote
from frame_metrics.fast.codes import codes
from frame_metrics.hidden import OURS, THEIRS
from frame_metrics.inputs import Array
from frame_metrics.roles.series import TEXTS

MOST_TEXTS = 5  # texts that a message shows
LABELS_AND_PREDICTIONS = ("labels", "predictions")
Form = Callable[[pl.Series], pl.Series]  # returns texts in a form in which those that differ in spelling are equal


def folded(values: pl.Series) -> pl.Series:
    """Return texts in lower case, in one Unicode form, and without spaces around them; null stays null."""
    texts = values.cast(pl.String)
    if (texts.str.len_bytes() != texts.str.len_chars()).any():  # a form of characters beyond ASCII; it takes long
        texts = texts.str.normalize("NFC")
    return texts.str.strip_chars().str.to_lowercase()


def are_texts(values: pl.Series) -> bool:
    """Return True for a column of texts or categories."""
    return isinstance(values.dtype, TEXTS)


def spelling_groups(values: Iterable[Any]) -> list[list[str]]:
    """Return the groups of two or more texts that differ in case, spaces or Unicode form only, in their first order."""
    texts = pl.Series([*dict.fromkeys(one for one in values if isinstance(one, str))], dtype=pl.String)
    if len(texts) < 2 or (forms := folded(texts)).n_unique() == len(texts):
        return []
    each = pl.DataFrame({"text": texts, "form": forms}).group_by("form", maintain_order=True).agg("text")
    return each.filter(pl.col("text").list.len() > 1)["text"].to_list()


def quoted_values(texts: Sequence[Any]) -> list[str]:
    """Return some values in quotes; texts that print alike show the characters that differ."""
    forms = [one if not isinstance(one, str) or one.isascii() else normalize("NFC", one) for one in texts]
    unique = [not isinstance(one, str) or forms.count(form) == 1 for one, form in zip(texts, forms, strict=True)]
    return [quote(one) if is_unique else cut(ascii(one)) for one, is_unique in zip(texts, unique, strict=True)]


def first_in_quotes(texts: Sequence[Any]) -> str:
    """Return the first ``MOST_TEXTS`` values in quotes, and how many more there are."""
    return and_more(quoted_values(texts[:MOST_TEXTS]), len(texts))


def difference_in_words(groups: Sequence[Sequence[str]]) -> str:
    """Return the words for how the texts of each group differ, as ``spelling_groups`` returns them."""
    if all(normalize("NFC", one) == normalize("NFC", group[0]) for group in groups for one in group):
        return "in Unicode form only"
    of_case = all(one.strip().lower() == group[0].strip().lower() for group in groups for one in group)
    return "in case or spaces only" if of_case else "in case, spaces or Unicode form only"


def and_more(first: Sequence[str], n: int) -> str:
    """Return the first of ``n`` values with commas, and how many more there are."""
    more = n - len(first)
    return ", ".join(first) + (f" and {more:,} more" if more > 0 else "")


def variants(sides: Iterable[pl.Series], text: str) -> list[str]:
    """Return the values of some columns that differ from a text in case, spaces or Unicode form only, sorted."""
    texts = [side.cast(pl.String).unique().drop_nulls() for side in sides if are_texts(side)]
    if not texts:
        return []
    every = pl.concat(texts).unique().sort()
    form = folded(pl.Series([text]))[0]
    return every.filter((folded(every) == form) & (every != text)).to_list()


def spelled_like(sides: Iterable[pl.Series | None], word: str | None) -> list[list[str]]:
    """Return, for labels and for predictions, which of a text and its variants occur there.

    Variants are looked for only if a column lacks the text.

    Parameters
    ----------
    sides : the columns of labels and of predictions, None for one that is not there.
    word : the text; in an Enum it occurs if it is one of the categories. None: nothing is looked for.
    """
    if word is None:
        return [[] for _ in sides]
    columns = [side if side is not None and are_texts(side) else None for side in sides]
    seen = [[word] if side is not None and _has(side, word) else [] for side in columns]
    both = [*zip(seen, columns, strict=True)]
    if all(found for found, side in both if side is not None):
        return seen
    return [found if side is None else [*found, *variants([side], word)] for found, side in both]


def _has(side: pl.Series, text: str) -> bool:
    """Return True if a text occurs in a column, or is a category of its Enum."""
    declared = isinstance(side.dtype, pl.Enum) and text in side.dtype.categories
    return declared or bool((side.cast(pl.String) == text).any())


def check_positive(seen: Sequence[Sequence[str]], word: str | None) -> None:
    """Raise if variants of the text of ``positive=`` occur in its place, see ``unseen``.

    ``seen``: what ``spelled_like`` returns.
    """
    if lost := unseen(seen, word):
        raise BadValueError(variants_text(*lost, str(word)))


def unseen(seen: Sequence[Sequence[str]], word: str | None) -> tuple[list[str], str] | None:
    """Return the variants of a text that occur instead of it, and the side that has them; None for none.

    The side is "" if neither side has the text. Otherwise that side has variants alone, and the other the text alone.
    Where a side has both the text and a variant, both may be classes.
    """
    every = {one for found in seen for one in found}
    like = sorted(every - {word})
    if not like or word is None:
        return None
    if word not in every:
        return like, ""
    for side, found, other in zip(LABELS_AND_PREDICTIONS, seen, reversed(seen), strict=True):
        if found and word not in found and [*other] == [word]:
            return [*found], side
    return None


def variants_text(like: list[str], side: str, word: str) -> str:
    """Return the words about variants of a text of ``positive=`` that stand in its place, see ``unseen``."""
    first, *others = quoted_values([word, *like[:MOST_TEXTS]])
    way = others[0] if len(like) == 1 else f"[{', '.join(others)}]"
    offer = f"pass positive={way}, " if len(like) <= MOST_TEXTS and len(way) <= MOST_LETTERS and not side else ""
    where = {"": "row", LABELS_AND_PREDICTIONS[0]: "label", LABELS_AND_PREDICTIONS[1]: "prediction"}[side]
    beside = {
        "": "",
        LABELS_AND_PREDICTIONS[0]: f", and predictions have {first}",
        LABELS_AND_PREDICTIONS[1]: f", and labels have {first}",
    }[side]
    are, differ = ("is", "differs") if len(like) == 1 else ("are", "differ")
    how = difference_in_words([[word, *like]])
    return (
        f"positive={first} is in no {where}, and {and_more(others, len(like))} {are}, which {differ} "
        f"{how}{beside}; {offer}write the values alike, or pass positive=[{first}] if {first} is meant as it is"
    )


def nearly_equal(
    ours: pl.DataFrame, theirs: pl.DataFrame, columns: Sequence[str] = (), *, form: Form | None = None
) -> tuple[pl.Series, pl.Series] | None:
    """Return the rows of two tables of ids that are equal once case, spaces and zeros are set aside, see ``plain_ids``.

    An id of ``ours`` that is nearly equal to several different ids of ``theirs`` is left out: there, case or zeros tell
    ids apart.

    Parameters
    ----------
    ours, theirs : ids, with columns of the same names; no id of ``ours`` is in ``theirs``.
    columns : the columns in which case, spaces and zeros are set aside; by default all.
    form : returns ids without what is set aside; ``plain_ids`` by default.

    Returns
    -------
    The rows of ``ours``, each once, and for each the nearly equal row of ``theirs``; None if there are none.
    """
    keys = ours.columns
    texts = [name for name in columns or keys if are_texts(ours[name]) and are_texts(theirs[name])]
    if not texts or not len(ours) or not len(theirs):
        return None
    here, there = (table.with_columns((form or plain_ids)(table[name]) for name in texts) for table in (ours, theirs))
    some = here.with_row_index(OURS).filter(here[texts[0]].is_in(there[texts[0]].unique().implode()))
    like = there.with_row_index(THEIRS).filter(there[texts[0]].is_in(some[texts[0]].unique().implode()))
    # Of equal ids of ``theirs`` one row stays; then of those with equal forms none.
    distinct = theirs[like[THEIRS]].with_columns(like[THEIRS]).unique(keys, keep="first", maintain_order=True)
    unambiguous = like.filter(like[THEIRS].is_in(distinct[THEIRS].implode())).unique(keys, keep="none")
    both = some.join(unambiguous, on=keys, how="inner", nulls_equal=True, maintain_order="left")
    return (both[OURS], both[THEIRS]) if len(both) else None


def in_quotes(one: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[str, str]:
    """Return two ids, of one column or several, in quotes, as ``quoted_values`` does."""
    pairs = [quoted_values(both) for both in zip(one, other, strict=True)]
    return ", ".join(pair[0] for pair in pairs), ", ".join(pair[1] for pair in pairs)


def spelling_codes(ids: pl.DataFrame, form: Form) -> Array | None:
    """Return a code for each row, equal for those that differ in spelling only; None if no column has texts.

    ``form``: ``folded``, or ``plain_ids``.
    """
    texts = [name for name in ids.columns if are_texts(ids[name])]
    return codes(ids.with_columns(form(ids[name]) for name in texts), ids.columns)[0] if texts else None


def plain_ids(values: pl.Series) -> pl.Series:
    """Return ids of text, ``folded``, and without zeros before each run of digits and .0 behind a number."""
    texts = folded(values)
    if texts.str.contains("0", literal=True).any():
        texts = texts.str.replace_all(r"(^|[^0-9])0+([0-9])", "$1$2").str.replace(r"^([0-9]+)[.]0+$", "$1")
    return texts


def form_of_ids(ours: pl.Series, theirs: pl.Series) -> Form:
    """Return the form in which to compare ids: ``plain_ids``, or, if all have one length, ``folded``, which is faster.

    Ids of one length do not differ in leading zeros.
    """
    ends = {end for ids in (ours, theirs) for end in _lengths(ids.cast(pl.String))} - {None}
    return plain_ids if len(ends) > 1 else folded


def without_zeros(values: pl.Series) -> pl.Series:
    """Return ids of text, those of digits alone without leading zeros."""
    texts = values.cast(pl.String)
    return texts.str.replace(r"^0+([0-9]+)$", "$1") if texts.str.starts_with("0").any() else texts


def may_differ_in_zeros(ours: pl.Series, theirs: pl.Series) -> bool:
    """Return True if some ids of two columns may be equal but for leading zeros.

    Only lengths and first characters are read: ids of one length cannot be.
    """
    if not are_texts(ours) or not are_texts(theirs):
        return False
    if len(ours) + len(theirs) <= threads.ONE_BY_ONE:  # polars would start threads, which take longer
        return any(one[:1] == "0" != one for ids in (ours, theirs) for one in ids.to_list() if one)
    both = ours.cast(pl.String), theirs.cast(pl.String)
    ends = {end for ids in both for end in _lengths(ids)} - {None}
    return len(ends) > 1 and any(has_leading_zeros(ids).any() for ids in both)


def _lengths(texts: pl.Series) -> tuple[Any, Any]:
    """Return the least and the greatest length of some texts, None if there are none."""
    n = texts.str.len_bytes()
    return n.min(), n.max()


def has_leading_zeros(texts: pl.Series) -> pl.Series:
    """Mark the texts that begin with 0 and go on."""
    return texts.str.starts_with("0") & (texts.str.len_bytes() > 1)
