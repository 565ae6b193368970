"""Files larger than memory, of Parquet: the part "large" of the table of bench.py."""

from __future__ import annotations

import argparse
import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from math import gcd
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from timing import apart, clock, row, show, status

METRICS = ("ndcg@10", "ap", "rr", "precision@5", "precision@10", "recall@10", "rprec", "dcg@5", "success@1", "bpref")
ALLOWED = {20_000_000: 0.5, 200_000_000: 1.5}  # rows, and memory= in GB
QUICK = {5_000: 0.1}
GROUP, IN_GROUP = 500_000_000, 50_000_000  # bytes of a group of Linux, as containers are, and rows that are read in it
CHUNK = 2_000_000
STEP = 982_451_653  # a prime: multiples of it go through all rows, in no order


def left_out_large() -> dict[str, str]:
    """Return that nothing can be measured, and why."""
    return {} if Path("/proc/self/fd").exists() else {"large": "memory and open files are read from /proc"}


def write(path: Path, rows: int, *, shuffled: bool, text: bool = False) -> None:
    """Write a log in queries of 100 rows, of which 7 % are relevant, from five devices.

    With ``text`` its ids are texts, documents have some too, and the row groups are those that pyarrow makes.
    """
    assert gcd(STEP, rows) == 1
    writer = None
    for start in range(0, rows, CHUNK):
        place = np.arange(start, min(start + CHUNK, rows), dtype=np.int64)
        place = place * STEP % rows if shuffled else place
        query, mixed = place // 100, (place * 2654435761) & 0xFFFFFFFF
        score = 100 - place % 100 + (mixed >> 8) / 2**24 * 0.9
        grade = np.where(mixed % 97 < 7, (mixed >> 4) % 3 + 1, 0).astype(np.int8)
        columns = {"query": query, "score": score, "grade": grade, "device": (query * 40503 % 5).astype(np.int8)}
        table = pa.table(columns | ({"query": texts(query), "doc": texts(mixed)} if text else {}))
        writer = writer or pq.ParquetWriter(path, table.schema, compression="zstd")
        writer.write_table(table, row_group_size=None if text else 500_000)
    if writer:
        writer.close()


def texts(ids: Any) -> Any:
    """Return numbers as texts of some letters."""
    return pa.array(np.char.add("id", ids.astype(str)))


def temporary() -> int:
    """Return the bytes of the files that this process has open and that have no name."""
    found = 0
    for link in Path("/proc/self/fd").iterdir():
        try:
            found += 512 * link.stat().st_blocks if "(deleted)" in os.readlink(link) else 0
        except OSError:  # closed meanwhile
            continue
    return found


def group() -> Path | None:
    """Make a group below that of this process, of either version; None where the system does not let it."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, kinds, own = line.split(":", 2)
        folder = Path("/sys/fs/cgroup", kinds, own.lstrip("/"), "frame_metrics")
        limit = folder / ("memory.limit_in_bytes" if kinds else "memory.max")
        with suppress(OSError):
            folder.mkdir(exist_ok=True)
            if limit.exists():
                limit.write_text(str(GROUP))
                return folder
            folder.rmdir()
    return None


def measured(path: Path, memory: float | None, within: Path | None = None) -> tuple[float, int, int]:
    """Return the seconds that evaluating a file takes, the memory that it adds at most, and its temporary bytes."""
    if within is not None:  # before anything looks at how much memory there is
        Path(within, "cgroup.procs").write_text(str(os.getpid()))
    import polars as pl

    import frame_metrics  # noqa: F401  (for the accessor)

    most, ended = [0], threading.Event()
    before = status("VmRSS:")

    def watch() -> None:
        while not ended.wait(0.2):
            most[0] = max(most[0], temporary())

    def call() -> Any:
        irm: Any = pl.scan_parquet(path).irm  # type: ignore[attr-defined]  # a column doc is found by name
        return irm(query="query", by="device", memory=memory and f"{memory}GB").evaluate(*METRICS, ci=0.95).collect()

    watcher = threading.Thread(target=watch)
    watcher.start()
    seconds, _ = clock(call)
    ended.set()
    watcher.join()
    return seconds, status("VmHWM:") - before, most[0]


def large(options: argparse.Namespace) -> Iterator[list[str]]:
    """Measure files of two sizes, in rank order and shuffled, once each and in a process of its own; one if quick."""
    with tempfile.TemporaryDirectory() as folder:
        for order in ("shuffled",) if options.quick else ("rank order", "shuffled"):
            least: tuple[int, float] | None = None
            for rows, memory in (QUICK if options.quick else ALLOWED).items():
                write(path := Path(folder, "log.parquet"), rows, shuffled=order == "shuffled")
                seconds, held, spilled = apart(measured, path, memory, here=options.quick)
                own = f"{show(seconds)}, {held / 1e9:.2f} GB, {spilled / 1e9:.2f} GB temporary"
                case = f"ten metrics, five segments, ci=0.95, {order}"
                yield row("large", case, rows, [f"memory={memory}GB", own], held / 1e9 / memory, 1)
                least = least or (rows, seconds / rows)
                if rows > least[0]:
                    grown = seconds / rows / least[1]
                    label = f"time per row, over that at {least[0]:,}: files, {order}"
                    yield row("growth", label, rows, ["1.00 times", f"{grown:.2f} times"], grown, 1.3)
        yield of_texts(path, options)
        if not options.quick:
            yield from grouped(path)


def of_texts(path: Path, options: argparse.Namespace) -> list[str]:
    """Measure a shuffled file whose ids are texts."""
    rows, memory = next(iter(QUICK.items())) if options.quick else (5_000_000, 0.2)
    write(path, rows, shuffled=True, text=True)
    seconds, held, spilled = apart(measured, path, memory, here=options.quick)
    own = f"{show(seconds)}, {held / 1e9:.2f} GB, {spilled / 1e9:.2f} GB temporary"
    return row("large", "text ids, doc named, shuffled", rows, [f"memory={memory}GB", own], held / 1e9 / memory, 1.5)


def grouped(path: Path) -> Iterator[list[str]]:
    """Measure a shuffled file in a group that has little memory, and is killed where it takes more."""
    within = group()
    if within is None:
        return
    write(path, IN_GROUP, shuffled=True)
    seconds, held, spilled = apart(measured, path, None, within)
    own = f"{show(seconds)}, {held / 1e9:.2f} GB, {spilled / 1e9:.2f} GB temporary"
    yield row("large", "the same in a group of 500 MB", IN_GROUP, ["500 MB", own], held / GROUP, 1)
    with suppress(OSError):  # of a process that has not quite ended
        within.rmdir()
