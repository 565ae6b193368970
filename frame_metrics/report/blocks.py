"""The blocks that a report is made of: texts, tables, pictures, and groups of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from frame_metrics.backends.tables import Cell, Table


@dataclass(frozen=True)
class Picture:
    """A picture as SVG, or several that belong together."""

    title: str
    description: str  # a description for readers who do not see it
    svgs: Sequence[str]  # one of class "wide" is followed by the same for the width of a phone, of class "narrow"
    notes: Sequence[str] = ()
    small: bool = False  # whether several stand beside each other


@dataclass(frozen=True)
class Group:
    """Blocks under a smaller heading."""

    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Fold:
    """Blocks that a reader unfolds."""

    summary: Cell
    blocks: Sequence[Block]
    name: str = ""  # the name in links, which open it; "" for none


@dataclass(frozen=True)
class Linked:
    """A text whose end is a link to a section."""

    text: str
    link: str
    target: str  # the name of the section


@dataclass(frozen=True)
class Code:
    """Words and code after them."""

    text: str
    code: str


Block: TypeAlias = "str | Table | Picture | Group | Fold | Linked | Code"


@dataclass(frozen=True)
class Section:
    """A part of the report, under a heading."""

    name: str  # the name in links
    title: str
    blocks: Sequence[Block]
    folded: bool = False
