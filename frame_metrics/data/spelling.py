"""Find texts that differ in case, in spaces around them, or in Unicode form only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from unicodedata import normalize

import polars as pl

from frame_metrics.errors import LONG, BadValueError, cut, shown
from frame_metrics.roles.series import TEXTS

APART = "in case or spaces only"
SHOWN = 5  # texts that a message shows


def folded(values: pl.Series) -> pl.Series:
    """Return texts in lower case, in one Unicode form, and without spaces around them; null stays null."""
    texts = values.cast(pl.String)
    if (texts.str.len_bytes() != texts.str.len_chars()).any():  # a form of characters beyond ASCII; it takes long
        texts = texts.str.normalize("NFC")
    return texts.str.strip_chars().str.to_lowercase()


def are_texts(values: pl.Series) -> bool:
    """Return True for a column of texts or categories."""
    return isinstance(values.dtype, TEXTS)


def groups_alike(values: Iterable[Any]) -> list[list[str]]:
    """Return the groups of two or more texts that differ in case, spaces or Unicode form only, in their first order."""
    texts = pl.Series([*dict.fromkeys(one for one in values if isinstance(one, str))], dtype=pl.String)
    if len(texts) < 2 or (forms := folded(texts)).n_unique() == len(texts):
        return []
    each = pl.DataFrame({"text": texts, "form": forms}).group_by("form", maintain_order=True).agg("text")
    return each.filter(pl.col("text").list.len() > 1)["text"].to_list()


def quoted(texts: Sequence[Any]) -> list[str]:
    """Return some values in quotes; texts that print alike show the characters that differ."""
    forms = [one if not isinstance(one, str) or one.isascii() else normalize("NFC", one) for one in texts]
    alone = [not isinstance(one, str) or forms.count(form) == 1 for one, form in zip(texts, forms, strict=True)]
    return [shown(one) if apart else cut(ascii(one)) for one, apart in zip(texts, alone, strict=True)]


def first_in_quotes(texts: Sequence[Any]) -> str:
    """Return the first ``SHOWN`` values in quotes, and how many more there are."""
    return told_of(quoted(texts[:SHOWN]), len(texts))


def told_of(told: Sequence[str], n: int) -> str:
    """Return the first of ``n`` values with commas, and how many more there are."""
    more = n - len(told)
    return ", ".join(told) + (f" and {more:,} more" if more > 0 else "")


def variants(sides: Iterable[pl.Series], text: str) -> list[str]:
    """Return the values of some columns that differ from a text in case, spaces or Unicode form only, sorted."""
    held = [side.cast(pl.String).unique().drop_nulls() for side in sides if are_texts(side)]
    if not held:
        return []
    every = pl.concat(held).unique().sort()
    form = folded(pl.Series([text]))[0]
    return every.filter((folded(every) == form) & (every != text)).to_list()


def spelled_like(sides: Iterable[pl.Series], positive: Sequence[Any] | None) -> list[str]:
    """Return the texts of ``positive=`` that some columns have, and, of a text that none has, its variants."""
    texts = [one for one in positive or () if isinstance(one, str)]
    columns = [side for side in sides if are_texts(side)] if texts else []
    if not columns:
        return []
    seen = [one for one in texts if any((side.cast(pl.String) == one).any() for side in columns)]
    return [*seen, *(like for one in texts if one not in seen for like in variants(columns, one))]


def check_positive(seen: Sequence[str], positive: Sequence[Any] | None) -> None:
    """Raise if a text of ``positive=`` is in no row, and one is that differs from it in case or spaces only.

    ``seen``: as ``spelled_like`` returns it.
    """
    if lost := unseen(seen, positive):
        raise BadValueError(said_of(*lost, positive or ()))


def unseen(seen: Sequence[str], positive: Sequence[Any] | None) -> tuple[str, list[str]] | None:
    """Return the first text of ``positive=`` that was not seen though variants of it were, and these; None if none."""
    for text in positive or ():
        if isinstance(text, str) and text not in seen:
            known = [one for one in seen if one not in (positive or ())]
            form = folded(pl.Series([text, *known]))
            like = [one for one, own in zip(known, form[1:], strict=True) if own == form[0]]
            if like:
                return text, like
    return None


def said_of(text: str, like: list[str], positive: Sequence[Any]) -> str:
    """Return the words about a text of ``positive=`` that is in no row; ``like``: its variants, which are."""
    several = [other for one in positive for other in (like if one == text else [one])]
    told, *others = quoted([text, *like[:SHOWN]])
    ways = others if len(positive) == 1 else quoted(several[: SHOWN + 1])
    way = ways[0] if len(several) == 1 else f"[{', '.join(ways)}]"
    short = len(several) <= SHOWN and len(way) <= LONG  # of more, no list can be copied from the message
    offer = f"pass positive={way}, or write the values alike" if short else "write the values alike"
    return (
        f"positive={told} is in no row, and {told_of(others, len(like))} {'is' if len(like) == 1 else 'are'}, which "
        f"{'differs' if len(like) == 1 else 'differ'} {APART}; {offer}"
    )


def nearly_equal(
    ours: pl.DataFrame, theirs: pl.DataFrame, named: Sequence[str] = ()
) -> tuple[pl.Series, pl.Series] | None:
    """Return the rows of two tables of ids that are equal once case, spaces and leading zeros are set aside.

    An id that is so equal to several different ones of ``theirs`` is like none: there, case tells ids apart.

    Parameters
    ----------
    ours, theirs : ids, with columns of the same names; those of ``ours`` have no equal one in ``theirs``.
    named : the columns in which these are set aside; by default all.

    Returns
    -------
    The numbers of such rows of ``ours``, each once, and of a row of ``theirs`` that each is like; None for none.
    """
    keys = ours.columns
    texts = [name for name in named or keys if are_texts(ours[name]) and are_texts(theirs[name])]
    if not texts or not len(ours) or not len(theirs):
        return None
    here, there = (table.with_columns(plain_ids(table[name]) for name in texts) for table in (ours, theirs))
    some = here.with_row_index("\0ours").filter(here[texts[0]].is_in(there[texts[0]].unique().implode()))
    like = there.with_row_index("\0theirs").filter(there[texts[0]].is_in(some[texts[0]].unique().implode()))
    alone = theirs[like["\0theirs"]].with_columns(like["\0theirs"]).unique(keys, keep="first", maintain_order=True)
    once = like.filter(like["\0theirs"].is_in(alone["\0theirs"].implode())).unique(keys, keep="none")
    both = some.join(once, on=keys, how="inner", nulls_equal=True, maintain_order="left")
    return (both["\0ours"], both["\0theirs"]) if len(both) else None


def in_quotes(one: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[str, str]:
    """Return two ids of one column or several in quotes, as ``quoted``."""
    pairs = [quoted(both) for both in zip(one, other, strict=True)]
    return ", ".join(pair[0] for pair in pairs), ", ".join(pair[1] for pair in pairs)


def plain_ids(values: pl.Series) -> pl.Series:
    """Return ids of text, ``folded`` and without leading zeros."""
    texts = folded(values)
    return texts.str.replace(r"^0+(\d+)$", "$1") if texts.str.starts_with("0").any() else texts
