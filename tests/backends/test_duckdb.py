"""DuckDB: relations are asked for the needed columns, once, and answers are relations of the same connection."""

import gc
import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import polars.testing
import pyarrow as pa
import pytest

from frame_metrics import IRM, BadValueError, ColumnError, FrameMetricsError, NotComputableError
from helpers import VERBS, as_polars, error
from inside import DuckDBFrame, backend_of


@pytest.fixture
def con() -> Any:
    """A connection to a database in memory."""
    with duckdb.connect() as opened:
        yield opened


def _counted(con: Any, name: str) -> list[float]:
    """Give DuckDB a function that returns what it gets, and a list of all that it got."""
    seen: list[float] = []
    con.create_function(name, lambda value: seen.append(value) or value, ["double"], "double")
    return seen


@pytest.mark.parametrize("verb", VERBS)
def test_a_relation_runs_once_for_each_verb(con: Any, verb: str) -> None:
    """DuckDB computes each needed value once for a verb, and no other column at all."""
    columns, ask, _ = VERBS[verb]
    table = pa.table(columns)
    con.register("rows", table)
    other = {"per_class": "predicted", "confusion": "predicted"}
    key = other.get(verb, "score" if "score" in columns else "rank")
    used, unused = _counted(con, "used"), _counted(con, "unused")
    relation = con.sql(f"select * exclude ({key}), used({key}) as {key}, unused({key}) as more from rows order by text")
    whole = IRM(table.set_column(table.schema.get_field_index(key), key, table.column(key).cast("double")))
    assert as_polars(ask(IRM(relation))).equals(as_polars(ask(whole)))
    assert (sorted(used), unused) == (sorted(columns[key]), [])


def test_judgments_from_a_relation_run_once(con: Any) -> None:
    """Judgments that are a relation are computed once for a verb, without the columns that it does not need."""
    used, unused = _counted(con, "used"), _counted(con, "unused")
    con.execute("create table t as select 1 as query, unnest(['a', 'b']) as doc, unnest([1.0, 2.0]) as grade")
    qrels = con.sql("select query, doc, used(grade) as grade, unused(grade) as more from t")
    irm = pl.DataFrame({"query": [1], "doc": ["a"], "score": [1.0]}).irm.judge(qrels)
    assert irm.evaluate("recall")["value"].to_list() == [0.5]
    assert (used, unused) == ([1.0, 2.0], [])


@pytest.mark.slow
def test_a_file_that_is_replaced_between_two_passes(con: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that a relation reads, and that another one takes the place of meanwhile, is an error that names it."""
    name = str(tmp_path / "it's a log.parquet")
    log = pl.DataFrame({"query": [q % 50 for q in range(5000)], "score": 1.0, "grade": 1}).with_row_index("doc")
    log.write_parquet(name)
    n_rows = DuckDBFrame.n_rows

    def then(self: Any, column: str) -> int:
        n = n_rows(self, column)
        log.with_columns(grade=0).write_parquet(tmp_path / "new")
        os.replace(tmp_path / "new", name)
        return n

    for relation in (con.read_parquet(name), con.sql("select * from '{}'".format(name.replace("'", "''")))):
        assert IRM(relation, memory="20KB").evaluate("rr").fetchall()
        with monkeypatch.context() as patch:
            patch.setattr(DuckDBFrame, "n_rows", then)
            told = f"{name}: the file was changed after it was first looked at"
            with pytest.raises(FrameMetricsError, match=re.escape(told)):
                IRM(relation, memory="20KB").evaluate("rr")


@pytest.mark.parametrize("name", ['a"b', "a b", "5", "a.b", "'a'", "select", "x, y", "ü", " "])
def test_odd_names_in_a_relation(con: Any, name: str) -> None:
    """A column is found in a relation by any name, and it is that column that is read."""
    con.register("rows", pa.table({"a": [9, 9], "b": [9, 9], "x": [9, 9], "y": [9, 9]}))
    quoted = name.replace('"', '""')
    con.execute(f'create table t as select *, unnest([1, 2]) as "{quoted}" from (select * from rows limit 1)')
    found = IRM(con.sql("select *, 1 as score, 1 as label from t"), query=name).per_query("rr")
    assert as_polars(found)[name].to_list() == [1, 2]


def test_names_that_differ_in_case(con: Any) -> None:
    """Of two columns whose names differ in their case only, which are one to DuckDB, the one that is named is read."""
    relation = con.sql("""select 1 as key, 'x' as "KEY", 1 as score, 1 as label""")
    for name, value in (("KEY", "x"), ("key", 1)):
        found = IRM(relation, query=name).per_query("rr")
        assert (found.columns[0], found.fetchall()[0][0]) == (name, value)
    twice = con.sql("select 1 as key, 2 as key, 1 as score, 1 as label")
    said = error(lambda: IRM(twice, query="key").per_query("rr"), ColumnError)
    assert said == "there are 2 columns called 'key'; rename all but one"
    assert len(IRM(twice, score="score").evaluate("roc_auc").fetchall()) == 1


# Results


LOG = pl.DataFrame(
    {
        "query": ["a", "b", None, "a", "c", "b", "c", "a"],
        "doc": [1, 1, 1, 2, 1, 2, 2, 3],
        "score": [0.5, 2.0, 1.0, 1.5, None, 1.0, 0.25, 1.0],
        "grade": [1, 0, 1, 0, 2, 2, None, 3],
        "day": ["mo", "tu", "mo", "mo", None, "tu", None, "mo"],
    }
)
QRELS = pl.DataFrame({"query": ["c", "a", "d"], "doc": [2, 3, 1], "grade": [1, 2, 1]})


@pytest.mark.parametrize(
    "rows", [LOG.drop_nulls("query"), LOG.drop_nulls("query").sample(fraction=1, shuffle=True, seed=3)]
)
@pytest.mark.parametrize("judged", [False, True])
def test_a_relation_gives_what_polars_gives(con: Any, rows: pl.DataFrame, judged: bool) -> None:
    """Values, intervals and keys are those of the same rows in polars, null keys and judgments beside too."""
    con.register("rows", rows.to_arrow())
    con.register("judged", QRELS.to_arrow())
    ours, theirs = IRM(con.sql("from rows"), by="day"), rows.irm(by="day")
    if judged:
        ours, theirs = ours(by=None).judge(con.sql("from judged")), theirs(by=None).judge(QRELS)
    for ask in (
        lambda irm: irm.evaluate("ndcg@2", "rr", "num_ret", ci=0.9, margins=not judged),
        lambda irm: irm.per_query("ndcg@2", "precision@5"),
        lambda irm: irm.audit(),
    ):
        found = as_polars(ask(ours))
        pl.testing.assert_frame_equal(found, ask(theirs), abs_tol=1e-12, rel_tol=1e-12)


def test_a_result_is_a_relation_of_the_connection(con: Any) -> None:
    """A result can be joined with what the caller has there, and with another result; the catalogue is as it was."""
    con.execute(
        "create table log as select * from (values (1, 2.0, 1), (1, 1.0, 0), (2, 1.0, 1)) t(query, score, grade)"
    )
    log = con.sql("from log")
    tables = "select table_name from duckdb_tables() union all select view_name from duckdb_views() where not internal"
    first = IRM(log).per_query("rr", layout="wide")
    second = IRM(log).per_query("num_ret", layout="wide").project("query, num_ret")
    gc.collect()
    assert con.sql(tables).fetchall() == [("log",)]
    assert isinstance(first, type(log))
    assert sorted(log.join(first, "query").project("grade, rr").fetchall()) == [(0, 1.0), (1, 1.0), (1, 1.0)]
    assert sorted(first.join(second, "query").fetchall()) == [(1, 1.0, True, 2.0), (2, 1.0, True, 1.0)]
    assert IRM(first, value="rr").evaluate().project("metric, value, n").fetchall() == [("rr", 1.0, 2)]
    first.create("kept")
    assert con.sql("select sum(rr) from kept").fetchall() == [(2.0,)]


def test_verbs_between_others(con: Any) -> None:
    """A verb works inside a transaction of the caller's, in a cursor, and on what the default connection has."""
    con.execute("create table log as select 1 as query, 1 as score, 1 as grade")
    con.begin()
    con.execute("insert into log values (2, 1, 0)")
    assert IRM(con.sql("from log")).evaluate("num_q").project("value").fetchall() == [(2.0,)]
    con.rollback()
    for relation in (
        con.cursor().sql("from log"),
        con.table("log"),
        duckdb.sql("select 1 as query, 1 as score, 1 as grade"),
    ):
        assert IRM(relation).evaluate("num_q").project("value").fetchall() == [(1.0,)]


KEYS = {
    "enum": "x::enum('b', 'a')",
    "uuid": "md5(x)::uuid",
    "hugeint": "(ascii(x) * 1e30)::hugeint",
    "decimal": "(ascii(x) / 10)::decimal(9, 2)",
    "date": "date '2024-03-01' + ascii(x)",
    "zone": "(timestamp '2024-03-01' + interval (ascii(x)) hour)::timestamptz",
    "ns": "(timestamp '2024-03-01' + interval (ascii(x)) hour)::timestamp_ns",
    "blob": "x::blob",
    "boolean": "x = 'a'",
    "float": "(ascii(x) / 10)::float",
    "tiny": "ascii(x)::utinyint",
    "json": "to_json(x)",
}


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("role", ["query", "by", "system"])
def test_keys_keep_their_types(con: Any, name: str, role: str) -> None:
    """A key of a result has the type and the values that it has in the relation, of types that Arrow has not too."""
    rows = f"select {KEYS[name]} as key, 1 as score, 1 as label, 1 as query from (values ('a'), (null), ('b')) t(x)"
    relation = con.sql(f"select * from ({rows}) where key is not null" if role == "query" else rows)
    found: Any = IRM(relation, **{role: "key"})(doc=None).per_query("num_ret", layout="wide")
    assert found.types[found.columns.index("key")] == relation.types[0]
    assert set(found.project("key::text").fetchall()) == set(relation.project("key::text").fetchall())


def test_a_query_that_the_type_has_not(con: Any) -> None:
    """Where judgments have a query that is no value of the log's ENUM, the queries of a result are text."""
    run = con.sql("select 'a'::enum('a') as query, 'x' as doc, 1 as score")
    judged = con.sql("select unnest(['a', 'b']) as query, 'x' as doc, 1 as grade")
    found = IRM(run).judge(judged).per_query("rr", layout="wide")
    assert sorted(found.fetchall()) == [("a", 1.0, True), ("b", 0.0, False)]
    assert str(found.types[0]) == "VARCHAR"


@pytest.mark.parametrize("kind", ["'101'::bit", "'10:00:00+02'::timetz", "1::uhugeint"])
def test_types_that_are_exported_with_a_loss(con: Any, kind: str) -> None:
    """A column that DuckDB cannot export as it is, is refused where it is needed and left alone elsewhere."""
    relation = con.sql(f"select {kind} as day, 1 as query, 1 as score, 1 as label")
    said = error(lambda: IRM(relation, by="day").evaluate("rr"), BadValueError)
    assert said == f"day: the column is {relation.types[0]}, which cannot be read; cast it to another type"
    assert IRM(relation).evaluate("rr").project("value").fetchall() == [(1.0,)]


@pytest.mark.parametrize(
    ("setting", "way"),
    [("python_enable_replacements", "set it true"), ("enable_external_access", "open the database with it")],
)
def test_a_connection_that_finds_no_results(con: Any, setting: str, way: str) -> None:
    """Where DuckDB may not look for tables in Python, the error says so and has a way out, and nothing is computed."""
    used = _counted(con, "used")
    relation = con.sql("select 1 as query, used(1) as score, 1 as label")
    con.execute(f"set {setting} = false")
    said = error(lambda: IRM(relation).evaluate("rr"), BadValueError)
    assert said == (
        f"{setting} is off, without which a result cannot become a relation of the connection: "
        f"{way}, or give the relation's to_arrow_table()"
    )
    assert used == []
    assert IRM(relation.to_arrow_table()).evaluate("rr").column("value").to_pylist() == [1.0]


def test_a_number_of_39_digits(con: Any) -> None:
    """A number that no decimal holds is refused by its column, in a list too; the longest that one holds is an id."""
    most, nearly = 2**127 - 1, 10**38 - 1
    one = con.sql(f"select {most}::hugeint as query, 1.0 as score, 1 as grade")
    assert error(lambda: IRM(one).per_query("rr"), BadValueError).startswith("query: the column has numbers of more ")
    several = con.sql(f"select 1 as query, [{most}::hugeint] as doc, [1.0] as score, [1] as grade")
    assert error(lambda: IRM(several).per_query("rr"), BadValueError).startswith("doc: the column has numbers of more ")
    held = con.sql(f"select {nearly}::hugeint as query, 1.0 as score, 1 as grade")
    assert IRM(held).per_query("rr", layout="wide").fetchall() == [(nearly, 1.0, True)]


def test_threads_on_one_connection(con: Any) -> None:
    """Verbs that threads ask of one connection wait for each other; a result that is read elsewhere is told."""
    columns = "i // 10 as query, (i * 7919) % 10007 as score, i % 3 as grade, i % 10 as doc"
    con.execute(f"create table log as select {columns} from range(20000) t(i)")
    relations = [con.table("log") for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        found = [*pool.map(lambda one: IRM(one).evaluate("rr"), relations)]
    assert len({one.fetchall()[0] for one in found}) == 1
    if duckdb.__version__ >= "2":  # before, the rows that are being read end there
        reading = pa.RecordBatchReader.from_stream(con.table("log"))
        reading.read_next_batch()
        said = error(lambda: IRM(relations[0]).evaluate("rr"), NotComputableError)
        assert said.startswith("the relation's connection is at work elsewhere")
        reading.close()


@pytest.mark.parametrize("version", ["1.4.5", "1.5.3"])
def test_an_old_version(version: str, con: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A version in which a result is no relation, or writes in the database, is refused, with the ways out."""
    monkeypatch.setattr(duckdb, "__version__", version)
    said = error(lambda: IRM(con.sql("select 1 as query, 1 as score, 1 as label")).evaluate("rr"), BadValueError)
    assert said == (
        f"DuckDB {version} is too old for a result to become a relation: install 1.5.4 or later, "
        "or give the relation's to_arrow_table()"
    )
    monkeypatch.setattr(duckdb, "__version__", "1.10.0")
    assert len(IRM(con.sql("select 1 as query, 1 as score, 1 as label")).evaluate("rr").fetchall()) == 1


# Relations that are larger than memory


def _large() -> pl.DataFrame:
    """Rows of 300 queries on three days and of two systems, sorted by query."""
    at = pl.int_range(6000, eager=True)
    rows = pl.DataFrame({"query": at // 20, "doc": at % 20, "system": at % 2, "score": (at * 7919 % 97) / 97})
    rows = rows.with_columns(id=at // 4 * 2 + at % 4 // 2)
    return rows.with_columns(
        grade=(pl.col("doc") * 31 + pl.col("query")) % 3,
        label=(pl.col("id") // 3) % 2,
        day=pl.when(pl.col("query") % 3 > 0).then(pl.format("day {}", pl.col("query") % 3)),
    )


@pytest.mark.slow
@pytest.mark.parametrize("order", ["hash(query, doc)", "query"])
def test_relations_larger_than_memory(con: Any, order: str) -> None:
    """A relation that memory does not hold gives the same numbers, judgments of the same connection beside it too."""
    rows = _large()
    con.register("rows", rows.to_arrow())
    con.register("judged", rows.select("query", "doc", "grade").filter(pl.col("doc") % 4 > 0).to_arrow())
    relation, judged = con.sql(f"from rows order by {order}"), con.sql("from judged")
    log = as_polars(relation)
    small: Any = {"memory": 300_000}
    bare = {"grade": None, "label": None}
    for roles, ask in (
        ({"label": None, "by": "day"}, lambda irm: irm.evaluate("ndcg@5", "map", ci=0.9, margins=True)),
        ({"label": None, "by": "day"}, lambda irm: irm.per_query("ndcg@5")),
        ({"label": None, "system": "system"}, lambda irm: irm.compare("ap", resamples=200)),
        ({**bare, "system": "system"}, lambda irm: irm.judge(judged).evaluate("ndcg@5", "num_rel", ci=0.9)),
        ({"label": None, "system": "system"}, lambda irm: irm.explain("ap", query=77)),
        ({**bare, "by": "day"}, lambda irm: irm.judge(judged).explain("ndcg@5", query=77)),
        ({"label": None, "by": "day"}, lambda irm: irm.bounds("ndcg@5", "ap", of="ties")),
        ({"label": None, "system": "system", "by": "day"}, lambda irm: irm.audit()),
        ({**bare, "system": "system"}, lambda irm: irm.judge(judged).audit()),
        ({"query": None, "grade": None, "by": "day"}, lambda irm: irm.evaluate("roc_auc", "average_precision", ci=0.9)),
        ({"query": None, "grade": None, "threshold": 0.5}, lambda irm: irm.confusion()),
        ({"query": None, "grade": None, "threshold": 0.5, "by": "day"}, lambda irm: irm.audit()),
        ({"query": None, "grade": None, "system": "system", "doc": "id"}, lambda irm: irm.compare("roc_auc")),
    ):
        found, expected = as_polars(ask(IRM(relation, **roles, **small))), ask(IRM(log, **roles))
        pl.testing.assert_frame_equal(found, expected, check_dtypes=False, abs_tol=1e-12, rel_tol=1e-12)


def test_names_that_differ_in_case_alone(con: Any) -> None:
    """A key that DuckDB would take for a column of the result is refused; other engines tell them apart."""
    rows = pl.DataFrame({"query": [1, 1, 2, 2], "score": [2.0, 1.0] * 2, "grade": [1, 0] * 2, "Value": [*"xxyy"]})
    con.register("cased", rows.to_arrow())
    said = error(lambda: IRM(con.sql("from cased"), by="Value").evaluate("rr"), ColumnError)
    assert said.startswith("the result would have columns 'Value' and 'value', which are one name to this engine")
    assert IRM(rows, by="Value").evaluate("rr").columns[0] == "Value"


# What the backend hands over


def test_only_the_needed_columns_are_scanned(con: Any) -> None:
    """The plan by which a relation is read scans the needed columns and no other."""
    con.execute("create table log as select range as query, 1 as score, 'wide' as words from range(9)")
    backend: Any = backend_of(con.sql("from log"))
    said = backend.projected(["query", "score"]).explain()
    assert ("query" in said, "score" in said, "words" in said) == (True, True, False)
    assert "words" in backend.projected(["words"]).explain()


def test_batches(con: Any) -> None:
    """Rows come in pieces and in order, of the needed columns alone."""
    relation = con.sql("select range as query, range / 2 as score, 'wide' as words from range(2_500_000)")
    backend: Any = backend_of(relation)
    pieces = list(backend.batches(["score", "query"]))
    assert len(pieces) > 2
    expected = pl.select(score=pl.int_range(2_500_000) / 2, query=pl.int_range(2_500_000))
    assert pl.concat(pieces).equals(expected)
    assert next(backend.batches(["query"])).columns == ["query"]


@pytest.mark.parametrize("columns", [["a"], ["len", "a"], ['x"y', "A", "len", "len_"]])
def test_counts(con: Any, columns: list[str]) -> None:
    """Equal rows are counted by DuckDB, in the order of their first appearance; nulls are equal."""
    rows = pl.DataFrame(
        {"a": [1, 1, None, None, 2], "len": [0.0, -0.0, None, None, 0.5], "A": [*"xxyyx"], "n": [1] * 5}
    )
    con.register(
        "rows", rows.with_columns(pl.lit(1).alias('x"y'), pl.lit(2).alias("len_")).rename({"A": "b"}).to_arrow()
    )
    backend: Any = backend_of(con.sql("""select * exclude b, b as "A" from rows"""))
    found = pl.concat(backend.counts(columns))
    assert found.columns[:-1] == columns
    every = rows.with_columns(pl.lit(1).alias('x"y'), pl.lit(2).alias("len_"))
    assert found.rows() == every.group_by(columns, maintain_order=True).len("n").rows()
