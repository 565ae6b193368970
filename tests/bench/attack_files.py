"""Random attack on the command line: small files of every format, well made and not, through its commands.

A command ends with 0 or 2. Where the file is well made it gives what the same rows give as a frame in memory, or both
are errors; where it is not, it is an error. What is drawn depends on the seed and the number, as in ``attack.py``.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from unittest import mock

import attack
import odd_frames
import polars as pl
from attack import Found, outcome

from frame_metrics import IRM, write_qrels, write_run
from frame_metrics.command import main as command

NAMES = ("query", "doc", "score", "grade", "device")
TEXTS = (
    "a",
    "b",
    "007",
    "7",
    "true",
    "null",
    "NaN",
    "é",
    "\U0001f50d",
    " x",
    "a,b",
    "a;b",
    'say "x"',
    "d\ne",
    "=1",
    "{",
)
DEVICES = ("mobile", "desktop", "é", "x y", "-1a")
METRICS = ("ndcg@3", "rr", "map", "P_5", "num_ret", "recall@2", "bpref", "judged@3")
Rows = list[dict[str, Any]]


class Drawn(NamedTuple):
    """A call on files."""

    arguments: list[str]  # behind the verb, without the metrics
    frame: pl.DataFrame | None  # that the files hold; None where they cannot be read
    roles: dict[str, Any]
    sure: bool  # whether it is known if they can be read
    piped: bytes = b""
    qrels: pl.DataFrame | None = None  # judgments beside it

    def irm(self) -> IRM[Any]:
        """Return the object that the files mean."""
        irm = IRM(self.frame, **self.roles)
        return irm if self.qrels is None else irm.judge(self.qrels)


# Files of text


def written(rows: Rows, kind: str, rng: Random, names: Sequence[str] = NAMES, **how: Any) -> bytes:
    """Return rows as the bytes of a format."""
    if kind in ("csv", "tsv"):
        lines = [_line(names, kind, **how)]
        lines += [_line([_cell(row[name]) for name in dict.fromkeys(names)], kind, **how) for row in rows]
        return (how.get("end", "\n").join(lines) + how.get("end", "\n")).encode()
    said = [json.dumps({name: row[name] for name in names}, ensure_ascii=rng.random() < 0.3, **how) for row in rows]
    return ("\n".join(said) + "\n" if kind == "jsonl" else f"[{', '.join(said)}]").encode()


def _cell(value: Any) -> str:
    return "" if value is None else str(value)


def _line(cells: Sequence[str], kind: str, *, quoted: bool = False, separator: str = "", end: str = "") -> str:
    separator = separator or ("," if kind == "csv" else "\t")
    marks = {separator, '"', "\n"}
    said = ('"{}"'.format(cell.replace('"', '""')) if quoted or marks & {*cell} else cell for cell in cells)
    return separator.join(said)


def _twice(rows: Rows, kind: str, rng: Random) -> bytes:
    whole = written(rows, kind, rng)
    if kind in ("csv", "tsv"):
        return whole.replace(b"device", rng.choice((b"score", b"query", b'"grade"')), 1)
    return whole.replace(b'"device"', b'"score"')


def _cut_row(rows: Rows, kind: str, rng: Random) -> bytes:
    plain = [row | {"query": f"q{at}"} for at, row in enumerate(rows)]  # a line each
    head, *lines = written(plain, kind, rng).splitlines(keepends=True)
    at = rng.randrange(len(lines))
    text = lines[at].rstrip(b"\n")
    mark = b"," if kind == "csv" else b"\t"
    wrong = (text[: text.rindex(mark)], text + mark, b"", text.replace(b"q", b'"q', 1))
    return head + b"".join(lines[:at]) + rng.choice(wrong) + b"\n" + b"".join(lines[at + 1 :])


def _with(name: str, *values: Any) -> Callable[[Rows, str, Random], bytes]:
    """Rows of which the last has another value, one that is drawn."""
    return lambda rows, kind, rng: written([*rows[:-1], rows[-1] | {name: rng.choice(values)}], kind, rng)


def _latin(rows: Rows, kind: str, rng: Random) -> bytes:
    return _with("query", "Muller")(rows, kind, rng).replace(b"Mu", b"M\xfc")


def _half(rows: Rows, kind: str, rng: Random) -> bytes:
    return written(rows, kind, rng).rstrip()[:-1]


def _past(rows: Rows, kind: str, rng: Random) -> bytes:
    return written([row | {"query": q} for row, q in zip(rows, (2**53 + 1, 1.5) * len(rows), strict=False)], kind, rng)


def _without_nulls(rows: Rows, kind: str, rng: Random) -> bytes:
    data, some = written(rows, kind, rng), any(row["grade"] is not None for row in rows)
    return data.replace(b'"grade": null, ', b"") if some else data


def _spoiled(rows: Rows, kind: str, rng: Random) -> bytes:
    data = bytearray(written(rows, kind, rng))
    for _ in range(rng.choice((1, 1, 3))):
        data[rng.randrange(len(data))] = rng.choice(b'",\t;\n\r{}[]:\x00\xff \xef\\0')
    return bytes(data)


# What is done to a text, for which formats, and whether it can be read then: yes, no, or (None) perhaps.
CELLS, OBJECTS = ("csv", "tsv"), ("jsonl", "json")
DONE: tuple[tuple[Callable[[Rows, str, Random], bytes], tuple[str, ...], bool | None], ...] = (
    (written, (*CELLS, *OBJECTS), True),
    (lambda rows, kind, rng: written(rows, kind, rng, quoted=True), CELLS, True),
    (lambda rows, kind, rng: written(rows, kind, rng, end="\r\n"), CELLS, True),
    (lambda rows, kind, rng: b"\xef\xbb\xbf" + written(rows, kind, rng), CELLS, True),
    (lambda rows, kind, rng: written(rows, kind, rng).rstrip(b"\n"), ("csv", "jsonl"), True),
    (lambda rows, kind, rng: written(rows, kind, rng, separator=rng.choice(",;\t")), CELLS, True),
    (lambda rows, kind, rng: written(rows, kind, rng, rng.sample(NAMES, 5)), (*CELLS, *OBJECTS), True),
    (lambda rows, kind, rng: written(rows, kind, rng, separators=(" , ", " :\t")), OBJECTS, True),
    (_without_nulls, OBJECTS, True),
    (_twice, (*CELLS, *OBJECTS), False),
    (_cut_row, CELLS, False),
    (_latin, (*CELLS, *OBJECTS), False),
    (_with("score", "high", "1,5", "2;5"), CELLS, False),
    (_with("score", 2**53 + 1, -(2**60) - 1), CELLS, False),
    (_with("query", 1, True, 1.5, ["a"], {"a": 1}), OBJECTS, False),
    (_half, OBJECTS, False),
    (_past, OBJECTS, False),
    (_spoiled, (*CELLS, *OBJECTS), None),
)


def _rows(rng: Random) -> Rows:
    """Draw the rows of some queries, no document twice in one."""
    queries, scores = rng.sample(TEXTS, 3), (0.0, 0.5, 1.0, 2.0, -1.5, 1e300)
    rows = [
        {"query": query, "doc": f"d{at}", "score": rng.choice(scores), "grade": rng.choice((0, 1, 2, 3, None))}
        for query in queries
        for at in range(rng.choice((0, 1, 2, 4)))
    ]
    of_query = {query: rng.choice(DEVICES) for query in queries}
    rng.shuffle(rows)
    return [row | {"device": of_query[row["query"]]} for row in rows]


def _text_file(rng: Random, folder: Path) -> Drawn:
    """Draw a file of text, or standard input."""
    rows, kind = _rows(rng), rng.choice((*CELLS, *OBJECTS))
    done, _, readable = rng.choice([one for one in DONE if kind in one[1]] if len(rows) > 1 else DONE[:1])
    data, frame = done(rows, kind, rng), pl.DataFrame(rows, schema=list(NAMES), orient="row", infer_schema_length=None)
    if kind in OBJECTS and not rows:
        frame = pl.DataFrame()
    data = gzip.compress(data, mtime=0) if rng.random() < 0.2 else data
    roles = {"by": "device"} if rng.random() < 0.4 else {}
    flags = [part for role, name in roles.items() for part in (f"--{role}", name)]
    if rng.random() < 0.1:
        return Drawn(["-", "--from", kind, *flags], frame if readable else None, roles, readable is not None, data)
    path = folder / f"log.{kind}"
    path.write_bytes(data)
    sure = readable is not None and not (kind == "jsonl" and not rows)
    return Drawn([str(path), *flags], frame if readable else None, roles, sure)


# Files with types, and several


def _typed_file(rng: Random, folder: Path) -> Drawn:
    """Draw a file of Parquet or Arrow, of columns of odd types."""
    odd = rng.choice((0, 0, 0.02, 0.15))
    parts = ["query", "score", "grade", *[part for part in ("doc", "by", "weight", "cluster") if rng.random() < 0.3]]
    with mock.patch.object(odd_frames, "KINDS", ("polars",)):
        frame, named = odd_frames.drawn(rng, parts, odd)
    path = folder / f"log.{rng.choice(('parquet', 'arrow'))}"
    try:
        (frame.write_parquet if path.suffix == ".parquet" else frame.write_ipc)(path)
    except BaseException:  # of types that it cannot hold, some by a panic
        return _text_file(rng, folder)
    if rng.random() < 0.1:
        data = path.read_bytes()
        at = rng.randrange(len(data))
        path.write_bytes(data[:at] + rng.choice((b"", b"\x00\x00", data[:9])) + data[at + 3 :])
        return Drawn([str(path)], None, {}, sure=False)
    read = pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_ipc(path)
    roles = {part: name for part, name in named.items() if name != part or part not in ("query", "score", "grade")}
    flags = [f"--{part}={name}" for part, name in roles.items()]
    return Drawn([str(path), *flags], read, roles, sure="" not in roles.values())


def _folder(rng: Random, folder: Path) -> Drawn:
    """Draw a folder of two files, of which one may have its columns in another order, or others."""
    rows, kind = _rows(rng), rng.choice(("csv", "jsonl", "parquet"))
    rows = rows if len(rows) > 3 else [dict(zip(NAMES, (q, "d", 1.0, 1, "m"), strict=True)) for q in "abcd"]
    whole = pl.DataFrame(rows, infer_schema_length=None)
    at = rng.randrange(1, len(rows))
    first, second = whole[:at], whole[at:].select(rng.sample(NAMES, 5))
    way = rng.choice(("same", "same", "lacks", "more", "types"))
    if way == "lacks":
        second = second.drop("score")
    elif way == "more":
        second = second.with_columns(more=1)
    elif way == "types":
        second = second.with_columns(query=pl.int_range(pl.len()))
        kind = "parquet" if kind == "csv" else kind  # in CSV they are texts
    (folder / "logs").mkdir()
    for name, frame in (("a", first), ("b", second)):
        path = folder / "logs" / f"{name}.{kind}"
        {"csv": frame.write_csv, "jsonl": frame.write_ndjson, "parquet": frame.write_parquet}[kind](path)
    return Drawn([str(folder / "logs")], whole if way == "same" else None, {}, sure=True)


def _judged(rng: Random, folder: Path) -> Drawn:
    """Draw a log, and judgments in a separate file; ids may be numbers, which are texts in some formats."""
    rows = _rows(rng)
    if rng.random() < 0.4:
        ids = dict(zip(TEXTS, rng.sample((1, 2, 7, 10, 2**53 + 1, 2**53, 2**62), 7) * 3, strict=False))
        rows = [row | {"query": ids[row["query"]], "doc": int(row["doc"][1:])} for row in rows]
    whole = pl.DataFrame(rows, schema=list(NAMES), orient="row", infer_schema_length=None).unique(["query", "doc"])
    whole = whole.filter(pl.col("score") < 1e300).sort("query", "doc")
    log, qrels = whole.drop("grade"), whole.filter(pl.col("grade").is_not_null()).select("query", "doc", "grade")
    log = log.filter(pl.int_range(pl.len()) % rng.choice((2, 3, 100)) > 0)
    fits = whole.select(pl.col("query", "doc").cast(pl.String).str.contains(r"^[^\s#]+$").all()).row(0) == (True, True)
    names = []
    for name, frame in (("log", log), ("judged", qrels)):
        kind = rng.choice(("csv", "jsonl", "parquet", *["run" if name == "log" else "qrels"] * fits))
        names.append(str(folder / f"{name}.{kind}"))
        writers = {"csv": frame.write_csv, "jsonl": frame.write_ndjson, "parquet": frame.write_parquet}
        writers |= {"run": lambda path, of=frame: write_run(of, path, run="a")}  # type: ignore[misc]
        writers |= {"qrels": lambda path, of=frame: write_qrels(of, path)}  # type: ignore[misc]
        writers[kind](names[-1])
    texts = [one for one in names if one.endswith((".csv", ".run"))][:1] == names[:1]  # then the log's ids are texts
    log, qrels = (one.cast({"query": pl.String, "doc": pl.String}) if texts else one for one in (log, qrels))
    sure = len(log) > 0 and len(qrels) > 0
    return Drawn([names[0], "--qrels", names[1]], log, {}, sure=sure, qrels=qrels)


def drawn(rng: Random, folder: Path) -> Drawn:
    """Draw files in a folder, and a call on them."""
    return rng.choice((_text_file, _text_file, _text_file, _typed_file, _folder, _judged))(rng, folder)


# Commands

VERBS: dict[str, Callable[[IRM[Any], list[str]], pl.DataFrame]] = {
    "evaluate": lambda irm, metrics: irm.evaluate(*metrics),
    "per-query": lambda irm, metrics: irm.per_query(*metrics),
    "audit": lambda irm, _: irm.audit(),
    "curve": lambda irm, _: irm.curve("ndcg@k"),
}


def called(drawn: Drawn, verb: str, metrics: list[str], out: Path) -> tuple[int, str]:
    """Run a command, and return its exit code and what it says on standard error."""
    more = metrics if verb in ("evaluate", "per-query") else ["ndcg@k"] if verb == "curve" else []
    said, stdin = io.StringIO(), io.TextIOWrapper(io.BytesIO(drawn.piped))
    with contextlib.redirect_stderr(said), mock.patch.object(sys, "stdin", stdin):
        code = command([verb, drawn.arguments[0], *more, *drawn.arguments[1:], "-o", str(out)])
    return code, said.getvalue()


def fault(drawn: Drawn, verb: str, metrics: list[str], out: Path) -> tuple[str, str]:
    """Return how a command went: "result", "error", or what should not have been; and where that was."""
    try:
        code, said = called(drawn, verb, metrics, out)
    except BaseException as error:
        return f"{type(error).__name__}: {error}"[:300], ""
    if code not in (0, 2) or "Traceback" in said or (code == 2 and not said.startswith("frame-metrics: ")):
        return f"exit code {code}: {said[-300:]}", ""
    expected: list[pl.DataFrame] = []
    if drawn.frame is not None:
        went, where = outcome(lambda: expected.append(VERBS[verb](drawn.irm(), metrics)) or "", drawn.frame)
        if went not in ("result", "error"):
            return f"in memory: {went}", where
    if drawn.sure and (code == 0) != bool(expected):
        return f"exit code {code}, where the frame gives {'a result' if expected else 'an error'}: {said[:300]}", ""
    if drawn.sure and expected and (wrong := unlike(pl.read_parquet(out), expected[0])):
        return wrong, ""
    return "result" if code == 0 else "error", ""


def unlike(found: pl.DataFrame, expected: pl.DataFrame) -> str:
    """Return in what two results differ, or nothing."""
    if found.columns != expected.columns:
        return f"columns {found.columns}, in memory {expected.columns}"
    other = [name for name, kind in expected.schema.items() if kind.is_nested() or kind.is_temporal()]
    other += ["message"] if "message" in expected.columns else []  # which says options as flags in a command
    pairs = zip(found.drop(other).rows(), expected.drop(other).rows(), strict=False)
    wrong = next((f"in memory {its}, of the file {one}" for one, its in pairs if repr(one) != repr(its)), "")
    return wrong or (f"{len(found)} rows, in memory {len(expected)}" if len(found) != len(expected) else "")


def attacked(numbers: range, seed: int = 0, count: Counter[str] | None = None) -> Iterator[Found]:
    """Call every command on every drawing, and yield what should not have been; ``count`` gets the outcomes."""
    count = Counter() if count is None else count
    with tempfile.TemporaryDirectory() as where, contextlib.chdir(where):
        for number in numbers:
            for verb in VERBS:
                rng = Random(f"files {seed} {number} {verb}")
                with tempfile.TemporaryDirectory(dir=where) as folder:
                    asked = drawn(rng, Path(folder))
                    went, at = fault(asked, verb, rng.sample(METRICS, rng.choice((1, 2))), Path(folder, "out.parquet"))
                count[f"{verb} {went}" if went in ("result", "error") else f"{verb} fault"] += 1
                if went not in ("result", "error"):
                    yield Found(number, verb, f"{' '.join(map(os.path.basename, asked.arguments))}: {went}", at)


if __name__ == "__main__":
    attack.main(attacked, tuple(VERBS))
