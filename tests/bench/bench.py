"""Speed and memory, printed as one table.

Every time is the median of several runs. What is compared runs by turns in one process; a ratio is that of the medians.
The floor is a bare ``group_by(query).agg(sum of grade)`` in polars on the same frame, of which polars knows no sorting.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import platform
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from importlib.metadata import distributions
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import polars as pl
from bench_backends import backends, left_out_backends
from bench_clicks import clicks
from bench_compare import compared, left_out_comparisons
from bench_decisions import left_out_decisions, scores, tables
from bench_forms import forms
from bench_growth import growth
from bench_import import imported
from bench_large import large, left_out_large
from bench_peaks import left_out_peaks, peaks
from timing import WORK, apart, by_turns, clock, row, show, status

import frame_metrics

TEN = ("ndcg@10", "ndcg", "ap", "rr", "precision@5", "precision@10", "recall@100", "success@1", "rbp", "bpref")
FIVE = ("ap", "ndcg@10", "ndcg", "rr", "precision@10")
GRID = ("ndcg@1..50", "precision@1..50", "recall@1..50", "ap@1..25", "rr@1..25")  # 200 metrics
ORDERS = {"rank order": 1.5, "clustered": 2.0, "shuffled": 2.5}  # with the times the floor that are asked
ROLES = {"grade": "", "doc": ", doc named", "ties": ", doc named, equal scores", "judge": ", judge"}
LARGE = 20_000_000  # rows from which on little is measured
DOCS = 1 << 20  # documents in the collection
ODD = 8  # times the floor that are asked of odd logs
LEFT_OUT = """\
Queries have 100 rows where nothing else is said. Of the floor these are left out: what has no aim, and of what meets
its aim pandas, fewer rows than ten million, and odd logs that are not clustered.
"""
WIDTHS = {"part": 7, "case": 76, "rows": 10, "against": 42, "ours": 28, "ratio": 5, "asked": 9, "loop": 7}


@dataclass(frozen=True)
class Case:
    """A log, and how it is evaluated."""

    rows: int  # or a few less
    shape: int | str = 100  # rows of each query; "Pareto lengths"; "one long query" of a million rows, among small ones
    order: str = "rank order"  # "clustered": by query, but unordered; "shuffled"
    ids: str = "int"  # "str"
    relevant: float = 0.075  # share of the rows
    roles: str = "grade"  # a key of ROLES
    library: str = "polars"  # "pandas"; "lazy"; "both" of the first two
    asked: float | None = None  # at most so many times the floor

    def __str__(self) -> str:
        shape = "queries of " * isinstance(self.shape, int) + f"{self.shape}, "
        share = ", 75 % relevant" * (self.relevant == 0.75)
        return f"{shape * (self.shape != 100)}{self.order}, {self.ids} ids{share}{ROLES[self.roles]}, {self.library}"


def lengths(case: Case, rng: Any) -> Any:
    """Return how many rows each query has."""
    if isinstance(case.shape, int):
        return np.full(case.rows // case.shape, case.shape)
    if case.shape == "one long query":
        return np.append(long := min(1_000_000, case.rows // 2), np.full((case.rows - long) // 100, 100))
    drawn = np.minimum((rng.pareto(1.0, case.rows // 20) + 1) * 10, case.rows // 18).astype(np.int64)
    return drawn[np.cumsum(drawn) <= case.rows]


def make(case: Case) -> tuple[pl.DataFrame, pl.DataFrame | None]:
    """Build a log, and judgments to stand beside it if they are to: of retrieved documents, and of one that was not."""
    rng = np.random.default_rng(0)
    length = lengths(case, rng)
    query = np.repeat(np.arange(len(length)), length)
    n = len(query)
    draw = query + rng.random(n)
    score = 1 - ((np.sort(draw) if case.order == "rank order" else draw) - query)
    grade = (rng.random(n) < case.relevant) * rng.integers(1, 4, n)
    arrays = {"query": query, "score": np.round(score, 2) if case.roles == "ties" else score, "grade": grade}
    qrels = None
    if case.roles != "grade":
        first, step = rng.integers(0, DOCS, len(length)), rng.integers(0, DOCS // 2, len(length)) * 2 + 1
        place = np.arange(n) - np.repeat(np.cumsum(length) - length, length)
        arrays["doc"] = (first[query] + step[query] * place) % DOCS
        pick = (grade > 0) | (rng.random(n) < case.relevant)
        unseen = {"query": np.unique(query), "doc": (first + step * length) % DOCS, "grade": length * 0 + 1}
        end = np.searchsorted(query[pick], unseen["query"], side="right")
        qrels = framed({name: np.insert(arrays[name][pick], end, more) for name, more in unseen.items()}, case.ids)
    if case.order == "shuffled":
        to = rng.permutation(n)
        arrays = {name: values[to] for name, values in arrays.items()}
    return framed(arrays, case.ids), qrels if case.roles == "judge" else None


def framed(arrays: dict[str, Any], ids: str) -> pl.DataFrame:
    """Return arrays as a frame, the ids as text if they are to be."""
    columns = {name: pl.Series(name, values) for name, values in arrays.items()}
    if ids == "str":
        columns |= {name: name[0] + columns[name].cast(pl.String) for name in ("query", "doc") if name in columns}
    assert not any(known for column in columns.values() for known in column.flags.values()), "polars knows of a sorting"
    return pl.DataFrame(columns)


def ours(case: Case, log: pl.DataFrame, qrels: Any = None, metrics: Sequence[str] = TEN) -> Callable[[], Any]:
    """Return the call that is measured: from a frame of the case's library to the result."""
    names = ["query", "score", *["grade"] * (qrels is None), *["doc"] * (case.roles != "grade")]
    to: Any = {"pandas": pl.DataFrame.to_pandas, "lazy": pl.DataFrame.lazy}.get(case.library, pl.DataFrame.clone)
    frame, judgments = to(log.select(names)), None if qrels is None else to(qrels)

    def call() -> Any:
        irm: Any = frame_metrics.IRM(frame, **{name: name for name in names})  # type: ignore[arg-type]
        found = (irm if qrels is None else irm.judge(judgments)).evaluate(*metrics)
        return found.collect() if case.library == "lazy" else found

    return call


def floor_cases(sizes: Sequence[int], full: bool) -> Iterator[Case]:
    """Give what is measured against the floor."""
    for rows in sizes:
        plain = [Case(rows, order=order, asked=asked) for order, asked in ORDERS.items()]
        if rows > LARGE and not full:
            yield from plain
            continue
        for ids, shape in product(("int", "str"), (10, 100, 1000)):
            both = [replace(case, shape=shape, ids=ids, library="both") for case in plain]
            yield from both if shape == 100 else (replace(case, asked=None) for case in both)
        yield from (replace(case, relevant=0.75, asked=ODD) for case in plain)
        for shape in ("Pareto lengths", "one long query"):
            yield from (replace(case, shape=shape, asked=ODD) for case in plain)
        for roles in list(ROLES)[1:]:
            yield from (replace(case, ids="str", roles=roles, asked=ODD) for case in plain)


def floor(options: argparse.Namespace) -> Iterator[list[str]]:
    """Measure against the floor, and how the time per row grows with the log."""
    least: dict[Case, tuple[int, float, float]] = {}
    for case in floor_cases(options.rows, options.full):
        log, qrels = make(case)
        own = [replace(case, library=name) for name in ("polars", "pandas") if case.library in (name, "both")]
        bare = partial(log.group_by("query").agg, pl.col("grade").sum())
        its, *times = by_turns([bare, *(ours(one, log, qrels) for one in own)], options.runs)
        for one, seconds in zip(own, times, strict=True):
            yield row("floor", one, len(log), [show(its), show(seconds)], seconds / its, one.asked)
        rows, *before = least.setdefault(replace(own[0], rows=0), (len(log), its, times[0]))
        if case.rows > LARGE and rows < LARGE:
            more, grown = (now / then * rows / len(log) for now, then in zip((its, times[0]), before, strict=True))
            label = f"time per row, over that at {rows:,}: {own[0]}"
            yield row("growth", label, len(log), [f"{more:.2f} times", f"{grown:.2f} times"], grown, max(1.3, more))


def as_dicts(frame: pd.DataFrame, value: str) -> dict[str, dict[str, Any]]:
    """Return a frame as pytrec_eval wants it, by the fastest of four ways that were tried."""
    code, names = pd.factorize(frame["query"])
    order = np.argsort(code, kind="stable")
    end = np.cumsum(np.bincount(code)).tolist()
    doc, values = frame["doc"].to_numpy()[order].tolist(), frame[value].to_numpy()[order].tolist()
    cuts = zip(names.tolist(), [0, *end[:-1]], end, strict=True)
    return {name: dict(zip(doc[a:b], values[a:b], strict=True)) for name, a, b in cuts}


def by_pytrec_eval(log: pd.DataFrame, qrels: pd.DataFrame) -> list[float]:
    """Return the five metrics as pytrec_eval has them."""
    import pytrec_eval

    wanted = ("map", "ndcg_cut_10", "ndcg", "recip_rank", "P_10")
    found = pytrec_eval.RelevanceEvaluator(as_dicts(qrels, "grade"), set(wanted)).evaluate(as_dicts(log, "score"))
    return [float(np.mean([query[name] for query in found.values()])) for name in wanted]


def by_ir_measures(log: pd.DataFrame, qrels: pd.DataFrame) -> list[float]:
    """Return the five metrics as ir_measures has them."""
    from ir_measures import AP, RR, P, calc_aggregate, nDCG

    names = {"query": "query_id", "doc": "doc_id", "grade": "relevance"}
    wanted = (AP, nDCG @ 10, nDCG, RR, P @ 10)
    found = calc_aggregate(wanted, qrels.rename(columns=names), log.rename(columns=names))
    return [float(found[name]) for name in wanted]


def for_ranx(log: pd.DataFrame, qrels: pd.DataFrame) -> tuple[Any, Any]:
    """Return what ranx works on; it takes ids as Python objects only."""
    import ranx

    log, qrels = (frame.astype({"query": object, "doc": object}) for frame in (log, qrels))
    return ranx.Qrels.from_df(qrels, "query", "doc", "grade"), ranx.Run.from_df(log, "query", "doc", "score")


def by_ranx(qrels: Any, run: Any) -> list[float]:
    """Return the five metrics as ranx has them, from its own objects."""
    import ranx

    found = ranx.evaluate(qrels, run, ["map", "ndcg@10", "ndcg", "mrr", "precision@10"], save_results_in_run=False)
    return [float(value) for value in found.values()]


PEERS: dict[str, Any] = {"pytrec_eval": by_pytrec_eval, "ir_measures": by_ir_measures}
PEERS["ranx"] = lambda log, qrels: by_ranx(*for_ranx(log, qrels))


def left_out(quick: bool) -> dict[str, str]:
    """Return what cannot be measured, and why."""
    why = {"ranx": "it compiles for a minute"} if quick else {}
    why |= {name: "it is not installed" for name in PEERS if not find_spec(name)}
    why |= left_out_decisions() | left_out_comparisons() | left_out_backends() | left_out_large() | left_out_peaks()
    return why | ({} if Path("/proc/self/clear_refs").exists() else {"memory": "it is read from /proc"})


def peers(options: argparse.Namespace) -> Iterator[list[str]]:
    """Measure other packages from the same pandas frame to the result, and ranx from what it works on, built before."""
    judge = Case(min(options.rows[0], 1_000_000), ids="str", roles="judge", library="pandas")
    grade = replace(judge, roles="grade")
    log, qrels = make(judge)
    mine = [ours(judge, log, qrels, FIVE), ours(grade, log, None, FIVE)]
    expected = mine[0]()["value"].to_numpy()
    frames = log.drop("grade").to_pandas(), qrels.to_pandas()
    for name, call in ((name, call) for name, call in PEERS.items() if name not in left_out(options.quick)):
        cold, found = clock(partial(call, *frames))
        assert np.allclose(found, expected, atol=1e-4), f"{name} finds {found}, and we {expected}"
        theirs = {f"{name}, first call {show(cold)}": partial(call, *frames)}
        if name == "ranx":
            built = for_ranx(*frames)
            theirs["ranx, built objects"] = partial(by_ranx, *built)
            theirs["ranx, built typed lists"] = partial(by_ranx, *(one.to_typed_list() for one in built))
        for label, peer in theirs.items():
            *own, its = by_turns([*mine, peer], options.runs)
            for case, seconds in zip((judge, grade), own, strict=True):
                figures, asked = [f"{show(its)} ({label})", show(seconds)], 3 if "built" in label else 35
                yield row("peers", case, case.rows, figures, its / seconds, asked)


def peak(case: Case) -> tuple[int, int, int]:
    """Return the bytes of the needed columns, what the frames add to the process, and what the call adds to that."""
    ours(case, *make(replace(case, rows=2000)))()
    start = status("VmRSS:")
    log, qrels = make(case)
    call = ours(case, log, qrels)
    needed = sum(16 if dtype == pl.String else 8 for dtype in log.dtypes) * len(log)  # a short text takes 16 bytes
    needed += 0 if qrels is None else 40 * len(qrels) - 8 * len(log)
    del log, qrels
    getattr(ctypes.CDLL(None), "malloc_trim", int)(0)  # what building the log took and does not hold is given back,
    time.sleep(2)  # by polars after a while
    Path("/proc/self/clear_refs").write_text("5")  # lets the peak begin anew
    before = status("VmHWM:")
    call()
    held = max(before - start, 0)  # of a small frame less than what was given back meanwhile
    return needed, held, status("VmHWM:") - before


def memory(options: argparse.Namespace) -> Iterator[list[str]]:
    """Measure the peak of memory, each case in a process of its own."""
    rows = max((size for size in options.rows if size <= LARGE), default=options.rows[0])
    plain = [Case(rows, order=order) for order in ORDERS]
    text = [replace(plain[-1], ids="str", roles=roles) for roles in ("doc", "grade", "judge")]
    cases = [*plain, *text, *(replace(case, library="pandas") for case in text[1:])]
    for case in cases[-1:] if options.quick else cases:
        needed, held, grown = apart(peak, case, here=options.quick)
        figures = [f"{needed / 1e6:,.0f} MB needed", f"{(held + grown) / 1e6:,.0f} MB ({grown / 1e6:,.0f} in the call)"]
        yield row("memory", case, rows, figures, (held + grown) / needed, 3)


def small(options: argparse.Namespace) -> Iterator[list[str]]:
    """Measure a call with ten rows against a group-by of these, and the same where polars has one thread."""
    plain = Case(10, 5, "clustered", "str", 0.5)
    cases = [
        replace(plain, library=name, asked=asked) for name, asked in (("polars", 5), ("pandas", 7.5), ("lazy", None))
    ]
    cases += [replace(case, roles="judge", asked=case.asked and 2 * case.asked) for case in cases]
    few = Case(400, 10, "clustered")
    for label, threads in (("", {}), ("one thread, ", {"POLARS_MAX_THREADS": "1"})):
        for case in cases:
            its, own = beside_floor(case, TEN, options, threads)
            yield row("small", f"{label}{case}", 10, [show(its), show(own)], own / its, case.asked)
        its, own = beside_floor(few, ("ndcg@10", "map"), options, threads)
        yield row("small", f"{label}two metrics, {few}", 400, [show(its), show(own)], own / its, None)


def beside_floor(case: Case, metrics: Sequence[str], options: argparse.Namespace, variables: dict[str, str]) -> Any:
    """Return the seconds of the floor and of our call; with variables of the environment, in a process apart."""
    with mock.patch.dict(os.environ, variables):
        return apart(floor_and_ours, case, metrics, 20 * options.runs, here=options.quick or not variables)


def floor_and_ours(case: Case, metrics: Sequence[str], runs: int) -> list[float]:
    """Return the seconds of the floor and of our call, by turns."""
    log, qrels = make(case)
    return by_turns([partial(log.group_by("query").agg, pl.col("grade").sum()), ours(case, log, qrels, metrics)], runs)


def cutoffs(options: argparse.Namespace) -> Iterator[list[str]]:
    """Measure 200 metrics at once, as a learning-to-rank grid asks for them, against ten."""
    for order in ("rank order", "shuffled"):
        case = Case(min(options.rows[0], 1_000_000), order=order)
        log, _ = make(case)
        few, many = by_turns([ours(case, log), ours(case, log, None, GRID)], options.runs)
        yield row(
            "cutoffs", f"200 metrics, {case}", len(log), [f"{show(few)} (ten metrics)", show(many)], many / few, 4
        )


def joined(options: argparse.Namespace) -> Iterator[list[str]]:
    """Measure five metrics with judgments beside against a bare left join of the two frames in polars."""
    for ids, library in product(("str", "int"), ("polars", "pandas")):
        case = Case(min(options.rows[0], 1_000_000), ids=ids, roles="judge", library=library)
        log, qrels = make(case)
        bare = partial(log.drop("grade").join, qrels, on=["query", "doc"], how="left")  # type: ignore[arg-type]
        its, own = by_turns([bare, ours(case, log, qrels, FIVE)], options.runs)
        yield row("join", case, len(log), [f"{show(its)} (join)", show(own)], own / its, 0.8)


def machine() -> str:
    """Describe where this runs."""
    about = Path("/proc/cpuinfo")
    simd = next((name for name in ("avx512f", "avx2") if about.exists() and name in about.read_text()), "no AVX2 seen")
    size = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30 if hasattr(os, "sysconf") else 0
    there = {found.name.replace("-", "_"): found.version for found in distributions()}
    names = ("frame_metrics", "numpy", "polars", "pandas", "pyarrow", "pytrec_eval_terrier", "ir_measures", "ranx")
    names += ("scikit_learn", "fairlearn", "scipy", "python_terrier")
    known = ", ".join(f"{name} {there[name]}" for name in names if name in there)
    return f"{os.cpu_count()} cores ({simd}), {size:.0f} GiB of memory, Python {platform.python_version()}, {known}"


def on_page(cells: Sequence[str]) -> bool:
    """Return True for a row of docs/measured.md; LEFT_OUT says what the page leaves out."""
    part, case, rows, *_, asked, _ = cells
    large = int(rows.replace(",", "")) > 9_000_000 and case.endswith("polars")
    met_there = large and asked and ("clustered" in case or asked != f"<={ODD}")
    return part != "floor" or "NO" in asked or bool(met_there)


def whole(least: int, text: str) -> int:
    """Read a number such as 1e6."""
    if not float(text) >= least or float(text) % 1:
        raise argparse.ArgumentTypeError(f"{text}: expected a whole number of at least {least:,}")
    return int(float(text))


def sizes(text: str) -> list[int]:
    """Read numbers of rows."""
    return sorted({whole(1000, one) for one in text.split(",")})


def main() -> None:
    """Print the table, each row once it is measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts: dict[str, Any] = {"floor": floor, "peers": peers, "memory": memory, "small": small}
    parts |= {
        "cutoffs": cutoffs,
        "join": joined,
        "tables": tables,
        "scores": scores,
        "compare": compared,
        "clicks": clicks,
        "import": imported,
        "backends": backends,
        "forms": forms,
        "large": large,
        "growth": growth,
        "peaks": peaks,
    }
    about = "of floor, memory, tables and scores; peers, join, cutoffs, forms and backends take the least, at most 1e6"
    parser.add_argument("--rows", default="1e6,1e7,5e7", type=sizes, help=about)
    parser.add_argument("--only", choices=parts, action="append", help="one part of the table; may be given again")
    parser.add_argument("--runs", type=partial(whole, 1), default=5, help="of each call, after one that does not count")
    parser.add_argument("--markdown", action="store_true", help="as docs/measured.md has it")
    parser.add_argument("--full", action="store_true", help="every case above 20 million rows too")
    parser.add_argument("--quick", action="store_true", help="a few thousand rows, to see that everything runs")
    options = parser.parse_args()
    if options.quick:
        options.rows, options.runs, WORK[0] = [4000], 1, 500
    form = f"| {' | '.join('{}' if options.markdown else f'{{:{width}}}' for width in WIDTHS.values())} |"
    page = options.markdown and not (options.only or options.quick)
    if page:
        print(f"# Measured\n\n[How to read it](performance.md). Printed by `tests/bench/bench.py`, {date.today()}.\n")
        print(LEFT_OUT)
    print(machine(), *(f"{name} is left out: {why}." for name, why in left_out(options.quick).items()), "", sep="\n")
    print(form.format(*WIDTHS), form.format(*["---"] * len(WIDTHS)), sep="\n")
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        os.environ["NUMBA_CACHE_DIR"] = folder  # so that the first call of ranx compiles
        warnings.simplefilter("ignore")  # the peers' own
        for name in (name for name in dict.fromkeys(options.only or parts) if name not in left_out(options.quick)):
            for cells in filter(on_page if page else None, parts[name](options)):
                print(form.format(*cells), flush=True)


if __name__ == "__main__":
    main()
