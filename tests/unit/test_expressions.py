"""Expressions and functions as roles: what they are called, when they are computed, and what is refused."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

from frame_metrics import IRM, BadValueError, ColumnError
from helpers import as_kind, as_polars, error
from inside import in_pieces
from refusals import check

LOG = pl.DataFrame(
    {
        "qid": ["A", "a", "B", "b"],
        "distance": [-2.0, -1.0, -2.0, -1.0],
        "clicks": [0, 1, 0, 3],
        "day": [date(2026, 1, 2)] * 2 + [date(2026, 3, 1)] * 2,
    }
)
ROLES: dict[str, Any] = {
    "query": pl.col("qid").str.to_lowercase(),
    "score": -pl.col("distance"),
    "label": pl.col("clicks") > 0,
    "grade": "clicks",
    "by": pl.col("day").dt.month(),
}
MADE = LOG.select(
    pl.col("qid").str.to_lowercase(),
    pl.col("day").dt.month(),
    "clicks",
    score=-pl.col("distance"),
    label=pl.col("clicks") > 0,
)


def test_an_expression_is_called_as_its_root(kind: str) -> None:
    """Results have the name of the one column that an expression is made of, which may play another part as it is."""
    found = IRM(as_kind(LOG, kind), **ROLES).per_query("ndcg", "rr")
    wanted = IRM(as_kind(MADE, kind), query="qid", grade="clicks", by="day", label="label").per_query("ndcg", "rr")
    assert as_polars(found).columns[:2] == ["day", "qid"]
    assert as_polars(found).equals(as_polars(wanted))


def test_an_alias_is_the_name() -> None:
    """An alias is the name in results, of several columns too, and of systems and metrics."""
    both = (pl.col("clicks") + pl.col("distance")).alias("both")
    result = LOG.irm(query=[pl.col("qid").str.to_lowercase().alias("text")], score=["distance", both], grade="clicks")
    assert result.per_query("rr").columns[:2] == ["system", "text"]
    assert result.evaluate("rr")["system"].to_list() == ["both", "distance"]
    for log in (LOG, LOG.lazy()):  # a name that with_columns() does not take as a keyword
        mine = log.irm(query="qid", score="distance", grade="clicks", by=pl.col("day").alias("self")).evaluate("rr")
        assert mine.lazy().collect_schema().names()[0] == "self"
    slow = LOG.unique("day").irm(query="qid", value=(pl.col("clicks") / 1000).alias("seconds"))
    assert slow.evaluate()["metric"].to_list() == ["seconds"]


def test_the_repr_shows_what_is_made() -> None:
    """The repr has the values of expressions, and says what is wrong with one."""
    assert "score  score of distance  2.0, 1.0" in repr(LOG.irm(**ROLES))
    assert repr(LOG.irm(query="qid", score=-pl.col("dist"))).endswith(
        "not ready: score=<polars.Expr>: there is no column 'dist' among 'qid', 'distance', 'clicks', 'day'; "
        "did you mean 'distance'?"
    )


def made_of(**roles: Any) -> Any:
    """Return the reciprocal ranks of the log, some roles being others."""
    return LOG.irm(**{"query": "qid", "score": "distance", "grade": "clicks", **roles}).evaluate("rr")


REFUSALS = r"""
made_of(score=pl.col("clicks") - pl.col("distance"))
    BadValueError: score=<polars.Expr>: it is made of the columns 'clicks', 'distance'; name it with
        .alias()
made_of(score=pl.lit(1))
    BadValueError: score=<polars.Expr>: it is made of no column; name it with .alias()
made_of(score=pl.col("clicks", "distance"))
    BadValueError: score=<polars.Expr>: it makes several columns; give an expression for each
made_of(by=["day", pl.col("day").dt.month()])
    ColumnError: by=<polars.Expr> would be called 'day', as another column that has a role; give it a name of its own,
        with .alias(), or .rename() in pandas
made_of(score=-pl.col("distanc"))
    ColumnError: score=<polars.Expr>: there is no column 'distanc' among 'qid', 'distance', 'clicks', 'day'; did you
        mean 'distance'?
made_of(score=lambda frame: frame["clicks"].head(2))
    BadValueError: score=<lambda>: it gives 2 values, and the frame has 4 rows
made_of(score=lambda frame: 3)
    BadValueError: score=<lambda>: it gives 3; expected is a column, with a value for each row
made_of(score=lambda frame: 1 / 0)
    KernelError: score=<lambda> raised ZeroDivisionError: division by zero
    but: made_of(score=(pl.col("clicks") - pl.col("distance")).alias("less"))
    but: made_of(score=lambda frame: frame["clicks"] - 1)
    but: made_of(by=["day", pl.col("day").dt.month().alias("month")])
made_of(by=pl.col("day").dt.month(), extra={"when": "day"})
    ColumnError: by=<polars.Expr> would be called 'day', as another column that has a role; give it a name of its own,
        with .alias(), or .rename() in pandas
    but: made_of(by=pl.col("day").dt.month().alias("month"), extra={"when": "day"})
made_of(score=-pl.col("distance").sort())
    BadValueError: score=<polars.Expr>: sort() moves values to other rows; give a value for each row, in their order
        (a column of the frame, if the new order is meant)
made_of(grade=pl.col("clicks").reverse())
    BadValueError: grade=<polars.Expr>: reverse() moves values to other rows; give a value for each row, in their order
        (a column of the frame, if the new order is meant)
made_of(grade=pl.col("clicks").sort_by("distance").over("qid").alias("sorted"))
    BadValueError: grade=<polars.Expr>: sort_by() moves values to other rows; give a value for each row, in their order
        (a column of the frame, if the new order is meant)
made_of(score=lambda frame: pl.col("distance").shuffle(seed=1))
    BadValueError: score=<lambda>: shuffle() moves values to other rows; give a value for each row, in their order
        (a column of the frame, if the new order is meant)
    but: made_of(score=pl.col("distance").rank() - pl.col("distance").sort().first())
    but: made_of(grade=pl.col("clicks").reverse().cum_sum().reverse())
    but: made_of(by=pl.col("day").sort_by("distance").first().over("qid").alias("first day"))
    but: LOG.with_columns(pl.col("distance").sort()).irm(query="qid", score="distance", grade="clicks").evaluate("rr")
"""


def test_what_no_column_is_made_of() -> None:
    """An expression without one name or one value for each row is an error that names the role."""
    check(REFUSALS, globals())


@pytest.mark.parametrize(
    "made",
    [
        pl.datetime(2026, 1, pl.col("day").dt.month(), time_zone="Europe/Vienna"),
        pl.struct("day"),
        pl.concat_list("day", "day").list.to_array(2),
        pl.col("qid").cast(pl.Enum(["b", "B", "a", "A"])),
    ],
)
def test_segments_of_any_type_are_made(made: pl.Expr) -> None:
    """In pandas and Arrow a moment keeps its zone, a struct and an array their values, an Enum its order."""
    roles: dict[str, Any] = {"query": "qid", "score": "distance", "grade": "clicks", "by": made.alias("made")}
    wanted = LOG.irm(**roles).evaluate("rr")
    found = LOG.to_pandas(date_as_object=True).set_index(pd.Index([7, 7, 3, 1])).irm(**roles).evaluate("rr")
    assert pl.Series([*found["made"]]).to_list() == wanted["made"].to_list()
    assert found["value"].to_list() == wanted["value"].to_list()
    assert as_polars(IRM(LOG.to_arrow(), **roles).evaluate("rr"))["made"].to_list() == wanted["made"].to_list()


def test_a_name_that_plays_another_part() -> None:
    """An expression that would hide a column that is found by its name needs an alias."""
    scored = LOG.rename({"distance": "score", "qid": "query"})
    assert "would be called 'score'" in error(
        lambda: scored.irm(grade="clicks", by=pl.col("score") > -2).evaluate("rr")
    )
    by = (pl.col("score") > -2).alias("near")
    assert scored.irm(grade="clicks", by=by).evaluate("rr")["near"].to_list() == [False, True]


def test_a_function_of_pandas_runs_once() -> None:
    """A function is asked once for all verbs; its index is that of the frame."""
    frame, calls = LOG.to_pandas().set_index(pd.Index([7, 5, 3, 1])), []

    def clicked(given: Any) -> Any:
        calls.append(given)
        return given["clicks"] > 0

    irm = frame.irm(query="qid", score=lambda given: -given["distance"].to_numpy(), label=clicked)
    assert irm.evaluate("rr", "map")["value"].to_list() == irm.evaluate("precision", "map")["value"].to_list()
    assert repr(irm)
    assert len(calls) == 1
    message = error(lambda: frame.irm(query="qid", score=lambda given: given["clicks"].reset_index(drop=True)).audit())
    assert message == "score=<lambda>: its index is not that of the frame; give a value for each row, in their order"


@pytest.mark.skipif(not hasattr(pd, "col"), reason="pandas before 3 has no expressions")
def test_expressions_of_pandas() -> None:
    """pd.col() has a role, called as its column or as it is renamed."""
    frame, col = LOG.to_pandas(), getattr(pd, "col")  # noqa: B009  (stubs of pandas 2 have none)
    roles = {"query": col("qid").str.lower(), "score": -col("distance"), "label": col("clicks") > 0}
    found = frame.irm(**roles).per_query("rr")
    assert found["qid"].to_list() == ["a", "b"]
    renamed = (col("clicks") + col("distance")).rename("sum")
    assert frame.irm(**roles, by=renamed).evaluate("rr")["sum"].to_list() == [-2.0, 0.0, 2.0]
    assert error(lambda: frame.irm(**roles, by=col("clicks") + col("distance")).evaluate("rr")) == (
        "by=<pandas.Expression>: it is made of several columns; name it with .rename()"
    )


def test_a_lazy_frame_stays_lazy(tmp_path: Path) -> None:
    """Nothing is read of a lazy frame, and then only the columns that expressions are made of."""
    path = tmp_path / "log.parquet"
    LOG.with_columns(unread=1).write_parquet(path)
    result = pl.scan_parquet(path).irm(**ROLES).evaluate("rr")
    assert isinstance(result, pl.LazyFrame)
    assert result.collect().equals(LOG.irm(**ROLES).evaluate("rr"))

    def fail(values: pl.Series) -> pl.Series:
        raise AssertionError("the column is not needed")

    lazy = LOG.lazy().with_columns(unread=pl.col("clicks").map_batches(fail, return_dtype=pl.Int64))
    assert len(lazy.irm(**ROLES).evaluate("rr").collect()) == 2
    message = error(lambda: lazy.irm(query="qid", score=lambda frame: [1]).audit())
    assert message == "score=<lambda>: it gives [1]; of a LazyFrame it has to be an expression, as pl.col('a') > 0"


def test_an_expression_that_shortens_a_lazy_frame() -> None:
    """An error that names the column, when the answer runs; one value stands for all rows. polars raised ShapeError."""
    for short in (pl.col("clicks").head(2), pl.col("clicks").filter(pl.col("clicks") > 0)):
        irm = LOG.lazy().irm(query="qid", score="distance", grade=short)
        for answer in (irm.evaluate("rr"), irm.audit()):
            message = error(answer.collect, BadValueError)
            assert message == "'grade of clicks': an expression gives neither a value for each row nor one for all rows"
    same = [log.irm(query="qid", score="distance", grade=pl.max("clicks")) for log in (LOG, LOG.lazy())]
    assert same[0].per_query("dcg").equals(same[1].per_query("dcg").collect())


@pytest.mark.parametrize(
    "rank", [pl.col("distance").rank().over("qid"), pl.col("distance").shift(), pl.sum("distance")]
)
def test_only_rows_by_themselves_in_batches(rank: pl.Expr, tmp_path: Path) -> None:
    """What looks at other rows is computed of a frame in memory, and refused where batches are read."""
    path = tmp_path / "log.parquet"
    LOG.write_parquet(path)
    roles = {"query": "qid", "score": rank.fill_null(0).alias("near"), "grade": "clicks"}
    scan = LOG.select(pl.lit(0).alias("SCAN"), pl.all())  # a column that is called as polars calls the reading of files
    assert LOG.irm(**roles).evaluate("rr").equals(scan.lazy().irm(**roles).evaluate("rr").collect())
    for lazy, more in ((pl.scan_parquet(path), {}), (LOG.lazy(), {"memory": "1GB"})):
        assert error(lambda lazy=lazy, more=more: lazy.irm(**roles, **more).evaluate("rr")) == (  # type: ignore[misc]
            "score=<polars.Expr>: it looks at other rows too, and those of the frame are read in batches; make it a "
            "column of a frame that was collected, or of the file"
        )


def test_judgments_and_baselines_take_expressions() -> None:
    """The columns of judgments may be expressions, and those of a baseline with its roles."""
    run = LOG.select(qid="qid", doc=pl.Series([*"xyxy"]), score="distance")
    qrels = LOG.select(text="qid", url=pl.Series(["X", "Y"] * 2), rating=pl.col("clicks"))
    judged = run.irm(query="qid").judge(
        qrels, query="text", doc=pl.col("url").str.to_lowercase(), label=pl.col("rating") > 0
    )
    by_hand = qrels.with_columns(pl.col("url").str.to_lowercase(), pl.col("rating") > 0)
    wanted = run.irm(query="qid").judge(by_hand, query="text", doc="url", label="rating")
    assert judged.evaluate("rr", "map").equals(wanted.evaluate("rr", "map"))
    message = error(lambda: run.irm(query="qid").judge(qrels, query="text", doc=pl.col("link") + "/", grade="rating"))
    assert message.startswith("judge: doc=<polars.Expr>: there is no column 'link' among 'text', 'url', 'rating'")
    saved = judged.per_query("rr").with_columns(value=pl.col("value") / 2)
    twice = saved.irm(query="qid", value=pl.col("value") * 2)
    assert judged.compare("rr", baseline=twice)["difference"].to_list() == [0.0]


def test_engines_say_what_selects_first() -> None:
    """A relation of DuckDB takes names of columns, and says the line that makes one; so do streams of Arrow."""
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.connect().from_arrow(LOG.to_arrow())
    assert error(lambda: IRM(relation, query="qid", score=-pl.col("distance")).audit()) == (
        "score=<polars.Expr>: a duckdb.DuckDBPyRelation takes names of columns; make it one: "
        "relation.project('*, -distance as score')"
    )
    dask = pytest.importorskip("dask.dataframe").from_pandas(LOG.to_pandas(), npartitions=2)
    assert error(lambda: IRM(dask, query="qid", score=lambda frame: -frame["distance"]).audit()) == (
        "score=<lambda>: a dask.DataFrame takes names of columns; make it one: frame.assign(score=-frame['distance'])"
    )
    stream = IRM(LOG.to_arrow().to_reader(), query="qid", score=-pl.col("distance"))
    assert error(stream.audit) == (
        "score=<polars.Expr>: a pyarrow.RecordBatchReader takes names of columns; a pyarrow Table takes expressions"
    )


def test_frames_of_narwhals() -> None:
    """A frame that narwhals wraps takes expressions of polars, and its results are wrapped."""
    narwhals = pytest.importorskip("narwhals")
    for native in (LOG, LOG.to_pandas(), LOG.to_arrow()):
        found = IRM(narwhals.from_native(native), **ROLES).evaluate("rr")
        assert type(found) is narwhals.DataFrame
        assert found["day"].to_list() == [1, 3]


def test_pieces_take_expressions(tmp_path: Path) -> None:
    """A file that is measured in pieces gives what its frame gives."""
    path = tmp_path / "log.parquet"
    LOG.write_parquet(path)
    irm = pl.scan_parquet(path).irm(**ROLES)
    assert in_pieces(irm).per_query("rr", "ndcg").collect().equals(LOG.irm(**ROLES).per_query("rr", "ndcg"))


def test_groups_of_pandas_have_no_irm() -> None:
    """A GroupBy of pandas says that by= names segments."""
    frame = LOG.to_pandas()
    for keys, said in (("day", "'day'"), (["day"], "['day']")):
        assert error(lambda keys=keys: frame.groupby(keys).irm, ColumnError) == (  # type: ignore[misc]
            f"a pandas.DataFrameGroupBy has no irm; give the frame, and name its segments: frame.irm(by={said})"
        )


@pytest.mark.parametrize(
    ("by", "said"),
    [(("day",), "'day'"), (("day", "query"), "['day', 'query']"), ((pl.col("day"),), "..."), ((), "...")],
)
def test_groups_of_polars_have_no_irm(by: tuple[Any, ...], said: str) -> None:
    """A GroupBy of polars says that by= names segments; one of a LazyFrame does not know its columns any more."""
    own = {} if by else {"of": "day"}
    assert error(lambda: LOG.group_by(*by, **own).irm, ColumnError) == (  # type: ignore[attr-defined]
        f"a polars.GroupBy has no irm; give the frame, and name its segments: frame.irm(by={said})"
    )
    assert error(lambda: LOG.lazy().group_by(*by, **own).irm, ColumnError) == (  # type: ignore[attr-defined]
        "a polars.LazyGroupBy has no irm; give the frame, and name its segments: frame.irm(by=...)"
    )


@pytest.mark.slow
def test_reports_and_pictures_have_the_columns_that_are_made() -> None:
    """A report, its sentences and pictures are those of columns made by hand."""
    by_hand = MADE.irm(query="qid", grade="clicks", by="day", label="label")
    irm = LOG.irm(**ROLES)
    assert irm.summary("rr").equals(by_hand.summary("rr"))
    assert "score of distance" in irm.report(metrics="rr", format="md")
    drawn, wanted = (one.plot.metrics("rr").to_json(indent=None) for one in (irm, by_hand))
    assert drawn == wanted


def test_a_plain_column_is_its_name() -> None:
    """pl.col() alone is the name of a column, which plays one part."""
    named = LOG.irm(query=pl.col("qid"), score=pl.col("distance"), grade="clicks")
    assert named.per_query("rr").equals(LOG.irm(query="qid", score="distance", grade="clicks").per_query("rr"))
    message = error(lambda: LOG.irm(query="qid", score=pl.col("distance"), extra={"d": "distance"}).audit())
    assert message == "extra='distance' is the score too; a column can have only one role"


def test_numbers_and_mappings() -> None:
    """Thresholds, columns of own metrics and scores of classes may be made too."""
    cases = pl.DataFrame({"p": [0.9, 0.4, 0.6], "least": [50, 50, 70], "ill": [1, 0, 1]})
    made = cases.irm(score="p", label="ill", threshold=pl.col("least") / 100).evaluate("accuracy")
    by_hand = cases.with_columns(pl.col("least") / 100).irm(score="p", label="ill", threshold="least")
    assert made.equals(by_hand.evaluate("accuracy"))
    classes = cases.irm(
        score={"no": 1 - pl.col("p"), "yes": "p"}, label=pl.col("ill").replace_strict({0: "no", 1: "yes"})
    )
    assert classes.evaluate("log_loss")["value"].item() == pytest.approx(
        cases.irm(score="p", label="ill").evaluate("log_loss")["value"].item()
    )
