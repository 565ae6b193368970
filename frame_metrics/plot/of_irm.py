"""Pictures of an irm: its verbs are called, and what they return is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, TypeAlias

from frame_metrics.plot import averages, curves
from frame_metrics.plot.tidy import POINTS

Told: TypeAlias = Callable[[Any, Sequence[Any]], Mapping[str, Any]]


@dataclass(frozen=True)
class Picture:
    """A method of ``irm.plot``: the verb that computes, and the function that draws.

    It takes what the verb takes, and the options of the function.
    """

    draw: Callable[..., Any]
    verb: str
    given: tuple[Any, ...] = ()  # what the verb is called with before anything else
    defaults: Mapping[str, Any] = field(default_factory=dict)  # options of the verb that are others here
    told: Told = lambda irm, args: {}  # options of the function that the irm and what it is asked tell

    def __get__(self, pictures: Any, owner: Any = None) -> Any:
        if pictures is None:
            return self
        verb, own = getattr(pictures.irm, self.verb), list(signature(self.draw).parameters.values())[1:]
        of_verb = signature(verb).parameters

        @wraps(self.draw)
        def drawn(*args: Any, **options: Any) -> Any:
            drawing = {p.name: options[p.name] for p in own if p.name in options}
            asked = {name: value for name, value in options.items() if name in of_verb or name not in drawing}
            frame = verb(*self.given, *args, **{**self.defaults, **asked})
            return self.draw(frame, **{**self.told(pictures.irm, args), **drawing})

        theirs = list(of_verb.values())[len(self.given) :]
        shown = [*theirs, *(p for p in own if p.name not in of_verb)]
        drawn.__signature__ = Signature(sorted(shown, key=lambda p: p.kind is Parameter.KEYWORD_ONLY))  # type: ignore[attr-defined]
        return drawn


def _one_metric(irm: Any, kinds: Sequence[Any]) -> Mapping[str, Any]:
    """The name of the metric of a frame that has one and does not name it."""
    return {"metric": kinds[0]} if len(kinds) == 1 and isinstance(kinds[0], str) else {}


@dataclass(frozen=True)
class Pictures:
    """The pictures of an irm, ``df.irm(...).plot``: each method calls a verb, and draws what it returns.

    A method takes what its verb takes, and the options of the function of ``frame_metrics.plot`` that has its name.
    """

    irm: Any

    metrics = Picture(averages.metrics, "evaluate")
    bounds = Picture(averages.bounds, "bounds")
    cutoffs = Picture(averages.cutoffs, "curve", told=_one_metric)
    pr = Picture(curves.pr, "curve", ("pr",), {"points": POINTS})
