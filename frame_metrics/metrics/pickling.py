"""Own metrics in other processes: the module that defines one is imported there, or its function travels with it."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from importlib import import_module
from typing import Any, TypeAlias
from uuid import uuid4

from frame_metrics.errors import NotComputableError, UnknownNameError, quote

Dumps: TypeAlias = Callable[[Any], bytes]
OURS = "frame_metrics.metrics."  # the modules of our kernels, which every process with the package has
SESSIONS = ("__main__", "__mp_main__")  # of a script or a notebook; in another process these are something else
# Modules that pickle functions by value, if one is in use: of their own, of joblib, of Spark.
PICKLERS = ("cloudpickle", "joblib.externals.cloudpickle", "pyspark.cloudpickle")
PROCESS = uuid4().hex  # of this process, and of those that are forked from it
_DUMPS: ContextVar[Dumps | None] = ContextVar("_DUMPS", default=None)


@contextmanager
def functions_by(dumps: Dumps) -> Iterator[None]:
    """Pickle the functions of own metrics with ``dumps`` inside the block: the other process can read that."""
    token = _DUMPS.set(dumps)
    try:
        yield
    finally:
        _DUMPS.reset(token)


def origin_of(kernel: Any, described: Callable[[], Any]) -> tuple[Any, ...]:
    """Return what another process needs to find a metric's function.

    Returns
    -------
    Nothing for a function of ours; the name of the module for one at the top of a module; else the module, marks of
    the function in this process, and the pickled function, if there is a way to pickle it.

    Parameters
    ----------
    kernel : the function.
    described : returns the fields of its metric that are declared, and the resolved annotations of its parameters: a
        pickled function loses the names that they are written in.
    """
    module = str(kernel.__module__)
    if module.startswith(OURS):
        return ()
    if not _moves(kernel, module):
        return (module,)
    pickled = _pickled(kernel, described())
    return (module,) if pickled is None else (module, (PROCESS, id(kernel)), pickled)


def _moves(kernel: Any, module: str) -> bool:
    """Return True for a function that importing its module in another process would not define."""
    if module in SESSIONS or module not in sys.modules or "<locals>" in kernel.__qualname__:
        return True
    used = [sys.modules[name] for name in PICKLERS if name in sys.modules]
    return any(module in one.list_registry_pickle_by_value() for one in used)


def _pickled(kernel: Any, described: Any) -> bytes | None:
    """Return a function and what describes it as bytes; None if nothing in use pickles functions by value."""
    dumps = _DUMPS.get()
    if dumps is not None:
        try:
            return dumps(described)
        except Exception as error:
            raise NotComputableError(
                f"{kernel.__name__}: its function cannot be sent to other processes, {type(error).__name__}: {error}; "
                "give it values that can be pickled, as parameters or as plain variables"
            ) from error
    used = next((sys.modules[name] for name in PICKLERS if name in sys.modules), None)
    try:
        return None if used is None else used.dumps(described)
    except Exception:  # then it is found by its name, or not at all
        return None


def same_here(origin: tuple[Any, ...], kernel: Any) -> bool:
    """Return True if a metric that is known here has the function that was sent."""
    if len(origin) < 2:
        return not origin or str(kernel.__module__) == origin[0]
    return bool(origin[1] == (PROCESS, id(kernel)))


@lru_cache(maxsize=64)  # of a worker that does many tasks with one metric
def described_in(pickled: bytes) -> dict[str, Any]:
    """Return the fields of a metric whose function was sent."""
    fields: dict[str, Any]
    fields, hints = pickle.loads(pickled)
    fields["kernel"].__annotations__ = hints
    return fields


def import_for(name: str, module: str) -> None:
    """Import the module that defines a metric, and so registers it."""
    if module in (*SESSIONS, OURS):
        return
    try:
        import_module(module)
    except ModuleNotFoundError as error:
        if error.name not in (module, module.partition(".")[0]):
            raise
        raise UnknownNameError(
            f"{name}: it is a metric of the module {quote(module)}, which a process that measures cannot import; send "
            f"the file to the workers (of Spark: session.addArtifact('{module}.py', pyfile=True), of Dask: "
            f"client.upload_file('{module}.py')), or install the module there"
        ) from None


def unknown(name: str, module: str) -> UnknownNameError:
    """Return the error for a metric that is not known in this process."""
    if module in SESSIONS:
        return UnknownNameError(
            f"there is no metric {quote(name)} here: its function was defined in a script or a notebook of another "
            "process; define it in a module that both import, or install cloudpickle and import it there"
        )
    if module == OURS:
        return UnknownNameError(f"there is no metric {quote(name)} here; install one version of frame_metrics for both")
    return UnknownNameError(
        f"the module {quote(module)} has no metric {quote(name)} where it is imported by another process; define it at "
        "the top of the module, without a condition"
    )
