"""Judgments of documents for single subtopics of a query, and the measures of several intents."""

from __future__ import annotations

from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from frame_metrics import (
    IRM,
    BadValueError,
    ColumnError,
    KernelError,
    NotComputableError,
    metrics,
    read_qrels,
    write_qrels,
)
from frame_metrics.command import main
from helpers import as_kind, as_polars, error, frame
from inside import FullRanking, in_pieces

# d1 is about two of three subtopics; nothing is relevant to a fourth.
JUDGED = frame(
    "query aspect doc grade",
    ("q", "s1", "d1", 1),
    ("q", "s2", "d1", 2),
    ("q", "s1", "d2", 1),
    ("q", "s3", "d3", 1),
    ("q", "s2", "d4", 0),
    ("q", "s4", "d4", 0),
)
RUN = frame("query doc score", ("q", "d2", 4.0), ("q", "d4", 3.0), ("q", "d1", 2.0), ("q", "d3", 1.0))
ASKED = (
    "alpha_dcg@4",
    "alpha_dcg",
    "alpha_dcg@1",
    "alpha_dcg(alpha=0)@2",
    "alpha_dcg(alpha=1)@3",
    "alpha_ndcg",
    "alpha_ndcg@1",
    "alpha_ndcg@3",
    "alpha_ndcg(rel=2)",
    "err_ia@4",
    "err_ia",
    "nerr_ia",
    "nerr_ia@2",
    "nrbp",
    "nrbp(alpha=0, beta=0.8)",
    "nnrbp",
    "map_ia",
    "p_ia@3",
    "p_ia@10",
    "p_ia",
    "strecall@2",
    "strecall@3",
    "strecall",
)


def judged(run: Any = RUN, qrels: Any = JUDGED, **roles: Any) -> Any:
    return IRM(run, **roles).judge(qrels, subtopic="aspect")


def values(irm: Any, *asked: Any) -> list[float | None]:
    found: list[float | None] = as_polars(irm.per_query(*asked))["value"].to_list()
    return found


def test_numbers_of_ndeval() -> None:
    """They are those of pyndeval 0.0.8, which calls the measures otherwise."""
    printed = {
        "ERR-IA@5": 0.4236006,
        "nERR-IA@5": 0.65625,
        "alpha-DCG@5": 0.4786980,
        "alpha-nDCG@5": 0.7569350,
        "MAP-IA": 0.4722222,
        "NRBP": 0.375,
        "nNRBP": 0.5714286,
    }
    assert values(judged(), *printed) == pytest.approx([*printed.values()], abs=5e-8)


@pytest.mark.parametrize(
    ("elsewhere", "ours"),
    [
        ("ERR_IA@5", "err_ia@5"),
        ("nERR_IA(rel=2)@5", "nerr_ia(rel=2)@5"),
        ("alpha_nDCG(alpha=0.3)@10", "alpha_ndcg(alpha=0.3)@10"),
        ("\N{GREEK SMALL LETTER ALPHA}_nDCG@10", "alpha_ndcg@10"),
        ("\N{GREEK SMALL LETTER ALPHA}DCG@10", "alpha_dcg@10"),
        ("AP_IA", "map_ia"),
        ("MAP-IA", "map_ia"),
        ("P_IA@5", "p_ia@5"),
        ("P-IA@5", "p_ia@5"),
        ("StRecall@5", "strecall@5"),
        ("strec@5", "strecall@5"),
        ("NRBP(alpha=0.5, beta=0.8)", "nrbp(alpha=0.5, beta=0.8)"),
        ("nNRBP", "nnrbp"),
    ],
)
def test_names_of_ir_measures_and_ndeval_are_read(elsewhere: str, ours: str) -> None:
    """They are other names of ours, in any case."""
    assert values(judged(), elsewhere) == values(judged(), ours)


@pytest.mark.parametrize("ids", [(10, 9, 8), ("c", "z", "b")])
def test_of_equal_gains_the_last_document_comes_first_in_the_ideal_order(ids: tuple[Any, ...]) -> None:
    """Ids are compared as text, where 9 is after 10."""
    pairs = zip((1, 2, 1, 3, 2, 4), np.repeat(np.array(ids, object), 2), strict=True)
    qrels = frame("query aspect doc grade", *(("q", aspect, doc, 1) for aspect, doc in pairs))
    run = frame("query doc score", *zip("qqq", (ids[1], ids[2], ids[0]), (3.0, 2.0, 1.0), strict=True))
    assert values(judged(run, qrels), "alpha_ndcg", "nerr_ia", "nnrbp") == pytest.approx([1] * 3, abs=1e-15)


def test_the_ideal_order_is_not_always_the_best() -> None:
    """With c first, which is like any other then, what is below has less; another order passes 1."""
    rows = [("q", aspect, doc, 1) for aspect, doc in ((1, "c"), (2, "c"), (1, "b"), (3, "b"), (2, "a"), (4, "a"))]
    run = frame("query doc score", ("q", "a", 3.0), ("q", "b", 2.0), ("q", "c", 1.0))
    best, greedy = 2 + 2 / log2(3) + 1 / 2, 2 + 1.5 / log2(3) + 1.5 / 2
    assert values(judged(run, frame("query aspect doc grade", *rows)), "alpha_ndcg") == pytest.approx([best / greedy])


def test_other_metrics_take_the_greatest_grade_of_a_document() -> None:
    """The log of documents with their greatest grades has the same values, and the same rows of explain()."""
    greatest = JUDGED.group_by("query", "doc", maintain_order=True).agg(pl.max("grade"))
    asked = ["ndcg", "ndcg@2", "ap", "map(rel=2)", "recall@3", "bpref", "infap", "judged@2", "num_rel"]
    plain = RUN.irm.judge(greatest)
    assert values(judged(), *asked) == values(plain, *asked)
    assert judged().explain("ndcg", query="q").equals(plain.explain("ndcg", query="q"))
    for of, more in (("ties", {}), ("unjudged", {"max_grade": 2})):
        assert judged().bounds("ndcg", of=of, **more).equals(plain.bounds("ndcg", of=of, **more))


def test_a_null_is_no_judgment_for_a_subtopic() -> None:
    """A row without a grade judges nothing, and may lack its subtopic; another row of the document still counts."""
    more = frame("query aspect doc grade", ("q", "s1", "d1", None), ("q", None, "d9", None), ("q", "s1", "d2", 1))
    nulls = judged(qrels=pl.concat([JUDGED, more]))
    assert values(nulls, *ASKED) == values(judged(), *ASKED)
    told = nulls.audit().filter(pl.col("check") == "judgments of a subtopic without a value")
    assert told["n"].to_list() == [2]
    assert judged().audit().filter(pl.col("check") == "judgments of a subtopic without a value").is_empty()


def test_labels_say_what_is_relevant_to_a_subtopic() -> None:
    """As grades from 1 on do; where every row is relevant they are all that there is."""
    labels = JUDGED.with_columns(label=pl.col("grade") > 0).drop("grade")
    asked = [name for name in ASKED if "rel=" not in name]
    assert values(judged(qrels=labels), *asked) == values(judged(), *asked)
    found = RUN.irm.judge(JUDGED.filter(pl.col("grade") > 0).drop("grade"), label=True, subtopic="aspect")
    assert values(found, *asked) == values(judged(), *asked)
    with pytest.raises(NotComputableError, match="rel= is a grade, and label says already what is relevant"):
        judged(qrels=labels).per_query("alpha_ndcg(rel=2)")


def test_judgments_in_lists() -> None:
    """A query's row may hold its documents, subtopics and grades as lists."""
    lists = JUDGED.group_by("query", maintain_order=True).agg(pl.all())
    assert values(judged(qrels=lists), *ASKED) == values(judged(), *ASKED)


def test_subtopics_may_be_made_by_an_expression() -> None:
    """As other columns may."""
    codes = JUDGED.with_columns(code=pl.col("aspect") + "/x").drop("aspect")
    found = RUN.irm.judge(codes, subtopic=pl.col("code").str.head(2))
    assert values(found, *ASKED) == values(judged(), *ASKED)


def test_condensed_lists() -> None:
    """Unjudged results are left out, as if they had not been retrieved."""
    run = pl.concat([RUN, frame("query doc score", ("q", "x", 9.0), ("q", "y", 2.5))])
    plain, dropped = values(judged(run), *ASKED), values(judged(run, unjudged="drop"), *ASKED)
    assert dropped == values(judged(), *ASKED) != plain
    assert values(judged(run), "alpha_ndcg(judged_only=True)@3") == values(judged(), "alpha_ndcg@3")


def test_a_document_that_is_not_retrieved_has_no_rank() -> None:
    """A null score says so; shown ranks with gaps are ranks."""
    run = RUN.with_columns(score=pl.when(pl.col("doc") != "d1").then("score"))
    assert values(judged(run), "strecall", "map_ia") == pytest.approx([2 / 3, (1 / 2 + 1 / 3) / 3])
    shown = frame("query doc rank", ("q", "d1", 2), ("q", "d3", 5))
    assert values(judged(shown), "nrbp", "p_ia@4", "strecall@4") == pytest.approx(
        [0.75 / 3 * (2 / 2 + 1 / 16), 2 / 12, 2 / 3]
    )


def test_queries_without_a_relevant_document_are_undefined() -> None:
    """They count as 0, and so does a judged query without results."""
    qrels = pl.concat([JUDGED, frame("query aspect doc grade", ("r", "s1", "d1", 0), ("t", "s1", "d1", 1))])
    run = pl.concat([RUN, frame("query doc score", ("r", "d1", 1.0))])
    found = judged(run, qrels).per_query("alpha_ndcg@2", "p_ia")
    assert found.filter(query="r")["undefined"].to_list() == [True, True]
    assert found.filter(query="t")["undefined"].to_list() == [False, True]
    assert found.filter(pl.col("query") != "q")["value"].to_list() == [0] * 4


# Ties


TIED = frame("query doc score", ("q", "d1", 2.0), ("q", "d2", 2.0), ("q", "d3", 1.0))


def test_equal_scores_of_documents_with_equal_grades() -> None:
    """They are ordered by document, whatever the order of the rows, and refused where a rule goes by the judgment."""
    expected = values(judged(TIED.with_columns(score=pl.Series([1.5, 2.0, 1.0]))), *ASKED)
    for run in (TIED, TIED[::-1]):
        assert values(judged(run), *ASKED) == expected
    assert values(judged(TIED, ties="order"), "map_ia") != values(judged(TIED[[1, 0, 2]], ties="order"), "map_ia")
    for ties in ("worst", "best", "expected"):
        with pytest.raises(NotComputableError, match=r"alpha_ndcg (is not bounded by|has no closed form for) ties="):
            values(judged(TIED, ties=ties), "alpha_ndcg")


def test_bounds_are_refused() -> None:
    """No order by grade bounds a measure of subtopics, nor does a judgment that is not there."""
    for of, said in (
        ("ties", "not bounded by the worst and the best order"),
        ("unjudged", "no bounds of unjudged rows"),
    ):
        with pytest.raises(NotComputableError, match=said):
            judged().bounds("alpha_ndcg", of=of)


def test_propensities_are_refused() -> None:
    """Weighing results does not correct what depends on the results above."""
    run = frame("query doc rank chance", ("q", "d1", 1, 1.0), ("q", "d2", 2, 0.5))
    with pytest.raises(NotComputableError, match="alpha_ndcg does not add up over the results"):
        values(judged(run, propensity="chance"), "alpha_ndcg")


# Errors


def test_a_column_of_subtopics_that_nobody_named_is_offered(tmp_path: Path) -> None:
    """To keep one judgment of each document would lose the others; of a column that is named nothing is said."""
    rows = JUDGED.rename({"aspect": "subtopic"})
    wanted = "; or name the column 'subtopic' too, judge(..., subtopic='subtopic')"
    assert error(lambda: RUN.irm.judge(rows).evaluate("ndcg"), BadValueError).endswith(wanted)
    assert "subtopic" not in error(lambda: RUN.irm.judge(JUDGED).evaluate("ndcg"), BadValueError)
    other = rows.rename({"subtopic": "annotator"})
    assert "annotator='annotator'" in error(lambda: RUN.irm.judge(other).evaluate("ndcg"), BadValueError)
    played = RUN.irm.judge(rows, annotator="subtopic")
    assert "or name the column" not in error(lambda: played.evaluate("ndcg"), BadValueError)
    twice = pl.concat([rows, rows.with_columns(grade=pl.lit(3, pl.Int64))])
    named = RUN.irm.judge(twice, subtopic="subtopic")
    assert "or name the column" not in error(lambda: named.evaluate("ndcg"), BadValueError)
    said = error(lambda: write_qrels(rows, tmp_path / "qrels.txt"))
    assert said.endswith("trec_eval refuses a file with them; pass subtopic='subtopic', or keep one of each")
    write_qrels(rows, tmp_path / "qrels.txt", subtopic="subtopic")
    assert read_qrels(tmp_path / "qrels.txt", subtopic=True).equals(rows)


def test_a_measure_of_subtopics_needs_them() -> None:
    """Before a value is read; the error says where they are named."""
    said = error(lambda: RUN.irm.judge(JUDGED[:1]).evaluate("alpha_nDCG@10"), ColumnError)
    assert said == (
        "alpha_nDCG@10 is about subtopics of queries; name their column in judge(qrels, subtopic=), which of a file "
        "read_qrels(path, subtopic=True) reads"
    )
    with pytest.raises(ColumnError, match="name their column in judge"):
        RUN.with_columns(grade=1).irm.per_query("strecall")
    assert "subtopic='aspects' is not among" in error(lambda: RUN.irm.judge(JUDGED, subtopic="aspects"), ColumnError)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([("q", None, "d1", 1)], "aspect (of the judgments): 1 of 7 rows has a judgment and no subtopic (row 6); give"),
        ([("q", "s1", "d1", 2)], "grade: 1 pair has two judgments (query, document and aspect (q, d1, s1), rows 0, 6)"),
    ],
)
def test_bad_judgments_are_refused(rows: list[Any], said: str) -> None:
    """A judgment without a subtopic, and two grades of a document for one."""
    more = pl.concat([JUDGED, pl.DataFrame(rows, schema=JUDGED.schema, orient="row")])
    assert said in error(lambda: judged(qrels=more).evaluate("ndcg"), BadValueError)


def test_a_sum_that_is_too_long_is_refused() -> None:
    """Where alpha is 0 the divisor is a sum of as many terms as the cutoff has ranks."""
    assert values(judged(), "alpha_dcg@1000000000") == pytest.approx(values(judged(), "alpha_dcg@100"), abs=1e-12)
    with pytest.raises(KernelError, match=r"^alpha_dcg\(alpha=0\)@1000000000: a sum of 1000000000 terms is too long"):
        values(judged(), "alpha_dcg(alpha=0)@1000000000")


# Annotators


def test_annotators_judge_for_subtopics() -> None:
    """Several become one for each document and subtopic, and agree or differ there."""
    rated = pl.concat(
        [
            JUDGED.with_columns(who=pl.lit("ann")),
            JUDGED.with_columns(who=pl.lit("bob"), grade=pl.when(doc="d1").then(0).otherwise("grade")),
        ]
    )
    irm = RUN.irm.judge(rated, annotator="who", subtopic="aspect")
    assert irm.agreement()["n"].to_list() == [6, 6]
    found = irm.disagreements()
    assert found.columns == ["query", "doc", "aspect", "n", "lowest", "highest", "difference"]
    assert found.rows() == [("q", "d1", "s2", 2, 0, 2, 2), ("q", "d1", "s1", 2, 0, 1, 1)]
    facts = dict(irm.audit().filter(severity="fact").select("check", "n").iter_rows())
    assert facts["documents judged more than once"] == 6
    most = RUN.irm.judge(rated, several="max", subtopic="aspect")
    assert values(most, *ASKED) == values(judged(), *ASKED)
    lowest = RUN.irm.judge(rated, several="majority", subtopic="aspect")
    assert values(lowest, "strecall", "num_rel") == [1, 2]
    same_name = RUN.rename({"doc": "aspect"}).irm(doc="aspect")
    with pytest.raises(ColumnError, match="'aspect' is a column of the result as well"):
        same_name.judge(rated, doc="doc", annotator="who", subtopic="aspect").disagreements()


# Verbs, frames and files


def test_explain_takes_a_value_apart() -> None:
    """What the results add is the value; documents that are missed add nothing."""
    ideal = 2 + 1 / log2(3) + 0.5 / 2
    found = judged(RUN[:3]).explain("alpha_ndcg", query="q")
    assert found["contribution"].to_list() == pytest.approx([1 / ideal, 0, 0.75 / ideal, 0])
    assert found["doc"].to_list() == ["d2", "d4", "d1", "d3"]
    both = pl.concat([JUDGED, JUDGED.with_columns(query=pl.lit("r"))])
    runs = pl.concat([RUN, RUN.with_columns(query=pl.lit("r"), score=-pl.col("score"))])
    for query in "qr":
        whole = judged(runs, both).per_query("map_ia").filter(query=query)["value"].item()
        assert judged(runs, both).explain("map_ia", query=query)["contribution"].sum() == pytest.approx(whole)


@pytest.mark.slow
def test_verbs_take_measures_of_subtopics(tmp_path: Path) -> None:
    """compare(), curve(), plan(), summary(), audit() and report() go on as with other metrics."""
    rows = [(f"q{i}", f"s{i % 3}", f"d{j}", (i + j) % 2) for i in range(8) for j in range(4)]
    qrels = frame("query aspect doc grade", *rows)
    ranks = [("a", 3 - j, i, j) for i in range(8) for j in range(4)] + [
        ("b", j, i, j) for i in range(8) for j in range(3)
    ]
    runs = [(f"q{i}", f"d{j}", float(rank), system) for system, rank, i, j in ranks]
    irm = judged(frame("query doc score system", *runs), qrels, system="system")
    value = irm.evaluate("alpha_ndcg@3", ci=0.9, resamples=20)["value"].to_list()
    compared = irm.compare("alpha_ndcg@3", resamples=20)
    assert compared["difference"].to_list() == pytest.approx([value[1] - value[0]])
    assert irm.curve("alpha_ndcg@k", cutoffs=3).filter(k=3)["value"].to_list() == pytest.approx(value)
    assert len(irm.sample_size("alpha_ndcg@3", detect=0.1, resamples=20)) == 1
    assert len(irm.summary("alpha_ndcg@3"))
    assert len(irm.audit())
    irm.report(tmp_path / "page.html", metrics=["alpha_ndcg@3"])
    assert "aspect" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_kernels_read_arrays() -> None:
    """A ranking without subtopics has one for each query, where a kernel is called by itself."""
    run = FullRanking(np.array([1, 0, 1]), np.array([3]), np.array([3]))
    assert metrics.map_ia(run).tolist() == metrics.ap(run).tolist()
    assert metrics.strecall(run).tolist() == [1]


def test_a_qrels_file_of_a_diversity_task(tmp_path: Path) -> None:
    """Its second field is the subtopic, if that is asked for; what is written reads back."""
    path = tmp_path / "web.qrels"
    write_qrels(JUDGED, path, subtopic="aspect")
    assert path.read_text(encoding="utf-8").splitlines()[0] == "q s1 d1 1"
    found = read_qrels(path, subtopic=True)
    assert found.rename({"subtopic": "aspect"}).equals(JUDGED)
    assert read_qrels(path).columns == ["query", "doc", "grade"]
    irm = RUN.irm.judge(found, subtopic="subtopic")
    assert values(irm, *ASKED) == values(judged(), *ASKED)
    assert "repeat a document of their query" in error(lambda: write_qrels(JUDGED, path))
    path.write_text("q s1 d1\n", encoding="utf-8")
    assert "expected 4 fields, 'query subtopic doc grade'" in error(lambda: read_qrels(path, subtopic=True))


def test_the_command_line_reads_subtopics(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a column of the judgments; the second field of qrels is called subtopic."""
    monkeypatch.chdir(tmp_path)
    RUN.write_csv("run.csv")
    JUDGED.write_csv("qrels.csv")
    write_qrels(JUDGED, "web.qrels", subtopic="aspect")
    for file, column in (("qrels.csv", "aspect"), ("web.qrels", "subtopic")):
        assert main(["evaluate", "run.csv", "alpha_ndcg@5", "--qrels", file, "--subtopic", column]) == 0
        assert "0.75693499" in capsys.readouterr().out
    assert main(["evaluate", "run.csv", "rr", "--subtopic", "aspect"]) != 0
    assert "--subtopic is about judgments in a separate file" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["pandas", "pandas-arrow", "pyarrow", "lazy"])
def test_every_kind_of_frame(kind: str) -> None:
    """The same values, and the subtopics of disagreements in a frame of the caller's kind."""
    irm = judged(as_kind(RUN, kind), as_kind(JUDGED, kind))
    assert values(irm, *ASKED) == values(judged(), *ASKED)
    assert values(in_pieces(judged()), *ASKED) == values(judged(), *ASKED)
    assert values(judged(as_kind(RUN, kind)), "alpha_ndcg") == values(judged(), "alpha_ndcg")
    rated = pl.concat([JUDGED.with_columns(who=pl.lit(who), grade=pl.lit(i)) for i, who in enumerate("ab")])
    wrong = IRM(as_kind(RUN, kind)).judge(as_kind(rated, kind), annotator="who", subtopic="aspect").disagreements()
    assert as_polars(wrong)["aspect"].to_list() == JUDGED["aspect"].to_list()
