"""Functions that are sent to other processes, with the version of this package: another version may compute others."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from frame_metrics.errors import NotComputableError
from frame_metrics.metrics.pickling import functions_by

NEEDED = ("frame_metrics", "numpy", "polars", "pyarrow")  # packages without which a worker measures nothing


class Sent:
    """A function to send to another process; it is pickled together with the version of this package."""

    def __init__(self, function: Callable[[Any], Any], dumps: Callable[[Any], bytes]) -> None:
        self._function, self._dumps = function, dumps

    def __call__(self, given: Any) -> Any:
        return self._function(given)

    def __reduce__(self) -> tuple[Any, ...]:
        with functions_by(self._dumps):
            return Arrived, (installed(), self._dumps(self._function))


class Arrived:
    """A function that came from another process; it is unpickled only if the versions of the package agree."""

    def __init__(self, version: str, pickled: bytes) -> None:
        self._version, self._pickled = version, pickled

    @cached_property
    def _function(self) -> Callable[[Any], Any]:
        if (own := installed()) != self._version:
            raise NotComputableError(
                f"a worker has frame_metrics {own}, and was sent work by frame_metrics {self._version}; "
                "install one version for both"
            )
        try:
            function: Callable[[Any], Any] = pickle.loads(self._pickled)
        except ModuleNotFoundError as error:
            if str(error.name).partition(".")[0] in NEEDED:
                raise
            raise NotComputableError(
                f"a worker cannot import {error.name}, which a function that was sent to it reads; install it there"
            ) from None
        return function

    def __call__(self, given: Any) -> Any:
        return self._function(given)

    def __reduce__(self) -> tuple[Any, ...]:
        return Arrived, (self._version, self._pickled)


def installed() -> str:
    """Return the version of the package in this process."""
    try:
        return version("frame_metrics")
    except PackageNotFoundError:  # as where its files alone were copied
        return "of no known version"
