"""The command ``trec_eval``: it prints what release 9 of that program prints for a file of judgments and a run."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import polars as pl

from frame_metrics.accessor import IRM
from frame_metrics.backends.display import versions
from frame_metrics.backends.trec import read_qrels, read_run
from frame_metrics.errors import BadValueError, FrameMetricsError, UnknownNameError, closest, did_you_mean

CUTOFFS = "5,10,15,20,30,100,200,500,1000"
LEVELS = ",".join(f"{tenth / 10:.2f}" for tenth in range(11))
FIFTHS = ",".join(f"{fifth / 5:.2f}" for fifth in range(1, 11))
COUNTS = ("num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret")  # sums, printed as integers
SUMMARY = ("runid", "num_q", "gm_map", "gm_bpref")  # printed only for all queries together

# Every measure, in the order of printing, with its default parameters.
_ORDER = """
    runid num_q num_ret num_rel num_rel_ret map gm_map Rprec bpref recip_rank iprec_at_recall P relstring recall
    infAP gm_bpref Rprec_mult utility 11pt_avg binG G ndcg ndcg_rel Rndcg ndcg_cut map_cut relative_P success
    set_P set_relative_P set_recall set_map set_F num_nonrel_judged_ret
"""
MEASURES: dict[str, str | None] = dict.fromkeys(_ORDER.split())
MEASURES |= dict.fromkeys(("P", "recall", "ndcg_cut", "map_cut", "relative_P"), CUTOFFS)
MEASURES |= {"iprec_at_recall": LEVELS, "Rprec_mult": FIFTHS, "success": "1,5,10"}
OFFICIAL = ("runid", *COUNTS[:4], "map", "gm_map", "Rprec", "bpref", "recip_rank", "iprec_at_recall", "P")
SETS = ("runid", *COUNTS[:4], "utility", "set_P", "set_recall", "set_relative_P", "set_map", "set_F")
NICKNAMES = {"official": OFFICIAL, "all_trec": tuple(MEASURES), "set": SETS}
VERSION = "9.0.8"  # the release whose output is reproduced
# Options of trec_eval that are not supported: the long name, the value with which it changes nothing, and the reason.
MISSING = {
    "-D": ("--Debug_level", "0", "notes that trec_eval prints for its developers"),
    "-R": ("--Rel_info_format", "qrels", "judgments are read as qrels, lines of: query iter doc grade"),
    "-T": ("--Results_format", "trec_results", "a run is read as trec_results, lines of: query Q0 doc rank score name"),
    "-Z": ("--Zscore", None, "z-scores"),
    "-o": ("--Output_old_results_format", None, "trec_eval 9 itself no longer has the old output"),
}
PARAMETERS = ("relstring", "utility", "11pt_avg", "set_F", "ndcg")  # of one measure, behind its name as they are given
AVERAGED = "averaged"  # a column of the judgments: True for queries that count in the averages
OURS = {"G": "g_trec", "binG": "bin_g"}  # measures whose names mean something else here, or two things


@dataclass(frozen=True)
class Measure:
    """One line that is printed."""

    name: str  # the printed name
    asked: str  # the name of the metric in this package
    kind: str  # the name of the measure without parameters


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options of trec_eval to a parser."""
    switch, number = {"action": "store_true"}, {"type": int, "metavar": "NUMBER"}
    known: tuple[tuple[str, str, dict[str, Any], str], ...] = (
        ("-q", "--query_eval_wanted", switch, "print every query too"),
        (
            "-c",
            "--complete_rel_info_wanted",
            switch,
            "average over all queries of the judgments, 0 if the run has no results",
        ),
        ("-n", "--nosummary", switch, "leave out the averages"),
        ("-J", "--Judged_docs_only", switch, "leave unjudged documents out of the rankings"),
        ("-l", "--level_for_rel", number, "the lowest grade that is relevant, 1 by default"),
        ("-M", "--Max_retrieved_per_topic", number, "use only this many results of each query"),
        ("-N", "--Number_docs_in_coll", number, "the number of documents in the collection"),
    )
    for short, long, kind, text in known:
        parser.add_argument(short, long, dest=short[1], help=text, **kind)
    for short, (long, _, _) in MISSING.items():
        value: dict[str, Any] = {"nargs": 0} if short == "-o" else {}
        parser.add_argument(short, long, action=_Missing, default=argparse.SUPPRESS, help=argparse.SUPPRESS, **value)
    text = "print the release of trec_eval that this matches, on standard error, and stop"
    parser.add_argument("-v", "--version", action=_Version, nargs=0, default=argparse.SUPPRESS, help=text)
    text = "a measure, as map, P.5,10 or ndcg_cut.10, or official (the default), all_trec or set; may be repeated"
    parser.add_argument("-m", "--measure", action="append", dest="m", help=text, metavar="MEASURE")
    parser.add_argument("qrels", help="the judgments, lines of: query iter doc grade")
    parser.add_argument("run", help="the run, lines of: query Q0 doc rank score name; - is standard input")


class _Missing(argparse.Action):
    """An option of trec_eval that is not supported: an error, unless its value changes nothing."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        """Raise where the option would change something."""
        _, harmless, told = MISSING[self.option_strings[0]]
        if values != harmless:
            said = f" {values}" if values else ""
            raise UnknownNameError(f"{option_string}{said} is an option of trec_eval that is not here: {told}")


class _Version(argparse.Action):
    """The option that prints a version on standard error, as trec_eval does."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        """Print it, and stop."""
        parser.exit(message=f"trec_eval version {VERSION} (printed by frame_metrics {versions()['frame_metrics']})\n")


def run_trec_eval(given: argparse.Namespace, file: str) -> None:
    """Print what trec_eval prints.

    Parameters
    ----------
    given : the parsed arguments.
    file : the file of the run; for the run "-", a file with the content of standard input.
    """
    measures = wanted(given.m or ["official"])
    if given.M is not None and given.M < 0:
        raise BadValueError(f"-M {given.M} is not a number of results, a whole one from 0")
    qrels = read_qrels(given.qrels).with_columns(pl.col("grade").cast(pl.Int64))
    results = read_run(file)
    known = qrels.filter(pl.col("query").is_in(results["query"].unique().implode()))
    if not len(known):
        raise FrameMetricsError(f"no query of {given.run} is among the judgments of {given.qrels}")
    queries = sorted(known["query"].unique())
    run, n_graded = str(results["run"][-1]), int((qrels["grade"] > 0).sum()) if given.c else None
    # Judgments of other queries stay, in a segment that is not printed: a level that only they reach is no mistake.
    averaged = pl.lit(True) if given.c else pl.col("query").is_in(queries)
    qrels, results = qrels.with_columns(averaged.alias(AVERAGED)), _cut(results, given.M)
    conventions: dict[str, Any] = {"rel": 1 if given.l is None else given.l, "unjudged": "drop" if given.J else None}
    try:
        irm = IRM(results.drop("run"), doc="doc", by=AVERAGED, collection_size=given.N, **conventions).judge(qrels)
        texts = _relstrings(measures, results, qrels, judged_only=given.J)
        lines = [] if not given.q else _of_queries(irm, measures, queries, texts)
        summary = [] if given.n else _of_all(irm, measures, run, n_graded)
    except FrameMetricsError as error:
        message = str(error).replace(f"rel={given.l}", f"-l {given.l}")
        raise type(error)(message.replace(f"collection_size={given.N}", f"-N {given.N}")) from None
    sys.stdout.writelines(f"{name:<22}\t{query}\t{value}\n" for name, query, value in [*lines, *summary])
    sys.stdout.flush()


def wanted(asked: Sequence[str]) -> list[Measure]:
    """Return the measures that ``-m`` names, in the order in which trec_eval prints them."""
    given: dict[str, str | None] = {}
    for one in asked:
        name, _, parameters = one.partition(".")
        _check_measure(one, name, parameters)
        for measure in NICKNAMES.get(name, (name,)):
            given[measure] = given.get(measure) or parameters or None
    return [line for name in MEASURES if name in given for line in _lines(name, given[name])]


def _check_measure(asked: str, name: str, parameters: str) -> None:
    """Raise for a measure that trec_eval does not have, and for parameters that it does not take."""
    if name not in NICKNAMES and name not in MEASURES:
        parted = re.fullmatch(r"(\w+?)_([\d.,]+)", asked)
        cut = did_you_mean(f"{parted[1]}.{parted[2]}") if parted and parted[1] in MEASURES else ""
        raise UnknownNameError(f"-m {asked}: there is no such measure{cut or closest(name, (*NICKNAMES, *MEASURES))}")
    if parameters and (name in NICKNAMES or (MEASURES[name] is None and name not in PARAMETERS)):
        cut = f", or for {name}_cut.{parameters}" if f"{name}_cut" in MEASURES else ""
        problem = f"{name} takes no parameters, and trec_eval prints it without them"
        raise UnknownNameError(f"-m {asked}: {problem}; ask for {name}{cut}")


def _lines(name: str, parameters: str | None) -> Iterator[Measure]:
    """Yield the lines of a measure, one for each parameter."""
    if name in PARAMETERS or MEASURES[name] is None:
        asked = f"{name}.{parameters}" if parameters else OURS.get(name, name)
        yield Measure(f"{name}_{parameters}" if parameters else name, asked, name)
        return
    parts = (parameters or MEASURES[name] or "").split(",")
    form = "{:.2f}" if name in ("iprec_at_recall", "Rprec_mult") else "{:d}"
    try:
        numbers = sorted(float(part) if form == "{:.2f}" else int(part) for part in parts)
    except ValueError:
        raise UnknownNameError(f"-m {name}.{parameters}: the parameters are numbers with commas between") from None
    for number in numbers:
        yield Measure(f"{name}_{form.format(number)}", f"{name}_{number}", name)


def _cut(results: pl.DataFrame, most: int | None) -> pl.DataFrame:
    """Return a run in the order of trec_eval, which keeps scores in 32 bits, with at most ``most`` results a query."""
    results = results.with_columns(pl.col("score").cast(pl.Float32))
    ordered = results.sort("query", "score", "doc", descending=[False, True, True])
    return ordered if most is None else ordered.filter(pl.int_range(pl.len()).over("query") < most)


def _computed(measures: Sequence[Measure]) -> list[str]:
    return [one.asked for one in measures if one.kind not in ("runid", "relstring", "num_q")]


def _of_queries(
    irm: IRM[pl.DataFrame], measures: Sequence[Measure], queries: Sequence[str], texts: Mapping[str, Mapping[str, str]]
) -> list[tuple[str, str, str]]:
    """Return the lines of single queries, in the order of their ids; ``texts``: of relstring, by line and query."""
    own = [one for one in measures if one.kind not in SUMMARY]
    values, lines = {}, []
    if asked := _computed(own):
        found = irm.per_query(asked).select("query", "metric", "value")
        values = {(query, metric): value for query, metric, value in found.iter_rows()}
    for query, one in product(queries, own):
        text = (
            texts[one.name].get(query, "''") if one.kind == "relstring" else _formatted(one, values[query, one.asked])
        )
        lines.append((one.name, query, text))
    return lines


def _of_all(
    irm: IRM[pl.DataFrame], measures: Sequence[Measure], run: str, n_graded: int | None
) -> list[tuple[str, str, str]]:
    """Return the lines for all queries together.

    Parameters
    ----------
    run : the name of the run, from its last line.
    n_graded : number of judgments with a grade above 0, which is num_rel with -c, whatever -l is; None without -c.
    """
    own = [one for one in measures if one.kind != "relstring"]
    found = irm.evaluate("num_q", *_computed(own)).filter(AVERAGED).select("metric", "value")
    values: dict[str, float | None] = dict(found.iter_rows())
    if n_graded is not None:
        values["num_rel"] = n_graded
    return [(one.name, "all", run if one.kind == "runid" else _formatted(one, values[one.asked])) for one in own]


def _formatted(measure: Measure, value: float | None) -> str:
    value = 0.0 if value is None else value
    return str(int(value)) if measure.kind in COUNTS else f"{value:6.4f}"


def _relstrings(
    measures: Sequence[Measure], results: pl.DataFrame, qrels: pl.DataFrame, *, judged_only: bool
) -> dict[str, dict[str, str]]:
    """Return, by the name of the line and the query, the grades of the first results as one letter each."""
    asked = [one for one in measures if one.kind == "relstring"]
    if not asked:
        return {}
    graded = results.join(qrels, on=["query", "doc"], how="left", maintain_order="left")
    if judged_only:
        graded = graded.filter(pl.col("grade") >= 0)
    grade = pl.col("grade")
    letter = pl.when(grade > 9).then(pl.lit(">")).when(grade >= 0).then(grade.cast(pl.String))
    letters = graded.with_columns(letter.when(grade < 0).then(pl.lit(".")).otherwise(pl.lit("-")).alias("letter"))
    whole = dict(letters.group_by("query").agg(pl.col("letter").str.join("")).iter_rows())
    lengths = {one.name: int(float(one.asked.partition(".")[2] or 10)) for one in asked}
    return {name: {query: f"'{text[:length]}'" for query, text in whole.items()} for name, length in lengths.items()}
