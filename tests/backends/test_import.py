"""Importing: ``df.irm`` exists whatever is imported first, at little cost, and modules see only what is below them."""

import importlib.metadata
import importlib.resources
import importlib.util
import subprocess
import sys
from ast import literal_eval
from types import ModuleType
from typing import Any

import pandas as pd
import polars as pl
import pytest

import frame_metrics
from frame_metrics import IRM, BadRowsError, FrameMetricsError
from inside import REGISTRY, imported_when_used

LOG = "{'query': [1, 1], 'score': [2.0, 1.0], 'grade': [0, 1]}"
USE = f"""
import pandas
assert pandas.DataFrame({LOG}).irm.evaluate('rr')['value'].tolist() == [0.5]
assert type(pandas.DataFrame({LOG}).irm(rel=1)).__name__ == 'IRM'
"""
# Imports, if they come at all, only after a while, as on a slow disk.
SLOWLY = """
import sys, time
class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == 'pandas.core.api':
            time.sleep(0.3)
sys.meta_path.insert(0, Slow())
"""
BLOCKED = """
import sys
class Blocked:
    names = ('pandas', 'pyarrow')
    def find_spec(self, name, path=None, target=None):
        if name.split('.')[0] in self.names:
            raise ModuleNotFoundError(f'No module named {name!r}', name=name)
sys.meta_path.insert(0, Blocked())
"""


def slow(imports: str) -> Any:
    """One more way to import the two; each takes an interpreter of its own, which takes a second."""
    return pytest.param(imports, marks=pytest.mark.slow)


def _run(code: str) -> str:
    """What a fresh interpreter prints, warnings being errors."""
    ran = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=600)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_little_is_imported() -> None:
    """Importing the package imports no library but polars and numpy, and no verb; one that is used brings no other."""
    code = f"""
import sys, numpy, polars
def loaded(): return set(sys.modules)
first = loaded()
import frame_metrics
second = loaded()
polars.DataFrame({LOG}).irm.evaluate('rr')
print([sorted(names) for names in (second - first, loaded() - second)])
"""
    imported, used = literal_eval(_run(code))
    known = {"frame_metrics", "numpy", "polars", *sys.stdlib_module_names}
    assert {name.partition(".")[0] for name in imported + used} <= known
    assert "frame_metrics.accessor" in imported
    assert not imported_when_used(imported)
    verbs = {"evaluate", "audit", "bounds", "compare", "curves", "explain", "per_class", "thresholds"}
    assert {name.rpartition(".")[2] for name in imported_when_used(used)} & verbs == {"evaluate"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "imports",
    [
        "import pandas, frame_metrics",
        slow("import pandas.core.frame\nimport frame_metrics"),
        slow("import frame_metrics\nimport pandas.core.frame"),
        slow("import frame_metrics\nfrom pandas import DataFrame"),
        slow("import pyarrow, frame_metrics"),
        slow("import frame_metrics, pyarrow\nimport pyarrow.pandas_compat"),
        slow("import frame_metrics.metrics"),
        slow("from frame_metrics.metrics.names import read"),
        slow("import frame_metrics, importlib\nimportlib.import_module('pandas')"),
    ],
)
def test_either_may_be_imported_first(imports: str) -> None:
    """A pandas frame has its accessor whichever library is imported first, and by which of its modules."""
    _run(imports + USE)


@pytest.mark.slow
@pytest.mark.parametrize("imports", ["import pyspark.sql, frame_metrics", "import frame_metrics, pyspark.sql"])
def test_spark_may_be_imported_first_or_last(imports: str) -> None:
    """A frame of Spark has its accessor whichever is imported first, and the package does not import Spark."""
    _run(f"""
{imports}
assert pyspark.sql.DataFrame.irm is frame_metrics.IRM
from pyspark.sql.classic.dataframe import DataFrame
assert DataFrame.irm is frame_metrics.IRM
""")


@pytest.mark.slow
def test_asking_for_pandas_without_importing_it() -> None:
    """Others may ask where pandas is, once or often, before anyone imports it."""
    _run(f"""
import importlib.util, sys, frame_metrics
specs = [importlib.util.find_spec('pandas') for _ in range(3)]
assert all(spec.name == 'pandas' for spec in specs)
assert 'pandas' not in sys.modules
import polars
polars.DataFrame({LOG}).irm.evaluate('rr')
{USE}
assert importlib.util.find_spec('pandas') is pandas.__spec__
""")


@pytest.mark.slow
def test_loading_pandas_by_its_spec() -> None:
    """A pandas that is loaded by hand, as lazy importers do, has its accessor."""
    _run(f"""
import importlib.util, sys, frame_metrics
spec = importlib.util.find_spec('pandas')
module = importlib.util.module_from_spec(spec)
sys.modules['pandas'] = module
spec.loader.exec_module(module)
{USE}
""")


@pytest.mark.slow
def test_lazy_loading() -> None:
    """A pandas that is loaded when it is first used has its accessor."""
    _run(f"""
import importlib.util, sys, frame_metrics
spec = importlib.util.find_spec('pandas')
spec.loader = importlib.util.LazyLoader(spec.loader)
module = importlib.util.module_from_spec(spec)
sys.modules['pandas'] = module
spec.loader.exec_module(module)
import polars
polars.DataFrame({LOG})
{USE}
""")


@pytest.mark.slow
def test_reloading() -> None:
    """Either library may be reloaded, and the package imported anew, without a warning or a second hook."""
    _run(f"""
import importlib, sys, frame_metrics, pandas
{USE}
importlib.reload(sys.modules['frame_metrics.register'])
importlib.reload(frame_metrics)
{USE}
importlib.reload(pandas)
{USE}
for name in [name for name in sys.modules if name.split('.')[0] == 'frame_metrics']:
    del sys.modules[name]
import frame_metrics
{USE}
assert len([finder for finder in sys.meta_path if type(finder).__name__ == 'AfterImport']) == 1
""")


@pytest.mark.slow
@pytest.mark.parametrize("first", [BLOCKED + "import frame_metrics", slow("import frame_metrics" + BLOCKED)])
def test_without_pandas_and_pyarrow(first: str) -> None:
    """Where neither pandas nor pyarrow is installed, polars frames are measured and pandas is missing as ever."""
    _run(f"""
{first}
import polars
assert polars.DataFrame({LOG}).irm.evaluate('rr')['value'].to_list() == [0.5]
assert polars.LazyFrame({LOG}).irm.evaluate('rr', ci=0.9).collect()['value'].to_list() == [0.5]
try:
    import pandas
except ModuleNotFoundError as error:
    assert error.name == 'pandas'
else:
    raise AssertionError('pandas is blocked')
""")


def test_pandas_that_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no finder knows pandas, asking for it gives nothing, as without the package."""
    hook = next(finder for finder in sys.meta_path if type(finder).__name__ == "AfterImport")
    monkeypatch.setattr(sys, "meta_path", [hook])
    monkeypatch.delitem(sys.modules, "pandas", raising=False)
    assert importlib.util.find_spec("pandas") is None


@pytest.mark.slow
def test_pandas_that_fails_at_first() -> None:
    """A pandas whose import fails, and is tried again, has its accessor."""
    _run(f"""{BLOCKED}
Blocked.names = ('dateutil',)
import frame_metrics
for _ in range(2):
    try:
        import pandas
    except ImportError:
        pass
    else:
        raise AssertionError('the import was to fail')
Blocked.names = ()
{USE}
""")


@pytest.mark.slow
@pytest.mark.parametrize("imports", [("pandas", "frame_metrics"), ("frame_metrics", "pandas")])
@pytest.mark.parametrize("wait", [0.0, 0.1])
def test_imports_in_threads(imports: tuple[str, str], wait: float) -> None:
    """Two threads may import the two at the same time, one half imported while the other begins."""
    _run(f"""
{SLOWLY}
import threading
failed = []
def load(name, wait):
    time.sleep(wait)
    try:
        __import__(name)
    except BaseException as error:
        failed.append(error)
threads = [threading.Thread(target=load, args=pair) for pair in zip({imports!r}, (0.0, {wait}))]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert not failed, failed
{USE}
""")


@pytest.mark.slow
def test_many_threads() -> None:
    """Many threads may import and use the package at once."""
    _run(f"""
import threading
failed, ready = [], threading.Barrier(8)
def work(i):
    ready.wait()
    try:
        if i % 2:
            import pandas, frame_metrics
        else:
            import frame_metrics, pandas
        assert pandas.DataFrame({LOG}).irm.evaluate('rr')['value'].tolist() == [0.5]
    except BaseException as error:
        failed.append(error)
threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert not failed, failed
""")


@pytest.mark.parametrize("library", [pl.DataFrame, pl.LazyFrame, pd.DataFrame], ids=["polars", "lazy", "pandas"])
def test_the_accessor_is_official(library: Any) -> None:
    """The libraries know the accessor; on the class it is the class, on a frame a new object each time."""
    frame = library(literal_eval(LOG))
    assert library.irm is IRM
    assert isinstance(frame.irm, IRM)
    assert frame.irm.frame is frame
    assert "irm" in library._accessors
    assert "irm" in dir(frame)


def test_a_frame_of_ones_own_class_has_the_accessor() -> None:
    """A subclass of a library's frame inherits it."""

    class Own(pd.DataFrame): ...

    assert Own(literal_eval(LOG)).irm.evaluate("rr")["value"].tolist() == [0.5]


def test_public_names() -> None:
    """What the package shows is exactly what it says it shows."""
    held = {name: value for name, value in vars(frame_metrics).items() if not name.startswith("_")}
    shown = {name for name, value in held.items() if not isinstance(value, ModuleType)}
    assert sorted(frame_metrics.__all__) == sorted(shown | {"metrics"})
    assert all(hasattr(frame_metrics, name) for name in frame_metrics.__all__)
    named = {name for name in dir(frame_metrics) if not name.startswith("__")}
    assert named == {*frame_metrics.__all__, "plot", "report", "testing", "typing"}
    assert not isinstance(held.get("metric"), ModuleType)


def test_every_error_is_public() -> None:
    """All errors that users may catch stand in the package itself."""
    errors = {FrameMetricsError, *FrameMetricsError.__subclasses__(), BadRowsError}
    assert {error.__name__: getattr(frame_metrics, error.__name__) for error in errors} == {
        e.__name__: e for e in errors
    }


def test_version() -> None:
    """The package says its version, and no other name that it does not have."""
    assert frame_metrics.__version__ == importlib.metadata.version("frame_metrics")
    assert not hasattr(frame_metrics, "__versions__")


def test_every_metric_is_a_value() -> None:
    """Every registered metric stands in frame_metrics.metrics under its own name."""
    assert {name: getattr(frame_metrics.metrics, name, None) for name in REGISTRY} == REGISTRY


def test_types_ship() -> None:
    """The package says that it has types."""
    assert importlib.resources.files("frame_metrics").joinpath("py.typed").is_file()


@pytest.mark.slow
def test_measuring_at_exit() -> None:
    """A frame of several blocks is measured where the interpreter starts no more threads."""
    done = subprocess.run([sys.executable, "-c", AT_EXIT], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[0.5]"], done.stderr


AT_EXIT = """
import atexit
import polars as pl
import frame_metrics
at = pl.int_range(1_000_000, eager=True)
log = pl.DataFrame({"query": at // 4, "score": at % 4, "label": (at % 4 == 2).cast(pl.Int8)})
atexit.register(lambda: print(log.irm.evaluate("rr")["value"].to_list()))
"""


def test_the_program_says_what_it_is_without_libraries() -> None:
    """--version and --help import no library of frames, nor numpy."""
    said = _run("""
import sys
from frame_metrics.command import main
assert main(['--version']) == main(['--help']) == 0
assert not {'polars', 'numpy', 'pandas'} & {*sys.modules}
""")
    assert said.startswith(f"frame-metrics {frame_metrics.__version__}\nusage: frame-metrics COMMAND")


@pytest.mark.slow
def test_names_come_when_they_are_asked_for() -> None:
    """Public names are there where polars was not imported before, for several threads at once too."""
    _run("""
import sys, frame_metrics
from concurrent.futures import ThreadPoolExecutor
assert 'polars' not in sys.modules
with ThreadPoolExecutor(8) as threads:
    found = list(threads.map(lambda i: getattr(frame_metrics, ['IRM', 'show', 'metric', 'Ranking'][i % 4]), range(32)))
assert len(set(found)) == 4
from frame_metrics.accessor import IRM
assert frame_metrics.IRM is IRM
assert frame_metrics.metrics.ndcg
""")


@pytest.mark.parametrize(("enabled", "said"), [(False, "without its global lock"), (True, "1 row")])
def test_a_python_without_its_lock_is_refused(enabled: bool, said: str) -> None:
    """Where a free-threaded build keeps the lock off, ``df.irm`` is an error with the way out; with it on, all runs."""
    tried = f"""
import sys
sys._is_gil_enabled = lambda: {enabled}
import frame_metrics, polars
try:
    print(polars.DataFrame({LOG}).irm.evaluate('rr').height, 'row')
except frame_metrics.FrameMetricsError as error:
    print(error)
"""
    printed = _run(tried)
    assert said in printed
    assert ("PYTHON_GIL=1" in printed) is not enabled
