"""The command trec_eval, against what trec_eval 9 printed, and against pytrec_eval on cases that are drawn."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from frame_metrics import __version__
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


def test_the_name_of_a_run_is_that_of_its_last_line(tmp_path: Path, capsys: Captured) -> None:
    """-m runid prints the name in the last line of the file, wherever its query stands, and whatever -M leaves."""
    (tmp_path / "a.qrels").write_text("1 0 a 1\n2 0 a 1\n")
    (tmp_path / "a.run").write_text("1 Q0 a 0 1 zeta\n2 Q0 a 0 1 alpha\n1 Q0 b 0 .5 last\n\n")
    for flags in ([], ["-M", "0"], ["-c"]):
        files = [tmp_path / "a.qrels", tmp_path / "a.run"]
        assert lines(printed(capsys, *flags, "-m", "runid", *files)) == [("runid", "all", "last")]


def test_all_relevant_documents_with_c(tmp_path: Path, capsys: Captured) -> None:
    """The num_rel of all queries counts, with -c, the grades above 0 of every query, whatever -l, -M and -J say."""
    qrels: Qrels = {"1": {"a": 1, "b": 2, "c": -1}, "2": {"a": 2, "b": 0, "c": 1}}
    files = write(tmp_path, {"1": {"a": 1.0, "x": 0.5}}, qrels)
    for flags, own, whole in ((["-l", "2"], 1, 4), (["-l", "0"], 2, 4), (["-J", "-M", "0"], 2, 4)):
        names = ["-q", "-m", "num_rel", "-m", "num_q"]
        shown = lines(printed(capsys, "-c", *flags, *names, *files))
        assert shown == [("num_rel", "1", str(own)), ("num_q", "all", "2"), ("num_rel", "all", str(whole))]
        assert lines(printed(capsys, *flags, *names, *files))[-1] == ("num_rel", "all", str(own))


def test_no_result_of_each_query(tmp_path: Path, capsys: Captured) -> None:
    """-M 0 leaves the queries, and nothing retrieved in each: all is 0 but what is read off the judgments."""
    run, qrels = random_case(5)
    shown = lines(printed(capsys, "-q", "-M", "0", "-m", "all_trec", *write(tmp_path, run, qrels)))
    values = {(query, name): value for name, query, value in shown}
    judged = [query for query in run if query in qrels]
    assert values["all", "num_q"] == str(len(judged))
    assert {query for query, _ in values} == {*judged, "all"}
    kept = {value for (_, name), value in values.items() if name not in ("num_q", "num_rel", "runid", "relstring")}
    assert {value.strip("-") for value in kept} == {"0", "0.0000"}
    assert {value for (_, name), value in values.items() if name == "relstring"} == {"''"}


def test_options_by_their_first_letters(tmp_path: Path, capsys: Captured) -> None:
    """Long options may be shortened as far as one begins so, and stand anywhere."""
    qrels, run = write(tmp_path, *random_case(3))
    whole = printed(capsys, "-q", "-c", "-l", "2", "-J", "-n", "-m", "map", "-M", "3", qrels, run)
    short = ["--query", "--comp", "--level=2", "--Judged", "--no", "--meas", "map", "--Max", "3"]
    assert printed(capsys, qrels, *short, run) == whole
    assert main(["trec_eval", "--Re", "x", qrels, run]) == 2
    assert "ambiguous option: --Re" in capsys.readouterr().err


def test_options_that_change_nothing(tmp_path: Path, capsys: Captured) -> None:
    """What a script says of the debug level and of formats is taken where it is what they are anyway."""
    files = write(tmp_path, *random_case(3))
    expected = printed(capsys, *files)
    assert printed(capsys, "-D", "0", "-R", "qrels", "--Results_format", "trec_results", *files) == expected


@pytest.mark.parametrize("flag", ["-v", "--version", "--vers"])
def test_version(flag: str, capsys: Captured) -> None:
    """-v tells whose output this is on standard error, where trec_eval has its version, and needs no files."""
    assert main(["trec_eval", flag]) == 0
    shown = capsys.readouterr()
    assert (shown.out, shown.err[:24]) == ("", "trec_eval version 9.0.8 ")
    assert f"frame_metrics {__version__}" in shown.err


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
        (
            ["-m", "map.5"],
            "-m map.5: map takes no parameters, and trec_eval prints it without them; ask for map, or for map_cut.5",
        ),
        (["-m", "set.5"], "-m set.5: set takes no parameters, and trec_eval prints it without them; ask for set\n"),
        (["-M", "-1"], "-M -1 is not a number of results, a whole one from 0"),
        (["-N", "-5"], "-N -5 is not a number of documents"),
        (["-D", "1"], "-D 1 is an option of trec_eval that is not here: notes that trec_eval prints"),
        (["-R", "prefs"], "-R prefs is an option of trec_eval that is not here: judgments are read as qrels"),
        (["-Tx"], "-T x is an option of trec_eval that is not here: a run is read as trec_results"),
        (["--Zscore", "z.txt"], "--Zscore z.txt is an option of trec_eval that is not here: z-scores"),
        (["-o"], "-o is an option of trec_eval that is not here: trec_eval 9 itself no longer has the old output"),
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


def test_a_level_that_only_a_query_without_results_reaches(tmp_path: Path, capsys: Captured) -> None:
    """A level that some judgment reaches is no mistake: what is averaged is 0, as trec_eval prints it."""
    run: Run = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 1.0}, "unjudged": {"a": 1.0}}
    qrels: Qrels = {"q1": {"a": 1, "b": 2, "c": -1}, "q2": {"a": 1}, "q3": {"a": 3}}
    measures = ("num_q", "num_rel", "map", "bpref", "ndcg")
    asked = [word for name in measures for word in ("-m", name)]
    found = lines(printed(capsys, "-l", "3", "-q", *asked, *write(tmp_path, run, qrels)))
    theirs = trec_eval(run, qrels, rel=3)
    each = {(query, name): float(value) for name, query, value in found if query != "all"}
    assert each == {key: pytest.approx(theirs[key], abs=1e-4) for key in each}
    assert {query for query, _ in each} == {"q1", "q2"}
    whole = {name.strip(): value for name, query, value in found if query == "all"}
    assert [whole[name] for name in measures[:4]] == ["2", "0", "0.0000", "0.0000"]


def test_no_query_in_common(tmp_path: Path, capsys: Captured) -> None:
    """No query with results and judgments is an error, with -c too."""
    for flags in ([], ["-c"]):
        assert main(["trec_eval", *flags, *write(tmp_path, {"1": {"a": 1.0}}, {"2": {"a": 1}})]) == 2
        assert "no query of" in capsys.readouterr().err
