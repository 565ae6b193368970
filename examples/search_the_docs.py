"""Search the documentation on this machine, and measure how well four searches do it.

The documents are the public functions, classes and methods of numpy, pandas and polars.
The summary of a docstring is what somebody may type who looks for such a thing: the
summaries are the queries, and are left out of the searched text. What should be found
is known as well: the objects that have this summary (grade 3), and those that they name
under "See Also" (grade 1), a section that is left out too. The search engine is FTS5,
which comes with Python's SQLite.

    python examples/search_the_docs.py [--queries N] [--limit HITS]
                                       [--out FOLDER] [--report FILE]
"""

import argparse
import inspect
import re
import sqlite3
import sys
import tempfile
import textwrap
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy
import pandas as pd
import polars as pl
from polars.testing import assert_frame_equal

import frame_metrics

LIBRARIES = (numpy, pd, pl)
# The parts of a document that each system searches, and their weights.
SYSTEMS: dict[str, dict[str, float]] = {
    "names only": {"title": 1},
    "text only": {"text": 1},
    "names over text": {"title": 5, "text": 1},
    "control (leaks)": {"title": 5, "summary": 5, "text": 1},
}
METRICS = ["ndcg@10", "ap", "rr", "recall@100", "success@1"]
NOT_PUBLIC = re.compile(
    "compat|core|ctypeslib|errors|exceptions|f2py|internals|io|plugins|testing|tests"
)
STOP_WORDS = re.compile(
    "a|an|and|are|as|at|be|by|for|from|if|in|into|is|it|its|of|on|or|that|the|this|to|"
    "when|with"
)
NEXT = """
Try next:

  pip install '.[report]'
  python examples/search_the_docs.py{again} --report report.html   # a page to look at
  frame-metrics evaluate {log} --qrels {judgments} --system system ndcg@10 map
  frame-metrics compare {log} --qrels {judgments} --system system rr

and read docs/start.md with your own frame beside them."""
START = time.perf_counter()


def progress(message: str) -> None:
    passed = time.perf_counter() - START
    print(f"[{passed:5.1f} s] {message}", file=sys.stderr, flush=True)


# 1. The documents: walk through the libraries, and cut every docstring into its parts.


@dataclass(frozen=True)
class Document:
    name: str  # pandas.DataFrame.nlargest
    title: str  # the name cut into words: pandas.Data Frame.nlargest
    library: str
    summary: str
    text: str  # the docstring without its summary and See Also
    see_also: list[str]  # the names as they are written there


def members(owner: Any) -> list[tuple[str, Any]]:
    """The public attributes of a module or a class."""
    names = getattr(owner, "__all__", None) if inspect.ismodule(owner) else None
    with warnings.catch_warnings():  # some old names warn when they are touched
        warnings.simplefilter("ignore")
        return [
            (name, getattr(owner, name, None))
            for name in sorted(names or dir(owner))
            if not name.startswith("_")
        ]


def walk(library: ModuleType) -> Iterator[tuple[str, Any]]:
    """Every public function, class, method and property, under each of its names."""
    home = library.__name__
    todo: list[tuple[str, Any]] = [(home, library)]
    for path, owner in todo:  # it grows on the way
        for name, member in members(owner):
            full = f"{path}.{name}"
            deep = full.count(".") > 2  # as deep as methods of pandas.Series.str
            if inspect.ismodule(member):
                own = member.__name__.startswith(f"{home}.")
                if own and not NOT_PUBLIC.fullmatch(name) and not deep:
                    todo.append((full, member))
            elif inspect.isclass(member):
                if member.__module__.split(".")[0] == home:
                    yield full, member
                    todo += [] if deep else [(full, member)]
            elif callable(member) or inspect.isdatadescriptor(member):
                yield full, member


HEADING = re.compile(r"^(\w[\w ]*)\n[-=~]{3,}[ \t]*$", re.MULTILINE)
SIGNATURE = re.compile(r"[\w.]+\(.*\)(\s*->.*)?", re.DOTALL)
# A line of See Also: sum, mean : Add up.
LISTED = re.compile(r"^(\w[\w.]*(?:, *\w[\w.]*)*)[ ,]*(?::\s|$)", re.MULTILINE)


def read_docstring(docstring: str) -> tuple[str, str, list[str]]:
    """The summary, the text without it and See Also, and the names in See Also."""
    intro, *parts = HEADING.split(docstring)
    sections = dict(zip(map(str.lower, parts[::2]), parts[1::2], strict=True))
    see_also = re.sub(r":\w+:(?=`)|`", "", sections.pop("see also", ""))
    summary, _, text = intro.strip().partition("\n\n")
    if SIGNATURE.fullmatch(summary):  # what is written in C begins with its signature
        summary, _, text = text.strip().partition("\n\n")
    listed = [name for names in LISTED.findall(see_also) for name in names.split(",")]
    names = [name.strip(" .") for name in listed]
    return " ".join(summary.split()), "\n".join([text, *sections.values()]), names


def collect(libraries: Iterable[ModuleType]) -> tuple[list[Document], dict[str, str]]:
    """The documents, and for every name of an object its shortest, the document's."""
    found = [
        (path, lib.__name__, inspect.getdoc(member) or "")
        for lib in libraries
        for path, member in walk(lib)
    ]
    documents: dict[tuple[str, str], Document] = {}
    names: dict[str, str] = {}
    found.sort(key=lambda row: (row[0].count("."), len(row[0]), row[0]))
    for path, library, docstring in found:
        if (library, docstring) not in documents:
            summary, text, see_also = read_docstring(docstring)
            if len(summary.split()) < 3 or len(text.split()) < 5:
                continue
            title = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", path)
            document = Document(path, title, library, summary, text, see_also)
            documents[library, docstring] = document
        names[path] = documents[library, docstring].name
    return list(documents.values()), names


# 2. The queries and what they should find.


def related(document: Document, names: dict[str, str]) -> Iterator[str]:
    """The documents that See Also names, looked for beside it first, then outside."""
    scope = document.name.split(".")[:-1]
    scopes = [scope[:depth] for depth in range(len(scope), -1, -1)]
    for name in document.see_also:
        paths = (".".join([*outer, name]) for outer in scopes)
        yield from [names[path] for path in paths if path in names][:1]


def grade(documents: Iterable[Document], names: dict[str, str]) -> pl.DataFrame:
    """The judgments; a query is as ``polars: get the last n rows``."""
    sharing: dict[str, list[Document]] = defaultdict(list)
    for document in documents:
        sharing[" ".join(re.findall(r"\w+", document.summary.lower()))].append(document)
    rows = []
    for summary, same in sharing.items():
        grades = {name: 1 for document in same for name in related(document, names)}
        grades |= {document.name: 3 for document in same}
        for library in sorted({document.library for document in same}):
            rows += [
                (library, f"{library}: {summary}", name, value)
                for name, value in grades.items()
            ]
    return pl.DataFrame(rows, schema=["library", "query", "doc", "grade"], orient="row")


# 3. The search: each system has an index of its own, and answers every query.


def require_fts5() -> None:
    try:
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.execute("CREATE VIRTUAL TABLE probe USING fts5(text)")
    except sqlite3.OperationalError:
        sys.exit(
            "This example searches with FTS5, and the SQLite of this Python was built "
            "without it."
        )


def build_index(
    columns: Collection[str], documents: Iterable[Document]
) -> sqlite3.Connection:
    index = sqlite3.connect(":memory:")
    names, places = ", ".join(columns), ", ?" * len(columns)
    index.execute(f"CREATE VIRTUAL TABLE docs USING fts5({names}, tokenize='porter')")
    rows = [
        [number, *(getattr(document, column) for column in columns)]
        for number, document in enumerate(documents)
    ]
    index.executemany(f"INSERT INTO docs(rowid, {names}) VALUES (?{places})", rows)
    return index


def any_word(query: str) -> str:
    """Any word of the query, for FTS5, without stop words and the library's name."""
    words = dict.fromkeys(re.findall(r"[^\W_]+", query.partition(": ")[2]))
    return " OR ".join(f'"{word}"' for word in words if not STOP_WORDS.fullmatch(word))


def ask(
    system: str, documents: Sequence[Document], limit: int, queries: Iterable[str]
) -> pl.DataFrame:
    """What one system finds: the best documents for each query."""
    weights = ", ".join(str(weight) for weight in SYSTEMS[system].values())
    best = (
        f"SELECT rowid, -bm25(docs, {weights}) AS score FROM docs "
        "WHERE docs MATCH ? ORDER BY 2 DESC, 1 LIMIT ?"
    )
    rows = []
    with closing(build_index(SYSTEMS[system], documents)) as index:
        for query in queries:
            if words := any_word(query):
                library = query.partition(":")[0]
                hits = index.execute(best, (words, limit))
                rows += [
                    (system, library, query, documents[number].name, score)
                    for number, score in hits
                ]
    schema = ["system", "library", "query", "doc", "score"]
    return pl.DataFrame(rows, schema=schema, orient="row")


def search(
    documents: Sequence[Document], queries: Sequence[str], limit: int, threads: int = 2
) -> pl.DataFrame:
    """The log of all systems. The threads share the queries."""
    shares = [queries[start::threads] for start in range(threads)]
    logs: list[pl.DataFrame] = []
    with ThreadPoolExecutor(threads) as pool:
        for system in SYSTEMS:
            logs += pool.map(partial(ask, system, documents, limit), shares)
            progress(f"searched: {system}")
    return pl.concat(logs, how="vertical_relaxed")  # a share without a hit has no types


# 4. The measurement.


def measure(log: Any, judgments: Any) -> tuple[Any, Any]:
    """The results, and their averages per system, of a pandas or a polars frame."""
    ranked = log.irm(query="query", doc="doc", score="score", system="system")
    results = ranked.judge(judgments, grade="grade")
    averages = results.evaluate(METRICS, ci=0.95)
    progress(f"evaluated: {type(log).__module__.partition('.')[0]}")
    return results, averages


def show_code(function: Callable[..., Any]) -> None:
    """Print the lines of a function that are about frame_metrics."""
    lines = inspect.getsource(function).splitlines()
    own = [line for line in lines if re.search(r"\.(irm|judge|evaluate)\(", line)]
    says = "\nWhat is run, on a polars and on a pandas frame:\n"
    print(says, *own, "", sep="\n", flush=True)


def show(says: str, table: pl.DataFrame) -> None:
    print(f"\n{textwrap.fill(says, 100)}\n")
    frame_metrics.show(table)


def extremes(per_query: pl.DataFrame) -> pl.DataFrame:
    """The queries that lose most and gain most when names are added to the text."""
    values = per_query.pivot("system", index="query", values="value")
    change = (pl.col("names over text") - pl.col("text only")).alias("change")
    short = pl.col("query").str.head(60)
    table = values.select(short, "text only", "names over text", change)
    table = table.sort("change", "query")
    return pl.concat([table.head(4), table.tail(4)])


def report(folder: Path, page: Path | None = None) -> None:
    """Read the Parquet files with either library, evaluate, and print; write a page."""
    log, judgments = folder / "log.parquet", folder / "judgments.parquet"
    show_code(measure)
    results, averages = measure(pl.read_parquet(log), pl.read_parquet(judgments))
    _, from_pandas = measure(pd.read_parquet(log), pd.read_parquet(judgments))
    same = {"check_dtypes": False, "rel_tol": 1e-12, "abs_tol": 1e-12}
    assert_frame_equal(averages, pl.from_pandas(from_pandas), **same)
    show(
        "Each system over all queries, with 95 % intervals. The control leaks: the "
        "query is in its text.",
        averages.drop("average"),
    )
    print("\nThe averages from pandas are the same.")
    by_library = results(by="library").evaluate(
        "ndcg@10", ci=0.95, margins=True, layout="wide"
    )
    by_library = by_library.select(pl.exclude("n_unanswered", "ndcg@10_undefined"))
    show(
        "Each system in each library; where total_over says library, in all of them.",
        by_library,
    )
    per_query = results.per_query("ndcg@10")
    show(
        "The queries that lose most, and gain most, when names are added to the text "
        "(ndcg@10).",
        extremes(per_query),
    )
    findings = results.audit().drop("example")
    show("What the audit finds in the log and the judgments.", findings)
    if page:
        title = "Four ways to search the documentation of numpy, pandas and polars"
        written = results(by="library").report(
            page, metrics=METRICS, baseline="text only", title=title
        )
        progress(f"written: the report, to {written}")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description="Search the docstrings of numpy, pandas and polars, and measure it."
    )
    parser.add_argument(
        "--queries",
        type=int,
        default=800,
        help="queries that are asked at most, from all over (800)",
    )
    parser.add_argument(
        "--limit",
        type=int,
        default=100,
        help="documents that a system finds per query at most (100)",
    )
    parser.add_argument(
        "--out", type=Path, help="a folder that keeps the log and the judgments"
    )
    parser.add_argument(
        "--report", type=Path, help="a file for the report: .html, .md or .json"
    )
    options = parser.parse_args(arguments)
    require_fts5()
    documents, names = collect(LIBRARIES)
    judgments = grade(documents, names)
    queries = judgments["query"].unique(maintain_order=True)
    queries = queries.gather_every(-(-len(queries) // max(options.queries, 1)))
    judgments = judgments.filter(pl.col("query").is_in(queries.implode()))
    progress(
        f"collected: {len(documents):,} documents, {len(queries):,} queries, "
        f"{len(judgments):,} judgments"
    )
    log = search(documents, queries.to_list(), options.limit)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
        folder = options.out or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        log.write_parquet(folder / "log.parquet")
        judgments.write_parquet(folder / "judgments.parquet")
        stay = "" if options.out else "; both go at the end, without --out"
        progress(
            f"written: {len(log):,} rows to {folder / 'log.parquet'}, "
            f"and the judgments beside it{stay}"
        )
        report(folder, options.report)
        kept, again = options.out or "FOLDER", "" if options.out else " --out FOLDER"
        files = {name: f"{kept}/{name}.parquet" for name in ("log", "judgments")}
        print(NEXT.format(again=again, **files))


if __name__ == "__main__":
    main()
