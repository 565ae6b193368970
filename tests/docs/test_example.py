"""The example on the docstrings of this machine; its figures depend on the installed versions, so none is pinned."""

import re
import sqlite3
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl
import pytest

from helpers import ROOT, output_of, script

PATH = ROOT / "examples" / "search_the_docs.py"

DOCSTRING = """pivot(frame, /, *, sort=True) -> frame

Turn long rows
into wide ones.

The longer story of it.

Parameters
----------
sort : bool
    Whether rows are sorted.

See Also
--------
melt, stack : The other way round.
:meth:`DataFrame.unstack` : Rows to columns, and
    a second line : with a colon.
group_by: Without a space.
A sentence is not a name.

Notes
-----
A note.
"""


@pytest.fixture(scope="module")
def example() -> Any:
    module = script(PATH)
    yield module
    del sys.modules[module.__name__]


@pytest.fixture(scope="module")
def collected(example: Any) -> Any:
    """The documents of polars, and the names of its objects."""
    return example.collect([pl])


@pytest.fixture(scope="module")
def judgments(example: Any, collected: Any) -> Any:
    return example.grade(*collected)


@pytest.fixture(scope="module")
def queries(judgments: pl.DataFrame) -> list[str]:
    return judgments["query"].unique(maintain_order=True).to_list()[:50]


@pytest.fixture(scope="module")
def log(example: Any, collected: Any, queries: list[str]) -> Any:
    return example.search(collected[0], queries, limit=20)


def test_a_docstring_is_cut_into_summary_text_and_the_names_of_see_also(example: Any) -> None:
    summary, text, see_also = example.read_docstring(DOCSTRING)
    assert summary == "Turn long rows into wide ones."
    assert see_also == ["melt", "stack", "DataFrame.unstack", "group_by"]
    for kept in ("The longer story", "Whether rows are sorted.", "A note."):
        assert kept in text
    for left_out in ("Turn long rows", "pivot(frame", "melt", "The other way round"):
        assert left_out not in text


def test_a_summary_ends_where_a_section_begins(example: Any) -> None:
    assert example.read_docstring("Count all rows.\nReturns\n-------\nint")[0] == "Count all rows."


def test_an_object_with_several_names_is_one_document(example: Any) -> None:
    def count_rows() -> None:
        """Count the rows.

        Rows without a value are counted like all others.
        """

    library = ModuleType("library")
    library.part = ModuleType("library.part")  # type: ignore[attr-defined]
    library.part.tally = library.count_rows = count_rows  # type: ignore[attr-defined]
    documents, names = example.collect([library])
    assert [document.name for document in documents] == ["library.count_rows"]
    assert names == {"library.count_rows": "library.count_rows", "library.part.tally": "library.count_rows"}


def test_the_documents_are_those_of_the_library_alone(collected: Any) -> None:
    documents, names = collected
    assert len(documents) > 500
    assert "polars.DataFrame.group_by" in names
    assert not [name for name in names if ".irm" in name]
    assert {document.library for document in documents} == {"polars"}
    assert not [document.name for document in documents if "See Also" in document.text]


def test_every_query_has_its_own_documents_at_grade_3(collected: Any, judgments: pl.DataFrame) -> None:
    best = judgments.group_by("query").agg(pl.col("grade").max())
    assert best["grade"].unique().to_list() == [3]
    assert sorted(judgments["grade"].unique()) == [1, 3]
    assert not judgments.select("query", "doc").is_duplicated().any()
    assert set(judgments["doc"]) == {document.name for document in collected[0]}


def test_see_also_is_looked_up_from_the_inside_out_and_graded_1(example: Any) -> None:
    names = {"lib.A.sum": "lib.A.sum", "lib.sum": "lib.sum", "lib.mean": "lib.mean", "lib.A.f": "lib.A.f"}
    document = example.Document("lib.A.f", "lib.A.f", "lib", "Add it up.", "", ["sum", "mean", "nowhere"])
    twin = example.Document("pal.f", "pal.f", "pal", "Add it up!", "", [])
    assert list(example.related(document, names)) == ["lib.A.sum", "lib.mean"]
    grades = {"lib.A.sum": 1, "lib.mean": 1, "lib.A.f": 3, "pal.f": 3}
    assert set(example.grade([document, twin], names).rows()) == {
        (library, f"{library}: add it up", name, grade) for library in ("lib", "pal") for name, grade in grades.items()
    }


def test_only_the_control_indexes_the_summary(example: Any) -> None:
    assert [system for system, columns in example.SYSTEMS.items() if "summary" in columns] == ["control (leaks)"]
    document = example.Document("lib.f", "lib.f", "lib", "Find the walrus.", "It looks everywhere.", ["g"])
    found = example.search([document], ["lib: find the walrus"], limit=5)
    assert found["system"].to_list() == ["control (leaks)"]


def test_the_log_has_every_system_and_no_more_hits_than_asked(
    example: Any, log: pl.DataFrame, queries: list[str]
) -> None:
    assert log.columns == ["system", "library", "query", "doc", "score"]
    assert log["system"].unique(maintain_order=True).to_list() == list(example.SYSTEMS)
    assert set(log["query"]) <= set(queries)
    assert log.group_by("system", "query").len()["len"].max() == 20
    assert (log["score"] > 0).all()


@pytest.mark.slow
def test_the_report_is_printed(
    example: Any, judgments: pl.DataFrame, queries: list[str], log: pl.DataFrame, tmp_path: Path, capsys: Any
) -> None:
    log.write_parquet(tmp_path / "log.parquet")
    judgments.filter(pl.col("query").is_in(queries)).write_parquet(tmp_path / "judgments.parquet")
    page = tmp_path / "report.md"
    example.report(tmp_path, page)
    printed = capsys.readouterr().out
    for expected in (*example.SYSTEMS, "leaks", "from pandas are the same", "recall@100", "ci_low", "audit"):
        assert expected in printed
    assert max(map(len, printed.splitlines())) <= 100
    sentences = [line for line in output_of("search_the_docs").splitlines() if re.fullmatch(r"\w.*[.:]", line)]
    assert len(sentences) > 5
    assert set(sentences) - set(printed.splitlines()) == {"Try next:", sentences[-1]}  # which main prints
    written = page.read_text(encoding="utf-8")
    for expected in (*example.SYSTEMS, "## Audit", "## Comparison", "| polars |", "recall@100"):
        assert expected in written


def test_without_fts5_one_sentence_says_so(example: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class WithoutFTS5(sqlite3.Connection):
        def execute(self, *_: Any) -> Any:
            raise sqlite3.OperationalError("no such module: fts5")

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda path: connect(path, factory=WithoutFTS5))
    with pytest.raises(SystemExit, match="SQLite of this Python was built without it"):
        example.main([])
