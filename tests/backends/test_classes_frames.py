"""The verbs about decisions on every kind of frame: the same numbers, and columns that come back as they went in."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from enum import Enum
from functools import cache
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from frame_metrics import IRM, FrameMetricsError, NotComputableError
from helpers import as_kind, as_polars, pairwise_cases

DAYS = [dt.date(2024, 3, i) for i in (1, 2, 3)]
S3 = {"a": "pa", "b": "pb", "c": "pc"}
# Two segments by day; two classes with scores; three classes with a score each, and clusters of them.
TWO = pl.DataFrame(
    {
        "day": ["mo", "mo", "mo", "di", "di", "di", "di", "mo"],
        "label": [1, 0, 1, 0, 1, 0, 1, 0],
        "predicted": [1, 1, 0, 0, 1, None, 1, 0],
        "score": [0.75, 0.5, 0.5, 0.25, 0.875, 0.5, 0.125, None],
        "w": [1.0, 2.0, 0.5, 1.0, 3.0, 1.0, 0.25, 1.0],
    }
)
MANY = pl.DataFrame(
    {
        "day": ["mo", "mo", "mo", "di", "di", "di", "di", "mo"],
        "label": ["a", "b", "c", "a", "a", "b", "c", "a"],
        "predicted": ["a", "c", "c", "b", "a", "b", None, "a"],
        "pa": [0.5, 0.25, 0.25, 0.25, 0.75, 0.25, 0.5, 0.5],
        "pb": [0.25, 0.25, 0.25, 0.5, 0.125, 0.5, 0.25, 0.25],
        "pc": [0.25, 0.5, 0.5, 0.25, 0.125, 0.25, 0.25, 0.25],
        "cluster": [7, 8, 9, 8, 7, 8, 9, 7],
    }
)
TABLE = ("precision", "recall", "kappa", "mcc", "tp")

Verb = Callable[[Any], Any]
VERBS: dict[str, tuple[pl.DataFrame, dict[str, Any], Verb]] = {
    "evaluate": (TWO, {}, lambda irm: irm.evaluate(*TABLE, "coverage", "roc_auc", "ks")),
    "evaluate at a threshold": (TWO, {"threshold": 0.5}, lambda irm: irm.evaluate(*TABLE)),
    "evaluate with weights": (TWO, {"weight": "w"}, lambda irm: irm.evaluate(*TABLE, "average_precision")),
    "evaluate wide": (TWO, {}, lambda irm: irm.evaluate(*TABLE, layout="wide")),
    "evaluate with intervals": (TWO, {}, lambda irm: irm.evaluate("recall", ci=0.5, resamples=20)),
    "evaluate wide with intervals": (
        TWO,
        {},
        lambda irm: irm.evaluate("recall", "tp", ci=0.5, resamples=20, layout="wide"),
    ),
    "evaluate classes": (MANY, {}, lambda irm: irm.evaluate(*TABLE, "accuracy", "perplexity")),
    "evaluate classes wide": (MANY, {}, lambda irm: irm.evaluate(*TABLE, average="weighted", layout="wide")),
    "evaluate scores of classes": (
        MANY,
        {"score": S3},
        lambda irm: irm.evaluate("roc_auc", "roc_auc(multi='ovo')", "log_loss", "brier", "ece"),
    ),
    "evaluate clusters": (
        MANY,
        {"predicted": "cluster", "match": "majority"},
        lambda irm: irm.evaluate("accuracy", "recall"),
    ),
    "per_class": (TWO, {}, lambda irm: irm.per_class("precision", "recall")),
    "per_class of grades": (
        TWO.rename({"label": "grade"}),
        {},
        lambda irm: irm.per_class("precision", "recall"),
    ),
    "per_class of classes": (MANY, {"score": S3}, lambda irm: irm.per_class("precision", "roc_auc")),
    "confusion": (TWO, {}, lambda irm: irm.confusion()),
    "confusion with weights": (TWO, {"weight": "w"}, lambda irm: irm.confusion()),
    "confusion of classes": (MANY, {}, lambda irm: irm.confusion()),
    "confusion in an order": (MANY, {"classes": ["c", "b", "a", "d"]}, lambda irm: irm.confusion()),
    "confusion of clusters": (MANY, {"predicted": "cluster", "match": "majority"}, lambda irm: irm.confusion()),
    "thresholds": (TWO, {}, lambda irm: irm.thresholds()),
    "thresholds with metrics": (TWO, {"weight": "w"}, lambda irm: irm.thresholds("f1", "kappa")),
    "best_threshold": (TWO, {}, lambda irm: irm.best_threshold("f1", subject_to={"fallout": 0.75})),
    "roc": (TWO, {}, lambda irm: irm.curve("roc")),
    "pr": (TWO, {}, lambda irm: irm.curve("pr")),
    "pr at levels": (TWO, {}, lambda irm: irm.curve("pr", levels=3)),
    "gain": (TWO, {}, lambda irm: irm.curve("gain", points=4)),
    "calibration": (TWO.drop_nulls("score"), {}, lambda irm: irm.curve("calibration", bins=4)),
    "calibration with weights": (
        TWO.drop_nulls("score"),
        {"weight": "w"},
        lambda irm: irm.curve("calibration", bins=4),
    ),
    "distribution": (TWO, {}, lambda irm: irm.curve("distribution", bins=4)),
    "audit": (TWO, {}, lambda irm: irm.audit()),
}
OF_QUERIES: dict[str, Verb] = {
    "roc of queries": lambda irm: irm.curve("roc", per="query"),
    "pr of queries at levels": lambda irm: irm.curve("pr", per="query", levels=3),
    "ndcg": lambda irm: irm.curve("ndcg@k", cutoffs=3),
    "ndcg of queries": lambda irm: irm.curve("ndcg@k", per="query", cutoffs=3),
    "thresholds of pooled queries": lambda irm: irm.thresholds("f1"),
    "evaluate": lambda irm: irm(threshold=0.5).evaluate("precision", "roc_auc"),
    "audit": lambda irm: irm(threshold=0.5).audit(),
}


def test_classes_of_moments_keep_their_zone(kind: str) -> None:
    """A class is the moment that it was, in the zone of its column; in pandas it was one of UTC without a zone."""
    moments = pl.Series([dt.datetime(2026, 1, day) for day in (1, 2, 3)]).dt.replace_time_zone("Europe/Vienna")
    found = as_polars(IRM(as_kind(pl.DataFrame({"label": moments, "predicted": moments}), kind)).per_class("f1"))
    assert found["class"].to_list() == moments.to_list()


def same(mine: Any, expected: pl.DataFrame) -> None:
    """Assert that a result of any kind has these rows and columns."""
    found = as_polars(mine)
    assert found.columns == expected.columns
    assert found.rows() == expected.rows()


def of_kind(frame: pl.DataFrame, kind: str) -> Any:
    """Return a frame as a kind; nullable: pandas with its own missing values."""
    if kind == "nullable":
        return frame.to_pandas().convert_dtypes()
    return as_kind(frame, kind)


FRAME_TYPES = {
    "polars": pl.DataFrame,
    "lazy": pl.LazyFrame,
    "pandas": pd.DataFrame,
    "pandas-arrow": pd.DataFrame,
    "nullable": pd.DataFrame,
    "pyarrow": pa.Table,
}


@cache
def of_polars(name: str, by: str | None = "day") -> Any:
    """What a verb gives a polars frame."""
    frame, roles, verb = VERBS[name]
    return verb(IRM(frame, by=by, **roles))


@pytest.mark.parametrize(("name", "kind", "by"), pairwise_cases(VERBS, FRAME_TYPES, [None, "day"]))
def test_kinds_agree(name: str, kind: str, by: str | None) -> None:
    """Every verb gives every kind of frame the same rows, in a frame of that kind."""
    frame, roles, verb = VERBS[name]
    mine = verb(IRM(of_kind(frame, kind), by=by, **roles))
    assert isinstance(mine, FRAME_TYPES[kind])
    same(mine, of_polars(name, by))


@pytest.mark.parametrize("kind", FRAME_TYPES)
@pytest.mark.parametrize("name", OF_QUERIES)
def test_kinds_agree_about_queries(name: str, kind: str) -> None:
    """Where rows are of queries, every kind of frame gives the same rows too."""
    frame = TWO.rename({"day": "qid"}).with_columns(run=pl.lit("x"))
    roles: dict[str, Any] = {"query": "qid", "system": "run"}
    mine = OF_QUERIES[name](IRM(of_kind(frame, kind), **roles))
    assert isinstance(mine, FRAME_TYPES[kind])
    same(mine, OF_QUERIES[name](IRM(frame, **roles)))


@pytest.mark.parametrize("name", [*VERBS, *(f"{name}, queries" for name in OF_QUERIES)])
@pytest.mark.parametrize("empty", [False, True])
def test_the_schema_of_a_plan(name: str, empty: bool) -> None:
    """The schema of a plan, known before anything is read, is that of its result and of the eager one."""
    if name in VERBS:
        frame, roles, verb = VERBS[name]
        roles = {**roles, "by": "day"}
    else:
        frame, roles = TWO.rename({"day": "qid"}).with_columns(run=pl.lit("x")), {"query": "qid", "system": "run"}
        verb = OF_QUERIES[name.removesuffix(", queries")]
    frame = frame.clear() if empty else frame
    plan = verb(IRM(frame.lazy(), **roles))
    assert isinstance(plan, pl.LazyFrame)
    declared, eager = plan.collect_schema(), verb(IRM(frame, **roles))
    assert list(declared.items()) == list(plan.collect().schema.items()) == list(eager.schema.items())
    assert plan.select(pl.len()).collect().item() == len(eager)


# Classes of every type

LABELS: dict[str, pl.Series] = {
    **{
        str(t): pl.Series([5, 3, 9], dtype=t)
        for t in (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64)
    },
    "Int64, wide": pl.Series([2**63 - 1, 2**63 - 2, -(2**63)]),
    "UInt64, wide": pl.Series([2**64 - 1, 2**64 - 2, 0], dtype=pl.UInt64),
    "Float32": pl.Series([0.1, 0.2, -0.3], dtype=pl.Float32),
    "Float64": pl.Series([0.1, 0.1 + 2**-54, -0.3]),
    "String": pl.Series(["b", "ü", ""]),
    "Categorical": pl.Series(["b", "c", "a"], dtype=pl.Categorical),
    "Enum": pl.Series(["b", "c", "a"], dtype=pl.Enum(["c", "not there", "b", "a"])),
    "Date": pl.Series([DAYS[1], DAYS[2], DAYS[0]]),
    "Datetime": pl.Series([dt.datetime(2024, 1, 1, h) for h in (2, 3, 1)]),
    "Duration": pl.Series([dt.timedelta(h) for h in (2, 3, 1)]),
    "Decimal": pl.Series([Decimal("1.10"), Decimal("1.20"), Decimal("0.5")]),
}
ORDER = {"Enum": [1, 0, 2], "String": [2, 0, 1]}
CODES = {"label": [0, 1, 2, 0, 0, 1], "predicted": [0, 2, 2, 1, None, 1]}


def listed(values: pl.Series) -> dict[str, Any]:
    """Roles that list classes in their order where they must be: numbers with fractions."""
    return {"classes": values.sort().to_list()} if values.dtype.is_float() or values.dtype.is_decimal() else {}


def coded(values: pl.Series, columns: dict[str, list[int | None]]) -> pl.DataFrame:
    """Return columns of values by their codes."""
    return pl.DataFrame({name: values.gather(pl.Series(codes)) for name, codes in columns.items()})


@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas-arrow", "pyarrow"])
@pytest.mark.parametrize("name", LABELS)
def test_classes_of_any_type(name: str, kind: str) -> None:
    """Classes of any type are counted alike, and come back as their own values, in their order."""
    values = LABELS[name]
    if name == "Enum" and kind == "pandas-arrow":  # which makes it text
        values = values.cast(pl.String)
    frame = coded(values, CODES)
    order = (
        None
        if kind == "pandas-arrow" and name == "Enum"
        else ORDER.get(name, values.cast(pl.String).arg_sort().to_list() if name == "Categorical" else None)
    )
    order = values.arg_sort().to_list() if order is None else order
    plain = pl.DataFrame(
        {side: pl.Series([None if c is None else order.index(c) for c in codes]) for side, codes in CODES.items()}
    )
    expected = IRM(plain).confusion()
    irm = IRM(as_kind(frame, kind), **listed(values))
    mine = as_polars(irm.confusion())
    shown = [None if code is None else str(values[order[code]]) for code in expected["predicted"]]
    assert mine["n"].to_list() == expected["n"].to_list()
    found = mine["predicted"].cast(pl.Date) if name == "Date" else mine["predicted"]  # pandas has no dates of its own
    assert [None if v is None else str(v) for v in found] == shown
    by_class = as_polars(irm.per_class("recall"))
    assert by_class["value"].to_list() == IRM(plain).per_class("recall")["value"].to_list()
    assert as_polars(irm.evaluate("kappa"))["value"].to_list() == IRM(plain).evaluate("kappa")["value"].to_list()


@pytest.mark.parametrize("name", LABELS)
def test_the_type_of_classes_is_kept(name: str) -> None:
    """Classes have the type of the label, categories being text, or are true and false; a plan says so beforehand."""
    frame = coded(LABELS[name], CODES)
    kind = pl.String if frame["label"].dtype in (pl.Categorical, pl.Enum) else frame["label"].dtype
    for verb, columns in (
        (lambda irm: irm.confusion(), ("predicted", "actual")),
        (lambda irm: irm.per_class("recall"), ("class",)),
    ):
        every = listed(LABELS[name])
        for roles in (every,) if every else ({}, {"positive": frame["label"][0]}):
            two = "positive" in roles
            found = (
                frame.filter(pl.col("label") != LABELS[name][2], pl.col("predicted") != LABELS[name][2])
                if two
                else frame
            )
            mine, plan = verb(IRM(found, **roles)), verb(IRM(found.lazy(), **roles))
            assert {mine.schema[column] for column in columns} == {pl.Boolean if two else kind}
            assert dict(plan.collect_schema()) == dict(mine.schema) == dict(plan.collect().schema)


BINARY: dict[str, pl.Series] = {
    "Boolean": pl.Series([False, True]),
    **{
        str(t): pl.Series([0, 1]).cast(t)
        for t in (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64, pl.Float32)
    },
    "Float64": pl.Series([0.0, 1.0]),
    "Decimal": pl.Series([Decimal("0.0"), Decimal("1.0")]),
}


PLAIN = pl.DataFrame({"label": [1, 0, 1, 0, 1], "predicted": [1, 1, 0, 0, None], "score": [5.0, 4.0, 3.0, 2.0, 1.0]})


def tables(frame: pl.DataFrame) -> list[pl.DataFrame]:
    """What four verbs say of two classes, but for the columns of classes."""
    irm = IRM(frame)
    per_class, confusion = irm.per_class("recall").drop("class"), irm.confusion().drop("predicted", "actual")
    return [irm.evaluate(*TABLE, "roc_auc"), irm.thresholds("f1"), per_class, confusion]


@cache
def plain_tables() -> list[pl.DataFrame]:
    """Those of two classes that are whole numbers."""
    return tables(PLAIN)


@pytest.mark.parametrize("other", BINARY)
@pytest.mark.parametrize("name", BINARY)
def test_two_classes_of_any_type(name: str, other: str) -> None:
    """Bool, and 0 and 1 of any type, on either side, are two classes of which 1 is relevant."""
    label = BINARY[name].gather(PLAIN["label"])
    frame = PLAIN.with_columns(label=label, predicted=BINARY[other].gather(PLAIN["predicted"]))
    for one, expected in zip(tables(frame), plain_tables(), strict=True):
        assert one.equals(expected)
    mine, plan = IRM(frame).confusion(), IRM(frame.lazy()).confusion()
    assert dict(plan.collect_schema()) == dict(mine.schema)
    assert mine["actual"].dtype == label.dtype or name != other  # else a type that holds both
    assert mine["actual"].to_list() == [BINARY[name][0], BINARY[name][1]] * 3


@pytest.mark.parametrize(
    ("label", "predicted"),
    [
        (pl.Int64, pl.Float64),
        (pl.Int64, pl.Int8),
        (pl.UInt8, pl.Int32),
        (pl.Float32, pl.Int64),
        (pl.String, pl.Categorical),
    ],
)
def test_sides_of_different_types(label: Any, predicted: Any) -> None:
    """Label and prediction may have different types of numbers, or of text, whatever values either side lacks."""
    plain = pl.DataFrame({"label": [1, 2, 2, 1, 3], "predicted": [1, 2, 4, 4, 5]})
    text = label == pl.String
    side = plain.cast(pl.String) if text else plain
    frame = side.with_columns(pl.col("label").cast(label), pl.col("predicted").cast(predicted))
    expected, mine = IRM(plain).confusion(), IRM(frame).confusion()
    assert mine["n"].to_list() == expected["n"].to_list()
    assert IRM(frame).evaluate("accuracy")["value"].to_list() == [0.4]
    assert dict(IRM(frame.lazy()).confusion().collect_schema()) == dict(mine.schema)


@pytest.mark.parametrize("match", ["best", "majority"])
def test_clusters_of_numbers_leave_the_type_of_the_classes(match: Any) -> None:
    """Clusters that are numbered otherwise than the classes are no classes, in a plan as in its result."""
    rows = pl.LazyFrame({"label": [1, 2, 1], "predicted": [5.0, 15.0, 5.0]}).irm(match=match)
    for plan in (rows.per_class("recall"), rows.confusion()):
        column = "class" if "class" in plan.collect_schema() else "matched"
        assert plan.collect_schema()[column] == pl.Int64
        assert plan.collect().schema == plan.collect_schema()


def test_halves_predicted_of_whole_classes() -> None:
    """A prediction that no class equals is wrong, and a class of its own."""
    frame = pl.DataFrame({"label": [3, 3, 1, 2], "predicted": [3.0, 3.0, 1.0, 2.5]})
    irm = IRM(frame, classes=[1, 2, 2.5, 3])
    assert irm.evaluate("accuracy")["value"].to_list() == [0.75]
    some = irm.confusion().filter(pl.col("n") > 0)
    assert some.rows() == [(1, 1, 1), (2.5, 2, 1), (3, 3, 2)]


@pytest.mark.parametrize("predicted", [pl.Null, pl.Int64, pl.String])
def test_nothing_is_predicted(predicted: Any) -> None:
    """A column without any prediction, of whatever type, is no prediction for every row."""
    frame = MANY.select("label", pl.lit(None, dtype=predicted).alias("predicted"))
    mine = IRM(frame).evaluate("accuracy", "coverage", "recall")
    assert mine["value"].to_list() == [0, 0, 0]
    table = IRM(frame).confusion()
    assert table.filter(pl.col("n") > 0).rows() == [(None, "a", 4), (None, "b", 2), (None, "c", 2)]


@pytest.mark.parametrize(
    "types", [(pl.Null, pl.Null), (pl.String, pl.Boolean), (pl.Null, pl.String), (pl.Int8, pl.Null)]
)
@pytest.mark.parametrize("roles", [{"query": "query"}, {}, {"classes": ["a", "b"]}, {"classes": [0, 1]}])
def test_the_schema_of_a_plan_without_labels(types: Any, roles: Any) -> None:
    """Where labels have no value, or no type, a plan says what types its result has."""
    label, predicted = (pl.Series([], dtype=dtype) for dtype in types)
    plan = pl.LazyFrame({"query": pl.Series([], dtype=pl.Int8), "label": label, "predicted": predicted})
    plan = plan if "query" in roles else plan.drop("query")
    try:
        IRM(plan.collect(), **roles).confusion()
    except FrameMetricsError:  # classes that such labels cannot be
        assert roles.get("classes") in (["a", "b"], [0, 1])
        return
    for result in (IRM(plan, **roles).confusion(), IRM(plan, **roles).per_class("recall")):
        assert result.collect_schema() == result.collect().schema


@pytest.mark.parametrize("n", [0, 2])
@pytest.mark.parametrize("roles", [{"threshold": 0.5}, {"predicted": "predicted"}], ids=str)
def test_the_schema_of_a_plan_of_nulls_alone(roles: dict[str, Any], n: int) -> None:
    """Where nothing is known of labels and predictions they are yes and no, in the plan and in its result."""
    nothing = pl.Series([None] * n, dtype=pl.Null)
    plan = pl.LazyFrame({"label": nothing, "predicted": nothing, "score": pl.Series([0.5] * n, dtype=pl.Float64)})
    irm = IRM(plan, **{"label": "label", "predicted": None, "score": "score", "unjudged": "drop"} | roles)
    for result in (irm.confusion(), irm.per_class("recall")):
        assert result.collect_schema() == result.collect().schema


# pandas

PANDAS_LABELS: dict[str, Callable[[list[str | None]], pd.Series]] = {
    "object": lambda v: pd.Series(v, dtype=object),
    "string": lambda v: pd.Series(v, dtype="string"),
    "category": lambda v: pd.Series(v, dtype="category"),
    "Arrow": lambda v: pd.Series(v, dtype=pd.ArrowDtype(pa.string())),
    "dictionary": lambda v: pd.Series(v, dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))),
}


@pytest.mark.parametrize("other", PANDAS_LABELS)
@pytest.mark.parametrize("name", PANDAS_LABELS)
def test_classes_of_pandas_text(name: str, other: str) -> None:
    """Classes may be text of any type of pandas, missing predictions included."""
    label, said = MANY["label"].to_list(), MANY["predicted"].to_list()
    frame = pd.DataFrame({"label": PANDAS_LABELS[name](label), "predicted": PANDAS_LABELS[other](said)})
    same(IRM(frame).confusion(), MANY.irm.confusion())
    same(IRM(frame).per_class("precision"), MANY.irm.per_class("precision"))


class Animal(Enum):
    """Labels that are read as their text."""

    CAT, DOG, OWL = "cat", "dog", "owl"


ZONED = [dt.datetime(2024, 3, 1 + i, tzinfo=dt.timezone(dt.timedelta(hours=2))) for i in range(3)]
# Three values of each type of pandas, and the type that classes have where it is another.
PANDAS_CLASSES: dict[str, tuple[Any, Any]] = {
    "days": (pd.Series(DAYS), None),
    "times": (pd.Series([dt.time(hour) for hour in range(3)]), None),
    "moments as objects": (pd.Series([dt.datetime(2024, 3, 1 + i) for i in range(3)], dtype=object), None),
    "moments in seconds": (pd.Series(pd.to_datetime(DAYS)).astype("datetime64[s]"), None),
    "moments of a zone": (pd.Series(ZONED), None),
    "moments of a zone as objects": (pd.Series(ZONED, dtype=object), None),
    "lengths as objects": (pd.Series([dt.timedelta(i) for i in range(3)], dtype=object), None),
    "lengths in seconds": (pd.Series([dt.timedelta(i) for i in range(3)]).astype("timedelta64[s]"), None),
    "decimals": (pd.Series([Decimal(i) / 10 for i in range(3)]), None),
    "nullable integers": (pd.Series([1, 2, 3], dtype="Int16"), None),
    "nullable floats": (pd.Series([0.5, 1, 2], dtype="Float32"), None),
    "nullable text": (pd.Series(["a", "b", "c"], dtype="string"), None),
    "numbers as objects": (pd.Series([1, 2, 3], dtype=object), None),
    "text as objects": (pd.Series(["a", "b", "c"], dtype=object), None),
    "Python's enums": (pd.Series([*Animal]), None),
    "uuids": (pd.Series([UUID(int=i) for i in range(3)]), None),
    "several types": (pd.Series([1, "a", 2.5], dtype=object), None),
    "days of Arrow": (pd.Series(DAYS, dtype=pd.ArrowDtype(pa.date32())), None),
    "categories of text": (pd.Series(["a", "b", "c"], dtype="category"), pd.Series(["a"]).dtype),
    "categories of days": (pd.Series(DAYS, dtype="category"), np.dtype(object)),
    "sparse numbers": (pd.Series([1, 2, 3], dtype=pd.SparseDtype("float64")), None),
}


@pytest.mark.parametrize("name", PANDAS_CLASSES)
def test_classes_of_pandas_come_back_as_they_are(name: str) -> None:
    """Of the type of the labels, also one that is predicted and never true; categories as their values."""
    values, other = PANDAS_CLASSES[name]
    frame = pd.DataFrame({"label": values.iloc[[0, 1, 0]].reset_index(drop=True), "predicted": values})
    irm = frame.irm(**({"classes": values.to_list()} if name in ("decimals", "nullable floats") else {}))
    for classes in (irm.confusion()["actual"], irm.confusion()["predicted"], irm.per_class("recall")["class"]):
        assert classes.dtype == (values.dtype if other is None else other)
        assert {*classes} == {*values}
        assert other is not None or {*map(type, classes)} == {*map(type, values)}
    totals = irm.confusion(margins=True)["actual"]
    assert totals.isna().sum() == 4
    assert {*totals.dropna()} == {*values}


def test_dictionaries_of_several_orders() -> None:
    """An ordered dictionary that differs from chunk to chunk, or has a null or a text twice, has no order."""

    def coded(at: list[int], texts: list[str | None]) -> pa.DictionaryArray:
        return pa.DictionaryArray.from_arrays(pa.array(at), pa.array(texts), ordered=True)

    one, other = coded([0, 1, 2], ["a", "b", "c"]), coded([0, 1, 2], ["c", "b", "a"])
    alike = pa.chunked_array([one, one])
    twice = coded([0, 1, 2, 3, 0, 1], ["a", "b", "c", "a"])
    null = coded([0, 1, 2] * 2, ["a", "b", "c", None])
    weighted = "kappa(weights='linear')"
    assert IRM(pa.table({"label": alike, "predicted": alike})).evaluate(weighted)["value"].to_pylist() == [1]
    for wrong in (pa.chunked_array([one, other]), twice, null):
        with pytest.raises(NotComputableError, match="have no order"):
            IRM(pa.table({"label": alike, "predicted": wrong})).evaluate(weighted)


def test_predictions_may_be_the_text_of_labels() -> None:
    """A class comes back as the labels have it, and one that is predicted alone as the predictions have it."""
    ids = [UUID(int=i) for i in range(3)]
    frame = pd.DataFrame({"label": [*ids[:2], ids[0]], "predicted": [*map(str, ids)]})
    assert frame.irm().confusion()["actual"].unique().tolist() == [*ids[:2], str(ids[2])]


def test_ordered_categories_keep_their_order() -> None:
    """Ordered categories, Enums and ordered dictionaries give classes their order, and mistakes weigh by it."""
    levels = ["low", "not there", "mid", "high"]
    label, said = ["high", "low", "mid", "low"], ["mid", "low", "high", "high"]
    ordered = pd.DataFrame({"label": label, "predicted": said}).astype(pd.CategoricalDtype(levels, ordered=True))
    plain = pl.DataFrame({"label": label, "predicted": said})
    enum = plain.cast(pl.Enum(levels))
    named = IRM(plain, classes=["low", "mid", "high"])
    weighted = "kappa(weights='quadratic')"
    coded = [held.combine_chunks() for held in enum.to_arrow().columns]
    coded = [pa.DictionaryArray.from_arrays(held.indices, held.dictionary, ordered=True) for held in coded]
    table = pa.table(coded, names=enum.columns)
    arrow = (table, table.to_batches()[0], table.to_pandas(types_mapper=pd.ArrowDtype))
    for frame in (ordered, enum, enum.lazy(), enum.to_arrow(), *arrow):
        assert as_polars(IRM(frame).per_class("recall"))["class"].to_list() == ["low", "mid", "high"]
        assert as_polars(IRM(frame).confusion())["actual"].to_list() == ["low", "mid", "high"] * 3
        assert (
            as_polars(IRM(frame).evaluate(weighted))["value"].to_list() == named.evaluate(weighted)["value"].to_list()
        )
    others = enum.with_columns(pl.col("predicted").cast(pl.Enum(levels[::-1])))
    dictionaries = as_kind(plain.cast(pl.Categorical), "pandas-arrow")
    for frame in (plain, plain.cast(pl.Categorical), plain.to_pandas().astype("category"), dictionaries, others):
        with pytest.raises(NotComputableError, match="texts of label have no order; list 'high', 'low', 'mid' from"):
            IRM(frame).evaluate(weighted)
    letters = plain.with_columns(pl.all().replace_strict({"low": "a", "mid": "b", "high": "c"})).to_pandas()
    letters = letters.astype(pd.CategoricalDtype(["a", "b", "c"], ordered=True))  # in the order of the alphabet too
    assert IRM(letters).evaluate(weighted)["value"].to_list() == named.evaluate(weighted)["value"].to_list()
    numbers = plain.with_columns(pl.all().replace_strict({"low": 0, "mid": 2, "high": 3}))
    assert IRM(numbers).evaluate(weighted)["value"].to_list() == named.evaluate(weighted)["value"].to_list()


def test_missing_predictions_of_pandas() -> None:
    """NaN of a numpy column, None and NA are no prediction."""
    expected = TWO.irm.confusion()
    for dtype in ("float64", "Int64", object, "boolean"):
        said = [None if p is None else bool(p) if dtype == "boolean" else p for p in TWO["predicted"]]
        frame = pd.DataFrame({"label": TWO["label"].to_list(), "predicted": pd.Series(said, dtype=dtype)})
        assert as_polars(IRM(frame).confusion())["n"].to_list() == expected["n"].to_list()


# Keys

KEYS: dict[str, pl.Series] = {
    "Int64": pl.Series([2**63 - 1, -(2**63)]),
    "UInt8": pl.Series([3, 1], dtype=pl.UInt8),
    "Float64": pl.Series([0.1, -0.3]),
    "Boolean": pl.Series([True, False]),
    "String": pl.Series(["b", "ä"]),
    "Categorical": pl.Series(["b", "a"], dtype=pl.Categorical),
    "Enum": pl.Series(["b", "a"], dtype=pl.Enum(["b", "x", "a"])),
    "Date": pl.Series(DAYS[:2]),
    "Datetime zone": pl.Series([dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 2)]).dt.replace_time_zone(
        "Europe/Vienna"
    ),
    "Decimal": pl.Series([Decimal("1.10"), Decimal("1.20")]),
    "Binary": pl.Series([b"a", b"\xff"]),
    "Struct": pl.Series([{"a": 1}, {"a": 2}]),
}
KEYED: dict[str, Verb] = {
    "evaluate": lambda irm: irm.evaluate("precision", "roc_auc"),
    "margins": lambda irm: irm.evaluate("precision", margins=True),
    "per_class": lambda irm: irm.per_class("recall"),
    "confusion": lambda irm: irm.confusion(),
    "thresholds": lambda irm: irm.thresholds("f1"),
    "best_threshold": lambda irm: irm.best_threshold("f1"),
    "roc": lambda irm: irm.curve("roc"),
    "pr at levels": lambda irm: irm.curve("pr", levels=3),
    "calibration": lambda irm: irm.curve("calibration"),
}
KEY_CODES = [0, 1, None, 1, 0, None, 0, 1]


@cache
def of_one_key(verb: str, code: int | None) -> pl.DataFrame:
    """What a verb gives the rows of one key alone."""
    rows = TWO.filter(pl.Series(KEY_CODES).eq_missing(pl.Series([code], dtype=pl.Int64)))
    return KEYED[verb](IRM(rows.with_columns(pl.col("score").fill_null(0.0))))


@pytest.mark.parametrize("verb", KEYED)
@pytest.mark.parametrize("role", ["by", "system"])
@pytest.mark.parametrize("name", KEYS)
def test_keys_of_any_type(name: str, role: str, verb: str) -> None:
    """Segments and systems are told apart by values of any type, null being one; the column keeps type and values."""
    if verb == "margins" and role == "system":
        role = "by"
    scored = TWO.with_columns(pl.col("score").fill_null(0.0))
    key = KEYS[name].gather(pl.Series(KEY_CODES))
    frame = scored.with_columns(key=key)
    mine = KEYED[verb](IRM(frame, **{role: "key"}))
    plan = KEYED[verb](IRM(frame.lazy(), **{role: "key"}))
    assert mine["key"].dtype == key.dtype
    assert list(plan.collect_schema().items()) == list(mine.schema.items())
    assert plan.collect().equals(mine)
    for code in (0, 1, None):
        value = None if code is None else KEYS[name][code]
        rows = [row for row in mine.iter_rows(named=True) if row["key"] == value and not row.get("total_over")]
        own = [{k: v for k, v in row.items() if k not in ("key", "total_over")} for row in rows]
        expected = of_one_key("evaluate" if verb == "margins" else verb, code)
        if verb == "margins":
            expected = expected.filter(metric="precision")
        if verb == "confusion":  # where a row of another segment has no prediction, all segments say how many have none
            own, expected = [row for row in own if row["n"]], expected.filter(pl.col("n") > 0)
        assert own == expected.rows(named=True)


@pytest.mark.parametrize("kind", ["pandas", "pandas-arrow", "nullable", "pyarrow", "lazy"])
@pytest.mark.parametrize("verb", KEYED)
def test_null_keys_of_every_kind(verb: str, kind: str) -> None:
    """A null key is a segment of its own in every kind of frame, the last one."""
    scored = TWO.with_columns(pl.col("score").fill_null(0.0))
    for key in (KEYS["String"], KEYS["UInt8"]):
        frame = scored.with_columns(key=key.gather(pl.Series(KEY_CODES)))
        same(KEYED[verb](IRM(of_kind(frame, kind), by="key")), KEYED[verb](IRM(frame, by="key")))


def test_several_keys() -> None:
    """The pairs of several columns that occur are the segments, system first."""
    frame = TWO.with_columns(run=pl.Series(["y", "x"] * 4), level=pl.Series([2, 1, 2, 1, 1, 2, 1, 2]))
    mine = IRM(frame, system="run", by=["level", "day"]).confusion()
    pairs = frame.select("run", "level", "day").unique().sort("run", "level", "day")
    assert mine.select("run", "level", "day").unique(maintain_order=True).equals(pairs)
    assert mine["n"].sum() == len(frame)
    for run, level, day in pairs.rows():
        own, here = (f.filter(run=run, level=level, day=day) for f in (frame, mine))
        assert here["n"].sum() == len(own)
        right = here.filter(pl.col("predicted") == pl.col("actual"))["n"].sum()
        assert right == (own["label"] == own["predicted"]).sum()


# Names, sizes


def test_columns_called_as_results_do_no_harm() -> None:
    """Columns that play no part, or whose names the result does not have, may be called as columns of results."""
    names = [
        "value",
        "metric",
        "k",
        "n",
        "average",
        "tp",
        "threshold",
        "class",
        "actual",
        "fpr",
        "total_over",
        "n_undefined",
    ]
    more = TWO.with_columns(pl.lit("other").alias(name) for name in names)
    for verb in KEYED.values():
        irm = IRM(TWO.drop_nulls("score"), by="day")
        assert verb(IRM(more.drop_nulls("score"), by="day")).equals(verb(irm))
    renamed = TWO.rename({"label": "actual", "predicted": "n", "score": "threshold", "w": "value"})
    irm = IRM(renamed, label="actual", predicted="n", score="threshold", weight="value")
    plain = IRM(TWO, weight="w")
    for verb in (
        lambda i: i.evaluate("precision", "roc_auc"),
        lambda i: i.confusion(),
        lambda i: i.per_class("recall"),
        lambda i: i.thresholds("f1"),
        lambda i: i.curve("roc"),
    ):
        assert verb(irm).equals(verb(plain))
    assert IRM(TWO.rename({"day": "fpr"}), by="fpr").curve("pr").columns == ["fpr", "threshold", "recall", "precision"]


@pytest.mark.parametrize("kind", FRAME_TYPES)
@pytest.mark.parametrize("name", [name for name in VERBS if name != "audit"])
def test_an_empty_frame(name: str, kind: str) -> None:
    """A frame without rows gives no segment, and the columns that it has with rows, in every kind."""
    frame, roles, verb = VERBS[name]
    mine = verb(IRM(of_kind(frame.clear(), kind), by="day", **roles))
    same(mine, of_polars(name).clear())


@pytest.mark.parametrize("kind", FRAME_TYPES)
@pytest.mark.parametrize("label", [0, 1])
def test_one_row(kind: str, label: int) -> None:
    """One row is enough."""
    frame = of_kind(pl.DataFrame({"label": [label], "predicted": [1], "score": [0.5]}), kind)
    irm = IRM(frame)
    assert as_polars(irm.evaluate("accuracy"))["value"].to_list() == [label]
    assert as_polars(irm.confusion())["n"].to_list() == [0, 0, 1 - label, label]
    assert as_polars(irm.per_class("recall"))["n"].to_list() == [1, 1]
    assert as_polars(irm.thresholds())["threshold"].to_list() == [float("inf"), 0.5]
    assert as_polars(irm.best_threshold("accuracy"))["accuracy"].to_list() == [1]
    assert as_polars(irm.curve("gain"))["share"].to_list() == [0, 1]
    assert as_polars(irm.curve("calibration")).rows() == [(0.5, label, 1)]
    assert len(as_polars(irm.evaluate("accuracy", ci=0.9))) == 1


@pytest.mark.parametrize("name", VERBS)
def test_the_order_of_rows_does_not_matter(name: str) -> None:
    """Rows in another order give the same result."""
    frame, roles, verb = VERBS[name]
    expected = of_polars(name).rows()
    mine = verb(IRM(frame.reverse(), by="day", **roles)).rows()
    assert len(mine) == len(expected)
    for row, other in zip(mine, expected, strict=True):
        assert row == pytest.approx(other, abs=1e-12)


@pytest.mark.parametrize("name", VERBS)
def test_the_source_is_not_modified(name: str) -> None:
    """No verb changes the frame that it reads."""
    frame, roles, verb = VERBS[name]
    for kind in ("polars", "pandas", "nullable"):
        source = of_kind(frame, kind)
        before = source.clone() if kind == "polars" else source.copy(deep=True)
        verb(IRM(source, by="day", **roles))
        assert source.equals(before)


@pytest.mark.parametrize("categories", [[1, 2, 3], [3, 2, 1], [True, False]])
def test_ordered_categories_of_numbers_are_numbers(categories: list[Any]) -> None:
    """Ratings whose best is listed first are named, matched and measured as those whose best is last."""
    kind = pd.CategoricalDtype(categories, ordered=True)
    first, last = categories[0], categories[-1]
    log = pd.DataFrame(
        {"query": [first, first], "doc": categories[:2], "score": [2, 1], "grade": [last, first]}
    ).astype({"query": kind, "doc": kind, "grade": kind})
    plain = pd.DataFrame({name: column.to_numpy(type(first)) for name, column in log.items()})
    assert log.irm.evaluate("ndcg")["value"].tolist() == plain.irm.evaluate("ndcg")["value"].tolist()
    assert log.irm.explain("ndcg", query=first)["gain"].tolist() == plain["grade"].astype(float).tolist()
    judged = log[["query", "doc", "score"]].irm.judge(plain[["query", "doc", "grade"]])
    assert judged.evaluate("ndcg")["value"].tolist() == plain.irm.evaluate("ndcg")["value"].tolist()
