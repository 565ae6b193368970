"""What gives Arrow is asked for its columns once and for its rows once, and only for those columns that are needed."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import ibis
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from frame_metrics import IRM, BadValueError, ColumnError, read_qrels, write_qrels, write_run
from helpers import RANKED, VERBS, as_polars, error, found_by_name


class Counting:
    """A table that counts how often its stream is asked for, and says which columns each time."""

    def __init__(self, columns: Any, asked: list[list[str]] | None = None) -> None:
        self.table = columns if isinstance(columns, pa.Table) else pa.table(columns)
        self.asked: list[list[str]] = [] if asked is None else asked

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        self.asked.append(self.table.schema.names)
        return self.table.__arrow_c_stream__(requested_schema)


class Knowing(Counting):
    """One that tells its schema beside."""

    def __arrow_c_schema__(self) -> Any:
        return self.table.schema.__arrow_c_schema__()


class OfPyarrow(Counting):
    """One that has its schema as pyarrow's."""

    @property
    def schema(self) -> pa.Schema:
        return self.table.schema


class WithSchema(Counting):
    """One that has a schema of its own library."""

    @property
    def schema(self) -> Any:
        return Knowing(self.table)


class ListSelecting(Knowing):
    """One that chooses columns by a list of them."""

    def select(self, columns: list[str]) -> "ListSelecting":
        if not isinstance(columns, list):
            raise TypeError
        return type(self)(self.table.select(columns), self.asked)


class StarSelecting(Knowing):
    """One that chooses columns one by one."""

    def select(self, *columns: str) -> "StarSelecting":
        return type(self)(self.table.select([str.strip(name) for name in columns]), self.asked)


class RowSelecting(Knowing):
    """One whose method of this name chooses rows."""

    def select(self, rows: Sequence[Any]) -> "RowSelecting":
        return type(self)(self.table.take(range(len(rows))), self.asked)


class Failing(Knowing):
    """One whose method of this name takes something else."""

    def select(self, *given: Any) -> Any:
        raise LookupError(f"no such expression: {given}")


@pytest.mark.parametrize("verb", VERBS)
def test_one_schema_and_one_read(verb: str) -> None:
    """Of an exporter that nothing else is known of, a verb opens a stream for the names and one for the rows."""
    columns, ask, _ = VERBS[verb]
    source = Counting(columns)
    assert ask(IRM(source)).equals(ask(IRM(pa.table(columns))))
    assert source.asked == [list(columns)] * 2


@pytest.mark.parametrize("kind", [Knowing, OfPyarrow, WithSchema, RowSelecting, Failing])
def test_one_read_where_the_schema_is_known(kind: type[Counting]) -> None:
    """Where an exporter tells its schema, its rows are all that is asked for; what is no projection is none."""
    for columns, ask, _ in VERBS.values():
        source = kind(columns)
        assert ask(IRM(source)).equals(ask(IRM(pa.table(columns))))
        assert source.asked in ([list(columns)], [list(columns)] * 2)
        assert len(source.asked) == 1 or kind is RowSelecting


def test_ibis_computes_the_needed_columns_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of Ibis is computed once for a verb, in its own engine, and without the columns that are not needed."""
    table = ibis.polars.connect({"log": pl.LazyFrame(RANKED)}).table("log")
    computed: list[tuple[str, ...]] = []
    of_ibis = type(table).to_pyarrow
    monkeypatch.setattr(type(table), "to_pyarrow", lambda own: computed.append(own.columns) or of_ibis(own))
    irm: Any = IRM(table)
    assert found_by_name(irm) == ["query", "doc", "score", "grade"]
    assert irm.per_query("rr").equals(IRM(pa.table(RANKED)).per_query("rr"))
    assert [sorted(names) for names in computed] == [["doc", "grade", "query", "score"]]


@pytest.mark.parametrize("kind", [ListSelecting, StarSelecting])
@pytest.mark.parametrize("verb", VERBS)
def test_only_the_needed_columns_are_exported(verb: str, kind: type[Counting]) -> None:
    """An exporter that can leave columns out is asked for those that the verb needs."""
    columns, ask, needed = VERBS[verb]
    source = kind(columns)
    assert ask(IRM(source)).equals(ask(IRM(pa.table(columns))))
    assert [sorted(names) for names in source.asked] == [sorted(needed)]


@pytest.mark.parametrize("lazy", [False, True])
def test_judgments_are_asked_once_too(lazy: bool) -> None:
    """Judgments are exported once for a verb, without the columns that it does not need."""
    run = pl.DataFrame({"query": [1, 2], "doc": ["a", "a"], "score": [1.0, 2.0]})
    source = ListSelecting(RANKED)
    irm: Any = IRM(run.lazy() if lazy else run).judge(source)
    assert source.asked == []
    assert as_polars(irm.per_query("rr"))["value"].to_list() == [1.0, 1.0]
    assert [sorted(names) for names in source.asked] == [["doc", "grade", "query"]]
    unknown = Counting(RANKED)
    irm = IRM(run.lazy() if lazy else run).judge(unknown)
    opened = len(unknown.asked)
    as_polars(irm.per_query("rr"))
    assert len(unknown.asked) - opened == 2


@pytest.mark.parametrize("kind", ["stream", "reader", "dataset", "DuckDB", "DuckDB, no rows"])
def test_a_plan_knows_the_types_of_judgments_that_it_has_not_read(kind: str) -> None:
    """A plan over a lazy log has the segments' type from the judgments that lend them, and reads no row for it."""
    table = pa.table({"query": [1, 2], "doc": ["a", "a"], "grade": [1, 0], "day": ["mo", "tu"], "text": ["w", "w"]})
    qrels: Any = {
        "stream": lambda: Counting(table),
        "reader": table.to_reader,
        "dataset": lambda: ds.dataset(table),
        "DuckDB": lambda: duckdb.from_arrow(table),
        "DuckDB, no rows": lambda: duckdb.from_arrow(table).filter("grade > 1"),
    }[kind]()
    irm = pl.LazyFrame({"query": [1, 2], "doc": ["a", "a"], "score": [1.0, 2.0]}).irm(by="day").judge(qrels)
    opened = len(qrels.asked) if kind == "stream" else 0
    plan = irm.per_query("rr")
    assert plan.collect_schema()["day"] == pl.String
    assert plan.collect()["day"].to_list() == ([] if kind == "DuckDB, no rows" else ["mo", "tu"])
    assert kind != "stream" or len(qrels.asked) - opened == 2


def test_a_written_file_asks_once(tmp_path: Path) -> None:
    """A run or judgments that are written are asked for their columns once and for their rows once."""
    source, judged = Counting(RANKED), Counting(RANKED)
    write_run(source, tmp_path / "run.txt", run="x")
    write_qrels(judged, tmp_path / "qrels.txt")
    assert len(source.asked) == len(judged.asked) == 2
    assert read_qrels(tmp_path / "qrels.txt").rows()[0] == ("1", "a", 1)


@pytest.mark.parametrize("verb", VERBS)
def test_the_schema_of_a_plan_is_asked_once(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A verb asks a LazyFrame for its schema once; that of judgments is asked where they are named."""
    columns, ask, _ = VERBS[verb]
    times: list[pl.LazyFrame] = []
    of_polars = pl.LazyFrame.collect_schema
    monkeypatch.setattr(pl.LazyFrame, "collect_schema", lambda plan: times.append(plan) or of_polars(plan))
    frame = pl.LazyFrame(columns)
    ask(IRM(frame))
    assert sum(plan is frame for plan in times) == 1
    if verb == "evaluate":
        times.clear()
        irm = IRM(frame).judge(qrels := pl.LazyFrame(RANKED))
        irm.evaluate("rr").collect()
        assert sum(plan is qrels for plan in times) == 1


# Datasets and scanners of pyarrow


@pytest.fixture
def parquet(tmp_path: Path) -> ds.Dataset:
    """A dataset of two files."""
    for i, part in enumerate((slice(0, 2), slice(2, 6))):
        pq.write_table(pa.table({name: values[part] for name, values in RANKED.items()}), tmp_path / f"{i}.parquet")
    return ds.dataset(tmp_path)


@pytest.mark.parametrize("kind", ["dataset", "scanner", "projecting scanner", "in memory"])
def test_datasets_and_scanners(parquet: Any, kind: str) -> None:
    """A dataset or a scanner is a frame, as often as it is asked, and gives Arrow tables; of judgments too."""
    frame: Any = {
        "dataset": parquet,
        "scanner": parquet.scanner(),
        "projecting scanner": parquet.scanner(columns=["score", "query", "doc", "grade"]),
        "in memory": ds.dataset(pa.table(RANKED)),
    }[kind]
    table = pa.table(RANKED)
    for _, ask, _ in (VERBS[verb] for verb in ("evaluate", "per_query", "explain", "audit")):
        assert ask(IRM(frame)).equals(ask(IRM(table)))
    run = pl.DataFrame({"query": [1, 2], "doc": ["a", "a"], "score": [1.0, 2.0]})
    assert run.irm.judge(frame).per_query("recall").equals(run.irm.judge(table).per_query("recall"))
    said = error(lambda: IRM(frame, query="qid").evaluate("rr"), ColumnError)
    assert said.startswith("query='qid': there is no such column among")


def test_a_dataset_reads_the_needed_columns_only(tmp_path: Path) -> None:
    """A column that is not needed is not read from the file: its bytes may be spoilt."""
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table(RANKED | {"text": ["spoil me"] * 6}), path, compression="none", use_dictionary=False)
    data = path.read_bytes()
    start = pq.read_metadata(path).row_group(0).column(4).data_page_offset
    path.write_bytes(data[:start] + b"\xff" * 16 + data[start + 16 :])
    with pytest.raises(OSError, match=r".*"):
        ds.dataset(path).to_table()
    assert IRM(ds.dataset(path)).evaluate("rr").equals(IRM(pa.table(RANKED)).evaluate("rr"))


def test_a_dataset_with_two_columns_of_one_name() -> None:
    """pyarrow reads no column of a dataset in which two have one name; the error says which to rename."""
    table = pa.table([[1], [1.0], [1], [2], [3]], names=["query", "score", "label", "more", "more"])
    said = error(lambda: IRM(ds.dataset(table)).evaluate("rr"), ColumnError)
    assert said == "there are 2 columns called 'more'; rename all but one"
    assert IRM(table).evaluate("rr").num_rows == 1


# What can be read once


def _once() -> dict[str, Callable[[], Any]]:
    table = pa.table(RANKED)
    return {
        "pyarrow.RecordBatchReader": table.to_reader,
        "pyarrow.RecordBatchStreamReader": lambda: pa.ipc.open_stream(_written(table)),
        "pyarrow.Scanner": lambda: ds.Scanner.from_batches(table.to_reader()),
    }


def _written(table: pa.Table) -> Any:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


@pytest.mark.parametrize("kind", _once())
def test_what_can_be_read_once(kind: str) -> None:
    """A reader of batches is read by the first verb; the second one says so, and does not find it empty."""
    expected = IRM(pa.table(RANKED)).evaluate("rr")
    said = f"a {kind} can be read once only, and this one was read; make it again and give its table"
    irm = IRM(_once()[kind]())
    assert found_by_name(irm) == ["query", "doc", "score", "grade"]
    assert irm.evaluate("rr").equals(expected)
    assert error(lambda: irm.evaluate("rr"), BadValueError) == said
    run = pl.DataFrame({"query": [1, 2], "doc": ["a", "a"], "score": [1.0, 2.0]})
    judged = run.irm.judge(_once()[kind]())
    assert judged.per_query("rr")["value"].to_list() == [1.0, 1.0]
    assert error(lambda: judged.per_query("rr"), BadValueError) == said


# What has no columns


@pytest.mark.parametrize("values", [pa.chunked_array([[1, 2]]), pl.Series([1.0])])
def test_an_array_is_no_frame(values: Any) -> None:
    """A stream that holds an array instead of columns is refused."""

    class Array:
        def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
            return values.__arrow_c_stream__()

    said = error(lambda: IRM(Array()).evaluate("rr"), BadValueError)
    assert said == "a tests.Array is an array and not a frame: give a frame that has it"
