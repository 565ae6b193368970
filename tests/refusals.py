"""Tables of what is refused: calls, the error that they raise, and neighbouring calls that pass.

A table is a text. A call begins a line; below it, indented by four, stand the class and the words of its error, which
calls that stand one below another share. After ``for:`` stand the values that take turns in the place of VALUE: in the
calls above it as they are written, in the words as Python shows them, and in the place of TEXT without quotes. After
``but:`` stands a call that passes, so that no more is refused than what is meant; it is of all the calls above it, up
to the one before. ``[...]`` stands for any words. A line that is indented by eight goes on with the one above.
No message may be longer than ``LONGEST``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import polars as pl

from frame_metrics.errors import LONGEST

BUT, FOR = "but: ", "for: "
PLACE, TEXT = "VALUE", "TEXT"


class Refusal(NamedTuple):
    """A call, and the class and the words of its error."""

    call: str
    cause: str
    words: str

    @property
    def irm(self) -> str:
        """What the verb of the call is a method of."""
        verb = ast.parse(self.call, mode="eval").body
        assert isinstance(verb, ast.Call)
        assert isinstance(verb.func, ast.Attribute)
        return ast.unparse(verb.func.value)

    def of(self, value: str, names: Mapping[str, Any]) -> Refusal:
        """Return the row with a value in its place."""
        given = eval(value, dict(names))
        words = self.words.replace(PLACE, repr(given)).replace(TEXT, str(given))
        return Refusal(self.call.replace(PLACE, value), self.cause, words)

    def fault(self, names: Mapping[str, Any]) -> str | None:
        """Return how the call does otherwise than the row says."""
        try:
            gave = run(self.call, names)
        except Exception as error:
            if len(str(error)) > LONGEST:
                return f"{self.call}\n    is refused with {len(str(error))} characters: {error}"
            words = ".*".join(re.escape(part) for part in self.words.split("[...]"))
            if type(error).__name__ == self.cause and re.fullmatch(words, str(error), re.DOTALL):
                return None
            return f"{self.call}\n    is not refused by {self.cause}: {self.words}\n    but by {error!r}"
        return f"{self.call}\n    passes, and gives {gave!r}"


def run(call: str, names: Mapping[str, Any]) -> Any:
    """Return what a call gives, a plan collected."""
    gave = eval(call, dict(names))
    return gave.collect() if isinstance(gave, pl.LazyFrame) else gave


def lines_of(table: str) -> Iterator[tuple[str, str]]:
    """Yield what each line of a table is, a call, its error, ``but: `` or ``for: ``, and what it says."""
    for line in re.sub(r"\n {8}", " ", table).strip("\n").splitlines():
        said = line.strip()
        mark = next((mark for mark in (BUT, FOR) if said.startswith(mark)), "error" if line.startswith(" ") else "call")
        yield mark, said.removeprefix(mark)


def refusals_of(table: str, names: Mapping[str, Any]) -> Iterator[Refusal]:
    """Yield the rows of a table."""
    calls: list[str] = []
    values: list[str] = []
    mark = ""
    for mark, said in lines_of(table):
        if mark == "call":
            calls.append(said)
        elif mark == FOR:
            values = [ast.unparse(value) for value in ast.parse(f"[{said}]").body[0].value.elts]  # type: ignore[attr-defined]
        elif mark == "error":
            assert calls, f"no call stands above {said}"
            rows = [Refusal(call, *said.split(": ", 1)) for call in calls]
            yield from (row.of(value, names) for row in rows for value in values or ["None"])
            calls, values = [], []
        else:
            assert not calls, f"no error stands below {calls}"
    assert mark == BUT, "what is refused at the end has no neighbour that passes"


def check(table: str, names: Mapping[str, Any], *, neighbours: bool = True) -> None:
    """Fail where a call of a table is not refused as it says, or a neighbour does not pass; show all of these."""
    faults = [fault for row in refusals_of(table, names) if (fault := row.fault(names))]
    for mark, said in lines_of(table) if neighbours else ():
        if mark == BUT:
            try:
                run(said, names)
            except Exception as error:
                faults.append(f"{said}\n    does not pass: {error!r}")
    assert not faults, "\n".join(["", *faults])
