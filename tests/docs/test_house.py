"""The house: which part of the package imports which, what each may know of other libraries; helpers of the tests."""

from __future__ import annotations

import ast
import graphlib
import math
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import combinations, product
from pathlib import Path

import pandas as pd
import pytest

import drawing
import frame_metrics
from frame_metrics.roles.columns import Columns
from helpers import pairwise_cases

PACKAGE = Path(frame_metrics.__file__).parent

# What each file and folder at the root of the package imports of the others, from the bottom up.
HOUSE: dict[str, set[str]] = {
    "errors": set(),
    "threads": set(),
    "hidden": set(),
    "inputs": {"errors"},
    "metrics": {"errors", "inputs"},
    "answer": {"inputs"},
    "roles": {"answer", "errors", "inputs", "metrics"},
    "stats": {"errors", "inputs", "metrics", "threads"},
    "backends": {"answer", "errors", "hidden", "inputs", "metrics", "threads"},
    "fast": {"answer", "inputs", "roles", "threads"},
    "keys": {"answer", "backends", "errors", "fast", "hidden", "inputs", "roles", "threads"},
    "data": {"answer", "backends", "errors", "fast", "hidden", "inputs", "keys", "roles", "threads"},
    "plan": {"answer", "backends", "data", "errors", "fast", "hidden", "inputs", "keys", "metrics", "roles", "stats"},
    "measuring": {
        "answer",
        "backends",
        "data",
        "errors",
        "fast",
        "hidden",
        "inputs",
        "keys",
        "metrics",
        "plan",
        "roles",
        "stats",
        "threads",
    },
    "verbs": {
        "answer",
        "backends",
        "data",
        "errors",
        "fast",
        "hidden",
        "inputs",
        "keys",
        "measuring",
        "metrics",
        "plan",
        "roles",
        "stats",
        "threads",
    },
    "plot": {"backends", "errors", "hidden", "inputs", "measuring", "metrics", "stats"},
    "report": {
        "answer",
        "backends",
        "errors",
        "inputs",
        "measuring",
        "metrics",
        "plan",
        "plot",
        "roles",
        "stats",
        "verbs",
    },
    "misuse": {"backends", "errors", "metrics", "plan", "roles"},
    "accessor": {"backends", "errors", "measuring", "metrics", "misuse", "plan", "plot", "report", "roles", "verbs"},
    "register": {"accessor", "errors"},
    "testing": {"accessor", "backends", "errors", "inputs", "metrics"},
    "typing": {"backends", "measuring", "metrics", "plan", "roles", "verbs"},
    "command": {"accessor", "backends", "errors", "measuring", "metrics", "plan", "report", "roles", "verbs"},
    "__init__": {"accessor", "backends", "errors", "inputs", "metrics", "register"},
    "__main__": {"command"},
}
NO_FRAMES = ("errors", "threads", "inputs", "metrics", "stats")  # neither polars nor pandas is known here
KERNELS = ("metrics.confusion", "metrics.ranking", "metrics.classes", "metrics.scores", "metrics.clicks")
KERNELS += ("metrics.user_models",)
SEEN = ("metrics.metric", "metrics.registry", "metrics.parameters", "inputs", "errors")
# Libraries beside polars and numpy, and who imports them inside a function; only pictures are nothing without theirs.
FOREIGN = {
    "backends.arrow": {"pyarrow"},
    "backends.dask": {"cloudpickle", "dask"},
    "backends.duckdb": {"pyarrow"},
    "backends.exporters": {"pyarrow"},
    "backends.pandas": {"pandas", "pyarrow"},
    "backends.spark": {"pyarrow", "pyspark"},
    "command.run": {"shtab"},
    "report.tables": {"pandas"},
    "backends.progress": {"tqdm"},
}


def _modules() -> dict[str, ast.Module]:
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")
        found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


MODULES = _modules()


def _imports(node: ast.AST, inside: bool = False) -> Iterator[tuple[str, bool]]:
    """Every module that is imported when code runs, and whether only inside a function."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from ((alias.name, inside) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, "imports are absolute"
            module = str(child.module)
            inner = module.removeprefix("frame_metrics").removeprefix(".")
            for alias in child.names:
                own = f"{inner}.{alias.name}".removeprefix(".")
                yield (f"frame_metrics.{own}" if own in MODULES else module), inside
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            yield from ((name, inside) for part in child.orelse for name, _ in _imports(part, inside))
        else:
            yield from _imports(child, inside or isinstance(child, ast.FunctionDef | ast.Lambda))


@cache
def _own(module: str) -> set[str]:
    """The modules of the package that a module imports; "__init__" is the package itself."""
    names = {name for name, _ in _imports(MODULES[module]) if name.split(".")[0] == "frame_metrics"}
    return {name.removeprefix("frame_metrics").removeprefix(".") or "__init__" for name in names}


def _room(module: str) -> str:
    return module.split(".")[0]


def test_imports_are_those_of_the_house() -> None:
    """Each file and folder at the root imports just what its line says."""
    found: dict[str, set[str]] = {_room(module): set() for module in MODULES}
    for module in MODULES:
        found[_room(module)] |= {_room(other) for other in _own(module)} - {_room(module)}
    assert found == HOUSE


def test_columns_that_the_package_makes_are_named_in_one_file() -> None:
    """Such a name begins with a null character, and no text beside those of hidden.py does."""

    def hidden(module: str) -> list[str]:
        texts = [node.value for node in ast.walk(MODULES[module]) if isinstance(node, ast.Constant)]
        return [text for text in texts if isinstance(text, str) and text.startswith("\0") and len(text) > 1]

    assert {module for module in MODULES if hidden(module)} == {"hidden"}
    assert len(hidden("hidden")) == len({*hidden("hidden")})


def test_what_reads_the_table_of_values_knows_no_log() -> None:
    """Means, pairs, splits, baselines and comparisons read values by their index; log and blocks end with kernels."""
    readers = {f"measuring.{name}" for name in ("values", "results", "pairs", "split", "baseline")}
    readers |= {module for module in MODULES if module.startswith("verbs.compare.")} | {"verbs.evaluate"}
    of_rows = {"data.cases", "data.by_document"}  # rows without a query have no table of values
    found = {module: {one for one in _own(module) - of_rows if one.startswith("data.")} for module in readers}
    assert {module: imports for module, imports in found.items() if imports} == {}
    assert {"measuring.values", "verbs.compare.paired"} <= readers <= {*MODULES}


def test_nothing_is_imported_upwards() -> None:
    """The lines of the house stand in an order in which each imports only those above it."""
    order = list(HOUSE)
    assert [(room, low) for room in order for low in HOUSE[room] if order.index(low) >= order.index(room)] == []


def test_no_verb_imports_another() -> None:
    """What two verbs share is below them."""
    verbs = {module: module.split(".")[1] for module in MODULES if module.startswith("verbs.")}
    pairs = ((module, other) for module in verbs for other in _own(module) & {*verbs})
    assert [(module, other) for module, other in pairs if verbs[module] != verbs[other]] == []


def test_no_two_modules_import_each_other() -> None:
    """Inside the folders, too, there is no circle, and few floors."""
    sorter = graphlib.TopologicalSorter({module: _own(module) - {module} for module in MODULES})
    sorter.prepare()
    floors = 0
    while sorter.is_active():
        ready = sorter.get_ready()
        sorter.done(*ready)
        floors += 1
    print(f"{floors} floors of imports")


def test_no_two_classes_have_one_name() -> None:
    """One word has one meaning."""
    names = Counter(node.name for tree in MODULES.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    assert [name for name, times in names.items() if times > 1] == []


@pytest.mark.parametrize("module", KERNELS)
def test_what_kernels_see(module: str) -> None:
    """Kernels see numpy, the metric, its input, the errors and other kernels, and nothing else."""
    seen = {name for name, _ in _imports(MODULES[module])}
    libraries = {name for name in seen if name.split(".")[0] not in sys.stdlib_module_names}
    assert libraries <= {"numpy", *(f"frame_metrics.{name}" for name in (*SEEN, *KERNELS))}


@pytest.mark.parametrize("module", MODULES)
def test_who_knows_of_libraries(module: str) -> None:
    """Only the backend, and those that are listed, import more than polars and numpy, where they need it."""
    imported = [(name.split(".")[0], inside) for name, inside in _imports(MODULES[module])]
    home = {*sys.stdlib_module_names, "numpy", "frame_metrics", *(() if _room(module) in NO_FRAMES else ("polars",))}
    home |= {"altair"} if _room(module) == "plot" else set()
    foreign = {pair for pair in imported if pair[0] not in home}
    assert foreign <= {(library, True) for library in FOREIGN.get(module, ())}
    spoken = {node.value for node in ast.walk(MODULES[module]) if isinstance(node, ast.Constant)}
    assert _room(module) in ("backends", "register") or not spoken & {"pandas", "pyarrow"}


def test_the_drawing_has_every_room_above_what_it_imports() -> None:
    """Each room stands once in the drawing, above its imports; a line goes to those not reached through another."""
    floors = drawing.floors_of(HOUSE)
    height = {room: floor for floor, rooms in enumerate(floors) for room in rooms}
    assert sorted(height) == sorted(HOUSE) == sorted(drawing.ROOMS)
    assert all(height[low] < height[room] for room in HOUSE for low in HOUSE[room])
    assert drawing.nearest({"a": set(), "b": {"a"}, "c": {"a", "b"}}, "c") == {"b"}
    assert drawing.drawing(HOUSE, NO_FRAMES).count("<rect") == len(HOUSE)


def test_who_imports_the_accessor() -> None:
    """Nothing below imports the accessor: only what registers it, the package, the laws, and the command line."""
    rooms = {_room(module) for module in MODULES if "accessor" in _own(module)}
    assert rooms == {"register", "testing", "command", "__init__"}
    assert {module for module in MODULES if "register" in _own(module)} == {"__init__"}


def test_what_is_read_of_columns_is_there() -> None:
    """Type checkers take any attribute of Columns for a role: each that is read is one, or belongs to another class."""
    there = {*dir(Columns.of(query=())), *dir(list), *dir(dict), *dir(pd.Index)}
    rooms = ("roles", "data", "plan", "measuring", "verbs")
    nodes = (node for module, tree in MODULES.items() if _room(module) in rooms for node in ast.walk(tree))
    read = [node for node in nodes if isinstance(node, ast.Attribute)]
    owners = {node: getattr(node.value, "id", getattr(node.value, "attr", "")) for node in read}
    assert {node.attr for node in read if owners[node].endswith("columns")} <= there


def test_any_two_values_meet() -> None:
    """Of a product of three lists or more all pairs are there, in as many cases as the two longest lists have pairs."""
    for lists in (("abc", "de", "fghi"), ("ab", "cd", "ef"), ("abc", "de", "fghi", "jklmno")):
        cases = pairwise_cases(*lists)
        assert len(cases) == math.prod(sorted(map(len, lists))[-2:])
        for i, j in combinations(range(len(lists)), 2):
            assert {(case[i], case[j]) for case in cases} == {*product(lists[i], lists[j])}
