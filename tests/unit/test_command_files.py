"""Files of the command line: what no reader says of them, errors with file and line, and files that change."""

from __future__ import annotations

import gzip
import io
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from frame_metrics.command import main
from frame_metrics.errors import quote
from inside import LazyPolars, reading, short_looks_at_files

pytestmark = pytest.mark.usefixtures("alone")
Captured = pytest.CaptureFixture[str]


def called(capsys: Captured, name: str, *more: str) -> tuple[int, str, str]:
    """The exit code of rr for each query of a file, and what is printed."""
    return main(["per-query", name, "rr", *more]), *capsys.readouterr()


def refused(capsys: Captured, name: str, *more: str) -> str:
    """The error about a file."""
    code, printed, said = called(capsys, name, *more)
    assert (code, printed, said[:15]) == (2, "", "frame-metrics: "), said
    return said.removeprefix("frame-metrics: ").rstrip("\n")


def values(capsys: Captured, name: str, *more: str, said: str = "") -> list[tuple[str, float]]:
    """The values of a file by query."""
    code, printed, err = called(capsys, name, *more)
    assert (code, err) == (0, said), err
    frame = pl.read_csv(io.StringIO(printed), schema_overrides={"query": pl.String})
    return frame.select("query", "value").rows()


def rows(*pairs: tuple[str, str], lines: bool = True) -> str:
    """Rows of JSON, of a query and a score each, as they are written."""
    found = [f'{{"query": {query}, "score": {score}, "grade": {at}}}' for at, (query, score) in enumerate(pairs)]
    return "\n".join(found) if lines else f"[{', '.join(found)}]"


def write(frame: pl.DataFrame, name: str) -> None:
    """Write a frame in the format of a name."""
    by_ending = {"csv": frame.write_csv, "jsonl": frame.write_ndjson, "parquet": frame.write_parquet}
    (by_ending | {"arrow": frame.write_ipc})[name.rpartition(".")[2]](name)  # type: ignore[operator]


# lists


PYTHON, JSON = "['{}']", '["{}"]'  # how each writes a list of texts


def test_lists_are_read_from_every_kind_of_file(capsys: Captured) -> None:
    """Cells of a CSV file hold lists as Python or JSON writes them; an empty cell is a query without results."""
    lists = pl.DataFrame({"query": [1, 2, 3], "doc": [["a", "b"], ["c", "d"], None], "gold": [["a"], ["d"], ["e"]]})
    for text in (PYTHON, JSON):
        between = text.strip("[]").replace("{}", ", ")
        cells = [pl.format(text, pl.col(name).list.join(between)).alias(name) for name in ("doc", "gold")]
        lists.with_columns(cells).write_csv("log.csv")
        assert values(capsys, "log.csv", "--relevant", "gold") == [("1", 1.0), ("2", 0.5), ("3", 0.0)]
    for name in ("log.jsonl", "log.parquet"):
        write(lists, name)
        assert values(capsys, name, "--relevant", "gold") == [("1", 1.0), ("2", 0.5), ("3", 0.0)]


def test_lists_of_numbers_in_cells_are_scores_and_labels_or_ids(capsys: Captured) -> None:
    """Ids are texts, as elsewhere in CSV; scores order the list."""
    Path("log.csv").write_text('query,scores,labels\n1,"[0.1, 0.9]","[1, 0]"\n2,"[2, 1]","[1, 0]"\n')
    assert values(capsys, "log.csv", "--score", "scores", "--label", "labels") == [("1", 0.5), ("2", 1.0)]
    Path("log.csv").write_text('query,doc,gold\n1,"[7, 8]",[8]\n2,"[8.0, 7.0, 1e3]",[1000]\n')
    assert values(capsys, "log.csv", "--relevant", "gold") == [("1", 0.5), ("2", 1 / 3)]


@pytest.mark.parametrize("odd", ["['a' 'b']", "[a, b]", '[["a"]]'])
def test_cells_in_brackets_that_are_no_lists_are_errors(odd: str, capsys: Captured) -> None:
    """Neither as the only ones nor below lists are cells taken for ids, as 'ab' of two texts that numpy wrote."""
    row, good = pl.DataFrame({"query": [1], "doc": [odd], "gold": ["['a']"]}), [None] * 25 + ["['a']"] * 30
    row.write_csv("log.csv")
    assert refused(capsys, "log.csv", "--relevant", "gold").startswith(f"doc: {quote(odd)} is no list of texts")
    rows = pl.DataFrame({"query": range(56), "doc": [*good, odd], "gold": [*good, "['a']"]})
    rows.write_csv("log.csv")
    assert refused(capsys, "log.csv", "--relevant", "gold").startswith(f"doc: {quote(odd)} is no list of texts")


def test_one_relevant_id_for_each_query_is_a_file_of_judgments(capsys: Captured) -> None:
    """The error names flags, and what they say is read."""
    write(pl.DataFrame({"query": [1, 2], "doc": [*"ab"], "score": [2.0, 1.0], "gold": [*"ab"]}), "log.csv")
    said = refused(capsys, "log.csv", "--relevant", "gold")
    assert said == (
        "--relevant gold holds no lists of ids; if it has one id for each query, give a file of queries and ids as "
        "--qrels FILE --all-relevant; a judgment of a row is its --label"
    )
    write(pl.DataFrame({"query": [1, 2], "doc": [*"ab"]}), "gold.csv")
    assert values(capsys, "log.csv", "--qrels", "gold.csv", "--all-relevant") == [("1", 1.0), ("2", 1.0)]


# what the reader takes without a word

UNLIKE: dict[str, tuple[str, str, str]] = {
    "a name twice": (
        "log.csv",
        "query,score,score,grade\n1,2,1,0\n",
        "log.csv, line 1: there are 2 columns called 'score'; rename all but one",
    ),
    "a name twice in quotes": (
        "log.tsv",
        'query\t"score"\tscore\n1\t2\t1\n',
        "log.tsv, line 1: there are 2 columns called 'score'",
    ),
    "a name twice in a line": (
        "log.jsonl",
        f'{rows(("1", "2"))}\n{{"query": 1, "score": 1, "score": 2}}',
        "log.jsonl, line 2: the name 'score' occurs twice in one object",
    ),
    "a name twice, and a line that ends": (
        "log.jsonl",
        f'{{"query": 1, "score": 1, "grade": 1, "score": 5}}\n{rows(("1", "3"))}\n',
        "log.jsonl, line 1: the name 'score' occurs twice in one object",
    ),
    "a name twice, and one that lacks": (
        "log.jsonl",
        f'{rows(("1", "3"))}\n{{"query": 1, "score": 1, "grade": 1, "grade": 0}}\n{{"query": 1, "score": 2}}\n',
        "log.jsonl, line 2: the name 'grade' occurs twice in one object",
    ),
    "a name twice, once in codes": (
        "log.jsonl",
        f'{rows(("1", "3"))}\n{{"query": 1, "score": 1, "grade": 1, "sc\\u006fre": 2}}\n',
        "log.jsonl, line 2: the name 'score' occurs twice in one object",
    ),
    "a name twice that plays no part": (
        "log.jsonl",
        f'{rows(("1", "3"))}\n{{"query": 1, "score": 1, "grade": 1, "title": "a", "title": "b"}}\n',
        "log.jsonl, line 2: the name 'title' occurs twice in one object",
    ),
    "a name twice in a list": (
        "log.json",
        '[{"query": 1, "score": 1, "score": 2}]',
        "log.json: the name 'score' occurs twice in one object",
    ),
    "a number and a text": (
        "log.jsonl",
        rows(("1", "2"), ("null", "1"), ('"1"', "1")),
        'log.jsonl, line 3: query has "1", a text, and 1, a number, in line 1; write all as one kind',
    ),
    "a text and a number": (
        "log.json",
        rows(('"1"', "2"), ("1", "1"), lines=False),
        'log.json, row 2: query has 1, a number, and "1", a text, in row 1; write all as one kind',
    ),
    "in lists": (
        "log.jsonl",
        '{"query": 1, "doc": [1, 2], "relevant": [1]}\n{"query": 2, "doc": ["1"], "relevant": [2]}',
        'log.jsonl, line 2: doc has "1", a text, and 1, a number, in line 1',
    ),
    "past 2**53": (
        "log.jsonl",
        rows(("9007199254740992", "2"), ("9007199254740993", "2"), ("1.5", "1")),
        "log.jsonl, line 2: query has 9007199254740993, past 2**53, in a column of numbers with a fraction",
    ),
    "past 2**53 in a list": (
        "log.json",
        rows(("9007199254740993", "2"), ("1.5", "1"), lines=False),
        "log.json, row 1: query has 9007199254740993, past 2**53",
    ),
    "a score past 2**53": (
        "log.csv",
        "query,score,grade\n1,9007199254740993,1\n1,9007199254740992,0\n",
        "log.csv, line 2: score has 9007199254740993, past 2**53",
    ),
    "a segment past 2**53": (
        "log.csv",
        "query,score,grade,day\n1,1,1,1.5\n1,2,1,9007199254740993\n",
        "log.csv, line 3: day has 9007199254740993, past 2**53",
    ),
    "a number as Python writes it": (
        "log.csv",
        "query,score,grade\n1,2,1\n1,1_000,0\n",
        "log.csv, line 3: score has '1_000', which is no number",
    ),
    "too few cells": (
        "log.csv",
        "query,score,grade\n1,2,1\n1,1\n",
        "log.csv, line 3: 2 cells, where the header has 3 columns, with a comma between ('1,1')",
    ),
    "too few cells after a text of two lines": (
        "log.csv",
        'query,score,grade\n"1\n",2,1\n1,1\n',
        "log.csv, line 4: 2 cells, where the header has 3 columns",
    ),
    "an empty line": ("log.csv", "query,score,grade\n1,2,0\n\n1,1,1\n", "log.csv, line 3: the line is empty"),
    "too few and too many": (
        "log.csv",
        "query,score,grade\n1,2\n1,1,1,1\n",
        "log.csv, line 2: 2 cells, where the header has 3 columns",
    ),
}


@pytest.mark.parametrize("case", UNLIKE)
def test_what_a_frame_would_not_show_is_an_error(case: str, capsys: Captured) -> None:
    """A name that stands twice, values of two kinds, a rounded number and a missing cell are errors with their line."""
    name, text, told = UNLIKE[case]
    Path(name).write_text(text)
    by = ["--by", "day"] if "day" in text else []
    assert refused(capsys, name, *by).startswith(told)
    Path(f"{name}.gz").write_bytes(gzip.compress(text.encode()))
    assert refused(capsys, f"{name}.gz", *by).startswith(told.replace(name, f"{name}.gz"))


@pytest.mark.parametrize("case", [case for case in UNLIKE if case.startswith("a name twice")])
def test_a_name_that_stands_twice_is_not_converted(case: str, capsys: Captured) -> None:
    """No column is lost where a file is only written in another format."""
    name, text, told = UNLIKE[case]
    Path(name).write_text(text)
    assert (main(["convert", name]), told in capsys.readouterr().err) == (2, True)


ALIKE: dict[str, tuple[str, str, list[tuple[str, float]]]] = {
    "large whole numbers": (
        "log.jsonl",
        rows(("9007199254740993", "2"), ("9007199254740992", "1")),
        [("9007199254740993", 0), ("9007199254740992", 1)],
    ),
    "large numbers that floats hold": (
        "log.jsonl",
        rows(("1", "9007199254740994"), ("1", "0.5"), ("2", "1e300")),
        [("1", 0.5), ("2", 1)],
    ),
    "a name within a text": ("log.jsonl", '{"query": "\\"query\\": 1", "score": 1, "grade": 1}', [('"query": 1', 1)]),
    "an object within": (
        "log.jsonl",
        '{"query": "1", "score": 1, "grade": 1, "more": {"query": 1, "score": "x"}}',
        [("1", 1)],
    ),
    "separators in quotes": (
        "log.csv",
        'query,score,grade\n"a,b",2,1\n"say ""c"",",1,0\n"d\ne",1,1\n',
        [("a,b", 1), ('say "c",', 0), ("d\ne", 1)],
    ),
    "empty cells": ("log.csv", "query,score,grade\n1,2,\n1,1,1\n", [("1", 0.5)]),
    "cells in quotes, of which one is empty": ("log.csv", 'query,score,grade\n"1","2",""\n"1","1","1"\n', [("1", 0.5)]),
    "the ends of lines of Windows": ("log.csv", "query,score,grade\r\n1,2,0\r\n1,1,1\r\n", [("1", 0.5)]),
    "columns without a name": ("log.csv", ",,query,score,grade\n0,0,1,2,0\n", [("1", 0)]),
    "a mark of the byte order": ("log.csv", "\ufeffquery,score,grade\n1,2,0\n", [("1", 0)]),
    "a mark before lines of JSON": ("log.jsonl", f"\ufeff{rows(('1', '2'), ('1', '3'))}\n", [("1", 1)]),
    "a mark before a list": ("log.json", f"\ufeff{rows(('1', '2'), ('1', '3'), lines=False)}", [("1", 1)]),
    "codes in a text": (
        "log.jsonl",
        '{"query": "\\u00e9 \\"a\\": 1", "score": 1, "grade": 1}\n',
        [('é "a": 1', 1)],
    ),
}


@pytest.mark.parametrize("case", ALIKE)
def test_what_only_looks_so_is_read(case: str, capsys: Captured) -> None:
    """Quotes, objects within and large numbers are no reason for an error."""
    name, text, expected = ALIKE[case]
    Path(name).write_bytes(text.encode())
    assert values(capsys, name) == expected


def test_a_large_file_is_looked_at_to_its_end(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is wrong behind the rows of which types are read, and behind a first part, is found."""
    short_looks_at_files(monkeypatch)
    many = [(f'"{i}"', "1") for i in range(20)]
    Path("log.jsonl").write_text(rows(*many, ("7", "1")))
    assert refused(capsys, "log.jsonl").startswith(
        'log.jsonl, line 21: query has 7, a number, and "0", a text, in line 1'
    )
    Path("log.csv").write_text("query,score,grade\n" + '"a\nb",1,1\n' * 20 + "b,1\n")
    assert refused(capsys, "log.csv").startswith("log.csv, line 42: 2 cells")


# what the reader refuses


BROKEN: dict[str, tuple[str, bytes, str]] = {
    "too many cells": (
        "log.csv",
        b"query,score,grade\n1,2,1\n1,2,1,4\n",
        "log.csv, line 3: 4 cells, where the header has 3 columns",
    ),
    "no UTF-8": (
        "log.csv",
        b"query,score,grade\nM\xfcller,2,1\n",
        "log.csv, line 2: it is not text in UTF-8 ('M\\\\xfcller,2,1'); write the file in UTF-8",
    ),
    "no UTF-8 in a line": (
        "log.jsonl",
        rows(("1", "1")).encode() + b'\n{"query": "M\xfcller"}',
        "log.jsonl, line 2: it is not text in UTF-8",
    ),
    "no UTF-8 in a list": ("log.json", b'[\n{"query": "M\xfcller"}]', "log.json, line 2: it is not text in UTF-8"),
    "a word for a number": (
        "log.csv",
        b"query,score,grade\n1,2,1\n1,high,0\n",
        "log.csv, line 3: score has 'high', which is no number",
    ),
    "a comma in a number": (
        "log.csv",
        b'query,score,grade\n1,"2,5",1\n',
        "log.csv, line 2: score has '2,5', which is no number; numbers are written as 1234.5",
    ),
    "a quote": ("log.csv", b'query,score,grade\n1,2,1\n"1,2,1\n', "log.csv, line 3: a quote is opened and not closed"),
    "nothing": ("log.csv", b"", "log.csv: the file is empty"),
    "empty lines alone": ("log.tsv", b"\n\n", "log.tsv: the file is empty"),
    "no line": ("log.jsonl", b"", "log.jsonl: the file is empty"),
    "no list": ("log.json", b" ", "log.json: the file is empty"),
    "half an object": (
        "log.jsonl",
        rows(("1", "2")).encode() + b'\n{"query": 1,\n',
        "log.jsonl, line 2: it is no JSON: ",
    ),
    "half a list": ("log.json", b'[{"query": 1},\n{"query": 1,]', "log.json, line 2: it is no JSON: "),
    "a list in a line": (
        "log.jsonl",
        b"[1, 2]\n",
        'log.jsonl, line 1: expected an object, as {"query": 1}, got [1, 2]',
    ),
    "an object of columns": (
        "log.json",
        b'\n{"query": ["q1", "q2"], "score": [1, 2]}',
        'log.json, line 2: expected a list of rows, as [{"query": 1}], got an object; pandas writes one with '
        "to_json(orient='records'), and objects a line each are jsonl",
    ),
    "packed by zstd": ("log.csv", b"(\xb5/\xfd123", "log.csv: zstd packed it, and gzip alone is read; unpack it first"),
    "a first line without names": (
        "log.csv",
        b"\nquery,score,grade\n1,2,1\n",
        "log.csv, line 1: the line is empty; it has to have the names of the columns",
    ),
    "no rows": ("log.json", b"[]", "the query is missing in a frame without columns"),
    "a list of numbers": ("log.json", b"[1, 2]\n", 'log.json, row 1: expected an object, as {"query": 1}, got 1'),
    "a truth value": (
        "log.jsonl",
        b'{"query": 2, "score": 1, "grade": 1}\n{"query": true}',
        "log.jsonl, line 2: query has true, a truth value, and 2, a number, in line 1",
    ),
    "a quote in a cell": (
        "log.csv",
        b'query,score,grade\na"b,1,1\n5" x,1,0\n',
        "log.csv, line 2: unescaped quote in a cell; double it, and put the cell in quotes",
    ),
    "carriage returns": (
        "log.csv",
        b"query,score,grade\r1,1,1\r",
        "log.csv, line 1: a single carriage return ends no line; end lines with a line feed",
    ),
    "many digits": (
        "log.jsonl",
        b'{"query": 1, "score": %s, "grade": 1}' % (b"9" * 5000),
        "log.jsonl, line 1: 99999999999999999999... is a number of 5000 digits, more than can be read",
    ),
    "many digits in a cell": (
        "log.csv",
        b"query,score,grade\n1,%s,1\n" % (b"9" * 5000),
        "score: 1 of 1 rows is infinite",
    ),
    "deep": ("log.json", b"[" * 100_000, "log.json, row 1: the nesting of lists or objects is too deep"),
    "no number of JSON": ("log.jsonl", b'{"query": 2, "score": NaN}\n', "log.jsonl, line 1: NaN is no number of JSON"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_cannot_be_read_is_told_with_its_line(case: str, capsys: Captured) -> None:
    """An error about a text says the file, the line, what stands there and what was expected."""
    name, data, told = BROKEN[case]
    Path(name).write_bytes(data)
    assert refused(capsys, name).startswith(told)


def test_the_file_among_several_that_is_wrong(capsys: Captured) -> None:
    """Of several files the error names the one that cannot be read."""
    Path("logs").mkdir()
    for day in "abc":
        Path(f"logs/{day}.csv").write_text("query,score,grade\n1,2,1\n" + "2,x,1\n" * (day == "b"))
    assert refused(capsys, "logs").startswith("logs/b.csv, line 3: score has 'x'")


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_a_broken_file_of_another_format_is_named(ending: str, capsys: Captured) -> None:
    frame = pl.DataFrame({"query": ["1"] * 50, "score": 1.0, "grade": 1})
    write(frame, f"log.{ending}")
    whole = Path(f"log.{ending}").read_bytes()
    Path(f"log.{ending}").write_bytes(whole[: len(whole) // 2] + whole[len(whole) // 2 + 9 :])
    assert refused(capsys, f"log.{ending}").startswith(f"log.{ending}: it cannot be read as {ending}: ")


# separators, and columns in another order


@pytest.mark.parametrize("ending", ["csv", "tsv"])
@pytest.mark.parametrize("separator", [";", "\t", ","])
def test_another_separator_is_found_and_told(ending: str, separator: str, capsys: Captured) -> None:
    """A file whose first line has one cell is read with the separator that parts it, which is said."""
    Path(f"log.{ending}").write_text("query,score,grade\na,2,0\na,1,1\n".replace(",", separator))
    word = {";": "a semicolon", "\t": "a tab", ",": "a comma"}[separator]
    own = separator == ("," if ending == "csv" else "\t")
    said = f"frame-metrics: log.{ending}: read with {word} between the columns, 'query', 'score', 'grade'\n" * (not own)
    assert values(capsys, f"log.{ending}", said=said) == [("a", 0.5)]


def test_a_file_of_one_column(capsys: Captured) -> None:
    """One column stays one, without a word."""
    Path("ids.csv").write_text("query\n1\n\n2\n")
    assert main(["convert", "ids.csv", "--to", "json"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_columns_in_another_order_are_read_by_name(ending: str, capsys: Captured) -> None:
    """Files whose columns stand otherwise are put together by name; other columns are an error that names them."""
    Path("logs").mkdir()
    first = pl.DataFrame({"query": ["1", "1"], "score": [2.0, 1.0], "grade": [0, 1]})
    other = pl.DataFrame({"grade": [1, 0], "score": [5.0, 1.0], "query": ["2", "2"]})
    write(first, f"logs/a.{ending}")
    write(other, f"logs/b.{ending}")
    assert values(capsys, "logs") == [("1", 0.5), ("2", 1.0)]
    write(other.with_columns(more=1).drop("grade"), f"logs/b.{ending}")
    told = f"logs/b.{ending}: it has no column 'grade', and it alone has 'more', where logs/a.{ending} has 'query'"
    assert refused(capsys, "logs").startswith(told)


def test_ids_of_two_types_in_two_files(capsys: Captured) -> None:
    """The number 1 in one file and the text "1" in another are not one query; nor is a number that would be rounded."""
    Path("logs").mkdir()
    frame = pl.DataFrame({"query": [1, 2], "score": [2.0, 1.0], "grade": [0, 1]})
    frame.write_parquet("logs/a.parquet")
    frame.cast({"query": pl.String}).write_parquet("logs/b.parquet")
    told = "logs/b.parquet: query is String, and Int64 in logs/a.parquet; make them of one type"
    assert refused(capsys, "logs") == told
    frame.cast({"query": pl.Float64}).write_parquet("logs/b.parquet")
    assert values(capsys, "logs", "--no-doc", "--ties", "order")[0] == ("1.0", 0.0)
    frame.with_columns(query=2**53 + pl.col("query")).write_parquet("logs/a.parquet")
    assert refused(capsys, "logs").startswith("logs/a.parquet: query has whole numbers past 2**53, and in another file")


# files that change


def _replaced(monkeypatch: pytest.MonkeyPatch, change: Callable[[], Any]) -> None:
    """Change a file once its rows were read for the first time."""
    batches, done = LazyPolars.batches, list[int]()

    def then(self: Any, *asked: Any) -> Iterator[pl.DataFrame]:
        yield from batches(self, *asked)
        if not done:
            done.append(1)
            change()

    monkeypatch.setattr(LazyPolars, "batches", then)


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "arrow"])
def test_a_file_that_is_replaced_while_it_is_read(
    ending: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No number is printed of a file that another one took the place of meanwhile."""
    frame = pl.DataFrame({"query": ["1", "1"], "score": [2.0, 1.0], "grade": [0, 1]})

    def change() -> None:
        write(pl.concat([frame, frame.with_columns(query=pl.lit("2"))]), f"new.{ending}")
        os.replace(f"new.{ending}", f"log.{ending}")

    write(frame, f"log.{ending}")
    _replaced(monkeypatch, change)
    told = f"log.{ending}: the file was changed after it was first looked at, so that numbers would be of both; "
    assert refused(capsys, f"log.{ending}").startswith(told)


@pytest.mark.parametrize("command", ["report", "convert"])
def test_a_file_that_is_replaced_is_not_handed_on(
    command: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No page, and no row, is written of a file that was changed after it was read, behind a look at its columns."""
    Path("log.csv").write_text("query,score,grade\n1,2,1\n")
    collect, frame, looked, done = pl.LazyFrame.collect, reading.InputFiles.frame, list[int](), list[int]()

    def read(self: reading.InputFiles) -> pl.LazyFrame:
        looked.append(1)
        return frame(self)

    def then(self: pl.LazyFrame, *asked: Any, **options: Any) -> Any:
        found = collect(self, *asked, **options)
        if looked and "1" in str(found) and not done:  # a row of the file
            done.append(1)
            Path("log.csv").write_text("query,score,grade\n1,2,1\n2,1,0\n")
        return found

    monkeypatch.setattr(pl.LazyFrame, "collect", then)
    monkeypatch.setattr(reading.InputFiles, "frame", read)
    assert main([command, "log.csv", *(["rr", "--format", "md"] if command == "report" else [])]) == 2
    printed = capsys.readouterr()
    assert (printed.out, done) == ("", [1])
    assert "log.csv: the file was changed after it was first looked at" in printed.err


def test_standard_input_is_named(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error about what is piped in says so, and not the name of a temporary file."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"query,score,grade\n1,x,1\n")))
    assert refused(capsys, "-", "--from", "csv").startswith("standard input, line 2: score has 'x'")


def test_a_file_by_its_address(capsys: Captured) -> None:
    """A file that is here is looked at by its address too."""
    Path("log.jsonl").write_text(rows(("1", "2"), ('"1"', "1")))
    assert refused(capsys, f"file://{Path('log.jsonl').resolve()}").partition(": ")[0].endswith("/log.jsonl, line 2")


def test_a_place_where_no_file_can_be_made(capsys: Captured) -> None:
    """The error names the file that was asked for, and not the one beside it that takes its place."""
    Path("log.csv").write_text("query,score,grade\n1,2,1\n")
    assert refused(capsys, "log.csv", "-o", "/proc/found.csv").startswith("/proc/found.csv: ")


def test_lists_are_no_cells(capsys: Captured) -> None:
    """A result with lists, or with bytes, is refused in CSV, and written in other formats."""
    pl.DataFrame({"query": [b"1", b"2"], "score": 1, "grade": 1}).write_parquet("bytes.parquet")
    assert refused(capsys, "bytes.parquet").startswith("'query': csv cannot hold bytes; pass --to parquet")
    Path("log.jsonl").write_text('{"query": [1, 2], "score": 1, "grade": 1}')
    assert refused(capsys, "log.jsonl").startswith(
        "'query': csv cannot hold lists and objects; pass --to parquet or json"
    )
    assert called(capsys, "log.jsonl", "--to", "json")[0] == 0
