"""The corpus: some 2,000 calls with what came of them, kept in files, so that a change alters only what it means to.

The calls stand in ``calls/NAME.txt``, one a line, and what came of them in ``results/``:

- ``NAME.jsonl``: a line for each call that gives a frame: its columns with their types, and its rows.
- ``NAME.txt``: texts, such as a repr, a report, what the command line prints.
- ``NAME.errors.txt``: the class and the words of each error.
- ``columns.txt`` and ``signatures.txt``: the columns of each verb, and all that is public.

``<a|b>`` in a call stands for ``a`` and for ``b``, and several of these for all combinations. ``# `` begins a comment.
The names in calls are the frames of ``frames.py``, and what ``names.py`` adds.

    python tests/corpus/corpus.py             compare, and print what differs
    python tests/corpus/corpus.py --update    print what differs, old and new, and write the files anew
"""

from __future__ import annotations

import argparse
import difflib
import itertools
import json
import re
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
from cells import cell
from names import NAMES
from signatures import signatures

HERE = Path(__file__).parent
CALLS, RESULTS = HERE / "calls", HERE / "results"
RENEW = "python tests/corpus/corpus.py --update"
ALTERNATIVES = re.compile(r"<([^<>]*\|[^<>]*)>")


def calls_of(text: str) -> Iterator[str]:
    """Yield the calls of a list, alternatives as calls of their own."""
    for line in text.splitlines():
        if line and not line.startswith("# "):
            parts = ALTERNATIVES.split(line)  # in turn what stands outside and inside
            choices = [part.split("|") if i % 2 else [part] for i, part in enumerate(parts)]
            yield from map("".join, itertools.product(*choices))


def type_name(kind: Any) -> str:
    """Return the name of a type of polars, which is the same in all versions."""
    inner = f"({type_name(kind.inner)})" if isinstance(kind, pl.List | pl.Array) else ""
    return f"{kind.base_type().__name__}{inner}"


def as_polars(given: Any) -> pl.DataFrame | None:
    """Return a frame of any library as polars; None for what is no frame."""
    if isinstance(given, pl.LazyFrame):
        return given.collect()
    if isinstance(given, pl.DataFrame):
        return given
    if hasattr(given, "compute"):  # Dask
        given = given.compute()
    if hasattr(given, "iloc"):
        return pl.from_pandas(given)
    if hasattr(given, "sql_query"):  # DuckDB
        given = given.to_arrow_table()
    return pl.DataFrame(pl.from_arrow(given)) if hasattr(given, "__arrow_c_stream__") else None


def result_of(call: str) -> tuple[str, str]:
    """Return the ending of the file that a call's result stands in, and the result as text."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            gave = eval(call, NAMES)
            frame = as_polars(gave)
    except (SyntaxError, NameError):
        raise  # of the list itself
    except Exception as error:
        return ".errors.txt", f"{type(error).__name__}: {error}"
    if frame is None:
        return ".txt", str(gave)
    columns = {name: type_name(kind) for name, kind in frame.schema.items()}
    rows = [[cell(value) for value in row] for row in frame.rows()]
    return ".jsonl", json.dumps({"call": call, "columns": columns, "rows": rows}, ensure_ascii=False)


def entry(call: str, ending: str, result: str) -> str:
    """Return a call and its result as they stand in a file."""
    return result + "\n" if ending == ".jsonl" else f">>> {call}\n{result.rstrip()}\n\n"


def entries(text: str, name: str) -> dict[str, str]:
    """Return the entry of each call of a file."""
    if name.endswith(".jsonl"):
        return {json.loads(line)["call"]: line for line in text.splitlines()}
    found = re.split(r"^>>> (.*)\n", text, flags=re.MULTILINE)[1:]
    return dict(zip(found[::2], found[1::2], strict=True))


def calls_in(name: str) -> Iterator[str]:
    """Yield the calls of the list with a name."""
    return calls_of((CALLS / f"{name}.txt").read_text(encoding="utf-8"))


def made(name: str) -> dict[str, str]:
    """Return the files of results of one list of calls, each with its text."""
    files: dict[str, str] = {}
    for call in calls_in(name):
        ending, result = result_of(call)
        file = f"{name}{ending}"
        files[file] = files.get(file, "") + entry(call, ending, result)
    return files


def kept(name: str) -> dict[str, str]:
    """Return the files of results of one list of calls as they are kept."""
    paths = (RESULTS / f"{name}{ending}" for ending in (".jsonl", ".txt", ".errors.txt"))
    return {path.name: path.read_text(encoding="utf-8") for path in paths if path.exists()}


def columns_of(results: dict[str, str]) -> str:
    """Return the columns of each verb, from all results: each kind of frame once, with the first call that gives it."""
    told = []
    for file, text in sorted(results.items()):
        first: dict[str, str] = {}
        for line in text.splitlines() if file.endswith(".jsonl") else ():
            held = json.loads(line)
            first.setdefault(columns_text(held), held["call"])
        told += [f"{call}\n    {columns}\n" for columns, call in first.items()]
    return "".join(told)


def columns_text(held: dict[str, Any]) -> str:
    """Return the columns of a result as text, with their types."""
    return ", ".join(f"{name} {kind}" for name, kind in held["columns"].items())


def differences(old: dict[str, str], new: dict[str, str]) -> Iterator[str]:
    """Yield what differs between files of results, call by call."""
    before = {call: one for file, text in old.items() for call, one in entries(text, file).items()}
    after = {call: one for file, text in new.items() for call, one in entries(text, file).items()}
    for call in dict.fromkeys([*before, *after]):
        if before.get(call) == after.get(call):
            continue
        if call not in before:
            yield f"{call}\n    is new"
        elif call not in after:
            yield f"{call}\n    is gone"
        else:
            yield f"{call}\n" + "".join(f"    {line}\n" for line in apart(before[call], after[call])).rstrip("\n")
    if not any(before.get(call) != after.get(call) for call in {**before, **after}) and old != new:
        yield "the calls stand in another order"


def apart(old: str, new: str) -> Iterator[str]:
    """Yield how a result differs from another one of the same call."""
    if not (old.startswith('{"call"') and new.startswith('{"call"')):
        yield from lines_apart(short(old), short(new))
        return
    one, other = json.loads(old), json.loads(new)
    same = list(one["columns"].items()) == list(other["columns"].items())
    if not same:
        yield from (f"columns: {columns_text(one)}", f"    now: {columns_text(other)}")
    if len(one["rows"]) != len(other["rows"]):
        yield f"rows: {len(one['rows'])}, now {len(other['rows'])}"
    if same:
        for number, (row, now) in enumerate(zip(one["rows"], other["rows"], strict=False)):
            for name, a, b in zip(one["columns"], row, now, strict=True):
                if a != b or type(a) is not type(b):
                    yield f"row {number}, {name}: {a!r}, now {b!r}{relative(a, b)}"


def relative(a: Any, b: Any) -> str:
    """Return the relative difference of two numbers as text."""
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (a, b))
    return f" (relative difference {abs(a - b) / max(abs(a), abs(b)):.2g})" if numbers and a != b else ""


def short(result: str) -> str:
    """Return a result as lines of text."""
    held = json.loads(result) if result.startswith('{"call"') else None
    return result.strip() if held is None else f"a frame: {columns_text(held)}"


def lines_apart(old: str, new: str) -> Iterator[str]:
    """Yield the lines that only one of two texts has, ``-`` for the old and ``+`` for the new one."""
    for line in difflib.unified_diff(old.splitlines(), new.splitlines(), n=0, lineterm=""):
        if not line.startswith(("---", "+++", "@@")):
            yield f"{line[0]} {line[1:]}"


def names_of_lists() -> list[str]:
    """Return the names of the lists of calls."""
    return sorted(path.stem for path in CALLS.glob("*.txt"))


def snapshots(results: dict[str, str]) -> dict[str, str]:
    """Return the files that say what is public: signatures, and the columns of results."""
    return {"signatures.txt": signatures(), "columns.txt": columns_of(results)}


def main(arguments: list[str]) -> int:
    """Compare all results with those that are kept, print what differs, and with ``--update`` keep the new ones."""
    parser = argparse.ArgumentParser(description="Compare the corpus of calls with the results that are kept.")
    parser.add_argument("lists", nargs="*", help="lists of calls, as evaluate; all by default")
    parser.add_argument("--update", action="store_true", help="write the files anew")
    given = parser.parse_args(arguments)
    lists = given.lists or names_of_lists()
    new = {file: text for name in lists for file, text in made(name).items()}
    old = {file: text for name in lists for file, text in kept(name).items()}
    told = list(differences(old, new))
    every = {file: text for name in names_of_lists() for file, text in kept(name).items() if name not in lists} | new
    for file, text in snapshots(every).items():
        before = (RESULTS / file).read_text(encoding="utf-8") if (RESULTS / file).exists() else ""
        told += [f"{file}\n" + "\n".join(f"    {line}" for line in lines_apart(before, text))] * (before != text)
        new[file] = text
    print("\n".join([*told, f"{len(told)} differ"]))
    if given.update:
        for file in old.keys() - new.keys():
            (RESULTS / file).unlink()
        for file, text in new.items():
            (RESULTS / file).write_text(text, encoding="utf-8")
    return 0 if given.update or not told else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
