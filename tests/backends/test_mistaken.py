"""Columns taken for something else: queries that were only found by name, and distances as scores, in every form."""

from __future__ import annotations

from typing import Any

import dask.dataframe as dd
import duckdb
import numpy as np
import polars as pl
import pytest

from frame_metrics import IRM, ColumnError, FrameMetricsError, Metric, metric
from helpers import KINDS, as_kind, as_polars, error
from inside import REGISTRY, FullRanking, in_pieces
from refusals import check

FORMS = (*KINDS, "pieces", "duckdb", "dask")
TURNED = "scores worse than chance in rankings"


def irm_of(frame: pl.DataFrame, form: str, **roles: Any) -> IRM[Any]:
    """Return a frame in one of its forms, with roles."""
    if form == "pieces":
        return in_pieces(IRM(frame, **roles))  # type: ignore[return-value]
    if form == "duckdb":
        return IRM(duckdb.from_arrow(frame.to_arrow()), **roles)
    if form == "dask":
        return IRM(dd.from_pandas(frame.to_pandas(), npartitions=2), **roles)
    return IRM(as_kind(frame, form), **roles)


def read(answer: Any) -> pl.DataFrame:
    """Return an answer as polars, one of Dask computed."""
    return as_polars(answer.compute() if hasattr(answer, "compute") else answer)


def shown_ads(n: int = 12, rows: int = 4) -> pl.DataFrame:
    """Ads that were shown for queries, with clicks and what a model says of them; one query has no click."""
    query = np.repeat(np.arange(n), rows)
    at = np.tile(np.arange(rows), n)
    label = ((at == query % rows) & (query > 0)).astype(int)
    return pl.DataFrame({"query": query, "score": (query * rows + at) % 7 / 8, "label": label, "doc": at})


# A query that was only found by name


@pytest.mark.parametrize("form", FORMS)
def test_scores_of_queries_that_were_only_found(form: str) -> None:
    """A metric of scores is an error that offers both meanings, with counts, and either of them passes."""
    frame = shown_ads()
    said = error(lambda: irm_of(frame, form).evaluate("roc_auc"), ColumnError)
    lacking = "" if form in ("pieces", "dask") else " (1 has one class only)"  # which a piece does not tell the others
    assert said == (
        f"roc_auc: 'query' was found by name. query='query' gives the mean over 12 queries{lacking}; query=None gives "
        "one value over all 48 rows, as scikit-learn does"
    )
    of = [read(irm_of(frame, form, query=query).evaluate("roc_auc"))["n"].item() for query in ("query", None)]
    assert of == [11, 48]


@pytest.mark.parametrize("form", FORMS)
def test_queries_of_one_row_that_were_only_found(form: str) -> None:
    """Where no query has two rows, any metric is an error, and the way out passes; audit() reports it."""
    frame = shown_ads().with_columns(query=pl.int_range(pl.len()))
    irm = irm_of(frame, form)
    for name, together in (("rr", ""), ("precision@1", ""), ("roc_auc", "; query=None takes all 48 rows together")):
        assert error(lambda name=name: irm.evaluate(name), ColumnError) == (  # type: ignore[misc]
            "'query' was found by name, and no query has two rows. query='query' takes each row for a ranking of its "
            f"own{together}; if another column says which rows belong together, name it with query="
        )
    assert read(irm_of(frame, form, query="query").evaluate("rr"))["n"].item() == 48
    assert read(irm_of(frame, form, query=None).evaluate("roc_auc"))["n"].item() == 48
    found = read(irm.audit()).filter(pl.col("severity") == "error")
    assert found["check"].to_list() == ["queries of one row"]
    assert found["n"].item() == 48


@pytest.mark.parametrize("form", FORMS)
def test_found_queries_are_a_finding(form: str) -> None:
    """The audit says what evaluate() would of some metrics; a gate does not stop a log of which others are computed."""
    irm = irm_of(shown_ads(), form)
    found = read(irm.audit()).filter(check="query found by name")
    assert found["severity"].to_list() == ["info"]
    assert read(irm.audit(fail_on="error")).equals(read(irm.audit()))
    assert read(irm.evaluate("rr", "ndcg@10"))["n"].to_list() == [12, 12]
    assert found["message"].item() == (
        "metrics of scores, as roc_auc, raise an error: 'query' was found by name. query='query' gives the mean over "
        "12 queries (1 has one class only); query=None gives one value over all 48 rows, as scikit-learn does"
    )
    for query in ("query", None):
        named = read(irm_of(shown_ads(), form, query=query).audit())
        assert "query found by name" not in named["check"].to_list()


@pytest.mark.parametrize("form", FORMS)
def test_a_query_found_beside_decisions_is_a_finding(form: str) -> None:
    """It is open whether each query has a table or all rows have one: audit() says so, and does not raise."""
    irm = irm_of(shown_ads(), form, threshold=0.5)
    said = error(lambda: irm.evaluate("f1"), ColumnError)
    found = read(irm.audit())
    assert found.select("check", "severity", "message").rows() == [("query found by name", "error", said)]
    assert read(irm_of(shown_ads(), form, threshold=0.5, query=None).evaluate("f1"))["n"].item() == 48


def _deep() -> Metric:
    """Return a metric of one's own, the number of results of a ranking, which the registry does not keep."""

    @metric()
    def deep(run: FullRanking) -> Any:
        """The number of results of a ranking."""
        return run.n_ret.astype(float)

    del REGISTRY["deep"]
    return deep


deep = _deep()


ADS = shown_ads()
SINGLE = ADS.with_columns(query=pl.int_range(pl.len()), position=1, two=2, device=pl.lit("web"), model=pl.lit("a"))
QRELS = ADS.filter(pl.col("label") == 1).select("query", "doc", "label")
LISTS = ADS.group_by("query", maintain_order=True).agg("doc", "score", "label")
PLACED = ADS.with_columns(rank=pl.int_range(pl.len()).over("query") + 1)
HALF = pl.col("score") / 2
DOUBT = r"""
ADS.irm(score="score").evaluate("roc_auc")
ADS.irm.evaluate("ndcg", "roc_auc")
    MistakenColumnError: roc_auc: 'query' was found by name.[...]
    but: ADS.irm.evaluate("ndcg", "rr", "precision@1")
    but: ADS.irm.evaluate("gauc")
    but: ADS.filter(query=1).irm.evaluate("roc_auc")
    but: ADS.irm.evaluate("roc_auc", average="macro")
    but: ADS.irm.per_query("roc_auc")
    but: ADS.irm.curve("roc")
    but: ADS.irm.thresholds("f1")
    but: ADS.irm.explain("rr", query=1)
    but: PLACED.irm(score="score", rank="rank").evaluate("roc_auc")
    but: ADS.drop("label").irm.judge(QRELS).evaluate("roc_auc")
    but: LISTS.irm.evaluate("roc_auc")
    but: ADS.with_columns(n=pl.lit(3)).irm(n_relevant="n").evaluate("roc_auc")
    but: ADS.irm(collection_size=9).evaluate("roc_auc")
    but: ADS.rename({"label": "grade"}).irm.evaluate("roc_auc")
ADS.with_columns(other=pl.col("score") * 2).irm(score=["score", "other"]).evaluate("brier")
ADS.with_columns(other=pl.col("score") * 2).irm(score=["score", "other"]).compare("brier")
    MistakenColumnError: brier: 'query' was found by name. query='query' gives the mean over 12 queries (1 has one class
        only); query=None gives one value over all 48 rows, as scikit-learn does
    but: ADS.with_columns(other=HALF).irm(score=["score", "other"]).compare("rr")
    but: ADS.with_columns(other=HALF).irm(score=["score", "other"], query=None).evaluate("brier")
    but: ADS.with_columns(other=HALF).irm(score=["score", "other"], query="query").compare("brier")
ADS.irm.summary("roc_auc")
ADS.irm.summary("rr", "roc_auc")
    MistakenColumnError: roc_auc: 'query' was found by name.[...]
    but: ADS.irm.summary("rr")
    but: ADS.irm(query=None).summary("roc_auc")
SINGLE.irm.evaluate(deep)
SINGLE.irm(score=None).evaluate("recall")
SINGLE.irm(by="device", system="model").evaluate("ap")
SINGLE.irm.summary("rr")
    MistakenColumnError: 'query' was found by name, and no query has two rows[...]
    but: SINGLE.irm(query="query").evaluate("ap", deep)
    but: SINGLE.irm(rank="position", score=None).evaluate("ap")
    but: SINGLE.irm(n_relevant="two").evaluate("ap")
    but: SINGLE.drop("label").irm.judge(QRELS.with_columns(query=pl.col("query").cast(pl.Int64))).evaluate("ap")
    but: SINGLE.rename({"label": "grade"}).irm.evaluate("ap")
    but: SINGLE.head(1).irm.evaluate("ap")
    but: SINGLE.select("query", ap="score").irm(value="ap").evaluate("ap")
    but: SINGLE.irm.per_query("ap")
    but: SINGLE.irm(query=["query", "device"]).evaluate("ap")
"""


def test_what_leaves_no_doubt() -> None:
    """A query that is named, a rank, lists, judgments, an average, or numbers of each query: rows are rankings."""
    check(DOUBT, globals())


# A distance as score of a ranking


def hits(systems: int = 1, n: int = 20) -> pl.DataFrame:
    """Results of systems: those of the first are ordered by a distance, of the others by a score."""
    rows = [
        (f"s{s}", q, d, (1 if s == 0 else -1) * float(d != q % 3) + d / 8, d == q % 3)
        for s in range(systems)
        for q in range(n)
        for d in range(5)
    ]
    return pl.DataFrame(rows, schema=["run", "query", "doc", "distance", "label"], orient="row")


@pytest.mark.parametrize("form", FORMS)
def test_a_distance_as_score_of_a_ranking(form: str) -> None:
    """It is a warning, of the first system alone, over all of its segments together."""
    frame = hits(2).with_columns(day=pl.col("query") % 2, label=pl.col("label").cast(pl.Int8))
    roles = {"query": "query", "score": "distance", "by": "day", "doc": "doc", "label": "label"}
    table = read(irm_of(frame, form, system="run", **roles).audit())
    (row,) = table.filter(pl.col("check") == TURNED).to_dicts()
    assert (row["severity"], row["n"], row["share"], row["example"]) == ("warning", 1, 0.5, "s0")
    assert row["message"].startswith("the mean area under the ROC curve of 20 queries of s0 is 0.")
    assert "Is distance a distance? Of negatives mined from its own top this is expected" in row["message"]


def forms_of_hits() -> dict[str, IRM[Any]]:
    """The same distances as lists, as columns of systems, with judgments beside them, and beside a rank."""
    frame = hits().drop("run").with_columns(pl.col("label").cast(pl.Int8))
    lists = frame.group_by("query", maintain_order=True).agg("doc", "distance", "label")
    gold = frame.filter(pl.col("label") == 1).select("query", "doc", "label")
    ranked = frame.with_columns(pl.col("distance").rank("ordinal").over("query").alias("rank"))
    both = frame.with_columns(better=-pl.col("distance"))
    named: dict[str, Any] = {"query": "query", "score": "distance"}
    return {
        "lists": lists.irm(**named),
        "columns": both.irm(query="query", score=["better", "distance"]),
        "judged": frame.drop("label").irm(**named).judge(gold),
        "relevant": lists.drop("label").join(gold.group_by("query").agg(relevant="doc"), on="query").irm(**named),
        "rank": ranked.irm(**named, rank="rank"),
        "found": frame.rename({"distance": "score"}).irm,
    }


@pytest.mark.parametrize("form", forms_of_hits())
def test_distances_in_other_forms(form: str) -> None:
    """Lists, columns of systems, judgments beside the log and a rank change nothing."""
    found = forms_of_hits()[form].audit().filter(pl.col("check") == TURNED)
    assert found["n"].to_list() == [1]
    assert f"Is {'score' if form == 'found' else 'distance'} a distance?" in found["message"].item()


def test_what_is_no_distance() -> None:
    """Too few queries, scores as good as chance, one bad system of many by chance, and equal scores find nothing."""
    frame = hits()
    named: dict[str, Any] = {"query": "query", "score": "distance", "label": "label"}
    for some in (
        frame.filter(pl.col("query") < 9),
        frame.with_columns(pl.col("distance") * -1),
        frame.with_columns(distance=pl.lit(1.0)),
        frame.with_columns(label=pl.lit(True)),
        frame.with_columns(pl.when("label").then("distance").alias("distance")),
    ):
        assert some.irm(**named).audit().filter(pl.col("check") == TURNED).is_empty()
    assert frame.filter(pl.col("query") < 10).irm(**named).audit().filter(pl.col("check") == TURNED)["n"].item() == 1


def test_a_difference_is_corrected_for_the_systems() -> None:
    """A mean area that is 3.1 standard errors below .5 is a finding of a single system, and not of one of two."""
    won = {"s0": 35, "s1": 50}
    rows = [(run, q, float(good == (q < won[run])), good) for run in won for q in range(100) for good in (True, False)]
    frame = pl.DataFrame(rows, schema=["run", "query", "score", "label"], orient="row")
    for some, n in ((frame.filter(run="s0"), [1]), (frame, []), (frame.filter(run="s1"), [])):
        assert some.irm(system="run").audit().filter(pl.col("check") == TURNED)["n"].to_list() == n


def test_the_summary_has_one_note() -> None:
    """The finding is a sentence of its own, and not counted among the other findings of the audit."""
    irm = hits().irm(query="query", score="distance", label="label")
    summary = irm.summary("rr")
    (note,) = summary.filter(kind="distance")["sentence"]
    assert note.startswith("The mean area under the ROC curve of 20 queries is")
    assert note.endswith("Of negatives mined from its own top this is expected.")
    assert not any(TURNED in one for one in summary.filter(kind="audit")["sentence"])
    assert error(lambda: irm.audit(fail_on="warning"), FrameMetricsError).count(TURNED) == 1
