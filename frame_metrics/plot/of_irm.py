"""Pictures of an irm: methods that call a verb and draw its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Any, Never, TypeAlias

import polars as pl

from frame_metrics.backends.frames import backend_of, here
from frame_metrics.errors import BadValueError, FrameMetricsError, no_such_verb
from frame_metrics.measuring.courses import PREVALENCE, is_measured
from frame_metrics.metrics.docstrings import docstring
from frame_metrics.plot import averages, by_query, curves, decisions, periods, probabilities, sizes, surfaces
from frame_metrics.plot.call_error import not_called
from frame_metrics.plot.tidy import POINTS

Further: TypeAlias = Callable[[Any, Any, Sequence[Any], Mapping[str, Any]], Mapping[str, Any]]


WITH_CI = {"ci": 0.95}
OF_ROLES = {"arm": "ab_test", "team": "interleaving"}  # the verbs that compare, where a role says what is compared


@dataclass(frozen=True)
class Drawing:
    """A method of ``irm.plot``: the verb that computes, and the function that draws.

    Its parameters are those of the verb, and the options of the function.
    """

    draw: Callable[..., Any]
    verb: str
    given: tuple[Any, ...] = ()  # the first arguments of the verb
    defaults: Mapping[str, Any] = field(default_factory=dict)  # options of the verb whose defaults differ here
    # Returns more options of the function, from the irm, the frame, and the caller's arguments and options.
    further: Further = lambda irm, frame, args, options: {}
    by_role: Mapping[str, str] = field(default_factory=dict)  # the verbs of irms in which some roles are named
    roles: tuple[str, ...] = ()  # the roles that the picture takes as options
    decided: tuple[str, ...] = ()  # the metrics that are drawn, by ``evaluate``, of rows with decisions and no scores

    def __get__(self, pictures: Any, owner: Any = None) -> Any:
        if pictures is None:
            return self
        roles = pictures.irm.roles
        named = next((verb for role, verb in self.by_role.items() if roles.get(role) is not None), self.verb)
        of_picture = list(signature(self.draw).parameters.values())[1:]
        of_verb = signature(getattr(pictures.irm, named)).parameters

        @wraps(self.draw)
        def drawn(*args: Any, **options: Any) -> Any:
            named_here = {name: options.pop(name) for name in self.roles if name in options}
            irm = pictures.irm(**named_here) if named_here else pictures.irm
            drawing = {p.name: options[p.name] for p in of_picture if p.name in options}
            asked = {name: value for name, value in options.items() if name in of_verb or name not in drawing}
            if self.decided and _only_decides(irm):
                frame = irm.evaluate(*self.decided, *args, **asked)
                return self.draw(frame, **{**_positive_word(irm, frame, args, options), **drawing})
            frame = getattr(irm, named)(*self.given, *args, **{**self._defaults(drawing, asked), **asked})
            return self.draw(frame, **{**self.further(irm, frame, args, options), **drawing})

        theirs = list(of_verb.values())[len(self.given) :]
        parameters = [*theirs, *(p for p in of_picture if p.name not in of_verb)]
        parameters += [Parameter(name, Parameter.KEYWORD_ONLY, default=None) for name in self.roles]
        drawn.__signature__ = Signature(sorted(parameters, key=lambda p: p.kind is Parameter.KEYWORD_ONLY))  # type: ignore[attr-defined]
        return drawn

    def _defaults(self, drawing: Mapping[str, Any], asked: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the defaults of the verb's options; without "points" if a threshold is marked.

        The verb then returns the whole curve, which has the point of the threshold.
        """
        if "points" not in self.defaults or drawing.get("threshold") is None:
            return self.defaults
        if asked.get("points") is not None:
            raise BadValueError(
                f"points= leaves out points of the curve, and threshold= marks one of all; leave points= out: "
                f"at most about {POINTS} points of a line are drawn"
            )
        return {name: value for name, value in self.defaults.items() if name != "points"}


def _one_metric(irm: Any, frame: Any, kinds: Sequence[Any], options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the option ``metric``, if the caller asks for one metric by name."""
    return {"metric": kinds[0]} if len(kinds) == 1 and isinstance(kinds[0], str) else {}


def _prevalence(irm: Any, frame: Any, args: Sequence[Any], options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the options ``prevalence`` and ``positive`` for lines of cumulated gain.

    ``prevalence`` is a frame of 2x2 tables, which give the share of relevant rows. There are no options for curves
    of ranks, or if the caller gives ``prevalence``.
    """
    if "prevalence" in options or "per" in options or "k" in backend_of(frame).names():
        return {}
    return {"prevalence": irm.best_threshold("recall"), **_positive_word(irm, frame, args, options)}


def _only_decides(irm: Any) -> bool:
    """Return True if rows without a query have decisions, and no scores."""
    columns = irm._plan.columns
    return bool(columns.predicted) and not (columns.score or columns.class_scores or columns.query)


def _positive_word(irm: Any, frame: Any, args: Sequence[Any], options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the option ``positive``, the caller's positive class, if it is a text."""
    positive = irm.roles.get("positive")
    return {"positive": positive} if isinstance(positive, str) else {}


def _valued_lines(metric: str, **options: Any) -> Further:
    """Return a function for ``Drawing.further``, which adds the option ``values``: a metric of each line.

    It adds nothing if there is a query, or if the caller gives ``values``.

    Parameters
    ----------
    options : of ``evaluate``; they are left out if rows have weights or clusters.
    """

    def valued(irm: Any, frame: Any, args: Sequence[Any], given: Mapping[str, Any]) -> Mapping[str, Any]:
        found = _positive_word(irm, frame, args, given)
        if irm._plan.columns.query or "values" in given:
            return found
        sure = options if not irm.roles.get("weight") and not irm.roles.get("cluster") else {}
        return {**found, "values": irm.evaluate(metric, **sure)}

    return valued


def _queries(irm: Any, frame: Any, args: Sequence[Any], options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the option ``query``, the columns of the query, if the irm names them and the caller does not."""
    query = irm.roles.get("query")
    return {} if query is None or "query" in options else {"query": query}


def _means(irm: Any, frame: Any, args: Sequence[Any], options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the options ``means``, the mean differences, and ``query``, unless the caller gives them."""
    of_compare = {name: value for name, value in options.items() if name not in ("query", "means", "per_query")}
    means = {} if "means" in options else {"means": irm.compare(*args, **of_compare)}
    return {**_queries(irm, frame, args, options), **means}


def _ci_of_compare(irm: Any, frame: Any, args: Sequence[Any], options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the option ``ci``: the caller's, or else the default of ``compare``."""
    return {"ci": options.get("ci", signature(irm.compare).parameters["ci"].default)}


def _over_time(irm: Any, frame: Any, args: Sequence[Any], options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the options ``ci``, the caller's, or else that of pictures over time, and ``measured``."""
    if irm._plan.columns.query:
        return {"ci": options.get("ci", WITH_CI["ci"])}
    margins = {"margins": options["margins"]} if "margins" in options else {}

    def prevalence() -> pl.DataFrame | None:
        try:
            return here(irm.evaluate(PREVALENCE, **margins))
        except FrameMetricsError:
            return None

    measured = is_measured(here(frame), lambda: here(irm.audit())["check"], prevalence)
    return {"ci": options.get("ci", WITH_CI["ci"]), "measured": measured.to_list()}


@dataclass(frozen=True)
class Pictures:
    """The pictures of an irm, ``df.irm(...).plot``: each method calls a verb, and draws what it returns.

    A method takes what its verb takes, and the options of the function of ``frame_metrics.plot`` that has its name.
    """

    irm: Any

    def __call__(self, *args: Any, **options: Any) -> Never:
        """Raise: a picture is a method."""
        raise not_called("irm.plot", _names(), args, "'ndcg@10'")

    def __dir__(self) -> list[str]:
        """Return the names of the pictures, which an editor or a notebook offers."""
        return _names()

    if not TYPE_CHECKING:  # which would then take any name

        def __getattr__(self, name: str) -> Never:
            """Raise for a name that is no picture."""
            raise (
                AttributeError(name)
                if name.startswith("_")
                else no_such_verb(name, _names(), "irm.plot", {"power": "sample_size"})
            )

    def __repr__(self) -> str:
        drawings = vars(Pictures)
        lines = (f"  {name:13}{docstring(drawings[name].draw).partition(chr(10))[0]}" for name in _names())
        return "\n".join(["pictures of an irm, each a method:", *lines])

    metrics = Drawing(averages.metrics, "evaluate")
    bounds = Drawing(averages.bounds, "bounds")
    over_time = Drawing(periods.over_time, "evaluate", defaults=WITH_CI, further=_over_time, roles=("by",))
    cutoffs = Drawing(averages.cutoffs, "curve", further=_one_metric)
    pr = Drawing(curves.pr, "curve", ("pr",), {"points": POINTS}, _valued_lines("average_precision"))
    roc = Drawing(
        curves.roc, "curve", ("roc",), {"points": POINTS}, _valued_lines("roc_auc", ci=0.95), decided=curves.ROC_POINT
    )
    gain = Drawing(curves.gain, "curve", ("gain",), {"points": POINTS}, further=_prevalence)
    calibration = Drawing(probabilities.calibration, "curve", ("calibration",), further=_positive_word)
    thresholds = Drawing(decisions.thresholds, "thresholds")
    confusion = Drawing(decisions.confusion, "confusion")
    scores = Drawing(decisions.scores, "curve", ("distribution",), {"bins": 30}, _positive_word)
    comparison = Drawing(averages.comparison, "compare", further=_ci_of_compare, by_role=OF_ROLES)
    leaderboard = Drawing(averages.leaderboard, "leaderboard", further=_ci_of_compare)
    differences = Drawing(by_query.differences, "compare", (), {"per_query": True}, further=_means)
    queries = Drawing(by_query.queries, "per_query", further=_queries)
    sample_size = Drawing(sizes.sample_size, "sample_size", (), {"power": sizes.CHANCES})
    f_surface = Drawing(surfaces.f_surface, "evaluate", ("precision", "recall"))
    f_beta = Drawing(surfaces.f_beta, "evaluate", ("precision", "recall"))


def _names() -> list[str]:
    """Return the names of the pictures, in the order in which they stand here."""
    return [name for name, one in vars(Pictures).items() if isinstance(one, Drawing)]
