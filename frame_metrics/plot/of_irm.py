"""Pictures of an irm: its verbs are called, and what they return is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, TypeAlias

from frame_metrics.border.frames import border_of
from frame_metrics.errors import BadValueError
from frame_metrics.plot import averages, by_query, curves, decisions, planned, probabilities, surfaces
from frame_metrics.plot.tidy import POINTS

Further: TypeAlias = Callable[[Any, Any, Sequence[Any], Mapping[str, Any]], Mapping[str, Any]]


@dataclass(frozen=True)
class Drawing:
    """A method of ``irm.plot``: the verb that computes, and the function that draws.

    It takes what the verb takes, and the options of the function.
    """

    draw: Callable[..., Any]
    verb: str
    given: tuple[Any, ...] = ()  # what the verb is called with before anything else
    defaults: Mapping[str, Any] = field(default_factory=dict)  # options of the verb that are others here
    # From the irm, the frame, and what it was asked for, further options of the function.
    further: Further = lambda irm, frame, args, options: {}

    def __get__(self, pictures: Any, owner: Any = None) -> Any:
        if pictures is None:
            return self
        verb, own = getattr(pictures.irm, self.verb), list(signature(self.draw).parameters.values())[1:]
        of_verb = signature(verb).parameters

        @wraps(self.draw)
        def drawn(*args: Any, **options: Any) -> Any:
            drawing = {p.name: options[p.name] for p in own if p.name in options}
            asked = {name: value for name, value in options.items() if name in of_verb or name not in drawing}
            frame = verb(*self.given, *args, **{**self._defaults(drawing, asked), **asked})
            return self.draw(frame, **{**self.further(pictures.irm, frame, args, options), **drawing})

        theirs = list(of_verb.values())[len(self.given) :]
        shown = [*theirs, *(p for p in own if p.name not in of_verb)]
        drawn.__signature__ = Signature(sorted(shown, key=lambda p: p.kind is Parameter.KEYWORD_ONLY))  # type: ignore[attr-defined]
        return drawn

    def _defaults(self, drawing: Mapping[str, Any], asked: Mapping[str, Any]) -> Mapping[str, Any]:
        """Options of the verb that nobody gave; a curve on which a threshold is marked is whole until it is drawn."""
        if "points" not in self.defaults or drawing.get("threshold") is None:
            return self.defaults
        if asked.get("points") is not None:
            raise BadValueError(
                f"points= leaves out points of the curve, and threshold= marks one of all; leave points= out: "
                f"at most about {POINTS} points of a line are drawn"
            )
        return {name: value for name, value in self.defaults.items() if name != "points"}


def _one_metric(irm: Any, frame: Any, kinds: Sequence[Any], options: Mapping[str, Any]) -> Mapping[str, Any]:
    """The name of the metric of a frame that has one and does not name it."""
    return {"metric": kinds[0]} if len(kinds) == 1 and isinstance(kinds[0], str) else {}


def _ideal(irm: Any, frame: Any, args: Sequence[Any], options: Mapping[str, Any]) -> Mapping[str, Any]:
    """The tables of the lines of cumulated gain, from which the share of relevant rows is known; none of ranks."""
    if "prevalence" in options or "per" in options or "k" in border_of(frame).names():
        return {}
    return {"prevalence": irm.best_threshold("recall"), **_word(irm, frame, args, options)}


def _word(irm: Any, frame: Any, args: Sequence[Any], options: Mapping[str, Any]) -> Mapping[str, Any]:
    """The caller's word for what is relevant, where it is a class."""
    said = irm.roles.get("positive")
    return {"positive": said} if isinstance(said, str) else {}


def _valued(metric: str, **options: Any) -> Further:
    """The values of a metric that stand beside the names of lines, of rows without a query, as the lines are."""

    def valued(irm: Any, frame: Any, args: Sequence[Any], given: Mapping[str, Any]) -> Mapping[str, Any]:
        found = _word(irm, frame, args, given)
        if irm._plan.played.query or "values" in given:
            return found
        sure = options if not irm.roles.get("weight") and not irm.roles.get("cluster") else {}
        return {**found, "values": irm.evaluate(metric, **sure)}

    return valued


def _queries(irm: Any, frame: Any, args: Sequence[Any], options: Mapping[str, Any]) -> Mapping[str, Any]:
    """The columns of the query, where one is named."""
    said = irm.roles.get("query")
    return {} if said is None or "query" in options else {"query": said}


def _means(irm: Any, frame: Any, args: Sequence[Any], options: Mapping[str, Any]) -> Mapping[str, Any]:
    """The differences whose queries are drawn, and the columns of the query."""
    own = {name: value for name, value in options.items() if name not in ("query", "means", "per_query")}
    means = {} if "means" in options else {"means": irm.compare(*args, **own)}
    return {**_queries(irm, frame, args, options), **means}


def _level(irm: Any, frame: Any, args: Sequence[Any], options: Mapping[str, Any]) -> Mapping[str, Any]:
    """The level of the intervals that were asked for, else the one that the verb has."""
    return {"ci": options.get("ci", signature(irm.compare).parameters["ci"].default)}


@dataclass(frozen=True)
class Pictures:
    """The pictures of an irm, ``df.irm(...).plot``: each method calls a verb, and draws what it returns.

    A method takes what its verb takes, and the options of the function of ``frame_metrics.plot`` that has its name.
    """

    irm: Any

    def __repr__(self) -> str:
        drawings = {name: one for name, one in vars(type(self)).items() if isinstance(one, Drawing)}
        told = (f"  {name:13}{str(one.draw.__doc__).partition(chr(10))[0]}" for name, one in drawings.items())
        return "\n".join(["pictures of an irm, each a method:", *told])

    metrics = Drawing(averages.metrics, "evaluate")
    bounds = Drawing(averages.bounds, "bounds")
    cutoffs = Drawing(averages.cutoffs, "curve", further=_one_metric)
    pr = Drawing(curves.pr, "curve", ("pr",), {"points": POINTS}, _valued("average_precision"))
    roc = Drawing(curves.roc, "curve", ("roc",), {"points": POINTS}, _valued("roc_auc", ci=0.95))
    gain = Drawing(curves.gain, "curve", ("gain",), {"points": POINTS}, further=_ideal)
    calibration = Drawing(probabilities.calibration, "curve", ("calibration",), further=_word)
    thresholds = Drawing(decisions.thresholds, "thresholds")
    confusion = Drawing(decisions.confusion, "confusion")
    scores = Drawing(decisions.scores, "curve", ("distribution",), {"bins": 30}, _word)
    comparison = Drawing(averages.comparison, "compare", further=_level)
    differences = Drawing(by_query.differences, "compare", (), {"per_query": True}, further=_means)
    queries = Drawing(by_query.queries, "per_query", further=_queries)
    power = Drawing(planned.power, "plan", (), {"power": planned.CHANCES})
    f_surface = Drawing(surfaces.f_surface, "evaluate", ("precision", "recall"))
    f_beta = Drawing(surfaces.f_beta, "evaluate", ("precision", "recall"))
