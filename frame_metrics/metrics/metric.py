"""Metrics as values: a kernel, its parameters and a cutoff; the registry; what a kernel reads."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property, partial
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypeAlias, get_type_hints, overload

import numpy as np

from frame_metrics.errors import (
    BadValueError,
    FrameMetricsError,
    KernelError,
    NotComputableError,
    UnknownNameError,
    class_name,
    closest,
    listed,
    quote,
)
from frame_metrics.inputs import (
    Array,
    Classes,
    ClassScores,
    FullConfusion,
    FullRanking,
    FullScores,
    Lists,
    TwoRankings,
    Weighted,
    name_of_function,
)
from frame_metrics.inputs.public import PUBLIC, Narrow, Public, as_annotated, behind
from frame_metrics.inputs.weighted import row_weights
from frame_metrics.metrics.docstrings import docstring
from frame_metrics.metrics.parameters import (
    PartOfAll,
    example,
    fits,
    is_number,
    meaning,
    plain,
    stored_value,
    wrong_cutoff,
)
from frame_metrics.metrics.pickling import OURS, SESSIONS, described_in, import_for, origin_of, same_here, unknown
from frame_metrics.metrics.probe import WatchedLists, WatchedRanking, WatchedScores

# Names of columns that our metrics read of roles of documents; users' names cannot have the equals sign.
OF_DOCUMENTS = {"popularity=", "popularity=surprise", "group="}
SET_BY_CALLS = ("name", "params", "cutoff", "average")  # fields that a call sets, where the decorator sets the others
# Why a metric that is ``biased`` has no interval, no test of a difference, and no changes that are looked for.
BY_CHANCE = "chance moves it one way, and further the fewer rows there are"
N_COUNTS = 8  # counts of the 2x2 table of a query, which the micro average sums
REGISTRY: dict[str, Metric] = {}
MEANS_OF_CLASSES: set[str] = set()  # names of the metrics whose own form for several classes is a mean over classes
CLASS_KERNELS: dict[str, Callable[..., Array]] = {}  # kernels for several classes, by the name of the metric for two
# Kernels that accompany a measure, by its name, the kind, and the input: "calibrated", the value if nothing is off,
# which is above 0; "bins_left_out", how many bins of one row a debiased value leaves out.
COMPANIONS: dict[tuple[str, str, type], Callable[..., Array]] = {}
PAIR_KERNELS: dict[str, Callable[..., Array]] = {}  # kernels for two rankings, by the name of the metric for one
# Measures of the 2x2 table that take top=, by name, and the documents of which they count those that are both retrieved
# and relevant, apart from a factor: "predicted" or "actual", as tables call them.
TAKES_TOP: dict[str, str] = {}

KernelInput: TypeAlias = FullRanking | FullConfusion | Classes | FullScores | ClassScores | Lists | TwoRankings
Weigh: TypeAlias = Callable[[FullRanking], Array]  # weights of the rows of a ranking
Unjudged: TypeAlias = Literal["rises", "turns", "scan"]
RANKED = FullRanking, TwoRankings  # whose kernels take the cutoff
INPUTS = (*RANKED, FullConfusion, Classes, FullScores, ClassScores, Lists, Weighted, Narrow)

# The parameter of the metrics in TAKES_TOP, which the kernel does not get: the table that it reads is cut before.
TOP_PARAMETER = inspect.Parameter("top", inspect.Parameter.KEYWORD_ONLY, default=None)
TOP_ANNOTATION: dict[str, Any] = {"top": PartOfAll | None}

# Parameters that every metric takes in addition to its own, with their annotations.
SHARED_PARAMS: dict[str, Any] = {"rel": Annotated[float, "a grade", lambda x: x == x], "judged_only": bool}


@dataclass(frozen=True, eq=False)
class Metric:
    """A metric: one function from an input to one number per query, with its parameters and cutoff.

    Calling it with parameters gives the metric with those parameters, ``@`` gives it a cutoff, and ``str`` gives the
    text that reads back to it.

    Examples
    --------
    >>> from frame_metrics import metrics
    >>> metrics.ndcg(gain="exp") @ 10
    ndcg(gain='exp')@10
    """

    name: str
    kernel: Callable[..., Array]
    range: tuple[float, float]
    best: float | None
    undefined: float | None
    monotone: bool | None = False
    expected: bool = False
    unjudged: Unjudged | None = None
    weights: str | None = None
    summed: bool = False
    also: tuple[str, ...] = ()
    pooled: str | None = None
    slope: float | None = None
    completes: str | None = None
    adds: bool | Weigh = False
    micro: Callable[..., tuple[Array, Array]] | None = None
    unless: Mapping[str, Any] = field(default_factory=dict)
    biased: bool = False
    params: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    cutoff: float | None = None
    average: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "__doc__", self.kernel.__doc__)  # what help() shows of a metric

    @cached_property
    def input(self) -> type:
        """The input that the metric reads: the kernel's; if that is a public class, the input behind it.

        With ``top=`` the table is made from scores.
        """
        if self.top is not None:
            return FullScores
        return PUBLIC.get(self._annotated, self._annotated)

    @cached_property
    def _annotated(self) -> Any:
        """The annotation of the kernel's first parameter."""
        return self.hints[next(iter(self.signature))]

    @property
    def hints(self) -> dict[str, Any]:
        """Annotations of the parameters."""
        return _hints(self.kernel) | TOP_ANNOTATION if self.name in TAKES_TOP else _hints(self.kernel)

    @cached_property
    def signature(self) -> Mapping[str, inspect.Parameter]:
        """The kernel's parameters, its input first."""
        return _signature(self.kernel).parameters

    @cached_property
    def at(self) -> str | None:
        """The parameter that ``@`` sets: a cutoff ``k``, a ``recall`` level, or none."""
        if self.input in (FullConfusion, Lists):  # which are cut before they are read
            return "k"
        return next((name for name in ("k", "recall") if name in self.signature), None)

    @cached_property
    def options(self) -> dict[str, inspect.Parameter]:
        """The parameters that a caller may give in parentheses."""
        own = {name: p for name, p in list(self.signature.items())[1:] if name != "k"}
        return own | {"top": TOP_PARAMETER} if self.name in TAKES_TOP else own

    @cached_property
    def k(self) -> int | None:
        """The cutoff in ranks, if the metric has one."""
        return int(self.cutoff) if self.cutoff is not None and self.at == "k" else None

    @cached_property
    def top(self) -> float | None:
        """The share of the rows with the highest scores, or of each list, that is taken as retrieved; None for all."""
        return self.params.get("top")

    @cached_property
    def of_table(self) -> bool:
        """True for a measure of the 2x2 table, also of that of a share of the rows."""
        return self.input is FullConfusion or self.top is not None

    @property
    def higher(self) -> bool | None:
        """True where a greater value is better; None where no value is better than another."""
        if self.best is None:
            return True if self.range[0] == -np.inf or "gain" in self.options else None  # gains without an end
        return self.best > self.range[0]

    @property
    def sign(self) -> int:
        """The sign of an improvement: -1 if a smaller value is better, else 1, also if neither is."""
        return -1 if self.higher is False else 1

    @cached_property
    def form_for_classes(self) -> Metric | None:
        """The metric's own form for several classes, if it has one; else it is averaged over them."""
        if self.input in (Classes, ClassScores):
            return self
        form = CLASS_KERNELS.get(self.name)
        by_pairs = "multi" not in self.options or self.params.get("multi") == "ovo"
        return replace(self, kernel=form) if form is not None and by_pairs else None

    @cached_property
    def companions(self) -> Mapping[str, Metric]:
        """The metrics that accompany this one, by kind: see ``COMPANIONS``."""
        kernels = {
            what: kernel for (name, what, of), kernel in COMPANIONS.items() if (name, of) == (self.name, self.input)
        }
        return {what: replace(self, kernel=kernel) for what, kernel in kernels.items()}

    @property
    def form_for_two(self) -> Metric | None:
        """The metric's own form for two rankings; None where it has none."""
        if self.input is TwoRankings:
            return self
        return replace(self, kernel=PAIR_KERNELS[self.name], undefined=None) if self.name in PAIR_KERNELS else None

    @property
    def _unordered(self) -> bool:
        """True if the order of results makes no difference: tables and scores have none, and some metrics only cut."""
        cut = self.cutoff is not None or self.top is not None
        return not cut and (self.input is not FullRanking or self.monotone is None)

    @cached_property
    def excepted(self) -> bool:
        """True where a parameter has a value of ``unless``, with which some of what is declared does not hold."""
        return any(self.params.get(name) == value for name, value in self.unless.items())

    @cached_property
    def bounded(self) -> bool:
        """True where the worst and the best order of equal scores bound the metric."""
        return (self.monotone is True and not self.columns and not self.excepted) or self._unordered

    @property
    def drifts(self) -> bool:
        """True if chance makes values of fewer rows unlike those of more, so that they are not compared."""
        return self.biased and not self.excepted

    def orders(self, ties: str) -> bool:
        """Return True where the metric is defined for equal scores in the order, or orders, that a rule gives."""
        if ties == "expected":
            return (self.expected and not self.excepted) or self._unordered
        return self.bounded or ties not in ("worst", "best")

    @property
    def slope_by_area(self) -> float | None:
        """Slope of the metric over the area under the ROC curve; None if it is not a linear function of it."""
        plain = {name: p.default for name, p in self.options.items()}
        return self.slope if self.params.items() <= plain.items() else None

    @property
    def of_order(self) -> bool:
        """True for our measures of scores that read their order alone."""
        return self._annotated is FullScores and "probability" not in self.reads

    @property
    def of_all_thresholds(self) -> bool:
        """True for a measure ``of_order`` with a range that needs no limit, which a best threshold would jump at."""
        limits = any(option.default is option.empty for option in self.options.values())
        return self.of_order and self.top is None and not limits and bool(np.isfinite(self.range).all())

    @property
    def weigher(self) -> Metric | None:
        """The metric that is the sum of this one's weights by rank where every gain is 1, if it has such weights."""
        if self.weights is None:
            return None
        of = REGISTRY[self.weights]
        shared = of.options.keys() - {"gain", "max_grade"}
        return of(**{name: value for name, value in self.params.items() if name in shared})

    @cached_property
    def missing(self) -> list[str]:
        """Parameters without a value."""
        given = {*self.params, self.at if self.cutoff is not None else ""}
        return [name for name, p in self.options.items() if p.default is p.empty and name not in given]

    @property
    def examples(self) -> dict[str, Any]:
        """A value that each parameter may have, by its annotation; tests of all metrics try it."""
        return {name: example(self.hints[name]) for name in self.options}

    @overload
    def __call__(self, input: KernelInput | Public, /, *args: Any, **params: Any) -> Array: ...
    @overload
    def __call__(self, /, **params: Any) -> Metric: ...
    def __call__(self, /, *args: Any, **params: Any) -> Any:
        if args:
            if not isinstance(args[0], INPUTS):
                raise self._without_a_name(args[0])
            return self._of_public(*args, **params) if isinstance(args[0], Narrow) else self.apply(*args, **params)
        given = {name: self._checked(name, plain(value)) for name, value in params.items()}
        if self.cutoff is not None and self.at in given:
            raise self._given_twice(self.cutoff)
        if self.cutoff is not None and "top" in given:
            raise self._cut_twice(given["top"], self.cutoff)
        return replace(self, params=MappingProxyType({**self.params, **given}))

    def _of_public(self, source: Public, **params: Any) -> Array:
        """Return the metric of a public input, such as a user's ``Ranking``, with its cutoff, as verbs compute it."""
        inside, cutoff = behind(source), params.pop(self.at, None) if self.at else None
        own = self(**params) if cutoff is None else self(**params) @ cutoff
        cut = isinstance(inside, FullRanking) and own.input in (FullConfusion, FullScores)
        if not cut and not isinstance(inside, own.input):
            needed = next((kind.__name__ for kind, full in PUBLIC.items() if full is own.input), own.input.__name__)
            raise BadValueError(f"{own}: it is computed of {needed}, and this is a {type(source).__name__}")
        return own.compute(
            inside.variant(*own.variant(inside.rel, False)) if isinstance(inside, FullRanking) else inside
        )

    def _checked(self, name: str, value: Any) -> Any:
        """The value of a parameter as it is kept."""
        hint = SHARED_PARAMS.get(name) or (self.hints[name] if name in self.options else None)
        if hint is None:
            raise self._unknown(name, value)
        if not fits(value, hint):
            percent = name == "top" and is_number(value) and 1 < value <= 100
            way = f"; {value:g} % is top={value / 100:g}" if percent else ""
            raise BadValueError(f"{self.name}: {name}={quote(value)} is not {meaning(hint)}{way}")
        return stored_value(value, hint)

    def _unknown(self, name: str, value: Any) -> UnknownNameError:
        known = [*self.options, *SHARED_PARAMS]
        hint = f"; write the cutoff as {self.name}@{value}" if name == self.at == "k" else closest(name, known)
        return UnknownNameError(f"{self.name} has no parameter {quote(name)}; it has {listed(known)}{hint}")

    def _without_a_name(self, value: Any) -> BadValueError:
        fitting = [name for name in self.options if fits(value, self.hints[name])]
        ways = [f"name the parameter, as {self.name}({name}={quote(value)})" for name in fitting[:1]]
        if self.at == "k" and not wrong_cutoff("k", value):
            ways = [f"write the cutoff as {self.name}@{int(value)}", *ways]
        if not ways and self.options:
            name, other = next(iter(self.examples.items()))
            ways = [f"none of {listed(self.options)} takes that; name one, as {self.name}({name}={other!r})"]
        return BadValueError(f"{self.name}({quote(value)}): {', or '.join(ways) or 'it has no parameters'}")

    def _given_twice(self, cutoff: float) -> BadValueError:
        return BadValueError(f"{self.name}@{quote(cutoff)}: {self.at}= and @ mean the same; pass one of them")

    def _cut_twice(self, top: float, cutoff: float) -> BadValueError:
        return BadValueError(
            f"{self.name}: top={quote(top)} takes a share, and @{quote(cutoff)} a number of results; pass one of them"
        )

    def __matmul__(self, cutoff: float) -> Metric:
        if self.top is not None:
            raise self._cut_twice(self.top, cutoff)
        if self.at is None:
            raise BadValueError(f"{self.name} takes no cutoff: {self.name}@{quote(cutoff)}")
        if self.cutoff is not None:
            other = f"{replace(self, cutoff=None)}@{quote(cutoff)}"
            raise BadValueError(f"{self}@{quote(cutoff)}: it has a cutoff already; use {other} for that one")
        if self.at in self.params:
            raise self._given_twice(cutoff)
        if wrong := wrong_cutoff(self.at, cutoff):
            share = self.name in TAKES_TOP and fits(cutoff, PartOfAll)
            way = f"; a share is {self.name}(top={cutoff:g})" if share else ""
            raise BadValueError(f"{self.name}@{quote(cutoff)}: {wrong}{way}")
        return replace(self, cutoff=cutoff if self.at == "recall" else int(cutoff))

    def __str__(self) -> str:
        given = ", ".join(f"{name}={_text(value)}" for name, value in sorted(self.params.items()))
        prefix = {"gmean": "gm_", "micro": "sn_"}.get(self.average or "", "")
        named = "gauc" if self.average == "rows" else prefix + self.name
        return named + f"({given})" * bool(given) + ("" if self.cutoff is None else f"@{self.cutoff}")

    __repr__ = __str__

    def __reduce__(self) -> tuple[Any, ...]:
        given = self.name, dict(self.params), self.cutoff, self.average
        return _restored, (*given, origin_of(self.kernel, self._described))

    def _described(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what the decorator set, by name, and the annotations of the kernel's parameters."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.name not in SET_BY_CALLS}, dict(
            self.hints
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Metric) or str(self) != str(other):
            return False
        return self.kernel is other.kernel and self.functions == other.functions

    def __hash__(self) -> int:
        return hash((self.name, self.cutoff))

    @property
    def functions(self) -> dict[str, Any]:
        """The parameters that are functions of the caller; the metric's text does not read back then."""
        return {name: value for name, value in self.params.items() if callable(value)}

    @property
    def doc(self) -> str:
        """The kernel's documentation."""
        return docstring(self.kernel)

    def variant(self, rel: float, condensed: bool) -> tuple[float, bool]:
        """Return the relevance level and whether unjudged rows are dropped: what the input has to be built with."""
        return self.params.get("rel", rel), self.params.get("judged_only", condensed)

    @cached_property
    def off_policy(self) -> bool:
        """True if it estimates the value of another ranking than the one that was shown."""
        return callable(self.adds)

    @cached_property
    def of_subtopics(self) -> bool:
        """True where it needs judgments of documents for the single subtopics of queries."""
        return "intents" in self.reads

    def weighted(self, run: FullRanking) -> Weighted:
        """Return a ranking with the weights that the metric gives its results."""
        weigh = self.adds if callable(self.adds) else row_weights
        return run.cached(weigh, lambda: Weighted(run, weigh(run)))

    def compute(self, source: KernelInput) -> Array:
        """Return the metric of each query or segment of what the kernel reads, or of a ranking; NaN where undefined."""
        options = self._options
        if isinstance(source, FullRanking) and self.of_table:
            source = source.confusion(self.k, self.top)
        elif isinstance(source, FullScores) and self.top is not None:
            source = source.confusion_of_top(self.top)
        elif isinstance(source, FullRanking) and self.input is FullScores:
            source = source.scores
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            values = self._of_kernel(source, options)
        n = source.n_queries
        if not (type(values) is np.ndarray and values.dtype.kind == "f" and values.shape == (n,)):
            raise KernelError(
                f"{self}: its function {self.kernel.__name__}() gave {_described(values)}; expected is an array of "
                f"floats, one for each of {n} queries, shape ({n},), NaN where undefined"
            )
        return values

    @cached_property
    def _options(self) -> dict[str, Any]:
        """The parameters of the kernel, with the cutoff."""
        options = {name: value for name, value in self.params.items() if name in self.signature}
        cut = self.input in (*RANKED, ClassScores) and self.cutoff is not None
        return options | ({str(self.at): self.cutoff} if cut else {})

    @property
    def pooled_sums(self) -> int:
        """The number of sums over queries that the micro average is made of; 0 where there is none."""
        parts = self.k or 1 if self.off_policy else 1
        return N_COUNTS * self.of_table if self.micro is None else 2 * parts

    def pools(self, run: FullRanking) -> Array:
        """Return what the micro average sums over queries, shape (sums, queries)."""
        return np.vstack(
            run.confusion(self.k, self.top).counts
            if self.micro is None
            else self.micro(as_annotated(self._annotated, run), **self._options)
        )

    @cached_property
    def apply(self) -> Callable[..., Array]:
        """The kernel as a function of the full input; a user's kernel gets the public view of its annotation."""
        if self._annotated not in PUBLIC:
            return self.kernel
        return lambda source, *args, **options: self.kernel(as_annotated(self._annotated, source), *args, **options)

    def _of_kernel(self, source: KernelInput, options: dict[str, Any]) -> Array:
        """Return the result of the kernel; errors in it become errors that name the metric."""
        try:
            return self.apply(source, **options)
        except KernelError as error:  # of a gain or a discount
            raise KernelError(f"{self}: {error}") from error.__cause__
        except (FrameMetricsError, MemoryError):
            raise
        except Exception as error:
            raised = f"raised {type(error).__name__}: {error}{self._way(error)}"
            raise KernelError(f"{self}: its function {self.kernel.__name__}() {raised}") from error

    def _way(self, error: Exception) -> str:
        """Return the way out of an error in the kernel; "" where none is known."""
        if isinstance(error, ValueError) and "read-only" in str(error):
            return "; the other metrics read this array too: change a copy of it"
        if isinstance(error, IndexError) and "1-dimensional" in str(error):
            rows = "its arrays have a value for each row, the queries end to end"
            return f"; {rows}: run.rank <= 2 marks the first two rows of each"
        if self.at == "k" and self.cutoff is None and "NoneType" in str(error):
            return f"; without a cutoff k is None: ask for {str(self @ 10)!r}, or let the function take None"
        return ""

    @cached_property
    def reads(self) -> frozenset[str]:
        """Facts of the input that the kernel reads, found by trying it on one row.

        "relevant", "rel", "n_relevant", "gains", "ideal" and "score" of a ranking, "tn" of a table, "probability" of
        scores, "catalogue" of lists and how "often" these show documents, and "max_grade" where it is not given.
        """
        return self._tried[0]

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that the kernel reads besides those of roles, found in the same way."""
        return self._tried[1]

    @property
    def _with_examples(self) -> Metric:
        """The metric with an example of each parameter that it needs."""
        return replace(self, params={**self.params, **{name: self.examples[name] for name in self.missing}})

    @cached_property
    def _tried(self) -> tuple[frozenset[str], tuple[str, ...]]:
        if self.missing:
            return self._with_examples._tried
        if self.input in (Classes, ClassScores, TwoRankings):
            return frozenset(), ()
        if self.input is Lists:  # undefined without the catalogue, where it is read
            one = WatchedLists()
            lacks = ["catalogue"] * bool(np.isnan(self.compute(one))[0])
            return frozenset([*one.seen, *lacks]), ()
        watched = WatchedScores() if self.input is FullScores and self.top is None else WatchedRanking()
        try:
            self.compute(watched)
        except NotComputableError:
            if "max_grade" not in self.options or self.params.get("max_grade") is not None:
                raise
            mapped = self.params.get("gain")
            top = max(mapped) if isinstance(mapped, Mapping) else 1
            filled = replace(self, params={**self.params, "max_grade": top})
            reads, columns = filled._tried
            return reads | {"max_grade"}, columns
        return frozenset(watched.seen), tuple(watched.named)

    @cached_property
    def counts_unfound(self) -> bool:
        """True where a relevant document changes the metric that was not retrieved, found by trying it."""
        if (
            self.input not in (FullRanking, FullConfusion)
            or self.reads.isdisjoint(("ideal", "n_relevant"))
            or self.of_subtopics
        ):
            return False
        if self.missing:
            return self._with_examples.counts_unfound
        # The same two results of two queries, the second of which has another relevant document.
        grade, lengths, n_ret = np.array([1.0, 0, 1, 0, 2]), np.array([2, 3]), np.array([2, 2])
        found, with_unfound = self.compute(FullRanking(grade, lengths, n_ret, size=np.array([9, 9])))
        return bool(found != with_unfound)

    @property
    def judges(self) -> bool:
        """True where a label or grade is read; users' metrics of columns are of judged queries too."""
        return self.input is not Lists and not (self.columns and {*self.columns} <= OF_DOCUMENTS and not self.reads)

    @property
    def graded(self) -> bool:
        """True where gains are read, and not only what is relevant."""
        return not self.reads.isdisjoint(("gains", "ideal"))


def _text(value: Any) -> str:
    """A parameter as it is printed."""
    return name_of_function(value) if callable(value) else repr(value)


def _described(values: Any) -> str:
    """Return words for what a kernel returned."""
    if not isinstance(values, np.ndarray):
        return f"{quote(values)}, no array"
    kind = "an array" if type(values) is np.ndarray else f"a {class_name(values)}"
    return f"{kind} of {values.dtype}, shape {values.shape}"


def _restored(
    name: str, params: dict[str, Any], cutoff: float | None, average: str | None, origin: tuple[Any, ...] = ()
) -> Metric:
    """Return a metric from what is kept of it when it is pickled; ``origin``: where its function is, see there."""
    made = REGISTRY.get(name)
    if made is None or not same_here(origin, made.kernel):
        made = Metric(name, **described_in(origin[-1])) if len(origin) > 1 else _imported(name, *origin)
    return replace(made, params=MappingProxyType(params), cutoff=cutoff, average=average)


def _imported(name: str, module: str = OURS) -> Metric:
    """Return the metric of this name after its module was imported; another metric of the name is not it."""
    import_for(name, module)
    made = REGISTRY.get(name)
    if made is None or (made.kernel.__module__ != module and not {made.kernel.__module__, module} <= {*SESSIONS}):
        raise unknown(name, module)
    return made


def try_kernel(metric: Metric) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the facts and the further columns that a metric's kernel reads of one row.

    Raises
    ------
    FrameMetricsError
        The parameters contradict each other, or the kernel gives no array of floats.
    """
    return metric._tried


# Kept by kernel, which many metrics share.
_hints = cache(partial(get_type_hints, include_extras=True))
_signature = cache(inspect.signature)


def metrics_of(family: type) -> Iterator[Metric]:
    """Return the registered metrics that read an input, in the order of their definition."""
    yield from (m for m in REGISTRY.values() if m.input is family)
