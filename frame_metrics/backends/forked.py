"""A process that was forked after polars had started its threads, which do not exist in it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextvars import copy_context
from threading import Thread, current_thread
from typing import Any, TypeVar, cast

from frame_metrics.errors import FrameMetricsError
from frame_metrics.threads import FEW_ROWS, restart

Result = TypeVar("Result")
TASKS = "/proc/self/task"  # where Linux lists the threads of a process
PATIENCE = 3.0  # seconds in which a call computes nothing, after which it waits for threads that do not exist
WATCHED = "frame_metrics, watched"
_state = {"started": False, "lost": False}


def _started() -> bool:
    """Return True if polars has started threads in this process; False too where the system does not list them."""
    if not os.path.isdir(TASKS):
        return False
    names: list[str] = []
    for task in os.listdir(TASKS):
        try:
            with open(f"{TASKS}/{task}/comm", encoding="utf-8", errors="replace") as file:
                names.append(file.read().strip())
        except OSError:  # the thread has ended
            continue
    return any(name.startswith("polars-") and name[len("polars-") :].isdigit() for name in names)


def _before() -> None:
    _state["started"] = _started()


def _in_child() -> None:
    _state["lost"] |= _state["started"]
    restart(alone=_state["lost"])


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_child=_in_child)


def is_lost() -> bool:
    """Return True in a forked process whose parent had started the threads of polars."""
    return _state["lost"]


def check_threads(what: str) -> None:
    """Raise in such a process; ``what``: a call that needs the threads."""
    if is_lost():
        raise FrameMetricsError(
            f"{what}: this process was forked from one in which polars had started its threads. They do not exist "
            "here, and the call would wait for them without end; start processes by another method, with "
            "multiprocessing.get_context('spawn') or 'forkserver'; concurrent.futures takes it as mp_context="
        )


def guarded(what: str, rows: int | None, work: Callable[[], Result]) -> Result:
    """Run work that may need the threads of polars, in such a process; raise if it does.

    Small frames mostly need none. They are tried, and whoever waits for threads computes nothing any more.

    Parameters
    ----------
    what : the call, for the error.
    rows : the rows of the frame; None if they are not in memory.
    work : the call.
    """
    if current_thread().name == WATCHED:  # a verb that another one calls
        return work()
    if rows is None or rows > FEW_ROWS:
        check_threads(what)
    found: dict[str, Any] = {}

    def tried() -> None:
        try:
            found["result"] = work()
        except BaseException as error:
            found["error"] = error

    thread = Thread(target=copy_context().run, args=(tried,), name=WATCHED, daemon=True)
    thread.start()
    if not _ends(thread):
        check_threads(what)
    if "error" in found:
        raise found["error"]
    return cast(Result, found["result"])


def _ends(thread: Thread) -> bool:
    """Wait for a thread, and return False once it has computed nothing for a while."""
    spent, since, pause = -1.0, time.monotonic(), 0.001
    while thread.is_alive():
        thread.join(pause)
        pause = min(2 * pause, 0.1)
        if thread.ident is None or not thread.is_alive():
            continue
        now = time.clock_gettime(time.pthread_getcpuclockid(thread.ident))
        if now > spent:
            spent, since = now, time.monotonic()
        elif time.monotonic() - since > PATIENCE:
            return False
    return True
