"""Metrics of users: kernels put in the registry, what is refused of them, and what they may give."""

from __future__ import annotations

import pickle
import re
import sys
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal

import numpy as np
import polars as pl
import pytest

import frame_metrics
from frame_metrics import (
    BadValueError,
    Confusion,
    FrameMetricsError,
    KernelError,
    Metric,
    Ranking,
    Scores,
    UnknownNameError,
    metric,
    metrics,
)
from frame_metrics.testing import BrokenLawError, check_metric
from helpers import KINDS, as_kind, as_polars, error
from inside import REGISTRY, FullRanking, read_text

Array = np.ndarray[Any, Any]


@pytest.fixture
def log() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "query": [1, 1, 1, 2, 2],
            "score": [3.0, 2.0, 1.0, 2.0, 1.0],
            "label": [0, 1, 1, 1, 0],
            "price": [10.0, 20.0, 60.0, 5.0, None],
        }
    )


def late() -> Metric:
    @metric(undefined=None)
    def found_late(run: Ranking, k: int | None = None, after: int = 1) -> Array:
        """Share of the relevant results that stand below a rank."""
        return run.total(run.relevant * run.within(k) * (run.rank > after)) / run.hits()

    return found_late


# Names and values


@pytest.mark.parametrize("kind", KINDS)
def test_a_users_metric_is_asked_for_by_name_and_by_value(log: pl.DataFrame, kind: str) -> None:
    """On every kind of frame, with a cutoff and with parameters, as ours are."""
    own = late()
    frame = as_kind(log.drop("price"), kind)
    asked = ["found_late", "FOUND-LATE@2", own(after=2), own @ 1, "found_late(after=2)@3"]
    found = as_polars(frame_metrics.IRM(frame).per_query(*asked, layout="wide")).drop("answered")
    assert found.rows() == [(1, 1.0, 0.5, 0.5, 0.0, 0.5), (2, 0.0, 0.0, 0.0, 0.0, 0.0)]
    assert found.columns == ["query", "found_late", "FOUND-LATE@2", "found_late(after=2)", "found_late@1", asked[-1]]


def test_a_users_metric_is_used_by_every_verb(log: pl.DataFrame) -> None:
    """Averages, intervals, curves, comparison, explanation; and the list of metrics shows it."""
    late()
    two = pl.concat(
        [log.with_columns(system=pl.lit(one), score=pl.col("score") * sign) for one, sign in (("a", 1), ("b", -1))]
    )
    irm = two.irm(system="system")
    assert irm.evaluate("found_late", ci=0.9)["value"].to_list() == [0.5, 0.75]
    assert irm.compare("found_late", baseline="a")["difference"].to_list() == [0.25]
    assert log.irm.curve("found_late@k", cutoffs=3)["value"].to_list() == [0.0, 0.25, 0.5]
    assert log.irm.explain("found_late", query=1)["contribution"].to_list() == [0.0, 1.0, 0.0]
    (row,) = frame_metrics.list_metrics().filter(name="found_late").rows(named=True)
    assert (row["about"], row["cutoff"], row["parameters"]) == (late().doc, "k", "after")


def test_users_tables_and_scores_are_read_as_ours_are() -> None:
    """A table at a cutoff, of predictions, of each class and summed; scores of pooled rows."""

    @metric()
    def found_or_right(table: Confusion) -> Array:
        return (table.tp + 1) / (table.tp + table.fp + table.fn + 1)

    @metric(undefined=None)
    def best_first(scores: Scores) -> Array:
        first = (scores.pos > 0) & (scores.tp == scores.pos)
        return scores.total(np.where(first, scores.score, 0)) / (scores.positives > 0)

    rows = pl.DataFrame({"label": [1, 0, 1], "predicted": [1, 1, 0], "score": [0.5, 0.25, 0.75], "query": [1, 1, 2]})
    pooled = rows.irm(query=None)
    assert pooled.evaluate("found_or_right", "best_first")["value"].to_list() == [0.5, 0.75]
    ranked = rows.irm(query="query", predicted=None)
    assert ranked.evaluate("found_or_right@1", average="micro")["value"].to_list() == [1.0]
    classes = pl.DataFrame({"label": ["a", "b", "c"], "predicted": ["a", "b", "b"]}).irm
    assert classes.per_class("found_or_right")["value"].to_list() == [1.0, 2 / 3, 0.5]


def test_a_metric_without_a_docstring_is_listed() -> None:
    """It says nothing of itself, and that is no error."""

    @metric()
    def bare(run: Ranking) -> Array:
        return run.hits()

    assert frame_metrics.list_metrics().filter(name="bare")["about"].to_list() == [""]


def test_a_cell_of_a_notebook_may_be_run_twice(log: pl.DataFrame) -> None:
    """The same function defined again takes the place of the first, in texts that were read before too."""

    def cell(factor: float) -> Metric:
        @metric(best=None, range=(0, np.inf), also=["doubled"] if factor == 1 else [])
        def scaled(run: Ranking) -> Array:
            return factor * run.hits()

        return scaled

    first, kept = cell(1), log.irm()
    assert kept.evaluate("scaled")["value"].to_list() == [1.5]
    assert log.irm.evaluate("scaled", "doubled")["value"].to_list() == [1.5, 1.5]
    second = cell(2)
    assert kept.evaluate("scaled")["value"].to_list() == log.irm.evaluate("scaled")["value"].to_list() == [3.0]
    assert log.irm.evaluate(first)["value"].to_list() == [1.5]  # by value it is what it was
    assert first != second
    with pytest.raises(UnknownNameError, match="there is no metric 'doubled'"):
        read_text("doubled")


def test_a_name_of_another_module_is_taken() -> None:
    """A function of the same name that was defined elsewhere is not replaced in silence."""
    late()
    source = "def found_late(run: Ranking) -> object:\n    return run.hits()\n"
    other: dict[str, Any] = {"Ranking": Ranking, "__name__": "elsewhere"}
    exec(source, other)
    with pytest.raises(UnknownNameError, match=r"there is a metric 'found_late' of the module '.*test_own_metrics' al"):
        metric()(other["found_late"])
    assert "after" in read_text("found_late")[0][1].options


def test_a_function_that_moves_from_a_notebook_to_a_module_takes_its_place_along() -> None:
    """What was defined in __main__ is replaced by whatever comes; the other way round it is an error, as above."""
    source = "def moved(run: Ranking) -> object:\n    return run.hits()\n"
    made = {}
    for module in ("__main__", "shop.metrics"):
        scope: dict[str, Any] = {"Ranking": Ranking, "__name__": module}
        exec(source, scope)
        made[module] = metric(best=None, range=(0, np.inf))(scope["moved"])
    assert read_text("moved")[0][1] is made["shop.metrics"]


def _named(name: str) -> Callable[[Ranking], Array]:
    def kernel(run: Ranking) -> Array:
        return run.hits()

    kernel.__name__ = name
    return kernel


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("ndcg", "there is a metric 'ndcg' of frame_metrics already; rename the function"),
        ("nDCG", "'nDCG' is a name of 'ndcg' of frame_metrics; choose another"),
        ("map", "'map' is a name of 'ap' of frame_metrics; choose another"),
        ("hitrate", "'hitrate' is a name of 'success' of frame_metrics; choose another"),
        ("gauc", "'gauc' is a name of 'roc_auc' of frame_metrics; choose another"),
        ("gm_price", "'gm_price' reads as something else"),
        ("p_10", "'p_10' reads as something else"),
        ("f2", "'f2' reads as something else"),
        ("lr", "'lr' reads as something else"),
        ("<lambda>", "a kernel is a function with a name, defined with def, and this is a lambda, which has no name"),
        ("mean price", "a kernel is a function with a name"),
        ("", "a kernel is a function with a name"),
    ],
)
def test_a_name_that_is_taken_or_reads_as_something_else_is_refused(name: str, why: str) -> None:
    """Before anything is in the registry; so is another name of it."""
    before = dict(REGISTRY)
    assert why in error(lambda: metric()(_named(name)))
    if name.isidentifier():
        expected = why.replace("there is a metric 'ndcg' of frame_metrics already", "'ndcg' is a name of 'ndcg' of")
        assert expected.partition(" of ")[0] in error(lambda: metric(also=name)(_named("mine")))
    assert before == REGISTRY
    assert read_text("ndcg")[0][1] is metrics.ndcg


def test_names_that_two_users_metrics_share_are_refused() -> None:
    """An own name counts as ours do."""
    late()
    assert "is a name of 'found_late' of the module" in error(lambda: metric(also="foundlate")(_named("mine")))


# What a kernel may be


def _kernels() -> dict[str, tuple[Any, str]]:
    def no_input() -> Array:
        return np.ones(1)

    def unsaid(run) -> Array:  # type: ignore[no-untyped-def]
        return np.ones(1)

    def of_frame(run: pl.DataFrame) -> Array:
        return np.ones(1)

    def bare(run: Ranking, depth=3) -> Array:  # type: ignore[no-untyped-def]
        return np.ones(1)

    def odd(run: Ranking, path: list[str] | None = None) -> Array:
        return np.ones(1)

    def many(run: Ranking, *more: float) -> Array:
        return np.ones(1)

    def level(run: Ranking, rel: float = 1) -> Array:
        return np.ones(1)

    def ten(run: Ranking, k: int = 10) -> Array:
        return np.ones(1)

    def cut(table: Confusion, k: int | None = None) -> Array:
        return np.ones(1)

    def lost(run: Ranking) -> Array:
        return np.ones(1)

    lost.__annotations__["run"] = "Rankings"
    return {
        "no input": (
            no_input,
            "no_input: the annotation of its first parameter says what it reads, frame_metrics.Rank",
        ),
        "unsaid": (unsaid, "unsaid: the annotation of its first parameter .* and it says nothing"),
        "of a frame": (of_frame, "of_frame: the annotation of its first parameter .* and it says <class 'polars"),
        "unsaid parameter": (
            bare,
            "bare: the annotation of depth says which values .* and there is none",
        ),
        "odd parameter": (odd, "odd: the annotation of path says which values may be given, as float, int, bool"),
        "many": (many, "many: its parameter more has to be one that is given by name"),
        "rel": (level, "level: every metric has rel= already"),
        "k": (ten, "ten: k is the cutoff that @ sets; write k: int | None = None"),
        "k of a table": (cut, "cut: k is the cutoff that @ sets; a Confusion is cut before it is read"),
        "an annotation nowhere": (lost, "lost: its annotations cannot be read, name 'Rankings' is not defined; import"),
        "no function": (np.mean, "a kernel is a function with a name"),
        "a text": ("ndcg", "a kernel is a function with a name, defined with def, and this is 'ndcg'"),
    }


@pytest.mark.parametrize("case", _kernels())
def test_what_is_no_kernel_is_refused_where_it_is_defined(case: str) -> None:
    """In words that name the function and the parameter."""
    kernel, why = _kernels()[case]
    assert re.search(why, error(lambda: metric()(kernel), BadValueError))


@pytest.mark.parametrize(
    ("declared", "why"),
    [
        ({"range": 1}, "range=1 is not a least and a greatest value"),
        ({"range": (1, 0)}, r"range=\(1, 0\) is not a least and a greatest value"),
        ({"best": 0.5}, r"best=0.5 is not an end of its range \(0, 1\), nor None"),
        ({"best": "high"}, "best='high' is not an end"),
        ({"unless": {"gain": "exp"}}, "unless={'gain': 'exp'}: it has no parameter 'gain'"),
        ({"undefined": 5}, r"undefined=5 is not in its range \(0, 1\), nor None"),
        ({"range": (1, 5), "best": 5}, r"undefined=0 is not in its range \(1, 5\), nor None"),
        ({"undefined": "zero"}, "undefined='zero' is not a number, nor None"),
        ({"monotone": "yes"}, "monotone='yes' is not True or False"),
        ({"expected": 1}, "expected=1 is not True or False"),
        ({"summed": None}, "summed=None is not True or False"),
        ({"biased": "yes"}, "biased='yes' is not True or False"),
        ({"unjudged": "scan"}, "unjudged='scan' is not one of 'rises', 'turns', nor None"),
        ({"weights": "nothing"}, "weights='nothing' is no metric"),
        ({"also": [""]}, r"also=\(''\,\) are not names"),
        ({"also": [3]}, r"also=\(3,\) are not names"),
    ],
)
def test_what_cannot_be_declared_is_refused(declared: dict[str, Any], why: str) -> None:
    """A declaration that no metric has."""
    assert re.search(f"^mine: {why}", error(lambda: metric(**declared)(_named("mine"))))


def test_the_decorator_has_brackets() -> None:
    """Without them it would be given the function."""
    wrong: Any = metric
    assert error(lambda: wrong(_named("mine"))) == "write the decorator with brackets: @metric()"


def test_parameters_are_checked_by_their_annotations() -> None:
    """Numbers, whole numbers, texts, True and False, choices, and what a rule of the user's own allows."""

    @metric()
    def picky(
        run: Ranking,
        a: float = 0.5,
        b: int | None = None,
        c: str = "x",
        d: bool = False,
        e: Literal["u", "v"] = "u",
        f: Annotated[float, "above 2", lambda x: x > 2] = 3,
        g: Annotated[float, "a length"] = 1.0,
    ) -> Array:
        return np.full(run.n_queries, 1.0 if d and c == "y" else 0.5)

    for wrong, why in {
        "a": ("x", "a='x' is not a number"),
        "b": (2.5, "b=2.5 is not a whole number"),
        "c": (1, "c=1 is not a text"),
        "d": (1, "d=1 is not True or False"),
        "e": ("w", "e='w' is not one of 'u', 'v'"),
        "f": (2, "f=2 is not above 2"),
        "g": ("x", "g='x' is not a length"),
    }.items():
        value, said = why
        assert error(lambda: picky(**{wrong: value})) == f"picky: {said}"  # noqa: B023
    full = picky(a=1, b=None, c="y", d=True, e="v", f=2.5, g=2)
    assert read_text(str(full))[0][1] == full


def test_a_parameter_without_a_default_is_asked_for_with_an_example_of_its_kind(log: pl.DataFrame) -> None:
    """In verbs; the list of metrics says that it is needed."""

    @metric(best=None, range=(0, np.inf))
    def longer(run: Ranking, word: str, which: Literal["u", "v"], n: int) -> Array:
        return run.hits() + len(word) + n

    assert error(lambda: log.irm.evaluate("longer")) == "longer needs word=, as in longer(word='a')"
    assert error(lambda: log.irm.evaluate("longer(word='b')")).endswith("which=, as in longer(which='u')")
    assert error(lambda: log.irm.evaluate("longer(word='b', which='v')")).endswith("n=, as in longer(n=1)")
    assert log.irm.evaluate("longer(word='b', which='v', n=3)")["value"].to_list() == [5.5]
    assert frame_metrics.list_metrics().filter(name="longer")["needs"].to_list() == ["word, which, n"]


# What a kernel gives

ODD: dict[str, tuple[Callable[[int], Any], str]] = {
    "a list": (lambda n: [0.5] * n, r"gave \[0.5, 0.5\], no array"),
    "None": (lambda n: None, "gave None, no array"),
    "a number": (lambda n: 0.5, "gave 0.5, no array"),
    "too short": (lambda n: np.zeros(n - 1), r"gave an array of float64, shape \(1,\)"),
    "too long": (lambda n: np.zeros(n + 1), r"gave an array of float64, shape \(3,\)"),
    "a column": (lambda n: np.zeros((n, 1)), r"gave an array of float64, shape \(2, 1\)"),
    "no dimension": (lambda n: np.array(0.5), r"gave an array of float64, shape \(\)"),
    "complex": (lambda n: np.zeros(n, complex), r"gave an array of complex128, shape \(2,\)"),
    "objects": (lambda n: np.zeros(n, object), r"gave an array of object, shape \(2,\)"),
    "bool": (lambda n: np.zeros(n, bool), r"gave an array of bool, shape \(2,\)"),
    "integers": (lambda n: np.zeros(n, int), r"gave an array of int64, shape \(2,\)"),
    "texts": (lambda n: np.full(n, "a"), r"gave an array of <U1, shape \(2,\)"),
    "masked": (lambda n: np.ma.masked_array(np.zeros(n)), r"gave a numpy.MaskedArray of float64, shape \(2,\)"),
    "a series": (lambda n: pl.Series([0.5] * n), r"gave <polars.Series>, no array"),
}


@pytest.mark.parametrize("case", ODD)
def test_a_result_of_another_shape_or_type_is_an_error_that_names_the_metric(log: pl.DataFrame, case: str) -> None:
    """And says what was expected; the block has two queries, and the kernel is tried on one before."""
    give, why = ODD[case]

    @metric()
    def strange(run: Ranking, k: int | None = None) -> Any:
        return np.zeros(1) if run.n_queries == 1 else give(run.n_queries)

    said = error(lambda: log.irm.evaluate("ndcg", "strange@5"), KernelError)
    assert re.match(rf"strange@5: its function strange\(\) {why}; expected is an array of floats, one for", said)
    assert said.endswith("one for each of 2 queries, shape (2,), NaN where undefined")


def test_a_result_that_is_wrong_for_one_query_is_an_error_before_the_log_is_read(log: pl.DataFrame) -> None:
    """A lazy frame's plan raises where the verb is called."""

    @metric()
    def nothing(run: Ranking) -> Any:
        return None

    with pytest.raises(KernelError, match=r"^nothing: its function nothing\(\) gave None"):
        log.lazy().irm.evaluate("nothing")


def test_a_kernel_that_requires_a_cutoff_says_so(log: pl.DataFrame) -> None:
    """k is None without one; the error has the name to ask for, in a law too."""

    @metric()
    def share_of_k(run: Ranking, k: int | None = None, base: float = 2.0) -> Array:
        return run.hits(k) / k  # type: ignore[operator]

    way = r"NoneType'; without a cutoff k is None: ask for 'share_of_k{}@10', or let the function take None$"
    for asked in ("share_of_k", "share_of_k(base=3)"):
        match = way.format(re.escape(asked.removeprefix("share_of_k")))
        with pytest.raises(KernelError, match=match):
            log.irm(query="query").evaluate(asked)
        with pytest.raises(BrokenLawError, match=match):
            check_metric(asked)
        log.irm(query="query").evaluate(f"{asked}@10")
        check_metric(f"{asked}@10")


@pytest.mark.parametrize("source", [Ranking, Confusion, Scores])
def test_an_exception_of_a_kernel_names_the_metric_and_keeps_its_cause(log: pl.DataFrame, source: type) -> None:
    """Whatever it is; the error is ours, and Python shows the line of the kernel above it."""

    def broken(source: Any, depth: float = 2.0) -> Array:
        if len(getattr(source, "tp", getattr(source, "lengths", ()))) > 1:
            raise KeyError("lost")
        return np.zeros(source.n_queries)

    broken.__annotations__["source"] = source
    metric()(broken)
    with pytest.raises(
        KernelError, match=r"^broken\(depth=3\): its function broken\(\) raised KeyError: 'lost'$"
    ) as found:
        log.irm(query="query").evaluate("broken(depth=3)")
    cause = found.value.__cause__
    assert isinstance(cause, KeyError)
    assert cause.__traceback__ is not None


def test_an_error_of_ours_that_a_kernel_raises_on_purpose_stays(log: pl.DataFrame) -> None:
    """It is in the user's own words already."""

    @metric()
    def choosy(run: Ranking) -> Array:
        raise frame_metrics.NotComputableError("choosy: not on Sundays")

    assert error(lambda: log.irm.evaluate("choosy")) == "choosy: not on Sundays"


def test_a_metric_of_a_user_is_pickled(monkeypatch: pytest.MonkeyPatch) -> None:
    """By its name; where that was not registered, the error says where it is defined."""
    for name in ("cloudpickle", "joblib.externals.cloudpickle", "pyspark.cloudpickle"):  # which would send the function
        monkeypatch.delitem(sys.modules, name, raising=False)
    own = late()(after=2) @ 3
    text = pickle.dumps(own)
    assert pickle.loads(text) == own
    del REGISTRY["found_late"]
    with pytest.raises(FrameMetricsError, match=r"the module '.*test_own_metrics' has no metric 'found_late' where it"):
        pickle.loads(text)


# In place


def test_a_table_that_a_metric_changes_in_place_is_an_error_of_that_metric() -> None:
    """The metrics beside it were computed of the changed table: a precision of 2/3 where it is 1/2."""

    @metric(range=(0, 1), best=1)
    def smooth(table: Confusion) -> Array:
        tp = table.tp
        tp += 1
        return tp / (tp + table.fp + 1)

    log = pl.DataFrame({"label": [1, 0, 1, 0], "predicted": [1, 1, 0, 0]})
    said = error(lambda: log.irm.evaluate("smooth", "precision", "recall"), KernelError)
    assert said.startswith("smooth: its function smooth() raised ValueError: output array is read-only; the other ")
    assert log.irm.evaluate("precision")["value"].item() == 0.5


def test_a_metric_that_takes_rows_for_a_table_is_told_how_they_lie() -> None:
    """The rows of all queries are one array; what the error shows gives a number for each query."""

    @metric(range=(0, 1))
    def first_two(run: Ranking) -> Array:
        return run.grade[:, :2].mean(axis=1)

    @metric(range=(0, 1))
    def of_two(run: Ranking) -> Array:
        return run.total((run.grade > 0) & (run.rank <= 2)) / 2

    log = pl.DataFrame({"query": [1, 1, 2], "score": [2.0, 1.0, 1.0], "grade": [0, 1, 1]})
    said = error(lambda: log.irm.evaluate("first_two"), KernelError)
    assert said.endswith("a value for each row, the queries end to end: run.rank <= 2 marks the first two rows of each")
    assert log.irm.per_query("of_two")["value"].to_list() == [0.5, 0.5]


def test_ranks_that_a_metric_changes_in_place_are_an_error_of_that_metric() -> None:
    """The reciprocal rank beside it was infinite."""

    @metric(best=None)
    def zero_based(run: Ranking) -> Array:
        rank = run.rank
        rank -= 1
        return run.total(run.relevant / (rank + 1.0))

    log = pl.DataFrame({"query": [1, 1, 2], "score": [2.0, 1.0, 1.0], "label": [0, 1, 1]})
    assert "read-only" in error(lambda: log.irm.evaluate("zero_based", "rr", "precision@1"), KernelError)
    assert log.irm.evaluate("rr")["value"].item() == 0.75


def kept_in(thing: Any, path: str) -> Iterator[tuple[str, Array]]:
    """Give the arrays that an input keeps, and gives again to the next who asks, by their paths."""
    for name in (name for name in dir(thing) if not name.startswith("_")):
        part = getattr(thing, name)
        if isinstance(part, np.ndarray) and part is getattr(thing, name):
            yield f"{path}.{name}", part
        elif type(part).__module__.startswith("frame_metrics.inputs") and path.count(".") < 2:
            yield from kept_in(part, f"{path}.{name}")


@pytest.mark.parametrize("ties", ["order", "expected"])
def test_no_array_that_metrics_share_can_be_written_in(ties: Any) -> None:
    """Those of rankings, tables and scores, of their rows, gains and ideals, and of columns."""
    found: dict[str, Array] = {}

    @metric(best=None, undefined=None, expected=True)
    def reaches(run: FullRanking) -> Array:
        """All there is."""
        things = {"gains": run.gains(), "exp": run.gains("exp"), "ideal": run.ideal(), "table": run.confusion(2)}
        run.column("price")
        if run.n_queries > 1:  # no trial
            for name, thing in {"run": run, "scores": run.scores, **things}.items():
                found.update(kept_in(thing, name))
            found.update({f"extra.{name}": values for name, values in run.extra.items()})
            found.update({f"undecided.{i}": values for i, values in enumerate(things["table"].undecided)})
        return run.hits()

    log = pl.DataFrame({"query": [1, 1, 1, 2, 2], "score": [0.75, 0.5, 0.5, 0.5, 0.25], "grade": [0, 1, 2, 1, 0]})
    log = log.with_columns(price=pl.Series([1.0, 2, 3, 4, 5]))
    log.irm(collection_size=9, extra={"price": "price"}, ties=ties).evaluate("reaches", "ndcg", "rr", "roc_auc")
    known = {"run.grade", "run.n_relevant", "run.relevant.rank", "run.starts", "gains.value", "ideal.rank"}
    assert known | {"table.tp", "table.tn", "scores.area", "scores.positives", "extra.price"} <= found.keys()
    assert [path for path, array in found.items() if array.flags.writeable] == []
