"""Options of comparisons: the tests of each kind, the roles that these take, and refused calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, ClassVar, Literal, Self, get_args

from frame_metrics.errors import (
    BadValueError,
    ColumnError,
    NotComputableError,
    UnknownNameError,
    check_bool,
    check_choice,
    check_whole,
    listed,
    quote,
)
from frame_metrics.inputs import FullRanking, Lists
from frame_metrics.measuring.baseline import is_frame
from frame_metrics.measuring.proxies import check_proxies
from frame_metrics.measuring.results import IntervalOptions
from frame_metrics.measuring.rows import NotComparedError, check_compared_rows, check_pooled
from frame_metrics.measuring.split import check_split
from frame_metrics.metrics.metric import BY_CHANCE, Metric
from frame_metrics.metrics.names import Asked
from frame_metrics.plan.call import Call
from frame_metrics.plan.compared import MID_P, TESTS, WEIGHT_AND_CLUSTER_ROLES, ComparisonKind
from frame_metrics.plan.declared import VERBS
from frame_metrics.plan.verb import check_options
from frame_metrics.roles.columns import Columns
from frame_metrics.roles.missing import hint_at, likely_roles, missing_text
from frame_metrics.verbs.compare.margins import margin_read, margins_of
from frame_metrics.verbs.compare.strata import as_given, strata_read

Test = Literal[
    "randomization",
    "t",
    "z",
    "wilcoxon",
    "sign",
    "bootstrap",
    "mcnemar_mid_p",
    "mcnemar",
    "delong",
    "fisher",
]
Correction = Literal["max_t", "holm", "bonferroni", "bh", "none"]
Family = Literal["metric", "all"]
Against = Literal["chance", "majority"]
Looks = Literal["any"]
OPTIONAL = {"test": Test, "correction": Correction, "against": Against, "looks": Looks}
CHOICES = {"over": Family} | OPTIONAL

MAX_T, HOLM = "max_t", "holm"  # the corrections by default: of tests that flip or exchange, and of others
# Names of tests elsewhere, and ours.
TEST_ALIASES = dict.fromkeys(
    ("welch", "ttest", "t-test", "t_test", "t.test", "ttest_ind", "ttest_rel", "student", "paired-t", "paired_t"), "t"
)
TEST_ALIASES |= dict.fromkeys(("permutation", "permutation_test", "fisher_randomization"), "randomization")
TEST_ALIASES |= dict.fromkeys(("z-test", "z_test", "ztest", "normal"), "z")
ARM_KINDS: tuple[ComparisonKind, ...] = ("arms", "rows of arms")
# What may be compared in the place of a metric that drifts.
INSTEAD = {"ece": "ece(norm=2, debiased=True) or brier", "ks": "roc_auc"}
OTHERWISE, OF_QUERIES = "a mean or a share of rows, as brier or accuracy", "a mean over queries, as ndcg"

# Tests that flip the signs of differences, or exchange units, and so can test families together. Of McNemar's mid-p
# the families are flipped, and its p-values of single pairs are by formula.
FLIPPING_TESTS: dict[ComparisonKind, Sequence[str]] = {"queries": ("randomization", MID_P), "arms": ("randomization",)}
WIN_TESTS = ("wilcoxon", "sign")
# With 1,000 resamples and more tests than these that are corrected together, p could not be much below .05.
MOST_TESTS_OF_DRAWS, MOST_RESAMPLES = 25, 20_000
SEQUENCE, MIN_FIRST_LOOK = "sequence", 100  # the test of looks="any", and the least number of units of an arm for it


@dataclass(frozen=True, kw_only=True)
class CompareOptions(IntervalOptions):
    """Options of a comparison; the verb has the parameters. An option that a verb lacks keeps its default."""

    always_has_intervals: ClassVar[bool] = True
    verb: ClassVar[str] = "compare"
    one_sided: ClassVar[bool] = False  # whether bounds of one side are needed too, for all pairs of a system
    tests_preference: ClassVar[bool] = False  # whether it is tested who won each query, and not by how much
    shows_unit_shares: ClassVar[bool] = False  # whether the result has the shares of units of each arm
    choices: ClassVar[Mapping[str, Any]] = CHOICES
    baseline: Any
    ci: float = 0.95
    against: str | None = None
    test: str | None = None
    correction: str | None = None
    over: str = "metric"
    split: Any = None
    covariate: str | None = None
    strata: Any = None
    looks: str | None = None
    first_look: int | None = None
    permutations: int = 10_000
    per_query: bool = False
    per_class: bool = False
    margin: Any = None
    null_is_an_arm: bool = True  # whether what has no arm is compared as one; a report may leave it out
    kind: ComparisonKind = "queries"  # the kind of comparison; it is set once the columns are known
    by_default: bool = False  # whether the test is the default one; it is set with the test

    def __post_init__(self) -> None:
        """Raise for an option out of its range, or two that do not go together; nothing is read."""
        if isinstance(self.test, str) and self.test == "tukey":
            raise UnknownNameError(
                "test='tukey' is no test any more: correction='max_t', the default, tests all pairs together, with "
                "intervals that hold together; leave test= out"
            )
        known = TEST_ALIASES.get(self.test.lower()) if isinstance(self.test, str) else None
        if known and known in get_args(self.choices["test"]):
            raise UnknownNameError(f"test={quote(self.test)} is called {known!r} here")
        for name, choices in self.choices.items():
            if getattr(self, name) is not None or name not in OPTIONAL:
                check_choice(name, getattr(self, name), get_args(choices))
        check_bool("per_query", self.per_query)
        check_bool("per_class", self.per_class)
        super().__post_init__()
        check_whole("permutations", self.permutations, 1)
        check_whole("first_look", MIN_FIRST_LOOK if self.first_look is None else self.first_look, MIN_FIRST_LOOK)
        if self.margin is not None:
            object.__setattr__(self, "margin", margin_read(self.margin))
        if self.strata is not None:
            object.__setattr__(self, "strata", strata_read(self.strata))

    @property
    def adjustments(self) -> dict[str, str]:
        """The options by which the means of arms are adjusted, and what each was given as, in words."""
        given = {} if self.covariate is None else {"covariate": quote(self.covariate)}
        return given if self.strata is None else given | {"strata": as_given(self.strata)}

    def with_draws_for(self, pairs: int, metrics: int, segments: int, classes: int) -> Self:
        """Return the options with more resamples if so many tests are corrected that no p could be small enough."""
        tests = 1 if self.corrected_by == "none" else pairs * classes
        tests *= metrics * segments if self.over == "all" else 1
        times = ceil(tests / MOST_TESTS_OF_DRAWS)
        most = max(self.resamples, MOST_RESAMPLES)
        return replace(self, resamples=min(times * self.resamples, most)) if times > 1 else self

    @property
    def flips(self) -> bool:
        """True if the test, once it is set, flips signs or exchanges units, so that families can be tested together."""
        return self.test in FLIPPING_TESTS.get(self.kind, ()) and not self.adjustments

    @property
    def tests_families(self) -> bool:
        """True if pairs of a family are tested together, so that their intervals hold together."""
        return self.flips and self.correction in (None, MAX_T)

    @property
    def multiplied(self) -> bool:
        """True if ``corrected_by`` multiplies the least p-value of a family by the size of the family."""
        return self.corrected_by in (HOLM, "bonferroni")

    @property
    def corrected_by(self) -> str:
        """The correction of p-values that are not tested together."""
        return HOLM if self.correction in (None, MAX_T) else self.correction

    @property
    def saved(self) -> bool:
        """True if the baseline is a frame of saved numbers, not a system."""
        return is_frame(self.baseline)

    @property
    def paired(self) -> bool:
        """True if each query, or row, is of both sides of a comparison; False for arms."""
        return self.kind not in ARM_KINDS

    @property
    def noun(self) -> str:
        """The word for what is compared."""
        return "system" if self.paired else "arm"


@dataclass(frozen=True, kw_only=True)
class ArmOptions(CompareOptions):
    """Options of a comparison of arms; the verb has the parameters."""

    verb: ClassVar[str] = "ab_test"
    shows_unit_shares: ClassVar[bool] = True


@dataclass(frozen=True, kw_only=True)
class ChangeOptions(CompareOptions):
    """Options of a comparison of periods; the verb has the parameters."""

    verb: ClassVar[str] = "change"
    by: Sequence[str] = ()  # the columns of segments by which changes are taken apart; set once they are known

    @property
    def noun(self) -> str:
        return "period"


def kind_of_comparison(call: Call, *, arms: bool) -> ComparisonKind:
    """Return the kind of comparison; ``arms``: whether the values of arms are compared, not those of systems."""
    if call.proxy is not None:
        return "proxies"
    if call.columns.query or call.has_saved_numbers:
        return "arms" if arms else "queries"
    return "rows of arms" if arms else "rows"


def check_correction(options: CompareOptions, kind: ComparisonKind = "queries") -> None:
    """Raise for ``correction="max_t"`` with a test that flips no signs and exchanges no units."""
    if options.correction != MAX_T:
        return
    tests = FLIPPING_TESTS.get(kind, ())
    can_flip = options.looks is None and (options.test in tests if options.test else bool(tests))
    if not can_flip:
        does = "exchanges" if kind in ARM_KINDS else "flips"
        what = f"{options.verb}() {does} none here" if options.test is None else f"test={options.test!r} {does} none"
        what = "looks='any' exchanges none" if options.looks is not None else what
        way = "pass test='randomization', or " if tests and options.looks is None else ""
        raise NotComputableError(
            "correction='max_t' applies to tests that flip the signs of differences of queries, or exchange the units "
            f"of arms, and {what}; {way}pass correction='holm'"
        )
    for name, given in options.adjustments.items():
        raise NotComputableError(
            f"correction='max_t' permutes units over all {options.noun}s, which {name}={given} cannot be used with; "
            f"pass correction='holm', or {name}=None"
        )


def check_compared(kind: ComparisonKind, call: Call, asked: Asked, options: CompareOptions) -> None:
    """Raise for options, columns and metrics that do not go together in a comparison; nothing is read."""
    check_options(VERBS[options.verb], options, call.plan)
    if kind in ARM_KINDS:
        _check_arms(call.columns, options)
    elif kind == "rows":
        _check_rows(call, options)
    else:
        _check_queries(call.columns, options)
    _check_test(kind, call.columns, options)
    check_correction(options, kind)
    if options.test in WIN_TESTS and call.conventions.propensity is not None:
        raise NotComputableError(
            f"test={options.test!r} counts wins, or their order, and of results weighted by propensity= only "
            "means are without bias; pass test='randomization', or propensity=None"
        )
    if not call.columns.query and not call.has_saved_numbers:
        check_pooled(asked)
        check_compared_rows(asked, arms=kind in ARM_KINDS)
    _check_asked(kind, asked, options)
    if asked:
        margins_of(options.margin, asked, bounded=not call.has_saved_numbers)
    if kind == "proxies":
        check_proxies(asked, call)


def check_tested(name: str, metric: Metric) -> None:
    """Raise for a metric that chance moves one way, so that differences of it have no test."""
    if metric.drifts:
        instead = INSTEAD.get(metric.name, OF_QUERIES if metric.input is FullRanking else OTHERWISE)
        raise NotComparedError(
            f"{name} has no test of a difference: {BY_CHANCE}; compare {instead}, or ask evaluate() for the value of "
            "each"
        )


def _check_asked(kind: ComparisonKind, asked: Asked, options: CompareOptions) -> None:
    """Raise for metrics without a test of differences, or without a value for each query, if one is needed."""
    for name, metric in asked:
        others = options.saved or options.per_query or options.test not in (None, "randomization")
        if metric.input is Lists and (kind != "queries" or others):
            raise NotComparedError(
                f"{name} has one value for all lists together: compare() exchanges those of two systems, query by "
                "query, with test='randomization'; it has no values of queries to save, to list or to test otherwise"
            )
        check_tested(name, metric)
        if metric.average is not None:
            raise NotComputableError(f"{name} is an average, and {options.verb}() needs metrics of single queries")


def _check_queries(columns: Columns, options: CompareOptions) -> None:
    """Raise for options and columns with which queries cannot be paired between systems, or with a saved baseline."""
    baseline = options.baseline
    if columns.system is not None or options.saved:
        return
    if hasattr(baseline, "__len__") and not isinstance(baseline, str | bytes | list | tuple):
        raise BadValueError(
            f"baseline={quote(baseline)} is no frame, nor a system; give what per_query() returned, a frame "
            "with a row per query and metric"
        )
    others = "; parts of the traffic with queries of their own, as arm=, are compared by ab_test() and change()"
    if options.verb == "sample_size":
        others = "; for arms with queries of their own pass arm= in its place"
    if len(columns.value) > 1:
        given = quote([*columns.value])
        others = (
            f"; if {given} are systems of one metric, make them rows of one column: unpivot() in polars, melt() in "
            "pandas"
        )
    raise ColumnError(
        f"{options.verb}() pairs systems query by query; name their column with system={columns.likely_system_text}, "
        f"or give what per_query() returned of another one, as baseline=saved{others}"
    )


def _check_rows(call: Call, options: CompareOptions) -> None:
    """Raise for options and columns with which rows without a query cannot be paired, or be compared with chance."""
    columns = call.columns
    if options.against is None and columns.system is None:
        raise ColumnError(
            "compare() pairs the rows of systems by document; "
            f"name their column with system={columns.likely_system_text}, "
            "or pass against='chance' or 'majority' to test one by itself"
        )
    if options.against is None and columns.doc is None:
        if "query" in call.roles:
            hint = hint_at("doc", call.plan.available)
            error = ColumnError(f"compare() without a query pairs rows by document; name their column with doc={hint}")
            raise error.offering(**likely_roles([("doc",)], call.roles, call.plan.available))
        lacking = missing_text(("query",), call.roles, call.plan.available, call.plan.backend.hint)
        error = ColumnError(f"{lacking}; to pair rows without a query, name the document they are about with doc=")
        raise error.offering(**likely_roles([("query",)], call.roles, call.plan.available))


def _check_arms(columns: Columns, options: CompareOptions) -> None:
    """Raise for options and columns that a comparison of arms, with their own queries or rows, does not take."""
    if options.saved and options.verb == "change":
        _check_saved_period(columns, options)
        return
    if columns.arm is None:
        what = f"each {options.noun} over its own {'queries' if columns.query else 'rows'}"
        instead = f" in the place of system={columns.system!r}" if columns.systems_have_rows else ""
        raise ColumnError(f"{options.verb}() compares {what}; name the column of {options.noun}s with arm={instead}")
    if options.split is not None:
        check_split(options.split, columns)


def _check_saved_period(columns: Columns, options: CompareOptions) -> None:
    """Raise for columns that a comparison of periods with saved numbers of another one does not take."""
    if columns.system is not None:
        raise ColumnError(
            f"{options.verb}() compares each {options.noun} over its own queries; pass system=None and keep the rows "
            f"of one system, or name the column with arm= in the place of system={columns.system!r}"
        )
    for role in WEIGHT_AND_CLUSTER_ROLES:
        if column := getattr(columns, role):
            raise NotComputableError(
                f"{role}={column!r} belongs to the queries of the frame, and the saved numbers are those of other "
                f"queries; put both {options.noun}s into one frame with value=, {role}= and arm=, or pass {role}=None"
            )


def _check_test(kind: ComparisonKind, columns: Columns, options: CompareOptions) -> None:
    """Raise for a test of another kind of comparison, or one that does not take the weights or clusters given."""
    test, tests = options.test, TESTS[kind]
    if test is None:
        return
    if test not in tests:
        arms = test in TESTS["arms"]
        whose = {
            "queries": "arms, whose verb is ab_test(); pass" if arms else "rows without a query; pass query=None, or",
            "arms": f"pairs, and {options.verb}() pairs none; pass",
            "proxies": "one kind of judgments, and with proxy= there are two; pass",
        }.get(kind, "queries, and there is none; name query=, or pass")
        raise NotComputableError(f"test={quote(test)} applies to {whose} test= as one of {listed(tests)}")
    check_units(test, tests, columns, "row" if "rows" in kind else "query")


def check_units(test: str, tests: Mapping[str, Sequence[str]], columns: Columns, unit: str) -> None:
    """Raise for weights or clusters that a test does not take.

    Parameters
    ----------
    tests : each test of the verb -> the roles that it takes.
    columns : the columns, of weights and clusters among others.
    unit : the word for what is tested, for the error.
    """
    for role in WEIGHT_AND_CLUSTER_ROLES:
        column = getattr(columns, role)
        if column and role not in tests[test]:
            others = [other for other, takes in tests.items() if role in takes]
            why = {
                "weight": f"counts every {unit} alike, and {column} is their weight",
                "cluster": f"takes every {unit} as independent, and {column} says which belong together",
            }[role]
            way = f"test= as one of {listed(others)}" if len(others) > 1 else f"test={others[0]!r}"
            raise NotComputableError(f"test={quote(test)} {why}; pass {way}, or {role}=None")


def tests_for(kind: ComparisonKind, columns: Columns) -> list[str]:
    """Return the tests of a kind of comparison that take the given roles of weights and clusters."""
    roles = [role for role in WEIGHT_AND_CLUSTER_ROLES if getattr(columns, role)]
    return [test for test, takes in TESTS[kind].items() if set(roles) <= set(takes)]
