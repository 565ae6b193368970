"""The formulas that docs/metrics/decisions.md prints for the 2x2 table, computed from the cells that are printed."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frame_metrics import IRM
from helpers import examples
from inside import Array, FullConfusion, metrics_of

PAGE = Path(__file__).parents[2] / "docs" / "metrics" / "decisions.md"
CELLS = ["tp", "fp", "fn", "tn", "up", "un"]
MEASURES = [metric.name for metric in metrics_of(FullConfusion)]
WORTHS = {"cost": {"fp": 2.0, "fn": 5.0}, "worth": {"tp": 2.0, "fp": -1.0, "fn": -3.0, "tn": 0.5}}
# The measures as they are asked for, where they have parameters.
ASKED = {
    "cost": "cost(fp=2.0, fn=5.0)",
    "utility": "utility(tp=2.0, fp=-1.0, fn=-3.0, tn=0.5)",
    "payoff with worths": "payoff(tp=2.0, fp=-1.0, fn=-3.0, tn=0.5)",
    "fbeta": "fbeta(beta=2)",
    "inverse_fbeta": "inverse_fbeta(beta=2)",
}
BETA = 2.0

# What is said in words, and why there is nothing to compute.
IN_WORDS = {
    "count": "the cells are counted from the rows below",
    "0 where the decision is a cutoff, a threshold or the retrieved set": "the law at a cutoff looks at it",
    "places without a document count too": "they are among the k places",
    "a class that is never predicted is left out of the mean": "the formula has an undefined value there",
    "a class of which the share is 0 is left out of the mean": "the formula has an undefined value there",
    "Of several classes: e is the sum over them of predicted share times prevalence": "not of the 2x2 table",
    "If all documents are of one class, its recall alone, which is specificity if none is relevant": "a reading",
    "Of several classes: the mean of the recalls of the classes that have rows": "not of the 2x2 table",
    "where every document has a decision, costs of 1 give the error rate": "the formula before it has every cost",
    "This is the sum over the classes l of P(l) G(l), times the share of documents with a decision": "a reading",
    "Only documents with a decision count in what follows": "a reading",
    "P(l) is the share of them that is decided to be l": "a reading",
    "G(l), which is recall(l) - fallout(l), is what those win together, over the number of all: a document that is l "
    "wins 1 / prevalence(l), another one loses 1 / (1 - prevalence(l))": "a reading",
    "trec_eval's defaults are 1, -1, 0, 0": "the defaults of the parameters",
}
# Measures with a value, as declared, where a part of their formula is undefined.
FILLED = {"fbeta", "inverse_fbeta", "avg_f", "avg_g", "balanced_accuracy"}

DECIDED, CUT = "where every document has a decision", "at a cutoff k"
CONDITION = re.compile(rf"({DECIDED}|{CUT}|in general|with worths|at fair odds), (.*)")
TOKEN = re.compile(r"\s*(?:(?:cost|worth)\((?:tp|fp|fn|tn)\)|[A-Za-z_]\w*|\d+|[-+*/^(),])")


def python(text: str, known: set[str]) -> str | None:
    """An expression of Python with the meaning of a formula, in which what stands side by side is multiplied."""
    out: list[str] = []
    tokens = [token.strip() for token in TOKEN.findall(text)]
    if "".join(tokens) != re.sub(r"\s", "", text):
        return None
    for token in tokens:
        word = token[0].isalnum() or token[0] == "_"
        if word and token[0].isalpha() and token not in known:
            return None
        ends = bool(out) and (out[-1] == ")" or out[-1][-1].isalnum() or out[-1][-1] == "]")
        if ends and (word or (token == "(" and out[-1] not in ("sqrt", "min"))):
            out.append("*")
        out.append("**" if token == "^" else re.sub(r"(\w+)\((\w+)\)", r"\1['\2']", token))
    return " ".join(out)


class Formula:
    """A piece of a formula: where it holds, the expressions that are equal, and the letters it defines."""

    def __init__(self, text: str) -> None:
        known = {*MEASURES, *"NRkse", "alpha", "beta", "S", "U", "Y", "Z", "sqrt", "min"}
        known |= {f"{kind}({cell})" for kind, cells in WORTHS.items() for cell in cells}
        match = CONDITION.fullmatch(text)
        self.where, rest = match.groups() if match else ("", text)
        sides, _, letters = rest.partition(" with ")
        self.sides = [python(side, known) for side in sides.split(" = ")]
        pairs = [letter.partition(" = ") for letter in letters.split(", ") if letter]
        self.letters = {name: python(value, known) for name, _, value in pairs}
        self.parsed = None not in self.sides and None not in self.letters.values()

    def values(self, table: dict[str, Any]) -> list[Array]:
        """What each side is with these cells, measures and letters."""
        names = {**table, **WORTHS, "sqrt": np.sqrt, "min": np.minimum, "beta": BETA}
        with np.errstate(divide="ignore", invalid="ignore"):
            for name, value in self.letters.items():
                names[name] = eval(str(value), {"__builtins__": {}}, names)
            return [eval(str(side), {"__builtins__": {}}, names) * np.ones(len(table["N"])) for side in self.sides]


@cache
def printed() -> dict[str, list[str]]:
    """The pieces of the formula of each measure on the page."""
    page = PAGE.read_text(encoding="utf-8")
    found = re.findall(r"^### (\w+)$.*?^- Formula: (.*?)\.?$", page, re.MULTILINE | re.DOTALL)
    return {name: re.split(r"; |\. ", text) for name, text in found}


def formulas(name: str) -> list[Formula]:
    return [formula for formula in map(Formula, printed()[name]) if formula.parsed]


def test_every_formula_is_computed_or_listed() -> None:
    """Each piece of a formula is arithmetic, or stands in the list of what is said in words."""
    assert sorted(printed()) == sorted(MEASURES)
    words = {text for pieces in printed().values() for text in pieces if not Formula(text).parsed}
    assert words == set(IN_WORDS)
    assert [name for name in MEASURES if not formulas(name)] == ["tp", "fp", "fn", "up", "un"]


def table_rows(seed: int, tables: int = 400, undecided: float = 0.3) -> pl.DataFrame:
    """Rows of many small tables: labels, decisions of which some are missing, weights."""
    rng = np.random.default_rng(seed)
    table = np.repeat(np.arange(tables), rng.integers(1, 12, tables))
    n = len(table)
    said = pl.Series(rng.integers(0, 2, n)).set(pl.Series(rng.random(n) < undecided), None)
    columns = {"table": table, "label": rng.integers(0, 2, n), "predicted": said, "w": rng.integers(1, 9, n) / 8}
    return pl.DataFrame(columns)


def asked_for() -> list[str]:
    return [ASKED.get(name, name) for name in [*MEASURES, "payoff with worths"]]


def given_by(found: pl.DataFrame, n: Array, **letters: float) -> dict[str, Any]:
    """The values that formulas read, by their names."""
    names = dict(zip([*MEASURES, "payoff with worths"], asked_for(), strict=True))
    columns = {name: found[text].fill_null(np.nan).to_numpy() for name, text in names.items()}
    return {**columns, "N": n, "R": columns["tp"] + columns["fn"] + columns["up"], **letters}


def agrees(name: str, table: dict[str, Any], *, cut: bool = False) -> None:
    """Check a measure against the pieces of its formula that hold of these tables."""
    pieces = formulas(name)
    if any(piece.where == CUT for piece in pieces):
        pieces = [piece for piece in pieces if (piece.where == CUT) == cut]
    for piece in pieces:
        mine = table["payoff with worths" if piece.where == "with worths" else name]
        here = table["up"] + table["un"] == 0 if piece.where == DECIDED else np.ones(len(mine), bool)
        assert here.any()
        for side in piece.values(table):
            known = np.isfinite(side) & here
            assert known.any(), name
            assert np.isfinite(mine[known]).all(), (name, piece.where)
            np.testing.assert_allclose(mine[known], side[known], rtol=1e-12, atol=1e-12, err_msg=name)
            if name not in FILLED:
                assert np.isnan(mine[here & ~known]).all(), (name, piece.where)


WAYS: dict[str, dict[str, Any]] = {
    "rows": {},
    "weighted": {"weight": "w"},
    "of the others": {"positive": 0},
    "in a collection": {"collection_size": 30},
}


@cache
def of_segments(way: str) -> dict[str, Any]:
    """The printed measures of many tables, one for each segment."""
    rows = table_rows(0)
    irm = IRM(rows, by="table", undefined="null", **WAYS[way])
    found = irm.evaluate(*asked_for(), layout="wide").sort("table")
    size = rows.group_by("table").agg(n=pl.len(), w=pl.col("w").sum()).sort("table")
    n = {"weighted": size["w"], "in a collection": pl.Series([30.0] * len(size))}.get(way, size["n"])
    return given_by(found, n.cast(pl.Float64).to_numpy())


@cache
def of_queries() -> dict[str, Any]:
    """The printed measures of the same tables, one for each query."""
    irm = IRM(table_rows(0), query="table", predicted="predicted", undefined="null")
    found = irm.per_query(*asked_for(), layout="wide").drop("answered").sort("table")
    return given_by(found, table_rows(0).group_by("table").len().sort("table")["len"].cast(pl.Float64).to_numpy())


@cache
def of_classes() -> dict[str, Any]:
    """The printed measures of each of three classes against the rest, in many segments."""
    rng = np.random.default_rng(1)
    table = np.repeat(np.arange(200), rng.integers(1, 12, 200))
    sides = {"label": rng.choice([*"abc"], len(table)), "predicted": rng.choice([*"abc?"], len(table))}
    rows = pl.DataFrame({"table": table, **sides})
    asked = [text for text in asked_for() if not text.startswith("payoff(")]
    each = IRM(rows, by="table", abstain=["?"], undefined="null").per_class(*asked)
    found = each.pivot("metric", index=["table", "class", "n"], values="value")
    found = found.with_columns(pl.lit(None, pl.Float64).alias(ASKED["payoff with worths"]))
    return given_by(found, found["n"].cast(pl.Float64).to_numpy())


COMPUTED = [name for name in MEASURES if name not in ("tp", "fp", "fn", "up", "un")]
EACH = pytest.mark.parametrize("name", COMPUTED)


@EACH
def test_a_printed_formula_gives_what_is_printed(name: str) -> None:
    """On random tables with undecided rows, of segments, weighted, inverted, in a collection, and of queries."""
    for table in [*map(of_segments, WAYS), of_queries()]:
        agrees(name, table)


@EACH
def test_a_printed_formula_gives_what_is_printed_of_classes(name: str) -> None:
    """So it is of each class against the rest."""
    if name != "payoff":
        agrees(name, of_classes())


def test_printed_formulas_at_a_cutoff_and_of_the_retrieved_set() -> None:
    """Where a cutoff or the retrieved set decides nothing is undecided, and the formulas are those of four cells."""
    rng = np.random.default_rng(2)
    query = np.repeat(np.arange(300), rng.integers(1, 8, 300))
    score = pl.Series(rng.random(len(query))).set(pl.Series(rng.random(len(query)) < 0.3), None)
    rows = pl.DataFrame({"query": query, "label": rng.integers(0, 2, len(query)), "score": score})
    irm = IRM(rows, query="query", collection_size=12, undefined="null")
    for at in ("@3", ""):
        names = {text + at: text for text in asked_for()}
        found = irm.per_query(*names, layout="wide").drop("answered").rename(names)
        table = given_by(found, np.full(300, 12.0), k=3)
        assert not table["up"].any()
        assert not table["un"].any()
        for name in COMPUTED:
            agrees(name, table, cut=bool(at))


def values_of(irm: IRM[pl.DataFrame], *asked: str) -> list[float | None]:
    found: list[float | None] = irm.evaluate(*asked)["value"].to_list()
    return found


@st.composite
def undecided_rows(draw: st.DrawFn) -> pl.DataFrame:
    """Some rows in groups, each decided or not."""
    decision = st.sampled_from([0, 1, None])
    rows = draw(st.lists(st.tuples(st.integers(0, 1), decision, st.integers(1, 9), st.integers(0, 2)), min_size=1))
    schema = {"label": pl.Int64, "predicted": pl.Int64, "w": pl.Float64, "group": pl.Int64}
    return pl.DataFrame([(a, b, w / 8, g) for a, b, w, g in rows], schema=schema, orient="row")


@examples(40)
@given(rows=undecided_rows())
def test_six_cells_are_all_rows(rows: pl.DataFrame) -> None:
    """Each row is in one of tp, fp, fn, tn, up and un: their sum is N, and each is a count of confusion()."""
    of = {(1, 1): "tp", (1, 0): "fp", (0, 1): "fn", (0, 0): "tn", (None, 1): "up", (None, 0): "un"}
    for weight in (None, "w"):
        irm = IRM(rows, weight=weight)
        cells = dict(irm.evaluate(*CELLS).select("metric", "value").iter_rows())
        counted = {of[said, true]: n for said, true, n in irm.confusion().iter_rows()}
        assert cells == pytest.approx(dict.fromkeys(CELLS, 0) | counted)
        assert sum(cells.values()) == pytest.approx(rows["w"].sum() if weight else len(rows))
    size = IRM(rows, collection_size=500).evaluate(*CELLS)["value"].sum()
    assert size == 500
    each = (
        IRM(rows, query="group", predicted="predicted").per_query(*CELLS, layout="wide").drop("answered").sort("group")
    )
    lengths = rows.group_by("group").len().sort("group")["len"]
    assert each.select(pl.sum_horizontal(CELLS)).to_series().to_list() == lengths.to_list()


@pytest.mark.slow
@examples(40)
@given(rows=undecided_rows())
def test_averages_where_decisions_are_missing(rows: pl.DataFrame) -> None:
    """Micro is the measure of the pooled rows, macro the mean over the queries, and cells are summed."""
    irm, asked = IRM(rows, query="group", predicted="predicted"), [text for text in asked_for() if text not in CELLS]
    for undefined in ("null", "zero"):
        micro = irm(undefined=undefined).evaluate(*asked, *CELLS, average="micro")["value"].to_list()
        whole = IRM(rows, undefined=undefined).evaluate(*asked, *CELLS)["value"].to_list()
        assert micro == pytest.approx(whole, abs=1e-12)
        each = irm(undefined=undefined).per_query(*asked, layout="wide").drop("answered")
        macro = irm(undefined=undefined).evaluate(*asked)["value"].to_list()
        assert macro == pytest.approx([each[name].mean() for name in asked], abs=1e-12)


@examples(40)
@given(rows=undecided_rows())
def test_informedness_is_that_of_the_decided_rows_times_their_share(rows: pl.DataFrame) -> None:
    """Whichever class is positive, of two classes and of two among several; undefined where one is left."""
    decided = rows.drop_nulls("predicted")
    for weight in (None, "w"):
        total = {None: (len(decided), len(rows)), "w": (decided["w"].sum(), rows["w"].sum())}[weight]
        ways: list[dict[str, Any]] = [{}, {"positive": 0}, {"classes": [0, 1]}]
        found = [values_of(IRM(rows, weight=weight, **way), "informedness", "payoff") for way in ways]
        if decided["label"].n_unique() < 2:
            assert found == [[None, None]] * 3
            continue
        recall, fallout = values_of(IRM(decided, weight=weight), "recall", "fallout")
        assert recall is not None
        assert fallout is not None
        expected = (recall - fallout) * total[0] / total[1]
        assert found == [[pytest.approx(expected, abs=1e-12)] * 2] * 3
