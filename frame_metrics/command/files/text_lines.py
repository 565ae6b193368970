"""Text files, checked line by line: faults that polars accepts, and the line of a fault that it rejects.

polars reads these files. It accepts without a word rows that lack cells, a name that occurs twice, the number 1 and the
text "1" in one column, and integers that a float cannot hold. For faults that it rejects, it does not name the line.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import polars as pl

from frame_metrics.errors import BadValueError, ColumnError, FrameMetricsError, cut, quote

SEPARATORS = {",": "a comma", "\t": "a tab", ";": "a semicolon"}
EXACT = 2**53  # up to here a float holds every integer
CHUNK = 1 << 23  # bytes that are checked at once
TEXT_OR_NULL = (b':"', b': "', b":null", b": null")  # the bytes after the name of a text, as most programs write them
DIGITS = 308  # the most digits of an integer within the range of floats
ESCAPED = re.compile(rb'\\.[^"\\]*"\s*:')  # the end of a name that contains an escape
_WHOLE = re.compile(rf"\s*[-+]?\d{{1,{DIGITS}}}\s*")
csv.field_size_limit(max(csv.field_size_limit(), 1 << 30))  # a text may be long


@dataclass(frozen=True)
class PlainText:
    """A file of text."""

    name: str  # for errors
    path: str  # of the unpacked file
    kind: str  # csv, tsv, jsonl or json
    separator: str = ","

    def wrong(self, number: int, what: str, unit: str | None = None) -> BadValueError:
        """Return the error about a line, or a row of JSON."""
        return BadValueError(f"{self.name}, {unit or self.unit} {number}: {what}")

    @property
    def unit(self) -> str:
        """Return the word for the numbers in errors: "row" for a JSON list, else "line"."""
        return "row" if self.kind == "json" else "line"

    # rows

    def lines(self) -> Iterator[str]:
        """Yield the lines; raise at the first that is not UTF-8."""
        with open(self.path, "rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    yield line.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError as error:
                    near = line[max(error.start - 20, 0) : error.end + 20].decode(errors="backslashreplace")
                    problem = f"it is not text in UTF-8 ({quote(near.strip())}); write the file in UTF-8"
                    raise self.wrong(number, problem, "line") from None

    def cells(self, *, strict: bool = False) -> Iterator[tuple[int, list[str]]]:
        """Yield for each row of CSV the line where it begins, and its cells; an empty line has none."""
        reader, before = csv.reader(self.lines(), delimiter=self.separator, strict=strict), 0
        try:
            for cells in reader:
                yield before + 1, cells
                before = reader.line_num
        except csv.Error as error:
            problem = "a quote is opened and not closed, or something follows it"
            if "new-line" in str(error):
                problem = "a single carriage return ends no line; end lines with a line feed, or put the cell in quotes"
            raise self.wrong(before + 1, problem) from None

    def objects(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the number of each line or row of JSON, and its object; raise for a value that is not an object."""
        for number, found in self._values():
            if not isinstance(found, dict):
                raise self.wrong(number, f'expected an object, as {{"query": 1}}, got {_json(found)}')
            yield number, found

    def _values(self) -> Iterator[tuple[int, Any]]:
        if self.kind == "jsonl":
            for number, line in enumerate(self.lines(), 1):
                if line.strip():
                    yield number, self._value(line, number)
            return
        whole = self._value("".join(self.lines()), 1)
        yield from enumerate(whole if isinstance(whole, list) else [whole], 1)

    def _value(self, text: str, number: int) -> Any:
        def no_name_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
            found = dict(pairs)
            if len(found) < len(pairs):
                names = [name for name, _ in pairs]
                twice = next(name for name in names if names.count(name) > 1)
                raise _Wrong(f"the name {twice!r} occurs twice in one object")
            return found

        try:
            return json.loads(text, object_pairs_hook=no_name_twice, parse_constant=_refused, parse_int=_whole)
        except json.JSONDecodeError as error:
            # In a JSON list, errors of syntax name a line of the file, though other errors name a row.
            line = number if self.kind == "jsonl" else error.lineno
            near = quote(text[max(error.pos - 20, 0) : error.pos + 20].strip())
            raise self.wrong(line, f"it is no JSON: {error.msg} (near {near})", "line") from None
        except _Wrong as error:
            raise BadValueError(f"{self.name}{f', line {number}' * (self.kind == 'jsonl')}: {error}") from None
        except RecursionError:
            raise self.wrong(number, "the nesting of lists or objects is too deep") from None

    # what frames do not show

    def check_list(self) -> None:
        """Raise for JSON that is one object, such as one of columns, which polars would read as one row."""
        filled = ((number, line.lstrip()) for number, line in enumerate(self.lines(), 1) if line.strip())
        number, first = next(filled, (1, ""))
        if first.startswith("{"):
            way = "pandas writes one with to_json(orient='records'), and objects a line each are jsonl"
            raise self.wrong(number, f'expected a list of rows, as [{{"query": 1}}], got an object; {way}', "line")

    def header(self) -> list[str]:
        """Return the names of the columns of CSV; raise if a name occurs twice."""
        at, names = next(self.cells(), (0, []))
        if not names:
            what = f", line {at}: the line is empty; it" if at else ": the file is empty; its first line"
            raise FrameMetricsError(f"{self.name}{what} has to have the names of the columns")
        if twice := next((name for name in names if name and names.count(name) > 1), None):  # nobody asks for ""
            n = names.count(twice)
            raise ColumnError(f"{self.name}, line 1: there are {n} columns called {twice!r}; rename all but one")
        return names

    def check_lengths(self, header: Sequence[str]) -> None:
        """Raise for a row of CSV that has fewer cells than the header, or more."""
        if len(header) == 1 or all(self._is_full(chunk, len(header) - 1) for chunk in self._chunks()):
            return
        for line, cells in self.cells():
            self._check_length(line, cells, header)

    def _check_length(self, line: int, cells: Sequence[str], header: Sequence[str]) -> None:
        if not cells and len(header) > 1:
            raise self.wrong(line, "the line is empty; take it out")
        if cells and len(cells) != len(header):
            told = f"{len(cells)} cells, where the header has {len(header)} columns, with {SEPARATORS[self.separator]}"
            raise self.wrong(line, f"{told} between ({quote(self.separator.join(cells))})")

    def _is_full(self, chunk: bytes, most: int) -> bool:
        """Return True if a chunk has ``most`` separators per line on average.

        Then each line has so many: polars rejects a line with more, so none can have fewer.
        """
        lines = chunk.count(b"\n") + (not chunk.endswith(b"\n"))
        return chunk.count(self.separator.encode()) == most * lines

    def _chunks(self) -> Iterator[bytes]:
        """Yield the bytes of the file in chunks of whole rows, without the text in quotes."""
        with open(self.path, "rb") as file:
            while chunk := file.read(CHUNK) + file.readline():
                while chunk.count(b'"') % 2 and (more := file.readline()):
                    chunk += more
                yield b"".join(chunk.split(b'"')[::2])

    def check_kinds(self, columns: Mapping[str, Any], with_role: Collection[str]) -> None:
        """Raise for a column of JSON with values of two kinds, and for a name that occurs twice in an object.

        Parameters
        ----------
        columns : the type of each column.
        with_role : the columns that have a role; of other columns only the names are checked.
        """
        kinds = {column: kind if column in with_role else None for column, kind in columns.items()}
        if self.kind == "jsonl" and all(self._is_of_one_kind(*one) for one in kinds.items()):
            return
        self._check_one_kind([column for column in columns if column in with_role])

    def _check_one_kind(self, columns: Iterable[str] | None = None) -> None:
        """Raise for a column with values of two kinds; ``columns``: those to check, None for all."""
        first: dict[tuple[str, ...], tuple[int, str, Any]] = {}
        for number, found in self.objects():
            for column in found if columns is None else columns:
                for where, value in _inner((column,), found.get(column)):
                    at, kind, one = first.setdefault(where, (number, _kind(value), value))
                    if kind != _kind(value):
                        problem = f"{_json(one)}, {kind}, in {self.unit} {at}; write all as one kind"
                        raise self.wrong(number, f"{column} has {_json(value)}, {_kind(value)}, and {problem}")

    def _is_of_one_kind(self, column: str, dtype: Any) -> bool:
        """Return True if a column surely occurs at most once in each line, and has values of one kind only.

        The check is fast and may return False without need. It returns False for lists and objects. Without a type,
        kinds are not checked.
        """
        if dtype is not None and dtype.is_nested():
            return False
        name, text = json.dumps(column, ensure_ascii=False).encode(), dtype == pl.String
        with open(self.path, "rb") as file:
            while chunk := file.read(CHUNK) + file.readline():
                if ESCAPED.search(chunk) or any(line.count(name) > 1 for line in chunk.split(b"\n")):
                    return False
                if text and chunk.count(name) > sum(chunk.count(name + then) for then in TEXT_OR_NULL):
                    return False
        return True

    def check_floats(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return rows unchanged; raise if an integer of the file was rounded to a float in them."""
        for values in frame.iter_columns():
            if values.dtype == pl.Float64 and (values.abs() >= EXACT).any():
                for number, value in self._numbers(values.name):
                    if int(float(value)) != value:
                        problem = f"{values.name} has {value}, past 2**53, in a column of numbers with a fraction"
                        raise self.wrong(number, f"{problem}, which cannot hold it; write ids as text")
        return frame

    def _numbers(self, column: str) -> Iterator[tuple[int, int]]:
        """Yield the line or row, and the value, of each integer of a column that is too large for floats."""
        if self.kind in ("csv", "tsv"):
            at = self.header().index(column)
            texts = ((line, cells[at]) for line, cells in self.cells() if len(cells) > at)
            found: Iterable[tuple[int, Any]] = ((line, int(one)) for line, one in texts if _WHOLE.fullmatch(one))
        else:
            found = ((line, one.get(column)) for line, one in self.objects())
        return ((line, one) for line, one in found if type(one) is int and abs(one) > EXACT)

    # where it is wrong

    def check_all(self, types: Mapping[str, Any]) -> None:
        """Raise for the first line that cannot be read, if there is one.

        Parameters
        ----------
        types : the types of the columns, as far as they are known.
        """
        if self.kind in ("csv", "tsv"):
            header = self.header()
            for line, cells in self.cells(strict=True):
                self._check_length(line, cells, header)
                if line > 1:
                    self._check_numbers(line, dict(zip(header, cells, strict=False)), types)
            if odd := next((number for number, line in enumerate(self.lines(), 1) if line.count('"') % 2), None):
                raise self.wrong(odd, "unescaped quote in a cell; double it, and put the cell in quotes")
            return
        self._check_one_kind()
        for number, found in self.objects():
            for column, value in found.items():
                dtype = types.get(column)
                if dtype is not None and value is not None and not _fits(value, dtype):
                    raise self.wrong(number, f"{column} has {_json(value)}, where others have {_type_of(dtype)}")

    def _check_numbers(self, line: int, row: Mapping[str, str], types: Mapping[str, Any]) -> None:
        for column, dtype in types.items():
            text = row.get(column, "")
            if text and dtype.is_numeric() and not _reads(text, int if dtype.is_integer() else float):
                way = "; numbers are written as 1234.5" if "," in text else ""
                raise self.wrong(line, f"{column} has {quote(text)}, which is no {_type_of(dtype, one=True)}{way}")


class _Wrong(Exception):
    """Text that is not valid JSON, though Python's reader accepts it."""


def _refused(constant: str) -> Any:
    raise _Wrong(f"{constant} is no number of JSON")


def _whole(digits: str) -> int:
    if len(digits) > DIGITS:
        raise _Wrong(f"{digits[:20]}... is a number of {len(digits)} digits, more than can be read")
    return int(digits)


def _inner(where: tuple[str, ...], value: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield a value and all values inside it, each with its path; nulls are left out.

    All items of a list have the same path.
    """
    if value is None:
        return
    yield where, value
    inside = [("", one) for one in value] if isinstance(value, list) else ()
    for name, one in value.items() if isinstance(value, dict) else inside:
        yield from _inner((*where, name), one)


def _kind(value: Any) -> str:
    """Return the kind of a value of JSON, in words."""
    number = "a number"
    kinds = {bool: "a truth value", int: number, float: number, str: "a text", list: "a list", dict: "an object"}
    return kinds[type(value)]


def _json(value: Any) -> str:
    """Return a value as JSON writes it, cut where it is long."""
    return cut(json.dumps(value, ensure_ascii=False))


def _fits(value: Any, dtype: Any) -> bool:
    """Return False for a value of JSON that surely cannot be read in a type."""
    if dtype.is_integer():
        return type(value) is int
    return type(value) in (int, float) or not dtype.is_float()


def _type_of(dtype: Any, *, one: bool = False) -> str:
    number = "whole number" if dtype.is_integer() else "number"
    return number if one else f"{number}s"


def _reads(text: str, kind: type) -> bool:
    """Return True for a number as polars reads it, which takes less than Python: no 1_000, and no space behind."""
    with suppress(ValueError):
        kind(text)
        return text.isascii() and "_" not in text and text == text.rstrip()
    return False
