"""Sentences of a summary: what all of them have, and those that are given as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, TypeVar, dataclass_transform

import polars as pl

from frame_metrics.report.cells import SIDE, no_value

# Places of the first block: what may make the answer wrong, the answer, since when, where, and what to do next.
DOUBT, ANSWER, WHEN, WHERE, NEXT = 1, 2, 3, 4, 5
# The columns of a summary that hold figures, and their types; "system" and "baseline" have those of the frame.
FIGURES: Mapping[str, Any] = {
    **dict.fromkeys(("of", "system", "baseline", "metric"), pl.String()),
    **dict.fromkeys(("value", "baseline_value", "difference", "ci_low", "ci_high", "p_adjusted"), pl.Float64()),
    "correction": pl.String(),
    **dict.fromkeys(("wins", "losses", "n", "baseline_n", "n_units", "baseline_n_units"), pl.Int64()),
    **dict.fromkeys(("share", "mde", "margin", "p_not_worse"), pl.Float64()),
}
Own = TypeVar("Own")


class PlainKind(NamedTuple):
    """A kind of sentences that are given as text."""

    about: str
    place: int | None = None
    has_metric: bool = True  # whether they are about a metric


PLAIN: Mapping[str, PlainKind] = {
    "split": PlainKind("units that are not split between arms as they should be", DOUBT, False),
    "audit": PlainKind("the gravest finding of the audit", DOUBT, False),
    "missing": PlainKind("ids written in two ways, and rows without a label or a score", DOUBT, False),
    "distance": PlainKind("scores that order results worse than chance", DOUBT, False),
    "cut": PlainKind("searches that segments cut into parts", DOUBT, False),
    "next": PlainKind("what to do next", NEXT),
    "code": PlainKind("the code for it"),
    "absent": PlainKind("what was named, or is usual, and cannot be said, and why"),
    "nothing": PlainKind("what was looked for and not found"),
    "arms": PlainKind("the column of arms, each of which has units of its own", None, False),
    "rare": PlainKind("the rarest of several classes", None, False),
    "others": PlainKind("the values of the metrics behind the first, of which the sentences are", None, False),
    "agreement": PlainKind("how often people and a machine give the same grade"),
}


def column(name: str, **options: Any) -> Any:
    """Return a field that a summary has in a column of another name; ``options``: as ``field`` takes them."""
    return field(metadata={"column": name}, **options)


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field, column))
def declared(**same: str | int | None) -> Callable[[type[Own]], type[Own]]:
    """Return a decorator for a class of sentences, which are made of figures by their names.

    ``same``: the kind, the place, or whether it claims something, if that is the same for all sentences of the class.
    """

    def made(kind: type[Own]) -> type[Own]:
        for name, value in same.items():
            setattr(kind, name, value)
        return dataclass(frozen=True, kw_only=True)(kind)

    return made


@declared()
class Sentence:
    """A sentence of a summary, made of its own figures: those of a column of a summary have its name, or name it.

    Its class declares its kind, its place in the first block, when it claims something, and its words.
    """

    metric: str | None
    system: Any = None
    within: str | None = None  # the segment that the whole sentence is about, in words
    # What else may make the answer wrong, as "And 3 more warnings"; of a difference, which others surely differ.
    more: str = ""
    # What its test takes for granted and is not so, in words; such a sentence claims nothing by itself.
    provided: str = ""

    @property
    def kind(self) -> str:
        """The kind, as a summary has it."""
        raise NotImplementedError

    @property
    def place(self) -> int | None:
        """The place in the first block that the sentence may take; None for a note."""
        return None

    @property
    def claims(self) -> bool:
        """True if the sentence says what only a test shows, so that chance makes it wrong in a few of many reports."""
        return False

    def words(self) -> str:
        """Return the figures in words; "" if they are not enough for a sentence."""
        raise NotImplementedError

    @property
    def sentence(self) -> str:
        """The words with what stands before and behind them; "" if there are none."""
        text = self.words()
        text = f"For {self.within}, {text[0].lower()}{text[1:]}" if text and self.within else text
        unnamed = ["this frame ", *([] if (side := SIDE.get()) is None else [f"{no_value(side)} "])]
        text = f"{text[0].upper()}{text[1:]}" if text.startswith((*unnamed,)) else text
        if text and self.provided:
            text = f"{self.provided}, {f'f{text[1:]}' if text.startswith('For ') else text}"
        return f"{text} {self.more}." if text and self.more else text

    @property
    def figures(self) -> dict[str, Any]:
        """The figures by column of a summary; None for those that the sentence does not have."""
        own = {one.metadata["column"]: one.name for one in fields(self) if one.metadata}
        return {name: getattr(self, own.get(name, name), None) for name in FIGURES}


@declared()
class Plain(Sentence):
    """A sentence that is given as text, of one of several kinds."""

    about: str  # the kind, a key of ``PLAIN``
    of: str  # what was found
    text: str | None = None  # the text without a full stop, if it is another
    n: int | None = None  # queries, rows, documents or classes that it is about
    share: float | None = None  # their share of all

    @property
    def kind(self) -> str:
        """The kind that was given."""
        return self.about

    @property
    def place(self) -> int | None:
        """That of its kind."""
        return PLAIN[self.about].place

    def words(self) -> str:
        text = self.text or self.of
        return text if text.endswith("?") else f"{text}."


@declared(kind="tests")
class ErrorRates(Sentence):
    """The chance that sentences which rest on tests are wrong."""

    n: int  # how many these are
    each: float = column("value")  # how often one is wrong, at most
    some: float = column("share")  # how often one or more are, at most

    def words(self) -> str:
        each, some = (f"{100 * one:.3g} %" for one in (self.each, self.some))
        wrong = f"each is wrong in at most {each} of such reports, and one or more of them in up to {some}"
        return f"{self.n:,} of these sentences rest on tests: {wrong}."
