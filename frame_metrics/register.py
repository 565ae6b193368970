"""``df.irm`` on the frames of polars and other libraries, once someone imports them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from operator import attrgetter
from types import ModuleType
from typing import Any

from frame_metrics.errors import ColumnError, class_name, quote

NAME = "irm"
# The modules that have classes of frames, and where in them the hook is with which the library registers accessors.
HOOKS: dict[str, dict[str, str]] = {
    "polars": {"DataFrame": "api.register_dataframe_namespace", "LazyFrame": "api.register_lazyframe_namespace"},
    "pandas": {"DataFrame": "api.extensions.register_dataframe_accessor"},
    "dask.dataframe": {"DataFrame": "extensions.register_dataframe_accessor"},
    "pyspark.sql.dataframe": {"DataFrame": ""},  # of classic sessions and those of Connect; there is no hook
}
# The classes of groups of rows in these modules.
GROUPS = {
    "polars": ("dataframe.group_by.GroupBy", "lazyframe.group_by.LazyGroupBy"),
    "pandas": ("api.typing.DataFrameGroupBy",),
}


class Accessor:
    """``frame.irm``, made anew each time: kept on the frame, as the libraries do, it would keep the frame alive."""

    def __get__(self, frame: Any, owner: Any = None) -> Any:
        from frame_metrics.accessor import IRM

        return IRM if frame is None else IRM(frame)


class OfGroups:
    """``groups.irm`` of pandas and polars, an error that says how segments are named."""

    def __get__(self, groups: Any, owner: Any = None) -> Any:
        if groups is None:
            return self
        keys = getattr(groups, "keys", None)
        if isinstance(given := vars(groups).get("by"), tuple) and given:  # of polars
            keys = [*given] if len(given) > 1 else given[0]
        names = keys if isinstance(keys, list) else [keys]
        by = quote(keys) if all(isinstance(name, str) for name in names) else "..."
        raise ColumnError(
            f"a {class_name(groups)} has no irm; give the frame, and name its segments: frame.irm(by={by})"
        )


class AfterImport(MetaPathFinder):
    """Gives the frames of a library their accessor when it is imported, if it ever is."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in HOOKS:
            return None
        others = (finder.find_spec(name, path, target) for finder in sys.meta_path if finder is not self)
        spec = next(filter(None, others), None)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_register(module: ModuleType) -> None:
                load(module)
                _register_in(module)

            setattr(spec.loader, "exec_module", load_and_register)  # noqa: B010  (mypy forbids assigning to a method)
        return spec


def _register_in(module: ModuleType) -> None:
    """Give the frames of a module that was imported their accessor; by its library's own hook, if there is one."""
    for name, hook in HOOKS[module.__name__].items():
        frame = getattr(module, name)
        if hook and not hasattr(frame, NAME):
            attrgetter(hook)(module)(NAME)(Accessor)
        setattr(frame, NAME, Accessor())
    for path in GROUPS.get(module.__name__, ()):
        setattr(attrgetter(path)(module), NAME, OfGroups())


def register() -> None:
    """Give every frame its accessor, whichever library is imported first."""
    if not any(type(finder).__qualname__ == AfterImport.__qualname__ for finder in sys.meta_path):
        sys.meta_path.insert(0, AfterImport())
    for name in HOOKS:
        if name in sys.modules:
            _register_in(import_module(name))  # waits for a thread that is still importing it
