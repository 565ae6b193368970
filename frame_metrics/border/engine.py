"""Engines: frames whose rows stay where they are. Pieces are worked on there, and small tables come here."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from frame_metrics.border.protocol import Border, Compute, Limits, Schema, Work, same_keys
from frame_metrics.errors import NotComputableError, kind_of

if TYPE_CHECKING:
    from typing import Self

    from frame_metrics.answer import Spread


class Engine(Border):
    """A frame of an engine, in parts that have no order."""

    ordered: ClassVar[bool] = False  # pieces do not have the numbers of their rows
    spreads: ClassVar[bool] = False
    brought_here: ClassVar[str]  # what the caller does to have all rows here, as "compute()"

    @abstractmethod
    def mapped(self, columns: Sequence[str], keys: Sequence[str], work: Work, schema: Mapping[str, Any]) -> Any:
        """Return what work gives of each piece, one below the other, as a frame of the engine that has not run.

        Parameters
        ----------
        columns : the columns of a piece.
        keys : those of them that rows of one query agree in, which come into one piece; none where each row is a query.
        work : a function of a piece; it can be pickled.
        schema : the types of the columns that it returns.
        """

    @abstractmethod
    def fetched(self, frame: Any) -> pl.DataFrame:
        """Run a frame of the engine, and return it."""

    @abstractmethod
    def counted(self, columns: Sequence[str]) -> pl.DataFrame:
        """Return the distinct rows of some columns, and in a last column, ``TIMES``, how often each stands."""

    @property
    def border(self) -> Self:
        """The border of what is gathered and counted."""
        return self

    @property
    def numbered(self) -> bool:
        return False

    def gathered(
        self,
        columns: Sequence[str],
        keys: Sequence[str],
        work: Work,
        schema: Mapping[str, Any],
        together: Work | None = None,
    ) -> pl.DataFrame:
        # There columns are called by their places, since no engine has names such as ours.
        places = {f"c{i}": kind for i, kind in enumerate(schema.values())}
        table = self.fetched(self.mapped(columns, keys, partial(_by_place, work), places))
        table = table.rename(dict(zip(table.columns, schema, strict=True)))
        return (table if together is None else together(table)).cast(pl.Schema(schema))

    def rows_of(self, columns: Sequence[str], keys: pl.DataFrame) -> pl.DataFrame:
        return self.gathered(columns, [], partial(same_keys, keys=keys), self.types(columns))

    def answer(
        self, columns: Sequence[str], compute: Compute, schema: Schema, limits: Limits, *, in_pieces: bool
    ) -> Any:
        self.check(columns)
        if not in_pieces:
            raise NotComputableError(
                f"this is computed from all rows at once, and those of a {kind_of(self.frame)} are not here; give what "
                f"its {self.brought_here} returns, of the columns that are needed and of some queries"
            )
        answer = compute(self)
        return (
            self.given_back(answer)
            if answer.spread is None
            else self.spread_out(answer.spread, schema(self.types(columns)))
        )

    def spread_out(self, spread: Spread, types: Mapping[str, Any]) -> Any:
        """Return an answer that is made where the pieces are, as a frame of the engine that has not run."""
        raise NotImplementedError


def _by_place(work: Work, piece: pl.DataFrame) -> pl.DataFrame:
    table = work(piece)
    return table.rename({name: f"c{i}" for i, name in enumerate(table.columns)})
