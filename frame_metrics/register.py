"""``df.irm`` on polars, and on pandas once someone imports it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import polars as pl

from frame_metrics.accessor import IRM

NAME = "irm"


class Accessor:
    """``frame.irm``, made anew each time: kept on the frame, as the libraries do, it would keep the frame alive."""

    def __get__(self, frame: Any, owner: Any = None) -> Any:
        return IRM if frame is None else IRM(frame)


class AfterPandas(MetaPathFinder):
    """Gives ``pandas.DataFrame`` its accessor when pandas is imported, if it ever is."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "pandas":
            return None
        others = (finder.find_spec(name, path, target) for finder in sys.meta_path if finder is not self)
        spec = next(filter(None, others), None)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_register(module: ModuleType) -> None:
                load(module)
                _register_pandas(module)

            setattr(spec.loader, "exec_module", load_and_register)  # noqa: B010  (mypy forbids assigning to a method)
        return spec


def _register_pandas(pandas: ModuleType) -> None:
    """Give pandas' frames their accessor, unless they have it."""
    if not hasattr(pandas.DataFrame, NAME):
        pandas.api.extensions.register_dataframe_accessor(NAME)(IRM)
    setattr(pandas.DataFrame, NAME, Accessor())


def register() -> None:
    """Give every frame its accessor, whichever library is imported first."""
    for frame, official in (
        (pl.DataFrame, pl.api.register_dataframe_namespace),
        (pl.LazyFrame, pl.api.register_lazyframe_namespace),
    ):
        if not hasattr(frame, NAME):  # else this module was loaded before
            official(NAME)(IRM)
        setattr(frame, NAME, Accessor())
    if not any(type(finder).__qualname__ == AfterPandas.__qualname__ for finder in sys.meta_path):
        sys.meta_path.insert(0, AfterPandas())
    if "pandas" in sys.modules:
        _register_pandas(import_module("pandas"))  # waits for a thread that is still importing it
