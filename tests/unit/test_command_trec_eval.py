"""The command trec_eval, against what trec_eval 9 printed, and against pytrec_eval on cases that are drawn."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from frame_metrics.command import main
from helpers import real
from reference import TREC_EVAL, Qrels, Run, random_case, trec_eval

Captured = pytest.CaptureFixture[str]


def printed(capsys: Captured, *arguments: object) -> str:
    """What ``trec_eval`` prints here."""
    assert main(["trec_eval", *map(str, arguments)]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    return shown.out


def lines(text: str) -> list[tuple[str, str, str]]:
    """Measure, query and value of each line, in the widths that trec_eval prints."""
    split = [line.split("\t") for line in text.splitlines()]
    assert all(len(name) >= 22 for name, _, _ in split)
    return [(name.rstrip(), query, value) for name, query, value in split]


def write(folder: Path, run: Run, qrels: Qrels) -> list[str]:
    """Write a case as files, and return their names: the judgments, the run."""
    rows = [f"{q} Q0 {doc} 0 {score} drawn" for q, found in run.items() for doc, score in found.items()]
    judged = [f"{q} 0 {doc} {grade}" for q, known in qrels.items() for doc, grade in known.items()]
    for name, text in {"a.qrels": judged, "a.run": rows}.items():
        (folder / name).write_text("\n".join(text) + "\n")
    return [str(folder / "a.qrels"), str(folder / "a.run")]


@pytest.mark.parametrize(("name", "flags"), [("out.test", []), ("out.test.aq", ["-q", "-m", "all_trec"])])
def test_it_prints_what_trec_eval_prints(name: str, flags: list[str], capsys: Captured) -> None:
    """The output of release 9 for its own test files, byte for byte."""
    files = [real("trec_eval", "qrels.test"), real("trec_eval", "results.test")]
    assert printed(capsys, *flags, *files) == real("trec_eval", "v9.0.8", name).read_text()


FLAGS: dict[str, tuple[list[str], int, bool]] = {
    "plain": ([], 1, False),
    "level": (["-l2"], 2, False),
    "judged": (["-J"], 1, True),
    "judged, level": (["-J", "-l", "2"], 2, True),
}


@pytest.mark.parametrize("case", FLAGS)
@pytest.mark.parametrize("seed", [1, 2])
def test_drawn_cases(seed: int, case: str, tmp_path: Path, capsys: Captured) -> None:
    """Every query's values on runs with ties, unjudged documents and missing queries are those of pytrec_eval."""
    flags, rel, judged_only = FLAGS[case]
    run, qrels = random_case(seed, rel=rel)
    theirs = trec_eval(run, qrels, rel=rel, judged_only=judged_only)
    shown = lines(printed(capsys, "-q", "-n", *flags, "-m", "all_trec", *write(tmp_path, run, qrels)))
    found = {(query, name): value for name, query, value in shown if name != "relstring"}
    known = {key: value for key, value in theirs.items() if key[1] in TREC_EVAL and (key[0], key[1]) in found}
    assert len(known) == len(found) > 80
    wrong = {key: (found[key], value) for key, value in known.items() if abs(float(found[key]) - value) > 0.5001e-4}
    assert {key: pair for key, pair in wrong.items() if pair[1] == pair[1]} == {}


def test_the_order_of_queries_and_of_all(tmp_path: Path, capsys: Captured) -> None:
    """Queries stand in the order of their ids as text, all together last; -n leaves these out, no -q the others."""
    run: Run = {"9": {"a": 1.0}, "10": {"a": 1.0}, "x": {"a": 1.0}}
    qrels: Qrels = {"9": {"a": 1}, "10": {"a": 0}, "z": {"a": 1}}
    files = write(tmp_path, run, qrels)
    assert [query for _, query, _ in lines(printed(capsys, "-q", "-m", "map", *files))] == ["10", "9", "all"]
    assert [query for _, query, _ in lines(printed(capsys, "-qn", "-m", "map", *files))] == ["10", "9"]
    assert [query for _, query, _ in lines(printed(capsys, "-m", "map", *files))] == ["all"]


def test_queries_without_results(tmp_path: Path, capsys: Captured) -> None:
    """They are left out of the mean, and with -c are 0 in it; their lines are not printed, their documents counted."""
    files = write(tmp_path, {"1": {"a": 1.0}}, {"1": {"a": 1}, "2": {"a": 1, "b": 1}})
    names = ["-m", "num_q", "-m", "num_rel", "-m", "map", "-m", "gm_map"]
    values = [value for _, _, value in lines(printed(capsys, *names, *files))]
    assert values == ["1", "1", "1.0000", "1.0000"]
    shown = lines(printed(capsys, "-c", "-q", *names, *files))
    assert [value for _, query, value in shown if query == "all"] == ["2", "3", "0.5000", "0.0032"]
    assert {query for _, query, _ in shown} == {"1", "all"}


def test_the_first_results_of_each_query(tmp_path: Path, capsys: Captured) -> None:
    """-M takes so many, in the order of trec_eval, which holds scores in 32 bits."""
    files = write(tmp_path, {"1": {"a": 0.5, "b": 0.500000001, "c": 0.1}}, {"1": {"a": 1, "b": 0, "c": 1}})
    values = lines(printed(capsys, "-M2", "-m", "num_ret", "-m", "recip_rank", "-m", "relstring", "-q", "-n", *files))
    assert values == [("num_ret", "1", "2"), ("recip_rank", "1", "0.5000"), ("relstring", "1", "'01'")]


def test_strings_of_relevance(tmp_path: Path, capsys: Captured) -> None:
    """Grades as letters: above 9, judged, in the pool and not judged, unknown; of as many results as are asked for."""
    run: Run = {"1": {letter: float(-place) for place, letter in enumerate("abcdefghijkl")}}
    files = write(tmp_path, run, {"1": {"a": 12, "b": 3, "c": 0, "d": -1}})
    assert lines(printed(capsys, "-q", "-m", "relstring", *files)) == [("relstring", "1", "'>30.------'")]
    assert lines(printed(capsys, "-q", "-m", "relstring.3", *files)) == [("relstring_3", "1", "'>30'")]
    assert lines(printed(capsys, "-q", "-J", "-m", "relstring.3", *files)) == [("relstring_3", "1", "'>30'")]


PARAMETERS = {
    "P.5,1": ["P_1", "P_5"],
    "ndcg_cut.3": ["ndcg_cut_3"],
    "iprec_at_recall.0.5,.25": ["iprec_at_recall_0.25", "iprec_at_recall_0.50"],
    "Rprec_mult.1": ["Rprec_mult_1.00"],
    "success": ["success_1", "success_5", "success_10"],
    "set_F.4": ["set_F_4"],
    "utility.1,-1,0,0": ["utility_1,-1,0,0"],
    "ndcg.1=2,2=5,5=9": ["ndcg_1=2,2=5,5=9"],
    "11pt_avg.0.5": ["11pt_avg_0.5"],
}


@pytest.mark.parametrize("measure", PARAMETERS)
def test_parameters(measure: str, tmp_path: Path, capsys: Captured) -> None:
    """Parameters stand behind the name, and cutoffs in their order."""
    files = write(tmp_path, *random_case(3))
    assert [name for name, _, _ in lines(printed(capsys, "-m", measure, *files))] == PARAMETERS[measure]


def test_measures_stand_in_one_order(tmp_path: Path, capsys: Captured) -> None:
    """The order is that of trec_eval, however they are named; the parameters that are given first are taken."""
    files = write(tmp_path, *random_case(3))
    measures = ["-m", "P.1", "-m", "map", "-m", "set", "-m", "P.7"]
    names = [name for name, _, _ in lines(printed(capsys, *measures, *files))]
    assert names[:7] == ["runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "P_1"]
    assert names[7:] == ["utility", "set_P", "set_relative_P", "set_recall", "set_map", "set_F"]


def test_standard_input(tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run may be piped in."""
    qrels, run = write(tmp_path, *random_case(3))
    expected = printed(capsys, qrels, run)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(run).read_bytes())))
    assert printed(capsys, qrels, "-") == expected


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["-m", "P_5"], "-m P_5: there is no such measure; did you mean 'P.5'?"),
        (["-m", "mapp"], "-m mapp: there is no such measure; did you mean 'map'?"),
        (["-m", "P.x"], "-m P.x: the parameters are numbers with commas between"),
        (["-m", "map.5"], "-m map.5: map takes no parameters"),
        (["-m", "P.0"], "the cutoff is not a whole number from 1"),
        (["-l", "9"], "reaches -l 9; the largest is"),
        (["--levl", "9"], "there is no option --levl"),
        (["-l", "x"], "invalid int value: 'x'"),
    ],
)
def test_wrong_calls(arguments: list[str], told: str, tmp_path: Path, capsys: Captured) -> None:
    """A wrong call ends with 2 and the reason."""
    assert main(["trec_eval", *arguments, *write(tmp_path, *random_case(3))]) == 2
    shown = capsys.readouterr()
    assert (shown.out, told in shown.err) == ("", True)


def test_no_query_in_common(tmp_path: Path, capsys: Captured) -> None:
    assert main(["trec_eval", *write(tmp_path, {"1": {"a": 1.0}}, {"2": {"a": 1}})]) == 2
    assert "no query of" in capsys.readouterr().err
