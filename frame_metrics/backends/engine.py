"""Engines: frames whose rows stay where they are. The engine runs functions on pieces; only small tables come back."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from frame_metrics.backends.protocol import Backend, Gathering, PieceFunction, Pieces, Request, same_keys
from frame_metrics.errors import NotComputableError, class_name

if TYPE_CHECKING:
    from frame_metrics.answer import DistributedAnswer


class Engine(Backend, Pieces):
    """A frame of an engine, in partitions without an order."""

    brought_here: ClassVar[str]  # the method that brings all rows into this process, as "compute()"
    numbered = False

    @abstractmethod
    def mapped(self, gathering: Gathering) -> Any:
        """Return the tables that a function makes from all pieces, as a frame of the engine that has not run."""

    @abstractmethod
    def fetched(self, frame: Any) -> pl.DataFrame:
        """Run a frame of the engine, and return its rows as polars."""

    def gathered(self, gathering: Gathering) -> pl.DataFrame:
        # In the engine columns are named c0, c1 ..., since engines do not allow every name that is used here.
        places = {f"c{i}": kind for i, kind in enumerate(gathering.schema.values())}
        table = self.fetched(self.mapped(replace(gathering, work=partial(_by_place, gathering.work), schema=places)))
        table = table.rename(dict(zip(table.columns, gathering.schema, strict=True)))
        return (table if gathering.reduce is None else gathering.reduce(table)).cast(pl.Schema(gathering.schema))

    def rows_of(self, columns: Sequence[str], keys: pl.DataFrame) -> pl.DataFrame:
        return self.gathered(Gathering(columns, [], partial(same_keys, keys=keys), self.types(columns)))

    def answer(self, request: Request) -> Any:
        self.check(request.columns)
        if not request.in_pieces:
            raise NotComputableError(
                f"this is computed from all rows at once, and those of a {class_name(self.frame)} are not here; give "
                f"what its {self.brought_here} returns, of the columns that are needed and of some queries"
            )
        answer = request.compute(self)
        if answer.distributed is None:
            return self.to_native(answer)
        return self.distributed_frame(answer.distributed, request.schema(self.types(request.columns)))

    def distributed_frame(self, distributed: DistributedAnswer, types: Mapping[str, Any]) -> Any:
        """Return an answer that the engine computes itself, as a frame of the engine that has not run."""
        raise NotImplementedError


def _by_place(work: PieceFunction, piece: pl.DataFrame) -> pl.DataFrame:
    table = work(piece)
    return table.rename({name: f"c{i}" for i, name in enumerate(table.columns)})
